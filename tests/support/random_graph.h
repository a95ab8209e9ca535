/* Random graphs for the test that compares the engine with a model: variables, their mapping, and
 * vertices, both as a graph and in the model. random_nodes.h has the programs. */
#ifndef POPULUS_TEST_RANDOM_GRAPH_H
#define POPULUS_TEST_RANDOM_GRAPH_H

#include "model.h"
#include "random_codelets.h"

enum {
  MAX_TILES = 9,
  MAX_NODES = 30, /* programs: leaves, which do something, then sequences and loops of them */
  MAX_CHILDREN = 14,
  MAX_CASES = 4,
  MAX_WHILE_ROUNDS = 3,
  STREAM_COPIES = 3, /* in the buffer of a stream to the device */
  MAX_COPIES = 6,    /* in a row, of one leaf */
  MAX_ROWS = 3,      /* of a remote buffer in one copy */
  MAX_VERTICES = 16, /* of a compute set */
  NUM_PROGRAMS = 3,
  NUM_VIEWS = 3 /* that the host reads; as many that it writes */
};

typedef struct model_vertex {
  const codelet_model *codelet;
  model_view views[CODELET_MAX_FIELDS];
  uint64_t constants[CODELET_MAX_FIELDS]; /* of the field's type, in the first bytes */
} model_vertex;

/* A remote buffer, and what it holds. */
typedef struct model_remote {
  pop_remote_buffer handle;
  char name[32];
  pop_type type;
  size_t num_elements, repeats;
  uint8_t *bytes;
} model_remote;

typedef enum node_kind {
  NODE_NOTHING,
  NODE_COPY,
  NODE_EXECUTE,
  NODE_PRINT,
  NODE_STREAM, /* from or to a stream of its own */
  NODE_REMOTE, /* from or to rows of a remote buffer */
  NODE_SEQUENCE,
  NODE_REPEAT,
  NODE_SWITCH, /* one child for each case, then the default; an If too */
  NODE_WHILE   /* condition, body */
} node_kind;

typedef struct node {
  node_kind kind;
  pop_program program;
  model_view source,
      destination; /* STREAM, REMOTE: one has no tensor; PRINT: source; SWITCH: source is the control */
  model_view sources[MAX_COPIES], destinations[MAX_COPIES]; /* COPY: one after the other */
  size_t num_copies;
  model_vertex *vertices; /* EXECUTE */
  size_t num_vertices;
  uint32_t count;            /* REPEAT; WHILE: how often the body runs */
  int64_t values[MAX_CASES]; /* SWITCH: of all children but the last */
  pop_bytes to_device;       /* STREAM: what its buffer holds */
  size_t next_copy;          /* STREAM: the model's place in it */
  pop_bytes expected, found; /* STREAM from the device: what came, by model and callback */
  model_remote *remote;      /* REMOTE */
  bool from_remote;
  size_t rows[MAX_ROWS], num_rows;
  struct node *children[MAX_CHILDREN];
  size_t num_children;
} node;

typedef struct random_graph {
  uint64_t seed;
  const char *codelets; /* file */
  model m;
  uint32_t num_tiles;
  bool has_options; /* of the engine (random_options.h) */
  bool blocks_may_be_lost;
  node nodes[MAX_NODES];
  node nothing;
  size_t num_leaves, num_nodes;
  size_t num_taken; /* of the first nodes, by sequences of a graph with one program */
  node *programs[NUM_PROGRAMS];
  size_t num_programs;
  bool host_reads[MODEL_MAX_VARIABLES]; /* as a whole */
  model_view reads[NUM_VIEWS], writes[NUM_VIEWS];
  size_t num_writes;
  model_remote remotes[MAX_NODES];
  size_t num_remotes;
  FILE *printed; /* what the model prints */
} random_graph;

/* ---- variables ---- */

