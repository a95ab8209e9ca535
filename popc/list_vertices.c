/* --list-vertices: the vertex tables of all targets in one, with what their code costs.
 *
 * The table is JSON (populus/vertex_table.h). An entry that is the same for several targets is
 * shown once, with the bytes of code that a tile of each target holds if this vertex, and all that
 * it calls, is all there is.
 */
#include "popc_internal.h"

#include <populus/link.h>
#include <populus/vertex_table.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Of the functions that the vertex reaches; JSON's null where one is in another file. */
static json_t *code_bytes(const pop_link_set *set, const pop_vertex_type *type)
{
  pop_closure *closure;
  pop_error *error = pop_closure_create(set, &type->symbol, NULL, 1, &closure);
  if (error) {
    pop_error_free(error);
    return json_null();
  }
  json_t *bytes = json_integer(pop_closure_group_bytes(closure, POP_LINK_CODE));
  pop_closure_free(closure);
  return bytes;
}

/* As the vertex table has it. */
static json_t *entry_of(const pop_vertex_type *type)
{
  pop_bytes text = {0};
  pop_vertex_table_write(type, 1, &text);
  json_t *table = json_loadb((const char *)text.data, text.size, 0, NULL);
  pop_bytes_free(&text);
  json_t *entry = json_incref(json_array_get(json_object_get(table, "vertices"), 0));
  json_decref(table);
  return entry;
}

/* The entry in the list that differs at most in what code costs; `entry` is added if there is none. */
static json_t *find_or_add(json_t *list, json_t *entry)
{
  for (size_t i = 0; i < json_array_size(list); ++i) {
    json_t *other = json_array_get(list, i),
           *code = json_incref(json_object_get(other, "code_bytes"));
    json_object_del(other, "code_bytes");
    bool equal = json_equal(other, entry);
    json_object_set_new(other, "code_bytes", code);
    if (!equal) continue;
    json_decref(entry);
    return other;
  }
  json_object_set_new(entry, "code_bytes", json_object());
  json_array_append_new(list, entry);
  return entry;
}

static pop_error *add_target(json_t *list, pop_gp *gp, const char *target)
{
  pop_gp *part;
  POP_TRY(pop_gp_for_target(gp, target, &part));
  pop_link_set *set = pop_link_set_new();
  pop_error *error = NULL;
  for (size_t i = 0; i < pop_gp_num_tile_objects(part) && !error; ++i) {
    bool library;
    const pop_object *object = pop_gp_tile_object(part, i, &library);
    error = pop_link_set_add(set, object, library);
  }
  for (size_t i = 0; i < pop_gp_num_vertex_types(part) && !error; ++i) {
    const pop_vertex_type *type = pop_gp_vertex_type(part, i);
    json_t *entry = find_or_add(list, entry_of(type));
    json_object_set_new(json_object_get(entry, "code_bytes"), target, code_bytes(set, type));
  }
  pop_link_set_free(set);
  pop_gp_free(part);
  return error;
}

/* Text: columns as wide as the widest. */

enum { MAX_COLUMNS = 6 };

static const char *const field_columns[MAX_COLUMNS] = {"name", "kind",   "layout",
                                                       "type", "offset", "size"};

static const char *cell(const json_t *field, const char *key, char number[24])
{
  const json_t *value = json_object_get(field, key);
  if (json_is_string(value)) return json_string_value(value);
  snprintf(number, 24, "%lld", (long long)json_integer_value(value));
  return number;
}

static void put(pop_bytes *out, const char *text)
{
  pop_bytes_append(out, text, strlen(text));
}

static void put_padded(pop_bytes *out, const char *text, size_t width)
{
  put(out, text);
  for (size_t i = strlen(text); i < width; ++i) put(out, " ");
}

static void put_fields(const json_t *fields, pop_bytes *out)
{
  size_t width[MAX_COLUMNS];
  char number[24];
  for (int c = 0; c < MAX_COLUMNS; ++c) {
    width[c] = strlen(field_columns[c]);
    for (size_t i = 0; i < json_array_size(fields); ++i) {
      size_t length = strlen(cell(json_array_get(fields, i), field_columns[c], number));
      if (length > width[c]) width[c] = length;
    }
  }
  size_t rows = json_array_size(fields);
  for (size_t i = 0; rows && i <= rows; ++i) {
    put(out, "  ");
    for (int c = 0; c < MAX_COLUMNS; ++c) {
      const char *text =
          i ? cell(json_array_get(fields, i - 1), field_columns[c], number) : field_columns[c];
      put(out, "  ");
      put_padded(out, text, c == MAX_COLUMNS - 1 ? 0 : width[c]);
    }
    put(out, "\n");
  }
}

static void put_code(const json_t *code, pop_bytes *out)
{
  void *at = json_object_iter((json_t *)code);
  for (bool first = true; at; at = json_object_iter_next((json_t *)code, at), first = false) {
    const json_t *value = json_object_iter_value(at);
    char *text = json_is_integer(value)
                     ? pop_xasprintf("%s%s %lld", first ? "" : ", ", json_object_iter_key(at),
                                     (long long)json_integer_value(value))
                     : pop_xasprintf("%s%s elsewhere", first ? "" : ", ", json_object_iter_key(at));
    put(out, text);
    free(text);
  }
}

static void put_vertex(const json_t *entry, pop_bytes *out)
{
  char number[24];
  const json_t *stack = json_object_get(entry, "stack_bytes");
  char *head = pop_xasprintf(
      "%s: %s, %s\n  state %s bytes; code ", json_string_value(json_object_get(entry, "name")),
      json_string_value(json_object_get(entry, "kind")),
      json_string_value(json_object_get(entry, "source")), cell(entry, "size", number));
  put(out, head);
  free(head);
  put_code(json_object_get(entry, "code_bytes"), out);
  put(out, " bytes");
  if (json_is_integer(stack)) {
    put(out, "; stack ");
    put(out, cell(entry, "stack_bytes", number));
    put(out, " bytes");
  }
  put(out, "\n");
  put_fields(json_object_get(entry, "fields"), out);
}

static char *as_text(const json_t *list)
{
  pop_bytes out = {0};
  for (size_t i = 0; i < json_array_size(list); ++i) {
    if (i) put(&out, "\n");
    put_vertex(json_array_get(list, i), &out);
  }
  pop_bytes_append(&out, "", 1);
  return (char *)out.data;
}

static char *as_json(const json_t *list, const char *targets)
{
  json_t *names = json_array();
  while (*targets) {
    size_t length = strcspn(targets, ",");
    json_array_append_new(names, json_stringn(targets, length));
    targets += length + (targets[length] == ',');
  }
  json_t *all = json_pack("{s:i, s:o, s:O}", "version", 1, "targets", names, "vertices", list);
  char *text = json_dumps(all, JSON_INDENT(1));
  char *line = pop_xasprintf("%s\n", text ? text : "null");
  free(text);
  json_decref(all);
  return line;
}

pop_error *popc_list_vertices(pop_gp *gp, bool json, char **text)
{
  json_t *list = json_array();
  char *targets = pop_gp_targets(gp), *names = pop_xstrdup(targets), *rest = names;
  pop_error *error = NULL;
  for (char *target; !error && (target = strsep(&rest, ","));)
    if (*target && strcmp(target, POP_GP_HOST_TARGET) != 0) error = add_target(list, gp, target);
  if (!error) *text = json ? as_json(list, targets) : as_text(list);
  free(names);
  free(targets);
  json_decref(list);
  return error;
}
