/* Tiles that take no part in several exchanges in a row acknowledge them in advance: the compiler's
 * rows, their execution by the machine, and profiles. */
#include "engine/engine_private.h"
#include "isa/encoding.h"
#include "support/compiled.h"
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/populus.h>

TestSuite(sync_ans, .init = enter_fresh_folder);

enum { TILES = 6, ROUNDS = 3 };

static const char codelets[] = "#include <populus/vertex.h>\n"
                               "typedef struct { INOUT(int) n; } Add;\n"
                               "COMPUTE(Add) { *vertex->n += 1; return true; }\n";

static pop_program add_on(pop_graph *graph, pop_tensor x, size_t tile)
{
  pop_compute_set set = pop_graph_add_compute_set(graph, "add");
  pop_vertex v = pop_graph_add_vertex(graph, set, "Add");
  pop_graph_set_vertex_tile(graph, v, tile);
  pop_graph_connect(graph, v, "n", pop_tensor_index(x, tile));
  return pop_program_execute(graph, set, "add");
}

static void add_copy(pop_program to, pop_tensor x, size_t from, size_t tile)
{
  pop_sequence_add(to, pop_program_copy(pop_tensor_slice(x, from, from + 1, 0),
                                        pop_tensor_slice(x, tile, tile + 1, 0), "copy"));
}

/* Element t is on tile t. Copies from tile 0 to 1 and 1 to 2; tile 3 adds 1; 2 to 0; three rounds
 * of 0 to 1, 1 to 2; 2 to 4. */
static pop_engine *engine_of(const char *tile_engine, const char *profiled)
{
  pop_graph *graph = new_graph_with_tiles(TILES);
  pop_graph_add_codelets_source(graph, "c", codelets, "add.c", NULL);
  pop_tensor x = pop_graph_add_variable(graph, POP_INT, (size_t[]){TILES}, 1, "x");
  for (size_t t = 0; t < TILES; t++)
    pop_graph_set_tile_mapping(graph, pop_tensor_slice(x, t, t + 1, 0), t);
  pop_graph_create_host_write(graph, "in", x);
  pop_graph_create_host_read(graph, "out", x);
  pop_program main = pop_program_sequence(graph, "main"),
              body = pop_program_sequence(graph, "round");
  add_copy(main, x, 0, 1);
  add_copy(main, x, 1, 2);
  pop_sequence_add(main, add_on(graph, x, 3));
  add_copy(main, x, 2, 0);
  add_copy(body, x, 0, 1);
  add_copy(body, x, 1, 2);
  pop_sequence_add(main, pop_program_repeat(graph, ROUNDS, body, "rounds"));
  add_copy(main, x, 2, 4);
  const pop_option options[] = {{"target.tileEngine", tile_engine}, {"debug.instrument", profiled}};
  assert_no_error(graph);
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, options, 2, &engine));
  pop_graph_free(graph);
  return engine;
}

static uint32_t count_sans(const compilation *c, uint32_t tile)
{
  const block *code = &c->blocks[c->tiles[tile].control_code];
  uint32_t count = 0;
  for (uint32_t at = 0; at < code->size; at += 4) {
    uint32_t word;
    memcpy(&word, c->bytes + c->contents[code->content].first_byte + at, 4);
    const isa_row *row = isa_find(word);
    count += row && row->op == OP_TILE_SANS;
  }
  return count;
}

Test(sync_ans, rows_are_straight_and_of_tiles_that_have_nothing_to_do)
{
  pop_engine *engine = engine_of("interpreter", "false");
  const compilation *c = engine_compilation(engine);
  const pop_executable *e = engine->executable;
  /* A single exchange is not acknowledged: tile 0 would have the second one, tiles 1 and 5 the last
   * one. Tile 3 has the first two and those of the rounds; tiles 4 and 5 have the first three and
   * those of the rounds. */
  static const uint32_t words[TILES] = {0, 0, 0, 2, 2, 2};
  for (uint32_t t = 0; t < TILES; t++) cr_assert_eq(count_sans(c, t), words[t], "tile %u", t);
  static const struct {
    uint32_t steps, first_tile, num_tiles;
  } rows[] = {{2, 3, 1}, {4, 4, 2}, {2, 3, 3}};
  cr_assert_eq(e->num_acknowledged, 3);
  for (size_t i = 0; i < 3; i++) {
    const executable_acknowledged *a = &e->acknowledged[i];
    cr_assert_eq(a->last - a->first + 1, rows[i].steps, "row %zu", i);
    cr_assert_eq(a->first_tile, rows[i].first_tile, "row %zu", i);
    cr_assert_eq(a->num_tiles, rows[i].num_tiles, "row %zu", i);
  }
  pop_engine_free(engine);
}

