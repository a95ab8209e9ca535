/* The translator against the interpreter: 64-bit arithmetic in pairs of registers, in the sequences
 * that compilers write. In some programs an instruction sometimes has a wrong register, so that the
 * sequence is no 64-bit operation. */
#include <criterion/criterion.h>

#include "support/compare_engines.h"
#include "support/random.h"
#include "support/seeds.h"

enum { S2 = 18, S3, S4, S5, S6, T3 = 28, T4, T5, T6 };
enum { ADD = 0x33, SUB = 0x40000033, SLTU = 0x3033, XOR = 0x4033, OR = 0x6033, AND = 0x7033 };
enum {
  SLLI = 0x1013,
  SRLI = 0x5013,
  SRAI = 0x40005013,
  SLTIU = 0x3013,
  XORI = 0x4013,
  ANDI = 0x7013
};
enum { MUL = 0x02000033, MULH = 0x02001033, MULHSU = 0x02002033, MULHU = 0x02003033 };
enum { DATA_WORDS = 128, ROUNDS = 100 /* the word that says how many */ };

typedef struct maker {
  uint64_t random;
  assembler *a;
  bool exact; /* all registers are the right ones */
  bool odd;   /* the data are odd numbers, so that products depend on all factors */
} maker;

static uint32_t pick(maker *m, uint32_t below)
{
  return random_below(&m->random, below);
}

/* A register of an instruction. In some programs it is sometimes a wrong one. */
static uint32_t reg(maker *m, uint32_t r)
{
  static const uint8_t all[] = {A0, A1, A2, A3, A4, A5, A6, A7, T3, T4, T5, T6, ZERO};
  return m->exact || pick(m, 60) ? r : all[pick(m, sizeof all)];
}

static void put(maker *m, uint32_t match, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
  asm_word(m->a, asm_r(match, rd, reg(m, rs1), reg(m, rs2)));
}

static void put_imm(maker *m, uint32_t match, uint32_t rd, uint32_t rs1, int32_t imm)
{
  asm_word(m->a, asm_i(match, rd, reg(m, rs1), imm));
}

/* The low register of a pair. The next register is the high one. */
static uint32_t pair(maker *m)
{
  return A0 + 2 * pick(m, 4);
}

static void move(maker *m, uint32_t to)
{
  asm_addi(m->a, to, T3, 0);
  asm_addi(m->a, to + 1, T4, 0);
}

static void put_sum(maker *m, uint32_t to, uint32_t x, uint32_t y)
{
  uint32_t order = pick(m, 4);
  put(m, ADD, T3, x, y);
  put(m, SLTU, T5, T3, pick(m, 2) ? x : y);
  if (order == 0) {
    put(m, ADD, T4, x + 1, T5);
    put(m, ADD, T4, T4, y + 1);
  } else if (order == 1) { /* a word is added */
    put(m, ADD, T4, T5, y + 1);
  } else {
    put(m, ADD, T4, x + 1, y + 1);
    put(m, ADD, T4, order == 2 ? T4 : T5, order == 2 ? T5 : T4);
  }
  move(m, to);
}

static void put_difference(maker *m, uint32_t to, uint32_t x, uint32_t y)
{
  uint32_t order = pick(m, 4);
  put(m, SLTU, T5, x, y);
  put(m, SUB, T3, x, y);
  if (order == 0) {
    put(m, ADD, T4, y + 1, T5);
    put(m, SUB, T4, x + 1, T4);
  } else {
    put(m, SUB, T4, x + 1, order == 1 ? y + 1 : T5);
    if (order < 3) put(m, SUB, T4, T4, order == 1 ? T5 : y + 1);
  }
  move(m, to);
}

