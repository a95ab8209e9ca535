/* Graphs as other programs see them: introspection, dot, JSON. */
#include "support/expect.h"
#include "support/graph_test.h"

#include <jansson.h>
#include <populus/populus.h>

static const pop_field fields[] = {
    {.name = "in", .kind = POP_FIELD_INPUT, .layout = POP_LAYOUT_SPAN, .type = POP_FLOAT},
    {.name = "out", .kind = POP_FIELD_OUTPUT, .layout = POP_LAYOUT_SCALAR, .type = POP_FLOAT}};
static const pop_vertex_type sum = {
    .name = "Sum\"<float>", .fields = (pop_field *)fields, .num_fields = 2};

typedef struct example {
  pop_graph *graph;
  pop_program main, other;
} example;

/* "sum" adds up the rows of m. Only the program `other` uses "unused". */
static example make(void)
{
  pop_graph *graph = new_graph_with_tiles(4);
  add_vertex_type(graph, &sum);
  pop_tensor m = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){2, 3}, 2, "m");
  pop_tensor sums = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){2}, 1, "sums");
  const float one = 1;
  pop_tensor c = pop_graph_add_constant(graph, POP_FLOAT, (size_t[]){1}, 1, &one, NULL);
  pop_compute_set set = pop_graph_add_compute_set(graph, "sum"),
                  unused = pop_graph_add_compute_set(graph, "unused");
  for (size_t i = 0; i < 2; i++) {
    pop_vertex v = pop_graph_add_vertex(graph, set, sum.name);
    pop_graph_set_vertex_tile(graph, v, i + 1);
    pop_graph_set_tile_mapping(graph, pop_tensor_index(m, i), i + 1);
    pop_graph_connect(graph, v, "in", pop_tensor_index(m, i));
    pop_graph_connect(graph, v, "out", pop_tensor_index(sums, i));
  }
  pop_graph_connect(graph, pop_graph_add_vertex(graph, unused, sum.name), "in", c);
  pop_stream stream = pop_graph_add_host_to_device_fifo(graph, "rows", POP_FLOAT, 6);
  pop_program main = pop_program_sequence(graph, "main");
  pop_sequence_add(main, pop_program_copy_from_stream(stream, m, NULL));
  pop_sequence_add(main, pop_program_repeat(graph, 7, pop_program_execute(graph, set, NULL), NULL));
  pop_graph_create_host_read(graph, "result", sums);
  assert_no_error(graph);
  return (example){graph, main, pop_program_execute(graph, unused, NULL)};
}

Test(introspection, variables_compute_sets_and_vertices)
{
  example e = make();
  pop_variable_info variable;
  cr_assert_eq(pop_graph_num_variables(e.graph), 3);
  expect_ok(pop_graph_variable_info(e.graph, 1, &variable));
  cr_assert_str_eq(variable.name, "sums");
  cr_assert_eq(pop_tensor_num_elements(variable.tensor), 2);
  expect_ok(pop_graph_variable_info(e.graph, 2, &variable));
  cr_assert(variable.constant && variable.type == POP_FLOAT && !*variable.name);
  expect_error(pop_graph_variable_info(e.graph, 3, &variable), POP_ERROR_INDEX,
               "no variable 3: the graph has 3", "variable");

  pop_compute_set_info set;
  cr_assert_eq(pop_graph_num_compute_sets(e.graph), 2);
  expect_ok(pop_graph_compute_set_info(e.graph, 0, &set));
  cr_assert_str_eq(set.name, "sum");
  cr_assert_eq(set.num_vertices, 2);
  expect_error(pop_graph_compute_set_info(e.graph, 2, &set), POP_ERROR_INDEX, "set 2", "set");

  pop_vertex_info vertex;
  cr_assert_eq(pop_graph_num_vertices(e.graph), 3);
  expect_ok(pop_graph_vertex_info(e.graph, 1, &vertex));
  cr_assert_str_eq(vertex.vertex_type, sum.name);
  cr_assert_eq(vertex.tile, 2);
  cr_assert_eq(vertex.compute_set.index, set.compute_set.index);
  expect_ok(pop_graph_vertex_info(e.graph, 2, &vertex));
  cr_assert_eq(vertex.tile, SIZE_MAX);
  expect_error(pop_graph_vertex_info(e.graph, 3, &vertex), POP_ERROR_INDEX, "vertex 3", "vertex");

  cr_assert(pop_graph_has_vertex_type(e.graph, sum.name));
  cr_assert(!pop_graph_has_vertex_type(e.graph, "Sum"));
  cr_assert_str_eq(pop_graph_vertex_type_name(e.graph, 0), sum.name);
  cr_assert_null(pop_graph_vertex_type_name(e.graph, 1));
  pop_graph_free(e.graph);
}

