/* runtime/machine: the instructions tile.copy and tile.copyrows. They do the same as memmove. Also
 * their cost, copies that fault, and their translation. */
#include "support/compare_engines.h"
#include "support/rig.h"
#include "support/seeds.h"

enum { SLOT = 6, WORKER = 2, UNIT = 8, IMAGE_BYTES = RIG_END - RIG_BASE };

/* A list of descriptors in RIG_CONST, plain or of rows, for one worker. */
typedef struct list {
  bool rows;
  uint32_t count;
  struct {
    uint32_t source, destination, bytes, count, source_step, destination_step;
  } items[RIG_CONST_BYTES / 24];
} list;

static uint32_t draw(uint64_t *state, uint32_t below)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33) % below;
}

/* Copies anywhere in the data: up to 300 bytes, or up to 12 rows of 24. Some are empty, some
 * overlap. */
static list draw_list(uint64_t seed)
{
  uint64_t state = seed;
  list l = {.rows = seed % 2, .count = 1 + draw(&state, sizeof l.items / sizeof *l.items)};
  for (uint32_t i = 0; i < l.count; i++) {
    l.items[i].source = RIG_DATA + 512 + draw(&state, RIG_DATA_BYTES - 1024);
    uint32_t near = l.items[i].source + draw(&state, 64) - 32;
    l.items[i].destination =
        draw(&state, 4) ? RIG_DATA + 512 + draw(&state, RIG_DATA_BYTES - 1024) : near;
    l.items[i].bytes = draw(&state, l.rows ? 25 : 301);
    l.items[i].count = l.rows ? draw(&state, 13) : 1;
    l.items[i].source_step = draw(&state, 3) ? draw(&state, 65) - 32 : 8 * draw(&state, 5);
    l.items[i].destination_step = draw(&state, 3) ? draw(&state, 65) - 32 : 8 * draw(&state, 5);
  }
  return l;
}

static void assemble(rig *r, const list *l)
{
  assembler *a = &r->code[0];
  a->count = 0;
  asm_li(a, T0, RIG_CODE + 4 * 32);
  asm_tile(a, TILE_RUN, WORKER, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  rig_report(a, 1);
  a->count = 32;
  asm_li(a, SP, RIG_STACKS + (WORKER + 1) * RIG_STACK_BYTES);
  asm_li(a, A0, RIG_CONST);
  asm_li(a, A1, RIG_CONST + l->count * 4 * (l->rows ? 6 : 3));
  uint32_t loop = asm_here(a);
  asm_tile(a, l->rows ? TILE_COPY_ROWS : TILE_COPY, A0, A0, 0);
  asm_branch(a, ASM_BNE, A0, A1, loop);
  asm_li(a, T0, RIG_BEHIND);
  asm_store(a, ASM_SW, A0, T0, 0);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

/* The image with the list, and with data. */
static pop_image make_image(rig *r, const list *l, uint8_t *bytes)
{
  assemble(r, l);
  pop_image image = rig_image(r, 0, bytes);
  for (uint32_t i = RIG_DATA - RIG_BASE; i < IMAGE_BYTES; i++)
    bytes[i] = (uint8_t)(i * 7 + i / 253);
  uint8_t *at = bytes + (RIG_CONST - RIG_BASE);
  uint32_t size = l->rows ? 24 : 12;
  for (uint32_t i = 0; i < l->count; i++, at += size) memcpy(at, &l->items[i], size);
  return image;
}

static uint32_t units_of(uint32_t start, uint32_t bytes)
{
  return bytes ? (start + bytes - 1) / UNIT - start / UNIT + 1 : 0;
}

/* Applies the list to the image's bytes. Returns the units of memory that it reads and writes. */
static uint32_t run_by_hand(const list *l, uint8_t *bytes)
{
  uint32_t units = 0;
  for (uint32_t i = 0; i < l->count; i++)
    for (uint32_t row = 0; row < l->items[i].count; row++) {
      uint32_t from = l->items[i].source + row * l->items[i].source_step,
               to = l->items[i].destination + row * l->items[i].destination_step,
               size = l->items[i].bytes;
      memmove(bytes + (to - RIG_BASE), bytes + (from - RIG_BASE), size);
      units += units_of(from, size) + units_of(to, size);
    }
  return units;
}

Test(block_copy, moves_bytes_as_memmove_does_and_takes_a_slot_for_each_unit)
{
  static uint8_t bytes[IMAGE_BYTES], found[IMAGE_BYTES];
  seed_range seeds = test_seeds(1, 300);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
    list l = draw_list(seed);
    rig r = rig_create(1, 0);
    pop_image image = make_image(&r, &l, bytes);
    expect_ok(rig_load_image(&r, &image));
    rig_run(&r);
    uint32_t units = run_by_hand(&l, bytes);
    expect_ok(machine_read(r.m, 0, RIG_BASE, found, sizeof found));
    cr_assert_arr_eq(found + (RIG_DATA - RIG_BASE), bytes + (RIG_DATA - RIG_BASE), RIG_DATA_BYTES,
                     "list %llu", (unsigned long long)seed);
    cr_assert_eq(rig_word(&r, 0, RIG_BEHIND), RIG_CONST + l.count * (l.rows ? 24 : 12));
    /* supervisor: 3; worker: 6, 2 for each descriptor, 4; supervisor after tile.wait: 3 */
    uint64_t slots = 3 + 6 + 2 * l.count + units + 4 + 3;
    cr_assert_eq(machine_get_counters(r.m).cycles, slots * SLOT + RIG_HOST_SYNC,
                 "list %llu: %llu cycles for %llu slots", (unsigned long long)seed,
                 (unsigned long long)machine_get_counters(r.m).cycles, (unsigned long long)slots);
    rig_free(&r);
  }
}

Test(block_copy, is_the_same_in_native_code)
{
  static uint8_t bytes[IMAGE_BYTES];
  tile_stack stacks[NUM_TILE_STACKS];
  for (uint32_t i = 0; i < NUM_TILE_STACKS; i++)
    stacks[i] = (tile_stack){RIG_STACKS + i * RIG_STACK_BYTES, RIG_STACK_BYTES};
  seed_range seeds = test_seeds(1, 40);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
    list l = draw_list(seed);
    if (seed % 5 == 0) l.items[l.count / 2].destination += RIG_DATA_BYTES; /* stacks: a fault */
    if (seed % 7 == 0) l.items[l.count / 2].source = RIG_BASE - 8;
    rig r = rig_create(1, 0);
    pop_image image = make_image(&r, &l, bytes);
    uint64_t limit = seed % 3 ? 0 : 100 + 60 * (seed % 90);
    compare_engines(&r.target, &image, stacks, limit, "list", seed);
    rig_free(&r);
  }
}

