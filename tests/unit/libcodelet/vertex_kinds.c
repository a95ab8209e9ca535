/* Vertices of one worker, of all workers and of the supervisor, in C++ and in C: popc's description
 * of them, and their execution on a tile, alone and side by side. */
#include "support/expect.h"

#include <populus/engine.h>
#include <populus/gp.h>
#include <populus/graph.h>
#include <populus/popc.h>

#include <stdio.h>

enum { NUM_WORKERS = 6, LAST_TILE = 1 };

static const char *const languages[] = {"cpp", "c"};
enum { NUM_LANGUAGES = sizeof languages / sizeof *languages };

/* The first test makes kinds.cpp.gp and kinds.c.gp. */
static void prepare(void)
{
  for (size_t i = 0; i < NUM_LANGUAGES; ++i) {
    char source[4096], output[32];
    const char *input = source;
    snprintf(source, sizeof source, "%s/tests/codelets/kinds.%s", getenv("POPULUS_SOURCE_DIR"),
             languages[i]);
    snprintf(output, sizeof output, "kinds.%s.gp", languages[i]);
    if (access(output, F_OK) == 0) continue;
    popc_options options = {.size = sizeof options,
                            .inputs = &input,
                            .num_inputs = 1,
                            .output = output,
                            .diagnostics_fd = -1};
    expect_ok(popc_compile(&options, NULL, NULL));
  }
}

/* ---- the results of popc ---- */

static const struct {
  const char *name, *symbol;
  pop_vertex_kind kind;
  bool in_c;
} expected[] = {
    {"MultiAdd", "MultiAdd", POP_VERTEX_MULTI, true},
    {"WorkerAdd", "WorkerAdd", POP_VERTEX_WORKER, true},
    {"SupervisorAdd", "SupervisorAdd", POP_VERTEX_SUPERVISOR, true},
    {"SupervisorContext", "SupervisorContext", POP_VERTEX_SUPERVISOR, true},
    {"MultiContext", "MultiContext", POP_VERTEX_MULTI, true},
    {"MultiTrap", "MultiTrap", POP_VERTEX_MULTI, true},
    {"SupervisorTrap", "SupervisorTrap", POP_VERTEX_SUPERVISOR, true},
    {"VoidResult", "VoidResult", POP_VERTEX_WORKER, false},
    {"TrailingResult", "TrailingResult", POP_VERTEX_WORKER, false},
    {"DeducedResult", "DeducedResult", POP_VERTEX_MULTI, false},
    {"NoFields", "NoFields", POP_VERTEX_SUPERVISOR, false},
    {"outer::inner::Fill<float,true>", "outer__inner__Fill___float_true", POP_VERTEX_SUPERVISOR,
     false},
    {"outer::inner::Fill<float,false>", "outer__inner__Fill___float_false", POP_VERTEX_WORKER,
     false},
    {"outer::inner::Fill<unsigned short,true>", "outer__inner__Fill___unsigned_short_true",
     POP_VERTEX_WORKER, false},
    {"outer::inner::Apply<outer::inner::Op::ADD,unsigned int,5>",
     "outer__inner__Apply___outer__inner__Op__ADD_unsigned_int_5", POP_VERTEX_MULTI, false},
    {"outer::inner::Apply<outer::inner::Op::SUBTRACT,int,-2>",
     "outer__inner__Apply___outer__inner__Op__SUBTRACT_int__2", POP_VERTEX_MULTI, false},
    {"outer::inner::Chosen<int,outer::inner::Op::ADD>",
     "outer__inner__Chosen___int_outer__inner__Op__ADD", POP_VERTEX_WORKER, false},
    {"outer::inner::Chosen<int,outer::inner::Op::SUBTRACT>",
     "outer__inner__Chosen___int_outer__inner__Op__SUBTRACT", POP_VERTEX_WORKER, false},
    {"outer::inner::Chosen<int,(outer::inner::Op)7>",
     "outer__inner__Chosen___int__outer__inner__Op_7", POP_VERTEX_WORKER, false},
    {"outer::inner::Typed<bool,true>", "outer__inner__Typed___bool_true", POP_VERTEX_WORKER, false},
    {"outer::inner::Typed<char,'a'>", "outer__inner__Typed___char_97", POP_VERTEX_WORKER, false},
    {"outer::inner::Typed<unsigned char,'\\xc8'>", "outer__inner__Typed___unsigned_char_200",
     POP_VERTEX_WORKER, false},
    {"outer::inner::Typed<unsigned short,65535>", "outer__inner__Typed___unsigned_short_65535",
     POP_VERTEX_WORKER, false},
    {"outer::inner::Typed<outer::inner::Op,outer::inner::Op::SUBTRACT>",
     "outer__inner__Typed___outer__inner__Op_outer__inner__Op__SUBTRACT", POP_VERTEX_WORKER, false},
    {"outer::Based<poplar::Vertex,unsigned long long>",
     "outer__Based___poplar__Vertex_unsigned_long_long", POP_VERTEX_WORKER, false},
    {"outer::Based<poplar::MultiVertex,unsigned int>",
     "outer__Based___poplar__MultiVertex_unsigned_int", POP_VERTEX_MULTI, false},
};
enum { NUM_EXPECTED = sizeof expected / sizeof *expected };

