#include "engine/remote_buffers.h"

#include "engine/find_name.h"
#include <stdlib.h>
#include <string.h>

struct remote_buffers {
  const executable_remote_buffer *facts;
  size_t count;
  uint8_t **memory;   /* NULL until the engine is loaded */
  const char **names; /* by buffer */
  char **titles;      /* "remote buffer 'x'" */
};

static uint64_t row_bytes(const executable_remote_buffer *facts)
{
  return facts->num_elements * pop_type_bytes(facts->type);
}

remote_buffers *remote_buffers_new(const pop_executable *executable)
{
  size_t count = executable->num_remote_buffers;
  remote_buffers *r = pop_xcalloc(1, sizeof *r);
  *r = (remote_buffers){.facts = executable->remote_buffers,
                        .count = count,
                        .memory = pop_xcalloc(count + 1, sizeof *r->memory),
                        .names = pop_xcalloc(count + 1, sizeof *r->names),
                        .titles = pop_xcalloc(count + 1, sizeof *r->titles)};
  for (size_t i = 0; i < count; i++) {
    r->names[i] = r->facts[i].name;
    r->titles[i] = pop_xasprintf("remote buffer '%s'", r->names[i]);
  }
  return r;
}

static void free_memory(remote_buffers *r)
{
  for (size_t i = 0; i < r->count; i++) {
    free(r->memory[i]);
    r->memory[i] = NULL;
  }
}

void remote_buffers_free(remote_buffers *r)
{
  if (!r) return;
  free_memory(r);
  for (size_t i = 0; i < r->count; i++) free(r->titles[i]);
  free(r->titles);
  free(r->names);
  free(r->memory);
  free(r);
}

pop_error *remote_buffers_restart(remote_buffers *r)
{
  free_memory(r);
  for (size_t i = 0; i < r->count; i++) {
    const executable_remote_buffer *facts = &r->facts[i];
    r->memory[i] = calloc(facts->repeats, row_bytes(facts));
    if (!r->memory[i])
      return pop_error_new(
          POP_ERROR_MEMORY, "no memory for %s: %llu rows of %llu bytes (%llu elements of type %s)",
          r->titles[i], (unsigned long long)facts->repeats, (unsigned long long)row_bytes(facts),
          (unsigned long long)facts->num_elements, pop_type_name(facts->type));
  }
  return NULL;
}

pop_error *remote_buffers_find(const remote_buffers *r, const char *call, const char *handle,
                               size_t *number, uint32_t *num_replicas)
{
  pop_error *error =
      find_name(POP_ERROR_UNKNOWN_HANDLE, "remote buffer", handle, r->names, r->count, number);
  if (error) return pop_error_prefix(error, "%s", call);
  *num_replicas = r->facts[*number].num_replicas;
  return NULL;
}

pop_error *remote_buffers_row(const remote_buffers *r, const char *call, size_t number, size_t row,
                              size_t bytes, uint8_t **memory)
{
  const executable_remote_buffer *facts = &r->facts[number];
  if (row >= facts->repeats)
    return pop_error_new(POP_ERROR_INDEX, "%s: %s has rows 0 to %llu, not %zu", call,
                         r->titles[number], (unsigned long long)facts->repeats - 1, row);
  if (bytes != row_bytes(facts))
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "%s: a row of %s has %llu bytes (%llu elements of type %s), not %zu", call,
                         r->titles[number], (unsigned long long)row_bytes(facts),
                         (unsigned long long)facts->num_elements, pop_type_name(facts->type),
                         bytes);
  *memory = r->memory[number] + row * row_bytes(facts);
  return NULL;
}

uint8_t *remote_buffers_memory(const remote_buffers *r, const executable_window *window)
{
  return r->memory[window->object] + window->begin;
}

const char *remote_buffers_name(const remote_buffers *r, uint32_t buffer)
{
  return r->titles[buffer];
}
