/* Operations on one complex number (hlo.h). */
#ifndef POPULUS_HLO_COMPLEX_H
#define POPULUS_HLO_COMPLEX_H

#include <populus/hlo_float.h>

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
  /* Divides by the larger part first, so that squares do not overflow. */
  if (fabsf(b.re) >= fabsf(b.im)) {
    float r = b.re == 0 && b.im == 0 ? 0 : b.im / b.re, d = b.re + b.im * r;
    return hlo_make_c64((a.re + a.im * r) / d, (a.im - a.re * r) / d);
  }
  float r = b.re / b.im, d = b.re * r + b.im;
  return hlo_make_c64((a.re * r + a.im) / d, (a.im * r - a.re) / d);
}
/* Cosine and sine of an angle in turns, at least 0. They are exact at quarters of a turn, where
 * those of 2 pi times the turns would not be. */
HLO hlo_c64 hlo_turn_c64(float turns)
{
  turns -= floorf(turns);
  int quarter = (int)(4 * turns + .5f);
  float angle = 6.283185307179586f * (turns - (float)quarter * .25f), c = cosf(angle),
        s = sinf(angle);
  switch (quarter & 3) {
  case 0:
    return hlo_make_c64(c, s);
  case 1:
    return hlo_make_c64(-s, c);
  case 2:
    return hlo_make_c64(-c, -s);
  default:
    return hlo_make_c64(s, -c);
  }
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
/* The size overflows although both parts are finite. */
HLO bool hlo_is_large_c64(hlo_c64 a, float size)
{
  return isinf(size) && hlo_is_finite_c64(a);
}
HLO_LARGE hlo_c64 hlo_sign_c64(hlo_c64 a)
{
  float size = hlo_abs_c64(a);
  if (hlo_is_large_c64(a, size)) {
    a = hlo_make_c64(a.re / 2, a.im / 2);
    size = hlo_abs_c64(a);
  }
  return size == 0 ? hlo_make_c64(0, 0) : hlo_make_c64(a.re / size, a.im / size);
}
/* x e^y / 2, also if e^y alone overflows. 0 times any of these is 0. */
HLO_LARGE float hlo_half_exp(float x, float y)
{
  return x == 0 ? x : (float)(0.5 * (double)x * exp(y > 300 ? 300.0 : (double)y));
}
HLO_LARGE hlo_c64 hlo_exponential_c64(hlo_c64 a)
{
  float e = hlo_expf(a.re);
  if (a.im == 0) return hlo_make_c64(e, a.im);
  if (a.re == -INFINITY && !isfinite(a.im)) return hlo_make_c64(0, 0);
  if (a.re > 87)
    return hlo_make_c64(2 * hlo_half_exp(cosf(a.im), a.re), 2 * hlo_half_exp(sinf(a.im), a.re));
  return hlo_make_c64(e * cosf(a.im), e * sinf(a.im));
}
HLO_LARGE hlo_c64 hlo_exponential_minus_one_c64(hlo_c64 a)
{
  if (a.re > 80) return hlo_exponential_c64(a);
  float s = sinf(a.im / 2), e = expm1f(a.re);
  return hlo_make_c64(e * cosf(a.im) - 2 * s * s, (e + 1) * sinf(a.im));
}
HLO float hlo_log_size_c64(hlo_c64 a, float size)
{
  if (!hlo_is_large_c64(a, size)) return logf(size);
  return logf(hypotf(a.re / 2, a.im / 2)) + 0.69314718055994530942f;
}
HLO_LARGE hlo_c64 hlo_log_c64(hlo_c64 a)
{
  float size = hlo_abs_c64(a);
  /* Near size 1 it is the logarithm of 1 + (size^2 - 1). */
  float re = size > 0.5f && size < 2 ? 0.5f * log1pf((a.re - 1) * (a.re + 1) + a.im * a.im)
                                     : hlo_log_size_c64(a, size);
  return hlo_make_c64(re, atan2f(a.im, a.re));
}
HLO_LARGE hlo_c64 hlo_log_plus_one_c64(hlo_c64 a)
{
  hlo_c64 sum = hlo_make_c64(a.re + 1, a.im);
  float size = hlo_abs_c64(sum);
  float re = size > 0.5f && size < 2 ? 0.5f * log1pf(a.re * (a.re + 2) + a.im * a.im)
                                     : hlo_log_size_c64(sum, size);
  return hlo_make_c64(re, atan2f(a.im, a.re + 1));
}
/* Scaled first: the size of a large number would overflow, and half that of a tiny one be 0. */
HLO_LARGE hlo_c64 hlo_sqrt_c64(hlo_c64 a)
{
  if (a.re == 0 && a.im == 0) return hlo_make_c64(0, a.im);
  if (isinf(a.im)) return hlo_make_c64(INFINITY, a.im);
  float larger = fmaxf(fabsf(a.re), fabsf(a.im)), scale = 1, root = 1; /* root of 1 / scale */
  if (larger > 0x1p125f) scale = 0x1p-2f, root = 0x1p1f;
  if (larger < 0x1p-100f) scale = 0x1p48f, root = 0x1p-24f;
  a = hlo_make_c64(a.re * scale, a.im * scale);
  float t = sqrtf(0.5f * hlo_abs_c64(a) + 0.5f * fabsf(a.re)), u = root * (fabsf(a.im) / (2 * t));
  t *= root;
  return a.re >= 0 ? hlo_make_c64(t, copysignf(u, a.im)) : hlo_make_c64(u, copysignf(t, a.im));
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
/* Far from the real axis both hyperbolic functions are half an exponential. */
HLO_LARGE hlo_c64 hlo_sine_c64(hlo_c64 a)
{
  float y = fabsf(a.im);
  if (y > 80)
    return hlo_make_c64(hlo_half_exp(sinf(a.re), y),
                        copysignf(1, a.im) * hlo_half_exp(cosf(a.re), y));
  return hlo_make_c64(sinf(a.re) * coshf(a.im), cosf(a.re) * sinhf(a.im));
}
HLO_LARGE hlo_c64 hlo_cosine_c64(hlo_c64 a)
{
  float y = fabsf(a.im);
  if (y > 80)
    return hlo_make_c64(hlo_half_exp(cosf(a.re), y),
                        -copysignf(1, a.im) * hlo_half_exp(sinf(a.re), y));
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
  if (a.re < -40) return hlo_exponential_c64(a); /* divided by almost 1 */
  hlo_c64 e = hlo_exponential_c64(hlo_negate_c64(a));
  return hlo_divide_c64(hlo_make_c64(1, 0), hlo_make_c64(1 + e.re, e.im));
}
HLO_LARGE hlo_c64 hlo_power_c64(hlo_c64 a, hlo_c64 b)
{
  if (a.re == 0 && a.im == 0)
    return b.re == 0 && b.im == 0 ? hlo_make_c64(1, 0) : hlo_make_c64(0, 0);
  return hlo_exponential_c64(hlo_multiply_c64(b, hlo_log_c64(a)));
}

#endif
