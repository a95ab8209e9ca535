/* The errors for mistakes of a host program: the error code, and a message that names the object
 * and says what would be right. Every case is a program with a single mistake. */
#include "support/expect.h"

#include <populus/popc.h>
#include <populus/populus.h>
#include <stdio.h>

static const char codelets[] =
    "#include <populus/vertex.h>\n"
    "typedef struct { INPUT(VECTOR(int)) in; OUTPUT(int) out; int by; unsigned char small; } Sum;\n"
    "COMPUTE(Sum)\n"
    "{\n"
    "  *vertex->out = vertex->by;\n"
    "  for (unsigned i = 0; i < vertex->in.size; ++i) *vertex->out += vertex->in.data[i];\n"
    "  return true;\n"
    "}\n";

typedef struct program {
  pop_graph *graph;
  pop_tensor in, out;  /* int[8] on tiles 0 to 3, int[4] on tile 2 */
  pop_tensor constant; /* int[8] on tile 1 */
  pop_tensor numbers;  /* float[8] on tile 0 */
  pop_compute_set set;
  pop_program main; /* a sequence */
} program;

static void write_file(const char *path, const void *bytes, size_t size)
{
  FILE *stream = fopen(path, "wb");
  cr_assert_not_null(stream);
  cr_assert_eq(fwrite(bytes, 1, size, stream), size);
  cr_assert_eq(fclose(stream), 0);
}

/* For .init: makes a folder of the test's own, with sum.gp. */
static void prepare(void)
{
  static const char *const input = "sum.c";
  enter_fresh_folder();
  write_file(input, codelets, sizeof codelets - 1);
  popc_options options = {.size = sizeof options,
                          .inputs = &input,
                          .num_inputs = 1,
                          .output = "sum.gp",
                          .diagnostics_fd = -1};
  expect_ok(popc_compile(&options, NULL, NULL));
}

static pop_vertex add_sum(program *p, pop_tensor in, pop_tensor out, size_t tile)
{
  pop_vertex vertex = pop_graph_add_vertex(p->graph, p->set, "Sum");
  pop_graph_connect(p->graph, vertex, "in", in);
  pop_graph_connect(p->graph, vertex, "out", out);
  pop_graph_set_vertex_tile(p->graph, vertex, tile);
  return vertex;
}

static pop_tensor element(pop_tensor t, size_t i)
{
  return pop_tensor_index(t, i);
}

static program new_program(void)
{
  static const size_t eight[] = {8}, four[] = {4};
  static const int values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 4;
  program p = {.graph = pop_graph_create(&target)};
  pop_graph_add_codelets(p.graph, "sum.gp", NULL);
  p.in = pop_graph_add_variable(p.graph, POP_INT, eight, 1, "in");
  p.out = pop_graph_add_variable(p.graph, POP_INT, four, 1, "out");
  p.constant = pop_graph_add_constant(p.graph, POP_INT, eight, 1, values, "constant");
  p.numbers = pop_graph_add_variable(p.graph, POP_FLOAT, eight, 1, "numbers");
  pop_graph_map_linearly(p.graph, p.in, 0, 0);
  pop_graph_set_tile_mapping(p.graph, p.out, 2);
  pop_graph_set_tile_mapping(p.graph, p.constant, 1);
  pop_graph_set_tile_mapping(p.graph, p.numbers, 0);
  p.set = pop_graph_add_compute_set(p.graph, "sums");
  p.main = pop_program_sequence(p.graph, "main");
  pop_sequence_add(p.main, pop_program_execute(p.graph, p.set, "sums"));
  add_sum(&p, p.in, element(p.out, 0), 1);
  pop_graph_create_host_read(p.graph, "out", p.out);
  pop_graph_create_host_write(p.graph, "in", p.in);
  return p;
}

/* ---- mistakes in a graph ---- */

static void unknown_vertex_type(program *p)
{
  pop_graph_add_vertex(p->graph, p->set, "Sun");
}

static void unknown_field(program *p)
{
  pop_vertex vertex = add_sum(p, p->in, element(p->out, 1), 1);
  pop_graph_connect(p->graph, vertex, "inn", p->in);
}

static void unconnected_field(program *p)
{
  pop_vertex vertex = pop_graph_add_vertex(p->graph, p->set, "Sum");
  pop_graph_connect(p->graph, vertex, "out", element(p->out, 1));
  pop_graph_set_vertex_tile(p->graph, vertex, 1);
}

static void field_of_wrong_type(program *p)
{
  pop_vertex vertex = pop_graph_add_vertex(p->graph, p->set, "Sum");
  pop_graph_connect(p->graph, vertex, "in", p->numbers);
}

