/* The translator against the interpreter: loops in which a pointer or an index grows in some rounds
 * only, such as the place of the next element that is kept. The largest possible growth may be
 * illegal where the actual growth is legal, and the other way round. The increment may be
 * misaligned, of both signs, in two places, or too large. */
#include <criterion/criterion.h>

#include "support/compare_engines.h"
#include "support/random.h"
#include "support/seeds.h"

/* POINTER moves in each round, and CREEPER in some rounds only. So does KEPT, an index that begins
 * at BASE. COUNTER goes up to END. VALUE is what POINTER loads, and decides. */
enum {
  POINTER = S0,
  CREEPER = S1,
  KEPT = A6,
  BASE = A7,
  COUNTER = T0,
  END = T1,
  VALUE = A0,
  PLACE = 29 /* t4: the value that each round loads */
};

typedef struct maker {
  uint64_t random;
  assembler *a;
  int32_t step; /* mostly that of pointers in this loop: words, or twice a fraction of a word */
} maker;

static uint32_t pick(maker *m, uint32_t below)
{
  return random_below(&m->random, below);
}

#define PICK(m, ...) RANDOM_OF(&(m)->random, __VA_ARGS__)

static uint32_t pick_place(maker *m)
{
  uint32_t word = 4 * pick(m, 40);
  return pick(m, 2) ? RIG_DATA + word : RIG_END - 4 - word;
}

static void put_access(maker *m, uint32_t pointer)
{
  int32_t offset = 4 * (int32_t)pick(m, 2);
  if (pick(m, 3) == 0) {
    asm_load(m->a, PICK(m, ASM_LW, ASM_LHU, ASM_LBU), VALUE, pointer, offset);
    asm_add(m->a, A1, A1, VALUE);
  } else {
    asm_store(m->a, PICK(m, ASM_SW, ASM_SW, ASM_SH, ASM_SB), A1, pointer, offset);
  }
}

static void put_kept(maker *m)
{
  asm_word(m->a, asm_r(PICK(m, 0x33, 0x20002033, 0x20004033, 0x20004033), A4, KEPT,
                       BASE)); /* add, sh1add, sh2add */
  put_access(m, A4);
}

/* The difference of two pointers that advance in some rounds. */
static void put_difference(maker *m)
{
  asm_word(m->a, asm_r(0x40000033, A4, CREEPER, KEPT)); /* sub */
  put_access(m, A4);
}

static void put_access_by(maker *m, uint32_t moved)
{
  if (moved == KEPT)
    put_kept(m);
  else
    put_access(m, CREEPER);
}

/* Mostly the step that compilers use. */
static int32_t pick_step(maker *m, uint32_t moved)
{
  int32_t usual = moved == KEPT ? 1 : m->step;
  return (int32_t)PICK(m, usual, usual, usual, usual, 2, 4, 8, -usual, 3, 0, 2047);
}

/* A branch on a loaded value around an access and a step before or after it, or a step on the
 * other path, too. */
static void put_choice(maker *m)
{
  assembler *a = m->a;
  uint32_t moved = PICK(m, CREEPER, CREEPER, KEPT);
  uint32_t mask = PICK(m, 0, 1, 1, 3, 255);
  asm_word(a, asm_i(0x00007013, A5, VALUE, (int32_t)mask)); /* andi */
  uint32_t kind = PICK(m, ASM_BEQ, ASM_BNE);
  size_t over = asm_hole(a);
  if (pick(m, 2)) put_access_by(m, moved);
  asm_addi(a, moved, moved, pick_step(m, moved));
  if (pick(m, 4) == 0) put_access_by(m, moved);
  if (pick(m, 4) == 0) { /* the other path advances it too */
    size_t past = asm_hole(a);
    asm_patch_branch(a, over, kind, A5, ZERO);
    asm_addi(a, moved, moved, pick_step(m, moved));
    asm_patch_branch(a, past, ASM_BEQ, ZERO, ZERO);
  } else {
    asm_patch_branch(a, over, kind, A5, ZERO);
  }
}

