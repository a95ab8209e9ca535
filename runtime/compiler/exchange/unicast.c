/* Schedules messages from one tile to one other, bundle by bundle.
 *
 * A greedy list scheduler. The receiver whose input is free first takes its next bundle. That is
 * the bundle at the head of its queue, unless its sender is busy for longer than a new address
 * costs; then it is the best of the next few (CHOICES). Each receiver begins at the senders with
 * numbers above its own, so that in an all-to-all exchange the receivers do not all begin with the
 * same sender. */
#include "compiler/exchange/exchange.h"

#include <stdlib.h>

enum { CHOICES = 16, ADDRESS_COST = 1, PATIENCE = 2, CYCLES_AT_ONCE = 64 };

/* ---- receivers ---- */

/* A bundle that has not been planned, with all that is needed to choose among candidates. */
typedef struct candidate {
  send_shape shape;
  place destination;
  uint32_t source; /* number of the timeline */
  uint32_t bundle;
} candidate;

/* The bundles of one receiver that have not been planned, as a ring buffer. A bundle that is passed
 * over moves to the end of the queue. So the next candidates are contiguous in memory: reading them
 * dominates the running time. */
typedef struct queue {
  timeline *receiver;
  candidate *items;
  uint32_t size, begin, left;
} queue;

static candidate *candidate_at(const queue *q, uint32_t number)
{
  uint32_t at = q->begin + number;
  return &q->items[at < q->size ? at : at - q->size];
}

/* Removes the candidate, and moves those before it to the end. */
static candidate queue_take(queue *q, uint32_t number)
{
  candidate taken = *candidate_at(q, number);
  for (uint32_t i = 0; i < number; i++) {
    uint32_t to = q->left + i;
    *candidate_at(q, to < q->size ? to : to - q->size) = *candidate_at(q, i);
  }
  q->begin = (q->begin + number + 1) % q->size;
  q->left--;
  return taken;
}

typedef struct waiting {
  uint64_t cycle; /* when the receiver's input is free */
  uint32_t queue;
} waiting;

typedef struct unicasts {
  exchange_plan *plan;
  candidate *candidates; /* of all queues */
  queue *queues;
  size_t num_queues;
  waiting *heap; /* the queue whose receiver is free first is on top */
  size_t heap_size, heap_capacity;
} unicasts;

