/* What the library functions share. */
#include "poplibs/host/spread.h"
#include "base/log.h"
#include "graph/check.h"
#include "graph/graph.h"

#include <ctype.h>
#include <populus/introspection.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void poplibs_fail(pop_graph *graph, pop_error_code code, const char *format, ...)
{
  if (!graph) return;
  va_list args;
  va_start(args, format);
  graph_fail(graph, pop_error_new_v(code, format, args));
  va_end(args);
}

/* ---- shapes ---- */

static const char *shape_text(pop_tensor t)
{
  size_t size = pop_tensor_shape_string(t, NULL, 0) + 1;
  char *text = pop_arena_alloc(t.graph->arena, size);
  pop_tensor_shape_string(t, text, size);
  return text;
}

pop_tensor poplibs_broadcast(const char *call, pop_tensor t, const size_t *shape, size_t rank)
{
  if (pop_tensor_rank(t) > rank) {
    poplibs_fail(t.graph, POP_ERROR_TENSOR,
                 "%s: a tensor of shape %s cannot be repeated to one of %zu dimensions", call,
                 shape_text(t), rank);
    return (pop_tensor){t.graph, 0};
  }
  size_t missing = rank - pop_tensor_rank(t);
  pop_tensor result = t;
  for (size_t i = 0; i < missing; i++) result = pop_tensor_expand(result, 0);
  for (size_t i = 0; i < rank; i++) {
    size_t size = pop_tensor_dim(result, i);
    if (size == shape[i]) continue;
    if (size != 1) {
      poplibs_fail(t.graph, POP_ERROR_TENSOR,
                   "%s: a tensor of shape %s cannot be repeated to %zu in dimension %zu", call,
                   shape_text(t), shape[i], i);
      return (pop_tensor){t.graph, 0};
    }
    result = pop_tensor_broadcast(result, shape[i], i);
  }
  return result;
}

bool poplibs_common_shape(const char *call, const pop_tensor *tensors, size_t count, size_t *shape,
                          size_t *rank)
{
  *rank = 0;
  for (size_t i = 0; i < count; i++)
    if (pop_tensor_rank(tensors[i]) > *rank) *rank = pop_tensor_rank(tensors[i]);
  for (size_t d = 0; d < *rank; d++) shape[d] = 1;
  for (size_t i = 0; i < count; i++) {
    size_t missing = *rank - pop_tensor_rank(tensors[i]);
    for (size_t d = missing; d < *rank; d++) {
      size_t size = pop_tensor_dim(tensors[i], d - missing);
      if (shape[d] == 1) shape[d] = size;
      if (size == 1 || size == shape[d]) continue;
      poplibs_fail(
          tensors[i].graph, POP_ERROR_TENSOR,
          "%s: operands of shapes %s and %s do not go together: their sizes must be equal, or 1",
          call, shape_text(tensors[0]), shape_text(tensors[i]));
      return false;
    }
  }
  return true;
}

static bool has_shape(pop_tensor t, const size_t *shape, size_t rank)
{
  return pop_tensor_rank(t) == rank &&
         (rank == 0 || memcmp(pop_tensor_shape(t), shape, rank * sizeof *shape) == 0);
}

static void note_unmapped(void *context, size_t tile, size_t begin, size_t end)
{
  (void)begin;
  (void)end;
  if (tile == SIZE_MAX) *(bool *)context = true;
}

static bool is_mapped(pop_graph *graph, pop_tensor t)
{
  bool unmapped = false;
  pop_graph_visit_tile_mapping(graph, t, note_unmapped, &unmapped);
  return !unmapped;
}

/* `out` reshaped to the result's shape, if the two shapes differ by dimensions of size 1 only;
 * otherwise `out`. */
static pop_tensor as_result(pop_tensor out, const size_t *shape, size_t rank)
{
  const size_t *given = pop_tensor_shape(out);
  size_t i = 0, j = 0, given_rank = pop_tensor_rank(out);
  for (;;) {
    while (i < given_rank && given[i] == 1) i++;
    while (j < rank && shape[j] == 1) j++;
    if (i == given_rank || j == rank || given[i] != shape[j]) break;
    i++;
    j++;
  }
  return i == given_rank && j == rank ? pop_tensor_reshape(out, shape, rank) : out;
}

