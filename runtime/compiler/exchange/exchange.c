/* pass_exchange: turns messages into exchange instructions, each in its cycle. Exchanges between
 * IPUs have no cycles: their messages become packets (global.c).
 *
 * schedule.c finds the cycles. This file writes each tile's instructions in that order, with delays
 * in between:
 *
 *     slot     0    1    2    3    4    5    6 …
 *     planned  .    send .    .    addr mux  .
 *     written  delay send delay    addr mux  end
 *
 * Needs:   the messages of lower.
 * Adds:    the instructions of each tile (exchange_ops); packet headers, as blocks.
 * Then:    no block of data is added, and the sizes of data are final.
 */
#include "compiler/exchange/exchange.h"

#include "base/log.h"
#include "base/order.h"
#include "isa/isa.h"
#include <stdlib.h>
#include <string.h>

enum { WORD = 4, BITS = 64 };

/* ---- who takes part ---- */

static void find_tiles(exchange_plan *plan)
{
  const compilation *c = plan->c;
  const exchange *x = plan->exchange;
  uint32_t num_tiles = pop_target_num_tiles(&c->target);
  bool *takes_part = pop_xcalloc(num_tiles, sizeof *takes_part);
  for (size_t i = 0; i < x->num_messages; i++) {
    const message *sent = &c->messages[x->first_message + i];
    takes_part[sent->source_tile] = true;
    for (size_t j = 0; j < sent->num_receivers; j++)
      takes_part[c->receivers[sent->first_receiver + j].tile] = true;
  }
  for (uint32_t tile = 0; tile < num_tiles; tile++) plan->num_timelines += takes_part[tile];
  plan->timelines = pop_xcalloc(plan->num_timelines + 1, sizeof *plan->timelines);
  size_t count = 0;
  for (uint32_t tile = 0; tile < num_tiles; tile++) {
    if (!takes_part[tile]) continue;
    plan->timelines[count].tile = tile;
    plan->index_of_tile[tile] = (uint32_t)count++;
  }
  free(takes_part);
}

/* ---- instructions in order ---- */

/* Merges two instructions into one: sends of consecutive words, or receives from the same tile that
 * follow without a gap. */
static bool join(timed_op *before, const timed_op *next)
{
  if (before->op.kind != next->op.kind || before->slot + before->op.count != next->slot)
    return false;
  uint32_t count = before->op.count + next->op.count;
  if (before->op.kind == EXCHANGE_RECEIVE_MUX) {
    if (before->op.tile != next->op.tile || count > ISA_RECEIVE_MAX_WORDS) return false;
  } else if (before->op.at.block != next->op.at.block ||
             before->op.at.offset + before->op.count * WORD != next->op.at.offset ||
             count > ISA_SEND_MAX_WORDS) {
    return false;
  }
  before->op.count = count;
  return true;
}

static void add_delay(compilation *c, uint64_t cycles)
{
  while (cycles > 0) {
    uint32_t part = cycles < ISA_DELAY_MAX_CYCLES ? (uint32_t)cycles : ISA_DELAY_MAX_CYCLES;
    pop_push(c->exchange_ops, c->num_exchange_ops, c->exchange_ops_capacity,
             (exchange_op){.kind = EXCHANGE_DELAY, .count = part});
    cycles -= part;
  }
}

/* Scratch memory for the instructions of one tile at a time. */
typedef struct writing {
  op_list ops;
  timed_op *sorted;
  uint32_t *by_slot; /* in ops */
  size_t ops_capacity, slots_capacity;
} writing;

/* Sorts the tile's instructions by slot and merges them where possible; returns their number. */
static size_t sort_ops(const timeline *t, writing *w)
{
  size_t count = 0, last[EXCHANGE_END] = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX};
  pop_reserve(w->by_slot, t->slots.num_words * BITS, w->slots_capacity);
  pop_reserve(w->sorted, w->ops.count, w->ops_capacity);
  for (size_t i = 0; i < w->ops.count; i++) w->by_slot[w->ops.items[i].slot] = (uint32_t)i;
  for (size_t word = 0; word < t->slots.num_words; word++)
    for (uint64_t left = t->slots.words[word]; left; left &= left - 1) {
      size_t slot = word * BITS + (size_t)__builtin_ctzll(left);
      const timed_op *next = &w->ops.items[w->by_slot[slot]];
      size_t *same = &last[next->op.kind];
      bool joinable = *same != SIZE_MAX && next->op.kind != EXCHANGE_RECEIVE_ADDRESS;
      if (joinable && join(&w->sorted[*same], next)) continue;
      *same = count;
      w->sorted[count++] = *next;
    }
  return count;
}

