/* Shared by verify*.c: checks that apply to any operation, and which function verifies which
 * operation. */
#ifndef MODELS_VERIFY_H
#define MODELS_VERIFY_H

#include "models/module.h"

#include <stdlib.h>
#include <string.h>

typedef struct verifier {
  module *m;
  char *unsupported; /* a line for each */
} verifier;

#define FAIL(...) return model_error(v->m, op->offset, __VA_ARGS__)
#define WANT(condition, ...)                                                                       \
  do {                                                                                             \
    if (!(condition)) FAIL(__VA_ARGS__);                                                           \
  } while (0)

static inline const model_type *type_of(const operation *op, size_t operand)
{
  return op->operands[operand]->type;
}

static inline bool same_element(const model_type *a, const model_type *b)
{
  return a->element == b->element;
}

typedef struct dims_list {
  const int64_t *dims;
  size_t count;
} dims_list;

/* verify.c */

/* Each thing is reported once, at its first place. */
void name_unsupported(verifier *v, uint32_t offset, const char *what);
pop_error *want_counts(verifier *v, const operation *op, size_t operands, size_t results,
                       size_t regions);
pop_error *want_tensors(verifier *v, const operation *op);
/* `count` integers, each in [least, most]. */
pop_error *want_ints(verifier *v, const operation *op, const char *name, size_t count,
                     int64_t fallback, int64_t least, int64_t most, const int64_t **values);
/* A list of dimensions of a tensor of this rank, without repetition. */
pop_error *want_dims(verifier *v, const operation *op, const char *name, const int64_t *dims,
                     size_t count, uint32_t rank);
pop_error *want_shape(verifier *v, const operation *op, const model_type *is, const int64_t *dims,
                      uint32_t rank);
/* The same for a list in a dictionary. */
pop_error *dict_dims(verifier *v, const operation *op, const attribute *dn, const char *name,
                     uint32_t rank, dims_list *list);
/* And in ascending order. */
pop_error *dict_sorted_dims(verifier *v, const operation *op, const attribute *dn, const char *name,
                            uint32_t rank, dims_list *list);
bool listed(const dims_list *l, int64_t d);
/* A region of scalars: it has this many arguments, of supported types, and returns scalars. */
pop_error *verify_region(verifier *v, const operation *op, size_t region, size_t arguments);
/* Arguments a0 … an b0 … bn, results r0 … rn. For each i the types of ai, bi, ri and the
 * operation's result i are equal: that of element i, or a wider one of its kind. */
pop_error *verify_reducer(verifier *v, const operation *op, size_t region, size_t inputs,
                          size_t first);
pop_error *verify_comparator(verifier *v, const operation *op, size_t inputs);

/* verify_element.c */

pop_error *verify_element(verifier *v, const operation *op);

/* verify_index.c: by the code */

pop_error *verify_index(verifier *v, const operation *op);
pop_error *verify_range(verifier *v, const operation *op);

/* verify_data.c: elements from elsewhere */

pop_error *verify_constant(verifier *v, const operation *op);
pop_error *verify_broadcast(verifier *v, const operation *op);
pop_error *verify_transpose(verifier *v, const operation *op);
pop_error *verify_slice(verifier *v, const operation *op);
pop_error *verify_dynamic_slice(verifier *v, const operation *op);
pop_error *verify_pad(verifier *v, const operation *op);
pop_error *verify_concatenate(verifier *v, const operation *op);
pop_error *verify_bitcast(verifier *v, const operation *op);
pop_error *verify_gather(verifier *v, const operation *op);
pop_error *verify_scatter(verifier *v, const operation *op);

/* verify_compute.c: elements calculated from many */

pop_error *verify_reduce(verifier *v, const operation *op);
pop_error *verify_reduce_window(verifier *v, const operation *op);
pop_error *verify_select_and_scatter(verifier *v, const operation *op);
pop_error *verify_sort(verifier *v, const operation *op);
pop_error *verify_top_k(verifier *v, const operation *op);
pop_error *verify_triangular_solve(verifier *v, const operation *op);
pop_error *verify_cholesky(verifier *v, const operation *op);
pop_error *verify_rng_bit_generator(verifier *v, const operation *op);
pop_error *verify_dot(verifier *v, const operation *op);
pop_error *verify_convolution(verifier *v, const operation *op);
pop_error *verify_fft(verifier *v, const operation *op);
pop_error *verify_batch_norm(verifier *v, const operation *op);
pop_error *verify_rng(verifier *v, const operation *op);

/* verify_expand.c */

pop_error *verify_broadcasting(verifier *v, const operation *op);
pop_error *verify_constant_like(verifier *v, const operation *op);
pop_error *verify_einsum(verifier *v, const operation *op);
pop_error *verify_index_select(verifier *v, const operation *op);
pop_error *verify_set_dimension_size(verifier *v, const operation *op);
pop_error *verify_jax_call(verifier *v, const operation *op);

/* verify_flow.c */

/* Sets `is` if the scalar is constant, or follows from static shapes. */
bool known_integer(const value *v, unsigned depth, int64_t *is);

pop_error *verify_flow(verifier *v, const operation *op);
pop_error *verify_other(verifier *v, const operation *op);

#endif