/* An access at one of two places, chosen in each round. */
static void put_either(maker *m)
{
  assembler *a = m->a;
  asm_addi(a, A4, PICK(m, POINTER, CREEPER, BASE), 0);
  asm_word(a, asm_i(0x00007013, A5, VALUE, 1)); /* andi */
  size_t over = asm_hole(a);
  asm_addi(a, A4, A4, (int32_t)PICK(m, 4, 8, 16, 64, -4, -32, 2));
  asm_patch_branch(a, over, ASM_BEQ, A5, ZERO);
  put_access(m, A4);
}

static void put_loop(maker *m)
{
  assembler *a = m->a;
  m->step = (int32_t)PICK(m, 4, 4, 4, 4, 2);
  asm_li(a, POINTER, RIG_DATA + 4 * pick(m, 60));
  asm_li(a, CREEPER, pick_place(m));
  asm_li(a, KEPT, PICK(m, 0, 0, 1, 5));
  asm_li(a, BASE, pick_place(m));
  asm_li(a, PLACE, RIG_DATA + 4 * pick(m, 60));
  asm_li(a, COUNTER, 0);
  asm_li(a, END, 2 + pick(m, 30));
  uint32_t again = asm_here(a);
  asm_load(a, PICK(m, ASM_LW, ASM_LW, ASM_LBU), VALUE, POINTER, 0);
  if (pick(m, 4) == 0) { /* like fields that are loaded again in each round */
    asm_load(a, ASM_LW, A2, PLACE, 0);
    asm_add(a, A3, A3, A2);
  }
  for (uint32_t n = 1 + pick(m, 2); n > 0; n--) put_choice(m);
  if (pick(m, 2)) put_kept(m);
  if (pick(m, 2)) put_either(m);
  if (pick(m, 3) == 0) put_access(m, CREEPER);
  if (pick(m, 4) == 0) put_difference(m);
  asm_addi(a, POINTER, POINTER, 4);
  if (pick(m, 3) == 0)
    asm_addi(a, BASE, BASE, (int32_t)PICK(m, 4, -4, -8)); /* with it, or the other way */
  asm_addi(a, COUNTER, COUNTER, 1);
  asm_branch(a, ASM_BNE, COUNTER, END, again);
  asm_add(a, A2, A2, CREEPER); /* their final values */
  asm_add(a, A3, A3, KEPT);
}

/* Word accesses by a pointer that advances by half a word, once or twice. */
static void put_halves(maker *m)
{
  assembler *a = m->a;
  asm_li(a, POINTER, RIG_DATA + 4 * pick(m, 8));
  asm_li(a, CREEPER, RIG_DATA + 400);
  asm_li(a, COUNTER, 0);
  asm_li(a, END, 24);
  uint32_t again = asm_here(a);
  asm_load(a, ASM_LW, VALUE, POINTER, 0);
  asm_store(a, ASM_SW, COUNTER, CREEPER, 0);
  for (int32_t bit = 4; bit <= 6; bit += 2) {       /* mostly set bits */
    asm_word(a, asm_i(0x00007013, A5, VALUE, bit)); /* andi */
    size_t over = asm_hole(a);
    asm_addi(a, CREEPER, CREEPER, 2);
    asm_patch_branch(a, over, ASM_BEQ, A5, ZERO);
  }
  asm_addi(a, POINTER, POINTER, 4);
  asm_addi(a, COUNTER, COUNTER, 1);
  asm_branch(a, ASM_BNE, COUNTER, END, again);
}

