/* Environment variables of TensorFlow programs with flags, words between blanks:
 * TF_POPLAR_FLAGS and XLA_FLAGS. */
#include "pophlo.h"

#include <errno.h>
#include <populus/names.h>
#include <stdlib.h>
#include <string.h>

typedef enum flag_kind { FLAG_MODEL, FLAG_CACHE, FLAG_THREADS, FLAG_DUMP, FLAG_TEXT } flag_kind;

static const struct {
  const char *variable, *name;
  bool value;
  flag_kind kind;
} flags[] = {
    {"TF_POPLAR_FLAGS", "--use_ipu_model", false, FLAG_MODEL},
    {"TF_POPLAR_FLAGS", "--executable_cache_path", true, FLAG_CACHE},
    {"TF_POPLAR_FLAGS", "--max_compilation_threads", true, FLAG_THREADS},
    {"XLA_FLAGS", "--xla_dump_to", true, FLAG_DUMP},
    {"XLA_FLAGS", "--xla_dump_hlo_as_text", false, FLAG_TEXT}, /* there is nothing else */
};
enum { NUM_FLAGS = sizeof flags / sizeof *flags };

static pop_error *unknown_flag(const char *variable, const char *word)
{
  char *all = pop_xstrdup("");
  for (size_t i = 0; i < NUM_FLAGS; ++i) {
    if (strcmp(flags[i].variable, variable) != 0) continue;
    char *more = pop_xasprintf("%s%s%s", all, *all ? ", " : "", flags[i].name);
    free(all);
    all = more;
  }
  pop_error *error = pop_error_new(POP_ERROR_USAGE, "%s: the flag '%s' is not known; there are %s",
                                   variable, word, all);
  free(all);
  return error;
}

/* With --check, the number of modules that are compiled at once. A single module is
 * compiled by one thread. */
static pop_error *take_threads(pophlo_arguments *a, const char *text)
{
  char *end;
  errno = 0;
  long number = strtol(text, &end, 10);
  if (*end || errno || number == 0 || number < -1)
    return pop_error_new(
        POP_ERROR_USAGE,
        "TF_POPLAR_FLAGS: --max_compilation_threads takes a number of threads, or -1 "
        "for any, not '%s'",
        text);
  if (a->check && !a->jobs && number > 0) a->jobs = (size_t)number;
  return NULL;
}

static pop_error *take_flag(pophlo_arguments *a, flag_kind kind, char *value)
{
  switch (kind) {
  case FLAG_MODEL:
    if (!a->device_given) a->device = DEVICE_IPU_MODEL;
    return NULL;
  case FLAG_CACHE:
    for (size_t i = 0; i < a->num_options; ++i) /* the command line says more */
      if (strcmp(a->options[i].key, "target.executableCachePath") == 0) return NULL;
    pop_push(a->options, a->num_options, a->options_capacity,
             (pop_option){"target.executableCachePath", value});
    return NULL;
  case FLAG_THREADS:
    return take_threads(a, value);
  case FLAG_DUMP:
    if (!a->dump) a->dump = value;
    return NULL;
  default:
    return NULL;
  }
}

static pop_error *parse_word(pophlo_arguments *a, const char *variable, char *word)
{
  size_t length = strcspn(word, "=");
  for (size_t i = 0; i < NUM_FLAGS; ++i) {
    bool same = strlen(flags[i].name) == length && strncmp(flags[i].name, word, length) == 0;
    if (!same || strcmp(flags[i].variable, variable) != 0) continue;
    if (flags[i].value && (word[length] != '=' || !word[length + 1]))
      return pop_error_new(POP_ERROR_USAGE, "%s: %s=… needs a value", variable, flags[i].name);
    if (!flags[i].value && strcmp(word + length, "=false") == 0) return NULL;
    if (!flags[i].value && word[length] && strcmp(word + length, "=true") != 0)
      return pop_error_new(POP_ERROR_USAGE, "%s: %s is true or false, not '%s'", variable,
                           flags[i].name, word + length + 1);
    return take_flag(a, flags[i].kind, word + length + (word[length] == '='));
  }
  return unknown_flag(variable, word);
}

/* Is it a JSON object with this option? If it is none, the engine says so. */
static bool has_option(const char *json, const char *key)
{
  pop_option *options;
  size_t count;
  bool has = false;
  pop_error *error = pop_options_read_json(json, strlen(json), &options, &count);
  for (size_t i = 0; i < count; ++i) has |= strcmp(options[i].key, key) == 0;
  free(options);
  pop_error_free(error);
  return has;
}

/* What the environment says of the engine would hold for both. */
static pop_error *check_engine_is_free(void)
{
  static const char *const variables[] = {"POPLAR_ENGINE_OPTIONS", "POPLAR_RUNTIME_OPTIONS",
                                          "POPLAR_SIMULATOR_OPTIONS"};
  const char *engine = secure_getenv("POPULUS_TILE_ENGINE");
  if (engine && *engine)
    return pop_error_new(
        POP_ERROR_USAGE,
        "POPULUS_TILE_ENGINE is set, which chooses one: --both-engines and --everywhere run both");
  for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i) {
    const char *json = secure_getenv(variables[i]);
    if (json && has_option(json, "target.tileEngine"))
      return pop_error_new(POP_ERROR_USAGE,
                           "%s has target.tileEngine, which chooses one: --both-engines and "
                           "--everywhere run both",
                           variables[i]);
  }
  return NULL;
}

pop_error *pophlo_parse_environment(pophlo_arguments *a)
{
  static const char *const variables[] = {"TF_POPLAR_FLAGS", "XLA_FLAGS"};
  size_t size = 1;
  if (a->both_engines || a->everywhere) POP_TRY(check_engine_is_free());
  for (int i = 0; i < 2; ++i) {
    const char *text = secure_getenv(variables[i]);
    size += text ? strlen(text) + 1 : 1;
  }
  char *at = a->environment = pop_xmalloc(size);
  for (int i = 0; i < 2; ++i) {
    const char *text = secure_getenv(variables[i]);
    char *rest = strcpy(at, text ? text : ""), *word,
         *next = NULL; /* NOLINT(clang-analyzer-security.insecureAPI.strcpy) */
    at += strlen(at) + 1;
    for (word = strtok_r(rest, " \t\n", &next); word; word = strtok_r(NULL, " \t\n", &next))
      POP_TRY(parse_word(a, variables[i], word));
  }
  return NULL;
}
