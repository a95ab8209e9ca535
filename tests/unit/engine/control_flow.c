/* Programs that decide on the device: branches, loops, switches, functions. They run on the
 * software IPU, and their results are compared with the same in C. Some tests also check the size
 * of the control code. random.c combines such programs at random. */
#include "support/graph_test.h"

#include <populus/engine.h>

static const char codelets[] =
    "#include <populus/vertex.h>\n"
    "typedef struct { INOUT(int) n; INOUT(int) steps; OUTPUT(bool) done; OUTPUT(short) odd; } "
    "Look;\n"
    "COMPUTE(Look) { *vertex->done = *vertex->n == 1; *vertex->odd = *vertex->n & 1; return true; "
    "}\n"
    "typedef struct { INOUT(int) n; INOUT(int) steps; int times, plus, over; } Step;\n"
    "COMPUTE(Step)\n"
    "{\n"
    "  *vertex->n = (*vertex->n * vertex->times + vertex->plus) / vertex->over;\n"
    "  ++*vertex->steps;\n"
    "  return true;\n"
    "}\n";

enum { NUM_TILES = 40, FAR_TILE = 33 };

static pop_graph *new_machine(void)
{
  pop_graph *graph = new_graph_with_tiles(NUM_TILES);
  pop_graph_add_codelets_source(graph, "c", codelets, "control_flow.c", NULL);
  assert_no_error(graph);
  return graph;
}

static pop_tensor scalar(pop_graph *graph, pop_type type, size_t tile, const char *name)
{
  const size_t one = 1;
  pop_tensor t = pop_graph_add_variable(graph, type, &one, 1, name);
  pop_graph_set_tile_mapping(graph, t, tile);
  return t;
}

static pop_engine *start(pop_graph *graph, pop_program main)
{
  assert_no_error(graph);
  pop_engine *engine;
  pop_error *error = pop_engine_create(graph, &main, 1, NULL, 0, &engine);
  cr_assert_null(error, "%s", error ? pop_error_message(error) : "");
  error = pop_engine_load(engine);
  cr_assert_null(error, "%s", error ? pop_error_message(error) : "");
  return engine;
}

static void run(pop_engine *engine)
{
  pop_error *error = pop_engine_run(engine, 0);
  cr_assert_null(error, "%s", error ? pop_error_message(error) : "");
}

static void write_int(pop_engine *engine, const char *handle, int value)
{
  cr_assert_null(pop_engine_write_tensor(engine, handle, &value, sizeof value));
}

static int read_int(pop_engine *engine, const char *handle)
{
  int value;
  cr_assert_null(pop_engine_read_tensor(engine, handle, &value, sizeof value));
  return value;
}

/* ---- the Collatz sequence: RepeatWhileFalse around an If ---- */

typedef struct collatz {
  pop_graph *graph;
  pop_tensor n, steps, done, odd;
} collatz;

static pop_program add_step(const collatz *c, int times, int plus, int over)
{
  pop_compute_set set = pop_graph_add_compute_set(c->graph, "step");
  pop_vertex v = pop_graph_add_vertex(c->graph, set, "Step");
  pop_graph_connect(c->graph, v, "n", pop_tensor_index(c->n, 0));
  pop_graph_connect(c->graph, v, "steps", pop_tensor_index(c->steps, 0));
  pop_graph_set_field_int(c->graph, v, "times", times);
  pop_graph_set_field_int(c->graph, v, "plus", plus);
  pop_graph_set_field_int(c->graph, v, "over", over);
  pop_graph_set_vertex_tile(c->graph, v, 7);
  return pop_program_execute(c->graph, set, "step");
}

static pop_program add_look(const collatz *c)
{
  pop_compute_set set = pop_graph_add_compute_set(c->graph, "look");
  pop_vertex v = pop_graph_add_vertex(c->graph, set, "Look");
  pop_graph_connect(c->graph, v, "n", pop_tensor_index(c->n, 0));
  pop_graph_connect(c->graph, v, "steps", pop_tensor_index(c->steps, 0));
  pop_graph_connect(c->graph, v, "done", pop_tensor_index(c->done, 0));
  pop_graph_connect(c->graph, v, "odd", pop_tensor_index(c->odd, 0));
  pop_graph_set_vertex_tile(c->graph, v, 7);
  return pop_program_execute(c->graph, set, "look");
}

static int collatz_steps(int n)
{
  int steps = 0;
  for (; n != 1; ++steps) n = n % 2 ? 3 * n + 1 : n / 2;
  return steps;
}

