/* The model with which random tests of the engine compare. Variables are arrays of the host, and a
 * view is the list of its elements. Each operation on views is done twice: by the graph on its
 * tensor, and here element by element from the operation's definition. */
#ifndef POPULUS_TEST_MODEL_H
#define POPULUS_TEST_MODEL_H

#include "expect.h"
#include "support/random.h"

#include <assert.h>
#include <populus/arena.h>
#include <populus/populus.h>

enum {
  MODEL_MAX_RANK = 6,
  MODEL_MAX_VARIABLES = 24,
  MODEL_MAX_ELEMENTS = 300 /* of a random view */
};

typedef struct model_variable {
  pop_type type;
  bool constant;
  size_t num_elements;
  uint8_t *bytes; /* contents, in the tile's representation */
  pop_tensor tensor;
} model_variable;

typedef struct model_element {
  uint32_t variable, element;
} model_element;

typedef struct model_view {
  pop_tensor tensor;
  pop_type type;
  size_t rank, shape[MODEL_MAX_RANK];
  size_t num_elements;
  const model_element *elements; /* row-major */
} model_view;

typedef struct model {
  pop_graph *graph;
  pop_arena *arena;
  uint64_t random; /* state */
  /* From a fuzzer: bytes that decide what the graph is. After their end `random` decides. Values
   * are always `random`'s. */
  const uint8_t *choices;
  size_t num_choices;
  model_variable variables[MODEL_MAX_VARIABLES];
  uint32_t num_variables;
} model;

/* 0 <= result < limit; limit > 0 */
static inline uint32_t model_random(model *m, uint32_t limit)
{
  uint32_t value = 0;
  assert(limit > 0);
  if (!m->num_choices) return random_below(&m->random, limit);
  for (uint64_t reach = 1; reach < limit && m->num_choices; reach <<= 8, --m->num_choices)
    value = value << 8 | *m->choices++;
  return value % limit;
}

static inline bool model_chance(model *m, uint32_t one_in)
{
  return model_random(m, one_in) == 0;
}

/* ---- contents ---- */

/* A small number of the type; floating-point ones have few digits, so that sums round now and then. */
static inline void model_random_value(model *m, pop_type type, void *to)
{
  float number = (float)((int)random_below(&m->random, 6001) - 3000) / 100;
  uint16_t half = pop_half_from_float(number);
  uint64_t bits =
      (uint64_t)random_below(&m->random, UINT32_MAX) << 32 | random_below(&m->random, UINT32_MAX);
  switch (type) {
  case POP_BOOL:
    bits &= 1;
    break;
  case POP_HALF:
    memcpy(to, &half, sizeof half);
    return;
  case POP_FLOAT:
    memcpy(to, &number, sizeof number);
    return;
  default:
    break;
  }
  memcpy(to, &bits, pop_type_bytes(type)); /* little-endian, as the tile */
}

static inline uint8_t *model_cell(const model *m, model_element e)
{
  const model_variable *v = &m->variables[e.variable];
  return v->bytes + (size_t)e.element * pop_type_bytes(v->type);
}

/* Writes the view's elements as the host sees them to `to`, which has room for them. */
static inline void model_gather(const model *m, const model_view *view, void *to)
{
  size_t size = pop_type_bytes(view->type);
  for (size_t i = 0; i < view->num_elements; ++i)
    memcpy((uint8_t *)to + i * size, model_cell(m, view->elements[i]), size);
}

static inline void model_scatter(const model *m, const model_view *view, const void *from)
{
  size_t size = pop_type_bytes(view->type);
  for (size_t i = 0; i < view->num_elements; ++i)
    memcpy(model_cell(m, view->elements[i]), (const uint8_t *)from + i * size, size);
}

/* A buffer for the view's elements, in the arena. */
static inline uint8_t *model_buffer(const model *m, const model_view *view)
{
  return pop_arena_alloc(m->arena, view->num_elements * pop_type_bytes(view->type) + 1);
}

