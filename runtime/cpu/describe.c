/* What a host program can ask an executable for the CPU. It has no tiles and no tile memory. */
#include "cpu/cpu_private.h"

static const size_t *copy_shape(pop_executable *e, const cpu_host_tensor *t)
{
  size_t *shape = executable_new_shape(e, t->rank);
  for (uint32_t i = 0; i < t->rank; i++) shape[i] = t->shape[i];
  return shape;
}

static void describe_tensor(const cpu_host_tensor *t, pop_executable *e)
{
  executable_tensor tensor = {.name = pop_arena_strdup(e->arena, t->name),
                              .kind = t->kind,
                              .type = t->type,
                              .rank = t->rank,
                              .shape = copy_shape(e, t),
                              .num_elements = t->num_elements,
                              .num_replicas = t->num_replicas};
  pop_push(e->tensors, e->num_tensors, e->tensors_capacity, tensor);
}

void cpu_describe(const cpu_program *p, pop_executable *e)
{
  e->target = p->target;
  e->num_replicas = p->num_replicas;
  e->version = POPULUS_VERSION;
  for (size_t i = 0; i < p->num_program_names; i++)
    pop_push(e->programs, e->num_programs, e->programs_capacity,
             pop_arena_strdup(e->arena, p->program_names[i]));
  for (size_t i = 0; i < p->num_host_tensors; i++) describe_tensor(&p->host_tensors[i], e);
  for (size_t i = 0; i < p->num_events; i++) {
    executable_event event = p->events[i];
    event.name = pop_arena_strdup(e->arena, event.name);
    event.message = pop_arena_strdup(e->arena, event.message);
    pop_push(e->events, e->num_events, e->events_capacity, event);
  }
  for (size_t i = 0; i < p->num_streams; i++) {
    executable_stream stream = p->streams[i];
    stream.name = pop_arena_strdup(e->arena, stream.name);
    pop_push(e->streams, e->num_streams, e->streams_capacity, stream);
  }
  for (size_t i = 0; i < p->num_remote_buffers; i++) {
    executable_remote_buffer buffer = p->remote_buffers[i];
    buffer.name = pop_arena_strdup(e->arena, buffer.name);
    pop_push(e->remote_buffers, e->num_remote_buffers, e->remote_buffers_capacity, buffer);
  }
  for (size_t i = 0; i < p->num_windows; i++)
    pop_push(e->windows, e->num_windows, e->windows_capacity, p->windows[i]);
}
