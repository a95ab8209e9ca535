/* Tiles share native code only if it protects each of them as the interpreter would: the bounds
 * that are constants of the code must be those of all tiles that run it. */
#include "support/compare_engines.h"
#include "support/rig.h"

#include <machine/native.h>
#include <machine/state.h>
#include <stddef.h>

/* On all tiles, data are larger than code and constants, so they are the largest readable window
 * too. */
enum {
  SMALL_END = RIG_END - 0x200,
  SMALLEST_END = RIG_END - 0x300,
  POINTER = RIG_DATA,
  VALUE = 77
};
_Static_assert(SMALLEST_END - RIG_DATA > RIG_CODE_BYTES + RIG_CONST_BYTES, "windows");

static bool is_store(uint32_t access)
{
  return (access & 0x7f) == (ASM_SW & 0x7f);
}

/* Repeatedly, worker 0 loads or stores at the address in the first word of data. */
static void put_program(assembler *a, uint32_t access)
{
  enum { SUPERVISOR_WORDS = 12 };
  uint32_t again = asm_here(a);
  asm_li(a, T0, RIG_CODE + 4 * SUPERVISOR_WORDS);
  asm_tile(a, TILE_RUN, 0, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  rig_report(a, 5);
  asm_branch(a, ASM_BEQ, ZERO, ZERO, again);
  asm_nops(a, SUPERVISOR_WORDS - (uint32_t)a->count);
  asm_li(a, T2, POINTER);
  asm_load(a, ASM_LW, A0, T2, 0);
  asm_li(a, A1, VALUE);
  if (is_store(access))
    asm_store(a, access, A1, A0, 0);
  else
    asm_load(a, access, A1, A0, 0);
  asm_store(a, ASM_SW, A1, T2, 4);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

/* Loads a tile whose data end at `end`. */
static void load_tile(rig *r, uint32_t tile, uint32_t end)
{
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(r, tile, bytes);
  pop_image_segment segments[3];
  memcpy(segments, image.segments, sizeof segments);
  segments[2].size = end - RIG_DATA;
  image.segments = segments;
  image.size = end - RIG_BASE;
  expect_ok(machine_load(r->m, &image, NULL));
  free(bytes);
}

static void point(rig *r, uint32_t tile, uint32_t address)
{
  expect_ok(machine_write(r->m, tile, POINTER, &address, sizeof address));
}

/* Tiles with the same code, whose data end at `ends`. */
static rig make_rig(uint32_t num_tiles, const uint32_t *ends, uint32_t access)
{
  rig r = rig_create_with(num_tiles, (machine_options){.engine = MACHINE_TRANSLATOR});
  for (uint32_t i = 0; i < num_tiles; i++) {
    put_program(&r.code[i], access);
    load_tile(&r, i, ends[i]);
    point(&r, i, ends[i] - 4);
  }
  return r;
}

static void expect_fault_behind(rig *r, uint32_t tile, uint32_t end)
{
  point(r, tile, end);
  const machine_fault *fault = rig_run_into(r, MACHINE_FAULT_INVALID_ADDRESS);
  cr_assert(fault->tile == tile && fault->address == end && fault->num_faults == 1,
            "tile %u, address 0x%x, %u faults", fault->tile, fault->address, fault->num_faults);
}

static void compare_tiles(uint32_t access)
{
  static const uint32_t ends[] = {RIG_END, SMALL_END, SMALLEST_END, RIG_END};
  for (uint32_t tile = 0; tile < 4; tile++) {
    rig r = make_rig(4, ends, access);
    cr_assert_eq(rig_run(&r), 5);
    for (uint32_t i = 0; i < 4; i++) {
      cr_assert_eq(rig_word(&r, i, POINTER + 4), is_store(access) ? VALUE : 0);
      cr_assert_eq(rig_word(&r, i, ends[i] - 4), is_store(access) ? VALUE : 0);
    }
    expect_fault_behind(&r, tile, ends[tile]);
    rig_free(&r);
  }
}

Test(translate_windows, tiles_of_many_sizes_share_what_loads)
{
  compare_tiles(ASM_LBU);
  compare_tiles(ASM_LHU);
  compare_tiles(ASM_LW);
  cr_assert_eq(native_get_counters().compiled, 3);
}

Test(translate_windows, tiles_of_many_sizes_share_what_stores)
{
  compare_tiles(ASM_SB);
  compare_tiles(ASM_SH);
  compare_tiles(ASM_SW);
  cr_assert_eq(native_get_counters().compiled, 3);
}

Test(translate_windows, machines_with_the_same_code_need_not_have_the_same_windows)
{
  static const uint32_t large[] = {RIG_END}, small[] = {SMALL_END};
  for (int i = 0; i < 2; i++) {
    rig a = make_rig(1, large, ASM_SW), b = make_rig(1, small, ASM_SW);
    cr_assert_eq(rig_run(&a), 5);
    cr_assert_eq(rig_run(&b), 5);
    point(&a, 0, SMALL_END);
    cr_assert_eq(rig_run(&a), 5);
    expect_fault_behind(&b, 0, SMALL_END);
    rig_free(&a);
    rig_free(&b);
  }
}

/* The tile has other code while native code is made for the other tile. */
Test(translate_windows, code_that_the_host_writes_later_is_tested_against_the_tile)
{
  static const uint32_t ends[] = {RIG_END, SMALL_END};
  rig r = make_rig(2, ends, ASM_SW);
  uint32_t exit_word = isa_tile_op_word(TILE_EXIT, 0, 0, 0), worker = RIG_CODE + 4 * 12;
  uint32_t words[16];
  expect_ok(machine_read(r.m, 1, worker, words, sizeof words));
  expect_ok(machine_write(r.m, 1, worker, &exit_word, sizeof exit_word));
  cr_assert_eq(rig_run(&r), 5);
  cr_assert_eq(rig_word(&r, 1, POINTER + 4), 0);
  expect_ok(machine_write(r.m, 1, worker, words, sizeof words));
  cr_assert_eq(rig_run(&r), 5);
  cr_assert_eq(rig_word(&r, 1, POINTER + 4), VALUE);
  expect_fault_behind(&r, 1, SMALL_END);
  rig_free(&r);
}

static void set_stacks(tile_stack stacks[NUM_TILE_STACKS])
{
  for (uint32_t i = 0; i < NUM_TILE_STACKS; i++)
    stacks[i] = (tile_stack){RIG_STACKS + i * RIG_STACK_BYTES, RIG_STACK_BYTES};
}

/* Over a small segment that is in no window. */
Test(translate_windows, sp_comes_down_over_data_between_two_stores)
{
  enum { SMALL = 64 };
  rig r = rig_create(1, 0);
  assembler *a = &r.code[0];
  rig_start_worker(a);
  asm_li(a, SP, RIG_STACKS + RIG_STACK_BYTES);
  asm_li(a, A0, RIG_DATA + 16);
  asm_li(a, A1, RIG_DATA);
  asm_store(a, ASM_SW, A0, A0, 0);
  asm_addi(a, SP, A1, 0);
  asm_store(a, ASM_SW, A0, A0, 4); /* now a stack overflow */
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  static const pop_image_segment segments[] = {
      {.start = RIG_CODE, .size = RIG_CODE_BYTES, .executable = true},
      {.start = RIG_CONST, .size = RIG_CONST_BYTES},
      {.start = RIG_DATA, .size = SMALL, .writable = true},
      {.start = RIG_DATA + SMALL, .size = SMALL},
      {.start = RIG_DATA + 2 * SMALL, .size = RIG_END - RIG_DATA - 2 * SMALL, .writable = true}};
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  image.segments = segments;
  image.num_segments = sizeof segments / sizeof *segments;
  tile_stack stacks[NUM_TILE_STACKS];
  set_stacks(stacks);
  compare_engines(&r.target, &image, stacks, 100000, "sp over data", 0);
  free(bytes);
  rig_free(&r);
}

enum { ROUNDS = 1000, APART = RIG_BEHIND, APART_BYTES = RIG_END - RIG_BEHIND - 8 };

/* Worker 0 counts in the first word after the stacks, whose address is in memory or in its code.
 * Then it stores repeatedly, advancing by `step`. */
static void put_counting(assembler *a, bool from_memory, int32_t step)
{
  rig_start_worker(a);
  asm_li(a, A0, from_memory ? RIG_CONST : APART);
  if (from_memory) asm_load(a, ASM_LW, A0, A0, 0);
  asm_li(a, A1, ROUNDS);
  uint32_t again = asm_here(a);
  asm_load(a, ASM_LW, A2, A0, 0);
  asm_addi(a, A2, A2, 1);
  asm_store(a, ASM_SW, A2, A0, 0);
  asm_addi(a, A1, A1, -1);
  asm_branch(a, ASM_BNE, A1, ZERO, again);
  if (step) {
    uint32_t on = asm_here(a);
    asm_addi(a, A0, A0, step);
    asm_store(a, ASM_SW, A0, A0, 0);
    asm_branch(a, ASM_BEQ, ZERO, ZERO, on);
  }
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

/* The tile's writable window is before the stacks. `bytes`: as for rig_image. */
static pop_image image_with_data_apart(const rig *r, uint8_t *bytes)
{
  static const pop_image_segment segments[] = {
      {.start = RIG_CODE, .size = RIG_CODE_BYTES, .executable = true},
      {.start = RIG_CONST, .size = RIG_CONST_BYTES},
      {.start = RIG_DATA, .size = RIG_BEHIND - RIG_DATA, .writable = true},
      {.start = APART, .size = APART_BYTES, .writable = true}};
  pop_image image = rig_image(r, 0, bytes);
  uint32_t address = APART;
  memcpy(bytes + (RIG_CONST - RIG_BASE), &address, sizeof address);
  image.segments = segments;
  image.num_segments = sizeof segments / sizeof *segments;
  return image;
}

Test(translate_windows, stores_to_data_apart_soon_ask_no_more)
{
  for (int from_memory = 0; from_memory < 2; from_memory++) {
    rig r = rig_create_with(1, (machine_options){.engine = MACHINE_TRANSLATOR, .num_threads = 1});
    put_counting(&r.code[0], from_memory, 0);
    uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
    pop_image image = image_with_data_apart(&r, bytes);
    expect_ok(rig_load_image(&r, &image));
    rig_run(&r);
    cr_assert_eq(rig_word(&r, 0, APART), ROUNDS);
    uint64_t questions = r.m->tiles[0].native_questions;
    cr_assert_leq(questions, 2, "%d questions", (int)questions);
    free(bytes);
    rig_free(&r);
  }
}

/* Up to their end; down over the stacks of others and into its own; and at unaligned addresses. */
Test(translate_windows, stores_leave_data_apart_as_with_the_interpreter)
{
  static const int32_t steps[] = {4, -4, 2, 64, -64, 1024};
  tile_stack stacks[NUM_TILE_STACKS];
  set_stacks(stacks);
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    rig r = rig_create(1, 0);
    put_counting(&r.code[0], i & 1, steps[i]);
    uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
    pop_image image = image_with_data_apart(&r, bytes);
    compare_engines(&r.target, &image, stacks, 100000, "data apart", i);
    free(bytes);
    rig_free(&r);
  }
}
