/* What the files of pass_exchange share. */
#ifndef COMPILER_EXCHANGE_EXCHANGE_H
#define COMPILER_EXCHANGE_EXCHANGE_H

#include "base/order.h"
#include "compiler/exchange/bundles.h"
#include "compiler/exchange/timeline.h"

/* The state of planning one exchange. */
typedef struct exchange_plan {
  compilation *c;
  const exchange *exchange;
  uint32_t latency;
  timeline *timelines; /* ascending by tile */
  size_t num_timelines;
  uint32_t *index_of_tile; /* in `timelines`, for the tiles that take part */
  bundles bundles;         /* what is sent to one tile */
} exchange_plan;

static inline timeline *timeline_of(const exchange_plan *plan, uint32_t tile)
{
  return &plan->timelines[plan->index_of_tile[tile]];
}

static inline const message *message_at(const exchange_plan *plan, uint32_t number)
{
  return &plan->c->messages[plan->exchange->first_message + number];
}

static inline const receiver *receivers_of(const exchange_plan *plan, const message *m)
{
  return &plan->c->receivers[m->first_receiver];
}

static inline size_t first_receiver_of(const exchange_plan *plan)
{
  return message_at(plan, 0)->first_receiver;
}

/* A sort key for addresses on one tile. */
static inline uint64_t place_key(place at)
{
  return (uint64_t)at.block << 32 | at.offset;
}

/* schedule.c: gives every message its cycles. Afterwards the instructions of messages to several
 * tiles are in the timelines' lists; the other messages are in the bundles. */
void schedule_messages(exchange_plan *plan);

/* Words that one tile sends without a gap and that one or more tiles receive. */
typedef struct transmission {
  uint32_t source_tile;
  send_shape shape;
  const receiver *receivers;
  size_t num_receivers;
} transmission;

/* The first cycle >= `from` in which the first word can arrive everywhere. */
uint64_t earliest_arrival(const exchange_plan *plan, const transmission *t, uint64_t from);

/* multicast.c: schedules messages to several tiles; messages[i].index are their numbers. */
void schedule_multicasts(exchange_plan *plan, const keyed *messages, size_t count);

/* A message as one of its receivers gets it. */
typedef struct delivery {
  uint32_t message;
  uint32_t receiver; /* number among the exchange's receivers */
} delivery;

/* unicast.c: schedules messages from one tile to one other tile. */
void schedule_unicasts(exchange_plan *plan, const delivery *deliveries, size_t count);

/* global.c: plans the packets of an exchange between IPUs. */
void plan_global_exchange(compilation *c, exchange *x);

/* verify.c: runs a planned exchange by the rules of isa.h and compares what arrives with the
 * messages. The error names the broken rule, the tile and the cycle. */
POP_MUST_CHECK pop_error *verify_exchange(const compilation *c, const exchange *x);

#endif
