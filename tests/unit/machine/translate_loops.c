/* The translator against the interpreter: random loops, and loops that end at the cycle limit. */
#include <criterion/criterion.h>

#include "support/compare_engines.h"
#include "support/random.h"
#include "support/seeds.h"

/* Random loops with all kinds of counters, and accesses near the borders of legal memory. */

typedef struct loop_maker {
  uint64_t random;
  assembler *a;
} loop_maker;

static uint32_t pick(loop_maker *l, uint32_t below)
{
  return random_below(&l->random, below);
}

#define PICK(l, ...) RANDOM_OF(&(l)->random, __VA_ARGS__)

/* s0, s1, a4 and a5 are pointers, a0-a3 are values, t0 counts, t1 is the bound. */
static uint32_t pick_pointer(loop_maker *l)
{
  return PICK(l, S0, S1, A4, A5);
}

static uint32_t pick_value(loop_maker *l)
{
  return PICK(l, A0, A1, A2, A3);
}

static uint32_t pick_place(loop_maker *l)
{
  uint32_t near = 4 * pick(l, 64) - 128;
  if (pick(l, 16) == 0) near += pick(l, 4);
  return near + PICK(l, RIG_DATA + 512, RIG_DATA + 512, RIG_DATA + 2048, RIG_STACKS - 64,
                     RIG_STACKS, RIG_STACKS + 64, RIG_STACKS + RIG_STACK_BYTES, RIG_CONST + 128,
                     RIG_HOLE, RIG_BEHIND + 64, RIG_END);
}

static void put_body_op(loop_maker *l)
{
  assembler *a = l->a;
  uint32_t p = pick_pointer(l), v = pick_value(l), w = pick_value(l);
  int32_t offset = (int32_t)(4 * pick(l, 5)) - 4;
  switch (pick(l, 16)) {
  case 0:
  case 1:
    asm_load(a, ASM_LW, v, p, offset);
    return;
  case 13: /* two bounded values make a third: xor, or, and, minu, maxu */
    asm_word(a, asm_i(0x00007013, v, w, (int32_t)PICK(l, 7, 15, 63, 255)));
    asm_load(a, ASM_LBU, A5, p, offset);
    asm_word(a, asm_r(PICK(l, 0x4033, 0x6033, 0x7033, 0x0a005033, 0x0a007033), v, v, A5));
    asm_word(a, asm_i(PICK(l, 0x4013, 0x6013), v, v, (int32_t)pick(l, 64))); /* xori, ori */
    asm_word(a, asm_r(0x20004033, A5, v, pick_pointer(l)));
    asm_load(a, ASM_LW, v, A5, offset);
    return;
  case 2:
    asm_load(a, PICK(l, ASM_LB, ASM_LBU, ASM_LH, ASM_LHU), v, p, offset);
    return;
  case 3:
  case 4:
    asm_store(a, ASM_SW, v, p, offset);
    return;
  case 5:
    asm_store(a, PICK(l, ASM_SB, ASM_SH), v, pick(l, 8) ? p : (uint32_t)SP, offset);
    return;
  case 6:
    asm_add(a, v, v, w);
    return;
  case 7:
    asm_addi(a, p, p, (int32_t)PICK(l, 4, 4, 4, 8, 1, (uint32_t)-4, 12));
    return;
  case 8: /* another address: sh2add of a counter or of a value */
    asm_word(a, asm_r(0x20004033, A5, pick(l, 3) ? (uint32_t)T0 : v, S0));
    return;
  case 11: /* a table: the index is bounded */
    asm_word(a, asm_i(0x00007013, v, w, (int32_t)PICK(l, 7, 15, 63, 255)));
    asm_word(a, asm_r(0x20004033, A5, v, pick_pointer(l)));
    asm_load(a, ASM_LW, v, A5, offset);
    return;
  case 12: /* the same, and stored back; bytes without a mask */
    if (pick(l, 2))
      asm_load(a, PICK(l, ASM_LBU, ASM_LHU), v, p, offset);
    else
      asm_word(a, asm_i(0x00005013, v, w, 20 + (int32_t)pick(l, 12))); /* srli */
    asm_word(a, asm_r(PICK(l, 0x20002033, 0x20004033, 0x33), A5, v, SP));
    asm_store(a, PICK(l, ASM_SB, ASM_SW), w, A5, offset - 256);
    return;
  case 9:
    asm_load(a, ASM_FLW, pick(l, 4), p, offset);
    asm_word(a, asm_r(PICK(l, 0x00007053, 0x10007053, 0x28001053), pick(l, 4), pick(l, 4), 1));
    return;
  case 10:
    asm_store(a, ASM_FSW, pick(l, 4), p, offset);
    return;
  default: { /* sometimes not */
    size_t hole = asm_hole(a);
    asm_add(a, v, v, T0);
    if (pick(l, 2)) asm_store(a, ASM_SW, v, p, offset);
    asm_patch_branch(a, hole, PICK(l, ASM_BEQ, ASM_BLT, ASM_BGE), v, w);
  }
  }
}

