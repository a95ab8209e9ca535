/* runtime/isa: the disassembler. tests/e2e/code_listing.sh compares its text for real code with
 * llvm-objdump. */
#include <criterion/criterion.h>

#include <isa/disassemble.h>
#include <isa/encoding.h>
#include <string.h>

static void expect(uint32_t word, uint32_t pc, const char *wanted)
{
  char text[ISA_TEXT_BYTES];
  isa_disassemble(word, pc, text);
  cr_expect_str_eq(text, wanted, "%08x is '%s', not '%s'", word, text, wanted);
}

static void expect_op(isa_op op, uint32_t rd, uint32_t rs1, uint32_t rs2, int32_t imm,
                      const char *wanted)
{
  expect(isa_word(op, rd, rs1, rs2, imm), 0x4c000, wanted);
}

Test(disassemble, each_format_has_its_operands)
{
  expect_op(OP_ADD, 10, 11, 12, 0, "add a0, a1, a2");
  expect_op(OP_CLZ, 10, 11, 0, 0, "clz a0, a1");
  expect_op(OP_ADDI, 2, 2, 0, -16, "addi sp, sp, -16");
  expect_op(OP_SRAI, 5, 6, 0, 31, "srai t0, t1, 31");
  expect_op(OP_LW, 10, 8, 0, 4, "lw a0, 4(s0)");
  expect_op(OP_FLW, 15, 10, 0, -4, "flw fa5, -4(a0)");
  expect_op(OP_SW, 0, 2, 1, 12, "sw ra, 12(sp)");
  expect_op(OP_FSW, 0, 10, 15, 8, "fsw fa5, 8(a0)");
  expect_op(OP_BLT, 0, 10, 11, -8, "blt a0, a1, 0x4bff8");
  expect_op(OP_LUI, 10, 0, 0, 0x4c000, "lui a0, 0x4c");
  expect_op(OP_AUIPC, 10, 0, 0, (int32_t)0x80000000, "auipc a0, 0x80000");
  expect_op(OP_JAL, 1, 0, 0, 2048, "jal ra, 0x4c800");
  expect_op(OP_JALR, 1, 5, 0, 16, "jalr ra, 16(t0)");
  expect_op(OP_FENCE, 0, 0, 0, 0, "fence");
}

Test(disassemble, floats_have_their_registers_and_rounding)
{
  enum { TOWARDS_ZERO = 1, DYNAMIC = 7 };
  expect_op(OP_FADD_S, 10, 11, 12, DYNAMIC, "fadd.s fa0, fa1, fa2");
  expect_op(OP_FMADD_S, 0, 1, 2, DYNAMIC | 31 << 8, "fmadd.s ft0, ft1, ft2, ft11");
  expect_op(OP_FCVT_W_S, 10, 15, 0, TOWARDS_ZERO, "fcvt.w.s a0, fa5, rtz");
  expect_op(OP_FCVT_S_W, 15, 10, 0, DYNAMIC, "fcvt.s.w fa5, a0");
  expect_op(OP_FMV_W_X, 15, 0, 0, 0, "fmv.w.x fa5, zero");
  expect_op(OP_FMV_X_H, 10, 15, 0, 0, "fmv.x.h a0, fa5");
  expect_op(OP_FEQ_S, 10, 11, 12, 0, "feq.s a0, fa1, fa2");
}

Test(disassemble, packed_instructions_and_functions_have_float_registers)
{
  expect_op(OP_F32V2_ADD, 10, 11, 12, 0, "f32v2add fa0, fa1, fa2");
  expect_op(OP_TILE_HIGH, 0, 1, 0, 0, "tile.high ft0, ft1");
  expect_op(OP_TILE_LOW, 10, 31, 0, 0, "tile.low fa0, ft11");
  expect_op(OP_STEP, 10, 10, 0, -4, "tile.step a0, a0, -4");
  expect_op(OP_COUNT, 10, 10, 0, -1, "tile.count a0, a0, -1");
  expect_op(OP_FLD, 15, 10, 0, 8, "fld fa5, 8(a0)");
  expect_op(OP_FSD, 0, 10, 15, 8, "fsd fa5, 8(a0)");
  expect_op(OP_F32EXP, 10, 11, 0, 0, "f32exp fa0, fa1");
  expect_op(OP_F16V4SIGM, 31, 8, 0, 0, "f16v4sigm ft11, fs0");
}

