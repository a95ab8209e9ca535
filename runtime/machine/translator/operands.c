/* What operations read and write, from the instruction table. */
#include "lift.h"

enum { NO_F = 0xff };

operands code_op_operands(const code_op *op)
{
  isa_format f = isa_rows[op->id].format;
  return (operands){isa_writes_integer(f) ? op->rd : REGISTER_SINK,
                    isa_writes_float(f) ? op->rd : NO_F};
}

static bool is_float_access(const code_op *op)
{
  return op->id == OP_FLW || op->id == OP_FLH || op->id == OP_FSW || op->id == OP_FSH;
}

static bool computes_with_floats(const code_op *op)
{
  return op->id >= OP_FMADD_S && op->id <= OP_FMV_H_X;
}

static bool is_float_of_integer(const code_op *op)
{
  return op->id == OP_FCVT_S_W || op->id == OP_FCVT_S_WU || op->id == OP_FMV_W_X ||
         op->id == OP_FCVT_H_W || op->id == OP_FCVT_H_WU || op->id == OP_FMV_H_X;
}

uint32_t code_op_reads_x(const code_op *op)
{
  uint32_t first = 1u << op->rs1 & ~1u, second = 1u << op->rs2 & ~1u;
  if (is_float_access(op) || is_float_of_integer(op)) return first;
  if (computes_with_floats(op)) return 0;
  switch (isa_rows[op->id].format) {
  case FORMAT_R:
  case FORMAT_S:
  case FORMAT_B:
    return first | second;
  case FORMAT_I:
  case FORMAT_SHIFT:
    return first;
  default:
    return 0;
  }
}

uint32_t code_op_reads_f(const code_op *op)
{
  uint32_t first = 1u << op->rs1, second = 1u << op->rs2;
  if (op->id == OP_FSW || op->id == OP_FSH) return second;
  if (!computes_with_floats(op) || is_float_of_integer(op)) return 0;
  bool fused = op->id >= OP_FMADD_S && op->id <= OP_FNMADD_H;
  return first | second | (fused ? 1u << (op->imm >> 8 & 31) : 0);
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
