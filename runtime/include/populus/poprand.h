/* Random numbers, from codelets that come with Populus. What programs know as poprand.
 *
 * Results are new variables of the shape and mapping of `reference`, of type float or half, or, of pop_poprand_uniform
 * and pop_poprand_bernoulli, int. Sequences, names and errors are as in populus/popops.h.
 *
 * With a seed, what an element becomes depends on the seed, the modifier and the element's number in the flattened
 * result only: the same numbers on any number of tiles, each time the program runs (Philox4x32-10: Salmon and others,
 * "Parallel random numbers: as easy as 1, 2, 3", 2011). Without one, numbers come from the generators of the workers
 * (populus/registers.h), which go on: each run gives others. They are not those of the chip. */
#ifndef POPULUS_POPRAND_H
#define POPULUS_POPRAND_H

#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Once for a graph, more often is fine. */
void pop_poprand_add_codelets(pop_graph *graph);

typedef struct pop_random_source {
  pop_tensor seed; /* two elements of unsigned int, or null */
  uint32_t
      modifier; /* with the same seed and others of these come other numbers; without effect if there is no seed */
} pop_random_source;

typedef enum pop_distribution_kind {
  POP_UNIFORM,          /* a <= x < b; of int a <= x <= b */
  POP_NORMAL,           /* mean a, standard deviation b */
  POP_TRUNCATED_NORMAL, /* the same, and no more than c standard deviations from the mean; c at least 0.25 */
  POP_BERNOULLI, /* 1 with probability a, otherwise 0 */
  POP_DISTRIBUTION_COUNT
} pop_distribution_kind;
typedef struct pop_distribution {
  pop_distribution_kind kind;
  double a, b, c;
} pop_distribution;
pop_tensor pop_poprand_draw(pop_graph *graph, pop_random_source source, pop_tensor reference,
                            pop_type type, pop_distribution distribution, pop_program sequence,
                            const char *name);
/* `input`, float or half, times `scale` where a number drawn with probability `keep` says so, otherwise 0. Lies where
 * `input` does. */
pop_tensor pop_poprand_dropout(pop_graph *graph, pop_random_source source, pop_tensor input,
                               double keep, double scale, pop_program sequence, const char *name);
/* Seeds the generators of all workers of the graph's tiles, each differently. The seed must be there. */
void pop_poprand_set_seed(pop_graph *graph, pop_random_source source, pop_program sequence,
                          const char *name);

#ifdef __cplusplus
}
#endif
#endif
