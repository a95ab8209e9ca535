/* The measurements of instrumented tiles equal the machine's own clock. */
#include "support/profiled_program.h"
#include "support/simulated_steps.h"

TestSuite(execution_profile, .init = enter_fresh_folder);

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