static void note_field(void *context, const char *field, size_t row, pop_tensor tensor)
{
  char text[80];
  pop_tensor_debug_string(tensor, text, sizeof text);
  sprintf((char *)context + strlen(context), "%s%s %s;", field, row == SIZE_MAX ? "" : " row",
          text);
}

Test(introspection, what_a_vertex_is_connected_to)
{
  example e = make();
  char text[200] = "";
  expect_ok(pop_graph_visit_vertex_fields(e.graph, 1, note_field, text));
  cr_assert_str_eq(text, "in float {3} = m[3:6];out float {} = sums[1];");
  expect_error(pop_graph_visit_vertex_fields(e.graph, 9, note_field, text), POP_ERROR_INDEX, "9",
               "9");
  pop_graph_free(e.graph);
}

Test(introspection, a_virtual_graph_shows_the_graph_with_its_own_tiles)
{
  example e = make();
  pop_graph *view = pop_graph_create_virtual_graph(e.graph, 2, 4);
  pop_vertex_info vertex;
  cr_assert_eq(pop_graph_num_vertices(view), 3);
  expect_ok(pop_graph_vertex_info(view, 1, &vertex));
  cr_assert_eq(vertex.tile, 0);
  expect_ok(pop_graph_vertex_info(view, 0, &vertex));
  cr_assert_eq(vertex.tile, SIZE_MAX);
  pop_graph_free(e.graph);
}

/* The text that `output` writes. */
static char *written(pop_error *(*output)(pop_graph *graph, FILE *stream,
                                          const pop_program *programs, size_t num_programs),
                     const example *e, size_t num_programs)
{
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  expect_ok(output(e->graph, stream, &e->main, num_programs));
  fclose(stream);
  return text;
}

static void expect_lines(const char *text, const char *const *lines)
{
  for (size_t i = 0; lines[i]; i++)
    cr_assert_not_null(strstr(text, lines[i]), "no <%s> in:\n%s", lines[i], text);
}

Test(introspection, vertices_for_dot)
{
  example e = make();
  char *text = written(pop_graph_output_vertex_graph, &e, 1);
  const char *const lines[] = {"digraph vertices {\n",
                               "    label=\"sum\";\n",
                               "    x1 [label=\"Sum\\\"<float> tile 2\"];\n",
                               "  v0 -> x1;\n",
                               "  x1 -> v1;\n",
                               "  v0 [shape=box, label=\"m float {2,3}\"];\n",
                               NULL};
  expect_lines(text, lines);
  cr_assert_null(strstr(text, "unused"));
  cr_assert_null(strstr(text, "v2"));
  free(text);
  text = written(pop_graph_output_vertex_graph, &e, 0);
  cr_assert_not_null(strstr(text, "unused"));
  free(text);
  pop_graph_free(e.graph);
}

Test(introspection, compute_sets_for_dot)
{
  example e = make();
  char *text = written(pop_graph_output_compute_graph, &e, 1);
  const char *const lines[] = {"digraph compute {\n",
                               "  c0 [label=\"sum (2 vertices)\"];\n",
                               "  v0 -> c0;\n",
                               "  c0 -> v1;\n",
                               "label=\"StreamCopy rows\"];\n",
                               " -> v0;\n",
                               NULL};
  expect_lines(text, lines);
  cr_assert_null(strstr(text, "unused"));
  free(text);
  const pop_program wrong = {0};
  expect_error(pop_graph_output_compute_graph(e.graph, stdout, &wrong, 1),
               POP_ERROR_CONTROL_PROGRAM, "null program", "null");
  pop_graph_free(e.graph);
}

