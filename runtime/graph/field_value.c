/* Values of plain fields, in the tile's format. */
#include "graph/check.h"
#include "graph/describe.h"
#include "graph/replicated.h"

#include <math.h>
#include <string.h>

/* Ranges of the integer types. That of POP_UNSIGNED_LONGLONG exceeds an int64_t. */
static const struct int_range {
  int64_t lowest, highest;
} int_ranges[POP_TYPE_COUNT] = {
    [POP_BOOL] = {0, 1},
    [POP_CHAR] = {INT8_MIN, UINT8_MAX}, /* the tile's char may be signed or not */
    [POP_SIGNED_CHAR] = {INT8_MIN, INT8_MAX},
    [POP_UNSIGNED_CHAR] = {0, UINT8_MAX},
    [POP_SHORT] = {INT16_MIN, INT16_MAX},
    [POP_UNSIGNED_SHORT] = {0, UINT16_MAX},
    [POP_INT] = {INT32_MIN, INT32_MAX},
    [POP_UNSIGNED_INT] = {0, UINT32_MAX},
    [POP_LONGLONG] = {INT64_MIN, INT64_MAX},
    [POP_UNSIGNED_LONGLONG] = {0, INT64_MAX},
    [POP_QUARTER] = {0, 0}, /* the only number whose code does not depend on format and scale */
};

/* ---- conversions: false if the value does not fit ---- */

/* Little-endian, as the tile is. */
static void put_int(uint64_t value, pop_type type, uint8_t *bytes)
{
  for (uint32_t i = 0; i < pop_type_bytes(type); i++) bytes[i] = (uint8_t)(value >> 8 * i);
}

static void put_single(float value, uint8_t *bytes)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  put_int(bits, POP_FLOAT, bytes);
}

static bool put_float(double value, pop_type type, uint8_t *bytes)
{
  if (type == POP_HALF) {
    uint16_t half = pop_half_from_double(value);
    put_int(half, type, bytes);
    return isinf(pop_half_to_float(half)) == isinf(value);
  }
  put_single((float)value, bytes);
  return isinf((float)value) == isinf(value);
}

/* A double holds all integers that fit a half, but not all that fit a float. */
static bool convert_int(int64_t value, pop_type type, uint8_t *bytes)
{
  if (type == POP_HALF) return put_float((double)value, type, bytes);
  if (type == POP_FLOAT) {
    put_single((float)value, bytes);
    return true;
  }
  put_int((uint64_t)value, type, bytes);
  return int_ranges[type].lowest <= value && value <= int_ranges[type].highest;
}

static bool convert_float(double value, pop_type type, uint8_t *bytes)
{
  static const double two_63 = 9223372036854775808.0;
  if (type == POP_FLOAT || type == POP_HALF) return put_float(value, type, bytes);
  if (trunc(value) != value) return false; /* NaN, too */
  if (type == POP_UNSIGNED_LONGLONG && value >= two_63 && value < 2 * two_63) {
    put_int((uint64_t)value, type, bytes);
    return true;
  }
  return value >= -two_63 && value < two_63 && convert_int((int64_t)value, type, bytes);
}

/* ---- setting ---- */

typedef struct setting {
  pop_graph *graph;
  const char *call;
  pop_vertex vertex;
  const pop_field *field; /* NULL after an error */
} setting;

/* Begins to set a scalar field, or a vector field. */
static setting start_setting(pop_graph *graph, const char *call, pop_vertex vertex,
                             const char *field, bool vector)
{
  setting s = {graph, call, vertex, NULL};
  if (!check_vertex(graph, call, vertex) ||
      !check_room(graph, call, graph->num_field_values, "field values"))
    return s;
  const pop_field *found = check_field(graph, call, vertex.index - 1, field);
  if (!found) return s;
  const char *vertex_name = say_vertex(graph, vertex.index - 1);
  if (found->kind != POP_FIELD_CONSTANT)
    graph_failf(graph, POP_ERROR_GRAPH_CONNECTION,
                "%s: field '%s' of %s is an edge, not a plain member; connect a tensor to it with "
                "pop_graph_connect",
                call, found->name, vertex_name);
  else if ((found->layout != POP_LAYOUT_SCALAR) != vector)
    graph_failf(graph, POP_ERROR_GRAPH_CONNECTION, "%s: field '%s' of %s is a %s; set it with %s",
                call, found->name, vertex_name, vector ? "scalar" : "vector",
                vector ? "pop_graph_set_field" : "pop_graph_set_field_array");
  else
    s.field = found;
  return s;
}

