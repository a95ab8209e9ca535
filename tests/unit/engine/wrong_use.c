/* The exact messages for wrong uses of an engine. */
#include "support/graph_test.h"

#include <populus/executable.h>
#include <populus/stream.h>
#include <unistd.h>

enum { COUNT = 4 };

typedef struct bench {
  pop_graph *graph;
  pop_tensor data;
  pop_stream in, out;
  pop_program program;
  pop_engine *engine;
} bench;

static void ok(pop_error *error)
{
  cr_assert_null(error, "%s", error ? pop_error_message(error) : "");
}

static void says(pop_error *error, pop_error_code code, const char *message)
{
  cr_assert_not_null(error, "no error: %s", message);
  cr_assert_str_eq(pop_error_message(error), message);
  cr_assert_eq(pop_error_get_code(error), code, "%s: %s", message,
               pop_error_code_name(pop_error_get_code(error)));
  pop_error_free(error);
}

/* The graph's error, which the creation of its engine returns. */
static void graph_says(bench *b, pop_error_code code, const char *message)
{
  says(pop_engine_create(b->graph, &b->program, 1, NULL, 0, &b->engine), code, message);
  pop_graph_free(b->graph);
}

static bench new_bench(void)
{
  const size_t count = COUNT;
  bench b = {.graph = new_graph_with_tiles(2)};
  b.data = pop_graph_add_variable(b.graph, POP_INT, &count, 1, "data");
  pop_graph_map_linearly(b.graph, b.data, 0, 0);
  b.in = pop_graph_add_host_to_device_fifo(b.graph, "batches", POP_INT, COUNT);
  b.out = pop_graph_add_device_to_host_fifo(b.graph, "results", POP_INT, COUNT);
  b.program = pop_program_sequence(b.graph, "main");
  pop_sequence_add(b.program, pop_program_copy_from_stream(b.in, b.data, "in"));
  pop_sequence_add(b.program, pop_program_copy_to_stream(b.data, b.out, "out"));
  pop_graph_create_host_write(b.graph, "data", b.data);
  pop_graph_create_host_read(b.graph, "data out", b.data);
  return b;
}

static bench compiled_bench(void)
{
  bench b = new_bench();
  ok(pop_engine_create(b.graph, &b.program, 1, NULL, 0, &b.engine));
  return b;
}

static bench loaded_bench(void)
{
  bench b = compiled_bench();
  ok(pop_engine_load(b.engine));
  return b;
}

static void end(bench *b)
{
  pop_engine_free(b->engine);
  pop_graph_free(b->graph);
}

TEST_ON_EACH_DEVICE(wrong_use, run_before_load)
{
  bench b = compiled_bench();
  int data[COUNT];
  says(pop_engine_run(b.engine, 0), POP_ERROR_RUNTIME,
       "cannot run: the engine is not loaded; call pop_engine_load first");
  says(pop_engine_read_tensor(b.engine, "data out", data, sizeof data), POP_ERROR_RUNTIME,
       "cannot read a tensor: the engine is not loaded; call pop_engine_load first");
  end(&b);
}

TEST_ON_EACH_DEVICE(wrong_use, an_unknown_handle)
{
  bench b = loaded_bench();
  int data[COUNT];
  says(pop_engine_write_tensor(b.engine, "date", data, sizeof data), POP_ERROR_UNKNOWN_HANDLE,
       "there is no host write handle 'date'; did you mean 'data'?");
  says(pop_engine_read_tensor(b.engine, "nothing like it", data, sizeof data),
       POP_ERROR_UNKNOWN_HANDLE,
       "there is no host read handle 'nothing like it'; there is 'data out'");
  says(pop_engine_read_tensor(b.engine, NULL, data, sizeof data), POP_ERROR_INVALID_ARGUMENT,
       "the name of the host read handle is NULL");
  says(pop_engine_connect_stream(b.engine, "batch", data, data + COUNT),
       POP_ERROR_STREAM_CONNECTION,
       "pop_engine_connect_stream: there is no stream 'batch'; did you mean 'batches'?");
  says(pop_engine_run_named(b.engine, "mian"), POP_ERROR_INDEX,
       "there is no program 'mian'; did you mean 'main'?");
  end(&b);
}

TEST_ON_EACH_DEVICE(wrong_use, a_short_buffer)
{
  bench b = loaded_bench();
  int data[COUNT];
  says(pop_engine_read_tensor(b.engine, "data out", data, sizeof data - 1),
       POP_ERROR_INVALID_ARGUMENT,
       "host read handle 'data out' has 16 bytes (4 elements of type int), not 15");
  says(pop_engine_connect_stream(b.engine, "results", data, data + COUNT - 1),
       POP_ERROR_STREAM_CONNECTION,
       "pop_engine_connect_stream: stream 'results' is connected to 12 bytes: it needs a multiple "
       "of 16, the bytes of one copy (4 elements of type int)");
  end(&b);
}

