/* What sources were compiled to before, in the folder that POPC_CACHE names (populus/cache_folder.h).
 *
 *   name    hash of all that is known before compiling: popc, clang, what clang is told, the source's text
 *   entry   the files that were included, each with the hash of what was in it; the hash of where else they could have
 *           been (files that would now be found first); diagnostics; objects
 *
 * An entry counts if all files are as they were. What cannot be known that way is not cached: sources that ask for the
 * time or for files that are not there, options handed on by -X or with files of their own, another clang (cache.c).
 * Our own headers are the same wherever they are installed: entries call their folder by a name of its own. */
#ifndef POPC_CACHE_H
#define POPC_CACHE_H

#include "compile_internal.h"

#include <time.h>

typedef struct popc_cache {
  const popc_settings *settings;
  const popc_source *source;
  const job *jobs;
  size_t num_jobs;
  const char *folder, *path; /* of the entry; NULL: this compilation is not cached */
  struct timespec begun;
} popc_cache;

/* The jobs are prepared, and not started. */
popc_cache popc_cache_open(const popc_settings *settings, const popc_source *source,
                           popc_product product, const char *clang, const job *jobs, size_t count);
/* False: to be compiled. `results` are parallel to the jobs; diagnostics are appended. */
bool popc_cache_find(const popc_cache *cache, popc_result *results, pop_bytes *diagnostics);
/* What was compiled without error, each job with its dependencies, and what was said from `before` on. If the folder
 * cannot be written, that is said once. */
void popc_cache_put(const popc_cache *cache, const popc_result *results, pop_bytes *diagnostics,
                    size_t before);

/* cache_files.c: the files that a compilation read. */

/* May change although no file does: the time, files that are not there yet, files that only the assembler reads. */
bool popc_cache_is_volatile(const void *text, size_t size);
/* `word`, with the folder of our headers and libraries under its own name. In the arena. */
const char *popc_cache_portable(const popc_cache *cache, const char *word);
const char *popc_cache_local(const popc_cache *cache, const char *portable);
typedef struct popc_digest {
  uint64_t words[2];
} popc_digest;
/* False: it cannot be read, is volatile, or (with `compiled`) has changed since compiling began. */
bool popc_cache_digest_file(const popc_cache *cache, const char *file, bool compiled,
                            popc_digest *digest);
/* Which of the places are taken where the compiler might look for these files. */
popc_digest popc_cache_digest_places(const popc_cache *cache, const popc_file_list *files);

#endif
