/* Batch, group, layer and instance norms, forward and back. What programs know as popnn/BatchNorm.hpp and so on.
 *
 * First pop_popops_add_codelets. Activations are of float or half, [batch, channels, field...] with any number of dimensions
 * of the field, none too; nothing is empty. What is normal is found for sets of elements: of a batch norm one for each channel, of all
 * of the batch; of the others one for each group of channels of each element of the batch, number element * groups + group.
 * Statistics are float tensors or, of half activations, half, one element for each set. Sums are made in single precision, unless
 * `half_sums` is set.
 *
 * Results are new variables, which lie as the activations do. Errors are the graph's: TENSOR for shapes that do not go
 * together, TYPE for other types and sums of half of float activations, INVALID_ARGUMENT for groups that do not divide the
 * channels and for replicas of another norm than a batch norm; those of pop_gcl_all_reduce. */
#ifndef POPULUS_POPNN_NORM_H
#define POPULUS_POPNN_NORM_H

#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Replaces each of `count` sums by the sum of those that a number of replicas have, which add_over_replicas of the norm says;
 * what is to be run goes to `sequence`. */
typedef void (*pop_norm_add)(void *context, pop_tensor *sums, size_t count, pop_program sequence);

typedef struct pop_norm {
  size_t groups;  /* 0: batch norm; 1: layer norm; as many as channels: instance norm */
  bool strided;   /* channel c is in group c % groups, not c / (channels / groups) */
  bool fast;      /* of statistics: in one pass; see there */
  bool half_sums; /* of half activations: what sums are made of, and sums, are half, not float */
  /* Of a batch norm: so many replicas, one behind the other, have parts of one batch, of the same size; 0 and 1: it is one
   * replica's. `add`: NULL is pop_gcl_all_reduce. */
  size_t replicas;
  pop_norm_add add;
  void *context;
} pop_norm;

/* Returns the mean of each set and, in *inverse_deviation, 1 / sqrt(variance + epsilon). The variance is that of distances
 * from the mean, so it is stable; `fast`: the mean of squares less the square of the mean, at least 0, which has no digits
 * left where the mean is large against the deviation. `unbiased`: the sum of squares is divided by one less than the
 * number of elements (where that is not 0). */
pop_tensor pop_popnn_norm_statistics(pop_graph *graph, pop_norm norm, pop_tensor activations,
                                     double epsilon, bool unbiased, pop_tensor *inverse_deviation,
                                     pop_program sequence, const char *name);

/* (activations - mean) * inverse deviation: "whitened". */
pop_tensor pop_popnn_norm_whiten(pop_graph *graph, pop_norm norm, pop_tensor activations,
                                 pop_tensor mean, pop_tensor inverse_deviation,
                                 pop_program sequence, const char *name);

/* whitened * gamma + beta, which have an element for each channel. */
pop_tensor pop_popnn_norm_scale(pop_graph *graph, pop_tensor whitened, pop_tensor gamma,
                                pop_tensor beta, pop_program sequence, const char *name);

/* Of the gradient of the result of pop_popnn_norm_scale: returns gamma's and, in *beta_gradient, beta's. Of the norm only
 * half_sums counts: these are of one replica's part of the batch. */
pop_tensor pop_popnn_norm_parameter_gradients(pop_graph *graph, pop_norm norm, pop_tensor whitened,
                                              pop_tensor gradient, pop_tensor *beta_gradient,
                                              pop_program sequence, const char *name);

/* Of the same gradient: that of the activations, through scale, whitening and statistics (with the biased variance).
 * `gamma` may be null: the gradient is that of what is whitened. */
pop_tensor pop_popnn_norm_gradient(pop_graph *graph, pop_norm norm, pop_tensor whitened,
                                   pop_tensor gradient, pop_tensor inverse_deviation,
                                   pop_tensor gamma, pop_program sequence, const char *name);

#ifdef __cplusplus
}
#endif
#endif
