/* The files that a compilation read, and where else the compiler would have looked for them. */
#include "cache.h"

#include <populus/data_dir.h>
#include <populus/file.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define MAX_FILE_BYTES ((size_t)64 << 20)
#define OUR_FOLDER "\1populus"

/* #embed or %:embed, with any blanks between. */
static bool embeds(const char *text, size_t size)
{
  static const char word[] = "embed";
  const char *end = text + size;
  for (const char *at = text; (at = memmem(at, (size_t)(end - at), word, sizeof word - 1)); ++at) {
    const char *before = at;
    while (before > text && (before[-1] == ' ' || before[-1] == '\t')) --before;
    if (before > text && (before[-1] == '#' || before[-1] == ':')) return true;
  }
  return false;
}

bool popc_cache_is_volatile(const void *text, size_t size)
{
  static const char *const words[] = {"__DATE__",      "__TIME__",    "__TIMESTAMP__",
                                      "__has_include", "__has_embed", "incbin"};
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
    if (memmem(text, size, words[i], strlen(words[i]))) return true;
  return embeds(text, size);
}

const char *popc_cache_portable(const popc_cache *cache, const char *word)
{
  const char *folder = pop_data_dir(), *found = strstr(word, folder);
  if (!found || !*folder) return word;
  return pop_arena_printf(cache->settings->arena, "%.*s" OUR_FOLDER "%s", (int)(found - word), word,
                          found + strlen(folder));
}

const char *popc_cache_local(const popc_cache *cache, const char *portable)
{
  size_t length = sizeof OUR_FOLDER - 1;
  if (strncmp(portable, OUR_FOLDER, length) != 0) return portable;
  return pop_arena_printf(cache->settings->arena, "%s%s", pop_data_dir(), portable + length);
}

static bool is_below(const char *file, const char *folder)
{
  size_t length = strlen(folder);
  return !strncmp(file, folder, length) && file[length] == '/';
}

/* Headers of ours and of clang: what they ask for does not make them volatile. */
static bool is_of_compiler(const popc_cache *cache, const char *file)
{
  const char *resources = cache->jobs[0].resources;
  return is_below(file, pop_data_dir()) || (resources && is_below(file, resources));
}

static bool is_older(const struct timespec *a, const struct timespec *b)
{
  return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

bool popc_cache_digest_file(const popc_cache *cache, const char *file, bool compiled,
                            popc_digest *digest)
{
  uint8_t *text;
  size_t size;
  struct stat status;
  pop_error *error = pop_file_read(file, MAX_FILE_BYTES, &text, &size);
  if (error) {
    pop_error_free(error);
    return false;
  }
  XXH128_hash_t hash = XXH3_128bits(text, size);
  *digest = (popc_digest){{hash.low64, hash.high64}};
  bool known = !compiled || is_of_compiler(cache, file) || !popc_cache_is_volatile(text, size);
  free(text);
  /* Every change of a file sets its ctime, which nobody can set back. */
  return known &&
         (!compiled || (stat(file, &status) == 0 && is_older(&status.st_ctim, &cache->begun)));
}

/* ---- places ---- */

static void add_once(popc_arguments *list, const char *text)
{
  for (size_t i = 0; i < list->count; ++i)
    if (!strcmp(list->items[i], text)) return;
  popc_add_argument(list, text);
}

/* The include folders among clang's arguments. */
static void add_told(const popc_arguments *words, popc_arguments *folders)
{
  static const char *const options[] = {"-isystem", "-iquote", "-idirafter", "-I"};
  for (size_t i = 0; i < words->count; ++i) {
    for (size_t k = 0; k < sizeof options / sizeof *options; ++k) {
      size_t length = strlen(options[k]);
      const char *word = words->items[i];
      if (strncmp(word, options[k], length) != 0) continue;
      if (word[length])
        add_once(folders, word + length);
      else if (i + 1 < words->count)
        add_once(folders, words->items[i + 1]);
      break;
    }
  }
}

/* "" for a file of the current folder. */
static void add_folder_of(const popc_cache *cache, const char *file, popc_arguments *folders)
{
  const char *slash = strrchr(file, '/');
  add_once(folders,
           pop_arena_printf(cache->settings->arena, "%.*s", slash ? (int)(slash - file) : 0, file));
}

/* The name of the file relative to the folder; NULL: it is not in there. */
static const char *rest_of(const char *file, const char *folder)
{
  if (!*folder) return *file == '/' ? NULL : file;
  return is_below(file, folder) ? file + strlen(folder) + 1 : NULL;
}

static void digest_places(XXH3_state_t *state, const popc_cache *cache,
                          const popc_arguments *folders, const popc_arguments *names)
{
  for (size_t i = 0; i < folders->count; ++i) {
    const char *folder = folders->items[i];
    if (is_of_compiler(cache, pop_arena_printf(cache->settings->arena, "%s/", folder))) continue;
    for (size_t k = 0; k < names->count; ++k) {
      char *place = pop_xasprintf("%s%s%s", folder, *folder ? "/" : "", names->items[k]);
      uint8_t is_there = access(place, F_OK) == 0;
      XXH3_128bits_update(state, &is_there, 1);
      free(place);
    }
  }
}

popc_digest popc_cache_digest_places(const popc_cache *cache, const popc_file_list *files)
{
  popc_arguments folders = {0}, names = {0};
  for (size_t i = 0; i < cache->num_jobs; ++i) add_told(&cache->jobs[i].arguments, &folders);
  if (cache->jobs[0].resources)
    add_once(&folders,
             pop_arena_printf(cache->settings->arena, "%s/include", cache->jobs[0].resources));
  add_folder_of(cache, cache->source->is_stream ? "" : cache->source->path, &folders);
  for (size_t i = 0; i < files->count; ++i)
    if (!is_of_compiler(cache, files->files[i])) add_folder_of(cache, files->files[i], &folders);
  for (size_t i = 0; i < files->count; ++i) {
    for (size_t k = 0; k < folders.count; ++k) {
      const char *rest = rest_of(files->files[i], folders.items[k]);
      if (rest) add_once(&names, rest);
    }
  }
  XXH3_state_t *state = XXH3_createState();
  XXH3_128bits_reset(state);
  digest_places(state, cache, &folders, &names);
  XXH128_hash_t hash = XXH3_128bits_digest(state);
  XXH3_freeState(state);
  free(folders.items);
  free(names.items);
  return (popc_digest){{hash.low64, hash.high64}};
}
