/* Engines: load, run.
 *
 * The machine gets each tile's ELF image, written and read back as any file would be: what runs is
 * what the archive holds. What else the engine knows is in the executable. A run is a conversation: the tiles wait in a host sync for the number of a
 * program; on the way they may report an event (a tensor to print, a stream's copy), which is answered
 * with 0.
 */
#include "engine/engine_private.h"

#include "engine/reports.h"
#include "graph/log.h"
#include <errno.h>
#include <populus/names.h>
#include <stdlib.h>
#include <string.h>

pop_error *engine_new(pop_executable *executable, const run_options *options, pop_engine **engine)
{
  pop_engine *made = pop_xcalloc(1, sizeof *made);
  made->executable = executable_retain(executable);
  pop_error *error = machine_create(&executable->target, &options->machine, &made->machine);
  if (error) {
    pop_engine_free(made);
    return error;
  }
  made->device_print = device_print_new(made->machine, pop_target_num_tiles(&executable->target));
  made->streams = streams_new(executable);
  made->remote_buffers = remote_buffers_new(executable);
  made->prefetch = options->prefetch;
  made->num_threads = options->machine.num_threads;
  streams_limit_callbacks(made->streams, options->host_sync_timeout);
  *engine = made;
  return NULL;
}

/* Nobody else has taken the place of the engine on its device. */
static bool is_on_device(const pop_engine *engine)
{
  return engine->device && device_has_loaded(engine->device, engine);
}

void pop_engine_free(pop_engine *engine)
{
  if (!engine) return;
  streams_free(engine->streams);
  remote_buffers_free(engine->remote_buffers);
  device_print_free(engine->device_print);
  machine_free(engine->machine);
  if (is_on_device(engine)) device_set_loaded(engine->device, NULL);
  pop_device_free(engine->device);
  pop_executable_free(engine->executable);
  free(engine);
}

/* By several threads, each another tile. */
static pop_error *load_tile(void *context, const pop_image *image)
{
  pop_engine *engine = context;
  const pop_executable *e = engine->executable;
  return machine_load(engine->machine, image, e->stack_rows[e->tiles[image->tile].stacks].of);
}

static FILE *print_stream(const pop_engine *engine)
{
  return engine->print_stream ? engine->print_stream : stderr;
}

/* What the machine's fault is to the user, if that is the reason of `error`. */
static pop_error *report_fault(pop_engine *engine, pop_error *error)
{
  engine->state = ENGINE_FAULTED;
  if (machine_get_fault(engine->machine)->kind == MACHINE_FAULT_NONE) return error;
  pop_error_free(error);
  return engine_fault_report(engine);
}

/* Runs to the next host sync; a fault becomes a report. */
static pop_error *run_to_host_sync(pop_engine *engine, uint32_t answer, uint32_t *event)
{
  *event = 0;
  pop_error *error = machine_run(engine->machine, answer, event);
  device_print_flush(engine->device_print, engine->executable, print_stream(engine),
                     error || *event == 0);
  return error ? report_fault(engine, error) : NULL;
}

/* From here on the engine that was on the device is not loaded any more. */
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

pop_error *pop_engine_load_device(pop_engine *engine, pop_device *device)
{
  if (!device)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "pop_engine_load_device: the device is NULL");
  pop_error *error = device_check_target(device, &engine->executable->target);
  if (error) return pop_error_prefix(error, "cannot load");
  pop_device_retain(device);
  if (is_on_device(engine)) device_set_loaded(engine->device, NULL);
  pop_device_free(engine->device);
  engine->device = device;
  return pop_engine_load(engine);
}

pop_error *pop_engine_load(pop_engine *engine)
{
  const char *too_small = engine->executable->out_of_memory;
  if (too_small) return pop_error_new(POP_ERROR_GRAPH_MEMORY, "cannot load: %s", too_small);
  engine->state = ENGINE_COMPILED;
  if (engine->device) POP_TRY(take_device(engine));
  machine_reset(engine->machine);
  streams_restart(engine->streams);
  POP_TRY(remote_buffers_restart(engine->remote_buffers));
  log_phase loading = log_phase_start("ENGINE", "Loading executable");
  POP_TRY(executable_visit_images(engine->executable, engine->num_threads, load_tile, engine));
  log_phase_end(&loading);
  uint32_t event;
  POP_TRY(run_to_host_sync(engine, 0, &event));
  engine->state = ENGINE_LOADED;
  return NULL;
}

