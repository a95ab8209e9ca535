/* Parts of tensors by numbers that the device has: populus/popops_slice.h.
 *
 * The tensor is seen as a table: the sliced dimension is that of its rows, all others together are its columns. Each
 * tile has a vertex for its columns, all rows of them. */
#include "graph/graph.h"
#include "poplibs/host/spread.h"

#include <populus/popops.h>
#include <populus/popops_slice.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */

/* [rows, columns] */
static pop_tensor as_table(pop_tensor t, size_t dim)
{
  pop_tensor rows_first = pop_tensor_dim_roll(t, dim, 0);
  return pop_tensor_flatten_partial(rows_first, 1, pop_tensor_rank(t));
}

/* Many slices, [n, …] with `dim` of each in its place: [n * size, columns]. */
static pop_tensor as_slices(pop_tensor s, size_t dim)
{
  pop_tensor rows_first = pop_tensor_dim_roll(s, dim + 1, 1);
  return pop_tensor_flatten_partial(pop_tensor_flatten_partial(rows_first, 2, pop_tensor_rank(s)),
                                    0, 2);
}

enum { NO_TILE = -1, SEVERAL_TILES = -2 };

typedef struct ownership {
  int64_t *tiles; /* of each column */
  size_t columns;
} ownership;

static void note_owner(void *context, size_t tile, size_t begin, size_t end)
{
  ownership *o = context;
  for (size_t i = begin; i < end; i++) {
    int64_t *owner = &o->tiles[i % o->columns];
    if (tile == SIZE_MAX || (*owner != NO_TILE && *owner != (int64_t)tile))
      *owner = SEVERAL_TILES;
    else
      *owner = (int64_t)tile;
  }
}

/* Which columns are whose: a spread of a row. Columns on several tiles are shared out evenly. */
static spread columns_of_tiles(pop_graph *graph, pop_tensor table)
{
  ownership o = {NULL, pop_tensor_dim(table, 1)};
  size_t num_tiles = graph_tile_limit(graph), shared = 0, next = 0;
  o.tiles = pop_xcalloc(o.columns + 1, sizeof *o.tiles);
  for (size_t c = 0; c < o.columns; c++) o.tiles[c] = NO_TILE;
  pop_graph_visit_tile_mapping(graph, pop_tensor_flatten(table), note_owner, &o);
  for (size_t c = 0; c < o.columns; c++) shared += o.tiles[c] < 0;
  spread s = {pop_xcalloc(num_tiles + 1, sizeof *s.parts), 0};
  size_t available = pop_graph_num_tiles(graph);
  for (size_t c = 0; c < o.columns; c++) {
    size_t tile = o.tiles[c] < 0 ? next++ * available / shared : (size_t)o.tiles[c];
    spread_part *part = &s.parts[tile];
    part->tile = tile;
    part->num_elements++;
    if (part->count && part->intervals[part->count - 1].end == c)
      part->intervals[part->count - 1].end = c + 1;
    else
      pop_push(part->intervals, part->count, part->capacity, ((pop_interval){c, c + 1}));
  }
  free(o.tiles);
  for (size_t i = 0; i < num_tiles; i++)
    if (s.parts[i].count) s.parts[s.count++] = s.parts[i];
  return s;
}

/* Those columns of a table, row by row. */
static pop_tensor columns(const spread_part *part, pop_tensor table)
{
  pop_tensor *pieces = pop_xcalloc(part->count, sizeof *pieces);
  for (size_t i = 0; i < part->count; i++)
    pieces[i] = pop_tensor_slice(table, part->intervals[i].begin, part->intervals[i].end, 1);
  pop_tensor result = pop_tensor_flatten(pop_concat(pieces, part->count, 1));
  free(pieces);
  return result;
}

/* ---- checks ---- */

static bool check_part(pop_graph *graph, const char *call, pop_tensor t, pop_tensor offsets,
                       size_t dim, size_t size)
{
  if (pop_graph_error(graph)) return false;
  if (dim >= pop_tensor_rank(t)) {
    poplibs_fail(graph, POP_ERROR_INDEX, "%s: dimension %zu of a tensor of rank %zu", call, dim,
                 pop_tensor_rank(t));
    return false;
  }
  if (size == 0 || size > pop_tensor_dim(t, dim)) {
    poplibs_fail(graph, POP_ERROR_INDEX,
                 "%s: slices of %zu elements of dimension %zu, which has %zu", call, size, dim,
                 pop_tensor_dim(t, dim));
    return false;
  }
  if (pop_tensor_element_type(offsets) != POP_UNSIGNED_INT) {
    poplibs_fail(graph, POP_ERROR_TYPE, "%s: offsets are of type unsigned int, not %s", call,
                 pop_type_name(pop_tensor_element_type(offsets)));
    return false;
  }
  return poplibs_check_vertex_type(graph, call, "popops::Slice<unsigned int>", "slice",
                                   pop_tensor_element_type(t));
}

