/* Lifting: tile code to LLVM IR.
 *
 *   code_unit --loops.c, loop_*.c--> counted loops (trip count known beforehand), their accesses
 *             --lift_guard.c--> the guard in front of such a loop; --lift_alias.c--> alias checks
 *             --calling_convention.c--> calling conventions
 *             --lift_function.c--> blocks; --lift_call.c--> calls
 *             --lift_state.c--> registers, time, leaving; --lift_*.c--> instructions
 *   LLVM module --lift_module.c, optimise.c, module.c--> object
 *   object --object_place.c, module.c--> native code
 *
 * Registers are stack slots (allocas) of the native function; LLVM promotes them to values. The
 * prologue fills them from the function's parameters or from the context; the epilogue writes them
 * back. A floating-point register has several slots:
 *
 *   f     its value as a single
 *   h     its value as a half (only in functions with half instructions)
 *   lazy_single, lazy_half   true: `f` (`h`) is the result of an operation. If it is a NaN, the
 *         tile has the canonical NaN there, although the host's bits may differ
 *
 * So a NaN need not be made canonical before its bits can be seen. LLVM removes the slots and flags
 * that are not needed.
 *
 * Time. `left` is the number of issue slots that may pass until there is no time left for all
 * blocks of the function (`worst_slots`). Each block subtracts the slots that it takes. Code that
 * leaves in the middle of a block gives the rest back. `extra`, the number of slots minus the
 * number of instructions, is kept in the same way. Both are in one counter, `time` = (left <<
 * EXTRA_BITS) + extra, so that one addition changes both (lift_pending_time.c says where). A block
 * with more than two instructions a slot changes the frame's `extra` instead; so the counter's
 * `extra` never grows faster than slots pass. The counter's `extra` is moved to the frame whenever
 * slots are added to the limit.
 *
 * The limit is tested only where every endless path must pass: at function entries, behind calls
 * and on backward edges. If `time` is negative there, the interpreter takes over, which knows
 * exactly where the limit is. (Counting down needs neither a register nor a comparison for the
 * limit.)
 *
 * Bounds checks. One check serves all accesses of a block whose addresses differ by constants, and
 * those that follow (checks.c). If no window holds the range, the machine is asked. If the machine
 * refuses, the interpreter goes on and meets the fault. An element of a table whose base the loop
 * does not change is tested by its index (lift_index.c).
 *
 * Loop versioning. An innermost counted loop is lifted twice. The guard in front of it computes the
 * trip count and the range of all accesses with affine or bounded addresses. If there is time for
 * all iterations, and each range is in one window, the fast copy runs. Its checks have been hoisted
 * into the guard, so LLVM can vectorise it. Otherwise the plain copy runs, which checks each access
 * and each iteration. A loop with early exits (exits that no counter decides) runs some iterations
 * in the plain copy before it comes to its guard, because most such loops end soon. Where an early
 * exit is taken, the fast copy goes back to the start of the iteration, in the plain copy. So only
 * the plain copy leads out of such a loop, and a range that is tested in it needs no test behind
 * the loop. */
#ifndef TRANSLATOR_LIFT_H
#define TRANSLATOR_LIFT_H

#include "machine/translate.h"

#include <llvm-c/Core.h>

/* Bits of `extra` in the counter of time; the top one is a sign. So few that the time of most
 * blocks is an immediate operand. */
enum { EXTRA_BITS = 27 };
_Static_assert(NATIVE_SLOTS <= 1 << (EXTRA_BITS - 2), "extra might reach the slots that are left");

/* Each floating-point register has two words: the low one, and NUM_REGISTERS behind it the high
 * one. */
enum { NUM_REGISTERS = 32, NUM_FLOAT_WORDS = 2 * NUM_REGISTERS };

/* affine.c */

enum { MAX_TERMS = 4 };

/* sum of coefficient * symbol + constant, modulo 2^32 */
typedef struct affine {
  bool known;
  uint8_t num_terms;
  uint16_t symbol[MAX_TERMS]; /* ascending; below NUM_REGISTERS: a register's value at the start */
  uint32_t coefficient[MAX_TERMS];
  uint32_t constant;
} affine;

typedef struct affine_registers {
  affine x[NUM_REGISTERS + 1];
} affine_registers;

