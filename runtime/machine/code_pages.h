/* Predecoded code, which a context executes instead of instruction words.
 *
 * Code is decoded by pages of 256 words, when a context first enters the page. A page is a pure
 * function of its key (address, words, which of them are executable). So all tiles with the same
 * code at the same address share one page.
 *
 * Time is paid by the block: an operation carries the cost of everything from itself to the end of
 * its block (the next branch, jump, CSR or tile instruction, or the end of the page). A context
 * that enters at an operation pays `block_cost` there, and nothing more until the block ends. If it
 * leaves in the middle, by a fault, it gets back the `block_cost` of the operation at which it
 * leaves. */
#ifndef MACHINE_CODE_PAGES_H
#define MACHINE_CODE_PAGES_H

#include "isa/encoding.h"
#include <stddef.h>
#include <stdint.h>

enum { PAGE_WORDS = 256, PAGE_BYTES = 4 * PAGE_WORDS };

/* Integer register 0 as a destination: a register that nobody reads. */
enum { REGISTER_SINK = 32 };

/* What decoding adds to the instructions:
 *
 *   *_FAR      branch or jump to another page; imm = bytes from here instead of operations
 *   *_STACK    store relative to sp
 *   CONTROLLED the piece for operations that float control concerns, in pages for contexts that
 *              have some float control on
 *   NEXT_PAGE  behind the last operation of a page
 *   NOT_CODE   a word that is not executable
 *   INVALID    not an instruction */
#define DECODED_EXTRAS(X)                                                                          \
  X(JAL_FAR)                                                                                       \
  X(CONTROLLED)                                                                                    \
  X(NEXT_PAGE)                                                                                     \
  X(NOT_CODE)                                                                                      \
  X(INVALID)

/* Pairs of instructions that compilers make often, and that one piece executes: counters, addresses
 * and their accesses, sums of products. */
#define PAIRS(X)                                                                                   \
  X(ADDI, ADDI)                                                                                    \
  X(ADDI, BNE)                                                                                     \
  X(SW, ADDI)                                                                                      \
  X(LW, ADDI)                                                                                      \
  X(SH2ADD, LW)                                                                                    \
  X(ANDI, SH2ADD)                                                                                  \
  X(FLW, FLW)                                                                                      \
  X(FLW, FADD_S)                                                                                   \
  X(FLW, FMUL_S)                                                                                   \
  X(FMUL_S, FADD_S)                                                                                \
  X(FADD_S, FMUL_S)                                                                                \
  X(FADD_S, FADD_S)                                                                                \
  X(FSW, ADDI)

/* An operation's id is an isa_op or one of these. */
enum operation_extra {
  BEFORE_EXTRAS = ISA_NUM_OPS - 1,
#define FAR_ENUMERATOR(id, ...) OP_##id##_FAR,
  BRANCHES(FAR_ENUMERATOR)
#undef FAR_ENUMERATOR
#define STACK_ENUMERATOR(id, ...) OP_##id##_STACK,
      STORES(STACK_ENUMERATOR) FLOAT_STORES(STACK_ENUMERATOR) WIDE_STORES(STACK_ENUMERATOR)
#undef STACK_ENUMERATOR
#define EXTRA_ENUMERATOR(id) OP_##id,
          DECODED_EXTRAS(EXTRA_ENUMERATOR)
#undef EXTRA_ENUMERATOR
              OPERATION_COUNT,
  BEFORE_PAIRS = OPERATION_COUNT - 1, /* no operation's id: only their pieces are numbered */
#define PAIR_ENUMERATOR(first, second) OP_##first##_##second,
  PAIRS(PAIR_ENUMERATOR)
#undef PAIR_ENUMERATOR
};

/* Operations that round have their rounding mode in bits of `imm` from ROUNDING_SHIFT on. The usual
 * mode is to nearest even, or to zero if the result is an integer. 0: the usual mode. The bits of
 * frm: the usual mode as long as those bits of frm are 0. ROUNDS_UNUSUALLY: another mode. */
enum { ROUNDING_SHIFT = 16, ROUNDS_UNUSUALLY = 8 };

typedef struct operation {
  const void *piece; /* label in interpret(): executes this operation, perhaps the next one, too */
  uint8_t id;        /* isa_op or operation_extra */
  uint8_t rd, rs1, rs2;
  int32_t imm;
  uint32_t block_cost;  /* issue slots from here to the end of the block */
  uint32_t block_count; /* instructions */
} operation;

typedef struct code_key {
  uint32_t address;
  uint32_t controlled;                  /* 1: for contexts with float control */
  uint32_t executable[PAGE_WORDS / 32]; /* bit per word */
  uint32_t words[PAGE_WORDS];           /* 0 where not executable */
} code_key;

typedef struct code_page {
  code_key key;
  uint64_t hash;
  operation operations[PAGE_WORDS + 1]; /* the last one is NEXT_PAGE */
} code_page;

/* The decoded pages of a machine: a hash table with open addressing. */
typedef struct code_cache {
  uint16_t cost[POP_COST_CLASS_COUNT];
  const void *const *pieces; /* by id */
  code_page **slots;         /* num_slots, a power of 2 */
  size_t num_slots, num_pages;
} code_cache;

void code_cache_init(code_cache *cache, const pop_target *target, const void *const *pieces);
void code_cache_clear(code_cache *cache); /* frees all pages */

/* The page of `key`; it lives until code_cache_clear. */
const code_page *code_cache_get(code_cache *cache, const code_key *key);

#endif
