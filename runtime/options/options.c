/* Where the values of engine options come from; later sources win.
 *
 *   default < variable for one option < what the executable was compiled with < the call
 *           < variable for one option, of those that win < POPLAR_ENGINE_OPTIONS
 *           < POPLAR_RUNTIME_OPTIONS < POPLAR_SIMULATOR_OPTIONS
 *
 * Values are strings ("true", "16384", "0x4000", a path). In the environment's JSON objects they
 * may also be JSON booleans and numbers, because people write both. The environment wins over the
 * call, because that is what the variables are for.
 */
#include "options/options.h"

#include "base/log.h"
#include "options/json_options.h"
#include "options/option_table.h"
#include <populus/arena.h>
#include <populus/names.h>
#include <stdlib.h>
#include <string.h>

/* A source of options. */
typedef struct option_source {
  const char *name; /* of the environment variable; NULL for the call */
  unsigned stages;  /* bits: options of other stages are not allowed here */
  bool *seen;       /* by entry of the table */
} option_source;

typedef struct parser {
  const option_entry *table;
  size_t num_entries;
  unsigned stages;
  const pop_executable *compiled;
  engine_options *options;
  char **spelt; /* by entry: the current value, or NULL if none was given; owned */
} parser;

/* ---- one option ---- */

static pop_error *unknown_option(const parser *p, const char *key)
{
  const char **keys = pop_xcalloc(p->num_entries, sizeof *keys);
  char *list = pop_xstrdup("");
  for (size_t i = 0; i < p->num_entries; ++i) {
    keys[i] = p->table[i].info.key;
    char *longer = pop_xasprintf("%s%s%s", list, i ? ", " : "", keys[i]);
    free(list);
    list = longer;
  }
  const char *near = pop_nearest_name(key, keys, p->num_entries);
  pop_error *error = near ? pop_error_new(POP_ERROR_INVALID_OPTION,
                                          "Unrecognised option '%s'; did you mean '%s'?", key, near)
                          : pop_error_new(POP_ERROR_INVALID_OPTION,
                                          "Unrecognised option '%s'; there are: %s", key, list);
  free(list);
  free(keys);
  return error;
}

static const option_entry *find_entry(const parser *p, const char *key)
{
  for (size_t i = 0; i < p->num_entries; ++i)
    if (strcmp(p->table[i].info.key, key) == 0) return &p->table[i];
  return NULL;
}

static void keep_spelt(parser *p, const option_entry *entry, char *spelt)
{
  char **kept = &p->spelt[entry - p->table];
  free(*kept);
  *kept = spelt;
}

/* The value with which the executable was compiled. */
static const char *compiled_value(const pop_executable *compiled, const option_entry *entry)
{
  for (size_t i = 0; i < compiled->num_options; ++i)
    if (strcmp(compiled->options[i].key, entry->info.key) == 0) return compiled->options[i].value;
  return entry->info.default_value;
}

/* An option of the call that is for another stage. Programs give the same options to
 * pop_compile_graph and to pop_engine_create_from_executable. */
static pop_error *set_for_other_stage(parser *p, const option_entry *entry, const char *value)
{
  char *spelt;
  POP_TRY(option_set(entry, value, NULL, &spelt));
  if (entry->stages & ON_RUN) {
    keep_spelt(p, entry, spelt);
    return NULL;
  }
  pop_error *error = NULL;
  const char *before = p->compiled ? compiled_value(p->compiled, entry) : spelt;
  if (entry->stages & ON_SAVE)
    error = option_set(entry, value, p->options, NULL);
  else if (strcmp(spelt, before) != 0)
    error = pop_error_new(POP_ERROR_INVALID_OPTION,
                          "option '%s' is about compiling, and the executable is compiled already, "
                          "with '%s', not '%s': give it to pop_compile_graph",
                          entry->info.key, before, spelt);
  free(spelt);
  return error;
}