static void store_in(const setting *s, vertex *v, field_value value)
{
  pop_graph *graph = s->graph;
  value.field = (uint32_t)(s->field - graph->vertex_types[v->type].type->fields);
  value.next = GRAPH_NONE;
  uint32_t *link = &v->first_value;
  while (*link != GRAPH_NONE && graph->field_values[*link].field != value.field)
    link = &graph->field_values[*link].next;
  if (*link == GRAPH_NONE) {
    *link = (uint32_t)graph->num_field_values;
    pop_push(graph->field_values, graph->num_field_values, graph->field_values_capacity, value);
  } else {
    value.next = graph->field_values[*link].next;
    graph->field_values[*link] = value;
  }
}

/* Keeps the value in all replicas; it replaces an earlier one. */
static void store(const setting *s, field_value value)
{
  vertex *first = &s->graph->vertices[s->vertex.index - 1];
  for (uint32_t r = 0, count = vertex_replicas(s->graph, s->vertex); r < count; r++)
    store_in(s, first + r, value);
}

static void store_bytes(const setting *s, const uint8_t *bytes)
{
  field_value value = {.count = 0};
  memcpy(value.bytes, bytes, sizeof value.bytes);
  store(s, value);
}

void pop_graph_set_field(pop_graph *graph, pop_vertex vertex, const char *field, pop_type type,
                         const void *value)
{
  GRAPH_TURN(graph);
  if (!graph_enter(&graph, __func__)) return;
  setting s = start_setting(graph, "pop_graph_set_field", vertex, field, false);
  if (!s.field || !check_type(graph, s.call, type)) return;
  uint8_t bytes[8] = {0};
  if (value) memcpy(bytes, value, pop_type_bytes(type));
  if (type != s.field->type)
    graph_failf(graph, POP_ERROR_TYPE,
                "%s: a value of type %s for field '%s' of %s, which is of type %s", s.call,
                pop_type_name(type), field, say_vertex(graph, vertex.index - 1),
                pop_type_name(s.field->type));
  else if (!value || (type == POP_BOOL && bytes[0] > 1))
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT, "%s: field '%s' of %s: the value is %s", s.call,
                field, say_vertex(graph, vertex.index - 1),
                value ? "neither 0 nor 1, as a bool must be" : "NULL");
  else
    store_bytes(&s, bytes);
}

static void fail_value(const setting *s, const char *value)
{
  graph_failf(s->graph, POP_ERROR_TYPE, "%s: %s does not fit field '%s' of %s, which is of type %s",
              s->call, value, s->field->name, say_vertex(s->graph, s->vertex.index - 1),
              pop_type_name(s->field->type));
}

void pop_graph_set_field_float(pop_graph *graph, pop_vertex vertex, const char *field, double value)
{
  GRAPH_TURN(graph);
  if (!graph_enter(&graph, __func__)) return;
  setting s = start_setting(graph, "pop_graph_set_field_float", vertex, field, false);
  uint8_t bytes[8] = {0};
  if (!s.field) return;
  if (convert_float(value, s.field->type, bytes))
    store_bytes(&s, bytes);
  else
    fail_value(&s, pop_arena_printf(graph->arena, "%.17g", value));
}

void pop_graph_set_field_int(pop_graph *graph, pop_vertex vertex, const char *field, int64_t value)
{
  GRAPH_TURN(graph);
  if (!graph_enter(&graph, __func__)) return;
  setting s = start_setting(graph, "pop_graph_set_field_int", vertex, field, false);
  uint8_t bytes[8] = {0};
  if (!s.field) return;
  if (convert_int(value, s.field->type, bytes))
    store_bytes(&s, bytes);
  else
    fail_value(&s, pop_arena_printf(graph->arena, "%lld", (long long)value));
}

/* ---- data of vectors ---- */

