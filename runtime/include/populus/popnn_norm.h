/* Batch, group, layer and instance norms, and their gradients. Programs know them as
 * popnn/BatchNorm.hpp and so on.
 *
 * Call pop_popops_add_codelets first. Activations are of float or half, [batch, channels,
 * field...], with any number of field dimensions, including none; no dimension is empty.
 * Statistics are of sets of elements. A batch norm has one set for each channel, with the
 * elements of all of the batch. The others have one set for each group of channels of each
 * element of the batch, number element * groups + group. Statistics are tensors with one element
 * for each set, of float or, for half activations, half. Sums are made in single precision,
 * unless `half_sums` is set.
 *
 * Results are new variables, mapped like the activations. Errors are the graph's: TENSOR for
 * shapes that do not go together; TYPE for other types, and for half sums of float activations;
 * INVALID_ARGUMENT for groups that do not divide the channels, and for replicas of a norm that
 * is not a batch norm; those of pop_gcl_all_reduce. */
#ifndef POPULUS_POPNN_NORM_H
#define POPULUS_POPNN_NORM_H

#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Replaces each of `count` sums by its sum over the replicas that share a batch
 * (pop_norm.replicas), and appends the programs for that to `sequence`. */
typedef void (*pop_norm_add)(void *context, pop_tensor *sums, size_t count, pop_program sequence);

typedef struct pop_norm {
  size_t groups;  /* 0: batch norm; 1: layer norm; as many as channels: instance norm */
  bool strided;   /* channel c is in group c % groups, not c / (channels / groups) */
  bool fast;      /* one-pass statistics; see pop_popnn_norm_statistics */
  bool half_sums; /* half activations: sums are made in half, not in float */
  /* Batch norm: as many consecutive replicas have equal parts of one batch; 0 and 1: the batch
   * is one replica's. `add`: NULL is pop_gcl_all_reduce. */
  size_t replicas;
  pop_norm_add add;
  void *context;
} pop_norm;

/* Returns the mean of each set and, in *inverse_deviation (may be NULL), 1 / sqrt(variance +
 * epsilon). The variance is the mean of squared distances from the mean, which is numerically
 * stable. `fast`: it is the mean of squares less the square of the mean, at least 0, which has no
 * significant digits where the mean is large compared to the deviation. `unbiased`: the sum of
 * squares is divided by one less than the number of elements (unless that is 0). */
pop_tensor pop_popnn_norm_statistics(pop_graph *graph, pop_norm norm, pop_tensor activations,
                                     double epsilon, bool unbiased, pop_tensor *inverse_deviation,
                                     pop_program sequence, const char *name);

/* (activations - mean) * inverse deviation: "whitened". */
pop_tensor pop_popnn_norm_whiten(pop_graph *graph, pop_norm norm, pop_tensor activations,
                                 pop_tensor mean, pop_tensor inverse_deviation,
                                 pop_program sequence, const char *name);

/* whitened * gamma + beta. gamma and beta have an element for each channel. */
pop_tensor pop_popnn_norm_scale(pop_graph *graph, pop_tensor whitened, pop_tensor gamma,
                                pop_tensor beta, pop_program sequence, const char *name);

/* From the gradient of the result of pop_popnn_norm_scale: returns the gradient of gamma and, in
 * *beta_gradient (may be NULL), that of beta. Only half_sums of the norm matters: these gradients
 * are of one replica's part of the batch. */
pop_tensor pop_popnn_norm_parameter_gradients(pop_graph *graph, pop_norm norm, pop_tensor whitened,
                                              pop_tensor gradient, pop_tensor *beta_gradient,
                                              pop_program sequence, const char *name);

/* From the same gradient: returns the gradient of the activations, through scale, whitening and
 * statistics (with the biased variance). If `gamma` is null, `gradient` is that of the whitened
 * activations. */
pop_tensor pop_popnn_norm_gradient(pop_graph *graph, pop_norm norm, pop_tensor whitened,
                                   pop_tensor gradient, pop_tensor inverse_deviation,
                                   pop_tensor gamma, pop_program sequence, const char *name);

#ifdef __cplusplus
}
#endif
#endif