/* Edges of a remote buffer's copies go the way of the data; offsets are read. */
Test(introspection, copies_of_remote_buffers_and_between_replicas_for_dot)
{
  pop_target target;
  const size_t row[] = {4}, one[] = {1};
  const pop_replica_pair ring[] = {{0, 1}, {1, 0}};
  expect_ok(pop_target_create("ipu2", 2, &target));
  example e = {.graph = pop_graph_create_replicated(&target, 2)};
  pop_tensor kept = pop_graph_add_variable(e.graph, POP_FLOAT, row, 1, "kept"),
             fetched = pop_graph_add_variable(e.graph, POP_FLOAT, row, 1, "fetched"),
             offset = pop_graph_add_variable(e.graph, POP_UNSIGNED_INT, one, 1, "offset");
  pop_remote_buffer buffer = pop_graph_add_remote_buffer(e.graph, "rows", POP_FLOAT, 4, 2);
  e.main = pop_program_sequence(e.graph, "main");
  pop_sequence_add(e.main, pop_program_copy_to_remote_buffer(kept, buffer, offset, "store"));
  pop_sequence_add(e.main, pop_program_copy_from_remote_buffer(buffer, fetched, offset, "fetch"));
  pop_sequence_add(e.main, pop_program_cross_replica_copy(kept, fetched, ring, 2, "ring"));
  assert_no_error(e.graph);
  char *text = written(pop_graph_output_compute_graph, &e, 1);
  const char *const lines[] = {
      "p1 [shape=parallelogram, label=\"RemoteCopy rows\"];\n  v0 -> p1;\n  v2 -> p1;\n",
      "p2 [shape=parallelogram, label=\"RemoteCopy rows\"];\n  p2 -> v1;\n  v2 -> p2;\n",
      "p3 [shape=parallelogram, label=\"CrossReplicaCopy ring\"];\n  v0 -> p3;\n  p3 -> v1;\n",
      NULL};
  expect_lines(text, lines);
  free(text);
  pop_graph_free(e.graph);
}

Test(introspection, a_graph_that_was_freed_is_not_output)
{
  example e = make();
  pop_graph_free(e.graph);
  expect_error(pop_graph_output_vertex_graph(e.graph, stdout, NULL, 0), POP_ERROR_INVALID_ARGUMENT,
               "pop_graph_output_vertex_graph: the graph was freed", "vertices");
  expect_error(pop_graph_output_compute_graph(e.graph, stdout, NULL, 0), POP_ERROR_INVALID_ARGUMENT,
               "pop_graph_output_compute_graph: the graph was freed", "compute sets");
  expect_error(pop_graph_output_vertex_graph(NULL, stdout, NULL, 0), POP_ERROR_INVALID_ARGUMENT,
               "the graph is NULL", "NULL");
}

Test(introspection, a_graph_as_JSON)
{
  example e = make();
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  expect_ok(pop_graph_serialize(e.graph, stream));
  fclose(stream);
  json_error_t where;
  json_t *root = json_loadb(text, size, 0, &where);
  cr_assert_not_null(root, "%s at %d of\n%s", where.text, where.position, text);
  const json_t *variables = json_object_get(root, "variables");
  cr_assert_eq(json_array_size(variables), 3);
  const json_t *mapping = json_object_get(json_array_get(variables, 0), "mapping");
  cr_assert_eq(json_array_size(mapping), 2);
  cr_assert_eq(json_integer_value(json_array_get(json_array_get(mapping, 1), 2)), 2);
  cr_assert_eq(json_array_size(json_object_get(root, "vertices")), 3);
  cr_assert_eq(json_array_size(json_object_get(root, "computeSets")), 2);
  const json_t *type = json_array_get(json_object_get(root, "vertexTypes"), 0);
  cr_assert_str_eq(json_string_value(type), sum.name);
  bool found = false;
  size_t i;
  const json_t *program;
  json_array_foreach(
      json_object_get(root, "programs"), i,
      program) if (strcmp(json_string_value(json_object_get(program, "kind")), "Repeat") == 0)
      found = json_integer_value(json_object_get(program, "count")) == 7;
  cr_assert(found);
  json_decref(root);
  free(text);
  pop_graph_free(e.graph);
}

