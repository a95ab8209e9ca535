/* Macros for the pieces of interpret(). They jump to labels of that function and use its variables:
 * x, the integer registers; slots and count, what has been paid; limit, page, mode, unusual. */
#ifndef MACHINE_PIECES_H
#define MACHINE_PIECES_H

#define NEXT()                                                                                     \
  do {                                                                                             \
    op++;                                                                                          \
    goto * op->piece;                                                                              \
  } while (0)

/* Enters a block at this operation, and pays for the block. */
#define ENTER(target)                                                                              \
  do {                                                                                             \
    op = (target);                                                                                 \
    slots += op->block_cost;                                                                       \
    count += op->block_count;                                                                      \
    if (__builtin_expect(slots > limit, 0)) goto out_of_cycles;                                    \
    goto * op->piece;                                                                              \
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

/* One instruction. */
#define PIECE(id, instruction) do_##id : instruction NEXT();

/* Two consecutive instructions (PAIRS of code_pages.h), as the macros DO_ADDI … Time, faults and
 * jumps to the second one are as if each were alone. */
#define PIECE_OF_PAIR(first, second)                                                               \
  do_##first##_##second : DO_##first op++;                                                         \
  DO_##second NEXT();

#define VALUE(id, mnemonic, mask, match, format, cost, expression) PIECE(id, XD = (expression);)

#define BRANCH_IF(condition) ENTER(op + ((condition) ? op->imm : 1));

#define BRANCH(id, mnemonic, mask, match, format, cost, condition)                                 \
  do_##id : BRANCH_IF(condition) do_##id##_FAR : if (!(condition)) ENTER(op + 1);                  \
  pc = PC() + IMM;                                                                                 \
  goto jump;

#define LOAD_VALUE(type, destination, expression)                                                  \
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
  }

#define INTEGER_LOAD(id, mnemonic, mask, match, format, cost, type)                                \
  PIECE(id, LOAD_VALUE(type, XD, (uint32_t)value))

/* A word as it is, a half in its box. */
#define FLOAT_LOAD(id, mnemonic, mask, match, format, cost, type)                                  \
  PIECE(id, LOAD_VALUE(type, FD, sizeof value == 2 ? float_box(value) : value))

#define STORE_VALUE(target, by_sp, type, expression)                                               \
  {                                                                                                \
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
  }

/* Both words of a register. If no window holds both, each is checked; a store writes both or
 * none. */
#define WIDE_PLACE(at, target, store, by_sp)                                                       \
  uint32_t address = A + IMM, offset = address - c->target.start;                                  \
  if (__builtin_expect((address & 3) || offset >= c->target.size || offset + 4 >= c->target.size,  \
                       0)) {                                                                       \
    at = memory_access(m, t, c, address, 4, store, by_sp);                                         \
    if (!at || !memory_access(m, t, c, address + 4, 4, store, by_sp)) goto access_fault;           \
  } else {                                                                                         \
    at = c->target.host + offset;                                                                  \
  }

#define WIDE_LOAD(id, ...)                                                                         \
  PIECE(id, {                                                                                      \
    const uint8_t *at;                                                                             \
    WIDE_PLACE(at, readable, false, false)                                                         \
    memcpy(&FD, at, 4);                                                                            \
    memcpy(&FD_HIGH, at + 4, 4);                                                                   \
  })

#define WIDE_STORE_VALUE(target, by_sp)                                                            \
  {                                                                                                \
    uint8_t *at;                                                                                   \
    WIDE_PLACE(at, target, true, by_sp)                                                            \
    memcpy(at, &S2, 4);                                                                            \
    memcpy(at + 4, &S2_HIGH, 4);                                                                   \
  }
