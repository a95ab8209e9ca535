/* Operations on one floating-point element (hlo.h). */
#ifndef POPULUS_HLO_FLOAT_H
#define POPULUS_HLO_FLOAT_H

#include <populus/hlo_values.h>

/* e^a as XLA computes it on a CPU, to the bit. Its polynomial does not give the nearest number
 * everywhere. StableHLO's tests compare functions that use it (chlo.sinh) with XLA's results to
 * within .0001, however large these are. So e^a must have XLA's bits. */
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
    (void)a;                                                                                       \
    return 0;                                                                                      \
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

/* An integer for each number, in the numbers' total order: -NaN < -inf < … < -0 < +0 < … < NaN. */
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

/* The next number of the type after a, in the direction of b. b if they are equal. */
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
HLO_NEXT_AFTER(f32, uint32_t, hlo_bits_f32, hlo_from_bits_f32, 0x80000000u)
HLO_NEXT_AFTER(f16, unsigned short, hlo_bits_f16, hlo_from_bits_f16, 0x8000)
HLO_NEXT_AFTER(bf16, unsigned short, hlo_bits_bf16, hlo_from_bits_bf16, 0x8000)
HLO double hlo_next_after_f64(double a, double b)
{
  return nextafter(a, b);
}

/* Rounds to e bits of exponent (at least 1) and m of fraction: to the nearest number, and of two to
 * the one whose last bit is 0. The type itself has E bits of exponent and M of fraction. A number
 * that is too large for the exponent becomes infinite. One that is too small becomes zero, but
 * denormal numbers stay if e is at least E. A NaN becomes infinite if m is 0. */
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
/* A bf16 is a float whose lower half is 0. Rounding to at most 7 bits keeps it 0. */
#define hlo_reduce_precision_bf16(a, e, m) hlo_reduce_precision_f32(a, e, m)

#endif
