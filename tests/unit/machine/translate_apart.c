/* The translator against the interpreter: loops whose pointers move independently, or with many
 * pointers near each other. Pointers stay, go up or down, and have equal or different steps. So
 * some rounds load what other rounds store, and the accesses of these must not be vectorised. */
#include <criterion/criterion.h>

#include "support/compare_engines.h"
#include "support/random.h"
#include "support/seeds.h"

enum { NUM_POINTERS = 3, COUNTER = T0, END = T1, PLANE = T2, DISTANCE = A5, NEAR = 0x400 };
static const uint8_t pointers[NUM_POINTERS] = {S0, S1, A4};

typedef struct maker {
  uint64_t random;
  assembler *a;
} maker;

static uint32_t pick(maker *m, uint32_t below)
{
  return random_below(&m->random, below);
}

#define PICK(m, ...) RANDOM_OF(&(m)->random, __VA_ARGS__)

/* Integers, and floats that are only moved, because their bits are compared. */
static void put_op(maker *m)
{
  assembler *a = m->a;
  uint32_t p = pointers[pick(m, NUM_POINTERS)], v = PICK(m, A0, A1), w = PICK(m, A0, A1);
  int32_t offset = 4 * (int32_t)pick(m, 3);
  switch (pick(m, 5)) {
  case 0:
  case 1:
    asm_load(a, ASM_LW, v, p, offset);
    return;
  case 2:
    asm_load(a, ASM_FLW, 1, p, offset);
    asm_store(a, ASM_FSW, 1, pointers[pick(m, NUM_POINTERS)], 4 * (int32_t)pick(m, 3));
    return;
  default:
    asm_word(a, asm_r(PICK(m, 0x33, 0x4033), A2, v, w)); /* add, xor */
    asm_store(a, ASM_SW, A2, p, offset);
  }
}

/* Planes at an equal distance that only the guard knows. Each plane is a group of accesses of its
 * own. */
static void put_planes(maker *m)
{
  assembler *a = m->a;
  for (uint32_t n = pick(m, 2) ? 2 + pick(m, 4) : 16, plane = pointers[pick(m, NUM_POINTERS)];
       n > 0; n--) {
    asm_add(a, PLANE, plane, DISTANCE);
    plane = PLANE;
    if (pick(m, 2))
      asm_load(a, ASM_LW, A1, PLANE, 0);
    else
      asm_store(a, ASM_SW, PICK(m, A0, A1, A2), PLANE, 0);
  }
}

/* Code that only some rounds execute. */
static void put_way(maker *m)
{
  assembler *a = m->a;
  size_t over = asm_hole(a);
  asm_word(a, asm_r(0x4033, A2, A2, A0));                     /* xor */
  if (pick(m, 2)) asm_word(a, asm_r(0x02000033, A2, A2, A1)); /* mul */
  asm_patch_branch(a, over, PICK(m, ASM_BLT, ASM_BGE), A0, A1);
}

static void put_loop(maker *m)
{
  assembler *a = m->a;
  int32_t steps[NUM_POINTERS];
  uint32_t space = pick(m, 2) ? 64 : NEAR; /* words */
  uint32_t place = RIG_DATA + NEAR + 4 * pick(m, space);
  int32_t step = (int32_t)PICK(m, 4, 4, 8, -4);
  for (unsigned i = 0; i < NUM_POINTERS; i++) {
    if (pick(m, 2)) place = RIG_DATA + NEAR + 4 * pick(m, space); /* else at the pointer before */
    steps[i] = pick(m, 4) ? step : (int32_t)PICK(m, 0, 4, 8, 8, 12, -4, -8, 16);
    asm_li(a, pointers[i], place);
  }
  asm_li(a, COUNTER, 0);
  asm_li(a, DISTANCE, 4 * pick(m, 80));
  asm_li(a, END, 1 + pick(m, 60));
  asm_li(a, A3, 1);
  asm_word(a, asm_r(0xf0000053, 2, ZERO, 0)); /* fmv.w.x */
  uint32_t carries = pick(m, 4), again = asm_here(a);
  asm_load(a, ASM_LW, A0, pointers[0], 0);
  asm_load(a, ASM_LW, A1, pointers[1], 0);
  asm_add(a, A2, A0, A1);
  if (pick(m, 4) == 0) put_way(m);
  for (uint32_t n = pick(m, 4); n > 0; n--) put_op(m);
  if (pick(m, 3) == 0) put_planes(m);
  asm_store(a, ASM_SW, PICK(m, A0, A1, A2, A2), pointers[2], 0);
  if (carries == 1) asm_word(a, asm_r(0x4033, A3, A3, A2)); /* xor */
  if (carries == 2) {
    asm_load(a, ASM_FLW, 3, pointers[0], 4);
    asm_word(a, asm_r(0x00007053, 2, 2, 3)); /* fadd.s */
  }
  for (unsigned i = 0; i < NUM_POINTERS; i++) asm_addi(a, pointers[i], pointers[i], steps[i]);
  asm_addi(a, COUNTER, COUNTER, 1);
  asm_branch(a, ASM_BNE, COUNTER, END, again);
  asm_store(a, ASM_SW, A3, pointers[0], 0);
  asm_store(a, ASM_FSW, 2, pointers[1], 0);
}

static void compare_loops(uint64_t seed)
{
  rig r = rig_create(1, 0);
  maker m = {.random = seed * 77777, .a = &r.code[0]};
  rig_start_worker(m.a);
  for (int i = 0; i < 12; i++) put_loop(&m);
  asm_tile(m.a, TILE_EXIT, 0, 0, 0);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  for (uint32_t i = RIG_DATA; i < RIG_DATA + RIG_DATA_BYTES; i++)
    bytes[i - RIG_BASE] = (uint8_t)pick(&m, 128);
  compare_engines(&r.target, &image, NULL, 100000, "apart", seed);
  free(bytes);
  rig_free(&r);
}

Test(translate_apart, what_moves_in_different_ways_may_meet)
{
  seed_range seeds = test_seeds(1, 40);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) compare_loops(seed);
}
