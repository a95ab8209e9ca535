/* Calls (conventions: calling_convention.c), and indirect jumps.
 *
 * A native function returns when its tile function returns, or when the interpreter has to go on.
 * In that case it has written its own registers to the context; its caller adds those that only the
 * caller has written, and so on up to the code that runs native code (unwinding). If a callee
 * returns to another place than behind the call, the caller leaves for that place. So the way back
 * to the interpreter is always open, whatever the tile code does to its return addresses. */
#include "lift.h"

#include <populus/arena.h>
#include <string.h>

static LLVMCallConv llvm_convention_of(const calling_convention *c)
{
  return c->by_context ? LLVMCCallConv : LLVMX86RegCallCallConv;
}

LLVMValueRef lift_declare(const lift *l, size_t number, const char *name)
{
  const calling_convention *c = &l->conventions[number];
  LLVMValueRef function = LLVMAddFunction(l->module, name, c->type);
  LLVMSetLinkage(function, number ? LLVMInternalLinkage : LLVMExternalLinkage);
  LLVMSetFunctionCallConv(function, llvm_convention_of(c));
  return function;
}

static LLVMValueRef load_pc(lift *l)
{
  LLVMValueRef place = lift_field(l, l->registers, offsetof(context, pc));
  return LLVMBuildLoad2(l->b, l->type.i32, place, "");
}

static void take_single(lift *l, uint32_t r, LLVMValueRef value)
{
  lift_set_f_bits(l, r, lift_as_bits(l, value));
}

void lift_begin(lift *l)
{
  if (l->own->by_context) {
    lift_load_state(l);
    return;
  }
  LLVMBuildStore(l->b, LLVMGetParam(l->function, 1), l->time);
  unsigned at = 2;
  for (uint32_t r = 1; r < NUM_REGISTERS; r++)
    if (l->own->x >> r & 1)
      lift_set_x(l, r, LLVMBuildTrunc(l->b, LLVMGetParam(l->function, at++), l->type.i32, ""));
  for (uint32_t r = 0; r < NUM_FLOAT_WORDS; r++)
    if (l->own->f >> r & 1) take_single(l, r, LLVMGetParam(l->function, at++));
}

/* Returns */

void lift_build_unwind(lift *l)
{
  if (l->own->by_context) {
    LLVMBuildRetVoid(l->b);
    return;
  }
  LLVMValueRef nothing = LLVMGetUndef(l->own->result), left = lift_constant(l, UNWINDING);
  LLVMBuildRet(l->b, LLVMBuildInsertValue(l->b, nothing, left, 0, ""));
}

static void add_result(lift *l, LLVMValueRef *result, unsigned *at, LLVMValueRef value)
{
  *result = LLVMBuildInsertValue(l->b, *result, value, (*at)++, "");
}

/* Returns to `target`, which the caller compares with the place behind its call. */
static void lift_return(lift *l, LLVMValueRef target)
{
  const calling_convention *own = l->own;
  if (own->by_context) {
    lift_leave_at(l, target, lift_exit_registers_unknown(l));
    return;
  }
  LLVMValueRef result = LLVMGetUndef(own->result);
  unsigned at = 0;
  lift_store_registers(l, own->writes_x & ~own->result_x, own->writes_f & ~own->result_f);
  add_result(l, &result, &at, target);
  add_result(l, &result, &at, lift_time(l));
  for (uint32_t r = 1; r < NUM_REGISTERS; r++)
    if (own->result_x >> r & 1) add_result(l, &result, &at, lift_x(l, r));
  for (uint32_t r = 0; r < NUM_FLOAT_WORDS; r++)
    if (own->result_f >> r & 1) add_result(l, &result, &at, lift_as_single(l, lift_f_bits(l, r)));
  LLVMBuildRet(l->b, result);
}

/* Calls by context */

