/* Float control: native code does nothing of an operation that might raise what is a fault then, or make something else of an
 * overflow. All of that shows in a result that is not finite, or in an operand that is a NaN.
 *
 * That is tested once for many operations: until something is stored, or the block ends, they have changed nothing but
 * registers. So what they ask for is collected, and where it does not hold, the registers are what they were in front of
 * the first of them, and the interpreter goes on there. Who leaves for another reason while something is not tested leaves
 * there, too. */
#include "lift.h"

#include <math.h>

/* What has been written down of a slot; NULL: there is no such slot. */
static LLVMValueRef save(lift *l, LLVMValueRef slot)
{
  return slot ? LLVMBuildLoad2(l->b, LLVMGetAllocatedType(slot), slot, "before") : NULL;
}

static void restore(lift *l, LLVMValueRef value, LLVMValueRef slot)
{
  if (value) LLVMBuildStore(l->b, value, slot);
}

/* Registers that the rest of the block writes. */
static void begin(lift *l)
{
  untested_ops *u = &l->untested;
  uint32_t x = 0, end = l->block->first_op + l->block->num_ops;
  uint64_t f = 0;
  for (uint32_t i = l->op_index; i < end; i++) {
    uint8_t r = code_op_writes_x(&l->unit->ops[i]);
    if (r < NUM_REGISTERS) x |= 1u << r;
    f |= code_op_writes_f(&l->unit->ops[i]);
  }
  *u = (untested_ops){.first = l->op_index, .quiet = LLVMConstInt(l->type.i1, 1, 0)};
  for (uint32_t r = 1; r < NUM_REGISTERS; r++)
    if (x >> r & 1) u->x[r] = save(l, l->x[r]);
  for (uint32_t r = 0; r < NUM_FLOAT_WORDS; r++) {
    if (!(f >> r & 1)) continue;
    u->single[r] = save(l, l->single[r]);
    u->lazy_single[r] = save(l, l->lazy_single[r]);
    u->half[r] = save(l, l->half[r]);
    u->lazy_half[r] = save(l, l->lazy_half[r]);
  }
}

uint32_t lift_go_back(lift *l)
{
  const untested_ops *u = &l->untested;
  if (!u->quiet) return l->op_index;
  for (uint32_t r = 1; r < NUM_REGISTERS; r++) restore(l, u->x[r], l->x[r]);
  for (uint32_t r = 0; r < NUM_FLOAT_WORDS; r++) {
    restore(l, u->single[r], l->single[r]);
    restore(l, u->lazy_single[r], l->lazy_single[r]);
    restore(l, u->half[r], l->half[r]);
    restore(l, u->lazy_half[r], l->lazy_half[r]);
  }
  return u->first;
}

void lift_settle(lift *l)
{
  if (!l->untested.quiet) return;
  LLVMBasicBlockRef usual = lift_new_block(l, "quiet"), rare = lift_new_block(l, "raises");
  lift_likely(l, l->untested.quiet, usual, rare);
  lift_at_end(l, rare);
  lift_leave_here(l);
  lift_at_end(l, usual);
  l->untested.quiet = NULL;
}

void lift_leave_unless(lift *l, LLVMValueRef condition)
{
  if (!l->unit->checked) return;
  if (!l->untested.quiet) begin(l);
  l->untested.quiet = LLVMBuildAnd(l->b, l->untested.quiet, condition, "");
}

LLVMValueRef lift_is_below(lift *l, LLVMValueRef a, double limit)
{
  LLVMValueRef magnitude = lift_intrinsic(l, "llvm.fabs", &l->type.single, 1, &a, 1);
  return LLVMBuildFCmp(l->b, LLVMRealOLT, magnitude, LLVMConstReal(l->type.single, limit), "");
}

LLVMValueRef lift_is_finite(lift *l, LLVMValueRef a)
{
  return lift_is_below(l, a, INFINITY);
}