affine affine_symbol(uint16_t symbol); /* 0: the constant 0 */
affine affine_add(affine a, uint32_t constant);
affine affine_add_scaled(affine a, affine b, uint32_t scale); /* a + scale * b */
bool affine_is_zero(const affine *a);
bool affine_same_terms(const affine *a, const affine *b);
/* Adds an access at base + offset, of alignment `own`, to accesses from the same base: `align` is
 * their largest alignment, and base + `rest` is a multiple of it, 0 <= rest < align. False if no
 * such `rest` exists. The first access starts with its own alignment. (Clang adds 2047 to a
 * pointer, and then the offsets from it are no multiples of 4.) */
bool align_together(uint32_t *align, uint32_t *rest, int64_t offset, uint32_t own);
bool affine_equal(const affine *a, const affine *b);
/* Executes the operation; the integer register that it has written, or NULL. */
affine *affine_execute(affine_registers *v, const code_op *op);

/* bounds.c: an upper bound of the operation's result. `bounds` has those of the symbols from
 * NUM_REGISTERS on. */
uint32_t affine_bound(const affine_registers *v, const uint32_t *bounds, const code_op *op);

/* block_graph.c */

typedef struct block_graph {
  const code_unit *unit;
  const code_block *blocks; /* of the function */
  uint32_t num_blocks;
  uint32_t *sequence; /* reachable blocks in reverse postorder */
  uint32_t num_reachable;
  uint32_t *order; /* position in it; UINT32_MAX if not reachable */
  uint32_t *dominator;
  uint32_t *tree_order;    /* position in a preorder of the dominator tree */
  uint32_t *num_dominated; /* itself among them; 0 if not reachable */
} block_graph;

block_graph block_graph_make(const code_unit *unit, const code_function *f);
void block_graph_free(block_graph *g);
uint32_t block_graph_num_successors(const block_graph *g, uint32_t block);
int32_t block_graph_successor(const block_graph *g, uint32_t block, uint32_t number);
/* In constant time. An unreachable block neither dominates nor is dominated. */
bool block_graph_dominates(const block_graph *g, uint32_t a, uint32_t b);
/* One step of finding a natural loop: adds the blocks that lead to one of its blocks without
 * passing the header, which is reachable. False if there were none. */
bool block_graph_grow_loop(const block_graph *g, uint32_t header, bool *contains);

/* loops.c. Symbols are registers at the loop's entry, loop-invariant values, and values of an
 * iteration that are bounded. */

enum { MAX_GROUPS = 32, MAX_INVARIANTS = 16, MAX_EXITS = 4, FIRST_INVARIANT = NUM_REGISTERS };
enum { FIRST_BOUNDED = FIRST_INVARIANT + MAX_INVARIANTS };

/* A loop-invariant value: every iteration loads it from the same place, or computes it from the
 * same operands, so the guard does it once. A load is invariant only if no store of the loop
 * touches its place; the guard tests that (an alias check). Also a product of an induction variable
 * and an invariant: the guard computes that of the first iteration (strength reduction). */
typedef struct loop_invariant {
  code_op op;
  bool load;
  affine a, b; /* the address of a load; else rs1 and rs2 */
  affine step; /* of a product; else 0 */
} loop_invariant;

/* Accesses whose addresses differ by constants or by bounded values. Round i touches at most [base
 * + lowest + i * step, base + highest + i * step). base + rest is a multiple of the largest
 * alignment; so is the step. */
typedef struct access_group {
  affine base; /* constant 0 */
  affine step; /* a constant, or a sum of loop invariants (a symbolic stride) */
  int32_t lowest, highest;
  /* the range ends scale * limit farther than `highest` (an index whose bound only the guard
   * knows) */
  uint32_t scale;
  affine limit;
  uint32_t align, rest; /* of align_together */
  bool load, store, by_sp;
  /* The guard computes, in 64 bits: base + lowest in the first iteration; the step; the range of
   * all iterations. */
  LLVMValueRef start, stride, from, to;
} access_group;

/* Where an access of a counted loop is. */
typedef struct hoisted_access {
  int32_t group;     /* UNIT_NONE: not hoisted */
  int32_t invariant; /* else UNIT_NONE: no invariant load */
  bool bounded;      /* the address is known in its iteration only; else: */
  int32_t offset;
} hoisted_access;

/* The loop goes on while `counter` (at the end of the block) and `bound` compare like this. */
typedef enum loop_test { LOOP_NOT_EQUAL, LOOP_SIGNED, LOOP_UNSIGNED } loop_test;

