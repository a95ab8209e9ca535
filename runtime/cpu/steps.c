/* Lowers the graph's programs to steps, one for one, and describes the tensors and streams that the
 * host knows. */
#include "cpu/cpu_private.h"

#include <stdlib.h>

/* ---- host ---- */

static uint32_t add_host_tensor(cpu_compilation *c, const char *name, uint32_t number,
                                executable_tensor_kind kind, uint32_t num_replicas)
{
  cpu_program *p = c->p;
  const tensor *t = &c->graph->tensors[number];
  size_t *shape = pop_arena_alloc(p->arena, (t->rank + 1) * sizeof *shape);
  for (uint32_t i = 0; i < t->rank; i++) shape[i] = t->shape[i];
  cpu_host_tensor made = {.name = pop_arena_strdup(p->arena, name),
                          .kind = kind,
                          .type = t->type,
                          .rank = t->rank,
                          .shape = shape,
                          .num_elements = t->num_elements,
                          .num_replicas = num_replicas,
                          .view = cpu_add_view(c, number)};
  pop_push(p->host_tensors, p->num_host_tensors, p->host_tensors_capacity, made);
  return (uint32_t)(p->num_host_tensors - 1);
}

void cpu_lower_handles(cpu_compilation *c)
{
  for (size_t i = 0; i < c->graph->num_handles; i++) {
    const host_handle *handle = &c->graph->handles[i];
    add_host_tensor(c, handle->name, handle->tensor,
                    handle->read ? EXECUTABLE_READ : EXECUTABLE_WRITE, handle->num_replicas);
  }
  for (size_t i = 0; i < c->graph->num_variables; i++) {
    const variable *v = &c->graph->variables[i];
    if (v->is_replica_index) add_host_tensor(c, v->name, v->tensor, EXECUTABLE_REPLICA_INDEX, 1);
  }
  for (size_t i = 0; i < c->graph->num_streams; i++) {
    const host_stream *s = &c->graph->streams[i];
    executable_stream made = {.name = pop_arena_strdup(c->p->arena, s->name),
                              .type = s->type,
                              .to_device = s->to_device,
                              .num_elements = s->num_elements,
                              .depth = s->depth,
                              .broadcast = s->mode == POP_STREAM_BROADCAST,
                              .replica = s->replica,
                              .num_replicas = s->num_replicas};
    pop_push(c->p->streams, c->p->num_streams, c->p->streams_capacity, made);
  }
  for (size_t i = 0; i < c->graph->num_remote_buffers; i++) {
    const remote_buffer *b = &c->graph->remote_buffers[i];
    executable_remote_buffer made = {.name = pop_arena_strdup(c->p->arena, b->name),
                                     .type = b->type,
                                     .num_elements = b->num_elements,
                                     .repeats = b->repeats,
                                     .replica = b->replica,
                                     .num_replicas = b->num_replicas};
    pop_push(c->p->remote_buffers, c->p->num_remote_buffers, c->p->remote_buffers_capacity, made);
  }
}

static uint32_t add_event(cpu_compilation *c, const char *name, const char *message,
                          executable_event_kind kind, uint32_t tensor)
{
  cpu_program *p = c->p;
  executable_event event = {.kind = kind,
                            .name = pop_arena_strdup(p->arena, name),
                            .message = pop_arena_strdup(p->arena, message ? message : ""),
                            .tensor = tensor,
                            .tile = EXECUTABLE_NONE};
  pop_push(p->events, p->num_events, p->events_capacity, event);
  return (uint32_t)p->num_events;
}

/* ---- steps ---- */

static void set_control(cpu_compilation *c, uint32_t tensor, cpu_step *step)
{
  step->control = cpu_view_place(c->p, cpu_add_view(c, tensor));
  step->type = c->graph->tensors[tensor].type;
}

static void add_values(cpu_compilation *c, const program *from, cpu_step *step)
{
  cpu_program *p = c->p;
  step->first_value = p->num_values;
  for (size_t i = 0; i + 1 < from->num_children; i++)
    pop_push(p->values, p->num_values, p->values_capacity, from->case_values[i]);
}

/* A host exchange with one window, which covers the copy or the remote buffer. */
static void set_host_exchange(cpu_compilation *c, const program *from, executable_window window,
                              cpu_step *step)
{
  cpu_program *p = c->p;
  step->kind = CPU_HOST_EXCHANGE;
  step->other = cpu_add_view(c, from->source);
  step->rows = CPU_NONE;
  step->index = add_event(c, from->name, from->message, EXECUTABLE_EVENT_EXCHANGE, 0);
  p->events[step->index - 1].first_window = p->num_windows;
  p->events[step->index - 1].num_windows = 1;
  pop_push(p->windows, p->num_windows, p->windows_capacity, window);
}

static void set_stream_copy(cpu_compilation *c, const program *from, cpu_step *step)
{
  executable_stream *s = &c->p->streams[from->stream];
  executable_window window = {
      .object = from->stream, .bytes = s->num_elements * pop_type_bytes(s->type), .records = 1};
  set_host_exchange(c, from, window, step);
  step->to_device = s->to_device;
  s->is_used = true;
}

static void set_remote_copy(cpu_compilation *c, const program *from, cpu_step *step)
{
  executable_remote_buffer *b = &c->p->remote_buffers[from->stream];
  executable_window window = {.remote = true,
                              .object = from->stream,
                              .bytes = b->num_elements * pop_type_bytes(b->type),
                              .records = b->repeats};
  set_host_exchange(c, from, window, step);
  step->to_device = from->to_device;
  if (from->destination) step->rows = cpu_add_view(c, from->destination);
  b->is_used = true;
}

