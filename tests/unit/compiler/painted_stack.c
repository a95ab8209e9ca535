/* No codelet uses more stack than the analysis says. Before a run all stacks are filled with a
 * pattern ("paint"). Bytes that have lost it after the run were used. A vertex that stores below
 * its stack would fault. So every run shows both that the stack suffices and how much of it is
 * used. The vertices are those of tests/codelets/stacks.cpp, each on a tile of its own, compiled
 * with several levels of optimisation. */
#include "support/expect.h"

#include "support/compiled.h"
#include <populus/popc.h>
#include <populus/populus.h>
#include <populus/stack.h>
#include <stdio.h>

TestSuite(painted_stack, .init = enter_fresh_folder);

enum { WORDS = 256, PAINT = 0xa5, MAX_STACK_BYTES = 1 << 16, LEAST_EXACT = 8 };

static pop_gp *compile_codelets(const char *level)
{
  char source[4096];
  snprintf(source, sizeof source, "%s/tests/codelets/stacks.cpp", getenv("POPULUS_SOURCE_DIR"));
  const char *input = source, *flags[] = {level, "--target=ipu2", "-Wall", "-Werror"};
  popc_options options = {.size = sizeof options,
                          .inputs = &input,
                          .num_inputs = 1,
                          .output = "stacks.gp",
                          .flags = flags,
                          .num_flags = sizeof flags / sizeof *flags,
                          .diagnostics_fd = -1};
  expect_ok(popc_compile(&options, NULL, NULL));
  pop_gp *gp;
  expect_ok(pop_gp_read("stacks.gp", &gp));
  return gp;
}

/* Vertex type i is on tile i. One program executes all of them. */
static pop_engine *new_engine(const pop_gp *gp)
{
  size_t count = pop_gp_num_vertex_types(gp), shape[] = {count, WORDS};
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = (uint32_t)count;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets(graph, "stacks.gp", NULL);
  pop_tensor words = pop_graph_add_variable(graph, POP_INT, shape, 2, "words");
  pop_tensor floats = pop_graph_add_variable(graph, POP_FLOAT, shape, 2, "floats");
  pop_graph_create_host_write(graph, "words", words);
  pop_compute_set set = pop_graph_add_compute_set(graph, "all");
  for (size_t i = 0; i < count; ++i) {
    pop_vertex vertex = pop_graph_add_vertex(graph, set, pop_gp_vertex_type(gp, i)->name);
    pop_graph_set_vertex_tile(graph, vertex, i);
    pop_graph_set_tile_mapping(graph, pop_tensor_index(words, i), i);
    pop_graph_set_tile_mapping(graph, pop_tensor_index(floats, i), i);
    pop_graph_connect(graph, vertex, "words", pop_tensor_index(words, i));
    pop_graph_connect(graph, vertex, "floats", pop_tensor_index(floats, i));
  }
  pop_program program = pop_program_execute(graph, set, "run");
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &program, 1, NULL, 0, &engine));
  pop_graph_free(graph);
  expect_ok(pop_engine_load(engine));
  return engine;
}

static const block *worker_stack(const pop_engine *engine, uint32_t tile, uint32_t worker)
{
  const compilation *c = engine_compilation(engine);
  const block *stack = &c->blocks[c->tiles[tile].stack_blocks[worker]];
  cr_assert(stack->size <= MAX_STACK_BYTES);
  return stack;
}

static void paint_stacks(pop_engine *engine, uint32_t tile)
{
  static uint8_t paint[MAX_STACK_BYTES];
  memset(paint, PAINT, sizeof paint);
  for (uint32_t w = 0; w < engine_compilation(engine)->target.num_worker_contexts; ++w) {
    const block *stack = worker_stack(engine, tile, w);
    expect_ok(machine_write(engine->replicas[0].machine, tile, stack->address, paint, stack->size));
  }
}

