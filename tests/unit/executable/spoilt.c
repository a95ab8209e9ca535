/* Metadata that would lead the host out of its own memory are refused. */
#include "engine/engine_private.h"
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/populus.h>

enum { TILES = 4, ELEMENTS = 8 };

/* All tiles add 1 to elements that come from a stream and go to another one, and measure it. */
static pop_executable *compile(void)
{
  static const pop_option options[] = {{"debug.instrument", "true"}};
  pop_graph *graph = new_graph_with_tiles(TILES);
  pop_graph_add_codelets_source(graph, "c",
                                "#include <populus/vertex.h>\n"
                                "typedef struct { INOUT(int) n; } Count;\n"
                                "COMPUTE(Count) { ++*vertex->n; return true; }\n",
                                "count.c", NULL);
  pop_tensor n = pop_graph_add_variable(graph, POP_INT, (size_t[]){ELEMENTS}, 1, "n");
  pop_compute_set count = pop_graph_add_compute_set(graph, "count");
  for (size_t i = 0; i < ELEMENTS; ++i) {
    pop_vertex v = pop_graph_add_vertex(graph, count, "Count");
    pop_graph_connect(graph, v, "n", pop_tensor_index(n, i));
    pop_graph_set_tile_mapping(graph, pop_tensor_index(n, i), i % TILES);
    pop_graph_set_vertex_tile(graph, v, i % TILES);
  }
  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "in", POP_INT, ELEMENTS),
             out = pop_graph_add_device_to_host_fifo(graph, "out", POP_INT, ELEMENTS);
  pop_program all = pop_program_sequence(graph, "all");
  pop_sequence_add(all, pop_program_copy_from_stream(in, n, "in"));
  pop_sequence_add(all, pop_program_execute(graph, count, "count"));
  pop_sequence_add(all, pop_program_copy_to_stream(n, out, "out"));
  pop_executable *executable;
  expect_ok(pop_compile_graph(graph, &all, 1, options, 1, &executable));
  pop_graph_free(graph);
  return executable;
}

static pop_error *decode_again(const pop_executable *e, pop_executable **decoded)
{
  static const uint64_t digests[TILES];
  pop_bytes cbor = {0};
  executable_encode(e, digests, &cbor);
  *decoded = executable_new();
  pop_error *error = executable_decode(cbor.data, cbor.size, *decoded);
  pop_bytes_free(&cbor);
  return error;
}

/* `spoil` changes metadata that are sound before. */
static void expect_refused(void (*spoil)(pop_executable *e), const char *message)
{
  pop_executable *compiled = compile(), *spoilt, *refused;
  expect_ok(decode_again(compiled, &spoilt));
  spoil(spoilt);
  expect_error(decode_again(spoilt, &refused), POP_ERROR_FILE_LOAD, message, message);
  pop_executable_free(refused);
  pop_executable_free(spoilt);
  pop_executable_free(compiled);
}

static void stream_of_no_elements(pop_executable *e)
{
  e->streams[1].num_elements = 0;
  e->streams[1].is_used = false;
}
static void no_records(pop_executable *e)
{
  e->windows[0].records = 0;
}

/* The buffer of a callback has a copy's bytes, and a window's buffer those of its records. */
Test(executable_spoilt, windows_of_nothing)
{
  expect_refused(stream_of_no_elements,
                 "key 'windows': entry 1: a window of stream 1, which has no elements");
  expect_refused(no_records, "key 'windows': entry 0: a window of no records");
}

static void copies_beyond_all_memory(pop_executable *e)
{
  e->streams[0].num_elements = SIZE_MAX / sizeof(int);
}
/* Three times as many are 4 bytes in 64 bits. */
static void copies_that_wrap(pop_executable *e)
{
  e->num_replicas = 3;
  e->streams[0].type = POP_CHAR;
  e->streams[0].num_elements = UINT64_C(0xaaaaaaaaaaaaaaac);
}

/* The memory of a connection has room for a copy in every replica. */
Test(executable_spoilt, streams_that_no_memory_can_hold)
{
  expect_refused(
      copies_beyond_all_memory,
      "key 'streams': entry 0: key 'replicas': copies of 18446744073709551612 bytes in each of 1 ");
  expect_refused(
      copies_that_wrap,
      "key 'streams': entry 0: key 'replicas': copies of 12297829382473034412 bytes in each of 3 ");
}

static void measured_twice(pop_executable *e)
{
  e->measures[1] = e->measures[0];
}

/* Profiles have room for one measure of each tile. */
Test(executable_spoilt, tiles_that_measure_something_twice)
{
  expect_refused(measured_twice,
                 "key 'measures': entry 1: tile 0 measures what tile 0 has measured");
}

static void acknowledged_twice(pop_executable *e)
{
  static const executable_acknowledged rows[] = {{1, 2, 0, TILES}, {1, 2, 1, 3}};
  for (size_t i = 0; i < 2; ++i)
    pop_push(e->acknowledged, e->num_acknowledged, e->acknowledged_capacity, rows[i]);
}

Test(executable_spoilt, tiles_that_acknowledge_steps_twice)
{
  expect_refused(acknowledged_twice,
                 "key 'acknowledged': entry 1: tile 1 acknowledges the same steps twice");
}
