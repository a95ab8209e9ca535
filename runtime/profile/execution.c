#include "profile/execution.h"

#include "profile/estimated_cycles.h"
#include <stdlib.h>
#include <string.h>

/* Counting sort by kind and index. It is stable, so measures stay ascending by tile. */
static void sort_measures(execution *x)
{
  const pop_executable *e = x->executable;
  size_t total = 0;
  for (int k = 0; k < MEASURE_KINDS; k++)
    x->first_of[k] =
        pop_xcalloc(executable_num_measurable(e, (measure_kind)k) + 2, sizeof *x->first_of[k]);
  x->sorted = pop_xcalloc(e->num_measures + 1, sizeof *x->sorted);
  for (size_t i = 0; i < e->num_measures; i++)
    x->first_of[e->measures[i].kind][e->measures[i].index + 2]++;
  for (int k = 0; k < MEASURE_KINDS; k++) {
    x->first_of[k][0] = x->first_of[k][1] = total;
    for (size_t i = 0; i < executable_num_measurable(e, (measure_kind)k); i++)
      total = x->first_of[k][i + 2] += x->first_of[k][i + 1];
  }
  for (uint32_t i = 0; i < e->num_measures; i++)
    x->sorted[x->first_of[e->measures[i].kind][e->measures[i].index + 1]++] = i;
}

static void allocate_taken(execution *x)
{
  const pop_executable *e = x->executable;
  x->first_taken = pop_xcalloc(e->num_works + 1, sizeof *x->first_taken);
  for (size_t w = 0; w < e->num_works; w++)
    x->first_taken[w + 1] = x->first_taken[w] + e->vertex_rows[e->works[w].row].count;
  x->taken = pop_xcalloc(x->first_taken[e->num_works] + 1, sizeof *x->taken);
}

uint64_t *execution_taken(const execution *x, size_t work)
{
  return x->taken ? x->taken + x->first_taken[work] : NULL;
}

execution *execution_new(const pop_executable *e)
{
  execution *x = pop_xcalloc(1, sizeof *x);
  x->executable = x->timed.executable = e;
  x->first_word = pop_xcalloc(e->num_measures + 1, sizeof *x->first_word);
  for (size_t i = 0; i < e->num_measures; i++)
    x->first_word[i + 1] = x->first_word[i] + e->measures[i].words;
  x->words = pop_xcalloc(x->first_word[e->num_measures] + 1, sizeof *x->words);
  sort_measures(x);
  if (execution_is_on_model(e)) allocate_taken(x);
  return x;
}

static void free_runs(execution *x)
{
  for (size_t i = 0; i < x->num_runs; i++) {
    free(x->runs[i].name);
    free(x->runs[i].fault.message);
  }
  x->num_runs = 0;
}

void execution_free(execution *x)
{
  if (!x) return;
  free_runs(x);
  for (int k = 0; k < MEASURE_KINDS; k++) free(x->first_of[k]);
  free(x->words);
  free(x->first_word);
  free(x->sorted);
  free(x->taken);
  free(x->first_taken);
  for (size_t i = 0; i < x->num_parameters; i++) {
    free((char *)x->parameters[i].key);
    free((char *)x->parameters[i].value);
  }
  free(x->parameters);
  free(x->runs);
  free(x->trace);
  timed_blocks_free(&x->timed);
  free(x);
}

void execution_reset(execution *x)
{
  memset(x->words, 0, x->first_word[x->executable->num_measures] * sizeof *x->words);
  if (x->taken) memset(x->taken, 0, x->first_taken[x->executable->num_works] * sizeof *x->taken);
  free_runs(x);
  x->num_trace = 0;
  x->num_dropped_runs = 0;
  timed_blocks_reset(&x->timed);
}

bool execution_is_whole(const execution *x)
{
  for (size_t i = 0; i < x->num_runs; i++)
    if (!x->runs[i].is_complete) return false;
  return x->num_dropped_runs == 0;
}

