/* The translator against the interpreter: loops whose pointers grow by a register, as along the
 * columns of a matrix, or are products with it; indices that a register bounds. The range may be
 * illegal at either end. Strides may be misaligned, negative, zero or enormous, and a stride
 * register may be changed in the loop. */
#include <criterion/criterion.h>

#include "support/compare_engines.h"
#include "support/random.h"
#include "support/seeds.h"

/* POINTER and OTHER move by STRIDE or MORE in each round. COUNTER goes up to END, and DOWN goes
 * down. VALUE is loaded. MASK and SIZE limit indices, which begin at BASE or OTHER. */
enum {
  POINTER = S0,
  OTHER = S1,
  STRIDE = A6,
  MORE = A7,
  COUNTER = T0,
  DOWN = T2,
  END = T1,
  VALUE = A0,
  MASK = A5,
  SIZE = 28 /* t3 */,
  BASE = 29 /* t4 */
};

typedef struct maker {
  uint64_t random;
  assembler *a;
} maker;

static uint32_t pick(maker *m, uint32_t below)
{
  return random_below(&m->random, below);
}

#define PICK(m, ...) RANDOM_OF(&(m)->random, __VA_ARGS__)

/* Places from the lowest writable address to the highest, mostly near the ends. */
static uint32_t pick_place(maker *m)
{
  uint32_t word = 4 * pick(m, 40);
  return pick(m, 2) ? RIG_DATA + word : RIG_END - 4 - word;
}

static void put_access(maker *m, uint32_t pointer)
{
  int32_t offset = 4 * (int32_t)pick(m, 3);
  if (pick(m, 2)) {
    asm_load(m->a, PICK(m, ASM_LW, ASM_LHU, ASM_LBU), VALUE, pointer, offset);
    asm_add(m->a, A1, A1, VALUE);
  } else {
    asm_store(m->a, PICK(m, ASM_SW, ASM_SH, ASM_SB), A1, pointer, offset);
  }
}

static void put_move(maker *m, uint32_t pointer)
{
  uint32_t by = PICK(m, STRIDE, STRIDE, MORE);
  switch (pick(m, 4)) {
  case 0:
    asm_word(m->a, asm_r(0x40000033, pointer, pointer, by)); /* sub */
    return;
  case 1:
    asm_word(m->a, asm_r(0x20002033, pointer, by, pointer)); /* sh1add */
    return;
  default:
    asm_add(m->a, pointer, pointer, by);
  }
}

/* An access at the product of a stride and a counter, forwards or backwards, or of a stride and a
 * loaded value. */
static void put_product(maker *m)
{
  assembler *a = m->a;
  uint32_t counter = PICK(m, COUNTER, COUNTER, DOWN, DOWN, VALUE);
  uint32_t by = PICK(m, STRIDE, MORE, STRIDE, MORE, DOWN);
  bool swapped = pick(m, 2);
  asm_word(a, asm_r(0x02000033, A4, swapped ? by : counter, swapped ? counter : by)); /* mul */
  asm_add(a, A4, A4, pick(m, 8) ? (uint32_t)OTHER : COUNTER);
  put_access(m, A4);
}

/* An access at an index bounded by a register: by a mask, a divisor, or a minimum. */
static void put_index(maker *m)
{
  assembler *a = m->a;
  uint32_t by = PICK(m, MASK, MASK, SIZE, STRIDE, SIZE, STRIDE, VALUE);
  bool swapped = pick(m, 4) == 0;
  asm_load(a, PICK(m, ASM_LW, ASM_LHU), VALUE, POINTER, 0);
  asm_word(a, asm_r(PICK(m, 0x00007033, 0x0a005033, 0x02007033), A4, swapped ? by : VALUE,
                    swapped ? VALUE : by)); /* and, minu, remu */
  asm_word(a, asm_r(PICK(m, 0x33, 0x20002033, 0x20004033, 0x20004033), A4, A4,
                    PICK(m, OTHER, BASE, BASE, BASE))); /* add, sh1add, sh2add */
  if (pick(m, 4))
    asm_store(a, PICK(m, ASM_SW, ASM_SB), A1, A4, 0);
  else
    put_access(m, A4);
}

