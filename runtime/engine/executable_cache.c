/* The executable cache: archives with the names of their keys, `0123456789abcdef.a`.
 *
 *   key = XXH3(graph and programs, options that shape the executable, version, the compiler's codelets)
 *
 * Any number of processes may use one folder, and any of them may be killed at any time: entries
 * appear by rename, whole; two processes that compile the same write the same bytes. An entry that is
 * put out while another process reads it stays readable for that process, as it is open. Who finds an
 * entry sets its time, and the oldest are put out first. All images are compared with their digests
 * when an entry is found: later there is no graph any more to compile it again.
 */
#include "engine/executable_cache.h"

#include "graph/fingerprint.h"
#include "graph/log.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <populus/data_dir.h>
#include <populus/file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

static const char suffix[] = ".a";
enum { KEY_DIGITS = 16, NAME_BYTES = KEY_DIGITS + sizeof suffix, STAT_BLOCK_BYTES = 512 };

/* ---- key ---- */

/* The codelets that the compiler itself uses are compiled with the project: a part of the compiler. */
static void add_compiler(XXH3_state_t *state)
{
  static const char version[] = POPULUS_VERSION;
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
  return cache;
}

static char *entry_path(const executable_cache *cache)
{
  return pop_xasprintf("%s/%016llx%s", cache->folder, (unsigned long long)cache->key, suffix);
}

/* ---- finding ---- */

static pop_error *load_entry(const char *path, pop_executable **executable)
{
  POP_TRY(pop_executable_load(path, executable));
  pop_error *error = executable_check_images(*executable);
  if (!error) return NULL;
  pop_executable_free(*executable);
  *executable = NULL;
  return error;
}

pop_executable *executable_cache_find(const executable_cache *cache)
{
  char *path = entry_path(cache);
  pop_executable *found = NULL;
  if (access(path, F_OK) != 0 && errno == ENOENT) {
    log_write(LOG_INFO, "ENGINE", "Couldn't find %s", path);
  } else {
    log_phase loading = log_phase_start("ENGINE", "Loading cached executable");
    pop_error *error = load_entry(path, &found);
    if (error)
      log_write(LOG_WARN, "ENGINE", "cached executable %s cannot be used, compiling again: %s",
                path, pop_error_message(error));
    else
      log_phase_end(&loading);
    pop_error_free(error);
  }
  if (found) {
    utimensat(AT_FDCWD, path, NULL, 0); /* used now; in a folder of others' it stays as it is */
    log_write(LOG_INFO, "ENGINE", "Loaded %s from %s", cache->name, path);
  }
  free(path);
  return found;
}

/* ---- putting out ---- */

typedef struct entry {
  char name[NAME_BYTES];
  uint64_t bytes;
  struct timespec used;
} entry;

typedef struct entry_list {
  entry *entries;
  size_t count, capacity;
  uint64_t bytes;
} entry_list;

static bool is_entry_name(const char *name)
{
  return strspn(name, "0123456789abcdef") == KEY_DIGITS && strcmp(name + KEY_DIGITS, suffix) == 0;
}

static void list_entry(const char *folder, const char *name, entry_list *list)
{
  struct stat status;
  entry e = {0};
  char *path = pop_xasprintf("%s/%s", folder, name);
  if (stat(path, &status) == 0) {
    memcpy(e.name, name, sizeof e.name);
    e.bytes = (uint64_t)status.st_blocks * STAT_BLOCK_BYTES; /* files have holes */
    e.used = status.st_mtim;
    list->bytes += e.bytes;
    pop_push(list->entries, list->count, list->capacity, e);
  }
  free(path);
}

static entry_list list_entries(const char *folder)
{
  entry_list list = {0};
  DIR *dir = opendir(folder);
  if (!dir) return list;
  for (const struct dirent *found; (found = readdir(dir));)
    if (is_entry_name(found->d_name)) list_entry(folder, found->d_name, &list);
  closedir(dir);
  return list;
}

static int compare_use(const void *left, const void *right)
{
  const entry *a = left, *b = right;
  if (a->used.tv_sec != b->used.tv_sec) return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
  if (a->used.tv_nsec != b->used.tv_nsec) return a->used.tv_nsec < b->used.tv_nsec ? -1 : 1;
  return strcmp(a->name, b->name);
}

/* The newest stays whatever its size: it has just been put in. */
static void put_out_oldest(const executable_cache *cache)
{
  entry_list list = list_entries(cache->folder);
  if (list.count) qsort(list.entries, list.count, sizeof *list.entries, compare_use);
  for (size_t i = 0; i + 1 < list.count && list.bytes > cache->max_bytes; ++i) {
    char *path = pop_xasprintf("%s/%s", cache->folder, list.entries[i].name);
    if (unlink(path) == 0)
      log_write(LOG_INFO, "ENGINE", "Removed cached executable %s: the cache may have %llu bytes",
                path, (unsigned long long)cache->max_bytes);
    list.bytes -= list.entries[i].bytes;
    free(path);
  }
  free(list.entries);
}

/* ---- putting in ---- */

/* The folder and those above it, as far as they are missing. */
static pop_error *make_folder(const char *folder)
{
  char *path = pop_xstrdup(folder);
  bool made = true;
  for (char *slash = path; made && slash;) {
    slash = strchr(slash + 1, '/');
    if (slash) *slash = '\0';
    made = mkdir(path, 0777) == 0 || errno == EEXIST;
    if (slash) *slash = '/';
  }
  int reason = errno;
  free(path);
  return made ? NULL : pop_error_errno(reason, "cannot make the folder '%s'", folder);
}

void executable_cache_put(const executable_cache *cache, const pop_executable *executable)
{
  char *path = entry_path(cache);
  pop_error *error = make_folder(cache->folder);
  if (!error) error = pop_executable_save(executable, path);
  if (error)
    log_write(LOG_WARN, "ENGINE", "the executable is not cached: %s", pop_error_message(error));
  else if (cache->max_bytes)
    put_out_oldest(cache);
  pop_error_free(error);
  free(path);
}
