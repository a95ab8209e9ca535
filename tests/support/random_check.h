/* A random graph, compiled and run, against its model: shared by
 * tests/unit/engine/random.c and tests/fuzz/graph.c. */
#ifndef POPULUS_TEST_RANDOM_CHECK_H
#define POPULUS_TEST_RANDOM_CHECK_H

#include "random_nodes.h"
#include "random_options.h"

#include <inttypes.h>
#include <populus/popc.h>
#include <populus/profile.h>

enum {
  NUM_ROUNDS = 4,     /* a program is run in each */
  MAX_LEAF_RUNS = 200 /* in one run of a program */
};

/* ---- a graph ---- */

static inline pop_target random_target(random_graph *g)
{
  model *m = &g->m;
  pop_target target;
  const char *const *names = pop_target_names();
  expect_ok(pop_target_create(names[model_random(m, 3)], 1, &target));
  target.tiles_per_ipu = 1 + model_random(m, MAX_TILES);
  if (model_chance(m, 3)) target.num_ipus = 2 + model_random(m, 3);
  if (g->has_options && model_chance(m, 2)) vary_target(m, &target);
  g->num_tiles = pop_target_num_tiles(&target);
  return target;
}

/* The host does not see all variables. The memory of one that it does not see may be reused while
 * its contents do not matter. */
static inline void create_handles(random_graph *g)
{
  model *m = &g->m;
  for (uint32_t v = 0; v < m->num_variables; ++v)
    if ((g->host_reads[v] = model_chance(m, g->num_programs == 1 ? 5 : 2)))
      pop_graph_create_host_read(m->graph, pop_arena_printf(m->arena, "all %u", v),
                                 m->variables[v].tensor);
  for (uint32_t i = 0; i < NUM_VIEWS; ++i) {
    g->reads[i] = model_random_view(m, POP_TYPE_COUNT, true);
    pop_graph_create_host_read(m->graph, pop_arena_printf(m->arena, "read %u", i),
                               g->reads[i].tensor);
    model_view *write = &g->writes[g->num_writes];
    if (!model_random_writable(m, POP_TYPE_COUNT, write)) continue;
    pop_graph_create_host_write(
        m->graph, pop_arena_printf(m->arena, "write %u", (unsigned)g->num_writes++), write->tensor);
  }
}

/* From a seed, for fuzzers also from bytes (model.h), with the `.gp` of tests/codelets/random.c. */
static inline random_graph *new_random_graph(uint64_t seed, const char *codelets)
{
  random_graph *g = pop_xmalloc(sizeof *g);
  *g = (random_graph){
      .seed = seed, .codelets = codelets, .m = {.random = seed, .arena = pop_arena_new()}};
  return g;
}

/* For the CPU it is the same graph, with meaningless tiles. */
static inline void build(random_graph *g, bool on_cpu)
{
  model *m = &g->m;
  pop_target target = random_target(g);
  if (on_cpu) pop_target_create_cpu(&target);
  if (on_cpu) target.tiles_per_ipu = g->num_tiles;
  /* Variables of a single program may share memory. So half of the graphs have only one program. */
  g->num_programs = model_chance(m, 2) ? 1 : NUM_PROGRAMS;
  g->num_leaves = g->num_programs == 1 ? 24 : 10;
  g->num_nodes = g->num_leaves + 6;
  m->graph = pop_graph_create(&target);
  pop_graph_add_codelets(m->graph, g->codelets, NULL);
  add_variables(g);
  set_initial_values(g);
  for (size_t i = 0; i < g->num_nodes; ++i) make_node(g, &g->nodes[i]);
  for (size_t i = 0; i < g->num_programs; ++i) g->programs[i] = &g->nodes[g->num_nodes - 1 - i];
  create_handles(g);
  const pop_error *error = pop_graph_error(m->graph);
  cr_assert_null(error, "seed %" PRIu64 ": %s", g->seed, error ? pop_error_message(error) : "");
}

/* By way of a file. */
static inline pop_engine *load_again(pop_engine *engine)
{
  static const char path[] = "again.a";
  pop_executable *executable;
  pop_engine *again;
  expect_ok(pop_engine_save_archive(engine, path));
  pop_engine_free(engine);
  expect_ok(pop_executable_load(path, &executable));
  expect_ok(pop_engine_create_from_executable(executable, NULL, 0, &again));
  pop_executable_free(executable);
  return again;
}

/* Some graphs get options that do not change what is computed. */
static inline pop_engine *compile_graph(random_graph *g)
{
  pop_program programs[NUM_PROGRAMS];
  pop_option options[MAX_RANDOM_OPTIONS];
  pop_engine *engine;
  size_t num_options = g->has_options ? random_options(&g->m, options) : 0;
  g->blocks_may_be_lost =
      has_option(options, num_options, "profiler.blocks.implicitFlush", "false");
  for (size_t i = 0; i < g->num_programs; ++i) programs[i] = g->programs[i]->program;
  pop_error *error =
      pop_engine_create(g->m.graph, programs, g->num_programs, options, num_options, &engine);
  cr_assert_null(error, "seed %" PRIu64 ": %s", g->seed, error ? pop_error_message(error) : "");
  return g->has_options && model_chance(&g->m, 2) ? load_again(engine) : engine;
}

static inline void free_graph(random_graph *g)
{
  free_streams(g);
  pop_graph_free(g->m.graph);
  pop_arena_free(g->m.arena);
}

/* ---- comparison ---- */

