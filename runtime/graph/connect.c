/* Edges: which tensors the fields of vertices are connected to. What can be checked when a
 * connection is made is checked here. What takes the whole graph, the graph compiler checks.
 *
 * A field has at most one edge. The edge of a field with rows has one tensor for each row, in a
 * run of graph->row_tensors that is made when the number of rows becomes known.
 *
 * A vertex of a replicated graph stands for one in each replica, and so does what is connected
 * to it. Connections are made for each replica, and checked with what stands for all. */
#include "graph/check.h"
#include "graph/describe.h"
#include "graph/metadata.h"
#include "graph/replicated.h"

#include <stdlib.h>
#include <string.h>

/* A connection being made, and where its error goes. */
typedef struct connection {
  pop_graph *graph;
  const char *call;
  uint32_t vertex;
  uint32_t replica, replication; /* of the vertex */
  const pop_field *field;        /* NULL after an error */
} connection;

static bool refuse(const connection *c, const char *reason)
{
  graph_failf(c->graph, POP_ERROR_GRAPH_CONNECTION, "%s: field '%s' of %s: %s", c->call,
              c->field->name, say_vertex(c->graph, c->vertex), reason);
  return false;
}

#define REFUSE(c, ...) refuse(c, pop_arena_printf((c)->graph->arena, __VA_ARGS__))

static connection start(pop_graph *graph, const char *call, pop_vertex handle, const char *field,
                        uint32_t replica)
{
  connection c = {
      .graph = graph, .call = call, .vertex = handle.index - 1 + replica, .replica = replica};
  const vertex *v = check_vertex(graph, call, handle);
  if (!v || !check_room(graph, call, graph->num_edges, "edges")) return c;
  c.replication = v->replication;
  c.field = check_field(graph, call, c.vertex, field);
  return c;
}

/* ---- what a tensor must be ---- */

static bool check_field_type(const connection *c, const tensor *t)
{
  if (!check_replication(c->graph, c->call, t, c->replication)) return false;
  if (c->field->kind == POP_FIELD_CONSTANT)
    return REFUSE(c, "it is a plain member, not an edge; give it a value with %s",
                  c->field->layout == POP_LAYOUT_SCALAR ? "pop_graph_set_field"
                                                        : "pop_graph_set_field_array");
  if (c->field->type == t->type) return true;
  return REFUSE(c, "it has elements of type %s, which does not fit the %s",
                pop_type_name(c->field->type), say_tensor(c->graph, t));
}

/* Checks the shape of one edge, or of one row. */
static bool check_shape(const connection *c, const tensor *t)
{
  pop_field_layout layout = c->field->has_rows ? c->field->row_layout : c->field->layout;
  const char *what = c->field->has_rows ? "a row of it" : "it";
  if (layout == POP_LAYOUT_SCALAR && t->num_elements != 1)
    return REFUSE(c, "%s takes one element, but the %s has %llu", what, say_tensor(c->graph, t),
                  (unsigned long long)t->num_elements);
  if (layout != POP_LAYOUT_SCALAR && t->rank != 1)
    return REFUSE(
        c,
        "%s takes a tensor of rank 1, but the %s has rank %u; pop_tensor_flatten makes it "
        "one",
        what, say_tensor(c->graph, t), t->rank);
  uint32_t most = pop_field_max_elements(c->field); /* the graph compiler knows what a tile holds */
  if (most < UINT32_MAX && t->num_elements > most)
    return REFUSE(c, "the %s has %llu elements; its layout %s can count %u in one vector",
                  say_tensor(c->graph, t), (unsigned long long)t->num_elements,
                  pop_layout_forms[layout].name, most);
  return true;
}

