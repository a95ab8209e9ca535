/* Codelets that make several elements of a result at a time, for lower_range.c, lower_scatter.c,
 * lower_sort.c, lower_linear.c, lower_random.c and the products.
 *
 * Such a codelet has a field for each operand and each result. Its body uses pointers of the
 * fields' names, `base` (number of the vertex's first element of the result) and `size` (how many
 * it has). */
#ifndef POPULUS_MODELS_RANGE_H
#define POPULUS_MODELS_RANGE_H

#include "models/lowering.h"

typedef struct range_field {
  char name[40];
  const value *of;
  bool output;
  bool updated; /* an output that is also read */
  bool boxed;   /* Field i is box i, with fields for its place and size. */
} range_field;

/* Who runs the body: one worker, all workers of a tile, or the supervisor. In the last two it finds
 * the fields in `vertex`, without pointers. Their outputs begin on a word, so that workers can
 * divide them. */
typedef enum range_kind { RANGE_WORKER, RANGE_ALL_WORKERS, RANGE_SUPERVISOR } range_kind;

typedef struct range_codelet {
  range_kind kind;
  emitter e; /* only e.functions and e.body are used at the end */
  range_field fields[200];
  size_t num_fields;
} range_codelet;

/* Adds a field "<stem><number>" of the value's type. False, with an error, if there are too
 * many. */
bool range_add_field(range_codelet *c, const operation *op, const char *stem, size_t number,
                     const value *of, bool output);
/* Adds the codelet and returns its number. `size` is that of the first output. */
uint32_t range_finish(range_codelet *c, const operation *op);
void range_free(range_codelet *c);
/* One compute set of vertices; tensors[i] is for field i. Boxed fields get the box of operand i
 * (boxes.c). Fields that are `sliced` get the vertex's range of `plan`, others the whole tensor. */
void range_add_vertices(lowering *l, const operation *op, const range_codelet *c, uint32_t codelet,
                        const spread_plan *plan, const pop_tensor *tensors, const bool *sliced);

/* Applies `body` to each element of `t` and returns a new variable of its shape. `body` reads
 * in0[i], of type `from`, and sets out0[i], of type `to`; the element's number is base + i. */
pop_tensor range_map(lowering *l, const operation *op, pop_tensor t, element_type from,
                     element_type to, const char *body);

bool lower_scatter(lowering *l, const operation *op);          /* lower_scatter.c */
bool lower_sort(lowering *l, const operation *op);             /* lower_sort.c */
bool lower_triangular_solve(lowering *l, const operation *op); /* lower_linear.c */
bool lower_cholesky(lowering *l, const operation *op);
bool lower_rng_bit_generator(lowering *l, const operation *op); /* lower_random.c */

#endif
