/* When words go from one tile to one other.
 *
 * What a receiver gets from one tile for addresses that follow one another is a bundle: it arrives as a
 * whole, by one receive, whether it is one message or several. The receiver that is free first takes its
 * next bundle: the one that goes on where the last ended, unless its sender is busy for longer than a
 * new address costs; then the best of the next few. Receivers start at senders with numbers above their
 * own, so that in an all-to-all they do not all begin with the same. */
#include "compiler/exchange/exchange.h"

#include "base/order.h"
#include <stdlib.h>

enum { CHOICES = 16, ADDRESS_COST = 1, PATIENCE = 2, WORD = 4 };

/* ---- bundles ---- */

/* Small, and all in one place: there may be millions, and most of the time goes into fetching them. */
typedef struct bundle {
  receiver to;
  uint32_t source_tile;
  send_shape shape;
  uint32_t first; /* in bundles.sources: one for each bit of shape.first_words */
  uint32_t next;  /* bundle of the receiver's ring */
} bundle;

typedef struct bundles {
  const exchange_plan *plan;
  const delivery *deliveries;
  keyed *order;   /* of deliveries: by receiver, then by address */
  place *sources; /* of deliveries in that order */
  bundle *items;
  size_t count, capacity;
} bundles;

static const message *message_of(const bundles *b, size_t position)
{
  return message_at(b->plan, b->deliveries[b->order[position].index].message);
}

static const receiver *receiver_of(const bundles *b, size_t position)
{
  return &receivers_of(b->plan,
                       message_of(b, position))[b->deliveries[b->order[position].index].receiver];
}

static void sort_deliveries(bundles *b, size_t count)
{
  for (size_t i = 0; i < count; i++) b->order[i].index = (uint32_t)i;
  for (size_t i = 0; i < count; i++) b->order[i].key = place_key(receiver_of(b, i)->destination);
  sort_keyed(b->order, count);
  const block *blocks = b->plan->c->blocks;
  for (size_t i = 0; i < count; i++) b->order[i].key = blocks[b->order[i].key >> 32].tile;
  sort_keyed(b->order, count);
}

/* Adds a delivery to the last bundle if it goes on from there. */
static bool extend_last(bundles *b, const message *m, const receiver *to)
{
  if (b->count == 0) return false;
  bundle *last = &b->items[b->count - 1];
  place begin = last->to.destination;
  if (last->source_tile != m->source_tile || last->to.tile != to->tile ||
      begin.block != to->destination.block ||
      begin.offset + last->shape.words * WORD != to->destination.offset ||
      last->shape.words + (uint64_t)m->num_words > SEND_SHAPE_MAX_WORDS)
    return false;
  last->shape.first_words |= (uint64_t)1 << last->shape.words;
  last->shape.words += m->num_words;
  return true;
}

static void make_bundles(bundles *b, size_t count)
{
  sort_deliveries(b, count);
  for (size_t i = 0; i < count; i++) {
    const message *m = message_of(b, i);
    const receiver *to = receiver_of(b, i);
    b->sources[i] = m->source;
    if (extend_last(b, m, to)) continue;
    pop_push(b->items, b->count, b->capacity,
             (bundle){.to = *to,
                      .source_tile = m->source_tile,
                      .shape = {m->num_words, 1},
                      .first = (uint32_t)i});
  }
}

static void plan_bundle(exchange_plan *plan, const bundles *b, const bundle *x, uint64_t arrival)
{
  timeline *source = timeline_of(plan, x->source_tile);
  const place *from = &b->sources[x->first];
  for (uint64_t left = x->shape.first_words; left; from++) {
    uint32_t begin = (uint32_t)__builtin_ctzll(left);
    left &= left - 1;
    uint32_t end = left ? (uint32_t)__builtin_ctzll(left) : x->shape.words;
    plan_send(source, *from, end - begin, arrival - plan->latency + begin);
  }
  plan_receive(timeline_of(plan, x->to.tile), x->source_tile, x->to.destination, x->shape.words,
               arrival);
}

/* ---- receivers ---- */

/* The bundles of one receiver, a ring in order of addresses. */
typedef struct ring {
  uint32_t tile;
  size_t next;   /* number of the bundle that comes next */
  size_t before; /* and of the one in front of it in the ring */
  size_t left;
} ring;

