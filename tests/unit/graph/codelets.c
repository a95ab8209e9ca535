/* Codelets of a graph: .gp files and source code, what is added only once, and calls that give
 * errors. popc makes the files in the current folder (each test runs in a new one). */
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/introspection.h>
#include <populus/popc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char sum_source[] = "#include <populus/vertex.h>\n"
                                 "#ifndef FACTOR\n"
                                 "#define FACTOR 1\n"
                                 "#endif\n"
                                 "typedef struct {\n"
                                 "  INPUT(VECTOR(float)) in;\n"
                                 "  OUTPUT(float) out;\n"
                                 "} SumVertex;\n"
                                 "COMPUTE(SumVertex)\n"
                                 "{\n"
                                 "  float sum = 0;\n"
                                 "  for (unsigned i = 0; i < vertex->in.size; ++i)\n"
                                 "    sum += vertex->in.data[i];\n"
                                 "  *vertex->out = sum * FACTOR;\n"
                                 "  return true;\n"
                                 "}\n";

static const char other_source[] = "#include <populus/vertex.h>\n"
                                   "typedef struct {\n"
                                   "  INOUT(VECTOR(int)) data;\n"
                                   "  int step;\n"
                                   "} CountVertex;\n"
                                   "COMPUTE(CountVertex)\n"
                                   "{\n"
                                   "  for (unsigned i = 0; i < vertex->data.size; ++i)\n"
                                   "    vertex->data.data[i] += vertex->step;\n"
                                   "  return true;\n"
                                   "}\n";

static void write_file(const char *path, const void *bytes, size_t size)
{
  FILE *file = fopen(path, "wb");
  cr_assert_not_null(file, "%s", path);
  cr_assert_eq(fwrite(bytes, 1, size, file), size);
  fclose(file);
}

static void write_text(const char *path, const char *text)
{
  write_file(path, text, strlen(text));
}

static void make_gp(const char *output, const char *const *inputs, size_t num_inputs)
{
  popc_options options = {.size = sizeof options,
                          .inputs = inputs,
                          .num_inputs = num_inputs,
                          .output = output,
                          .diagnostics_fd = -1};
  pop_error *error = popc_compile(&options, NULL, NULL);
  cr_assert_null(error, "%s", error ? pop_error_message(error) : "");
}

static void assert_connects_sum(pop_graph *graph)
{
  pop_tensor v = pop_graph_add_variable(graph, POP_FLOAT, (const size_t[]){4}, 1, "v");
  pop_vertex sum =
      pop_graph_add_vertex(graph, pop_graph_add_compute_set(graph, "set"), "SumVertex");
  pop_graph_connect(graph, sum, "in", v);
  pop_graph_connect(graph, sum, "out", pop_tensor_index(v, 0));
  assert_no_error(graph);
}

/* Keeps the last field's name. */
static void keep_name(void *context, const char *field, size_t row, pop_tensor tensor)
{
  (void)row;
  (void)tensor;
  *(const char **)context = field;
}

/* ---- valid calls ---- */

Test(codelets, source_from_memory_and_from_a_file_and_a_gp)
{
  write_text("sum.c", sum_source);
  make_gp("sum.gp", (const char *[]){"sum.c"}, 1);
  pop_graph *graphs[] = {new_graph(), new_graph(), new_graph()};
  pop_graph_add_codelets_source(graphs[0], "c", sum_source, "sum", "-O2");
  pop_graph_add_codelets(graphs[1], "sum.c", "-O2 -DFACTOR='(1 + 1)'");
  pop_graph_add_codelets(graphs[2], "sum.gp", NULL);
  for (size_t i = 0; i < 3; i++) {
    assert_connects_sum(graphs[i]);
    pop_graph_free(graphs[i]);
  }
}

