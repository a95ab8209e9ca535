/* Quarters: see populus/types.h. */
#include <populus/types.h>

#include <math.h>

enum { NOT_A_NUMBER = 0x80, LARGEST = 0x7f, IS_F143 = 0x80 };

typedef struct quarter_format {
  int fraction_bits, bias;
} quarter_format;

static quarter_format format_of(uint8_t metadata)
{
  return metadata & IS_F143 ? (quarter_format){3, 8} : (quarter_format){2, 16};
}

static int scale_of(uint8_t metadata)
{
  return (metadata & 0x3f) - ((metadata & 0x20) << 1);
}

/* Rounds to nearest, ties to even; 0 <= value < 1000. */
static int round_to_even(double value)
{
  int below = (int)value;
  double rest = value - below;
  return below + (rest > 0.5 || (rest == 0.5 && below % 2 == 1));
}

uint8_t pop_quarter_from_float(float value, uint8_t metadata, bool nanoo)
{
  if (isnan(value)) return NOT_A_NUMBER;
  quarter_format format = format_of(metadata);
  uint8_t sign = signbit(value) ? 0x80 : 0;
  uint8_t overflow = nanoo ? NOT_A_NUMBER : (uint8_t)(sign | LARGEST);
  if (isinf(value)) return overflow;
  double magnitude = ldexp(fabs((double)value), -scale_of(metadata));
  int exponent = 1 - format.bias, above; /* of denormals: a fixed step */
  (void)frexp(magnitude, &above);
  if (magnitude > 0 && above - 1 > exponent) exponent = above - 1;
  if (exponent > format.bias) return overflow;
  /* Steps of the fraction's last bit: at most twice as many as a fraction has. */
  int steps = round_to_even(ldexp(magnitude, format.fraction_bits - exponent));
  int code = steps + (exponent + format.bias - 1) * (1 << format.fraction_bits);
  if (code > LARGEST) return overflow;
  return code > 0 ? (uint8_t)(sign | (uint8_t)code) : 0;
}

float pop_quarter_to_float(uint8_t quarter, uint8_t metadata)
{
  quarter_format format = format_of(metadata);
  if (quarter == NOT_A_NUMBER) return NAN;
  int exponent = (quarter & 0x7f) >> format.fraction_bits;
  int fraction = quarter & ((1 << format.fraction_bits) - 1);
  if (exponent > 0)
    fraction += 1 << format.fraction_bits;
  else
    exponent = 1;
  int power = exponent - format.bias - format.fraction_bits + scale_of(metadata);
  float magnitude = ldexpf((float)fraction, power);
  return quarter & 0x80 ? -magnitude : magnitude;
}
