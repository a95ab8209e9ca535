/* Placement constraints of codelets on the machine: vertices report at which addresses they found
 * their data. */
#include "support/expect.h"

#include <populus/engine.h>
#include <populus/gp.h>
#include <populus/graph.h>
#include <populus/popc.h>

#include <stdio.h>

enum { TILES = 8, ELEMENT = 16384, WHERE = 4, MEMORY_BASE = 0x4c000, REGION_1 = 0x80000 };

static void prepare(void)
{
  char source[4096];
  const char *input = source;
  snprintf(source, sizeof source, "%s/tests/codelets/placement.c", getenv("POPULUS_SOURCE_DIR"));
  popc_options options = {.size = sizeof options,
                          .inputs = &input,
                          .num_inputs = 1,
                          .output = "placement.gp",
                          .diagnostics_fd = -1};
  if (access(options.output, F_OK) != 0) expect_ok(popc_compile(&options, NULL, NULL));
}

/* ipu2's memory: elements of 16 KiB. From 0x80000 on they are interleaved in pairs. */
static unsigned element_of(unsigned address)
{
  return address < REGION_1 ? address / ELEMENT : 1000 + (address - REGION_1) / (2 * ELEMENT);
}

static bool share_element(unsigned a, unsigned b, unsigned bytes)
{
  return element_of(a) <= element_of(b + bytes - 1) && element_of(b) <= element_of(a + bytes - 1);
}

static pop_graph *new_graph(void)
{
  prepare();
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = TILES;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets(graph, "placement.gp", NULL);
  return graph;
}

static pop_tensor add_on_tile(pop_graph *graph, size_t count, size_t tile, const char *name)
{
  pop_tensor t = pop_graph_add_variable(graph, POP_UNSIGNED_INT, &count, 1, name);
  pop_graph_set_tile_mapping(graph, t, tile);
  return t;
}

/* ---- sources of a and b ---- */

typedef struct inputs {
  pop_tensor a, b;
} inputs;

static inputs two_variables(pop_graph *graph, size_t tile, size_t count)
{
  return (inputs){add_on_tile(graph, count, tile, "a"), add_on_tile(graph, count, tile, "b")};
}

static inputs two_slices(pop_graph *graph, size_t tile, size_t count)
{
  pop_tensor both = add_on_tile(graph, 2 * count, tile, "both");
  return (inputs){pop_tensor_slice(both, 0, count, 0), pop_tensor_slice(both, count, 2 * count, 0)};
}

static inputs the_same(pop_graph *graph, size_t tile, size_t count)
{
  pop_tensor one = add_on_tile(graph, count, tile, "one");
  return (inputs){one, one};
}

static inputs from_elsewhere(pop_graph *graph, size_t tile, size_t count)
{
  return two_variables(graph, (tile + 1) % TILES, count);
}

static inputs the_same_from_elsewhere(pop_graph *graph, size_t tile, size_t count)
{
  return the_same(graph, (tile + 1) % TILES, count);
}

static inputs rearranged(pop_graph *graph, size_t tile, size_t count)
{
  inputs in = two_variables(graph, tile, count);
  return (inputs){pop_tensor_reverse(in.a, 0), pop_tensor_reverse(in.b, 0)};
}

static const struct {
  const char *what;
  inputs (*make)(pop_graph *graph, size_t tile, size_t count);
  size_t count;
} sources[TILES] = {
    {"two variables", two_variables, 16},
    {"slices of a variable", two_slices, 16},
    {"the same twice", the_same, 16},
    {"messages", from_elsewhere, 16},
    {"one message twice", the_same_from_elsewhere, 16},
    {"rearranged", rearranged, 16},
    {"more than an element", two_variables, 6000},
    {"slices of more than an element", two_slices, 6000},
};

static pop_engine *run(pop_graph *graph, pop_compute_set set)
{
  pop_program program = pop_program_execute(graph, set, "all");
  pop_engine *engine = NULL;
  pop_error *error = pop_engine_create(graph, &program, 1, NULL, 0, &engine);
  pop_graph_free(graph);
  expect_ok(error);
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  return engine;
}

/* On every tile a vertex of this type, each with another source of its inputs. */
static void find_out(const char *type, unsigned where[TILES][WHERE])
{
  pop_graph *graph = new_graph();
  const size_t shape[] = {TILES, WHERE};
  pop_tensor all = pop_graph_add_variable(graph, POP_UNSIGNED_INT, shape, 2, "where");
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  for (size_t tile = 0; tile < TILES; tile++) {
    pop_tensor own = pop_tensor_index(all, tile);
    pop_graph_set_tile_mapping(graph, own, tile);
    inputs in = sources[tile].make(graph, tile, sources[tile].count);
    pop_vertex vertex = pop_graph_add_vertex(graph, set, type);
    pop_graph_connect(graph, vertex, "a", in.a);
    pop_graph_connect(graph, vertex, "b", in.b);
    pop_graph_connect(graph, vertex, "where", own);
    pop_graph_set_vertex_tile(graph, vertex, tile);
  }
  pop_graph_create_host_read(graph, "where", all);
  pop_engine *engine = run(graph, set);
  expect_ok(pop_engine_read_tensor(engine, "where", where, TILES * WHERE * sizeof(unsigned)));
  pop_engine_free(engine);
}

