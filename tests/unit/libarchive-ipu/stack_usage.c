/* The stack of functions, from the code that clang makes of them. The references are clang
 * itself, which states each function's stack with -fstack-size-section, and hand-made code
 * with known frames. */
#include "support/link_objects.h"

#include <populus/stack.h>

TestSuite(stack_usage, .init = enter_fresh_folder);

static pop_link_set *set;
static pop_object *object;
static pop_arena *arena;

static pop_stack_analysis *analyse_source(const char *options, const char *source)
{
  arena = pop_arena_new();
  object = compiled(options, source, "test.o");
  set = pop_link_set_new();
  expect_ok(pop_link_set_add(set, object, false));
  pop_stack_analysis *analysis = NULL;
  expect_ok(pop_stack_analysis_new(set, &analysis));
  return analysis;
}

static void done(pop_stack_analysis *analysis)
{
  pop_stack_analysis_free(analysis);
  pop_link_set_free(set);
  pop_object_free(object);
  pop_arena_free(arena);
}

/* The size in the only entry of .stack_sizes: 4 bytes of address, then ULEB128. */
static uint32_t size_by_clang(void)
{
  size_t size;
  const uint8_t *entry = pop_object_section(object, ".stack_sizes", &size);
  cr_assert_not_null(entry);
  uint32_t bytes = 0;
  for (size_t i = 4, shift = 0; i < size; ++i, shift += 7) {
    bytes |= (uint32_t)(entry[i] & 0x7f) << shift;
    if (!(entry[i] & 0x80)) return bytes;
  }
  cr_assert_fail("no size");
  return 0;
}

Test(stack_usage, frames_are_as_large_as_clang_says)
{
  static const char *const sources[] = {
      "int f(int x) { return x + 1; }",
      "void g(int *); int f(int x) { int a[10]; a[0] = x; g(a); return a[1]; }",
      "void g(char *); void f(void) { char a[3000]; g(a); }",
      "void g(char *); void f(int x) { char a[70000]; if (x) g(a); }",
      "void g(void *); void f(void) { _Alignas(64) char a[100]; g(a); }",
      "int g(int); int f(int x) { switch (x) { case 0: return g(3) * g(1); case 1: return g(5); "
      "case 2:"
      " return 7 + g(x); case 3: return g(2) - 3; case 4: return g(1) - g(9); case 5: return 8; "
      "default:"
      " return 0; } }",
  };
  static const char *const levels[] = {"-O0", "-O1", "-O2", "-O3", "-Os"};
  for (size_t i = 0; i < sizeof sources / sizeof *sources; ++i) {
    for (size_t level = 0; level < sizeof levels / sizeof *levels; ++level) {
      char *options = pop_xasprintf(RV32_C "-fstack-size-section %s", levels[level]);
      char *source = pop_xasprintf("%s\n", sources[i]);
      pop_stack_analysis *analysis = analyse_source(options, source);
      pop_object *callee =
          compiled(RV32_ASM, ".text\n.globl g\n.type g, @function\ng: ret\n", "g.o");
      expect_ok(pop_link_set_add(set, callee, false));
      pop_stack_use use = pop_stack_analyse(analysis, "f", arena);
      cr_assert_eq(use.reason, POP_STACK_KNOWN, "%s %s: %s", levels[level], source,
                   pop_stack_explain(&use, arena));
      /* The most that alignment takes depends on the stack pointer. Clang does not count it. */
      uint32_t by_clang = size_by_clang();
      uint32_t slack = strstr(source, "_Alignas") ? 64 : 0;
      cr_assert(use.bytes >= by_clang && use.bytes <= by_clang + slack, "%s %s: %u instead of %u",
                levels[level], source, use.bytes, by_clang);
      done(analysis);
      pop_object_free(callee);
      free(options);
      free(source);
    }
  }
}

#define FUNCTION(name) ".globl " name "\n.type " name ", @function\n" name ":\n"
#define CALLS(name, frame, callee)                                                                 \
  FUNCTION(name)                                                                                   \
  "addi sp, sp, -" frame "\nsw ra, 0(sp)\ncall " callee "\nlw ra, 0(sp)\naddi sp, sp, " frame      \
  "\nret\n"

