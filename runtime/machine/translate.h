/* What the machine and its translator say to each other.
 *
 * The translator (translator/) turns tile code into native code through LLVM. It is a module of its
 * own, loaded when there is something to translate, because a program that never translates should
 * not wait for LLVM to start. It sees no machine: the machine hands over decoded code, a `unit`, and
 * gets a function that runs it on a `translated_frame`.
 *
 *   code words --translate_discover.c--> code_unit --translator/--> translated_code
 *
 * Native code is a part of what the interpreter would do, and nothing more: it starts at the
 * unit's entry with everything in the context, and it comes back with everything in the context, in
 * front of the first instruction that is not translated or that would fault. The interpreter, which
 * goes on there, finds out what is wrong. So native code knows no faults, and what it did up to
 * there is exact: registers, memory, cycles, instructions. Exceptions: fflags (tiles whose code can
 * read them are not translated) and rounding modes (a context with frm != 0 is not either). Contexts under float
 * control run on code that was made for it (code_unit.checked). */
#ifndef MACHINE_TRANSLATE_H
#define MACHINE_TRANSLATE_H

#include "state.h"

enum { UNIT_NONE = -1 };

/* One instruction. Jumps have the address of their target in `imm`; there are no *_FAR and *_STACK
 * forms and no extras. */
typedef struct code_op {
  uint8_t id; /* isa_op */
  uint8_t rd, rs1, rs2;
  int32_t imm;
  uint32_t cost; /* issue slots */
} code_op;

/* How a block ends, after its operations:
 *   NEXT    goes on with `next`
 *   BRANCH  the last operation decides between `taken` and `next`
 *   JUMP    the last operation goes to `taken`
 *   CALL    the last operation (jal) calls `callee`, which is expected to return to `next`
 *   ENTER   the last operation (jal) calls a function of which `taken` is the first block of a copy
 *   DYNAMIC the last operation (jalr, tile.call) goes to an address; `next` is behind it, if that
 *           is where a return is expected; the `targets` are where it probably goes
 *   KNOWN   no operation: a DYNAMIC block has found that it calls `callee`, which is expected to return to `next`, the
 *           block at pc_end; `pc` is where it begins
 *   LEAVE   what is at `pc_end` is the interpreter's; it is not among the operations */
typedef enum block_end {
  BLOCK_NEXT,
  BLOCK_BRANCH,
  BLOCK_JUMP,
  BLOCK_CALL,
  BLOCK_ENTER,
  BLOCK_DYNAMIC,
  BLOCK_KNOWN,
  BLOCK_LEAVE
} block_end;

typedef struct code_block {
  uint32_t pc, pc_end;
  uint32_t first_op, num_ops; /* in the unit's operations */
  block_end end;
  int32_t next, taken;                /* blocks of the same function, or UNIT_NONE */
  int32_t callee;                     /* CALL: function of the unit, or UNIT_NONE */
  uint32_t first_target, num_targets; /* in the unit's targets */
} code_block;

/* What can be reached from an entry without a call. Its first block is the entry's. */
typedef struct code_function {
  uint32_t entry;
  uint32_t first_block, num_blocks; /* in the unit's blocks */
} code_function;

/* Words [start, end) of the tile's code; `words` are those of the ranges before, then these. */
typedef struct code_range {
  uint32_t start, end;
} code_range;

/* A range of tile memory; multiples of 4. */
typedef struct code_window {
  uint32_t start, bytes;
} code_window;

enum { MOVED_WINDOW_BYTES = 1024, MOVED_OFFSET_BITS = 20 };

/* What a moved unit leaves to the linker. */
typedef struct code_place {
  uint32_t *starts; /* to be freed */
  size_t num_starts;
  code_window writable, readable; /* those that are moved */
} code_place;

/* A function and those that it calls. Native code of a unit is right for every tile that has the
 * same words in the same ranges, and at least these windows. */
