/* The objects of a .gp for each target: one object for several targets, other code for each, files
 * that are merged, and the names in messages. */
#include <populus/arena.h>
#include <populus/gp.h>
#include <populus/popc.h>

#include "support/expect.h"

#include <stdio.h>

TestSuite(gp_targets, .init = enter_fresh_folder);

static const char source[] = "#include <populus/vertex.h>\n"
                             "typedef struct { OUTPUT(int) out; } V;\n"
                             "COMPUTE(V) { *vertex->out = VALUE; return true; }\n";

/* Compiles V with the value for `targets`. */
static pop_gp *compile(const char *targets, int value)
{
  FILE *file = fopen("v.c", "w");
  cr_assert(file && fputs(source, file) >= 0 && fclose(file) == 0);
  char define[32];
  snprintf(define, sizeof define, "-DVALUE=%d", value);
  char *target = pop_xasprintf("--target=%s", targets);
  const char *flags[] = {define, target}, *path = "v.c";
  popc_options options = {.size = sizeof options,
                          .inputs = &path,
                          .num_inputs = 1,
                          .flags = flags,
                          .num_flags = 2,
                          .diagnostics_fd = -1};
  uint8_t *bytes;
  size_t size;
  expect_ok(popc_compile(&options, &bytes, &size));
  pop_gp *gp;
  expect_ok(pop_gp_read_memory(bytes, size, targets, &gp));
  free(bytes);
  free(target);
  return gp;
}

static pop_gp *merge(pop_gp *a, pop_gp *b)
{
  pop_gp_builder *builder = pop_gp_builder_new();
  expect_ok(pop_gp_builder_add_gp(builder, a));
  expect_ok(pop_gp_builder_add_gp(builder, b));
  uint8_t *bytes;
  size_t size;
  expect_ok(pop_gp_builder_write(builder, NULL, &bytes, &size));
  pop_gp *gp;
  expect_ok(pop_gp_read_memory(bytes, size, "merged", &gp));
  free(bytes);
  pop_gp_builder_free(builder);
  return gp;
}

static void expect_targets(const pop_gp *gp, const char *expected)
{
  char *targets = pop_gp_targets(gp);
  cr_assert_str_eq(targets, expected);
  free(targets);
}

Test(gp_targets, one_object_serves_several)
{
  pop_gp *gp = compile("cpu,ipu1,ipu21", 1);
  expect_targets(gp, "cpu,ipu1,ipu21");
  cr_assert_eq(pop_gp_num_tile_objects(gp), 1);
  cr_assert_str_eq(pop_gp_tile_object_targets(gp, 0), "ipu1,ipu21");
  cr_assert(pop_gp_has_target(gp, "ipu1") && !pop_gp_has_target(gp, "ipu2"));
  pop_gp *part;
  expect_ok(pop_gp_for_target(gp, "ipu21", &part));
  cr_assert_eq(pop_gp_num_tile_objects(part), 1);
  cr_assert_eq(pop_gp_num_host_objects(part), 0);
  pop_gp_free(gp); /* the part keeps what it needs */
  cr_assert_str_eq(pop_gp_vertex_type(part, 0)->name, "V");
  pop_gp_free(part);
}

Test(gp_targets, G11_a_target_that_is_not_there_is_an_error_that_lists_what_is)
{
  pop_gp *gp = compile("cpu,ipu1", 1), *part = NULL;
  pop_error *error = pop_gp_for_target(gp, "ipu2", &part);
  cr_assert(error && pop_error_get_code(error) == POP_ERROR_FILE_LOAD);
  cr_assert(strstr(pop_error_message(error), "no code for target 'ipu2'") &&
                strstr(pop_error_message(error), "compiled for cpu,ipu1:"),
            "%s", pop_error_message(error));
  pop_error_free(error);
  pop_gp_free(gp);
}

Test(gp_targets, a_vertex_may_differ_between_targets)
{
  pop_gp *a = compile("ipu1", 1), *b = compile("ipu2", 2), *both = merge(a, b);
  expect_targets(both, "ipu1,ipu2");
  cr_assert_eq(pop_gp_num_tile_objects(both), 2);
  for (int i = 0; i < 2; ++i) {
    pop_gp *part;
    expect_ok(pop_gp_for_target(both, i ? "ipu2" : "ipu1", &part));
    cr_assert_eq(pop_gp_num_vertex_types(part), 1);
    cr_assert_eq(pop_gp_num_tile_objects(part), 1);
    pop_gp_free(part);
  }
  pop_gp_free(a);
  pop_gp_free(b);
  pop_gp_free(both);
}

Test(gp_targets, equal_code_of_two_files_is_kept_once_for_the_targets_of_both)
{
  pop_gp *a = compile("ipu1,ipu2", 1), *b = compile("ipu2,ipu21", 1), *both = merge(a, b);
  expect_targets(both, "ipu1,ipu2,ipu21");
  cr_assert_eq(pop_gp_num_tile_objects(both), 1);
  pop_gp_free(a);
  pop_gp_free(b);
  pop_gp_free(both);
}

Test(gp_targets, G14_other_code_for_the_same_target_is_an_error_that_names_both)
{
  pop_gp *a = compile("ipu1,ipu2", 1), *b = compile("ipu2,ipu21", 2);
  pop_gp_builder *builder = pop_gp_builder_new();
  expect_ok(pop_gp_builder_add_gp(builder, a));
  pop_error *error = pop_gp_builder_add_gp(builder, b);
  cr_assert(error && strstr(pop_error_message(error), "defined twice") &&
            strstr(pop_error_message(error), "ipu1,ipu2") &&
            strstr(pop_error_message(error), "ipu2,ipu21"));
  pop_error_free(error);
  pop_gp_builder_free(builder);
  pop_gp_free(a);
  pop_gp_free(b);
}
