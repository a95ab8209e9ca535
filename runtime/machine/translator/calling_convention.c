/* Calling conventions: how the functions of a unit are called, and with which registers.
 *
 * A function takes the registers that it or its callees use as parameters, and returns those that
 * are written. So a call does not have to spill the others (interprocedural register sets: the
 * smallest ones that are closed under calls). Results for which the host has no registers go
 * through the context.
 *
 * Two kinds of functions are called by context, with all registers in it: the unit's entry, which
 * any code may call, and functions that call code that is not known beforehand, which may touch any
 * register. So are all functions that call these. */
#include "lift.h"

#include <populus/arena.h>

/* What LLVM's regcall convention returns in registers: 11 integers, two of which are the pc and the
 * time; 16 vectors. */
enum { INTEGER_RESULTS = 9, FLOAT_RESULTS = 16 };

static bool calls_unknown(const code_block *b)
{
  return (b->end == BLOCK_CALL && b->callee == UNIT_NONE) ||
         (b->end == BLOCK_INDIRECT && b->next != UNIT_NONE);
}

static void note_integer(uint32_t *set, uint32_t r)
{
  if (r > 0 && r < NUM_REGISTERS) *set |= 1u << r;
}

static void note_op(calling_convention *c, const code_op *op)
{
  note_integer(&c->writes_x, code_op_writes_x(op));
  if (op->id == OP_TILE_CALL) {
    enum { RA = 1, A0 = 10 };
    c->writes_x |= 1u << RA | 1u << A0;
  }
  c->x |= c->writes_x | code_op_reads_x(op);
  c->writes_f |= code_op_writes_f(op);
  c->f |= c->writes_f | code_op_reads_f(op);
  if (lift_is_half(op->id)) c->has_half = true;
}

static calling_convention own_needs(const code_unit *unit, size_t number)
{
  enum { SP = 2 }; /* the machine needs it to decide whether an access is legal */
  const code_function *f = &unit->functions[number];
  calling_convention c = {.x = 1u << SP, .by_context = number == 0};
  for (uint32_t n = 0; n < f->num_blocks; n++) {
    const code_block *b = &unit->blocks[f->first_block + n];
    c.by_context |= calls_unknown(b);
    c.calls |= calls_unknown(b) || b->callee != UNIT_NONE;
    for (uint32_t i = b->first_op; i < b->first_op + b->num_ops; i++) {
      const code_op *op = &unit->ops[i];
      note_op(&c, op);
      c.worst_slots += op->cost;
    }
  }
  return c;
}

/* Adds the registers of a callee. True if that has changed anything. */
static bool add_callee(calling_convention *c, const calling_convention *callee)
{
  calling_convention before = *c;
  c->x |= callee->x;
  c->f |= callee->f;
  c->writes_x |= callee->writes_x;
  c->writes_f |= callee->writes_f;
  c->by_context |= callee->by_context;
  return before.x != c->x || before.f != c->f || before.writes_x != c->writes_x ||
         before.writes_f != c->writes_f || before.by_context != c->by_context;
}

static bool add_callees(const code_unit *unit, calling_convention *conventions, size_t number)
{
  const code_function *f = &unit->functions[number];
  bool changed = false;
  for (uint32_t n = 0; n < f->num_blocks; n++) {
    int32_t callee = unit->blocks[f->first_block + n].callee;
    if (callee != UNIT_NONE && add_callee(&conventions[number], &conventions[callee]))
      changed = true;
  }
  return changed;
}

/* Returns by value those of the written registers that callers probably read first. */
static void choose_results(calling_convention *c)
{
  static const uint8_t wanted[] = {2,  10, 11, 8,  9,  18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 12,
                                   13, 14, 15, 16, 17, 1,  5,  6,  7,  28, 29, 30, 31, 3,  4};
  uint32_t left = INTEGER_RESULTS;
  for (size_t i = 0; i < sizeof wanted && left > 0; i++) {
    if (!(c->writes_x >> wanted[i] & 1)) continue;
    c->result_x |= 1u << wanted[i];
    left--;
  }
  left = FLOAT_RESULTS;
  for (uint32_t r = 0; r < NUM_FLOAT_WORDS && left > 0; r++) {
    if (!(c->writes_f >> r & 1)) continue;
    c->result_f |= UINT64_C(1) << r;
    left--;
  }
}

static uint32_t add_types(LLVMTypeRef *types, uint32_t count, uint64_t set, LLVMTypeRef type)
{
  for (uint32_t r = 0; r < NUM_FLOAT_WORDS; r++)
    if (set >> r & 1) types[count++] = type;
  return count;
}

/* Integer parameters have 64 bits because of a defect of LLVM 19. It removes the registers of
 * regcall's parameters, which the callee may change, from those that a call preserves, but only as
 * wide as the parameter is. So a value of 64 bits stayed in its register across a call that had a
 * parameter of 32 bits in the lower half (unit-machine-translate_calls). */
static void make_type(const lift *l, calling_convention *c)
{
  LLVMTypeRef types[2 + NUM_REGISTERS + NUM_FLOAT_WORDS] = {l->type.i32, l->type.i64};
  uint32_t count = add_types(types, 2, c->result_x, l->type.i32);
  count = add_types(types, count, c->result_f, l->type.single);
  c->result = LLVMStructTypeInContext(l->context, types, count, 0);
  types[0] = l->type.pointer;
  count = add_types(types, 2, c->x, l->type.i64);
  count = add_types(types, count, c->f, l->type.single);
  c->type = LLVMFunctionType(c->result, types, count, 0);
}

calling_convention *unit_conventions_find(const lift *l)
{
  const code_unit *unit = l->unit;
  calling_convention *conventions = pop_xcalloc(unit->num_functions, sizeof *conventions);
  for (size_t i = 0; i < unit->num_functions; i++) conventions[i] = own_needs(unit, i);
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t i = unit->num_functions; i-- > 0;)
      if (add_callees(unit, conventions, i)) changed = true;
  }
  for (size_t i = 0; i < unit->num_functions; i++) {
    if (conventions[i].by_context) {
      conventions[i].type = l->type.function;
      continue;
    }
    choose_results(&conventions[i]);
    make_type(l, &conventions[i]);
  }
  return conventions;
}
