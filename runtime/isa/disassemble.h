/* Instruction words as text, from the table of instructions.h. */
#ifndef ISA_DISASSEMBLE_H
#define ISA_DISASSEMBLE_H

#include <stdint.h>

enum { ISA_TEXT_BYTES = 64 };

/* The word at `pc` as assemblers write it, with the ABI's names of registers and with addresses as
 * targets of branches: "lw a0, 4(a1)". The most common short forms are used: nop, li, mv, j, jr,
 * ret, beqz, bnez. A word that is no instruction of a context is ".word 0x…". */
void isa_disassemble(uint32_t word, uint32_t pc, char text[ISA_TEXT_BYTES]);

#endif
