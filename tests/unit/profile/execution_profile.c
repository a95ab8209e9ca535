/* The measurements of instrumented tiles equal the machine's own clock. */
#include "engine/engine_private.h"
#include "support/count_codelet.h"
#include "support/expect.h"
#include "support/graph_test.h"
#include "support/simulated_steps.h"

#include <jansson.h>
#include <math.h>
#include <populus/populus.h>
#include <unistd.h>

TestSuite(execution_profile, .init = enter_fresh_folder);

enum { TILES = 6, SLOT = 6 };

static const char codelets[] =
    COUNT_CODELET "typedef struct { INOUT(int) n; } All;\n"
                  "MULTI_COMPUTE(All)\n"
                  "{\n"
                  "  for (unsigned i = 0; i < worker; ++i) (void)*(volatile int *)vertex->n;\n"
                  "  return true;\n"
                  "}\n"
                  "typedef struct { INOUT(int) n; } One;\n"
                  "SUPERVISOR_COMPUTE(One) { *vertex->n += 1; return true; }\n";

/* Program 0 executes `count`: tile t has 3 * t vertices, and vertex i takes r(i) rounds. Program 1
 * executes `kinds`, with a vertex of all workers, one of the supervisor and one of a worker on tile
 * 2. Program 2 copies from a stream, sends tile 4 what tile 1 has, runs `count` three times, and
 * then as often as the stream's element says. Program 3 is `kinds` if that element is not 0, else
 * `count` twice. */
static pop_executable *compile(const pop_option *options, size_t num_options, uint32_t num_ipus)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", num_ipus, &target));
  target.tiles_per_ipu = TILES / num_ipus;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets_source(graph, "c", codelets, "count.c", NULL);
  enum { MAX = 3 * TILES * TILES };
  pop_tensor n = pop_graph_add_variable(graph, POP_INT, (size_t[]){MAX}, 1, "n");
  pop_graph_set_tile_mapping(graph, n, 0);
  static const int zeros[MAX];
  pop_graph_set_initial_value(graph, n, zeros);
  pop_compute_set count = pop_graph_add_compute_set(graph, "count"),
                  kinds = pop_graph_add_compute_set(graph, "kinds");
  size_t next = 0;
  for (unsigned tile = 0; tile < TILES; tile++)
    for (unsigned i = 0; i < 3 * tile; i++, next++) {
      pop_tensor element = pop_tensor_index(n, next);
      pop_vertex v = pop_graph_add_vertex(graph, count, "Count");
      pop_graph_set_tile_mapping(graph, element, tile);
      pop_graph_set_vertex_tile(graph, v, tile);
      pop_graph_connect(graph, v, "n", element);
      pop_graph_set_field_int(graph, v, "rounds", 1 + 5 * i % 7);
    }
  static const char *const types[] = {"All", "One", "Count"};
  for (size_t i = 0; i < 3; i++, next++) {
    pop_tensor element = pop_tensor_index(n, next);
    pop_vertex v = pop_graph_add_vertex(graph, kinds, types[i]);
    pop_graph_set_tile_mapping(graph, element, 2);
    pop_graph_set_vertex_tile(graph, v, 2);
    pop_graph_connect(graph, v, "n", element);
    if (i == 2) pop_graph_set_field_int(graph, v, "rounds", 100);
  }
  pop_tensor left = pop_tensor_slice(n, next, next + 1, 0),
             told = pop_tensor_slice(n, next + 1, next + 2, 0);
  pop_graph_set_tile_mapping(graph, left, 1);
  pop_graph_set_tile_mapping(graph, told, 4);
  pop_compute_set down = pop_graph_add_compute_set(graph, "down");
  pop_graph_add_codelets_source(graph, "c",
                                "#include <populus/vertex.h>\n"
                                "typedef struct { INOUT(int) n; } Down;\n"
                                "COMPUTE(Down) { *vertex->n -= 1; return true; }\n",
                                "down.c", NULL);
  pop_vertex v = pop_graph_add_vertex(graph, down, "Down");
  pop_graph_set_vertex_tile(graph, v, 1);
  pop_graph_connect(graph, v, "n", left);

  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "in", POP_INT, 1);
  pop_program programs[4] = {pop_program_execute(graph, count, NULL),
                             pop_program_execute(graph, kinds, NULL),
                             pop_program_sequence(graph, "loops"),
                             {0}};
  pop_sequence_add(programs[2], pop_program_copy_from_stream(in, left, "in"));
  pop_sequence_add(programs[2], pop_program_copy(left, told, "tell"));
  pop_sequence_add(
      programs[2],
      pop_program_block(graph, pop_program_repeat(graph, 3, programs[0], NULL), "three times"));
  pop_sequence_add(programs[2],
                   pop_program_repeat_while_true((pop_program){0}, left,
                                                 pop_program_execute(graph, down, NULL), "while"));
  programs[3] =
      pop_program_if(left, programs[1], pop_program_repeat(graph, 2, programs[0], NULL), "either");
  assert_no_error(graph);
  pop_executable *executable;
  expect_ok(pop_compile_graph(graph, programs, 4, options, num_options, &executable));
  pop_graph_free(graph);
  return executable;
}

/* The machine's figures for each tile's workers in the last compute set. */
typedef struct machine_says {
  uint64_t compute[TILES];
  uint64_t host_exchange, global_exchange;
  uint64_t num_compute;
} machine_says;

