/* Graphs with errors that the compiler finds before its first pass. The messages name the mistake
 * and where it is. */
#include "compiler/compilation.h"
#include "support/graph_test.h"

#include <stdlib.h>
#include <time.h>

static const pop_field stencil_fields[] = {
    {.name = "in",
     .kind = POP_FIELD_INPUT,
     .layout = POP_LAYOUT_SPAN,
     .type = POP_FLOAT,
     .offset = 0,
     .size = 8,
     .alignment = 4},
    {.name = "data",
     .kind = POP_FIELD_OUTPUT,
     .layout = POP_LAYOUT_SPAN,
     .type = POP_FLOAT,
     .offset = 8,
     .size = 8,
     .alignment = 4},
    {.name = "scale",
     .kind = POP_FIELD_CONSTANT,
     .layout = POP_LAYOUT_SCALAR,
     .type = POP_FLOAT,
     .offset = 16,
     .size = 4,
     .alignment = 4},
};
static const pop_vertex_type stencil = {.name = "Stencil",
                                        .symbol = "__runCodelet_Stencil",
                                        .state_size = 20,
                                        .state_alignment = 4,
                                        .fields = stencil_fields,
                                        .num_fields = 3};
static const pop_field update_fields[] = {
    {.name = "x",
     .kind = POP_FIELD_INOUT,
     .layout = POP_LAYOUT_SPAN,
     .type = POP_FLOAT,
     .offset = 0,
     .size = 8,
     .alignment = 4},
};
static const pop_vertex_type update = {.name = "Update",
                                       .symbol = "__runCodelet_Update",
                                       .state_size = 8,
                                       .state_alignment = 4,
                                       .fields = update_fields,
                                       .num_fields = 1};
static const pop_field scale_fields[] = {
    {.name = "x",
     .kind = POP_FIELD_INOUT,
     .layout = POP_LAYOUT_SPAN,
     .type = POP_FLOAT,
     .offset = 0,
     .size = 8,
     .alignment = 4},
    {.name = "by",
     .kind = POP_FIELD_INPUT,
     .layout = POP_LAYOUT_SPAN,
     .type = POP_FLOAT,
     .offset = 8,
     .size = 8,
     .alignment = 4},
};
static const pop_vertex_type scale = {.name = "Scale",
                                      .symbol = "__runCodelet_Scale",
                                      .state_size = 16,
                                      .state_alignment = 4,
                                      .fields = scale_fields,
                                      .num_fields = 2};

static const pop_vertex_type together = {.name = "Together",
                                         .symbol = "__runCodelet_Together",
                                         .kind = POP_VERTEX_MULTI,
                                         .state_size = 8,
                                         .state_alignment = 4,
                                         .fields = update_fields,
                                         .num_fields = 1};

/* A graph with 100 floats `in` and `data` (mapped), and one compute set that a program executes. */
typedef struct fixture {
  pop_graph *graph;
  pop_tensor in, data;
  pop_compute_set sweep;
  pop_program program;
} fixture;

static pop_tensor vector(pop_graph *graph, size_t count, const char *name)
{
  return pop_graph_add_variable(graph, POP_FLOAT, &count, 1, name);
}

static fixture new_fixture(void)
{
  fixture f = {.graph = new_graph_with_tiles(4)};
  add_vertex_type(f.graph, &stencil);
  add_vertex_type(f.graph, &update);
  add_vertex_type(f.graph, &scale);
  add_vertex_type(f.graph, &together);
  f.in = vector(f.graph, 100, "in");
  f.data = vector(f.graph, 100, "data");
  pop_graph_map_linearly(f.graph, f.in, 0, 0);
  pop_graph_map_linearly(f.graph, f.data, 0, 0);
  f.sweep = pop_graph_add_compute_set(f.graph, "sweep");
  f.program = pop_program_execute(f.graph, f.sweep, NULL);
  return f;
}

static pop_tensor part(pop_tensor t, size_t begin, size_t end)
{
  return pop_tensor_slice(t, begin, end, 0);
}

static pop_vertex add_stencil(fixture *f, pop_tensor in, pop_tensor data)
{
  pop_vertex v = pop_graph_add_vertex(f->graph, f->sweep, "Stencil");
  pop_graph_connect(f->graph, v, "in", in);
  pop_graph_connect(f->graph, v, "data", data);
  pop_graph_set_vertex_tile(f->graph, v, 1);
  return v;
}

static pop_vertex add_update(fixture *f, pop_tensor x)
{
  pop_vertex v = pop_graph_add_vertex(f->graph, f->sweep, "Update");
  pop_graph_connect(f->graph, v, "x", x);
  pop_graph_set_vertex_tile(f->graph, v, 1);
  return v;
}

