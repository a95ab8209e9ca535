/* Affine values: sums of symbols, each times a constant, plus a constant, modulo 2^32; and the
 * effect of instructions on them. Symbols 1-31 are registers at some place. Users may define higher
 * symbols. */
#include "lift.h"

#include <string.h>

static affine affine_constant(uint32_t constant)
{
  return (affine){.known = true, .constant = constant};
}

affine affine_symbol(uint16_t symbol)
{
  if (symbol == 0) return affine_constant(0);
  return (affine){.known = true, .num_terms = 1, .symbol = {symbol}, .coefficient = {1}};
}

affine affine_add(affine a, uint32_t constant)
{
  a.constant += constant;
  return a;
}

affine affine_add_scaled(affine a, affine b, uint32_t scale)
{
  affine sum = {.known = a.known && b.known, .constant = a.constant + scale * b.constant};
  unsigned i = 0, j = 0;
  while (sum.known && (i < a.num_terms || j < b.num_terms)) {
    uint32_t coefficient = 0;
    bool first = j == b.num_terms || (i < a.num_terms && a.symbol[i] < b.symbol[j]);
    uint16_t symbol = first ? a.symbol[i] : b.symbol[j];
    if (i < a.num_terms && a.symbol[i] == symbol) coefficient += a.coefficient[i++];
    if (j < b.num_terms && b.symbol[j] == symbol) coefficient += scale * b.coefficient[j++];
    if (!coefficient) continue;
    if (sum.num_terms == MAX_TERMS) return (affine){0};
    sum.symbol[sum.num_terms] = symbol;
    sum.coefficient[sum.num_terms++] = coefficient;
  }
  return sum.known ? sum : (affine){0};
}

bool affine_same_terms(const affine *a, const affine *b)
{
  return a->known && b->known && a->num_terms == b->num_terms &&
         !memcmp(a->symbol, b->symbol, a->num_terms * sizeof *a->symbol) &&
         !memcmp(a->coefficient, b->coefficient, a->num_terms * sizeof *a->coefficient);
}

bool affine_is_zero(const affine *a)
{
  return a->known && !a->num_terms && !a->constant;
}

bool affine_equal(const affine *a, const affine *b)
{
  return affine_same_terms(a, b) && a->constant == b->constant;
}

bool align_together(uint32_t *align, uint32_t *rest, int64_t offset, uint32_t own)
{
  uint32_t own_rest = (uint32_t)offset & (own - 1);
  if (own <= *align) return own_rest == (*rest & (own - 1));
  if (*rest != (own_rest & (*align - 1))) return false;
  *align = own;
  *rest = own_rest;
  return true;
}

static affine result_of(const affine_registers *v, const code_op *op)
{
  const affine *a = &v->x[op->rs1], *b = &v->x[op->rs2];
  uint32_t imm = (uint32_t)op->imm;
  switch (op->id) {
  case OP_LUI:
    return affine_constant(imm);
  case OP_ADDI:
    return affine_add(*a, imm);
  case OP_ADD:
    return affine_add_scaled(*a, *b, 1);
  case OP_SUB:
    return affine_add_scaled(*a, *b, UINT32_MAX);
  case OP_SLLI:
    return affine_add_scaled(affine_constant(0), *a, 1u << imm);
  case OP_SH1ADD:
    return affine_add_scaled(*b, *a, 2);
  case OP_SH2ADD:
    return affine_add_scaled(*b, *a, 4);
  case OP_SH3ADD:
    return affine_add_scaled(*b, *a, 8);
  default:
    return (affine){0};
  }
}

affine *affine_execute(affine_registers *v, const code_op *op)
{
  uint32_t rd = code_op_writes_x(op);
  if (rd == 0 || rd == REGISTER_SINK) return NULL;
  v->x[rd] = result_of(v, op);
  return &v->x[rd];
}
