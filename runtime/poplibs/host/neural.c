/* Neural networks: populus/popnn.h. */
#include "graph/graph.h"
#include "poplibs/host/spread.h"

#include <populus/popnn.h>
#include <populus/popops.h>
#include <populus/popops_sort.h>
#include <stdlib.h>

void pop_popnn_add_codelets(pop_graph *graph)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return;
  poplibs_add_codelets(graph, __func__, "popnn");
}

/* A new variable: x minus the largest element of its row. */
static pop_tensor below_largest(pop_graph *graph, const char *call, pop_tensor x,
                                pop_program sequence, const char *name)
{
  pop_tensor none = {graph->top, 0};
  if (pop_graph_error(graph)) return none;
  if (pop_tensor_rank(x) == 0) {
    poplibs_fail(graph, POP_ERROR_TENSOR, "%s: a scalar has no dimension to go along", call);
    return none;
  }
  size_t last = pop_tensor_rank(x) - 1;
  pop_tensor largest = pop_popops_reduce(graph, x, &last, 1, (pop_reduction){.op = POP_REDUCE_MAX},
                                         none, sequence, NULL, NULL, name);
  return pop_popops_binary(graph, POP_BINARY_SUBTRACT, x, pop_tensor_expand(largest, last), none,
                           sequence, name);
}

/* Sums over the last dimension, whose size becomes 1. They are floats, because a sum of halves may
 * be too large for a half. */
static pop_tensor sum_of_rows(pop_graph *graph, pop_tensor x, pop_program sequence,
                              const char *name)
{
  size_t last = pop_tensor_rank(x) - 1;
  pop_tensor sum = {graph->top, 0};
  if (pop_graph_error(graph)) return sum;
  if (pop_tensor_element_type(x) == POP_HALF) {
    sum = pop_graph_add_variable(graph, POP_FLOAT, pop_tensor_shape(x), last, name);
    pop_graph_map_linearly(graph, sum, 0, 0);
    pop_sequence_add(sequence, pop_program_write_undef(pop_tensor_flatten(sum), name));
  }
  sum = pop_popops_reduce(graph, x, &last, 1, (pop_reduction){.op = POP_REDUCE_ADD}, sum, sequence,
                          NULL, NULL, name);
  return pop_tensor_expand(sum, last);
}

pop_tensor pop_popnn_softmax(pop_graph *graph, pop_tensor x, pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){x}, 1);
  pop_tensor y = below_largest(graph, "pop_popnn_softmax", x, sequence, name);
  if (!y.index) return y;
  pop_popops_unary(graph, POP_UNARY_EXPONENT, y, y, sequence, name);
  return poplibs_with_floats(graph, POP_BINARY_DIVIDE, y, sum_of_rows(graph, y, sequence, name), y,
                             sequence, name);
}

pop_tensor pop_popnn_log_softmax(pop_graph *graph, pop_tensor x, pop_program sequence,
                                 const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){x}, 1);
  pop_tensor y = below_largest(graph, "pop_popnn_log_softmax", x, sequence, name);
  if (!y.index) return y;
  pop_tensor none = {graph->top, 0};
  pop_tensor powers = pop_popops_unary(graph, POP_UNARY_EXPONENT, y, none, sequence, name);
  pop_tensor sum = sum_of_rows(graph, powers, sequence, name);
  pop_popops_unary(graph, POP_UNARY_LOGARITHM, sum, sum, sequence, name);
  return poplibs_with_floats(graph, POP_BINARY_SUBTRACT, y, sum, y, sequence, name);
}