/* Down two words in each round, and up one in some, to below the writable memory. */
static void put_contrary(maker *m)
{
  assembler *a = m->a;
  asm_li(a, POINTER, RIG_DATA + 200 + 4 * pick(m, 8));
  asm_li(a, BASE, RIG_DATA + 4 * 15);
  asm_li(a, KEPT, 0);
  asm_li(a, COUNTER, 0);
  asm_li(a, END, 8 + pick(m, 8));
  uint32_t again = asm_here(a);
  asm_load(a, ASM_LW, VALUE, POINTER, 0);
  asm_word(a, asm_i(0x00007013, A5, VALUE, 1)); /* andi */
  size_t over = asm_hole(a);
  asm_addi(a, KEPT, KEPT, 1);
  asm_patch_branch(a, over, ASM_BEQ, A5, ZERO);
  asm_word(a, asm_r(0x20004033, A4, KEPT, BASE)); /* sh2add */
  asm_store(a, ASM_SW, COUNTER, A4, 0);
  asm_addi(a, POINTER, POINTER, 4);
  asm_addi(a, BASE, BASE, -8);
  asm_addi(a, COUNTER, COUNTER, 1);
  asm_branch(a, ASM_BNE, COUNTER, END, again);
}

/* Up two words in most rounds and down three in some, which is a word in all: to the end of
 * memory. */
static void put_against(maker *m)
{
  assembler *a = m->a;
  asm_li(a, POINTER, RIG_DATA + 4 * pick(m, 8));
  asm_li(a, CREEPER, RIG_END - 4 * (2 + pick(m, 16)));
  asm_li(a, KEPT, 0);
  asm_li(a, COUNTER, 0);
  asm_li(a, END, 24);
  uint32_t again = asm_here(a);
  asm_load(a, ASM_LW, VALUE, POINTER, 0);
  asm_word(a, asm_r(0x40000033, A4, CREEPER, KEPT)); /* sub */
  asm_store(a, ASM_SW, COUNTER, A4, 0);
  for (uint32_t moved = 0; moved < 2; moved++) {
    asm_word(a, asm_i(0x00007013, A5, VALUE, moved ? 12 : 3)); /* andi */
    size_t over = asm_hole(a);
    asm_addi(a, moved ? KEPT : CREEPER, moved ? KEPT : CREEPER, moved ? 12 : 8);
    asm_patch_branch(a, over, moved ? ASM_BNE : ASM_BEQ, A5, ZERO);
  }
  asm_addi(a, POINTER, POINTER, 4);
  asm_addi(a, COUNTER, COUNTER, 1);
  asm_branch(a, ASM_BNE, COUNTER, END, again);
}

static void put_loops(maker *m)
{
  enum { LOOPS = 4 };
  for (int i = 0; i < LOOPS; i++) put_loop(m);
}

static void compare_creeps(uint64_t seed, void (*put)(maker *m))
{
  rig r = rig_create(1, 0);
  maker m = {.random = seed * 31337, .a = &r.code[0]};
  assembler *a = m.a;
  rig_start_worker(a);
  put(&m);
  asm_li(a, T2, RIG_DATA + 512);
  for (uint32_t x = A0; x <= A3; x++) asm_store(a, ASM_SW, x, T2, (int32_t)(4 * x));
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  for (uint32_t i = RIG_DATA; i < RIG_END; i++) bytes[i - RIG_BASE] = (uint8_t)pick(&m, 256);
  uint64_t limit = pick(&m, 4) ? 100000 : 500 + pick(&m, 4000);
  compare_engines(&r.target, &image, NULL, limit, "creeps", seed);
  free(bytes);
  rig_free(&r);
}

Test(translate_creeps, what_grows_in_some_rounds_touches_what_it_may)
{
  seed_range seeds = test_seeds(1, 120);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) compare_creeps(seed, put_loops);
}

Test(translate_creeps, it_may_be_misaligned_in_some_rounds)
{
  for (uint64_t seed = 1; seed <= 10; seed++) compare_creeps(seed, put_halves);
}

Test(translate_creeps, it_may_go_against_what_grows_in_all)
{
  for (uint64_t seed = 1; seed <= 10; seed++) compare_creeps(seed, put_contrary);
}

Test(translate_creeps, one_may_go_against_another)
{
  for (uint64_t seed = 1; seed <= 10; seed++) compare_creeps(seed, put_against);
}
