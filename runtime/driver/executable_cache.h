/* A cache of executables: a folder of archives, found by a hash of what they were compiled from. */
#ifndef DRIVER_EXECUTABLE_CACHE_H
#define DRIVER_EXECUTABLE_CACHE_H

#include "executable/executable.h"
#include "graph/graph.h"
#include "options/options.h"

typedef struct executable_cache {
  const char *folder;
  uint64_t max_bytes; /* 0: no limit */
  uint64_t key, rest_of_source;
  const char *name; /* of the graph, for the log */
  bool refused;     /* the folder is not used */
} executable_cache;

/* The hash of all that affects the executable; `programs` are indices of the graph. */
void executable_source(pop_graph *graph, const uint32_t *programs, size_t num_programs,
                       const engine_options *options, uint64_t source[2]);
/* Opens the cache that the options name; `name` is for the log. A folder that cannot be trusted is
 * logged and refused. */
executable_cache executable_cache_open(const uint64_t source[2], const char *name,
                                       const engine_options *options);
/* The executable in the cache; NULL if it is missing or damaged: then it has to be compiled. */
pop_executable *executable_cache_find(const executable_cache *cache);
/* Puts the executable into the cache. If the cache is then too large, removes the least recently
 * used entries. A failure is only logged: there is an executable in any case. */
void executable_cache_put(const executable_cache *cache, pop_executable *executable);

#endif
