/* One context's execution: the reference semantics of the tile's instruction set.
 *
 * Each decoded operation has a piece of code at the label do_<identifier> (pieces.h). A piece ends
 * by jumping to the piece of the next operation (threaded code: a GNU extension; one `switch` would
 * cost a third of the speed). Some pieces execute two operations. Time is paid by the block: see
 * code_pages.h. */
#include "block_copy.h"
#include "float_control_fast.h"
#include "isa/float_fast.h"
#include "isa/functions.h"
#include "isa/integer.h"
#include "isa/packed.h"
#include "pieces.h"
#include "state.h"

#include <stdio.h>
#include <string.h>

#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wpedantic" /* label addresses */
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tile memory is little endian, and so must the host be"
#endif

/* An operation with one of these bits in `imm` does not round in its usual mode (code_pages.h). */
static uint32_t unusual_rounding(const context *c)
{
  return (c->frm | ROUNDS_UNUSUALLY) << ROUNDING_SHIFT;
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

/* May the worker be started? If not, sets the fault's detail. */
static bool is_free(const machine *m, const tile *t, context *c, uint32_t worker)
{
  if (worker >= m->target.num_worker_contexts) {
    snprintf(c->fault.detail, sizeof c->fault.detail, "there is no worker %u, only 0 to %u", worker,
             m->target.num_worker_contexts - 1);
    return false;
  }
  if (t->workers[worker].started) {
    snprintf(c->fault.detail, sizeof c->fault.detail,
             "worker %u has been started before and not been waited for", worker);
    return false;
  }
  return true;
}

/* tile.run: false if there is no such worker or it has not been waited for. */
static bool start_worker(const machine *m, tile *t, context *c, const operation *op, uint64_t cycle)
{
  if (!is_free(m, t, c, op->rd)) return false;
  t->workers[op->rd] = (worker_start){
      .started = true, .pc = c->x[op->rs1], .argument = c->x[op->rs2], .clock = cycle};
  return true;
}

/* tile.runall: false if one of the workers cannot be started; then none is. */
static bool start_workers(const machine *m, tile *t, context *c, const operation *op,
                          uint64_t cycle)
{
  if (op->rd == 0) {
    snprintf(c->fault.detail, sizeof c->fault.detail, "tile.runall of no worker");
    return false;
  }
  for (uint32_t n = 0; n < op->rd; n++)
    if (!is_free(m, t, c, n)) return false;
  for (uint32_t n = 0; n < op->rd; n++)
    t->workers[n] = (worker_start){
        .started = true, .pc = c->x[op->rs1], .argument = c->x[op->rs2] + 8 * n, .clock = cycle};
  return true;
}

/* tile.sans: false if it acknowledges nothing, or too early. */
static bool acknowledge(context *c, tile_acks *acks, const operation *op, uint64_t cycle)
{
  uint32_t syncs = op->rs1 | (uint32_t)op->rs2 << 5;
  if (!syncs || op->rd > ISA_SYNC_REPLICAS) {
    snprintf(c->fault.detail, sizeof c->fault.detail, "acknowledges %u syncs of zone %u", syncs,
             op->rd);
    return false;
  }
  *acks = (tile_acks){.open = syncs, .zone = op->rd, .clock = cycle};
  return true;
}

/* The tile may ask for no sync while syncs that it has acknowledged are open. */
static bool has_open_syncs(context *c, const tile_acks *acks)
{
  if (!acks->open) return false;
  snprintf(c->fault.detail, sizeof c->fault.detail,
           "%u syncs that were acknowledged have not been waited for", acks->open);
  return true;
}

/* tile.print. Flags that the host's own work raises must not show in the context's. */
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

static inline const code_page *find_page(machine *m, tile *t, const context *c, uint32_t pc)
{
  if (__builtin_expect(c->float_control != 0, 0)) return memory_code_page(m, t, pc, true);
  uint32_t offset = pc - t->code_start;
  if (offset < t->code_bytes && pc % 4 == 0) {
    const code_page *page = t->pages[offset / PAGE_BYTES];
    if (page) return page;
  }
  return memory_code_page(m, t, pc, false);
}

/* Adds what was executed since interpret() was called to the counters. */
static void leave(tile *t, context *c, uint64_t cycles, uint64_t instructions)
{
  c->clock += cycles;
  c->instructions += instructions;
  t->instructions += instructions;
  c->fflags |= float_host_flags();
}

/* Issue slots that the context may still use. */
static uint64_t slots_left(const machine *m, const tile *t, const context *c)
{
  const uint64_t limit = cycle_limit(m, t);
  return c->clock < limit ? (limit - c->clock) / m->target.num_worker_contexts : 0;
}

/* If `pieces` is not NULL, only returns the labels (code_pages.h).
 *
 * This stays one function of three hundred lines: a jump to a label does not leave a function,
 * and the pieces share op, slots, count and page in registers. Most of it is a table with a line
 * for each instruction. What takes more than a few lines is a function above, or a macro of
 * pieces.h. */
static stop run(machine *m, tile *t, context *c, uint64_t slice, const void *const **pieces)
{
  static const void *const labels[] = {
#define INSTRUCTION_LABEL(id, ...) [OP_##id] = &&do_##id,
      INSTRUCTIONS(INSTRUCTION_LABEL)
#define FAR_LABEL(id, ...) [OP_##id##_FAR] = &&do_##id##_FAR,
          BRANCHES(FAR_LABEL)
#define STACK_LABEL(id, ...) [OP_##id##_STACK] = &&do_##id##_STACK,
              STORES(STACK_LABEL) FLOAT_STORES(STACK_LABEL) WIDE_STORES(STACK_LABEL)
#define EXTRA_LABEL(id) [OP_##id] = &&do_##id,
                  DECODED_EXTRAS(EXTRA_LABEL)
#define PAIR_LABEL(first, second) [OP_##first##_##second] = &&do_##first##_##second,
                      PAIRS(PAIR_LABEL)};
  if (pieces) {
    *pieces = labels;
    return STOP_FAULT;
  }
  uint32_t *const x = c->x;
  const uint64_t left = slots_left(m, t, c), limit = left < slice ? left : slice;
  uint64_t slots = 0, count = 0; /* issue slots and instructions since the call */
  const code_page *page = NULL;
  const operation *op = NULL;
  uint32_t pc = c->pc;
  machine_fault_kind kind = MACHINE_FAULT_NONE;
  rounding_mode mode = ROUND_NEAREST_EVEN;
  uint32_t unusual = unusual_rounding(c);
  stop reason = STOP_FAULT;
  block_copy block;

  c->fault = (machine_fault){0};
  float_clear_host_flags();
  goto enter;

  LOADS(INTEGER_LOAD)
  FLOAT_LOADS(FLOAT_LOAD)
  STORES(INTEGER_STORE)
  FLOAT_STORES(FLOAT_STORE)
  WIDE_LOADS(WIDE_LOAD)
  WIDE_STORES(WIDE_STORE)
  VALUES(VALUE)
  BRANCHES(BRANCH)

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
  if (!csr_execute(t, c, op, CLOCK() - op->block_cost * m->target.num_worker_contexts,
                   c->instructions + count - 1))
    FAULT(MACHINE_FAULT_INVALID_INSTRUCTION);
  unusual = unusual_rounding(c);
  if (page->key.controlled == (c->float_control != 0)) ENTER(op + 1);
  pc = PC() + 4;
  goto enter;

  /* f */
  PIECE(FADD_S, DO_FADD_S)
  PIECE(FSUB_S, SINGLE(FA - FB, float_add(SINGLES, S1, SNEG(S2), mode, FLAGS)))
  PIECE(FMUL_S, DO_FMUL_S)
  PIECE(FDIV_S, SINGLE(FA / FB, float_divide(SINGLES, S1, S2, mode, FLAGS)))
  PIECE(FSQRT_S, SINGLE(sqrtf(FA), float_sqrt(SINGLES, S1, mode, FLAGS)))
  ROUNDED(FMADD_S, FD, fast_multiply_add(FLAGS, S1, S2, S3),
          float_multiply_add(SINGLES, S1, S2, S3, mode, FLAGS))
  ROUNDED(FMSUB_S, FD, fast_multiply_add(FLAGS, S1, S2, SNEG(S3)),
          float_multiply_add(SINGLES, S1, S2, SNEG(S3), mode, FLAGS))
  ROUNDED(FNMSUB_S, FD, fast_multiply_add(FLAGS, SNEG(S1), S2, S3),
          float_multiply_add(SINGLES, SNEG(S1), S2, S3, mode, FLAGS))
  ROUNDED(FNMADD_S, FD, fast_multiply_add(FLAGS, SNEG(S1), S2, SNEG(S3)),
          float_multiply_add(SINGLES, SNEG(S1), S2, SNEG(S3), mode, FLAGS))
  PIECE(FCVT_S_W, SINGLE((float)(int32_t)A, float_from_signed(SINGLES, A, mode, FLAGS)))
  PIECE(FCVT_S_WU, SINGLE((float)(int64_t)A, float_from_integer(SINGLES, false, A, mode, FLAGS)))
  ROUNDED(FCVT_W_S, XD, fast_to_signed(FLAGS, S1), float_to_integer(SINGLES, S1, true, mode, FLAGS))
  ROUNDED(FCVT_WU_S, XD, fast_to_unsigned(FLAGS, S1),
          float_to_integer(SINGLES, S1, false, mode, FLAGS))
  EXACT(FSGNJ_S, FD, (S1 & 0x7fffffff) | (S2 & 0x80000000))
  EXACT(FSGNJN_S, FD, (S1 & 0x7fffffff) | (~S2 & 0x80000000))
  EXACT(FSGNJX_S, FD, S1 ^ (S2 & 0x80000000))
  EXACT(FMIN_S, FD, fast_minimum(FLAGS, S1, S2))
  EXACT(FMAX_S, FD, fast_maximum(FLAGS, S1, S2))
  EXACT(FEQ_S, XD, fast_equal(FLAGS, S1, S2))
  EXACT(FLT_S, XD, fast_less(FLAGS, S1, S2))
  EXACT(FLE_S, XD, fast_less_or_equal(FLAGS, S1, S2))
  EXACT(FCLASS_S, XD, float_classify(SINGLES, S1))
  EXACT(FMV_X_W, XD, S1)
  EXACT(FMV_W_X, FD, A)

  /* zfh */
  ROUNDED(FADD_H, FD, FAST_HALF(HFA + HFB), float_box(float_add(HALVES, HA, HB, mode, FLAGS)))
  ROUNDED(FSUB_H, FD, FAST_HALF(HFA - HFB), float_box(float_add(HALVES, HA, HNEG(HB), mode, FLAGS)))
  ROUNDED(FMUL_H, FD, FAST_HALF((HFA * HFB)),
          float_box(float_multiply(HALVES, HA, HB, mode, FLAGS)))
  ROUNDED(FDIV_H, FD, FAST_HALF(HFA / HFB), float_box(float_divide(HALVES, HA, HB, mode, FLAGS)))
  ROUNDED(FSQRT_H, FD, FAST_HALF(sqrtf(HFA)), float_box(float_sqrt(HALVES, HA, mode, FLAGS)))
  GENERAL(FMADD_H, FD, float_box(float_multiply_add(HALVES, HA, HB, HC, mode, FLAGS)))
  GENERAL(FMSUB_H, FD, float_box(float_multiply_add(HALVES, HA, HB, HNEG(HC), mode, FLAGS)))
  GENERAL(FNMSUB_H, FD, float_box(float_multiply_add(HALVES, HNEG(HA), HB, HC, mode, FLAGS)))
  GENERAL(FNMADD_H, FD, float_box(float_multiply_add(HALVES, HNEG(HA), HB, HNEG(HC), mode, FLAGS)))
  GENERAL(FCVT_S_H, FD, fast_widen(FLAGS, HA))
  ROUNDED(FCVT_H_S, FD, FAST_HALF(FA), float_box(float_convert(HALVES, SINGLES, S1, mode, FLAGS)))
  ROUNDED(FCVT_H_W, FD, FAST_HALF((float)(int32_t)A),
          float_box(float_from_signed(HALVES, A, mode, FLAGS)))
  ROUNDED(FCVT_H_WU, FD, FAST_HALF((float)(int64_t)A),
          float_box(float_from_integer(HALVES, false, A, mode, FLAGS)))
  GENERAL(FCVT_W_H, XD, float_to_integer(HALVES, HA, true, mode, FLAGS))
  GENERAL(FCVT_WU_H, XD, float_to_integer(HALVES, HA, false, mode, FLAGS))
  EXACT(FSGNJ_H, FD, float_box((HA & 0x7fff) | (HB & 0x8000)))
  EXACT(FSGNJN_H, FD, float_box((HA & 0x7fff) | (~HB & 0x8000)))
  EXACT(FSGNJX_H, FD, float_box(HA ^ (HB & 0x8000)))
  EXACT(FMIN_H, FD, float_box(float_minimum(HALVES, HA, HB, FLAGS)))
  EXACT(FMAX_H, FD, float_box(float_maximum(HALVES, HA, HB, FLAGS)))
  EXACT(FEQ_H, XD, float_equal(HALVES, HA, HB, FLAGS))
  EXACT(FLT_H, XD, float_less(HALVES, HA, HB, false, FLAGS))
  EXACT(FLE_H, XD, float_less(HALVES, HA, HB, true, FLAGS))
  EXACT(FCLASS_H, XD, float_classify(HALVES, HA))
  EXACT(FMV_X_H, XD, (uint32_t)(int16_t)S1) /* no matter what is above it */
  EXACT(FMV_H_X, FD, float_box(A))

  /* packed */
  PACKED(PACKED_PIECE)
  FUNCTIONS(FUNCTION_PIECE)
  PAIR_FUNCTIONS(PAIR_FUNCTION_PIECE)
  EXACT(TILE_HIGH, FD, S1_HIGH)
  EXACT(TILE_LOW, FD, S1)
  EXACT(SORT4X16LO, FD, (S1 & 0xffff) | S2 << 16)
do_TILE_PAIR: { /* rd may be one of the others */
  uint32_t high = S2;
  FD = S1;
  FD_HIGH = high;
  NEXT();
}
do_FSGNJ_D: {
  uint32_t high = (S1_HIGH & 0x7fffffff) | (S2_HIGH & 0x80000000);
  FD = S1;
  FD_HIGH = high;
  NEXT();
}

  /* tile */
do_TILE_SYNC:
  SUPERVISOR_ONLY();
  if (op->rd == ISA_SYNC_ANS) {
    c->sync_argument = m->at.acks[t->number].zone;
    if (m->at.acks[t->number].open) STOP(STOP_ANS);
    ENTER(op + 1);
  }
  if (has_open_syncs(c, &m->at.acks[t->number])) FAULT(MACHINE_FAULT_INVALID_OPERAND);
  c->sync_argument = op->rd;
  STOP(STOP_SYNC);
do_TILE_SANS:
  SUPERVISOR_ONLY();
  if (has_open_syncs(c, &m->at.acks[t->number]) ||
      !acknowledge(c, &m->at.acks[t->number], op, CLOCK()))
    FAULT(MACHINE_FAULT_INVALID_OPERAND);
  ENTER(op + 1);
do_TILE_HOST_SYNC:
  SUPERVISOR_ONLY();
  if (has_open_syncs(c, &m->at.acks[t->number])) FAULT(MACHINE_FAULT_INVALID_OPERAND);
  c->sync_argument = A;
  c->host_code = B;
  c->sync_rd = op->rd;
  STOP(STOP_HOST_SYNC);
do_TILE_EXCHANGE:
  SUPERVISOR_ONLY();
  if (has_open_syncs(c, &m->at.acks[t->number])) FAULT(MACHINE_FAULT_INVALID_OPERAND);
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
do_TILE_RUN_ALL:
  SUPERVISOR_ONLY();
  if (!start_workers(m, t, c, op, CLOCK())) FAULT(MACHINE_FAULT_INVALID_OPERAND);
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
  if (m->translation) translate_request(m, t, pc);
  if (!watches_calls(m, t)) goto jump;
  reason = STOP_CALL;
  goto paused;
do_TILE_PRINT:
  XD = print(m, t, c, A, B);
  ENTER(op + 1);
do_TILE_COPY:
do_TILE_COPY_ROWS: /* ends its block, so only its own slot has been paid */
  if (!block_copy_read(m, t, c, A, op->id == OP_TILE_COPY_ROWS, &block)) goto access_fault;
  if (block.slots > left - slots) goto no_time;
  block_copy_run(m, t, &block);
  slots += block.slots;
  XD = block.behind;
  ENTER(op + 1);
do_TILE_TRAP:
  c->fault.address = A;
  FAULT(MACHINE_FAULT_TRAP);

  PAIRS(PIECE_OF_PAIR)

do_CONTROLLED:
  if (__builtin_expect((IMM & unusual) == 0, 1) && float_operate_fast(c, op)) NEXT();
  ROUNDING(op->imm);
  kind = float_operate_controlled(t, c, op, mode);
  if (kind != MACHINE_FAULT_NONE) goto fault;
  NEXT();

do_NEXT_PAGE:
  pc = PC();
  goto jump;
do_NOT_CODE:
  FAULT(MACHINE_FAULT_INVALID_PC);
do_INVALID:
  FAULT(MACHINE_FAULT_INVALID_INSTRUCTION);

not_a_number:
  FD = float_single.nan;
  NEXT();

jump: /* to the instruction at pc, in any page */
  if (__builtin_expect(t->num_entries != 0, 0) && translate_has(t, c, pc)) {
    reason = STOP_NATIVE;
    goto paused;
  }
  if (__builtin_expect(c->returns_to == pc, 0) && pc) {
    reason = STOP_RETURN;
    goto paused;
  }
enter:
  page = find_page(m, t, c, pc);
  if (!page) {
    leave(t, c, slots * m->target.num_worker_contexts, count);
    return fault_at(m, t, c, MACHINE_FAULT_INVALID_PC, pc);
  }
  ENTER(page->operations + (pc - page->key.address) / 4);

no_time:
  FAULT(atomic_load(&m->stopped) ? MACHINE_FAULT_STOPPED : MACHINE_FAULT_OUT_OF_CYCLES);
out_of_cycles:
  if (slots > left) goto no_time;
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

stop interpret(machine *m, tile *t, context *c, uint64_t slice)
{
  return run(m, t, c, slice, NULL);
}

const void *const *interpret_pieces(void)
{
  const void *const *pieces;
  run(NULL, NULL, NULL, 0, &pieces);
  return pieces;
}
