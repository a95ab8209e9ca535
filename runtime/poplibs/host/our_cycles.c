#include "poplibs/host/our_cycles.h"
#include "graph/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a vertex is connected to ---- */

typedef struct subject {
  pop_graph *graph;
  pop_vertex vertex;
  const our_cycles *row;
  uint32_t worker, num_workers;
} subject;

static size_t size_of(const subject *s, const char *field)
{
  size_t size = pop_graph_vertex_field_size(s->graph, s->vertex, field);
  return size == SIZE_MAX ? 0 : size;
}

/* The value of an integer or bool field that the host has set. */
static size_t number_of(const subject *s, const char *field)
{
  uint64_t number = 0;
  pop_graph_vertex_field_values(s->graph, s->vertex, field, &number, 1);
  return number;
}

/* Reads up to `max` elements of a field; 0 if they are unknown. */
static size_t numbers_of(const subject *s, const char *field, void *numbers, size_t max)
{
  size_t count = pop_graph_vertex_field_values(s->graph, s->vertex, field, numbers, max);
  return count == SIZE_MAX || count > max ? 0 : count;
}

static size_t divide_up(size_t a, size_t b)
{
  return b ? (a + b - 1) / b : 0;
}

/* How many of the numbers first, first + step, … are below `count`. */
static size_t count_from(size_t first, size_t count, size_t step)
{
  return first < count ? divide_up(count - first, step) : 0;
}

/* The worker's share of elements that are dealt out round-robin. */
static size_t share_of(const subject *s, size_t count)
{
  return count_from(s->worker, count, s->num_workers);
}

/* Whole rounds of `step` in `size`. */
static size_t rounds_of(size_t size, size_t step)
{
  return size / step;
}

/* ---- families: the terms of a worker, and their number ---- */

static size_t constant_terms(const subject *s, double *terms)
{
  (void)s;
  terms[0] = 1;
  return 1;
}

/* forElements of popops/vectors.hpp: an unrolled loop of four, a remainder loop, then the
 * elements that packed operations leave over. */
static void put_loop(const subject *s, size_t count, double *terms)
{
  size_t step = s->num_workers, units = count / s->row->lanes;
  size_t rounds = count_from(s->worker, units > 3 * step ? units - 3 * step : 0, 4 * step);
  terms[0] = 1;
  terms[1] = (double)rounds;
  terms[2] = (double)count_from(s->worker + 4 * step * rounds, units, step);
  terms[3] = (double)count_from(s->worker + units * s->row->lanes, count, step);
  if (s->row->lanes == 1) terms[3] = 0;
  terms[4] = rounds > 0;
  terms[5] = terms[2] > 0;
  terms[6] = rounds > 0 && terms[2] == 0;
}
enum { LOOP_TERMS = 7 };

static size_t of_elements(const subject *s, double *terms)
{
  put_loop(s, size_of(s, "out"), terms);
  return LOOP_TERMS;
}

/* Operands of one element have loops of their own. */
static size_t of_binary(const subject *s, double *terms)
{
  size_t variant = size_of(s, "a") == 1 ? 1 : size_of(s, "b") == 1 ? 2 : 0;
  put_loop(s, size_of(s, "out"), terms + variant * LOOP_TERMS);
  return 3 * LOOP_TERMS;
}

static size_t of_ternary(const subject *s, double *terms)
{
  bool steps = size_of(s, "a") == 1 || size_of(s, "b") == 1 || size_of(s, "c") == 1;
  put_loop(s, size_of(s, "out"), terms + (steps ? LOOP_TERMS : 0));
  return 2 * LOOP_TERMS;
}

/* Rows of an inner loop of `length` iterations, unrolled by four. */
static void put_rows(double *terms, size_t rows, size_t length)
{
  terms[0] = (double)rows;
  terms[1] = (double)(rows * rounds_of(length, 4));
  terms[2] = (double)(rows * (length % 4));
  terms[3] = length < 4 ? (double)rows : 0;
  terms[4] = length % 4 ? (double)rows : 0;
}
enum { ROW_TERMS = 5 };

static size_t of_reduce(const subject *s, double *terms)
{
  size_t rows = share_of(s, size_of(s, "out")), length = number_of(s, "length");
  bool columns = number_of(s, "columns");
  terms[0] = 1;
  put_rows(terms + 1, rows, length ? length - 1 : 0);
  terms[1 + ROW_TERMS] = number_of(s, "update") ? (double)rows : 0;
  terms[2 + ROW_TERMS] = columns ? (double)rows : 0;
  return 3 + ROW_TERMS;
}

