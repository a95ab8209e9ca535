/* Which registers probably point into the stack: sums with sp, up to the next call. And which into
 * static data: sums with a constant.
 *
 * A store that is not relative to sp may go into the writable window, into the stack, or elsewhere.
 * All three are tested; this only decides which comes first. */
#include "lift.h"

#include <populus/arena.h>
#include <stdlib.h>

enum { SP = 2 };

/* sp and s0-s11 */
static const uint32_t kept_by_calls = 1u << SP | 3u << 8 | 0x3ffu << 18;

/* Is the result a pointer, for one kind of pointers? */
static uint32_t result_bit(uint32_t before, const code_op *op)
{
  uint32_t a = before >> op->rs1 & 1, b = before >> op->rs2 & 1;
  switch (op->id) {
  case OP_ADDI:
    return a;
  case OP_ADD:
    return a | b;
  case OP_SUB:
    return a & ~b;
  case OP_SH1ADD:
  case OP_SH2ADD:
  case OP_SH3ADD:
    return b;
  default:
    return 0;
  }
}

likely_pointers likely_pointers_after(likely_pointers before, const code_op *op)
{
  uint32_t rd = code_op_writes_x(op);
  if (rd == 0 || rd >= NUM_REGISTERS) return before;
  uint32_t others = ~(1u << rd);
  uint32_t data = op->id == OP_LUI ? 1 : result_bit(before.data, op);
  return (likely_pointers){.stack = (before.stack & others) | result_bit(before.stack, op) << rd,
                           .data = (before.data & others) | data << rd};
}

static bool pass_on(likely_pointers *at_start, int32_t to, likely_pointers bits)
{
  if (to == UNIT_NONE) return false;
  likely_pointers *known = &at_start[to];
  if (!(bits.stack & ~known->stack) && !(bits.data & ~known->data)) return false;
  known->stack |= bits.stack;
  known->data |= bits.data;
  return true;
}

static bool visit(const code_unit *unit, const code_block *b, likely_pointers *at_start,
                  likely_pointers bits)
{
  for (uint32_t i = 0; i < b->num_ops; i++)
    bits = likely_pointers_after(bits, &unit->ops[b->first_op + i]);
  if (b->end == BLOCK_CALL || b->end == BLOCK_RESOLVED ||
      (b->end == BLOCK_INDIRECT && !b->num_targets)) {
    bits.stack &= kept_by_calls;
    bits.data &= kept_by_calls;
  }
  bool changed = false;
  for (uint32_t i = 0; i < code_block_num_successors(b); i++)
    if (pass_on(at_start, code_block_successor(unit, b, i), bits)) changed = true;
  return changed;
}

likely_pointers *likely_pointers_find(const code_unit *unit, const code_function *f)
{
  likely_pointers *at_start = pop_xcalloc(f->num_blocks, sizeof *at_start);
  at_start[0].stack = 1u << SP;
  bool changed = true;
  while (changed) {
    changed = false;
    for (uint32_t n = 0; n < f->num_blocks; n++)
      if (visit(unit, &unit->blocks[f->first_block + n], at_start, at_start[n])) changed = true;
  }
  return at_start;
}
