/* Parts of large operands at places that are known on the device only: gather, the dynamic slices,
 * and scatters of large updates that popops can combine. popops does these by vectors of indices.
 * It reads each part from where it lies, so no tile has a copy of the operand. */
#include "models/range.h"

#include <inttypes.h>
#include <populus/popops.h>
#include <populus/popops_slice.h>
#include <stdlib.h>

/* An operation's windows, in the terms of populus/popops_slice.h. `batch` and `indices_batch`:
 * dimensions of the operand and of the indices that are paired. */
typedef struct windows {
  const value *operand, *indices; /* NULL for dynamic slices: start indices are operands */
  int64_t vector_dim;
  const int64_t *map, *window, *dropped, *batch, *indices_batch;
  size_t num_map, num_window, num_dropped, num_batch;
  const int64_t *sizes; /* of dimensions of the operand */
} windows;

/* What gather and scatter call the same dimension numbers. */
typedef struct words {
  const char *numbers, *map, *window, *dropped, *batch, *indices_batch;
} words;

static windows describe_windows(const lowering *l, const operation *op, const words *by)
{
  const attribute *dn = op_attribute(op, by->numbers);
  windows w = {.operand = op->operands[0], .indices = op->operands[1]};
  w.vector_dim = dict_int(dn, "index_vector_dim", 0);
  w.map = dict_int_list(l->m, dn, by->map, &w.num_map);
  w.window = dict_int_list(l->m, dn, by->window, &w.num_window);
  w.dropped = dict_int_list(l->m, dn, by->dropped, &w.num_dropped);
  w.batch = dict_int_list(l->m, dn, by->batch, &w.num_batch);
  w.indices_batch = dict_int_list(l->m, dn, by->indices_batch, &w.num_batch);
  return w;
}

static windows of_gather(const lowering *l, const operation *op)
{
  static const words by = {"dimension_numbers",     "start_index_map",
                           "offset_dims",           "collapsed_slice_dims",
                           "operand_batching_dims", "start_indices_batching_dims"};
  windows w = describe_windows(l, op, &by);
  size_t num_sizes;
  w.sizes = op_int_list(l->m, op, "slice_sizes", &num_sizes);
  return w;
}

static windows of_slice(const lowering *l, const operation *op)
{
  windows w = {.operand = op->operands[0]};
  w.num_map = w.operand->type->rank;
  int64_t *all = pop_arena_alloc(l->m->arena, (w.num_map + 1) * sizeof *all);
  for (size_t d = 0; d < w.num_map; ++d) all[d] = (int64_t)d;
  w.map = w.window = all;
  w.num_window = w.num_map;
  w.sizes = op->code == OP_DYNAMIC_SLICE ? op->results[0]->type->dims : op->operands[1]->type->dims;
  return w;
}

static windows of_scatter(const lowering *l, const operation *op)
{
  static const words by = {"scatter_dimension_numbers", "scatter_dims_to_operand_dims",
                           "update_window_dims",        "inserted_window_dims",
                           "input_batching_dims",       "scatter_indices_batching_dims"};
  windows w = describe_windows(l, op, &by);
  const model_type *updates = op->operands[2]->type;
  int64_t *sizes = pop_arena_alloc(l->m->arena, (w.operand->type->rank + 1) * sizeof *sizes);
  size_t next = 0;
  for (uint32_t d = 0; d < w.operand->type->rank; ++d)
    sizes[d] = ints_have(w.dropped, w.num_dropped, d) || ints_have(w.batch, w.num_batch, d)
                   ? 1
                   : updates->dims[w.window[next++]];
  w.sizes = sizes;
  return w;
}

/* False if the window is as long as the operand's dimension: it then begins at 0, whatever the
 * index. */
static bool moves(const windows *w, size_t k)
{
  return w->sizes[w->map[k]] != w->operand->type->dims[w->map[k]];
}

static size_t num_moving(const windows *w)
{
  size_t count = w->num_batch;
  for (size_t k = 0; k < w->num_map; ++k) count += moves(w, k);
  return count;
}

/* A bit for each dimension of the operand that is indexed on the device. These dimensions form the
 * rows of the table. */
