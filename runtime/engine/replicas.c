/* The machines of an engine: one, or as many as a replicated graph has replicas. All are loaded with the
 * same images; but for the constants that say which replica it is, they hold the same.
 *
 * Each machine runs by itself to its next host sync, or to where its tiles wait for the other replicas; the
 * others then come to the same. That they run one after the other here shows in no clock: where they meet,
 * all go on in the cycle in which the last one is there.
 */
#include "engine/engine_private.h"
#include "engine/vertex_states.h"

#include <populus/registers.h>
#include <stdlib.h>

FILE *engine_print_stream(const pop_engine *engine)
{
  return engine->print_stream ? engine->print_stream : stderr;
}

/* How workers compute with floating-point numbers until a program says otherwise. */
static uint32_t float_control(const run_options *options)
{
  uint32_t exceptions = options->float_exceptions ? POP_FP_EXCEPTIONS : 0;
  uint32_t nan = options->nan_on_overflow ? POP_FP_NAN_ON_OVERFLOW : 0;
  return exceptions | nan | (options->stochastic_rounding ? POP_FP_STOCHASTIC_ROUNDING : 0);
}

/* An IPU Model has memory for what is too large for its tiles. */
static pop_target target_with_room(const pop_executable *e)
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

/* What runs the executable. */
static pop_error *make_backend(pop_engine *engine, const run_options *options, replica *made)
{
  const pop_executable *e = engine->executable;
  engine->on_cpu = e->cpu != NULL;
  if (engine->on_cpu) {
    made->cpu = engine->num_replicas ? cpu_new_replica(engine->replicas[0].cpu)
                                     : cpu_new(e->cpu, options->machine.num_threads);
    return NULL;
  }
  machine_options machine = options->machine;
  machine.float_control = float_control(options);
  machine.lenient_loads = !options->strict_loads;
  pop_target target = target_with_room(e);
  POP_TRY(machine_create(&target, &machine, &made->machine));
  made->device_print = device_print_new(made->machine, pop_target_num_tiles(&e->target));
  return NULL;
}

pop_error *replicas_create(pop_engine *engine, const run_options *options)
{
  const pop_executable *e = engine->executable;
  engine->replicas = pop_xcalloc(e->num_replicas, sizeof *engine->replicas);
  for (uint32_t i = 0; i < e->num_replicas; i++) {
    replica *made = &engine->replicas[i];
    POP_TRY(make_backend(engine, options, made));
    engine->num_replicas++;
    made->streams = streams_new(e);
    if (i > 0) streams_follow(made->streams, engine->replicas[0].streams);
    made->remote_buffers = remote_buffers_new(e);
    streams_limit_callbacks(made->streams, options->host_sync_timeout);
    streams_limit_lookahead(made->streams, options->max_lookahead);
  }
  return NULL;
}

void replicas_free(pop_engine *engine)
{
  for (uint32_t i = engine->num_replicas; i-- > 0;) { /* the first has what is shared */
    streams_free(engine->replicas[i].streams);
    remote_buffers_free(engine->replicas[i].remote_buffers);
    device_print_free(engine->replicas[i].device_print);
    machine_free(engine->replicas[i].machine);
    cpu_free(engine->replicas[i].cpu);
  }
  free(engine->replicas);
}

/* ---- loading ---- */

typedef struct tile_loading {
  const pop_engine *engine;
  vertex_states states;
} tile_loading;

/* By several threads, each another tile. */
static pop_error *load_tile(void *context, const pop_image *image)
{
  const tile_loading *loading = context;
  const pop_engine *engine = loading->engine;
  const pop_executable *e = engine->executable;
  const tile_stack *stacks = e->stack_rows[e->tiles[image->tile].stacks].of;
  for (uint32_t i = 0; i < engine->num_replicas; i++) {
    POP_TRY(machine_load(engine->replicas[i].machine, image, stacks));
    POP_TRY(vertex_states_set(&loading->states, engine->replicas[i].machine, image->tile));
  }
  return NULL;
}

static pop_error *load_tiles(pop_engine *engine)
{
  tile_loading loading = {.engine = engine};
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
    for (uint32_t r = 0; r < engine->num_replicas; r++)
      POP_TRY(engine_write_host_tensor(engine, r, tensor, &r));
  }
  return NULL;
}

