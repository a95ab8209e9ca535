/* One context's execution: the reference semantics of the tile's instruction set.
 *
 * Each decoded operation has a piece of code at the label do_<identifier>; a piece ends by jumping
 * to that of the next operation through a table of labels (a GNU extension, here because one
 * `switch` costs a third of the speed). Time is paid by the block: see decode.h.
 */
#include "float.h"
#include "state.h"

#include <stdio.h>
#include <string.h>

#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wpedantic" /* label addresses */
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tile memory is little endian, and so must the host be"
#endif

static uint32_t divide_signed(uint32_t a, uint32_t b)
{
  if (b == 0) return UINT32_MAX;
  if (a == 0x80000000 && b == UINT32_MAX) return a;
  return (uint32_t)((int32_t)a / (int32_t)b);
}

static uint32_t remainder_signed(uint32_t a, uint32_t b)
{
  if (b == 0) return a;
  if (a == 0x80000000 && b == UINT32_MAX) return 0;
  return (uint32_t)((int32_t)a % (int32_t)b);
}

static uint32_t shift_right_arithmetic(uint32_t value, uint32_t count)
{
  uint32_t sign = value >> 31 ? ~(UINT32_MAX >> count) : 0;
  return value >> count | sign;
}

static inline uint32_t rotate_right(uint32_t value, uint32_t count)
{
  return value >> (count & 31) | value << (-count & 31);
}

/* 0xff for every byte that is not 0. */
static uint32_t or_combine_bytes(uint32_t value)
{
  value |= value >> 4 & 0x0f0f0f0f;
  value |= value >> 2 & 0x03030303;
  value |= value >> 1 & 0x01010101;
  return (value & 0x01010101) * 0xff;
}

static uint32_t high_product(int64_t a, int64_t b)
{
  return (uint32_t)((uint64_t)(a * b) >> 32);
}

/* Number of the executing context's cycle or instruction counter; false: no such CSR. The counters
 * show what was before the reading instruction. */
static bool read_csr(const context *c, uint32_t number, uint64_t cycle, uint64_t instructions,
                     uint32_t *value)
{
  switch (number) {
  case CSR_FFLAGS:
    *value = c->fflags | float_host_flags();
    return true;
  case CSR_FRM:
    *value = c->frm;
    return true;
  case CSR_FCSR:
    *value = c->frm << 5 | c->fflags | float_host_flags();
    return true;
  case CSR_CYCLE:
    *value = (uint32_t)cycle;
    return true;
  case CSR_CYCLEH:
    *value = (uint32_t)(cycle >> 32);
    return true;
  case CSR_INSTRET:
    *value = (uint32_t)instructions;
    return true;
  case CSR_INSTRETH:
    *value = (uint32_t)(instructions >> 32);
    return true;
  default:
    return false;
  }
}

static bool write_csr(context *c, uint32_t number, uint32_t value)
{
  if (number == CSR_FRM) {
    c->frm = value & 7;
    return true;
  }
  if (number != CSR_FFLAGS && number != CSR_FCSR) return false;
  float_clear_host_flags();
  c->fflags = value & 31;
  if (number == CSR_FCSR) c->frm = value >> 5 & 7;
  return true;
}

static bool execute_csr(context *c, const operation *op, uint64_t cycle, uint64_t instructions)
{
  bool immediate = op->id >= OP_CSRRWI;
  uint32_t kind = op->id - (immediate ? OP_CSRRWI : OP_CSRRW); /* 0 write, 1 set, 2 clear */
  uint32_t operand = immediate ? op->rs1 : c->x[op->rs1], old;
  if (!read_csr(c, (uint32_t)op->imm, cycle, instructions, &old)) return false;
  uint32_t value = kind == 0 ? operand : kind == 1 ? old | operand : old & ~operand;
  bool writes = kind == 0 || op->rs1 != 0;
  if (writes && !write_csr(c, (uint32_t)op->imm, value)) return false;
  c->x[op->rd] = old;
  return true;
}

