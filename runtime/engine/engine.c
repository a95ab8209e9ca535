/* Engines: load, run.
 *
 * The machine gets each tile's ELF image, written and read back like any file: what runs is what
 * the archive holds. The rest of what the engine knows is in the executable. In a run the tiles
 * wait in a host sync for the number of a program. On the way they may report events (a tensor to
 * print, a stream's copy), which the engine answers with 0.
 */
#include "engine/engine_private.h"

#include "base/log.h"
#include "base/thread_pool.h"
#include "engine/find_name.h"
#include "engine/reports.h"
#include "engine/traced_calls.h"
#include "profile/graph_profile.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Instruments the replica that profiler.replicaToProfile names. */
static pop_error *profile_replica(pop_engine *engine, const run_options *options)
{
  uint32_t number = options->profiled_replica;
  if (engine->on_cpu) return NULL; /* nothing is counted there */
  if (number >= engine->num_replicas)
    return pop_error_new(POP_ERROR_INVALID_OPTION,
                         "option 'profiler.replicaToProfile' cannot be '%u': the executable has %u "
                         "replicas, from 0 on",
                         number, engine->num_replicas);
  engine->profile = execution_profile_new(engine->replicas[number].machine, engine->ranks,
                                          number / engine->num_own, engine->executable);
  return NULL;
}

static callback_threads *new_callback_threads(const run_options *options)
{
  uint32_t count = options->num_callback_threads;
  if (count == NUMBER_AUTO) count = thread_pool_processors();
  bool none = options->callback_mode == CALLBACKS_SINGLE_THREAD || count == 0;
  return none ? NULL
              : callback_threads_new(count, options->callback_mode == CALLBACKS_COLLABORATIVE);
}

static pop_error *open_trace_file(pop_engine *engine, const char *path)
{
  if (!path || !*path) return NULL;
  engine->trace_file = fopen(path, "we");
  return engine->trace_file ? NULL : pop_error_errno(errno, "cannot write the trace '%s'", path);
}

pop_error *engine_new(pop_executable *executable, const run_options *options, pop_engine **engine)
{
  pop_engine *made = object_new(OBJECT_ENGINE, sizeof *made);
  made->executable = executable_retain(executable);
  made->traced = executable->traced;
  engine_name_handles(made);
  pop_error *error = replicas_create(made, options);
  if (error) {
    pop_engine_free(made);
    return error;
  }
  made->prefetch = options->prefetch == PREFETCH_AUTO ? options->buffer_overlap != OVERLAP_ANY
                                                      : options->prefetch == PREFETCH_YES;
  made->host_sync_timeout = options->host_sync_timeout;
  made->num_threads = options->machine.num_threads;
  made->max_host_memory = options->max_host_memory;
  made->callback_threads = new_callback_threads(options);
  made->profile_folder = execution_report_folder(options);
  made->writes_page = options->report_page;
  made->profile_format = options->profile_format;
  made->reported_runs = options->reported_runs;
  error = open_trace_file(made, options->trace_file);
  if (!error) error = profile_replica(made, options);
  if (error) {
    pop_engine_free(made);
    return error;
  }
  *engine = made;
  return NULL;
}

/* The CPU counts nothing. */
static machine_counters counters_of(const pop_engine *engine)
{
  return engine->on_cpu ? (machine_counters){0} : replicas_counters(engine);
}

/* Is the engine still the one that is loaded on its device? */
static bool is_on_device(const pop_engine *engine)
{
  return engine->device && device_has_loaded(engine->device, engine);
}

void engine_destroy(pop_engine *engine)
{
  execution_profile_free(engine->profile);
  free(engine->profile_folder);
  if (engine->trace_file) fclose(engine->trace_file);
  callback_threads_free(engine->callback_threads);
  replicas_free(engine);
  host_functions_free(engine->host_functions);
  if (is_on_device(engine)) device_set_loaded(engine->device, NULL);
  device_release(engine->device);
  for (size_t i = 0; i < 2; i++) pop_name_table_free(&engine->handles[i]);
  executable_release(engine->executable);
  object_delete(&engine->base);
}

