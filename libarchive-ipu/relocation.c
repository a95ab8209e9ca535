/* The table of relocation types and the encoders of their fields. See relocation.h.
 *
 * A 32-bit address is built from an upper part (lui, auipc: bits 31 to 12) and a lower part (addi,
 * lw, sw: 12 bits, signed). Because the lower part is signed the upper one is rounded: it takes
 * (value + 0x800) >> 12, so that upper * 4096 + signed lower == value modulo 2^32. On RV32 every
 * value can be written so; only branches, jal and ULEB128 fields have a range.
 */
#include "relocation.h"
#include <stddef.h>

uint32_t relocation_get32(const uint8_t *place)
{
  return (uint32_t)place[0] | (uint32_t)place[1] << 8 | (uint32_t)place[2] << 16 |
         (uint32_t)place[3] << 24;
}

void relocation_put32(uint8_t *place, uint32_t value)
{
  for (int i = 0; i < 4; ++i) place[i] = (uint8_t)(value >> 8 * i);
}

bool relocation_put_uleb128(uint8_t *place, const uint8_t *end, uint32_t value)
{
  for (bool more = true; more && place < end; ++place, value >>= 7) {
    more = *place & 0x80;
    *place = (uint8_t)((*place & 0x80) | (value & 0x7f));
  }
  return value == 0;
}

/* Bits `high` to `low` of `value`, moved to bit `to`. */
static uint32_t bits(uint32_t value, unsigned high, unsigned low, unsigned to)
{
  return (value >> low & ((1u << (high - low + 1)) - 1)) << to;
}

/* Instruction formats. */

static void encode_u(uint8_t *place, uint32_t value)
{
  relocation_put32(place, (relocation_get32(place) & 0x00000fff) | ((value + 0x800) & 0xfffff000));
}

static void encode_i(uint8_t *place, uint32_t value)
{
  relocation_put32(place, (relocation_get32(place) & 0x000fffff) | bits(value, 11, 0, 20));
}

static void encode_s(uint8_t *place, uint32_t value)
{
  relocation_put32(place, (relocation_get32(place) & 0x01fff07f) | bits(value, 11, 5, 25) |
                              bits(value, 4, 0, 7));
}

static void encode_b(uint8_t *place, uint32_t value)
{
  relocation_put32(place, (relocation_get32(place) & 0x01fff07f) | bits(value, 12, 12, 31) |
                              bits(value, 10, 5, 25) | bits(value, 4, 1, 8) |
                              bits(value, 11, 11, 7));
}

static void encode_j(uint8_t *place, uint32_t value)
{
  relocation_put32(place, (relocation_get32(place) & 0x00000fff) | bits(value, 20, 20, 31) |
                              bits(value, 10, 1, 21) | bits(value, 11, 11, 20) |
                              bits(value, 19, 12, 12));
}

/* auipc and the jalr behind it. */
static void encode_call(uint8_t *place, uint32_t value)
{
  encode_u(place, value);
  encode_i(place + 4, value);
}

/* Data: set, add to or subtract from a little-endian number; the result wraps. */

static void change(uint8_t *place, unsigned bytes, uint64_t keep, uint64_t value)
{
  uint64_t old = 0;
  for (unsigned i = 0; i < bytes; ++i) old |= (uint64_t)place[i] << 8 * i;
  uint64_t sum = (old & keep) + value;
  for (unsigned i = 0; i < bytes; ++i) place[i] = (uint8_t)(sum >> 8 * i);
}

#define DATA_ENCODERS(width)                                                                       \
  static void encode_set##width(uint8_t *place, uint32_t value)                                    \
  {                                                                                                \
    change(place, width / 8, 0, value);                                                            \
  }                                                                                                \
  static void encode_add##width(uint8_t *place, uint32_t value)                                    \
  {                                                                                                \
    change(place, width / 8, UINT64_MAX, value);                                                   \
  }                                                                                                \
  static void encode_sub##width(uint8_t *place, uint32_t value)                                    \
  {                                                                                                \
    change(place, width / 8, UINT64_MAX, 0 - (uint64_t)value);                                     \
  }
DATA_ENCODERS(8)
DATA_ENCODERS(16)
DATA_ENCODERS(32)
DATA_ENCODERS(64)
#undef DATA_ENCODERS

/* The low six bits of a byte (call frame information: DW_CFA_advance_loc). */
static void encode_set6(uint8_t *place, uint32_t value)
{
  *place = (uint8_t)((*place & 0xc0) | (value & 0x3f));
}

static void encode_sub6(uint8_t *place, uint32_t value)
{
  *place = (uint8_t)((*place & 0xc0) | ((*place - value) & 0x3f));
}

/* R_RISCV_ALIGN marks nops that the assembler inserted, so that a linker that deletes code can
 * align the code after them by deleting some. The nops stay here. They do nothing, and the code
 * after them keeps the alignment of 4 that instructions need. It may miss a larger one that was
 * asked for. That matters only for speed on machines with caches; a tile has none, and no tile
 * instruction needs data aligned to more than 4. Clang with -mno-relax aligns itself and emits no
 * such relocation, and the loaded sections of picolibc and libgcc have none. */