static bool check_writes(const connection *c, const tensor *t, pop_tensor handle)
{
  if (c->field->kind == POP_FIELD_INPUT) return true;
  if (pop_tensor_contains_constant(handle))
    return REFUSE(c, "the vertex writes it, but the %s is (partly) a constant",
                  say_tensor(c->graph, t));
  if (pop_tensor_contains_aliases(handle))
    return REFUSE(c, "the vertex writes it, but the %s holds some element twice",
                  say_tensor(c->graph, t));
  return true;
}

static bool check_edge(const connection *c, pop_tensor handle)
{
  const tensor *t = check_tensor(c->graph, c->call, handle);
  return t && check_field_type(c, t) && check_shape(c, t) && check_writes(c, t, handle);
}

/* The tensor for this replica's vertex. */
static uint32_t tensor_here(const connection *c, pop_tensor handle)
{
  return tensor_of_replica(c->graph, c->call, handle, c->replica).index;
}

/* ---- edges ---- */

static uint32_t field_number(const connection *c)
{
  const vertex *v = &c->graph->vertices[c->vertex];
  return (uint32_t)(c->field - c->graph->vertex_types[v->type].type->fields);
}

/* The link to the field's edge; if it has none, the link at the end of the vertex's chain. */
static uint32_t *find_link(const connection *c)
{
  uint32_t *link = &c->graph->vertices[c->vertex].first_edge, field = field_number(c);
  while (*link != GRAPH_NONE && c->graph->edges[*link].field != field)
    link = &c->graph->edges[*link].next;
  return link;
}

static void add_edge(const connection *c, uint32_t *link, uint32_t tensor, uint32_t num_rows)
{
  pop_graph *graph = c->graph;
  edge added = {
      .field = field_number(c), .tensor = tensor, .num_rows = num_rows, .next = GRAPH_NONE};
  *link = (uint32_t)graph->num_edges;
  pop_push(graph->edges, graph->num_edges, graph->edges_capacity, added);
}

/* Room in graph->row_tensors for the rows of a field whose number of rows is open: a power of two,
 * so that connecting the rows of several fields in turn moves each row a few times only. */
static size_t room_for(size_t rows)
{
  size_t room = 1;
  while (room < rows) room *= 2;
  return room;
}

static bool check_num_rows(const connection *c, size_t count)
{
  const pop_field *field = c->field;
  const pop_layout_form *form = &pop_layout_forms[field->layout];
  if (field->layout == POP_LAYOUT_ARRAY && count != field->num_rows)
    return REFUSE(c, "it has %u rows, not %zu", field->num_rows, count);
  if (count > form->max_count)
    return REFUSE(c, "%zu rows; its layout %s can count %u", count, form->name, form->max_count);
  return true;
}

static void push_rows(pop_graph *graph, size_t count)
{
  for (size_t i = 0; i < count; i++)
    pop_push(graph->row_tensors, graph->num_row_tensors, graph->row_tensors_capacity, 0);
}

/* Adds the field's edge. `open`: more rows may follow. */
static bool add_rows(const connection *c, uint32_t *link, size_t count, bool open)
{
  pop_graph *graph = c->graph;
  if (!check_num_rows(c, count)) return false;
  size_t first = graph->num_row_tensors, room = open ? room_for(count) : count;
  if (!check_room(graph, c->call, first + room, "rows")) return false;
  add_edge(c, link, (uint32_t)first, (uint32_t)count);
  graph->edges[graph->num_edges - 1].rows_open = open;
  push_rows(graph, room);
  return true;
}

/* Adds rows to a field whose number of rows is open. It grows in place if it has room, or if its
 * rows are the last of all. */
static bool grow_rows(const connection *c, uint32_t number, size_t count)
{
  pop_graph *graph = c->graph;
  edge *e = &graph->edges[number];
  if (!check_num_rows(c, count)) return false;
  size_t had = e->num_rows, room = room_for(had), wanted = room_for(count);
  bool last = e->tensor + room == graph->num_row_tensors;
  size_t added = wanted == room ? 0 : last ? wanted - room : wanted;
  if (!check_room(graph, c->call, graph->num_row_tensors + added, "rows")) return false;
  size_t first = added < wanted ? e->tensor : graph->num_row_tensors;
  push_rows(graph, added);
  if (first != e->tensor)
    memcpy(graph->row_tensors + first, graph->row_tensors + e->tensor,
           had * sizeof *graph->row_tensors);
  e->tensor = (uint32_t)first;
  e->num_rows = (uint32_t)count;
  return true;
}