/* The first and the last bin compare each element with one level. The others compare with their
 * lower level, and with the upper one only what is not below the lower one. If the data are
 * evenly distributed among the levels, that is less for later bins. */
static size_t of_histogram(const subject *s, double *terms)
{
  size_t bins = size_of(s, "counts"), elements = size_of(s, "in");
  terms[0] = 1;
  for (size_t bin = s->worker; bin < bins; bin += s->num_workers) {
    terms[1] += 1;
    terms[bin == 0 ? 2 : bin + 1 == bins ? 3 : 4] += (double)elements;
    if (bin > 0 && bin + 1 < bins) terms[5] += (double)(elements * (bins - bin)) / (double)bins;
  }
  terms[6] = number_of(s, "absolute") ? terms[1] * (double)elements : 0;
  return 7;
}

static size_t of_slice(const subject *s, double *terms)
{
  size_t own = share_of(s, size_of(s, "out")), slices = size_of(s, "offsets");
  terms[0] = 1;
  terms[1] = (double)own;
  terms[2] = number_of(s, "wrap") ? (double)own : 0;
  terms[3] = (double)slices;
  terms[4] = (double)(slices * number_of(s, "size"));
  return 5;
}

static size_t of_join(const subject *s, double *terms)
{
  terms[0] = 1;
  put_rows(terms + 1, share_of(s, size_of(s, "out")), number_of(s, "parts"));
  return 1 + ROW_TERMS;
}

/* Assumes that all rows are in this part of the table. */
static size_t of_update(const subject *s, double *terms)
{
  size_t rows = number_of(s, "rows"), columns = share_of(s, rows ? size_of(s, "table") / rows : 0);
  size_t slices = size_of(s, "offsets"), lines = slices * number_of(s, "size");
  terms[0] = 1;
  terms[1] = (double)columns;
  terms[2] = (double)(columns * lines);
  terms[3] = number_of(s, "wrap") ? terms[2] : 0;
  terms[4] = (double)(columns * slices);
  return 5;
}

static size_t of_windows(const subject *s, double *terms)
{
  size_t own = share_of(s, size_of(s, "rows"));
  terms[0] = 1;
  terms[1] = (double)own;
  terms[2] = (double)(own * rounds_of(size_of(s, "extents"), 2));
  return 3;
}

/* A worker's share of a row, in whole double words. Assumes a whole chunk. */
static size_t row_share_of(const subject *s, size_t columns, size_t element_bytes)
{
  size_t unit = element_bytes < 8 ? 8 / element_bytes : 1;
  size_t each = divide_up(columns, s->num_workers * unit) * unit, begin = s->worker * each;
  return begin >= columns ? 0 : columns - begin < each ? columns - begin : each;
}

static size_t bytes_of_element(const subject *s)
{
  const char *type = strrchr(s->row->type, ',');
  if (!type) type = strchr(s->row->type, '<');
  return !type                       ? 4
         : strstr(type, "char")      ? 1
         : strstr(type, "bool")      ? 1
         : strstr(type, "short")     ? 2
         : strstr(type, "half")      ? 2
         : strstr(type, "long long") ? 8
                                     : 4;
}

static size_t of_chunk_copy(const subject *s, double *terms)
{
  size_t bytes = bytes_of_element(s), share = row_share_of(s, size_of(s, "row"), bytes);
  terms[0] = 1;
  terms[1] = share > 0;
  terms[2] = (double)divide_up(share * bytes, 8);
  return 3;
}

static size_t of_combination(const subject *s, double *terms)
{
  size_t share = row_share_of(s, size_of(s, "received"), bytes_of_element(s));
  terms[0] = 1;
  put_rows(terms + 1, share > 0, share);
  return 1 + ROW_TERMS;
}

/* Merge sort: each pass doubles the run length, goes over all elements, and merges pairs of
 * runs. After an odd number of passes the scratch row is copied back. */
static void put_sort(double *terms, size_t n)
{
  size_t passes = 0, merges = 0;
  for (size_t run = 1; run < n; run *= 2, passes++) merges += divide_up(n, 2 * run);
  terms[0] = 1;
  terms[1] = (double)n;
  terms[2] = (double)(n * passes);
  terms[3] = (double)merges;
  terms[4] = passes % 2 ? (double)n : 0;
}
enum { SORT_TERMS = 5 };

static size_t of_sort(const subject *s, double *terms)
{
  put_sort(terms, size_of(s, "keys"));
  return SORT_TERMS;
}

static size_t of_sort_block(const subject *s, double *terms)
{
  put_sort(terms, size_of(s, "keys"));
  terms[SORT_TERMS] = (double)size_of(s, "values");
  return SORT_TERMS + 1;
}

