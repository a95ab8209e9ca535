/* Words of control code: the RV32 instructions that the emitter uses, and a buffer for them.
 *
 * Formats and opcodes: The RISC-V Instruction Set Manual, volume I, chapters "RV32I", "M" and the
 * Zba extension. Tile instructions are in isa/isa.h.
 */
#ifndef COMPILER_EMIT_ASSEMBLER_H
#define COMPILER_EMIT_ASSEMBLER_H

#include "compiler/compilation.h"
#include "isa/isa.h"

/* Registers by their ABI names. S1 and S2 … S11 are two runs of numbers. */
enum {
  ZERO = 0,
  RA = 1,
  SP = 2,
  TP = 4,
  T0 = 5,
  T1 = 6,
  T2 = 7,
  S0 = 8,
  S1 = 9,
  A0 = 10,
  A1 = 11,
  A2 = 12,
  A3 = 13,
  S2 = 18,
  S3 = 19
};

static inline uint32_t rv_i(uint32_t opcode, uint32_t funct3, uint32_t rd, uint32_t rs1,
                            int32_t imm)
{
  return (uint32_t)imm << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}

static inline uint32_t rv_r(uint32_t funct7, uint32_t funct3, uint32_t rd, uint32_t rs1,
                            uint32_t rs2)
{
  return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x33;
}

static inline uint32_t rv_lui(uint32_t rd, uint32_t upper)
{
  return (upper & 0xfffff000) | rd << 7 | 0x37;
}
static inline uint32_t rv_auipc(uint32_t rd)
{
  return rd << 7 | 0x17;
}
static inline uint32_t rv_addi(uint32_t rd, uint32_t rs1, int32_t imm)
{
  return rv_i(0x13, 0, rd, rs1, imm);
}
static inline uint32_t rv_andi(uint32_t rd, uint32_t rs1, int32_t imm)
{
  return rv_i(0x13, 7, rd, rs1, imm);
}
static inline uint32_t rv_slli(uint32_t rd, uint32_t rs1, int32_t by)
{
  return rv_i(0x13, 1, rd, rs1, by);
}
static inline uint32_t rv_lw(uint32_t rd, uint32_t rs1, int32_t imm)
{
  return rv_i(0x03, 2, rd, rs1, imm);
}
/* How a load widens: RISC-V's funct3. */
typedef enum rv_width { LOAD_B = 0, LOAD_H = 1, LOAD_W = 2, LOAD_BU = 4, LOAD_HU = 5 } rv_width;
static inline uint32_t rv_load(rv_width width, uint32_t rd, uint32_t rs1, int32_t imm)
{
  return rv_i(0x03, width, rd, rs1, imm);
}
static inline uint32_t rv_jalr(uint32_t rd, uint32_t rs1, int32_t imm)
{
  return rv_i(0x67, 0, rd, rs1, imm);
}
static inline uint32_t rv_add(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
  return rv_r(0, 0, rd, rs1, rs2);
}
static inline uint32_t rv_sub(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
  return rv_r(32, 0, rd, rs1, rs2);
}
static inline uint32_t rv_mul(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
  return rv_r(1, 0, rd, rs1, rs2);
}
/* Zba: rd = rs2 + rs1 * 4 */
static inline uint32_t rv_sh2add(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
  return rv_r(16, 4, rd, rs1, rs2);
}

/* Zba: rd = rs2 + rs1 * 8 */
static inline uint32_t rv_sh3add(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
  return rv_r(16, 6, rd, rs1, rs2);
}

static inline uint32_t rv_sw(uint32_t value, uint32_t base, int32_t imm)
{
  uint32_t bits = (uint32_t)imm;
  return (bits >> 5 & 127) << 25 | value << 20 | base << 15 | 2 << 12 | (bits & 31) << 7 | 0x23;
}

/* rd = the low word of the cycle counter: the cycle in which this instruction begins */
static inline uint32_t rv_rdcycle(uint32_t rd)
{
  return rv_i(0x73, 2, rd, ZERO, -0x400); /* CSR 0xc00, in 12 bits */
}

enum { BRANCH_EQ = 0, BRANCH_NE = 1, BRANCH_LTU = 6, BRANCH_REACH_BYTES = 4096 };

