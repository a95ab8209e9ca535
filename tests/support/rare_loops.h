/* Random tile programs: loops over floats in which some rounds take another path, with calls or
 * accesses that cannot be hoisted: never, sometimes, in the first or the last round, always. That
 * path changes the loop's variables, leaves the loop, or stores what later rounds load. */
#ifndef SUPPORT_RARE_LOOPS_H
#define SUPPORT_RARE_LOOPS_H

#include "compare_engines.h"
#include "isa/isa.h"
#include "random.h"
#include "seeds.h"

enum {
  POINTER = S0,
  PLACE = S1, /* of results */
  SUM = A1,   /* of what rare ways come by */
  BASE = A7,  /* of the table that they go to */
  COUNTER = T0,
  END = T1,
  VALUE = A0,
  STAYS = 29, /* t4: of what is loaded in each round */
  LINK = 30   /* t5: where the caller's address is kept */
};

enum { ANDI = 0x7013 };
enum { FADD_S = 0x00007053, FMUL_S = 0x10007053, FSUB_S = 0x08007053, FMIN_S = 0x28000053 };
static const uint32_t FMADD_S = 0x7043, FMV_W_X = 0xf0000053, FLT_S = 0xa0001053;

typedef struct maker {
  uint64_t random;
  assembler *a;
  uint32_t leaf, recursive; /* functions */
} maker;

static inline uint32_t pick(maker *m, uint32_t below)
{
  return random_below(&m->random, below);
}

#define PICK(m, ...) RANDOM_OF(&(m)->random, __VA_ARGS__)

/* At a byte that only the round knows, mostly a word's: no guard knows that it is aligned. */
static inline void put_lookup(maker *m, bool store)
{
  assembler *a = m->a;
  asm_word(a, asm_i(ANDI, A4, VALUE, (int32_t)PICK(m, 252, 252, 124, 60, 254)));
  asm_add(a, A4, A4, BASE);
  if (store)
    asm_store(a, ASM_SW, VALUE, A4, 0);
  else
    asm_load(a, ASM_LW, A5, A4, 0);
  if (!store) asm_add(a, SUM, SUM, A5);
}

static inline void put_functions(maker *m)
{
  assembler *a = m->a;
  m->leaf = asm_here(a);
  put_lookup(m, pick(m, 3) == 0);
  if (pick(m, 3) == 0) asm_word(a, asm_r(FADD_S, 4, 4, 4));
  asm_jalr(a, ZERO, RA, 0);
  m->recursive = asm_here(a); /* a5: how deep */
  size_t out = asm_hole(a);
  asm_addi(a, A5, A5, -1);
  asm_addi(a, SUM, SUM, 3);
  asm_addi(a, 2, 2, -16);
  asm_store(a, ASM_SW, RA, 2, 4);
  asm_jal(a, RA, m->recursive);
  asm_load(a, ASM_LW, RA, 2, 4);
  asm_addi(a, 2, 2, 16);
  asm_patch_branch(a, out, ASM_BGE, ZERO, A5);
  asm_jalr(a, ZERO, RA, 0);
}

static inline void put_call(maker *m)
{
  assembler *a = m->a;
  if (pick(m, 2)) {
    asm_jal(a, RA, m->leaf);
    return;
  }
  asm_word(a, asm_i(ANDI, A5, VALUE, 3));
  asm_jal(a, RA, m->recursive);
}

/* What the loop lives by, otherwise than it thinks. */
static inline void put_change(maker *m)
{
  assembler *a = m->a;
  switch (pick(m, 8)) {
  case 0:
    asm_addi(a, POINTER, POINTER, (int32_t)PICK(m, 4, -4, 8, 2));
    return;
  case 1:
    asm_addi(a, PLACE, PLACE, (int32_t)PICK(m, 4, -4, 8));
    return;
  case 2:
    asm_addi(a, COUNTER, COUNTER, 1);
    return;
  case 3:
    asm_addi(a, END, END, -1);
    return;
  case 4:
    asm_store(a, ASM_SW, VALUE, STAYS, 0);
    return;
  case 5:
    asm_store(a, ASM_SW, VALUE, POINTER, (int32_t)PICK(m, 0, 4, 40)); /* a round has it before it */
    return;
  case 6:
    asm_csrr(a, A5, CSR_CYCLE);
    asm_add(a, SUM, SUM, A5);
    return;
  default:
    asm_word(a, asm_r(FSUB_S, 4, 5, 4)); /* a result, or a factor */
  }
}

