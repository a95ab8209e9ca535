/* Slices and updates at offsets that the device knows: populus/popops_slice.h.
 *
 * The tensor is a table: the sliced dimension is its rows, all others together are its columns.
 * Each tile has a vertex for its columns. A long table may be in parts of some rows each, whose
 * columns are on different tiles (slice_table.h):
 *
 *   slice:  slices of each part, with zeros for rows of other parts -> joined
 *   update: each part is updated where it has the row */
#include "base/divide.h"
#include "graph/view.h"
#include "poplibs/host/slice_copies.h"
#include "poplibs/host/slice_table.h"

#include <populus/popops.h>
#include <populus/popops_slice.h>
#include <stdlib.h>

/* ---- tables ---- */

/* [rows, columns] */
static pop_tensor as_table(pop_tensor t, size_t dim)
{
  pop_tensor rows_first = pop_tensor_dim_roll(t, dim, 0);
  return pop_tensor_flatten_partial(rows_first, 1, pop_tensor_rank(t));
}

/* Slices [n, …], where `dim` counts without the n, as [n * size, columns]. */
static pop_tensor as_slices(pop_tensor s, size_t dim)
{
  pop_tensor rows_first = pop_tensor_dim_roll(s, dim + 1, 1);
  return pop_tensor_flatten_partial(pop_tensor_flatten_partial(rows_first, 2, pop_tensor_rank(s)),
                                    0, 2);
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

/* Do the slices have the tensor's shape, but for a first dimension of `count` and `size` in
 * `dim`? */
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

/* Compute sets in the order of execution: slices or updates, then joins. */
typedef struct steps {
  pop_compute_set main, join;
  bool joins;
} steps;

static steps start_steps(const access *a)
{
  return (steps){.main = pop_graph_add_compute_set(a->graph, a->name)};
}

static void run_steps(const access *a, const steps *s)
{
  pop_sequence_add(a->sequence, pop_program_execute(a->graph, s->main, a->name));
  if (s->joins) pop_sequence_add(a->sequence, pop_program_execute(a->graph, s->join, a->name));
}

/* Sets the fields that all vertex types have. */
static void connect_common(const access *a, pop_vertex v, pop_tensor table, const table_part *of,
                           const spread_part *part)
{
  pop_tensor rows = pop_tensor_slice(table, of->begin, of->end, 0);
  pop_graph_connect(a->graph, v, "table", table_part_columns(part, rows));
  pop_graph_connect(a->graph, v, "offsets", a->offsets);
  pop_graph_set_field_int(a->graph, v, "rows", (int64_t)(of->end - of->begin));
  pop_graph_set_field_int(a->graph, v, "first", (int64_t)of->begin);
  pop_graph_set_field_int(a->graph, v, "size", (int64_t)a->size);
}

static void set_wrap(const access *a, pop_vertex v, pop_tensor table)
{
  pop_graph_set_field_int(a->graph, v, "wrap", a->wrap ? (int64_t)pop_tensor_dim(table, 0) : 0);
}

/* A new variable as [outer, lines, width], stored so that the `each` columns of a tile are one
 * run. */
static pop_tensor add_lines(const access *a, pop_type type, size_t outer, size_t lines,
                            size_t width, size_t each)
{
  const size_t sizes[] = {outer, width / each, lines, each}, order[] = {0, 2, 1, 3};
  pop_tensor t = pop_graph_add_variable(a->graph, type, sizes, 4, a->name);
  return pop_tensor_flatten_partial(pop_tensor_dim_shuffle(t, order, 4), 2, 4);
}

/* Slices one part of the table to `lines`. New lines are mapped like the columns. */
static void slice_part(const access *a, pop_compute_set set, pop_tensor table, const table_part *of,
                       pop_tensor lines, bool is_new)
{
  pop_graph *graph = a->graph;
  const char *type = pop_type_name(pop_tensor_element_type(table));
  for (size_t p = 0; p < of->columns.count && !pop_graph_error(graph); p++) {
    const spread_part *part = &of->columns.parts[p];
    pop_tensor out = table_part_columns(part, lines);
    if (is_new) pop_graph_set_tile_mapping(graph, out, part->tile);
    pop_vertex v = poplibs_add_vertex(graph, set, part->tile, "popops::Slice<%s>", type);
    connect_common(a, v, table, of, part);
    set_wrap(a, v, table);
    pop_graph_connect(graph, v, "out", out);
  }
}

/* Maps fewer lines than parts. Lines are cut into as many pieces as tiles have parts of the
 * table, because joining one element of a line reads as many elements as there are parts. */
static void map_pieces(pop_graph *graph, const table_parts *parts, pop_tensor lines)
{
  enum { LEAST_COLUMNS = 8 };
  size_t count = pop_tensor_dim(lines, 0), width = pop_tensor_dim(lines, 1), tiles = 0, done = 0;
  for (size_t p = 0; p < parts->count; p++) tiles += parts->items[p].columns.count;
  size_t pieces = divide_up(tiles, count), most = divide_up(width, LEAST_COLUMNS);
  if (pieces > most) pieces = most;
  for (size_t p = 0, tile = 0; p < parts->count; p++) {
    const spread *s = &parts->items[p].columns;
    for (size_t i = 0; i < s->count; i++)
      for (size_t end = ++tile * count * pieces / tiles; done < end; done++) {
        size_t line = done / pieces, piece = done % pieces;
        pop_tensor some = pop_tensor_slice(pop_tensor_index(lines, line), piece * width / pieces,
                                           (piece + 1) * width / pieces, 0);
        pop_graph_set_tile_mapping(graph, some, s->parts[i].tile);
      }
  }
}

/* Maps lines. Each tile of a column gets as many of its lines, so that what tiles send each
 * other is adjacent. */
static void map_lines(pop_graph *graph, const table_parts *parts, pop_tensor lines)
{
  size_t count = pop_tensor_dim(lines, 0);
  if (pop_tensor_num_elements(lines) == 0) return;
  if (count < parts->count) {
    map_pieces(graph, parts, lines);
    return;
  }
  for (size_t p = 0; p < parts->count; p++) {
    const spread *s = &parts->items[p].columns;
    pop_tensor some =
        pop_tensor_slice(lines, p * count / parts->count, (p + 1) * count / parts->count, 0);
    for (size_t i = 0; i < s->count; i++)
      pop_graph_set_tile_mapping(graph, table_part_columns(&s->parts[i], some), s->parts[i].tile);
  }
}

/* Slices each part of the table, and joins the slices to `lines`. */
static void slice_parts(const access *a, const char *call, steps *steps, pop_tensor table,
                        const table_parts *parts, pop_tensor lines)
{
  pop_graph *graph = a->graph;
  pop_type type = pop_tensor_element_type(table);
  size_t width = pop_tensor_dim(lines, 1);
  pop_tensor given = add_lines(a, type, parts->count, pop_tensor_dim(lines, 0), width,
                               table_parts_columns_of_a_tile(parts, width));
  for (size_t p = 0; p < parts->count && !pop_graph_error(graph); p++)
    slice_part(a, steps->main, table, &parts->items[p], pop_tensor_index(given, p), true);
  pop_tensor flat = pop_tensor_flatten(lines), rows = pop_tensor_flatten_partial(given, 1, 3);
  spread s = spread_of(graph, call, flat);
  if (!steps->joins) steps->join = pop_graph_add_compute_set(graph, a->name);
  steps->joins = true;
  for (size_t p = 0; p < s.count && !pop_graph_error(graph); p++) {
    pop_vertex v = poplibs_add_vertex(graph, steps->join, s.parts[p].tile, "popops::JoinSlices<%s>",
                                      pop_type_name(type));
    pop_graph_connect(graph, v, "in", pop_tensor_flatten(table_part_columns(&s.parts[p], rows)));
    pop_graph_connect(graph, v, "out", spread_slice(&s.parts[p], flat));
    pop_graph_set_field_int(graph, v, "parts", (int64_t)parts->count);
  }
  spread_free(&s);
}

/* New slices [n, …], stored for a mapping like that of the table's columns. */
static pop_tensor add_slices(const access *a, pop_tensor t, const table_parts *parts)
{
  size_t rank = pop_tensor_rank(t) + 1, width = 1, next = 2;
  size_t turned[GRAPH_MAX_RANK + 1] = {pop_tensor_num_elements(a->offsets), a->size};
  for (size_t d = 0; d + 1 < rank; d++)
    if (d != a->dim) width *= turned[next++] = pop_tensor_dim(t, d);
  size_t lines = turned[0] * turned[1];
  pop_type type = pop_tensor_element_type(t);
  pop_tensor out = lines && width ? add_lines(a, type, 1, lines, width,
                                              table_parts_columns_of_a_tile(parts, width))
                                  : pop_graph_add_variable(a->graph, type, turned, rank, a->name);
  return pop_tensor_dim_roll(pop_tensor_reshape(out, turned, rank), 1, a->dim + 1);
}

/* The slices of one table, added to `steps`. `out` is null for a new variable. */
static pop_tensor slices_in(const access *a, const char *call, steps *steps, pop_tensor t,
                            pop_tensor out)
{
  pop_graph *graph = a->graph;
  pop_type bits = bits_of(pop_tensor_element_type(t));
  pop_tensor table = as_table(pop_tensor_reinterpret(t, bits), a->dim);
  bool is_new = out.index == 0;
  table_parts parts = {.count = 0};
  if (pop_graph_error(graph)) return out;
  table_parts_find(graph, table, &parts);
  if (is_new) out = add_slices(a, t, &parts);
  pop_tensor lines = as_slices(pop_tensor_reinterpret(out, bits), a->dim);
  if (pop_graph_error(graph)) {
    table_parts_free(&parts);
    return out;
  }
  if (parts.count == 1) {
    slice_part(a, steps->main, table, &parts.items[0], lines, is_new);
  } else {
    if (is_new) map_lines(graph, &parts, lines);
    slice_parts(a, call, steps, table, &parts, lines);
  }
  table_parts_free(&parts);
  return out;
}

static pop_tensor slices(const access *given, const char *call, pop_tensor t, pop_tensor out)
{
  access a = *given;
  size_t count = pop_tensor_num_elements(a.offsets);
  if (out.index) {
    if (!check_slices(a.graph, call, t, out, count, a.dim, a.size)) return out;
    /* It is written while these are read, and has one dimension more than either. */
    t = poplibs_apart(a.graph, t, out, a.sequence, a.name);
    a.offsets = poplibs_apart(a.graph, a.offsets, out, a.sequence, a.name);
  }
  steps steps = start_steps(&a);
  out = slices_in(&a, call, &steps, t, out);
  run_steps(&a, &steps);
  return out;
}

static void update_part(const access *a, pop_compute_set set, const char *type_name, bool as_bits,
                        pop_tensor table, const table_part *of, pop_tensor lines, pop_tensor scale)
{
  pop_graph *graph = a->graph;
  const char *type = pop_type_name(pop_tensor_element_type(table));
  for (size_t p = 0; p < of->columns.count && !pop_graph_error(graph); p++) {
    const spread_part *part = &of->columns.parts[p];
    pop_vertex v = poplibs_add_vertex(graph, set, part->tile, "popops::%s%s>", type_name, type);
    connect_common(a, v, table, of, part);
    pop_graph_connect(graph, v, "slices", table_part_columns(part, lines));
    if (as_bits)
      set_wrap(a, v, table);
    else
      pop_graph_connect(graph, v, "scale", pop_tensor_flatten(scale));
  }
}

static void update_in(const access *a, const steps *steps, const char *type_name, bool as_bits,
                      pop_tensor t, pop_tensor s, pop_tensor scale)
{
  pop_graph *graph = a->graph;
  pop_type type = as_bits ? bits_of(pop_tensor_element_type(t)) : pop_tensor_element_type(t);
  pop_tensor table = as_table(pop_tensor_reinterpret(t, type), a->dim);
  pop_tensor lines = as_slices(pop_tensor_reinterpret(s, type), a->dim);
  table_parts parts = {.count = 0};
  if (pop_graph_error(graph)) return;
  table_parts_find(graph, table, &parts);
  for (size_t p = 0; p < parts.count; p++)
    update_part(a, steps->main, type_name, as_bits, table, &parts.items[p], lines, scale);
  table_parts_free(&parts);
}

static void update(const access *a, const char *type_name, bool as_bits, pop_tensor t, pop_tensor s,
                   pop_tensor scale)
{
  steps steps = start_steps(a);
  update_in(a, &steps, type_name, as_bits, t, s, scale);
  run_steps(a, &steps);
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
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){t, offset}, 2);
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
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return;
  poplibs_log(__func__, name, (const pop_tensor[]){t, s, offset}, 3);
  static const char call[] = "pop_popops_dynamic_update";
  if (!check_dims(graph, call, t, offset, dims, sizes, count)) return;
  /* As one slice of several, `s` is not `t` itself, whose rows would go to other places. */
  s = pop_tensor_index(poplibs_apart(graph, pop_tensor_expand(s, 0), t, sequence, name), 0);
  offset = poplibs_apart(graph, offset, t, sequence, name);
  /* With more than one dimension: slices the first, updates that slice in the others, and writes
   * it back. */
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

