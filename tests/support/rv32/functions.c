/* Functions of <math.h> that are instructions on tiles, from the definition of the instructions.
 * They are for programs of the device library that run under qemu-riscv32, which does not know the
 * instructions. Linked before libdevice. Compiled with runtime/ as an include path. */
#include "isa/functions.c"

float expf(float x)
{
  return fn_exp(x);
}

float exp2f(float x)
{
  return fn_exp2(x);
}

float logf(float x)
{
  return fn_ln(x);
}

float log2f(float x)
{
  return fn_log2(x);
}

float tanhf(float x)
{
  return fn_tanh(x);
}