static bool is_earlier(waiting a, waiting b)
{
  return a.cycle != b.cycle ? a.cycle < b.cycle : a.queue < b.queue;
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

/* Adds the queue of one receiver: bundles first … end - 1. */
static void add_queue(unicasts *u, size_t tile, size_t first, size_t end)
{
  const bundle *items = u->plan->bundles.items;
  queue added = {.receiver = &u->plan->timelines[tile],
                 .items = &u->candidates[first],
                 .size = (uint32_t)(end - first),
                 .left = (uint32_t)(end - first)};
  while (first + added.begin < end && items[first + added.begin].source <= tile) added.begin++;
  if (added.begin == added.size) added.begin = 0;
  for (size_t i = first; i < end; i++)
    added.items[i - first] =
        (candidate){items[i].shape, items[i].destination, items[i].source, (uint32_t)i};
  heap_push(u, (waiting){end_of_receives(added.receiver), (uint32_t)u->num_queues});
  u->queues[u->num_queues++] = added;
}

/* A receiver whose turn it is. Its next bundle arrives after everything that it has got so far. */
typedef struct turn {
  const exchange_plan *plan;
  const timeline *receiver;
  uint64_t from;                     /* the first cycle after that */
  uint64_t first;                    /* first cycle >= `from` in which a word can arrive at all */
  uint64_t continuing, with_address; /* bit i: can receive in cycle first + i */
} turn;

static turn turn_of(const exchange_plan *plan, const timeline *receiver)
{
  uint64_t from = end_of_receives(receiver);
  uint64_t first = from < plan->latency ? plan->latency : from;
  turn t = {.plan = plan, .receiver = receiver, .from = from, .first = first};
  if (first - from >= CYCLES_AT_ONCE) return t;
  t.continuing = receives_at_end(receiver, true) >> (first - from);
  t.with_address = receives_at_end(receiver, false) >> (first - from);
  return t;
}

static uint64_t earliest_of(const turn *t, const candidate *x)
{
  const receiver to = {t->receiver->tile, x->destination};
  transmission sent = {.source_tile = t->plan->timelines[x->source].tile,
                       .shape = x->shape,
                       .receivers = &to,
                       .num_receivers = 1};
  return earliest_arrival(t->plan, &sent, t->from);
}

/* When the candidate can arrive, or NO_CYCLE if not before `limit`. Usually it can arrive soon, and
 * the bit sets say when. They are not enough for a longer wait, and for a tile that sends to
 * itself. */
static uint64_t earliest_before(const turn *t, const candidate *x, bool continues, uint64_t limit)
{
  if (t->first >= limit) return NO_CYCLE;
  const timeline *source = &t->plan->timelines[x->source];
  if (x->shape.words <= SEND_SHAPE_MAX_WORDS && source != t->receiver) {
    uint64_t possible = continues ? t->continuing : t->with_address;
    if (possible) possible &= sends_from(source, &x->shape, t->first - t->plan->latency);
    if (possible) return t->first + (uint64_t)__builtin_ctzll(possible);
    if (limit - t->first <= CYCLES_AT_ONCE) return NO_CYCLE;
  }
  return earliest_of(t, x);
}

static void plan_candidate(exchange_plan *plan, timeline *receiver, const candidate *x,
                           uint64_t arrival)
{
  reserve_send(&plan->timelines[x->source], &x->shape, arrival - plan->latency);
  uint64_t slot = reserve_receive(receiver, x->destination, x->shape.words, arrival);
  bundle *planned = &plan->bundles.items[x->bundle];
  planned->arrival = (uint32_t)arrival;
  planned->address_slot = slot == NO_CYCLE ? CONTINUES : (uint32_t)slot;
}

/* Takes the best of the next few bundles out of the queue and plans it. */
static void schedule_next(exchange_plan *plan, queue *q)
{
  const turn t = turn_of(plan, q->receiver);
  uint64_t best_cycle = 0, best_cost = NO_CYCLE;
  uint32_t best = 0;
  for (uint32_t i = 0; i < CHOICES && i < q->left; i++) {
    const candidate *x = candidate_at(q, i);
    bool continues = continues_chain(t.receiver, x->destination);
    uint64_t extra = continues ? 0 : ADDRESS_COST;
    uint64_t cycle = earliest_before(&t, x, continues, best_cost - extra);
    if (cycle >= best_cost - extra) continue;
    best_cost = cycle + extra;
    best_cycle = cycle;
    best = i;
    if (best_cost - (i == 0 ? ADDRESS_COST : 0) <= t.from + PATIENCE) break; /* soon enough */
  }
  candidate taken = queue_take(q, best);
  plan_candidate(plan, q->receiver, &taken, best_cycle);
}

/* Prefetches what the next receiver on the heap needs, while this one is being planned. */
static void prefetch_next(const unicasts *u)
{
  const queue *q = &u->queues[u->heap[0].queue];
  for (uint32_t i = 0; i < CHOICES && i < q->left; i += 2) __builtin_prefetch(candidate_at(q, i));
  timeline_prefetch(q->receiver, u->heap[0].cycle);
}

void schedule_unicasts(exchange_plan *plan, const delivery *deliveries, size_t count)
{
  plan->bundles = bundles_of(plan, deliveries, count);
  const bundles *b = &plan->bundles;
  unicasts u = {.plan = plan,
                .candidates = pop_xrealloc(NULL, b->count + 1, sizeof *u.candidates),
                .queues = pop_xrealloc(NULL, plan->num_timelines + 1, sizeof *u.queues)};
  for (size_t i = 0; i < plan->num_timelines; i++)
    if (b->first_received[i] < b->first_received[i + 1])
      add_queue(&u, i, b->first_received[i], b->first_received[i + 1]);
  while (u.heap_size > 0) {
    waiting top = heap_pop(&u);
    queue *q = &u.queues[top.queue];
    if (u.heap_size > 0) prefetch_next(&u);
    schedule_next(plan, q);
    if (q->left > 0) heap_push(&u, (waiting){end_of_receives(q->receiver), top.queue});
  }
  free(u.queues);
  free(u.heap);
  free(u.candidates);
}
