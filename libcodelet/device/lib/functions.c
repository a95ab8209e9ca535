/*
 * Out-of-line versions of the <math.h> functions that are instructions of the tile
 * (runtime/isa/isa.h, functions), for calls through pointers, from the C library, and from code
 * that was compiled without populus/builtins.h.
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
