/* Instrumentation: how tiles measure themselves. Its costs are code in the control code (and in the
 * worker stub), memory of category instrumentationResults, and cycles. The overhead in the
 * difference of two readings is known here and stored with the measure, so that profiles can
 * subtract it.
 *
 *   compute set     rdcycle; store;  code of the compute set;  rdcycle; store
 *     one tile for several: all of them sync before the first reading, after it (so that the tile
 *     that reads begins no later than the others), and after the compute set
 *   exchange        sync; rdcycle; store;  exchange or host sync;  rdcycle; store
 *   branch          count it, record which one (tile 0), tell the host when the buffer is full
 *   vertices        emit.c: the worker stub stores the cycles of each call
 *
 * Both readings are stored as they are. A difference would have to be loaded again, and control
 * code that loads what differs from tile to tile cannot be run once for many tiles
 * (machine/control.c).
 */
#include "compiler/emit/instrument.h"

#include "compiler/emit/block_tiles.h"
#include "compiler/emit/blocks.h"
#include <stdlib.h>

enum { BRANCH_WORDS = 256, RECORDING_TILE = 0 };

/* ---- costs ---- */

static uint32_t cycles_of(const emitter *e, uint32_t count, pop_cost_class class)
{
  return count * e->c->target.cost[class] * e->c->target.num_worker_contexts;
}

/* Cycles from a reading of the counter until it is stored. */
static uint32_t stamp_cycles(const emitter *e)
{
  return cycles_of(e, 1, POP_COST_CSR) + cycles_of(e, 1, POP_COST_STORE);
}

/* Cycles of a sync, from the last tile's request on. */
static uint32_t sync_cycles(const emitter *e, uint32_t zone)
{
  return zone == ISA_SYNC_INTERNAL ? e->c->target.sync_cycles : e->c->target.host_sync_cycles;
}

/* ---- memory ---- */

/* The block grows until the tile is finished. */
place add_result_words(emitter *e, uint32_t words)
{
  if (e->results == COMPILER_NONE) {
    block b = {.tile = e->tile,
               .size = 4,
               .align = 4,
               .category = POP_MEMORY_INSTRUMENTATION_RESULTS,
               .flags = BLOCK_ALWAYS_LIVE,
               .name = "instrumentation",
               .content = COMPILER_NONE};
    e->results = add_block(e->c, &b);
  }
  place at = {e->results, 4 * e->num_result_words};
  e->num_result_words += words;
  return at;
}

static place add_measure(emitter *e, measure_kind kind, uint32_t index, uint32_t words,
                         uint32_t overhead)
{
  compilation *c = e->c;
  tile_measure m = {kind, index, e->tile, add_result_words(e, words), words, overhead};
  pop_push(c->measures, c->num_measures, c->measures_capacity, m);
  return m.at;
}

place add_block_buffer(emitter *e, uint32_t words)
{
  return add_measure(e, MEASURE_BLOCKS, 0, words, 0);
}

/* The measure of something for which the tile may have code in several places: all of them share
 * it. */
static place find_measure(emitter *e, measure_kind kind, uint32_t index, uint32_t overhead)
{
  instrumented *done = &e->instrumented[kind];
  if (done->stamp[index] != e->tile + 1) {
    done->stamp[index] = e->tile + 1;
    done->offset[index] = add_measure(e, kind, index, 2, overhead).offset;
  }
  return (place){e->results, done->offset[index]};
}

void end_instrumentation(emitter *e)
{
  if (e->results != COMPILER_NONE) e->c->blocks[e->results].size = 4 * e->num_result_words;
  e->results = COMPILER_NONE;
  e->num_result_words = 0;
}

/* ---- readings ---- */

/* Begins a measurement: the reading is as late as possible. */
static void put_begin(emitter *e, place to)
{
  assembler *a = &e->code;
  put_address(a, T1, to);
  put(a, rv_rdcycle(T0));
  put(a, rv_sw(T0, T1, 0));
}

/* Ends a measurement: the reading is as early as possible. */
static void put_end(emitter *e, place to)
{
  assembler *a = &e->code;
  put(a, rv_rdcycle(T0));
  put_address(a, T1, (place){to.block, to.offset + 4});
  put(a, rv_sw(T0, T1, 0));
}

/* ---- compute sets ---- */

/* The number of tiles that one tile measures for: 1, those of an IPU, or all; 0: compute sets are
 * not measured. */