TEST_ON_EACH_DEVICE(control_flow, while_and_if_on_predicates_of_other_tiles)
{
  pop_graph *graph = new_machine();
  collatz c = {graph, scalar(graph, POP_INT, 7, "n"), scalar(graph, POP_INT, 7, "steps"),
               scalar(graph, POP_BOOL, 0, "done"), scalar(graph, POP_SHORT, FAR_TILE, "odd")};
  pop_graph_create_host_write(graph, "n", c.n);
  pop_graph_create_host_write(graph, "start", c.steps);
  pop_graph_create_host_read(graph, "steps", c.steps);
  pop_program body =
      pop_program_if(c.odd, add_step(&c, 3, 1, 1), add_step(&c, 1, 0, 2), "odd or even");
  pop_engine *engine =
      start(graph, pop_program_repeat_while_false(add_look(&c), c.done, body, "until 1"));
  static const int numbers[] = {1, 2, 3, 27, 97};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    write_int(engine, "n", numbers[i]);
    write_int(engine, "start", 0);
    run(engine);
    cr_assert_eq(read_int(engine, "steps"), collatz_steps(numbers[i]), "from %d", numbers[i]);
  }
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* ---- Switch ---- */

static pop_program add_constant_copy(pop_graph *graph, int value, pop_tensor to)
{
  const size_t one = 1;
  pop_tensor constant = pop_graph_add_constant(graph, POP_INT, &one, 1, &value, "constant");
  pop_graph_set_tile_mapping(graph, constant, (size_t)(value & 31));
  return pop_program_copy(constant, to, "set");
}

TEST_ON_EACH_DEVICE(control_flow, switch_takes_the_case_of_the_value_or_the_default)
{
  pop_graph *graph = new_machine();
  pop_tensor control = scalar(graph, POP_INT, FAR_TILE, "control");
  pop_tensor out = scalar(graph, POP_INT, 2, "out");
  pop_graph_create_host_write(graph, "control", control);
  pop_graph_create_host_write(graph, "before", out);
  pop_graph_create_host_read(graph, "out", out);
  pop_switch_case cases[] = {{-1, add_constant_copy(graph, 11, out)},
                             {5, {0}},
                             {INT32_MIN, add_constant_copy(graph, 12, out)},
                             {0, add_constant_copy(graph, 13, out)},
                             {100000, add_constant_copy(graph, 14, out)}};
  pop_program otherwise = add_constant_copy(graph, 15, out);
  pop_engine *engine = start(graph, pop_program_switch(control, cases, 5, otherwise, "which"));
  static const struct {
    int control, out;
  } runs[] = {{-1, 11},     {5, 1},  {INT32_MIN, 12}, {0, 13}, {100000, 14},
              {100001, 15}, {6, 15}, {INT32_MAX, 15}, {-1, 11}};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) {
    write_int(engine, "control", runs[i].control);
    write_int(engine, "before", 1);
    run(engine);
    cr_assert_eq(read_int(engine, "out"), runs[i].out, "control %d", runs[i].control);
  }
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* ---- functions, WriteUndef, Sync ---- */

static uint32_t control_code_bytes(pop_graph *graph, pop_program main)
{
  pop_engine *engine = start(graph, main);
  pop_tile_memory memory;
  cr_assert_null(pop_engine_tile_memory(engine, 7, &memory));
  pop_engine_free(engine);
  return memory.not_overlapped[POP_MEMORY_CONTROL_CODE][POP_REGION_NON_INTERLEAVED];
}

Test(control_flow, a_function_is_there_once_however_often_it_is_called)
{
  uint32_t bytes[2];
  for (int calls = 2; calls <= 3; ++calls) {
    pop_graph *graph = new_machine();
    collatz c = {graph, scalar(graph, POP_INT, 7, "n"), scalar(graph, POP_INT, 7, "steps"),
                 scalar(graph, POP_BOOL, 0, "done"), scalar(graph, POP_SHORT, FAR_TILE, "odd")};
    pop_program body = pop_program_sequence(graph, "body"),
                main = pop_program_sequence(graph, "main");
    for (int i = 0; i < 8; ++i) pop_sequence_add(body, add_step(&c, 1, i, 1));
    pop_function function = pop_graph_add_function(graph, body);
    for (int i = 0; i < calls; ++i) {
      pop_sequence_add(main, pop_program_call(function, "call"));
      pop_sequence_add(main, pop_program_sync(graph, POP_SYNC_INTERNAL, "between"));
    }
    bytes[calls - 2] = control_code_bytes(graph, main);
    pop_graph_free(graph);
  }
  cr_assert_eq(bytes[1] - bytes[0], 8, "a call and a sync are two instructions, not %u bytes",
               bytes[1] - bytes[0]);
}