static void several_elements_for_a_scalar(program *p)
{
  pop_vertex vertex = pop_graph_add_vertex(p->graph, p->set, "Sum");
  pop_graph_connect(p->graph, vertex, "out", pop_tensor_slice(p->out, 1, 4, 0));
}

static void matrix_for_a_vector(program *p)
{
  static const size_t shape[] = {2, 4};
  pop_vertex vertex = pop_graph_add_vertex(p->graph, p->set, "Sum");
  pop_graph_connect(p->graph, vertex, "in", pop_tensor_reshape(p->in, shape, 2));
}

static void tensor_for_a_plain_field(program *p)
{
  pop_vertex vertex = add_sum(p, p->in, element(p->out, 1), 1);
  pop_graph_connect(p->graph, vertex, "by", element(p->in, 0));
}

static void number_for_a_connected_field(program *p)
{
  pop_vertex vertex = pop_graph_add_vertex(p->graph, p->set, "Sum");
  pop_graph_set_field_int(p->graph, vertex, "out", 3);
}

static void number_that_does_not_fit(program *p)
{
  pop_vertex vertex = add_sum(p, p->in, element(p->out, 1), 1);
  pop_graph_set_field_int(p->graph, vertex, "small", 256);
}

static void constant_is_written(program *p)
{
  add_sum(p, p->in, element(p->constant, 0), 1);
}

static void vertex_without_a_tile(program *p)
{
  pop_vertex vertex = pop_graph_add_vertex(p->graph, p->set, "Sum");
  pop_graph_connect(p->graph, vertex, "in", p->in);
  pop_graph_connect(p->graph, vertex, "out", element(p->out, 1));
}

static void vertex_on_no_tile(program *p)
{
  add_sum(p, p->in, element(p->out, 1), 4);
}

static void tensor_on_no_tile(program *p)
{
  pop_graph_set_tile_mapping(p->graph, p->in, 4);
}

static void predicate_is_not_mapped(program *p)
{
  static const size_t one[] = {1};
  pop_tensor t = pop_graph_add_variable(p->graph, POP_BOOL, one, 1, "predicate");
  pop_sequence_add(p->main, pop_program_if(t, pop_program_copy(p->in, p->in, "same"),
                                           (pop_program){0}, "choice"));
}
static void element_is_not_mapped(program *p)
{
  static const size_t shape[] = {10};
  pop_tensor t = pop_graph_add_variable(p->graph, POP_INT, shape, 1, "partly mapped");
  pop_graph_set_tile_mapping(p->graph, pop_tensor_slice(t, 0, 7, 0), 1);
  add_sum(p, t, element(p->out, 1), 1);
}

static void two_writers(program *p)
{
  add_sum(p, p->in, element(p->out, 0), 3);
}

static void writer_beside_a_reader(program *p)
{
  add_sum(p, p->constant, element(p->in, 5), 3);
}

static void vertex_reads_what_it_writes(program *p)
{
  add_sum(p, pop_tensor_slice(p->out, 1, 4, 0), element(p->out, 2), 3);
}

static void copy_of_another_size(program *p)
{
  pop_sequence_add(p->main, pop_program_copy(p->in, p->out, "copy"));
}

static void copy_of_another_type(program *p)
{
  pop_sequence_add(p->main, pop_program_copy(p->numbers, p->in, "copy"));
}

static void copy_to_a_constant(program *p)
{
  pop_sequence_add(p->main, pop_program_copy(p->in, p->constant, "copy"));
}

static void copy_to_elements_twice(program *p)
{
  pop_tensor twice = pop_tensor_broadcast(pop_tensor_slice(p->in, 0, 4, 0), 2, 0);
  pop_sequence_add(p->main, pop_program_copy(p->constant, twice, "copy"));
}

static void program_in_itself(program *p)
{
  pop_sequence_add(p->main, pop_program_repeat(p->graph, 2, p->main, "again"));
}

static void slice_out_of_range(program *p)
{
  pop_tensor_slice(p->in, 3, 9, 0);
}

static void index_out_of_range(program *p)
{
  pop_tensor_index(p->in, 8);
}

static void reshape_to_another_size(program *p)
{
  static const size_t shape[] = {3, 3};
  pop_tensor_reshape(p->in, shape, 2);
}

static void handle_twice(program *p)
{
  pop_graph_create_host_read(p->graph, "out", p->in);
}

static void codelets_do_not_exist(program *p)
{
  pop_graph_add_codelets(p->graph, "nowhere/codelets.gp", NULL);
}

static void codelets_are_a_jpeg(program *p)
{
  static const unsigned char jpeg[] = "\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0";
  write_file("holiday.gp", jpeg, sizeof jpeg);
  pop_graph_add_codelets(p->graph, "holiday.gp", NULL);
}

