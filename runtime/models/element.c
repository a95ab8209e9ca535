/* Conversion of elements between bytes and numbers. */
#include "models/module.h"

#include <math.h>
#include <string.h>

size_t element_bytes(element_type e)
{
  return pop_type_bytes(element_infos[e].type);
}

bool element_is_float(element_type e)
{
  return e == ELEMENT_F16 || e == ELEMENT_BF16 || e == ELEMENT_F32 || e == ELEMENT_F64;
}

bool element_is_signed(element_type e)
{
  return e >= ELEMENT_I8 && e <= ELEMENT_I64;
}

bool element_is_integer(element_type e)
{
  return e >= ELEMENT_I8 && e <= ELEMENT_U64;
}

unsigned element_bits(element_type e)
{
  return e == ELEMENT_I1 ? 1 : 8 * (unsigned)element_bytes(e);
}

/* ---- 16 bits: rounding from double at once, so that nothing is rounded twice ---- */

/* Rounds to a format with these numbers of bits, ties to even. */
static uint16_t round_to_16(double value, unsigned exponent_bits, unsigned fraction_bits)
{
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  uint16_t infinity = (uint16_t)(((1u << exponent_bits) - 1) << fraction_bits);
  if (isnan(value)) return sign | infinity | (uint16_t)(1u << (fraction_bits - 1));
  value = fabs(value);
  if (isinf(value)) return sign | infinity;
  if (value == 0) return sign;
  int bias = (1 << (exponent_bits - 1)) - 1, exponent;
  frexp(value, &exponent); /* value = m * 2^exponent, m in [.5, 1) */
  int lowest = 1 - bias;
  int at = exponent - 1 < lowest ? lowest : exponent - 1;
  /* An integer of at most fraction_bits + 1 bits. If rounding carries out of the fraction, the sum
   * below carries into the exponent. */
  double scaled = nearbyint(ldexp(value, (int)fraction_bits - at));
  uint32_t bits = (uint32_t)scaled;
  bits += (uint32_t)(at - lowest) << fraction_bits;
  return sign | (bits >= infinity ? infinity : (uint16_t)bits);
}

uint16_t bf16_from_double(double value)
{
  return round_to_16(value, 8, 7);
}

/* ---- all types ---- */

double element_to_double(element_type e, const void *bytes)
{
  uint16_t u16;
  uint32_t u32;
  float f;
  double d;
  switch (e) {
  case ELEMENT_F16:
    memcpy(&u16, bytes, 2);
    return (double)pop_half_to_float(u16);
  case ELEMENT_BF16:
    memcpy(&u16, bytes, 2);
    u32 = (uint32_t)u16 << 16;
    memcpy(&f, &u32, 4);
    return (double)f;
  case ELEMENT_F32:
  case ELEMENT_C64:
    memcpy(&f, bytes, 4);
    return (double)f;
  case ELEMENT_F64:
    memcpy(&d, bytes, 8);
    return d;
  case ELEMENT_U64:
    return (double)(uint64_t)element_to_int(e, bytes);
  default:
    return (double)element_to_int(e, bytes);
  }
}

void element_from_double(element_type e, double value, void *bytes)
{
  uint16_t u16;
  float f[2] = {(float)value, 0};
  switch (e) {
  case ELEMENT_F16:
    u16 = round_to_16(value, 5, 10);
    memcpy(bytes, &u16, 2);
    return;
  case ELEMENT_BF16:
    u16 = round_to_16(value, 8, 7);
    memcpy(bytes, &u16, 2);
    return;
  case ELEMENT_F32:
    memcpy(bytes, f, 4);
    return;
  case ELEMENT_C64:
    memcpy(bytes, f, 8);
    return;
  case ELEMENT_F64:
    memcpy(bytes, &value, 8);
    return;
  default:
    element_from_int(e, value >= 0 ? (uint64_t)value : (uint64_t)(int64_t)value, bytes);
  }
}

int64_t element_to_int(element_type e, const void *bytes)
{
  uint64_t raw = 0;
  size_t size = element_bytes(e);
  memcpy(&raw, bytes, size); /* little endian, as tiles are */
  if (element_is_signed(e) && size < 8 && raw >> (8 * size - 1)) raw |= ~UINT64_C(0) << (8 * size);
  if (element_is_float(e) || e == ELEMENT_C64) return (int64_t)element_to_double(e, bytes);
  return (int64_t)raw;
}

void element_from_int(element_type e, uint64_t value, void *bytes)
{
  if (e == ELEMENT_I1) value = value != 0;
  memcpy(bytes, &value, element_bytes(e));
}
