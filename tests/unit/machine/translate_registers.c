/* The translator against the interpreter: tile registers in vector registers of the host, while
 * accesses take the slow path.
 *
 * LLVM keeps 4 or 8 tile registers with the same operations in one vector register. Legal accesses
 * outside of the windows that native code knows call a helper in between. The helper must keep
 * whole registers if its calling convention says so, including the lanes above the first four. */
#include <criterion/criterion.h>

#include "support/compare_engines.h"
#include "support/random.h"
#include "support/seeds.h"

typedef struct maker {
  uint64_t random;
  assembler *a;
} maker;

static uint32_t pick(maker *k, uint32_t below)
{
  return random_below(&k->random, below);
}

/* Integer registers a0-a7 and s2-s9, and floating-point registers f0-f15, in groups of 4, 8 or
 * 16. */
enum { FIRST_X = A0, FIRST_F = 0, MAX_LANES = 16, S10 = 26, S11 = 27, T3 = 28 };
enum {
  XOR = 0x4033,
  SUB = 0x40000033,
  MUL = 0x02000033,
  SLL = 0x1033,
  SRLI = 0x5013,
  XORI = 0x4013
};
enum { FADD_S = 0x00007053, FMUL_S = 0x10007053, FMIN_S = 0x28000053, FMADD_S = 0x7043 };

/* The same operation on each register of the group. The other operand is s11 or f16. */
static void put_integer_lanes(maker *k, uint32_t lanes)
{
  static const uint32_t plain[] = {0x33, XOR, SUB, MUL, SLL};
  uint32_t choice = pick(k, 7), shift = 1 + pick(k, 31), mask = pick(k, 2048);
  for (uint32_t i = 0; i < lanes; i++) {
    uint32_t r = FIRST_X + i;
    if (choice == 5)
      asm_word(k->a, asm_i(SRLI, r, r, (int32_t)shift));
    else if (choice == 6)
      asm_word(k->a, asm_i(XORI, r, r, (int32_t)mask));
    else
      asm_word(k->a, asm_r(plain[choice], r, r, S11));
  }
}

static void put_float_lanes(maker *k, uint32_t lanes)
{
  static const uint32_t plain[] = {FADD_S, FMUL_S, FMIN_S};
  uint32_t choice = pick(k, 4);
  for (uint32_t r = FIRST_F; r < FIRST_F + lanes; r++)
    asm_word(k->a,
             choice == 3 ? asm_r(FMADD_S, r, r, 16) | 17u << 27 : asm_r(plain[choice], r, r, 16));
}

/* t0 counts. t1 is the address, in one readable region or in the other. */
static void put_round(maker *k, uint32_t lanes, bool floats)
{
  assembler *a = k->a;
  for (uint32_t n = 1 + pick(k, 3); n > 0; n--) {
    (floats ? put_float_lanes : put_integer_lanes)(k, lanes);
    asm_load(a, ASM_LW, T2, T1, 4 * (int32_t)pick(k, 4));
    asm_word(a, asm_r(XOR, T3, T3, T2));
    if (pick(k, 4) == 0) asm_store(a, ASM_SW, T3, S1, 0);
  }
  asm_word(a, asm_r(XOR, T1, T1, S10));
}

static void put_worker(maker *k)
{
  assembler *a = k->a;
  static const uint32_t sizes[] = {4, 8, 8, 8, 16};
  uint32_t lanes = sizes[pick(k, 5)];
  bool floats = pick(k, 3) == 0;
  asm_li(a, S0, RIG_DATA);
  asm_li(a, S1, RIG_BEHIND);
  asm_li(a, T1, RIG_CONST + 4 * pick(k, 16));
  asm_li(a, S10, (RIG_CONST ^ RIG_DATA) * (pick(k, 4) != 0));
  asm_li(a, S11, pick(k, UINT32_MAX));
  asm_li(a, T0, 20 + pick(k, 200));
  for (uint32_t i = 0; i < lanes; i++) {
    asm_load(a, ASM_LW, FIRST_X + i, S0, 4 * (int32_t)i);
    asm_load(a, ASM_FLW, FIRST_F + i, S0, 4 * (int32_t)i);
  }
  asm_load(a, ASM_FLW, 16, S0, 256);
  asm_load(a, ASM_FLW, 17, S0, 260);
  uint32_t again = asm_here(a);
  put_round(k, lanes, floats);
  asm_addi(a, T0, T0, -1);
  asm_branch(a, ASM_BNE, T0, ZERO, again);
  for (uint32_t i = 0; i < lanes; i++) {
    asm_store(a, ASM_SW, FIRST_X + i, S0, 4 * (int32_t)i);
    asm_store(a, ASM_FSW, FIRST_F + i, S0, 128 + 4 * (int32_t)i);
  }
  asm_store(a, ASM_SW, T3, S0, 264);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

/* The floats in memory are near 1, so that arithmetic does not soon end in NaN. */
static void fill(maker *k, uint8_t *bytes)
{
  for (uint32_t at = RIG_CONST - RIG_BASE; at < RIG_END - RIG_BASE; at += 4) {
    float value = 0.5f + (float)pick(k, 1000) / 1000.f;
    memcpy(bytes + at, &value, sizeof value);
  }
}

static void compare_registers(uint64_t seed)
{
  rig r = rig_create(1, 0);
  maker k = {.random = seed * 99991, .a = &r.code[0]};
  rig_start_worker(k.a);
  put_worker(&k);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  fill(&k, bytes);
  compare_engines(&r.target, &image, NULL, 1000000, "registers", seed);
  free(bytes);
  rig_free(&r);
}

static void compare_many(void)
{
  seed_range seeds = test_seeds(1, 40);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) compare_registers(seed);
}

static void compare_without(const char *extension)
{
  setenv("POPULUS_TRANSLATOR_WITHOUT", extension, 1);
  compare_many();
}

Test(translate_registers, what_lives_in_vector_registers_survives_slow_accesses)
{
  compare_many();
}

Test(translate_registers, also_where_there_is_no_avx512)
{
  compare_without("avx512");
}

Test(translate_registers, also_with_the_least_effort)
{
  setenv("POPULUS_TRANSLATOR_EFFORT", "least", 1);
  compare_many();
}

Test(translate_registers, also_where_there_is_no_avx2)
{
  compare_without("avx2");
}
