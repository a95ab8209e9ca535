/* The top of the graph compiler: the passes in order, and the lifetime of a compilation. */
#include "compiler/compilation.h"
#include "compiler/dump.h"
#include "compiler/verify.h"
#include <populus/out_of_memory.h>

#include "base/log.h"
#include "isa/isa.h"
#include <regex.h>
#include <stdlib.h>

/* The order of compilation.h, which says what each pass adds. */
static const struct {
  const char *name; /* name of the phase for users */
  pop_error *(*run)(compilation *c);
} passes[] = {
    {"check", pass_check},       /* the graph is complete, and no two vertices race */
    {"place", pass_place},       /* each variable's elements on a tile become one block there */
    {"lower", pass_lower},       /* programs become steps, vertices get states and workers */
    {"exchange", pass_exchange}, /* transfers become timed exchange instructions */
    {"liveness", pass_liveness}, /* when the content of each block is needed */
    {"live_sections", pass_live_sections}, /* which functions each tile needs */
    {"stack", pass_stack},                 /* how much stack the workers of each tile need */
    {"emit", pass_emit},                   /* control code, control tables, exchange code */
    {"allocate", pass_allocate},           /* an address for each block; code is relocated */
    {"account", pass_account},             /* memory by category and region */
};

_Static_assert(sizeof passes / sizeof *passes == NUM_COMPILE_PASSES, "verify.h names them");

static pop_error *check_request(const pop_target *target, size_t num_programs,
                                const compile_options *options)
{
  POP_TRY(pop_target_validate(target));
  if (pop_target_num_tiles(target) > POP_TARGET_MAX_IMAGES)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "%u IPUs of %u tiles are more than a program can be compiled for, %d "
                         "tiles: make replicas of fewer IPUs (pop_graph_create_replicated)",
                         target->num_ipus, target->tiles_per_ipu, POP_TARGET_MAX_IMAGES);
  if (target->num_worker_contexts > ISA_MAX_WORKERS)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "target '%s' has %u workers per tile: tile instructions name 1 to %d",
                         target->name, target->num_worker_contexts, ISA_MAX_WORKERS);
  if (num_programs == 0 || num_programs >= COMPILER_NONE)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "there is no program to compile");
  if (options->worker_stack_bytes % 16 || options->supervisor_stack_bytes % 16)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "stacks of %u bytes per worker and %u for the supervisor were asked for: "
                         "they must be multiples of 16",
                         options->worker_stack_bytes, options->supervisor_stack_bytes);
  return NULL;
}

static pop_error *check_filter(const char *option, const char *text)
{
  regex_t filter;
  char message[128];
  if (!text || !*text) return NULL;
  int code = regcomp(&filter, text, REG_EXTENDED | REG_NOSUB);
  if (code == 0) {
    regfree(&filter);
    return NULL;
  }
  regerror(code, &filter, message, sizeof message);
  return pop_error_new(POP_ERROR_INVALID_OPTION,
                       "option '%s': '%s' is no extended regular expression: %s", option, text,
                       message);
}

static pop_error *check_blocks(const pop_target *target, const block_options *blocks)
{
  POP_TRY(check_filter("profiler.blocks.filter", blocks->filter));
  POP_TRY(check_filter("profiler.programs.filter", blocks->programs));
  for (size_t i = 0; i < blocks->num_tiles; i++)
    if (blocks->tiles[i] >= target->tiles_per_ipu)
      return pop_error_new(
          POP_ERROR_INVALID_OPTION,
          "option 'profiler.blocks.tile' names tile %u: each IPU has the tiles 0 to %u",
          blocks->tiles[i], target->tiles_per_ipu - 1);
  return NULL;
}

static compilation *start(pop_graph *graph, const uint32_t *programs, size_t num_programs,
                          const compile_options *options)
{
  compilation *c = pop_xcalloc(1, sizeof *c);
  c->graph = graph;
  c->target = graph->target;
  c->num_replicas = graph->num_replicas;
  c->options = *options;
  c->arena = pop_arena_new();
  for (size_t i = 0; i < graph->num_codelets; i++)
    pop_push(c->codelets, c->num_codelets, c->codelets_capacity, pop_gp_retain(graph->codelets[i]));
  for (size_t i = 0; i < num_programs; i++) {
    pop_push(c->control_programs, c->num_control_programs, c->control_programs_capacity,
             programs[i]);
    pop_push(c->program_names, c->num_program_names, c->program_names_capacity,
             pop_arena_strdup(c->arena, graph->programs[programs[i]].name));
  }
  return c;
}

