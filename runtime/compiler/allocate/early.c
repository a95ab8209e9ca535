/* Finds what cannot fit before its exchanges are planned: planning millions of messages takes long,
 * and would be in vain.
 *
 * All blocks that a step accesses are in memory at once, beside what is always live. A tile that
 * has no room for them has none for the program, whatever its exchange code is. A program with few
 * messages is not checked: its planning is short, and the error of allocation says more
 * (out_of_memory.c). */
#include "compiler/allocate/allocate.h"

#include <stdlib.h>

enum { MANY_MESSAGES = 1 << 16 };

typedef struct fullest {
  uint64_t bytes;
  uint32_t tile, step; /* COMPILER_NONE: what is always live is too much by itself */
} fullest;

static uint64_t *always_live(const compilation *c, fullest *most)
{
  uint64_t *bytes = pop_xcalloc(pop_target_num_tiles(&c->target), sizeof *bytes);
  for (size_t i = 0; i < c->num_blocks; i++) {
    const block *b = &c->blocks[i];
    if (!(b->flags & BLOCK_ALWAYS_LIVE)) continue;
    bytes[b->tile] += b->size;
    if (bytes[b->tile] > most->bytes)
      *most = (fullest){.bytes = bytes[b->tile], .tile = b->tile, .step = COMPILER_NONE};
  }
  return bytes;
}

/* Adds the bytes of the blocks that a step accesses; with `sign` -1, subtracts them. */
static void add_touched(const compilation *c, uint32_t number, uint64_t *bytes, int sign,
                        fullest *most)
{
  const step *s = &c->steps[number];
  for (size_t i = 0; i < s->num_accesses; i++) {
    const block *b = &c->blocks[c->accesses[s->first_access + i].block];
    if (b->flags & BLOCK_ALWAYS_LIVE) continue;
    bytes[b->tile] += (uint64_t)sign * b->size;
    if (bytes[b->tile] > most->bytes)
      *most = (fullest){.bytes = bytes[b->tile], .tile = b->tile, .step = number};
  }
}

static pop_error *does_not_fit(const compilation *c, const fullest *most, uint64_t available)
{
  bool always = most->step == COMPILER_NONE;
  return pop_error_new(
      POP_ERROR_GRAPH_MEMORY,
      "the graph does not fit: data of tile %u take %llu B %s%s%s, without code; of the %u B of a "
      "tile of %s %llu are for data and code. More tiles, a mapping that spreads the data more "
      "evenly, or smaller steps would help; with the engine option debug.allowOutOfMemory images "
      "and reports are made all the same",
      most->tile, (unsigned long long)most->bytes, always ? "all the time" : "in '",
      always ? "" : c->steps[most->step].name, always ? "" : "'", c->target.memory_bytes,
      c->target.name, (unsigned long long)available);
}

pop_error *check_data_fits(const compilation *c)
{
  if (c->options.allow_out_of_memory || c->num_messages < MANY_MESSAGES) return NULL;
  fullest most = {.step = COMPILER_NONE};
  uint64_t available = c->target.memory_bytes - c->target.system_bytes;
  uint64_t *bytes = always_live(c, &most);
  for (uint32_t i = 0; i < c->num_steps; i++) {
    add_touched(c, i, bytes, 1, &most);
    add_touched(c, i, bytes, -1, &most);
  }
  free(bytes);
  return most.bytes > available ? does_not_fit(c, &most, available) : NULL;
}
