/* Constraint propagation with a worklist: a rule is applied again when the range of one of its
 * variables has changed. */
#include "solver/solver_private.h"

#include <populus/arena.h>

static void push(queue *q, uint32_t item)
{
  q->items[(q->head + q->count++) % q->size] = item;
}

static uint32_t pop(queue *q)
{
  uint32_t item = q->items[q->head];
  q->head = (q->head + 1) % q->size;
  q->count--;
  return item;
}

static void wake(pop_solver *s, uint32_t index)
{
  if (s->waiting[index]) return;
  s->waiting[index] = true;
  push(s->rules[index].kind == RULE_CALL ? &s->calls : &s->cheap, index);
}

void solver_wake_all(pop_solver *s)
{
  for (uint32_t i = 0; i < s->num_rules; i++) wake(s, i);
}

/* Restricts v to lo … hi, and wakes the rules that mention it. */
void solver_narrow(pop_solver *s, pop_solver_variable v, uint64_t lo, uint64_t hi)
{
  range *now = &s->now[v];
  range narrow = {greatest(now->lo, lo), least(now->hi, hi)};
  if (narrow.lo == now->lo && narrow.hi == now->hi) return;
  pop_push(s->trail, s->trail_count, s->trail_capacity, (undo){v, *now});
  *now = narrow;
  s->failed = s->failed || narrow.lo > narrow.hi;
  for (uint32_t i = s->users_first[v]; i < s->users_first[v + 1]; i++) wake(s, s->users[i]);
}

static void empty(pop_solver *s, queue *q)
{
  while (q->count > 0) s->waiting[pop(q)] = false;
}

bool solver_propagate(pop_solver *s)
{
  while (!s->failed && s->cheap.count + s->calls.count > 0) {
    uint32_t index = pop(s->cheap.count > 0 ? &s->cheap : &s->calls);
    s->waiting[index] = false;
    solver_apply_rule(s, &s->rules[index]);
  }
  empty(s, &s->cheap);
  empty(s, &s->calls);
  bool ok = !s->failed;
  s->failed = false;
  return ok;
}
