/* The machines of an engine: one, or one for each replica of a replicated graph. All are loaded
 * with the same images. Their memory differs only in the constants that hold the replica's number.
 *
 * Each machine runs by itself to its next host sync, or to where its tiles wait for the other
 * replicas. Then the others run to the same point. No clock shows that they run one after the
 * other: where they meet, all continue in the cycle in which the last one arrives.
 *
 * If poprun has started the process, the replicas are divided equally among ranks. A rank has
 * machines for its own replicas. The host's side is the same on all ranks: the same host program
 * makes the same calls, streams of all replicas are connected and called back, and reads get the
 * data of all replicas. So a program need not know of ranks. Ranks meet wherever replicas do: there
 * they find that all have reached the same event, or that one of them has failed.
 */
#include "engine/engine_private.h"
#include "engine/vertex_states.h"

#include <errno.h>
#include <populus/registers.h>
#include <stdlib.h>

FILE *engine_print_stream(const pop_engine *engine)
{
  return engine->print_stream ? engine->print_stream : stderr;
}

/* The initial floating-point control of workers, until a program changes it. */
static uint32_t float_control(const run_options *options)
{
  uint32_t exceptions = options->float_exceptions ? POP_FP_EXCEPTIONS : 0;
  uint32_t nan = options->nan_on_overflow ? POP_FP_NAN_ON_OVERFLOW : 0;
  return exceptions | nan | (options->stochastic_rounding ? POP_FP_STOCHASTIC_ROUNDING : 0);
}

/* The target with memory for tiles that are too full, as on an IPU Model. */
static pop_target target_with_overflow(const pop_executable *e)
{
  pop_target target = e->target;
  if (!e->out_of_memory) return target;
  for (size_t i = 0; i < e->num_memory_rows; i++)
    if (e->memory_rows[i].total_including_gaps > target.memory_bytes)
      target.memory_bytes = e->memory_rows[i].total_including_gaps;
  uint32_t over = target.memory_bytes % target.memory_element_bytes;
  if (over && target.memory_bytes <= UINT32_MAX - target.memory_base - target.memory_element_bytes)
    target.memory_bytes += target.memory_element_bytes - over;
  return target;
}

/* Makes the machine or the CPU that runs the executable. */
static pop_error *make_backend(pop_engine *engine, const run_options *options, replica *made)
{
  const pop_executable *e = engine->executable;
  engine->on_cpu = e->cpu != NULL;
  if (engine->on_cpu) {
    cpu *first = engine->replicas[engine->first].cpu;
    made->cpu = first ? cpu_new_replica(first) : cpu_new(e->cpu, options->machine.num_threads);
    return NULL;
  }
  machine_options machine = options->machine;
  machine.float_control = float_control(options);
  machine.lenient_loads = !options->strict_loads;
  pop_target target = target_with_overflow(e);
  POP_TRY(machine_create(&target, &machine, &made->machine));
  made->device_print = device_print_new(made->machine, pop_target_num_tiles(&e->target));
  return NULL;
}

/* Programs for several processes may name the replicas of each process: they must be right. */
static pop_error *check_share(const pop_engine *engine, const char *option, uint32_t said,
                              uint32_t is)
{
  if (said == NUMBER_AUTO || said == is) return NULL;
  return pop_error_new(
      POP_ERROR_RUNTIME,
      "%s is %u, where it would have to be %u: of the graph's %u replicas this process, one of %u, "
      "has %u, from replica %u on (poprun --num-instances starts as many processes as are asked "
      "for)",
      option, said, is, engine->executable->num_replicas,
      engine->ranks ? ranks_count(engine->ranks) : 1, engine->num_own, engine->first);
}

static pop_error *check_shares(const pop_engine *engine, const run_options *options)
{
  POP_TRY(check_share(engine, "target.firstRuntimeReplica", options->first_replica, engine->first));
  return check_share(engine, "target.numberRuntimeReplica", options->num_own_replicas,
                     engine->num_own);
}

/* Divides the replicas equally among ranks. */
static pop_error *divide_replicas(pop_engine *engine)
{
  uint32_t count, total = engine->executable->num_replicas;
  engine->num_own = total;
  if (total == 1) return NULL; /* each rank has all of it */
  POP_TRY(ranks_open(&engine->ranks));
  count = ranks_count(engine->ranks);
  engine->num_own = total / count;
  engine->first = ranks_own(engine->ranks) * engine->num_own;
  if (total % count == 0) return NULL;
  return pop_error_new(POP_ERROR_RUNTIME,
                       "a graph of %u replicas cannot be shared out to %u instances: poprun "
                       "--num-instances has to be a divisor of its replicas",
                       total, count);
}

