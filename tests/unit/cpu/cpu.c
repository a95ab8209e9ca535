/* Properties of the CPU device alone. engine/random.c, fields.c and vertex_kinds.c show that it
 * computes what tiles do. */
#include "support/expect.h"

#include <populus/popc.h>
#include <populus/populus.h>
#include <stdio.h>

TestSuite(cpu, .init = enter_fresh_folder);

static pop_graph *new_graph(const char *language, const char *codelets)
{
  pop_device *device = pop_device_create_cpu();
  pop_graph *graph = pop_graph_create(pop_device_target(device));
  pop_device_free(device);
  if (codelets) pop_graph_add_codelets_source(graph, language, codelets, "test codelets", NULL);
  return graph;
}

/* Adds a variable, mapped to a tile that no target has. */
static pop_tensor add_variable(pop_graph *graph, pop_type type, size_t count, const char *name)
{
  pop_tensor t = pop_graph_add_variable(graph, type, &count, 1, name);
  pop_graph_set_tile_mapping(graph, t, 999999);
  pop_graph_create_host_read(graph, name, t);
  return t;
}

static pop_vertex add_vertex(pop_graph *graph, pop_compute_set set, const char *type,
                             const char *field, pop_tensor t)
{
  pop_vertex vertex = pop_graph_add_vertex(graph, set, type);
  pop_graph_set_vertex_tile(graph, vertex, 5);
  if (field) pop_graph_connect(graph, vertex, field, t);
  return vertex;
}

static pop_engine *new_engine(pop_graph *graph, pop_program program)
{
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &program, 1, NULL, 0, &engine));
  pop_graph_free(graph);
  return engine;
}

static const char counter[] = "#include <populus/vertex.h>\n"
                              "static int calls;\n"
                              "typedef struct { OUTPUT(int) out; STATE(VECTOR(int)) own; } Count;\n"
                              "COMPUTE(Count)\n"
                              "{\n"
                              "  *vertex->out = ++calls * 100 + ++vertex->own.data[0];\n"
                              "  return true;\n"
                              "}\n";

static pop_engine *new_counter(void)
{
  static const int ten = 10;
  pop_graph *graph = new_graph("c", counter);
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  pop_vertex v = add_vertex(graph, set, "Count", "out", add_variable(graph, POP_INT, 1, "out"));
  pop_graph_set_field_array(graph, v, "own", POP_INT, &ten, 1);
  return new_engine(graph, pop_program_execute(graph, set, "run"));
}

static int run_counter(pop_engine *engine)
{
  int out;
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "out", &out, sizeof out));
  return out;
}

Test(cpu, what_codelets_keep_is_the_engines_own_and_new_after_load)
{
  pop_engine *a = new_counter(), *b = new_counter();
  int out;
  expect_error(pop_engine_run(a, 0), POP_ERROR_RUNTIME, "not loaded", "run before load");
  expect_error(pop_engine_read_tensor(a, "out", &out, sizeof out), POP_ERROR_RUNTIME, "not loaded",
               "read before load");
  expect_ok(pop_engine_load(a));
  expect_ok(pop_engine_load(b));
  cr_assert_eq(run_counter(a), 111);
  cr_assert_eq(run_counter(a), 212);
  cr_assert_eq(run_counter(b), 111);
  expect_ok(pop_engine_load(a));
  cr_assert_eq(run_counter(a), 111);
  expect_error(pop_engine_run(a, 1), POP_ERROR_INDEX, "no program 1", "program");
  cr_assert_eq(pop_engine_cycles(a), 0);
  pop_engine_free(a);
  pop_engine_free(b);
}

Test(cpu, host_code_runs_only_where_it_is_allowed)
{
  static const pop_option forbidden = {"target.allowHostCode", "false"};
  pop_graph *graph = new_graph("c", counter);
  pop_program program = pop_program_sequence(graph, "main");
  pop_engine *engine = NULL;
  pop_error *error = pop_engine_create(graph, &program, 1, &forbidden, 1, &engine);
  cr_assert(error && !engine);
  cr_assert_eq(pop_error_get_code(error), POP_ERROR_INVALID_OPTION);
  cr_assert(strstr(pop_error_message(error), "target.allowHostCode"), "%s",
            pop_error_message(error));
  pop_error_free(error);
  pop_graph_free(graph);
}

