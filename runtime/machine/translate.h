/* Interface of the machine and its translator.
 *
 * The translator (translator/) turns tile code into native code through LLVM. It is a module of its
 * own, loaded when there is something to translate: a program that never translates should not wait
 * for LLVM to start. It knows no machine. The machine hands over decoded code, a `unit`, and gets a
 * function that runs it on a `translated_frame`.
 *
 *   code words --translate_discover.c--> code_unit --translator/--> translated_code
 *
 * Native code does a part of what the interpreter would do. It starts at the unit's entry with
 * everything in the context. It returns with everything in the context, in front of the first
 * instruction that is not translated or that would fault. The interpreter goes on there, and finds
 * out what is wrong. So native code knows no faults, and everything up to that place is exact:
 * registers, memory, cycles, instructions.
 *
 * Exceptions: fflags (tiles whose code can read them are not translated), and rounding modes (no
 * native code runs for a context with frm != 0). Contexts under float control run on code that was
 * made for it (code_unit.checked). */
#ifndef MACHINE_TRANSLATE_H
#define MACHINE_TRANSLATE_H

#include "state.h"

enum { UNIT_NONE = -1 };

/* One instruction. `imm` of a jump is the address of its target. There are no *_FAR and *_STACK
 * forms and no extras. */
typedef struct code_op {
  uint8_t id; /* isa_op */
  uint8_t rd, rs1, rs2;
  int32_t imm;
  uint32_t cost; /* issue slots */
} code_op;

/* How a block ends, after its operations:
 *
 *   NEXT     goes on with `next`
 *   BRANCH   the last operation decides between `taken` and `next`
 *   JUMP     the last operation goes to `taken`
 *   CALL     the last operation (jal) calls `callee`, which is expected to return to `next`
 *   ENTER    the last operation (jal) calls a function that is inlined: its copy begins at `taken`
 *   INDIRECT the last operation (jalr, tile.call) goes to an address in a register; `next` is the
 *            block behind it, if it is expected to return there; `targets` are its probable
 *            targets
 *   RESOLVED no operation: an INDIRECT block has found that it calls `callee`, which begins at `pc`
 *            and is expected to return to `next`, the block at pc_end
 *   LEAVE    what is at `pc_end` is left to the interpreter; it is not among the operations */
typedef enum block_end {
  BLOCK_NEXT,
  BLOCK_BRANCH,
  BLOCK_JUMP,
  BLOCK_CALL,
  BLOCK_ENTER,
  BLOCK_INDIRECT,
  BLOCK_RESOLVED,
  BLOCK_LEAVE
} block_end;

/* translate_divisions.c: the case of a block that divides 64-bit integers. */
typedef enum code_division {
  DIVISION_NONE,
  DIVISION_WORDS,          /* a1 and a3 are 0, a2 is not */
  DIVISION_LONG_DIVISOR,   /* a3 is 8 or more */
  DIVISION_MIDDLE_DIVISOR, /* a3 is not 0 */
  DIVISION_LONG_DIVIDEND,  /* a3 is 0, a2 is not */
  NUM_DIVISIONS
} code_division;

typedef struct code_block {
  uint32_t pc, pc_end;
  uint32_t first_op, num_ops; /* in the unit's operations */
  block_end end;
  int32_t next, taken;                /* blocks of the same function, or UNIT_NONE */
  int32_t callee;                     /* CALL, RESOLVED: function of the unit, or UNIT_NONE */
  uint32_t first_target, num_targets; /* in the unit's targets */
  uint32_t division;                  /* code_division */
} code_block;

/* The blocks that can be reached from an entry without a call. The first one is the entry's. */
typedef struct code_function {
  uint32_t entry;
  uint32_t first_block, num_blocks; /* in the unit's blocks */
} code_function;

/* Words [start, end) of the tile's code. The unit's `words` has the words of all ranges, in
 * order. */
typedef struct code_range {
  uint32_t start, end;
} code_range;

/* A range of tile memory; multiples of 4. */
typedef struct code_window {
  uint32_t start, bytes;
} code_window;

enum { MOVED_WINDOW_BYTES = 1024, MOVED_OFFSET_BITS = 20 };

/* What the linker writes into a moved unit. */
typedef struct code_place {
  uint32_t *starts; /* to be freed */
  size_t num_starts;
  code_window writable, readable; /* if they are moved */
} code_place;

