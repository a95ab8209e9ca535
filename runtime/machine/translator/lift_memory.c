/* Loads and stores.
 *
 * An access is legal if it is aligned and in a window; window starts and sizes are multiples of 4.
 * Both are one comparison: the offset in the window, rotated right by the size's logarithm, so that
 * an unaligned one becomes huge. What is in no window goes to translated_access, which knows all
 * rules; what that refuses, the interpreter meets again and reports. */
#include "lift.h"

static LLVMValueRef at_frame_memory(lift *l, LLVMValueRef offset)
{
  return LLVMBuildGEP2(l->b, l->type.i8, l->memory, &offset, 1, "");
}

static LLVMValueRef in_window(lift *l, LLVMValueRef address, uint32_t bytes, LLVMValueRef start,
                              LLVMValueRef window_bytes)
{
  LLVMValueRef offset = LLVMBuildSub(l->b, address, start, "");
  if (bytes == 1) return LLVMBuildICmp(l->b, LLVMIntULT, offset, window_bytes, "");
  LLVMValueRef log = lift_constant(l, bytes / 2);
  unsigned id = LLVMLookupIntrinsicID("llvm.fshr", 9);
  LLVMTypeRef i32 = l->type.i32;
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(l->module, id, &i32, 1);
  LLVMValueRef operands[] = {offset, offset, log};
  LLVMValueRef rotated =
      LLVMBuildCall2(l->b, LLVMGlobalGetValueType(function), function, operands, 3, "");
  LLVMValueRef limit = LLVMBuildLShr(l->b, window_bytes, log, "");
  return LLVMBuildICmp(l->b, LLVMIntULT, rotated, limit, "");
}

/* Ends the basic block; the next one is where `condition` holds. */
static void expect(lift *l, LLVMValueRef condition, LLVMBasicBlockRef otherwise, const char *name)
{
  LLVMBasicBlockRef held = lift_new_block(l, name);
  LLVMBuildCondBr(l->b, condition, held, otherwise);
  LLVMPositionBuilderAtEnd(l->b, held);
}

/* The access that no first window holds: the stack for stores, the machine for everything. */
static LLVMValueRef slow_place(lift *l, const code_op *op, LLVMValueRef address, bool store,
                               uint32_t bytes)
{
  bool by_sp = store && op->rs1 == 2;
  uint32_t how = bytes | (store ? ACCESS_STORE : 0) | (by_sp ? ACCESS_BY_SP : 0);
  LLVMValueRef arguments[] = {l->frame, address, lift_constant(l, how), lift_x(l, 2)};
  LLVMValueRef place = LLVMBuildCall2(l->b, l->type.access, l->access, arguments, 4, "");
  LLVMBasicBlockRef refused = lift_new_block(l, "refused"), granted = lift_new_block(l, "granted");
  LLVMBuildCondBr(l->b, LLVMBuildIsNull(l->b, place, ""), refused, granted);
  LLVMPositionBuilderAtEnd(l->b, refused);
  lift_leave_here(l);
  LLVMPositionBuilderAtEnd(l->b, granted);
  return place;
}

static LLVMValueRef checked_place(lift *l, const code_op *op, bool store, uint32_t bytes)
{
  LLVMValueRef address =
      LLVMBuildAdd(l->b, lift_x(l, op->rs1), lift_constant(l, (uint32_t)op->imm), "address");
  bool by_sp = store && op->rs1 == 2;
  LLVMValueRef start = !store ? l->readable_start : by_sp ? l->stack_start : l->writable_start;
  LLVMValueRef size = !store ? l->readable_bytes : by_sp ? l->stack_bytes : l->writable_bytes;
  LLVMBasicBlockRef slow = lift_new_block(l, "slow");
  expect(l, in_window(l, address, bytes, start, size), slow, "inside");
  LLVMValueRef fast_place = at_frame_memory(l, LLVMBuildZExt(l->b, address, l->type.i64, ""));
  LLVMBasicBlockRef inside = LLVMGetInsertBlock(l->b);
  LLVMPositionBuilderAtEnd(l->b, slow);
  LLVMValueRef slow_result = slow_place(l, op, address, store, bytes);
  LLVMBasicBlockRef granted = LLVMGetInsertBlock(l->b), go_on = lift_new_block(l, "access");
  LLVMBuildBr(l->b, go_on);
  LLVMPositionBuilderAtEnd(l->b, inside);
  LLVMBuildBr(l->b, go_on);
  LLVMPositionBuilderAtEnd(l->b, go_on);
  LLVMValueRef place = LLVMBuildPhi(l->b, l->type.pointer, "");
  LLVMAddIncoming(place, (LLVMValueRef[]){fast_place, slow_result},
                  (LLVMBasicBlockRef[]){inside, granted}, 2);
  return place;
}

