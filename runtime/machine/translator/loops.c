/* Loop analysis: which loops have a trip count that is known before they run, which registers are
 * induction variables, and what the accesses touch.
 *
 * Candidates are innermost natural loops with one backward edge, whose last block decides about
 * another round by comparing a register that grows by a constant with one that stays; other blocks may end the loop:
 * if they decide in the same way, the trip count is the least of theirs (multiple exits); if not (early exits: what has been
 * found, what differs), it is what they leave of it, and they are asked in every round. The body is
 * executed once with symbols: each register is a sum of registers at the entry of the round, each
 * times a constant, plus a constant (`affine`), or unknown. What a register has become at the end of
 * the round says whether it is invariant, an induction variable (it grows by a constant, or by a sum of invariants: a symbolic
 * stride, as of a matrix' columns), or unknown from the second round on. So an address whose terms are invariants and induction variables is affine in the
 * number of the round. What grows in some rounds only (where the next element goes that is kept) is known to have grown by no more than if it had in all.
 *
 * A codelet loads addresses and sizes of its fields in each round where its compiler must fear that a store changes
 * them. What is loaded from a place that stays is therefore taken to stay (a loop-invariant load) if all stores
 * of the loop go to places that the guard can compare with it. */
#include "lift.h"

#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LOOP_OPS = 4096 };

/* Symbolic execution */

/* The current loop while it is looked at. */
typedef struct candidate {
  const block_graph *g;
  counted_loop loop;
  affine_registers *at_start; /* by block: registers where it begins */
  bool *has_start;
  affine_registers at_end; /* of the latch */
  affine (*compared)[2];   /* by block: what the branch at its end compares */
  affine *access;          /* by operation of the function: address */
  uint32_t *bounds;        /* by symbol - NUM_REGISTERS: those of invariants are UINT32_MAX */
  affine *limits; /* likewise: what is not greater than a value that stays; else not known */
  size_t num_bounds, bounds_capacity, num_limits, limits_capacity;
  affine step[NUM_REGISTERS]; /* what a round adds, if that is a sum of what stays */
  /* Else: 0, or the most that a round adds, which then is nothing of the other sign; and the lowest bit that may be set of it. */
  int32_t creep[NUM_REGISTERS];
  uint32_t grain[NUM_REGISTERS];
  bool looks_for_invariants;   /* while a round is executed again */
  bool returns[NUM_REGISTERS]; /* taken to stay: see find_returning */
} candidate;

/* Accesses may not spread wider in a round; an access far away is a group of its own. */
enum { MAX_GROUP_BYTES = 1 << 16, MAX_JOINS = 4096 };

static void add_bounded(candidate *c, uint32_t bound, affine limit)
{
  pop_push(c->bounds, c->num_bounds, c->bounds_capacity, bound);
  pop_push(c->limits, c->num_limits, c->limits_capacity, limit);
}

/* What is one or the other: if they differ by a constant, the lower one and that, once or not at all. */
static affine join(candidate *c, const affine *a, const affine *b)
{
  if (affine_equal(a, b)) return *a;
  if (!a->known || !b->known || !affine_same_terms(a, b) || c->num_bounds >= MAX_JOINS)
    return (affine){0};
  int32_t apart = (int32_t)(b->constant - a->constant);
  if (apart < -MAX_GROUP_BYTES || apart > MAX_GROUP_BYTES) return (affine){0};
  affine or_not = affine_symbol((uint16_t)(NUM_REGISTERS + c->num_bounds));
  add_bounded(c, 1, (affine){0});
  return affine_add_scaled(apart > 0 ? *a : *b, or_not, (uint32_t)(apart > 0 ? apart : -apart));
}

static void merge(candidate *c, affine_registers *into, const affine_registers *from)
{
  for (unsigned r = 0; r < NUM_REGISTERS; r++) into->x[r] = join(c, &into->x[r], &from->x[r]);
}