/* A block with a branch that may end the loop. */
typedef struct loop_exit {
  uint32_t block;
  affine counter, bound; /* `counter` is of the first iteration */
  int32_t step;          /* of the counter, per iteration */
  loop_test test;
  bool or_equal;
} loop_exit;

typedef struct counted_loop {
  uint32_t header, latch; /* blocks of the function */
  bool *contains;         /* by block; so is the next */
  bool *is_cold; /* the fast copy leaves this block out, and `contains` is false (loop_cold.c) */
  bool has_cold;
  loop_exit exits[MAX_EXITS]; /* the first is the latch's; the trip count is the least of theirs */
  uint32_t num_exits;
  /* early exits, which may be taken in any iteration: the trip count is an upper bound */
  bool ends_early;
  LLVMBasicBlockRef late_guard; /* of such a loop: the guard behind some plain iterations */
  uint64_t worst_slots;         /* of one iteration */
  affine steps[NUM_REGISTERS];  /* growth of each register per iteration, if known */
  /* Known: each iteration leaves this value in the register, which is assumed to be invariant. The
   * guard tests whether the register has that value at the loop's entry. */
  affine restored[NUM_REGISTERS];
  /* All iterations take the same time and none leaves native code (under float control: if they
   * raise nothing). So the time of all iterations is a product. */
  bool fixed_time;
  uint32_t num_ops; /* of such an iteration */
  /* Otherwise, if nothing in an iteration reads the time: the time of each path through an
   * iteration is summed apart and added at its end. To LLVM that is a reduction, which can be
   * vectorised. */
  bool sums_path_times;
  access_group groups[MAX_GROUPS];
  uint32_t num_groups, num_accesses; /* accesses in groups */
  /* loop_alias.c: the guard must check that groups with different steps do not overlap, or all
   * groups; the last iteration may be done twice if its loads get the same values again. */
  bool needs_alias_checks, needs_all_alias_checks, may_repeat_last;
  loop_invariant invariants[MAX_INVARIANTS];
  uint32_t num_invariants;
  hoisted_access *accesses; /* by operation of the function (index in the unit - first_op) */
} counted_loop;

/* Is the last iteration done in the plain copy? Then the fast copy itself never leads out of the
 * loop. */
static inline bool loop_ends_in_plain_copy(const counted_loop *loop)
{
  return loop->ends_early || loop->has_cold;
}

typedef struct function_loops {
  bool *is_target;  /* by block: is it the target of a backward edge? */
  uint32_t *order;  /* by block: position in reverse postorder */
  int32_t *loop_of; /* by block: the counted loop whose header it is, or UNIT_NONE */
  counted_loop *loops;
  size_t num_loops, loops_capacity;
} function_loops;

void function_loops_find(const code_unit *unit, const code_function *f, function_loops *loops);
void function_loops_free(function_loops *loops);

/* loop_cold.c: makes the blocks of `is_cause` cold, and all that are only on paths through them.
 * False, and nothing is done, if no path through an iteration is left. */
bool loop_exclude_cold(const block_graph *g, counted_loop *loop, const bool *is_cause);
/* Also makes cold the blocks that not every iteration executes and that branch to cold ones, and
 * what follows from that (the test whether a large number is infinite). */
void loop_exclude_forks(const block_graph *g, counted_loop *loop);
/* Is there one path through an iteration except for cold ones, is the latch the only exit, and is a
 * trial worth it? */
bool loop_has_one_likely_path(const block_graph *g, const counted_loop *loop);

/* loop_alias.c: sets `needs_alias_checks` and `may_repeat_last`. */
void loop_plan_alias_checks(const block_graph *g, counted_loop *loop);

/* loop_trial.c, for a loop whose accesses are all hoisted. */
bool loop_can_have_trial(const block_graph *g, const counted_loop *loop);

/* checks.c: the bounds check of an access. Either it tests the range of `bytes` bytes from its own
 * address + `from` on, for itself and others. Or it is covered by another access's test, and is
 * `from` bytes behind that access. */
typedef struct access_check {
  bool covered;
  /* of the accesses in the range: is one a store; is one a store relative to sp */
  bool store, by_sp;
  bool guess_stack, guess_data; /* where the address probably points (likely_pointers.c) */
  int32_t from;
  /* bytes is a multiple of align, a power of 2; 0: only the access itself is tested */
  uint32_t bytes, align;
  uint32_t tested_by; /* if covered: the operation that tests, an index of this array */
} access_check;

