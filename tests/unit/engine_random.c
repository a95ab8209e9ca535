/* The whole compiler and the whole machine against a model on the host.
 *
 * From a seed comes a graph: variables of all types and shapes, mapped to tiles in pieces; views made
 * of random operations; copies between them, vertices on random tiles with fields of every kind,
 * PrintTensors, streams, remote buffers; sequences, loops and branches over those, with programs in between that
 * have no effect (Sync, Nop, Block, AbortOnCondition). The engine and the model (tests/support/model.h,
 * random_codelets.h) then do the same, and after each run every element must be equal to the bit.
 *
 * A failure names its seed: support/seeds.h says how to run that graph alone, or more graphs. */
#include "support/model.h"
#include "support/random_codelets.h"
#include "support/seeds.h"

#include "engine/engine_private.h"
#include <errno.h>
#include <inttypes.h>
#include <populus/popc.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { NUM_GRAPHS = 100, NUM_TRANSLATED = 8 };
#else
enum { NUM_GRAPHS = 600, NUM_TRANSLATED = 24 };
#endif

enum {
  MAX_TILES = 9,
  MAX_NODES = 30, /* programs: leaves, which do something, then sequences and loops of them */
  MAX_CHILDREN = 14,
  MAX_CASES = 4,
  MAX_WHILE_ROUNDS = 3,
  STREAM_COPIES = 3, /* in the buffer of a stream to the device */
  MAX_ROWS = 3,      /* of a remote buffer in one copy */
  MAX_VERTICES = 16, /* of a compute set */
  NUM_PROGRAMS = 3,
  NUM_VIEWS = 3,      /* that the host reads; as many that it writes */
  NUM_ROUNDS = 4,     /* a program is run in each */
  MAX_LEAF_RUNS = 200 /* in one run of a program */
};

static const char codelets[] = "random.gp";

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
      destination; /* COPY; STREAM, REMOTE: one has no tensor; PRINT: source; SWITCH: source is the control */
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
  model m;
  uint32_t num_tiles;
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
static pop_graph *some_graph(random_graph *g)
{
  model *m = &g->m;
  if (!model_chance(m, 3)) return m->graph;
  size_t tiles[4 * MAX_TILES], count = 0;
  for (size_t i = 0; i < g->num_tiles; ++i)
    if (model_chance(m, 2)) tiles[count++] = g->num_tiles - 1 - i;
  if (count == 0) tiles[count++] = 0;
  return pop_graph_create_virtual_graph_by_tiles(m->graph, tiles, count);
}

static void map_to_random_tile(random_graph *g, pop_tensor tensor)
{
  pop_graph *part = some_graph(g);
  pop_graph_set_tile_mapping(part, tensor,
                             model_random(&g->m, (uint32_t)pop_graph_num_tiles(part)));
}

/* Runs of elements to random tiles, in any order of the variable's elements. */
static void map_in_pieces(random_graph *g, pop_tensor flat, size_t num_elements)
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

static void map_variable(random_graph *g, uint32_t variable)
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

static void add_variable(random_graph *g, pop_type type, bool constant)
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
  for (size_t i = 0; constant && i < v->num_elements; ++i)
    model_random_value(m, type, v->bytes + i * size);
  const char *name = pop_arena_printf(m->arena, "%s%u", constant ? "constant" : "variable", number);
  v->tensor = constant ? pop_graph_add_constant(m->graph, type, shape, rank, v->bytes, name)
                       : pop_graph_add_variable(m->graph, type, shape, rank, name);
  map_variable(g, number);
}

/* Two types that most variables have, so that there is something to copy; the types of Mixed. */
static void add_variables(random_graph *g)
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

static void set_initial_values(random_graph *g)
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

static touched new_touched(const model *m)
{
  touched t = {0};
  for (uint32_t v = 0; v < m->num_variables; ++v) {
    t.writer[v] = pop_arena_alloc(m->arena, (m->variables[v].num_elements + 1) * sizeof(uint32_t));
    t.reader[v] = pop_arena_alloc(m->arena, (m->variables[v].num_elements + 1) * sizeof(uint32_t));
  }
  return t;
}

/* What is written nobody else touches, and no other field of the vertex. */
static bool may_touch(const touched *t, const model_view *view, bool writes)
{
  for (size_t i = 0; i < view->num_elements; ++i) {
    model_element e = view->elements[i];
    if (t->writer[e.variable][e.element]) return false;
    if (writes && t->reader[e.variable][e.element]) return false;
  }
  return true;
}