pop_tensor pop_popnn_arg_extreme(pop_graph *graph, pop_tensor x, bool largest, pop_tensor *extreme,
                                 pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){x}, 1);
  static const char call[] = "pop_popnn_arg_extreme";
  pop_tensor none = {graph->top, 0};
  if (pop_graph_error(graph)) return none;
  if (pop_tensor_rank(x) != 2 || pop_tensor_num_elements(x) == 0 ||
      pop_tensor_dim(x, 1) > UINT32_MAX) {
    char shape[64];
    pop_tensor_shape_string(x, shape, sizeof shape);
    poplibs_fail(graph, POP_ERROR_TENSOR,
                 "%s: a tensor of shape %s; {rows,columns} are needed, not empty", call, shape);
    return none;
  }
  size_t columns = pop_tensor_dim(x, 1);
  uint32_t *numbers = pop_xcalloc(columns, sizeof *numbers);
  for (size_t i = 0; i < columns; i++) numbers[i] = (uint32_t)i;
  pop_tensor places = pop_graph_add_constant(graph, POP_UNSIGNED_INT, &columns, 1, numbers, name),
             found = none;
  free(numbers);
  pop_graph_set_tile_mapping(graph, places, 0);
  places = poplibs_broadcast(call, places, pop_tensor_shape(x), 2);
  pop_tensor top = pop_popops_top_k(graph, x, places, (pop_top_k){.k = 1, .largest = largest},
                                    &found, sequence, name);
  if (pop_graph_error(graph)) return none;
  if (extreme) *extreme = pop_tensor_flatten(top);
  return pop_tensor_flatten(found);
}

static bool check_type(pop_graph *graph, const char *call, const char *what, pop_tensor t,
                       pop_type type)
{
  pop_type is = pop_tensor_element_type(t);
  if (is == type) return true;
  poplibs_fail(graph, POP_ERROR_TYPE, "%s: %s: elements of type %s, not %s", call, what,
               pop_type_name(is), pop_type_name(type));
  return false;
}

static bool check_labels(pop_graph *graph, const char *call, pop_tensor activations,
                         pop_tensor labels, pop_tensor num_correct)
{
  if (pop_graph_error(graph)) return false;
  pop_type type = pop_tensor_element_type(labels);
  if (pop_tensor_rank(activations) != 2 || pop_tensor_num_elements(activations) == 0 ||
      pop_tensor_num_elements(labels) != pop_tensor_dim(activations, 0) ||
      (num_correct.index && pop_tensor_num_elements(num_correct) != 1)) {
    poplibs_fail(graph, POP_ERROR_TENSOR,
                 "%s: activations must be {batch,classes}, not empty, labels {batch}, and what "
                 "counts correct ones has one element",
                 call);
    return false;
  }
  if (type != POP_UNSIGNED_INT && type != POP_INT) {
    poplibs_fail(graph, POP_ERROR_TYPE, "%s: labels are of type unsigned int or int, not %s", call,
                 pop_type_name(type));
    return false;
  }
  return check_type(graph, call, "activations", activations, POP_FLOAT) &&
         (!num_correct.index ||
          check_type(graph, call, "what counts correct ones", num_correct, POP_UNSIGNED_INT));
}

static bool check_kind(pop_graph *graph, const char *call, pop_loss type)
{
  if (type == POP_LOSS_SUM_SQUARED || type == POP_LOSS_CROSS_ENTROPY) return true;
  poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT,
               "%s: loss %u is none: they are 0 (POP_LOSS_SUM_SQUARED) or 1 "
               "(POP_LOSS_CROSS_ENTROPY)",
               call, (unsigned)type);
  return false;
}

static bool check_loss(pop_graph *graph, const char *call, pop_tensor activations, pop_tensor loss,
                       pop_tensor gradient)
{
  if (pop_tensor_num_elements(loss) != pop_tensor_dim(activations, 0) ||
      pop_tensor_num_elements(gradient) != pop_tensor_num_elements(activations)) {
    poplibs_fail(graph, POP_ERROR_TENSOR,
                 "%s: the loss must be {batch}, the gradient {batch,classes}, as activations are",
                 call);
    return false;
  }
  return check_type(graph, call, "the loss", loss, POP_FLOAT) &&
         check_type(graph, call, "the gradient", gradient, POP_FLOAT) &&
         poplibs_check_vertex_type(graph, call, "popnn::Loss<true>", "loss", POP_FLOAT);
}

