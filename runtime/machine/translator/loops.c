/* Loop analysis: which loops have a trip count that is known before they run, which registers are
 * induction variables, and what the accesses touch.
 *
 * Candidates are innermost natural loops with one backward edge. Their last block (the latch)
 * decides about another iteration by comparing a register that grows by a constant with one that is
 * invariant. Other blocks may end the loop, too. If they decide in the same way, the trip count is
 * the least of all (multiple exits). If they do not (early exits: something has been found, or
 * differs), the trip count is an upper bound, and these exits are tested in every iteration.
 *
 * The body is executed once with symbols. Each register is either affine, a sum of registers at the
 * entry of the iteration, each times a constant, plus a constant; or it is unknown. Its value at
 * the end of the iteration shows what it is:
 *
 *   an invariant
 *   an induction variable: it grows by a constant or by a sum of invariants (a symbolic stride, as
 *   of a matrix' columns)
 *   unknown from the second iteration on
 *
 * So an address whose terms are invariants and induction variables is affine in the number of the
 * iteration. Of a register that grows in some iterations only (the place for the next kept element)
 * an upper bound is known: its growth if all iterations added the most.
 *
 * A codelet reloads addresses and sizes of its fields in each iteration if its compiler must fear
 * that a store changes them. So a load from an invariant address is assumed to be invariant (a
 * loop-invariant load) if the guard can compare that address with the places of all stores of the
 * loop.
 *
 * This file chooses the loops, and the order in which things are tried. loop_iteration.c executes
 * the iteration, loop_exits.c understands the tests that end the loop, loop_accesses.c groups the
 * accesses. */
#include "loop_candidate.h"

#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

static uint32_t num_ops_of(const block_graph *g)
{
  const code_block *last = &g->blocks[g->num_blocks - 1];
  return last->first_op + last->num_ops - g->blocks[0].first_op;
}

static bool has_copies(const block_graph *g, const code_block *b)
{
  for (uint32_t i = b->first_op; i < b->first_op + b->num_ops; i++)
    if (code_op_is_copy(&g->unit->ops[i])) return true;
  return false;
}

/* The natural loop of the edge latch -> header; false if it is too large. */
static bool find_body(const block_graph *g, counted_loop *l)
{
  l->contains[l->header] = l->contains[l->latch] = true;
  while (block_graph_grow_loop(g, l->header, l->contains)) continue;
  uint32_t num_ops = 0;
  for (uint32_t n = 0; n < g->num_blocks; n++)
    if (l->contains[n]) num_ops += g->blocks[n].num_ops;
  return num_ops <= MAX_LOOP_OPS;
}

/* Does the block call, or copy blocks of memory? The time and the places of a copy are known only
 * when it runs. */
static bool calls_or_copies(const block_graph *g, const code_block *b)
{
  bool unknown = b->end == BLOCK_INDIRECT && (!b->num_targets || b->next != UNIT_NONE);
  return b->end == BLOCK_CALL || b->end == BLOCK_RESOLVED || unknown || has_copies(g, b);
}

/* Is the loop innermost, and has it no calls or block copies? */
static bool is_innermost_without_calls(const block_graph *g, const counted_loop *l,
                                       const bool *is_target)
{
  for (uint32_t n = 0; n < g->num_blocks; n++)
    if (l->contains[n] && (calls_or_copies(g, &g->blocks[n]) || (is_target[n] && n != l->header)))
      return false;
  return true;
}

static uint64_t slots_of(const block_graph *g, const counted_loop *l)
{
  uint64_t slots = 0;
  for (uint32_t n = 0; n < g->num_blocks; n++)
    for (uint32_t i = 0; l->contains[n] && i < g->blocks[n].num_ops; i++)
      slots += g->unit->ops[g->blocks[n].first_op + i].cost;
  return slots;
}

/* Finds returning registers: accesses use them as an address, and each iteration leaves an
 * invariant value in them (the address of a field, loaded again behind a store). The guard tests
 * whether they have that value at the entry, too; if so they are invariant. Are there any? */
static bool find_restored(candidate *c, uint32_t num_ops)
{
  bool any = false;
  for (uint32_t i = 0; i < num_ops; i++) {
    for (unsigned t = 0; t < c->access[i].num_terms; t++) {
      uint16_t r = c->access[i].symbol[t];
      if (r >= NUM_REGISTERS || c->step[r].known || !loop_value_is_invariant(c, &c->at_end.x[r]))
        continue;
      c->is_restored[r] = any = true;
    }
  }
  return any;
}

/* Notes what the guard has to test. False if a register that was assumed to return does not. */
static bool record_restored(candidate *c)
{
  bool all = true;
  for (unsigned r = 0; r < NUM_REGISTERS; r++) {
    c->loop.restored[r] = c->is_restored[r] ? c->at_end.x[r] : (affine){0};
    all = all && (!c->is_restored[r] || loop_value_is_invariant(c, &c->at_end.x[r]));
  }
  return all;
}

