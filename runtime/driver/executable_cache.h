/* A folder of archives of what has been compiled before, by a hash of what it was compiled from. */
#ifndef DRIVER_EXECUTABLE_CACHE_H
#define DRIVER_EXECUTABLE_CACHE_H

#include "executable/executable.h"
#include "graph/graph.h"
#include "options/options.h"

typedef struct executable_cache {
  const char *folder;
  uint64_t max_bytes; /* 0: no limit */
  uint64_t key, rest_of_source;
  const char *name; /* of what is compiled, for the log */
  bool refused;     /* nothing is found there or put in */
} executable_cache;

/* A hash of all that shapes what is compiled; `programs` are indices of the graph. */
void executable_source(pop_graph *graph, const uint32_t *programs, size_t num_programs,
                       const engine_options *options, uint64_t source[2]);
/* For the cache that the options name; `name` is for the log. A folder that cannot be trusted is logged
 * and refused. */
executable_cache executable_cache_open(const uint64_t source[2], const char *name,
                                       const engine_options *options);
/* What is in the cache; NULL if it is not there or damaged: then it has to be compiled. */
pop_executable *executable_cache_find(const executable_cache *cache);
/* Puts it in, and the least recently used out if it is too much then. That this may fail is logged
 * and no error: there is an executable. */
void executable_cache_put(const executable_cache *cache, pop_executable *executable);

#endif
