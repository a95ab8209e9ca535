/* Loop analysis, an iteration. Executes the body once with symbols, as loops.c says. The result:
 * registers and addresses as sums of the registers at the iteration's entry, and what an iteration
 * adds to them. */
#include "loop_candidate.h"

#include <populus/arena.h>

enum { MAX_JOINS = 4096 };

static void add_bounded(candidate *c, uint32_t bound, affine limit)
{
  pop_push(c->bounds, c->num_bounds, c->bounds_capacity, bound);
  pop_push(c->limits, c->num_limits, c->limits_capacity, limit);
}

/* The value behind a join. If the two differ by a constant, it is the lower one plus that constant
 * times a new symbol that is 0 or 1. */
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

static void propagate_values(candidate *c, const affine_registers *v, int32_t to)
{
  if (to == UNIT_NONE || !c->loop.contains[to] || (uint32_t)to == c->loop.header) return;
  if (c->has_start[to])
    merge(c, &c->at_start[to], v);
  else
    c->at_start[to] = *v;
  c->has_start[to] = true;
}

const affine *loop_step_of_symbol(const candidate *c, uint16_t symbol)
{
  return symbol < NUM_REGISTERS ? &c->step[symbol]
                                : &c->loop.invariants[symbol - FIRST_INVARIANT].step;
}

bool loop_value_is_invariant(const candidate *c, const affine *a)
{
  for (unsigned i = 0; i < a->num_terms; i++) {
    uint16_t symbol = a->symbol[i];
    if (symbol >= FIRST_BOUNDED || !affine_is_zero(loop_step_of_symbol(c, symbol))) return false;
  }
  return a->known;
}

bool loop_step_of(const candidate *c, const affine *a, affine *step)
{
  *step = affine_symbol(0);
  for (unsigned i = 0; i < a->num_terms; i++) {
    if (a->symbol[i] >= FIRST_BOUNDED) return false;
    *step = affine_add_scaled(*step, *loop_step_of_symbol(c, a->symbol[i]), a->coefficient[i]);
  }
  return a->known && step->known;
}

bool loop_constant_step_of(const candidate *c, const affine *a, int32_t *step)
{
  affine sum;
  if (!loop_step_of(c, a, &sum) || sum.num_terms) return false;
  *step = (int32_t)sum.constant;
  return true;
}

/* Operations without side effects, which the guard may do. */
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
  return loop_value_is_invariant(c, &it->a) && loop_value_is_invariant(c, &it->b);
}

/* The product of an invariant and an induction variable? Sets its step. */
static bool is_product(const candidate *c, loop_invariant *it)
{
  int32_t step;
  if (it->op.id != OP_MUL) return false;
  const affine *factor = loop_value_is_invariant(c, &it->a) ? &it->a : &it->b,
               *grows = factor == &it->a ? &it->b : &it->a;
  if (!loop_value_is_invariant(c, factor) || !loop_constant_step_of(c, grows, &step)) return false;
  it->step = affine_add_scaled(affine_symbol(0), *factor, (uint32_t)step);
  return true;
}

/* The number of the invariant that the operation computes, given the registers in front of it. */
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

/* An invariant upper bound of the operation's result: a size less 1, as a mask; a size, as a
 * divisor. (If the divisor is 0, the limit wraps to the largest number.) */
static affine find_limit(const candidate *c, const affine_registers *v, const code_op *op)
{
  const affine *a = &v->x[op->rs1], *b = &v->x[op->rs2];
  if (!c->looks_for_invariants) return (affine){0};
  switch (op->id) {
  case OP_AND:
  case OP_MINU:
    return loop_value_is_invariant(c, a) ? *a : loop_value_is_invariant(c, b) ? *b : (affine){0};
  case OP_REMU:
    return loop_value_is_invariant(c, b) ? affine_add(*b, UINT32_MAX) : (affine){0};
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
  /* below MAX_LOOP_OPS + MAX_JOINS */
  *result = affine_symbol((uint16_t)(NUM_REGISTERS + c->num_bounds));
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
    propagate_values(c, &v, block_graph_successor(c->g, number, i));
}

void loop_forget_iteration(candidate *c, uint32_t num_ops)
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

/* The most that an iteration adds to a register that only some iterations add to (an element is
 * kept or not). 0: not known, or of both signs. */
static int32_t max_growth_of(const candidate *c, const affine *step, uint32_t *grain)
{
  int64_t least = (int32_t)step->constant, most = least;
  uint32_t bits = step->constant;
  for (unsigned i = 0; i < step->num_terms; i++) {
    uint16_t symbol = step->symbol[i];
    if (symbol < FIRST_BOUNDED || c->limits[symbol - NUM_REGISTERS].known) return 0;
    int64_t growth = (int64_t)(int32_t)step->coefficient[i] * c->bounds[symbol - NUM_REGISTERS];
    *(growth < 0 ? &least : &most) += growth;
    bits |= step->coefficient[i];
  }
  *grain = bits & -bits;
  if (!step->known || least < -MAX_GROUP_BYTES || most > MAX_GROUP_BYTES) return 0;
  return least >= 0 ? (int32_t)most : most <= 0 ? (int32_t)least : 0;
}

/* Finds invariant registers first: steps of others may be sums of them. */
static void find_steps(candidate *c)
{
  for (unsigned r = 0; r < NUM_REGISTERS; r++)
    c->step[r] = affine_add_scaled(c->at_end.x[r], affine_symbol((uint16_t)r), UINT32_MAX);
  for (unsigned r = 0; r < NUM_REGISTERS; r++) {
    c->max_growth[r] = 0;
    if (c->is_restored[r]) c->step[r] = affine_symbol(0);
    if (loop_value_is_invariant(c, &c->step[r])) continue;
    c->max_growth[r] = max_growth_of(c, &c->step[r], &c->grain[r]);
    c->step[r].known = false;
  }
}

void loop_execute_iteration(candidate *c)
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
