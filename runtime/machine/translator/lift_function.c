/* Functions of a unit: blocks, edges, limits. */
#include "lift.h"

#include <populus/arena.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITERATIONS_BEFORE_GUARD = 8 }; /* of a loop with early exits */

static LLVMValueRef has_time(lift *l)
{
  return lift_compare(l, LLVMIntSGE, lift_time(l), lift_constant64(l, 0));
}

static LLVMValueRef ask_for_time(lift *l)
{
  LLVMValueRef helper = l->more_time[!l->own->by_context];
  LLVMValueRef added = LLVMBuildCall2(l->b, l->type.more_time, helper, &l->frame, 1, "");
  LLVMSetInstructionCallConv(added, LLVMGetFunctionCallConv(helper));
  return added;
}

void lift_test_limit(lift *l, LLVMValueRef pc, uint32_t block)
{
  LLVMBasicBlockRef ask = lift_new_block(l, "ask"), out = lift_new_block(l, "no_time");
  LLVMBasicBlockRef in = lift_new_block(l, "time");
  lift_likely(l, has_time(l), in, ask);
  lift_at_end(l, ask);
  lift_add_limit(l, ask_for_time(l));
  LLVMBuildCondBr(l->b, has_time(l), in, out);
  lift_at_end(l, out);
  lift_leave_at(l, pc, lift_exit_registers_at(l, block));
  lift_at_end(l, in);
}

/* Edges */

static void count_iteration(lift *l)
{
  LLVMValueRef iteration = LLVMBuildLoad2(l->b, l->type.i64, l->iteration, "");
  LLVMBuildStore(l->b, LLVMBuildNUWAdd(l->b, iteration, lift_constant64(l, 1), ""), l->iteration);
}

/* At the end of an iteration of the plain copy of a loop with early exits. The guard costs as much
 * as some iterations, so it stands behind the first ITERATIONS_BEFORE_GUARD of them and not in
 * front of the loop. */
static void end_plain_iteration(lift *l, const counted_loop *loop, LLVMBasicBlockRef start)
{
  count_iteration(l);
  LLVMValueRef iteration = LLVMBuildLoad2(l->b, l->type.i64, l->iteration, "");
  LLVMValueRef go_on =
      lift_compare(l, LLVMIntNE, iteration, lift_constant64(l, ITERATIONS_BEFORE_GUARD));
  lift_likely(l, go_on, start, loop->late_guard);
}

/* A block where all backward edges to a block join. It tests the limit once for all. LLVM then sees
 * one backward edge, and phis for what differs between the paths. `loop`: the counted loop whose
 * iteration ends; NULL: none. */
static LLVMBasicBlockRef make_shared_latch(lift *l, uint32_t to, uint32_t pc,
                                           LLVMBasicBlockRef target, const counted_loop *loop)
{
  LLVMBasicBlockRef shared = lift_new_block(l, "repeat");
  lift_at_end(l, shared);
  lift_test_limit(l, lift_pc(l, pc), to);
  if (loop && loop->ends_early)
    end_plain_iteration(l, loop, target);
  else
    LLVMBuildBr(l->b, target);
  return shared;
}

static LLVMBasicBlockRef go_back(lift *l, uint32_t to, uint32_t pc, LLVMBasicBlockRef target,
                                 const counted_loop *loop)
{
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b), edge = lift_new_block(l, "again"), shared;
  uint64_t pending_time = l->pending_time;
  l->pending_time = 0;
  if (target != l->plain.starts[to])
    shared = make_shared_latch(l, to, pc, target, NULL);
  else if (l->shared_latches[to])
    shared = l->shared_latches[to];
  else
    shared = l->shared_latches[to] = make_shared_latch(l, to, pc, target, loop);
  lift_at_end(l, edge);
  l->pending_time = pending_time;
  lift_flush_time(l);
  LLVMBuildBr(l->b, shared);
  lift_at_end(l, here);
  l->pending_time = pending_time;
  return edge;
}

