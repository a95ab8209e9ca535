/* Interface of the files of the loop analysis: loops.c chooses the loops and calls the others. */
#ifndef TRANSLATOR_LOOP_CANDIDATE_H
#define TRANSLATOR_LOOP_CANDIDATE_H

#include "lift.h"

/* Larger loops are not analysed. A group's range in an iteration is at most MAX_GROUP_BYTES; an
 * access farther away is a group of its own. */
enum { MAX_LOOP_OPS = 4096, MAX_GROUP_BYTES = 1 << 16, MAX_STEP = 1 << 24 };

/* The loop that is being analysed. */
typedef struct candidate {
  const block_graph *g;
  counted_loop loop;
  affine_registers *at_start; /* by block: registers where it begins */
  bool *has_start;
  affine_registers at_end; /* of the latch */
  affine (*compared)[2];   /* by block: operands of the branch at its end */
  affine *access;          /* by operation of the function: address */
  uint32_t *bounds;        /* by symbol - NUM_REGISTERS; UINT32_MAX for invariants */
  affine *limits;          /* likewise: an invariant upper bound; else not known */
  size_t num_bounds, bounds_capacity, num_limits, limits_capacity;
  affine step[NUM_REGISTERS]; /* what an iteration adds, if that is a sum of invariants */
  /* Otherwise 0, or the most that an iteration adds. No iteration adds anything of the other sign,
   * then. `grain` is the lowest bit that may be set in what it adds. */
  int32_t max_growth[NUM_REGISTERS];
  uint32_t grain[NUM_REGISTERS];
  bool looks_for_invariants;       /* while an iteration is executed again */
  bool is_restored[NUM_REGISTERS]; /* assumed to be invariant: see find_restored */
} candidate;

/* loop_iteration.c: executes an iteration with symbols. `forget` first; num_ops is of the
 * function. */

void loop_forget_iteration(candidate *c, uint32_t num_ops);
void loop_execute_iteration(candidate *c);

/* Is it loop-invariant? */
bool loop_value_is_invariant(const candidate *c, const affine *a);

/* By how much a register or an invariant grows in an iteration. */
const affine *loop_step_of_symbol(const candidate *c, uint16_t symbol);

/* By how much `a` grows in an iteration; false if that is not known. */
bool loop_step_of(const candidate *c, const affine *a, affine *step);

/* Likewise; false also if that is no constant. */
bool loop_constant_step_of(const candidate *c, const affine *a, int32_t *step);

/* loop_exits.c: sets the exits; false if the loop cannot be counted. */
bool loop_analyse_exits(candidate *c);

/* loop_accesses.c: puts accesses with known addresses into groups. */
void loop_add_accesses(candidate *c);

/* Are all accesses of the block, of the loop hoisted? */
bool loop_hoists_block(const candidate *c, const code_block *b);
bool loop_hoists_all(const candidate *c);

/* Does the guard know the places of all stores, and is none of them certain to overlap what the
 * guard has loaded? */
bool loop_can_hoist_loads(const candidate *c);

#endif
