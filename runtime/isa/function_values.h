/* What the instructions f32exp, f32exp2, f32ln, f32log2, f32tanh, f32sigm and f32oorx compute of a
 * single: the definition.
 *
 * They consist of sums, products, quotients and roots of singles, each rounded to nearest even, of
 * fused multiply-adds, and of operations on bits, in this order and without a branch. IEEE 754
 * leaves no freedom in any of them. So results are the same on every host, and vectors of numbers
 * can be computed alike. The result of a NaN is a NaN; it is taken as 0 until the end.
 *
 * The largest errors, in units in the last place: tests/unit/isa/functions.c. Polynomials: minimax,
 * by Remez' exchange algorithm in 200 bits (J.-M. Muller, "Elementary Functions: Algorithms and
 * Implementation", 3rd edition, chapter 3). Reductions: Cody and Waite, "Software Manual for the
 * Elementary Functions", 1980, with fused multiply-add. libcodelet/device/lib/math_single.h
 * computes functions for which tiles have no instructions, by the same means.
 *
 * The file is written once for two users: C (functions.c), and the translator, which makes LLVM
 * instructions of it (machine/translator/lift_functions.c). Before including it, define
 *
 *   FN(name)              the name of a function here
 *   FN_TAKES, FN_GIVES    a parameter, and its argument, that all functions have in front of their
 *                         operands, with a comma; or nothing
 *   fn_float, fn_word, fn_truth    the types of singles, of words of 32 bits, and of conditions
 *
 * and these operations:
 *
 *   numbers   FN_FLOAT(constant), FN_WORD(constant), fn_float_of(word), fn_bits(float),
 *             fn_from_signed(word)
 *   floats    fn_add, fn_sub, fn_mul, fn_div, fn_fma(a, b, c) = a * b + c, fn_sqrt, fn_less
 *   words     fn_plus, fn_minus, fn_and, fn_xor, fn_shl, fn_sra, fn_below, fn_same
 *   choice    fn_pick(truth, float, float) */

#include <math.h>

/* x + this - this is x rounded to an integer. Its low bits are those of x + this. Up to 2^22. */
#define FN_ROUND_TERM FN_FLOAT(0x1.8p23f)
#define FN_LN2_HIGH 0x1.62e43p-1f
#define FN_LN2_LOW (-0x1.05c61p-29f)

static inline fn_float FN(polynomial)(FN_TAKES const float *coefficients, int degree, fn_float x)
{
  fn_float sum = FN_FLOAT(coefficients[degree]);
  for (int i = degree - 1; i >= 0; i--) sum = fn_fma(sum, x, FN_FLOAT(coefficients[i]));
  return sum;
}

#define FN_POLYNOMIAL(c, x) FN(polynomial)(FN_GIVES c, (int)(sizeof(c) / sizeof *(c)) - 1, x)

static inline fn_truth FN(is_nan)(FN_TAKES fn_float x)
{
  return fn_below(FN_WORD(0xff000000), fn_shl(fn_bits(x), 1));
}

static inline fn_float FN(number_or_zero)(FN_TAKES fn_float x)
{
  return fn_pick(FN(is_nan)(FN_GIVES x), FN_FLOAT(0), x);
}

static inline fn_float FN(number_or_nan)(FN_TAKES fn_float result, fn_float x)
{
  return fn_pick(FN(is_nan)(FN_GIVES x), FN_FLOAT(NAN), result);
}

static inline fn_float FN(at_most)(FN_TAKES fn_float x, float most)
{
  return fn_pick(fn_less(FN_FLOAT(most), x), FN_FLOAT(most), x);
}

static inline fn_float FN(at_least)(FN_TAKES fn_float x, float least)
{
  return fn_pick(fn_less(x, FN_FLOAT(least)), FN_FLOAT(least), x);
}

/* n of x + FN_ROUND_TERM */
static inline fn_word FN(integer_of)(FN_TAKES fn_float x_and_round_term)
{
  return fn_minus(fn_bits(x_and_round_term), FN_WORD(0x4b400000));
}

/* n from -126 to 127 */
static inline fn_float FN(power_of_two)(FN_TAKES fn_word n)
{
  return fn_float_of(fn_shl(fn_plus(n, FN_WORD(127)), 23));
}

/* x * 2^n, rounded once if that is not a normal number; n from -252 to 254. */
static inline fn_float FN(scale)(FN_TAKES fn_float x, fn_word n)
{
  fn_word half = fn_sra(n, 1);
  fn_float part = fn_mul(x, FN(power_of_two)(FN_GIVES half));
  return fn_mul(part, FN(power_of_two)(FN_GIVES fn_minus(n, half)));
}