static uint64_t rows_of(const windows *w)
{
  uint64_t rows = 0;
  for (size_t k = 0; k < w->num_batch; ++k) rows |= (uint64_t)1 << w->batch[k];
  for (size_t k = 0; k < w->num_map; ++k)
    if (moves(w, k)) rows |= (uint64_t)1 << w->map[k];
  return rows;
}

/* ---- indices ---- */

/* Converts indices to 32 bits. Values out of that range are out of range for every operand, too. */
static pop_tensor as_ints(lowering *l, const operation *op, pop_tensor t, element_type e)
{
  if (e == ELEMENT_I32 || e == ELEMENT_U32) return t;
  bool long_signed = element_bits(e) > 32 && element_is_signed(e), is_long = element_bits(e) > 32;
  return range_map(l, op, t, e, ELEMENT_I32,
                   pop_arena_printf(l->m->arena,
                                    "const %s k = hlo_load_%s(in0[i]);\n    out0[i] = %s%s(int)k;",
                                    element_infos[e].value, element_infos[e].suffix,
                                    long_signed ? "k < -0x7fffffff ? -0x7fffffff : " : "",
                                    is_long ? "k > 0x7fffffff ? 0x7fffffff : " : ""));
}

/* Clamps the start indices of an update so that all of it is inside. popops clamps only for
 * gathers. */
static pop_tensor moved_in(lowering *l, const operation *op, const windows *w, pop_tensor t)
{
  bool is_signed = pop_tensor_element_type(t) == POP_INT;
  text most = {0};
  for (size_t k = 0; k < w->num_map; ++k)
    text_add(&most, "%s%" PRId64, k ? ", " : "", w->operand->type->dims[k] - w->sizes[k]);
  const char *body = pop_arena_printf(
      l->m->arena,
      "static const int most[] = {%s};\n    const int k = most[base + i];\n"
      "    out0[i] = in0[i] > (%s)k ? k : %s(int)in0[i];",
      most.data, is_signed ? "int" : "unsigned", is_signed ? "in0[i] < 0 ? 0 : " : "");
  text_free(&most);
  return range_map(l, op, t, is_signed ? ELEMENT_I32 : ELEMENT_U32, ELEMENT_I32, body);
}

/* A tensor of this shape whose elements are their own index in dimension d. */
static pop_tensor numbers(lowering *l, const size_t *shape, size_t rank, size_t d, pop_type type)
{
  size_t count = shape[d], all = 1;
  int32_t *values = pop_xcalloc(count + 1, sizeof *values);
  for (size_t i = 0; i < count; ++i) values[i] = (int32_t)i;
  pop_tensor t = pop_graph_add_constant(l->graph, type, &count, 1, values, "batch");
  pop_graph_set_tile_mapping(l->graph, t, l->next_tile);
  free(values);
  for (size_t i = rank; i-- > d + 1;) all *= shape[i];
  t = pop_tensor_broadcast(pop_tensor_reshape(t, (size_t[]){count, 1}, 2), all, 1);
  t = pop_tensor_flatten(t);
  for (size_t i = 0; i < d; ++i) t = pop_tensor_broadcast(t, shape[i], 0);
  return pop_tensor_reshape(t, shape, rank);
}

/* [vectors…, indices of one vector]: first those of the batch, then those that move. `dims` gets
 * the operand's dimension of each. */
static pop_tensor vectors_of(lowering *l, const operation *op, const windows *w, size_t *dims)
{
  pop_tensor parts[2 * MODEL_MAX_RANK] = {{0}}, all = {0};
  size_t count = 0, shape[MODEL_MAX_RANK + 1] = {0}, rank = 0;
  size_t first = op->num_operands - w->num_map; /* of start indices */
  const model_type *type = w->indices ? w->indices->type : op->operands[first]->type;
  if (w->indices) {
    all = as_ints(l, op, lowering_tensor(l, w->indices), type->element);
    if (w->vector_dim == type->rank) {
      for (size_t d = 0; d < type->rank; ++d) shape[d] = pop_tensor_dim(all, d);
      shape[type->rank] = 1;
      all = pop_tensor_reshape(all, shape, type->rank + 1);
    } else {
      all = pop_tensor_dim_roll(all, (size_t)w->vector_dim, type->rank - 1);
    }
  } else {
    for (size_t k = 0; k < w->num_map; ++k)
      parts[k] = pop_tensor_flatten(lowering_tensor(l, op->operands[first + k]));
    all = as_ints(l, op, pop_concat(parts, w->num_map, 0), type->element);
    if (op->code == OP_DYNAMIC_UPDATE_SLICE) all = moved_in(l, op, w, all);
  }
  if (l->error) return all;
  rank = pop_tensor_rank(all);
  for (size_t d = 0; d + 1 < rank; ++d) shape[d] = pop_tensor_dim(all, d);
  shape[rank - 1] = 1;
  for (size_t k = 0; k < w->num_batch; ++k) {
    size_t d = (size_t)w->indices_batch[k];
    dims[count] = (size_t)w->batch[k];
    parts[count++] = numbers(l, shape, rank, d > (size_t)w->vector_dim ? d - 1 : d,
                             pop_tensor_element_type(all));
  }
  for (size_t k = 0; k < w->num_map; ++k) {
    if (!moves(w, k)) continue;
    dims[count] = (size_t)w->map[k];
    parts[count++] = pop_tensor_slice(all, k, k + 1, rank - 1);
  }
  return pop_concat(parts, count, rank - 1);
}

