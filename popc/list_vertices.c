/* --list-vertices: the vertex tables of all targets in one, with code and stack sizes.
 *
 * The table is JSON (populus/vertex_table.h). An entry that is the same for several targets is
 * shown once. For each target it has the code bytes of a tile that holds only this vertex and all
 * that it calls, and the stack bytes that the vertex needs. The host's entries have other offsets
 * and no such costs. They are shown if there are no others.
 */
#include "popc_internal.h"

#include <populus/json_text.h>
#include <populus/link.h>
#include <populus/names.h>
#include <populus/stack.h>
#include <populus/vertex_table.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Code bytes of the functions that the vertex reaches; JSON's null if one is in another file. */
static json_t *code_bytes(const pop_link_set *set, const pop_vertex_type *type)
{
  pop_live_sections *live;
  pop_error *error = pop_live_sections_create(set, &type->symbol, NULL, 1, &live);
  if (error) {
    pop_error_free(error);
    return json_null();
  }
  json_t *bytes = json_integer(pop_live_sections_group_bytes(live, POP_LINK_CODE));
  pop_live_sections_free(live);
  return bytes;
}

/* JSON's null if the stack is unknown. */
static json_t *stack_bytes(pop_stack_analysis *analysis, const pop_vertex_type *type,
                           pop_arena *scratch)
{
  pop_stack_use use = pop_stack_analyse(analysis, type->symbol, scratch);
  return use.reason == POP_STACK_KNOWN ? json_integer(use.bytes) : json_null();
}

/* As the vertex table has it. */
static json_t *entry_of(const pop_vertex_type *type)
{
  pop_bytes text = {0};
  pop_vertex_table_write(type, 1, &text);
  json_t *table = pop_json_load((const char *)text.data, text.size, NULL);
  pop_bytes_free(&text);
  json_t *entry = json_incref(json_array_get(json_object_get(table, "vertices"), 0));
  json_decref(table);
  return entry;
}

/* What an entry has for each target. */
static const char *const costs[] = {"code_bytes", "stack_bytes"};
enum { NUM_COSTS = sizeof costs / sizeof *costs };

typedef struct listing {
  json_t *entries;
  pop_name_table numbers; /* of entries, by their text without costs */
  pop_arena *texts;
} listing;

/* The equal entry of the list; `entry` is added if there is none. */
static json_t *find_or_add(listing *list, json_t *entry)
{
  char *dumped = json_dumps(entry, JSON_COMPACT | JSON_SORT_KEYS);
  char *text = pop_arena_strdup(list->texts, dumped ? dumped : "");
  free(dumped);
  uint32_t number = pop_name_table_find(&list->numbers, text);
  if (number != POP_NAME_NONE) {
    json_decref(entry);
    return json_array_get(list->entries, number);
  }
  pop_name_table_add(&list->numbers, text, (uint32_t)json_array_size(list->entries));
  for (int c = 0; c < NUM_COSTS; ++c) json_object_set_new(entry, costs[c], json_object());
  json_array_append_new(list->entries, entry);
  return entry;
}

static pop_error *add_tile_target(listing *list, const pop_gp *part, const char *target,
                                  pop_link_set *set)
{
  for (size_t i = 0; i < pop_gp_num_tile_objects(part); ++i) {
    bool library;
    const pop_object *object = pop_gp_tile_object(part, i, &library);
    POP_TRY(pop_link_set_add(set, object, library));
  }
  pop_stack_analysis *analysis;
  POP_TRY(pop_stack_analysis_new(set, &analysis));
  pop_arena *scratch = pop_arena_new();
  for (size_t i = 0; i < pop_gp_num_vertex_types(part); ++i) {
    const pop_vertex_type *type = pop_gp_vertex_type(part, i);
    json_t *entry = find_or_add(list, entry_of(type));
    json_object_set_new(json_object_get(entry, "code_bytes"), target, code_bytes(set, type));
    json_object_set_new(json_object_get(entry, "stack_bytes"), target,
                        stack_bytes(analysis, type, scratch));
  }
  pop_arena_free(scratch);
  pop_stack_analysis_free(analysis);
  return NULL;
}

static bool is_host(const char *target)
{
  return !strcmp(target, POP_GP_HOST_TARGET);
}

static bool is_entry(const json_t *entry)
{
  return json_is_string(json_object_get(entry, "name")) &&
         json_is_string(json_object_get(entry, "kind")) &&
         json_is_string(json_object_get(entry, "source")) &&
         json_is_array(json_object_get(entry, "fields"));
}

