#include "compiler/exchange/bundles.h"

#include "base/order.h"
#include "compiler/exchange/exchange.h"
#include <stdlib.h>

enum { WORD = 4 };

/* Deliveries in order: by receiver, then by address. */
typedef struct ordered {
  const exchange_plan *plan;
  const delivery *deliveries;
  const receiver *receivers; /* of the exchange's messages */
  keyed *order;              /* of deliveries */
  size_t count;
} ordered;

static const message *message_of(const ordered *o, size_t position)
{
  return message_at(o->plan, o->deliveries[o->order[position].index].message);
}

static place destination_of(const ordered *o, size_t position)
{
  return o->receivers[o->deliveries[o->order[position].index].receiver].destination;
}

static void sort_deliveries(ordered *o)
{
  for (size_t i = 0; i < o->count; i++) o->order[i].index = (uint32_t)i;
  for (size_t i = 0; i < o->count; i++) o->order[i].key = place_key(destination_of(o, i));
  sort_keyed(o->order, o->count);
  const block *blocks = o->plan->c->blocks;
  for (size_t i = 0; i < o->count; i++) o->order[i].key = blocks[o->order[i].key >> 32].tile;
  sort_keyed(o->order, o->count);
}

/* Appends a delivery to the last bundle if it continues there. */
static bool extend_last(bundles *b, const message *m, uint32_t source, place destination)
{
  if (b->count == 0) return false;
  bundle *last = &b->items[b->count - 1];
  if (last->source != source || last->destination.block != destination.block ||
      last->destination.offset + last->shape.words * WORD != destination.offset ||
      last->shape.words + (uint64_t)m->num_words > SEND_SHAPE_MAX_WORDS)
    return false;
  last->shape.first_words |= (uint64_t)1 << last->shape.words;
  last->shape.words += m->num_words;
  return true;
}

static void make_bundles(bundles *b, const ordered *o)
{
  const exchange_plan *plan = o->plan;
  for (size_t i = 0; i < o->count; i++) {
    const message *m = message_of(o, i);
    place destination = destination_of(o, i);
    uint32_t source = plan->index_of_tile[m->source_tile];
    b->sources[i] = m->source;
    if (extend_last(b, m, source, destination)) continue;
    pop_push(b->items, b->count, b->capacity,
             (bundle){.shape = {.words = m->num_words, .first_words = 1},
                      .destination = destination,
                      .source = source,
                      .first = (uint32_t)i});
  }
}

static size_t receiver_of(const exchange_plan *plan, const bundle *x)
{
  return plan->index_of_tile[plan->c->blocks[x->destination.block].tile];
}

/* Turns counts into starting positions (exclusive prefix sum). */
static void add_up(size_t *first, size_t count)
{
  size_t sum = 0;
  for (size_t i = 0; i <= count; i++) {
    size_t n = first[i];
    first[i] = sum;
    sum += n;
  }
}

static void index_by_tile(bundles *b, const exchange_plan *plan)
{
  size_t tiles = plan->num_timelines;
  b->first_sent = pop_xcalloc(tiles + 2, sizeof *b->first_sent);
  b->first_received = pop_xcalloc(tiles + 1, sizeof *b->first_received);
  b->by_source = pop_xrealloc(NULL, b->count + 1, sizeof *b->by_source);
  for (size_t i = 0; i < b->count; i++) {
    b->first_sent[b->items[i].source + 1]++;
    b->first_received[receiver_of(plan, &b->items[i])]++;
  }
  add_up(b->first_sent, tiles);
  add_up(b->first_received, tiles);
  for (size_t i = 0; i < b->count; i++)
    b->by_source[b->first_sent[b->items[i].source + 1]++] = (uint32_t)i;
}

bundles bundles_of(const exchange_plan *plan, const delivery *deliveries, size_t count)
{
  ordered o = {.plan = plan,
               .deliveries = deliveries,
               .receivers = &plan->c->receivers[first_receiver_of(plan)],
               .order = pop_xrealloc(NULL, count + 1, sizeof *o.order),
               .count = count};
  bundles b = {.sources = pop_xrealloc(NULL, count + 1, sizeof *b.sources)};
  sort_deliveries(&o);
  make_bundles(&b, &o);
  free(o.order);
  index_by_tile(&b, plan);
  return b;
}

static void list_sent(const exchange_plan *plan, const bundles *b, const bundle *x, op_list *list)
{
  const place *from = &b->sources[x->first];
  for (uint64_t left = x->shape.first_words; left; from++) {
    uint32_t begin = (uint32_t)__builtin_ctzll(left);
    left &= left - 1;
    uint32_t end = left ? (uint32_t)__builtin_ctzll(left) : x->shape.words;
    add_send_ops(list, *from, end - begin, x->arrival - plan->latency + begin);
  }
}

void list_bundles(const exchange_plan *plan, const bundles *b, size_t timeline, op_list *list)
{
  for (size_t i = b->first_sent[timeline]; i < b->first_sent[timeline + 1]; i++)
    list_sent(plan, b, &b->items[b->by_source[i]], list);
  for (size_t i = b->first_received[timeline]; i < b->first_received[timeline + 1]; i++) {
    const bundle *x = &b->items[i];
    uint64_t slot = x->address_slot == CONTINUES ? NO_CYCLE : x->address_slot;
    add_receive_ops(list, plan->timelines[x->source].tile, x->destination, x->shape.words,
                    x->arrival, slot);
  }
}

void bundles_free(bundles *b)
{
  free(b->items);
  free(b->sources);
  free(b->by_source);
  free(b->first_sent);
  free(b->first_received);
}
