/* From sync to sync: every tile's supervisor runs until it asks for a sync. Its workers run when it
 * waits for them. When all tiles have asked, the sync is resolved.
 *
 * Only the clocks show that tiles and contexts work at the same time. On the host tiles run on any
 * thread in any order (base/thread_pool.h). The workers of a tile run one after another, when the
 * supervisor waits for them or asks for a sync (which waits for them, too). No tile sees another's
 * memory before an exchange, so the order of tiles cannot be observed; within a tile the order
 * makes races deterministic.
 *
 * Faults do not stop the superstep: the other tiles finish it. So the contents of memory and the
 * number of faulted tiles do not depend on the order either. */
#include "control.h"
#include "guard.h"

#include <populus/arena.h>

#include <assert.h>
#include <fenv.h>
#include <stdio.h>
#include <string.h>

void superstep_trace(machine *m, machine_trace_kind kind, uint32_t tile, uint32_t argument,
                     uint64_t from, uint64_t to, uint64_t bytes)
{
  if (!m->trace) return;
  machine_trace_event event = {
      .kind = kind, .tile = tile, .argument = argument, .from = from, .to = to, .bytes = bytes};
  m->trace(m->trace_context, &event);
}

void superstep_fault(machine *m, const machine_fault *fault)
{
  if (m->fault.kind == MACHINE_FAULT_NONE) {
    m->fault = *fault;
    m->fault.superstep = m->supersteps;
    m->fault.num_faults = 0;
  }
  m->fault.num_faults++;
}

machine_fault superstep_supervisor_fault(const machine *m, const tile *t, machine_fault_kind kind,
                                         uint32_t pc)
{
  return (machine_fault){.kind = kind,
                         .tile = t->number,
                         .context = MACHINE_SUPERVISOR,
                         .pc = pc,
                         .word = memory_word(m, t, pc),
                         .cycle = m->at.clocks[t->number]};
}

/* Contexts start with all registers 0. For one without a known stack, sp is a register like any
 * other. */
static void start_context(const tile *t, context *c, uint32_t number, uint32_t pc, uint64_t clock)
{
  *c = (context){.number = number,
                 .float_control = number == MACHINE_SUPERVISOR ? 0 : t->float_initial,
                 .pc = pc,
                 .clock = clock,
                 .readable = t->readable,
                 .writable = t->writable,
                 .stack = t->stacks[number].size ? t->stacks[number] : t->writable};
}

void superstep_start_supervisor(machine *m, tile *t, uint32_t entry)
{
  start_context(t, &t->supervisor, MACHINE_SUPERVISOR, entry, 0);
  m->at.clocks[t->number] = 0;
  m->at.waiting[t->number] = STOP_SYNC;
  m->at.acks[t->number].open = 0;
}

/* In slices, so that between two of them the interpreter notices that the run has been stopped. */
static stop interpret_all(machine *m, tile *t, context *c)
{
  enum { SLICE_SLOTS = 4000000 };
  stop why;
  do {
    why = interpret(m, t, c, SLICE_SLOTS);
  } while (why == STOP_SLICE);
  return why;
}

static stop execute(machine *m, tile *t, context *c)
{
  stop (*run)(machine *, tile *, context *) = m->translation ? translate_run : interpret_all;
  return watches_calls(m, t) ? estimate_run(m, t, c, run) : run(m, t, c);
}

/* Runs the started workers, with clocks relative to `base`, and moves *clock to the last one's end.
 * False, and the supervisor's fault, if one faulted. */
