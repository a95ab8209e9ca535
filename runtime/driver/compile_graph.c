/* Makes an executable from a graph, and an engine from a graph or an executable.
 *
 *   graph --compile--> compilation --compilation_describe--> executable --engine_new--> engine
 *
 * The executable keeps the compilation: until there is an archive, its images come from there.
 */
#include "base/log.h"

#include "compiler/compilation.h"
#include "driver/compile_on_one_rank.h"
#include "driver/executable_cache.h"
#include "driver/source_lines.h"
#include "engine/engine_private.h"
#include "engine/reports.h"
#include "options/options.h"
#include "poplibs/host/our_cycles.h"
#include <populus/out_of_memory.h>

#include <stdlib.h>
#include <string.h>

/* ---- images of a compilation ---- */

/* The image is written and read back, like any file. */
static pop_error *read_image(const pop_executable *e, uint32_t tile, unsigned parts, pop_bytes *elf,
                             pop_arena *arena, pop_image *image)
{
  (void)parts;
  char name[16];
  bool overflowed;
  pop_archive_tile_name(tile, name);
  elf->size = 0;
  POP_TRY(compilation_tile_image(e->images.context, tile, arena, image));
  POP_TRY(pop_image_write(image, elf));
  return pop_image_read(elf->data, elf->size, name, &e->target, arena, image, &overflowed);
}

static pop_error *save(void *context, const pop_executable *executable, pop_archive_writer *writer)
{
  return compilation_save_members(context, executable, writer);
}

static executable_lines *open_lines(const pop_executable *e, uint32_t tile)
{
  return source_lines_open(e->images.context, tile);
}

static pop_error *describe_profile(const pop_executable *e, executable_profile *profile)
{
  return compilation_describe_profile(e->images.context, profile);
}

static void free_compilation(void *context)
{
  compilation_free(context);
}

/* ---- compiling ---- */

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

static pop_error *describe(void *context)
{
  pop_executable *e = context;
  compilation_describe(e->images.context, e);
  return NULL;
}

/* Takes ownership of the compilation. */
static pop_error *new_executable(compilation *c, const engine_options *options,
                                 pop_executable **executable)
{
  pop_executable *e = executable_new();
  e->images = (executable_images){
      read_image,       save, open_lines, source_lines_find, source_lines_close, describe_profile,
      free_compilation, c};
  pop_error *error = pop_with_memory("describing the executable", describe, e);
  if (error) {
    pop_executable_free(e);
    return error;
  }
  size_t count;
  const executable_option *given = options_given(options, ON_COMPILE, &count);
  for (size_t i = 0; i < count; ++i)
    pop_push(e->options, e->num_options, e->options_capacity,
             (executable_option){given[i].key, pop_arena_strdup(e->arena, given[i].value)});
  if (compilation_is_verified(c)) error = executable_verify(e);
  if (error)
    pop_executable_free(e);
  else
    *executable = e;
  return error;
}

/* ---- for the CPU ---- */

static pop_error *refuse_image(const pop_executable *e, uint32_t tile, unsigned parts,
                               pop_bytes *elf, pop_arena *arena, pop_image *image)
{
  (void)e;
  (void)tile;
  (void)parts;
  (void)elf;
  (void)arena;
  (void)image;
  return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "there are no tile images for the CPU");
}

static pop_error *refuse_profile(const pop_executable *e, executable_profile *profile)
{
  (void)e;
  (void)profile;
  return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                       "there is no graph profile for the CPU: it has no tiles and no memory plan");
}

static void free_cpu_program(void *context)
{
  cpu_program_free(context);
}

