/* Streams: a copy is an exchange between the tiles and a buffer. The buffer is a part of the user's
 * memory, which is used as a ring buffer, or one that callbacks fill or read. A copy in several
 * parts has one buffer for all of them. */
#include "engine/streams.h"

#include "engine/find_name.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct buffer_list {
  uint8_t **items;
  size_t count, capacity;
} buffer_list;

struct callback_turn {
  uint32_t connections; /* number of connections that share it */
  uint32_t open;        /* copies to the device that have begun and are not completed */
};

typedef struct connection {
  uint8_t *begin, *end, *next; /* the user's memory; NULL: none */
  size_t step;                 /* distance of consecutive copies */
  bool has_callback;
  pop_stream_callback callback;
  callback_turn *turn; /* of the callback */
  const void *user;    /* what the callback uses besides its context, or NULL */
  /* Buffers of callbacks, each for one copy, allocated on demand: all of them; the unused ones;
   * those filled by prefetching, oldest first. */
  buffer_list buffers, unused, prefetched;
  uint8_t *current; /* of the copy that has begun */
} connection;

struct streams {
  const executable_stream *facts;
  const char **names; /* by stream */
  size_t count;
  connection *connections;
  streams *leader;         /* has the connections of broadcast streams; NULL: itself */
  uint32_t max_lookahead;  /* copies that may be prefetched; 0: the stream's depth */
  double callback_seconds; /* most that a callback may take; 0: no limit */
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
                 .names = pop_xcalloc(count + 1, sizeof *s->names),
                 .count = count,
                 .connections = pop_xcalloc(count + 1, sizeof *s->connections)};
  for (size_t i = 0; i < count; i++) s->names[i] = s->facts[i].name;
  return s;
}

void streams_follow(streams *s, streams *leader)
{
  s->leader = leader;
}

void streams_limit_callbacks(streams *s, double seconds)
{
  s->callback_seconds = seconds;
}

void streams_limit_lookahead(streams *s, uint32_t copies)
{
  s->max_lookahead = copies;
}

uint32_t streams_lookahead(const streams *s, size_t number)
{
  uint32_t depth = s->facts[number].depth;
  return s->max_lookahead && s->max_lookahead < depth ? s->max_lookahead : depth;
}

static void push_buffer(buffer_list *list, uint8_t *buffer)
{
  pop_push(list->items, list->count, list->capacity, buffer);
}

/* Cleans up after any run: every buffer is unused again. */
static void drop_prefetched(connection *c)
{
  if (c->prefetched.count && c->callback.invalidate_prefetched)
    c->callback.invalidate_prefetched(c->callback.context);
  c->prefetched.count = c->unused.count = 0;
  for (size_t i = 0; i < c->buffers.count; i++) push_buffer(&c->unused, c->buffers.items[i]);
  c->current = NULL;
  if (c->turn) c->turn->open = 0;
}

static void disconnect(connection *c)
{
  drop_prefetched(c);
  for (size_t i = 0; i < c->buffers.count; i++) free(c->buffers.items[i]);
  free(c->buffers.items);
  free(c->unused.items);
  free(c->prefetched.items);
  if (c->turn && --c->turn->connections == 0) free(c->turn);
  *c = (connection){0};
}

void streams_free(streams *s)
{
  if (!s) return;
  for (size_t i = 0; i < s->count; i++) disconnect(&s->connections[i]);
  free(s->names);
  free(s->connections);
  free(s);
}

/* ---- connecting ---- */

pop_error *streams_find(const streams *s, const char *call, const char *handle, size_t *number,
                        uint32_t *num_replicas)
{
  pop_error *error =
      find_name(POP_ERROR_STREAM_CONNECTION, "stream", handle, s->names, s->count, number);
  if (error) return pop_error_prefix(error, "%s", call);
  *num_replicas = s->facts[*number].num_replicas;
  return NULL;
}

