/* Which counted loops can have a trial, for float control (lift_control.c) or for cold paths
 * (loop_cold.c). A trial executes all iterations without their stores, only to find out whether
 * something is raised, or whether a cold path is taken. Its result is the same as with stores if
 *
 *     no iteration loads what an earlier iteration has stored, or what it has stored itself before
 *     no float register carries a value from iteration to iteration (a sum is not vectorised, so a
 *     trial would only double its time)
 *     under float control, native code does all operations
 *
 * Accesses of one group differ by constants, so they are compared here. Those of different groups
 * are compared by the guard. The loop has one path through an iteration. */
#include "lift.h"

#include "isa/functions.h"
#include "isa/packed.h"

static bool is_left_to_interpreter(uint8_t id)
{
  return lift_is_half(id) || (id >= OP_F16V4_ADD && id <= OP_F16V4_MAX) || id == OP_F32V2_MIN ||
         id == OP_F32V2_MAX || id == OP_FCLASS_S ||
         (id >= OP_F32EXP && id <= OP_F16V4SIGM && function_is_of_halves((isa_op)id));
}

typedef struct iteration_walk {
  const block_graph *g;
  const counted_loop *loop;
  uint64_t writes, written; /* float words that the iteration writes; that it has written so far */
  bool computes;            /* some operation may raise something */
} iteration_walk;

typedef bool on_op(iteration_walk *w, const code_op *op, uint32_t index);

/* Calls `on` for the operations of an iteration in their order, until it returns false. */
static bool walk(iteration_walk *w, on_op *on)
{
  uint32_t first = w->g->blocks[0].first_op;
  for (uint32_t s = 0; s < w->g->num_reachable; s++) {
    uint32_t n = w->g->sequence[s];
    const code_block *b = &w->g->blocks[n];
    if (!w->loop->contains[n]) continue;
    for (uint32_t i = b->first_op; i < b->first_op + b->num_ops; i++)
      if (!on(w, &w->g->unit->ops[i], i - first)) return false;
  }
  return true;
}

static bool collect(iteration_walk *w, const code_op *op, uint32_t index)
{
  (void)index;
  w->writes |= code_op_writes_f(op);
  if (code_op_writes_f(op) && op->id != OP_FLW && op->id != OP_FLD) w->computes = true;
  return !(w->g->unit->checked && is_left_to_interpreter(op->id)) && !code_op_is_copy(op);
}

static bool is_of_this_iteration(iteration_walk *w, const code_op *op, uint32_t index)
{
  (void)index;
  if (code_op_reads_f(op) & w->writes & ~w->written) return false;
  w->written |= code_op_writes_f(op);
  return true;
}

/* For a load and a store of the same group: does no earlier iteration store what the load gets, nor
 * its own iteration in front of it? */
static bool has_no_dependence(const access_group *g, int32_t load, uint32_t load_bytes,
                              int32_t store, uint32_t store_bytes, bool store_first)
{
  int64_t step = (int32_t)g->step.constant, from = load, to = from + load_bytes;
  int64_t first = store, end = first + store_bytes;
  if (g->step.num_terms || step == 0) return false;
  if (store_first && from < end && to > first) return false;
  return step > 0 ? from + step >= end : to + step <= first;
}

typedef struct load_check {
  iteration_walk walk; /* must come first: on_op gets a pointer to it */
  uint32_t load, bytes;
  bool behind; /* is the current operation behind the load? */
} load_check;

static bool store_spares_load(iteration_walk *w, const code_op *op, uint32_t index)
{
  load_check *c = (load_check *)w;
  const hoisted_access *load = &w->loop->accesses[c->load], *own = &w->loop->accesses[index];
  bool store;
  uint32_t bytes;
  if (index == c->load) c->behind = true;
  if (!code_op_is_access(op, &store, &bytes) || !store || own->group != load->group) return true;
  if (own->bounded || load->bounded) return false;
  return has_no_dependence(&w->loop->groups[own->group], load->offset, c->bytes, own->offset, bytes,
                           !c->behind);
}

static bool is_unclobbered(iteration_walk *w, const code_op *op, uint32_t index)
{
  bool store;
  uint32_t bytes;
  if (!code_op_is_access(op, &store, &bytes) || store) return true;
  if (w->loop->accesses[index].group == UNIT_NONE) return true; /* loaded by the guard */
  load_check check = {.walk = {.g = w->g, .loop = w->loop}, .load = index, .bytes = bytes};
  return walk(&check.walk, store_spares_load);
}

bool loop_can_have_trial(const block_graph *g, const counted_loop *loop)
{
  iteration_walk w = {.g = g, .loop = loop};
  return walk(&w, collect) && w.computes && walk(&w, is_of_this_iteration) &&
         walk(&w, is_unclobbered);
}
