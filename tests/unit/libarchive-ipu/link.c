/* The tile linker: what is on a tile, where, and with which values. These tests cover the rules one
 * by one. tests/golden/link_tools.sh compares whole programs with lld's, and runs them in qemu. */
#include "support/link_objects.h"

TestSuite(link, .init = enter_fresh_folder);

enum { memory_base = 0x40000, memory_bytes = 0x40000, tls_start = 0x1000 };

/* A linked program: objects, set, live sections and their bytes. */
typedef struct program {
  pop_object *objects[8];
  size_t num_objects;
  pop_link_set *set;
  pop_live_sections *live;
  pop_link_addresses addresses;
  uint8_t *memory;
  uint8_t tls[4096];
} program;

static pop_error *add(program *program, const char *options, const char *source, const char *name)
{
  if (!program->set) program->set = pop_link_set_new();
  pop_object *object = compiled(options, source, name);
  program->objects[program->num_objects++] = object;
  return pop_link_set_add(program->set, object, strncmp(name, "lib", 3) == 0);
}

/* Roots are NULL-terminated. */
static pop_error *close_over(program *program, const char *const *roots)
{
  size_t count = 0;
  while (roots[count]) ++count;
  return pop_live_sections_create(program->set, roots, NULL, count, &program->live);
}
#define ROOTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Places the groups one after the other, from `start` on. */
static pop_error *relocate_at(program *program, uint32_t start)
{
  for (int i = 0; i < POP_LINK_TLS; ++i) {
    uint32_t align = pop_live_sections_group_align(program->live, (pop_link_group)i);
    program->addresses.start[i] = start = (start + align - 1) & ~(align - 1);
    start += pop_live_sections_group_bytes(program->live, (pop_link_group)i);
  }
  program->addresses.start[POP_LINK_TLS] = tls_start; /* must not appear in code */
  if (!program->memory) program->memory = malloc(memory_bytes);
  memset(program->memory, 0xaa, memory_bytes);
  cr_assert_leq(pop_live_sections_group_bytes(program->live, POP_LINK_TLS), sizeof program->tls);
  return pop_live_sections_relocate(program->live, &program->addresses, program->memory,
                                    memory_base, memory_bytes, program->tls);
}

static void end(program *program)
{
  pop_live_sections_free(program->live);
  pop_link_set_free(program->set);
  for (size_t i = 0; i < program->num_objects; ++i) pop_object_free(program->objects[i]);
  free(program->memory);
}

static uint32_t address_of(const program *program, const char *symbol)
{
  uint32_t address = 0, size;
  cr_assert(pop_live_sections_symbol(program->live, &program->addresses, symbol, &address, &size),
            "%s is not there", symbol);
  return address;
}

static bool holds(const program *program, const char *symbol)
{
  uint32_t address, size;
  return pop_live_sections_symbol(program->live, &program->addresses, symbol, &address, &size);
}

static uint32_t word_at(const program *program, uint32_t address)
{
  uint32_t word;
  cr_assert(address >= memory_base && address - memory_base <= memory_bytes - 4, "0x%x", address);
  memcpy(&word, program->memory + (address - memory_base), 4);
  return word;
}

static uint32_t word_of(const program *program, const char *symbol)
{
  return word_at(program, address_of(program, symbol));
}

/* ---- live sections ---- */

Test(link, a_given_symbol_has_its_value_whatever_objects_say)
{
  program program = {.set = pop_link_set_new()};
  pop_link_set_define(program.set, POP_LINK_MEMORY_BASE, 0x4c123);
  expect_ok(add(&program, RV32_C,
                "extern char __tile_memory_base[];\n"
                "char *start(void) { return __tile_memory_base; }\n"
                "char *after = __tile_memory_base + 16;\n",
                "base.o"));
  expect_ok(close_over(&program, ROOTS("start", "after")));
  expect_ok(relocate_at(&program, memory_base));
  uint32_t address, size;
  cr_assert(pop_live_sections_symbol(program.live, &program.addresses, "start", &address, &size));
  const uint32_t code[] = {0x0004c537, 0x12350513}; /* lui a0, 0x4c; addi a0, a0, 0x123 */
  cr_assert_arr_eq(program.memory + address - memory_base, code, sizeof code);
  cr_assert(pop_live_sections_symbol(program.live, &program.addresses, "after", &address, &size));
  const uint32_t after = 0x4c133;
  cr_assert_arr_eq(program.memory + address - memory_base, &after, sizeof after);
  cr_assert(pop_link_set_defines(program.set, POP_LINK_MEMORY_BASE));
  end(&program);
}

