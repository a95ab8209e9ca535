/* Queries of tensors. They also work when the graph has an error. A null handle is a scalar of
 * no type without elements. */
#include "graph/check.h"
#include "graph/describe.h"

#include <stdlib.h>
#include <string.h>

static const tensor *find_tensor(pop_tensor t, const char *call)
{
  if (t.graph && !graph_lives(t.graph, call)) return NULL;
  return pop_tensor_valid(t) ? &t.graph->tensors[t.index] : NULL;
}

bool pop_tensor_valid(pop_tensor t)
{
  GRAPH_TURN(t.graph);
  return object_lives(t.graph, OBJECT_GRAPH) && t.index > 0 && t.index < t.graph->num_tensors;
}

pop_type pop_tensor_element_type(pop_tensor handle)
{
  GRAPH_TURN(handle.graph);
  const tensor *t = find_tensor(handle, __func__);
  return t ? t->type : POP_TYPE_COUNT;
}

size_t pop_tensor_rank(pop_tensor handle)
{
  GRAPH_TURN(handle.graph);
  const tensor *t = find_tensor(handle, __func__);
  return t ? t->rank : 0;
}

size_t pop_tensor_dim(pop_tensor handle, size_t dimension)
{
  GRAPH_TURN(handle.graph);
  const tensor *t = find_tensor(handle, __func__);
  if (!t) return 0;
  if (dimension < t->rank) return t->shape[dimension];
  graph_failf(handle.graph, POP_ERROR_INDEX,
              "pop_tensor_dim: dimension %zu of the %s, which has %u dimensions", dimension,
              say_tensor(handle.graph, t), t->rank);
  return 0;
}

const size_t *pop_tensor_shape(pop_tensor handle)
{
  GRAPH_TURN(handle.graph);
  const tensor *t = find_tensor(handle, __func__);
  return t ? t->shape : NULL;
}

size_t pop_tensor_num_elements(pop_tensor handle)
{
  GRAPH_TURN(handle.graph);
  const tensor *t = find_tensor(handle, __func__);
  return t ? t->num_elements : 0;
}

bool pop_tensor_is_contiguous(pop_tensor handle)
{
  GRAPH_TURN(handle.graph);
  const tensor *t = find_tensor(handle, __func__);
  if (!t) return false;
  if (t->num_elements == 0) return true;
  view_walk walk;
  view_run run;
  view_walk_start(&walk, handle.graph, handle.index);
  return view_walk_next(&walk, &run) && run.count == t->num_elements;
}

bool pop_tensor_contains_constant(pop_tensor handle)
{
  GRAPH_TURN(handle.graph);
  const tensor *t = find_tensor(handle, __func__);
  for (size_t i = 0; t && i < t->num_pieces; i++)
    if (handle.graph->variables[handle.graph->pieces[t->first_piece + i].variable].constant)
      return true;
  return false;
}

bool pop_tensor_is_parallel_writeable(pop_tensor handle)
{
  GRAPH_TURN(handle.graph);
  return find_tensor(handle, __func__) && !pop_tensor_contains_constant(handle) &&
         !pop_tensor_contains_aliases(handle);
}

static bool same_piece(const pop_graph *graph, const view_piece *a, const view_piece *b)
{
  return a->variable == b->variable && a->base == b->base && a->num_dims == b->num_dims &&
         (a->num_dims == 0 || a->first_dim == b->first_dim ||
          memcmp(graph->dims + a->first_dim, graph->dims + b->first_dim,
                 a->num_dims * sizeof *graph->dims) == 0);
}

static bool same_pieces(const pop_graph *graph, const tensor *a, const tensor *b)
{
  if (a->num_pieces != b->num_pieces) return false;
  for (size_t i = 0; i < a->num_pieces; i++)
    if (!same_piece(graph, &graph->pieces[a->first_piece + i], &graph->pieces[b->first_piece + i]))
      return false;
  return true;
}

/* Views that were made differently may have different pieces for the same elements. */
static bool same_runs(const pop_graph *graph, uint32_t a, uint32_t b)
{
  view_walk walk_a, walk_b;
  view_run run_a = {0}, run_b = {0};
  view_walk_start(&walk_a, graph, a);
  view_walk_start(&walk_b, graph, b);
  for (;;) {
    bool more_a = view_walk_next(&walk_a, &run_a), more_b = view_walk_next(&walk_b, &run_b);
    if (!more_a || !more_b) return more_a == more_b;
    if (run_a.variable != run_b.variable || run_a.begin != run_b.begin ||
        run_a.count != run_b.count)
      return false;
  }
}