static void hear(void *context, const machine_trace_event *event)
{
  machine_says *says = context;
  uint64_t cycles = event->to - event->from;
  if (event->kind == MACHINE_TRACE_COMPUTE) says->compute[event->tile] = cycles;
  if (event->kind == MACHINE_TRACE_COMPUTE) says->num_compute++;
  if (event->kind == MACHINE_TRACE_HOST_EXCHANGE) says->host_exchange = cycles;
  if (event->kind == MACHINE_TRACE_GLOBAL_EXCHANGE) says->global_exchange = cycles;
}

typedef struct setting {
  const char *level, *engine, *threads;
  uint32_t num_ipus;
} setting;

typedef struct profiled {
  pop_engine *engine;
  machine_says says;
  int rounds; /* of the stream */
} profiled;

static profiled *start(const setting *s)
{
  const pop_option compiled[] = {{"debug.instrument", "true"},
                                 {"debug.computeInstrumentationLevel", s->level}};
  const pop_option running[] = {{"target.tileEngine", s->engine},
                                {"target.tileEngineThreads", s->threads}};
  pop_executable *executable = compile(compiled, 2, s->num_ipus ? s->num_ipus : 1);
  profiled *p = pop_xcalloc(1, sizeof *p);
  expect_ok(pop_engine_create_from_executable(executable, running, 2, &p->engine));
  pop_executable_free(executable);
  expect_ok(pop_engine_load(p->engine));
  expect_ok(pop_engine_connect_stream(p->engine, "in", &p->rounds, &p->rounds + 1));
  machine_set_trace(p->engine->replicas[0].machine, hear, &p->says);
  return p;
}

static void stop_profile(profiled *p)
{
  pop_engine_free(p->engine);
  free(p);
}

static pop_profile *run(profiled *p, size_t program)
{
  pop_profile *profile;
  memset(&p->says, 0, sizeof p->says);
  expect_ok(pop_engine_run(p->engine, program));
  expect_ok(pop_engine_execution_profile(p->engine, &profile));
  return profile;
}

static int64_t number_at(const pop_profile *profile, const char *path, size_t i, size_t j)
{
  pop_profile_value of = pop_profile_at(pop_profile_find(pop_profile_root(profile), path), i);
  if (j != SIZE_MAX) of = pop_profile_at(of, j);
  cr_assert_eq(pop_profile_kind_of(of), POP_PROFILE_INT, "%s[%zu][%zu]", path, i, j);
  return pop_profile_as_int(of);
}

static const setting settings[] = {
    {"tile", "interpreter", "1", 0},   {"tile", "translator", "1", 0},
    {"tile", "interpreter", "2", 0},   {"tile", "translator", "2", 0},
    {"vertex", "interpreter", "1", 0}, {"vertex", "translator", "2", 0},
};
enum { NUM_SETTINGS = sizeof settings / sizeof *settings };

Test(execution_profile, cycles_of_compute_sets_are_those_that_the_machine_counted)
{
  for (size_t i = 0; i < NUM_SETTINGS; i++) {
    profiled *p = start(&settings[i]);
    pop_profile *profile = run(p, 0);
    cr_assert_eq(number_at(profile, "computeSetCyclesByTile", 0, 0), 0);
    for (size_t tile = 1; tile < TILES; tile++) {
      cr_assert_gt(p->says.compute[tile], 0);
      cr_assert_eq(number_at(profile, "computeSetCyclesByTile", 0, tile), p->says.compute[tile],
                   "setting %zu, tile %zu: %lld, machine %llu", i, tile,
                   (long long)number_at(profile, "computeSetCyclesByTile", 0, tile),
                   (unsigned long long)p->says.compute[tile]);
      cr_assert_eq(number_at(profile, "computeSetCyclesByTile", 1, tile), 0);
    }
    pop_profile_free(profile);
    stop_profile(p);
  }
}

/* The cycles of all calls of a work's vertices on `tile` in a compute set, and the number of
 * calls. */
static uint64_t sum_of_calls(const pop_engine *engine, size_t set, uint32_t tile,
                             uint32_t *num_calls)
{
  const pop_executable *e = engine->executable;
  const execution *x = execution_profile_get(engine->profile);
  uint64_t sum = 0;
  *num_calls = 0;
  for (size_t w = 0; w < e->compute_sets[set].num_works; w++) {
    size_t work = e->compute_sets[set].first_work + w;
    const executable_measure *m;
    const uint32_t *calls = execution_vertex_cycles(x, work, &m);
    if (e->works[work].tile != tile) continue;
    *num_calls = m->words;
    for (uint32_t i = 0; i < m->words; i++) sum += calls[i] - m->overhead;
  }
  return sum;
}

/* Instructions of the worker stub around each call: eleven, including the call, and two that begin
 * its list and end the worker; the setup of the contexts. */