typedef struct waiting {
  uint64_t cycle; /* when the receiver's input is free */
  uint32_t ring;
} waiting;

typedef struct unicasts {
  bundles bundles;
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

/* Bundles first … end - 1 are one receiver's. */
static void add_ring(unicasts *u, size_t first, size_t end)
{
  bundle *items = u->bundles.items;
  ring added = {.tile = items[first].to.tile, .next = first, .left = end - first};
  for (size_t i = first; i < end; i++) items[i].next = (uint32_t)(i + 1 < end ? i + 1 : first);
  for (size_t i = first; i < end; i++)
    if (items[i].source_tile > added.tile) {
      added.next = i;
      break;
    }
  added.before = added.next > first ? added.next - 1 : end - 1;
  pop_push(u->rings, u->num_rings, u->rings_capacity, added);
  uint64_t cycle = end_of_receives(timeline_of(u->bundles.plan, added.tile));
  heap_push(u, (waiting){.cycle = cycle, .ring = (uint32_t)(u->num_rings - 1)});
}

static uint64_t earliest_bundle(const exchange_plan *plan, const bundle *x, uint64_t from)
{
  transmission t = {
      .source_tile = x->source_tile, .shape = x->shape, .receivers = &x->to, .num_receivers = 1};
  return earliest_arrival(plan, &t, from);
}

/* Takes the best of the next few bundles out of the ring and plans it. */
static void schedule_next(exchange_plan *plan, unicasts *u, ring *r)
{
  const timeline *t = timeline_of(plan, r->tile);
  uint64_t from = end_of_receives(t), best_cycle = 0, best_cost = UINT64_MAX;
  size_t best_before = r->before, before = r->before, position = r->next;
  for (size_t i = 0; i < CHOICES && i < r->left; i++) {
    const bundle *x = &u->bundles.items[position];
    uint64_t cycle = earliest_bundle(plan, x, from);
    uint64_t cost = cycle;
    if (!continues_chain(t, x->to.destination)) cost += ADDRESS_COST;
    if (cost < best_cost) {
      best_cost = cost;
      best_cycle = cycle;
      best_before = before;
    }
    if (cost - (i == 0 ? ADDRESS_COST : 0) <= from + PATIENCE) break; /* soon enough */
    before = position;
    position = x->next;
  }
  bundle *prior = &u->bundles.items[best_before], *taken = &u->bundles.items[prior->next];
  plan_bundle(plan, &u->bundles, taken, best_cycle);
  prior->next = taken->next;
  r->before = best_before;
  r->next = taken->next;
  r->left--;
}

/* What the receiver needs that comes next, into the processor's caches while this one is planned. */
static void fetch_ahead(const unicasts *u)
{
  const ring *r = &u->rings[u->heap[0].ring];
  const exchange_plan *plan = u->bundles.plan;
  timeline_fetch(timeline_of(plan, u->bundles.items[r->next].source_tile), u->heap[0].cycle);
  timeline_fetch(timeline_of(plan, r->tile), u->heap[0].cycle);
}

void schedule_unicasts(exchange_plan *plan, const delivery *deliveries, size_t count)
{
  keyed *order = pop_xrealloc(NULL, count + 1, sizeof *order);
  place *sources = pop_xrealloc(NULL, count + 1, sizeof *sources);
  unicasts u = {
      .bundles = {.plan = plan, .deliveries = deliveries, .order = order, .sources = sources}};
  make_bundles(&u.bundles, count);
  free(order);
  const bundle *items = u.bundles.items;
  for (size_t first = 0, end; first < u.bundles.count; first = end) {
    uint32_t tile = items[first].to.tile;
    for (end = first + 1; end < u.bundles.count && items[end].to.tile == tile;) end++;
    add_ring(&u, first, end);
  }
  while (u.heap_size > 0) {
    waiting top = heap_pop(&u);
    ring *r = &u.rings[top.ring];
    if (u.heap_size > 0) fetch_ahead(&u);
    schedule_next(plan, &u, r);
    if (r->left == 0) continue;
    __builtin_prefetch(
        &u.bundles.items[r->next]); /* needed when all the others have had their turn */
    heap_push(&u, (waiting){end_of_receives(timeline_of(plan, r->tile)), top.ring});
  }
  free(u.rings);
  free(u.heap);
  free(u.bundles.items);
  free(sources);
}