Test(link, only_what_the_roots_need_is_there)
{
  program program = {0};
  expect_ok(add(&program, RV32_C,
                "int used = 1, unused = 2, table[2] = {3, 4}; int *through = table + 1;\n"
                "int leaf(void) { return used; }\n"
                "__attribute__((noinline)) int other(void) { return unused; }\n"
                "int root(void) { return leaf() + *through; }\n",
                "a.o"));
  expect_ok(close_over(&program, ROOTS("root")));
  cr_assert(holds(&program, "root") && holds(&program, "used") && holds(&program, "through"));
  cr_assert(holds(&program, "table"), "reached through data only");
  cr_assert_not(holds(&program, "other") || holds(&program, "unused"));
  cr_assert_not(holds(&program, "nowhere"));
  end(&program);
}

Test(link, order_and_repetition_of_roots_do_not_matter)
{
  static const char source[] = "int x = 1, y = 2; static int z[9];\n"
                               "int a(void) { return x; } int b(void) { return y + z[x]; }\n"
                               "int c(void) { return a() + b() + (z[1] += 3); }\n";
  program program = {0};
  expect_ok(add(&program, RV32_C, source, "a.o"));
  uint8_t *first = malloc(memory_bytes);
  const char *const *orders[] = {ROOTS("a", "b", "c"), ROOTS("c", "b", "a", "c"),
                                 ROOTS("b", "c", "a")};
  for (size_t i = 0; i < 3; ++i) {
    expect_ok(close_over(&program, orders[i]));
    expect_ok(relocate_at(&program, memory_base));
    if (i == 0) memcpy(first, program.memory, memory_bytes);
    cr_assert_eq(memcmp(first, program.memory, memory_bytes), 0, "order %zu", i);
    pop_live_sections_free(program.live);
    program.live = NULL;
  }
  free(first);
  end(&program);
}

Test(link, groups_are_told_apart_by_flags)
{
  program program = {0};
  expect_ok(
      add(&program, RV32_ASM,
          ".text\n.globl root\nroot: .word ro, rw, zero\n"
          "add a0, a0, tp, %tprel_add(t)\n lui a0, %tprel_hi(tz)\n"
          ".section .srodata.x,\"a\"\n.zero 12\nro: .word 1\n"
          ".section .sdata,\"aw\"\n.p2align 4\nrw: .zero 16, 7\n"
          ".section .sbss,\"aw\",@nobits\nzero: .zero 1000\n"
          ".section .tdata,\"awT\"\nt: .word 5\n.section .tbss,\"awT\",@nobits\ntz: .zero 8\n",
          "a.o"));
  expect_ok(close_over(&program, ROOTS("root")));
  cr_assert_eq(pop_live_sections_group_bytes(program.live, POP_LINK_CODE), 20);
  cr_assert_eq(pop_live_sections_group_bytes(program.live, POP_LINK_RODATA), 16);
  cr_assert_eq(pop_live_sections_group_bytes(program.live, POP_LINK_DATA), 16 + 1000);
  cr_assert_eq(pop_live_sections_group_bytes(program.live, POP_LINK_TLS), 8,
               "tz, t is only a hint");
  cr_assert_eq(pop_live_sections_group_align(program.live, POP_LINK_DATA), 16);
  cr_assert_eq(pop_live_sections_group_align(program.live, POP_LINK_TLS), 4);
  end(&program);
}

/* ---- which definition is used ---- */

Test(link, two_strong_definitions_are_an_error_that_names_both)
{
  program program = {0};
  expect_ok(add(&program, RV32_C, "int f(void) { return 1; }", "one.o"));
  EXPECT_ERROR(add(&program, RV32_C, "int f(void) { return 2; }", "two.o"), POP_ERROR_LINK,
               "f is defined in one.o and in two.o");
  end(&program);
}

