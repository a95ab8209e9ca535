/* Engine options from the call and from the environment.
 *
 * Values are strings ("true", "16384", "0x4000", a path). In the environment's JSON object they may
 * also be JSON booleans and numbers, because people write both. The environment wins over the call:
 * that is what the variable is for.
 */
#include "engine/options.h"

#include "graph/log.h"
#include <errno.h>
#include <jansson.h>
#include <populus/arena.h>
#include <populus/names.h>
#include <stdlib.h>
#include <string.h>

static const char environment_name[] = "POPLAR_ENGINE_OPTIONS";
static const char cache_environment_name[] = "POPLAR_EXECUTABLE_CACHE_DIR";

/* Variables for one option each: what one changes from run to run to compare. They win over the
 * call, and POPLAR_ENGINE_OPTIONS wins over them. */
static const struct option_variable {
  const char *name, *key;
} option_variables[] = {{"POPULUS_TILE_ENGINE", "target.tileEngine"},
                        {"POPULUS_TILE_THREADS", "target.tileEngineThreads"}};

enum { MAX_OPTIONS_JSON_BYTES = 1 << 20, MAX_STACK_BYTES = 1 << 20, MAX_THREADS = 1024 };

/* X(key, values, default, effect, stage, setter, least and greatest number) */
#define ENGINE_OPTIONS(X)                                                                          \
  X("target.saveArchive", "a path", "",                                                            \
    "writes the archive of tile images when the graph is compiled", ON_SAVE, set_save_archive, 0,  \
    0)                                                                                             \
  X("target.executableCachePath", "a path", "",                                                    \
    "keeps what is compiled in this folder and takes it from there the next time; without it, "    \
    "the "                                                                                         \
    "environment's POPLAR_EXECUTABLE_CACHE_DIR says where",                                        \
    ON_SAVE, set_cache_folder, 0, 0)                                                               \
  X("target.executableCacheMaxBytes", "a number of bytes, 0 for no limit", "10737418240",          \
    "removes the least recently used executables from the folder when they are more", ON_SAVE,     \
    set_cache_max_bytes, 0, UINT64_MAX)                                                            \
  X("debug.allowOutOfMemory", "true or false", "false",                                            \
    "makes images and reports although tiles are too small; only loading is refused", ON_COMPILE,  \
    set_allow_out_of_memory, 0, 0)                                                                 \
  X("debug.keepDuplicateCode", "true or false", "false",                                           \
    "links every copy of equal functions, constants and strings instead of one of each",           \
    ON_COMPILE, set_keep_duplicate_code, 0, 0)                                                     \
  X("debug.workerStackSizeInBytes", "0 or a multiple of 16 from 64 to 1048576", "0",               \
    "least stack of each worker; 0: what the compiled code needs, 2048 if that is unknown",        \
    ON_COMPILE, set_worker_stack, 64, MAX_STACK_BYTES)                                             \
  X("debug.supervisorStackSizeInBytes", "0 or a multiple of 16 from 64 to 1048576", "0",           \
    "least stack of a tile's supervisor; 0: what the compiled code needs", ON_COMPILE,             \
    set_supervisor_stack, 64, MAX_STACK_BYTES)                                                     \
  X("debug.maxCyclesPerRun", "a number of cycles, 0 for no limit", "1000000000000",                \
    "ends a run in which a tile takes longer, with a fault that names the vertex", ON_RUN,         \
    set_max_cycles, 0, UINT64_MAX)                                                                 \
  X("exchange.enablePrefetch", "true or false", "false",                                           \
    "asks the callbacks of host-to-device streams for the next data as soon as there is room",     \
    ON_RUN, set_prefetch, 0, 0)                                                                    \
  X("target.archiveSections", "flat or byCategory", "flat",                                        \
    "images of one section .text, or of sections that say what memory is used for, for size -A",   \
    ON_COMPILE, set_archive_sections, 0, 0)                                                        \
  X("opt.maxCompilationThreads", "a number of threads, 0 for as many as there are cores", "0",     \
    "threads that make and write tile images; the bytes are the same for any number", ON_SAVE,     \
    set_threads, 0, MAX_THREADS)                                                                   \
  X("target.tileEngine", "interpreter, translator or auto", "auto",                                \
    "what executes tile code: translator compiles it for the host before it runs, auto does so "   \
    "while the interpreter runs; results and cycles are the same. The environment's "              \
    "POPULUS_TILE_ENGINE wins over the call",                                                      \
    ON_RUN, set_tile_engine, 0, 0)                                                                 \
  X("target.tileEngineThreads", "a number of threads, 0 for as many as there are cores", "0",      \
    "threads of the host that tiles run on; results and cycles are the same for any number. The "  \
    "environment's POPULUS_TILE_THREADS wins over the call",                                       \
    ON_RUN, set_tile_threads, 0, MAX_THREADS)

