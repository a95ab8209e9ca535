/* Graphs: life and errors, variables and their contents, vertices, edges, fields, handles. Codelets
 * are in codelets.c. */
#include "support/graph_test.h"

#include <math.h>
#include <populus/introspection.h>
#include <stdlib.h>
#include <time.h>

/* ---- vertex types ---- */

static const pop_field sum_fields[] = {
    {.name = "in",
     .kind = POP_FIELD_INPUT,
     .layout = POP_LAYOUT_SPAN,
     .type = POP_FLOAT,
     .size = 8},
    {.name = "out", .kind = POP_FIELD_OUTPUT, .type = POP_FLOAT, .offset = 8, .size = 4},
    {.name = "state",
     .kind = POP_FIELD_INOUT,
     .layout = POP_LAYOUT_ONE_PTR,
     .type = POP_INT,
     .offset = 12,
     .size = 4},
    {.name = "scale", .kind = POP_FIELD_CONSTANT, .type = POP_FLOAT, .offset = 16, .size = 4},
};
static const pop_vertex_type sum_type = {.name = "SumVertex",
                                         .symbol = "__runCodelet_SumVertex",
                                         .state_size = 20,
                                         .state_alignment = 4,
                                         .fields = sum_fields,
                                         .num_fields = 4,
                                         .source = "codelets.cpp:3"};

enum { NUM_PLAIN = POP_TYPE_COUNT };
static pop_field plain_fields[NUM_PLAIN]; /* one of each type, named as the type */
static pop_vertex_type plain_type = {.name = "lib::Plain<unsigned int,true>",
                                     .symbol = "__runCodelet_Plain",
                                     .state_size = 8 * NUM_PLAIN,
                                     .state_alignment = 8,
                                     .fields = plain_fields,
                                     .num_fields = NUM_PLAIN,
                                     .source = "plain.cpp:9"};

typedef struct world {
  pop_graph *graph;
  pop_compute_set set;
  pop_vertex sum, plain;
  pop_tensor v; /* float {10} */
} world;

static world new_world(void)
{
  for (int i = 0; i < NUM_PLAIN; i++)
    plain_fields[i] = (pop_field){.name = pop_type_name(i),
                                  .kind = POP_FIELD_CONSTANT,
                                  .type = i,
                                  .offset = 8 * (uint32_t)i,
                                  .size = pop_type_bytes(i),
                                  .alignment = pop_type_align(i)};
  world w = {.graph = new_graph()};
  add_vertex_type(w.graph, &sum_type);
  add_vertex_type(w.graph, &plain_type);
  w.set = pop_graph_add_compute_set(w.graph, "reduce");
  w.sum = pop_graph_add_vertex(w.graph, w.set, "SumVertex");
  w.plain = pop_graph_add_vertex(w.graph, w.set, "lib::Plain<unsigned int, true>");
  w.v = pop_graph_add_variable(w.graph, POP_FLOAT, (const size_t[]){10}, 1, "v");
  assert_no_error(w.graph);
  return w;
}

static const vertex *vertex_of(pop_vertex v)
{
  return &v.graph->vertices[v.index - 1];
}

/* ---- lifetime ---- */

Test(graph, keeps_a_copy_of_its_target)
{
  pop_target target;
  cr_assert_null(pop_target_create("ipu1", 2, &target));
  pop_graph *graph = pop_graph_create(&target);
  target.tiles_per_ipu = 1;
  cr_assert_eq(pop_target_num_tiles(pop_graph_get_target(graph)), 2432);
  assert_no_error(graph);
  pop_graph_free(graph);
  pop_graph_free(NULL);
}

Test(graph, a_bad_target_is_the_first_error)
{
  pop_target target;
  cr_assert_null(pop_target_create("ipu1", 1, &target));
  target.tiles_per_ipu = 0;
  pop_graph *bad = pop_graph_create(&target), *none = pop_graph_create(NULL);
  assert_error(bad, POP_ERROR_INVALID_ARGUMENT,
               (const char *[5]){"pop_graph_create", "tiles_per_ipu"}, "no tiles");
  assert_error(none, POP_ERROR_INVALID_ARGUMENT, (const char *[5]){"target is null"}, "null");
  pop_tensor v = pop_graph_add_variable(bad, POP_INT, NULL, 0, "v");
  cr_assert_not(pop_tensor_valid(v));
  cr_assert_not(pop_tensor_valid(pop_tensor_flatten(v)));
  pop_graph_free(bad);
  pop_graph_free(none);
}

