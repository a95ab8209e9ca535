/* infeed and outfeed: streams of the graph, one for each tensor of such an operation.
 *
 * Handles count the operations in the order of the text, including regions: infeed0, infeed1, …,
 * outfeed0. An operation with several tensors has infeed0.0, infeed0.1, … Each execution of the
 * operation takes the stream's next elements. */
#include "models/lowering.h"

#include <populus/stream.h>
#include <stdlib.h>

static void add_feeds(module *m, const operation *op, size_t number, feed_list *list)
{
  bool in = op->code == OP_INFEED;
  size_t count = (in ? op->num_results : op->num_operands) - 1; /* the last one is a token */
  for (size_t i = 0; i < count; ++i) {
    feed f = {.op = op, .value = in ? op->results[i] : op->operands[i]};
    f.name = count == 1
                 ? pop_arena_printf(m->arena, "%s%zu", in ? "infeed" : "outfeed", number)
                 : pop_arena_printf(m->arena, "%s%zu.%zu", in ? "infeed" : "outfeed", number, i);
    pop_push(list->items, list->count, list->capacity, f);
  }
}

void feeds_find(module *m, const block *b, feed_list *list)
{
  for (const operation *op = b->first; op; op = op->next) {
    if (op->code == OP_INFEED) add_feeds(m, op, list->num_in++, list);
    if (op->code == OP_OUTFEED) add_feeds(m, op, list->num_out++, list);
    for (size_t i = 0; i < op->num_regions; ++i) feeds_find(m, &op->regions[i], list);
  }
}

static const feed *feed_of(const lowering *l, const operation *op, const value *v)
{
  for (size_t i = 0; i < l->feeds->count; ++i)
    if (l->feeds->items[i].op == op && l->feeds->items[i].value == v) return &l->feeds->items[i];
  return NULL;
}

bool lower_infeed(lowering *l, const operation *op)
{
  for (size_t i = 0; i + 1 < op->num_results; ++i) {
    const value *v = op->results[i];
    uint64_t elements = type_elements(v->type);
    if (elements == 0) return lowering_fail(l, op, "%s of no elements is not supported", op->name);
    spread_plan plan = lowering_plan(l, elements, 2, 1);
    pop_tensor t = lowering_variable(l, v->type, &plan, lowering_name(l, op));
    pop_stream stream = pop_graph_add_host_to_device_fifo(
        l->graph, feed_of(l, op, v)->name, element_infos[v->type->element].type, elements);
    pop_sequence_add(l->sequence, pop_program_copy_from_stream(stream, t, op->name));
    lowering_set_tensor(l, v, t);
  }
  state_of(l, op->results[op->num_results - 1])->kind = STATE_TOKEN;
  return true;
}

bool lower_outfeed(lowering *l, const operation *op)
{
  for (size_t i = 0; i + 1 < op->num_operands; ++i) {
    const value *v = op->operands[i];
    uint64_t elements = type_elements(v->type);
    if (elements == 0) return lowering_fail(l, op, "%s of no elements is not supported", op->name);
    pop_tensor t = lowering_tensor(l, v);
    if (l->error) return false;
    pop_stream stream = pop_graph_add_device_to_host_fifo(
        l->graph, feed_of(l, op, v)->name, element_infos[v->type->element].type, elements);
    pop_sequence_add(l->sequence, pop_program_copy_to_stream(t, stream, op->name));
  }
  state_of(l, op->results[0])->kind = STATE_TOKEN;
  return true;
}
