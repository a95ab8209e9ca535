/* Block copies: calls of the machine, which knows the rules and the time.
 *
 * The time of a copy is not known beforehand, so the machine is asked whether there is enough. If
 * there is not, or if something is not legal, the interpreter goes on in front of the copy. */
#include "lift.h"

#include "isa/isa.h"

bool code_op_is_copy(const code_op *op)
{
  return op->id == OP_TILE_COPY || op->id == OP_TILE_COPY_ROWS;
}

static LLVMValueRef frame_limit(lift *l)
{
  LLVMValueRef place = lift_field(l, l->frame, offsetof(translated_frame, limit));
  return LLVMBuildLoad2(l->b, l->type.i64, place, "limit");
}

bool lift_copy(lift *l, const code_op *op)
{
  if (!code_op_is_copy(op)) return false;
  lift_flush_tests(l);
  bool rows = op->id == OP_TILE_COPY_ROWS;
  LLVMValueRef address = lift_x(l, op->rs1), before = frame_limit(l);
  LLVMValueRef arguments[] = {l->frame, address, lift_constant(l, rows), lift_x(l, 2),
                              lift_slots_left(l)};
  LLVMValueRef slots = LLVMBuildCall2(l->b, l->type.copy, l->copy_block, arguments, 5, "slots");
  lift_add_limit(l, LLVMBuildSub(l->b, frame_limit(l), before, ""));
  LLVMBasicBlockRef copied = lift_new_block(l, "copied"), refused = lift_new_block(l, "refused");
  lift_likely(l, lift_compare(l, LLVMIntNE, slots, lift_constant64(l, 0)), copied, refused);
  lift_at_end(l, refused);
  lift_leave_here(l);
  lift_at_end(l, copied);
  lift_add_time_of(l, LLVMBuildSub(l->b, slots, lift_constant64(l, 1), ""), 1, 0);
  uint32_t bytes = 4 * (rows ? ISA_COPY_ROWS_WORDS : ISA_COPY_WORDS);
  lift_set_x(l, op->rd, LLVMBuildAdd(l->b, address, lift_constant(l, bytes), ""));
  return true;
}
