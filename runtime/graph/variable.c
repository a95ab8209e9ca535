/* Variables and constants: elements that views refer to, and what they hold at the start. */
#include "graph/check.h"
#include "graph/describe.h"
#include "graph/replicated.h"
#include "graph/view.h"

#include <stdlib.h>
#include <string.h>

static bool check_shape(pop_graph *graph, const char *call, const char *name, const size_t *shape,
                        size_t rank, uint64_t *num_elements)
{
  if (!check_rank(graph, call, rank)) return false;
  if (rank && !shape) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: the shape of %s is NULL but its rank is %zu", call, say_name(graph, name),
                rank);
    return false;
  }
  if (view_count_elements(shape, rank, num_elements) && *num_elements <= UINT32_MAX) return true;
  graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
              "%s: %s of shape %s; a variable has at most 2^32 - 1 elements", call,
              say_name(graph, name), say_shape(graph, shape, rank));
  return false;
}

/* Adds one variable, and returns the view of all of it. Takes `initial`. */
static pop_tensor add_one(pop_graph *graph, const char *call, pop_type type, const size_t *shape,
                          size_t rank, const char *name, uint8_t *initial)
{
  variable v = {.name = name,
                .type = type,
                .constant = initial != NULL,
                .initial = initial,
                .mapping_sorted = true};
  view_count_elements(shape, rank, &v.num_elements);
  uint32_t index = (uint32_t)graph->num_variables;
  pop_push(graph->variables, graph->num_variables, graph->variables_capacity, v);
  view_begin(graph, 0);
  view_add_run(graph, index, 0, v.num_elements);
  pop_tensor whole = view_end(graph, call, type, shape, rank);
  graph->variables[index].tensor = whole.index;
  return whole;
}

static uint8_t *copy_content(const uint8_t *content, pop_type type, uint64_t count)
{
  uint8_t *copy = pop_xcalloc(count ? count : 1, pop_type_bytes(type));
  return memcpy(copy, content, count * pop_type_bytes(type));
}

pop_tensor graph_add_variable(pop_graph *graph, uint32_t replication, const char *call,
                              pop_type type, const size_t *shape, size_t rank, const char *name,
                              uint8_t *initial)
{
  uint32_t first = (uint32_t)graph->num_variables;
  uint32_t count = replication_count(graph, replication);
  name = name && *name ? pop_arena_strdup(graph->arena, name) : "";
  pop_tensor whole = add_one(graph, call, type, shape, rank, name, initial);
  uint64_t num_elements = graph->variables[first].num_elements;
  for (uint32_t r = 1; r < count; r++)
    add_one(graph, call, type, shape, rank, name,
            initial ? copy_content(initial, type, num_elements) : NULL);
  if (!replication || !whole.index) return whole;
  view_begin(graph, replication);
  view_add_run(graph, first, 0, num_elements);
  return view_end(graph, call, type, shape, rank);
}

static bool check_room_for_variables(const pop_graph *view, const char *call)
{
  pop_graph *graph = view->top;
  uint32_t more = replication_count(graph, view->replication) - 1;
  return check_room(graph, call, graph->num_variables + more, "variables");
}

pop_tensor pop_graph_add_variable(pop_graph *graph, pop_type type, const size_t *shape, size_t rank,
                                  const char *name)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_add_variable";
  const pop_graph *view = graph;
  uint64_t num_elements;
  if (!graph_enter(&graph, __func__) || !check_type(graph, call, type) ||
      !check_shape(graph, call, name, shape, rank, &num_elements) ||
      !check_room_for_variables(view, call))
    return (pop_tensor){graph, 0};
  return graph_add_variable(graph, view->replication, call, type, shape, rank, name, NULL);
}

/* The first invalid element, or `count`. A bool that is neither 0 nor 1 is undefined behaviour
 * in C and C++ and must not reach a codelet. */
static uint64_t find_bad_element(pop_type type, const void *data, uint64_t count)
{
  const uint8_t *bytes = data;
  for (uint64_t i = 0; type == POP_BOOL && i < count; i++)
    if (bytes[i] > 1) return i;
  return count;
}

static bool data_is_good(pop_type type, const void *data, uint64_t count)
{
  return count == 0 || (data && find_bad_element(type, data, count) == count);
}

static void fail_data(pop_graph *graph, const char *call, const char *of, pop_type type,
                      const void *data, uint64_t count)
{
  if (!data)
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: the data for the %s are NULL; %llu elements of type %s are needed", call, of,
                (unsigned long long)count, pop_type_name(type));
  else
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: element %llu of the data for the %s is neither 0 nor 1; a bool is such a byte",
                call, (unsigned long long)find_bad_element(type, data, count), of);
}

/* Zeroed memory. The user chooses sizes, so lack of memory is an error of the graph, not the end
 * of the process. */
static uint8_t *allocate_content(pop_graph *graph, const char *call, const char *name,
                                 pop_type type, uint64_t count)
{
  uint8_t *content = calloc(count ? count : 1, pop_type_bytes(type));
  if (!content)
    graph_failf(graph, POP_ERROR_MEMORY, "%s: no memory for the %llu elements of %s", call,
                (unsigned long long)count, say_name(graph, name));
  return content;
}

pop_tensor pop_graph_add_constant(pop_graph *graph, pop_type type, const size_t *shape, size_t rank,
                                  const void *data, const char *name)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_add_constant";
  const pop_graph *view = graph;
  uint64_t count;
  if (!graph_enter(&graph, __func__) || !check_type(graph, call, type) ||
      !check_shape(graph, call, name, shape, rank, &count) || !check_room_for_variables(view, call))
    return (pop_tensor){graph, 0};
  if (!data_is_good(type, data, count)) {
    const char *of = pop_arena_printf(graph->arena, "constant %s", say_name(graph, name));
    fail_data(graph, call, of, type, data, count);
    return (pop_tensor){graph, 0};
  }
  uint8_t *content = allocate_content(graph, call, name, type, count);
  if (!content) return (pop_tensor){graph, 0};
  if (count) memcpy(content, data, count * pop_type_bytes(type));
  return graph_add_variable(graph, view->replication, call, type, shape, rank, name, content);
}

/* The buffer of a variable's initial contents; NULL after an error. */
static uint8_t *initial_content(pop_graph *graph, const char *call, uint32_t index)
{
  variable *v = &graph->variables[index];
  if (!v->initial) v->initial = allocate_content(graph, call, v->name, v->type, v->num_elements);
  return v->initial;
}

void pop_graph_set_initial_value(pop_graph *graph, pop_tensor handle, const void *data)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_set_initial_value";
  if (!graph_enter(&graph, __func__)) return;
  const tensor *t = check_tensor(graph, call, handle);
  if (!t) return;
  if (pop_tensor_contains_constant(handle)) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: the %s is (partly) a constant, which has its value already", call,
                say_tensor(graph, t));
    return;
  }
  if (!data_is_good(t->type, data, t->num_elements)) {
    fail_data(graph, call, say_tensor(graph, t), t->type, data, t->num_elements);
    return;
  }
  size_t bytes = pop_type_bytes(t->type);
  const uint8_t *from = data;
  uint32_t replicas = tensor_replicas(handle);
  view_walk walk;
  view_walk_start(&walk, graph, handle.index);
  for (view_run run; view_walk_next(&walk, &run); from += run.count * bytes)
    for (uint32_t r = 0; r < replicas; r++) {
      uint8_t *content = initial_content(graph, call, run.variable + r);
      if (!content) return;
      memcpy(content + run.begin * bytes, from, run.count * bytes);
    }
}
