/* When each message of an exchange is sent.
 *
 * No schedule is shorter than the words that the busiest tile sends or receives, nor than its
 * instructions, of which each takes a cycle: a send, a receiveMux per message that is received, a
 * receiveAddress where it does not go on behind the last one. (A vector of one word per tile to all
 * tiles takes two cycles a word for that reason: the sender's own slot is taken by receives unless
 * nothing arrives anywhere.) What keeps a plan from that bound: a message to many tiles needs all of
 * them at once; receivers wait for a sender that serves another.
 *
 *  1. Messages to several tiles first. Those with the same receivers form a group, the largest groups
 *     first; within a group in the order of the addresses, so that the receive pointers just go on.
 *     Each message goes to the first cycle in which its sender and all its receivers can, gaps before
 *     later messages included.
 *  2. Messages to one tile. The receiver that is free first takes its next message: the one that goes
 *     on where the last ended, unless its sender is busy for longer than a new address costs; then the
 *     best of the next few. Receivers start at senders with numbers above their own, so that in an
 *     all-to-all they do not all begin with the same. */
#include "compiler/exchange.h"

#include "compiler/order.h"
#include <stdlib.h>

enum { CHOICES = 16, ADDRESS_COST = 1, PATIENCE = 2 };

static const message *message_at(const exchange_plan *plan, uint32_t number)
{
  return &plan->c->messages[plan->exchange->first_message + number];
}

static const receiver *receivers_of(const exchange_plan *plan, const message *m)
{
  return &plan->c->receivers[m->first_receiver];
}

static uint64_t place_key(place at)
{
  return (uint64_t)at.block << 32 | at.offset;
}

/* The first cycle >= from in which all words can arrive one behind the other. */
static uint64_t earliest_arrival(const exchange_plan *plan, const message *m, uint64_t from)
{
  const timeline *source = timeline_of(plan, m->source_tile);
  const receiver *receivers = receivers_of(plan, m);
  uint64_t cycle = from < plan->latency ? plan->latency : from, tried;
  do {
    tried = cycle;
    cycle = earliest_send(source, m->num_words, cycle - plan->latency) + plan->latency;
    for (size_t i = 0; i < m->num_receivers; i++)
      cycle = earliest_receive(timeline_of(plan, receivers[i].tile), receivers[i].destination,
                               m->num_words, cycle);
  } while (cycle != tried);
  return cycle;
}

static void plan_message(exchange_plan *plan, const message *m, uint64_t arrival)
{
  const receiver *receivers = receivers_of(plan, m);
  plan_send(timeline_of(plan, m->source_tile), m->source, m->num_words, arrival - plan->latency);
  for (size_t i = 0; i < m->num_receivers; i++)
    plan_receive(timeline_of(plan, receivers[i].tile), m->source_tile, receivers[i].destination,
                 m->num_words, arrival);
}

/* ---- messages to several tiles ---- */

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

/* Messages are of one group if the same tiles receive them; a sender counts as a receiver if that
 * makes it so: when all tiles tell all others, each message leaves out its own sender. */
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

/* By address on the group's first tile; for what that tile sends itself, by address on the next one,
 * which has its buffers in the same order. */
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
    bool goes_on = continues_chain(timeline_of(plan, first.tile), first.destination);
    uint64_t arrival = earliest_arrival(plan, m, goes_on ? from : 0);
    plan_message(plan, m, arrival);
    from = arrival + m->num_words;
  }
}

static void schedule_multicasts(exchange_plan *plan, multicasts *all)
{
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
  free(all->groups);
  free(all->parents);
}

/* ---- messages to one tile ---- */

/* The messages of one receiver, a ring in order of addresses. */
typedef struct ring {
  uint32_t tile;
  size_t next;   /* position in unicasts.order of the message that comes next */
  size_t before; /* and of the one in front of it in the ring */
  size_t left;
} ring;

typedef struct waiting {
  uint64_t cycle; /* when the receiver's input is free */
  uint32_t ring;
} waiting;

typedef struct unicasts {
  keyed *order; /* messages by receiver, then by address */
  size_t count;
  size_t *links; /* by position: the next one in the ring */
  ring *rings;
  size_t num_rings, rings_capacity;
  waiting *heap; /* the ring whose receiver is free first is on top */
  size_t heap_size, heap_capacity;
} unicasts;

static bool is_earlier(waiting a, waiting b)
{
  return a.cycle != b.cycle ? a.cycle < b.cycle : a.ring < b.ring;
}

static void heap_push(unicasts *u, waiting added)
{
  pop_push(u->heap, u->heap_size, u->heap_capacity, added);
  size_t at = u->heap_size - 1;
  for (; at > 0 && is_earlier(added, u->heap[(at - 1) / 2]); at = (at - 1) / 2)
    u->heap[at] = u->heap[(at - 1) / 2];
  u->heap[at] = added;
}

