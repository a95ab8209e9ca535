/* Tensors: every shape operation is compared with a plain list of elements. Views stay small.
 * Invalid operations give errors. */
#include "tensor_chain.h"

Test(tensor, random_chains_of_operations_agree_with_a_list_of_elements)
{
  run_chains(1500, NULL);
}

/* ---- sizes ---- */

static void assert_small(pop_tensor t, size_t most_pieces, size_t most_loops, const char *what)
{
  assert_no_error(t.graph);
  const tensor *inside = &t.graph->tensors[t.index];
  cr_assert_leq(inside->num_pieces, most_pieces, "%s has %zu pieces", what, inside->num_pieces);
  for (size_t i = 0; i < inside->num_pieces; i++)
    cr_assert_leq(t.graph->pieces[inside->first_piece + i].num_dims, most_loops, "%s", what);
}

Test(tensor, views_of_a_large_matrix_stay_small)
{
  pop_graph *graph = new_graph();
  const size_t shape[] = {10000, 10000};
  pop_tensor m = pop_graph_add_variable(graph, POP_FLOAT, shape, 2, "m");
  pop_tensor transposed = pop_tensor_transpose(m);
  pop_tensor part = pop_tensor_slice_nd(m, (const size_t[]){1, 2}, (const size_t[]){9001, 5002}, 2);
  pop_tensor blocks = pop_tensor_reshape(m, (const size_t[]){100, 100, 100, 100}, 4);
  pop_tensor halves[] = {pop_tensor_slice(m, 0, 4000, 1), pop_tensor_slice(m, 4000, 10000, 1)};
  const struct {
    const char *what;
    pop_tensor tensor;
    size_t pieces, loops;
  } cases[] = {
      {"m", m, 1, 1},
      {"row", pop_tensor_index(m, 77), 1, 1},
      {"column", pop_tensor_slice(m, 3, 4, 1), 1, 1},
      {"part", part, 1, 2},
      {"transposed", transposed, 1, 2},
      {"transposed twice", pop_tensor_transpose(transposed), 1, 1},
      {"transposed row", pop_tensor_index(transposed, 5), 1, 1},
      {"flattened transpose", pop_tensor_flatten(transposed), 1, 2},
      {"transposed part", pop_tensor_transpose(part), 1, 2},
      {"reversed", pop_tensor_reverse(m, 1), 1, 2},
      {"sampled", pop_tensor_sub_sample(m, 3, 1), 1, 2},
      {"blocks", blocks, 1, 1},
      {"shuffled blocks", pop_tensor_dim_shuffle(blocks, (const size_t[]){0, 2, 1, 3}, 4), 1, 4},
      {"broadcast", pop_tensor_broadcast(pop_tensor_expand(m, 0), 1000, 0), 1, 2},
      {"rows and a bit", pop_tensor_slice(pop_tensor_flatten(transposed), 5, 54321, 0), 3, 2},
      {"both halves", pop_concat(halves, 2, 1), 1, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_small(cases[i].tensor, cases[i].pieces, cases[i].loops, cases[i].what);
  pop_graph_free(graph);
}

Test(tensor, rows_of_two_variables_side_by_side_come_apart_again)
{
  pop_graph *graph = new_graph();
  const size_t shape[] = {3000, 8};
  const pop_tensor two[] = {pop_graph_add_variable(graph, POP_INT, shape, 2, "a"),
                            pop_graph_add_variable(graph, POP_INT, shape, 2, "b")};
  pop_tensor wide = pop_concat(two, 2, 1);
  assert_small(wide, 6000, 1, "side by side");
  assert_small(pop_tensor_slice(wide, 0, 8, 1), 1, 1, "the left half");
  assert_small(pop_tensor_slice(wide, 10, 12, 1), 1, 2, "two columns of the right half");
  assert_small(pop_concat(two, 2, 0), 2, 1, "one below the other");
  assert_small(pop_tensor_slice(pop_concat(two, 2, 0), 1, 3, 1), 2, 2, "columns of both");
  pop_graph_free(graph);
}

Test(tensor, broadcasts_of_many_elements_cost_a_loop)
{
  pop_graph *graph = new_graph();
  pop_tensor v = pop_graph_add_variable(graph, POP_FLOAT, (const size_t[]){1, 4}, 2, "v");
  pop_tensor wide = pop_tensor_broadcast(v, (size_t)1 << 60, 0);
  assert_small(wide, 1, 2, "wide");
  cr_assert_eq(pop_tensor_num_elements(wide), (size_t)1 << 62);
  cr_assert(pop_tensor_contains_aliases(wide));
  assert_small(pop_tensor_transpose(wide), 1, 2, "transposed");
  assert_small(pop_tensor_reverse(wide, 0), 1, 2, "reversed");
  assert_small(pop_tensor_sub_sample(wide, (size_t)1 << 59, 0), 1, 2, "sampled");
  pop_graph_free(graph);
}

/* A step for each row would take years. */
Test(tensor, wide_concatenations_of_many_rows_cost_a_loop)
{
  pop_graph *graph = new_graph();
  pop_tensor m = pop_graph_add_variable(graph, POP_INT, (const size_t[]){3, 4}, 2, "m");
  pop_tensor rows = pop_tensor_broadcast(m, (size_t)1 << 55, 0);
  const pop_tensor parts[] = {pop_tensor_slice(rows, 2, 4, 1), pop_tensor_slice(rows, 1, 1, 1),
                              pop_tensor_slice(rows, 0, 2, 1)};
  pop_tensor wide = pop_concat(parts, 3, 1);
  assert_no_error(graph);
  cr_assert_eq(pop_tensor_dim(wide, 0), (size_t)3 << 55);
  cr_assert_eq(pop_tensor_dim(wide, 1), 4);
  size_t row = ((size_t)3 << 50) + 1;
  char text[80];
  pop_tensor_debug_string(pop_tensor_index(wide, row), text, sizeof text);
  cr_assert_str_eq(text, "int {4} = m[6:8] m[4:6]");
  pop_graph_free(graph);
}

Test(tensor, questions_about_large_views_are_answered_without_listing_elements)
{
  pop_graph *graph = new_graph();
  pop_tensor m = pop_graph_add_variable(graph, POP_HALF, (const size_t[]){60000, 70000}, 2, "m");
  pop_tensor t = pop_tensor_transpose(m);
  const pop_tensor halves[] = {pop_tensor_slice(t, 0, 30000, 0),
                               pop_tensor_slice(t, 40000, 70000, 0)};
  for (int i = 0; i < 1000; i++) {
    cr_assert_not(pop_tensor_contains_aliases(t));
    cr_assert_not(pop_tensor_is_contiguous(t));
    cr_assert(pop_tensor_is_contiguous(pop_tensor_transpose(t)));
  }
  cr_assert_not(pop_tensor_contains_aliases(pop_tensor_reverse(pop_concat(halves, 1, 0), 1)));
  pop_graph_free(graph);
}

/* The columns are interleaved, so single elements must be compared. */
Test(tensor, interleaved_pieces_with_and_without_a_common_element)
{
  pop_graph *graph = new_graph();
  pop_tensor m = pop_graph_add_variable(graph, POP_INT, (const size_t[]){100, 10}, 2, "m");
  pop_tensor other = pop_graph_add_variable(graph, POP_INT, (const size_t[]){100}, 1, "other");
  pop_tensor t = pop_tensor_transpose(m);
  const pop_tensor apart[] = {pop_tensor_index(t, 1), other, pop_tensor_index(t, 7)};
  const pop_tensor together[] = {pop_tensor_index(t, 1), other, pop_tensor_index(t, 1)};
  const pop_tensor crossing[] = {pop_tensor_index(t, 1), other, pop_tensor_index(m, 50)};
  cr_assert_not(pop_tensor_contains_aliases(pop_concat(apart, 3, 0)));
  cr_assert(pop_tensor_contains_aliases(pop_concat(together, 3, 0)));
  cr_assert(pop_tensor_contains_aliases(pop_concat(crossing, 3, 0)));
  pop_graph_free(graph);
}

/* Windows at a distance become one piece. They overlap if the distance is too small. */
Test(tensor, windows_have_common_elements_if_they_overlap)
{
  enum { WINDOWS = 5, LENGTH = 4 };
  pop_graph *graph = new_graph();
  pop_tensor v = pop_graph_add_variable(graph, POP_INT, (const size_t[]){100}, 1, "v");
  for (size_t distance = 0; distance <= LENGTH + 2; distance++) {
    pop_tensor windows[WINDOWS];
    for (size_t i = 0; i < WINDOWS; i++)
      windows[i] = pop_tensor_slice(v, i * distance, i * distance + LENGTH, 0);
    pop_tensor all = pop_concat(windows, WINDOWS, 0);
    assert_small(all, 1, 2, "windows");
    cr_assert_eq(pop_tensor_contains_aliases(all), distance < LENGTH, "distance %zu", distance);
    cr_assert_eq(pop_tensor_is_contiguous(all), distance == LENGTH, "distance %zu", distance);
  }
  pop_graph_free(graph);
}

Test(tensor, constants_are_seen_through_views)
{
  pop_graph *graph = new_graph();
  const float values[] = {1, 2, 3};
  pop_tensor parts[] = {
      pop_graph_add_variable(graph, POP_FLOAT, (const size_t[]){3}, 1, "v"),
      pop_graph_add_constant(graph, POP_FLOAT, (const size_t[]){3}, 1, values, "c")};
  pop_tensor both = pop_concat(parts, 2, 0);
  cr_assert(pop_tensor_contains_constant(both));
  cr_assert(pop_tensor_contains_constant(pop_tensor_slice(both, 2, 4, 0)));
  cr_assert_not(pop_tensor_contains_constant(pop_tensor_slice(both, 0, 3, 0)));
  pop_graph_free(graph);
}

Test(tensor, shapes_stay_where_they_are_while_tensors_are_made)
{
  pop_graph *graph = new_graph();
  pop_tensor v = pop_graph_add_variable(graph, POP_INT, (const size_t[]){300, 200}, 2, "v");
  const size_t *shape = pop_tensor_shape(v);
  for (size_t i = 0; i < 300; i++)
    for (size_t j = 1; j < 200; j++) pop_tensor_slice(pop_tensor_index(v, i), 0, j, 0);
  cr_assert_eq(shape[0], 300);
  cr_assert_eq(shape[1], 200);
  cr_assert_eq(pop_tensor_element_type(v), POP_INT);
  pop_graph_free(graph);
}

/* ---- refused calls ---- */

static pop_tensor variable_of(pop_graph *graph, size_t a, size_t b, const char *name)
{
  return pop_graph_add_variable(graph, POP_FLOAT, (const size_t[]){a, b}, 2, name);
}

static void bad_index(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_index(t, 4);
}
static void bad_scalar_index(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_index(pop_tensor_index(pop_tensor_index(t, 0), 0), 0);
}
static void bad_slice_end(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_slice(t, 2, 5, 0);
}
static void bad_slice_order(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_slice(t, 2, 1, 1);
}
static void bad_slice_dimension(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_slice(t, 0, 1, 2);
}
static void bad_slice_nd(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_slice_nd(t, (const size_t[]){0, 0, 0}, (const size_t[]){1, 1, 1}, 3);
}
static void bad_stride(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_sub_sample(t, 0, 0);
}
static void bad_reverse(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_reverse(t, SIZE_MAX);
}
static void bad_reshape(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_reshape(t, (const size_t[]){5, 2}, 2);
}
static void bad_rank(pop_graph *g, pop_tensor t)
{
  (void)g;
  for (int i = 0; i < 15; i++) t = pop_tensor_expand(t, 0);
}
static void bad_expand(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_expand(t, 3);
}
static void bad_permutation(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_dim_shuffle(t, (const size_t[]){1, 1}, 2);
}
static void bad_permutation_length(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_dim_shuffle(t, (const size_t[]){1, 0, 2}, 3);
}
static void bad_concat_shape(pop_graph *g, pop_tensor t)
{
  const pop_tensor two[] = {t, variable_of(g, 5, 7, "w")};
  pop_concat(two, 2, 0);
}
static void bad_concat_type(pop_graph *g, pop_tensor t)
{
  const pop_tensor two[] = {t, pop_graph_add_variable(g, POP_HALF, (const size_t[]){4, 3}, 2, "w")};
  pop_concat(two, 2, 0);
}
static void bad_concat_dimension(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_concat(&t, 1, 2);
}
static void bad_broadcast(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_broadcast(t, (size_t)1 << 61, 0);
}
static void bad_broadcast_size(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_broadcast(t, SIZE_MAX, 1);
}
static void bad_dim(pop_graph *g, pop_tensor t)
{
  (void)g;
  pop_tensor_dim(t, 2);
}
static void null_operand(pop_graph *g, pop_tensor t)
{
  (void)t;
  pop_tensor_index((pop_tensor){g, 0}, 0);
}
static void null_in_concat(pop_graph *g, pop_tensor t)
{
  (void)g;
  const pop_tensor two[] = {t, {NULL, 0}};
  pop_concat(two, 2, 0);
}
static void unknown_operand(pop_graph *g, pop_tensor t)
{
  (void)t;
  pop_tensor_index((pop_tensor){g, 12345}, 0);
}

/* P01, P02, P03 and P04: the words that the message must have. The operand is float {4,3} of
 * 'v'. */
static const struct refusal {
  void (*call)(pop_graph *graph, pop_tensor t);
  pop_error_code code;
  const char *words[5];
} refusals[] = {
    {bad_index, POP_ERROR_INDEX, {"pop_tensor_index", "index 4", "{4,3}", "'v'"}},
    {bad_scalar_index, POP_ERROR_INDEX, {"pop_tensor_index", "scalar", "'v'"}},
    {bad_slice_end, POP_ERROR_INDEX, {"pop_tensor_slice", "[2, 5)", "{4,3}", "<= 4"}},
    {bad_slice_order, POP_ERROR_INDEX, {"pop_tensor_slice", "[2, 1)", "dimension 1", "'v'"}},
    {bad_slice_dimension, POP_ERROR_INDEX, {"dimension 2", "{4,3}", "0 to 1"}},
    {bad_slice_nd, POP_ERROR_INDEX, {"pop_tensor_slice_nd", "3 dimensions", "{4,3}"}},
    {bad_stride, POP_ERROR_INVALID_ARGUMENT, {"pop_tensor_sub_sample", "stride of 0"}},
    {bad_reverse, POP_ERROR_INDEX, {"pop_tensor_reverse", "18446744073709551615", "{4,3}"}},
    {bad_reshape, POP_ERROR_TENSOR, {"{4,3}", "12 elements", "{5,2}", "10"}},
    {bad_rank, POP_ERROR_INVALID_ARGUMENT, {"pop_tensor_expand", "rank 17", "16"}},
    {bad_expand, POP_ERROR_INDEX, {"pop_tensor_expand", "dimension 3", "{4,3}", "0 to 2"}},
    {bad_permutation, POP_ERROR_INVALID_ARGUMENT, {"{1,1}", "permutation", "{4,3}"}},
    {bad_permutation_length, POP_ERROR_INVALID_ARGUMENT, {"{1,0,2}", "2 dimensions"}},
    {bad_concat_shape, POP_ERROR_TENSOR, {"pop_concat", "{4,3} of 'v'", "{5,7} of 'w'"}},
    {bad_concat_type, POP_ERROR_TYPE, {"float tensor {4,3}", "half tensor {4,3} of 'w'"}},
    {bad_concat_dimension, POP_ERROR_INDEX, {"pop_concat", "dimension 2", "{4,3}"}},
    {bad_broadcast, POP_ERROR_INVALID_ARGUMENT, {"pop_tensor_broadcast", "2^63 - 1"}},
    {bad_broadcast_size, POP_ERROR_INVALID_ARGUMENT, {"pop_tensor_broadcast", "dimension 1"}},
    {bad_dim, POP_ERROR_INDEX, {"pop_tensor_dim", "dimension 2", "{4,3}"}},
    {null_operand, POP_ERROR_INVALID_ARGUMENT, {"pop_tensor_index", "tensor is null"}},
    {null_in_concat, POP_ERROR_INVALID_ARGUMENT, {"pop_concat", "tensor is null"}},
    {unknown_operand, POP_ERROR_INVALID_ARGUMENT, {"no tensor 12345"}},
};

Test(tensor, P02_P03_P04_Z03_bad_operations_say_what_is_wrong)
{
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    const struct refusal *r = &refusals[i];
    pop_graph *graph = new_graph();
    r->call(graph, variable_of(graph, 4, 3, "v"));
    char where[20];
    snprintf(where, sizeof where, "case %zu", i);
    assert_error(graph, r->code, r->words, where);
    pop_graph_free(graph);
  }
}

Test(tensor, P01_tensor_of_another_graph_is_refused)
{
  pop_graph *graph = new_graph(), *foreign = new_graph();
  const pop_tensor two[] = {variable_of(graph, 4, 3, "v"), variable_of(foreign, 4, 3, "w")};
  cr_assert_not(pop_tensor_valid(pop_concat(two, 2, 0)));
  cr_assert_not_null(strstr(pop_error_message(pop_graph_error(graph)), "another graph"));
  assert_no_error(foreign);
  pop_graph_free(graph);
  pop_graph_free(foreign);
}

Test(tensor, P01_null_tensors_have_no_properties_and_do_no_harm)
{
  pop_tensor none = {0};
  cr_assert_not(pop_tensor_valid(none));
  cr_assert_eq(pop_tensor_rank(none), 0);
  cr_assert_eq(pop_tensor_num_elements(none), 0);
  cr_assert_eq(pop_tensor_dim(none, 0), 0);
  cr_assert_null(pop_tensor_shape(none));
  cr_assert_not(pop_tensor_contains_aliases(none));
  cr_assert_not(pop_tensor_contains_constant(none));
  cr_assert_not(pop_tensor_valid(pop_tensor_flatten(none)));
  cr_assert_not(pop_tensor_valid(pop_concat(NULL, 0, 0)));
}

Test(tensor, P03_tensors_without_elements_and_scalars_go_through_all_operations)
{
  pop_graph *graph = new_graph();
  const size_t huge[] = {(size_t)1 << 40, 0, (size_t)1 << 40};
  pop_tensor empty = pop_graph_add_variable(graph, POP_INT, huge, 3, "empty");
  cr_assert_eq(pop_tensor_num_elements(pop_tensor_slice(empty, 5, 9, 0)), 0);
  cr_assert_eq(pop_tensor_dim(pop_tensor_reverse(empty, 2), 2), huge[2]);
  cr_assert_eq(pop_tensor_rank(pop_tensor_index(pop_tensor_transpose(empty), 3)), 2);
  cr_assert_eq(pop_tensor_dim(pop_tensor_broadcast(empty, 3, 0), 0), 3 * huge[0]);
  cr_assert_eq(pop_tensor_dim(pop_tensor_sub_sample(empty, huge[0] - 1, 0), 0), 2);
  const pop_tensor twice[] = {empty, empty};
  cr_assert_eq(pop_tensor_dim(pop_concat(twice, 2, 1), 1), 0);
  cr_assert_eq(pop_tensor_num_elements(pop_tensor_flatten(empty)), 0);

  pop_tensor scalar = pop_graph_add_variable(graph, POP_INT, NULL, 0, "scalar");
  cr_assert_eq(pop_tensor_num_elements(scalar), 1);
  cr_assert_eq(pop_tensor_rank(pop_tensor_transpose(pop_tensor_squeeze(scalar))), 0);
  cr_assert_eq(pop_tensor_rank(pop_tensor_slice_nd(scalar, NULL, NULL, 0)), 0);
  cr_assert_eq(pop_tensor_rank(pop_tensor_expand(scalar, 0)), 1);
  cr_assert_eq(pop_tensor_num_elements(pop_tensor_broadcast(pop_tensor_flatten(scalar), 7, 0)), 7);
  assert_no_error(graph);
  pop_graph_free(graph);
}
