/* runtime/isa: the table of instructions, and the conversion between words and fields. */
#include <criterion/criterion.h>

#include <isa/encoding.h>
#include <isa/integer.h>

static uint32_t next_random(void)
{
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 32);
}

Test(isa, no_word_is_two_instructions)
{
  for (uint32_t i = 0; i < ISA_NUM_OPS; i++)
    for (uint32_t j = 0; j < i; j++) {
      const isa_row *a = &isa_rows[i], *b = &isa_rows[j];
      cr_assert((a->match ^ b->match) & a->mask & b->mask, "rows %u and %u", j, i);
    }
}

static uint32_t random_word(const isa_row *r)
{
  uint32_t word = (next_random() & ~r->mask) | r->match;
  while (isa_is_reserved(word, r)) word ^= next_random() & ~r->mask;
  return word;
}

Test(isa, each_instruction_is_found_by_its_words)
{
  for (uint32_t i = 0; i < ISA_NUM_OPS; i++)
    for (int n = 0; n < 20; n++) {
      const isa_row *r = isa_find(random_word(&isa_rows[i]));
      cr_expect(r == &isa_rows[i] || r == &isa_second_rows[i]);
    }
  cr_expect(!isa_find(0));
  cr_expect(!isa_find(0x0000400b)); /* custom-0: exchange code */
  cr_expect(!isa_find(0x00d5d553)); /* fadd.s fa0, fa1, fa3 in rounding mode 5 */
  cr_expect(!isa_find(0x0045851b)); /* a step from a1 to a0 */
  cr_expect(!isa_find(0x0040001b)); /* a step of zero */
  cr_expect(!isa_find(0xfff5a51b)); /* a count from a1 to a0 */
  cr_expect(!isa_find(0x0005f503)); /* loads and stores of no width */
  cr_expect(!isa_find(0x00a5f023));
  cr_expect(!isa_find(0x00a5d027));
}

/* Each word that may join has one joined form. All other words of these opcodes are invalid. */
Test(isa, joined_words_are_found_as_what_they_are_alone)
{
  for (uint32_t i = 0; i < ISA_NUM_OPS; i++) {
    const isa_row *r = &isa_rows[i];
    for (int n = 0; n < 20 && isa_may_join(r); n++) {
      uint32_t word = random_word(r);
      if (isa_rounds(r->format)) word = word | ISA_ALONE_MODE << 12;
      cr_assert(!r->access_bytes || r->access_bytes >= 4, "row %u", i);
      uint32_t joined = isa_joined_word(word, r);
      cr_assert(joined != word && isa_find(word) == r, "row %u", i);
      const isa_row *found = isa_find(joined);
      cr_assert(found && found->op == r->op && found->format == r->format, "row %u", i);
      cr_assert_eq(found->cost, POP_COST_JOINED);
      cr_assert_eq(isa_alone_word(joined, found), word, "row %u", i);
      cr_assert_eq(isa_alone_word(word, r), word, "row %u", i);
    }
  }
}

static uint32_t joined_word(uint32_t word)
{
  return isa_joined_word(word, isa_find(word));
}

Test(isa, joined_words_are_riscvs_own_where_it_has_a_rounding_mode_for_them)
{
  cr_expect(joined_word(0x00c5f553) == 0x00c58553); /* fadd.s fa0, fa1, fa2 */
  cr_expect(joined_word(0x4405f553) == 0x44058553); /* fcvt.h.s fa0, fa1 */
  cr_expect(joined_word(0x40258553) == 0x40258553); /* fcvt.s.h and fmv.s have no joined form */
  cr_expect(joined_word(0x20b58553) == 0x20b58553);
  cr_expect(joined_word(0x28c58553) == 0x28c58557); /* fmin.s fa0, fa1, fa2 */
  cr_expect(joined_word(0x00c59577) == 0x00c5f577); /* f16v4add fa0, fa1, fa2 */
  cr_expect(joined_word(0x00c59553) == 0x00c59553); /* fadd.s, rounding toward zero: unchanged */
  cr_expect(joined_word(0x18c5f553) == 0x18c5f553); /* fdiv.s has no joined form */
  cr_expect(joined_word(0x0085b507) == 0x0085f507); /* fld fa0, 8(a1) */
  cr_expect(joined_word(0x00a5a423) == 0x00a5e423); /* sw a0, 8(a1) */
  cr_expect(joined_word(0x00859507) == 0x00859507); /* flh and lhu have no joined form */
  cr_expect(joined_word(0x0085d503) == 0x0085d503);
  cr_expect(isa_find(0x18c58553)->cost == POP_COST_FLOAT_DIV);    /* to nearest even */
  cr_expect(isa_find(0xc0058553)->cost == POP_COST_INT_OF_FLOAT); /* fcvt.w.s, to nearest even */
  cr_expect(!isa_find(0x00c5f557));                               /* fadd.s joins by its mode */
  cr_expect(!isa_find(0x18c5f557));                               /* of fdiv.s */
  cr_expect(!isa_find(0xa0c5a557));                               /* of feq.s */
  cr_expect(!isa_find(0xd0057557));                               /* of fcvt.s.w */
  cr_expect(!isa_find(0x0fc5e577));                               /* op-p has no such operation */
}