/* (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2 */
static inline fn_float FN(exp_rest)(FN_TAKES fn_float r)
{
  static const float c[] = {0.5f,           0x1.555556p-3f,  0x1.55548p-5f,
                            0x1.11107ap-7f, 0x1.6d98d6p-10f, 0x1.a1bd58p-13f};
  return FN_POLYNOMIAL(c, r);
}

/* e^(r + low); adds the bits that 1 + r loses. */
static inline fn_float FN(exp_near)(FN_TAKES fn_float r, fn_float low)
{
  fn_float one = FN_FLOAT(1), sum = fn_add(one, r);
  fn_float lost = fn_add(fn_sub(r, fn_sub(sum, one)), low);
  return fn_add(sum, fn_fma(FN(exp_rest)(FN_GIVES r), fn_mul(r, r), lost));
}

/* x = n ln 2 + r + low */
static inline fn_float FN(exp)(FN_TAKES fn_float x)
{
  fn_float limited = FN(number_or_zero)(FN_GIVES x);
  limited = FN(at_most)(FN_GIVES FN(at_least)(FN_GIVES limited, -104), 89);
  fn_float sum = fn_fma(limited, FN_FLOAT(0x1.715476p+0f), FN_ROUND_TERM);
  fn_float n = fn_sub(sum, FN_ROUND_TERM), exact = fn_fma(n, FN_FLOAT(-FN_LN2_HIGH), limited);
  fn_float r = fn_fma(n, FN_FLOAT(-FN_LN2_LOW), exact);
  fn_float low = fn_fma(n, FN_FLOAT(-FN_LN2_LOW), fn_sub(exact, r));
  fn_float near = FN(exp_near)(FN_GIVES r, low);
  return FN(number_or_nan)(FN_GIVES FN(scale)(FN_GIVES near, FN(integer_of)(FN_GIVES sum)), x);
}

static inline fn_float FN(exp2)(FN_TAKES fn_float x)
{
  fn_float limited = FN(number_or_zero)(FN_GIVES x);
  limited = FN(at_most)(FN_GIVES FN(at_least)(FN_GIVES limited, -151), 128);
  fn_float sum = fn_add(limited, FN_ROUND_TERM);
  fn_float r = fn_mul(fn_sub(limited, fn_sub(sum, FN_ROUND_TERM)), FN_FLOAT(FN_LN2_HIGH));
  fn_float near = FN(exp_near)(FN_GIVES r, FN_FLOAT(0));
  return FN(number_or_nan)(FN_GIVES FN(scale)(FN_GIVES near, FN(integer_of)(FN_GIVES sum)), x);
}

/* e / (e + 2) with e = e^(2 |x|) - 1 */
static inline fn_float FN(tanh)(FN_TAKES fn_float x)
{
  fn_word sign = fn_and(fn_bits(x), FN_WORD(0x80000000));
  fn_float size = fn_float_of(fn_and(fn_bits(x), FN_WORD(0x7fffffff)));
  size = FN(at_most)(FN_GIVES FN(number_or_zero)(FN_GIVES size), 10);
  fn_float twice = fn_mul(FN_FLOAT(2), size);
  fn_float sum = fn_fma(twice, FN_FLOAT(0x1.715476p+0f), FN_ROUND_TERM);
  fn_float n = fn_sub(sum, FN_ROUND_TERM), r = fn_fma(n, FN_FLOAT(-FN_LN2_HIGH), twice);
  r = fn_fma(n, FN_FLOAT(-FN_LN2_LOW), r);
  fn_float power = FN(power_of_two)(FN_GIVES FN(integer_of)(FN_GIVES sum));
  fn_float less_one = fn_fma(FN(exp_rest)(FN_GIVES r), fn_mul(r, r), r);
  fn_float e = fn_fma(less_one, power, fn_sub(power, FN_FLOAT(1)));
  fn_float result = fn_div(e, fn_add(e, FN_FLOAT(2)));
  return FN(number_or_nan)(FN_GIVES fn_float_of(fn_xor(fn_bits(result), sign)), x);
}

/* Logarithms: x = 2^n * (1 + f), with 1 + f between the roots of 1/2 and of 2. If x is not a
 * positive number, n and f are those of another number, and the result is not used. */
static inline fn_truth FN(is_positive_denormal)(FN_TAKES fn_float x)
{
  return fn_below(fn_minus(fn_bits(x), FN_WORD(1)), FN_WORD(0x007fffff));
}