Test(execution_profile, cycles_of_vertices_are_those_of_the_instructions_that_they_execute)
{
  profiled *p = start(&(setting){"vertex", "interpreter", "1", 0});
  pop_profile *profile = run(p, 0);
  const pop_executable *e = p->engine->executable;
  uint64_t first = 0;
  size_t next = 0;
  for (size_t w = 0; w < e->compute_sets[0].num_works; w++) {
    const executable_row *row = &e->vertex_rows[e->works[w].row];
    for (uint32_t v = 0; v < row->count; v++, next++) {
      uint32_t i = e->vertices[row->first + v].number, rounds = 1 + 5 * i % 7;
      uint64_t cycles = (uint64_t)number_at(profile, "vertexCycles", next, SIZE_MAX);
      cr_assert_eq(cycles % SLOT, 0);
      if (next == 0) first = cycles; /* of one round */
      /* Every round has the same instructions, so differences are multiples of one round's
       * cycles. */
      uint64_t round = (uint64_t)number_at(profile, "vertexCycles", 1, SIZE_MAX) - first;
      cr_assert_eq(cycles, first + (rounds - 1) * round / 5, "vertex %zu of %u rounds: %llu", next,
                   rounds, (unsigned long long)cycles);
      cr_assert_eq(number_at(profile, "vertexComputeSet", next, SIZE_MAX), 0);
      cr_assert_str_eq(e->vertex_types[number_at(profile, "vertexType", next, SIZE_MAX)], "Count");
    }
  }
  cr_assert_eq(next, 3 * (1 + 2 + 3 + 4 + 5));
  /* One vertex on each of three workers. The tile's cycles are the slowest one's and
 * those of the stub. */
  uint32_t num_calls;
  uint64_t one = sum_of_calls(p->engine, 0, 1, &num_calls);
  cr_assert_eq(num_calls, 3);
  cr_assert_lt(one / 3, p->says.compute[1]);
  pop_profile_free(profile);

  profile = run(p, 1); /* tile 2: one of the supervisor, one of all workers, one of a worker */
  uint64_t all = (uint64_t)sum_of_calls(p->engine, 1, 2, &num_calls);
  cr_assert_eq(num_calls, 1 + 6 + 1);
  size_t by_type[3] = {0};
  uint64_t cycles_by_type[3] = {0};
  for (size_t v = next; v < next + 3; v++) {
    const char *type = e->vertex_types[number_at(profile, "vertexType", v, SIZE_MAX)];
    size_t t = strcmp(type, "All") == 0 ? 0 : strcmp(type, "One") == 0 ? 1 : 2;
    by_type[t]++;
    cycles_by_type[t] = (uint64_t)number_at(profile, "vertexCycles", v, SIZE_MAX);
  }
  cr_assert(by_type[0] == 1 && by_type[1] == 1 && by_type[2] == 1);
  cr_assert_gt(cycles_by_type[2], 100 * SLOT);
  cr_assert_lt(cycles_by_type[1], 10 * SLOT);
  /* Worker 5 loads five times and is the slowest of six. All together have 15 loads. */
  cr_assert_gt(cycles_by_type[0], cycles_by_type[1]);
  cr_assert_lt(cycles_by_type[0], all - cycles_by_type[1] - cycles_by_type[2]);
  pop_profile_free(profile);
  stop_profile(p);
}

Test(execution_profile, vertices_take_the_same_on_both_engines)
{
  profiled *a = start(&(setting){"vertex", "interpreter", "1", 0}),
           *b = start(&(setting){"vertex", "translator", "2", 0});
  for (size_t program = 0; program < 2; program++) {
    pop_profile *of_a = run(a, program), *of_b = run(b, program);
    size_t count = pop_profile_count(pop_profile_find(pop_profile_root(of_a), "vertexCycles"));
    cr_assert_eq(count, 45 + 3 + 1);
    for (size_t v = 0; v < count; v++)
      cr_assert_eq(number_at(of_a, "vertexCycles", v, SIZE_MAX),
                   number_at(of_b, "vertexCycles", v, SIZE_MAX));
    pop_profile_free(of_a);
    pop_profile_free(of_b);
  }
  stop_profile(a);
  stop_profile(b);
}

Test(execution_profile, one_tile_measures_the_slowest_of_all_or_of_each_IPU)
{
  profiled *by_tile = start(&(setting){"tile", "interpreter", "1", 2}),
           *by_device = start(&(setting){"device", "interpreter", "1", 2}),
           *by_ipu = start(&(setting){"ipu", "interpreter", "1", 2});
  pop_profile *tiles = run(by_tile, 0), *device = run(by_device, 0), *ipu = run(by_ipu, 0);
  int64_t slowest[2] = {0};
  for (size_t tile = 0; tile < TILES; tile++) {
    int64_t cycles = number_at(tiles, "computeSetCyclesByTile", 0, tile);
    if (cycles > slowest[tile / 3]) slowest[tile / 3] = cycles;
  }
  cr_assert_lt(slowest[0], slowest[1]);
  cr_assert_eq(number_at(device, "computeSetCycles", 0, SIZE_MAX), slowest[1]);
  cr_assert_eq(number_at(ipu, "computeSetCycles", 0, SIZE_MAX), slowest[1]);
  tile_cost costs[TILES];
  const execution *x = execution_profile_get(by_ipu->engine->profile);
  cr_assert_eq(execution_compute_costs(x, 0, costs), TILES - 1);
  for (size_t i = 0; i < TILES - 1; i++) cr_assert_eq(costs[i].cycles, slowest[(i + 1) / 3]);
  pop_profile_free(tiles);
  pop_profile_free(device);
  pop_profile_free(ipu);
  stop_profile(by_tile);
  stop_profile(by_device);
  stop_profile(by_ipu);
}