static void codelets_are_empty(program *p)
{
  write_file("empty.gp", "", 0);
  pop_graph_add_codelets(p->graph, "empty.gp", NULL);
}

static void source_does_not_compile(program *p)
{
  pop_graph_add_codelets_source(p->graph, "c++",
                                "#include <poplar/Vertex.hpp>\n"
                                "class Bad : public poplar::Vertex {\n"
                                "  poplar::Input<flaot> in;\n"
                                "};\n",
                                "bad.cpp", NULL);
}

static void source_calls_what_there_is_not(program *p)
{
  pop_graph_add_codelets_source(p->graph, "c",
                                "#include <populus/vertex.h>\n"
                                "int nowhere(int);\n"
                                "typedef struct { INOUT(int) x; } Calls;\n"
                                "COMPUTE(Calls) { *vertex->x = nowhere(1); return true; }\n",
                                "calls.c", NULL);
  pop_vertex vertex = pop_graph_add_vertex(p->graph, p->set, "Calls");
  pop_graph_connect(p->graph, vertex, "x", element(p->out, 1));
  pop_graph_set_vertex_tile(p->graph, vertex, 2);
}

static void flag_that_there_is_not(program *p)
{
  pop_graph_add_codelets_source(p->graph, "c", codelets, "again.c", "-O3 --optimise");
}

typedef struct graph_case {
  const char *name;
  void (*spoil)(program *p);
  pop_error_code code;
  const char *words[5]; /* in the message */
} graph_case;

