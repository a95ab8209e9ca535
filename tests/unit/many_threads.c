/* Graphs, engines and archives in several threads at once: different objects are independent, and
 * immutable ones may be shared. Also run under ThreadSanitizer. */
#include "support/graph_test.h"

#include "support/expect.h"
#include <populus/executable.h>
#include <populus/popc.h>
#include <populus/populus.h>
#include <pthread.h>
#include <stdio.h>

TestSuite(many_threads, .init = enter_fresh_folder);

enum { NUM_THREADS = 6, ROUNDS = 4, NUM_TILES = 5, COUNT = 40 };

static const char codelets[] =
    "#include <populus/vertex.h>\n"
    "typedef struct { INPUT(VECTOR(int)) in; OUTPUT(int) out; } Sum;\n"
    "COMPUTE(Sum)\n"
    "{\n"
    "  int sum = 0;\n"
    "  for (unsigned i = 0; i < vertex->in.size; ++i) sum = sum * 3 + vertex->in.data[i];\n"
    "  *vertex->out = sum;\n"
    "  return true;\n"
    "}\n";

/* A thread's function returns its error. The result is the first error; the others are freed. */
static pop_error *run_threads(void *(*function)(void *context), void *contexts, size_t size)
{
  pthread_t threads[NUM_THREADS];
  pop_error *first = NULL;
  for (int i = 0; i < NUM_THREADS; i++)
    cr_assert_eq(pthread_create(&threads[i], NULL, function, (char *)contexts + (size_t)i * size),
                 0);
  for (int i = 0; i < NUM_THREADS; i++) {
    void *error;
    cr_assert_eq(pthread_join(threads[i], &error), 0);
    if (first)
      pop_error_free(error);
    else
      first = error;
  }
  return first;
}

static pop_graph *new_sum(pop_program *main)
{
  static const size_t count = COUNT, one = 1;
  pop_graph *graph = new_graph_with_tiles(NUM_TILES);
  pop_graph_add_codelets(graph, "sum.gp", NULL);
  pop_tensor in = pop_graph_add_variable(graph, POP_INT, &count, 1, "in");
  pop_tensor out = pop_graph_add_variable(graph, POP_INT, &one, 1, "out");
  pop_graph_map_linearly(graph, in, 0, 0);
  pop_graph_set_tile_mapping(graph, out, 2);
  pop_compute_set set = pop_graph_add_compute_set(graph, "sums");
  pop_vertex vertex = pop_graph_add_vertex(graph, set, "Sum");
  pop_graph_connect(graph, vertex, "in", in);
  pop_graph_connect(graph, vertex, "out", pop_tensor_index(out, 0));
  pop_graph_set_vertex_tile(graph, vertex, 3);
  pop_graph_create_host_write(graph, "in", in);
  pop_graph_create_host_read(graph, "out", out);
  *main = pop_program_execute(graph, set, "sum up");
  return graph;
}

static void compile_codelets(void)
{
  static const char *const input = "sum.c";
  FILE *file = fopen(input, "wb");
  cr_assert(file && fputs(codelets, file) >= 0 && fclose(file) == 0);
  popc_options options = {.size = sizeof options,
                          .inputs = &input,
                          .num_inputs = 1,
                          .output = "sum.gp",
                          .diagnostics_fd = -1};
  expect_ok(popc_compile(&options, NULL, NULL));
}

/* Runs the sum for a seed and checks it. */
static pop_error *run_sum(pop_engine *engine, int seed)
{
  int in[COUNT], out;
  unsigned expected = 0;
  for (int i = 0; i < COUNT; i++) in[i] = seed * 1000 + i;
  for (int i = 0; i < COUNT; i++) expected = expected * 3 + (unsigned)in[i];
  POP_TRY(pop_engine_load(engine));
  POP_TRY(pop_engine_write_tensor(engine, "in", in, sizeof in));
  POP_TRY(pop_engine_run(engine, 0));
  POP_TRY(pop_engine_read_tensor(engine, "out", &out, sizeof out));
  if ((unsigned)out == expected) return NULL;
  return pop_error_new(POP_ERROR_RUNTIME, "seed %d: %d instead of %u", seed, out, expected);
}

/* ---- a graph for each thread ---- */

static void *build_and_run(void *context)
{
  for (int round = 0; round < ROUNDS; round++) {
    pop_program main;
    pop_engine *engine = NULL;
    pop_graph *graph = new_sum(&main);
    pop_error *error = pop_engine_create(graph, &main, 1, NULL, 0, &engine);
    if (!error) error = run_sum(engine, *(const int *)context + round);
    pop_engine_free(engine);
    pop_graph_free(graph);
    if (error) return error;
  }
  return NULL;
}

Test(many_threads, P13_T02_graphs_and_engines_of_different_threads_are_independent)
{
  int seeds[NUM_THREADS];
  compile_codelets();
  for (int i = 0; i < NUM_THREADS; i++) seeds[i] = 100 * i;
  expect_ok(run_threads(build_and_run, seeds, sizeof *seeds));
}