/* The graph, or a part of it. */
static inline pop_graph *some_graph(random_graph *g)
{
  model *m = &g->m;
  if (!model_chance(m, 3)) return m->graph;
  size_t tiles[4 * MAX_TILES], count = 0;
  for (size_t i = 0; i < g->num_tiles; ++i)
    if (model_chance(m, 2)) tiles[count++] = g->num_tiles - 1 - i;
  if (count == 0) tiles[count++] = 0;
  return pop_graph_create_virtual_graph_by_tiles(m->graph, tiles, count);
}

static inline void map_to_random_tile(random_graph *g, pop_tensor tensor)
{
  pop_graph *part = some_graph(g);
  pop_graph_set_tile_mapping(part, tensor,
                             model_random(&g->m, (uint32_t)pop_graph_num_tiles(part)));
}

/* Runs of elements to random tiles, in any order of the variable's elements. */
static inline void map_in_pieces(random_graph *g, pop_tensor flat, size_t num_elements)
{
  model *m = &g->m;
  size_t longest = 1 + model_random(m, 1 + (uint32_t)num_elements / 2);
  for (size_t begin = 0; begin < num_elements;) {
    size_t end = begin + 1 + model_random(m, (uint32_t)longest);
    end = end < num_elements ? end : num_elements;
    pop_graph_set_tile_mapping(m->graph, pop_tensor_slice(flat, begin, end, 0),
                               model_random(m, g->num_tiles));
    begin = end;
  }
}

static inline void map_variable(random_graph *g, uint32_t variable)
{
  model *m = &g->m;
  model_variable *v = &m->variables[variable];
  switch (model_random(m, 3)) {
  case 0:
    map_to_random_tile(g, v->tensor);
    return;
  case 1:
    pop_graph_map_linearly(some_graph(g), v->tensor, model_random(m, 5), model_random(m, 4));
    break;
  default:
    map_in_pieces(g, pop_tensor_flatten(v->tensor), v->num_elements);
  }
  if (model_chance(m, 3)) { /* some elements move once more */
    model_view view = model_whole(m, variable);
    view = model_random_step(m, &view, false);
    map_to_random_tile(g, view.tensor);
  }
}

static inline void add_variable(random_graph *g, pop_type type, bool constant)
{
  static const size_t sizes[] = {0, 1, 1, 2, 3, 4, 5, 7, 8, 12, 16, 33, 64, 101, 301, 1025};
  model *m = &g->m;
  size_t rank = model_random(m, 4), shape[3];
  for (size_t d = 0; d < rank; ++d)
    shape[d] = sizes[model_random(m, rank == 1 ? 16 : rank == 2 ? 10 : 7)];
  uint32_t number = m->num_variables++;
  model_variable *v = &m->variables[number];
  *v = (model_variable){
      .type = type, .constant = constant, .num_elements = model_product(shape, rank)};
  uint32_t size = pop_type_bytes(type);
  v->bytes = pop_arena_alloc(m->arena, v->num_elements * size + 1);
  bool uniform = constant && model_chance(m, 2); /* such constants lie elsewhere */
  for (size_t i = 0; constant && i < v->num_elements; ++i) {
    if (uniform && i > 0)
      memcpy(v->bytes + i * size, v->bytes, size);
    else
      model_random_value(m, type, v->bytes + i * size);
  }
  const char *name = pop_arena_printf(m->arena, "%s%u", constant ? "constant" : "variable", number);
  v->tensor = constant ? pop_graph_add_constant(m->graph, type, shape, rank, v->bytes, name)
                       : pop_graph_add_variable(m->graph, type, shape, rank, name);
  map_variable(g, number);
}

/* Most variables have one of two types, so that there is something to copy; then the
 * types of Mixed. */
