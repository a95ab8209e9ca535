/* Copying operations from one block to another, for inline.c and for parallel.c, which interleaves
 * several functions. */
#ifndef POPULUS_MODELS_INLINE_H
#define POPULUS_MODELS_INLINE_H

#include "models/module.h"

/* MAX_NESTING is of regions, calls and processes together. Later passes recurse into regions, so
 * they rely on it. */
enum { MAX_CALL_DEPTH = 256, MAX_NESTING = 1024, MAX_OPERATIONS = 1 << 21 };

typedef struct inliner {
  module *m;
  const function *stack[MAX_CALL_DEPTH];
  size_t depth, num_operations;
  const operation *expanded; /* the operation that the copied ones replace; NULL for none */
} inliner;

/* The new values for those of the function that is copied. */
typedef struct copy_map {
  value **values; /* by number */
} copy_map;

value *inline_mapped(const copy_map *map, const value *v);
void inline_append(block *b, operation *op);
POP_MUST_CHECK pop_error *inline_copy(inliner *in, const copy_map *map, const operation *op,
                                      block *to);

/* expand.c: is the operation expanded to others? `op` need not be verified. */
bool op_expands(const module *m, const operation *op);
/* Sets `f` to the function that replaces the verified `op`. If `f` has no body, `same` is the
 * operation that replaces it. */
POP_MUST_CHECK pop_error *expand_op(module *m, const operation *op, operation *same, function *f);

/* The text of a type with other dimensions and elements; of numbers as [1, 2]. */
char *expand_type(module *m, const model_type *like, int64_t *dims, uint32_t rank,
                  element_type element);
char *expand_list(module *m, const int64_t *values, size_t count);

/* expand_windows.c: is it a reduce_window that is faster when expanded? Then the text of that
 * function, which has the same operands. */
bool windows_are_long(const module *m, const operation *op);
char *windows_expand(module *m, const operation *op);
/* expand_fft.c: the same for a long fft. */
bool fft_is_long(const module *m, const operation *op);
char *fft_expand(module *m, const operation *op);

/* expand_einsum.c; the complaint is what is wrong with an einsum's labels, or NULL. */
const char *einsum_complaint(const operation *op);
char *einsum_expand(module *m, const operation *op);
char *index_select_expand(module *m, const operation *op);
/* expand_chlo.c */
char *broadcasting_expand(module *m, const operation *op);
/* expand_jax.c: JAX's custom calls; the letter of a setting, such as 'L' for uplo, or 0. */
typedef enum jax_call { JAX_NONE, JAX_THREEFRY, JAX_CHOLESKY, JAX_TRIANGULAR } jax_call;
jax_call jax_call_of(const operation *op);
char jax_letter(const operation *op, const char *name);
char *jax_expand(module *m, const operation *op);

/* replicas.c: is the operation a collective? */
bool replicas_collective(op_code code);
/* The text of the function that replaces a collective in m->replicas replicas; it has the same
 * operands. */
POP_MUST_CHECK pop_error *replicas_expand(module *m, const operation *op, char **function);

/* parallel.c: replaces interpreter.run_parallel by the operations of its programs. */
POP_MUST_CHECK pop_error *inline_parallel(inliner *in, const copy_map *map, const operation *op,
                                          block *to);

#endif