Test(cpu, nothing_about_tiles_is_to_be_had)
{
  pop_engine *engine = new_counter();
  pop_tile_memory memory;
  expect_error(pop_engine_save_archive(engine, "x.a"), POP_ERROR_INVALID_ARGUMENT,
               "cannot save 'x.a': the executable is for the CPU", "archive");
  expect_error(pop_engine_tile_memory(engine, 0, &memory), POP_ERROR_INVALID_ARGUMENT,
               "the CPU has no tiles", "memory");
  expect_error(pop_engine_print_memory(engine, stderr), POP_ERROR_INVALID_ARGUMENT,
               "the CPU has no tiles", "summary");
  expect_ok(pop_engine_load(engine));
  cr_assert_eq(pop_engine_loaded_bytes(engine, 0), 0);
  pop_engine_free(engine);
}

/* ---- the library ---- */

static const char library[] =
    "#include <algorithm>\n"
    "#include <cmath>\n"
    "#include <cstring>\n"
    "#include <cstdio>\n"
    "#include <poplar/Vertex.hpp>\n"
    "using namespace poplar;\n"
    "class Sort : public Vertex { public: InOut<Vector<float>> x; bool compute() {\n"
    "  std::sort(x.begin(), x.end()); printf(\"sorted %u\\n\", x.size()); return true; } };\n"
    "class Halves : public Vertex { public: InOut<Vector<half>> x; bool compute() {\n"
    "  for (half &h : x) h = h * (half)1.5f + (half)0.25; return true; } };\n"
    "class Shift : public Vertex { public: InOut<Vector<int>> x; bool compute() {\n"
    "  memmove(&x[1], &x[0], (x.size() - 1) * 4); x[0] = (int)std::fma(2.0f, 3.0f, 1.0f);\n"
    "  return true; } };\n";

Test(cpu, codelets_find_the_library_that_tiles_have)
{
  pop_graph *graph = new_graph("c++", library);
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  static const float unsorted[] = {3, -1, 2.5f, 7, 0};
  uint16_t halves[4];
  for (int i = 0; i < 4; i++) halves[i] = pop_half_from_float((float)i);
  pop_tensor floats = add_variable(graph, POP_FLOAT, 5, "floats");
  pop_tensor half = add_variable(graph, POP_HALF, 4, "halves");
  pop_tensor ints = add_variable(graph, POP_INT, 3, "ints");
  pop_graph_set_initial_value(graph, floats, unsorted);
  pop_graph_set_initial_value(graph, half, halves);
  pop_graph_set_initial_value(graph, ints, (const int[]){1, 2, 3});
  add_vertex(graph, set, "Sort", "x", pop_tensor_reverse(floats, 0));
  add_vertex(graph, set, "Halves", "x", half);
  add_vertex(graph, set, "Shift", "x", ints);
  pop_engine *engine = new_engine(graph, pop_program_execute(graph, set, "run"));
  char *text;
  size_t size;
  FILE *printed = open_memstream(&text, &size);
  pop_engine_set_print_stream(engine, printed);
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  fclose(printed);
  cr_assert_str_eq(text, "sorted 5\n");
  float sorted[5];
  int shifted[3];
  static const float descending[] = {7, 3, 2.5f, 0, -1};
  expect_ok(pop_engine_read_tensor(engine, "floats", sorted, sizeof sorted));
  cr_assert_arr_eq(sorted, descending, sizeof sorted);
  expect_ok(pop_engine_read_tensor(engine, "halves", halves, sizeof halves));
  for (int i = 0; i < 4; i++)
    cr_assert_float_eq(pop_half_to_float(halves[i]), (float)i * 1.5f + 0.25f, 0);
  expect_ok(pop_engine_read_tensor(engine, "ints", shifted, sizeof shifted));
  cr_assert(shifted[0] == 7 && shifted[1] == 1 && shifted[2] == 2);
  pop_engine_free(engine);
  free(text);
}