static inline fn_word FN(split)(FN_TAKES fn_float x, fn_float *n, fn_float *f)
{
  const uint32_t root = 0x3f3504f3;
  fn_truth denormal = FN(is_positive_denormal)(FN_GIVES x);
  fn_float scale = fn_pick(denormal, FN_FLOAT(0x1p23f), FN_FLOAT(1));
  fn_word bits = fn_bits(fn_mul(FN(number_or_zero)(FN_GIVES x), scale));
  fn_word offset = fn_minus(bits, FN_WORD(root));
  *n = fn_sub(fn_from_signed(fn_sra(offset, 23)), fn_pick(denormal, FN_FLOAT(23), FN_FLOAT(0)));
  offset = fn_and(offset, FN_WORD(0x7fffff));
  *f = fn_sub(fn_float_of(fn_plus(offset, FN_WORD(root))), FN_FLOAT(1));
  return bits;
}

/* ln(1 + f) = f + this + rest */
static inline fn_float FN(log_rest)(FN_TAKES fn_float f, fn_float rest)
{
  static const float c[] = {0x1.555548p-2f,  -0x1.000006p-2f, 0x1.99a4b6p-3f,
                            -0x1.555c4ep-3f, 0x1.233768p-3f,  -0x1.fc2206p-4f,
                            0x1.e6f062p-4f,  -0x1.de3c1cp-4f, 0x1.1457c4p-4f};
  fn_float square = fn_mul(f, f);
  rest = fn_fma(fn_mul(f, square), FN_POLYNOMIAL(c, f), rest);
  return fn_fma(FN_FLOAT(-0.5f), square, rest);
}

/* The logarithm of x: `result` if x is a positive number, else the special case. `bits` are those
 * that were split. */
static inline fn_float FN(or_special)(FN_TAKES fn_float x, fn_word bits, fn_float result)
{
  fn_truth infinite = fn_same(fn_bits(x), FN_WORD(0x7f800000));
  fn_truth zero = fn_same(fn_shl(fn_bits(x), 1), FN_WORD(0));
  fn_float special = fn_pick(infinite, FN_FLOAT(INFINITY), FN_FLOAT(NAN));
  special = fn_pick(zero, FN_FLOAT(-INFINITY), special);
  fn_truth normal = fn_below(fn_minus(bits, FN_WORD(0x00800000)), FN_WORD(0x7f000000));
  return FN(number_or_nan)(FN_GIVES fn_pick(normal, result, special), x);
}

static inline fn_float FN(ln)(FN_TAKES fn_float x)
{
  fn_float n, f;
  fn_word bits = FN(split)(FN_GIVES x, &n, &f);
  fn_float rest = FN(log_rest)(FN_GIVES f, fn_mul(n, FN_FLOAT(FN_LN2_LOW)));
  fn_float result = fn_fma(n, FN_FLOAT(FN_LN2_HIGH), fn_add(f, rest));
  return FN(or_special)(FN_GIVES x, bits, result);
}

static inline fn_float FN(log2)(FN_TAKES fn_float x)
{
  const float high = 0x1.715476p+0f, low = 0x1.4ae0cp-26f; /* 1 / ln 2 */
  fn_float n, f;
  fn_word bits = FN(split)(FN_GIVES x, &n, &f);
  fn_float product = fn_mul(f, FN_FLOAT(high));
  fn_float lost = fn_fma(f, FN_FLOAT(high), fn_sub(FN_FLOAT(0), product));
  fn_float rest = fn_fma(f, FN_FLOAT(low), lost);
  rest = fn_fma(FN(log_rest)(FN_GIVES f, FN_FLOAT(0)), FN_FLOAT(high), rest);
  fn_float sum = fn_add(n, product);
  rest = fn_add(fn_sub(product, fn_sub(sum, n)), rest);
  return FN(or_special)(FN_GIVES x, bits, fn_add(sum, rest));
}

/* 1 / (1 + e^-x) */
static inline fn_float FN(sigm)(FN_TAKES fn_float x)
{
  fn_float opposite = fn_float_of(fn_xor(fn_bits(x), FN_WORD(0x80000000)));
  return fn_div(FN_FLOAT(1), fn_add(FN_FLOAT(1), FN(exp)(FN_GIVES opposite)));
}

/* 1 / the root of x */
static inline fn_float FN(oorx)(FN_TAKES fn_float x)
{
  return fn_div(FN_FLOAT(1), fn_sqrt(x));
}

#undef FN_ROUND_TERM
#undef FN_LN2_HIGH
#undef FN_LN2_LOW
#undef FN_POLYNOMIAL