static inline void compare(random_graph *g, pop_engine *engine, const char *handle,
                           const model_view *view, int round)
{
  size_t size = pop_type_bytes(view->type), bytes = view->num_elements * size;
  uint8_t *expected = pop_xcalloc(bytes + 1, 1), *found = pop_xcalloc(bytes + 1, 1);
  model_gather(&g->m, view, expected);
  pop_error *error = pop_engine_read_tensor(engine, handle, found, bytes);
  cr_assert_null(error, "seed %" PRIu64 ": %s", g->seed, error ? pop_error_message(error) : "");
  for (size_t i = 0; i < bytes; ++i)
    cr_assert_eq(found[i], expected[i],
                 "seed %" PRIu64
                 ", after run %d, handle '%s' (%s): byte %zu of element %zu is %02x, "
                 "not %02x",
                 g->seed, round, handle, pop_type_name(view->type), i % size, i / size, found[i],
                 expected[i]);
  free(expected);
  free(found);
}

static inline void compare_all(random_graph *g, pop_engine *engine, int round)
{
  model *m = &g->m;
  for (uint32_t v = 0; v < m->num_variables; ++v) {
    if (!g->host_reads[v]) continue;
    model_view view = model_whole(m, v);
    compare(g, engine, pop_arena_printf(m->arena, "all %u", v), &view, round);
  }
  for (uint32_t i = 0; i < NUM_VIEWS; ++i)
    compare(g, engine, pop_arena_printf(m->arena, "read %u", i), &g->reads[i], round);
}

static inline void compare_memory(random_graph *g, pop_engine *engine)
{
  for (uint32_t tile = 0; tile < g->num_tiles; ++tile) {
    pop_tile_memory memory;
    expect_ok(pop_engine_tile_memory(engine, tile, &memory));
    cr_assert_eq(memory.total_including_gaps, pop_engine_loaded_bytes(engine, tile),
                 "seed %" PRIu64 ", tile %u: %u bytes reported, %u loaded", g->seed, tile,
                 memory.total_including_gaps, pop_engine_loaded_bytes(engine, tile));
  }
}

static inline void write_something(random_graph *g, pop_engine *engine)
{
  model *m = &g->m;
  if (g->num_writes == 0) return;
  uint32_t i = model_random(m, (uint32_t)g->num_writes);
  const model_view *view = &g->writes[i];
  size_t size = pop_type_bytes(view->type);
  uint8_t *values = model_buffer(m, view);
  for (size_t e = 0; e < view->num_elements; ++e)
    model_random_value(m, view->type, values + e * size);
  const char *handle = pop_arena_printf(m->arena, "write %u", i);
  pop_error *error = pop_engine_write_tensor(engine, handle, values, view->num_elements * size);
  cr_assert_null(error, "seed %" PRIu64 ": %s", g->seed, error ? pop_error_message(error) : "");
  model_scatter(m, view, values);
}

static inline void run_rounds(random_graph *g, pop_engine *engine)
{
  for (int round = 1; round <= NUM_ROUNDS; ++round) {
    if (model_chance(&g->m, 2)) write_something(g, engine);
    size_t program = model_random(&g->m, (uint32_t)g->num_programs);
    if (count_leaf_runs(g->programs[program]) > MAX_LEAF_RUNS) continue;
    run_node(g, g->programs[program]);
    pop_error *error = pop_engine_run(engine, program);
    cr_assert_null(error, "seed %" PRIu64 ": %s", g->seed, error ? pop_error_message(error) : "");
    compare_all(g, engine, round);
    compare_streams(g);
    compare_remotes(g, engine);
  }
}

/* All timed blocks come to their ends, unless an option lets buffers overflow. */
static inline void check_timed_blocks(const random_graph *g, const pop_engine *engine)
{
  static const char *const losses[] = {"\"Overflow\"", "\"Unknown\"", "endUnknown"};
  char *text;
  size_t bytes;
  if (g->blocks_may_be_lost) return;
  FILE *stream = open_memstream(&text, &bytes);
  expect_ok(pop_engine_write_execution_profile(engine, POP_PROFILE_JSON, stream));
  fclose(stream);
  for (size_t i = 0; i < 3; ++i) {
    const char *found = strstr(text, losses[i]);
    cr_assert_null(found, "seed %" PRIu64 ": %.300s", g->seed, found ? found : "");
  }
  free(text);
}

/* Makes the graph of `g`, which new_random_graph has made, and frees it. Every difference fails. */
static inline void check_graph(random_graph *g, bool on_cpu)
{
  char *model_text, *engine_text;
  size_t model_bytes, engine_bytes;
  build(g, on_cpu);
  pop_engine *engine = compile_graph(g);
  g->printed = open_memstream(&model_text, &model_bytes);
  FILE *printed = open_memstream(&engine_text, &engine_bytes);
  pop_engine_set_print_stream(engine, printed);
  connect_streams(g, engine);
  pop_error *error = pop_engine_load(engine);
  cr_assert_null(error, "seed %" PRIu64 ": %s", g->seed, error ? pop_error_message(error) : "");
  fill_remotes(g, engine);
  if (!on_cpu) compare_memory(g, engine);
  compare_all(g, engine, 0);
  run_rounds(g, engine);
  if (g->has_options) check_timed_blocks(g, engine);
  fclose(printed);
  fclose(g->printed);
  cr_assert_str_eq(engine_text, model_text, "seed %" PRIu64 ": other text printed", g->seed);
  free(engine_text);
  free(model_text);
  pop_engine_free(engine);
  free_graph(g);
  free(g);
}

/* ---- codelets ---- */

/* In the folder where we are. */
static inline void compile_random_codelets(const char *to)
{
  char path[4096];
  const char *input = path;
  snprintf(path, sizeof path, "%s/tests/codelets/random.c", getenv("POPULUS_SOURCE_DIR"));
  popc_options options = {.size = sizeof options,
                          .inputs = &input,
                          .num_inputs = 1,
                          .output = to,
                          .diagnostics_fd = -1};
  expect_ok(popc_compile(&options, NULL, NULL));
}

#endif
