/* Instruction words as text. The format says which operands an instruction has, and the mask which
 * of them are fixed. Whether a source is a float register depends on the instruction. */
#include "isa/disassemble.h"

#include "isa/encoding.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const mnemonics[ISA_NUM_OPS] = {
#define MNEMONIC(id, mnemonic, ...) ISA_AT(OP_##id, mnemonic),
    INSTRUCTIONS(MNEMONIC)
#undef MNEMONIC
};

static const char *const integers[32] = {"zero", "ra", "sp",  "gp",  "tp", "t0", "t1", "t2",
                                         "s0",   "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
                                         "a6",   "a7", "s2",  "s3",  "s4", "s5", "s6", "s7",
                                         "s8",   "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
static const char *const floats[32] = {"ft0", "ft1", "ft2",  "ft3",  "ft4", "ft5", "ft6",  "ft7",
                                       "fs0", "fs1", "fa0",  "fa1",  "fa2", "fa3", "fa4",  "fa5",
                                       "fa6", "fa7", "fs2",  "fs3",  "fs4", "fs5", "fs6",  "fs7",
                                       "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};
static const char *const roundings[8] = {"rne", "rtz", "rdn", "rup", "rmm", "", "", NULL /* dyn */};

enum { ZERO = 0, RA = 1 };

typedef struct words {
  const isa_row *row;
  uint32_t word, pc, rd, rs1, rs2;
  int32_t imm;
  char *text; /* end of the text so far */
  char *end;
  unsigned num_operands;
} words;

__attribute__((format(printf, 2, 3))) static void put(words *w, const char *format, ...)
{
  va_list arguments;
  if (w->num_operands++) w->text = stpcpy(w->text, ", ");
  va_start(arguments, format);
  int length = vsnprintf(w->text, (size_t)(w->end - w->text), format, arguments);
  va_end(arguments);
  w->text += length;
}

/* Does the instruction fix the field? Then it is no operand. */
static bool is_fixed(const words *w, unsigned low)
{
  return isa_bits(w->row->mask, low, 5) == 31;
}

static bool is_tile(const words *w)
{
  return w->row->cost == POP_COST_TILE;
}

static bool converts_integer(isa_op op)
{
  return op == OP_FCVT_S_W || op == OP_FCVT_S_WU || op == OP_FCVT_H_W || op == OP_FCVT_H_WU ||
         op == OP_FMV_W_X || op == OP_FMV_H_X;
}

/* Sources of op-fp, madd and so on (major opcodes 0x10 to 0x14) and of op-p (0x1d) are float
 * registers. */
static const char *source(const words *w, uint32_t number)
{
  uint32_t major = isa_major(w->row->match);
  bool is_float =
      major == 0x1d || (major >= 0x10 && major <= 0x14 && !converts_integer(w->row->op));
  return is_float ? floats[number] : integers[number];
}

static const char *destination(const words *w)
{
  return isa_writes_float(w->row->format) ? floats[w->rd] : integers[w->rd];
}

static void put_registers(words *w)
{
  if (!is_fixed(w, 7)) { /* in tile.run, sync, sans, … the field is a number */
    if (is_tile(w) && w->row->format == FORMAT_F)
      put(w, "%u", w->rd);
    else
      put(w, "%s", destination(w));
  }
  if (w->row->op == OP_TILE_SANS) {
    put(w, "%u", w->rs2 << 5 | w->rs1);
    return;
  }
  if (!is_fixed(w, 15)) put(w, "%s", source(w, w->rs1));
  if (!is_fixed(w, 20)) put(w, "%s", source(w, w->rs2));
  if (w->row->format == FORMAT_R4) put(w, "%s", floats[w->word >> 27]);
  const char *rounding = roundings[isa_bits(w->word, 12, 3)];
  bool exact = w->row->op == OP_FCVT_S_H || w->row->op == OP_FCVT_S_W || w->row->op == OP_FCVT_S_WU;
  bool joined = w->row->cost == POP_COST_JOINED; /* the mnemonic says it */
  if (isa_rounds(w->row->format) && rounding && !joined &&
      !(exact && *rounding == 'r' && rounding[1] == 'n'))
    put(w, "%s", rounding);
}

static void put_csr(words *w)
{
  static const struct {
    uint32_t number;
    const char *name;
  } known[] = {{CSR_FFLAGS, "fflags"},    {CSR_FRM, "frm"},         {CSR_FCSR, "fcsr"},
               {CSR_CYCLE, "cycle"},      {CSR_INSTRET, "instret"}, {CSR_CYCLEH, "cycleh"},
               {CSR_INSTRETH, "instreth"}};
  const char *name = NULL;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].number == (uint32_t)w->imm) name = known[i].name;
  put(w, "%s", integers[w->rd]);
  if (name)
    put(w, "%s", name);
  else
    put(w, "0x%x", (unsigned)w->imm);
  if (isa_bits(w->word, 14, 1))
    put(w, "%u", w->rs1);
  else
    put(w, "%s", integers[w->rs1]);
}

