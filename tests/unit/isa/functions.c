/* runtime/isa: functions of singles and halves (function_values.h) against the host's in extended
 * precision, over all exponents and signs. All halves are tried. */
#include <criterion/criterion.h>

#include <float.h>
#include <isa/float.h>
#include <isa/functions.h>
#include <math.h>

static long double sigmoid(long double x)
{
  return 1 / (1 + expl(-x));
}

static long double one_over_root(long double x)
{
  return 1 / sqrtl(x);
}

typedef struct function {
  const char *name;
  isa_op op, of_halves;
  long double (*exact)(long double);
  double error; /* units in the last place; the largest over all numbers, rounded up */
} function;

static const function functions[] = {
    {"f32exp", OP_F32EXP, OP_F16V4EXP, expl, 0.8},
    {"f32exp2", OP_F32EXP2, OP_F16V4EXP2, exp2l, 0.8},
    {"f32ln", OP_F32LN, OP_F16V4LN, logl, 0.8},
    {"f32log2", OP_F32LOG2, OP_F16V4LOG2, log2l, 1.0},
    {"f32tanh", OP_F32TANH, OP_F16V4TANH, tanhl, 2.5},
    {"f32sigm", OP_F32SIGM, OP_F16V4SIGM, sigmoid, 2.5},
    {"f32oorx", OP_F32OORX, ISA_NUM_OPS, one_over_root, 1.5},
};
enum { NUM_FUNCTIONS = sizeof functions / sizeof *functions };

/* The error of `got` in units in the last place of the wanted value; infinity if only one of them
 * is a NaN. */
static double error_of(double got, long double wanted, int digits, int least, int most)
{
  if (isnan(wanted) || isnan(got)) return isnan(wanted) && isnan(got) ? 0 : INFINITY;
  long double end = ldexpl(1, most), step = ldexpl(1, most - digits);
  if (isinf(got) || isinf(wanted)) { /* infinity counts as the number after the largest one */
    if (isinf(got)) got = (double)copysignl(end, got);
    if (isinf(wanted) || fabsl(wanted) > end) wanted = copysignl(end, wanted);
    return (double)(fabsl(got - wanted) / step);
  }
  int exponent;
  frexpl(wanted, &exponent);
  int last = exponent - digits < least ? least : exponent - digits;
  return (double)(fabsl(got - wanted) / ldexpl(1, last));
}

/* e^-x in the logistic function may overflow. Then the result is 0 instead of a subnormal
 * number. */
static bool is_small_logistic(const function *f, uint32_t result, long double wanted)
{
  return f->op == OP_F32SIGM && result == 0 && wanted < (long double)FLT_MIN;
}

static double error_of_single(const function *f, uint32_t bits, uint32_t *result)
{
  *result = function_single(f->op, bits);
  long double wanted = f->exact((long double)single_from_bits(bits));
  if (is_small_logistic(f, *result, wanted)) return 0;
  return error_of((double)single_from_bits(*result), wanted, FLT_MANT_DIG, -149, FLT_MAX_EXP);
}

Test(functions, singles_of_all_sizes)
{
  enum { STEP = 4093 };
  for (unsigned i = 0; i < NUM_FUNCTIONS; i++) {
    const function *f = &functions[i];
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STEP) {
      uint32_t result;
      double error = error_of_single(f, (uint32_t)bits, &result);
      cr_assert(error <= f->error, "%s of %a is %a", f->name, single_from_bits((uint32_t)bits),
                single_from_bits(result));
    }
  }
}

Test(functions, halves)
{
  for (unsigned i = 0; i < NUM_FUNCTIONS; i++) {
    const function *f = &functions[i];
    for (uint32_t half = 0; half <= 0xffff && f->of_halves != ISA_NUM_OPS; half++) {
      uint32_t flags = 0, word = function_word(f->of_halves, half << 16 | half, &flags);
      cr_assert_eq(word >> 16, word & 0xffff, "%s of halves %x: %x", f->name, half, word);
      double error =
          error_of(half_to_single(word & 0xffff), f->exact(half_to_single(half)), 11, -24, 16);
      cr_assert(error <= 0.501, "%s of half %x: %x", f->name, half, word & 0xffff);
      cr_assert((word & 0x7fff) <= 0x7c00 || (word & 0xffff) == 0x7e00, "%s of half %x: NaN %x",
                f->name, half, word);
    }
  }
}

Test(functions, special_singles)
{
  static const struct {
    isa_op op;
    uint32_t x, result, flags;
  } cases[] = {{OP_F32EXP, 0, 0x3f800000, 0},
               {OP_F32EXP, 0x7f800000, 0x7f800000, 0},
               {OP_F32EXP, 0xff800000, 0, 0},
               {OP_F32EXP, 0x42b20000, 0x7f800000, FLAG_OVERFLOW | FLAG_INEXACT},
               {OP_F32EXP, 0x7f812345, 0x7fc00000, FLAG_INVALID},
               {OP_F32EXP2, 0x43000000, 0x7f800000, FLAG_OVERFLOW | FLAG_INEXACT},
               {OP_F32EXP2, 0xc3150000, 0x00000001, 0}, /* 2^-149 */
               {OP_F32LN, 0, 0xff800000, FLAG_DIVIDE},
               {OP_F32LN, 0x80000000, 0xff800000, FLAG_DIVIDE},
               {OP_F32LN, 0x3f800000, 0, 0},
               {OP_F32LN, 0xbf800000, 0x7fc00000, FLAG_INVALID},
               {OP_F32LN, 0xff800000, 0x7fc00000, FLAG_INVALID},
               {OP_F32LN, 0x7f800000, 0x7f800000, 0},
               {OP_F32LOG2, 0x00000001, 0xc3150000, 0},
               {OP_F32LOG2, 0xffc12345, 0x7fc00000, 0},
               {OP_F32TANH, 0x80000000, 0x80000000, 0},
               {OP_F32TANH, 0xff800000, 0xbf800000, 0},
               {OP_F32SIGM, 0xff800000, 0, 0},
               {OP_F32SIGM, 0, 0x3f000000, 0},
               {OP_F32OORX, 0x80000000, 0xff800000, FLAG_DIVIDE},
               {OP_F32OORX, 0xbf800000, 0x7fc00000, FLAG_INVALID},
               {OP_F32OORX, 0x7f800000, 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint32_t result = function_single(cases[i].op, cases[i].x);
    cr_expect_eq(result, cases[i].result, "case %zu: %08x", i, result);
    uint32_t flags = function_flags(cases[i].x, result);
    cr_expect_eq(flags, cases[i].flags, "case %zu: flags %x", i, flags);
  }
}

/* The functions of codelets on the host, with its fused multiply-add or the C library's: the CPU
 * device has the same results as tiles. */
Test(functions, codelets_on_the_host_get_the_same)
{
  static const struct {
    float (*function)(float);
    isa_op op;
  } cases[] = {{function_expf, OP_F32EXP},
               {function_exp2f, OP_F32EXP2},
               {function_logf, OP_F32LN},
               {function_log2f, OP_F32LOG2},
               {function_tanhf, OP_F32TANH}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 999983) {
      float got = cases[i].function(single_from_bits((uint32_t)bits));
      uint32_t result = single_to_bits(got), wanted = function_single(cases[i].op, (uint32_t)bits);
      cr_assert(result == wanted || (single_is_nan(result) && single_is_nan(wanted)));
    }
}