/* By operation of the function; to be freed. For the whole function, or for the fast copy of one
 * loop. */
access_check *function_checks_find(const code_unit *unit, const code_function *f,
                                   const function_loops *loops, const counted_loop *fast);

/* likely_pointers.c: integer registers (a bit each) that probably point into the stack, and into
 * static data. Only speed depends on it. */
typedef struct likely_pointers {
  uint32_t stack, data;
} likely_pointers;

/* At the start of each block of the function; to be freed. */
likely_pointers *likely_pointers_find(const code_unit *unit, const code_function *f);
/* Bits behind an operation, given those in front of it. */
likely_pointers likely_pointers_after(likely_pointers before, const code_op *op);

/* calling_convention.c: how a function is called. Sets have a bit per register. */

enum { UNWINDING = 1 }; /* in place of a pc; those are even */

typedef struct calling_convention {
  uint32_t x, writes_x; /* registers that it or its callees use, and write; never x0 */
  uint64_t f, writes_f;
  bool by_context; /* all registers in the context; only parameter: the frame */
  bool calls;
  bool has_half;        /* without its callees; so are the next two */
  uint64_t worst_slots; /* of all its blocks */
  uint32_t result_x; /* written registers that are returned as values; the rest is in the context */
  uint64_t result_f;
  /* Parameters: the frame; the time that is left, as the function counts it (lift_call.c:
   * rebase_time); `x`; `f`. Results: the pc, or UNWINDING if the interpreter goes on and all
   * written registers are in the context; the time; `result_x`; `result_f`. */
  LLVMTypeRef type, result;
} calling_convention;

struct lift;
/* By function of the unit; to be freed. */
calling_convention *unit_conventions_find(const struct lift *l);

/* lift_function.c */

/* Numbers of the writable window, then of the readable one: its start, and its size in bytes,
 * halves and words. Then starts of code. */
typedef enum moved_number { NUMBER_WRITABLE, NUMBER_READABLE = 4, NUMBER_STARTS = 8 } moved_number;

typedef struct lift_types {
  LLVMTypeRef i1, i8, i16, i32, i64, half, single, pointer;
  LLVMTypeRef function, access, more_time, find, value, copy; /* function types */
} lift_types;

/* The function, or the fast copy of a loop. */
typedef struct code_copy {
  LLVMBasicBlockRef *starts; /* by block; NULL: not in this copy */
  /* by block, its own time included (lift_pending_time.c); NULL: the time of all iterations is a
   * product */
  uint64_t *pending_times;
  access_check *checks; /* by operation of the function; so is the next */
  /* stack slots: addresses that a test has found legal; NULL: no slot yet (lift_memory.c) */
  LLVMValueRef *places;
} code_copy;

/* A bit for each register (words of floating-point ones). */
typedef struct register_set {
  uint32_t x;
  uint64_t f;
} register_set;

/* lift_control.c: saved values of register slots; NULL: not saved. */
typedef struct saved_registers {
  LLVMValueRef x[NUM_REGISTERS];
  LLVMValueRef single[NUM_FLOAT_WORDS], half[NUM_FLOAT_WORDS];
  LLVMValueRef lazy_single[NUM_FLOAT_WORDS], lazy_half[NUM_FLOAT_WORDS];
} saved_registers;

/* Operations that have been executed and whose results have not been tested yet. */
typedef struct untested_ops {
  uint32_t first;     /* in the unit */
  LLVMValueRef quiet; /* do their tests hold? NULL: there are none */
  /* is the result in this word finite? Not yet part of `quiet`; NULL: no test */
  LLVMValueRef finite[NUM_FLOAT_WORDS];
  saved_registers before; /* registers that the block writes from `first` on, as they were in front
                           * of it */
} untested_ops;

/* lift_index.c: base + (index << log). A NULL base: no element. */
typedef struct table_element {
  LLVMValueRef base, index;
  uint32_t log;
} table_element;

/* For each integer register: the operation of the unit, a sum, that has written it; negative: not
 * known. */
typedef struct block_sums {
  int32_t of[NUM_REGISTERS];
} block_sums;

typedef struct sum_slots {
  LLVMValueRef operand[2]; /* stack slots; NULL: none yet */
} sum_slots;

/* lift_call.c: a switch that many jumps by the same table share. */
typedef struct shared_jump {
  const code_block *first; /* the first of these jumps: has the targets */
  LLVMBasicBlockRef start;
  LLVMValueRef target; /* a stack slot */
} shared_jump;