/* Behind a call that should return to the end of the block; everything is in the context. */
static void check_return(lift *l, uint32_t number)
{
  const code_block *b = l->block;
  LLVMValueRef pc = load_pc(l);
  LLVMBasicBlockRef back = lift_new_block(l, "back"), lost = lift_new_block(l, "lost");
  bool expected = b->next != UNIT_NONE;
  LLVMValueRef same = lift_compare(l, LLVMIntEQ, pc, lift_pc(l, b->pc_end));
  lift_likely(l, expected ? same : LLVMConstInt(l->type.i1, 0, 0), back, lost);
  lift_at_end(l, lost);
  lift_build_unwind(l);
  lift_at_end(l, back);
  if (!expected) {
    LLVMBuildUnreachable(l->b);
    return;
  }
  lift_load_state(l);
  lift_test_limit(l, lift_pc(l, b->pc_end), (uint32_t)b->next);
  LLVMBuildBr(l->b, lift_edge(l, number, b->next, b->pc_end));
}

static void call_by_context(lift *l, uint32_t number, LLVMValueRef callee)
{
  LLVMBuildCall2(l->b, l->type.function, callee, &l->frame, 1, "");
  check_return(l, number);
}

/* Calls the tile's native code for `target`, if there is any. */
static void call_found(lift *l, uint32_t number, LLVMValueRef target)
{
  lift_store_state(l, target, lift_exit_registers_unknown(l));
  LLVMValueRef arguments[] = {l->frame, target};
  LLVMValueRef callee = LLVMBuildCall2(l->b, l->type.find, l->find, arguments, 2, "");
  LLVMBasicBlockRef known = lift_new_block(l, "known"), unknown = lift_new_block(l, "unknown");
  lift_likely(l, LLVMBuildIsNotNull(l->b, callee, ""), known, unknown);
  lift_at_end(l, unknown);
  lift_build_unwind(l);
  lift_at_end(l, known);
  call_by_context(l, number, callee);
}

/* Calls with parameters */

/* Converts time between two functions: each counts what is left beyond its own worst_slots. */
static LLVMValueRef rebase_time(lift *l, LLVMValueRef time, const calling_convention *from,
                                const calling_convention *to)
{
  LLVMValueRef slots = lift_constant64(l, from->worst_slots - to->worst_slots);
  return LLVMBuildAdd(l->b, time, lift_as_time(l, slots), "");
}

static LLVMValueRef call_with_parameters(lift *l, size_t callee)
{
  const calling_convention *to = &l->conventions[callee];
  LLVMValueRef arguments[2 + NUM_REGISTERS + NUM_FLOAT_WORDS];
  unsigned count = 0;
  arguments[count++] = l->frame;
  arguments[count++] = rebase_time(l, lift_time(l), l->own, to);
  for (uint32_t r = 1; r < NUM_REGISTERS; r++)
    if (to->x >> r & 1) arguments[count++] = LLVMBuildZExt(l->b, lift_x(l, r), l->type.i64, "");
  for (uint32_t r = 0; r < NUM_FLOAT_WORDS; r++)
    if (to->f >> r & 1) arguments[count++] = lift_as_single(l, lift_f_bits(l, r));
  LLVMValueRef function = l->functions[callee];
  LLVMValueRef result = LLVMBuildCall2(l->b, to->type, function, arguments, count, "");
  LLVMSetInstructionCallConv(result, LLVMGetFunctionCallConv(function));
  return result;
}

static void take_results(lift *l, const calling_convention *from, LLVMValueRef result)
{
  unsigned at = 1; /* behind the pc */
  LLVMValueRef time = LLVMBuildExtractValue(l->b, result, at++, "");
  LLVMBuildStore(l->b, rebase_time(l, time, from, l->own), l->time);
  for (uint32_t r = 1; r < NUM_REGISTERS; r++)
    if (from->result_x >> r & 1) lift_set_x(l, r, LLVMBuildExtractValue(l->b, result, at++, ""));
  for (uint32_t r = 0; r < NUM_FLOAT_WORDS; r++)
    if (from->result_f >> r & 1) take_single(l, r, LLVMBuildExtractValue(l->b, result, at++, ""));
  lift_load_registers(l, from->writes_x & ~from->result_x, from->writes_f & ~from->result_f);
}

/* Behind a call that did not come back to the end of the block. */
static void unwind_or_leave(lift *l, const calling_convention *from, LLVMValueRef result,
                            LLVMValueRef pc)
{
  LLVMBasicBlockRef lost = lift_new_block(l, "lost"), unwind = lift_new_block(l, "unwind");
  register_set all = lift_exit_registers_unknown(l);
  LLVMValueRef left = lift_compare(l, LLVMIntEQ, pc, lift_constant(l, UNWINDING));
  LLVMBuildCondBr(l->b, left, unwind, lost);
  lift_at_end(l, unwind);
  lift_store_registers(l, all.x & ~from->writes_x, all.f & ~from->writes_f);
  lift_build_unwind(l);
  lift_at_end(l, lost);
  take_results(l, from, result);
  lift_leave_at(l, pc, all);
}