static void send_values(candidate *c, const affine_registers *v, int32_t to)
{
  if (to == UNIT_NONE || !c->loop.contains[to] || (uint32_t)to == c->loop.header) return;
  if (c->has_start[to])
    merge(c, &c->at_start[to], v);
  else
    c->at_start[to] = *v;
  c->has_start[to] = true;
}

/* Of a register, or of an invariant. */
static const affine *step_of_symbol(const candidate *c, uint16_t symbol)
{
  return symbol < NUM_REGISTERS ? &c->step[symbol]
                                : &c->loop.invariants[symbol - FIRST_INVARIANT].step;
}

/* Has it the same value in all rounds? */
static bool stays(const candidate *c, const affine *a)
{
  for (unsigned i = 0; i < a->num_terms; i++) {
    uint16_t symbol = a->symbol[i];
    if (symbol >= FIRST_BOUNDED || !affine_is_zero(step_of_symbol(c, symbol))) return false;
  }
  return a->known;
}

/* By how much `a` grows in a round; false if that is not known. */
static bool step_of(const candidate *c, const affine *a, affine *step)
{
  *step = affine_symbol(0);
  for (unsigned i = 0; i < a->num_terms; i++) {
    if (a->symbol[i] >= FIRST_BOUNDED) return false;
    *step = affine_add_scaled(*step, *step_of_symbol(c, a->symbol[i]), a->coefficient[i]);
  }
  return a->known && step->known;
}

static bool constant_step_of(const candidate *c, const affine *a, int32_t *step)
{
  affine sum;
  if (!step_of(c, a, &sum) || sum.num_terms) return false;
  *step = (int32_t)sum.constant;
  return true;
}

/* Operations that the guard may repeat. */
static bool is_pure(uint8_t id)
{
  switch (id) {
  case OP_MUL:
  case OP_MULHU:
  case OP_DIVU:
  case OP_REMU:
  case OP_AND:
  case OP_ANDI:
  case OP_ANDN:
  case OP_OR:
  case OP_ORI:
  case OP_XOR:
  case OP_XORI:
  case OP_SLL:
  case OP_SRL:
  case OP_SRA:
  case OP_SRLI:
  case OP_SRAI:
  case OP_MIN:
  case OP_MINU:
  case OP_MAX:
  case OP_MAXU:
    return true;
  default:
    return false;
  }
}

static bool same_invariant(const loop_invariant *a, const loop_invariant *b)
{
  if (a->load != b->load || !affine_equal(&a->a, &b->a) || !affine_equal(&a->b, &b->b))
    return false;
  return a->load || (a->op.id == b->op.id && a->op.imm == b->op.imm);
}

static bool is_invariant(const candidate *c, const loop_invariant *it)
{
  return stays(c, &it->a) && stays(c, &it->b);
}

/* Sets its step. */
static bool is_product(const candidate *c, loop_invariant *it)
{
  int32_t step;
  if (it->op.id != OP_MUL) return false;
  const affine *factor = stays(c, &it->a) ? &it->a : &it->b,
               *grows = factor == &it->a ? &it->b : &it->a;
  if (!stays(c, factor) || !constant_step_of(c, grows, &step)) return false;
  it->step = affine_add_scaled(affine_symbol(0), *factor, (uint32_t)step);
  return true;
}

/* The number of the invariant that the operation's result is, given registers in front of it. */
static int32_t find_invariant(candidate *c, const affine_registers *v, const code_op *op)
{
  counted_loop *l = &c->loop;
  bool load = op->id == OP_LW;
  if (!c->looks_for_invariants || (!load && !is_pure(op->id))) return UNIT_NONE;
  loop_invariant it = {.op = *op, .load = load, .a = v->x[op->rs1]};
  it.b = it.step = affine_symbol(0);
  if (load)
    it.a = affine_add(it.a, (uint32_t)op->imm);
  else if (code_op_reads_x(op) >> op->rs2 & 1)
    it.b = v->x[op->rs2];
  if (!is_invariant(c, &it) && !is_product(c, &it)) return UNIT_NONE;
  for (uint32_t i = 0; i < l->num_invariants; i++)
    if (same_invariant(&l->invariants[i], &it)) return (int32_t)i;
  if (l->num_invariants == MAX_INVARIANTS) return UNIT_NONE;
  l->invariants[l->num_invariants] = it;
  return (int32_t)l->num_invariants++;
}

