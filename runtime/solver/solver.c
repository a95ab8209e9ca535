/* Builds models: variables, expressions and relations. See populus/solver.h. */
#include "solver/solver_private.h"

#include <populus/arena.h>
#include <stdlib.h>

pop_solver *pop_solver_create(void)
{
  return object_new(OBJECT_SOLVER, sizeof(pop_solver));
}

void pop_solver_free(pop_solver *s)
{
  if (!object_release(s, OBJECT_SOLVER, __func__)) return;
  free(s->given);
  free(s->level);
  free(s->chosen);
  free(s->rules);
  free(s->operands);
  object_delete(&s->base);
}

/* Do all of these variables exist? If not, the model has no solution from now on. */
static bool check_variables(pop_solver *s, const pop_solver_variable *variables, size_t count)
{
  s->is_wrong = s->is_wrong || (count > 0 && !variables);
  for (size_t i = 0; i < count && !s->is_wrong; i++) s->is_wrong = variables[i] >= s->num_variables;
  return !s->is_wrong;
}

static pop_solver_variable add_variable(pop_solver *s, uint64_t lo, uint64_t hi, bool chosen)
{
  size_t n = s->num_variables + 1;
  pop_reserve(s->given, n, s->variables_capacity);
  pop_reserve(s->level, n, s->levels_capacity);
  pop_reserve(s->chosen, n, s->chosen_capacity);
  s->given[n - 1] = (range){lo, hi};
  s->level[n - 1] = 0;
  s->chosen[n - 1] = chosen;
  s->num_variables = n;
  return (pop_solver_variable)(n - 1);
}

static void add_rule(pop_solver *s, rule r, const pop_solver_variable *operands, size_t count)
{
  r.first = (uint32_t)s->num_operands;
  r.count = (uint32_t)count;
  pop_reserve(s->operands, s->num_operands + count, s->operands_capacity);
  for (size_t i = 0; i < count; i++) s->operands[s->num_operands++] = operands[i];
  s->most_operands = greatest(s->most_operands, count);
  pop_push(s->rules, s->num_rules, s->rules_capacity, r);
}

pop_solver_variable pop_solver_add_variable(pop_solver *s, uint64_t min, uint64_t max)
{
  if (!object_there(s, OBJECT_SOLVER, __func__)) return 0;
  return add_variable(s, min, max, true);
}

pop_solver_variable pop_solver_add_constant(pop_solver *s, uint64_t value)
{
  if (!object_there(s, OBJECT_SOLVER, __func__)) return 0;
  return add_variable(s, value, value, false);
}

/* a - b is a new variable r with a = b + r. */
static pop_solver_variable add_difference(pop_solver *s, pop_solver_variable a,
                                          pop_solver_variable b)
{
  pop_solver_variable r = add_variable(s, 0, UNCOUNTABLE, false);
  rule sum = {.kind = RULE_OPERATION, .as.operation = POP_SOLVER_SUM, .result = a};
  add_rule(s, sum, (pop_solver_variable[]){b, r}, 2);
  return r;
}

/* Does the operation take this many operands? */
static bool fits(pop_solver_operation operation, size_t count)
{
  switch (operation) {
  case POP_SOLVER_SUM:
  case POP_SOLVER_PRODUCT:
    return true;
  case POP_SOLVER_MAX:
  case POP_SOLVER_MIN:
    return count > 0;
  case POP_SOLVER_DIFFERENCE:
  case POP_SOLVER_FLOOR_DIVIDE:
  case POP_SOLVER_CEIL_DIVIDE:
  case POP_SOLVER_REMAINDER:
  case POP_SOLVER_IS_LESS:
  case POP_SOLVER_IS_LESS_EQUAL:
    return count == 2;
  }
  return false;
}

pop_solver_variable pop_solver_add_expression(pop_solver *s, pop_solver_operation operation,
                                              const pop_solver_variable *operands, size_t count)
{
  if (!object_there(s, OBJECT_SOLVER, __func__) || !check_variables(s, operands, count)) return 0;
  if (!fits(operation, count)) {
    s->is_wrong = true;
    return 0;
  }
  if (operation == POP_SOLVER_DIFFERENCE) return add_difference(s, operands[0], operands[1]);
  bool is_truth = operation == POP_SOLVER_IS_LESS || operation == POP_SOLVER_IS_LESS_EQUAL;
  rule r = {.kind = RULE_OPERATION, .as.operation = operation};
  r.result = add_variable(s, 0, is_truth ? 1 : UNCOUNTABLE, false);
  add_rule(s, r, operands, count);
  return r.result;
}

pop_solver_variable pop_solver_add_call(pop_solver *s, const pop_solver_variable *arguments,
                                        size_t count, pop_solver_function *function, void *user)
{
  if (!object_there(s, OBJECT_SOLVER, __func__) || !check_variables(s, arguments, count)) return 0;
  s->is_wrong = s->is_wrong || !function;
  if (s->is_wrong) return 0;
  rule r = {.kind = RULE_CALL, .function = function, .user = user};
  r.result = add_variable(s, 0, UNCOUNTABLE, false);
  add_rule(s, r, arguments, count);
  return r.result;
}

void pop_solver_require(pop_solver *s, pop_solver_relation relation, pop_solver_variable a,
                        pop_solver_variable b)
{
  const pop_solver_variable both[] = {a, b};
  if (!object_there(s, OBJECT_SOLVER, __func__) || !check_variables(s, both, 2)) return;
  rule r = {.kind = RULE_RELATION, .as.relation = relation, .result = a};
  add_rule(s, r, both, 2);
}

void pop_solver_set_level(pop_solver *s, pop_solver_variable variable, int level)
{
  if (!object_there(s, OBJECT_SOLVER, __func__) || !check_variables(s, &variable, 1)) return;
  s->level[variable] = level;
}

size_t pop_solver_num_variables(const pop_solver *s)
{
  return object_there(s, OBJECT_SOLVER, __func__) ? s->num_variables : 0;
}

pop_solver_statistics pop_solver_get_statistics(const pop_solver *s)
{
  return object_there(s, OBJECT_SOLVER, __func__) ? s->statistics : (pop_solver_statistics){0};
}
