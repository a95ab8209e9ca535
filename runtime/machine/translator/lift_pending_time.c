/* Where time is counted: as rarely as the control flow allows (placement of counters: T. Ball and
 * J. R. Larus, "Optimally Profiling and Tracing Programs", 1994).
 *
 * The time of a block need not go to the counter where the block begins. Each place has a pending
 * time, known at compile time: time that has passed and is not in the counter. A block adds its
 * time to it. Where paths join, the pending time is the least of theirs; a path with more counts
 * the difference on its edge (two paths that take the same time count nothing). All pending time is
 * counted (flushed) where the counter is read: on backward edges, in front of calls, and where
 * native code is left. So an iteration of a loop costs one addition, and one more on each path that
 * takes longer than another.
 *
 * In a fast copy whose iterations have several paths, the differences are summed apart, and the sum
 * is flushed with the rest of the iteration: a counter that is changed twice in an iteration is no
 * reduction to LLVM's vectorizer. (A gradient that is scaled where it is negative: 9.1 to 2.5 of
 * the host's time.) */
#include "lift.h"

#include "isa/isa.h"

#include <populus/arena.h>
#include <stdlib.h>

static const code_block *block_of(const lift *l, uint32_t number)
{
  return &l->unit->blocks[l->f->first_block + number];
}

/* Does the block, or the call at its end, read the counter? */
static bool reads_time(const lift *l, const code_block *b)
{
  if (b->end == BLOCK_CALL || b->end == BLOCK_INDIRECT || b->end == BLOCK_RESOLVED) return true;
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

/* Propagates the pending time to the successors. `met`: by block, does it have one already? */
static void propagate_pending_time(const lift *l, uint32_t from, uint64_t *pending_times, bool *met)
{
  const code_block *b = block_of(l, from);
  uint64_t pending_time = reads_time(l, b) ? 0 : pending_times[from];
  for (uint32_t i = 0; i < code_block_num_successors(b); i++) {
    int32_t to = code_block_successor(l->unit, b, i);
    if (to == UNIT_NONE || l->loops.order[to] <= l->loops.order[from]) continue;
    if (!met[to] || pending_time < pending_times[to]) pending_times[to] = pending_time;
    met[to] = true;
  }
}

uint64_t *lift_find_pending_times(const lift *l, const counted_loop *loop)
{
  uint32_t num_reachable, *sequence = sequence_of(l, &num_reachable);
  uint64_t *pending_times = pop_xcalloc(l->f->num_blocks, sizeof *pending_times);
  bool *met = pop_xcalloc(l->f->num_blocks, sizeof *met);
  for (uint32_t i = 0; i < num_reachable; i++) {
    uint32_t n = sequence[i];
    if (loop && !loop->contains[n]) continue;
    if (l->loops.is_target[n]) pending_times[n] = 0; /* flushed on the backward edge */
    pending_times[n] += time_of(l, block_of(l, n));
    propagate_pending_time(l, n, pending_times, met);
  }
  for (uint32_t n = 0; n < l->f->num_blocks; n++)
    if (l->loops.order[n] == UINT32_MAX) pending_times[n] = time_of(l, block_of(l, n));
  free(sequence);
  free(met);
  return pending_times;
}

void lift_begin_time(lift *l, uint32_t number)
{
  const code_block *b = l->block;
  if (!l->copy->pending_times) return; /* the iterations' time is a product */
  l->pending_time = l->copy->pending_times[number];
  lift_add_excess_time(l, lift_slots_of(l, b), b->num_ops);
  if (reads_time(l, b)) lift_flush_time(l);
}

void lift_flush_time(lift *l)
{
  lift_subtract_time(l, l->pending_time);
  l->pending_time = 0;
}

/* Is this an iteration of such a fast copy, not the last one? */
static bool sums_path_times(const lift *l)
{
  return l->fast && l->fast->sums_path_times && l->last_iteration;
}

static void flush_difference(lift *l)
{
  if (!sums_path_times(l)) {
    lift_flush_time(l);
    return;
  }
  LLVMValueRef so_far = LLVMBuildLoad2(l->b, l->type.i64, l->path_time, "");
  LLVMBuildStore(l->b, LLVMBuildAdd(l->b, so_far, lift_constant64(l, l->pending_time), ""),
                 l->path_time);
  l->pending_time = 0;
}

void lift_begin_path_times(lift *l, const counted_loop *loop)
{
  if (loop->sums_path_times) LLVMBuildStore(l->b, lift_constant64(l, 0), l->path_time);
}

void lift_flush_iteration_time(lift *l)
{
  lift_flush_time(l);
  if (!sums_path_times(l)) return;
  LLVMValueRef path_time = LLVMBuildLoad2(l->b, l->type.i64, l->path_time, "");
  LLVMBuildStore(l->b, LLVMBuildSub(l->b, lift_time(l), path_time, ""), l->time);
  lift_begin_path_times(l, l->fast);
}

LLVMBasicBlockRef lift_flush_time_on_edge(lift *l, const code_copy *to, uint32_t block,
                                          LLVMBasicBlockRef target)
{
  uint64_t pending_time = l->pending_time;
  uint64_t expected =
      to->pending_times ? to->pending_times[block] - time_of(l, block_of(l, block)) : 0;
  if (pending_time == expected) return target;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b), edge = lift_new_block(l, "pays");
  lift_at_end(l, edge);
  l->pending_time -= expected;
  flush_difference(l);
  LLVMBuildBr(l->b, target);
  lift_at_end(l, here);
  l->pending_time = pending_time;
  return edge;
}
