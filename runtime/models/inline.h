/* Copying operations from one block to another: inline.c, and parallel.c, which interleaves several functions. */
#ifndef POPULUS_MODELS_INLINE_H
#define POPULUS_MODELS_INLINE_H

#include "models/module.h"

enum { MAX_CALL_DEPTH = 256, MAX_OPERATIONS = 1 << 21 };

typedef struct inliner {
  module *m;
  const function *stack[MAX_CALL_DEPTH];
  size_t depth, num_operations;
  const operation *expanded; /* that what is copied stands for; NULL: itself */
} inliner;

/* What the values of the function that is copied have become. */
typedef struct copy_map {
  value **values; /* by number */
} copy_map;

value *inline_mapped(const copy_map *map, const value *v);
void inline_append(block *b, operation *op);
POP_MUST_CHECK pop_error *inline_copy(inliner *in, const copy_map *map, const operation *op,
                                      block *to);

/* expand.c: is it one that others make up? `op` need not be verified. */
bool op_expands(const module *m, const operation *op);
/* What it is: the function `f` of the same operands; or, if that has no body, the operation `same`. `op` is verified. */
POP_MUST_CHECK pop_error *expand_op(module *m, const operation *op, operation *same, function *f);

/* A type's text with other dimensions and elements; numbers as [1, 2]. */
char *expand_type(module *m, const model_type *like, int64_t *dims, uint32_t rank,
                  element_type element);
char *expand_list(module *m, const int64_t *values, size_t count);

/* expand_windows.c: is it a reduce_window that takes less so? The text of the function of the same operands that it is then. */
bool windows_are_long(const module *m, const operation *op);
char *windows_expand(module *m, const operation *op);
/* expand_fft.c: likewise, an fft that takes less in steps. */
bool fft_is_long(const module *m, const operation *op);
char *fft_expand(module *m, const operation *op);

/* expand_einsum.c; of an einsum what is wrong with its labels, or NULL. */
const char *einsum_complaint(const operation *op);
char *einsum_expand(module *m, const operation *op);
char *index_select_expand(module *m, const operation *op);
/* expand_chlo.c */
char *broadcasting_expand(module *m, const operation *op);
/* expand_jax.c: custom calls of JAX's; the letter of a setting, such as 'L' for uplo, or 0. */
typedef enum jax_call { JAX_NONE, JAX_THREEFRY, JAX_CHOLESKY, JAX_TRIANGULAR } jax_call;
jax_call jax_call_of(const operation *op);
char jax_letter(const operation *op, const char *name);
char *jax_expand(module *m, const operation *op);

/* replicas.c: is it between replicas? */
bool replicas_collective(op_code code);
/* The text of the function of the same operands that a collective is in m->replicas replicas. */
POP_MUST_CHECK pop_error *replicas_expand(module *m, const operation *op, char **function);

/* parallel.c: interpreter.run_parallel becomes what its programs do. */
POP_MUST_CHECK pop_error *inline_parallel(inliner *in, const copy_map *map, const operation *op,
                                          block *to);

#endif
