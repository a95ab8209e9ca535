/* Lifting: tile code to LLVM IR.
 *
 *   code_unit --loops.c, loop_*.c--> which loops can be counted beforehand, what they access
 *             --lift_guard.c--> what is tested in front of them; --lift_apart.c--> what does not overlap
 *             --calling.c--> with which registers functions are called
 *             --lift_function.c--> blocks; --lift_call.c--> calls; --lift_state.c--> registers, time, leaving
 *             --lift_*.c--> instructions
 *   LLVM module --lift_module.c, optimise.c, module.c--> object --object_place.c, module.c--> native code
 *
 * Registers are stack slots of the native function (LLVM makes values of them), set where it begins from its
 * parameters or the context, and written back where it ends. A floating-point register has several slots:
 *
 *   f     what it is as a single
 *   h     what it is as a half (functions with half instructions only)
 *   lazy_single, lazy_half   true: `f` (`h`) is the result of an operation, and if it is a NaN, then
 *         the canonical one, although the host's may differ
 *
 * so that a NaN need not be made canonical before its bits can be seen. Which of them are needed
 * where, and what the flags are, LLVM finds out.
 *
 * Time. `left` is how many issue slots may pass until there is no time for all blocks of the function
 * (`worst_slots`) any more: it shrinks by what a block takes; who leaves in its
 * middle gives the rest back. The difference of slots and instructions, `extra`, grows alike. Both are in
 * one counter, `time` = left << EXTRA_BITS plus extra, so that one addition changes both (where: lift_debts.c). A
 * block with more than two instructions a slot changes the frame's `extra` instead, so the counter's
 * never grows faster than slots pass; it goes to the frame whenever slots are added to the limit. Whether
 * there is time is not asked at each block but where paths without end must come by: where functions
 * begin, behind calls, on backward edges. If `time` is negative there, the interpreter takes over: it
 * knows exactly where the limit is. (Counting down needs neither a register nor a comparison for
 * the limit.)
 *
 * Bounds checks. One check serves all accesses of a block whose addresses differ by constants, and those
 * that follow (checks.c). Where no window holds the range, the machine is asked; where it refuses, the
 * interpreter goes on, and meets the fault. An element of a table whose base stays in the loop is tested by its index (lift_index.c).
 *
 * Loop versioning. An innermost counted loop is lifted twice. The guard in front of it computes the trip
 * count, and what accesses with affine or bounded addresses will touch. If there is time for that many
 * rounds, and all of that is in one window, the fast copy runs. It has no checks, as they were hoisted into
 * the guard, so LLVM can vectorise it. Otherwise the plain copy runs, which checks each access and each
 * round. A loop that something else than counters can end, too (early exits), runs some rounds in the plain copy before it comes to
 * its guard, as most such loops end soon; and where it ends, the fast copy goes back to the start of the round, in the plain copy. So
 * the plain copy alone leads out, and what is tested in it needs no test behind it. */
#ifndef TRANSLATOR_LIFT_H
#define TRANSLATOR_LIFT_H

#include "machine/translate.h"

#include <llvm-c/Core.h>

/* Of the counter of time; the top bit is a sign. So few that what usual blocks take is an immediate operand. */
enum { EXTRA_BITS = 27 };
_Static_assert(NATIVE_SLOTS <= 1 << (EXTRA_BITS - 2), "extra might reach the slots that are left");

/* Each floating-point register is two: its low word, and NUM_REGISTERS behind that its high one. */
enum { NUM_REGISTERS = 32, NUM_FLOAT_WORDS = 2 * NUM_REGISTERS };

/* affine.c */

enum { MAX_TERMS = 4 };