static size_t of_merge_blocks(const subject *s, double *terms)
{
  size_t variant = 4 * number_of(s, "front") + (size_of(s, "values") ? 2 : 0);
  terms[variant % 8] = 1;
  terms[variant % 8 + 1] = (double)size_of(s, "keys");
  return 8;
}

/* Register blocks are dealt out round-robin, row of blocks by row of blocks. Blocks at the ends
 * of rows and columns are stored in part. */
static size_t of_matmul(const subject *s, double *terms)
{
  unsigned r = 1, c = 1;
  const char *arguments = strchr(s->row->type, '<');
  if (arguments) sscanf(arguments, "<%*[^,],%*[^,],%u,%u", &r, &c);
  size_t rows = number_of(s, "rows"), columns = number_of(s, "columns");
  size_t per_row = divide_up(columns, c), blocks = divide_up(rows, r) * per_row;
  double *at_ends = terms + 1 + ROW_TERMS;
  if (rows * columns != size_of(s, "out")) blocks = 0; /* not a product */
  for (size_t block = s->worker; block < blocks; block += s->num_workers) {
    size_t row_end = block / per_row * r + r, column_end = block % per_row * c + c;
    size_t rows_over = row_end > rows ? row_end - rows : 0;
    size_t columns_over = column_end > columns ? column_end - columns : 0;
    if (!rows_over && !columns_over) continue;
    at_ends[0] += 1;
    at_ends[1] += (double)rows_over;
    at_ends[2] += (double)(columns_over * (r - rows_over));
    at_ends[3] += (double)((r - rows_over) * (c - columns_over));
  }
  at_ends[4] = blocks ? (double)divide_up(rows, r) : 0;
  terms[0] = 1;
  put_rows(terms + 1, share_of(s, blocks), number_of(s, "length"));
  return 1 + ROW_TERMS + 5;
}

static size_t of_rows_of_classes(const subject *s, double *terms)
{
  size_t rows = size_of(s, "labels"), all = size_of(s, "activations"), maxima = 0;
  for (size_t classes = rows ? all / rows : 0; classes > 1; classes /= 2) maxima++;
  terms[0] = 1;
  terms[1] = (double)rows;
  terms[2] = (double)all;
  terms[3] = (double)(rows * maxima); /* new maxima, of numbers in random order */
  return 4;
}

/* popnn/pooling.cpp */
typedef struct pooling_axis {
  int32_t in, out, kernel, stride, first;
} pooling_axis;

/* Counts along an axis. all: windows, or elements that look for their windows; nonempty: those
 * that see something; covered: what all see together; covered_by_four: how many unrolled iterations
 * that takes; behind: elements behind the first window. */
typedef struct axis_counts {
  double all, nonempty, covered, covered_by_four, behind;
} axis_counts;

static bool is_plausible(const pooling_axis *a)
{
  enum { MOST = 1 << 20 };
  return a->in > 0 && a->in < MOST && a->out > 0 && a->out < MOST && a->kernel > 0 &&
         a->kernel < MOST && a->stride > 0 && a->stride < MOST && a->first > -MOST &&
         a->first < MOST;
}

static void count_window(axis_counts *counts, int64_t begin, int64_t end, int64_t size)
{
  int64_t first = begin < 0 ? 0 : begin, last = end > size ? size : end;
  if (last <= first) return;
  counts->nonempty += 1;
  counts->covered += (double)(last - first);
  counts->covered_by_four += (double)rounds_of((size_t)(last - first), 4);
}

static axis_counts count_by_window(const pooling_axis *a)
{
  axis_counts counts = {.all = a->out};
  for (int64_t o = 0; o < a->out; o++) {
    int64_t begin = a->first + o * a->stride;
    count_window(&counts, begin, begin + a->kernel, a->in);
  }
  return counts;
}

static axis_counts count_by_element(const pooling_axis *a)
{
  axis_counts counts = {.all = a->in};
  for (int64_t i = 0; i < a->in; i++) {
    int64_t beyond = i - a->first;
    count_window(&counts, beyond < a->kernel ? 0 : (beyond - a->kernel) / a->stride + 1,
                 beyond < 0 ? 0 : beyond / a->stride + 1, a->out);
    counts.behind += beyond >= a->kernel;
  }
  counts.nonempty = counts.all; /* elements always look */
  return counts;
}