typedef struct lift {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef b;
  lift_types type;
  LLVMValueRef access[2], more_time[2]; /* helpers for functions called by context, by regcall */
  LLVMValueRef find, value, copy_block; /* helpers */
  LLVMValueRef likely;                  /* metadata: weights of a branch */
  LLVMValueRef numbers;                 /* by moved_number: what linking a moved unit writes */
  LLVMValueRef *functions;
  const calling_convention *conventions; /* by function */
  const code_unit *unit;

  /* The current function: */
  const code_function *f;
  const calling_convention *own;
  LLVMValueRef function, frame, registers;
  LLVMValueRef memory;
  LLVMValueRef readable_start, readable_bytes, writable_start, writable_bytes, stack_start,
      stack_bytes;
  LLVMValueRef time; /* a stack slot */
  LLVMValueRef x[NUM_REGISTERS + 1];
  LLVMValueRef single[NUM_FLOAT_WORDS], half[NUM_FLOAT_WORDS];
  LLVMValueRef lazy_single[NUM_FLOAT_WORDS], lazy_half[NUM_FLOAT_WORDS];
  bool has_half;
  code_copy plain, fast_copy;
  LLVMBasicBlockRef *guards; /* by header of a counted loop */
  /* by target of backward edges in the plain copy: where they all meet; NULL: none yet */
  LLVMBasicBlockRef *shared_latches;
  /* registers at the start of a fast iteration, for early exits; NULL: not written */
  LLVMValueRef iteration_start_x[NUM_REGISTERS];
  function_loops loops;
  likely_pointers *block_pointers; /* by block */
  register_set *live;              /* by block: at its start (exit_registers.c) */
  bool *is_in_cycle;               /* by block (exit_registers.c) */
  /* by block, as the next: integer registers that the loop around it does not write
   * (lift_index.c) */
  uint32_t *invariant_x;
  block_sums *sums;        /* at the start of the block */
  sum_slots *sum_slots;    /* by operation of the function */
  LLVMBasicBlockRef leave; /* lift_state.c: the shared exit; NULL: none yet */
  LLVMValueRef leave_pc;   /* a stack slot: the pc for it */
  uint32_t num_exits;      /* exits of single operations besides the shared one */
  shared_jump *jumps;
  size_t num_jumps, jumps_capacity;

  /* The current place: */
  const counted_loop *fast; /* NULL: not in a fast copy */
  /* behind the iterations of the fast copy; NULL: this is the last iteration */
  LLVMBasicBlockRef last_iteration;
  /* a stack slot: time of the iteration's paths so far (`sums_path_times`) */
  LLVMValueRef path_time;
  /* of the fast copy: stack slot; number of iterations, without a peeled last one */
  LLVMValueRef iteration, num_iterations;
  LLVMValueRef invariants[MAX_INVARIANTS]; /* of the fast copy */
  LLVMValueRef nan, half_nan;              /* of the fast copy: bits of the canonical NaNs */
  const code_copy *copy;
  const code_block *block;
  uint32_t op_index; /* in the unit */
  block_sums sums_here;
  uint64_t pending_time; /* time that has passed and is not in the counter (lift_pending_time.c) */
  untested_ops untested;
  /* Fast copies under float control, or of loops with cold paths. is_trial: these iterations only
   * find out whether something is raised or a cold path is taken, and set the slot `raised` if so.
   * is_tried: a trial has found neither. */
  bool is_trial, is_tried;
  LLVMValueRef raised;
} lift;

void lift_unit(lift *l); /* sets `functions` */
/* A string attribute: the function uses no floating-point register. */
#define LIFT_INTEGERS_ONLY "integers-only"

/* lift_state.c */

LLVMValueRef lift_constant(const lift *l, uint32_t value);
/* An address of tile code, as in the unit; in a moved unit it counts from a start. */
LLVMValueRef lift_pc(const lift *l, uint32_t pc);
LLVMValueRef lift_number(const lift *l, unsigned number);
LLVMValueRef lift_constant64(const lift *l, uint64_t value);
LLVMValueRef lift_compare(lift *l, LLVMIntPredicate predicate, LLVMValueRef a, LLVMValueRef b);
LLVMBasicBlockRef lift_new_block(lift *l, const char *name);
/* A stack slot of the function, made in the entry block. */
LLVMValueRef lift_new_slot(lift *l, LLVMTypeRef type, const char *name);
/* What comes next is built at the end of the block. */
void lift_at_end(lift *l, LLVMBasicBlockRef block);
/* Ends the basic block with a branch to `usual` if `condition` holds, which it nearly always
 * does. */