/* The same shape but for the first dimension and `dim`? */
static bool check_slices(pop_graph *graph, const char *call, pop_tensor t, pop_tensor s,
                         size_t count, size_t dim, size_t size)
{
  size_t rank = pop_tensor_rank(t);
  bool good = pop_tensor_rank(s) == rank + 1 && pop_tensor_dim(s, 0) == count &&
              pop_tensor_element_type(s) == pop_tensor_element_type(t);
  for (size_t d = 0; good && d < rank; d++)
    good = pop_tensor_dim(s, d + 1) == (d == dim ? size : pop_tensor_dim(t, d));
  if (!good)
    poplibs_fail(graph, POP_ERROR_TENSOR,
                 "%s: the slices must be of the tensor's type, %s, and of its shape with %zu in "
                 "dimension %zu; there are to be %zu of them",
                 call, pop_type_name(pop_tensor_element_type(t)), size, dim, count);
  return good;
}

static pop_type bits_of(pop_type type)
{
  static const pop_type bits[] = {[1] = POP_UNSIGNED_CHAR,
                                  [2] = POP_UNSIGNED_SHORT,
                                  [4] = POP_UNSIGNED_INT,
                                  [8] = POP_UNSIGNED_LONGLONG};
  return bits[pop_type_bytes(type)];
}

/* ---- vertices ---- */

typedef struct access {
  pop_graph *graph;
  pop_tensor offsets; /* flat */
  size_t dim, size;
  bool wrap;
  pop_program sequence;
  const char *name;
} access;

/* Fields that all of the vertices have. */
static void connect_common(const access *a, pop_vertex v, pop_tensor table, const spread_part *part)
{
  pop_graph_connect(a->graph, v, "table", columns(part, table));
  pop_graph_connect(a->graph, v, "offsets", a->offsets);
  pop_graph_set_field_int(a->graph, v, "rows", (int64_t)pop_tensor_dim(table, 0));
  pop_graph_set_field_int(a->graph, v, "size", (int64_t)a->size);
}

/* `out` is null for a variable of its own, which lies where the columns are. */
static pop_tensor slices(const access *a, const char *call, pop_tensor t, pop_tensor out)
{
  pop_graph *graph = a->graph;
  pop_type type = pop_tensor_element_type(t), bits = bits_of(type);
  size_t rank = pop_tensor_rank(t), shape[GRAPH_MAX_RANK + 1],
         count = pop_tensor_num_elements(a->offsets);
  shape[0] = count;
  memcpy(shape + 1, pop_tensor_shape(t), rank * sizeof *shape);
  shape[a->dim + 1] = a->size;
  bool is_new = out.index == 0;
  if (is_new) out = pop_graph_add_variable(graph, type, shape, rank + 1, a->name);
  if (!is_new && !check_slices(graph, call, t, out, count, a->dim, a->size)) return out;
  pop_tensor table = as_table(pop_tensor_reinterpret(t, bits), a->dim);
  pop_tensor lines = as_slices(pop_tensor_reinterpret(out, bits), a->dim);
  spread s = columns_of_tiles(graph, table);
  pop_compute_set set = pop_graph_add_compute_set(graph, a->name);
  for (size_t p = 0; p < s.count && !pop_graph_error(graph); p++) {
    pop_tensor part = columns(&s.parts[p], lines);
    if (is_new) pop_graph_set_tile_mapping(graph, part, s.parts[p].tile);
    pop_vertex v =
        poplibs_add_vertex(graph, set, s.parts[p].tile, "popops::Slice<%s>", pop_type_name(bits));
    connect_common(a, v, table, &s.parts[p]);
    pop_graph_set_field_int(graph, v, "wrap", a->wrap);
    pop_graph_connect(graph, v, "out", part);
  }
  spread_free(&s);
  pop_sequence_add(a->sequence, pop_program_execute(graph, set, a->name));
  return out;
}