Test(block_copy, ends_in_front_of_what_there_is_no_time_for)
{
  static uint8_t bytes[IMAGE_BYTES];
  list l = {.count = 1, .items = {{RIG_DATA, RIG_DATA + 1024, 256, 1, 0, 0}}};
  /* Slots before the copy, 3 + 6, and of the copy, 1 + 64. The copy is a block of its own. */
  for (uint32_t slots = 9 + 64; slots <= 9 + 65; slots++) {
    rig r = rig_create(1, slots * SLOT);
    pop_image image = make_image(&r, &l, bytes);
    expect_ok(rig_load_image(&r, &image));
    const machine_fault *fault = rig_run_into(&r, MACHINE_FAULT_OUT_OF_CYCLES);
    bool copies = slots == 9 + 65;
    cr_assert_eq(fault->pc, RIG_CODE + 4 * (copies ? 39 : 38));
    cr_assert_eq(rig_word(&r, 0, RIG_DATA + 1024) == rig_word(&r, 0, RIG_DATA), copies);
    rig_free(&r);
  }
}

Test(block_copy, refuses_what_may_not_be_touched_and_changes_nothing)
{
  static const struct {
    uint32_t bytes, source, destination;
    machine_fault_kind kind;
    uint32_t address;
  } cases[] = {
      {16, RIG_DATA, RIG_CONST, MACHINE_FAULT_INVALID_ADDRESS, RIG_CONST},
      {16, RIG_DATA, RIG_CODE + 3, MACHINE_FAULT_INVALID_ADDRESS, RIG_CODE + 3},
      {16, RIG_DATA, RIG_DATA - 4, MACHINE_FAULT_INVALID_ADDRESS, RIG_DATA - 4},
      {16, RIG_DATA, RIG_STACKS - 8, MACHINE_FAULT_STACK_OVERFLOW, RIG_STACKS},
      {16, 0, RIG_DATA, MACHINE_FAULT_INVALID_ADDRESS, 0},
      {16, 0xfffffff8, RIG_DATA, MACHINE_FAULT_INVALID_ADDRESS, 0xfffffff8},
      {16, RIG_DATA, 0xfffffff8, MACHINE_FAULT_INVALID_ADDRESS, 0xfffffff8},
      {1 << 30, RIG_DATA, RIG_DATA, MACHINE_FAULT_INVALID_OPERAND, 0},
  };
  static uint8_t bytes[IMAGE_BYTES], found[IMAGE_BYTES];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    list l = {.count = 1,
              .items = {{cases[i].source, cases[i].destination, cases[i].bytes, 1, 0, 0}}};
    rig r = rig_create(1, 0);
    pop_image image = make_image(&r, &l, bytes);
    expect_ok(rig_load_image(&r, &image));
    const machine_fault *fault = rig_run_into(&r, cases[i].kind);
    cr_assert_eq(fault->address, cases[i].address, "case %zu: 0x%x", i, fault->address);
    cr_assert_eq(fault->pc, RIG_CODE + 4 * 38, "case %zu", i);
    expect_ok(machine_read(r.m, 0, RIG_BASE, found, sizeof found));
    cr_assert_arr_eq(found, bytes, sizeof found, "case %zu", i);
    rig_free(&r);
  }
}