static void set_replica_copy(cpu_compilation *c, const program *from, cpu_step *step)
{
  cpu_program *p = c->p;
  step->kind = CPU_REPLICA_COPY;
  step->index = cpu_add_view(c, from->source);
  step->other = cpu_add_view(c, from->destination);
  step->first_value = p->num_values;
  for (uint32_t i = 0; i < p->num_replicas; i++)
    pop_push(p->values, p->num_values, p->values_capacity, from->replica_map[i]);
}

cpu_step cpu_print_step(cpu_compilation *c, const char *name, const char *message, uint32_t tensor)
{
  uint32_t printed = add_host_tensor(c, name, tensor, EXECUTABLE_PRINT, 1);
  return (cpu_step){.kind = CPU_EVENT,
                    .index = add_event(c, name, message, EXECUTABLE_EVENT_PRINT, printed)};
}

static void set_comparison(cpu_compilation *c, const program *from, cpu_step *step)
{
  uint32_t compared = add_host_tensor(c, from->name, from->source, EXECUTABLE_COMPARE, from->count);
  step->kind = CPU_EVENT;
  step->index = add_event(c, from->name, from->message, EXECUTABLE_EVENT_ASSUME_EQUAL, compared);
}

/* A program that has no effect here is an empty sequence. */
static pop_error *make_step(cpu_compilation *c, const program *from, cpu_step *step)
{
  step->count = from->count;
  switch (from->kind) {
  case PROGRAM_SEQUENCE:
  case PROGRAM_CALL:
  case PROGRAM_BLOCK:
  case PROGRAM_SYNC:
  case PROGRAM_NOP:
  case PROGRAM_WRITE_UNDEF:
    step->kind = CPU_SEQUENCE;
    return NULL;
  case PROGRAM_EXECUTE:
    step->kind = CPU_EXECUTE;
    step->index = c->compute_sets[from->compute_set];
    return NULL;
  case PROGRAM_COPY:
    step->kind = CPU_COPY;
    step->index = cpu_add_view(c, from->source);
    step->other = cpu_add_view(c, from->destination);
    return NULL;
  case PROGRAM_REPEAT:
    step->kind = CPU_REPEAT;
    return NULL;
  case PROGRAM_SWITCH:
    step->kind = CPU_SWITCH;
    set_control(c, from->source, step);
    add_values(c, from, step);
    return NULL;
  case PROGRAM_WHILE:
    step->kind = CPU_WHILE;
    set_control(c, from->source, step);
    return NULL;
  case PROGRAM_STREAM_COPY:
    set_stream_copy(c, from, step);
    return NULL;
  case PROGRAM_REMOTE_COPY:
    set_remote_copy(c, from, step);
    return NULL;
  case PROGRAM_PRINT_TENSOR:
    *step = cpu_print_step(c, from->name, from->message, from->source);
    return NULL;
  case PROGRAM_ASSUME_EQUAL:
    step->kind = CPU_SEQUENCE;
    if (c->options.check_equality) set_comparison(c, from, step);
    return NULL;
  case PROGRAM_REPLICA_COPY:
    set_replica_copy(c, from, step);
    return NULL;
  case PROGRAM_ABORT:
    step->kind = from->source ? CPU_EVENT_IF : CPU_EVENT;
    step->index = add_event(c, from->name, from->message, EXECUTABLE_EVENT_ABORT, 0);
    if (from->source) set_control(c, from->source, step);
    return NULL;
  default: /* a kind that is missing in this list */
    return pop_error_new(POP_ERROR_CONTROL_PROGRAM,
                         "program '%s' is of a kind that the CPU device cannot run", from->name);
  }
}

uint32_t cpu_add_step(cpu_compilation *c, const cpu_step *step)
{
  pop_push(c->p->steps, c->p->num_steps, c->p->steps_capacity, *step);
  return (uint32_t)(c->p->num_steps - 1);
}

/* In reach.order a program comes behind all that it contains. The children of a Repeat of 0 times
 * are not in it. */
static pop_error *lower_program(cpu_compilation *c, uint32_t number, uint32_t *steps)
{
  cpu_program *p = c->p;
  const program *from = &c->graph->programs[number];
  bool dead = from->kind == PROGRAM_REPEAT && from->count == 0;
  cpu_step step = {.first_child = p->num_children, .num_children = dead ? 0 : from->num_children};
  for (size_t i = 0; i < step.num_children; i++)
    pop_push(p->children, p->num_children, p->children_capacity, steps[from->children[i]]);
  POP_TRY(make_step(c, from, &step));
  steps[number] = cpu_add_step(c, &step);
  if (c->options.trace) steps[number] = cpu_trace_step(c, from, steps[number]);
  return NULL;
}

pop_error *cpu_lower_programs(cpu_compilation *c, const uint32_t *programs, size_t num_programs)
{
  cpu_program *p = c->p;
  uint32_t *steps = pop_xcalloc(c->graph->num_programs + 1, sizeof *steps);
  pop_error *error = NULL;
  for (size_t i = 0; i < c->reach.num_order && !error; i++)
    error = lower_program(c, c->reach.order[i], steps);
  for (size_t i = 0; i < num_programs && !error; i++) {
    const char *name = c->graph->programs[programs[i]].name;
    pop_push(p->programs, p->num_programs, p->programs_capacity, steps[programs[i]]);
    pop_push(p->program_names, p->num_program_names, p->program_names_capacity,
             pop_arena_strdup(p->arena, name));
  }
  free(steps);
  return error;
}