pop_tensor poplibs_result(pop_graph *graph, const char *call, pop_tensor out, pop_type type,
                          const size_t *shape, size_t rank, const pop_tensor *operands,
                          size_t num_operands, const char *name)
{
  if (out.index) {
    out = as_result(out, shape, rank);
    if (has_shape(out, shape, rank) && pop_tensor_element_type(out) == type) return out;
    poplibs_fail(graph, POP_ERROR_TENSOR,
                 "%s: the output is of type %s and shape %s; the result is of type %s%s", call,
                 pop_type_name(pop_tensor_element_type(out)), shape_text(out), pop_type_name(type),
                 has_shape(out, shape, rank) ? "" : " and of another shape");
    return (pop_tensor){graph, 0};
  }
  for (size_t i = 0; i < num_operands; i++)
    if (has_shape(operands[i], shape, rank) && pop_tensor_is_parallel_writeable(operands[i]) &&
        is_mapped(graph, operands[i]))
      return pop_graph_clone(graph, type, operands[i], name, POP_CLONE_CREATE_NEW_ORDER);
  pop_tensor result = pop_graph_add_variable(graph, type, shape, rank, name);
  pop_graph_map_linearly(graph, result, 0, 0);
  return result;
}

pop_tensor poplibs_apart(pop_graph *graph, pop_tensor t, pop_tensor out, pop_program sequence,
                         const char *name)
{
  if (pop_graph_error(graph) || !pop_tensor_intersects_with(t, out) || pop_tensor_equal(t, out))
    return t;
  pop_tensor copy =
      pop_graph_clone(graph, pop_tensor_element_type(t), t, name, POP_CLONE_CREATE_NEW_ORDER);
  pop_sequence_add(sequence, pop_program_copy(t, copy, name));
  return copy;
}

/* ---- tiles ---- */

void spread_add(spread *s, size_t tile, size_t begin, size_t end)
{
  while (s->count <= tile) pop_push(s->parts, s->count, s->capacity, (spread_part){0});
  spread_part *part = &s->parts[tile];
  part->tile = tile;
  part->num_elements += end - begin;
  if (part->count && part->intervals[part->count - 1].end == begin)
    part->intervals[part->count - 1].end = end;
  else
    pop_push(part->intervals, part->count, part->capacity, ((pop_interval){begin, end}));
}

/* Adds to `to` parts of the same tile with the elements of `part`. */
static void add_cut(spread *to, spread_part *part)
{
  spread_part next = {.tile = part->tile};
  for (size_t i = 0; i < part->count; i++)
    for (size_t begin = part->intervals[i].begin, end; begin < part->intervals[i].end;
         begin = end) {
      end = begin + SPREAD_MOST_ELEMENTS - next.num_elements;
      if (end > part->intervals[i].end) end = part->intervals[i].end;
      pop_push(next.intervals, next.count, next.capacity, ((pop_interval){begin, end}));
      next.num_elements += end - begin;
      if (next.num_elements < SPREAD_MOST_ELEMENTS) continue;
      pop_push(to->parts, to->count, to->capacity, next);
      next = (spread_part){.tile = part->tile};
    }
  if (next.count) pop_push(to->parts, to->count, to->capacity, next);
  free(part->intervals);
}

void spread_finish(spread *s)
{
  size_t used = 0, most = 0;
  for (size_t i = 0; i < s->count; i++)
    if (s->parts[i].count) {
      if (s->parts[i].num_elements > most) most = s->parts[i].num_elements;
      s->parts[used++] = s->parts[i];
    }
  s->count = used;
  if (most <= SPREAD_MOST_ELEMENTS) return;
  spread cut = {0};
  for (size_t i = 0; i < s->count; i++) add_cut(&cut, &s->parts[i]);
  free(s->parts);
  *s = cut;
}

typedef struct spreading {
  spread spread;
  size_t num_tiles;
  bool incomplete;
} spreading;

static void note_run(void *context, size_t tile, size_t begin, size_t end)
{
  spreading *s = context;
  if (tile < s->num_tiles)
    spread_add(&s->spread, tile, begin, end);
  else
    s->incomplete = true;
}

