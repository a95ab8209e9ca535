/* The execution profile, with the guide's keys. Lists of cycles are by number of the thing, then by
 * tile. */
#include "profile/exchange_numbers.h"
#include "profile/execution_summary.h"
#include "profile/simulation.h"
#include "profile/sync_ans.h"

#include <stdlib.h>
#include <string.h>

/* The range of a run's steps in the simulation. */
typedef struct simulated_run {
  uint64_t from, to;
  size_t first_step, num_steps;
} simulated_run;

typedef struct execution_emitter {
  const emitter *to;
  const execution *x;
  uint32_t num_tiles;
  tile_cost *costs;
  exchange_numbers numbers;
  size_t num_steps; /* of the simulation, so far */
  simulated_run *runs;
  size_t num_runs; /* that have begun */
} execution_emitter;

/* ---- what was measured ---- */

/* A number for each tile; 0 for tiles that do not take part. */
static void put_by_tile(const execution_emitter *p, size_t num_costs)
{
  emit_begin_vector(p->to, NULL);
  for (uint32_t tile = 0, i = 0; tile < p->num_tiles; tile++)
    emit_int(p->to, NULL,
             i < num_costs && p->costs[i].tile == tile ? (int64_t)p->costs[i++].cycles : 0);
  emit_end_vector(p->to);
}

static void put_compute_sets_by_tile(const execution_emitter *p)
{
  emit_begin_vector(p->to, "computeSetCyclesByTile");
  for (uint32_t i = 0; i < p->x->executable->num_compute_sets; i++)
    put_by_tile(p, execution_compute_costs(p->x, i, p->costs));
  emit_end_vector(p->to);
}

/* The cycles of the slowest tile. */
static void put_compute_sets(const execution_emitter *p)
{
  emit_begin_vector(p->to, "computeSetCycles");
  for (uint32_t i = 0; i < p->x->executable->num_compute_sets; i++) {
    uint64_t most = 0;
    size_t count = execution_compute_costs(p->x, i, p->costs);
    for (size_t c = 0; c < count; c++)
      if (p->costs[c].cycles > most) most = p->costs[c].cycles;
    emit_int(p->to, NULL, (int64_t)most);
  }
  emit_end_vector(p->to);
}

/* ---- vertices: those of all works, in their order ---- */

typedef int64_t vertex_number(const execution_emitter *p, size_t set, size_t work, uint32_t vertex);

static void put_vertices(const execution_emitter *p, const char *key, vertex_number *number)
{
  const pop_executable *e = p->x->executable;
  emit_begin_vector(p->to, key);
  for (size_t s = 0; s < e->num_compute_sets; s++)
    for (size_t w = 0; w < e->compute_sets[s].num_works; w++) {
      size_t work = e->compute_sets[s].first_work + w;
      for (uint32_t v = 0; v < e->vertex_rows[e->works[work].row].count; v++)
        emit_int(p->to, NULL, number(p, s, work, v));
    }
  emit_end_vector(p->to);
}

static int64_t set_of_vertex(const execution_emitter *p, size_t set, size_t work, uint32_t vertex)
{
  (void)p;
  (void)work;
  (void)vertex;
  return (int64_t)set;
}

static int64_t type_of_vertex(const execution_emitter *p, size_t set, size_t work, uint32_t vertex)
{
  const pop_executable *e = p->x->executable;
  (void)set;
  return e->vertices[e->vertex_rows[e->works[work].row].first + vertex].type;
}

static int64_t cycles_of_vertex(const execution_emitter *p, size_t set, size_t work,
                                uint32_t vertex)
{
  (void)set;
  return (int64_t)execution_cycles_of_vertex(p->x, work, vertex);
}

/* ---- exchanges ---- */

static bool is_external(const executable_exchange *x)
{
  return x->zone != ISA_SYNC_INTERNAL;
}