static void set_edge(const connection *c, uint32_t tensor)
{
  uint32_t *link = find_link(c);
  if (*link == GRAPH_NONE)
    add_edge(c, link, tensor, GRAPH_NONE);
  else
    c->graph->edges[*link].tensor = tensor;
}

/* A constant on the vertex's tile; index 0 after an error. */
static pop_tensor add_private_constant(const connection *c, pop_type type, const void *values,
                                       size_t count)
{
  pop_graph *graph = c->graph;
  const char *name = pop_arena_printf(graph->arena, "%s.value", c->field->name);
  pop_tensor tensor = pop_graph_add_constant(graph, type, &count, 1, values, name);
  if (tensor.index) graph->variables[graph->num_variables - 1].with_vertex = c->vertex + 1;
  return tensor;
}

/* ---- metadata ---- */

static const char different_metadata[] =
    "its rows have different metadata (pop_graph_get_metadata), and a field has one";

/* Is it the same variable, or the same constant value? */
static bool is_same_metadata(pop_graph *graph, uint32_t a, uint32_t b)
{
  const view_piece *x = &graph->pieces[graph->tensors[a].first_piece];
  const view_piece *y = &graph->pieces[graph->tensors[b].first_piece];
  uint8_t values[2];
  return (x->variable == y->variable && x->base == y->base) ||
         (pop_tensor_constant_values((pop_tensor){graph, a}, &values[0], 1) == 1 &&
          pop_tensor_constant_values((pop_tensor){graph, b}, &values[1], 1) == 1 &&
          values[0] == values[1]);
}

/* The metadata that all tensors share. Tensors without elements have none. */
static pop_tensor common_metadata(const connection *c, const pop_tensor *quarters, size_t count)
{
  pop_graph *graph = c->graph;
  pop_tensor found = {graph, 0};
  for (size_t i = 0; i < count && !graph->error; i++) {
    pop_tensor next = graph_metadata(graph, c->call, &graph->tensors[quarters[i].index], true);
    if (found.index && next.index && !is_same_metadata(graph, found.index, next.index))
      refuse(c, different_metadata);
    if (next.index) found = next;
  }
  return found;
}

/* Does the field take metadata? A field of that name in a file may be anything. */
static bool takes_metadata(const pop_field *field)
{
  return field->kind == POP_FIELD_INPUT && field->layout == POP_LAYOUT_SCALAR && !field->has_rows &&
         field->type == POP_UNSIGNED_CHAR;
}

/* The edge for the metadata of a field's quarters. */
typedef struct metadata_edge {
  connection to;
  uint32_t tensor; /* 0: there is none to connect */
} metadata_edge;

/* Finds the metadata of the field's quarters, which are an edge of their own if the codelet has a
 * field for it. Constants are copied to the vertex, so that nothing is exchanged for them.
 * `more`: other rows may follow, with the same metadata. False after an error. */
