/* Floating-point registers in their slots (lift.h), as single, half or bits. NaNs become canonical
 * where their bits are seen. */
#include "lift.h"

/* Bits and values */

LLVMValueRef lift_as_single(lift *l, LLVMValueRef bits)
{
  return LLVMBuildBitCast(l->b, bits, l->type.single, "");
}

LLVMValueRef lift_as_bits(lift *l, LLVMValueRef single)
{
  return LLVMBuildBitCast(l->b, single, l->type.i32, "");
}

static LLVMValueRef constant_i16(const lift *l, uint32_t value)
{
  return LLVMConstInt(l->type.i16, value, 0);
}

static LLVMValueRef constant_flag(const lift *l, bool value)
{
  return LLVMConstInt(l->type.i1, value, 0);
}

LLVMValueRef lift_is_nan(lift *l, LLVMValueRef single)
{
  return LLVMBuildFCmp(l->b, LLVMRealUNO, single, single, "");
}

static LLVMValueRef bits_of_half(lift *l, LLVMValueRef half)
{
  return LLVMBuildBitCast(l->b, half, l->type.i16, "");
}

static LLVMValueRef half_of_bits(lift *l, LLVMValueRef bits)
{
  return LLVMBuildBitCast(l->b, bits, l->type.half, "");
}

LLVMValueRef lift_box(lift *l, LLVMValueRef half_bits)
{
  LLVMValueRef wide = LLVMBuildZExt(l->b, half_bits, l->type.i32, "");
  return LLVMBuildOr(l->b, wide, lift_constant(l, 0xffff0000), "");
}

LLVMValueRef lift_unbox(lift *l, LLVMValueRef bits)
{
  LLVMValueRef boxed = LLVMBuildICmp(l->b, LLVMIntUGE, bits, lift_constant(l, 0xffff0000), "");
  LLVMValueRef low = LLVMBuildTrunc(l->b, bits, l->type.i16, "");
  return LLVMBuildSelect(l->b, boxed, low, constant_i16(l, 0x7e00), "");
}

static LLVMValueRef canonical_half_bits(lift *l, LLVMValueRef bits)
{
  LLVMValueRef magnitude = LLVMBuildAnd(l->b, bits, constant_i16(l, 0x7fff), "");
  LLVMValueRef nan = LLVMBuildICmp(l->b, LLVMIntUGT, magnitude, constant_i16(l, 0x7c00), "");
  LLVMValueRef canonical = l->fast ? l->half_nan : constant_i16(l, 0x7e00);
  return LLVMBuildSelect(l->b, nan, canonical, bits, "");
}

/* Registers */

LLVMValueRef lift_single(lift *l, uint32_t r)
{
  return LLVMBuildLoad2(l->b, l->type.single, l->single[r], "");
}

static LLVMValueRef get_half_bits(lift *l, uint32_t r)
{
  return LLVMBuildLoad2(l->b, l->type.i16, l->half[r], "");
}

LLVMValueRef lift_half(lift *l, uint32_t r)
{
  return half_of_bits(l, get_half_bits(l, r));
}

static LLVMValueRef get_flag(lift *l, LLVMValueRef slot)
{
  return LLVMBuildLoad2(l->b, l->type.i1, slot, "");
}

static void set_flags(lift *l, uint32_t r, bool lazy_single, bool lazy_half)
{
  LLVMBuildStore(l->b, constant_flag(l, lazy_single), l->lazy_single[r]);
  if (l->has_half) LLVMBuildStore(l->b, constant_flag(l, lazy_half), l->lazy_half[r]);
}

/* The result of an operation. A single is never a boxed half. */
void lift_set_single(lift *l, uint32_t r, LLVMValueRef value)
{
  LLVMBuildStore(l->b, value, l->single[r]);
  if (l->has_half) LLVMBuildStore(l->b, constant_i16(l, 0x7e00), l->half[r]);
  set_flags(l, r, true, false);
}

void lift_set_half(lift *l, uint32_t r, LLVMValueRef value)
{
  LLVMValueRef bits = bits_of_half(l, value);
  LLVMBuildStore(l->b, bits, l->half[r]);
  LLVMBuildStore(l->b, lift_as_single(l, lift_box(l, bits)), l->single[r]);
  set_flags(l, r, false, true);
}

void lift_set_f_bits(lift *l, uint32_t r, LLVMValueRef bits)
{
  LLVMBuildStore(l->b, lift_as_single(l, bits), l->single[r]);
  if (l->has_half) LLVMBuildStore(l->b, lift_unbox(l, bits), l->half[r]);
  set_flags(l, r, false, false);
}

/* `tested`: the single, perhaps behind a fence. */
static LLVMValueRef f_bits(lift *l, uint32_t r, LLVMValueRef tested)
{
  LLVMValueRef bits = lift_as_bits(l, lift_single(l, r));
  LLVMValueRef change =
      LLVMBuildAnd(l->b, get_flag(l, l->lazy_single[r]), lift_is_nan(l, tested), "");
  LLVMValueRef canonical = l->fast ? l->nan : lift_constant(l, 0x7fc00000);
  bits = LLVMBuildSelect(l->b, change, canonical, bits, "");
  if (!l->has_half) return bits;
  LLVMValueRef half_bits = lift_box(l, canonical_half_bits(l, get_half_bits(l, r)));
  return LLVMBuildSelect(l->b, get_flag(l, l->lazy_half[r]), half_bits, bits, "");
}

LLVMValueRef lift_f_bits(lift *l, uint32_t r)
{
  return f_bits(l, r, lift_single(l, r));
}

LLVMValueRef lift_f_bits_fenced(lift *l, uint32_t r)
{
  LLVMValueRef single = lift_single(l, r);
  return f_bits(l, r, lift_intrinsic(l, "llvm.arithmetic.fence", &l->type.single, 1, &single, 1));
}

void lift_copy_f(lift *l, uint32_t to, uint32_t from)
{
  LLVMValueRef value = lift_single(l, from), flag = get_flag(l, l->lazy_single[from]);
  if (l->has_half) {
    LLVMValueRef half = get_half_bits(l, from), half_flag = get_flag(l, l->lazy_half[from]);
    LLVMBuildStore(l->b, half, l->half[to]);
    LLVMBuildStore(l->b, half_flag, l->lazy_half[to]);
  }
  LLVMBuildStore(l->b, value, l->single[to]);
  LLVMBuildStore(l->b, flag, l->lazy_single[to]);
}
