/* Loop analysis, exits: which tests end the loop, and whether a counter decides them. */
#include "loop_candidate.h"

typedef struct comparison {
  loop_test test;
  bool less; /* of: less, greater or equal */
} comparison;

static bool comparison_of(const code_op *op, bool taken_goes_on, comparison *out)
{
  switch (op->id) {
  case OP_BEQ:
  case OP_BNE:
    *out = (comparison){.test = LOOP_NOT_EQUAL, .less = false};
    return (op->id == OP_BNE) == taken_goes_on;
  case OP_BLT:
  case OP_BGE:
    *out = (comparison){.test = LOOP_SIGNED, .less = (op->id == OP_BLT) == taken_goes_on};
    return true;
  case OP_BLTU:
  case OP_BGEU:
    *out = (comparison){.test = LOOP_UNSIGNED, .less = (op->id == OP_BLTU) == taken_goes_on};
    return true;
  default:
    return false;
  }
}

/* Describes the branch as an exit that a counter decides; false if it is none. The loop goes on
 * while left < right (`less`) or left >= right. */
static bool find_counter(candidate *c, uint32_t block, bool taken_goes_on, loop_exit *e)
{
  const code_block *b = &c->g->blocks[block];
  const code_op *op = &c->g->unit->ops[b->first_op + b->num_ops - 1];
  comparison how;
  if (!comparison_of(op, taken_goes_on, &how)) return false;
  affine left = c->compared[block][0], right = c->compared[block][1];
  int32_t left_step, right_step;
  if (!loop_constant_step_of(c, &left, &left_step) ||
      !loop_constant_step_of(c, &right, &right_step))
    return false;
  if ((left_step == 0) == (right_step == 0)) return false;
  bool left_counts = left_step != 0;
  *e = (loop_exit){.block = block,
                   .counter = left_counts ? left : right,
                   .bound = left_counts ? right : left,
                   .step = left_counts ? left_step : right_step,
                   .test = how.test,
                   .or_equal = !how.less};
  if (e->step == INT32_MIN) return false;
  if (e->test == LOOP_NOT_EQUAL) return true;
  /* up: counter < bound or bound >= counter; down: counter >= bound or bound < counter */
  bool counter_below = left_counts == how.less;
  return counter_below == (e->step > 0);
}

static bool count_exit(candidate *c, uint32_t block, bool taken_goes_on)
{
  loop_exit *e = &c->loop.exits[c->loop.num_exits];
  if (c->loop.num_exits == MAX_EXITS || !find_counter(c, block, taken_goes_on, e)) return false;
  c->loop.num_exits++;
  return true;
}

static bool leads_out(const candidate *c, int32_t to)
{
  return to != UNIT_NONE && !c->loop.contains[to] && !c->loop.is_cold[to];
}

static bool may_end_loop(const candidate *c, uint32_t block)
{
  for (uint32_t i = 0; i < block_graph_num_successors(c->g, block); i++)
    if (leads_out(c, block_graph_successor(c->g, block, i))) return true;
  return false;
}

/* Can an iteration that leaves at the end of `exit` be repeated from its start? There must be one
 * path to that point. On it nothing is stored, the random state is not used, and no float register
 * is written, because those are not saved. */
static bool can_begin_again(const candidate *c, uint32_t exit)
{
  for (uint32_t n = 0; n < c->g->num_blocks; n++) {
    const code_block *b = &c->g->blocks[n];
    if (!c->loop.contains[n] || c->g->order[n] > c->g->order[exit]) continue;
    if (!block_graph_dominates(c->g, n, c->loop.latch)) return false;
    for (uint32_t i = b->first_op; i < b->first_op + b->num_ops; i++) {
      const code_op *op = &c->g->unit->ops[i];
      bool store;
      uint32_t bytes;
      if (code_op_is_access(op, &store, &bytes) && store) return false;
      if (code_op_is_random(op) || code_op_writes_f(op)) return false;
    }
  }
  return true;
}

static bool analyse_early_exit(candidate *c, uint32_t block)
{
  c->loop.ends_early = true;
  return can_begin_again(c, block);
}

/* The latch's exit must be decided by a counter. Others may be early exits, whose condition is
 * known only in their iteration. */
bool loop_analyse_exits(candidate *c)
{
  const counted_loop *l = &c->loop;
  const code_block *latch = &c->g->blocks[l->latch];
  c->loop.num_exits = 0;
  c->loop.ends_early = false;
  if (latch->end != BLOCK_BRANCH || latch->next == latch->taken) return false;
  if (!count_exit(c, l->latch, latch->taken == (int32_t)l->header)) return false;
  for (uint32_t n = 0; n < c->g->num_blocks; n++) {
    if (!l->contains[n] || n == l->latch || !may_end_loop(c, n)) continue;
    const code_block *b = &c->g->blocks[n];
    if (b->end != BLOCK_BRANCH || b->next == UNIT_NONE || b->taken == UNIT_NONE) return false;
    if (leads_out(c, b->next) == leads_out(c, b->taken)) return false;
    if (!count_exit(c, n, leads_out(c, b->next)) && !analyse_early_exit(c, n)) return false;
  }
  return true;
}
