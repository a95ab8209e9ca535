/* A codelet may write only its data, its stack and its own state. The tests try every symbol of a
 * tile's image, so that nothing that the compiler makes is forgotten: control tables, tables of
 * rows, copy descriptors, packet headers, code, states of other vertices. The fault names what is
 * at the address. All of this holds for the interpreter and for native code. */
#include "engine/engine_private.h"
#include "support/expect.h"

#include <populus/populus.h>

enum { NUM_TILES = 3, PROBED = 1, COUNT = 8, OWN = 0 };

/* Writes back the current values of `words` words from an address on. x[0] is the address; 0 means
 * none. State: a counter. */
static const char codelets[] =
    "#include <populus/vertex.h>\n"
    "typedef struct { INOUT(VECTOR(int)) x; unsigned runs; } Prober;\n"
    "COMPUTE(Prober)\n"
    "{\n"
    "  volatile int *at = (volatile int *)(uintptr_t)(unsigned)vertex->x.data[0];\n"
    "  unsigned words = (unsigned)vertex->x.data[1];\n"
    "  for (unsigned i = 0; at && i < words; ++i) at[i] = at[i];\n"
    "  for (volatile int i = 0; i < 20; ++i) ++vertex->runs;\n"
    "  vertex->x.data[2] = (int)vertex->runs;\n"
    "  return true;\n"
    "}\n"
    "typedef struct { INPUT(VECTOR_OF(VECTOR(int))) rows; OUTPUT(int) sum; } Rows;\n"
    "COMPUTE(Rows)\n"
    "{\n"
    "  int sum = 0;\n"
    "  for (unsigned i = 0; i < vertex->rows.size; ++i) sum += vertex->rows.data[i].data[0];\n"
    "  *vertex->sum = sum;\n"
    "  return true;\n"
    "}\n";

typedef struct probing {
  pop_engine *engine;
  pop_arena *arena;
  pop_bytes elf;
  pop_image image;
  unsigned refused;
} probing;

static pop_tensor row(pop_tensor t, size_t tile)
{
  return pop_tensor_index(t, tile);
}

static void add_vertices(pop_graph *graph, pop_compute_set set, pop_tensor a, pop_tensor b)
{
  for (int i = 0; i < 2; ++i) { /* the first vertex of 'probes' */
    pop_vertex v = pop_graph_add_vertex(graph, set, "Prober");
    pop_graph_connect(graph, v, "x", row(i == OWN ? a : b, PROBED));
    pop_graph_set_field_int(graph, v, "runs", 0);
    pop_graph_set_vertex_tile(graph, v, PROBED);
  }
  const pop_tensor rows[] = {row(a, 0), row(b, 2), row(a, 2)};
  pop_vertex v = pop_graph_add_vertex(graph, set, "Rows");
  pop_graph_connect_array(graph, v, "rows", rows, 3);
  pop_tensor sum = pop_graph_add_variable(graph, POP_INT, NULL, 0, "sum");
  pop_graph_set_tile_mapping(graph, sum, PROBED);
  pop_graph_connect(graph, v, "sum", sum);
  pop_graph_set_vertex_tile(graph, v, PROBED);
}

/* Exchanges, copies on the tile and from the host, two compute sets, and a loop. */
static pop_engine *new_engine(bool instruments)
{
  static const size_t shape[] = {NUM_TILES, COUNT};
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = NUM_TILES;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets_source(graph, "c", codelets, "prober.c", "-g");
  pop_tensor a = pop_graph_add_variable(graph, POP_INT, shape, 2, "a");
  pop_tensor b = pop_graph_add_variable(graph, POP_INT, shape, 2, "b");
  for (size_t tile = 0; tile < NUM_TILES; ++tile) {
    pop_graph_set_tile_mapping(graph, row(a, tile), tile);
    pop_graph_set_tile_mapping(graph, row(b, tile), tile);
  }
  pop_compute_set set = pop_graph_add_compute_set(graph, "probes");
  pop_compute_set other = pop_graph_add_compute_set(graph, "others");
  add_vertices(graph, set, a, b);
  add_vertices(graph, other, b, a);
  pop_program main = pop_program_sequence(graph, "main");
  pop_program rest = pop_program_sequence(graph, "rest");
  pop_sequence_add(main, pop_program_execute(graph, set, "execute"));
  pop_sequence_add(rest, pop_program_execute(graph, other, "execute others"));
  pop_sequence_add(rest, pop_program_copy(a, b, "on tiles"));
  pop_engine *engine;
  const pop_program programs[] = {main, rest};
  const pop_option options[] = {{"debug.instrument", instruments ? "true" : "false"}};
  pop_graph_create_host_write(graph, "a", a);
  pop_graph_create_host_read(graph, "a after", a);
  expect_ok(pop_engine_create(graph, programs, 2, options, 1, &engine));
  pop_graph_free(graph);
  return engine;
}

static probing start(const char *tile_engine, bool instruments)
{
  setenv("POPULUS_TILE_ENGINE", tile_engine, 1);
  probing p = {.engine = new_engine(instruments), .arena = pop_arena_new()};
  expect_ok(
      executable_image(p.engine->executable, PROBED, POP_IMAGE_SYMBOLS, &p.elf, p.arena, &p.image));
  return p;
}