/* A branch out of the loop, to be patched. Some rounds may skip it. */
static size_t put_counted_exit(loop_maker *l)
{
  assembler *a = l->a;
  bool sometimes = pick(l, 2);
  size_t skip = sometimes ? asm_hole(a) : 0, out = asm_hole(a);
  if (sometimes) asm_patch_branch(a, skip, PICK(l, ASM_BNE, ASM_BLT), pick_value(l), pick_value(l));
  return out;
}

static void put_loop(loop_maker *l)
{
  assembler *a = l->a;
  uint32_t rounds = pick(l, 4) ? pick(l, 40) : pick(l, 400), start = PICK(l, 0, 1, 7, 0x7ffffff0);
  int32_t step = (int32_t)PICK(l, 1, 1, 2, 4, 3, (uint32_t)-1, (uint32_t)-4);
  asm_li(a, T0, start);
  asm_li(a, T1, start + rounds * (uint32_t)step + (pick(l, 6) ? 0 : 1));
  asm_li(a, A6, start + pick(l, rounds + 4) * (uint32_t)step + (pick(l, 6) ? 0 : 1));
  uint32_t again = asm_here(a);
  size_t early = 0, counted = 0; /* where the loop may end early, perhaps by a counter */
  for (uint32_t n = 1 + pick(l, 6); n > 0; n--) {
    if (!counted && pick(l, 6) == 0) counted = put_counted_exit(l);
    put_body_op(l);
    if (!early && pick(l, 8) == 0) early = asm_hole(a);
  }
  asm_addi(a, T0, T0, step);
  uint32_t kind = PICK(l, ASM_BNE, ASM_BNE, ASM_BLT, ASM_BGE, 0x6063, 0x7063);
  if (pick(l, 2))
    asm_branch(a, kind, T0, T1, again);
  else
    asm_branch(a, kind, T1, T0, again);
  if (counted) asm_patch_branch(a, counted, PICK(l, ASM_BEQ, ASM_BEQ, ASM_BLT, ASM_BGE), T0, A6);
  if (early)
    asm_patch_branch(a, early, PICK(l, ASM_BEQ, ASM_BLT, ASM_BGE), pick_value(l), pick_value(l));
}

static void put_worker(loop_maker *l)
{
  assembler *a = l->a;
  static const uint8_t pointers[] = {S0, S1, A4, A5}, values[] = {A0, A1, A2, A3};
  asm_li(a, SP, RIG_STACKS + RIG_STACK_BYTES - 4 * pick(l, 20));
  for (unsigned i = 0; i < 4; i++) asm_li(a, pointers[i], pick_place(l));
  for (unsigned i = 0; i < 4; i++)
    asm_li(a, values[i], pick(l, 3) ? pick(l, 100) : pick(l, 1u << 31));
  asm_li(a, T2, 1 + pick(l, 3));
  uint32_t outer = asm_here(a);
  for (uint32_t n = 1 + pick(l, 2); n > 0; n--) put_loop(l);
  for (unsigned i = 0; i < 4; i++)
    if (pick(l, 2)) asm_li(a, pointers[i], pick_place(l));
  asm_addi(a, T2, T2, -1);
  asm_branch(a, ASM_BNE, T2, ZERO, outer);
  asm_li(a, T2, RIG_DATA);
  for (uint32_t r = S0; r <= A7; r++) asm_store(a, ASM_SW, r, T2, (int32_t)(4 * r));
  for (uint32_t r = 0; r < 4; r++) asm_store(a, ASM_FSW, r, T2, 128 + 4 * (int32_t)r);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

static void compare_loops(uint64_t seed)
{
  rig r = rig_create(1, 0);
  loop_maker l = {.random = seed * 77777, .a = &r.code[0]};
  rig_start_worker(l.a);
  put_worker(&l);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  for (uint32_t i = RIG_DATA; i < RIG_END; i++) bytes[i - RIG_BASE] = (uint8_t)pick(&l, 256);
  tile_stack stacks[NUM_TILE_STACKS];
  for (uint32_t i = 0; i < NUM_TILE_STACKS; i++)
    stacks[i] = (tile_stack){RIG_STACKS + i * RIG_STACK_BYTES, RIG_STACK_BYTES};
  uint64_t limit = pick(&l, 4) ? 1000000 : 3000 + pick(&l, 20000);
  compare_engines(&r.target, &image, stacks, limit, "loops", seed);
  free(bytes);
  rig_free(&r);
}

Test(translate_loops, loops_touch_what_they_may_and_fault_where_they_must)
{
  seed_range seeds = test_seeds(1, 100);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) compare_loops(seed);
}

