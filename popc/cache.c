/* Entries of the cache: whether a compilation may have one, its name, reading, writing.
 *
 *   magic  digest of all that follows
 *   number of files, and of each: name, digest
 *   digest of places
 *   diagnostics
 *   the objects of the jobs
 *
 * Numbers are of 8 bytes, texts follow their sizes. */
#include "cache.h"

#include "codelets_identity.h"

#include <populus/cache_folder.h>
#include <populus/data_dir.h>
#include <populus/file.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define MAX_ENTRY_BYTES ((size_t)1 << 30)
static const char magic[8] = "POPCODE1";

enum {
  HEAD_BYTES = sizeof magic + sizeof(popc_digest),
  DEFAULT_LIMIT_MIB = 1024,
  TRIM_MASK = 15,
  LARGE_PARTS = 64
};

/* ---- what may be cached ---- */

static bool starts_with_one_of(const char *word, const char *const *starts)
{
  while (*starts && strncmp(word, *starts, strlen(*starts)) != 0) ++starts;
  return *starts != NULL;
}

/* An option that reads no file but headers, and writes none. */
static bool is_plain(const char *word)
{
  static const char *const plain[] = {"-D",          "-U",        "-I",       "-O",
                                      "-g",          "-std=",     "--std=",   "-W",
                                      "-w",          "-pedantic", "-ansi",    "-pipe",
                                      "-undef",      "-m",        "-isystem", "-iquote",
                                      "-idirafter",  "-include",  "-imacros", "-Qunused",
                                      "-nostdinc++", NULL};
  static const char *const with_value[] = {"-ffp-contract=",
                                           "-fvisibility=",
                                           "-ftemplate-depth=",
                                           "-fconstexpr-",
                                           "-falign-",
                                           "-fbracket-depth=",
                                           "-ffile-prefix-map=",
                                           "-fmacro-prefix-map=",
                                           NULL};
  static const char *const with_files[] = {
      "-fmodule",      "-fno-module", "-fimplicit", "-ftime", "-fsave",
      "-fstack-usage", "-fproc-stat", "-fprebuilt", "-fpch",  NULL};
  if (*word != '-') return true; /* the value of the option before it */
  if (strncmp(word, "-f", 2) != 0) return starts_with_one_of(word, plain);
  if (strchr(word, '=')) return starts_with_one_of(word, with_value);
  return !starts_with_one_of(word, with_files);
}

static bool are_plain(const char *const *words, size_t count)
{
  for (size_t i = 0; i < count; ++i)
    if (!is_plain(words[i]) || popc_cache_is_volatile(words[i], strlen(words[i]))) return false;
  return true;
}

static bool has_plain_options(const popc_settings *settings)
{
  bool plain = !settings->handed_on && are_plain(settings->clang, settings->num_clang) &&
               are_plain(settings->clang_tile, settings->num_clang_tile);
  for (size_t i = 0; i < settings->num_variants && plain; ++i)
    plain = are_plain(settings->variants[i].flags, settings->variants[i].num_flags);
  return plain;
}

/* Environment variables that select another clang or other include folders. */
static bool has_plain_environment(void)
{
  static const char *const variables[] = {"POPC_CLANG", "CPATH", "C_INCLUDE_PATH",
                                          "CPLUS_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS"};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i) {
    const char *value = getenv(variables[i]);
    if (value && *value) return false;
  }
  return true;
}

static bool may_cache(const popc_settings *settings, const popc_source *source,
                      popc_product product)
{
  bool shows = settings->no_cache || settings->verbose || settings->dry_run || settings->save_temps;
  unsigned other_rules = POPC_USER_DEPENDENCIES | POPC_MISSING_DEPENDENCIES;
  return !shows && product == POPC_GP && popc_is_codelet_language(source->language) &&
         !(settings->dependencies & other_rules) && popc_descriptors_have_names() &&
         !source->folder && has_plain_environment() && has_plain_options(settings) &&
         !popc_cache_is_volatile(source->text, source->size);
}

/* ---- the name of an entry ---- */

static void add_bytes(XXH3_state_t *state, const void *bytes, size_t size)
{
  uint64_t length = size;
  XXH3_128bits_update(state, &length, sizeof length);
  XXH3_128bits_update(state, bytes, size);
}

static void add_text(XXH3_state_t *state, const char *text)
{
  add_bytes(state, text, strlen(text));
}

