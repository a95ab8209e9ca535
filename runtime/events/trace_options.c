#include "events/trace_options.h"

#include <errno.h>
#include <populus/arena.h>
#include <populus/names.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef enum option_kind { OPTION_BOOL, OPTION_NUMBER, OPTION_PROFILE, OPTION_PATH } option_kind;

static const char *const values[] = {
    [OPTION_BOOL] = "true or false",
    [OPTION_NUMBER] = "a number",
    [OPTION_PROFILE] = "true, false, DEVICE_PROFILE, IPU_PROFILE or TILE_PROFILE",
    [OPTION_PATH] = "the path of a folder",
};

/* X(key, kind, field, greatest number) */
#define TRACE_OPTIONS(X)                                                                           \
  X("profiling", OPTION_BOOL, profiling, 0)                                                        \
  X("enable_ipu_events", OPTION_BOOL, events, 0)                                                   \
  X("use_poplar_text_report", OPTION_BOOL, text_report, 0)                                         \
  X("use_poplar_cbor_report", OPTION_BOOL, cbor_report, 0)                                         \
  X("profile_execution", OPTION_PROFILE, execution, 0)                                             \
  X("enable_poplar_serialized_graph", OPTION_BOOL, serialized_graph, 0)                            \
  X("report_every_nth_execution", OPTION_NUMBER, report_every, UINT64_MAX)                         \
  X("max_report_size", OPTION_NUMBER, max_report_bytes, UINT64_MAX)                                \
  X("report_directory", OPTION_PATH, report_directory, 0)                                          \
  X("ordinal", OPTION_NUMBER, ordinal, INT32_MAX)

enum { DEFAULT_MAX_REPORT_BYTES = 0x10000000 };

static const struct trace_option {
  const char *key;
  option_kind kind;
  size_t offset;
  uint64_t greatest;
} table[] = {
#define TABLE_ROW(key, kind, field, greatest) {key, kind, offsetof(trace_options, field), greatest},
    TRACE_OPTIONS(TABLE_ROW)
#undef TABLE_ROW
};
enum { NUM_OPTIONS = sizeof table / sizeof *table };

static const char *const keys[] = {
#define TABLE_KEY(key, ...) key,
    TRACE_OPTIONS(TABLE_KEY)
#undef TABLE_KEY
};

static bool read_bool(const char *text, bool *value)
{
  *value = strcmp(text, "true") == 0;
  return *value || strcmp(text, "false") == 0;
}

static bool read_number(const char *text, uint64_t greatest, uint64_t *value)
{
  char *end;
  bool is_hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (*text < '0' || *text > '9') return false;
  errno = 0;
  *value = strtoull(text, &end, is_hexadecimal ? 16 : 10);
  return !errno && !*end && *value <= greatest;
}

static bool read_profile(const char *text, execution_profile_type *value)
{
  static const struct {
    const char *text;
    execution_profile_type value;
  } types[] = {{"true", DEVICE_PROFILE},
               {"false", NO_EXECUTION_PROFILE},
               {"DEVICE_PROFILE", DEVICE_PROFILE},
               {"IPU_PROFILE", IPU_PROFILE},
               {"TILE_PROFILE", TILE_PROFILE}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(text, types[i].text) == 0) {
      *value = types[i].value;
      return true;
    }
  return false;
}

/* NULL for an empty path. */
static bool read_path(const char *text, char **value)
{
  free(*value);
  *value = *text ? pop_xstrdup(text) : NULL;
  return true;
}

static bool read_value(const struct trace_option *option, const char *text, trace_options *parsed)
{
  void *field = (char *)parsed + option->offset;
  switch (option->kind) {
  case OPTION_BOOL:
    return read_bool(text, field);
  case OPTION_NUMBER:
    return read_number(text, option->greatest, field);
  case OPTION_PROFILE:
    return read_profile(text, field);
  case OPTION_PATH:
    break;
  }
  return read_path(text, field);
}

static pop_error *unknown_option(const char *key)
{
  const char *near = pop_nearest_name(key, keys, NUM_OPTIONS);
  return pop_error_new(POP_ERROR_INVALID_OPTION, "event traces have no option '%s'%s%s%s", key,
                       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static pop_error *take_option(const pop_option *option, bool *seen, trace_options *parsed)
{
  if (!option->key || !option->value)
    return pop_error_new(POP_ERROR_INVALID_OPTION, "an option of an event trace has no %s",
                         option->key ? "value" : "key");
  size_t i = 0;
  while (i < NUM_OPTIONS && strcmp(option->key, keys[i]) != 0) i++;
  if (i == NUM_OPTIONS) return unknown_option(option->key);
  if (seen[i])
    return pop_error_new(POP_ERROR_INVALID_OPTION, "option '%s' is given twice", option->key);
  seen[i] = true;
  if (read_value(&table[i], option->value, parsed)) return NULL;
  return pop_error_new(POP_ERROR_INVALID_OPTION,
                       "option '%s' of an event trace cannot be '%s': it takes %s", option->key,
                       option->value, values[table[i].kind]);
}

pop_error *trace_options_parse(const pop_option *options, size_t num_options, trace_options *parsed)
{
  bool seen[NUM_OPTIONS] = {false};
  *parsed = (trace_options){.max_report_bytes = DEFAULT_MAX_REPORT_BYTES};
  pop_error *error = NULL;
  for (size_t i = 0; i < num_options && !error; i++) error = take_option(&options[i], seen, parsed);
  if (!error && parsed->text_report && parsed->cbor_report)
    error = pop_error_new(POP_ERROR_INVALID_OPTION,
                          "options 'use_poplar_text_report' and 'use_poplar_cbor_report' of an "
                          "event trace cannot both be true: a report is one of them");
  if (error) trace_options_free(parsed);
  return error;
}

void trace_options_free(trace_options *options)
{
  free(options->report_directory);
  options->report_directory = NULL;
}