void lift_likely(lift *l, LLVMValueRef condition, LLVMBasicBlockRef usual, LLVMBasicBlockRef rare);
/* A call of LLVM's intrinsic of that name for these types. */
LLVMValueRef lift_intrinsic(lift *l, const char *name, LLVMTypeRef *types, size_t num_types,
                            LLVMValueRef *operands, unsigned count);
/* The address of what lies `offset` bytes behind `base`. */
LLVMValueRef lift_field(lift *l, LLVMValueRef base, size_t offset);
/* A word of the translated_frame, loaded now. */
LLVMValueRef lift_frame_word(lift *l, size_t offset);
LLVMValueRef lift_x(lift *l, uint32_t r);
void lift_set_x(lift *l, uint32_t r, LLVMValueRef value);
/* The slots of the current function. */
void lift_make_slots(lift *l);
/* Registers and time from the frame and the context to the slots; and back, with the pc, for these
 * registers. */
void lift_load_state(lift *l);
void lift_store_state(lift *l, LLVMValueRef pc, register_set registers);
/* These registers alone. */
void lift_load_registers(lift *l, uint32_t x, uint64_t f);
void lift_store_registers(lift *l, uint32_t x, uint64_t f);
/* Leave native code: the interpreter goes on at `pc`, and these registers are written to the
 * context (exit_registers.c). _here: it goes on in front of the current operation, or of the first
 * untested one. Both end the basic block. */
void lift_leave_at(lift *l, LLVMValueRef pc, register_set registers);
void lift_leave_here(lift *l);

/* lift_time.c */

/* From the frame to the counter, and back. */
void lift_load_time(lift *l);
void lift_store_time(lift *l);
/* The counter; the slots that are left by it; this many slots as a value of the counter. */
LLVMValueRef lift_time(lift *l);
LLVMValueRef lift_slots_left(lift *l);
LLVMValueRef lift_as_time(lift *l, LLVMValueRef slots);
/* To be called when slots have been added to the frame's limit. Moves `extra` to the frame. */
void lift_add_limit(lift *l, LLVMValueRef slots);
/* What these slots for `count` instructions take off the counter; and the rest, which goes to the
 * frame's `extra`. */
uint64_t lift_time_of(uint64_t slots, uint64_t count);
void lift_subtract_time(lift *l, uint64_t time);
void lift_add_excess_time(lift *l, uint64_t slots, uint64_t count);
/* Both at once; and `times` times (64 bits). */
void lift_add_time(lift *l, uint64_t slots, uint64_t count);
void lift_add_time_of(lift *l, LLVMValueRef times, uint64_t slots, uint64_t count);
/* Gives the time of the rest of the block back, the current operation included, because it is not
 * executed. */
void lift_uncount_rest(lift *l);
/* The value of a counter CSR in front of the current operation. */
LLVMValueRef lift_counter(lift *l, uint32_t number);

/* exit_registers.c */

/* Of the current function. */
void lift_find_exit_registers(lift *l);
/* Registers to write to the context where native code is left: at the start of the block; in front
 * of the current operation; for a place that is not known. */
register_set lift_exit_registers_at(const lift *l, uint32_t block);
register_set lift_exit_registers_here(const lift *l);
register_set lift_exit_registers_unknown(const lift *l);

/* lift_pending_time.c */

/* By block; of the function, or of a loop whose iterations count their time; to be freed. */
uint64_t *lift_find_pending_times(const lift *l, const counted_loop *loop);
/* At the start of the current block. */
void lift_begin_time(lift *l, uint32_t number);
/* Subtracts the pending time from the counter. */
void lift_flush_time(lift *l);
/* In front of the first iteration of a fast copy; and at the end of each iteration but the last.
 * These also flush the time of the paths through the iteration. */
void lift_begin_path_times(lift *l, const counted_loop *loop);
void lift_flush_iteration_time(lift *l);
/* Where to branch to reach the block's start, `target`, from here: `target`, or a new block in
 * front of it that flushes the difference between the current pending time and the one that the
 * copy expects there. */
