/* Float control (faults and changed overflows of floating-point operations). Native code may not
 * execute an operation that raises a fault under float control, or whose overflow becomes another
 * value. Each such case shows in a result that is not finite, or in an operand that is a NaN.
 *
 * One test serves many operations: until a store or the end of the block they change nothing but
 * registers. So their conditions are collected. If one of them does not hold, the registers are
 * restored to what they were in front of the first of these operations, and the interpreter goes on
 * there. Code that leaves for another reason while operations are untested leaves there, too.
 *
 * In loops that could be vectorised even that is too often. If no iteration loads what an earlier
 * iteration has stored, and no float register carries a value from iteration to iteration
 * (loop_trial.c), all iterations of the fast copy are tried first. The trial does the same without
 * stores, and only finds out whether something is raised. If nothing is, the fast copy runs without
 * tests; otherwise the plain copy runs. Trial and fast copy are both vectorised. */
#include "lift.h"

#include <math.h>

/* The slot's value; NULL: there is no such slot. */
static LLVMValueRef save(lift *l, LLVMValueRef slot)
{
  return slot ? LLVMBuildLoad2(l->b, LLVMGetAllocatedType(slot), slot, "before") : NULL;
}

static void restore(lift *l, LLVMValueRef value, LLVMValueRef slot)
{
  if (value) LLVMBuildStore(l->b, value, slot);
}

/* Saves the registers that operations first ... end - 1 of the unit write. */
static void save_written(lift *l, uint32_t first, uint32_t end, saved_registers *saved)
{
  for (uint32_t i = first; i < end; i++) {
    uint8_t x = code_op_writes_x(&l->unit->ops[i]);
    uint64_t f = code_op_writes_f(&l->unit->ops[i]);
    if (x > 0 && x < NUM_REGISTERS && !saved->x[x]) saved->x[x] = save(l, l->x[x]);
    for (uint32_t r = 0; r < NUM_FLOAT_WORDS; r++) {
      if (!(f >> r & 1) || saved->single[r]) continue;
      saved->single[r] = save(l, l->single[r]);
      saved->lazy_single[r] = save(l, l->lazy_single[r]);
      saved->half[r] = save(l, l->half[r]);
      saved->lazy_half[r] = save(l, l->lazy_half[r]);
    }
  }
}

void lift_restore(lift *l, const saved_registers *saved)
{
  for (uint32_t r = 1; r < NUM_REGISTERS; r++) restore(l, saved->x[r], l->x[r]);
  for (uint32_t r = 0; r < NUM_FLOAT_WORDS; r++) {
    restore(l, saved->single[r], l->single[r]);
    restore(l, saved->lazy_single[r], l->lazy_single[r]);
    restore(l, saved->half[r], l->half[r]);
    restore(l, saved->lazy_half[r], l->lazy_half[r]);
  }
}

/* Begins a series of untested operations: saves the registers that the rest of the block writes. */
static void begin(lift *l)
{
  l->untested = (untested_ops){.first = l->op_index, .quiet = LLVMConstInt(l->type.i1, 1, 0)};
  save_written(l, l->op_index, l->block->first_op + l->block->num_ops, &l->untested.before);
}

uint32_t lift_roll_back(lift *l)
{
  if (!l->untested.quiet) return l->op_index;
  lift_restore(l, &l->untested.before);
  return l->untested.first;
}

static void add_condition(lift *l, LLVMValueRef condition)
{
  if (!l->is_trial) {
    l->untested.quiet = LLVMBuildAnd(l->b, l->untested.quiet, condition, "");
    return;
  }
  LLVMValueRef raised = LLVMBuildLoad2(l->b, l->type.i1, l->raised, "");
  raised = LLVMBuildOr(l->b, raised, LLVMBuildNot(l->b, condition, ""), "");
  LLVMBuildStore(l->b, raised, l->raised);
}

static void add_finite(lift *l, uint32_t word)
{
  if (l->untested.finite[word]) add_condition(l, l->untested.finite[word]);
  l->untested.finite[word] = NULL;
}

void lift_flush_tests(lift *l)
{
  if (!l->untested.quiet) return;
  for (uint32_t r = 0; r < NUM_FLOAT_WORDS; r++) add_finite(l, r);
  if (!l->is_trial) {
    LLVMBasicBlockRef usual = lift_new_block(l, "quiet"), rare = lift_new_block(l, "raises");
    lift_likely(l, l->untested.quiet, usual, rare);
    lift_at_end(l, rare);
    lift_leave_here(l);
    lift_at_end(l, usual);
  }
  l->untested.quiet = NULL;
}

void lift_leave_unless(lift *l, LLVMValueRef condition)
{
  if (!l->unit->checked || l->is_tried) return;
  if (!l->untested.quiet) begin(l);
  add_condition(l, condition);
}

/* Operands that make the result not finite if they are not finite. The test of the result is that
 * of these operands, too. */
static uint64_t operands_that_propagate(const code_op *op)
{
  uint64_t first = UINT64_C(1) << op->rs1, second = UINT64_C(1) << op->rs2;
  switch (op->id) {
  case OP_FMADD_S:
  case OP_FMSUB_S:
  case OP_FNMSUB_S:
  case OP_FNMADD_S:
    return first | second | UINT64_C(1) << (op->imm >> 8 & 31);
  case OP_FADD_S:
  case OP_FSUB_S:
  case OP_FMUL_S:
  case OP_F32V2_ADD:
  case OP_F32V2_SUB:
  case OP_F32V2_MUL:
    return first | second;
  case OP_FDIV_S: /* a finite value / infinity is 0 */
  case OP_FSQRT_S:
    return first;
  default:
    return 0;
  }
}

void lift_need_finite(lift *l, uint32_t word, LLVMValueRef result)
{
  if (!l->unit->checked || l->is_tried) return;
  const code_op *op = &l->unit->ops[l->op_index];
  uint64_t shown = operands_that_propagate(op) << word;
  if (!l->untested.quiet) begin(l);
  for (uint32_t r = 0; r < NUM_FLOAT_WORDS; r++)
    if (shown >> r & 1) l->untested.finite[r] = NULL;
  add_finite(l, op->rd + word);
  l->untested.finite[op->rd + word] = lift_is_finite(l, result);
}

/* For operations with operands_that_propagate, lift_need_finite keeps the tests. */
void lift_note_writes(lift *l, const code_op *op)
{
  if (!l->untested.quiet || operands_that_propagate(op)) return;
  uint64_t writes = code_op_writes_f(op);
  for (uint32_t r = 0; r < NUM_FLOAT_WORDS; r++)
    if (writes >> r & 1) add_finite(l, r);
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

void lift_expect(lift *l, LLVMValueRef condition)
{
  if (l->is_trial) add_condition(l, condition);
}

bool lift_has_trial(const lift *l, const counted_loop *loop)
{
  return loop->fixed_time && (l->unit->checked || loop->has_cold);
}

void lift_save_loop(lift *l, const counted_loop *loop, saved_registers *saved)
{
  for (uint32_t n = 0; n < l->f->num_blocks; n++) {
    const code_block *b = &l->unit->blocks[l->f->first_block + n];
    if (loop->contains[n]) save_written(l, b->first_op, b->first_op + b->num_ops, saved);
  }
}