static inline void add_variables(random_graph *g)
{
  static const pop_type mixed[] = {POP_HALF, POP_LONGLONG, POP_UNSIGNED_CHAR, POP_SHORT};
  model *m = &g->m;
  pop_type often[] = {model_random(m, POP_TYPE_COUNT), model_random(m, POP_TYPE_COUNT)};
  for (uint32_t i = 2 + model_random(m, 4); i > 0; --i)
    for (size_t t = 0; t < 2; ++t) add_variable(g, often[t], false);
  for (uint32_t i = model_random(m, 3); i > 0; --i)
    add_variable(g, often[model_random(m, 2)], true);
  add_variable(g, POP_UNSIGNED_INT, false);
  if (model_chance(m, 3))
    for (size_t i = 0; i < 4; ++i) add_variable(g, mixed[i], false);
}

static inline void set_initial_values(random_graph *g)
{
  model *m = &g->m;
  for (uint32_t i = model_random(m, g->num_programs == 1 ? 2 : 6); i > 0; --i) {
    model_view view;
    if (!model_random_writable(m, POP_TYPE_COUNT, &view)) continue;
    uint8_t *values = model_buffer(m, &view);
    for (size_t e = 0; e < view.num_elements; ++e)
      model_random_value(m, view.type, values + e * pop_type_bytes(view.type));
    pop_graph_set_initial_value(m->graph, view.tensor, values);
    model_scatter(m, &view, values);
  }
}

/* ---- vertices ---- */

/* Which vertex reads or writes each element in a compute set: number + 1, 0 for none. */
typedef struct touched {
  uint32_t *writer[MODEL_MAX_VARIABLES], *reader[MODEL_MAX_VARIABLES];
} touched;

static inline touched new_touched(const model *m)
{
  touched t = {0};
  for (uint32_t v = 0; v < m->num_variables; ++v) {
    t.writer[v] = pop_arena_alloc(m->arena, (m->variables[v].num_elements + 1) * sizeof(uint32_t));
    t.reader[v] = pop_arena_alloc(m->arena, (m->variables[v].num_elements + 1) * sizeof(uint32_t));
  }
  return t;
}

/* Elements that a field writes are touched by no other vertex and by no other field of
 * the vertex. */
static inline bool may_touch(const touched *t, const model_view *view, bool writes)
{
  for (size_t i = 0; i < view->num_elements; ++i) {
    model_element e = view->elements[i];
    if (t->writer[e.variable][e.element]) return false;
    if (writes && t->reader[e.variable][e.element]) return false;
  }
  return true;
}

static inline void touch(touched *t, const model_view *view, bool writes)
{
  for (size_t i = 0; i < view->num_elements; ++i) {
    model_element e = view->elements[i];
    uint32_t *at = writes ? &t->writer[e.variable][e.element] : &t->reader[e.variable][e.element];
    ++*at;
  }
}

static inline bool has_type(const model *m, pop_type type)
{
  for (uint32_t v = 0; v < m->num_variables; ++v)
    if (m->variables[v].type == type) return true;
  return false;
}

static inline bool can_run(const model *m, const codelet_model *codelet)
{
  for (const codelet_field *f = codelet->fields; f->name; ++f)
    if (f->access != CODELET_CONSTANT && !has_type(m, f->type)) return false;
  return true;
}

static inline bool pick_written(model *m, const codelet_field *field, size_t *length,
                                model_view *view)
{
  if (!model_random_writable(m, field->type, view)) return false;
  *view = model_flatten(view);
  if (field->length == LENGTH_SHARED && *length == SIZE_MAX) *length = view->num_elements;
  size_t wanted = field->length == LENGTH_SCALAR ? 1 : *length;
  if (view->num_elements < wanted) return false;
  size_t begin = model_random(m, (uint32_t)(view->num_elements - wanted) + 1);
  *view = model_slice(m, view, begin, begin + wanted, 0);
  return true;
}

static inline bool pick_field(model *m, touched *t, const codelet_field *field, size_t *length,
                              model_view *view)
{
  bool writes = field->access != CODELET_INPUT;
  for (int attempt = 0; attempt < 6; ++attempt) {
    size_t wanted = field->length == LENGTH_SCALAR ? 1 : *length;
    if (writes ? !pick_written(m, field, length, view)
               : !model_random_readable(m, field->type, wanted, view))
      continue;
    if (!may_touch(t, view, writes)) continue;
    touch(t, view, writes);
    return true;
  }
  return false;
}