static void finish(probing *p)
{
  pop_engine_free(p->engine);
  pop_bytes_free(&p->elf);
  pop_arena_free(p->arena);
}

static pop_error *probe(probing *p, uint32_t address, uint32_t words)
{
  int a[NUM_TILES][COUNT] = {0};
  a[PROBED][0] = (int)address;
  a[PROBED][1] = (int)words;
  expect_ok(pop_engine_load(p->engine));
  expect_ok(pop_engine_write_tensor(p->engine, "a", a, sizeof a));
  return pop_engine_run(p->engine, 0);
}

static bool is_data(uint8_t category)
{
  static const bool data[POP_MEMORY_CATEGORY_COUNT] = {
      [POP_MEMORY_VARIABLE] = true,       [POP_MEMORY_CONSTANT] = true,
      [POP_MEMORY_MESSAGE] = true,        [POP_MEMORY_HOST_MESSAGE] = true,
      [POP_MEMORY_REARRANGEMENT] = true,  [POP_MEMORY_OUTPUT_EDGE] = true,
      [POP_MEMORY_MULTIPLE] = true,       [POP_MEMORY_CONTROL_ID] = true,
      [POP_MEMORY_GLOBAL_MESSAGE] = true, [POP_MEMORY_INSTRUMENTATION_RESULTS] = true};
  return data[category];
}

/* The first vertex of 'probes' stores into the symbol. */
static void expect_store(probing *p, const pop_image_symbol *s, uint32_t address, uint32_t words)
{
  char own[64], name[300];
  snprintf(own, sizeof own, "vertex.probes.Prober.%d", OWN);
  snprintf(name, sizeof name, "which is in '%s'", s->name);
  pop_error *error = probe(p, address, words);
  if (is_data(s->category) || !strcmp(s->name, own)) {
    cr_assert_null(error, "%s: %s", s->name, error ? pop_error_message(error) : "");
  } else if (s->category == POP_MEMORY_STACK) {
    expect_error(error, POP_ERROR_RUNTIME, "STACK_OVERFLOW", s->name);
  } else {
    p->refused++;
    cr_assert_not_null(error, "a store into '%s' at 0x%x is no fault", s->name, address);
    cr_assert_not_null(strstr(pop_error_message(error), "in vertex Prober (number 0 of the graph)"),
                       "%s", pop_error_message(error));
    cr_assert(strstr(pop_error_message(error), name) || s->kind != POP_SYMBOL_OBJECT, "%s: %s",
              s->name, pop_error_message(error));
    expect_error(error, POP_ERROR_RUNTIME, "device fault INVALID_ADDRESS at address 0x", s->name);
  }
}

/* The worker that runs the first vertex. */
static uint32_t own_worker(const pop_executable *e)
{
  const executable_work *work = &e->works[e->compute_sets[0].first_work];
  const executable_row *row = &e->vertex_rows[work->row];
  for (uint32_t i = 0; i < row->count; i++)
    if (work->first_number + e->vertices[row->first + i].number == OWN)
      return e->vertices[row->first + i].worker;
  cr_assert_fail("no vertex");
  return 0;
}

static void probe_all(const char *tile_engine, bool instruments)
{
  probing p = start(tile_engine, instruments);
  char own_stack[32];
  snprintf(own_stack, sizeof own_stack, "stack.worker%u", own_worker(p.engine->executable));
  bool seen[POP_MEMORY_CATEGORY_COUNT] = {false};
  for (size_t i = 0; i < p.image.num_symbols; i++) {
    const pop_image_symbol *s = &p.image.symbols[i];
    uint32_t first = (s->address + 3) & ~3u, last = (s->address + s->size - 4) & ~3u;
    if (s->size < 4 || last < first || !strcmp(s->name, own_stack)) continue;
    expect_store(&p, s, first, 1);
    expect_store(&p, s, last, 1);
    expect_store(&p, s, first, (last - first) / 4 + 1);
    seen[s->category] = true;
  }
  cr_assert(seen[POP_MEMORY_CONTROL_TABLE] && seen[POP_MEMORY_VERTEX_INSTANCE_STATE] &&
            seen[POP_MEMORY_COPY_DESCRIPTOR] && seen[POP_MEMORY_VERTEX_FIELD_DATA] &&
            seen[POP_MEMORY_CONTROL_CODE] && seen[POP_MEMORY_VERTEX_CODE]);
  cr_assert_gt(p.refused, 30);
  finish(&p);
}

Test(engine_protection, V03_a_codelet_writes_nothing_but_data_its_stack_and_its_state)
{
  enter_fresh_folder();
  probe_all("interpreter", false);
  probe_all("translator", false);
  probe_all("translator", true);
}

/* Also in native code, and in later runs. */
Test(engine_protection, V03_a_vertex_may_write_its_own_state)
{
  static const char *const engines[] = {"interpreter", "translator", "auto"};
  enter_fresh_folder();
  for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
    probing p = start(engines[i], false);
    int a[NUM_TILES][COUNT];
    expect_ok(probe(&p, 0, 0));
    for (int run = 1; run < 3; run++) expect_ok(pop_engine_run(p.engine, 0));
    expect_ok(pop_engine_read_tensor(p.engine, "a after", a, sizeof a));
    cr_assert_eq(a[PROBED][2], 60, "%s: %d", engines[i], a[PROBED][2]);
    finish(&p);
  }
}