/* As on tiles (tests/e2e/device_print.sh). Characters that are printed byte by byte stay whole. */
Test(cpu, V15_what_codelets_print_cannot_drive_a_terminal)
{
  pop_graph *graph = new_graph(
      "c++", "#include <print.h>\n"
             "#include <poplar/Vertex.hpp>\n"
             "class Say : public poplar::Vertex { public: poplar::Output<int> x; bool compute() {\n"
             "  printf(\"%s\\t\\x1b[31m \\x9b\" \"31m \\xc2\\x9b\" \"31m\\n\", \"a\\x07\");\n"
             "  puts(\"no \\xff\\xe2\\x82, UTF-8 \\xe2\\x82\\xac\");\n"
             "  const char euro[] = \"\\xe2\\x82\\xac \\xe2\\x82\\x1b \\xf0\\x9f\\x98\\x80\";\n"
             "  for (const char *c = euro; *c; ++c) putchar(*c);\n"
             "  *x = printf(\"|\\n\\xe2\\x82\"); return true; } };\n");
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  add_vertex(graph, set, "Say", "x", add_variable(graph, POP_INT, 1, "x"));
  pop_engine *engine = new_engine(graph, pop_program_execute(graph, set, "run"));
  char *text;
  size_t size;
  FILE *printed = open_memstream(&text, &size);
  pop_engine_set_print_stream(engine, printed);
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  fclose(printed);
  cr_assert_str_eq(text, "a\\x07\t\\x1b[31m \\x9b31m \\xc2\\x9b31m\n"
                         "no \\xff\\xe2\\x82, UTF-8 \xe2\x82\xac\n"
                         "\xe2\x82\xac \\xe2\\x82\\x1b \xf0\x9f\x98\x80|\n\\xe2\\x82");
  int bytes;
  expect_ok(pop_engine_read_tensor(engine, "x", &bytes, sizeof bytes));
  cr_assert_eq(bytes, 4, "printf returns what it was asked for");
  pop_engine_free(engine);
  free(text);
}

static void expect_link_error(const char *language, const char *codelets, const char *words)
{
  pop_graph *graph = new_graph(language, codelets);
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  add_vertex(graph, set, "V", "x", add_variable(graph, POP_INT, 1, "x"));
  pop_engine *engine = new_engine(graph, pop_program_execute(graph, set, "run"));
  expect_error(pop_engine_load(engine), POP_ERROR_LINK, words, codelets);
  expect_error(pop_engine_run(engine, 0), POP_ERROR_RUNTIME, "not loaded", "after a failed load");
  pop_engine_free(engine);
}

Test(cpu, what_cannot_be_linked_is_named)
{
  expect_link_error("c",
                    "#include <populus/vertex.h>\n"
                    "int nobody_has_this(int);\n"
                    "typedef struct { INOUT(int) x; } V;\n"
                    "COMPUTE(V) { *vertex->x = nobody_has_this(*vertex->x); return true; }\n",
                    "nobody_has_this");
  expect_link_error("c++",
                    "#include <poplar/Vertex.hpp>\n"
                    "int start(); struct S { int i; S() : i(start()) {} } s;\n"
                    "__attribute__((noinline)) int start() { volatile int i = 3; return i; }\n"
                    "class V : public poplar::Vertex { public: poplar::InOut<int> x;\n"
                    "  bool compute() { *x = s.i; return true; } };\n",
                    "static objects with constructors");
}

/* G11 and other faults of codelets in several files. */
Test(cpu, codelets_in_two_files)
{
  static const char *const bodies[] = {"*vertex->x = 1; return true;",
                                       "*vertex->x = 2; return true;"};
  static const char *const files[] = {"one.gp", "two.gp"};
  for (int i = 0; i < 2; i++) {
    char text[256];
    snprintf(
        text, sizeof text,
        "#include <populus/vertex.h>\ntypedef struct { INOUT(int) x; } V;\nCOMPUTE(V) { %s }\n",
        bodies[i]);
    const popc_text source = {"v.c", "c", text, strlen(text)};
    popc_options options = {.size = sizeof options,
                            .texts = &source,
                            .num_texts = 1,
                            .output = files[i],
                            .diagnostics_fd = -1};
    expect_ok(popc_compile(&options, NULL, NULL));
  }
  pop_graph *graph = new_graph(NULL, NULL);
  pop_graph_add_codelets(graph, "one.gp", NULL);
  pop_graph_add_codelets(graph, "one.gp", NULL);
  cr_assert_null(pop_graph_error(graph));
  pop_graph_add_codelets(graph, "two.gp", NULL);
  cr_assert_not_null(pop_graph_error(graph));
  cr_assert_not_null(
      strstr(pop_error_message(pop_graph_error(graph)), "vertex 'V' is in 'one.gp'"));
  pop_graph_free(graph);
}

/* ---- programs that need the host ---- */

