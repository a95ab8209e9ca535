/* A verified exchange: the cycles of each tile's part, and the copies.
 *
 *   tiles that wait in tile.exchange --exchange_run.c--> is there a plan? --yes--> run it
 *                                      no --exchange.c--> verified, copies added ---^ */
#ifndef MACHINE_EXCHANGE_PLAN_H
#define MACHINE_EXCHANGE_PLAN_H

#include "copies.h"
#include "state.h"

/* A tile that takes part in the exchange. */
typedef struct exchange_part {
  uint32_t tile, code; /* address */
  uint32_t received;   /* bytes */
  uint64_t cycles;     /* of its code */
} exchange_part;

typedef struct exchange_plan {
  struct exchange_plan *next;      /* in the same chain of the hash table */
  struct exchange_plan *successor; /* the plan that followed this one the last time, or NULL */
  uint64_t hash;
  bool plain;       /* copies are not merged */
  uint8_t *waiting; /* the plan's key: m->at when the plan is wanted */
  uint32_t *stop_argument;
  exchange_part *parts; /* ascending by tile */
  size_t num_parts, parts_capacity;
  uint64_t received; /* by all parts */
  copy_list copies;
} exchange_plan;

/* exchange.c: checks the code of the parts and adds their copies; false after a fault. */
bool exchange_verify(machine *m, exchange_plan *plan);

/* exchange_run.c: the copies of a plan may run in any order. */
void exchange_plan_add(exchange_plan *plan, uint8_t *to, const uint8_t *from, uint32_t bytes);

#endif