static void to_sizes(const int64_t *values, size_t count, size_t *sizes)
{
  for (size_t i = 0; i < count; ++i) sizes[i] = (size_t)values[i];
}

/* A pop_windows with the lists that it points to. */
typedef struct window_description {
  pop_windows how;
  size_t dims[2 * MODEL_MAX_RANK], window[MODEL_MAX_RANK], dropped[2 * MODEL_MAX_RANK];
} window_description;

static void describe(const windows *w, pop_tensor vectors, window_description *d)
{
  to_sizes(w->window, w->num_window, d->window);
  to_sizes(w->dropped, w->num_dropped, d->dropped);
  to_sizes(w->batch, w->num_batch, d->dropped + w->num_dropped);
  d->how = (pop_windows){.vector_dim = pop_tensor_rank(vectors) - 1,
                         .operand_dims = d->dims,
                         .num_operand_dims = num_moving(w),
                         .window_dims = d->window,
                         .num_window_dims = w->num_window,
                         .dropped_dims = d->dropped,
                         .num_dropped_dims = w->num_dropped + w->num_batch};
}

/* How many columns lie on one tile: enough to be worth a message. */
static size_t columns_per_step(const lowering *l, element_type e, size_t columns)
{
  enum { MESSAGE_BYTES = 32 };
  size_t each = divide_up(columns, l->num_tiles), least = MESSAGE_BYTES / element_bytes(e);
  if (each >= least) return each;
  return least < columns ? least : columns;
}

/* ---- what scatters do ---- */

/* Finds what the scatter does: SET to the update, or ADD or MUL with it. False if it is none of
 * these. */
static bool update_op(const operation *op, pop_update_op *how)
{
  const block *b = &op->regions[0];
  const value *result = b->last->operands[0];
  element_type e = op->operands[0]->type->element;
  *how = POP_UPDATE_SET;
  if (result == b->arguments[1]) return true;
  const operation *by = result->op;
  bool both = by && by == b->first && by->num_operands == 2 &&
              ((by->operands[0] == b->arguments[0] && by->operands[1] == b->arguments[1]) ||
               (by->operands[0] == b->arguments[1] && by->operands[1] == b->arguments[0]));
  if (!both || (by->code != OP_ADD && by->code != OP_MULTIPLY)) return false;
  *how = by->code == OP_ADD ? POP_UPDATE_ADD : POP_UPDATE_MUL;
  return e == ELEMENT_F32 || e == ELEMENT_F16 || e == ELEMENT_I32 || e == ELEMENT_U32;
}

static uint64_t batch_places(const windows *w)
{
  uint64_t places = 1;
  for (size_t k = 0; k < w->num_batch; ++k) places *= (uint64_t)w->operand->type->dims[w->batch[k]];
  return w->num_batch ? places : 0;
}

/* popops sees updates with one more dimension in front, that of the vectors, if they have none. */
static bool updates_have_room(const windows *w)
{
  return w->num_window < MODEL_MAX_RANK;
}