Test(codelets, source_from_memory_includes_files_of_the_current_folder)
{
  write_text("factor.h", "#define FACTOR 3\n");
  char text[sizeof sum_source + 40];
  snprintf(text, sizeof text, "#include \"factor.h\"\n%s", sum_source);
  pop_graph *graph = new_graph();
  pop_graph_add_codelets_source(graph, "c", text, NULL, NULL);
  assert_connects_sum(graph);
  pop_graph_free(graph);
}

Test(codelets, S07_source_from_memory_may_begin_with_a_byte_order_mark)
{
  char text[sizeof sum_source + 4];
  snprintf(text, sizeof text, "\xef\xbb\xbf%s", sum_source);
  pop_graph *graph = new_graph();
  pop_graph_add_codelets_source(graph, "c", text, NULL, NULL);
  assert_connects_sum(graph);
  pop_graph_free(graph);
}

Test(codelets, G14_the_same_codelets_are_taken_once)
{
  write_text("sum.c", sum_source);
  make_gp("sum.gp", (const char *[]){"sum.c"}, 1);
  make_gp("copy.gp", (const char *[]){"sum.gp"}, 1);
  pop_graph *graph = new_graph();
  for (int i = 0; i < 3; i++) pop_graph_add_codelets(graph, "sum.gp", NULL);
  pop_graph_add_codelets(graph, "copy.gp", NULL);
  assert_connects_sum(graph);
  cr_assert_eq(graph->num_codelets, 1);
  cr_assert_eq(graph->num_vertex_types, 1);
  pop_graph_free(graph);
}

Test(codelets, G14_files_that_share_codelets_become_one)
{
  write_text("sum.c", sum_source);
  write_text("other.c", other_source);
  make_gp("sum.gp", (const char *[]){"sum.c"}, 1);
  make_gp("all.gp", (const char *[]){"other.c", "sum.gp"}, 2);
  for (int order = 0; order < 2; order++) {
    pop_graph *graph = new_graph();
    pop_graph_add_codelets(graph, order ? "all.gp" : "sum.gp", NULL);
    pop_compute_set set = pop_graph_add_compute_set(graph, "set");
    pop_vertex sum = pop_graph_add_vertex(graph, set, "SumVertex");
    pop_graph_add_codelets(graph, order ? "sum.gp" : "all.gp", NULL);
    pop_graph_add_codelets(graph, "sum.gp", NULL);
    pop_graph_add_codelets(graph, "all.gp", NULL);
    pop_tensor v = pop_graph_add_variable(graph, POP_FLOAT, (const size_t[]){4}, 1, "v");
    pop_graph_connect(graph, sum, "in", v);
    pop_graph_set_field_int(graph, pop_graph_add_vertex(graph, set, "CountVertex"), "step", 3);
    assert_no_error(graph);
    cr_assert_eq(graph->num_codelets, 1);
    cr_assert_eq(graph->num_vertex_types, 2);
    pop_graph_free(graph);
  }
}

/* MALLOC_PERTURB_ or AddressSanitizer shows names that are freed with the first file. */
Test(codelets, names_stay_when_a_file_that_shares_codelets_is_added)
{
  write_text("sum.c", sum_source);
  write_text("other.c", other_source);
  make_gp("sum.gp", (const char *[]){"sum.c"}, 1);
  make_gp("all.gp", (const char *[]){"other.c", "sum.gp"}, 2);
  pop_graph *graph = new_graph();
  pop_graph_add_codelets(graph, "sum.gp", NULL);
  assert_connects_sum(graph);
  const char *name = pop_graph_vertex_type_name(graph, 0), *field = NULL;
  pop_vertex_info info;
  expect_ok(pop_graph_vertex_info(graph, 0, &info));
  expect_ok(pop_graph_visit_vertex_fields(graph, 0, keep_name, &field));
  pop_graph_add_codelets(graph, "all.gp", NULL);
  assert_no_error(graph);
  cr_assert_eq(graph->num_codelets, 1);
  cr_assert_str_eq(name, "SumVertex");
  cr_assert_str_eq(info.vertex_type, "SumVertex");
  cr_assert_str_eq(field, "out");
  /* What adds nothing replaces nothing. */
  name = pop_graph_vertex_type_name(graph, 0);
  for (int i = 0; i < 3; i++) pop_graph_add_codelets(graph, "sum.gp", NULL);
  assert_no_error(graph);
  cr_assert_eq(name, pop_graph_vertex_type_name(graph, 0));
  cr_assert_eq(graph->num_merged, 1);
  pop_graph_free(graph);
}

