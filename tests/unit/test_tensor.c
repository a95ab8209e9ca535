/* Tensors: every shape operation against a plain list of elements, the sizes that views keep, and
 * what is refused. */
#include "graph_test.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the plain list ---- */

enum { MOST_ELEMENTS = 2000 };

typedef struct list {
  size_t shape[GRAPH_MAX_RANK], rank, count;
  uint64_t elements[MOST_ELEMENTS]; /* variable << 32 | element */
} list;

static size_t count_elements(const size_t *shape, size_t rank)
{
  size_t count = 1;
  for (size_t d = 0; d < rank; d++) count *= shape[d];
  return count;
}

static void unravel(const list *l, size_t position, size_t *index)
{
  for (size_t d = l->rank; d-- > 0; position /= l->shape[d]) index[d] = position % l->shape[d];
}

static size_t ravel(const list *l, const size_t *index)
{
  size_t position = 0;
  for (size_t d = 0; d < l->rank; d++) position = position * l->shape[d] + index[d];
  return position;
}

/* One operation: element `index` of the result is element source_index(index) of the operand. */
typedef struct operation {
  enum { SLICE, SUB_SAMPLE, REVERSE, SHUFFLE, BROADCAST } kind;
  size_t begin[GRAPH_MAX_RANK], permutation[GRAPH_MAX_RANK];
  size_t dimension, stride;
} operation;

static void source_index(const operation *op, const list *from, const size_t *index, size_t *source)
{
  size_t d = op->dimension;
  memcpy(source, index, from->rank * sizeof *source);
  switch (op->kind) {
  case SLICE:
    for (size_t i = 0; i < from->rank; i++) source[i] += op->begin[i];
    break;
  case SUB_SAMPLE:
    source[d] *= op->stride;
    break;
  case REVERSE:
    source[d] = from->shape[d] - 1 - source[d];
    break;
  case SHUFFLE:
    for (size_t i = 0; i < from->rank; i++) source[op->permutation[i]] = index[i];
    break;
  case BROADCAST:
    source[d] %= from->shape[d];
    break;
  }
}

/* `result` has its shape already. */
static void apply(const operation *op, const list *from, list *result)
{
  result->rank = from->rank;
  result->count = count_elements(result->shape, result->rank);
  for (size_t i = 0; i < result->count; i++) {
    size_t index[GRAPH_MAX_RANK], source[GRAPH_MAX_RANK];
    unravel(result, i, index);
    source_index(op, from, index, source);
    result->elements[i] = from->elements[ravel(from, source)];
  }
}

static void join(const list *a, const list *b, size_t dimension, list *result)
{
  *result = *a;
  result->shape[dimension] += b->shape[dimension];
  result->count = a->count + b->count;
  for (size_t i = 0; i < result->count; i++) {
    size_t index[GRAPH_MAX_RANK];
    unravel(result, i, index);
    bool second = index[dimension] >= a->shape[dimension];
    if (second) index[dimension] -= a->shape[dimension];
    const list *from = second ? b : a;
    result->elements[i] = from->elements[ravel(from, index)];
  }
}

/* ---- comparing ---- */

