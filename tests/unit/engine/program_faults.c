/* Programs at their limits, and the errors beyond them: nesting, endless loops, values without a
 * case, exchanges that no tile can hold, variables that nothing wrote. */
#include "support/graph_test.h"

#include "support/expect.h"
#include <errno.h>
#include <populus/file.h>
#include <populus/populus.h>
#include <pthread.h>

enum { NUM_TILES = 4, DEEP = 100000, TOO_DEEP = 40000, SMALL_STACK = 256 << 10 };

/* The handles are `name` for reading and `>name` for writing. A name in brackets gets no handle. */
static pop_tensor ints(pop_graph *graph, size_t count, size_t tile, const char *name)
{
  char to[32];
  pop_tensor t = pop_graph_add_variable(graph, POP_INT, &count, 1, name);
  pop_graph_set_tile_mapping(graph, t, tile);
  if (*name == '(') return t;
  snprintf(to, sizeof to, ">%s", name);
  pop_graph_create_host_write(graph, to, t);
  pop_graph_create_host_read(graph, name, t);
  return t;
}

static pop_engine *start(pop_graph *graph, pop_program main, const char *max_cycles)
{
  const pop_option option = {"debug.maxCyclesPerRun", max_cycles};
  pop_engine *engine;
  assert_no_error(graph);
  expect_ok(pop_engine_create(graph, &main, 1, &option, 1, &engine));
  expect_ok(pop_engine_load(engine));
  return engine;
}

static int read_int(pop_engine *engine, const char *handle)
{
  int value;
  expect_ok(pop_engine_read_tensor(engine, handle, &value, sizeof value));
  return value;
}

static void write_int(pop_engine *engine, const char *handle, int value)
{
  expect_ok(pop_engine_write_tensor(engine, handle, &value, sizeof value));
}

/* ---- endless programs ---- */

/* The run ends at the limit with an error that says so. After a load the engine works. */
static void expect_endless(pop_graph *graph, pop_program main, const char *what)
{
  pop_engine *engine = start(graph, main, "200000");
  write_int(engine, ">on", 1);
  pop_error *error = pop_engine_run(engine, 0);
  cr_assert_not_null(error, "%s: the run ends", what);
  cr_assert_not_null(strstr(pop_error_message(error), "OUT_OF_CYCLES on tile "), "%s: %s", what,
                     pop_error_message(error));
  cr_assert_eq(pop_error_exit_status(error), 3);
  expect_error(error, POP_ERROR_RUNTIME, "the limit is option debug.maxCyclesPerRun", what);
  cr_assert_geq(pop_engine_cycles(engine), 200000, "%s", what);
  cr_assert_leq(pop_engine_cycles(engine), 210000, "%s: goes on", what);
  expect_ok(pop_engine_load(engine));
  pop_engine_free(engine);
  pop_graph_free(graph);
}

Test(program_faults, X01_a_repeat_of_2_to_32_is_ended_by_the_limit_of_cycles)
{
  pop_graph *graph = new_graph_with_tiles(NUM_TILES);
  pop_tensor on = ints(graph, 1, 2, "on"), to = ints(graph, 1, 1, "to");
  expect_endless(graph,
                 pop_program_repeat(graph, UINT32_MAX, pop_program_copy(on, to, "copy"), "often"),
                 "Repeat 2^32 - 1");
}

Test(program_faults, X06_a_loop_that_never_ends_is_ended_by_the_limit_of_cycles)
{
  for (int full = 0; full < 2; full++) {
    pop_graph *graph = new_graph_with_tiles(NUM_TILES);
    pop_tensor on = ints(graph, 1, 2, "on"), to = ints(graph, 1, 1, "to");
    pop_program body = full ? pop_program_copy(on, to, "copy") : (pop_program){0};
    expect_endless(graph, pop_program_repeat_while_true((pop_program){0}, on, body, "for ever"),
                   full ? "RepeatWhileTrue" : "RepeatWhileTrue of nothing");
  }
}

/* ---- nesting ---- */

typedef enum nest_kind {
  NEST_CALL,
  NEST_SEQUENCE,
  NEST_REPEAT,
  NEST_BLOCK,
  NEST_IF,
  NEST_SWITCH,
  NEST_WHILE_FALSE
} nest_kind;