static void put_exchanges(const execution_emitter *p)
{
  const pop_executable *e = p->x->executable;
  emit_begin_vector(p->to, "externalExchangeCycles");
  for (uint32_t i = 0; i < e->num_exchanges; i++)
    if (is_external(&e->exchanges[i])) put_by_tile(p, execution_exchange_costs(p->x, i, p->costs));
  emit_end_vector(p->to);
  emit_begin_vector(p->to, "hostExchangeCycles");
  for (uint32_t number = 0; number < p->numbers.num_host; number++)
    put_by_tile(p, execution_host_costs(p->x, p->numbers.events[number], p->costs));
  emit_end_vector(p->to);
}

/* ---- runs ---- */

/* Only for a run that ended in an error. */
static void put_fault(const execution_emitter *p, const execution_fault *fault)
{
  if (!fault->message) return;
  emit_begin_map(p->to, "fault");
  emit_string(p->to, "message", fault->message);
  if (fault->kind) {
    emit_string(p->to, "kind", fault->kind);
    emit_int(p->to, "tile", fault->tile);
  }
  if (fault->compute_set != EXECUTABLE_NONE) emit_int(p->to, "computeSet", fault->compute_set);
  emit_int(p->to, "cycle", (int64_t)fault->cycle);
  emit_int(p->to, "superstep", (int64_t)fault->superstep);
  emit_end_map(p->to);
}

static void put_runs(const execution_emitter *p)
{
  const pop_executable *e = p->x->executable;
  emit_begin_vector(p->to, "runs");
  for (size_t i = 0; i < p->x->num_runs; i++) {
    const execution_run *run = &p->x->runs[i];
    emit_begin_map(p->to, NULL);
    emit_int(p->to, "program", run->program);
    emit_string(p->to, "name", e->programs[run->program]);
    if (run->name) emit_string(p->to, "runName", run->name);
    emit_int(p->to, "cycles", (int64_t)(run->to - run->from));
    emit_int(p->to, "instructions", (int64_t)run->instructions);
    emit_int(p->to, "supersteps", (int64_t)run->supersteps);
    put_fault(p, &run->fault);
    emit_end_map(p->to);
  }
  emit_end_vector(p->to);
}

static void put_parameters(const execution_emitter *p)
{
  emit_begin_map(p->to, "runParameters");
  for (size_t i = 0; i < p->x->num_parameters; i++)
    emit_string(p->to, p->x->parameters[i].key, p->x->parameters[i].value);
  emit_end_map(p->to);
}

static void put_trace(const execution_emitter *p)
{
  const execution *x = p->x;
  emit_begin_vector(p->to, "programTrace");
  for (size_t i = 0; i < x->num_trace; i++)
    if (x->executable->steps[x->trace[i] & ~EXECUTION_BLOCK_END].kind != EXECUTABLE_STEP_BLOCK)
      emit_int(p->to, NULL, x->trace[i]);
  emit_end_vector(p->to);
  emit_bool(p->to, "programTraceComplete", execution_is_whole(x));
}

/* ---- the simulation ---- */

static void put_exchange_fields(const execution_emitter *p, const simulated_step *step)
{
  const exchange_numbers *n = &p->numbers;
  emit_int(p->to, "totalData", (int64_t)step->total_data);
  emit_double(p->to, "dataBalance", step->data_balance);
  if (step->kind == EXECUTABLE_STEP_EXCHANGE)
    emit_int(p->to, "exchange", n->of_exchange[step->index]);
  else if (step->kind == EXECUTABLE_STEP_GLOBAL_EXCHANGE)
    emit_int(p->to, "externalExchange", n->of_exchange[step->index]);
  else if (n->of_event[step->index] != EXECUTABLE_NONE)
    emit_int(p->to, "hostExchange", n->of_event[step->index]);
}

/* The cycles of this execution. Other tiles have those of the last one that they measured. */
static void put_faulted_tile(const execution_emitter *p, const simulated_step *step)
{
  for (size_t i = 0; i < step->num_costs; i++) {
    if (step->costs[i].tile != step->fault->tile) continue;
    emit_int(p->to, "faultedTile", step->fault->tile);
    emit_int(p->to, "faultedTileCycles", (int64_t)step->costs[i].cycles);
  }
}

