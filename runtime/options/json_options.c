#include "options/json_options.h"

#include "base/c_locale.h"
#include <populus/arena.h>
#include <populus/engine.h>
#include <populus/json_text.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 20 };

pop_error *json_options_load(const char *text, size_t length, json_t **root)
{
  static const char example[] = "an object such as '{\"target.saveArchive\":\"archive.a\"}'";
  if (length > MAX_BYTES)
    return pop_error_new(POP_ERROR_INVALID_OPTION,
                         "it holds %zu bytes; a JSON object of at most %d bytes is expected",
                         length, MAX_BYTES);
  json_error_t where;
  *root = pop_json_load(text, length, &where);
  if (!*root)
    return pop_error_new(POP_ERROR_INVALID_OPTION, "it is not JSON: %s at byte %d; expected %s",
                         where.text, where.position, example);
  if (json_is_object(*root)) return NULL;
  json_decref(*root);
  return pop_error_new(POP_ERROR_INVALID_OPTION, "it is JSON but not %s", example);
}

pop_error *json_options_value(const char *key, const json_t *value,
                              char number[OPTION_NUMBER_CHARS], const char **text)
{
  C_LOCALE;
  *text = number;
  if (json_is_string(value))
    *text = json_string_value(value);
  else if (json_is_boolean(value))
    *text = json_is_true(value) ? "true" : "false";
  else if (json_is_integer(value))
    snprintf(number, OPTION_NUMBER_CHARS, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
  else if (json_is_real(value))
    snprintf(number, OPTION_NUMBER_CHARS, "%.17g", json_real_value(value));
  else
    return pop_error_new(POP_ERROR_INVALID_OPTION,
                         "the value of '%s' must be a string, a number or a boolean", key);
  return NULL;
}

/* ---- for programs ---- */

/* The bytes that the strings of all members take. */
static pop_error *measure(json_t *root, size_t *bytes)
{
  char number[OPTION_NUMBER_CHARS];
  const char *key, *text;
  json_t *value;
  *bytes = 0;
  json_object_foreach(root, key, value)
  {
    POP_TRY(json_options_value(key, value, number, &text));
    *bytes += strlen(key) + 1 + strlen(text) + 1;
  }
  return NULL;
}

static pop_error *copy_members(json_t *root, pop_option *options, char *to)
{
  char number[OPTION_NUMBER_CHARS];
  const char *key, *text;
  json_t *value;
  json_object_foreach(root, key, value)
  {
    POP_TRY(json_options_value(key, value, number, &text));
    options->key = to;
    to = stpcpy(to, key) + 1;
    options->value = to;
    to = stpcpy(to, text) + 1;
    options++;
  }
  return NULL;
}

pop_error *pop_options_read_json(const char *text, size_t length, pop_option **options,
                                 size_t *num_options)
{
  json_t *root;
  size_t bytes;
  if (!options || !num_options || (!text && length))
    return pop_error_new(POP_ERROR_USAGE, "%s: an argument is NULL", __func__);
  *options = NULL;
  *num_options = 0;
  POP_TRY(json_options_load(text ? text : "", length, &root));
  size_t count = json_object_size(root);
  pop_error *error = measure(root, &bytes);
  if (!error) {
    *options = pop_xmalloc(count * sizeof **options + bytes + 1);
    *num_options = count;
    error = copy_members(root, *options, (char *)(*options + count));
  }
  json_decref(root);
  return error;
}
