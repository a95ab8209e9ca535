/* Reductions: populus/popops.h.
 *
 * The operand is a matrix with a row for each element of the result. It may be cut into blocks,
 * each of which a tile reduces. A second compute set then reduces the results of the blocks:
 *
 *   [outs, length] -> [outs, pieces] -> [outs]
 *
 * A block is what lies on one tile (reduce_own.c). Or blocks are equal parts of the matrix, each
 * on a tile of its own (reduce_cut.c): if there are fewer rows than tiles, or if the result is
 * on few tiles.
 *
 * Adjacent elements should stay adjacent on their way to a vertex, so that they are one message.
 * So vertices take blocks row by row or column by column, whichever has the longer runs. */
#include "base/divide.h"
#include "graph/graph.h"
#include "poplibs/host/reduce_cut.h"
#include "poplibs/host/reduce_own.h"
#include "poplibs/host/spread.h"

#include <assert.h>
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
  pop_type type;    /* of the operand */
  pop_type between; /* of the blocks' results: type_between() */
  pop_type result;
  pop_reduction how;
  const char *name;
  pop_compute_set sets[POP_REDUCE_MAX_SETS];
  size_t num_sets;
} reduction;

/* The operand as a matrix: its rows are the dimensions that are kept, whose sizes go to `shape`.
 * False after an error. */
