/* Data streams between device and host, and the copies from and to them. */
#include "graph/add_program.h"
#include "graph/check.h"
#include "graph/describe.h"
#include "graph/replicated.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_SPLIT_BYTES = 50 << 20, MAX_DEPTH = 1024 };

static bool check_stream_arguments(pop_graph *graph, const char *call, const char *handle,
                                   pop_type type)
{
  if (!check_type(graph, call, type) || !check_room(graph, call, graph->num_streams, "streams"))
    return false;
  if (!handle || !*handle)
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: the stream has no handle; the host connects it by that name", call);
  else if (pop_name_table_find(&graph->stream_names, handle) != POP_NAME_NONE)
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: there is a stream %s already; streams have different handles", call,
                say_name(graph, handle));
  return !graph->error;
}

static pop_stream add_stream(pop_graph *graph, const char *call, const char *handle, pop_type type,
                             size_t num_elements, bool to_device)
{
  const pop_graph *view = graph;
  if (!graph_enter(&graph, call) || !check_stream_arguments(graph, call, handle, type))
    return (pop_stream){graph, 0};
  host_stream added = {.name = pop_arena_strdup(graph->arena, handle),
                       .type = type,
                       .to_device = to_device,
                       .num_elements = num_elements,
                       .split_bytes = DEFAULT_SPLIT_BYTES,
                       .depth = 1,
                       .num_replicas = replication_count(graph, view->replication),
                       .replication = view->replication};
  uint32_t number = (uint32_t)graph->num_streams;
  pop_name_table_add(&graph->stream_names, added.name, number);
  for (; added.replica < added.num_replicas; added.replica++)
    pop_push(graph->streams, graph->num_streams, graph->streams_capacity, added);
  return (pop_stream){graph, number + 1};
}

pop_stream pop_graph_add_host_to_device_fifo(pop_graph *graph, const char *handle, pop_type type,
                                             size_t num_elements)
{
  GRAPH_TURN(graph);
  return add_stream(graph, "pop_graph_add_host_to_device_fifo", handle, type, num_elements, true);
}

pop_stream pop_graph_add_device_to_host_fifo(pop_graph *graph, const char *handle, pop_type type,
                                             size_t num_elements)
{
  GRAPH_TURN(graph);
  return add_stream(graph, "pop_graph_add_device_to_host_fifo", handle, type, num_elements, false);
}

/* ---- options ---- */

void pop_stream_set_replicated_mode(pop_stream stream, pop_replicated_stream_mode mode)
{
  GRAPH_TURN(stream.graph);
  static const char call[] = "pop_stream_set_replicated_mode";
  pop_graph *graph = stream.graph;
  const host_stream *s = graph_usable(graph, __func__) ? check_stream(graph, call, stream) : NULL;
  if (!s) return;
  if (mode != POP_STREAM_REPLICATE && mode != POP_STREAM_BROADCAST)
    graph_failf(
        graph, POP_ERROR_INVALID_ARGUMENT,
        "%s: stream '%s': there is no mode %d: POP_STREAM_REPLICATE or POP_STREAM_BROADCAST", call,
        s->name, (int)mode);
  else if (mode == POP_STREAM_BROADCAST && !s->to_device)
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: stream '%s' goes to the host: only one to the device can be broadcast", call,
                s->name);
  else
    for (uint32_t r = 0; r < s->num_replicas; r++) graph->streams[stream.index - 1 + r].mode = mode;
}

/* Parses a number up to `most`. The caller decides whether 0 is valid. */
static bool parse_number(const char *value, uint64_t most, uint64_t *number)
{
  char *end;
  errno = 0;
  *number = value ? strtoull(value, &end, 10) : 0;
  return value && *value >= '0' && *value <= '9' && !*end && !errno && *number <= most;
}

static void set_split_limit(pop_graph *graph, host_stream *s, const char *value)
{
  uint64_t bytes, least = pop_type_bytes(s->type);
  if (!parse_number(value, UINT32_MAX, &bytes) || (bytes && bytes < least))
    graph_failf(graph, POP_ERROR_INVALID_OPTION,
                "stream '%s': splitLimit is '%s': it is 0, or a number of bytes from %u to %u",
                s->name, value ? value : "NULL", (unsigned)least, UINT32_MAX);
  else
    s->split_bytes = bytes == UINT32_MAX ? 0 : bytes / least * least;
}

static void set_depth(pop_graph *graph, host_stream *s, const char *value)
{
  uint64_t depth;
  if (!s->to_device)
    graph_failf(
        graph, POP_ERROR_INVALID_OPTION,
        "stream '%s': bufferingDepth is for streams to the device, this one goes to the host",
        s->name);
  else if (!parse_number(value, MAX_DEPTH, &depth) || depth == 0)
    graph_failf(graph, POP_ERROR_INVALID_OPTION,
                "stream '%s': bufferingDepth is '%s': it is a number from 1 to %d", s->name,
                value ? value : "NULL", MAX_DEPTH);
  else
    s->depth = (uint32_t)depth;
}

void pop_stream_set_option(pop_stream stream, const char *key, const char *value)
{
  GRAPH_TURN(stream.graph);
  static const char call[] = "pop_stream_set_option";
  static const char *const keys[] = {"splitLimit", "bufferingDepth"};
  pop_graph *graph = stream.graph;
  if (!graph_usable(graph, __func__) || !check_stream(graph, call, stream)) return;
  host_stream *s = &graph->streams[stream.index - 1], *end = s + s->num_replicas;
  if (key && strcmp(key, keys[0]) == 0)
    for (; s < end; s++) set_split_limit(graph, s, value);
  else if (key && strcmp(key, keys[1]) == 0)
    for (; s < end; s++) set_depth(graph, s, value);
  else
    graph_failf(graph, POP_ERROR_INVALID_OPTION, "%s: streams have no option %s%s", call,
                say_name(graph, key), say_alternatives(graph, key ? key : "", keys, 2));
}

/* ---- copies ---- */

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
  return !graph->error && check_replication(graph, call, t, s->replication);
}

static pop_program add_copy(pop_graph *graph, const char *call, program p, uint32_t replica,
                            const char *name)
{
  if (replica != GRAPH_NONE) p.stream += replica;
  return add_program(graph, call, p, name);
}

static pop_program copy_stream(pop_graph *graph, const char *call, pop_stream stream,
                               pop_tensor side, bool to_device, const char *name)
{
  if (!graph_usable(graph, call) || !check_stream_copy(graph, call, name, stream, side, to_device))
    return (pop_program){graph, 0};
  if (graph->streams[stream.index - 1].num_elements == 0) return pop_program_sequence(graph, name);
  program p = {.kind = PROGRAM_STREAM_COPY, .source = side.index, .stream = stream.index - 1};
  return add_for_each_replica(graph, call, p, side, add_copy, name);
}

pop_program pop_program_copy_from_stream(pop_stream stream, pop_tensor destination,
                                         const char *name)
{
  GRAPH_TURN(stream.graph ? stream.graph : destination.graph);
  pop_graph *graph = stream.graph ? stream.graph : destination.graph;
  return copy_stream(graph, "pop_program_copy_from_stream", stream, destination, true, name);
}

pop_program pop_program_copy_to_stream(pop_tensor source, pop_stream stream, const char *name)
{
  GRAPH_TURN(source.graph ? source.graph : stream.graph);
  pop_graph *graph = stream.graph ? stream.graph : source.graph;
  return copy_stream(graph, "pop_program_copy_to_stream", stream, source, false, name);
}