LLVMBasicBlockRef lift_edge(lift *l, uint32_t from, int32_t to, uint32_t target_pc)
{
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b), edge;
  if (to == UNIT_NONE) {
    edge = lift_new_block(l, "outside");
    lift_at_end(l, edge);
    lift_leave_at(l, lift_pc(l, target_pc), lift_exit_registers_unknown(l));
    lift_at_end(l, here);
    return edge;
  }
  if (l->fast && l->fast->contains[to])
    return lift_flush_time_on_edge(l, l->copy, (uint32_t)to, l->fast_copy.starts[to]);
  int32_t number = l->loops.loop_of[to];
  const counted_loop *loop = number == UNIT_NONE ? NULL : &l->loops.loops[number];
  bool inside = loop && loop->contains[from];
  LLVMBasicBlockRef target = loop && !inside ? l->guards[to] : l->plain.starts[to];
  if (l->loops.order[from] < l->loops.order[to])
    return lift_flush_time_on_edge(l, &l->plain, (uint32_t)to, target);
  return go_back(l, (uint32_t)to, target_pc, target, inside ? loop : NULL);
}

LLVMBasicBlockRef lift_edge_of_several(lift *l, uint32_t to, uint32_t target_pc)
{
  LLVMBasicBlockRef target =
      l->loops.loop_of[to] == UNIT_NONE ? l->plain.starts[to] : l->guards[to];
  return l->loops.is_target[to] ? go_back(l, to, target_pc, target, NULL)
                                : lift_flush_time_on_edge(l, &l->plain, to, target);
}

/* At the end of an iteration of the fast copy that is not the last: the guard has computed their
 * number. */
static void end_iteration(lift *l)
{
  lift_flush_iteration_time(l);
  count_iteration(l);
  LLVMValueRef iteration = LLVMBuildLoad2(l->b, l->type.i64, l->iteration, "");
  LLVMValueRef more = lift_compare(l, LLVMIntULT, iteration, l->num_iterations);
  LLVMValueRef again =
      LLVMBuildCondBr(l->b, more, l->fast_copy.starts[l->fast->header], l->last_iteration);
  lift_keep_vectors_single(l, again);
}

/* At the end of the last iteration. If the loop has one exit, this is it. If it has several, the
 * latch's condition is tested. If the loop does not end, because the exit that should be taken is
 * on a path that this iteration did not take, it goes on in the plain copy. */
static void end_last_iteration(lift *l, uint32_t number, const code_op *op)
{
  const code_block *b = l->block;
  const counted_loop *loop = l->fast;
  bool taken = b->taken == (int32_t)loop->header;
  LLVMBasicBlockRef out = taken ? lift_edge(l, number, b->next, b->pc_end)
                                : lift_edge(l, number, b->taken, (uint32_t)op->imm);
  if (loop->num_exits == 1) {
    LLVMBuildBr(l->b, out);
    return;
  }
  LLVMBasicBlockRef again = lift_new_block(l, "again");
  LLVMValueRef condition = lift_branch_condition(l, op);
  LLVMBuildCondBr(l->b, condition, taken ? again : out, taken ? out : again);
  lift_at_end(l, again);
  lift_flush_time(l);
  lift_test_limit(l, lift_pc(l, l->unit->blocks[l->f->first_block + loop->header].pc),
                  loop->header);
  LLVMBuildBr(l->b, l->plain.starts[loop->header]);
}

static bool is_exit(const counted_loop *loop, uint32_t block)
{
  for (uint32_t i = 0; i < loop->num_exits; i++)
    if (loop->exits[i].block == block) return true;
  return false;
}

uint64_t lift_slots_of(const lift *l, const code_block *b)
{
  uint64_t slots = 0;
  for (uint32_t i = 0; i < b->num_ops; i++) slots += l->unit->ops[b->first_op + i].cost;
  return slots;
}

/* An early exit of the fast copy: the iteration begins again in the plain copy, which knows how to
 * end it. So the iteration is undone: registers get their values at its start, and its time is
 * given back. */
static LLVMBasicBlockRef restart_iteration(lift *l, uint32_t number)
{
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b), edge = lift_new_block(l, "ends");
  uint64_t pending_time = l->pending_time;
  lift_at_end(l, edge);
  lift_flush_time(l);
  for (uint32_t r = 1; r < NUM_REGISTERS; r++)
    if (l->iteration_start_x[r]) lift_set_x(l, r, l->iteration_start_x[r]);
  for (uint32_t n = 0; n < l->f->num_blocks; n++) {
    const code_block *b = &l->unit->blocks[l->f->first_block + n];
    if (!l->fast->contains[n] || l->loops.order[n] > l->loops.order[number]) continue;
    lift_add_time(l, 0 - lift_slots_of(l, b), 0 - (uint64_t)b->num_ops);
  }
  LLVMBuildBr(l->b, l->plain.starts[l->fast->header]);
  lift_at_end(l, here);
  l->pending_time = pending_time;
  return edge;
}