/* A value that stays, which the operation's result cannot be greater than: a size less 1, as a mask; a size, as a divisor (if
 * that is 0, the limit is as large as can be). */
static affine find_limit(const candidate *c, const affine_registers *v, const code_op *op)
{
  const affine *a = &v->x[op->rs1], *b = &v->x[op->rs2];
  if (!c->looks_for_invariants) return (affine){0};
  switch (op->id) {
  case OP_AND:
  case OP_MINU:
    return stays(c, a) ? *a : stays(c, b) ? *b : (affine){0};
  case OP_REMU:
    return stays(c, b) ? affine_add(*b, UINT32_MAX) : (affine){0};
  default:
    return (affine){0};
  }
}

/* An unknown result is a new symbol if it is an invariant or bounded. */
static void execute(candidate *c, affine_registers *v, const code_op *op, uint32_t index)
{
  uint32_t bound = affine_bound(v, c->bounds, op);
  affine_registers before = *v;
  affine *result = affine_execute(v, op);
  if (!result || result->known) return;
  int32_t invariant = find_invariant(c, &before, op);
  if (invariant != UNIT_NONE) {
    if (c->loop.invariants[invariant].load) c->loop.accesses[index].invariant = invariant;
    *result = affine_symbol((uint16_t)(FIRST_INVARIANT + invariant));
    return;
  }
  affine limit = bound > MAX_GROUP_BYTES ? find_limit(c, &before, op) : (affine){0};
  if (bound > MAX_GROUP_BYTES && !limit.known) return;
  *result =
      affine_symbol((uint16_t)(NUM_REGISTERS + c->num_bounds)); /* below MAX_LOOP_OPS + MAX_JOINS */
  add_bounded(c, bound, limit);
}

static void execute_block(candidate *c, uint32_t number)
{
  const code_block *b = &c->g->blocks[number];
  affine_registers v = c->at_start[number];
  for (uint32_t i = 0; i < b->num_ops; i++) {
    const code_op *op = &c->g->unit->ops[b->first_op + i];
    uint32_t first = c->g->blocks[0].first_op; /* operations of a function are consecutive */
    bool store;
    uint32_t bytes;
    if (code_op_is_access(op, &store, &bytes))
      c->access[b->first_op + i - first] = affine_add(v.x[op->rs1], (uint32_t)op->imm);
    execute(c, &v, op, b->first_op + i - first);
  }
  if (number == c->loop.latch) c->at_end = v;
  if (b->end == BLOCK_BRANCH) {
    const code_op *branch = &c->g->unit->ops[b->first_op + b->num_ops - 1];
    c->compared[number][0] = v.x[branch->rs1];
    c->compared[number][1] = v.x[branch->rs2];
  }
  for (uint32_t i = 0; i < block_graph_num_successors(c->g, number); i++)
    send_values(c, &v, block_graph_successor(c->g, number, i));
}

static void forget_round(candidate *c, uint32_t num_ops)
{
  for (uint32_t n = 0; n < c->g->num_blocks; n++) c->has_start[n] = false;
  for (uint32_t i = 0; i < num_ops; i++) {
    c->loop.accesses[i] = (hoisted_access){.group = UNIT_NONE, .invariant = UNIT_NONE};
    c->access[i] = (affine){0};
  }
  c->loop.num_groups = c->loop.num_accesses = c->loop.num_invariants = 0;
  c->num_bounds = c->num_limits = 0;
  for (unsigned i = 0; i < MAX_INVARIANTS; i++) add_bounded(c, UINT32_MAX, (affine){0});
}