static pop_error *print_event(pop_engine *engine, const executable_event *event)
{
  const pop_executable *e = engine->executable;
  const executable_tensor *tensor = &e->tensors[event->tensor];
  size_t bytes = (size_t)tensor->num_elements * pop_type_bytes(tensor->type);
  uint8_t *data = malloc(bytes ? bytes : 1);
  if (!data)
    return pop_error_new(POP_ERROR_MEMORY, "no memory to print tensor '%s' (%zu bytes)",
                         tensor->name, bytes);
  pop_error *error = engine_read_host_tensor(engine, tensor, data);
  FILE *stream = print_stream(engine);
  if (!error) {
    print_tensor(stream, tensor->name, tensor->type, tensor->shape, tensor->rank, data);
    if (fflush(stream) != 0)
      error = pop_error_errno(errno, "cannot print tensor '%s'", tensor->name);
  }
  free(data);
  return error;
}

/* The error of a program that ended its run. */
static pop_error *abort_event(const pop_engine *engine, const executable_event *event)
{
  machine_counters counters = machine_get_counters(engine->machine);
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
  if (reported->kind == EXECUTABLE_EVENT_PRINT) return print_event(engine, reported);
  pop_error *error = reported->kind == EXECUTABLE_EVENT_ABORT
                         ? abort_event(engine, reported)
                         : engine_host_exchange(engine, reported);
  return error ? report_fault(engine, error) : NULL;
}

static pop_error *check_loaded(const pop_engine *engine, const char *what)
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

pop_error *pop_engine_run(pop_engine *engine, size_t program)
{
  POP_TRY(check_loaded(engine, "run"));
  if (engine->state == ENGINE_FAULTED)
    return pop_error_new(POP_ERROR_RUNTIME, "cannot run: the last run ended in an error; call "
                                            "pop_engine_load to start afresh");
  size_t num_programs = engine->executable->num_programs;
  if (program >= num_programs)
    return pop_error_new(POP_ERROR_INDEX, "there is no program %zu: the engine has %zu", program,
                         num_programs);
  log_phase running = log_phase_start("ENGINE", "Running program");
  machine_counters before = machine_get_counters(engine->machine);
  uint32_t event;
  POP_TRY(run_to_host_sync(engine, (uint32_t)program, &event));
  while (event != 0) {
    POP_TRY(handle_event(engine, event));
    POP_TRY(run_to_host_sync(engine, 0, &event));
  }
  log_phase_end(&running);
  machine_counters after = machine_get_counters(engine->machine);
  log_write(LOG_DEBUG, "ENGINE", "Program %zu: %llu cycles, %llu instructions", program,
            (unsigned long long)(after.cycles - before.cycles),
            (unsigned long long)(after.instructions - before.instructions));
  return NULL;
}

pop_error *pop_engine_run_named(pop_engine *engine, const char *name)
{
  const pop_executable *e = engine->executable;
  if (!name) return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "the program's name is NULL");
  size_t found = 0, matches = 0;
  for (size_t i = 0; i < e->num_programs; ++i)
    if (strcmp(e->programs[i], name) == 0) {
      found = i;
      ++matches;
    }
  if (matches == 1) return pop_engine_run(engine, found);
  if (matches > 1)
    return pop_error_new(POP_ERROR_INDEX,
                         "%zu programs have the name '%s': run the one that is meant by its "
                         "number, or give them different names",
                         matches, name);
  const char *near = pop_nearest_name(name, e->programs, e->num_programs);
  return pop_error_new(POP_ERROR_INDEX, "there is no program '%s'%s%s%s", name,
                       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

pop_error *pop_engine_connect_stream(pop_engine *engine, const char *handle, void *begin, void *end)
{
  return streams_connect(engine->streams, handle, begin, end);
}

pop_error *pop_engine_connect_stream_callback(pop_engine *engine, const char *handle,
                                              const pop_stream_callback *callback)
{
  return streams_connect_callback(engine->streams, handle, callback);
}

void pop_engine_set_print_stream(pop_engine *engine, FILE *stream)
{
  engine->print_stream = stream;
}

/* ---- host access by handle ---- */

static pop_error *find_handle(const pop_engine *engine, const char *handle, bool read, size_t bytes,
                              const executable_tensor **found)
{
  const pop_executable *e = engine->executable;
  executable_tensor_kind kind = read ? EXECUTABLE_READ : EXECUTABLE_WRITE;
  const char *direction = read ? "read" : "write";
  const char **names = pop_xcalloc(e->num_tensors + 1, sizeof *names);
  size_t num_names = 0;
  *found = NULL;
  for (size_t i = 0; i < e->num_tensors && !*found; ++i) {
    const executable_tensor *tensor = &e->tensors[i];
    if (tensor->kind != kind) continue;
    names[num_names++] = tensor->name;
    if (strcmp(tensor->name, handle) == 0) *found = tensor;
  }
  const char *near = pop_nearest_name(handle, names, num_names);
  free(names);
  if (!*found)
    return pop_error_new(POP_ERROR_UNKNOWN_HANDLE, "there is no host %s handle '%s'%s%s%s",
                         direction, handle, near ? "; did you mean '" : "", near ? near : "",
                         near ? "'?" : "");
  size_t wanted = (size_t)(*found)->num_elements * pop_type_bytes((*found)->type);
  if (bytes != wanted)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "host %s handle '%s' has %zu bytes (%llu elements of type %s), not %zu",
                         direction, handle, wanted, (unsigned long long)(*found)->num_elements,
                         pop_type_name((*found)->type), bytes);
  return NULL;
}

