/* What each operation and relation implies for the ranges of its operands and its result. Only
 * bounds are used, since ranges have no holes. A bound that overflows (UNCOUNTABLE) implies
 * nothing. */
#include "solver/solver_private.h"

typedef const pop_solver_variable *operands;

static void at_least(pop_solver *s, pop_solver_variable v, uint64_t lo)
{
  solver_narrow(s, v, lo, UNCOUNTABLE);
}

static void at_most(pop_solver *s, pop_solver_variable v, uint64_t hi)
{
  solver_narrow(s, v, 0, hi);
}

static void less_or_equal(pop_solver *s, pop_solver_variable a, pop_solver_variable b)
{
  at_most(s, a, s->now[b].hi);
  at_least(s, b, s->now[a].lo);
}

static void fail(pop_solver *s)
{
  s->failed = true;
}

static void less(pop_solver *s, pop_solver_variable a, pop_solver_variable b)
{
  if (s->now[b].hi == 0 || s->now[a].lo == UNCOUNTABLE) {
    fail(s);
    return;
  }
  at_most(s, a, s->now[b].hi - 1);
  at_least(s, b, s->now[a].lo + 1);
}

static uint64_t most_of_others(const pop_solver *s, operands in, size_t count, size_t but)
{
  uint64_t most = 0;
  for (size_t i = 0; i < count; i++)
    if (i != but) most = sum_of(most, s->now[in[i]].hi);
  return most;
}

static void sum(pop_solver *s, pop_solver_variable result, operands in, size_t count)
{
  range total = {0, 0};
  for (size_t i = 0; i < count; i++) {
    total.lo = sum_of(total.lo, s->now[in[i]].lo);
    total.hi = sum_of(total.hi, s->now[in[i]].hi);
  }
  solver_narrow(s, result, total.lo, total.hi);
  range r = s->now[result];
  if (total.lo == UNCOUNTABLE) return;
  for (size_t i = 0; i < count && !s->failed; i++) {
    range v = s->now[in[i]];
    uint64_t others = total.lo - v.lo;
    if (r.hi != UNCOUNTABLE) {
      at_most(s, in[i], r.hi >= others ? r.hi - others : 0);
      if (r.hi < others) fail(s);
    }
    bool counts = total.hi != UNCOUNTABLE;
    others = counts ? total.hi - v.hi : r.lo ? most_of_others(s, in, count, i) : 0;
    if (r.lo > others) at_least(s, in[i], r.lo - others);
    /* The totals must match the operands' current ranges. Narrowing has woken this rule again. */
    total.lo = total.lo - v.lo + s->now[in[i]].lo;
    if (counts) total.hi = total.hi - v.hi + s->now[in[i]].hi;
  }
}

/* The bounds of the product of all operands except one. */
static range others_product(const pop_solver *s, operands in, size_t count, size_t but)
{
  range product = {1, 1};
  for (size_t i = 0; i < count; i++) {
    if (i == but) continue;
    product.lo = product_of(product.lo, s->now[in[i]].lo);
    product.hi = product_of(product.hi, s->now[in[i]].hi);
  }
  return product;
}

static void product(pop_solver *s, pop_solver_variable result, operands in, size_t count)
{
  range total = others_product(s, in, count, count);
  solver_narrow(s, result, total.lo, total.hi);
  range r = s->now[result];
  if (r.hi == UNCOUNTABLE && r.lo == 0) return;
  for (size_t i = 0; i < count && !s->failed; i++) {
    range others = others_product(s, in, count, i);
    if (others.lo > 0 && others.lo != UNCOUNTABLE && r.hi != UNCOUNTABLE)
      at_most(s, in[i], r.hi / others.lo);
    if (others.hi > 0 && others.hi != UNCOUNTABLE && r.lo != UNCOUNTABLE)
      at_least(s, in[i], ceil_divide(r.lo, others.hi));
  }
}

static void maximum(pop_solver *s, pop_solver_variable result, operands in, size_t count)
{
  range all = {0, 0};
  for (size_t i = 0; i < count; i++) {
    all.lo = greatest(all.lo, s->now[in[i]].lo);
    all.hi = greatest(all.hi, s->now[in[i]].hi);
  }
  solver_narrow(s, result, all.lo, all.hi);
  size_t able = 0, which = 0;
  for (size_t i = 0; i < count; i++) {
    at_most(s, in[i], s->now[result].hi);
    if (s->now[in[i]].hi >= s->now[result].lo) {
      able++;
      which = i;
    }
  }
  if (able == 0) fail(s);
  if (able == 1) at_least(s, in[which], s->now[result].lo);
}

static void minimum(pop_solver *s, pop_solver_variable result, operands in, size_t count)
{
  range all = {UNCOUNTABLE, UNCOUNTABLE};
  for (size_t i = 0; i < count; i++) {
    all.lo = least(all.lo, s->now[in[i]].lo);
    all.hi = least(all.hi, s->now[in[i]].hi);
  }
  solver_narrow(s, result, all.lo, all.hi);
  size_t able = 0, which = 0;
  for (size_t i = 0; i < count; i++) {
    at_least(s, in[i], s->now[result].lo);
    if (s->now[in[i]].lo <= s->now[result].hi) {
      able++;
      which = i;
    }
  }
  if (able == 0) fail(s);
  if (able == 1) at_most(s, in[which], s->now[result].hi);
}

