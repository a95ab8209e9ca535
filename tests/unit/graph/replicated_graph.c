/* Replicas of an existing graph, in the graph only: what is made for each, and what must not be
 * mixed. replicas.c runs them. */
#include "support/graph_test.h"

#include <populus/engine.h>
#include <populus/introspection.h>
#include <populus/stream.h>

enum { REPLICAS = 3, TILES = 4 };

static const pop_field fields[] = {
    {.name = "in", .kind = POP_FIELD_INPUT, .layout = POP_LAYOUT_SPAN, .type = POP_INT},
    {.name = "count", .kind = POP_FIELD_CONSTANT, .layout = POP_LAYOUT_SCALAR, .type = POP_INT},
    {.name = "wide", .kind = POP_FIELD_INPUT, .layout = POP_LAYOUT_SPAN, .type = POP_UNSIGNED_INT}};
static const pop_vertex_type vertex_type = {
    .name = "V", .fields = (pop_field *)fields, .num_fields = 3};

/* Three replicas of four tiles, made of a part of a larger graph: tiles 2 to 13. */
typedef struct graphs {
  pop_graph *top, *parent, *replicated;
} graphs;

static graphs new_graphs(void)
{
  graphs g = {.top = new_graph_with_tiles(16)};
  g.parent = pop_graph_create_virtual_graph(g.top, 2, 2 + REPLICAS * TILES);
  g.replicated = pop_graph_create_replicated_graph(g.parent, REPLICAS);
  add_vertex_type(g.top, &vertex_type);
  return g;
}

static pop_tensor add_ints(pop_graph *graph, size_t count)
{
  return pop_graph_add_variable(graph, POP_INT, &count, 1, "v");
}

Test(replicated_graph, is_the_graph_of_one_replica)
{
  graphs g = new_graphs();
  assert_no_error(g.top);
  cr_assert_eq(pop_graph_num_tiles(g.replicated), TILES);
  cr_assert_eq(pop_graph_replication_factor(g.replicated), REPLICAS);
  cr_assert_eq(pop_graph_replication_factor(g.parent), 1);
  cr_assert_eq(pop_graph_replication_factor(g.top), 1);
  cr_assert_eq(pop_graph_get_target(g.replicated)->tiles_per_ipu, TILES);
  cr_assert_eq(pop_graph_parent(g.replicated), g.parent);
  cr_assert_eq(pop_graph_top_level_graph(g.replicated), g.top);
  cr_assert_eq(pop_graph_physical_tile(g.replicated, 1), 3);
  pop_graph *part = pop_graph_create_virtual_graph(g.replicated, 1, 3);
  cr_assert_eq(pop_graph_replication_factor(part), REPLICAS);
  cr_assert_eq(pop_graph_num_tiles(part), 2);
  assert_no_error(g.top);
  pop_graph_free(g.top);
}

/* Of four IPUs: two replicas of two IPUs each, or eight of half an IPU. */
Test(replicated_graph, has_the_target_of_a_replica)
{
  pop_target target;
  cr_assert_null(pop_target_create("ipu2", 4, &target));
  pop_graph *graph = pop_graph_create(&target);
  cr_assert_eq(pop_graph_get_target(pop_graph_create_replicated_graph(graph, 2))->num_ipus, 2);
  cr_assert_eq(pop_graph_get_target(pop_graph_create_replicated_graph(graph, 8))->tiles_per_ipu,
               736);
  assert_no_error(graph);
  pop_graph_free(graph);
}

