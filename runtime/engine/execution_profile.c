/* A compute set's cycles come from the machine's trace: on each tile from the first tile.run to the end of
 * the workers. The trace names the control table of the first worker, in which there is the state of its
 * first vertex, which the executable knows:
 *
 *     tile, table --(read once)--> vertex state --(executable)--> work: compute set on a tile
 */
#include "engine/execution_profile.h"

#include "profile/json.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_TRACED = 1 << 20 }; /* compute sets in the program traces of all runs */

/* Of a compute set on a tile. */
typedef struct work_cost {
  uint64_t last, total; /* cycles */
  uint64_t executions;
} work_cost;

typedef struct exchange_cost {
  uint64_t executions, cycles, bytes;
} exchange_cost;

typedef struct run_cost {
  size_t program;
  machine_counters before, after;
  size_t first_traced, num_traced; /* in `traced` */
} run_cost;

/* A slot of the table from (tile, control table) to work. */
typedef struct table_slot {
  uint64_t key; /* tile << 32 | address */
  size_t work;
  bool is_used;
} table_slot;

struct execution_profile {
  const pop_executable *executable;
  machine *machine;
  bool compute, control_flow, external_exchange;
  instrumentation_level level;
  work_cost *works;         /* by work of the executable */
  uint64_t *executions;     /* by compute set */
  exchange_cost *exchanges; /* by event of the executable */
  machine_counters before_exchange;
  run_cost *runs;
  size_t num_runs, runs_capacity;
  uint32_t *traced; /* compute sets in the order of their execution */
  size_t num_traced, traced_capacity;
  uint64_t num_dropped; /* that did not fit */
  table_slot *slots;
  size_t num_slots, num_used; /* a power of two, or 0 */
};

/* ---- which work? ---- */

static bool has_state(const pop_executable *e, const executable_work *work, uint32_t state)
{
  executable_row row = e->vertex_rows[work->row];
  for (size_t i = 0; i < row.count; i++)
    if (work->state_address + e->vertices[row.first + i].state_offset == state) return true;
  return false;
}

/* SIZE_MAX: none, which is a mistake of ours. */
static size_t find_work(const execution_profile *p, uint32_t tile, uint32_t table)
{
  const pop_executable *e = p->executable;
  uint32_t state = 0;
  pop_error *error = machine_read(p->machine, tile, table + 4, &state, sizeof state);
  pop_error_free(error); /* the state is 0 then */
  for (size_t s = 0; s < e->num_compute_sets; s++) {
    size_t low = e->compute_sets[s].first_work, end = low + e->compute_sets[s].num_works,
           high = end;
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (e->works[middle].tile < tile)
        low = middle + 1;
      else
        high = middle;
    }
    if (low < end && e->works[low].tile == tile && has_state(e, &e->works[low], state)) return low;
  }
  return SIZE_MAX;
}

static table_slot *find_slot(const execution_profile *p, uint64_t key)
{
  size_t at = (size_t)((key ^ key >> 32) * 0x9e3779b97f4a7c15u >> 20) & (p->num_slots - 1);
  while (p->slots[at].is_used && p->slots[at].key != key) at = (at + 1) & (p->num_slots - 1);
  return &p->slots[at];
}

static void grow_slots(execution_profile *p)
{
  table_slot *old = p->slots;
  size_t num_old = p->num_slots;
  p->num_slots = num_old ? 2 * num_old : 1024;
  p->slots = pop_xcalloc(p->num_slots, sizeof *p->slots);
  for (size_t i = 0; i < num_old; i++)
    if (old[i].is_used) *find_slot(p, old[i].key) = old[i];
  free(old);
}

static size_t work_of(execution_profile *p, uint32_t tile, uint32_t table)
{
  if (2 * p->num_used >= p->num_slots) grow_slots(p);
  uint64_t key = (uint64_t)tile << 32 | table;
  table_slot *slot = find_slot(p, key);
  if (!slot->is_used) {
    *slot = (table_slot){key, find_work(p, tile, table), true};
    p->num_used++;
  }
  return slot->work;
}

/* ---- counting ---- */

