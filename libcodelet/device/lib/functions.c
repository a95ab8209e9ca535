/*
 * Functions of <math.h> for which tiles have instructions (runtime/isa/isa.h, functions), where they are called: through pointers, by
 * the C library, by code that was compiled without populus/builtins.h.
 */
#include <populus/builtins.h>

float expf(float x)
{
  return __builtin_ipu_exp(x);
}

float exp2f(float x)
{
  return __builtin_ipu_exp2(x);
}

float logf(float x)
{
  return __builtin_ipu_ln(x);
}

float log2f(float x)
{
  return __builtin_ipu_log2(x);
}

float tanhf(float x)
{
  return __builtin_ipu_tanh(x);
}