/* An operation whose `imm` has one of these bits does not round in its usual mode (decode.h). */
static uint32_t unusual_rounding(const context *c)
{
  return (c->frm | ROUNDS_UNUSUALLY) << ROUNDING_SHIFT;
}

/* The usual rounding modes, comparisons, by the host */

static inline uint32_t fast_multiply_add(context *c, uint32_t a, uint32_t b, uint32_t d)
{
  float result = fmaf(single_from_bits(a), single_from_bits(b), single_from_bits(d));
  if (result != result) /* hosts differ about infinity * 0 + NaN */
    return float_multiply_add(&float_single, a, b, d, ROUND_NEAREST_EVEN, &c->fflags);
  return single_to_bits(result);
}

static inline uint32_t fast_to_signed(context *c, uint32_t a)
{
  float value = single_from_bits(a);
  if ((a & 0x7fffffff) < 0x4f000000) return (uint32_t)(int32_t)value; /* below 2^31 */
  return float_to_integer(&float_single, a, true, ROUND_TO_ZERO, &c->fflags);
}

static inline uint32_t fast_to_unsigned(context *c, uint32_t a)
{
  float value = single_from_bits(a);
  if (a < 0x4f800000) return (uint32_t)(int64_t)value; /* 0 to below 2^32 */
  return float_to_integer(&float_single, a, false, ROUND_TO_ZERO, &c->fflags);
}

static inline uint32_t fast_widen(context *c, uint32_t half)
{
  if (float_is_nan(&float_half, half))
    return float_convert(&float_single, &float_half, half, ROUND_NEAREST_EVEN, &c->fflags);
  return single_to_bits(half_to_single(half));
}

/* Comparisons raise the host's invalid flag where the tile's are invalid. */
static inline uint32_t fast_equal(context *c, uint32_t a, uint32_t b)
{
  float x = single_from_bits(a), y = single_from_bits(b);
  if (__builtin_isunordered(x, y)) return float_equal(&float_single, a, b, &c->fflags);
  return x == y;
}

static inline uint32_t fast_less(context *c, uint32_t a, uint32_t b)
{
  float x = single_from_bits(a), y = single_from_bits(b);
  if (__builtin_isunordered(x, y)) return float_less(&float_single, a, b, false, &c->fflags);
  return x < y;
}

static inline uint32_t fast_less_or_equal(context *c, uint32_t a, uint32_t b)
{
  float x = single_from_bits(a), y = single_from_bits(b);
  if (__builtin_isunordered(x, y)) return float_less(&float_single, a, b, true, &c->fflags);
  return x <= y;
}

/* Equal ones may differ in their signs. */
static inline uint32_t fast_minimum(context *c, uint32_t a, uint32_t b)
{
  float x = single_from_bits(a), y = single_from_bits(b);
  if (__builtin_isless(x, y)) return a;
  if (__builtin_isgreater(x, y)) return b;
  return float_minimum(&float_single, a, b, &c->fflags);
}

static inline uint32_t fast_maximum(context *c, uint32_t a, uint32_t b)
{
  float x = single_from_bits(a), y = single_from_bits(b);
  if (__builtin_isgreater(x, y)) return a;
  if (__builtin_isless(x, y)) return b;
  return float_maximum(&float_single, a, b, &c->fflags);
}

static uint32_t from_signed(context *c, const float_format *format, uint32_t value,
                            rounding_mode mode)
{
  bool negative = value >> 31;
  return float_from_integer(format, negative, negative ? 0 - value : value, mode, &c->fflags);
}

/* Faults */

static stop fault_at(machine *m, const tile *t, context *c, machine_fault_kind kind, uint32_t pc)
{
  c->fault.kind = kind;
  c->fault.pc = pc;
  c->fault.word = memory_word(m, t, pc);
  c->fault.tile = t->number;
  c->fault.context = c->number;
  c->fault.vertex_state = c->vertex_state;
  c->fault.vertex_entry = c->vertex_entry;
  c->fault.run_argument = c->run_argument;
  c->fault.cycle = c->clock;
  return STOP_FAULT;
}

