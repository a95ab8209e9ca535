/* What replicas of a graph say to each other, and how they know which one they are. */
#include "graph/add_program.h"
#include "graph/check.h"
#include "graph/describe.h"

#include <stdlib.h>

pop_tensor pop_graph_add_replication_index_constant(pop_graph *graph, const char *name)
{
  static const uint32_t first = 0;
  bool usable = graph_enter(&graph);
  if (!usable) return (pop_tensor){graph, 0};
  pop_tensor index = pop_graph_add_constant(graph, POP_UNSIGNED_INT, NULL, 0, &first, name);
  if (index.index) graph->variables[graph->num_variables - 1].is_replica_index = true;
  return index;
}

/* ---- copies from replica to replica ---- */

static bool refuse_map(pop_graph *graph, const char *call, const char *name, const char *reason)
{
  graph_failf(graph, POP_ERROR_CONTROL_PROGRAM, "%s %s: %s", call, say_name(graph, name), reason);
  return false;
}

/* Each replica sends to at most one, and at most one sends to it. */
static bool read_map(pop_graph *graph, const char *call, const char *name,
                     const pop_replica_pair *pairs, size_t count, uint32_t *map)
{
  uint32_t num_replicas = graph->num_replicas;
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

pop_program pop_program_cross_replica_copy(pop_tensor source, pop_tensor destination,
                                           const pop_replica_pair *map, size_t count,
                                           const char *name)
{
  static const char call[] = "pop_program_cross_replica_copy";
  pop_graph *graph = source.graph ? source.graph : destination.graph;
  pop_program none = {graph, 0};
  if (!graph_usable(graph) || !check_copy(graph, call, name, source, destination)) return none;
  uint32_t *by_replica = pop_arena_alloc(graph->arena, graph->num_replicas * sizeof *by_replica);
  if (!read_map(graph, call, name, map, count, by_replica)) return none;
  program p = {.kind = PROGRAM_REPLICA_COPY,
               .source = source.index,
               .destination = destination.index,
               .replica_map = by_replica};
  if (graph->num_replicas == 1) { /* from replica 0 to itself, or not at all */
    p = (program){.kind = PROGRAM_COPY, .source = source.index, .destination = destination.index};
    if (count == 0) p = (program){.kind = PROGRAM_NOP};
  }
  return add_program(graph, call, p, name);
}

pop_program pop_program_assume_equal_across_replicas(pop_tensor tensor, const char *name)
{
  static const char call[] = "pop_program_assume_equal_across_replicas";
  pop_graph *graph = tensor.graph;
  if (!graph_usable(graph) || !check_tensor(graph, call, tensor)) return (pop_program){graph, 0};
  program p = {.kind = PROGRAM_ASSUME_EQUAL, .source = tensor.index};
  return add_program(graph, call, p, name);
}