Test(placement, elements_differ_whatever_the_data_come_from)
{
  unsigned where[TILES][WHERE];
  find_out("Elements", where);
  for (size_t i = 0; i < TILES; i++) {
    unsigned bytes = (unsigned)sources[i].count * 4, *at = where[i];
    cr_expect(!share_element(at[0], at[1], bytes), "%s: a at 0x%x, b at 0x%x", sources[i].what,
              at[0], at[1]);
    cr_expect(element_of(at[2]) < element_of(at[1]) ||
                  element_of(at[2]) > element_of(at[1] + bytes - 1),
              "%s: b at 0x%x, output at 0x%x", sources[i].what, at[1], at[2]);
    cr_expect_eq(at[3], sources[i].count, "%s: a and b must both be read as they are",
                 sources[i].what);
  }
}

Test(placement, regions_differ)
{
  unsigned where[TILES][WHERE];
  find_out("Regions", where);
  for (size_t i = 0; i < TILES; i++) {
    unsigned bytes = (unsigned)sources[i].count * 4, *at = where[i];
    unsigned low = at[0] < at[1] ? at[0] : at[1], high = at[0] < at[1] ? at[1] : at[0];
    cr_expect_leq(low + bytes, REGION_1, "%s: 0x%x", sources[i].what, low);
    cr_expect_geq(high, REGION_1, "%s: 0x%x", sources[i].what, high);
  }
}

/* The tests above can fail: without constraints, small data share an element. */
Test(placement, without_constraints_nothing_is_kept_apart)
{
  unsigned where[TILES][WHERE];
  find_out("Anywhere", where);
  for (size_t i = 0; i < TILES; i++)
    if (sources[i].count == 16)
      cr_expect_eq(element_of(where[i][0]), element_of(where[i][1]), "%s", sources[i].what);
}

Test(placement, rows_and_their_table_count_as_places)
{
  enum { ROWS = 3 };
  pop_graph *graph = new_graph();
  pop_tensor b = add_on_tile(graph, 8, 0, "b"), where = add_on_tile(graph, ROWS + 2, 0, "where");
  pop_tensor rows[ROWS] = {add_on_tile(graph, 8, 0, "row"), add_on_tile(graph, 5, 1, "row"), b};
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  pop_vertex vertex = pop_graph_add_vertex(graph, set, "Rows");
  pop_graph_connect_array(graph, vertex, "rows", rows, ROWS);
  pop_graph_connect(graph, vertex, "b", b);
  pop_graph_connect(graph, vertex, "where", where);
  pop_graph_set_vertex_tile(graph, vertex, 0);
  pop_graph_create_host_read(graph, "where", where);
  pop_engine *engine = run(graph, set);
  unsigned at[ROWS + 2];
  expect_ok(pop_engine_read_tensor(engine, "where", at, sizeof at));
  for (size_t i = 0; i <= ROWS; i++)
    cr_expect_neq(element_of(at[i]), element_of(at[ROWS + 1]), "row %zu at 0x%x, b at 0x%x", i,
                  at[i], at[ROWS + 1]);
  pop_engine_free(engine);
}

Test(placement, data_that_no_two_elements_hold_are_refused_with_names)
{
  pop_graph *graph = new_graph();
  pop_tensor a = add_on_tile(graph, 65000, 3, "large"), b = add_on_tile(graph, 65000, 3, "larger");
  pop_tensor where = add_on_tile(graph, WHERE, 3, "where");
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  pop_vertex vertex = pop_graph_add_vertex(graph, set, "Regions");
  pop_graph_connect(graph, vertex, "a", a);
  pop_graph_connect(graph, vertex, "b", b);
  pop_graph_connect(graph, vertex, "where", where);
  pop_graph_set_vertex_tile(graph, vertex, 3);
  pop_program program = pop_program_execute(graph, set, "all");
  pop_engine *engine = NULL;
  pop_error *error = pop_engine_create(graph, &program, 1, NULL, 0, &engine);
  cr_assert_not_null(error);
  static const char *const words[] = {"region(*a) != region(*b)",
                                      "vertex Regions",
                                      "placement.c:",
                                      "'large'",
                                      "'larger'",
                                      "tile 3"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    cr_expect_not_null(strstr(pop_error_message(error), words[i]), "no %s in: %s", words[i],
                       pop_error_message(error));
  pop_error_free(error);
  pop_graph_free(graph);
}

Test(placement, interleaved_memory_that_there_is_not_is_missed_by_name)
{
  static const char source[] = "#include <populus/vertex.h>\n"
                               "typedef struct { INOUT(VECTOR(unsigned, SPAN, 0, 1)) x; } Wide;\n"
                               "COMPUTE(Wide) { vertex->x.data[0]++; return true; }\n";
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = TILES;
  target.interleaved_base = target.memory_base + target.memory_bytes;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets_source(graph, "c", source, "wide.c", NULL);
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  pop_vertex vertex = pop_graph_add_vertex(graph, set, "Wide");
  pop_graph_connect(graph, vertex, "x", add_on_tile(graph, 4, 5, "row"));
  pop_graph_set_vertex_tile(graph, vertex, 5);
  pop_program program = pop_program_execute(graph, set, "all");
  pop_engine *engine = NULL;
  expect_error(pop_engine_create(graph, &program, 1, NULL, 0, &engine), POP_ERROR_GRAPH_MEMORY,
               "wants 'row' on tile 5 in interleaved memory", "no region 1");
  pop_graph_free(graph);
}