#define WIDE_STORE(id, ...)                                                                        \
  PIECE(id, WIDE_STORE_VALUE(writable, false)) PIECE(id##_STACK, WIDE_STORE_VALUE(stack, true))

#define PACKED_PIECE(id, ...)                                                                      \
  PIECE(id, FD = packed_word(OP_##id, S1, S2, FLAGS);                                              \
        FD_HIGH = packed_word(OP_##id, S1_HIGH, S2_HIGH, FLAGS);)

#define FUNCTION_PIECE(id, ...) PIECE(id, FD = function_single(OP_##id, S1);)
#define PAIR_FUNCTION_PIECE(id, ...)                                                               \
  PIECE(id, FD = function_word(OP_##id, S1, FLAGS);                                                \
        FD_HIGH = function_word(OP_##id, S1_HIGH, FLAGS);)

#define INTEGER_STORE(id, mnemonic, mask, match, format, cost, type) STORE(id, type, B)
#define FLOAT_STORE(id, mnemonic, mask, match, format, cost, type) STORE(id, type, S2)
#define STORE(id, type, expression)                                                                \
  PIECE(id, STORE_VALUE(writable, false, type, expression))                                        \
  PIECE(id##_STACK, STORE_VALUE(stack, true, type, expression))

/* Floating point: sets `mode` to the rounding mode. */
#define ROUNDING(field)                                                                            \
  mode = (rounding_mode)((field) & 7);                                                             \
  if (mode == ROUND_DYNAMIC) mode = (rounding_mode)c->frm;                                         \
  if (__builtin_expect(mode > ROUND_NEAREST_AWAY, 0)) FAULT(MACHINE_FAULT_INVALID_INSTRUCTION)

/* `fast` is the result in the usual rounding mode (code_pages.h). */
#define ROUNDED(id, destination, fast, general)                                                    \
  PIECE(                                                                                           \
      id, if (__builtin_expect((IMM & unusual) == 0, 1)) { destination = (fast); } else {          \
        ROUNDING(op->imm);                                                                         \
        destination = (general);                                                                   \
      })

/* The same if `fast` is a float. NaNs are rare, and become canonical elsewhere (not_a_number). */
#define SINGLE(fast, general)                                                                      \
  if (__builtin_expect((IMM & unusual) == 0, 1)) {                                                 \
    uint32_t bits = single_to_bits(fast);                                                          \
    if (__builtin_expect(single_is_nan(bits), 0)) goto not_a_number;                               \
    FD = bits;                                                                                     \
  } else {                                                                                         \
    ROUNDING(op->imm);                                                                             \
    FD = (general);                                                                                \
  }

/* GENERAL: no fast case. EXACT: no rounding. */
#define GENERAL(id, destination, expression)                                                       \
  PIECE(id, ROUNDING(op->imm); destination = (expression);)

#define EXACT(id, destination, expression) PIECE(id, destination = (expression);)

#define FD c->f[op->rd]
#define XD x[op->rd]
#define S1 c->f[op->rs1]
#define S2 c->f[op->rs2]
#define FD_HIGH c->f[op->rd + 32]
#define S1_HIGH c->f[op->rs1 + 32]
#define S2_HIGH c->f[op->rs2 + 32]
#define S3 c->f[op->imm >> 8 & 31]
#define FA single_from_bits(S1)
#define FB single_from_bits(S2)
#define HA float_unbox(S1)
#define HB float_unbox(S2)
#define HC float_unbox(S3)
#define HFA half_to_single(HA)
#define HFB half_to_single(HB)
#define FLAGS (&c->fflags)
#define SINGLES (&float_single)
#define HALVES (&float_half)
#define SNEG(a) float_negate(SINGLES, a)
#define HNEG(a) float_negate(HALVES, a)

#define FAST_HALF(value) float_box(half_from_single((value), FLAGS))

/* Instructions for the supervisor only, for workers only. */
#define SUPERVISOR_ONLY()                                                                          \
  if (c->number != MACHINE_SUPERVISOR) FAULT(MACHINE_FAULT_INVALID_INSTRUCTION)
#define WORKER_ONLY()                                                                              \
  if (c->number == MACHINE_SUPERVISOR) FAULT(MACHINE_FAULT_INVALID_INSTRUCTION)

#define CLOCK() (c->clock + slots * m->target.num_worker_contexts)

/* The instructions of PAIRS. */
#define DO_ADDI XD = value_ADDI(A, B, IMM);
#define DO_ANDI XD = value_ANDI(A, B, IMM);
#define DO_SH2ADD XD = value_SH2ADD(A, B, IMM);
#define DO_BNE BRANCH_IF(taken_BNE(A, B))
#define DO_LW LOAD_VALUE(uint32_t, XD, value)
#define DO_SW STORE_VALUE(writable, false, uint32_t, B)
#define DO_FLW LOAD_VALUE(uint32_t, FD, value)
#define DO_FSW STORE_VALUE(writable, false, uint32_t, S2)
#define DO_FADD_S SINGLE(FA + FB, float_add(SINGLES, S1, S2, mode, FLAGS))
#define DO_FMUL_S SINGLE(FA *FB, float_multiply(SINGLES, S1, S2, mode, FLAGS))

#endif
