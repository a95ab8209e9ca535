/* How the files of pass_exchange call each other. */
#ifndef COMPILER_EXCHANGE_H
#define COMPILER_EXCHANGE_H

#include "compiler/timeline.h"

/* The tiles that take part in an exchange. */
typedef struct exchange_plan {
  compilation *c;
  const exchange *exchange;
  uint32_t latency;
  timeline *timelines; /* ascending by tile */
  size_t num_timelines;
  uint32_t *index_of_tile; /* in `timelines`, for the tiles that take part */
} exchange_plan;

static inline timeline *timeline_of(const exchange_plan *plan, uint32_t tile)
{
  return &plan->timelines[plan->index_of_tile[tile]];
}

/* exchange_schedule.c: gives every message its cycles. */
void schedule_messages(exchange_plan *plan);

/* exchange_verify.c: runs a planned exchange by the rules of isa.h and compares what arrives with the
 * messages. An error says which rule is broken, by which tile, when. */
POP_MUST_CHECK pop_error *verify_exchange(const compilation *c, const exchange *x);

#endif