static inline void put_rare_way(maker *m, size_t *out)
{
  assembler *a = m->a;
  if (pick(m, 4) == 0) { /* turns back at once */
    asm_word(a, asm_i(ANDI, A5, VALUE, (int32_t)PICK(m, 1, 2, 256)));
    size_t in = asm_hole(a);
    size_t back = asm_hole(a);
    asm_patch_branch(a, in, ASM_BNE, A5, ZERO);
    put_lookup(m, false);
    asm_patch_branch(a, back, ASM_BEQ, ZERO, ZERO);
    return;
  }
  if (pick(m, 2)) put_lookup(m, pick(m, 2));
  if (pick(m, 2)) put_call(m);
  if (pick(m, 2)) put_change(m);
  if (pick(m, 6) == 0) *out = asm_hole(a);
}

/* The condition on which a round takes it: bits of what it has loaded, a float, its number. */
static inline uint32_t put_condition(maker *m)
{
  assembler *a = m->a;
  uint32_t kind = pick(m, 8);
  if (kind == 0) {
    asm_word(a, asm_r(FLT_S, A5, 1, 5));
    return ASM_BEQ;
  }
  if (kind == 1) {
    asm_addi(a, A5, COUNTER, -(int32_t)pick(m, 30));
    return ASM_BNE;
  }
  asm_word(a, asm_i(ANDI, A5, VALUE, (int32_t)PICK(m, 0, 0, 1, 3, 15, 255, 1023)));
  return PICK(m, ASM_BEQ, ASM_BEQ, ASM_BNE);
}

/* By a table: to a rare way or past it, by bits of what has been loaded. */
static inline void put_switch(maker *m, size_t *out)
{
  enum { PLACES = 4 };
  assembler *a = m->a;
  size_t places[PLACES];
  asm_word(a, asm_i(ANDI, A5, VALUE, (int32_t)PICK(m, 0, 4, 8, 12)));
  asm_word(a, 0x17 | T2 << 7); /* auipc t2, 0 */
  asm_add(a, A5, A5, T2);
  asm_jalr(a, ZERO, A5, 12);
  for (int i = 0; i < PLACES; i++) places[i] = asm_hole(a);
  uint32_t to_rare = pick(m, 1 << PLACES);
  for (int i = 0; i < PLACES; i++)
    if (to_rare >> i & 1) asm_patch_branch(a, places[i], ASM_BEQ, ZERO, ZERO);
  put_rare_way(m, out);
  for (int i = 0; i < PLACES; i++)
    if (!(to_rare >> i & 1)) asm_patch_branch(a, places[i], ASM_BEQ, ZERO, ZERO);
}

static inline void put_choice(maker *m, size_t *out)
{
  if (pick(m, 6) == 0) {
    put_switch(m, out);
    return;
  }
  assembler *a = m->a;
  uint32_t unless = put_condition(m);
  size_t over = asm_hole(a);
  put_rare_way(m, out);
  if (pick(m, 2)) { /* the other way has something of its own */
    size_t past = asm_hole(a);
    asm_patch_branch(a, over, unless, A5, ZERO);
    asm_word(a, asm_r(FMUL_S, 4, 4, 6));
    asm_addi(a, SUM, SUM, 1);
    asm_patch_branch(a, past, ASM_BEQ, ZERO, ZERO);
  } else {
    asm_patch_branch(a, over, unless, A5, ZERO);
  }
}

static inline void put_floats(maker *m)
{
  static const uint32_t plain[] = {FADD_S, FMUL_S, FSUB_S, FMIN_S};
  for (uint32_t n = 4 + pick(m, 6); n > 0; n--) {
    uint32_t a = 1 + pick(m, 6), b = 1 + pick(m, 6), to = 2 + pick(m, 3);
    uint32_t choice = pick(m, 5);
    asm_word(m->a,
             choice == 4 ? asm_r(FMADD_S, to, a, b) | 5u << 27 : asm_r(plain[choice], to, a, b));
  }
}