static uint32_t compute_set_of(const pop_executable *e, size_t work)
{
  size_t low = 0, high = e->num_compute_sets;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (e->compute_sets[middle].first_work <= work)
      low = middle;
    else
      high = middle;
  }
  return (uint32_t)low;
}

static void trace_compute_set(execution_profile *p, uint32_t set)
{
  if (p->num_traced == MAX_TRACED) {
    p->num_dropped++;
    return;
  }
  pop_push(p->traced, p->num_traced, p->traced_capacity, set);
}

static void note_event(void *context, const machine_trace_event *event)
{
  execution_profile *p = context;
  if (event->kind != MACHINE_TRACE_COMPUTE) return;
  size_t work = work_of(p, event->tile, event->argument);
  if (work == SIZE_MAX) return;
  work_cost *cost = &p->works[work];
  cost->last = event->to - event->from;
  cost->total += cost->last;
  cost->executions++;
  uint32_t set = compute_set_of(p->executable, work);
  if (cost->executions <= p->executions[set]) return; /* not the first tile that comes to it */
  p->executions[set]++;
  if (p->control_flow) trace_compute_set(p, set);
}

execution_profile *execution_profile_new(machine *m, const pop_executable *e,
                                         const run_options *options)
{
  bool all = options->instrument;
  execution_profile p = {.executable = e,
                         .machine = m,
                         .compute = all || options->instrument_compute,
                         .control_flow = all || options->instrument_control_flow,
                         .external_exchange = all || options->instrument_external_exchange,
                         .level = options->instrumentation_level};
  if (!p.compute && !p.control_flow && !p.external_exchange) return NULL;
  p.works = pop_xcalloc(e->num_works + 1, sizeof *p.works);
  p.executions = pop_xcalloc(e->num_compute_sets + 1, sizeof *p.executions);
  p.exchanges = pop_xcalloc(e->num_events + 1, sizeof *p.exchanges);
  execution_profile *profile = pop_xmalloc(sizeof *profile);
  *profile = p;
  if (p.compute || p.control_flow) machine_set_trace(m, note_event, profile);
  return profile;
}

void execution_profile_free(execution_profile *p)
{
  if (!p) return;
  machine_set_trace(p->machine, NULL, NULL);
  free(p->works);
  free(p->executions);
  free(p->exchanges);
  free(p->runs);
  free(p->traced);
  free(p->slots);
  free(p);
}

void execution_profile_reset(execution_profile *p)
{
  if (!p) return;
  const pop_executable *e = p->executable;
  memset(p->works, 0, e->num_works * sizeof *p->works);
  memset(p->executions, 0, e->num_compute_sets * sizeof *p->executions);
  memset(p->exchanges, 0, e->num_events * sizeof *p->exchanges);
  p->num_runs = p->num_traced = 0;
  p->num_dropped = 0;
}

void execution_profile_begin_run(execution_profile *p, size_t program)
{
  if (!p) return;
  pop_push(p->runs, p->num_runs, p->runs_capacity,
           (run_cost){.program = program,
                      .before = machine_get_counters(p->machine),
                      .first_traced = p->num_traced});
}

void execution_profile_end_run(execution_profile *p)
{
  if (!p || p->num_runs == 0) return;
  run_cost *run = &p->runs[p->num_runs - 1];
  run->after = machine_get_counters(p->machine);
  run->num_traced = p->num_traced - run->first_traced;
}

void execution_profile_begin_exchange(execution_profile *p)
{
  if (p) p->before_exchange = machine_get_counters(p->machine);
}

void execution_profile_end_exchange(execution_profile *p, size_t event)
{
  if (!p) return;
  machine_counters after = machine_get_counters(p->machine);
  p->exchanges[event].executions++;
  p->exchanges[event].cycles += after.cycles - p->before_exchange.cycles;
  p->exchanges[event].bytes += after.host_bytes - p->before_exchange.host_bytes;
}

/* ---- writing ---- */

