/* Instruction words to fields and back, from the table of instructions.h. Everything is static,
 * because libarchive-ipu, which reads machine code too, is a library of its own. */
#ifndef ISA_ENCODING_H
#define ISA_ENCODING_H

#include "isa/instructions.h"
#include <populus/target.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct isa_row {
  uint32_t mask, match;
  isa_op op;
  isa_format format;
  uint8_t cost;         /* pop_cost_class */
  uint8_t access_bytes; /* of loads and stores; 0: it is neither */
} isa_row;

/* A designator with a plain name: clang-format takes a header with other ones for Objective-C. */
#define ISA_AT(at, ...) [at] = __VA_ARGS__

/* By isa_op. */
static const isa_row isa_rows[ISA_NUM_OPS] = {
#define ISA_ROW(id, mnemonic, mask, match, format, cost, what)                                     \
  ISA_AT(OP_##id, {mask, match, OP_##id, FORMAT_##format, POP_COST_##cost, 0}),
#define ISA_ACCESS_ROW(id, mnemonic, mask, match, format, cost, type)                              \
  ISA_AT(OP_##id, {mask, match, OP_##id, FORMAT_##format, POP_COST_##cost, sizeof(type)}),
    LOADS(ISA_ACCESS_ROW) FLOAT_LOADS(ISA_ACCESS_ROW) WIDE_LOADS(ISA_ACCESS_ROW)
        STORES(ISA_ACCESS_ROW) FLOAT_STORES(ISA_ACCESS_ROW) WIDE_STORES(ISA_ACCESS_ROW)
            VALUES(ISA_ROW) BRANCHES(ISA_ROW) TILE_INSTRUCTIONS(ISA_ROW) PACKED(ISA_ROW)
                WORD_MOVES(ISA_ROW) FUNCTIONS(ISA_ROW) PAIR_FUNCTIONS(ISA_ROW)
                    OTHER_INSTRUCTIONS(ISA_ROW)
#undef ISA_ROW
#undef ISA_ACCESS_ROW
};

/* Rows of words that have another cost class than others of their row: joined operations (isa.h),
 * and branches that compare two registers. */
static const isa_row isa_second_rows[ISA_NUM_OPS] = {
#define ISA_JOINED_ROW(id, mnemonic, mask, match, format, ...)                                     \
  ISA_AT(OP_##id, {mask, match, OP_##id, FORMAT_##format, POP_COST_JOINED, 0}),
#define ISA_COMPARE_ROW(id, mnemonic, mask, match, format, ...)                                    \
  ISA_AT(OP_##id, {mask, match, OP_##id, FORMAT_##format, POP_COST_COMPARE_BRANCH, 0}),
#define ISA_JOINED_ACCESS_ROW(id, mnemonic, mask, match, format, cost, type)                       \
  ISA_AT(OP_##id, {mask, match, OP_##id, FORMAT_##format, POP_COST_JOINED, sizeof(type)}),
    LOADS(ISA_JOINED_ACCESS_ROW) FLOAT_LOADS(ISA_JOINED_ACCESS_ROW)
        WIDE_LOADS(ISA_JOINED_ACCESS_ROW) STORES(ISA_JOINED_ACCESS_ROW)
            FLOAT_STORES(ISA_JOINED_ACCESS_ROW) WIDE_STORES(ISA_JOINED_ACCESS_ROW)
                PACKED(ISA_JOINED_ROW) OTHER_INSTRUCTIONS(ISA_JOINED_ROW) BRANCHES(ISA_COMPARE_ROW)
#undef ISA_JOINED_ROW
#undef ISA_COMPARE_ROW
#undef ISA_JOINED_ACCESS_ROW
};

/* A word of the random state? */
static inline bool isa_is_random(uint32_t csr)
{
  return csr >= CSR_RANDOM && csr < CSR_RANDOM + NUM_RANDOM_WORDS;
}

/* Cost classes of instructions that end a block of straight-line code. */
static inline bool isa_ends_block(uint8_t cost_class)
{
  return cost_class == POP_COST_BRANCH || cost_class == POP_COST_COMPARE_BRANCH ||
         cost_class == POP_COST_JUMP || cost_class == POP_COST_CSR || cost_class == POP_COST_TILE;
}

static inline bool isa_is_store(const isa_row *r)
{
  return r->access_bytes && r->format == FORMAT_S;
}

/* The alignment of an access: a wide one is two words. */
static inline uint32_t isa_access_align(uint32_t bytes)
{
  return bytes < 4 ? bytes : 4;
}

/* Functions of pairs are issued once for each word. */
static inline bool isa_is_pair_function(isa_op op)
{
  return op >= OP_F32V2EXP && op <= OP_F16V4SIGM;
}

/* The issue slots of an instruction; `cost`: of the target. */
static inline uint32_t isa_slots(const isa_row *r, const uint16_t *cost)
{
  return (uint32_t)cost[r->cost] << isa_is_pair_function(r->op);
}

/* `count` bits of a word from bit `low` on. */
static inline uint32_t isa_bits(uint32_t word, unsigned low, unsigned count)
{
  return word >> low & ((1u << count) - 1);
}

static inline uint32_t isa_major(uint32_t word)
{
  return isa_bits(word, 2, 5);
}

static inline bool isa_rounds(isa_format f)
{
  return f == FORMAT_R_RM || f == FORMAT_F_RM || f == FORMAT_R4;
}

static inline bool isa_writes_integer(isa_format f)
{
  return f == FORMAT_R || f == FORMAT_R_RM || f == FORMAT_I || f == FORMAT_SHIFT || f == FORMAT_U ||
         f == FORMAT_J || f == FORMAT_CSR;
}

static inline bool isa_writes_float(isa_format f)
{
  return f == FORMAT_F || f == FORMAT_F_RM || f == FORMAT_F_I || f == FORMAT_R4;
}

/* Reserved words: rounding modes 5 and 6, also of instructions that do not round; steps and counts
 * with rd = 0 or rd != rs1. */
static inline bool isa_is_reserved(uint32_t word, const isa_row *r)
{
  uint32_t mode = isa_bits(word, 12, 3), rd = isa_bits(word, 7, 5);
  if (r->cost == POP_COST_STEP) return rd == 0 || rd != isa_bits(word, 15, 5);
  return isa_rounds(r->format) && (mode == 5 || mode == 6);
}

/* Major opcodes, bits 2 to 6 of a word. */
enum {
  ISA_LOAD = 0x00,
  ISA_LOAD_FP = 0x01,
  ISA_STORE = 0x08,
  ISA_STORE_FP = 0x09,
  ISA_OP_FP = 0x14,
  ISA_OP_FP_JOINED = 0x15,
  ISA_OP_P = 0x1d
};

/* Does the float instruction have an integer register as an operand? */
static inline bool isa_reads_integer(const isa_row *r)
{
  return r->cost == POP_COST_FLOAT_OF_INT || r->op == OP_FMV_W_X || r->op == OP_FMV_H_X;
}

/* Copies of float registers, and halves to singles. They would share slots, too, but have no second
 * form that tools for RISC-V know. */
static inline bool isa_is_float_copy(isa_op op)
{
  return op == OP_FSGNJ_S || op == OP_FSGNJ_H || op == OP_FSGNJ_D || op == OP_FCVT_S_H;
}

/* Does the instruction have a joined form? It does if it computes floats of floats in a slot, or
 * loads or stores a word or two. */
static inline bool isa_may_join(const isa_row *r)
{
  bool computes = isa_major(r->match) == ISA_OP_FP ||
                  (isa_major(r->match) == ISA_OP_P && isa_bits(r->match, 12, 3) < 2);
  if (r->access_bytes) return r->access_bytes >= 4;
  return computes && r->cost == POP_COST_FLOAT && isa_writes_float(r->format) &&
         !isa_reads_integer(r) && !isa_is_float_copy(r->op);
}

/* Rounding modes of words that round: joined ones round to nearest even; others have frm's mode, as
 * compilers write them. */
enum { ISA_JOINED_MODE = 0, ISA_ALONE_MODE = 7 };

/* The bit of funct3 that only joined accesses of a word or two have. */
enum { ISA_JOINED_ACCESS = 0x4000 };

/* The joined form of `word`, whose row is `r`. The word itself if it has no such form, or has a
 * rounding mode of its own. */
static inline uint32_t isa_joined_word(uint32_t word, const isa_row *r)
{
  if (!isa_may_join(r)) return word;
  if (r->access_bytes) return word | ISA_JOINED_ACCESS;
  if (isa_rounds(r->format)) return isa_bits(word, 12, 3) == ISA_ALONE_MODE ? word ^ 0x7000 : word;
  return isa_major(word) == ISA_OP_FP ? word ^ (ISA_OP_FP ^ ISA_OP_FP_JOINED) << 2 : word | 0x6000;
}

/* The form of a joined word with a slot of its own, if frm is 0. `r`: its row. Other words stay as
 * they are. */
static inline uint32_t isa_alone_word(uint32_t word, const isa_row *r)
{
  if (r->cost != POP_COST_JOINED) return word;
  if (r->access_bytes) return word & ~(uint32_t)ISA_JOINED_ACCESS;
  if (isa_rounds(r->format)) return word ^ 0x7000;
  return isa_major(word) == ISA_OP_P ? word & ~0x6000u : word ^ (ISA_OP_FP ^ ISA_OP_FP_JOINED) << 2;
}

/* Is it a joined access? No other loads and stores of words and pairs of words have 6 or 7 in
 * funct3. */
static inline bool isa_is_joined_access(uint32_t word)
{
  uint32_t major = isa_major(word), funct3 = isa_bits(word, 12, 3);
  if (major == ISA_LOAD || major == ISA_STORE) return funct3 == 6;
  return (major == ISA_LOAD_FP || major == ISA_STORE_FP) && (funct3 == 6 || funct3 == 7);
}

/* The word beside a joined word without a rounding mode: its form with a slot of its own. 0: it is
 * no such word. */
static inline uint32_t isa_word_beside(uint32_t word)
{
  if (isa_is_joined_access(word)) return word & ~(uint32_t)ISA_JOINED_ACCESS;
  if (isa_major(word) == ISA_OP_FP_JOINED) return word ^ (ISA_OP_FP ^ ISA_OP_FP_JOINED) << 2;
  return isa_major(word) == ISA_OP_P && isa_bits(word, 13, 2) == 3 ? word & ~0x6000u : 0;
}

/* The row of a word. It does not tell joined words with a rounding mode from others. */
static inline const isa_row *isa_find_row(uint32_t word)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init" /* the last row of each major opcode counts */
  static const uint8_t last[32] = {
#define ISA_LAST(id, mnemonic, mask, match, ...) ISA_AT((match) >> 2 & 31, OP_##id),
      INSTRUCTIONS(ISA_LAST)
#undef ISA_LAST
  };
#pragma GCC diagnostic pop
  if ((word & 3) != 3) return NULL; /* two-byte instructions: none here */
  uint32_t major = isa_major(word);
  const isa_row *r = &isa_rows[last[major]];
  for (; isa_major(r->match) == major; r--) {
    if ((word & r->mask) == r->match) return isa_is_reserved(word, r) ? NULL : r;
    if (r == isa_rows) break;
  }
  return NULL;
}

/* Does a branch compare two registers? The chip needs an instruction more for that. It has branches
 * on a register that is zero or not, negative or not. It also counts loops, whatever the source
 * counts up to: here that is bne, backwards. */
static inline bool isa_compares(uint32_t word, isa_op op)
{
  uint32_t rs1 = isa_bits(word, 15, 5), rs2 = isa_bits(word, 20, 5);
  if (op == OP_BEQ || op == OP_BNE) return rs1 && rs2 && (op == OP_BEQ || !isa_bits(word, 31, 1));
  return op == OP_BLTU || op == OP_BGEU ? rs1 != 0 : rs2 != 0;
}

/* Does `word`, of row `r`, have the row's second cost class? */
static inline bool isa_is_second(uint32_t word, const isa_row *r)
{
  if (r->format == FORMAT_B) return isa_compares(word, r->op);
  return isa_rounds(r->format) && isa_bits(word, 12, 3) == ISA_JOINED_MODE && isa_may_join(r);
}

/* The row of `word`, with its cost class; NULL if it is no instruction. */
static inline const isa_row *isa_find(uint32_t word)
{
  uint32_t beside = isa_word_beside(word);
  const isa_row *r = isa_find_row(beside ? beside : word);
  if (!r) return NULL;
  if (beside) return isa_may_join(r) && !isa_rounds(r->format) ? &isa_second_rows[r->op] : NULL;
  return isa_is_second(word, r) ? &isa_second_rows[r->op] : r;
}

/* `value` with bit `top`, its highest one, as its sign. */
static inline int32_t isa_sign_extend(uint32_t value, unsigned top)
{
  uint32_t sign = 1u << top;
  return (int32_t)((value ^ sign) - sign);
}

/* The `imm` of a word in that format (instructions.h); 0 if it has none. */
static inline int32_t isa_immediate(uint32_t word, isa_format f)
{
  switch (f) {
  case FORMAT_I:
  case FORMAT_F_I:
    return isa_sign_extend(isa_bits(word, 20, 12), 11);
  case FORMAT_SHIFT:
    return (int32_t)isa_bits(word, 20, 5);
  case FORMAT_CSR:
    return (int32_t)isa_bits(word, 20, 12);
  case FORMAT_S:
    return isa_sign_extend(isa_bits(word, 25, 7) << 5 | isa_bits(word, 7, 5), 11);
  case FORMAT_B:
    return isa_sign_extend(isa_bits(word, 31, 1) << 12 | isa_bits(word, 7, 1) << 11 |
                               isa_bits(word, 25, 6) << 5 | isa_bits(word, 8, 4) << 1,
                           12);
  case FORMAT_U:
    return (int32_t)(word & 0xfffff000);
  case FORMAT_J:
    return isa_sign_extend(isa_bits(word, 31, 1) << 20 | isa_bits(word, 12, 8) << 12 |
                               isa_bits(word, 20, 1) << 11 | isa_bits(word, 21, 10) << 1,
                           20);
  case FORMAT_R4:
    return (int32_t)(isa_bits(word, 12, 3) | isa_bits(word, 27, 5) << 8);
  case FORMAT_R_RM:
  case FORMAT_F_RM:
    return (int32_t)isa_bits(word, 12, 3);
  default:
    return 0;
  }
}

/* The bits of a word in that format for `imm`. What does not fit is cut off. */
static inline uint32_t isa_immediate_bits(int32_t imm, isa_format f)
{
  uint32_t bits = (uint32_t)imm;
  switch (f) {
  case FORMAT_I:
  case FORMAT_F_I:
  case FORMAT_CSR:
    return bits << 20;
  case FORMAT_SHIFT:
    return (bits & 31) << 20;
  case FORMAT_S:
    return isa_bits(bits, 5, 7) << 25 | (bits & 31) << 7;
  case FORMAT_B:
    return isa_bits(bits, 12, 1) << 31 | isa_bits(bits, 5, 6) << 25 | isa_bits(bits, 1, 4) << 8 |
           isa_bits(bits, 11, 1) << 7;
  case FORMAT_U:
    return bits & 0xfffff000;
  case FORMAT_J:
    return isa_bits(bits, 20, 1) << 31 | isa_bits(bits, 1, 10) << 21 | isa_bits(bits, 11, 1) << 20 |
           isa_bits(bits, 12, 8) << 12;
  case FORMAT_R4:
    return (bits & 7) << 12 | isa_bits(bits, 8, 5) << 27;
  case FORMAT_R_RM:
  case FORMAT_F_RM:
    return (bits & 7) << 12;
  default:
    return 0;
  }
}

/* Builds a word. Registers are 0 to 31. Registers and an `imm` that the instruction does not have
 * are 0. */
static inline uint32_t isa_word(isa_op op, uint32_t rd, uint32_t rs1, uint32_t rs2, int32_t imm)
{
  const isa_row *r = &isa_rows[op];
  return r->match | rs2 << 20 | rs1 << 15 | rd << 7 | isa_immediate_bits(imm, r->format);
}

#endif
