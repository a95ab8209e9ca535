/* Faults of device code from end to end. A fault ends the run with a message that names the fault,
 * tile, worker, vertex, compute set, address and source line. Afterwards memory can be read, other
 * tiles are unchanged, and after a new load everything works. */
#include "support/expect.h"

#include <inttypes.h>
#include <populus/popc.h>
#include <populus/populus.h>
#include <stdio.h>

enum {
  NUM_TILES = 5,
  AT_FAULT = 2, /* the tile with the faulty vertex */
  COUNT = 8,    /* ints on each tile */
  MAX_CYCLES = 2000000
};

static char source[4096]; /* tests/codelets/faults.c */

/* Makes faults.gp, with debug information. */
static void prepare(void)
{
  static const char *const flags[] = {"-g"};
  const char *input = source;
  enter_fresh_folder();
  snprintf(source, sizeof source, "%s/tests/codelets/faults.c", getenv("POPULUS_SOURCE_DIR"));
  popc_options options = {.size = sizeof options,
                          .inputs = &input,
                          .num_inputs = 1,
                          .output = "faults.gp",
                          .flags = flags,
                          .num_flags = 1,
                          .diagnostics_fd = -1};
  expect_ok(popc_compile(&options, NULL, NULL));
}

static void pop_target_for_faults(pop_target *target)
{
  expect_ok(pop_target_create("ipu2", 1, target));
  target->tiles_per_ipu = NUM_TILES;
}

/* The vertex on tiles [first, end); before it, in the same program, every tile's data are copied to
 * "seen", and after it would come a copy to "late". */
static pop_engine *new_engine(const char *vertex_type, uint32_t value, size_t first, size_t end)
{
  static const size_t shape[] = {NUM_TILES, COUNT};
  pop_target target;
  pop_target_for_faults(&target);
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets(graph, "faults.gp", NULL);
  pop_tensor data = pop_graph_add_variable(graph, POP_INT, shape, 2, "data");
  pop_tensor seen = pop_graph_add_variable(graph, POP_INT, shape, 2, "seen");
  pop_tensor late = pop_graph_add_variable(graph, POP_INT, shape, 2, "late");
  pop_compute_set set = pop_graph_add_compute_set(graph, "faulty set");
  for (size_t tile = 0; tile < NUM_TILES; ++tile) {
    pop_graph_set_tile_mapping(graph, pop_tensor_index(data, tile), tile);
    pop_graph_set_tile_mapping(graph, pop_tensor_index(seen, tile), (tile + 1) % NUM_TILES);
    pop_graph_set_tile_mapping(graph, pop_tensor_index(late, tile), (tile + 1) % NUM_TILES);
    if (tile < first || tile >= end) continue;
    pop_vertex vertex = pop_graph_add_vertex(graph, set, vertex_type);
    pop_graph_connect(graph, vertex, "x", pop_tensor_index(data, tile));
    pop_graph_set_field_int(graph, vertex, "value", value);
    pop_graph_set_vertex_tile(graph, vertex, tile);
  }
  pop_graph_create_host_write(graph, "set data", data);
  pop_graph_create_host_read(graph, "data", data);
  pop_graph_create_host_read(graph, "seen", seen);
  pop_graph_create_host_read(graph, "late", late);
  pop_program programs[] = {pop_program_sequence(graph, "main"),
                            pop_program_copy(data, late, "harmless")};
  pop_sequence_add(programs[0], pop_program_copy(data, seen, "before"));
  pop_sequence_add(programs[0], pop_program_execute(graph, set, "faulty"));
  pop_sequence_add(programs[0], pop_program_copy(data, late, "after"));
  char limit[16];
  snprintf(limit, sizeof limit, "%d", MAX_CYCLES);
  const pop_option option = {"debug.maxCyclesPerRun", limit};
  pop_engine *engine;
  pop_error *error = pop_engine_create(graph, programs, 2, &option, 1, &engine);
  cr_assert_null(error, "%s: %s", vertex_type, error ? pop_error_message(error) : "");
  expect_ok(pop_engine_load(engine));
  pop_graph_free(graph);
  return engine;
}

static void write_data(pop_engine *engine)
{
  int data[NUM_TILES * COUNT];
  for (int i = 0; i < NUM_TILES * COUNT; ++i) data[i] = 1000 + i;
  expect_ok(pop_engine_write_tensor(engine, "set data", data, sizeof data));
}