static void put_runs(json_writer *json, const execution_profile *p)
{
  json_begin_list(json, "runs");
  for (size_t i = 0; i < p->num_runs; i++) {
    const run_cost *run = &p->runs[i];
    json_begin_object(json, NULL);
    json_put_number(json, "program", run->program);
    json_put_string(json, "name", p->executable->programs[run->program]);
    json_put_number(json, "cycles", run->after.cycles - run->before.cycles);
    json_put_number(json, "instructions", run->after.instructions - run->before.instructions);
    json_put_number(json, "supersteps", run->after.supersteps - run->before.supersteps);
    if (p->control_flow) {
      json_begin_list(json, "programTrace");
      for (size_t j = 0; j < run->num_traced; j++)
        json_put_number(json, NULL, p->traced[run->first_traced + j]);
      json_end_list(json);
    }
    json_end_object(json);
  }
  json_end_list(json);
  if (p->num_dropped) json_put_number(json, "droppedFromProgramTraces", p->num_dropped);
}

/* The last execution of a compute set: on each tile, or on the slowest one (of each IPU). */
static void put_cycles(json_writer *json, const execution_profile *p,
                       const executable_compute_set *set)
{
  const executable_work *works = p->executable->works + set->first_work;
  const work_cost *costs = p->works + set->first_work;
  const pop_target *target = &p->executable->target;
  bool by_tile = p->level == LEVEL_TILE;
  uint32_t group = p->level == LEVEL_IPU ? target->tiles_per_ipu : UINT32_MAX;
  json_begin_list(json, by_tile                 ? "cyclesByTile"
                        : p->level == LEVEL_IPU ? "cyclesByIPU"
                                                : "cycles");
  for (size_t i = 0; i < set->num_works;) {
    uint32_t first = by_tile ? works[i].tile : works[i].tile / group;
    uint64_t most = costs[i++].last;
    for (; !by_tile && i < set->num_works && works[i].tile / group == first; i++)
      if (costs[i].last > most) most = costs[i].last;
    json_begin_list(json, NULL);
    json_put_number(json, NULL, first);
    json_put_number(json, NULL, most);
    json_end_list(json);
  }
  json_end_list(json);
}

static void put_compute_sets(json_writer *json, const execution_profile *p)
{
  const pop_executable *e = p->executable;
  json_begin_list(json, "computeSets");
  for (size_t s = 0; s < e->num_compute_sets; s++) {
    json_begin_object(json, NULL);
    json_put_string(json, "name", e->compute_sets[s].name);
    json_put_number(json, "executions", p->executions[s]);
    if (p->compute) put_cycles(json, p, &e->compute_sets[s]);
    json_end_object(json);
  }
  json_end_list(json);
}

static void put_exchanges(json_writer *json, const execution_profile *p)
{
  const pop_executable *e = p->executable;
  json_begin_list(json, "hostExchanges");
  for (size_t i = 0; i < e->num_events; i++) {
    const executable_event *event = &e->events[i];
    if (event->kind != EXECUTABLE_EVENT_EXCHANGE) continue;
    json_begin_object(json, NULL);
    json_put_string(json, "name", event->name);
    json_begin_list(json, "with"); /* streams and remote buffers */
    for (size_t j = 0; j < event->num_windows; j++) {
      const executable_window *w = &e->windows[event->first_window + j];
      json_put_string(json, NULL,
                      w->remote ? e->remote_buffers[w->object].name : e->streams[w->object].name);
    }
    json_end_list(json);
    json_put_number(json, "executions", p->exchanges[i].executions);
    json_put_number(json, "cycles", p->exchanges[i].cycles);
    json_put_number(json, "bytes", p->exchanges[i].bytes);
    json_end_object(json);
  }
  json_end_list(json);
}

pop_error *execution_profile_write(FILE *stream, const void *profile)
{
  const execution_profile *p = profile;
  json_writer json = {.stream = stream};
  json_begin_object(&json, NULL);
  json_put_string(&json, "target", p->executable->target.name);
  put_runs(&json, p);
  if (p->compute || p->control_flow) put_compute_sets(&json, p);
  if (p->external_exchange) put_exchanges(&json, p);
  json_end_object(&json);
  return NULL;
}
