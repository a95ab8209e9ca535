/* Reductions: populus/popops.h.
 *
 * The operand is seen as a matrix: a row for each element of the result. With fewer rows than tiles, rows are cut into
 * pieces, each reduced where its first element is; then, in a second compute set, what the pieces gave:
 *
 *   [outs, length] -> [outs, pieces] -> [outs]
 */
#include "graph/graph.h"
#include "poplibs/host/spread.h"

#include <populus/popops.h>
#include <stdlib.h>
#include <string.h>

static const char call[] = "pop_popops_reduce";
static const char *const op_names[POP_REDUCE_COUNT] = {
#define NAME(name, types) #name,
    POP_REDUCE_OPS(NAME)
#undef NAME
};

typedef struct reduction {
  pop_graph *graph;
  pop_type type;
  pop_reduction how;
  const char *name;
  pop_compute_set sets[POP_REDUCE_MAX_SETS];
  size_t num_sets;
} reduction;

/* As a matrix, with the kept dimensions first; their sizes to `shape`. False after an error. */
static bool as_matrix(pop_tensor a, const size_t *dimensions, size_t count, pop_tensor *matrix,
                      size_t *shape, size_t *rank)
{
  size_t all = pop_tensor_rank(a), order[GRAPH_MAX_RANK], reduced = 0, sizes[2] = {1, 1};
  bool is_reduced[GRAPH_MAX_RANK] = {false};
  for (size_t i = 0; i < count; i++) {
    if (dimensions[i] >= all || is_reduced[dimensions[i]]) {
      poplibs_fail(a.graph, POP_ERROR_INDEX, "%s: dimension %zu of a tensor of rank %zu%s", call,
                   dimensions[i], all, dimensions[i] < all ? ", twice" : "");
      return false;
    }
    is_reduced[dimensions[i]] = true;
  }
  *rank = 0;
  for (size_t d = 0; d < all; d++) {
    if (is_reduced[d]) continue;
    shape[*rank] = pop_tensor_dim(a, d);
    sizes[0] *= shape[*rank];
    order[(*rank)++] = d;
  }
  for (size_t d = 0; d < all; d++) {
    if (!is_reduced[d]) continue;
    sizes[1] *= pop_tensor_dim(a, d);
    order[*rank + reduced++] = d;
  }
  if (sizes[1] == 0) {
    poplibs_fail(a.graph, POP_ERROR_TENSOR, "%s: there are no elements to combine", call);
    return false;
  }
  *matrix = pop_tensor_reshape(pop_tensor_dim_shuffle(a, order, all), sizes, 2);
  return true;
}

/* "popops::Reduce<popops::Operation::ADD,float>" */
static const char *vertex_type(const reduction *r, bool scaled, pop_reduce_op op)
{
  return pop_arena_printf(r->graph->top->arena, "popops::%s<popops::Operation::%s,%s>",
                          scaled ? "ScaledReduce" : "Reduce", op_names[op], pop_type_name(r->type));
}

static pop_vertex add_vertex(const reduction *r, pop_compute_set set, size_t tile, const char *type,
                             pop_tensor in, pop_tensor out, size_t length, bool update)
{
  pop_vertex v = poplibs_add_vertex(r->graph, set, tile, "%s", type);
  pop_graph_connect(r->graph, v, "in", in);
  pop_graph_connect(r->graph, v, "out", out);
  pop_graph_set_field_int(r->graph, v, "length", (int64_t)length);
  pop_graph_set_field_int(r->graph, v, "update", update);
  return v;
}

static void note_tile(void *context, size_t tile, size_t begin, size_t end)
{
  (void)begin;
  (void)end;
  *(size_t *)context = tile;
}

/* Where the first element is; constants that nobody has mapped: on tile 0. */
static size_t first_tile(pop_graph *graph, pop_tensor t)
{
  size_t tile = SIZE_MAX;
  pop_graph_visit_tile_mapping(graph, pop_tensor_slice(t, 0, 1, 0), note_tile, &tile);
  return tile == SIZE_MAX ? 0 : tile;
}

/* The matrix [outs, pieces] of what the pieces give. */
static pop_tensor reduce_pieces(reduction *r, pop_tensor matrix, size_t pieces)
{
  size_t outs = pop_tensor_dim(matrix, 0), length = pop_tensor_dim(matrix, 1);
  pop_tensor partials =
      pop_graph_add_variable(r->graph, r->type, (size_t[]){outs, pieces}, 2, r->name);
  pop_compute_set set = r->sets[r->num_sets++] = pop_graph_add_compute_set(r->graph, r->name);
  const char *type = vertex_type(r, false, r->how.op);
  for (size_t o = 0; o < outs; o++) {
    pop_tensor row = pop_tensor_index(matrix, o), sums = pop_tensor_index(partials, o);
    for (size_t p = 0; p < pieces && !pop_graph_error(r->graph); p++) {
      size_t begin = p * length / pieces, end = (p + 1) * length / pieces;
      pop_tensor in = pop_tensor_slice(row, begin, end, 0),
                 out = pop_tensor_slice(sums, p, p + 1, 0);
      size_t tile = first_tile(r->graph, in);
      pop_graph_set_tile_mapping(r->graph, out, tile);
      add_vertex(r, set, tile, type, in, out, end - begin, false);
    }
  }
  return partials;
}

