/* Errors of popops and popnn for values that are no operation, and for tensors with too many
 * dimensions. Also which tiles a spread has, and how constants are rounded. */
#include "poplibs/host/spread.h"
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/popnn.h>
#include <populus/popops.h>
#include <populus/popops_slice.h>
#include <populus/populus.h>
#include <string.h>

TestSuite(popops_calls, .init = enter_fresh_folder);

static pop_tensor new_tensor(pop_graph *graph, pop_type type, const size_t *shape, size_t rank)
{
  pop_tensor t = pop_graph_add_variable(graph, type, shape, rank, "t");
  pop_graph_map_linearly(graph, t, 0, 0);
  return t;
}

static void reduce_by_nothing(pop_graph *graph)
{
  const size_t shape[] = {4, 2}, rows = 0;
  pop_tensor t = new_tensor(graph, POP_FLOAT, shape, 2);
  pop_popops_add_codelets(graph);
  pop_popops_reduce(graph, t, &rows, 1, (pop_reduction){.op = POP_REDUCE_COUNT}, (pop_tensor){0},
                    pop_program_sequence(graph, "main"), NULL, NULL, "sum");
}

static void update_by_nothing(pop_graph *graph)
{
  const size_t shape[] = {4, 2}, slices[] = {1, 1, 2}, count = 1;
  pop_tensor t = new_tensor(graph, POP_FLOAT, shape, 2),
             s = new_tensor(graph, POP_FLOAT, slices, 3);
  pop_tensor offsets = new_tensor(graph, POP_UNSIGNED_INT, &count, 1);
  pop_popops_add_codelets(graph);
  pop_popops_multi_update(graph, POP_UPDATE_COUNT, t, s, offsets, 0, 1, (pop_tensor){0},
                          pop_program_sequence(graph, "main"), "update");
}

static void unary_by_nothing(pop_graph *graph)
{
  pop_popops_unary(graph, POP_UNARY_COUNT, new_tensor(graph, POP_FLOAT, NULL, 0), (pop_tensor){0},
                   pop_program_sequence(graph, "main"), "unary");
}

static void unary_in_set_by_nothing(pop_graph *graph)
{
  pop_popops_unary_in_set(graph, POP_UNARY_COUNT, new_tensor(graph, POP_FLOAT, NULL, 0),
                          (pop_tensor){0}, pop_graph_add_compute_set(graph, "set"), "unary");
}

static void binary_by_nothing(pop_graph *graph)
{
  pop_tensor t = new_tensor(graph, POP_FLOAT, NULL, 0);
  pop_popops_binary(graph, POP_BINARY_COUNT, t, t, (pop_tensor){0},
                    pop_program_sequence(graph, "main"), "binary");
}

static void loss_of_nothing(pop_graph *graph)
{
  const size_t shape[] = {4, 2};
  const unsigned number = 2;
  pop_loss none;
  memcpy(&none, &number, sizeof none); /* a cast to such a value is not allowed */
  pop_tensor activations = new_tensor(graph, POP_FLOAT, shape, 2);
  pop_popnn_loss(graph, none, activations, new_tensor(graph, POP_UNSIGNED_INT, shape, 1),
                 new_tensor(graph, POP_FLOAT, shape, 1), new_tensor(graph, POP_FLOAT, shape, 2),
                 (pop_tensor){0}, pop_program_sequence(graph, "main"), "loss");
}

/* A tensor with more dimensions than the one that it is added to. */
static void add_matrix_to_row(pop_graph *graph)
{
  const size_t shape[] = {2, 4};
  pop_popops_add_codelets(graph);
  pop_popops_scaled_add_to(graph, new_tensor(graph, POP_FLOAT, shape + 1, 1),
                           new_tensor(graph, POP_FLOAT, shape, 2), 1,
                           pop_program_sequence(graph, "main"), "add");
}

static void map_matrix_to_row(pop_graph *graph)
{
  const size_t shape[] = {2, 4};
  const pop_expr_node node = {.kind = POP_EXPR_TENSOR};
  pop_tensor matrix = new_tensor(graph, POP_FLOAT, shape, 2);
  pop_popops_map(graph, &node, 1, &matrix, 1, new_tensor(graph, POP_FLOAT, shape + 1, 1),
                 pop_program_sequence(graph, "main"), "map");
}

