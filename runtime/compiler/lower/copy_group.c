/* A copy joins the copies before it if that cannot be observed: it reads no byte that they write,
 * and writes no byte that they read or write. What the copies need stays live until all of the
 * group are done, so the bytes on each tile are limited. Large copies, which would gain nothing,
 * stay alone. */
#include "compiler/lower/copy_group.h"
#include "base/order.h"
#include "compiler/lower/copy.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { WORD = 4, MOST_NAMES = 4 };

/* ---- what may join ---- */

static bool has_conflict(const copy_group *group, const transfer_list *added)
{
  for (size_t i = 0; i < added->count; i++) {
    const transfer *t = &added->items[i];
    if (access_sets_conflict(&group->access_sets, t->source, t->bytes, false) ||
        access_sets_conflict(&group->access_sets, t->destination, t->bytes, true))
      return true;
  }
  return false;
}

static void count_bytes(uint64_t *tile_bytes, const transfer_list *added, uint64_t times)
{
  for (size_t i = 0; i < added->count; i++) {
    tile_bytes[added->items[i].source_tile] += times * added->items[i].bytes;
    tile_bytes[added->items[i].destination_tile] += times * added->items[i].bytes;
  }
}

/* Adds the bytes to those of the group, unless a tile would then exceed its limit. */
static bool take_bytes(copy_group *group, const transfer_list *added)
{
  count_bytes(group->tile_bytes, added, 1);
  bool fits = true;
  for (size_t i = 0; i < added->count && fits; i++) {
    const transfer *t = &added->items[i];
    fits = group->tile_bytes[t->source_tile] <= LARGE_TILE_BYTES &&
           group->tile_bytes[t->destination_tile] <= LARGE_TILE_BYTES;
  }
  if (!fits) count_bytes(group->tile_bytes, added, ~(uint64_t)0);
  return fits;
}

static uint32_t parts_of(const compilation *c, const transfer *t)
{
  uint32_t per_ipu = c->target.tiles_per_ipu;
  if (t->source_tile == t->destination_tile) return COPY_ON_TILE;
  bool unaligned = (t->source.offset | t->destination.offset | t->bytes) % WORD;
  bool within = t->source_tile / per_ipu == t->destination_tile / per_ipu;
  return (within ? COPY_WITHIN_IPU : COPY_BETWEEN_IPUS) | (unaligned ? COPY_UNALIGNED : 0);
}

static void join(copy_group *group, const compilation *c, const transfer_list *added,
                 const char *name)
{
  grouped_copy joined = {.name = name};
  for (size_t i = 0; i < added->count; i++) {
    const transfer *t = &added->items[i];
    joined.parts |= parts_of(c, t);
    access_sets_add(&group->access_sets, t->source, t->bytes, false);
    access_sets_add(&group->access_sets, t->destination, t->bytes, true);
    pop_push(group->transfers.items, group->transfers.count, group->transfers.capacity, *t);
  }
  pop_push(group->copies, group->num_copies, group->copies_capacity, joined);
}

/* ---- names ---- */

/* Merges copies with the same name into the first of them. */
static void join_namesakes(copy_group *group)
{
  size_t count = group->num_copies, kept = 0;
  keyed *order = pop_xrealloc(NULL, count, sizeof *order);
  for (uint32_t i = 0; i < count; i++) {
    const char *name = group->copies[i].name;
    order[i] = (keyed){XXH3_64bits(name, strlen(name)), i};
  }
  sort_keyed(order, count);
  for (size_t i = 1, first = 0; i < count; i++) {
    if (order[i].key != order[first].key) {
      first = i;
      continue;
    }
    group->copies[order[first].index].parts |= group->copies[order[i].index].parts;
    group->copies[order[i].index].name = NULL;
  }
  free(order);
  for (size_t i = 0; i < count; i++)
    if (group->copies[i].name) group->copies[kept++] = group->copies[i];
  group->num_copies = kept;
}

