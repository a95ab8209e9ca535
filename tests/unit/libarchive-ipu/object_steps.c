/* Which additions become step instructions. The expected results were found by hand from the chip's
 * instructions. Each case has code, and under it a character for each instruction: s if it becomes
 * a step, . if it is unchanged. */
#include "support/link_objects.h"

#include <isa/encoding.h>

TestSuite(object_steps, .init = enter_fresh_folder);

typedef struct example {
  const char *code, *wanted;
} example;

static void expect_steps(const example *e)
{
  size_t size;
  char *source = pop_xasprintf(".option arch, +d\nf: %s\n", e->code);
  uint8_t *bytes = compiled_bytes(RV32_ASM, source, &size), *before = pop_xmalloc(size);
  Elf32_Shdr *text = section_header(bytes, ".text");
  memcpy(before, bytes, size);
  expect_ok(pop_object_make_steps(bytes, size, "steps.o"));
  char got[64] = "";
  for (uint32_t at = 0; at < text->sh_size; at += 4) {
    uint32_t was, is;
    memcpy(&was, before + text->sh_offset + at, 4);
    memcpy(&is, bytes + text->sh_offset + at, 4);
    got[at / 4] = was == is ? '.' : 's';
    /* addi r, r, n -> step r, r, n: only the opcode changes */
    if (was != is)
      cr_expect((was ^ is) == (0x13 ^ 0x1b) && isa_find(is)->op == OP_STEP, "%s", e->code);
    memcpy(before + text->sh_offset + at, &is, 4);
  }
  cr_expect_str_eq(got, e->wanted, "%s: %s, not %s", e->code, got, e->wanted);
  cr_expect(!memcmp(bytes, before, size), "%s: more than code is changed", e->code);
  free(source);
  free(bytes);
  free(before);
}

#define EXPECT_STEPS(...)                                                                          \
  static const example examples[] = {__VA_ARGS__};                                                 \
  for (size_t i = 0; i < sizeof examples / sizeof *examples; ++i) expect_steps(&examples[i])

Test(object_steps, each_access_can_step_its_pointer)
{
  EXPECT_STEPS({"lw a1, 0(a0); addi a0, a0, 4; ret", ".s."},
               {"lbu a1, 3(a0); addi a0, a0, 1", ".s"}, {"lh a1, 0(a0); addi a0, a0, -2", ".s"},
               {"flh fa1, 0(a0); addi a0, a0, 6", ".s"}, {"flw fa1, 0(a0); addi a0, a0, 4", ".s"},
               {"fld fa1, 0(a0); addi a0, a0, 16", ".s"}, {"sw a1, 0(a0); addi a0, a0, 4", ".s"},
               {"fsw fa0, 0(a0); addi a0, a0, 4", ".s"}, {"fsd fa0, 0(a0); addi a0, a0, 8", ".s"},
               {"addi a0, a0, 4; flw fa1, -4(a0)", "s."});
}

Test(object_steps, of_bytes_and_halves_the_chip_has_no_stores)
{
  EXPECT_STEPS({"sb a1, 0(a0); addi a0, a0, 1", ".."}, {"sh a1, 0(a0); addi a0, a0, 2", ".."},
               {"fsh fa1, 0(a0); addi a0, a0, 2", ".."});
}

Test(object_steps, distances_are_signed_bytes_of_elements)
{
  EXPECT_STEPS({"lw a1, 0(a0); addi a0, a0, 508", ".s"}, {"lw a1, 0(a0); addi a0, a0, 512", ".."},
               {"lw a1, 0(a0); addi a0, a0, -512", ".s"}, {"lw a1, 0(a0); addi a0, a0, -516", ".."},
               {"lw a1, 0(a0); addi a0, a0, 2", ".."}, {"fld fa1, 0(a0); addi a0, a0, 4", ".."},
               {"lb a1, 0(a0); addi a0, a0, 127", ".s"}, {"lb a1, 0(a0); addi a0, a0, 128", ".."});
}

