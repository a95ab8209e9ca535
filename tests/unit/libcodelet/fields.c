/* Fields of every form and layout, from the codelet's source to what a vertex reads and writes. The
 * vertices of tests/codelets/fields.c and .cpp run on the software IPU. Results, sizes and
 * addresses are compared with those that C prescribes. */
#include "engine/engine_private.h"
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/popc.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const sources[] = {"fields.c", "fields.cpp"};
static const char *const targets[] = {"ipu1", "ipu2", "cpu"};
enum { NUM_TILE_TARGETS = 2, NUM_TARGETS = 3 };

TestSuite(fields, .init = enter_fresh_folder);

/* ---- graphs ---- */

/* Compiles the source once in each process of a test. */
static const char *compiled(const char *source)
{
  static char names[2][16];
  char *name = names[source[strlen(source) - 1] == 'c' ? 0 : 1];
  if (*name) return name;
  char *path = pop_xasprintf("%s/tests/codelets/%s", getenv("POPULUS_SOURCE_DIR"), source);
  const char *const input = path, *const flags[] = {"-Wall", "-Wextra", "-Werror", "-O2"};
  sprintf(name, "%s.gp", source);
  popc_options options = {.size = sizeof options,
                          .inputs = &input,
                          .num_inputs = 1,
                          .output = name,
                          .flags = flags,
                          .num_flags = 4,
                          .diagnostics_fd = -1};
  uint8_t *bytes = NULL;
  size_t size;
  expect_ok(popc_compile(&options, &bytes, &size));
  free(bytes);
  free(path);
  return name;
}

/* Two tiles. Vertices are on tile 1. */
static pop_graph *new_fields_graph(const char *target_name, const char *source)
{
  pop_target target;
  if (strcmp(target_name, "cpu") == 0)
    pop_target_create_cpu(&target);
  else
    cr_assert_null(pop_target_create(target_name, 1, &target));
  target.tiles_per_ipu = 2;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets(graph, compiled(source), NULL);
  assert_no_error(graph);
  return graph;
}

static pop_vertex add_vertex(pop_graph *graph, pop_compute_set set, const char *type)
{
  pop_vertex vertex = pop_graph_add_vertex(graph, set, type);
  pop_graph_set_vertex_tile(graph, vertex, 1);
  assert_no_error(graph);
  return vertex;
}

static pop_tensor add_variable(pop_graph *graph, pop_type type, size_t count, size_t tile,
                               const void *values, const char *name)
{
  pop_tensor t = pop_graph_add_variable(graph, type, &count, 1, name);
  pop_graph_set_tile_mapping(graph, t, tile);
  if (values) pop_graph_set_initial_value(graph, t, values);
  return t;
}

static pop_engine *run_set(pop_graph *graph, pop_compute_set set)
{
  pop_program program = pop_program_execute(graph, set, "run");
  pop_engine *engine = NULL;
  pop_error *error = pop_engine_create(graph, &program, 1, NULL, 0, &engine);
  if (!error) error = pop_engine_load(engine);
  if (!error) error = pop_engine_run(engine, 0);
  cr_assert_null(error, "%s", error ? pop_error_message(error) : "");
  return engine;
}

static void read_back(pop_engine *engine, const char *handle, void *values, size_t bytes)
{
  pop_error *error = pop_engine_read_tensor(engine, handle, values, bytes);
  cr_assert_null(error, "%s", error ? pop_error_message(error) : "");
}

/* The size of the vertex state on a tile. */
static void expect_state_size(const pop_graph *graph, const char *name, uint32_t bytes)
{
  uint32_t index = pop_name_table_find(&graph->vertex_type_names, name);
  cr_assert_neq(index, POP_NAME_NONE, "%s", name);
  if (graph->target.type == POP_TARGET_CPU) return;
  cr_assert_eq(graph->vertex_types[index].type->state_size, bytes, "%s", name);
}

static void on_targets(size_t count, void (*test)(const char *target, const char *source))
{
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < 2; j++) test(targets[i], sources[j]);
}

