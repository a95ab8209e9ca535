/* Controls: the values that decide the branches of If, Switch and RepeatWhile, broadcast to all
 * tiles.
 *
 * The word that holds the value is sent to every other tile right before it is read. There it has a
 * block of its own (category controlId), which is live only that long. */
#include "compiler/lower/lowering.h"
#include "compiler/segments.h"

#include <stdlib.h>

enum { WORD = 4 };

static segment only_segment(const compilation *c, uint32_t tensor)
{
  segment_walk walk;
  segment found = {0};
  segment_walk_start(&walk, c, tensor);
  segment_walk_next(&walk, &found); /* one element, on one tile: pass_check saw to it */
  return found;
}

static transfer_list broadcast(lowering *l, control *added, const char *name)
{
  transfer_list transfers = {0};
  place word = {added->source.block, added->source.offset / WORD * WORD};
  uint32_t num_tiles = pop_target_num_tiles(&l->c->target);
  for (uint32_t t = 0; t < num_tiles; t++) {
    if (t == added->tile) continue;
    uint32_t copy = add_buffer(l, t, WORD, WORD, POP_MEMORY_CONTROL_ID, 0, name);
    if (transfers.count == 0) added->first_copy = copy;
    pop_push(transfers.items, transfers.count, transfers.capacity,
             (transfer){added->tile, t, word, {copy, 0}, WORD});
  }
  return transfers;
}

pop_error *lower_control(lowering *l, const program *decides, const char *name, step_list *steps,
                         uint32_t *out)
{
  compilation *c = l->c;
  segment at = only_segment(c, decides->source);
  control added = {.type = c->graph->tensors[decides->source].type,
                   .tile = at.tile,
                   .source = at.at,
                   .first_copy = COMPILER_NONE,
                   .first_value = c->num_case_values};
  for (size_t i = 0; decides->kind == PROGRAM_SWITCH && i + 1 < decides->num_children; i++)
    pop_push(c->case_values, c->num_case_values, c->case_values_capacity, decides->case_values[i]);
  const char *copy_name = pop_arena_printf(c->arena, "%s/Broadcast", name);
  transfer_list transfers = broadcast(l, &added, copy_name);
  *out = (uint32_t)c->num_controls;
  pop_push(c->controls, c->num_controls, c->controls_capacity, added);
  const transfer_names names = {.exchange = pop_arena_printf(c->arena, "%s/ExchangePre", copy_name),
                                .copy = copy_name};
  pop_error *error = lower_transfers(l, &transfers, &names, steps);
  free(transfers.items);
  return error;
}

void record_control_reads(lowering *l, uint32_t step_number)
{
  const control *read = &l->c->controls[l->c->steps[step_number].index];
  uint32_t num_tiles = pop_target_num_tiles(&l->c->target);
  begin_accesses(l, step_number);
  for (uint32_t t = 0; t < num_tiles; t++) record_read(l, control_place(read, t).block);
  end_accesses(l, step_number);
}
