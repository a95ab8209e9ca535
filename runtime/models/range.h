/* Codelets of operations that make several elements of a result at a time: lower_range.c, lower_sort.c, lower_linear.c,
 * lower_random.c.
 *
 * Such a codelet has a field for each operand and each result, and a body in which these are pointers by the fields'
 * names: `base` is the number of the vertex's first element of the result, `size` how many it has. */
#ifndef POPULUS_MODELS_RANGE_H
#define POPULUS_MODELS_RANGE_H

#include "models/lowering.h"

typedef struct range_field {
  char name[40];
  const value *of;
  bool output;
  bool updated; /* an output that has its value before */
  bool
      boxed; /* has fields for a box of number i, if it is field i; range_add_vertices: of operand i the one of boxes.c */
} range_field;

/* Whom the body runs on. All but one worker find fields in `vertex`, and what they write begins with a word of memory, so
 * that workers can divide it. */
typedef enum range_kind { RANGE_WORKER, RANGE_ALL_WORKERS, RANGE_SUPERVISOR } range_kind;

typedef struct range_codelet {
  range_kind kind;
  emitter e; /* e.functions, and e.body in the end */
  range_field fields[200];
  size_t num_fields;
} range_codelet;

/* A field "<stem><number>" of the value's type; false, with an error, if there are too many. */
bool range_add_field(range_codelet *c, const operation *op, const char *stem, size_t number,
                     const value *of, bool output);
/* The codelet's number: lowering_add_codelet. `size` is of the first output. */
uint32_t range_finish(range_codelet *c, const operation *op);
void range_free(range_codelet *c);
/* One compute set of vertices, where tensors[i] is field i's, of all fields: outputs and `sliced` inputs in ranges of
 * `plan`, boxed ones as boxes.c says. */
void range_add_vertices(lowering *l, const operation *op, const range_codelet *c, uint32_t codelet,
                        const spread_plan *plan, const pop_tensor *tensors, const bool *sliced);

/* Each element of `t`, of type `from`, as one of type `to`, in a new variable of its shape: `body` is of in0[i], out0[i] and
 * base + i. */
pop_tensor range_map(lowering *l, const operation *op, pop_tensor t, element_type from,
                     element_type to, const char *body);

bool lower_scatter(lowering *l, const operation *op);          /* lower_scatter.c */
bool lower_sort(lowering *l, const operation *op);             /* lower_sort.c */
bool lower_triangular_solve(lowering *l, const operation *op); /* lower_linear.c */
bool lower_cholesky(lowering *l, const operation *op);
bool lower_rng_bit_generator(lowering *l, const operation *op); /* lower_random.c */

#endif