/* ---- views ---- */

static inline size_t model_product(const size_t *shape, size_t rank)
{
  size_t product = 1;
  for (size_t d = 0; d < rank; ++d) product *= shape[d];
  return product;
}

/* A view of this shape whose elements the caller fills in. */
static inline model_view model_new_view(model *m, pop_type type, const size_t *shape, size_t rank,
                                        pop_tensor tensor, model_element **elements)
{
  model_view view = {.tensor = tensor, .type = type, .rank = rank};
  memcpy(view.shape, shape, rank * sizeof *shape);
  view.num_elements = model_product(shape, rank);
  *elements = pop_arena_alloc(m->arena, (view.num_elements + 1) * sizeof **elements);
  view.elements = *elements;
  return view;
}

static inline model_view model_whole(model *m, uint32_t variable)
{
  const model_variable *v = &m->variables[variable];
  size_t rank = pop_tensor_rank(v->tensor);
  model_element *elements;
  model_view view =
      model_new_view(m, v->type, pop_tensor_shape(v->tensor), rank, v->tensor, &elements);
  for (uint32_t i = 0; i < view.num_elements; ++i) elements[i] = (model_element){variable, i};
  return view;
}

/* Maps an element of the result to one of the operand: dimension d of the operand has the index
 * (first[d] + step[d] * index of the result's dimension dimension[d]) modulo its size. */
typedef struct model_pick {
  size_t first[MODEL_MAX_RANK], step[MODEL_MAX_RANK], dimension[MODEL_MAX_RANK];
} model_pick;

static inline model_pick model_pick_all(void)
{
  model_pick pick = {0};
  for (size_t d = 0; d < MODEL_MAX_RANK; ++d) {
    pick.step[d] = 1;
    pick.dimension[d] = d;
  }
  return pick;
}

static inline model_view model_apply(model *m, const model_view *from, const model_pick *pick,
                                     const size_t *shape, size_t rank, pop_tensor tensor)
{
  model_element *elements;
  model_view view = model_new_view(m, from->type, shape, rank, tensor, &elements);
  for (size_t i = 0; i < view.num_elements; ++i) {
    size_t index[MODEL_MAX_RANK] = {0}, at = 0;
    for (size_t d = rank, rest = i; d-- > 0; rest /= shape[d]) index[d] = rest % shape[d];
    for (size_t d = 0; d < from->rank; ++d)
      at = at * from->shape[d] +
           (pick->first[d] + pick->step[d] * index[pick->dimension[d]]) % from->shape[d];
    elements[i] = from->elements[at];
  }
  return view;
}

static inline model_view model_slice(model *m, const model_view *v, size_t begin, size_t end,
                                     size_t d)
{
  model_pick pick = model_pick_all();
  size_t shape[MODEL_MAX_RANK];
  memcpy(shape, v->shape, sizeof shape);
  shape[d] = end - begin;
  pick.first[d] = begin;
  return model_apply(m, v, &pick, shape, v->rank, pop_tensor_slice(v->tensor, begin, end, d));
}

static inline model_view model_index(model *m, const model_view *v, size_t i)
{
  model_pick pick = {0};
  pick.first[0] = i;
  for (size_t d = 1; d < v->rank; ++d) {
    pick.step[d] = 1;
    pick.dimension[d] = d - 1;
  }
  return model_apply(m, v, &pick, v->shape + 1, v->rank - 1, pop_tensor_index(v->tensor, i));
}

static inline model_view model_sub_sample(model *m, const model_view *v, size_t stride, size_t d)
{
  model_pick pick = model_pick_all();
  size_t shape[MODEL_MAX_RANK];
  memcpy(shape, v->shape, sizeof shape);
  shape[d] = (shape[d] + stride - 1) / stride;
  pick.step[d] = stride;
  return model_apply(m, v, &pick, shape, v->rank, pop_tensor_sub_sample(v->tensor, stride, d));
}