/* The most that a round adds, of what it adds sometimes (an element is kept or not); 0: that is not known, or of both signs. */
static int32_t creep_of(const candidate *c, const affine *step, uint32_t *grain)
{
  int64_t least = (int32_t)step->constant, most = least;
  uint32_t bits = step->constant;
  for (unsigned i = 0; i < step->num_terms; i++) {
    uint16_t symbol = step->symbol[i];
    if (symbol < FIRST_BOUNDED || c->limits[symbol - NUM_REGISTERS].known) return 0;
    int64_t way = (int64_t)(int32_t)step->coefficient[i] * c->bounds[symbol - NUM_REGISTERS];
    *(way < 0 ? &least : &most) += way;
    bits |= step->coefficient[i];
  }
  *grain = bits & -bits;
  if (!step->known || least < -MAX_GROUP_BYTES || most > MAX_GROUP_BYTES) return 0;
  return least >= 0 ? (int32_t)most : most <= 0 ? (int32_t)least : 0;
}

/* Registers that stay first: steps of others may be sums of them. */
static void find_steps(candidate *c)
{
  for (unsigned r = 0; r < NUM_REGISTERS; r++)
    c->step[r] = affine_add_scaled(c->at_end.x[r], affine_symbol((uint16_t)r), UINT32_MAX);
  for (unsigned r = 0; r < NUM_REGISTERS; r++) {
    c->creep[r] = 0;
    if (c->returns[r]) c->step[r] = affine_symbol(0);
    if (stays(c, &c->step[r])) continue;
    c->creep[r] = creep_of(c, &c->step[r], &c->grain[r]);
    c->step[r].known = false;
  }
}

static void execute_round(candidate *c)
{
  affine_registers *start = &c->at_start[c->loop.header];
  for (unsigned r = 0; r < NUM_REGISTERS; r++) start->x[r] = affine_symbol((uint16_t)r);
  c->has_start[c->loop.header] = true;
  for (uint32_t i = 0; i < c->g->num_reachable; i++) {
    uint32_t block = c->g->sequence[i];
    if (c->loop.contains[block] && c->has_start[block]) execute_block(c, block);
  }
  find_steps(c);
}

/* The test at the end of the round */

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

/* As an exit that a counter decides. It goes on while left < right (`less`), or left >= right. */
static bool find_counter(candidate *c, uint32_t block, bool taken_goes_on, loop_exit *e)
{
  const code_block *b = &c->g->blocks[block];
  const code_op *op = &c->g->unit->ops[b->first_op + b->num_ops - 1];
  comparison how;
  if (!comparison_of(op, taken_goes_on, &how)) return false;
  affine left = c->compared[block][0], right = c->compared[block][1];
  int32_t left_step, right_step;
  if (!constant_step_of(c, &left, &left_step) || !constant_step_of(c, &right, &right_step))
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
  return to != UNIT_NONE && !c->loop.contains[to] && !c->loop.is_rare[to];
}

static bool may_end_loop(const candidate *c, uint32_t block)
{
  for (uint32_t i = 0; i < block_graph_num_successors(c->g, block); i++)
    if (leads_out(c, block_graph_successor(c->g, block, i))) return true;
  return false;
}

/* Can a round that comes to the end of `exit` be done again from its start? There is one way to there, on which nothing is stored and
 * no register of floats is written (which are not kept), and which has nothing to do with the random state. */
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

static bool understand_early_exit(candidate *c, uint32_t block)
{
  c->loop.ends_early = true;
  return can_begin_again(c, block);
}

/* The latch's is a counter. Others may end the loop earlier, for reasons that are only known in their round. */
static bool understand_exits(candidate *c)
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
    if (!count_exit(c, n, leads_out(c, b->next)) && !understand_early_exit(c, n)) return false;
  }
  return true;
}

/* Accesses */

