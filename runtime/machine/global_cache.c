/* The cache of exchanges between replicas (global_cache.h): keeps them, finds them again, repeats
 * them. */
#include "global_cache.h"

#include "state.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_CACHED = 64 };

typedef struct move {
  uint8_t *to;
  const uint8_t *from;
  size_t bytes;
} move;

typedef struct cached_exchange {
  bool usable;             /* false: some pieces are in memory that other exchanges use, too */
  uint8_t *waiting;        /* by tile, counted over the replicas of this process: how it waits */
  uint32_t *stop_argument; /* what it asks for */
  uint64_t *received;      /* bytes */
  uint64_t *sent;          /* by replica: bytes that it sends */
  read_list reads;
  uint32_t num_ranks;
  ranks_pieces *to, *from; /* by rank */
  move *moves;             /* copies within this process, behind them */
  size_t num_moves, moves_capacity;
  uint64_t cycles;
} cached_exchange;

struct global_cache {
  cached_exchange *items[MAX_CACHED];
  uint64_t added; /* if there is no room, the oldest one is replaced */
};

/* ---- what was read ---- */

void global_cache_note_read(read_list *reads, const tile *t, uint32_t base, uint32_t address,
                            uint32_t bytes)
{
  if (!memory_contains(t, address, bytes, true, false)) return; /* it does not change */
  const uint8_t *at = t->memory + (address - base);
  bytes_read *last = reads->count ? &reads->items[reads->count - 1] : NULL;
  if (last && last->at + last->bytes == at)
    last->bytes += bytes;
  else
    pop_push(reads->items, reads->count, reads->capacity,
             (bytes_read){at, bytes, reads->copies.size});
  pop_bytes_append(&reads->copies, at, bytes);
}

void global_cache_free_reads(read_list *reads)
{
  free(reads->items);
  pop_bytes_free(&reads->copies);
}

static bool is_unchanged(const read_list *reads)
{
  enum { AHEAD = 16 };
  for (size_t i = 0; i < reads->count; i++) {
    const bytes_read *s = &reads->items[i];
    if (i + AHEAD < reads->count) __builtin_prefetch(reads->items[i + AHEAD].at);
    if (memcmp(s->at, reads->copies.data + s->copy, s->bytes) != 0) return false;
  }
  return true;
}

/* ---- keeping ---- */

static void free_cached(cached_exchange *k)
{
  if (!k) return;
  for (uint32_t i = 0; i < k->num_ranks; i++) {
    free(k->to[i].items);
    free(k->from[i].items);
  }
  free(k->to);
  free(k->from);
  free(k->waiting);
  free(k->stop_argument);
  free(k->received);
  free(k->sent);
  free(k->moves);
  global_cache_free_reads(&k->reads);
  free(k);
}

void global_cache_free(machine *m)
{
  for (size_t i = 0; m->global_cache && i < MAX_CACHED; i++) free_cached(m->global_cache->items[i]);
  free(m->global_cache);
  m->global_cache = NULL;
}

static ranks_pieces *copy_pieces(const ranks_pieces *of, uint32_t count)
{
  ranks_pieces *made = pop_xcalloc(count, sizeof *made);
  for (uint32_t i = 0; i < count; i++) {
    size_t items = of[i].count;
    made[i].items = pop_xcalloc(items + 1, sizeof *made[i].items);
    made[i].count = made[i].capacity = items;
    if (items) memcpy(made[i].items, of[i].items, items * sizeof *made[i].items);
  }
  return made;
}

static cached_exchange *new_cached(const machine_group *group)
{
  size_t each = group->own[0]->num_tiles, tiles = group->num_own * each;
  cached_exchange *k = pop_xcalloc(1, sizeof *k);
  *k = (cached_exchange){.waiting = pop_xcalloc(tiles, sizeof *k->waiting),
                         .stop_argument = pop_xcalloc(tiles, sizeof *k->stop_argument),
                         .received = pop_xcalloc(tiles, sizeof *k->received),
                         .sent = pop_xcalloc(group->num_own, sizeof *k->sent)};
  for (uint32_t r = 0; r < group->num_own; r++) {
    memcpy(k->waiting + r * each, group->own[r]->at.waiting, each * sizeof *k->waiting);
    memcpy(k->stop_argument + r * each, group->own[r]->at.stop_argument,
           each * sizeof *k->stop_argument);
  }
  return k;
}

void global_cache_add(reading *r, uint64_t cycles)
{
  machine *keeper = r->group->own[0];
  if (!keeper->global_cache) keeper->global_cache = pop_xcalloc(1, sizeof *keeper->global_cache);
  cached_exchange *k = new_cached(r->group),
                  **at = &keeper->global_cache->items[keeper->global_cache->added++ % MAX_CACHED];
  free_cached(*at);
  *at = k;
  k->cycles = cycles;
  k->usable = !r->has_unwanted;
  k->reads = r->reads;
  r->reads = (read_list){0};
  k->num_ranks = ranks_count(r->group->ranks);
  k->to = copy_pieces(r->pieces_to, k->num_ranks);
  k->from = copy_pieces(r->pieces_from, k->num_ranks);
  for (size_t i = 0; i < r->received.count; i++) {
    move m;
    if (!global_exchange_get_move(r, i, &m.to, &m.from, &m.bytes)) continue;
    k->received[r->received.items[i].tile] += m.bytes;
    if (m.to != m.from) pop_push(k->moves, k->num_moves, k->moves_capacity, m);
  }
  for (uint32_t slot = 0; slot < r->group->num_own; slot++)
    k->sent[slot] = global_exchange_count_sent(r, slot);
}

/* ---- finding ---- */

static bool is_wanted(const cached_exchange *k, const machine_group *group)
{
  size_t each = group->own[0]->num_tiles;
  if (!k || !k->usable) return false;
  for (uint32_t r = 0; r < group->num_own; r++) {
    const tile_stops *at = &group->own[r]->at;
    if (memcmp(at->waiting, k->waiting + r * each, each * sizeof *k->waiting) != 0 ||
        memcmp(at->stop_argument, k->stop_argument + r * each, each * sizeof *k->stop_argument) !=
            0)
      return false;
  }
  return is_unchanged(&k->reads);
}

uint32_t machine_cached_exchange(const machine_group *group)
{
  const struct global_cache *all = group->own[0]->global_cache;
  for (uint32_t i = 0; all && i < MAX_CACHED; i++)
    if (is_wanted(all->items[i], group)) return i;
  return MACHINE_NO_EXCHANGE;
}

/* ---- doing it again ---- */

static void take_cached_time(const machine_group *group, const cached_exchange *k)
{
  size_t each = group->own[0]->num_tiles;
  for (uint32_t r = 0; r < group->num_own; r++) {
    machine *m = group->own[r];
    m->global_bytes += k->sent[r];
    for (uint32_t i = 0; i < each; i++)
      if (m->at.waiting[i] == STOP_REPLICA_EXCHANGE)
        global_exchange_take_time(m, i, k->cycles, k->received[r * each + i]);
  }
}

pop_error *machine_replay_exchange(const machine_group *group, uint32_t number)
{
  const cached_exchange *k = group->own[0]->global_cache->items[number];
  superstep_release_replicas(group);
  POP_TRY(ranks_pass(group->ranks, "a copy between replicas", k->to, k->from));
  for (size_t i = 0; i < k->num_moves; i++)
    memcpy(k->moves[i].to, k->moves[i].from, k->moves[i].bytes);
  take_cached_time(group, k);
  return NULL;
}
