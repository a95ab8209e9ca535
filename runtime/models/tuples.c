/* Tuples that @main takes or returns are their members, one after the other, as tuples of HLO text are (hlo_text.h): whoever
 * runs the program has a handle for each tensor.
 *
 *   @main(%t: tuple<A, tuple<B>>)     @main(%t..0: A, %t..1: B)
 *                                       %t = tuple(%t..0, tuple(%t..1))
 *   return %r : tuple<A, B>           return get_tuple_element(%r, 0), get_tuple_element(%r, 1)
 */
#include "models/module.h"

#include <stdlib.h>
#include <string.h>

typedef struct value_list {
  value **values;
  size_t count, capacity;
} value_list;

/* A list of new operations; `end`: where the next one is linked in. */
typedef struct op_list {
  module *m;
  operation *first, **end;
} op_list;

static operation *append(op_list *to, op_code code, uint32_t offset, size_t operands,
                         const model_type *type, const char *name)
{
  operation *op = pop_arena_alloc(to->m->arena, sizeof *op);
  value *v = pop_arena_alloc(to->m->arena, sizeof *v);
  *v = (value){.type = type, .op = op, .name = name};
  *op = (operation){.code = code,
                    .name = pop_arena_printf(to->m->arena, "stablehlo.%s", op_infos[code].name),
                    .offset = offset,
                    .num_operands = operands,
                    .num_results = 1};
  op->operands = pop_arena_alloc(to->m->arena, (operands + 1) * sizeof(value *));
  op->results = pop_arena_alloc(to->m->arena, sizeof(value *));
  op->results[0] = v;
  *to->end = op;
  to->end = &op->next;
  return op;
}

/* `v` becomes the result of tuple operations of new arguments; NULL: of `type`, a member. Tuples are as deep as the reader lets
 * them be. */
static value *compose(op_list *to, value_list *arguments, const value *whole, value *v,
                      const model_type *type, size_t *next)
{
  pop_arena *arena = to->m->arena;
  if (type->kind != TYPE_TUPLE) {
    value *member = pop_arena_alloc(arena, sizeof *member);
    *member =
        (value){.type = type, .name = pop_arena_printf(arena, "%s..%zu", whole->name, (*next)++)};
    pop_push(arguments->values, arguments->count, arguments->capacity, member);
    return member;
  }
  value **members = pop_arena_alloc(arena, (type->num_members + 1) * sizeof *members);
  for (uint32_t i = 0; i < type->num_members; ++i)
    members[i] = compose(to, arguments, whole, NULL, type->members[i], next);
  operation *op = append(to, OP_TUPLE, type->offset, type->num_members, type, NULL);
  memcpy(op->operands, members, type->num_members * sizeof *members);
  if (!v) return op->results[0];
  v->op = op;
  op->results[0] = v;
  return v;
}

static void decompose(op_list *to, value_list *results, value *v, uint32_t offset)
{
  if (v->type->kind != TYPE_TUPLE) {
    pop_push(results->values, results->count, results->capacity, v);
    return;
  }
  for (uint32_t i = 0; i < v->type->num_members; ++i) {
    operation *op = append(to, OP_GET_TUPLE_ELEMENT, offset, 1, v->type->members[i], v->name);
    op->operands[0] = v;
    op->attributes = pop_arena_alloc(to->m->arena, sizeof *op->attributes);
    op->attributes[0] = (attribute){.kind = ATTRIBUTE_INT, .name = "index", .integer = i};
    op->num_attributes = 1;
    decompose(to, results, op->results[0], offset);
  }
}

static value **keep(const module *m, value_list *list)
{
  value **all = pop_arena_alloc(m->arena, (list->count + 1) * sizeof *all);
  if (list->count) memcpy(all, list->values, list->count * sizeof *all);
  free(list->values);
  return all;
}

static bool has_tuples(value *const *values, size_t count)
{
  for (size_t i = 0; i < count; ++i)
    if (values[i]->type->kind == TYPE_TUPLE) return true;
  return false;
}

static void flatten_arguments(module *m, block *b)
{
  op_list ops = {.m = m, .end = &ops.first};
  value_list arguments = {0};
  for (size_t i = 0; i < b->num_arguments; ++i) {
    value *v = b->arguments[i];
    size_t next = 0;
    if (v->type->kind == TYPE_TUPLE)
      (void)compose(&ops, &arguments, v, v, v->type, &next);
    else
      pop_push(arguments.values, arguments.count, arguments.capacity, v);
  }
  b->num_arguments = arguments.count;
  b->arguments = keep(m, &arguments);
  *ops.end = b->first;
  b->first = ops.first;
}

static void flatten_results(module *m, function *f)
{
  operation *end = f->body.last, **link = &f->body.first;
  op_list ops = {.m = m, .end = &ops.first};
  value_list results = {0};
  for (size_t i = 0; i < end->num_operands; ++i)
    decompose(&ops, &results, end->operands[i], end->offset);
  end->num_operands = f->num_results = results.count;
  end->operands = keep(m, &results);
  f->results = pop_arena_alloc(m->arena, (f->num_results + 1) * sizeof *f->results);
  for (size_t i = 0; i < f->num_results; ++i) f->results[i] = end->operands[i]->type;
  *ops.end = end;
  while (*link != end) link = &(*link)->next;
  *link = ops.first;
}

void module_flatten(module *m, function *f)
{
  if (has_tuples(f->body.arguments, f->body.num_arguments)) flatten_arguments(m, &f->body);
  if (has_tuples(f->body.last->operands, f->body.last->num_operands)) flatten_results(m, f);
  function_number_values(f);
}
