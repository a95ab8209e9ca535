/* A machine's life, its faults and counters. */
#include "machine.h"
#include "control.h"
#include "state.h"

#include <populus/arena.h>
#include <stdlib.h>

static const char *const fault_names[] = {
#define MACHINE_FAULT_NAME(id, name) name,
    MACHINE_FAULTS(MACHINE_FAULT_NAME)
#undef MACHINE_FAULT_NAME
};

const char *machine_fault_name(machine_fault_kind kind)
{
  return (size_t)kind < sizeof fault_names / sizeof fault_names[0] ? fault_names[kind] : "?";
}

static pop_error *check_target(const pop_target *target)
{
  POP_TRY(pop_target_validate(target));
  if (target->num_worker_contexts > ISA_MAX_WORKERS)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "target %s has %u worker contexts; the software IPU has up to %d",
                         target->name, target->num_worker_contexts, ISA_MAX_WORKERS);
  if (target->exchange_bytes_per_cycle != 4)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "target %s exchanges %u bytes per cycle; exchange code moves one word (4)",
                         target->name, target->exchange_bytes_per_cycle);
  return NULL;
}

pop_error *machine_create(const pop_target *target, const machine_options *options, machine **out)
{
  *out = NULL;
  POP_TRY(check_target(target));
  machine *m = pop_xcalloc(1, sizeof *m);
  m->target = *target;
  if (options) m->options = *options;
  m->num_tiles = pop_target_num_tiles(target);
  m->tiles = pop_xcalloc(m->num_tiles, sizeof *m->tiles);
  for (uint32_t i = 0; i < m->num_tiles; i++) m->tiles[i].number = i;
  m->at = (tile_stops){.clocks = pop_xcalloc(m->num_tiles, sizeof *m->at.clocks),
                       .waiting = pop_xcalloc(m->num_tiles, sizeof *m->at.waiting),
                       .stop_argument = pop_xcalloc(m->num_tiles, sizeof *m->at.stop_argument),
                       .host_codes = pop_xcalloc(m->num_tiles, sizeof *m->at.host_codes),
                       .acks = pop_xcalloc(m->num_tiles, sizeof *m->at.acks)};
  pthread_mutex_init(&m->code_lock, NULL);
  code_cache_init(&m->code, target, interpret_pieces());
  m->pool = thread_pool_new(m->options.num_threads);
  pop_error *error = memory_reserve(m);
  if (!error) error = translate_start(m);
  if (error) {
    machine_free(m);
    return error;
  }
  m->options.native_folder = NULL; /* the caller's */
  *out = m;
  return NULL;
}

static void unload(machine *m)
{
  for (uint32_t i = 0; i < m->num_tiles; i++) memory_unload(&m->tiles[i]);
  exchange_forget(m);
  host_exchange_forget(m);
  global_cache_free(m);
  control_free(m);
  code_cache_clear(&m->code);
}

void machine_free(machine *m)
{
  if (!m) return;
  thread_pool_free(m->pool);
  translate_end(m);
  unload(m);
  memory_release(m);
  global_remote_forget(m);
  pthread_mutex_destroy(&m->code_lock);
  free(m->tiles);
  free(m->at.clocks);
  free(m->at.waiting);
  free(m->at.stop_argument);
  free(m->at.host_codes);
  free(m->at.acks);
  free(m);
}

void machine_reset(machine *m)
{
  unload(m);
  memory_clear(m);
  m->num_loaded = 0;
  m->started = false;
  m->supersteps = 0;
  atomic_store_explicit(&m->passed, 0, memory_order_relaxed);
  m->exchanged_bytes = m->host_bytes = m->global_bytes = m->control_instructions = 0;
  m->fault = (machine_fault){0};
}

const machine_fault *machine_get_fault(const machine *m)
{
  return &m->fault;
}

uint32_t machine_loaded_bytes(const machine *m, uint32_t tile)
{
  return tile < m->num_tiles ? m->tiles[tile].loaded_bytes : 0;
}

machine_counters machine_get_counters(const machine *m)
{
  machine_counters counters = {.supersteps = m->supersteps,
                               .instructions = m->control_instructions,
                               .exchanged_bytes = m->exchanged_bytes,
                               .host_bytes = m->host_bytes,
                               .global_bytes = m->global_bytes};
  for (uint32_t i = 0; i < m->num_tiles; i++) {
    if (m->at.clocks[i] > counters.cycles) counters.cycles = m->at.clocks[i];
    counters.instructions += m->tiles[i].instructions;
  }
  return counters;
}

uint64_t machine_cycles_passed(const machine *m)
{
  return atomic_load_explicit(&m->passed, memory_order_relaxed);
}

void machine_set_trace(machine *m, machine_trace_callback callback, void *context)
{
  m->trace = callback;
  m->trace_context = context;
}

void machine_trace_vertices(machine *m)
{
  m->traces_vertices = true;
}

void machine_set_print(machine *m, machine_print_callback callback, void *context)
{
  m->print = callback;
  m->print_context = context;
}
