/* Rows that many tiles sort together, in blocks that a sorting network compares
 * (sort_network.h). Six workers of each tile sort and merge blocks.
 *
 * Each element carries its position in the row. Positions decide between equal keys, so the sort
 * is stable. */
#include "poplibs/host/sort.h"

#include "graph/graph.h"
#include "poplibs/host/sort_network.h"
#include "poplibs/host/spread.h"

#include <stdlib.h>

size_t sort_block_size(const pop_graph *graph, size_t num_rows, size_t n)
{
  /* Measured with float keys and values on the tiles of ipu2. */
  enum { workers = 6 };
  static const sort_costs costs = {
      .workers = workers,
      .sorted = 27 * workers,
      .merged = 25 * workers,
      .received = 3, /* a key, a place and a value at 4 bytes a cycle */
      .stage = 350,
      .most_vertices = 300000,
  };
  return sort_fastest_block(&costs, pop_graph_num_tiles(graph), num_rows, n);
}

/* ---- blocks ---- */

/* Two variables for each column; each stage moves elements from one to the other. */
typedef struct columns {
  pop_tensor keys[2], places[2], values[2];
  size_t *begin;       /* of each block, and the end */
  unsigned char *side; /* of each block: which of the two has it */
  size_t per_row, count;
} columns;

static pop_tensor part(const columns *c, pop_tensor column, size_t block)
{
  return pop_tensor_slice(column, c->begin[block], c->begin[block + 1], 0);
}

static size_t tile_of(const sorting *s, const columns *c, size_t block)
{
  size_t tiles = pop_graph_num_tiles(s->graph);
  return c->count <= tiles ? block : block * tiles / c->count;
}

static void add_column(const sorting *s, const columns *c, pop_type type, pop_tensor *pair)
{
  for (int side = 0; side < 2; side++) {
    pair[side] = pop_graph_add_variable(s->graph, type, &c->begin[c->count], 1, s->name);
    for (size_t b = 0; b < c->count; b++)
      pop_graph_set_tile_mapping(s->graph, part(c, pair[side], b), tile_of(s, c, b));
  }
}

static columns make_columns(const sorting *s, const run *runs, size_t num_rows, size_t size)
{
  size_t n = pop_tensor_num_elements(runs[0].keys), per_row = (n + size - 1) / size;
  columns c = {.per_row = per_row, .count = num_rows * per_row};
  c.begin = pop_xcalloc(c.count + 1, sizeof *c.begin);
  c.side = pop_xcalloc(c.count, sizeof *c.side);
  for (size_t b = 0; b <= c.count; b++) c.begin[b] = b / per_row * n + b % per_row * size;
  add_column(s, &c, pop_tensor_element_type(runs[0].keys), c.keys);
  add_column(s, &c, POP_UNSIGNED_INT, c.places);
  if (runs[0].values.index) add_column(s, &c, pop_tensor_element_type(runs[0].values), c.values);
  return c;
}

static void free_columns(columns *c)
{
  free(c->begin);
  free(c->side);
}

/* Connects a block's values, as bits; an empty tensor if there are no values. */
static void connect_values(const sorting *s, pop_vertex v, const char *field, const columns *c,
                           int side, size_t block)
{
  const pop_tensor none = pop_tensor_slice(c->places[0], 0, 0, 0);
  pop_tensor values = c->values[side];
  pop_graph_connect(s->graph, v, field, values.index ? sort_bits(part(c, values, block)) : none);
}

/* Copies the rows to the blocks and sorts each block. Before that, values are in the second
 * variable. */
