/* The life of a graph, and its one error. */
#include "graph/check.h"

#include "base/log.h"
#include "graph/view.h"
#include <populus/out_of_memory.h>

#include <pthread.h>
#include <stdlib.h>

static void make_turn(pthread_mutex_t *turn)
{
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(turn, &recursive);
  pthread_mutexattr_destroy(&recursive);
}

static pop_graph *create(const char *call, const pop_target *target)
{
  pop_graph *graph = object_new(OBJECT_GRAPH, sizeof *graph);
  graph->top = graph;
  graph->num_replicas = 1;
  graph->arena = pop_arena_new();
  graph->scratch = view_scratch_new();
  make_turn(&graph->turn);
  pop_push(graph->tensors, graph->num_tensors, graph->tensors_capacity, (tensor){0});
  pop_reserve(graph->pieces, 1, graph->pieces_capacity); /* tensors without elements point here */
  if (!target) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: the target is null; fill one in with pop_target_create", call);
    return graph;
  }
  graph->construction = log_phase_begin("GRAPH", "graphConstruction");
  graph->target = *target;
  pop_error *error = pop_target_validate(target);
  if (error)
    graph_fail(graph, pop_error_prefix(error, "%s", call));
  else
    graph->num_tiles = pop_target_num_tiles(target);
  return graph;
}

typedef struct creation {
  const char *call;
  const pop_target *target;
  pop_graph *graph;
} creation;

static pop_error *create_in_memory(void *context)
{
  creation *c = context;
  c->graph = create(c->call, c->target);
  return NULL;
}

/* The graph that is returned if there is no memory for one. It has an error, so calls on it do
 * nothing. */
static pop_graph without_memory = {.base.kind = OBJECT_GRAPH,
                                   .top = &without_memory,
                                   .num_replicas = 1,
                                   .turn = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

static pop_graph *try_to_create(const char *call, const pop_target *target)
{
  creation c = {call, target, NULL};
  pop_error *error = pop_with_memory(call, create_in_memory, &c);
  if (!error) return c.graph;
  pop_error_free(error);
  without_memory.error = pop_error_out_of_memory(); /* always the same */
  return &without_memory;
}

pop_graph *pop_graph_create(const pop_target *target)
{
  return try_to_create("pop_graph_create", target);
}

pop_graph *pop_graph_create_replicated(const pop_target *target, uint32_t replication_factor)
{
  static const char call[] = "pop_graph_create_replicated";
  pop_graph *graph = try_to_create(call, target);
  if (graph->error) return graph;
  uint32_t num_ipus = target->num_ipus;
  if (replication_factor == 0 || (!graph_is_for_host(graph) && num_ipus % replication_factor)) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: %u replicas on %u IPUs; each replica has as many IPUs as the others, at least "
                "one",
                call, replication_factor, num_ipus);
    return graph;
  }
  if (replication_factor > POP_TARGET_MAX_IPUS) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT, "%s: %u replicas; the CPU has at most %d", call,
                replication_factor, POP_TARGET_MAX_IPUS);
    return graph;
  }
  graph->num_replicas = replication_factor;
  if (!graph_is_for_host(graph)) graph->target.num_ipus = num_ipus / replication_factor;
  graph->num_tiles = pop_target_num_tiles(&graph->target);
  return graph;
}

uint32_t pop_graph_replication_factor(const pop_graph *graph)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return 1;
  return graph->replication ? graph->num_replicas : graph->top->num_replicas;
}

pop_graph *pop_graph_retain(pop_graph *graph)
{
  if (graph_lives(graph, __func__)) object_use(&graph->top->base);
  return graph;
}

void pop_graph_release(pop_graph *graph)
{
  if (graph && graph_lives(graph, __func__)) pop_graph_free(graph->top);
}

void pop_graph_free(pop_graph *graph)
{
  /* A virtual graph is freed with its top-level graph. */
  if (object_lives(graph, OBJECT_GRAPH) && graph->parent) return;
  if (graph == &without_memory) return;
  if (!object_release(graph, OBJECT_GRAPH, __func__)) return;
  for (size_t i = 0; i < graph->num_variables; i++) {
    free(graph->variables[i].initial);
    free(graph->variables[i].mapping);
  }
  for (size_t i = 0; i < graph->num_programs; i++) free(graph->programs[i].children);
  for (size_t i = 0; i < graph->num_codelets; i++) pop_gp_free(graph->codelets[i]);
  for (size_t i = 0; i < graph->num_merged; i++) pop_gp_free(graph->merged[i]);
  void *const arrays[] = {graph->variables,    graph->tensors,      graph->pieces,
                          graph->dims,         graph->codelets,     graph->vertex_types,
                          graph->compute_sets, graph->vertices,     graph->edges,
                          graph->row_tensors,  graph->field_values, graph->programs,
                          graph->handles,      graph->streams,      graph->remote_buffers,
                          graph->replications, graph->merged};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
  pop_name_table_free(&graph->vertex_type_names);
  for (size_t i = 0; i < 2; i++) pop_name_table_free(&graph->handle_names[i]);
  pop_name_table_free(&graph->stream_names);
  pop_name_table_free(&graph->remote_buffer_names);
  for (pop_graph *view = graph->next, *next; view; view = next) {
    next = view->next;
    free(view->numbers);
    object_delete(&view->base);
  }
  view_scratch_free(graph->scratch);
  pthread_mutex_destroy(&graph->turn);
  pop_error_free(graph->error);
  pop_arena_free(graph->arena);
  object_delete(&graph->base);
}

void graph_end_construction(pop_graph *graph)
{
  if (graph->is_constructed) return;
  graph->is_constructed = true;
  graph->construction = log_phase_measure(&graph->construction);
}

void graph_say_construction(pop_graph *graph)
{
  log_phase_say(&graph->construction);
  graph->construction.name = NULL;
}

const pop_target *pop_graph_get_target(const pop_graph *graph)
{
  return graph_lives(graph, __func__) ? &graph->target : NULL;
}

const pop_error *pop_graph_error(const pop_graph *graph)
{
  GRAPH_TURN(graph);
  return object_lives(graph, OBJECT_GRAPH) ? graph->top->error : graph_invalid_error(graph);
}

pop_error *pop_graph_take_error(pop_graph *graph)
{
  GRAPH_TURN(graph);
  if (!object_lives(graph, OBJECT_GRAPH)) return graph_take_invalid_error(graph);
  pop_error *error = graph->top->error;
  if (graph->top != &without_memory) graph->top->error = NULL;
  return error;
}

void graph_fail(pop_graph *graph, pop_error *error)
{
  graph = graph->top;
  if (graph->error) {
    pop_error_free(error);
    return;
  }
  graph->error = error;
  log_write(LOG_ERR, "GRAPH", "%s", pop_error_message(error));
}

/* ---- compiling ---- */

void pop_graph_set_progress(pop_graph *graph,
                            void (*progress)(void *context, unsigned done, unsigned total),
                            void *context)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return;
  graph->top->progress = progress;
  graph->top->progress_context = context;
}

void graph_report_progress(const pop_graph *graph, unsigned done, unsigned total)
{
  if (!graph->progress) return;
  pop_memory_hold(); /* nothing jumps across the user's function */
  graph->progress(graph->progress_context, done, total);
  pop_memory_release();
}