static void lift_early_exit(lift *l, uint32_t number, const code_op *op)
{
  const code_block *b = l->block;
  bool taken_goes_on = l->fast->contains[b->taken];
  LLVMBasicBlockRef out = restart_iteration(l, number);
  LLVMBasicBlockRef on = l->fast_copy.starts[taken_goes_on ? b->taken : b->next];
  LLVMBuildCondBr(l->b, lift_branch_condition(l, op), taken_goes_on ? on : out,
                  taken_goes_on ? out : on);
}

static bool leads_out_of(const counted_loop *loop, const code_block *b)
{
  return b->taken != UNIT_NONE && b->next != UNIT_NONE &&
         loop->contains[b->taken] != loop->contains[b->next];
}

/* A branch of the fast copy that may lead to a cold path. The trial tests whether any iteration
 * takes it. */
static void lift_expected_branch(lift *l, uint32_t number, const code_op *op)
{
  const code_block *b = l->block;
  bool is_taken = l->fast->contains[b->taken];
  LLVMValueRef condition = lift_branch_condition(l, op);
  lift_expect(l, is_taken ? condition : LLVMBuildNot(l->b, condition, ""));
  LLVMBuildBr(l->b, is_taken ? lift_edge(l, number, b->taken, (uint32_t)op->imm)
                             : lift_edge(l, number, b->next, b->pc_end));
}

static void lift_branch(lift *l, uint32_t number, const code_op *op)
{
  const code_block *b = l->block;
  if (l->fast && number == l->fast->latch) {
    if (l->last_iteration)
      end_iteration(l);
    else
      end_last_iteration(l, number, op);
    return;
  }
  if (l->fast && l->fast->has_cold && leads_out_of(l->fast, b)) {
    lift_expected_branch(l, number, op);
    return;
  }
  if (l->fast && l->fast->ends_early && !is_exit(l->fast, number) && leads_out_of(l->fast, b)) {
    lift_early_exit(l, number, op);
    return;
  }
  LLVMBasicBlockRef taken = lift_edge(l, number, b->taken, (uint32_t)op->imm);
  LLVMBasicBlockRef next = lift_edge(l, number, b->next, b->pc_end);
  if (l->fast && l->last_iteration && is_exit(l->fast, number)) /* not before the last iteration */
    LLVMBuildBr(l->b, l->fast->contains[b->taken] ? taken : next);
  else
    LLVMBuildCondBr(l->b, lift_branch_condition(l, op), taken, next);
}

/* Blocks */

static bool ends_by_op(const code_block *b)
{
  return b->end != BLOCK_NEXT && b->end != BLOCK_LEAVE && b->end != BLOCK_RESOLVED;
}

static void lift_last_op(lift *l, uint32_t number, const code_op *last)
{
  const code_block *b = l->block;
  switch (b->end) {
  case BLOCK_BRANCH:
    lift_branch(l, number, last);
    return;
  case BLOCK_JUMP:
    LLVMBuildBr(l->b, lift_edge(l, number, b->taken, (uint32_t)last->imm));
    return;
  case BLOCK_ENTER:
    lift_set_x(l, last->rd, lift_pc(l, b->pc_end));
    LLVMBuildBr(l->b, lift_edge(l, number, b->taken, (uint32_t)last->imm));
    return;
  case BLOCK_CALL:
    lift_call(l, number, last);
    return;
  default:
    lift_indirect(l, number, last);
    return;
  }
}

static void lift_end(lift *l, uint32_t number)
{
  const code_block *b = l->block;
  if (b->end == BLOCK_LEAVE)
    lift_leave_at(l, lift_pc(l, b->pc_end), lift_exit_registers_unknown(l));
  else if (b->end == BLOCK_RESOLVED)
    lift_resolved(l, number);
  else if (b->end == BLOCK_NEXT)
    LLVMBuildBr(l->b, lift_edge(l, number, b->next, b->pc_end));
  else
    lift_last_op(l, number, &l->unit->ops[b->first_op + b->num_ops - 1]);
}

