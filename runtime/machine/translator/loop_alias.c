/* Loops whose iterations are all alike: which accesses must not overlap so that LLVM vectorises the
 * loop, and whether the last iteration may be done twice. */
#include "lift.h"

/* Are all addresses of the loop known beforehand? */
static bool knows_addresses(const block_graph *g, const counted_loop *loop)
{
  uint32_t first = g->blocks[0].first_op;
  for (uint32_t n = 0; n < g->num_blocks; n++) {
    const code_block *b = &g->blocks[n];
    for (uint32_t i = b->first_op - first;
         loop->contains[n] && i < b->first_op - first + b->num_ops; i++)
      if (loop->accesses[i].group != UNIT_NONE && loop->accesses[i].bounded) return false;
  }
  return true;
}

/* Does some group have another step than a group that is stored? If not, LLVM's vectorizer compares
 * the places itself. */
static bool has_different_steps(const counted_loop *loop)
{
  for (uint32_t i = 0; i < loop->num_groups; i++)
    for (uint32_t j = 0; j < loop->num_groups; j++)
      if (loop->groups[i].store && !affine_equal(&loop->groups[i].step, &loop->groups[j].step))
        return true;
  return false;
}

/* Do all groups move by an element or a few in an iteration, so that they may become vectors?
 * Groups with larger steps (a transform's butterflies) may interleave without overlapping. */
static bool has_small_steps(const counted_loop *loop)
{
  enum { MOST_BYTES = 16 };
  for (uint32_t i = 0; i < loop->num_groups; i++) {
    const affine *step = &loop->groups[i].step;
    int32_t bytes = (int32_t)step->constant;
    if (step->num_terms || bytes < -MOST_BYTES || bytes > MOST_BYTES) return false;
  }
  return true;
}

/* Are there more pairs of groups to compare than LLVM's vectorizer accepts? */
static bool has_many_pairs(const counted_loop *loop)
{
  enum { MOST = 8 }; /* its runtime-memory-check-threshold */
  uint32_t pairs = 0;
  for (uint32_t i = 0; i < loop->num_groups; i++)
    for (uint32_t j = i + 1; j < loop->num_groups; j++)
      pairs += loop->groups[i].store || loop->groups[j].store;
  return pairs > MOST;
}

/* Registers that an iteration reads before it writes them, and those that it writes. */
typedef struct carried {
  uint32_t read_x, written_x;
  uint64_t read_f, written_f;
} carried;

static void add_op(carried *c, const code_op *op)
{
  uint8_t r = code_op_writes_x(op);
  c->read_x |= code_op_reads_x(op) & ~c->written_x;
  c->read_f |= code_op_reads_f(op) & ~c->written_f;
  if (r < NUM_REGISTERS) c->written_x |= 1u << r;
  c->written_f |= code_op_writes_f(op);
}

/* Does an iteration that is repeated with the same loads give the same result? Only induction
 * variables may carry values from iteration to iteration. */
static bool has_no_carried_value(const block_graph *g, const counted_loop *loop)
{
  carried c = {0};
  for (uint32_t n = 0; n < g->num_reachable; n++) {
    const code_block *b = &g->blocks[g->sequence[n]];
    if (!loop->contains[g->sequence[n]]) continue;
    for (uint32_t i = b->first_op; i < b->first_op + b->num_ops; i++) {
      if (code_op_is_random(&g->unit->ops[i])) return false;
      add_op(&c, &g->unit->ops[i]);
    }
  }
  for (unsigned r = 1; r < NUM_REGISTERS; r++)
    if ((c.read_x & c.written_x) >> r & 1 && !loop->steps[r].known) return false;
  return !(c.read_f & c.written_f);
}

static bool stores_where_it_loads(const counted_loop *loop)
{
  for (uint32_t i = 0; i < loop->num_groups; i++)
    if (loop->groups[i].store && loop->groups[i].load) return true;
  return false;
}

void loop_plan_alias_checks(const block_graph *g, counted_loop *loop)
{
  if (!loop->fixed_time || !knows_addresses(g, loop)) return;
  loop->needs_alias_checks = has_different_steps(loop);
  loop->needs_all_alias_checks = has_many_pairs(loop) && has_small_steps(loop);
  loop->may_repeat_last = !loop->has_cold && loop->num_exits == 1 && !g->unit->checked &&
                          !stores_where_it_loads(loop) && has_no_carried_value(g, loop);
}