Test(disassemble, joined_operations_say_so)
{
  expect(0x00c58553, 0, "joined.fadd.s fa0, fa1, fa2");
  expect(0x28c59557, 0, "joined.fmax.s fa0, fa1, fa2");
  expect(0x00c5e577, 0, "joined.f32v2add fa0, fa1, fa2");
  expect(0x44058553, 0, "joined.fcvt.h.s fa0, fa1");
  expect(0x0085f507, 0, "joined.fld fa0, 8(a1)");
  expect(0x00a5e427, 0, "joined.fsw fa0, 8(a1)");
  expect(0x0085e503, 0, "joined.lw a0, 8(a1)");
  expect(0x40258553, 0, "fcvt.s.h fa0, fa1");
  expect(0x44059553, 0, "fcvt.h.s fa0, fa1, rtz");
}

Test(disassemble, control_registers_have_names_or_numbers)
{
  expect_op(OP_CSRRS, 10, 0, 0, CSR_CYCLE, "csrrs a0, cycle, zero");
  expect_op(OP_CSRRW, 0, 10, 0, CSR_FLOAT_CONTROL, "csrrw zero, 0x800, a0");
  expect_op(OP_CSRRWI, 0, 3, 0, CSR_FRM, "csrrwi zero, frm, 3");
}

Test(disassemble, tile_instructions_have_numbers_where_fields_are_none_of_registers)
{
  expect_op(OP_TILE_SYNC, 1, 0, 0, 0, "tile.sync 1");
  expect_op(OP_TILE_RUN, 5, 10, 11, 0, "tile.run 5, a0, a1");
  expect_op(OP_TILE_SANS, 0, 3, 1, 0, "tile.sans 0, 35");
  expect_op(OP_TILE_CALL, 0, 5, 6, 0, "tile.call t0, t1");
  expect_op(OP_TILE_CONTEXT, 9, 0, 0, 0, "tile.context s1");
  expect_op(OP_TILE_COPY, 10, 10, 0, 0, "tile.copy a0, a0");
  expect_op(OP_TILE_EXIT, 0, 0, 0, 0, "tile.exit");
}

Test(disassemble, short_forms)
{
  expect_op(OP_ADDI, 0, 0, 0, 0, "nop");
  expect_op(OP_ADDI, 10, 0, 0, -1, "li a0, -1");
  expect_op(OP_ADDI, 10, 11, 0, 0, "mv a0, a1");
  expect_op(OP_JAL, 0, 0, 0, -4, "j 0x4bffc");
  expect_op(OP_JALR, 0, 1, 0, 0, "ret");
  expect_op(OP_JALR, 0, 5, 0, 0, "jr t0");
  expect_op(OP_BEQ, 0, 10, 0, 16, "beqz a0, 0x4c010");
  expect_op(OP_BNE, 0, 10, 0, 16, "bnez a0, 0x4c010");
}

Test(disassemble, what_is_no_instruction_is_a_word)
{
  expect(0, 0, ".word 0x00000000");
  expect(0x0000400b, 0, ".word 0x0000400b"); /* exchange code */
  expect(0x00d5d553, 0, ".word 0x00d5d553"); /* reserved rounding mode */
}

Test(disassemble, no_word_is_longer_than_its_room)
{
  uint32_t word = 1;
  for (uint32_t i = 0; i < ISA_NUM_OPS * 200; i++) {
    const isa_row *r = &isa_rows[i % ISA_NUM_OPS];
    word = word * 1664525 + 1013904223;
    char text[ISA_TEXT_BYTES + 1];
    memset(text, 'x', sizeof text);
    isa_disassemble((word & ~r->mask) | r->match, word, text);
    cr_assert_lt(strlen(text), ISA_TEXT_BYTES - 16, "%s", text);
  }
}
