/* Branch and bound, depth first. The range of a variable is cut in two, and the lower half is tried
 * first. A part is pruned as soon as nothing in it can be better than the best solution so far. */
#include "solver/solver_private.h"

#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

typedef struct search {
  const pop_solver_variable *objectives;
  size_t num_objectives;
  pop_solver_variable *choices; /* variables that the search assigns */
  size_t num_choices;
  uint64_t *best; /* values of the best solution */
  bool found;
} search;

/* For each variable, the rules that mention it. */
static void list_users(pop_solver *s)
{
  size_t n = s->num_variables;
  s->users_first = pop_xcalloc(n + 1, sizeof *s->users_first);
  uint32_t *count = s->users_first + 1;
  for (size_t i = 0; i < s->num_rules; i++) {
    const rule *r = &s->rules[i];
    count[r->result]++;
    for (uint32_t k = 0; k < r->count; k++) count[s->operands[r->first + k]]++;
  }
  for (size_t v = 1; v <= n; v++) s->users_first[v] += s->users_first[v - 1];
  s->users = pop_xcalloc(s->users_first[n] + 1, sizeof *s->users);
  uint32_t *next = pop_xcalloc(n + 1, sizeof *next);
  memcpy(next, s->users_first, n * sizeof *next);
  for (uint32_t i = 0; i < s->num_rules; i++) {
    const rule *r = &s->rules[i];
    s->users[next[r->result]++] = i;
    for (uint32_t k = 0; k < r->count; k++) s->users[next[s->operands[r->first + k]]++] = i;
  }
  free(next);
}

static queue new_queue(size_t size)
{
  return (queue){.items = pop_xcalloc(size + 1, sizeof(uint32_t)), .size = size + 1};
}

static void begin(pop_solver *s, search *what)
{
  size_t n = s->num_variables;
  s->now = pop_xcalloc(n + 1, sizeof *s->now);
  if (n > 0) memcpy(s->now, s->given, n * sizeof *s->now);
  for (size_t v = 0; v < n; v++) s->failed = s->failed || s->now[v].lo > s->now[v].hi;
  list_users(s);
  s->cheap = new_queue(s->num_rules);
  s->calls = new_queue(s->num_rules);
  s->waiting = pop_xcalloc(s->num_rules + 1, sizeof *s->waiting);
  s->arguments = pop_xcalloc(s->most_operands + 1, sizeof *s->arguments);
  s->trail_count = 0;
  s->statistics = (pop_solver_statistics){0};
  what->choices = pop_xcalloc(n + 1, sizeof *what->choices);
  for (pop_solver_variable v = 0; v < n; v++)
    if (s->chosen[v]) what->choices[what->num_choices++] = v;
  what->best = pop_xcalloc(n + 1, sizeof *what->best);
}

static void end(pop_solver *s, search *what)
{
  void *parts[] = {s->now,     s->users_first, s->users,      s->cheap.items, s->calls.items,
                   s->waiting, s->arguments,   what->choices, what->best,     s->trail};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) free(parts[i]);
  s->trail = NULL;
  s->trail_capacity = 0;
}

static void undo_to(pop_solver *s, size_t count)
{
  while (s->trail_count > count) {
    undo u = s->trail[--s->trail_count];
    s->now[u.variable] = u.before;
  }
}

/* Requires the objectives to be lexicographically better than the best solution, as far as bounds
 * can say: at most as large up to the first that can still be smaller; the last one strictly
 * smaller. False if nothing here is better. */
static bool improve(pop_solver *s, const search *what)
{
  if (!what->found) return solver_propagate(s);
  for (size_t i = 0; i < what->num_objectives; i++) {
    pop_solver_variable objective = what->objectives[i];
    uint64_t best = what->best[objective];
    bool last = i + 1 == what->num_objectives;
    if (last && best == 0) return false;
    solver_narrow(s, objective, 0, last ? best - 1 : best);
    if (!solver_propagate(s)) return false;
    if (s->now[objective].lo < best) return true;
  }
  return what->num_objectives > 0;
}

/* The variable to branch on next. UINT32_MAX if all have a value. */
static pop_solver_variable next_choice(const pop_solver *s, const search *what)
{
  pop_solver_variable best = UINT32_MAX;
  uint64_t fewest = 0;
  for (size_t i = 0; i < what->num_choices; i++) {
    pop_solver_variable v = what->choices[i];
    uint64_t more = s->now[v].hi - s->now[v].lo;
    if (more == 0) continue;
    if (best == UINT32_MAX || s->level[v] > s->level[best] ||
        (s->level[v] == s->level[best] && more < fewest)) {
      best = v;
      fewest = more;
    }
  }
  return best;
}

static void take(const pop_solver *s, search *what)
{
  for (size_t v = 0; v < s->num_variables; v++) what->best[v] = s->now[v].lo;
  what->found = true;
}

/* A range that has been cut in two. */
typedef struct cut {
  pop_solver_variable variable;
  range whole;
  size_t mark; /* of the trail, before it */
  int half;    /* the next one to be tried; 2: both have been */
} cut;

/* Narrows the cut's variable to its next half. False if nothing there is better. */
static bool try_half(pop_solver *s, const search *what, cut *c)
{
  uint64_t middle = c->whole.lo + (c->whole.hi - c->whole.lo) / 2;
  bool upper = c->half++;
  undo_to(s, c->mark);
  s->statistics.choices++;
  solver_narrow(s, c->variable, upper ? middle + 1 : c->whole.lo, upper ? c->whole.hi : middle);
  return improve(s, what);
}

/* A stack of its own: with many variables there are more cuts than the thread's has room for. */
static void look(pop_solver *s, search *what)
{
  cut *cuts = NULL;
  size_t count = 0, capacity = 0;
  bool deeper = true;
  while (deeper || count) {
    pop_solver_variable v = deeper ? next_choice(s, what) : UINT32_MAX;
    if (v != UINT32_MAX)
      pop_push(cuts, count, capacity, (cut){v, s->now[v], s->trail_count, 0});
    else if (deeper)
      take(s, what);
    while (count && cuts[count - 1].half == 2) undo_to(s, cuts[--count].mark);
    deeper = count && try_half(s, what, &cuts[count - 1]);
  }
  free(cuts);
}

bool pop_solver_minimize(pop_solver *s, const pop_solver_variable *objectives, size_t count,
                         uint64_t *values)
{
  if (!object_there(s, OBJECT_SOLVER, __func__) || s->is_wrong || !values) return false;
  for (size_t i = 0; i < count; i++)
    if (!objectives || objectives[i] >= s->num_variables) return false;
  search what = {.objectives = objectives, .num_objectives = count};
  begin(s, &what);
  solver_wake_all(s);
  if (solver_propagate(s)) look(s, &what);
  if (what.found && s->num_variables > 0)
    memcpy(values, what.best, s->num_variables * sizeof *values);
  end(s, &what);
  return what.found;
}
