/* The vertex table as JSON text.
 *
 *   {"version":1,"vertices":[
 *   {"name":"SumVertex","symbol":"__runCodelet_SumVertex","kind":"worker","source":"sum.cpp:3",
 *    "size":12,"align":4,"fields":[
 *     {"name":"in","kind":"input","layout":"span","type":"float","offset":0,"size":8,"align":4,
 *      "interleaved":false}, ...]}, ...]}
 *
 * A field with rows also has "row_layout", "table_align" and "num_rows"; a vertex with constraints
 * has "constraints", a list of texts as constraint.c writes them.
 *
 * The reader trusts nothing, as anybody may have made the file. It checks once what the graph
 * compiler relies on later: offsets inside the state, a pointer where the layout needs one.
 */
#include <populus/arena.h>
#include <populus/json_text.h>
#include <populus/link.h>
#include <populus/names.h>
#include <populus/vertex_table.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Larger than any tile's memory; keeps sums of offsets and sizes far from 2^32. */
#define MAX_STATE_BYTES (1u << 24)

static const char *const kind_names[] = {
    [POP_VERTEX_WORKER] = "worker",
    [POP_VERTEX_MULTI] = "multi",
    [POP_VERTEX_SUPERVISOR] = "supervisor",
};
static const char *const field_kind_names[] = {
    [POP_FIELD_INPUT] = "input",
    [POP_FIELD_OUTPUT] = "output",
    [POP_FIELD_INOUT] = "inout",
    [POP_FIELD_CONSTANT] = "constant",
};
#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Writing. */

static void put(pop_bytes *out, const char *text)
{
  pop_bytes_append(out, text, strlen(text));
}

/* Names of files may hold any bytes. A name that is not UTF-8 is taken for Latin-1. */
static void put_string(pop_bytes *out, const char *text)
{
  put(out, "\"");
  for (const unsigned char *p = (const unsigned char *)text; *p;) {
    size_t length = pop_utf8_length(p);
    char escaped[8];
    if (*p == '"' || *p == '\\')
      snprintf(escaped, sizeof escaped, "\\%c", *p);
    else if (*p < 0x20 || *p == 0x7f || !length)
      snprintf(escaped, sizeof escaped, "\\u%04x", *p);
    else
      snprintf(escaped, sizeof escaped, "%.*s", (int)length, (const char *)p);
    put(out, escaped);
    p += length ? length : 1;
  }
  put(out, "\"");
}

static void put_key_string(pop_bytes *out, const char *key, const char *value)
{
  put(out, key);
  put_string(out, value);
}

static void put_key_number(pop_bytes *out, const char *key, uint32_t value)
{
  char number[16];
  snprintf(number, sizeof number, "%u", (unsigned)value);
  put(out, key);
  put(out, number);
}

static void put_field(pop_bytes *out, const pop_field *field)
{
  put_key_string(out, "{\"name\":", field->name);
  put_key_string(out, ",\"kind\":", field_kind_names[field->kind]);
  put_key_string(out, ",\"layout\":", pop_layout_forms[field->layout].name);
  put_key_string(out, ",\"type\":", pop_type_name(field->type));
  put_key_number(out, ",\"offset\":", field->offset);
  put_key_number(out, ",\"size\":", field->size);
  put_key_number(out, ",\"align\":", field->alignment);
  if (field->has_rows) {
    put_key_string(out, ",\"row_layout\":", pop_layout_forms[field->row_layout].name);
    put_key_number(out, ",\"table_align\":", field->table_alignment);
    put_key_number(out, ",\"num_rows\":", field->num_rows);
  }
  put(out, field->interleaved ? ",\"interleaved\":true}" : ",\"interleaved\":false}");
}

static void put_constraints(pop_bytes *out, const pop_vertex_type *type)
{
  for (size_t i = 0; i < type->num_constraints; ++i) {
    char *text = pop_constraint_text(type, &type->constraints[i]);
    put_key_string(out, i ? "," : ",\"constraints\":[", text);
    free(text);
  }
  if (type->num_constraints) put(out, "]");
}

static void put_vertex(pop_bytes *out, const pop_vertex_type *type)
{
  put_key_string(out, "{\"name\":", type->name);
  put_key_string(out, ",\"symbol\":", type->symbol);
  put_key_string(out, ",\"kind\":", kind_names[type->kind]);
  put_key_string(out, ",\"source\":", type->source);
  put_key_number(out, ",\"size\":", type->state_size);
  put_key_number(out, ",\"align\":", type->state_alignment);
  put(out, ",\"fields\":[");
  for (size_t i = 0; i < type->num_fields; ++i) {
    if (i) put(out, ",");
    put_field(out, &type->fields[i]);
  }
  put(out, "]");
  put_constraints(out, type);
  put(out, "}");
}