bool execution_is_instrumented(const pop_executable *e)
{
  const instrumentation *in = &e->instrumentation;
  return in->compute != INSTRUMENT_NOTHING || in->control_flow || in->external_exchange ||
         in->blocks;
}

bool execution_is_on_model(const pop_executable *e)
{
  return e->target.type == POP_TARGET_IPU_MODEL && !e->cpu;
}

/* Are no compute sets measured, so that estimates are used? */
static bool is_estimated(const pop_executable *e)
{
  return e->target.type == POP_TARGET_IPU_MODEL && e->instrumentation.compute == INSTRUMENT_NOTHING;
}

bool execution_is_profiled(const pop_executable *e)
{
  return execution_is_instrumented(e) || is_estimated(e);
}

static bool measures_exchanges_between_IPUs(const pop_executable *e)
{
  for (size_t i = 0; i < e->num_measures; i++)
    if (e->measures[i].kind == MEASURE_EXCHANGE) return true;
  return false;
}

const char *execution_mode(const pop_executable *e)
{
  if (e->cpu) return "CPU";
  switch (e->instrumentation.compute) {
  case INSTRUMENT_TILES:
    return "COMPUTE_SETS";
  case INSTRUMENT_VERTICES:
    return "VERTICES";
  case INSTRUMENT_DEVICE:
  case INSTRUMENT_IPUS:
    return "SINGLE_TILE_COMPUTE_SETS";
  default:
    break;
  }
  if (is_estimated(e)) return "IPU_MODEL";
  if (e->instrumentation.external_exchange)
    return measures_exchanges_between_IPUs(e) ? "EXTERNAL_EXCHANGES" : "HOST_EXCHANGES";
  return "NONE";
}

/* ---- what was measured ---- */

/* The numbers of the measures of one thing. */
static const uint32_t *measures_of(const execution *x, measure_kind kind, size_t index,
                                   size_t *count)
{
  size_t first = x->first_of[kind][index];
  *count = x->first_of[kind][index + 1] - first;
  return x->sorted + first;
}

/* The cycles between the two words of a measure, of which the low 32 bits are known. 0 if it was
 * not executed. */
static uint64_t measured_cycles(const execution *x, const executable_measure *m)
{
  const uint32_t *words = x->words + x->first_word[m - x->executable->measures];
  uint32_t cycles = words[1] - words[0];
  return cycles > m->overhead ? cycles - m->overhead : 0;
}

static bool has_been_executed(const execution *x, uint32_t measure)
{
  const uint32_t *words = x->words + x->first_word[measure];
  return words[0] || words[1];
}

/* For INSTRUMENT_DEVICE and INSTRUMENT_IPUS: a tile measures for itself and for all tiles up to the
 * next that measures. */
static size_t shared_costs(const execution *x, uint32_t set, const uint32_t *measures, size_t count,
                           tile_cost *costs)
{
  const pop_executable *e = x->executable;
  const executable_compute_set *s = &e->compute_sets[set];
  size_t num = 0;
  for (size_t w = 0, i = 0; w < s->num_works; w++) {
    uint32_t tile = e->works[s->first_work + w].tile;
    while (i + 1 < count && e->measures[measures[i + 1]].tile <= tile) i++;
    if (has_been_executed(x, measures[i]))
      costs[num++] =
          (tile_cost){.tile = tile, .cycles = measured_cycles(x, &e->measures[measures[i]])};
  }
  return num;
}

static size_t estimated_costs(const execution *x, uint32_t set, tile_cost *costs)
{
  const pop_executable *e = x->executable;
  const executable_compute_set *s = &e->compute_sets[set];
  for (size_t i = 0; i < s->num_works; i++) {
    const executable_work *work = &e->works[s->first_work + i];
    uint64_t cycles = estimated_cycles(e, work, execution_taken(x, s->first_work + i));
    costs[i] = (tile_cost){.tile = work->tile, .cycles = cycles};
  }
  return s->num_works;
}