/* "a+b+c+…" */
static const char *short_name(const copy_group *group, pop_arena *arena)
{
  const char *name = group->copies[0].name;
  for (size_t i = 1; i < group->num_copies && i < MOST_NAMES; i++)
    name = pop_arena_printf(arena, "%s+%s", name, group->copies[i].name);
  return group->num_copies > MOST_NAMES ? pop_arena_printf(arena, "%s+…", name) : name;
}

/* "a/ExchangePre+b/ExchangePre+…" for all copies with one of these parts; NULL if there is only one
 * copy. */
static const char *all_names(const copy_group *group, pop_arena *arena, uint32_t parts,
                             const char *suffix)
{
  size_t size = 1, suffix_size = strlen(suffix), at = 0;
  if (group->num_copies < 2) return NULL;
  for (size_t i = 0; i < group->num_copies; i++)
    size += strlen(group->copies[i].name) + suffix_size + 1;
  char *text = pop_arena_alloc(arena, size);
  for (size_t i = 0; i < group->num_copies; i++) {
    const grouped_copy *copy = &group->copies[i];
    if (!(copy->parts & parts)) continue;
    if (at > 0) text[at++] = '+';
    size_t length = strlen(copy->name);
    memcpy(text + at, copy->name, length);
    memcpy(text + at + length, suffix, suffix_size);
    at += length + suffix_size;
  }
  text[at] = 0;
  return text;
}

/* ---- the group ---- */

pop_error *copy_group_end(copy_group *group, lowering *l, step_list *steps)
{
  if (group->num_copies == 0) return NULL;
  pop_arena *arena = l->c->arena;
  join_namesakes(group);
  const char *name = short_name(group, arena);
  const transfer_names names = {
      .exchange = pop_arena_printf(arena, "%s/ExchangePre", name),
      .copy = pop_arena_printf(arena, "%s/OnTileCopy", name),
      .all = {
          .exchange = all_names(group, arena, COPY_WITHIN_IPU, "/ExchangePre"),
          .exchange_of_all =
              all_names(group, arena, COPY_WITHIN_IPU | COPY_ON_TILE, "/ExchangePre"),
          .global_exchange =
              all_names(group, arena, COPY_BETWEEN_IPUS, "/GlobalPre/GlobalExchange"),
          .copy = all_names(group, arena, COPY_ON_TILE | COPY_UNALIGNED, "/OnTileCopy"),
      }};
  pop_error *error = lower_transfers(l, &group->transfers, &names, steps);
  memset(group->tile_bytes, 0, pop_target_num_tiles(&l->c->target) * sizeof *group->tile_bytes);
  access_sets_clear(&group->access_sets);
  group->transfers.count = group->num_copies = 0;
  return error;
}

static pop_error *add_paired(copy_group *group, lowering *l, const transfer_list *added,
                             const char *name, step_list *steps)
{
  bool overlaps = overlap(added);
  if (overlaps || has_conflict(group, added) || !take_bytes(group, added)) {
    bool was_empty = group->num_copies == 0;
    POP_TRY(copy_group_end(group, l, steps));
    if (overlaps || was_empty || !take_bytes(group, added))
      return lower_paired(l, added, overlaps, name, steps);
  }
  join(group, l->c, added, name);
  return NULL;
}

pop_error *copy_group_add(copy_group *group, lowering *l, const program *copied, step_list *steps)
{
  compilation *c = l->c;
  transfer_list added = {0};
  if (copy_is_large(c, copied)) {
    POP_TRY(copy_group_end(group, l, steps));
    return lower_copy_program(l, copied, steps);
  }
  if (!group->tile_bytes)
    group->tile_bytes = pop_xcalloc(pop_target_num_tiles(&c->target), sizeof *group->tile_bytes);
  pair_up(c, copied, &added);
  pop_error *error = NULL;
  if (added.count > 0)
    error = add_paired(group, l, &added, pop_arena_strdup(c->arena, copied->name), steps);
  free(added.items);
  return error;
}

void copy_group_free(copy_group *group)
{
  free(group->transfers.items);
  free(group->tile_bytes);
  free(group->copies);
  access_sets_free(&group->access_sets);
}
