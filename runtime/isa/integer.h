/* What instructions on integer registers compute. First come operations for which C has no
 * operator, or leaves cases undefined. Then the table's own expressions as functions. */
#ifndef ISA_INTEGER_H
#define ISA_INTEGER_H

#include "isa/instructions.h"
#include <stdbool.h>
#include <stdint.h>

static inline uint32_t divide_signed(uint32_t a, uint32_t b)
{
  if (b == 0) return UINT32_MAX;
  if (a == 0x80000000 && b == UINT32_MAX) return a;
  return (uint32_t)((int32_t)a / (int32_t)b);
}

static inline uint32_t remainder_signed(uint32_t a, uint32_t b)
{
  if (b == 0) return a;
  if (a == 0x80000000 && b == UINT32_MAX) return 0;
  return (uint32_t)((int32_t)a % (int32_t)b);
}

static inline uint32_t shift_right_arithmetic(uint32_t value, uint32_t count)
{
  uint32_t sign = value >> 31 ? ~(UINT32_MAX >> count) : 0;
  return value >> count | sign;
}

static inline uint32_t rotate_right(uint32_t value, uint32_t count)
{
  return value >> (count & 31) | value << (-count & 31);
}

/* 0xff for every byte that is not 0. */
static inline uint32_t or_combine_bytes(uint32_t value)
{
  value |= value >> 4 & 0x0f0f0f0f;
  value |= value >> 2 & 0x03030303;
  value |= value >> 1 & 0x01010101;
  return (value & 0x01010101) * 0xff;
}

static inline uint32_t high_product(int64_t a, int64_t b)
{
  return (uint32_t)((uint64_t)(a * b) >> 32);
}

static inline uint32_t high_product_unsigned(uint64_t a, uint64_t b)
{
  return (uint32_t)(a * b >> 32);
}

static inline uint32_t count_leading_zeros(uint32_t value)
{
  return value ? (uint32_t)__builtin_clz(value) : 32;
}

static inline uint32_t count_trailing_zeros(uint32_t value)
{
  return value ? (uint32_t)__builtin_ctz(value) : 32;
}

/* For each of VALUES a function of its result, value_ADDI(a, b, imm) …; for each of BRANCHES one of
 * its condition, taken_BEQ(a, b) … */
#define A a
#define B b
#define IMM imm
#define ISA_VALUE(id, mnemonic, mask, match, format, cost, expression)                             \
  static inline uint32_t value_##id(uint32_t a, uint32_t b, uint32_t imm)                          \
  {                                                                                                \
    (void)a, (void)b, (void)imm;                                                                   \
    return (uint32_t)(expression);                                                                 \
  }
VALUES(ISA_VALUE)
#undef ISA_VALUE
#define ISA_TAKEN(id, mnemonic, mask, match, format, cost, condition)                              \
  static inline bool taken_##id(uint32_t a, uint32_t b)                                            \
  {                                                                                                \
    return condition;                                                                              \
  }
BRANCHES(ISA_TAKEN)
#undef ISA_TAKEN
#undef A
#undef B
#undef IMM

/* The result of any of VALUES. */
static inline uint32_t isa_value(isa_op op, uint32_t a, uint32_t b, uint32_t imm)
{
  switch (op) {
#define ISA_CASE(id, mnemonic, mask, match, format, cost, expression)                              \
  case OP_##id:                                                                                    \
    return value_##id(a, b, imm);
    VALUES(ISA_CASE)
#undef ISA_CASE
  default:
    return 0;
  }
}

/* The value that one of LOADS puts into its register. */
static inline uint32_t isa_extend(isa_op load, uint32_t value)
{
  switch (load) {
#define ISA_CASE(id, mnemonic, mask, match, format, cost, type)                                    \
  case OP_##id:                                                                                    \
    return (uint32_t)(type)value;
    LOADS(ISA_CASE)
#undef ISA_CASE
  default:
    return value;
  }
}

#endif