/* x + C, or x - C with borrow. */
static void put_constant(maker *m, uint32_t to, uint32_t x)
{
  static const int32_t values[] = {1, -1, 5, 2047, -2048, 0};
  int32_t value = values[pick(m, 6)];
  put_imm(m, 0x13, T3, x, value);
  switch (pick(m, 4)) {
  case 0:
    put(m, SLTU, T5, T3, x);
    if (pick(m, 2)) put_imm(m, 0x13, T5, T5, -1);
    put(m, ADD, T4, x + 1, T5);
    break;
  case 1: /* x + 1 */
    put_imm(m, SLTIU, T5, T3, 1);
    put(m, ADD, T4, x + 1, T5);
    break;
  case 2: /* x - 1 */
    put_imm(m, SLTIU, T5, x, pick(m, 3) ? -value : 1);
    put(m, SUB, T4, x + 1, T5);
    if (pick(m, 2)) put_imm(m, 0x13, T4, T4, -7);
    break;
  default: /* x - 1 */
    put(m, SLTU, T5, ZERO, x);
    put(m, ADD, T4, x + 1, T5);
    if (pick(m, 2)) put_imm(m, 0x13, T4, T4, -1);
  }
  move(m, to);
}

static void put_product(maker *m, uint32_t to, uint32_t x, uint32_t y)
{
  static const uint32_t high[] = {MULHU, MULHU, MULHU, MULH, MULHSU};
  put(m, high[pick(m, 5)], T4, x, y);
  for (unsigned i = 0; i < 2; i++) {
    if (pick(m, 4) == 0) continue;
    put(m, MUL, T5, i ? x : x + 1, i ? y + 1 : y);
    put(m, pick(m, 8) ? ADD : SUB, T4, pick(m, 2) ? T4 : T5, pick(m, 2) ? T5 : T4);
  }
  put(m, MUL, T3, x, y);
  move(m, to);
}

/* to + x * y + z, with carries added at once. */
static void put_products(maker *m, uint32_t to, uint32_t x, uint32_t y)
{
  uint32_t z = pair(m);
  put(m, MUL, S2, x, y);
  put(m, pick(m, 2) ? MULHU : MULH, S3, x, y);
  put(m, ADD, S4, S2, to);
  put(m, SLTU, S5, S4, pick(m, 2) ? S2 : to);
  put(m, ADD, T3, S4, z);
  put(m, SLTU, T5, T3, pick(m, 2) ? S4 : z);
  put(m, ADD, T4, S5, z + 1);
  put(m, ADD, T6, S3, to + 1);
  put(m, ADD, T4, T6, T4);
  put(m, ADD, T4, T4, T5);
  move(m, to);
}

/* x * C by shifts and sums, for the kinds of factors that put_multiple knows. */
static void put_small_multiple(maker *m, uint32_t rd, uint32_t x, uint32_t kind)
{
  if (kind == 2) {
    put_imm(m, SLLI, rd, x, 3);
    put(m, SUB, rd, rd, x);
  } else {
    static const uint32_t sums[] = {0x20002033, 0x20004033, 0, 0x20006033, 0x20002033};
    put(m, sums[kind], rd, x, x);
    if (kind == 4) put_imm(m, SLLI, rd, rd, 1);
  }
}

/* to + x * C. Shifts and sums make the low word of the product. The upper word of x may be
 * included. */
static void put_multiple(maker *m, uint32_t to, uint32_t x)
{
  static const uint8_t factors[] = {3, 5, 7, 9, 6, 2};
  uint32_t kind = pick(m, 5);
  asm_li(m->a, T6, pick(m, 3) ? factors[kind] : factors[5 - kind]); /* also 7 or 9 for one kind */
  put(m, MULHU, S2, x, T6);
  put_small_multiple(m, S3, x, kind);
  if (pick(m, 2)) {
    put_small_multiple(m, S4, x + 1, pick(m, 4) ? kind : pick(m, 5));
    put(m, pick(m, 8) ? ADD : SUB, S2, S2, S4);
  }
  put(m, ADD, T3, S3, to);
  put(m, SLTU, T5, T3, pick(m, 2) ? S3 : to);
  put(m, ADD, T4, S2, to + 1);
  put(m, ADD, T4, T4, T5);
  move(m, to);
}