Test(execution_profile, exchanges_with_the_host_and_between_IPUs_are_measured_without_the_waiting)
{
  profiled *p = start(&(setting){"tile", "interpreter", "1", 2});
  p->rounds = 1;
  pop_profile *profile = run(p, 2);
  /* Tile 1 gets the stream's element and sends it to tile 4, which is on the other IPU. */
  cr_assert_gt(p->says.host_exchange, 0);
  cr_assert_gt(p->says.global_exchange, 0);
  for (size_t tile = 0; tile < TILES; tile++) {
    cr_assert_eq(number_at(profile, "hostExchangeCycles", 0, tile),
                 tile == 1 ? p->says.host_exchange : 0);
  }
  pop_profile_value external =
      pop_profile_find(pop_profile_root(profile), "externalExchangeCycles");
  cr_assert_gt(pop_profile_count(external), 0);
  bool found = false;
  for (size_t i = 0; i < pop_profile_count(external); i++) {
    int64_t from = number_at(profile, "externalExchangeCycles", i, 1),
            to = number_at(profile, "externalExchangeCycles", i, 4);
    found |= from > 0 && from == to && (uint64_t)from == p->says.global_exchange;
  }
  cr_assert(found);
  /* The simulation uses the measured cycles, not the planned ones. */
  const execution *x = execution_profile_get(p->engine->profile);
  tile_cost costs[TILES];
  found = false;
  for (uint32_t i = 0; i < x->executable->num_exchanges; i++)
    if (execution_exchange_costs(x, i, costs) == 2)
      found |= costs[0].cycles == p->says.global_exchange && costs[0].cycles == costs[1].cycles;
  cr_assert(found);
  found = false;
  for (uint32_t i = 0; i < x->executable->num_events; i++)
    if (execution_host_costs(x, i, costs) == 1) found |= costs[0].cycles == p->says.host_exchange;
  cr_assert(found);
  pop_profile_free(profile);
  stop_profile(p);
}

/* Two IPUs. The host exchanges 60 + 25 + 8 bytes with the first, which is the most. Between IPUs
 * all tiles take the same time: the largest number of instructions of any tile, the latency, and
 * the longest of 60 bytes of a tile, 122 on links and 42 through gateways. */
Test(execution_profile, exchanges_that_are_not_measured_take_what_the_fullest_IPU_needs)
{
  executable_exchange_part parts[] = {
      {0, 10, 60, 0}, {2, 11, 25, 8}, {3, 12, 0, 40}, {4, 13, 0, 50}};
  executable_exchange exchange = {
      .name = "far", .zone = ISA_SYNC_EXTERNAL, .num_parts = 4, .link_bytes = 122};
  executable_event event = {.name = "host", .num_parts = 4};
  pop_executable e = {.exchanges = &exchange,
                      .num_exchanges = 1,
                      .events = &event,
                      .num_events = 1,
                      .exchange_parts = parts,
                      .num_exchange_parts = 4};
  expect_ok(pop_target_create("ipu2", 2, &e.target));
  e.target.tiles_per_ipu = 3;
  e.target.global_latency_cycles = 100;
  e.target.global_bytes_per_cycle = 7;
  e.target.gateway_latency_cycles = 500;
  e.target.gateway_bytes_per_cycle = 2;
  e.target.host_bytes_per_cycle = 4;
  execution *x = execution_new(&e);
  tile_cost costs[4];
  static const uint64_t wanted[] = {13 + 100 + 18, 13 + 500 + 21, 13 + 100 + 30, 13};
  for (size_t c = 0; c < 4; c++) {
    exchange.gateway_bytes = c == 1 ? 42 : 0;
    if (c == 2) e.target.exchange_bytes_per_cycle = 2; /* now the tile with 60 is the slowest */
    if (c == 3) exchange.link_bytes = 0;               /* no tile sends */
    cr_assert_eq(execution_exchange_costs(x, 0, costs), 4);
    for (size_t i = 0; i < 4; i++) cr_assert_eq(costs[i].cycles, wanted[c], "%zu", c);
  }
  cr_assert_eq(execution_host_costs(x, 0, costs), 4);
  for (size_t i = 0; i < 4; i++) cr_assert_eq(costs[i].cycles, parts[i].cycles + 24); /* 93 */
  execution_free(x);
}

/* ---- the path of programs ---- */

Test(execution_profile, programs_are_traced_through_loops_and_branches)
{
  char text[2000];
  profiled *p = start(&(setting){"tile", "interpreter", "1", 0});
  p->rounds = 2;
  pop_profile *profile = run(p, 2);
  cr_assert_str_eq(executed(profile, text), "00022");
  cr_assert(is_complete(profile));
  pop_profile_free(profile);
  profile = run(p, 3); /* 0: false */
  cr_assert_str_eq(executed(profile, text), "0002200");
  pop_profile_free(profile);

  /* There are more branches than tile 0 can record, so the host reads them in between. */
  p->rounds = 700;
  expect_ok(pop_engine_reset_execution_profile(p->engine));
  profile = run(p, 2);
  executed(profile, text);
  cr_assert_eq(strlen(text), 703);
  cr_assert_eq(strspn(text + 3, "2"), 700);
  cr_assert(is_complete(profile));
  pop_profile_free(profile);
  stop_profile(p);
}

/* Checks the trace of program 2, which loops for two rounds. */
static void expect_trace(const pop_option *option, const char *wanted, bool whole)
{
  char text[16];
  pop_executable *executable = compile(option, 1, 1);
  pop_engine *engine;
  int rounds = 2;
  expect_ok(pop_engine_create_from_executable(executable, NULL, 0, &engine));
  pop_executable_free(executable);
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_connect_stream(engine, "in", &rounds, &rounds + 1));
  expect_ok(pop_engine_run(engine, 2));
  pop_profile *profile;
  expect_ok(pop_engine_execution_profile(engine, &profile));
  cr_assert_str_eq(executed(profile, text), wanted, "%s: %s", option->key, text);
  cr_assert_eq(is_complete(profile), whole);
  pop_profile_free(profile);
  pop_engine_free(engine);
}