static void note_tile(void *context, size_t tile, size_t begin, size_t end)
{
  (void)begin;
  (void)end;
  if (*(size_t *)context == SIZE_MAX) *(size_t *)context = tile;
}

static size_t first_tile(pop_graph *graph, pop_tensor t)
{
  size_t tile = SIZE_MAX;
  pop_graph_visit_tile_mapping(graph, t, note_tile, &tile);
  return tile == SIZE_MAX ? 0 : tile;
}

static pop_vertex add_of_rows(pop_graph *graph, pop_compute_set set, size_t tile, const char *type,
                              pop_tensor activations, pop_tensor labels)
{
  pop_vertex v = poplibs_add_vertex(graph, set, tile, "popnn::%s", type);
  pop_graph_connect(graph, v, "activations", pop_tensor_flatten(activations));
  pop_graph_connect(graph, v, "labels",
                    pop_tensor_flatten(pop_tensor_reinterpret(labels, POP_UNSIGNED_INT)));
  return v;
}

static void add_count(pop_graph *graph, pop_compute_set set, size_t tile, pop_tensor activations,
                      pop_tensor labels, pop_tensor num_correct)
{
  pop_vertex v = add_of_rows(graph, set, tile, "CountCorrect", activations, labels);
  pop_graph_connect(graph, v, "count", pop_tensor_flatten(num_correct));
}

/* One vertex for all rows, and another one that counts correct rows, both on the tile of the
 * gradient's first element: batches are small. */
void pop_popnn_loss(pop_graph *graph, pop_loss type, pop_tensor activations, pop_tensor labels,
                    pop_tensor loss, pop_tensor gradient, pop_tensor num_correct,
                    pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return;
  poplibs_log(__func__, name, (const pop_tensor[]){activations, labels}, 2);
  if (!check_kind(graph, __func__, type) ||
      !check_labels(graph, __func__, activations, labels, num_correct) ||
      !check_loss(graph, __func__, activations, loss, gradient))
    return;
  size_t tile = first_tile(graph, gradient);
  if (num_correct.index) /* another vertex reads them while the gradient is written */
    activations = pop_tensor_index(
        poplibs_apart(graph, pop_tensor_expand(activations, 0), gradient, sequence, name), 0);
  activations = poplibs_apart(graph, activations, gradient, sequence, name);
  activations = poplibs_apart(graph, activations, loss, sequence, name);
  pop_compute_set set = pop_graph_add_compute_set(graph, name);
  pop_vertex v =
      add_of_rows(graph, set, tile, type == POP_LOSS_CROSS_ENTROPY ? "Loss<true>" : "Loss<false>",
                  activations, labels);
  pop_graph_connect(graph, v, "loss", pop_tensor_flatten(loss));
  pop_graph_connect(graph, v, "gradient", pop_tensor_flatten(gradient));
  if (num_correct.index) add_count(graph, set, tile, activations, labels, num_correct);
  pop_sequence_add(sequence, pop_program_execute(graph, set, name));
}

void pop_popnn_accuracy(pop_graph *graph, pop_tensor activations, pop_tensor labels,
                        pop_tensor num_correct, pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return;
  poplibs_log(__func__, name, (const pop_tensor[]){activations, labels}, 2);
  if (!check_labels(graph, __func__, activations, labels, num_correct) ||
      !poplibs_check_vertex_type(graph, __func__, "popnn::CountCorrect", "activations",
                                 pop_tensor_element_type(activations)))
    return;
  pop_compute_set set = pop_graph_add_compute_set(graph, name);
  add_count(graph, set, first_tile(graph, activations), activations, labels, num_correct);
  pop_sequence_add(sequence, pop_program_execute(graph, set, name));
}
