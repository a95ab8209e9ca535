/* Names by which a host program reads and writes tensors of a running program. */
#include "graph/check.h"
#include "graph/describe.h"
#include "graph/metadata.h"
#include "graph/replicated.h"

static void create_handle(pop_graph *graph, const char *call, const char *name, pop_tensor tensor,
                          bool read)
{
  if (!graph_enter(&graph, call) || !check_tensor(graph, call, tensor) ||
      !check_room(graph, call, graph->num_handles, "handles"))
    return;
  if (!name) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT, "%s: the handle's name is NULL", call);
    return;
  }
  if (pop_name_table_find(&graph->handle_names[read], name) != POP_NAME_NONE) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: there is a host %s handle %s already; handles have different names", call,
                read ? "read" : "write", say_name(graph, name));
    return;
  }
  host_handle handle = {.name = pop_arena_strdup(graph->arena, name),
                        .num_replicas = tensor_replicas(tensor),
                        .read = read};
  handle.tensor = graph->tensors[tensor.index].replication
                      ? pop_graph_get_non_replicated_tensor(graph, tensor).index
                      : tensor.index;
  if (graph->error) return;
  pop_name_table_add(&graph->handle_names[read], handle.name, (uint32_t)graph->num_handles);
  pop_push(graph->handles, graph->num_handles, graph->handles_capacity, handle);
}

/* Adds a handle for the quarters' metadata, if all have the same. It is for reading if they
 * cannot be written. */
static void create_metadata_handle(pop_graph *graph, const char *call, const char *name,
                                   pop_tensor quarters, bool read)
{
  const tensor *t = graph->error ? NULL : &graph->tensors[quarters.index];
  if (!t || t->type != POP_QUARTER) return;
  pop_tensor metadata = graph_metadata(graph, call, t, false);
  if (!metadata.index) return;
  name = pop_arena_printf(graph->arena, "%s" POP_METADATA_SUFFIX, name);
  read |= pop_tensor_contains_constant(metadata);
  if (read && pop_name_table_find(&graph->handle_names[1], name) != POP_NAME_NONE) return;
  create_handle(graph, call, name, metadata, read);
}

void pop_graph_create_host_read(pop_graph *graph, const char *handle, pop_tensor tensor)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_create_host_read";
  create_handle(graph, call, handle, tensor, true);
  if (graph_enter(&graph, __func__)) create_metadata_handle(graph, call, handle, tensor, true);
}

static void fail_write(pop_graph *graph, const char *handle, pop_tensor tensor, const char *reason)
{
  graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
              "pop_graph_create_host_write: handle %s: the %s %s", say_name(graph, handle),
              say_tensor(graph, &graph->tensors[tensor.index]), reason);
}

void pop_graph_create_host_write(pop_graph *graph, const char *handle, pop_tensor tensor)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_create_host_write";
  if (!graph_enter(&graph, __func__) || !check_tensor(graph, call, tensor)) return;
  if (pop_tensor_contains_constant(tensor))
    fail_write(graph, handle, tensor, "is (partly) a constant, which cannot be written");
  else if (pop_tensor_contains_aliases(tensor))
    fail_write(graph, handle, tensor,
               "holds some element twice, so that it would be written twice");
  else
    create_handle(graph, call, handle, tensor, false);
  create_metadata_handle(graph, call, handle, tensor, false);
}
