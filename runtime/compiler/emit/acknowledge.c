/* Several exchanges in a row in which the tile has no part, with nothing for it to do in between.
 * Instead of a sync for each
 *
 *   tile.sans zone, n; tile.sync 3     the tile acknowledges all of them, and waits for the last
 *
 * That is two instructions for any number of syncs, and no other tile waits for this one to sync
 * again. A row is straight-line: it ends at the begin or end of a loop, branch, block or shared
 * step, and at anything else that waits. */
#include "compiler/emit/emit.h"
#include "compiler/emit/instrument.h"

/* Would a sync be all of the tile's code for this op? */
static bool is_only_sync(emitter *e, const script_op *op, uint32_t *zone)
{
  const compilation *c = e->c;
  if (op->kind != SCRIPT_EXCHANGE) return false;
  uint32_t exchange = c->steps[op->step].index;
  *zone = c->exchanges[exchange].zone;
  if (*zone == EXCHANGE_BETWEEN_REPLICAS) return false;
  if (*zone == EXCHANGE_BETWEEN_IPUS && c->options.instrumentation.external_exchange) return false;
  return !emitter_takes_part(e, exchange);
}

/* Does the tile have no code for this op? */
static bool has_no_code(emitter *e, const script_op *op)
{
  if (op->kind == SCRIPT_WRITE_UNDEF) return true;
  if (op->kind != SCRIPT_EXECUTE || syncs_around_compute(e)) return false;
  const tile_work *work = emitter_find_work(e, e->c->steps[op->step].index);
  return !work || work->num_vertices == 0;
}

/* Tiles come in ascending order: neighbouring tiles with the same row are one entry. */
static void note_row(emitter *e, uint32_t first, uint32_t last)
{
  compilation *c = e->c;
  if (e->last_row[first]) {
    acknowledged_row *row = &c->acknowledged[e->last_row[first] - 1];
    if (row->last == last && row->first_tile + row->num_tiles == e->tile) {
      row->num_tiles++;
      return;
    }
  }
  pop_push(c->acknowledged, c->num_acknowledged, c->acknowledged_capacity,
           (acknowledged_row){first, last, e->tile, 1});
  e->last_row[first] = c->num_acknowledged;
}

uint32_t put_acknowledged_row(emitter *e, uint32_t first, uint32_t end)
{
  const script_op *ops = e->script.ops;
  uint32_t zone, of_this, syncs = 1, last = first;
  if (!is_only_sync(e, &ops[first], &zone)) return first;
  for (uint32_t i = first + 1; i < end && !e->flush_every[i] && syncs < ISA_SANS_MAX_SYNCS; i++) {
    if (has_no_code(e, &ops[i])) continue;
    if (!is_only_sync(e, &ops[i], &of_this) || of_this != zone) break;
    syncs++;
    last = i;
  }
  if (syncs == 1) return first;
  put(&e->code, isa_sans_word(zone, syncs));
  put_tile_op(&e->code, TILE_SYNC, ISA_SYNC_ANS, 0, 0);
  note_row(e, first, last);
  return last;
}