Test(graph, P01_null_graphs_are_harmless)
{
  pop_tensor t = pop_graph_add_variable(NULL, POP_INT, NULL, 0, "v");
  pop_compute_set set = pop_graph_add_compute_set(NULL, "set");
  pop_vertex v = pop_graph_add_vertex(NULL, set, "SumVertex");
  pop_graph_connect(NULL, v, "in", t);
  pop_graph_set_field_int(NULL, v, "scale", 1);
  pop_graph_set_vertex_tile(NULL, v, 0);
  pop_graph_create_host_read(NULL, "handle", t);
  pop_graph_add_codelets(NULL, "codelets.gp", NULL);
  cr_assert_null(pop_graph_get_target(NULL));
  cr_assert_eq(v.index, 0);
  /* The thread's error is that of the first failed call. */
  pop_error *error = pop_graph_take_error(NULL);
  cr_assert_str_eq(pop_error_message(error), "pop_graph_add_variable: the graph is NULL");
  pop_error_free(error);
}

Test(graph, P01_freed_twice_and_used_afterwards)
{
  const size_t three = 3;
  pop_graph *graph = new_graph(), *view = pop_graph_create_virtual_graph(graph, 0, 2);
  pop_tensor t = pop_graph_add_variable(graph, POP_INT, &three, 1, "t");
  pop_graph_free(view); /* freed together with the graph */
  cr_assert_eq(pop_graph_num_tiles(view), 2);
  cr_assert_eq(pop_graph_retain(view), view); /* retains the whole graph */
  pop_graph_free(graph);
  cr_assert(pop_tensor_valid(t));
  pop_graph_release(view);
  cr_assert_not(pop_tensor_valid(t));
  pop_graph_free(graph);
  pop_graph_release(graph);
  pop_graph_free(view);
  pop_error_free(pop_graph_take_error(graph));

  /* Later graphs do not get the address of the freed one. */
  pop_graph *others[100];
  for (size_t i = 0; i < 100; i++) {
    others[i] = new_graph();
    cr_assert(others[i] != graph && others[i] != view);
    (void)pop_graph_add_variable(others[i], POP_INT, &three, 1, "t");
  }
  cr_assert_eq(pop_tensor_num_elements(t), 0);
  pop_tensor part = pop_tensor_slice(t, 0, 1, 0);
  cr_assert_eq(part.index, 0);
  cr_assert_str_eq(pop_error_message(pop_graph_error(graph)),
                   "pop_tensor_num_elements: the graph was freed; it cannot be used any more");
  pop_graph_map_linearly(others[0], t, 0, 0);
  cr_assert_not_null(strstr(pop_error_message(pop_graph_error(others[0])), "another graph"));
  for (size_t i = 0; i < 100; i++) pop_graph_free(others[i]);
}

/* ---- variables and contents ---- */

Test(graph, P03_Z03_sizes_of_variables)
{
  static const struct {
    size_t shape[3], rank;
    bool good;
  } cases[] = {
      {{0}, 0, true},
      {{0}, 1, true},
      {{UINT32_MAX}, 1, true},
      {{(size_t)1 << 32}, 1, false},
      {{65536, 65536}, 2, false},
      {{65537, 65535}, 2, true}, /* 2^32 - 1 */
      {{(size_t)1 << 32, (size_t)1 << 32}, 2, false},
      {{SIZE_MAX, SIZE_MAX, 0}, 3, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pop_graph *graph = new_graph();
    pop_graph_add_variable(graph, POP_HALF, cases[i].shape, cases[i].rank, "big");
    if (cases[i].good)
      assert_no_error(graph);
    else
      assert_error(graph, POP_ERROR_INVALID_ARGUMENT, (const char *[5]){"'big'", "2^32 - 1"},
                   "size");
    pop_graph_free(graph);
  }
}

Test(graph, P12_names_keep_their_bytes)
{
  char *longest = malloc(1 << 20);
  memset(longest, 'x', (1 << 20) - 1);
  longest[(1 << 20) - 1] = '\0';
  const char *const names[] = {"",          "a/b",          "two\nlines", "\"'",
                               "</script>", "\xff\xfe\x80", longest};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    pop_graph *graph = new_graph();
    pop_tensor v = pop_graph_add_variable(graph, POP_INT, (const size_t[]){2}, 1, names[i]);
    cr_assert_str_eq(graph->variables[0].name, names[i]);
    pop_graph_create_host_read(graph, names[i], v);
    cr_assert_str_eq(graph->handles[0].name, names[i]);
    pop_tensor_index(v, 2); /* quotes it */
    cr_assert_lt(strlen(pop_error_message(pop_graph_error(graph))), 400);
    pop_graph_free(graph);
  }
  free(longest);
}

