/* Operations under float control that raise nothing which is a fault, by the host's instructions: the result is finite, or
 * no operand is a NaN. An overflow, a division by zero and an invalid operation all show in the result, so it alone is
 * looked at. Their inexact and underflow flags are the host's sticky ones, as without float control. Whatever else may be
 * is float_control.c's: these answer false and have written nothing. */
#ifndef MACHINE_FLOAT_CONTROL_FAST_H
#define MACHINE_FLOAT_CONTROL_FAST_H

#include "float_control.h"
#include "isa/float_fast.h"

static inline bool is_finite_single(uint32_t bits)
{
  return (bits & 0x7f800000) != 0x7f800000;
}

static inline bool put_finite(context *c, const operation *op, float value)
{
  uint32_t bits = single_to_bits(value);
  if (!is_finite_single(bits)) return false;
  c->f[op->rd] = bits;
  return true;
}

/* The operation rounds in its usual mode. */
static inline bool float_operate_fast(context *c, const operation *op)
{
  uint32_t a = c->f[op->rs1], b = c->f[op->rs2], d = c->f[(uint32_t)op->imm >> 8 & 31];
  float x = single_from_bits(a), y = single_from_bits(b), z = single_from_bits(d);
  switch (op->id) {
  case OP_FADD_S:
    return put_finite(c, op, x + y);
  case OP_FSUB_S:
    return put_finite(c, op, x - y);
  case OP_FMUL_S:
    return put_finite(c, op, x * y);
  case OP_FDIV_S:
    return put_finite(c, op, x / y);
  case OP_FSQRT_S:
    return put_finite(c, op, sqrtf(x));
  case OP_FMADD_S:
    return put_finite(c, op, fmaf(x, y, z));
  case OP_FMSUB_S:
    return put_finite(c, op, fmaf(x, y, -z));
  case OP_FNMSUB_S:
    return put_finite(c, op, fmaf(-x, y, z));
  case OP_FNMADD_S:
    return put_finite(c, op, fmaf(-x, y, -z));
  case OP_FCVT_S_W:
    return put_finite(c, op, (float)(int32_t)c->x[op->rs1]);
  case OP_FCVT_S_WU:
    return put_finite(c, op, (float)(int64_t)c->x[op->rs1]);
  case OP_FCVT_S_H:
    return put_finite(c, op, half_to_single(float_unbox(a)));
  case OP_FCVT_W_S:
    if ((a & 0x7fffffff) >= 0x4f000000) return false; /* 2^31 and above, and NaNs */
    c->x[op->rd] = (uint32_t)(int32_t)x;
    return true;
  case OP_FCVT_WU_S:
    if (a >= 0x4f800000) return false; /* negative, 2^32 and above, NaNs */
    c->x[op->rd] = (uint32_t)(int64_t)x;
    return true;
  case OP_FMIN_S:
    if (__builtin_isunordered(x, y)) return false;
    c->f[op->rd] = fast_minimum(&c->fflags, a, b);
    return true;
  case OP_FMAX_S:
    if (__builtin_isunordered(x, y)) return false;
    c->f[op->rd] = fast_maximum(&c->fflags, a, b);
    return true;
  case OP_FEQ_S:
    if (__builtin_isunordered(x, y)) return false;
    c->x[op->rd] = x == y;
    return true;
  case OP_FLT_S:
    if (__builtin_isunordered(x, y)) return false;
    c->x[op->rd] = x < y;
    return true;
  case OP_FLE_S:
    if (__builtin_isunordered(x, y)) return false;
    c->x[op->rd] = x <= y;
    return true;
  default:
    return false;
  }
}

#endif
