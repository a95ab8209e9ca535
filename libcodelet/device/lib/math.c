/*
 * Functions of <math.h> in single precision that are linked instead of the C library's, whose logf, log2f, powf and exp2f
 * compute in double precision, which a tile has not, and whose others branch their way through many cases. Those for which
 * tiles have instructions are in functions.c. powf, which needs its logarithm to some 40 bits, can make nothing of those.
 *
 * Everything here is fused multiply-adds of floats, and hardly a branch depends on the argument: the usual way is straight
 * code, so it is short on a tile, and the translator can do several at a time. Results are the same on every host.
 * The largest errors, in units in the last place, are what tests/unit/libcodelet/device_math.c allows.
 *
 * Polynomials: minimax, by Remez' exchange algorithm in 200 bits (J.-M. Muller, "Elementary Functions: Algorithms and
 * Implementation", 3rd edition, chapter 3). Reductions: Cody and Waite, "Software Manual for the Elementary Functions",
 * 1980, with fused multiply-add; Payne and Hanek for large angles (Muller, chapter 11).
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* The file is compiled as freestanding code, so only what begins with __builtin_ becomes instructions. */

/* Not jumped to at a function's end: so the two stay two functions, of which the usual one is small enough to become part of its
 * callers when they are translated. For the compiler that makes tile code. */
#if __has_attribute(not_tail_called)
#define CALLED __attribute__((not_tail_called))
#else
#define CALLED
#endif

float _sinf(float x); /* names that the C library's own functions call */
float _cosf(float x);
float _powf(float x, float y);