/* The CPU's program is not cached: it is made in less time than reading it would take. */
static pop_error *compile_for_cpu(pop_graph *graph, const uint32_t *programs, size_t num_programs,
                                  const engine_options *options, pop_executable **executable)
{
  cpu_program *program;
  graph_say_construction(graph);
  if (!options->allow_host_code)
    return pop_error_new(POP_ERROR_INVALID_OPTION,
                         "target.allowHostCode is false, and on the CPU codelets are code of the "
                         "host, which can do all that this process can; compile for an IPU, or "
                         "allow it");
  log_phase compiling = log_phase_start("ENGINE", "Compiling for the CPU");
  const cpu_compile_options given = {options->runtime_verify, options->trace};
  POP_TRY(cpu_compile(graph, programs, num_programs, &given, &program));
  log_phase_end(&compiling);
  if (*options->save_archive || *options->variable_file || *options->program_file ||
      *options->graph_report)
    log_write(LOG_WARN, "ENGINE",
              "no archive and no reports are written: the CPU has no tiles, images or memory plan");
  pop_executable *e = executable_new();
  e->images = (executable_images){.read = refuse_image,
                                  .profile = refuse_profile,
                                  .free = free_cpu_program,
                                  .context = program};
  e->cpu = program;
  cpu_describe(program, e);
  *executable = e;
  return NULL;
}

static void keep_run_options(pop_executable *e, const engine_options *options)
{
  size_t count;
  const executable_option *given = options_given(options, ON_RUN, &count);
  for (size_t i = 0; i < count; ++i)
    pop_push(e->run_options, e->num_run_options, e->run_options_capacity,
             (executable_option){given[i].key, pop_arena_strdup(e->arena, given[i].value)});
  e->reported_to = pop_arena_strdup(e->arena, options->run.report_directory);
}

/* The instrumentation that options ask for. Branches are recorded whenever steps are measured,
 * since no step after a branch could be placed otherwise; on an IPU Model always. */
static instrumentation instrumentation_of(const pop_target *target, const engine_options *options)
{
  static const instrumentation_level levels[] = {[PROFILE_COMPUTE_SETS] = INSTRUMENT_TILES,
                                                 [PROFILE_SINGLE_TILE_COMPUTE_SETS] =
                                                     INSTRUMENT_DEVICE,
                                                 [PROFILE_VERTICES] = INSTRUMENT_VERTICES,
                                                 [PROFILE_HOST_EXCHANGES] = INSTRUMENT_NOTHING};
  bool all = options->instrument;
  instrumentation_level compute = all || options->instrument_compute
                                      ? (instrumentation_level)(options->instrumentation_level + 1)
                                      : levels[options->execution_profile];
  return (instrumentation){
      .compute = compute,
      .control_flow = all || options->instrument_control_flow || compute != INSTRUMENT_NOTHING ||
                      target->type == POP_TARGET_IPU_MODEL,
      .external_exchange = all || options->instrument_external_exchange ||
                           options->execution_profile >= PROFILE_EXTERNAL_EXCHANGES,
      .blocks = *options->block_filter || *options->block_programs,
  };
}

/* Parses "0,17" into a list, which the caller frees. */
static pop_error *block_tiles(const engine_options *options, uint32_t **tiles, size_t *count)
{
  size_t capacity = 0;
  for (const char *at = options->block_tiles; *at || *count == 0;) {
    char *end;
    unsigned long tile = strtoul(at, &end, 10);
    bool is_number = *at >= '0' && *at <= '9' && tile < UINT32_MAX;
    if (!is_number || (*end && (*end != ',' || !end[1])))
      return pop_error_new(
          POP_ERROR_INVALID_OPTION,
          "option 'profiler.blocks.tile' cannot be '%s': it takes numbers of tiles "
          "with commas between them",
          options->block_tiles);
    pop_push(*tiles, *count, capacity, (uint32_t)tile);
    at = *end ? end + 1 : end;
  }
  return NULL;
}

/* May compilation go on if the graph is too large for its tiles? Yes on a model, and for an IPU if
 * reports are wanted. */
static bool allows_out_of_memory(const pop_graph *graph, const engine_options *options)
{
  return options->allow_out_of_memory || graph->target.type == POP_TARGET_IPU_MODEL ||
         reports_want_graph(options);
}