static const pop_option_info infos[] = {
#define OPTION_INFO(key, values, preset, effect, stage, setter, least, greatest)                   \
  {key, values, preset, effect},
    ENGINE_OPTIONS(OPTION_INFO)
#undef OPTION_INFO
};
enum { NUM_ENTRIES = sizeof infos / sizeof *infos };

typedef struct option_entry {
  const pop_option_info *info;
  option_stage stage;
  pop_error *(*set)(const struct option_entry *entry, const char *value, engine_options *options);
  uint64_t minimum, maximum; /* of a number */
} option_entry;

const pop_option_info *pop_engine_option_table(size_t *count)
{
  *count = NUM_ENTRIES;
  return infos;
}

static pop_error *invalid_value(const option_entry *entry, const char *value)
{
  return pop_error_new(POP_ERROR_INVALID_OPTION, "option '%s' cannot be '%s': it takes %s",
                       entry->info->key, value, entry->info->values);
}

static pop_error *parse_number(const option_entry *entry, const char *value, uint64_t *number)
{
  if (*value < '0' || *value > '9') return invalid_value(entry, value);
  char *end;
  errno = 0;
  *number = strtoull(value, &end, 0);
  if (errno || *end || *number < entry->minimum || *number > entry->maximum)
    return invalid_value(entry, value);
  return NULL;
}

static pop_error *parse_stack(const option_entry *entry, const char *value, uint32_t *bytes)
{
  uint64_t number = 0;
  if (strcmp(value, "0") != 0) POP_TRY(parse_number(entry, value, &number));
  if (number % 16) return invalid_value(entry, value);
  *bytes = (uint32_t)number;
  return NULL;
}

static pop_error *set_save_archive(const option_entry *entry, const char *value,
                                   engine_options *options)
{
  (void)entry;
  free(options->save_archive);
  options->save_archive = *value ? pop_xstrdup(value) : NULL;
  return NULL;
}

static pop_error *set_cache_folder(const option_entry *entry, const char *value,
                                   engine_options *options)
{
  (void)entry;
  free(options->cache_folder);
  options->cache_folder = *value ? pop_xstrdup(value) : NULL;
  return NULL;
}

static pop_error *set_cache_max_bytes(const option_entry *entry, const char *value,
                                      engine_options *options)
{
  return parse_number(entry, value, &options->cache_max_bytes);
}

static pop_error *parse_bool(const option_entry *entry, const char *value, bool *yes)
{
  *yes = strcmp(value, "true") == 0;
  return *yes || strcmp(value, "false") == 0 ? NULL : invalid_value(entry, value);
}

static pop_error *set_allow_out_of_memory(const option_entry *entry, const char *value,
                                          engine_options *options)
{
  return parse_bool(entry, value, &options->allow_out_of_memory);
}

static pop_error *set_keep_duplicate_code(const option_entry *entry, const char *value,
                                          engine_options *options)
{
  return parse_bool(entry, value, &options->keep_duplicate_code);
}

static pop_error *set_worker_stack(const option_entry *entry, const char *value,
                                   engine_options *options)
{
  return parse_stack(entry, value, &options->worker_stack_bytes);
}

static pop_error *set_supervisor_stack(const option_entry *entry, const char *value,
                                       engine_options *options)
{
  return parse_stack(entry, value, &options->supervisor_stack_bytes);
}

static pop_error *set_max_cycles(const option_entry *entry, const char *value,
                                 engine_options *options)
{
  return parse_number(entry, value, &options->run.machine.max_cycles_per_run);
}

static pop_error *set_prefetch(const option_entry *entry, const char *value,
                               engine_options *options)
{
  return parse_bool(entry, value, &options->run.prefetch);
}

static pop_error *set_archive_sections(const option_entry *entry, const char *value,
                                       engine_options *options)
{
  bool by_category = strcmp(value, "byCategory") == 0;
  if (!by_category && strcmp(value, "flat") != 0) return invalid_value(entry, value);
  options->sections_by_category = by_category;
  return NULL;
}

