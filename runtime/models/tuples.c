/* Replaces each tuple by its members, one after the other: in arguments and results of @main (each
 * tensor has its own handle), in values that control flow carries, and everywhere else. Lowering
 * sees no tuples.
 *
 *   @main(%t: tuple<A, tuple<B>>)                      @main(%t..0: A, %t..1: B)
 *   %1 = get_tuple_element %t[1]                       (%1 is what %t..1 is)
 *   %2 = if(%p) … return %x : tuple<B, A>              %2..0, %2..1 = if(%p) … return %x..0, %x..1 : B, A
 *   return %2 : tuple<B, A>                            return %2..0, %2..1
 */
#include "models/module.h"

#include <stdlib.h>
#include <string.h>

typedef struct value_list {
  value **values;
  size_t count;
} value_list;

typedef struct flattener {
  module *m;
  value_list *members; /* by value number: its members; empty: itself */
} flattener;

static size_t count_members(const model_type *type)
{
  size_t count = 0;
  if (type->kind != TYPE_TUPLE) return 1;
  for (uint32_t i = 0; i < type->num_members; ++i) count += count_members(type->members[i]);
  return count;
}

static value_list new_list(const flattener *f, size_t count)
{
  return (value_list){pop_arena_alloc(f->m->arena, (count + 1) * sizeof(value *)), 0};
}

static void append(value_list *to, const value_list *from)
{
  if (from->count) memcpy(to->values + to->count, from->values, from->count * sizeof *to->values);
  to->count += from->count;
}

/* The members of values that have been processed. */
static value_list members_of_all(const flattener *f, value *const *values, size_t count)
{
  size_t total = 0;
  for (size_t i = 0; i < count; ++i) total += f->members[values[i]->number].count;
  value_list all = new_list(f, total);
  for (size_t i = 0; i < count; ++i) append(&all, &f->members[values[i]->number]);
  return all;
}

/* New values for a type's members. Recursion is bounded: the reader limits nesting. */
static void add_members(const flattener *f, value_list *to, const value *whole,
                        const model_type *type)
{
  if (type->kind == TYPE_TUPLE) {
    for (uint32_t i = 0; i < type->num_members; ++i) add_members(f, to, whole, type->members[i]);
    return;
  }
  value *member = pop_arena_alloc(f->m->arena, sizeof *member);
  *member = (value){.type = type, .op = whole->op};
  if (whole->name) member->name = pop_arena_printf(f->m->arena, "%s..%zu", whole->name, to->count);
  to->values[to->count++] = member;
}

/* Replaces values by their members where they are defined. */
static void define(flattener *f, value ***values, size_t *count)
{
  for (size_t i = 0; i < *count; ++i) {
    value *v = (*values)[i];
    value_list list = new_list(f, count_members(v->type));
    if (v->type->kind == TYPE_TUPLE)
      add_members(f, &list, v, v->type);
    else
      list.values[list.count++] = v;
    f->members[v->number] = list;
  }
  value_list all = members_of_all(f, *values, *count);
  *values = all.values;
  *count = all.count;
}

static value_list element_of(const flattener *f, const operation *op)
{
  const value *tuple = op->operands[0];
  int64_t index = op_int(op, "index", 0);
  size_t at = 0;
  for (int64_t i = 0; i < index; ++i) at += count_members(tuple->type->members[i]);
  return (value_list){f->members[tuple->number].values + at, count_members(op->results[0]->type)};
}

static void flatten_block(flattener *f, block *b)
{
  operation *next, **link = &b->first;
  define(f, &b->arguments, &b->num_arguments);
  for (operation *op = b->first; op; op = next) {
    next = op->next;
    if (op->code == OP_TUPLE || op->code == OP_GET_TUPLE_ELEMENT) {
      f->members[op->results[0]->number] = op->code == OP_TUPLE
                                               ? members_of_all(f, op->operands, op->num_operands)
                                               : element_of(f, op);
      *link = next;
      continue;
    }
    value_list operands = members_of_all(f, op->operands, op->num_operands);
    op->operands = operands.values;
    op->num_operands = operands.count;
    define(f, &op->results, &op->num_results);
    for (size_t i = 0; i < op->num_regions; ++i) flatten_block(f, &op->regions[i]);
    link = &op->next;
  }
}

void module_flatten(module *m, function *f)
{
  flattener all = {.m = m};
  all.members = pop_xcalloc(f->num_values + 1, sizeof *all.members);
  flatten_block(&all, &f->body);
  free(all.members);
  const operation *end = f->body.last;
  f->num_results = end->num_operands;
  f->results = pop_arena_alloc(m->arena, (f->num_results + 1) * sizeof *f->results);
  for (size_t i = 0; i < f->num_results; ++i) f->results[i] = end->operands[i]->type;
  function_number_values(f);
}