void pop_vertex_table_write(const pop_vertex_type *types, size_t count, pop_bytes *out)
{
  put_key_number(out, "{\"version\":", POP_VERTEX_TABLE_VERSION);
  put(out, ",\"vertices\":[");
  for (size_t i = 0; i < count; ++i) {
    put(out, i ? ",\n" : "\n");
    put_vertex(out, &types[i]);
  }
  put(out, "]}\n");
}

/* Reading. `what` names in messages the thing that a key belongs to: "vertex 'SumVertex'". */

static pop_error *read_string(const json_t *object, const char *key, const char *what,
                              pop_arena *arena, const char **value)
{
  const char *text = json_string_value(json_object_get(object, key));
  if (!text || !*text)
    return pop_error_new(POP_ERROR_FILE_LOAD, "%s has no text \"%s\"", what, key);
  *value = pop_arena_strdup(arena, text);
  return NULL;
}

static pop_error *read_number(const json_t *object, const char *key, const char *what,
                              uint32_t *value)
{
  const json_t *number = json_object_get(object, key);
  json_int_t integer = json_integer_value(number);
  if (!json_is_integer(number) || integer < 0 || integer > MAX_STATE_BYTES)
    return pop_error_new(POP_ERROR_FILE_LOAD, "%s: \"%s\" is not an integer from 0 to %u", what,
                         key, MAX_STATE_BYTES);
  *value = (uint32_t)integer;
  return NULL;
}

static pop_error *read_alignment(const json_t *object, const char *key, const char *what,
                                 uint32_t *value)
{
  POP_TRY(read_number(object, key, what, value));
  if (*value == 0 || (*value & (*value - 1)))
    return pop_error_new(POP_ERROR_FILE_LOAD, "%s: alignment %u is not a power of two", what,
                         *value);
  if (*value > POP_LINK_ALIGN_MAX)
    return pop_error_new(POP_ERROR_FILE_LOAD, "%s: alignment %u; tiles align to %u at most", what,
                         *value, POP_LINK_ALIGN_MAX);
  return NULL;
}

static pop_error *read_choice(const json_t *object, const char *key, const char *what,
                              const char *const *names, size_t count, unsigned *value)
{
  const char *text = json_string_value(json_object_get(object, key));
  for (size_t i = 0; text && i < count; ++i) {
    if (!strcmp(text, names[i])) {
      *value = (unsigned)i;
      return NULL;
    }
  }
  return pop_error_new(POP_ERROR_FILE_LOAD, "%s: unknown %s '%s'", what, key, text ? text : "");
}

static pop_error *read_field_type(const json_t *object, const char *what, pop_type *type)
{
  const char *text = json_string_value(json_object_get(object, "type"));
  if (!text || !pop_type_from_name(text, type))
    return pop_error_new(POP_ERROR_FILE_LOAD, "%s: unknown type '%s'", what, text ? text : "");
  return NULL;
}

static pop_error *read_layout(const json_t *object, const char *key, const char *what,
                              pop_field_layout *layout)
{
  const char *text = json_string_value(json_object_get(object, key));
  for (int i = 0; text && i < POP_LAYOUT_COUNT; ++i) {
    if (!strcmp(text, pop_layout_forms[i].name)) {
      *layout = (pop_field_layout)i;
      return NULL;
    }
  }
  return pop_error_new(POP_ERROR_FILE_LOAD, "%s: unknown %s '%s'", what, key, text ? text : "");
}

static bool is_list(pop_field_layout layout)
{
  return layout == POP_LAYOUT_DELTAN || layout == POP_LAYOUT_DELTANELEMENTS;
}

/* Do kind, layout and row layout go together? */
static bool is_layout_possible(const pop_field *field)
{
  bool needs_rows = is_list(field->layout) || field->layout == POP_LAYOUT_ARRAY;
  if (!field->has_rows) return !needs_rows;
  if (field->kind == POP_FIELD_CONSTANT || field->layout == POP_LAYOUT_SCALAR) return false;
  if (is_list(field->layout)) return field->row_layout == field->layout;
  return !is_list(field->row_layout) && field->row_layout != POP_LAYOUT_ARRAY;
}

static bool is_plain_value(const pop_field *field)
{
  return field->kind == POP_FIELD_CONSTANT && field->layout == POP_LAYOUT_SCALAR;
}

/* Whose layouts the table uses: the tile's or the host's. */
typedef struct side {
  const pop_layout_form *forms;
  uint32_t (*row_bytes)(const pop_field *field);
} side;

static const side tile_side = {pop_layout_forms, pop_field_row_bytes};
static const side host_side = {pop_host_layout_forms, pop_field_host_row_bytes};

