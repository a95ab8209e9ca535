/* Copies between replicas, and the replica index. */
#include "graph/replica.h"
#include "graph/add_program.h"
#include "graph/check.h"
#include "graph/describe.h"
#include "graph/replicated.h"

#include <stdlib.h>
#include <string.h>

pop_tensor pop_graph_add_replication_index_constant(pop_graph *graph, const char *name)
{
  GRAPH_TURN(graph);
  static const uint32_t first = 0;
  pop_graph *view = graph;
  bool usable = graph_enter(&graph, __func__);
  if (!usable) return (pop_tensor){graph, 0};
  pop_tensor index = pop_graph_add_constant(view, POP_UNSIGNED_INT, NULL, 0, &first, name);
  if (!index.index) return index;
  uint32_t count = replication_count(graph, view->replication);
  variable *of_first = &graph->variables[graph->num_variables - count];
  of_first->is_replica_index = !view->replication;
  for (uint32_t r = 0; r < count; r++) memcpy(of_first[r].initial, &r, sizeof r);
  return index;
}

/* ---- copies from replica to replica ---- */

static bool refuse_map(pop_graph *graph, const char *call, const char *name, const char *reason)
{
  graph_failf(graph, POP_ERROR_CONTROL_PROGRAM, "%s %s: %s", call, say_name(graph, name), reason);
  return false;
}

/* Reads the map. Each replica sends to at most one, and receives from at most one. */
static bool read_map(pop_graph *graph, const char *call, const char *name,
                     const pop_replica_pair *pairs, size_t count, uint32_t num_replicas,
                     uint32_t *map)
{
  bool *receives = pop_xcalloc(num_replicas, sizeof *receives);
  bool good = count == 0 || pairs || refuse_map(graph, call, name, "the map is NULL");
  for (uint32_t i = 0; i < num_replicas; i++) map[i] = GRAPH_NONE;
  for (size_t i = 0; i < count && good; i++) {
    pop_replica_pair p = pairs[i];
    if (p.from >= num_replicas || p.to >= num_replicas)
      good =
          refuse_map(graph, call, name,
                     pop_arena_printf(graph->arena,
                                      "from replica %u to replica %u; the graph has the replicas "
                                      "0 to %u",
                                      p.from, p.to, num_replicas - 1));
    else if (map[p.from] != GRAPH_NONE)
      good = refuse_map(graph, call, name,
                        pop_arena_printf(graph->arena, "replica %u sends twice", p.from));
    else if (receives[p.to])
      good = refuse_map(graph, call, name,
                        pop_arena_printf(graph->arena, "two replicas send to replica %u", p.to));
    else
      map[p.from] = p.to, receives[p.to] = true;
  }
  free(receives);
  return good;
}

/* If all replicas are tiles of one machine, a copy between them is a plain copy. */
static pop_program copy_in_graph(pop_graph *graph, const char *call, pop_tensor source,
                                 pop_tensor destination, const uint32_t *map, const char *name)
{
  uint32_t num_replicas = tensor_replicas(source);
  size_t count = 0;
  pop_tensor *from = pop_xcalloc(num_replicas, sizeof *from);
  pop_tensor *to = pop_xcalloc(num_replicas, sizeof *to);
  for (uint32_t r = 0; r < num_replicas; r++) {
    if (map[r] == GRAPH_NONE) continue;
    from[count] = pop_tensor_flatten(tensor_of_replica(graph, call, source, r));
    to[count++] = pop_tensor_flatten(tensor_of_replica(graph, call, destination, map[r]));
  }
  program p = {.kind = PROGRAM_NOP};
  if (count)
    p = (program){.kind = PROGRAM_COPY,
                  .source = pop_concat(from, count, 0).index,
                  .destination = pop_concat(to, count, 0).index};
  free(from);
  free(to);
  return add_program(graph, call, p, name);
}

pop_program pop_program_cross_replica_copy(pop_tensor source, pop_tensor destination,
                                           const pop_replica_pair *map, size_t count,
                                           const char *name)
{
  GRAPH_TURN(source.graph);
  static const char call[] = "pop_program_cross_replica_copy";
  pop_graph *graph = source.graph ? source.graph : destination.graph;
  pop_program none = {graph, 0};
  if (!graph_usable(graph, __func__) || !check_copy(graph, call, name, source, destination))
    return none;
  bool in_graph = graph->tensors[source.index].replication || graph->num_replicas == 1;
  uint32_t num_replicas = in_graph ? tensor_replicas(source) : graph->num_replicas;
  uint32_t *by_replica = pop_arena_alloc(graph->arena, num_replicas * sizeof *by_replica);
  if (!read_map(graph, call, name, map, count, num_replicas, by_replica)) return none;
  if (in_graph) return copy_in_graph(graph, call, source, destination, by_replica, name);
  program p = {.kind = PROGRAM_REPLICA_COPY,
               .source = source.index,
               .destination = destination.index,
               .replica_map = by_replica};
  return add_program(graph, call, p, name);
}

pop_program graph_headed_replica_copy(pop_tensor source, pop_tensor destination, pop_tensor headers,
                                      const pop_replica_pair *map, size_t count, const char *name)
{
  pop_program made = pop_program_cross_replica_copy(source, destination, map, count, name);
  if (made.index) made.graph->programs[made.index - 1].headers = headers.index;
  return made;
}

pop_program pop_program_assume_equal_across_replicas(pop_tensor tensor, const char *name)
{
  GRAPH_TURN(tensor.graph);
  static const char call[] = "pop_program_assume_equal_across_replicas";
  pop_graph *graph = tensor.graph;
  if (!graph_usable(graph, __func__) || !check_tensor(graph, call, tensor))
    return (pop_program){graph, 0};
  program p = {.kind = PROGRAM_ASSUME_EQUAL,
               .source = tensor_of_all_replicas(graph, call, tensor).index,
               .count = tensor_replicas(tensor)};
  return add_program(graph, call, p, name);
}