Test(graph, constants_keep_their_data)
{
  pop_graph *graph = new_graph();
  int16_t data[] = {1, -2, 3, -4, 5, -6};
  pop_graph_add_constant(graph, POP_SHORT, (const size_t[]){2, 3}, 2, data, "c");
  memset(data, 0, sizeof data);
  assert_no_error(graph);
  const int16_t expected[] = {1, -2, 3, -4, 5, -6};
  cr_assert(graph->variables[0].constant);
  cr_assert_arr_eq(graph->variables[0].initial, expected, sizeof expected);
  pop_tensor none = pop_graph_add_constant(graph, POP_INT, (const size_t[]){0}, 1, NULL, "none");
  cr_assert_eq(pop_tensor_num_elements(none), 0);
  assert_no_error(graph);
  pop_graph_free(graph);
}

Test(graph, initial_values_go_where_the_view_points)
{
  pop_graph *graph = new_graph();
  pop_tensor a = pop_graph_add_variable(graph, POP_INT, (const size_t[]){2, 3}, 2, "a");
  pop_tensor b = pop_graph_add_variable(graph, POP_INT, (const size_t[]){2}, 1, "b");
  pop_graph_add_variable(graph, POP_INT, (const size_t[]){2}, 1, "untouched");
  const pop_tensor parts[] = {pop_tensor_flatten(pop_tensor_transpose(a)),
                              pop_tensor_reverse(b, 0)};
  const int32_t data[] = {1, 2, 3, 4, 5, 6, 7, 8};
  pop_graph_set_initial_value(graph, pop_concat(parts, 2, 0), data);
  assert_no_error(graph);
  const int32_t in_a[] = {1, 3, 5, 2, 4, 6}, in_b[] = {8, 7};
  cr_assert_arr_eq(graph->variables[0].initial, in_a, sizeof in_a);
  cr_assert_arr_eq(graph->variables[1].initial, in_b, sizeof in_b);
  cr_assert_null(graph->variables[2].initial);
  pop_graph_free(graph);
}

/* ---- vertices, edges, fields ---- */

Test(graph, vertices_hold_edges_in_the_order_of_connection)
{
  world w = new_world();
  pop_tensor one = pop_tensor_index(w.v, 3);
  pop_graph_connect(w.graph, w.sum, "out", pop_tensor_expand(pop_tensor_expand(one, 0), 0));
  pop_graph_connect(w.graph, w.sum, "in", pop_tensor_broadcast(w.v, 3, 0));
  pop_graph_set_vertex_tile(w.graph, w.sum, 7);
  pop_graph_set_cycle_estimate(w.graph, w.sum, 20);
  assert_no_error(w.graph);
  const vertex *v = vertex_of(w.sum);
  const edge *first = &w.graph->edges[v->first_edge], *second = &w.graph->edges[first->next];
  cr_assert_eq(first->field, 1);
  cr_assert_eq(second->field, 0);
  cr_assert_eq(second->next, GRAPH_NONE);
  cr_assert_eq(v->tile, 7);
  cr_assert_eq(v->cycle_estimate, 20);
  cr_assert_eq(vertex_of(w.plain)->tile, GRAPH_NONE);
  cr_assert_eq(w.graph->compute_sets[0].num_vertices, 2);
  pop_graph_free(w.graph);
}

/* ---- rows ---- */

static const pop_field rows_fields[] = {{.name = "in",
                                         .kind = POP_FIELD_INPUT,
                                         .layout = POP_LAYOUT_SPAN,
                                         .row_layout = POP_LAYOUT_SPAN,
                                         .has_rows = true,
                                         .type = POP_FLOAT},
                                        {.name = "more",
                                         .kind = POP_FIELD_INPUT,
                                         .layout = POP_LAYOUT_SPAN,
                                         .row_layout = POP_LAYOUT_SPAN,
                                         .has_rows = true,
                                         .type = POP_FLOAT}};
static const pop_vertex_type rows_type = {
    .name = "Rows", .fields = (pop_field *)rows_fields, .num_fields = 2};

static pop_vertex new_rows(world *w)
{
  add_vertex_type(w->graph, &rows_type);
  return pop_graph_add_vertex(w->graph, w->set, "Rows");
}

static void expect_failed_connection(pop_graph *graph)
{
  pop_error *error = pop_graph_take_error(graph);
  cr_assert_not_null(error);
  cr_assert_eq(pop_error_get_code(error), POP_ERROR_GRAPH_CONNECTION);
  pop_error_free(error);
}

