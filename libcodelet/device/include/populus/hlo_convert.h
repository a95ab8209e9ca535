/* Conversions of one element of each type to each other type: hlo_convert_<from>_<to> (hlo.h). */
#ifndef POPULUS_HLO_CONVERT_H
#define POPULUS_HLO_CONVERT_H

#include <populus/hlo_values.h>

/* A large integer or a double as a float that rounds to f16 or bf16 as the original does. The last
 * bit is set if anything was lost (sticky bit). Otherwise the number would be rounded twice. */
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

#define HLO_CONVERT(from, C, to, R, value)                                                         \
  HLO R hlo_convert_##from##_##to(C a)                                                             \
  {                                                                                                \
    return value;                                                                                  \
  }

/* To what is no integer; to truth values. */
#define HLO_TO_REALS(T, C, sticky)                                                                 \
  HLO_CONVERT(T, C, i1, bool, a != 0)                                                              \
  HLO_CONVERT(T, C, f32, float, (float)a)                                                          \
  HLO_CONVERT(T, C, f16, float, hlo_round_f16(sticky(a)))                                          \
  HLO_CONVERT(T, C, bf16, float, hlo_round_bf16(sticky(a)))                                        \
  HLO_CONVERT(T, C, f64, double, (double)a)                                                        \
  HLO_CONVERT(T, C, c64, hlo_c64, hlo_make_c64((float)a, 0))

#define HLO_FROM_INTEGER(T, C, U, B, sticky)                                                       \
  HLO_TO_REALS(T, C, sticky)                                                                       \
  HLO_CONVERT(T, C, i8, int8_t, (int8_t)a)                                                         \
  HLO_CONVERT(T, C, i16, int16_t, (int16_t)a)                                                      \
  HLO_CONVERT(T, C, i32, int, (int)a)                                                              \
  HLO_CONVERT(T, C, i64, long long, (long long)a)                                                  \
  HLO_CONVERT(T, C, u8, uint8_t, (uint8_t)a)                                                       \
  HLO_CONVERT(T, C, u16, uint16_t, (uint16_t)a)                                                    \
  HLO_CONVERT(T, C, u32, unsigned, (unsigned)a)                                                    \
  HLO_CONVERT(T, C, u64, unsigned long long, (unsigned long long)a)
#define HLO_FROM_SIGNED(T, C, U, B) HLO_FROM_INTEGER(T, C, U, B, hlo_sticky_i64)
#define HLO_FROM_UNSIGNED(T, C, U, B) HLO_FROM_INTEGER(T, C, U, B, hlo_sticky_u64)
HLO_SIGNED(HLO_FROM_SIGNED)
HLO_UNSIGNED(HLO_FROM_UNSIGNED)
HLO_FROM_UNSIGNED(i1, bool, bool, 1)

/* Rounds towards zero. A number out of range becomes the nearest that the type has, a NaN 0. */
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
  HLO_TO_REALS(T, C, sticky)                                                                       \
  HLO_CONVERT(T, C, i8, int8_t, hlo_clamp_##as##_i8(a))                                            \
  HLO_CONVERT(T, C, i16, int16_t, hlo_clamp_##as##_i16(a))                                         \
  HLO_CONVERT(T, C, i32, int, hlo_clamp_##as##_i32(a))                                             \
  HLO_CONVERT(T, C, i64, long long, hlo_clamp_##as##_i64(a))                                       \
  HLO_CONVERT(T, C, u8, uint8_t, hlo_clamp_##as##_u8(a))                                           \
  HLO_CONVERT(T, C, u16, uint16_t, hlo_clamp_##as##_u16(a))                                        \
  HLO_CONVERT(T, C, u32, unsigned, hlo_clamp_##as##_u32(a))                                        \
  HLO_CONVERT(T, C, u64, unsigned long long, hlo_clamp_##as##_u64(a))
HLO_FROM_FLOAT(f32, float, f32, )
HLO_FROM_FLOAT(f16, float, f32, )
HLO_FROM_FLOAT(bf16, float, f32, )
HLO_FROM_FLOAT(f64, double, f64, hlo_sticky_f64)

/* A complex number gives its real part. */
HLO_CONVERT(c64, hlo_c64, i1, bool, hlo_convert_f32_i1(a.re))
HLO_CONVERT(c64, hlo_c64, i8, int8_t, hlo_convert_f32_i8(a.re))
HLO_CONVERT(c64, hlo_c64, i16, int16_t, hlo_convert_f32_i16(a.re))
HLO_CONVERT(c64, hlo_c64, i32, int, hlo_convert_f32_i32(a.re))
HLO_CONVERT(c64, hlo_c64, i64, long long, hlo_convert_f32_i64(a.re))
HLO_CONVERT(c64, hlo_c64, u8, uint8_t, hlo_convert_f32_u8(a.re))
HLO_CONVERT(c64, hlo_c64, u16, uint16_t, hlo_convert_f32_u16(a.re))
HLO_CONVERT(c64, hlo_c64, u32, unsigned, hlo_convert_f32_u32(a.re))
HLO_CONVERT(c64, hlo_c64, u64, unsigned long long, hlo_convert_f32_u64(a.re))
HLO_CONVERT(c64, hlo_c64, f32, float, hlo_convert_f32_f32(a.re))
HLO_CONVERT(c64, hlo_c64, f16, float, hlo_convert_f32_f16(a.re))
HLO_CONVERT(c64, hlo_c64, bf16, float, hlo_convert_f32_bf16(a.re))
HLO_CONVERT(c64, hlo_c64, f64, double, hlo_convert_f32_f64(a.re))
HLO_CONVERT(c64, hlo_c64, c64, hlo_c64, a)

#endif