static const struct {
  const char *what, *options, *source;
  uint32_t bytes; /* of `f`, if known */
  const char *explanation;
} cases[] = {
    {"calls", RV32_ASM,
     CALLS("f", "32", "g") CALLS("g", "48", "h") CALLS("h", "16", "k") FUNCTION("k") "ret", 96,
     "f -> g -> h needs the most"},
    {"the deeper of two", RV32_ASM,
     FUNCTION("f") "addi sp, sp, -16\ncall g\naddi sp, sp, -64\ncall h\naddi sp, sp, "
                   "80\nret\n" CALLS("g", "48", "h") FUNCTION("h") "ret\n",
     80, "f"},
    {"a tail call leaves no frame", RV32_ASM,
     FUNCTION("f") "addi sp, sp, -16\naddi sp, sp, 16\ntail g\n" CALLS("g", "64", "h")
         FUNCTION("h") "ret\n",
     64, "f -> g needs the most"},
    {"rare code elsewhere", RV32_ASM,
     FUNCTION("f") "addi sp, sp, -32\nbnez a0, f.cold\naddi sp, sp, 32\nret\n"
                   ".type f.cold, @function\nf.cold: addi sp, sp, -16\naddi sp, sp, 48\nret\n",
     48, "f"},
    {"large frames", RV32_ASM,
     FUNCTION("f") "li t0, -70000\nadd sp, sp, t0\nli t0, 70000\nadd sp, sp, t0\nret\n", 70000,
     "f"},
    {"a callee that does not return", RV32_ASM,
     FUNCTION("f") "addi sp, sp, -16\ncall g\n" FUNCTION("g") "addi sp, sp, -32\n1: j 1b\n", 48,
     "f -> g"},
    {"recursion", RV32_ASM, CALLS("f", "16", "g") CALLS("g", "16", "h") CALLS("h", "16", "g"),
     POP_STACK_UNKNOWN, "f -> g -> h -> g: recursion"},
    {"recursion of a function that no other file sees", RV32_C,
     "__attribute__((noinline)) static int g(int n) { return n < 2 ? n : g(n - 1) + g(n - 2); }\n"
     "int f(int n) { return g(n) + 1; }\n",
     POP_STACK_UNKNOWN, "f -> g -> g: recursion"},
    {"calls whose distance the assembler knew", RV32_ASM,
     FUNCTION("f") "addi sp, sp, -16\ncall g\ncall h\naddi sp, sp, 16\nret\n"
                   ".type g, @function\ng: addi sp, sp, -32\naddi sp, sp, 32\nret\n"
                   ".type h, @function\nh: addi sp, sp, -64\naddi sp, sp, 64\ntail g\n",
     80, "f -> h needs the most"},
    {"a loop is no recursion", RV32_ASM,
     FUNCTION("f") "addi a0, a0, -1\nbeqz a0, 1f\ntail f\n1: ret\n", 0, "f"},
    {"a pointer", RV32_C, "int f(int (*p)(void)) { return p() + 1; }\n", POP_STACK_UNKNOWN,
     "f calls through a pointer"},
    {"a tail call through a pointer", RV32_C, "int f(int (*p)(void)) { return p(); }\n",
     POP_STACK_UNKNOWN, "f calls through a pointer"},
    {"a table of functions", RV32_C,
     "int a(void); int b(void); static int (*const t[])(void) = {a, b};\n"
     "int a(void) { return 1; } int b(void) { return 2; } int f(int i) { return t[i](); }\n",
     POP_STACK_UNKNOWN, "f calls through a pointer"},
    {"a virtual function", RV32_CXX,
     "struct s { virtual int v(); }; extern \"C\" int f(s *p) { return p->v() + 1; }\n",
     POP_STACK_UNKNOWN, "f calls through a pointer"},
    {"an array of any length", RV32_C,
     "void g(char *p) { p[0] = 1; __asm__(\"\" ::: \"memory\"); }\n"
     "__attribute__((noinline)) void h(char *p) { __asm__(\"\" ::\"r\"(p)); }\n"
     "void f(int n) { char a[n]; h(a); g(a); }\n",
     POP_STACK_UNKNOWN, "f has an array"},
    {"alloca in a loop", RV32_ASM,
     FUNCTION("f") "1: addi sp, sp, -16\naddi a0, a0, -1\nbnez a0, 1b\n2: j 2b\n",
     POP_STACK_UNKNOWN, "f has an array"},
    {"a stack pointer of its own", RV32_ASM, FUNCTION("f") "addi sp, sp, -16\nret\n",
     POP_STACK_UNKNOWN, "moves the stack pointer"},
    {"S11 a stated recursion", RV32_C,
     "__asm__(\".pushsection .populus.stack\\n.asciz \\\"f\\\"\\n.balign 4\\n"
     ".4byte 960\\n.popsection\");\nint f(int n) { return n ? f(n - 1) * n + f(n / 2) : 1; }\n",
     960, "f"},
    {"S11 stated levels of recursion", RV32_ASM,
     ".section .populus.levels,\"\",@progbits\n.asciz \"g\"\n.balign 4\n"
     ".4byte 5\n.text\n" CALLS("f", "16", "g") CALLS("g", "32", "g"),
     176, "f -> g needs the most"},
    {"S11 stated levels of a function that no other file sees", RV32_ASM,
     ".section .populus.levels,\"\",@progbits\n.asciz \"g\"\n.balign 4\n"
     ".4byte 5\n.text\n" CALLS("f", "16",
                               "g") ".type g, @function\ng: addi sp, sp, -32\n"
                                    "sw ra, 0(sp)\ncall g\nlw ra, 0(sp)\naddi sp, sp, 32\nret\n",
     176, "f -> g needs the most"},
    {"S11 levels say nothing about a ring", RV32_ASM,
     ".section .populus.levels,\"\",@progbits\n.asciz \"g\"\n.balign 4\n"
     ".4byte 5\n.text\n" CALLS("f", "16", "g") CALLS("g", "32", "h") CALLS("h", "16", "g"),
     POP_STACK_UNKNOWN, "f -> g -> h -> g: recursion"},
    {"S11 a frame larger than what is stated", RV32_ASM,
     ".section .populus.stack,\"\",@progbits\n.asciz \"g\"\n.balign 4\n"
     ".4byte 8\n.text\n" CALLS("f", "16", "g") CALLS("g", "32", "g"),
     48, "f -> g needs the most"},
    {"S11 std::sort", RV32_ASM,
     CALLS("f", "16", "_ZNSt3__111__introsortIX")
         CALLS("_ZNSt3__111__introsortIX", "32", "_ZNSt3__111__introsortIX"),
     16 + 39 * 32, "f -> _ZNSt3__111__introsortIX needs the most"},
    {"a stated name in quotes", RV32_ASM,
     ".section .populus.stack,\"\",@progbits\n.asciz \"\\\"g\\\"\"\n.balign 4\n"
     ".4byte 100\n.text\n" CALLS("f", "16", "g") CALLS("g", "16", "g"),
     116, "f -> g"},
    {"S11 stated targets of a pointer", RV32_ASM,
     ".section .populus.calls,\"\",@progbits\n.asciz \"f\"\n.balign 4\n"
     ".asciz \"g,h\"\n.balign 4\n.text\n" FUNCTION("f") "addi sp, sp, -16\njalr a0\naddi sp, sp, "
                                                        "16\nret\n" FUNCTION(
                                                            "g") "addi sp, sp, -32\naddi sp, sp, "
                                                                 "32\nret\n" FUNCTION("h") "ret\n",
     48, "f -> g"},
};

