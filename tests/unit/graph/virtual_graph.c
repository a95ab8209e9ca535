/* Virtual graphs: their tiles are tiles of the graph that they are a view of. */
#include "support/graph_test.h"

static pop_graph *new_graph_with_ipus(uint32_t ipus, uint32_t tiles)
{
  pop_target target;
  pop_error *error = pop_target_create("ipu2", ipus, &target);
  cr_assert_null(error);
  target.tiles_per_ipu = tiles;
  return pop_graph_create(&target);
}

static void assert_tiles(const pop_graph *view, const size_t *tiles, size_t count)
{
  cr_assert_eq(pop_graph_num_tiles(view), count);
  for (size_t i = 0; i < count; i++)
    cr_assert_eq(pop_graph_physical_tile(view, i), tiles[i], "tile %zu is %zu", i,
                 pop_graph_physical_tile(view, i));
  cr_assert_eq(pop_graph_physical_tile(view, count), SIZE_MAX);
}

static void assert_target(const pop_graph *view, uint32_t ipus, uint32_t tiles_per_ipu)
{
  cr_assert_eq(pop_graph_get_target(view)->num_ipus, ipus);
  cr_assert_eq(pop_graph_get_target(view)->tiles_per_ipu, tiles_per_ipu);
}

Test(virtual_graph, ranges_lists_and_ipus)
{
  pop_graph *graph = new_graph_with_ipus(3, 4);
  pop_graph *range = pop_graph_create_virtual_graph(graph, 2, 6);
  assert_tiles(range, (const size_t[]){2, 3, 4, 5}, 4);
  assert_target(range, 2, 2);
  pop_graph *ipus = pop_graph_create_virtual_graph_by_ipus(graph, 1, 3);
  assert_tiles(ipus, (const size_t[]){4, 5, 6, 7, 8, 9, 10, 11}, 8);
  assert_target(ipus, 2, 4);
  pop_graph *list = pop_graph_create_virtual_graph_by_tiles(graph, (const size_t[]){7, 0, 11}, 3);
  assert_tiles(list, (const size_t[]){7, 0, 11}, 3);
  assert_target(list, 1, 3);
  pop_graph *each = pop_graph_create_virtual_graph_per_ipu(graph, (const size_t[]){3, 1}, 2);
  assert_tiles(each, (const size_t[]){3, 1, 7, 5, 11, 9}, 6);
  assert_target(each, 3, 2);
  cr_assert_eq(pop_graph_parent(each), graph);
  cr_assert_null(pop_graph_parent(graph));
  cr_assert_eq(pop_graph_top_level_graph(graph), graph);
  assert_no_error(graph);
  pop_graph_free(each); /* does nothing */
  assert_tiles(each, (const size_t[]){3, 1, 7, 5, 11, 9}, 6);
  pop_graph_free(graph);
}

/* A CPU may say that it has any number of tiles that a target can have. */
Test(virtual_graph, views_of_a_cpu_with_many_tiles)
{
  pop_target cpu;
  pop_target_create_cpu(&cpu);
  cpu.num_ipus = 1024;
  cpu.tiles_per_ipu = 2000;
  pop_graph *graph = pop_graph_create(&cpu);
  pop_graph *each = pop_graph_create_virtual_graph_per_ipu(graph, (const size_t[]){1999, 7}, 2);
  assert_no_error(graph);
  cr_assert_eq(pop_graph_num_tiles(each), 2048);
  cr_assert_eq(pop_graph_num_tiles(pop_graph_create_virtual_graph_by_ipus(graph, 1000, 1024)),
               48000);
  assert_no_error(graph);
  pop_graph_create_virtual_graph_by_ipus(graph, 1000, 100000);
  assert_error(graph, POP_ERROR_INVALID_TILE_MAPPING, (const char *const[5]){"IPUs"}, "too many");
  pop_graph_free(graph);
}

Test(virtual_graph, views_of_views_end_at_the_top)
{
  pop_graph *graph = new_graph_with_ipus(2, 6);
  pop_graph *outer = pop_graph_create_virtual_graph_per_ipu(graph, (const size_t[]){5, 3, 1}, 3);
  pop_graph *inner = pop_graph_create_virtual_graph_by_ipus(outer, 1, 2);
  assert_tiles(inner, (const size_t[]){11, 9, 7}, 3);
  pop_graph *last = pop_graph_create_virtual_graph(inner, 1, 3);
  assert_tiles(last, (const size_t[]){9, 7}, 2);
  cr_assert_eq(pop_graph_parent(last), inner);
  cr_assert_eq(pop_graph_top_level_graph(last), graph);
  pop_graph_free(graph);
}

Test(virtual_graph, what_is_made_with_a_view_is_in_the_graph)
{
  pop_graph *graph = new_graph_with_ipus(2, 4);
  pop_graph *view = pop_graph_create_virtual_graph(graph, 4, 8);
  static const pop_vertex_type type = {.name = "V"};
  add_vertex_type(graph, &type);
  const size_t shape[] = {4};
  pop_tensor a = pop_graph_add_variable(view, POP_INT, shape, 1, "a");
  pop_graph_set_tile_mapping(view, pop_tensor_index(a, 0), 3);
  pop_graph_set_tile_mapping(graph, pop_tensor_index(a, 1), 3);
  pop_tensor b = pop_graph_add_constant(view, POP_INT, shape, 1, (const int[]){1, 2, 3, 4}, "b");
  pop_graph_map_linearly(view, b, 0, 0);
  pop_compute_set set = pop_graph_add_compute_set(view, "set");
  pop_vertex v = pop_graph_add_vertex(view, set, "V");
  pop_graph_set_vertex_tile(view, v, 1);
  pop_program p = pop_program_sequence(view, "main");
  pop_sequence_add(p, pop_program_execute(view, set, "x"));
  pop_tensor c = pop_graph_add_variable(view, POP_INT, shape, 1, "c");
  pop_sequence_add(p, pop_program_copy(a, c, "y"));
  assert_no_error(view);
  cr_assert_eq(a.graph, graph);
  cr_assert_eq(v.graph, graph);
  cr_assert_eq(p.graph, graph);
  size_t count;
  const mapping_interval *m = graph_mapping(graph, 0, &count);
  cr_assert_eq(count, 2);
  cr_assert(m[0].tile == 7 && m[1].tile == 3);
  m = graph_mapping(graph, 1, &count);
  cr_assert_eq(count, 4);
  for (uint32_t i = 0; i < 4; i++) cr_assert_eq(m[i].tile, 4 + i);
  cr_assert_eq(graph->vertices[0].tile, 5);
  pop_graph_free(graph);
}

