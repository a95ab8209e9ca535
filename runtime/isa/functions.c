/* function_values.h in C, with the host's fused multiply-add where it has one. */
#include "isa/functions.h"

#include "isa/float.h"

typedef float fn_float;
typedef uint32_t fn_word;
typedef bool fn_truth;

#define FN(name) fn_##name
#define FN_TAKES
#define FN_GIVES
#define FN_FLOAT(constant) (constant)
#define FN_WORD(constant) ((fn_word)(constant))
#define fn_float_of single_from_bits
#define fn_add(a, b) ((a) + (b))
#define fn_sub(a, b) ((a) - (b))
#define fn_mul(a, b) ((a) * (b))
#define fn_div(a, b) ((a) / (b))
#define fn_fma __builtin_fmaf
#define fn_sqrt __builtin_sqrtf
#define fn_from_signed(word) ((float)(int32_t)(word))
#define fn_plus(a, b) ((a) + (b))
#define fn_minus(a, b) ((a) - (b))
#define fn_and(a, b) ((a) & (b))
#define fn_xor(a, b) ((a) ^ (b))
#define fn_shl(a, count) ((a) << (count))
#define fn_less(a, b) ((a) < (b))
#define fn_below(a, b) ((a) < (b))
#define fn_same(a, b) ((a) == (b))
#define fn_pick(truth, a, b) ((truth) ? (a) : (b))

static inline fn_word fn_bits(float x)
{
  fn_word bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline fn_word fn_sra(fn_word word, int count)
{
  return word >> count | (word >> 31 ? ~(UINT32_MAX >> count) : 0);
}

#include "isa/function_values.h"

__attribute__((always_inline)) static inline float value_of(isa_op op, float x)
{
  switch (op) {
#define FUNCTION_CASE(id, mnemonic, mask, match, format, cost, function)                           \
  case OP_##id:                                                                                    \
    return fn_##function(x);
    FUNCTIONS(FUNCTION_CASE)
    PAIR_FUNCTIONS(FUNCTION_CASE)
#undef FUNCTION_CASE
  default:
    return x; /* there is no other function */
  }
}

static float value_anywhere(isa_op op, float x)
{
  return value_of(op, x);
}

#ifdef __x86_64__
__attribute__((target("fma"), flatten)) static float value_by_fma(isa_op op, float x)
{
  return value_of(op, x);
}

static float value(isa_op op, float x)
{
  return __builtin_cpu_supports("fma") ? value_by_fma(op, x) : value_anywhere(op, x);
}
#else
static float value(isa_op op, float x)
{
  return value_anywhere(op, x);
}
#endif

uint32_t function_single(isa_op op, uint32_t bits)
{
  uint32_t result = single_to_bits(value(op, single_from_bits(bits)));
  return single_is_nan(result) ? float_single.nan : result;
}

static uint32_t half_value(isa_op op, uint32_t half, uint32_t *flags)
{
  return half_from_single(value(op, half_to_single(half)), flags);
}

uint32_t function_word(isa_op op, uint32_t word, uint32_t *flags)
{
  if (!function_is_of_halves(op)) return function_single(op, word);
  return half_value(op, word & 0xffff, flags) | half_value(op, word >> 16, flags) << 16;
}

uint32_t function_flags(uint32_t bits, uint32_t result)
{
  if (single_is_nan(bits)) return float_is_signalling(&float_single, bits) ? FLAG_INVALID : 0;
  if (single_is_nan(result)) return FLAG_INVALID;
  bool infinite = (result & 0x7fffffff) == float_single.infinity;
  if (!infinite || (bits & 0x7fffffff) == float_single.infinity) return 0;
  return bits << 1 ? FLAG_OVERFLOW | FLAG_INEXACT : FLAG_DIVIDE;
}

float function_expf(float x)
{
  return value(OP_F32EXP, x);
}

float function_exp2f(float x)
{
  return value(OP_F32EXP2, x);
}

float function_logf(float x)
{
  return value(OP_F32LN, x);
}

float function_log2f(float x)
{
  return value(OP_F32LOG2, x);
}

float function_tanhf(float x)
{
  return value(OP_F32TANH, x);
}
