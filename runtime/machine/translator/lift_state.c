/* What a native function has: the frame's fields, registers and time in stack slots, the ways out. */
#include "lift.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

LLVMValueRef lift_constant(const lift *l, uint32_t value)
{
  return LLVMConstInt(l->type.i32, value, 0);
}

LLVMValueRef lift_number(const lift *l, unsigned number)
{
  LLVMValueRef offset = lift_constant64(l, 4 * (uint64_t)number);
  LLVMValueRef place = LLVMConstGEP2(l->type.i8, l->numbers, &offset, 1);
  LLVMValueRef value = LLVMBuildLoad2(l->b, l->type.i32, place, "");
  LLVMSetMetadata(value, LLVMGetMDKindIDInContext(l->context, "invariant.load", 14),
                  LLVMMetadataAsValue(l->context, LLVMMDNodeInContext2(l->context, NULL, 0)));
  return value;
}

LLVMValueRef lift_pc(const lift *l, uint32_t pc)
{
  if (!l->unit->num_starts) return lift_constant(l, pc);
  uint32_t offset = pc & ((1u << MOVED_OFFSET_BITS) - 1);
  LLVMValueRef start = lift_number(l, NUMBER_STARTS + (pc >> MOVED_OFFSET_BITS));
  return LLVMBuildAdd(l->b, start, lift_constant(l, offset), "");
}

LLVMValueRef lift_constant64(const lift *l, uint64_t value)
{
  return LLVMConstInt(l->type.i64, value, 0);
}

LLVMValueRef lift_compare(lift *l, LLVMIntPredicate predicate, LLVMValueRef a, LLVMValueRef b)
{
  return LLVMBuildICmp(l->b, predicate, a, b, "");
}

LLVMBasicBlockRef lift_new_block(lift *l, const char *name)
{
  return LLVMAppendBasicBlockInContext(l->context, l->function, name);
}

void lift_likely(lift *l, LLVMValueRef condition, LLVMBasicBlockRef usual, LLVMBasicBlockRef rare)
{
  LLVMValueRef branch = LLVMBuildCondBr(l->b, condition, usual, rare);
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(l->context, "prof", 4), l->likely);
}

void lift_at_end(lift *l, LLVMBasicBlockRef block)
{
  LLVMPositionBuilderAtEnd(l->b, block);
}

LLVMValueRef lift_intrinsic(lift *l, const char *name, LLVMTypeRef *types, size_t num_types,
                            LLVMValueRef *operands, unsigned count)
{
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(l->module, id, types, num_types);
  return LLVMBuildCall2(l->b, LLVMGlobalGetValueType(function), function, operands, count, "");
}

LLVMValueRef lift_field(lift *l, LLVMValueRef base, size_t offset)
{
  LLVMValueRef index = lift_constant64(l, offset);
  return LLVMBuildGEP2(l->b, l->type.i8, base, &index, 1, "");
}

LLVMValueRef lift_frame_word(lift *l, size_t offset)
{
  return LLVMBuildLoad2(l->b, l->type.i32, lift_field(l, l->frame, offset), "");
}

#define FRAME(member) lift_field(l, l->frame, offsetof(translated_frame, member))
#define CONTEXT_PC() lift_field(l, l->registers, offsetof(context, pc))

/* Registers */

LLVMValueRef lift_x(lift *l, uint32_t r)
{
  if (r == 0 || r == REGISTER_SINK) return lift_constant(l, 0);
  return LLVMBuildLoad2(l->b, l->type.i32, l->x[r], "");
}

void lift_set_x(lift *l, uint32_t r, LLVMValueRef value)
{
  if (r != 0 && r != REGISTER_SINK) LLVMBuildStore(l->b, value, l->x[r]);
}

static LLVMValueRef x_place(lift *l, uint32_t r)
{
  return lift_field(l, l->registers, offsetof(context, x) + r * sizeof(uint32_t));
}

static LLVMValueRef f_place(lift *l, uint32_t r)
{
  return lift_field(l, l->registers, offsetof(context, f) + r * sizeof(uint32_t));
}