static pop_program nest(pop_graph *graph, nest_kind kind, pop_tensor decides, pop_program body)
{
  const pop_switch_case one = {1, body};
  pop_program sequence;
  switch (kind) {
  case NEST_SEQUENCE:
    sequence = pop_program_sequence(graph, "sequence");
    pop_sequence_add(sequence, body);
    return sequence;
  case NEST_REPEAT:
    return pop_program_repeat(graph, 1, body, "repeat");
  case NEST_BLOCK:
    return pop_program_block(graph, body, "block");
  case NEST_CALL:
    return pop_program_call(pop_graph_add_function(graph, body), "call");
  case NEST_IF:
    return pop_program_if(decides, body, (pop_program){0}, "if");
  case NEST_SWITCH:
    return pop_program_switch(decides, &one, 1, (pop_program){0}, "switch");
  default:
    return pop_program_repeat_while_false(body, decides, (pop_program){0}, "while");
  }
}

typedef struct nested {
  nest_kind kind;
  int depth;
  pop_engine *engine;
} nested;

/* Calls all functions that walk through programs. */
static pop_error *describe_nested(pop_graph *graph, pop_program main, const pop_executable *e)
{
  static const pop_option storage = {"showVarStorage", "true"};
  pop_profile *profile;
  pop_executable *loaded;
  FILE *nowhere = fopen("/dev/null", "w");
  if (!nowhere) return pop_error_errno(errno, "cannot open /dev/null");
  POP_TRY(pop_graph_serialize(graph, nowhere));
  POP_TRY(pop_program_serialize(main, nowhere));
  POP_TRY(pop_graph_output_compute_graph(graph, nowhere, &main, 1));
  fclose(nowhere);
  char *text;
  size_t size;
  FILE *summary = open_memstream(&text, &size);
  POP_TRY(pop_executable_graph_profile(e, &profile));
  POP_TRY(pop_profile_print_graph_summary(pop_profile_root(profile), &storage, 1, summary));
  pop_profile_free(profile);
  fclose(summary);
  free(text);
  if (size > (size_t)DEEP * 400)
    return pop_error_new(POP_ERROR_INTERNAL, "the summary has %zu bytes", size);
  POP_TRY(pop_executable_save(e, "nested.a"));
  POP_TRY(pop_executable_load("nested.a", &loaded));
  pop_executable_free(loaded);
  return NULL;
}

/* Runs on a thread with a small stack. */
static void *compile_nested(void *context)
{
  nested *n = context;
  pop_graph *graph = new_graph_with_tiles(2);
  pop_tensor on = ints(graph, 1, 1, "on"), to = ints(graph, 1, 0, "to");
  pop_program main = pop_program_copy(on, to, "inmost");
  for (int i = 0; i < n->depth; i++) main = nest(graph, n->kind, on, main);
  pop_executable *e = NULL;
  pop_error *error = pop_compile_graph(graph, &main, 1, NULL, 0, &e);
  if (!error) error = describe_nested(graph, main, e);
  if (!error) error = pop_engine_create_from_executable(e, NULL, 0, &n->engine);
  if (!error) error = pop_engine_load(n->engine);
  pop_executable_free(e);
  pop_graph_free(graph);
  return error;
}

static pop_error *compile_on_a_small_stack(nested *n)
{
  pthread_attr_t attributes;
  pthread_t thread;
  void *error;
  pthread_attr_init(&attributes);
  cr_assert_eq(pthread_attr_setstacksize(&attributes, SMALL_STACK), 0);
  cr_assert_eq(pthread_create(&thread, &attributes, compile_nested, n), 0);
  cr_assert_eq(pthread_join(thread, &error), 0);
  pthread_attr_destroy(&attributes);
  return error;
}

/* On the device each level costs code, except for calls. A program that does not fit is an
 * error. */
Test(program_faults, X02_nesting_of_all_kinds_needs_no_host_stack, .init = enter_fresh_folder)
{
  static const struct {
    nest_kind kind;
    int fits;
  } cases[] = {{NEST_CALL, DEEP},       {NEST_SEQUENCE, DEEP}, {NEST_REPEAT, DEEP},
               {NEST_BLOCK, DEEP},      {NEST_IF, 2000},       {NEST_SWITCH, 2000},
               {NEST_WHILE_FALSE, 2000}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nested n = {.kind = cases[i].kind, .depth = cases[i].fits};
    expect_ok(compile_on_a_small_stack(&n));
    write_int(n.engine, ">on", 1);
    expect_ok(pop_engine_run(n.engine, 0));
    cr_assert_eq(read_int(n.engine, "to"), 1, "kind %zu", i);
    pop_engine_free(n.engine);
    if (cases[i].fits == DEEP) continue;
    n.depth = TOO_DEEP;
    expect_error(compile_on_a_small_stack(&n), POP_ERROR_GRAPH_MEMORY, "bytes of control code",
                 "deep");
  }
}