/* `handle` has what write_data wrote, except for rows [first, end); without `written`, it has
 * zeros. */
static void expect_data(pop_engine *engine, const char *handle, bool written, size_t first,
                        size_t end, const char *what)
{
  int data[NUM_TILES * COUNT];
  expect_ok(pop_engine_read_tensor(engine, handle, data, sizeof data));
  for (size_t i = 0; i < NUM_TILES * COUNT; ++i)
    if (i / COUNT < first || i / COUNT >= end)
      cr_assert_eq(data[i], written ? 1000 + (int)i : 0, "%s: element %zu of '%s' is %d", what, i,
                   handle, data[i]);
}

/* The line of tests/codelets/faults.c with the comment "fault: <name>", 0 if there is none. */
static int line_of(const char *name)
{
  char line[512], mark[128];
  FILE *stream = fopen(source, "r");
  cr_assert_not_null(stream, "%s", source);
  snprintf(mark, sizeof mark, "/* fault: %s */", name);
  int number = 1, found = 0;
  for (; fgets(line, sizeof line, stream) && !found; ++number)
    if (strstr(line, mark)) found = number;
  fclose(stream);
  return found;
}

typedef struct fault_case {
  const char *id, *vertex;
  uint32_t value; /* of the vertex's field */
  const char *kind;
  const char *address; /* in the message, or NULL */
} fault_case;

static const fault_case fault_cases[] = {
    {"V02 the byte below the tile", "StoreByte", 0x4bfff, "INVALID_ADDRESS", "0x4bfff"},
    {"V02 the byte above the tile", "StoreByte", 0xe8000, "INVALID_ADDRESS", "0xe8000"},
    {"V02 above what is used", "StoreWord", 0xe7ffc, "INVALID_ADDRESS", "0xe7ffc"},
    {"V02 far away", "StoreWord", 0x80000000, "INVALID_ADDRESS", "0x80000000"},
    {"V02 the last byte of all", "StoreByte", 0xffffffff, "INVALID_ADDRESS", "0xffffffff"},
    {"V02 the last word of all", "StoreWord", 0xfffffffc, "INVALID_ADDRESS", "0xfffffffc"},
    {"V02 a float far away", "StoreFloat", 0x10000000, "INVALID_ADDRESS", "0x10000000"},
    {"V02 the system's memory", "StoreWord", 0x4c010, "INVALID_ADDRESS", "0x4c010"},
    {"V03 V11 code", "StoreToCode", 0, "INVALID_ADDRESS", NULL},
    {"V04 null", "LoadWord", 0, "INVALID_ADDRESS", "0x0"},
    {"V04 null, a byte", "LoadByte", 0, "INVALID_ADDRESS", "0x0"},
    {"V04 null, a float", "LoadFloat", 0, "INVALID_ADDRESS", "0x0"},
    {"V04 above what is used", "LoadHalf", 0xe7ffe, "INVALID_ADDRESS", "0xe7ffe"},
    {"V05 a word at an odd address", "LoadWord", 0x4e001, "MISALIGNED", "0x4e001"},
    {"V05 half a word at an odd address", "LoadHalf", 0x4e003, "MISALIGNED", "0x4e003"},
    {"V05 a float between two", "LoadFloat", 0x4e002, "MISALIGNED", "0x4e002"},
    {"V05 half a word to an odd address", "StoreHalf", 0x4e001, "MISALIGNED", "0x4e001"},
    {"V05 in the vertex's own data", "MisalignedInOwnData", 0, "MISALIGNED", NULL},
    {"V13 a long vector", "LongVector", 0, "INVALID_ADDRESS", NULL},
    {"V06 recursion", "Recursion", 0, "STACK_OVERFLOW", NULL},
    {"V03 another worker's stack", "StackOfAnother", 0, "STACK_OVERFLOW", NULL},
    {"V01 an endless loop", "Endless", 0, "OUT_OF_CYCLES", NULL},
    {"V07 a jump to null", "Jump", 0, "INVALID_PC", NULL},
    {"V07 a jump out of the tile", "Jump", 0xfffffff0, "INVALID_PC", NULL},
    {"V07 a jump to data", "JumpToData", 0, "INVALID_PC", NULL},
    {"V07 a jump into an instruction", "JumpIntoAnInstruction", 0, "INVALID_PC", NULL},
    {"V07 no instruction", "NoInstruction", 0, "INVALID_INSTRUCTION", NULL},
    {"V07 a trap of the compiler's", "Trap", 0, "INVALID_INSTRUCTION", NULL},
    {"V07 an instruction of the supervisor's", "HostSync", 0, "INVALID_INSTRUCTION", NULL},
    {"V07 an exchange instruction", "Send", 0, "INVALID_INSTRUCTION", NULL},
    {"V07 an instruction of machine mode", "MachineMode", 0, "INVALID_INSTRUCTION", NULL},
    {"V07 a call of an operating system", "EnvironmentCall", 0, "TRAP", NULL},
};