#define GRAPH_CASE(function, code, ...)                                                            \
  {                                                                                                \
    #function, function, code,                                                                     \
    {                                                                                              \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }

static const graph_case graph_cases[] = {
    GRAPH_CASE(unknown_vertex_type, POP_ERROR_UNKNOWN_VERTEX_TYPE, "'Sun'", "'Sum'"),
    GRAPH_CASE(unknown_field, POP_ERROR_UNKNOWN_FIELD, "'inn'", "Sum", "in"),
    GRAPH_CASE(unconnected_field, POP_ERROR_GRAPH_CONNECTION, "Sum.in", "sums", "not connected"),
    GRAPH_CASE(field_of_wrong_type, POP_ERROR_GRAPH_CONNECTION, "'in'", "type int", "float",
               "'numbers'"),
    GRAPH_CASE(several_elements_for_a_scalar, POP_ERROR_GRAPH_CONNECTION, "out", "3", "one"),
    GRAPH_CASE(matrix_for_a_vector, POP_ERROR_GRAPH_CONNECTION, "in", "rank"),
    GRAPH_CASE(tensor_for_a_plain_field, POP_ERROR_GRAPH_CONNECTION, "by"),
    GRAPH_CASE(number_for_a_connected_field, POP_ERROR_GRAPH_CONNECTION, "out"),
    GRAPH_CASE(number_that_does_not_fit, POP_ERROR_TYPE, "'small'", "256", "unsigned char"),
    GRAPH_CASE(constant_is_written, POP_ERROR_GRAPH_CONNECTION, "constant"),
    GRAPH_CASE(vertex_without_a_tile, POP_ERROR_GRAPH_CONNECTION, "Sum", "sums",
               "pop_graph_set_vertex_tile"),
    GRAPH_CASE(vertex_on_no_tile, POP_ERROR_INVALID_TILE_MAPPING, "4"),
    GRAPH_CASE(tensor_on_no_tile, POP_ERROR_INVALID_TILE_MAPPING, "4"),
    GRAPH_CASE(predicate_is_not_mapped, POP_ERROR_INVALID_TILE_MAPPING, "'choice'", "'predicate'"),
    GRAPH_CASE(element_is_not_mapped, POP_ERROR_INVALID_TILE_MAPPING, "'partly mapped'", "7", "10"),
    GRAPH_CASE(two_writers, POP_ERROR_GRAPH_CYCLE, "Sum.out", "'out'", "written"),
    GRAPH_CASE(writer_beside_a_reader, POP_ERROR_GRAPH_CYCLE, "Sum.out", "'in'", "read"),
    GRAPH_CASE(vertex_reads_what_it_writes, POP_ERROR_GRAPH_CYCLE, "Sum.out", "'out'", "Sum.in"),
    GRAPH_CASE(copy_of_another_size, POP_ERROR_TENSOR, "8", "4"),
    GRAPH_CASE(copy_of_another_type, POP_ERROR_TYPE, "float", "int"),
    GRAPH_CASE(copy_to_a_constant, POP_ERROR_TENSOR, "constant"),
    GRAPH_CASE(copy_to_elements_twice, POP_ERROR_TENSOR, "twice"),
    GRAPH_CASE(program_in_itself, POP_ERROR_CONTROL_PROGRAM, "main"),
    GRAPH_CASE(slice_out_of_range, POP_ERROR_INDEX, "9", "8"),
    GRAPH_CASE(index_out_of_range, POP_ERROR_INDEX, "8"),
    GRAPH_CASE(reshape_to_another_size, POP_ERROR_TENSOR, "3", "8"),
    GRAPH_CASE(handle_twice, POP_ERROR_INVALID_ARGUMENT, "'out'"),
    GRAPH_CASE(codelets_do_not_exist, POP_ERROR_FILE_LOAD, "nowhere/codelets.gp", "No such file"),
    GRAPH_CASE(codelets_are_a_jpeg, POP_ERROR_FILE_LOAD, "holiday.gp", "JPEG"),
    GRAPH_CASE(codelets_are_empty, POP_ERROR_FILE_LOAD, "empty.gp", "empty"),
    GRAPH_CASE(source_does_not_compile, POP_ERROR_CODELET_COMPILE,
               "bad.cpp:3:17: error:", "'flaot'", "^"),
    GRAPH_CASE(source_calls_what_there_is_not, POP_ERROR_LINK, "nowhere", "Calls"),
    GRAPH_CASE(flag_that_there_is_not, POP_ERROR_USAGE, "--optimise"),
};

static void check_case(const graph_case *c)
{
  program p = new_program();
  pop_engine *engine;
  c->spoil(&p);
  pop_error *error = pop_engine_create(p.graph, &p.main, 1, NULL, 0, &engine);
  cr_assert_not_null(error, "%s: no error", c->name);
  cr_assert_null(engine, "%s", c->name);
  cr_assert_eq(pop_error_get_code(error), c->code, "%s: %s: %s", c->name,
               pop_error_code_name(pop_error_get_code(error)), pop_error_message(error));
  for (size_t i = 0; i < 5 && c->words[i]; ++i)
    cr_assert_not_null(strstr(pop_error_message(error), c->words[i]), "%s: no '%s' in: %s", c->name,
                       c->words[i], pop_error_message(error));
  pop_error_free(error);
  pop_graph_free(p.graph);
}

Test(engine_errors, a_graph_with_one_mistake, .init = prepare)
{
  for (size_t i = 0; i < sizeof graph_cases / sizeof *graph_cases; ++i) check_case(&graph_cases[i]);
}

/* ---- options ---- */

typedef struct option_case {
  const char *environment, *key, *value; /* in POPLAR_ENGINE_OPTIONS, or given in the call */
  const char *words[3];
} option_case;

static const option_case option_cases[] = {
    {NULL,
     "target.saveArchiv",
     "a.a",
     {"'target.saveArchiv'", "did you mean 'target.saveArchive'"}},
    {NULL, "Target.saveArchive", "a.a", {"did you mean 'target.saveArchive'"}},
    {NULL, "nonsense", "1", {"'nonsense'", "debug.allowOutOfMemory"}},
    {NULL, "debug.allowOutOfMemory", "yes", {"'yes'", "true or false"}},
    {NULL, "debug.workerStackSizeInBytes", "100", {"'100'", "a multiple of 16"}},
    {NULL, "debug.maxCyclesPerRun", "-1", {"'-1'", "a number of cycles"}},
    {"not json", NULL, NULL, {"POPLAR_ENGINE_OPTIONS", "not JSON", "at byte"}},
    {"{\"target.saveArchive\":\"a.a\"", NULL, NULL, {"not JSON", "at byte"}},
    {"{\"target.saveArchive\":\"a.a\"} x", NULL, NULL, {"not JSON", "at byte"}},
    {"[1]", NULL, NULL, {"not an object"}},
    {"{\"target.saveArchive\":{}}", NULL, NULL, {"target.saveArchive", "a string"}},
    {"{\"target.savearchive\":\"a.a\"}", NULL, NULL, {"did you mean 'target.saveArchive'"}},
    {"{\"debug.maxCyclesPerRun\":1,\"debug.maxCyclesPerRun\":2}",
     NULL,
     NULL,
     {"duplicate object key"}},
};

Test(engine_errors, O01_O02_O03_options, .init = prepare)
{
  program p = new_program();
  for (size_t i = 0; i < sizeof option_cases / sizeof *option_cases; ++i) {
    const option_case *c = &option_cases[i];
    const pop_option option = {c->key, c->value};
    pop_engine *engine;
    if (c->environment) setenv("POPLAR_ENGINE_OPTIONS", c->environment, 1);
    pop_error *error = pop_engine_create(p.graph, &p.main, 1, &option, c->key ? 1 : 0, &engine);
    unsetenv("POPLAR_ENGINE_OPTIONS");
    const char *what = c->key ? c->key : c->environment;
    cr_assert_not_null(error, "%s: no error", what);
    cr_assert_null(engine, "%s", what);
    for (size_t w = 0; w < 3 && c->words[w]; ++w)
      cr_assert_not_null(strstr(pop_error_message(error), c->words[w]), "%s: no '%s' in: %s", what,
                         c->words[w], pop_error_message(error));
    expect_error(error, POP_ERROR_INVALID_OPTION, "", what);
    cr_assert_neq(access("a.a", F_OK), 0, "%s: there is an archive", what);
  }
  pop_graph_free(p.graph);
}

/* ---- engines ---- */

Test(engine_errors, E01_in_the_wrong_order, .init = prepare)
{
  program p = new_program();
  pop_engine *engine;
  int values[8] = {0};
  expect_error(pop_engine_create(p.graph, &p.main, 0, NULL, 0, &engine), POP_ERROR_CONTROL_PROGRAM,
               "at least one program", "no programs");
  expect_error(pop_engine_create(NULL, &p.main, 1, NULL, 0, &engine), POP_ERROR_INVALID_ARGUMENT,
               "graph is NULL", "no graph");
  program other = new_program();
  expect_error(pop_engine_create(p.graph, &other.main, 1, NULL, 0, &engine),
               POP_ERROR_CONTROL_PROGRAM, "another graph", "program of another graph");
  pop_graph_free(other.graph);

  expect_ok(pop_engine_create(p.graph, &p.main, 1, NULL, 0, &engine));
  expect_error(pop_engine_run(engine, 0), POP_ERROR_RUNTIME, "pop_engine_load", "run before load");
  expect_error(pop_engine_read_tensor(engine, "out", values, 16), POP_ERROR_RUNTIME,
               "pop_engine_load", "read before load");
  expect_error(pop_engine_write_tensor(engine, "in", values, 32), POP_ERROR_RUNTIME,
               "pop_engine_load", "write before load");
  cr_assert_eq(pop_engine_loaded_bytes(engine, 0), 0, "nothing is loaded yet");
  expect_ok(pop_engine_load(engine));
  expect_error(pop_engine_run(engine, 1), POP_ERROR_INDEX, "no program 1", "program 1 of 1");
  expect_error(pop_engine_read_tensor(engine, "outt", values, 16), POP_ERROR_UNKNOWN_HANDLE,
               "did you mean 'out'", "misspelt handle");
  expect_error(pop_engine_read_tensor(engine, "in", values, 32), POP_ERROR_UNKNOWN_HANDLE,
               "read handle 'in'", "a handle for writing");
  expect_error(pop_engine_read_tensor(engine, "out", values, 12), POP_ERROR_INVALID_ARGUMENT,
               "16 bytes", "buffer too small");
  expect_error(pop_engine_write_tensor(engine, "in", values, 33), POP_ERROR_INVALID_ARGUMENT,
               "8 elements of type int", "buffer too large");
  pop_tile_memory memory;
  expect_error(pop_engine_tile_memory(engine, 4, &memory), POP_ERROR_INDEX, "no tile 4",
               "tile 4 of 4");
  expect_ok(pop_engine_run(engine, 0)); /* none of the failed calls did harm */
  pop_engine_free(engine);
  pop_graph_free(p.graph);
}

/* ---- memory ---- */

/* `elements` ints on tile 1 of a target that is otherwise nearly empty. */
static pop_error *create_filled(const char *target_name, size_t elements, const char *allow,
                                pop_engine **engine)
{
  static const size_t one[] = {1};
  pop_target target;
  expect_ok(pop_target_create(target_name, 1, &target));
  target.tiles_per_ipu = 9;
  pop_graph *graph = pop_graph_create(&target);
  pop_tensor large = pop_graph_add_variable(graph, POP_INT, &elements, 1, "large");
  pop_tensor small = pop_graph_add_variable(graph, POP_INT, one, 1, "small");
  pop_graph_set_tile_mapping(graph, large, 1);
  pop_graph_set_tile_mapping(graph, small, 0);
  pop_graph_create_host_read(graph, "large", large);
  pop_program copy = pop_program_copy(small, pop_tensor_slice(large, 0, 1, 0), "copy");
  const pop_option options[] = {{"debug.allowOutOfMemory", allow},
                                {"target.saveArchive", "archive.a"}};
  pop_error *error = pop_engine_create(graph, &copy, 1, options, 2, engine);
  pop_graph_free(graph);
  return error;
}

/* The number after "tile 1 by " in the message. */
static unsigned long shortage_of(const pop_error *error)
{
  const char *at = strstr(pop_error_message(error), "tile 1 by ");
  unsigned long shortage = 0;
  cr_assert_not_null(at, "%s", pop_error_message(error));
  for (at += strlen("tile 1 by "); *at != ' '; ++at)
    if (*at != ',') shortage = shortage * 10 + (unsigned long)(*at - '0');
  return shortage;
}

static size_t find_most_elements(const char *target_name, uint32_t memory_bytes)
{
  size_t elements = memory_bytes / 4;
  pop_engine *engine;
  pop_error *error = create_filled(target_name, elements, "false", &engine);
  cr_assert_not_null(error, "%s: more than all memory fits", target_name);
  cr_assert_eq(pop_error_get_code(error), POP_ERROR_GRAPH_MEMORY);
  elements -= (shortage_of(error) + 3) / 4;
  pop_error_free(error);
  return elements;
}

Test(engine_errors, Z01_a_tile_filled_exactly_and_one_element_more, .init = enter_fresh_folder)
{
  static const char *const names[] = {"ipu1", "ipu2"};
  for (size_t n = 0; n < 2; ++n) {
    pop_target target;
    pop_engine *engine;
    pop_tile_memory memory;
    expect_ok(pop_target_create(names[n], 1, &target));
    size_t most = find_most_elements(names[n], target.memory_bytes);
    expect_ok(create_filled(names[n], most, "false", &engine));
    expect_ok(pop_engine_tile_memory(engine, 1, &memory));
    cr_assert_eq(memory.total_including_gaps, target.memory_bytes, "%s: %u of %u bytes", names[n],
                 memory.total_including_gaps, target.memory_bytes);
    expect_ok(pop_engine_load(engine));
    expect_ok(pop_engine_run(engine, 0));
    pop_engine_free(engine);
    for (unsigned more = 1; more <= 1000; more += 333) {
      pop_error *error = create_filled(names[n], most + more, "false", &engine);
      cr_assert_not_null(error, "%s: %u elements more fit", names[n], more);
      cr_assert_eq(shortage_of(error), 4 * more, "%s: %u elements more: %s", names[n], more,
                   pop_error_message(error));
      pop_error_free(error);
    }
  }
}

Test(engine_errors, E06_out_of_memory_and_allowed, .init = enter_fresh_folder)
{
  static const char *const words[] = {"1 of 9 tiles out of memory",
                                      "tile 1 by ",
                                      "a tile of ipu2 has 638,976 B",
                                      "debug.allowOutOfMemory",
                                      "Tile # 1 memory usage:",
                                      "Variables:",
                                      "4,000,000 B",
                                      "Tile # 0 ",
                                      "Control Code:"};
  pop_engine *engine;
  pop_error *error = create_filled("ipu2", 1000000, "false", &engine);
  cr_assert_not_null(error);
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
    cr_assert_not_null(strstr(pop_error_message(error), words[i]), "no '%s' in: %s", words[i],
                       pop_error_message(error));
  size_t tiles = 0;
  for (const char *at = pop_error_message(error); (at = strstr(at, "Tile # ")); ++at) ++tiles;
  cr_assert_eq(tiles, 5, "%zu tiles are listed", tiles);
  expect_error(error, POP_ERROR_GRAPH_MEMORY, "", "out of memory");
  cr_assert_neq(access("archive.a", F_OK), 0, "an archive although the graph does not fit");

  pop_tile_memory memory;
  expect_ok(create_filled("ipu2", 1000000, "true", &engine));
  expect_ok(pop_engine_tile_memory(engine, 1, &memory));
  cr_assert_gt(memory.by_region[POP_REGION_OVERFLOWED], 3000000);
  cr_assert_geq(memory.total, 4000000);
  cr_assert_eq(access("archive.a", F_OK), 0, "no archive");
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  expect_ok(pop_engine_print_memory(engine, stream));
  fclose(stream);
  cr_assert_not_null(strstr(text, "1 tile(s) out of memory"), "%s", text);
  free(text);
  expect_error(pop_engine_load(engine), POP_ERROR_GRAPH_MEMORY, "cannot load", "load");
  expect_error(pop_engine_run(engine, 0), POP_ERROR_RUNTIME, "not loaded", "run");
  pop_engine_free(engine);
}

/* An IPUModel runs the graph, and its report shows that an IPU could not hold it. */
Test(engine_errors, E06_a_model_runs_out_of_memory_to_the_end, .init = enter_fresh_folder)
{
  enum { ELEMENTS = 200000 }; /* 800,000 B; a tile of ipu1 has 262,144 B */
  static const size_t count = ELEMENTS, one = 1;
  pop_ipu_model model;
  pop_device *device;
  expect_ok(pop_ipu_model_init(&model, "ipu1"));
  model.tiles_per_ipu = 2;
  expect_ok(pop_ipu_model_create_device(&model, &device));
  pop_graph *graph = pop_graph_create(pop_device_target(device));
  pop_tensor large = pop_graph_add_variable(graph, POP_INT, &count, 1, "large");
  pop_tensor small = pop_graph_add_variable(graph, POP_INT, &one, 1, "small");
  pop_graph_set_tile_mapping(graph, large, 1);
  pop_graph_set_tile_mapping(graph, small, 0);
  pop_graph_set_initial_value(graph, small, &(int){42});
  pop_graph_create_host_read(graph, "large", large);
  pop_graph_create_host_write(graph, "large in", large);
  pop_program copy =
      pop_program_copy(small, pop_tensor_slice(large, ELEMENTS - 1, ELEMENTS, 0), "copy");
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &copy, 1, NULL, 0, &engine));
  pop_graph_free(graph);
  expect_ok(pop_engine_load_device(engine, device));
  int *data = calloc(ELEMENTS, sizeof *data);
  cr_assert_not_null(data);
  data[ELEMENTS / 2] = 7;
  expect_ok(pop_engine_write_tensor(engine, "large in", data, ELEMENTS * sizeof *data));
  data[ELEMENTS / 2] = 0;
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "large", data, ELEMENTS * sizeof *data));
  cr_assert_eq(data[ELEMENTS / 2], 7);
  cr_assert_eq(data[ELEMENTS - 1], 42);
  free(data);
  pop_tile_memory memory;
  expect_ok(pop_engine_tile_memory(engine, 1, &memory));
  cr_assert_gt(memory.by_region[POP_REGION_OVERFLOWED], 500000);
  pop_engine_free(engine);
  pop_device_free(device);
}