static bool find_metadata(const connection *c, const pop_tensor *quarters, size_t count, bool more,
                          metadata_edge *metadata)
{
  pop_graph *graph = c->graph;
  metadata->tensor = 0;
  if (graph->error) return false;
  if (c->field->type != POP_QUARTER) return true;
  const pop_vertex_type *type = graph->vertex_types[graph->vertices[c->vertex].type].type;
  connection to = *c;
  to.field = pop_vertex_type_find_field(
      type, pop_arena_printf(graph->arena, "%s" POP_METADATA_SUFFIX, c->field->name));
  if (!to.field || !takes_metadata(to.field)) return true;
  pop_tensor found = common_metadata(c, quarters, count);
  if (graph->error) return false;
  uint8_t packed = POP_QUARTER_USUAL;
  bool known = !found.index || pop_tensor_constant_values(found, &packed, 1) == 1;
  uint32_t tensor = known ? add_private_constant(&to, POP_UNSIGNED_CHAR, &packed, 1).index
                          : tensor_here(c, found);
  uint32_t edge = *find_link(&to);
  if (!tensor) return false;
  if (more && edge != GRAPH_NONE && !is_same_metadata(graph, graph->edges[edge].tensor, tensor))
    return refuse(c, different_metadata);
  *metadata = (metadata_edge){to, tensor};
  return true;
}

static void connect_metadata(const metadata_edge *metadata)
{
  if (metadata->tensor) set_edge(&metadata->to, metadata->tensor);
}

/* ---- rows, all at once ---- */

static bool check_rows_wanted(const connection *c)
{
  if (c->field->has_rows) return true;
  return refuse(c, "it has no rows; connect it with pop_graph_connect");
}

/* Connects all rows, or none after an error. Existing rows get new tensors; `count` must be their
 * number. */
static void connect_rows(const connection *c, const pop_tensor *tensors, size_t count,
                         const pop_tensor *quarters, size_t num_quarters)
{
  pop_graph *graph = c->graph;
  uint32_t *link = find_link(c);
  metadata_edge metadata;
  for (size_t i = 0; i < count; i++)
    if (!check_edge(c, tensors[i])) return;
  if (*link != GRAPH_NONE && graph->edges[*link].num_rows != count) {
    REFUSE(c, "it has %u rows already; that cannot change to %zu", graph->edges[*link].num_rows,
           count);
    return;
  }
  if (!check_num_rows(c, count) || !find_metadata(c, quarters, num_quarters, false, &metadata))
    return;
  if (*link == GRAPH_NONE && !add_rows(c, link, count, false)) return;
  uint32_t first = graph->edges[*find_link(c)].tensor;
  for (size_t i = 0; i < count; i++) graph->row_tensors[first + i] = tensor_here(c, tensors[i]);
  connect_metadata(&metadata);
}

/* The first dimension of the tensor is the rows. */
static void connect_tensor_as_rows(const connection *c, pop_tensor handle)
{
  const tensor *t = check_tensor(c->graph, c->call, handle);
  uint32_t rank = c->field->row_layout == POP_LAYOUT_SCALAR ? 1 : 2;
  if (!t || !check_field_type(c, t)) return;
  if (t->rank != rank) {
    REFUSE(c,
           "it takes a tensor of rank %u, a row for each index of the first dimension, but the %s "
           "has rank %u; pop_graph_connect_array takes a tensor for each row",
           rank, say_tensor(c->graph, t), t->rank);
    return;
  }
  size_t count = t->shape[0];
  if (!check_num_rows(c, count)) return; /* before there is a view for each of them */
  pop_tensor *rows = pop_xcalloc(count + 1, sizeof *rows);
  for (size_t i = 0; i < count && !c->graph->error; i++) rows[i] = pop_tensor_index(handle, i);
  if (!c->graph->error) connect_rows(c, rows, count, &handle, 1);
  free(rows);
}

static bool is_counted_narrower(const connection *c, const tensor *t)
{
  pop_type type = c->field->type;
  return c->field->kind == POP_FIELD_INPUT && pop_type_is_integer(type) &&
         pop_type_is_integer(t->type) && !pop_type_is_signed_integer(type) &&
         !pop_type_is_signed_integer(t->type) && pop_type_bytes(t->type) == sizeof(uint16_t) &&
         pop_type_bytes(type) == sizeof(uint32_t);
}

/* Widens constant counts to the field's type. Libraries make them with 16 bits for the chip's
 * assembly, where the codelet that is compiled here has 32. Anything else is returned as it is. */