/* Loops that load addresses and their bound in each round, as codelets do with their fields, from
 * words that their own stores may change. All words are addresses of such words, or small numbers
 * where bounds are. */

enum { FIELD_BYTES = 1024, FIELDS = 18 /* s2 */, BOUNDS = 8 /* words before them */ };

static uint32_t pick_word(loop_maker *l)
{
  return RIG_DATA + 256 + 4 * pick(l, 16);
}

static void put_field_op(loop_maker *l)
{
  assembler *a = l->a;
  uint32_t v = pick_value(l), base = PICK(l, A5, A5, A5, S0);
  int32_t field = (int32_t)(4 * pick(l, 4));
  if (base == A5) {
    asm_load(a, ASM_LW, A5, FIELDS, field);
    if (pick(l, 3)) asm_word(a, asm_r(0x20004033, A5, T0, A5)); /* sh2add */
  }
  switch (pick(l, 6)) {
  case 0:
    asm_load(a, ASM_FLW, 1, FIELDS, field);
    asm_store(a, ASM_FSW, 1, base, 4 * (int32_t)pick(l, 8));
    return;
  case 1:
  case 2:
    asm_load(a, ASM_LW, v, base, 4 * (int32_t)pick(l, 8));
    return;
  case 3: /* an address that is not known beforehand */
    asm_store(a, ASM_SW, pick_value(l), v, 4 * (int32_t)pick(l, 8));
    return;
  default:
    asm_store(a, ASM_SW, v, base, 4 * (int32_t)pick(l, 8));
  }
}

/* A4 is loaded by the round before for this one, and before the first round perhaps
 * from another field. */
static void put_loaded_before(loop_maker *l)
{
  assembler *a = l->a;
  uint32_t base = PICK(l, A4, A5);
  asm_word(a, asm_r(0x20004033, base, T0, A4)); /* sh2add */
  if (pick(l, 2))
    asm_store(a, ASM_SW, pick_value(l), base, 4 * (int32_t)pick(l, 8));
  else
    asm_load(a, ASM_LW, pick_value(l), base, 4 * (int32_t)pick(l, 8));
}

static void put_field_loop(loop_maker *l)
{
  assembler *a = l->a;
  bool loads_bound = pick(l, 2), loads_before = pick(l, 2);
  int32_t field = (int32_t)(4 * pick(l, 4));
  asm_li(a, T0, 0);
  asm_li(a, T1, 1 + pick(l, 24));
  asm_li(a, S0, pick_word(l));
  asm_li(a, FIELDS, pick_word(l));
  asm_li(a, A6, RIG_DATA + 4 * pick(l, BOUNDS));
  if (loads_before) asm_load(a, ASM_LW, A4, FIELDS, pick(l, 4) ? field : field + 4);
  uint32_t again = asm_here(a);
  if (loads_before) put_loaded_before(l);
  for (uint32_t n = 1 + pick(l, 3); n > 0; n--) put_field_op(l);
  if (pick(l, 2)) asm_addi(a, S0, S0, 4);
  if (loads_before) asm_load(a, ASM_LW, A4, FIELDS, field);
  if (loads_bound) {
    asm_load(a, ASM_LW, T1, A6, 0);
    if (pick(l, 2)) asm_word(a, asm_i(0x5013, T1, T1, 1)); /* srli */
  }
  asm_addi(a, T0, T0, 1);
  asm_branch(a, 0x6063, T0, T1, again); /* bltu */
}

static void compare_field_loops(uint64_t seed)
{
  rig r = rig_create(1, 0);
  loop_maker l = {.random = seed * 77777, .a = &r.code[0]};
  assembler *a = l.a;
  rig_start_worker(a);
  for (uint32_t v = A0; v <= A3; v++) asm_li(a, v, pick_word(&l));
  for (int i = 0; i < 8; i++) put_field_loop(&l);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  for (uint32_t i = 0; i < FIELD_BYTES / 4 + 64; i++) {
    uint32_t word = i < BOUNDS ? pick(&l, 40) : pick_word(&l);
    memcpy(bytes + (RIG_DATA - RIG_BASE) + 4 * i, &word, sizeof word);
  }
  compare_engines(&r.target, &image, NULL, 100000, "fields", seed);
  free(bytes);
  rig_free(&r);
}

