/* Random chains of operations on tensors. The same operations are done on a plain list of
 * elements. */
#ifndef TENSOR_CHAIN_H
#define TENSOR_CHAIN_H

#include "support/graph_test.h"
#include "support/seeds.h"

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
  enum { SLICE, SUB_SAMPLE, REVERSE, SHUFFLE, BROADCAST, UPSAMPLE } kind;
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
  case UPSAMPLE:
    source[d] /= op->stride;
    break;
  }
}

/* The shape of `result` is already set. */
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

/* `after` names the operations, with the seed. */
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

/* permutation[to] = dimension; the other dimensions keep their order. */
static void roll(size_t rank, size_t dimension, size_t to, size_t *permutation)
{
  size_t next = 0;
  for (size_t d = 0; d < rank; d++) {
    if (next == dimension) next++;
    permutation[d] = d == to ? dimension : next++;
  }
}

/* Operations that take elements from elsewhere; needs rank >= 1. */
static pop_tensor random_move(const pair *from, list *result, const char **name)
{
  static const char *const names[] = {"slice",    "slice_nd",   "sub_sample",
                                      "reverse",  "dimShuffle", "transpose",
                                      "dim_roll", "broadcast",  "upsample"};
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
  case 6: {
    size_t to = random_below(from->list.rank);
    op.kind = SHUFFLE;
    roll(from->list.rank, d, to, op.permutation);
    for (size_t i = 0; i < from->list.rank; i++)
      result->shape[i] = from->list.shape[op.permutation[i]];
    t = pop_tensor_dim_roll(from->tensor, d, to);
    break;
  }
  default: {
    op.kind = which == 7 ? BROADCAST : UPSAMPLE;
    size_t most = from->list.count ? MOST_ELEMENTS / from->list.count : 3;
    op.stride = random_below(most < 4 ? most + 1 : 4);
    result->shape[d] = size * op.stride;
    t = which == 7 ? pop_tensor_broadcast(from->tensor, op.stride, d)
                   : pop_tensor_upsample(from->tensor, op.stride, d);
  }
  }
  apply(&op, &from->list, result);
  return t;
}

static pop_tensor random_expand_dims(const pair *from, list *result)
{
  size_t dimensions[3], count = 0;
  result->rank = 0;
  for (size_t d = 0; d <= from->list.rank; d++) {
    while (count < 3 && random_below(3) == 0) {
      dimensions[count++] = d;
      result->shape[result->rank++] = 1;
    }
    if (d < from->list.rank) result->shape[result->rank++] = from->list.shape[d];
  }
  return pop_tensor_expand_dims(from->tensor, dimensions, count);
}

static pop_tensor random_squeeze_dims(const pair *from, list *result)
{
  size_t dimensions[GRAPH_MAX_RANK], count = 0;
  result->rank = 0;
  for (size_t d = 0; d < from->list.rank; d++)
    if (from->list.shape[d] == 1 && random_below(2))
      dimensions[count++] = d;
    else
      result->shape[result->rank++] = from->list.shape[d];
  return pop_tensor_squeeze_dims(from->tensor, dimensions, count);
}

/* Merges some dimensions into one, or splits them into two. */
static pop_tensor random_reshape_partial(const pair *from, list *result)
{
  const list *l = &from->list;
  size_t begin = random_below(l->rank + 1), end = begin + random_below(l->rank - begin + 1);
  size_t part = count_elements(l->shape + begin, end - begin), behind = l->rank - end;
  bool two = random_below(2);
  result->rank = begin;
  if (two) result->shape[result->rank++] = 1;
  result->shape[result->rank++] = part;
  memcpy(result->shape + result->rank, l->shape + end, behind * sizeof *l->shape);
  result->rank += behind;
  return two ? pop_tensor_reshape_partial(from->tensor, begin, end, result->shape + begin, 2)
             : pop_tensor_flatten_partial(from->tensor, begin, end);
}

/* Operations that change the shape only. */
static pop_tensor random_reshape(const pair *from, list *result, const char **name)
{
  *result = from->list;
  switch (random_below(7)) {
  case 4:
    *name = "expand_dims";
    if (from->list.rank >= 8) break;
    return random_expand_dims(from, result);
  case 5:
    *name = "squeeze_dims";
    return random_squeeze_dims(from, result);
  case 6:
    *name = "reshape_partial or flatten_partial";
    if (from->list.rank >= 8) break;
    return random_reshape_partial(from, result);
  case 0: {
    *name = "expand";
    if (from->list.rank >= 8) break;
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

/* Concatenates two tensors along a dimension if their shapes fit, else their elements. */
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

enum { PAIRS = 4, STEPS = 30 };

/* Replaces one of the pairs by the result of an operation on some of them, and checks it. */
static void random_step(pair *pairs, uint64_t seed, size_t step)
{
  static pair result;
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

/* Calls `check` (may be NULL) with all pairs at the end. */
static void run_chain(uint64_t seed, void (*check)(const pair *pairs, const char *where))
{
  static pair pairs[PAIRS];
  random_state = seed;
  pop_graph *graph = new_graph();
  for (size_t i = 0; i < PAIRS; i++) start_pair(graph, &pairs[i]);
  for (size_t step = 0; step < STEPS; step++) random_step(pairs, seed, step);
  char where[40];
  snprintf(where, sizeof where, "seed %llu", (unsigned long long)seed);
  if (check) check(pairs, where);
  pop_graph_free(graph);
}

/* Runs the chains of the seeds 1 to `count`, or of the requested seeds. */
static void run_chains(uint64_t count, void (*check)(const pair *pairs, const char *where))
{
  seed_range seeds = test_seeds(1, count);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) run_chain(seed, check);
}

#endif
