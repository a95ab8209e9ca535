/* Registers that operations read and write, from the instruction table. */
#include "lift.h"

uint8_t code_op_writes_x(const code_op *op)
{
  return isa_writes_integer(isa_rows[op->id].format) ? op->rd : REGISTER_SINK;
}

static uint64_t both_words(uint32_t r)
{
  return UINT64_C(0x100000001) << r;
}

static bool is_packed(uint8_t id)
{
  return id >= OP_F32V2_ADD && id <= OP_SORT4X16LO;
}

static bool is_function(uint8_t id)
{
  return id >= OP_F32EXP && id <= OP_F16V4SIGM;
}

static bool is_wide(uint8_t id)
{
  return id == OP_FLD || id == OP_FSGNJ_D || (is_packed(id) && id <= OP_TILE_PAIR) ||
         isa_is_pair_function((isa_op)id);
}

uint64_t code_op_writes_f(const code_op *op)
{
  if (!isa_writes_float(isa_rows[op->id].format)) return 0;
  return is_wide(op->id) ? both_words(op->rd) : UINT64_C(1) << op->rd;
}

static bool is_float_access(const code_op *op)
{
  return op->id == OP_FLW || op->id == OP_FLH || op->id == OP_FLD || op->id == OP_FSW ||
         op->id == OP_FSH || op->id == OP_FSD;
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
  case FORMAT_CSR:
    return op->id <= OP_CSRRC ? first : 0;
  default:
    return 0;
  }
}

uint64_t code_op_reads_f(const code_op *op)
{
  uint64_t first = UINT64_C(1) << op->rs1, second = UINT64_C(1) << op->rs2;
  if (op->id == OP_FSW || op->id == OP_FSH) return second;
  if (op->id == OP_FSD) return both_words(op->rs2);
  if (is_packed(op->id) || op->id == OP_FSGNJ_D) return both_words(op->rs1) | both_words(op->rs2);
  if (is_function(op->id))
    return isa_is_pair_function((isa_op)op->id) ? both_words(op->rs1) : first;
  if (!computes_with_floats(op) || is_float_of_integer(op)) return 0;
  bool fused = op->id >= OP_FMADD_S && op->id <= OP_FNMADD_H;
  /* the rs2 field is part of the opcode */
  if ((isa_rows[op->id].mask >> 20 & 31) == 31) return first;
  return first | second | (fused ? UINT64_C(1) << (op->imm >> 8 & 31) : 0);
}

bool code_op_is_random(const code_op *op)
{
  return op->id >= OP_CSRRW && op->id <= OP_CSRRCI && isa_is_random((uint32_t)op->imm);
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
