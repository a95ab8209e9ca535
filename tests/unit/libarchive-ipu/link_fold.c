/* What the tile linker merges: identical functions and constants (live_fold.c), mergeable strings
 * and constants (live_merge.c). In tests/golden/link_tools.sh qemu checks that the result still
 * means the same. */
#include "support/link_objects.h"

TestSuite(link_fold, .init = enter_fresh_folder);

enum { memory_base = 0x40000, memory_bytes = 0x8000 };
#define KEEP_ADDRESSES RV32 "-x c -O2 -fno-pic -ffunction-sections -fdata-sections -faddrsig "
#define NO_ADDRESS_LIST RV32 "-x c -O2 -fno-pic -ffunction-sections -fdata-sections -fno-addrsig "

typedef struct program {
  pop_object *objects[4];
  size_t num_objects;
  pop_link_set *set;
  pop_live_sections *live;
  pop_link_addresses addresses;
  uint8_t memory[memory_bytes];
} program;

static void add(program *program, const char *options, const char *source)
{
  static const char *const names[] = {"a.o", "b.o", "c.o", "d.o"};
  if (!program->set) program->set = pop_link_set_new();
  pop_object *object = compiled(options, source, names[program->num_objects]);
  program->objects[program->num_objects++] = object;
  expect_ok(pop_link_set_add(program->set, object, false));
}

/* `roots` is NULL-terminated. */
static void link_roots(program *program, const char *const *roots)
{
  size_t count = 0;
  while (roots[count]) ++count;
  expect_ok(pop_live_sections_create(program->set, roots, NULL, count, &program->live));
  uint32_t start = memory_base;
  for (int i = 0; i < POP_LINK_GROUP_COUNT; ++i) {
    uint32_t align = pop_live_sections_group_align(program->live, (pop_link_group)i);
    program->addresses.start[i] = start = (start + align - 1) & ~(align - 1);
    start += pop_live_sections_group_bytes(program->live, (pop_link_group)i);
  }
  expect_ok(pop_live_sections_relocate(program->live, &program->addresses, program->memory,
                                       memory_base, memory_bytes, NULL));
}
#define LINK(program, ...) link_roots(program, (const char *const[]){__VA_ARGS__, NULL})

static void end(program *program)
{
  pop_live_sections_free(program->live);
  pop_link_set_free(program->set);
  for (size_t i = 0; i < program->num_objects; ++i) pop_object_free(program->objects[i]);
}

static uint32_t address_of(const program *program, const char *symbol)
{
  uint32_t address = 0, size;
  cr_assert(pop_live_sections_symbol(program->live, &program->addresses, symbol, &address, &size),
            "%s is not there", symbol);
  return address;
}

static bool shared(const program *program, const char *a, const char *b)
{
  return address_of(program, a) == address_of(program, b);
}

static uint32_t word_of(const program *program, const char *symbol)
{
  uint32_t word;
  memcpy(&word, program->memory + (address_of(program, symbol) - memory_base), 4);
  return word;
}

static uint32_t bytes(const program *program, pop_link_group group)
{
  return pop_live_sections_group_bytes(program->live, group);
}

/* ---- functions ---- */

Test(link_fold, identical_functions_share_a_copy_and_keep_their_names)
{
  static const char source[] = "int a(int x) { return x * 77 + 5; }\n"
                               "int b(int x) { return x * 77 + 5; }\n"
                               "int c(int x) { return x * 78 + 5; }\n";
  program program = {0};
  add(&program, KEEP_ADDRESSES, source);
  LINK(&program, "b", "a", "c");
  cr_assert(shared(&program, "a", "b"));
  cr_assert_not(shared(&program, "a", "c"));
  uint32_t folded = bytes(&program, POP_LINK_CODE);
  uint32_t address, size;
  cr_assert(pop_live_sections_symbol(program.live, &program.addresses, "b", &address, &size));
  cr_assert_eq(size * 2, folded);
  end(&program);
}

Test(link_fold, every_copy_is_kept_if_asked_for)
{
  program program = {.set = pop_link_set_new()};
  pop_link_set_keep_duplicates(program.set);
  add(&program, KEEP_ADDRESSES,
      "int a(int x) { return x * 77; }\nint b(int x) { return x * 77; }\n"
      "const char *c(void) { return \"same\"; }\n");
  add(&program, KEEP_ADDRESSES, "const char *d(void) { return \"same\"; }\n");
  LINK(&program, "a", "b", "c", "d");
  cr_assert_not(shared(&program, "a", "b"));
  cr_assert_eq(bytes(&program, POP_LINK_RODATA), 10);
  end(&program);
}

