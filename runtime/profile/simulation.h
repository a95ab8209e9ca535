/* Program traces step by step: when each tile computes, exchanges and waits, by the rules of the machine's clock
 * (isa/isa.h) and what the execution has for each. Control code between steps takes no time here, nor does
 * instrumentation. */
#ifndef PROFILE_SIMULATION_H
#define PROFILE_SIMULATION_H

#include "profile/execution.h"

/* A stream copy has three: its tiles wait for all others; data move; they wait until all of them have done their part. */
typedef enum simulated_phase {
  PHASE_WHOLE, /* of other steps */
  PHASE_BEGIN, /* a SYNC: that in front of the copy */
  PHASE_MID,   /* the STREAM_COPY */
  PHASE_END,   /* kind STREAM_COPY, without costs */
  PHASE_ANS /* a SYNC: of tiles that have acknowledged some in advance, until the last has happened */
} simulated_phase;

typedef struct simulated_step {
  executable_step_kind kind; /* EXECUTE, EXCHANGE, GLOBAL_EXCHANGE, STREAM_COPY or SYNC */
  simulated_phase phase;
  uint32_t program; /* step of the executable; EXECUTABLE_NONE: a sync of another step's */
  const char *name;
  uint32_t
      index; /* compute set, exchange, event - 1, zone; as in executable_step. PHASE_ANS: of ans_rows */
  uint32_t syncs;    /* PHASE_ANS: how many have been acknowledged */
  uint64_t from, to; /* cycles: the first tile begins, the last is done */
  /* Not of PHASE_END, nor of a SYNC but for PHASE_ANS, which has cycles, costs and begins: */
  uint64_t cycles;        /* of the tile that takes longest */
  uint64_t overlapped;    /* of from … to with steps before */
  const tile_cost *costs; /* of the tiles that take part, ascending */
  const uint64_t *begins; /* by cost: when the tile begins */
  size_t num_costs;
  uint64_t sum_cycles,
      total_data; /* of all tiles; bytes that were received, and sent to the host */
  /* EXECUTE: of sum_cycles what one thread would have needed, of six that run; and its share of sum_cycles. Known where
   * each vertex was measured or is estimated. */
  bool knows_threads;
  double active_compute, thread_balance;
  double tile_balance, active_tile_balance, data_balance;
  const execution_fault *fault; /* its run ended here; NULL otherwise */
} simulated_step;

typedef struct simulation_totals {
  uint64_t cycles;
  /* Of all tiles: */
  bool knows_threads; /* of all steps */
  double active_compute;
  uint64_t compute, do_exchange, global_exchange, stream_copy, sync;
} simulation_totals;

/* What happens, in order; each may be NULL. */
typedef struct simulation_visitor {
  void (*step)(void *context, const simulated_step *step);
  void (*run)(void *context, const execution_run *run, uint64_t cycle, bool begins);
  void (*block)(void *context, const executable_step *block, uint64_t cycle, bool begins);
  void *context;
} simulation_visitor;

/* "OnTileExecute", "Sync", "StreamCopyBegin", … */
const char *simulated_step_type(const simulated_step *step);

/* All runs of the execution. What a visitor gets lives until it returns. */
void simulate(const execution *x, const simulation_visitor *visitor, simulation_totals *totals);

#endif
