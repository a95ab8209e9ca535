/* Which float operations are joined to the instruction beside them. The expected results come from
 * published examples of the chip's compiler, or were found by hand. Each case has code, and under
 * it a character for each instruction: j if it is joined, . if it is unchanged. */
#include "support/link_objects.h"

#include <isa/encoding.h>

TestSuite(object_joins, .init = enter_fresh_folder);

typedef struct example {
  const char *code, *wanted;
} example;

static void expect_joins(const example *e)
{
  size_t size;
  char *source = pop_xasprintf(".option arch, +d\nf: %s\n", e->code);
  uint8_t *bytes = compiled_bytes(RV32_ASM, source, &size), *before = pop_xmalloc(size);
  Elf32_Shdr *text = section_header(bytes, ".text");
  expect_ok(pop_object_make_steps(bytes, size, "joins.o"));
  memcpy(before, bytes, size);
  expect_ok(pop_object_join(bytes, size, "joins.o"));
  char got[64] = "";
  for (uint32_t at = 0; at < text->sh_size; at += 4) {
    uint32_t was, is;
    memcpy(&was, before + text->sh_offset + at, 4);
    memcpy(&is, bytes + text->sh_offset + at, 4);
    got[at / 4] = was == is ? '.' : 'j';
    if (was != is) {
      const isa_row *row = isa_find(is);
      cr_expect(isa_alone_word(is, row) == was && row->cost == POP_COST_JOINED, "%s", e->code);
    }
    memcpy(before + text->sh_offset + at, &is, 4);
  }
  cr_expect_str_eq(got, e->wanted, "%s: %s, not %s", e->code, got, e->wanted);
  cr_expect(!memcmp(bytes, before, size), "%s: more than code is changed", e->code);
  free(source);
  free(bytes);
  free(before);
}

#define EXPECT_JOINS(...)                                                                          \
  static const example examples[] = {__VA_ARGS__};                                                 \
  for (size_t i = 0; i < sizeof examples / sizeof *examples; ++i) expect_joins(&examples[i])

/* axpy_twice, output_input_operand_clash, A_arithmetic_then_branch and M_arithmetic_then_branch of
 * llvm/test/CodeGen/Colossus/coissue.ll, and tutorial 6's loop, of which 4.1 slots are
 * published. */
Test(object_joins, as_the_chips_compiler_makes_bundles)
{
  EXPECT_JOINS({"flw fa1, 0(a0); flw fa2, 4(a0); fadd.s fa1, fa0, fa1; fadd.s fa0, fa0, fa2; "
                "fsw fa1, 0(a1); fsw fa0, 4(a1)",
                "..jj.."},
               {"flw fa1, 0(a0); fmul.s fa0, fa1, fa0; ret", ".j."},
               {"fadd.s fa0, fa0, fa0; ret", "j."}, {"addi a0, a0, 1; ret", ".."},
               {"1: flw fa1, 0(a0); flw fa2, 0(a1); fmul.s fa1, fa1, fa2; fadd.s fa0, fa0, fa1; "
                "addi a0, a0, 4; addi a1, a1, 4; addi a2, a2, -1; bnez a2, 1b",
                "...j...."});
}

Test(object_joins, what_waits_for_the_other_has_a_slot_of_its_own)
{
  EXPECT_JOINS(
      {"fsw fa2, 0(a0); flw fa3, 0(a1); fadd.s fa3, fa3, fa3", "..."}, /* perhaps of one place */
      {"flw fa1, 0(a0); fadd.s fa0, fa0, fa1", ".."},
      {"fadd.s fa0, fa0, fa1; fsw fa0, 0(a0)", ".."},
      {"fadd.s fa0, fa0, fa1; flw fa0, 0(a0)", ".."},
      {"fadd.s fa0, fa0, fa1; flw fa1, 0(a0)", "j."}, /* both read before either writes */
      {"fsw fa0, 0(a0); fadd.s fa0, fa0, fa1", ".j"},
      {"lw a1, 0(a0); fadd.s fa2, fa1, fa1; fmul.s fa1, fa0, fa0; fmul.s fa3, fa1, fa1",
       ".j.."}, /* the register is read before it is overwritten */
      {"fld fa1, 0(a0); .insn r 0x77, 0, 0, fa0, fa1, fa1", ".."});
}

Test(object_joins, one_goes_with_one)
{
  EXPECT_JOINS(
      {"flw fa1, 0(a0); fadd.s fa2, fa0, fa0; fadd.s fa3, fa0, fa0", ".j."},
      {"flw fa1, 0(a0); flw fa4, 4(a0); fadd.s fa2, fa0, fa0; fadd.s fa3, fa0, fa0", "..jj"});
}