static pop_vertex add_scale(fixture *f, pop_tensor x, pop_tensor by)
{
  pop_vertex v = pop_graph_add_vertex(f->graph, f->sweep, "Scale");
  pop_graph_connect(f->graph, v, "x", x);
  pop_graph_connect(f->graph, v, "by", by);
  pop_graph_set_vertex_tile(f->graph, v, 1);
  return v;
}

static pop_error *check(const fixture *f)
{
  assert_no_error(f->graph);
  uint32_t program = f->program.index - 1;
  compilation c = {.graph = f->graph,
                   .target = f->graph->target,
                   .control_programs = &program,
                   .num_control_programs = 1};
  return pass_check(&c);
}

/* ---- valid graphs ---- */

static void nothing(fixture *f)
{
  (void)f;
}

static void constant_field_unset(fixture *f)
{
  add_stencil(f, f->in, f->data);
}

static void two_readers(fixture *f)
{
  add_stencil(f, part(f->in, 0, 60), part(f->data, 0, 50));
  add_stencil(f, part(f->in, 40, 100), part(f->data, 50, 100));
}

static void input_with_repetitions(fixture *f)
{
  add_stencil(f, pop_tensor_broadcast(part(f->in, 3, 4), 10, 0), part(f->data, 0, 10));
}

static void unused_compute_set_is_half_built(fixture *f)
{
  pop_graph_add_vertex(f->graph, pop_graph_add_compute_set(f->graph, "unused"), "Stencil");
  vector(f->graph, 10, "unmapped");
}

static void interleaved_writers(fixture *f)
{
  pop_tensor even = pop_tensor_sub_sample(f->data, 2, 0);
  pop_tensor odd = pop_tensor_sub_sample(part(f->data, 1, 100), 2, 0);
  add_update(f, even);
  add_update(f, odd);
}

static void empty_tensors(fixture *f)
{
  add_stencil(f, part(f->in, 5, 5), part(f->data, 7, 7));
}

static void overlapping_copy(fixture *f)
{
  f->program = pop_program_copy(part(f->in, 0, 60), part(f->in, 20, 80), "shift");
}

static void all_workers(fixture *f)
{
  pop_vertex v = pop_graph_add_vertex(f->graph, f->sweep, "Together");
  pop_graph_connect(f->graph, v, "x", f->data);
  pop_graph_set_vertex_tile(f->graph, v, 1);
}

/* ---- invalid graphs ---- */

static void all_workers_of_another_machine(fixture *f)
{
  f->graph->target.num_worker_contexts = 4;
  all_workers(f);
}

static void vertex_without_tile(fixture *f)
{
  pop_vertex v = pop_graph_add_vertex(f->graph, f->sweep, "Stencil");
  pop_graph_connect(f->graph, v, "in", f->in);
  pop_graph_connect(f->graph, v, "data", f->data);
}

static void field_unconnected(fixture *f)
{
  pop_vertex v = pop_graph_add_vertex(f->graph, f->sweep, "Stencil");
  pop_graph_connect(f->graph, v, "in", f->in);
  pop_graph_set_vertex_tile(f->graph, v, 0);
}

static void unmapped_input(fixture *f)
{
  pop_tensor v = vector(f->graph, 50, "half");
  pop_graph_set_tile_mapping(f->graph, part(v, 0, 20), 1);
  pop_graph_set_tile_mapping(f->graph, part(v, 30, 50), 1);
  add_stencil(f, part(v, 10, 40), f->data);
}

static void unmapped_copy(fixture *f)
{
  f->program = pop_program_copy(vector(f->graph, 100, "nowhere"), f->data, "bring");
}

static void unmapped_print(fixture *f)
{
  f->program = pop_program_print_tensor(vector(f->graph, 3, "nowhere"), "title");
}

static void unmapped_handle(fixture *f)
{
  pop_graph_create_host_read(f->graph, "out", vector(f->graph, 3, "nowhere"));
}

static pop_tensor endless_broadcast(const fixture *f)
{
  return pop_tensor_broadcast(f->in, (size_t)1 << 40, 0);
}

static void print_endless_broadcast(fixture *f)
{
  f->program = pop_program_print_tensor(endless_broadcast(f), "endless");
}

static void connect_endless_broadcast(fixture *f)
{
  add_stencil(f, endless_broadcast(f), f->data);
}

static void two_writers(fixture *f)
{
  add_stencil(f, f->in, part(f->data, 0, 60));
  add_stencil(f, f->in, part(f->data, 40, 100));
}

static void writer_and_distant_writer(fixture *f)
{
  add_stencil(f, f->in, part(f->data, 0, 100));
  add_stencil(f, f->in, part(f->data, 10, 10));
  add_update(f, part(f->data, 90, 95));
}

static void reader_and_writer(fixture *f)
{
  add_stencil(f, f->in, part(f->data, 0, 60));
  add_stencil(f, part(f->data, 50, 55), part(f->data, 60, 65));
}