/* A function and those that it calls. Native code of a unit is right for every tile that has the
 * same words in the same ranges, and whose windows contain these. */
typedef struct code_unit {
  code_function *functions; /* the first is the unit's entry */
  size_t num_functions, functions_capacity;
  code_block *blocks;
  size_t num_blocks, blocks_capacity;
  code_op *ops;
  size_t num_ops, ops_capacity;
  int32_t *targets; /* blocks of the same function, of jump tables */
  size_t num_targets, targets_capacity;
  /* functions that the unit's pointers probably point to (translate_pointers.c) */
  int32_t *pointed;
  size_t num_pointed, pointed_capacity;
  code_range *ranges; /* ascending, not touching */
  size_t num_ranges, ranges_capacity;
  uint32_t *words;
  size_t num_words;
  /* All contexts of the unit's tiles may load from `readable` and store to `writable`, which lies
   * in `readable`. Most accesses are compared with these constant bounds. */
  code_window readable, writable;
  /* 1: right for contexts under float control (isa.h), too. Native code then leaves in front of an
   * operation whose result is not finite, or whose operands might be invalid. Otherwise 0. */
  uint32_t checked;
  /* Moved units (translate_move.c): the number of starts that addresses of code are relative to,
   * and which windows are moved. The size of a moved window is a power of two, up to
   * MOVED_WINDOW_BYTES; the linker says where it is. */
  uint32_t num_starts, writable_is_moved, readable_is_moved;
  uint32_t data_apart; /* 1: stores to constant addresses are probably not in `writable`; else 0 */
  uint32_t reads_all;  /* `readable` is the whole tile memory on every tile */
  /* some operation gives a half: not for contexts that round halves at random */
  uint32_t rounds_halves;
} code_unit;

/* What native code works on. */
typedef struct translated_frame {
  context *c;
  uint8_t *memory;       /* host's place of tile address 0 */
  uint64_t slots, extra; /* since the frame was made: issue slots, and slots minus instructions */
  uint64_t limit;        /* of slots; not above INT64_MAX */
  uint64_t clock, instructions; /* the context's when the frame was made */
  uint64_t slot_cycles;         /* of the clock, per slot */
  uintptr_t stack_end;          /* of the host: native code makes no calls below it */
  uint32_t tile_number;
  uint32_t *random; /* the context's state of random numbers (CSR_RANDOM) */
  /* The context's windows. Those of stores lie in that of loads, or are empty. */
  uint32_t readable_start, readable_bytes;
  uint32_t writable_start, writable_bytes;
  uint32_t stack_start, stack_bytes;
  /* The window around the last store that was in no other window. It is the own vertex's state, or
   * data between other segments, such as a codelet's static data. On tiles where some vertex writes
   * its own state, it is that state from the start. */
  uint32_t other_start, other_bytes;
  machine *m;
  tile *t;
  context *probe; /* for translated_access: has the context's number, sp and vertex state */
} translated_frame;

typedef void (*translated_code)(translated_frame *frame);

/* Bytes of the host's stack for native code of one frame and the helpers that it calls. */
enum { TRANSLATED_STACK_BYTES = 192 << 10 };

/* Helpers of native code. */

/* how: bytes (a multiple of the alignment) | alignment << ACCESS_ALIGN_SHIFT | flags */
enum {
  ACCESS_BYTES = 0xffff,
  ACCESS_ALIGN_SHIFT = 16,
  ACCESS_STORE = 1 << 24,
  ACCESS_BY_SP = 1 << 25
};
/* Are all accesses to the range legal, with this sp? Called if no window holds the range. */
uint32_t translated_access(translated_frame *frame, uint32_t start, uint32_t how, uint32_t sp);
/* Native code runs up to a limit of slots and then asks for more; so it notices that the run has
 * been stopped. This many slots take some ten milliseconds, and are many more than a counted loop
 * needs, whose guard wants time for all its iterations. */
enum { NATIVE_SLOTS = 1 << 25 };
/* The frame's limit is nearly used up. Adds slots to it and returns their number; 0 if the run ends
 * there. */
uint64_t translated_more_time(translated_frame *frame);
/* Native code of the frame's tile at `pc`; NULL: none. Sets the `other` window to the vertex's own
 * state; code that changes the context's vertex_state makes that window empty. */
translated_code translated_find(translated_frame *frame, uint32_t pc);
/* The result of an operation that is not lifted: of floating point, from the operands' registers;
 * of the table's VALUES, from two registers and the immediate. */
