/* What neural networks are made of, from codelets that come with Populus. What programs know as popnn. */
#ifndef POPULUS_POPNN_H
#define POPULUS_POPNN_H

#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Needs pop_popops_add_codelets, too. Once for a graph, more often is fine. */
void pop_popnn_add_codelets(pop_graph *graph);

/* e^x / sum of e^x along the last dimension, of float or half; the largest x is subtracted first, so that nothing
 * overflows. A new variable. */
pop_tensor pop_popnn_softmax(pop_graph *graph, pop_tensor x, pop_program sequence,
                             const char *name);

/* log of that: x - (largest + log of sum of e^(x - largest)). A new variable. */
pop_tensor pop_popnn_log_softmax(pop_graph *graph, pop_tensor x, pop_program sequence,
                                 const char *name);

/* Of each row of `x`, [rows, columns]: the largest element, or the smallest, and its column (unsigned int; of equal ones
 * the first); new variables of [rows]. `extreme` may be NULL. Returns the columns. */
pop_tensor pop_popnn_arg_extreme(pop_graph *graph, pop_tensor x, bool largest, pop_tensor *extreme,
                                 pop_program sequence, const char *name);

typedef enum pop_loss {
  POP_LOSS_SUM_SQUARED, /* half the sum of squared differences from what is 1 at the label and 0 elsewhere */
  POP_LOSS_CROSS_ENTROPY /* -log of what is at the label; the activations are a softmax's results */
} pop_loss;
/* Of each row of `activations`, float [batch, classes]: the loss (float [batch]) and its gradient with respect to the
 * activations (sum squared) or to what the softmax was of (cross entropy), float [batch, classes]. `labels`:
 * unsigned int or int [batch]; one that is no class has no place that is 1, and with 0xffffffff (popops'
 * MASKED_LABEL_CODE, -1) the row's loss and gradient are 0. `num_correct`, unsigned int of one element or null, is
 * increased by how many rows are largest at their label. */
void pop_popnn_loss(pop_graph *graph, pop_loss type, pop_tensor activations, pop_tensor labels,
                    pop_tensor loss, pop_tensor gradient, pop_tensor num_correct,
                    pop_program sequence, const char *name);

/* The last of these alone. `num_correct`: not null. */
void pop_popnn_accuracy(pop_graph *graph, pop_tensor activations, pop_tensor labels,
                        pop_tensor num_correct, pop_program sequence, const char *name);

#ifdef __cplusplus
}
#endif
#endif
