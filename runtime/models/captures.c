/* Values from outside that regions of scalars use. A codelet calls such a region for elements of
 * the operands. So each value from outside becomes one more operand, broadcast to the operands'
 * shape:
 *
 *   map(%x) { ^bb0(%a): … %k … }     map(%x, broadcast(%k)) { ^bb0(%a, %b): … %b … }
 *
 * A comparator gets it as two arguments. Reducers and scatters also get it as an initial value or
 * an update, and return it unchanged. Both regions of a select_and_scatter get the scalar itself,
 * after their two arguments. Constants stay where they are, because they are in the codelet's text
 * (emit.c). So do values in loops and branches of programs, which can see them (lower_flow.c). */
#include "models/module.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CAPTURES = 64 };

typedef struct capture_list {
  const operation *op;
  const value *values[MAX_CAPTURES];
  size_t count;
} capture_list;

/* Values outside have lower numbers than the operation's results; values in its regions have higher
 * ones. */
static void add_capture(capture_list *list, const value *v)
{
  if (v->number > list->op->results[0]->number || (v->op && v->op->code == OP_CONSTANT)) return;
  if (v->type->kind != TYPE_TENSOR || v->type->rank > 0 || list->count == MAX_CAPTURES) return;
  for (size_t i = 0; i < list->count; ++i)
    if (list->values[i] == v) return;
  list->values[list->count++] = v;
}

static void find_captures(capture_list *list, const block *b)
{
  for (const operation *op = b->first; op; op = op->next) {
    for (size_t i = 0; i < op->num_operands; ++i) add_capture(list, op->operands[i]);
    for (size_t i = 0; i < op->num_regions; ++i) find_captures(list, &op->regions[i]);
  }
}

static void replace_uses(block *b, const value *v, value *by)
{
  for (operation *op = b->first; op; op = op->next) {
    for (size_t i = 0; i < op->num_operands; ++i)
      if (op->operands[i] == v) op->operands[i] = by;
    for (size_t i = 0; i < op->num_regions; ++i) replace_uses(&op->regions[i], v, by);
  }
}

/* The shape of one type with the scalar's element type. */
static const model_type *type_like(module *m, const value *scalar, const model_type *shape)
{
  model_type *type = pop_arena_alloc(m->arena, sizeof *type);
  *type = *shape;
  type->element = scalar->type->element;
  return type;
}

/* Inserts the broadcast at *link. */
static value *add_broadcast(module *m, operation ***link, const operation *by, const value *v,
                            const model_type *shape)
{
  operation *op = operation_new(m, OP_BROADCAST_IN_DIM, by, (value *)v, type_like(m, v, shape));
  op->next = **link;
  op->num_attributes = 1;
  op->attributes = pop_arena_alloc(m->arena, sizeof *op->attributes);
  op->attributes[0] = (attribute){.kind = ATTRIBUTE_ARRAY, .name = "broadcast_dimensions"};
  **link = op;
  *link = &op->next;
  return op->results[0];
}

static void insert(module *m, value ***values, size_t *count, size_t at, value *v)
{
  value **all = pop_arena_alloc(m->arena, (*count + 1) * sizeof *all);
  if (at) memcpy(all, *values, at * sizeof *all);
  all[at] = v;
  if (*count > at) memcpy(all + at + 1, *values + at, (*count - at) * sizeof *all);
  *values = all;
  ++*count;
}

static value *insert_argument(module *m, block *b, size_t at, const value *v)
{
  value *argument = value_new(m, v->type, NULL, v->name);
  insert(m, &b->arguments, &b->num_arguments, at, argument);
  return argument;
}

static void add_result(module *m, operation *op, const value *v, const value *like)
{
  value *result = value_new(m, type_like(m, v, like->type), op, NULL);
  insert(m, &op->results, &op->num_results, op->num_results, result);
}

/* Operands are x0 … xn, indices of a scatter, i0 … in; arguments a0 … an, b0 … bn; results r0 …
 * rn. */
static void add_to_reducer(module *m, operation *op, operation ***link, const value *v)
{
  block *b = &op->regions[0];
  operation *end = b->last;
  bool scatter = op->code == OP_SCATTER;
  size_t n = op->num_results;
  value *all = add_broadcast(m, link, op, v, op->operands[0]->type), *with = (value *)v;
  if (scatter) with = add_broadcast(m, link, op, v, op->operands[n + 1]->type);
  insert(m, &op->operands, &op->num_operands, n, all);
  insert(m, &op->operands, &op->num_operands, op->num_operands, with);
  value *before = insert_argument(m, b, n, v);
  (void)insert_argument(m, b, b->num_arguments, v);
  insert(m, &end->operands, &end->num_operands, n, before);
  replace_uses(b, v, before);
  add_result(m, op, v, op->results[0]);
}

/* One more argument of a map; two of a comparator. */
static void add_operand(module *m, operation *op, operation ***link, const value *v)
{
  block *b = &op->regions[0];
  value *all = add_broadcast(m, link, op, v, op->operands[0]->type);
  insert(m, &op->operands, &op->num_operands, op->num_operands, all);
  value *argument = insert_argument(m, b, b->num_arguments, v);
  replace_uses(b, v, argument);
  if (op->code == OP_MAP) return;
  (void)insert_argument(m, b, b->num_arguments, v);
  add_result(m, op, v, op->results[0]);
}

static void add_to_selector(module *m, operation *op, const value *v)
{
  insert(m, &op->operands, &op->num_operands, op->num_operands, (value *)v);
  for (size_t i = 0; i < op->num_regions; ++i) {
    block *b = &op->regions[i];
    replace_uses(b, v, insert_argument(m, b, b->num_arguments, v));
  }
}

static bool has_region_of_scalars(const operation *op)
{
  return op->code == OP_MAP || op->code == OP_REDUCE || op->code == OP_REDUCE_WINDOW ||
         op->code == OP_SCATTER || op->code == OP_SELECT_AND_SCATTER || op->code == OP_SORT;
}

static void capture_block(module *m, block *b)
{
  for (operation **link = &b->first; *link; link = &(*link)->next) {
    operation *op = *link;
    capture_list list = {.op = op};
    for (size_t i = 0; has_region_of_scalars(op) && i < op->num_regions; ++i)
      find_captures(&list, &op->regions[i]);
    for (size_t i = 0; i < list.count; ++i)
      if (op->code == OP_MAP || op->code == OP_SORT)
        add_operand(m, op, &link, list.values[i]);
      else if (op->code == OP_SELECT_AND_SCATTER)
        add_to_selector(m, op, list.values[i]);
      else
        add_to_reducer(m, op, &link, list.values[i]);
    for (size_t i = 0; i < op->num_regions; ++i) capture_block(m, &op->regions[i]);
  }
}

void module_capture(module *m, function *f)
{
  capture_block(m, &f->body);
  function_number_values(f);
}