void pop_engine_free(pop_engine *engine)
{
  if (object_release(engine, OBJECT_ENGINE, __func__) && !engine_free_later(engine))
    engine_destroy(engine);
}

/* Takes the device. The engine that was loaded on it is not loaded any more. */
static pop_error *take_device(pop_engine *engine)
{
  const pop_device *device = engine->device;
  if (device->target.type == POP_TARGET_IPU && !pop_device_is_attached(device))
    return pop_error_new(POP_ERROR_RUNTIME,
                         "cannot load: device %u is not attached; call pop_device_attach first",
                         device->id);
  device_set_loaded(engine->device, engine);
  return NULL;
}

static pop_error *load(pop_engine *engine)
{
  const char *too_small = engine->executable->out_of_memory;
  bool is_model = engine->executable->target.type == POP_TARGET_IPU_MODEL;
  if (too_small && !is_model)
    return pop_error_new(POP_ERROR_GRAPH_MEMORY, "cannot load: %s", too_small);
  POP_TRY(engine_check_memory(engine));
  event_time begun = event_now();
  engine->state = ENGINE_COMPILED;
  if (engine->device) POP_TRY(take_device(engine));
  POP_TRY(execution_profile_reset(engine->profile, false));
  log_phase loading = log_phase_start("ENGINE", "Loading executable");
  POP_TRY(replicas_load(engine));
  log_phase_end(&loading);
  uint32_t event;
  replicas_clear_stop(engine);
  POP_TRY(replicas_run(engine, NULL, 0, &event));
  engine->state = ENGINE_LOADED;
  engine->was_abandoned = false;
  trace_load(engine, begun);
  return NULL;
}

static pop_error *load_device(pop_engine *engine, pop_device *device)
{
  POP_TRY(object_check(device, OBJECT_DEVICE, "pop_engine_load_device"));
  pop_target target = engine->executable->target;
  target.num_ipus *= engine->num_replicas;
  pop_error *error = device_check_target(device, &target);
  if (error) return pop_error_prefix(error, "cannot load");
  device_retain(device);
  if (is_on_device(engine)) device_set_loaded(engine->device, NULL);
  device_release(engine->device);
  engine->device = device;
  return load(engine);
}

pop_error *pop_engine_load(pop_engine *engine)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(engine_enter(engine, "load"));
  return engine_leave(engine, load(engine));
}

pop_error *pop_engine_load_device(pop_engine *engine, pop_device *device)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(engine_enter(engine, "load"));
  return engine_leave(engine, load_device(engine, device));
}

/* Reads the tensor's elements in all replicas; the caller frees them. */
static pop_error *read_all(pop_engine *engine, const executable_tensor *tensor, uint8_t **out)
{
  size_t bytes = executable_tensor_bytes(tensor), total;
  *out = NULL;
  if (!__builtin_mul_overflow(bytes, engine->num_replicas, &total))
    *out = malloc(total ? total : 1);
  if (!*out)
    return pop_error_new(POP_ERROR_MEMORY, "no memory for tensor '%s' (%zu bytes in %u replicas)",
                         tensor->name, bytes, engine->num_replicas);
  return engine_read_all_replicas(engine, NULL, tensor, *out);
}

static pop_error *print_event(pop_engine *engine, const executable_event *event)
{
  const executable_tensor *tensor = &engine->executable->tensors[event->tensor];
  bool traced = strcmp(event->message, EXECUTABLE_TRACE) == 0;
  bool formatted = *event->message && !traced;
  FILE *stream = traced && engine->trace_file ? engine->trace_file : engine_print_stream(engine);
  uint8_t *data;
  pop_print_format format;
  if (formatted && !print_format_read(event->message, &format))
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "cannot print tensor '%s': the executable is damaged: there is no format "
                         "'%s'",
                         tensor->name, event->message);
  pop_error *error = read_all(engine, tensor, &data);
  for (uint32_t r = 0; r < engine->num_replicas && !error; r++) {
    char *title = engine->num_replicas > 1 ? pop_xasprintf("%s (replica %u)", tensor->name, r)
                                           : pop_xstrdup(tensor->name);
    const uint8_t *elements = data + r * executable_tensor_bytes(tensor);
    if (formatted)
      print_tensor_formatted(stream, title, &format, tensor->type, tensor->shape, tensor->rank,
                             elements);
    else
      print_tensor(stream, title, tensor->type, tensor->shape, tensor->rank, elements);
    free(title);
  }
  bool is_given = traced || engine->print_stream; /* standard error may be closed */
  if (!error && (fflush(stream) != 0 || (is_given && ferror(stream))))
    error = pop_error_errno(errno, "cannot print tensor '%s'", tensor->name);
  free(data);
  return error;
}