static pop_tensor widen_counts(const connection *c, pop_tensor handle)
{
  const tensor *t = check_tensor(c->graph, c->call, handle);
  if (!t || t->rank > 1 || !is_counted_narrower(c, t) || t->num_elements > UINT32_MAX ||
      !check_replication(c->graph, c->call, t, c->replication) ||
      pop_tensor_constant_values(handle, NULL, 0) == SIZE_MAX)
    return handle;
  size_t count = t->num_elements;
  uint16_t *narrow = pop_xcalloc(count, sizeof *narrow);
  uint32_t *wide = pop_xcalloc(count, sizeof *wide);
  pop_tensor_constant_values(handle, narrow, count);
  for (size_t i = 0; i < count; i++) wide[i] = narrow[i];
  pop_tensor widened = add_private_constant(c, c->field->type, wide, count);
  free(narrow);
  free(wide);
  return widened.index ? widened : handle;
}

/* A connection of one replica, for this replica's constant. */
static connection of_one_replica(connection c)
{
  c.replica = c.replication = 0;
  return c;
}

static void connect_tensor(const connection *to, pop_tensor tensor)
{
  connection own;
  const connection *c = to;
  if (!c->field) return;
  if (c->field->has_rows) {
    connect_tensor_as_rows(c, tensor);
    return;
  }
  metadata_edge metadata;
  pop_tensor widened = widen_counts(c, tensor);
  if (widened.index != tensor.index) {
    own = of_one_replica(*c);
    c = &own;
    tensor = widened;
  }
  if (!check_edge(c, tensor) || !find_metadata(c, &tensor, 1, false, &metadata)) return;
  set_edge(c, tensor_here(c, tensor));
  connect_metadata(&metadata);
}

void pop_graph_connect(pop_graph *graph, pop_vertex handle, const char *field, pop_tensor tensor)
{
  GRAPH_TURN(graph);
  if (!graph_enter(&graph, __func__)) return;
  for (uint32_t r = 0, count = vertex_replicas(graph, handle); r < count; r++) {
    connection c = start(graph, "pop_graph_connect", handle, field, r);
    connect_tensor(&c, tensor);
  }
}

static pop_tensor add_value(const connection *c, pop_type type, const void *values, size_t count)
{
  if (c->field->kind != POP_FIELD_INPUT && c->field->kind != POP_FIELD_CONSTANT) {
    refuse(c, "the vertex writes it: only an input can be a value; connect a tensor");
    return (pop_tensor){0};
  }
  return add_private_constant(c, type, values, count);
}

void pop_graph_connect_value(pop_graph *graph, pop_vertex handle, const char *field, pop_type type,
                             const void *values, size_t count)
{
  GRAPH_TURN(graph);
  if (!graph_enter(&graph, __func__)) return;
  for (uint32_t r = 0, replicas = vertex_replicas(graph, handle); r < replicas; r++) {
    connection c = start(graph, "pop_graph_connect_value", handle, field, r);
    pop_tensor tensor = c.field ? add_value(&c, type, values, count) : (pop_tensor){0};
    connection here = of_one_replica(c);
    if (tensor.index) connect_tensor(&here, tensor);
  }
}

static void connect_array(const connection *c, const pop_tensor *tensors, size_t count)
{
  if (!c->field || !check_rows_wanted(c)) return;
  if (count && !tensors) {
    refuse(c, "the tensors are NULL");
    return;
  }
  connect_rows(c, tensors, count, tensors, count);
}

void pop_graph_connect_array(pop_graph *graph, pop_vertex handle, const char *field,
                             const pop_tensor *tensors, size_t count)
{
  GRAPH_TURN(graph);
  if (!graph_enter(&graph, __func__)) return;
  for (uint32_t r = 0, replicas = vertex_replicas(graph, handle); r < replicas; r++) {
    connection c = start(graph, "pop_graph_connect_array", handle, field, r);
    connect_array(&c, tensors, count);
  }
}