static pop_tensor multi_slice(pop_graph *graph, const char *call, pop_tensor t, pop_tensor offsets,
                              size_t dim, size_t size, pop_tensor out, pop_program sequence,
                              const char *name)
{
  if (!check_part(graph, call, t, offsets, dim, size)) return (pop_tensor){graph->top, 0};
  access a = {graph, pop_tensor_flatten(offsets), dim, size, false, sequence, name};
  return slices(&a, call, t, out);
}

pop_tensor pop_popops_multi_slice(pop_graph *graph, pop_tensor t, pop_tensor offsets, size_t dim,
                                  size_t size, pop_tensor out, pop_program sequence,
                                  const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){t, offsets}, 2);
  return multi_slice(graph, __func__, t, offsets, dim, size, out, sequence, name);
}

static const char *const update_types[POP_UPDATE_COUNT] = {
    "Update<", "UpdateBy<popops::UpdateOp::ADD,", "UpdateBy<popops::UpdateOp::MAX,",
    "UpdateBy<popops::UpdateOp::MUL,"};

/* Does the type have the operation? A null scale becomes 1. */
static bool check_operation(pop_graph *graph, const char *call, pop_update_op op, pop_type type,
                            pop_tensor *scale, const char *name)
{
  static const char *const names[POP_UPDATE_COUNT] = {"update", "ADD update", "MAX update",
                                                      "MUL update"};
  if (op >= POP_UPDATE_COUNT) {
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT,
                 "%s: operation %u is none: they are from 0 (POP_UPDATE_SET) to %u", call,
                 (unsigned)op, POP_UPDATE_COUNT - 1);
    return false;
  }
  bool scaled = scale->index != 0;
  if (scaled && (op != POP_UPDATE_ADD || pop_tensor_num_elements(*scale) != 1 ||
                 pop_tensor_element_type(*scale) != type)) {
    poplibs_fail(graph, POP_ERROR_TENSOR,
                 "%s: a scale is one element of type %s, and only sums have one", call,
                 pop_type_name(type));
    return false;
  }
  if (op == POP_UPDATE_SET) return true;
  if (!poplibs_check_vertex_type(graph, call,
                                 pop_arena_printf(graph->top->arena, "popops::%s%s>",
                                                  update_types[op], pop_type_name(type)),
                                 names[op], type))
    return false;
  if (!scaled) {
    const uint32_t one = type == POP_FLOAT ? 0x3f800000 : type == POP_HALF ? 0x3c00 : 1;
    *scale = pop_graph_add_constant(graph, type, NULL, 0, &one, name);
    pop_graph_set_tile_mapping(graph, *scale, 0);
  }
  return true;
}