spread spread_of(pop_graph *graph, const char *call, pop_tensor t)
{
  spreading s = {.num_tiles = graph_tile_limit(graph)};
  if (pop_graph_error(graph)) return s.spread;
  pop_graph_visit_tile_mapping(graph, t, note_run, &s);
  spread_finish(&s.spread);
  if (s.incomplete)
    poplibs_fail(graph, POP_ERROR_INVALID_TILE_MAPPING,
                 "%s: elements of the result are on no tile of the graph; map them first", call);
  return s.spread;
}

void spread_free(spread *s)
{
  for (size_t i = 0; i < s->count; i++) free(s->parts[i].intervals);
  free(s->parts);
}

pop_tensor spread_slice(const spread_part *part, pop_tensor flat)
{
  if (part->count == 1)
    return pop_tensor_slice(flat, part->intervals[0].begin, part->intervals[0].end, 0);
  pop_tensor *pieces = pop_xcalloc(part->count, sizeof *pieces);
  for (size_t i = 0; i < part->count; i++)
    pieces[i] = pop_tensor_slice(flat, part->intervals[i].begin, part->intervals[i].end, 0);
  pop_tensor result = pop_concat(pieces, part->count, 0);
  free(pieces);
  return result;
}

/* ---- runs ---- */

pop_tensor poplibs_flatten_in_runs(pop_tensor matrix, bool *by_columns)
{
  pop_tensor rows = pop_tensor_flatten(matrix);
  pop_tensor columns = pop_tensor_flatten(pop_tensor_transpose(matrix));
  *by_columns = !pop_graph_error(matrix.graph) && view_run_length(columns) > view_run_length(rows);
  return *by_columns ? columns : rows;
}

/* ---- the log ---- */

/* "POPOPS" of "pop_popops_reduce"; returns where the function's own name begins. */
static const char *library_of(const char *call, char library[16])
{
  const char *from = call + strlen("pop_"), *to = strchr(from, '_');
  size_t length = to && to - from < 16 ? (size_t)(to - from) : 0;
  for (size_t i = 0; i < length; i++) library[i] = (char)toupper((unsigned char)from[i]);
  library[length] = '\0';
  return length ? to + 1 : call;
}

void poplibs_log(const char *call, const char *name, const pop_tensor *tensors, size_t count)
{
  char library[16], text[512] = "", shape[128];
  if (!log_poplibs_enabled(LOG_INFO)) return;
  const char *function = library_of(call, library);
  for (size_t i = 0, at = 0; tensors && i < count && at < sizeof text; i++) {
    if (!tensors[i].graph || !tensors[i].index) continue;
    pop_tensor_shape_string(tensors[i], shape, sizeof shape);
    at += (size_t)snprintf(text + at, sizeof text - at, "%s %s%s", at ? "," : ":",
                           pop_type_name(pop_tensor_element_type(tensors[i])), shape);
  }
  log_poplibs(LOG_INFO, library, "%s%s%s%s%s", function, text, name && *name ? ", name '" : "",
              name ? name : "", name && *name ? "'" : "");
}

/* ---- vertices ---- */

pop_vertex poplibs_add_vertex(pop_graph *graph, pop_compute_set set, size_t tile,
                              const char *format, ...)
{
  char name[256];
  va_list args;
  va_start(args, format);
  vsnprintf(name, sizeof name, format, args);
  va_end(args);
  pop_vertex vertex = pop_graph_add_vertex(graph, set, name);
  pop_graph_set_vertex_tile(graph, vertex, tile);
  return vertex;
}

bool poplibs_check_vertex_type(pop_graph *graph, const char *call, const char *vertex_type,
                               const char *what, pop_type type)
{
  if (pop_graph_error(graph)) return false;
  if (pop_graph_has_vertex_type(graph, vertex_type)) return true;
  bool loaded = poplibs_has_popops(graph);
  poplibs_fail(graph, loaded ? POP_ERROR_TYPE : POP_ERROR_UNKNOWN_VERTEX_TYPE,
               loaded ? "%s: there is no %s for elements of type %s"
                      : "%s: the graph has no codelets for it: call pop_popops_add_codelets "
                        "(popops::addCodelets) first",
               call, what, pop_type_name(type));
  return false;
}
