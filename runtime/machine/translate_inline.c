/* Inlining: small functions of a unit are copied into their callers.
 *
 * A native call costs as much as some ten instructions: registers are moved to the callee's, and
 * time is compared with its limit twice. So a call of a small function becomes a jump to a copy of
 * its blocks. The call becomes BLOCK_ENTER, which sets the return address. A return of the copy
 * (`jr ra`) gets one target, the block behind the call. Like the targets of a jump table that is a
 * guess: native code compares it with the value of ra, and leaves if ra is another place. So
 * nothing is assumed about what the function does with its return address.
 *
 * A call through a register is compared with the functions that the unit's pointers point to
 * (translate_pointers.c). A match is a BLOCK_RESOLVED, and then a call like any other.
 *
 * A recursive function is copied into itself a few times, which saves as many calls. */
#include "translate.h"

#include <populus/arena.h>
#include <stdlib.h>

enum {
  SMALL_OPS = 160,       /* of a function that is worth a copy */
  SMALL_RECURSIVE = 64,  /* of one that calls itself */
  MAX_COPIED_OPS = 3000, /* in one function */
  /* of all copies in a unit: functions that share code each have a copy of it */
  MAX_UNIT_COST = 8000,
  CALL_COST = 8,      /* in operations: a call moves all registers */
  DIVISION_COST = 8,  /* likewise: native code hardly has more (translate_divisions.c) */
  MAX_CALL_DEPTH = 8, /* copies in copies */
  MAX_RECURSION = 2   /* likewise, of the same function */
};

/* A copy of a function's blocks: the function itself, or one for a call. */
typedef struct instance {
  size_t function;
  uint32_t first_block; /* in the new function */
  int32_t caller;       /* instance; UNIT_NONE: the function itself */
  int32_t returns_to;   /* block of the new function */
} instance;

typedef struct inliner {
  const code_unit *from;
  code_unit *to;
  uint32_t *num_ops; /* by function of `from` */
  uint32_t *costs;   /* likewise: operations, with CALL_COST for each call */
  instance *instances;
  size_t num_instances, instances_capacity;
  uint32_t first_block, copied_ops; /* of the new function */
  uint32_t copied_cost;             /* of all copies in the unit so far */
  int32_t *instance_of;             /* by block of the new function */
  size_t num_blocks, blocks_capacity;
} inliner;

static const code_function *function_of(const inliner *in, size_t number)
{
  return &in->from->functions[number];
}

static void count_ops(inliner *in)
{
  in->num_ops = pop_xcalloc(in->from->num_functions, sizeof *in->num_ops);
  in->costs = pop_xcalloc(in->from->num_functions, sizeof *in->costs);
  for (size_t i = 0; i < in->from->num_functions; i++) {
    const code_function *f = function_of(in, i);
    for (uint32_t n = 0; n < f->num_blocks; n++) {
      const code_block *b = &in->from->blocks[f->first_block + n];
      bool leaves = b->end == BLOCK_CALL || b->end == BLOCK_INDIRECT || b->end == BLOCK_LEAVE;
      uint32_t num_ops = b->division ? DIVISION_COST : b->num_ops;
      in->num_ops[i] += num_ops;
      in->costs[i] += num_ops + (leaves ? CALL_COST : 0);
    }
  }
}

static bool is_return(const code_unit *unit, const code_block *b)
{
  enum { RA = 1 };
  if (b->end != BLOCK_INDIRECT || b->num_targets || b->next != UNIT_NONE) return false;
  const code_op *op = &unit->ops[b->first_op + b->num_ops - 1];
  return op->id == OP_JALR && op->rs1 == RA && op->imm == 0;
}

static int32_t moved(int32_t block, uint32_t by)
{
  return block == UNIT_NONE ? UNIT_NONE : block + (int32_t)by;
}

/* Appends the function's blocks; returns go to the block `returns_to`. */
static void add_instance(inliner *in, size_t function, int32_t caller, int32_t returns_to)
{
  const code_function *f = function_of(in, function);
  code_unit *u = in->to;
  instance it = {function, (uint32_t)in->num_blocks, caller, returns_to};
  for (uint32_t n = 0; n < f->num_blocks; n++) {
    const code_block *old = &in->from->blocks[f->first_block + n];
    code_block b = *old;
    b.first_op = (uint32_t)u->num_ops;
    for (uint32_t i = 0; i < old->num_ops; i++)
      pop_push(u->ops, u->num_ops, u->ops_capacity, in->from->ops[old->first_op + i]);
    b.next = moved(old->next, it.first_block);
    b.taken = moved(old->taken, it.first_block);
    b.first_target = (uint32_t)u->num_targets;
    for (uint32_t i = 0; i < old->num_targets; i++)
      pop_push(u->targets, u->num_targets, u->targets_capacity,
               moved(in->from->targets[old->first_target + i], it.first_block));
    if (returns_to != UNIT_NONE && is_return(in->from, old)) {
      pop_push(u->targets, u->num_targets, u->targets_capacity, returns_to);
      b.num_targets = 1;
    }
    pop_push(u->blocks, u->num_blocks, u->blocks_capacity, b);
    pop_push(in->instance_of, in->num_blocks, in->blocks_capacity, (int32_t)in->num_instances);
  }
  in->copied_ops += in->num_ops[function];
  if (caller != UNIT_NONE) in->copied_cost += in->costs[function];
  pop_push(in->instances, in->num_instances, in->instances_capacity, it);
}