static uint32_t tiles_per_measure(const emitter *e)
{
  const pop_target *target = &e->c->target;
  switch (e->c->options.instrumentation.compute) {
  case INSTRUMENT_TILES:
  case INSTRUMENT_VERTICES:
    return 1;
  case INSTRUMENT_IPUS:
    return target->tiles_per_ipu;
  case INSTRUMENT_DEVICE:
    return pop_target_num_tiles(target);
  default:
    return 0;
  }
}

bool syncs_around_compute(const emitter *e)
{
  return tiles_per_measure(e) > 1;
}

static uint32_t measuring_zone(const emitter *e)
{
  bool several =
      e->c->options.instrumentation.compute == INSTRUMENT_DEVICE && e->c->target.num_ipus > 1;
  return several ? ISA_SYNC_EXTERNAL : ISA_SYNC_INTERNAL;
}

/* Cycles from the first reading to the first instruction of the first worker. */
static uint32_t start_cycles(const emitter *e, bool calls_supervisor)
{
  if (calls_supervisor) return 0; /* the supervisor's vertex begins at once */
  return cycles_of(e, 2, POP_COST_ALU) + cycles_of(e, 1, POP_COST_TILE);
}

static bool measures_compute(emitter *e, uint32_t compute_set)
{
  uint32_t tiles = tiles_per_measure(e);
  if (tiles != 1) return tiles && e->tile % tiles == 0;
  const tile_work *work = emitter_find_work(e, compute_set);
  return work && work->num_vertices;
}

static place compute_measure(emitter *e, const step *execute)
{
  uint32_t overhead = start_cycles(e, execute->calls_supervisor);
  if (tiles_per_measure(e) == 1) {
    const tile_work *work = emitter_find_work(e, execute->index);
    work_shares shares = share_work(e->c, work);
    overhead = stamp_cycles(e) + start_cycles(e, shares.num_supervisor > 0);
  } else {
    overhead +=
        stamp_cycles(e) + 2 * (cycles_of(e, 1, POP_COST_TILE) + sync_cycles(e, measuring_zone(e)));
  }
  return find_measure(e, MEASURE_COMPUTE_SET, execute->index, overhead);
}

void put_begin_compute(emitter *e, const step *execute)
{
  bool for_several = tiles_per_measure(e) > 1;
  if (for_several) put_tile_op(&e->code, TILE_SYNC, measuring_zone(e), 0, 0);
  if (measures_compute(e, execute->index)) put_begin(e, compute_measure(e, execute));
  if (for_several) put_tile_op(&e->code, TILE_SYNC, measuring_zone(e), 0, 0);
}

void put_end_compute(emitter *e, const step *execute)
{
  if (tiles_per_measure(e) > 1) put_tile_op(&e->code, TILE_SYNC, measuring_zone(e), 0, 0);
  if (measures_compute(e, execute->index)) put_end(e, compute_measure(e, execute));
}

/* ---- exchanges between IPUs, and with the host ---- */

static place exchange_measure(emitter *e, bool with_host, uint32_t index, uint32_t words_between)
{
  uint32_t overhead = stamp_cycles(e) + cycles_of(e, words_between, POP_COST_ALU) +
                      cycles_of(e, 1, POP_COST_TILE) + e->c->target.host_sync_cycles;
  return find_measure(e, with_host ? MEASURE_HOST_EXCHANGE : MEASURE_EXCHANGE, index, overhead);
}

/* Is the exchange measured by any tile, so that all tiles sync? measures_part: by this tile?
 * Lightweight profiling measures stream copies on its own tiles only. */
static bool measures_exchange(const emitter *e, const exchange_at *x)
{
  return e->c->options.instrumentation.external_exchange || (x->with_host && times_streams(e->c));
}

static bool measures_part(const emitter *e, const exchange_at *x)
{
  if (!measures_exchange(e, x) || !x->takes_part) return false;
  return e->c->options.instrumentation.external_exchange || times_stream(e, x->index);
}

/* The sync keeps waiting for other tiles out of the measurement. */
void put_begin_exchange(emitter *e, const exchange_at *x)
{
  if (!measures_exchange(e, x)) return;
  if (x->with_host && x->takes_part) put_stream_mark(e, x->index);
  put_tile_op(&e->code, TILE_SYNC, x->zone, 0, 0);
  if (!measures_part(e, x)) return;
  put_begin(e, exchange_measure(e, x->with_host, x->index, x->words_between));
}

void put_end_exchange(emitter *e, const exchange_at *x)
{
  if (!measures_part(e, x)) return;
  place measured = exchange_measure(e, x->with_host, x->index, x->words_between);
  put_end(e, measured);
  if (x->with_host) put_exchanged_marks(e, x->index, measured);
}