void lift_load_registers(lift *l, uint32_t x, uint64_t f)
{
  for (uint32_t r = 1; r < NUM_REGISTERS; r++)
    if (x >> r & 1) lift_set_x(l, r, LLVMBuildLoad2(l->b, l->type.i32, x_place(l, r), ""));
  for (uint32_t r = 0; r < NUM_FLOAT_WORDS; r++)
    if (f >> r & 1) lift_set_f_bits(l, r, LLVMBuildLoad2(l->b, l->type.i32, f_place(l, r), ""));
}

void lift_store_registers(lift *l, uint32_t x, uint64_t f)
{
  for (uint32_t r = 1; r < NUM_REGISTERS; r++)
    if (x >> r & 1) LLVMBuildStore(l->b, lift_x(l, r), x_place(l, r));
  for (uint32_t r = 0; r < NUM_FLOAT_WORDS; r++)
    if (f >> r & 1) LLVMBuildStore(l->b, lift_f_bits(l, r), f_place(l, r));
}

/* Slots at which there is just time for all blocks of the function. */
static LLVMValueRef last_slots(lift *l)
{
  LLVMValueRef limit = LLVMBuildLoad2(l->b, l->type.i64, FRAME(limit), "");
  return LLVMBuildSub(l->b, limit, lift_constant64(l, l->own->worst_slots), "");
}

static LLVMValueRef extra_bits(const lift *l)
{
  return lift_constant64(l, EXTRA_BITS);
}

LLVMValueRef lift_time(lift *l)
{
  return LLVMBuildLoad2(l->b, l->type.i64, l->time, "");
}

LLVMValueRef lift_slots_left(lift *l)
{
  LLVMValueRef half = lift_constant64(l, UINT64_C(1) << (EXTRA_BITS - 1));
  return LLVMBuildAShr(l->b, LLVMBuildAdd(l->b, lift_time(l), half, ""), extra_bits(l), "");
}

LLVMValueRef lift_as_time(lift *l, LLVMValueRef slots)
{
  return LLVMBuildShl(l->b, slots, extra_bits(l), "");
}

static void add_to(lift *l, LLVMValueRef place, LLVMValueRef value)
{
  LLVMValueRef old = LLVMBuildLoad2(l->b, l->type.i64, place, "");
  LLVMBuildStore(l->b, LLVMBuildAdd(l->b, old, value, ""), place);
}

void lift_add_limit(lift *l, LLVMValueRef slots)
{
  LLVMValueRef left = lift_as_time(l, lift_slots_left(l));
  add_to(l, FRAME(extra), LLVMBuildSub(l->b, lift_time(l), left, ""));
  LLVMBuildStore(l->b, LLVMBuildAdd(l->b, left, lift_as_time(l, slots), ""), l->time);
}

static LLVMValueRef slots_now(lift *l)
{
  return LLVMBuildSub(l->b, last_slots(l), lift_slots_left(l), "");
}

static void load_time(lift *l)
{
  LLVMValueRef slots = LLVMBuildLoad2(l->b, l->type.i64, FRAME(slots), "");
  LLVMValueRef left = LLVMBuildSub(l->b, last_slots(l), slots, "");
  LLVMBuildStore(l->b, lift_as_time(l, left), l->time);
}

void lift_store_state(lift *l, LLVMValueRef pc)
{
  lift_store_registers(l, l->own->writes_x, l->own->writes_f);
  LLVMBuildStore(l->b, slots_now(l), FRAME(slots));
  lift_add_limit(l, lift_constant64(l, 0));
  LLVMBuildStore(l->b, pc, CONTEXT_PC());
}

LLVMValueRef lift_new_slot(lift *l, LLVMTypeRef type, const char *name)
{
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b), entry = LLVMGetEntryBasicBlock(l->function);
  LLVMPositionBuilderBefore(l->b, LLVMGetFirstInstruction(entry));
  LLVMValueRef slot = LLVMBuildAlloca(l->b, type, name);
  lift_at_end(l, here);
  return slot;
}

static LLVMValueRef new_slot(lift *l, LLVMTypeRef type, const char *name, uint32_t number)
{
  char text[16];
  snprintf(text, sizeof text, "%s%u", name, number);
  return LLVMBuildAlloca(l->b, type, text);
}

static void mark_integers_only(lift *l)
{
  static const char name[] = LIFT_INTEGERS_ONLY;
  LLVMAttributeRef mark = LLVMCreateStringAttribute(l->context, name, sizeof name - 1, "", 0);
  LLVMAddAttributeAtIndex(l->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, mark);
}

