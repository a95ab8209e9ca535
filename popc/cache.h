/* The compilation cache: results of earlier compilations, in the folder that POPC_CACHE names
 * (populus/cache_folder.h).
 *
 *   name    hash of all that is known before compiling: popc, clang, its arguments, the source's
 *           text
 *   entry   the included files, each with a hash of its content; a hash of the other places where
 *           they could have been (a file there would now be found first); diagnostics; objects
 *
 * An entry counts if all its files are unchanged. Some sources and options cannot be checked that
 * way and are not cached (cache.c): sources that ask for the time or for files that do not exist,
 * options handed on by -X or with files of their own, another clang. Entries use a placeholder for
 * the folder of our own headers, which are the same wherever they are installed. */
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

/* The jobs are prepared and not started yet. */
popc_cache popc_cache_open(const popc_settings *settings, const popc_source *source,
                           popc_product product, const char *clang, const job *jobs, size_t count);
/* False: it has to be compiled. `results` are parallel to the jobs; diagnostics are appended. */
bool popc_cache_find(const popc_cache *cache, popc_result *results, pop_bytes *diagnostics);
/* Stores what was compiled without error, with each job's dependencies and the diagnostics from
 * `before` on. If the folder cannot be written, a diagnostic says so once. */
void popc_cache_put(const popc_cache *cache, const popc_result *results, pop_bytes *diagnostics,
                    size_t before);

/* cache_files.c: the files that a compilation read. */

/* The result may change although no file does: the source asks for the time, for files that do not
 * exist yet, or for files that only the assembler reads. */
bool popc_cache_is_volatile(const void *text, size_t size);
/* `word`, with a placeholder for the folder of our headers and libraries. In the arena. */
const char *popc_cache_portable(const popc_cache *cache, const char *word);
const char *popc_cache_local(const popc_cache *cache, const char *portable);
typedef struct popc_digest {
  uint64_t words[2];
} popc_digest;
/* False: the file cannot be read, is volatile, or (with `compiled`) has changed since
 * compiling began. */
bool popc_cache_digest_file(const popc_cache *cache, const char *file, bool compiled,
                            popc_digest *digest);
/* A hash of which places exist, among those where the compiler might look for these files. */
popc_digest popc_cache_digest_places(const popc_cache *cache, const popc_file_list *files);

#endif
