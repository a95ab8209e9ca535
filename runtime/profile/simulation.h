/* Simulates program traces step by step: when each tile computes, exchanges and waits. It uses the
 * rules of the machine's clock (isa/isa.h) and the costs of the execution. Control code between
 * steps and instrumentation take no time here. */
#ifndef PROFILE_SIMULATION_H
#define PROFILE_SIMULATION_H

#include "profile/execution.h"

/* A stream copy has three steps: its tiles wait for all others; data moves; tiles wait until all
 * have done their part. */
typedef enum simulated_phase {
  PHASE_WHOLE, /* of other steps */
  PHASE_BEGIN, /* a SYNC: the one before the copy */
  PHASE_MID,   /* the STREAM_COPY */
  PHASE_END,   /* a STREAM_COPY without costs */
  PHASE_ANS    /* a SYNC: of tiles that acknowledged syncs in advance, until the last sync */
} simulated_phase;

typedef struct simulated_step {
  executable_step_kind kind; /* EXECUTE, EXCHANGE, GLOBAL_EXCHANGE, STREAM_COPY or SYNC */
  simulated_phase phase;
  uint32_t program; /* step of the executable; EXECUTABLE_NONE for the sync of another step */
  const char *name;
  uint32_t index;    /* compute set, exchange, event - 1, zone (executable_step); PHASE_ANS: row */
  uint32_t syncs;    /* PHASE_ANS: how many were acknowledged */
  uint64_t from, to; /* cycles: the first tile begins, the last is done */
  /* Not set for PHASE_END and SYNC. PHASE_ANS has cycles, costs and begins. */
  uint64_t cycles;        /* of the slowest tile */
  uint64_t overlapped;    /* part of from … to in which earlier steps still run */
  const tile_cost *costs; /* of the tiles that take part, ascending */
  const uint64_t *begins; /* by cost: when the tile begins */
  size_t num_costs;
  uint64_t sum_cycles, total_data; /* of all tiles; bytes received, and sent to the host */
  /* EXECUTE: the part of sum_cycles in which threads execute, on average over the tile's contexts;
   * and its ratio to sum_cycles. Known if each vertex was measured or is estimated. */
  bool knows_threads;
  double active_compute, thread_balance;
  double tile_balance, active_tile_balance, data_balance;
  const execution_fault *fault; /* ended the run in this step; NULL if none did */
} simulated_step;

typedef struct simulation_totals {
  uint64_t cycles;
  /* Of all tiles: */
  bool knows_threads; /* of all steps */
  double active_compute;
  uint64_t compute, do_exchange, global_exchange, stream_copy, sync;
} simulation_totals;

/* Callbacks, in order of time; each may be NULL. */
typedef struct simulation_visitor {
  void (*step)(void *context, const simulated_step *step);
  void (*run)(void *context, const execution_run *run, uint64_t cycle, bool begins);
  void (*block)(void *context, const executable_step *block, uint64_t cycle, bool begins);
  void *context;
} simulation_visitor;

/* "OnTileExecute", "Sync", "StreamCopyBegin", … */
const char *simulated_step_type(const simulated_step *step);

/* Simulates all runs of the execution. What a visitor gets is valid until it returns. */
void simulate(const execution *x, const simulation_visitor *visitor, simulation_totals *totals);

#endif
