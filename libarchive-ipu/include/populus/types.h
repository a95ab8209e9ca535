/* Element types of tensors and vertex fields: one table for every part of Populus. */
#ifndef POPULUS_TYPES_H
#define POPULUS_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(enumerator, name in reports and messages, bytes, alignment on the tile, C type of the codelet).
 * Names are those that the documented tensor map prints ("float", "unsigned int", …). */
#define POP_TYPES(X)                                                                               \
  X(POP_BOOL, "bool", 1, 1, "bool")                                                                \
  X(POP_CHAR, "char", 1, 1, "char")                                                                \
  X(POP_SIGNED_CHAR, "signed char", 1, 1, "signed char")                                           \
  X(POP_UNSIGNED_CHAR, "unsigned char", 1, 1, "unsigned char")                                     \
  X(POP_SHORT, "short", 2, 2, "short")                                                             \
  X(POP_UNSIGNED_SHORT, "unsigned short", 2, 2, "unsigned short")                                  \
  X(POP_INT, "int", 4, 4, "int")                                                                   \
  X(POP_UNSIGNED_INT, "unsigned int", 4, 4, "unsigned int")                                        \
  X(POP_LONGLONG, "long long", 8, 8, "long long")                                                  \
  X(POP_UNSIGNED_LONGLONG, "unsigned long long", 8, 8, "unsigned long long")                       \
  X(POP_HALF, "half", 2, 2, "_Float16")                                                            \
  X(POP_FLOAT, "float", 4, 4, "float")                                                             \
  X(POP_QUARTER, "quarter", 1, 1, "quarter")

typedef enum pop_type {
#define POP_TYPE_ENUMERATOR(id, name, bytes, align, ctype) id,
  POP_TYPES(POP_TYPE_ENUMERATOR)
#undef POP_TYPE_ENUMERATOR
      POP_TYPE_COUNT
} pop_type;

const char *pop_type_name(pop_type type); /* "float"; "?" if out of range */
uint32_t pop_type_bytes(pop_type type);   /* bytes of one element; 0 if out of range */
uint32_t pop_type_align(pop_type type);   /* alignment on the tile in bytes; 0 likewise */
/* By the exact name. False if there is no such type; then *type is unchanged. */
bool pop_type_from_name(const char *name, pop_type *type);

/* char is signed on the tile; bool counts as neither. */
bool pop_type_is_integer(pop_type type);
bool pop_type_is_signed_integer(pop_type type);

/* IEEE binary16 <-> binary32 and binary64. To float is exact. To half rounds to nearest, ties to
 * even; a number that is too large becomes infinity, and NaN stays NaN. (A double that is converted
 * to float first is rounded twice.) Hosts without a half type use these to fill and to read half
 * tensors. */
uint16_t pop_half_from_float(float value);
uint16_t pop_half_from_double(double value);
float pop_half_to_float(uint16_t half);

/* Quarters: 8 bits, with a format and a scale. Bit 7 of `metadata` is set for f143 (4 bits of
 * exponent, 3 of fraction) and clear for f152. Bit 6 is ignored. Bits 0-5 are the scale, signed:
 * the value of a quarter is its number times 2 to the scale.
 *
 * A float is rounded to nearest, ties to even. There are no infinities and no negative zero: 0x80
 * is not a number. A number that is too large, or infinite, becomes not a number. If `nanoo` ("not
 * a number on overflow") is false, it becomes the largest number of its sign. The tables are those
 * of "8-bit Numerical Formats for Deep Neural Networks" (Noune et al., 2022). */
uint8_t pop_quarter_from_float(float value, uint8_t metadata, bool nanoo);
float pop_quarter_to_float(uint8_t quarter, uint8_t metadata);
#define POP_QUARTER_USUAL 0x80 /* f143 with scale 0: the default of quarters */

#ifdef __cplusplus
}
#endif
#endif