static const relocation_type types[] = {
    [R_RISCV_NONE] = {.name = "R_RISCV_NONE"},
    [R_RISCV_RELAX] = {.name = "R_RISCV_RELAX"},
    [R_RISCV_ALIGN] = {.name = "R_RISCV_ALIGN"},
    [R_RISCV_TPREL_ADD] = {.name = "R_RISCV_TPREL_ADD"},

    /* Code. */
    [R_RISCV_BRANCH] = {"R_RISCV_BRANCH", VALUE_DISTANCE, 4, 13, .jump = true, .encode = encode_b},
    [R_RISCV_JAL] = {"R_RISCV_JAL", VALUE_DISTANCE, 4, 21, .jump = true, .encode = encode_j},
    [R_RISCV_CALL] = {"R_RISCV_CALL", VALUE_DISTANCE, 8, .jump = true, .encode = encode_call},
    [R_RISCV_CALL_PLT] = {"R_RISCV_CALL_PLT", VALUE_DISTANCE, 8, .jump = true,
                          .encode = encode_call},
    [R_RISCV_HI20] = {"R_RISCV_HI20", VALUE_ADDRESS, 4, .encode = encode_u},
    [R_RISCV_LO12_I] = {"R_RISCV_LO12_I", VALUE_ADDRESS, 4, .encode = encode_i},
    [R_RISCV_LO12_S] = {"R_RISCV_LO12_S", VALUE_ADDRESS, 4, .encode = encode_s},
    [R_RISCV_PCREL_HI20] = {"R_RISCV_PCREL_HI20", VALUE_DISTANCE, 4, .high = true,
                            .encode = encode_u},
    [R_RISCV_GOT_HI20] = {"R_RISCV_GOT_HI20", VALUE_ADDRESS, 4, .high = true, .got = true,
                          .encode = encode_u},
    [R_RISCV_TLS_GOT_HI20] = {"R_RISCV_TLS_GOT_HI20", VALUE_THREAD_OFFSET, 4, .high = true,
                              .got = true, .encode = encode_u},
    [R_RISCV_PCREL_LO12_I] = {"R_RISCV_PCREL_LO12_I", VALUE_OF_HIGH, 4, .encode = encode_i},
    [R_RISCV_PCREL_LO12_S] = {"R_RISCV_PCREL_LO12_S", VALUE_OF_HIGH, 4, .encode = encode_s},
    [R_RISCV_TPREL_HI20] = {"R_RISCV_TPREL_HI20", VALUE_THREAD_OFFSET, 4, .encode = encode_u},
    [R_RISCV_TPREL_LO12_I] = {"R_RISCV_TPREL_LO12_I", VALUE_THREAD_OFFSET, 4, .encode = encode_i},
    [R_RISCV_TPREL_LO12_S] = {"R_RISCV_TPREL_LO12_S", VALUE_THREAD_OFFSET, 4, .encode = encode_s},

    /* Data. */
    [R_RISCV_32] = {"R_RISCV_32", VALUE_ADDRESS, 4, .encode = encode_set32},
    [R_RISCV_64] = {"R_RISCV_64", VALUE_ADDRESS, 8, .encode = encode_set64},
    [R_RISCV_32_PCREL] = {"R_RISCV_32_PCREL", VALUE_DISTANCE, 4, .encode = encode_set32},
    [R_RISCV_PLT32] = {"R_RISCV_PLT32", VALUE_DISTANCE, 4, .encode = encode_set32},
    [R_RISCV_ADD8] = {"R_RISCV_ADD8", VALUE_ADDRESS, 1, .encode = encode_add8},
    [R_RISCV_ADD16] = {"R_RISCV_ADD16", VALUE_ADDRESS, 2, .encode = encode_add16},
    [R_RISCV_ADD32] = {"R_RISCV_ADD32", VALUE_ADDRESS, 4, .encode = encode_add32},
    [R_RISCV_ADD64] = {"R_RISCV_ADD64", VALUE_ADDRESS, 8, .encode = encode_add64},
    [R_RISCV_SUB6] = {"R_RISCV_SUB6", VALUE_ADDRESS, 1, .encode = encode_sub6},
    [R_RISCV_SUB8] = {"R_RISCV_SUB8", VALUE_ADDRESS, 1, .encode = encode_sub8},
    [R_RISCV_SUB16] = {"R_RISCV_SUB16", VALUE_ADDRESS, 2, .encode = encode_sub16},
    [R_RISCV_SUB32] = {"R_RISCV_SUB32", VALUE_ADDRESS, 4, .encode = encode_sub32},
    [R_RISCV_SUB64] = {"R_RISCV_SUB64", VALUE_ADDRESS, 8, .encode = encode_sub64},
    [R_RISCV_SET6] = {"R_RISCV_SET6", VALUE_ADDRESS, 1, .encode = encode_set6},
    [R_RISCV_SET8] = {"R_RISCV_SET8", VALUE_ADDRESS, 1, .encode = encode_set8},
    [R_RISCV_SET16] = {"R_RISCV_SET16", VALUE_ADDRESS, 2, .encode = encode_set16},
    [R_RISCV_SET32] = {"R_RISCV_SET32", VALUE_ADDRESS, 4, .encode = encode_set32},
    [R_RISCV_SET_ULEB128] = {"R_RISCV_SET_ULEB128", VALUE_ULEB_MINUEND, .bytes = 1},
    [R_RISCV_SUB_ULEB128] = {"R_RISCV_SUB_ULEB128", VALUE_ULEB_DIFFERENCE, .bytes = 1},
};

const relocation_type *relocation_type_find(uint32_t number)
{
  bool known = number < sizeof types / sizeof *types && types[number].name;
  return known ? &types[number] : NULL;
}