static bool scatter_is_planned(const lowering *l, const operation *op)
{
  pop_update_op how;
  if (op->num_operands != 3 || fits_whole(l, op->operands[2]) || !update_op(op, &how)) return false;
  windows w = of_scatter(l, op);
  if (!updates_have_room(&w)) return false;
  if (batch_places(&w) >= l->num_tiles) return false; /* lower_scatter.c divides by batch */
  for (size_t k = 0; k < w.num_map; ++k)              /* else part of an update may be inside */
    if (w.sizes[w.map[k]] != 1) return false;
  return type_elements(op->operands[0]->type) && num_moving(&w) == w.num_map + w.num_batch &&
         w.num_map;
}

/* Bytes of a row of the table. */
static uint64_t columns_bytes(const windows *w)
{
  uint64_t bytes = element_bytes(w->operand->type->element), rows = rows_of(w);
  for (uint32_t d = 0; d < w->operand->type->rank; ++d)
    if (!(rows >> d & 1)) bytes *= (uint64_t)w->operand->type->dims[d];
  return bytes;
}

/* Is a box for each vertex (boxes.c) better than a table for popops? Yes if boxes are small and
 * together at most twice the operand. With a batch also if they fit on the tiles, or if the table's
 * rows are narrow: a vertex then chooses from all rows of few columns. Without a batch, no for an
 * operand that lies as a table already, and for an argument, which can be laid out as one from the
 * start. */
static bool boxes_are_better(const lowering *l, const operation *op, const windows *w)
{
  enum { LARGE_BYTES = 131072, MOST_BYTES = 65536, WIDE_BYTES = 128 };
  if (op->code == OP_DYNAMIC_UPDATE_SLICE) return false;
  bool is_table = l->states[w->operand->number].rows == rows_of(w);
  if (!w->num_batch && (!w->operand->op || is_table)) return false;
  const model_type *type = w->operand->type;
  uint64_t elements = type_elements(op->results[0]->type), most = l->num_tiles * l->num_workers;
  uint64_t each = (elements + most - 1) / most, bytes = box_bytes(l, op, 0, 0, each);
  if (bytes > LARGE_BYTES) return false;
  uint64_t all = bytes * (elements / each);
  uint64_t operand = type_elements(type) * element_bytes(type->element);
  return all <= 2 * operand ||
         (w->num_batch && (all <= l->num_tiles * MOST_BYTES || columns_bytes(w) < WIDE_BYTES));
}

/* ---- the operations ---- */

bool windows_are_planned(const lowering *l, const operation *op)
{
  windows w;
  switch (op->code) {
  case OP_GATHER:
    w = of_gather(l, op);
    break;
  case OP_DYNAMIC_SLICE:
  case OP_DYNAMIC_UPDATE_SLICE:
    w = of_slice(l, op);
    break;
  case OP_SCATTER:
    return scatter_is_planned(l, op);
  default:
    return false;
  }
  if (op->code == OP_DYNAMIC_UPDATE_SLICE &&
      (!type_elements(op->operands[1]->type) || !updates_have_room(&w)))
    return false;
  return !fits_whole(l, w.operand) && type_elements(op->results[0]->type) && num_moving(&w) &&
         !boxes_are_better(l, op, &w);
}

/* A table with a row for each index. Columns, and ranges of rows, are divided between tiles so that
 * all have some. popops combines what it finds in up to 63 such ranges. */
static pop_tensor add_table(lowering *l, element_type e, size_t rows, size_t columns,
                            const char *name)
{
  enum { MOST_PARTS = 63, PART_BYTES = 16384 };
  size_t each = columns_per_step(l, e, columns);
  size_t groups = divide_up(columns, each), count = rows * columns, at = 0;
  size_t parts = divide_up(rows * each * element_bytes(e), PART_BYTES);
  if (parts > l->num_tiles / groups) parts = l->num_tiles / groups;
  if (parts > MOST_PARTS) parts = MOST_PARTS;
  if (parts > rows) parts = rows;
  if (parts < 1) parts = 1;
  pop_tensor flat = pop_graph_add_variable(l->graph, element_infos[e].type, &count, 1, name);
  pop_tensor *bands = pop_xcalloc(parts + groups, sizeof *bands), *blocks = bands + parts;
  for (size_t p = 0; p < parts; ++p) {
    size_t height = (p + 1) * rows / parts - p * rows / parts;
    for (size_t g = 0; g < groups; ++g) {
      size_t width = (g + 1) * each < columns ? each : columns - g * each;
      blocks[g] = pop_tensor_slice(flat, at, at + height * width, 0);
      pop_graph_set_tile_mapping(l->graph, blocks[g], p * groups + g);
      blocks[g] = pop_tensor_reshape(blocks[g], (size_t[]){height, width}, 2);
      at += height * width;
    }
    bands[p] = pop_concat(blocks, groups, 1);
  }
  pop_tensor table = pop_concat(bands, parts, 0);
  free(bands);
  return table;
}

