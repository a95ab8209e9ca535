/* Sorting and top k: populus/popops_sort.h.
 *
 * Rows are copied to tiles of their own and sorted there. Few long rows are sorted in blocks on
 * many tiles (sort_blocks.c). The top k of a long row is the top k of its pieces' top k:
 *
 *   p runs of n / p elements, sorted -> the first k of each, joined: a run of p * k, sorted -> the first k */
#include "poplibs/host/sort.h"

#include "graph/graph.h"
#include "poplibs/host/spread.h"

#include <populus/popops_sort.h>
#include <stdlib.h>

const char *sort_vertex_type(const sorting *s, const char *name, const run *r)
{
  const char *key = pop_type_name(pop_tensor_element_type(r->keys));
  bool is_short = r->values.index && pop_type_bytes(pop_tensor_element_type(r->values)) == 2;
  return pop_arena_printf(s->graph->top->arena, "popops::%s<%s,unsigned %s,%s>", name, key,
                          is_short ? "short" : "int", s->descending ? "true" : "false");
}

static const char *vertex_type(const sorting *s, const run *r)
{
  if (r->values.index) return sort_vertex_type(s, "SortWithValues", r);
  return pop_arena_printf(s->graph->top->arena, "popops::Sort<%s,%s>",
                          pop_type_name(pop_tensor_element_type(r->keys)),
                          s->descending ? "true" : "false");
}

pop_tensor sort_bits(pop_tensor values)
{
  bool is_short = pop_type_bytes(pop_tensor_element_type(values)) == 2;
  return pop_tensor_reinterpret(values, is_short ? POP_UNSIGNED_SHORT : POP_UNSIGNED_INT);
}

/* Copies of all runs in one variable; each run is on a tile of its own while there are tiles. */
typedef struct copies {
  pop_tensor all;
  size_t *begin; /* of each run, and the end */
} copies;

static size_t tile_of(const sorting *s, size_t i, size_t count)
{
  size_t tiles = pop_graph_num_tiles(s->graph);
  return count <= tiles ? i : i * tiles / count;
}

static pop_tensor part(const copies *c, size_t i)
{
  return pop_tensor_slice(c->all, c->begin[i], c->begin[i + 1], 0);
}

static copies make_copies(const sorting *s, pop_type type, const size_t *begin, size_t count)
{
  copies c = {pop_graph_add_variable(s->graph, type, &begin[count], 1, s->name), (size_t *)begin};
  for (size_t i = 0; i < count; i++)
    pop_graph_set_tile_mapping(s->graph, part(&c, i), tile_of(s, i, count));
  return c;
}

/* The keys, or the values, with scratch space for the merge sort. */
typedef struct column {
  copies sorted, scratch;
} column;

static column make_column(const sorting *s, const pop_tensor *runs, const size_t *begin,
                          size_t count)
{
  pop_type type = pop_tensor_element_type(runs[0]);
  column c = {make_copies(s, type, begin, count), make_copies(s, type, begin, count)};
  pop_sequence_add(s->sequence,
                   pop_program_copy(pop_concat(runs, count, 0), c.sorted.all, s->name));
  return c;
}

/* Each run becomes a sorted copy. */
static void sort_runs(const sorting *s, run *runs, size_t count)
{
  pop_graph *graph = s->graph;
  bool has_values = runs[0].values.index != 0;
  const char *type = vertex_type(s, &runs[0]);
  size_t *begin = pop_xcalloc(count + 1, sizeof *begin);
  pop_tensor *list = pop_xcalloc(count, sizeof *list);
  column keys, values = {0};
  for (size_t i = 0; i < count; i++) {
    list[i] = runs[i].keys;
    begin[i + 1] = begin[i] + pop_tensor_num_elements(list[i]);
  }
  keys = make_column(s, list, begin, count);
  for (size_t i = 0; i < count; i++) list[i] = runs[i].values;
  if (has_values) values = make_column(s, list, begin, count);
  pop_compute_set set = pop_graph_add_compute_set(graph, s->name);
  for (size_t i = 0; i < count && !pop_graph_error(graph); i++) {
    pop_vertex v = poplibs_add_vertex(graph, set, tile_of(s, i, count), "%s", type);
    pop_graph_connect(graph, v, "keys", runs[i].keys = part(&keys.sorted, i));
    pop_graph_connect(graph, v, "scratch", part(&keys.scratch, i));
    if (!has_values) continue;
    pop_graph_connect(graph, v, "values", sort_bits(runs[i].values = part(&values.sorted, i)));
    pop_graph_connect(graph, v, "valueScratch", sort_bits(part(&values.scratch, i)));
  }
  pop_sequence_add(s->sequence, pop_program_execute(graph, set, s->name));
  free(begin);
  free(list);
}