static const pop_vertex_type *find_type(const pop_gp *gp, const char *name)
{
  for (size_t i = 0; i < pop_gp_num_vertex_types(gp); ++i)
    if (!strcmp(pop_gp_vertex_type(gp, i)->name, name)) return pop_gp_vertex_type(gp, i);
  return NULL;
}

Test(vertex_kinds, names_symbols_and_kinds_are_as_documented, .init = prepare)
{
  for (size_t l = 0; l < NUM_LANGUAGES; ++l) {
    bool c = !strcmp(languages[l], "c");
    char path[32];
    pop_gp *gp;
    snprintf(path, sizeof path, "kinds.%s.gp", languages[l]);
    expect_ok(pop_gp_read(path, &gp));
    size_t count = 0;
    for (size_t i = 0; i < NUM_EXPECTED; ++i) {
      if (c && !expected[i].in_c) continue;
      ++count;
      const pop_vertex_type *type = find_type(gp, expected[i].name);
      cr_assert_not_null(type, "%s: no %s", path, expected[i].name);
      cr_assert_eq(type->kind, expected[i].kind, "%s: %s", path, expected[i].name);
      cr_assert(!strncmp(type->symbol, "__runCodelet_", 13), "%s", type->symbol);
      cr_assert_str_eq(type->symbol + 13, expected[i].symbol);
    }
    cr_assert_eq(pop_gp_num_vertex_types(gp), count, "%s", path);
    pop_gp_free(gp);
  }
}

/* ---- execution ---- */

static bool on_cpu; /* for the next graphs */

static pop_graph *new_graph(const char *language)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  if (on_cpu) pop_target_create_cpu(&target);
  target.tiles_per_ipu = LAST_TILE + 1;
  pop_graph *graph = pop_graph_create(&target);
  char path[32];
  snprintf(path, sizeof path, "kinds.%s.gp", language);
  pop_graph_add_codelets(graph, path, NULL);
  return graph;
}

static pop_tensor add_data(pop_graph *graph, pop_type type, size_t count, const char *name)
{
  pop_tensor data = pop_graph_add_variable(graph, type, &count, 1, name);
  uint64_t zeros[1024] = {0};
  cr_assert_leq(count * pop_type_bytes(type), sizeof zeros);
  pop_graph_set_tile_mapping(graph, data, LAST_TILE);
  pop_graph_set_initial_value(graph, data, zeros);
  pop_graph_create_host_read(graph, name, data);
  return data;
}

static pop_vertex add_vertex(pop_graph *graph, pop_compute_set set, const char *type,
                             const char *field, pop_tensor data)
{
  pop_vertex vertex = pop_graph_add_vertex(graph, set, type);
  pop_graph_connect(graph, vertex, field, data);
  pop_graph_set_vertex_tile(graph, vertex, LAST_TILE);
  return vertex;
}

/* Frees the graph. */
static pop_engine *new_engine(pop_graph *graph, const pop_program *programs, size_t count)
{
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, programs, count, NULL, 0, &engine));
  pop_graph_free(graph);
  expect_ok(pop_engine_load(engine));
  return engine;
}

static void read_data(pop_engine *engine, const char *name, unsigned *data, size_t count)
{
  expect_ok(pop_engine_read_tensor(engine, name, data, count * sizeof *data));
}

/* Everything at once in one compute set that several programs and loops share. So steps that are
 * called themselves call the supervisor's vertices. */