/* Functions that differ only in what they call: the difference is found through any number of
 * calls. Functions that call themselves or each other are equal if nothing distinguishes them. */
Test(link_fold, functions_are_compared_with_all_that_they_refer_to)
{
#define CHAIN(name, number)                                                                        \
  "__attribute__((noinline)) int " name "3(int x) { return x * " number "; }\n"                    \
  "__attribute__((noinline)) int " name "2(int x) { return " name "3(x) + 1; }\n"                  \
  "__attribute__((noinline)) int " name "1(int x) { return " name "2(x) + 1; }\n"
#define RING(name, number)                                                                         \
  "int " name "1(int x);\n"                                                                        \
  "__attribute__((noinline)) int " name "2(int x) { return x ? " name "1(x - 1) ^ 5 : " number     \
  "; }\n"                                                                                          \
  "__attribute__((noinline)) int " name "1(int x) { return x ? " name "2(x - 2) ^ 9 : 3; }\n"
  program program = {0};
  add(&program, KEEP_ADDRESSES, CHAIN("a", "77") CHAIN("b", "78") CHAIN("c", "77"));
  add(&program, KEEP_ADDRESSES, RING("d", "7") RING("e", "7") RING("f", "8"));
  LINK(&program, "a1", "b1", "c1", "d1", "e1", "f1");
  for (int i = 1; i <= 3; ++i) {
    char level = (char)('0' + i);
    char a[] = {'a', level, 0}, b[] = {'b', level, 0}, c[] = {'c', level, 0};
    cr_assert(shared(&program, a, c), "%s", a);
    cr_assert_not(shared(&program, a, b), "%s", a);
  }
  cr_assert(shared(&program, "d1", "e1") && shared(&program, "d2", "e2"));
  cr_assert_not(shared(&program, "d1", "f1") || shared(&program, "d2", "f2"));
  end(&program);
}

static const char compares[] = "int a(int x) { return x * 77; }\nint b(int x) { return x * 77; }\n"
                               "int c(int x) { return x * 77; }\nint d(int x) { return x * 77; }\n"
                               "int (*const volatile table[])(int) = {a, b};\n"
                               "int uses(int x) { return table[x](x) + c(x) + d(x); }\n";

Test(link_fold, functions_whose_address_is_taken_stay_apart)
{
  const char *const options[] = {KEEP_ADDRESSES "-fno-inline ", NO_ADDRESS_LIST "-fno-inline "};
  for (size_t i = 0; i < 2; ++i) {
    program program = {0};
    add(&program, options[i], compares);
    LINK(&program, "uses");
    cr_assert_not(shared(&program, "a", "b"), "%s", options[i]);
    cr_assert_not(shared(&program, "a", "c"), "%s", options[i]);
    cr_assert(shared(&program, "c", "d"), "%s", options[i]);
    end(&program);
  }
}

/* An object with a list of addresses may refer to functions of one without, and vice versa. */
Test(link_fold, addresses_may_be_taken_in_another_object)
{
  const char *const options[] = {KEEP_ADDRESSES, NO_ADDRESS_LIST};
  for (size_t i = 0; i < 2; ++i) {
    program program = {0};
    add(&program, options[i],
        "int a(int x) { return x * 77; }\nint b(int x) { return x * 77; }\n"
        "int c(int x) { return x * 77; }\n");
    add(&program, options[1 - i],
        "int a(int), b(int), c(int);\n"
        "int uses(int (*f)(int)) { return (f == a) + (f == b) * 2 + c(4); }\n");
    LINK(&program, "uses");
    cr_assert_not(shared(&program, "a", "b"), "%zu", i);
    cr_assert_not(shared(&program, "a", "c") || shared(&program, "b", "c"), "%zu", i);
    end(&program);
  }
}

/* The table refers to places inside the function. That does not take the function's address. */
Test(link_fold, functions_with_equal_jump_tables_share_a_copy)
{
#define SWITCH(name)                                                                               \
  "int " name "(int n, int *out) { switch (n) {\n"                                                 \
  "case 0: *out += 7; return 3; case 1: *out ^= 99; return n * 5; case 2: *out -= 12; return 8;\n" \
  "case 3: *out *= 3; return *out + 1; case 4: *out = 0; return 77; case 5: *out <<= 3; return "   \
  "1;\n"                                                                                           \
  "case 6: *out /= 7; return 21; default: return -1; } }\n"
  program program = {0};
  add(&program, KEEP_ADDRESSES, SWITCH("a") SWITCH("b"));
  LINK(&program, "a", "b");
  cr_assert(shared(&program, "a", "b"));
  uint32_t once = bytes(&program, POP_LINK_RODATA);
  cr_assert_gt(once, 0, "there is a jump table");
  end(&program);
  program = (struct program){0};
  add(&program, KEEP_ADDRESSES, SWITCH("a") SWITCH("b"));
  LINK(&program, "a");
  cr_assert_eq(bytes(&program, POP_LINK_RODATA), once);
  end(&program);
}