static void put_step(void *context, const simulated_step *step)
{
  execution_emitter *p = context;
  const emitter *to = p->to;
  bool executes = step->kind == EXECUTABLE_STEP_EXECUTE;
  p->num_steps++;
  emit_begin_map(to, NULL);
  emit_string(to, "type", simulated_step_type(step));
  if (step->program != EXECUTABLE_NONE) emit_int(to, "program", step->program);
  if (*step->name) emit_string(to, "name", step->name);
  if (step->phase == PHASE_ANS) {
    emit_int(to, "syncAns", step->index);
    emit_int(to, "syncs", step->syncs);
    emit_int(to, "activeTiles", (int64_t)step->num_costs);
    emit_int(to, "cycles", (int64_t)step->cycles);
  }
  bool waits = step->phase == PHASE_BEGIN || step->phase == PHASE_END;
  if (step->kind == EXECUTABLE_STEP_SYNC || waits) {
    if (!waits && step->phase != PHASE_ANS)
      emit_string(to, "syncType", step->index == ISA_SYNC_INTERNAL ? "Internal" : "External");
    emit_int(to, "cyclesFrom", (int64_t)step->from);
    emit_int(to, "cyclesTo", (int64_t)step->to);
    emit_end_map(to);
    return;
  }
  emit_double(to, "tileBalance", step->tile_balance);
  emit_int(to, "activeTiles", (int64_t)step->num_costs);
  emit_double(to, "activeTileBalance", step->active_tile_balance);
  emit_int(to, "cycles", (int64_t)step->cycles);
  emit_int(to, "cyclesFrom", (int64_t)step->from);
  emit_int(to, "cyclesTo", (int64_t)step->to);
  if (executes || step->kind == EXECUTABLE_STEP_EXCHANGE)
    emit_int(to, "cyclesOverlapped", (int64_t)step->overlapped);
  if (executes) {
    if (step->knows_threads) emit_double(to, "threadBalance", step->thread_balance);
    emit_int(to, "computeSet", step->index);
    if (step->fault && step->fault->kind) put_faulted_tile(p, step);
  } else {
    put_exchange_fields(p, step);
  }
  emit_end_map(to);
}

static void note_run(void *context, const execution_run *run, uint64_t cycle, bool begins)
{
  execution_emitter *p = context;
  (void)run;
  if (begins) {
    p->runs[p->num_runs++] = (simulated_run){.from = cycle, .first_step = p->num_steps};
    return;
  }
  simulated_run *last = &p->runs[p->num_runs - 1];
  last->to = cycle;
  last->num_steps = p->num_steps - last->first_step;
}

static void put_simulated_runs(const execution_emitter *p)
{
  emit_begin_vector(p->to, "runs");
  for (size_t i = 0; i < p->num_runs; i++) {
    emit_begin_map(p->to, NULL);
    emit_int(p->to, "cyclesFrom", (int64_t)p->runs[i].from);
    emit_int(p->to, "cyclesTo", (int64_t)p->runs[i].to);
    emit_int(p->to, "firstStep", (int64_t)p->runs[i].first_step);
    emit_int(p->to, "numSteps", (int64_t)p->runs[i].num_steps);
    emit_end_map(p->to);
  }
  emit_end_vector(p->to);
}

/* Cycles by tile that takes part: ranges of tiles (first, count), then the cycles of each tile. */
static void put_cost(const execution_emitter *p, size_t num_costs)
{
  emit_begin_map(p->to, NULL);
  emit_begin_vector(p->to, "tiles");
  for (size_t i = 0, first = 0; i < num_costs; i++) {
    if (i + 1 < num_costs && p->costs[i + 1].tile == p->costs[i].tile + 1) continue;
    emit_int(p->to, NULL, p->costs[first].tile);
    emit_int(p->to, NULL, (int64_t)(i + 1 - first));
    first = i + 1;
  }
  emit_end_vector(p->to);
  emit_begin_vector(p->to, "cycles");
  for (size_t i = 0; i < num_costs; i++) emit_int(p->to, NULL, (int64_t)p->costs[i].cycles);
  emit_end_vector(p->to);
  emit_end_map(p->to);
}

