#include "profile/simulation.h"

#include "profile/estimated_cycles.h"
#include "profile/sync_ans.h"
#include <stdlib.h>

typedef struct simulation {
  const execution *x;
  const simulation_visitor *visitor;
  simulation_totals *totals;
  uint32_t num_tiles;
  uint64_t *clocks; /* by tile: when it continues */
  tile_cost *costs;
  uint64_t *begins;
  uint64_t latest; /* latest end of the steps before */
  ans_rows acknowledged;
} simulation;

const char *simulated_step_type(const simulated_step *step)
{
  return step->phase == PHASE_BEGIN ? "StreamCopyBegin"
         : step->phase == PHASE_ANS ? "SyncAns"
         : step->phase == PHASE_END ? "StreamCopyEnd"
                                    : executable_step_tag(step->kind);
}

static uint64_t latest_clock(const simulation *s, uint32_t first, uint32_t count)
{
  uint64_t latest = 0;
  for (uint32_t t = first; t < first + count; t++)
    if (s->clocks[t] > latest) latest = s->clocks[t];
  return latest;
}

static void visit(const simulation *s, const simulated_step *step)
{
  if (s->visitor->step) s->visitor->step(s->visitor->context, step);
}

/* The tiles continue `cycles` after the last of them has arrived. */
static void wait_for(simulation *s, uint32_t first, uint32_t count, uint32_t cycles,
                     simulated_step *sync)
{
  uint64_t requested = latest_clock(s, first, count), end = requested + cycles;
  for (uint32_t t = first; t < first + count; t++) {
    s->totals->sync += end - s->clocks[t];
    s->clocks[t] = end;
  }
  if (requested < sync->from) sync->from = requested;
  if (end > sync->to) sync->to = end;
}

/* `copy`: the stream copy that begins with this sync, or EXECUTABLE_NONE. */
static void synchronise(simulation *s, uint32_t zone, uint32_t program, uint32_t copy)
{
  const pop_executable *e = s->x->executable;
  const pop_target *target = &e->target;
  uint32_t named = copy == EXECUTABLE_NONE ? program : copy;
  simulated_step sync = {.kind = EXECUTABLE_STEP_SYNC,
                         .phase = copy == EXECUTABLE_NONE ? PHASE_WHOLE : PHASE_BEGIN,
                         .program = named,
                         .name = named == EXECUTABLE_NONE ? "" : e->steps[named].name,
                         .index = zone,
                         .from = UINT64_MAX};
  if (zone == ISA_SYNC_INTERNAL)
    for (uint32_t first = 0; first < s->num_tiles; first += target->tiles_per_ipu)
      wait_for(s, first, target->tiles_per_ipu, target->sync_cycles, &sync);
  else
    wait_for(s, 0, s->num_tiles, target->host_sync_cycles, &sync);
  visit(s, &sync);
}

/* The sync of the exchange at this position has happened. Tiles that acknowledged it as their last
 * one continue. */
static void visit_acknowledged(simulation *s, uint32_t position)
{
  uint32_t row;
  for (size_t at = 0; ans_next_ended(&s->acknowledged, position, &at, &row);) {
    simulated_step ans = {.kind = EXECUTABLE_STEP_SYNC,
                          .phase = PHASE_ANS,
                          .program = EXECUTABLE_NONE,
                          .name = "",
                          .index = row,
                          .syncs = s->acknowledged.rows[row].syncs,
                          .from = UINT64_MAX,
                          .costs = s->costs,
                          .begins = s->begins,
                          .num_costs =
                              ans_costs(&s->acknowledged, row, s->clocks, s->costs, s->begins)};
    for (size_t i = 0; i < ans.num_costs; i++) {
      uint64_t end = s->begins[i] + s->costs[i].cycles;
      if (s->begins[i] < ans.from) ans.from = s->begins[i];
      if (end > ans.to) ans.to = end;
      if (s->costs[i].cycles > ans.cycles) ans.cycles = s->costs[i].cycles;
    }
    visit(s, &ans);
  }
}