bool replicas_has(const pop_engine *engine, uint32_t replica)
{
  return replica >= engine->first && replica - engine->first < engine->num_own;
}

pop_error *replicas_create(pop_engine *engine, const run_options *options)
{
  const pop_executable *e = engine->executable;
  POP_TRY(divide_replicas(engine));
  POP_TRY(check_shares(engine, options));
  engine->replicas = pop_xcalloc(e->num_replicas, sizeof *engine->replicas);
  for (uint32_t i = 0; i < e->num_replicas; i++) {
    replica *made = &engine->replicas[i];
    engine->num_replicas++;
    made->streams = streams_new(e);
    if (i > 0) streams_follow(made->streams, engine->replicas[0].streams);
    streams_limit_callbacks(made->streams, options->host_sync_timeout);
    streams_limit_lookahead(made->streams, options->max_lookahead);
    if (!replicas_has(engine, i)) continue;
    POP_TRY(make_backend(engine, options, made));
    made->remote_buffers = remote_buffers_new(e);
  }
  return NULL;
}

void replicas_free(pop_engine *engine)
{
  for (uint32_t i = engine->num_replicas; i-- > 0;) { /* the first one owns what is shared */
    streams_free(engine->replicas[i].streams);
    remote_buffers_free(engine->replicas[i].remote_buffers);
    device_print_free(engine->replicas[i].device_print);
    machine_free(engine->replicas[i].machine);
    cpu_free(engine->replicas[i].cpu);
  }
  free(engine->replicas);
  ranks_close(engine->ranks);
}

/* ---- loading ---- */

typedef struct tile_loading {
  pop_engine *engine;
  vertex_states states;
} tile_loading;

/* Called on several threads, for different tiles. */
static pop_error *load_tile(void *context, const pop_image *image)
{
  const tile_loading *loading = context;
  pop_engine *engine = loading->engine;
  const pop_executable *e = engine->executable;
  const tile_stack *stacks = e->stack_rows[e->tiles[image->tile].stacks].of;
  if (engine->ranks && ranks_count(engine->ranks) > 1) engine_note_image(engine, image);
  for (uint32_t i = engine->first; i < engine->first + engine->num_own; i++) {
    POP_TRY(machine_load(engine->replicas[i].machine, image, stacks));
    POP_TRY(vertex_states_set(&loading->states, engine->replicas[i].machine, image->tile));
  }
  return NULL;
}

static pop_error *load_tiles(pop_engine *engine)
{
  tile_loading loading = {.engine = engine};
  atomic_store(&engine->images, 0);
  vertex_states_find(engine->executable, &loading.states);
  pop_error *error =
      executable_visit_images(engine->executable, engine->num_threads, load_tile, &loading);
  vertex_states_free(&loading.states);
  return error;
}

static pop_error *write_indices(pop_engine *engine)
{
  const pop_executable *e = engine->executable;
  for (size_t i = 0; i < e->num_tensors; i++) {
    const executable_tensor *tensor = &e->tensors[i];
    if (tensor->kind != EXECUTABLE_REPLICA_INDEX) continue;
    if (executable_tensor_bytes(tensor) != sizeof(uint32_t))
      return pop_error_new(POP_ERROR_FILE_LOAD,
                           "the number of the replica, '%s', is no single word", tensor->name);
    for (uint32_t r = engine->first; r < engine->first + engine->num_own; r++)
      POP_TRY(engine_write_host_tensor(engine, r, tensor, &r));
  }
  return NULL;
}

static pop_error *load_own(pop_engine *engine)
{
  for (uint32_t i = 0; i < engine->num_replicas; i++) streams_restart(engine->replicas[i].streams);
  host_functions_restart(engine->host_functions);
  for (uint32_t i = engine->first; i < engine->first + engine->num_own; i++) {
    replica *r = &engine->replicas[i];
    if (engine->on_cpu)
      POP_TRY(cpu_load(r->cpu));
    else
      machine_reset(r->machine);
    POP_TRY(remote_buffers_restart(r->remote_buffers));
  }
  if (!engine->on_cpu) {
    POP_TRY(load_tiles(engine));
    POP_TRY(engine_set_estimates(engine));
  }
  return write_indices(engine);
}

pop_error *replicas_load(pop_engine *engine)
{
  return engine_check_same(engine, load_own(engine));
}

/* ---- running ---- */

pop_error *replicas_report_fault(pop_engine *engine, uint32_t replica, pop_error *error)
{
  engine->state = ENGINE_FAULTED;
  if (engine->on_cpu) return error;
  if (machine_get_fault(engine->replicas[replica].machine)->kind == MACHINE_FAULT_NONE)
    return error;
  pop_error_free(error);
  return engine_fault_report(engine, replica);
}