static int compare_elements(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static bool has_alias(const list *l)
{
  static uint64_t sorted[MOST_ELEMENTS];
  memcpy(sorted, l->elements, l->count * sizeof *sorted);
  qsort(sorted, l->count, sizeof *sorted, compare_elements);
  for (size_t i = 1; i < l->count; i++)
    if (sorted[i] == sorted[i - 1]) return true;
  return false;
}

static bool is_one_run(const list *l)
{
  for (size_t i = 1; i < l->count; i++)
    if (l->elements[i] != l->elements[i - 1] + 1) return false;
  return true;
}

static void assert_canonical(pop_tensor handle, const char *after)
{
  const pop_graph *graph = handle.graph;
  const tensor *t = &graph->tensors[handle.index];
  uint64_t position = 0;
  for (size_t i = 0; i < t->num_pieces; i++) {
    const view_piece *piece = &graph->pieces[t->first_piece + i];
    const view_dim *dims = graph->dims + piece->first_dim;
    uint64_t count = 1;
    cr_assert_eq(piece->start, position, "%s: start of piece %zu", after, i);
    for (uint32_t k = 0; k < piece->num_dims; k++) {
      cr_assert_gt(dims[k].count, 1, "%s: a loop that does not loop", after);
      if (k > 0)
        cr_assert_neq(dims[k - 1].stride, (int64_t)dims[k].count * dims[k].stride,
                      "%s: two loops that are one", after);
      count *= dims[k].count;
    }
    position += count;
  }
  cr_assert_eq(position, t->num_elements, "%s: elements of the pieces", after);
}

/* `after` says what was done, with the seed. */
static void assert_same(pop_tensor t, const list *l, const char *after)
{
  assert_no_error(t.graph);
  cr_assert(pop_tensor_valid(t), "%s: null", after);
  cr_assert_eq(pop_tensor_rank(t), l->rank, "%s: rank", after);
  for (size_t d = 0; d < l->rank; d++)
    cr_assert_eq(pop_tensor_dim(t, d), l->shape[d], "%s: dimension %zu", after, d);
  cr_assert_eq(pop_tensor_num_elements(t), l->count, "%s: elements", after);
  view_walk walk;
  view_run run, previous = {UINT32_MAX, 0, 0};
  size_t position = 0;
  view_walk_start(&walk, t.graph, t.index);
  for (; view_walk_next(&walk, &run); previous = run) {
    cr_assert(run.variable != previous.variable || run.begin != previous.begin + previous.count,
              "%s: neighbouring runs are not merged", after);
    for (uint64_t i = 0; i < run.count; i++, position++) {
      cr_assert_lt(position, l->count, "%s: too many elements", after);
      uint64_t element = (uint64_t)run.variable << 32 | (run.begin + i);
      cr_assert_eq(element, l->elements[position], "%s: position %zu", after, position);
    }
  }
  cr_assert_eq(position, l->count, "%s: too few elements", after);
  cr_assert_eq(pop_tensor_contains_aliases(t), has_alias(l), "%s: aliases", after);
  cr_assert_eq(pop_tensor_is_contiguous(t), is_one_run(l), "%s: contiguous", after);
  assert_canonical(t, after);
}

/* ---- random chains ---- */

static uint64_t random_state;

static size_t random_below(size_t limit) /* splitmix64 */
{
  uint64_t z = random_state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return limit ? (z ^ z >> 31) % limit : 0;
}

typedef struct pair {
  pop_tensor tensor;
  list list;
} pair;

/* A shape of `count` elements, with some dimensions of size 1. */
static size_t random_shape(size_t count, size_t *shape)
{
  size_t rank = 0;
  for (size_t left = count; rank < 6;) {
    size_t divisor = 1 + random_below(left ? left : 1);
    while (left && left % divisor) divisor--;
    if (rank == 5) divisor = left;
    shape[rank++] = left ? divisor : random_below(3);
    left = left ? left / divisor : 0;
    if (left == 1 && random_below(2)) return rank;
  }
  if (count == 0) shape[random_below(rank)] = 0;
  return rank;
}

static pop_tensor random_slice(const pair *from, operation *op, list *result, bool all_dimensions)
{
  const list *l = &from->list;
  op->kind = SLICE;
  size_t begin[GRAPH_MAX_RANK] = {0}, end[GRAPH_MAX_RANK] = {0};
  size_t count = all_dimensions ? random_below(l->rank + 1) : 1;
  size_t first = all_dimensions ? 0 : random_below(l->rank);
  for (size_t d = first; d < first + count; d++) {
    begin[d] = random_below(l->shape[d] + 1);
    end[d] = begin[d] + random_below(l->shape[d] - begin[d] + 1);
    if (end[d] == begin[d] && begin[d] > 0 && random_below(8)) begin[d]--; /* mostly not empty */
    op->begin[d] = begin[d];
    result->shape[d] = end[d] - begin[d];
  }
  return all_dimensions ? pop_tensor_slice_nd(from->tensor, begin, end, count)
                        : pop_tensor_slice(from->tensor, begin[first], end[first], first);
}

static pop_tensor random_shuffle(const pair *from, operation *op, list *result, bool transpose)
{
  size_t rank = from->list.rank;
  op->kind = SHUFFLE;
  for (size_t d = 0; d < rank; d++) op->permutation[d] = transpose ? rank - 1 - d : d;
  for (size_t d = rank; d > 1 && !transpose; d--) {
    size_t other = random_below(d), moved = op->permutation[d - 1];
    op->permutation[d - 1] = op->permutation[other];
    op->permutation[other] = moved;
  }
  for (size_t d = 0; d < rank; d++) result->shape[d] = from->list.shape[op->permutation[d]];
  return transpose ? pop_tensor_transpose(from->tensor)
                   : pop_tensor_dim_shuffle(from->tensor, op->permutation, rank);
}

/* Operations that take elements from elsewhere; needs rank >= 1. */
static pop_tensor random_move(const pair *from, list *result, const char **name)
{
  static const char *const names[] = {"slice",      "slice_nd",  "sub_sample", "reverse",
                                      "dimShuffle", "transpose", "broadcast"};
  size_t which = random_below(sizeof names / sizeof *names);
  *name = names[which];
  operation op = {.dimension = random_below(from->list.rank)};
  size_t d = op.dimension, size = from->list.shape[d];
  *result = from->list;
  pop_tensor t = {0};
  switch (which) {
  case 0:
    t = random_slice(from, &op, result, false);
    break;
  case 1:
    t = random_slice(from, &op, result, true);
    break;
  case 2:
    op.kind = SUB_SAMPLE;
    op.stride = 1 + random_below(size + 2);
    result->shape[d] = (size + op.stride - 1) / op.stride;
    t = pop_tensor_sub_sample(from->tensor, op.stride, d);
    break;
  case 3:
    op.kind = REVERSE;
    t = pop_tensor_reverse(from->tensor, d);
    break;
  case 4:
    t = random_shuffle(from, &op, result, false);
    break;
  case 5:
    t = random_shuffle(from, &op, result, true);
    break;
  default: {
    op.kind = BROADCAST;
    size_t most = from->list.count ? MOST_ELEMENTS / from->list.count : 3;
    size_t n = random_below(most < 4 ? most + 1 : 4);
    result->shape[d] = size * n;
    t = pop_tensor_broadcast(from->tensor, n, d);
  }
  }
  apply(&op, &from->list, result);
  return t;
}

/* Operations that change the shape only. */
static pop_tensor random_reshape(const pair *from, list *result, const char **name)
{
  *result = from->list;
  switch (random_below(4)) {
  case 0: {
    *name = "expand";
    if (from->list.rank == 8) break;
    size_t d = random_below(from->list.rank + 1);
    memmove(result->shape + d + 1, result->shape + d, (result->rank - d) * sizeof *result->shape);
    result->shape[d] = 1;
    result->rank++;
    return pop_tensor_expand(from->tensor, d);
  }
  case 1:
    *name = "squeeze";
    result->rank = 0;
    for (size_t d = 0; d < from->list.rank; d++)
      if (from->list.shape[d] != 1) result->shape[result->rank++] = from->list.shape[d];
    return pop_tensor_squeeze(from->tensor);
  case 2:
    *name = "flatten";
    result->rank = 1;
    result->shape[0] = from->list.count;
    return pop_tensor_flatten(from->tensor);
  }
  *name = "reshape";
  result->rank = random_shape(from->list.count, result->shape);
  return pop_tensor_reshape(from->tensor, result->shape, result->rank);
}

static pop_tensor random_index(const pair *from, list *result)
{
  size_t i = random_below(from->list.shape[0]);
  operation op = {.kind = SLICE, .begin = {i}};
  *result = from->list;
  result->shape[0] = 1;
  apply(&op, &from->list, result);
  result->rank--;
  memmove(result->shape, result->shape + 1, result->rank * sizeof *result->shape);
  return pop_tensor_index(from->tensor, i);
}

/* Two tensors along a dimension if they fit, else their elements one behind the other. */
static pop_tensor random_concat(const pair *a, const pair *b, list *result)
{
  pair flat_a = *a, flat_b = *b;
  size_t d = random_below(a->list.rank);
  bool fit = a->list.rank > 0 && a->list.rank == b->list.rank;
  for (size_t i = 0; fit && i < a->list.rank; i++)
    fit = i == d || a->list.shape[i] == b->list.shape[i];
  if (!fit) {
    d = 0;
    flat_a.tensor = pop_tensor_flatten(a->tensor);
    flat_b.tensor = pop_tensor_flatten(b->tensor);
    flat_a.list.rank = flat_b.list.rank = 1;
    flat_a.list.shape[0] = a->list.count;
    flat_b.list.shape[0] = b->list.count;
  }
  join(&flat_a.list, &flat_b.list, d, result);
  const pop_tensor both[] = {flat_a.tensor, flat_b.tensor};
  return pop_concat(both, 2, d);
}

static void start_pair(pop_graph *graph, pair *p)
{
  p->list.rank = random_shape(random_below(120), p->list.shape);
  p->list.count = count_elements(p->list.shape, p->list.rank);
  p->tensor = pop_graph_add_variable(graph, POP_FLOAT, p->list.shape, p->list.rank, "v");
  for (size_t i = 0; i < p->list.count; i++)
    p->list.elements[i] = (uint64_t)(graph->num_variables - 1) << 32 | i;
}

static void run_chain(uint64_t seed)
{
  enum { PAIRS = 4, STEPS = 30 };
  static pair pairs[PAIRS], result;
  random_state = seed;
  pop_graph *graph = new_graph();
  for (size_t i = 0; i < PAIRS; i++) start_pair(graph, &pairs[i]);
  for (size_t step = 0; step < STEPS; step++) {
    const pair *from = &pairs[random_below(PAIRS)], *other = &pairs[random_below(PAIRS)];
    const char *name = "concat";
    size_t choice = random_below(8);
    if (choice == 0 && from->list.count + other->list.count <= MOST_ELEMENTS)
      result.tensor = random_concat(from, other, &result.list);
    else if (choice == 1 && from->list.rank && from->list.shape[0])
      name = "index", result.tensor = random_index(from, &result.list);
    else if (choice < 4 || from->list.rank == 0)
      result.tensor = random_reshape(from, &result.list, &name);
    else
      result.tensor = random_move(from, &result.list, &name);
    char after[80];
    snprintf(after, sizeof after, "seed %llu, step %zu, %s", (unsigned long long)seed, step, name);
    assert_same(result.tensor, &result.list, after);
    pairs[random_below(PAIRS)] = result;
  }
  pop_graph_free(graph);
}

/* POPULUS_TEST_SEED runs one chain, the one that a failure named. */
Test(tensor, random_chains_of_operations_agree_with_a_list_of_elements)
{
  const char *one = getenv("POPULUS_TEST_SEED");
  if (one)
    run_chain(strtoull(one, NULL, 10));
  else
    for (uint64_t seed = 1; seed <= 1500; seed++) run_chain(seed);
}

/* ---- sizes ---- */

static void assert_small(pop_tensor t, size_t most_pieces, size_t most_loops, const char *what)
{
  assert_no_error(t.graph);
  const tensor *inside = &t.graph->tensors[t.index];
  cr_assert_leq(inside->num_pieces, most_pieces, "%s has %zu pieces", what, inside->num_pieces);
  for (size_t i = 0; i < inside->num_pieces; i++)
    cr_assert_leq(t.graph->pieces[inside->first_piece + i].num_dims, most_loops, "%s", what);
}

Test(tensor, views_of_a_large_matrix_stay_small)
{
  pop_graph *graph = new_graph();
  const size_t shape[] = {10000, 10000};
  pop_tensor m = pop_graph_add_variable(graph, POP_FLOAT, shape, 2, "m");
  pop_tensor transposed = pop_tensor_transpose(m);
  pop_tensor part = pop_tensor_slice_nd(m, (const size_t[]){1, 2}, (const size_t[]){9001, 5002}, 2);
  pop_tensor blocks = pop_tensor_reshape(m, (const size_t[]){100, 100, 100, 100}, 4);
  pop_tensor halves[] = {pop_tensor_slice(m, 0, 4000, 1), pop_tensor_slice(m, 4000, 10000, 1)};
  const struct {
    const char *what;
    pop_tensor tensor;
    size_t pieces, loops;
  } cases[] = {
      {"m", m, 1, 1},
      {"row", pop_tensor_index(m, 77), 1, 1},
      {"column", pop_tensor_slice(m, 3, 4, 1), 1, 1},
      {"part", part, 1, 2},
      {"transposed", transposed, 1, 2},
      {"transposed twice", pop_tensor_transpose(transposed), 1, 1},
      {"transposed row", pop_tensor_index(transposed, 5), 1, 1},
      {"flattened transpose", pop_tensor_flatten(transposed), 1, 2},
      {"transposed part", pop_tensor_transpose(part), 1, 2},
      {"reversed", pop_tensor_reverse(m, 1), 1, 2},
      {"sampled", pop_tensor_sub_sample(m, 3, 1), 1, 2},
      {"blocks", blocks, 1, 1},
      {"shuffled blocks", pop_tensor_dim_shuffle(blocks, (const size_t[]){0, 2, 1, 3}, 4), 1, 4},
      {"broadcast", pop_tensor_broadcast(pop_tensor_expand(m, 0), 1000, 0), 1, 2},
      {"rows and a bit", pop_tensor_slice(pop_tensor_flatten(transposed), 5, 54321, 0), 3, 2},
      {"both halves", pop_concat(halves, 2, 1), 1, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_small(cases[i].tensor, cases[i].pieces, cases[i].loops, cases[i].what);
  pop_graph_free(graph);
}

Test(tensor, rows_of_two_variables_side_by_side_come_apart_again)
{
  pop_graph *graph = new_graph();
  const size_t shape[] = {3000, 8};
  const pop_tensor two[] = {pop_graph_add_variable(graph, POP_INT, shape, 2, "a"),
                            pop_graph_add_variable(graph, POP_INT, shape, 2, "b")};
  pop_tensor wide = pop_concat(two, 2, 1);
  assert_small(wide, 6000, 1, "side by side");
  assert_small(pop_tensor_slice(wide, 0, 8, 1), 1, 1, "the left half");
  assert_small(pop_tensor_slice(wide, 10, 12, 1), 1, 2, "two columns of the right half");
  assert_small(pop_concat(two, 2, 0), 2, 1, "one below the other");
  assert_small(pop_tensor_slice(pop_concat(two, 2, 0), 1, 3, 1), 2, 2, "columns of both");
  pop_graph_free(graph);
}

Test(tensor, broadcasts_of_many_elements_cost_a_loop)
{
  pop_graph *graph = new_graph();
  pop_tensor v = pop_graph_add_variable(graph, POP_FLOAT, (const size_t[]){1, 4}, 2, "v");
  pop_tensor wide = pop_tensor_broadcast(v, (size_t)1 << 60, 0);
  assert_small(wide, 1, 2, "wide");
  cr_assert_eq(pop_tensor_num_elements(wide), (size_t)1 << 62);
  cr_assert(pop_tensor_contains_aliases(wide));
  assert_small(pop_tensor_transpose(wide), 1, 2, "transposed");
  assert_small(pop_tensor_reverse(wide, 0), 1, 2, "reversed");
  assert_small(pop_tensor_sub_sample(wide, (size_t)1 << 59, 0), 1, 2, "sampled");
  pop_graph_free(graph);
}

Test(tensor, questions_about_large_views_are_answered_without_listing_elements)
{
  pop_graph *graph = new_graph();
  pop_tensor m = pop_graph_add_variable(graph, POP_HALF, (const size_t[]){60000, 70000}, 2, "m");
  pop_tensor t = pop_tensor_transpose(m);
  const pop_tensor halves[] = {pop_tensor_slice(t, 0, 30000, 0),
                               pop_tensor_slice(t, 40000, 70000, 0)};
  for (int i = 0; i < 1000; i++) {
    cr_assert_not(pop_tensor_contains_aliases(t));
    cr_assert_not(pop_tensor_is_contiguous(t));
    cr_assert(pop_tensor_is_contiguous(pop_tensor_transpose(t)));
  }
  cr_assert_not(pop_tensor_contains_aliases(pop_tensor_reverse(pop_concat(halves, 1, 0), 1)));
  pop_graph_free(graph);
}

/* Columns lie between each other: here elements must be looked at. */
Test(tensor, interleaved_pieces_with_and_without_a_common_element)
{
  pop_graph *graph = new_graph();
  pop_tensor m = pop_graph_add_variable(graph, POP_INT, (const size_t[]){100, 10}, 2, "m");
  pop_tensor other = pop_graph_add_variable(graph, POP_INT, (const size_t[]){100}, 1, "other");
  pop_tensor t = pop_tensor_transpose(m);
  const pop_tensor apart[] = {pop_tensor_index(t, 1), other, pop_tensor_index(t, 7)};
  const pop_tensor together[] = {pop_tensor_index(t, 1), other, pop_tensor_index(t, 1)};
  const pop_tensor crossing[] = {pop_tensor_index(t, 1), other, pop_tensor_index(m, 50)};
  cr_assert_not(pop_tensor_contains_aliases(pop_concat(apart, 3, 0)));
  cr_assert(pop_tensor_contains_aliases(pop_concat(together, 3, 0)));
  cr_assert(pop_tensor_contains_aliases(pop_concat(crossing, 3, 0)));
  pop_graph_free(graph);
}

/* Windows at a distance become one piece; its loops overlap if the distance is too small. */
Test(tensor, windows_have_common_elements_if_they_overlap)
{
  enum { WINDOWS = 5, LENGTH = 4 };
  pop_graph *graph = new_graph();
  pop_tensor v = pop_graph_add_variable(graph, POP_INT, (const size_t[]){100}, 1, "v");
  for (size_t distance = 0; distance <= LENGTH + 2; distance++) {
    pop_tensor windows[WINDOWS];
    for (size_t i = 0; i < WINDOWS; i++)
      windows[i] = pop_tensor_slice(v, i * distance, i * distance + LENGTH, 0);
    pop_tensor all = pop_concat(windows, WINDOWS, 0);
    assert_small(all, 1, 2, "windows");
    cr_assert_eq(pop_tensor_contains_aliases(all), distance < LENGTH, "distance %zu", distance);
    cr_assert_eq(pop_tensor_is_contiguous(all), distance == LENGTH, "distance %zu", distance);
  }
  pop_graph_free(graph);
}

Test(tensor, constants_are_seen_through_views)
{
  pop_graph *graph = new_graph();
  const float values[] = {1, 2, 3};
  pop_tensor parts[] = {
      pop_graph_add_variable(graph, POP_FLOAT, (const size_t[]){3}, 1, "v"),
      pop_graph_add_constant(graph, POP_FLOAT, (const size_t[]){3}, 1, values, "c")};
  pop_tensor both = pop_concat(parts, 2, 0);
  cr_assert(pop_tensor_contains_constant(both));
  cr_assert(pop_tensor_contains_constant(pop_tensor_slice(both, 2, 4, 0)));
  cr_assert_not(pop_tensor_contains_constant(pop_tensor_slice(both, 0, 3, 0)));
  pop_graph_free(graph);
}

Test(tensor, shapes_stay_where_they_are_while_tensors_are_made)
{
  pop_graph *graph = new_graph();
  pop_tensor v = pop_graph_add_variable(graph, POP_INT, (const size_t[]){300, 200}, 2, "v");
  const size_t *shape = pop_tensor_shape(v);
  for (size_t i = 0; i < 300; i++)
    for (size_t j = 1; j < 200; j++) pop_tensor_slice(pop_tensor_index(v, i), 0, j, 0);
  cr_assert_eq(shape[0], 300);
  cr_assert_eq(shape[1], 200);
  cr_assert_eq(pop_tensor_element_type(v), POP_INT);
  pop_graph_free(graph);
}

/* ---- what is refused ---- */

static pop_tensor variable_of(pop_graph *graph, size_t a, size_t b, const char *name)
{
  return pop_graph_add_variable(graph, POP_FLOAT, (const size_t[]){a, b}, 2, name);
}

static void bad_index(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_index(t, 4);
}
static void bad_scalar_index(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_index(pop_tensor_index(pop_tensor_index(t, 0), 0), 0);
}
static void bad_slice_end(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_slice(t, 2, 5, 0);
}
static void bad_slice_order(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_slice(t, 2, 1, 1);
}
static void bad_slice_dimension(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_slice(t, 0, 1, 2);
}
static void bad_slice_nd(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_slice_nd(t, (const size_t[]){0, 0, 0}, (const size_t[]){1, 1, 1}, 3);
}
static void bad_stride(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_sub_sample(t, 0, 0);
}
static void bad_reverse(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_reverse(t, SIZE_MAX);
}
static void bad_reshape(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_reshape(t, (const size_t[]){5, 2}, 2);
}
static void bad_rank(pop_graph *g, pop_tensor t)
{
  (void)g;
  for (int i = 0; i < 15; i++) t = pop_tensor_expand(t, 0);
}
static void bad_expand(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_expand(t, 3);
}
static void bad_permutation(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_dim_shuffle(t, (const size_t[]){1, 1}, 2);
}
static void bad_permutation_length(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_dim_shuffle(t, (const size_t[]){1, 0, 2}, 3);
}
static void bad_concat_shape(pop_graph *g, pop_tensor t)
{
  const pop_tensor two[] = {t, variable_of(g, 5, 7, "w")};
  pop_concat(two, 2, 0);
}
static void bad_concat_type(pop_graph *g, pop_tensor t)
{
  const pop_tensor two[] = {t, pop_graph_add_variable(g, POP_HALF, (const size_t[]){4, 3}, 2, "w")};
  pop_concat(two, 2, 0);
}
static void bad_concat_dimension(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_concat(&t, 1, 2);
}
static void bad_broadcast(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_broadcast(t, (size_t)1 << 61, 0);
}
static void bad_broadcast_size(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_broadcast(t, SIZE_MAX, 1);
}
static void bad_dim(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_dim(t, 2);
}
static void null_operand(pop_graph *g, pop_tensor t)
{
  (void)t;
  pop_tensor_index((pop_tensor){g, 0}, 0);
}
static void null_in_concat(pop_graph *g, pop_tensor t)
{
  (void)g;
  const pop_tensor two[] = {t, {NULL, 0}};
  pop_concat(two, 2, 0);
}
static void unknown_operand(pop_graph *g, pop_tensor t)
{
  (void)t;
  pop_tensor_index((pop_tensor){g, 12345}, 0);
}

/* P02, P03, P04 and P01: what the message must hold. The operand is float {4,3} of 'v'. */
static const struct refusal {
  void (*call)(pop_graph *graph, pop_tensor t);
  pop_error_code code;
  const char *words[5];
} refusals[] = {
    {bad_index, POP_ERROR_INDEX, {"pop_tensor_index", "index 4", "{4,3}", "'v'"}},
    {bad_scalar_index, POP_ERROR_INDEX, {"pop_tensor_index", "scalar", "'v'"}},
    {bad_slice_end, POP_ERROR_INDEX, {"pop_tensor_slice", "[2, 5)", "{4,3}", "<= 4"}},
    {bad_slice_order, POP_ERROR_INDEX, {"pop_tensor_slice", "[2, 1)", "dimension 1", "'v'"}},
    {bad_slice_dimension, POP_ERROR_INDEX, {"dimension 2", "{4,3}", "0 to 1"}},
    {bad_slice_nd, POP_ERROR_INDEX, {"pop_tensor_slice_nd", "3 dimensions", "{4,3}"}},
    {bad_stride, POP_ERROR_INVALID_ARGUMENT, {"pop_tensor_sub_sample", "stride of 0"}},
    {bad_reverse, POP_ERROR_INDEX, {"pop_tensor_reverse", "18446744073709551615", "{4,3}"}},
    {bad_reshape, POP_ERROR_TENSOR, {"{4,3}", "12 elements", "{5,2}", "10"}},
    {bad_rank, POP_ERROR_INVALID_ARGUMENT, {"pop_tensor_expand", "rank 17", "16"}},
    {bad_expand, POP_ERROR_INDEX, {"pop_tensor_expand", "dimension 3", "{4,3}", "0 to 2"}},
    {bad_permutation, POP_ERROR_INVALID_ARGUMENT, {"{1,1}", "permutation", "{4,3}"}},
    {bad_permutation_length, POP_ERROR_INVALID_ARGUMENT, {"{1,0,2}", "2 dimensions"}},
    {bad_concat_shape, POP_ERROR_TENSOR, {"pop_concat", "{4,3} of 'v'", "{5,7} of 'w'"}},
    {bad_concat_type, POP_ERROR_TYPE, {"float tensor {4,3}", "half tensor {4,3} of 'w'"}},
    {bad_concat_dimension, POP_ERROR_INDEX, {"pop_concat", "dimension 2", "{4,3}"}},
    {bad_broadcast, POP_ERROR_INVALID_ARGUMENT, {"pop_tensor_broadcast", "2^63 - 1"}},
    {bad_broadcast_size, POP_ERROR_INVALID_ARGUMENT, {"pop_tensor_broadcast", "dimension 1"}},
    {bad_dim, POP_ERROR_INDEX, {"pop_tensor_dim", "dimension 2", "{4,3}"}},
    {null_operand, POP_ERROR_INVALID_ARGUMENT, {"pop_tensor_index", "tensor is null"}},
    {null_in_concat, POP_ERROR_INVALID_ARGUMENT, {"pop_concat", "tensor is null"}},
    {unknown_operand, POP_ERROR_INVALID_ARGUMENT, {"no tensor 12345"}},
};

Test(tensor, P02_P03_P04_bad_operations_say_what_is_wrong)
{
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    const struct refusal *r = &refusals[i];
    pop_graph *graph = new_graph();
    r->call(graph, variable_of(graph, 4, 3, "v"));
    char where[20];
    snprintf(where, sizeof where, "case %zu", i);
    assert_error(graph, r->code, r->words, where);
    pop_graph_free(graph);
  }
}

Test(tensor, P01_tensor_of_another_graph_is_refused)
{
  pop_graph *graph = new_graph(), *foreign = new_graph();
  const pop_tensor two[] = {variable_of(graph, 4, 3, "v"), variable_of(foreign, 4, 3, "w")};
  cr_assert_not(pop_tensor_valid(pop_concat(two, 2, 0)));
  cr_assert_not_null(strstr(pop_error_message(pop_graph_error(graph)), "another graph"));
  assert_no_error(foreign);
  pop_graph_free(graph);
  pop_graph_free(foreign);
}

Test(tensor, P01_null_tensors_have_no_properties_and_do_no_harm)
{
  pop_tensor none = {0};
  cr_assert_not(pop_tensor_valid(none));
  cr_assert_eq(pop_tensor_rank(none), 0);
  cr_assert_eq(pop_tensor_num_elements(none), 0);
  cr_assert_eq(pop_tensor_dim(none, 0), 0);
  cr_assert_null(pop_tensor_shape(none));
  cr_assert_not(pop_tensor_contains_aliases(none));
  cr_assert_not(pop_tensor_contains_constant(none));
  cr_assert_not(pop_tensor_valid(pop_tensor_flatten(none)));
  cr_assert_not(pop_tensor_valid(pop_concat(NULL, 0, 0)));
}

Test(tensor, P03_tensors_without_elements_and_scalars_go_through_all_operations)
{
  pop_graph *graph = new_graph();
  const size_t huge[] = {(size_t)1 << 40, 0, (size_t)1 << 40};
  pop_tensor empty = pop_graph_add_variable(graph, POP_INT, huge, 3, "empty");
  cr_assert_eq(pop_tensor_num_elements(pop_tensor_slice(empty, 5, 9, 0)), 0);
  cr_assert_eq(pop_tensor_dim(pop_tensor_reverse(empty, 2), 2), huge[2]);
  cr_assert_eq(pop_tensor_rank(pop_tensor_index(pop_tensor_transpose(empty), 3)), 2);
  cr_assert_eq(pop_tensor_dim(pop_tensor_broadcast(empty, 3, 0), 0), 3 * huge[0]);
  cr_assert_eq(pop_tensor_dim(pop_tensor_sub_sample(empty, huge[0] - 1, 0), 0), 2);
  const pop_tensor twice[] = {empty, empty};
  cr_assert_eq(pop_tensor_dim(pop_concat(twice, 2, 1), 1), 0);
  cr_assert_eq(pop_tensor_num_elements(pop_tensor_flatten(empty)), 0);

  pop_tensor scalar = pop_graph_add_variable(graph, POP_INT, NULL, 0, "scalar");
  cr_assert_eq(pop_tensor_num_elements(scalar), 1);
  cr_assert_eq(pop_tensor_rank(pop_tensor_transpose(pop_tensor_squeeze(scalar))), 0);
  cr_assert_eq(pop_tensor_rank(pop_tensor_slice_nd(scalar, NULL, NULL, 0)), 0);
  cr_assert_eq(pop_tensor_rank(pop_tensor_expand(scalar, 0)), 1);
  cr_assert_eq(pop_tensor_num_elements(pop_tensor_broadcast(pop_tensor_flatten(scalar), 7, 0)), 7);
  assert_no_error(graph);
  pop_graph_free(graph);
}