/* ---- how well threads are used ---- */

/* How many of the tile's cycles in the compute set its workers execute, in cycles of one context
 * each. False if that is unknown, because the vertices were not measured. */
static bool active_cycles(const execution *x, const executable_work *work, double *active)
{
  const pop_executable *e = x->executable;
  const executable_measure *measure;
  const uint32_t *calls = execution_vertex_cycles(x, (size_t)(work - e->works), &measure);
  if (calls) {
    double sum = 0;
    for (uint32_t i = 0; i < measure->words; i++)
      sum += calls[i] > measure->overhead ? calls[i] - measure->overhead : 0;
    *active = sum / e->target.num_worker_contexts;
    return true;
  }
  if (e->target.type != POP_TARGET_IPU_MODEL || e->instrumentation.compute != INSTRUMENT_NOTHING)
    return false;
  *active = (double)estimated_active_cycles(e, work, execution_taken(x, (size_t)(work - e->works)));
  return true;
}

static bool active_compute(const simulation *s, const simulated_step *step, double *active)
{
  const pop_executable *e = s->x->executable;
  const executable_compute_set *set = &e->compute_sets[step->index];
  for (size_t w = 0, i = 0; w < set->num_works && i < step->num_costs; w++) {
    const executable_work *work = &e->works[set->first_work + w];
    if (work->tile != step->costs[i].tile) continue;
    double of_tile = 0;
    if (!active_cycles(s->x, work, &of_tile)) return false;
    *active += of_tile;
    i++;
  }
  return true;
}

/* ---- steps ---- */

static double share(double part, double whole)
{
  return whole > 0 ? part / whole : 0;
}

/* The guide's numbers for a step, from the costs of its tiles. */
static void measure_step(const simulation *s, simulated_step *step)
{
  uint64_t data = 0, most_data = 0;
  for (size_t i = 0; i < step->num_costs; i++) {
    const tile_cost *cost = &step->costs[i];
    uint64_t begin = step->begins[i], moved = cost->sent + cost->received;
    if (i == 0 || begin < step->from) step->from = begin;
    if (begin + cost->cycles > step->to) step->to = begin + cost->cycles;
    if (cost->cycles > step->cycles) step->cycles = cost->cycles;
    step->sum_cycles += cost->cycles;
    data += moved;
    if (moved > most_data) most_data = moved;
    step->total_data += cost->received;
    if (step->kind == EXECUTABLE_STEP_STREAM_COPY) step->total_data += cost->sent;
  }
  double sum = (double)step->sum_cycles, longest = (double)step->cycles;
  step->tile_balance = share(sum, longest * s->num_tiles);
  step->active_tile_balance = share(sum, longest * (double)step->num_costs);
  step->data_balance = share((double)data, (double)most_data * s->num_tiles);
  uint64_t overlap_end = s->latest < step->to ? s->latest : step->to;
  step->overlapped = overlap_end > step->from ? overlap_end - step->from : 0;
  if (step->kind == EXECUTABLE_STEP_EXECUTE) {
    step->knows_threads = active_compute(s, step, &step->active_compute);
    step->thread_balance = share(step->active_compute, sum);
  }
}

static void count_step(simulation_totals *totals, const simulated_step *step)
{
  switch (step->kind) {
  case EXECUTABLE_STEP_EXECUTE:
    totals->compute += step->sum_cycles;
    totals->active_compute += step->active_compute;
    totals->knows_threads = totals->knows_threads && step->knows_threads;
    return;
  case EXECUTABLE_STEP_EXCHANGE:
    totals->do_exchange += step->sum_cycles;
    return;
  case EXECUTABLE_STEP_GLOBAL_EXCHANGE:
    totals->global_exchange += step->sum_cycles;
    return;
  default:
    totals->stream_copy += step->sum_cycles;
    return;
  }
}