/* Two large variables, each written in parts and then read. With WriteUndef before, they can share
 * memory. */
static uint32_t variable_bytes(bool undef)
{
  static const size_t size = 4096;
  pop_graph *graph = new_machine();
  pop_tensor out = scalar(graph, POP_INT, 2, "out");
  pop_graph_create_host_read(graph, "out", out);
  pop_program main = pop_program_sequence(graph, "main");
  for (int i = 0; i < 2; ++i) {
    pop_tensor large = pop_graph_add_variable(graph, POP_INT, &size, 1, i ? "second" : "first");
    pop_graph_set_tile_mapping(graph, large, 7);
    if (undef) pop_sequence_add(main, pop_program_write_undef(large, "not needed"));
    for (size_t part = 0; part < 2; ++part)
      pop_sequence_add(main,
                       pop_program_copy(out, pop_tensor_slice(large, part, part + 1, 0), "in"));
    pop_sequence_add(main, pop_program_copy(pop_tensor_slice(large, 1, 2, 0), out, "out"));
  }
  pop_engine *engine = start(graph, main);
  pop_tile_memory memory;
  cr_assert_null(pop_engine_tile_memory(engine, 7, &memory));
  run(engine);
  pop_engine_free(engine);
  pop_graph_free(graph);
  return memory.total;
}

Test(control_flow, after_write_undef_memory_may_serve_others)
{
  uint32_t without = variable_bytes(false), with = variable_bytes(true);
  cr_assert_eq(without - with, 4096 * sizeof(int), "%u bytes without, %u with", without, with);
}

static pop_tensor row_of_ints(pop_graph *graph, const char *name, bool written, bool read)
{
  const size_t count = 8;
  pop_tensor t = pop_graph_add_variable(graph, POP_INT, &count, 1, name);
  pop_graph_set_tile_mapping(graph, t, 1);
  if (written) pop_graph_create_host_write(graph, name, t);
  if (read) pop_graph_create_host_read(graph, name, t);
  return t;
}

static pop_tensor all_but_the_first(pop_tensor row)
{
  return pop_tensor_slice(row, 1, 8, 0);
}

/* Eight times, the program has a temporary row before the WriteUndef of one element of `kept`. The
 * other elements are needed: they are left by the previous run. */
TEST_ON_EACH_DEVICE(control_flow, what_is_undefined_several_times_is_not_more)
{
  static const int numbers[8] = {10, 11, 12, 13, 14, 15, 16, 17}, others[8] = {-1, -2, -3};
  int found[8];
  pop_graph *graph = new_machine();
  pop_tensor from = row_of_ints(graph, "from", true, false),
             next = row_of_ints(graph, "next", true, false),
             between = row_of_ints(graph, "between", false, false),
             kept = row_of_ints(graph, "kept", false, false),
             to = row_of_ints(graph, "to", false, true),
             out = row_of_ints(graph, "out", false, true);
  pop_tensor first = pop_tensor_broadcast(pop_tensor_slice(kept, 0, 1, 0), 8, 0);
  pop_program main = pop_program_sequence(graph, "main");
  pop_sequence_add(main, pop_program_copy(from, between, "in"));
  pop_sequence_add(main, pop_program_copy(between, to, "through"));
  pop_sequence_add(main, pop_program_write_undef(first, "undefined"));
  pop_sequence_add(main, pop_program_copy(all_but_the_first(kept), all_but_the_first(out), "out"));
  pop_sequence_add(main, pop_program_copy(next, kept, "keep"));
  pop_engine *engine = start(graph, main);
  cr_assert_null(pop_engine_write_tensor(engine, "from", others, sizeof others));
  cr_assert_null(pop_engine_write_tensor(engine, "next", numbers, sizeof numbers));
  run(engine);
  run(engine);
  cr_assert_null(pop_engine_read_tensor(engine, "out", found, sizeof found));
  for (int i = 1; i < 8; i++) cr_assert_eq(found[i], numbers[i], "element %d is %d", i, found[i]);
  pop_engine_free(engine);
  pop_graph_free(graph);
}