/* Compiles for tiles. */
static pop_error *compile_for_tiles(pop_graph *graph, const uint32_t *programs, size_t num_programs,
                                    const engine_options *options, pop_executable **executable)
{
  uint32_t *tiles = NULL;
  size_t num_tiles = 0;
  graph_say_construction(graph);
  pop_error *error = block_tiles(options, &tiles, &num_tiles);
  const compile_options given = {
      .allow_out_of_memory = allows_out_of_memory(graph, options),
      .runs_out_of_memory = graph->target.type == POP_TARGET_IPU_MODEL,
      .keep_duplicate_code = options->keep_duplicate_code,
      .worker_stack_bytes = options->worker_stack_bytes,
      .supervisor_stack_bytes = options->supervisor_stack_bytes,
      .num_threads = options->num_threads,
      .global_symbols_only = !options->output_all_symbols,
      .drop_debug_information = !options->retain_debug_information,
      .verify = options->verify,
      .check_equality = options->runtime_verify,
      .log_stack_sizes = options->log_stack_sizes,
      .trace = options->trace,
      .multicast_policy = options->multicast_policy,
      .exchange_target = options->exchange_target,
      .instrumentation = instrumentation_of(pop_graph_get_target(graph), options),
      .blocks = {.filter = options->block_filter,
                 .programs = options->block_programs,
                 .tiles = tiles,
                 .num_tiles = num_tiles,
                 .buffer_bytes = options->block_buffer_bytes,
                 .implicit_flush = options->block_implicit_flush},
      .sections_by_category = options->sections == SECTIONS_BY_CATEGORY,
  };
  compilation *c;
  if (!error) error = compile(graph, programs, num_programs, &given, &c);
  free(tiles);
  POP_TRY(error);
  return new_executable(c, options, executable);
}

/* Was the graph compiled only for its reports? */
static bool is_only_for_reports(const pop_executable *e, const engine_options *options)
{
  return e->out_of_memory && !options->allow_out_of_memory &&
         e->target.type != POP_TARGET_IPU_MODEL;
}

/* Takes an executable for tiles from the cache, or compiles it and puts it there. */
static pop_error *compile_cached(pop_graph *graph, const uint32_t *programs, size_t num_programs,
                                 const engine_options *options, pop_executable **executable)
{
  if (graph->target.type == POP_TARGET_CPU)
    return compile_for_cpu(graph, programs, num_programs, options, executable);
  uint64_t source[2] = {0};
  if (*options->cache_folder || log_enabled(LOG_INFO))
    executable_source(graph, programs, num_programs, options, source);
  const char *given = graph->programs[programs[0]].name, *name = *given ? given : "program 0";
  log_write(LOG_INFO, "ENGINE", "Begin compilation: %s (Hash 0x%016llx)", name,
            (unsigned long long)source[0]);
  if (!*options->cache_folder)
    return compile_for_tiles(graph, programs, num_programs, options, executable);
  executable_cache cache = executable_cache_open(source, name, options);
  *executable = executable_cache_find(&cache);
  if (*executable) return NULL;
  POP_TRY(compile_for_tiles(graph, programs, num_programs, options, executable));
  if (!is_only_for_reports(*executable, options)) executable_cache_put(&cache, *executable);
  return NULL;
}

typedef struct compiling {
  pop_graph *graph;
  const uint32_t *programs;
  size_t num_programs;
  const engine_options *options;
} compiling;

static pop_error *compile_alone(void *context, pop_executable **executable)
{
  const compiling *c = context;
  return compile_cached(c->graph, c->programs, c->num_programs, c->options, executable);
}

/* Ranks that share replicas run one executable. One for the CPU has no archive that could be sent:
 * each rank compiles it. */