/* Checks the kinds of the programs that `program` runs, with their indices. */
static void expect_program(pop_program program, const char *wanted)
{
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  expect_ok(pop_program_serialize(program, stream));
  fclose(stream);
  json_error_t where;
  json_t *root = json_loadb(text, size, 0, &where);
  cr_assert_not_null(root, "%s at %d of\n%s", where.text, where.position, text);
  free(text);
  char kinds[200] = "";
  size_t i;
  const json_t *row;
  json_array_foreach(root, i, row)
      snprintf(kinds + strlen(kinds), sizeof kinds - strlen(kinds), "%s%d ",
               json_string_value(json_object_get(row, "kind")),
               (int)json_integer_value(json_object_get(row, "index")) - (int)program.index + 1);
  cr_assert_str_eq(kinds, wanted);
  json_decref(root);
}

Test(introspection, what_a_program_runs_as_JSON_each_program_once)
{
  pop_graph *graph = new_graph_with_tiles(1);
  pop_program outer = pop_program_sequence(graph, "outer");
  pop_program twice = pop_program_sequence(graph, "twice");
  pop_program nothing = pop_program_nop(graph, "nothing");
  pop_program repeat = pop_program_repeat(graph, 3, twice, "repeat");
  pop_program_nop(graph, "elsewhere");
  pop_sequence_add(twice, nothing);
  pop_sequence_add(outer, nothing);
  pop_sequence_add(outer, twice);
  pop_sequence_add(outer, repeat);
  expect_program(outer, "Sequence0 Nop2 Sequence1 Repeat3 ");
  expect_program(nothing, "Nop0 ");
  expect_error(pop_program_serialize((pop_program){graph, 0}, stdout), POP_ERROR_CONTROL_PROGRAM,
               "null program", "null");
  pop_graph_free(graph);
}

/* The way of the data, and which child is for which value: programs that differ in these are
 * different texts. */
Test(introspection, copies_of_remote_buffers_and_the_values_of_switches_as_JSON)
{
  pop_graph *graph = new_graph_with_tiles(1);
  const size_t shape[] = {4};
  pop_tensor t = pop_graph_add_variable(graph, POP_FLOAT, shape, 1, "t"),
             control = pop_graph_add_variable(graph, POP_SHORT, NULL, 0, "control"),
             offset = pop_graph_add_variable(graph, POP_INT, (size_t[]){1}, 1, "offset");
  pop_remote_buffer other = pop_graph_add_remote_buffer(graph, "other", POP_FLOAT, 4, 1),
                    buffer = pop_graph_add_remote_buffer(graph, "rows", POP_FLOAT, 4, 2);
  (void)other;
  pop_program fetch = pop_program_copy_from_remote_buffer(buffer, t, offset, "fetch"),
              store = pop_program_copy_to_remote_buffer(t, buffer, offset, "store");
  const pop_switch_case cases[] = {{-5, fetch}, {7, store}};
  pop_program_switch(control, cases, 2, (pop_program){0}, "choice");
  assert_no_error(graph);
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  expect_ok(pop_graph_serialize(graph, stream));
  fclose(stream);
  const char *const lines[] = {
      "\"name\":\"fetch\",\"remoteBuffer\":1,\"toDevice\":true",
      "\"name\":\"store\",\"remoteBuffer\":1,\"toDevice\":false",
      "\"name\":\"choice\",\"caseValues\":[-5,7],\"children\":[",
      "{\"name\":\"other\",\"type\":\"float\",\"numElements\":4,\"repeats\":1},",
      "\"name\":\"rows\",\"type\":\"float\",\"numElements\":4,\"repeats\":2}]",
      NULL};
  expect_lines(text, lines);
  free(text);
  pop_graph_free(graph);
}

static char *saved_tensors(const pop_tensor *tensors, size_t count, size_t *size)
{
  char *bytes;
  FILE *stream = open_memstream(&bytes, size);
  expect_ok(pop_graph_save_tensors(tensors[0].graph, tensors, count, stream));
  fclose(stream);
  return bytes;
}