static void add_host(listing *list, const pop_gp *gp)
{
  for (size_t i = 0; i < pop_gp_num_host_objects(gp); ++i) {
    pop_bytes text = {0};
    if (!pop_gp_host_vertex_table(gp, i, &text)) continue;
    json_t *table = pop_json_load((const char *)text.data, text.size, NULL), *entry;
    pop_bytes_free(&text);
    size_t j;
    json_array_foreach(json_object_get(table, "vertices"), j, entry)
    {
      if (is_entry(entry)) find_or_add(list, json_incref(entry));
    }
    json_decref(table);
  }
}

static pop_error *add_target(listing *list, pop_gp *gp, const char *target)
{
  pop_gp *part;
  POP_TRY(pop_gp_for_target(gp, target, &part));
  pop_link_set *set = pop_link_set_new();
  pop_link_set_define(set, POP_LINK_MEMORY_BASE, 0); /* only bytes count here */
  pop_error *error = add_tile_target(list, part, target, set);
  pop_link_set_free(set);
  pop_gp_free(part);
  return error;
}

/* The text form: each column is as wide as its widest text. */

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

/* "; code ipu1 64, ipu2 60 bytes", with `unknown` for a missing number. */
static void put_cost(const json_t *entry, int cost, const char *name, const char *unknown,
                     pop_bytes *out)
{
  json_t *values = json_object_get(entry, costs[cost]);
  if (!json_object_size(values)) return;
  char *start = pop_xasprintf("; %s", name);
  put(out, start);
  free(start);
  bool is_number = false;
  for (void *at = json_object_iter(values), *first = at; at;
       at = json_object_iter_next(values, at)) {
    const json_t *value = json_object_iter_value(at);
    is_number = json_is_integer(value);
    char *number = pop_xasprintf("%lld", (long long)json_integer_value(value));
    char *text = pop_xasprintf("%s %s %s", at == first ? "" : ",", json_object_iter_key(at),
                               is_number ? number : unknown);
    put(out, text);
    free(text);
    free(number);
  }
  if (is_number) put(out, " bytes");
}

static void put_vertex(const json_t *entry, pop_bytes *out)
{
  char number[24];
  char *head = pop_xasprintf(
      "%s: %s, %s\n  state %s bytes", json_string_value(json_object_get(entry, "name")),
      json_string_value(json_object_get(entry, "kind")),
      json_string_value(json_object_get(entry, "source")), cell(entry, "size", number));
  put(out, head);
  free(head);
  put_cost(entry, 0, "code", "elsewhere", out);
  put_cost(entry, 1, "stack", "unknown", out);
  put(out, "\n");
  put_fields(json_object_get(entry, "fields"), out);
}

/* Anybody may have made the names. */
static char *as_text(const json_t *list)
{
  pop_bytes text = {0}, out = {0};
  for (size_t i = 0; i < json_array_size(list); ++i) {
    if (i) put(&text, "\n");
    put_vertex(json_array_get(list, i), &text);
  }
  popc_append_printable(&out, text.data, text.size, false);
  pop_bytes_append(&out, "", 1);
  pop_bytes_free(&text);
  return (char *)out.data;
}

static char *as_json(const json_t *list, const char *targets, bool pretty)
{
  json_t *names = json_array();
  while (*targets) {
    size_t length = strcspn(targets, ",");
    json_array_append_new(names, json_stringn(targets, length));
    targets += length + (targets[length] == ',');
  }
  json_t *all = json_pack("{s:i, s:o, s:O}", "version", 1, "targets", names, "vertices", list);
  char *text = json_dumps(all, pretty ? JSON_INDENT(1) : JSON_COMPACT);
  char *line = pop_xasprintf("%s\n", text ? text : "null");
  free(text);
  json_decref(all);
  return line;
}

pop_error *popc_list_vertices(pop_gp *gp, bool json, bool pretty, char **text)
{
  listing list = {.entries = json_array(), .texts = pop_arena_new()};
  char *targets = pop_gp_targets(gp), *names = pop_xstrdup(targets), *rest = names;
  pop_error *error = NULL;
  for (char *target; !error && (target = strsep(&rest, ","));)
    if (*target && !is_host(target)) error = add_target(&list, gp, target);
  if (is_host(targets)) add_host(&list, gp);
  if (!error) *text = json ? as_json(list.entries, targets, pretty) : as_text(list.entries);
  free(names);
  free(targets);
  json_decref(list.entries);
  pop_name_table_free(&list.numbers);
  pop_arena_free(list.texts);
  return error;
}