/* With debug information, messages name the source lines. */
Test(link, S10_messages_name_lines_of_the_source)
{
  program program = {0};
  expect_ok(add(&program, RV32_C "-g",
                "int f(void) { return 1; }\n\nvoid *mystery(int);\n"
                "void *run(void)\n{\n  return (char *)mystery(4) + 1;\n}\n",
                "one.o"));
  EXPECT_ERROR(add(&program, RV32_C "-g", "\n\nint f(void) { return 2; }", "two.o"), POP_ERROR_LINK,
               "f is defined in one.o, source:1 and in two.o, source:3: rename one");
  EXPECT_ERROR(close_over(&program, ROOTS("run")), POP_ERROR_LINK,
               "undefined symbol mystery, needed by run (one.o, source:6), for run");
  end(&program);
}

Test(link, strong_before_common_before_weak_before_library)
{
  static const char *const weak = "__attribute__((weak)) int x = 1;";
  static const char *const common = "int x;";
  static const char *const strong = "int x = 3;";
  static const struct {
    const char *name[3], *source[3];
    uint32_t value;
  } cases[] = {
      {{"lib.o", "a.o", "b.o"}, {strong, weak, ""}, 1},
      {{"a.o", "lib.o", "b.o"}, {weak, strong, ""}, 1},
      {{"a.o", "b.o", "lib.o"}, {weak, strong, weak}, 3},
      {{"a.o", "b.o", "lib.o"}, {strong, common, strong}, 3},
      {{"a.o", "b.o", "lib.o"}, {weak, common, ""}, 0},
      {{"lib1.o", "lib2.o", "a.o"}, {weak, strong, ""}, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    program program = {0};
    for (int j = 0; j < 3; ++j)
      expect_ok(add(&program, RV32_C "-fcommon ", cases[i].source[j], cases[i].name[j]));
    expect_ok(close_over(&program, ROOTS("x")));
    expect_ok(relocate_at(&program, memory_base));
    cr_assert_eq(word_of(&program, "x"), cases[i].value, "case %zu: %u", i, word_of(&program, "x"));
    end(&program);
  }
}

Test(link, the_largest_common_definition_serves)
{
  program program = {0};
  expect_ok(add(&program, RV32_C "-fcommon ", "int x[2];", "a.o"));
  expect_ok(add(&program, RV32_C "-fcommon ", "int x[5];", "b.o"));
  expect_ok(add(&program, RV32_C "-fcommon ", "int x[3];", "c.o"));
  expect_ok(close_over(&program, ROOTS("x")));
  cr_assert_eq(pop_live_sections_group_bytes(program.live, POP_LINK_DATA), 20);
  end(&program);
}

Test(link, of_a_comdat_group_one_copy_is_kept_and_not_a_librarys)
{
  static const char *const sources[] = {
      "inline int f() { static int n = 1; return ++n; } int lib() { return f(); }",
      "inline int f() { static int n = 5; return ++n; } int a() { return f(); }",
      "inline int f() { static int n = 9; return ++n; } int b() { return f(); }"};
  program program = {0};
  expect_ok(add(&program, RV32_CXX "-fno-inline ", sources[0], "lib.o"));
  expect_ok(add(&program, RV32_CXX "-fno-inline ", sources[1], "a.o"));
  expect_ok(add(&program, RV32_CXX "-fno-inline ", sources[2], "b.o"));
  expect_ok(close_over(&program, ROOTS("_Z3libv", "_Z1av", "_Z1bv")));
  expect_ok(relocate_at(&program, memory_base));
  cr_assert_eq(pop_live_sections_group_bytes(program.live, POP_LINK_DATA), 4);
  cr_assert_eq(word_at(&program, program.addresses.start[POP_LINK_DATA]), 5);
  end(&program);
}

Test(link, a_local_reference_into_a_discarded_group_is_an_error)
{
  static const char *const group = ".section .text.g,\"axG\",@progbits,g,comdat\n.weak g\ng: ret\n"
                                   "inside: ret\n.data\n.globl ";
  char *first = pop_xasprintf("%sone\none: .word g\n", group);
  char *second = pop_xasprintf("%stwo\ntwo: .word inside\n", group);
  program program = {0};
  expect_ok(add(&program, RV32_ASM, first, "one.o"));
  expect_ok(add(&program, RV32_ASM, second, "two.o"));
  EXPECT_ERROR(close_over(&program, ROOTS("two")), POP_ERROR_LINK, "two.o", ".text.g", "one.o",
               "COMDAT");
  free(first);
  free(second);
  end(&program);
}

/* ---- undefined symbols ---- */

Test(link, S10_undefined_symbols_are_explained)
{
  static const struct {
    const char *source, *message;
  } cases[] = {
      {"void *malloc(unsigned); void *helper(void) { return malloc(4); }"
       "void *run(void) { return (char *)helper() + 1; }",
       "undefined symbol malloc, needed by "},
      {"int printf(const char *, ...); int run(int x) { return printf(\"%d\", x) + 1; }",
       "undefined symbol printf, needed by run (x.gp(tile-0.o)), for vertex SumVertex: there is no "
       "standard output"},
      {"int mystery(void); int run(void) { return mystery() + 1; }",
       "undefined symbol mystery, needed by run (x.gp(tile-0.o)), for vertex SumVertex"},
      {"int x;", "undefined symbol run, needed by vertex SumVertex"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    program program = {0};
    expect_ok(add(&program, RV32_C, cases[i].source, "x.gp(tile-0.o)"));
    expect_error(pop_live_sections_create(program.set, ROOTS("run"), ROOTS("vertex SumVertex"), 1,
                                          &program.live),
                 POP_ERROR_LINK, cases[i].message, "");
    end(&program);
  }
}

/* Nobody need be named, neither for all roots nor for one. */
Test(link, S10_a_given_symbol_is_explained_without_the_root)
{
  static const char *const nobody[] = {NULL};
  program program = {0};
  expect_ok(
      add(&program, RV32_C, "int mystery(void); int run(void) { return mystery() + 1; }", "x.o"));
  pop_link_set_define(program.set, "mystery", 0);
  expect_ok(close_over(&program, ROOTS("run")));
  static const char message[] = "undefined symbol mystery, needed by run (x.o)";
  for (int i = 0; i < 2; ++i) {
    pop_error *error = pop_live_sections_explain_given(program.live, i ? nobody : NULL, "mystery");
    cr_assert_not_null(error);
    cr_assert_str_eq(pop_error_message(error), message);
    pop_error_free(error);
  }
  expect_error(pop_live_sections_explain_given(program.live, ROOTS("vertex V"), "mystery"),
               POP_ERROR_LINK, "needed by run (x.o), for vertex V", "a root");
  end(&program);
}

Test(link, S10_no_heap_on_a_tile)
{
  program program = {0};
  expect_ok(add(&program, RV32_CXX, "int *run(int n) { return new int[n]; }", "v.o"));
  EXPECT_ERROR(close_over(&program, ROOTS("_Z3runi")), POP_ERROR_LINK,
               "undefined symbol _Znaj (operator new[]), needed by _Z3runi (v.o)",
               "there is no heap on a tile");
  end(&program);
}

Test(link, undefined_weak_symbols_are_zero)
{
  program program = {0};
  expect_ok(add(&program, RV32_ASM,
                ".weak maybe\n.data\n.globl root\nroot: .word maybe\n.word code\n"
                ".text\ncode: call maybe\n",
                "a.o"));
  expect_ok(close_over(&program, ROOTS("root")));
  expect_ok(relocate_at(&program, memory_base));
  cr_assert_eq(word_of(&program, "root"), 0);
  uint32_t code = word_at(&program, address_of(&program, "root") + 4);
  uint32_t auipc = word_at(&program, code), jalr = word_at(&program, code + 4);
  cr_assert_eq(code + (auipc & 0xfffff000) + (uint32_t)((int32_t)jalr >> 20), 0,
               "the call goes to address 0");
  end(&program);
}

Test(link, S12_constructors_of_globals_are_an_error)
{
  static const char source[] = "int outside(); int global = outside();\n"
                               "extern \"C\" int run() { return global; }\n";
  program program = {0};
  expect_ok(add(&program, RV32_CXX, source, "x.gp(tile-0.o)"));
  EXPECT_ERROR(close_over(&program, ROOTS("run")), POP_ERROR_LINK, "x.gp(tile-0.o)",
               "_GLOBAL__sub_I_", "for run", "constinit");
  end(&program);
}

/* ---- values of relocations ---- */

static int32_t signed_bits(uint32_t word, int high, int low)
{
  return (int32_t)(word << (31 - high)) >> (31 - high + low);
}

/* The value of a pair of lui or auipc and addi, lw or sw at `address`, without the pc. */
static uint32_t pair_value(const program *program, uint32_t address, bool store)
{
  uint32_t upper = word_at(program, address), lower = word_at(program, address + 4);
  int32_t low = store ? signed_bits(lower, 31, 25) * 32 + (int32_t)(lower >> 7 & 31)
                      : signed_bits(lower, 31, 20);
  return (upper & 0xfffff000) + (uint32_t)low;
}

Test(link, upper_and_lower_parts_add_up_at_every_rounding)
{
  program program = {0};
  expect_ok(add(&program, RV32_ASM,
                ".text\n.globl absolute, relative\n"
                "absolute: lui a0, %hi(x+3)\n addi a0, a0, %lo(x+3)\n"
                "lui a1, %hi(x)\n sw a0, %lo(x)(a1)\n"
                "relative: auipc a0, %pcrel_hi(x-2)\n sw a1, %pcrel_lo(relative)(a0)\n"
                ".Lb: auipc a0, %pcrel_hi(x+0x12345)\n addi a1, a0, %pcrel_lo(.Lb)\n"
                ".data\n.globl x\nx: .word relative\n",
                "a.o"));
  expect_ok(close_over(&program, ROOTS("absolute")));
  for (uint32_t start = memory_base; start < memory_base + 0x2000; start += 4) {
    expect_ok(relocate_at(&program, start));
    program.addresses.start[POP_LINK_DATA] = memory_base + 0x7ff8; /* another distance */
    expect_ok(pop_live_sections_relocate(program.live, &program.addresses, program.memory,
                                         memory_base, memory_bytes, NULL));
    uint32_t x = address_of(&program, "x"), at = address_of(&program, "relative");
    cr_assert_eq(pair_value(&program, at - 16, false), x + 3);
    cr_assert_eq(pair_value(&program, at - 8, true), x);
    cr_assert_eq(at + pair_value(&program, at, true), x - 2);
    cr_assert_eq(at + 8 + pair_value(&program, at + 8, false), x + 0x12345);
    cr_assert_eq(word_at(&program, x), at);
  }
  end(&program);
}

Test(link, differences_in_data_have_every_width)
{
  program program = {0};
  expect_ok(add(&program, RV32_ASM,
                ".text\n.globl from, to\nfrom: .zero 36\nto: .zero 300\nfar: ret\n.data\n"
                ".globl root\nroot:\n"
                ".macro pair value, sub, add\n"
                "  .reloc ., R_RISCV_\\add, to\n  .reloc ., R_RISCV_\\sub, from\n  \\value\n"
                ".endm\n"
                "pair \".byte 1\", SUB8, ADD8\n"
                "pair \".byte 0xc1\", SUB6, SET6\n"
                "pair \".half 0x100\", SUB16, ADD16\n"
                "pair \".word 0x10000\", SUB32, ADD32\n"
                "pair \".quad 0x100000000\", SUB64, ADD64\n"
                "pair \".half 7\", SUB16, SET16\n"
                "pair \".byte 7\", SUB8, SET8\n"
                "pair \".byte 0x80, 0\", SUB_ULEB128, SET_ULEB128\n"
                ".byte 9\n.reloc ., R_RISCV_SET32, to\n.word 1\n"
                ".reloc ., R_RISCV_64, to+1\n.quad 5\n"
                ".reloc ., R_RISCV_32_PCREL, to\n.word 5\n.reloc ., R_RISCV_PLT32, to+8\n.word 5\n",
                "a.o"));
  expect_ok(close_over(&program, ROOTS("root")));
  expect_ok(relocate_at(&program, memory_base));
  uint32_t to = address_of(&program, "to"), root = address_of(&program, "root");
  const uint8_t *bytes = program.memory + (root - memory_base);
  static const uint8_t expected[] = {37, 0xe4, 36, 1, 36, 0,  1, 0,  36,        0, 0,
                                     0,  1,    0,  0, 0,  36, 0, 36, 0x80 | 36, 0, 9};
  for (size_t i = 0; i < sizeof expected; ++i)
    cr_assert_eq(bytes[i], expected[i], "byte %zu is 0x%x", i, bytes[i]);
  uint32_t words[5];
  memcpy(words, bytes + sizeof expected, sizeof words);
  cr_assert_eq(words[0], to);
  cr_assert(words[1] == to + 1 && words[2] == 0, "64 bits");
  cr_assert_eq(words[3], to - (root + (uint32_t)sizeof expected + 12));
  cr_assert_eq(words[4], to + 8 - (root + (uint32_t)sizeof expected + 16));
  end(&program);
}

Test(link, thread_local_variables_are_offsets_from_tp)
{
  program program = {0};
  expect_ok(add(&program, RV32_C,
                "_Thread_local int mine = 77; static _Thread_local int zeros[3];\n"
                "extern _Thread_local int theirs;\n"
                "int *root(int n) { return n > 5 ? &mine : n < 0 ? zeros : &theirs; }\n",
                "a.o"));
  expect_ok(add(&program, RV32_C, "_Thread_local int theirs = 99;", "b.o"));
  expect_ok(close_over(&program, ROOTS("root")));
  expect_ok(relocate_at(&program, memory_base));
  cr_assert_eq(pop_live_sections_group_bytes(program.live, POP_LINK_TLS), 20);
  cr_assert_eq(pop_live_sections_group_bytes(program.live, POP_LINK_DATA), 0);
  uint32_t initial[5];
  memcpy(initial, program.tls, sizeof initial);
  cr_assert(initial[0] == 77 && initial[1] == 99 && initial[2] == 0, "content before zeros");
  cr_assert_eq(address_of(&program, "mine"), tls_start);
  cr_assert_eq(address_of(&program, "theirs"), tls_start + 4);
  end(&program);
}

/* Clang reads an extern thread-local variable through a table, which a tile lacks. */
Test(link, table_of_addresses_becomes_the_address)
{
  program program = {0};
  expect_ok(add(&program, RV32_ASM,
                ".text\n.globl root\nroot:\n la.tls.ie a1, theirs\n"
                ".L1: auipc a2, %got_pcrel_hi(x)\n lw a3, %pcrel_lo(.L1)(a2)\n"
                ".data\n.globl x\nx: .word 1\n"
                ".section .tdata,\"awT\"\n.zero 0x900\ntheirs: .word 2\n",
                "a.o"));
  expect_ok(close_over(&program, ROOTS("root")));
  expect_ok(relocate_at(&program, memory_base));
  uint32_t root = address_of(&program, "root");
  cr_assert_eq(pair_value(&program, root, false), 0x900);
  cr_assert_eq(pair_value(&program, root + 8, false), address_of(&program, "x"));
  static const struct {
    uint32_t opcode, rd, rs1;
  } instructions[] = {{0x37, 11, 0}, {0x13, 11, 11}, {0x37, 12, 0}, {0x13, 13, 12}};
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t word = word_at(&program, root + 4 * i);
    cr_assert(word % 128 == instructions[i].opcode && (word >> 7 & 31) == instructions[i].rd);
    cr_assert(instructions[i].opcode == 0x37 || (word >> 12 & 0xff) == instructions[i].rs1 << 3,
              "addi rd, rs1");
  }
  end(&program);
}

Test(link, G06_values_that_do_not_fit_and_broken_pairs)
{
  static const struct {
    const char *source, *place, *reason;
  } cases[] = {
      {"root: jal far\n.section .text.far,\"ax\"\n.zero 0x110000\nfar: ret\n",
       "relocation R_RISCV_JAL against far in a.o, section .text, offset 0x0",
       "distance 1114116 does not fit: it must be a multiple of 4 from -1048576 to 1048572"},
      {"root: nop\nbeq a0, a1, .+8\n.reloc root + 4, R_RISCV_BRANCH, far\n.section "
       ".text.far,\"ax\"\n.zero 0x1000\nfar: ret\n",
       "R_RISCV_BRANCH against far in a.o, section .text, offset 0x4", "from -4096 to 4092"},
      {"root: jal odd\n.section .text.odd,\"ax\"\nnop\n.set odd, .-2\n", "R_RISCV_JAL against",
       "multiple of 4"},
      {"root: addi a0, a0, 0\n.reloc root, R_RISCV_PCREL_LO12_I, root\n",
       "R_RISCV_PCREL_LO12_I against root", "no R_RISCV_PCREL_HI20 at this label"},
      {"root: addi a0, a0, 0\n.reloc root, R_RISCV_GOT_HI20, root\n",
       "R_RISCV_GOT_HI20 against root", "expected auipc here, found instruction 0x00050513"},
      {"root: .word x\n.section .tdata,\"awT\"\nx: .word 1\n", "R_RISCV_32 against",
       "the symbol is thread-local"},
      {"root: lui a0, %tprel_hi(x)\n.data\nx: .word 1\n", "R_RISCV_TPREL_HI20 against",
       "the symbol is not thread-local"},
      {"root: .byte 0\n.reloc root, R_RISCV_SUB_ULEB128, root\n", "R_RISCV_SUB_ULEB128",
       "no R_RISCV_SET_ULEB128 in front"},
      {"root: .byte 0\n.zero 200\nb:\n.reloc root, R_RISCV_SET_ULEB128, b\n"
       ".reloc root, R_RISCV_SUB_ULEB128, root\n",
       "R_RISCV_SUB_ULEB128", "difference 201 needs more bytes"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    program program = {.memory = malloc(0x200000)};
    char *source = pop_xasprintf(".globl root\n%s", cases[i].source);
    expect_ok(add(&program, RV32_ASM, source, "a.o"));
    expect_ok(close_over(&program, ROOTS("root")));
    for (int group = 0; group < POP_LINK_GROUP_COUNT; ++group)
      program.addresses.start[group] = memory_base + (group ? 0x180000u : 0);
    EXPECT_ERROR(pop_live_sections_relocate(program.live, &program.addresses, program.memory,
                                            memory_base, 0x200000, program.tls),
                 POP_ERROR_LINK, cases[i].place, cases[i].reason);
    free(source);
    end(&program);
  }
}

/* ---- placement ---- */

Test(link, bytes_outside_the_groups_are_not_touched)
{
  program program = {0};
  expect_ok(
      add(&program, RV32_C, "static int zeros[10]; int *root(void) { return zeros; }", "a.o"));
  expect_ok(close_over(&program, ROOTS("root")));
  expect_ok(relocate_at(&program, memory_base + 64));
  uint32_t data = program.addresses.start[POP_LINK_DATA] - memory_base;
  for (uint32_t i = 0; i < memory_bytes; ++i) {
    if (i < 64 || i >= data + 40) cr_assert_eq(program.memory[i], 0xaa, "byte %u", i);
    if (i >= data && i < data + 40) cr_assert_eq(program.memory[i], 0, "byte %u", i);
  }
  end(&program);
}

Test(link, groups_must_lie_in_memory_and_be_aligned)
{
  static const struct {
    uint32_t start;
    const char *reason;
  } cases[] = {
      {memory_base - 16, "is outside memory 0x40000 to 0x80000"},
      {memory_base + memory_bytes - 16, "code (32 bytes at 0x7fff0) is outside"},
      {memory_base + memory_bytes + 16, "is outside"},
      {0xfffffff0, "is outside"},
      {memory_base + 4, "is not aligned to 16"},
  };
  program program = {.memory = malloc(memory_bytes)};
  expect_ok(add(&program, RV32_ASM, ".text\n.p2align 4\n.globl root\nroot: .zero 32\n", "a.o"));
  expect_ok(close_over(&program, ROOTS("root")));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    program.addresses.start[POP_LINK_CODE] = cases[i].start;
    expect_error(pop_live_sections_relocate(program.live, &program.addresses, program.memory,
                                            memory_base, memory_bytes, NULL),
                 POP_ERROR_LINK, cases[i].reason, "");
  }
  end(&program);
}

Test(link, S13_groups_that_no_tile_can_hold_are_an_error)
{
  program program = {0};
  expect_ok(add(&program, RV32_C,
                "char a[0x30000000], b[0x30000000]; char *root(int n) { return n ? a : b; }",
                "big.o"));
  EXPECT_ERROR(close_over(&program, ROOTS("root")), POP_ERROR_LINK, "big.o", "for root",
               "more than any tile's memory");
  end(&program);
}

/* ---- names ---- */

typedef struct listing {
  char *text;
} listing;

static void list_symbol(void *context, const pop_link_symbol *symbol)
{
  listing *listing = context;
  char *longer = pop_xasprintf("%s%s %x+%u %s%s%s\n", listing->text, symbol->name,
                               symbol->address - memory_base, symbol->size,
                               symbol->group == POP_LINK_CODE     ? "code"
                               : symbol->group == POP_LINK_RODATA ? "rodata"
                                                                  : "data",
                               symbol->function ? " function" : "", symbol->local ? " local" : "");
  free(listing->text);
  listing->text = longer;
}

Test(link, every_section_has_a_name_and_a_size)
{
  program program = {0};
  expect_ok(add(&program, RV32_ASM,
                ".text\n.globl root, unsized\n.type sized, @function\n"
                "root: lui a0, %hi(table)\n lui a0, %hi(nameless)\n"
                "unsized: nop\n nop\n inner: nop\n"
                "sized: ret\n.size sized, 4\n.word 0\n lui a0, %hi(word)\n"
                ".section .rodata.other,\"a\"\nnameless: .word 1, 2\n"
                ".data\n.type table, @object\ntable: .word 3, 4\n.size table, 8\n"
                ".globl word\nword: .half 5\n",
                "a.o"));
  expect_ok(close_over(&program, ROOTS("root")));
  expect_ok(relocate_at(&program, memory_base));
  listing listing = {pop_xstrdup("")};
  pop_live_sections_symbols(program.live, &program.addresses, list_symbol, &listing);
  cr_assert_str_eq(listing.text, "$x 0+0 code local\n"
                                 "root 0+8 code function\n"
                                 "unsized 8+12 code function\n"
                                 "sized 14+4 code function local\n"
                                 "$d 18+0 code local\n"
                                 "$x 1c+0 code local\n"
                                 "$d 20+0 rodata local\n"
                                 ".rodata.other 20+8 rodata local\n"
                                 "$d 28+0 data local\n"
                                 "table 28+8 data local\n"
                                 "word 30+2 data\n");
  free(listing.text);
  end(&program);
}

Test(link, a_code_address_leads_back_to_its_object)
{
  program program = {0};
  expect_ok(add(&program, RV32_ASM,
                ".section .text.a,\"ax\"\n.globl a\na: call b\n"
                ".section .text.unused,\"ax\"\nnop\n",
                "a.o"));
  expect_ok(add(&program, RV32_ASM, ".section .text.b,\"ax\"\n.p2align 4\n.globl b\nb: nop\nret\n",
                "b.o"));
  expect_ok(close_over(&program, ROOTS("a")));
  expect_ok(relocate_at(&program, memory_base));
  static const struct {
    uint32_t address;
    const char *object, *section;
    uint32_t offset;
  } places[] = {
      {memory_base - 4, NULL, NULL, 0},        {memory_base, "a.o", ".text.a", 0},
      {memory_base + 4, "a.o", ".text.a", 4},  {memory_base + 8, NULL, NULL, 0},
      {memory_base + 16, "b.o", ".text.b", 0}, {memory_base + 20, "b.o", ".text.b", 4},
      {memory_base + 24, NULL, NULL, 0},
  };
  for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
    const pop_object *object = NULL;
    const char *section = NULL;
    uint32_t index, offset = 0;
    bool found = pop_live_sections_locate(program.live, &program.addresses, places[i].address,
                                          &object, &section, &index, &offset);
    cr_assert_eq(found, places[i].object != NULL, "0x%x", places[i].address);
    if (!found) continue;
    cr_assert_str_eq(pop_object_name(object), places[i].object);
    cr_assert_str_eq(section, places[i].section);
    cr_assert_eq(offset, places[i].offset);
  }
  end(&program);
}