pop_error *streams_connect(streams *s, const char *call, size_t number, void *begin, void *end,
                           stream_share share)
{
  const executable_stream *facts = &s->facts[number];
  if (facts->broadcast) share = (stream_share){0, 1};
  size_t bytes = copy_bytes(facts) * share.of;
  uint8_t *first = begin, *behind = end;
  if (!bytes && first == behind) return NULL; /* nothing will be copied */
  if (!first || !bytes || behind <= first || (size_t)(behind - first) % bytes)
    return pop_error_new(
        POP_ERROR_STREAM_CONNECTION,
        "%s: stream '%s' is connected to %lld bytes: it needs a multiple of %zu, the "
        "bytes of one copy%s (%llu elements of type %s)",
        call, facts->name, first ? (long long)(behind - first) : 0, bytes,
        share.of > 1 ? " for each replica" : "", (unsigned long long)facts->num_elements,
        pop_type_name(facts->type));
  disconnect(&s->connections[number]);
  first += share.number * copy_bytes(facts);
  s->connections[number] =
      (connection){.begin = first, .end = behind, .next = first, .step = bytes};
  return NULL;
}

pop_error *streams_connect_callback(streams *s, const char *call, size_t number,
                                    const pop_stream_callback *callback, callback_turn **turn)
{
  if (!callback || !callback->fetch)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "%s: stream '%s': the callback %s", call,
                         s->names[number],
                         callback ? "has no fetch, which every stream needs" : "is NULL");
  disconnect(&s->connections[number]);
  if (!*turn) *turn = pop_xcalloc(1, sizeof **turn);
  (*turn)->connections++;
  s->connections[number] = (connection){.has_callback = true, .callback = *callback, .turn = *turn};
  return NULL;
}

/* The connection of a stream; replica 0's for all replicas of a broadcast stream. */
static connection *connection_of(const streams *s, size_t number)
{
  const executable_stream *facts = &s->facts[number];
  if (!facts->broadcast) return &s->connections[number];
  return &(s->leader ? s->leader : s)->connections[number - facts->replica];
}

const void *streams_used_by(const streams *s, size_t number)
{
  const connection *c = connection_of(s, number);
  if (c->user) return c->user;
  return c->callback.context ? c->callback.context : c;
}

void streams_set_user(streams *s, size_t number, const void *user)
{
  connection_of(s, number)->user = user;
}

pop_error *streams_check_own(const streams *s, const char *call, size_t number)
{
  if (connection_of(s, number) == &s->connections[number]) return NULL;
  return pop_error_new(
      POP_ERROR_STREAM_CONNECTION,
      "%s: stream '%s' is broadcast: all replicas get what replica 0 gets, which is "
      "what to connect",
      call, s->names[number]);
}

static bool is_connected(const connection *c)
{
  return c->begin || c->has_callback;
}

