/* Random programs over the interpreter's instruction table, for comparing engines.
 *
 * A program is a row of cases. A case loads some registers with special or random values, executes
 * one instruction (or a small pattern: branches, loops, jumps, loads, stores, CSRs), and stores the
 * registers that it may have changed, and the flags, in a slot of its own. After the last case the
 * program stores all registers and ends: with the Linux system calls write and exit or, for a
 * worker, with tile.exit. Programs without flags do not access CSRs.
 *
 * Instructions come from the interpreter's own table, so none can be forgotten. Left out are tile
 * instructions, ecall, ebreak, cycle and instret.
 */
#ifndef POPULUS_TEST_RANDOM_PROGRAM_H
#define POPULUS_TEST_RANDOM_PROGRAM_H

#include <isa/isa.h>
#include <machine/code_pages.h>
#include <populus/arena.h>

#include <stdbool.h>
#include <string.h>

enum {
  BASE = 0x4c000,
  CODE = BASE,
  CODE_WORDS = 24 * 1024,
  POOL = CODE + 4 * CODE_WORDS, /* operands, 1024 words: tp points into the middle */
  POOL_WORDS = 1024,
  SLOTS = POOL + 4 * POOL_WORDS, /* results; gp points at the current one */
  SLOT_WORDS = 8,
  MAX_CASES = 1600,
  REGISTERS = SLOTS + 4 * SLOT_WORDS * MAX_CASES, /* x0-x31, f0-f31, fcsr */
  REGISTER_WORDS = 65,
  END = REGISTERS + 4 * REGISTER_WORDS,
  SLOT_REG = 3,
  POOL_REG = 4
};

enum { DUMP_BYTES = END - SLOTS };

typedef struct instruction {
  const char *mnemonic;
  uint32_t mask, match;
  isa_format format; /* kinds of operands, as far as cases differ */
  pop_cost_class cost;
} instruction;