/* tile.run: false if there is no such worker or it has not been waited for. */
static bool start_worker(const machine *m, tile *t, context *c, const operation *op, uint64_t cycle)
{
  if (op->rd >= m->target.num_worker_contexts) {
    snprintf(c->fault.detail, sizeof c->fault.detail, "there is no worker %u, only 0 to %u", op->rd,
             m->target.num_worker_contexts - 1);
    return false;
  }
  worker_start *worker = &t->workers[op->rd];
  if (worker->started) {
    snprintf(c->fault.detail, sizeof c->fault.detail,
             "worker %u has been started before and not been waited for", op->rd);
    return false;
  }
  *worker = (worker_start){
      .started = true, .pc = c->x[op->rs1], .argument = c->x[op->rs2], .clock = cycle};
  return true;
}

/* tile.print. What the host computes for it must not show in the context's flags. */
static uint32_t print(machine *m, const tile *t, context *c, uint32_t format, uint32_t arguments)
{
  if (!m->print) return 0;
  machine_print request = {.tile = t->number,
                           .context = c->number,
                           .vertex_state = c->vertex_state,
                           .format = format,
                           .arguments = arguments,
                           .superstep = m->supersteps};
  c->fflags |= float_host_flags();
  uint32_t bytes = m->print(m->print_context, &request);
  float_clear_host_flags();
  return bytes;
}

static inline const code_page *find_page(machine *m, tile *t, uint32_t pc)
{
  uint32_t offset = pc - t->code_start;
  if (offset < t->code_bytes && pc % 4 == 0) {
    const code_page *page = t->pages[offset / PAGE_BYTES];
    if (page) return page;
  }
  return memory_code_page(m, t, pc);
}

/* Books what was executed since interpret() was called. */
static void leave(tile *t, context *c, uint64_t cycles, uint64_t instructions)
{
  c->clock += cycles;
  c->instructions += instructions;
  t->instructions += instructions;
  c->fflags |= float_host_flags();
}

/* Issue slots that the context may still use. */
static uint64_t slots_left(const machine *m, const context *c)
{
  if (c->clock >= m->limit) return 0;
  return (m->limit - c->clock) / m->target.num_worker_contexts;
}

/* --- the pieces ------------------------------------------------------------------------------ */

#define NEXT()                                                                                     \
  do {                                                                                             \
    op++;                                                                                          \
    goto *labels[op->id];                                                                          \
  } while (0)

/* Goes on with the first operation of a block, and pays for the block. */
#define ENTER(target)                                                                              \
  do {                                                                                             \
    op = (target);                                                                                 \
    slots += op->block_cost;                                                                       \
    count += op->block_count;                                                                      \
    if (__builtin_expect(slots > limit, 0)) goto out_of_cycles;                                    \
    goto *labels[op->id];                                                                          \
  } while (0)

#define PC() (page->key.address + 4 * (uint32_t)(op - page->operations))

#define FAULT(fault_kind)                                                                          \
  do {                                                                                             \
    kind = (fault_kind);                                                                           \
    goto fault;                                                                                    \
  } while (0)

#define STOP(why)                                                                                  \
  do {                                                                                             \
    reason = (why);                                                                                \
    goto stopped;                                                                                  \
  } while (0)

#define A x[op->rs1]
#define B x[op->rs2]
#define IMM ((uint32_t)op->imm)

#define INTEGER(id, expression)                                                                    \
  do_##id : x[op->rd] = (expression);                                                              \
  NEXT();

#define BRANCH(id, condition)                                                                      \
  do_##id : ENTER(op + ((condition) ? op->imm : 1));                                               \
  do_##id##_FAR : if (!(condition)) ENTER(op + 1);                                                 \
  pc = PC() + IMM;                                                                                 \
  goto jump;