static size_t put_pooling(const subject *s, axis_counts (*count_by)(const pooling_axis *),
                          double *terms)
{
  enum { AXES_NUMBERS = 15 };
  pooling_axis axes[3];
  terms[0] = 1;
  if (numbers_of(s, "axes", axes, AXES_NUMBERS) != AXES_NUMBERS) return 1;
  for (size_t i = 0; i < 3; i++)
    if (!is_plausible(&axes[i])) return 1;
  axis_counts z = count_by(&axes[0]), y = count_by(&axes[1]), x = count_by(&axes[2]);
  double of_plane = z.all * y.all * x.all, planes = (double)size_of(s, "out") / of_plane;
  double nonempty = z.nonempty * y.nonempty * x.nonempty;
  const double of_planes[] = {1,
                              z.all,
                              z.all * y.all,
                              nonempty,
                              of_plane - nonempty,
                              z.covered * y.nonempty * x.nonempty,
                              z.covered * y.covered * x.nonempty,
                              z.covered * y.covered * x.covered,
                              z.covered * y.covered * x.covered_by_four,
                              z.behind * y.all * x.all,
                              z.all * y.behind * x.all,
                              z.all * y.all * x.behind};
  enum { NUMBERS = sizeof of_planes / sizeof *of_planes };
  for (size_t i = 0; i < NUMBERS; i++) terms[1 + i] = planes * of_planes[i];
  return 1 + NUMBERS;
}

static size_t of_pool(const subject *s, double *terms)
{
  return put_pooling(s, count_by_window, terms);
}

static size_t of_pool_gradient(const subject *s, double *terms)
{
  return put_pooling(s, count_by_element, terms);
}

/* Each worker counts through all elements, and draws numbers for its own. */
static size_t of_drawing(const subject *s, double *terms)
{
  size_t all = size_of(s, "out"), own = share_of(s, all);
  bool seeded = number_of(s, "seeded");
  terms[0] = 1;
  terms[1] = (double)rounds_of(size_of(s, "runs"), 2);
  terms[2] = (double)all;
  terms[seeded ? 3 : 4] = (double)own;
  return 5;
}

static size_t of_words(const subject *s, double *terms)
{
  terms[0] = 1;
  terms[1] = (double)rounds_of(size_of(s, "out"), 4);
  return 2;
}

/* ---- poplar_rt: transpositions, of blocks of 4 x 4 elements or 8 x 8 bytes ---- */

static size_t block_of(const subject *s)
{
  return bytes_of_element(s) == 1 ? 8 : 4;
}

static size_t put_transpositions(double *terms, size_t count, size_t rows, size_t columns)
{
  terms[0] = 1;
  terms[1] = (double)count;
  terms[2] = (double)(count * columns);
  terms[3] = (double)(count * columns * rounds_of(rows, 4));
  terms[4] = (double)(count * columns * (rows % 4));
  terms[5] = rows % 8 ? terms[2] : 0;
  return 6;
}

static size_t put_blocks(const subject *s, double *terms, size_t count)
{
  return put_transpositions(terms, count, number_of(s, "numSrcRowsD4Or8") * block_of(s),
                            number_of(s, "numSrcColumnsD4Or8") * block_of(s));
}

static size_t of_transpose(const subject *s, double *terms)
{
  size_t count = number_of(s, "numTranspositions");
  bool less = count > 0 && s->worker >= number_of(s, "workerCount");
  return put_blocks(s, terms, count - less);
}

static size_t of_transpose_by_one(const subject *s, double *terms)
{
  return put_blocks(s, terms, number_of(s, "numTranspositionsM1") + 1);
}

static size_t of_transpose_parts(const subject *s, double *terms)
{
  enum { ROWS = 2, COLUMNS, NUMBERS, MOST = 64 };
  uint16_t list[MOST * NUMBERS];
  size_t first = (size_t)s->worker * NUMBERS,
         count = numbers_of(s, "workList", list, MOST * NUMBERS);
  bool works = first + NUMBERS <= count;
  return put_transpositions(terms, works, works ? list[first + ROWS] * block_of(s) : 0,
                            works ? list[first + COLUMNS] * block_of(s) : 0);
}

static size_t of_transpose_anywhere(const subject *s, double *terms)
{
  return put_transpositions(terms, size_of(s, "src"), number_of(s, "numSrcRows"),
                            number_of(s, "numSrcColumns"));
}

/* ---- types ---- */