static int fill(void *context, void *data)
{
  int *next = context;
  for (int i = 0; i < 4; i++) ((int *)data)[i] = (*next)++;
  return *next > 8 ? 77 : 0;
}

/* The elements go to every second position of the variable, in reverse order. */
Test(cpu, E02_streams_to_views_and_callbacks_that_fail)
{
  pop_graph *graph = new_graph(NULL, NULL);
  pop_tensor x = add_variable(graph, POP_INT, 8, "x");
  pop_tensor view = pop_tensor_reverse(pop_tensor_sub_sample(x, 2, 0), 0);
  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "in", POP_INT, 4);
  pop_stream out = pop_graph_add_device_to_host_fifo(graph, "out", POP_INT, 4);
  pop_program main = pop_program_sequence(graph, "main");
  pop_sequence_add(main, pop_program_copy_from_stream(in, view, "in"));
  pop_sequence_add(main, pop_program_copy_to_stream(pop_tensor_slice(x, 0, 4, 0), out, "out"));
  pop_engine *engine = new_engine(graph, main);
  int next = 0, received[8] = {0};
  pop_stream_callback callback = {.fetch = fill, .context = &next};
  expect_ok(pop_engine_load(engine));
  expect_error(pop_engine_run(engine, 0), POP_ERROR_STREAM_CONNECTION, "stream 'in'",
               "unconnected");
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_connect_stream_callback(engine, "in", &callback));
  expect_ok(pop_engine_connect_stream(engine, "out", received, received + 8));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_run(engine, 0));
  static const int expected[] = {3, 0, 2, 0, 7, 0, 6, 0};
  cr_assert_arr_eq(received, expected, sizeof expected);
  expect_error(pop_engine_run(engine, 0), POP_ERROR_RUNTIME, "failed with 77", "callback");
  expect_error(pop_engine_run(engine, 0), POP_ERROR_RUNTIME, "ended in an error", "after it");
  expect_ok(pop_engine_load(engine));
  next = 0;
  expect_ok(pop_engine_run(engine, 0));
  pop_engine_free(engine);
}

Test(cpu, aborts_end_a_run_and_load_starts_afresh)
{
  pop_graph *graph = new_graph(NULL, NULL);
  pop_tensor stop = add_variable(graph, POP_BOOL, 1, "stop");
  pop_graph_create_host_write(graph, "set stop", stop);
  pop_engine *engine =
      new_engine(graph, pop_program_abort_on_condition(stop, "told to stop", "check"));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_write_tensor(engine, "set stop", (const bool[]){true}, 1));
  expect_error(pop_engine_run(engine, 0), POP_ERROR_RUNTIME, "told to stop", "abort");
  expect_error(pop_engine_run(engine, 0), POP_ERROR_RUNTIME, "ended in an error", "after it");
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  pop_engine_free(engine);
}

/* Without a host sync, the timeout is for the whole run. A host sync starts it again. */
Test(cpu, X06_loops_without_an_end_are_ended_by_the_host_sync_timeout)
{
  const pop_option options[] = {{"target.hostSyncTimeout", "0.05"}};
  for (int kind = 0; kind < 2; kind++) {
    pop_graph *graph = new_graph(NULL, NULL);
    pop_tensor yes = add_variable(graph, POP_BOOL, 1, "yes"),
               other = add_variable(graph, POP_BOOL, 1, "other");
    pop_graph_set_initial_value(graph, yes, (const bool[]){true});
    pop_program copy = pop_program_copy(yes, other, "copy");
    pop_program loop =
        kind ? pop_program_repeat(graph, UINT32_MAX, copy, "again")
             : pop_program_repeat_while_true(pop_program_sequence(graph, NULL), yes, copy, "on");
    pop_program programs[] = {loop, copy};
    pop_engine *engine;
    expect_ok(pop_engine_create(graph, programs, 2, options, 1, &engine));
    pop_graph_free(graph);
    expect_ok(pop_engine_load(engine));
    expect_ok(pop_engine_run(engine, 1));
    expect_error(pop_engine_run(engine, 0), POP_ERROR_RUNTIME,
                 "the program has run for more than 0.05 s, which is target.hostSyncTimeout",
                 "loop");
    expect_error(pop_engine_run(engine, 1), POP_ERROR_RUNTIME, "ended in an error", "after it");
    expect_ok(pop_engine_load(engine));
    expect_ok(pop_engine_run(engine, 1));
    pop_engine_free(engine);
  }
}