static uint32_t pick_stride(maker *m)
{
  uint32_t word = 4 * (1 + pick(m, 6));
  return PICK(m, word, word, 0 - word, 0 - word, 1, 2, 0, 0x40000000, 0x80000000);
}

/* Indices near the end of the writable memory, so that the limit and its scale decide. */
static void put_index_loop(maker *m)
{
  assembler *a = m->a;
  asm_li(a, POINTER, RIG_DATA + 4 * pick(m, 100));
  asm_li(a, BASE, RIG_END - 4 * pick(m, 40));
  asm_li(a, OTHER, RIG_END - 4 * pick(m, 40));
  asm_li(a, STRIDE, 1 + pick(m, 4));
  asm_li(a, MASK, 1 + 2 * pick(m, 8));
  asm_li(a, SIZE, pick(m, 8) ? 1 + pick(m, 20) : 0xc0000000);
  asm_li(a, COUNTER, 0);
  asm_li(a, END, 4 + pick(m, 8));
  uint32_t again = asm_here(a);
  for (uint32_t n = 1 + pick(m, 3); n > 0; n--) put_index(m);
  asm_addi(a, POINTER, POINTER, 4);
  asm_addi(a, COUNTER, COUNTER, 1);
  asm_branch(a, ASM_BNE, COUNTER, END, again);
}

static void put_loop(maker *m)
{
  assembler *a = m->a;
  asm_li(a, POINTER, pick_place(m));
  asm_li(a, OTHER, pick_place(m));
  asm_li(a, STRIDE, pick_stride(m));
  asm_li(a, MORE, pick_stride(m));
  asm_li(a, COUNTER, 0);
  asm_li(a, DOWN, pick(m, 8));
  asm_li(a, BASE, pick_place(m));
  asm_li(a, MASK, (1u << pick(m, 10)) - 1);
  asm_li(a, SIZE, PICK(m, 0, 1, 1, 5, 40, 200, 1000, 0x40000001, 0x80000000));
  asm_li(a, END, 1 + pick(m, 24));
  uint32_t again = asm_here(a);
  for (uint32_t n = 1 + pick(m, 2); n > 0; n--) put_access(m, PICK(m, POINTER, POINTER, OTHER));
  if (pick(m, 2)) put_product(m);
  for (uint32_t n = pick(m, 3); n > 0; n--) put_index(m);
  put_move(m, POINTER);
  if (pick(m, 2)) put_move(m, OTHER);
  asm_addi(a, DOWN, DOWN, -2);
  if (pick(m, 8) == 0) asm_addi(a, PICK(m, STRIDE, MORE), MORE, 4);
  asm_addi(a, COUNTER, COUNTER, 1);
  asm_branch(a, ASM_BNE, COUNTER, END, again);
  asm_add(a, A2, A2, POINTER); /* their final values */
  asm_add(a, A3, A3, OTHER);
}

static void compare_strides(uint64_t seed)
{
  enum { LOOPS = 4 };
  rig r = rig_create(1, 0);
  maker m = {.random = seed * 77777, .a = &r.code[0]};
  assembler *a = m.a;
  rig_start_worker(a);
  for (int i = 0; i < LOOPS; i++)
    if (seed % 3)
      put_loop(&m);
    else
      put_index_loop(&m);
  asm_li(a, T2, RIG_DATA + 512);
  for (uint32_t x = A0; x <= A3; x++) asm_store(a, ASM_SW, x, T2, (int32_t)(4 * x));
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  for (uint32_t i = RIG_DATA; i < RIG_END; i++) bytes[i - RIG_BASE] = (uint8_t)pick(&m, 256);
  uint64_t limit = pick(&m, 4) ? 100000 : 500 + pick(&m, 4000);
  compare_engines(&r.target, &image, NULL, limit, "strides", seed);
  free(bytes);
  rig_free(&r);
}