Test(execution_profile, without_a_record_of_branches_the_trace_ends_at_the_first)
{
  expect_trace(&(pop_option){"debug.instrumentExternalExchange", "true"}, "000", false);
  expect_trace(&(pop_option){"debug.instrumentControlFlow", "true"}, "00022", true);
}

Test(execution_profile, compute_sets_that_are_measured_are_traced_behind_branches)
{
  expect_trace(&(pop_option){"debug.instrumentCompute", "true"}, "00022", true);
  expect_trace(&(pop_option){"debug.executionProfile", "compute_sets"}, "00022", true);
}

Test(execution_profile, it_can_be_disabled_and_reset)
{
  char text[16];
  profiled *p = start(&(setting){"tile", "interpreter", "1", 0});
  pop_engine_disable_execution_profiling(p->engine);
  pop_profile *profile = run(p, 0);
  cr_assert_str_eq(executed(profile, text), "");
  cr_assert_eq(number_at(profile, "computeSetCyclesByTile", 0, 3), 0);
  pop_profile_free(profile);
  pop_engine_enable_execution_profiling(p->engine);
  profile = run(p, 1);
  cr_assert_str_eq(executed(profile, text), "1");
  cr_assert_gt(number_at(profile, "computeSetCyclesByTile", 1, 2), 0);
  pop_profile_free(profile);
  expect_ok(pop_engine_reset_execution_profile(p->engine));
  profile = run(p, 0);
  cr_assert_str_eq(executed(profile, text), "0");
  cr_assert_eq(number_at(profile, "computeSetCyclesByTile", 1, 2), 0);
  pop_profile_free(profile);
  stop_profile(p);
}

/* The names of the profile's runs, separated by commas; "-" for none. */
static void run_names(const pop_profile *profile, char *text, size_t size)
{
  pop_profile_value runs = pop_profile_find(pop_profile_root(profile), "runs");
  text[0] = '\0';
  for (size_t i = 0; i < pop_profile_count(runs); i++) {
    const char *name = pop_profile_as_string(pop_profile_get(pop_profile_at(runs, i), "runName"));
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", i ? "," : "", name ? name : "-");
  }
}

Test(execution_profile, G13_runs_have_the_names_that_they_were_given)
{
  char text[64];
  profiled *p = start(&(setting){"tile", "interpreter", "1", 0});
  expect_ok(pop_engine_run_as(p->engine, 0, "warm up"));
  expect_ok(pop_engine_run(p->engine, 0));
  expect_ok(pop_engine_run_as(p->engine, 1, ""));
  expect_ok(pop_engine_run_as(p->engine, 1, NULL));
  pop_profile *profile = run(p, 0);
  run_names(profile, text, sizeof text);
  cr_assert_str_eq(text, "warm up,-,-,-,-");
  pop_profile_free(profile);
  expect_error(pop_engine_run_as(p->engine, 99, "none"), POP_ERROR_INDEX, "99", "a run");
  expect_ok(pop_engine_reset_execution_profile(p->engine));
  expect_ok(pop_engine_run_as(p->engine, 1, "again"));
  profile = run(p, 0);
  run_names(profile, text, sizeof text);
  cr_assert_str_eq(text, "again,-");
  pop_profile_free(profile);
  stop_profile(p);
}

/* ---- output for other tools ---- */

static char *written(const pop_engine *engine,
                     pop_error *(*write)(const pop_engine *engine, FILE *stream))
{
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  cr_assert_not_null(stream);
  expect_ok(write(engine, stream));
  fclose(stream);
  return text;
}

static int64_t simulated_cycles(const pop_profile *profile)
{
  return pop_profile_as_int(pop_profile_find(pop_profile_root(profile), "simulation.cycles"));
}

Test(execution_profile, trace_events_are_JSON_with_tracks_on_which_nothing_overlaps)
{
  profiled *p = start(&(setting){"vertex", "interpreter", "1", 2});
  p->rounds = 2;
  pop_profile *profile = run(p, 2);
  char *text = written(p->engine, pop_engine_write_trace_events);
  json_error_t where;
  json_t *root = json_loads(text, 0, &where);
  cr_assert_not_null(root, "%s", where.text);
  double ends[4][64] = {{0}}, last = 0;
  size_t vertices = 0, blocks = 0, runs = 0, index;
  json_t *event;
  json_array_foreach(json_object_get(root, "traceEvents"), index, event)
  {
    if (strcmp(json_string_value(json_object_get(event, "ph")), "X") != 0) continue;
    const char *category = json_string_value(json_object_get(event, "cat"));
    json_int_t process = json_integer_value(json_object_get(event, "pid")),
               thread = json_integer_value(json_object_get(event, "tid"));
    double from = json_number_value(json_object_get(event, "ts")),
           to = from + json_number_value(json_object_get(event, "dur"));
    cr_assert(process < 4 && thread < 64);
    cr_assert_geq(from, ends[process][thread] - 1e-9, "%s on %lld/%lld", category,
                  (long long)process, (long long)thread);
    ends[process][thread] = to;
    if (to > last) last = to;
    vertices += strcmp(category, "vertex") == 0;
    blocks += strcmp(category, "block") == 0;
    runs += strcmp(category, "run") == 0;
  }
  cr_assert_eq(vertices, 3 * 45 + 2);
  cr_assert_eq(blocks, 1);
  cr_assert_eq(runs, 1);
  double cycles = (double)simulated_cycles(profile);
  cr_assert_float_eq(last * 1000, floor(cycles * 1e9 / p->engine->executable->target.clock_hz),
                     0.001, "times are whole nanoseconds");
  json_decref(root);
  free(text);
  pop_profile_free(profile);
  stop_profile(p);
}

