/* Functions of neural networks, by codelets that come with Populus. Programs know them as popnn.
 *
 * Sequences, names and errors are as in populus/popops.h. */
#ifndef POPULUS_POPNN_H
#define POPULUS_POPNN_H

#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Adds the codelets. Calling it more than once for a graph does no harm. pop_popops_add_codelets
 * is needed, too. */
void pop_popnn_add_codelets(pop_graph *graph);

/* Softmax: e^x / sum of e^x along the last dimension, of float or half. The largest x is subtracted
 * first, so that nothing overflows. A new variable. TENSOR for a scalar. */
pop_tensor pop_popnn_softmax(pop_graph *graph, pop_tensor x, pop_program sequence,
                             const char *name);

/* Its logarithm: x - (largest + log of sum of e^(x - largest)). A new variable. */
pop_tensor pop_popnn_log_softmax(pop_graph *graph, pop_tensor x, pop_program sequence,
                                 const char *name);

/* Argmax or argmin of each row of `x` [rows, columns], which is not empty (TENSOR). Returns the
 * columns (unsigned int) of the largest or smallest elements; of equal ones the first. *extreme
 * (may be NULL) gets the elements. Both are new variables of [rows]. */
pop_tensor pop_popnn_arg_extreme(pop_graph *graph, pop_tensor x, bool largest, pop_tensor *extreme,
                                 pop_program sequence, const char *name);

typedef enum pop_loss {
  POP_LOSS_SUM_SQUARED,  /* half the sum of squared differences from the one-hot label */
  POP_LOSS_CROSS_ENTROPY /* -log of the activation at the label; activations are a softmax */
} pop_loss;
/* The loss of each row of `activations`, float [batch, classes], not empty (TENSOR). `loss` is
 * float [batch]. `gradient`, float [batch, classes], is with respect to the activations (sum
 * squared) or to the softmax's input (cross entropy). `labels` are unsigned int or int [batch]. A
 * label that is not a class has no place that is 1. With 0xffffffff (popops' MASKED_LABEL_CODE, -1)
 * the row's loss and gradient are 0. `num_correct`, unsigned int of one element or null, is
 * increased by the number of rows whose largest activation is at their label. The loss and the
 * gradient may share elements with the activations. TYPE: other types. */
void pop_popnn_loss(pop_graph *graph, pop_loss type, pop_tensor activations, pop_tensor labels,
                    pop_tensor loss, pop_tensor gradient, pop_tensor num_correct,
                    pop_program sequence, const char *name);

/* Only counts correct rows. `num_correct` must not be null. */
void pop_popnn_accuracy(pop_graph *graph, pop_tensor activations, pop_tensor labels,
                        pop_tensor num_correct, pop_program sequence, const char *name);

#ifdef __cplusplus
}
#endif
#endif
