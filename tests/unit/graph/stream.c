/* Streams of a graph, their copies, and calls that give errors. */
#include "support/graph_test.h"

static pop_tensor ints(pop_graph *graph, size_t size)
{
  return pop_graph_add_variable(graph, POP_INT, &size, 1, "ints");
}

Test(stream, copies_know_their_stream)
{
  pop_graph *graph = new_graph();
  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "in", POP_INT, 6);
  pop_stream out = pop_graph_add_device_to_host_fifo(graph, "out", POP_INT, 6);
  pop_tensor t = pop_tensor_reshape(ints(graph, 6), (const size_t[]){2, 3}, 2);
  pop_program copies[] = {pop_program_copy_from_stream(in, t, "a"),
                          pop_program_copy_to_stream(pop_tensor_transpose(t), out, "b")};
  assert_no_error(graph);
  for (uint32_t i = 0; i < 2; i++) {
    const program *p = &graph->programs[copies[i].index - 1];
    cr_assert_eq(p->kind, PROGRAM_STREAM_COPY);
    cr_assert_eq(p->stream, i);
    cr_assert_eq(graph->streams[i].to_device, i == 0);
  }
  pop_graph_free(graph);
}

/* ---- refused calls ---- */

static void no_handle(pop_graph *g)
{
  pop_graph_add_host_to_device_fifo(g, NULL, POP_INT, 1);
}
static void no_type(pop_graph *g)
{
  pop_graph_add_device_to_host_fifo(g, "s", POP_TYPE_COUNT, 1);
}
static void twice(pop_graph *g)
{
  pop_graph_add_host_to_device_fifo(g, "s", POP_INT, 1);
  pop_graph_add_device_to_host_fifo(g, "s", POP_INT, 1);
}
static void wrong_way_in(pop_graph *g)
{
  pop_program_copy_from_stream(pop_graph_add_device_to_host_fifo(g, "s", POP_INT, 4), ints(g, 4),
                               "copy");
}
static void wrong_way_out(pop_graph *g)
{
  pop_program_copy_to_stream(ints(g, 4), pop_graph_add_host_to_device_fifo(g, "s", POP_INT, 4),
                             "copy");
}
static void wrong_type(pop_graph *g)
{
  pop_program_copy_to_stream(ints(g, 4), pop_graph_add_device_to_host_fifo(g, "s", POP_FLOAT, 4),
                             "copy");
}
static void wrong_size(pop_graph *g)
{
  pop_program_copy_to_stream(ints(g, 4), pop_graph_add_device_to_host_fifo(g, "s", POP_INT, 5),
                             "copy");
}
static void into_constant(pop_graph *g)
{
  const int32_t two[] = {1, 1};
  pop_tensor c = pop_graph_add_constant(g, POP_INT, (const size_t[]){2}, 1, two, "c");
  pop_program_copy_from_stream(pop_graph_add_host_to_device_fifo(g, "s", POP_INT, 2), c, "copy");
}
static void into_alias(pop_graph *g)
{
  pop_tensor t = pop_tensor_broadcast(ints(g, 2), 2, 0);
  pop_program_copy_from_stream(pop_graph_add_host_to_device_fifo(g, "s", POP_INT, 4), t, "copy");
}
static void null_stream(pop_graph *g)
{
  pop_program_copy_from_stream((pop_stream){0}, ints(g, 2), "copy");
}
static void foreign_stream(pop_graph *g)
{
  pop_graph *other = new_graph();
  pop_stream s = pop_graph_add_device_to_host_fifo(other, "s", POP_INT, 2);
  pop_program_copy_to_stream(ints(g, 2), (pop_stream){g, s.index}, "copy");
  pop_graph_free(other);
}

static pop_stream to_host(pop_graph *g)
{
  return pop_graph_add_device_to_host_fifo(g, "s", POP_INT, 2);
}
static pop_stream to_device(pop_graph *g)
{
  return pop_graph_add_host_to_device_fifo(g, "s", POP_INT, 2);
}
static void option_unknown(pop_graph *g)
{
  pop_stream_set_option(to_device(g), "splitlimit", "64");
}
static void option_null(pop_graph *g)
{
  pop_stream_set_option(to_device(g), NULL, "64");
}
static void split_too_small(pop_graph *g)
{
  pop_stream_set_option(to_device(g), "splitLimit", "3");
}
static void split_no_number(pop_graph *g)
{
  pop_stream_set_option(to_device(g), "splitLimit", "64k");
}
static void depth_of_none(pop_graph *g)
{
  pop_stream_set_option(to_device(g), "bufferingDepth", "0");
}
static void depth_to_host(pop_graph *g)
{
  pop_stream_set_option(to_host(g), "bufferingDepth", "2");
}
static void broadcast_to_host(pop_graph *g)
{
  pop_stream_set_replicated_mode(to_host(g), POP_STREAM_BROADCAST);
}
static void mode_unknown(pop_graph *g)
{
  const unsigned unknown = 7; /* not by a cast: clang-tidy checks the enumerators */
  pop_replicated_stream_mode mode;
  memcpy(&mode, &unknown, sizeof mode);
  pop_stream_set_replicated_mode(to_device(g), mode);
}

Test(stream, X07_P01_O02_bad_calls_say_what_is_wrong)
{
  static const bad_call cases[] = {
      {no_handle, POP_ERROR_INVALID_ARGUMENT, {"pop_graph_add_host_to_device_fifo", "no handle"}},
      {no_type, POP_ERROR_TYPE, {"pop_graph_add_device_to_host_fifo", "type"}},
      {twice, POP_ERROR_INVALID_ARGUMENT, {"'s' already"}},
      {wrong_way_in, POP_ERROR_CONTROL_PROGRAM, {"'s'", "use pop_program_copy_to_stream"}},
      {wrong_way_out, POP_ERROR_CONTROL_PROGRAM, {"'s'", "use pop_program_copy_from_stream"}},
      {wrong_type, POP_ERROR_TYPE, {"'copy'", "'s' of 4 float", "int tensor {4}"}},
      {wrong_size, POP_ERROR_TENSOR, {"'s' of 5 int", "{4} of 'ints'", "same number"}},
      {into_constant, POP_ERROR_TENSOR, {"'s'", "constant"}},
      {into_alias, POP_ERROR_TENSOR, {"'s'", "twice"}},
      {null_stream, POP_ERROR_INVALID_ARGUMENT, {"stream is null"}},
      {option_unknown, POP_ERROR_INVALID_OPTION, {"'splitlimit'", "splitLimit"}},
      {option_null, POP_ERROR_INVALID_OPTION, {"no option", "bufferingDepth"}},
      {split_too_small, POP_ERROR_INVALID_OPTION, {"'s'", "'3'", "from 4 to"}},
      {split_no_number, POP_ERROR_INVALID_OPTION, {"'64k'", "bytes"}},
      {depth_of_none, POP_ERROR_INVALID_OPTION, {"bufferingDepth is '0'", "1 to 1024"}},
      {depth_to_host, POP_ERROR_INVALID_OPTION, {"'s'", "goes to the host"}},
      {broadcast_to_host, POP_ERROR_INVALID_ARGUMENT, {"'s'", "only one to the device"}},
      {mode_unknown, POP_ERROR_INVALID_ARGUMENT, {"no mode 7", "POP_STREAM_BROADCAST"}},
      {foreign_stream, POP_ERROR_INVALID_ARGUMENT, {"no stream 1"}},
  };
  assert_bad_calls(cases, sizeof cases / sizeof *cases);
}