/* After an exchange with the host or between IPUs all tiles continue together. */
static void wait_for_end(simulation *s, uint64_t end)
{
  for (uint32_t t = 0; t < s->num_tiles; t++) {
    if (s->clocks[t] >= end) continue;
    s->totals->sync += end - s->clocks[t];
    s->clocks[t] = end;
  }
}

static size_t costs_of(const simulation *s, const executable_step *of)
{
  switch (of->kind) {
  case EXECUTABLE_STEP_EXECUTE:
    return execution_compute_costs(s->x, of->index, s->costs);
  case EXECUTABLE_STEP_EXCHANGE:
  case EXECUTABLE_STEP_GLOBAL_EXCHANGE:
    return execution_exchange_costs(s->x, of->index, s->costs);
  default:
    return execution_host_costs(s->x, of->index, s->costs);
  }
}

/* A tensor that the host reads while all tiles wait (a print). Nothing moves through the tiles. */
static void measure_host_view(const simulation *s, simulated_step *step)
{
  const pop_executable *e = s->x->executable;
  const executable_tensor *tensor = &e->tensors[e->events[step->index].tensor];
  uint64_t *bytes = pop_xcalloc(s->num_tiles, sizeof *bytes), most = 0;
  for (size_t i = 0; i < tensor->num_runs; i++) {
    const memory_range *run = &e->runs[tensor->first_run + i];
    bytes[run->tile] += run->bytes;
    step->total_data += run->bytes;
    if (bytes[run->tile] > most) most = bytes[run->tile];
  }
  step->data_balance = share((double)step->total_data, (double)most * s->num_tiles);
  free(bytes);
}

static bool is_host_view(const simulation *s, const simulated_step *step)
{
  if (step->kind != EXECUTABLE_STEP_STREAM_COPY) return false;
  executable_event_kind kind = s->x->executable->events[step->index].kind;
  return kind == EXECUTABLE_EVENT_PRINT || kind == EXECUTABLE_EVENT_ASSUME_EQUAL;
}

/* From the time when the first tile of a stream copy is done until the last one is. */
static void visit_end(const simulation *s, const simulated_step *copy)
{
  simulated_step end = {.kind = EXECUTABLE_STEP_STREAM_COPY,
                        .phase = PHASE_END,
                        .program = copy->program,
                        .name = copy->name,
                        .index = copy->index,
                        .from = copy->to,
                        .to = copy->to};
  for (size_t i = 0; i < copy->num_costs; i++) {
    uint64_t done = copy->begins[i] + copy->costs[i].cycles;
    if (done < end.from) end.from = done;
  }
  visit(s, &end);
}

/* The tile of a fault runs until the fault. It may already be in `costs`, if something was
 * measured. */
static void cut_at_fault(const simulation *s, simulated_step *step)
{
  size_t at = 0;
  while (at < step->num_costs && s->costs[at].tile < step->fault->tile) at++;
  if (at == step->num_costs || s->costs[at].tile != step->fault->tile) {
    for (size_t i = step->num_costs++; i > at; i--) s->costs[i] = s->costs[i - 1];
    s->costs[at] = (tile_cost){.tile = step->fault->tile};
  }
  s->costs[at].cycles = step->fault->cycles;
}