/* ---- vertices ---- */

place instrument_vertices(emitter *e, const tile_work *work, uint32_t calls)
{
  uint32_t number = (uint32_t)(work - e->c->works);
  uint32_t overhead = cycles_of(e, 1, POP_COST_CSR) + cycles_of(e, 1, POP_COST_TILE);
  return add_measure(e, MEASURE_VERTICES, number, calls, overhead);
}

void put_begin_call(emitter *e, place to)
{
  assembler *a = &e->code;
  put_address(a, A2, to);
  put(a, rv_rdcycle(A3));
  put(a, rv_sw(A3, A2, 0));
}

/* Subtracts the store before the call, which workers do not have, so that both measures mean the
 * same. */
void put_end_call(emitter *e, place to)
{
  assembler *a = &e->code;
  put(a, rv_rdcycle(A3));
  put_address(a, A2, to);
  put(a, rv_lw(T0, A2, 0));
  put(a, rv_sub(A3, A3, T0));
  put(a, rv_addi(A3, A3, -(int32_t)cycles_of(e, 1, POP_COST_STORE)));
  put(a, rv_sw(A3, A2, 0));
}

/* ---- branches ---- */

/* All tiles count, since all of them have to know when the host is to be told; only one records. */
static place branch_words(emitter *e)
{
  if (e->branches_of != e->tile + 1) {
    e->branches_of = e->tile + 1;
    bool records = e->tile == RECORDING_TILE;
    e->branches = records ? add_measure(e, MEASURE_BRANCHES, 0, 1 + BRANCH_WORDS, 0).offset
                          : add_result_words(e, 1).offset;
  }
  return (place){e->results, e->branches};
}

void put_branch_taken(emitter *e, uint32_t child)
{
  assembler *a = &e->code;
  if (e->branch_event == 0) return;
  put_address(a, T1, branch_words(e));
  put(a, rv_lw(T0, T1, 0));
  if (e->tile == RECORDING_TILE) {
    put(a, rv_sh2add(T2, T0, T1));
    put_constant(a, A2, child);
    put(a, rv_sw(A2, T2, 4));
  }
  put(a, rv_addi(T0, T0, 1));
  put(a, rv_sw(T0, T1, 0));
  put_constant(a, T2, BRANCH_WORDS);
  size_t branch = a->num_words;
  put(a, 0);
  put_constant(a, T0, e->branch_event);
  put_tile_op(a, TILE_HOST_SYNC, ZERO, T0, ZERO);
  put(a, rv_sw(ZERO, T1, 0));
  a->words[branch] = rv_branch(OP_BNE, T0, T2, (int32_t)(a->num_words - branch) * 4);
}

void put_forget_branches(emitter *e)
{
  if (e->branch_event == 0) return;
  put_address(&e->code, T1, branch_words(e));
  put(&e->code, rv_sw(ZERO, T1, 0));
}

static bool has_branches(const script *s)
{
  for (size_t i = 0; i < s->num_ops; i++)
    if (s->ops[i].kind == SCRIPT_SWITCH || s->ops[i].kind == SCRIPT_WHILE) return true;
  return false;
}

void start_instrumentation(emitter *e)
{
  compilation *c = e->c;
  const size_t counts[MEASURE_KINDS] = {[MEASURE_COMPUTE_SET] = c->num_compute_sets,
                                        [MEASURE_VERTICES] = c->num_compute_sets,
                                        [MEASURE_EXCHANGE] = c->num_exchanges,
                                        [MEASURE_HOST_EXCHANGE] = c->num_host_exchanges};
  for (int k = 0; k < MEASURE_KINDS; k++) {
    e->instrumented[k].offset = pop_xcalloc(counts[k] + 1, sizeof(uint32_t));
    e->instrumented[k].stamp = pop_xcalloc(counts[k] + 1, sizeof(uint32_t));
  }
  e->results = COMPILER_NONE;
  if (!c->options.instrumentation.control_flow || !has_branches(&e->script)) return;
  pop_push(c->host_events, c->num_host_events, c->host_events_capacity,
           (host_event){.kind = HOST_EVENT_BRANCHES, .name = "", .index = COMPILER_NONE});
  e->branch_event = (uint32_t)c->num_host_events;
}

void free_instrumentation(emitter *e)
{
  for (int k = 0; k < MEASURE_KINDS; k++) {
    free(e->instrumented[k].offset);
    free(e->instrumented[k].stamp);
  }
}