/* Is a copy of `callee` worth it for a call in instance `caller`? */
static bool is_wanted(const inliner *in, int32_t callee, int32_t caller)
{
  unsigned depth = 0, same = 0;
  for (int32_t i = caller; i != UNIT_NONE; i = in->instances[i].caller, depth++)
    same += in->instances[i].function == (size_t)callee;
  uint32_t ops = in->num_ops[callee];
  return depth < MAX_CALL_DEPTH && same <= MAX_RECURSION &&
         ops <= (same ? SMALL_RECURSIVE : SMALL_OPS) && in->copied_ops + ops <= MAX_COPIED_OPS &&
         in->copied_cost + in->costs[callee] <= MAX_UNIT_COST;
}

/* Makes the call at the end of the block a jump into a copy, if that is worth it. */
static void copy_callee(inliner *in, size_t number)
{
  const code_block *b = &in->to->blocks[in->first_block + number];
  bool calls = b->end == BLOCK_CALL || b->end == BLOCK_RESOLVED;
  if (!calls || b->callee == UNIT_NONE || b->next == UNIT_NONE) return;
  if (!is_wanted(in, b->callee, in->instance_of[number])) return;
  int32_t entry = (int32_t)in->num_blocks;
  add_instance(in, (size_t)b->callee, in->instance_of[number], b->next);
  code_block *call = &in->to->blocks[in->first_block + number];
  if (call->end == BLOCK_RESOLVED) { /* it has no operation, and so just goes on there */
    call->end = BLOCK_NEXT;
    call->next = entry;
    call->pc_end = call->pc;
  } else {
    call->end = BLOCK_ENTER;
    call->taken = entry;
    call->next = UNIT_NONE;
  }
  call->callee = UNIT_NONE;
}

static bool calls_pointer(const code_unit *u, const code_block *b)
{
  return b->end == BLOCK_INDIRECT && b->next != UNIT_NONE && !b->num_targets &&
         u->ops[b->first_op + b->num_ops - 1].id == OP_JALR;
}

/* Guarded direct calls (speculative devirtualisation): a call through a register gets the functions
 * that the unit's pointers point to as targets. */
static void guard_call(inliner *in, size_t number)
{
  code_unit *u = in->to;
  code_block caller = u->blocks[in->first_block + number];
  caller.first_target = (uint32_t)u->num_targets;
  caller.num_targets = (uint32_t)in->from->num_pointed;
  for (size_t i = 0; i < in->from->num_pointed; i++) {
    int32_t callee = in->from->pointed[i];
    code_block known = {.pc = function_of(in, (size_t)callee)->entry,
                        .pc_end = caller.pc_end,
                        .first_op = (uint32_t)u->num_ops,
                        .end = BLOCK_RESOLVED,
                        .next = caller.next,
                        .taken = UNIT_NONE,
                        .callee = callee};
    pop_push(u->targets, u->num_targets, u->targets_capacity, (int32_t)in->num_blocks);
    pop_push(u->blocks, u->num_blocks, u->blocks_capacity, known);
    pop_push(in->instance_of, in->num_blocks, in->blocks_capacity, in->instance_of[number]);
  }
  u->blocks[in->first_block + number] = caller;
}

static void make_function(inliner *in, size_t number)
{
  code_unit *u = in->to;
  in->num_instances = in->num_blocks = 0;
  in->copied_ops = 0;
  in->first_block = (uint32_t)u->num_blocks;
  add_instance(in, number, UNIT_NONE, UNIT_NONE);
  for (size_t n = 0; n < in->num_blocks; n++) { /* the number of blocks grows */
    const code_block *b = &u->blocks[in->first_block + n];
    if (calls_pointer(u, b)) guard_call(in, n);
    copy_callee(in, n);
  }
  pop_push(u->functions, u->num_functions, u->functions_capacity,
           (code_function){.entry = function_of(in, number)->entry,
                           .first_block = in->first_block,
                           .num_blocks = (uint32_t)in->num_blocks});
}

/* Makes the functions that are still called, in the order of their first call. If the unit calls
 * its own entry, the entry also becomes a second function, because functions of a unit are called
 * by another convention (translator/calling_convention.c). */
static void make_functions(inliner *in)
{
  code_unit *u = in->to;
  size_t num_wanted = 0, capacity = 0, *wanted = NULL; /* functions of `from` */
  int32_t *number = pop_xmalloc(in->from->num_functions * sizeof *number);
  for (size_t i = 0; i < in->from->num_functions; i++) number[i] = UNIT_NONE;
  pop_push(wanted, num_wanted, capacity, 0);
  for (size_t i = 0; i < num_wanted; i++) {
    make_function(in, wanted[i]);
    for (size_t n = in->first_block; n < u->num_blocks; n++) {
      int32_t *callee = &u->blocks[n].callee;
      if (*callee == UNIT_NONE) continue;
      if (number[*callee] == UNIT_NONE) {
        number[*callee] = (int32_t)num_wanted;
        size_t function = (size_t)*callee;
        pop_push(wanted, num_wanted, capacity, function);
      }
      *callee = number[*callee];
    }
  }
  free(number);
  free(wanted);
}

void code_unit_inline(code_unit *unit)
{
  code_unit made = *unit;
  made.functions = NULL;
  made.blocks = NULL;
  made.ops = NULL;
  made.targets = NULL;
  made.pointed = NULL;
  made.num_pointed = made.pointed_capacity = 0;
  made.num_functions = made.functions_capacity = made.num_blocks = made.blocks_capacity = 0;
  made.num_ops = made.ops_capacity = made.num_targets = made.targets_capacity = 0;
  inliner in = {.from = unit, .to = &made};
  count_ops(&in);
  make_functions(&in);
  free(in.num_ops);
  free(in.costs);
  free(in.instances);
  free(in.instance_of);
  free(unit->functions);
  free(unit->blocks);
  free(unit->ops);
  free(unit->targets);
  free(unit->pointed);
  *unit = made;
}