static void put_operands(words *w)
{
  switch (w->row->format) {
  case FORMAT_NONE:
    break;
  case FORMAT_I:
  case FORMAT_F_I:
    put(w, "%s", destination(w));
    if (w->row->access_bytes || w->row->op == OP_JALR)
      put(w, "%d(%s)", w->imm, integers[w->rs1]);
    else {
      put(w, "%s", integers[w->rs1]);
      put(w, "%d", w->imm);
    }
    break;
  case FORMAT_SHIFT:
    put(w, "%s", destination(w));
    put(w, "%s", integers[w->rs1]);
    put(w, "%d", w->imm);
    break;
  case FORMAT_S:
    put(w, "%s", isa_major(w->row->match) == 0x09 ? floats[w->rs2] : integers[w->rs2]);
    put(w, "%d(%s)", w->imm, integers[w->rs1]);
    break;
  case FORMAT_B:
    put(w, "%s", integers[w->rs1]);
    put(w, "%s", integers[w->rs2]);
    put(w, "0x%x", w->pc + (uint32_t)w->imm);
    break;
  case FORMAT_U:
    put(w, "%s", integers[w->rd]);
    put(w, "0x%x", (uint32_t)w->imm >> 12);
    break;
  case FORMAT_J:
    put(w, "%s", integers[w->rd]);
    put(w, "0x%x", w->pc + (uint32_t)w->imm);
    break;
  case FORMAT_CSR:
    put_csr(w);
    break;
  default:
    put_registers(w);
  }
}

/* False if the word has no short form. */
static bool put_short(words *w, char *text)
{
  const char *rd = integers[w->rd], *rs1 = integers[w->rs1];
  uint32_t target = w->pc + (uint32_t)w->imm;
  switch (w->row->op) {
  case OP_ADDI:
    if (w->rd == ZERO && w->rs1 == ZERO && w->imm == 0)
      strcpy(text, "nop");
    else if (w->rs1 == ZERO)
      snprintf(text, ISA_TEXT_BYTES, "li %s, %d", rd, w->imm);
    else if (w->imm == 0)
      snprintf(text, ISA_TEXT_BYTES, "mv %s, %s", rd, rs1);
    else
      return false;
    return true;
  case OP_JAL:
    if (w->rd != ZERO) return false;
    snprintf(text, ISA_TEXT_BYTES, "j 0x%x", target);
    return true;
  case OP_JALR:
    if (w->rd != ZERO || w->imm != 0) return false;
    if (w->rs1 == RA)
      strcpy(text, "ret");
    else
      snprintf(text, ISA_TEXT_BYTES, "jr %s", rs1);
    return true;
  case OP_BEQ:
  case OP_BNE:
    if (w->rs2 != ZERO) return false;
    snprintf(text, ISA_TEXT_BYTES, "%s %s, 0x%x", w->row->op == OP_BEQ ? "beqz" : "bnez", rs1,
             target);
    return true;
  default:
    return false;
  }
}

void isa_disassemble(uint32_t word, uint32_t pc, char text[ISA_TEXT_BYTES])
{
  const isa_row *row = isa_find(word);
  if (!row) {
    snprintf(text, ISA_TEXT_BYTES, ".word 0x%08x", word);
    return;
  }
  words w = {.row = row,
             .word = word,
             .pc = pc,
             .rd = isa_bits(word, 7, 5),
             .rs1 = isa_bits(word, 15, 5),
             .rs2 = isa_bits(word, 20, 5),
             .imm = isa_immediate(word, row->format),
             .end = text + ISA_TEXT_BYTES};
  if (put_short(&w, text)) return;
  w.text = stpcpy(stpcpy(text, row->cost == POP_COST_JOINED ? "joined." : ""), mnemonics[row->op]);
  char *name_end = w.text;
  *w.text++ = ' ';
  *w.text = '\0';
  put_operands(&w);
  if (!w.num_operands) *name_end = '\0';
}