Test(program_faults, X03_functions_that_call_each_other_in_a_ring)
{
  pop_graph *graph = new_graph_with_tiles(NUM_TILES);
  pop_program a = pop_program_sequence(graph, "a"), b = pop_program_sequence(graph, "b"),
              c = pop_program_sequence(graph, "c");
  pop_sequence_add(a, pop_program_call(pop_graph_add_function(graph, b), "call b"));
  pop_sequence_add(b, pop_program_call(pop_graph_add_function(graph, c), "call c"));
  assert_no_error(graph);
  pop_sequence_add(c, pop_program_call(pop_graph_add_function(graph, a), "call a"));
  assert_error(graph, POP_ERROR_CONTROL_PROGRAM,
               (const char *[5]){"sequence 'c'", "itself", "'call a'", "recursive"}, "ring");
  pop_graph_free(graph);
}

/* ---- choices ---- */

Test(program_faults, X04_a_switch_without_a_default_does_nothing_for_other_values)
{
  static const int values[] = {-1, 0, 1, 2, 3, INT32_MAX, INT32_MIN};
  pop_graph *graph = new_graph_with_tiles(NUM_TILES);
  pop_tensor on = ints(graph, 1, 3, "on"), to = ints(graph, 1, 0, "to");
  const pop_switch_case cases[] = {{1, pop_program_copy(on, to, "one")}, {2, {0}}};
  pop_engine *engine =
      start(graph, pop_program_switch(on, cases, 2, (pop_program){0}, "choice"), "0");
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    write_int(engine, ">to", 77);
    write_int(engine, ">on", values[i]);
    expect_ok(pop_engine_run(engine, 0));
    cr_assert_eq(read_int(engine, "to"), values[i] == 1 ? 1 : 77, "value %d", values[i]);
  }
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* ---- exchanges ---- */

static const char gathering[] =
    "#include <populus/vertex.h>\n"
    "typedef struct { INPUT(VECTOR(int)) in; OUTPUT(int) out; } First;\n"
    "COMPUTE(First) { *vertex->out = vertex->in.data[0]; return true; }\n";

Test(program_faults, X08_an_exchange_that_needs_more_than_a_tile_names_it_and_the_tile)
{
  static const char *const words[] = {"1 of 8 tiles out of memory, tile 3 by ", "The Largest:",
                                      "1,200,000 B  'gather', Internal Exchange Message Buffers",
                                      "150,000 B  'wide', Variables"};
  const size_t count = 300000, one = 1;
  pop_graph *graph = new_graph_with_tiles(8);
  pop_graph_add_codelets_source(graph, "c", gathering, "gathering.c", NULL);
  pop_tensor wide = pop_graph_add_variable(graph, POP_INT, &count, 1, "wide");
  pop_tensor out = pop_graph_add_variable(graph, POP_INT, &one, 1, "out");
  pop_graph_map_linearly(graph, wide, 0, 0);
  pop_graph_set_tile_mapping(graph, out, 3);
  pop_compute_set set = pop_graph_add_compute_set(graph, "gather");
  pop_vertex vertex = pop_graph_add_vertex(graph, set, "First");
  pop_graph_connect(graph, vertex, "in", wide);
  pop_graph_connect(graph, vertex, "out", pop_tensor_index(out, 0));
  pop_graph_set_vertex_tile(graph, vertex, 3);
  pop_program main = pop_program_execute(graph, set, "gather");
  pop_engine *engine;
  pop_error *error = pop_engine_create(graph, &main, 1, NULL, 0, &engine);
  cr_assert_not_null(error);
  const char *at = pop_error_message(error); /* in this order, for the fullest tile */
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const char *found = strstr(at, words[i]);
    cr_assert_not_null(found, "no '%s' in: %s", words[i], at);
    at = found;
  }
  expect_error(error, POP_ERROR_GRAPH_MEMORY, "", "gather");
  pop_graph_free(graph);
}

/* ---- variables that are never written ---- */

static char *log_of(pop_graph *graph, pop_program main)
{
  uint8_t *text;
  size_t size;
  pop_engine_free(start(graph, main, "0"));
  expect_ok(pop_file_read("log.txt", 1 << 20, &text, &size));
  char *ended = strndup((char *)text, size);
  free(text);
  return ended;
}

