/* Control code: what the supervisor of one tile executes. It is emitted from the script in one
 * pass:
 *
 *   entry     sp = end of the supervisor's stack; s0 = worker stub; tp = its thread-local data
 *   wait      tile.hostsync a0, zero        reports 0, "done"; a0 = number of the program to run
 *             jump table on a0
 *   shared    each shared step, callee before caller: [push ra] body [pop ra] ret
 *   programs  body, then back to wait
 *
 * A body is a sequence of:
 *   compute sets    tile.call for each supervisor vertex; then tile.runall for the workers with
 *                   vertices, tile.wait
 *   exchanges       tile.exchange; a sync on tiles that take no part, since all tiles synchronise
 *                   (acknowledge.c merges several syncs into one)
 *   host events, loops and branches (flow.c), calls
 *
 * A shared step in which this tile has nothing to do is left out.
 */
#include "compiler/emit/blocks.h"
#include "compiler/emit/flow.h"
#include "compiler/emit/instrument.h"

#include <stdlib.h>

/* ---- leaves ---- */

/* Aligns sp: calls of shared steps leave it at a multiple of 4, and functions need one of 16. */
static void put_supervisor_calls(emitter *e, const tile_work *work, uint32_t compute_set,
                                 uint32_t count)
{
  assembler *a = &e->code;
  place cycles = {0};
  bool measured = instruments_vertices(e->c);
  if (measured) cycles = emitter_vertex_cycles(e, compute_set, work);
  put(a, rv_addi(T0, SP, 0));
  put(a, rv_andi(SP, SP, -16));
  put(a, rv_addi(SP, SP, -16));
  put(a, rv_sw(T0, SP, 0));
  for (uint32_t i = 0; i < count; i++, cycles.offset += 4) {
    vertex_call call = emitter_call(e, work, i);
    put_address(a, T0, call.entry);
    put_address(a, T1, call.state);
    put_address(a, A1, (place){emitter_list_stub(e), 0});
    if (measured) put_begin_call(e, cycles);
    put_tile_op(a, TILE_CALL, 0, T0, T1);
    if (measured) put_end_call(e, cycles);
  }
  put(a, rv_lw(SP, SP, 0));
}

static void put_worker_starts(emitter *e, uint32_t table, const work_shares *shares)
{
  assembler *a = &e->code;
  put_address(a, A1, (place){table, 0});
  put_tile_op(a, TILE_RUN_ALL, num_started(shares), S0, A1);
  put_tile_op(a, TILE_WAIT, 0, 0, 0);
}

static void put_compute(emitter *e, uint32_t compute_set)
{
  const tile_work *work = emitter_find_work(e, compute_set);
  if (!work || work->num_vertices == 0) return;
  work_shares shares = share_work(e->c, work);
  if (shares.num_supervisor) put_supervisor_calls(e, work, compute_set, shares.num_supervisor);
  if (shares.num_supervisor < work->num_vertices)
    put_worker_starts(e, emitter_control_table(e, compute_set, work), &shares);
}

static void put_execute(emitter *e, const step *s)
{
  put_begin_compute(e, s);
  put_compute(e, s->index);
  put_end_compute(e, s);
}

static void put_exchange(emitter *e, uint32_t exchange)
{
  _Static_assert((int)EXCHANGE_WITHIN_IPUS == (int)ISA_SYNC_INTERNAL &&
                     (int)EXCHANGE_BETWEEN_IPUS == (int)ISA_SYNC_EXTERNAL &&
                     (int)EXCHANGE_BETWEEN_REPLICAS == (int)ISA_SYNC_REPLICAS,
                 "zones are numbered alike");
  uint32_t block = emitter_exchange_code(e, exchange);
  uint32_t zone = e->c->exchanges[exchange].zone;
  exchange_at at = {
      .index = exchange, .zone = zone, .takes_part = block != COMPILER_NONE, .words_between = 2};
  if (zone != EXCHANGE_WITHIN_IPUS) put_begin_exchange(e, &at);
  if (block == COMPILER_NONE) {
    put_tile_op(&e->code, TILE_SYNC, zone, 0, 0);
    return;
  }
  put_address(&e->code, A0, (place){block, 0});
  put_tile_op(&e->code, TILE_EXCHANGE, zone, A0, 0);
  if (zone != EXCHANGE_WITHIN_IPUS) put_end_exchange(e, &at);
}

/* Events count from 1: 0 is "the program is done". */
static void put_host_event(emitter *e, uint32_t event)
{
  put_constant(&e->code, T0, event);
  put_tile_op(&e->code, TILE_HOST_SYNC, ZERO, T0, ZERO);
}

static void put_host_exchange(emitter *e, uint32_t exchange)
{
  uint32_t block = emitter_host_exchange_code(e, exchange);
  uint32_t event = e->c->host_exchanges[exchange].event;
  exchange_at at = {.with_host = true,
                    .index = exchange,
                    .zone = e->c->target.num_ipus > 1 ? ISA_SYNC_EXTERNAL : ISA_SYNC_INTERNAL,
                    .takes_part = block != COMPILER_NONE,
                    .words_between = constant_words(event) + 2};
  put_begin_exchange(e, &at);
  if (block == COMPILER_NONE) {
    put_host_event(e, event);
    return;
  }
  put_constant(&e->code, T0, event);
  put_address(&e->code, T1, (place){block, 0});
  put_tile_op(&e->code, TILE_HOST_SYNC, ZERO, T0, T1);
  put_end_exchange(e, &at);
}