Test(translate_loops, what_a_loop_loads_in_each_round_changes_when_it_stores_there)
{
  seed_range seeds = test_seeds(1, 40);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) compare_field_loops(seed);
}

/* Searches: counted loops that a loaded value may end in any round, early, late or never. What they
 * wrote before the end, and the time of the last round, are compared. In some, a round that ends
 * cannot be repeated. */

enum { SEARCHED = 300, SEARCHED_WORDS = 200 /* words, below SEARCHED */ };

/* An operation in a round that may be repeated, because it only changes integers. */
static void put_search_op(loop_maker *l)
{
  assembler *a = l->a;
  uint32_t v = PICK(l, A1, A2);
  switch (pick(l, 6)) {
  case 0:
    asm_addi(a, v, v, (int32_t)pick(l, 9));
    return;
  case 1:
    asm_add(a, v, v, T0);
    return;
  case 4:                                     /* takes more than one slot */
    asm_word(a, asm_r(0x02005033, v, v, T0)); /* divu */
    return;
  case 2: /* the value from the round before */
    asm_add(a, v, A3, A1);
    return;
  case 3:
    asm_load(a, ASM_LW, v, S0, 4 * (int32_t)pick(l, 4));
    return;
  default:
    asm_addi(a, S0, S0, PICK(l, 0, 4));
  }
}

static void put_search_effect(loop_maker *l)
{
  assembler *a = l->a;
  switch (pick(l, 4)) {
  case 0: /* perhaps into the searched words */
    asm_load(a, ASM_LW, A2, S1, 0);
    asm_addi(a, A2, A2, 1);
    asm_store(a, ASM_SW, A2, S1, 0);
    return;
  case 1:
    asm_load(a, ASM_FLW, 1, S0, 0);
    asm_word(a, asm_r(0x00007053, 2, 2, 1)); /* fadd.s */
    return;
  case 2: /* counts in the random state */
    asm_csrr(a, A2, CSR_RANDOM);
    asm_addi(a, A2, A2, 1);
    asm_csrrw(a, ZERO, A2, CSR_RANDOM);
    return;
  default: { /* sometimes not */
    size_t hole = asm_hole(a);
    asm_addi(a, A2, A2, 3);
    asm_patch_branch(a, hole, ASM_BLT, A3, A1);
  }
  }
}

static void put_search(loop_maker *l)
{
  enum { MAX_EXITS_HERE = 2 };
  assembler *a = l->a;
  bool down = pick(l, 2);
  size_t exits[MAX_EXITS_HERE];
  uint32_t rounds = 1 + pick(l, 100), num_exits = 1 + pick(l, MAX_EXITS_HERE);
  asm_li(a, T0, down ? rounds : 0);
  asm_li(a, T1, down ? 0 : rounds);
  asm_li(a, S0, pick(l, 8) ? RIG_DATA + 256 + 4 * pick(l, 8) : RIG_STACKS - 4 * pick(l, 64));
  asm_li(a, S1, RIG_DATA + 256 + 4 * pick(l, SEARCHED_WORDS));
  asm_li(a, A0, pick(l, 4) ? pick(l, SEARCHED) : SEARCHED + 1);
  uint32_t again = asm_here(a);
  for (uint32_t i = 0; i < num_exits; i++) {
    for (uint32_t n = pick(l, 3); n > 0; n--) put_search_op(l);
    if (pick(l, 3) == 0) put_search_effect(l);
    asm_load(a, ASM_LW, A3, S0, 0);
    exits[i] = asm_hole(a);
  }
  for (uint32_t n = pick(l, 3); n > 0; n--)
    if (pick(l, 2))
      put_search_effect(l);
    else
      put_search_op(l);
  asm_addi(a, S0, S0, 4);
  asm_addi(a, T0, T0, down ? -1 : 1);
  asm_branch(a, ASM_BNE, T0, T1, again);
  for (uint32_t i = 0; i < num_exits; i++)
    if (pick(l, 3))
      asm_patch_branch(a, exits[i], ASM_BEQ, A3, A0);
    else /* seldom */
      asm_patch_branch(a, exits[i], ASM_BLT, A3, A7);
}