static bool check(const sorting *s, pop_tensor keys, pop_tensor values, size_t dim)
{
  pop_graph *graph = s->graph;
  if (dim >= pop_tensor_rank(keys)) {
    poplibs_fail(graph, POP_ERROR_INDEX, "%s: dimension %zu of a tensor of rank %zu", s->call, dim,
                 pop_tensor_rank(keys));
    return false;
  }
  if (pop_tensor_num_elements(keys) == 0) {
    poplibs_fail(graph, POP_ERROR_TENSOR, "%s: there are no keys", s->call);
    return false;
  }
  if (values.index) {
    bool alike = pop_tensor_rank(values) == pop_tensor_rank(keys);
    for (size_t d = 0; alike && d < pop_tensor_rank(keys); d++)
      alike = pop_tensor_dim(values, d) == pop_tensor_dim(keys, d);
    size_t bytes = pop_type_bytes(pop_tensor_element_type(values));
    if (!alike || (bytes != 2 && bytes != 4)) {
      poplibs_fail(graph, alike ? POP_ERROR_TYPE : POP_ERROR_TENSOR,
                   alike ? "%s: values are of a type of 2 or 4 bytes, not %s"
                         : "%s: values of type %s must have the shape of their keys",
                   s->call, pop_type_name(pop_tensor_element_type(values)));
      return false;
    }
  }
  run r = {keys, values};
  return poplibs_check_vertex_type(graph, s->call, vertex_type(s, &r), "order",
                                   pop_tensor_element_type(keys));
}

/* [rows, n] */
static pop_tensor as_rows(pop_tensor t, size_t dim)
{
  if (!t.index) return t;
  size_t last = pop_tensor_rank(t) - 1;
  return pop_tensor_flatten_partial(pop_tensor_dim_roll(t, dim, last), 0, last);
}

/* The rows as a tensor of `t`'s shape, with another size in `dim`. */
static pop_tensor from_rows(const pop_tensor *rows, size_t count, pop_tensor t, size_t dim)
{
  size_t last = pop_tensor_rank(t) - 1, shape[GRAPH_MAX_RANK];
  pop_tensor rolled = pop_tensor_dim_roll(t, dim, last);
  for (size_t d = 0; d < last; d++) shape[d] = pop_tensor_dim(rolled, d);
  shape[last] = pop_tensor_num_elements(rows[0]);
  pop_tensor all = pop_tensor_reshape(pop_concat(rows, count, 0), shape, last + 1);
  return pop_tensor_dim_roll(all, last, dim);
}

/* The rows along `dim`, each cut into `pieces` runs. */
static run *make_runs(pop_tensor keys, pop_tensor values, size_t dim, size_t pieces)
{
  pop_tensor k = as_rows(keys, dim), v = as_rows(values, dim);
  size_t num_rows = pop_tensor_dim(k, 0), n = pop_tensor_dim(k, 1);
  run *runs = pop_xcalloc(num_rows * pieces + 1, sizeof *runs);
  for (size_t r = 0; r < num_rows; r++)
    for (size_t p = 0; p < pieces; p++) {
      size_t begin = p * n / pieces, end = (p + 1) * n / pieces;
      runs[r * pieces + p] =
          (run){pop_tensor_slice(pop_tensor_index(k, r), begin, end, 0),
                v.index ? pop_tensor_slice(pop_tensor_index(v, r), begin, end, 0) : v};
    }
  return runs;
}

/* Keeps the first `k` elements of each run. */
static void cut_runs(run *runs, size_t count, size_t k)
{
  for (size_t i = 0; i < count; i++) {
    runs[i].keys = pop_tensor_slice(runs[i].keys, 0, k, 0);
    if (runs[i].values.index) runs[i].values = pop_tensor_slice(runs[i].values, 0, k, 0);
  }
}

/* Joins every `pieces` runs to one. */
static void join_runs(run *runs, size_t count, size_t pieces)
{
  pop_tensor *list = pop_xcalloc(pieces, sizeof *list);
  for (size_t i = 0; i < count / pieces; i++) {
    const run *from = &runs[i * pieces];
    pop_tensor values = from->values;
    for (size_t p = 0; p < pieces; p++) list[p] = from[p].values;
    if (values.index) values = pop_concat(list, pieces, 0);
    for (size_t p = 0; p < pieces; p++) list[p] = from[p].keys;
    runs[i] = (run){pop_concat(list, pieces, 0), values};
  }
  free(list);
}

