/* Control code as words: the instructions that the emitter uses, by name, and a buffer for them. */
#ifndef COMPILER_EMIT_ASSEMBLER_H
#define COMPILER_EMIT_ASSEMBLER_H

#include "compiler/compilation.h"
#include "isa/encoding.h"
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

static inline uint32_t rv_lui(uint32_t rd, uint32_t upper)
{
  return isa_word(OP_LUI, rd, 0, 0, (int32_t)upper);
}
static inline uint32_t rv_auipc(uint32_t rd)
{
  return isa_word(OP_AUIPC, rd, 0, 0, 0);
}
static inline uint32_t rv_addi(uint32_t rd, uint32_t rs1, int32_t imm)
{
  return isa_word(OP_ADDI, rd, rs1, 0, imm);
}
static inline uint32_t rv_andi(uint32_t rd, uint32_t rs1, int32_t imm)
{
  return isa_word(OP_ANDI, rd, rs1, 0, imm);
}
static inline uint32_t rv_slli(uint32_t rd, uint32_t rs1, int32_t by)
{
  return isa_word(OP_SLLI, rd, rs1, 0, by);
}
static inline uint32_t rv_lw(uint32_t rd, uint32_t rs1, int32_t imm)
{
  return isa_word(OP_LW, rd, rs1, 0, imm);
}
static inline uint32_t rv_jalr(uint32_t rd, uint32_t rs1, int32_t imm)
{
  return isa_word(OP_JALR, rd, rs1, 0, imm);
}
static inline uint32_t rv_add(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
  return isa_word(OP_ADD, rd, rs1, rs2, 0);
}
static inline uint32_t rv_sub(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
  return isa_word(OP_SUB, rd, rs1, rs2, 0);
}
static inline uint32_t rv_mul(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
  return isa_word(OP_MUL, rd, rs1, rs2, 0);
}
/* rd = rs2 + rs1 * 4 */
static inline uint32_t rv_sh2add(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
  return isa_word(OP_SH2ADD, rd, rs1, rs2, 0);
}

/* rd = rs2 + rs1 * 8 */
static inline uint32_t rv_sh3add(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
  return isa_word(OP_SH3ADD, rd, rs1, rs2, 0);
}

static inline uint32_t rv_sw(uint32_t value, uint32_t base, int32_t imm)
{
  return isa_word(OP_SW, 0, base, value, imm);
}

/* rd = the low word of the cycle counter: the cycle in which this instruction begins */
static inline uint32_t rv_rdcycle(uint32_t rd)
{
  return isa_word(OP_CSRRS, rd, ZERO, 0, CSR_CYCLE);
}

enum { BRANCH_REACH_BYTES = 4096 };

/* `branch`: one of BRANCHES. `distance` in bytes: even, -BRANCH_REACH_BYTES <= distance <
 * BRANCH_REACH_BYTES */
static inline uint32_t rv_branch(isa_op branch, uint32_t rs1, uint32_t rs2, int32_t distance)
{
  return isa_word(branch, 0, rs1, rs2, distance);
}

enum { JUMP_REACH_BYTES = 1 << 20 };

/* `distance` in bytes: even, -JUMP_REACH_BYTES <= distance < JUMP_REACH_BYTES */
static inline uint32_t rv_jal(uint32_t rd, int32_t distance)
{
  return isa_word(OP_JAL, rd, 0, 0, distance);
}

/* The upper part of `value`: the sign-extended lower 12 bits (rv_lower) added to it give
 * `value`. */
static inline uint32_t rv_upper(uint32_t value)
{
  return (value + 0x800) & 0xfffff000;
}
static inline int32_t rv_lower(uint32_t value)
{
  return (int32_t)(value << 20) >> 20;
}

/* Unfinished code of one block. Positions are counted in words. */
typedef struct assembler {
  uint32_t *words;
  size_t num_words, words_capacity;
  code_patch *patches; /* `at.block` is filled in when the block is added */
  size_t num_patches, patches_capacity;
  bool too_far; /* a jump's distance does not fit its field */
} assembler;

static inline void put(assembler *a, uint32_t word)
{
  pop_push(a->words, a->num_words, a->words_capacity, word);
}

/* The number of instructions that put_constant emits. */
static inline uint32_t constant_words(uint32_t value)
{
  return rv_upper(value) && rv_lower(value) ? 2 : 1;
}

/* rd = value */
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

/* rd = the address of `target` */
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