static pop_error *set_threads(const option_entry *entry, const char *value, engine_options *options)
{
  uint64_t number = 0;
  POP_TRY(parse_number(entry, value, &number));
  options->num_threads = (uint32_t)number;
  return NULL;
}

static pop_error *set_tile_threads(const option_entry *entry, const char *value,
                                   engine_options *options)
{
  uint64_t number = 0;
  POP_TRY(parse_number(entry, value, &number));
  options->run.machine.num_threads = (uint32_t)number;
  return NULL;
}

static pop_error *set_tile_engine(const option_entry *entry, const char *value,
                                  engine_options *options)
{
  static const char *const names[] = {[MACHINE_INTERPRETER] = "interpreter",
                                      [MACHINE_TRANSLATOR] = "translator",
                                      [MACHINE_AUTO] = "auto"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(value, names[i]) == 0) {
      options->run.machine.engine = (machine_engine)i;
      return NULL;
    }
  return invalid_value(entry, value);
}

enum {
#define OPTION_INDEX(key, values, preset, effect, stage, setter, least, greatest) OPTION_##setter,
  ENGINE_OPTIONS(OPTION_INDEX)
#undef OPTION_INDEX
};

static const option_entry entries[] = {
#define OPTION_ENTRY(key, values, preset, effect, stage, setter, least, greatest)                  \
  {&infos[OPTION_##setter], stage, setter, least, greatest},
    ENGINE_OPTIONS(OPTION_ENTRY)
#undef OPTION_ENTRY
};

static pop_error *unknown_option(const char *key)
{
  const char *keys[NUM_ENTRIES];
  for (size_t i = 0; i < NUM_ENTRIES; ++i) keys[i] = infos[i].key;
  const char *near = pop_nearest_name(key, keys, NUM_ENTRIES);
  if (near)
    return pop_error_new(POP_ERROR_INVALID_OPTION, "Unrecognised option '%s'; did you mean '%s'?",
                         key, near);
  char list[1024] = "";
  for (size_t i = 0; i < NUM_ENTRIES; ++i) {
    strncat(list, i ? ", " : "", sizeof list - strlen(list) - 1);
    strncat(list, keys[i], sizeof list - strlen(list) - 1);
  }
  return pop_error_new(POP_ERROR_INVALID_OPTION, "Unrecognised option '%s'; there are: %s", key,
                       list);
}

/* Where options come from, and which count. */
typedef struct option_source {
  const char *name; /* NULL: the call */
  unsigned stages;  /* bits by option_stage */
  bool seen[NUM_ENTRIES];
} option_source;

static void note_given(const option_entry *entry, const char *value, engine_options *options)
{
  if (entry->stage != ON_COMPILE) return;
  for (size_t i = 0; i < options->num_given; ++i)
    if (options->given[i].key == entry->info->key) {
      free(options->given[i].value);
      options->given[i].value = pop_xstrdup(value);
      return;
    }
  pop_push(options->given, options->num_given, options->given_capacity,
           (given_option){entry->info->key, pop_xstrdup(value)});
}

/* The environment is there for compiling and for running, and perhaps for several programs. */
static pop_error *refuse_stage(const option_source *source, const option_entry *entry)
{
  const char *key = entry->info->key;
  bool run = entry->stage == ON_RUN;
  if (!source->name)
    return pop_error_new(POP_ERROR_INVALID_OPTION, "option '%s' is about %s: give it to %s", key,
                         run ? "running" : "compiling, and the executable is compiled already",
                         run ? "pop_engine_create_from_executable" : "pop_compile_graph");
  log_write(LOG_INFO, "ENGINE", "option %s, from %s, is about %s", key, source->name,
            run ? "running: it is left to the engine"
                : "compiling: the executable is compiled already");
  return NULL;
}

static pop_error *set_option(const char *key, const char *value, option_source *source,
                             engine_options *options)
{
  for (size_t i = 0; i < NUM_ENTRIES; ++i) {
    if (strcmp(infos[i].key, key) != 0) continue;
    if (source->seen[i])
      return pop_error_new(POP_ERROR_INVALID_OPTION, "option '%s' is given twice", key);
    source->seen[i] = true;
    if (!(source->stages & entries[i].stage)) return refuse_stage(source, &entries[i]);
    POP_TRY(entries[i].set(&entries[i], value, options));
    note_given(&entries[i], value, options);
    return NULL;
  }
  return unknown_option(key);
}

static pop_error *set_json_option(const char *key, const json_t *value, option_source *source,
                                  engine_options *options)
{
  char number[32];
  const char *text = number;
  if (json_is_string(value))
    text = json_string_value(value);
  else if (json_is_boolean(value))
    text = json_is_true(value) ? "true" : "false";
  else if (json_is_integer(value))
    snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
  else
    return pop_error_new(POP_ERROR_INVALID_OPTION,
                         "%s: the value of '%s' must be a string, a number or a boolean",
                         environment_name, key);
  pop_error *error = set_option(key, text, source, options);
  if (error) return pop_error_prefix(error, "%s", environment_name);
  log_write(LOG_INFO, "ENGINE", "option %s = %s, from %s", key, text, environment_name);
  return NULL;
}

static pop_error *parse_variables(unsigned stages, engine_options *options)
{
  for (size_t i = 0; i < sizeof option_variables / sizeof *option_variables; ++i) {
    const struct option_variable *variable = &option_variables[i];
    const char *value = getenv(variable->name);
    if (!value || !*value) continue;
    option_source source = {.name = variable->name, .stages = stages};
    pop_error *error = set_option(variable->key, value, &source, options);
    if (error) return pop_error_prefix(error, "%s", variable->name);
    if (stages & ON_RUN)
      log_write(LOG_INFO, "ENGINE", "option %s = %s, from %s", variable->key, value,
                variable->name);
  }
  return NULL;
}

static pop_error *parse_environment(unsigned stages, engine_options *options)
{
  const char *text = getenv(environment_name);
  if (!text || !*text) return NULL;
  size_t length = strlen(text);
  if (length > MAX_OPTIONS_JSON_BYTES)
    return pop_error_new(POP_ERROR_INVALID_OPTION,
                         "%s holds %zu bytes; a JSON object of at most %d bytes is expected",
                         environment_name, length, MAX_OPTIONS_JSON_BYTES);
  json_error_t where;
  json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
  if (!root)
    return pop_error_new(POP_ERROR_INVALID_OPTION,
                         "%s is not JSON: %s at byte %d; expected an object such as "
                         "'{\"target.saveArchive\":\"archive.a\"}'",
                         environment_name, where.text, where.position);
  pop_error *error = NULL;
  if (!json_is_object(root))
    error = pop_error_new(POP_ERROR_INVALID_OPTION,
                          "%s is JSON but not an object such as "
                          "'{\"target.saveArchive\":\"archive.a\"}'",
                          environment_name);
  option_source source = {.name = environment_name, .stages = stages};
  const char *key;
  json_t *value;
  if (!error) json_object_foreach(root, key, value)
    {
      error = set_json_option(key, value, &source, options);
      if (error) break;
    }
  json_decref(root);
  return error;
}

static pop_error *set_defaults(engine_options *options)
{
  for (size_t i = 0; i < NUM_ENTRIES; ++i)
    POP_TRY(entries[i].set(&entries[i], infos[i].default_value, options));
  return NULL;
}

static pop_error *parse_call(const pop_option *given, size_t num_given, unsigned stages,
                             engine_options *options)
{
  option_source source = {.stages = stages};
  for (size_t i = 0; i < num_given; ++i) {
    if (!given[i].key || !given[i].value)
      return pop_error_new(POP_ERROR_INVALID_OPTION, "option %zu has no %s", i,
                           given[i].key ? "value" : "key");
    POP_TRY(set_option(given[i].key, given[i].value, &source, options));
  }
  return NULL;
}

pop_error *engine_options_parse(const pop_option *given, size_t num_given, unsigned stages,
                                engine_options *options)
{
  *options = (engine_options){0};
  pop_error *error = set_defaults(options);
  if (!error) error = parse_call(given, num_given, stages, options);
  if (!error) error = parse_variables(stages, options);
  if (!error) error = parse_environment(stages, options);
  if (error) engine_options_free(options);
  const char *folder = getenv(cache_environment_name);
  if (!error && !options->cache_folder && folder && *folder)
    options->cache_folder = pop_xstrdup(folder);
  return error;
}

void engine_options_free(engine_options *options)
{
  free(options->save_archive);
  free(options->cache_folder);
  for (size_t i = 0; i < options->num_given; ++i) free(options->given[i].value);
  free(options->given);
  *options = (engine_options){0};
}