#define LOAD(id, type, destination, expression)                                                    \
  do_##id:                                                                                         \
  {                                                                                                \
    type value;                                                                                    \
    uint32_t address = A + IMM, offset = address - c->readable.start;                              \
    const uint8_t *at;                                                                             \
    if (__builtin_expect((address & (sizeof value - 1)) || offset >= c->readable.size, 0)) {       \
      at = memory_access(m, t, c, address, sizeof value, false, false);                            \
      if (!at) goto access_fault;                                                                  \
    } else {                                                                                       \
      at = c->readable.host + offset;                                                              \
    }                                                                                              \
    memcpy(&value, at, sizeof value);                                                              \
    destination = (expression);                                                                    \
  }                                                                                                \
  NEXT();

#define STORE_TO(label, target, by_sp, type, expression)                                           \
  label: {                                                                                         \
    type value = (type)(expression);                                                               \
    uint32_t address = A + IMM, offset = address - c->target.start;                                \
    uint8_t *at;                                                                                   \
    if (__builtin_expect((address & (sizeof value - 1)) || offset >= c->target.size, 0)) {         \
      at = memory_access(m, t, c, address, sizeof value, true, by_sp);                             \
      if (!at) goto access_fault;                                                                  \
    } else {                                                                                       \
      at = c->target.host + offset;                                                                \
    }                                                                                              \
    memcpy(at, &value, sizeof value);                                                              \
  }                                                                                                \
  NEXT();