static const char negate_rows[] =
    "#include <populus/vertex.h>\n"
    "typedef struct { INOUT(VECTOR_LIST(int, DELTAN)) rows; } Negate;\n"
    "COMPUTE(Negate)\n"
    "{\n"
    "  for (unsigned i = 0; i < ROWS(vertex->rows); ++i)\n"
    "    for (unsigned j = 0; j < ROW_SIZE(vertex->rows, i); ++j)\n"
    "      ROW(vertex->rows, i)[j] = -ROW(vertex->rows, i)[j];\n"
    "  return true;\n"
    "}\n";

enum { PACKED = 16000, PACKED_ROW = 4000 }; /* elements */

/* On one tile of an IPUModel, a vertex with packed rows of "packed", which are placed after
 * `others` elements of "others". */
static pop_error *negate_on_a_full_tile(size_t others, int *data)
{
  static const size_t count = PACKED;
  pop_ipu_model model;
  pop_device *device;
  expect_ok(pop_ipu_model_init(&model, "ipu2"));
  model.tiles_per_ipu = 2;
  expect_ok(pop_ipu_model_create_device(&model, &device));
  pop_graph *graph = pop_graph_create(pop_device_target(device));
  pop_graph_add_codelets_source(graph, "c", negate_rows, "negate.c", NULL);
  pop_tensor other = pop_graph_add_variable(graph, POP_INT, &others, 1, "others");
  pop_tensor packed = pop_graph_add_variable(graph, POP_INT, &count, 1, "packed");
  pop_graph_set_tile_mapping(graph, other, 0);
  pop_graph_set_tile_mapping(graph, packed, 0);
  pop_graph_create_host_write(graph, "others", other);
  pop_graph_create_host_write(graph, "packed", packed);
  pop_graph_create_host_read(graph, "packed", packed);
  pop_compute_set set = pop_graph_add_compute_set(graph, "negate");
  pop_vertex v = pop_graph_add_vertex(graph, set, "Negate");
  size_t rows = PACKED / PACKED_ROW;
  pop_graph_set_field_size(graph, v, "rows", rows);
  for (size_t i = 0; i < rows; i++)
    pop_graph_connect_element(graph, v, "rows", i,
                              pop_tensor_slice(packed, i * PACKED_ROW, (i + 1) * PACKED_ROW, 0));
  pop_graph_set_vertex_tile(graph, v, 0);
  pop_program program = pop_program_execute(graph, set, "negate");
  pop_engine *engine = NULL;
  pop_error *error = pop_engine_create(graph, &program, 1, NULL, 0, &engine);
  pop_graph_free(graph);
  if (!error) error = pop_engine_load_device(engine, device);
  if (!error) error = pop_engine_write_tensor(engine, "packed", data, PACKED * sizeof *data);
  if (!error) error = pop_engine_run(engine, 0);
  if (!error) error = pop_engine_read_tensor(engine, "packed", data, PACKED * sizeof *data);
  pop_engine_free(engine);
  pop_device_free(device);
  return error;
}

