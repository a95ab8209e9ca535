/* The same code at different places is compiled once. Values that it computes from its own
 * addresses are those of each place. */
#include "support/rig.h"

#include <machine/native.h>
#include <stddef.h>

enum { RESULTS = RIG_DATA + 0x1000, NUM_TILES = 3, SUPERVISOR_WORDS = 12, LONG = 200 };

/* The layout of a tile in words: code before the worker, distance to the function that it calls,
 * constants before the data. */
typedef struct layout {
  uint32_t before, between, constants;
} layout;

static const layout layouts[NUM_TILES] = {{0, 0, 0}, {7, 3, 100}, {64, 700, 611}};

/* A call of a function that may be so far away that auipc adds a part of the distance. */
static void put_call(assembler *a, uint32_t distance)
{
  uint32_t upper = (distance + 0x800) & ~0xfffu;
  asm_word(a, 0x00000017 | upper | RA << 7); /* auipc */
  asm_jalr(a, RA, RA, (int32_t)(distance - upper));
}

/* In a loop with guarded stores, the worker stores a long function's result for 0, a return
 * address, and the sum of auipc. */
static void put_program(assembler *a, const layout *at)
{
  enum { WORKER_WORDS = 15 };
  asm_li(a, T0, RIG_CODE + 4 * (SUPERVISOR_WORDS + at->before));
  asm_tile(a, TILE_RUN, 0, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  rig_report(a, 5);
  asm_nops(a, SUPERVISOR_WORDS - (uint32_t)a->count + at->before);
  uint32_t begin = (uint32_t)a->count;
  asm_li(a, A1, 0);
  uint32_t call = (uint32_t)a->count;
  put_call(a, 4 * (WORKER_WORDS + at->between - (call - begin)));
  asm_word(a, 0x00001017 | A2 << 7); /* auipc */
  asm_li(a, T2, RESULTS);
  asm_addi(a, T0, ZERO, 8);
  uint32_t again = asm_here(a);
  asm_store(a, ASM_SW, A1, T2, 0);
  asm_store(a, ASM_SW, RA, T2, 4);
  asm_store(a, ASM_SW, A2, T2, 8);
  asm_addi(a, T0, T0, -1);
  asm_branch(a, ASM_BNE, T0, ZERO, again);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  cr_assert_eq(a->count - begin, WORKER_WORDS - 1);
  asm_nops(a, 1 + at->between);
  for (int i = 0; i < LONG; i++) asm_addi(a, A1, A1, i % 7);
  asm_jalr(a, 0, RA, 0);
}

/* `small`: there are only a few words of data, at another address on each tile. */
static void load_tile(rig *r, uint32_t tile, bool small)
{
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(r, tile, bytes);
  pop_image_segment segments[3];
  memcpy(segments, image.segments, sizeof segments);
  segments[2].start += 4 * layouts[tile].constants;
  segments[2].size -= 4 * layouts[tile].constants;
  if (small) {
    segments[2].start = RESULTS - 16 * tile;
    segments[2].size = 64 + 20 * tile;
  }
  segments[1].size = segments[2].start - segments[1].start;
  image.segments = segments;
  expect_ok(machine_load(r->m, &image, NULL));
  free(bytes);
}

static machine_counters run(machine_engine engine, bool small)
{
  rig r = rig_create_with(NUM_TILES, (machine_options){.engine = engine});
  for (uint32_t i = 0; i < NUM_TILES; i++) {
    put_program(&r.code[i], &layouts[i]);
    load_tile(&r, i, small);
  }
  cr_assert_eq(rig_run(&r), 5);
  for (uint32_t i = 0; i < NUM_TILES; i++) {
    uint32_t call = RIG_CODE + 4 * (SUPERVISOR_WORDS + layouts[i].before + 2), sum = 0;
    for (uint32_t k = 0; k < LONG; k++) sum += k % 7;
    cr_assert_eq(rig_word(&r, i, RESULTS), sum);
    cr_assert_eq(rig_word(&r, i, RESULTS + 4), call + 8);
    cr_assert_eq(rig_word(&r, i, RESULTS + 8), call + 8 + 0x1000);
  }
  machine_counters counters = machine_get_counters(r.m);
  rig_free(&r);
  return counters;
}

static void expect_compiled_once(bool small)
{
  machine_counters expected = run(MACHINE_INTERPRETER, small), got = run(MACHINE_TRANSLATOR, small);
  cr_assert_eq(got.cycles, expected.cycles);
  cr_assert_eq(got.instructions, expected.instructions);
  native_counters native = native_get_counters();
  cr_assert(native.compiled == 1 && native.moved == NUM_TILES - 1, "%llu compiled, %llu moved",
            (unsigned long long)native.compiled, (unsigned long long)native.moved);
}

Test(translate_move, code_at_three_places_is_compiled_once)
{
  expect_compiled_once(false);
}

Test(translate_move, code_of_tiles_with_little_data_is_compiled_once)
{
  expect_compiled_once(true);
}

/* The words before an object's numbers (translator/module.c). A program that stores these words has
 * them in native code, too, as LLVM makes one constant of the four. So the place of the numbers
 * cannot be found. */
Test(translate_move, code_with_the_mark_of_numbers_is_interpreted)
{
  static const uint32_t mark[] = {0x9e4d7a31, 0x62b5c0f8, 0xd817e29b, 0x3fa4068d};
  rig r = rig_create_with(1, (machine_options){.engine = MACHINE_TRANSLATOR});
  assembler *a = &r.code[0];
  asm_li(a, T0, RIG_CODE + 4 * SUPERVISOR_WORDS);
  asm_tile(a, TILE_RUN, 0, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  rig_report(a, 5);
  asm_nops(a, SUPERVISOR_WORDS - (uint32_t)a->count);
  asm_li(a, T2, RESULTS);
  for (uint32_t i = 0; i < 4; i++) asm_li(a, A0 + i, mark[i]);
  for (uint32_t i = 0; i < 4; i++) asm_store(a, ASM_SW, A0 + i, T2, 4 * (int32_t)i);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  rig_load(&r);
  cr_assert_eq(rig_run(&r), 5);
  for (uint32_t i = 0; i < 4; i++) cr_assert_eq(rig_word(&r, 0, RESULTS + 4 * i), mark[i]);
  native_counters native = native_get_counters();
  cr_assert(native.compiled == 1 && native.failed == 1, "%llu compiled, %llu failed",
            (unsigned long long)native.compiled, (unsigned long long)native.failed);
  rig_free(&r);
}