static bool as_matrix(pop_graph *graph, pop_tensor a, const size_t *dimensions, size_t count,
                      pop_tensor *matrix, size_t *shape, size_t *rank)
{
  size_t all = pop_tensor_rank(a), order[GRAPH_MAX_RANK], reduced = 0, sizes[2] = {1, 1};
  bool is_reduced[GRAPH_MAX_RANK] = {false};
  if (count && !dimensions) {
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT, "%s: %zu dimensions, and their list is NULL",
                 call, count);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    if (dimensions[i] >= all || is_reduced[dimensions[i]]) {
      poplibs_fail(graph, POP_ERROR_INDEX, "%s: dimension %zu of a tensor of rank %zu%s", call,
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
  *matrix = pop_tensor_reshape(pop_tensor_dim_shuffle(a, order, all), sizes, 2);
  return true;
}

/* "popops::Reduce<popops::Operation::ADD,float>",
 * "popops::ReduceTo<popops::Operation::ADD,half,float>" */
static const char *vertex_type(const reduction *r, bool scaled, pop_reduce_op op, pop_type from,
                               pop_type to)
{
  pop_arena *arena = r->graph->top->arena;
  const char *name = scaled ? "ScaledReduce" : "Reduce";
  if (from == to)
    return pop_arena_printf(arena, "popops::%s<popops::Operation::%s,%s>", name, op_names[op],
                            pop_type_name(from));
  return pop_arena_printf(arena, "popops::%sTo<popops::Operation::%s,%s,%s>", name, op_names[op],
                          pop_type_name(from), pop_type_name(to));
}

/* Adds a vertex that reduces each row of `block` to an element of `out`. */
static pop_vertex add_vertex(const reduction *r, pop_compute_set set, size_t tile, const char *type,
                             pop_tensor block, pop_tensor out, bool update)
{
  bool columns;
  pop_tensor in = poplibs_flatten_in_runs(block, &columns);
  pop_vertex v = poplibs_add_vertex(r->graph, set, tile, "%s", type);
  pop_graph_connect(r->graph, v, "in", in);
  pop_graph_connect(r->graph, v, "out", out);
  pop_graph_set_field_int(r->graph, v, "length", (int64_t)pop_tensor_dim(block, 1));
  pop_graph_set_field_int(r->graph, v, "columns", columns);
  pop_graph_set_field_int(r->graph, v, "update", update);
  return v;
}

static void note_tile(void *context, size_t tile, size_t begin, size_t end)
{
  (void)begin;
  (void)end;
  *(size_t *)context = tile;
}

/* The tile of the first element; tile 0 for constants without a mapping. */
static size_t first_tile(pop_graph *graph, pop_tensor t)
{
  size_t tile = SIZE_MAX;
  pop_graph_visit_tile_mapping(graph, pop_tensor_slice(t, 0, 1, 0), note_tile, &tile);
  return tile == SIZE_MAX ? 0 : tile;
}

/* ---- blocks ---- */

/* Tiles that have a block already. */
typedef struct tiles_taken {
  bool *is_taken;
  size_t num_tiles, next;
} tiles_taken;

/* The tile of the block's first element; if that has a block already, the next tile without one. */
static size_t take_tile(const reduction *r, tiles_taken *b, pop_tensor block)
{
  size_t tile = first_tile(r->graph, pop_tensor_flatten(block));
  if (tile >= b->num_tiles || b->is_taken[tile]) {
    while (b->is_taken[b->next]) b->next++;
    tile = b->next;
  }
  b->is_taken[tile] = true;
  return tile;
}

static pop_tensor elements_of(pop_tensor matrix, const reduce_block *b)
{
  return pop_tensor_slice_nd(matrix, (size_t[]){b->row, b->begin}, (size_t[]){b->end_row, b->end},
                             2);
}

static reduce_blocks blocks_of_cut(const reduction *r, pop_tensor matrix, reduce_cut c)
{
  size_t outs = pop_tensor_dim(matrix, 0), length = pop_tensor_dim(matrix, 1);
  reduce_blocks found = {.pieces = c.pieces};
  tiles_taken taken = {.num_tiles = pop_graph_num_tiles(r->graph)};
  taken.is_taken = pop_xcalloc(taken.num_tiles + 1, sizeof *taken.is_taken);
  for (size_t p = 0; p < c.pieces; p++)
    for (size_t o = 0; o < c.outs && !pop_graph_error(r->graph); o++) {
      reduce_block b = {.piece = p,
                        .row = o * outs / c.outs,
                        .end_row = (o + 1) * outs / c.outs,
                        .begin = p * length / c.pieces,
                        .end = (p + 1) * length / c.pieces};
      b.tile = take_tile(r, &taken, elements_of(matrix, &b));
      pop_push(found.blocks, found.count, found.capacity, b);
    }
  free(taken.is_taken);
  return found;
}

/* Adds the first compute set. Returns the matrix [outs, pieces] of the blocks' results. */
static pop_tensor reduce_to_pieces(reduction *r, pop_tensor matrix, const reduce_blocks *b)
{
  pop_graph *graph = r->graph;
  size_t outs = pop_tensor_dim(matrix, 0);
  pop_tensor partials =
      pop_graph_add_variable(graph, r->between, (size_t[]){b->pieces, outs}, 2, r->name);
  pop_compute_set set = r->sets[r->num_sets++] = pop_graph_add_compute_set(graph, r->name);
  const char *type = vertex_type(r, false, r->how.op, r->type, r->between);
  for (size_t i = 0; i < b->count && !pop_graph_error(graph); i++) {
    const reduce_block *x = &b->blocks[i];
    pop_tensor out = pop_tensor_slice(pop_tensor_index(partials, x->piece), x->row, x->end_row, 0);
    pop_graph_set_tile_mapping(graph, out, x->tile);
    add_vertex(r, set, x->tile, type, elements_of(matrix, x), out, false);
  }
  return pop_tensor_transpose(partials);
}

/* How many elements of the blocks are on the tile of their row's result. */
static size_t count_in_place(const reduce_blocks *b, const spread *s, size_t outs)
{
  size_t *tiles = pop_xcalloc(outs, sizeof *tiles), count = 0;
  for (size_t p = 0; p < s->count; p++)
    for (size_t i = 0; i < s->parts[p].count; i++)
      for (size_t o = s->parts[p].intervals[i].begin; o < s->parts[p].intervals[i].end; o++)
        tiles[o] = s->parts[p].tile;
  for (size_t i = 0; i < b->count; i++) {
    const reduce_block *x = &b->blocks[i];
    for (size_t o = x->row; o < x->end_row; o++)
      if (tiles[o] == x->tile) count += x->end - x->begin;
  }
  free(tiles);
  return count;
}

/* Would few tiles do most of the work, although more could share it? */
static bool is_imbalanced(const reduction *r, const spread *s, size_t outs, size_t length)
{
  enum { LITTLE = 2048 };
  size_t tiles = pop_graph_num_tiles(r->graph), most = 0;
  for (size_t i = 0; i < s->count; i++)
    if (s->parts[i].num_elements > most) most = s->parts[i].num_elements;
  return most * length > LITTLE && most > 2 * divide_up(outs, tiles);
}

static void reduce_rows(const reduction *r, const spread *s, pop_compute_set set, pop_tensor matrix,
                        pop_tensor flat)
{
  bool scaled = r->how.scale.index != 0;
  const char *type = vertex_type(r, scaled, r->how.op, pop_tensor_element_type(matrix), r->result);
  for (size_t p = 0; p < s->count && !pop_graph_error(r->graph); p++) {
    const spread_part *part = &s->parts[p];
    pop_vertex v = add_vertex(r, set, part->tile, type, spread_slice(part, matrix),
                              spread_slice(part, flat), r->how.update);
    if (scaled) pop_graph_connect(r->graph, v, "scale", pop_tensor_flatten(r->how.scale));
  }
}

/* The identity element of the operation, in the tile's format. */
static uint32_t identity_of(pop_reduce_op op, pop_type type)
{
  enum { ONE, LEAST, MOST };
  static const struct {
    pop_type type;
    uint32_t bits[3];
  } rows[] = {{POP_FLOAT, {0x3f800000, 0xff800000, 0x7f800000}},
              {POP_HALF, {0x3c00, 0xfc00, 0x7c00}},
              {POP_INT, {1, 0x80000000, 0x7fffffff}},
              {POP_UNSIGNED_INT, {1, 0, 0xffffffff}},
              {POP_BOOL, {1, 0, 1}}};
  const uint32_t *bits = NULL;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (rows[i].type == type) bits = rows[i].bits;
  assert(bits && "a type that the vertex has");
  switch (op) {
  case POP_REDUCE_MUL:
  case POP_REDUCE_LOGICAL_AND:
    return bits[ONE];
  case POP_REDUCE_MAX:
  case POP_REDUCE_LOG_ADD:
    return bits[LEAST];
  case POP_REDUCE_MIN:
    return bits[MOST];
  default:
    return 0;
  }
}

/* A column of identity elements, for a reduction of no elements. */
static pop_tensor identities(const reduction *r, size_t outs)
{
  uint32_t bits = identity_of(r->how.op, r->type); /* its low bytes come first */
  pop_tensor one = pop_graph_add_constant(r->graph, r->type, NULL, 0, &bits, r->name);
  pop_graph_set_tile_mapping(r->graph, one, 0);
  return poplibs_broadcast(call, one, (size_t[]){outs, 1}, 2);
}

/* The blocks for the first of two compute sets; 0 pieces if one compute set is best. Blocks of
 * what lies on a tile are taken if they are less work for the busiest tile than equal blocks. An
 * element that has to come counts as much as one that is reduced. SECOND_SET is the cost of a
 * second compute set and its exchange. */
static reduce_blocks find_blocks(const reduction *r, pop_tensor matrix, const spread *s)
{
  enum { SECOND_SET = 128 };
  size_t outs = pop_tensor_dim(matrix, 0), length = pop_tensor_dim(matrix, 1), most = 0;
  size_t tiles = pop_graph_num_tiles(r->graph);
  if (pop_graph_error(r->graph) || outs == 0) return (reduce_blocks){0};
  reduce_cut c = reduce_find_cut(outs, length, tiles, SECOND_SET);
  bool is_cut = c.pieces > 1 || is_imbalanced(r, s, outs, length);
  reduce_blocks own = reduce_find_own(r->graph, matrix, &most);
  if (own.pieces && !is_imbalanced(r, s, outs, own.pieces)) {
    size_t in_place = is_cut ? 0 : count_in_place(&own, s, outs);
    size_t of_cut = divide_up(outs, c.outs) * divide_up(length, c.pieces);
    double comes = 1 - (double)in_place / ((double)outs * (double)length);
    double cut_cost = (double)of_cut * (1 + comes) + (is_cut ? SECOND_SET : 0);
    double own_cost = (double)(most + SECOND_SET + 2 * divide_up(outs, tiles) * own.pieces);
    if (own_cost < cut_cost) return own;
  }
  free(own.blocks);
  return is_cut ? blocks_of_cut(r, matrix, c) : (reduce_blocks){0};
}

/* Adds the one or two compute sets. */
static void reduce_matrix(reduction *r, pop_tensor matrix, pop_tensor out)
{
  pop_tensor flat = pop_tensor_flatten(out);
  if (pop_tensor_dim(matrix, 1) == 0) matrix = identities(r, pop_tensor_dim(matrix, 0));
  spread s = spread_of(r->graph, call, flat);
  reduce_blocks b = find_blocks(r, matrix, &s);
  if (b.pieces) {
    matrix = reduce_to_pieces(r, matrix, &b);
    if (r->how.op == POP_REDUCE_SQUARE_ADD) r->how.op = POP_REDUCE_ADD;
  }
  free(b.blocks);
  pop_compute_set set = r->sets[r->num_sets++] = pop_graph_add_compute_set(r->graph, r->name);
  if (!pop_graph_error(r->graph)) reduce_rows(r, &s, set, matrix, flat);
  spread_free(&s);
}

static bool is_real(pop_type type)
{
  return type == POP_HALF || type == POP_FLOAT;
}

/* The type of the blocks' results. Sums and products of halves are floats, because halves would
 * round them and have too small a range. A minimum or maximum is one of the elements, so it
 * keeps their type. */
static pop_type type_between(const reduction *r)
{
  bool makes_new = r->how.op != POP_REDUCE_MIN && r->how.op != POP_REDUCE_MAX;
  return r->type == POP_HALF && makes_new ? POP_FLOAT : r->type;
}

static bool check_how(const reduction *r, bool has_out)
{
  if (r->how.op >= POP_REDUCE_COUNT) {
    poplibs_fail(r->graph, POP_ERROR_INVALID_ARGUMENT,
                 "%s: operation %u is none: they are from 0 (%s) to %u", call, (unsigned)r->how.op,
                 op_names[0], POP_REDUCE_COUNT - 1);
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
      r->graph, call, vertex_type(r, scaled, r->how.op, r->type, r->result),
      scaled ? pop_arena_printf(r->graph->top->arena, "%s with a scale", op) : op, r->type);
}

/* Vertices write `out` while they read the operand and the scale, so these are copied first if they
 * share elements with it. Compute sets alone cannot copy: false, and an error. */
static bool take_apart(reduction *r, pop_tensor *matrix, pop_tensor out,
                       const pop_program *sequence)
{
  pop_tensor *scale = &r->how.scale;
  /* A reduction over no dimensions reads each element before it writes it. */
  bool in_place = pop_tensor_equal(pop_tensor_flatten(*matrix), pop_tensor_flatten(out));
  if (sequence) {
    if (!in_place) *matrix = poplibs_apart(r->graph, *matrix, out, *sequence, r->name);
    if (scale->index) *scale = poplibs_apart(r->graph, *scale, out, *sequence, r->name);
    return true;
  }
  if ((in_place || !pop_tensor_intersects_with(*matrix, out)) &&
      !pop_tensor_intersects_with(*scale, out))
    return true;
  poplibs_fail(r->graph, POP_ERROR_TENSOR,
               "%s: the output shares elements with the operand or the scale, which compute sets "
               "cannot copy first; give a sequence",
               call);
  return false;
}

pop_tensor pop_popops_reduce(pop_graph *graph, pop_tensor a, const size_t *dimensions, size_t count,
                             pop_reduction how, pop_tensor out, pop_program sequence,
                             pop_compute_set *compute_sets, size_t *num_sets, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){a}, 1);
  pop_tensor none = {graph->top, 0}, matrix;
  size_t shape[GRAPH_MAX_RANK], rank;
  if (num_sets) *num_sets = 0;
  if (pop_graph_error(graph)) return none;
  reduction r = {.graph = graph, .type = pop_tensor_element_type(a), .how = how, .name = name};
  r.between = type_between(&r);
  r.result = r.type;
  if (out.index && is_real(r.type) && is_real(pop_tensor_element_type(out)))
    r.result = pop_tensor_element_type(out);
  if (!check_how(&r, out.index != 0) ||
      !as_matrix(graph, a, dimensions, count, &matrix, shape, &rank))
    return none;
  bool is_new = !out.index;
  if (!is_new && !take_apart(&r, &matrix, out, compute_sets ? NULL : &sequence)) return none;
  out = poplibs_result(graph, call, out, r.result, shape, rank, NULL, 0, name);
  if (!out.index) return none;
  /* Vertices may read `out` (how.update). WriteUndef says that a new one is not live before. */
  if (is_new && !compute_sets)
    pop_sequence_add(sequence, pop_program_write_undef(pop_tensor_flatten(out), name));
  reduce_matrix(&r, matrix, out);
  for (size_t i = 0; i < r.num_sets; i++) {
    if (compute_sets)
      compute_sets[i] = r.sets[i];
    else
      pop_sequence_add(sequence, pop_program_execute(graph, r.sets[i], name));
  }
  if (num_sets) *num_sets = r.num_sets;
  return pop_graph_error(graph) ? none : out;
}