/* Packed addresses reach a part of the memory. Their targets are put there, on a tile with room and
 * on a tile of a model without room. The addresses are never truncated to another address. */
Test(engine_errors, E06_packed_addresses_are_right_wherever_data_lie, .init = enter_fresh_folder)
{
  static const size_t others[] = {1000, 120000,
                                  600000}; /* 4 kB; 480 kB; 2.4 MB, more than a tile has */
  int *data = calloc(PACKED, sizeof *data);
  cr_assert_not_null(data);
  for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
    for (int i = 0; i < PACKED; i++) data[i] = i;
    expect_ok(negate_on_a_full_tile(others[k], data));
    for (int i = 0; i < PACKED; i++) cr_assert_eq(data[i], -i, "%zu others", others[k]);
  }
  free(data);
}

/* An address that exchange instructions cannot encode is refused. It does not become another
 * address. */
Test(engine_errors, E06_exchanges_of_a_model_reach_or_are_refused, .init = enter_fresh_folder)
{
  enum { ELEMENTS = 400000 }; /* 1.6 MB; exchange instructions reach 1 MiB */
  static const size_t count = ELEMENTS, one = 1;
  pop_ipu_model model;
  pop_device *device;
  expect_ok(pop_ipu_model_init(&model, "ipu2"));
  model.tiles_per_ipu = 2;
  expect_ok(pop_ipu_model_create_device(&model, &device));
  for (size_t at = 0; at < ELEMENTS; at += ELEMENTS - 1) {
    pop_graph *graph = pop_graph_create(pop_device_target(device));
    pop_tensor large = pop_graph_add_variable(graph, POP_INT, &count, 1, "large");
    pop_tensor also = pop_graph_add_variable(graph, POP_INT, &count, 1, "also large");
    pop_tensor small = pop_graph_add_variable(graph, POP_INT, &one, 1, "small");
    pop_graph_set_tile_mapping(graph, large, 1);
    pop_graph_set_tile_mapping(graph, also, 1);
    pop_graph_set_tile_mapping(graph, small, 0);
    pop_graph_set_initial_value(graph, small, &(int){42});
    pop_graph_create_host_read(graph, "large", large);
    pop_graph_create_host_read(graph, "also", also);
    pop_program copies = pop_program_sequence(graph, "copies");
    pop_sequence_add(copies,
                     pop_program_copy(small, pop_tensor_slice(also, at, at + 1, 0), "copy"));
    pop_engine *engine = NULL;
    pop_error *error = pop_engine_create(graph, &copies, 1, NULL, 0, &engine);
    pop_graph_free(graph);
    if (at > 0) {
      expect_error(error, POP_ERROR_GRAPH_MEMORY, "exchange instructions reach", "out of reach");
      continue;
    }
    expect_ok(error);
    expect_ok(pop_engine_load_device(engine, device));
    expect_ok(pop_engine_run(engine, 0));
    int *data = calloc(ELEMENTS, sizeof *data);
    cr_assert_not_null(data);
    expect_ok(pop_engine_read_tensor(engine, "also", data, ELEMENTS * sizeof *data));
    cr_assert_eq(data[at], 42);
    free(data);
    pop_engine_free(engine);
  }
  pop_device_free(device);
}