/* r * b <= a < (r + 1) * b */
static void floor_divide(pop_solver *s, pop_solver_variable r, pop_solver_variable a,
                         pop_solver_variable b)
{
  at_least(s, b, 1);
  if (s->failed) return;
  solver_narrow(s, r, s->now[a].lo / s->now[b].hi, s->now[a].hi / s->now[b].lo);
  if (s->failed) return;
  uint64_t beyond = product_of(sum_of(s->now[r].hi, 1), s->now[b].hi);
  at_least(s, a, product_of(s->now[r].lo, s->now[b].lo));
  if (beyond != UNCOUNTABLE) at_most(s, a, beyond - 1);
  if (s->now[r].lo > 0) at_most(s, b, s->now[a].hi / s->now[r].lo);
  if (s->now[r].hi != UNCOUNTABLE) at_least(s, b, s->now[a].lo / (s->now[r].hi + 1) + 1);
}

/* (r - 1) * b < a <= r * b */
static void do_ceil_divide(pop_solver *s, pop_solver_variable r, pop_solver_variable a,
                           pop_solver_variable b)
{
  at_least(s, b, 1);
  if (s->failed) return;
  solver_narrow(s, r, ceil_divide(s->now[a].lo, s->now[b].hi),
                ceil_divide(s->now[a].hi, s->now[b].lo));
  if (s->failed) return;
  at_most(s, a, product_of(s->now[r].hi, s->now[b].hi));
  if (s->now[r].lo > 0) at_least(s, a, sum_of(product_of(s->now[r].lo - 1, s->now[b].lo), 1));
  if (s->failed) return;
  if (s->now[r].hi > 0) at_least(s, b, ceil_divide(s->now[a].lo, s->now[r].hi));
  if (s->now[r].lo > 1 && s->now[a].hi != UNCOUNTABLE)
    at_most(s, b, (s->now[a].hi - 1) / (s->now[r].lo - 1));
}

static void remainder_of(pop_solver *s, pop_solver_variable r, pop_solver_variable a,
                         pop_solver_variable b)
{
  at_least(s, b, 1);
  less(s, r, b);
  at_most(s, r, s->now[a].hi);
  if (s->failed) return;
  range from = s->now[a], by = s->now[b];
  if (from.lo == from.hi && by.lo == by.hi) {
    solver_narrow(s, r, from.lo % by.lo, from.lo % by.lo);
  } else if (from.hi < by.lo) {
    less_or_equal(s, r, a);
    less_or_equal(s, a, r);
  }
}

/* `truth` is 1 if a < b (or a <= b), and 0 otherwise. */
static void truth_of(pop_solver *s, pop_solver_variable truth, pop_solver_variable a,
                     pop_solver_variable b, bool or_equal)
{
  range x = s->now[a], y = s->now[b];
  if (or_equal ? x.hi <= y.lo : x.hi < y.lo) at_least(s, truth, 1);
  if (or_equal ? x.lo > y.hi : x.lo >= y.hi) at_most(s, truth, 0);
  if (s->failed) return;
  if (s->now[truth].lo == 1) (or_equal ? less_or_equal : less)(s, a, b);
  if (s->now[truth].hi == 0) (or_equal ? less : less_or_equal)(s, b, a);
}

static void apply_operation(pop_solver *s, const rule *r, operands in)
{
  switch (r->as.operation) {
  case POP_SOLVER_SUM:
    sum(s, r->result, in, r->count);
    break;
  case POP_SOLVER_PRODUCT:
    product(s, r->result, in, r->count);
    break;
  case POP_SOLVER_MAX:
    maximum(s, r->result, in, r->count);
    break;
  case POP_SOLVER_MIN:
    minimum(s, r->result, in, r->count);
    break;
  case POP_SOLVER_FLOOR_DIVIDE:
    floor_divide(s, r->result, in[0], in[1]);
    break;
  case POP_SOLVER_CEIL_DIVIDE:
    do_ceil_divide(s, r->result, in[0], in[1]);
    break;
  case POP_SOLVER_REMAINDER:
    remainder_of(s, r->result, in[0], in[1]);
    break;
  case POP_SOLVER_IS_LESS:
    truth_of(s, r->result, in[0], in[1], false);
    break;
  case POP_SOLVER_IS_LESS_EQUAL:
    truth_of(s, r->result, in[0], in[1], true);
    break;
  case POP_SOLVER_DIFFERENCE: /* is a sum */
    break;
  }
}

static void apply_relation(pop_solver *s, pop_solver_relation relation, pop_solver_variable a,
                           pop_solver_variable b)
{
  if (relation == POP_SOLVER_LESS) {
    less(s, a, b);
    return;
  }
  less_or_equal(s, a, b);
  if (relation == POP_SOLVER_EQUAL) less_or_equal(s, b, a);
}

static void call(pop_solver *s, const rule *r, operands in)
{
  for (size_t i = 0; i < r->count; i++) {
    range v = s->now[in[i]];
    if (v.lo != v.hi) return;
    s->arguments[i] = v.lo;
  }
  uint64_t result = 0;
  s->statistics.calls++;
  if (!r->function(r->user, s->arguments, r->count, &result))
    fail(s);
  else
    solver_narrow(s, r->result, result, result);
}

void solver_apply_rule(pop_solver *s, const rule *r)
{
  operands in = s->operands + r->first;
  if (r->kind == RULE_CALL) {
    call(s, r, in);
    return;
  }
  s->statistics.propagations++;
  if (r->kind == RULE_OPERATION)
    apply_operation(s, r, in);
  else
    apply_relation(s, r->as.relation, in[0], in[1]);
}
