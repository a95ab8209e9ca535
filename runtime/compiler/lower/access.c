/* Records which blocks a step reads and writes, for liveness.
 *
 * A write of all bytes that mean anything (not the padding after them) is recorded as a write of
 * the whole block. A buffer of the compiler's is always filled before it is read, perhaps by an
 * exchange and a copy together. So its first write begins a new live range and counts as a write of
 * the whole block. */
#include "compiler/lower/lowering.h"

static block_use *use_of(lowering *l, uint32_t block_number)
{
  while (l->num_uses <= block_number) {
    uint32_t size = l->c->blocks[l->num_uses].size;
    pop_push(l->uses, l->num_uses, l->uses_capacity, (block_use){.data_bytes = size});
  }
  return &l->uses[block_number];
}

uint32_t add_buffer(lowering *l, uint32_t tile, uint32_t size, uint32_t align,
                    pop_memory_category category, uint8_t flags, const char *name)
{
  uint32_t number = add_block(l->c, &(block){.tile = tile,
                                             .size = size,
                                             .align = align,
                                             .category = (uint8_t)category,
                                             .flags = flags,
                                             .name = name,
                                             .content = COMPILER_NONE});
  *use_of(l, number) = (block_use){.data_bytes = UINT32_MAX, .fresh = true};
  return number;
}

void record_variable_blocks(lowering *l)
{
  const compilation *c = l->c;
  for (uint32_t i = 0; i < c->num_variables; i++) {
    const placed_variable *placed = &c->variables[i];
    uint32_t element_bytes = pop_type_bytes(c->graph->variables[i].type);
    for (size_t j = 0; j < placed->num_intervals; j++) {
      const placed_interval *interval = &c->intervals[placed->first_interval + j];
      uint64_t end = interval->at.offset + (interval->end - interval->begin) * element_bytes;
      block_use *use = use_of(l, interval->at.block);
      use->data_bytes = (uint32_t)end; /* intervals are packed: the last one stays */
    }
  }
}

void begin_accesses(lowering *l, uint32_t step_number)
{
  l->recording++;
  l->c->steps[step_number].first_access = l->c->num_accesses;
}

static block_access *access_of(lowering *l, uint32_t block_number)
{
  compilation *c = l->c;
  block_use *use = use_of(l, block_number);
  if (use->recording != l->recording) {
    use->recording = l->recording;
    use->access = (uint32_t)c->num_accesses;
    pop_push(c->accesses, c->num_accesses, c->accesses_capacity,
             (block_access){.block = block_number});
  }
  return &c->accesses[use->access];
}

void record_read(lowering *l, uint32_t block_number)
{
  access_of(l, block_number)->reads = true;
}

void record_write(lowering *l, uint32_t block_number, uint32_t bytes)
{
  access_of(l, block_number)->bytes_written += bytes;
}

void end_accesses(lowering *l, uint32_t step_number)
{
  compilation *c = l->c;
  step *s = &c->steps[step_number];
  s->num_accesses = c->num_accesses - s->first_access;
  for (size_t i = 0; i < s->num_accesses; i++) {
    block_access *a = &c->accesses[s->first_access + i];
    block_use *use = use_of(l, a->block);
    if (a->bytes_written == 0) continue;
    if (use->fresh || a->bytes_written >= use->data_bytes)
      a->bytes_written = c->blocks[a->block].size;
    use->fresh = false;
  }
}