typedef struct family {
  const char *name; /* of types, without their arguments */
  size_t (*terms)(const subject *s, double *terms);
} family;
static const family families[] = {
    {"poplar_rt::CycleDifference", constant_terms},
    {"poplar_rt::CycleStamp", constant_terms},
    {"poplar_rt::FloatControl", constant_terms},
    {"poplar_rt::GetSeeds", constant_terms},
    {"poplar_rt::PackMetadata", constant_terms},
    {"poplar_rt::SetSeeds", constant_terms},
    {"poplar_rt::SplitTranspose1D", of_transpose_parts},
    {"poplar_rt::Transpose1D", of_transpose},
    {"poplar_rt::Transpose1DSingleWorker", of_transpose_by_one},
    {"poplar_rt::Transpose2D", of_transpose_anywhere},
    {"poplin::MatMulBlock", of_matmul},
    {"poplin::MatMulMore", of_matmul},
    {"popnn::CountCorrect", of_rows_of_classes},
    {"popnn::Loss", of_rows_of_classes},
    {"popnn::Pool", of_pool},
    {"popnn::PoolGradient", of_pool_gradient},
    {"popops::Binary", of_binary},
    {"popops::Cast", of_elements},
    {"popops::CombineChunk", of_combination},
    {"popops::CombineHere", of_combination},
    {"popops::FillWords", of_elements},
    {"popops::HeadChunk", constant_terms},
    {"popops::Histogram", of_histogram},
    {"popops::JoinSlices", of_join},
    {"popops::MergeBlocks", of_merge_blocks},
    {"popops::PutChunk", of_chunk_copy},
    {"popops::Reduce", of_reduce},
    {"popops::ReduceTo", of_reduce},
    {"popops::ScaledAdd", of_elements},
    {"popops::ScaledAddBy", of_elements},
    {"popops::ScaledReduce", of_reduce},
    {"popops::ScaledReduceTo", of_reduce},
    {"popops::Slice", of_slice},
    {"popops::Sort", of_sort},
    {"popops::SortBlock", of_sort_block},
    {"popops::SortWithValues", of_sort},
    {"popops::TakeChunk", of_chunk_copy},
    {"popops::Ternary", of_ternary},
    {"popops::Unary", of_elements},
    {"popops::Update", of_update},
    {"popops::UpdateBy", of_update},
    {"popops::WindowRows", of_windows},
    {"poprand::Draw", of_drawing},
    {"poprand::DrawInteger", of_drawing},
    {"poprand::Dropout", of_drawing},
    {"poprand::Seeds", of_words},
};

static const our_cycles table[] = {
#include "poplibs/host/our_cycles.def"
};

static int compare_type(const void *name, const void *row)
{
  return strcmp(name, ((const our_cycles *)row)->type);
}

const our_cycles *our_cycles_of_type(const char *vertex_type)
{
  return bsearch(vertex_type, table, sizeof table / sizeof *table, sizeof *table, compare_type);
}

static const family *family_of(const char *type)
{
  size_t length = strcspn(type, "<");
  for (size_t i = 0; i < sizeof families / sizeof *families; i++)
    if (strncmp(families[i].name, type, length) == 0 && !families[i].name[length])
      return &families[i];
  return NULL;
}

size_t our_cycles_terms(pop_graph *graph, pop_vertex vertex, const our_cycles *row, uint32_t worker,
                        double *terms)
{
  const family *f = family_of(row->type);
  const subject s = {graph, vertex, row, worker, pop_graph_get_target(graph)->num_worker_contexts};
  memset(terms, 0, OUR_CYCLES_MAX_TERMS * sizeof *terms);
  return f ? f->terms(&s, terms) : 0;
}

static pop_perf_estimate estimate(void *context, pop_graph *graph, pop_vertex vertex)
{
  enum { MOST = INT32_MAX }; /* limit for vertices whose fields make no sense */
  const our_cycles *row = context;
  double most = 1, terms[OUR_CYCLES_MAX_TERMS];
  uint32_t num_workers = pop_graph_get_target(graph)->num_worker_contexts;
  for (uint32_t worker = 0; worker < num_workers; worker++) {
    size_t count = our_cycles_terms(graph, vertex, row, worker, terms);
    double cycles = 0;
    for (size_t i = 0; i < count; i++) cycles += row->cycles[i] * terms[i];
    if (cycles > most) most = cycles;
  }
  return (pop_perf_estimate){.cycles = most < MOST ? (uint64_t)(most + 0.5) : MOST};
}

void our_cycles_add_estimators(pop_graph *graph)
{
  for (size_t i = 0; i < graph->num_vertex_types; i++) {
    if (!graph->vertex_types[i].of_library) continue;
    const char *type = graph->vertex_types[i].type->name;
    const our_cycles *row = our_cycles_of_type(type);
    if (row) graph_add_library_estimator(graph, type, ESTIMATE_OURS, estimate, (void *)row);
  }
}
