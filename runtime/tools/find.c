#include "find.h"

#include <populus/arena.h>
#include <populus/names.h>
#include <stdlib.h>
#include <string.h>

/* One of the things of a kind that the executable has. */
typedef struct candidate {
  const char *name;
  uint32_t num_replicas;
  bool remote;   /* a remote buffer, among handles */
  size_t number; /* in the executable */
} candidate;

typedef struct candidates {
  candidate *list;
  size_t count, capacity;
} candidates;

static void add(candidates *c, const char *name, uint32_t num_replicas, bool remote, size_t number)
{
  pop_push(c->list, c->count, c->capacity, (candidate){name, num_replicas, remote, number});
}

/* ---- NAME or NAME@REPLICA ---- */

/* The text is the name, '@' and a number, which is UINT32_MAX if it is too large. */
static bool has_replica(const char *text, const char *name, uint32_t *replica)
{
  size_t length = strlen(name);
  if (strncmp(text, name, length) != 0 || text[length] != '@') return false;
  const char *digits = text + length + 1;
  if (!*digits || strspn(digits, "0123456789") != strlen(digits)) return false;
  unsigned long long number = strtoull(digits, NULL, 10);
  *replica = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
  return true;
}

static pop_error *unknown(const candidates *c, const char *what, const char *text,
                          const char *purpose)
{
  const char **names = pop_xcalloc(c->count + 1, sizeof *names);
  for (size_t i = 0; i < c->count; ++i) names[i] = c->list[i].name;
  const char *near = pop_nearest_name(text, names, c->count);
  free(names);
  return pop_error_new(POP_ERROR_UNKNOWN_HANDLE,
                       "the archive has no %s '%s' to %s%s%s%s; --list shows all", what, text,
                       purpose, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* A name may contain an '@', so the whole text is searched for first. */
static pop_error *choose(const candidates *c, const char *what, const char *text,
                         const char *purpose, const candidate **chosen, uint32_t *replica)
{
  *replica = ALL_REPLICAS;
  *chosen = NULL;
  for (size_t i = 0; i < c->count && !*chosen; ++i)
    if (strcmp(c->list[i].name, text) == 0) *chosen = &c->list[i];
  if (*chosen) return NULL;
  for (size_t i = 0; i < c->count && !*chosen; ++i)
    if (has_replica(text, c->list[i].name, replica)) *chosen = &c->list[i];
  if (!*chosen) return unknown(c, what, text, purpose);
  if (*replica < (*chosen)->num_replicas) return NULL;
  return pop_error_new(
      POP_ERROR_UNKNOWN_HANDLE, "there is no '%s': '%s' is there for %u replica%s, from 0 on", text,
      (*chosen)->name, (*chosen)->num_replicas, (*chosen)->num_replicas == 1 ? "" : "s");
}

/* ---- handles and remote buffers ---- */

static pop_error *list_handles(const pop_executable *executable, bool read, candidates *c)
{
  for (size_t i = 0; i < pop_executable_num_handles(executable); ++i) {
    pop_handle_info info;
    POP_TRY(pop_executable_handle(executable, i, &info));
    if (info.read == read) add(c, info.name, info.num_replicas, false, i);
  }
  for (size_t i = 0; i < pop_executable_num_remote_buffers(executable); ++i) {
    pop_remote_buffer_info info;
    POP_TRY(pop_executable_remote_buffer(executable, i, &info));
    add(c, info.name, info.num_replicas, true, i);
  }
  return NULL;
}

/* Narrows a shape of all replicas, which has the replicas first if there are several, to the
 * replicas that are meant. */
static void take_shape(found_thing *found, const char *what, const char *text, uint32_t replicas,
                       pop_type type, const size_t *shape, uint32_t rank)
{
  bool one = found->replica != ALL_REPLICAS && replicas > 1;
  if (one) shape++, rank--;
  size_t bytes = pop_type_bytes(type);
  for (uint32_t i = 0; i < rank; ++i) bytes *= shape[i];
  found->num_replicas = one ? 1 : replicas;
  found->use = (tensor_use){.what = what,
                            .name = text,
                            .type = type,
                            .rank = rank,
                            .shape = shape,
                            .bytes = bytes,
                            .parts = found->num_replicas};
}

static pop_error *take_handle(const pop_executable *executable, const candidate *of,
                              const char *text, found_thing *found)
{
  pop_handle_info info;
  POP_TRY(pop_executable_handle(executable, of->number, &info));
  take_shape(found, "handle", text, info.num_replicas, info.type, info.shape, info.rank);
  return NULL;
}

static pop_error *take_remote_buffer(const pop_executable *executable, const candidate *of,
                                     const char *text, found_thing *found)
{
  pop_remote_buffer_info info;
  POP_TRY(pop_executable_remote_buffer(executable, of->number, &info));
  uint32_t more = info.num_replicas > 1;
  found->num_rows = info.repeats;
  found->shape[0] = info.num_replicas;
  found->shape[more] = info.repeats;
  found->shape[more + 1] = info.num_elements;
  take_shape(found, "remote buffer", text, info.num_replicas, info.type, found->shape, 2 + more);
  return NULL;
}

pop_error *find_handle(const pop_executable *executable, const char *text, bool read,
                       found_thing *found)
{
  candidates c = {0};
  const candidate *chosen = NULL;
  *found = (found_thing){0};
  pop_error *error = list_handles(executable, read, &c);
  if (!error) error = choose(&c, "handle", text, read ? "read" : "write", &chosen, &found->replica);
  if (chosen) found->name = chosen->name;
  if (!error && chosen)
    error = chosen->remote ? take_remote_buffer(executable, chosen, text, found)
                           : take_handle(executable, chosen, text, found);
  free(c.list);
  return error;
}

/* ---- streams ---- */

static pop_error *list_streams(const pop_executable *executable, bool to_device, candidates *c)
{
  for (size_t i = 0; i < pop_executable_num_streams(executable); ++i) {
    pop_stream_info info;
    POP_TRY(pop_executable_stream(executable, i, &info));
    if (info.to_device == to_device)
      add(c, info.name, info.broadcast ? 1 : info.num_replicas, false, i);
  }
  return NULL;
}

static pop_error *take_stream(const pop_executable *executable, const candidate *of,
                              const char *text, found_thing *found)
{
  pop_stream_info info;
  POP_TRY(pop_executable_stream(executable, of->number, &info));
  uint32_t more = of->num_replicas > 1;
  found->shape[0] = of->num_replicas;
  found->shape[more] = info.num_elements;
  take_shape(found, "stream", text, of->num_replicas, info.type, found->shape, 1 + more);
  found->use.parts = 1; /* each copy is of all */
  found->use.repeats = true;
  return NULL;
}

pop_error *find_stream(const pop_executable *executable, const char *text, bool to_device,
                       found_thing *found)
{
  candidates c = {0};
  const candidate *chosen = NULL;
  *found = (found_thing){0};
  pop_error *error = list_streams(executable, to_device, &c);
  if (!error)
    error = choose(&c, "stream", text, to_device ? "feed" : "collect", &chosen, &found->replica);
  if (chosen) found->name = chosen->name;
  if (!error && chosen) error = take_stream(executable, chosen, text, found);
  free(c.list);
  return error;
}