Test(vertex_kinds, kinds_share_a_tile_in_one_compute_set, .init = prepare)
{
  enum { COUNT = 61, NUM_EACH = 8, RUNS = 1 + 3 + 1 };
  static const char *const types[] = {"MultiAdd", "WorkerAdd", "SupervisorAdd"};
  for (size_t l = 0; l < NUM_LANGUAGES; ++l) {
    pop_graph *graph = new_graph(languages[l]);
    pop_compute_set set = pop_graph_add_compute_set(graph, "set");
    for (size_t i = 0; i < NUM_EACH * 3; ++i) {
      char name[16];
      snprintf(name, sizeof name, "x%zu", i);
      pop_tensor data = add_data(graph, POP_UNSIGNED_INT, COUNT, name);
      pop_vertex vertex = add_vertex(graph, set, types[i % 3], "x", data);
      if (i % 3) pop_graph_set_field_int(graph, vertex, "k", 10 * (int64_t)i);
    }
    pop_program shared = pop_program_sequence(graph, "shared");
    pop_sequence_add(shared, pop_program_execute(graph, set, "execute"));
    pop_program main = pop_program_sequence(graph, "main");
    pop_sequence_add(main, shared);
    pop_sequence_add(main, pop_program_repeat(graph, 3, shared, "loop"));
    pop_program programs[] = {main, shared};
    pop_engine *engine = new_engine(graph, programs, 2);
    expect_ok(pop_engine_run(engine, 0));
    expect_ok(pop_engine_run(engine, 1));
    for (size_t i = 0; i < NUM_EACH * 3; ++i) {
      char name[16];
      unsigned data[COUNT];
      snprintf(name, sizeof name, "x%zu", i);
      read_data(engine, name, data, COUNT);
      for (size_t e = 0; e < COUNT; ++e)
        cr_assert_eq(data[e], RUNS * (i % 3 ? 10 * i : e % NUM_WORKERS + 1), "%s %s[%zu]: %u",
                     languages[l], name, e, data[e]);
    }
    pop_engine_free(engine);
  }
}

static uint64_t cycles_of(const char *language, const char *type, size_t count)
{
  pop_graph *graph = new_graph(language);
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  pop_vertex vertex =
      add_vertex(graph, set, type, "x", add_data(graph, POP_UNSIGNED_INT, count, "x"));
  if (strcmp(type, "MultiAdd") != 0) pop_graph_set_field_int(graph, vertex, "k", 1);
  pop_program program = pop_program_execute(graph, set, "execute");
  pop_engine *engine = new_engine(graph, &program, 1);
  uint64_t before = pop_engine_cycles(engine);
  expect_ok(pop_engine_run(engine, 0));
  uint64_t cycles = pop_engine_cycles(engine) - before;
  pop_engine_free(engine);
  return cycles;
}

/* The difference between two lengths is the cost of the loops alone. */
Test(vertex_kinds, all_workers_share_the_work, .init = prepare)
{
  enum { SHORT = 240, LONG = 1200 };
  static const char *const types[] = {"MultiAdd", "WorkerAdd", "SupervisorAdd"};
  for (size_t l = 0; l < NUM_LANGUAGES; ++l) {
    uint64_t loop[3];
    for (size_t t = 0; t < 3; ++t)
      loop[t] = cycles_of(languages[l], types[t], LONG) - cycles_of(languages[l], types[t], SHORT);
    cr_log_info("%s: %llu, %llu, %llu cycles", languages[l], (unsigned long long)loop[0],
                (unsigned long long)loop[1], (unsigned long long)loop[2]);
    cr_assert_lt(4 * loop[0], loop[1], "%s: not shared", languages[l]);
    cr_assert_eq(loop[1], loop[2], "%s: the supervisor is as fast as a worker", languages[l]);
  }
}

Test(vertex_kinds, each_context_has_an_aligned_stack_and_data_of_its_own, .init = prepare)
{
  for (size_t l = 0; l < NUM_LANGUAGES; ++l) {
    pop_graph *graph = new_graph(languages[l]);
    pop_compute_set set = pop_graph_add_compute_set(graph, "set");
    add_vertex(graph, set, "SupervisorContext", "out",
               add_data(graph, POP_UNSIGNED_INT, 3, "supervisor"));
    add_vertex(graph, set, "MultiContext", "out",
               add_data(graph, POP_UNSIGNED_INT, NUM_WORKERS, "workers"));
    pop_program once = pop_program_sequence(graph, "once");
    pop_sequence_add(once, pop_program_execute(graph, set, "execute"));
    pop_program programs[] = {pop_program_repeat(graph, 2, once, "twice"), once};
    pop_engine *engine = new_engine(graph, programs, 2);
    expect_ok(pop_engine_run(engine, 0));
    unsigned supervisor[3], workers[NUM_WORKERS];
    read_data(engine, "supervisor", supervisor, 3);
    read_data(engine, "workers", workers, NUM_WORKERS);
    cr_assert_eq(supervisor[0], 0, "%s: the stack is not aligned", languages[l]);
    cr_assert_eq(supervisor[1], 102, "%s: %u", languages[l], supervisor[1]);
    cr_assert_eq(supervisor[2], 4);
    for (unsigned w = 0; w < NUM_WORKERS; ++w)
      cr_assert_eq(workers[w], 100 + 2 * w, "%s: worker %u: %u", languages[l], w, workers[w]);
    pop_engine_free(engine);
  }
}