Test(stack_usage, S11_what_is_known_and_why_not)
{
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    pop_stack_analysis *analysis = analyse_source(cases[i].options, cases[i].source);
    pop_stack_use use = pop_stack_analyse(analysis, "f", arena);
    const char *explanation = pop_stack_explain(&use, arena);
    cr_assert_eq(use.bytes, cases[i].bytes, "%s: %u, %s", cases[i].what, use.bytes, explanation);
    cr_assert_not_null(strstr(explanation, cases[i].explanation), "%s: %s", cases[i].what,
                       explanation);
    done(analysis);
  }
}

Test(stack_usage, chains_may_be_long)
{
  enum { LENGTH = 20000 };
  pop_bytes source = {0};
  for (int i = 0; i < LENGTH; ++i) {
    char *text = pop_xasprintf("f%d: addi sp, sp, -16\njal f%d\naddi sp, sp, 16\nret\n", i, i + 1);
    pop_bytes_append(&source, text, strlen(text));
    free(text);
  }
  char *text = pop_xasprintf(".globl f\nf: nop\n%.*sf%d: ret\n", (int)source.size,
                             (char *)source.data, LENGTH);
  pop_stack_analysis *analysis = analyse_source(RV32_ASM, text);
  cr_assert_eq(pop_stack_analyse(analysis, "f", arena).bytes, 16 * LENGTH);
  done(analysis);
  free(text);
  pop_bytes_free(&source);
}

/* A loop that is as long as its rounds are many: in each, a register is one byte further in front
 * of the label that it began with. */
Test(stack_usage, code_that_is_followed_too_often_is_given_up)
{
  pop_stack_analysis *analysis = analyse_source(
      RV32_ASM, ".globl f\n.type f, @function\nf: la t0, last\nloop: .rept 3000\nnop\n.endr\n"
                "addi t0, t0, -1\nbeqz a0, last\nj loop\nlast: ret\n");
  cr_assert_eq(pop_stack_analyse(analysis, "f", arena).reason, POP_STACK_UNREADABLE);
  done(analysis);
}

Test(stack_usage, damaged_annotations_are_refused)
{
  static const char *const contents[] = {".ascii \"name\"", ".asciz \"name\"\n.balign 4\n.byte 1"};
  for (size_t i = 0; i < 2; ++i) {
    char *source = pop_xasprintf(".section .populus.stack,\"\",@progbits\n%s\n", contents[i]);
    pop_object *damaged = compiled(RV32_ASM, source, "damaged.o");
    pop_link_set *holds = pop_link_set_new();
    expect_ok(pop_link_set_add(holds, damaged, false));
    pop_stack_analysis *analysis;
    expect_error(pop_stack_analysis_new(holds, &analysis), POP_ERROR_FILE_LOAD, "damaged.o",
                 source);
    pop_link_set_free(holds);
    pop_object_free(damaged);
    free(source);
  }
}
