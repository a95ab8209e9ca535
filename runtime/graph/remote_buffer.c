/* Remote buffers, and the copies from and to them. */
#include "graph/add_program.h"
#include "graph/check.h"
#include "graph/describe.h"
#include "graph/replicated.h"

static bool check_buffer_arguments(pop_graph *graph, const char *call, const char *handle,
                                   pop_type type, size_t num_elements, size_t repeats)
{
  if (!check_type(graph, call, type) ||
      !check_room(graph, call, graph->num_remote_buffers, "remote buffers"))
    return false;
  uint64_t most = POP_REMOTE_BUFFER_MAX_ROW_BYTES / pop_type_bytes(type);
  if (!handle || !*handle)
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: the remote buffer has no handle; the host knows it by that name", call);
  else if (num_elements == 0 || repeats == 0)
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: remote buffer %s has %zu rows of %zu elements; at least 1 of 1 is needed",
                call, say_name(graph, handle), repeats, num_elements);
  else if (num_elements > most)
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: remote buffer %s: a row of %zu elements is too long: of type %s there may be "
                "%llu; use more rows",
                call, say_name(graph, handle), num_elements, pop_type_name(type),
                (unsigned long long)most);
  else if (repeats > POP_REMOTE_BUFFER_MAX_BYTES / (num_elements * pop_type_bytes(type)))
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: remote buffer %s: %zu rows of %zu %s elements are more than %llu GiB", call,
                say_name(graph, handle), repeats, num_elements, pop_type_name(type),
                (unsigned long long)(POP_REMOTE_BUFFER_MAX_BYTES >> 30));
  else if (pop_name_table_find(&graph->remote_buffer_names, handle) != POP_NAME_NONE)
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: there is a remote buffer %s already; they have different handles", call,
                say_name(graph, handle));
  return !graph->error;
}

pop_remote_buffer pop_graph_add_remote_buffer(pop_graph *graph, const char *handle, pop_type type,
                                              size_t num_elements, size_t repeats)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_add_remote_buffer";
  const pop_graph *view = graph;
  if (!graph_enter(&graph, __func__) ||
      !check_buffer_arguments(graph, call, handle, type, num_elements, repeats))
    return (pop_remote_buffer){graph, 0};
  remote_buffer added = {.name = pop_arena_strdup(graph->arena, handle),
                         .type = type,
                         .num_elements = num_elements,
                         .repeats = repeats,
                         .num_replicas = replication_count(graph, view->replication),
                         .replication = view->replication};
  uint32_t number = (uint32_t)graph->num_remote_buffers;
  pop_name_table_add(&graph->remote_buffer_names, added.name, number);
  for (; added.replica < added.num_replicas; added.replica++)
    pop_push(graph->remote_buffers, graph->num_remote_buffers, graph->remote_buffers_capacity,
             added);
  return (pop_remote_buffer){graph, number + 1};
}

static void fail_copy(pop_graph *graph, const char *call, const char *name, const remote_buffer *b,
                      const tensor *t, pop_error_code code, const char *reason)
{
  graph_failf(
      graph, code, "%s %s: remote buffer '%s' of %llu rows of %llu %s elements and the %s: %s",
      call, say_name(graph, name), b->name, (unsigned long long)b->repeats,
      (unsigned long long)b->num_elements, pop_type_name(b->type), say_tensor(graph, t), reason);
}

/* `offsets` is 0, or a tensor. */
static void check_offsets(pop_graph *graph, const char *call, const char *name,
                          const remote_buffer *b, const tensor *t, uint32_t offsets)
{
  if (!offsets) {
    uint64_t rows = t->num_elements / b->num_elements;
    if (t->num_elements % b->num_elements || rows == 0 || rows > b->repeats)
      fail_copy(graph, call, name, b, t, POP_ERROR_TENSOR,
                "without offsets the tensor has the elements of one or more rows, and not of more "
                "than there are");
    return;
  }
  const tensor *o = &graph->tensors[offsets];
  if (o->type != POP_INT && o->type != POP_UNSIGNED_INT)
    graph_failf(graph, POP_ERROR_TYPE,
                "%s %s: the offsets are the %s: their type must be unsigned int or int", call,
                say_name(graph, name), say_tensor(graph, o));
  else if (o->num_elements == 0 || t->num_elements / o->num_elements != b->num_elements ||
           t->num_elements % o->num_elements)
    graph_failf(
        graph, POP_ERROR_TENSOR,
        "%s %s: remote buffer '%s' has rows of %llu elements, there are %llu offsets, and the "
        "%s has not the elements of so many rows",
        call, say_name(graph, name), b->name, (unsigned long long)b->num_elements,
        (unsigned long long)o->num_elements, say_tensor(graph, t));
}

/* `offsets` is 0, or a tensor, in each replica. */
static pop_program add_copy(pop_graph *graph, const char *call, program p, uint32_t replica,
                            const char *name)
{
  if (replica == GRAPH_NONE) return add_program(graph, call, p, name);
  p.stream += replica;
  if (p.destination)
    p.destination =
        tensor_of_replica(graph, call, (pop_tensor){graph, p.destination}, replica).index;
  return add_program(graph, call, p, name);
}

static pop_program copy_remote(pop_graph *graph, const char *call, pop_remote_buffer buffer,
                               pop_tensor side, pop_tensor offsets, bool to_device,
                               const char *name)
{
  if (!graph_usable(graph, call)) return (pop_program){graph, 0};
  const remote_buffer *b = check_remote_buffer(graph, call, buffer);
  const tensor *t = b ? check_tensor(graph, call, side) : NULL;
  bool has_offsets = offsets.graph || offsets.index;
  if (!t || (has_offsets && !check_tensor(graph, call, offsets))) return (pop_program){graph, 0};
  if (b->type != t->type)
    fail_copy(graph, call, name, b, t, POP_ERROR_TYPE, "the element types must be the same");
  else if (to_device && pop_tensor_contains_constant(side))
    fail_copy(graph, call, name, b, t, POP_ERROR_TENSOR, "a constant cannot be written");
  else if (to_device && pop_tensor_contains_aliases(side))
    fail_copy(graph, call, name, b, t, POP_ERROR_TENSOR,
              "the tensor holds some element twice, so that it would be written twice");
  else
    check_offsets(graph, call, name, b, t, offsets.index);
  if (graph->error || !check_replication(graph, call, t, b->replication) ||
      (has_offsets &&
       !check_replication(graph, call, &graph->tensors[offsets.index], b->replication)))
    return (pop_program){graph, 0};
  program p = {.kind = PROGRAM_REMOTE_COPY,
               .source = side.index,
               .destination = offsets.index,
               .stream = buffer.index - 1,
               .to_device = to_device};
  return add_for_each_replica(graph, call, p, side, add_copy, name);
}

pop_program pop_program_copy_from_remote_buffer(pop_remote_buffer buffer, pop_tensor destination,
                                                pop_tensor offsets, const char *name)
{
  GRAPH_TURN(buffer.graph ? buffer.graph : destination.graph);
  pop_graph *graph = buffer.graph ? buffer.graph : destination.graph;
  return copy_remote(graph, "pop_program_copy_from_remote_buffer", buffer, destination, offsets,
                     true, name);
}

pop_program pop_program_copy_to_remote_buffer(pop_tensor source, pop_remote_buffer buffer,
                                              pop_tensor offsets, const char *name)
{
  GRAPH_TURN(source.graph ? source.graph : buffer.graph);
  pop_graph *graph = buffer.graph ? buffer.graph : source.graph;
  return copy_remote(graph, "pop_program_copy_to_remote_buffer", buffer, source, offsets, false,
                     name);
}