typedef struct code_unit {
  code_function *functions; /* the first is the unit's entry */
  size_t num_functions, functions_capacity;
  code_block *blocks;
  size_t num_blocks, blocks_capacity;
  code_op *ops;
  size_t num_ops, ops_capacity;
  int32_t *targets; /* blocks of the same function, of jump tables */
  size_t num_targets, targets_capacity;
  int32_t *
      pointed; /* functions of the unit that pointers in its code or tables point to (translate_pointers.c) */
  size_t num_pointed, pointed_capacity;
  code_range *ranges; /* ascending, not touching */
  size_t num_ranges, ranges_capacity;
  uint32_t *words;
  size_t num_words;
  /* All contexts of these tiles may load from and store to them; what may be stored to may be loaded
   * from, too. Bounds that are constants are what most accesses are compared with. */
  code_window readable, writable;
  /* For contexts under float control (isa.h), too: native code leaves in front of an operation whose result is not finite,
   * or whose operands might be invalid. Always 0 or 1. */
  uint32_t checked;
  /* Moved units (translate_move.c): addresses of code count from so many starts; of these windows it is known only that they
   * have a power of two of bytes, up to MOVED_WINDOW_BYTES, and where they are says the linker. */
  uint32_t num_starts, writable_is_moved, readable_is_moved;
  uint32_t
      data_apart; /* stores to addresses that its code has as constants probably are not in `writable`: 0 or 1 */
  uint32_t reads_all; /* `readable` is all of tile memory, on any tile */
  uint32_t
      rounds_halves; /* some operation's result is a half: not for contexts that round them at random */
} code_unit;

/* What native code works on. */
typedef struct translated_frame {
  context *c;
  uint8_t *memory; /* host's place of tile address 0 */
  uint64_t slots,
      extra;      /* issue slots since the frame was made, and how many more than instructions */
  uint64_t limit; /* of slots; not above INT64_MAX */
  uint64_t clock, instructions; /* the context's when the frame was made */
  uint64_t slot_cycles;         /* of the clock, per slot */
  uintptr_t stack_end;          /* of the host: native code calls no deeper */
  uint32_t tile_number;
  uint32_t *random; /* the context's state of random numbers (CSR_RANDOM) */
  /* The context's windows: start and bytes. Those of stores lie in that of loads, or are empty. */
  uint32_t readable_start, readable_bytes;
  uint32_t writable_start, writable_bytes;
  uint32_t stack_start, stack_bytes;
  /* Where the last store was that no other window holds: the state of the own vertex, which this is from its beginning on tiles
   * where some vertex writes its own, or data between other segments, such as a codelet's static ones. */
  uint32_t other_start, other_bytes;
  machine *m;
  tile *t;
  context *probe; /* for translated_access: has the context's number, sp and vertex state */
} translated_frame;

typedef void (*translated_code)(translated_frame *frame);

/* Of the host's stack, for native code of one frame and the helpers that it calls. */
enum { TRANSLATED_STACK_BYTES = 192 << 10 };

/* Helpers of native code. */

/* how: bytes (a multiple of the alignment) | alignment << ACCESS_ALIGN_SHIFT | … */
enum {
  ACCESS_BYTES = 0xffff,
  ACCESS_ALIGN_SHIFT = 16,
  ACCESS_STORE = 1 << 24,
  ACCESS_BY_SP = 1 << 25
};
/* Are all accesses to the range legal, with this sp? For those that no window holds. */
uint32_t translated_access(translated_frame *frame, uint32_t start, uint32_t how, uint32_t sp);
/* Native code knows only its limit of slots: after as many it asks for more, and so sees whether the run has been stopped.
 * They take some ten milliseconds, and are much more than a counted loop needs, which wants time for all its rounds. */
enum { NATIVE_SLOTS = 1 << 25 };
/* The frame's limit is used up, or nearly: slots that have been added to it, 0 if the run ends there. */
uint64_t translated_more_time(translated_frame *frame);
/* Native code that starts at `pc`; NULL if there is none for the frame's tile. Sets the window of the vertex's own state:
 * who changes the context's vertex_state makes it empty. */
translated_code translated_find(translated_frame *frame, uint32_t pc);
/* Result of an operation that has no short form: of floating point from the operands' registers, or of the table's
 * VALUES from two registers and the immediate. */
