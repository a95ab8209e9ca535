/* populus/solver.h: small models, whose best solution is also found by trying all values. */
#include "support/expect.h"
#include "support/random.h"

#include <populus/solver.h>

typedef pop_solver_variable variable;

#define EXPRESSION(s, operation, ...)                                                              \
  pop_solver_add_expression(s, operation, (const variable[]){__VA_ARGS__},                         \
                            sizeof((const variable[]){__VA_ARGS__}) / sizeof(variable))

Test(solver, finds_the_smallest_edges_of_an_area)
{
  pop_solver *s = pop_solver_create();
  variable x = pop_solver_add_variable(s, 1, 64), y = pop_solver_add_variable(s, 1, 64);
  variable area = EXPRESSION(s, POP_SOLVER_PRODUCT, x, y);
  pop_solver_require(s, POP_SOLVER_LESS_OR_EQUAL, pop_solver_add_constant(s, 1000), area);
  variable edges = EXPRESSION(s, POP_SOLVER_SUM, x, y);
  uint64_t values[8];
  cr_assert_leq(pop_solver_num_variables(s), 8);
  cr_assert(pop_solver_minimize(s, &edges, 1, values));
  cr_assert_eq(values[edges], 64);
  cr_assert_eq(values[area], values[x] * values[y]);
  cr_assert_geq(values[area], 1000);
  pop_solver_free(s);
}

Test(solver, says_that_there_is_no_solution_and_leaves_the_values)
{
  pop_solver *s = pop_solver_create();
  variable x = pop_solver_add_variable(s, 3, 7);
  pop_solver_require(s, POP_SOLVER_LESS, x, pop_solver_add_constant(s, 3));
  uint64_t values[2] = {11, 12};
  cr_assert_not(pop_solver_minimize(s, &x, 1, values));
  cr_assert_eq(values[0], 11);
  cr_assert_eq(values[1], 12);
  pop_solver_free(s);
}

Test(solver, an_empty_range_has_no_solution)
{
  pop_solver *s = pop_solver_create();
  variable x = pop_solver_add_variable(s, 7, 3);
  uint64_t values[1];
  cr_assert_not(pop_solver_minimize(s, &x, 1, values));
  pop_solver_free(s);
}

/* What is left of something that is too large to count is no small number. */
Test(solver, a_difference_from_an_overflow_is_large)
{
  pop_solver *s = pop_solver_create();
  variable factor = pop_solver_add_constant(s, (uint64_t)1 << 40),
           five = pop_solver_add_constant(s, 5);
  variable product = EXPRESSION(s, POP_SOLVER_PRODUCT, factor, factor);
  variable difference = EXPRESSION(s, POP_SOLVER_DIFFERENCE, product, five);
  uint64_t values[4];
  cr_assert_eq(pop_solver_num_variables(s), 4);
  cr_assert(pop_solver_minimize(s, &difference, 1, values));
  cr_assert_eq(values[product], UINT64_MAX);
  cr_assert_eq(values[difference], UINT64_MAX - 5);
  pop_solver_free(s);
}

/* 64 cuts for each. */
Test(solver, many_variables_of_any_value)
{
  enum { COUNT = 2000 };
  pop_solver *s = pop_solver_create();
  static uint64_t values[COUNT];
  for (int i = 0; i < COUNT; i++) pop_solver_add_variable(s, 0, UINT64_MAX);
  cr_assert(pop_solver_minimize(s, NULL, 0, values));
  cr_assert_eq(values[COUNT - 1], 0);
  pop_solver_free(s);
}

Test(solver, a_second_objective_decides_between_equals)
{
  pop_solver *s = pop_solver_create();
  variable x = pop_solver_add_variable(s, 0, 9), y = pop_solver_add_variable(s, 0, 9);
  variable objectives[] = {EXPRESSION(s, POP_SOLVER_MAX, x, pop_solver_add_constant(s, 5)),
                           EXPRESSION(s, POP_SOLVER_DIFFERENCE, pop_solver_add_constant(s, 9), y)};
  uint64_t values[8];
  cr_assert(pop_solver_minimize(s, objectives, 2, values));
  cr_assert_eq(values[objectives[0]], 5);
  cr_assert_eq(values[y], 9);
  pop_solver_free(s);
}