/* Fails the graph if the layout cannot count so many. */
static bool check_count(const setting *s, size_t count)
{
  const pop_layout_form *form = &pop_layout_forms[s->field->layout];
  uint32_t most = UINT32_MAX / pop_type_bytes(s->field->type);
  if (form->max_count < most) most = form->max_count;
  if (count <= most) return true;
  graph_failf(s->graph, POP_ERROR_GRAPH_CONNECTION,
              "%s: field '%s' of %s: %zu elements; its layout %s can count %u", s->call,
              s->field->name, say_vertex(s->graph, s->vertex.index - 1), count, form->name, most);
  return false;
}

static bool are_bools(const uint8_t *values, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (values[i] > 1) return false;
  return true;
}

/* Fails the graph if the field cannot hold the values. */
static bool check_values(const setting *s, pop_type type, const void *values, size_t count)
{
  if (!check_type(s->graph, s->call, type)) return false;
  const char *vertex_name = say_vertex(s->graph, s->vertex.index - 1);
  if (type != s->field->type)
    graph_failf(s->graph, POP_ERROR_TYPE,
                "%s: values of type %s for field '%s' of %s, which is of type %s", s->call,
                pop_type_name(type), s->field->name, vertex_name, pop_type_name(s->field->type));
  else if ((count && !values) || (type == POP_BOOL && !are_bools(values, count)))
    graph_failf(s->graph, POP_ERROR_INVALID_ARGUMENT, "%s: field '%s' of %s: %s", s->call,
                s->field->name, vertex_name,
                values ? "a value is neither 0 nor 1, as a bool must be" : "the values are NULL");
  else
    return true;
  return false;
}

/* Keeps a copy of the values; NULL: zeros. */
static uint8_t *store_data(const setting *s, const void *values, size_t count)
{
  size_t bytes = count * pop_type_bytes(s->field->type);
  uint8_t *copy = pop_arena_alloc(s->graph->arena, bytes);
  if (bytes && values) memcpy(copy, values, bytes);
  store(s, (field_value){.data = copy, .count = (uint32_t)count});
  return copy;
}

void pop_graph_set_field_array(pop_graph *graph, pop_vertex vertex, const char *field,
                               pop_type type, const void *values, size_t count)
{
  GRAPH_TURN(graph);
  if (!graph_enter(&graph, __func__)) return;
  setting s = start_setting(graph, "pop_graph_set_field_array", vertex, field, true);
  if (s.field && check_count(&s, count) && check_values(&s, type, values, count))
    store_data(&s, values, count);
}

static const field_value *find_value(const setting *s)
{
  const pop_graph *graph = s->graph;
  const vertex *v = &graph->vertices[s->vertex.index - 1];
  size_t field = (size_t)(s->field - graph->vertex_types[v->type].type->fields);
  for (uint32_t i = v->first_value; i != GRAPH_NONE; i = graph->field_values[i].next)
    if (graph->field_values[i].field == field) return &graph->field_values[i];
  return NULL;
}

/* The data belong to this vertex (and its replicas) alone, so the element is written in place. */
void pop_graph_set_field_element(pop_graph *graph, pop_vertex vertex, const char *field,
                                 size_t index, pop_type type, const void *value)
{
  GRAPH_TURN(graph);
  if (!graph_enter(&graph, __func__)) return;
  setting s = start_setting(graph, "pop_graph_set_field_element", vertex, field, true);
  if (!s.field || !check_values(&s, type, value, 1)) return;
  const field_value *had = find_value(&s);
  size_t size = had ? had->count : 0, bytes = pop_type_bytes(type);
  if (index >= size) {
    graph_failf(graph, POP_ERROR_INDEX,
                "%s: field '%s' of %s: there is no element %zu, it has %zu%s", s.call, field,
                say_vertex(graph, vertex.index - 1), index, size,
                had ? "" : "; say how many with pop_graph_set_field_size");
    return;
  }
  uint8_t *data = had->data ? had->data : store_data(&s, NULL, size);
  memcpy(data + index * bytes, value, bytes);
}

void set_field_data_size(pop_graph *graph, const char *call, pop_vertex vertex, const char *field,
                         size_t size)
{
  setting s = start_setting(graph, call, vertex, field, true);
  if (s.field && check_count(&s, size)) store(&s, (field_value){.count = (uint32_t)size});
}