uint32_t translated_value(uint32_t id, uint32_t a, uint32_t b, uint32_t c, uint32_t mode);

/* Does the block copy (isa.h) whose descriptor is at `address` if it is legal, with this sp, and there is time: `left`
 * slots and what can be added to the frame's limit. Slots that it took, its own included; 0: nothing is done. */
uint64_t translated_copy(translated_frame *frame, uint32_t address, uint32_t rows, uint32_t sp,
                         int64_t left);

typedef struct translator_helpers {
  uint32_t (*access)(translated_frame *, uint32_t, uint32_t, uint32_t);
  uint64_t (*more_time)(translated_frame *);
  translated_code (*find)(translated_frame *, uint32_t);
  uint32_t (*value)(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t);
  uint64_t (*copy)(translated_frame *, uint32_t, uint32_t, uint32_t, int64_t);
} translator_helpers;

/* The module's one symbol, translator_module. Used by one thread at a time. An object is an ELF file
 * with one function, called as `name` says. */
typedef struct translator translator;
typedef struct translated_object translated_object; /* code in memory */
enum { TRANSLATOR_DIGEST_BYTES = 32 };
typedef struct translator_interface {
  /* First, whatever else changes: POPULUS_TRANSLATOR_CONTRACT of the module's build. A module with another
   * one lays the structs of this header out in another way, or means something else by them. */
  const char *contract;
  /* First of all, in each thread that calls the module: base/llvm/ends.h. */
  void (*ends_in)(void (*give_up)(const char *why));
  /* In any thread that may end the process; needs memory. */
  void (*prepare_thread)(void);
  /* Errors are texts to be freed with `forget`. */
  translator *(*create)(const translator_helpers *helpers, char **error);
  /* What else than the unit shapes an object: LLVM, processor and its features. */
  const char *(*identity)(const translator *t);
  /* The unit's object, to be freed; NULL: see `error`. `breathe`, if not NULL, is called now and
   * then, when no lock of LLVM or the C library is held: it need not return. */
  uint8_t *(*compile)(translator *t, const code_unit *unit, const char *name, void (*breathe)(void),
                      size_t *size, char **error);
  /* Only of bytes that `compile` has made, then or earlier, by that name. Copies them. */
  translated_code (*link)(translator *t, const uint8_t *bytes, size_t size, const char *name,
                          const code_place *place, translated_object **object, char **error);
  void (*discard)(translated_object *object);
  void (*digest)(const void *bytes, size_t size, uint8_t digest[TRANSLATOR_DIGEST_BYTES]);
  void (*forget)(char *error);
  /* Nothing is to be translated now: gives back memory that comes again by itself. */
  void (*shrink)(void);
  void (*destroy)(translator *t); /* and all code that it has linked */
} translator_interface;

/* translate_discover.c: the unit that starts at `entry`; false if nothing there is worth it. */
bool code_unit_discover(machine *m, tile *t, uint32_t entry, code_unit *unit);
void code_unit_free(code_unit *unit);

/* translate_pointers.c: places in the tile's code range that the unit's code makes the address of, or loads from a
 * table that it makes the address of; each once. To be freed. */
uint32_t *code_unit_find_pointers(const machine *m, const tile *t, const code_unit *unit,
                                  size_t *num_pointers);
/* Does it call through pointers? */
bool code_unit_calls_pointers(const code_unit *unit);

/* translate_inline.c: copies of small functions take the place of calls. */
void code_unit_inline(code_unit *unit);

/* translate_move.c: the unit without its place, as far as that is possible; targets and words are still the unit's. */
code_unit code_unit_move(const code_unit *unit, code_place *place);
void code_unit_free_moved(code_unit *moved);

/* translate_share.c: is native code of the unit right for the tile? */
bool code_unit_fits(const machine *m, const tile *t, const code_unit *code);
/* Sets the unit's windows, for `t` and all others that have its code. */
void code_unit_find_windows(const machine *m, const tile *t, code_unit *code);

#endif