static void update(const access *a, const char *type_name, bool as_bits, pop_tensor t, pop_tensor s,
                   pop_tensor scale)
{
  pop_graph *graph = a->graph;
  pop_type type = as_bits ? bits_of(pop_tensor_element_type(t)) : pop_tensor_element_type(t);
  pop_tensor table = as_table(pop_tensor_reinterpret(t, type), a->dim);
  pop_tensor lines = as_slices(pop_tensor_reinterpret(s, type), a->dim);
  spread tiles = columns_of_tiles(graph, table);
  pop_compute_set set = pop_graph_add_compute_set(graph, a->name);
  for (size_t p = 0; p < tiles.count && !pop_graph_error(graph); p++) {
    pop_vertex v = poplibs_add_vertex(graph, set, tiles.parts[p].tile, "popops::%s%s>", type_name,
                                      pop_type_name(type));
    connect_common(a, v, table, &tiles.parts[p]);
    pop_graph_connect(graph, v, "slices", columns(&tiles.parts[p], lines));
    if (as_bits)
      pop_graph_set_field_int(graph, v, "wrap", a->wrap);
    else
      pop_graph_connect(graph, v, "scale", pop_tensor_flatten(scale));
  }
  spread_free(&tiles);
  pop_sequence_add(a->sequence, pop_program_execute(graph, set, a->name));
}

/* ---- one slice ---- */

static bool check_dims(pop_graph *graph, const char *call, pop_tensor t, pop_tensor offset,
                       const size_t *dims, const size_t *sizes, size_t count)
{
  if (pop_graph_error(graph)) return false;
  if (count && (!dims || !sizes)) {
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT, "%s: the address of the %s is NULL", call,
                 dims ? "sizes" : "dimensions");
    return false;
  }
  if (count == 0 || pop_tensor_num_elements(offset) != count) {
    poplibs_fail(graph, POP_ERROR_TENSOR, "%s: %zu offsets for %zu dimensions, at least 1", call,
                 pop_tensor_num_elements(offset), count);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    if (!check_part(graph, call, t, offset, dims[i], sizes[i])) return false;
    for (size_t k = 0; k < i; k++) {
      if (dims[k] != dims[i]) continue;
      poplibs_fail(graph, POP_ERROR_INDEX, "%s: dimension %zu is there twice", call, dims[i]);
      return false;
    }
  }
  return true;
}

static access one_slice(pop_graph *graph, pop_tensor offset, size_t i, size_t dim, size_t size,
                        pop_program sequence, const char *name)
{
  return (access){
      graph, pop_tensor_slice(pop_tensor_flatten(offset), i, i + 1, 0), dim, size, true, sequence,
      name};
}

pop_tensor pop_popops_dynamic_slice(pop_graph *graph, pop_tensor t, pop_tensor offset,
                                    const size_t *dims, const size_t *sizes, size_t count,
                                    pop_tensor out, pop_program sequence, const char *name)
{
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  static const char call[] = "pop_popops_dynamic_slice";
  pop_tensor none = {graph->top, 0};
  if (!check_dims(graph, call, t, offset, dims, sizes, count)) return none;
  for (size_t i = 0; i < count && !pop_graph_error(graph); i++) {
    access a = one_slice(graph, offset, i, dims[i], sizes[i], sequence, name);
    pop_tensor last = i + 1 == count && out.index ? pop_tensor_expand(out, 0) : none;
    t = pop_tensor_index(slices(&a, call, t, last), 0);
  }
  return pop_graph_error(graph) ? none : t;
}

void pop_popops_dynamic_update(pop_graph *graph, pop_tensor t, pop_tensor s, pop_tensor offset,
                               const size_t *dims, const size_t *sizes, size_t count,
                               pop_program sequence, const char *name)
{
  if (!graph_lives(graph, __func__)) return;
  static const char call[] = "pop_popops_dynamic_update";
  if (!check_dims(graph, call, t, offset, dims, sizes, count)) return;
  /* With more than one dimension: the part of the first, of which the others are updated, is put back. */
  access a = one_slice(graph, offset, 0, dims[0], sizes[0], sequence, name);
  pop_tensor part = s;
  if (count > 1) {
    pop_tensor none = {graph->top, 0};
    part = pop_tensor_index(slices(&a, call, t, none), 0);
    pop_popops_dynamic_update(graph, part, s,
                              pop_tensor_slice(pop_tensor_flatten(offset), 1, count, 0), dims + 1,
                              sizes + 1, count - 1, sequence, name);
  }
  part = pop_tensor_expand(part, 0);
  if (!pop_graph_error(graph) && check_slices(graph, call, t, part, 1, dims[0], sizes[0]))
    update(&a, "Update<", true, t, part, (pop_tensor){graph->top, 0});
}

/* ---- many slices ---- */