/* Where an access touches in a round, from the start of the round's base on. */
typedef struct extent {
  int64_t low, high;
  bool bounded;
  uint32_t scale; /* as of a group */
  affine limit;
} extent;

/* With the alignment of an access of so many bytes. */
static access_group *find_group(counted_loop *l, const affine *base, const extent *e,
                                uint32_t bytes)
{
  for (uint32_t i = 0; i < l->num_groups; i++) {
    access_group *g = &l->groups[i];
    if (affine_same_terms(&g->base, base) && g->scale == e->scale &&
        (!g->scale || affine_equal(&g->limit, &e->limit)) &&
        align_together(&g->align, &g->rest, e->low, isa_access_align(bytes)))
      return g;
  }
  return NULL;
}

/* Adds a bounded value times `factor`. */
static bool extend(const candidate *c, uint16_t symbol, int64_t factor, extent *e)
{
  const affine *limit = &c->limits[symbol - NUM_REGISTERS];
  e->bounded = true;
  if (limit->known) { /* a larger factor might be more in all than the guard's 64 bits have */
    if (e->scale || factor <= 0 || factor > MAX_GROUP_BYTES) return false;
    e->scale = (uint32_t)factor;
    e->limit = *limit;
    return true;
  }
  int64_t way = factor * c->bounds[symbol - NUM_REGISTERS];
  *(way < 0 ? &e->low : &e->high) += way;
  return true;
}

/* Takes the constant and the bounded symbols out of `address`; false if some of these is not a
 * multiple of its alignment. */
static bool take_extent(const candidate *c, affine *address, uint32_t bytes, extent *out)
{
  affine base = {.known = address->known};
  int64_t offset = (int32_t)address->constant;
  *out = (extent){.low = offset, .high = offset + bytes};
  uint32_t align = isa_access_align(bytes);
  for (unsigned i = 0; i < address->num_terms; i++) {
    uint16_t symbol = address->symbol[i];
    int64_t factor = (int32_t)address->coefficient[i];
    if (symbol < FIRST_BOUNDED) {
      base.symbol[base.num_terms] = symbol;
      base.coefficient[base.num_terms++] = address->coefficient[i];
      continue;
    }
    if (factor % align || !extend(c, symbol, factor, out)) return false;
  }
  *address = base;
  return true;
}

/* As step_of, or the most that it grows, and sets `bounded`, if it creeps: then all that adds to it goes the same way, by multiples
 * of `align`. */
static bool way_of(const candidate *c, const affine *a, uint32_t align, affine *step, bool *bounded)
{
  int64_t creep = 0, rest = 0;
  if (step_of(c, a, step)) return true;
  for (unsigned i = 0; i < a->num_terms; i++) {
    uint16_t symbol = a->symbol[i];
    int64_t factor = (int32_t)a->coefficient[i];
    const affine *own = step_of_symbol(c, symbol);
    bool creeps = !own->known && symbol < NUM_REGISTERS && factor * c->grain[symbol] % align == 0;
    if (!creeps && (!own->known || own->num_terms)) return false;
    int64_t way = factor * (creeps ? c->creep[symbol] : (int32_t)own->constant);
    if (way < -MAX_GROUP_BYTES || way > MAX_GROUP_BYTES) return false;
    if (creeps && (!way || way * creep < 0)) return false;
    *(creeps ? &creep : &rest) += way;
  }
  if (rest * creep < 0) return false;
  *bounded = true;
  *step = affine_add(affine_symbol(0), (uint32_t)(creep + rest));
  return a->known;
}