void replicas_stop(pop_engine *engine)
{
  for (uint32_t i = engine->first; i < engine->first + engine->num_own; i++)
    if (engine->on_cpu)
      cpu_stop(engine->replicas[i].cpu);
    else
      machine_stop(engine->replicas[i].machine);
}

void replicas_clear_stop(pop_engine *engine)
{
  for (uint32_t i = engine->first; i < engine->first + engine->num_own; i++)
    if (engine->on_cpu)
      cpu_clear_stop(engine->replicas[i].cpu);
    else
      machine_clear_stop(engine->replicas[i].machine);
}

/* What codelets have printed is written at the end of a run. */
static pop_error *check_printed(const pop_engine *engine)
{
  FILE *stream = engine->print_stream; /* standard error may be closed */
  if (!stream || (fflush(stream) == 0 && !ferror(stream))) return NULL;
  return pop_error_errno(errno, "cannot print what codelets print");
}

/* Runs each of this rank's replicas to where it waits for the host or for the others. */
static pop_error *run_each(pop_engine *engine, uint32_t answer, uint32_t *events)
{
  for (uint32_t i = 0; i < engine->num_own; i++) {
    uint32_t number = engine->first + i;
    replica *r = &engine->replicas[number];
    if (engine->on_cpu) {
      pop_error *error =
          cpu_run(r->cpu, engine_print_stream(engine), engine->host_sync_timeout, &events[i]);
      if (!error && events[i] == 0 && cpu_has_printed(r->cpu)) error = check_printed(engine);
      if (error) return replicas_report_fault(engine, number, error);
      continue;
    }
    pop_error *error = machine_run(r->machine, answer, &events[i]);
    bool printed = device_print_flush(r->device_print, engine->executable,
                                      engine_print_stream(engine), error || events[i] == 0);
    if (!error && printed) error = check_printed(engine);
    if (error) return replicas_report_fault(engine, number, error);
  }
  return NULL;
}

static void say_event(const pop_engine *engine, uint32_t event, char *text, size_t size)
{
  const pop_executable *e = engine->executable;
  if (event == 0)
    snprintf(text, size, "the end of the program");
  else if (event == MACHINE_REPLICA_SYNC)
    snprintf(text, size, "a copy between replicas");
  else
    snprintf(text, size, "'%s'", event <= e->num_events ? e->events[event - 1].name : "?");
}

/* Checks that replicas are at the same event: from `first` on, in steps of `step`. */
static pop_error *check_together(pop_engine *engine, const uint32_t *events, uint32_t count,
                                 uint32_t first, uint32_t step)
{
  for (uint32_t i = 1; i < count; i++) {
    if (events[i] == events[0]) continue;
    char one[128], other[128];
    say_event(engine, events[0], one, sizeof one);
    say_event(engine, events[i], other, sizeof other);
    engine->state = ENGINE_FAULTED;
    return pop_error_new(
        POP_ERROR_RUNTIME,
        "replicas have gone different ways: replica %u is at %s, replica %u at %s; "
        "what decides where the program goes on has to be the same in all of them, "
        "up to what they do together",
        first, one, first + i * step, other);
  }
  return NULL;
}

static machine_group new_group(const pop_engine *engine)
{
  machine **machines = pop_xcalloc(engine->num_own, sizeof(machine *));
  for (uint32_t i = 0; i < engine->num_own; i++)
    machines[i] = engine->replicas[engine->first + i].machine;
  return (machine_group){.own = machines,
                         .num_own = engine->num_own,
                         .first = engine->first,
                         .total = engine->num_replicas,
                         .ranks = engine->ranks,
                         .latest = engine->merged.latest};
}

static void free_group(machine_group *group)
{
  free((void *)group->own);
}

/* The state of this rank, whose first replica is at the event. */
static run_state own_state(const pop_engine *engine, uint32_t event)
{
  run_state state = {.event = event, .exchange = MACHINE_NO_EXCHANGE};
  if (engine->on_cpu) return state;
  if (event == MACHINE_REPLICA_SYNC) {
    machine_group group = new_group(engine);
    state.exchange = machine_cached_exchange(&group);
    free_group(&group);
  }
  state.counters = machine_get_counters(engine->replicas[engine->first].machine);
  for (uint32_t i = engine->first; i < engine->first + engine->num_own; i++) {
    const machine *m = engine->replicas[i].machine;
    uint64_t latest = machine_latest_clock(m);
    state.instructions += machine_get_counters(m).instructions;
    if (latest > state.latest) state.latest = latest;
  }
  return state;
}