/* `distance` in bytes: even, -BRANCH_REACH_BYTES <= distance < BRANCH_REACH_BYTES */
static inline uint32_t rv_branch(uint32_t condition, uint32_t rs1, uint32_t rs2, int32_t distance)
{
  uint32_t bits = (uint32_t)distance;
  return (bits >> 12 & 1) << 31 | (bits >> 5 & 63) << 25 | rs2 << 20 | rs1 << 15 | condition << 12 |
         (bits >> 1 & 15) << 8 | (bits >> 11 & 1) << 7 | 0x63;
}

enum { JUMP_REACH_BYTES = 1 << 20 };

/* `distance` in bytes: even, -JUMP_REACH_BYTES <= distance < JUMP_REACH_BYTES */
static inline uint32_t rv_jal(uint32_t rd, int32_t distance)
{
  uint32_t bits = (uint32_t)distance;
  return (bits >> 20 & 1) << 31 | (bits >> 1 & 1023) << 21 | (bits >> 11 & 1) << 20 |
         (bits >> 12 & 255) << 12 | rd << 7 | 0x6f;
}

/* The upper part that, with the sign-extended lower 12 bits added, gives `value`. */
static inline uint32_t rv_upper(uint32_t value)
{
  return (value + 0x800) & 0xfffff000;
}
static inline int32_t rv_lower(uint32_t value)
{
  return (int32_t)(value << 20) >> 20;
}

/* Code of one block in the making. Positions are counted in words. */
typedef struct assembler {
  uint32_t *words;
  size_t num_words, words_capacity;
  code_patch *patches; /* `at.block` is filled in when the block is added */
  size_t num_patches, patches_capacity;
  bool too_far; /* a jump that its field cannot hold */
} assembler;

static inline void put(assembler *a, uint32_t word)
{
  pop_push(a->words, a->num_words, a->words_capacity, word);
}

/* How many instructions put_constant puts. */
static inline uint32_t constant_words(uint32_t value)
{
  return rv_upper(value) && rv_lower(value) ? 2 : 1;
}

/* rd = a number */
static inline void put_constant(assembler *a, uint32_t rd, uint32_t value)
{
  if (rv_upper(value)) put(a, rv_lui(rd, rv_upper(value)));
  if (rv_lower(value) || !rv_upper(value))
    put(a, rv_addi(rd, rv_upper(value) ? rd : ZERO, rv_lower(value)));
}

static inline void add_patch(assembler *a, code_patch_kind kind, place target)
{
  pop_push(a->patches, a->num_patches, a->patches_capacity,
           (code_patch){
               .kind = kind, .at = {COMPILER_NONE, (uint32_t)a->num_words * 4}, .target = target});
}

/* rd = the address of a place */
static inline void put_address(assembler *a, uint32_t rd, place target)
{
  add_patch(a, PATCH_LUI_ADDI, target);
  put(a, rv_lui(rd, 0));
  put(a, rv_addi(rd, rd, 0));
}

static inline uint32_t jump_word(assembler *a, uint32_t rd, size_t from, size_t to)
{
  int64_t distance = ((int64_t)to - (int64_t)from) * 4;
  a->too_far |= distance < -JUMP_REACH_BYTES || distance >= JUMP_REACH_BYTES;
  return rv_jal(rd, (int32_t)distance);
}

/* Jumps (rd ZERO) or calls (rd RA) to the word at position `to`. */
static inline void put_jump(assembler *a, uint32_t rd, size_t to)
{
  put(a, jump_word(a, rd, a->num_words, to));
}

static inline void put_push(assembler *a, uint32_t value)
{
  put(a, rv_addi(SP, SP, -4));
  put(a, rv_sw(value, SP, 0));
}

static inline void put_pop(assembler *a, uint32_t value)
{
  put(a, rv_lw(value, SP, 0));
  put(a, rv_addi(SP, SP, 4));
}

static inline void put_tile_op(assembler *a, isa_tile_op op, uint32_t rd, uint32_t rs1,
                               uint32_t rs2)
{
  put(a, isa_tile_op_word(op, rd, rs1, rs2));
}

#endif