static inline void put_loop(maker *m)
{
  assembler *a = m->a;
  size_t out[2] = {0};
  bool carries = pick(m, 6) == 0; /* a float from round to round */
  asm_li(a, POINTER, RIG_DATA + 4 * pick(m, 200));
  asm_li(a, PLACE, PICK(m, RIG_DATA + 0x1000, RIG_DATA + 0x1000, RIG_DATA + 0x104, RIG_END - 40));
  if (pick(m, 3) == 0) /* what later rounds load */
    asm_addi(a, PLACE, POINTER, 4 * (1 + (int32_t)pick(m, 12)));
  asm_li(a, BASE, RIG_DATA + PICK(m, 0, 0x800, 0x1000, 0x1f80));
  asm_li(a, STAYS, RIG_DATA + 0x1800 + 4 * pick(m, 60));
  asm_li(a, COUNTER, 0);
  asm_li(a, END, 1 + pick(m, 40));
  uint32_t again = asm_here(a);
  asm_load(a, ASM_LW, VALUE, POINTER, 0);
  asm_load(a, ASM_FLW, 1, POINTER, 0);
  for (uint32_t r = 2; r <= 4; r++)
    if (!carries || r != 3) asm_load(a, ASM_FLW, r, POINTER, (int32_t)(4 * r));
  if (pick(m, 3) == 0) asm_load(a, ASM_FLW, 6, STAYS, 0);
  if (pick(m, 3) == 0) asm_store(a, ASM_FSW, 1, PLACE, -4);
  if (pick(m, 2)) put_choice(m, &out[0]);
  put_floats(m);
  if (pick(m, 3)) put_choice(m, &out[1]);
  put_floats(m);
  for (uint32_t r = 2; r <= 4; r++)
    if (r == 4 || pick(m, 2)) asm_store(a, ASM_FSW, r, PLACE, r == 4 ? 0 : (int32_t)(0x400 * r));
  asm_addi(a, POINTER, POINTER, 4);
  asm_addi(a, PLACE, PLACE, 4);
  asm_addi(a, COUNTER, COUNTER, 1);
  asm_branch(a, PICK(m, ASM_BNE, ASM_BLT), COUNTER, END, again);
  for (int i = 0; i < 2; i++)
    if (out[i]) asm_patch_branch(a, out[i], ASM_BEQ, ZERO, ZERO);
  asm_add(a, A2, A2, POINTER); /* what is left in them */
  asm_add(a, A3, A3, VALUE);
}

static inline void put_program(maker *m)
{
  enum { LOOPS = 4 };
  assembler *a = m->a;
  size_t start = asm_hole(a);
  put_functions(m);
  asm_patch_branch(a, start, ASM_BEQ, ZERO, ZERO);
  asm_li(a, A5, 0x3fa00000);
  asm_word(a, asm_r(FMV_W_X, 5, A5, 0));
  asm_word(a, asm_r(FMV_W_X, 6, A5, 0));
  for (int i = 0; i < LOOPS; i++) put_loop(m);
  asm_li(a, T2, RIG_DATA + 0x1f00);
  for (uint32_t x = A0; x <= A3; x++) asm_store(a, ASM_SW, x, T2, (int32_t)(4 * x));
  for (uint32_t f = 1; f <= 6; f++) asm_store(a, ASM_FSW, f, T2, (int32_t)(64 + 4 * f));
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

/* Sensible floats, mostly, whose low bits are random. */
static inline void put_data(maker *m, uint8_t *data, uint32_t words, bool any)
{
  for (uint32_t i = 0; i < words; i++) {
    uint32_t word = random_next(&m->random);
    if (!any) word = (word & 0x007fffff) | 0x3f800000 | (word & 0x80000000);
    memcpy(data + 4 * i, &word, 4);
  }
}

/* The translator against the interpreter. */
static inline void compare_rare(uint64_t seed, uint32_t control)
{
  rig r = rig_create(1, 0);
  maker m = {.random = seed * 7919, .a = &r.code[0]};
  rig_start_worker(m.a);
  put_program(&m);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  put_data(&m, bytes + (RIG_DATA - RIG_BASE), (RIG_END - RIG_DATA) / 4, pick(&m, 6) == 0);
  uint64_t limit = pick(&m, 4) ? 1000000 : 500 + pick(&m, 20000);
  machine_options options = {.max_cycles_per_run = limit, .float_control = control};
  char *difference = engines_differ(MACHINE_TRANSLATOR, &r.target, &image, NULL, options);
  cr_assert_null(difference, "rare ways %llu, control %u: %s", (unsigned long long)seed, control,
                 difference);
  free(bytes);
  rig_free(&r);
}

#endif