/* The first execution shows which registers are invariant, the second one which values are
 * invariant therefore. */
static void analyse(candidate *c, uint32_t num_ops, bool with_invariants)
{
  c->looks_for_invariants = false;
  loop_forget_iteration(c, num_ops);
  loop_execute_iteration(c);
  if (with_invariants) {
    c->looks_for_invariants = true;
    loop_forget_iteration(c, num_ops);
    loop_execute_iteration(c);
  }
  loop_add_accesses(c);
}

static bool count(candidate *c, uint32_t num_ops, bool with_invariants)
{
  analyse(c, num_ops, with_invariants);
  if (!loop_analyse_exits(c)) return false;
  if (c->loop.ends_early && !c->loop.num_groups) return false; /* nothing would be faster */
  return loop_can_hoist_loads(c) && record_restored(c);
}

/* Uses invariants only if something is unknown without them. A load whose place a store may touch
 * (a pivot of a matrix that is changed in place) would keep the loop from its fast copy; so would a
 * register that does not return. */
static bool count_with_fallbacks(candidate *c, uint32_t num_ops)
{
  memset(c->is_restored, 0, sizeof c->is_restored);
  bool counted = count(c, num_ops, false);
  if (counted && loop_hoists_all(c)) return true;
  bool with_invariants = count(c, num_ops, true);
  if (with_invariants && loop_hoists_all(c)) return true;
  if (find_restored(c, num_ops)) {
    if (count(c, num_ops, true) && loop_hoists_all(c)) return true;
    memset(c->is_restored, 0, sizeof c->is_restored);
    with_invariants = with_invariants && count(c, num_ops, true);
  }
  return with_invariants || (counted && count(c, num_ops, false));
}

/* Is there one path through an iteration (except for cold ones), on which nothing leaves native
 * code and nothing reads the time? And do all iterations end at the latch? */
static bool has_fixed_time(const candidate *c, uint32_t *num_ops)
{
  *num_ops = 0;
  if (c->loop.ends_early) return false;
  for (uint32_t n = 0; n < c->g->num_blocks; n++) {
    const code_block *b = &c->g->blocks[n];
    if (!c->loop.contains[n]) continue;
    if (b->end == BLOCK_LEAVE) return false;
    if (!c->loop.has_cold &&
        (b->end == BLOCK_INDIRECT || !block_graph_dominates(c->g, n, c->loop.latch)))
      return false;
    for (uint32_t i = b->first_op; i < b->first_op + b->num_ops; i++)
      if (c->g->unit->ops[i].id >= OP_CSRRW && c->g->unit->ops[i].id <= OP_CSRRCI) return false;
    *num_ops += b->num_ops;
  }
  if (!loop_hoists_all(c)) return false;
  if (c->loop.has_cold && !loop_has_one_likely_path(c->g, &c->loop)) return false;
  /* without a trial any operation may leave */
  bool must_try = c->g->unit->checked || c->loop.has_cold;
  return !must_try || loop_can_have_trial(c->g, &c->loop);
}

/* Are there several paths through an iteration to the latch, on which nothing leaves native code
 * and nothing reads the time? */
static bool has_several_paths(const candidate *c)
{
  if (c->loop.fixed_time || c->loop.ends_early || c->loop.has_cold || c->loop.num_exits > 1 ||
      c->g->unit->checked || !loop_hoists_all(c))
    return false;
  for (uint32_t n = 0; n < c->g->num_blocks; n++) {
    const code_block *b = &c->g->blocks[n];
    if (!c->loop.contains[n]) continue;
    if (b->end == BLOCK_LEAVE || b->end == BLOCK_INDIRECT) return false;
    for (uint32_t i = b->first_op; i < b->first_op + b->num_ops; i++)
      if (c->g->unit->ops[i].id >= OP_CSRRW && c->g->unit->ops[i].id <= OP_CSRRCI) return false;
  }
  return true;
}

/* Makes cold what only some iterations come to and what keeps the loop from a fast copy: calls and
 * block copies, or accesses that are not hoisted. */
static bool mark_cold(candidate *c, bool accesses)
{
  bool *is_cause = pop_xcalloc(c->g->num_blocks, sizeof *is_cause), any = false;
  for (uint32_t n = 0; n < c->g->num_blocks; n++) {
    const code_block *b = &c->g->blocks[n];
    if (!c->loop.contains[n] || block_graph_dominates(c->g, n, c->loop.latch)) continue;
    is_cause[n] = accesses ? !loop_hoists_block(c, b) : calls_or_copies(c->g, b);
    any |= is_cause[n];
  }
  any = any && loop_exclude_cold(c->g, &c->loop, is_cause);
  free(is_cause);
  return any;
}

