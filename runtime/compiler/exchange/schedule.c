/* Decides when each message of an exchange is sent.
 *
 * No schedule is shorter than the number of words that the busiest tile sends or receives. Three
 * things keep a plan from that bound. Every send, receive and new address takes the one instruction
 * slot of its cycle. A message to many tiles needs all of them at once. Receivers wait for a sender
 * that is serving another.
 *
 *  1. Messages to several tiles are planned first (multicast.c).
 *  2. Then messages to one tile (unicast.c). A short message to a few tiles is sent to each of them
 *     separately if its sender has time for that. Its receivers then need not be free at the same
 *     time, and each gets its words in the order of its addresses. That saves more than the extra
 *     sends cost. */
#include "compiler/exchange/exchange.h"

#include "base/order.h"
#include <stdlib.h>

enum { FEW_RECEIVERS = 4, FEW_RECEIVERS_IF_BALANCED = 2, FEW_WORDS = 8 };

/* A message from a tile to itself has no other receiver, and few words. */
static bool is_possible(const exchange_plan *plan, const transmission *t, uint64_t arrival)
{
  if (t->receivers[0].tile != t->source_tile) return true;
  return can_send_and_receive(timeline_of(plan, t->source_tile), &t->shape, arrival - plan->latency,
                              t->receivers[0].destination, arrival);
}

static uint64_t earliest_alone(const exchange_plan *plan, const transmission *t, uint64_t from)
{
  const timeline *source = timeline_of(plan, t->source_tile);
  uint64_t cycle = from < plan->latency ? plan->latency : from, tried;
  do {
    tried = cycle;
    cycle = earliest_send(source, &t->shape, cycle - plan->latency) + plan->latency;
    for (size_t i = 0; i < t->num_receivers; i++)
      cycle = earliest_receive(timeline_of(plan, t->receivers[i].tile), t->receivers[i].destination,
                               t->shape.words, cycle);
  } while (cycle != tried);
  return cycle;
}

uint64_t earliest_arrival(const exchange_plan *plan, const transmission *t, uint64_t from)
{
  uint64_t cycle = earliest_alone(plan, t, from);
  while (!is_possible(plan, t, cycle)) cycle = earliest_alone(plan, t, cycle + 1);
  return cycle;
}

/* ---- which messages are sent to each receiver separately ---- */

static bool is_small(const exchange_plan *plan, const message *m)
{
  uint32_t few = plan->c->options.exchange_target == EXCHANGE_FOR_CYCLES
                     ? FEW_RECEIVERS
                     : FEW_RECEIVERS_IF_BALANCED;
  return m->num_receivers <= few && m->num_words <= FEW_WORDS;
}

/* Sending to each receiver takes more instructions, but often less time. */
static bool may_be_split(const exchange_plan *plan, const message *m)
{
  switch ((multicast_policy)plan->c->options.multicast_policy) {
  case MULTICAST_ALWAYS:
    return false;
  case MULTICAST_NEVER:
    return true;
  case MULTICAST_BALANCED:
    break;
  }
  return plan->c->options.exchange_target != EXCHANGE_FOR_MEMORY && is_small(plan, m);
}

/* Words that each tile sends if every message that may be split is split. *most: words that the
 * busiest tile receives, a lower bound of the time in any case. */
static uint64_t *find_loads(const exchange_plan *plan, uint64_t *most)
{
  uint64_t *sent = pop_xcalloc(plan->num_timelines + 1, sizeof *sent);
  uint64_t *received = pop_xcalloc(plan->num_timelines + 1, sizeof *received);
  for (uint32_t i = 0; i < plan->exchange->num_messages; i++) {
    const message *m = message_at(plan, i);
    uint64_t times = may_be_split(plan, m) ? m->num_receivers : 1;
    sent[plan->index_of_tile[m->source_tile]] += times * m->num_words;
    for (size_t j = 0; j < m->num_receivers; j++)
      received[plan->index_of_tile[receivers_of(plan, m)[j].tile]] += m->num_words;
  }
  *most = 0;
  for (size_t i = 0; i < plan->num_timelines; i++)
    if (received[i] > *most) *most = received[i];
  free(received);
  return sent;
}

void schedule_messages(exchange_plan *plan)
{
  uint64_t most, *sent = find_loads(plan, &most);
  keyed *several = NULL;
  delivery *single = NULL;
  size_t first = first_receiver_of(plan);
  size_t num_several = 0, several_capacity = 0, num_single = 0, single_capacity = 0;
  for (uint32_t i = 0; i < plan->exchange->num_messages; i++) {
    const message *m = message_at(plan, i);
    bool has_time = sent[plan->index_of_tile[m->source_tile]] <= most ||
                    plan->c->options.multicast_policy == MULTICAST_NEVER;
    if (m->num_receivers > 1 && !(may_be_split(plan, m) && has_time)) {
      pop_push(several, num_several, several_capacity, (keyed){.index = i});
      continue;
    }
    for (uint32_t j = 0; j < m->num_receivers; j++)
      pop_push(single, num_single, single_capacity,
               (delivery){i, (uint32_t)(m->first_receiver - first) + j});
  }
  free(sent);
  schedule_multicasts(plan, several, num_several);
  schedule_unicasts(plan, single, num_single);
  free(several);
  free(single);
}