void lift_make_slots(lift *l)
{
  const calling *own = l->own;
  l->has_half = own->has_half;
  for (uint32_t r = 1; r < NUM_REGISTERS; r++)
    if (own->x >> r & 1) l->x[r] = new_slot(l, l->type.i32, "x", r);
  if (!own->f) mark_integers_only(l);
  for (uint32_t r = 0; r < NUM_FLOAT_WORDS; r++) {
    if (!(own->f >> r & 1)) continue;
    l->single[r] = new_slot(l, l->type.single, "f", r);
    l->lazy_single[r] = new_slot(l, l->type.i1, "lazy", r);
    if (!l->has_half) continue;
    l->half[r] = new_slot(l, l->type.i16, "h", r);
    l->lazy_half[r] = new_slot(l, l->type.i1, "lazy_half", r);
  }
  l->time = new_slot(l, l->type.i64, "time", 0);
  l->leave_pc = new_slot(l, l->type.i32, "leave_pc", 0);
  l->round = new_slot(l, l->type.i64, "round", 0);
}

void lift_load_state(lift *l)
{
  lift_load_registers(l, l->own->x, l->own->f);
  load_time(l);
}

/* Leaving */

void lift_add_time_of(lift *l, LLVMValueRef times, uint64_t slots, uint64_t count)
{
  bool fits = llabs((int64_t)(slots - count)) <= llabs((int64_t)slots); /* see lift.h */
  uint64_t time = (fits ? slots - count : 0) - (slots << EXTRA_BITS);
  add_to(l, l->time, LLVMBuildMul(l->b, times, lift_constant64(l, time), ""));
  if (!fits)
    add_to(l, FRAME(extra), LLVMBuildMul(l->b, times, lift_constant64(l, slots - count), ""));
}

void lift_add_time(lift *l, uint64_t slots, uint64_t count)
{
  lift_add_time_of(l, lift_constant64(l, 1), slots, count);
}

void lift_leave_at(lift *l, LLVMValueRef pc)
{
  LLVMBuildStore(l->b, pc, l->leave_pc);
  LLVMBuildBr(l->b, l->leave);
}

/* Slots of the current operation and the rest of its block, which has been paid for as a whole. */
static uint64_t rest_slots(const lift *l)
{
  uint64_t slots = 0;
  for (uint32_t i = l->op_index; i < l->block->first_op + l->block->num_ops; i++)
    slots += l->unit->ops[i].cost;
  return slots;
}

static uint64_t rest_count(const lift *l)
{
  return l->block->first_op + l->block->num_ops - l->op_index;
}

void lift_leave_here(lift *l)
{
  uint32_t here = l->op_index;
  l->op_index = lift_go_back(l);
  lift_add_time(l, 0 - rest_slots(l), 0 - rest_count(l));
  lift_leave_at(l, lift_pc(l, l->block->pc + 4 * (l->op_index - l->block->first_op)));
  l->op_index = here;
}

LLVMValueRef lift_counter(lift *l, uint32_t number)
{
  bool high = number == CSR_CYCLEH || number == CSR_INSTRETH;
  bool cycle = number == CSR_CYCLE || number == CSR_CYCLEH;
  LLVMValueRef value = slots_now(l);
  if (cycle) {
    value = LLVMBuildSub(l->b, value, lift_constant64(l, rest_slots(l)), "");
    LLVMValueRef per_slot = LLVMBuildLoad2(l->b, l->type.i64, FRAME(slot_cycles), "");
    value = LLVMBuildMul(l->b, value, per_slot, "");
  } else {
    lift_add_limit(l, lift_constant64(l, 0));
    value = LLVMBuildSub(l->b, value, LLVMBuildLoad2(l->b, l->type.i64, FRAME(extra), ""), "");
    value = LLVMBuildSub(l->b, value, lift_constant64(l, rest_count(l)), "");
  }
  LLVMValueRef before = cycle ? FRAME(clock) : FRAME(instructions);
  value = LLVMBuildAdd(l->b, value, LLVMBuildLoad2(l->b, l->type.i64, before, ""), "");
  if (high) value = LLVMBuildLShr(l->b, value, lift_constant64(l, 32), "");
  return LLVMBuildTrunc(l->b, value, l->type.i32, "");
}