static bool run_workers(machine *m, tile *t, const worker_start *starts, uint64_t base,
                        uint64_t *clock)
{
  uint64_t from = UINT64_MAX, to = *clock;
  const worker_start *first = NULL;
  for (uint32_t i = 0; i < m->target.num_worker_contexts; i++) {
    const worker_start *start = &starts[i];
    if (!start->started) continue;
    context worker;
    start_context(t, &worker, i, start->pc, base + start->clock);
    worker.run_argument = worker.x[10] = start->argument;
    worker.vertex_state = t->supervisor.vertex_state;
    worker.vertex_entry = t->supervisor.vertex_entry;
    stop why = execute(m, t, &worker);
    assert(why == STOP_EXIT || why == STOP_FAULT); /* other stops are the supervisor's only */
    if (why == STOP_FAULT) {
      t->supervisor.fault = worker.fault;
      return false;
    }
    if (!first) first = start;
    if (base + start->clock < from) from = base + start->clock;
    if (worker.clock > to) to = worker.clock;
  }
  if (first && m->trace)
    pop_push(t->events, t->num_events, t->events_capacity,
             (machine_trace_event){.kind = MACHINE_TRACE_COMPUTE,
                                   .tile = t->number,
                                   .argument = first->argument,
                                   .from = from,
                                   .to = to});
  *clock = to;
  return true;
}

/* The supervisor has stopped: notes what it asks for. */
static void note_stop(machine *m, const tile *t, stop why)
{
  const context *c = &t->supervisor;
  uint32_t i = t->number;
  assert(why == STOP_FAULT || why >= STOP_SYNC);
  assert(why == STOP_FAULT || c->clock >= m->at.clocks[i]); /* no clock goes back */
  m->at.clocks[i] = c->clock;
  m->at.waiting[i] = (uint8_t)why;
  m->at.stop_argument[i] = c->sync_argument;
  m->at.host_codes[i] = why == STOP_HOST_SYNC ? c->host_code : 0;
}

/* Runs a tile until its supervisor asks for a sync. Returns the instructions that this took.
 * Several threads do this, each for another tile. */
static uint64_t run_tile_inside(void *machine_context, uint32_t number)
{
  machine *m = machine_context;
  tile *t = &m->tiles[number];
  context *supervisor = &t->supervisor;
  uint64_t before = t->instructions;
  stop why;
  supervisor->clock = m->at.clocks[number];
  supervisor->vertex_state = supervisor->vertex_entry = 0;
  do {
    why = execute(m, t, supervisor);
    if (!run_workers(m, t, t->workers, 0, &supervisor->clock)) why = STOP_FAULT;
    memset(t->workers, 0, sizeof t->workers);
  } while (why == STOP_WAIT);
  note_stop(m, t, why);
  return t->instructions - before;
}

static uint64_t run_tile(void *machine_context, uint32_t number)
{
  machine *m = machine_context;
  if (m->at.acks[number].open) return 0; /* it waits for syncs that it has acknowledged */
  if (!m->translation) return run_tile_inside(m, number);
  return guard_call(m, &m->tiles[number], run_tile_inside, m, number);
}

typedef struct job_list {
  machine *m;
  const control_job *jobs;
} job_list;

static uint64_t run_job_inside(void *list, uint32_t number)
{
  machine *m = ((const job_list *)list)->m;
  const control_job *job = &((const job_list *)list)->jobs[number];
  if (!job->group) return run_tile_inside(m, job->tile);
  tile *t = &m->tiles[job->tile];
  uint64_t before = t->instructions, base;
  const worker_start *starts = control_starts(m, job, &base);
  t->supervisor.vertex_state = t->supervisor.vertex_entry = 0;
  if (!run_workers(m, t, starts, base, &m->at.clocks[job->tile]))
    m->at.waiting[job->tile] = STOP_FAULT;
  return t->instructions - before;
}

/* Runs a tile or, where its supervisor is part of a group, its workers. */
static uint64_t run_job(void *list, uint32_t number)
{
  const job_list *jobs = list;
  if (!jobs->m->translation) return run_job_inside(list, number);
  tile *t = &jobs->m->tiles[jobs->jobs[number].tile];
  return guard_call(jobs->m, t, run_job_inside, list, number);
}

/* Runs all tiles up to their sync. */
static void run_supervisors(machine *m)
{
  enum { TAKE = 4 };
  if (m->options.plain) {
    thread_pool_run(m->pool, &(thread_pool_work){run_tile, m, m->num_tiles, TAKE});
    return;
  }
  job_list list = {.m = m};
  control_begin(m);
  for (uint32_t count; (count = control_advance(m, &list.jobs)) != 0;) {
    thread_pool_run(m->pool, &(thread_pool_work){run_job, &list, count, TAKE});
    for (uint32_t i = 0; i < count; i++)
      if (list.jobs[i].group && m->at.waiting[list.jobs[i].tile] == STOP_FAULT)
        control_remove_tile(m, list.jobs[i].tile);
  }
  control_merge_groups(m);
}

