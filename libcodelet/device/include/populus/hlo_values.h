/* What StableHLO's element types are in codelets that runtime/models/ generates.
 *
 * f16 and bf16 are floats that have been rounded to the type, so that each operation rounds once.
 * complex<f32> is hlo_c64, i1 is bool. hlo_load_<type> and hlo_store_<type> convert between these
 * and what tensors hold: bf16, f64 and complex<f32> as their bits. */
#ifndef POPULUS_HLO_VALUES_H
#define POPULUS_HLO_VALUES_H

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
/* Rounds to the nearest bf16, and of two to the one whose last bit is 0. A NaN stays one; one that
 * was a bf16 keeps its bits. */
HLO unsigned short hlo_bits_bf16(float a)
{
  uint32_t bits = hlo_bits_f32(a);
  if (a != a) return (unsigned short)(bits >> 16 | (bits & 0x7f0000 ? 0 : 0x40));
  return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
HLO float hlo_from_bits_bf16(unsigned short bits)
{
  return hlo_from_bits_f32((uint32_t)bits << 16);
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

/* ---- lists of types ---- */

/* X(type, C type, suffix of <math.h>'s functions) */
#define HLO_FLOATS(X) X(f32, float, f) X(f16, float, f) X(bf16, float, f) X(f64, double, )

/* X(type, C type, unsigned C type, bits) */
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

#endif