static void add_access(candidate *c, const code_op *op, uint32_t index)
{
  counted_loop *l = &c->loop;
  bool store;
  uint32_t bytes;
  if (!code_op_is_access(op, &store, &bytes)) return;
  if (l->accesses[index].invariant != UNIT_NONE) return;
  affine base = c->access[index];
  extent own;
  affine step;
  if (!base.known || !take_extent(c, &base, bytes, &own)) return;
  if (!way_of(c, &base, isa_access_align(bytes), &step, &own.bounded) ||
      own.high - own.low > MAX_GROUP_BYTES)
    return;
  if (!step.num_terms && (int32_t)step.constant % (int32_t)isa_access_align(bytes)) return;
  access_group *group = find_group(l, &base, &own, bytes);
  if (!group) {
    if (l->num_groups == MAX_GROUPS) return;
    group = &l->groups[l->num_groups++];
    *group = (access_group){.base = base,
                            .lowest = (int32_t)own.low,
                            .highest = (int32_t)own.low,
                            .step = step,
                            .scale = own.scale,
                            .limit = own.limit,
                            .align = 1};
    (void)align_together(&group->align, &group->rest, own.low, isa_access_align(bytes));
  }
  int64_t low = own.low < group->lowest ? own.low : group->lowest;
  int64_t high = own.high > group->highest ? own.high : group->highest;
  if (high - low > MAX_GROUP_BYTES || low < INT32_MIN || high > INT32_MAX) return;
  group->lowest = (int32_t)low;
  group->highest = (int32_t)high;
  group->load |= !store;
  group->store |= store;
  group->by_sp |= store && op->rs1 == 2;
  l->num_accesses++;
  l->accesses[index] = (hoisted_access){.group = (int32_t)(group - l->groups),
                                        .invariant = UNIT_NONE,
                                        .bounded = own.bounded,
                                        .offset = (int32_t)own.low};
}

static void add_accesses(candidate *c)
{
  uint32_t first = c->g->blocks[0].first_op;
  for (uint32_t n = 0; n < c->g->num_blocks; n++) {
    const code_block *b = &c->g->blocks[n];
    if (!c->loop.contains[n]) continue;
    for (uint32_t i = 0; i < b->num_ops; i++)
      add_access(c, &c->g->unit->ops[b->first_op + i], b->first_op + i - first);
  }
}

/* Loops */

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

/* Leaves the loop by a call, or copies blocks, whose time and places are known when they are copied. */
static bool calls_or_copies(const block_graph *g, const code_block *b)
{
  bool unknown = b->end == BLOCK_DYNAMIC && (!b->num_targets || b->next != UNIT_NONE);
  return b->end == BLOCK_CALL || b->end == BLOCK_KNOWN || unknown || has_copies(g, b);
}

/* Is the loop innermost, and goes it on inside? */
static bool stays_inside(const block_graph *g, const counted_loop *l, const bool *is_target)
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

/* Do all stores go where the guard knows, and none of them certainly to what it has loaded? */
static bool can_load_before(const candidate *c)
{
  const counted_loop *l = &c->loop;
  uint32_t first = c->g->blocks[0].first_op;
  bool loads = false;
  for (uint32_t i = 0; i < l->num_invariants; i++) {
    if (!l->invariants[i].load) continue;
    loads = true;
    for (uint32_t n = 0; n < l->num_groups; n++)
      if (l->groups[n].store && affine_same_terms(&l->groups[n].base, &l->invariants[i].a))
        return false;
  }
  for (uint32_t n = 0; n < c->g->num_blocks && loads; n++) {
    const code_block *b = &c->g->blocks[n];
    for (uint32_t i = b->first_op; l->contains[n] && i < b->first_op + b->num_ops; i++) {
      bool store;
      uint32_t bytes;
      if (code_op_is_access(&c->g->unit->ops[i], &store, &bytes) && store &&
          l->accesses[i - first].group == UNIT_NONE)
        return false;
    }
  }
  return true;
}

/* Are all accesses of the block hoisted? */
static bool hoists_block(const candidate *c, const code_block *b)
{
  uint32_t first = c->g->blocks[0].first_op;
  for (uint32_t i = b->first_op; i < b->first_op + b->num_ops; i++) {
    bool store;
    uint32_t bytes;
    if (code_op_is_access(&c->g->unit->ops[i], &store, &bytes) &&
        c->loop.accesses[i - first].group == UNIT_NONE &&
        c->loop.accesses[i - first].invariant == UNIT_NONE)
      return false;
  }
  return true;
}