static uint64_t expected_field_bytes(const side *s, const pop_field *field)
{
  if (is_plain_value(field)) return pop_type_bytes(field->type);
  if (field->layout == POP_LAYOUT_ARRAY) return (uint64_t)field->num_rows * s->row_bytes(field);
  return s->forms[field->layout].bytes;
}

static uint32_t expected_state_alignment(const side *s, const pop_field *field)
{
  if (is_plain_value(field)) return pop_type_align(field->type);
  return s->forms[field->layout == POP_LAYOUT_ARRAY ? field->row_layout : field->layout].align;
}

static pop_error *check_place(const side *s, const pop_field *field, const char *what,
                              uint32_t state_size)
{
  uint64_t bytes = expected_field_bytes(s, field);
  if (field->size != bytes)
    return pop_error_new(POP_ERROR_FILE_LOAD, "%s takes %u bytes instead of %llu", what,
                         field->size, (unsigned long long)bytes);
  if (field->offset + field->size > state_size)
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "%s: offset %u + size %u is past the end of the vertex state (%u bytes)",
                         what, field->offset, field->size, state_size);
  uint32_t in_state = expected_state_alignment(s, field);
  if (field->offset % in_state)
    return pop_error_new(POP_ERROR_FILE_LOAD, "%s: offset %u is not a multiple of %u", what,
                         field->offset, in_state);
  return NULL;
}

static pop_error *check_field(const side *s, const pop_field *field, const char *what,
                              uint32_t state_size)
{
  const pop_layout_form *form = &s->forms[field->layout];
  if (!is_layout_possible(field))
    return pop_error_new(POP_ERROR_FILE_LOAD, "%s: a %s cannot have layout '%s'%s%s", what,
                         field_kind_names[field->kind], form->name,
                         field->has_rows ? " with rows of layout " : "",
                         field->has_rows ? pop_layout_forms[field->row_layout].name : "");
  POP_TRY(check_place(s, field, what, state_size));
  uint32_t least = pop_type_align(field->type);
  uint32_t for_pointer =
      field->has_rows ? s->forms[field->row_layout].target_align : form->target_align;
  if (!is_list(field->layout) && for_pointer > least) least = for_pointer;
  if (field->alignment < least)
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "%s: alignment %u is less than type %s in its layout needs (%u)", what,
                         field->alignment, pop_type_name(field->type), least);
  if (field->has_rows && field->table_alignment < form->target_align)
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "%s: alignment %u of its table is less than its layout needs (%u)", what,
                         field->table_alignment, form->target_align);
  return NULL;
}

static pop_error *read_rows(const json_t *object, const char *what, pop_field *field)
{
  field->has_rows = json_object_get(object, "row_layout") != NULL;
  if (!field->has_rows) return NULL;
  POP_TRY(read_layout(object, "row_layout", what, &field->row_layout));
  POP_TRY(read_alignment(object, "table_align", what, &field->table_alignment));
  return read_number(object, "num_rows", what, &field->num_rows);
}

static pop_error *read_field(const side *s, const json_t *object, const char *vertex,
                             uint32_t state_size, pop_arena *arena, pop_field *field)
{
  POP_TRY(read_string(object, "name", vertex, arena, &field->name));
  const char *what = pop_arena_printf(arena, "field '%s' of %s", field->name, vertex);
  unsigned kind;
  POP_TRY(read_choice(object, "kind", what, field_kind_names, LENGTH(field_kind_names), &kind));
  field->kind = (pop_field_kind)kind;
  POP_TRY(read_layout(object, "layout", what, &field->layout));
  POP_TRY(read_field_type(object, what, &field->type));
  POP_TRY(read_number(object, "offset", what, &field->offset));
  POP_TRY(read_number(object, "size", what, &field->size));
  POP_TRY(read_alignment(object, "align", what, &field->alignment));
  field->interleaved = json_is_true(json_object_get(object, "interleaved"));
  POP_TRY(read_rows(object, what, field));
  return check_field(s, field, what, state_size);
}

static pop_error *check_apart(const pop_field *fields, size_t count, const char *vertex)
{
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < i; ++j) {
      const pop_field *a = &fields[j], *b = &fields[i];
      if (!strcmp(a->name, b->name))
        return pop_error_new(POP_ERROR_FILE_LOAD, "%s has two fields '%s'", vertex, a->name);
      if (a->offset < b->offset + b->size && b->offset < a->offset + a->size)
        return pop_error_new(POP_ERROR_FILE_LOAD, "fields '%s' and '%s' of %s overlap", a->name,
                             b->name, vertex);
    }
  }
  return NULL;
}

