/* Matrix products, for convolutions. */
#ifndef POPLIBS_HOST_MATMUL_H
#define POPLIBS_HOST_MATMUL_H

#include <populus/poplin.h>

/* pop_poplin_mat_mul_grouped with a hint: `run` elements along k are adjacent in memory, and the
 * next ones are elsewhere. Steps of a multiple of `run` take fewer messages. 1: no hint. */
pop_tensor poplibs_mat_mul_in_runs(pop_graph *graph, pop_tensor a, pop_tensor b, size_t run,
                                   const pop_mat_mul_options *options, pop_program sequence,
                                   const char *name);

#endif
