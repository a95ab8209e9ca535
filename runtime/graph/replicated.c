/* Replicated tensors: the tensor that a replicated graph's tensor stands for in each replica.
 * Its own elements are those of replica 0.
 *
 * The variables of the other replicas follow replica 0's (graph.h). So the same view in replica
 * r has the same pieces with variables that are r further. */
#include "graph/replicated.h"

#include "graph/check.h"
#include "graph/describe.h"
#include "graph/view.h"
#include "graph/view_scratch.h"

#include <string.h>

uint32_t replication_count(const pop_graph *graph, uint32_t replication)
{
  return replication ? graph->replications[replication - 1].num_replicas : 1;
}

uint32_t tensor_replicas(pop_tensor t)
{
  return pop_tensor_valid(t) ? replication_count(t.graph, t.graph->tensors[t.index].replication)
                             : 1;
}

uint32_t vertex_replicas(const pop_graph *graph, pop_vertex v)
{
  bool valid = v.graph == graph && v.index > 0 && v.index <= graph->num_vertices;
  return valid ? replication_count(graph, graph->vertices[v.index - 1].replication) : 1;
}

const char *say_replication(pop_graph *graph, uint32_t replication)
{
  if (!replication) return "no replicated graph";
  return pop_arena_printf(graph->arena, "replicated graph %u, of %u replicas", replication,
                          replication_count(graph, replication));
}

bool check_replication(pop_graph *graph, const char *call, const tensor *t, uint32_t replication)
{
  if (t->replication == replication) return true;
  graph_failf(
      graph, POP_ERROR_INVALID_ARGUMENT,
      "%s: the %s is of %s, and what it is used for is of %s; "
      "pop_graph_get_non_replicated_tensor has the elements of all replicas for the graph that "
      "they are replicas of",
      call, say_tensor(graph, t), say_replication(graph, t->replication),
      say_replication(graph, replication));
  return false;
}

/* ---- views ---- */

static void add_replica(pop_graph *graph, const tensor *t, uint32_t replica)
{
  for (size_t i = 0; i < t->num_pieces; i++) {
    const view_piece *piece = &graph->pieces[t->first_piece + i];
    view_add_piece(graph->scratch, piece->variable + replica, piece->base, piece_dims(graph, piece),
                   piece->num_dims);
  }
}

pop_tensor tensor_of_replica(pop_graph *graph, const char *call, pop_tensor handle,
                             uint32_t replica)
{
  const tensor t = graph->tensors[handle.index];
  if (!t.replication) return handle;
  view_begin(graph, 0);
  add_replica(graph, &t, replica);
  return view_end(graph, call, t.type, t.shape, t.rank);
}

static pop_tensor of_all_replicas(pop_graph *graph, const char *call, const tensor *t,
                                  const size_t *shape, size_t rank)
{
  uint64_t num_elements;
  if (!view_count_elements(shape, rank, &num_elements)) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: the %s has more than 2^63 - 1 elements in all replicas", call,
                say_tensor(graph, t));
    return (pop_tensor){graph, 0};
  }
  view_begin(graph, 0);
  for (size_t r = 0; r < shape[0]; r++) add_replica(graph, t, (uint32_t)r);
  return view_end(graph, call, t->type, shape, rank);
}

pop_tensor tensor_of_all_replicas(pop_graph *graph, const char *call, pop_tensor handle)
{
  const tensor t = graph->tensors[handle.index];
  if (!t.replication) return handle;
  const size_t shape[] = {replication_count(graph, t.replication), t.num_elements};
  return of_all_replicas(graph, call, &t, shape, 2);
}

pop_tensor pop_graph_get_non_replicated_tensor(pop_graph *graph, pop_tensor handle)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_get_non_replicated_tensor";
  bool usable = graph_enter(&graph, __func__);
  const pop_tensor none = {graph, 0};
  if (!usable || !check_tensor(graph, call, handle)) return none;
  const tensor t = graph->tensors[handle.index];
  if (graph->num_replicas > 1) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: a graph that pop_graph_create_replicated made exists as replicas only: no "
                "tensor has the elements of all",
                call);
  } else if (!t.replication) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: the %s is of no replicated graph; pop_graph_create_replicated_graph makes one",
                call, say_tensor(graph, &t));
  } else if (check_rank(graph, call, (size_t)t.rank + 1)) {
    size_t shape[GRAPH_MAX_RANK] = {replication_count(graph, t.replication)};
    memcpy(shape + 1, t.shape, t.rank * sizeof *shape);
    return of_all_replicas(graph, call, &t, shape, (size_t)t.rank + 1);
  }
  return none;
}