static const instruction instructions[] = {
#define ROW(id, mnemonic, mask, match, format, cost, ...)                                          \
  {mnemonic, mask, match, FORMAT_##format, POP_COST_##cost},
    INSTRUCTIONS(ROW)
#undef ROW
};

enum { NUM_INSTRUCTIONS = sizeof instructions / sizeof *instructions };

typedef struct program {
  uint64_t random;
  bool flags;  /* it reads and writes CSRs */
  bool worker; /* it ends with tile.exit */
  uint32_t code[CODE_WORDS];
  uint32_t pool[POOL_WORDS];
  size_t count;
  struct {
    const instruction *tested;
    uint32_t pc, word;
  } cases[MAX_CASES];
  size_t num_cases;
} program;

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators" */
static uint32_t draw(program *p, uint32_t below)
{
  p->random ^= p->random >> 12;
  p->random ^= p->random << 25;
  p->random ^= p->random >> 27;
  uint32_t high = (uint32_t)((p->random * UINT64_C(0x2545f4914f6cdd1d)) >> 32);
  return below ? high % below : high;
}

/* Values */

static const uint32_t special_words[] = {
    0, 1, 2, 31, 32, 33, 255, 256, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000,
    0x80000001, 0xffffffff, 0xfffffffe, 0x00ff00ff, 0xff000080,
    /* singles: 0.5, 1, 1.5, 2.5, 2^24 + 1, 2^31 - 128, 2^31, 2^32 - 256, 2^32, -0.5, -1, -2^31 */
    0x3f000000, 0x3f800000, 0x3fc00000, 0x40200000, 0x4b800001, 0x4effffff, 0x4f000000, 0x4f7fffff,
    0x4f800000, 0xbf000000, 0xbf800000, 0xcf000000, 0xcf000001,
    /* denormals, smallest and largest normals, infinities, NaNs with payloads */
    0x007fffff, 0x00800000, 0x00800001, 0x807fffff, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x7f800000,
    0xff800000, 0x7fc00000, 0xffc00000, 0x7fc12345, 0x7f800001, 0xff812345, 0x7fbfffff,
    /* around half's limits: 65504, 65519, 65520, 65536, 2^-14, 2^-24, 2^-25, 2^-25 and a bit */
    0x477fe000, 0x477fefff, 0x477ff000, 0x47800000, 0x38800000, 0x387fe000, 0x387ff000, 0x387fffff,
    0x33800000, 0x33000000, 0x33000001, 0xb3000001};

static const uint16_t special_halves[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x0401,
                                          0x3800, 0x3c00, 0x3c01, 0x3e00, 0x4100, 0x7bff, 0xfbff,
                                          0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0xfd55, 0x7800};

static uint32_t draw_value(program *p)
{
  uint32_t bits = draw(p, 0);
  switch (draw(p, 8)) {
  case 0:
  case 1:
    return special_words[draw(p, sizeof special_words / sizeof *special_words)];
  case 2:
  case 3: /* half, boxed; a few not */
    bits = special_halves[draw(p, sizeof special_halves / sizeof *special_halves)];
    return draw(p, 16) ? bits | 0xffff0000 : bits | draw(p, 0) << 16;
  case 4:
    return (bits & 0xffff) | 0xffff0000;
  case 5: /* singles of like size, where sums cancel and products round */
    return (bits & 0x80ffffff) | 0x3f000000;
  case 6: /* halves of like size */
    return (bits & 0x87ff) | 0xffff3800;
  default:
    return bits;
  }
}

/* Corners: the first words of the pool, NUM_CORNERS of each kind. Pairs of them are drawn often. */
enum { NUM_CORNERS = 8 };
typedef enum corner_kind { CORNER_INTEGER, CORNER_SINGLE, CORNER_HALF, CORNER_KINDS } corner_kind;

static const uint32_t corners[CORNER_KINDS][NUM_CORNERS] = {
    {0, 1, 2, 0xffffffff, 0x80000000, 0x7fffffff, 31, 0xaaaaaaaa},
    {0, 0x80000000, 0x3f800000, 0x7f800000, 0xff800000, 0x7fc00001, 0xff800001, 0x80000001},
    {0xffff0000, 0xffff8000, 0xffff3c00, 0xffff7c00, 0xfffffc00, 0xffff7e01, 0xfffffc01,
     0xffff8001}};

static corner_kind corner_kind_of(const instruction *i)
{
  if (i->mnemonic[0] != 'f') return CORNER_INTEGER;
  const char *dot = strchr(i->mnemonic, '.');
  return dot && !strcmp(dot, ".h") ? CORNER_HALF : CORNER_SINGLE;
}

/* Emission */

static uint32_t here(const program *p)
{
  return CODE + 4 * (uint32_t)p->count;
}

static void emit(program *p, uint32_t word)
{
  p->code[p->count++] = word;
}

static uint32_t i_type(uint32_t match, uint32_t rd, uint32_t rs1, int32_t imm)
{
  return match | (uint32_t)imm << 20 | rs1 << 15 | rd << 7;
}

static uint32_t s_type(uint32_t match, uint32_t rs1, uint32_t rs2, int32_t imm)
{
  uint32_t bits = (uint32_t)imm;
  return match | (bits >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | (bits & 31) << 7;
}

static uint32_t b_type(uint32_t match, uint32_t rs1, uint32_t rs2, int32_t distance)
{
  uint32_t bits = (uint32_t)distance;
  return match | (bits >> 12 & 1) << 31 | (bits >> 5 & 63) << 25 | rs2 << 20 | rs1 << 15 |
         (bits >> 1 & 15) << 8 | (bits >> 11 & 1) << 7;
}

static uint32_t jal(uint32_t rd, int32_t distance)
{
  uint32_t bits = (uint32_t)distance;
  return 0x6f | (bits >> 20 & 1) << 31 | (bits >> 1 & 0x3ff) << 21 | (bits >> 11 & 1) << 20 |
         (bits >> 12 & 0xff) << 12 | rd << 7;
}

static uint32_t addi(uint32_t rd, uint32_t rs1, int32_t imm)
{
  return i_type(0x13, rd, rs1, imm);
}

static void emit_li(program *p, uint32_t rd, uint32_t value)
{
  emit(p, ((value + 0x800) & 0xfffff000) | rd << 7 | 0x37);
  emit(p, addi(rd, rd, (int32_t)(value << 20) >> 20));
}

/* Any register but gp and tp. */
static uint32_t draw_register(program *p)
{
  uint32_t r;
  do r = draw(p, 32);
  while (r == SLOT_REG || r == POOL_REG);
  return r;
}

static int32_t draw_pool_offset(program *p)
{
  return (int32_t)(4 * draw(p, POOL_WORDS)) - 2 * POOL_WORDS;
}

/* New values for x[r] and f[r], or, now and then, whatever is in them. */
static void emit_operand(program *p, uint32_t r)
{
  if (draw(p, 4) == 0) return;
  emit(p, i_type(0x2003, r, POOL_REG, draw_pool_offset(p)));                              /* lw */
  emit(p, i_type(0x2007, r, POOL_REG, draw_pool_offset(p)));                              /* flw */
  if (p->worker && draw(p, 3)) emit(p, i_type(0x3007, r, POOL_REG, draw_pool_offset(p))); /* fld */
}

static void emit_corner(program *p, uint32_t r, corner_kind kind)
{
  int32_t offset = 4 * (int32_t)(kind * NUM_CORNERS + draw(p, NUM_CORNERS)) - 2 * POOL_WORDS;
  emit(p, i_type(0x2003, r, POOL_REG, offset));
  emit(p, i_type(0x2007, r, POOL_REG, offset));
}

/* x[r], f[r], for workers both words of it, and fcsr into the slot of the case, and on to the next. */
static void emit_results(program *p, uint32_t r)
{
  emit(p, s_type(0x2023, SLOT_REG, r, 0));                 /* sw */
  emit(p, s_type(0x2027, SLOT_REG, r, 4));                 /* fsw */
  if (p->worker) emit(p, s_type(0x3027, SLOT_REG, r, 24)); /* fsd */
  if (p->flags) {
    uint32_t flags = 1 + draw(p, 2);                            /* ra or sp */
    emit(p, i_type(draw(p, 2) ? 0x2073 : 0x1073, flags, 0, 3)); /* csrr, or csrrw with 0, fcsr */
    emit(p, s_type(0x2023, SLOT_REG, flags, 8));
  }
  emit(p, addi(SLOT_REG, SLOT_REG, 4 * SLOT_WORDS));
}

static void emit_rounding(program *p)
{
  if (p->flags) emit(p, i_type(0x5073, 0, draw(p, 5), 2)); /* csrrwi frm */
}

/* Cases */

/* The instruction with all operands: `rd`, `r1`, `r2` and random others. */
static uint32_t encode(program *p, const instruction *i, uint32_t rd, uint32_t r1, uint32_t r2)
{
  static const uint8_t modes[] = {0, 1, 2, 3, 4, 7, 7, 7};
  uint32_t word = draw(p, 0);
  word = (word & ~0x000fff80u) | r1 << 15 | rd << 7 | (word & 0x7000);
  if (i->format != FORMAT_I && i->format != FORMAT_U) word = (word & ~0x01f00000u) | r2 << 20;
  word = (word & ~i->mask) | i->match;
  if (i->format == FORMAT_R_RM || i->format == FORMAT_F_RM || i->format == FORMAT_R4)
    word = (word & ~0x7000u) | (uint32_t)modes[draw(p, sizeof modes)] << 12;
  return word;
}

/* Does it read and write the same register, which is not zero? */
static bool is_step(const instruction *i)
{
  return i->cost == POP_COST_STEP;
}

/* `word`, occasionally in its joined form, which qemu does not know. */
static uint32_t perhaps_joined(program *p, uint32_t word)
{
  const isa_row *row = p->worker && draw(p, 4) == 0 ? isa_find(word) : NULL;
  return row ? isa_joined_word(word, row) : word;
}

static uint32_t emit_plain(program *p, const instruction *i, uint32_t rd)
{
  uint32_t r1 = draw_register(p), r2 = draw_register(p);
  if (is_step(i)) r1 = rd;
  if (draw(p, 8) == 0) r2 = r1;
  if (draw(p, 3) == 0) {
    emit_corner(p, r1, corner_kind_of(i));
    emit_corner(p, r2, corner_kind_of(i));
  } else {
    emit_operand(p, r1);
    emit_operand(p, r2);
  }
  emit(p, perhaps_joined(p, encode(p, i, rd, r1, r2)));
  return p->code[p->count - 1];
}

static uint32_t access_bytes(const instruction *i)
{
  return 1u << (i->match >> 12 & 3);
}

static uint32_t emit_load(program *p, const instruction *i, uint32_t rd)
{
  uint32_t bytes = access_bytes(i), base = 5 + draw(p, 27);
  int32_t offset = draw_pool_offset(p) + (int32_t)(4 - bytes),
          shift = (int32_t)draw(p, 4000) - 2000;
  emit(p, addi(base, POOL_REG, offset));
  emit(p, addi(base, base, shift));
  emit(p, perhaps_joined(p, i_type(i->match, rd, base, -shift)));
  return p->code[p->count - 1];
}

/* Stores into the free words of the slot. */
static uint32_t emit_store(program *p, const instruction *i)
{
  uint32_t bytes = access_bytes(i), base = 5 + draw(p, 27), value = draw_register(p);
  int32_t offset = 12 + (int32_t)(bytes * draw(p, 12 / bytes)),
          shift = (int32_t)draw(p, 4000) - 2000;
  emit_operand(p, value);
  emit(p, addi(base, SLOT_REG, offset));
  emit(p, addi(base, base, shift));
  emit(p, perhaps_joined(p, s_type(i->match, base, value, -shift)));
  return p->code[p->count - 1];
}

/* A forward branch over something that would be seen, or a loop of a few rounds. */
static uint32_t emit_branch(program *p, const instruction *i, uint32_t rd)
{
  uint32_t r1 = draw_register(p), r2 = draw(p, 4) ? draw_register(p) : r1;
  emit_operand(p, r1);
  emit_operand(p, r2);
  if (draw(p, 4) == 0) { /* rd = rounds, counted down; the loop ends early where the branch does */
    emit(p, addi(rd, 0, 1 + (int32_t)draw(p, 20)));
    emit(p, b_type(i->match, r1, r2, 12));
    emit(p, addi(rd, rd, rd ? -1 : 0));
    emit(p, b_type(0x1063, rd, 0, -8)); /* bne rd, zero, back */
    return p->code[p->count - 3];
  }
  uint32_t skipped = draw(p, 40) ? 1 + draw(p, 4) : 200 + draw(p, 500);
  emit(p, b_type(i->match, r1, r2, 4 + 4 * (int32_t)skipped));
  uint32_t word = p->code[p->count - 1];
  for (uint32_t n = 0; n < skipped; n++) emit(p, addi(rd, rd, 1 + (int32_t)draw(p, 100)));
  return word;
}

static uint32_t emit_jal(program *p, uint32_t rd)
{
  uint32_t skipped = draw(p, 40) ? draw(p, 4) : 200 + draw(p, 500);
  uint32_t word = jal(rd, 4 + 4 * (int32_t)skipped);
  emit(p, word);
  while (skipped--) emit(p, 0); /* no instruction */
  return word;
}

static uint32_t emit_jalr(program *p, uint32_t rd)
{
  uint32_t base = 5 + draw(p, 27);
  int32_t low = (int32_t)draw(p, 4000) - 2000;
  emit_li(p, base, here(p) + 12 - (uint32_t)low);
  emit(p, i_type(0x67, rd, base, low | (int32_t)(low & 2 ? 0 : draw(p, 2) && !(low & 1))));
  return p->code[p->count - 1];
}

/* fflags, frm or fcsr; then a legal rounding mode again. */
static uint32_t emit_csr(program *p, const instruction *i, uint32_t rd)
{
  uint32_t r1 = draw_register(p);
  emit_operand(p, r1);
  emit(p, i_type(i->match, rd, r1, 1 + (int32_t)draw(p, 3)));
  uint32_t word = p->code[p->count - 1];
  uint32_t other = rd == 1 ? 2 : 1;
  emit(p, i_type(0x2073, other, 0, 3)); /* what it has written, into the slot's fourth word */
  emit(p, s_type(0x2023, SLOT_REG, other, 12));
  emit_rounding(p);
  return word;
}

static bool is_load(const instruction *i)
{
  return (i->match & 0x7b) == 0x03; /* of integers, of floats */
}

static bool is_store(const instruction *i)
{
  return (i->match & 0x7b) == 0x23;
}

/* The tile's own, and those that differ from RISC-V's D: the tile's 64-bit registers are two words,
 * and are not NaN-boxed. */
static bool is_wide(const instruction *i)
{
  bool access = is_load(i) || is_store(i);
  return (i->match & 0x7f) == 0x77 || is_step(i) || !strcmp(i->mnemonic, "fsgnj.d") ||
         (access && access_bytes(i) == 8);
}

static bool is_tested(const program *p, const instruction *i)
{
  if (is_wide(i) && !p->worker) return false;
  bool traps = i->match == 0x00000073 || i->match == 0x00100073;
  return i->cost != POP_COST_TILE && !traps && (p->flags || i->cost != POP_COST_CSR);
}

static void emit_case(program *p, const instruction *i)
{
  uint32_t rd = draw_register(p), word, start = here(p);
  if (is_step(i) && rd == 0) rd = 1;
  if (draw(p, 6) == 0) emit_rounding(p);
  switch (is_store(i) ? POP_COST_STORE : i->cost) {
  case POP_COST_LOAD:
    word = emit_load(p, i, rd);
    break;
  case POP_COST_STORE:
    word = emit_store(p, i);
    break;
  case POP_COST_BRANCH:
    word = emit_branch(p, i, rd);
    break;
  case POP_COST_JUMP:
    word = i->format == FORMAT_J ? emit_jal(p, rd) : emit_jalr(p, rd);
    break;
  case POP_COST_CSR:
    word = emit_csr(p, i, rd);
    break;
  default:
    word = emit_plain(p, i, rd);
  }
  p->cases[p->num_cases].tested = i;
  p->cases[p->num_cases].pc = start;
  p->cases[p->num_cases++].word = word;
  emit_results(p, rd);
}

static void emit_end(program *p)
{
  emit_li(p, SLOT_REG, REGISTERS);
  for (uint32_t r = 0; r < 32; r++) {
    emit(p, s_type(0x2023, SLOT_REG, r, 4 * (int32_t)r));
    emit(p, s_type(0x2027, SLOT_REG, r, 4 * (int32_t)(32 + r)));
  }
  if (p->flags) {
    emit(p, i_type(0x2073, 5, 0, 3));
    emit(p, s_type(0x2023, SLOT_REG, 5, 4 * 64));
  }
  if (p->worker) {
    emit(p, isa_tile_op_word(TILE_EXIT, 0, 0, 0));
    return;
  }
  emit_li(p, 17, 64); /* write(1, SLOTS, DUMP_BYTES) */
  emit_li(p, 10, 1);
  emit_li(p, 11, SLOTS);
  emit_li(p, 12, DUMP_BYTES);
  emit(p, 0x00000073);
  emit_li(p, 17, 93); /* exit(0) */
  emit_li(p, 10, 0);
  emit(p, 0x00000073);
}

/* All registers get values: Linux starts with some of its own. */
static void emit_start(program *p)
{
  emit_li(p, SLOT_REG, SLOTS);
  emit_li(p, POOL_REG, POOL + 2 * POOL_WORDS);
  for (uint32_t r = 1; r < 32; r++) {
    if (r != SLOT_REG && r != POOL_REG) emit(p, i_type(0x2003, r, POOL_REG, draw_pool_offset(p)));
    emit(p, i_type(0x2007, r, POOL_REG, draw_pool_offset(p)));
  }
  emit(p, i_type(0x2007, 0, POOL_REG, draw_pool_offset(p)));
  if (p->flags) emit(p, i_type(0x1073, 0, 0, 3)); /* fcsr = 0 */
}

typedef struct program_options {
  bool flags, worker;
  size_t max_cases; /* at most MAX_CASES */
} program_options;

/* Every instruction once, then random ones; only random ones if there is no room for all. */
static inline program *make_program(uint64_t seed, program_options options)
{
  enum { MAX_CASE_WORDS = 800, END_WORDS = 100 };
  program *p = pop_xcalloc(1, sizeof *p);
  p->flags = options.flags;
  p->worker = options.worker;
  p->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  for (uint32_t i = 0; i < POOL_WORDS; i++) p->pool[i] = draw_value(p);
  memcpy(p->pool, corners, sizeof corners);
  emit_start(p);
  bool all = options.max_cases > NUM_INSTRUCTIONS;
  for (uint32_t n = 0; p->num_cases < options.max_cases; n++) {
    const instruction *i =
        &instructions[all && n < NUM_INSTRUCTIONS ? n : draw(p, NUM_INSTRUCTIONS)];
    if (p->count + MAX_CASE_WORDS + END_WORDS > CODE_WORDS) break;
    if (is_tested(p, i)) emit_case(p, i);
  }
  emit_end(p);
  return p;
}

/* Code and data as they are in memory, BASE to END. */
static inline uint8_t *make_bytes(const program *p)
{
  uint8_t *bytes = pop_xcalloc(1, END - BASE);
  memcpy(bytes, p->code, sizeof p->code);
  memcpy(bytes + (POOL - BASE), p->pool, sizeof p->pool);
  return bytes;
}

#endif
