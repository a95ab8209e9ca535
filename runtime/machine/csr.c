/* Control and status registers: fcsr and the counters; the others are float_control.c's. */
#include "float_control.h"
#include "isa/float.h"
#include "state.h"

/* The value of a CSR; false: there is no such CSR. Counters show their values before the reading
 * instruction. */
static bool read_csr(const context *c, uint32_t number, uint64_t cycle, uint64_t instructions,
                     uint32_t *value)
{
  switch (number) {
  case CSR_FFLAGS:
    *value = c->fflags | float_host_flags();
    return true;
  case CSR_FRM:
    *value = c->frm;
    return true;
  case CSR_FCSR:
    *value = c->frm << 5 | c->fflags | float_host_flags();
    return true;
  case CSR_CYCLE:
    *value = (uint32_t)cycle;
    return true;
  case CSR_CYCLEH:
    *value = (uint32_t)(cycle >> 32);
    return true;
  case CSR_INSTRET:
    *value = (uint32_t)instructions;
    return true;
  case CSR_INSTRETH:
    *value = (uint32_t)(instructions >> 32);
    return true;
  default:
    return false;
  }
}

static bool write_csr(context *c, uint32_t number, uint32_t value)
{
  if (number == CSR_FRM) {
    c->frm = value & 7;
    return true;
  }
  if (number != CSR_FFLAGS && number != CSR_FCSR) return false;
  float_clear_host_flags();
  c->fflags = value & 31;
  if (number == CSR_FCSR) c->frm = value >> 5 & 7;
  return true;
}

bool csr_execute(tile *t, context *c, const operation *op, uint64_t cycle, uint64_t instructions)
{
  bool immediate = op->id >= OP_CSRRWI;
  uint32_t kind = op->id - (immediate ? OP_CSRRWI : OP_CSRRW); /* 0 write, 1 set, 2 clear */
  uint32_t operand = immediate ? op->rs1 : c->x[op->rs1], old;
  uint32_t number = (uint32_t)op->imm;
  if (!read_csr(c, number, cycle, instructions, &old) && !float_control_read(t, c, number, &old))
    return false;
  uint32_t value = kind == 0 ? operand : kind == 1 ? old | operand : old & ~operand;
  bool writes = kind == 0 || op->rs1 != 0;
  if (writes && !write_csr(c, number, value) && !float_control_write(t, c, number, value))
    return false;
  c->x[op->rd] = old;
  return true;
}
