/* Float control, fast case: operations that raise nothing that is a fault, done by the host's
 * instructions. An overflow, a division by zero and an invalid operation all show in a result that
 * is not finite, or in an operand that is a NaN. So only these are tested. Inexact and underflow
 * flags are the host's sticky ones, as without float control. In all other cases these functions
 * return false and have written nothing; float_control.c does the operation. */
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

/* For a packed operation: writes both or none. */
static inline bool put_finite_pair(context *c, const operation *op, float low, float high)
{
  uint32_t bits[2] = {single_to_bits(low), single_to_bits(high)};
  if (!is_finite_single(bits[0]) || !is_finite_single(bits[1])) return false;
  c->f[op->rd] = bits[0];
  c->f[op->rd + 32] = bits[1];
  return true;
}

static inline bool is_unordered_pair(float x, float y, float x_high, float y_high)
{
  return __builtin_isunordered(x, y) || __builtin_isunordered(x_high, y_high);
}

static inline bool packed_operate_fast(context *c, const operation *op)
{
  uint32_t a = c->f[op->rs1], b = c->f[op->rs2];
  uint32_t a_high = c->f[op->rs1 + 32], b_high = c->f[op->rs2 + 32];
  float x = single_from_bits(a), y = single_from_bits(b);
  float x_high = single_from_bits(a_high), y_high = single_from_bits(b_high);
  switch (op->id) {
  case OP_F32V2_ADD:
    return put_finite_pair(c, op, x + y, x_high + y_high);
  case OP_F32V2_SUB:
    return put_finite_pair(c, op, x - y, x_high - y_high);
  case OP_F32V2_MUL:
    return put_finite_pair(c, op, x * y, x_high * y_high);
  case OP_F32V2_MIN:
    if (is_unordered_pair(x, y, x_high, y_high)) return false;
    c->f[op->rd] = fast_minimum(&c->fflags, a, b);
    c->f[op->rd + 32] = fast_minimum(&c->fflags, a_high, b_high);
    return true;
  case OP_F32V2_MAX:
    if (is_unordered_pair(x, y, x_high, y_high)) return false;
    c->f[op->rd] = fast_maximum(&c->fflags, a, b);
    c->f[op->rd + 32] = fast_maximum(&c->fflags, a_high, b_high);
    return true;
  default:
    return false;
  }
}

/* For an operation that rounds in its usual mode. */
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
    return packed_operate_fast(c, op);
  }
}

#endif