static bool hoists_all(const candidate *c)
{
  for (uint32_t n = 0; n < c->g->num_blocks; n++)
    if (c->loop.contains[n] && !hoists_block(c, &c->g->blocks[n])) return false;
  return true;
}

/* Registers that the next round reaches something by, and that each round leaves as what stays: the address of a field, loaded
 * again behind a store. If the first round begins with that, which the guard can ask, they stay, too. Are there any? */
static bool find_returning(candidate *c, uint32_t num_ops)
{
  bool any = false;
  for (uint32_t i = 0; i < num_ops; i++) {
    for (unsigned t = 0; t < c->access[i].num_terms; t++) {
      uint16_t r = c->access[i].symbol[t];
      if (r >= NUM_REGISTERS || c->step[r].known || !stays(c, &c->at_end.x[r])) continue;
      c->returns[r] = any = true;
    }
  }
  return any;
}

/* What the guard is to ask. False if registers that were taken to do so do not. */
static bool keep_returned(candidate *c)
{
  bool all = true;
  for (unsigned r = 0; r < NUM_REGISTERS; r++) {
    c->loop.returned[r] = c->returns[r] ? c->at_end.x[r] : (affine){0};
    all = all && (!c->returns[r] || stays(c, &c->at_end.x[r]));
  }
  return all;
}

/* The first execution says which registers stay, the second one what stays therefore. */
static void analyse(candidate *c, uint32_t num_ops, bool with_invariants)
{
  c->looks_for_invariants = false;
  forget_round(c, num_ops);
  execute_round(c);
  if (with_invariants) {
    c->looks_for_invariants = true;
    forget_round(c, num_ops);
    execute_round(c);
  }
  add_accesses(c);
}

static bool count(candidate *c, uint32_t num_ops, bool with_invariants)
{
  analyse(c, num_ops, with_invariants);
  if (!understand_exits(c)) return false;
  if (c->loop.ends_early && !c->loop.num_groups) return false; /* nothing would be faster */
  return can_load_before(c) && keep_returned(c);
}

/* Invariants only where something is unknown without them: a load whose place a store may touch (a pivot of a
 * matrix that is changed in place) would keep the loop from its fast copy. So would a register that does not return. */
static bool count_somehow(candidate *c, uint32_t num_ops)
{
  memset(c->returns, 0, sizeof c->returns);
  bool counted = count(c, num_ops, false);
  if (counted && hoists_all(c)) return true;
  bool with_invariants = count(c, num_ops, true);
  if (with_invariants && hoists_all(c)) return true;
  if (find_returning(c, num_ops)) {
    if (count(c, num_ops, true) && hoists_all(c)) return true;
    memset(c->returns, 0, sizeof c->returns);
    with_invariants = with_invariants && count(c, num_ops, true);
  }
  return with_invariants || (counted && count(c, num_ops, false));
}

/* Is there one way through a round (but for rare ones), on which nothing leaves and nothing reads the time? And do all rounds end
 * at the latch? */
static bool has_fixed_time(const candidate *c, uint32_t *num_ops)
{
  *num_ops = 0;
  if (c->loop.ends_early) return false;
  for (uint32_t n = 0; n < c->g->num_blocks; n++) {
    const code_block *b = &c->g->blocks[n];
    if (!c->loop.contains[n]) continue;
    if (b->end == BLOCK_LEAVE) return false;
    if (!c->loop.has_rare &&
        (b->end == BLOCK_DYNAMIC || !block_graph_dominates(c->g, n, c->loop.latch)))
      return false;
    for (uint32_t i = b->first_op; i < b->first_op + b->num_ops; i++)
      if (c->g->unit->ops[i].id >= OP_CSRRW && c->g->unit->ops[i].id <= OP_CSRRCI) return false;
    *num_ops += b->num_ops;
  }
  if (!hoists_all(c)) return false;
  if (c->loop.has_rare && !loop_is_usually_straight(c->g, &c->loop)) return false;
  bool must_try = c->g->unit->checked || c->loop.has_rare; /* else any operation may leave */
  return !must_try || loop_can_be_tried(c->g, &c->loop);
}