static inline model_view model_reverse(model *m, const model_view *v, size_t d)
{
  model_pick pick = model_pick_all();
  pick.first[d] = v->shape[d] ? v->shape[d] - 1 : 0;
  pick.step[d] = pick.first[d]; /* -1 modulo the size */
  return model_apply(m, v, &pick, v->shape, v->rank, pop_tensor_reverse(v->tensor, d));
}

static inline model_view model_broadcast(model *m, const model_view *v, size_t n, size_t d)
{
  model_pick pick = model_pick_all();
  size_t shape[MODEL_MAX_RANK];
  memcpy(shape, v->shape, sizeof shape);
  shape[d] *= n;
  return model_apply(m, v, &pick, shape, v->rank, pop_tensor_broadcast(v->tensor, n, d));
}

/* Dimension i of the result is dimension permutation[i] of the operand. */
static inline model_view model_dim_shuffle(model *m, const model_view *v, const size_t *permutation)
{
  model_pick pick = model_pick_all();
  size_t shape[MODEL_MAX_RANK];
  assert(v->rank <= MODEL_MAX_RANK);
  for (size_t i = 0; i < v->rank; ++i) {
    assert(permutation[i] < v->rank);
    shape[i] = v->shape[permutation[i]];
    pick.dimension[permutation[i]] = i;
  }
  return model_apply(m, v, &pick, shape, v->rank,
                     pop_tensor_dim_shuffle(v->tensor, permutation, v->rank));
}

static inline model_view model_reshape(const model_view *v, const size_t *shape, size_t rank)
{
  model_view view = *v;
  view.rank = rank;
  memcpy(view.shape, shape, rank * sizeof *shape);
  view.tensor = pop_tensor_reshape(v->tensor, shape, rank);
  return view;
}

static inline model_view model_flatten(const model_view *v)
{
  model_view view = *v;
  view.rank = 1;
  view.shape[0] = v->num_elements;
  view.tensor = pop_tensor_flatten(v->tensor);
  return view;
}

/* Two views of rank 1, end to end. */
static inline model_view model_concat(model *m, const model_view *a, const model_view *b)
{
  const pop_tensor both[] = {a->tensor, b->tensor};
  size_t size = a->num_elements + b->num_elements;
  model_element *elements;
  model_view view = model_new_view(m, a->type, &size, 1, pop_concat(both, 2, 0), &elements);
  memcpy(elements, a->elements, a->num_elements * sizeof *elements);
  memcpy(elements + a->num_elements, b->elements, b->num_elements * sizeof *elements);
  return view;
}

static inline bool model_has_duplicates(const model *m, const model_view *v)
{
  bool found = false;
  uint8_t *seen[MODEL_MAX_VARIABLES] = {0};
  for (size_t i = 0; i < v->num_elements && !found; ++i) {
    model_element e = v->elements[i];
    if (!seen[e.variable]) seen[e.variable] = pop_xcalloc(m->variables[e.variable].num_elements, 1);
    found = seen[e.variable][e.element]++;
  }
  for (size_t i = 0; i < MODEL_MAX_VARIABLES; ++i) free(seen[i]);
  return found;
}

/* May it be a copy's destination, and be written by a vertex and by the host? */
static inline bool model_is_writable(const model *m, const model_view *v)
{
  for (size_t i = 0; i < v->num_elements; ++i)
    if (m->variables[v->elements[i].variable].constant) return false;
  return !model_has_duplicates(m, v);
}

/* ---- random views ---- */

static inline model_view model_random_reshape(model *m, const model_view *v)
{
  size_t shape[MODEL_MAX_RANK], rank = 0, rest = v->num_elements;
  while (rank < 3 && rest > 1) {
    size_t divisor = 1 + model_random(m, 6);
    if (rest % divisor == 0) {
      shape[rank++] = divisor;
      rest /= divisor;
    } else if (model_chance(m, 4)) {
      break;
    }
  }
  shape[rank++] = rest;
  return model_reshape(v, shape, rank);
}

