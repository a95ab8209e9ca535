/* The mapping of the tensors that slices create: few intervals on each tile. */
#include "graph/graph.h"
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/popops.h>
#include <populus/popops_slice.h>

TestSuite(slice, .init = enter_fresh_folder);

/* Slices are on the tiles of their columns, and those of a tile follow one another: one interval of
 * the mapping for each tile, not for each element. The same holds for the joined slices of a table
 * that is cut. */
Test(slice, slices_of_a_column_lie_together)
{
  enum { COLUMNS = 6, SLICES = 50, FEW = 100, MANY = 12000 };
  static const size_t rows[] = {FEW, MANY};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    pop_graph *graph = new_graph_with_tiles(40);
    pop_popops_add_codelets(graph);
    pop_program main = pop_program_sequence(graph, "main");
    const size_t shape[] = {rows[i], COLUMNS}, dim = 0, count = SLICES;
    pop_tensor table = pop_popops_create_sliceable(graph, POP_FLOAT, shape, 2, &dim, 1, "table");
    pop_tensor indices = pop_graph_add_variable(graph, POP_UNSIGNED_INT, &count, 1, "indices");
    pop_graph_map_linearly(graph, indices, 0, 0);
    pop_tensor out =
        pop_popops_multi_slice(graph, table, indices, 0, 1, (pop_tensor){0}, main, "slices");
    assert_no_error(graph);
    cr_assert_eq(pop_tensor_rank(out), 3);
    cr_assert(pop_tensor_dim(out, 0) == SLICES && pop_tensor_dim(out, 2) == COLUMNS);
    double length = view_run_length(pop_tensor_dim_shuffle(out, (const size_t[]){2, 1, 0}, 3));
    cr_assert_geq(length, SLICES, "%g elements of a column together, of %zu rows", length, rows[i]);
    pop_graph_free(graph);
  }
}

/* The same for slices of groups. */
Test(slice, slices_of_groups_lie_together)
{
  enum { GROUPS = 2, ROWS = 100, COLUMNS = 6, SLICES = 50 };
  pop_graph *graph = new_graph_with_tiles(40);
  pop_popops_add_codelets(graph);
  pop_program main = pop_program_sequence(graph, "main");
  const size_t shape[] = {GROUPS, ROWS, COLUMNS}, counts[] = {GROUPS, SLICES}, dim = 1;
  pop_tensor table = pop_popops_create_sliceable(graph, POP_FLOAT, shape, 3, &dim, 1, "table");
  pop_tensor indices = pop_graph_add_variable(graph, POP_UNSIGNED_INT, counts, 2, "indices");
  pop_graph_map_linearly(graph, indices, 0, 0);
  pop_tensor out = pop_popops_grouped_multi_slice(graph, table, indices, 0, 1, main, "slices");
  assert_no_error(graph);
  cr_assert_eq(pop_tensor_rank(out), 4);
  double length = view_run_length(pop_tensor_dim_shuffle(out, (const size_t[]){0, 3, 2, 1}, 4));
  cr_assert_geq(length, SLICES, "%g elements of a column together", length);
  pop_graph_free(graph);
}