/* Deeper than any stack of the host. */
Test(cpu, programs_are_nested_as_deep_as_their_author_likes)
{
  enum { DEPTH = 200000 };
  pop_graph *graph = new_graph(NULL, NULL);
  static const int one = 1;
  static const size_t shape = 1;
  pop_tensor x = add_variable(graph, POP_INT, 1, "x");
  pop_tensor c = pop_graph_add_constant(graph, POP_INT, &shape, 1, &one, "one");
  pop_graph_set_tile_mapping(graph, c, 0);
  pop_program main = pop_program_copy(c, x, "set");
  for (int i = 0; i < DEPTH; i++) main = pop_program_repeat(graph, 1, main, "again");
  pop_engine *engine = new_engine(graph, main);
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  int value;
  expect_ok(pop_engine_read_tensor(engine, "x", &value, sizeof value));
  cr_assert_eq(value, 1);
  pop_engine_free(engine);
}

/* T03: there are enough vertices for all threads. */
Test(cpu, any_number_of_threads_computes_the_same)
{
  enum { COUNT = 300, SIZE = 1000 };
  static const char *const threads[] = {"1", "2", "7"};
  static float results[3][COUNT];
  for (int t = 0; t < 3; t++) {
    pop_graph *graph = new_graph(
        "c", "#include <populus/vertex.h>\n"
             "typedef struct { INPUT(VECTOR(float)) in; OUTPUT(float) out; } Sum;\n"
             "COMPUTE(Sum) { float s = 0; for (unsigned i = 0; i < vertex->in.size; ++i)\n"
             "  s = s * 0.99f + vertex->in.data[i]; *vertex->out = s; return true; }\n");
    size_t shape[] = {SIZE, COUNT};
    float *values = malloc(sizeof(float) * SIZE * COUNT);
    cr_assert_not_null(values);
    for (int i = 0; i < SIZE * COUNT; i++) values[i] = (float)(i * 37 % 1009) / 7;
    pop_tensor in = pop_graph_add_variable(graph, POP_FLOAT, shape, 2, "in");
    pop_graph_map_linearly(graph, in, 0, 0);
    pop_graph_set_initial_value(graph, in, values);
    free(values);
    pop_tensor out = add_variable(graph, POP_FLOAT, COUNT, "out");
    pop_compute_set set = pop_graph_add_compute_set(graph, "set");
    for (size_t i = 0; i < COUNT; i++) {
      pop_vertex v =
          add_vertex(graph, set, "Sum", "in", pop_tensor_index(pop_tensor_transpose(in), i));
      pop_graph_connect(graph, v, "out", pop_tensor_index(out, i));
    }
    pop_program program = pop_program_execute(graph, set, "run");
    pop_option option = {"target.tileEngineThreads", threads[t]};
    pop_engine *engine;
    expect_ok(pop_engine_create(graph, &program, 1, &option, 1, &engine));
    pop_graph_free(graph);
    expect_ok(pop_engine_load(engine));
    expect_ok(pop_engine_run(engine, 0));
    expect_ok(pop_engine_read_tensor(engine, "out", results[t], sizeof results[t]));
    pop_engine_free(engine);
  }
  cr_assert_arr_eq(results[0], results[1], sizeof results[0]);
  cr_assert_arr_eq(results[0], results[2], sizeof results[0]);
}

/* ---- checks of graphs ---- */

Test(cpu, wrong_graphs_are_refused)
{
  pop_graph *graph = new_graph("c", counter);
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  pop_tensor x = add_variable(graph, POP_INT, 1, "x");
  add_vertex(graph, set, "Count", "out", x);
  add_vertex(graph, set, "Count", "out", x);
  pop_program program = pop_program_execute(graph, set, "run");
  pop_engine *engine;
  expect_error(pop_engine_create(graph, &program, 1, NULL, 0, &engine), POP_ERROR_GRAPH_CYCLE,
               "variable 'x'", "two writers");
  pop_graph_free(graph);
  graph = new_graph("c", counter);
  set = pop_graph_add_compute_set(graph, "set");
  add_vertex(graph, set, "Count", NULL, x);
  program = pop_program_execute(graph, set, "run");
  expect_error(pop_engine_create(graph, &program, 1, NULL, 0, &engine), POP_ERROR_GRAPH_CONNECTION,
               "Count.out is not connected", "an open field");
  pop_graph_free(graph);
}