static void expect_in_message(const char *id, const char *message, const char *word)
{
  cr_assert_not_null(strstr(message, word), "%s: no '%s' in: %s", id, word, message);
}

static void check_message(const fault_case *c, const char *message)
{
  char text[128];
  int line = line_of(c->vertex);
  snprintf(text, sizeof text, "device fault %s", c->kind);
  expect_in_message(c->id, message, text);
  snprintf(text, sizeof text, "on tile %d, worker 0", AT_FAULT);
  expect_in_message(c->id, message, text);
  snprintf(text, sizeof text, "in vertex %s (number 0 of the graph) of compute set 'faulty set'",
           c->vertex);
  expect_in_message(c->id, message, text);
  expect_in_message(c->id, message, ", pc 0x");
  if (c->address) {
    snprintf(text, sizeof text, " at address %s on tile", c->address);
    expect_in_message(c->id, message, text);
  }
  if (line) {
    snprintf(text, sizeof text, "tests/codelets/faults.c:%d", line);
    expect_in_message(c->id, message, text);
    char behind = strstr(message, text)[strlen(text)];
    cr_assert(behind == ';' || behind == ':', "%s: not line %d: %s", c->id, line, message);
  }
}

static void check_fault(const fault_case *c)
{
  pop_engine *engine = new_engine(c->vertex, c->value, AT_FAULT, AT_FAULT + 1);
  write_data(engine);
  pop_error *error = pop_engine_run(engine, 0);
  cr_assert_not_null(error, "%s: no fault", c->id);
  check_message(c, pop_error_message(error));
  expect_error(error, POP_ERROR_RUNTIME, "", c->id);
  expect_data(engine, "data", true, AT_FAULT, AT_FAULT + 1, c->id);
  expect_data(engine, "seen", true, 0, 0, c->id);
  expect_data(engine, "late", false, 0, 0, c->id); /* nothing ran after the fault */
  expect_error(pop_engine_run(engine, 1), POP_ERROR_RUNTIME, "pop_engine_load",
               "E10 run after a fault");
  expect_ok(pop_engine_load(engine));
  write_data(engine);
  expect_ok(pop_engine_run(engine, 1));
  expect_data(engine, "late", true, 0, 0, "E10 after a new load");
  pop_engine_free(engine);
}

Test(engine_faults, V01_to_V13_each_fault_has_its_message, .init = prepare)
{
  for (size_t i = 0; i < sizeof fault_cases / sizeof *fault_cases; ++i)
    check_fault(&fault_cases[i]);
}

/* As on the chip, unless debug.strictLoads is set: a load past a vector gets what is
 * there, or zero. */
static void expect_lenient_loads(const char *tile_engine)
{
  static const struct {
    const char *vertex;
    uint32_t address;
  } loads[] = {{"LoadHalf", 0xe7ffe}, {"LoadWord", 0xe7ffc}, {"LoadByte", 0x80000}};
  setenv("POPULUS_TILE_ENGINE", tile_engine, 1);
  setenv("POPULUS_STRICT_LOADS", "false", 1);
  for (size_t i = 0; i < sizeof loads / sizeof *loads; ++i) {
    pop_engine *engine = new_engine(loads[i].vertex, loads[i].address, AT_FAULT, AT_FAULT + 1);
    int data[NUM_TILES][COUNT];
    write_data(engine);
    expect_ok(pop_engine_run(engine, 0));
    expect_ok(pop_engine_read_tensor(engine, "data", data, sizeof data));
    cr_assert_eq(data[AT_FAULT][0], 0, "%s: %d", loads[i].vertex, data[AT_FAULT][0]);
    pop_engine_free(engine);
  }
  static const fault_case outside[] = {
      {"V04 null", "LoadWord", 0, "INVALID_ADDRESS", "0x0"},
      {"V04 above the tile", "LoadHalf", 0xe8000, "INVALID_ADDRESS", "0xe8000"},
      {"V04 below the tile", "LoadByte", 0x4bfff, "INVALID_ADDRESS", "0x4bfff"},
      {"V02 above what is used", "StoreWord", 0xe7ffc, "INVALID_ADDRESS", "0xe7ffc"}};
  for (size_t i = 0; i < sizeof outside / sizeof *outside; ++i) check_fault(&outside[i]);
}