/* Do rounds go several ways to the latch, on which nothing leaves and nothing looks at the time? */
static bool goes_several_ways(const candidate *c)
{
  if (c->loop.fixed_time || c->loop.ends_early || c->loop.has_rare || c->loop.num_exits > 1 ||
      c->g->unit->checked || !hoists_all(c))
    return false;
  for (uint32_t n = 0; n < c->g->num_blocks; n++) {
    const code_block *b = &c->g->blocks[n];
    if (!c->loop.contains[n]) continue;
    if (b->end == BLOCK_LEAVE || b->end == BLOCK_DYNAMIC) return false;
    for (uint32_t i = b->first_op; i < b->first_op + b->num_ops; i++)
      if (c->g->unit->ops[i].id >= OP_CSRRW && c->g->unit->ops[i].id <= OP_CSRRCI) return false;
  }
  return true;
}

/* Leaves out what some rounds come to, and what keeps the loop from a fast copy: calls and copies, or accesses that are not
 * hoisted. */
static bool leave_out(candidate *c, bool accesses)
{
  bool *is_cause = pop_xcalloc(c->g->num_blocks, sizeof *is_cause), any = false;
  for (uint32_t n = 0; n < c->g->num_blocks; n++) {
    const code_block *b = &c->g->blocks[n];
    if (!c->loop.contains[n] || block_graph_dominates(c->g, n, c->loop.latch)) continue;
    is_cause[n] = accesses ? !hoists_block(c, b) : calls_or_copies(c->g, b);
    any |= is_cause[n];
  }
  any = any && loop_leave_out(c->g, &c->loop, is_cause);
  free(is_cause);
  return any;
}

/* `counted`: what the loop accesses is known already. */
static bool count_without_rare(candidate *c, const bool *is_target, uint32_t num_ops, bool counted)
{
  leave_out(c, false);
  if (!stays_inside(c->g, &c->loop, is_target)) return false;
  if (!counted) analyse(c, num_ops, true);
  leave_out(c, true);
  loop_leave_out_forks(c->g, &c->loop);
  return c->loop.has_rare && count_somehow(c, num_ops) && has_fixed_time(c, &c->loop.num_ops);
}

/* With rare ways only if it is the fast copy that they are in the way of. */
static bool count_loop(candidate *c, const bool *is_target, uint32_t num_ops)
{
  bool counted = stays_inside(c->g, &c->loop, is_target) && count_somehow(c, num_ops);
  if (counted && hoists_all(c)) return true;
  if (count_without_rare(c, is_target, num_ops, counted)) return true;
  if (!c->loop.has_rare) return counted;
  for (uint32_t n = 0; n < c->g->num_blocks; n++) {
    c->loop.contains[n] |= c->loop.is_rare[n];
    c->loop.is_rare[n] = false;
  }
  c->loop.has_rare = false;
  return counted && count_somehow(c, num_ops);
}

static bool look_at_loop(const block_graph *g, const bool *is_target, counted_loop *l)
{
  l->contains = pop_xcalloc(g->num_blocks, sizeof *l->contains);
  l->is_rare = pop_xcalloc(g->num_blocks, sizeof *l->is_rare);
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
  c->loop.fixed_time = counted && (c->loop.has_rare || has_fixed_time(c, &c->loop.num_ops));
  c->loop.sums_ways = counted && goes_several_ways(c);
  memcpy(c->loop.steps, c->step, sizeof c->step);
  if (counted) loop_look_at_ways(g, &c->loop);
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
  free(l->is_rare);
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
    if (look_at_loop(g, loops->is_target, &l)) {
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