Test(replicated_graph, numbers_of_replicas_are_checked)
{
  static const struct {
    uint32_t first, second;
    const char *words[5];
  } cases[] = {
      {0, 0, {"pop_graph_create_replicated_graph", "0 replicas on 12 tiles", NULL}},
      {5, 0, {"5 replicas on 12 tiles", "as many tiles as the others", NULL}},
      {24, 0, {"24 replicas on 12 tiles", NULL}},
      {3, 2, {"replicated already", "of 3 replicas", NULL}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pop_graph *graph = new_graph_with_tiles(12);
    pop_graph *replicated = pop_graph_create_replicated_graph(graph, cases[i].first);
    if (cases[i].second) pop_graph_create_replicated_graph(replicated, cases[i].second);
    assert_error(graph, POP_ERROR_INVALID_ARGUMENT, cases[i].words, "number");
    pop_graph_free(graph);
  }
  pop_target target;
  cr_assert_null(pop_target_create("ipu2", 4, &target));
  pop_graph *graph = pop_graph_create_replicated(&target, 2);
  pop_graph_create_replicated_graph(graph, 2);
  assert_error(graph, POP_ERROR_INVALID_ARGUMENT,
               (const char *[5]){"replicated already", "of 2 replicas"}, "both");
  pop_graph_free(graph);
}

/* ---- objects in each replica ---- */

static void assert_on_tile(pop_graph *graph, pop_tensor t, size_t begin, size_t end, size_t tile);

typedef struct wanted_tile {
  size_t tile, found;
} wanted_tile;

static void note_tile(void *context, size_t tile, size_t begin, size_t end)
{
  wanted_tile *wanted = context;
  wanted->found += tile == wanted->tile ? end - begin : 0;
}

static void assert_on_tile(pop_graph *graph, pop_tensor t, size_t begin, size_t end, size_t tile)
{
  wanted_tile wanted = {.tile = tile};
  pop_graph_visit_tile_mapping(graph, pop_tensor_slice(t, begin, end, 0), note_tile, &wanted);
  cr_assert_eq(wanted.found, end - begin, "%zu of elements %zu to %zu on tile %zu", wanted.found,
               begin, end, tile);
}

Test(replicated_graph, a_variable_is_in_each)
{
  graphs g = new_graphs();
  pop_tensor before = add_ints(g.top, 5);
  pop_tensor v = add_ints(g.replicated, 8);
  cr_assert_eq(pop_graph_num_variables(g.top), 1 + REPLICAS);
  pop_graph_map_linearly(g.replicated, v, 0, 0);
  pop_graph_set_tile_mapping(g.replicated, pop_tensor_slice(v, 6, 8, 0), 0);
  assert_on_tile(g.replicated, v, 2, 4, 1);
  pop_tensor all = pop_graph_get_non_replicated_tensor(g.parent, v);
  assert_no_error(g.top);
  cr_assert_eq(pop_tensor_rank(all), 2);
  cr_assert(pop_tensor_dim(all, 0) == REPLICAS && pop_tensor_dim(all, 1) == 8);
  for (size_t r = 0; r < REPLICAS; r++) {
    pop_tensor one = pop_tensor_index(all, r);
    cr_assert(pop_tensor_is_contiguous(one));
    assert_on_tile(g.top, one, 0, 2, 2 + TILES * r);
    assert_on_tile(g.top, one, 4, 6, 2 + TILES * r + 2);
    assert_on_tile(g.top, one, 6, 8, 2 + TILES * r);
    cr_assert(pop_tensor_intersects_with(v, one));
    cr_assert_not(pop_tensor_equal(v, one));
    cr_assert_not(pop_tensor_intersects_with(one, before));
    for (size_t other = 0; other < r; other++)
      cr_assert_not(pop_tensor_intersects_with(one, pop_tensor_index(all, other)));
  }
  assert_no_error(g.top);
  pop_graph_free(g.top);
}

/* A view of the replicated tensor is the same view in each replica. */
Test(replicated_graph, tensor_operations_are_those_of_one)
{
  graphs g = new_graphs();
  pop_tensor v = add_ints(g.replicated, 6), w = add_ints(g.replicated, 6);
  const size_t shape[] = {2, 3}, begin[] = {0, 1}, end[] = {2, 3};
  pop_tensor parts[] = {pop_tensor_reshape(v, shape, 2),
                        pop_tensor_reverse(pop_tensor_reshape(w, shape, 2), 1)};
  pop_tensor view =
      pop_tensor_transpose(pop_tensor_slice_nd(pop_concat(parts, 2, 1), begin, end, 2));
  pop_tensor all_v = pop_graph_get_non_replicated_tensor(g.top, v);
  pop_tensor all_w = pop_graph_get_non_replicated_tensor(g.top, w);
  pop_tensor all = pop_graph_get_non_replicated_tensor(g.top, view);
  for (size_t r = 0; r < REPLICAS; r++) {
    pop_tensor of[] = {
        pop_tensor_reshape(pop_tensor_index(all_v, r), shape, 2),
        pop_tensor_reverse(pop_tensor_reshape(pop_tensor_index(all_w, r), shape, 2), 1)};
    pop_tensor expected =
        pop_tensor_transpose(pop_tensor_slice_nd(pop_concat(of, 2, 1), begin, end, 2));
    cr_assert(pop_tensor_equal(pop_tensor_index(all, r), expected), "replica %zu", r);
  }
  pop_tensor none = pop_graph_get_non_replicated_tensor(g.top, pop_tensor_slice(v, 2, 2, 0));
  cr_assert(pop_tensor_dim(none, 0) == REPLICAS && pop_tensor_dim(none, 1) == 0);
  assert_no_error(g.top);
  pop_graph_free(g.top);
}

Test(replicated_graph, a_clone_is_in_each)
{
  static const pop_clone_method methods[] = {POP_CLONE_PRESERVE_ORDER_AND_ALIASES,
                                             POP_CLONE_CREATE_NEW_ORDER};
  for (size_t m = 0; m < 2; m++) {
    graphs g = new_graphs();
    pop_tensor v = add_ints(g.replicated, 8);
    pop_graph_map_linearly(g.replicated, v, 0, 0);
    pop_tensor clone = pop_graph_clone(g.replicated, POP_FLOAT, v, "clone", methods[m]);
    cr_assert_eq(pop_graph_num_variables(g.top), 2 * REPLICAS);
    pop_tensor all = pop_graph_get_non_replicated_tensor(g.top, clone);
    for (size_t r = 0; r < REPLICAS; r++)
      for (size_t i = 0; i < 8; i++)
        assert_on_tile(g.top, pop_tensor_index(all, r), i, i + 1, 2 + TILES * r + i / 2);
    assert_no_error(g.top);
    pop_graph_free(g.top);
  }
}

static void note_edge(void *context, const char *field, size_t row, pop_tensor tensor)
{
  (void)row;
  if (strcmp(field, "in") == 0) *(pop_tensor *)context = tensor;
}

Test(replicated_graph, a_vertex_is_in_each)
{
  graphs g = new_graphs();
  pop_graph *part = pop_graph_create_virtual_graph(g.replicated, 2, 4);
  pop_tensor v = add_ints(g.replicated, 8);
  pop_compute_set set = pop_graph_add_compute_set(g.top, "set");
  pop_vertex other = pop_graph_add_vertex(g.top, set, "V");
  pop_graph_set_vertex_tile(g.top, other, 15);
  pop_vertex vertex = pop_graph_add_vertex(part, set, "V");
  pop_graph_connect(g.replicated, vertex, "in", pop_tensor_slice(v, 3, 7, 0));
  pop_graph_set_field_int(g.replicated, vertex, "count", 7);
  pop_graph_set_vertex_tile(part, vertex, 1);
  pop_graph_set_cycle_estimate(part, vertex, 99);
  assert_no_error(g.top);
  cr_assert_eq(pop_graph_num_vertices(g.top), 1 + REPLICAS);
  pop_tensor all = pop_graph_get_non_replicated_tensor(g.top, pop_tensor_slice(v, 3, 7, 0));
  for (size_t r = 0; r < REPLICAS; r++) {
    pop_vertex_info info;
    cr_assert_null(pop_graph_vertex_info(g.top, 1 + r, &info));
    cr_assert_eq(info.tile, 2 + TILES * r + 3);
    pop_tensor connected = {0};
    cr_assert_null(pop_graph_visit_vertex_fields(g.top, 1 + r, note_edge, &connected));
    cr_assert(pop_tensor_equal(connected, pop_tensor_index(all, r)), "replica %zu", r);
    const vertex_type_entry *type = &g.top->vertex_types[g.top->vertices[1 + r].type];
    cr_assert_str_eq(type->type->name, "V");
    cr_assert_eq(g.top->vertices[1 + r].cycle_estimate, 99);
    cr_assert_eq(g.top->field_values[g.top->vertices[1 + r].first_value].bytes[0], 7);
  }
  pop_graph_free(g.top);
}

Test(replicated_graph, constant_counts_are_widened_in_each)
{
  graphs g = new_graphs();
  const uint16_t narrow[] = {7, 65535};
  pop_compute_set set = pop_graph_add_compute_set(g.top, "set");
  pop_vertex vertex = pop_graph_add_vertex(g.replicated, set, "V");
  pop_tensor counts = pop_graph_add_constant(g.replicated, POP_UNSIGNED_SHORT, (const size_t[]){2},
                                             1, narrow, "counts");
  pop_graph_connect(g.replicated, vertex, "wide", counts);
  assert_no_error(g.top);
  for (size_t r = 0; r < REPLICAS; r++) {
    uint32_t wide[2] = {0};
    pop_vertex one = {g.top, vertex.index + (uint32_t)r};
    cr_assert_eq(pop_graph_vertex_field_values(g.top, one, "wide", wide, 2), 2);
    cr_assert(wide[0] == 7 && wide[1] == 65535);
  }
  pop_graph_free(g.top);
}

Test(replicated_graph, the_number_of_a_replica_is_no_known_value)
{
  graphs g = new_graphs();
  uint32_t value = 99;
  pop_tensor index = pop_graph_add_replication_index_constant(g.replicated, "index");
  cr_assert_eq(pop_tensor_constant_values(index, &value, 1), SIZE_MAX);
  pop_tensor first = pop_tensor_index(pop_graph_get_non_replicated_tensor(g.top, index), 2);
  cr_assert_eq(pop_tensor_constant_values(first, &value, 1), 1);
  cr_assert_eq(value, 2);
  const float one = 1;
  pop_tensor same = pop_graph_add_constant(g.replicated, POP_FLOAT, NULL, 0, &one, "one");
  cr_assert_eq(pop_tensor_constant_values(same, &value, 1), 1);
  pop_graph_free(g.top);
}

/* Memory for a few thousand million of them would end the process. */
Test(replicated_graph, their_number_is_limited_on_the_cpu)
{
  pop_target cpu;
  pop_target_create_cpu(&cpu);
  pop_graph *graph = pop_graph_create(&cpu);
  pop_graph_create_replicated_graph(graph, UINT32_MAX);
  assert_error(graph, POP_ERROR_INVALID_ARGUMENT,
               (const char *const[5]){"4294967295 replicas", "at most"}, "in a graph");
  pop_graph_free(graph);
  graph = pop_graph_create_replicated(&cpu, POP_TARGET_MAX_IPUS + 1);
  assert_error(graph, POP_ERROR_INVALID_ARGUMENT,
               (const char *const[5]){"1025 replicas", "at most 1024"}, "of a graph");
  pop_graph_free(graph);
}

/* ---- replicas that may not be mixed ---- */

typedef struct mix {
  graphs g;
  pop_graph *others; /* other replicas on the same tiles */
  pop_tensor ours, theirs, plain;
  pop_vertex vertex, plain_vertex;
} mix;

static void concat(mix *x)
{
  pop_concat((const pop_tensor[]){x->ours, x->plain}, 2, 0);
}
static void copy(mix *x)
{
  pop_program_copy(x->plain, x->ours, "copy");
}
static void copy_of_others(mix *x)
{
  pop_program_copy(x->theirs, x->ours, "copy");
}
static void copy_across(mix *x)
{
  pop_program_cross_replica_copy(x->ours, x->theirs, NULL, 0, "copy");
}
static void map_from_outside(mix *x)
{
  pop_graph_set_tile_mapping(x->g.top, x->ours, 0);
}
static void map_all_linearly(mix *x)
{
  pop_graph_map_linearly(x->g.replicated, x->plain, 0, 0);
}
static void ask_for_mapping(mix *x)
{
  pop_graph_visit_tile_mapping(x->others, x->ours, note_tile, &(wanted_tile){0});
}
static void connect_plain(mix *x)
{
  pop_graph_connect(x->g.replicated, x->vertex, "in", x->plain);
}
static void connect_plain_vertex(mix *x)
{
  pop_graph_connect(x->g.top, x->plain_vertex, "in", x->ours);
}
static void tile_of_vertex(mix *x)
{
  pop_graph_set_vertex_tile(x->g.parent, x->vertex, 0);
}
static void stream_to_plain(mix *x)
{
  pop_stream s = pop_graph_add_host_to_device_fifo(x->g.replicated, "s", POP_INT, 2);
  pop_program_copy_from_stream(s, x->plain, "copy");
}
static void plain_stream(mix *x)
{
  pop_stream s = pop_graph_add_device_to_host_fifo(x->g.top, "s", POP_INT, 2);
  pop_program_copy_to_stream(x->ours, s, "copy");
}
static void plain_rows(mix *x)
{
  pop_remote_buffer b = pop_graph_add_remote_buffer(x->g.top, "b", POP_INT, 2, 1);
  pop_program_copy_to_remote_buffer(x->ours, b, (pop_tensor){0}, "copy");
}
static void plain_offsets(mix *x)
{
  pop_remote_buffer b = pop_graph_add_remote_buffer(x->g.replicated, "b", POP_INT, 1, 2);
  pop_program_copy_to_remote_buffer(x->ours, b, x->plain, "copy");
}
static void clone_from_outside(mix *x)
{
  pop_graph_clone(x->g.parent, POP_INT, x->ours, "clone", POP_CLONE_CREATE_NEW_ORDER);
}
static void view_of_plain(mix *x)
{
  pop_graph_get_non_replicated_tensor(x->g.top, x->plain);
}
static void decide(mix *x)
{
  pop_program_if(pop_tensor_index(x->ours, 0), (pop_program){0}, (pop_program){0}, "if");
}
static void decide_again(mix *x)
{
  pop_program body = pop_program_nop(x->g.top, "body");
  pop_program_repeat_while_true(body, pop_tensor_index(x->ours, 0), body, "while");
}

static const struct {
  void (*make)(mix *x);
  pop_error_code code;
  const char *words[5];
} mixes[] = {
    {concat,
     POP_ERROR_INVALID_ARGUMENT,
     {"pop_concat", "of no replicated graph", "of replicated graph 1, of 3 replicas",
      "pop_graph_get_non_replicated_tensor"}},
    {copy, POP_ERROR_INVALID_ARGUMENT, {"pop_program_copy", "of no replicated graph"}},
    {copy_of_others,
     POP_ERROR_INVALID_ARGUMENT,
     {"replicated graph 1, of 3", "replicated graph 2, of 6"}},
    {copy_across,
     POP_ERROR_INVALID_ARGUMENT,
     {"pop_program_cross_replica_copy", "replicated graph 2"}},
    {map_from_outside,
     POP_ERROR_INVALID_ARGUMENT,
     {"pop_graph_set_tile_mapping", "of replicated graph 1"}},
    {map_all_linearly,
     POP_ERROR_INVALID_ARGUMENT,
     {"pop_graph_map_linearly", "of no replicated graph"}},
    {ask_for_mapping,
     POP_ERROR_INVALID_ARGUMENT,
     {"pop_graph_visit_tile_mapping", "replicated graph 2"}},
    {connect_plain, POP_ERROR_INVALID_ARGUMENT, {"pop_graph_connect", "of no replicated graph"}},
    {connect_plain_vertex,
     POP_ERROR_INVALID_ARGUMENT,
     {"pop_graph_connect", "of replicated graph 1"}},
    {tile_of_vertex,
     POP_ERROR_INVALID_TILE_MAPPING,
     {"pop_graph_set_vertex_tile", "of replicated graph 1", "the tile of no replicated graph"}},
    {stream_to_plain,
     POP_ERROR_INVALID_ARGUMENT,
     {"pop_program_copy_from_stream", "of no replicated graph"}},
    {plain_stream,
     POP_ERROR_INVALID_ARGUMENT,
     {"pop_program_copy_to_stream", "of replicated graph 1"}},
    {plain_rows,
     POP_ERROR_INVALID_ARGUMENT,
     {"pop_program_copy_to_remote_buffer", "of replicated graph 1"}},
    {plain_offsets,
     POP_ERROR_INVALID_ARGUMENT,
     {"pop_program_copy_to_remote_buffer", "of no replicated graph"}},
    {clone_from_outside, POP_ERROR_INVALID_ARGUMENT, {"pop_graph_clone", "of replicated graph 1"}},
    {view_of_plain,
     POP_ERROR_INVALID_ARGUMENT,
     {"pop_graph_get_non_replicated_tensor", "of no replicated graph"}},
    {decide,
     POP_ERROR_CONTROL_PROGRAM,
     {"pop_program_if", "cannot go different ways", "pop_graph_get_non_replicated_tensor"}},
    {decide_again, POP_ERROR_CONTROL_PROGRAM, {"pop_program_repeat_while_true", "in step"}},
};

Test(replicated_graph, handles_of_different_replicas_do_not_mix)
{
  for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++) {
    mix x = {.g = new_graphs()};
    x.others = pop_graph_create_replicated_graph(x.g.parent, 6);
    x.ours = add_ints(x.g.replicated, 2);
    x.theirs = add_ints(x.others, 2);
    x.plain = add_ints(x.g.top, 2);
    pop_compute_set set = pop_graph_add_compute_set(x.g.top, "set");
    x.vertex = pop_graph_add_vertex(x.g.replicated, set, "V");
    x.plain_vertex = pop_graph_add_vertex(x.g.top, set, "V");
    assert_no_error(x.g.top);
    mixes[i].make(&x);
    assert_error(x.g.top, mixes[i].code, mixes[i].words, mixes[i].words[0]);
    pop_graph_free(x.g.top);
  }
}

