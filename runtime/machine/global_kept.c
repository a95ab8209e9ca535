/* Kept exchanges between replicas (global_kept.h): keeps them, finds them again, repeats them. */
#include "global_kept.h"

#include "state.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_KEPT = 64 };

typedef struct move {
  uint8_t *to;
  const uint8_t *from;
  size_t bytes;
} move;

typedef struct kept_exchange {
  bool usable;        /* false: some pieces are in memory that other exchanges use, too */
  uint8_t *waiting;   /* by tile, counted over the replicas of this process: how it waits */
  uint32_t *asked;    /* what it asks for */
  uint64_t *received; /* bytes */
  uint64_t *sent;     /* by replica: bytes that it sends */
  seen_list seen;
  uint32_t num_ranks;
  ranks_pieces *to, *from; /* by rank */
  move *moves;             /* copies within this process, behind them */
  size_t num_moves, moves_capacity;
  uint64_t cycles;
} kept_exchange;

struct global_kept {
  kept_exchange *items[MOST_KEPT];
  uint64_t added; /* if there is no room, the oldest one is replaced */
};

/* ---- what was seen ---- */

void global_kept_see(seen_list *seen, const tile *t, uint32_t base, uint32_t address,
                     uint32_t bytes)
{
  if (!memory_contains(t, address, bytes, true, false)) return; /* it does not change */
  const uint8_t *at = t->memory + (address - base);
  seen_bytes *last = seen->count ? &seen->items[seen->count - 1] : NULL;
  if (last && last->at + last->bytes == at)
    last->bytes += bytes;
  else
    pop_push(seen->items, seen->count, seen->capacity, (seen_bytes){at, bytes, seen->copies.size});
  pop_bytes_append(&seen->copies, at, bytes);
}

void global_kept_free_seen(seen_list *seen)
{
  free(seen->items);
  pop_bytes_free(&seen->copies);
}

static bool is_as_seen(const seen_list *seen)
{
  enum { AHEAD = 16 };
  for (size_t i = 0; i < seen->count; i++) {
    const seen_bytes *s = &seen->items[i];
    if (i + AHEAD < seen->count) __builtin_prefetch(seen->items[i + AHEAD].at);
    if (memcmp(s->at, seen->copies.data + s->copy, s->bytes) != 0) return false;
  }
  return true;
}

/* ---- keeping ---- */

static void free_kept(kept_exchange *k)
{
  if (!k) return;
  for (uint32_t i = 0; i < k->num_ranks; i++) {
    free(k->to[i].items);
    free(k->from[i].items);
  }
  free(k->to);
  free(k->from);
  free(k->waiting);
  free(k->asked);
  free(k->received);
  free(k->sent);
  free(k->moves);
  global_kept_free_seen(&k->seen);
  free(k);
}

void global_kept_forget(machine *m)
{
  for (size_t i = 0; m->global_kept && i < MOST_KEPT; i++) free_kept(m->global_kept->items[i]);
  free(m->global_kept);
  m->global_kept = NULL;
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

static kept_exchange *new_kept(const machine_group *group)
{
  size_t each = group->own[0]->num_tiles, tiles = group->num_own * each;
  kept_exchange *k = pop_xcalloc(1, sizeof *k);
  *k = (kept_exchange){.waiting = pop_xcalloc(tiles, sizeof *k->waiting),
                       .asked = pop_xcalloc(tiles, sizeof *k->asked),
                       .received = pop_xcalloc(tiles, sizeof *k->received),
                       .sent = pop_xcalloc(group->num_own, sizeof *k->sent)};
  for (uint32_t r = 0; r < group->num_own; r++) {
    memcpy(k->waiting + r * each, group->own[r]->at.waiting, each * sizeof *k->waiting);
    memcpy(k->asked + r * each, group->own[r]->at.asked, each * sizeof *k->asked);
  }
  return k;
}

void global_kept_add(reading *r, uint64_t cycles)
{
  machine *keeper = r->group->own[0];
  if (!keeper->global_kept) keeper->global_kept = pop_xcalloc(1, sizeof *keeper->global_kept);
  kept_exchange *k = new_kept(r->group),
                **at = &keeper->global_kept->items[keeper->global_kept->added++ % MOST_KEPT];
  free_kept(*at);
  *at = k;
  k->cycles = cycles;
  k->usable = !r->has_unwanted;
  k->seen = r->seen;
  r->seen = (seen_list){0};
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

static bool is_wanted(const kept_exchange *k, const machine_group *group)
{
  size_t each = group->own[0]->num_tiles;
  if (!k || !k->usable) return false;
  for (uint32_t r = 0; r < group->num_own; r++) {
    const tile_stops *at = &group->own[r]->at;
    if (memcmp(at->waiting, k->waiting + r * each, each * sizeof *k->waiting) != 0 ||
        memcmp(at->asked, k->asked + r * each, each * sizeof *k->asked) != 0)
      return false;
  }
  return is_as_seen(&k->seen);
}

uint32_t machine_kept_exchange(const machine_group *group)
{
  const struct global_kept *all = group->own[0]->global_kept;
  for (uint32_t i = 0; all && i < MOST_KEPT; i++)
    if (is_wanted(all->items[i], group)) return i;
  return MACHINE_NO_EXCHANGE;
}

/* ---- doing it again ---- */

static void take_kept_time(const machine_group *group, const kept_exchange *k)
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

pop_error *machine_sync_replicas_again(const machine_group *group, uint32_t number)
{
  const kept_exchange *k = group->own[0]->global_kept->items[number];
  superstep_release_replicas(group);
  POP_TRY(ranks_pass(group->ranks, "a copy between replicas", k->to, k->from));
  for (size_t i = 0; i < k->num_moves; i++)
    memcpy(k->moves[i].to, k->moves[i].from, k->moves[i].bytes);
  take_kept_time(group, k);
  return NULL;
}