static void call_direct(lift *l, uint32_t number, size_t callee)
{
  const code_block *b = l->block;
  const calling_convention *to = &l->conventions[callee];
  LLVMValueRef result = call_with_parameters(l, callee);
  LLVMValueRef pc = LLVMBuildExtractValue(l->b, result, 0, "pc");
  if (b->next == UNIT_NONE) {
    unwind_or_leave(l, to, result, pc);
    return;
  }
  LLVMBasicBlockRef back = lift_new_block(l, "back"), elsewhere = lift_new_block(l, "elsewhere");
  lift_likely(l, lift_compare(l, LLVMIntEQ, pc, lift_pc(l, b->pc_end)), back, elsewhere);
  lift_at_end(l, elsewhere);
  unwind_or_leave(l, to, result, pc);
  lift_at_end(l, back);
  take_results(l, to, result);
  lift_test_limit(l, lift_pc(l, b->pc_end), (uint32_t)b->next);
  LLVMBuildBr(l->b, lift_edge(l, number, b->next, b->pc_end));
}

static void call_known(lift *l, uint32_t number, LLVMValueRef target)
{
  size_t callee = (size_t)l->block->callee;
  if (!l->conventions[callee].by_context) {
    call_direct(l, number, callee);
    return;
  }
  lift_store_state(l, target, lift_exit_registers_unknown(l));
  call_by_context(l, number, l->functions[callee]);
}

void lift_resolved(lift *l, uint32_t number)
{
  call_known(l, number, lift_pc(l, l->block->pc));
}

void lift_call(lift *l, uint32_t number, const code_op *op)
{
  LLVMValueRef target = lift_pc(l, (uint32_t)op->imm);
  lift_set_x(l, op->rd, lift_pc(l, l->block->pc_end));
  if (l->block->callee == UNIT_NONE)
    call_found(l, number, target);
  else
    call_known(l, number, target);
}

/* Jumps through registers */

static uint32_t target_pc(const lift *l, uint32_t number)
{
  int32_t block = l->unit->targets[l->block->first_target + number];
  return l->unit->blocks[l->f->first_block + (uint32_t)block].pc;
}

/* Jumps to one of the targets of a jump table, or somewhere else. Case values are distances in
 * words from the lowest target, so that LLVM finds them dense and makes a table, too. `from`: the
 * block; UNIT_NONE: several. */
static void jump_by_table(lift *l, int32_t from, LLVMValueRef target)
{
  const code_block *b = l->block;
  uint32_t lowest = target_pc(l, 0);
  for (uint32_t i = 1; i < b->num_targets; i++)
    if (target_pc(l, i) < lowest) lowest = target_pc(l, i);
  LLVMValueRef distance = LLVMBuildSub(l->b, target, lift_pc(l, lowest), "");
  LLVMValueRef words = LLVMBuildOr(l->b, LLVMBuildLShr(l->b, distance, lift_constant(l, 2), ""),
                                   LLVMBuildShl(l->b, distance, lift_constant(l, 30), ""), "");
  LLVMBasicBlockRef other = lift_new_block(l, "other");
  LLVMValueRef jump = LLVMBuildSwitch(l->b, words, other, b->num_targets);
  for (uint32_t i = 0; i < b->num_targets; i++) {
    int32_t to = l->unit->targets[b->first_target + i];
    LLVMValueRef word = lift_constant(l, (target_pc(l, i) - lowest) / 4);
    LLVMAddCase(jump, word,
                from == UNIT_NONE ? lift_edge_of_several(l, (uint32_t)to, target_pc(l, i))
                                  : lift_edge(l, (uint32_t)from, to, target_pc(l, i)));
  }
  lift_at_end(l, other);
}

/* An interpreter that runs on a tile may end each of its many operations with a jump to any of
 * them. LLVM's time grows with the number of these edges, times the number of registers. So where
 * there are many, all jumps by the same table share one switch. */
enum { MANY_TABLE_TARGETS = 1024 };

