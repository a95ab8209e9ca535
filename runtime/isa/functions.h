/* The tile's functions of single numbers (instructions.h: FUNCTIONS, PAIR_FUNCTIONS), to the bit,
 * as function_values.h defines them. The host must be set as float.h says. */
#ifndef ISA_FUNCTIONS_H
#define ISA_FUNCTIONS_H

#include "isa/instructions.h"
#include <stdbool.h>
#include <stdint.h>

/* Is it one of PAIR_FUNCTIONS for halves? */
static inline bool function_is_of_halves(isa_op op)
{
  return op >= OP_F16V4EXP && op <= OP_F16V4SIGM;
}

/* Is it in one of the two lists? */
static inline bool function_is(uint32_t id)
{
  return id >= OP_F32EXP && id <= OP_F16V4SIGM;
}

/* The function of `op` for a single, as a single, also if the instruction is for halves. NaNs are
 * canonical. Raises the host's flags of the operations that define it; none for the NaNs and
 * infinities of logarithms of numbers that are not positive. */
uint32_t function_single(isa_op op, uint32_t bits);
/* The same for a word: a single, or two halves, each computed as a single and rounded to nearest
 * even. */
uint32_t function_word(isa_op op, uint32_t word, uint32_t *flags);

/* FLAG_INVALID, FLAG_DIVIDE and FLAG_OVERFLOW that a function must raise for this operand and this
 * result. */
uint32_t function_flags(uint32_t bits, uint32_t result);

/* Functions of <math.h>, computed like the instructions, for codelets on the host. */
float function_expf(float x);
float function_exp2f(float x);
float function_logf(float x);
float function_log2f(float x);
float function_tanhf(float x);

#endif
