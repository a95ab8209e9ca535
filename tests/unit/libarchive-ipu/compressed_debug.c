/* Codelets with compressed debug information, as other compilers make them (popc refuses -gz). They
 * run, and the log says once for each file why no source lines are known. */
#include "support/link_objects.h"

#include <populus/gp.h>
#include <populus/graph.h>

#include <unistd.h>

TestSuite(compressed_debug, .init = enter_fresh_folder);

static void write_gp(const char *path, const char *options)
{
  size_t size;
  uint8_t *bytes = compiled_bytes(options, "int twice(int x) { return 2 * x; }\n", &size);
  pop_gp_builder *builder = pop_gp_builder_new();
  expect_ok(pop_gp_builder_add_tile(builder, "ipu2", bytes, size, "twice.c"));
  expect_ok(pop_gp_builder_write(builder, path, NULL, NULL));
  pop_gp_builder_free(builder);
  free(bytes);
}

/* The log of adding the file twice. */
static char *log_of(const char *path)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  pop_graph *graph = pop_graph_create(&target);
  for (int i = 0; i < 2; ++i) pop_graph_add_codelets(graph, path, NULL);
  const pop_error *error = pop_graph_error(graph);
  cr_assert_null(error, "%s", error ? pop_error_message(error) : "");
  pop_graph_free(graph);
  if (access("log", F_OK) != 0) return pop_xstrdup(""); /* the first line creates it */
  uint8_t *bytes = NULL;
  size_t size = 0;
  expect_ok(pop_file_read("log", UINT32_MAX, &bytes, &size));
  char *text = pop_xasprintf("%.*s", (int)size, (const char *)bytes);
  free(bytes);
  return text;
}

Test(compressed_debug, the_log_says_so_once_for_a_file)
{
  setenv("POPLAR_LOG_LEVEL", "WARN", 1);
  setenv("POPLAR_LOG_DEST", "log", 1);
  write_gp("plain.gp", RV32_C "-g");
  write_gp("compressed.gp", RV32_C "-g -gz");
  char *text = log_of("plain.gp");
  cr_assert_str_empty(text);
  free(text);
  text = log_of("compressed.gp");
  const char *said = strstr(text, "codelets compressed.gp(");
  cr_assert_not_null(said, "%s", text);
  cr_assert_not_null(strstr(said, "section .debug_"), "%s", text);
  cr_assert_not_null(strstr(said, "is compressed"), "%s", text);
  cr_assert_null(strstr(said + 1, "codelets "), "%s", text);
  free(text);
}
