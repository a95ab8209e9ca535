/* The graph profile, with the user guide's keys, from an executable and its profile. Arrays by tile
 * are for one replica.
 *
 *   {target, optimizationInfo, graph, vertexTypes, computeSets, exchanges, externalExchanges,
 *    hostExchanges, programs, controlPrograms, functionPrograms, memory} */
#ifndef PROFILE_GRAPH_PROFILE_H
#define PROFILE_GRAPH_PROFILE_H

#include "base/emitter.h"
#include "executable/executable.h"
#include "profile/exchange_numbers.h"

typedef struct graph_profile {
  const pop_executable *e;
  executable_profile *p;
  exchange_numbers numbers;
  /* Leaves out what the summary does not use: computeSets, exchanges and memory.byComputeSet. */
  bool for_summary;
} graph_profile;

/* The executable must outlive `g`. Errors: those of executable_profile_get. */
POP_MUST_CHECK pop_error *graph_profile_open(const pop_executable *e, graph_profile *g);
void graph_profile_close(graph_profile *g);

/* An emit_function of a graph_profile. */
void emit_graph_profile(const emitter *to, const void *graph_profile);
/* The same with a key, inside a map. */
void emit_graph_profile_as(const emitter *to, const char *key, const graph_profile *g);

/* graph_profile_exchanges.c, …_programs.c, …_memory.c, …_liveness.c: these entries of the open
 * map. */
void emit_exchanges(const emitter *to, const graph_profile *g);
void emit_programs(const emitter *to, const graph_profile *g);
void emit_memory(const emitter *to, const graph_profile *g);
void emit_liveness(const emitter *to, const graph_profile *g);

/* Does the profile count things of this pop_memory_category as 0 bytes? */
bool leaves_out_category(const graph_profile *g, int category);

/* The summary, without the values that it does not use. Errors: those of executable_profile_get and
 * pop_profile_print_graph_summary. */
POP_MUST_CHECK pop_error *graph_summary_print(const pop_executable *e, const pop_option *options,
                                              size_t num_options, FILE *stream);
/* Only its part about memory. */
POP_MUST_CHECK pop_error *memory_summary_print(const pop_executable *e, FILE *stream);

#endif
