/* Vertices of every library type, of random shapes and with random data, and the cycles of
 * their code on the software IPU. fit_library_cycles.c makes the table of
 * runtime/poplibs/host/our_cycles.h from some of them; unit/poplibs/our_cycles.c compares
 * it with others. */
#ifndef LIBRARY_VERTICES_H
#define LIBRARY_VERTICES_H

#include "engine/engine_private.h"
#include "graph/check.h"
#include "graph/graph.h"
#include "support/random.h"

#include <populus/poprand.h>
#include <populus/populus.h>
#include <populus/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- fields ---- */

typedef struct library_vertex {
  pop_graph *graph;
  pop_vertex vertex;
  const pop_vertex_type *type;
  uint32_t tile;
  bool means; /* enough elements for a mean, if the cycles of each depend on its value */
  uint64_t random;
} library_vertex;

/* From `least` to `most`, small ones as likely as large ones. */
static inline size_t lv_some(library_vertex *v, size_t least, size_t most)
{
  size_t limit = least;
  while (limit < most && random_below(&v->random, 6)) limit += limit / 2 + 1;
  if (limit > most) limit = most;
  return least + random_below(&v->random, (uint32_t)(limit - least + 1));
}

static inline bool lv_maybe(library_vertex *v)
{
  return random_below(&v->random, 2);
}

static inline void lv_put(pop_type type, double value, void *at)
{
  const float single = (float)value;
  const uint16_t half = pop_half_from_float(single);
  const int64_t whole = (int64_t)value;
  if (type == POP_FLOAT)
    memcpy(at, &single, sizeof single);
  else if (type == POP_HALF)
    memcpy(at, &half, sizeof half);
  else
    memcpy(at, &whole, pop_type_bytes(type));
}

static inline const pop_field *lv_field(const library_vertex *v, const char *name)
{
  const pop_field *field = pop_vertex_type_find_field(v->type, name);
  if (!field) fprintf(stderr, "%s has no field '%s'\n", v->type->name, name), abort();
  return field;
}

/* A tensor of the field's type, in a variable of whole double words, so that later ones are aligned
 * to double words, too. */
static inline pop_tensor lv_tensor(library_vertex *v, const char *name, const double *values,
                                   size_t count, bool constant)
{
  pop_type type = lv_field(v, name)->type;
  size_t bytes = pop_type_bytes(type);
  size_t padded = (count * bytes + 7) / 8 * 8 / bytes;
  uint8_t *data = calloc(padded + 1, bytes);
  for (size_t i = 0; i < count; i++) lv_put(type, values[i], data + i * bytes);
  pop_tensor t;
  if (constant) {
    t = pop_graph_add_constant(v->graph, type, &count, 1, data, name);
  } else {
    t = pop_graph_add_variable(v->graph, type, &padded, 1, name);
    pop_graph_set_initial_value(v->graph, t, data);
  }
  pop_graph_set_tile_mapping(v->graph, t, v->tile);
  free(data);
  return pop_tensor_slice(t, 0, count, 0);
}