Test(link_fold, read_only_data_is_folded_and_data_is_not)
{
  program program = {0};
  add(&program, KEEP_ADDRESSES,
      "static const int p[] = {3, 1, 4, 1, 5, 9}, q[] = {3, 1, 4, 1, 5, 9};\n"
      "int v[] = {2, 7, 1}, w[] = {2, 7, 1};\n"
      "int a(int i) { return p[i] + v[i]; }\nint b(int i) { return q[i] - w[i]; }\n"
      "const int r[] = {2, 7, 1}, s[] = {2, 7, 1};\n"
      "const int *const compared[] = {r, s};\n");
  LINK(&program, "a", "b", "compared");
  cr_assert_not(shared(&program, "v", "w"));
  cr_assert_not(shared(&program, "r", "s"), "their addresses matter");
  cr_assert_eq(bytes(&program, POP_LINK_RODATA), 6 * 4 + 2 * 3 * 4 + 2 * 4);
  end(&program);
}

/* ---- strings and constants ---- */

#define STRING(name, text)                                                                         \
  ".section .rodata." name ", \"aMS\", @progbits, 1\n" name "_at: .asciz \"" text "\"\n"           \
  ".data\n.globl " name "\n" name ": .word " name "_at\n"

static const char *text_of(const program *program, const char *symbol)
{
  return (const char *)program->memory + (word_of(program, symbol) - memory_base);
}