/* An update reads these while it writes `t`. */
static void take_apart(pop_graph *graph, pop_tensor t, pop_tensor *s, pop_tensor *offsets,
                       pop_tensor *scale, pop_program sequence, const char *name)
{
  *s = poplibs_apart(graph, *s, t, sequence, name);
  *offsets = poplibs_apart(graph, *offsets, t, sequence, name);
  if (scale->index) *scale = poplibs_apart(graph, *scale, t, sequence, name);
}

void pop_popops_multi_update(pop_graph *graph, pop_update_op op, pop_tensor t, pop_tensor s,
                             pop_tensor offsets, size_t dim, size_t size, pop_tensor scale,
                             pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return;
  poplibs_log(__func__, name, (const pop_tensor[]){t, s, offsets}, 3);
  static const char call[] = "pop_popops_multi_update";
  if (!check_part(graph, call, t, offsets, dim, size) ||
      !check_slices(graph, call, t, s, pop_tensor_num_elements(offsets), dim, size) ||
      !check_operation(graph, call, op, pop_tensor_element_type(t), &scale, name))
    return;
  take_apart(graph, t, &s, &offsets, &scale, sequence, name);
  size_t count = pop_tensor_num_elements(offsets), done = 0;
  if (op == POP_UPDATE_ADD)
    done = slice_add_in_copies(graph, t, s, offsets, dim, size, scale, sequence, name);
  if (done == count && count > 0) return;
  pop_tensor left = pop_tensor_slice(pop_tensor_flatten(offsets), done, count, 0);
  access a = {graph, left, dim, size, false, sequence, name};
  update(&a, update_types[op], op == POP_UPDATE_SET, t, pop_tensor_slice(s, done, count, 0), scale);
}