bool pop_tensor_equal(pop_tensor left, pop_tensor right)
{
  GRAPH_TURNS(left.graph, right.graph);
  const tensor *a = find_tensor(left, __func__), *b = find_tensor(right, __func__);
  if (!a || !b) return !a && !b;
  if (left.graph != right.graph || a->type != b->type || a->rank != b->rank ||
      a->replication != b->replication)
    return false;
  for (uint32_t d = 0; d < a->rank; d++)
    if (a->shape[d] != b->shape[d]) return false;
  return same_pieces(left.graph, a, b) || same_runs(left.graph, left.index, right.index);
}

/* ---- as text ---- */

enum { MOST_RUNS_IN_A_STRING = 8 };

static void print_shape(FILE *stream, const tensor *t)
{
  putc('{', stream);
  for (uint32_t d = 0; t && d < t->rank; d++) fprintf(stream, d ? ",%zu" : "%zu", t->shape[d]);
  putc('}', stream);
}

static void print_run(FILE *stream, const pop_graph *graph, const view_run *run)
{
  const variable *v = &graph->variables[run->variable];
  unsigned long long begin = run->begin, end = run->begin + run->count;
  if (*v->name)
    fprintf(stream, " %s", v->name);
  else
    fprintf(stream, " variable %u", run->variable);
  if (run->count == 1)
    fprintf(stream, "[%llu]", begin);
  else
    fprintf(stream, "[%llu:%llu]", begin, end);
}

static void print_tensor(FILE *stream, const char *call, pop_tensor handle, size_t most_runs)
{
  const tensor *t = find_tensor(handle, call);
  fprintf(stream, "%s ", t ? pop_type_name(t->type) : "null");
  print_shape(stream, t);
  if (!t || t->num_elements == 0) return;
  fputs(" =", stream);
  view_walk walk;
  view_walk_start(&walk, handle.graph, handle.index);
  size_t count = 0;
  for (view_run run; view_walk_next(&walk, &run); count++) {
    if (count == most_runs) {
      fputs(" …", stream);
      return;
    }
    print_run(stream, handle.graph, &run);
  }
}

/* Copies as much of `whole` as there is room for. */
static size_t hand_over(char *whole, size_t length, char *text, size_t size)
{
  if (text && size) {
    size_t taken = length < size ? length : size - 1;
    memcpy(text, whole, taken);
    text[taken] = '\0';
  }
  free(whole);
  return length;
}

size_t pop_tensor_shape_string(pop_tensor handle, char *text, size_t size)
{
  GRAPH_TURN(handle.graph);
  char *whole = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&whole, &length);
  if (!stream) return 0;
  print_shape(stream, find_tensor(handle, __func__));
  fclose(stream);
  return hand_over(whole, length, text, size);
}

size_t pop_tensor_debug_string(pop_tensor handle, char *text, size_t size)
{
  GRAPH_TURN(handle.graph);
  char *whole = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&whole, &length);
  if (!stream) return 0;
  print_tensor(stream, __func__, handle, MOST_RUNS_IN_A_STRING);
  fclose(stream);
  return hand_over(whole, length, text, size);
}

void pop_tensor_dump(pop_tensor handle, FILE *stream)
{
  GRAPH_TURN(handle.graph);
  if (!stream) return;
  print_tensor(stream, __func__, handle, SIZE_MAX);
  putc('\n', stream);
}

/* Copies elements [begin, begin + count) of a constant to `to`. */
static void copy_constant(const variable *v, uint64_t begin, uint64_t count, uint8_t *to)
{
  size_t size = pop_type_bytes(v->type);
  if (v->initial)
    memcpy(to, v->initial + begin * size, count * size);
  else
    memset(to, 0, count * size);
}

size_t pop_tensor_constant_values(pop_tensor handle, void *values, size_t max)
{
  GRAPH_TURN(handle.graph);
  const tensor *t = find_tensor(handle, __func__);
  if (!t) return SIZE_MAX;
  const pop_graph *graph = handle.graph;
  view_walk walk;
  view_walk_start(&walk, graph, handle.index);
  for (view_run run; view_walk_next(&walk, &run);)
    if (!graph->variables[run.variable].constant || graph->variables[run.variable].is_replica_index)
      return SIZE_MAX;
  uint8_t *to = values;
  uint64_t left = max;
  view_walk_start(&walk, graph, handle.index);
  for (view_run run; left > 0 && view_walk_next(&walk, &run);) {
    uint64_t count = run.count < left ? run.count : left;
    copy_constant(&graph->variables[run.variable], run.begin, count, to);
    to += count * pop_type_bytes(t->type);
    left -= count;
  }
  return t->num_elements;
}
