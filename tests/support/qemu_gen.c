/* Random programs for the comparison of the interpreter with qemu-riscv32.
 *
 *   qemu_gen make <seed> <program.elf>   writes the program of this seed as a Linux executable
 *   qemu_gen check <seed> <dump>         runs the same words on the software IPU and compares its
 *                                        memory with what the executable wrote to standard output
 *
 * A program is a row of cases. A case loads some registers with special or random values, executes
 * one instruction (or a small pattern: branches, loops, jumps, loads, stores, CSRs), and stores the
 * registers that it may have changed, and the flags, in a slot of its own. Behind the last case the
 * program stores all registers, writes slots and registers to standard output, and exits; the
 * software IPU stops at that first ecall with a TRAP. So both execute the same bytes at the same
 * addresses, and a difference names its case.
 *
 * Instructions come from the interpreter's own table, so none can be forgotten; their encodings are
 * judged by qemu. Left out: tile instructions, ecall, ebreak, cycle and instret.
 */
#include <machine/decode.h>
#include <machine/machine.h>
#include <populus/arena.h>

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  BASE = 0x4c000,
  CODE = BASE,
  CODE_WORDS = 24 * 1024,
  POOL = CODE + 4 * CODE_WORDS, /* operands, 1024 words: tp points into the middle */
  POOL_WORDS = 1024,
  SLOTS = POOL + 4 * POOL_WORDS, /* results; gp points at the current one */
  SLOT_WORDS = 6,
  MAX_CASES = 1600,
  REGISTERS = SLOTS + 4 * SLOT_WORDS * MAX_CASES, /* x0-x31, f0-f31, fcsr */
  REGISTER_WORDS = 65,
  END = REGISTERS + 4 * REGISTER_WORDS,
  GP = 3,
  TP = 4
};

enum { DUMP_BYTES = END - SLOTS };

/* Kinds of operands, as far as cases differ: the formats of instructions.h. */
typedef enum format {
  FORMAT_NONE,
  FORMAT_R,
  FORMAT_R_RM,
  FORMAT_R4,
  FORMAT_F,
  FORMAT_F_RM,
  FORMAT_F_I,
  FORMAT_I,
  FORMAT_SHIFT,
  FORMAT_S,
  FORMAT_B,
  FORMAT_U,
  FORMAT_J,
  FORMAT_CSR
} format;

typedef struct instruction {
  const char *mnemonic;
  uint32_t mask, match;
  format format;
  pop_cost_class cost;
} instruction;