/* ---- refused calls ---- */

Test(codelets, G14_one_vertex_with_two_codes_is_refused_naming_both_files)
{
  pop_graph *graph = new_graph();
  pop_graph_add_codelets_source(graph, "c", sum_source, "first", NULL);
  assert_no_error(graph);
  pop_graph_add_codelets_source(graph, "c", sum_source, "second", "-DFACTOR=2");
  const pop_error *error = pop_graph_error(graph);
  cr_assert_not_null(error);
  const char *const words[] = {"SumVertex", "first", "second"};
  for (size_t i = 0; i < 3; i++)
    cr_assert_not_null(strstr(pop_error_message(error), words[i]), "%s", pop_error_message(error));
  pop_graph_free(graph);
}

Test(codelets, S01_source_that_does_not_compile_shows_the_compilers_diagnostics)
{
  pop_graph *graph = new_graph();
  pop_graph_add_codelets_source(graph, "c", "int f(void)\n{\n  return undeclared;\n}\n",
                                "my \"code\"", NULL);
  assert_error(graph, POP_ERROR_CODELET_COMPILE,
               (const char *[5]){
                   "pop_graph_add_codelets_source: 'my \"code\"' does not compile",
                   "my \"code\":3:10: error:", "    3 |   return undeclared;\n      |          ^"},
               "does not compile");
  pop_graph_free(graph);
}

/* A mistake that only popc detects. A folder has the name of the source, and a header is beside
 * it. */
Test(codelets, S09_source_from_memory_has_the_name_and_the_lines_that_its_author_knows)
{
  cr_assert_eq(mkdir("code", 0777), 0);
  FILE *header = fopen("header.h", "w");
  cr_assert_not_null(header);
  fputs("#define FIELD char *f\n", header);
  fclose(header);
  pop_graph *graph = new_graph();
  pop_graph_add_codelets_source(graph, "c++",
                                "#include <poplar/Vertex.hpp>\n#include \"header.h\"\n"
                                "struct V : poplar::Vertex {\n  FIELD;\n  bool compute();\n};\n",
                                "code", NULL);
  assert_error(graph, POP_ERROR_CODELET_COMPILE,
               (const char *[5]){"'code' does not compile",
                                 "code:4:3: error: field 'V.f' has unsupported field type 'char *'",
                                 "    4 |   FIELD;\n      |   ^"},
               "S09");
  pop_graph_free(graph);
}

Test(codelets, nothing_is_left_of_source_from_memory)
{
  cr_assert_eq(mkdir("tmp", 0777), 0);
  setenv("TMPDIR", "tmp", 1);
  const char *const sources[] = {sum_source, "not C at all"};
  for (size_t i = 0; i < 2; i++) {
    pop_graph *graph = new_graph();
    pop_graph_add_codelets_source(graph, "c", sources[i], "source", NULL);
    pop_graph_free(graph);
  }
  cr_assert_eq(rmdir("tmp"), 0, "something is left in TMPDIR");
}

static const struct refusal {
  const char *path, *flags;
  pop_error_code code;
  const char *words[5];
} refusals[] = {
    {"missing.gp", NULL, POP_ERROR_FILE_LOAD, {"pop_graph_add_codelets", "missing.gp"}},
    {"missing.c", NULL, POP_ERROR_FILE_LOAD, {"pop_graph_add_codelets", "missing.c"}},
    {"cut.gp", NULL, POP_ERROR_FILE_LOAD, {"cut.gp"}},
    {"photo.gp", NULL, POP_ERROR_FILE_LOAD, {"photo.gp", "JPEG"}},
    {"photo.jpg", NULL, POP_ERROR_FILE_LOAD, {"photo.jpg", "JPEG"}},
    {".", NULL, POP_ERROR_FILE_LOAD, {"folder"}},
    {"sum.c", "-DNAME='open", POP_ERROR_INVALID_ARGUMENT, {"quote", "-DNAME='open"}},
    {"sum.c", "--no-such-flag", POP_ERROR_USAGE, {"--no-such-flag"}},
    {NULL, NULL, POP_ERROR_INVALID_ARGUMENT, {"path is NULL"}},
};

