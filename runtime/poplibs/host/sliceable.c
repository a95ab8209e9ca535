/* The best layout of a tensor that is sliced: pop_popops_create_sliceable of
 * populus/popops_slice.h.
 *
 * Each tile has whole columns of the table (slice_table.h), so that a slice takes one vertex on
 * each tile. If there are more columns than tiles, a tile has several adjacent ones. If there
 * are fewer, long columns are cut into parts of some rows each. */
#include "base/divide.h"
#include "graph/view.h"
#include "poplibs/host/slice_table.h"

#include <populus/popops_slice.h>

/* Into how many parts a long column is cut. Limits are the tiles, the rows of the first sliced
 * dimension, and the number of parts that is worth joining. */
static size_t num_parts(size_t column_bytes, size_t most, size_t rows)
{
  enum { LONG_BYTES = 16 << 10 };
  size_t parts = divide_up(column_bytes, LONG_BYTES);
  if (parts > most) parts = most;
  if (parts > rows) parts = rows;
  if (parts > TABLE_MOST_PARTS) parts = TABLE_MOST_PARTS;
  return parts ? parts : 1;
}

/* Maps [columns, rows] of a variable that is stored column by column. Columns are cut into
 * `parts`; each part of a column gets a tile. */
static void map_columns(pop_graph *graph, pop_tensor columns, size_t parts, size_t first)
{
  size_t num_columns = pop_tensor_dim(columns, 0), num_rows = pop_tensor_dim(columns, 1);
  size_t inner = first ? num_rows / first : 0;
  for (size_t p = 0; p < parts; p++) {
    size_t begin = p * first / parts * inner, end = (p + 1) * first / parts * inner;
    pop_tensor part = pop_tensor_slice(columns, begin, end, 1);
    for (size_t c = 0; c < num_columns; c++)
      pop_graph_set_tile_mapping(graph, pop_tensor_index(part, c), p * num_columns + c);
  }
}

/* Adds a variable and returns it as [rows, columns]. Each tile has `each` columns, stored row by
 * row as one run; the last tile may have fewer. */
static pop_tensor add_grouped(pop_graph *graph, pop_type type, size_t rows, size_t columns,
                              size_t each, const char *name)
{
  size_t elements = rows * columns, groups = columns / each, grouped = groups * each * rows;
  pop_tensor flat = pop_graph_add_variable(graph, type, &elements, 1, name);
  pop_tensor full =
      pop_tensor_reshape(pop_tensor_slice(flat, 0, grouped, 0), (size_t[]){groups, rows, each}, 3);
  pop_tensor rest = pop_tensor_reshape(pop_tensor_slice(flat, grouped, elements, 0),
                                       (size_t[]){rows, columns - groups * each}, 2);
  if (pop_graph_error(graph)) return flat;
  for (size_t g = 0; g < groups; g++)
    pop_graph_set_tile_mapping(graph, pop_tensor_index(full, g), g);
  if (pop_tensor_num_elements(rest)) pop_graph_set_tile_mapping(graph, rest, groups);
  full = pop_tensor_flatten_partial(pop_tensor_dim_roll(full, 1, 0), 1, 3);
  return pop_concat((pop_tensor[]){full, rest}, 2, 1);
}

/* The order of dimensions in which the sliced ones come first; false after an error. */
static bool sliced_first(pop_graph *graph, size_t rank, const size_t *dims, size_t count,
                         size_t *order)
{
  bool is_sliced[GRAPH_MAX_RANK] = {false};
  size_t next = count;
  for (size_t i = 0; i < count; i++) {
    if (dims[i] >= rank || is_sliced[dims[i]]) {
      poplibs_fail(graph, POP_ERROR_INDEX,
                   "pop_popops_create_sliceable: dimension %zu of a tensor of rank %zu%s", dims[i],
                   rank, dims[i] < rank ? ", twice" : "");
      return false;
    }
    is_sliced[dims[i]] = true;
    order[i] = dims[i];
  }
  for (size_t d = 0; d < rank; d++)
    if (!is_sliced[d]) order[next++] = d;
  return true;
}

/* Adds a variable of these sizes, of which the first `count` dimensions are sliced: [sliced
 * dimensions, others]. */
static pop_tensor add_turned(pop_graph *graph, pop_type type, const size_t *sizes, size_t rank,
                             size_t count, const char *name)
{
  size_t turned[GRAPH_MAX_RANK], turn[GRAPH_MAX_RANK], rows = 1, columns = 1;
  size_t tiles = pop_graph_num_tiles(graph);
  for (size_t i = 0; i < rank; i++) {
    *(i < count ? &rows : &columns) *= sizes[i];
    turned[i] = sizes[(i + count) % rank];
    turn[i] = (i + rank - count) % rank;
  }
  if (tiles > 0 && columns > tiles)
    return pop_tensor_reshape(
        add_grouped(graph, type, rows, columns, divide_up(columns, tiles), name), sizes, rank);
  pop_tensor variable = pop_graph_add_variable(graph, type, turned, rank, name);
  pop_tensor table = pop_tensor_reshape(variable, (size_t[]){columns, rows}, 2);
  size_t first = count ? sizes[0] : 1, most = columns ? tiles / columns : 1;
  if (!pop_graph_error(graph))
    map_columns(graph, table, num_parts(rows * pop_type_bytes(type), most, first), first);
  return pop_tensor_dim_shuffle(variable, turn, rank);
}

pop_tensor pop_popops_create_sliceable(pop_graph *graph, pop_type type, const size_t *shape,
                                       size_t rank, const size_t *dims, size_t count,
                                       const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, NULL, 0);
  size_t order[GRAPH_MAX_RANK], back[GRAPH_MAX_RANK] = {0}, sizes[GRAPH_MAX_RANK] = {0};
  uint64_t elements;
  if (rank > GRAPH_MAX_RANK || (rank && !shape) || !view_count_elements(shape, rank, &elements) ||
      elements > UINT32_MAX)
    return pop_graph_add_variable(graph, type, shape, rank, name); /* fails with the reason */
  if (count && !dims) {
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT, "%s: the dimensions are NULL", __func__);
    return (pop_tensor){graph->top, 0};
  }
  if (pop_graph_error(graph) || !sliced_first(graph, rank, dims, count, order))
    return (pop_tensor){graph->top, 0};
  for (size_t i = 0; i < rank; i++) {
    back[order[i]] = i;
    sizes[i] = shape[order[i]];
  }
  return pop_tensor_dim_shuffle(add_turned(graph, type, sizes, rank, count, name), back, rank);
}