static void put_bitwise(maker *m, uint32_t to, uint32_t x, uint32_t y)
{
  static const uint32_t with[] = {XOR, OR, AND};
  uint32_t match = with[pick(m, 3)];
  bool constant = pick(m, 3) == 0;
  if (constant && pick(m, 2))
    put_imm(m, match - 0x20, T3, x, (int32_t)pick(m, 4096) - 2048);
  else
    put(m, match, T3, x, y);
  if (constant && pick(m, 2))
    asm_addi(m->a, T4, x + 1, 0);
  else
    put(m, match, T4, pick(m, 2) ? x + 1 : y + 1, pick(m, 8) ? y + 1 : x + 1);
  move(m, to);
}

/* Combines to, x, y and perhaps parts of both words of one of them. The halves are combined in
 * different orders. */
static void put_chain(maker *m, uint32_t to, uint32_t x, uint32_t y)
{
  static const uint32_t with[] = {XOR, XOR, OR, AND};
  uint32_t match = with[pick(m, 4)], order = pick(m, 3);
  if (pick(m, 2)) { /* y << 16 */
    put_imm(m, SLLI, S2, y, 16);
    put_imm(m, SLLI, S3, y + 1, 16);
    put_imm(m, SRLI, T5, y, 16);
    put(m, OR, S3, S3, T5);
    y = S2;
  }
  put(m, match, T3, to, x);
  put(m, match, T3, T3, y);
  if (order == 0) {
    put(m, match, T4, x + 1, y + 1);
    put(m, match, T4, to + 1, T4);
  } else {
    put(m, match, T4, to + 1, order == 1 ? y + 1 : x + 1);
    put(m, pick(m, 8) ? match : XOR, T4, T4, order == 1 ? x + 1 : y + 1);
  }
  move(m, to);
}

static void put_shift(maker *m, uint32_t to, uint32_t x)
{
  int32_t k = 1 + (int32_t)pick(m, 31), other = pick(m, 12) ? 32 - k : (int32_t)pick(m, 32);
  uint32_t kind = pick(m, 4), both = pick(m, 2) ? OR : ADD;
  put_imm(m, SLLI, T3, kind == 1 ? x + 1 : x, k);
  put_imm(m, SRLI, T5, kind == 1 ? x : x + 1, other);
  put_imm(m, SLLI, T4, x + 1, k);
  put_imm(m, SRLI, T6, x, other);
  if (kind == 0) { /* left */
    put(m, both, T4, T4, T6);
  } else if (kind == 1) { /* right */
    put(m, both, T3, T3, T5);
    put_imm(m, pick(m, 2) ? SRLI : SRAI, T4, x + 1, other);
  } else { /* rotated, perhaps with the halves exchanged */
    put(m, both, T3, T3, T5);
    put(m, both, T4, T4, T6);
    if (kind == 3) {
      asm_addi(m->a, T5, T3, 0);
      asm_addi(m->a, T3, T4, 0);
      asm_addi(m->a, T4, T5, 0);
    }
  }
  move(m, to);
}

/* to: x if x is greater than a constant or than y, else some of its bits. */
static void put_comparison(maker *m, uint32_t to, uint32_t x, uint32_t y)
{
  assembler *a = m->a;
  asm_li(a, T6, pick(m, 2) ? pick(m, 8) : 0x7ffffffe);
  if (pick(m, 2)) {
    put(m, SLTU, T5, ZERO, x + 1);
    put(m, SLTU, S2, T6, x);
    put(m, OR, T5, S2, T5);
  } else {
    put(m, XOR, T5, x, y);
    put(m, XOR, S2, x + 1, y + 1);
    put(m, OR, T5, S2, T5);
    put_imm(m, SLTIU, T5, T5, 1);
  }
  if (pick(m, 2)) {
    size_t hole = asm_hole(a);
    asm_addi(a, to, x, 0);
    asm_addi(a, to + 1, x + 1, 0);
    asm_patch_branch(a, hole, pick(m, 2) ? ASM_BEQ : ASM_BNE, T5, ZERO);
    return;
  }
  put(m, SUB, T5, ZERO, T5);
  put(m, AND, T3, T5, T6);
  asm_addi(a, T4, T5, 0);
  put(m, XOR, to, x, T3);
  put(m, XOR, to + 1, x + 1, T4);
}

/* Both halves in either order, perhaps with another access in between, or with one of them at a
 * wrong address. */