size_t execution_compute_costs(const execution *x, uint32_t set, tile_cost *costs)
{
  const pop_executable *e = x->executable;
  if (is_estimated(e)) return estimated_costs(x, set, costs);
  size_t count, num = 0;
  const uint32_t *measures = measures_of(x, MEASURE_COMPUTE_SET, set, &count);
  bool shared = e->instrumentation.compute == INSTRUMENT_DEVICE ||
                e->instrumentation.compute == INSTRUMENT_IPUS;
  if (shared && count) return shared_costs(x, set, measures, count, costs);
  for (size_t i = 0; i < count; i++) {
    const executable_measure *m = &e->measures[measures[i]];
    if (has_been_executed(x, measures[i]))
      costs[num++] = (tile_cost){.tile = m->tile, .cycles = measured_cycles(x, m)};
  }
  return num;
}

static void forget_measure(execution *x, size_t measure)
{
  memset(x->words + x->first_word[measure], 0,
         x->executable->measures[measure].words * sizeof *x->words);
}

/* Clears the measures of vertices: a call that has begun left its start time there. */
static void forget_calls(execution *x, size_t work)
{
  size_t count;
  const uint32_t *measures = measures_of(x, MEASURE_VERTICES, work, &count);
  for (size_t i = 0; i < count; i++) forget_measure(x, measures[i]);
}

static void forget_calls_on(execution *x, uint32_t set, uint32_t tile)
{
  const executable_compute_set *s = &x->executable->compute_sets[set];
  for (size_t w = s->first_work; w < s->first_work + s->num_works; w++)
    if (x->executable->works[w].tile == tile) forget_calls(x, w);
}

uint64_t execution_end_measure(execution *x, uint32_t set, uint32_t tile, uint64_t cycle,
                               uint64_t otherwise)
{
  const pop_executable *e = x->executable;
  size_t count;
  const uint32_t *measures = measures_of(x, MEASURE_COMPUTE_SET, set, &count);
  bool shared = e->instrumentation.compute == INSTRUMENT_DEVICE ||
                e->instrumentation.compute == INSTRUMENT_IPUS;
  uint64_t cycles = otherwise;
  forget_calls_on(x, set, tile);
  for (size_t i = 0; i < count; i++) {
    /* If one tile measures for others, they sync when all are done. That did not happen. */
    uint32_t *words = x->words + x->first_word[measures[i]], from = e->measures[measures[i]].tile;
    if (!shared && from != tile) continue;
    if (from <= tile) cycles = (uint32_t)cycle - words[0];
    words[0] = words[1] = 0;
  }
  return cycles;
}

/* Both readings are of the last 2^32 cycles. A second one that is older than the first is that of
 * an earlier execution, or 0. */
static bool is_unfinished(const execution *x, size_t measure, uint64_t now)
{
  enum { AHEAD = 1 << 30 }; /* tiles may be some cycles ahead of the device's clock */
  const uint32_t *words = x->words + x->first_word[measure];
  uint32_t later = (uint32_t)now + AHEAD;
  return later - words[1] > later - words[0];
}

/* Works, like measures, are ascending by tile. */
static void drop_unfinished_of_set(execution *x, uint32_t set, uint64_t now)
{
  const pop_executable *e = x->executable;
  const executable_compute_set *s = &e->compute_sets[set];
  size_t count, w = s->first_work, end = s->first_work + s->num_works;
  const uint32_t *measures = measures_of(x, MEASURE_COMPUTE_SET, set, &count);
  for (size_t i = 0; i < count; i++) {
    uint32_t tile = e->measures[measures[i]].tile;
    if (!is_unfinished(x, measures[i], now)) continue;
    forget_measure(x, measures[i]);
    while (w < end && e->works[w].tile < tile) w++;
    if (w < end && e->works[w].tile == tile) forget_calls(x, w);
  }
}