Test(graph, a_failed_call_connects_no_row)
{
  world w = new_world();
  pop_vertex v = new_rows(&w);
  pop_tensor other = pop_graph_add_variable(w.graph, POP_INT, (const size_t[]){10}, 1, "other");
  pop_graph_connect_array(w.graph, v, "in", (const pop_tensor[]){w.v, w.v, other}, 3);
  expect_failed_connection(w.graph);
  cr_assert_eq(pop_graph_vertex_field_size(w.graph, v, "in"), 0);
  pop_graph_connect(w.graph, v, "in", pop_tensor_reshape(other, (const size_t[]){2, 5}, 2));
  expect_failed_connection(w.graph);
  pop_graph_connect_element(w.graph, v, "in", 3, other);
  expect_failed_connection(w.graph);
  cr_assert_eq(pop_graph_vertex_field_size(w.graph, v, "in"), 0);
  pop_tensor half = pop_tensor_slice(w.v, 0, 5, 0);
  pop_graph_connect_array(w.graph, v, "in", (const pop_tensor[]){half, half}, 2);
  assert_no_error(w.graph);
  pop_graph_connect_array(w.graph, v, "in", (const pop_tensor[]){w.v, other}, 2);
  expect_failed_connection(w.graph);
  const edge *e = &w.graph->edges[vertex_of(v)->first_edge];
  cr_assert_eq(e->num_rows, 2);
  cr_assert_eq(w.graph->row_tensors[e->tensor], half.index, "it has the row that it had");
  pop_graph_connect_element(w.graph, v, "more", 0, half);
  pop_graph_connect_element(w.graph, v, "more", 7, other);
  expect_failed_connection(w.graph);
  cr_assert_eq(pop_graph_vertex_field_size(w.graph, v, "more"), 1);
  pop_graph_free(w.graph);
}

typedef struct copying {
  world w;
  size_t count;
} copying;

/* Connects new vertices like the one that is visited. */
static void copy_field(void *context, const char *field, size_t row, pop_tensor tensor)
{
  copying *c = context;
  for (int i = 0; i < 4; i++)
    pop_graph_connect_element(c->w.graph, pop_graph_add_vertex(c->w.graph, c->w.set, "Rows"), field,
                              0, tensor);
  cr_assert(pop_tensor_equal(tensor, pop_tensor_slice(c->w.v, row % 10, row % 10 + 1, 0)));
  cr_assert_eq(row, c->count++);
}

Test(graph, a_visit_of_a_vertex_may_connect_others)
{
  enum { ROWS = 500 };
  copying c = {.w = new_world()};
  pop_vertex v = new_rows(&c.w);
  for (size_t row = 0; row < ROWS; row++)
    pop_graph_connect_element(c.w.graph, v, "in", row,
                              pop_tensor_slice(c.w.v, row % 10, row % 10 + 1, 0));
  cr_assert_null(pop_graph_visit_vertex_fields(c.w.graph, v.index - 1, copy_field, &c));
  assert_no_error(c.w.graph);
  cr_assert_eq(c.count, ROWS);
  pop_graph_free(c.w.graph);
}

/* Each row is moved a few times, not once for each row. */
Test(graph, rows_of_two_fields_may_be_connected_in_turn)
{
  enum { ROWS = 20000 };
  static const char *const names[] = {"in", "more"};
  world w = new_world();
  pop_vertex v = new_rows(&w);
  pop_tensor parts[10];
  for (size_t i = 0; i < 10; i++) parts[i] = pop_tensor_slice(w.v, i, i + 1, 0);
  for (size_t row = 0; row < ROWS; row++)
    for (size_t f = 0; f < 2; f++)
      pop_graph_connect_element(w.graph, v, names[f], row, parts[(row + f) % 10]);
  pop_graph_set_field_size(w.graph, v, names[0], ROWS + 1);
  pop_graph_connect_element(w.graph, v, names[0], ROWS, parts[0]);
  assert_no_error(w.graph);
  cr_assert_lt(w.graph->num_row_tensors, 8 * ROWS);
  const edge *e = &w.graph->edges[vertex_of(v)->first_edge];
  for (size_t f = 0; f < 2; f++, e = &w.graph->edges[e->next]) {
    cr_assert_eq(e->num_rows, f == 0 ? ROWS + 1 : ROWS);
    for (size_t row = 0; row < ROWS; row++)
      cr_assert_eq(w.graph->row_tensors[e->tensor + row], parts[(row + f) % 10].index);
    if (e->next == GRAPH_NONE) break;
  }
  pop_graph_free(w.graph);
}

