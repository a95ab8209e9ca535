#include "compiler/emit/block_tiles.h"

#include <stdlib.h>
#include <string.h>

/* Tiles are chosen by their number within the IPU. */
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

/* ---- IPUs that have a part in blocks ---- */

static uint32_t ipu_of(const compilation *c, uint32_t tile)
{
  return tile / c->target.tiles_per_ipu;
}

static void add_ipus_of_op(const compilation *c, const script_op *op, bool *ipus)
{
  uint32_t index = op->step == COMPILER_NONE ? 0 : c->steps[op->step].index;
  if (op->kind == SCRIPT_EXECUTE) {
    const lowered_compute_set *set = &c->compute_sets[index];
    for (size_t i = 0; i < set->num_works; i++)
      ipus[ipu_of(c, c->works[set->first_work + i].tile)] = true;
  } else if (op->kind == SCRIPT_EXCHANGE) {
    const exchange *x = &c->exchanges[index];
    for (size_t i = 0; i < x->num_tiles; i++)
      ipus[ipu_of(c, c->tile_exchanges[x->first_tile + i].tile)] = true;
  } else if (op->kind == SCRIPT_HOST_EXCHANGE) {
    const host_exchange *x = &c->host_exchanges[index];
    for (size_t i = 0; i < x->num_packets; i++)
      ipus[ipu_of(c, c->host_packets[x->first_packet + i].tile)] = true;
  }
}

static void add_ipus(const compilation *c, const bool *more, bool *ipus)
{
  for (uint32_t i = 0; i < c->target.num_ipus; i++) ipus[i] |= more[i];
}

static bool begins_part(const script_op *op)
{
  return op->kind == SCRIPT_BLOCK || op->kind == SCRIPT_SHARED;
}

/* For each op that begins a block or a function: a row of IPUs, all false. */
static bool **new_rows(const emitter *e)
{
  const script *s = &e->script;
  bool **rows = pop_xcalloc(s->num_ops + 1, sizeof *rows);
  for (uint32_t i = 0; i < s->num_ops; i++)
    if (begins_part(&s->ops[i])) rows[i] = pop_xcalloc(e->c->target.num_ipus, sizeof **rows);
  return rows;
}

static void free_rows(const emitter *e, bool **rows)
{
  for (uint32_t i = 0; i < e->script.num_ops; i++) free(rows[i]);
  free(rows);
}

/* Finds the IPUs of each block. A function comes before its calls, so its IPUs are known by
 * then. */
static void find_ipus(emitter *e)
{
  const compilation *c = e->c;
  const script *s = &e->script;
  size_t depth = 0;
  bool **rows = new_rows(e);
  uint32_t *open = pop_xcalloc(s->num_ops + 1, sizeof *open);
  e->block_ipus =
      pop_xcalloc((c->num_profile_blocks + 1) * (size_t)c->target.num_ipus, sizeof *e->block_ipus);
  for (uint32_t i = 0; i < s->num_ops; i++) {
    const script_op *op = &s->ops[i];
    if (begins_part(op)) {
      open[depth++] = i;
    } else if (op->kind == SCRIPT_SHARED_END) {
      depth--; /* its IPUs are added at its calls */
    } else if (op->kind == SCRIPT_BLOCK_END) {
      const bool *ipus = rows[open[--depth]];
      size_t block = c->steps[s->ops[open[depth]].step].index;
      add_ipus(c, ipus, e->block_ipus + block * c->target.num_ipus);
      if (depth) add_ipus(c, ipus, rows[open[depth - 1]]);
    } else if (op->kind == SCRIPT_CALL && depth) {
      add_ipus(c, rows[op->match], rows[open[depth - 1]]);
    } else if (op->kind < SCRIPT_LOOP && depth) {
      add_ipus_of_op(c, op, rows[open[depth - 1]]);
    }
  }
  free(open);
  free_rows(e, rows);
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
  uint32_t num_ipus = e->c->target.num_ipus;
  const bool *ipus = e->block_ipus + (size_t)block * num_ipus;
  return ipus[ipu_of(e->c, e->tile)] || !memchr(ipus, true, num_ipus);
}

bool times_stream(const emitter *e, uint32_t host_exchange)
{
  const compilation *c = e->c;
  if (!times_streams(c)) return false;
  size_t of_ipu = (size_t)host_exchange * c->target.num_ipus + e->tile / c->target.tiles_per_ipu;
  return is_chosen(c, e->tile) || e->stream_tile[of_ipu] == e->tile;
}