static void lift_op(lift *l, uint32_t index)
{
  const code_op *op = &l->unit->ops[l->block->first_op + index];
  l->op_index = l->block->first_op + index;
  lift_note_writes(l, op);
  lift_before_op(l, op);
  bool known = lift_memory(l, op) || lift_integer(l, op) || lift_packed(l, op) ||
               lift_functions(l, op) || lift_float(l, op) || lift_copy(l, op);
  if (!known) abort(); /* discovery leaves everything else to the interpreter */
  lift_behind_op(l, op);
}

/* Saves the registers at the start of an iteration of the fast copy. */
static void save_iteration_registers(lift *l)
{
  for (uint32_t r = 1; r < NUM_REGISTERS; r++)
    l->iteration_start_x[r] = l->own->writes_x >> r & 1 ? lift_x(l, r) : NULL;
}

static void lift_block(lift *l, uint32_t number)
{
  const code_block *b = &l->unit->blocks[l->f->first_block + number];
  l->block = b;
  lift_at_end(l, l->copy->starts[number]);
  if (l->fast && l->fast->ends_early && number == l->fast->header) save_iteration_registers(l);
  lift_begin_time(l, number);
  lift_begin_sums(l, number);
  LLVMValueRef operands[4];
  lift_begin_division(l, operands);
  for (uint32_t i = 0; i < b->num_ops - ends_by_op(b); i++) lift_op(l, i);
  lift_end_division(l, operands);
  lift_flush_tests(l);
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

/* Is there stack left on the host? Endless recursion must come to the interpreter before there is
 * none. */
static LLVMValueRef has_stack(lift *l)
{
  LLVMValueRef name = LLVMMetadataAsValue(
      l->context,
      LLVMMDNodeInContext2(l->context,
                           (LLVMMetadataRef[]){LLVMMDStringInContext2(l->context, "rsp", 3)}, 1));
  LLVMValueRef here = lift_intrinsic(l, "llvm.read_register", &l->type.i64, 1, &name, 1);
  return lift_compare(l, LLVMIntUGE, here, LOAD_FIELD(i64, stack_end));
}

/* At the function's entry: leaves unless there is time for any path through the function, and stack
 * for its calls. */
static void test_entry(lift *l)
{
  LLVMValueRef entry = lift_pc(l, l->f->entry);
  lift_test_limit(l, entry, 0);
  if (!l->own->calls) return;
  LLVMBasicBlockRef deep = lift_new_block(l, "deep"), in = lift_new_block(l, "shallow");
  lift_likely(l, has_stack(l), in, deep);
  lift_at_end(l, deep);
  lift_leave_at(l, entry, lift_exit_registers_at(l, 0));
  lift_at_end(l, in);
}

static uint32_t num_ops_of(const lift *l)
{
  const code_block *first = &l->unit->blocks[l->f->first_block];
  const code_block *last = first + l->f->num_blocks - 1;
  return last->first_op + last->num_ops - first->first_op;
}

/* Guesses for each access of the function where its address points. */
static void guess_regions(const lift *l, access_check *checks)
{
  uint32_t first = l->unit->blocks[l->f->first_block].first_op;
  for (uint32_t n = 0; n < l->f->num_blocks; n++) {
    const code_block *b = &l->unit->blocks[l->f->first_block + n];
    likely_pointers bits = l->block_pointers[n];
    for (uint32_t i = b->first_op; i < b->first_op + b->num_ops; i++) {
      const code_op *op = &l->unit->ops[i];
      checks[i - first].guess_stack = bits.stack >> op->rs1 & 1;
      checks[i - first].guess_data = l->unit->data_apart && bits.data >> op->rs1 & 1;
      bits = likely_pointers_after(bits, op);
    }
  }
}

/* A copy of the function's blocks, or of a loop's. `counts`: its blocks count their time. */
static code_copy make_copy(lift *l, const counted_loop *loop, bool counts)
{
  uint32_t n = l->f->num_blocks;
  code_copy copy = {.starts = pop_xcalloc(n, sizeof *copy.starts),
                    .pending_times = counts ? lift_find_pending_times(l, loop) : NULL,
                    .checks = function_checks_find(l->unit, l->f, &l->loops, loop),
                    .places = pop_xcalloc(num_ops_of(l) + 1, sizeof *copy.places)};
  guess_regions(l, copy.checks);
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
  free(copy->pending_times);
}

/* Sets induction variables and time behind `num_iterations` iterations by multiplication, so that
 * no iteration has to count them (final values of induction variables). `before`: registers in
 * front of the loop. */
static void add_iterations_at_once(lift *l, const counted_loop *loop, LLVMValueRef num_iterations,
                                   LLVMValueRef before[NUM_REGISTERS])
{
  LLVMValueRef count = LLVMBuildTrunc(l->b, num_iterations, l->type.i32, "");
  for (uint32_t r = 1; r < NUM_REGISTERS; r++) {
    if (!before[r]) continue;
    LLVMValueRef growth = LLVMBuildMul(l->b, count, lift_affine(l, &loop->steps[r]), "");
    lift_set_x(l, r, LLVMBuildAdd(l->b, before[r], growth, ""));
  }
  if (loop->fixed_time) lift_add_time_of(l, num_iterations, loop->worst_slots, loop->num_ops);
}

static void lift_last_iteration(lift *l, const counted_loop *loop)
{
  l->fast_copy = make_copy(l, loop, true);
  LLVMBuildBr(l->b, l->fast_copy.starts[loop->header]);
  lift_code(l, &l->fast_copy);
  free_copy(&l->fast_copy);
}

/* Trials (float control, cold paths). In front of the guard: */
static void begin_trial(lift *l, const counted_loop *loop, saved_registers *saved)
{
  l->raised = lift_new_slot(l, l->type.i1, "raised");
  LLVMBuildStore(l->b, LLVMConstInt(l->type.i1, 0, 0), l->raised);
  lift_save_loop(l, loop, saved);
}

/* Behind the guard: the trial, in l->fast_copy, of all iterations but the last. Then `fast` or the
 * plain copy runs with the registers in front of the trial. */
static void lift_trial(lift *l, const code_copy *fast, const saved_registers *saved)
{
  LLVMBasicBlockRef last = l->last_iteration;
  l->last_iteration = lift_new_block(l, "tried");
  l->is_trial = true;
  lift_code(l, &l->fast_copy);
  l->is_trial = false;
  l->is_tried = true;
  free_copy(&l->fast_copy);
  lift_at_end(l, l->last_iteration);
  lift_restore(l, saved);
  LLVMBuildStore(l->b, lift_constant64(l, 0), l->iteration);
  LLVMValueRef raised = LLVMBuildLoad2(l->b, l->type.i1, l->raised, "");
  lift_likely(l, LLVMBuildNot(l->b, raised, ""), fast->starts[l->fast->header],
              l->plain.starts[l->fast->header]);
  l->fast_copy = *fast;
  l->last_iteration = last;
}

/* Loop peeling: the last iteration is a copy of its own. It computes the registers that are used
 * behind the loop. So the other iterations only compute what the next iteration needs, and LLVM can
 * vectorise the remainder behind whole vectors with shorter vectors. If the last iteration may be
 * done twice, the other copy does all iterations, so that 40 iterations are whole vectors. A loop
 * with early exits or cold paths has its last iteration in the plain copy. */
static void lift_fast_copy(lift *l, counted_loop *loop)
{
  LLVMValueRef before[NUM_REGISTERS] = {NULL};
  bool tries = lift_has_trial(l, loop);
  saved_registers saved = {.x = {NULL}};
  code_copy fast = make_copy(l, loop, !loop->fixed_time);
  l->fast_copy = tries ? make_copy(l, loop, !loop->fixed_time) : fast;
  l->last_iteration = lift_new_block(l, "last");
  l->pending_time = 0;
  lift_at_end(l, loop->ends_early ? loop->late_guard : l->guards[loop->header]);
  for (uint32_t r = 1; r < NUM_REGISTERS; r++)
    if (l->own->writes_x >> r & 1 && loop->steps[r].known && !affine_is_zero(&loop->steps[r]))
      before[r] = lift_x(l, r);
  if (tries) begin_trial(l, loop, &saved);
  LLVMValueRef before_last;
  lift_guard(l, loop, &before_last);
  l->fast = loop;
  if (tries) lift_trial(l, &fast, &saved);
  lift_code(l, &l->fast_copy);
  l->is_tried = false;
  free_copy(&l->fast_copy);
  lift_at_end(l, l->last_iteration);
  l->pending_time = 0;
  add_iterations_at_once(l, loop, before_last, before);
  LLVMBuildStore(l->b, before_last, l->iteration);
  l->last_iteration = NULL;
  if (loop_ends_in_plain_copy(loop))
    LLVMBuildBr(l->b, l->plain.starts[loop->header]);
  else
    lift_last_iteration(l, loop);
  l->fast = NULL;
}

static LLVMBasicBlockRef entry_target(lift *l)
{
  return l->loops.loop_of[0] == UNIT_NONE ? l->plain.starts[0] : l->guards[0];
}

static void make_guard(lift *l, counted_loop *loop)
{
  l->guards[loop->header] = lift_new_block(l, "guard");
  if (loop->ends_early) loop->late_guard = lift_new_block(l, "late_guard");
}

/* The entry of a loop with early exits. */
static void begin_plain_iterations(lift *l, const counted_loop *loop)
{
  if (!loop->ends_early) return;
  lift_at_end(l, l->guards[loop->header]);
  LLVMBuildStore(l->b, lift_constant64(l, 0), l->iteration);
  LLVMBuildBr(l->b, l->plain.starts[loop->header]);
}

static void lift_body(lift *l)
{
  for (size_t i = 0; i < l->loops.num_loops; i++) make_guard(l, &l->loops.loops[i]);
  LLVMBuildBr(l->b, entry_target(l));
  for (size_t i = 0; i < l->loops.num_loops; i++) begin_plain_iterations(l, &l->loops.loops[i]);
  lift_code(l, &l->plain);
  for (size_t i = 0; i < l->loops.num_loops; i++) lift_fast_copy(l, &l->loops.loops[i]);
}

static void forget_function(lift *l)
{
  function_loops_free(&l->loops);
  free(l->block_pointers);
  free(l->live);
  free(l->is_in_cycle);
  lift_free_indices(l);
  free_copy(&l->plain);
  free(l->guards);
  free(l->shared_latches);
  free(l->jumps);
}

static void lift_one(lift *l, size_t number)
{
  lift fresh = {.context = l->context,
                .module = l->module,
                .b = l->b,
                .type = l->type,
                .access = {l->access[0], l->access[1]},
                .more_time = {l->more_time[0], l->more_time[1]},
                .find = l->find,
                .value = l->value,
                .copy_block = l->copy_block,
                .numbers = l->numbers,
                .likely = l->likely,
                .functions = l->functions,
                .conventions = l->conventions,
                .own = &l->conventions[number],
                .unit = l->unit,
                .f = &l->unit->functions[number],
                .function = l->functions[number],
                .frame = LLVMGetParam(l->functions[number], 0)};
  *l = fresh;
  lift_at_end(l, lift_new_block(l, "entry"));
  lift_make_slots(l);
  function_loops_find(l->unit, l->f, &l->loops);
  l->block_pointers = likely_pointers_find(l->unit, l->f);
  lift_find_exit_registers(l);
  lift_find_indices(l);
  load_frame(l);
  lift_begin(l);
  test_entry(l);
  LLVMBasicBlockRef begin = LLVMGetInsertBlock(l->b);
  l->plain = make_copy(l, NULL, true);
  l->guards = pop_xcalloc(l->f->num_blocks, sizeof *l->guards);
  l->shared_latches = pop_xcalloc(l->f->num_blocks, sizeof *l->shared_latches);
  lift_at_end(l, begin);
  lift_body(l);
  forget_function(l);
}

void lift_unit(lift *l)
{
  calling_convention *conventions = unit_conventions_find(l);
  l->conventions = conventions;
  for (size_t i = 0; i < l->unit->num_functions; i++) {
    char name[40];
    snprintf(name, sizeof name, "tile_%x_%zu", l->unit->functions[i].entry, i);
    l->functions[i] = lift_declare(l, i, name);
  }
  for (size_t i = 0; i < l->unit->num_functions; i++) lift_one(l, i);
  free(conventions);
}