void execution_drop_unfinished(execution *x, uint64_t now)
{
  const pop_executable *e = x->executable;
  for (uint32_t set = 0; set < e->num_compute_sets; set++) drop_unfinished_of_set(x, set, now);
  for (size_t i = 0; i < e->num_measures; i++) {
    uint32_t kind = e->measures[i].kind;
    bool exchanges = kind == MEASURE_EXCHANGE || kind == MEASURE_HOST_EXCHANGE;
    if (exchanges && is_unfinished(x, i, now)) forget_measure(x, i);
  }
}

/* The costs of an exchange as planned, for the tiles of its parts. `transfer` is added to each. */
static void planned_costs(const execution *x, size_t first_part, size_t num_parts,
                          uint64_t transfer, tile_cost *costs)
{
  for (size_t i = 0; i < num_parts; i++) {
    const executable_exchange_part *part = &x->executable->exchange_parts[first_part + i];
    costs[i] =
        (tile_cost){part->tile, part->cycles + transfer, part->bytes_sent, part->bytes_received};
  }
}

/* Replaces costs by what was measured. */
static void use_measured(const execution *x, measure_kind kind, size_t index, tile_cost *costs,
                         size_t num_costs)
{
  const pop_executable *e = x->executable;
  size_t count;
  const uint32_t *measures = measures_of(x, kind, index, &count);
  for (size_t i = 0, m = 0; i < num_costs; i++) {
    while (m < count && e->measures[measures[m]].tile < costs[i].tile) m++;
    if (m < count && e->measures[measures[m]].tile == costs[i].tile &&
        has_been_executed(x, measures[m]))
      costs[i].cycles = measured_cycles(x, &e->measures[measures[m]]);
  }
}

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
  return (a + b - 1) / b;
}