static pop_error *set_option(parser *p, const option_source *source, const char *key,
                             const char *value)
{
  const option_entry *entry = find_entry(p, key);
  if (!entry) return unknown_option(p, key);
  bool *seen = &source->seen[entry - p->table];
  if (*seen) return pop_error_new(POP_ERROR_INVALID_OPTION, "option '%s' is given twice", key);
  *seen = true;
  if (!source->name && !(entry->stages & p->stages)) return set_for_other_stage(p, entry, value);
  if (!(entry->stages & p->stages)) {
    POP_TRY(option_set(entry, value, NULL, NULL));
    log_write(LOG_DEBUG, "ENGINE", "option %s, from %s, is about %s: it does not count here", key,
              source->name, entry->stages & ON_RUN ? "running" : "compiling");
    return NULL;
  }
  char *spelt;
  POP_TRY(option_set(entry, value, p->options, &spelt));
  keep_spelt(p, entry, spelt);
  return NULL;
}

/* ---- the environment ---- */

static pop_error *check_place(const parser *p, const option_source *source, const char *key,
                              bool simulator)
{
  const option_entry *entry = find_entry(p, key);
  if (!entry || (entry->stages & source->stages && (entry->simulator || !simulator))) return NULL;
  return pop_error_new(POP_ERROR_INVALID_OPTION,
                       "option '%s' is not about %s: put it into POPLAR_ENGINE_OPTIONS", key,
                       simulator ? "the software IPU" : "running");
}

static pop_error *set_json_option(parser *p, const option_source *source, const char *key,
                                  const json_t *value)
{
  char number[OPTION_NUMBER_CHARS];
  const char *text;
  POP_TRY(json_options_value(key, value, number, &text));
  POP_TRY(set_option(p, source, key, text));
  log_write(LOG_INFO, "ENGINE", "option %s = %s, from %s", key, text, source->name);
  return NULL;
}

static pop_error *parse_object(parser *p, const option_source *source, bool simulator,
                               const char *text)
{
  json_t *root;
  POP_TRY(json_options_load(text, strlen(text), &root));
  pop_error *error = NULL;
  const char *key;
  json_t *value;
  json_object_foreach(root, key, value)
  {
    error = check_place(p, source, key, simulator);
    if (!error) error = set_json_option(p, source, key, value);
    if (error) break;
  }
  json_decref(root);
  return error;
}

static pop_error *parse_environment(parser *p)
{
  static const struct {
    const char *name;
    unsigned stages;
    bool simulator;
  } variables[] = {{"POPLAR_ENGINE_OPTIONS", ON_ALL_STAGES, false},
                   {"POPLAR_RUNTIME_OPTIONS", ON_RUN, false},
                   {"POPLAR_SIMULATOR_OPTIONS", ON_RUN, true}};
  pop_error *error = NULL;
  for (size_t i = 0; i < sizeof variables / sizeof *variables && !error; ++i) {
    const char *text = secure_getenv(variables[i].name);
    if (!text || !*text) continue;
    option_source source = {.name = variables[i].name,
                            .stages = variables[i].stages,
                            .seen = pop_xcalloc(p->num_entries, sizeof *source.seen)};
    error = parse_object(p, &source, variables[i].simulator, text);
    if (error) error = pop_error_prefix(error, "%s", variables[i].name);
    free(source.seen);
  }
  return error;
}

static pop_error *set_by_variable(parser *p, const option_entry *entry)
{
  const char *text = secure_getenv(entry->variable);
  if (!text || !*text) return NULL;
  bool counts = entry->stages & p->stages;
  char *spelt;
  pop_error *error = option_set(entry, text, counts ? p->options : NULL, &spelt);
  if (error) return pop_error_prefix(error, "%s", entry->variable);
  if (!counts) {
    free(spelt);
    return NULL;
  }
  keep_spelt(p, entry, spelt);
  log_write(LOG_INFO, "ENGINE", "option %s = %s, from %s", entry->info.key, text, entry->variable);
  return NULL;
}

static pop_error *parse_variables(parser *p, bool that_win)
{
  for (size_t i = 0; i < p->num_entries; ++i)
    if (p->table[i].variable && p->table[i].variable_wins == that_win)
      POP_TRY(set_by_variable(p, &p->table[i]));
  return NULL;
}

/* ---- what was there before ---- */

static pop_error *set_defaults(parser *p)
{
  for (size_t i = 0; i < p->num_entries; ++i)
    POP_TRY(option_set(&p->table[i], p->table[i].info.default_value, p->options, NULL));
  return NULL;
}

