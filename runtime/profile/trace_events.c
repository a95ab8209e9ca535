/* Executions as trace events, which Perfetto and chrome://tracing open: "Trace Event Format",
 * Google, JSON object format, complete events (ph X) and metadata (ph M).
 *
 * Time is in microseconds of the tiles' clock, in whole nanoseconds. Perfetto converts beginnings
 * and durations to nanoseconds separately (json_utils.cc, CoerceToTs). It drops an event that then
 * ends after the event around it.
 *
 *   process 0          "Engine": runs, blocks
 *   process 1 + n      "IPU n": thread 0 has its steps, syncs included; then a thread for each tile,
 *                      inside whose steps are the vertices of its supervisor, and one for each
 *                      worker that has vertices, if vertices were measured; then one for each group
 *                      of tiles that acknowledge the same syncs
 *   process 10000 + n  "IPU n, blocks": lightweight profiling, on the device's clock; a thread for
 *                      each tile, and one for what the tile lost, which overlaps the rest
 */
#include "profile/execution_traces.h"

#include "base/json.h"
#include "profile/simulation.h"
#include <math.h>
#include <stdlib.h>

enum { RUNS = 0, BLOCKS = 1, STEPS = 0 };

/* A block of a program. Perfetto expects outer events before inner ones. So blocks are noted, and
 * written when all have ended. */
typedef struct noted_block {
  const char *name;
  uint64_t from, to;
  size_t outside; /* the block around it, or NO_BLOCK */
  bool has_ended;
} noted_block;

#define NO_BLOCK SIZE_MAX

typedef struct event_writer {
  emitter to;
  const execution *x;
  double nanoseconds_per_cycle;
  uint64_t latest; /* end of the steps before */
  uint64_t run_begins;
  noted_block *blocks;
  size_t num_blocks, blocks_capacity, innermost; /* that is open, or NO_BLOCK */
  bool *has_thread;                              /* by tile and context */
  bool *has_ans;                                 /* by row of acknowledged syncs, then IPU */
} event_writer;

static uint32_t num_contexts(const event_writer *w)
{
  return w->x->executable->target.num_worker_contexts + 1;
}

static void put_name(const event_writer *w, const char *kind, int64_t process, int64_t thread,
                     const char *name)
{
  emit_begin_map(&w->to, NULL);
  emit_string(&w->to, "ph", "M");
  emit_string(&w->to, "name", kind);
  emit_int(&w->to, "pid", process);
  emit_int(&w->to, "tid", thread);
  emit_begin_map(&w->to, "args");
  emit_string(&w->to, "name", name);
  emit_end_map(&w->to);
  emit_end_map(&w->to);
}

static uint64_t nanoseconds(const event_writer *w, uint64_t cycle)
{
  return (uint64_t)((double)cycle * w->nanoseconds_per_cycle);
}

/* Rounded up if necessary, so that 1,000 times the result is not less than the nanoseconds. */
static double microseconds(uint64_t of)
{
  double made = (double)of / 1000;
  return made * 1000 < (double)of ? nextafter(made, INFINITY) : made;
}

/* Begins an event. Its arguments follow, then end_event. */
static void begin_event(const event_writer *w, const char *name, const char *category,
                        int64_t process, int64_t thread, uint64_t from, uint64_t to)
{
  emit_begin_map(&w->to, NULL);
  emit_string(&w->to, "ph", "X");
  emit_string(&w->to, "name", name);
  emit_string(&w->to, "cat", category);
  emit_int(&w->to, "pid", process);
  emit_int(&w->to, "tid", thread);
  uint64_t begin = nanoseconds(w, from);
  emit_double(&w->to, "ts", microseconds(begin));
  emit_double(&w->to, "dur", microseconds(nanoseconds(w, to) - begin));
  emit_begin_map(&w->to, "args");
  emit_int(&w->to, "cycles", (int64_t)(to - from));
}

static void end_event(const event_writer *w)
{
  emit_end_map(&w->to);
  emit_end_map(&w->to);
}

