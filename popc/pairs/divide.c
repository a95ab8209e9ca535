/* Quotients and remainders of 64-bit integers by constants. LLVM calls a function of the device
 * library for them if the processor has no 64-bit registers. Here they become a multiplication by
 * the reciprocal: the quotient is the upper half of the 128-bit product (Granlund and Montgomery,
 * Division by Invariant Integers using Multiplication, 1994).
 *
 * With 2^s <= d < 2^(s + 1), let m be 2^(64 + s) / d, rounded up. If d * m is at most 2^s above
 * 2^(64 + s), then n / d is n * m >> (64 + s). Otherwise m needs one more bit. That is bit 64,
 * which a 64-bit word cannot hold, and it is added separately. */
#include "pairs.h"

#include <stdint.h>

typedef struct reciprocal {
  uint64_t m;
  unsigned s;
  bool has_bit_64; /* of m, of which s + 1 bits are behind the point then */
} reciprocal;

static reciprocal reciprocal_of(uint64_t d)
{
  reciprocal r = {.s = 63 - (unsigned)__builtin_clzll(d)};
  uint64_t rest = UINT64_C(1) << r.s, quotient = 0;
  for (int i = 0; i < 64; ++i) { /* by hand: the dividend has up to 128 bits */
    bool carry = rest >> 63;
    rest <<= 1;
    quotient <<= 1;
    if (!carry && rest < d) continue;
    rest -= d;
    quotient |= 1;
  }
  r.has_bit_64 = d - rest > UINT64_C(1) << r.s;
  if (r.has_bit_64) quotient = quotient << 1 | (rest >= d - rest);
  r.m = quotient + 1;
  return r;
}

typedef struct divide {
  LLVMBuilderRef b;
  LLVMTypeRef i64;
} divide;

static LLVMValueRef constant(const divide *d, uint64_t value)
{
  return LLVMConstInt(d->i64, value, false);
}

static LLVMValueRef high(const divide *d, LLVMValueRef x)
{
  return LLVMBuildLShr(d->b, x, constant(d, 32), "");
}

static LLVMValueRef low(const divide *d, LLVMValueRef x)
{
  return LLVMBuildAnd(d->b, x, constant(d, UINT32_MAX), "");
}

static LLVMValueRef product(const divide *d, LLVMValueRef n, uint64_t m)
{
  return LLVMBuildMul(d->b, n, constant(d, m), "");
}

/* The upper half of n * m, from products of 32 by 32 bits. */
static LLVMValueRef upper_product(const divide *d, LLVMValueRef n, uint64_t m)
{
  uint64_t m_low = m & UINT32_MAX, m_high = m >> 32;
  LLVMValueRef n_low = low(d, n), n_high = high(d, n);
  LLVMValueRef lowest = high(d, product(d, n_low, m_low));
  LLVMValueRef first = LLVMBuildAdd(d->b, product(d, n_high, m_low), lowest, "");
  LLVMValueRef second = LLVMBuildAdd(d->b, product(d, n_low, m_high), low(d, first), "");
  LLVMValueRef upper = LLVMBuildAdd(d->b, product(d, n_high, m_high), high(d, first), "");
  return LLVMBuildAdd(d->b, upper, high(d, second), "");
}

static LLVMValueRef quotient_of(const divide *d, LLVMValueRef n, uint64_t by)
{
  reciprocal r = reciprocal_of(by);
  LLVMValueRef q = upper_product(d, n, r.m);
  if (r.has_bit_64) {
    LLVMValueRef rest = LLVMBuildLShr(d->b, LLVMBuildSub(d->b, n, q, ""), constant(d, 1), "");
    q = LLVMBuildAdd(d->b, rest, q, "");
  }
  return LLVMBuildLShr(d->b, q, constant(d, r.s), "");
}

/* -x where `sign` is all ones, x where it is 0. */
static LLVMValueRef with_sign(const divide *d, LLVMValueRef x, LLVMValueRef sign)
{
  return LLVMBuildSub(d->b, LLVMBuildXor(d->b, x, sign, ""), sign, "");
}

static LLVMValueRef signed_quotient(const divide *d, LLVMValueRef n, int64_t by)
{
  LLVMValueRef sign = LLVMBuildAShr(d->b, n, constant(d, 63), "");
  uint64_t size = by < 0 ? -(uint64_t)by : (uint64_t)by;
  LLVMValueRef q = quotient_of(d, with_sign(d, n, sign), size);
  return with_sign(d, q, by < 0 ? LLVMBuildNot(d->b, sign, "") : sign);
}

/* Divisors that are powers of two are left to LLVM, which makes shifts of them. */
static bool is_by_constant(LLVMValueRef i, uint64_t *by, bool *is_signed)
{
  LLVMOpcode op = LLVMGetInstructionOpcode(i);
  if (op != LLVMUDiv && op != LLVMURem && op != LLVMSDiv && op != LLVMSRem) return false;
  LLVMTypeRef type = LLVMTypeOf(i);
  LLVMValueRef d = LLVMIsAConstantInt(LLVMGetOperand(i, 1));
  if (!d || LLVMGetTypeKind(type) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(type) != 64)
    return false;
  *is_signed = op == LLVMSDiv || op == LLVMSRem;
  *by = LLVMConstIntGetZExtValue(d);
  uint64_t size = *is_signed && *by >> 63 ? -*by : *by;
  return (size & (size - 1)) != 0;
}

static void replace(const divide *d, LLVMValueRef i, uint64_t by, bool is_signed)
{
  LLVMPositionBuilderBefore(d->b, i);
  LLVMOpcode op = LLVMGetInstructionOpcode(i);
  /* It is used several times: freeze makes all uses see the same value if it is undefined. */
  LLVMValueRef n = LLVMBuildFreeze(d->b, LLVMGetOperand(i, 0), "");
  LLVMValueRef result = is_signed ? signed_quotient(d, n, (int64_t)by) : quotient_of(d, n, by);
  if (op == LLVMURem || op == LLVMSRem) result = LLVMBuildSub(d->b, n, product(d, result, by), "");
  LLVMReplaceAllUsesWith(i, result);
  LLVMInstructionEraseFromParent(i);
}

static bool divide_in(const divide *d, LLVMValueRef function)
{
  bool changed = false;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
    LLVMValueRef next;
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = next) {
      uint64_t by;
      bool is_signed;
      next = LLVMGetNextInstruction(i);
      if (!is_by_constant(i, &by, &is_signed)) continue;
      replace(d, i, by, is_signed);
      changed = true;
    }
  }
  return changed;
}

bool pairs_divide(LLVMModuleRef module)
{
  LLVMContextRef context = LLVMGetModuleContext(module);
  divide d = {LLVMCreateBuilderInContext(context), LLVMInt64TypeInContext(context)};
  bool changed = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    changed |= divide_in(&d, f);
  LLVMDisposeBuilder(d.b);
  return changed;
}