static inline model_view model_random_shuffle(model *m, const model_view *v)
{
  size_t permutation[MODEL_MAX_RANK];
  for (size_t d = 0; d < v->rank; ++d) permutation[d] = d;
  for (size_t d = v->rank; d > 1; --d) {
    size_t other = model_random(m, (uint32_t)d), mine = permutation[d - 1];
    permutation[d - 1] = permutation[other];
    permutation[other] = mine;
  }
  return model_dim_shuffle(m, v, permutation);
}

/* Applies one more operation, if it suits the view. */
static inline model_view model_random_step(model *m, const model_view *v, bool may_repeat)
{
  if (v->rank == 0) return model_flatten(v);
  size_t d = model_random(m, (uint32_t)v->rank), size = v->shape[d];
  uint32_t begin = model_random(m, (uint32_t)size + 1);
  uint32_t end = begin + model_random(m, (uint32_t)size - begin + 1);
  switch (model_random(m, 9)) {
  case 0:
  case 1:
    return model_slice(m, v, begin, end, d);
  case 2:
    return size ? model_sub_sample(m, v, 1 + model_random(m, 3), d) : *v;
  case 3:
    return model_reverse(m, v, d);
  case 4:
    return model_random_shuffle(m, v);
  case 5:
    return model_random_reshape(m, v);
  case 6:
    return v->shape[0] ? model_index(m, v, model_random(m, (uint32_t)v->shape[0])) : *v;
  case 7:
    if (may_repeat && v->num_elements <= MODEL_MAX_ELEMENTS / 3)
      return model_broadcast(m, v, 1 + model_random(m, 3), d);
    return *v;
  default:
    return model_flatten(v);
  }
}

/* A variable of the type, or of any with POP_TYPE_COUNT; there must be one. */
static inline uint32_t model_random_variable(model *m, pop_type type)
{
  uint32_t at = model_random(m, m->num_variables);
  while (type != POP_TYPE_COUNT && m->variables[at].type != type) at = (at + 1) % m->num_variables;
  return at;
}

/* Some elements of one or several variables, in some order and shape. With may_repeat some may
 * occur several times. Without it they do so only if a variable is joined with itself. */
static inline model_view model_random_view(model *m, pop_type type, bool may_repeat)
{
  model_view view = model_whole(m, model_random_variable(m, type));
  for (uint32_t steps = model_random(m, 4); steps > 0; --steps)
    view = model_random_step(m, &view, may_repeat);
  if (model_chance(m, 3) && view.num_elements < MODEL_MAX_ELEMENTS / 2) {
    model_view other = model_whole(m, model_random_variable(m, view.type));
    other = model_random_step(m, &other, may_repeat);
    view = model_flatten(&view);
    other = model_flatten(&other);
    view = model_concat(m, &view, &other);
    if (model_chance(m, 2)) view = model_random_reshape(m, &view);
    view = model_random_step(m, &view, may_repeat);
  }
  return view;
}

/* A view that may be written; false if none was found soon. */
static inline bool model_random_writable(model *m, pop_type type, model_view *view)
{
  for (int attempt = 0; attempt < 6; ++attempt) {
    *view = model_random_view(m, type, false);
    if (model_is_writable(m, view)) return true;
  }
  return false;
}

/* A view for reading with a number of elements, rank 1; false if none was found soon. */
static inline bool model_random_readable(model *m, pop_type type, size_t count, model_view *view)
{
  for (int attempt = 0; attempt < 8; ++attempt) {
    model_view any = model_random_view(m, type, true);
    *view = model_flatten(&any);
    if (view->num_elements == 0 && count > 0) continue;
    if (view->num_elements < count)
      *view = model_broadcast(m, view, (count + view->num_elements - 1) / view->num_elements, 0);
    size_t begin = model_random(m, (uint32_t)(view->num_elements - count) + 1);
    *view = model_slice(m, view, begin, begin + count, 0);
    return true;
  }
  return false;
}

#endif
