/* Inlines calls and composites. Afterwards `f` is one function, and each value is defined once. */
#include "models/inline.h"

#include <stdlib.h>
#include <string.h>

static pop_error *copy_block(inliner *in, const copy_map *map, const block *from, block *to);

value *inline_mapped(const copy_map *map, const value *v)
{
  return map->values[v->number];
}

void inline_append(block *b, operation *op)
{
  op->next = NULL;
  if (b->last)
    b->last->next = op;
  else
    b->first = op;
  b->last = op;
}

static value *copy_value(inliner *in, const copy_map *map, const value *v, operation *op)
{
  value *copy = pop_arena_alloc(in->m->arena, sizeof *copy);
  *copy = *v;
  copy->op = op;
  if (in->expanded && in->expanded->num_results && in->expanded->results[0]->name)
    copy->name = pop_arena_printf(in->m->arena, "%s.%s", in->expanded->results[0]->name,
                                  v->name ? v->name + 1 : "");
  map->values[v->number] = copy;
  return copy;
}

static value **copy_operands(inliner *in, const copy_map *map, const operation *op)
{
  value **operands = pop_arena_alloc(in->m->arena, (op->num_operands + 1) * sizeof *operands);
  for (size_t i = 0; i < op->num_operands; ++i) operands[i] = inline_mapped(map, op->operands[i]);
  return operands;
}

static pop_error *copy_op(inliner *in, const copy_map *map, const operation *op, block *to)
{
  if (++in->num_operations > MAX_OPERATIONS)
    return model_error(in->m, op->offset, "with all calls there are more than %d operations",
                       MAX_OPERATIONS);
  operation *copy = pop_arena_alloc(in->m->arena, sizeof *copy);
  *copy = *op;
  if (in->expanded) copy->offset = in->expanded->offset;
  copy->operands = copy_operands(in, map, op);
  copy->results = pop_arena_alloc(in->m->arena, (op->num_results + 1) * sizeof *copy->results);
  for (size_t i = 0; i < op->num_results; ++i)
    copy->results[i] = copy_value(in, map, op->results[i], copy);
  copy->regions = pop_arena_alloc(in->m->arena, (op->num_regions + 1) * sizeof *copy->regions);
  for (size_t i = 0; i < op->num_regions; ++i)
    POP_TRY(copy_block(in, map, &op->regions[i], &copy->regions[i]));
  inline_append(to, copy);
  return NULL;
}

static pop_error *check_call(inliner *in, const operation *op, const function *f)
{
  for (size_t i = 0; i < in->depth; ++i)
    if (in->stack[i] == f)
      return model_error(in->m, op->offset, "@%s calls itself: recursion is not supported",
                         f->name);
  if (in->depth == MAX_CALL_DEPTH)
    return model_error(in->m, op->offset, "calls are more than %d deep", MAX_CALL_DEPTH);
  if (f->body.num_arguments != op->num_operands || f->num_results != op->num_results)
    return model_error(
        in->m, op->offset, "@%s has %zu arguments and %zu results, and is called with %zu for %zu",
        f->name, f->body.num_arguments, f->num_results, op->num_operands, op->num_results);
  for (size_t i = 0; i < op->num_operands; ++i)
    if (!type_equal(f->body.arguments[i]->type, op->operands[i]->type))
      return model_error(in->m, op->offset, "argument %zu of @%s is %s, not %s", i, f->name,
                         type_text(in->m->arena, f->body.arguments[i]->type),
                         type_text(in->m->arena, op->operands[i]->type));
  for (size_t i = 0; i < op->num_results; ++i)
    if (!type_equal(f->results[i], op->results[i]->type))
      return model_error(in->m, op->offset, "result %zu of @%s is %s, not %s", i, f->name,
                         type_text(in->m->arena, f->results[i]),
                         type_text(in->m->arena, op->results[i]->type));
  return NULL;
}

/* Enters a region or a call. */
static pop_error *enter(const inliner *in, uint32_t offset)
{
  if (in->m->nesting == MAX_NESTING)
    return model_error(in->m, offset, "with all calls, regions are more than %d deep", MAX_NESTING);
  in->m->nesting++;
  return NULL;
}

/* Appends the callee's operations. The results of the call are what it returns. */
static pop_error *copy_body(inliner *in, const copy_map *map, const operation *op, function *f,
                            block *to)
{
  POP_TRY(check_call(in, op, f));
  POP_TRY(enter(in, op->offset));
  in->stack[in->depth++] = f;
  function_number_values(f);
  copy_map inside = {pop_xcalloc(f->num_values + 1, sizeof *inside.values)};
  for (size_t i = 0; i < op->num_operands; ++i)
    inside.values[f->body.arguments[i]->number] = inline_mapped(map, op->operands[i]);
  pop_error *error = NULL;
  const operation *at = f->body.first;
  for (; at != f->body.last && !error; at = at->next) {
    error = inline_copy(in, &inside, at, to);
  }
  for (size_t i = 0; i < op->num_results && !error; ++i)
    map->values[op->results[i]->number] = inline_mapped(&inside, f->body.last->operands[i]);
  free(inside.values);
  in->depth--;
  in->m->nesting--;
  return error;
}