static void writes_the_very_elements_it_reads(fixture *f)
{
  add_stencil(f, f->data, f->data);
}

static void reads_what_it_changes(fixture *f)
{
  add_scale(f, f->data, part(f->data, 3, 4));
  add_scale(f, part(f->in, 3, 4), f->in);
}

static void reads_more_than_it_writes(fixture *f)
{
  add_stencil(f, f->data, part(f->data, 0, 60));
}

static void writes_more_than_it_reads(fixture *f)
{
  add_stencil(f, part(f->data, 0, 60), f->data);
}

static void writes_among_what_it_reads(fixture *f)
{
  const pop_tensor read[] = {part(f->data, 10, 30), part(f->data, 20, 40)};
  add_stencil(f, pop_concat(read, 2, 0), part(f->data, 20, 40));
}

static void reads_what_it_changes_beside_another_reader(fixture *f)
{
  add_scale(f, f->data, part(f->data, 3, 4));
  add_stencil(f, part(f->data, 90, 91), f->in);
}

/* What the first vertex reads ends inside of what the second one reads. */
static void reads_what_a_reader_of_more_changes(fixture *f)
{
  const pop_tensor read[] = {part(f->data, 1, 10), part(f->data, 5, 12)};
  add_stencil(f, part(f->data, 0, 10), f->in);
  add_scale(f, part(f->data, 6, 8), pop_concat(read, 2, 0));
}

static void in_place_and_another_writer(fixture *f)
{
  add_stencil(f, part(f->data, 0, 60), part(f->data, 0, 60));
  add_stencil(f, f->in, part(f->data, 55, 58));
}

static void neighbours(fixture *f)
{
  add_update(f, part(f->data, 0, 50));
  add_update(f, part(f->data, 50, 51));
  add_stencil(f, part(f->in, 0, 50), part(f->data, 51, 100));
  add_update(f, part(f->in, 50, 100));
}

static void writers_of_one_common_element(fixture *f)
{
  add_update(f, part(f->data, 0, 51));
  add_update(f, part(f->data, 50, 100));
}

static void writer_of_the_last_element_read(fixture *f)
{
  add_stencil(f, part(f->data, 0, 51), f->in);
  add_update(f, part(f->data, 50, 100));
}

static void reader_of_the_last_element_written(fixture *f)
{
  add_update(f, part(f->data, 0, 51));
  add_stencil(f, part(f->data, 50, 100), f->in);
}

