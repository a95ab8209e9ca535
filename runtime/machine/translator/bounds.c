/* Upper bounds of values, mostly of indices into tables. */
#include "lift.h"

/* A symbol below NUM_REGISTERS has no bound. */
static uint32_t bound_of_value(const affine *a, const uint32_t *bounds)
{
  uint64_t sum = a->constant;
  for (unsigned i = 0; i < a->num_terms && sum <= UINT32_MAX; i++) {
    if (a->symbol[i] < NUM_REGISTERS) return UINT32_MAX;
    sum += (uint64_t)a->coefficient[i] * bounds[a->symbol[i] - NUM_REGISTERS];
  }
  return a->known && sum <= UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
  return a < b ? a : b;
}

/* The greatest number with no more significant bits than the two. */
static uint32_t as_many_bits(uint32_t a, uint32_t b)
{
  uint32_t bits = a | b;
  for (unsigned shift = 1; shift < 32; shift *= 2) bits |= bits >> shift;
  return bits;
}

uint32_t affine_bound(const affine_registers *v, const uint32_t *bounds, const code_op *op)
{
  uint32_t a = bound_of_value(&v->x[op->rs1], bounds), imm = (uint32_t)op->imm;
  uint32_t b = bound_of_value(&v->x[op->rs2], bounds);
  switch (op->id) {
  case OP_LBU:
    return UINT8_MAX;
  case OP_LHU:
  case OP_ZEXT_H:
    return UINT16_MAX;
  case OP_ANDI:
    return smaller(a, imm);
  case OP_AND:
    return smaller(a, b);
  case OP_ORI:
  case OP_XORI:
    return as_many_bits(a, imm);
  case OP_OR:
  case OP_XOR:
    return as_many_bits(a, b);
  case OP_SRLI:
    return a >> imm;
  case OP_MINU:
    return smaller(a, b);
  case OP_MAXU:
    return a > b ? a : b;
  case OP_SLT:
  case OP_SLTU:
  case OP_SLTI:
  case OP_SLTIU:
    return 1;
  default:
    return UINT32_MAX;
  }
}
