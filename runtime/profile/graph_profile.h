/* The graph profile, with the keys of the user guide, from an executable and what its profile says. Arrays by tile
 * are of one replica.
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

/* Keeps a reference to nothing: the executable must live as long. Errors: executable_profile_get's. */
POP_MUST_CHECK pop_error *graph_profile_open(const pop_executable *e, graph_profile *g);
void graph_profile_close(graph_profile *g);

/* An emit_function of a graph_profile. */
void emit_graph_profile(const emitter *to, const void *graph_profile);
/* With its key, as a part of something. */
void emit_graph_profile_as(const emitter *to, const char *key, const graph_profile *g);

/* graph_profile_exchanges.c, …_programs.c, …_memory.c, …_liveness.c: the entries of these names of the map
 * that is open. */
void emit_exchanges(const emitter *to, const graph_profile *g);
void emit_programs(const emitter *to, const graph_profile *g);
void emit_memory(const emitter *to, const graph_profile *g);
void emit_liveness(const emitter *to, const graph_profile *g);

/* Whether the profile is as if things of this pop_memory_category had no bytes. */
bool leaves_out_category(const graph_profile *g, int category);

/* The summary without the values that it does not use. Errors: executable_profile_get's,
 * pop_profile_print_graph_summary's. */
POP_MUST_CHECK pop_error *graph_summary_print(const pop_executable *e, const pop_option *options,
                                              size_t num_options, FILE *stream);
/* Its part about memory alone. */
POP_MUST_CHECK pop_error *memory_summary_print(const pop_executable *e, FILE *stream);

#endif
