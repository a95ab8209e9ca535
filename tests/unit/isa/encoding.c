/* runtime/isa: the table of instructions, and the way between words and fields. */
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
    for (int n = 0; n < 20; n++) cr_expect(isa_find(random_word(&isa_rows[i])) == &isa_rows[i]);
  cr_expect(!isa_find(0));
  cr_expect(!isa_find(0x0000400b)); /* custom-0: exchange code */
  cr_expect(!isa_find(0x00d5d553)); /* fadd.s fa0, fa1, fa3 in rounding mode 5 */
  cr_expect(!isa_find(0x0045851b)); /* a step from a1 to a0 */
  cr_expect(!isa_find(0x0040001b)); /* a step of zero */
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

/* By hand, from the manual: what a reader and a writer of one author could both have wrong. */
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