static void add_file(XXH3_state_t *state, const char *path)
{
  struct stat status;
  uint64_t words[3] = {0};
  if (stat(path, &status) == 0) {
    words[0] = (uint64_t)status.st_size;
    words[1] = (uint64_t)status.st_mtim.tv_sec;
    words[2] = (uint64_t)status.st_mtim.tv_nsec;
  }
  add_bytes(state, words, sizeof words);
}

/* The key holds the size and time of clang and of its libraries: a replaced clang is noticed. */
static void add_clang(XXH3_state_t *state, const char *clang)
{
  static const char *const libraries[] = {"libLLVM.so.19.1", "libclang-cpp.so.19.1",
                                          "libclang-19.so.1"};
  char *real = realpath(clang, NULL);
  const char *path = real ? real : clang;
  int length = (int)(strrchr(path, '/') ? strrchr(path, '/') - path : 0);
  add_text(state, path);
  add_file(state, path);
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; ++i) {
    char *library = pop_xasprintf("%.*s/../lib/%s", length, path, libraries[i]);
    add_file(state, library);
    free(library);
  }
  free(real);
}

static char *entry_path(const popc_cache *cache, popc_product product, const char *clang)
{
  XXH3_state_t *state = XXH3_createState();
  XXH3_128bits_reset(state);
  add_text(state, POPULUS_CODELETS_IDENTITY);
  add_clang(state, clang);
  const popc_source *source = cache->source;
  /* An object that nobody gets has no packed instructions (packed.c). */
  bool only_checks = cache->settings->product == POPC_NOTHING;
  uint64_t numbers[] = {product, only_checks, source->language, source->is_stream, cache->num_jobs};
  add_bytes(state, numbers, sizeof numbers);
  add_text(state, source->path);
  add_bytes(state, source->text, source->size);
  for (size_t i = 0; i < cache->num_jobs; ++i) {
    const popc_arguments *words = &cache->jobs[i].arguments;
    uint64_t of_job[] = {cache->jobs[i].target, words->count, cache->settings->vectors};
    add_bytes(state, of_job, sizeof of_job);
    for (size_t k = 0; k < words->count; ++k)
      add_text(state, popc_cache_portable(cache, words->items[k]));
  }
  XXH128_hash_t hash = XXH3_128bits_digest(state);
  XXH3_freeState(state);
  char *native = pop_cache_folder_native(cache->folder);
  char *path =
      pop_xasprintf("%s/%016" PRIx64 "%016" PRIx64 ".codelet", native, hash.high64, hash.low64);
  free(native);
  return path;
}

popc_cache popc_cache_open(const popc_settings *settings, const popc_source *source,
                           popc_product product, const char *clang, const job *jobs, size_t count)
{
  popc_cache cache = {.settings = settings, .source = source, .jobs = jobs, .num_jobs = count};
  const char *folder = secure_getenv("POPC_CACHE");
  if (!folder || !*folder || !may_cache(settings, source, product)) return cache;
  clock_gettime(CLOCK_REALTIME_COARSE, &cache.begun); /* the clock of files */
  cache.folder = folder;
  char *path = entry_path(&cache, product, clang);
  cache.path = pop_arena_strdup(settings->arena, path);
  free(path);
  return cache;
}

/* ---- reading ---- */

static void warn(const popc_cache *cache, const char *text, pop_bytes *diagnostics)
{
  if (popc_no_warnings(cache->settings)) return;
  popc_print_diagnostic(diagnostics, cache->settings->colour, POPC_WARNING,
                        &(popc_place){.path = "popc"}, text);
}

/* The unread rest of an entry; `bad` if the entry ended too early. */
typedef struct entry_reader {
  const uint8_t *at, *end;
  bool bad;
} entry_reader;

static const void *take(entry_reader *reader, uint64_t size)
{
  const uint8_t *at = reader->at;
  reader->bad |= size > (uint64_t)(reader->end - at);
  if (reader->bad) return NULL;
  reader->at += size;
  return at;
}

static uint64_t take_number(entry_reader *reader)
{
  uint64_t number = 0;
  const void *at = take(reader, sizeof number);
  if (at) memcpy(&number, at, sizeof number);
  return number;
}

static const void *take_block(entry_reader *reader, size_t *size)
{
  uint64_t length = take_number(reader);
  const void *at = take(reader, length);
  *size = at ? (size_t)length : 0;
  return at;
}