static pop_error *set_compiled(parser *p)
{
  const pop_executable *e = p->compiled;
  for (size_t i = 0; e && i < e->num_run_options; ++i) {
    const option_entry *entry = find_entry(p, e->run_options[i].key);
    char *spelt;
    if (!entry) continue;
    POP_TRY(option_set(entry, e->run_options[i].value, p->options, &spelt));
    keep_spelt(p, entry, spelt);
  }
  p->options->inherits_report_all = p->options->run.report_all;
  return NULL;
}

static pop_error *parse_call(parser *p, const pop_option *given, size_t num_given)
{
  option_source source = {.seen = pop_xcalloc(p->num_entries, sizeof *source.seen)};
  pop_error *error = NULL;
  for (size_t i = 0; i < num_given && !error; ++i) {
    if (!given[i].key || !given[i].value)
      error = pop_error_new(POP_ERROR_INVALID_OPTION, "option %zu has no %s", i,
                            given[i].key ? "value" : "key");
    else
      error = set_option(p, &source, given[i].key, given[i].value);
  }
  free(source.seen);
  return error;
}

/* ---- the result ---- */

static int given_row(option_stage stage)
{
  return stage == ON_RUN;
}

const executable_option *options_given(const engine_options *options, option_stage stage,
                                       size_t *count)
{
  *count = options->num_given[given_row(stage)];
  return options->given[given_row(stage)];
}

static bool affects_runs(const option_entry *entry)
{
  static const char reports[] = "autoReport.", engines[] = "target.tileEngine",
                    memory[] = "target.maxHostMemory";
  return entry->stages == ON_RUN && entry->field_bytes && entry->kind != OPTION_TEXT &&
         strncmp(entry->info.key, reports, sizeof reports - 1) != 0 &&
         strncmp(entry->info.key, engines, sizeof engines - 1) != 0 &&
         strcmp(entry->info.key, memory) != 0;
}

size_t options_of_runs(const engine_options *options, executable_option **list)
{
  size_t num_entries, num_given, count = 0;
  const option_entry *table = option_table(&num_entries);
  const executable_option *given = options_given(options, ON_RUN, &num_given);
  *list = pop_xcalloc(num_entries + 1, sizeof **list);
  for (size_t i = 0; i < num_entries; i++) {
    if (!affects_runs(&table[i])) continue;
    executable_option *of = &(*list)[count++];
    *of = (executable_option){table[i].info.key, table[i].info.default_value};
    for (size_t g = 0; g < num_given; g++)
      if (strcmp(given[g].key, of->key) == 0) of->value = given[g].value;
  }
  return count;
}

/* Moves the spelt values to `options`. */
static void note_given(parser *p)
{
  engine_options *options = p->options;
  for (size_t i = 0; i < p->num_entries; ++i) {
    const option_entry *entry = &p->table[i];
    /* How a compiled graph is saved is not a property of it. */
    bool counts = (entry->stages & ON_RUN || !(entry->stages & ON_SAVE)) && p->spelt[i] &&
                  strcmp(p->spelt[i], entry->info.default_value) != 0;
    int row = given_row(entry->stages & ON_RUN ? ON_RUN : ON_COMPILE);
    if (counts)
      pop_push(options->given[row], options->num_given[row], options->given_capacity[row],
               (executable_option){entry->info.key, p->spelt[i]});
    else
      free(p->spelt[i]);
    p->spelt[i] = NULL;
  }
}

pop_error *engine_options_parse(const pop_option *given, size_t num_given, unsigned stages,
                                const pop_executable *compiled, engine_options *options)
{
  *options = (engine_options){0};
  parser p = {.stages = stages, .compiled = compiled, .options = options};
  p.table = option_table(&p.num_entries);
  p.spelt = pop_xcalloc(p.num_entries, sizeof *p.spelt);
  pop_error *error = set_defaults(&p);
  if (!error) error = parse_variables(&p, false);
  if (!error) error = set_compiled(&p);
  if (!error) error = parse_call(&p, given, num_given);
  if (!error) error = parse_variables(&p, true);
  if (!error) error = parse_environment(&p);
  note_given(&p);
  free(p.spelt);
  const char *folder = options->cache_folder;
  options->run.machine.native_folder = folder && *folder ? folder : NULL;
  options->run.machine.native_folder_max_bytes = options->cache_max_bytes;
  if (error) engine_options_free(options);
  return error;
}
