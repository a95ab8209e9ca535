/* Data streams between device and host, and the copies from and to them. */
#include "graph/add_program.h"
#include "graph/check.h"
#include "graph/describe.h"

static bool check_stream_arguments(pop_graph *graph, const char *call, const char *handle,
                                   pop_type type, size_t num_elements)
{
  if (!check_type(graph, call, type) || !check_room(graph, call, graph->num_streams, "streams"))
    return false;
  if (!handle || !*handle)
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: the stream has no handle; the host connects it by that name", call);
  else if (num_elements == 0)
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: stream %s has no elements; give the number that one copy moves, at least 1",
                call, say_name(graph, handle));
  else if (pop_name_table_find(&graph->stream_names, handle) != POP_NAME_NONE)
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: there is a stream %s already; streams have different handles", call,
                say_name(graph, handle));
  return !graph->error;
}

static pop_stream add_stream(pop_graph *graph, const char *call, const char *handle, pop_type type,
                             size_t num_elements, bool to_device)
{
  if (!graph_enter(&graph) || !check_stream_arguments(graph, call, handle, type, num_elements))
    return (pop_stream){graph, 0};
  host_stream added = {pop_arena_strdup(graph->arena, handle), type, to_device, num_elements};
  pop_name_table_add(&graph->stream_names, added.name, (uint32_t)graph->num_streams);
  pop_push(graph->streams, graph->num_streams, graph->streams_capacity, added);
  return (pop_stream){graph, (uint32_t)graph->num_streams};
}

pop_stream pop_graph_add_host_to_device_fifo(pop_graph *graph, const char *handle, pop_type type,
                                             size_t num_elements)
{
  return add_stream(graph, "pop_graph_add_host_to_device_fifo", handle, type, num_elements, true);
}

pop_stream pop_graph_add_device_to_host_fifo(pop_graph *graph, const char *handle, pop_type type,
                                             size_t num_elements)
{
  return add_stream(graph, "pop_graph_add_device_to_host_fifo", handle, type, num_elements, false);
}

static void fail_copy(pop_graph *graph, const char *call, const char *name, const host_stream *s,
                      const tensor *t, pop_error_code code, const char *reason)
{
  graph_failf(graph, code, "%s %s: stream '%s' of %llu %s elements and the %s: %s", call,
              say_name(graph, name), s->name, (unsigned long long)s->num_elements,
              pop_type_name(s->type), say_tensor(graph, t), reason);
}

static bool check_stream_copy(pop_graph *graph, const char *call, const char *name,
                              pop_stream stream, pop_tensor side, bool to_device)
{
  const host_stream *s = check_stream(graph, call, stream);
  const tensor *t = s ? check_tensor(graph, call, side) : NULL;
  if (!t) return false;
  if (s->to_device != to_device)
    fail_copy(graph, call, name, s, t, POP_ERROR_CONTROL_PROGRAM,
              to_device ? "the stream goes from the device to the host: use "
                          "pop_program_copy_to_stream"
                        : "the stream goes from the host to the device: use "
                          "pop_program_copy_from_stream");
  else if (s->type != t->type)
    fail_copy(graph, call, name, s, t, POP_ERROR_TYPE, "the element types must be the same");
  else if (s->num_elements != t->num_elements)
    fail_copy(graph, call, name, s, t, POP_ERROR_TENSOR,
              "they must have the same number of elements");
  else if (to_device && pop_tensor_contains_constant(side))
    fail_copy(graph, call, name, s, t, POP_ERROR_TENSOR, "a constant cannot be written");
  else if (to_device && pop_tensor_contains_aliases(side))
    fail_copy(graph, call, name, s, t, POP_ERROR_TENSOR,
              "the tensor holds some element twice, so that it would be written twice");
  return !graph->error;
}

static pop_program copy_stream(pop_graph *graph, const char *call, pop_stream stream,
                               pop_tensor side, bool to_device, const char *name)
{
  if (!graph_usable(graph) || !check_stream_copy(graph, call, name, stream, side, to_device))
    return (pop_program){graph, 0};
  program p = {.kind = PROGRAM_STREAM_COPY, .source = side.index, .stream = stream.index - 1};
  return add_program(graph, call, p, name);
}

pop_program pop_program_copy_from_stream(pop_stream stream, pop_tensor destination,
                                         const char *name)
{
  pop_graph *graph = stream.graph ? stream.graph : destination.graph;
  return copy_stream(graph, "pop_program_copy_from_stream", stream, destination, true, name);
}

pop_program pop_program_copy_to_stream(pop_tensor source, pop_stream stream, const char *name)
{
  pop_graph *graph = stream.graph ? stream.graph : source.graph;
  return copy_stream(graph, "pop_program_copy_to_stream", stream, source, false, name);
}