/* In the fast copy of a loop, of an access that the guard has checked for all rounds. */
static LLVMValueRef hoisted_place(lift *l, const hoisted_access *access)
{
  const access_group *group = &l->fast->groups[access->group];
  LLVMValueRef round = LLVMBuildLoad2(l->b, l->type.i64, l->round, "round");
  LLVMValueRef step = LLVMConstInt(l->type.i64, (uint64_t)(int64_t)group->step, 1);
  LLVMValueRef place = at_frame_memory(l, group->start);
  LLVMValueRef moved = LLVMBuildNSWMul(l->b, round, step, "");
  place = LLVMBuildGEP2(l->b, l->type.i8, place, &moved, 1, "");
  LLVMValueRef offset =
      LLVMConstInt(l->type.i64, (uint64_t)((int64_t)access->offset - group->lowest), 1);
  return LLVMBuildGEP2(l->b, l->type.i8, place, &offset, 1, "");
}

static LLVMValueRef place_of(lift *l, const code_op *op, bool store, uint32_t bytes)
{
  if (l->fast) {
    uint32_t first = l->unit->blocks[l->f->first_block].first_op;
    const hoisted_access *access = &l->fast->accesses[l->op_index - first];
    if (access->group != UNIT_NONE) return hoisted_place(l, access);
  }
  return checked_place(l, op, store, bytes);
}

static LLVMTypeRef integer_type(const lift *l, uint32_t bytes)
{
  return bytes == 1 ? l->type.i8 : bytes == 2 ? l->type.i16 : l->type.i32;
}

static LLVMValueRef box(lift *l, LLVMValueRef half_bits)
{
  LLVMValueRef wide = LLVMBuildZExt(l->b, half_bits, l->type.i32, "");
  return LLVMBuildOr(l->b, wide, lift_constant(l, 0xffff0000), "");
}

static void load(lift *l, const code_op *op, LLVMValueRef value)
{
  bool is_signed = op->id == OP_LB || op->id == OP_LH;
  if (op->id == OP_FLH)
    lift_set_f_bits(l, op->rd, box(l, value));
  else if (op->id == OP_FLW)
    lift_set_f_bits(l, op->rd, value);
  else if (op->id == OP_LW)
    lift_set_x(l, op->rd, value);
  else
    lift_set_x(l, op->rd,
               LLVMBuildCast(l->b, is_signed ? LLVMSExt : LLVMZExt, value, l->type.i32, ""));
}

bool lift_memory(lift *l, const code_op *op)
{
  bool store;
  uint32_t bytes;
  if (!code_op_is_access(op, &store, &bytes)) return false;
  LLVMTypeRef type = integer_type(l, bytes);
  LLVMValueRef place = place_of(l, op, store, bytes);
  if (!store) {
    LLVMValueRef value = LLVMBuildLoad2(l->b, type, place, "");
    LLVMSetAlignment(value, bytes);
    load(l, op, value);
    return true;
  }
  bool from_f = op->id == OP_FSW || op->id == OP_FSH;
  LLVMValueRef value = from_f ? lift_f_bits(l, op->rs2) : lift_x(l, op->rs2);
  if (bytes < 4) value = LLVMBuildTrunc(l->b, value, type, "");
  LLVMSetAlignment(LLVMBuildStore(l->b, value, place), bytes);
  return true;
}