static pop_error *not_connected(const executable_stream *facts)
{
  return pop_error_new(POP_ERROR_STREAM_CONNECTION,
                       "stream '%s' (%s, %llu elements of type %s) is not connected: call "
                       "pop_engine_connect_stream or pop_engine_connect_stream_callback before the "
                       "program runs",
                       facts->name, facts->to_device ? "host to device" : "device to host",
                       (unsigned long long)facts->num_elements, pop_type_name(facts->type));
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

static double start_callback(const streams *s)
{
  return s->callback_seconds ? now_seconds() : 0;
}

/* A callback cannot be interrupted: its time is checked when it returns. */
static pop_error *end_callback(const streams *s, const executable_stream *facts, double start)
{
  double seconds = s->callback_seconds ? now_seconds() - start : 0;
  if (seconds <= s->callback_seconds) return NULL;
  return pop_error_new(POP_ERROR_RUNTIME,
                       "the callback of stream '%s' took %.3g s; target.hostSyncTimeout is %g s",
                       facts->name, seconds, s->callback_seconds);
}

static pop_error *call_fetch(const streams *s, const executable_stream *facts, connection *c,
                             uint8_t *buffer)
{
  double start = start_callback(s);
  int result = c->callback.fetch(c->callback.context, buffer);
  POP_TRY(end_callback(s, facts, start));
  if (result == 0) return NULL;
  return pop_error_new(POP_ERROR_RUNTIME, "the callback of stream '%s' failed with %d", facts->name,
                       result);
}

static uint8_t *take_buffer(connection *c, size_t bytes)
{
  if (c->unused.count) return c->unused.items[--c->unused.count];
  uint8_t *made = pop_xcalloc(bytes, 1);
  push_buffer(&c->buffers, made);
  return made;
}

static pop_error *call_complete(const streams *s, const executable_stream *facts,
                                const connection *c)
{
  if (!c->callback.complete) return NULL;
  double start = start_callback(s);
  c->callback.complete(c->callback.context);
  return end_callback(s, facts, start);
}

/* Completes the oldest copy to the device that is open. */
static pop_error *complete_copy(const streams *s, const executable_stream *facts,
                                const connection *c)
{
  if (c->turn->open == 0) return NULL;
  c->turn->open--;
  return call_complete(s, facts, c);
}

/* The buffer for a copy. To the device: the oldest prefetched one, or one that is fetched now. */
static pop_error *buffer_of_callback(const streams *s, const executable_stream *facts,
                                     connection *c, uint8_t **buffer)
{
  buffer_list *ready = &c->prefetched;
  if (facts->to_device && ready->count) {
    *buffer = ready->items[0];
    memmove(ready->items, ready->items + 1, --ready->count * sizeof *ready->items);
    return NULL;
  }
  *buffer = take_buffer(c, copy_bytes(facts));
  return facts->to_device ? call_fetch(s, facts, c, *buffer) : NULL;
}

pop_error *streams_begin(streams *s, const executable_window *window, uint8_t **memory)
{
  const executable_stream *facts = &s->facts[window->object];
  connection *c = connection_of(s, window->object);
  bool begins = window->begin == 0 && c == &s->connections[window->object];
  if (!is_connected(c)) return not_connected(facts);
  if (begins && c->has_callback) {
    /* The one before: its data are in a buffer. */
    if (facts->to_device) POP_TRY(complete_copy(s, facts, c));
    POP_TRY(buffer_of_callback(s, facts, c, &c->current));
    if (facts->to_device) c->turn->open++;
  } else if (begins) {
    c->current = c->next;
    c->next = (size_t)(c->end - c->next) > c->step ? c->next + c->step : c->begin;
  }
  if (!c->current)
    return pop_error_new(POP_ERROR_INTERNAL, "a copy of stream '%s' goes on that has not begun",
                         facts->name);
  *memory = c->current + window->begin;
  return NULL;
}

static pop_error *prefetch_copies(const streams *s, const executable_stream *facts, connection *c)
{
  uint32_t most = streams_lookahead(s, (size_t)(facts - s->facts));
  while (c->prefetched.count < most) {
    uint8_t *buffer = take_buffer(c, copy_bytes(facts));
    double start = start_callback(s);
    bool filled = c->callback.prefetch(c->callback.context, buffer);
    push_buffer(filled ? &c->prefetched : &c->unused, buffer);
    POP_TRY(end_callback(s, facts, start));
    if (!filled) return NULL;
  }
  return NULL;
}

pop_error *streams_end(streams *s, const executable_window *window, uint8_t *memory, bool prefetch)
{
  const executable_stream *facts = &s->facts[window->object];
  connection *c = connection_of(s, window->object);
  bool last = !facts->broadcast || (!s->leader && facts->replica + 1 == facts->num_replicas);
  if (!last || !c->has_callback || window->begin + window->bytes < copy_bytes(facts)) return NULL;
  uint8_t *buffer = memory - window->begin;
  if (facts->to_device) {
    POP_TRY(complete_copy(s, facts, c));
  } else {
    POP_TRY(call_fetch(s, facts, c, buffer));
    POP_TRY(call_complete(s, facts, c));
  }
  push_buffer(&c->unused, buffer);
  bool ahead = prefetch && facts->to_device && c->callback.prefetch;
  return ahead ? prefetch_copies(s, facts, c) : NULL;
}