/* On all targets, including the CPU. */
static void on_every_target(void (*test)(const char *target, const char *source))
{
  on_targets(NUM_TARGETS, test);
}

/* ---- one dimension ---- */

static const struct {
  const char *vertex;
  uint32_t state_bytes; /* two pointers of the layout, padding, an unsigned */
} doubles[] = {
    {"DoubleSpan", 20},       {"DoubleOnePtr", 12},     {"DoubleShortSpan", 12},
    {"DoubleScaledPtr32", 8}, {"DoubleScaledPtr64", 8}, {"DoubleScaledPtr128", 8},
    {"DoubleCompactPtr", 12},
};
enum { NUM_DOUBLES = sizeof doubles / sizeof *doubles, DOUBLE_SIZE = 37 };

/* Inputs begin at odd elements of a variable on either tile, so that layouts must align them. */
static void run_doubles(const char *target, const char *source)
{
  pop_graph *graph = new_fields_graph(target, source);
  pop_compute_set set = pop_graph_add_compute_set(graph, "doubles");
  int in[64], out[NUM_DOUBLES][DOUBLE_SIZE];
  for (int i = 0; i < 64; i++) in[i] = i * i - 1000;
  pop_tensor all =
      pop_graph_add_variable(graph, POP_INT, (const size_t[]){NUM_DOUBLES, DOUBLE_SIZE}, 2, "all");
  pop_graph_set_tile_mapping(graph, all, 1);
  for (size_t i = 0; i < NUM_DOUBLES; i++) {
    pop_tensor from = add_variable(graph, POP_INT, 64, i % 2, in, "in");
    pop_vertex vertex = add_vertex(graph, set, doubles[i].vertex);
    pop_graph_connect(graph, vertex, "in", pop_tensor_slice(from, i + 1, i + 1 + DOUBLE_SIZE, 0));
    pop_graph_connect(graph, vertex, "out", pop_tensor_index(all, i));
    pop_graph_set_field_int(graph, vertex, "size", DOUBLE_SIZE);
    expect_state_size(graph, doubles[i].vertex, doubles[i].state_bytes);
  }
  pop_graph_create_host_read(graph, "all", all);
  pop_engine *engine = run_set(graph, set);
  read_back(engine, "all", out, sizeof out);
  for (size_t i = 0; i < NUM_DOUBLES; i++)
    for (int k = 0; k < DOUBLE_SIZE; k++)
      cr_assert_eq(out[i][k], 2 * in[i + 1 + (size_t)k] + k, "%s %s %s [%d]", target, source,
                   doubles[i].vertex, k);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

Test(fields, each_layout_reaches_its_data_and_costs_its_bytes)
{
  on_every_target(run_doubles);
}

/* ---- two dimensions ---- */

static const struct {
  const char *vertex;
  pop_type type;
  uint32_t state_bytes; /* rows, then two spans */
  uint32_t table_bytes; /* per row */
  bool list;
} tables[] = {
    {"ListOfPointers", POP_INT, 20, 4, false},      {"ListOfAligned", POP_SHORT, 20, 4, false},
    {"SpanOfSpan", POP_INT, 24, 8, false},          {"OnePtrOfOnePtr", POP_INT, 20, 4, false},
    {"SpanOfShortSpan", POP_SHORT, 24, 4, false},   {"ShortSpanOfOnePtr", POP_INT, 20, 4, false},
    {"ScaledOfScaled", POP_INT, 20, 2, false},      {"ListOfChar", POP_SIGNED_CHAR, 24, 4, true},
    {"ListOfShort", POP_SHORT, 24, 4, true},        {"ListOfInt", POP_INT, 24, 4, true},
    {"ListOfLongLong", POP_LONGLONG, 24, 4, true},  {"DeltanOfInt", POP_INT, 24, 4, true},
    {"DeltanOfChar", POP_SIGNED_CHAR, 24, 4, true},
};
enum { NUM_TABLES = sizeof tables / sizeof *tables, NUM_ROWS = 5, ROW_ELEMENTS = 40 };
static const unsigned row_sizes[NUM_ROWS] = {7, 0, 40, 1, 12};

static void put_element(uint8_t *bytes, pop_type type, size_t i, int value)
{
  int64_t wide = value;
  memcpy(bytes + i * pop_type_bytes(type), &wide, pop_type_bytes(type));
}

static int get_element(const uint8_t *bytes, pop_type type, size_t i)
{
  int64_t wide = 0;
  uint32_t size = pop_type_bytes(type);
  memcpy(&wide, bytes + i * size, size);
  return (int)((int64_t)((uint64_t)wide << (64 - 8 * size)) >> (64 - 8 * size));
}

static int initial_element(size_t row, size_t i)
{
  return (int)(row * 20 + i) - 30;
}

typedef struct table_run {
  uint8_t values[NUM_ROWS][ROW_ELEMENTS * 8];
  char handles[NUM_ROWS][24];
  char sums[24];
} table_run;

/* Rows of different lengths, on both tiles, connected one by one in any order. */
static void add_table(pop_graph *graph, pop_compute_set set, size_t number, table_run *run)
{
  pop_type type = tables[number].type;
  pop_vertex vertex = add_vertex(graph, set, tables[number].vertex);
  pop_graph_set_field_size(graph, vertex, "rows", NUM_ROWS);
  for (size_t i = 0; i < NUM_ROWS; i++) {
    size_t row = (i * 3 + 1) % NUM_ROWS;
    for (size_t k = 0; k < ROW_ELEMENTS; k++)
      put_element(run->values[row], type, k, initial_element(row, k));
    pop_tensor t = add_variable(graph, type, ROW_ELEMENTS, row % 2, run->values[row], "row");
    sprintf(run->handles[row], "rows%zu.%zu", number, row);
    pop_graph_create_host_read(graph, run->handles[row], t);
    pop_graph_connect_element(graph, vertex, "rows", row,
                              pop_tensor_slice(t, 0, row_sizes[row], 0));
  }
  pop_tensor out = add_variable(graph, POP_INT, NUM_ROWS, 1, NULL, "out");
  pop_graph_connect(graph, vertex, "out", out);
  pop_graph_connect(graph, vertex, "sizes",
                    add_variable(graph, POP_UNSIGNED_INT, NUM_ROWS, 0, row_sizes, "sizes"));
  sprintf(run->sums, "sums%zu", number);
  pop_graph_create_host_read(graph, run->sums, out);
}

static void expect_table(pop_engine *engine, size_t number, table_run *run)
{
  pop_type type = tables[number].type;
  const char *name = tables[number].vertex;
  int sums[NUM_ROWS];
  read_back(engine, run->sums, sums, sizeof sums);
  for (size_t row = 0; row < NUM_ROWS; row++) {
    int sum = 0;
    read_back(engine, run->handles[row], run->values[row], ROW_ELEMENTS * pop_type_bytes(type));
    for (size_t k = 0; k < ROW_ELEMENTS; k++) {
      if (k < row_sizes[row]) sum += initial_element(row, k);
      cr_assert_eq(get_element(run->values[row], type, k),
                   initial_element(row, k) + (k + 1 == row_sizes[row]), "%s row %zu [%zu]", name,
                   row, k);
    }
    cr_assert_eq(sums[row], sum, "%s row %zu: %d, not %d", name, row, sums[row], sum);
  }
}

static void expect_field_data(const pop_engine *engine, uint32_t tables_bytes, uint32_t list_bytes)
{
  pop_tile_memory memory;
  expect_ok(pop_engine_tile_memory(engine, 1, &memory));
  const pop_memory_region region = POP_REGION_NON_INTERLEAVED;
  cr_assert_eq(memory.not_overlapped[POP_MEMORY_VERTEX_FIELD_DATA][region], tables_bytes);
  cr_assert_eq(memory.not_overlapped[POP_MEMORY_VECTOR_LIST_DESCRIPTOR][region], list_bytes);
}

static void run_tables(const char *target, const char *source)
{
  pop_graph *graph = new_fields_graph(target, source);
  pop_compute_set set = pop_graph_add_compute_set(graph, "tables");
  static table_run runs[NUM_TABLES];
  uint32_t bytes[2] = {0}; /* of tables, and of lists */
  for (size_t i = 0; i < NUM_TABLES; i++) {
    add_table(graph, set, i, &runs[i]);
    bytes[tables[i].list] += (tables[i].table_bytes * NUM_ROWS + 3) / 4 * 4;
    expect_state_size(graph, tables[i].vertex, tables[i].state_bytes);
  }
  pop_engine *engine = run_set(graph, set);
  for (size_t i = 0; i < NUM_TABLES; i++) expect_table(engine, i, &runs[i]);
  if (graph->target.type != POP_TARGET_CPU) expect_field_data(engine, bytes[0], bytes[1]);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

Test(fields, rows_of_every_layout_are_read_and_written)
{
  on_every_target(run_tables);
}

static void run_walk(const char *target, const char *source)
{
  pop_graph *graph = new_fields_graph(target, source);
  pop_compute_set set = pop_graph_add_compute_set(graph, "walk");
  pop_vertex vertex = add_vertex(graph, set, "WalkSpans");
  short shorts[12];
  int ints[6];
  for (int i = 0; i < 12; i++) shorts[i] = (short)(i * 3);
  for (int i = 0; i < 6; i++) ints[i] = 1000 * i;
  pop_tensor from = add_variable(graph, POP_SHORT, 12, 0, shorts, "shorts");
  /* each row of a tensor of rank 2 is a row of the field */
  pop_graph_connect(graph, vertex, "spans", pop_tensor_reshape(from, (const size_t[]){3, 4}, 2));
  pop_tensor list = add_variable(graph, POP_INT, 6, 1, ints, "ints");
  pop_tensor rows[] = {pop_tensor_slice(list, 3, 6, 0), pop_tensor_slice(list, 0, 2, 0)};
  pop_graph_connect_array(graph, vertex, "list", rows, 2);
  pop_tensor out = add_variable(graph, POP_INT, 3, 1, NULL, "out");
  pop_graph_connect(graph, vertex, "out", out);
  pop_graph_create_host_read(graph, "out", out);
  pop_engine *engine = run_set(graph, set);
  int result[3];
  read_back(engine, "out", result, sizeof result);
  cr_assert_eq(result[0], 5);
  cr_assert_eq(result[1], 17);
  cr_assert_eq(result[2], 198 + 13000);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

Test(fields, rows_say_how_many_they_are_and_how_long)
{
  on_every_target(run_walk);
}

/* ---- data of the vertex, arrays, bases ---- */

static void run_table_of_constants(const char *target, const char *source)
{
  pop_graph *graph = new_fields_graph(target, source);
  pop_compute_set set = pop_graph_add_compute_set(graph, "constants");
  pop_tensor out = add_variable(graph, POP_FLOAT, 2, 1, NULL, "out");
  static const float first[] = {1.5f, 2.5f, 4};
  static const short more[2][2] = {{100, 200}, {-1, -2}};
  for (size_t i = 0; i < 2; i++) {
    pop_vertex vertex = add_vertex(graph, set, "SumTable");
    pop_graph_set_field_int(graph, vertex, "before", 7);
    if (i == 0)
      pop_graph_set_field_array(graph, vertex, "table", POP_FLOAT, first, 3);
    else
      pop_graph_set_field_size(graph, vertex, "table", 20);
    if (i == 1) pop_graph_set_field_element(graph, vertex, "table", 19, POP_FLOAT, &(float){64});
    pop_graph_set_field_array(graph, vertex, "more", POP_SHORT, more[i], 2);
    pop_graph_connect(graph, vertex, "out", pop_tensor_index(out, i));
  }
  pop_graph_create_host_read(graph, "out", out);
  pop_engine *engine = run_set(graph, set);
  pop_error *error = pop_engine_run(engine, 0); /* the data that the first run wrote are kept */
  cr_assert_null(error);
  float sums[2];
  read_back(engine, "out", sums, sizeof sums);
  cr_assert_eq(sums[0], 7 + 8 + 300 + 1);
  cr_assert_eq(sums[1], 7 + 64 - 3 + 1);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

Test(fields, a_vertex_has_data_of_its_own)
{
  on_every_target(run_table_of_constants);
}

static void run_arrays(const char *target, const char *source)
{
  pop_graph *graph = new_fields_graph(target, source);
  pop_compute_set set = pop_graph_add_compute_set(graph, "arrays");
  pop_vertex vertex = add_vertex(graph, set, "Arrays");
  pop_tensor digits = add_variable(graph, POP_INT, 5, 0, (const int[]){1, 2, 3, 4, 5}, "digits");
  for (size_t i = 0; i < 3; i++)
    pop_graph_connect_element(graph, vertex, "a", i, pop_tensor_index(digits, i));
  pop_graph_connect(graph, vertex, "b", pop_tensor_slice(digits, 3, 5, 0));
  pop_tensor sum = add_variable(graph, POP_INT, 1, 1, NULL, "sum");
  pop_graph_connect(graph, vertex, "sum", sum);
  pop_graph_create_host_read(graph, "sum", sum);
  pop_engine *engine = run_set(graph, set);
  int result;
  read_back(engine, "sum", &result, sizeof result);
  cr_assert_eq(result, 54321);
  expect_state_size(graph, "Arrays", 20);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

Test(fields, arrays_of_fields_lie_in_the_vertex)
{
  on_every_target(run_arrays);
}

Test(fields, those_of_all_bases_are_found)
{
  pop_graph *graph = new_fields_graph("ipu2", "fields.cpp");
  pop_compute_set set = pop_graph_add_compute_set(graph, "bases");
  pop_vertex vertex = add_vertex(graph, set, "Heir");
  pop_graph_connect(graph, vertex, "a", add_variable(graph, POP_INT, 1, 1, (const int[]){1}, "a"));
  pop_graph_connect(graph, vertex, "c",
                    add_variable(graph, POP_INT, 2, 1, (const int[]){9, 3}, "c"));
  pop_graph_set_field_int(graph, vertex, "b", 2);
  pop_graph_set_field_int(graph, vertex, "d", 4);
  pop_graph_set_field_int(graph, vertex, "e", 5);
  pop_tensor out = add_variable(graph, POP_INT, 1, 1, NULL, "out");
  pop_graph_connect(graph, vertex, "out", out);
  pop_graph_create_host_read(graph, "out", out);
  add_vertex(graph, set, "NoFields");
  pop_engine *engine = run_set(graph, set);
  int result;
  read_back(engine, "out", &result, sizeof result);
  cr_assert_eq(result, 54321);
  expect_state_size(graph, "NoFields", 0);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* ---- addresses of data ---- */

static void run_where(const char *target, const char *source)
{
  pop_graph *graph = new_fields_graph(target, source);
  pop_compute_set set = pop_graph_add_compute_set(graph, "where");
  pop_tensor data = add_variable(graph, POP_INT, 64, 1, NULL, "data");
  for (size_t i = 0; i < 2; i++) { /* from the beginning of the variable, and from its middle */
    pop_vertex vertex = add_vertex(graph, set, "Where");
    pop_graph_connect(graph, vertex, "aligned", pop_tensor_slice(data, 17 * i, 17 * i + 3, 0));
    pop_graph_connect(graph, vertex, "interleaved",
                      pop_tensor_slice(data, 40 + 5 * i, 43 + 5 * i, 0));
  }
  pop_graph_create_host_read(graph, "data", data);
  pop_engine *engine = run_set(graph, set);
  int at[64];
  read_back(engine, "data", at, sizeof at);
  uint32_t region1 = pop_graph_get_target(graph)->interleaved_base;
  for (size_t i = 0; i < 2; i++) {
    cr_assert_eq(at[17 * i] % 64, 0, "0x%x", (unsigned)at[17 * i]);
    cr_assert_eq(at[40 + 5 * i] % 8, 0);
    cr_assert_geq((uint32_t)at[40 + 5 * i], region1, "0x%x", (unsigned)at[40 + 5 * i]);
  }
  pop_engine_free(engine);
  pop_graph_free(graph);
}

Test(fields, data_are_aligned_and_interleaved_as_asked)
{
  on_targets(NUM_TILE_TARGETS, run_where);
}

Test(fields, constraints_reach_the_graph)
{
  for (size_t i = 0; i < 2; i++) {
    pop_graph *graph = new_fields_graph("ipu2", sources[i]);
    uint32_t index = pop_name_table_find(&graph->vertex_type_names, "Constrained");
    const pop_vertex_type *type = graph->vertex_types[index].type;
    cr_assert_eq(type->num_constraints, 2);
    const pop_constraint *first = &type->constraints[0], *second = &type->constraints[1];
    cr_assert(!first->regions && !first->equal && second->regions && second->equal);
    cr_assert_str_eq(type->fields[first->fields[0]].name, "a");
    cr_assert_str_eq(type->fields[first->fields[1]].name, "out");
    cr_assert_eq(first->depths[0], 1);
    pop_graph_free(graph);
  }
}

/* ---- refused calls ---- */

static void too_many_for_short_span(pop_graph *graph, pop_vertex vertex)
{
  pop_graph_connect(graph, vertex, "in", add_variable(graph, POP_INT, 5000, 1, NULL, "in"));
}

static void size_below_rows(pop_graph *graph, pop_vertex vertex)
{
  pop_graph_connect_element(graph, vertex, "rows", 2,
                            add_variable(graph, POP_INT, 2, 1, NULL, "v"));
  pop_graph_set_field_size(graph, vertex, "rows", 2);
}

static void row_beyond_the_layout(pop_graph *graph, pop_vertex vertex)
{
  pop_graph_connect_element(graph, vertex, "rows", 65535,
                            add_variable(graph, POP_INT, 2, 1, NULL, "v"));
}

static void row_out_of_range(pop_graph *graph, pop_vertex vertex)
{
  pop_graph_set_field_size(graph, vertex, "rows", 2);
  pop_graph_connect_element(graph, vertex, "rows", 2,
                            add_variable(graph, POP_INT, 2, 1, NULL, "v"));
}

static void rows_again_but_fewer(pop_graph *graph, pop_vertex vertex)
{
  pop_tensor v = add_variable(graph, POP_INT, 2, 1, NULL, "v");
  pop_graph_set_field_size(graph, vertex, "rows", 2);
  pop_graph_connect_array(graph, vertex, "rows", &v, 1);
}

static void rows_from_one_dimension(pop_graph *graph, pop_vertex vertex)
{
  pop_graph_connect(graph, vertex, "rows", add_variable(graph, POP_INT, 2, 1, NULL, "v"));
}

static void row_of_another_type(pop_graph *graph, pop_vertex vertex)
{
  pop_tensor v = add_variable(graph, POP_FLOAT, 2, 1, NULL, "v");
  pop_graph_connect_array(graph, vertex, "rows", &v, 1);
}

static void size_twice(pop_graph *graph, pop_vertex vertex)
{
  pop_graph_set_field_size(graph, vertex, "rows", 2);
  pop_graph_set_field_size(graph, vertex, "rows", 3);
}

static void size_of_an_array(pop_graph *graph, pop_vertex vertex)
{
  pop_graph_set_field_size(graph, vertex, "a", 4);
}

static void rows_for_a_vector(pop_graph *graph, pop_vertex vertex)
{
  pop_tensor v = add_variable(graph, POP_INT, 2, 1, NULL, "v");
  pop_graph_connect_array(graph, vertex, "in", &v, 1);
}

static void scalar_for_a_table(pop_graph *graph, pop_vertex vertex)
{
  pop_graph_set_field_float(graph, vertex, "table", 1);
}

Test(fields, P06_what_does_not_fit_is_refused)
{
  static const struct {
    const char *vertex;
    void (*make)(pop_graph *graph, pop_vertex vertex);
    const char *words[5];
  } cases[] = {
      {"DoubleShortSpan", too_many_for_short_span, {"'in'", "5000", "short_span", "4095"}},
      {"SpanOfSpan", size_below_rows, {"'rows'", "3 rows already"}},
      {"ListOfInt", row_beyond_the_layout, {"'rows'", "65536 rows", "can count 65535"}},
      {"SpanOfSpan", row_out_of_range, {"'rows'", "no row 2", "it has 2"}},
      {"SpanOfSpan", rows_again_but_fewer, {"'rows'", "2 rows already", "cannot change to 1"}},
      {"SpanOfSpan", rows_from_one_dimension, {"'rows'", "rank 2", "rank 1"}},
      {"ListOfInt", row_of_another_type, {"'rows'", "type int", "float tensor"}},
      {"ListOfInt", size_twice, {"'rows'", "2 rows already"}},
      {"Arrays", size_of_an_array, {"'a'", "3 rows, not 4"}},
      {"DoubleSpan", rows_for_a_vector, {"'in'", "no rows"}},
      {"SumTable", scalar_for_a_table, {"'table'", "pop_graph_set_field_array"}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pop_graph *graph = new_fields_graph("ipu2", "fields.c");
    pop_compute_set set = pop_graph_add_compute_set(graph, "refused");
    cases[i].make(graph, add_vertex(graph, set, cases[i].vertex));
    assert_error(graph, POP_ERROR_GRAPH_CONNECTION, cases[i].words, cases[i].vertex);
    pop_graph_free(graph);
  }
}

static pop_error *compile_error(pop_graph *graph, pop_compute_set set)
{
  pop_program program = pop_program_execute(graph, set, "run");
  pop_engine *engine = NULL;
  pop_error *error = pop_engine_create(graph, &program, 1, NULL, 0, &engine);
  cr_assert_not_null(error);
  return error;
}

Test(fields, P06_a_row_that_is_not_connected_is_named)
{
  pop_graph *graph = new_fields_graph("ipu2", "fields.cpp");
  pop_compute_set set = pop_graph_add_compute_set(graph, "open");
  pop_vertex vertex = add_vertex(graph, set, "Arrays");
  pop_tensor v = add_variable(graph, POP_INT, 1, 1, NULL, "v");
  pop_graph_connect_element(graph, vertex, "a", 0, v);
  pop_graph_connect_element(graph, vertex, "a", 2, v);
  pop_error *error = compile_error(graph, set);
  cr_assert_not_null(strstr(pop_error_message(error), "Arrays.a has 3 rows, and row 1 is not"),
                     "%s", pop_error_message(error));
  pop_error_free(error);
  pop_graph_free(graph);
}

/* The vertex's pointer reaches 256 KiB. Its data come after 300 KiB that are always live. */
Test(fields, data_out_of_reach_of_a_scaled_pointer_are_an_error)
{
  pop_graph *graph = new_fields_graph("ipu2", "fields.cpp");
  pop_compute_set set = pop_graph_add_compute_set(graph, "far");
  pop_vertex vertex = add_vertex(graph, set, "DoubleScaledPtr32");
  size_t count = 75 * 1024;
  pop_tensor all = pop_graph_add_variable(graph, POP_INT, &count, 1, "all");
  pop_graph_set_tile_mapping(graph, all, 1);
  pop_graph_create_host_read(graph, "all", all);
  pop_graph_connect(graph, vertex, "in", pop_tensor_slice(all, count - 4, count - 2, 0));
  pop_graph_connect(graph, vertex, "out", pop_tensor_slice(all, 0, 2, 0));
  pop_error *error = compile_error(graph, set);
  static const char *const words[] = {"tile 1", "DoubleScaledPtr32.in", "scaled_ptr32", "262144",
                                      "'all'"};
  for (size_t i = 0; i < 5; i++)
    cr_assert_not_null(strstr(pop_error_message(error), words[i]), "%s", pop_error_message(error));
  pop_error_free(error);
  pop_graph_free(graph);
}