static int64_t thread_of(event_writer *w, uint32_t tile, uint32_t context)
{
  const pop_target *target = &w->x->executable->target;
  uint32_t of_ipu = tile % target->tiles_per_ipu;
  int64_t thread = 1 + (int64_t)of_ipu * num_contexts(w) + context;
  bool *has = &w->has_thread[(size_t)tile * num_contexts(w) + context];
  if (*has) return thread;
  *has = true;
  char name[64];
  if (context == 0)
    snprintf(name, sizeof name, "tile %u", tile);
  else
    snprintf(name, sizeof name, "tile %u, worker %u", tile, context - 1);
  put_name(w, "thread_name", 1 + tile / target->tiles_per_ipu, thread, name);
  return thread;
}

/* ---- vertices ---- */

/* Returns when it ends. `context`: 0 for the tile's supervisor, 1 + the number of a worker. */
static uint64_t put_vertex(event_writer *w, size_t work, uint32_t v, uint32_t context,
                           uint64_t begin, uint64_t cycles)
{
  const pop_executable *e = w->x->executable;
  const executable_vertex *vertex = &e->vertices[e->vertex_rows[e->works[work].row].first + v];
  uint32_t tile = e->works[work].tile;
  begin_event(w, e->vertex_types[vertex->type], "vertex", 1 + tile / e->target.tiles_per_ipu,
              thread_of(w, tile, context), begin, begin + cycles);
  if (vertex->number != EXECUTABLE_NONE)
    emit_int(&w->to, "vertex", e->works[work].first_number + (int64_t)vertex->number);
  end_event(w);
  return begin + cycles;
}

/* The vertices of a context, one after the other. Those of all workers come before a worker's own.
 * The few cycles of the worker stub between them are left out. Returns when the last one ends. */
static uint64_t put_context(event_writer *w, size_t work, uint32_t context, uint64_t begin)
{
  const pop_executable *e = w->x->executable;
  const executable_row *row = &e->vertex_rows[e->works[work].row];
  for (uint32_t v = 0; v < row->count; v++) {
    uint32_t on = e->vertices[row->first + v].worker;
    if (context && on == EXECUTABLE_ON_ALL_WORKERS)
      begin = put_vertex(w, work, v, context, begin,
                         execution_cycles_on_worker(w->x, work, v, context - 1));
    else if (on == (context ? context - 1 : EXECUTABLE_ON_SUPERVISOR))
      begin = put_vertex(w, work, v, context, begin, execution_cycles_of_vertex(w->x, work, v));
  }
  return begin;
}

/* The supervisor's vertices come first, then all workers start. */
static void put_vertices(event_writer *w, const simulated_step *step)
{
  const pop_executable *e = w->x->executable;
  const executable_compute_set *set = &e->compute_sets[step->index];
  for (size_t i = 0, c = 0; i < set->num_works && c < step->num_costs; i++) {
    size_t work = set->first_work + i;
    if (e->works[work].tile != step->costs[c].tile) continue;
    uint64_t begin = put_context(w, work, 0, step->begins[c]);
    for (uint32_t worker = 0; worker < e->target.num_worker_contexts; worker++)
      put_context(w, work, 1 + worker, begin);
    c++;
  }
}

/* ---- steps ---- */

static const char *name_of(const simulated_step *step)
{
  if (step->kind == EXECUTABLE_STEP_SYNC && step->phase == PHASE_WHOLE)
    return step->index == ISA_SYNC_INTERNAL ? "Internal Sync" : "External Sync";
  return *step->name ? step->name : simulated_step_type(step);
}

/* On each IPU that takes part. The time in which earlier steps still run is left to those. */
static void put_on_ipus(const event_writer *w, const simulated_step *step)
{
  const pop_target *target = &w->x->executable->target;
  uint64_t from = step->from > w->latest ? step->from : w->latest;
  bool *takes_part = pop_xcalloc(target->num_ipus, sizeof *takes_part);
  if (from > step->to) from = step->to;
  for (size_t i = 0; i < step->num_costs; i++)
    takes_part[step->costs[i].tile / target->tiles_per_ipu] = true;
  for (uint32_t ipu = 0; ipu < target->num_ipus; ipu++) {
    if (step->kind != EXECUTABLE_STEP_SYNC && !takes_part[ipu]) continue;
    begin_event(w, name_of(step), simulated_step_type(step), 1 + ipu, STEPS, from, step->to);
    if (step->program != EXECUTABLE_NONE) emit_int(&w->to, "program", step->program);
    if (step->kind != EXECUTABLE_STEP_SYNC) {
      emit_int(&w->to, "activeTiles", (int64_t)step->num_costs);
      emit_double(&w->to, "tileBalance", step->tile_balance);
    }
    end_event(w);
  }
  free(takes_part);
}