pop_error *pop_engine_read_tensor(pop_engine *engine, const char *handle, void *data, size_t bytes)
{
  const executable_tensor *tensor;
  POP_TRY(check_loaded(engine, "read a tensor"));
  POP_TRY(find_handle(engine, handle, true, bytes, &tensor));
  return engine_read_host_tensor(engine, tensor, data);
}

pop_error *pop_engine_write_tensor(pop_engine *engine, const char *handle, const void *data,
                                   size_t bytes)
{
  const executable_tensor *tensor;
  POP_TRY(check_loaded(engine, "write a tensor"));
  POP_TRY(find_handle(engine, handle, false, bytes, &tensor));
  return engine_write_host_tensor(engine, tensor, data);
}

/* ---- remote buffers ---- */

pop_error *pop_engine_copy_to_remote_buffer(pop_engine *engine, const char *handle, size_t row,
                                            uint32_t replica, const void *data, size_t bytes)
{
  static const char call[] = "pop_engine_copy_to_remote_buffer";
  uint8_t *memory;
  POP_TRY(check_loaded(engine, "write a remote buffer"));
  POP_TRY(remote_buffers_row(engine->remote_buffers, call, handle, row, replica, bytes, &memory));
  memcpy(memory, data, bytes);
  return NULL;
}

pop_error *pop_engine_copy_from_remote_buffer(pop_engine *engine, const char *handle, size_t row,
                                              uint32_t replica, void *data, size_t bytes)
{
  static const char call[] = "pop_engine_copy_from_remote_buffer";
  uint8_t *memory;
  POP_TRY(check_loaded(engine, "read a remote buffer"));
  POP_TRY(remote_buffers_row(engine->remote_buffers, call, handle, row, replica, bytes, &memory));
  memcpy(data, memory, bytes);
  return NULL;
}

/* ---- what the engine knows ---- */

uint64_t pop_engine_cycles(const pop_engine *engine)
{
  return machine_get_counters(engine->machine).cycles;
}

uint64_t pop_engine_instructions(const pop_engine *engine)
{
  return machine_get_counters(engine->machine).instructions;
}

pop_error *pop_engine_tile_memory(const pop_engine *engine, uint32_t tile, pop_tile_memory *memory)
{
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
  return machine_loaded_bytes(engine->machine, tile);
}

pop_error *pop_engine_save_archive(const pop_engine *engine, const char *path)
{
  return pop_executable_save(engine->executable, path);
}

const pop_phase_time *pop_engine_phase_times(const pop_engine *engine, size_t *count)
{
  *count = engine->executable->num_phase_times;
  return engine->executable->phase_times;
}

pop_error *pop_engine_print_memory(const pop_engine *engine, FILE *stream)
{
  print_memory_report(stream, engine->executable);
  if (fflush(stream) != 0 || ferror(stream))
    return pop_error_errno(errno, "cannot print the memory summary");
  return NULL;
}
