/* Formats and scales of quarters in the C interface, with replicas, and with fields that are not as
 * popc makes them. tests/cxx/quarters.cpp has the effects in programs. */
#include "support/graph_test.h"

#include <populus/program.h>

/* The metadata field that popc makes for Vector<Input<Vector<quarter>>> in. */
static const pop_field metadata_field = {.name = "in.metadata",
                                         .kind = POP_FIELD_INPUT,
                                         .layout = POP_LAYOUT_SCALAR,
                                         .type = POP_UNSIGNED_CHAR};
static pop_field fields[2];
static const pop_vertex_type vertex_type = {.name = "Keep", .fields = fields, .num_fields = 2};

static pop_graph *new_quarter_graph(void)
{
  fields[0] = (pop_field){.name = "in",
                          .kind = POP_FIELD_INPUT,
                          .layout = POP_LAYOUT_SPAN,
                          .type = POP_QUARTER,
                          .has_rows = true,
                          .row_layout = POP_LAYOUT_SPAN};
  fields[1] = metadata_field;
  pop_graph *graph = new_graph_with_tiles(4);
  add_vertex_type(graph, &vertex_type);
  return graph;
}

static void assert_says(const pop_graph *graph, pop_error_code code, const char *words)
{
  assert_error(graph, code, (const char *const[]){words, NULL}, "here");
}

static pop_vertex new_vertex(pop_graph *graph)
{
  return pop_graph_add_vertex(graph, pop_graph_add_compute_set(graph, "set"), "Keep");
}

static pop_tensor new_quarters(pop_graph *graph, const char *name)
{
  return pop_graph_add_variable(graph, POP_QUARTER, &(size_t){4}, 1, name);
}

static uint32_t metadata_of(const pop_graph *graph, pop_tensor t)
{
  return graph->variables[graph->pieces[graph->tensors[t.index].first_piece].variable].metadata;
}

/* Each field of quarters has two edges. Its rows are connected one by one. */
Test(metadata, rows_of_one_variable_have_one)
{
  pop_graph *graph = new_quarter_graph();
  pop_vertex v = new_vertex(graph);
  pop_tensor quarters = new_quarters(graph, "quarters");
  pop_graph_connect_element(graph, v, "in", 0, pop_tensor_slice(quarters, 0, 2, 0));
  pop_graph_connect_element(graph, v, "in", 1, pop_tensor_slice(quarters, 2, 4, 0));
  assert_no_error(graph);
  cr_assert_eq(graph->num_edges, 2);
  pop_graph_connect_element(graph, v, "in", 2, new_quarters(graph, "others"));
  assert_says(graph, POP_ERROR_GRAPH_CONNECTION, "its rows have different metadata");
  pop_graph_free(graph);
}

Test(metadata, each_replica_has_its_own)
{
  pop_graph *graph = new_quarter_graph();
  pop_graph *part = pop_graph_create_replicated_graph(graph, 2);
  pop_tensor quarters = new_quarters(part, "quarters");
  pop_vertex v = new_vertex(part);
  pop_graph_connect_array(part, v, "in", &quarters, 1);
  assert_no_error(graph);
  uint32_t first = metadata_of(graph, quarters);
  cr_assert_neq(first, 0);
  uint32_t variable = graph->pieces[graph->tensors[quarters.index].first_piece].variable;
  cr_assert_eq(graph->variables[variable + 1].metadata, first + 1);
  cr_assert_eq(graph->num_edges, 4);
  pop_graph_free(graph);
}

/* Unless they are mapped, metadata are on the tile of the first quarter. */
Test(metadata, tile)
{
  pop_graph *graph = new_quarter_graph();
  pop_tensor quarters = new_quarters(graph, "quarters");
  pop_tensor metadata = pop_graph_get_metadata(graph, quarters);
  pop_graph_set_tile_mapping(graph, quarters, 3);
  size_t count;
  cr_assert_eq(graph_mapping(graph, metadata_of(graph, quarters) - 1, &count)->tile, 3);
  cr_assert_eq(count, 1);
  pop_graph_set_tile_mapping(graph, metadata, 1);
  cr_assert_eq(graph_mapping(graph, metadata_of(graph, quarters) - 1, &count)->tile, 1);
  cr_assert_eq(count, 1);
  assert_no_error(graph);
  pop_graph_free(graph);
}

Test(metadata, cannot_be_set_twice_nor_of_others)
{
  pop_graph *graph = new_quarter_graph();
  pop_tensor quarters = new_quarters(graph, "quarters");
  pop_tensor one = pop_graph_add_variable(graph, POP_UNSIGNED_CHAR, &(size_t){1}, 1, "one");
  pop_tensor other = pop_graph_add_variable(graph, POP_UNSIGNED_CHAR, &(size_t){1}, 1, "other");
  pop_graph_set_metadata(graph, quarters, one);
  pop_graph_set_metadata(graph, quarters, one);
  assert_no_error(graph);
  pop_graph_set_metadata(graph, quarters, other);
  assert_says(graph, POP_ERROR_INVALID_ARGUMENT, "has metadata already");
  pop_graph_free(graph);
  graph = new_quarter_graph();
  one = pop_graph_add_variable(graph, POP_UNSIGNED_CHAR, &(size_t){1}, 1, "one");
  cr_assert_eq(pop_graph_get_metadata(graph, one).index, 0);
  assert_says(graph, POP_ERROR_TYPE, "has no metadata: only quarters have");
  pop_graph_free(graph);
}

/* A file may have a field of that name that popc did not make. It is an ordinary field. */
Test(metadata, fields_of_that_name_that_are_something_else)
{
  pop_graph *graph = new_quarter_graph();
  pop_vertex v = new_vertex(graph);
  for (unsigned what = 0; what < 4; what++) {
    pop_field *field = &fields[1];
    *field = metadata_field;
    if (what == 0) field->kind = POP_FIELD_OUTPUT;
    if (what == 1) field->layout = POP_LAYOUT_SPAN;
    if (what == 2) field->has_rows = true;
    if (what == 3) field->type = POP_FLOAT;
    pop_tensor quarters = new_quarters(graph, "quarters");
    pop_graph_connect_array(graph, v, "in", &quarters, 1);
    assert_no_error(graph);
    cr_assert_eq(graph->num_edges, 1);
  }
  pop_graph_free(graph);
}

/* The first of two variables keeps none if the second has other ones. */
Test(metadata, are_set_for_all_variables_or_none)
{
  pop_graph *graph = new_quarter_graph();
  pop_tensor a = new_quarters(graph, "a"), b = new_quarters(graph, "b");
  pop_tensor own = pop_graph_add_variable(graph, POP_UNSIGNED_CHAR, NULL, 0, "own");
  pop_graph_get_metadata(graph, b);
  pop_graph_set_metadata(graph, pop_concat((const pop_tensor[]){a, b}, 2, 0), own);
  assert_says(graph, POP_ERROR_INVALID_ARGUMENT, "has metadata already");
  pop_error_free(pop_graph_take_error(graph));
  cr_assert_eq(metadata_of(graph, a), 0);
  pop_graph_set_metadata(graph, a, own);
  assert_no_error(graph);
  pop_graph_free(graph);
}
