/* Where time is counted: as rarely as the control flow allows (placement of counters: T. Ball and
 * J. R. Larus, "Optimally Profiling and Tracing Programs", 1994).
 *
 * The time of a block need not go to the counter where the block begins. Each place has a debt,
 * known at compile time: time that has passed and is not in the counter. A block adds its time to
 * the debt. Where ways join, the debt is the least of theirs; a way with more pays the difference
 * on its edge (two ways that take the same time pay nothing). All debt is paid where the counter is
 * read: on backward edges, in front of calls, and where native code is left. So a round of a loop
 * costs one addition, and one more on each way that takes longer than another.
 *
 * In a fast copy whose rounds have several ways, the differences are summed apart, and the sum is
 * paid with the rest of the round: a counter that is changed twice in a round is no reduction to
 * LLVM's vectorizer. (A gradient that is scaled where it is negative: 9.1 to 2.5 of the host's
 * time.) */
#include "lift.h"

#include "isa/isa.h"

#include <populus/arena.h>
#include <stdlib.h>

static const code_block *block_of(const lift *l, uint32_t number)
{
  return &l->unit->blocks[l->f->first_block + number];
}

/* Does the block, or the call at its end, read the counter? */
static bool looks_at_time(const lift *l, const code_block *b)
{
  if (b->end == BLOCK_CALL || b->end == BLOCK_DYNAMIC || b->end == BLOCK_KNOWN) return true;
  for (uint32_t i = b->first_op; i < b->first_op + b->num_ops; i++) {
    const code_op *op = &l->unit->ops[i];
    if (code_op_is_copy(op) || (op->id >= OP_CSRRW && op->id <= OP_CSRRCI)) return true;
  }
  return false;
}

static uint64_t time_of(const lift *l, const code_block *b)
{
  return lift_time_of(lift_slots_of(l, b), b->num_ops);
}

/* Reachable blocks in reverse postorder: predecessors come first, except by backward edges. */
static uint32_t *sequence_of(const lift *l, uint32_t *num_reachable)
{
  uint32_t *sequence = pop_xcalloc(l->f->num_blocks, sizeof *sequence);
  *num_reachable = 0;
  for (uint32_t n = 0; n < l->f->num_blocks; n++) {
    if (l->loops.order[n] == UINT32_MAX) continue;
    sequence[l->loops.order[n]] = n;
    (*num_reachable)++;
  }
  return sequence;
}

/* Passes the debt on to the successors. `met`: by block, does it have a debt already? */
static void send_debt(const lift *l, uint32_t from, uint64_t *debts, bool *met)
{
  const code_block *b = block_of(l, from);
  uint64_t debt = looks_at_time(l, b) ? 0 : debts[from];
  for (uint32_t i = 0; i < code_block_num_successors(b); i++) {
    int32_t to = code_block_successor(l->unit, b, i);
    if (to == UNIT_NONE || l->loops.order[to] <= l->loops.order[from]) continue;
    if (!met[to] || debt < debts[to]) debts[to] = debt;
    met[to] = true;
  }
}

uint64_t *lift_find_debts(const lift *l, const counted_loop *loop)
{
  uint32_t num_reachable, *sequence = sequence_of(l, &num_reachable);
  uint64_t *debts = pop_xcalloc(l->f->num_blocks, sizeof *debts);
  bool *met = pop_xcalloc(l->f->num_blocks, sizeof *met);
  for (uint32_t i = 0; i < num_reachable; i++) {
    uint32_t n = sequence[i];
    if (loop && !loop->contains[n]) continue;
    if (l->loops.is_target[n]) debts[n] = 0; /* paid on the backward edge */
    debts[n] += time_of(l, block_of(l, n));
    send_debt(l, n, debts, met);
  }
  for (uint32_t n = 0; n < l->f->num_blocks; n++)
    if (l->loops.order[n] == UINT32_MAX) debts[n] = time_of(l, block_of(l, n));
  free(sequence);
  free(met);
  return debts;
}

void lift_begin_time(lift *l, uint32_t number)
{
  const code_block *b = l->block;
  if (!l->copy->debts) return; /* the rounds' time is a product */
  l->debt = l->copy->debts[number];
  lift_add_odd_time(l, lift_slots_of(l, b), b->num_ops);
  if (looks_at_time(l, b)) lift_pay(l);
}

void lift_pay(lift *l)
{
  lift_subtract_time(l, l->debt);
  l->debt = 0;
}

/* Is this a round of such a fast copy, not the last one? */
static bool sums_ways(const lift *l)
{
  return l->fast && l->fast->sums_ways && l->last_round;
}

static void pay_difference(lift *l)
{
  if (!sums_ways(l)) {
    lift_pay(l);
    return;
  }
  LLVMValueRef so_far = LLVMBuildLoad2(l->b, l->type.i64, l->way, "");
  LLVMBuildStore(l->b, LLVMBuildAdd(l->b, so_far, lift_constant64(l, l->debt), ""), l->way);
  l->debt = 0;
}

void lift_begin_ways(lift *l, const counted_loop *loop)
{
  if (loop->sums_ways) LLVMBuildStore(l->b, lift_constant64(l, 0), l->way);
}

void lift_pay_round(lift *l)
{
  lift_pay(l);
  if (!sums_ways(l)) return;
  LLVMValueRef way = LLVMBuildLoad2(l->b, l->type.i64, l->way, "");
  LLVMBuildStore(l->b, LLVMBuildSub(l->b, lift_time(l), way, ""), l->time);
  lift_begin_ways(l, l->fast);
}

LLVMBasicBlockRef lift_pay_on_way(lift *l, const code_copy *to, uint32_t block,
                                  LLVMBasicBlockRef target)
{
  uint64_t debt = l->debt;
  uint64_t expected = to->debts ? to->debts[block] - time_of(l, block_of(l, block)) : 0;
  if (debt == expected) return target;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b), way = lift_new_block(l, "pays");
  lift_at_end(l, way);
  l->debt -= expected;
  pay_difference(l);
  LLVMBuildBr(l->b, target);
  lift_at_end(l, here);
  l->debt = debt;
  return way;
}