Test(codelets, G01_G13_files_that_are_not_codelets)
{
  static const unsigned char jpeg[] = "\xff\xd8\xff\xe0\0\x10JFIF\0";
  write_text("sum.c", sum_source);
  make_gp("sum.gp", (const char *[]){"sum.c"}, 1);
  write_file("photo.gp", jpeg, sizeof jpeg);
  write_file("photo.jpg", jpeg, sizeof jpeg);
  cr_assert_eq(rename("sum.gp", "cut.gp"), 0);
  cr_assert_eq(truncate("cut.gp", 700), 0);
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    pop_graph *graph = new_graph();
    pop_graph_add_codelets(graph, refusals[i].path, refusals[i].flags);
    assert_error(graph, refusals[i].code, refusals[i].words,
                 refusals[i].path ? refusals[i].path : "NULL");
    pop_graph_free(graph);
  }
}

Test(codelets, languages_other_than_c_and_cpp_are_refused)
{
  const char *const languages[] = {"C++", "fortran", "", NULL};
  for (size_t i = 0; i < 4; i++) {
    pop_graph *graph = new_graph();
    pop_graph_add_codelets_source(graph, languages[i], sum_source, "sum", NULL);
    assert_error(graph, POP_ERROR_INVALID_ARGUMENT, (const char *[5]){"\"c\" or \"c++\""},
                 "language");
    pop_graph_free(graph);
  }
  pop_graph *graph = new_graph();
  pop_graph_add_codelets_source(graph, "c", NULL, "sum", NULL);
  assert_error(graph, POP_ERROR_INVALID_ARGUMENT, (const char *[5]){"text is NULL"}, "no text");
  pop_graph_free(graph);
}

/* ---- one source for several graphs ---- */

Test(codelets, a_source_for_several_graphs_is_compiled_for_the_target_of_each)
{
  pop_target cpu;
  pop_target_create_cpu(&cpu);
  pop_graph *graphs[] = {new_graph(), pop_graph_create(&cpu), new_graph()};
  pop_graph_add_codelets_source_to_all(graphs, 3, "c", sum_source, "sum", "-DFACTOR=2");
  for (size_t i = 0; i < 3; i++) {
    assert_connects_sum(graphs[i]);
    cr_assert_eq(graphs[i]->num_codelets, 1);
    pop_graph_free(graphs[i]);
  }
}

Test(codelets, what_is_wrong_with_a_source_for_several_graphs_is_an_error_of_each)
{
  pop_graph *graphs[] = {new_graph(), new_graph(), NULL};
  pop_graph_add_codelets_source_to_all(graphs, 3, "c", "int x = ;\n", "wrong", NULL);
  for (size_t i = 0; i < 2; i++) {
    assert_error(graphs[i], POP_ERROR_CODELET_COMPILE,
                 (const char *[]){"pop_graph_add_codelets_source_to_all", "wrong", NULL}, "text");
    pop_error_free(pop_graph_take_error(graphs[i]));
  }
  pop_error_free(pop_graph_take_error(NULL));
  pop_graph_add_codelets_source_to_all(graphs, 2, "fortran", sum_source, "sum", NULL);
  assert_error(graphs[1], POP_ERROR_INVALID_ARGUMENT, (const char *[]){"fortran", NULL},
               "language");
  for (size_t i = 0; i < 2; i++) pop_graph_free(graphs[i]);
}
