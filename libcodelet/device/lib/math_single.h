/*
 * Building blocks of the single-precision functions of <math.h> (math_pow.c, math_trig.c,
 * math_exp.c) and of conversions (int64.c). The functions replace the C library's. Some of those
 * compute in double precision, which a tile does not have, and others branch through many cases.
 * Functions for which tiles have instructions are in functions.c. powf cannot use these, as it
 * needs its logarithm to some 40 bits.
 *
 * Everything here is fused multiply-adds of floats, and hardly a branch depends on the argument. So
 * the usual path is straight-line code, which is short on a tile, and the translator can vectorise
 * it. Results are the same on every host. With exceptions on (populus/registers.h), a function
 * raises only what its result implies, for instance no division by zero on the way.
 * tests/unit/libcodelet/device_math.c has the largest errors in units in the last place.
 *
 * Polynomials: minimax, by Remez' exchange algorithm in 200 bits (J.-M. Muller, "Elementary
 * Functions: Algorithms and Implementation", 3rd edition, chapter 3). Reductions: Cody and Waite,
 * "Software Manual for the Elementary Functions", 1980, with fused multiply-add; Payne and Hanek
 * for large angles (Muller, chapter 11).
 *
 * The files are compiled as freestanding code, so only calls of __builtin_… become instructions.
 */
#ifndef POPULUS_DEVICE_MATH_SINGLE_H
#define POPULUS_DEVICE_MATH_SINGLE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static inline uint32_t bits_of(float x)
{
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float float_of(uint32_t bits)
{
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

/* The mask, hidden from the compiler. Otherwise the compiler turns a choice between computed values
 * into a branch, which processors mispredict. */
static inline uint32_t straight(uint32_t mask)
{
  __asm__("" : "+r"(mask));
  return mask;
}

/* Bits of `a` where the mask has ones. */
static inline uint32_t either(uint32_t mask, uint32_t a, uint32_t b)
{
  return (a & mask) | (b & ~mask);
}

/* `a` if the condition holds, without a branch. */
static inline float choose(bool condition, float a, float b)
{
  return float_of(either(straight(0 - (uint32_t)condition), bits_of(a), bits_of(b)));
}

static inline float multiply_add(float a, float b, float c)
{
  return __builtin_fmaf(a, b, c);
}

static inline float polynomial(const float *coefficients, int degree, float x)
{
  float sum = coefficients[degree];
  for (int i = degree - 1; i >= 0; i--) sum = multiply_add(sum, x, coefficients[i]);
  return sum;
}

#define POLYNOMIAL(coefficients, x)                                                                \
  polynomial(coefficients, (int)(sizeof(coefficients) / sizeof *(coefficients)) - 1, x)

/* x + this - this is x rounded to an integer, and the low bits of x + this are that
 * integer. Up to 2^22. */
static const float round_term = 0x1.8p23f;

static inline int integer_of(float x_and_round_term)
{
  return (int)(bits_of(x_and_round_term) - 0x4b400000);
}

/* -126 to 127 */
static inline float power_of_two(int n)
{
  return float_of((uint32_t)(n + 127) << 23);
}

static inline float limit(float x, float least, float most)
{
  return __builtin_fminf(__builtin_fmaxf(x, least), most);
}

/* A number as the sum of two. */
typedef struct pair {
  float high, low;
} pair;

static const float ln2_high = 0x1.62e43p-1f, ln2_low = -0x1.05c61p-29f;

/* (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2 */
static inline float exp_rest(float r)
{
  static const float c[] = {0.5f,           0x1.555556p-3f,  0x1.55548p-5f,
                            0x1.11107ap-7f, 0x1.6d98d6p-10f, 0x1.a1bd58p-13f};
  return POLYNOMIAL(c, r);
}

/* e^r, with the rounding error of 1 + r corrected. */
static inline float exp_near(float r)
{
  float sum = 1 + r;
  return sum + multiply_add(exp_rest(r), r * r, r - (sum - 1));
}

/* x = n ln 2 + r */
static inline float reduce_exponent(float x, int *n)
{
  float sum = multiply_add(x, 0x1.715476p+0f, round_term), quotient = sum - round_term;
  *n = integer_of(sum);
  return multiply_add(quotient, -ln2_low, multiply_add(quotient, -ln2_high, x));
}

/* x * 2^n, rounded once if the result is not a normal number; n from -252 to 254. */
static inline float scale(float x, int n)
{
  int half = n >> 1;
  return x * power_of_two(half) * power_of_two(n - half);
}

#endif