/* Checks AssumeEqualAcrossReplicas. */
static pop_error *compare_event(pop_engine *engine, const executable_event *event)
{
  const executable_tensor *tensor = &engine->executable->tensors[event->tensor];
  uint32_t count = engine->num_replicas * tensor->num_replicas, r = 1;
  size_t bytes = executable_tensor_bytes(tensor) / tensor->num_replicas, differs = bytes;
  uint8_t *data;
  pop_error *error = read_all(engine, tensor, &data);
  for (; r < count && !error; r++) {
    for (differs = 0; differs < bytes && data[differs] == data[r * bytes + differs];) differs++;
    if (differs < bytes) break;
  }
  free(data);
  if (error || differs == bytes) return error;
  engine->state = ENGINE_FAULTED;
  size_t element_bytes = pop_type_bytes(tensor->type);
  return pop_error_new(
      POP_ERROR_RUNTIME,
      "program '%s' says that a tensor is equal across replicas, but element %zu of "
      "its %zu is not what it is in replica 0 in replica %u",
      tensor->name, differs / element_bytes, bytes / element_bytes, r);
}

/* The error of a run that the program has aborted. */
static pop_error *abort_event(const pop_engine *engine, const executable_event *event)
{
  machine_counters counters = counters_of(engine);
  uint32_t tiles_per_ipu = engine->executable->target.tiles_per_ipu;
  char where[64] = "";
  if (event->tile != EXECUTABLE_NONE)
    snprintf(where, sizeof where, "; the predicate is on tile %u, IPU %u", event->tile,
             event->tile / tiles_per_ipu);
  const char *name = *event->name ? event->name : "(no name)";
  return pop_error_new(POP_ERROR_RUNTIME,
                       "program '%s' aborted the run%s%s%s; superstep %llu, "
                       "cycle %llu",
                       name, *event->message ? ": " : "", event->message, where,
                       (unsigned long long)counters.supersteps,
                       (unsigned long long)counters.cycles);
}

static pop_error *handle_event(pop_engine *engine, uint32_t event)
{
  const pop_executable *e = engine->executable;
  if (event > e->num_events)
    return pop_error_new(POP_ERROR_INTERNAL, "the tiles report host event %u of %zu", event,
                         e->num_events);
  const executable_event *reported = &e->events[event - 1];
  POP_TRY(execution_profile_empty_blocks(engine->profile));
  switch (reported->kind) {
  case EXECUTABLE_EVENT_FLUSH:
    execution_profile_note_sync(engine->profile);
    return NULL;
  case EXECUTABLE_EVENT_PRINT:
    return print_event(engine, reported);
  case EXECUTABLE_EVENT_ASSUME_EQUAL:
    return compare_event(engine, reported);
  case EXECUTABLE_EVENT_EXCHANGE:
    return engine_host_exchange(engine, reported);
  case EXECUTABLE_EVENT_BRANCHES:
    execution_profile_note_sync(engine->profile);
    return execution_profile_note_branches(engine->profile);
  default:
    engine->state = ENGINE_FAULTED;
    return abort_event(engine, reported);
  }
}

pop_error *engine_check_loaded(const pop_engine *engine, const char *what)
{
  if (engine->state == ENGINE_COMPILED)
    return pop_error_new(POP_ERROR_RUNTIME,
                         "cannot %s: the engine is not loaded; call "
                         "pop_engine_load first",
                         what);
  if (engine->device && !is_on_device(engine))
    return pop_error_new(POP_ERROR_RUNTIME,
                         "cannot %s: the engine is not loaded any more: its device was detached or "
                         "reset, or another engine was loaded on it; call pop_engine_load again",
                         what);
  return NULL;
}

