/* The tile's functions of single numbers (instructions.h: FUNCTIONS, PAIR_FUNCTIONS), to the bit; function_values.h has what they
 * compute. The host is as float.h wants it. */
#ifndef ISA_FUNCTIONS_H
#define ISA_FUNCTIONS_H

#include "isa/instructions.h"
#include <stdbool.h>
#include <stdint.h>

/* An instruction of PAIR_FUNCTIONS that is about halves? */
static inline bool function_is_of_halves(isa_op op)
{
  return op >= OP_F16V4EXP && op <= OP_F16V4SIGM;
}

/* Of one of the lists? */
static inline bool function_is(uint32_t id)
{
  return id >= OP_F32EXP && id <= OP_F16V4SIGM;
}

/* What `op` makes of a single, as a single, whatever its elements are. A NaN is the canonical one. Raises flags of the host's, as
 * the operations do of which it is made; none for the NaNs and infinities that logarithms of what is not positive are. */
uint32_t function_single(isa_op op, uint32_t bits);
/* Of a word: of a single, or of two halves, each computed as a single and rounded to nearest even. */
uint32_t function_word(isa_op op, uint32_t word, uint32_t *flags);

/* What a function of that single with that result has to raise of FLAG_INVALID, FLAG_DIVIDE and FLAG_OVERFLOW. */
uint32_t function_flags(uint32_t bits, uint32_t result);

/* <math.h>'s, by the instructions, for codelets on the host. */
float function_expf(float x);
float function_exp2f(float x);
float function_logf(float x);
float function_log2f(float x);
float function_tanhf(float x);

#endif
