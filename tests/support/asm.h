/* A small assembler for tests: instruction words by name, into an array.
 *
 * asm_addi(a, A0, ZERO, 5) appends one instruction. asm_here(a) is the address of the next one: a
 * branch asm_branch(a, ASM_BNE, A0, ZERO, loop) jumps back to an earlier asm_here(). Forward jumps:
 * size_t at = asm_hole(a); … asm_patch_branch(a, at, ASM_BEQ, A0, ZERO).
 */
#ifndef POPULUS_TEST_ASM_H
#define POPULUS_TEST_ASM_H

#include <isa/isa.h>
#include <stddef.h>
#include <stdint.h>

enum { ASM_MAX_WORDS = 2048 };

typedef struct assembler {
  uint32_t base; /* address of words[0] */
  size_t count;
  uint32_t words[ASM_MAX_WORDS];
} assembler;

enum { ZERO, RA, SP, GP, TP, T0, T1, T2, S0, S1, A0, A1, A2, A3, A4, A5, A6, A7 };

static inline uint32_t asm_here(const assembler *a)
{
  return a->base + 4 * (uint32_t)a->count;
}

static inline void asm_word(assembler *a, uint32_t word)
{
  a->words[a->count++] = word;
}

/* Formats of the RISC-V manual */

static inline uint32_t asm_r(uint32_t match, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
  return match | rs2 << 20 | rs1 << 15 | rd << 7;
}

static inline uint32_t asm_i(uint32_t match, uint32_t rd, uint32_t rs1, int32_t imm)
{
  return match | (uint32_t)imm << 20 | rs1 << 15 | rd << 7;
}

static inline uint32_t asm_s(uint32_t match, uint32_t rs1, uint32_t rs2, int32_t imm)
{
  uint32_t bits = (uint32_t)imm;
  return match | (bits >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | (bits & 31) << 7;
}

static inline uint32_t asm_b(uint32_t match, uint32_t rs1, uint32_t rs2, int32_t distance)
{
  uint32_t bits = (uint32_t)distance;
  return match | (bits >> 12 & 1) << 31 | (bits >> 5 & 63) << 25 | rs2 << 20 | rs1 << 15 |
         (bits >> 1 & 15) << 8 | (bits >> 11 & 1) << 7;
}

static inline uint32_t asm_j(uint32_t rd, int32_t distance)
{
  uint32_t bits = (uint32_t)distance;
  return 0x6f | (bits >> 20 & 1) << 31 | (bits >> 1 & 0x3ff) << 21 | (bits >> 11 & 1) << 20 |
         (bits >> 12 & 0xff) << 12 | rd << 7;
}

/* Instructions */

static inline void asm_addi(assembler *a, uint32_t rd, uint32_t rs1, int32_t imm)
{
  asm_word(a, asm_i(0x13, rd, rs1, imm));
}

static inline void asm_li(assembler *a, uint32_t rd, uint32_t value) /* always two instructions */
{
  uint32_t low = (value & 0xfff) ^ 0x800;
  asm_word(a, ((value + 0x800) & 0xfffff000) | rd << 7 | 0x37);
  asm_addi(a, rd, rd, (int32_t)(low - 0x800));
}

static inline void asm_add(assembler *a, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
  asm_word(a, asm_r(0x33, rd, rs1, rs2));
}

enum { ASM_LB = 0x0003, ASM_LH = 0x1003, ASM_LW = 0x2003, ASM_LBU = 0x4003, ASM_LHU = 0x5003 };
enum { ASM_FLH = 0x1007, ASM_FLW = 0x2007, ASM_FLD = 0x3007 };
enum {
  ASM_SB = 0x0023,
  ASM_SH = 0x1023,
  ASM_SW = 0x2023,
  ASM_FSH = 0x1027,
  ASM_FSW = 0x2027,
  ASM_FSD = 0x3027
};
enum { ASM_BEQ = 0x0063, ASM_BNE = 0x1063, ASM_BLT = 0x4063, ASM_BGE = 0x5063 };

static inline void asm_load(assembler *a, uint32_t kind, uint32_t rd, uint32_t rs1, int32_t imm)
{
  asm_word(a, asm_i(kind, rd, rs1, imm));
}

static inline void asm_store(assembler *a, uint32_t kind, uint32_t rs2, uint32_t rs1, int32_t imm)
{
  asm_word(a, asm_s(kind, rs1, rs2, imm));
}

static inline void asm_branch(assembler *a, uint32_t kind, uint32_t rs1, uint32_t rs2, uint32_t to)
{
  asm_word(a, asm_b(kind, rs1, rs2, (int32_t)(to - asm_here(a))));
}

static inline void asm_jal(assembler *a, uint32_t rd, uint32_t to)
{
  asm_word(a, asm_j(rd, (int32_t)(to - asm_here(a))));
}

static inline void asm_jalr(assembler *a, uint32_t rd, uint32_t rs1, int32_t imm)
{
  asm_word(a, asm_i(0x67, rd, rs1, imm));
}

static inline void asm_csrr(assembler *a, uint32_t rd, uint32_t number)
{
  asm_word(a, asm_i(0x2073, rd, ZERO, (int32_t)number));
}

static inline void asm_csrrw(assembler *a, uint32_t rd, uint32_t rs1, uint32_t number)
{
  asm_word(a, asm_i(0x1073, rd, rs1, (int32_t)number));
}

static inline void asm_tile(assembler *a, isa_tile_op op, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
  asm_word(a, isa_tile_op_word(op, rd, rs1, rs2));
}

/* Room for an instruction whose target comes later. */
static inline size_t asm_hole(assembler *a)
{
  asm_word(a, 0);
  return a->count - 1;
}

static inline void asm_patch_branch(assembler *a, size_t at, uint32_t kind, uint32_t rs1,
                                    uint32_t rs2)
{
  a->words[at] = asm_b(kind, rs1, rs2, (int32_t)(4 * (a->count - at)));
}

static inline void asm_nops(assembler *a, uint32_t count)
{
  while (count--) asm_addi(a, ZERO, ZERO, 0);
}

/* Exchange code */

static inline void asm_send(assembler *a, uint32_t word, uint32_t words)
{
  asm_word(a, isa_send_word(word, words));
}

static inline void asm_receive(assembler *a, uint32_t tile, uint32_t words)
{
  asm_word(a, isa_receive_mux_word(tile, words));
}

static inline void asm_receive_address(assembler *a, uint32_t word)
{
  asm_word(a, isa_imm22_word(ISA_FUNCT3_RECEIVE_ADDRESS, word));
}

static inline void asm_delay(assembler *a, uint32_t cycles)
{
  asm_word(a, isa_imm22_word(ISA_FUNCT3_DELAY, cycles));
}

static inline void asm_end(assembler *a)
{
  asm_word(a, isa_imm22_word(ISA_FUNCT3_END, 0));
}

#endif