/* `counted`: the loop's accesses are known already. */
static bool count_without_cold(candidate *c, const bool *is_target, uint32_t num_ops, bool counted)
{
  mark_cold(c, false);
  if (!is_innermost_without_calls(c->g, &c->loop, is_target)) return false;
  if (!counted) analyse(c, num_ops, true);
  mark_cold(c, true);
  loop_exclude_forks(c->g, &c->loop);
  return c->loop.has_cold && count_with_fallbacks(c, num_ops) &&
         has_fixed_time(c, &c->loop.num_ops);
}

/* Excludes cold paths only if the loop has no fast copy otherwise. */
static bool count_loop(candidate *c, const bool *is_target, uint32_t num_ops)
{
  bool counted =
      is_innermost_without_calls(c->g, &c->loop, is_target) && count_with_fallbacks(c, num_ops);
  if (counted && loop_hoists_all(c)) return true;
  if (count_without_cold(c, is_target, num_ops, counted)) return true;
  if (!c->loop.has_cold) return counted;
  for (uint32_t n = 0; n < c->g->num_blocks; n++) {
    c->loop.contains[n] |= c->loop.is_cold[n];
    c->loop.is_cold[n] = false;
  }
  c->loop.has_cold = false;
  return counted && count_with_fallbacks(c, num_ops);
}

static bool analyse_loop(const block_graph *g, const bool *is_target, counted_loop *l)
{
  l->contains = pop_xcalloc(g->num_blocks, sizeof *l->contains);
  l->is_cold = pop_xcalloc(g->num_blocks, sizeof *l->is_cold);
  l->accesses = NULL;
  if (!find_body(g, l)) return false;
  uint32_t num_ops = num_ops_of(g);
  candidate *c = pop_xcalloc(1, sizeof *c);
  c->g = g;
  c->loop = *l;
  c->at_start = pop_xcalloc(g->num_blocks, sizeof *c->at_start);
  c->has_start = pop_xcalloc(g->num_blocks, sizeof *c->has_start);
  c->compared = pop_xcalloc(g->num_blocks, sizeof *c->compared);
  c->access = pop_xcalloc(num_ops + 1, sizeof *c->access);
  c->loop.accesses = pop_xmalloc((num_ops + 1) * sizeof *c->loop.accesses);
  bool counted = count_loop(c, is_target, num_ops);
  c->loop.worst_slots = slots_of(g, &c->loop);
  c->loop.fixed_time = counted && (c->loop.has_cold || has_fixed_time(c, &c->loop.num_ops));
  c->loop.sums_path_times = counted && has_several_paths(c);
  memcpy(c->loop.steps, c->step, sizeof c->step);
  if (counted) loop_plan_alias_checks(g, &c->loop);
  *l = c->loop;
  free(c->at_start);
  free(c->has_start);
  free(c->compared);
  free(c->access);
  free(c->bounds);
  free(c->limits);
  free(c);
  return counted;
}

static void free_loop(counted_loop *l)
{
  free(l->contains);
  free(l->is_cold);
  free(l->accesses);
}

static void find_counted(const block_graph *g, function_loops *loops)
{
  uint32_t *num_latches = pop_xcalloc(g->num_blocks, sizeof *num_latches);
  uint32_t *latch = pop_xcalloc(g->num_blocks, sizeof *latch);
  for (uint32_t i = 0; i < g->num_reachable; i++) {
    for (uint32_t s = 0; s < block_graph_num_successors(g, g->sequence[i]); s++) {
      int32_t to = block_graph_successor(g, g->sequence[i], s);
      if (to == UNIT_NONE || g->order[to] > i) continue;
      loops->is_target[to] = true;
      latch[to] = g->sequence[i];
      num_latches[to]++;
    }
  }
  for (uint32_t n = 0; n < g->num_blocks; n++) {
    loops->loop_of[n] = UNIT_NONE;
    if (num_latches[n] != 1 || !block_graph_dominates(g, n, latch[n])) continue;
    counted_loop l = {.header = n, .latch = latch[n]};
    if (analyse_loop(g, loops->is_target, &l)) {
      loops->loop_of[n] = (int32_t)loops->num_loops;
      pop_push(loops->loops, loops->num_loops, loops->loops_capacity, l);
    } else {
      free_loop(&l);
    }
  }
  free(num_latches);
  free(latch);
}

void function_loops_find(const code_unit *unit, const code_function *f, function_loops *loops)
{
  uint32_t n = f->num_blocks;
  block_graph g = block_graph_make(unit, f);
  *loops = (function_loops){.is_target = pop_xcalloc(n, sizeof *loops->is_target),
                            .order = g.order, /* kept */
                            .loop_of = pop_xcalloc(n, sizeof *loops->loop_of)};
  find_counted(&g, loops);
  g.order = NULL;
  block_graph_free(&g);
}

void function_loops_free(function_loops *loops)
{
  for (size_t i = 0; i < loops->num_loops; i++) free_loop(&loops->loops[i]);
  free(loops->loops);
  free(loops->is_target);
  free(loops->order);
  free(loops->loop_of);
  *loops = (function_loops){0};
}
