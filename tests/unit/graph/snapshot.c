/* An engine has the graph as it was when the engine was made (P09). The graph may then be edited
 * and compiled again, and each engine runs the graph that it was made of. Also calls on engines in
 * the wrong order, or on incomplete ones. */
#include "support/graph_test.h"

#include "support/expect.h"
#include <populus/engine.h>
#include <populus/executable.h>
#include <populus/remote_buffer.h>
#include <populus/stream.h>

static const char codelets[] =
    "#include <populus/vertex.h>\n"
    "typedef struct { INPUT(int) in; OUTPUT(int) out; int plus; } Add;\n"
    "COMPUTE(Add) { *vertex->out = *vertex->in + vertex->plus; return true; }\n";

enum { NUM_TILES = 5, SIZE = 4 };

typedef struct bench {
  pop_graph *graph;
  pop_tensor in, out;
  pop_compute_set set;
  pop_program main;
} bench;

static void add_vertex(const bench *x, size_t element, int plus, size_t tile)
{
  pop_vertex v = pop_graph_add_vertex(x->graph, x->set, "Add");
  pop_graph_connect(x->graph, v, "in", pop_tensor_slice(x->in, element, element + 1, 0));
  pop_graph_connect(x->graph, v, "out", pop_tensor_slice(x->out, element, element + 1, 0));
  pop_graph_set_field_int(x->graph, v, "plus", plus);
  pop_graph_set_vertex_tile(x->graph, v, tile);
}

static bench new_bench(void)
{
  bench x = {.graph = new_graph_with_tiles(NUM_TILES)};
  const size_t size = SIZE;
  pop_graph_add_codelets_source(x.graph, "c", codelets, "add.c", NULL);
  x.in = pop_graph_add_variable(x.graph, POP_INT, &size, 1, "in");
  x.out = pop_graph_add_variable(x.graph, POP_INT, &size, 1, "out");
  pop_graph_set_tile_mapping(x.graph, x.in, 0);
  pop_graph_set_tile_mapping(x.graph, x.out, 1);
  pop_graph_create_host_write(x.graph, "in", x.in);
  pop_graph_create_host_read(x.graph, "out", x.out);
  x.set = pop_graph_add_compute_set(x.graph, "add");
  x.main = pop_program_sequence(x.graph, "main");
  pop_sequence_add(x.main, pop_program_execute(x.graph, x.set, "add"));
  for (size_t i = 0; i < 2; i++) add_vertex(&x, i, 10, i);
  return x;
}

static pop_engine *compile(const bench *x)
{
  pop_engine *engine;
  assert_no_error(x->graph);
  expect_ok(pop_engine_create(x->graph, &x->main, 1, NULL, 0, &engine));
  return engine;
}

static void expect_out(pop_engine *engine, const int *expected)
{
  static const int in[SIZE] = {1, 2, 3, 4};
  int found[SIZE];
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_write_tensor(engine, "in", in, sizeof in));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "out", found, sizeof found));
  cr_assert_arr_eq(found, expected, sizeof found, "{%d,%d,%d,%d}", found[0], found[1], found[2],
                   found[3]);
}

Test(graph_snapshot, P09_the_graph_may_be_edited_and_compiled_again)
{
  static const int before[SIZE] = {11, 12, 0, 0}, behind[SIZE] = {12, 11, 103, 104};
  bench x = new_bench();
  pop_engine *first = compile(&x);
  pop_executable *executable;
  expect_ok(pop_compile_graph(x.graph, &x.main, 1, NULL, 0, &executable));
  expect_out(first, before);

  for (size_t i = 2; i < SIZE; i++) add_vertex(&x, i, 100, 4); /* vertices */
  pop_graph_set_tile_mapping(x.graph, x.out, 3);               /* mappings */
  pop_tensor two = pop_tensor_slice(x.out, 0, 2, 0);           /* programs */
  pop_sequence_add(x.main, pop_program_copy(two, pop_tensor_reverse(two, 0), "swap"));
  pop_graph_create_host_read(x.graph, "again", x.out); /* handles */
  pop_engine *second = compile(&x);
  expect_out(second, behind);
  expect_out(first, before);
  int found[SIZE];
  expect_ok(pop_engine_read_tensor(second, "again", found, sizeof found));
  expect_error(pop_engine_read_tensor(first, "again", found, sizeof found),
               POP_ERROR_UNKNOWN_HANDLE, "'again'", "of the other engine");

  pop_tensor_slice(x.out, 3, 9, 0); /* an error of the graph: engines do not depend on it */
  pop_graph_free(x.graph);
  pop_engine *third;
  expect_ok(pop_engine_create_from_executable(executable, NULL, 0, &third));
  expect_out(third, before);
  expect_out(second, behind);
  expect_out(first, before);
  pop_executable_free(executable);
  pop_engine_free(first);
  pop_engine_free(second);
  pop_engine_free(third);
}

/* A program that has run may get more parts, which the next engine executes. The same holds for a
 * function. */