/* sum of coefficient * symbol + constant, modulo 2^32 */
typedef struct affine {
  bool known;
  uint8_t num_terms;
  uint16_t
      symbol[MAX_TERMS]; /* ascending; below NUM_REGISTERS: a register's value where one began */
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
/* Accesses at base + offset, of alignments `own`: they go together if base + rest may be a multiple of the largest, for one number
 * `rest` below that. (Clang adds 2047 to a pointer, and then has other numbers than multiples of 4 for offsets.) Adds an access to
 * those that have these; the first begins with its own. */
bool align_together(uint32_t *align, uint32_t *rest, int64_t offset, uint32_t own);
bool affine_equal(const affine *a, const affine *b);
/* The integer register that the operation has written; NULL if there is none. */
affine *affine_execute(affine_registers *v, const code_op *op);

/* bounds.c: what the operation's result cannot be greater than. `bounds`: of the symbols from
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
/* In constant time. What is not reachable neither dominates nor is dominated. */
bool block_graph_dominates(const block_graph *g, uint32_t a, uint32_t b);
/* Adds blocks that lead to one of the natural loop without passing its header, which is reachable; until there are no more. */
bool block_graph_grow_loop(const block_graph *g, uint32_t header, bool *contains);

/* loops.c: symbols are registers where the loop is entered, values that no round changes, and values of a
 * round that are bounded. */

enum { MAX_GROUPS = 32, MAX_INVARIANTS = 16, MAX_EXITS = 4, FIRST_INVARIANT = NUM_REGISTERS };
enum { FIRST_BOUNDED = FIRST_INVARIANT + MAX_INVARIANTS };

/* What every round loads from the same place, or computes from the same operands: the guard does it once. A load is
 * only that if no store of the loop touches its place, which the guard finds out (an alias check). Or the product of what
 * grows by a constant and what stays: the guard computes that of the first round (strength reduction). */
typedef struct loop_invariant {
  code_op op;
  bool load;
  affine a, b; /* the address of a load; else rs1 and rs2 */
  affine step; /* of a product; else 0 */
} loop_invariant;

/* Accesses whose addresses differ by constants, or by bounded values: in round i they touch no more
 * than [base + lowest + i * step, base + highest + i * step). base + rest is a multiple of the largest alignment, and so is the
 * step. */
typedef struct access_group {
  affine base; /* constant 0 */
  affine step; /* a constant, or of values that no round changes (a symbolic stride) */
  int32_t lowest, highest;
  uint32_t
      scale; /* so many times `limit` farther than `highest` (an index below what only the guard knows) */
  affine limit;
  uint32_t align, rest; /* of align_together */
  bool load, store, by_sp;
  /* The guard computes, in 64 bits: base + lowest in the first round; the step; what all rounds touch. */
  LLVMValueRef start, stride, from, to;
} access_group;

/* How an access of a counted loop is reached. */
typedef struct hoisted_access {
  int32_t group;     /* UNIT_NONE: not hoisted */
  int32_t invariant; /* UNIT_NONE: not a load that the guard has done */
  bool bounded;      /* at an address that is known in its round only; else: */
  int32_t offset;
} hoisted_access;

/* When it goes on: while `counter` (where the block ends) and `bound` compare like that. */
typedef enum loop_test { LOOP_NOT_EQUAL, LOOP_SIGNED, LOOP_UNSIGNED } loop_test;

/* A block with a branch that may end the loop. */
typedef struct loop_exit {
  uint32_t block;
  affine counter, bound; /* `counter` is of the first round */
  int32_t step;          /* of the counter, per round */
  loop_test test;
  bool or_equal;
} loop_exit;

typedef struct counted_loop {
  uint32_t header, latch; /* blocks of the function */
  bool *contains;         /* by block, as the next */
  bool *
      is_rare; /* a part of the loop that its fast copy is without: `contains` is false (loop_rare.c) */
  bool has_rare;
  loop_exit exits[MAX_EXITS]; /* the first is the latch's; the trip count is the least of theirs */
  uint32_t num_exits;
  bool
      ends_early; /* other blocks may end it, too, in any round: the trip count is the most that it can be */
  LLVMBasicBlockRef late_guard; /* then: behind some rounds of the plain copy */
  uint64_t worst_slots;         /* of one round */
  affine steps[NUM_REGISTERS];  /* by how much a register grows in each round, if that is known */
  /* If known, each round ends with that in the register, which is taken to stay: the guard asks whether it begins so. */
  affine returned[NUM_REGISTERS];
  /* All rounds are alike, and go to their ends without leaving (under float control: if they raise nothing): their time is a
   * product. */
  bool fixed_time;
  uint32_t num_ops; /* of such a round */
  /* Else, if nothing in a round looks at the time: what its ways take is summed for itself, and added at its end. To LLVM, time is a
   * reduction then, which may be vectors. */
  bool sums_ways;
  access_group groups[MAX_GROUPS];
  uint32_t num_groups, num_accesses; /* accesses that are in groups */
  /* Groups that move differently, or all, are to be apart; the last round may be done twice where its loads get the same again:
   * loop_ways.c. */
  bool has_ways_apart, has_all_apart, may_repeat_last;
  loop_invariant invariants[MAX_INVARIANTS];
  uint32_t num_invariants;
  hoisted_access *accesses; /* by operation of the function (index in the unit - first_op) */
} counted_loop;

/* Has the fast copy only rounds that are not the last? So that it alone leads nowhere else. */
static inline bool loop_ends_in_plain_copy(const counted_loop *loop)
{
  return loop->ends_early || loop->has_rare;
}

typedef struct function_loops {
  bool *is_target;  /* by block: some edge into it goes backwards */
  uint32_t *order;  /* by block: position in reverse postorder */
  int32_t *loop_of; /* by block: the counted loop whose header it is, or UNIT_NONE */
  counted_loop *loops;
  size_t num_loops, loops_capacity;
} function_loops;

void function_loops_find(const code_unit *unit, const code_function *f, function_loops *loops);
void function_loops_free(function_loops *loops);

/* loop_rare.c: makes those blocks rare, and all that one only comes to by them or from them. False, and nothing is done, if that is
 * every way through a round. */
bool loop_leave_out(const block_graph *g, counted_loop *loop, const bool *is_cause);
/* And where, on a way that not all rounds go, one may turn to those: all that begins there (whether a large number is infinite). */
void loop_leave_out_forks(const block_graph *g, counted_loop *loop);
/* Is there one way through a round but for rare ones, one exit, at the latch, and is it worth a trial? */
bool loop_is_usually_straight(const block_graph *g, const counted_loop *loop);

/* loop_ways.c: sets `has_ways_apart` and `may_repeat_last`. */
void loop_look_at_ways(const block_graph *g, counted_loop *loop);

/* loop_trial.c: of a loop all of whose accesses are hoisted. */
bool loop_can_be_tried(const block_graph *g, const counted_loop *loop);

/* checks.c: what an access tests: `bytes` bytes from its own address + `from` on, for itself and
 * others; or nothing, if it is covered by such a test: it then is `from` bytes behind the access that has made it. */
typedef struct access_check {
  bool covered;
  bool store, by_sp;            /* somebody is a store; is a store relative to sp */
  bool guess_stack, guess_data; /* where the address probably points (likely_pointers.c) */
  int32_t from;
  uint32_t bytes, align; /* 0: only itself is tested; bytes is a multiple of align, a power of 2 */
  uint32_t tested_by;    /* if it is covered: the operation that tests, as an index of these */
} access_check;

/* By operation of the function; to be freed. Of the function as a whole, or of the fast copy of one
 * of its loops. */
access_check *function_checks_find(const code_unit *unit, const code_function *f,
                                   const function_loops *loops, const counted_loop *fast);

/* likely_pointers.c: integer registers (bit per register) that probably point into the stack, and to static data. Nothing depends on
 * it but speed. */
typedef struct likely_pointers {
  uint32_t stack, data;
} likely_pointers;

/* For each block of the function, where it begins; to be freed. */
likely_pointers *likely_pointers_find(const code_unit *unit, const code_function *f);
/* Bits behind an operation, given those in front of it. */
likely_pointers likely_pointers_after(likely_pointers before, const code_op *op);

/* calling.c: how a function is called. Sets have a bit per register. */

enum { LEFT_FUNCTION = 1 }; /* in place of a pc, which is even */

typedef struct calling {
  uint32_t x, writes_x; /* what it uses, or what it calls; x[0] is in none */
  uint64_t f, writes_f;
  bool by_context; /* called with everything in the context; no parameters but the frame */
  bool calls;
  bool has_half;        /* as the next two, of itself alone */
  uint64_t worst_slots; /* of all its blocks */
  uint32_t
      result_x; /* of what is written: what is returned as values; the rest is in the context */
  uint64_t result_f;
  /* Parameters: the frame, `left` as the function counts it (lift_state.c), `x`, `f`; results: the pc, or LEFT_FUNCTION if
   * the interpreter goes on and all that is written is in the context; `left`, `result_x`, `result_f`. */
  LLVMTypeRef type, result;
} calling;

struct lift;
/* By function of the unit; to be freed. */
calling *unit_callings_find(const struct lift *l);

/* lift_function.c */

/* Of the writable window, and then of the readable one, where it begins and how many bytes, halves and words it has; starts
 * of code. */
typedef enum moved_number { NUMBER_WRITABLE, NUMBER_READABLE = 4, NUMBER_STARTS = 8 } moved_number;

typedef struct lift_types {
  LLVMTypeRef i1, i8, i16, i32, i64, half, single, pointer;
  LLVMTypeRef function, access, more_time, find, value, copy; /* function types */
} lift_types;

/* The function, or the fast copy of a loop. */
typedef struct code_copy {
  LLVMBasicBlockRef *starts; /* by block; NULL: not in this copy */
  uint64_t *
      debts; /* by block: behind its time (lift_debts.c); NULL: time is counted behind all rounds */
  access_check *checks; /* by operation of the function, as the next */
  LLVMValueRef
      *places; /* of what a test has found good: stack slots; NULL: none yet (lift_memory.c) */
} code_copy;

/* A bit for each register (words of floating-point ones). */
typedef struct register_set {
  uint32_t x;
  uint64_t f;
} register_set;

/* lift_control.c: what slots of registers held; NULL: of others. */
typedef struct saved_registers {
  LLVMValueRef x[NUM_REGISTERS];
  LLVMValueRef single[NUM_FLOAT_WORDS], half[NUM_FLOAT_WORDS];
  LLVMValueRef lazy_single[NUM_FLOAT_WORDS], lazy_half[NUM_FLOAT_WORDS];
} saved_registers;

/* Operations that are done and not tested. */
typedef struct untested_ops {
  uint32_t first;     /* in the unit */
  LLVMValueRef quiet; /* do their tests hold? NULL: there are none */
  LLVMValueRef finite
      [NUM_FLOAT_WORDS];  /* is the result that the word has? Not in `quiet` yet; NULL: no test */
  saved_registers before; /* the first, those that the rest of the block writes */
} untested_ops;

/* lift_index.c: base + (index << log); base NULL: no such thing. */
typedef struct table_element {
  LLVMValueRef base, index;
  uint32_t log;
} table_element;

/* For each integer register: the operation of the unit that has made it, a sum; negative: none that is known. */
typedef struct block_sums {
  int32_t of[NUM_REGISTERS];
} block_sums;

typedef struct sum_slots {
  LLVMValueRef operand[2]; /* stack slots; NULL: none yet */
} sum_slots;

/* lift_call.c: where jumps go by the same table, if there are many. */
typedef struct shared_jump {
  const code_block *first; /* of these jumps: has the targets */
  LLVMBasicBlockRef start;
  LLVMValueRef target; /* a stack slot */
} shared_jump;

typedef struct lift {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef b;
  lift_types type;
  LLVMValueRef access[2],
      more_time[2]; /* helpers for functions that are called by context, by regcall */
  LLVMValueRef find, value, copy_block; /* helpers */
  LLVMValueRef likely;                  /* metadata: weights of a branch */
  LLVMValueRef numbers;                 /* moved_number: what linking a moved unit writes */
  LLVMValueRef *functions;
  const calling *callings; /* by function */
  const code_unit *unit;

  /* The current function: */
  const code_function *f;
  const calling *own;
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
  LLVMBasicBlockRef
      *repeats; /* by target of backward edges in the plain copy: where all meet; NULL: none yet */
  LLVMValueRef
      at_round[NUM_REGISTERS]; /* of the fast copy of a loop that ends early; NULL: not written */
  function_loops loops;
  likely_pointers *block_pointers; /* by block */
  register_set *live;              /* where it begins, by block (leaving.c) */
  bool *is_in_cycle;               /* by block (leaving.c) */
  uint32_t *
      staying; /* by block, as the next: integer registers that the loop around it does not write (lift_index.c) */
  block_sums *sums;        /* where it begins */
  sum_slots *sum_slots;    /* by operation of the function */
  LLVMBasicBlockRef leave; /* lift_state.c: what many share; NULL: none yet */
  LLVMValueRef leave_pc;   /* a stack slot: where it leads */
  uint32_t num_exits;      /* of single operations, that are not that one */
  shared_jump *jumps;
  size_t num_jumps, jumps_capacity;

  /* The current place: */
  const counted_loop *fast;     /* NULL: not in a fast copy */
  LLVMBasicBlockRef last_round; /* behind the rounds of the fast copy; NULL: in it */
  LLVMValueRef way; /* a stack slot: what the round's ways have taken so far (`sums_ways`) */
  LLVMValueRef round, rounds; /* of the fast copy: stack slot; number, perhaps but for the last */
  LLVMValueRef invariants[MAX_INVARIANTS]; /* of the fast copy */
  LLVMValueRef nan, half_nan;              /* of the fast copy: bits of the canonical ones */
  const code_copy *copy;
  const code_block *block;
  uint32_t op_index; /* in the unit */
  block_sums sums_here;
  uint64_t debt; /* time that has passed and is not in the counter (lift_debts.c) */
  untested_ops untested;
  /* Under float control, or where rounds may go rare ways, in a fast copy: rounds that only find out whether there is something to raise,
   * or one goes such a way, and say so in `raised`, a slot; rounds that were found to do neither. */
  bool is_trial, is_tried;
  LLVMValueRef raised;
} lift;

void lift_unit(lift *l); /* sets `functions` */
/* A function's attribute (a string): it uses no floating-point register. */
#define LIFT_INTEGERS_ONLY "integers-only"

/* lift_state.c */

LLVMValueRef lift_constant(const lift *l, uint32_t value);
/* An address of tile code, as the unit has it: of a moved unit it counts from a start. */
LLVMValueRef lift_pc(const lift *l, uint32_t pc);
LLVMValueRef lift_number(const lift *l, unsigned number);
LLVMValueRef lift_constant64(const lift *l, uint64_t value);
LLVMValueRef lift_compare(lift *l, LLVMIntPredicate predicate, LLVMValueRef a, LLVMValueRef b);
LLVMBasicBlockRef lift_new_block(lift *l, const char *name);
/* A stack slot of the function, wherever the builder is. */
LLVMValueRef lift_new_slot(lift *l, LLVMTypeRef type, const char *name);
/* What comes next is built there. */
void lift_at_end(lift *l, LLVMBasicBlockRef block);
/* Ends the basic block with a branch that nearly always goes to `usual`, where `condition` holds. */
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
/* Registers and time from the frame and the context to the slots, and back with the pc (these registers). */
void lift_load_state(lift *l);
void lift_store_state(lift *l, LLVMValueRef pc, register_set registers);
/* These registers alone. */
void lift_load_registers(lift *l, uint32_t x, uint64_t f);
void lift_store_registers(lift *l, uint32_t x, uint64_t f);
/* The interpreter goes on at `pc`, for which these registers are written to the context (leaving.c); or in front of the current
 * operation, or of the first that is not tested. They end the basic block. */
void lift_leave_at(lift *l, LLVMValueRef pc, register_set registers);
void lift_leave_here(lift *l);

/* lift_time.c */

/* From the frame to the counter, and back. */
void lift_load_time(lift *l);
void lift_store_time(lift *l);
/* The counter; what it says of the slots that are left; and so many slots in the counter. */
LLVMValueRef lift_time(lift *l);
LLVMValueRef lift_slots_left(lift *l);
LLVMValueRef lift_as_time(lift *l, LLVMValueRef slots);
/* So many slots have been added to the frame's limit. `extra` goes to the frame. */
void lift_add_limit(lift *l, LLVMValueRef slots);
/* What so many slots for `count` instructions take off the counter; and what else of them goes to the frame's `extra`. */
uint64_t lift_time_of(uint64_t slots, uint64_t count);
void lift_subtract_time(lift *l, uint64_t time);
void lift_add_odd_time(lift *l, uint64_t slots, uint64_t count);
/* Both at once; and so many times (64 bits). */
void lift_add_time(lift *l, uint64_t slots, uint64_t count);
void lift_add_time_of(lift *l, LLVMValueRef times, uint64_t slots, uint64_t count);
/* Where the rest of the block is not executed, the current operation included. */
void lift_give_rest_back(lift *l);
/* A counter (CSR) as it is in front of the current operation. */
LLVMValueRef lift_counter(lift *l, uint32_t number);

/* leaving.c */

/* Of the current function. */
void lift_find_leaving(lift *l);
/* What is written to the context where native code is left: where the block begins; in front of the current operation; to somewhere
 * that is not known. */
register_set lift_leaving_at(const lift *l, uint32_t block);
register_set lift_leaving_here(const lift *l);
register_set lift_leaving_unknown(const lift *l);

/* lift_debts.c */

/* Of the function, or of the rounds of a loop that count their time; to be freed. */
uint64_t *lift_find_debts(const lift *l, const counted_loop *loop);
/* The current block begins. */
void lift_begin_time(lift *l, uint32_t number);
/* The debt goes to the counter. */
void lift_pay(lift *l);
/* In front of the first round of a fast copy, and at the end of each but the last: what its ways have taken is paid, too. */
void lift_begin_ways(lift *l, const counted_loop *loop);
void lift_pay_round(lift *l);
/* The way from the current place to that block's beginning, `target`, where the copy expects another debt: `target`, or a block in front
 * of it. */
LLVMBasicBlockRef lift_pay_on_way(lift *l, const code_copy *to, uint32_t block,
                                  LLVMBasicBlockRef target);

/* lift_function.c */
uint64_t lift_slots_of(const lift *l, const code_block *b);
/* The way from the current block, `from`, to block `to` of the function, as a basic block to branch to. */
LLVMBasicBlockRef lift_edge(lift *l, uint32_t from, int32_t to, uint32_t target_pc);
/* The same from several blocks of the plain copy, all of which lead there, and none of which ends a round of a counted loop. */
LLVMBasicBlockRef lift_edge_of_several(lift *l, uint32_t to, uint32_t target_pc);
/* Leaves to `pc`, where the block begins, unless there is, or can be had, time for everything up to the next such test. */
void lift_test_limit(lift *l, LLVMValueRef pc, uint32_t block);

/* lift_call.c: blocks that end with a call or a jump to a place that is not known. `number`: of the block. They end the
 * basic block. */
void lift_call(lift *l, uint32_t number, const code_op *op);
void lift_dynamic(lift *l, uint32_t number, const code_op *op);
void lift_known(lift *l, uint32_t number);
/* Of the unit: declared, with types and conventions. Where it begins: its parameters go to the slots. */
LLVMValueRef lift_declare(const lift *l, size_t number, const char *name);
void lift_begin(lift *l);
/* Back to the caller: everything is in the context. */
void lift_build_left(lift *l);

/* lift_guard.c: goes on with the loop's fast copy or with the plain copy; sets
 * what its groups start at, and the number of rounds in front of the last. */
void lift_guard(lift *l, counted_loop *loop, LLVMValueRef *before_last);

/* lift_apart.c: negative if what the two touch is apart; if all groups are that have to be, in all rounds. And LLVM is told. */
LLVMValueRef lift_apart(lift *l, const access_group *a, const access_group *b);
LLVMValueRef lift_groups_apart(lift *l, const counted_loop *loop);
void lift_mark_apart(lift *l, uint32_t group, LLVMValueRef access);
/* May the last round be done twice? So that all rounds can be whole vectors. */
LLVMValueRef lift_last_repeats(lift *l, const counted_loop *loop);
/* The affine value as it is where the builder is, with registers of the loop's entry. */
LLVMValueRef lift_affine(lift *l, const affine *a);
/* For the branch that goes round the fast copy. */
void lift_keep_vectors_single(lift *l, LLVMValueRef branch);

/* lift_integer.c: false if it is no operation on integer registers alone. */
bool lift_integer(lift *l, const code_op *op);
LLVMValueRef lift_branch_condition(lift *l, const code_op *op);
/* What the operation makes of these operands; NULL if it is none of lift_integer.c. */
LLVMValueRef lift_integer_result(lift *l, const code_op *op, LLVMValueRef a, LLVMValueRef b);

/* lift_index.c */

/* Of the current function. */
void lift_find_indices(lift *l);
void lift_free_indices(lift *l);
void lift_begin_sums(lift *l, uint32_t block);
void lift_before_op(lift *l, const code_op *op);
void lift_behind_op(lift *l, const code_op *op);
/* What the register holds in front of the current operation, if it is a place in a table. */
table_element lift_element_at(lift *l, uint32_t r);

/* lift_memory.c */
bool lift_memory(lift *l, const code_op *op); /* false: no load or store */

/* lift_copy.c */
bool code_op_is_copy(const code_op *op);
bool lift_copy(lift *l, const code_op *op); /* false: no block copy */

/* lift_float_registers.c: `bits` are what the tile sees of a register, with canonical NaNs; singles and halves are
 * what the host computes with. */
LLVMValueRef lift_f_bits(lift *l, uint32_t r);
/* The same, but LLVM does not see that several registers are asked for alike: what is done once in a while is nothing to begin with when
 * it looks for vectors (a layer of neurons became pairs, because exits have pairs, where fours would fit). */
LLVMValueRef lift_f_bits_apart(lift *l, uint32_t r);
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
/* 16 bits to those of a register, and back: what is no boxed half counts as NaN. */
LLVMValueRef lift_box(lift *l, LLVMValueRef half_bits);
LLVMValueRef lift_unbox(lift *l, LLVMValueRef bits);

/* lift_packed.c */
bool lift_packed(lift *l, const code_op *op); /* false: none of PACKED, no move of words */

/* lift_functions.c */
bool lift_functions(lift *l, const code_op *op); /* false: none of FUNCTIONS and PAIR_FUNCTIONS */

/* lift_control.c */
/* Under float control: what the operation does counts only if this holds; else the interpreter goes on in front of it. Called before it
 * writes a register. */
void lift_leave_unless(lift *l, LLVMValueRef condition);
/* The same of a result that must be finite, of the current operation's registers rs1, rs2 and rs3 + `word`, for rd + `word`. */
void lift_need_finite(lift *l, uint32_t word, LLVMValueRef result);
/* In front of an operation: results that it overwrites. */
void lift_note_writes(lift *l, const code_op *op);
/* In front of what cannot be taken back: tests what has been asked for so far. */
void lift_settle(lift *l);
/* In a trial: the fast copy counts only if this holds. */
void lift_expect(lift *l, LLVMValueRef condition);
/* Is a fast copy of the loop tried first? */
bool lift_tries(const lift *l, const counted_loop *loop);
/* What the loop's registers hold, to be there again behind its trial. */
void lift_save_loop(lift *l, const counted_loop *loop, saved_registers *saved);
void lift_restore(lift *l, const saved_registers *saved);
/* Registers as they were in front of the first operation that is not tested; it, or the current one if there is none. */
uint32_t lift_go_back(lift *l);
LLVMValueRef lift_is_finite(lift *l, LLVMValueRef single);
LLVMValueRef lift_is_below(lift *l, LLVMValueRef single, double limit); /* its magnitude is */

/* picks.c */
/* The smaller or the larger of two singles. */
LLVMValueRef lift_pick(lift *l, LLVMValueRef a, LLVMValueRef b, bool larger);
/* In all functions of the module, when constants are known. */
void picks_expand(LLVMModuleRef module);

/* lift_float.c */
/* A sum, difference or product, the smaller, the larger: of singles, as `id` says of them or of halves. */
LLVMValueRef lift_arithmetic(lift *l, uint8_t id, LLVMValueRef a, LLVMValueRef b);
bool lift_float(lift *l, const code_op *op); /* false: nothing of F or Zfh; not for access */
uint32_t lift_rounding_of(const code_op *op);
/* A result, which under float control must be finite. */
void lift_finish_half(lift *l, uint32_t r, LLVMValueRef result);

/* lift_conversion.c */
bool lift_conversion(lift *l, const code_op *op); /* false: none between integers and floats */
bool lift_is_half(uint8_t id);

/* The integer register that an operation writes; REGISTER_SINK or 0 where it does not. */
uint8_t code_op_writes_x(const code_op *op);
/* Registers that it reads or writes, a bit for each (words of floating-point ones); perhaps it reads fewer of these. */
uint32_t code_op_reads_x(const code_op *op);
uint64_t code_op_reads_f(const code_op *op);
uint64_t code_op_writes_f(const code_op *op);
bool code_op_is_access(const code_op *op, bool *store, uint32_t *bytes);
/* Does it read or write a word of the random state (CSR_RANDOM)? */
bool code_op_is_random(const code_op *op);
/* Blocks that may come next, by number; UNIT_NONE and repetitions are among them. */
uint32_t code_block_num_successors(const code_block *b);
int32_t code_block_successor(const code_unit *unit, const code_block *b, uint32_t number);

#endif
