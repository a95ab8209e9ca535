/* Streams: a copy is one host exchange between the tiles and a buffer: part of the user's own, which is
 * gone through in a circle, or one that callbacks fill or look at. */
#include "engine/streams.h"

#include <populus/names.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct connection {
  uint8_t *begin, *end, *next; /* the user's memory; NULL: none */
  bool has_callback;
  pop_stream_callback callback;
  uint8_t *buffer; /* for callbacks; made when it is first needed */
  bool prefetched; /* the buffer has the next copy's data */
} connection;

struct streams {
  const executable_stream *facts;
  size_t count;
  connection *connections;
  double callback_seconds; /* that a callback may take; 0: no limit */
};

static size_t copy_bytes(const executable_stream *facts)
{
  return (size_t)facts->num_elements * pop_type_bytes(facts->type);
}

streams *streams_new(const pop_executable *executable)
{
  size_t count = executable->num_streams;
  streams *s = pop_xcalloc(1, sizeof *s);
  *s = (streams){.facts = executable->streams,
                 .count = count,
                 .connections = pop_xcalloc(count + 1, sizeof *s->connections)};
  return s;
}

void streams_limit_callbacks(streams *s, double seconds)
{
  s->callback_seconds = seconds;
}

static void drop_prefetched(connection *c)
{
  if (c->prefetched && c->callback.invalidate_prefetched)
    c->callback.invalidate_prefetched(c->callback.context);
  c->prefetched = false;
}

static void disconnect(connection *c)
{
  drop_prefetched(c);
  free(c->buffer);
  *c = (connection){0};
}

void streams_free(streams *s)
{
  if (!s) return;
  for (size_t i = 0; i < s->count; i++) disconnect(&s->connections[i]);
  free(s->connections);
  free(s);
}

/* ---- connecting ---- */

static pop_error *find_stream(const streams *s, const char *call, const char *handle, size_t *found)
{
  if (!handle)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "%s: the stream's handle is NULL", call);
  const char **names = pop_xcalloc(s->count + 1, sizeof *names);
  for (size_t i = 0; i < s->count; i++) {
    names[i] = s->facts[i].name;
    if (strcmp(names[i], handle) == 0) {
      *found = i;
      free(names);
      return NULL;
    }
  }
  const char *near = pop_nearest_name(handle, names, s->count);
  free(names);
  return pop_error_new(POP_ERROR_STREAM_CONNECTION, "%s: there is no stream '%s'%s%s%s", call,
                       handle,
                       near       ? "; did you mean '"
                       : s->count ? ""
                                  : "; the graph has none",
                       near ? near : "", near ? "'?" : "");
}

pop_error *streams_connect(streams *s, const char *handle, void *begin, void *end)
{
  static const char call[] = "pop_engine_connect_stream";
  size_t number;
  POP_TRY(find_stream(s, call, handle, &number));
  const executable_stream *facts = &s->facts[number];
  size_t bytes = copy_bytes(facts);
  uint8_t *first = begin, *behind = end;
  if (!first || behind <= first || (size_t)(behind - first) % bytes)
    return pop_error_new(
        POP_ERROR_STREAM_CONNECTION,
        "%s: stream '%s' is connected to %lld bytes: it needs a multiple of %zu, the "
        "bytes of one copy (%llu elements of type %s)",
        call, handle, first ? (long long)(behind - first) : 0, bytes,
        (unsigned long long)facts->num_elements, pop_type_name(facts->type));
  disconnect(&s->connections[number]);
  s->connections[number] = (connection){.begin = first, .end = behind, .next = first};
  return NULL;
}

pop_error *streams_connect_callback(streams *s, const char *handle,
                                    const pop_stream_callback *callback)
{
  static const char call[] = "pop_engine_connect_stream_callback";
  size_t number;
  POP_TRY(find_stream(s, call, handle, &number));
  if (!callback || !callback->fetch)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "%s: stream '%s': the callback %s", call,
                         handle, callback ? "has no fetch, which every stream needs" : "is NULL");
  disconnect(&s->connections[number]);
  s->connections[number] = (connection){.has_callback = true, .callback = *callback};
  return NULL;
}

static bool is_connected(const connection *c)
{
  return c->begin || c->has_callback;
}

pop_error *streams_check(const streams *s)
{
  for (size_t i = 0; i < s->count; i++)
    if (s->facts[i].is_used && !is_connected(&s->connections[i]))
      return pop_error_new(
          POP_ERROR_STREAM_CONNECTION,
          "stream '%s' (%s, %llu elements of type %s) is not connected: call "
          "pop_engine_connect_stream or pop_engine_connect_stream_callback before the "
          "program runs",
          s->facts[i].name, s->facts[i].to_device ? "host to device" : "device to host",
          (unsigned long long)s->facts[i].num_elements, pop_type_name(s->facts[i].type));
  return NULL;
}

void streams_restart(streams *s)
{
  for (size_t i = 0; i < s->count; i++) {
    drop_prefetched(&s->connections[i]);
    s->connections[i].next = s->connections[i].begin;
  }
}

/* ---- copying ---- */

static double now_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Nobody can take the thread away from a callback: what it took is looked at when it is back. */
static pop_error *call_fetch(const streams *s, const executable_stream *facts, connection *c)
{
  double start = s->callback_seconds ? now_seconds() : 0;
  int result = c->callback.fetch(c->callback.context, c->buffer);
  double seconds = s->callback_seconds ? now_seconds() - start : 0;
  if (seconds > s->callback_seconds)
    return pop_error_new(POP_ERROR_RUNTIME,
                         "the callback of stream '%s' took %.3g s; target.hostSyncTimeout is %g s",
                         facts->name, seconds, s->callback_seconds);
  if (result == 0) return NULL;
  return pop_error_new(POP_ERROR_RUNTIME, "the callback of stream '%s' failed with %d", facts->name,
                       result);
}

static pop_error *copy_by_callback(const streams *s, const executable_stream *facts, connection *c,
                                   machine *m, bool prefetch)
{
  size_t bytes = copy_bytes(facts);
  if (!c->buffer) c->buffer = pop_xcalloc(bytes, 1);
  if (facts->to_device && !c->prefetched) POP_TRY(call_fetch(s, facts, c));
  c->prefetched = false;
  POP_TRY(machine_host_exchange(m, &(machine_window){c->buffer, bytes, 1, NULL}, 1));
  if (!facts->to_device) POP_TRY(call_fetch(s, facts, c));
  if (c->callback.complete) c->callback.complete(c->callback.context);
  if (prefetch && facts->to_device && c->callback.prefetch)
    c->prefetched = c->callback.prefetch(c->callback.context, c->buffer);
  return NULL;
}

pop_error *streams_copy(streams *s, size_t number, machine *m, bool prefetch)
{
  const executable_stream *facts = &s->facts[number];
  connection *c = &s->connections[number];
  if (!is_connected(c)) return streams_check(s);
  if (c->has_callback) return copy_by_callback(s, facts, c, m, prefetch);
  size_t bytes = copy_bytes(facts);
  POP_TRY(machine_host_exchange(m, &(machine_window){c->next, bytes, 1, NULL}, 1));
  c->next += bytes;
  if (c->next == c->end) c->next = c->begin;
  return NULL;
}
