/* Functions of a unit: blocks, edges, calls, limits.
 *
 * A native function returns when its tile function does, or whenever the interpreter has to go on;
 * context.pc says where. A caller that finds another pc than the one behind its call returns, too:
 * so the way back to the interpreter is always open, whatever the tile code does to its return
 * addresses. */
#include "lift.h"

#include <populus/arena.h>
#include <stdio.h>
#include <stdlib.h>

static LLVMValueRef has_time(lift *l)
{
  LLVMValueRef left = LLVMBuildLoad2(l->b, l->type.i64, l->left, "");
  return lift_compare(l, LLVMIntSGE, left, lift_constant64(l, 0));
}

static LLVMValueRef ask_for_time(lift *l)
{
  LLVMValueRef added = LLVMBuildCall2(l->b, l->type.more_time, l->more_time, &l->frame, 1, "");
  LLVMSetInstructionCallConv(added, LLVMGetFunctionCallConv(l->more_time));
  return added;
}

/* Leaves to `pc` unless there is, or can be had, time for everything up to the next such test. */
static void test_limit(lift *l, LLVMValueRef pc)
{
  LLVMBasicBlockRef ask = lift_new_block(l, "ask"), out = lift_new_block(l, "no_time");
  LLVMBasicBlockRef in = lift_new_block(l, "time");
  lift_likely(l, has_time(l), in, ask);
  lift_at_end(l, ask);
  LLVMValueRef left = LLVMBuildLoad2(l->b, l->type.i64, l->left, "");
  LLVMBuildStore(l->b, LLVMBuildAdd(l->b, left, ask_for_time(l), ""), l->left);
  LLVMBuildCondBr(l->b, has_time(l), in, out);
  lift_at_end(l, out);
  lift_leave_at(l, pc);
  lift_at_end(l, in);
}

/* Edges */

/* The way from the current block to block `to` of the function, as a basic block to branch to. */
static LLVMBasicBlockRef edge(lift *l, uint32_t from, int32_t to, uint32_t target_pc)
{
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b), way;
  if (to == UNIT_NONE) {
    way = lift_new_block(l, "outside");
    lift_at_end(l, way);
    lift_leave_at(l, lift_constant(l, target_pc));
    lift_at_end(l, here);
    return way;
  }
  if (l->fast && l->fast->contains[to]) return l->fast_copy.starts[to];
  int32_t number = l->loops.loop_of[to];
  const counted_loop *loop = number == UNIT_NONE ? NULL : &l->loops.loops[number];
  bool inside = loop && loop->contains[from];
  LLVMBasicBlockRef target = loop && !inside ? l->guards[to] : l->plain.starts[to];
  if (l->loops.order[from] < l->loops.order[to]) return target;
  way = lift_new_block(l, "again");
  lift_at_end(l, way);
  test_limit(l, lift_constant(l, target_pc));
  LLVMBuildBr(l->b, target);
  lift_at_end(l, here);
  return way;
}

static void lift_branch(lift *l, uint32_t number, const code_op *op)
{
  const code_block *b = l->block;
  if (l->fast && number == l->fast->latch) { /* the guard has counted the rounds */
    LLVMValueRef round = LLVMBuildLoad2(l->b, l->type.i64, l->round, "");
    round = LLVMBuildNUWAdd(l->b, round, lift_constant64(l, 1), "");
    LLVMBuildStore(l->b, round, l->round);
    bool taken = b->taken == (int32_t)l->fast->header;
    if (!l->last_round) {
      LLVMBuildBr(l->b, taken ? edge(l, number, b->next, b->pc_end)
                              : edge(l, number, b->taken, (uint32_t)op->imm));
      return;
    }
    LLVMValueRef more = lift_compare(l, LLVMIntULT, round, l->rounds);
    LLVMValueRef again =
        LLVMBuildCondBr(l->b, more, l->fast_copy.starts[l->fast->header], l->last_round);
    lift_keep_vectors_single(l, again);
    return;
  }
  LLVMValueRef condition = lift_branch_condition(l, op);
  LLVMBasicBlockRef taken = edge(l, number, b->taken, (uint32_t)op->imm);
  LLVMBasicBlockRef next = edge(l, number, b->next, b->pc_end);
  LLVMBuildCondBr(l->b, condition, taken, next);
}

/* Calls */

static void call_native(lift *l, LLVMValueRef callee)
{
  LLVMBuildCall2(l->b, l->type.function, callee, &l->frame, 1, "");
}