static const struct {
  const char *name;
  void (*build)(fixture *);
  pop_error_code code;
  const char *words[6]; /* NULL: no error */
} cases[] = {
    {"nothing", nothing, 0, {0}},
    {"constant field unset", constant_field_unset, 0, {0}},
    {"two readers", two_readers, 0, {0}},
    {"input with repetitions", input_with_repetitions, 0, {0}},
    {"unused compute set", unused_compute_set_is_half_built, 0, {0}},
    {"interleaved writers", interleaved_writers, 0, {0}},
    {"empty tensors", empty_tensors, 0, {0}},
    {"writes the very elements it reads", writes_the_very_elements_it_reads, 0, {0}},
    {"reads what it changes", reads_what_it_changes, 0, {0}},
    {"a vertex of all workers", all_workers, 0, {0}},
    {"X07 overlapping copy", overlapping_copy, 0, {0}},
    {"neighbours", neighbours, 0, {0}},
    {"P08 vertex without tile",
     vertex_without_tile,
     POP_ERROR_GRAPH_CONNECTION,
     {"vertex 0", "Stencil", "'sweep'", "not mapped"}},
    {"a vertex of all workers where there are fewer",
     all_workers_of_another_machine,
     POP_ERROR_INVALID_ARGUMENT,
     {"vertex 0", "Together", "'sweep'", "by 6", "4 workers"}},
    {"P06 field unconnected",
     field_unconnected,
     POP_ERROR_GRAPH_CONNECTION,
     {"vertex 0", "'sweep'", "Stencil.data", "not connected"}},
    {"P05 unmapped input",
     unmapped_input,
     POP_ERROR_INVALID_TILE_MAPPING,
     {"[20:30)", "'half'", "vertex 0", "Stencil.in"}},
    {"P05 unmapped copy",
     unmapped_copy,
     POP_ERROR_INVALID_TILE_MAPPING,
     {"[0:100)", "'nowhere'", "copy 'bring'"}},
    {"P05 unmapped print",
     unmapped_print,
     POP_ERROR_INVALID_TILE_MAPPING,
     {"'nowhere'", "'title'"}},
    {"P05 unmapped handle",
     unmapped_handle,
     POP_ERROR_INVALID_TILE_MAPPING,
     {"'nowhere'", "host handle 'out'"}},
    {"P11 print of an endless broadcast",
     print_endless_broadcast,
     POP_ERROR_TENSOR,
     {"'endless'", "109951162777600 elements"}},
    {"P11 input from an endless broadcast",
     connect_endless_broadcast,
     POP_ERROR_GRAPH_CONNECTION,
     {"vertex 0", "Stencil.in", "2 GiB"}},
    {"P07 two writers",
     two_writers,
     POP_ERROR_GRAPH_CYCLE,
     {"Field Stencil.data writes to elements [40:60) of variable 'data' that are written to "
      "elsewhere in same compute set",
      "vertex 0", "vertex 1", "'sweep'"}},
    {"P07 writer and distant writer",
     writer_and_distant_writer,
     POP_ERROR_GRAPH_CYCLE,
     {"[90:95)", "vertex 0", "vertex 2", "Update.x"}},
    {"P07 reader and writer",
     reader_and_writer,
     POP_ERROR_GRAPH_CYCLE,
     {"Field Stencil.data writes to elements [50:55) of variable 'data' that are read elsewhere",
      "vertex 0", "vertex 1", "Stencil.in"}},
    {"P07 one that reads more than it writes",
     reads_more_than_it_writes,
     POP_ERROR_GRAPH_CYCLE,
     {"[0:60)", "Stencil.data", "vertex 0", "Stencil.in"}},
    {"P07 one that writes more than it reads",
     writes_more_than_it_reads,
     POP_ERROR_GRAPH_CYCLE,
     {"[0:60)", "Stencil.data", "vertex 0", "Stencil.in"}},
    {"P07 one that writes among what it reads",
     writes_among_what_it_reads,
     POP_ERROR_GRAPH_CYCLE,
     {"[20:30)", "Stencil.data", "vertex 0", "Stencil.in"}},
    {"P07 one that reads what it changes, and another reader",
     reads_what_it_changes_beside_another_reader,
     POP_ERROR_GRAPH_CYCLE,
     {"[90:91)", "Scale.x", "vertex 0", "vertex 1", "Stencil.in"}},
    {"P07 a reader, and one that changes what both read",
     reads_what_a_reader_of_more_changes,
     POP_ERROR_GRAPH_CYCLE,
     {"[6:8)", "Scale.x", "vertex 0", "vertex 1", "Stencil.in"}},
    {"P07 one that works in place, and another writer",
     in_place_and_another_writer,
     POP_ERROR_GRAPH_CYCLE,
     {"[55:58)", "Stencil.data", "vertex 0", "vertex 1"}},
    {"P07 two writers with one element in common",
     writers_of_one_common_element,
     POP_ERROR_GRAPH_CYCLE,
     {"[50:51)", "written to", "vertex 0", "vertex 1"}},
    {"P07 a reader, and a writer of the last element that it reads",
     writer_of_the_last_element_read,
     POP_ERROR_GRAPH_CYCLE,
     {"[50:51)", "Update.x", "are read", "vertex 0", "vertex 1"}},
    {"P07 a writer, and a reader of the last element that it writes",
     reader_of_the_last_element_written,
     POP_ERROR_GRAPH_CYCLE,
     {"[50:51)", "Update.x", "are read", "vertex 0", "vertex 1"}},
};

Test(check, P05_P06_P07_P08_X07_graphs_that_are_fine_and_graphs_that_are_not)
{
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture f = new_fixture();
    cases[i].build(&f);
    pop_error *error = check(&f);
    const char *message = error ? pop_error_message(error) : "no error";
    if (!cases[i].words[0]) {
      cr_assert_null(error, "%s: %s", cases[i].name, message);
    } else {
      cr_assert_not_null(error, "%s: no error", cases[i].name);
      cr_assert_eq(pop_error_get_code(error), cases[i].code, "%s: %s", cases[i].name, message);
      for (size_t j = 0; cases[i].words[j]; j++)
        cr_assert_not_null(strstr(message, cases[i].words[j]), "%s: no <%s> in: %s", cases[i].name,
                           cases[i].words[j], message);
    }
    pop_error_free(error);
    pop_graph_free(f.graph);
  }
}

Test(check, P11_a_hundred_thousand_vertices_are_checked_in_no_time)
{
  enum { VERTICES = 100000 };
  fixture f = new_fixture();
  pop_tensor in = vector(f.graph, VERTICES + 2, "u"), out = vector(f.graph, VERTICES, "v");
  pop_graph_map_linearly(f.graph, in, 0, 0);
  pop_graph_map_linearly(f.graph, out, 0, 0);
  for (size_t i = 0; i < VERTICES; i++)
    add_stencil(&f, part(in, i, i + 3), part(out, VERTICES - 1 - i, VERTICES - i));
  clock_t start = clock();
  pop_error *error = check(&f);
  cr_assert_null(error);
  cr_assert_lt((double)(clock() - start) / CLOCKS_PER_SEC, 5);
  pop_graph_free(f.graph);
}