Test(object_joins, only_what_computes_floats_of_floats_in_a_slot)
{
  EXPECT_JOINS(
      {"lw a1, 0(a0); fdiv.s fa0, fa0, fa1", "j."}, {"lw a1, 0(a0); fcvt.s.w fa0, a2", ".."},
      {"lw a1, 0(a0); feq.s a2, fa0, fa1", ".."}, {"lw a1, 0(a0); fmv.w.x fa0, zero", ".."},
      {"lw a1, 0(a0); fmadd.s fa0, fa0, fa1, fa2", ".."}, {"lw a1, 0(a0); fcvt.h.s fa0, fa0", ".j"},
      {"lw a1, 0(a0); fmin.h fa0, fa0, fa1", ".j"},
      {"lw a1, 0(a0); .insn r 0x77, 1, 2, fa0, fa0, fa1", ".j"},
      {"lw a1, 0(a0); .insn r 0x77, 2, 0, fa0, fa0, fa1", ".."},
      {"div a1, a0, a0; fadd.s fa0, fa0, fa1", ".."});
}

/* llvm/test/CodeGen/Colossus/f32-arithmetic.ll has a division beside a return. f32v2exp is two
 * instructions. */
Test(object_joins, accesses_go_beside_what_takes_several_slots)
{
  EXPECT_JOINS(
      {"flw fa1, 0(a0); fdiv.s fa0, fa0, fa2", "j."},
      {"fdiv.s fa0, fa0, fa2; flw fa1, 0(a0); flw fa3, 4(a0)", ".j."},
      {"fdiv.s fa0, fa0, fa2; fsw fa0, 0(a0)", ".."},
      {"fdiv.s fa0, fa0, fa2; fsw fa1, 0(a0)", ".j"}, {"fdiv.s fa0, fa0, fa2; lhu a1, 0(a0)", ".."},
      {"fdiv.s fa0, fa0, fa2; addi a1, a0, 8", ".."}, {"fsqrt.s fa0, fa0; sw a1, 0(a0)", ".j"},
      {"fld fa1, 0(a0); fld fa2, 8(a0); .insn r 0x77, 4, 0, fa0, fa0, f0", "jj."},
      {"fld fa1, 0(a0); fld fa2, 8(a0); .insn r 0x77, 3, 0, fa0, fa0, f0", "j.."});
}

#define COUNT(r) ".insn i 0x1b, 2, " #r ", " #r ", -1; "
#define ADD ".insn r 0x77, 0, 0, "

/* In a loop that tile.count counts down, the branch takes the slot of an access if the chip's
 * compiler would make the loop a repeat. rpt_loop of counted-loop-mir-rpt-dbg.ll, whose two bundles
 * have one nop, is such a loop. */
Test(object_joins, branches_of_repeats_have_the_slot_of_an_access)
{
  EXPECT_JOINS(
      {"1: fmul.s fa1, fa0, fa0; flw fa0, 0(a0); fsw fa1, 0(a1); " COUNT(a2) "bnez a2, 1b",
       "j.j.."},
      {"1: fmul.s fa1, fa0, fa0; flw fa0, 0(a0); fsw fa1, 0(a1); addi a2, a2, -1; bnez a2, 1b",
       "j...."},
      {"1: fld fa0, 0(a0); fld fa1, 0(a1); " ADD
       "fa0, fa0, fa1; fsd fa0, 0(a0); " COUNT(a2) "bnez a2, 1b",
       "...j.."},
      /* another register is counted, or not to zero, or the loop begins elsewhere, or it has two
       * ends */
      {"1: flw fa0, 0(a0); fsw fa0, 0(a1); " COUNT(a2) "bnez a3, 1b", "...."},
      {"1: flw fa0, 0(a0); fsw fa0, 0(a1); " COUNT(a2) "bne a2, a3, 1b", "...."},
      {"1: flw fa0, 0(a0); 2: fsw fa0, 0(a1); " COUNT(a2) "bnez a2, 1b; beqz a0, 2b", "....."},
      {"1: flw fa0, 0(a0); beqz a0, f; fsw fa0, 0(a1); " COUNT(a2) "bnez a2, 1b", "....."},
      /* no instruction that could give its slot: halves, steps, none */
      {"1: lhu a0, 0(a1); " COUNT(a2) "bnez a2, 1b", "..."}, {"1: " COUNT(a2) "bnez a2, 1b", ".."});
}

/* At most four empty halves, or half of all: max-nops-in-rpt, nop-threshold-in-rpt of
 * ColossusCountedLoopMIR. */
