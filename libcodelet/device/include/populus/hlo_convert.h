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

/* A complex number gives its real part. */
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
