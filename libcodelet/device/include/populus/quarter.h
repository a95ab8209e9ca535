/* The 8-bit floating-point type of codelets: a byte whose value depends on a format and a scale.
 * libcodelet/device/include/poplar/QuarterFloat.hpp computes with it. */
#ifndef POPULUS_QUARTER_H
#define POPULUS_QUARTER_H

typedef struct quarter {
  unsigned char value;
} quarter;

/* f152: 5 bits of exponent, 2 of fraction; f143: 4 and 3. The value of a quarter is its number
 * times 2^scale, -32 <= scale <= 31. */
typedef struct quarter_metadata {
  enum format { f152, f143 } fmt;
  signed char scale;
} quarter_metadata;

#endif