static popc_digest take_digest(entry_reader *reader)
{
  popc_digest digest = {{0}};
  const void *at = take(reader, sizeof digest);
  if (at) memcpy(&digest, at, sizeof digest);
  return digest;
}

static bool same(const popc_digest *a, const popc_digest *b)
{
  return a->words[0] == b->words[0] && a->words[1] == b->words[1];
}

static popc_digest digest_of(const void *bytes, size_t size)
{
  XXH128_hash_t hash = XXH3_128bits(bytes, size);
  return (popc_digest){{hash.low64, hash.high64}};
}

static bool is_source(const popc_cache *cache, const char *file)
{
  return !strcmp(file, cache->source->path);
}

/* Are the included files unchanged? Their names go into the list. */
static bool check_files(const popc_cache *cache, entry_reader *reader, popc_file_list *files)
{
  bool unchanged = true;
  for (uint64_t left = take_number(reader); left && unchanged && !reader->bad; --left) {
    size_t size;
    const char *name = take_block(reader, &size);
    popc_digest then = take_digest(reader), now;
    if (reader->bad) break;
    char *portable = pop_xasprintf("%.*s", (int)size, name);
    const char *file = popc_cache_local(cache, portable);
    popc_add_dependency(files, file);
    unchanged = is_source(cache, file) ||
                (popc_cache_digest_file(cache, file, false, &now) && same(&then, &now));
    free(portable);
  }
  popc_digest places = take_digest(reader);
  if (!unchanged || reader->bad) return false;
  popc_digest now = popc_cache_digest_places(cache, files);
  return same(&places, &now);
}

/* The dependencies as a make rule, as clang writes it. */
static void write_rule(const popc_file_list *files, pop_bytes *rule)
{
  pop_bytes_append(rule, "x:", 2);
  for (size_t i = 0; i < files->count; ++i) {
    pop_bytes_append(rule, " ", 1);
    pop_bytes_append(rule, files->files[i], strlen(files->files[i]));
  }
}

static bool take_results(const popc_cache *cache, entry_reader *reader, popc_result *results,
                         pop_bytes *diagnostics)
{
  size_t said, before = diagnostics->size;
  const void *text = take_block(reader, &said);
  if (text && said) pop_bytes_append(diagnostics, text, said);
  for (size_t i = 0; i < cache->num_jobs; ++i) {
    size_t size;
    const void *bytes = take_block(reader, &size);
    if (!bytes) break;
    results[i].bytes = pop_xmalloc(size + 1);
    results[i].size = size;
    memcpy(results[i].bytes, bytes, size);
  }
  if (!reader->bad) return true;
  popc_results_free(results, cache->num_jobs);
  for (size_t i = 0; i < cache->num_jobs; ++i) results[i] = (popc_result){0};
  diagnostics->size = before;
  return false;
}

static bool is_whole(const uint8_t *bytes, size_t size)
{
  if (size < HEAD_BYTES || memcmp(bytes, magic, sizeof magic) != 0) return false;
  popc_digest then, now = digest_of(bytes + HEAD_BYTES, size - HEAD_BYTES);
  memcpy(&then, bytes + sizeof magic, sizeof then);
  return same(&then, &now);
}

static bool take_entry(const popc_cache *cache, const uint8_t *bytes, size_t size,
                       popc_result *results, pop_bytes *diagnostics)
{
  entry_reader reader = {bytes + HEAD_BYTES, bytes + size, false};
  popc_file_list files = {0};
  bool found =
      check_files(cache, &reader, &files) && take_results(cache, &reader, results, diagnostics);
  if (found && cache->settings->dependencies) write_rule(&files, &results[0].dependencies);
  popc_file_list_free(&files);
  return found;
}

bool popc_cache_find(const popc_cache *cache, popc_result *results, pop_bytes *diagnostics)
{
  if (!cache->path || access(cache->path, F_OK) != 0) return false;
  uint8_t *bytes = NULL;
  size_t size;
  pop_error *error = pop_cache_folder_check_native(cache->folder);
  if (!error) error = pop_file_read_own(cache->path, MAX_ENTRY_BYTES, &bytes, &size);
  if (!error && !is_whole(bytes, size)) error = pop_error_new(POP_ERROR_FILE_LOAD, "it is damaged");
  bool found = false;
  /* Another process may have made room meanwhile: then there is no entry. */
  bool gone = error && access(cache->path, F_OK) != 0;
  if (error && !gone)
    warn(cache,
         pop_arena_printf(cache->settings->arena,
                          "the compiled codelet '%s' cannot be used, compiling again: %s",
                          cache->path, pop_error_message(error)),
         diagnostics);
  else if (!error)
    found = take_entry(cache, bytes, size, results, diagnostics);
  if (found) pop_cache_folder_touch(cache->path);
  pop_error_free(error);
  free(bytes);
  return found;
}