/* POPULUS_VERIFY turns verification on in tests, whatever the options of the engine are. */
bool compilation_is_verified(const compilation *c)
{
  const char *wanted = getenv("POPULUS_VERIFY");
  return c->options.verify || (wanted && *wanted);
}

static pop_error *verify_after(const compilation *c, compile_pass pass)
{
  log_phase phase;
  if (c->options.verify) phase = log_phase_start("COMPILER", "verify");
  pop_error *error = verify_compilation(c, pass);
  if (error) return pop_error_prefix(error, "debug.verify, after %s", passes[pass].name);
  if (c->options.verify) log_phase_end(&phase);
  return NULL;
}

unsigned compile_num_steps(void)
{
  return NUM_COMPILE_PASSES;
}

/* POPULUS_DUMP: dump.h. */
static pop_error *check_dump(void)
{
  const char *names[NUM_COMPILE_PASSES];
  for (size_t i = 0; i < NUM_COMPILE_PASSES; i++) names[i] = passes[i].name;
  return dump_check(getenv("POPULUS_DUMP"), names, NUM_COMPILE_PASSES);
}

static pop_error *run_passes(void *context)
{
  compilation *c = context;
  const char *dumped = getenv("POPULUS_DUMP");
  bool verify = compilation_is_verified(c);
  for (size_t i = 0; i < NUM_COMPILE_PASSES; i++) {
    graph_report_progress(c->graph, (unsigned)i, NUM_COMPILE_PASSES);
    log_phase phase = log_phase_start("COMPILER", passes[i].name);
    POP_TRY(passes[i].run(c));
    pop_push(c->phase_times, c->num_phase_times, c->phase_times_capacity,
             (pop_phase_time){passes[i].name, log_phase_end(&phase)});
    if (dump_wanted(dumped, passes[i].name)) dump_compilation(c, passes[i].name, stderr);
    if (verify) POP_TRY(verify_after(c, (compile_pass)i));
  }
  return NULL;
}

pop_error *compile(pop_graph *graph, const uint32_t *programs, size_t num_programs,
                   const compile_options *options, compilation **out)
{
  POP_TRY(check_request(&graph->target, num_programs, options));
  POP_TRY(check_blocks(&graph->target, &options->blocks));
  POP_TRY(check_dump());
  compilation *c = start(graph, programs, num_programs, options);
  pop_error *error = pop_with_memory("compiling the graph", run_passes, c);
  if (error) {
    compilation_free(c);
    return error;
  }
  c->graph = NULL;
  c->options.blocks = (block_options){0}; /* not owned */
  *out = c;
  return NULL;
}

static void free_code(compilation *c)
{
  for (size_t i = 0; i < c->num_code_groups; i++) {
    pop_live_sections_free(c->code_groups[i].live);
    free(c->code_groups[i].bytes);
    free(c->code_groups[i].tls_bytes);
  }
  free(c->code_groups);
  pop_link_set_free(c->link_set);
  for (size_t i = 0; i < c->num_codelets; i++) pop_gp_free(c->codelets[i]);
  free(c->codelets);
}

void compilation_free(compilation *c)
{
  if (!c) return;
  free_code(c);
  void *const arrays[] = {
      c->bytes,          c->fixups,          c->contents,         c->blocks,
      c->variables,      c->intervals,       c->vertex_types,     c->vertices,
      c->works,          c->compute_sets,    c->messages,         c->receivers,
      c->exchanges,      c->steps,           c->children,         c->accesses,
      c->controls,       c->case_values,     c->control_programs, c->host_tensors,
      c->host_runs,      c->host_events,     c->profile_blocks,   c->block_marks,
      c->acknowledged,   c->tile_exchanges,  c->exchange_ops,     c->code_patches,
      c->tiles,          c->blocks_by_tile,  c->memory,           c->phase_times,
      c->program_names,  c->placement_rules, c->streams,          c->remote_buffers,
      c->host_exchanges, c->host_windows,    c->host_packets,     c->measures,
      c->vertex_uses,    c->block_is_timed,  c->patterns.slots,
  };
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
  pop_error_free(c->out_of_memory);
  pop_arena_free(c->arena);
  free(c);
}