static pop_error *merge_states(pop_engine *engine, const run_state *all, uint32_t count)
{
  uint32_t *events = pop_xcalloc(count, sizeof *events);
  engine->merged = all[0];
  for (uint32_t i = 0; i < count; i++) {
    events[i] = all[i].event;
    if (i > 0) engine->merged.instructions += all[i].instructions;
    if (all[i].exchange != all[0].exchange) engine->merged.exchange = MACHINE_NO_EXCHANGE;
    if (all[i].latest > engine->merged.latest) engine->merged.latest = all[i].latest;
  }
  pop_error *error = check_together(engine, events, count, 0, engine->num_own);
  free(events);
  return error;
}

/* All ranks meet here, each with its own error or none. */
static pop_error *synchronise_ranks(pop_engine *engine, pop_error *own, uint32_t event)
{
  run_state state = own_state(engine, event);
  if (!engine->ranks) {
    engine->merged = state;
    return own;
  }
  uint32_t count = ranks_count(engine->ranks);
  run_state *all = pop_xcalloc(count, sizeof *all);
  pop_error *error =
      ranks_gather(engine->ranks, "the run of a program", own, &state, sizeof state, all);
  if (error)
    engine->state = ENGINE_FAULTED;
  else
    error = merge_states(engine, all, count);
  free(all);
  return error;
}

static pop_error *sync_cpus(pop_engine *engine)
{
  cpu **cpus = pop_xcalloc(engine->num_own, sizeof *cpus);
  for (uint32_t i = 0; i < engine->num_own; i++) cpus[i] = engine->replicas[engine->first + i].cpu;
  const cpu_group group = {cpus, engine->num_own, engine->first, engine->num_replicas,
                           engine->ranks};
  pop_error *error = cpu_sync_replicas(&group);
  free(cpus);
  return error ? replicas_report_fault(engine, engine->first, error) : NULL;
}

static pop_error *sync_replicas(pop_engine *engine)
{
  if (engine->on_cpu) return sync_cpus(engine);
  uint32_t faulted = engine->num_own, again = engine->merged.exchange;
  machine_group group = new_group(engine);
  pop_error *error = again == MACHINE_NO_EXCHANGE ? machine_sync_replicas(&group, &faulted)
                                                  : machine_replay_exchange(&group, again);
  free_group(&group);
  if (!error) return NULL;
  engine->state = ENGINE_FAULTED;
  if (faulted == engine->num_own) return error; /* another rank's */
  return replicas_report_fault(engine, engine->first + faulted, error);
}

static void align_clocks(pop_engine *engine)
{
  for (uint32_t i = engine->first; i < engine->first + engine->num_own; i++)
    machine_wait_until(engine->replicas[i].machine, engine->merged.latest);
}

static pop_error *run_together(pop_engine *engine, pop_error *before, uint32_t answer,
                               uint32_t *events)
{
  for (;;) {
    if (!before) before = run_each(engine, answer, events);
    if (!before) before = check_together(engine, events, engine->num_own, engine->first, 1);
    POP_TRY(synchronise_ranks(engine, before, events[0]));
    if (events[0] != MACHINE_REPLICA_SYNC) break;
    POP_TRY(sync_replicas(engine));
  }
  if (engine->num_replicas > 1 && !engine->on_cpu) align_clocks(engine);
  return NULL;
}

machine_counters replicas_counters(const pop_engine *engine)
{
  machine_counters own = machine_get_counters(engine->replicas[engine->first].machine);
  if (engine->first == 0) return own;
  machine_counters first = engine->merged.counters;
  first.cycles = own.cycles;
  return first;
}

uint64_t replicas_instructions(const pop_engine *engine)
{
  if (engine->num_own < engine->num_replicas) return engine->merged.instructions;
  uint64_t instructions = 0;
  for (uint32_t r = 0; r < engine->num_replicas; r++)
    instructions += machine_get_counters(engine->replicas[r].machine).instructions;
  return instructions;
}

void replicas_start_on_cpu(pop_engine *engine, size_t program)
{
  for (uint32_t i = engine->first; i < engine->first + engine->num_own; i++)
    cpu_start(engine->replicas[i].cpu, program);
}

pop_error *replicas_run(pop_engine *engine, pop_error *before, uint32_t answer, uint32_t *event)
{
  uint32_t *events = pop_xcalloc(engine->num_own, sizeof *events);
  pop_error *error = run_together(engine, before, answer, events);
  *event = events[0];
  free(events);
  return error;
}
