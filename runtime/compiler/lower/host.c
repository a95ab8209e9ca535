/* Tensors that the host reads, writes or prints: where their elements are, in element order. */
#include "compiler/lower/lowering.h"
#include "compiler/segments.h"

static const size_t *copy_shape(pop_arena *arena, const tensor *t)
{
  size_t *shape = pop_arena_alloc(arena, (t->rank + 1) * sizeof *shape);
  for (uint32_t i = 0; i < t->rank; i++) shape[i] = t->shape[i];
  return shape;
}

static uint32_t add_host_tensor(compilation *c, uint32_t tensor_number, const char *name,
                                host_tensor_kind kind, uint32_t num_replicas)
{
  const tensor *t = &c->graph->tensors[tensor_number];
  host_tensor added = {.name = pop_arena_strdup(c->arena, name),
                       .kind = kind,
                       .type = t->type,
                       .rank = t->rank,
                       .shape = copy_shape(c->arena, t),
                       .num_elements = t->num_elements,
                       .num_replicas = num_replicas,
                       .first_run = c->num_host_runs};
  segment_walk walk;
  segment found;
  segment_walk_start(&walk, c, tensor_number);
  while (segment_walk_next(&walk, &found))
    pop_push(c->host_runs, c->num_host_runs, c->host_runs_capacity, found);
  added.num_runs = c->num_host_runs - added.first_run;
  pop_push(c->host_tensors, c->num_host_tensors, c->host_tensors_capacity, added);
  return (uint32_t)(c->num_host_tensors - 1);
}

void lower_handles(compilation *c)
{
  const pop_graph *graph = c->graph;
  for (size_t i = 0; i < graph->num_handles; i++) {
    const host_handle *handle = &graph->handles[i];
    add_host_tensor(c, handle->tensor, handle->name, handle->read ? HOST_READ : HOST_WRITE,
                    handle->num_replicas);
  }
  /* A replica index that is not mapped is on no tile, and nobody reads it. */
  for (size_t i = 0; i < graph->num_variables; i++)
    if (graph->variables[i].is_replica_index && c->variables[i].num_intervals)
      add_host_tensor(c, graph->variables[i].tensor, graph->variables[i].name, HOST_REPLICA_INDEX,
                      1);
}

uint32_t add_host_event(lowering *l, const host_event *event)
{
  compilation *c = l->c;
  pop_push(c->host_events, c->num_host_events, c->host_events_capacity, *event);
  return add_step(l, STEP_HOST_EVENT, event->name, (uint32_t)c->num_host_events);
}

/* Adds the step in which the host reads a host tensor. */
static uint32_t add_view(lowering *l, uint32_t viewed, host_event event)
{
  compilation *c = l->c;
  event.name = c->host_tensors[viewed].name;
  event.index = viewed;
  uint32_t added = add_host_event(l, &event);
  begin_accesses(l, added);
  const host_tensor *t = &c->host_tensors[viewed];
  for (size_t i = 0; i < t->num_runs; i++) record_read(l, c->host_runs[t->first_run + i].at.block);
  end_accesses(l, added);
  return added;
}

uint32_t lower_host_view(lowering *l, const program *viewed)
{
  bool prints = viewed->kind == PROGRAM_PRINT_TENSOR;
  uint32_t added = add_host_tensor(l->c, viewed->source, viewed->name,
                                   prints ? HOST_PRINT : HOST_COMPARE, prints ? 1 : viewed->count);
  return add_view(
      l, added,
      (host_event){.kind = prints ? HOST_EVENT_PRINT : HOST_EVENT_ASSUME_EQUAL,
                   .message = pop_arena_strdup(l->c->arena, prints ? viewed->message : "")});
}

uint32_t lower_traced_tensor(lowering *l, uint32_t tensor, const char *title)
{
  uint32_t added = add_host_tensor(l->c, tensor, title, HOST_PRINT, 1);
  return add_view(l, added, (host_event){.kind = HOST_EVENT_TRACE});
}
