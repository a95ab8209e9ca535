/* kinds_graph: a program with vertices of the supervisor, of all workers and of single workers, in
 * all combinations, for tests of measured cycles. Compiles it and runs it twice;
 * POPLAR_ENGINE_OPTIONS names the archive. */
#include <populus/populus.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char codelets[] =
    "#include <populus/vertex.h>\n"
    "typedef struct { INOUT(int) n; unsigned rounds; } One;\n"
    "COMPUTE(One)\n"
    "{\n"
    "  for (unsigned i = 0; i < vertex->rounds; ++i) *(volatile int *)vertex->n += 1;\n"
    "  return true;\n"
    "}\n"
    "typedef struct { INOUT(int) n; unsigned rounds; } All;\n"
    "MULTI_COMPUTE(All)\n"
    "{\n"
    "  for (unsigned i = 0; i < worker * vertex->rounds; ++i) (void)*(volatile int *)vertex->n;\n"
    "  return true;\n"
    "}\n"
    "typedef struct { INOUT(int) n; unsigned rounds; } Tile;\n"
    "SUPERVISOR_COMPUTE(Tile)\n"
    "{\n"
    "  for (unsigned i = 0; i < vertex->rounds; ++i) *(volatile int *)vertex->n += 1;\n"
    "  return true;\n"
    "}\n";

/* By compute set and tile: T, A and 1 stand for vertices of the three types. In the first compute
 * set the slowest tile calls a supervisor vertex; in the second it does not, though others do. */
static const char *const placed[][4] = {{"TTTTTTTT", "T1111111111111", "A1", "1"},
                                        {"T", "TA", "1111111111111", ""},
                                        {"A", "11", "", "AA"}};
enum { NUM_SETS = sizeof placed / sizeof *placed, TILES = 4, MOST = 64 };

static void check(pop_error *error)
{
  if (!error) return;
  fprintf(stderr, "kinds_graph: %s\n", pop_error_message(error));
  exit(1);
}

static void add_vertices(pop_graph *graph, pop_compute_set set, const char *kinds, size_t tile,
                         pop_tensor elements, size_t *next)
{
  for (size_t i = 0; i < strlen(kinds); ++i, ++*next) {
    const char *type = kinds[i] == 'T' ? "Tile" : kinds[i] == 'A' ? "All" : "One";
    pop_tensor element = pop_tensor_index(elements, *next);
    pop_vertex vertex = pop_graph_add_vertex(graph, set, type);
    pop_graph_set_tile_mapping(graph, element, tile);
    pop_graph_set_vertex_tile(graph, vertex, tile);
    pop_graph_connect(graph, vertex, "n", element);
    pop_graph_set_field_int(graph, vertex, "rounds", (int64_t)(1 + i * 7 % 5));
  }
}

int main(void)
{
  pop_target target;
  check(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = TILES;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets_source(graph, "c", codelets, "kinds.c", NULL);
  pop_tensor elements =
      pop_graph_add_variable(graph, POP_INT, (const size_t[]){MOST}, 1, "elements");
  pop_graph_map_linearly(graph, elements, 1, 1);
  pop_program main_program = pop_program_sequence(graph, "main");
  size_t next = 0;
  for (size_t s = 0; s < NUM_SETS; ++s) {
    char name[8];
    snprintf(name, sizeof name, "set%zu", s);
    pop_compute_set set = pop_graph_add_compute_set(graph, name);
    for (size_t tile = 0; tile < TILES; ++tile)
      add_vertices(graph, set, placed[s][tile], tile, elements, &next);
    pop_sequence_add(main_program, pop_program_execute(graph, set, NULL));
  }
  pop_engine *engine;
  check(pop_engine_create(graph, &main_program, 1, NULL, 0, &engine));
  pop_graph_free(graph);
  check(pop_engine_load(engine));
  for (int i = 0; i < 2; ++i) check(pop_engine_run(engine, 0));
  pop_engine_free(engine);
  return 0;
}