/* Replicated graphs join the other processes of poprun, if there are any. */
static void *build_and_run_replicas(void *context)
{
  static const size_t one = 1;
  pop_target target;
  pop_engine *engine = NULL;
  int n = *(const int *)context, seen[2] = {0};
  POP_TRY(pop_target_create("ipu2", 2, &target));
  target.tiles_per_ipu = 1;
  pop_graph *graph = pop_graph_create_replicated(&target, 2);
  pop_tensor from = pop_graph_add_constant(graph, POP_INT, &one, 1, &n, "from");
  pop_tensor to = pop_graph_add_variable(graph, POP_INT, &one, 1, "to");
  pop_graph_set_tile_mapping(graph, from, 0);
  pop_graph_set_tile_mapping(graph, to, 0);
  pop_graph_create_host_read(graph, "to", to);
  pop_program main = pop_program_copy(from, to, "main");
  pop_error *error = pop_engine_create(graph, &main, 1, NULL, 0, &engine);
  if (!error) error = pop_engine_load(engine);
  if (!error) error = pop_engine_run(engine, 0);
  if (!error) error = pop_engine_read_tensor(engine, "to", seen, sizeof seen);
  if (!error && (seen[0] != n || seen[1] != n))
    error = pop_error_new(POP_ERROR_RUNTIME, "%d and %d instead of %d", seen[0], seen[1], n);
  pop_engine_free(engine);
  pop_graph_free(graph);
  return error;
}

Test(many_threads, T02_replicated_graphs_of_different_threads_are_independent)
{
  int numbers[NUM_THREADS];
  for (int i = 0; i < NUM_THREADS; i++) numbers[i] = 100 + i;
  expect_ok(run_threads(build_and_run_replicas, numbers, sizeof *numbers));
}

/* ---- one executable, one archive ---- */

typedef struct shared {
  pop_executable *executable; /* NULL: each loads the archive */
  int seed;
} shared;

static void *run_shared(void *context)
{
  const shared *s = context;
  for (int round = 0; round < ROUNDS; round++) {
    pop_executable *executable = s->executable;
    pop_engine *engine = NULL;
    pop_error *error = executable ? NULL : pop_executable_load("sum.a", &executable);
    if (!error) error = pop_engine_create_from_executable(executable, NULL, 0, &engine);
    if (!error) error = run_sum(engine, s->seed + round);
    pop_engine_free(engine);
    if (!s->executable) pop_executable_free(executable);
    if (error) return error;
  }
  return NULL;
}

static pop_executable *new_executable(void)
{
  pop_program main;
  pop_executable *executable;
  compile_codelets();
  pop_graph *graph = new_sum(&main);
  expect_ok(pop_compile_graph(graph, &main, 1, NULL, 0, &executable));
  pop_graph_free(graph);
  return executable;
}

Test(many_threads, T02_engines_of_one_executable_in_different_threads)
{
  pop_executable *executable = new_executable();
  shared all[NUM_THREADS];
  for (int i = 0; i < NUM_THREADS; i++) all[i] = (shared){executable, 10 * i};
  expect_ok(run_threads(run_shared, all, sizeof *all));
  pop_executable_free(executable);
}

/* Each thread reads the same images by libelf, which also read the codelets' objects. */
Test(many_threads, T05_one_archive_is_read_by_several_threads)
{
  pop_executable *executable = new_executable();
  shared all[NUM_THREADS];
  expect_ok(pop_executable_save(executable, "sum.a"));
  pop_executable_free(executable);
  for (int i = 0; i < NUM_THREADS; i++) all[i] = (shared){NULL, 10 * i};
  expect_ok(run_threads(run_shared, all, sizeof *all));
}

/* Damaged in one thread and sound in the others: libelf's error number belongs to each thread. */
static void *load_own(void *context)
{
  const char *path = context;
  bool broken = strncmp(path, "broken", 6) == 0;
  for (int round = 0; round < 20 * ROUNDS; round++) {
    pop_executable *executable = NULL;
    pop_error *error = pop_executable_load(path, &executable);
    pop_executable_free(executable);
    if (broken == (error != NULL)) {
      pop_error_free(error);
      continue;
    }
    return error ? error : pop_error_new(POP_ERROR_RUNTIME, "%s is loaded", path);
  }
  return NULL;
}

Test(many_threads, T05_errors_are_the_threads_own)
{
  char paths[NUM_THREADS][16];
  pop_executable *executable = new_executable();
  expect_ok(pop_executable_save(executable, "sum.a"));
  pop_executable_free(executable);
  for (int i = 0; i < NUM_THREADS; i++)
    snprintf(paths[i], sizeof paths[i], i % 2 ? "sum.a" : "broken%d", i);
  for (int i = 0; i < NUM_THREADS; i += 2) { /* an archive with one member that is no ELF file */
    FILE *file = fopen(paths[i], "wb");
    cr_assert_not_null(file);
    fprintf(file, "!<arch>\n%-16s%-12d%-6d%-6d%-8o%-10d`\n%s\n", "metadata.elf/", 0, 0, 0, 0644, 6,
            "broken");
    cr_assert_eq(fclose(file), 0);
  }
  expect_ok(run_threads(load_own, paths, sizeof *paths));
}