Test(graph, a_value_is_a_constant_where_the_vertex_is)
{
  world w = new_world();
  const float values[] = {1.5f, -2};
  pop_graph_connect_value(w.graph, w.sum, "in", POP_FLOAT, values, 2);
  assert_no_error(w.graph);
  uint32_t index = (uint32_t)w.graph->num_variables - 1;
  const variable *v = &w.graph->variables[index];
  cr_assert(v->constant);
  cr_assert_arr_eq(v->initial, values, sizeof values);
  size_t count;
  graph_mapping(w.graph, index, &count);
  cr_assert_eq(count, 0, "the vertex is nowhere yet");
  for (uint32_t tile = 3; tile < 7; tile += 3) {
    pop_graph_set_vertex_tile(w.graph, w.sum, tile);
    const mapping_interval *mapping = graph_mapping(w.graph, index, &count);
    cr_assert_eq(count, 1);
    cr_assert(mapping->begin == 0 && mapping->end == 2 && mapping->tile == tile);
  }
  pop_graph_connect_value(w.graph, w.sum, "out", POP_FLOAT, values, 1);
  assert_error(w.graph, POP_ERROR_GRAPH_CONNECTION,
               (const char *[5]){"pop_graph_connect_value", "'out'", "only an input"}, "output");
  pop_graph_free(w.graph);
}

/* The bytes of the type's field after the call; NULL: no value. */
static const uint8_t *plain_value(const world *w, pop_type type)
{
  uint32_t i = vertex_of(w->plain)->first_value;
  for (; i != GRAPH_NONE; i = w->graph->field_values[i].next)
    if (w->graph->field_values[i].field == type) return w->graph->field_values[i].bytes;
  return NULL;
}

static void check_value(const world *w, pop_type type, bool fits, uint64_t bits, double value)
{
  const char *name = pop_type_name(type);
  if (!fits) {
    assert_error(w->graph, POP_ERROR_TYPE, (const char *[5]){"does not fit", name, "vertex 1"},
                 name);
    return;
  }
  assert_no_error(w->graph);
  const uint8_t *bytes = plain_value(w, type);
  cr_assert_not_null(bytes, "%s %g", name, value);
  uint64_t found = 0;
  for (uint32_t i = 0; i < pop_type_bytes(type); i++) found |= (uint64_t)bytes[i] << 8 * i;
  cr_assert_eq(found, bits, "%s %g: %llx", name, value, (unsigned long long)found);
}