/* `fault` ended the run in this step; NULL if none did. */
static void take_step(simulation *s, uint32_t program, const execution_fault *fault)
{
  const executable_step *of = &s->x->executable->steps[program];
  bool computes = of->kind == EXECUTABLE_STEP_EXECUTE,
       inside = of->kind == EXECUTABLE_STEP_EXCHANGE,
       copies = of->kind == EXECUTABLE_STEP_STREAM_COPY;
  if (!computes && !copies) ans_ask(&s->acknowledged, of->position, s->clocks);
  if (!computes)
    synchronise(s, inside ? ISA_SYNC_INTERNAL : ISA_SYNC_EXTERNAL, EXECUTABLE_NONE,
                copies ? program : EXECUTABLE_NONE);
  if (!computes && !copies) visit_acknowledged(s, of->position);
  simulated_step step = {.kind = of->kind,
                         .phase = copies ? PHASE_MID : PHASE_WHOLE,
                         .program = program,
                         .name = of->name,
                         .index = of->index,
                         .costs = s->costs,
                         .begins = s->begins,
                         .num_costs = costs_of(s, of),
                         .fault = fault};
  if (fault && fault->kind && computes) cut_at_fault(s, &step);
  for (size_t i = 0; i < step.num_costs; i++) {
    uint64_t *clock = &s->clocks[s->costs[i].tile];
    s->begins[i] = *clock;
    *clock += s->costs[i].cycles;
  }
  if (step.num_costs == 0) step.from = step.to = latest_clock(s, 0, s->num_tiles);
  measure_step(s, &step);
  if (is_host_view(s, &step)) measure_host_view(s, &step);
  if (!computes && !inside) wait_for_end(s, step.to);
  count_step(s->totals, &step);
  visit(s, &step);
  if (copies) visit_end(s, &step);
  if (step.to > s->latest) s->latest = step.to;
}

static void take_traced(simulation *s, uint32_t traced, const execution_fault *fault)
{
  const pop_executable *e = s->x->executable;
  uint32_t program = traced & ~EXECUTION_BLOCK_END;
  const executable_step *of = &e->steps[program];
  switch (of->kind) {
  case EXECUTABLE_STEP_EXECUTE:
  case EXECUTABLE_STEP_EXCHANGE:
  case EXECUTABLE_STEP_GLOBAL_EXCHANGE:
  case EXECUTABLE_STEP_STREAM_COPY:
    take_step(s, program, fault);
    return;
  case EXECUTABLE_STEP_SYNC:
    synchronise(s, of->index, program, EXECUTABLE_NONE);
    return;
  case EXECUTABLE_STEP_ABORT:
    synchronise(s, ISA_SYNC_EXTERNAL, program, EXECUTABLE_NONE);
    return;
  case EXECUTABLE_STEP_BLOCK:
    if (s->visitor->block)
      s->visitor->block(s->visitor->context, of, latest_clock(s, 0, s->num_tiles),
                        !(traced & EXECUTION_BLOCK_END));
    return;
  default: /* WRITE_UNDEF; SET_CONSENSUS, an instruction of the control code */
    return;
  }
}

static void take_run(simulation *s, const execution_run *run)
{
  const simulation_visitor *v = s->visitor;
  if (v->run) v->run(v->context, run, latest_clock(s, 0, s->num_tiles), true);
  bool faulted = run->fault.message != NULL;
  for (size_t i = 0; i < run->num_traced; i++)
    take_traced(s, s->x->trace[run->first_traced + i],
                faulted && i + 1 == run->num_traced ? &run->fault : NULL);
  if (!faulted) synchronise(s, ISA_SYNC_EXTERNAL, EXECUTABLE_NONE, EXECUTABLE_NONE);
  if (v->run) v->run(v->context, run, latest_clock(s, 0, s->num_tiles), false);
}

void simulate(const execution *x, const simulation_visitor *visitor, simulation_totals *totals)
{
  uint32_t num_tiles = pop_target_num_tiles(&x->executable->target);
  *totals = (simulation_totals){.knows_threads = true};
  simulation s = {.x = x,
                  .visitor = visitor,
                  .totals = totals,
                  .num_tiles = num_tiles,
                  .clocks = pop_xcalloc(num_tiles, sizeof *s.clocks),
                  .costs = pop_xcalloc(num_tiles, sizeof *s.costs),
                  .begins = pop_xcalloc(num_tiles, sizeof *s.begins),
                  .acknowledged = ans_rows_new(x->executable)};
  for (size_t i = 0; i < x->num_runs; i++) take_run(&s, &x->runs[i]);
  totals->cycles = latest_clock(&s, 0, num_tiles);
  free(s.clocks);
  free(s.costs);
  free(s.begins);
  ans_rows_free(&s.acknowledged);
}
