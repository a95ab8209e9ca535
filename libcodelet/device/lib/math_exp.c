/* Exponentials, also near 1, and functions made of them: hyperbolic functions, the error function
 * (math_single.h). */
#include "math_single.h"

/* e^r - 1 is r and a rest. The result is 2^n times that plus 2^n - 1. Both are computed at half
 * their size, as 2^n / 2 is a float for every n. */
float expm1f(float x)
{
  int n;
  if (!(x < INFINITY)) return x;
  float r = reduce_exponent(limit(x, -20, 89), &n), half = power_of_two(n - 1);
  float near = multiply_add(exp_rest(r), r * r, r);
  float result = 2 * multiply_add(near, half, half - 0.5f);
  return __builtin_fabsf(x) < 0x1p-25f ? x : result;
}

/* 1 + x = 2^n (1 + r + low), where 1 + r lies between the roots of 1/2 and 2. */
float log1pf(float x)
{
  enum { ROOT = 0x3f3504f3 };
  static const float c[] = {0x1.555554p-2f, -0x1.000228p-2f, 0x1.99a036p-3f, -0x1.547226p-3f,
                            0x1.22d5dcp-3f, -0x1.0d81a2p-3f, 0x1.05773ap-3f, -0x1.390edap-4f};
  float sum = 1 + x;
  if (!(sum > 0 && sum < INFINITY)) return sum == 0 ? -1 / sum : x > 0 ? x : (x - x) / (x - x);
  float added = sum - x;
  float lost = (x - (sum - added)) + (1 - added);
  uint32_t offset = bits_of(sum) - ROOT;
  int n = (int32_t)offset >> 23;
  float part = float_of((offset & 0x7fffff) + ROOT) - 1, unit = power_of_two(n < 64 ? -n : -64);
  float r = multiply_add(lost, unit, part), low = multiply_add(lost, unit, part - r);
  float rest = multiply_add(-0.5f, r * r, multiply_add(r * r * r, POLYNOMIAL(c, r), low));
  float result = multiply_add((float)n, ln2_high, r + multiply_add((float)n, ln2_low, rest));
  return __builtin_copysignf(result, x);
}

/* e^size / 4 for finite sizes. It is in a float's range wherever hyperbolic functions
 * are, and beyond. */
static inline float exp_quarter(float size)
{
  int n;
  float r = reduce_exponent(limit(size, 0, 89.75f), &n);
  return exp_near(r) * power_of_two(n - 2);
}

float coshf(float x)
{
  float size = __builtin_fabsf(x);
  if (!(size < INFINITY)) return size;
  float quarter = exp_quarter(size);
  return 2 * (quarter + 0x1p-4f / quarter);
}

float sinhf(float x)
{
  static const float c[] = {0x1.555556p-3f, 0x1.1110ep-7f, 0x1.a022bcp-13f, 0x1.756c1ep-19f};
  float size = __builtin_fabsf(x);
  if (size < 1) return multiply_add(x * (x * x), POLYNOMIAL(c, x * x), x);
  if (!(size < INFINITY)) return x;
  float quarter = exp_quarter(size);
  return __builtin_copysignf(2 * (quarter - 0x1p-4f / quarter), x);
}

/* Error function */

float erff(float x)
{
  static const float near[] = {0x1.06eba8p-3f, -0x1.81273ep-2f,  0x1.ce2dp-4f,   -0x1.b7f97ep-6f,
                               0x1.540898p-8f, -0x1.a40958p-11f, 0x1.4996f8p-14f};
  static const float far[] = {0x1.3b095p-12f,  0x1.20938cp+0f, 0x1.4698ap-1f,  0x1.a73a7cp-4f,
                              -0x1.6778a6p-6f, 0x1.859a36p-9f, -0x1.8bfd4p-13f}; /* -ln(1 - erf) */
  float size = __builtin_fabsf(x);
  if (size < 1) return multiply_add(x, POLYNOMIAL(near, x * x), x);
  int n;
  float y = __builtin_fminf(size, 4), r = reduce_exponent(-POLYNOMIAL(far, y), &n);
  float result = __builtin_copysignf(1 - power_of_two(n) * exp_near(r), x);
  return x != x ? x : result;
}

/* From 1/2 on: e^(-x^2) times a polynomial of (x - 3) / (x + 3). */
float erfcf(float x)
{
  static const float c[] = {0x1.6e9828p-3f,  -0x1.4e102cp-2f, 0x1.f6ff0ep-3f,
                            -0x1.336fc2p-3f, 0x1.258dacp-4f,  -0x1.8fbe36p-6f,
                            0x1.16a88ap-8f,  0x1.818d2cp-11f, -0x1.1d61acp-11f};
  if (!(x >= 0.5f)) return 1 - erff(x);
  float y = __builtin_fminf(x, 10.2f), square = y * y, lost = multiply_add(y, y, -square);
  int n;
  float r = reduce_exponent(-square, &n) - lost, turned = (y - 3) / (y + 3);
  return scale(exp_near(r) * POLYNOMIAL(c, turned), n);
}