/* Behind a call that should have come back to `pc`. */
static void come_back(lift *l, uint32_t number)
{
  const code_block *b = l->block;
  LLVMValueRef pc =
      LLVMBuildLoad2(l->b, l->type.i32, lift_field(l, l->registers, offsetof(context, pc)), "");
  LLVMBasicBlockRef back = lift_new_block(l, "back"), lost = lift_new_block(l, "lost");
  bool expected = b->next != UNIT_NONE;
  LLVMValueRef same = lift_compare(l, LLVMIntEQ, pc, lift_constant(l, b->pc_end));
  lift_likely(l, expected ? same : LLVMConstInt(l->type.i1, 0, 0), back, lost);
  lift_at_end(l, lost);
  LLVMBuildRetVoid(l->b);
  lift_at_end(l, back);
  if (!expected) {
    LLVMBuildUnreachable(l->b);
    return;
  }
  lift_load_state(l);
  test_limit(l, lift_constant(l, b->pc_end));
  LLVMBuildBr(l->b, edge(l, number, b->next, b->pc_end));
}

/* Everything is in the context, the pc too: calls `callee` if the host's stack is not too deep. */
static void call_and_come_back(lift *l, uint32_t number, LLVMValueRef callee)
{
  LLVMBasicBlockRef call = lift_new_block(l, "call"), out = lift_new_block(l, "deep");
  LLVMValueRef place = lift_field(l, l->frame, offsetof(translated_frame, depth));
  LLVMValueRef depth = LLVMBuildLoad2(l->b, l->type.i32, place, "");
  LLVMValueRef shallow = lift_compare(l, LLVMIntULT, depth, lift_constant(l, TRANSLATED_MAX_DEPTH));
  lift_likely(l, shallow, call, out);
  lift_at_end(l, out);
  LLVMBuildRetVoid(l->b);
  lift_at_end(l, call);
  LLVMBuildStore(l->b, LLVMBuildAdd(l->b, depth, lift_constant(l, 1), ""), place);
  call_native(l, callee);
  LLVMBuildStore(l->b, depth, place);
  come_back(l, number);
}

/* Calls what the frame's tile has at `target`, if that is native code. */
static void call_found(lift *l, uint32_t number, LLVMValueRef target)
{
  lift_store_state(l, target);
  LLVMValueRef arguments[] = {l->frame, target};
  LLVMValueRef callee = LLVMBuildCall2(l->b, l->type.find, l->find, arguments, 2, "");
  LLVMBasicBlockRef known = lift_new_block(l, "known"), unknown = lift_new_block(l, "unknown");
  lift_likely(l, LLVMBuildIsNotNull(l->b, callee, ""), known, unknown);
  lift_at_end(l, unknown);
  LLVMBuildRetVoid(l->b);
  lift_at_end(l, known);
  call_and_come_back(l, number, callee);
}

static void lift_call(lift *l, uint32_t number, const code_op *op)
{
  LLVMValueRef target = lift_constant(l, (uint32_t)op->imm);
  lift_set_x(l, op->rd, lift_constant(l, l->block->pc_end));
  if (l->block->callee == UNIT_NONE) {
    call_found(l, number, target);
    return;
  }
  lift_store_state(l, target);
  call_and_come_back(l, number, l->functions[l->block->callee]);
}

static uint32_t target_pc(const lift *l, uint32_t number)
{
  int32_t block = l->unit->targets[l->block->first_target + number];
  return l->unit->blocks[l->f->first_block + (uint32_t)block].pc;
}

/* To one of the places where a jump table leads, or somewhere else. The words of the code are counted
 * from the first of these places, so that LLVM finds the cases dense and makes a table, too. */
static void jump_by_table(lift *l, uint32_t number, LLVMValueRef target)
{
  const code_block *b = l->block;
  uint32_t lowest = UINT32_MAX;
  for (uint32_t i = 0; i < b->num_targets; i++)
    if (target_pc(l, i) < lowest) lowest = target_pc(l, i);
  LLVMValueRef way = LLVMBuildSub(l->b, target, lift_constant(l, lowest), "");
  LLVMValueRef words = LLVMBuildOr(l->b, LLVMBuildLShr(l->b, way, lift_constant(l, 2), ""),
                                   LLVMBuildShl(l->b, way, lift_constant(l, 30), ""), "");
  LLVMBasicBlockRef other = lift_new_block(l, "other");
  LLVMValueRef jump = LLVMBuildSwitch(l->b, words, other, b->num_targets);
  for (uint32_t i = 0; i < b->num_targets; i++) {
    int32_t to = l->unit->targets[b->first_target + i];
    LLVMValueRef word = lift_constant(l, (target_pc(l, i) - lowest) / 4);
    LLVMAddCase(jump, word, edge(l, number, to, target_pc(l, i)));
  }
  lift_at_end(l, other);
  lift_leave_at(l, target);
}