Test(solver, what_cannot_be_counted_is_the_largest_value)
{
  pop_solver *s = pop_solver_create();
  variable big = pop_solver_add_constant(s, UINT64_MAX / 2);
  variable product = EXPRESSION(s, POP_SOLVER_PRODUCT, big, pop_solver_add_constant(s, 3));
  variable sum = EXPRESSION(s, POP_SOLVER_SUM, big, big, big);
  uint64_t values[4];
  cr_assert(pop_solver_minimize(s, &sum, 1, values));
  cr_assert_eq(values[product], UINT64_MAX);
  cr_assert_eq(values[sum], UINT64_MAX);
  pop_solver_free(s);
}

/* |value - 6|; 13 is not allowed. */
static bool distance(void *calls, const uint64_t *values, size_t count, uint64_t *result)
{
  ++*(size_t *)calls;
  *result = values[0] > 6 ? values[0] - 6 : 6 - values[0];
  return count == 1 && values[0] != 13;
}

Test(solver, functions_are_called_with_values_and_may_have_none)
{
  pop_solver *s = pop_solver_create();
  size_t calls = 0;
  variable x = pop_solver_add_variable(s, 0, 20);
  variable d = pop_solver_add_call(s, &x, 1, distance, &calls);
  uint64_t values[4];
  cr_assert(pop_solver_minimize(s, &d, 1, values));
  cr_assert_eq(values[x], 6);
  cr_assert_eq(pop_solver_get_statistics(s).calls, calls);
  pop_solver_require(s, POP_SOLVER_EQUAL, x, pop_solver_add_constant(s, 13));
  cr_assert_not(pop_solver_minimize(s, &d, 1, values));
  pop_solver_free(s);
}

Test(solver, variables_of_a_higher_level_are_chosen_first)
{
  for (int first = 0; first < 2; first++) {
    pop_solver *s = pop_solver_create();
    variable v[] = {pop_solver_add_variable(s, 0, 3), pop_solver_add_variable(s, 0, 3)};
    variable sum = EXPRESSION(s, POP_SOLVER_SUM, v[0], v[1]);
    pop_solver_require(s, POP_SOLVER_EQUAL, sum, pop_solver_add_constant(s, 3));
    pop_solver_set_level(s, v[first], 1);
    uint64_t values[4];
    cr_assert(pop_solver_minimize(s, &sum, 1, values)); /* all are equal: the first one found */
    cr_assert_eq(values[v[first]], 0);
    cr_assert_eq(values[v[1 - first]], 3);
    pop_solver_free(s);
  }
}

/* ---- random models ---- */

enum { CHOICES = 3, STEPS = 6, MOST = 5, ALL = CHOICES + STEPS };

typedef struct step {
  pop_solver_operation operation;
  variable a, b;
} step;

typedef struct model {
  step steps[STEPS];
  pop_solver_relation relation;
  variable left, right;
} model;

static bool compute(const step *st, const uint64_t *v, uint64_t *result)
{
  uint64_t a = v[st->a], b = v[st->b];
  switch (st->operation) {
  case POP_SOLVER_SUM:
    *result = a + b;
    return true;
  case POP_SOLVER_PRODUCT:
    *result = a * b;
    return true;
  case POP_SOLVER_MAX:
    *result = a > b ? a : b;
    return true;
  case POP_SOLVER_MIN:
    *result = a < b ? a : b;
    return true;
  case POP_SOLVER_DIFFERENCE:
    *result = a - b;
    return b <= a;
  case POP_SOLVER_FLOOR_DIVIDE:
    *result = b ? a / b : 0;
    return b > 0;
  case POP_SOLVER_CEIL_DIVIDE:
    *result = b ? (a + b - 1) / b : 0;
    return b > 0;
  case POP_SOLVER_REMAINDER:
    *result = b ? a % b : 0;
    return b > 0;
  case POP_SOLVER_IS_LESS:
    *result = a < b;
    return true;
  case POP_SOLVER_IS_LESS_EQUAL:
    *result = a <= b;
    return true;
  }
  return false;
}