/* Requested memory reports are written although the graph does not fit. */
Test(engine_errors, E06_reports_of_a_graph_that_does_not_fit, .init = enter_fresh_folder)
{
  static const size_t count = 1000000;
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 2;
  pop_graph *graph = pop_graph_create(&target);
  pop_tensor large = pop_graph_add_variable(graph, POP_INT, &count, 1, "large");
  pop_graph_set_tile_mapping(graph, large, 1);
  pop_graph_create_host_read(graph, "large", large);
  pop_program program = pop_program_sequence(graph, "nothing");
  const pop_option options[] = {{"debug.graphReportDestination", "graph_report.txt"},
                                {"autoReport.outputGraphProfile", "true"},
                                {"autoReport.directory", "report"}};
  pop_engine *engine;
  pop_error *error = pop_engine_create(graph, &program, 1, options, 1, &engine);
  expect_error(error, POP_ERROR_GRAPH_MEMORY, "1 of 2 tiles out of memory", "out of memory");
  cr_assert_eq(access("graph_report.txt", R_OK), 0);
  error = pop_engine_create(graph, &program, 1, options + 1, 2, &engine);
  expect_error(error, POP_ERROR_GRAPH_MEMORY, "Profile saved to: report/profile.pop",
               "out of memory");
  cr_assert_eq(access("report/profile.pop", R_OK), 0);
  cr_assert_eq(access("report/graph.txt", R_OK), 0);
  pop_graph_free(graph);
}