/* Reports the tile's trace events and fault, in the order of tiles. */
static void report_tile(machine *m, uint32_t number)
{
  tile *t = &m->tiles[number];
  for (size_t i = 0; m->trace && i < t->num_events; i++) m->trace(m->trace_context, &t->events[i]);
  t->num_events = 0;
  if (m->at.waiting[number] == STOP_FAULT) superstep_fault(m, &t->supervisor.fault);
}

/* The clock at which the tile has asked for the next sync. */
static uint64_t request_clock(const machine *m, uint32_t tile)
{
  const tile_acks *acks = &m->at.acks[tile];
  return acks->open ? acks->clock : m->at.clocks[tile];
}

static uint64_t latest_clock(const machine *m, uint32_t first, uint32_t count)
{
  uint64_t latest = 0;
  for (uint32_t i = first; i < first + count; i++)
    if (request_clock(m, i) > latest) latest = request_clock(m, i);
  return latest;
}

/* Releases a tile from a sync. A tile that has acknowledged more syncs waits on. */
static void release_tile(machine *m, uint32_t tile, uint64_t end)
{
  tile_acks *acks = &m->at.acks[tile];
  bool ran_on = acks->open != 0;
  if (ran_on && --acks->open) return;
  if (!ran_on || m->at.clocks[tile] < end) m->at.clocks[tile] = end;
}

/* Releases the tiles `cycles` after the last of them has asked. */
static void release_tiles(machine *m, uint32_t first, uint32_t count, machine_trace_kind kind,
                          uint32_t zone, uint32_t cycles)
{
  uint64_t requested = latest_clock(m, first, count), end = requested + cycles;
  assert(end >= requested && first + count <= m->num_tiles);
  for (uint32_t i = first; i < first + count; i++) release_tile(m, i, end);
  atomic_store_explicit(&m->passed, end, memory_order_relaxed);
  superstep_trace(m, kind, first, zone, requested, end, 0);
}

/* Each IPU goes on when its own tiles have asked: between external syncs IPUs do not wait for each
 * other. They are run side by side here, but that shows in no clock. */
static void release_ipus(machine *m)
{
  uint32_t per_ipu = m->target.tiles_per_ipu;
  for (uint32_t first = 0; first < m->num_tiles; first += per_ipu)
    release_tiles(m, first, per_ipu, MACHINE_TRACE_SYNC, ISA_SYNC_INTERNAL, m->target.sync_cycles);
  m->supersteps++;
}

static void release_all(machine *m, machine_trace_kind kind)
{
  release_tiles(m, 0, m->num_tiles, kind, ISA_SYNC_EXTERNAL, m->target.host_sync_cycles);
  m->supersteps++;
}

/* Appends the numbers of the tiles that (do not) wait for the host: "0-3, 7 and 12 more". */
static void list_tiles(const machine *m, bool for_host, char *text, size_t size)
{
  size_t used = 0;
  uint32_t left = 0;
  enum { ROOM_FOR_THE_REST = 24, LONGEST_RANGE = 16 };
  text[0] = '\0';
  for (uint32_t first = 0, last; first < m->num_tiles; first = last + 1) {
    last = first;
    if ((m->at.waiting[first] == STOP_HOST_SYNC) != for_host) continue;
    while (last + 1 < m->num_tiles && (m->at.waiting[last + 1] == STOP_HOST_SYNC) == for_host)
      last++;
    if (left || used + LONGEST_RANGE + ROOM_FOR_THE_REST > size) {
      left += last - first + 1;
      continue;
    }
    used += (size_t)snprintf(text + used, size - used, first == last ? "%s%u" : "%s%u-%u",
                             used ? ", " : "", first, last);
  }
  if (left) snprintf(text + used, size - used, " and %u more", left);
}

