/* Objects whose vertex entries have no code are refused, whatever else they say (G10). Data have
 * the alignment that objects ask for, up to a limit (G07). */
#include "support/graph_test.h"
#include "support/link_objects.h"

#include <populus/gp.h>
#include <populus/popc.h>
#include <populus/populus.h>

TestSuite(gp_entries, .init = enter_fresh_folder);

static pop_error *add_object(const uint8_t *bytes, size_t size)
{
  pop_gp_builder *builder = pop_gp_builder_new();
  pop_error *error = pop_gp_builder_add_tile(builder, "ipu2", bytes, size, "sample.s");
  pop_gp_builder_free(builder);
  return error;
}

Test(gp_entries, G10_an_entry_without_code_is_refused_naming_file_and_symbol)
{
  static const struct {
    const char *assembly, *named;
  } cases[] = {
      {".section .text.A,\"ax\"\n__runCodelet_A:\n", "is empty"},
      {".section .text.A,\"ax\"\nret\n__runCodelet_A:\n", "is empty"},
      {".section .text.A,\"ax\"\nret\n.byte 1\n__runCodelet_A:\n.byte 2\n", "multiple of 4"},
      {".data\n__runCodelet_A: .word 0x8067\n", "no code"},
      {".section .rodata\n__runCodelet_A: .word 0x8067\n", "no code"},
      {".bss\n__runCodelet_A: .zero 4\n", "no code"},
      {".section .comment\n__runCodelet_A: .word 0x8067\n", "no code"},
      {".comm __runCodelet_A,64,4\n", "common symbol"},
      {"__runCodelet_A = 0x4c001\n", "absolute"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *source = pop_xasprintf(".globl __runCodelet_A\n%s", cases[i].assembly);
    size_t size;
    uint8_t *bytes = compiled_bytes(RV32_ASM, source, &size);
    EXPECT_ERROR(add_object(bytes, size), POP_ERROR_FILE_LOAD, "sample.s", "__runCodelet_A",
                 cases[i].named);
    free(bytes);
    free(source);
  }
}

Test(gp_entries, an_entry_with_code_is_taken_and_other_symbols_may_be_anything)
{
  size_t size;
  uint8_t *bytes = compiled_bytes(RV32_ASM,
                                  ".globl __runCodelet_A, absolute, empty\n.weak __runCodelet_A\n"
                                  ".section .text.A,\"ax\"\n__runCodelet_A: ret\nempty:\n"
                                  "absolute = 0x4c001\n",
                                  &size);
  expect_ok(add_object(bytes, size));
  free(bytes);
}

/* The result of the source's vertex Address: the lower 16 bits of the table's address, plus the
 * table's first element. */
static int run_vertex(const char *source)
{
  static const char *const input = "address.c";
  static const size_t one = 1;
  FILE *file = fopen(input, "wb");
  cr_assert(file && fputs(source, file) >= 0 && fclose(file) == 0);
  popc_options options = {.size = sizeof options,
                          .inputs = &input,
                          .num_inputs = 1,
                          .output = "address.gp",
                          .diagnostics_fd = -1};
  expect_ok(popc_compile(&options, NULL, NULL));
  pop_graph *graph = new_graph_with_tiles(2);
  pop_graph_add_codelets(graph, "address.gp", NULL);
  pop_tensor found = pop_graph_add_variable(graph, POP_INT, &one, 1, "found");
  pop_graph_set_tile_mapping(graph, found, 1);
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  pop_vertex vertex = pop_graph_add_vertex(graph, set, "Address");
  pop_graph_connect(graph, vertex, "out", pop_tensor_index(found, 0));
  pop_graph_set_vertex_tile(graph, vertex, 1);
  pop_graph_create_host_read(graph, "found", found);
  pop_program main = pop_program_execute(graph, set, "look");
  pop_engine *engine = NULL;
  expect_ok(pop_engine_create(graph, &main, 1, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  int result = -1;
  expect_ok(pop_engine_read_tensor(engine, "found", &result, sizeof result));
  pop_engine_free(engine);
  pop_graph_free(graph);
  return result;
}

#define ADDRESS_OF(declaration)                                                                    \
  "#include <populus/vertex.h>\n"                                                                  \
  "typedef struct { OUTPUT(int) out; } Address;\n" declaration                                     \
  "COMPUTE(Address)\n{\n  *vertex->out = (int)((unsigned long)table & 0xffff) + table[0];\n"       \
  "  return true;\n}\n"

Test(gp_entries, G07_data_are_aligned_to_as_much_as_is_promised)
{
  static const char *const sources[] = {
      ADDRESS_OF("__attribute__((aligned(65536))) volatile int table[4] = {0};\n"),
      ADDRESS_OF("__attribute__((aligned(65536))) static volatile int table[4] = {0};\n"),
      ADDRESS_OF("__asm__(\".comm table,64,65536\"); extern volatile int table[16];\n"),
      ADDRESS_OF("__attribute__((aligned(32768))) const volatile int table[4] = {0};\n"),
  };
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
    cr_assert_eq(run_vertex(sources[i]), 0, "case %zu", i);
}

Test(gp_entries, G07_more_than_that_is_refused_with_the_limit)
{
  static const char *const assembly[] = {".data\n.balign 131072\n.globl x\nx: .word 1\n",
                                         ".comm x,64,131072\n"};
  for (size_t i = 0; i < sizeof assembly / sizeof *assembly; i++) {
    size_t size;
    uint8_t *bytes = compiled_bytes(RV32_ASM, assembly[i], &size);
    EXPECT_ERROR(add_object(bytes, size), POP_ERROR_FILE_LOAD, "131072", "65536");
    free(bytes);
  }
}
