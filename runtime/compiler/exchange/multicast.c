/* Schedules messages to several tiles.
 *
 * Messages with the same receivers form a group. Groups are planned by descending number of
 * receivers, then of words. Within a group messages are planned in the order of their addresses, so
 * that receivers need no new address. Each message gets the first cycle in which its sender and all
 * its receivers are free, including gaps between messages that are planned already. */
#include "compiler/exchange/exchange.h"

#include "base/order.h"
#include <stdlib.h>
#include <string.h>

static uint64_t earliest_message(const exchange_plan *plan, const message *m, uint64_t from)
{
  transmission t = {.source_tile = m->source_tile,
                    .shape = {.words = m->num_words, .first_words = 1},
                    .receivers = receivers_of(plan, m),
                    .num_receivers = m->num_receivers};
  return earliest_arrival(plan, &t, from);
}

static void plan_message(exchange_plan *plan, const message *m, uint64_t arrival)
{
  const receiver *receivers = receivers_of(plan, m);
  const send_shape shape = {.words = m->num_words, .first_words = 1};
  timeline *source = timeline_of(plan, m->source_tile);
  uint64_t sent = arrival - plan->latency;
  reserve_send(source, &shape, sent);
  add_send_ops(&source->listed, m->source, m->num_words, sent);
  for (size_t i = 0; i < m->num_receivers; i++) {
    timeline *t = timeline_of(plan, receivers[i].tile);
    uint64_t slot = reserve_receive(t, receivers[i].destination, m->num_words, arrival);
    add_receive_ops(&t->listed, m->source_tile, receivers[i].destination, m->num_words, arrival,
                    slot);
  }
}

typedef struct group {
  size_t first, count; /* in multicasts.order */
  uint64_t num_words;
  uint32_t num_receivers; /* of its first message */
} group;

typedef struct multicasts {
  keyed *order; /* messages by group, then by address */
  size_t count;
  uint32_t *parents; /* by position before sorting: union-find */
  group *groups;
  size_t num_groups, groups_capacity;
} multicasts;

static uint64_t hash_tile(uint32_t tile)
{
  uint64_t hash = (tile + 1) * 0x9e3779b97f4a7c15u;
  hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9u;
  return hash ^ hash >> 32;
}

static uint32_t root_of(multicasts *all, uint32_t position)
{
  uint32_t *parents = all->parents;
  while (parents[position] != position) position = parents[position] = parents[parents[position]];
  return position;
}

/* Puts messages with the same receivers into one group (union-find). The sender may be counted as a
 * receiver: when all tiles send to all others, the receivers of a message are all tiles but its
 * sender. */
static void find_common_receivers(const exchange_plan *plan, multicasts *all)
{
  keyed *signatures = pop_xrealloc(NULL, 2 * all->count + 1, sizeof *signatures);
  for (uint32_t i = 0; i < all->count; i++) {
    const message *m = message_at(plan, all->order[i].index);
    uint64_t hash = 0;
    for (size_t j = 0; j < m->num_receivers; j++) hash += hash_tile(receivers_of(plan, m)[j].tile);
    signatures[2 * i] = (keyed){hash, i};
    signatures[2 * i + 1] = (keyed){hash + hash_tile(m->source_tile), i};
    all->parents[i] = i;
  }
  sort_keyed(signatures, 2 * all->count);
  for (size_t i = 1; i < 2 * all->count; i++) {
    if (signatures[i].key != signatures[i - 1].key) continue;
    uint32_t a = root_of(all, signatures[i - 1].index), b = root_of(all, signatures[i].index);
    all->parents[a > b ? a : b] = a > b ? b : a;
  }
  free(signatures);
}

static void sort_by_group(const exchange_plan *plan, multicasts *all)
{
  find_common_receivers(plan, all);
  keyed *order = pop_xrealloc(NULL, all->count + 1, sizeof *order);
  for (uint32_t i = 0; i < all->count; i++)
    order[i] = (keyed){.key = root_of(all, i), .index = all->order[i].index};
  sort_keyed(order, all->count);
  free(all->order);
  all->order = order;
}

static void find_groups(const exchange_plan *plan, multicasts *all)
{
  for (size_t i = 0; i < all->count; i++) {
    const message *m = message_at(plan, all->order[i].index);
    if (i == 0 || all->order[i].key != all->order[i - 1].key)
      pop_push(all->groups, all->num_groups, all->groups_capacity,
               (group){.first = i, .num_receivers = m->num_receivers});
    group *g = &all->groups[all->num_groups - 1];
    g->count++;
    g->num_words += m->num_words;
  }
}

/* Sorts by the address on the group's first tile. A message that this tile sends itself is sorted
 * by its address on the next tile, whose buffers are in the same order. */
static void sort_by_address(const exchange_plan *plan, keyed *messages, size_t count)
{
  receiver reference = receivers_of(plan, message_at(plan, messages[0].index))[0];
  for (size_t i = 1; i < count; i++) {
    receiver first = receivers_of(plan, message_at(plan, messages[i].index))[0];
    if (first.tile < reference.tile) reference = first;
  }
  for (size_t i = 0; i < count; i++) {
    receiver first = receivers_of(plan, message_at(plan, messages[i].index))[0];
    if (first.tile != reference.tile) first.destination.block = reference.destination.block;
    messages[i].key = place_key(first.destination);
  }
  sort_keyed(messages, count);
}

static void schedule_group(exchange_plan *plan, const multicasts *all, const group *g)
{
  uint64_t from = 0;
  sort_by_address(plan, all->order + g->first, g->count);
  for (size_t i = 0; i < g->count; i++) {
    const message *m = message_at(plan, all->order[g->first + i].index);
    receiver first = receivers_of(plan, m)[0];
    bool continues = continues_chain(timeline_of(plan, first.tile), first.destination);
    uint64_t arrival = earliest_message(plan, m, continues ? from : 0);
    plan_message(plan, m, arrival);
    from = arrival + m->num_words;
  }
}

void schedule_multicasts(exchange_plan *plan, const keyed *messages, size_t count)
{
  multicasts several = {.order = pop_xrealloc(NULL, count + 1, sizeof(keyed)), .count = count};
  multicasts *all = &several;
  if (count > 0) memcpy(all->order, messages, count * sizeof *messages);
  all->parents = pop_xrealloc(NULL, all->count + 1, sizeof *all->parents);
  sort_by_group(plan, all);
  find_groups(plan, all);
  keyed *order = pop_xrealloc(NULL, all->num_groups + 1, sizeof *order);
  for (size_t i = 0; i < all->num_groups; i++) {
    const group *g = &all->groups[i];
    uint64_t words = g->num_words < UINT32_MAX ? g->num_words : UINT32_MAX;
    order[i] = (keyed){.key = ~((uint64_t)g->num_receivers << 32 | words), .index = (uint32_t)i};
  }
  sort_keyed(order, all->num_groups);
  for (size_t i = 0; i < all->num_groups; i++)
    schedule_group(plan, all, &all->groups[order[i].index]);
  free(order);
  free(all->order);
  free(all->groups);
  free(all->parents);
}