static pop_error *compile_for_ranks(compiling *c, pop_executable **executable)
{
  ranks *r;
  uint64_t source[2];
  POP_TRY(ranks_open(&r));
  executable_source(c->graph, c->programs, c->num_programs, c->options, source);
  pop_error *error = compile_on_one_rank(r, source, compile_alone, c, executable);
  ranks_close(r);
  return error;
}

/* For a graph that is too large, a failed report is only logged: the error about memory matters
 * more. */
static pop_error *report_out_of_memory(pop_graph *graph, const pop_executable *e,
                                       const engine_options *options)
{
  pop_error *error = write_reports(graph, e, options);
  if (error) log_write(LOG_WARN, "ENGINE", "%s", pop_error_message(error));
  char *profile = !error ? reports_profile_path(options) : NULL;
  pop_error_free(error);
  error = pop_error_new(POP_ERROR_GRAPH_MEMORY, "%s%s%s", e->out_of_memory,
                        profile ? "\nProfile saved to: " : "", profile ? profile : "");
  if (profile) error = pop_error_with_report(error, profile);
  free(profile);
  return error;
}

static void warn_out_of_memory(const pop_executable *e)
{
  bool is_model = e->target.type == POP_TARGET_IPU_MODEL;
  log_write(LOG_WARN, "ENGINE", "%s%s",
            is_model ? "an IPU Model goes on in memory that an IPU does not have: "
                     : "debug.allowOutOfMemory: ",
            e->out_of_memory);
}

/* Ends the construction of the graph, gets the estimates of vertices, compiles, and writes the
 * reports that options ask for. `for_ranks`: one compilation, and one report, for all ranks. */
static pop_error *compile_and_report(pop_graph *graph, const pop_program *programs,
                                     size_t num_programs, const engine_options *options,
                                     bool for_ranks, pop_executable **executable)
{
  graph_end_construction(graph);
  static const estimate_source sources[] = {[LIBRARY_CYCLES_OF_CHIP] = ESTIMATE_CHIP,
                                            [LIBRARY_CYCLES_OF_OURS] = ESTIMATE_OURS,
                                            [LIBRARY_CYCLES_OF_CODE] = ESTIMATE_NONE};
  our_cycles_add_estimators(graph);
  graph_estimate_vertices(graph, sources[options->library_cycles]);
  uint32_t *indices = pop_xcalloc(num_programs, sizeof *indices);
  for (size_t i = 0; i < num_programs; ++i) indices[i] = programs[i].index - 1;
  pop_executable *e = NULL;
  compiling c = {graph, indices, num_programs, options};
  for_ranks = for_ranks && graph->num_replicas > 1 && graph->target.type != POP_TARGET_CPU;
  pop_error *error = for_ranks ? compile_for_ranks(&c, &e) : compile_alone(&c, &e);
  free(indices);
  if (!error && e->cpu) warn_of_no_reports(options);
  if (!error && is_only_for_reports(e, options))
    error = report_out_of_memory(graph, e, options);
  else if (!error && e->out_of_memory)
    warn_out_of_memory(e);
  if (!error && !e->cpu && !e->owned_archive) error = write_reports(graph, e, options);
  if (!error) graph_report_progress(graph, compile_num_steps(), compile_num_steps());
  if (error) {
    log_write(LOG_ERR, "ENGINE", "%s", pop_error_message(error));
    pop_executable_free(e);
    return error;
  }
  *executable = e;
  return NULL;
}

/* Compiles with exclusive use of the graph. */
static pop_error *compile_locked(pop_graph *graph, const pop_program *programs, size_t num_programs,
                                 const engine_options *options, bool for_ranks,
                                 pop_executable **executable)
{
  POP_TRY(graph_begin_compilation(graph));
  pop_error *error =
      compile_and_report(graph, programs, num_programs, options, for_ranks, executable);
  graph_end_compilation(graph);
  return error;
}