TEST_ON_EACH_DEVICE(wrong_use, a_stream_that_is_not_connected)
{
  bench b = loaded_bench();
  int data[COUNT] = {0};
  ok(pop_engine_connect_stream(b.engine, "batches", data, data + COUNT));
  says(pop_engine_run(b.engine, 0), POP_ERROR_STREAM_CONNECTION,
       "stream 'results' (device to host, 4 elements of type int) is not connected: call "
       "pop_engine_connect_stream or pop_engine_connect_stream_callback before the program runs");
  end(&b);
}

static int fail_with_3(void *context, void *data)
{
  (void)context;
  (void)data;
  return 3;
}

TEST_ON_EACH_DEVICE(wrong_use, a_callback_that_fails)
{
  bench b = loaded_bench();
  int data[COUNT] = {0};
  const pop_stream_callback callback = {.fetch = fail_with_3};
  ok(pop_engine_connect_stream(b.engine, "results", data, data + COUNT));
  ok(pop_engine_connect_stream_callback(b.engine, "batches", &callback));
  says(pop_engine_run(b.engine, 0), POP_ERROR_RUNTIME,
       "the callback of stream 'batches' failed with 3");
  says(pop_engine_run(b.engine, 0), POP_ERROR_RUNTIME,
       "cannot run: the last run ended in an error; call pop_engine_load to start afresh");
  end(&b);
}

TEST_ON_EACH_DEVICE(wrong_use, a_predicate_of_the_wrong_type)
{
  bench b = new_bench();
  pop_tensor number = pop_graph_add_variable(b.graph, POP_FLOAT, NULL, 0, "number");
  pop_program_if(number, b.program, b.program, "choice");
  graph_says(&b, POP_ERROR_TYPE,
             "pop_program_if 'choice': the predicate is the float tensor {} of 'number': its type "
             "must be bool, int or another integer of up to 32 bits");
}

TEST_ON_EACH_DEVICE(wrong_use, a_copy_between_shapes)
{
  bench b = new_bench();
  pop_program_copy(pop_tensor_slice(b.data, 0, 3, 0), b.data, "all");
  graph_says(&b, POP_ERROR_TENSOR,
             "pop_program_copy 'all': from the int tensor {3} of 'data' to the int tensor {4} of "
             "'data': they must have the same number of elements");
}

Test(wrong_use, an_if_on_a_predicate_that_is_not_mapped)
{
  bench b = new_bench();
  pop_tensor flag = pop_graph_add_variable(b.graph, POP_BOOL, NULL, 0, "flag");
  b.program = pop_program_if(flag, b.program, (pop_program){0}, "choice");
  graph_says(&b, POP_ERROR_INVALID_TILE_MAPPING,
             "control of 'choice': elements [0:1) of variable 'flag' (1 elements) are not mapped "
             "to a tile: map them with pop_graph_set_tile_mapping or pop_graph_map_linearly");
}

/* Constants often have no name, so the message says that it is a constant. */
Test(wrong_use, an_if_on_a_constant_that_is_not_mapped)
{
  bench b = new_bench();
  pop_tensor yes = pop_graph_add_constant(b.graph, POP_BOOL, NULL, 0, &(bool){true}, NULL);
  b.program = pop_program_if(yes, b.program, (pop_program){0}, "choice");
  graph_says(&b, POP_ERROR_INVALID_TILE_MAPPING,
             "control of 'choice': elements [0:1) of constant '' (1 elements) are not mapped "
             "to a tile: map them with pop_graph_set_tile_mapping or pop_graph_map_linearly");
}

Test(wrong_use, an_executable_for_another_target)
{
  bench b = compiled_bench();
  pop_ipu_model model;
  pop_device *device;
  ok(pop_ipu_model_init(&model, "ipu1"));
  model.tiles_per_ipu = 2;
  ok(pop_ipu_model_create_device(&model, &device));
  says(pop_engine_load_device(b.engine, device), POP_ERROR_INVALID_ARGUMENT,
       "cannot load: the executable is compiled for ipu2 of type IPU with 1 IPU of 2 tiles, the "
       "device is ipu1 of type IPU_MODEL with 1 IPU of 2 tiles: make the graph for "
       "pop_device_target(device)");
  pop_device_free(device);
  end(&b);
}

Test(wrong_use, a_file_that_is_no_archive)
{
  pop_executable *executable;
  FILE *file = fopen("no-archive.a", "w");
  cr_assert_not_null(file);
  fputs("text", file);
  fclose(file);
  says(pop_executable_load("no-archive.a", &executable), POP_ERROR_FILE_LOAD,
       "'no-archive.a' is a text file, not an ar archive");
  unlink("no-archive.a");
}
