/* Gather and scatter of windows at vectors of indices: populus/popops_slice.h.
 *
 * The operand is a table. It has a row for each position in the indexed dimensions; the other
 * dimensions are its columns. A codelet finds the rows of each window. These are then many
 * slices, or updates, of one row each:
 *
 *   indices -> [vectors, indices of one] -> rows [vectors, rows of a window] -> multi_slice, multi_update */
#include "graph/view.h"
#include "poplibs/host/spread.h"

#include <populus/popops.h>
#include <populus/popops_slice.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
  pop_graph *graph;
  const char *call, *name;
  pop_program sequence;
  pop_windows how;
  size_t rank;                  /* the operand's */
  size_t sizes[GRAPH_MAX_RANK]; /* of a window, by dimension of the operand */
  size_t order[GRAPH_MAX_RANK]; /* dimensions of the operand: the indexed ones, then the others */
  bool dropped[GRAPH_MAX_RANK];
  size_t num_vectors, window; /* rows of a window */
} job;

static bool fail(const job *j, const char *what, size_t is, size_t wanted)
{
  if (!pop_graph_error(j->graph))
    poplibs_fail(j->graph, POP_ERROR_INDEX, "%s: %s %zu, of %zu", j->call, what, is, wanted);
  return false;
}

/* ---- checks ---- */

/* Are these dimensions below `rank`, and each given once? Marks them in `seen`. */
static bool check_dims(const job *j, const char *what, const size_t *dims, size_t count,
                       size_t rank, bool ascending, bool *seen)
{
  memset(seen, 0, GRAPH_MAX_RANK * sizeof *seen);
  if (count && !dims) {
    poplibs_fail(j->graph, POP_ERROR_INVALID_ARGUMENT, "%s: the address of the %s is NULL", j->call,
                 what);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    bool good = dims[i] < rank && !seen[dims[i]] && (!ascending || !i || dims[i] > dims[i - 1]);
    if (!good) {
      poplibs_fail(j->graph, POP_ERROR_INDEX, "%s: number %zu of the %s is %zu: below %zu%s",
                   j->call, i, what, dims[i], rank, ascending ? ", ascending" : ", each once");
      return false;
    }
    seen[dims[i]] = true;
  }
  return true;
}

static bool check_indices(job *j, pop_tensor indices)
{
  pop_type type = pop_tensor_element_type(indices);
  size_t rank = pop_tensor_rank(indices), dim = j->how.vector_dim;
  if (pop_graph_error(j->graph)) return false;
  if (type != POP_INT && type != POP_UNSIGNED_INT) {
    poplibs_fail(j->graph, POP_ERROR_TYPE, "%s: indices are of type int or unsigned int, not %s",
                 j->call, pop_type_name(type));
    return false;
  }
  if (dim > rank) return fail(j, "the dimension of vectors is", dim, rank);
  size_t length = dim == rank ? 1 : pop_tensor_dim(indices, dim);
  if (length == 0 || length != j->how.num_operand_dims)
    return fail(j, "the length of vectors, and so the number of dimensions of the operand, is",
                j->how.num_operand_dims, length);
  j->num_vectors = pop_tensor_num_elements(indices) / length;
  return true;
}

static bool start(job *j, pop_tensor operand, pop_tensor indices)
{
  bool indexed[GRAPH_MAX_RANK], window[GRAPH_MAX_RANK];
  const pop_windows *how = &j->how;
  if (pop_graph_error(j->graph)) return false;
  j->rank = pop_tensor_rank(operand);
  if (!check_indices(j, indices) ||
      !check_dims(j, "dimensions that vectors have indices of", how->operand_dims,
                  how->num_operand_dims, j->rank, false, indexed) ||
      !check_dims(j, "dimensions that windows have not", how->dropped_dims, how->num_dropped_dims,
                  j->rank, false, j->dropped))
    return false;
  size_t batch = pop_tensor_rank(indices) - (how->vector_dim < pop_tensor_rank(indices));
  if (how->num_window_dims != j->rank - how->num_dropped_dims)
    return fail(j, "dimensions of windows are", how->num_window_dims,
                j->rank - how->num_dropped_dims);
  if (batch + how->num_window_dims > GRAPH_MAX_RANK)
    return fail(j, "dimensions of all windows are", batch + how->num_window_dims, GRAPH_MAX_RANK);
  size_t next = how->num_operand_dims;
  memcpy(j->order, how->operand_dims, next * sizeof *j->order);
  for (size_t d = 0; d < j->rank; d++)
    if (!indexed[d]) j->order[next++] = d;
  return check_dims(j, "dimensions of windows", how->window_dims, how->num_window_dims,
                    batch + how->num_window_dims, true, window);
}

static bool check_sizes(job *j, pop_tensor operand)
{
  j->window = 1;
  for (size_t d = 0; d < j->rank; d++)
    if (j->sizes[d] == 0 || j->sizes[d] > pop_tensor_dim(operand, d))
      return fail(j, "the size of a window in one of the dimensions is", j->sizes[d],
                  pop_tensor_dim(operand, d));
    else if (j->dropped[d] && j->sizes[d] != 1)
      return fail(j, "the size in a dimension that windows have not is", j->sizes[d], 1);
  for (size_t i = 0; i < j->how.num_operand_dims; i++) j->window *= j->sizes[j->order[i]];
  return true;
}