static void compare_searches(uint64_t seed)
{
  rig r = rig_create(1, 0);
  loop_maker l = {.random = seed * 77777, .a = &r.code[0]};
  assembler *a = l.a;
  rig_start_worker(a);
  asm_li(a, A7, 3);
  for (int i = 0; i < 6; i++) put_search(&l);
  asm_li(a, T2, RIG_DATA);
  for (uint32_t x = S0; x <= A7; x++) asm_store(a, ASM_SW, x, T2, (int32_t)(4 * x));
  asm_store(a, ASM_FSW, 2, T2, 0);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  for (uint32_t i = 0; i < (RIG_STACKS - RIG_DATA) / 4; i++) {
    uint32_t word = pick(&l, SEARCHED);
    memcpy(bytes + (RIG_DATA - RIG_BASE) + 4 * i, &word, sizeof word);
  }
  uint64_t limit = pick(&l, 4) ? 100000 : 1000 + pick(&l, 10000);
  compare_engines(&r.target, &image, NULL, limit, "searches", seed);
  free(bytes);
  rig_free(&r);
}

Test(translate_loops, what_ends_a_search_in_any_round_leaves_what_it_would_have_left)
{
  seed_range seeds = test_seeds(1, 60);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) compare_searches(seed);
}

/* Worker 0: a counted loop, preceded by more slots than the rest of its function takes. */
static void put_limited_worker(assembler *a)
{
  enum { SLOTS_BEFORE = 40, ROUNDS = 5000, MORE = 3 };
  asm_li(a, T2, MORE);
  asm_li(a, A4, RIG_DATA);
  uint32_t outer = asm_here(a);
  asm_nops(a, SLOTS_BEFORE);
  asm_li(a, T0, ROUNDS);
  uint32_t inner = asm_here(a);
  asm_load(a, ASM_LW, A0, A4, 4);
  asm_add(a, A0, A0, T0);
  asm_store(a, ASM_SW, A0, A4, 4);
  asm_addi(a, T0, T0, -1);
  asm_branch(a, ASM_BNE, T0, ZERO, inner);
  asm_addi(a, T2, T2, -1);
  asm_branch(a, ASM_BNE, T2, ZERO, outer);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

/* The limit is before the loop, in its first rounds, or at its end. */
Test(translate_loops, a_cycle_limit_stops_in_front_of_a_counted_loop_and_in_it)
{
  enum { SLOT_CYCLES = 6, START = 7 * SLOT_CYCLES, ONE_LOOP = 5 * 5000, NEAR = 160 };
  rig r = rig_create(1, 0);
  assembler *a = &r.code[0];
  rig_start_worker(a);
  put_limited_worker(a);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  for (uint64_t slots = 0; slots < NEAR; slots++) {
    uint64_t first = START + slots * SLOT_CYCLES, second = first + ONE_LOOP * SLOT_CYCLES;
    compare_engines(&r.target, &image, NULL, first, "limit in slot", slots);
    compare_engines(&r.target, &image, NULL, second, "limit one loop later, in slot", slots);
  }
  free(bytes);
  rig_free(&r);
}

/* Words that are addresses: the loads from these addresses are not hoisted out of the counted
 * loop. */
static void put_loop_by_addresses(assembler *a, uint32_t words, uint32_t rounds)
{
  const uint32_t fadd_s = 0x7053;
  asm_li(a, S0, words);
  asm_li(a, T0, 0);
  asm_li(a, T1, rounds);
  uint32_t again = asm_here(a);
  asm_load(a, ASM_LW, A0, S0, 0);
  asm_load(a, ASM_FLW, 1, A0, 0);
  asm_word(a, asm_r(fadd_s, 2, 2, 1));
  asm_store(a, ASM_FSW, 2, S0, 256);
  asm_addi(a, S0, S0, 4);
  asm_addi(a, T0, T0, 1);
  asm_branch(a, 0x6063, T0, T1, again); /* bltu */
}

/* One of the addresses is invalid. Only the two loops access memory. */
Test(translate_loops, a_fault_in_a_later_round_has_its_own_cycle)
{
  enum { ROUNDS = 9 };
  for (uint32_t bad = 0; bad <= 2 * ROUNDS; bad++) {
    rig r = rig_create(1, 0);
    assembler *a = &r.code[0];
    rig_start_worker(a);
    for (uint32_t loop = 0; loop < 2; loop++)
      put_loop_by_addresses(a, RIG_DATA + 4 * ROUNDS * loop, ROUNDS);
    asm_tile(a, TILE_EXIT, 0, 0, 0);
    uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
    pop_image image = rig_image(&r, 0, bytes);
    for (uint32_t i = 0; i < 2 * ROUNDS; i++) {
      uint32_t address = i == bad ? RIG_HOLE : RIG_DATA + 4 * i;
      memcpy(bytes + (RIG_DATA - RIG_BASE) + 4 * i, &address, sizeof address);
    }
    compare_engines(&r.target, &image, NULL, 100000, "a fault in round", bad);
    free(bytes);
    rig_free(&r);
  }
}