Test(graph, P06_numbers_are_converted_to_the_type_of_the_field)
{
  static const struct {
    pop_type type;
    double value;
    bool fits;
    uint64_t bits;
  } cases[] = {
      {POP_FLOAT, 0.1, true, 0x3dcccccd},
      {POP_FLOAT, -INFINITY, true, 0xff800000},
      {POP_FLOAT, 3.5e38, false, 0},
      {POP_HALF, 1.0 / 3, true, 0x3555},
      {POP_HALF, 65504, true, 0x7bff},
      {POP_HALF, 65519.999, true, 0x7bff},
      {POP_HALF, 65520, false, 0},
      {POP_HALF, INFINITY, true, 0x7c00},
      {POP_HALF, 5.960464477539063e-08, true, 1},  /* the smallest half */
      {POP_HALF, 2.980232238769531e-08, true, 0},  /* half of it: rounded to even */
      {POP_HALF, 2.9802322387695316e-08, true, 1}, /* a bit more, which a float would lose */
      {POP_HALF, 1.00048828125, true, 0x3c00},     /* between two halves: rounded to even */
      {POP_HALF, 1.000488281250001, true, 0x3c01}, /* a bit more, which a float would lose */
      {POP_HALF, -1.000488281249999, true, 0xbc00},
      {POP_HALF, -1.001464843750001, true, 0xbc02},
      {POP_INT, -2147483648.0, true, 0x80000000},
      {POP_INT, 2147483648.0, false, 0},
      {POP_INT, 1.5, false, 0},
      {POP_INT, NAN, false, 0},
      {POP_UNSIGNED_INT, 4294967295.0, true, 0xffffffff},
      {POP_UNSIGNED_INT, -1, false, 0},
      {POP_SHORT, -32769, false, 0},
      {POP_UNSIGNED_SHORT, 65535, true, 0xffff},
      {POP_SIGNED_CHAR, 128, false, 0},
      {POP_CHAR, 255, true, 0xff},
      {POP_CHAR, -128, true, 0x80},
      {POP_UNSIGNED_CHAR, 256, false, 0},
      {POP_BOOL, 1, true, 1},
      {POP_BOOL, 2, false, 0},
      {POP_LONGLONG, -9223372036854775808.0, true, (uint64_t)1 << 63},
      {POP_LONGLONG, 9223372036854775808.0, false, 0},
      {POP_UNSIGNED_LONGLONG, 9223372036854775808.0, true, (uint64_t)1 << 63},
      {POP_UNSIGNED_LONGLONG, 18446744073709551616.0, false, 0},
      {POP_UNSIGNED_LONGLONG, INFINITY, false, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    world w = new_world();
    const char *name = pop_type_name(cases[i].type);
    pop_graph_set_field_float(w.graph, w.plain, name, cases[i].value);
    check_value(&w, cases[i].type, cases[i].fits, cases[i].bits, cases[i].value);
    pop_graph_free(w.graph);
    double value = cases[i].value;
    if (value != trunc(value) || fabs(value) >= 9.2e18) continue;
    w = new_world();
    pop_graph_set_field_int(w.graph, w.plain, name, (int64_t)value);
    check_value(&w, cases[i].type, cases[i].fits, cases[i].bits, value);
    pop_graph_free(w.graph);
  }
}

/* Integers that a double would round first. */
Test(graph, large_integers_are_rounded_once)
{
  static const struct {
    pop_type type;
    int64_t value;
    uint64_t bits;
  } cases[] = {
      {POP_FLOAT, ((int64_t)1 << 60) + ((int64_t)1 << 36) + 1, 0x5d800001},
      {POP_FLOAT, ((int64_t)1 << 60) + ((int64_t)1 << 36), 0x5d800000},
      {POP_FLOAT, -((int64_t)1 << 60) - ((int64_t)1 << 36) - 1, 0xdd800001},
      {POP_FLOAT, INT64_MIN, 0xdf000000},
      {POP_HALF, 65519, 0x7bff},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    world w = new_world();
    pop_graph_set_field_int(w.graph, w.plain, pop_type_name(cases[i].type), cases[i].value);
    check_value(&w, cases[i].type, true, cases[i].bits, (double)cases[i].value);
    pop_graph_free(w.graph);
  }
}

Test(graph, a_later_value_of_a_field_takes_the_place_of_an_earlier_one)
{
  world w = new_world();
  const uint32_t value = 77;
  pop_graph_set_field_int(w.graph, w.plain, "unsigned int", 5);
  pop_graph_set_field_int(w.graph, w.plain, "short", -1);
  pop_graph_set_field(w.graph, w.plain, "unsigned int", POP_UNSIGNED_INT, &value);
  check_value(&w, POP_UNSIGNED_INT, true, 77, 77);
  check_value(&w, POP_SHORT, true, 0xffff, -1);
  cr_assert_eq(w.graph->num_field_values, 2);
  pop_graph_free(w.graph);
}

/* ---- refused calls ---- */

static void unknown_type(world *w)
{
  pop_graph_add_vertex(w->graph, w->set, "SumVertx");
}
static void part_of_type(world *w)
{
  pop_graph_add_vertex(w->graph, w->set, "Plain<unsigned int,true>");
}
static void far_type(world *w)
{
  pop_graph_add_vertex(w->graph, w->set, "Conv2D");
}
static void null_type(world *w)
{
  pop_graph_add_vertex(w->graph, w->set, NULL);
}
static void null_set(world *w)
{
  pop_graph_add_vertex(w->graph, (pop_compute_set){0}, "SumVertex");
}
static void vertex_tile(world *w)
{
  pop_graph_set_vertex_tile(w->graph, w->sum, 1472);
}
static void unknown_field(world *w)
{
  pop_graph_connect(w->graph, w->sum, "inn", w->v);
}
static void far_field(world *w)
{
  pop_graph_connect(w->graph, w->sum, "weights", w->v);
}
static void null_field(world *w)
{
  pop_graph_connect(w->graph, w->sum, NULL, w->v);
}
static void wrong_type(world *w)
{
  pop_graph_connect(w->graph, w->sum, "state", w->v);
}
static void scalar_elements(world *w)
{
  pop_graph_connect(w->graph, w->sum, "out", w->v);
}
static void vector_rank(world *w)
{
  pop_graph_connect(w->graph, w->sum, "in", pop_tensor_expand(w->v, 0));
}
static void vector_scalar(world *w)
{
  pop_graph_connect(w->graph, w->sum, "in", pop_tensor_index(w->v, 0));
}
static void connect_constant_field(world *w)
{
  pop_graph_connect(w->graph, w->sum, "scale", pop_tensor_index(w->v, 0));
}
static void write_constant(world *w)
{
  const float one = 1;
  pop_tensor c = pop_graph_add_constant(w->graph, POP_FLOAT, NULL, 0, &one, "one");
  pop_graph_connect(w->graph, w->sum, "out", c);
}
static void write_alias(world *w)
{
  pop_tensor v = pop_graph_add_variable(w->graph, POP_INT, (const size_t[]){1}, 1, "counter");
  pop_graph_connect(w->graph, w->sum, "state", pop_tensor_broadcast(v, 4, 0));
}
static void set_edge(world *w)
{
  pop_graph_set_field_float(w->graph, w->sum, "in", 1);
}
static void set_other_type(world *w)
{
  const int32_t one = 1;
  pop_graph_set_field(w->graph, w->sum, "scale", POP_INT, &one);
}
static void set_null(world *w)
{
  pop_graph_set_field(w->graph, w->sum, "scale", POP_FLOAT, NULL);
}
static void set_unknown(world *w)
{
  pop_graph_set_field_int(w->graph, w->sum, "Scale2", 1);
}
static void set_bool(world *w)
{
  const uint8_t two = 2;
  pop_graph_set_field(w->graph, w->plain, "bool", POP_BOOL, &two);
}
static void null_vertex(world *w)
{
  pop_graph_connect(w->graph, (pop_vertex){0}, "in", w->v);
}
static void null_tensor(world *w)
{
  pop_graph_connect(w->graph, w->sum, "in", (pop_tensor){0});
}
static void foreign_vertex(world *w)
{
  world other = new_world();
  pop_graph_connect(w->graph, other.sum, "in", w->v);
  pop_graph_free(other.graph);
}
static void constant_without_data(world *w)
{
  pop_graph_add_constant(w->graph, POP_INT, (const size_t[]){3}, 1, NULL, "c");
}
static void constant_bool(world *w)
{
  const uint8_t data[] = {0, 1, 3};
  pop_graph_add_constant(w->graph, POP_BOOL, (const size_t[]){3}, 1, data, "flags");
}
static void initial_of_constant(world *w)
{
  const int32_t data[] = {1, 2};
  pop_tensor c = pop_graph_add_constant(w->graph, POP_INT, (const size_t[]){2}, 1, data, "c");
  pop_graph_set_initial_value(w->graph, c, data);
}
static void initial_null(world *w)
{
  pop_graph_set_initial_value(w->graph, w->v, NULL);
}
static void element_type(world *w)
{
  pop_graph_add_variable(w->graph, POP_TYPE_COUNT, NULL, 0, "v");
}
static void rank(world *w)
{
  const size_t shape[17] = {0};
  pop_graph_add_variable(w->graph, POP_INT, shape, 17, "v");
}
static void handle_twice(world *w)
{
  pop_graph_create_host_read(w->graph, "h", w->v);
  pop_graph_create_host_write(w->graph, "h", w->v); /* reading and writing have separate handles */
  pop_graph_create_host_read(w->graph, "h", w->v);
}
static void handle_null(world *w)
{
  pop_graph_create_host_read(w->graph, NULL, w->v);
}
static void write_handle_of_alias(world *w)
{
  pop_graph_create_host_write(w->graph, "h", pop_tensor_broadcast(w->v, 2, 0));
}

Test(graph, P01_P06_P08_P10_bad_calls_say_what_is_wrong)
{
  static const struct {
    void (*call)(world *w);
    pop_error_code code;
    const char *words[5];
  } cases[] = {
      {unknown_type, POP_ERROR_UNKNOWN_VERTEX_TYPE, {"'SumVertx'", "did you mean 'SumVertex'?"}},
      {part_of_type,
       POP_ERROR_UNKNOWN_VERTEX_TYPE,
       {"did you mean 'lib::Plain<unsigned int,true>'"}},
      {far_type, POP_ERROR_UNKNOWN_VERTEX_TYPE, {"'Conv2D'", "there are 'SumVertex', 'lib::Plain"}},
      {null_type, POP_ERROR_INVALID_ARGUMENT, {"vertex type is NULL"}},
      {null_set, POP_ERROR_INVALID_ARGUMENT, {"pop_graph_add_vertex", "compute set is null"}},
      {vertex_tile, POP_ERROR_INVALID_TILE_MAPPING, {"vertex 0 ('SumVertex'", "1472", "0 to 1471"}},
      {unknown_field, POP_ERROR_UNKNOWN_FIELD, {"'inn'", "'SumVertex'", "did you mean 'in'?"}},
      {far_field, POP_ERROR_UNKNOWN_FIELD, {"there are 'in', 'out', 'state', 'scale'"}},
      {null_field, POP_ERROR_UNKNOWN_FIELD, {"vertex 0"}},
      {wrong_type,
       POP_ERROR_GRAPH_CONNECTION,
       {"'state'", "vertex 0", "int", "float tensor {10} of 'v'"}},
      {scalar_elements, POP_ERROR_GRAPH_CONNECTION, {"'out'", "one element", "{10} of 'v' has 10"}},
      {vector_rank, POP_ERROR_GRAPH_CONNECTION, {"'in'", "rank 1", "{1,10}", "pop_tensor_flatten"}},
      {vector_scalar, POP_ERROR_GRAPH_CONNECTION, {"'in'", "rank 1", "rank 0"}},
      {connect_constant_field, POP_ERROR_GRAPH_CONNECTION, {"'scale'", "pop_graph_set_field"}},
      {write_constant, POP_ERROR_GRAPH_CONNECTION, {"'out'", "'one'", "constant"}},
      {write_alias, POP_ERROR_GRAPH_CONNECTION, {"'state'", "{4} of 'counter'", "twice"}},
      {set_edge, POP_ERROR_GRAPH_CONNECTION, {"'in'", "vertex 0", "pop_graph_connect"}},
      {set_other_type, POP_ERROR_TYPE, {"type int", "'scale'", "type float"}},
      {set_null, POP_ERROR_INVALID_ARGUMENT, {"'scale'", "NULL"}},
      {set_unknown, POP_ERROR_UNKNOWN_FIELD, {"'Scale2'", "did you mean 'scale'?"}},
      {set_bool, POP_ERROR_INVALID_ARGUMENT, {"'bool'", "neither 0 nor 1"}},
      {null_vertex, POP_ERROR_INVALID_ARGUMENT, {"pop_graph_connect", "vertex is null"}},
      {null_tensor, POP_ERROR_INVALID_ARGUMENT, {"pop_graph_connect", "tensor is null"}},
      {foreign_vertex, POP_ERROR_INVALID_ARGUMENT, {"vertex", "another graph"}},
      {constant_without_data, POP_ERROR_INVALID_ARGUMENT, {"constant 'c'", "NULL", "3 elements"}},
      {constant_bool, POP_ERROR_INVALID_ARGUMENT, {"element 2", "'flags'", "neither 0 nor 1"}},
      {initial_of_constant, POP_ERROR_INVALID_ARGUMENT, {"{2} of 'c'", "constant"}},
      {initial_null, POP_ERROR_INVALID_ARGUMENT, {"{10} of 'v'", "NULL", "10 elements"}},
      {element_type, POP_ERROR_TYPE, {"not an element type"}},
      {rank, POP_ERROR_INVALID_ARGUMENT, {"rank 17", "16"}},
      {handle_twice, POP_ERROR_INVALID_ARGUMENT, {"host read handle 'h' already"}},
      {handle_null, POP_ERROR_INVALID_ARGUMENT, {"pop_graph_create_host_read", "NULL"}},
      {write_handle_of_alias, POP_ERROR_INVALID_ARGUMENT, {"'h'", "{20} of 'v'", "twice"}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    world w = new_world();
    cases[i].call(&w);
    char where[20];
    snprintf(where, sizeof where, "case %zu", i);
    assert_error(w.graph, cases[i].code, cases[i].words, where);
    pop_graph_free(w.graph);
  }
}

/* ---- size ---- */

/* P11. The limits are far above what it takes (0.5 s and 290 MB without sanitizers, 2 s with them).
 * They detect growth that is faster than the graph's. */
Test(graph, P11_a_million_vertices_with_three_edges_each)
{
  enum { VERTICES = 1000000, COLUMNS = 16 };
  world w = new_world();
  pop_tensor m =
      pop_graph_add_variable(w.graph, POP_FLOAT, (const size_t[]){VERTICES, COLUMNS}, 2, "m");
  pop_tensor out = pop_graph_add_variable(w.graph, POP_FLOAT, (const size_t[]){VERTICES}, 1, "out");
  pop_tensor state =
      pop_graph_add_variable(w.graph, POP_INT, (const size_t[]){4, VERTICES}, 2, "state");
  state = pop_tensor_transpose(state);
  clock_t start = clock();
  for (size_t i = 0; i < VERTICES; i++) {
    pop_vertex v = pop_graph_add_vertex(w.graph, w.set, "SumVertex");
    pop_graph_connect(w.graph, v, "in", pop_tensor_index(m, i));
    pop_graph_connect(w.graph, v, "out", pop_tensor_index(out, i));
    pop_graph_connect(w.graph, v, "state", pop_tensor_index(state, i));
    pop_graph_set_vertex_tile(w.graph, v, i % 1472);
  }
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  assert_no_error(w.graph);
  size_t bytes = w.graph->num_tensors * sizeof *w.graph->tensors +
                 w.graph->num_pieces * sizeof *w.graph->pieces +
                 w.graph->num_dims * sizeof *w.graph->dims +
                 w.graph->num_vertices * sizeof *w.graph->vertices +
                 w.graph->num_edges * sizeof *w.graph->edges;
  cr_log_info("%.2f s, %zu bytes\n", seconds, bytes);
  cr_assert_lt(bytes, (size_t)300 << 20, "%zu bytes", bytes);
  cr_assert_lt(seconds, 20, "%.2f s", seconds);
  pop_graph_free(w.graph);
}
