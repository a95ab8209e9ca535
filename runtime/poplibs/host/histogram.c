/* Histograms: populus/popops.h. Each tile counts its own elements; a reduction adds the counts. */
#include "graph/graph.h"
#include "poplibs/host/spread.h"

#include <populus/popops.h>

static bool check_levels(pop_graph *graph, const char *call, pop_tensor in, pop_tensor levels)
{
  if (pop_graph_error(graph)) return false;
  pop_type type = pop_tensor_element_type(in);
  if (pop_tensor_rank(levels) != 1 || pop_tensor_num_elements(levels) == 0 ||
      pop_tensor_element_type(levels) != type || pop_tensor_num_elements(in) == 0) {
    poplibs_fail(graph, POP_ERROR_TENSOR,
                 "%s: %zu elements of type %s and %zu levels of type %s in %zu dimensions; some of "
                 "each, of one type, and levels in one dimension are needed",
                 call, pop_tensor_num_elements(in), pop_type_name(type),
                 pop_tensor_num_elements(levels), pop_type_name(pop_tensor_element_type(levels)),
                 pop_tensor_rank(levels));
    return false;
  }
  return poplibs_check_vertex_type(
      graph, call,
      pop_arena_printf(graph->top->arena, "popops::Histogram<%s>", pop_type_name(type)),
      "histogram", type);
}

pop_tensor pop_popops_histogram(pop_graph *graph, pop_tensor in, pop_tensor levels, bool absolute,
                                pop_tensor out, bool update, pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){in, levels}, 2);
  pop_tensor none = {graph->top, 0};
  if (!check_levels(graph, __func__, in, levels)) return none;
  size_t bins = pop_tensor_num_elements(levels) + 1;
  if (out.index) /* names this function in an error */
    out = poplibs_result(graph, __func__, out, POP_UNSIGNED_INT, &bins, 1, NULL, 0, name);
  if (pop_graph_error(graph)) return none;
  pop_tensor flat = pop_tensor_flatten(in);
  spread s = spread_of(graph, __func__, flat);
  size_t shape[] = {s.count, bins};
  pop_tensor counts = pop_graph_add_variable(graph, POP_UNSIGNED_INT, shape, 2, name);
  pop_compute_set set = pop_graph_add_compute_set(graph, name);
  for (size_t p = 0; p < s.count && !pop_graph_error(graph); p++) {
    pop_tensor own = pop_tensor_index(counts, p);
    pop_graph_set_tile_mapping(graph, own, s.parts[p].tile);
    pop_vertex v = poplibs_add_vertex(graph, set, s.parts[p].tile, "popops::Histogram<%s>",
                                      pop_type_name(pop_tensor_element_type(in)));
    pop_graph_connect(graph, v, "in", spread_slice(&s.parts[p], flat));
    pop_graph_connect(graph, v, "levels", levels);
    pop_graph_connect(graph, v, "counts", own);
    pop_graph_set_field_int(graph, v, "absolute", absolute);
  }
  spread_free(&s);
  pop_sequence_add(sequence, pop_program_execute(graph, set, name));
  if (pop_graph_error(graph)) return none;
  return pop_popops_reduce(graph, counts, (size_t[]){0}, 1,
                           (pop_reduction){.op = POP_REDUCE_ADD, .update = update}, out, sequence,
                           NULL, NULL, name);
}