/* ---- rows, one by one ---- */

static void set_num_rows(const connection *c, size_t size)
{
  if (!c->field->has_rows) {
    refuse(c, "it has no rows; its size is that of the tensor that is connected to it");
    return;
  }
  edge *edges = c->graph->edges;
  uint32_t *link = find_link(c);
  if (*link == GRAPH_NONE) {
    add_rows(c, link, size, false);
    return;
  }
  edge *e = &edges[*link];
  if (e->num_rows != size && !(e->rows_open && e->num_rows < size))
    REFUSE(c, "it has %u rows already; that cannot change", e->num_rows);
  else if (e->num_rows == size || grow_rows(c, *link, size))
    e->rows_open = 0;
}

void pop_graph_set_field_size(pop_graph *graph, pop_vertex handle, const char *field, size_t size)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_set_field_size";
  if (!graph_enter(&graph, __func__)) return;
  for (uint32_t r = 0, count = vertex_replicas(graph, handle); r < count; r++) {
    connection c = start(graph, call, handle, field, r);
    if (!c.field) return;
    if (c.field->kind == POP_FIELD_CONSTANT) {
      set_field_data_size(graph, call, handle, field, size); /* of all replicas */
      return;
    }
    set_num_rows(&c, size);
  }
}

/* Is there such a row, or may it be added? */
static bool check_row(const connection *c, size_t row)
{
  uint32_t number = *find_link(c);
  const edge *e = number == GRAPH_NONE ? NULL : &c->graph->edges[number];
  bool open = e ? e->rows_open : c->field->layout != POP_LAYOUT_ARRAY;
  uint32_t count = e ? e->num_rows : open ? 0 : c->field->num_rows;
  if (row < count || (open && row < SIZE_MAX)) return true;
  return REFUSE(c, "there is no row %zu, it has %u", row, count);
}

static void connect_element(const connection *c, size_t row, pop_tensor tensor)
{
  pop_graph *graph = c->graph;
  metadata_edge metadata;
  if (!c->field || !check_rows_wanted(c) || !check_row(c, row) || !check_edge(c, tensor) ||
      !find_metadata(c, &tensor, 1, true, &metadata))
    return;
  uint32_t *link = find_link(c);
  bool open = c->field->layout != POP_LAYOUT_ARRAY;
  if (*link == GRAPH_NONE && !add_rows(c, link, open ? row + 1 : c->field->num_rows, open)) return;
  uint32_t number = *find_link(c);
  if (row >= graph->edges[number].num_rows && !grow_rows(c, number, row + 1)) return;
  uint32_t here = tensor_here(c, tensor);
  graph->row_tensors[graph->edges[number].tensor + row] = here;
  connect_metadata(&metadata);
}

void pop_graph_connect_element(pop_graph *graph, pop_vertex handle, const char *field, size_t row,
                               pop_tensor tensor)
{
  GRAPH_TURN(graph);
  if (!graph_enter(&graph, __func__)) return;
  for (uint32_t r = 0, count = vertex_replicas(graph, handle); r < count; r++) {
    connection c = start(graph, "pop_graph_connect_element", handle, field, r);
    connect_element(&c, row, tensor);
  }
}

void pop_graph_connect_element_value(pop_graph *graph, pop_vertex handle, const char *field,
                                     size_t row, pop_type type, const void *values, size_t count)
{
  GRAPH_TURN(graph);
  if (!graph_enter(&graph, __func__)) return;
  for (uint32_t r = 0, replicas = vertex_replicas(graph, handle); r < replicas; r++) {
    connection c = start(graph, "pop_graph_connect_element_value", handle, field, r);
    pop_tensor tensor = c.field ? add_value(&c, type, values, count) : (pop_tensor){0};
    connection here = of_one_replica(c);
    if (tensor.index) connect_element(&here, row, tensor);
  }
}