static pop_error *check_not_stopped(pop_engine *engine)
{
  if (!atomic_load(&engine->stopped)) return NULL;
  engine->state = ENGINE_FAULTED;
  if (engine->on_cpu)
    return pop_error_new(POP_ERROR_RUNTIME, "the run was stopped (pop_engine_stop)");
  machine_counters counters = counters_of(engine);
  return pop_error_new(
      POP_ERROR_RUNTIME,
      "the run was stopped (pop_engine_stop) in a host sync; superstep %llu, cycle %llu",
      (unsigned long long)counters.supersteps, (unsigned long long)counters.cycles);
}

/* Handles an event between two host syncs. */
static pop_error *answer_event(pop_engine *engine, uint32_t event)
{
  POP_TRY(handle_event(engine, event));
  POP_TRY(engine_check_wanted(engine));
  return check_not_stopped(engine);
}

static pop_error *run_to_end(pop_engine *engine, size_t program)
{
  uint32_t event;
  POP_TRY(replicas_run(engine, NULL, (uint32_t)program, &event));
  while (event != 0) POP_TRY(replicas_run(engine, answer_event(engine, event), 0, &event));
  return NULL;
}

static pop_error *report_execution(pop_engine *engine)
{
  if (!engine->profile || !engine->profile_folder || engine->reported_runs == 0) return NULL;
  engine->reported_runs--;
  return write_execution_reports(engine, engine->profile_folder);
}

/* Reports what is known of a run that has failed, like other runs. The caller still gets the run's
 * error. */
static void report_faulted(pop_engine *engine, const pop_error *error)
{
  pop_error *further = execution_profile_end_faulted_run(engine->profile, pop_error_message(error));
  if (!further) further = report_execution(engine);
  if (!further) return;
  log_write(LOG_WARN, "ENGINE", "the run that has failed is not in the reports: %s",
            pop_error_message(further));
  pop_error_free(further);
}

static pop_error *run(pop_engine *engine, size_t program, const char *run_name)
{
  POP_TRY(engine_check_loaded(engine, "run"));
  if (engine->state == ENGINE_FAULTED)
    return pop_error_new(POP_ERROR_RUNTIME,
                         "cannot run: the last run %s; call pop_engine_load to start afresh",
                         engine->was_abandoned ? "was left by longjmp out of a stream's callback"
                                               : "ended in an error");
  size_t num_programs = engine->executable->num_programs;
  if (program >= num_programs)
    return pop_error_new(POP_ERROR_INDEX, "there is no program %zu: the engine has %zu", program,
                         num_programs);
  log_phase running = log_phase_start("ENGINE", "Running program");
  event_time begun = event_now();
  machine_counters before = counters_of(engine);
  if (engine->on_cpu) replicas_start_on_cpu(engine, program);
  POP_TRY(execution_profile_begin_run(engine->profile, program, run_name));
  replicas_clear_stop(engine);
  atomic_store(&engine->stopped, false);
  atomic_store(&engine->runs, true);
  pop_error *error = run_to_end(engine, program);
  atomic_store(&engine->runs, false);
  if (error) {
    engine->state = ENGINE_FAULTED; /* the tiles may wait anywhere in the program */
    report_faulted(engine, error);
  } else {
    error = execution_profile_end_run(engine->profile);
  }
  error = trace_run(engine, program, begun, error);
  if (error) return error;
  log_phase_end(&running);
  machine_counters after = counters_of(engine);
  log_write(LOG_DEBUG, "ENGINE", "Program %zu: %llu cycles, %llu instructions", program,
            (unsigned long long)(after.cycles - before.cycles),
            (unsigned long long)(after.instructions - before.instructions));
  return report_execution(engine);
}

pop_error *pop_engine_run(pop_engine *engine, size_t program)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(engine_enter(engine, "run"));
  return engine_leave(engine, run(engine, program, NULL));
}

