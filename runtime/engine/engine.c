/* Engines: compile, load, run.
 *
 * The machine gets each tile's ELF image, written and read back as any file would be: what runs is
 * what the archive holds. A run is a conversation: the tiles wait in a host sync for the number of a
 * program; on the way they may report an event (a tensor to print), which is answered with 0.
 */
#include "engine/engine_private.h"

#include "engine/options.h"
#include "graph/log.h"
#include "profile/memory_summary.h"
#include <errno.h>
#include <populus/names.h>
#include <stdlib.h>
#include <string.h>

static pop_error *check_programs(const pop_graph *graph, const pop_program *programs, size_t count)
{
  if (count == 0)
    return pop_error_new(POP_ERROR_CONTROL_PROGRAM, "an engine needs at least one program");
  for (size_t i = 0; i < count; ++i) {
    if (programs[i].graph != graph)
      return pop_error_new(POP_ERROR_CONTROL_PROGRAM, "program %zu %s", i,
                           programs[i].graph ? "belongs to another graph" : "is a null program");
    if (programs[i].index == 0 || programs[i].index > graph->num_programs)
      return pop_error_new(POP_ERROR_CONTROL_PROGRAM, "program %zu is a null program", i);
  }
  return NULL;
}

static pop_error *compile_programs(pop_graph *graph, const pop_program *programs, size_t count,
                                   const engine_options *options, compilation **out)
{
  uint32_t *indices = pop_xcalloc(count, sizeof *indices);
  for (size_t i = 0; i < count; ++i) indices[i] = programs[i].index - 1;
  compile_options compile_with = {
      .allow_out_of_memory = options->allow_out_of_memory,
      .keep_duplicate_code = options->keep_duplicate_code,
      .worker_stack_bytes = options->worker_stack_bytes,
      .supervisor_stack_bytes = options->supervisor_stack_bytes,
      .num_threads = options->num_threads,
  };
  pop_error *error = compile(graph, indices, count, &compile_with, out);
  free(indices);
  return error;
}

static pop_error *create(pop_graph *graph, const pop_program *programs, size_t num_programs,
                         const engine_options *options, pop_engine *engine)
{
  POP_TRY(compile_programs(graph, programs, num_programs, options, &engine->compilation));
  const pop_error *too_small = engine->compilation->out_of_memory;
  if (too_small)
    log_write(LOG_WARN, "ENGINE", "debug.allowOutOfMemory: %s", pop_error_message(too_small));
  if (options->save_archive) {
    log_phase saving = log_phase_start("ENGINE", "Saving archive");
    POP_TRY(compilation_save_archive(engine->compilation, options->save_archive));
    log_phase_end(&saving);
  }
  machine_options run_with = {.max_cycles_per_run = options->max_cycles_per_run};
  const pop_target *target = &engine->compilation->target;
  POP_TRY(machine_create(target, &run_with, &engine->machine));
  engine->device_print = device_print_new(engine->machine, pop_target_num_tiles(target));
  return NULL;
}

pop_error *pop_engine_create(pop_graph *graph, const pop_program *programs, size_t num_programs,
                             const pop_option *options, size_t num_options, pop_engine **engine)
{
  *engine = NULL;
  if (!graph)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "pop_engine_create: the graph is NULL");
  if (graph->error)
    return pop_error_new(pop_error_get_code(graph->error), "%s", pop_error_message(graph->error));
  POP_TRY(check_programs(graph, programs, num_programs));
  engine_options parsed;
  POP_TRY(engine_options_parse(options, num_options, &parsed));
  pop_engine *made = pop_xcalloc(1, sizeof *made);
  pop_error *error = create(graph, programs, num_programs, &parsed, made);
  engine_options_free(&parsed);
  if (error) {
    pop_engine_free(made);
    return error;
  }
  *engine = made;
  return NULL;
}

void pop_engine_free(pop_engine *engine)
{
  if (!engine) return;
  device_print_free(engine->device_print);
  machine_free(engine->machine);
  compilation_free(engine->compilation);
  free(engine);
}

/* The tile's image as an ELF file, read back and put into the machine. */
static pop_error *load_tile(pop_engine *engine, uint32_t tile, pop_bytes *elf)
{
  const compilation *c = engine->compilation;
  pop_arena *arena = pop_arena_new();
  pop_image image;
  char name[16];
  bool overflowed;
  pop_archive_tile_name(tile, name);
  elf->size = 0;
  pop_error *error = compilation_tile_image(c, tile, arena, &image);
  if (!error) error = pop_image_write(&image, elf);
  if (!error)
    error = pop_image_read(elf->data, elf->size, name, &c->target, arena, &image, &overflowed);
  if (!error) {
    image.tile = tile;
    error = machine_load(engine->machine, &image);
  }
  pop_arena_free(arena);
  return error;
}

static pop_error *load_tiles(pop_engine *engine)
{
  pop_bytes elf = {0};
  pop_error *error = NULL;
  uint32_t num_tiles = pop_target_num_tiles(&engine->compilation->target);
  for (uint32_t tile = 0; tile < num_tiles && !error; ++tile) error = load_tile(engine, tile, &elf);
  pop_bytes_free(&elf);
  return error;
}

static FILE *print_stream(const pop_engine *engine)
{
  return engine->print_stream ? engine->print_stream : stderr;
}

/* Runs to the next host sync; a fault becomes a report. */
static pop_error *run_to_host_sync(pop_engine *engine, uint32_t answer, uint32_t *event)
{
  *event = 0;
  pop_error *error = machine_run(engine->machine, answer, event);
  device_print_flush(engine->device_print, engine->compilation, print_stream(engine),
                     error || *event == 0);
  if (!error) return NULL;
  if (machine_get_fault(engine->machine)->kind == MACHINE_FAULT_NONE) return error;
  pop_error_free(error);
  engine->state = ENGINE_FAULTED;
  return engine_fault_report(engine);
}

