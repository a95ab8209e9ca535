/* What runs cost: the measurements of instrumented tiles, and the order in which programs were
 * executed.
 *
 *   tiles --engine/execution_profile.c--> execution --execution_emit.c--> the guide's execution profile
 *                                            |
 *                             program_trace.c|simulation.c --> steps: summary, traces
 *
 * A profile covers the runs since it was begun or reset. Cycles are those of the last execution. */
#ifndef PROFILE_EXECUTION_H
#define PROFILE_EXECUTION_H

#include "base/emitter.h"
#include "executable/executable.h"
#include "isa/isa.h"
#include "profile/timed_blocks.h"

/* The most steps of a program trace. Later ones are dropped, and profiles say so. */
enum { EXECUTION_MAX_TRACED = 1 << 23 };
/* The most runs that are kept. Later ones are only counted. */
enum { EXECUTION_MAX_RUNS = 1 << 16 };

/* Why a run ended early. */
typedef struct execution_fault {
  char *message;             /* the run's error; NULL if it completed */
  const char *kind;          /* of a device fault (machine_fault_name); NULL for any other error */
  uint32_t tile;             /* this and what follows: of a device fault */
  uint32_t compute_set;      /* of the vertex; EXECUTABLE_NONE: control or exchange code */
  uint64_t cycle, superstep; /* since load */
  uint64_t cycles; /* of the compute set on that tile; if not measured, since the last sync */
  uint64_t syncs;  /* that happened in the run, however it ended */
} execution_fault;

/* One run of a program. */
typedef struct execution_run {
  uint32_t program;
  char *name;        /* NULL: none was given */
  uint64_t from, to; /* cycles of the device since load */
  uint64_t instructions, supersteps;
  size_t first_traced, num_traced; /* in execution.trace */
  bool is_complete;                /* the trace has everything that was executed */
  execution_fault fault;
} execution_run;

/* In a program trace this bit marks the end of a block. Its beginning is the block's step alone. */
#define EXECUTION_BLOCK_END (1u << 31)

typedef struct execution {
  const pop_executable *executable;
  uint32_t *words;    /* of all measures, as read from the tiles */
  size_t *first_word; /* by measure, and the end */
  /* Numbers of measures, by kind, then index, then tile; and where those of each kind and index
   * begin. */
  uint32_t *sorted;
  size_t *first_of[MEASURE_KINDS];
  EXECUTABLE_ARRAY(execution_run, runs);
  EXECUTABLE_ARRAY(executable_option, parameters); /* of the runs; owns their texts */
  EXECUTABLE_ARRAY(uint32_t, trace);               /* steps of the executable, and ends of blocks */
  uint64_t num_dropped_runs;                       /* beyond EXECUTION_MAX_RUNS */
  timed_blocks timed;                              /* lightweight profiling */
  /* On a model: cycles of vertices without an estimate, when they last ran. In the unit of
   * executable_vertex.cycles, for all works in order. `first_taken`: where each work's begin. NULL
   * otherwise. */
  uint64_t *taken;
  size_t *first_taken;
} execution;

/* execution.c */
/* Is everything recorded that was executed? */
bool execution_is_whole(const execution *x);
execution *execution_new(const pop_executable *executable);
void execution_free(execution *x);  /* NULL is fine */
void execution_reset(execution *x); /* as new */
bool execution_is_instrumented(const pop_executable *executable);
/* Do vertices take their estimates? */
bool execution_is_on_model(const pop_executable *executable);
/* The work's part of x->taken; NULL if there is none. */
uint64_t *execution_taken(const execution *x, size_t work);
/* Are runs profiled? On an IPU Model they are also without instrumentation, by estimates. */
bool execution_is_profiled(const pop_executable *executable);
/* The guide's profilerMode: "NONE", "COMPUTE_SETS", … */
const char *execution_mode(const pop_executable *executable);

/* The cycles of a tile, and the bytes that it moved. */
typedef struct tile_cost {
  uint32_t tile;
  uint64_t cycles;
  uint64_t sent, received; /* bytes; exchanges only */
} tile_cost;

/* The last execution of a compute set, by tile that takes part, ascending. If one tile measured for
 * several, all of these have its cycles. `costs` has room for all tiles. */
size_t execution_compute_costs(const execution *x, uint32_t compute_set, tile_cost *costs);
/* An exchange between tiles, or the host exchange of an event: what was measured, or otherwise
 * planned. The plan of a host exchange is an estimate. Between IPUs and replicas it is what the
 * machine takes, unless a vertex writes packet headers with fewer words. */
size_t execution_exchange_costs(const execution *x, uint32_t exchange, tile_cost *costs);
size_t execution_host_costs(const execution *x, uint32_t event, tile_cost *costs);
/* Between IPUs or replicas all tiles take the same time, which isa.h defines. */
uint64_t execution_global_cycles(const pop_executable *e, const executable_exchange *exchange);
/* How long an exchange with the host transfers data: all tiles continue when the bytes of the
 * fullest IPU have been moved. */
uint64_t execution_host_transfer(const pop_executable *e, const executable_event *event);

/* The measured cycles of each call of a vertex in a work, in the order of executable_num_calls.
 * NULL if calls are not measured. */
const uint32_t *execution_vertex_cycles(const execution *x, size_t work,
                                        const executable_measure **measure);

/* The cycles of a vertex, by its number in the row: measured or, on a model, estimated, or what it
 * took if it has no estimate. For a vertex that all workers run, those of the slowest worker. */
uint64_t execution_cycles_of_vertex(const execution *x, size_t work, uint32_t vertex);
/* Of a vertex of all workers: the measured cycles on one of them. */
uint64_t execution_cycles_on_worker(const execution *x, size_t work, uint32_t vertex,
                                    uint32_t worker);

/* Ends the measure that was running when a fault came. The measure is cleared, as if the tile had
 * not executed the set. Returns the cycles from its beginning to `cycle`, or `otherwise` if the set
 * is not measured there. */
uint64_t execution_end_measure(execution *x, uint32_t compute_set, uint32_t tile, uint64_t cycle,
                               uint64_t otherwise);

/* For a run that failed at cycle `now`: drops what tiles had begun to measure and not ended, as if
 * they had not executed it. That is any number of tiles, in a compute set or in an exchange. */
void execution_drop_unfinished(execution *x, uint64_t now);

/* program_trace.c: appends the steps that a run executed. `branches` says which way each branch
 * went. The trace of a run that failed ends at the step of the fault. That is the first execution
 * of its compute set after the last sync that happened, or the step of that sync. If the set is
 * executed several times after that sync, the trace is marked as not complete. */
void trace_program(execution *x, execution_run *run, const uint32_t *branches, size_t num_branches);

/* execution_emit.c: the guide's execution profile; `what` is an execution. */
void emit_execution(const emitter *to, const void *what);
/* The same with a key, inside a map. */
void emit_execution_as(const emitter *to, const char *key, const execution *x);

#endif
