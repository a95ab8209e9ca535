/* Matrix products, as convolutions ask for them. */
#ifndef POPLIBS_HOST_MATMUL_H
#define POPLIBS_HOST_MATMUL_H

#include <populus/poplin.h>

/* pop_poplin_mat_mul_grouped of operands in which `run` elements along k lie together, and what follows lies elsewhere: steps that
 * are multiples of that come in fewer messages. 1: nothing is known. */
pop_tensor poplibs_mat_mul_in_runs(pop_graph *graph, pop_tensor a, pop_tensor b, size_t run,
                                   const pop_mat_mul_options *options, pop_program sequence,
                                   const char *name);

#endif
