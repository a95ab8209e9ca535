/* Cold paths through an iteration of a counted loop: calls, and accesses that cannot be hoisted,
 * which only some iterations come to (the reduction of a large angle, an error message). They alone
 * would keep the loop from having a fast copy. So the fast copy leaves them out, if one other path
 * through an iteration remains. A trial (loop_trial.c) finds out beforehand whether any iteration
 * takes a cold path; if so, all iterations run in the plain copy. What decides about the path is a
 * small part of an iteration, and LLVM removes the rest from the trial. */
#include "lift.h"

#include <populus/arena.h>
#include <stdlib.h>

static bool leads_to(const block_graph *g, uint32_t block, const bool *marked)
{
  for (uint32_t i = 0; i < block_graph_num_successors(g, block); i++) {
    int32_t to = block_graph_successor(g, block, i);
    if (to != UNIT_NONE && marked[to]) return true;
  }
  return false;
}

/* Marks the blocks that are reached from the header inside the loop, without the causes. */
static void mark_behind(const block_graph *g, const counted_loop *loop, const bool *is_cause,
                        bool *marked)
{
  marked[loop->header] = true;
  for (uint32_t s = 0; s < g->num_reachable; s++) {
    uint32_t n = g->sequence[s];
    for (uint32_t i = 0; marked[n] && i < block_graph_num_successors(g, n); i++) {
      int32_t to = block_graph_successor(g, n, i);
      if (to != UNIT_NONE && loop->contains[to] && !is_cause[to]) marked[to] = true;
    }
  }
}

/* Marks the blocks from which the latch is reached, without the causes. */
static void mark_before(const block_graph *g, const counted_loop *loop, const bool *is_cause,
                        bool *marked)
{
  marked[loop->latch] = true;
  for (uint32_t s = g->num_reachable; s-- > 0;) {
    uint32_t n = g->sequence[s];
    if (loop->contains[n] && !is_cause[n] && leads_to(g, n, marked)) marked[n] = true;
  }
}

bool loop_exclude_cold(const block_graph *g, counted_loop *loop, const bool *is_cause)
{
  bool *behind = pop_xcalloc(g->num_blocks, sizeof *behind);
  bool *before = pop_xcalloc(g->num_blocks, sizeof *before);
  mark_behind(g, loop, is_cause, behind);
  mark_before(g, loop, is_cause, before);
  bool is_left = !is_cause[loop->header] && !is_cause[loop->latch] && behind[loop->latch];
  for (uint32_t n = 0; n < g->num_blocks && is_left; n++) {
    if (!loop->contains[n] || (behind[n] && before[n])) continue;
    loop->contains[n] = false;
    loop->is_cold[n] = loop->has_cold = true;
  }
  free(behind);
  free(before);
  return is_left;
}

static bool exclude_forks(const block_graph *g, counted_loop *loop, bool *is_cause)
{
  bool any = false;
  for (uint32_t n = 0; n < g->num_blocks; n++) {
    is_cause[n] = loop->contains[n] && !block_graph_dominates(g, n, loop->latch) &&
                  leads_to(g, n, loop->is_cold);
    any |= is_cause[n];
  }
  return any && loop_exclude_cold(g, loop, is_cause);
}

void loop_exclude_forks(const block_graph *g, counted_loop *loop)
{
  bool *is_cause = pop_xcalloc(g->num_blocks, sizeof *is_cause);
  while (exclude_forks(g, loop, is_cause)) continue;
  free(is_cause);
}

/* Does the block have one likely successor, so that there is one likely path through an iteration?
 * All its other successors must be cold. The latch leads to the next iteration or out. */
static bool has_one_likely_successor(const block_graph *g, const counted_loop *loop, uint32_t block)
{
  const code_block *b = &g->blocks[block];
  if (block == loop->latch) return !leads_to(g, block, loop->is_cold);
  if (b->end == BLOCK_INDIRECT && b->num_targets != 1) return false; /* a jump table */
  uint32_t num_usual = 0;
  for (uint32_t i = 0; i < block_graph_num_successors(g, block); i++) {
    int32_t to = block_graph_successor(g, block, i);
    if (to == UNIT_NONE) {
      if (b->end == BLOCK_BRANCH) return false;
    } else if (loop->contains[to])
      num_usual++;
    else if (!loop->is_cold[to])
      return false;
  }
  return num_usual == 1;
}

/* The trial and the fast copy save time in proportion to the operations on floats. Of integer code
 * LLVM vectorises too little. */
enum { LEAST_FLOAT_OPS = 8 };

bool loop_has_one_likely_path(const block_graph *g, const counted_loop *loop)
{
  uint32_t num_float_ops = 0;
  for (uint32_t n = 0; n < g->num_blocks; n++) {
    const code_block *b = &g->blocks[n];
    if (!loop->contains[n]) continue;
    if (!has_one_likely_successor(g, loop, n)) return false;
    for (uint32_t i = b->first_op; i < b->first_op + b->num_ops; i++) {
      const code_op *op = &g->unit->ops[i];
      bool store;
      uint32_t bytes;
      num_float_ops += code_op_writes_f(op) && !code_op_is_access(op, &store, &bytes);
    }
  }
  return loop->num_exits == 1 && num_float_ops >= LEAST_FLOAT_OPS;
}