static void list_ops(const exchange_plan *plan, size_t number, op_list *list)
{
  const op_list *listed = &plan->timelines[number].listed;
  list->count = 0;
  pop_reserve(list->items, listed->count, list->capacity);
  if (listed->count > 0) memcpy(list->items, listed->items, listed->count * sizeof *listed->items);
  list->count = listed->count;
  list_bundles(plan, &plan->bundles, number, list);
}

static void write_tile(const exchange_plan *plan, size_t number, writing *w)
{
  compilation *c = plan->c;
  const timeline *t = &plan->timelines[number];
  tile_exchange written = {.tile = t->tile,
                           .first_op = c->num_exchange_ops,
                           .bytes_sent = t->words_sent * WORD,
                           .bytes_received = t->words_received * WORD};
  uint64_t cycle = 0, end = end_of_receives(t);
  list_ops(plan, number, &w->ops);
  size_t count = sort_ops(t, w);
  for (size_t i = 0; i < count; i++) {
    add_delay(c, w->sorted[i].slot - cycle);
    pop_push(c->exchange_ops, c->num_exchange_ops, c->exchange_ops_capacity, w->sorted[i].op);
    cycle = w->sorted[i].slot + 1;
  }
  if (t->bus_end > end) end = t->bus_end;
  if (end > cycle) {
    add_delay(c, end - cycle);
    cycle = end;
  }
  pop_push(c->exchange_ops, c->num_exchange_ops, c->exchange_ops_capacity,
           (exchange_op){.kind = EXCHANGE_END});
  written.num_ops = (uint32_t)(c->num_exchange_ops - written.first_op);
  written.cycles = (uint32_t)(cycle + 1);
  pop_push(c->tile_exchanges, c->num_tile_exchanges, c->tile_exchanges_capacity, written);
}

static void write_tiles(exchange_plan *plan)
{
  writing w = {0};
  for (size_t i = 0; i < plan->num_timelines; i++) {
    write_tile(plan, i, &w);
    timeline_free(&plan->timelines[i]);
  }
  free(w.ops.items);
  free(w.sorted);
  free(w.by_slot);
}

static void plan_exchange(compilation *c, exchange *x, uint32_t *index_of_tile)
{
  exchange_plan plan = {.c = c,
                        .exchange = x,
                        .latency = c->target.exchange_latency_cycles,
                        .index_of_tile = index_of_tile};
  find_tiles(&plan);
  schedule_messages(&plan);
  x->first_tile = c->num_tile_exchanges;
  x->num_tiles = plan.num_timelines;
  write_tiles(&plan);
  bundles_free(&plan.bundles);
  free(plan.timelines);
}

/* Logs how good the plan is: none is shorter than the words that the busiest tile sends or
 * receives. */
static void log_plan(const compilation *c, const exchange *x)
{
  uint64_t cycles = 0, bytes = 0, ops = 0;
  if (!log_enabled(LOG_DEBUG)) return;
  for (size_t i = x->first_tile; i < x->first_tile + x->num_tiles; i++) {
    const tile_exchange *t = &c->tile_exchanges[i];
    if (t->cycles > cycles) cycles = t->cycles;
    if (t->bytes_sent > bytes) bytes = t->bytes_sent;
    if (t->bytes_received > bytes) bytes = t->bytes_received;
    if (t->num_ops > ops) ops = t->num_ops;
  }
  log_write(
      LOG_DEBUG, "COMPILER",
      "Exchange '%s': %zu messages between %zu tiles, %llu cycles for up to %llu words, up to "
      "%llu instructions",
      x->name, x->num_messages, x->num_tiles, (unsigned long long)cycles,
      (unsigned long long)bytes / WORD, (unsigned long long)ops);
}

pop_error *pass_exchange(compilation *c)
{
  POP_TRY(check_data_fits(c));
  uint32_t *index_of_tile = pop_xcalloc(pop_target_num_tiles(&c->target), sizeof *index_of_tile);
  for (size_t i = 0; i < c->num_exchanges; i++) {
    if (c->exchanges[i].zone != EXCHANGE_WITHIN_IPUS)
      plan_global_exchange(c, &c->exchanges[i]);
    else
      plan_exchange(c, &c->exchanges[i], index_of_tile);
    log_plan(c, &c->exchanges[i]);
  }
  free(index_of_tile);
  return NULL;
}