uint32_t translated_value(uint32_t id, uint32_t a, uint32_t b, uint32_t c, uint32_t mode);

/* Does the block copy (isa.h) whose descriptor is at `address`, if it is legal with this sp, and if
 * there is time: `left` slots and what can be added to the frame's limit. Returns its slots, its
 * own one included; 0: nothing is done. */
uint64_t translated_copy(translated_frame *frame, uint32_t address, uint32_t rows, uint32_t sp,
                         int64_t left);

typedef struct translator_helpers {
  uint32_t (*access)(translated_frame *, uint32_t, uint32_t, uint32_t);
  uint64_t (*more_time)(translated_frame *);
  translated_code (*find)(translated_frame *, uint32_t);
  uint32_t (*value)(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t);
  uint64_t (*copy)(translated_frame *, uint32_t, uint32_t, uint32_t, int64_t);
} translator_helpers;

/* The module's one symbol, translator_module. One thread at a time uses it. An object is an ELF
 * file with one function, whose name `name` determines. */
typedef struct translator translator;
typedef struct translated_object translated_object; /* code in memory */
enum { TRANSLATOR_DIGEST_BYTES = 32 };
typedef struct translator_interface {
  /* Always the first member: POPULUS_TRANSLATOR_CONTRACT of the module's build. In a module with
   * another contract the structs of this header have another layout or meaning. */
  const char *contract;
  /* Called first, in each thread that calls the module: base/llvm/fatal_handlers.h. */
  void (*set_fatal_handler)(void (*give_up)(const char *why));
  /* To be called in any thread that may end the process; needs memory. */
  void (*prepare_thread)(void);
  /* Errors are texts to be freed with `forget`. */
  translator *(*create)(const translator_helpers *helpers, char **error);
  /* What determines an object besides the unit: LLVM, the processor and its features. */
  const char *(*identity)(const translator *t);
  /* The unit's object, to be freed; NULL: see `error`. `throttle`, if not NULL, is called now and
   * then, when no lock of LLVM or the C library is held. It need not return. */
  uint8_t *(*compile)(translator *t, const code_unit *unit, const char *name,
                      void (*throttle)(void), size_t *size, char **error);
  /* Links bytes that `compile` has made by this name, now or earlier. Copies them. */
  translated_code (*link)(translator *t, const uint8_t *bytes, size_t size, const char *name,
                          const code_place *place, translated_object **object, char **error);
  void (*discard)(translated_object *object);
  void (*digest)(const void *bytes, size_t size, uint8_t digest[TRANSLATOR_DIGEST_BYTES]);
  void (*forget)(char *error);
  /* Nothing is to be translated now: gives back memory that can be had again. */
  void (*shrink)(void);
  void (*destroy)(translator *t); /* and all code that it has linked */
} translator_interface;

/* translate_discover.c: the unit that starts at `entry`; false if there is nothing to translate. */
bool code_unit_discover(machine *m, tile *t, uint32_t entry, code_unit *unit);
void code_unit_free(code_unit *unit);

/* translate_pointers.c: places in the tile's code whose addresses the unit's code makes, or loads
 * from a table whose address it makes; each once. To be freed. */
uint32_t *code_unit_find_pointers(const machine *m, const tile *t, const code_unit *unit,
                                  size_t *num_pointers);
/* Does it call through pointers? */
bool code_unit_calls_pointers(const code_unit *unit);

/* translate_divisions.c: does the block divide 64-bit integers? A code_division. */
uint32_t code_block_find_division(const machine *m, const tile *t, const code_block *block);
/* The words of such a block. */
const uint32_t *code_division_words(uint32_t division, uint32_t *num_words);

/* translate_inline.c: copies of small functions take the place of calls. */
void code_unit_inline(code_unit *unit);

/* translate_move.c: the unit without its place, as far as that is possible. It shares the targets
 * and words of `unit`. */
code_unit code_unit_move(const code_unit *unit, code_place *place);
void code_unit_free_moved(code_unit *moved);

/* translate_share.c: is native code of the unit right for the tile? */
bool code_unit_fits(const machine *m, const tile *t, const code_unit *code);
/* Sets the unit's windows, for `t` and all other tiles with its code. */
void code_unit_find_windows(const machine *m, const tile *t, code_unit *code);

#endif