Test(replicated_graph, a_graph_that_is_loaded_for_each_has_no_view_of_all)
{
  pop_target target;
  cr_assert_null(pop_target_create("ipu2", 4, &target));
  pop_graph *graph = pop_graph_create_replicated(&target, 2);
  pop_graph_get_non_replicated_tensor(graph, add_ints(graph, 2));
  assert_error(
      graph, POP_ERROR_INVALID_ARGUMENT,
      (const char *[5]){"pop_graph_get_non_replicated_tensor", "pop_graph_create_replicated made"},
      "no view");
  pop_graph_free(graph);
}

/* ---- programs of the parent ---- */

static void ok(pop_error *error)
{
  cr_assert_null(error, "%s", error ? pop_error_message(error) : "");
}

/* Data for replica 1 only, a decision of its own, and a sum of all replicas in the parent. */
Test(replicated_graph, the_parent_may_do_something_with_one_of_them)
{
  pop_graph *top = new_graph_with_tiles(8);
  pop_graph *replicated = pop_graph_create_replicated_graph(top, 4);
  pop_tensor v = add_ints(replicated, 2), source = add_ints(top, 2);
  pop_graph_map_linearly(replicated, v, 0, 0);
  pop_graph_set_tile_mapping(top, source, 5);
  pop_graph_set_initial_value(replicated, v, (const int[]){1, 0});
  pop_tensor all = pop_graph_get_non_replicated_tensor(top, v);
  pop_graph_set_initial_value(top, pop_tensor_index(pop_tensor_index(all, 3), 0), &(int){0});
  pop_program main = pop_program_sequence(top, "main");
  pop_sequence_add(main, pop_program_copy(source, pop_tensor_index(all, 1), "to one"));
  for (size_t r = 2; r < 4; r++) /* replica 2 says yes, replica 3 no */
    pop_sequence_add(main, pop_program_if(pop_tensor_index(pop_tensor_index(all, r), 0),
                                          pop_program_copy(source, pop_tensor_index(all, r), ""),
                                          (pop_program){0}, "if"));
  pop_graph_create_host_write(top, "source", source);
  pop_graph_create_host_read(top, "v", v);
  pop_graph_create_host_read(top, "v of 1", pop_tensor_index(all, 1));
  assert_no_error(top);
  pop_engine *engine;
  ok(pop_engine_create(top, &main, 1, NULL, 0, &engine));
  ok(pop_engine_load(engine));
  ok(pop_engine_write_tensor(engine, "source", (int[]){8, 9}, 8));
  ok(pop_engine_run(engine, 0));
  int found[4][2], one[2];
  ok(pop_engine_read_tensor(engine, "v", found, sizeof found));
  ok(pop_engine_read_tensor(engine, "v of 1", one, sizeof one));
  cr_assert_arr_eq(found, ((int[4][2]){{1, 0}, {8, 9}, {8, 9}, {0, 0}}), sizeof found);
  cr_assert_arr_eq(one, found[1], sizeof one);
  pop_engine_free(engine);
  pop_graph_free(top);
}