pop_error *pop_engine_load(pop_engine *engine)
{
  const pop_error *too_small = engine->compilation->out_of_memory;
  if (too_small)
    return pop_error_new(POP_ERROR_GRAPH_MEMORY, "cannot load: %s", pop_error_message(too_small));
  engine->state = ENGINE_COMPILED;
  machine_reset(engine->machine);
  log_phase loading = log_phase_start("ENGINE", "Loading executable");
  POP_TRY(load_tiles(engine));
  log_phase_end(&loading);
  uint32_t event;
  POP_TRY(run_to_host_sync(engine, 0, &event));
  engine->state = ENGINE_LOADED;
  return NULL;
}

static pop_error *print_event(pop_engine *engine, uint32_t event)
{
  const compilation *c = engine->compilation;
  if (event > c->num_host_events)
    return pop_error_new(POP_ERROR_INTERNAL, "the tiles report host event %u of %zu", event,
                         c->num_host_events);
  const host_tensor *tensor = &c->host_tensors[c->host_events[event - 1]];
  size_t bytes = (size_t)tensor->num_elements * pop_type_bytes(tensor->type);
  uint8_t *data = pop_xmalloc(bytes ? bytes : 1);
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

static pop_error *check_loaded(const pop_engine *engine, const char *what)
{
  if (engine->state == ENGINE_COMPILED)
    return pop_error_new(POP_ERROR_RUNTIME,
                         "cannot %s: the engine is not loaded; call "
                         "pop_engine_load first",
                         what);
  return NULL;
}

pop_error *pop_engine_run(pop_engine *engine, size_t program)
{
  POP_TRY(check_loaded(engine, "run"));
  if (engine->state == ENGINE_FAULTED)
    return pop_error_new(POP_ERROR_RUNTIME, "cannot run: the last run ended in a fault; call "
                                            "pop_engine_load to start afresh");
  size_t num_programs = engine->compilation->num_control_programs;
  if (program >= num_programs)
    return pop_error_new(POP_ERROR_INDEX, "there is no program %zu: the engine has %zu", program,
                         num_programs);
  log_phase running = log_phase_start("ENGINE", "Running program");
  machine_counters before = machine_get_counters(engine->machine);
  uint32_t event;
  POP_TRY(run_to_host_sync(engine, (uint32_t)program, &event));
  while (event != 0) {
    POP_TRY(print_event(engine, event));
    POP_TRY(run_to_host_sync(engine, 0, &event));
  }
  log_phase_end(&running);
  machine_counters after = machine_get_counters(engine->machine);
  log_write(LOG_DEBUG, "ENGINE", "Program %zu: %llu cycles, %llu instructions", program,
            (unsigned long long)(after.cycles - before.cycles),
            (unsigned long long)(after.instructions - before.instructions));
  return NULL;
}

void pop_engine_set_print_stream(pop_engine *engine, FILE *stream)
{
  engine->print_stream = stream;
}

/* ---- host access by handle ---- */

static pop_error *find_handle(const pop_engine *engine, const char *handle, bool read, size_t bytes,
                              const host_tensor **found)
{
  const compilation *c = engine->compilation;
  const char *direction = read ? "read" : "write";
  const char **names = pop_xcalloc(c->num_host_tensors + 1, sizeof *names);
  size_t num_names = 0;
  *found = NULL;
  for (size_t i = 0; i < c->num_host_tensors && !*found; ++i) {
    const host_tensor *tensor = &c->host_tensors[i];
    if (tensor->print || tensor->read != read) continue;
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
  const host_tensor *tensor;
  POP_TRY(check_loaded(engine, "read a tensor"));
  POP_TRY(find_handle(engine, handle, true, bytes, &tensor));
  return engine_read_host_tensor(engine, tensor, data);
}

pop_error *pop_engine_write_tensor(pop_engine *engine, const char *handle, const void *data,
                                   size_t bytes)
{
  const host_tensor *tensor;
  POP_TRY(check_loaded(engine, "write a tensor"));
  POP_TRY(find_handle(engine, handle, false, bytes, &tensor));
  return engine_write_host_tensor(engine, tensor, data);
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
  uint32_t num_tiles = pop_target_num_tiles(&engine->compilation->target);
  if (tile >= num_tiles)
    return pop_error_new(POP_ERROR_INDEX, "there is no tile %u: the target has %u", tile,
                         num_tiles);
  *memory = engine->compilation->memory[tile];
  return NULL;
}

uint32_t pop_engine_loaded_bytes(const pop_engine *engine, uint32_t tile)
{
  return machine_loaded_bytes(engine->machine, tile);
}

pop_error *pop_engine_save_archive(const pop_engine *engine, const char *path)
{
  return compilation_save_archive(engine->compilation, path);
}

const pop_phase_time *pop_engine_phase_times(const pop_engine *engine, size_t *count)
{
  *count = engine->compilation->num_phase_times;
  return engine->compilation->phase_times;
}

pop_error *pop_engine_print_memory(const pop_engine *engine, FILE *stream)
{
  const compilation *c = engine->compilation;
  size_t num_tiles = pop_target_num_tiles(&c->target);
  print_memory_totals(stream, c->memory, num_tiles);
  fputs("\n", stream);
  print_memory_by_tile(stream, &c->target, c->memory, num_tiles);
  if (fflush(stream) != 0 || ferror(stream))
    return pop_error_errno(errno, "cannot print the memory summary");
  return NULL;
}
