/* What the codelets that runtime/models/ generates are made of: StableHLO's operations on one element.
 *
 * hlo_<operation>_<type>(…) for each type that has the operation. f16 and bf16 are floats that have been rounded to
 * the type, so that each operation rounds once; complex<f32> is hlo_c64; i1 is bool. hlo_load_<type> and
 * hlo_store_<type> are between these and what tensors hold: bf16, f64 and complex<f32> as their bits.
 *
 * Edge cases are those of the specification (NaN, infinities, signed zeros); where it leaves the result open (integer
 * division by zero, floating point to integers out of range) they are XLA's. */
#ifndef POPULUS_HLO_H
#define POPULUS_HLO_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HLO static inline __attribute__((always_inline, unused))
#define HLO_LARGE static __attribute__((noinline, unused))

typedef struct hlo_c64 {
  float re, im;
} hlo_c64;

/* ---- rounding, loads and stores ---- */

HLO uint32_t hlo_bits_f32(float a)
{
  uint32_t bits;
  memcpy(&bits, &a, 4);
  return bits;
}
HLO float hlo_from_bits_f32(uint32_t bits)
{
  float a;
  memcpy(&a, &bits, 4);
  return a;
}
HLO unsigned short hlo_bits_bf16(float a)
{
  uint32_t bits = hlo_bits_f32(a);
  if (a != a) return (unsigned short)(bits >> 16 | 0x40);
  return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
HLO float hlo_from_bits_bf16(unsigned short bits)
{
  return hlo_from_bits_f32((uint32_t)bits << 16);
}
HLO float hlo_round_f32(float a)
{
  return a;
}
HLO float hlo_round_f16(float a)
{
  return (float)(_Float16)a;
}
HLO float hlo_round_bf16(float a)
{
  return hlo_from_bits_bf16(hlo_bits_bf16(a));
}
HLO double hlo_round_f64(double a)
{
  return a;
}
HLO double hlo_load_f64(unsigned long long bits)
{
  double a;
  memcpy(&a, &bits, 8);
  return a;
}
HLO unsigned long long hlo_store_f64(double a)
{
  unsigned long long bits;
  memcpy(&bits, &a, 8);
  return bits;
}
HLO hlo_c64 hlo_load_c64(unsigned long long bits)
{
  hlo_c64 a;
  memcpy(&a, &bits, 8);
  return a;
}
HLO unsigned long long hlo_store_c64(hlo_c64 a)
{
  unsigned long long bits;
  memcpy(&bits, &a, 8);
  return bits;
}
HLO hlo_c64 hlo_make_c64(float re, float im)
{
  hlo_c64 a = {re, im};
  return a;
}
#define hlo_load_bf16(x) hlo_from_bits_bf16(x)
#define hlo_store_bf16(x) hlo_bits_bf16(x)
#define hlo_load_f16(x) ((float)(x))
#define hlo_store_f16(x) ((_Float16)(x))
#define hlo_load_f32(x) (x)
#define hlo_store_f32(x) (x)
#define hlo_load_i1(x) (x)
#define hlo_store_i1(x) (x)
#define hlo_load_i8(x) (x)
#define hlo_store_i8(x) (x)
#define hlo_load_i16(x) (x)
#define hlo_store_i16(x) (x)
#define hlo_load_i32(x) (x)
#define hlo_store_i32(x) (x)
#define hlo_load_i64(x) (x)
#define hlo_store_i64(x) (x)
#define hlo_load_u8(x) (x)
#define hlo_store_u8(x) (x)
#define hlo_load_u16(x) (x)
#define hlo_store_u16(x) (x)
#define hlo_load_u32(x) (x)
#define hlo_store_u32(x) (x)
#define hlo_load_u64(x) (x)
#define hlo_store_u64(x) (x)

/* ---- floating point ----
 *
 * X(type, C type, suffix of <math.h>'s functions) */
#define HLO_FLOATS(X) X(f32, float, f) X(f16, float, f) X(bf16, float, f) X(f64, double, )

/* e^a as XLA has it on a CPU, to the bit: by a polynomial, which does not give the nearest number everywhere. What is made of
 * it may be compared to .0001 (chlo.sinh), whatever its size. */
HLO float hlo_expf(float a)
{
  static const float c[6] = {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                             4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f};
  if (!(fabsf(a) < 87)) return expf(a);
  const float n = floorf(fmaf(a, 1.44269504088896341f, 0.5f));
  const float r =
      fmaf(n, 2.12194440e-4f, fmaf(n, -0.693359375f, a)); /* less n ln 2, in two parts */
  float y = c[0];
  for (int i = 1; i < 6; ++i) y = fmaf(y, r, c[i]);
  y = 1 + fmaf(y, r * r, r);
  return y * hlo_from_bits_f32((uint32_t)((int)n + 127) << 23);
}
HLO double hlo_exp(double a)
{
  return exp(a);
}

#define HLO_UNARY_MATH(X, T, C, F)                                                                 \
  X(T, C, cbrt, cbrt##F(a))                                                                        \
  X(T, C, ceil, ceil##F(a))                                                                        \
  X(T, C, cosine, cos##F(a))                                                                       \
  X(T, C, exponential, hlo_exp##F(a))                                                              \
  X(T, C, exponential_minus_one, expm1##F(a))                                                      \
  X(T, C, floor, floor##F(a))                                                                      \
  X(T, C, log, log##F(a))                                                                          \
  X(T, C, log_plus_one, log1p##F(a))                                                               \
  X(T, C, logistic, 1 / (1 + hlo_exp##F(-a)))                                                      \
  X(T, C, round_nearest_afz, round##F(a))                                                          \
  X(T, C, round_nearest_even, rint##F(a))                                                          \
  X(T, C, rsqrt, 1 / sqrt##F(a))                                                                   \
  X(T, C, sign, a > 0 ? 1 : a < 0 ? -1 : a)                                                        \
  X(T, C, sine, sin##F(a))                                                                         \
  X(T, C, sqrt, sqrt##F(a))                                                                        \
  X(T, C, tan, tan##F(a))                                                                          \
  X(T, C, tanh, tanh##F(a))                                                                        \
  X(T, C, acos, acos##F(a))                                                                        \
  X(T, C, asin, asin##F(a))                                                                        \
  X(T, C, asinh, asinh##F(a))                                                                      \
  X(T, C, atan, atan##F(a))                                                                        \
  X(T, C, atanh, atanh##F(a))                                                                      \
  X(T, C, erf, erf##F(a))                                                                          \
  X(T, C, erfc, erfc##F(a))                                                                        \
  X(T, C, square, a *a)

#define HLO_UNARY_FUNCTION(T, C, name, expression)                                                 \
  HLO C hlo_##name##_##T(C a)                                                                      \
  {                                                                                                \
    return hlo_round_##T(expression);                                                              \
  }

#define HLO_FLOAT_FUNCTIONS(T, C, F)                                                               \
  HLO_UNARY_MATH(HLO_UNARY_FUNCTION, T, C, F)                                                      \
  HLO C hlo_abs_##T(C a)                                                                           \
  {                                                                                                \
    return fabs##F(a);                                                                             \
  }                                                                                                \
  HLO C hlo_negate_##T(C a)                                                                        \
  {                                                                                                \
    return -a;                                                                                     \
  }                                                                                                \
  HLO bool hlo_is_finite_##T(C a)                                                                  \
  {                                                                                                \
    return isfinite(a);                                                                            \
  }                                                                                                \
  HLO bool hlo_is_inf_##T(C a)                                                                     \
  {                                                                                                \
    return isinf(a);                                                                               \
  }                                                                                                \
  HLO bool hlo_is_pos_inf_##T(C a)                                                                 \
  {                                                                                                \
    return isinf(a) && a > 0;                                                                      \
  }                                                                                                \
  HLO bool hlo_is_neg_inf_##T(C a)                                                                 \
  {                                                                                                \
    return isinf(a) && a < 0;                                                                      \
  }                                                                                                \
  HLO C hlo_real_##T(C a)                                                                          \
  {                                                                                                \
    return a;                                                                                      \
  }                                                                                                \
  HLO C hlo_imag_##T(C a)                                                                          \
  {                                                                                                \
    return a * 0;                                                                                  \
  }                                                                                                \
  HLO C hlo_add_##T(C a, C b)                                                                      \
  {                                                                                                \
    return hlo_round_##T(a + b);                                                                   \
  }                                                                                                \
  HLO C hlo_subtract_##T(C a, C b)                                                                 \
  {                                                                                                \
    return hlo_round_##T(a - b);                                                                   \
  }                                                                                                \
  HLO C hlo_multiply_##T(C a, C b)                                                                 \
  {                                                                                                \
    return hlo_round_##T(a * b);                                                                   \
  }                                                                                                \
  HLO C hlo_divide_##T(C a, C b)                                                                   \
  {                                                                                                \
    return hlo_round_##T(a / b);                                                                   \
  }                                                                                                \
  HLO C hlo_remainder_##T(C a, C b)                                                                \
  {                                                                                                \
    return hlo_round_##T(fmod##F(a, b));                                                           \
  }                                                                                                \
  HLO C hlo_power_##T(C a, C b)                                                                    \
  {                                                                                                \
    return hlo_round_##T(pow##F(a, b));                                                            \
  }                                                                                                \
  HLO C hlo_atan2_##T(C a, C b)                                                                    \
  {                                                                                                \
    return hlo_round_##T(atan2##F(a, b));                                                          \
  }                                                                                                \
  HLO C hlo_maximum_##T(C a, C b)                                                                  \
  {                                                                                                \
    return a != a ? a : b != b ? b : a > b ? a : a < b ? b : signbit(a) ? b : a;                   \
  }                                                                                                \
  HLO C hlo_minimum_##T(C a, C b)                                                                  \
  {                                                                                                \
    return a != a ? a : b != b ? b : a < b ? a : a > b ? b : signbit(a) ? a : b;                   \
  }                                                                                                \
  HLO bool hlo_eq_##T(C a, C b)                                                                    \
  {                                                                                                \
    return a == b;                                                                                 \
  }                                                                                                \
  HLO bool hlo_ne_##T(C a, C b)                                                                    \
  {                                                                                                \
    return a != b;                                                                                 \
  }                                                                                                \
  HLO bool hlo_lt_##T(C a, C b)                                                                    \
  {                                                                                                \
    return a < b;                                                                                  \
  }                                                                                                \
  HLO bool hlo_le_##T(C a, C b)                                                                    \
  {                                                                                                \
    return a <= b;                                                                                 \
  }                                                                                                \
  HLO bool hlo_gt_##T(C a, C b)                                                                    \
  {                                                                                                \
    return a > b;                                                                                  \
  }                                                                                                \
  HLO bool hlo_ge_##T(C a, C b)                                                                    \
  {                                                                                                \
    return a >= b;                                                                                 \
  }
HLO_FLOATS(HLO_FLOAT_FUNCTIONS)

/* Integers that are in the same order as the numbers: -NaN < -inf < … < -0 < +0 < … < NaN. */
HLO long long hlo_order_f32(float a)
{
  uint32_t bits = hlo_bits_f32(a);
  return bits >> 31 ? -1 - (long long)(bits & 0x7fffffff) : (long long)bits;
}
#define hlo_order_f16(a) hlo_order_f32(a)
#define hlo_order_bf16(a) hlo_order_f32(a)
HLO long long hlo_order_f64(double a)
{
  unsigned long long bits = hlo_store_f64(a);
  return bits >> 63 ? -1 - (long long)(bits & 0x7fffffffffffffff) : (long long)bits;
}

/* The next number of the type towards b. */
#define HLO_NEXT_AFTER(T, B, bits_of, from_bits, SIGN)                                             \
  HLO_LARGE float hlo_next_after_##T(float a, float b)                                             \
  {                                                                                                \
    if (a != a || b != b) return a + b;                                                            \
    if (a == b) return b;                                                                          \
    B bits = bits_of(a);                                                                           \
    if (a == 0) return from_bits((B)(b > 0 ? 1 : SIGN | 1));                                       \
    bits = (B)(bits + ((a < b) == (a > 0) ? 1 : -1));                                              \
    return from_bits(bits);                                                                        \
  }
HLO unsigned short hlo_bits_f16(float a)
{
  _Float16 half = (_Float16)a;
  unsigned short bits;
  memcpy(&bits, &half, 2);
  return bits;
}
HLO float hlo_from_bits_f16(unsigned short bits)
{
  _Float16 half;
  memcpy(&half, &bits, 2);
  return (float)half;
}
HLO_NEXT_AFTER(f32, uint32_t, hlo_bits_f32, hlo_from_bits_f32, 0x80000000u)
HLO_NEXT_AFTER(f16, unsigned short, hlo_bits_f16, hlo_from_bits_f16, 0x8000)
HLO_NEXT_AFTER(bf16, unsigned short, hlo_bits_bf16, hlo_from_bits_bf16, 0x8000)
HLO double hlo_next_after_f64(double a, double b)
{
  return nextafter(a, b);
}

/* Rounded to fewer bits: exponents of e bits, fractions of m; what is too small for the exponent is a zero. By the bits of
 * the type itself, E of them exponent and M fraction: its own denormal numbers stay where e is not less than E. */
#define HLO_REDUCE_PRECISION(T, C, B, E, M, bits_of, from_bits)                                    \
  HLO_LARGE C hlo_reduce_precision_##T(C a, unsigned e, unsigned m)                                \
  {                                                                                                \
    const B one = 1, infinity = ((one << (E)) - 1) << (M);                                         \
    B bits = bits_of(a), sign = bits & one << ((E) + (M));                                         \
    bits ^= sign;                                                                                  \
    if (a != a) return m ? a : from_bits(sign | infinity);                                         \
    if (m < (M)) {                                                                                 \
      B last = one << ((M) - m);                                                                   \
      bits = (bits + (last / 2 - 1) + ((bits & last) ? 1 : 0)) & ~(last - 1);                      \
    }                                                                                              \
    if (e < (E)) {                                                                                 \
      int bias = (1 << (e - 1)) - 1, own = (1 << ((E) - 1)) - 1, exponent = (int)(bits >> (M));    \
      if (exponent > own + bias) bits = infinity;                                                  \
      if (exponent <= own - bias) bits = 0;                                                        \
    }                                                                                              \
    return from_bits(sign | bits);                                                                 \
  }
#define HLO_FROM_WIDE_BITS_F16(bits) hlo_from_bits_f16((unsigned short)(bits))
HLO_REDUCE_PRECISION(f32, float, uint32_t, 8, 23, hlo_bits_f32, hlo_from_bits_f32)
HLO_REDUCE_PRECISION(f16, float, uint32_t, 5, 10, hlo_bits_f16, HLO_FROM_WIDE_BITS_F16)
HLO_REDUCE_PRECISION(f64, double, unsigned long long, 11, 52, hlo_store_f64, hlo_load_f64)
/* A float whose lower half is 0, which rounding to at most 7 bits keeps so. */
#define hlo_reduce_precision_bf16(a, e, m) hlo_reduce_precision_f32(a, e, m)

/* ---- functions of chlo: by the formulas that chlo is defined by, with their errors ---- */

/* (e^x +- e^-x) / 2, with the half in the exponent, so that it is large only where the result is. */
#define HLO_HYPERBOLIC(T, C, F)                                                                    \
  HLO_LARGE C hlo_cosh_##T(C a)                                                                    \
  {                                                                                                \
    const C half = (C) - 0.69314718055994530942;                                                   \
    return hlo_round_##T(hlo_exp##F(a + half) + hlo_exp##F(half - a));                             \
  }                                                                                                \
  HLO_LARGE C hlo_sinh_##T(C a)                                                                    \
  {                                                                                                \
    const C half = (C) - 0.69314718055994530942;                                                   \
    if (fabs##F(a) >= 1) return hlo_round_##T(hlo_exp##F(a + half) - hlo_exp##F(half - a));        \
    const C e = expm1##F(a);                                                                       \
    return hlo_round_##T((C)0.5 * (e + e / (e + 1)));                                              \
  }
HLO_FLOATS(HLO_HYPERBOLIC)
/* log(x + sqrt((x + 1) (x - 1))), and log(2 x) where that would overflow. */
#define HLO_ACOSH(T, C, F)                                                                         \
  HLO_LARGE C hlo_acosh_##T(C a)                                                                   \
  {                                                                                                \
    if (a < -1) return (C)NAN;                                                                     \
    if (a >= (C)(sizeof(C) == 4 ? 1.8446743e19 : 1.3407807929942596e154))                          \
      return hlo_round_##T(log##F(a) + (C)0.69314718055994530942);                                 \
    return hlo_round_##T(log##F(a + sqrt##F((a + 1) * (a - 1))));                                  \
  }
HLO_FLOATS(HLO_ACOSH)

HLO_LARGE float hlo_lanczos_sum(float z, float *derivative)
{
  static const float c[8] = {
      676.520368121885098567009190444019f, -1259.13921672240287047156078755283f,
      771.3234287776530788486528258894f,   -176.61502916214059906584551354f,
      12.507343278686904814458936853f,     -0.13857109526572011689554707f,
      9.984369578019570859563e-6f,         1.50563273514931155834e-7f};
  float sum = 0.99999999999980993227684700473478f, d = 0;
  for (int i = 0; i < 8; ++i) {
    float q = z + (float)(i + 1);
    d -= c[i] / (q * q);
    sum += c[i] / q;
  }
  *derivative = d;
  return sum;
}
HLO_LARGE float hlo_lgamma_float(float x)
{
  const float pi = 3.14159265358979323846f;
  if (isinf(x)) return INFINITY;
  bool reflect = x < 0.5f;
  float z = reflect ? -x : x - 1, unused;
  float sum = hlo_lanczos_sum(z, &unused);
  float t = 7.5f + z, log_t = 2.01490302054226466987f + log1pf(z / 7.5f);
  float y = (z + 0.5f - t / log_t) * log_t + 0.91893853320467274178f + logf(sum);
  if (!reflect) return y;
  float a = fabsf(x), fraction = a - floorf(a);
  float reduced = fraction > 0.5f ? 1 - fraction : fraction;
  float s = logf(sinf(pi * reduced));
  return isfinite(s) ? 1.14472988584940017414f - s - y : -s;
}
HLO_LARGE float hlo_digamma_float(float x)
{
  const float pi = 3.14159265358979323846f;
  bool reflect = x < 0.5f;
  float z = reflect ? -x : x - 1, numerator;
  float denominator = hlo_lanczos_sum(z, &numerator);
  float t = 7.5f + z, log_t = 2.01490302054226466987f + log1pf(z / 7.5f);
  float y = log_t + numerator / denominator - 7 / t;
  if (x <= 0 && x == floorf(x)) return NAN;
  if (!reflect) return y;
  float reduced = x + fabsf(floorf(x + 0.5f));
  return y - pi * cosf(pi * reduced) / sinf(pi * reduced);
}
HLO_LARGE float hlo_erf_inv_float(float x)
{
  static const float small[9] = {2.81022636e-08f,  3.43273939e-07f, -3.5233877e-06f,
                                 -4.39150654e-06f, 0.00021858087f,  -0.00125372503f,
                                 -0.00417768164f,  0.246640727f,    1.50140941f};
  static const float large[9] = {-0.000200214257f, 0.000100950558f, 0.00134934322f,
                                 -0.00367342844f,  0.00573950773f,  -0.0076224613f,
                                 0.00943887047f,   1.00167406f,     2.83297682f};
  if (x == 1 || x == -1) return x * INFINITY;
  float w = -log1pf(-x * x);
  const float *c = w < 5 ? small : large;
  w = w < 5 ? w - 2.5f : sqrtf(w) - 3;
  float p = c[0];
  for (int i = 1; i < 9; ++i) p = c[i] + p * w;
  return p * x;
}
HLO_LARGE float hlo_chebyshev(float x, const float *c, int n)
{
  float b0 = 0, b1 = 0, b2 = 0;
  for (int i = 0; i < n; ++i) {
    b2 = b1;
    b1 = b0;
    b0 = x * b1 - b2 + c[i];
  }
  return 0.5f * (b0 - b2);
}
HLO_LARGE float hlo_bessel_i1e_float(float x)
{
  static const float a[17] = {
      9.38153738649577178388E-9f,  -4.44505912879632808065E-8f, 2.00329475355213526229E-7f,
      -8.56872026469545474066E-7f, 3.47025130813767847674E-6f,  -1.32731636560394358279E-5f,
      4.78156510755005422638E-5f,  -1.61760815825896745588E-4f, 5.12285956168575772895E-4f,
      -1.51357245063125314899E-3f, 4.15642294431288815669E-3f,  -1.05640848946261981558E-2f,
      2.47264490306265168283E-2f,  -5.29459812080949914269E-2f, 1.02643658689847095384E-1f,
      -1.76416518357834055153E-1f, 2.52587186443633654823E-1f};
  static const float b[7] = {-3.83538038596423702205E-9f, -2.63146884688951950684E-8f,
                             -2.51223623787020892529E-7f, -3.88256480887769039346E-6f,
                             -1.10588938762623716291E-4f, -9.76109749136146840777E-3f,
                             7.78576235018280120474E-1f};
  float z = fabsf(x), y;
  if (z <= 8)
    y = hlo_chebyshev(z / 2 - 2, a, 17) * z;
  else
    y = hlo_chebyshev(32 / z - 2, b, 7) / sqrtf(z);
  return copysignf(1, x) * y;
}
/* Hurwitz's zeta function, by Euler and Maclaurin. */
HLO_LARGE float hlo_zeta_float(float x, float q)
{
  static const float c[12] = {12.0f,
                              -720.0f,
                              30240.0f,
                              -1209600.0f,
                              47900160.0f,
                              -1307674368000.0f / 691,
                              74724249600.0f,
                              -10670622842880000.0f / 3617,
                              5109094217170944000.0f / 43867,
                              -802857662698291200000.0f / 174611,
                              14101100039391805440000.0f / 77683,
                              -1693824136731743669452800000.0f / 236364091};
  if (x == 1) return INFINITY;
  if (x < 1 || (q <= 0 && x != floorf(x))) return NAN;
  if (q <= 0 && q == floorf(q)) return fmodf(x, 2) == 0 ? INFINITY : NAN;
  float a = q, sum = powf(q, -x), term = 0;
  for (int i = 0; i < 9; ++i) {
    a += 1;
    term = powf(a, -x);
    sum += term;
  }
  sum += term * a / (x - 1) - 0.5f * term;
  float factor = 1;
  for (int i = 0; i < 12; ++i) {
    factor *= x + (float)(2 * i);
    term /= a;
    sum += term * factor / c[i];
    factor *= x + (float)(2 * i + 1);
    term /= a;
  }
  return sum;
}
HLO_LARGE float hlo_polygamma_float(float n, float x)
{
  if (n != floorf(n) || n < 0) return NAN;
  if (n == 0) return hlo_digamma_float(x);
  float sign = fmodf(n, 2) == 1 ? 1 : -1;
  return sign * expf(hlo_lgamma_float(n + 1)) * hlo_zeta_float(n + 1, x);
}
#define HLO_SPECIAL_FUNCTIONS(T, C)                                                                \
  HLO C hlo_lgamma_##T(C a)                                                                        \
  {                                                                                                \
    return hlo_round_##T(hlo_lgamma_float((float)a));                                              \
  }                                                                                                \
  HLO C hlo_digamma_##T(C a)                                                                       \
  {                                                                                                \
    return hlo_round_##T(hlo_digamma_float((float)a));                                             \
  }                                                                                                \
  HLO C hlo_erf_inv_##T(C a)                                                                       \
  {                                                                                                \
    return hlo_round_##T(hlo_erf_inv_float((float)a));                                             \
  }                                                                                                \
  HLO C hlo_bessel_i1e_##T(C a)                                                                    \
  {                                                                                                \
    return hlo_round_##T(hlo_bessel_i1e_float((float)a));                                          \
  }                                                                                                \
  HLO C hlo_zeta_##T(C a, C b)                                                                     \
  {                                                                                                \
    return hlo_round_##T(hlo_zeta_float((float)a, (float)b));                                      \
  }                                                                                                \
  HLO C hlo_polygamma_##T(C a, C b)                                                                \
  {                                                                                                \
    return hlo_round_##T(hlo_polygamma_float((float)a, (float)b));                                 \
  }
HLO_SPECIAL_FUNCTIONS(f32, float)
HLO_SPECIAL_FUNCTIONS(f16, float)
HLO_SPECIAL_FUNCTIONS(bf16, float)

/* ---- integers ----
 *
 * X(type, C type, unsigned C type, bits) */
#define HLO_SIGNED(X)                                                                              \
  X(i8, int8_t, uint8_t, 8)                                                                        \
  X(i16, int16_t, uint16_t, 16)                                                                    \
  X(i32, int, unsigned, 32)                                                                        \
  X(i64, long long, unsigned long long, 64)
#define HLO_UNSIGNED(X)                                                                            \
  X(u8, uint8_t, uint8_t, 8)                                                                       \
  X(u16, uint16_t, uint16_t, 16)                                                                   \
  X(u32, unsigned, unsigned, 32)                                                                   \
  X(u64, unsigned long long, unsigned long long, 64)

#define HLO_INTEGER_FUNCTIONS(T, C, U, B)                                                          \
  HLO C hlo_add_##T(C a, C b)                                                                      \
  {                                                                                                \
    return (C)(U)((U)a + (U)b);                                                                    \
  }                                                                                                \
  HLO C hlo_subtract_##T(C a, C b)                                                                 \
  {                                                                                                \
    return (C)(U)((U)a - (U)b);                                                                    \
  }                                                                                                \
  HLO C hlo_multiply_##T(C a, C b)                                                                 \
  {                                                                                                \
    return (C)(U)((unsigned long long)(U)a * (unsigned long long)(U)b);                            \
  }                                                                                                \
  HLO C hlo_negate_##T(C a)                                                                        \
  {                                                                                                \
    return (C)(U)(0 - (U)a);                                                                       \
  }                                                                                                \
  HLO C hlo_maximum_##T(C a, C b)                                                                  \
  {                                                                                                \
    return a > b ? a : b;                                                                          \
  }                                                                                                \
  HLO C hlo_minimum_##T(C a, C b)                                                                  \
  {                                                                                                \
    return a < b ? a : b;                                                                          \
  }                                                                                                \
  HLO C hlo_and_##T(C a, C b)                                                                      \
  {                                                                                                \
    return (C)(a & b);                                                                             \
  }                                                                                                \
  HLO C hlo_or_##T(C a, C b)                                                                       \
  {                                                                                                \
    return (C)(a | b);                                                                             \
  }                                                                                                \
  HLO C hlo_xor_##T(C a, C b)                                                                      \
  {                                                                                                \
    return (C)(a ^ b);                                                                             \
  }                                                                                                \
  HLO C hlo_not_##T(C a)                                                                           \
  {                                                                                                \
    return (C)~a;                                                                                  \
  }                                                                                                \
  HLO C hlo_square_##T(C a)                                                                        \
  {                                                                                                \
    return hlo_multiply_##T(a, a);                                                                 \
  }                                                                                                \
  HLO C hlo_popcnt_##T(C a)                                                                        \
  {                                                                                                \
    return (C)__builtin_popcountll((U)a);                                                          \
  }                                                                                                \
  HLO C hlo_count_leading_zeros_##T(C a)                                                           \
  {                                                                                                \
    return (C)(a ? __builtin_clzll((U)a) - (64 - B) : B);                                          \
  }                                                                                                \
  HLO C hlo_shift_left_##T(C a, C b)                                                               \
  {                                                                                                \
    return (U)b < B ? (C)(U)((U)a << (U)b) : 0;                                                    \
  }                                                                                                \
  HLO C hlo_shift_right_logical_##T(C a, C b)                                                      \
  {                                                                                                \
    return (U)b < B ? (C)(U)((U)a >> (U)b) : 0;                                                    \
  }                                                                                                \
  HLO C hlo_power_##T(C a, C b)                                                                    \
  {                                                                                                \
    if (b < 0) return a == 1 ? 1 : a == (C) - 1 ? (b & 1 ? (C) - 1 : 1) : 0;                       \
    C result = 1;                                                                                  \
    for (U n = (U)b; n; n = (U)(n >> 1)) {                                                         \
      if (n & 1) result = hlo_multiply_##T(result, a);                                             \
      a = hlo_multiply_##T(a, a);                                                                  \
    }                                                                                              \
    return result;                                                                                 \
  }                                                                                                \
  HLO bool hlo_eq_##T(C a, C b)                                                                    \
  {                                                                                                \
    return a == b;                                                                                 \
  }                                                                                                \
  HLO bool hlo_ne_##T(C a, C b)                                                                    \
  {                                                                                                \
    return a != b;                                                                                 \
  }                                                                                                \
  HLO bool hlo_lt_##T(C a, C b)                                                                    \
  {                                                                                                \
    return a < b;                                                                                  \
  }                                                                                                \
  HLO bool hlo_le_##T(C a, C b)                                                                    \
  {                                                                                                \
    return a <= b;                                                                                 \
  }                                                                                                \
  HLO bool hlo_gt_##T(C a, C b)                                                                    \
  {                                                                                                \
    return a > b;                                                                                  \
  }                                                                                                \
  HLO bool hlo_ge_##T(C a, C b)                                                                    \
  {                                                                                                \
    return a >= b;                                                                                 \
  }
HLO_SIGNED(HLO_INTEGER_FUNCTIONS)
HLO_UNSIGNED(HLO_INTEGER_FUNCTIONS)

#define HLO_SIGNED_FUNCTIONS(T, C, U, B)                                                           \
  HLO C hlo_abs_##T(C a)                                                                           \
  {                                                                                                \
    return a < 0 ? (C)(U)(0 - (U)a) : a;                                                           \
  }                                                                                                \
  HLO C hlo_sign_##T(C a)                                                                          \
  {                                                                                                \
    return (C)((a > 0) - (a < 0));                                                                 \
  }                                                                                                \
  HLO C hlo_divide_##T(C a, C b)                                                                   \
  {                                                                                                \
    return b == 0 ? (C) - 1 : b == -1 ? hlo_negate_##T(a) : (C)(a / b);                            \
  }                                                                                                \
  HLO C hlo_remainder_##T(C a, C b)                                                                \
  {                                                                                                \
    return b == 0 ? a : b == -1 ? 0 : (C)(a % b);                                                  \
  }                                                                                                \
  HLO C hlo_shift_right_arithmetic_##T(C a, C b)                                                   \
  {                                                                                                \
    return (C)(a >> ((U)b < B ? (U)b : B - 1));                                                    \
  }
HLO_SIGNED(HLO_SIGNED_FUNCTIONS)

#define HLO_UNSIGNED_FUNCTIONS(T, C, U, B)                                                         \
  HLO C hlo_abs_##T(C a)                                                                           \
  {                                                                                                \
    return a;                                                                                      \
  }                                                                                                \
  HLO C hlo_sign_##T(C a)                                                                          \
  {                                                                                                \
    return a != 0;                                                                                 \
  }                                                                                                \
  HLO C hlo_divide_##T(C a, C b)                                                                   \
  {                                                                                                \
    return b == 0 ? (C) - 1 : (C)(a / b);                                                          \
  }                                                                                                \
  HLO C hlo_remainder_##T(C a, C b)                                                                \
  {                                                                                                \
    return b == 0 ? a : (C)(a % b);                                                                \
  }                                                                                                \
  /* The bits of the signed type. */                                                               \
  HLO C hlo_shift_right_arithmetic_##T(C a, C b)                                                   \
  {                                                                                                \
    C ones = a >> (B - 1) ? (C) - 1 : 0;                                                           \
    if (b >= B) return ones;                                                                       \
    return (C)(a >> b | (C) ~(C)((C) - 1 >> b) * (ones & 1));                                      \
  }
HLO_UNSIGNED(HLO_UNSIGNED_FUNCTIONS)

/* ---- i1 ---- */

HLO bool hlo_add_i1(bool a, bool b)
{
  return a | b;
}
HLO bool hlo_multiply_i1(bool a, bool b)
{
  return a & b;
}
HLO bool hlo_maximum_i1(bool a, bool b)
{
  return a | b;
}
HLO bool hlo_minimum_i1(bool a, bool b)
{
  return a & b;
}
HLO bool hlo_and_i1(bool a, bool b)
{
  return a & b;
}
HLO bool hlo_or_i1(bool a, bool b)
{
  return a | b;
}
HLO bool hlo_xor_i1(bool a, bool b)
{
  return a ^ b;
}
HLO bool hlo_not_i1(bool a)
{
  return !a;
}
HLO bool hlo_eq_i1(bool a, bool b)
{
  return a == b;
}
HLO bool hlo_ne_i1(bool a, bool b)
{
  return a != b;
}
HLO bool hlo_lt_i1(bool a, bool b)
{
  return a < b;
}
HLO bool hlo_le_i1(bool a, bool b)
{
  return a <= b;
}
HLO bool hlo_gt_i1(bool a, bool b)
{
  return a > b;
}
HLO bool hlo_ge_i1(bool a, bool b)
{
  return a >= b;
}

/* ---- complex numbers ---- */

HLO hlo_c64 hlo_add_c64(hlo_c64 a, hlo_c64 b)
{
  return hlo_make_c64(a.re + b.re, a.im + b.im);
}
HLO hlo_c64 hlo_subtract_c64(hlo_c64 a, hlo_c64 b)
{
  return hlo_make_c64(a.re - b.re, a.im - b.im);
}
HLO hlo_c64 hlo_multiply_c64(hlo_c64 a, hlo_c64 b)
{
  return hlo_make_c64(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
HLO_LARGE hlo_c64 hlo_divide_c64(hlo_c64 a, hlo_c64 b)
{
  /* By the larger part first, so that squares do not overflow. */
  if (fabsf(b.re) >= fabsf(b.im)) {
    float r = b.re == 0 && b.im == 0 ? 0 : b.im / b.re, d = b.re + b.im * r;
    return hlo_make_c64((a.re + a.im * r) / d, (a.im - a.re * r) / d);
  }
  float r = b.re / b.im, d = b.re * r + b.im;
  return hlo_make_c64((a.re * r + a.im) / d, (a.im * r - a.re) / d);
}
HLO hlo_c64 hlo_negate_c64(hlo_c64 a)
{
  return hlo_make_c64(-a.re, -a.im);
}
HLO hlo_c64 hlo_conj_c64(hlo_c64 a)
{
  return hlo_make_c64(a.re, -a.im);
}
HLO hlo_c64 hlo_square_c64(hlo_c64 a)
{
  return hlo_multiply_c64(a, a);
}
HLO float hlo_real_c64(hlo_c64 a)
{
  return a.re;
}
HLO float hlo_imag_c64(hlo_c64 a)
{
  return a.im;
}
HLO float hlo_abs_c64(hlo_c64 a)
{
  return hypotf(a.re, a.im);
}
HLO hlo_c64 hlo_complex_f32(float a, float b)
{
  return hlo_make_c64(a, b);
}
HLO bool hlo_is_finite_c64(hlo_c64 a)
{
  return isfinite(a.re) && isfinite(a.im);
}
HLO bool hlo_eq_c64(hlo_c64 a, hlo_c64 b)
{
  return a.re == b.re && a.im == b.im;
}
HLO bool hlo_ne_c64(hlo_c64 a, hlo_c64 b)
{
  return !hlo_eq_c64(a, b);
}
/* By the real part, then the imaginary one. */
HLO bool hlo_lt_c64(hlo_c64 a, hlo_c64 b)
{
  return a.re < b.re || (a.re == b.re && a.im < b.im);
}
HLO bool hlo_gt_c64(hlo_c64 a, hlo_c64 b)
{
  return hlo_lt_c64(b, a);
}
HLO bool hlo_le_c64(hlo_c64 a, hlo_c64 b)
{
  return hlo_lt_c64(a, b) || hlo_eq_c64(a, b);
}
HLO bool hlo_ge_c64(hlo_c64 a, hlo_c64 b)
{
  return hlo_le_c64(b, a);
}
HLO hlo_c64 hlo_maximum_c64(hlo_c64 a, hlo_c64 b)
{
  return hlo_gt_c64(a, b) ? a : b;
}
HLO hlo_c64 hlo_minimum_c64(hlo_c64 a, hlo_c64 b)
{
  return hlo_lt_c64(a, b) ? a : b;
}
HLO_LARGE hlo_c64 hlo_sign_c64(hlo_c64 a)
{
  float size = hlo_abs_c64(a);
  return size == 0 ? hlo_make_c64(0, 0) : hlo_make_c64(a.re / size, a.im / size);
}
HLO_LARGE hlo_c64 hlo_exponential_c64(hlo_c64 a)
{
  float e = hlo_expf(a.re);
  if (a.im == 0) return hlo_make_c64(e, a.im);
  if (a.re == -INFINITY && !isfinite(a.im)) return hlo_make_c64(0, 0);
  return hlo_make_c64(e * cosf(a.im), e * sinf(a.im));
}
HLO_LARGE hlo_c64 hlo_exponential_minus_one_c64(hlo_c64 a)
{
  float s = sinf(a.im / 2), e = expm1f(a.re);
  return hlo_make_c64(e * cosf(a.im) - 2 * s * s, (e + 1) * sinf(a.im));
}
HLO_LARGE hlo_c64 hlo_log_c64(hlo_c64 a)
{
  float size = hlo_abs_c64(a);
  /* Near 1 the logarithm is that of 1 + (size^2 - 1). */
  float re =
      size > 0.5f && size < 2 ? 0.5f * log1pf((a.re - 1) * (a.re + 1) + a.im * a.im) : logf(size);
  return hlo_make_c64(re, atan2f(a.im, a.re));
}
HLO_LARGE hlo_c64 hlo_log_plus_one_c64(hlo_c64 a)
{
  float size = hlo_abs_c64(hlo_make_c64(a.re + 1, a.im));
  float re = size > 0.5f && size < 2 ? 0.5f * log1pf(a.re * (a.re + 2) + a.im * a.im) : logf(size);
  return hlo_make_c64(re, atan2f(a.im, a.re + 1));
}
HLO_LARGE hlo_c64 hlo_sqrt_c64(hlo_c64 a)
{
  float size = hlo_abs_c64(a);
  if (a.re == 0 && a.im == 0) return hlo_make_c64(0, a.im);
  if (isinf(a.im)) return hlo_make_c64(INFINITY, a.im);
  float t = sqrtf(0.5f * size + 0.5f * fabsf(a.re));
  if (a.re >= 0) return hlo_make_c64(t, a.im / (2 * t));
  return hlo_make_c64(fabsf(a.im) / (2 * t), copysignf(t, a.im));
}
HLO hlo_c64 hlo_rsqrt_c64(hlo_c64 a)
{
  return hlo_divide_c64(hlo_make_c64(1, 0), hlo_sqrt_c64(a));
}
HLO hlo_c64 hlo_cbrt_c64(hlo_c64 a)
{
  hlo_c64 l = hlo_log_c64(a);
  return hlo_exponential_c64(hlo_make_c64(l.re / 3, l.im / 3));
}
HLO_LARGE hlo_c64 hlo_sine_c64(hlo_c64 a)
{
  return hlo_make_c64(sinf(a.re) * coshf(a.im), cosf(a.re) * sinhf(a.im));
}
HLO_LARGE hlo_c64 hlo_cosine_c64(hlo_c64 a)
{
  return hlo_make_c64(cosf(a.re) * coshf(a.im), -sinf(a.re) * sinhf(a.im));
}
HLO_LARGE hlo_c64 hlo_tanh_c64(hlo_c64 a)
{
  if (fabsf(a.re) > 20) return hlo_make_c64(copysignf(1, a.re), 0 * sinf(2 * a.im));
  float s = sinhf(a.re), c = coshf(a.re), u = sinf(a.im), v = cosf(a.im), d = s * s + v * v;
  return hlo_make_c64(s * c / d, u * v / d);
}
HLO hlo_c64 hlo_tan_c64(hlo_c64 a)
{
  hlo_c64 t = hlo_tanh_c64(hlo_make_c64(-a.im, a.re));
  return hlo_make_c64(t.im, -t.re);
}
HLO hlo_c64 hlo_logistic_c64(hlo_c64 a)
{
  hlo_c64 e = hlo_exponential_c64(hlo_negate_c64(a));
  return hlo_divide_c64(hlo_make_c64(1, 0), hlo_make_c64(1 + e.re, e.im));
}
HLO_LARGE hlo_c64 hlo_power_c64(hlo_c64 a, hlo_c64 b)
{
  if (a.re == 0 && a.im == 0)
    return b.re == 0 && b.im == 0 ? hlo_make_c64(1, 0) : hlo_make_c64(0, 0);
  return hlo_exponential_c64(hlo_multiply_c64(b, hlo_log_c64(a)));
}

/* ---- conversions: hlo_convert_<from>_<to> ---- */

/* Large integers and doubles as a float that rounds to a smaller type as they do: the last bit says whether
 * anything is behind it. */
HLO_LARGE float hlo_sticky_u64(unsigned long long a)
{
  if (a >> 24 == 0) return (float)a;
  unsigned shift = 40 - (unsigned)__builtin_clzll(a);
  unsigned long long kept = a >> shift | ((a & ((1ull << shift) - 1)) != 0);
  return ldexpf((float)(unsigned)kept, (int)shift);
}
HLO float hlo_sticky_i64(long long a)
{
  return a < 0 ? -hlo_sticky_u64(0 - (unsigned long long)a) : hlo_sticky_u64((unsigned long long)a);
}
HLO_LARGE float hlo_sticky_f64(double a)
{
  float f = (float)a;
  if ((double)f == a || f != f) return f;
  uint32_t bits = hlo_bits_f32(f);
  if (isinf(f)) return f;
  if (bits & 1) return f;
  /* An even neighbour: the odd one is on the other side of a. */
  bool up = fabs((double)f) < fabs(a);
  return hlo_from_bits_f32(up ? bits + 1 : bits - 1);
}

#define HLO_FROM_INTEGER(T, C, U, B, sticky)                                                       \
  HLO bool hlo_convert_##T##_i1(C a)                                                               \
  {                                                                                                \
    return a != 0;                                                                                 \
  }                                                                                                \
  HLO int8_t hlo_convert_##T##_i8(C a)                                                             \
  {                                                                                                \
    return (int8_t)a;                                                                              \
  }                                                                                                \
  HLO int16_t hlo_convert_##T##_i16(C a)                                                           \
  {                                                                                                \
    return (int16_t)a;                                                                             \
  }                                                                                                \
  HLO int hlo_convert_##T##_i32(C a)                                                               \
  {                                                                                                \
    return (int)a;                                                                                 \
  }                                                                                                \
  HLO long long hlo_convert_##T##_i64(C a)                                                         \
  {                                                                                                \
    return (long long)a;                                                                           \
  }                                                                                                \
  HLO uint8_t hlo_convert_##T##_u8(C a)                                                            \
  {                                                                                                \
    return (uint8_t)a;                                                                             \
  }                                                                                                \
  HLO uint16_t hlo_convert_##T##_u16(C a)                                                          \
  {                                                                                                \
    return (uint16_t)a;                                                                            \
  }                                                                                                \
  HLO unsigned hlo_convert_##T##_u32(C a)                                                          \
  {                                                                                                \
    return (unsigned)a;                                                                            \
  }                                                                                                \
  HLO unsigned long long hlo_convert_##T##_u64(C a)                                                \
  {                                                                                                \
    return (unsigned long long)a;                                                                  \
  }                                                                                                \
  HLO float hlo_convert_##T##_f32(C a)                                                             \
  {                                                                                                \
    return (float)a;                                                                               \
  }                                                                                                \
  HLO float hlo_convert_##T##_f16(C a)                                                             \
  {                                                                                                \
    return hlo_round_f16(sticky(a));                                                               \
  }                                                                                                \
  HLO float hlo_convert_##T##_bf16(C a)                                                            \
  {                                                                                                \
    return hlo_round_bf16(sticky(a));                                                              \
  }                                                                                                \
  HLO double hlo_convert_##T##_f64(C a)                                                            \
  {                                                                                                \
    return (double)a;                                                                              \
  }                                                                                                \
  HLO hlo_c64 hlo_convert_##T##_c64(C a)                                                           \
  {                                                                                                \
    return hlo_make_c64((float)a, 0);                                                              \
  }
#define HLO_FROM_SIGNED(T, C, U, B) HLO_FROM_INTEGER(T, C, U, B, hlo_sticky_i64)
#define HLO_FROM_UNSIGNED(T, C, U, B) HLO_FROM_INTEGER(T, C, U, B, hlo_sticky_u64)
HLO_SIGNED(HLO_FROM_SIGNED)
HLO_UNSIGNED(HLO_FROM_UNSIGNED)
HLO_FROM_UNSIGNED(i1, bool, bool, 1)

/* The nearest that the type has; NaN is 0. */
#define HLO_TO_SIGNED(T, C, U, B)                                                                  \
  HLO C hlo_clamp_f32_##T(float a)                                                                 \
  {                                                                                                \
    const U high = (U)((U)1 << (B - 1));                                                           \
    return a != a ? 0 : a >= (float)high ? (C)(high - 1) : a < -(float)high ? (C)high : (C)a;      \
  }                                                                                                \
  HLO C hlo_clamp_f64_##T(double a)                                                                \
  {                                                                                                \
    const U high = (U)((U)1 << (B - 1));                                                           \
    return a != a ? 0 : a >= (double)high ? (C)(high - 1) : a < -(double)high ? (C)high : (C)a;    \
  }
#define HLO_TO_UNSIGNED(T, C, U, B)                                                                \
  HLO C hlo_clamp_f32_##T(float a)                                                                 \
  {                                                                                                \
    const float high = 2.0f * (float)((U)1 << (B - 1));                                            \
    return a >= high ? (C) - 1 : a > 0 ? (C)a : 0;                                                 \
  }                                                                                                \
  HLO C hlo_clamp_f64_##T(double a)                                                                \
  {                                                                                                \
    const double high = 2.0 * (double)((U)1 << (B - 1));                                           \
    return a >= high ? (C) - 1 : a > 0 ? (C)a : 0;                                                 \
  }
HLO_SIGNED(HLO_TO_SIGNED)
HLO_UNSIGNED(HLO_TO_UNSIGNED)

#define HLO_FROM_FLOAT(T, C, as, sticky)                                                           \
  HLO bool hlo_convert_##T##_i1(C a)                                                               \
  {                                                                                                \
    return a != 0;                                                                                 \
  }                                                                                                \
  HLO int8_t hlo_convert_##T##_i8(C a)                                                             \
  {                                                                                                \
    return hlo_clamp_##as##_i8(a);                                                                 \
  }                                                                                                \
  HLO int16_t hlo_convert_##T##_i16(C a)                                                           \
  {                                                                                                \
    return hlo_clamp_##as##_i16(a);                                                                \
  }                                                                                                \
  HLO int hlo_convert_##T##_i32(C a)                                                               \
  {                                                                                                \
    return hlo_clamp_##as##_i32(a);                                                                \
  }                                                                                                \
  HLO long long hlo_convert_##T##_i64(C a)                                                         \
  {                                                                                                \
    return hlo_clamp_##as##_i64(a);                                                                \
  }                                                                                                \
  HLO uint8_t hlo_convert_##T##_u8(C a)                                                            \
  {                                                                                                \
    return hlo_clamp_##as##_u8(a);                                                                 \
  }                                                                                                \
  HLO uint16_t hlo_convert_##T##_u16(C a)                                                          \
  {                                                                                                \
    return hlo_clamp_##as##_u16(a);                                                                \
  }                                                                                                \
  HLO unsigned hlo_convert_##T##_u32(C a)                                                          \
  {                                                                                                \
    return hlo_clamp_##as##_u32(a);                                                                \
  }                                                                                                \
  HLO unsigned long long hlo_convert_##T##_u64(C a)                                                \
  {                                                                                                \
    return hlo_clamp_##as##_u64(a);                                                                \
  }                                                                                                \
  HLO float hlo_convert_##T##_f32(C a)                                                             \
  {                                                                                                \
    return (float)a;                                                                               \
  }                                                                                                \
  HLO float hlo_convert_##T##_f16(C a)                                                             \
  {                                                                                                \
    return hlo_round_f16(sticky(a));                                                               \
  }                                                                                                \
  HLO float hlo_convert_##T##_bf16(C a)                                                            \
  {                                                                                                \
    return hlo_round_bf16(sticky(a));                                                              \
  }                                                                                                \
  HLO double hlo_convert_##T##_f64(C a)                                                            \
  {                                                                                                \
    return (double)a;                                                                              \
  }                                                                                                \
  HLO hlo_c64 hlo_convert_##T##_c64(C a)                                                           \
  {                                                                                                \
    return hlo_make_c64((float)a, 0);                                                              \
  }
HLO_FROM_FLOAT(f32, float, f32, )
HLO_FROM_FLOAT(f16, float, f32, )
HLO_FROM_FLOAT(bf16, float, f32, )
HLO_FROM_FLOAT(f64, double, f64, hlo_sticky_f64)

/* Of complex numbers the real part. */
#define HLO_FROM_COMPLEX(T, C)                                                                     \
  HLO C hlo_convert_c64_##T(hlo_c64 a)                                                             \
  {                                                                                                \
    return hlo_convert_f32_##T(a.re);                                                              \
  }
HLO_FROM_COMPLEX(i1, bool)
HLO_FROM_COMPLEX(i8, int8_t)
HLO_FROM_COMPLEX(i16, int16_t)
HLO_FROM_COMPLEX(i32, int)
HLO_FROM_COMPLEX(i64, long long)
HLO_FROM_COMPLEX(u8, uint8_t)
HLO_FROM_COMPLEX(u16, uint16_t)
HLO_FROM_COMPLEX(u32, unsigned)
HLO_FROM_COMPLEX(u64, unsigned long long)
HLO_FROM_COMPLEX(f32, float)
HLO_FROM_COMPLEX(f16, float)
HLO_FROM_COMPLEX(bf16, float)
HLO_FROM_COMPLEX(f64, double)
HLO hlo_c64 hlo_convert_c64_c64(hlo_c64 a)
{
  return a;
}

#endif