Test(translate_strides, pointers_move_by_registers_as_far_as_they_may)
{
  seed_range seeds = test_seeds(1, 120);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) compare_strides(seed);
}

/* All words but one are 0. So all indices but one are legal, although the limits are not. */
static void compare_limits(uint32_t small, uint32_t large, uint32_t scale, uint32_t word)
{
  enum { ROUNDS = 12, BAD = 7 };
  rig r = rig_create(1, 0);
  assembler *a = &r.code[0];
  rig_start_worker(a);
  asm_li(a, POINTER, RIG_DATA);
  asm_li(a, BASE, RIG_END - 16);
  asm_li(a, MASK, small);
  asm_li(a, SIZE, large);
  asm_li(a, COUNTER, 0);
  asm_li(a, END, ROUNDS);
  uint32_t again = asm_here(a);
  asm_load(a, ASM_LW, VALUE, POINTER, 0);
  for (int i = 0; i < 2; i++) {
    asm_word(a, asm_r(0x0a005033, A4, VALUE, i ? SIZE : MASK)); /* minu */
    asm_word(a, asm_r(scale, A4, A4, BASE));
    asm_store(a, ASM_SB, COUNTER, A4, 0);
  }
  asm_addi(a, POINTER, POINTER, 4);
  asm_addi(a, COUNTER, COUNTER, 1);
  asm_branch(a, ASM_BNE, COUNTER, END, again);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  memset(bytes + (RIG_DATA - RIG_BASE), 0, RIG_END - RIG_DATA);
  memcpy(bytes + (RIG_DATA - RIG_BASE) + sizeof word * BAD, &word, sizeof word);
  compare_engines(&r.target, &image, NULL, 100000, "limit", large);
  free(bytes);
  rig_free(&r);
}

Test(translate_strides, each_index_has_its_own_limit)
{
  const uint32_t add = 0x33, sh2add = 0x20004033;
  compare_limits(1, 3, sh2add, 3);
  compare_limits(1, 10, sh2add, 3);
  compare_limits(1, 10, sh2add, 10);
  compare_limits(10, 1, sh2add, 10);
  compare_limits(1, 0xc0000000, add, 0xbfffffff);
}

/* 2^31 - 1 times a number of up to 2^32 - 1, and the range of all rounds: together at
 * least 2^63. */
Test(translate_strides, an_index_times_a_large_factor_has_a_limit)
{
  const uint32_t and = 0x7033, xor = 0x4033, slli = 0x1013, sub = 0x40000033;
  rig r = rig_create(1, 0);
  assembler *a = &r.code[0];
  rig_start_worker(a);
  asm_li(a, POINTER, RIG_DATA + 0x100);
  asm_li(a, MASK, UINT32_MAX);
  asm_li(a, SIZE, 1 << 27); /* from round to round */
  asm_li(a, COUNTER, 0);
  asm_li(a, END, 3000);
  uint32_t again = asm_here(a);
  asm_word(a, asm_r(and, VALUE, A3, MASK));
  asm_word(a, asm_i(slli, A4, VALUE, 31));
  asm_word(a, asm_r(sub, A4, A4, VALUE));
  asm_add(a, A4, A4, POINTER);
  asm_store(a, ASM_SB, COUNTER, A4, 0);
  asm_addi(a, A3, A3, 1);
  asm_word(a, asm_r(xor, A3, A3, COUNTER));
  asm_add(a, POINTER, POINTER, SIZE);
  asm_addi(a, COUNTER, COUNTER, 1);
  asm_branch(a, ASM_BNE, COUNTER, END, again);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  compare_engines(&r.target, &image, NULL, 1000000, "factor", 0);
  free(bytes);
  rig_free(&r);
}