static const instruction instructions[] = {
#define ROW(id, mnemonic, mask, match, format, cost)                                               \
  {mnemonic, mask, match, FORMAT_##format, POP_COST_##cost},
    INSTRUCTIONS(ROW)
#undef ROW
};

enum { NUM_INSTRUCTIONS = sizeof instructions / sizeof *instructions };

typedef struct program {
  uint64_t random;
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
  while (r == GP || r == TP);
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
  emit(p, i_type(0x2003, r, TP, draw_pool_offset(p))); /* lw */
  emit(p, i_type(0x2007, r, TP, draw_pool_offset(p))); /* flw */
}

static void emit_corner(program *p, uint32_t r, corner_kind kind)
{
  int32_t offset = 4 * (int32_t)(kind * NUM_CORNERS + draw(p, NUM_CORNERS)) - 2 * POOL_WORDS;
  emit(p, i_type(0x2003, r, TP, offset));
  emit(p, i_type(0x2007, r, TP, offset));
}

/* x[r], f[r] and fcsr into the slot of the case, and on to the next. */
static void emit_results(program *p, uint32_t r)
{
  emit(p, s_type(0x2023, GP, r, 0));                          /* sw */
  emit(p, s_type(0x2027, GP, r, 4));                          /* fsw */
  uint32_t flags = 1 + draw(p, 2);                            /* ra or sp */
  emit(p, i_type(draw(p, 2) ? 0x2073 : 0x1073, flags, 0, 3)); /* csrr, or csrrw with 0, fcsr */
  emit(p, s_type(0x2023, GP, flags, 8));
  emit(p, addi(GP, GP, 4 * SLOT_WORDS));
}

static void emit_rounding(program *p)
{
  emit(p, i_type(0x5073, 0, draw(p, 5), 2)); /* csrrwi frm */
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

static uint32_t emit_plain(program *p, const instruction *i, uint32_t rd)
{
  uint32_t r1 = draw_register(p), r2 = draw_register(p);
  if (draw(p, 8) == 0) r2 = r1;
  if (draw(p, 3) == 0) {
    emit_corner(p, r1, corner_kind_of(i));
    emit_corner(p, r2, corner_kind_of(i));
  } else {
    emit_operand(p, r1);
    emit_operand(p, r2);
  }
  emit(p, encode(p, i, rd, r1, r2));
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
  emit(p, addi(base, TP, offset));
  emit(p, addi(base, base, shift));
  emit(p, i_type(i->match, rd, base, -shift));
  return p->code[p->count - 1];
}

/* Stores into the free words of the slot. */
static uint32_t emit_store(program *p, const instruction *i)
{
  uint32_t bytes = access_bytes(i), base = 5 + draw(p, 27), value = draw_register(p);
  int32_t offset = 12 + (int32_t)(bytes * draw(p, 12 / bytes)),
          shift = (int32_t)draw(p, 4000) - 2000;
  emit_operand(p, value);
  emit(p, addi(base, GP, offset));
  emit(p, addi(base, base, shift));
  emit(p, s_type(i->match, base, value, -shift));
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
  emit(p, s_type(0x2023, GP, other, 12));
  emit_rounding(p);
  return word;
}

static bool is_tested(const instruction *i)
{
  bool traps = i->match == 0x00000073 || i->match == 0x00100073;
  return i->cost != POP_COST_TILE && !traps;
}

static void emit_case(program *p, const instruction *i)
{
  uint32_t rd = draw_register(p), word, start = here(p);
  if (draw(p, 6) == 0) emit_rounding(p);
  switch (i->cost) {
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
  emit_li(p, GP, REGISTERS);
  for (uint32_t r = 0; r < 32; r++) {
    emit(p, s_type(0x2023, GP, r, 4 * (int32_t)r));
    emit(p, s_type(0x2027, GP, r, 4 * (int32_t)(32 + r)));
  }
  emit(p, i_type(0x2073, 5, 0, 3));
  emit(p, s_type(0x2023, GP, 5, 4 * 64));
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
  emit_li(p, GP, SLOTS);
  emit_li(p, TP, POOL + 2 * POOL_WORDS);
  for (uint32_t r = 1; r < 32; r++) {
    if (r != GP && r != TP) emit(p, i_type(0x2003, r, TP, draw_pool_offset(p)));
    emit(p, i_type(0x2007, r, TP, draw_pool_offset(p)));
  }
  emit(p, i_type(0x2007, 0, TP, draw_pool_offset(p)));
  emit(p, i_type(0x1073, 0, 0, 3)); /* fcsr = 0 */
}

/* Every instruction once, then random ones. */
static program *make_program(uint64_t seed)
{
  enum { MAX_CASE_WORDS = 800, END_WORDS = 100 };
  program *p = pop_xcalloc(1, sizeof *p);
  p->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  for (uint32_t i = 0; i < POOL_WORDS; i++) p->pool[i] = draw_value(p);
  memcpy(p->pool, corners, sizeof corners);
  emit_start(p);
  for (uint32_t n = 0; p->num_cases < MAX_CASES; n++) {
    const instruction *i = &instructions[n < NUM_INSTRUCTIONS ? n : draw(p, NUM_INSTRUCTIONS)];
    if (p->count + MAX_CASE_WORDS + END_WORDS > CODE_WORDS) break;
    if (is_tested(i)) emit_case(p, i);
  }
  emit_end(p);
  return p;
}

/* Code and data as they are in memory, BASE to END. */
static uint8_t *make_bytes(const program *p)
{
  uint8_t *bytes = pop_xcalloc(1, END - BASE);
  memcpy(bytes, p->code, sizeof p->code);
  memcpy(bytes + (POOL - BASE), p->pool, sizeof p->pool);
  return bytes;
}

/* make: an executable of one segment that may be read, written and executed */
static int write_executable(const program *p, const char *path)
{
  enum { OFFSET = 0x1000 };
  Elf32_Ehdr header = {
      .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
      .e_type = ET_EXEC,
      .e_machine = EM_RISCV,
      .e_version = EV_CURRENT,
      .e_entry = CODE,
      .e_phoff = sizeof header,
      .e_ehsize = sizeof header,
      .e_phentsize = sizeof(Elf32_Phdr),
      .e_phnum = 1};
  Elf32_Phdr segment = {.p_type = PT_LOAD,
                        .p_offset = OFFSET,
                        .p_vaddr = BASE,
                        .p_filesz = END - BASE,
                        .p_memsz = END - BASE,
                        .p_flags = PF_R | PF_W | PF_X,
                        .p_align = 0x1000};
  uint8_t *bytes = make_bytes(p), first[OFFSET] = {0};
  memcpy(first, &header, sizeof header);
  memcpy(first + sizeof header, &segment, sizeof segment);
  FILE *file = fopen(path, "wb");
  bool ok =
      file && fwrite(first, sizeof first, 1, file) == 1 && fwrite(bytes, END - BASE, 1, file) == 1;
  ok = file && !fclose(file) && ok;
  free(bytes);
  if (!ok) fprintf(stderr, "qemu_gen: cannot write %s\n", path);
  return ok ? 0 : 4;
}

/* check */

static int complain(pop_error *error)
{
  fprintf(stderr, "qemu_gen: %s\n", pop_error_message(error));
  pop_error_free(error);
  return 1;
}

/* Runs the program on one tile up to its first ecall; its slots and registers to `dump`. */
static pop_error *run_on_machine(const program *p, uint8_t *dump)
{
  pop_target target;
  POP_TRY(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 1;
  const pop_image_segment segments[] = {{.start = CODE, .size = 4 * CODE_WORDS, .executable = true},
                                        {.start = POOL, .size = END - POOL, .writable = true}};
  uint8_t *bytes = make_bytes(p);
  pop_image image = {.base = BASE,
                     .size = END - BASE,
                     .bytes = bytes,
                     .entry = CODE,
                     .segments = segments,
                     .num_segments = 2};
  machine *m;
  pop_error *error = machine_create(&target, &(machine_options){.max_cycles_per_run = 1 << 30}, &m);
  if (!error) error = machine_load(m, &image, NULL);
  uint32_t event;
  if (!error) {
    pop_error *stopped = machine_run(m, 0, &event);
    if (machine_get_fault(m)->kind == MACHINE_FAULT_TRAP)
      pop_error_free(stopped);
    else
      error = stopped;
  }
  if (!error) error = machine_read(m, 0, SLOTS, dump, DUMP_BYTES);
  machine_free(m);
  free(bytes);
  return error;
}

static uint32_t word_at(const uint8_t *dump, size_t index)
{
  uint32_t word;
  memcpy(&word, dump + 4 * index, sizeof word);
  return word;
}

static void show_difference(const program *p, size_t index, uint32_t ours, uint32_t theirs)
{
  static const char *const parts[SLOT_WORDS] = {"x[rd]",  "f[rd]",  "fcsr",
                                                "stored", "stored", "stored"};
  if (index >= SLOT_WORDS * p->num_cases) {
    printf("final registers, word %zu: ours 0x%08x, qemu 0x%08x\n", index - SLOT_WORDS * MAX_CASES,
           ours, theirs);
    return;
  }
  size_t number = index / SLOT_WORDS;
  printf("case %zu, %s (word 0x%08x, code from 0x%x), %s: ours 0x%08x, qemu 0x%08x\n", number,
         p->cases[number].tested->mnemonic, p->cases[number].word, p->cases[number].pc,
         parts[index % SLOT_WORDS], ours, theirs);
}

static int compare(const program *p, const uint8_t *ours, const uint8_t *theirs)
{
  enum { MOST_SHOWN = 20 };
  size_t differences = 0;
  for (size_t i = 0; i < DUMP_BYTES / 4; i++) {
    if (word_at(ours, i) == word_at(theirs, i)) continue;
    if (differences++ < MOST_SHOWN) show_difference(p, i, word_at(ours, i), word_at(theirs, i));
  }
  printf("%zu cases, %zu instructions of code, %zu words differ\n", p->num_cases, p->count,
         differences);
  return differences != 0;
}

static int check_dump(const program *p, const char *path)
{
  uint8_t *ours = pop_xcalloc(1, DUMP_BYTES), *theirs = pop_xcalloc(1, DUMP_BYTES + 1);
  FILE *file = fopen(path, "rb");
  size_t size = file ? fread(theirs, 1, DUMP_BYTES + 1, file) : 0;
  if (file) fclose(file);
  pop_error *error = run_on_machine(p, ours);
  int status = 1;
  if (error)
    status = complain(error);
  else if (size != DUMP_BYTES)
    fprintf(stderr, "qemu_gen: %s has %zu bytes instead of %d\n", path, size, DUMP_BYTES);
  else
    status = compare(p, ours, theirs);
  free(ours);
  free(theirs);
  return status;
}

int main(int argc, char **argv)
{
  bool make = argc == 4 && !strcmp(argv[1], "make");
  if (!make && (argc != 4 || strcmp(argv[1], "check") != 0)) {
    fprintf(stderr, "usage: qemu_gen make|check <seed> <file>\n");
    return 2;
  }
  program *p = make_program(strtoull(argv[2], NULL, 0));
  int status = make ? write_executable(p, argv[3]) : check_dump(p, argv[3]);
  free(p);
  return status;
}