#define STORE(id, type, expression)                                                                \
  STORE_TO(do_##id, writable, false, type, expression)                                             \
  STORE_TO(do_##id##_STACK, stack, true, type, expression)

/* Floating point: `mode` is the rounding mode that counts. */
#define ROUNDING(field)                                                                            \
  mode = (rounding_mode)((field) & 7);                                                             \
  if (mode == ROUND_DYNAMIC) mode = (rounding_mode)c->frm;                                         \
  if (__builtin_expect(mode > ROUND_NEAREST_AWAY, 0)) FAULT(MACHINE_FAULT_INVALID_INSTRUCTION)

/* `fast` is right for the usual rounding mode (decode.h). */
#define ROUNDED(id, destination, fast, general)                                                    \
  do_##id : if (__builtin_expect((IMM & unusual) == 0, 1))                                         \
  {                                                                                                \
    destination = (fast);                                                                          \
  }                                                                                                \
  else                                                                                             \
  {                                                                                                \
    ROUNDING(op->imm);                                                                             \
    destination = (general);                                                                       \
  }                                                                                                \
  NEXT();

/* The same without a fast case, and without rounding. */
#define GENERAL(id, destination, expression)                                                       \
  do_##id : ROUNDING(op->imm);                                                                     \
  destination = (expression);                                                                      \
  NEXT();

#define EXACT(id, destination, expression)                                                         \
  do_##id : destination = (expression);                                                            \
  NEXT();

#define FD f[op->rd]
#define XD x[op->rd]
#define SA f[op->rs1]
#define SB f[op->rs2]
#define SC f[op->imm >> 8 & 31]
#define FA single_from_bits(SA)
#define FB single_from_bits(SB)
#define HA float_unbox(SA)
#define HB float_unbox(SB)
#define HC float_unbox(SC)
#define HFA half_to_single(HA)
#define HFB half_to_single(HB)
#define FLAGS (&c->fflags)
#define SINGLE (&float_single)
#define HALF (&float_half)
#define SNEG(a) float_negate(SINGLE, a)
#define HNEG(a) float_negate(HALF, a)

#define FAST_HALF(value) float_box(half_from_single((value), FLAGS))

/* Tile instructions are for the supervisor or for workers. */
#define SUPERVISOR_ONLY()                                                                          \
  if (c->number != MACHINE_SUPERVISOR) FAULT(MACHINE_FAULT_INVALID_INSTRUCTION)
#define WORKER_ONLY()                                                                              \
  if (c->number == MACHINE_SUPERVISOR) FAULT(MACHINE_FAULT_INVALID_INSTRUCTION)

#define CLOCK() (c->clock + slots * m->target.num_worker_contexts)

stop interpret(machine *m, tile *t, context *c, uint64_t slice)
{
  static const void *const labels[] = {
#define INSTRUCTION_LABEL(id, ...) [OP_##id] = &&do_##id,
      INSTRUCTIONS(INSTRUCTION_LABEL)
#define EXTRA_LABEL(id) [OP_##id] = &&do_##id,
          DECODED_EXTRAS(EXTRA_LABEL)};
  uint32_t *const x = c->x, *const f = c->f;
  const uint64_t left = slots_left(m, c), limit = left < slice ? left : slice;
  uint64_t slots = 0, count = 0; /* issue slots and instructions since the call */
  const code_page *page = NULL;
  const operation *op = NULL;
  uint32_t pc = c->pc;
  machine_fault_kind kind = MACHINE_FAULT_NONE;
  rounding_mode mode = ROUND_NEAREST_EVEN;
  uint32_t unusual = unusual_rounding(c);
  stop reason = STOP_FAULT;

  c->fault = (machine_fault){0};
  float_clear_host_flags();
  goto enter;

  /* rv32i */
  INTEGER(LUI, IMM)
  INTEGER(AUIPC, IMM) /* the decoder has added the pc */
  INTEGER(ADDI, A + IMM)
  INTEGER(SLTI, (int32_t)A < op->imm)
  INTEGER(SLTIU, A < IMM)
  INTEGER(XORI, A ^ IMM)
  INTEGER(ORI, A | IMM)
  INTEGER(ANDI, A & IMM)
  INTEGER(SLLI, A << IMM)
  INTEGER(SRLI, A >> IMM)
  INTEGER(SRAI, shift_right_arithmetic(A, IMM))
  INTEGER(ADD, A + B)
  INTEGER(SUB, A - B)
  INTEGER(SLL, A << (B & 31))
  INTEGER(SLT, (int32_t)A < (int32_t)B)
  INTEGER(SLTU, A < B)
  INTEGER(XOR, A ^ B)
  INTEGER(SRL, A >> (B & 31))
  INTEGER(SRA, shift_right_arithmetic(A, B & 31))
  INTEGER(OR, A | B)
  INTEGER(AND, A & B)

  LOAD(LB, int8_t, XD, (uint32_t)value)
  LOAD(LH, int16_t, XD, (uint32_t)value)
  LOAD(LW, uint32_t, XD, value)
  LOAD(LBU, uint8_t, XD, value)
  LOAD(LHU, uint16_t, XD, value)
  STORE(SB, uint8_t, B)
  STORE(SH, uint16_t, B)
  STORE(SW, uint32_t, B)

  BRANCH(BEQ, A == B)
  BRANCH(BNE, A != B)
  BRANCH(BLT, (int32_t)A < (int32_t)B)
  BRANCH(BGE, (int32_t)A >= (int32_t)B)
  BRANCH(BLTU, A < B)
  BRANCH(BGEU, A >= B)

do_JAL:
  XD = PC() + 4;
  ENTER(op + op->imm);
do_JAL_FAR:
  pc = PC();
  XD = pc + 4;
  pc += IMM;
  goto jump;
do_JALR:
  pc = (A + IMM) & ~1u;
  XD = PC() + 4;
  goto jump;

do_FENCE:
  NEXT();
do_ECALL:
do_EBREAK:
  c->fault.address = x[10];
  FAULT(MACHINE_FAULT_TRAP);

do_CSRRW:
do_CSRRS:
do_CSRRC:
do_CSRRWI:
do_CSRRSI:
do_CSRRCI: /* ends its block, so that slots and count are exact here */
  if (!execute_csr(c, op, CLOCK() - op->block_cost * m->target.num_worker_contexts,
                   c->instructions + count - 1))
    FAULT(MACHINE_FAULT_INVALID_INSTRUCTION);
  unusual = unusual_rounding(c);
  ENTER(op + 1);

  /* m */
  INTEGER(MUL, (A * B))
  INTEGER(MULH, high_product((int32_t)A, (int32_t)B))
  INTEGER(MULHSU, high_product((int32_t)A, B))
  INTEGER(MULHU, (uint32_t)((uint64_t)A * B >> 32))
  INTEGER(DIV, divide_signed(A, B))
  INTEGER(DIVU, B ? A / B : UINT32_MAX)
  INTEGER(REM, remainder_signed(A, B))
  INTEGER(REMU, B ? A % B : A)

  /* zba, zbb */
  INTEGER(SH1ADD, (A << 1) + B)
  INTEGER(SH2ADD, (A << 2) + B)
  INTEGER(SH3ADD, (A << 3) + B)
  INTEGER(ANDN, A & ~B)
  INTEGER(ORN, A | ~B)
  INTEGER(XNOR, ~(A ^ B))
  INTEGER(CLZ, A ? (uint32_t)__builtin_clz(A) : 32)
  INTEGER(CTZ, A ? (uint32_t)__builtin_ctz(A) : 32)
  INTEGER(CPOP, (uint32_t)__builtin_popcount(A))
  INTEGER(MIN, (int32_t)A < (int32_t)B ? A : B)
  INTEGER(MINU, A < B ? A : B)
  INTEGER(MAX, (int32_t)A > (int32_t)B ? A : B)
  INTEGER(MAXU, A > B ? A : B)
  INTEGER(SEXT_B, (uint32_t)(int8_t)A)
  INTEGER(SEXT_H, (uint32_t)(int16_t)A)
  INTEGER(ZEXT_H, A & 0xffff)
  INTEGER(ROL, rotate_right(A, -B))
  INTEGER(ROR, rotate_right(A, B))
  INTEGER(RORI, rotate_right(A, IMM))
  INTEGER(ORC_B, or_combine_bytes(A))
  INTEGER(REV8, __builtin_bswap32(A))

  /* f */
  LOAD(FLW, uint32_t, FD, value)
  STORE(FSW, uint32_t, SB)
  ROUNDED(FADD_S, FD, single_to_bits(FA + FB), float_add(SINGLE, SA, SB, mode, FLAGS))
  ROUNDED(FSUB_S, FD, single_to_bits(FA - FB), float_add(SINGLE, SA, SNEG(SB), mode, FLAGS))
  ROUNDED(FMUL_S, FD, single_to_bits((FA * FB)), float_multiply(SINGLE, SA, SB, mode, FLAGS))
  ROUNDED(FDIV_S, FD, single_to_bits(FA / FB), float_divide(SINGLE, SA, SB, mode, FLAGS))
  ROUNDED(FSQRT_S, FD, single_to_bits(sqrtf(FA)), float_sqrt(SINGLE, SA, mode, FLAGS))
  ROUNDED(FMADD_S, FD, fast_multiply_add(c, SA, SB, SC),
          float_multiply_add(SINGLE, SA, SB, SC, mode, FLAGS))
  ROUNDED(FMSUB_S, FD, fast_multiply_add(c, SA, SB, SNEG(SC)),
          float_multiply_add(SINGLE, SA, SB, SNEG(SC), mode, FLAGS))
  ROUNDED(FNMSUB_S, FD, fast_multiply_add(c, SNEG(SA), SB, SC),
          float_multiply_add(SINGLE, SNEG(SA), SB, SC, mode, FLAGS))
  ROUNDED(FNMADD_S, FD, fast_multiply_add(c, SNEG(SA), SB, SNEG(SC)),
          float_multiply_add(SINGLE, SNEG(SA), SB, SNEG(SC), mode, FLAGS))
  ROUNDED(FCVT_S_W, FD, single_to_bits((float)(int32_t)A), from_signed(c, SINGLE, A, mode))
  ROUNDED(FCVT_S_WU, FD, single_to_bits((float)(int64_t)A),
          float_from_integer(SINGLE, false, A, mode, FLAGS))
  ROUNDED(FCVT_W_S, XD, fast_to_signed(c, SA), float_to_integer(SINGLE, SA, true, mode, FLAGS))
  ROUNDED(FCVT_WU_S, XD, fast_to_unsigned(c, SA), float_to_integer(SINGLE, SA, false, mode, FLAGS))
  EXACT(FSGNJ_S, FD, (SA & 0x7fffffff) | (SB & 0x80000000))
  EXACT(FSGNJN_S, FD, (SA & 0x7fffffff) | (~SB & 0x80000000))
  EXACT(FSGNJX_S, FD, SA ^ (SB & 0x80000000))
  EXACT(FMIN_S, FD, fast_minimum(c, SA, SB))
  EXACT(FMAX_S, FD, fast_maximum(c, SA, SB))
  EXACT(FEQ_S, XD, fast_equal(c, SA, SB))
  EXACT(FLT_S, XD, fast_less(c, SA, SB))
  EXACT(FLE_S, XD, fast_less_or_equal(c, SA, SB))
  EXACT(FCLASS_S, XD, float_classify(SINGLE, SA))
  EXACT(FMV_X_W, XD, SA)
  EXACT(FMV_W_X, FD, A)

  /* zfh */
  LOAD(FLH, uint16_t, FD, float_box(value))
  STORE(FSH, uint16_t, SB)
  ROUNDED(FADD_H, FD, FAST_HALF(HFA + HFB), float_box(float_add(HALF, HA, HB, mode, FLAGS)))
  ROUNDED(FSUB_H, FD, FAST_HALF(HFA - HFB), float_box(float_add(HALF, HA, HNEG(HB), mode, FLAGS)))
  ROUNDED(FMUL_H, FD, FAST_HALF((HFA * HFB)), float_box(float_multiply(HALF, HA, HB, mode, FLAGS)))
  ROUNDED(FDIV_H, FD, FAST_HALF(HFA / HFB), float_box(float_divide(HALF, HA, HB, mode, FLAGS)))
  ROUNDED(FSQRT_H, FD, FAST_HALF(sqrtf(HFA)), float_box(float_sqrt(HALF, HA, mode, FLAGS)))
  GENERAL(FMADD_H, FD, float_box(float_multiply_add(HALF, HA, HB, HC, mode, FLAGS)))
  GENERAL(FMSUB_H, FD, float_box(float_multiply_add(HALF, HA, HB, HNEG(HC), mode, FLAGS)))
  GENERAL(FNMSUB_H, FD, float_box(float_multiply_add(HALF, HNEG(HA), HB, HC, mode, FLAGS)))
  GENERAL(FNMADD_H, FD, float_box(float_multiply_add(HALF, HNEG(HA), HB, HNEG(HC), mode, FLAGS)))
  GENERAL(FCVT_S_H, FD, fast_widen(c, HA))
  ROUNDED(FCVT_H_S, FD, FAST_HALF(FA), float_box(float_convert(HALF, SINGLE, SA, mode, FLAGS)))
  ROUNDED(FCVT_H_W, FD, FAST_HALF((float)(int32_t)A), float_box(from_signed(c, HALF, A, mode)))
  ROUNDED(FCVT_H_WU, FD, FAST_HALF((float)(int64_t)A),
          float_box(float_from_integer(HALF, false, A, mode, FLAGS)))
  GENERAL(FCVT_W_H, XD, float_to_integer(HALF, HA, true, mode, FLAGS))
  GENERAL(FCVT_WU_H, XD, float_to_integer(HALF, HA, false, mode, FLAGS))
  EXACT(FSGNJ_H, FD, float_box((HA & 0x7fff) | (HB & 0x8000)))
  EXACT(FSGNJN_H, FD, float_box((HA & 0x7fff) | (~HB & 0x8000)))
  EXACT(FSGNJX_H, FD, float_box(HA ^ (HB & 0x8000)))
  EXACT(FMIN_H, FD, float_box(float_minimum(HALF, HA, HB, FLAGS)))
  EXACT(FMAX_H, FD, float_box(float_maximum(HALF, HA, HB, FLAGS)))
  EXACT(FEQ_H, XD, float_equal(HALF, HA, HB, FLAGS))
  EXACT(FLT_H, XD, float_less(HALF, HA, HB, false, FLAGS))
  EXACT(FLE_H, XD, float_less(HALF, HA, HB, true, FLAGS))
  EXACT(FCLASS_H, XD, float_classify(HALF, HA))
  EXACT(FMV_X_H, XD, (uint32_t)(int16_t)SA) /* no matter what is above it */
  EXACT(FMV_H_X, FD, float_box(A))

  /* tile */
do_TILE_SYNC:
  SUPERVISOR_ONLY();
  if (op->rd > ISA_SYNC_REPLICAS) FAULT(MACHINE_FAULT_INVALID_OPERAND);
  c->sync_argument = op->rd;
  STOP(STOP_SYNC);
do_TILE_HOST_SYNC:
  SUPERVISOR_ONLY();
  c->sync_argument = A;
  c->host_code = B;
  c->sync_rd = op->rd;
  STOP(STOP_HOST_SYNC);
do_TILE_EXCHANGE:
  SUPERVISOR_ONLY();
  if (op->rd > ISA_SYNC_REPLICAS) FAULT(MACHINE_FAULT_INVALID_OPERAND);
  c->sync_argument = A;
  STOP(stop_of_exchange(op->rd));
do_TILE_WAIT:
  SUPERVISOR_ONLY();
  STOP(STOP_WAIT);
do_TILE_EXIT:
  WORKER_ONLY();
  STOP(STOP_EXIT);
do_TILE_RUN:
  SUPERVISOR_ONLY();
  if (!start_worker(m, t, c, op, CLOCK())) FAULT(MACHINE_FAULT_INVALID_OPERAND);
  ENTER(op + 1);
do_TILE_CONTEXT:
  XD = c->number;
  ENTER(op + 1);
do_TILE_NUMBER:
  XD = t->number;
  ENTER(op + 1);
do_TILE_CALL:
  pc = A;
  c->vertex_entry = A;
  c->vertex_state = B;
  x[10] = B;
  x[1] = PC() + 4;
  if (m->translation) translate_want(m, t, pc);
  goto jump;
do_TILE_PRINT:
  XD = print(m, t, c, A, B);
  ENTER(op + 1);
do_TILE_TRAP:
  c->fault.address = A;
  FAULT(MACHINE_FAULT_TRAP);

do_NEXT_PAGE:
  pc = PC();
  goto jump;
do_NOT_CODE:
  FAULT(MACHINE_FAULT_INVALID_PC);
do_INVALID:
  FAULT(MACHINE_FAULT_INVALID_INSTRUCTION);

jump: /* to the instruction at pc, in whatever page */
  if (__builtin_expect(t->num_entries != 0, 0) && !c->frm && translate_has(t, pc)) {
    reason = STOP_NATIVE;
    goto paused;
  }
enter:
  page = find_page(m, t, pc);
  if (!page) {
    leave(t, c, slots * m->target.num_worker_contexts, count);
    return fault_at(m, t, c, MACHINE_FAULT_INVALID_PC, pc);
  }
  ENTER(page->operations + (pc - page->key.address) / 4);

out_of_cycles:
  if (slots > left) FAULT(MACHINE_FAULT_OUT_OF_CYCLES);
  slots -= op->block_cost;
  count -= op->block_count;
  pc = PC();
  reason = STOP_SLICE;
paused:
  leave(t, c, slots * m->target.num_worker_contexts, count);
  c->pc = pc;
  return reason;
access_fault:
  kind = c->fault.kind;
fault: /* neither this instruction nor the rest of its block has been executed */
  slots -= op->block_cost;
  count -= op->block_count;
  leave(t, c, slots * m->target.num_worker_contexts, count);
  return fault_at(m, t, c, kind, PC());

stopped:
  leave(t, c, slots * m->target.num_worker_contexts, count);
  c->pc = PC() + 4;
  return reason;
}