static pop_error *read_constraints(const json_t *object, const char *vertex, pop_arena *arena,
                                   pop_vertex_type *type)
{
  const json_t *texts = json_object_get(object, "constraints");
  if (!texts) return NULL;
  size_t count = json_array_size(texts);
  pop_constraint *list = pop_arena_alloc(arena, count * sizeof *list);
  for (size_t i = 0; i < count; ++i) {
    const char *text = json_string_value(json_array_get(texts, i));
    pop_error *error = pop_constraint_parse(type, text ? text : "", &list[i]);
    if (error) {
      pop_error *again =
          pop_error_new(POP_ERROR_FILE_LOAD, "%s: %s", vertex, pop_error_message(error));
      pop_error_free(error);
      return again;
    }
  }
  type->constraints = list;
  type->num_constraints = count;
  return NULL;
}

static pop_error *read_vertex(const side *s, const json_t *object, pop_arena *arena,
                              pop_vertex_type *type)
{
  POP_TRY(read_string(object, "name", "a vertex", arena, &type->name));
  const char *what = pop_arena_printf(arena, "vertex '%s'", type->name);
  POP_TRY(read_string(object, "symbol", what, arena, &type->symbol));
  if (strncmp(type->symbol, POP_VERTEX_SYMBOL_PREFIX, strlen(POP_VERTEX_SYMBOL_PREFIX)) != 0)
    return pop_error_new(POP_ERROR_FILE_LOAD, "%s: symbol '%s' does not begin with %s", what,
                         type->symbol, POP_VERTEX_SYMBOL_PREFIX);
  POP_TRY(read_string(object, "source", what, arena, &type->source));
  unsigned kind;
  POP_TRY(read_choice(object, "kind", what, kind_names, LENGTH(kind_names), &kind));
  type->kind = (pop_vertex_kind)kind;
  POP_TRY(read_number(object, "size", what, &type->state_size));
  POP_TRY(read_alignment(object, "align", what, &type->state_alignment));

  const json_t *fields = json_object_get(object, "fields");
  if (!json_is_array(fields))
    return pop_error_new(POP_ERROR_FILE_LOAD, "%s has no array \"fields\"", what);
  type->num_fields = json_array_size(fields);
  pop_field *list = pop_arena_alloc(arena, type->num_fields * sizeof *list);
  for (size_t i = 0; i < type->num_fields; ++i)
    POP_TRY(read_field(s, json_array_get(fields, i), what, type->state_size, arena, &list[i]));
  type->fields = list;
  POP_TRY(check_apart(list, type->num_fields, what));
  return read_constraints(object, what, arena, type);
}

static pop_error *read_vertices(const side *s, const json_t *root, pop_arena *arena,
                                pop_vertex_type **types, size_t *count)
{
  json_int_t version = json_integer_value(json_object_get(root, "version"));
  if (version != POP_VERTEX_TABLE_VERSION)
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "version %lld instead of %d: compile the codelets again with this popc",
                         (long long)version, POP_VERTEX_TABLE_VERSION);
  const json_t *vertices = json_object_get(root, "vertices");
  if (!json_is_array(vertices)) return pop_error_new(POP_ERROR_FILE_LOAD, "no array \"vertices\"");
  *count = json_array_size(vertices);
  *types = pop_arena_alloc(arena, *count * sizeof **types);
  for (size_t i = 0; i < *count; ++i) {
    POP_TRY(read_vertex(s, json_array_get(vertices, i), arena, &(*types)[i]));
    for (size_t j = 0; j < i; ++j)
      if (!strcmp((*types)[i].name, (*types)[j].name))
        return pop_error_new(POP_ERROR_FILE_LOAD, "two vertices '%s'", (*types)[i].name);
  }
  return NULL;
}

static pop_error *read_table(const side *s, const char *text, size_t size, const char *where,
                             pop_arena *arena, pop_vertex_type **types, size_t *count)
{
  json_error_t problem;
  json_t *root = pop_json_load(text, size, &problem);
  if (!root)
    return pop_error_new(POP_ERROR_FILE_LOAD, "%s: vertex table: not JSON at byte %d: %s", where,
                         problem.position, problem.text);
  pop_error *error = read_vertices(s, root, arena, types, count);
  json_decref(root);
  return error ? pop_error_prefix(error, "%s: vertex table", where) : NULL;
}

pop_error *pop_vertex_table_read(const char *text, size_t size, const char *where, pop_arena *arena,
                                 pop_vertex_type **types, size_t *count)
{
  return read_table(&tile_side, text, size, where, arena, types, count);
}

pop_error *pop_vertex_table_read_host(const char *text, size_t size, const char *where,
                                      pop_arena *arena, pop_vertex_type **types, size_t *count)
{
  return read_table(&host_side, text, size, where, arena, types, count);
}

const pop_field *pop_vertex_type_find_field(const pop_vertex_type *type, const char *name)
{
  for (size_t i = 0; i < type->num_fields; ++i)
    if (!strcmp(type->fields[i].name, name)) return &type->fields[i];
  return NULL;
}