/* ---- rows ---- */

/* [vectors, indices of one] */
static pop_tensor vectors_of(const job *j, pop_tensor indices)
{
  size_t rank = pop_tensor_rank(indices), dim = j->how.vector_dim;
  if (dim < rank) indices = pop_tensor_dim_roll(indices, dim, rank - 1);
  return pop_tensor_reshape(indices, (size_t[]){j->num_vectors, j->how.num_operand_dims}, 2);
}

static pop_tensor extents_of(const job *j, pop_tensor operand)
{
  unsigned extents[2 * GRAPH_MAX_RANK];
  size_t count = j->how.num_operand_dims, all = 2 * count;
  for (size_t i = 0; i < count; i++) {
    extents[i] = (unsigned)pop_tensor_dim(operand, j->order[i]);
    extents[count + i] = (unsigned)j->sizes[j->order[i]];
  }
  pop_tensor t = pop_graph_add_constant(j->graph, POP_UNSIGNED_INT, &all, 1, extents, j->name);
  pop_graph_set_tile_mapping(j->graph, t, 0);
  return t;
}

/* The rows of all windows, flat. Each tile has at least VECTORS_OF_A_TILE vectors, except the
 * last. */
static pop_tensor add_rows(const job *j, pop_tensor operand, pop_tensor indices, bool moved)
{
  enum { VECTORS_OF_A_TILE = 64 };
  pop_graph *graph = j->graph;
  size_t tiles = pop_graph_num_tiles(graph), most = (j->num_vectors + tiles - 1) / tiles;
  size_t each = most < VECTORS_OF_A_TILE ? VECTORS_OF_A_TILE : most, tile = 0;
  size_t count = j->num_vectors * j->window;
  pop_tensor rows = pop_graph_add_variable(graph, POP_UNSIGNED_INT, &count, 1, j->name);
  pop_tensor vectors = vectors_of(j, indices), extents = extents_of(j, operand);
  pop_compute_set set = pop_graph_add_compute_set(graph, j->name);
  for (size_t v = 0; v < j->num_vectors && !pop_graph_error(graph); v += each, tile++) {
    size_t end = v + each < j->num_vectors ? v + each : j->num_vectors;
    pop_tensor part = pop_tensor_slice(rows, v * j->window, end * j->window, 0);
    pop_graph_set_tile_mapping(graph, part, tile);
    pop_vertex vertex = poplibs_add_vertex(graph, set, tile, "popops::WindowRows<%s>",
                                           pop_type_name(pop_tensor_element_type(indices)));
    pop_graph_connect(graph, vertex, "vectors",
                      pop_tensor_flatten(pop_tensor_slice(vectors, v, end, 0)));
    pop_graph_connect(graph, vertex, "extents", extents);
    pop_graph_connect(graph, vertex, "rows", part);
    pop_graph_set_field_int(graph, vertex, "window", (int64_t)j->window);
    pop_graph_set_field_int(graph, vertex, "moved", moved);
  }
  pop_sequence_add(j->sequence, pop_program_execute(graph, set, j->name));
  return rows;
}

/* The operand as [rows, columns]. Dimensions that are not indexed are cut to the window's size. */
static pop_tensor table_of(const job *j, pop_tensor operand)
{
  size_t rows = 1, columns = 1;
  for (size_t i = 0; i < j->rank; i++) {
    size_t d = j->order[i];
    bool indexed = i < j->how.num_operand_dims;
    if (!indexed) operand = pop_tensor_slice(operand, 0, j->sizes[d], d);
    *(indexed ? &rows : &columns) *= indexed ? pop_tensor_dim(operand, d) : j->sizes[d];
  }
  operand = pop_tensor_dim_shuffle(operand, j->order, j->rank);
  return pop_tensor_reshape(operand, (size_t[]){rows, columns}, 2);
}

/* ---- windows, between [vectors, dimensions of the table] and the caller's shape ---- */

/* The order of dimensions that makes windows [batch…, window…]. Returns the number of batch
 * dimensions. */
static size_t batch_first(const job *j, size_t rank, size_t *order)
{
  size_t batch = rank - j->how.num_window_dims, next = 0;
  for (size_t d = 0, w = 0; d < rank; d++) {
    bool of_window = w < j->how.num_window_dims && j->how.window_dims[w] == d;
    order[of_window ? batch + w++ : next++] = d;
  }
  return batch;
}

static void invert(const size_t *order, size_t count, size_t *inverse)
{
  for (size_t i = 0; i < count; i++) inverse[order[i]] = i;
}