static void warn_to_file(void)
{
  enter_fresh_folder();
  setenv("POPLAR_LOG_LEVEL", "WARN", 1);
  setenv("POPLAR_LOG_DEST", "log.txt", 1);
}

/* One variable for each way to get a value, and two without a value. */
Test(program_faults, X11_a_variable_that_is_read_and_never_written_is_warned_of,
     .init = warn_to_file)
{
  static const int seven = 7;
  static const char *const fine[] = {"by handle",   "(by program)", "(by value)",
                                     "(by stream)", "(constant)",   "(not read)"};
  const size_t one = 1;
  pop_graph *graph = new_graph_with_tiles(NUM_TILES);
  pop_tensor sources[] = {ints(graph, 1, 0, fine[0]),
                          ints(graph, 1, 1, fine[1]),
                          ints(graph, 1, 2, fine[2]),
                          ints(graph, 1, 3, fine[3]),
                          pop_graph_add_constant(graph, POP_INT, &one, 1, &seven, fine[4]),
                          ints(graph, 1, 1, "(first of nobody)"),
                          ints(graph, 1, 1, "(second of nobody)")};
  enum { NUM_SOURCES = sizeof sources / sizeof *sources };
  pop_graph_set_tile_mapping(graph, sources[4], 2);
  pop_tensor sink = ints(graph, NUM_SOURCES, 0, "(sink)");
  pop_graph_set_initial_value(graph, sources[2], &seven);
  pop_stream stream = pop_graph_add_host_to_device_fifo(graph, "stream", POP_INT, 1);
  pop_program main = pop_program_sequence(graph, "main");
  for (size_t i = 0; i < NUM_SOURCES; i++)
    pop_sequence_add(main,
                     pop_program_copy(sources[i], pop_tensor_slice(sink, i, i + 1, 0), "read"));
  pop_sequence_add(main, pop_program_copy(sources[0], sources[1], "write"));
  pop_sequence_add(main, pop_program_copy_from_stream(stream, sources[3], "receive"));
  pop_sequence_add(main, pop_program_copy(sources[0], ints(graph, 1, 3, fine[5]), "keep"));
  char *text = log_of(graph, main);
  cr_assert_not_null(
      strstr(text, "variable '(first of nobody)' (int[1]) is read, but nothing writes it"), "%s",
      text);
  cr_assert_not_null(strstr(text, "'(second of nobody)'"), "%s", text);
  for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
    cr_assert_null(strstr(text, fine[i]), "'%s' is warned of: %s", fine[i], text);
  free(text);
  pop_graph_free(graph);
}

Test(program_faults, X11_of_many_such_variables_the_first_are_named, .init = warn_to_file)
{
  enum { MANY = 20 };
  pop_graph *graph = new_graph_with_tiles(NUM_TILES);
  pop_tensor sink = ints(graph, MANY, 0, "(sink)");
  pop_program main = pop_program_sequence(graph, "main");
  for (size_t i = 0; i < MANY; i++)
    pop_sequence_add(main, pop_program_copy(ints(graph, 1, 1, "(nobody's)"),
                                            pop_tensor_slice(sink, i, i + 1, 0), "read"));
  char *text = log_of(graph, main);
  int named = 0;
  for (const char *at = text; (at = strstr(at, "(nobody's)")); at++) named++;
  cr_assert_eq(named, 8, "%s", text);
  cr_assert_not_null(strstr(text, "12 more variables are read"), "%s", text);
  free(text);
  pop_graph_free(graph);
}

/* Variables that were never written are 0 after every load, even where other data were before. */
Test(program_faults, X11_variables_that_nobody_wrote_are_zero_after_each_load)
{
  pop_graph *graph = new_graph_with_tiles(NUM_TILES);
  pop_tensor quiet = ints(graph, 1, 1, "quiet"), to = ints(graph, 1, 3, "to");
  pop_engine *engine = start(graph, pop_program_copy(quiet, to, "copy"), "0");
  for (int i = 0; i < 2; i++) {
    write_int(engine, ">to", 5);
    expect_ok(pop_engine_run(engine, 0));
    cr_assert_eq(read_int(engine, "to"), 0, "load %d", i);
    write_int(engine, ">quiet", 9);
    expect_ok(pop_engine_load(engine));
  }
  pop_engine_free(engine);
  pop_graph_free(graph);
}
