/* The life of a graph, and its one error. */
#include "graph/check.h"
#include "graph/view.h"

#include <stdlib.h>

pop_graph *pop_graph_create(const pop_target *target)
{
  pop_graph *graph = pop_xcalloc(1, sizeof *graph);
  graph->top = graph;
  graph->arena = pop_arena_new();
  graph->scratch = view_scratch_new();
  pop_push(graph->tensors, graph->num_tensors, graph->tensors_capacity, (tensor){0});
  if (!target) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "pop_graph_create: the target is null; fill one in with pop_target_create");
    return graph;
  }
  graph->target = *target;
  pop_error *error = pop_target_validate(target);
  if (error)
    graph_fail(graph, pop_error_prefix(error, "pop_graph_create"));
  else
    graph->num_tiles = pop_target_num_tiles(target);
  return graph;
}

void pop_graph_free(pop_graph *graph)
{
  if (!graph || graph->parent) return; /* virtual graphs go with what they are views of */
  for (size_t i = 0; i < graph->num_variables; i++) {
    free(graph->variables[i].initial);
    free(graph->variables[i].mapping);
  }
  for (size_t i = 0; i < graph->num_programs; i++) free(graph->programs[i].children);
  for (size_t i = 0; i < graph->num_codelets; i++) pop_gp_free(graph->codelets[i]);
  void *const arrays[] = {graph->variables,    graph->tensors,      graph->pieces,
                          graph->dims,         graph->codelets,     graph->vertex_types,
                          graph->compute_sets, graph->vertices,     graph->edges,
                          graph->row_tensors,  graph->field_values, graph->programs,
                          graph->handles,      graph->streams,      graph->remote_buffers};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
  pop_name_table_free(&graph->vertex_type_names);
  pop_name_table_free(&graph->handle_names);
  pop_name_table_free(&graph->stream_names);
  pop_name_table_free(&graph->remote_buffer_names);
  for (pop_graph *view = graph->next, *next; view; view = next) {
    next = view->next;
    free(view->numbers);
    free(view);
  }
  view_scratch_free(graph->scratch);
  pop_error_free(graph->error);
  pop_arena_free(graph->arena);
  free(graph);
}

const pop_target *pop_graph_get_target(const pop_graph *graph)
{
  return graph ? &graph->target : NULL;
}

const pop_error *pop_graph_error(const pop_graph *graph)
{
  return graph ? graph->top->error : NULL;
}

void graph_fail(pop_graph *graph, pop_error *error)
{
  graph = graph->top;
  if (graph->error)
    pop_error_free(error);
  else
    graph->error = error;
}