static void expect_branch(isa_op op, uint32_t rs1, uint32_t rs2, int32_t imm, bool compares)
{
  const isa_row *r = isa_find(isa_word(op, 0, rs1, rs2, imm));
  cr_assert(r && r->op == op && r->format == FORMAT_B);
  cr_expect_eq(r->cost, compares ? POP_COST_COMPARE_BRANCH : POP_COST_BRANCH,
               "op %u, %u, %u, to %d", op, rs1, rs2, imm);
}

/* The chip's brz, brnz, brneg, brpos and brnzdec. */
Test(isa, branches_of_two_registers_compare_but_those_that_the_chip_has)
{
  for (int32_t imm = -8; imm <= 8; imm += 16) {
    expect_branch(OP_BEQ, 5, 0, imm, false);
    expect_branch(OP_BEQ, 0, 5, imm, false);
    expect_branch(OP_BNE, 0, 5, imm, false);
    expect_branch(OP_BLT, 5, 0, imm, false); /* < 0 */
    expect_branch(OP_BGE, 5, 0, imm, false);
    expect_branch(OP_BLTU, 0, 5, imm, false); /* not 0 */
    expect_branch(OP_BGEU, 0, 5, imm, false);
    expect_branch(OP_BLT, 0, 5, imm, true); /* > 0 */
    expect_branch(OP_BGE, 0, 5, imm, true);
    expect_branch(OP_BLTU, 5, 6, imm, true);
    expect_branch(OP_BGEU, 5, 6, imm, true);
    expect_branch(OP_BLT, 5, 6, imm, true);
    expect_branch(OP_BEQ, 5, 6, imm, true);
    expect_branch(OP_BNE, 5, 6, imm, imm > 0); /* backwards: a loop counter */
  }
}

static bool has_rs1(isa_format f)
{
  return f != FORMAT_U && f != FORMAT_J;
}

static bool has_rs2(isa_format f)
{
  return f != FORMAT_I && f != FORMAT_F_I && f != FORMAT_SHIFT && f != FORMAT_CSR && has_rs1(f);
}

Test(isa, fields_make_the_word_that_they_are_of)
{
  for (uint32_t i = 0; i < ISA_NUM_OPS; i++) {
    const isa_row *r = &isa_rows[i];
    isa_format f = r->format;
    if (f == FORMAT_NONE) continue;
    for (int n = 0; n < 100; n++) {
      uint32_t word = random_word(r);
      uint32_t rd = isa_writes_integer(f) || isa_writes_float(f) ? isa_bits(word, 7, 5) : 0;
      uint32_t rs1 = has_rs1(f) ? isa_bits(word, 15, 5) : 0;
      uint32_t rs2 = has_rs2(f) ? isa_bits(word, 20, 5) : 0;
      uint32_t made = isa_word((isa_op)i, rd, rs1, rs2, isa_immediate(word, f));
      cr_assert(made == word, "row %u: %08x for %08x", i, made, word);
    }
  }
}

/* Encoded by hand from the manual: a reader and a writer by one author could share a mistake. */
Test(isa, words_are_those_of_the_manual)
{
  cr_expect(isa_word(OP_ADDI, 10, 2, 0, -1) == 0xfff10513); /* addi a0, sp, -1 */
  cr_expect(isa_word(OP_SW, 0, 2, 1, 12) == 0x00112623);    /* sw ra, 12(sp) */
  cr_expect(isa_word(OP_BNE, 0, 10, 11, -8) == 0xfeb51ce3); /* bne a0, a1, .-8 */
  cr_expect(isa_word(OP_JAL, 1, 0, 0, 2048) == 0x001000ef); /* jal ra, .+2048 */
  cr_expect(isa_word(OP_LUI, 15, 0, 0, 0x12345000) == 0x123457b7);
  cr_expect(isa_word(OP_SRAI, 10, 10, 0, 31) == 0x41f55513);
  cr_expect(isa_word(OP_FMADD_S, 10, 11, 12, 7 | 13 << 8) == 0x68c5f543); /* rm dyn */
  cr_expect(isa_word(OP_CSRRS, 10, 0, 0, CSR_CYCLE) == 0xc0002573);       /* rdcycle a0 */
  cr_expect(isa_word(OP_TILE_RUN, 2, 5, 6, 0) == 0x0462812b);             /* tile.run 2, t0, t1 */
  cr_expect(isa_word(OP_TILE_RUN_ALL, 6, 5, 6, 0) == 0x1c62832b); /* tile.runall 6, t0, t1 */
}

Test(isa, loads_extend_as_their_names_say)
{
  cr_expect(isa_extend(OP_LB, 0x80) == 0xffffff80);
  cr_expect(isa_extend(OP_LBU, 0x80) == 0x80);
  cr_expect(isa_extend(OP_LH, 0x8000) == 0xffff8000);
  cr_expect(isa_extend(OP_LHU, 0x8000) == 0x8000);
  cr_expect(isa_extend(OP_LW, 0x80000000) == 0x80000000);
}