/* The sorted rows in the caller's shape; frees the runs. */
static pop_tensor finish(pop_graph *graph, run *runs, size_t count, pop_tensor keys, size_t dim,
                         pop_tensor *values)
{
  pop_tensor none = {graph->top, 0}, result = none;
  pop_tensor *list = pop_xcalloc(count + 1, sizeof *list);
  if (!pop_graph_error(graph)) {
    for (size_t i = 0; i < count; i++) list[i] = runs[i].keys;
    result = from_rows(list, count, keys, dim);
    for (size_t i = 0; i < count; i++) list[i] = runs[i].values;
    if (values && list[0].index) *values = from_rows(list, count, keys, dim);
  }
  free(list);
  free(runs);
  return pop_graph_error(graph) ? none : result;
}

pop_tensor pop_popops_sort(pop_graph *graph, pop_tensor keys, pop_tensor values, size_t dim,
                           pop_tensor *sorted_values, pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){keys}, 1);
  pop_tensor none = {graph->top, 0};
  if (sorted_values) *sorted_values = none;
  if (pop_graph_error(graph)) return none;
  sorting s = {graph, "pop_popops_sort", name, false, sequence};
  if (!check(&s, keys, values, dim)) return none;
  size_t n = pop_tensor_dim(keys, dim), count = pop_tensor_num_elements(keys) / n;
  run *runs = make_runs(keys, values, dim, 1);
  size_t block_size = sort_block_size(graph, count, n);
  if (block_size < n)
    sort_in_blocks(&s, runs, count, block_size);
  else
    sort_runs(&s, runs, count);
  return finish(graph, runs, count, keys, dim, sorted_values);
}

/* ---- top k ---- */

/* So many that the second round's run is about as long as a piece. */
static size_t num_pieces(pop_graph *graph, size_t num_rows, size_t n, size_t k)
{
  size_t tiles = pop_graph_num_tiles(graph), pieces = 1;
  while ((pieces + 1) * num_rows <= tiles && n / (pieces + 1) >= (pieces + 1) * k) pieces++;
  return pieces;
}

/* Orders runs whose best element is first from the other end on. Where equal keys can be told
 * apart, by their values or by their signs, that is not the reverse: they keep their order, and
 * NaN stays behind all numbers. */
static void turn_runs(sorting *s, run *runs, size_t count)
{
  pop_type type = pop_tensor_element_type(runs[0].keys);
  s->descending = !s->descending;
  if (runs[0].values.index || !pop_type_is_integer(type)) {
    sort_runs(s, runs, count);
    return;
  }
  for (size_t i = 0; i < count; i++) runs[i].keys = pop_tensor_reverse(runs[i].keys, 0);
}

pop_tensor pop_popops_top_k(pop_graph *graph, pop_tensor keys, pop_tensor values, pop_top_k which,
                            pop_tensor *top_values, pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){keys}, 1);
  pop_tensor none = {graph->top, 0};
  if (top_values) *top_values = none;
  if (pop_graph_error(graph)) return none;
  sorting s = {graph, "pop_popops_top_k", name, which.largest, sequence};
  size_t rank = pop_tensor_rank(keys), last = rank ? rank - 1 : 0, k = which.k;
  if (!check(&s, keys, values, last)) return none;
  size_t n = pop_tensor_dim(keys, last), num_rows = pop_tensor_num_elements(keys) / n;
  if (k == 0 || k > n) {
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT, "%s: %zu of rows of %zu elements", s.call, k,
                 n);
    return none;
  }
  if (k == n) s.descending = !which.ascending; /* there is nothing to choose */
  size_t pieces = num_pieces(graph, num_rows, n, k);
  run *runs = make_runs(keys, values, last, pieces);
  if (pieces > 1) {
    sort_runs(&s, runs, num_rows * pieces);
    cut_runs(runs, num_rows * pieces, k);
    join_runs(runs, num_rows * pieces, pieces);
  }
  if (!pop_graph_error(graph)) sort_runs(&s, runs, num_rows);
  cut_runs(runs, num_rows, k);
  if (k > 1 && s.descending == which.ascending && !pop_graph_error(graph))
    turn_runs(&s, runs, num_rows);
  return finish(graph, runs, num_rows, keys, last, top_values);
}