Test(object_joins, only_what_has_few_empty_halves_is_a_repeat)
{
#define LOADS_4 "lw a3, 0(a0); lw a4, 4(a0); lw a5, 8(a0); lw a6, 12(a0); "
#define MULS_4                                                                                     \
  "fmul.s fa0, fa1, fa2; fmul.s fa3, fa1, fa2; fmul.s fa4, fa1, fa2; fmul.s fa5, fa1, fa2; "
  EXPECT_JOINS(
      {"1: " LOADS_4 COUNT(a2) "bnez a2, 1b", "...j.."},
      {"1: " LOADS_4 "lw a7, 16(a0); " COUNT(a2) "bnez a2, 1b", "......."},
      {"1: " LOADS_4 LOADS_4 MULS_4 COUNT(a2) "bnez a2, 1b", ".......jjjjj.."},
      {"1: " LOADS_4 LOADS_4 "lw a7, 16(a0); " MULS_4 COUNT(a2) "bnez a2, 1b", ".........jjjj.."});
}

Test(object_joins, steps_and_moves_of_words_are_no_instructions)
{
  EXPECT_JOINS(
      {"flw fa1, 0(a0); addi a0, a0, 4; fadd.s fa2, fa0, fa0; fadd.s fa3, fa0, fa0", "..j."},
      {".insn r 0x77, 2, 3, fa1, fa0, f0; fadd.s fa2, fa0, fa0", ".."});
}

Test(object_joins, only_in_a_straight_line)
{
  EXPECT_JOINS({"flw fa1, 0(a0); 1: fadd.s fa0, fa0, fa0; beq a1, a2, 1b; ret", ".j.."},
               {"flw fa1, 0(a0); beq a1, a2, f; fadd.s fa0, fa0, fa0", "..."},
               {"flw fa1, 0(a0); rdcycle a2; fadd.s fa0, fa0, fa0", "..."},
               {"flw fa1, 0(a0); .word 0; fadd.s fa0, fa0, fa0", "..."});
}

/* Joined words round to nearest even. An operation with another rounding mode is not joined, nor is
 * one that may follow a change of mode. */
Test(object_joins, not_where_rounding_may_differ)
{
  EXPECT_JOINS({"lw a1, 0(a0); fadd.s fa0, fa0, fa1, rtz", ".."},
               {"lw a1, 0(a0); fadd.s fa0, fa0, fa1; fsrm a1", "..."},
               {"lw a1, 0(a0); fadd.s fa0, fa0, fa1; fscsr a1", "..."},
               {"lw a1, 0(a0); fadd.s fa0, fa0, fa1; csrsi frm, 1", "..."},
               {"lw a1, 0(a0); fadd.s fa0, fa0, fa1; frrm a1", ".j."},
               {"lw a1, 0(a0); fadd.s fa0, fa0, fa1; fsflags a1", ".j."},
               {"lw a1, 0(a0); fadd.s fa0, fa0, fa1; tail fesetround", "...."},
               {"lw a1, 0(a0); fadd.s fa0, fa0, fa1; tail frexpf", ".j.."});
}

/* A rounding mode that the author writes in a joined word is treated like any other. */
Test(object_joins, what_authors_wrote_so_shares_slots_only_where_others_do)
{
  size_t size;
  uint8_t *bytes = compiled_bytes(
      RV32_ASM, "f: fadd.s fa0, fa0, fa1, rne\nfadd.s fa0, fa0, fa1, rne\nret\n", &size);
  Elf32_Shdr *text = section_header(bytes, ".text");
  expect_ok(pop_object_join(bytes, size, "joins.o"));
  uint32_t words[2];
  memcpy(words, bytes + text->sh_offset, sizeof words);
  cr_expect_eq(isa_find(words[0])->cost, POP_COST_FLOAT);
  cr_expect_eq(isa_find(words[1])->cost, POP_COST_JOINED, "with the return");
  free(bytes);
}

/* More operations than are scheduled at once. Each one that can be joined is joined. */
Test(object_joins, of_long_lines)
{
  size_t size;
  uint8_t *bytes =
      compiled_bytes(RV32_ASM, "f: .rept 1000\nlw a1, 0(a0)\nfadd.s fa0, fa1, fa2\n.endr\n", &size);
  Elf32_Shdr *text = section_header(bytes, ".text");
  expect_ok(pop_object_join(bytes, size, "joins.o"));
  for (uint32_t at = 4; at < text->sh_size; at += 8) {
    uint32_t word;
    memcpy(&word, bytes + text->sh_offset + at, 4);
    cr_assert_eq(isa_find(word)->cost, POP_COST_JOINED, "at %u", at);
  }
  free(bytes);
}

Test(object_joins, what_is_no_object_is_an_error)
{
  uint8_t bytes[] = "no object";
  expect_error(pop_object_join(bytes, sizeof bytes, "none.o"), POP_ERROR_FILE_LOAD, "none.o",
               "text");
}