static void put_access(maker *m, uint32_t x)
{
  assembler *a = m->a;
  bool load = pick(m, 2), up = pick(m, 2);
  int32_t low = 8 * (int32_t)pick(m, 4), high = low + (pick(m, 3) ? 4 : 8);
  uint32_t kind = load ? ASM_LW : ASM_SW, other = pair(m);
  for (unsigned i = 0; i < 2; i++) {
    bool is_high = up == (i == 1);
    uint32_t r = is_high ? x + 1 : x;
    if (load)
      asm_load(a, kind, r, S0, is_high ? high : low);
    else
      asm_store(a, kind, r, S0, is_high ? high : low);
    if (i == 1 || pick(m, 3)) continue;
    if (pick(m, 2))
      asm_load(a, pick(m, 2) ? ASM_LW : ASM_LBU, other, S0, is_high ? high : low);
    else
      asm_store(a, ASM_SW, other, S0, is_high ? low : high);
  }
  if (!load && pick(m, 4) == 0) asm_store(a, ASM_SW, x, S0, high + 4);
}

/* A difference or a product with one half on one path and the other half on another: neither is
 * available where the other is. */
static void put_parted(maker *m, uint32_t to, uint32_t x, uint32_t y)
{
  bool product = pick(m, 2), swapped = pick(m, 2);
  size_t over = 0;
  for (unsigned way = 0; way < 2; way++) {
    if (way == 0) over = asm_hole(m->a);
    if ((way == 0) == swapped) {
      put(m, product ? MUL : SUB, to, x, y);
    } else if (product) {
      put(m, MULHU, T5, x, y);
      put(m, MUL, T6, x + 1, y);
      put(m, ADD, to, T5, T6);
    } else {
      if (pick(m, 2)) put_imm(m, SRAI, T6, y, 31); /* x minus a sign-extended word */
      put(m, SLTU, T5, x, y);
      put(m, SUB, T4, x + 1, pick(m, 2) ? T6 : y + 1);
      put(m, SUB, to, T4, T5);
    }
    if (way == 0) {
      size_t past = asm_hole(m->a);
      asm_patch_branch(m->a, over, pick(m, 2) ? ASM_BEQ : ASM_BNE, x + 1, ZERO);
      over = past;
    }
  }
  asm_patch_branch(m->a, over, ASM_BEQ, ZERO, ZERO);
}

/* A word, sign-extended, zero-extended, or with other upper bits. */
static void put_word(maker *m, uint32_t to, uint32_t x)
{
  uint32_t kind = pick(m, 4);
  asm_addi(m->a, to, x + 1, 0);
  if (kind == 0) asm_addi(m->a, to + 1, ZERO, 0);
  if (kind == 1) put_imm(m, SRAI, to + 1, to, pick(m, 4) ? 31 : 30);
  if (kind > 1) put_imm(m, SRAI, to, to, pick(m, 2) ? 31 : (int32_t)pick(m, 31));
  if (kind == 2) asm_addi(m->a, to + 1, to, 0);
  if (kind == 3) put_imm(m, SRAI, to + 1, x + 1, 31);
}

static void put_operation(maker *m)
{
  uint32_t to = pair(m), x = pair(m), y = pair(m);
  switch (pick(m, 13)) {
  case 0:
    put_sum(m, to, x, y);
    return;
  case 1:
    put_difference(m, to, x, y);
    return;
  case 2:
    put_constant(m, to, x);
    return;
  case 3:
    put_product(m, to, x, y);
    return;
  case 4:
    put_products(m, to, x, y);
    return;
  case 5:
    if (pick(m, 2))
      put_chain(m, to, x, y);
    else
      put_bitwise(m, to, x, y);
    return;
  case 6:
  case 7:
    put_shift(m, to, x);
    return;
  case 8:
    put_comparison(m, to, x, y);
    return;
  case 10:
    put_multiple(m, to, x);
    return;
  case 9:
    put_word(m, to, x);
    return;
  case 11:
    put_parted(m, to, x, y);
    return;
  default:
    put_access(m, x);
  }
}

