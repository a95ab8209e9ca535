/* Powers and roots (math_single.h). */
#include "math_single.h"

float _powf(float x,
            float y); /* names that the C library has besides, and its own functions call */
float exp10f(float x);
float pow10f(float x);

/* A tail call would let the two functions become one. As two functions, the usual one is small
 * enough to be inlined into its callers when they are translated. Only the compiler for tile code
 * knows the attribute. */
#if __has_attribute(not_tail_called)
#define CALLED __attribute__((not_tail_called))
#else
#define CALLED
#endif

/* 2^(high + low), where high is in limits and low is small. */
static inline float exp2_sum(float high, float low)
{
  static const float c[] = {0x1.62e43p-1f,  0x1.ebfbep-3f,   0x1.c6af64p-5f, /* (2^r - 1) / r */
                            0x1.3b29dep-7f, 0x1.5f0ea2p-10f, 0x1.44721ep-13f};
  float sum = high + round_term;
  float r = (high - (sum - round_term)) + low;
  return scale(multiply_add(POLYNOMIAL(c, r), r, 1), integer_of(sum));
}

float exp10f(float x)
{
  const float unit = 0x1.a934fp+1f, unit_low = 0x1.2f346ep-24f; /* log2(10) */
  bool usual = x < INFINITY;
  float y = limit(choose(usual, x, 0), -46, 39), product = y * unit;
  float rest = multiply_add(y, unit_low, multiply_add(y, unit, -product));
  return choose(usual, exp2_sum(product, rest), x);
}

float pow10f(float x)
{
  return exp10f(x);
}

/* Everything but positive normal numbers below a bound. */
static inline bool is_special(uint32_t bits, float bound)
{
  return bits - 0x00800000 >= bits_of(bound) - 0x00800000;
}

/* For larger exponents every power except that of 1 is 0 or infinite, and the products with
 * logarithms would overflow. */
static const float largest_exponent = 0x1p40f;

/* A table over the intervals from 0.7 to 1.4 whose numbers share their upper bits. Each entry has a
 * number near the reciprocal of the interval, with so few bits that its product with any number of
 * the interval, minus 1, is exact. It also has minus its logarithm to base 2, as a sum whose n +
 * high is exact. */
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

/* x is not a positive normal number, or y is zero, large, infinite or a NaN. */
__attribute__((noinline)) CALLED static float special_power(float x, float y)
{
  float size = __builtin_fabsf(x);
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return x + y;
  if (__builtin_isinf(y)) return size == 1 ? 1 : (size < 1) == (y < 0) ? INFINITY : 0;
  int odd = parity(y);
  if (x == 0 || __builtin_isinf(x)) {
    float result = y < 0 ? 1 / size : size;
    return odd == 1 ? __builtin_copysignf(result, x) : result;
  }
  if (x < 0 && !odd) return (x - x) / (x - x);
  uint32_t bits = bits_of(size);
  if (bits < 0x00800000) bits = bits_of(size * 0x1p23f) - (23u << 23);
  float result = power(bits, limit(y, -largest_exponent, largest_exponent));
  return x < 0 && odd == 1 ? -result : result;
}

float powf(float x, float y)
{
  if (is_special(bits_of(x), INFINITY) || is_special(bits_of(__builtin_fabsf(y)), largest_exponent))
    return special_power(x, y);
  return power(bits_of(x), y);
}

float _powf(float x, float y)
{
  return powf(x, y);
}

/* The arguments are scaled if their squares would overflow or underflow. */
float hypotf(float x, float y)
{
  float a = __builtin_fabsf(x), b = __builtin_fabsf(y);
  float most = __builtin_fmaxf(a, b), least = __builtin_fminf(a, b);
  int power = (most < 0x1p-60f) - !(most < 0x1p60f); /* of 2^100 */
  float unit = power_of_two(-100 * power), reciprocal = power_of_two(100 * power);
  most *= reciprocal;
  least *= reciprocal;
  float result = unit * __builtin_sqrtf(multiply_add(most, most, least * least));
  return choose(most < INFINITY && (x != x || y != y), NAN, result);
}

/* Cube root of a number between 1/2 and 4: a third of the logarithm, which the bits give to 3 %,
 * then two of Halley's steps, then one of Newton's with the error of the cube to twice a float's
 * precision. (The C library's divides an exponent by 3, for which a tile needs a function.) */
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