pop_tensor pop_popops_multi_slice(pop_graph *graph, pop_tensor t, pop_tensor offsets, size_t dim,
                                  size_t size, pop_tensor out, pop_program sequence,
                                  const char *name)
{
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  static const char call[] = "pop_popops_multi_slice";
  if (!check_part(graph, call, t, offsets, dim, size)) return (pop_tensor){graph->top, 0};
  access a = {graph, pop_tensor_flatten(offsets), dim, size, false, sequence, name};
  return slices(&a, call, t, out);
}

void pop_popops_multi_update(pop_graph *graph, pop_update_op op, pop_tensor t, pop_tensor s,
                             pop_tensor offsets, size_t dim, size_t size, pop_tensor scale,
                             pop_program sequence, const char *name)
{
  if (!graph_lives(graph, __func__)) return;
  static const char call[] = "pop_popops_multi_update";
  static const char *const types[POP_UPDATE_COUNT] = {"Update<", "UpdateBy<popops::UpdateOp::ADD,",
                                                      "UpdateBy<popops::UpdateOp::MAX,",
                                                      "UpdateBy<popops::UpdateOp::MUL,"};
  static const char *const names[POP_UPDATE_COUNT] = {"update", "ADD update", "MAX update",
                                                      "MUL update"};
  if (op >= POP_UPDATE_COUNT) {
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT,
                 "%s: operation %u is none: they are from 0 (POP_UPDATE_SET) to %u", call,
                 (unsigned)op, POP_UPDATE_COUNT - 1);
    return;
  }
  if (!check_part(graph, call, t, offsets, dim, size) ||
      !check_slices(graph, call, t, s, pop_tensor_num_elements(offsets), dim, size))
    return;
  pop_type type = pop_tensor_element_type(t);
  bool set = op == POP_UPDATE_SET, scaled = scale.index != 0;
  if (scaled && (op != POP_UPDATE_ADD || pop_tensor_num_elements(scale) != 1 ||
                 pop_tensor_element_type(scale) != type)) {
    poplibs_fail(graph, POP_ERROR_TENSOR,
                 "%s: a scale is one element of type %s, and only sums have one", call,
                 pop_type_name(type));
    return;
  }
  if (!set && !poplibs_check_vertex_type(graph, call,
                                         pop_arena_printf(graph->top->arena, "popops::%s%s>",
                                                          types[op], pop_type_name(type)),
                                         names[op], type))
    return;
  if (!set && !scaled) {
    const uint32_t one = type == POP_FLOAT ? 0x3f800000 : type == POP_HALF ? 0x3c00 : 1;
    scale = pop_graph_add_constant(graph, type, NULL, 0, &one, name);
    pop_graph_set_tile_mapping(graph, scale, 0);
  }
  access a = {graph, pop_tensor_flatten(offsets), dim, size, false, sequence, name};
  update(&a, types[op], set, t, s, scale);
}

pop_tensor pop_popops_gather(pop_graph *graph, pop_tensor t, pop_tensor indices, size_t axis,
                             pop_program sequence, const char *name)
{
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  pop_tensor none = {graph->top, 0};
  pop_tensor found = pop_popops_multi_slice(graph, t, indices, axis, 1, none, sequence, name);
  if (!found.index) return none;
  found = pop_tensor_squeeze_dims(found, (size_t[]){axis + 1}, 1);
  found = pop_tensor_dim_roll(found, 0, axis);
  return pop_tensor_reshape_partial(found, axis, axis + 1, pop_tensor_shape(indices),
                                    pop_tensor_rank(indices));
}

pop_tensor pop_popops_create_sliceable(pop_graph *graph, pop_type type, const size_t *shape,
                                       size_t rank, const size_t *dims, size_t count,
                                       const char *name)
{
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  pop_tensor t = pop_graph_add_variable(graph, type, shape, rank, name);
  if (pop_graph_error(graph)) return t;
  size_t to[GRAPH_MAX_RANK];
  for (size_t i = 0; i < count; i++) to[i] = i;
  pop_tensor rows = pop_tensor_dim_shuffle_partial(t, dims, to, count);
  rows = pop_tensor_flatten_partial(pop_tensor_flatten_partial(rows, count, rank), 0, count);
  if (pop_graph_error(graph)) return t;
  if (count == 0) rows = pop_tensor_expand(rows, 0);
  size_t num_columns = pop_tensor_dim(rows, 1), tiles = pop_graph_num_tiles(graph);
  size_t each = (num_columns + tiles - 1) / tiles;
  for (size_t c = 0; c < num_columns; c += each) {
    size_t end = c + each < num_columns ? c + each : num_columns;
    pop_graph_set_tile_mapping(graph, pop_tensor_slice(rows, c, end, 1), c / each);
  }
  return t;
}