/* A vertex of the supervisor is a part of its tile's step. Then all workers start: a vertex of all
 * of them is on each, before their own. */
Test(execution_profile, trace_events_have_vertices_of_supervisors_and_of_all_workers)
{
  enum { TILE_THREAD = 1 + 2 * (SLOT + 1) };
  profiled *p = start(&(setting){"vertex", "interpreter", "1", 0});
  pop_profile_free(run(p, 1));
  char *text = written(p->engine, pop_engine_write_trace_events);
  json_t *root = json_loads(text, 0, NULL), *event;
  cr_assert_not_null(root);
  double step[2] = {0}, one = 0, ends[SLOT] = {0};
  size_t index, all = 0, own = 0;
  json_array_foreach(json_object_get(root, "traceEvents"), index, event)
  {
    const char *category = json_string_value(json_object_get(event, "cat")),
               *name = json_string_value(json_object_get(event, "name"));
    json_int_t context = json_integer_value(json_object_get(event, "tid")) - TILE_THREAD;
    double from = json_number_value(json_object_get(event, "ts")),
           to = from + json_number_value(json_object_get(event, "dur"));
    if (!category || context < 0 || context > SLOT) continue;
    if (strcmp(category, "OnTileExecute") == 0) memcpy(step, (double[]){from, to}, sizeof step);
    if (strcmp(category, "vertex") != 0) continue;
    cr_assert(step[0] <= from && from < to && to <= step[1], "%s", name);
    if (strcmp(name, "One") == 0) {
      cr_assert_eq(context, 0);
      one = to;
    } else if (strcmp(name, "All") == 0) {
      cr_assert(context == 1 + (json_int_t)all && from == one, "%s on %lld", name,
                (long long)context);
      ends[all++] = to;
    } else {
      cr_assert(context == 1 && from == ends[0], "%s on %lld", name, (long long)context);
      own++;
    }
  }
  cr_assert(one > step[0] && all == SLOT && own == 1, "%zu, %zu", all, own);
  for (size_t i = 1; i < SLOT; i++) /* each takes a round more than the one before */
    cr_assert_gt(ends[i], ends[i - 1]);
  json_decref(root);
  free(text);
  stop_profile(p);
}

/* The characters that names may have. Bytes that are not UTF-8 become U+FFFD in JSON. */
static const char odd_name[] = "a\"b\\c/d;e\n\x01\xc3\xa9</script>\xff";
static const char odd_in_json[] = "a\"b\\c/d;e\n\x01\xc3\xa9</script>\xef\xbf\xbd";

static pop_engine *run_odd_names(void)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 1;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets_source(graph, "c", codelets, "count.c", NULL);
  pop_tensor n = pop_graph_add_variable(graph, POP_INT, NULL, 0, odd_name);
  pop_graph_set_tile_mapping(graph, n, 0);
  pop_graph_set_initial_value(graph, n, &(int){0});
  pop_compute_set set = pop_graph_add_compute_set(graph, odd_name);
  pop_vertex v = pop_graph_add_vertex(graph, set, "Count");
  pop_graph_set_vertex_tile(graph, v, 0);
  pop_graph_connect(graph, v, "n", n);
  pop_graph_set_field_int(graph, v, "rounds", 1);
  pop_program main = pop_program_sequence(graph, odd_name);
  pop_sequence_add(main,
                   pop_program_block(graph, pop_program_execute(graph, set, odd_name), odd_name));
  const pop_option options[] = {{"debug.instrument", "true"}, {"profiler.blocks.filter", "."}};
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, options, 2, &engine));
  pop_graph_free(graph);
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  return engine;
}

Test(execution_profile, P12_any_name_is_escaped_for_other_tools)
{
  pop_engine *engine = run_odd_names();
  char *text = written(engine, pop_engine_write_trace_events);
  for (const char *c = text; *c; c++)
    cr_assert((unsigned char)*c >= ' ' || *c == '\n', "byte %d", *c);
  json_error_t where;
  json_t *root = json_loads(text, 0, &where), *event;
  cr_assert_not_null(root, "%s", where.text);
  size_t index, runs = 0, steps = 0, blocks = 0, timed = 0;
  json_array_foreach(json_object_get(root, "traceEvents"), index, event)
  {
    const char *category = json_string_value(json_object_get(event, "cat"));
    if (!category || strcmp(json_string_value(json_object_get(event, "name")), odd_in_json) != 0)
      continue;
    runs += strcmp(category, "run") == 0;
    steps += strcmp(category, "OnTileExecute") == 0;
    blocks += strcmp(category, "block") == 0;
    timed += strcmp(category, "Common") == 0;
  }
  cr_assert(runs == 1 && steps == 2 && blocks == 1 && timed == 1, "%zu %zu %zu %zu", runs, steps,
            blocks, timed);
  json_decref(root);
  free(text);
  /* Each stack is a line. ';' separates frames, so a ';' in a name becomes ':'. */
  text = written(engine, pop_engine_write_folded_stacks);
  cr_assert_not_null(strstr(text, "a\"b\\c/d:e \x01"));
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    const char *space = strrchr(line, ' ');
    cr_assert(space && strspn(space + 1, "0123456789") == strlen(space + 1), "%s", line);
  }
  free(text);
  pop_engine_free(engine);
}