static uint64_t greatest(uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

/* Computed as the machine does (machine/global_exchange.c). */
uint64_t execution_global_cycles(const pop_executable *e, const executable_exchange *exchange)
{
  const pop_target *t = &e->target;
  uint64_t instructions = 0, tile_bytes = 0;
  for (size_t i = exchange->first_part; i < exchange->first_part + exchange->num_parts; i++) {
    const executable_exchange_part *part = &e->exchange_parts[i];
    instructions = greatest(instructions, part->cycles);
    tile_bytes = greatest(tile_bytes, greatest(part->bytes_sent, part->bytes_received));
  }
  if (exchange->link_bytes == 0) return instructions;
  uint64_t transfer = ceil_div(tile_bytes, t->exchange_bytes_per_cycle);
  transfer = greatest(transfer, ceil_div(exchange->link_bytes, t->global_bytes_per_cycle));
  transfer = greatest(transfer, ceil_div(exchange->gateway_bytes, t->gateway_bytes_per_cycle));
  return instructions + transfer +
         (exchange->gateway_bytes ? t->gateway_latency_cycles : t->global_latency_cycles);
}

size_t execution_exchange_costs(const execution *x, uint32_t index, tile_cost *costs)
{
  const executable_exchange *exchange = &x->executable->exchanges[index];
  planned_costs(x, exchange->first_part, exchange->num_parts, 0, costs);
  if (exchange->zone != ISA_SYNC_INTERNAL) {
    uint64_t cycles = execution_global_cycles(x->executable, exchange);
    for (size_t i = 0; i < exchange->num_parts; i++) costs[i].cycles = cycles;
  }
  use_measured(x, MEASURE_EXCHANGE, index, costs, exchange->num_parts);
  return exchange->num_parts;
}

/* The most bytes that one IPU sends and receives together. */
static uint64_t fullest_ipu(const pop_executable *e, size_t first_part, size_t num_parts)
{
  uint64_t fullest = 0, bytes = 0;
  for (size_t i = first_part, ipu = 0; i < first_part + num_parts; i++) {
    const executable_exchange_part *part = &e->exchange_parts[i];
    if (part->tile / e->target.tiles_per_ipu != ipu) bytes = 0;
    ipu = part->tile / e->target.tiles_per_ipu;
    bytes += part->bytes_sent + part->bytes_received;
    fullest = greatest(fullest, bytes);
  }
  return fullest;
}

uint64_t execution_host_transfer(const pop_executable *e, const executable_event *event)
{
  return ceil_div(fullest_ipu(e, event->first_part, event->num_parts),
                  e->target.host_bytes_per_cycle);
}

size_t execution_host_costs(const execution *x, uint32_t index, tile_cost *costs)
{
  const executable_event *event = &x->executable->events[index];
  planned_costs(x, event->first_part, event->num_parts,
                execution_host_transfer(x->executable, event), costs);
  use_measured(x, MEASURE_HOST_EXCHANGE, index, costs, event->num_parts);
  return event->num_parts;
}

const uint32_t *execution_vertex_cycles(const execution *x, size_t work,
                                        const executable_measure **measure)
{
  size_t count;
  const uint32_t *measures = measures_of(x, MEASURE_VERTICES, work, &count);
  if (count == 0) return NULL;
  *measure = &x->executable->measures[measures[0]];
  return x->words + x->first_word[measures[0]];
}

static uint64_t cycles_of_call(const uint32_t *calls, uint32_t call, const executable_measure *m)
{
  return call < m->words && calls[call] > m->overhead ? calls[call] - m->overhead : 0;
}

/* The order of vertices in a row: the supervisor's, those of all workers, then those of each
 * worker. */
static uint32_t place_in_row(uint32_t worker)
{
  return worker == EXECUTABLE_ON_SUPERVISOR    ? 0
         : worker == EXECUTABLE_ON_ALL_WORKERS ? 1
                                               : 2 + worker;
}

/* The first vertex that is run by `worker` or by a later one in that order. Binary search, because
 * a tile may have thousands of vertices, and each is asked for. */
static uint32_t first_by(const executable_vertex *vertices, uint32_t count, uint32_t worker)
{
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (place_in_row(vertices[middle].worker) < place_in_row(worker))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The order of calls: the supervisor's; then, for each worker, those of all workers and its own. */
uint64_t execution_cycles_on_worker(const execution *x, size_t work, uint32_t vertex,
                                    uint32_t worker)
{
  const pop_executable *e = x->executable;
  const executable_measure *m;
  const uint32_t *calls = execution_vertex_cycles(x, work, &m);
  const executable_row *row = &e->vertex_rows[e->works[work].row];
  const executable_vertex *vertices = e->vertices + row->first;
  if (!calls) return 0;
  uint32_t own = first_by(vertices, row->count, 0);
  uint32_t num_all = own - first_by(vertices, row->count, EXECUTABLE_ON_ALL_WORKERS);
  uint32_t before = first_by(vertices, row->count, worker) - own; /* own calls of workers before */
  return cycles_of_call(calls, vertex + worker * num_all + before, m);
}

uint64_t execution_cycles_of_vertex(const execution *x, size_t work, uint32_t vertex)
{
  const pop_executable *e = x->executable;
  const executable_measure *m;
  const uint32_t *calls = execution_vertex_cycles(x, work, &m);
  const executable_row *row = &e->vertex_rows[e->works[work].row];
  const executable_vertex *vertices = e->vertices + row->first;
  uint32_t worker = vertices[vertex].worker;
  if (!calls && !x->taken) return 0;
  if (!calls)
    return vertices[vertex].cycles ? vertices[vertex].cycles : execution_taken(x, work)[vertex];
  if (worker == EXECUTABLE_ON_SUPERVISOR) return cycles_of_call(calls, vertex, m);
  uint32_t own = first_by(vertices, row->count, 0);
  uint32_t num_all = own - first_by(vertices, row->count, EXECUTABLE_ON_ALL_WORKERS);
  if (worker != EXECUTABLE_ON_ALL_WORKERS)
    return cycles_of_call(calls, vertex + worker * num_all, m);
  uint64_t most = 0;
  for (uint32_t w = 0; w < e->target.num_worker_contexts; w++)
    most = greatest(most, execution_cycles_on_worker(x, work, vertex, w));
  return most;
}
