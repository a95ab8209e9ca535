/* The executable cache: archives named after their keys, `0123456789abcdef.a`.
 *
 *   source = XXH3, 128 bits, of (graph and programs, options that affect the executable, the
 *            compiler: version, sources, codelets)
 *   key    = its lower 64 bits
 *
 * An archive holds its source, so that two programs with the same key are told apart.
 *
 * populus/cache_folder.h says how processes share the folder. Two processes that compile the same
 * program write the same bytes. Archives are not compressed: the fastest level of zstd reads 600
 * MB/s, a tenth of the page cache's speed. All images are compared with their digests when an entry
 * is found, because later there is no graph to compile again.
 */
#include "driver/executable_cache.h"

#include "base/cache_trim.h"
#include "base/log.h"
#include "compiler_identity.h"
#include "graph/fingerprint.h"
#include <errno.h>
#include <populus/cache_folder.h>
#include <populus/data_dir.h>
#include <populus/file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define XXH_STATIC_LINKING_ONLY /* the state is a struct, so it needs no allocation */
#include <xxhash.h>

static const char suffix[] = ".a";

/* ---- key ---- */

static void add(XXH3_state_t *state, const void *bytes, size_t size)
{
  XXH3_128bits_update(state, bytes, size);
}

/* The compiler's own codelets are built with the project: they are a part of the compiler. */
static void add_compiler(XXH3_state_t *state)
{
  static const char version[] = POPULUS_VERSION " " POPULUS_COMPILER_IDENTITY;
  const uint32_t format = EXECUTABLE_FORMAT;
  char *path = pop_xasprintf("%s/poplibs.gp", pop_data_dir());
  uint8_t *bytes = NULL;
  size_t size = 0;
  pop_error *error = pop_file_read(path, SIZE_MAX, &bytes, &size);
  if (!error) add(state, bytes, size);
  pop_error_free(error); /* their user reports that they are missing */
  add(state, version, sizeof version);
  add(state, &format, sizeof format);
  free(bytes);
  free(path);
}

static void add_options(XXH3_state_t *state, const engine_options *options)
{
  size_t count;
  const executable_option *given = options_given(options, ON_COMPILE, &count);
  for (size_t i = 0; i < count; ++i) {
    add(state, given[i].key, strlen(given[i].key) + 1);
    add(state, given[i].value, strlen(given[i].value) + 1);
  }
}

void executable_source(pop_graph *graph, const uint32_t *programs, size_t num_programs,
                       const engine_options *options, uint64_t source[2])
{
  fingerprint of_graph = graph_fingerprint(graph, programs, num_programs);
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset(&state);
  add(&state, &of_graph, sizeof of_graph);
  add_options(&state, options);
  add_compiler(&state);
  XXH128_hash_t hash = XXH3_128bits_digest(&state);
  source[0] = hash.low64;
  source[1] = hash.high64;
}

executable_cache executable_cache_open(const uint64_t source[2], const char *name,
                                       const engine_options *options)
{
  executable_cache cache = {.folder = options->cache_folder,
                            .max_bytes = options->cache_max_bytes,
                            .key = source[0],
                            .rest_of_source = source[1],
                            .name = name};
  pop_error *error = pop_cache_folder_check(cache.folder);
  if (error)
    log_write(LOG_WARN, "ENGINE", "executables are not cached: %s", pop_error_message(error));
  cache.refused = error;
  pop_error_free(error);
  return cache;
}

static char *entry_path(const executable_cache *cache)
{
  return pop_xasprintf("%s/%016llx%s", cache->folder, (unsigned long long)cache->key, suffix);
}

/* Entries hold their source. Other executables do not: their graph's origin is not theirs. */
static void set_source(pop_executable *executable, uint64_t key, uint64_t rest)
{
  executable->source[0] = key;
  executable->source[1] = rest;
}

/* ---- finding ---- */

static pop_error *check_source(const executable_cache *cache, const pop_executable *executable)
{
  const uint64_t *source = executable->source;
  if (source[0] == cache->key && source[1] == cache->rest_of_source) return NULL;
  return pop_error_new(POP_ERROR_FILE_LOAD, "it was compiled from another program");
}

static pop_error *load_entry(const executable_cache *cache, const char *path,
                             pop_executable **executable)
{
  POP_TRY(pop_cache_folder_check_entry(cache->folder, path));
  POP_TRY(pop_executable_load(path, executable));
  pop_error *error = check_source(cache, *executable);
  if (!error) error = executable_check_images(*executable, 0);
  if (!error) return NULL;
  pop_executable_free(*executable);
  *executable = NULL;
  return error;
}

pop_executable *executable_cache_find(const executable_cache *cache)
{
  if (cache->refused) return NULL;
  char *path = entry_path(cache);
  pop_executable *found = NULL;
  if (access(path, F_OK) != 0 && errno == ENOENT) {
    log_write(LOG_INFO, "ENGINE", "Couldn't find %s", path);
  } else {
    log_phase loading = log_phase_start("ENGINE", "Loading cached executable");
    pop_error *error = load_entry(cache, path, &found);
    if (error)
      log_write(LOG_WARN, "ENGINE", "cached executable %s cannot be used, compiling again: %s",
                path, pop_error_message(error));
    else
      log_phase_end(&loading);
    pop_error_free(error);
  }
  if (found) {
    set_source(found, 0, 0);
    pop_cache_folder_touch(path);
    log_write(LOG_INFO, "ENGINE", "Loaded %s from %s", cache->name, path);
  }
  free(path);
  return found;
}

/* ---- putting in ---- */

void executable_cache_put(const executable_cache *cache, pop_executable *executable)
{
  if (cache->refused) return;
  char *path = entry_path(cache);
  pop_error *error = pop_cache_folder_make(cache->folder);
  set_source(executable, cache->key, cache->rest_of_source);
  if (!error) error = executable_save_entry(executable, path);
  set_source(executable, 0, 0);
  if (error)
    log_write(LOG_WARN, "ENGINE", "the executable is not cached: %s", pop_error_message(error));
  else
    cache_trim(cache->folder, cache->max_bytes);
  pop_error_free(error);
  free(path);
}