static void touch(touched *t, const model_view *view, bool writes)
{
  for (size_t i = 0; i < view->num_elements; ++i) {
    model_element e = view->elements[i];
    uint32_t *at = writes ? &t->writer[e.variable][e.element] : &t->reader[e.variable][e.element];
    ++*at;
  }
}

static bool has_type(const model *m, pop_type type)
{
  for (uint32_t v = 0; v < m->num_variables; ++v)
    if (m->variables[v].type == type) return true;
  return false;
}

static bool can_run(const model *m, const codelet_model *codelet)
{
  for (const codelet_field *f = codelet->fields; f->name; ++f)
    if (f->access != CODELET_CONSTANT && !has_type(m, f->type)) return false;
  return true;
}

static bool pick_written(model *m, const codelet_field *field, size_t *length, model_view *view)
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

static bool pick_field(model *m, touched *t, const codelet_field *field, size_t *length,
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

/* Views for all fields: first those that are written, they are hard to find; a shared length is what
 * the first of them has, or any. */
static bool pick_fields(model *m, touched *t, model_vertex *vertex)
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

static void connect_fields(random_graph *g, pop_compute_set set, model_vertex *vertex)
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

static void make_execute(random_graph *g, node *n)
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

static void run_vertex(model *m, const model_vertex *vertex)
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

/* ---- programs ---- */

static void make_copy(random_graph *g, node *n)
{
  model *m = &g->m;
  if (!model_random_writable(m, POP_TYPE_COUNT, &n->destination)) return;
  if (!model_random_readable(m, n->destination.type, n->destination.num_elements, &n->source))
    return;
  n->kind = NODE_COPY;
  n->program = pop_program_copy(n->source.tensor, n->destination.tensor, "copy");
}

static void make_print(random_graph *g, node *n)
{
  n->kind = NODE_PRINT;
  n->source = model_random_view(&g->m, POP_TYPE_COUNT, true);
  n->program = pop_program_print_tensor(n->source.tensor, "printed");
}

static void split_sometimes(model *m, pop_stream s)
{
  char bytes[16];
  if (!model_chance(m, 3)) return;
  snprintf(bytes, sizeof bytes, "%u", 8 + model_random(m, 100));
  pop_stream_set_option(s, "splitLimit", bytes);
}

/* A stream and a copy from or to it. Data for the device lie in a buffer that is gone through in a
 * circle; what comes from it is collected. */
static void make_stream(random_graph *g, node *n)
{
  model *m = &g->m;
  char name[32];
  snprintf(name, sizeof name, "stream %td", n - g->nodes);
  if (model_chance(m, 2)) {
    n->source = model_random_view(m, POP_TYPE_COUNT, true);
    if (n->source.num_elements == 0) return;
    pop_stream s =
        pop_graph_add_device_to_host_fifo(m->graph, name, n->source.type, n->source.num_elements);
    split_sometimes(m, s);
    n->program = pop_program_copy_to_stream(n->source.tensor, s, "to stream");
  } else {
    if (!model_random_writable(m, POP_TYPE_COUNT, &n->destination) ||
        n->destination.num_elements == 0)
      return;
    pop_type type = n->destination.type;
    pop_stream s =
        pop_graph_add_host_to_device_fifo(m->graph, name, type, n->destination.num_elements);
    split_sometimes(m, s);
    n->program = pop_program_copy_from_stream(s, n->destination.tensor, "from stream");
    for (size_t i = 0; i < STREAM_COPIES * n->destination.num_elements; ++i) {
      uint8_t value[8];
      model_random_value(m, type, value);
      pop_bytes_append(&n->to_device, value, pop_type_bytes(type));
    }
  }
  n->kind = NODE_STREAM;
}

static void run_stream(random_graph *g, node *n)
{
  model *m = &g->m;
  const model_view *view = n->to_device.size ? &n->destination : &n->source;
  size_t bytes = view->num_elements * pop_type_bytes(view->type);
  if (n->to_device.size) {
    model_scatter(m, view, n->to_device.data + n->next_copy * bytes);
    n->next_copy = (n->next_copy + 1) % STREAM_COPIES;
    return;
  }
  uint8_t *elements = pop_xmalloc(bytes);
  model_gather(m, view, elements);
  pop_bytes_append(&n->expected, elements, bytes);
  free(elements);
}

/* ---- remote buffers ---- */

static size_t row_bytes(const model_remote *r)
{
  return r->num_elements * pop_type_bytes(r->type);
}

/* One that there is already, if its rows are of this size, or a new one. */
static model_remote *pick_remote(random_graph *g, pop_type type, size_t num_elements)
{
  model *m = &g->m;
  for (size_t i = 0; i < g->num_remotes; ++i)
    if (g->remotes[i].type == type && g->remotes[i].num_elements == num_elements)
      return &g->remotes[i];
  model_remote *r = &g->remotes[g->num_remotes];
  *r = (model_remote){
      .type = type, .num_elements = num_elements, .repeats = MAX_ROWS + model_random(m, 3)};
  snprintf(r->name, sizeof r->name, "remote %zu", g->num_remotes++);
  r->handle = pop_graph_add_remote_buffer(m->graph, r->name, type, num_elements, r->repeats);
  r->bytes = pop_arena_alloc(m->arena, r->repeats * row_bytes(r));
  return r;
}

static pop_tensor add_offsets(random_graph *g, const node *n)
{
  model *m = &g->m;
  int32_t values[MAX_ROWS];
  for (size_t i = 0; i < n->num_rows; ++i) values[i] = (int32_t)n->rows[i];
  pop_tensor t = pop_graph_add_constant(m->graph, model_chance(m, 2) ? POP_INT : POP_UNSIGNED_INT,
                                        &n->num_rows, 1, values, "offsets");
  map_in_pieces(g, t, n->num_rows);
  return t;
}

/* Any rows, each once; sometimes the first ones, without offsets. */
static void make_remote(random_graph *g, node *n)
{
  model *m = &g->m;
  model_view view;
  n->from_remote = model_chance(m, 2);
  if (n->from_remote ? !model_random_writable(m, POP_TYPE_COUNT, &view)
                     : (view = model_random_view(m, POP_TYPE_COUNT, true), false))
    return;
  if (view.num_elements == 0) return;
  n->num_rows = 1 + model_random(m, MAX_ROWS);
  if (view.num_elements % n->num_rows) n->num_rows = 1;
  n->remote = pick_remote(g, view.type, view.num_elements / n->num_rows);
  size_t first = model_random(m, (uint32_t)n->remote->repeats);
  for (size_t i = 0; i < n->num_rows; ++i)
    n->rows[i] = (first + i * (n->remote->repeats - 1)) % n->remote->repeats;
  pop_tensor offsets = {0};
  if (model_chance(m, 4))
    for (size_t i = 0; i < n->num_rows; ++i) n->rows[i] = i;
  else
    offsets = add_offsets(g, n);
  n->program =
      n->from_remote
          ? pop_program_copy_from_remote_buffer(n->remote->handle, view.tensor, offsets, "fetch")
          : pop_program_copy_to_remote_buffer(view.tensor, n->remote->handle, offsets, "store");
  n->source = n->destination = view;
  n->kind = NODE_REMOTE;
}

static void run_remote(random_graph *g, const node *n)
{
  size_t bytes = row_bytes(n->remote);
  uint8_t *elements = pop_xmalloc(n->num_rows * bytes);
  if (!n->from_remote) model_gather(&g->m, &n->source, elements);
  for (size_t i = 0; i < n->num_rows; ++i) {
    uint8_t *row = n->remote->bytes + n->rows[i] * bytes, *part = elements + i * bytes;
    memcpy(n->from_remote ? part : row, n->from_remote ? row : part, bytes);
  }
  if (n->from_remote) model_scatter(&g->m, &n->destination, elements);
  free(elements);
}

static void fill_remotes(random_graph *g, pop_engine *engine)
{
  for (size_t i = 0; i < g->num_remotes; ++i) {
    const model_remote *r = &g->remotes[i];
    for (size_t e = 0; e < r->repeats * r->num_elements; ++e)
      model_random_value(&g->m, r->type, r->bytes + e * pop_type_bytes(r->type));
    for (size_t row = 0; row < r->repeats; ++row)
      expect_ok(pop_engine_copy_to_remote_buffer(engine, r->name, row, 0,
                                                 r->bytes + row * row_bytes(r), row_bytes(r)));
  }
}

static void compare_remotes(const random_graph *g, pop_engine *engine)
{
  for (size_t i = 0; i < g->num_remotes; ++i) {
    const model_remote *r = &g->remotes[i];
    uint8_t *found = pop_xmalloc(row_bytes(r));
    for (size_t row = 0; row < r->repeats; ++row) {
      expect_ok(pop_engine_copy_from_remote_buffer(engine, r->name, row, 0, found, row_bytes(r)));
      cr_assert_arr_eq(found, r->bytes + row * row_bytes(r), row_bytes(r),
                       "seed %" PRIu64 ": other data in row %zu of '%s'", g->seed, row, r->name);
    }
    free(found);
  }
}

static int collect(void *context, void *data)
{
  node *n = context;
  pop_bytes_append(&n->found, data, n->source.num_elements * pop_type_bytes(n->source.type));
  return 0;
}

static void connect_streams(random_graph *g, pop_engine *engine)
{
  for (size_t i = 0; i < g->num_nodes; ++i) {
    node *n = &g->nodes[i];
    if (n->kind != NODE_STREAM) continue;
    char name[32];
    snprintf(name, sizeof name, "stream %zu", i);
    pop_stream_callback callback = {.fetch = collect, .context = n};
    if (n->to_device.size)
      expect_ok(pop_engine_connect_stream(engine, name, n->to_device.data,
                                          n->to_device.data + n->to_device.size));
    else
      expect_ok(pop_engine_connect_stream_callback(engine, name, &callback));
  }
}

static void compare_streams(const random_graph *g)
{
  for (size_t i = 0; i < g->num_nodes; ++i) {
    const node *n = &g->nodes[i];
    bool same = n->expected.size == n->found.size &&
                (n->found.size == 0 || memcmp(n->expected.data, n->found.data, n->found.size) == 0);
    cr_assert(same, "seed %" PRIu64 ": other data on stream %zu (%zu bytes, %zu expected)", g->seed,
              i, n->found.size, n->expected.size);
  }
}

static void free_streams(random_graph *g)
{
  for (size_t i = 0; i < g->num_nodes; ++i) {
    pop_bytes_free(&g->nodes[i].to_device);
    pop_bytes_free(&g->nodes[i].expected);
    pop_bytes_free(&g->nodes[i].found);
  }
}

/* Any earlier node, so that some are in several places; if there is one program only, then mostly the
 * next that is in no place yet, so that contents have a beginning and an end. */
static node *pick_child(random_graph *g, const node *parent)
{
  size_t before = (size_t)(parent - g->nodes);
  if (g->num_programs > 1 || g->num_taken == before || model_chance(&g->m, 8))
    return &g->nodes[model_random(&g->m, (uint32_t)before)];
  return &g->nodes[g->num_taken++];
}

static pop_program add_child(random_graph *g, node *n)
{
  node *child = pick_child(g, n);
  n->children[n->num_children++] = child;
  return child->program;
}

static int64_t value_of(pop_type type, const uint8_t *bytes)
{
  uint32_t size = pop_type_bytes(type);
  uint64_t value = 0;
  memcpy(&value, bytes, size);
  bool negative = pop_type_is_signed_integer(type) && value >> (8 * size - 1);
  return negative ? (int64_t)(value | UINT64_MAX << (8 * size - 1)) : (int64_t)value;
}

static bool has_case(const node *n, size_t count, int64_t value)
{
  for (size_t i = 0; i < count; ++i)
    if (n->values[i] == value) return true;
  return false;
}

/* Types of controls; the first only of predicates. */
static const pop_type control_types[] = {POP_BOOL, POP_SIGNED_CHAR, POP_UNSIGNED_CHAR,
                                         POP_CHAR, POP_SHORT,       POP_UNSIGNED_SHORT,
                                         POP_INT,  POP_UNSIGNED_INT};
enum { NUM_CONTROL_TYPES = sizeof control_types / sizeof *control_types };

/* An element of the graph's own as predicate; false if there is none of a type that may be one. */
static bool make_if(random_graph *g, node *n)
{
  model *m = &g->m;
  pop_type type = control_types[model_random(m, NUM_CONTROL_TYPES)];
  if (!has_type(m, type) || !model_random_readable(m, type, 1, &n->source)) return false;
  n->kind = NODE_SWITCH;
  n->values[0] = 0;
  pop_program none = {0};
  pop_program no = model_chance(m, 3) ? none : add_child(g, n);
  if (!no.index) n->children[n->num_children++] = &g->nothing;
  n->program = pop_program_if(n->source.tensor, add_child(g, n), no, "if");
  return true;
}

/* Values that the control may well have: 0, and what a constant of the type might be. */
static bool make_switch(random_graph *g, node *n)
{
  model *m = &g->m;
  pop_type type = control_types[1 + model_random(m, NUM_CONTROL_TYPES - 1)];
  if (!has_type(m, type) || !model_random_readable(m, type, 1, &n->source)) return false;
  n->kind = NODE_SWITCH;
  pop_switch_case cases[MAX_CASES];
  size_t num_cases = 0;
  for (uint32_t i = model_random(m, MAX_CASES + 1); i > 0; --i) {
    uint8_t bytes[8] = {0};
    if (i > 1) model_random_value(m, type, bytes);
    int64_t value = value_of(type, bytes);
    if (has_case(n, num_cases, value)) continue;
    n->values[num_cases] = value;
    cases[num_cases++] = (pop_switch_case){value, add_child(g, n)};
  }
  pop_program otherwise = add_child(g, n);
  n->program = pop_program_switch(n->source.tensor, cases, num_cases, otherwise, "switch");
  return true;
}

/* A row of flags, as many as rounds, then the other value; it moves on by one in each round. */
static void make_while(random_graph *g, node *n)
{
  model *m = &g->m;
  n->kind = NODE_WHILE;
  n->count = model_random(m, MAX_WHILE_ROUNDS + 1);
  bool sense = model_chance(m, 2);
  pop_type type = control_types[model_random(m, NUM_CONTROL_TYPES)];
  uint8_t flags[(MAX_WHILE_ROUNDS + 1) * 4] = {0};
  for (uint32_t i = 0; i <= n->count; ++i)
    flags[i * pop_type_bytes(type)] = (i < n->count) == sense;
  size_t length = n->count + 1;
  pop_tensor row = pop_graph_add_variable(m->graph, type, &length, 1, "flags");
  pop_tensor start = pop_graph_add_constant(m->graph, type, &length, 1, flags, "all flags");
  pop_graph_set_tile_mapping(m->graph, row, model_random(m, g->num_tiles));
  pop_graph_set_tile_mapping(m->graph, start, model_random(m, g->num_tiles));
  pop_program condition = add_child(g, n), body = pop_program_sequence(m->graph, "body");
  pop_sequence_add(body, add_child(g, n));
  pop_sequence_add(body, pop_program_copy(pop_tensor_slice(row, 1, length, 0),
                                          pop_tensor_slice(row, 0, length - 1, 0), "next"));
  pop_tensor first = pop_tensor_slice(row, 0, 1, 0);
  n->program = pop_program_sequence(m->graph, "while");
  pop_sequence_add(n->program, pop_program_copy(start, row, "begin"));
  pop_sequence_add(n->program,
                   sense ? pop_program_repeat_while_true(condition, first, body, "while true")
                         : pop_program_repeat_while_false(condition, first, body, "while false"));
}

/* A program that nobody can tell from none. */
static pop_program without_effect(random_graph *g)
{
  static const size_t one = 1;
  model *m = &g->m;
  switch (model_random(m, 4)) {
  case 0:
    return pop_program_sync(m->graph, (pop_sync_type)model_random(m, 3), "sync");
  case 1:
    return pop_program_nop(m->graph, "nop");
  case 2:
    return pop_program_block(m->graph, pop_program_sequence(m->graph, NULL), "empty");
  default:
    break;
  }
  pop_tensor no = pop_graph_add_constant(m->graph, POP_BOOL, &one, 1, "", "no");
  pop_graph_set_tile_mapping(m->graph, no, model_random(m, g->num_tiles));
  return pop_program_abort_on_condition(no, "never", "abort");
}

static void make_composite(random_graph *g, node *n)
{
  model *m = &g->m;
  uint32_t kind = model_random(m, 8);
  if ((kind == 0 && make_if(g, n)) || (kind == 1 && make_switch(g, n))) return;
  if (kind == 2) {
    make_while(g, n);
    return;
  }
  n->kind = NODE_SEQUENCE;
  n->count = 1;
  n->program = pop_program_sequence(m->graph, "sequence");
  n->num_children = model_random(m, g->num_programs == 1 ? MAX_CHILDREN + 1 : 6);
  for (size_t i = 0; i < n->num_children; ++i) {
    n->children[i] = pick_child(g, n);
    pop_sequence_add(n->program, n->children[i]->program);
    if (model_chance(m, 6)) pop_sequence_add(n->program, without_effect(g));
  }
  if (model_chance(m, 4)) n->program = pop_program_block(m->graph, n->program, "block");
  if (!model_chance(m, 2)) return;
  n->kind = NODE_REPEAT;
  n->count = model_random(m, 4);
  n->program = pop_program_repeat(m->graph, n->count, n->program, "repeat");
}

static void make_node(random_graph *g, node *n)
{
  if ((size_t)(n - g->nodes) >= g->num_leaves) {
    make_composite(g, n);
    return;
  }
  uint32_t kind = model_random(&g->m, 12);
  if (kind == 0)
    make_print(g, n);
  else if (kind == 9 || kind == 10)
    make_stream(g, n);
  else if (kind == 11)
    make_remote(g, n);
  else if (kind < 5)
    make_execute(g, n);
  else
    make_copy(g, n);
  if (n->kind == NODE_NOTHING) n->program = pop_program_sequence(g->m.graph, "nothing");
}

static uint64_t count_leaf_runs(const node *n)
{
  if (n->kind < NODE_SEQUENCE) return 1;
  if (n->kind == NODE_WHILE)
    return count_leaf_runs(n->children[0]) * (n->count + 1) +
           count_leaf_runs(n->children[1]) * n->count;
  uint64_t runs = 0;
  for (size_t i = 0; i < n->num_children; ++i) runs += count_leaf_runs(n->children[i]);
  return runs * (n->kind == NODE_SWITCH ? 1 : n->count);
}

/* The child that a Switch takes. */
static node *choose(const random_graph *g, const node *n)
{
  uint8_t bytes[8];
  model_gather(&g->m, &n->source, bytes);
  int64_t value = value_of(n->source.type, bytes);
  for (size_t i = 0; i + 1 < n->num_children; ++i)
    if (n->values[i] == value) return n->children[i];
  return n->children[n->num_children - 1];
}

static void run_node(random_graph *g, node *n)
{
  model *m = &g->m;
  if (n->kind == NODE_COPY) {
    uint8_t *through = pop_xmalloc(n->source.num_elements * pop_type_bytes(n->source.type) + 1);
    model_gather(m, &n->source, through);
    model_scatter(m, &n->destination, through);
    free(through);
  } else if (n->kind == NODE_EXECUTE) {
    for (size_t i = 0; i < n->num_vertices; ++i) run_vertex(m, &n->vertices[i]);
  } else if (n->kind == NODE_STREAM) {
    run_stream(g, n);
  } else if (n->kind == NODE_REMOTE) {
    run_remote(g, n);
  } else if (n->kind == NODE_PRINT) {
    uint8_t *elements = pop_xmalloc(n->source.num_elements * pop_type_bytes(n->source.type) + 1);
    model_gather(m, &n->source, elements);
    print_tensor(g->printed, "printed", n->source.type, n->source.shape, (uint32_t)n->source.rank,
                 elements);
    free(elements);
  } else if (n->kind == NODE_SWITCH) {
    run_node(g, choose(g, n));
    return;
  } else if (n->kind == NODE_WHILE) {
    for (uint32_t pass = 0; pass < n->count; ++pass) {
      run_node(g, n->children[0]);
      run_node(g, n->children[1]);
    }
    run_node(g, n->children[0]);
    return;
  }
  for (uint32_t pass = 0; n->kind >= NODE_SEQUENCE && pass < n->count; ++pass)
    for (size_t i = 0; i < n->num_children; ++i) run_node(g, n->children[i]);
}

/* ---- a graph ---- */

static pop_target random_target(model *m, uint32_t *num_tiles)
{
  pop_target target;
  const char *const *names = pop_target_names();
  expect_ok(pop_target_create(names[model_random(m, 3)], 1, &target));
  target.tiles_per_ipu = 1 + model_random(m, MAX_TILES);
  if (model_chance(m, 3)) target.num_ipus = 2 + model_random(m, 3);
  *num_tiles = pop_target_num_tiles(&target);
  return target;
}

/* The host does not see all variables: the memory of one that it does not see may be used for something
 * else while the variable's contents are of no consequence. */
static void create_handles(random_graph *g)
{
  model *m = &g->m;
  for (uint32_t v = 0; v < m->num_variables; ++v)
    if ((g->host_reads[v] = model_chance(m, g->num_programs == 1 ? 5 : 2)))
      pop_graph_create_host_read(m->graph, pop_arena_printf(m->arena, "all %u", v),
                                 m->variables[v].tensor);
  for (uint32_t i = 0; i < NUM_VIEWS; ++i) {
    g->reads[i] = model_random_view(m, POP_TYPE_COUNT, true);
    pop_graph_create_host_read(m->graph, pop_arena_printf(m->arena, "read %u", i),
                               g->reads[i].tensor);
    model_view *write = &g->writes[g->num_writes];
    if (!model_random_writable(m, POP_TYPE_COUNT, write)) continue;
    pop_graph_create_host_write(
        m->graph, pop_arena_printf(m->arena, "write %u", (unsigned)g->num_writes++), write->tensor);
  }
}

/* On the CPU it is the same graph, with tiles that mean nothing. */
static void build(random_graph *g, uint64_t seed, bool on_cpu)
{
  model *m = &g->m;
  *g = (random_graph){.seed = seed, .m = {.random = seed, .arena = pop_arena_new()}};
  pop_target target = random_target(m, &g->num_tiles);
  if (on_cpu) pop_target_create_cpu(&target);
  if (on_cpu) target.tiles_per_ipu = g->num_tiles;
  /* What only one program touches may share memory: half of the graphs have only one. */
  g->num_programs = model_chance(m, 2) ? 1 : NUM_PROGRAMS;
  g->num_leaves = g->num_programs == 1 ? 24 : 10;
  g->num_nodes = g->num_leaves + 6;
  m->graph = pop_graph_create(&target);
  pop_graph_add_codelets(m->graph, codelets, NULL);
  add_variables(g);
  set_initial_values(g);
  for (size_t i = 0; i < g->num_nodes; ++i) make_node(g, &g->nodes[i]);
  for (size_t i = 0; i < g->num_programs; ++i) g->programs[i] = &g->nodes[g->num_nodes - 1 - i];
  create_handles(g);
  const pop_error *error = pop_graph_error(m->graph);
  cr_assert_null(error, "seed %" PRIu64 ": %s", seed, error ? pop_error_message(error) : "");
}

static pop_engine *compile_graph(random_graph *g)
{
  pop_program programs[NUM_PROGRAMS];
  pop_engine *engine;
  for (size_t i = 0; i < g->num_programs; ++i) programs[i] = g->programs[i]->program;
  pop_error *error = pop_engine_create(g->m.graph, programs, g->num_programs, NULL, 0, &engine);
  cr_assert_null(error, "seed %" PRIu64 ": %s", g->seed, error ? pop_error_message(error) : "");
  return engine;
}

static void free_graph(random_graph *g)
{
  free_streams(g);
  pop_graph_free(g->m.graph);
  pop_arena_free(g->m.arena);
}

/* ---- comparison ---- */

static void compare(random_graph *g, pop_engine *engine, const char *handle, const model_view *view,
                    int round)
{
  size_t size = pop_type_bytes(view->type), bytes = view->num_elements * size;
  uint8_t *expected = pop_xcalloc(bytes + 1, 1), *found = pop_xcalloc(bytes + 1, 1);
  model_gather(&g->m, view, expected);
  pop_error *error = pop_engine_read_tensor(engine, handle, found, bytes);
  cr_assert_null(error, "seed %" PRIu64 ": %s", g->seed, error ? pop_error_message(error) : "");
  for (size_t i = 0; i < bytes; ++i)
    cr_assert_eq(found[i], expected[i],
                 "seed %" PRIu64
                 ", after run %d, handle '%s' (%s): byte %zu of element %zu is %02x, "
                 "not %02x",
                 g->seed, round, handle, pop_type_name(view->type), i % size, i / size, found[i],
                 expected[i]);
  free(expected);
  free(found);
}

static void compare_all(random_graph *g, pop_engine *engine, int round)
{
  model *m = &g->m;
  for (uint32_t v = 0; v < m->num_variables; ++v) {
    if (!g->host_reads[v]) continue;
    model_view view = model_whole(m, v);
    compare(g, engine, pop_arena_printf(m->arena, "all %u", v), &view, round);
  }
  for (uint32_t i = 0; i < NUM_VIEWS; ++i)
    compare(g, engine, pop_arena_printf(m->arena, "read %u", i), &g->reads[i], round);
}

static void compare_memory(random_graph *g, pop_engine *engine)
{
  for (uint32_t tile = 0; tile < g->num_tiles; ++tile) {
    pop_tile_memory memory;
    expect_ok(pop_engine_tile_memory(engine, tile, &memory));
    cr_assert_eq(memory.total_including_gaps, pop_engine_loaded_bytes(engine, tile),
                 "seed %" PRIu64 ", tile %u: %u bytes reported, %u loaded", g->seed, tile,
                 memory.total_including_gaps, pop_engine_loaded_bytes(engine, tile));
  }
}

static void write_something(random_graph *g, pop_engine *engine)
{
  model *m = &g->m;
  if (g->num_writes == 0) return;
  uint32_t i = model_random(m, (uint32_t)g->num_writes);
  const model_view *view = &g->writes[i];
  size_t size = pop_type_bytes(view->type);
  uint8_t *values = model_buffer(m, view);
  for (size_t e = 0; e < view->num_elements; ++e)
    model_random_value(m, view->type, values + e * size);
  const char *handle = pop_arena_printf(m->arena, "write %u", i);
  pop_error *error = pop_engine_write_tensor(engine, handle, values, view->num_elements * size);
  cr_assert_null(error, "seed %" PRIu64 ": %s", g->seed, error ? pop_error_message(error) : "");
  model_scatter(m, view, values);
}

static void run_rounds(random_graph *g, pop_engine *engine)
{
  for (int round = 1; round <= NUM_ROUNDS; ++round) {
    if (model_chance(&g->m, 2)) write_something(g, engine);
    size_t program = model_random(&g->m, (uint32_t)g->num_programs);
    if (count_leaf_runs(g->programs[program]) > MAX_LEAF_RUNS) continue;
    run_node(g, g->programs[program]);
    pop_error *error = pop_engine_run(engine, program);
    cr_assert_null(error, "seed %" PRIu64 ": %s", g->seed, error ? pop_error_message(error) : "");
    compare_all(g, engine, round);
    compare_streams(g);
    compare_remotes(g, engine);
  }
}

static void check_seed(uint64_t seed, bool on_cpu)
{
  char *model_text, *engine_text;
  size_t model_bytes, engine_bytes;
  random_graph *g = pop_xmalloc(sizeof *g);
  build(g, seed, on_cpu);
  pop_engine *engine = compile_graph(g);
  g->printed = open_memstream(&model_text, &model_bytes);
  FILE *printed = open_memstream(&engine_text, &engine_bytes);
  pop_engine_set_print_stream(engine, printed);
  connect_streams(g, engine);
  pop_error *error = pop_engine_load(engine);
  cr_assert_null(error, "seed %" PRIu64 ": %s", seed, error ? pop_error_message(error) : "");
  fill_remotes(g, engine);
  if (!on_cpu) compare_memory(g, engine);
  compare_all(g, engine, 0);
  run_rounds(g, engine);
  fclose(printed);
  fclose(g->printed);
  cr_assert_str_eq(engine_text, model_text, "seed %" PRIu64 ": other text printed", seed);
  free(engine_text);
  free(model_text);
  pop_engine_free(engine);
  free_graph(g);
  free(g);
}

/* ---- tests ---- */

static void compile_codelets(void)
{
  enter_fresh_folder();
  char path[4096];
  const char *input = path;
  snprintf(path, sizeof path, "%s/tests/codelets/random.c", getenv("POPULUS_SOURCE_DIR"));
  popc_options options = {.size = sizeof options,
                          .inputs = &input,
                          .num_inputs = 1,
                          .output = codelets,
                          .diagnostics_fd = -1};
  expect_ok(popc_compile(&options, NULL, NULL));
}

static void check_seeds(bool on_cpu, uint64_t num_graphs)
{
  seed_range seeds = test_seeds(1, num_graphs);
  for (uint64_t seed = seeds.first; seed <= seeds.last; ++seed) check_seed(seed, on_cpu);
}

Test(engine_random, does_what_the_model_does, .init = compile_codelets)
{
  check_seeds(false, NUM_GRAPHS);
}

Test(engine_random, the_cpu_does_what_the_model_does, .init = compile_codelets)
{
  check_seeds(true, NUM_GRAPHS / 2);
}

/* The same with everything compiled for the host before it runs. */
Test(engine_random, translated_code_does_what_the_model_does, .init = compile_codelets)
{
  setenv("POPULUS_TILE_ENGINE", "translator", 1);
  check_seeds(false, NUM_TRANSLATED);
}

/* Two engines, made of two graphs that were built in the same way, have the same images. */
Test(engine_random, same_graph_same_bytes, .init = compile_codelets)
{
  for (uint64_t seed = 1001; seed <= 1010; ++seed) {
    uint8_t *bytes[2];
    size_t sizes[2];
    for (int i = 0; i < 2; ++i) {
      random_graph *g = pop_xmalloc(sizeof *g);
      build(g, seed, false);
      pop_engine *engine = compile_graph(g);
      expect_ok(pop_engine_save_archive(engine, "archive.a"));
      expect_ok(pop_file_read("archive.a", SIZE_MAX, &bytes[i], &sizes[i]));
      pop_engine_free(engine);
      free_graph(g);
      free(g);
    }
    cr_assert_eq(sizes[0], sizes[1], "seed %" PRIu64, seed);
    cr_assert_arr_eq(bytes[0], bytes[1], sizes[0], "seed %" PRIu64, seed);
    free(bytes[0]);
    free(bytes[1]);
  }
}