/* The bytes from the lowest overwritten one to the top, for the worker with the deepest stack. */
static uint32_t touched_bytes(const pop_engine *engine, uint32_t tile)
{
  static uint8_t bytes[MAX_STACK_BYTES];
  uint32_t most = 0;
  for (uint32_t w = 0; w < engine_compilation(engine)->target.num_worker_contexts; ++w) {
    const block *stack = worker_stack(engine, tile, w);
    expect_ok(machine_read(engine->replicas[0].machine, tile, stack->address, bytes, stack->size));
    uint32_t untouched = 0;
    while (untouched < stack->size && bytes[untouched] == PAINT) ++untouched;
    if (stack->size - untouched > most) most = stack->size - untouched;
  }
  return most;
}

static uint32_t computed_bytes(const pop_engine *engine, const char *name)
{
  const compilation *c = engine_compilation(engine);
  for (size_t i = 0; i < c->num_vertex_types; ++i)
    if (!strcmp(c->vertex_types[i].type->name, name)) return c->vertex_types[i].stack_bytes;
  cr_assert_fail("no vertex type %s", name);
  return 0;
}

/* Falling, rising, equal and mixed words make the sort take different paths. */
static void write_words(pop_engine *engine, size_t count, unsigned round)
{
  int *words = pop_xcalloc(count * WORDS, sizeof *words);
  uint32_t state = 88172645;
  for (size_t i = 0; i < count * WORDS; ++i) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    int place = (int)(i % WORDS);
    const int choices[] = {(int)(state >> 8) % 1000, WORDS - place, place, 7};
    words[i] = choices[round];
  }
  expect_ok(pop_engine_write_tensor(engine, "words", words, count * WORDS * sizeof *words));
  free(words);
}

/* The number of vertices whose computed stack is exactly the touched one, except for rounding
 * up. */
static size_t check_round(pop_engine *engine, const pop_gp *gp, unsigned round, const char *level)
{
  size_t count = pop_gp_num_vertex_types(gp), exact = 0;
  for (uint32_t tile = 0; tile < count; ++tile) paint_stacks(engine, tile);
  write_words(engine, count, round);
  expect_ok(pop_engine_run(engine, 0));
  for (uint32_t tile = 0; tile < count; ++tile) {
    const char *name = pop_gp_vertex_type(gp, tile)->name;
    uint32_t touched = touched_bytes(engine, tile), computed = computed_bytes(engine, name);
    cr_expect(touched <= computed, "%s, %s: %u bytes touched, %u computed", level, name, touched,
              computed);
    exact += computed && computed - touched < 16;
  }
  return exact;
}

static void check_level(const char *level)
{
  pop_gp *gp = compile_codelets(level);
  pop_engine *engine = new_engine(gp);
  size_t exact = 0;
  for (unsigned round = 0; round < 4; ++round) exact += check_round(engine, gp, round, level);
  cr_expect(exact >= LEAST_EXACT, "%s: the paint shows next to nothing (%zu)", level, exact);
  pop_engine_free(engine);
  pop_gp_free(gp);
}

Test(painted_stack, V06_no_codelet_touches_more_than_computed)
{
  check_level("-O2");
}

Test(painted_stack, V06_no_codelet_touches_more_than_computed_without_optimisation)
{
  check_level("-O0");
}

/* No stack in that file may be unknown: the default would hide what the analysis found. */
Test(painted_stack, S11_recursion_of_libraries_and_with_stated_levels_is_known)
{
  pop_gp *gp = compile_codelets("-Os");
  pop_link_set *set = pop_link_set_new();
  for (size_t i = 0; i < pop_gp_num_tile_objects(gp); ++i) {
    bool library;
    const pop_object *object = pop_gp_tile_object(gp, i, &library);
    expect_ok(pop_link_set_add(set, object, library));
  }
  pop_stack_analysis *analysis;
  expect_ok(pop_stack_analysis_new(set, &analysis));
  pop_arena *arena = pop_arena_new();
  for (size_t i = 0; i < pop_gp_num_vertex_types(gp); ++i) {
    pop_stack_use use = pop_stack_analyse(analysis, pop_gp_vertex_type(gp, i)->symbol, arena);
    cr_expect_eq(use.reason, POP_STACK_KNOWN, "%s", pop_stack_explain(&use, arena));
  }
  pop_arena_free(arena);
  pop_stack_analysis_free(analysis);
  pop_link_set_free(set);
  pop_gp_free(gp);
}
