/* Random numbers, by codelets that come with Populus. Programs know them as poprand.
 *
 * Results are new variables of the shape and tile mapping of `reference`, of type float or half.
 * Uniform and Bernoulli distributions also have int. Sequences, names and errors are as in
 * populus/popops.h: TENSOR for another seed, INVALID_ARGUMENT for parameters that no distribution
 * has, and for bounds, means or deviations that are not finite when they are rounded to the type.
 *
 * With a seed, an element depends only on the seed, the modifier and its position in the
 * flattened result. So the numbers are the same on any number of tiles, each time the program
 * runs (Philox4x32-10: Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011).
 * Without a seed, numbers come from the workers' generators (populus/registers.h), whose state
 * advances: each run gives other numbers. The numbers are not those of the chip. */
#ifndef POPULUS_POPRAND_H
#define POPULUS_POPRAND_H

#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calling it more than once for a graph does no harm. */
void pop_poprand_add_codelets(pop_graph *graph);

typedef struct pop_random_source {
  pop_tensor seed;   /* two elements of unsigned int, or null */
  uint32_t modifier; /* gives other numbers with the same seed; no effect without a seed */
} pop_random_source;

typedef enum pop_distribution_kind {
  POP_UNIFORM,          /* a, rounded to the type, <= x < b, a < b; int: a <= x <= b, of 32 bits */
  POP_NORMAL,           /* mean a, standard deviation b >= 0 */
  POP_TRUNCATED_NORMAL, /* the same, at most c standard deviations from the mean; c >= 0.25 */
  POP_BERNOULLI,        /* 1 with probability a, otherwise 0 */
  POP_DISTRIBUTION_COUNT
} pop_distribution_kind;
typedef struct pop_distribution {
  pop_distribution_kind kind;
  double a, b, c;
} pop_distribution;
pop_tensor pop_poprand_draw(pop_graph *graph, pop_random_source source, pop_tensor reference,
                            pop_type type, pop_distribution distribution, pop_program sequence,
                            const char *name);
/* Dropout: each element of `input` (float or half) times `scale` with probability `keep`,
 * otherwise 0. Mapped like `input`. */
pop_tensor pop_poprand_dropout(pop_graph *graph, pop_random_source source, pop_tensor input,
                               double keep, double scale, pop_program sequence, const char *name);
/* Seeds the generators of all workers of the graph's tiles, each differently. The seed must not
 * be null. */
void pop_poprand_set_seed(pop_graph *graph, pop_random_source source, pop_program sequence,
                          const char *name);

#ifdef __cplusplus
}
#endif
#endif