Test(link_fold, strings_are_there_once_and_as_tails_of_others)
{
  program program = {0};
  add(&program, RV32_ASM,
      STRING("a", "undeterred") STRING("b", "deterred") STRING("c", "red") STRING("d", "green"));
  add(&program, RV32_ASM, STRING("e", "deterred") STRING("f", "") STRING("g", "dete"));
  LINK(&program, "a", "b", "c", "d", "e", "f", "g");
  static const char *const texts[][2] = {{"a", "undeterred"}, {"b", "deterred"}, {"c", "red"},
                                         {"d", "green"},      {"e", "deterred"}, {"f", ""},
                                         {"g", "dete"}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
    cr_assert_str_eq(text_of(&program, texts[i][0]), texts[i][1]);
  cr_assert_eq(text_of(&program, "b"), text_of(&program, "a") + 2);
  cr_assert_eq(text_of(&program, "e"), text_of(&program, "b"));
  cr_assert_eq(bytes(&program, POP_LINK_RODATA),
               sizeof "undeterred" + sizeof "green" + sizeof "dete");
  end(&program);
}

/* Clang writes "section + offset" or "symbol + offset". Both may refer to the middle of a
 * string. */
Test(link_fold, references_into_the_middle_stay_there)
{
  program program = {0};
  add(&program, RV32_ASM,
      ".section .rodata.str, \"aMS\", @progbits, 1\nfirst: .asciz \"unused\"\n"
      "second: .asciz \"middle\"\nthird: .asciz \"last\"\n"
      ".data\n.globl by_symbol, by_section, before, behind\n"
      "by_symbol: .word second + 3\n"
      "by_section: .word .rodata.str + 7 + 3\n"
      "before: .word third - 1\n" /* the last string's address minus one */
      "behind: .word second + 1000\n");
  LINK(&program, "by_symbol", "by_section", "before", "behind");
  cr_assert_str_eq(text_of(&program, "by_symbol"), "dle");
  cr_assert_str_eq(text_of(&program, "by_section"), "dle");
  cr_assert_str_eq(text_of(&program, "before") + 1, "last");
  cr_assert_eq(word_of(&program, "behind"), word_of(&program, "by_symbol") - 3 + 1000);
  cr_assert_eq(bytes(&program, POP_LINK_RODATA), sizeof "middle" + sizeof "last",
               "what nobody refers to is not there");
  end(&program);
}

Test(link_fold, constants_and_wide_strings_keep_their_alignment)
{
  program program = {0};
  add(&program, RV32_ASM,
      ".section .rodata.cst8, \"aM\", @progbits, 8\n.p2align 3\nx: .word 1, 2\ny: .word 3, 4\n"
      "z: .word 1, 2\n"
      ".section .rodata.wide, \"aMS\", @progbits, 4\n.p2align 2\nw: .word 7, 8, 0\nv: .word 8, 0\n"
      ".section .rodata.a4, \"aMS\", @progbits, 1\n.p2align 2\ns: .asciz \"abcdefg\"\n"
      "t: .asciz \"fg\"\n.p2align 2\nu: .asciz \"efg\"\n"
      ".data\n.globl all\nall: .word x, y, z, w, v, s, t, u\n");
  LINK(&program, "all");
  uint32_t at[8];
  memcpy(at, program.memory + (address_of(&program, "all") - memory_base), sizeof at);
  cr_assert_eq(at[0], at[2]);
  cr_assert(at[0] % 8 == 0 && at[1] % 8 == 0 && at[1] != at[0]);
  cr_assert_eq(at[4], at[3] + 4);
  cr_assert(at[5] % 4 == 0 && at[6] % 4 == 0 && at[7] % 4 == 0);
  cr_assert_eq(at[7], at[5] + 4);
  cr_assert_neq(at[6], at[5] + 5, "the tail of a string, but not aligned");
  cr_assert_str_eq((char *)program.memory + (at[6] - memory_base), "fg");
  end(&program);
}

/* Functions that only differ in the copy of a string that they use are identical. */
Test(link_fold, equal_strings_make_equal_functions)
{
  program program = {0};
  add(&program, KEEP_ADDRESSES, "const char *a(int i) { return &\"some text\"[i]; }\n");
  add(&program, KEEP_ADDRESSES,
      "const char *unused(void) { return \"other\"; }\n"
      "const char *b(int i) { return &\"some text\"[i]; }\n"
      "const char *c(int i) { return &\"same text\"[i]; }\n");
  LINK(&program, "a", "b", "c");
  cr_assert(shared(&program, "a", "b"));
  cr_assert_not(shared(&program, "a", "c"));
  cr_assert_eq(bytes(&program, POP_LINK_RODATA), 2 * sizeof "some text");
  end(&program);
}

/* Sections that break the rules of their flags are linked unchanged. */
Test(link_fold, G07_sections_that_cannot_be_cut_stay_whole)
{
  program program = {0};
  add(&program, RV32_ASM,
      ".section .rodata.a, \"aMS\", @progbits, 1\na: .ascii \"no end\"\n"
      ".section .rodata.b, \"aM\", @progbits, 8\nb: .word 1\n"
      ".section .rodata.c, \"aMS\", @progbits, 4\nc: .word c, 0\n"
      ".data\n.globl all\nall: .word a, b, c\n");
  LINK(&program, "all");
  cr_assert_eq(bytes(&program, POP_LINK_RODATA), 6 + 4 + 8);
  end(&program);
}

/* ---- lists of addresses ---- */

Test(link_fold, G06_list_of_addresses_out_of_range)
{
  static const struct {
    uint8_t bytes[6];
    uint32_t size;
  } lists[] = {{{0x7f}, 1},
               {{0x80}, 1},
               {{0xff, 0xff, 0xff, 0xff, 0xff, 1}, 6},
               {{1, 0xff, 0xff, 0xff, 0xff, 0x7f}, 6}};
  size_t size;
  uint8_t *object = compiled_bytes(KEEP_ADDRESSES,
                                   "extern int a, b, c, d, e, f, g, h;\n"
                                   "int *p[] = {&a, &b, &c, &d, &e, &f, &g, &h};\n",
                                   &size);
  Elf32_Shdr *list = section_header(object, ".llvm_addrsig");
  cr_assert_geq(list->sh_size, 6);
  for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
    list->sh_size = lists[i].size;
    memcpy(object + list->sh_offset, lists[i].bytes, lists[i].size);
    pop_object *parsed = NULL;
    EXPECT_ERROR(pop_object_parse(object, size, "a.o", &parsed), POP_ERROR_FILE_LOAD,
                 "a.o: section .llvm_addrsig at offset 0x", "no number of one of the");
  }
  free(object);
}

/* A tool that does not know the section clears sh_link. Then relocations are used instead. */
Test(link_fold, list_of_addresses_without_symbol_table_is_not_believed)
{
  size_t size;
  uint8_t *object = compiled_bytes(KEEP_ADDRESSES "-fno-inline ", compares, &size);
  Elf32_Shdr *list = section_header(object, ".llvm_addrsig");
  memset(object + list->sh_offset, 0, list->sh_size); /* its contents do not matter */
  list->sh_link = 0;
  program program = {.set = pop_link_set_new(), .num_objects = 1};
  expect_ok(pop_object_parse(object, size, "a.o", &program.objects[0]));
  expect_ok(pop_link_set_add(program.set, program.objects[0], false));
  LINK(&program, "uses");
  cr_assert_not(shared(&program, "a", "b"));
  end(&program);
  free(object);
}