Test(graph_snapshot, P09_functions_may_be_edited_too)
{
  static const int once[SIZE] = {11, 12, 0, 0}, twice[SIZE] = {21, 22, 0, 0};
  bench x = new_bench();
  pop_program body = pop_program_sequence(x.graph, "body");
  pop_function function = pop_graph_add_function(x.graph, body);
  pop_sequence_add(x.main, pop_program_call(function, "call"));
  pop_sequence_add(x.main, pop_program_call(function, "call again"));
  pop_engine *first = compile(&x);
  expect_out(first, once);
  pop_sequence_add(body, pop_program_copy(x.out, x.in, "back"));
  pop_sequence_add(x.main, pop_program_execute(x.graph, x.set, "add again"));
  pop_engine *second = compile(&x);
  expect_out(second, twice);
  expect_out(first, once);
  pop_engine_free(first);
  pop_engine_free(second);
  pop_graph_free(x.graph);
}

/* ---- wrong use ---- */

static void expect_refused(const bench *x, pop_program program, pop_error_code code,
                           const char *words)
{
  pop_engine *engine = NULL;
  assert_no_error(x->graph);
  expect_error(pop_engine_create(x->graph, &program, 1, NULL, 0, &engine), code, words, words);
  cr_assert_null(engine);
}

Test(graph_snapshot, P05_X05_decisions_on_unmapped_predicates_are_named)
{
  static const size_t one = 1;
  bench x = new_bench();
  pop_tensor p = pop_graph_add_variable(x.graph, POP_BOOL, &one, 1, "nowhere");
  pop_tensor n = pop_graph_add_variable(x.graph, POP_INT, &one, 1, "no number");
  expect_refused(&x, pop_program_if(p, x.main, (pop_program){0}, "choose"),
                 POP_ERROR_INVALID_TILE_MAPPING, "control of 'choose'");
  expect_refused(&x, pop_program_if(p, x.main, (pop_program){0}, "choose"),
                 POP_ERROR_INVALID_TILE_MAPPING, "'nowhere'");
  expect_refused(&x, pop_program_repeat_while_true((pop_program){0}, p, x.main, "loop"),
                 POP_ERROR_INVALID_TILE_MAPPING, "predicate of 'loop'");
  expect_refused(&x, pop_program_abort_on_condition(p, "never", "check"),
                 POP_ERROR_INVALID_TILE_MAPPING, "predicate of 'check'");
  expect_refused(&x, pop_program_switch(n, NULL, 0, x.main, "which"),
                 POP_ERROR_INVALID_TILE_MAPPING, "control of 'which'");
  pop_graph_free(x.graph);
}

Test(graph_snapshot, P05_copies_of_unmapped_tensors_are_named)
{
  static const size_t size = SIZE;
  bench x = new_bench();
  pop_tensor t = pop_graph_add_variable(x.graph, POP_INT, &size, 1, "nowhere");
  pop_stream in = pop_graph_add_host_to_device_fifo(x.graph, "in", POP_INT, SIZE);
  pop_remote_buffer store = pop_graph_add_remote_buffer(x.graph, "store", POP_INT, SIZE, 1);
  expect_refused(&x, pop_program_copy(x.out, t, "there"), POP_ERROR_INVALID_TILE_MAPPING,
                 "copy 'there'");
  expect_refused(&x, pop_program_copy_from_stream(in, t, "read"), POP_ERROR_INVALID_TILE_MAPPING,
                 "stream copy 'read'");
  expect_refused(&x, pop_program_copy_to_remote_buffer(t, store, (pop_tensor){0}, "keep"),
                 POP_ERROR_INVALID_TILE_MAPPING, "remote buffer copy 'keep'");
  pop_graph_free(x.graph);
}

Test(graph_snapshot, E01_E02_engines_in_the_wrong_order)
{
  int data[SIZE] = {0};
  bench x = new_bench();
  pop_stream in = pop_graph_add_host_to_device_fifo(x.graph, "numbers", POP_INT, SIZE);
  pop_sequence_add(x.main, pop_program_copy_from_stream(in, x.in, "read"));
  pop_engine *engine = compile(&x);
  expect_error(pop_engine_run(engine, 0), POP_ERROR_RUNTIME, "pop_engine_load first", "run");
  expect_error(pop_engine_run_named(engine, "main"), POP_ERROR_RUNTIME, "not loaded", "by name");
  expect_error(pop_engine_write_tensor(engine, "in", data, sizeof data), POP_ERROR_RUNTIME,
               "not loaded", "write");
  expect_ok(pop_engine_load(engine));
  expect_error(pop_engine_run(engine, 0), POP_ERROR_STREAM_CONNECTION,
               "stream 'numbers' (host to device, 4 elements of type int) is not connected", "run");
  expect_error(pop_engine_connect_stream(engine, "numbers", data, data + SIZE - 1),
               POP_ERROR_STREAM_CONNECTION, "12 bytes: it needs a multiple of 16", "short");
  expect_error(pop_engine_connect_stream(engine, "number", data, data + SIZE),
               POP_ERROR_STREAM_CONNECTION, "did you mean 'numbers'", "unknown");
  expect_error(pop_engine_read_tensor(engine, "out", data, sizeof data - 1),
               POP_ERROR_INVALID_ARGUMENT, "has 16 bytes", "short buffer");
  pop_engine_free(engine);
  pop_graph_free(x.graph);
}
