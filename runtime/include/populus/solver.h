/* A constraint solver, for finding the best of many plans. A model has integer variables,
 * expressions of them, and relations between them. The search finds values that minimise an
 * objective.
 *
 *     pop_solver *s = pop_solver_create();
 *     pop_solver_variable x = pop_solver_add_variable(s, 1, 64);
 *     pop_solver_variable y = pop_solver_add_variable(s, 1, 64), both[] = {x, y};
 *     pop_solver_variable area = pop_solver_add_expression(s, POP_SOLVER_PRODUCT, both, 2);
 *     pop_solver_variable least = pop_solver_add_constant(s, 1000);
 *     pop_solver_require(s, POP_SOLVER_LESS_OR_EQUAL, least, area);
 *     pop_solver_variable edge = pop_solver_add_expression(s, POP_SOLVER_SUM, both, 2);
 *     uint64_t values[5];
 *     if (pop_solver_minimize(s, &edge, 1, values)) …
 *         values[x] + values[y] == values[edge] and values[edge] == 64
 *
 * Values are 0 to UINT64_MAX, which stands for "too large to count": sums and products that
 * overflow have it. A solver has no solution once it is given a variable or function that does not
 * exist, or another number of operands than an operation takes. One thread at a time may use a
 * solver. No function here returns an error, so lack of memory ends the process
 * (populus/out_of_memory.h). */
#ifndef POPULUS_SOLVER_H
#define POPULUS_SOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pop_solver pop_solver;

/* Variables are numbered from 0, in the order in which they are made. Expressions and constants
 * are variables, too. */
typedef uint32_t pop_solver_variable;

typedef enum pop_solver_operation {
  POP_SOLVER_SUM,           /* of 0 or more operands */
  POP_SOLVER_PRODUCT,       /* of 0 or more operands */
  POP_SOLVER_MAX,           /* of 1 or more operands */
  POP_SOLVER_MIN,           /* of 1 or more operands */
  POP_SOLVER_DIFFERENCE,    /* a - b, and b <= a is required */
  POP_SOLVER_FLOOR_DIVIDE,  /* a / b, and 1 <= b is required */
  POP_SOLVER_CEIL_DIVIDE,   /* the least r with a <= r * b, and 1 <= b is required */
  POP_SOLVER_REMAINDER,     /* a % b, and 1 <= b is required */
  POP_SOLVER_IS_LESS,       /* 1 if a < b, else 0 */
  POP_SOLVER_IS_LESS_EQUAL, /* 1 if a <= b, else 0 */
} pop_solver_operation;

typedef enum pop_solver_relation {
  POP_SOLVER_LESS,
  POP_SOLVER_LESS_OR_EQUAL,
  POP_SOLVER_EQUAL,
} pop_solver_relation;

/* A function of `count` values. Returns false if it has no value there; then the values are no
 * solution. It must return the same for the same values. */
typedef bool pop_solver_function(void *user, const uint64_t *values, size_t count,
                                 uint64_t *result);

/* Counts of a search: calls of functions, propagations (evaluations of other expressions and
 * relations), choices of values. */
typedef struct pop_solver_statistics {
  uint64_t calls, propagations, choices;
} pop_solver_statistics;

pop_solver *pop_solver_create(void);
void pop_solver_free(pop_solver *solver); /* NULL is fine */

/* A variable whose value the search chooses: min <= value <= max. min > max leaves no solution. */
pop_solver_variable pop_solver_add_variable(pop_solver *solver, uint64_t min, uint64_t max);
pop_solver_variable pop_solver_add_constant(pop_solver *solver, uint64_t value);
/* The result of an operation. `count` is 2 for operations of a and b. */
pop_solver_variable pop_solver_add_expression(pop_solver *solver, pop_solver_operation operation,
                                              const pop_solver_variable *operands, size_t count);
/* The result of a function. It is called when each of its arguments has a single value left.
 * `user` must outlive the solver. */
pop_solver_variable pop_solver_add_call(pop_solver *solver, const pop_solver_variable *arguments,
                                        size_t count, pop_solver_function *function, void *user);
/* Requires the relation between a and b. */
void pop_solver_require(pop_solver *solver, pop_solver_relation relation, pop_solver_variable a,
                        pop_solver_variable b);

/* Sets the order of choices: variables of a higher level first; within a level, the one with the
 * fewest values left. The default level is 0. The order affects how long a search takes, and
 * which of equally good solutions is found. */
void pop_solver_set_level(pop_solver *solver, pop_solver_variable variable, int level);

size_t pop_solver_num_variables(const pop_solver *solver);

/* Finds the values of all variables that minimise the first objective; among these, the second, and
 * so on. Without objectives, any values. `values` has pop_solver_num_variables elements. False if
 * no values satisfy the requirements; then `values` is unchanged. May be called again, also after
 * adding variables and relations. */
bool pop_solver_minimize(pop_solver *solver, const pop_solver_variable *objectives, size_t count,
                         uint64_t *values);

/* Those of the last pop_solver_minimize. */
pop_solver_statistics pop_solver_get_statistics(const pop_solver *solver);

#ifdef __cplusplus
}
#endif
#endif