static void put_worker(maker *m)
{
  assembler *a = m->a;
  m->exact = pick(m, 2);
  asm_li(a, S0, RIG_DATA); /* LLVM cannot know what is loaded */
  for (uint32_t r = A0; r <= A7; r++) asm_load(a, ASM_LW, r, S0, (int32_t)(4 * r));
  asm_li(a, T0, 0);
  asm_load(a, ASM_LW, T1, S0, 4 * ROUNDS);
  uint32_t again = asm_here(a);
  for (uint32_t n = 1 + pick(m, 8); n > 0; n--) put_operation(m);
  if (pick(m, 2)) asm_addi(a, S0, S0, 8);
  asm_addi(a, T0, T0, 1);
  asm_branch(a, ASM_BNE, T0, T1, again);
  for (uint32_t n = pick(m, 3); n > 0; n--) put_operation(m);
  asm_li(a, S0, RIG_DATA + 512);
  for (uint32_t r = A0; r <= A7; r++) asm_store(a, ASM_SW, r, S0, (int32_t)(4 * r));
  for (uint32_t r = T3; r <= T6; r++) asm_store(a, ASM_SW, r, S0, (int32_t)(4 * r));
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

/* So many products in a row, in a loop, that the search for their origins stops: x = x * y + a
 * word. One factor of the last product that is examined is then known, the other is not. */
static void put_long_chain(maker *m)
{
  assembler *a = m->a;
  m->exact = m->odd = true;
  asm_li(a, S0, RIG_DATA);
  for (uint32_t r = A0; r < A6; r++) asm_load(a, ASM_LW, r, S0, (int32_t)(4 * r));
  put(m, MULHU, T4, A2, A4); /* y is known at this point */
  put(m, MUL, T5, A3, A4);
  put(m, ADD, A3, T4, T5);
  put(m, MUL, A2, A2, A4);
  asm_li(a, T0, 3);
  uint32_t again = asm_here(a);
  for (uint32_t n = 196 + pick(m, 24); n > 0; n--) {
    put(m, MUL, T4, A0 + 1, A2);
    put(m, MUL, T5, A0, A2 + 1);
    put(m, MULHU, T6, A0, A2);
    put(m, ADD, T5, T6, T5);
    put(m, MUL, T3, A0, A2);
    put(m, ADD, A0, T3, A4);
    put(m, SLTU, T3, A0, T3);
    put(m, ADD, T5, T5, T3);
    put(m, ADD, A0 + 1, T5, T4);
  }
  asm_addi(a, T0, T0, -1);
  size_t out = asm_hole(a); /* too far for a branch */
  asm_jal(a, ZERO, again);
  asm_patch_branch(a, out, ASM_BEQ, T0, ZERO);
  for (uint32_t r = A0; r < A6; r++) asm_store(a, ASM_SW, r, S0, (int32_t)(4 * r));
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

static void compare_double_words(uint64_t seed, void (*put_code)(maker *m))
{
  rig r = rig_create(1, 0);
  maker m = {.random = seed * 77777, .a = &r.code[0]};
  rig_start_worker(m.a);
  put_code(&m);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  for (uint32_t i = 0; i < DATA_WORDS; i++) {
    static const uint32_t values[] = {0, 1, UINT32_MAX, 0x80000000, 0x7fffffff, 2};
    uint32_t word = i == ROUNDS   ? 1 + pick(&m, 12)
                    : m.odd       ? (uint32_t)random_next(&m.random) | 1
                    : pick(&m, 3) ? values[pick(&m, 6)]
                                  : (uint32_t)random_next(&m.random);
    memcpy(bytes + (RIG_DATA - RIG_BASE) + 4 * i, &word, sizeof word);
  }
  compare_engines(&r.target, &image, NULL, 100000, "double words", seed);
  free(bytes);
  rig_free(&r);
}

Test(translate_double_words, compute_what_their_halves_do)
{
  seed_range seeds = test_seeds(1, 250);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
    compare_double_words(seed, put_worker);
}

Test(translate_double_words, long_chains_of_products)
{
  for (uint64_t seed = 1; seed <= 8; seed++) compare_double_words(seed, put_long_chain);
}
