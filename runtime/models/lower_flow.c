/* Lowers if, case and while to control flow of programs.
 *
 * A value from outside that a region uses is calculated before the region. Otherwise a pending
 * value would be calculated in one branch only, or again in each iteration. An operand that the
 * region takes parts of is also laid out for that beforehand. */
#include "models/lowering.h"

#include <stdlib.h>
#include <string.h>

/* Values of the region have higher numbers than all values before it. */
static bool force_block(lowering *l, const block *b, uint32_t first_inside)
{
  for (const operation *op = b->first; op; op = op->next) {
    if (!lowering_is_live(l, op)) continue; /* operands of dead operations have not been lowered */
    for (size_t i = 0; i < op->num_operands; ++i)
      if (op->operands[i]->number < first_inside && !lowering_materialise(l, op->operands[i]))
        return false;
    if (op->num_operands && op->operands[0]->number < first_inside &&
        !windows_prepare_operand(l, op))
      return false;
    for (size_t i = 0; i < op->num_regions; ++i)
      if (!force_block(l, &op->regions[i], first_inside)) return false;
  }
  return true;
}

static uint32_t first_number(const operation *op)
{
  /* Results come before the regions (function_number_values). */
  return op->num_results ? op->results[op->num_results - 1]->number + 1 : 0;
}

static pop_tensor result_variable(lowering *l, const value *v)
{
  spread_plan plan = lowering_plan(l, type_elements(v->type), 2, 1);
  place_value(l, &plan, v);
  return lowering_variable(l, v->type, &plan, v->name);
}

static void copy(lowering *l, pop_tensor from, pop_tensor to)
{
  if (pop_tensor_num_elements(to)) pop_sequence_add(l->sequence, pop_program_copy(from, to, ""));
}

/* A program that runs the block's operations, then copies what the block returns to `targets`. */
static bool lower_branch(lowering *l, const block *b, const pop_tensor *targets,
                         pop_program *program)
{
  pop_program outside = l->sequence;
  l->sequence = *program = pop_program_sequence(l->graph, "");
  bool good = lower_block(l, b);
  size_t count = b->last->num_operands;
  pop_tensor *results = pop_xcalloc(count + 1, sizeof *results);
  for (size_t i = 0; i < count && good; ++i)
    if (b->last->operands[i]->type->kind == TYPE_TENSOR) {
      results[i] = lowering_tensor(l, b->last->operands[i]);
      good = !l->error;
    }
  /* All results are calculated before the first copy. A result that overlaps the target of an
   * earlier copy is first copied to a temporary. */
  for (size_t i = 0; i < count && good; ++i)
    for (size_t k = 0; k < i; ++k)
      if (b->last->operands[i]->type->kind == TYPE_TENSOR &&
          b->last->operands[k]->type->kind == TYPE_TENSOR &&
          pop_tensor_intersects_with(results[i], targets[k])) {
        pop_tensor away = result_variable(l, b->last->operands[i]);
        copy(l, results[i], away);
        results[i] = away;
        break;
      }
  for (size_t i = 0; i < count && good; ++i)
    if (b->last->operands[i]->type->kind == TYPE_TENSOR &&
        !pop_tensor_equal(results[i], targets[i]))
      copy(l, results[i], targets[i]);
  free(results);
  l->sequence = outside;
  return good;
}

static bool lower_choice(lowering *l, const operation *op)
{
  pop_tensor *targets = pop_arena_alloc(l->m->arena, (op->num_results + 1) * sizeof *targets);
  pop_program *branches = pop_arena_alloc(l->m->arena, op->num_regions * sizeof *branches);
  uint32_t first = first_number(op);
  for (size_t i = 0; i < op->num_regions; ++i)
    if (!force_block(l, &op->regions[i], first ? first : UINT32_MAX)) return false;
  pop_tensor control = lowering_tensor(l, op->operands[0]);
  if (l->error) return false;
  for (size_t i = 0; i < op->num_results; ++i) {
    if (op->results[i]->type->kind != TYPE_TENSOR) {
      state_of(l, op->results[i])->kind = STATE_TOKEN;
      continue;
    }
    targets[i] = result_variable(l, op->results[i]);
    lowering_set_tensor(l, op->results[i], targets[i]);
  }
  for (size_t i = 0; i < op->num_regions; ++i)
    if (!lower_branch(l, &op->regions[i], targets, &branches[i])) return false;
  if (op->code == OP_IF) {
    pop_sequence_add(l->sequence, pop_program_if(control, branches[0], branches[1], op->name));
    return true;
  }
  /* An index out of range selects the last branch. */
  size_t last = op->num_regions - 1;
  pop_switch_case *cases = pop_arena_alloc(l->m->arena, (last + 1) * sizeof *cases);
  for (size_t i = 0; i < last; ++i) cases[i] = (pop_switch_case){(int64_t)i, branches[i]};
  pop_sequence_add(l->sequence, pop_program_switch(control, cases, last, branches[last], op->name));
  return true;
}

static bool lower_while(lowering *l, const operation *op)
{
  const block *condition = &op->regions[0], *body = &op->regions[1];
  pop_tensor *carried = pop_arena_alloc(l->m->arena, (op->num_results + 1) * sizeof *carried);
  uint32_t first = first_number(op);
  for (size_t i = 0; i < 2; ++i)
    if (!force_block(l, &op->regions[i], first ? first : UINT32_MAX)) return false;
  for (size_t i = 0; i < op->num_results; ++i) {
    if (op->results[i]->type->kind != TYPE_TENSOR) {
      state_of(l, op->results[i])->kind = STATE_TOKEN;
      state_of(l, condition->arguments[i])->kind = STATE_TOKEN;
      state_of(l, body->arguments[i])->kind = STATE_TOKEN;
      continue;
    }
    pop_tensor initial = lowering_tensor(l, op->operands[i]);
    if (l->error) return false;
    carried[i] = lowering_argument(l, body, body->arguments[i], op->results[i]->name);
    copy(l, initial, carried[i]);
    lowering_set_tensor(l, condition->arguments[i], carried[i]);
    lowering_set_tensor(l, body->arguments[i], carried[i]);
    state_of(l, body->arguments[i])->changes_in = body;
  }
  pop_tensor predicate = result_variable(l, condition->last->operands[0]);
  pop_program test, turn;
  if (!lower_branch(l, condition, &predicate, &test)) return false;
  if (!lower_branch(l, body, carried, &turn)) return false;
  pop_sequence_add(l->sequence, pop_program_repeat_while_true(test, predicate, turn, op->name));
  for (size_t i = 0; i < op->num_results; ++i)
    if (op->results[i]->type->kind == TYPE_TENSOR)
      lowering_set_tensor(l, op->results[i], carried[i]);
  return true;
}

bool lower_flow(lowering *l, const operation *op)
{
  return op->code == OP_WHILE ? lower_while(l, op) : lower_choice(l, op);
}
