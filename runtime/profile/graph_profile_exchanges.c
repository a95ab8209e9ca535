/* exchanges, externalExchanges and hostExchanges of the graph profile. */
#include "profile/execution.h"
#include "profile/graph_profile.h"

#include <stdlib.h>
#include <string.h>

/* The parts of an exchange, by tile. */
typedef struct tile_parts {
  executable_exchange_part *of; /* by tile; `tile` is not used */
  uint32_t num_tiles;
} tile_parts;

static void take_parts(tile_parts *t, const executable_exchange_part *parts, size_t count)
{
  memset(t->of, 0, t->num_tiles * sizeof *t->of);
  for (size_t i = 0; i < count; ++i) t->of[parts[i].tile] = parts[i];
}

/* The host reads a tensor while all tiles wait. The tiles have no code for it. */
static void take_tensor(const pop_executable *e, const executable_tensor *tensor, tile_parts *t)
{
  memset(t->of, 0, t->num_tiles * sizeof *t->of);
  for (size_t i = 0; i < tensor->num_runs; ++i) {
    const memory_range *run = &e->runs[tensor->first_run + i];
    t->of[run->tile].bytes_sent += run->bytes;
  }
}

static void take_internal_or_global(const pop_executable *e, const executable_exchange *x,
                                    tile_parts *t)
{
  const executable_exchange_part *parts = e->exchange_parts + x->first_part;
  take_parts(t, parts, x->num_parts);
  if (x->zone == ISA_SYNC_INTERNAL) return;
  uint32_t cycles = (uint32_t)execution_global_cycles(e, x);
  for (size_t i = 0; i < x->num_parts; i++) t->of[parts[i].tile].cycles = cycles;
}

static void take_event(const pop_executable *e, const executable_event *event, tile_parts *t)
{
  if (event->kind != EXECUTABLE_EVENT_EXCHANGE) {
    take_tensor(e, &e->tensors[event->tensor], t);
    return;
  }
  const executable_exchange_part *parts = e->exchange_parts + event->first_part;
  uint32_t transfer = (uint32_t)execution_host_transfer(e, event);
  take_parts(t, parts, event->num_parts);
  for (size_t i = 0; i < event->num_parts; i++) t->of[parts[i].tile].cycles += transfer;
}

/* ---- the three kinds ---- */

/* The exchanges of one kind, by number. */
typedef struct exchange_kind {
  const char *key, *cycles_key;
  size_t *members; /* of exchanges, or of events */
  size_t count;
  bool with_host;
} exchange_kind;

static const char *name_of(const pop_executable *e, const exchange_kind *kind, size_t number)
{
  size_t member = kind->members[number];
  return kind->with_host ? e->events[member].name : e->exchanges[member].name;
}

static void take_exchange(const pop_executable *e, const exchange_kind *kind, size_t number,
                          tile_parts *t)
{
  size_t member = kind->members[number];
  if (kind->with_host)
    take_event(e, &e->events[member], t);
  else
    take_internal_or_global(e, &e->exchanges[member], t);
}

typedef enum part_value { BYTES_RECEIVED, BYTES_SENT, CYCLES } part_value;

static int64_t value_of(const executable_exchange_part *part, part_value which)
{
  return which == CYCLES ? part->cycles
                         : (int64_t)(which == BYTES_SENT ? part->bytes_sent : part->bytes_received);
}

/* By exchange of the kind, then tile. */
static void emit_values(const emitter *to, const char *key, const graph_profile *g,
                        const exchange_kind *kind, part_value which, tile_parts *t)
{
  emit_begin_vector(to, key);
  for (size_t i = 0; i < kind->count; ++i) {
    take_exchange(g->e, kind, i, t);
    emit_begin_vector(to, NULL);
    for (uint32_t tile = 0; tile < t->num_tiles; ++tile)
      emit_int(to, NULL, value_of(&t->of[tile], which));
    emit_end_vector(to);
  }
  emit_end_vector(to);
}

/* By exchange of the kind: names of its sources or destinations. */
static void emit_moved(const emitter *to, const char *key, const graph_profile *g,
                       const exchange_kind *kind, uint32_t is_destination)
{
  size_t at = 0;
  emit_begin_vector(to, key);
  for (size_t i = 0; i < kind->count; ++i) {
    uint32_t exchange = (uint32_t)kind->members[i];
    emit_begin_vector(to, NULL);
    while (at < g->p->num_moved && g->p->moved[at].exchange < exchange) at++;
    for (; at < g->p->num_moved && g->p->moved[at].exchange == exchange; at++)
      if (g->p->moved[at].is_destination == is_destination)
        emit_string(to, NULL, g->p->names[g->p->moved[at].name]);
    emit_end_vector(to);
  }
  emit_end_vector(to);
}

