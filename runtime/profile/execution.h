/* What runs have cost: what the instrumented tiles have counted, and in which order programs were executed.
 *
 *   tiles --engine/execution_profile.c--> execution --execution_emit.c--> the guide's execution profile
 *                                            |
 *                             program_trace.c|simulation.c --> steps: summary, traces
 *
 * A profile is about the runs since it was begun or reset. Cycles are those of the last execution. */
#ifndef PROFILE_EXECUTION_H
#define PROFILE_EXECUTION_H

#include "base/emitter.h"
#include "executable/executable.h"
#include "isa/isa.h"
#include "profile/timed_blocks.h"

/* Steps that a program trace may have: what comes behind is dropped, and profiles say so. */
enum { EXECUTION_MAX_TRACED = 1 << 23 };
/* Runs that are kept: more are counted. */
enum { EXECUTION_MAX_RUNS = 1 << 16 };

/* Why a run did not come to its end. */
typedef struct execution_fault {
  char *message; /* the run's error; NULL: it came to its end */
  const char
      *kind;     /* of a device fault, as machine_fault_name has it; NULL: it was another error */
  uint32_t tile; /* of a device fault, as what follows */
  uint32_t compute_set;      /* whose vertex it was; EXECUTABLE_NONE: control or exchange code */
  uint64_t cycle, superstep; /* since load */
  uint64_t
      cycles; /* of the compute set on that tile; where it is not measured, since the last sync */
  uint64_t syncs; /* of steps that the run has come past, by whatever it ended */
} execution_fault;

/* One run of a program. */
typedef struct execution_run {
  uint32_t program;
  char *name;        /* NULL: none was given */
  uint64_t from, to; /* cycles of the device since load */
  uint64_t instructions, supersteps;
  size_t first_traced, num_traced; /* in execution.trace */
  bool is_complete;                /* the trace has all that was executed */
  execution_fault fault;
} execution_run;

/* In a program trace: the end of a block; its beginning is the block's step. */
#define EXECUTION_BLOCK_END (1u << 31)

typedef struct execution {
  const pop_executable *executable;
  uint32_t *words;    /* of all measures, as the tiles had them */
  size_t *first_word; /* by measure; one more, the end */
  /* Measures by kind, then index, then tile: numbers, and where those of a kind and index begin. */
  uint32_t *sorted;
  size_t *first_of[MEASURE_KINDS];
  EXECUTABLE_ARRAY(execution_run, runs);
  EXECUTABLE_ARRAY(executable_option, parameters); /* that runs went by; texts are its own */
  EXECUTABLE_ARRAY(uint32_t, trace);               /* steps of the executable, and ends of blocks */
  uint64_t num_dropped_runs; /* that came when there were EXECUTION_MAX_RUNS */
  timed_blocks timed;        /* lightweight profiling */
  /* On a model: what the code of vertices without an estimate took when it last ran, in the unit of
   * executable_vertex.cycles, of all works in their order; and where each work's begin. NULL elsewhere. */
  uint64_t *taken;
  size_t *first_taken;
} execution;

/* execution.c */
/* Is all known that was executed? */
bool execution_is_whole(const execution *x);
execution *execution_new(const pop_executable *executable);
void execution_free(execution *x);  /* NULL is fine */
void execution_reset(execution *x); /* as new */
bool execution_is_instrumented(const pop_executable *executable);
/* Vertices take what they are said to take. */
bool execution_is_on_model(const pop_executable *executable);
/* x->taken of a work; NULL if there is nothing. */
uint64_t *execution_taken(const execution *x, size_t work);
/* Are runs profiled? On an IPU Model also without instrumentation, by what vertices are said to take. */
bool execution_is_profiled(const pop_executable *executable);
/* The guide's profilerMode: "NONE", "COMPUTE_SETS", … */
const char *execution_mode(const pop_executable *executable);

/* What a tile has taken for something, and moved. */
typedef struct tile_cost {
  uint32_t tile;
  uint64_t cycles;
  uint64_t sent, received; /* bytes; exchanges only */
} tile_cost;

/* Of the last execution of a compute set on each tile that takes part, ascending. If one tile has measured for
 * several, each of these has what it has found. Room for as many as there are tiles. */
size_t execution_compute_costs(const execution *x, uint32_t compute_set, tile_cost *costs);
/* Of an exchange between tiles, or the host exchange of an event: what was measured, or what the plan says
 * (of a host exchange an estimate; between IPUs and replicas what the machine takes, unless a vertex writes headers of fewer words). */
size_t execution_exchange_costs(const execution *x, uint32_t exchange, tile_cost *costs);
size_t execution_host_costs(const execution *x, uint32_t event, tile_cost *costs);

/* Calls of vertices of a work, where they are measured: cycles of each, in the order of executable_num_calls;
 * NULL if they are not. */
const uint32_t *execution_vertex_cycles(const execution *x, size_t work,
                                        const executable_measure **measure);

/* Of a vertex of the work, by its number in the row; of one that all workers run, those of the slowest. What was measured or,
 * on a model, what it is said to take, or has taken if nothing is said. */
uint64_t execution_cycles_of_vertex(const execution *x, size_t work, uint32_t vertex);

/* Of the tile and the compute set of a fault: the measure has been begun and not ended. It is as if the tile had not executed the
 * set; how many cycles are between the beginning and this one, or what is there now if nothing is measured. */
uint64_t execution_end_measure(execution *x, uint32_t compute_set, uint32_t tile, uint64_t cycle,
                               uint64_t otherwise);

/* program_trace.c: appends what a run has executed. `branches` says which way each branch went. What did not come to its end
 * is traced up to the step of the fault: the first execution of its compute set behind the last sync that happened, or what
 * that sync was for. If that sync is followed by several executions of the set, the trace is said not to be complete. */
void trace_program(execution *x, execution_run *run, const uint32_t *branches, size_t num_branches);

/* execution_emit.c: the guide's execution profile; `what` is an execution. */
void emit_execution(const emitter *to, const void *what);
/* With its key, as a part of something. */
void emit_execution_as(const emitter *to, const char *key, const execution *x);

#endif
