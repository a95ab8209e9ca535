/* Element types, and the conversions between half and float or double.
 *
 * IEEE 754 binary16: 1 sign bit, 5 exponent bits (bias 15), 10 fraction bits; binary32: 1, 8 (bias
 * 127), 23. Done on the bits, because not every host compiler has a half type. */
#include <populus/types.h>

#include <string.h>

static const struct {
  const char *name;
  uint32_t bytes, align;
} types[POP_TYPE_COUNT] = {
#define POP_TYPE_ROW(id, name, bytes, align, ctype) [id] = {name, bytes, align},
    POP_TYPES(POP_TYPE_ROW)
#undef POP_TYPE_ROW
};

const char *pop_type_name(pop_type type)
{
  return (unsigned)type < POP_TYPE_COUNT ? types[type].name : "?";
}

uint32_t pop_type_bytes(pop_type type)
{
  return (unsigned)type < POP_TYPE_COUNT ? types[type].bytes : 0;
}

uint32_t pop_type_align(pop_type type)
{
  return (unsigned)type < POP_TYPE_COUNT ? types[type].align : 0;
}

bool pop_type_from_name(const char *name, pop_type *type)
{
  for (unsigned i = 0; i < POP_TYPE_COUNT; i++) {
    if (strcmp(types[i].name, name) != 0) continue;
    *type = (pop_type)i;
    return true;
  }
  return false;
}

bool pop_type_is_signed_integer(pop_type type)
{
  return type == POP_CHAR || type == POP_SIGNED_CHAR || type == POP_SHORT || type == POP_INT ||
         type == POP_LONGLONG;
}

bool pop_type_is_integer(pop_type type)
{
  return pop_type_is_signed_integer(type) || type == POP_UNSIGNED_CHAR ||
         type == POP_UNSIGNED_SHORT || type == POP_UNSIGNED_INT || type == POP_UNSIGNED_LONGLONG;
}

/* value >> shift, rounded to nearest, ties to even. 1 <= shift <= 31. */
static uint32_t shift_right_rounding(uint32_t value, unsigned shift)
{
  uint32_t kept = value >> shift;
  uint32_t lost = value & ((UINT32_C(1) << shift) - 1);
  uint32_t tie = UINT32_C(1) << (shift - 1);
  return kept + (lost > tie || (lost == tie && (kept & 1)));
}

uint16_t pop_half_from_float(float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
  uint32_t exponent = bits >> 23 & 0xff, fraction = bits & 0x7fffff;

  if (exponent == 0xff) { /* infinity, or NaN: made quiet, the top of its payload kept */
    if (!fraction) return sign | 0x7c00;
    return (uint16_t)(sign | 0x7e00 | fraction >> 13);
  }
  if (exponent >= 127 + 16) return sign | 0x7c00; /* 65536 and more */
  if (exponent >= 127 - 14) {
    /* Normal half. A carry out of the fraction goes into the exponent, up to infinity. */
    uint32_t scaled = (exponent - (127 - 15)) << 23 | fraction;
    return (uint16_t)(sign | shift_right_rounding(scaled, 13));
  }
  if (exponent < 127 - 25) return sign; /* below half of the smallest subnormal half */
  return (uint16_t)(sign | shift_right_rounding(fraction | 0x800000, 126 - exponent));
}

/* Rounds to odd, so that rounding once more, to half, gives what rounding the double would: if the
 * nearest float is not exact, it is one of the two around the double, whose bits are neighbours. */
static float round_to_odd(double value)
{
  float nearest = (float)value;
  uint32_t bits;
  memcpy(&bits, &nearest, sizeof bits);
  const double rounded = nearest;
  if (rounded == value || value != value || bits & 1) return nearest;
  bits += (value < 0 ? value < rounded : value > rounded) ? 1 : -1u;
  memcpy(&nearest, &bits, sizeof bits);
  return nearest;
}

uint16_t pop_half_from_double(double value)
{
  return pop_half_from_float(round_to_odd(value));
}

float pop_half_to_float(uint16_t half)
{
  uint32_t sign = (uint32_t)(half & 0x8000) << 16;
  uint32_t exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
  uint32_t bits;
  if (exponent == 0x1f) {
    bits = sign | 0x7f800000 | fraction << 13;
  } else if (exponent) {
    bits = sign | (exponent + (127 - 15)) << 23 | fraction << 13;
  } else if (fraction) { /* subnormal half, normal float: fraction * 2^-24 */
    unsigned shift = (unsigned)__builtin_clz(fraction) - 21; /* brings the top bit to bit 10 */
    bits = sign | (127 - 14 - shift) << 23 | (fraction << shift & 0x3ff) << 13;
  } else {
    bits = sign;
  }
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