/* A copy without a name is called "/…". */
Test(execution_profile, folded_stacks_have_no_frames_without_a_name)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 2;
  pop_graph *graph = pop_graph_create(&target);
  pop_tensor from = pop_graph_add_variable(graph, POP_INT, NULL, 0, "from"),
             to = pop_graph_add_variable(graph, POP_INT, NULL, 0, "to");
  pop_graph_set_tile_mapping(graph, from, 0);
  pop_graph_set_tile_mapping(graph, to, 1);
  pop_program copies[] = {pop_program_copy(from, to, NULL), pop_program_copy(from, to, "/a//b/")};
  pop_program main = pop_program_sequence(graph, "main");
  for (size_t i = 0; i < 2; i++) pop_sequence_add(main, copies[i]);
  const pop_option options[] = {{"debug.instrument", "true"}};
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, options, 1, &engine));
  pop_graph_free(graph);
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  char *text = written(engine, pop_engine_write_folded_stacks);
  cr_assert_null(strstr(text, ";;"), "%s", text);
  cr_assert_not_null(strstr(text, "main;ExchangePre;DoExchange "), "%s", text);
  cr_assert_not_null(strstr(text, "main;a;b;ExchangePre;DoExchange "), "%s", text);
  free(text);
  pop_engine_free(engine);
}

/* Lines of summaries contain a program's names too. */
Test(execution_profile, P12_any_name_is_a_part_of_a_line_in_summaries)
{
  static const pop_option options[] = {{"showExecutionSteps", "true"}, {"showVarStorage", "true"}};
  pop_engine *engine = run_odd_names();
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  expect_ok(pop_engine_print_profile_summary(engine, options, 2, stream));
  fclose(stream);
  for (const char *c = text; *c; c++)
    cr_assert((unsigned char)*c >= ' ' || *c == '\n', "byte %d", *c);
  const char *shown = strstr(text, "a\"b\\c/d;e\\x0a\\x01\xc3\xa9</script>\\xff  ");
  cr_assert_not_null(shown, "a variable's line: %s", text);
  cr_assert_not_null(strstr(text, ": a\"b\\c/d;e\\x0a\\x01\xc3\xa9</script>\\xff\n"),
                     "a step's line");
  free(text);
  pop_engine_free(engine);
}

static char *summary_of(const pop_profile *graph, const pop_profile *profile)
{
  static const pop_option steps = {"showExecutionSteps", "true"};
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  expect_ok(pop_profile_print_execution_summary(pop_profile_root(graph), pop_profile_root(profile),
                                                &steps, 1, stream));
  fclose(stream);
  return text;
}

static pop_error *write_summary_with_steps(const pop_engine *engine, FILE *stream)
{
  return pop_engine_print_execution_summary(engine, true, stream);
}

Test(execution_profile, summaries_of_profiles_are_those_of_the_engine)
{
  profiled *p = start(&(setting){"vertex", "interpreter", "1", 0});
  p->rounds = 2;
  pop_profile_free(run(p, 0));
  pop_profile *graph, *profile = run(p, 2);
  expect_ok(pop_engine_graph_profile(p->engine, &graph));
  char *own = written(p->engine, write_summary_with_steps), *read = summary_of(graph, profile);
  cr_assert_not_null(strstr(own, "  --- External Sync ---\n  StreamCopy"), "%s", own);
  cr_assert_str_eq(own, read);
  free(own);
  free(read);
  pop_profile_free(graph);
  pop_profile_free(profile);
  stop_profile(p);
}

/* There are too many to search all for each one. */
Test(execution_profile, a_tile_may_have_many_vertices)
{
  enum { VERTICES = 20000, ROUNDS = 80 };
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 1;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets_source(graph, "c", codelets, "count.c", NULL);
  pop_tensor n = pop_graph_add_variable(graph, POP_INT, (size_t[]){VERTICES}, 1, "n");
  pop_graph_set_tile_mapping(graph, n, 0);
  pop_compute_set set = pop_graph_add_compute_set(graph, "many");
  for (size_t i = 0; i < VERTICES; i++) {
    pop_vertex v = pop_graph_add_vertex(graph, set, "Count");
    pop_graph_set_vertex_tile(graph, v, 0);
    pop_graph_connect(graph, v, "n", pop_tensor_index(n, i));
    pop_graph_set_field_int(graph, v, "rounds", 0);
  }
  pop_program main =
      pop_program_repeat(graph, ROUNDS, pop_program_execute(graph, set, NULL), "main");
  const pop_option options[] = {{"debug.instrument", "true"},
                                {"debug.computeInstrumentationLevel", "vertex"}};
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, options, 2, &engine));
  pop_graph_free(graph);
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  char *text = written(engine, write_summary_with_steps);
  cr_assert_not_null(strstr(text, "(20000 instances): "), "%.2000s", text);
  free(text);
  pop_engine_free(engine);
}