static pop_tensor to_windows(const job *j, pop_tensor found, pop_tensor indices)
{
  size_t shape[2 * GRAPH_MAX_RANK + 1], back[GRAPH_MAX_RANK] = {0}, order[GRAPH_MAX_RANK] = {0};
  size_t next = 0;
  shape[0] = j->num_vectors;
  for (size_t i = 0; i < j->rank; i++) shape[i + 1] = j->sizes[j->order[i]];
  found = pop_tensor_reshape(found, shape, j->rank + 1);
  size_t turn[GRAPH_MAX_RANK + 1] = {0};
  invert(j->order, j->rank, back);
  for (size_t d = 0; d < j->rank; d++) turn[d + 1] = back[d] + 1;
  found = pop_tensor_dim_shuffle(found, turn, j->rank + 1);
  for (size_t d = 0; d < pop_tensor_rank(indices); d++)
    if (d != j->how.vector_dim) shape[next++] = pop_tensor_dim(indices, d);
  for (size_t d = 0; d < j->rank; d++)
    if (!j->dropped[d]) shape[next++] = j->sizes[d];
  found = pop_tensor_reshape(found, shape, next);
  batch_first(j, next, order);
  invert(order, next, back);
  return pop_tensor_dim_shuffle(found, back, next);
}

/* [vectors * rows of a window, 1, columns] */
static pop_tensor from_windows(const job *j, pop_tensor updates, size_t columns)
{
  size_t shape[GRAPH_MAX_RANK + 1], order[GRAPH_MAX_RANK] = {0}, turn[GRAPH_MAX_RANK + 1] = {0};
  batch_first(j, pop_tensor_rank(updates), order);
  updates = pop_tensor_dim_shuffle(updates, order, pop_tensor_rank(updates));
  shape[0] = j->num_vectors;
  memcpy(shape + 1, j->sizes, j->rank * sizeof *shape);
  updates = pop_tensor_reshape(updates, shape, j->rank + 1);
  for (size_t i = 0; i < j->rank; i++) turn[i + 1] = j->order[i] + 1;
  updates = pop_tensor_dim_shuffle(updates, turn, j->rank + 1);
  return pop_tensor_reshape(updates, (size_t[]){j->num_vectors * j->window, 1, columns}, 3);
}

/* Takes the window's sizes from the updates, whose other dimensions must be those of the
 * indices. */
static bool take_sizes(job *j, pop_tensor updates, pop_tensor indices)
{
  size_t rank = pop_tensor_rank(updates), order[GRAPH_MAX_RANK] = {0};
  size_t wanted = pop_tensor_rank(indices);
  wanted += j->how.num_window_dims - (j->how.vector_dim < wanted);
  if (pop_graph_error(j->graph)) return false;
  if (rank != wanted) return fail(j, "the rank of the updates is", rank, wanted);
  size_t w = batch_first(j, rank, order), next = 0;
  for (size_t d = 0; d < pop_tensor_rank(indices); d++) {
    if (d == j->how.vector_dim) continue;
    size_t is = pop_tensor_dim(updates, order[next++]);
    if (is != pop_tensor_dim(indices, d))
      return fail(j, "updates have, where indices have other dimensions,", is,
                  pop_tensor_dim(indices, d));
  }
  for (size_t d = 0; d < j->rank; d++)
    j->sizes[d] = j->dropped[d] ? 1 : pop_tensor_dim(updates, order[w++]);
  return true;
}

/* ---- the functions ---- */

pop_tensor pop_popops_gather_windows(pop_graph *graph, pop_tensor operand, pop_tensor indices,
                                     pop_windows how, const size_t *sizes, pop_program sequence,
                                     const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){operand, indices}, 2);
  pop_tensor none = {graph->top, 0};
  job j = {graph, __func__, name, sequence, .how = how};
  if (!start(&j, operand, indices)) return none;
  if (j.rank && !sizes) {
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT, "%s: the address of the sizes is NULL", j.call);
    return none;
  }
  memcpy(j.sizes, sizes, j.rank * sizeof *j.sizes);
  if (!check_sizes(&j, operand)) return none;
  pop_tensor rows = add_rows(&j, operand, indices, true);
  pop_tensor found =
      pop_popops_multi_slice(graph, table_of(&j, operand), rows, 0, 1, none, sequence, name);
  return pop_graph_error(graph) ? none : to_windows(&j, found, indices);
}

void pop_popops_scatter_windows(pop_graph *graph, pop_update_op op, pop_tensor operand,
                                pop_tensor indices, pop_tensor updates, pop_windows how,
                                pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return;
  poplibs_log(__func__, name, (const pop_tensor[]){operand, indices, updates}, 3);
  job j = {graph, __func__, name, sequence, .how = how};
  if (!start(&j, operand, indices) || !take_sizes(&j, updates, indices) ||
      !check_sizes(&j, operand))
    return;
  pop_tensor rows = add_rows(&j, operand, indices, false), table = table_of(&j, operand);
  if (pop_graph_error(graph)) return;
  pop_tensor slices = from_windows(&j, updates, pop_tensor_dim(table, 1));
  pop_popops_multi_update(graph, op, table, slices, rows, 0, 1, (pop_tensor){graph->top, 0},
                          sequence, name);
}
