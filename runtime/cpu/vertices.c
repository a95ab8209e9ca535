/* Vertices: their states as the host's compiler lays them out, and the targets of their fields. */
#include "cpu/cpu_private.h"

#include <stdlib.h>
#include <string.h>

/* The alignment of tables of rows; the cost of a call in instructions. */
enum { TABLE_ALIGN = 16, CALL_COST = 20 };

/* Inputs of the compute set that already have a shared buffer. */
typedef struct shared_inputs {
  uint32_t *next; /* by view: edge of the program + 1; 0: none */
  size_t capacity;
} shared_inputs;

typedef struct vertex_making {
  cpu_compilation *c;
  shared_inputs *shared;
  const pop_vertex_type *type;
  cpu_edge *edges; /* of the set's vertices, one after the other */
  size_t num_edges, edges_capacity;
  uint64_t state;
  uint64_t bytes; /* bytes that the vertex is connected to */
} vertex_making;

static void put_pointer(cpu_program *p, uint64_t at, uint64_t target)
{
  pop_push(p->pointers, p->num_pointers, p->pointers_capacity, (cpu_pointer){at, target});
}

static void put_count(cpu_program *p, uint64_t at, uint64_t count)
{
  uint32_t number = (uint32_t)count;
  cpu_put(p, at, &number, sizeof number);
}

static bool has_count(pop_field_layout layout)
{
  return layout == POP_LAYOUT_SPAN || layout == POP_LAYOUT_SHORT_SPAN ||
         layout == POP_LAYOUT_DELTAN || layout == POP_LAYOUT_DELTANELEMENTS;
}

/* Puts a pointer, and the element count behind it if the layout has one. */
static void put_reference(cpu_program *p, pop_field_layout layout, uint64_t at, uint64_t target,
                          uint64_t count)
{
  enum { POINTER_BYTES = 8 };
  put_pointer(p, at, target);
  if (has_count(layout)) put_count(p, at + POINTER_BYTES, count);
}

/* ---- edges ---- */

static uint64_t share_input(vertex_making *m, uint32_t view, uint64_t align)
{
  cpu_program *p = m->c->p;
  shared_inputs *shared = m->shared;
  if (view >= shared->capacity) {
    size_t capacity = 2 * (size_t)view + 64;
    shared->next = pop_xrealloc(shared->next, capacity, sizeof *shared->next);
    memset(shared->next + shared->capacity, 0,
           (capacity - shared->capacity) * sizeof *shared->next);
    shared->capacity = capacity;
  }
  uint32_t known = shared->next[view];
  if (known && p->edges[known - 1].buffer % align == 0) return p->edges[known - 1].buffer;
  cpu_edge edge = {view, cpu_reserve(p, p->views[view].bytes, align), false};
  pop_push(p->edges, p->num_edges, p->edges_capacity, edge);
  shared->next[view] = (uint32_t)p->num_edges;
  return edge.buffer;
}

/* The place of the data of one edge or row. */
static uint64_t make_data(vertex_making *m, const pop_field *field, uint32_t tensor)
{
  cpu_program *p = m->c->p;
  uint32_t view = cpu_add_view(m->c, tensor);
  uint64_t bytes = p->views[view].bytes, place = cpu_view_place(p, view);
  m->bytes += bytes;
  if (place != UINT64_MAX && place % field->alignment == 0) return place;
  if (field->kind == POP_FIELD_INPUT) return share_input(m, view, field->alignment);
  cpu_edge edge = {view, cpu_reserve(p, bytes, field->alignment), true};
  pop_push(m->edges, m->num_edges, m->edges_capacity, edge);
  return edge.buffer;
}

static void make_rows(vertex_making *m, const pop_field *field, const uint32_t *tensors,
                      uint32_t count)
{
  cpu_program *p = m->c->p;
  uint32_t row_bytes = pop_field_host_row_bytes(field);
  uint64_t table = m->state + field->offset;
  if (field->layout != POP_LAYOUT_ARRAY) {
    table = cpu_reserve(p, (uint64_t)count * row_bytes, TABLE_ALIGN);
    put_reference(p, field->layout, m->state + field->offset, table, count);
  }
  for (uint32_t i = 0; i < count; i++)
    put_reference(p, field->row_layout, table + (uint64_t)i * row_bytes,
                  make_data(m, field, tensors[i]), m->c->graph->tensors[tensors[i]].num_elements);
}