/* Host, RemoteBuffer or Mixed: whose memory an exchange uses. */
static void emit_categories(const emitter *to, const graph_profile *g, const exchange_kind *kind)
{
  emit_begin_vector(to, "category");
  for (size_t i = 0; i < kind->count; ++i)
    emit_string(to, NULL, executable_event_category(g->e, (uint32_t)kind->members[i]));
  emit_end_vector(to);
}

/* The copies, or parts of copies, of a host exchange in one direction. For rows of remote buffers
 * the direction is known only if all data go one way; otherwise -1. */
static int64_t count_copies(const pop_executable *e, const executable_event *event, bool to_host)
{
  int64_t count = 0;
  bool sends = false, receives = false;
  for (size_t i = 0; i < event->num_parts; ++i) {
    sends |= e->exchange_parts[event->first_part + i].bytes_sent > 0;
    receives |= e->exchange_parts[event->first_part + i].bytes_received > 0;
  }
  for (size_t i = 0; i < event->num_windows; ++i) {
    const executable_window *w = &e->windows[event->first_window + i];
    if (w->remote && sends && receives) return -1;
    bool goes_to_host = w->remote ? sends : !e->streams[w->object].to_device;
    count += goes_to_host == to_host;
  }
  return count;
}

static void emit_copies(const emitter *to, const char *key, const graph_profile *g,
                        const exchange_kind *kind, bool to_host)
{
  emit_begin_vector(to, key);
  for (size_t i = 0; i < kind->count; ++i)
    emit_int(to, NULL, count_copies(g->e, &g->e->events[kind->members[i]], to_host));
  emit_end_vector(to);
}

static void emit_kind(const emitter *to, const graph_profile *g, const exchange_kind *kind,
                      tile_parts *t)
{
  emit_begin_map(to, kind->key);
  emit_begin_vector(to, "names");
  for (size_t i = 0; i < kind->count; ++i) emit_string(to, NULL, name_of(g->e, kind, i));
  emit_end_vector(to);
  emit_values(to, "bytesReceivedByTile", g, kind, BYTES_RECEIVED, t);
  emit_values(to, "bytesSentByTile", g, kind, BYTES_SENT, t);
  emit_values(to, kind->cycles_key, g, kind, CYCLES, t);
  if (kind->with_host) {
    emit_categories(to, g, kind);
    emit_copies(to, "copiesFromHost", g, kind, false);
    emit_copies(to, "copiesToHost", g, kind, true);
  } else {
    emit_moved(to, "sourceVariables", g, kind, 0);
    emit_moved(to, "destinationVariables", g, kind, 1);
  }
  emit_end_map(to);
}

void emit_exchanges(const emitter *to, const graph_profile *g)
{
  const pop_executable *e = g->e;
  const exchange_numbers *n = &g->numbers;
  exchange_kind internal = {.key = "exchanges", .cycles_key = "cyclesByTile"};
  exchange_kind external = {.key = "externalExchanges", .cycles_key = "estimatedCyclesByTile"};
  exchange_kind host = {
      .key = "hostExchanges", .cycles_key = "estimatedCyclesByTile", .with_host = true};
  exchange_kind *const kinds[] = {&internal, &external, &host};
  internal.members = pop_xcalloc(n->num_internal + 1, sizeof *internal.members);
  external.members = pop_xcalloc(n->num_external + 1, sizeof *external.members);
  host.members = pop_xcalloc(n->num_host + 1, sizeof *host.members);
  for (size_t i = 0; i < e->num_exchanges; ++i) {
    exchange_kind *kind = e->exchanges[i].zone ? &external : &internal;
    kind->members[kind->count++] = i;
  }
  while (host.count < n->num_host) {
    host.members[host.count] = n->events[host.count];
    host.count++;
  }
  tile_parts t = {.num_tiles = pop_target_num_tiles(&e->target)};
  t.of = pop_xcalloc(t.num_tiles, sizeof *t.of);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
    emit_kind(to, g, kinds[k], &t);
    free(kinds[k]->members);
  }
  free(t.of);
}
