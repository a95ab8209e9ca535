/* Reducers in wider types than their operands. The specification allows the region of a reduce,
 * reduce_window, scatter or select_and_scatter to have, for example, float arguments for halves;
 * the result is then of floats, too. Operands are converted first:
 *
 *   reduce(%x: bf16 init: %z: bf16) by f32     reduce(convert(%x): f32 init: convert(%z): f32) by f32
 *
 * The select region keeps its type: its arguments are wide, and are narrowed again inside. That
 * loses nothing, because the wider type has all values of the narrower one. */
#include "models/module.h"

/* Converts operands[i] to `element`. *link is where the conversion is inserted. */
static void promote(module *m, operation ***link, operation *op, size_t i, element_type element)
{
  if (op->operands[i]->type->element == element) return;
  model_type *type = pop_arena_alloc(m->arena, sizeof *type);
  *type = *op->operands[i]->type;
  type->element = element;
  operation *convert = operation_new(m, OP_CONVERT, op, op->operands[i], type);
  op->operands[i] = convert->results[0];
  convert->next = op;
  **link = convert;
  *link = &convert->next;
}

/* Makes the arguments of select wide and narrows them inside. */
static void narrow_arguments(module *m, const operation *op, block *b, const model_type *wide)
{
  for (size_t i = b->num_arguments; i-- > 0;) {
    value *narrow = b->arguments[i];
    value *argument = value_new(m, wide, NULL, narrow->name);
    operation *convert = operation_new(m, OP_CONVERT, op, argument, narrow->type);
    convert->results[0] = narrow;
    narrow->op = convert;
    b->arguments[i] = argument;
    convert->next = b->first;
    b->first = convert;
  }
}

/* Converts inputs and what belongs to each: an initial value, or an update of a scatter. */
static void promote_reducer(module *m, operation ***link, operation *op)
{
  size_t behind = op->num_results + (op->code == OP_SCATTER ? 1 : 0);
  for (size_t i = 0; i < op->num_results; ++i) {
    element_type element = op->regions[0].arguments[i]->type->element;
    promote(m, link, op, i, element);
    promote(m, link, op, behind + i, element);
  }
}

static void promote_selector(module *m, operation ***link, operation *op)
{
  const model_type *wide = op->regions[1].arguments[0]->type;
  if (op->operands[0]->type->element == wide->element) return;
  narrow_arguments(m, op, &op->regions[0], wide);
  for (size_t i = 0; i < op->num_operands; ++i) promote(m, link, op, i, wide->element);
}

static void promote_block(module *m, block *b)
{
  for (operation **link = &b->first; *link;) {
    operation *op = *link;
    for (size_t i = 0; i < op->num_regions; ++i) promote_block(m, &op->regions[i]);
    if (op->code == OP_REDUCE || op->code == OP_REDUCE_WINDOW || op->code == OP_SCATTER)
      promote_reducer(m, &link, op);
    if (op->code == OP_SELECT_AND_SCATTER) promote_selector(m, &link, op);
    link = &op->next;
  }
}

void module_promote(module *m, function *f)
{
  promote_block(m, &f->body);
  function_number_values(f);
}
