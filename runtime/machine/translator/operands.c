/* What operations read and write, from the instruction table. */
#include "lift.h"

enum { NO_F = 0xff };

operands code_op_operands(const code_op *op)
{
  isa_format f = isa_rows[op->id].format;
  return (operands){isa_writes_integer(f) ? op->rd : REGISTER_SINK,
                    isa_writes_float(f) ? op->rd : NO_F};
}

bool code_op_is_access(const code_op *op, bool *store, uint32_t *bytes)
{
  *store = isa_rows[op->id].format == FORMAT_S;
  *bytes = isa_rows[op->id].access_bytes;
  return *bytes != 0;
}

uint32_t code_block_num_successors(const code_block *b)
{
  return 2 + b->num_targets;
}

int32_t code_block_successor(const code_unit *unit, const code_block *b, uint32_t number)
{
  if (number < 2) return number ? b->taken : b->next;
  return unit->targets[b->first_target + number - 2];
}