static inline int lv_compare(const void *a, const void *b)
{
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

typedef enum lv_order { LV_ANY, LV_ASCENDING, LV_DESCENDING } lv_order;

/* Numbers from low to high; those in the middle are not only whole ones. */
static inline double *lv_numbers(library_vertex *v, size_t count, double low, double high,
                                 lv_order order)
{
  double *values = calloc(count + 1, sizeof *values);
  for (size_t i = 0; i < count; i++)
    values[i] = low + (high - low) * random_below(&v->random, 1 << 20) / (1 << 20);
  if (order != LV_ANY) qsort(values, count, sizeof *values, lv_compare);
  for (size_t i = 0; order == LV_DESCENDING && i < count / 2; i++) {
    double first = values[i];
    values[i] = values[count - 1 - i];
    values[count - 1 - i] = first;
  }
  return values;
}

static inline void lv_give_in_order(library_vertex *v, const char *field, size_t count, double low,
                                    double high, lv_order order)
{
  double *values = lv_numbers(v, count, low, high, order);
  pop_graph_connect(v->graph, v->vertex, field, lv_tensor(v, field, values, count, false));
  free(values);
}

static inline void lv_give(library_vertex *v, const char *field, size_t count, double low,
                           double high)
{
  lv_give_in_order(v, field, count, low, high, LV_ANY);
}

/* Random data: both values of bools, and numbers small enough that operations do not overflow. */
static inline void lv_data(library_vertex *v, const char *field, size_t count)
{
  pop_type type = lv_field(v, field)->type;
  bool is_real = type == POP_FLOAT || type == POP_HALF;
  lv_give(v, field, count,
          is_real            ? .1
          : type == POP_BOOL ? 0
                             : 1,
          is_real            ? 4
          : type == POP_BOOL ? 2
                             : 30);
}

static inline void lv_known(library_vertex *v, const char *field, const double *values,
                            size_t count)
{
  pop_graph_connect(v->graph, v->vertex, field, lv_tensor(v, field, values, count, true));
}

static inline void lv_scalar(library_vertex *v, const char *field, double value)
{
  pop_tensor t = lv_tensor(v, field, &value, 1, false);
  pop_graph_connect(v->graph, v->vertex, field, pop_tensor_reshape(t, NULL, 0));
}

static inline size_t lv_set(library_vertex *v, const char *field, size_t value)
{
  pop_type type = lv_field(v, field)->type;
  if (type == POP_FLOAT)
    pop_graph_set_field_float(v->graph, v->vertex, field, (double)value);
  else
    pop_graph_set_field_int(v->graph, v->vertex, field, (int64_t)value);
  return value;
}

/* ---- shapes, by family: runtime/poplibs/ has what fields mean ---- */

/* Operations whose cycles depend on the values: with many elements the mean counts, and a single
 * operand has a usual size. */
static inline bool lv_varies(const library_vertex *v)
{
  static const char *const types[] = {"::ASIN",
                                      "::ATAN2",
                                      "::CLAMP",
                                      "::ERF",
                                      "::EXPONENT_MINUS_ONE",
                                      "::GELU_ERF",
                                      "::LOGARITHM_ONE_PLUS",
                                      "::LOG_ADD",
                                      "::MAXIMUM",
                                      "::MINIMUM",
                                      "::REMAINDER",
                                      "::SELECT",
                                      "::TAN,"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strstr(v->type->name, types[i])) return true;
  return false;
}

static inline size_t lv_elements(library_vertex *v)
{
  return lv_some(v, v->means && lv_varies(v) ? 1500 : 1, lv_varies(v) ? 3600 : 1200);
}

/* An operand: one for all elements, or one for each. */
static inline void lv_operand(library_vertex *v, const char *field, bool single, size_t count)
{
  pop_type type = lv_field(v, field)->type;
  bool is_real = type == POP_FLOAT || type == POP_HALF;
  if (!single)
    lv_data(v, field, count);
  else
    lv_give(v, field, 1,
            is_real            ? 1.4
            : type == POP_BOOL ? 1
                               : 10,
            is_real            ? 1.6
            : type == POP_BOOL ? 1
                               : 16);
}

static inline void lv_unary(library_vertex *v)
{
  size_t n = lv_elements(v);
  if (strstr(v->type->name, "::ASIN")) /* of what there is one of */
    lv_give(v, "a", n, .1, 1);
  else
    lv_data(v, "a", n);
  lv_data(v, "out", n);
}

static inline void lv_fill(library_vertex *v)
{
  lv_data(v, "out", lv_some(v, 1, 1200));
  lv_set(v, "value", 3);
}

static inline void lv_binary(library_vertex *v)
{
  size_t n = lv_elements(v), single = random_below(&v->random, 3);
  lv_operand(v, "a", single == 1, n);
  lv_operand(v, "b", single == 2, n);
  lv_data(v, "out", n);
}

static inline void lv_ternary(library_vertex *v)
{
  size_t n = lv_elements(v), single = random_below(&v->random, 6);
  lv_operand(v, "a", single == 1, n);
  lv_operand(v, "b", single == 2, n);
  lv_operand(v, "c", single == 3, n);
  lv_data(v, "out", n);
}

static inline void lv_scaled_add(library_vertex *v)
{
  size_t n = lv_some(v, 1, 1200);
  lv_data(v, "b", n);
  lv_data(v, "out", n);
  if (pop_vertex_type_find_field(v->type, "by")) lv_scalar(v, "by", 2);
  lv_set(v, "scale", 3);
}

static inline void lv_reduce(library_vertex *v)
{
  bool many = v->means && lv_varies(v);
  size_t outs = lv_some(v, many ? 60 : 1, 150), length = lv_some(v, many ? 30 : 1, 120);
  lv_data(v, "in", outs * length);
  lv_data(v, "out", outs);
  if (pop_vertex_type_find_field(v->type, "scale")) lv_scalar(v, "scale", 2);
  lv_set(v, "length", length);
  lv_set(v, "columns", lv_maybe(v));
  lv_set(v, "update", lv_maybe(v));
}

static inline void lv_histogram(library_vertex *v)
{
  size_t levels = lv_some(v, 1, 30);
  double at[30];
  for (size_t i = 0; i < levels; i++) at[i] = 4 * (double)(i + 1) / (double)(levels + 1);
  lv_give(v, "in", lv_some(v, 60, 600), 0, 4);
  lv_known(v, "levels", at, levels);
  lv_data(v, "counts", levels + 1);
  lv_set(v, "absolute", lv_maybe(v));
}

/* The number of rows of a table, which includes all rows that are asked for. */
static inline size_t lv_table(library_vertex *v, size_t *columns)
{
  size_t rows = lv_some(v, 1, 30), size = lv_some(v, 1, rows), slices = lv_some(v, 1, 12);
  *columns = lv_some(v, 1, 60);
  lv_data(v, "table", rows * *columns);
  lv_give(v, "offsets", slices, 0, (double)(rows - size + 1));
  lv_set(v, "rows", rows);
  lv_set(v, "size", size);
  lv_set(v, "first", 0);
  return slices * size;
}

static inline void lv_slice(library_vertex *v)
{
  size_t columns, lines = lv_table(v, &columns);
  lv_data(v, "out", lines * columns);
  lv_set(v, "wrap", lv_maybe(v) ? 30 : 0);
}

static inline void lv_update(library_vertex *v)
{
  size_t columns, lines = lv_table(v, &columns);
  lv_data(v, "slices", lines * columns);
  if (pop_vertex_type_find_field(v->type, "scale"))
    lv_scalar(v, "scale", 2);
  else
    lv_set(v, "wrap", lv_maybe(v) ? 30 : 0);
}

static inline void lv_join(library_vertex *v)
{
  size_t parts = lv_some(v, 1, 20), n = lv_some(v, 1, 300);
  lv_data(v, "in", parts * n);
  lv_data(v, "out", n);
  lv_set(v, "parts", parts);
}

static inline void lv_window_rows(library_vertex *v)
{
  enum { MOST = 4 };
  size_t dims = lv_some(v, 1, MOST), vectors = lv_some(v, 1, 40), window = 1;
  double extents[2 * MOST];
  for (size_t d = 0; d < dims; d++) {
    extents[d] = (double)lv_some(v, 3, 20);
    extents[dims + d] = (double)lv_some(v, 1, 3);
    window *= (size_t)extents[dims + d];
  }
  lv_give(v, "vectors", vectors * dims, 0, 20);
  lv_known(v, "extents", extents, 2 * dims);
  lv_data(v, "rows", vectors * window);
  lv_set(v, "window", window);
  lv_set(v, "moved", lv_maybe(v));
}

static inline void lv_chunk(library_vertex *v)
{
  size_t columns = lv_some(v, 1, 1200), chunks = lv_some(v, 1, 3);
  bool here = !pop_vertex_type_find_field(v->type, "at");
  lv_data(v, "table", columns * chunks);
  if (here)
    lv_known(v, "state", (double[10]){0}, 10);
  else
    lv_scalar(v, "at", (double)random_below(&v->random, (uint32_t)chunks));
  if (pop_vertex_type_find_field(v->type, "row")) lv_data(v, "row", columns);
  if (pop_vertex_type_find_field(v->type, "received")) lv_data(v, "received", columns);
}

static inline void lv_head(library_vertex *v)
{
  size_t columns = lv_some(v, 1, 50);
  lv_data(v, "table", columns * 4);
  lv_data(v, "to", columns * 4);
  lv_give(v, "state", 10, 1, 3);
  lv_set(v, "columns", columns);
  lv_set(v, "numChunks", 4);
  lv_set(v, "toRow", lv_maybe(v));
}

static inline lv_order lv_order_of(const library_vertex *v)
{
  return strstr(v->type->name, "true") ? LV_DESCENDING : LV_ASCENDING;
}

static inline void lv_sort(library_vertex *v)
{
  size_t n = lv_some(v, 2, 500);
  lv_give(v, "keys", n, 0, 1000);
  lv_data(v, "scratch", n);
  if (!pop_vertex_type_find_field(v->type, "values")) return;
  lv_data(v, "values", n);
  lv_data(v, "valueScratch", n);
}

static inline void lv_sort_block(library_vertex *v)
{
  size_t n = lv_some(v, 2, 500), values = lv_maybe(v) ? n : 0;
  lv_give(v, "keys", n, 0, 1000);
  lv_data(v, "keyScratch", n);
  lv_data(v, "places", n);
  lv_data(v, "placeScratch", n);
  lv_data(v, "values", values);
  lv_data(v, "sortedValues", values);
  lv_set(v, "first", 5);
}

static inline void lv_merge_blocks(library_vertex *v)
{
  size_t n = lv_some(v, 60, 500), values = lv_maybe(v) ? n : 0;
  lv_give_in_order(v, "keys", n, 0, 1000, lv_order_of(v));
  lv_give_in_order(v, "otherKeys", n, 0, 1000, lv_order_of(v));
  lv_give(v, "places", n, 0, (double)n);
  lv_give(v, "otherPlaces", n, (double)n, 2 * (double)n);
  lv_data(v, "values", values);
  lv_data(v, "otherValues", values);
  lv_data(v, "keptKeys", n);
  lv_data(v, "keptPlaces", n);
  lv_data(v, "keptValues", values);
  lv_set(v, "front", lv_maybe(v));
}

static inline void lv_matmul(library_vertex *v)
{
  unsigned r, c;
  if (sscanf(strchr(v->type->name, '<'), "<%*[^,],%*[^,],%u,%u", &r, &c) != 2) abort();
  size_t rows = lv_some(v, r, 8 * r), columns = lv_some(v, c, 8 * c), length = lv_some(v, 1, 60);
  lv_data(v, "left", rows * length);
  lv_data(v, "right", length * columns);
  lv_data(v, "out", rows * columns);
  lv_set(v, "rows", rows);
  lv_set(v, "columns", columns);
  lv_set(v, "length", length);
}

static inline void lv_loss(library_vertex *v)
{
  size_t rows = lv_some(v, 1, 30), classes = lv_some(v, 2, 60);
  lv_give(v, "activations", rows * classes, .01, .99);
  lv_give(v, "labels", rows, 0, (double)classes);
  if (pop_vertex_type_find_field(v->type, "count")) {
    lv_scalar(v, "count", 0);
  } else {
    lv_data(v, "loss", rows);
    lv_data(v, "gradient", rows * classes);
  }
}

/* Windows of 1 to 4 elements, some of them beyond the ends. */
static inline void lv_pool(library_vertex *v)
{
  double axes[15];
  size_t in = 1, out = 1, planes = lv_some(v, 1, 4);
  for (double *a = axes; a < axes + 15; a += 5) {
    a[2] = (double)lv_some(v, 1, 4);
    a[3] = (double)lv_some(v, 1, 3);
    a[1] = (double)lv_some(v, 1, a == axes ? 2 : 8);
    a[4] = -(double)random_below(&v->random, (uint32_t)a[2]);
    a[0] = (a[1] - 1) * a[3] + a[2] + a[4] - random_below(&v->random, 2);
    if (a[0] < 1) a[0] = 1;
    in *= (size_t)a[0];
    out *= (size_t)a[1];
  }
  bool is_gradient = strstr(v->type->name, "Gradient");
  lv_data(v, "in", planes * in);
  lv_data(v, "pooled", planes * out);
  if (is_gradient) lv_data(v, "gradient", planes * out);
  lv_data(v, "out", planes * (is_gradient ? in : out));
  lv_known(v, "axes", axes, 15);
}

static inline void lv_draw(library_vertex *v)
{
  size_t n = lv_some(v, 200, 900), cut = lv_some(v, 1, n);
  bool two = lv_maybe(v) && cut < n;
  const double runs[] = {7, 7 + (double)(two ? cut : n), 1000, 1000 + (double)(n - cut)};
  lv_known(v, "runs", runs, two ? 4 : 2);
  lv_data(v, "seed", 2);
  lv_data(v, "out", n);
  lv_set(v, "modifier", 3);
  lv_set(v, "seeded", lv_maybe(v));
  if (pop_vertex_type_find_field(v->type, "lowest")) {
    lv_set(v, "lowest", 4);
    lv_set(v, "range", 100);
    return;
  }
  pop_graph_set_field_float(v->graph, v->vertex, "a", .5);
  if (pop_vertex_type_find_field(v->type, "in")) {
    lv_data(v, "in", n);
    lv_set(v, "scale", 2);
  } else {
    lv_set(v, "b", 1);
    lv_set(v, "c", 2);
  }
}

static inline void lv_seeds(library_vertex *v)
{
  lv_data(v, "seed", 2);
  lv_data(v, "out", 4 * lv_some(v, 1, 30));
  lv_set(v, "modifier", 3);
  lv_set(v, "first", 8);
}

static inline size_t lv_block(const library_vertex *v)
{
  return strstr(v->type->name, "char") ? 8 : 4;
}

static inline void lv_transposed(library_vertex *v, size_t rows, size_t columns, size_t count)
{
  size_t block = lv_block(v) * lv_block(v);
  lv_data(v, "src", rows * columns * count * block);
  lv_data(v, "dst", rows * columns * count * block);
  lv_set(v, "numSrcRowsD4Or8", rows);
  lv_set(v, "numSrcColumnsD4Or8", columns);
}

static inline void lv_transpose(library_vertex *v)
{
  size_t each = lv_some(v, 1, 4), more = lv_some(v, 1, 6);
  lv_transposed(v, lv_some(v, 1, 6), lv_some(v, 1, 6), 6 * each);
  lv_set(v, "numTranspositions", each);
  lv_set(v, "workerCount", more);
}

static inline void lv_transpose_by_one(library_vertex *v)
{
  size_t count = lv_some(v, 1, 6);
  lv_transposed(v, lv_some(v, 1, 6), lv_some(v, 1, 6), count);
  lv_set(v, "numTranspositionsM1", count - 1);
}

/* Each worker has some rows of the matrix. */
static inline void lv_transpose_parts(library_vertex *v)
{
  size_t workers = lv_some(v, 1, 6), each = lv_some(v, 1, 3), columns = lv_some(v, 1, 6);
  double list[24];
  for (size_t w = 0; w < workers; w++) {
    list[4 * w] = (double)(w * each * columns * lv_block(v));
    list[4 * w + 1] = (double)(w * each);
    list[4 * w + 2] = (double)each;
    list[4 * w + 3] = (double)columns;
  }
  lv_transposed(v, workers * each, columns, 1);
  lv_known(v, "workList", list, 4 * workers);
}

static inline void lv_transpose_anywhere(library_vertex *v)
{
  enum { MOST = 6 };
  size_t count = lv_some(v, 1, MOST), rows = lv_some(v, 1, 20), columns = lv_some(v, 1, 20);
  pop_tensor src[MOST], dst[MOST];
  double *values = lv_numbers(v, rows * columns, 1, 4, LV_ANY);
  for (size_t i = 0; i < count; i++) {
    src[i] = lv_tensor(v, "src", values, rows * columns, false);
    dst[i] = lv_tensor(v, "dst", values, rows * columns, false);
  }
  free(values);
  pop_graph_connect_array(v->graph, v->vertex, "src", src, count);
  pop_graph_connect_array(v->graph, v->vertex, "dst", dst, count);
  lv_set(v, "numSrcRows", rows);
  lv_set(v, "numSrcColumns", columns);
}

static inline void lv_cycle_stamp(library_vertex *v)
{
  lv_data(v, "out", 2);
}

static inline void lv_cycle_difference(library_vertex *v)
{
  lv_data(v, "start", 2);
  lv_data(v, "end", 2);
}

static inline void lv_float_control(library_vertex *v)
{
  lv_scalar(v, "keep", -1);
  lv_scalar(v, "set", 0);
  lv_scalar(v, "before", 0);
}

static inline void lv_pack_metadata(library_vertex *v)
{
  lv_scalar(v, "scale", -3);
  lv_scalar(v, "metadata", 0);
}

static inline void lv_tile_seeds(library_vertex *v)
{
  lv_data(v, "seeds", 24);
}

typedef struct lv_family {
  const char *name;
  void (*connect)(library_vertex *v);
} lv_family;
static const lv_family lv_families[] = {
    {"poplar_rt::CycleDifference", lv_cycle_difference},
    {"poplar_rt::CycleStamp", lv_cycle_stamp},
    {"poplar_rt::FloatControl", lv_float_control},
    {"poplar_rt::GetSeeds", lv_tile_seeds},
    {"poplar_rt::PackMetadata", lv_pack_metadata},
    {"poplar_rt::SetSeeds", lv_tile_seeds},
    {"poplar_rt::SplitTranspose1D", lv_transpose_parts},
    {"poplar_rt::Transpose1D", lv_transpose},
    {"poplar_rt::Transpose1DSingleWorker", lv_transpose_by_one},
    {"poplar_rt::Transpose2D", lv_transpose_anywhere},
    {"poplin::MatMulBlock", lv_matmul},
    {"poplin::MatMulMore", lv_matmul},
    {"popnn::CountCorrect", lv_loss},
    {"popnn::Loss", lv_loss},
    {"popnn::Pool", lv_pool},
    {"popnn::PoolGradient", lv_pool},
    {"popops::Binary", lv_binary},
    {"popops::Cast", lv_unary},
    {"popops::CombineChunk", lv_chunk},
    {"popops::CombineHere", lv_chunk},
    {"popops::FillWords", lv_fill},
    {"popops::HeadChunk", lv_head},
    {"popops::Histogram", lv_histogram},
    {"popops::JoinSlices", lv_join},
    {"popops::MergeBlocks", lv_merge_blocks},
    {"popops::PutChunk", lv_chunk},
    {"popops::Reduce", lv_reduce},
    {"popops::ReduceTo", lv_reduce},
    {"popops::ScaledAdd", lv_scaled_add},
    {"popops::ScaledAddBy", lv_scaled_add},
    {"popops::ScaledReduce", lv_reduce},
    {"popops::ScaledReduceTo", lv_reduce},
    {"popops::Slice", lv_slice},
    {"popops::Sort", lv_sort},
    {"popops::SortBlock", lv_sort_block},
    {"popops::SortWithValues", lv_sort},
    {"popops::TakeChunk", lv_chunk},
    {"popops::Ternary", lv_ternary},
    {"popops::Unary", lv_unary},
    {"popops::Update", lv_update},
    {"popops::UpdateBy", lv_update},
    {"popops::WindowRows", lv_window_rows},
    {"poprand::Draw", lv_draw},
    {"poprand::DrawInteger", lv_draw},
    {"poprand::Dropout", lv_draw},
    {"poprand::Seeds", lv_seeds},
};

static inline const lv_family *lv_family_of(const char *type)
{
  size_t length = strcspn(type, "<");
  for (size_t i = 0; i < sizeof lv_families / sizeof *lv_families; i++)
    if (strlen(lv_families[i].name) == length && strncmp(lv_families[i].name, type, length) == 0)
      return &lv_families[i];
  return NULL;
}

/* ---- all of them ---- */

/* Types that the graph compiler writes itself after all checks of vertices, as their
 * descriptors are addresses. */
static inline bool lv_is_of_compiler(const char *type)
{
  return strcmp(type, "poplar_rt::Memcpy") == 0 || strcmp(type, "poplar_rt::StridedCopy") == 0;
}

/* A model of an ipu2 with a tile for each type. */
static inline pop_graph *lv_new_graph(void)
{
  pop_target target;
  pop_ipu_model model;
  pop_device *device;
  pop_error *error = pop_ipu_model_init(&model, "ipu2");
  if (!error) error = pop_ipu_model_create_device(&model, &device);
  if (error) fprintf(stderr, "%s\n", pop_error_message(error)), abort();
  target = *pop_device_target(device);
  pop_device_free(device);
  pop_graph *graph = pop_graph_create(&target);
  graph_add_built_in_codelets(graph, __func__);
  pop_popops_add_codelets(graph);
  pop_poplin_add_codelets(graph);
  pop_popnn_add_codelets(graph);
  pop_poprand_add_codelets(graph);
  return graph;
}

/* Adds `shapes` vertices of each type that begins with `prefix` and has a recipe, in as
 * many compute sets. The vertices of a type are on a tile of their own. `means`: as in
 * library_vertex. */
static inline pop_program lv_add_vertices(pop_graph *graph, const char *prefix, unsigned shapes,
                                          uint64_t seed, bool means)
{
  pop_program main = pop_program_sequence(graph, "main");
  for (unsigned shape = 0; shape < shapes; shape++) {
    pop_compute_set set = pop_graph_add_compute_set(graph, "shape");
    pop_sequence_add(main, pop_program_execute(graph, set, "shape"));
    for (size_t t = 0; t < graph->num_vertex_types; t++) {
      const pop_vertex_type *type = graph->vertex_types[t].type;
      const lv_family *family = lv_family_of(type->name);
      if (!family || strncmp(type->name, prefix, strlen(prefix)) != 0) continue;
      library_vertex v = {graph, pop_graph_add_vertex(graph, set, type->name),
                          type,  (uint32_t)t,
                          means, (seed + shape) * 1000003 + t};
      random_next(&v.random);
      pop_graph_set_vertex_tile(graph, v.vertex, v.tile);
      family->connect(&v);
    }
  }
  return main;
}

/* Runs the program on a model without estimates for the vertices. Returns the cycles of their code,
 * by vertex. NULL: an error was printed. */
static inline uint64_t *lv_measure(pop_graph *graph, pop_program main)
{
  static const pop_option options[] = {{"target.tileEngine", "interpreter"},
                                       {"profiler.libraryCycleEstimates", "code"}};
  pop_engine *engine = NULL;
  uint64_t *cycles = calloc(graph->num_vertices + 1, sizeof *cycles);
  pop_error *error = pop_engine_create(graph, &main, 1, options, 2, &engine);
  if (!error) error = pop_engine_load(engine);
  if (!error) error = pop_engine_run(engine, 0);
  if (error) {
    fprintf(stderr, "%s\n", pop_error_message(error));
    pop_error_free(error);
    free(cycles);
    return NULL;
  }
  const execution *x = execution_profile_get(engine->profile);
  const pop_executable *e = engine->executable;
  for (size_t w = 0; w < e->num_works; w++) {
    const executable_row *row = &e->vertex_rows[e->works[w].row];
    for (uint32_t i = 0; i < row->count; i++) {
      uint32_t number = e->vertices[row->first + i].number;
      if (number != EXECUTABLE_NONE)
        cycles[e->works[w].first_number + number] = execution_cycles_of_vertex(x, w, i);
    }
  }
  pop_engine_free(engine);
  return cycles;
}

#endif