Test(sync_ans, programs_do_the_same_on_all_engines)
{
  static const char *const engines[] = {"interpreter", "translator", "auto"};
  uint64_t cycles = 0, supersteps = 0;
  for (size_t i = 0; i < 3; i++) {
    pop_engine *engine = engine_of(engines[i], "false");
    expect_ok(pop_engine_load(engine));
    int in[TILES] = {10, 20, 30, 40, 50, 60}, out[TILES];
    expect_ok(pop_engine_write_tensor(engine, "in", in, sizeof in));
    expect_ok(pop_engine_run(engine, 0));
    expect_ok(pop_engine_read_tensor(engine, "out", out, sizeof out));
    static const int wanted[TILES] = {10, 10, 10, 41, 10, 60};
    for (size_t t = 0; t < TILES; t++) cr_assert_eq(out[t], wanted[t], "tile %zu", t);
    machine_counters counters = machine_get_counters(engine->replicas[0].machine);
    if (i == 0) cycles = counters.cycles, supersteps = counters.supersteps;
    cr_assert_eq(counters.cycles, cycles, "%s", engines[i]);
    cr_assert_eq(counters.supersteps, supersteps, "%s", engines[i]);
    pop_engine_free(engine);
  }
}

static int64_t number(pop_profile_value of, const char *key)
{
  pop_profile_value found = pop_profile_get(of, key);
  cr_assert_eq(pop_profile_kind_of(found), POP_PROFILE_INT, "%s", key);
  return pop_profile_as_int(found);
}

static bool is(pop_profile_value step, const char *type)
{
  return strcmp(pop_profile_as_string(pop_profile_get(step, "type")), type) == 0;
}

/* Each time from when its tiles have no work until its last sync has happened. */
Test(sync_ans, profiles_say_who_waits_from_when_to_when)
{
  pop_engine *engine = engine_of("interpreter", "true");
  pop_profile *profile;
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_execution_profile(engine, &profile));
  pop_profile_value simulation = pop_profile_get(pop_profile_root(profile), "simulation"),
                    steps = pop_profile_get(simulation, "steps"),
                    rows = pop_profile_find(simulation, "costs.syncAns"), sync = {0};
  static const int64_t tiles[] = {1, 2, 3}, syncs[] = {2, 3, 2},
                       ranges[][2] = {{3, 1}, {4, 2}, {3, 3}};
  int64_t begins[64], times[3] = {0, 0, 0};
  size_t num_syncs = 0;
  cr_assert_eq(pop_profile_count(rows), 3);
  for (size_t i = 0; i < pop_profile_count(steps); i++) {
    pop_profile_value step = pop_profile_at(steps, i);
    if (is(step, "Sync")) {
      sync = step;
      begins[num_syncs++] = number(step, "cyclesFrom");
    }
    if (!is(step, "SyncAns")) continue;
    size_t row = (size_t)number(step, "syncAns");
    cr_assert_lt(row, 3);
    times[row]++;
    cr_assert_eq(number(step, "activeTiles"), tiles[row]);
    cr_assert_eq(number(step, "syncs"), syncs[row]);
    cr_assert_eq(number(step, "cyclesTo"), number(sync, "cyclesTo"), "step %zu", i);
    cr_assert_eq(number(step, "cycles"), number(step, "cyclesTo") - number(step, "cyclesFrom"));
    cr_assert_leq(number(step, "cyclesFrom"), begins[num_syncs - (size_t)syncs[row]]);
  }
  for (size_t r = 0; r < 3; r++) {
    pop_profile_value of = pop_profile_get(pop_profile_at(rows, r), "tiles");
    cr_assert_eq(times[r], r == 2 ? ROUNDS : 1, "row %zu", r);
    cr_assert_eq(pop_profile_count(of), 2);
    for (size_t i = 0; i < 2; i++)
      cr_assert_eq(pop_profile_as_int(pop_profile_at(of, i)), ranges[r][i]);
  }
  pop_profile_free(profile);
  pop_engine_free(engine);
}