/* The tiles of an IPU that acknowledge the same syncs share a thread, because there may be many of
 * them. */
static void put_acknowledged(const event_writer *w, const simulated_step *step)
{
  const pop_target *target = &w->x->executable->target;
  int64_t thread = 1 + (int64_t)target->tiles_per_ipu * num_contexts(w) + step->index;
  for (size_t i = 0, end; i < step->num_costs; i = end) {
    uint32_t ipu = step->costs[i].tile / target->tiles_per_ipu;
    uint64_t from = UINT64_MAX, to = 0;
    for (end = i; end < step->num_costs && step->costs[end].tile / target->tiles_per_ipu == ipu;
         end++) {
      if (step->begins[end] < from) from = step->begins[end];
      if (step->begins[end] + step->costs[end].cycles > to)
        to = step->begins[end] + step->costs[end].cycles;
    }
    bool *has = &w->has_ans[(size_t)step->index * target->num_ipus + ipu];
    char name[48];
    snprintf(name, sizeof name, "SyncAns of %zu tiles", end - i);
    if (!*has) put_name(w, "thread_name", 1 + ipu, thread, name);
    *has = true;
    begin_event(w, simulated_step_type(step), simulated_step_type(step), 1 + ipu, thread, from, to);
    emit_int(&w->to, "syncs", step->syncs);
    emit_int(&w->to, "tiles", (int64_t)(end - i));
    end_event(w);
  }
}

static void put_step(void *context, const simulated_step *step)
{
  event_writer *w = context;
  const pop_target *target = &w->x->executable->target;
  if (step->phase == PHASE_ANS) {
    put_acknowledged(w, step);
    return;
  }
  put_on_ipus(w, step);
  for (size_t i = 0; i < step->num_costs; i++) {
    const tile_cost *cost = &step->costs[i];
    begin_event(w, name_of(step), executable_step_tag(step->kind),
                1 + cost->tile / target->tiles_per_ipu, thread_of(w, cost->tile, 0),
                step->begins[i], step->begins[i] + cost->cycles);
    if (step->kind != EXECUTABLE_STEP_EXECUTE) {
      emit_int(&w->to, "bytesSent", (int64_t)cost->sent);
      emit_int(&w->to, "bytesReceived", (int64_t)cost->received);
    }
    end_event(w);
  }
  if (step->kind == EXECUTABLE_STEP_EXECUTE &&
      w->x->executable->instrumentation.compute == INSTRUMENT_VERTICES)
    put_vertices(w, step);
  if (step->to > w->latest) w->latest = step->to;
}

static void put_run(void *context, const execution_run *run, uint64_t cycle, bool begins)
{
  event_writer *w = context;
  if (begins) {
    w->run_begins = cycle;
    w->innermost = NO_BLOCK;
    return;
  }
  const char *name = run->name ? run->name : w->x->executable->programs[run->program];
  begin_event(w, *name ? name : "run", "run", 0, RUNS, w->run_begins, cycle);
  emit_int(&w->to, "program", run->program);
  emit_int(&w->to, "deviceCycles", (int64_t)(run->to - run->from));
  end_event(w);
  if (!run->fault.message) return;
  begin_event(w, run->fault.message, "fault", 0, RUNS, cycle, cycle);
  end_event(w);
}

static void put_block(void *context, const executable_step *block, uint64_t cycle, bool begins)
{
  event_writer *w = context;
  if (begins) {
    pop_push(w->blocks, w->num_blocks, w->blocks_capacity,
             (noted_block){.name = block->name, .from = cycle, .outside = w->innermost});
    w->innermost = w->num_blocks - 1;
    return;
  }
  if (w->innermost == NO_BLOCK) return;
  noted_block *ended = &w->blocks[w->innermost];
  ended->to = cycle;
  ended->has_ended = true;
  w->innermost = ended->outside;
}