static pop_tensor sliceable(lowering *l, const windows *w, const char *name)
{
  const model_type *type = w->operand->type;
  size_t order[MODEL_MAX_RANK], back[MODEL_MAX_RANK] = {0}, sizes[MODEL_MAX_RANK] = {0};
  size_t next = 0, rows = 1, columns = 1;
  uint64_t is_row = rows_of(w);
  for (int pass = 1; pass >= 0; --pass)
    for (uint32_t d = 0; d < type->rank; ++d)
      if ((is_row >> d & 1) == (uint64_t)pass) order[next++] = d;
  for (size_t i = 0; i < type->rank; ++i) {
    back[order[i]] = i;
    sizes[i] = (size_t)type->dims[order[i]];
    *(is_row >> order[i] & 1 ? &rows : &columns) *= sizes[i];
  }
  pop_tensor t = add_table(l, type->element, rows, columns, name);
  return pop_tensor_dim_shuffle(pop_tensor_reshape(t, sizes, type->rank), back, type->rank);
}

static windows windows_of(const lowering *l, const operation *op)
{
  return op->code == OP_GATHER    ? of_gather(l, op)
         : op->code == OP_SCATTER ? of_scatter(l, op)
                                  : of_slice(l, op);
}

pop_tensor lowering_sliceable(lowering *l, const operation *op, const char *name)
{
  windows w = windows_of(l, op);
  return sliceable(l, &w, name);
}

uint64_t windows_rows(const lowering *l, const operation *op)
{
  windows w = windows_of(l, op);
  return rows_of(&w);
}

/* How many of the vectors' first dimension are processed at a time. A tile has the indices of all
 * of them and, for each, elements of its columns; of all columns if the operand does not lie as a
 * table. */
static size_t vectors_per_step(const lowering *l, const windows *w, pop_tensor vectors,
                               bool is_table)
{
  enum { MOST_BYTES = 131072 };
  size_t columns = 1, rank = pop_tensor_rank(vectors), width = pop_tensor_dim(vectors, rank - 1);
  if (rank < 2) return 1;
  for (uint32_t d = 0; d < w->operand->type->rank; ++d) columns *= (size_t)w->sizes[d];
  element_type e = w->operand->type->element;
  size_t bytes = (is_table ? columns_per_step(l, e, columns) : columns) * element_bytes(e) + 4;
  bytes *= pop_tensor_num_elements(vectors) / width / pop_tensor_dim(vectors, 0);
  return bytes < MOST_BYTES ? MOST_BYTES / bytes : 1;
}

/* The windows' dimension that corresponds to the vectors' first. */
static size_t first_batch_dim(const windows *w)
{
  size_t d = 0;
  while (ints_have(w->window, w->num_window, (int64_t)d)) ++d;
  return d;
}

static pop_tensor gather(lowering *l, const operation *op, const windows *w,
                         const window_description *d, pop_tensor operand, pop_tensor vectors)
{
  size_t sizes[MODEL_MAX_RANK] = {0}, rank = pop_tensor_rank(vectors), count = 0;
  size_t all = rank > 1 ? pop_tensor_dim(vectors, 0) : 1,
         each = vectors_per_step(l, w, vectors, !w->operand->op);
  pop_tensor *parts = pop_xcalloc(all / each + 1, sizeof *parts);
  to_sizes(w->sizes, w->operand->type->rank, sizes);
  for (size_t i = 0; i < all; i += each) {
    size_t end = i + each < all ? i + each : all;
    parts[count++] = pop_popops_gather_windows(
        l->graph, operand, rank > 1 ? pop_tensor_slice(vectors, i, end, 0) : vectors, d->how, sizes,
        l->sequence, lowering_name(l, op));
  }
  pop_tensor t = count == 1 ? parts[0] : pop_concat(parts, count, first_batch_dim(w));
  free(parts);
  return t;
}

