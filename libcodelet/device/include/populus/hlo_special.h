/* Functions of chlo (hlo.h). They use the formulas into which StableHLO and XLA expand them, and so
 * have the same errors. */
#ifndef POPULUS_HLO_SPECIAL_H
#define POPULUS_HLO_SPECIAL_H

#include <populus/hlo_float.h>

/* (e^x +- e^-x) / 2. The factor is inside the exponent, so that the exponential overflows only if
 * the result does. */
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
/* log(x + sqrt((x + 1) (x - 1))), or log(2 x) if that would overflow. */
#define HLO_ACOSH(T, C, F)                                                                         \
  HLO_LARGE C hlo_acosh_##T(C a)                                                                   \
  {                                                                                                \
    if (a < -1) return (C)NAN;                                                                     \
    if (a >= (C)(sizeof(C) == 4 ? 1.8446743e19 : 1.3407807929942596e154))                          \
      return hlo_round_##T(log##F(a) + (C)0.69314718055994530942);                                 \
    return hlo_round_##T(log##F(a + sqrt##F((a + 1) * (a - 1))));                                  \
  }
HLO_FLOATS(HLO_ACOSH)

/* The logarithm of the gamma function and its derivative: Lanczos's approximation with g = 7 and
 * nine coefficients, reflected below 1/2. */
#define HLO_GAMMA(C, F)                                                                            \
  HLO_LARGE C hlo_lanczos_sum_##C(C z, C *derivative)                                              \
  {                                                                                                \
    static const C c[8] = {                                                                        \
        (C)676.520368121885098567009190444019, (C) - 1259.13921672240287047156078755283,           \
        (C)771.3234287776530788486528258894,   (C) - 176.61502916214059906584551354,               \
        (C)12.507343278686904814458936853,     (C) - 0.13857109526572011689554707,                 \
        (C)9.984369578019570859563e-6,         (C)1.50563273514931155834e-7};                      \
    C sum = (C)0.99999999999980993227684700473478, d = 0;                                          \
    for (int i = 0; i < 8; ++i) {                                                                  \
      C q = z + (C)(i + 1);                                                                        \
      d -= c[i] / (q * q);                                                                         \
      sum += c[i] / q;                                                                             \
    }                                                                                              \
    *derivative = d;                                                                               \
    return sum;                                                                                    \
  }                                                                                                \
  HLO_LARGE C hlo_lgamma_##C(C x)                                                                  \
  {                                                                                                \
    const C pi = (C)3.14159265358979323846;                                                        \
    if (fabs##F(x) == (C)INFINITY) return (C)INFINITY;                                             \
    bool reflect = x < (C)0.5;                                                                     \
    C z = reflect ? -x : x - 1, unused;                                                            \
    C sum = hlo_lanczos_sum_##C(z, &unused);                                                       \
    C t = (C)7.5 + z, log_t = (C)2.01490302054226466987 + log1p##F(z / (C)7.5);                    \
    C y = (z + (C)0.5 - t / log_t) * log_t + (C)0.91893853320467274178 + log##F(sum);              \
    if (!reflect) return y;                                                                        \
    C a = fabs##F(x), fraction = a - floor##F(a);                                                  \
    C reduced = fraction > (C)0.5 ? 1 - fraction : fraction;                                       \
    C s = log##F(sin##F(pi * reduced));                                                            \
    return s > -(C)INFINITY ? (C)1.14472988584940017414 - s - y : -s;                              \
  }                                                                                                \
  HLO_LARGE C hlo_digamma_##C(C x)                                                                 \
  {                                                                                                \
    const C pi = (C)3.14159265358979323846;                                                        \
    bool reflect = x < (C)0.5;                                                                     \
    C z = reflect ? -x : x - 1, numerator;                                                         \
    C denominator = hlo_lanczos_sum_##C(z, &numerator);                                            \
    C t = (C)7.5 + z, log_t = (C)2.01490302054226466987 + log1p##F(z / (C)7.5);                    \
    C y = log_t + numerator / denominator - 7 / t;                                                 \
    if (x <= 0 && x == floor##F(x)) return (C)NAN;                                                 \
    if (!reflect) return y;                                                                        \
    C reduced = x + fabs##F(floor##F(x + (C)0.5));                                                 \
    return y - pi * cos##F(pi * reduced) / sin##F(pi * reduced);                                   \
  }
HLO_GAMMA(float, f)
HLO_GAMMA(double, )

/* The inverse of erf: the two polynomials of Giles, "Approximating the erfinv function", for single
 * precision. */
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
/* Half the first coefficient (the last of c), plus a series of Chebyshev polynomials of x / 2, by
 * Clenshaw's recurrence. */
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
/* e^-|x| times the modified Bessel function of order 1: the Chebyshev series of Cephes (i1f.c). */
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
/* Hurwitz's zeta function, by Euler-Maclaurin summation as in Cephes (zeta.c). */
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
/* The derivative of order n of digamma, from zeta. A NaN if n is negative or no integer. */
HLO_LARGE float hlo_polygamma_float(float n, float x)
{
  if (n != floorf(n) || n < 0) return NAN;
  if (n == 0) return hlo_digamma_float(x);
  float sign = fmodf(n, 2) == 1 ? 1 : -1;
  return sign * expf(hlo_lgamma_float(n + 1)) * hlo_zeta_float(n + 1, x);
}
#define HLO_GAMMA_FUNCTIONS(T, C, F)                                                               \
  HLO C hlo_lgamma_##T(C a)                                                                        \
  {                                                                                                \
    return hlo_round_##T(hlo_lgamma_##C(a));                                                       \
  }                                                                                                \
  HLO C hlo_digamma_##T(C a)                                                                       \
  {                                                                                                \
    return hlo_round_##T(hlo_digamma_##C(a));                                                      \
  }
HLO_FLOATS(HLO_GAMMA_FUNCTIONS)
#define HLO_SPECIAL_FUNCTIONS(T, C)                                                                \
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

#endif