Test(introspection, saved_tensors_come_back_in_another_graph)
{
  pop_graph *graph = new_graph_with_tiles(4), *other = new_graph_with_tiles(4),
            *small = new_graph_with_tiles(2);
  pop_graph_add_variable(graph, POP_INT, NULL, 0, "of no interest");
  pop_tensor m = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){2, 3}, 2, "m");
  for (size_t i = 0; i < 2; i++) pop_graph_set_tile_mapping(graph, pop_tensor_index(m, i), i + 2);
  const pop_tensor saved[] = {pop_tensor_transpose(m), pop_tensor_index(m, 1),
                              pop_tensor_slice(m, 0, 0, 0)};
  size_t size, again_size, count;
  char *bytes = saved_tensors(saved, 3, &size);
  pop_graph_add_variable(other, POP_INT, NULL, 0, "m");
  pop_tensor *loaded;
  expect_ok(pop_graph_load_tensors(other, bytes, size, &loaded, &count));
  assert_no_error(other);
  cr_assert_eq(count, 3);
  cr_assert(pop_tensor_rank(loaded[0]) == 2 && pop_tensor_dim(loaded[0], 0) == 3);
  cr_assert_eq(pop_tensor_num_elements(loaded[2]), 0);
  char *again =
      saved_tensors(loaded, 3, &again_size); /* names, mapping and elements are the same */
  cr_assert(again_size == size && memcmp(again, bytes, size) == 0);
  free(again);
  free(loaded);
  expect_error(pop_graph_load_tensors(small, bytes, size, &loaded, &count), POP_ERROR_FILE_LOAD,
               "a tile that this graph has not", "small");
  for (size_t cut = 0; cut < size; cut++)
    expect_error(pop_graph_load_tensors(small, bytes, cut, &loaded, &count), POP_ERROR_FILE_LOAD,
                 "these are no tensors that were saved", "cut");
  assert_no_error(small);
  expect_error(pop_graph_save_tensors(other, saved, 1, stdout), POP_ERROR_INVALID_ARGUMENT,
               "not one of this graph", "another's");
  free(bytes);
  pop_graph_free(small);
  pop_graph_free(other);
  pop_graph_free(graph);
}

/* Tile numbers mean nothing to a CPU, so it takes those of any target. */
Test(introspection, saved_tensors_come_back_in_a_graph_for_the_CPU)
{
  pop_graph *graph = new_graph_with_tiles(4), *other;
  pop_tensor m = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){2}, 1, "m"), *loaded;
  for (size_t i = 0; i < 2; i++) pop_graph_set_tile_mapping(graph, pop_tensor_index(m, i), i + 2);
  size_t size, again_size, count;
  char *bytes = saved_tensors(&m, 1, &size);
  graphs_for_cpu = true;
  other = new_graph();
  expect_ok(pop_graph_load_tensors(other, bytes, size, &loaded, &count));
  char *again = saved_tensors(loaded, 1, &again_size);
  cr_assert(again_size == size && memcmp(again, bytes, size) == 0);
  free(again);
  free(loaded);
  free(bytes);
  pop_graph_free(other);
  pop_graph_free(graph);
}

/* CBOR: a map with the format, one variable of 2^62 elements, and no tensors. */
Test(introspection, saved_variables_that_no_graph_could_have)
{
  static const uint8_t bytes[] = "\xa3\x66"
                                 "format"
                                 "\x6f"
                                 "populus tensors"
                                 "\x69"
                                 "variables"
                                 "\x81\xa4\x64"
                                 "name"
                                 "\x61"
                                 "v"
                                 "\x64"
                                 "type"
                                 "\x65"
                                 "float"
                                 "\x68"
                                 "elements"
                                 "\x1b\x40\0\0\0\0\0\0\0"
                                 "\x67"
                                 "mapping"
                                 "\x80"
                                 "\x67"
                                 "tensors"
                                 "\x80";
  example e = make();
  pop_tensor *loaded;
  size_t count;
  pop_error *error = pop_graph_load_tensors(e.graph, bytes, sizeof bytes - 1, &loaded, &count);
  cr_assert_not_null(error);
  cr_expect(strstr(pop_error_message(error), "'v'") || strstr(pop_error_message(error), "elements"),
            "%s", pop_error_message(error));
  pop_error_free(error);
  cr_assert(!loaded && count == 0);
  assert_no_error(e.graph);
  pop_graph_free(e.graph);
}