/* `kinds` has a vertex of the type, too, but is not executed at first. */
Test(execution_profile, summaries_count_vertices_that_were_executed)
{
  profiled *p = start(&(setting){"vertex", "interpreter", "1", 0});
  pop_profile *graph, *profile;
  expect_ok(pop_executable_graph_profile(p->engine->executable, &graph));
  for (size_t i = 0; i < 2; i++) {
    pop_profile_free(run(p, 0));
    profile = run(p, i); /* `count` again; then `kinds` */
    char *own = written(p->engine, write_summary_with_steps), *read = summary_of(graph, profile);
    const char *types = strstr(own, "  Cycles by vertex type:\n");
    unsigned count = 0;
    cr_assert_not_null(types, "%s", own);
    cr_assert_eq(sscanf(types, " Cycles by vertex type: Count (%u instances)", &count), 1, "%s",
                 types);
    cr_assert_eq(count, 45 + i, "%s", types);
    cr_assert_str_eq(own, read);
    free(own);
    free(read);
    pop_profile_free(profile);
  }
  pop_profile_free(graph);
  stop_profile(p);
}

Test(execution_profile, folded_stacks_have_all_cycles_once)
{
  profiled *p = start(&(setting){"tile", "interpreter", "1", 0});
  p->rounds = 2;
  pop_profile_free(run(p, 2));
  pop_profile *profile = run(p, 0);
  char *text = written(p->engine, pop_engine_write_folded_stacks);
  int64_t sum = 0;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    char *space = strrchr(line, ' ');
    cr_assert_not_null(space);
    sum += atoll(space);
    if (strstr(line, "loops;three times;count;OnTileExecute")) sum += 1000000;
  }
  cr_assert_eq(sum, simulated_cycles(profile) + 1000000);
  free(text);
  pop_profile_free(profile);
  stop_profile(p);
}

/* ---- cost ---- */

static uint32_t bytes_of(const pop_executable *e, pop_memory_category category)
{
  uint32_t bytes = 0;
  for (uint32_t tile = 0; tile < TILES; tile++) {
    const pop_tile_memory *m = &e->memory_rows[e->tiles[tile].memory];
    for (int r = 0; r < POP_REGION_COUNT; r++) bytes += m->not_overlapped[category][r];
  }
  return bytes;
}

static uint64_t cycles_of_count(pop_executable *e)
{
  pop_engine *engine;
  expect_ok(pop_engine_create_from_executable(e, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  uint64_t before = pop_engine_cycles(engine);
  expect_ok(pop_engine_run(engine, 0));
  uint64_t cycles = pop_engine_cycles(engine) - before;
  pop_engine_free(engine);
  return cycles;
}

Test(execution_profile, instrumentation_is_paid_in_memory_and_cycles_and_only_if_it_is_asked_for)
{
  static const pop_option compute = {"debug.instrumentCompute", "true"},
                          branches = {"debug.instrumentControlFlow", "true"};
  pop_executable *plain = compile(NULL, 0, 1), *noted = compile(&branches, 1, 1),
                 *measured = compile(&compute, 1, 1);
  cr_assert_eq(bytes_of(plain, POP_MEMORY_INSTRUMENTATION_RESULTS), 0);
  cr_assert_eq(plain->num_measures, 0);
  /* All tiles count branches, and tile 0 has room for 256 of them. */
  cr_assert_eq(bytes_of(noted, POP_MEMORY_INSTRUMENTATION_RESULTS), TILES * 4 + 256 * 4);
  /* Two words for `count` on five tiles, and for `kinds` and `down` on one tile each; none for
   * copies. */
  cr_assert_eq(bytes_of(measured, POP_MEMORY_INSTRUMENTATION_RESULTS) -
                   bytes_of(noted, POP_MEMORY_INSTRUMENTATION_RESULTS),
               (5 + 1 + 1) * 8);
  /* Eight instructions around each. `count` is measured in two places, because program 0 calls what
   * loops use. */
  cr_assert_eq(bytes_of(measured, POP_MEMORY_CONTROL_CODE) -
                   bytes_of(noted, POP_MEMORY_CONTROL_CODE),
               7 * 8 * 4);
  cr_assert_eq(cycles_of_count(measured) - cycles_of_count(noted), 8 * SLOT);
  pop_executable_free(plain);
  pop_executable_free(noted);
  pop_executable_free(measured);
}

/* The images of two compilations, tile by tile. */
Test(execution_profile, images_know_nothing_of_profiles_that_were_not_asked_for)
{
  static const pop_option off[] = {{"debug.instrument", "false"},
                                   {"debug.computeInstrumentationLevel", "vertex"},
                                   {"profiler.blocks.tile", "1"},
                                   {"profiler.blocks.bufferSize", "512"},
                                   {"profiler.replicaToProfile", "0"}};
  static const pop_option on[] = {{"debug.instrumentCompute", "true"}};
  pop_executable *e[3] = {compile(NULL, 0, 1), compile(off, 5, 1), compile(on, 1, 1)};
  size_t differ = 0;
  for (uint32_t tile = 0; tile < TILES; tile++) {
    pop_bytes files[3] = {0};
    for (int i = 0; i < 3; i++) {
      pop_arena *arena = pop_arena_new();
      pop_image image;
      expect_ok(executable_image(e[i], tile, 0, &files[i], arena, &image));
      pop_arena_free(arena);
    }
    cr_assert(files[0].size > 0 && files[0].size == files[1].size);
    cr_assert_eq(memcmp(files[0].data, files[1].data, files[0].size), 0, "tile %u", tile);
    differ +=
        files[0].size != files[2].size || memcmp(files[0].data, files[2].data, files[0].size) != 0;
    for (int i = 0; i < 3; i++) pop_bytes_free(&files[i]);
  }
  cr_assert_eq(differ, TILES); /* those that compute, and all count branches */
  for (int i = 0; i < 3; i++) pop_executable_free(e[i]);
}