/* Replaces a virtual graph by the graph that it is a view of. */
static pop_error *check_graph(const char *function, pop_graph **checked,
                              const pop_program *programs, size_t num_programs)
{
  POP_TRY(object_check(*checked, OBJECT_GRAPH, function));
  const pop_graph *graph = *checked = (*checked)->top;
  if (graph->error)
    return pop_error_new(pop_error_get_code(graph->error), "%s", pop_error_message(graph->error));
  return check_programs(graph, programs, num_programs);
}

pop_error *pop_compile_graph(pop_graph *graph, const pop_program *programs, size_t num_programs,
                             const pop_option *options, size_t num_options,
                             pop_executable **executable)
{
  POP_TRY(object_check_argument(executable, "the executable to make", __func__));
  *executable = NULL;
  POP_TRY(object_check_list(programs, num_programs, "programs", __func__));
  POP_TRY(object_check_list(options, num_options, "options", __func__));
  engine_options parsed;
  POP_TRY(check_graph("pop_compile_graph", &graph, programs, num_programs));
  POP_TRY(engine_options_parse(options, num_options, ON_COMPILE | ON_SAVE, NULL, &parsed));
  pop_error *error = compile_locked(graph, programs, num_programs, &parsed, false, executable);
  if (!error) keep_run_options(*executable, &parsed);
  engine_options_free(&parsed);
  return error;
}

/* ---- engines ---- */

static pop_error *new_engine(pop_executable *executable, const engine_options *options,
                             pop_engine **engine)
{
  POP_TRY(engine_new(executable, &options->run, engine));
  executable_option *parameters;
  size_t count = options_of_runs(options, &parameters);
  execution_profile_set_parameters((*engine)->profile, parameters, count);
  free(parameters);
  return NULL;
}

pop_error *pop_engine_create(pop_graph *graph, const pop_program *programs, size_t num_programs,
                             const pop_option *options, size_t num_options, pop_engine **engine)
{
  POP_TRY(object_check_argument(engine, "the engine to make", __func__));
  *engine = NULL;
  POP_TRY(object_check_list(programs, num_programs, "programs", __func__));
  POP_TRY(object_check_list(options, num_options, "options", __func__));
  engine_options parsed;
  pop_executable *executable = NULL;
  POP_TRY(check_graph("pop_engine_create", &graph, programs, num_programs));
  POP_TRY(engine_options_parse(options, num_options, ON_ALL_STAGES, NULL, &parsed));
  pop_error *error = compile_locked(graph, programs, num_programs, &parsed, true, &executable);
  if (!error) error = new_engine(executable, &parsed, engine);
  engine_options_free(&parsed);
  pop_executable_free(executable);
  return error;
}

pop_error *pop_engine_create_from_executable(pop_executable *executable, const pop_option *options,
                                             size_t num_options, pop_engine **engine)
{
  POP_TRY(object_check_argument(engine, "the engine to make", __func__));
  *engine = NULL;
  POP_TRY(object_check(executable, OBJECT_EXECUTABLE, __func__));
  POP_TRY(object_check_list(options, num_options, "options", __func__));
  engine_options parsed;
  POP_TRY(engine_options_parse(options, num_options, ON_RUN, executable, &parsed));
  pop_error *error = write_reports(NULL, executable, &parsed);
  if (!error) error = new_engine(executable, &parsed, engine);
  engine_options_free(&parsed);
  return error;
}

pop_error *pop_engine_create_from_memory(const void *bytes, size_t size, const char *name,
                                         const pop_option *options, size_t num_options,
                                         pop_engine **engine)
{
  POP_TRY(object_check_argument(engine, "the engine to make", __func__));
  *engine = NULL;
  POP_TRY(object_check_list(bytes, size, "bytes", __func__));
  POP_TRY(object_check_list(options, num_options, "options", __func__));
  pop_executable *executable;
  POP_TRY(pop_executable_load_memory(bytes, size, name, &executable));
  pop_error *error = pop_engine_create_from_executable(executable, options, num_options, engine);
  pop_executable_free(executable);
  return error;
}
