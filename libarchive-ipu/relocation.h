/* The relocation types of static, non-compressed RV32 code: one table entry each.
 *
 * An entry says what is computed (`value`), how many bytes of the section it touches (`bytes`, so
 * that object.c can check the place before anybody writes there), which values fit (`bits`), and
 * which function writes the field (`encode`). relocate.c computes, checks and calls `encode`.
 *
 * Source: RISC-V ELF psABI, chapter "Relocations"; instruction formats: RISC-V unprivileged ISA,
 * chapter "RV32I", figure "immediate variants".
 */
#ifndef POPULUS_RELOCATION_H
#define POPULUS_RELOCATION_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

/* Younger than glibc's <elf.h>. */
#ifndef R_RISCV_PLT32
#define R_RISCV_PLT32 59
#endif
#ifndef R_RISCV_SET_ULEB128
#define R_RISCV_SET_ULEB128 60
#define R_RISCV_SUB_ULEB128 61
#endif

/* S: address of the symbol, A: addend, P: address of the place. */
typedef enum relocation_value {
  VALUE_NONE,           /* a hint for a linker that relaxes: nothing to do */
  VALUE_ADDRESS,        /* S + A */
  VALUE_DISTANCE,       /* S + A - P */
  VALUE_THREAD_OFFSET,  /* S + A - start of the thread-local block (tp) */
  VALUE_OF_HIGH,        /* the value of the relocation at the label S, an auipc */
  VALUE_ULEB_MINUEND,   /* waits for the next relocation, which is … */
  VALUE_ULEB_DIFFERENCE /* (S + A of the one before) - (S + A) */
} relocation_value;

typedef struct relocation_type {
  const char *name;
  relocation_value value;
  uint8_t bytes; /* of the section, from r_offset */
  uint8_t bits;  /* the value is a signed number of so many bits and a multiple of 4; 0: any */
  bool high;     /* an auipc whose label VALUE_OF_HIGH relocations name */
  bool jump;     /* goes to the symbol and does not take its address */
  bool got;      /* the auipc addresses a table of addresses: see relocate.c */
  void (*encode)(uint8_t *place, uint32_t value);
} relocation_type;

/* NULL for a type that this linker does not know. */
const relocation_type *relocation_type_find(uint32_t number);

uint32_t relocation_get32(const uint8_t *place);
void relocation_put32(uint8_t *place, uint32_t value);
/* Writes `value` over the ULEB128 number at `place`, in as many bytes as that has, none of them at
 * or behind `end`. False if it needs more. */
bool relocation_put_uleb128(uint8_t *place, const uint8_t *end, uint32_t value);

#endif