pop_error *replicas_load(pop_engine *engine)
{
  for (uint32_t i = 0; i < engine->num_replicas; i++) {
    replica *r = &engine->replicas[i];
    if (engine->on_cpu)
      POP_TRY(cpu_load(r->cpu));
    else
      machine_reset(r->machine);
    streams_restart(r->streams);
    POP_TRY(remote_buffers_restart(r->remote_buffers));
  }
  if (!engine->on_cpu) {
    POP_TRY(load_tiles(engine));
    POP_TRY(engine_set_estimates(engine));
  }
  return write_indices(engine);
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
  for (uint32_t i = 0; i < engine->num_replicas; i++)
    if (engine->on_cpu)
      cpu_stop(engine->replicas[i].cpu);
    else
      machine_stop(engine->replicas[i].machine);
}

void replicas_go(pop_engine *engine)
{
  for (uint32_t i = 0; i < engine->num_replicas; i++)
    if (engine->on_cpu)
      cpu_go(engine->replicas[i].cpu);
    else
      machine_go(engine->replicas[i].machine);
}

/* Each of them to where it waits for the host or for the others. */
static pop_error *run_each(pop_engine *engine, uint32_t answer, uint32_t *events)
{
  for (uint32_t i = 0; i < engine->num_replicas; i++) {
    replica *r = &engine->replicas[i];
    events[i] = 0;
    if (engine->on_cpu) {
      pop_error *error =
          cpu_run(r->cpu, engine_print_stream(engine), engine->host_sync_timeout, &events[i]);
      if (error) return replicas_report_fault(engine, i, error);
      continue;
    }
    pop_error *error = machine_run(r->machine, answer, &events[i]);
    device_print_flush(r->device_print, engine->executable, engine_print_stream(engine),
                       error || events[i] == 0);
    if (error) return replicas_report_fault(engine, i, error);
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

static pop_error *check_together(pop_engine *engine, const uint32_t *events)
{
  for (uint32_t i = 1; i < engine->num_replicas; i++) {
    if (events[i] == events[0]) continue;
    char first[128], other[128];
    say_event(engine, events[0], first, sizeof first);
    say_event(engine, events[i], other, sizeof other);
    engine->state = ENGINE_FAULTED;
    return pop_error_new(
        POP_ERROR_RUNTIME,
        "replicas have gone different ways: replica 0 is at %s, replica %u at %s; "
        "what decides where the program goes on has to be the same in all of them, "
        "up to what they do together",
        first, i, other);
  }
  return NULL;
}

static pop_error *sync_cpus(pop_engine *engine)
{
  cpu **cpus = pop_xcalloc(engine->num_replicas, sizeof *cpus);
  for (uint32_t i = 0; i < engine->num_replicas; i++) cpus[i] = engine->replicas[i].cpu;
  pop_error *error = cpu_sync_replicas(cpus, engine->num_replicas);
  free(cpus);
  return error ? replicas_report_fault(engine, 0, error) : NULL;
}

static pop_error *sync_replicas(pop_engine *engine)
{
  if (engine->on_cpu) return sync_cpus(engine);
  uint32_t faulted;
  machine **machines = pop_xcalloc(engine->num_replicas, sizeof(machine *));
  for (uint32_t i = 0; i < engine->num_replicas; i++) machines[i] = engine->replicas[i].machine;
  pop_error *error = machine_sync_replicas(machines, engine->num_replicas, &faulted);
  free(machines);
  return error ? replicas_report_fault(engine, faulted, error) : NULL;
}

static void align_clocks(pop_engine *engine)
{
  uint64_t latest = 0;
  for (uint32_t i = 0; i < engine->num_replicas; i++) {
    uint64_t cycles = machine_get_counters(engine->replicas[i].machine).cycles;
    if (cycles > latest) latest = cycles;
  }
  for (uint32_t i = 0; i < engine->num_replicas; i++)
    machine_wait_until(engine->replicas[i].machine, latest);
}

static pop_error *run_together(pop_engine *engine, uint32_t answer, uint32_t *events)
{
  for (;;) {
    POP_TRY(run_each(engine, answer, events));
    POP_TRY(check_together(engine, events));
    if (events[0] != MACHINE_REPLICA_SYNC) break;
    POP_TRY(sync_replicas(engine));
  }
  if (engine->num_replicas > 1 && !engine->on_cpu) align_clocks(engine);
  return NULL;
}

void replicas_start_on_cpu(pop_engine *engine, size_t program)
{
  for (uint32_t i = 0; i < engine->num_replicas; i++) cpu_start(engine->replicas[i].cpu, program);
}

pop_error *replicas_run(pop_engine *engine, uint32_t answer, uint32_t *event)
{
  uint32_t *events = pop_xcalloc(engine->num_replicas, sizeof *events);
  pop_error *error = run_together(engine, answer, events);
  *event = events[0];
  free(events);
  return error;
}