/* ---- many slices of several groups, in shared compute sets ---- */

/* Checks that the first dimension of `t` and of `offsets` is the groups. */
static bool check_groups(pop_graph *graph, const char *call, pop_tensor t, pop_tensor offsets)
{
  if (pop_graph_error(graph)) return false;
  size_t groups = pop_tensor_rank(t) ? pop_tensor_dim(t, 0) : 0;
  if (groups > 0 && pop_tensor_rank(offsets) && pop_tensor_dim(offsets, 0) == groups) return true;
  char shapes[2][64];
  pop_tensor_shape_string(t, shapes[0], sizeof shapes[0]);
  pop_tensor_shape_string(offsets, shapes[1], sizeof shapes[1]);
  if (!pop_graph_error(graph))
    poplibs_fail(graph, POP_ERROR_TENSOR,
                 "%s: a tensor of shape %s and offsets of shape %s; the first dimension of both is "
                 "that of the groups, at least one",
                 call, shapes[0], shapes[1]);
  return false;
}

static access group_of(pop_graph *graph, pop_tensor offsets, size_t group, size_t dim, size_t size,
                       pop_program sequence, const char *name)
{
  pop_tensor own = pop_tensor_flatten(pop_tensor_index(offsets, group));
  return (access){graph, own, dim, size, false, sequence, name};
}