/* The tiles that wait in each SyncAns, as ranges. Their waiting times are not here, because they
 * differ each time. */
static void put_acknowledging_tiles(const execution_emitter *p)
{
  ans_rows rows = ans_rows_new(p->x->executable);
  emit_begin_vector(p->to, "syncAns");
  for (size_t r = 0; r < rows.num_rows; r++) {
    emit_begin_map(p->to, NULL);
    emit_begin_vector(p->to, "tiles");
    for (size_t i = 0; i < rows.rows[r].num_ranges; i++) {
      emit_int(p->to, NULL, rows.rows[r].ranges[i].first_tile);
      emit_int(p->to, NULL, rows.rows[r].ranges[i].num_tiles);
    }
    emit_end_vector(p->to);
    emit_end_map(p->to);
  }
  emit_end_vector(p->to);
  ans_rows_free(&rows);
}

static void put_exchange_costs(const execution_emitter *p, const char *key, bool external)
{
  const pop_executable *e = p->x->executable;
  emit_begin_vector(p->to, key);
  for (uint32_t i = 0; i < e->num_exchanges; i++)
    if (is_external(&e->exchanges[i]) == external)
      put_cost(p, execution_exchange_costs(p->x, i, p->costs));
  emit_end_vector(p->to);
}

static void put_types_of_set(const execution_emitter *p, uint32_t set, type_cost *costs)
{
  const pop_executable *e = p->x->executable;
  static const char *const keys[] = {"types", "instances", "cycles"};
  memset(costs, 0, e->num_vertex_types * sizeof *costs);
  add_vertex_costs(p->x, set, costs);
  emit_begin_map(p->to, NULL);
  for (int key = 0; key < 3; key++) {
    emit_begin_vector(p->to, keys[key]);
    for (uint32_t t = 0; t < e->num_vertex_types; t++) {
      uint64_t number = key == 0 ? t : key == 1 ? costs[t].instances : costs[t].cycles;
      if (costs[t].instances) emit_int(p->to, NULL, (int64_t)number);
    }
    emit_end_vector(p->to);
  }
  emit_end_map(p->to);
}

/* By compute set: its vertex types, how many vertices of each, and their cycles in all. */
static void put_vertex_types(const execution_emitter *p)
{
  const pop_executable *e = p->x->executable;
  if (!execution_knows_vertices(e)) return;
  type_cost *costs = pop_xcalloc(e->num_vertex_types + 1, sizeof *costs);
  emit_begin_vector(p->to, "vertexTypes");
  for (uint32_t i = 0; i < e->num_compute_sets; i++) put_types_of_set(p, i, costs);
  emit_end_vector(p->to);
  free(costs);
}

static void put_types(const execution_emitter *p, const char *key, const uint32_t *types,
                      size_t count)
{
  emit_begin_vector(p->to, key);
  for (size_t i = 0; i < count; i++) emit_int(p->to, NULL, types[i]);
  emit_end_vector(p->to);
}

/* On a model: types whose vertices have no estimate, so that their code was measured; types with
 * the chip's formulae; types with our estimators. */
static void put_measured_types(const execution_emitter *p)
{
  if (!execution_is_on_model(p->x->executable)) return;
  bool *measured = find_types_without_estimate(p->x);
  emit_begin_vector(p->to, "measuredVertexTypes");
  for (uint32_t t = 0; t < p->x->executable->num_vertex_types; t++)
    if (measured[t]) emit_int(p->to, NULL, t);
  emit_end_vector(p->to);
  free(measured);
  const pop_executable *e = p->x->executable;
  put_types(p, "libraryEstimateVertexTypes", e->chip_estimates, e->num_chip_estimates);
  put_types(p, "ourEstimateVertexTypes", e->our_estimates, e->num_our_estimates);
}

