/* The executable cache: archives with the names of their keys, `0123456789abcdef.a`.
 *
 *   key = XXH3(graph and programs, options that shape the executable, the compiler: version, sources, codelets)
 *
 * ../cache/cache_folder.h says how processes share the folder; two that compile the same write the same
 * bytes. They are not compressed: zstd's fastest would give back 600 MB/s, a tenth of what the page cache
 * does. All images are compared with their digests when an entry is found: later there is no graph
 * any more to compile it again.
 */
#include "engine/executable_cache.h"

#include "cache/cache_folder.h"
#include "compiler_identity.h"
#include "graph/fingerprint.h"
#include "graph/log.h"
#include <errno.h>
#include <populus/data_dir.h>
#include <populus/file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

static const char suffix[] = ".a";

/* ---- key ---- */

/* The codelets that the compiler itself uses are compiled with the project: a part of the compiler. */
static void add_compiler(XXH3_state_t *state)
{
  static const char version[] = POPULUS_VERSION " " POPULUS_COMPILER_IDENTITY;
  const uint32_t format = EXECUTABLE_FORMAT;
  char *path = pop_xasprintf("%s/poplibs.gp", pop_data_dir());
  uint8_t *bytes = NULL;
  size_t size = 0;
  pop_error *error = pop_file_read(path, SIZE_MAX, &bytes, &size);
  if (!error) XXH3_64bits_update(state, bytes, size);
  pop_error_free(error); /* whoever needs them says that they are not there */
  XXH3_64bits_update(state, version, sizeof version);
  XXH3_64bits_update(state, &format, sizeof format);
  free(bytes);
  free(path);
}

static void add_options(XXH3_state_t *state, const engine_options *options)
{
  size_t count;
  const executable_option *given = options_given(options, ON_COMPILE, &count);
  for (size_t i = 0; i < count; ++i) {
    XXH3_64bits_update(state, given[i].key, strlen(given[i].key) + 1);
    XXH3_64bits_update(state, given[i].value, strlen(given[i].value) + 1);
  }
}

executable_cache executable_cache_open(pop_graph *graph, const uint32_t *programs,
                                       size_t num_programs, const engine_options *options)
{
  const char *name = graph->programs[programs[0]].name;
  uint64_t fingerprint = graph_fingerprint(graph, programs, num_programs);
  XXH3_state_t *state = XXH3_createState();
  XXH3_64bits_reset(state);
  XXH3_64bits_update(state, &fingerprint, sizeof fingerprint);
  add_options(state, options);
  add_compiler(state);
  executable_cache cache = {.folder = options->cache_folder,
                            .max_bytes = options->cache_max_bytes,
                            .key = XXH3_64bits_digest(state),
                            .name = *name ? name : "program 0"};
  XXH3_freeState(state);
  log_write(LOG_INFO, "ENGINE", "Begin compilation: %s (Hash 0x%016llx)", cache.name,
            (unsigned long long)cache.key);
  pop_error *error = cache_folder_check(cache.folder);
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

/* ---- finding ---- */

static pop_error *load_entry(const char *folder, const char *path, pop_executable **executable)
{
  POP_TRY(cache_folder_check_entry(folder, path));
  POP_TRY(pop_executable_load(path, executable));
  pop_error *error = executable_check_images(*executable, 0);
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
    pop_error *error = load_entry(cache->folder, path, &found);
    if (error)
      log_write(LOG_WARN, "ENGINE", "cached executable %s cannot be used, compiling again: %s",
                path, pop_error_message(error));
    else
      log_phase_end(&loading);
    pop_error_free(error);
  }
  if (found) {
    cache_folder_touch(path);
    log_write(LOG_INFO, "ENGINE", "Loaded %s from %s", cache->name, path);
  }
  free(path);
  return found;
}

/* ---- putting in ---- */

void executable_cache_put(const executable_cache *cache, const pop_executable *executable)
{
  if (cache->refused) return;
  char *path = entry_path(cache);
  pop_error *error = cache_folder_make(cache->folder);
  if (!error) error = pop_executable_save(executable, path);
  if (error)
    log_write(LOG_WARN, "ENGINE", "the executable is not cached: %s", pop_error_message(error));
  else
    cache_folder_trim(cache->folder, cache->max_bytes);
  pop_error_free(error);
  free(path);
}