static void scatter(lowering *l, const operation *op, const windows *w, const window_description *d,
                    pop_tensor result, pop_tensor vectors, pop_tensor updates)
{
  pop_update_op how = POP_UPDATE_SET;
  if (op->code == OP_SCATTER) update_op(op, &how);
  size_t rank = pop_tensor_rank(vectors), each = vectors_per_step(l, w, vectors, true);
  size_t all = rank > 1 ? pop_tensor_dim(vectors, 0) : 1;
  for (size_t i = 0; i < all; i += each) {
    size_t end = i + each < all ? i + each : all;
    pop_popops_scatter_windows(
        l->graph, how, result, rank > 1 ? pop_tensor_slice(vectors, i, end, 0) : vectors,
        rank > 1 ? pop_tensor_slice(updates, i, end, first_batch_dim(w)) : updates, d->how,
        l->sequence, lowering_name(l, op));
  }
}

/* Is the value calculated in the current block? Values from outside have lower numbers. False for
 * arguments, which stay where they are written. */
static bool is_of_block(const lowering *l, const value *v)
{
  const operation *op = l->block->first;
  while (op && !op->num_results) op = op->next;
  return v->op && op && v->number >= op->results[0]->number;
}

/* Copies the operand to a table unless it lies as one: otherwise popops would send each column to a
 * tile on its own. Later uses read the table, too, if the operand is calculated in this block. For
 * an argument or a value from outside they do not: other paths do not have the copy. */
static pop_tensor as_sliceable_operand(lowering *l, const operation *op, const windows *w)
{
  value_state *s = state_of(l, w->operand);
  pop_tensor from = lowering_tensor(l, w->operand);
  if (l->error || s->kind == STATE_SPLAT || (s->kind == STATE_TENSOR && s->rows == rows_of(w)))
    return from;
  pop_popops_add_codelets(l->graph);
  pop_tensor table = sliceable(l, w, lowering_name(l, op));
  pop_sequence_add(l->sequence, pop_program_copy(from, table, ""));
  if (is_of_block(l, w->operand)) {
    lowering_set_tensor(l, w->operand, table);
    s->changes_in = l->block;
    s->rows = rows_of(w);
  }
  return table;
}

bool windows_prepare_operand(lowering *l, const operation *op)
{
  if (op->code != OP_GATHER && op->code != OP_DYNAMIC_SLICE) return true;
  windows w = windows_of(l, op);
  if (!fits_whole(l, w.operand) && type_elements(op->results[0]->type) && num_moving(&w) &&
      !w.num_batch && is_of_block(l, w.operand))
    as_sliceable_operand(l, op, &w);
  return !l->error;
}

/* May the scatter change the operand in place? Then what a loop carries is not copied in each
 * iteration. */
static bool is_in_place(lowering *l, const windows *w)
{
  const value_state *s = state_of(l, w->operand);
  return s->kind == STATE_TENSOR && s->changes_in == l->block && s->rows == rows_of(w) &&
         s->uses == s->done + 1;
}

bool lower_windows(lowering *l, const operation *op)
{
  windows w = windows_of(l, op);
  window_description d = {0};
  pop_popops_add_codelets(l->graph);
  bool takes = op->code == OP_GATHER || op->code == OP_DYNAMIC_SLICE;
  pop_tensor operand = takes ? as_sliceable_operand(l, op, &w) : lowering_tensor(l, w.operand);
  pop_tensor vectors = vectors_of(l, op, &w, d.dims);
  if (l->error) return false;
  describe(&w, vectors, &d);
  if (takes) {
    lowering_set_tensor(l, op->results[0], gather(l, op, &w, &d, operand, vectors));
    state_of(l, w.operand)->done++;
    return true;
  }
  pop_tensor updates = lowering_tensor(l, op->operands[op->code == OP_SCATTER ? 2 : 1]);
  if (l->error) return false;
  pop_tensor result = operand;
  if (!is_in_place(l, &w)) {
    result = sliceable(l, &w, lowering_name(l, op));
    pop_sequence_add(l->sequence, pop_program_copy(operand, result, ""));
  }
  scatter(l, op, &w, &d, result, vectors, updates);
  lowering_set_tensor(l, op->results[0], result);
  state_of(l, op->results[0])->changes_in = l->block;
  state_of(l, op->results[0])->rows = rows_of(&w);
  return true;
}
