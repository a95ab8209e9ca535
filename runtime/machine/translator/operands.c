/* What operations read and write, from the instruction table. */
#include "lift.h"

enum { NO_F = 0xff };

typedef enum destination {
  TO_NONE,
  TO_R = 1,
  TO_R_RM = 1,
  TO_I = 1,
  TO_SHIFT = 1,
  TO_U = 1,
  TO_J = 1,
  TO_CSR = 1,
  TO_S = TO_NONE,
  TO_B = TO_NONE,
  TO_F = 2,
  TO_F_RM = 2,
  TO_F_I = 2,
  TO_R4 = 2
} destination;

static const uint8_t destinations[OPERATION_COUNT] = {
#define DESTINATION(id, mnemonic, mask, match, format, cost) [OP_##id] = TO_##format,
    INSTRUCTIONS(DESTINATION)
#undef DESTINATION
};

operands code_op_operands(const code_op *op)
{
  switch (destinations[op->id]) {
  case TO_R:
    return (operands){op->rd, NO_F};
  case TO_F:
    return (operands){REGISTER_SINK, op->rd};
  default:
    return (operands){REGISTER_SINK, NO_F};
  }
}

bool code_op_is_access(const code_op *op, bool *store, uint32_t *bytes)
{
  *store = false;
  switch (op->id) {
  case OP_SB:
    *store = true; /* fall through */
  case OP_LB:
  case OP_LBU:
    *bytes = 1;
    return true;
  case OP_SH:
  case OP_FSH:
    *store = true; /* fall through */
  case OP_LH:
  case OP_LHU:
  case OP_FLH:
    *bytes = 2;
    return true;
  case OP_SW:
  case OP_FSW:
    *store = true; /* fall through */
  case OP_LW:
  case OP_FLW:
    *bytes = 4;
    return true;
  default:
    return false;
  }
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