static void note_tile(void *context, size_t tile, size_t begin, size_t end)
{
  size_t *tiles = context;
  for (size_t i = begin; i < end; i++) tiles[i] = tile;
}

Test(virtual_graph, elements_on_other_tiles_are_unmapped_for_a_view)
{
  pop_graph *graph = new_graph_with_ipus(2, 4);
  pop_graph *view = pop_graph_create_virtual_graph_by_tiles(graph, (const size_t[]){6, 2}, 2);
  pop_tensor a = pop_graph_add_variable(graph, POP_INT, (const size_t[]){8}, 1, "a");
  pop_graph_map_linearly(graph, a, 0, 0);
  size_t tiles[8];
  pop_graph_visit_tile_mapping(view, a, note_tile, tiles);
  for (size_t i = 0; i < 8; i++)
    cr_assert_eq(tiles[i], i == 6 ? 0 : i == 2 ? 1 : SIZE_MAX, "element %zu: %zu", i, tiles[i]);
  pop_graph_free(graph);
}

/* The message has the numbers that the program used. */
Test(virtual_graph, errors)
{
  static const struct {
    int what;
    const char *words[5];
  } cases[] = {
      {0, {"pop_graph_create_virtual_graph", "[3, 9)", "8", NULL}},
      {1, {"pop_graph_create_virtual_graph", "[4, 4)", "first < end", NULL}},
      {2, {"by_ipus", "IPUs [1, 3)", "2", NULL}},
      {3, {"by_tiles", "tile 8", "entry 1", "0 to 7", NULL}},
      {4, {"by_tiles", "tile 5", "twice", NULL}},
      {5, {"by_tiles", "no tiles", NULL}},
      {6, {"per_ipu", "tile 4", "0 to 3", NULL}},
      {7, {"pop_graph_set_tile_mapping", "tile 3", "virtual graph", "0 to 2", NULL}},
      {8, {"pop_graph_set_vertex_tile", "tile 3", "virtual graph", "0 to 2", NULL}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pop_graph *graph = new_graph_with_ipus(2, 4), *view = graph;
    static const pop_vertex_type type = {.name = "V"};
    add_vertex_type(graph, &type);
    pop_tensor a = pop_graph_add_variable(graph, POP_INT, (const size_t[]){8}, 1, "a");
    pop_vertex v = pop_graph_add_vertex(graph, pop_graph_add_compute_set(graph, "s"), "V");
    if (cases[i].what == 0) view = pop_graph_create_virtual_graph(graph, 3, 9);
    if (cases[i].what == 1) view = pop_graph_create_virtual_graph(graph, 4, 4);
    if (cases[i].what == 2) view = pop_graph_create_virtual_graph_by_ipus(graph, 1, 3);
    if (cases[i].what == 3)
      view = pop_graph_create_virtual_graph_by_tiles(graph, (const size_t[]){1, 8}, 2);
    if (cases[i].what == 4)
      view = pop_graph_create_virtual_graph_by_tiles(graph, (const size_t[]){5, 1, 5}, 3);
    if (cases[i].what == 5) view = pop_graph_create_virtual_graph_by_tiles(graph, NULL, 0);
    if (cases[i].what == 6)
      view = pop_graph_create_virtual_graph_per_ipu(graph, (const size_t[]){4}, 1);
    if (cases[i].what >= 7) view = pop_graph_create_virtual_graph(graph, 5, 8);
    if (cases[i].what == 7) pop_graph_set_tile_mapping(view, a, 3);
    if (cases[i].what == 8) pop_graph_set_vertex_tile(view, v, 3);
    char where[20];
    snprintf(where, sizeof where, "case %zu", i);
    assert_error(view, POP_ERROR_INVALID_TILE_MAPPING, cases[i].words, where);
    assert_error(graph, POP_ERROR_INVALID_TILE_MAPPING, cases[i].words, where);
    pop_graph_map_linearly(view, a, 0, 0); /* does nothing */
    pop_graph_free(graph);
  }
}

/* A CPU has as many tiles as there can be, whatever its target says. IPUs of several tiles are as
 * many as fit. */
Test(virtual_graph, IPUs_of_a_CPU_have_its_tiles)
{
  pop_target target;
  pop_target_create_cpu(&target);
  target.tiles_per_ipu = 16;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph *last = pop_graph_create_virtual_graph_by_ipus(graph, 131071, 131072);
  assert_no_error(graph);
  cr_assert_eq(pop_graph_num_tiles(last), 16);
  pop_graph_create_virtual_graph_by_ipus(graph, 0, 200000);
  assert_error(graph, POP_ERROR_INVALID_TILE_MAPPING,
               (const char *[5]){"by_ipus", "IPUs [0, 200000)", "131072"}, "IPUs");
  pop_graph_free(graph);
}