/* ---- writing ---- */

static void put_number(pop_bytes *out, uint64_t number)
{
  pop_bytes_append(out, &number, sizeof number);
}

static void put_block(pop_bytes *out, const void *bytes, size_t size)
{
  put_number(out, size);
  if (size) pop_bytes_append(out, bytes, size);
}

/* False if the content of a file does not decide what it compiles to. */
static bool put_files(const popc_cache *cache, const popc_file_list *files, pop_bytes *out)
{
  put_number(out, files->count);
  for (size_t i = 0; i < files->count; ++i) {
    const char *file = files->files[i], *name = popc_cache_portable(cache, file);
    popc_digest digest = {{0}};
    if (strpbrk(file, "\\$")) return false; /* quoted for make */
    if (!is_source(cache, file) && !popc_cache_digest_file(cache, file, true, &digest))
      return false;
    put_block(out, name, strlen(name));
    pop_bytes_append(out, &digest, sizeof digest);
  }
  popc_digest places = popc_cache_digest_places(cache, files);
  pop_bytes_append(out, &places, sizeof places);
  return true;
}

/* False if the result names our data folder, which has another name inside entries. */
static bool put_result(const void *bytes, size_t size, pop_bytes *out)
{
  const char *folder = pop_data_dir();
  put_block(out, bytes, size);
  return !size || !memmem(bytes, size, folder, strlen(folder));
}

static bool make_entry(const popc_cache *cache, const popc_result *results,
                       const pop_bytes *diagnostics, size_t before, pop_bytes *out)
{
  popc_file_list files = {0};
  for (size_t i = 0; i < cache->num_jobs; ++i)
    popc_add_dependencies(&files, (const char *)results[i].dependencies.data,
                          results[i].dependencies.size);
  bool good = files.count > 0 && put_files(cache, &files, out);
  popc_file_list_free(&files);
  size_t said = diagnostics->size - before;
  good = good && put_result(said ? diagnostics->data + before : NULL, said, out);
  for (size_t i = 0; i < cache->num_jobs && good; ++i)
    good = put_result(results[i].bytes, results[i].size, out);
  return good;
}

static pop_error *write_entry(const popc_cache *cache, const pop_bytes *entry)
{
  pop_output *output;
  popc_digest digest = digest_of(entry->data, entry->size);
  POP_TRY(pop_cache_folder_make_native(cache->folder));
  POP_TRY(pop_cache_entry_open_own(cache->path, &output)); /* pop_file_read_own demands it */
  pop_error *error = pop_output_write(output, magic, sizeof magic);
  if (!error) error = pop_output_write(output, &digest, sizeof digest);
  if (!error) error = pop_output_write(output, entry->data, entry->size);
  if (error) {
    pop_output_abort(output);
    return error;
  }
  return pop_output_commit(output);
}

/* Trimming reads the whole folder. So only large entries trigger it, and one in so many
 * small ones. */
static void trim(const popc_cache *cache, const pop_bytes *entry)
{
  uint64_t limit = popc_limit_from("POPC_CACHE_LIMIT", DEFAULT_LIMIT_MIB) * MIB;
  bool is_large = entry->size > limit / LARGE_PARTS;
  if (is_large || (digest_of(entry->data, entry->size).words[0] & TRIM_MASK) == 0)
    pop_cache_folder_trim(cache->folder, limit, NULL);
}

void popc_cache_put(const popc_cache *cache, const popc_result *results, pop_bytes *diagnostics,
                    size_t before)
{
  static atomic_bool complained;
  pop_bytes entry = {0};
  if (!cache->path) return;
  if (make_entry(cache, results, diagnostics, before, &entry)) {
    pop_error *error = write_entry(cache, &entry);
    if (!error) trim(cache, &entry);
    if (error && !atomic_exchange(&complained, true))
      warn(cache,
           pop_arena_printf(cache->settings->arena, "compiled codelets are not cached: %s",
                            pop_error_message(error)),
           diagnostics);
    pop_error_free(error);
  }
  pop_bytes_free(&entry);
}