/* The costs that the steps' times are made of, by the numbers that steps use. */
static void put_costs(const execution_emitter *p)
{
  const pop_executable *e = p->x->executable;
  emit_begin_map(p->to, "costs");
  emit_begin_vector(p->to, "computeSets");
  for (uint32_t i = 0; i < e->num_compute_sets; i++)
    put_cost(p, execution_compute_costs(p->x, i, p->costs));
  emit_end_vector(p->to);
  put_exchange_costs(p, "exchanges", false);
  put_exchange_costs(p, "externalExchanges", true);
  emit_begin_vector(p->to, "hostExchanges");
  for (uint32_t number = 0; number < p->numbers.num_host; number++)
    put_cost(p, execution_host_costs(p->x, p->numbers.events[number], p->costs));
  emit_end_vector(p->to);
  if (e->num_acknowledged) put_acknowledging_tiles(p);
  put_vertex_types(p);
  emit_end_map(p->to);
}

static void put_simulation(execution_emitter *p)
{
  simulation_totals totals;
  emit_begin_map(p->to, "simulation");
  emit_begin_vector(p->to, "steps");
  simulate(p->x, &(simulation_visitor){.step = put_step, .run = note_run, .context = p}, &totals);
  emit_end_vector(p->to);
  put_simulated_runs(p);
  put_costs(p);
  emit_int(p->to, "cycles", (int64_t)totals.cycles);
  emit_begin_map(p->to, "tileCycles");
  if (totals.knows_threads)
    emit_int(p->to, "activeCompute", (int64_t)(totals.active_compute + 0.5));
  emit_int(p->to, "compute", (int64_t)totals.compute);
  emit_int(p->to, "copySharedStructure", 0); /* tiles share no structures */
  emit_int(p->to, "doExchange", (int64_t)totals.do_exchange);
  emit_int(p->to, "globalExchange", (int64_t)totals.global_exchange);
  emit_int(p->to, "streamCopy", (int64_t)totals.stream_copy);
  emit_int(p->to, "sync", (int64_t)totals.sync);
  emit_end_map(p->to);
  emit_end_map(p->to);
}

void emit_execution(const emitter *to, const void *what)
{
  emit_execution_as(to, NULL, what);
}

void emit_execution_as(const emitter *to, const char *key, const execution *x)
{
  const pop_executable *e = x->executable;
  emit_begin_map(to, key);
  emit_string(to, "profilerMode", execution_mode(e));
  if (e->cpu || !execution_is_profiled(e)) {
    emit_end_map(to);
    return;
  }
  uint32_t num_tiles = pop_target_num_tiles(&e->target);
  execution_emitter p = {.to = to,
                         .x = x,
                         .num_tiles = num_tiles,
                         .costs = pop_xcalloc(num_tiles, sizeof *p.costs),
                         .runs = pop_xcalloc(x->num_runs + 1, sizeof *p.runs),
                         .numbers = exchange_numbers_new(e)};
  if (e->instrumentation.compute == INSTRUMENT_TILES ||
      e->instrumentation.compute == INSTRUMENT_VERTICES)
    put_compute_sets_by_tile(&p);
  if (e->instrumentation.compute == INSTRUMENT_DEVICE ||
      e->instrumentation.compute == INSTRUMENT_IPUS)
    put_compute_sets(&p);
  if (e->instrumentation.compute == INSTRUMENT_VERTICES) {
    put_vertices(&p, "vertexCycles", cycles_of_vertex);
    put_vertices(&p, "vertexComputeSet", set_of_vertex);
    put_vertices(&p, "vertexType", type_of_vertex);
  }
  if (e->instrumentation.external_exchange) put_exchanges(&p);
  put_measured_types(&p);
  put_runs(&p);
  put_parameters(&p);
  if (e->instrumentation.blocks) emit_timed_blocks(to, &x->timed);
  put_trace(&p);
  put_simulation(&p);
  emit_end_map(to);
  exchange_numbers_free(&p.numbers);
  free(p.runs);
  free(p.costs);
}