Test(object_steps, an_access_makes_one_step)
{
  EXPECT_STEPS({"lw a1, 0(a0); addi a0, a0, 4; addi a0, a0, 4", ".s."},
               {"lw a1, 0(a0); lw a2, 4(a0); addi a0, a0, 8; addi a0, a0, 8", "..s."},
               {"addi a0, a0, 4; lw a1, 0(a0); addi a0, a0, 4", "s.."},
               {"lw a1, 0(a0); lw a3, 0(a2); addi a0, a0, 4; addi a2, a2, 4", "..ss"});
}

Test(object_steps, nothing_between_may_use_the_pointer)
{
  EXPECT_STEPS({"lw a1, 0(a0); add a2, a0, a3; addi a0, a0, 4", "..."},
               {"lw a1, 0(a0); sw a0, 0(a2); addi a0, a0, 4", "..."},
               {"lw a1, 0(a0); fcvt.s.w fa0, a0; addi a0, a0, 4", "..."},
               {"lw a1, 0(a0); fadd.s fa0, fa0, fa0; addi a0, a0, 4", "..s"},
               {"lw a1, 0(a0); li a0, 7; addi a0, a0, 4", "..."},
               {"lw a0, 0(a0); addi a0, a0, 4", ".."}, {"sw a0, 0(a0); addi a0, a0, 4", ".."},
               {"flw fa0, 0(a0); fsw fa0, 4(a0); addi a0, a0, 4", "..s"},
               {"lw a1, 0(a0); rdcycle a2; addi a0, a0, 4", "..."},
               {"lw a1, 0(a0); .word 0; addi a0, a0, 4", "..."});
}

Test(object_steps, only_in_a_straight_line)
{
  EXPECT_STEPS({"lw a1, 0(a0); 1: addi a0, a0, 4; beq a1, a2, 1b", "..."},
               {"lw a1, 0(a0); beq a1, a2, f; addi a0, a0, 4", "..."},
               {"lw a1, 0(a0); jal f; addi a0, a0, 4", "..."},
               {".globl g; lw a1, 0(a0); g: addi a0, a0, 4", ".."},
               {"lw a1, 0(a0); g: addi a0, a0, 4", ".s"},
               {"lw a1, 0(a0); 1: addi a0, a0, 4; .section .rodata; .word 1b", ".."},
               {"addi a0, a0, 4; 1: lw a1, 0(a0); beq a1, a2, 1b", "..."});
}

Test(object_steps, what_linking_changes_and_the_stack_pointer_stay)
{
  EXPECT_STEPS({"lw a1, %lo(x)(a0); addi a0, a0, 4", ".."},
               {"lw a1, 0(a0); addi a0, a0, %lo(x)", ".."}, {"lw a1, 0(sp); addi sp, sp, 16", ".."},
               {"lw a1, 0(a0); addi a2, a0, 4", ".."}, {"lw a1, 0(a0); addi a0, a0, 0", ".."});
}

Test(object_steps, counters_step_with_the_branch_that_asks_for_them)
{
  EXPECT_STEPS({"1: nop; addi a1, a1, -1; bnez a1, 1b", ".s."},
               {"1: addi a1, a1, -1; addi a2, a2, 4; bnez a1, 1b", "s.."},
               {"1: addi a1, a1, -1; bne zero, a1, 1b", "s."},
               {"1: addi a1, a1, -2; bnez a1, 1b", ".."}, {"1: addi a1, a1, 1; bnez a1, 1b", ".."},
               {"1: addi a1, a1, -1; beqz a1, 1b", ".."},
               {"1: addi a1, a1, -1; bne a1, a2, 1b", ".."},
               {"1: addi a1, a1, -1; mv a2, a1; bnez a1, 1b", "..."},
               {"1: addi a1, a1, -1; 2: bnez a1, 2b", ".."});
}

Test(object_steps, what_is_no_object_is_an_error)
{
  uint8_t bytes[] = "no object";
  expect_error(pop_object_make_steps(bytes, sizeof bytes, "none.o"), POP_ERROR_FILE_LOAD, "none.o",
               "text");
}