static bool is_solution(const model *m, uint64_t *v)
{
  for (size_t i = 0; i < STEPS; i++)
    if (!compute(&m->steps[i], v, &v[CHOICES + i])) return false;
  uint64_t a = v[m->left], b = v[m->right];
  return m->relation == POP_SOLVER_LESS            ? a < b
         : m->relation == POP_SOLVER_LESS_OR_EQUAL ? a <= b
                                                   : a == b;
}

static model random_model(uint64_t *seed)
{
  model m = {.relation = (pop_solver_relation)random_below(seed, 3)};
  for (uint32_t i = 0; i < STEPS; i++)
    m.steps[i] = (step){(pop_solver_operation)random_below(seed, POP_SOLVER_IS_LESS_EQUAL + 1),
                        (variable)random_below(seed, CHOICES + i),
                        (variable)random_below(seed, CHOICES + i)};
  m.left = (variable)random_below(seed, ALL);
  m.right = (variable)random_below(seed, ALL);
  return m;
}

/* The least value of the last expression; UINT64_MAX: there is no solution. */
static uint64_t try_all(const model *m)
{
  uint64_t best = UINT64_MAX, v[ALL];
  for (unsigned n = 0; n < (MOST + 1) * (MOST + 1) * (MOST + 1); n++) {
    v[0] = n % (MOST + 1);
    v[1] = n / (MOST + 1) % (MOST + 1);
    v[2] = n / (MOST + 1) / (MOST + 1);
    if (is_solution(m, v) && v[ALL - 1] < best) best = v[ALL - 1];
  }
  return best;
}

Test(solver, finds_what_trying_all_values_finds)
{
  uint64_t seed = 2026;
  unsigned solved = 0;
  for (unsigned round = 0; round < 3000; round++) {
    model m = random_model(&seed);
    pop_solver *s = pop_solver_create();
    variable names[ALL];
    for (size_t i = 0; i < CHOICES; i++) names[i] = pop_solver_add_variable(s, 0, MOST);
    for (size_t i = 0; i < STEPS; i++)
      names[CHOICES + i] =
          EXPRESSION(s, m.steps[i].operation, names[m.steps[i].a], names[m.steps[i].b]);
    pop_solver_require(s, m.relation, names[m.left], names[m.right]);
    uint64_t values[ALL], best = try_all(&m);
    bool found = pop_solver_minimize(s, &names[ALL - 1], 1, values);
    cr_assert_eq(found, best != UINT64_MAX, "round %u", round);
    if (found) {
      cr_assert_eq(values[names[ALL - 1]], best, "round %u", round);
      cr_assert(is_solution(&m, values), "round %u", round);
    }
    solved += found;
    pop_solver_free(s);
  }
  cr_assert_geq(solved, 500); /* both outcomes occur */
  cr_assert_leq(solved, 2500);
}

Test(solver, what_is_not_there_has_no_solution)
{
  uint64_t values[4];
  for (int mistake = 0; mistake < 4; mistake++) {
    pop_solver *s = pop_solver_create();
    variable x = pop_solver_add_variable(s, 0, 3);
    cr_assert(pop_solver_minimize(s, &x, 1, values));
    if (mistake == 0) EXPRESSION(s, POP_SOLVER_SUM, x, 99);
    if (mistake == 1) EXPRESSION(s, POP_SOLVER_REMAINDER, x);
    if (mistake == 2) pop_solver_add_call(s, &x, 1, NULL, NULL);
    if (mistake == 3) pop_solver_require(s, POP_SOLVER_EQUAL, x, 99);
    cr_assert_not(pop_solver_minimize(s, &x, 1, values), "%d", mistake);
    pop_solver_free(s);
  }
}