static void lift_dynamic(lift *l, uint32_t number, const code_op *op)
{
  LLVMValueRef target = lift_x(l, op->rs1), back = lift_constant(l, l->block->pc_end);
  if (op->id == OP_TILE_CALL) {
    LLVMValueRef state = lift_x(l, op->rs2);
    LLVMBuildStore(l->b, target, lift_field(l, l->registers, offsetof(context, vertex_entry)));
    LLVMBuildStore(l->b, state, lift_field(l, l->registers, offsetof(context, vertex_state)));
    LLVMBuildStore(l->b, lift_constant(l, 0),
                   lift_field(l, l->frame, offsetof(translated_frame, state_bytes)));
    lift_set_x(l, 10, state);
    lift_set_x(l, 1, back);
  } else {
    target = LLVMBuildAdd(l->b, target, lift_constant(l, (uint32_t)op->imm), "");
    target = LLVMBuildAnd(l->b, target, lift_constant(l, ~1u), "");
    lift_set_x(l, op->rd, back);
  }
  if (l->block->num_targets)
    jump_by_table(l, number, target);
  else if (l->block->next == UNIT_NONE)
    lift_leave_at(l, target);
  else
    call_found(l, number, target);
}

/* Blocks */

static void pay(lift *l, const code_block *b)
{
  uint64_t slots = 0;
  for (uint32_t i = 0; i < b->num_ops; i++) slots += l->unit->ops[b->first_op + i].cost;
  lift_add_time(l, slots, b->num_ops);
}

static bool ends_by_op(const code_block *b)
{
  return b->end != BLOCK_NEXT && b->end != BLOCK_LEAVE;
}

static void lift_last_op(lift *l, uint32_t number, const code_op *last)
{
  const code_block *b = l->block;
  switch (b->end) {
  case BLOCK_BRANCH:
    lift_branch(l, number, last);
    return;
  case BLOCK_JUMP:
    LLVMBuildBr(l->b, edge(l, number, b->taken, (uint32_t)last->imm));
    return;
  case BLOCK_ENTER:
    lift_set_x(l, last->rd, lift_constant(l, b->pc_end));
    LLVMBuildBr(l->b, edge(l, number, b->taken, (uint32_t)last->imm));
    return;
  case BLOCK_CALL:
    lift_call(l, number, last);
    return;
  default:
    lift_dynamic(l, number, last);
    return;
  }
}

static void lift_end(lift *l, uint32_t number)
{
  const code_block *b = l->block;
  if (b->end == BLOCK_LEAVE)
    lift_leave_at(l, lift_constant(l, b->pc_end));
  else if (b->end == BLOCK_NEXT)
    LLVMBuildBr(l->b, edge(l, number, b->next, b->pc_end));
  else
    lift_last_op(l, number, &l->unit->ops[b->first_op + b->num_ops - 1]);
}

static void lift_op(lift *l, uint32_t index)
{
  const code_op *op = &l->unit->ops[l->block->first_op + index];
  l->op_index = l->block->first_op + index;
  bool known = lift_memory(l, op) || lift_integer(l, op) || lift_float(l, op) || lift_copy(l, op);
  if (!known) abort(); /* discovery leaves everything else to the interpreter */
}

static void lift_block(lift *l, uint32_t number)
{
  const code_block *b = &l->unit->blocks[l->f->first_block + number];
  l->block = b;
  lift_at_end(l, l->copy->starts[number]);
  if (!l->fast || !l->fast->fixed_time || !l->last_round) pay(l, b);
  for (uint32_t i = 0; i < b->num_ops - ends_by_op(b); i++) lift_op(l, i);
  lift_end(l, number);
}

/* Functions */

static LLVMValueRef load_field(lift *l, LLVMTypeRef type, size_t offset, const char *name)
{
  return LLVMBuildLoad2(l->b, type, lift_field(l, l->frame, offset), name);
}

