/* Checks of arguments that many calls share: see check.h. */
#include "graph/check.h"
#include "graph/describe.h"

#include <stdlib.h>

void graph_failf(pop_graph *graph, pop_error_code code, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  graph_fail(graph, pop_error_new_v(code, format, args));
  va_end(args);
}

/* A handle is a graph and an index; index 0 is null. `count` things have indices below it. */
static bool check_handle(pop_graph *graph, const char *call, const char *what,
                         const pop_graph *owner, uint32_t index, size_t count)
{
  if (!owner || index == 0)
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: the %s is null; use one that a call on this graph returned", call, what);
  else if (owner != graph)
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: the %s belongs to another graph; handles can only be used with the graph that "
                "they were made with",
                call, what);
  else if (index >= count)
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: there is no %s %u in this graph; use a handle that a call on it returned",
                call, what, index);
  else
    return true;
  return false;
}

const tensor *check_tensor(pop_graph *graph, const char *call, pop_tensor t)
{
  bool good = check_handle(graph, call, "tensor", t.graph, t.index, graph->num_tensors);
  return good ? &graph->tensors[t.index] : NULL;
}

compute_set *check_compute_set(pop_graph *graph, const char *call, pop_compute_set set)
{
  bool good =
      check_handle(graph, call, "compute set", set.graph, set.index, graph->num_compute_sets + 1);
  return good ? &graph->compute_sets[set.index - 1] : NULL;
}

vertex *check_vertex(pop_graph *graph, const char *call, pop_vertex v)
{
  bool good = check_handle(graph, call, "vertex", v.graph, v.index, graph->num_vertices + 1);
  return good ? &graph->vertices[v.index - 1] : NULL;
}

program *check_program(pop_graph *graph, const char *call, pop_program p)
{
  bool good = check_handle(graph, call, "program", p.graph, p.index, graph->num_programs + 1);
  return good ? &graph->programs[p.index - 1] : NULL;
}

const host_stream *check_stream(pop_graph *graph, const char *call, pop_stream stream)
{
  bool good =
      check_handle(graph, call, "stream", stream.graph, stream.index, graph->num_streams + 1);
  return good ? &graph->streams[stream.index - 1] : NULL;
}

const remote_buffer *check_remote_buffer(pop_graph *graph, const char *call,
                                         pop_remote_buffer buffer)
{
  bool good = check_handle(graph, call, "remote buffer", buffer.graph, buffer.index,
                           graph->num_remote_buffers + 1);
  return good ? &graph->remote_buffers[buffer.index - 1] : NULL;
}

const pop_field *check_field(pop_graph *graph, const char *call, uint32_t vertex, const char *name)
{
  const pop_vertex_type *type = graph->vertex_types[graph->vertices[vertex].type].type;
  const pop_field *field = name ? pop_vertex_type_find_field(type, name) : NULL;
  if (field) return field;
  const char **names = pop_xcalloc(type->num_fields, sizeof *names);
  for (size_t i = 0; i < type->num_fields; i++) names[i] = type->fields[i].name;
  graph_failf(graph, POP_ERROR_UNKNOWN_FIELD, "%s: %s has no field %s%s", call,
              say_vertex(graph, vertex), say_name(graph, name),
              say_alternatives(graph, name ? name : "", names, type->num_fields));
  free(names);
  return NULL;
}

bool check_type(pop_graph *graph, const char *call, pop_type type)
{
  if ((unsigned)type < POP_TYPE_COUNT) return true;
  graph_failf(graph, POP_ERROR_TYPE, "%s: %d is not an element type; use POP_FLOAT, POP_INT, …",
              call, (int)type);
  return false;
}

bool check_rank(pop_graph *graph, const char *call, size_t rank)
{
  if (rank <= GRAPH_MAX_RANK) return true;
  graph_failf(graph, POP_ERROR_INVALID_ARGUMENT, "%s: rank %zu; a tensor has at most %d dimensions",
              call, rank, GRAPH_MAX_RANK);
  return false;
}

bool check_room(pop_graph *graph, const char *call, size_t count, const char *things)
{
  if (count < UINT32_MAX - 1) return true;
  graph_failf(graph, POP_ERROR_MEMORY, "%s: this graph has %zu %s already, which is the limit",
              call, count, things);
  return false;
}
