/* Which systems there are, from the environment's POPULUS_DEVICES (see <populus/device.h>). */
#include "device/device.h"

#include <ctype.h>
#include <jansson.h>
#include <populus/arena.h>
#include <populus/file.h>
#include <populus/json_text.h>
#include <populus/names.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_JSON_BYTES = 1 << 20, DEFAULT_IPUS = 64 };

static const char variable[] = "POPULUS_DEVICES";
static const char example[] = "[{\"target\":\"ipu1\",\"ipus\":4}]";

/* The fields of an entry; 0 or NULL if it does not set them. */
typedef struct entry {
  const char *name, *target;
  uint32_t ipus, tiles_per_ipu;
} entry;

/* ---- values ---- */

static pop_error *take_text(const char *key, const json_t *value, const char **text)
{
  *text = json_string_value(value);
  if (*text) return NULL;
  return pop_error_new(POP_ERROR_INVALID_OPTION, "the value of '%s' must be a string", key);
}

static pop_error *take_number(const char *key, const json_t *value, uint32_t most, uint32_t *number)
{
  json_int_t n = json_integer_value(value);
  if (!json_is_integer(value) || n < 1 || n > most)
    return pop_error_new(POP_ERROR_INVALID_OPTION,
                         "the value of '%s' must be a whole number from 1 to %u", key, most);
  *number = (uint32_t)n;
  return NULL;
}

static pop_error *take_name(const char *key, const json_t *value, const char **name)
{
  POP_TRY(take_text(key, value, name));
  size_t length = 0;
  while (isalnum((unsigned char)(*name)[length]) || (*name)[length] == '-' ||
         (*name)[length] == '_')
    length++;
  if (length >= 1 && length <= DEVICE_MAX_SYSTEM_NAME && !(*name)[length]) return NULL;
  return pop_error_new(POP_ERROR_INVALID_OPTION,
                       "the name '%.40s' must be 1 to %d letters, digits, - and _", *name,
                       DEVICE_MAX_SYSTEM_NAME);
}

static pop_error *unknown_key(const char *key)
{
  static const char *const keys[] = {"name", "target", "ipus", "tilesPerIPU"};
  const char *near = pop_nearest_name(key, keys, sizeof keys / sizeof *keys);
  return pop_error_new(POP_ERROR_INVALID_OPTION,
                       "there is no key '%.40s'%s%s%s; the keys are name, target, ipus and "
                       "tilesPerIPU",
                       key, near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static pop_error *take_value(const char *key, const json_t *value, entry *e)
{
  enum { MOST_TILES = 65536 };
  if (strcmp(key, "name") == 0) return take_name(key, value, &e->name);
  if (strcmp(key, "target") == 0) return take_text(key, value, &e->target);
  if (strcmp(key, "ipus") == 0) return take_number(key, value, POP_TARGET_MAX_IPUS, &e->ipus);
  if (strcmp(key, "tilesPerIPU") == 0)
    return take_number(key, value, MOST_TILES, &e->tiles_per_ipu);
  return unknown_key(key);
}

/* ---- entries ---- */

static pop_error *make_system(const entry *e, device_system *system)
{
  pop_error *error = pop_target_create(e->target, e->ipus ? e->ipus : 1, &system->target);
  if (!error && e->tiles_per_ipu) {
    system->target.tiles_per_ipu = e->tiles_per_ipu;
    error = pop_target_validate(&system->target);
  }
  if (error) {
    pop_error *again = pop_error_new(POP_ERROR_INVALID_OPTION, "%s", pop_error_message(error));
    pop_error_free(error);
    return again;
  }
  snprintf(system->name, sizeof system->name, "%s", e->name ? e->name : system->target.name);
  return NULL;
}

static pop_error *read_entry(json_t *object, const device_system *before, size_t num_before,
                             device_system *system)
{
  entry e = {0};
  const char *key;
  json_t *value;
  if (!json_is_object(object))
    return pop_error_new(POP_ERROR_INVALID_OPTION, "an object such as that of %s is expected",
                         example);
  json_object_foreach(object, key, value) POP_TRY(take_value(key, value, &e));
  POP_TRY(make_system(&e, system));
  for (size_t i = 0; i < num_before; i++)
    if (strcmp(before[i].name, system->name) == 0)
      return pop_error_new(POP_ERROR_INVALID_OPTION,
                           "entry %zu is called '%s', too: give one of them another \"name\"", i,
                           system->name);
  return NULL;
}

static pop_error *read_entries(const char *where, const json_t *root, device_system **systems,
                               size_t *count)
{
  if (!json_is_array(root))
    return pop_error_new(POP_ERROR_INVALID_OPTION, "%s is JSON but not an array such as %s", where,
                         example);
  size_t size = json_array_size(root);
  *systems = pop_xcalloc(size + 1, sizeof **systems);
  for (*count = 0; *count < size; ++*count) {
    pop_error *error =
        read_entry(json_array_get(root, *count), *systems, *count, &(*systems)[*count]);
    if (error) return pop_error_prefix(error, "%s, entry %zu", where, *count);
  }
  return NULL;
}

static pop_error *read_json(const char *where, const char *text, size_t size,
                            device_system **systems, size_t *count)
{
  json_error_t problem;
  json_t *root = pop_json_load(text, size, &problem);
  if (!root)
    return pop_error_new(
        POP_ERROR_INVALID_OPTION,
        "%s is not JSON: line %d, column %d (byte %d): %s; expected is an array such "
        "as %s",
        where, problem.line, problem.column, problem.position, problem.text, example);
  pop_error *error = read_entries(where, root, systems, count);
  json_decref(root);
  return error;
}

/* ---- where they come from ---- */

static pop_error *read_file(const char *path, device_system **systems, size_t *count)
{
  uint8_t *bytes;
  size_t size;
  pop_error *error = pop_file_read(path, MAX_JSON_BYTES, &bytes, &size);
  if (error)
    return pop_error_prefix(error, "%s is neither JSON such as %s nor a file with it", variable,
                            example);
  error = read_json(path, (const char *)bytes, size, systems, count);
  free(bytes);
  return error ? pop_error_prefix(error, "%s", variable) : NULL;
}

static pop_error *make_default(device_system **systems, size_t *count)
{
  *systems = pop_xcalloc(1, sizeof **systems);
  *count = 1;
  return make_system(&(entry){.ipus = DEFAULT_IPUS}, *systems);
}

pop_error *device_read_configuration(device_system **systems, size_t *count)
{
  const char *text = secure_getenv(variable);
  *systems = NULL;
  if (!text || !*text) return make_default(systems, count);
  const char *start = text + strspn(text, " \t\n");
  size_t size = strlen(start);
  pop_error *error = NULL;
  if (size > MAX_JSON_BYTES)
    error = pop_error_new(POP_ERROR_INVALID_OPTION, "%s holds %zu bytes; at most %d are expected",
                          variable, size, MAX_JSON_BYTES);
  else if (*start == '[' || *start == '{')
    error = read_json(variable, start, size, systems, count);
  else
    error = read_file(text, systems, count);
  if (error) free(*systems);
  return error;
}