static inline uint32_t bits_of(float x)
{
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float float_of(uint32_t bits)
{
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

static inline float multiply_add(float a, float b, float c)
{
  return __builtin_fmaf(a, b, c);
}

static inline float polynomial(const float *coefficients, int degree, float x)
{
  float sum = coefficients[degree];
  for (int i = degree - 1; i >= 0; i--) sum = multiply_add(sum, x, coefficients[i]);
  return sum;
}

#define POLYNOMIAL(coefficients, x)                                                                \
  polynomial(coefficients, (int)(sizeof(coefficients) / sizeof *(coefficients)) - 1, x)

/* x + this - this is x rounded to an integer, whose low bits are those of x + this. Up to 2^22. */
static const float round_term = 0x1.8p23f;

static inline int integer_of(float x_and_round_term)
{
  return (int)(bits_of(x_and_round_term) - 0x4b400000);
}

/* -126 to 127 */
static inline float power_of_two(int n)
{
  return float_of((uint32_t)(n + 127) << 23);
}

static const float ln2_high = 0x1.62e43p-1f, ln2_low = -0x1.05c61p-29f;

/* Exponential function */

/* (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2 */
static inline float exp_rest(float r)
{
  static const float c[] = {0.5f,           0x1.555556p-3f,  0x1.55548p-5f,
                            0x1.11107ap-7f, 0x1.6d98d6p-10f, 0x1.a1bd58p-13f};
  return POLYNOMIAL(c, r);
}

/* e^(r + low), with what 1 + r loses. */
static inline float exp_near(float r, float low)
{
  float sum = 1 + r;
  return sum + multiply_add(exp_rest(r), r * r, (r - (sum - 1)) + low);
}

/* x = n ln 2 + r */
static inline float reduce_exponent(float x, int *n)
{
  float sum = multiply_add(x, 0x1.715476p+0f, round_term), quotient = sum - round_term;
  *n = integer_of(sum);
  return multiply_add(quotient, -ln2_low, multiply_add(quotient, -ln2_high, x));
}

/* x * 2^n, rounded once where that is no normal number; n from -252 to 254. */
static inline float scale(float x, int n)
{
  int half = n >> 1;
  return x * power_of_two(half) * power_of_two(n - half);
}

static inline float limit(float x, float least, float most)
{
  return __builtin_fminf(__builtin_fmaxf(x, least), most);
}

/* 2^(high + low), where high is in limits and low is small. */
static inline float exp2_sum(float high, float low)
{
  static const float c[] = {0x1.62e43p-1f,  0x1.ebfbep-3f,   0x1.c6af64p-5f, /* (2^r - 1) / r */
                            0x1.3b29dep-7f, 0x1.5f0ea2p-10f, 0x1.44721ep-13f};
  float sum = high + round_term;
  float r = (high - (sum - round_term)) + low;
  return scale(multiply_add(POLYNOMIAL(c, r), r, 1), integer_of(sum));
}

/* Everything but positive normal numbers. */
static inline bool is_special(uint32_t bits)
{
  return bits - 0x00800000 >= 0x7f000000;
}

/* Powers */

/* A number as the sum of two. */
typedef struct pair {
  float high, low;
} pair;

/* Of the intervals from 0.7 to 1.4 that have the same upper bits: a number near the reciprocal of all in it, of so few bits that the product with
 * any of them minus 1 is exact; and minus its logarithm to base 2, as a sum, of which n + high is exact. */
enum { INTERVALS_START = 0x3f330000, INTERVAL_BITS = 18, NUM_INTERVALS = 32 };

static const struct {
  float reciprocal, high, low;
} intervals[NUM_INTERVALS] = {{0x1.68p+0f, -0x1.f7a8p-2f, -0x1.5a32c2p-20f},
                              {0x1.6p+0f, -0x1.d678p-2f, 0x1.60fe68p-17f},
                              {0x1.58p+0f, -0x1.b48p-2f, 0x1.408c78p-18f},
                              {0x1.5p+0f, -0x1.91b8p-2f, -0x1.d448f8p-17f},
                              {0x1.5p+0f, -0x1.91b8p-2f, -0x1.d448f8p-17f},
                              {0x1.48p+0f, -0x1.6e2p-2f, -0x1.0e6ce8p-17f},
                              {0x1.4p+0f, -0x1.49a8p-2f, 0x1.ed0cbap-20f},
                              {0x1.38p+0f, -0x1.244p-2f, -0x1.eac382p-20f},
                              {0x1.3p+0f, -0x1.fbcp-3f, -0x1.6b9026p-19f},
                              {0x1.3p+0f, -0x1.fbcp-3f, -0x1.6b9026p-19f},
                              {0x1.28p+0f, -0x1.acfp-3f, -0x1.78b6d4p-17f},
                              {0x1.2p+0f, -0x1.5cp-3f, -0x1.a39fbep-19f},
                              {0x1.2p+0f, -0x1.5cp-3f, -0x1.a39fbep-19f},
                              {0x1.18p+0f, -0x1.08cp-3f, -0x1.62336ap-17f},
                              {0x1.18p+0f, -0x1.08cp-3f, -0x1.62336ap-17f},
                              {0x1.1p+0f, -0x1.664p-4f, 0x1.20a6dep-21f},
                              {0x1.08p+0f, -0x1.6bcp-5f, 0x1.2c8a72p-17f},
                              {0x1.08p+0f, -0x1.6bcp-5f, 0x1.2c8a72p-17f},
                              {0x1p+0f, 0, 0},
                              {0x1p+0f, 0, 0},
                              {0x1.fp-1f, 0x1.774p-5f, -0x1.acd89ap-19f},
                              {0x1.ep-1f, 0x1.7d6p-4f, 0x1.25b3eep-22f},
                              {0x1.dp-1f, 0x1.22ep-3f, -0x1.48f554p-17f},
                              {0x1.cp-1f, 0x1.8a9p-3f, -0x1.9fd502p-17f},
                              {0x1.b8p-1f, 0x1.bfcp-3f, 0x1.9eap-17f},
                              {0x1.bp-1f, 0x1.f6p-3f, -0x1.3ab7cep-18f},
                              {0x1.ap-1f, 0x1.32cp-2f, -0x1.1c8f12p-22f},
                              {0x1.98p-1f, 0x1.4f7p-2f, -0x1.134c4ep-20f},
                              {0x1.9p-1f, 0x1.6cbp-2f, 0x1.ed0cbap-19f},
                              {0x1.8p-1f, 0x1.a9p-2f, -0x1.a39fbep-20f},
                              {0x1.78p-1f, 0x1.c818p-2f, 0x1.dc2d46p-18f},
                              {0x1.7p-1f, 0x1.e7ep-2f, -0x1.40358ep-19f}};

/* ln(1 + r) for |r| <= 0.024, to some 40 bits */
static inline pair log_near(float r)
{
  static const float c[] = {0x1.555554p-2f, -0x1.fffffcp-3f, 0x1.99d246p-3f,
                            -0x1.559fbcp-3f}; /* from r^3 on */
  float square = r * r, square_low = multiply_add(r, r, -square);
  float high = multiply_add(-0.5f, square, r), low = multiply_add(-0.5f, square, r - high);
  low = multiply_add(square * r, POLYNOMIAL(c, r), low);
  return (pair){high, multiply_add(-0.5f, square_low, low)};
}

/* log2 of a positive number, to some 40 bits: n + log2(1 / reciprocal) + ln(1 + r) / ln 2 */
static inline pair log2_pair(uint32_t bits)
{
  const float unit = 0x1.715476p+0f, unit_low = 0x1.4ae0cp-26f; /* 1 / ln 2 */
  uint32_t offset = bits - INTERVALS_START, i = offset >> INTERVAL_BITS & (NUM_INTERVALS - 1);
  float n = (float)((int32_t)offset >> 23), z = float_of((offset & 0x7fffff) + INTERVALS_START);
  pair near = log_near(multiply_add(z, intervals[i].reciprocal, -1));
  float product = near.high * unit, low = multiply_add(near.high, unit, -product);
  low = multiply_add(near.low, unit, multiply_add(near.high, unit_low, low));
  float before = n + intervals[i].high, sum = before + product;
  return (pair){sum, (product - (sum - before)) + (low + intervals[i].low)};
}

static inline float power(uint32_t bits, float y)
{
  pair l = log2_pair(bits);
  float product = y * l.high, lost = multiply_add(y, l.high, -product);
  float rest = multiply_add(y, l.low, lost);
  return exp2_sum(limit(product, -153, 131), limit(rest, -1, 1));
}

/* 0: y is no integer; 1: an odd one; 2: an even one. */
static int parity(float y)
{
  float size = __builtin_fabsf(y);
  if (size >= 0x1p24f) return 2;
  uint32_t n = (uint32_t)size;
  if ((float)n != size) return 0;
  return n & 1 ? 1 : 2;
}

/* Where x is not a positive normal number, or y is zero, infinite or no number. */
__attribute__((noinline)) CALLED static float special_power(float x, float y)
{
  float size = __builtin_fabsf(x);
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return x + y;
  if (__builtin_isinf(y)) return size == 1 ? 1 : (size < 1) == (y < 0) ? INFINITY : 0;
  int odd = parity(y);
  if (x == 0 || __builtin_isinf(x)) {
    float result = (x == 0) == (y < 0) ? INFINITY : 0;
    return odd == 1 ? __builtin_copysignf(result, x) : result;
  }
  if (x < 0 && !odd) return NAN;
  uint32_t bits = bits_of(size);
  if (bits < 0x00800000) bits = bits_of(size * 0x1p23f) - (23u << 23);
  float result = power(bits, y);
  return x < 0 && odd == 1 ? -result : result;
}

float powf(float x, float y)
{
  if (is_special(bits_of(x)) || is_special(bits_of(y) & 0x7fffffff)) return special_power(x, y);
  return power(bits_of(x), y);
}

/* Sine and cosine */

/* x in quarters of the circle, of pi / 2: the nearest number of them, of which the low two bits count, and what is left of x. */
typedef struct angle {
  uint32_t quarter;
  float r;
} angle;

/* x = m * 2^e; 96 bits of 2 / pi from where m * 2^e makes multiples of 4 of those in front of them. */
__attribute__((noinline)) static angle reduce_far(uint32_t bits)
{
  static const uint32_t two_over_pi[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                         0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
  uint32_t m = (bits & 0x7fffff) | 0x800000;
  int first = (int)(bits >> 23) - 127 - 23 + 30; /* bit of the table */
  const uint32_t *word = two_over_pi + first / 32;
  uint32_t w[3];
  for (int i = 0; i < 3; i++)
    w[i] = (uint32_t)(((uint64_t)word[i] << 32 | word[i + 1]) >> (32 - first % 32));
  uint64_t low = (uint64_t)m * w[2], middle = (uint64_t)m * w[1] + (low >> 32);
  uint32_t high = m * w[0] + (uint32_t)(middle >> 32);
  uint64_t turned = (uint64_t)high << 34 | (middle & UINT32_MAX) << 2 | (uint32_t)low >> 30;
  uint32_t quarter = (high >> 30) + (uint32_t)(turned >> 63); /* rounded to the nearest */
  float most = (float)(int64_t)turned, least = (float)((int64_t)turned - (int64_t)most);
  const float unit = 0x1.921fb6p+0f * 0x1p-64f, unit_low = -0x1.777a5cp-25f * 0x1p-64f;
  return (angle){quarter, multiply_add(most, unit, multiply_add(most, unit_low, least * unit))};
}

/* Of a positive number. */
__attribute__((always_inline)) static inline angle reduce_angle(float x)
{
  if (x >= 0x1p17f) {
    if (x - x != 0) return (angle){0, NAN};
    return reduce_far(bits_of(x));
  }
  float sum = multiply_add(x, 0x1.45f306p-1f, round_term), n = sum - round_term;
  float r = multiply_add(n, -0x1.921fb6p+0f, x);
  r = multiply_add(n, 0x1.777a5cp-25f, r);
  r = multiply_add(n, 0x1.ee59dap-50f, r);
  return (angle){bits_of(sum), r};
}

static inline uint32_t circle(angle a)
{
  static const float s[] = {-0x1.555544p-3f, 0x1.1106d4p-7f, -0x1.9920c2p-13f};
  static const float c[] = {0x1.55554ap-5f, -0x1.6c0bc4p-10f, 0x1.99cb82p-16f};
  float square = a.r * a.r;
  float sine = multiply_add(a.r * square, POLYNOMIAL(s, square), a.r);
  float cosine =
      multiply_add(square * square, POLYNOMIAL(c, square), multiply_add(-0.5f, square, 1));
  uint32_t turned = 0 - (a.quarter & 1);
  return ((bits_of(sine) & ~turned) | (bits_of(cosine) & turned)) ^ (a.quarter & 2) << 30;
}

float sinf(float x)
{
  uint32_t sign = bits_of(x) & 0x80000000;
  float result = float_of(circle(reduce_angle(__builtin_fabsf(x))) ^ sign);
  return x != x ? x : result;
}

float cosf(float x)
{
  angle a = reduce_angle(__builtin_fabsf(x));
  a.quarter++;
  float result = float_of(circle(a));
  return x != x ? x : result;
}

float _sinf(float x)
{
  return sinf(x);
}

float _cosf(float x)
{
  return cosf(x);
}

float _powf(float x, float y)
{
  return powf(x, y);
}

/* Error function. Weak: the C library's erfcf brings an erff of its own. */
__attribute__((weak)) float erff(float x)
{
  static const float near[] = {0x1.06eba8p-3f, -0x1.81273ep-2f,  0x1.ce2dp-4f,   -0x1.b7f97ep-6f,
                               0x1.540898p-8f, -0x1.a40958p-11f, 0x1.4996f8p-14f};
  static const float far[] = {0x1.3b095p-12f,  0x1.20938cp+0f, 0x1.4698ap-1f,  0x1.a73a7cp-4f,
                              -0x1.6778a6p-6f, 0x1.859a36p-9f, -0x1.8bfd4p-13f}; /* -ln(1 - erf) */
  float size = __builtin_fabsf(x), square = x * x;
  if (size < 1) return multiply_add(x, POLYNOMIAL(near, square), x);
  int n;
  float y = __builtin_fminf(size, 4), r = reduce_exponent(-POLYNOMIAL(far, y), &n);
  float result = __builtin_copysignf(1 - power_of_two(n) * exp_near(r, 0), x);
  return x != x ? x : result;
}

/* Cube root of what lies between 1/2 and 4: a third of the logarithm, which the bits show to 3 %, two steps of Halley's, and one of Newton's
 * with what the cube lacks to twice a float's bits. (The C library's divides an exponent by 3, of which a tile makes a function.) */
static float cube_root_near(float x)
{
  float root = float_of(bits_of(x) / 3 + 0x2a510500);
  for (int i = 0; i < 2; i++) {
    float cube = root * root * root;
    root -= root * (cube - x) / (2 * cube + x);
  }
  float square = root * root, square_lacks = multiply_add(root, root, -square);
  float cube_exceeds = multiply_add(square_lacks, root, multiply_add(square, root, -x));
  return root - cube_exceeds / (3 * square);
}

float cbrtf(float x)
{
  enum { THIRD = 171, THIRD_BITS = 9 }; /* e * THIRD >> THIRD_BITS is e / 3 for exponents */
  float size = __builtin_fabsf(x), unit = 1;
  if (size < 0x1p-126f) {
    size *= 0x1p24f;
    unit = 0x1p-8f;
  }
  if (!(size > 0 && size < __builtin_inff())) return x + x;
  uint32_t bits = bits_of(size), third = (bits >> 23) * THIRD >> THIRD_BITS;
  float root = cube_root_near(float_of(bits + ((126 - 3 * third) << 23)));
  return __builtin_copysignf(root * unit * float_of((127 + third - 42) << 23), x);
}
