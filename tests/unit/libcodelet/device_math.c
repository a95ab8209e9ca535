/* The device library's functions of <math.h> (libcodelet/device/lib/math_single.h) against the
 * host's in double precision, for all exponents and signs and for special numbers. The basic
 * operations are the same on the host. tests/unit/isa/functions.c tests the functions that are
 * instructions. */
#include <criterion/criterion.h>

#include "support/random.h"
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#define sinf tile_sinf
#define cosf tile_cosf
#define tanf tile_tanf
#define asinf tile_asinf
#define acosf tile_acosf
#define atanf tile_atanf
#define sinhf tile_sinhf
#define coshf tile_coshf
#define expm1f tile_expm1f
#define log1pf tile_log1pf
#define erff tile_erff
#define cbrtf tile_cbrtf
#define erfcf tile_erfcf
#define exp10f tile_exp10f
#define pow10f tile_pow10f
#define hypotf tile_hypotf
#define powf tile_powf
#define atan2f tile_atan2f
float sinf(float x);
float cosf(float x);
float tanf(float x);
float asinf(float x);
float acosf(float x);
float atanf(float x);
float sinhf(float x);
float coshf(float x);
float expm1f(float x);
float log1pf(float x);
float erff(float x);
float cbrtf(float x);
float erfcf(float x);
float hypotf(float x, float y);
float powf(float x, float y);
float atan2f(float y, float x);
#include "device/lib/math_exp.c"
#include "device/lib/math_pow.c"
#include "device/lib/math_trig.c"

/* The error of `got` in units in the last place of the wanted value; infinity if only one of them
 * is a NaN. */
static double error_of(float got, double wanted)
{
  if (isnan(wanted) || isnan(got)) return isnan(wanted) && isnan(got) ? 0 : INFINITY;
  double most = ldexp(1, FLT_MAX_EXP), unit = ldexp(1, -149);
  if (isinf(got)) got = copysignf(FLT_MAX, got), wanted -= copysign(ldexp(1, 104), wanted);
  if (fabs(wanted) > most) wanted = copysign(most - ldexp(1, 104), wanted);
  int exponent;
  frexp(wanted, &exponent);
  return fabs(got - wanted) / fmax(unit, ldexp(1, exponent - FLT_MANT_DIG));
}

typedef struct function {
  const char *name;
  float (*tile)(float);
  double (*exact)(double);
  double error; /* units in the last place */
} function;

static const function functions[] = {

    {"sinf", sinf, sin, 1.6},       {"cosf", cosf, cos, 1.6},    {"tanf", tanf, tan, 2.5},
    {"asinf", asinf, asin, 1.2},    {"acosf", acosf, acos, 1.2}, {"atanf", atanf, atan, 1.5},
    {"sinhf", sinhf, sinh, 1.7},    {"coshf", coshf, cosh, 1.3}, {"expm1f", expm1f, expm1, 1.5},
    {"log1pf", log1pf, log1p, 1.0}, {"erff", erff, erf, 1.1},    {"erfcf", erfcf, erfc, 4.7},
    {"exp10f", exp10f, exp10, 1.0}, {"cbrtf", cbrtf, cbrt, 0.6},
};
enum { NUM_FUNCTIONS = sizeof functions / sizeof *functions };

static void expect_close(const function *f, float x)
{
  float got = f->tile(x);
  double wanted = f->exact(x);
  cr_assert(error_of(got, wanted) <= f->error, "%s(%a) is %a instead of %a", f->name, x, got,
            wanted);
  cr_assert(wanted != 0 || !signbit(got) == !signbit(wanted), "%s(%a): the sign of zero", f->name,
            x);
}

Test(device_math, functions_of_numbers_of_all_sizes)
{
  enum { STEP = 16381 };
  for (unsigned i = 0; i < NUM_FUNCTIONS; i++)
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STEP)
      expect_close(&functions[i], float_of((uint32_t)bits));
}

/* The raised exceptions match the result. */
static bool raises_what_it_says(float got, bool finite)
{
  int raised = fetestexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
  if (isnan(got)) return raised & FE_INVALID;
  if (isinf(got) && finite) return raised == FE_OVERFLOW || raised == FE_DIVBYZERO;
  return raised == 0;
}

static void expect_raised(const function *f, float x)
{
  if (isnan(x)) return;
  feclearexcept(FE_ALL_EXCEPT);
  volatile float got = f->tile(x);
  cr_assert(raises_what_it_says(got, isfinite(x)), "%s(%a) is %a and raises 0x%x", f->name, x, got,
            fetestexcept(FE_ALL_EXCEPT));
}

static const float special[] = {
    0.0f,      -0.0f,   1.0f,     -1.0f,     2.0f,     -2.0f,      3.0f,      -3.0f,
    0.5f,      -0.5f,   INFINITY, -INFINITY, NAN,      1e-45f,     -1e-45f,   FLT_MIN,
    -FLT_MIN,  FLT_MAX, -FLT_MAX, 89.0f,     -104.0f,  0x1p24f,    -0x1p24f,  16777215,
    -16777215, 1e-40f,  128,      -150,      0x1p-25f, 1.5707964f, 3.1415927f};