static void make_edge(vertex_making *m, const edge *e)
{
  const pop_field *field = &m->type->fields[e->field];
  uint32_t count;
  const uint32_t *tensors = edge_tensors(m->c->graph, e, &count);
  if (field->has_rows)
    make_rows(m, field, tensors, count);
  else
    put_reference(m->c->p, field->layout, m->state + field->offset, make_data(m, field, tensors[0]),
                  m->c->graph->tensors[tensors[0]].num_elements);
}

/* ---- plain fields ---- */

static void make_value(vertex_making *m, const field_value *value)
{
  cpu_program *p = m->c->p;
  const pop_field *field = &m->type->fields[value->field];
  uint32_t element_bytes = pop_type_bytes(field->type);
  uint64_t at = m->state + field->offset, bytes = (uint64_t)value->count * element_bytes;
  if (field->layout == POP_LAYOUT_SCALAR) {
    cpu_put(p, at, value->bytes, element_bytes);
    return;
  }
  uint64_t data = cpu_reserve(p, bytes, field->alignment);
  if (value->data) cpu_put(p, data, value->data, bytes);
  put_reference(p, field->layout, at, data, value->count);
}

/* ---- vertices ---- */

static uint32_t find_entry(cpu_compilation *c, uint32_t type)
{
  cpu_program *p = c->p;
  if (c->entries[type] != CPU_NONE) return c->entries[type];
  const char *symbol = pop_arena_strdup(p->arena, c->graph->vertex_types[type].type->symbol);
  pop_push(p->entries, p->num_entries, p->entries_capacity, symbol);
  return c->entries[type] = (uint32_t)(p->num_entries - 1);
}

static cpu_vertex make_vertex(vertex_making *m, const vertex *v)
{
  cpu_program *p = m->c->p;
  const pop_graph *graph = m->c->graph;
  m->type = graph->vertex_types[v->type].type;
  m->state = cpu_reserve(p, m->type->state_size, m->type->state_alignment);
  m->bytes = 0;
  size_t first = m->num_edges;
  for (uint32_t e = v->first_edge; e != GRAPH_NONE; e = graph->edges[e].next)
    make_edge(m, &graph->edges[e]);
  for (uint32_t i = v->first_value; i != GRAPH_NONE; i = graph->field_values[i].next)
    make_value(m, &graph->field_values[i]);
  uint64_t work = m->bytes / 4 + CALL_COST;
  return (cpu_vertex){
      .entry = find_entry(m->c, v->type),
      .calls = m->type->kind == POP_VERTEX_MULTI ? p->target.num_worker_contexts : 1,
      .state = m->state,
      .first_edge = first,
      .num_edges = (uint32_t)(m->num_edges - first),
      .work = work < UINT32_MAX ? (uint32_t)work : UINT32_MAX,
  };
}

/* Shared edges of the set go to the program at once; edges of vertices are appended behind them. */
void cpu_lower_compute_set(cpu_compilation *c, uint32_t number, const uint32_t *vertices,
                           size_t num_vertices)
{
  cpu_program *p = c->p;
  shared_inputs shared = {0};
  vertex_making m = {.c = c, .shared = &shared};
  cpu_compute_set set = {
      .first_vertex = p->num_vertices, .num_vertices = num_vertices, .first_edge = p->num_edges};
  for (size_t i = 0; i < num_vertices; i++) {
    cpu_vertex made = make_vertex(&m, &c->graph->vertices[vertices[i]]);
    set.work += made.work;
    pop_push(p->vertices, p->num_vertices, p->vertices_capacity, made);
  }
  set.num_edges = p->num_edges - set.first_edge;
  for (size_t i = 0; i < num_vertices; i++)
    p->vertices[set.first_vertex + i].first_edge += p->num_edges;
  for (size_t i = 0; i < m.num_edges; i++)
    pop_push(p->edges, p->num_edges, p->edges_capacity, m.edges[i]);
  free(m.edges);
  free(shared.next);
  c->compute_sets[number] = (uint32_t)p->num_compute_sets;
  pop_push(p->compute_sets, p->num_compute_sets, p->compute_sets_capacity, set);
}