/* Picks views for all fields, first for those that are written, which are hard to find. A shared
 * length is that of the first of them, or any. */
static inline bool pick_fields(model *m, touched *t, model_vertex *vertex)
{
  size_t length = SIZE_MAX;
  for (int reads = 0; reads < 2; ++reads) {
    if (reads && length == SIZE_MAX) length = model_random(m, 40);
    for (size_t i = 0; vertex->codelet->fields[i].name; ++i) {
      const codelet_field *field = &vertex->codelet->fields[i];
      if (field->access == CODELET_CONSTANT || (field->access == CODELET_INPUT) != (bool)reads)
        continue;
      if (!pick_field(m, t, field, &length, &vertex->views[i])) return false;
    }
  }
  return true;
}

static inline void connect_fields(random_graph *g, pop_compute_set set, model_vertex *vertex)
{
  model *m = &g->m;
  pop_vertex v = pop_graph_add_vertex(m->graph, set, vertex->codelet->name);
  for (size_t i = 0; vertex->codelet->fields[i].name; ++i) {
    const codelet_field *field = &vertex->codelet->fields[i];
    if (field->access == CODELET_CONSTANT) {
      model_random_value(m, field->type, &vertex->constants[i]);
      pop_graph_set_field(m->graph, v, field->name, field->type, &vertex->constants[i]);
    } else {
      pop_graph_connect(m->graph, v, field->name, vertex->views[i].tensor);
    }
  }
  pop_graph *part = some_graph(g);
  pop_graph_set_vertex_tile(part, v, model_random(m, (uint32_t)pop_graph_num_tiles(part)));
  if (model_chance(m, 2)) pop_graph_set_cycle_estimate(m->graph, v, model_random(m, 1000));
}

static inline void make_execute(random_graph *g, node *n)
{
  enum { NUM_CODELETS = sizeof codelet_models / sizeof *codelet_models };
  model *m = &g->m;
  n->kind = NODE_EXECUTE;
  pop_compute_set set = pop_graph_add_compute_set(m->graph, "compute set");
  touched t = new_touched(m);
  size_t wanted = 1 + model_random(m, MAX_VERTICES);
  n->vertices = pop_arena_alloc(m->arena, wanted * sizeof *n->vertices);
  for (size_t i = 0; i < wanted; ++i) {
    model_vertex vertex = {.codelet = &codelet_models[model_random(m, NUM_CODELETS)]};
    while (!can_run(m, vertex.codelet))
      vertex.codelet = &codelet_models[model_random(m, NUM_CODELETS)];
    if (!pick_fields(m, &t, &vertex)) continue;
    connect_fields(g, set, &vertex);
    n->vertices[n->num_vertices++] = vertex;
  }
  n->program = pop_program_execute(m->graph, set, "execute");
}

static inline void run_vertex(model *m, const model_vertex *vertex)
{
  void *fields[CODELET_MAX_FIELDS];
  size_t sizes[CODELET_MAX_FIELDS];
  const codelet_field *f = vertex->codelet->fields;
  for (size_t i = 0; f[i].name; ++i) {
    uint64_t constant = vertex->constants[i];
    sizes[i] = f[i].access == CODELET_CONSTANT ? 1 : vertex->views[i].num_elements;
    fields[i] = pop_xcalloc(sizes[i] + 1, sizeof constant);
    if (f[i].access == CODELET_CONSTANT)
      memcpy(fields[i], &constant, sizeof constant);
    else
      model_gather(m, &vertex->views[i], fields[i]);
  }
  vertex->codelet->run(fields, sizes);
  for (size_t i = 0; f[i].name; ++i) {
    if (f[i].access == CODELET_OUTPUT || f[i].access == CODELET_INOUT)
      model_scatter(m, &vertex->views[i], fields[i]);
    free(fields[i]);
  }
}
#endif
