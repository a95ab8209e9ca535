/* The parts of the solver, in the order of use: solver.c builds the model, propagate.c narrows
 * ranges, search.c tries values. */
#ifndef SOLVER_PRIVATE_H
#define SOLVER_PRIVATE_H

#include "base/object.h"

#include <populus/solver.h>

#define UNCOUNTABLE UINT64_MAX

typedef struct range {
  uint64_t lo, hi; /* lo > hi: empty */
} range;

/* A constraint: an expression and its result, or a relation (its result is operand 0). */
enum rule_kind { RULE_OPERATION, RULE_CALL, RULE_RELATION };
typedef struct rule {
  enum rule_kind kind;
  union {
    pop_solver_operation operation;
    pop_solver_relation relation;
  } as;
  pop_solver_variable result;
  uint32_t first, count; /* operands: in pop_solver.operands */
  pop_solver_function *function;
  void *user;
} rule;

/* The range of a variable before it was narrowed. */
typedef struct undo {
  pop_solver_variable variable;
  range before;
} undo;

/* A worklist of rules, each in it at most once. */
typedef struct queue {
  uint32_t *items;
  size_t head, count, size; /* a ring */
} queue;

struct pop_solver {
  object base;
  bool is_wrong; /* an unknown variable or function was used: no solution */
  range *given;  /* of each variable, initially */
  int *level;    /* see pop_solver_set_level */
  bool *chosen;  /* the search assigns it; otherwise it is a result */
  size_t num_variables, variables_capacity, levels_capacity, chosen_capacity;
  rule *rules;
  size_t num_rules, rules_capacity;
  pop_solver_variable *operands;
  size_t num_operands, operands_capacity;
  size_t most_operands; /* of one rule */

  /* While a search runs. */
  range *now;
  uint32_t *users, *users_first; /* of v: from users[users_first[v]] to users[users_first[v + 1]] */
  queue cheap, calls;            /* calls are made only when nothing cheap is left */
  bool *waiting;                 /* of each rule */
  undo *trail;
  size_t trail_count, trail_capacity;
  uint64_t *arguments;
  bool failed; /* a range is empty */
  pop_solver_statistics statistics;
};

/* propagate.c */
void solver_wake_all(pop_solver *s);
void solver_narrow(pop_solver *s, pop_solver_variable v, uint64_t lo, uint64_t hi);
bool solver_propagate(pop_solver *s); /* false: no solution here */

/* rules.c */
void solver_apply_rule(pop_solver *s, const rule *r);

static inline uint64_t sum_of(uint64_t a, uint64_t b)
{
  uint64_t result;
  return __builtin_add_overflow(a, b, &result) ? UNCOUNTABLE : result;
}

static inline uint64_t product_of(uint64_t a, uint64_t b)
{
  uint64_t result;
  return __builtin_mul_overflow(a, b, &result) ? UNCOUNTABLE : result;
}

static inline uint64_t ceil_divide(uint64_t a, uint64_t b)
{
  return a / b + (a % b != 0);
}

static inline uint64_t least(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

static inline uint64_t greatest(uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

#endif