pop_error *pop_engine_run_as(pop_engine *engine, size_t program, const char *run_name)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(engine_enter(engine, "run"));
  return engine_leave(engine, run(engine, program, run_name));
}

pop_error *pop_engine_run_named(pop_engine *engine, const char *name)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  const pop_executable *e = engine->executable;
  size_t found = 0, matches = 0;
  for (size_t i = 0; name && i < e->num_programs; ++i) matches += strcmp(e->programs[i], name) == 0;
  if (matches > 1)
    return pop_error_new(POP_ERROR_INDEX,
                         "%zu programs have the name '%s': run the one that is meant by its "
                         "number, or give them different names",
                         matches, name);
  POP_TRY(find_name(POP_ERROR_INDEX, "program", name, e->programs, e->num_programs, &found));
  return pop_engine_run(engine, found);
}

/* Signal handlers may call this: it takes no lock and allocates nothing. */
void pop_engine_stop(pop_engine *engine)
{
  if (!object_lives(engine, OBJECT_ENGINE) || !atomic_load(&engine->runs)) return;
  atomic_store(&engine->stopped, true);
  replicas_stop(engine);
}

void pop_engine_set_print_stream(pop_engine *engine, FILE *stream)
{
  if (!object_there(engine, OBJECT_ENGINE, __func__)) return;
  engine->print_stream = stream;
}

/* ---- what the engine knows ---- */

static pop_error *check_tiles(const pop_engine *engine)
{
  if (!engine->on_cpu) return NULL;
  return pop_error_new(
      POP_ERROR_INVALID_ARGUMENT,
      "the CPU has no tiles and no memory plan: compile the graph for an IPU target");
}

uint64_t pop_engine_cycles(const pop_engine *engine)
{
  if (!object_there(engine, OBJECT_ENGINE, __func__)) return 0;
  return counters_of(engine).cycles;
}

uint64_t pop_engine_cycles_passed(const pop_engine *engine)
{
  if (!object_there(engine, OBJECT_ENGINE, __func__) || engine->on_cpu) return 0;
  return machine_cycles_passed(engine->replicas[engine->first].machine);
}

uint64_t pop_engine_instructions(const pop_engine *engine)
{
  if (!object_there(engine, OBJECT_ENGINE, __func__)) return 0;
  if (engine->on_cpu) return 0;
  return replicas_instructions(engine);
}

pop_error *pop_engine_tile_memory(const pop_engine *engine, uint32_t tile, pop_tile_memory *memory)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(object_check_argument(memory, "the memory", __func__));
  POP_TRY(check_tiles(engine));
  uint32_t num_tiles = pop_target_num_tiles(&engine->executable->target);
  if (tile >= num_tiles)
    return pop_error_new(POP_ERROR_INDEX, "there is no tile %u: the target has %u", tile,
                         num_tiles);
  const pop_executable *e = engine->executable;
  *memory = e->memory_rows[e->tiles[tile].memory];
  return NULL;
}

uint32_t pop_engine_loaded_bytes(const pop_engine *engine, uint32_t tile)
{
  if (!object_there(engine, OBJECT_ENGINE, __func__)) return 0;
  return engine->on_cpu ? 0 : machine_loaded_bytes(engine->replicas[engine->first].machine, tile);
}

pop_error *pop_engine_save_archive(const pop_engine *engine, const char *path)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(object_check_argument(path, "the path", __func__));
  return pop_executable_save(engine->executable, path);
}

const pop_phase_time *pop_engine_phase_times(const pop_engine *engine, size_t *count)
{
  if (!object_there(engine, OBJECT_ENGINE, __func__)) return NULL;
  size_t ignored;
  if (!count) count = &ignored;
  *count = engine->executable->num_phase_times;
  return engine->executable->phase_times;
}

pop_error *pop_engine_print_memory(const pop_engine *engine, FILE *stream)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(object_check_argument(stream, "the stream", __func__));
  POP_TRY(check_tiles(engine));
  POP_TRY(memory_summary_print(engine->executable, stream));
  if (fflush(stream) != 0 || ferror(stream))
    return pop_error_errno(errno, "cannot print the memory summary");
  return NULL;
}