Test(popops_calls, P04_tensors_of_more_dimensions_than_the_result)
{
  static const bad_call cases[] = {
      {add_matrix_to_row,
       POP_ERROR_TENSOR,
       {"pop_popops_scaled_add_to: ", "{2,4}", "to one of 1 dimensions"}},
      {map_matrix_to_row, POP_ERROR_TENSOR, {"pop_popops_map: ", "{2,4}", "of 1 dimensions"}},
  };
  assert_bad_calls(cases, sizeof cases / sizeof *cases);
}

Test(popops_calls, P01_operations_that_there_are_not)
{
  static const bad_call cases[] = {
      {reduce_by_nothing,
       POP_ERROR_INVALID_ARGUMENT,
       {"pop_popops_reduce", "operation 8", "0 (ADD) to 7"}},
      {update_by_nothing,
       POP_ERROR_INVALID_ARGUMENT,
       {"pop_popops_multi_update", "operation 4", "0 (POP_UPDATE_SET) to 3"}},
      {unary_by_nothing, POP_ERROR_INVALID_ARGUMENT, {"pop_popops_unary: ", "is none", "from 0 ("}},
      {unary_in_set_by_nothing,
       POP_ERROR_INVALID_ARGUMENT,
       {"pop_popops_unary_in_set: ", "is none", "from 0 ("}},
      {binary_by_nothing,
       POP_ERROR_INVALID_ARGUMENT,
       {"pop_popops_binary: ", "is none", "from 0 ("}},
      {loss_of_nothing,
       POP_ERROR_INVALID_ARGUMENT,
       {"pop_popnn_loss: ", "loss 2 is none", "0 (POP_LOSS_SUM_SQUARED) or 1"}},
  };
  assert_bad_calls(cases, sizeof cases / sizeof *cases);
}

/* A constant is rounded to a half once, not to a float first. */
Test(popops_calls, constants_of_halves_are_rounded_once)
{
  const double above_the_middle = 0x1.0020000001p0; /* 1 + 2^-11 + 2^-40 */
  const size_t count = 4;
  const pop_expr_node nodes[] = {{.kind = POP_EXPR_TENSOR},
                                 {.kind = POP_EXPR_CONSTANT, .value = above_the_middle},
                                 {.kind = POP_EXPR_BINARY, .op = POP_BINARY_ADD}};
  pop_graph *graph = new_graph_with_tiles(2);
  pop_popops_add_codelets(graph);
  pop_tensor t = new_tensor(graph, POP_HALF, &count, 1);
  pop_popops_map(graph, nodes, 3, &t, 1, t, pop_program_sequence(graph, "main"), "map");
  assert_no_error(graph);
  bool found = false;
  for (size_t i = 0; i < graph->num_variables; i++) {
    const variable *v = &graph->variables[i];
    uint16_t half;
    if (!v->constant || v->type != POP_HALF) continue;
    memcpy(&half, v->initial, sizeof half);
    cr_assert_eq(half, 0x3c01, "0x%x", half);
    found = true;
  }
  cr_assert(found);
  pop_graph_free(graph);
}

/* The host has a million tiles, and programs use a few. Operations must not spend time on the
 * others. */
Test(popops_calls, a_spread_has_the_tiles_that_have_elements)
{
  pop_target target;
  pop_target_create_cpu(&target);
  pop_graph *graph = pop_graph_create(&target);
  const size_t size = 6;
  pop_tensor t = pop_graph_add_variable(graph, POP_FLOAT, &size, 1, "t");
  pop_graph_set_tile_mapping(graph, t, 7);
  pop_graph_set_tile_mapping(graph, pop_tensor_slice(t, 2, 4, 0), 3);
  spread s = spread_of(graph, "test", t);
  cr_assert_eq(s.count, 2);
  cr_assert_lt(s.capacity, 100);
  cr_assert_eq(s.parts[0].tile, 3);
  cr_assert_eq(s.parts[0].num_elements, 2);
  cr_assert_eq(s.parts[1].tile, 7);
  cr_assert_eq(s.parts[1].count, 2);
  cr_assert_eq(s.parts[1].intervals[1].begin, 4);
  spread_free(&s);
  pop_graph_free(graph);
}