pop_tensor pop_popops_grouped_multi_slice(pop_graph *graph, pop_tensor t, pop_tensor offsets,
                                          size_t dim, size_t size, pop_program sequence,
                                          const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){t, offsets}, 2);
  static const char call[] = "pop_popops_grouped_multi_slice";
  pop_tensor none = {graph->top, 0};
  if (!check_groups(graph, call, t, offsets) ||
      !check_part(graph, call, pop_tensor_index(t, 0), offsets, dim, size))
    return none;
  size_t groups = pop_tensor_dim(t, 0);
  pop_tensor *found = pop_xcalloc(groups, sizeof *found), out = none;
  access all = group_of(graph, offsets, 0, dim, size, sequence, name);
  steps steps = start_steps(&all);
  for (size_t g = 0; g < groups && !pop_graph_error(graph); g++) {
    access a = group_of(graph, offsets, g, dim, size, sequence, name);
    found[g] = pop_tensor_expand(slices_in(&a, call, &steps, pop_tensor_index(t, g), none), 0);
  }
  run_steps(&all, &steps);
  if (!pop_graph_error(graph)) out = pop_concat(found, groups, 0);
  free(found);
  return out;
}

void pop_popops_grouped_multi_update(pop_graph *graph, pop_update_op op, pop_tensor t, pop_tensor s,
                                     pop_tensor offsets, size_t dim, size_t size, pop_tensor scale,
                                     pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return;
  poplibs_log(__func__, name, (const pop_tensor[]){t, s, offsets}, 3);
  static const char call[] = "pop_popops_grouped_multi_update";
  if (!check_groups(graph, call, t, offsets) || !check_groups(graph, call, t, s) ||
      !check_part(graph, call, pop_tensor_index(t, 0), offsets, dim, size) ||
      !check_operation(graph, call, op, pop_tensor_element_type(t), &scale, name))
    return;
  take_apart(graph, t, &s, &offsets, &scale, sequence, name);
  access all = group_of(graph, offsets, 0, dim, size, sequence, name);
  steps steps = start_steps(&all);
  for (size_t g = 0; g < pop_tensor_dim(t, 0) && !pop_graph_error(graph); g++) {
    access a = group_of(graph, offsets, g, dim, size, sequence, name);
    pop_tensor of = pop_tensor_index(t, g), slice = pop_tensor_index(s, g);
    if (check_slices(graph, call, of, slice, pop_tensor_num_elements(a.offsets), dim, size))
      update_in(&a, &steps, update_types[op], op == POP_UPDATE_SET, of, slice, scale);
  }
  run_steps(&all, &steps);
}

pop_tensor pop_popops_gather(pop_graph *graph, pop_tensor t, pop_tensor indices, size_t axis,
                             pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){t, indices}, 2);
  pop_tensor none = {graph->top, 0};
  pop_tensor found = multi_slice(graph, __func__, t, indices, axis, 1, none, sequence, name);
  if (!found.index) return none;
  found = pop_tensor_squeeze_dims(found, (size_t[]){axis + 1}, 1);
  found = pop_tensor_dim_roll(found, 0, axis);
  return pop_tensor_reshape_partial(found, axis, axis + 1, pop_tensor_shape(indices),
                                    pop_tensor_rank(indices));
}