enum { NUM_SPECIAL = sizeof special / sizeof *special };

/* Of all numbers from 1/16 to 16, those with the largest errors of the functions. */
Test(device_math, functions_where_they_are_worst)
{
  static const float worst[] = {0x1.0efdb2p+0f, 0x1.03bdb4p-1f, 0x1.0da72ap-1f, 0x1.ab7876p+3f,
                                0x1.f68f42p+1f, 0x1.211cf8p+1f, 0x1.c72c52p-2f, 0x1.62f55cp-2f,
                                0x1.16e2fcp-1f, 0x1.68c3p+0f,   0x1.2214e4p+2f, 0x1.02402ep+0f};
  for (unsigned i = 0; i < NUM_FUNCTIONS; i++)
    for (unsigned n = 0; n < sizeof worst / sizeof *worst; n++)
      expect_close(&functions[i], worst[n]);
}

Test(device_math, functions_of_special_numbers)
{
  for (unsigned i = 0; i < NUM_FUNCTIONS; i++)
    for (unsigned n = 0; n < NUM_SPECIAL; n++) expect_close(&functions[i], special[n]);
}

Test(device_math, functions_raise_what_their_results_say)
{
  enum { STEP = 262139 };
  for (unsigned i = 0; i < NUM_FUNCTIONS; i++) {
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STEP)
      expect_raised(&functions[i], float_of((uint32_t)bits));
    for (unsigned n = 0; n < NUM_SPECIAL; n++) expect_raised(&functions[i], special[n]);
  }
}

typedef struct function_of_two {
  const char *name;
  float (*tile)(float, float);
  double (*exact)(double, double);
  double error; /* units in the last place */
} function_of_two;

static const function_of_two power_function = {"powf", powf, pow, 1.2},
                             angle_function = {"atan2f", atan2f, atan2, 1.7},
                             length_function = {"hypotf", hypotf, hypot, 1.1};

static void expect_close_of_two(const function_of_two *f, float x, float y)
{
  float got = f->tile(x, y);
  double wanted = f->exact(x, y);
  cr_assert(error_of(got, wanted) <= f->error, "%s(%a, %a) is %a instead of %a", f->name, x, y, got,
            wanted);
  cr_assert(wanted != 0 || !signbit(got) == !signbit(wanted), "%s(%a, %a): the sign of zero",
            f->name, x, y);
}

static void expect_power(float x, float y)
{
  expect_close_of_two(&power_function, x, y);
}

static void expect_raised_of_two(const function_of_two *f, float x, float y)
{
  if (isnan(x) || isnan(y)) return;
  feclearexcept(FE_ALL_EXCEPT);
  volatile float got = f->tile(x, y);
  cr_assert(raises_what_it_says(got, isfinite(x) && isfinite(y)),
            "%s(%a, %a) is %a and raises 0x%x", f->name, x, y, got, fetestexcept(FE_ALL_EXCEPT));
}

Test(device_math, functions_of_two_raise_what_their_results_say)
{
  static const function_of_two *const all[] = {&power_function, &angle_function, &length_function};
  for (unsigned f = 0; f < sizeof all / sizeof *all; f++)
    for (unsigned i = 0; i < NUM_SPECIAL; i++)
      for (unsigned n = 0; n < NUM_SPECIAL; n++)
        expect_raised_of_two(all[f], special[i], special[n]);
}

Test(device_math, functions_of_two_special_numbers)
{
  for (unsigned i = 0; i < NUM_SPECIAL; i++)
    for (unsigned n = 0; n < NUM_SPECIAL; n++) {
      expect_power(special[i], special[n]);
      expect_close_of_two(&angle_function, special[i], special[n]);
      expect_close_of_two(&length_function, special[i], special[n]);
    }
}

Test(device_math, angles_and_lengths_of_any_points)
{
  uint64_t random = 78;
  for (int i = 0; i < 200000; i++) {
    uint32_t x = random_next(&random) << 1, y = random_next(&random) << 1;
    float far[] = {float_of(x), float_of(y)}, near[] = {(float)(int32_t)x, (float)(int32_t)y};
    expect_close_of_two(&angle_function, far[1], far[0]);
    expect_close_of_two(&angle_function, near[1], near[0]);
    expect_close_of_two(&length_function, far[0], far[1]);
    expect_close_of_two(&length_function, near[0], near[1]);
  }
}

Test(device_math, powers_of_any_numbers)
{
  uint64_t random = 77;
  for (int i = 0; i < 200000; i++) {
    uint32_t x = random_next(&random) << 1, y = random_next(&random) << 1;
    expect_power(float_of(x), float_of(y));
    expect_power(float_of(x), (float)(int)(y % 64) - 32);
    /* results of any magnitude */
    expect_power(float_of(x & 0x7fffffff), (float)(int32_t)y * 0x1p-26f);
    expect_power(float_of(0x3f000000 + (x & 0xffffff)), (float)(int32_t)y * 0x1p-22f);
  }
}