/* ---- C++ only ---- */

static void run_alone(const char *type, const char *field, pop_type element, size_t count,
                      void *data)
{
  pop_graph *graph = new_graph("cpp");
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  pop_vertex vertex = pop_graph_add_vertex(graph, set, type);
  pop_graph_set_vertex_tile(graph, vertex, LAST_TILE);
  if (field) pop_graph_connect(graph, vertex, field, add_data(graph, element, count, "data"));
  if (strstr(type, "Fill<")) pop_graph_set_field_int(graph, vertex, "k", 7);
  if (strstr(type, "Apply<")) pop_graph_set_field_int(graph, vertex, "size", (int64_t)count);
  pop_program program = pop_program_execute(graph, set, "execute");
  pop_engine *engine = new_engine(graph, &program, 1);
  expect_ok(pop_engine_run(engine, 0));
  if (field)
    expect_ok(pop_engine_read_tensor(engine, "data", data, count * pop_type_bytes(element)));
  pop_engine_free(engine);
}

static void run_every_form(void)
{
  static const struct {
    const char *type, *field;
    size_t count;
    unsigned value; /* of each element */
  } cases[] = {
      {"VoidResult", "out", 1, 11},
      {"TrailingResult", "out", 1, 12},
      {"DeducedResult", "out", NUM_WORKERS, 13},
      {"outer::Based<poplar::MultiVertex,unsigned int>", "out", 1, 21},
      {"outer::inner::Apply<outer::inner::Op::ADD,unsigned int,5>", "x", 20, 5},
      {"NoFields", NULL, 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    unsigned data[20];
    run_alone(cases[i].type, cases[i].field, POP_UNSIGNED_INT, cases[i].count, data);
    for (size_t e = 0; e < cases[i].count; ++e)
      cr_assert_eq(data[e], cases[i].value, "%s: [%zu] is %u", cases[i].type, e, data[e]);
  }
  int32_t sums[20];
  run_alone("outer::inner::Apply<outer::inner::Op::SUBTRACT,int,-2>", "x", POP_INT, 20, sums);
  for (size_t e = 0; e < 20; ++e) cr_assert_eq(sums[e], 2);
  uint64_t wide;
  run_alone("outer::Based<poplar::Vertex,unsigned long long>", "out", POP_UNSIGNED_LONGLONG, 1,
            &wide);
  cr_assert_eq(wide, 20);
}

Test(vertex_kinds, every_form_of_compute_runs, .init = prepare)
{
  run_every_form();
}

Test(vertex_kinds, every_form_of_compute_runs_on_the_cpu, .init = prepare)
{
  on_cpu = true;
  run_every_form();
}

Test(vertex_kinds, what_a_kind_depends_on_decides_where_it_runs, .init = prepare)
{
  float floats[9];
  uint16_t shorts[9];
  run_alone("outer::inner::Fill<float,true>", "out", POP_FLOAT, 9, floats);
  cr_assert_float_eq(floats[8], 7, 0);
  run_alone("outer::inner::Fill<float,false>", "out", POP_FLOAT, 9, floats);
  cr_assert_float_eq(floats[0], 7, 0);
  run_alone("outer::inner::Fill<unsigned short,true>", "out", POP_UNSIGNED_SHORT, 9, shorts);
  cr_assert_eq(shorts[8], 7);
}

/* ---- faults ---- */

Test(vertex_kinds, faults_name_the_vertex_and_its_context, .init = prepare)
{
  static const struct {
    const char *type, *context;
  } cases[] = {{"MultiTrap", "worker 3"}, {"SupervisorTrap", "supervisor"}};
  for (size_t l = 0; l < NUM_LANGUAGES; ++l) {
    for (size_t i = 0; i < 2; ++i) {
      pop_graph *graph = new_graph(languages[l]);
      pop_compute_set set = pop_graph_add_compute_set(graph, "bad set");
      pop_tensor x = add_data(graph, POP_UNSIGNED_INT, 6, "x");
      pop_tensor y = add_data(graph, POP_UNSIGNED_INT, 6, "y");
      add_vertex(graph, set, "MultiAdd", "x", y);
      add_vertex(graph, set, cases[i].type, "x", x);
      pop_program program = pop_program_execute(graph, set, "execute");
      pop_engine *engine = new_engine(graph, &program, 1);
      char text[128];
      snprintf(text, sizeof text,
               "on tile %d, %s, in vertex %s (number 1 of the graph) of compute set 'bad set'",
               LAST_TILE, cases[i].context, cases[i].type);
      expect_error(pop_engine_run(engine, 0), POP_ERROR_RUNTIME, text, languages[l]);
      pop_engine_free(engine);
    }
  }
}