/* The condition is tested in all replicas. */
Test(replicated_graph, an_abort_has_a_condition_in_each)
{
  for (int bad = 0; bad < 4; bad++) {
    pop_graph *top = new_graph_with_tiles(6);
    pop_graph *replicated = pop_graph_create_replicated_graph(top, 3);
    pop_tensor v = add_ints(replicated, 1);
    pop_graph_set_tile_mapping(replicated, v, 1);
    pop_program main = pop_program_abort_on_condition(v, "not a number", "check");
    pop_graph_create_host_write(top, "v", v);
    pop_engine *engine;
    ok(pop_engine_create(top, &main, 1, NULL, 0, &engine));
    ok(pop_engine_load(engine));
    int values[3] = {0};
    if (bad < 3) values[bad] = 1;
    ok(pop_engine_write_tensor(engine, "v", values, sizeof values));
    pop_error *error = pop_engine_run(engine, 0);
    if (bad < 3) {
      char where[32];
      snprintf(where, sizeof where, "on tile %d", 2 * bad + 1);
      cr_assert_not_null(error);
      cr_assert_not_null(strstr(pop_error_message(error), "not a number"), "%s",
                         pop_error_message(error));
      cr_assert_not_null(strstr(pop_error_message(error), where), "%s", pop_error_message(error));
      pop_error_free(error);
    } else {
      ok(error);
    }
    pop_engine_free(engine);
    pop_graph_free(top);
  }
}
