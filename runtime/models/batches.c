/* Gathers whose indices have the batch dimensions in another order than the operand. They become
 * gathers in the operand's order:
 *
 *   gather(x[a, k, c], i[c, j, a])     transpose(gather(x[a, k, c], transpose(i)[a, j, c]))
 *
 * Then neighbours in the result come from neighbours in the operand, and a vertex needs little of
 * it (boxes.c). Scatters order their results themselves (lower_scatter.c). Small operands are left
 * alone: they are copied to each tile. */
#include "models/module.h"

#include <string.h>

typedef struct permutation {
  int64_t of[MODEL_MAX_RANK]; /* old dimension for each new one */
} permutation;

static bool is_large(const model_type *type)
{
  enum { LARGE_BYTES = 16384 };
  return type_elements(type) * element_bytes(type->element) > LARGE_BYTES;
}

static attribute int_list(module *m, const char *name, const int64_t *values, size_t count)
{
  attribute a = {.kind = ATTRIBUTE_ARRAY, .name = name, .num_items = count};
  a.items = pop_arena_alloc(m->arena, (count + 1) * sizeof *a.items);
  for (size_t i = 0; i < count; ++i)
    a.items[i] = (attribute){.kind = ATTRIBUTE_INT, .integer = values[i]};
  return a;
}

static model_type *permuted_type(module *m, const model_type *from, const permutation *p)
{
  model_type *type = pop_arena_alloc(m->arena, sizeof *type);
  *type = *from;
  type->dims = pop_arena_alloc(m->arena, (from->rank + 1) * sizeof *type->dims);
  for (uint32_t d = 0; d < from->rank; ++d) type->dims[d] = from->dims[p->of[d]];
  return type;
}

/* An operation that defines `to` as transpose(from). */
static operation *make_transpose(module *m, const operation *by, value *from, value *to,
                                 const permutation *p)
{
  operation *op = operation_new(m, OP_TRANSPOSE, by, from, to->type);
  op->results[0] = to;
  op->num_attributes = 1;
  op->attributes = pop_arena_alloc(m->arena, sizeof *op->attributes);
  op->attributes[0] = int_list(m, "permutation", p->of, to->type->rank);
  to->op = op;
  return op;
}

/* Replaces start_indices_batching_dims. */
static void set_indices_batch(module *m, operation *op, const int64_t *list, size_t count)
{
  attribute *attributes = pop_arena_alloc(m->arena, op->num_attributes * sizeof *attributes);
  memcpy(attributes, op->attributes, op->num_attributes * sizeof *attributes);
  for (size_t i = 0; i < op->num_attributes; ++i) {
    attribute *numbers = &attributes[i];
    if (strcmp(numbers->name, "dimension_numbers") != 0) continue;
    attribute *items = pop_arena_alloc(m->arena, numbers->num_items * sizeof *items);
    memcpy(items, numbers->items, numbers->num_items * sizeof *items);
    for (size_t k = 0; k < numbers->num_items; ++k)
      if (strcmp(items[k].name, "start_indices_batching_dims") == 0)
        items[k] = int_list(m, items[k].name, list, count);
    numbers->items = items;
  }
  op->attributes = attributes;
}

/* Sorts `list`, the indices' batch dimensions in the operand's order. False if it is sorted
 * already. */
static bool sort_batch(int64_t *list, size_t count)
{
  bool sorted = true;
  for (size_t i = 1; i < count; ++i)
    for (size_t k = i; k > 0 && list[k - 1] > list[k]; --k) {
      int64_t larger = list[k - 1];
      list[k - 1] = list[k];
      list[k] = larger;
      sorted = false;
    }
  return !sorted;
}

/* *link is the gather. Returns the link behind it. */
static operation **order_gather(module *m, operation **link)
{
  operation *op = *link;
  const attribute *dn = op_attribute(op, "dimension_numbers");
  size_t count, num_batch, num_offset;
  const int64_t *before = dict_int_list(m, dn, "start_indices_batching_dims", &count);
  const int64_t *batch = dict_int_list(m, dn, "operand_batching_dims", &num_batch);
  const int64_t *offset = dict_int_list(m, dn, "offset_dims", &num_offset);
  int64_t vector = dict_int(dn, "index_vector_dim", 0), after[MODEL_MAX_RANK], at[MODEL_MAX_RANK];
  const model_type *result = op->results[0]->type, *indices = op->operands[1]->type;
  permutation of_indices = {{0}}, of_result = {{0}};
  if (count < 2 || count != num_batch || !is_large(op->operands[0]->type)) return &op->next;
  for (size_t k = 1; k < count; ++k)
    if (batch[k - 1] > batch[k]) return &op->next;
  memcpy(after, before, count * sizeof *after);
  if (!sort_batch(after, count)) return &op->next;

  /* The result's dimension for each dimension of the indices. */
  int64_t next = 0;
  for (uint32_t d = 0; d < result->rank; ++d) {
    of_result.of[d] = d;
    if (ints_have(offset, num_offset, d)) continue;
    if (next == vector) ++next;
    at[next++] = d;
  }
  for (uint32_t d = 0; d < indices->rank; ++d) of_indices.of[d] = d;
  permutation back = of_result; /* old dimension of the result for each new one */
  for (size_t k = 0; k < count; ++k) {
    of_indices.of[after[k]] = before[k];
    of_result.of[at[before[k]]] = at[after[k]];
    back.of[at[after[k]]] = at[before[k]];
  }
  value *turned = value_new(m, permuted_type(m, indices, &of_indices), NULL, op->operands[1]->name);
  operation *first = make_transpose(m, op, op->operands[1], turned, &of_indices);
  value *all = op->results[0];
  value *gathered = value_new(m, permuted_type(m, result, &back), op, all->name);
  operation *last = make_transpose(m, op, gathered, all, &of_result);
  op->operands[1] = turned;
  op->results[0] = gathered;
  set_indices_batch(m, op, after, count);
  *link = first;
  first->next = op;
  last->next = op->next;
  op->next = last;
  return &last->next;
}

static void order_block(module *m, block *b)
{
  for (operation **link = &b->first; *link;) {
    operation *op = *link;
    for (size_t i = 0; i < op->num_regions; ++i) order_block(m, &op->regions[i]);
    link = op->code == OP_GATHER ? order_gather(m, link) : &op->next;
  }
}

void module_order_batches(module *m, function *f)
{
  order_block(m, &f->body);
  function_number_values(f);
}
