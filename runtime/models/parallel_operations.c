/* Several processes as one program: the operations that collectives become. */
#include "models/parallel.h"

#include <string.h>

operation *parallel_op(parallel *p, const operation *by, op_code code, value **operands,
                       size_t num_operands, const model_type *type)
{
  pop_arena *arena = p->in->m->arena;
  operation *op = pop_arena_alloc(arena, sizeof *op);
  *op = (operation){.code = code, .name = by->name, .offset = by->offset};
  op->operands = pop_arena_alloc(arena, (num_operands + 1) * sizeof *op->operands);
  if (num_operands) memcpy(op->operands, operands, num_operands * sizeof *operands);
  op->num_operands = num_operands;
  op->results = pop_arena_alloc(arena, sizeof *op->results);
  op->results[0] = pop_arena_alloc(arena, sizeof **op->results);
  *op->results[0] = (value){.type = type, .op = op};
  op->num_results = 1;
  op->attributes = pop_arena_alloc(arena, 4 * sizeof *op->attributes);
  inline_append(p->to, op);
  return op;
}

static void set_int(operation *op, const char *name, int64_t number)
{
  op->attributes[op->num_attributes++] =
      (attribute){.kind = ATTRIBUTE_INT, .name = name, .integer = number};
}

static void set_ints(parallel *p, operation *op, const char *name, const int64_t *numbers,
                     size_t count)
{
  attribute a = {.kind = ATTRIBUTE_ARRAY, .name = name, .num_items = count};
  a.items = pop_arena_alloc(p->in->m->arena, (count + 1) * sizeof *a.items);
  for (size_t i = 0; i < count; ++i)
    a.items[i] = (attribute){.kind = ATTRIBUTE_INT, .integer = numbers[i]};
  op->attributes[op->num_attributes++] = a;
}

value *parallel_constant(parallel *p, const operation *by, const model_type *type, int64_t number)
{
  operation *op = parallel_op(p, by, OP_CONSTANT, NULL, 0, type);
  attribute a = {.kind = ATTRIBUTE_DENSE, .name = "value", .type = type, .splat = true};
  a.data = pop_arena_alloc(p->in->m->arena, 8);
  if (type->element < ELEMENT_COUNT) element_from_int(type->element, (uint64_t)number, a.data);
  op->attributes[op->num_attributes++] = a;
  return op->results[0];
}

value *parallel_concatenate(parallel *p, const operation *by, value **parts, size_t count,
                            int64_t dimension)
{
  model_type *type = pop_arena_alloc(p->in->m->arena, sizeof *type);
  *type = *parts[0]->type;
  type->dims = pop_arena_alloc(p->in->m->arena, (type->rank + 1) * sizeof *type->dims);
  memcpy(type->dims, parts[0]->type->dims, type->rank * sizeof *type->dims);
  for (size_t i = 1; i < count; ++i) type->dims[dimension] += parts[i]->type->dims[dimension];
  operation *op = parallel_op(p, by, OP_CONCATENATE, parts, count, type);
  set_int(op, "dimension", dimension);
  return op->results[0];
}

value *parallel_slice(parallel *p, const operation *by, value *v, int64_t dimension, int64_t part,
                      int64_t count)
{
  int64_t begin[MODEL_MAX_RANK] = {0}, end[MODEL_MAX_RANK], one[MODEL_MAX_RANK];
  model_type *type = pop_arena_alloc(p->in->m->arena, sizeof *type);
  *type = *v->type;
  type->dims = pop_arena_alloc(p->in->m->arena, (type->rank + 1) * sizeof *type->dims);
  memcpy(type->dims, v->type->dims, type->rank * sizeof *type->dims);
  memcpy(end, type->dims, type->rank * sizeof *type->dims);
  for (uint32_t d = 0; d < type->rank; ++d) one[d] = 1;
  int64_t size = type->dims[dimension] / count;
  begin[dimension] = part * size;
  end[dimension] = begin[dimension] + size;
  type->dims[dimension] = size;
  operation *op = parallel_op(p, by, OP_SLICE, &v, 1, type);
  set_ints(p, op, "start_indices", begin, type->rank);
  set_ints(p, op, "limit_indices", end, type->rank);
  set_ints(p, op, "strides", one, type->rank);
  return op->results[0];
}

static model_type *type_like(parallel *p, const model_type *of, const int64_t *dims, uint32_t rank)
{
  model_type *type = pop_arena_alloc(p->in->m->arena, sizeof *type);
  *type = *of;
  type->rank = rank;
  type->dims = pop_arena_alloc(p->in->m->arena, (rank + 1) * sizeof *type->dims);
  if (rank) memcpy(type->dims, dims, rank * sizeof *dims);
  return type;
}

static value *make_reshape(parallel *p, const operation *by, value *v, const int64_t *dims,
                           uint32_t rank)
{
  return parallel_op(p, by, OP_RESHAPE, &v, 1, type_like(p, v->type, dims, rank))->results[0];
}

value *parallel_choice(parallel *p, const operation *by, value **values, size_t count, value *index,
                       size_t i)
{
  const model_type *type = values[0]->type;
  int64_t dims[MODEL_MAX_RANK] = {1};
  memcpy(dims + 1, type->dims, type->rank * sizeof *dims);
  value **rows = pop_arena_alloc(p->in->m->arena, count * sizeof *rows);
  for (size_t k = 0; k < count; ++k) rows[k] = make_reshape(p, by, values[k], dims, type->rank + 1);
  value *operands[MODEL_MAX_RANK + 1];
  operands[0] = parallel_concatenate(p, by, rows, count, 0);
  value *one = parallel_slice(p, by, index, 0, (int64_t)i, index->type->dims[0]);
  operands[1] = make_reshape(p, by, one, NULL, 0);
  for (uint32_t d = 1; d <= type->rank; ++d)
    operands[1 + d] = parallel_constant(p, by, operands[1]->type, 0);
  operation *op = parallel_op(p, by, OP_DYNAMIC_SLICE, operands, 2 + type->rank,
                              type_like(p, type, dims, type->rank + 1));
  set_ints(p, op, "slice_sizes", dims, type->rank + 1);
  return make_reshape(p, by, op->results[0], type->dims, type->rank);
}

pop_error *parallel_map(parallel *p, const operation *by, const copy_map *map, value *a, value *b,
                        value **result)
{
  value *both[2] = {a, b};
  operation shell = {.code = OP_MAP, .name = by->name, .offset = by->offset};
  shell.regions = by->regions;
  shell.num_regions = 1;
  block copy = {0};
  POP_TRY(inline_copy(p->in, map, &shell, &copy));
  operation *op = parallel_op(p, by, OP_MAP, both, 2, a->type);
  op->regions = copy.first->regions;
  op->num_regions = 1;
  *result = op->results[0];
  return NULL;
}