#define LOAD_FIELD(type_name, member)                                                              \
  load_field(l, l->type.type_name, offsetof(translated_frame, member), #member)

static void load_frame(lift *l)
{
  l->registers = LOAD_FIELD(pointer, c);
  l->memory = LOAD_FIELD(pointer, memory);
  l->readable_start = LOAD_FIELD(i32, readable_start);
  l->readable_bytes = LOAD_FIELD(i32, readable_bytes);
  l->writable_start = LOAD_FIELD(i32, writable_start);
  l->writable_bytes = LOAD_FIELD(i32, writable_bytes);
  l->stack_start = LOAD_FIELD(i32, stack_start);
  l->stack_bytes = LOAD_FIELD(i32, stack_bytes);
}

static LLVMValueRef has_time_for_all(lift *l)
{
  LLVMValueRef limit = LOAD_FIELD(i64, limit), slots = LOAD_FIELD(i64, slots);
  LLVMValueRef worst = lift_constant64(l, l->worst_slots);
  return lift_compare(l, LLVMIntUGE, limit, LLVMBuildAdd(l->b, slots, worst, ""));
}

/* Who cannot finish any path through the function does not begin. */
static void test_entry(lift *l)
{
  LLVMBasicBlockRef ask = lift_new_block(l, "ask"), out = lift_new_block(l, "no_time");
  LLVMBasicBlockRef in = lift_new_block(l, "time");
  lift_likely(l, has_time_for_all(l), in, ask);
  lift_at_end(l, ask);
  ask_for_time(l);
  LLVMBuildCondBr(l->b, has_time_for_all(l), in, out);
  lift_at_end(l, out);
  LLVMBuildRetVoid(l->b);
  lift_at_end(l, in);
}

static void sum_worst_slots(lift *l)
{
  l->worst_slots = 0;
  for (uint32_t n = 0; n < l->f->num_blocks; n++) {
    const code_block *b = &l->unit->blocks[l->f->first_block + n];
    for (uint32_t i = 0; i < b->num_ops; i++) l->worst_slots += l->unit->ops[b->first_op + i].cost;
  }
}

static uint32_t num_ops_of(const lift *l)
{
  const code_block *first = &l->unit->blocks[l->f->first_block];
  const code_block *last = first + l->f->num_blocks - 1;
  return last->first_op + last->num_ops - first->first_op;
}

/* For each operation of the function: does its address probably point into the stack? */
static void guess_stack(const lift *l, access_check *checks)
{
  uint32_t first = l->unit->blocks[l->f->first_block].first_op;
  for (uint32_t n = 0; n < l->f->num_blocks; n++) {
    const code_block *b = &l->unit->blocks[l->f->first_block + n];
    uint32_t bits = l->block_stack_pointers[n];
    for (uint32_t i = b->first_op; i < b->first_op + b->num_ops; i++) {
      const code_op *op = &l->unit->ops[i];
      checks[i - first].guess_stack = bits >> op->rs1 & 1;
      bits = stack_pointers_after(bits, op);
    }
  }
}

/* The blocks of the function, or of a loop. */
static code_copy make_copy(lift *l, const counted_loop *loop)
{
  uint32_t n = l->f->num_blocks;
  code_copy copy = {.starts = pop_xcalloc(n, sizeof *copy.starts),
                    .checks = function_checks_find(l->unit, l->f, &l->loops, loop),
                    .places = pop_xcalloc(num_ops_of(l) + 1, sizeof *copy.places)};
  guess_stack(l, copy.checks);
  for (uint32_t i = 0; i < n; i++) {
    if (loop && !loop->contains[i]) continue;
    char name[16];
    snprintf(name, sizeof name, "%s_%x", loop ? "fast" : "at",
             l->unit->blocks[l->f->first_block + i].pc);
    copy.starts[i] = lift_new_block(l, name);
  }
  return copy;
}

static void lift_code(lift *l, const code_copy *copy)
{
  l->copy = copy;
  for (uint32_t i = 0; i < l->f->num_blocks; i++)
    if (copy->starts[i]) lift_block(l, i);
}

static void free_copy(code_copy *copy)
{
  free(copy->checks);
  free(copy->places);
  free(copy->starts);
}

/* Registers that grow by the same in each round, and time, behind `rounds` rounds: by multiplication, so that nothing in the
 * loop has to count them (the final values of induction variables). `before`: registers in front of the loop. */
static void finish_rounds(lift *l, const counted_loop *loop, LLVMValueRef rounds,
                          LLVMValueRef before[NUM_REGISTERS])
{
  LLVMValueRef count = LLVMBuildTrunc(l->b, rounds, l->type.i32, "");
  for (uint32_t r = 1; r < NUM_REGISTERS; r++) {
    if (!before[r]) continue;
    LLVMValueRef way = LLVMBuildMul(l->b, count, lift_constant(l, (uint32_t)loop->steps[r]), "");
    lift_set_x(l, r, LLVMBuildAdd(l->b, before[r], way, ""));
  }
  if (loop->fixed_time) lift_add_time_of(l, rounds, loop->worst_slots, loop->num_ops);
}

/* Loop peeling: the last round is a copy of its own. What registers hold behind the loop is from there, so nothing that
 * the other rounds compute is needed behind them but what the next one needs, and LLVM can do what is left of them behind
 * whole vectors in shorter vectors. */
static void lift_fast_copy(lift *l, counted_loop *loop)
{
  code_copy last = make_copy(l, loop);
  LLVMValueRef before[NUM_REGISTERS] = {NULL};
  l->fast_copy = make_copy(l, loop);
  l->last_round = lift_new_block(l, "last");
  lift_at_end(l, l->guards[loop->header]);
  for (uint32_t r = 1; r < NUM_REGISTERS; r++)
    if (l->writes_x[r] && loop->known_step[r] && loop->steps[r]) before[r] = lift_x(l, r);
  lift_guard(l, loop, &l->rounds);
  l->fast = loop;
  lift_code(l, &l->fast_copy);
  free_copy(&l->fast_copy);
  lift_at_end(l, l->last_round);
  finish_rounds(l, loop, l->rounds, before);
  LLVMBuildBr(l->b, last.starts[loop->header]);
  l->last_round = NULL;
  l->fast_copy = last;
  lift_code(l, &l->fast_copy);
  l->fast = NULL;
  free_copy(&l->fast_copy);
}

static LLVMBasicBlockRef entry_target(lift *l)
{
  return l->loops.loop_of[0] == UNIT_NONE ? l->plain.starts[0] : l->guards[0];
}

static void lift_body(lift *l)
{
  for (size_t i = 0; i < l->loops.num_loops; i++)
    l->guards[l->loops.loops[i].header] = lift_new_block(l, "guard");
  LLVMBuildBr(l->b, entry_target(l));
  lift_code(l, &l->plain);
  for (size_t i = 0; i < l->loops.num_loops; i++) lift_fast_copy(l, &l->loops.loops[i]);
}

static void forget_function(lift *l)
{
  function_loops_free(&l->loops);
  free(l->block_stack_pointers);
  free_copy(&l->plain);
  free(l->guards);
}

static void lift_one(lift *l, size_t number)
{
  lift fresh = {.context = l->context,
                .module = l->module,
                .b = l->b,
                .type = l->type,
                .access = l->access,
                .more_time = l->more_time,
                .find = l->find,
                .value = l->value,
                .copy_block = l->copy_block,
                .likely = l->likely,
                .functions = l->functions,
                .unit = l->unit,
                .f = &l->unit->functions[number],
                .function = l->functions[number],
                .frame = LLVMGetParam(l->functions[number], 0)};
  *l = fresh;
  lift_at_end(l, lift_new_block(l, "entry"));
  lift_make_slots(l);
  sum_worst_slots(l);
  function_loops_find(l->unit, l->f, &l->loops);
  l->block_stack_pointers = stack_pointers_find(l->unit, l->f);
  load_frame(l);
  test_entry(l);
  lift_load_state(l);
  LLVMBasicBlockRef begin = LLVMGetInsertBlock(l->b);
  l->leave = lift_new_block(l, "leave");
  lift_at_end(l, l->leave);
  lift_store_state(l, LLVMBuildLoad2(l->b, l->type.i32, l->leave_pc, ""));
  LLVMBuildRetVoid(l->b);
  l->plain = make_copy(l, NULL);
  l->guards = pop_xcalloc(l->f->num_blocks, sizeof *l->guards);
  lift_at_end(l, begin);
  lift_body(l);
  forget_function(l);
}

void lift_unit(lift *l)
{
  for (size_t i = 0; i < l->unit->num_functions; i++) {
    char name[24];
    snprintf(name, sizeof name, "tile_%x", l->unit->functions[i].entry);
    l->functions[i] = LLVMAddFunction(l->module, name, l->type.function);
    LLVMSetLinkage(l->functions[i], i ? LLVMInternalLinkage : LLVMExternalLinkage);
  }
  for (size_t i = 0; i < l->unit->num_functions; i++) lift_one(l, i);
}