static void put_leaf(emitter *e, const script_op *op)
{
  uint32_t index = e->c->steps[op->step].index;
  switch (op->kind) {
  case SCRIPT_EXECUTE:
    put_execute(e, &e->c->steps[op->step]);
    break;
  case SCRIPT_EXCHANGE:
    put_exchange(e, index);
    break;
  case SCRIPT_SYNC:
    put_tile_op(&e->code, TILE_SYNC, index, 0, 0);
    break;
  case SCRIPT_WRITE_UNDEF:
    break;
  case SCRIPT_HOST_EXCHANGE:
    put_host_exchange(e, index);
    break;
  default:
    put_host_event(e, index);
    break;
  }
}

/* ---- calls ---- */

/* Is the shared step only an exchange or a host event? That is as short as a call of it. */
static bool is_inline(const script *s, uint32_t shared)
{
  uint32_t kind = s->ops[shared + 1].kind;
  return s->ops[shared].match == shared + 2 &&
         (kind == SCRIPT_EXCHANGE || kind == SCRIPT_HOST_EVENT);
}

static void put_call(emitter *e, uint32_t shared)
{
  if (is_inline(&e->script, shared))
    put_leaf(e, &e->script.ops[shared + 1]);
  else if (e->shared_at[shared] != SIZE_MAX)
    put_jump(&e->code, RA, e->shared_at[shared]);
}

/* Emits the ops between a SHARED or PROGRAM op and its end. */
static void put_body(emitter *e, uint32_t begin)
{
  const script *s = &e->script;
  flow nested = {.e = e};
  for (uint32_t i = begin + 1; i < s->ops[begin].match; i++) {
    const script_op *op = &s->ops[i];
    put_block_flush(e, i);
    if (op->kind == SCRIPT_CALL) {
      put_call(e, op->match);
    } else if (op->kind == SCRIPT_SHARED) {
      put_call(e, i);
      i = op->match;
    } else if (op->match != COMPILER_NONE) {
      put_flow(&nested, i);
    } else {
      uint32_t last = put_acknowledged_row(e, i, s->ops[begin].match);
      if (last == i) put_leaf(e, op);
      i = last;
    }
  }
  flow_free(&nested);
}

static void put_shared(emitter *e, uint32_t shared)
{
  assembler *a = &e->code;
  bool calls = e->script.ops[shared].calls;
  size_t start = a->num_words;
  if (calls) put_push(a, RA);
  size_t body = a->num_words;
  put_body(e, shared);
  if (a->num_words == body) {
    a->num_words = start;
    e->shared_at[shared] = SIZE_MAX;
    return;
  }
  if (calls) put_pop(a, RA);
  put(a, rv_jalr(ZERO, RA, 0));
  e->shared_at[shared] = start;
}

/* ---- the whole program ---- */

static void put_entry(emitter *e)
{
  uint32_t stack = e->c->tiles[e->tile].stack_blocks[e->c->target.num_worker_contexts];
  put_address(&e->code, SP, (place){stack, e->c->blocks[stack].size});
  if (e->stub == COMPILER_NONE) return;
  put_address(&e->code, S0, (place){e->stub, 0});
  const tile_layout *layout = &e->c->tiles[e->tile];
  uint32_t tls = layout->linked_blocks[POP_LINK_TLS];
  if (tls == COMPILER_NONE) return;
  uint32_t stride = tls_stride_bytes(e->c->code_groups[layout->code_group].live);
  put_address(&e->code, TP, (place){tls, stride * e->c->target.num_worker_contexts});
}

/* Waits for the host's answer and jumps by it; returns the position of the jump table. */
static size_t put_dispatch(emitter *e)
{
  assembler *a = &e->code;
  put_tile_op(a, TILE_HOST_SYNC, A0, ZERO, 0);
  put_constant(a, T0, (uint32_t)e->c->num_control_programs);
  put(a, rv_branch(OP_BLTU, A0, T0, 8));
  put_tile_op(a, TILE_TRAP, 0, A0, 0);
  put(a, rv_auipc(T0));
  put(a, rv_sh2add(T0, A0, T0));
  put(a, rv_jalr(ZERO, T0, 12)); /* the table begins 12 bytes after the auipc */
  size_t table = a->num_words;
  for (size_t p = 0; p < e->c->num_control_programs; p++) put(a, 0);
  return table;
}

pop_error *emit_control_code(emitter *e)
{
  assembler *a = &e->code;
  const script *s = &e->script;
  put_entry(e);
  size_t wait = a->num_words;
  size_t table = put_dispatch(e);
  put_block_routine(e);
  for (size_t i = 0; i < s->num_shared; i++)
    if (!is_inline(s, s->shared[i])) put_shared(e, s->shared[i]);
  for (uint32_t i = 0; i < s->num_ops; i = s->ops[i].match + 1) {
    size_t entry = table + s->ops[i].step;
    a->words[entry] = jump_word(a, ZERO, entry, a->num_words);
    put_forget_branches(e);
    put_body(e, i);
    put_jump(a, ZERO, wait);
  }
  if (!a->too_far) return NULL;
  return pop_error_new(
      POP_ERROR_GRAPH_MEMORY,
      "the control programs need %zu bytes of control code on tile %u, more than "
      "a jump can span (%d): use Repeat, or one program in several places, instead "
      "of many copies",
      a->num_words * 4, e->tile, JUMP_REACH_BYTES);
}