/* Does the tile wait for a sync of this zone, and for no exchange? */
static bool wants_sync(const machine *m, uint32_t tile, uint32_t zone)
{
  return (m->at.waiting[tile] == STOP_SYNC || m->at.waiting[tile] == STOP_ANS) &&
         m->at.stop_argument[tile] == zone;
}

static bool wants_replicas(const machine *m, uint32_t tile)
{
  return m->at.waiting[tile] == STOP_REPLICA_EXCHANGE || wants_sync(m, tile, ISA_SYNC_REPLICAS);
}

static bool wants_external_sync(const machine *m, uint32_t tile)
{
  return m->at.waiting[tile] == STOP_GLOBAL_EXCHANGE || wants_sync(m, tile, ISA_SYNC_EXTERNAL);
}

/* The fault of a tile that waits for others in vain. */
static machine_fault waiting_fault(machine *m, uint32_t number)
{
  control_write_back(m);
  const tile *t = &m->tiles[number];
  return superstep_supervisor_fault(m, t, MACHINE_FAULT_EXCHANGE_ERROR, t->supervisor.pc - 4);
}

/* Some tiles wait for a sync. The others wait for the host and never ask for it. */
static void fault_mixed_syncs(machine *m)
{
  uint32_t first = 0;
  while (m->at.waiting[first] == STOP_HOST_SYNC) first++;
  machine_fault fault = waiting_fault(m, first);
  char inside[56], outside[56];
  list_tiles(m, false, inside, sizeof inside);
  list_tiles(m, true, outside, sizeof outside);
  snprintf(fault.detail, sizeof fault.detail, "tiles %s wait for a sync, tiles %s for the host",
           inside, outside);
  superstep_fault(m, &fault);
}

/* Some tiles ask for an external sync, others for an internal one or an exchange. */
static void fault_mixed_zones(machine *m)
{
  uint32_t first = 0;
  while (!wants_external_sync(m, first) && !wants_replicas(m, first)) first++;
  machine_fault fault = waiting_fault(m, first);
  snprintf(fault.detail, sizeof fault.detail, "waits for an external sync, other tiles do not");
  superstep_fault(m, &fault);
}

static void resolve_host_sync(machine *m, uint32_t *event)
{
  *event = m->at.stop_argument[0];
  for (uint32_t i = 1; i < m->num_tiles; i++) {
    uint32_t other = m->at.stop_argument[i];
    if (other == *event) continue;
    machine_fault fault = waiting_fault(m, i);
    fault.address = other;
    snprintf(fault.detail, sizeof fault.detail, "reports %u to the host where tile 0 reports %u",
             other, *event);
    superstep_fault(m, &fault);
    return;
  }
  release_all(m, MACHINE_TRACE_HOST_SYNC);
}

uint64_t machine_latest_clock(const machine *m)
{
  return latest_clock(m, 0, m->num_tiles);
}

void superstep_release_replicas(const machine_group *group)
{
  uint64_t end = group->latest + group->own[0]->target.host_sync_cycles;
  for (uint32_t r = 0; r < group->num_own; r++) {
    machine *m = group->own[r];
    superstep_trace(m, MACHINE_TRACE_SYNC, 0, ISA_SYNC_REPLICAS, machine_latest_clock(m), end, 0);
    for (uint32_t i = 0; i < m->num_tiles; i++) release_tile(m, i, end);
    m->supersteps++;
  }
}

void machine_wait_until(machine *m, uint64_t cycle)
{
  for (uint32_t i = 0; i < m->num_tiles; i++)
    if (m->at.clocks[i] < cycle) m->at.clocks[i] = cycle;
}

/* All tiles wait for a sync or an exchange, and should do so in one zone. `external`: how many wait
 * for an external one. */
static void resolve_sync(machine *m, bool exchanging, uint32_t external)
{
  if (external && external < m->num_tiles) {
    fault_mixed_zones(m);
  } else if (external) {
    release_all(m, MACHINE_TRACE_SYNC);
    if (exchanging) global_exchange_run(m);
  } else {
    release_ipus(m);
    if (exchanging) exchange_run(m);
  }
}

