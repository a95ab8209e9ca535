/* Time: the counter of slots and instructions (lift.h), and reading it. */
#include "lift.h"

#include <stdlib.h>

#define FRAME(member) lift_field(l, l->frame, offsetof(translated_frame, member))

/* The last slot at which there is time for all blocks of the function. */
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

void lift_load_time(lift *l)
{
  LLVMValueRef slots = LLVMBuildLoad2(l->b, l->type.i64, FRAME(slots), "");
  LLVMValueRef left = LLVMBuildSub(l->b, last_slots(l), slots, "");
  LLVMBuildStore(l->b, lift_as_time(l, left), l->time);
}

/* Has the block at most two instructions a slot? See lift.h. */
static bool is_usual(uint64_t slots, uint64_t count)
{
  return llabs((int64_t)(slots - count)) <= llabs((int64_t)slots);
}

uint64_t lift_time_of(uint64_t slots, uint64_t count)
{
  return (slots << EXTRA_BITS) - (is_usual(slots, count) ? slots - count : 0);
}

void lift_subtract_time(lift *l, uint64_t time)
{
  if (time) add_to(l, l->time, lift_constant64(l, 0 - time));
}

void lift_add_excess_time(lift *l, uint64_t slots, uint64_t count)
{
  if (!is_usual(slots, count)) add_to(l, FRAME(extra), lift_constant64(l, slots - count));
}

void lift_add_time(lift *l, uint64_t slots, uint64_t count)
{
  lift_subtract_time(l, lift_time_of(slots, count));
  lift_add_excess_time(l, slots, count);
}

void lift_add_time_of(lift *l, LLVMValueRef times, uint64_t slots, uint64_t count)
{
  LLVMValueRef time = lift_constant64(l, 0 - lift_time_of(slots, count));
  add_to(l, l->time, LLVMBuildMul(l->b, times, time, ""));
  if (!is_usual(slots, count))
    add_to(l, FRAME(extra), LLVMBuildMul(l->b, times, lift_constant64(l, slots - count), ""));
}

void lift_store_time(lift *l)
{
  LLVMBuildStore(l->b, slots_now(l), FRAME(slots));
  lift_add_limit(l, lift_constant64(l, 0));
}

/* Slots of the rest of the block, the current operation included. The block has been paid as a
 * whole. */
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

void lift_uncount_rest(lift *l)
{
  lift_add_time(l, 0 - rest_slots(l), 0 - rest_count(l));
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
