// The tiles' control registers, for codelets. The host has none: reads give 0.
#ifndef POPLIBS_REGISTERS_HPP
#define POPLIBS_REGISTERS_HPP

#include <arch/gc_tile_defines.h>

// CSR numbers of isa/isa.h. The number is part of the instruction.
#ifdef __IPU__
#define READ_REGISTER(number, value) __asm__ volatile("csrr %0, " #number : "=r"(value))
#define WRITE_REGISTER(number, value) __asm__ volatile("csrw " #number ", %0" : : "r"(value))
#else
#define READ_REGISTER(number, value) (value) = 0
#define WRITE_REGISTER(number, value) (void)(value)
#endif

#endif