static void put_blocks(const event_writer *w)
{
  for (size_t i = 0; i < w->num_blocks; i++) {
    const noted_block *block = &w->blocks[i];
    if (!block->has_ended) continue;
    begin_event(w, block->name, "block", 0, BLOCKS, block->from, block->to);
    end_event(w);
  }
}

static void name_processes(const event_writer *w)
{
  put_name(w, "process_name", 0, 0, "Engine");
  put_name(w, "thread_name", 0, RUNS, "runs");
  put_name(w, "thread_name", 0, BLOCKS, "blocks");
  for (uint32_t ipu = 0; ipu < w->x->executable->target.num_ipus; ipu++) {
    char name[24];
    snprintf(name, sizeof name, "IPU %u", ipu);
    put_name(w, "process_name", 1 + ipu, 0, name);
    put_name(w, "thread_name", 1 + ipu, STEPS, "steps");
  }
}

enum { BLOCK_PROCESSES = 10000 };
_Static_assert(BLOCK_PROCESSES > POP_TARGET_MAX_IPUS, "IPUs have numbers of their own");

static void put_timed_blocks(const event_writer *w)
{
  const timed_blocks *t = &w->x->timed;
  const pop_executable *e = w->x->executable;
  timed_block *sorted = timed_blocks_sorted(t);
  uint32_t num_tiles = pop_target_num_tiles(&e->target), lost_of = UINT32_MAX;
  for (size_t i = 0; i < t->num_blocks; i++) {
    const timed_block *b = &sorted[i];
    int64_t process = BLOCK_PROCESSES + b->tile / e->target.tiles_per_ipu;
    bool lost = b->kind == TIMED_OVERFLOW || b->kind == TIMED_UNKNOWN;
    if (lost && lost_of != b->tile) {
      char thread[40];
      lost_of = b->tile;
      snprintf(thread, sizeof thread, "tile %u, lost", b->tile);
      put_name(w, "thread_name", process, (int64_t)num_tiles + b->tile, thread);
    }
    const char *name = timed_block_name(e, b);
    begin_event(w, *name ? name : timed_block_kind_name(b->kind), timed_block_kind_name(b->kind),
                process, (int64_t)b->tile + (lost ? num_tiles : 0), b->from, b->to);
    if (!b->has_end) emit_bool(&w->to, "endUnknown", true);
    end_event(w);
  }
  free(sorted);
}

static void name_block_processes(const event_writer *w)
{
  const pop_executable *e = w->x->executable;
  for (size_t i = 0; i < e->num_measures; i++) {
    const executable_measure *m = &e->measures[i];
    char name[40];
    if (m->kind != MEASURE_BLOCKS) continue;
    int64_t ipu = m->tile / e->target.tiles_per_ipu;
    snprintf(name, sizeof name, "IPU %lld, blocks", (long long)ipu);
    put_name(w, "process_name", BLOCK_PROCESSES + ipu, 0, name);
    snprintf(name, sizeof name, "tile %u", m->tile);
    put_name(w, "thread_name", BLOCK_PROCESSES + ipu, m->tile, name);
  }
}

void emit_trace_events(const emitter *to, const void *what)
{
  const execution *x = what;
  const pop_target *target = &x->executable->target;
  simulation_totals totals;
  event_writer w = {
      .to = *to, .x = x, .nanoseconds_per_cycle = 1e9 / target->clock_hz, .innermost = NO_BLOCK};
  w.has_thread = pop_xcalloc((size_t)pop_target_num_tiles(target) * num_contexts(&w), 1);
  w.has_ans = pop_xcalloc((x->executable->num_acknowledged + 1) * target->num_ipus, 1);
  emit_begin_map(to, NULL);
  emit_string(to, "displayTimeUnit", "ns");
  emit_begin_vector(to, "traceEvents");
  name_processes(&w);
  name_block_processes(&w);
  simulate(x, &(simulation_visitor){put_step, put_run, put_block, &w}, &totals);
  put_blocks(&w);
  put_timed_blocks(&w);
  emit_end_vector(to);
  emit_end_map(to);
  free(w.blocks);
  free(w.has_thread);
  free(w.has_ans);
}