static bool is_table_jump(const code_block *b)
{
  return b->end == BLOCK_INDIRECT && b->num_targets > 1 && b->next == UNIT_NONE;
}

static bool has_many_table_targets(const lift *l)
{
  uint32_t count = 0;
  for (uint32_t n = 0; n < l->f->num_blocks; n++) {
    const code_block *b = &l->unit->blocks[l->f->first_block + n];
    if (is_table_jump(b)) count += b->num_targets;
  }
  return count > MANY_TABLE_TARGETS;
}

static bool has_same_targets(const lift *l, const code_block *a, const code_block *b)
{
  const int32_t *targets = l->unit->targets;
  return a->num_targets == b->num_targets &&
         !memcmp(targets + a->first_target, targets + b->first_target,
                 a->num_targets * sizeof *targets);
}

static shared_jump make_shared_jump(lift *l)
{
  shared_jump jump = {l->block, lift_new_block(l, "jump"), lift_new_slot(l, l->type.i32, "target")};
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b);
  lift_at_end(l, jump.start);
  LLVMValueRef target = LLVMBuildLoad2(l->b, l->type.i32, jump.target, "");
  jump_by_table(l, UNIT_NONE, target);
  lift_leave_at(l, target, lift_exit_registers_unknown(l));
  lift_at_end(l, here);
  return jump;
}

/* The shared jump of the current block. */
static shared_jump find_shared_jump(lift *l)
{
  for (size_t i = 0; i < l->num_jumps; i++)
    if (has_same_targets(l, l->jumps[i].first, l->block)) return l->jumps[i];
  shared_jump jump = make_shared_jump(l);
  pop_push(l->jumps, l->num_jumps, l->jumps_capacity, jump);
  return jump;
}

static void jump_by_shared_switch(lift *l, LLVMValueRef target)
{
  shared_jump jump = find_shared_jump(l);
  LLVMBuildStore(l->b, target, jump.target);
  LLVMBuildBr(l->b, jump.start);
}

/* In the fast copy of a loop with cold paths: any other target is on a cold path. */
static void jump_as_expected(lift *l, uint32_t number, LLVMValueRef target)
{
  uint32_t pc = target_pc(l, 0);
  lift_expect(l, lift_compare(l, LLVMIntEQ, target, lift_pc(l, pc)));
  LLVMBuildBr(l->b, lift_edge(l, number, l->unit->targets[l->block->first_target], pc));
}

static LLVMValueRef start_vertex(lift *l, const code_op *op)
{
  LLVMValueRef target = lift_x(l, op->rs1), state = lift_x(l, op->rs2);
  LLVMBuildStore(l->b, target, lift_field(l, l->registers, offsetof(context, vertex_entry)));
  LLVMBuildStore(l->b, state, lift_field(l, l->registers, offsetof(context, vertex_state)));
  LLVMBuildStore(l->b, lift_constant(l, 0),
                 lift_field(l, l->frame, offsetof(translated_frame, other_bytes)));
  lift_set_x(l, 10, state);
  lift_set_x(l, 1, lift_pc(l, l->block->pc_end));
  return target;
}

static LLVMValueRef jump_target(lift *l, const code_op *op)
{
  LLVMValueRef target =
      LLVMBuildAdd(l->b, lift_x(l, op->rs1), lift_constant(l, (uint32_t)op->imm), "");
  lift_set_x(l, op->rd, lift_pc(l, l->block->pc_end));
  return LLVMBuildAnd(l->b, target, lift_constant(l, ~1u), "");
}

void lift_indirect(lift *l, uint32_t number, const code_op *op)
{
  const code_block *b = l->block;
  LLVMValueRef target = op->id == OP_TILE_CALL ? start_vertex(l, op) : jump_target(l, op);
  if (l->fast && l->fast->has_cold) {
    jump_as_expected(l, number, target);
    return;
  }
  if (!l->fast && is_table_jump(b) && has_many_table_targets(l)) {
    jump_by_shared_switch(l, target);
    return;
  }
  if (b->num_targets) jump_by_table(l, (int32_t)number, target);
  if (b->next != UNIT_NONE)
    call_found(l, number, target);
  else if (b->num_targets)
    lift_leave_at(l, target, lift_exit_registers_unknown(l));
  else
    lift_return(l, target);
}
