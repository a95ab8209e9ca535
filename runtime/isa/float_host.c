/* The sticky exception flags of the host's floating-point unit, as fflags.
 *
 * On x86 that is SSE's control register (MXCSR) alone. <fenv.h> also reads the flags of the old x87
 * unit, which tiles never use; for a short vertex that cost more than its arithmetic. */
#include "isa/float.h"

#ifdef __SSE__
#include <xmmintrin.h>

#define HOST_FLAG(fenv_name, sse_name) _MM_EXCEPT_##sse_name

static int raised_flags(void)
{
  return (int)_mm_getcsr();
}

static void clear_flags(void)
{
  _mm_setcsr(_mm_getcsr() & ~(unsigned)_MM_EXCEPT_MASK);
}
#else
#include <fenv.h>

#define HOST_FLAG(fenv_name, sse_name) FE_##fenv_name

static int raised_flags(void)
{
  return fetestexcept(FE_ALL_EXCEPT);
}

static void clear_flags(void)
{
  feclearexcept(FE_ALL_EXCEPT);
}
#endif

static const struct {
  int host;
  uint32_t flag;
} flags[] = {{HOST_FLAG(INEXACT, INEXACT), FLAG_INEXACT},
             {HOST_FLAG(UNDERFLOW, UNDERFLOW), FLAG_UNDERFLOW},
             {HOST_FLAG(OVERFLOW, OVERFLOW), FLAG_OVERFLOW},
             {HOST_FLAG(DIVBYZERO, DIV_ZERO), FLAG_DIVIDE},
             {HOST_FLAG(INVALID, INVALID), FLAG_INVALID}};

uint32_t float_host_flags(void)
{
  int raised = raised_flags();
  uint32_t result = 0;
  for (unsigned i = 0; i < sizeof flags / sizeof flags[0]; i++)
    if (raised & flags[i].host) result |= flags[i].flag;
  return result;
}

/* Writing the register costs more than reading it, and flags are seldom raised. */
void float_clear_host_flags(void)
{
  if (float_host_flags()) clear_flags();
}
