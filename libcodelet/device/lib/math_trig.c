/* Sine, cosine, tangent and their inverses (math_single.h). */
#include "math_single.h"

float _sinf(float x); /* names that the C library's own functions call */
float _cosf(float x);

/* x in units of pi / 2: the nearest whole number of them, of which only the low two bits count, and
 * the rest of x. */
typedef struct angle {
  uint32_t quarter;
  float r;
} angle;

/* x = m * 2^e. Takes 96 bits of 2 / pi, from where the product of m * 2^e with the bits before them
 * is a multiple of 4. */
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

/* The same for a positive number below 2^17. */
static inline angle reduce_near(float x)
{
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
  uint32_t turned = straight(0 - (a.quarter & 1));
  return either(turned, bits_of(cosine), bits_of(sine)) ^ (a.quarter & 2) << 30;
}

/* sin(x + further * pi / 2) for positive x that are too large for reduce_near(). */
__attribute__((noinline)) static float circle_far(float x, uint32_t further)
{
  if (x - x != 0) return x - x;
  angle a = reduce_far(bits_of(x));
  a.quarter += further;
  return float_of(circle(a));
}

float sinf(float x)
{
  float size = __builtin_fabsf(x);
  if (!(size < 0x1p17f)) return circle_far(size, bits_of(x) >> 31 << 1);
  return float_of(circle(reduce_near(size)) ^ (bits_of(x) & 0x80000000));
}

float cosf(float x)
{
  float size = __builtin_fabsf(x);
  if (!(size < 0x1p17f)) return circle_far(size, 1);
  angle a = reduce_near(size);
  a.quarter++;
  return float_of(circle(a));
}

float _sinf(float x)
{
  return sinf(x);
}

float _cosf(float x)
{
  return cosf(x);
}

/* |x| <= pi / 4: the tangent by (tan r - r) / r^3, a polynomial of r^2. The cotangent is its
 * reciprocal, with the rounding errors of the sum and the quotient corrected. If it is not wanted,
 * the reciprocal is that of 1, because 1 / 0 would be a fault. */
static inline uint32_t tangent(angle a)
{
  static const float c[] = {0x1.55556p-2f, 0x1.110d9ep-3f,  0x1.bad9c2p-5f, 0x1.5cc0d4p-6f,
                            0x1.62cb3p-7f, 0x1.9c0efap-14f, 0x1.1e91bep-8f};
  float square = a.r * a.r, rest = a.r * square * POLYNOMIAL(c, square);
  uint32_t turned = straight(0 - (a.quarter & 1)), one = 0x3f800000;
  float near = a.r + rest, far = -1 / float_of(either(turned, bits_of(near), one));
  float lost = multiply_add(far, rest, multiply_add(far, a.r, 1));
  far = multiply_add(far, lost, far);
  return either(turned, bits_of(far), bits_of(near));
}

__attribute__((noinline)) static float tangent_far(float x)
{
  if (x - x != 0) return x - x;
  return float_of(tangent(reduce_far(bits_of(__builtin_fabsf(x)))) ^ (bits_of(x) & 0x80000000));
}

float tanf(float x)
{
  float size = __builtin_fabsf(x);
  if (!(size < 0x1p17f)) return tangent_far(x);
  return float_of(tangent(reduce_near(size)) ^ (bits_of(x) & 0x80000000));
}

/* Inverses */

static const pair half_pi = {0x1.921fb6p+0f, -0x1.777a5cp-25f};

/* The inverse of the sine for sizes up to 1/2. Above that, half of the angle from there to
 * pi / 2. */
static inline pair arc(float size)
{
  static const float c[] = {0x1.5555c8p-3f, 0x1.330204p-4f, 0x1.747bbap-5f, 0x1.8c3e28p-6f,
                            0x1.595c92p-5f};
  float square = size <= 0.5f ? size * size : 0.5f * (1 - size);
  float sine = size <= 0.5f ? size : __builtin_sqrtf(square);
  return (pair){sine, sine * square * POLYNOMIAL(c, square)};
}

/* pi / 2 - unit * a */
static inline float rest_of_quarter(float unit, pair a)
{
  float from = unit * a.high, high = half_pi.high - from, lost = (half_pi.high - high) - from;
  return high + (multiply_add(-unit, a.low, half_pi.low) + lost);
}

float asinf(float x)
{
  float size = __builtin_fabsf(x);
  pair a = arc(size);
  return __builtin_copysignf(size <= 0.5f ? a.high + a.low : rest_of_quarter(2, a), x);
}

float acosf(float x)
{
  float size = __builtin_fabsf(x);
  pair a = arc(size);
  float rest = rest_of_quarter(size <= 0.5f && x < 0 ? -1 : 1, a);
  return size <= 0.5f ? rest : 2 * (x > 0 ? a.high + a.low : rest);
}

/* The inverse of a tangent of at most 1. */
static inline float arctangent(float t)
{
  static const float c[] = {-0x1.55553ep-2f, 0x1.9991e4p-3f, -0x1.2420a8p-3f,
                            0x1.c08f56p-4f,  -0x1.5816bp-4f, 0x1.da67cap-5f,
                            -0x1.fe157cp-6f, 0x1.64e3dcp-7f, -0x1.d4df7ap-10f};
  float square = t * t;
  return multiply_add(t * square, POLYNOMIAL(c, square), t);
}

float atanf(float x)
{
  float size = __builtin_fabsf(x);
  bool steep = size > 1;
  float near = arctangent(choose(steep, 1, size) / choose(steep, size, 1));
  return __builtin_copysignf(choose(steep, rest_of_quarter(1, (pair){near, 0}), near), x);
}

/* The octant of the plane is determined without a branch. */
float atan2f(float y, float x)
{
  float across = __builtin_fabsf(x), up = __builtin_fabsf(y);
  float most = __builtin_fmaxf(across, up), least = __builtin_fminf(across, up);
  bool same = least == most; /* the quotient would be a NaN if both are infinite or 0 */
  float near = arctangent(choose(same, most != 0, least) / choose(same, 1, most));
  uint32_t steep = up > across, back = bits_of(x) >> 31;
  near = float_of(bits_of(near) ^ (steep ^ back) << 31);
  float quarters = (float)(int32_t)(steep | (back & ~steep) << 1);
  float angle = multiply_add(quarters, half_pi.low, near);
  angle = multiply_add(quarters, half_pi.high, angle);
  return choose(x != x || y != y, NAN, __builtin_copysignf(angle, y));
}
