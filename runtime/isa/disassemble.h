/* Instruction words as text, from the table of instructions.h. */
#ifndef ISA_DISASSEMBLE_H
#define ISA_DISASSEMBLE_H

#include <stdint.h>

enum { ISA_TEXT_BYTES = 64 };

/* As assemblers write the word at `pc`, registers by the names of the ABI, targets of branches as addresses: "lw a0, 4(a1)". The
 * commonest short forms are used: nop, li, mv, j, jr, ret, beqz, bnez. What is no instruction of a context is ".word 0x…". */
void isa_disassemble(uint32_t word, uint32_t pc, char text[ISA_TEXT_BYTES]);

#endif