Test(engine_faults, V04_loads_from_memory_that_holds_nothing_give_zero, .init = prepare)
{
  expect_lenient_loads("interpreter");
  expect_lenient_loads("translator");
}

Test(engine_faults, V04_strict_loads_say_which_variable_was_passed, .init = prepare)
{
  pop_engine *engine = new_engine("LoadHalf", 0xe7ffe, AT_FAULT, AT_FAULT + 1);
  pop_error *error = pop_engine_run(engine, 0);
  cr_assert_not_null(error);
  expect_in_message("V04", pop_error_message(error), " bytes behind the end of '");
  pop_error_free(error);
  pop_engine_free(engine);
}

Test(engine_faults, V01_says_which_option_is_the_limit, .init = prepare)
{
  pop_engine *engine = new_engine("Endless", 0, AT_FAULT, AT_FAULT + 1);
  expect_error(pop_engine_run(engine, 0), POP_ERROR_RUNTIME, "debug.maxCyclesPerRun",
               "endless loop");
  cr_assert_leq(pop_engine_cycles(engine), 2 * MAX_CYCLES);
  pop_engine_free(engine);
}

Test(engine_faults, V06_says_which_option_makes_stacks_larger, .init = prepare)
{
  pop_engine *engine = new_engine("Recursion", 0, AT_FAULT, AT_FAULT + 1);
  expect_error(pop_engine_run(engine, 0), POP_ERROR_RUNTIME, "debug.workerStackSizeInBytes",
               "recursion");
  pop_engine_free(engine);
}

Test(engine_faults, V08_V09_arithmetic_has_defined_results, .init = prepare)
{
  static const int expected[COUNT] = {-1, 7, INT32_MIN, 0, 14, INT32_MAX, INT32_MAX, 1};
  int data[NUM_TILES][COUNT];
  pop_engine *engine = new_engine("Arithmetic", 0, AT_FAULT, AT_FAULT + 1);
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "data", data, sizeof data));
  for (int i = 0; i < COUNT; ++i)
    cr_assert_eq(data[AT_FAULT][i], expected[i], "result %d is %d", i, data[AT_FAULT][i]);
  pop_engine_free(engine);
}

/* The return value of compute does not change the run, as the example in populus/vertex.h says. */
Test(engine_faults, V12_a_vertex_that_returns_false_has_run, .init = prepare)
{
  int data[NUM_TILES][COUNT];
  pop_engine *engine = new_engine("ReturnsFalse", 0, AT_FAULT, AT_FAULT + 1);
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "data", data, sizeof data));
  cr_assert_eq(data[AT_FAULT][0], 85);
  pop_engine_free(engine);
}

/* Tiles 1 to 4 fault. The first is named and the others are counted, in every run alike. */
Test(engine_faults, V16_several_tiles_fault_in_one_superstep, .init = prepare)
{
  pop_engine *engine = new_engine("LoadWord", 0, 1, NUM_TILES);
  char first[1024] = "";
  for (int run = 0; run < 3; ++run) {
    expect_ok(pop_engine_load(engine));
    write_data(engine);
    pop_error *error = pop_engine_run(engine, 0);
    cr_assert_not_null(error);
    expect_in_message("V16", pop_error_message(error), "on tile 1, worker 0");
    expect_in_message("V16", pop_error_message(error),
                      "3 more tiles faulted in the same superstep");
    if (run == 0) snprintf(first, sizeof first, "%s", pop_error_message(error));
    cr_assert_str_eq(pop_error_message(error), first);
    pop_error_free(error);
    expect_data(engine, "data", true, 1, NUM_TILES, "V16");
  }
  pop_engine_free(engine);
}
