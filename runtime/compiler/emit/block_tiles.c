#include "compiler/emit/block_tiles.h"

#include <stdlib.h>

/* The same tiles on each IPU. */
static bool is_chosen(const compilation *c, uint32_t tile)
{
  const block_options *o = &c->options.blocks;
  for (size_t i = 0; i < o->num_tiles; i++)
    if (o->tiles[i] == tile % c->target.tiles_per_ipu) return true;
  return false;
}

static void choose_stream_tiles(emitter *e)
{
  const compilation *c = e->c;
  uint32_t num_ipus = c->target.num_ipus;
  e->stream_tile = pop_xcalloc(c->num_host_exchanges * num_ipus + 1, sizeof *e->stream_tile);
  e->times_streams = pop_xcalloc(pop_target_num_tiles(&c->target), sizeof *e->times_streams);
  for (size_t x = 0; x < c->num_host_exchanges; x++) {
    const host_exchange *exchange = &c->host_exchanges[x];
    uint32_t *chosen = e->stream_tile + x * num_ipus;
    for (uint32_t ipu = 0; ipu < num_ipus; ipu++) chosen[ipu] = COMPILER_NONE;
    for (size_t p = exchange->num_packets; p-- > 0;) {
      uint32_t tile = c->host_packets[exchange->first_packet + p].tile;
      uint32_t *of_ipu = &chosen[tile / c->target.tiles_per_ipu];
      if (*of_ipu == COMPILER_NONE || !is_chosen(c, *of_ipu)) *of_ipu = tile;
    }
    for (uint32_t ipu = 0; ipu < num_ipus; ipu++)
      if (chosen[ipu] != COMPILER_NONE) e->times_streams[chosen[ipu]] = true;
  }
}

/* ---- IPUs that have a part in blocks: a bit each ---- */

static uint64_t ipu_of(const compilation *c, uint32_t tile)
{
  return (uint64_t)1 << tile / c->target.tiles_per_ipu; /* pop_target.num_ipus is 64 at most */
}

static uint64_t ipus_of_op(const compilation *c, const script_op *op)
{
  uint64_t ipus = 0;
  uint32_t index = op->step == COMPILER_NONE ? 0 : c->steps[op->step].index;
  if (op->kind == SCRIPT_EXECUTE) {
    const lowered_compute_set *set = &c->compute_sets[index];
    for (size_t i = 0; i < set->num_works; i++)
      ipus |= ipu_of(c, c->works[set->first_work + i].tile);
  } else if (op->kind == SCRIPT_EXCHANGE) {
    const exchange *x = &c->exchanges[index];
    for (size_t i = 0; i < x->num_tiles; i++)
      ipus |= ipu_of(c, c->tile_exchanges[x->first_tile + i].tile);
  } else if (op->kind == SCRIPT_HOST_EXCHANGE) {
    const host_exchange *x = &c->host_exchanges[index];
    for (size_t i = 0; i < x->num_packets; i++)
      ipus |= ipu_of(c, c->host_packets[x->first_packet + i].tile);
  }
  return ipus;
}

/* A block or a function that the op is in. */
typedef struct open_part {
  uint32_t op;
  uint64_t ipus;
} open_part;

/* Functions come before those who call them, so that what they hold is known by then. */
static void find_ipus(emitter *e)
{
  const compilation *c = e->c;
  const script *s = &e->script;
  uint64_t *of_function = pop_xcalloc(s->num_ops + 1, sizeof *of_function);
  open_part *open = pop_xcalloc(s->num_ops + 1, sizeof *open);
  size_t depth = 0;
  e->block_ipus = pop_xcalloc(c->num_profile_blocks + 1, sizeof *e->block_ipus);
  for (uint32_t i = 0; i < s->num_ops; i++) {
    const script_op *op = &s->ops[i];
    uint64_t ipus = op->kind == SCRIPT_CALL ? of_function[op->match] : 0;
    if (op->kind == SCRIPT_BLOCK || op->kind == SCRIPT_SHARED) {
      open[depth++] = (open_part){i, 0};
    } else if (op->kind == SCRIPT_BLOCK_END || op->kind == SCRIPT_SHARED_END) {
      open_part ended = open[--depth];
      of_function[ended.op] = ipus = ended.ipus;
      if (op->kind == SCRIPT_BLOCK_END)
        e->block_ipus[c->steps[s->ops[ended.op].step].index] |= ipus;
      else
        ipus = 0; /* who calls it has it */
    } else if (op->kind < SCRIPT_LOOP) {
      ipus = ipus_of_op(c, op);
    }
    if (depth) open[depth - 1].ipus |= ipus;
  }
  free(open);
  free(of_function);
}

/* ---- the current tile ---- */

void start_block_tiles(emitter *e)
{
  if (times_blocks(e->c)) find_ipus(e);
  if (times_streams(e->c)) choose_stream_tiles(e);
}

void free_block_tiles(emitter *e)
{
  free(e->block_ipus);
  free(e->stream_tile);
  free(e->times_streams);
}

bool has_block_buffer(const emitter *e)
{
  if (!times_blocks(e->c)) return false;
  return is_chosen(e->c, e->tile) || (e->times_streams && e->times_streams[e->tile]);
}

bool times_block(const emitter *e, uint32_t block)
{
  if (!times_blocks(e->c) || !e->c->block_is_timed[block] || !is_chosen(e->c, e->tile))
    return false;
  return e->block_ipus[block] == 0 || (e->block_ipus[block] & ipu_of(e->c, e->tile));
}

bool times_stream(const emitter *e, uint32_t host_exchange)
{
  const compilation *c = e->c;
  if (!times_streams(c)) return false;
  size_t of_ipu = (size_t)host_exchange * c->target.num_ipus + e->tile / c->target.tiles_per_ipu;
  return is_chosen(c, e->tile) || e->stream_tile[of_ipu] == e->tile;
}