LLVMBasicBlockRef lift_flush_time_on_edge(lift *l, const code_copy *to, uint32_t block,
                                          LLVMBasicBlockRef target);

/* lift_function.c */
uint64_t lift_slots_of(const lift *l, const code_block *b);
/* Where to branch to get from the current block, `from`, to block `to` of the function. */
LLVMBasicBlockRef lift_edge(lift *l, uint32_t from, int32_t to, uint32_t target_pc);
/* The same for several blocks of the plain copy that all lead there. None of them ends an iteration
 * of a counted loop. */
LLVMBasicBlockRef lift_edge_of_several(lift *l, uint32_t to, uint32_t target_pc);
/* Leaves to `pc`, the start of the block, unless there is time for everything up to the next such
 * test, or the machine grants it. */
void lift_test_limit(lift *l, LLVMValueRef pc, uint32_t block);

/* lift_call.c: blocks that end with a call or an indirect jump. `number`: of the block. They end
 * the basic block. */
void lift_call(lift *l, uint32_t number, const code_op *op);
void lift_indirect(lift *l, uint32_t number, const code_op *op);
void lift_resolved(lift *l, uint32_t number);
/* Declares a function of the unit, with its type and convention. */
LLVMValueRef lift_declare(const lift *l, size_t number, const char *name);
void lift_begin(lift *l);
/* Returns to the caller with everything in the context. */
void lift_build_unwind(lift *l);

/* lift_guard.c: goes on with the loop's fast copy or with the plain one. Sets the starts of its
 * groups, and the number of iterations before the last. */
void lift_guard(lift *l, counted_loop *loop, LLVMValueRef *before_last);

/* lift_alias.c. Negative if the ranges of the two groups do not overlap; if no two groups
 * overlap, in any iteration, that must not. lift_mark_alias_scope: tells LLVM so, for one
 * access. */
LLVMValueRef lift_no_overlap(lift *l, const access_group *a, const access_group *b);
LLVMValueRef lift_groups_no_overlap(lift *l, const counted_loop *loop);
void lift_mark_alias_scope(lift *l, uint32_t group, LLVMValueRef access);
/* May the last iteration be done twice, so that all iterations can be whole vectors? */
LLVMValueRef lift_last_repeats(lift *l, const counted_loop *loop);
/* Computes the affine value. Its registers are those at the loop's entry. */
LLVMValueRef lift_affine(lift *l, const affine *a);
/* For the backward branch of the fast copy. */
void lift_keep_vectors_single(lift *l, LLVMValueRef branch);

/* lift_integer.c; false: no operation on integer registers alone */
bool lift_integer(lift *l, const code_op *op);
LLVMValueRef lift_branch_condition(lift *l, const code_op *op);
/* The operation's result for these operands; NULL if lift_integer.c does not know it. */
LLVMValueRef lift_integer_result(lift *l, const code_op *op, LLVMValueRef a, LLVMValueRef b);

/* lift_division.c: around the operations of a block that may divide 64-bit integers. */
void lift_begin_division(lift *l, LLVMValueRef operands[4]);
void lift_end_division(lift *l, LLVMValueRef operands[4]);

/* lift_index.c */

/* Of the current function. */
void lift_find_indices(lift *l);
void lift_free_indices(lift *l);
void lift_begin_sums(lift *l, uint32_t block);
void lift_before_op(lift *l, const code_op *op);
void lift_behind_op(lift *l, const code_op *op);
/* The element whose address the register holds in front of the current operation, if it does. */
table_element lift_element_at(lift *l, uint32_t r);

/* lift_memory.c */
bool lift_memory(lift *l, const code_op *op); /* false: no load or store */

/* lift_copy.c */
bool code_op_is_copy(const code_op *op);
bool lift_copy(lift *l, const code_op *op); /* false: no block copy */

/* lift_float_registers.c. `bits`: what the tile sees of a register, with canonical NaNs. Singles
 * and halves: what the host computes with. */
LLVMValueRef lift_f_bits(lift *l, uint32_t r);
/* The same, but LLVM does not see that several registers are read alike. Otherwise its vectorizer
 * would start from the exits, which are rare. (A layer of neurons became pairs, because exits have
 * pairs, where fours would fit.) */