static pop_error *copy_call(inliner *in, const copy_map *map, const operation *op, block *to)
{
  const char *name = op_word(op, op->code == OP_CALL ? "callee" : "decomposition");
  function *f = module_find(in->m, name);
  if (!f) return model_error(in->m, op->offset, "there is no function @%s", name);
  return copy_body(in, map, op, f, to);
}

/* An operation is verified before it is expanded, because the expansion relies on that. */
static pop_error *copy_expanded(inliner *in, const copy_map *map, const operation *op, block *to)
{
  operation mapped = *op, same = {0};
  function *f = pop_arena_alloc(in->m->arena, sizeof *f);
  bool supported;
  mapped.operands = copy_operands(in, map, op);
  if (!replicas_collective(op->code)) {
    POP_TRY(module_verify_op(in->m, &mapped, &supported));
    if (!supported) return copy_op(in, map, op, to);
  }
  POP_TRY(expand_op(in->m, &mapped, &same, f));
  if (!f->body.first) {
    same.operands = op->operands;
    return copy_op(in, map, &same, to);
  }
  in->expanded = op;
  pop_error *error = copy_body(in, map, op, f, to);
  in->expanded = NULL;
  return error;
}

/* Does the region run once, on one device? Its arguments are then whole operands, not shards. */
static bool runs_here(const operation *op)
{
  if (op->num_regions != 1) return false;
  const block *b = &op->regions[0];
  if (b->num_arguments != op->num_operands || b->last->num_operands != op->num_results)
    return false;
  for (size_t i = 0; i < op->num_operands; ++i)
    if (!type_equal(b->arguments[i]->type, op->operands[i]->type)) return false;
  for (size_t i = 0; i < op->num_results; ++i)
    if (!type_equal(b->last->operands[i]->type, op->results[i]->type)) return false;
  return true;
}

static pop_error *copy_inside(inliner *in, const copy_map *map, const operation *op, block *to)
{
  const block *b = &op->regions[0];
  pop_error *error = NULL;
  POP_TRY(enter(in, op->offset));
  for (size_t i = 0; i < op->num_operands; ++i)
    map->values[b->arguments[i]->number] = inline_mapped(map, op->operands[i]);
  for (const operation *at = b->first; at != b->last && !error; at = at->next)
    error = inline_copy(in, map, at, to);
  for (size_t i = 0; i < op->num_results && !error; ++i)
    map->values[op->results[i]->number] = inline_mapped(map, b->last->operands[i]);
  in->m->nesting--;
  return error;
}

static pop_error *copy_block(inliner *in, const copy_map *map, const block *from, block *to)
{
  pop_error *error = NULL;
  POP_TRY(enter(in, from->last->offset));
  *to = (block){.num_arguments = from->num_arguments};
  to->arguments = pop_arena_alloc(in->m->arena, (from->num_arguments + 1) * sizeof *to->arguments);
  for (size_t i = 0; i < from->num_arguments; ++i)
    to->arguments[i] = copy_value(in, map, from->arguments[i], NULL);
  for (const operation *op = from->first; op && !error; op = op->next)
    error = inline_copy(in, map, op, to);
  in->m->nesting--;
  return error;
}

pop_error *inline_copy(inliner *in, const copy_map *map, const operation *op, block *to)
{
  if (op->code == OP_CALL || op->code == OP_COMPOSITE) return copy_call(in, map, op, to);
  if (op->code == OP_MANUAL_COMPUTATION && runs_here(op)) return copy_inside(in, map, op, to);
  bool between = in->m->replicas > 1 && replicas_collective(op->code);
  if (between || op_expands(in->m, op)) return copy_expanded(in, map, op, to);
  if (op->code == OP_RUN_PARALLEL) return inline_parallel(in, map, op, to);
  return copy_op(in, map, op, to);
}

pop_error *module_inline(module *m, function *f)
{
  if (f->inlined) return NULL;
  inliner in = {.m = m, .stack = {f}, .depth = 1};
  function_number_values(f);
  copy_map map = {pop_xcalloc(f->num_values + 1, sizeof *map.values)};
  block body;
  pop_error *error = copy_block(&in, &map, &f->body, &body);
  free(map.values);
  if (error) return error;
  f->body = body;
  f->inlined = true;
  function_number_values(f);
  return NULL;
}