static waiting heap_pop(unicasts *u)
{
  waiting top = u->heap[0], last = u->heap[--u->heap_size];
  size_t at = 0;
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= u->heap_size) break;
    if (child + 1 < u->heap_size && is_earlier(u->heap[child + 1], u->heap[child])) child++;
    if (!is_earlier(u->heap[child], last)) break;
    u->heap[at] = u->heap[child];
    at = child;
  }
  u->heap[at] = last;
  return top;
}

static uint32_t receiver_tile(const exchange_plan *plan, const unicasts *u, size_t position)
{
  return receivers_of(plan, message_at(plan, u->order[position].index))->tile;
}

static void sort_unicasts(const exchange_plan *plan, unicasts *u)
{
  for (size_t i = 0; i < u->count; i++) {
    const message *m = message_at(plan, u->order[i].index);
    u->order[i].key = place_key(receivers_of(plan, m)->destination);
  }
  sort_keyed(u->order, u->count);
  for (size_t i = 0; i < u->count; i++) u->order[i].key = receiver_tile(plan, u, i);
  sort_keyed(u->order, u->count);
}

/* Positions first … end - 1 are one receiver's. */
static void add_ring(const exchange_plan *plan, unicasts *u, size_t first, size_t end)
{
  ring added = {.tile = receiver_tile(plan, u, first), .next = first, .left = end - first};
  for (size_t i = first; i < end; i++) u->links[i] = i + 1 < end ? i + 1 : first;
  for (size_t i = first; i < end; i++)
    if (message_at(plan, u->order[i].index)->source_tile > added.tile) {
      added.next = i;
      break;
    }
  added.before = added.next > first ? added.next - 1 : end - 1;
  pop_push(u->rings, u->num_rings, u->rings_capacity, added);
  uint64_t cycle = end_of_receives(timeline_of(plan, added.tile));
  heap_push(u, (waiting){.cycle = cycle, .ring = (uint32_t)(u->num_rings - 1)});
}

/* Takes the best of the next few messages out of the ring and plans it. */
static void schedule_next(exchange_plan *plan, unicasts *u, ring *r)
{
  const timeline *t = timeline_of(plan, r->tile);
  uint64_t from = end_of_receives(t), best_cycle = 0, best_cost = UINT64_MAX;
  size_t best_before = r->before, before = r->before, position = r->next;
  for (size_t i = 0; i < CHOICES && i < r->left; i++) {
    const message *m = message_at(plan, u->order[position].index);
    uint64_t cycle = earliest_arrival(plan, m, from);
    uint64_t cost = cycle;
    if (!continues_chain(t, receivers_of(plan, m)->destination)) cost += ADDRESS_COST;
    if (cost < best_cost) {
      best_cost = cost;
      best_cycle = cycle;
      best_before = before;
    }
    if (i == 0 && cycle <= from + PATIENCE) break;
    before = position;
    position = u->links[position];
  }
  size_t taken = u->links[best_before];
  plan_message(plan, message_at(plan, u->order[taken].index), best_cycle);
  u->links[best_before] = u->links[taken];
  r->before = best_before;
  r->next = u->links[taken];
  r->left--;
}

static void schedule_unicasts(exchange_plan *plan, unicasts *u)
{
  sort_unicasts(plan, u);
  u->links = pop_xrealloc(NULL, u->count + 1, sizeof *u->links);
  for (size_t first = 0, end; first < u->count; first = end) {
    for (end = first + 1; end < u->count && u->order[end].key == u->order[first].key;) end++;
    add_ring(plan, u, first, end);
  }
  while (u->heap_size > 0) {
    waiting top = heap_pop(u);
    ring *r = &u->rings[top.ring];
    schedule_next(plan, u, r);
    if (r->left > 0) heap_push(u, (waiting){end_of_receives(timeline_of(plan, r->tile)), top.ring});
  }
  free(u->links);
  free(u->rings);
  free(u->heap);
}

void schedule_messages(exchange_plan *plan)
{
  size_t count = plan->exchange->num_messages;
  multicasts several = {.order = pop_xrealloc(NULL, count + 1, sizeof(keyed))};
  unicasts one = {.order = pop_xrealloc(NULL, count + 1, sizeof(keyed))};
  for (size_t i = 0; i < count; i++) {
    if (message_at(plan, (uint32_t)i)->num_receivers > 1)
      several.order[several.count++].index = (uint32_t)i;
    else
      one.order[one.count++].index = (uint32_t)i;
  }
  schedule_multicasts(plan, &several);
  schedule_unicasts(plan, &one);
  free(several.order);
  free(one.order);
}