static void reduce_rows(reduction *r, pop_tensor matrix, pop_tensor out, pop_reduce_op op)
{
  pop_tensor flat = pop_tensor_flatten(out);
  spread s = spread_of(r->graph, call, flat);
  pop_compute_set set = r->sets[r->num_sets++] = pop_graph_add_compute_set(r->graph, r->name);
  bool scaled = r->how.scale.index != 0;
  const char *type = vertex_type(r, scaled, op);
  for (size_t p = 0; p < s.count && !pop_graph_error(r->graph); p++) {
    pop_vertex v = add_vertex(
        r, set, s.parts[p].tile, type, pop_tensor_flatten(spread_slice(&s.parts[p], matrix)),
        spread_slice(&s.parts[p], flat), pop_tensor_dim(matrix, 1), r->how.update);
    if (scaled) pop_graph_connect(r->graph, v, "scale", pop_tensor_flatten(r->how.scale));
  }
  spread_free(&s);
}

/* A piece has to be worth the second compute set and the exchange to it. */
static size_t num_pieces(pop_graph *graph, size_t outs, size_t length)
{
  enum { LEAST = 32 };
  size_t tiles = pop_graph_num_tiles(graph), pieces = outs ? tiles / outs : 0;
  if (pieces > length / LEAST) pieces = length / LEAST;
  return pieces < 2 ? 1 : pieces;
}

static bool check_how(const reduction *r, bool has_out)
{
  if (r->how.op >= POP_REDUCE_COUNT) {
    poplibs_fail(r->graph, POP_ERROR_INVALID_ARGUMENT,
                 "%s: operation %u is none: they are from 0 (POP_REDUCE_%s) to %u", call,
                 (unsigned)r->how.op, op_names[0], POP_REDUCE_COUNT - 1);
    return false;
  }
  pop_tensor scale = r->how.scale;
  bool scaled = scale.index != 0;
  const char *op = op_names[r->how.op];
  if (scaled &&
      (pop_tensor_num_elements(scale) != 1 || pop_tensor_element_type(scale) != POP_FLOAT)) {
    poplibs_fail(r->graph, POP_ERROR_TENSOR,
                 "%s: the scale is a float of one element, not %zu of type %s", call,
                 pop_tensor_num_elements(scale), pop_type_name(pop_tensor_element_type(scale)));
    return false;
  }
  if (r->how.update && !has_out) {
    poplibs_fail(r->graph, POP_ERROR_TENSOR, "%s: an update needs a tensor to update", call);
    return false;
  }
  return poplibs_check_vertex_type(
      r->graph, call, vertex_type(r, scaled, r->how.op),
      scaled ? pop_arena_printf(r->graph->top->arena, "%s with a scale", op) : op, r->type);
}

pop_tensor pop_popops_reduce(pop_graph *graph, pop_tensor a, const size_t *dimensions, size_t count,
                             pop_reduction how, pop_tensor out, pop_program sequence,
                             pop_compute_set *compute_sets, size_t *num_sets, const char *name)
{
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  pop_tensor none = {graph->top, 0}, matrix;
  size_t shape[GRAPH_MAX_RANK], rank;
  if (num_sets) *num_sets = 0;
  if (pop_graph_error(graph)) return none;
  reduction r = {graph, pop_tensor_element_type(a), how, name, {{0}}, 0};
  if (!check_how(&r, out.index != 0) || !as_matrix(a, dimensions, count, &matrix, shape, &rank))
    return none;
  out = poplibs_result(graph, call, out, r.type, shape, rank, NULL, 0, name);
  if (!out.index) return none;
  size_t pieces = num_pieces(graph, pop_tensor_dim(matrix, 0), pop_tensor_dim(matrix, 1));
  if (pieces > 1) {
    matrix = reduce_pieces(&r, matrix, pieces);
    if (how.op == POP_REDUCE_SQUARE_ADD) how.op = POP_REDUCE_ADD;
  }
  reduce_rows(&r, matrix, out, how.op);
  for (size_t i = 0; i < r.num_sets; i++) {
    if (compute_sets)
      compute_sets[i] = r.sets[i];
    else
      pop_sequence_add(sequence, pop_program_execute(graph, r.sets[i], name));
  }
  if (num_sets) *num_sets = r.num_sets;
  return pop_graph_error(graph) ? none : out;
}