static void sort_each(const sorting *s, const columns *c, const run *runs, size_t num_rows)
{
  pop_graph *graph = s->graph;
  pop_tensor *list = pop_xcalloc(num_rows, sizeof *list);
  for (size_t r = 0; r < num_rows; r++) list[r] = runs[r].keys;
  pop_sequence_add(s->sequence,
                   pop_program_copy(pop_concat(list, num_rows, 0), c->keys[0], s->name));
  for (size_t r = 0; r < num_rows; r++) list[r] = runs[r].values;
  if (c->values[1].index)
    pop_sequence_add(s->sequence,
                     pop_program_copy(pop_concat(list, num_rows, 0), c->values[1], s->name));
  free(list);
  const char *type = sort_vertex_type(s, "SortBlock", &runs[0]);
  pop_compute_set set = pop_graph_add_compute_set(graph, s->name);
  for (size_t b = 0; b < c->count && !pop_graph_error(graph); b++) {
    pop_vertex v = poplibs_add_vertex(graph, set, tile_of(s, c, b), "%s", type);
    pop_graph_connect(graph, v, "keys", part(c, c->keys[0], b));
    pop_graph_connect(graph, v, "keyScratch", part(c, c->keys[1], b));
    pop_graph_connect(graph, v, "places", part(c, c->places[0], b));
    pop_graph_connect(graph, v, "placeScratch", part(c, c->places[1], b));
    connect_values(s, v, "values", c, 1, b);
    connect_values(s, v, "sortedValues", c, 0, b);
    pop_graph_set_field_int(graph, v, "first", (int64_t)c->begin[b]);
  }
  pop_sequence_add(s->sequence, pop_program_execute(graph, set, s->name));
}

/* Merges two blocks; block `kept` keeps its half of the result. */
static void meet(const sorting *s, const columns *c, pop_compute_set set, const char *type,
                 size_t kept, size_t met)
{
  pop_graph *graph = s->graph;
  int from = c->side[kept], other = c->side[met];
  pop_vertex v = poplibs_add_vertex(graph, set, tile_of(s, c, kept), "%s", type);
  pop_graph_connect(graph, v, "keys", part(c, c->keys[from], kept));
  pop_graph_connect(graph, v, "places", part(c, c->places[from], kept));
  connect_values(s, v, "values", c, from, kept);
  pop_graph_connect(graph, v, "otherKeys", part(c, c->keys[other], met));
  pop_graph_connect(graph, v, "otherPlaces", part(c, c->places[other], met));
  connect_values(s, v, "otherValues", c, other, met);
  pop_graph_connect(graph, v, "keptKeys", part(c, c->keys[!from], kept));
  pop_graph_connect(graph, v, "keptPlaces", part(c, c->places[!from], kept));
  connect_values(s, v, "keptValues", c, !from, kept);
  pop_graph_set_field_int(graph, v, "front", kept < met);
}

static void exchange_stage(const sorting *s, columns *c, const char *type, const sort_stage *now)
{
  pop_compute_set set = pop_graph_add_compute_set(s->graph, s->name);
  for (size_t row = 0; row < c->count && !pop_graph_error(s->graph); row += c->per_row)
    for (size_t i = 0; i + now->distance < c->per_row; i++) {
      if (!sort_meets(now, i)) continue;
      size_t a = row + i, b = a + now->distance;
      meet(s, c, set, type, a, b);
      meet(s, c, set, type, b, a);
      c->side[a] ^= 1;
      c->side[b] ^= 1;
    }
  pop_sequence_add(s->sequence, pop_program_execute(s->graph, set, s->name));
}

static pop_tensor row_of(const columns *c, const pop_tensor *pair, size_t row)
{
  pop_tensor *list = pop_xcalloc(c->per_row, sizeof *list);
  for (size_t i = 0; i < c->per_row; i++) {
    size_t b = row * c->per_row + i;
    list[i] = part(c, pair[c->side[b]], b);
  }
  pop_tensor all = pop_concat(list, c->per_row, 0);
  free(list);
  return all;
}

void sort_in_blocks(const sorting *s, run *runs, size_t count, size_t block_size)
{
  columns c = make_columns(s, runs, count, block_size);
  sort_each(s, &c, runs, count);
  size_t num_stages = sort_num_stages(c.per_row);
  sort_stage *stages = pop_xcalloc(num_stages + 1, sizeof *stages);
  sort_make_stages(c.per_row, stages);
  const char *type = sort_vertex_type(s, "MergeBlocks", &runs[0]);
  for (size_t i = 0; i < num_stages; i++) exchange_stage(s, &c, type, &stages[i]);
  for (size_t r = 0; r < count; r++) {
    runs[r].keys = row_of(&c, c.keys, r);
    if (runs[r].values.index) runs[r].values = row_of(&c, c.values, r);
  }
  free(stages);
  free_columns(&c);
}