LLVMValueRef lift_f_bits_fenced(lift *l, uint32_t r);
void lift_set_f_bits(lift *l, uint32_t r, LLVMValueRef bits);
LLVMValueRef lift_single(lift *l, uint32_t r);
LLVMValueRef lift_half(lift *l, uint32_t r);
/* Results of operations. */
void lift_set_single(lift *l, uint32_t r, LLVMValueRef value);
void lift_set_half(lift *l, uint32_t r, LLVMValueRef value);
void lift_copy_f(lift *l, uint32_t to, uint32_t from);
LLVMValueRef lift_as_single(lift *l, LLVMValueRef bits);
LLVMValueRef lift_as_bits(lift *l, LLVMValueRef single);
LLVMValueRef lift_is_nan(lift *l, LLVMValueRef single);
/* 16 bits to the bits of a register, and back. Bits that are no boxed half count as NaN. */
LLVMValueRef lift_box(lift *l, LLVMValueRef half_bits);
LLVMValueRef lift_unbox(lift *l, LLVMValueRef bits);

/* lift_packed.c */
bool lift_packed(lift *l, const code_op *op); /* false: none of PACKED, no move of words */

/* lift_functions.c */
bool lift_functions(lift *l, const code_op *op); /* false: none of FUNCTIONS and PAIR_FUNCTIONS */

/* lift_control.c */
/* Under float control: the operation counts only if this holds; else the interpreter goes on in
 * front of it. To be called before the operation writes a register. */
void lift_leave_unless(lift *l, LLVMValueRef condition);
/* The same for a result that must be finite: the current operation's, of words rs1, rs2 and rs3 +
 * `word`, for rd + `word`. */
void lift_need_finite(lift *l, uint32_t word, LLVMValueRef result);
/* In front of an operation: keeps the tests of results that it overwrites. */
void lift_note_writes(lift *l, const code_op *op);
/* In front of what cannot be undone: tests all conditions so far. */
void lift_flush_tests(lift *l);
/* In a trial: the fast copy is only run if this holds in all iterations. */
void lift_expect(lift *l, LLVMValueRef condition);
/* Is there a trial before the loop's fast copy? */
bool lift_has_trial(const lift *l, const counted_loop *loop);
/* Saves the registers that the loop writes, to restore them behind its trial. */
void lift_save_loop(lift *l, const counted_loop *loop, saved_registers *saved);
void lift_restore(lift *l, const saved_registers *saved);
/* Restores the registers in front of the first untested operation. Returns that operation, or the
 * current one if there is none. */
uint32_t lift_roll_back(lift *l);
LLVMValueRef lift_is_finite(lift *l, LLVMValueRef single);
LLVMValueRef lift_is_below(lift *l, LLVMValueRef single, double limit); /* is its magnitude? */

/* min_max.c */
/* The smaller or the larger of two singles. */
LLVMValueRef lift_min_max(lift *l, LLVMValueRef a, LLVMValueRef b, bool larger);
/* In all functions of the module; to be called when LLVM has found the constants. */
void min_max_expand(LLVMModuleRef module);

/* lift_float.c */
/* An operation on singles: sum, difference, product, quotient, square root (of `a`), minimum or
 * maximum. `id` says which; it may be the operation on halves. */
LLVMValueRef lift_arithmetic(lift *l, uint8_t id, LLVMValueRef a, LLVMValueRef b);
bool lift_float(lift *l,
                const code_op *op); /* false: nothing of F or Zfh; not for loads and stores */
uint32_t lift_rounding_of(const code_op *op);
/* Sets a result, which under float control must be finite. */
void lift_finish_half(lift *l, uint32_t r, LLVMValueRef result);

/* lift_conversion.c */
bool lift_conversion(lift *l, const code_op *op); /* false: none between integers and floats */
bool lift_is_half(uint8_t id);

/* The integer register that the operation writes; REGISTER_SINK or 0: none. */
uint8_t code_op_writes_x(const code_op *op);
/* Registers that it reads or writes, a bit each (words of floating-point ones). The reads of
 * floating-point registers are an upper bound. */
uint32_t code_op_reads_x(const code_op *op);
uint64_t code_op_reads_f(const code_op *op);
uint64_t code_op_writes_f(const code_op *op);
bool code_op_is_access(const code_op *op, bool *store, uint32_t *bytes);
/* Does it read or write a word of the random state (CSR_RANDOM)? */
bool code_op_is_random(const code_op *op);
/* Successors, by number; UNIT_NONE and repetitions are among them. */
uint32_t code_block_num_successors(const code_block *b);
int32_t code_block_successor(const code_unit *unit, const code_block *b, uint32_t number);

#endif
