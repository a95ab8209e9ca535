/* State of a native function: the frame's fields, registers in stack slots, exits. */
#include "lift.h"

#include <stdio.h>
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
  /* Starts are multiples of 4 anyway (translate_move.c). This tells LLVM so: it then sees where a
   * return goes, which clears the lowest bit of the return address. */
  start = LLVMBuildAnd(l->b, start, lift_constant(l, ~3u), "");
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

/* Volatile, so that LLVM does not try to vectorise the stores of each of many exits. */
static void store_register(lift *l, LLVMValueRef value, LLVMValueRef place)
{
  LLVMSetVolatile(LLVMBuildStore(l->b, value, place), true);
}

void lift_store_registers(lift *l, uint32_t x, uint64_t f)
{
  for (uint32_t r = 1; r < NUM_REGISTERS; r++)
    if (x >> r & 1) store_register(l, lift_x(l, r), x_place(l, r));
  for (uint32_t r = 0; r < NUM_FLOAT_WORDS; r++)
    if (f >> r & 1) store_register(l, lift_f_bits_fenced(l, r), f_place(l, r));
}

void lift_store_state(lift *l, LLVMValueRef pc, register_set registers)
{
  lift_store_registers(l, registers.x, registers.f);
  lift_store_time(l);
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
  const calling_convention *own = l->own;
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
  l->iteration = new_slot(l, l->type.i64, "round", 0);
  l->path_time = new_slot(l, l->type.i64, "way", 0);
}

void lift_load_state(lift *l)
{
  lift_load_registers(l, l->own->x, l->own->f);
  lift_load_time(l);
}

/* Leaving */

void lift_leave_at(lift *l, LLVMValueRef pc, register_set registers)
{
  uint64_t pending_time = l->pending_time;
  lift_flush_time(l);
  lift_store_state(l, pc, registers);
  lift_build_unwind(l);
  l->pending_time = pending_time; /* of those who stay */
}

/* The exit of blocks in no cycle, of fast copies, and of all exits after MOST_EXITS
 * (exit_registers.c). It belongs to no copy, because values that one fast copy's guard has set do
 * not exist where another copy leaves. */
static LLVMBasicBlockRef shared_exit(lift *l)
{
  if (l->leave) return l->leave;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b);
  const counted_loop *fast = l->fast;
  l->fast = NULL;
  l->leave_pc = lift_new_slot(l, l->type.i32, "leave_pc");
  l->leave = lift_new_block(l, "leave");
  lift_at_end(l, l->leave);
  lift_store_state(l, LLVMBuildLoad2(l->b, l->type.i32, l->leave_pc, ""),
                   lift_exit_registers_unknown(l));
  lift_build_unwind(l);
  lift_at_end(l, here);
  l->fast = fast;
  return l->leave;
}

static void leave_by_shared_exit(lift *l, LLVMValueRef pc)
{
  uint64_t pending_time = l->pending_time;
  lift_flush_time(l);
  LLVMBasicBlockRef leave = shared_exit(l);
  LLVMBuildStore(l->b, pc, l->leave_pc);
  LLVMBuildBr(l->b, leave);
  l->pending_time = pending_time; /* of those who stay */
}

/* Exits of single operations in a function; each takes LLVM some milliseconds. */
enum { MOST_EXITS = 256 };

void lift_leave_here(lift *l)
{
  uint32_t here = l->op_index;
  l->op_index = lift_roll_back(l);
  lift_uncount_rest(l);
  LLVMValueRef pc = lift_pc(l, l->block->pc + 4 * (l->op_index - l->block->first_op));
  uint32_t number = (uint32_t)(l->block - &l->unit->blocks[l->f->first_block]);
  if (l->is_in_cycle[number] && !l->fast && l->num_exits++ < MOST_EXITS)
    lift_leave_at(l, pc, lift_exit_registers_here(l));
  else
    leave_by_shared_exit(l, pc);
  l->op_index = here;
}