/* One superstep: all tiles up to their sync, the sync, the exchange. True: all wait for the host,
 * or for the replicas. */
static bool run_superstep(machine *m, uint32_t *event)
{
  uint32_t for_host = 0, external = 0, for_replicas = 0;
  bool exchanging = false;
  run_supervisors(m);
  for (uint32_t i = 0; i < m->num_tiles; i++) {
    report_tile(m, i);
    for_host += m->at.waiting[i] == STOP_HOST_SYNC;
    exchanging |= m->at.waiting[i] == STOP_EXCHANGE || m->at.waiting[i] == STOP_GLOBAL_EXCHANGE;
    external += wants_external_sync(m, i);
    for_replicas += wants_replicas(m, i);
  }
  estimate_extend_limit(m);
  if (m->fault.kind != MACHINE_FAULT_NONE) return false;
  if (for_host == m->num_tiles) {
    resolve_host_sync(m, event);
    return true;
  }
  if (for_replicas == m->num_tiles) {
    *event = MACHINE_REPLICA_SYNC;
    return true;
  }
  if (for_host || for_replicas) {
    if (for_host)
      fault_mixed_syncs(m);
    else
      fault_mixed_zones(m);
    return false;
  }
  resolve_sync(m, exchanging, external);
  return false;
}

static pop_error *check_runnable(const machine *m)
{
  if (m->fault.kind != MACHINE_FAULT_NONE)
    return pop_error_new(POP_ERROR_RUNTIME,
                         "the machine has stopped with %s on tile %u: load it anew to run again",
                         machine_fault_name(m->fault.kind), m->fault.tile);
  if (m->num_loaded == m->num_tiles) return NULL;
  uint32_t missing = 0;
  while (m->tiles[missing].loaded) missing++;
  return pop_error_new(POP_ERROR_FILE_LOAD,
                       "%u of the %u tiles of target %s have no image; the first is tile %u",
                       m->num_tiles - m->num_loaded, m->num_tiles, m->target.name, missing);
}

pop_error *superstep_error(const machine *m)
{
  const machine_fault *f = &m->fault;
  char context[16] = "supervisor";
  if (f->context != MACHINE_SUPERVISOR) snprintf(context, sizeof context, "worker %u", f->context);
  pop_error_code code = f->kind == MACHINE_FAULT_INTERNAL ? POP_ERROR_INTERNAL : POP_ERROR_RUNTIME;
  return pop_error_new(code, "tile %u, %s: %s at pc 0x%x, address 0x%x%s%s", f->tile, context,
                       machine_fault_name(f->kind), f->pc, f->address, f->detail[0] ? ": " : "",
                       f->detail);
}

pop_error *machine_run(machine *m, uint32_t answer, uint32_t *event)
{
  POP_TRY(check_runnable(m));
  if (m->started && m->at.waiting[0] == STOP_HOST_SYNC) control_answer(m, answer);
  m->started = true;
  uint64_t limit = UINT64_MAX, latest = latest_clock(m, 0, m->num_tiles);
  uint64_t most = m->options.max_cycles_per_run;
  if (most && __builtin_add_overflow(latest, most, &limit)) limit = UINT64_MAX;
  atomic_store(&m->limit, limit);
  /* machine_stop was called before, or meanwhile */
  if (atomic_load(&m->stopped)) atomic_store(&m->limit, 0);
  fenv_t host;
  feholdexcept(&host);
  fesetenv(FE_DFL_ENV); /* to nearest, subnormals kept: float.h relies on that */
  bool done = false;
  translate_open(m);
  while (!done && m->fault.kind == MACHINE_FAULT_NONE) done = run_superstep(m, event);
  translate_close(m);
  fesetenv(&host);
  return m->fault.kind == MACHINE_FAULT_NONE ? NULL : superstep_error(m);
}

void machine_stop(machine *m)
{
  atomic_store(&m->stopped, true);
  atomic_store(&m->limit, 0);
}

void machine_clear_stop(machine *m)
{
  atomic_store(&m->stopped, false);
}