Test(introspection, saved_tensors_for_a_graph_that_has_an_error)
{
  pop_graph *graph = new_graph_with_tiles(4);
  pop_tensor x = pop_graph_add_variable(graph, POP_INT, NULL, 0, "x"), *loaded;
  size_t size, count;
  char *bytes = saved_tensors(&x, 1, &size);
  pop_tensor_index(x, 0);
  expect_error(pop_graph_load_tensors(graph, bytes, size, &loaded, &count), POP_ERROR_INDEX,
               "has an error already: pop_tensor_index", "before");
  cr_assert(!loaded && count == 0);
  pop_error_free(pop_graph_take_error(graph));
  expect_ok(pop_graph_load_tensors(graph, bytes, size, &loaded, &count));
  free(loaded);
  free(bytes);
  pop_graph_free(graph);
}

Test(introspection, output_that_cannot_be_written_is_an_error)
{
  example e = make();
  FILE *full = fopen("/dev/full", "w");
  if (full) {
    expect_error(pop_graph_serialize(e.graph, full), POP_ERROR_SYSTEM, "cannot write", "full");
    fclose(full);
  }
  pop_graph_free(e.graph);
}

Test(introspection, fields_of_a_vertex_type)
{
  example e = make();
  pop_vertex_info vertex;
  expect_ok(pop_graph_vertex_info(e.graph, 0, &vertex));
  pop_field_info field;
  expect_ok(pop_graph_field_info(vertex.vertex, "in", &field));
  cr_assert(field.is_edge && field.is_vector && !field.has_rows && field.type == POP_FLOAT);
  expect_ok(pop_graph_field_info(vertex.vertex, "out", &field));
  cr_assert(field.is_edge && !field.is_vector);
  expect_error(pop_graph_field_info(vertex.vertex, "inn", &field), POP_ERROR_UNKNOWN_FIELD, "'in'",
               "field");
  assert_no_error(e.graph);
  expect_error(pop_graph_field_info((pop_vertex){e.graph, 99}, "in", &field),
               POP_ERROR_INVALID_ARGUMENT, "vertex", "field");
  expect_error(pop_graph_field_info((pop_vertex){0}, "in", &field), POP_ERROR_INVALID_ARGUMENT,
               "NULL", "field");
  assert_no_error(e.graph);
  pop_graph_free(e.graph);
}

Test(introspection, fields_are_known_before_there_is_a_vertex)
{
  example e = make();
  pop_field_info field;
  expect_ok(pop_graph_vertex_type_field_info(e.graph, sum.name, "in", &field));
  cr_assert(field.is_edge && field.is_vector && !field.has_rows);
  cr_assert_eq(field.max_rows, 1);
  cr_assert_eq(field.max_elements, pop_field_max_elements(&sum.fields[0]));
  expect_error(pop_graph_vertex_type_field_info(e.graph, sum.name, "inn", &field),
               POP_ERROR_UNKNOWN_FIELD, "'inn'", "no such field");
  expect_error(pop_graph_vertex_type_field_info(e.graph, "Sun", "in", &field),
               POP_ERROR_UNKNOWN_VERTEX_TYPE, "'Sun'", "no such type");
  assert_no_error(e.graph);
  pop_graph_free(e.graph);
}

Test(introspection, a_graph_goes_on_when_its_error_is_taken)
{
  example e = make();
  cr_assert_null(pop_graph_take_error(e.graph));
  pop_tensor wrong = pop_graph_add_variable(e.graph, POP_FLOAT, (size_t[]){2}, 17, "wrong");
  cr_assert(!pop_tensor_valid(wrong) && pop_graph_error(e.graph));
  pop_field_info field;
  expect_error(pop_graph_field_info((pop_vertex){e.graph, 1}, "in", &field),
               pop_error_get_code(pop_graph_error(e.graph)), "17", "field");
  expect_error(pop_graph_take_error(e.graph), POP_ERROR_INVALID_ARGUMENT, "17", "taken");
  assert_no_error(e.graph);
  cr_assert(pop_tensor_valid(pop_graph_add_variable(e.graph, POP_FLOAT, NULL, 0, "right")));
  cr_assert_eq(pop_graph_num_variables(e.graph), 4);
  pop_graph_free(e.graph);
}
