/* Floating point under control registers: the operations of isa/float.c, with these changes:
 *
 *   half results, rounding at random   the operation is done in single precision, to nearest.
 *                                      The half below that, or the next one, is the result: a
 *                                      random number decides, by the bits that the half below
 *                                      loses. A half's sum, product, quotient or root loses at
 *                                      most its last bits in single precision
 *   NaN on overflow                    instead of infinity, for halves; it is an invalid
 *                                      operation, too
 *   faults                             an operation faults if it raises a flag whose bit is set
 *
 * All of this is integer arithmetic, except for functions (functions.h): the host's flags are not
 * touched. */
#include "float_control.h"

#include "isa/float.h"
#include "isa/functions.h"
#include "isa/packed.h"

enum {
  CONTROL_INVALID = 1 << 0,
  CONTROL_DIVIDE = 1 << 1,
  CONTROL_OVERFLOW = 1 << 2,
  CONTROL_STOCHASTIC = 1 << 19,
  CONTROL_NAN_ON_OVERFLOW = 1 << 20,
  CONTROL_BITS = CONTROL_INVALID | CONTROL_DIVIDE | CONTROL_OVERFLOW | CONTROL_STOCHASTIC |
                 CONTROL_NAN_ON_OVERFLOW
};

/* ---- random numbers ---- */

static uint64_t rotate(uint64_t value, int count)
{
  return value << count | value >> (64 - count);
}

/* Distributes the bits of a small number (the finalizer of MurmurHash3). */
static uint64_t spread(uint64_t value)
{
  value = (value ^ value >> 33) * 0xff51afd7ed558ccd;
  value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53;
  return value ^ value >> 33;
}

/* The next 64 bits of a context's generator: xoroshiro128aox (Hanlon & Felix, 2022). The state is
 * that of libcodelet/device/lib/contexts.c. */
static uint64_t next_random(tile *t, uint32_t number)
{
  uint32_t *words = t->random[number];
  uint64_t s0 = words[0] | (uint64_t)words[1] << 32, s1 = words[2] | (uint64_t)words[3] << 32;
  if (!(s0 | s1)) {
    s0 = spread(8 * (uint64_t)t->number + number + 1);
    s1 = spread(s0);
  }
  uint64_t sum = s0 ^ s1, both = s0 & s1;
  uint64_t result = sum ^ (rotate(both, 1) | rotate(both, 2));
  s0 = rotate(s0, 55) ^ sum ^ sum << 14;
  s1 = rotate(sum, 36);
  words[0] = (uint32_t)s0, words[1] = (uint32_t)(s0 >> 32);
  words[2] = (uint32_t)s1, words[3] = (uint32_t)(s1 >> 32);
  return result;
}

void float_control_start(const machine *m, tile *t)
{
  t->float_initial = m->options.float_control & CONTROL_BITS;
  for (uint32_t i = 0; i < NUM_CONTEXTS && m->options.random_seed; i++)
    for (uint32_t half = 0; half < 2; half++) {
      uint64_t which = 2 * ((uint64_t)t->number * NUM_CONTEXTS + i) + half;
      uint64_t state = spread(m->options.random_seed + spread(which + 1));
      t->random[i][2 * half] = (uint32_t)state;
      t->random[i][2 * half + 1] = (uint32_t)(state >> 32);
    }
}

/* ---- registers ---- */

bool float_control_read(const tile *t, const context *c, uint32_t number, uint32_t *value)
{
  if (isa_is_random(number))
    *value = t->random[c->number][number - CSR_RANDOM];
  else if (number == CSR_FLOAT_CONTROL)
    *value = c->float_control;
  else if (number == CSR_FLOAT_INITIAL)
    *value = t->float_initial;
  else
    return false;
  return true;
}

/* Native code for workers without float control is not right for workers with it. */
static void set_initial(tile *t, uint32_t control)
{
  if (!control != !t->float_initial) translate_forget_tile(t);
  t->float_initial = control;
}

bool float_control_write(tile *t, context *c, uint32_t number, uint32_t value)
{
  if (isa_is_random(number))
    t->random[c->number][number - CSR_RANDOM] = value;
  else if (number == CSR_FLOAT_CONTROL)
    c->float_control = value & CONTROL_BITS;
  else if (number == CSR_FLOAT_INITIAL && c->number == MACHINE_SUPERVISOR)
    set_initial(t, value & CONTROL_BITS);
  else
    return false;
  return true;
}

bool float_is_random(uint32_t control)
{
  return control & CONTROL_STOCHASTIC;
}

/* ---- operations ---- */

typedef struct operands {
  uint32_t id, a, b, c;
  rounding_mode mode;
} operands;

static bool takes_integer(uint32_t id)
{
  return id == OP_FCVT_S_W || id == OP_FCVT_S_WU || id == OP_FCVT_H_W || id == OP_FCVT_H_WU ||
         id == OP_FMV_W_X || id == OP_FMV_H_X;
}

bool float_gives_half(uint32_t id)
{
  switch (id) {
  case OP_FADD_H:
  case OP_FSUB_H:
  case OP_FMUL_H:
  case OP_FDIV_H:
  case OP_FSQRT_H:
  case OP_FMADD_H:
  case OP_FMSUB_H:
  case OP_FNMSUB_H:
  case OP_FNMADD_H:
  case OP_FCVT_H_S:
  case OP_FCVT_H_W:
  case OP_FCVT_H_WU:
    return true;
  default:
    return false;
  }
}

static uint32_t from_integer(const float_format *format, const operands *o, bool is_signed,
                             uint32_t *flags)
{
  bool negative = is_signed && o->a >> 31;
  return float_from_integer(format, negative, negative ? 0 - o->a : o->a, o->mode, flags);
}

/* +, -, *, /, root and multiply-add in one format; `id` is the operation on singles. */
static uint32_t arithmetic(const float_format *f, uint32_t id, const operands *o, uint32_t *flags)
{
  switch (id) {
  case OP_FADD_S:
    return float_add(f, o->a, o->b, o->mode, flags);
  case OP_FSUB_S:
    return float_add(f, o->a, float_negate(f, o->b), o->mode, flags);
  case OP_FMUL_S:
    return float_multiply(f, o->a, o->b, o->mode, flags);
  case OP_FDIV_S:
    return float_divide(f, o->a, o->b, o->mode, flags);
  case OP_FSQRT_S:
    return float_sqrt(f, o->a, o->mode, flags);
  case OP_FMADD_S:
    return float_multiply_add(f, o->a, o->b, o->c, o->mode, flags);
  case OP_FMSUB_S:
    return float_multiply_add(f, o->a, o->b, float_negate(f, o->c), o->mode, flags);
  case OP_FNMSUB_S:
    return float_multiply_add(f, float_negate(f, o->a), o->b, o->c, o->mode, flags);
  default: /* OP_FNMADD_S */
    return float_multiply_add(f, float_negate(f, o->a), o->b, float_negate(f, o->c), o->mode,
                              flags);
  }
}

/* The operation on singles that corresponds to one whose result is a half. */
static uint32_t single_id(uint32_t id)
{
  static const uint8_t singles[OPERATION_COUNT] = {
      [OP_FADD_H] = OP_FADD_S,   [OP_FSUB_H] = OP_FSUB_S,     [OP_FMUL_H] = OP_FMUL_S,
      [OP_FDIV_H] = OP_FDIV_S,   [OP_FSQRT_H] = OP_FSQRT_S,   [OP_FMADD_H] = OP_FMADD_S,
      [OP_FMSUB_H] = OP_FMSUB_S, [OP_FNMSUB_H] = OP_FNMSUB_S, [OP_FNMADD_H] = OP_FNMADD_S,
  };
  return singles[id];
}

static uint32_t widen(uint32_t half, uint32_t *flags)
{
  return float_convert(&float_single, &float_half, float_unbox(half), ROUND_NEAREST_EVEN, flags);
}

static bool is_fused_half(uint32_t id)
{
  return id == OP_FMADD_H || id == OP_FMSUB_H || id == OP_FNMSUB_H || id == OP_FNMADD_H;
}

/* A half's operation in single precision, to nearest. */
static uint32_t in_single(const operands *o, uint32_t *flags)
{
  if (o->id == OP_FCVT_H_S) return o->a;
  operands wide = {.mode = ROUND_NEAREST_EVEN, .a = o->a};
  if (o->id == OP_FCVT_H_W || o->id == OP_FCVT_H_WU)
    return from_integer(&float_single, &wide, o->id == OP_FCVT_H_W, flags);
  /* Only the operation's own operands: another register may hold a signalling NaN. */
  wide.a = widen(o->a, flags);
  if (o->id != OP_FSQRT_H) wide.b = widen(o->b, flags);
  if (is_fused_half(o->id)) wide.c = widen(o->c, flags);
  return arithmetic(&float_single, single_id(o->id), &wide, flags);
}

/* The half below the magnitude, or the next one, with the probability that the lost bits are of a
 * step. */
static uint32_t round_at_random(uint32_t single, uint64_t random, uint32_t *flags)
{
  enum { FRACTION = 23, LOST = 13, BIAS_DIFFERENCE = 127 - 15, HALF_INFINITY = 0x7c00 };
  uint32_t sign = single >> 16 & 0x8000, magnitude = single & 0x7fffffff;
  uint32_t exponent = magnitude >> FRACTION;
  if (exponent == 255) /* infinity, NaN */
    return float_convert(&float_half, &float_single, single, ROUND_NEAREST_EVEN, flags);
  uint64_t value = magnitude, lost = LOST;
  if (exponent <= BIAS_DIFFERENCE) { /* a subnormal half: units of 2^-24 */
    enum { ONE_UNIT = 126 };
    if (exponent == 0)
      exponent = 1;
    else
      value = (magnitude & ((1u << FRACTION) - 1)) | 1u << FRACTION;
    lost = ONE_UNIT - exponent;
    if (lost > 60) lost = 60; /* the probability is next to none */
  } else {
    value -= (uint64_t)BIAS_DIFFERENCE << FRACTION;
  }
  uint64_t fraction = ((uint64_t)1 << lost) - 1;
  if (value & fraction) *flags |= FLAG_INEXACT;
  uint64_t half = (value + (value & fraction ? random & fraction : 0)) >> lost;
  if (value & fraction && half < 1 << 10) *flags |= FLAG_UNDERFLOW;
  if (half < HALF_INFINITY) return sign | (uint32_t)half;
  *flags |= FLAG_OVERFLOW | FLAG_INEXACT;
  return sign | HALF_INFINITY;
}

static uint32_t half_result(tile *t, const context *c, const operands *o, uint32_t *flags)
{
  uint32_t half;
  const float_format *h = &float_half;
  if (c->float_control & CONTROL_STOCHASTIC && o->mode == ROUND_NEAREST_EVEN) {
    uint32_t single = in_single(o, flags);
    half = round_at_random(single, next_random(t, c->number), flags);
  } else if (o->id == OP_FCVT_H_S) {
    half = float_convert(h, &float_single, o->a, o->mode, flags);
  } else if (takes_integer(o->id)) {
    half = from_integer(h, o, o->id == OP_FCVT_H_W, flags);
  } else {
    operands plain = {
        .mode = o->mode, .a = float_unbox(o->a), .b = float_unbox(o->b), .c = float_unbox(o->c)};
    half = arithmetic(h, single_id(o->id), &plain, flags);
  }
  if (!(*flags & FLAG_OVERFLOW) || !(c->float_control & CONTROL_NAN_ON_OVERFLOW)) return half;
  *flags |= FLAG_INVALID;
  return h->nan;
}

static uint32_t single_result(const operands *o, uint32_t *flags)
{
  const float_format *f = &float_single;
  switch (o->id) {
  case OP_FCVT_S_W:
  case OP_FCVT_S_WU:
    return from_integer(f, o, o->id == OP_FCVT_S_W, flags);
  case OP_FCVT_S_H:
    return widen(o->a, flags);
  case OP_FMIN_S:
    return float_minimum(f, o->a, o->b, flags);
  case OP_FMAX_S:
    return float_maximum(f, o->a, o->b, flags);
  default:
    return arithmetic(f, o->id, o, flags);
  }
}

/* Comparisons and conversions to integers. */
static uint32_t integer_result(const operands *o, uint32_t *flags)
{
  const float_format *s = &float_single, *h = &float_half;
  uint32_t a = float_unbox(o->a), b = float_unbox(o->b);
  switch (o->id) {
  case OP_FCVT_W_S:
  case OP_FCVT_WU_S:
    return float_to_integer(s, o->a, o->id == OP_FCVT_W_S, o->mode, flags);
  case OP_FCVT_W_H:
  case OP_FCVT_WU_H:
    return float_to_integer(h, a, o->id == OP_FCVT_W_H, o->mode, flags);
  case OP_FEQ_S:
    return float_equal(s, o->a, o->b, flags);
  case OP_FLT_S:
  case OP_FLE_S:
    return float_less(s, o->a, o->b, o->id == OP_FLE_S, flags);
  case OP_FEQ_H:
    return float_equal(h, a, b, flags);
  default: /* OP_FLT_H, OP_FLE_H */
    return float_less(h, a, b, o->id == OP_FLE_H, flags);
  }
}

static bool gives_integer(uint32_t id)
{
  switch (id) {
  case OP_FCVT_W_S:
  case OP_FCVT_WU_S:
  case OP_FCVT_W_H:
  case OP_FCVT_WU_H:
  case OP_FEQ_S:
  case OP_FLT_S:
  case OP_FLE_S:
  case OP_FEQ_H:
  case OP_FLT_H:
  case OP_FLE_H:
    return true;
  default:
    return false;
  }
}

bool float_is_controlled(uint32_t id)
{
  switch (id) {
  case OP_FADD_S:
  case OP_FSUB_S:
  case OP_FMUL_S:
  case OP_FDIV_S:
  case OP_FSQRT_S:
  case OP_FMADD_S:
  case OP_FMSUB_S:
  case OP_FNMSUB_S:
  case OP_FNMADD_S:
  case OP_FCVT_S_W:
  case OP_FCVT_S_WU:
  case OP_FCVT_S_H:
  case OP_FMIN_S:
  case OP_FMAX_S:
  case OP_FMIN_H:
  case OP_FMAX_H:
    return true;
  default:
    return float_gives_half(id) || gives_integer(id) || packed_element(id) != ISA_NUM_OPS ||
           function_is(id);
  }
}

static machine_fault_kind fault_of(uint32_t control, uint32_t flags)
{
  if (control & CONTROL_INVALID && flags & FLAG_INVALID) return MACHINE_FAULT_FLOAT_INVALID;
  if (control & CONTROL_DIVIDE && flags & FLAG_DIVIDE) return MACHINE_FAULT_FLOAT_DIVIDE;
  if (control & CONTROL_OVERFLOW && flags & FLAG_OVERFLOW) return MACHINE_FAULT_FLOAT_OVERFLOW;
  return MACHINE_FAULT_NONE;
}

static uint32_t half_extreme(const operands *o, uint32_t *flags)
{
  uint32_t a = float_unbox(o->a), b = float_unbox(o->b);
  return o->id == OP_FMIN_H ? float_minimum(&float_half, a, b, flags)
                            : float_maximum(&float_half, a, b, flags);
}

/* The result of an operation that gives a float. */
static uint32_t float_result(tile *t, const context *c, const operands *o, uint32_t *flags)
{
  if (float_gives_half(o->id)) return float_box(half_result(t, c, o, flags));
  if (o->id == OP_FMIN_H || o->id == OP_FMAX_H) return float_box(half_extreme(o, flags));
  return single_result(o, flags);
}

/* `flags` are those of all elements; whether this one overflows is told by its own. */
static uint32_t packed_half_result(tile *t, const context *c, operands o, uint32_t a, uint32_t b,
                                   uint32_t *flags)
{
  uint32_t own = 0;
  o.a = float_box(a & 0xffff), o.b = float_box(b & 0xffff);
  uint32_t half = float_result(t, c, &o, &own) & 0xffff;
  *flags |= own;
  return half;
}

/* Element after element; if one faults, none is written. */
static machine_fault_kind operate_packed(tile *t, context *c, const operation *op)
{
  uint32_t flags = 0, words[2];
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t a = c->f[op->rs1 + 32 * i], b = c->f[op->rs2 + 32 * i];
    operands o = {.id = packed_element(op->id), .a = a, .b = b, .mode = ROUND_NEAREST_EVEN};
    if (packed_is_halves(op->id)) {
      words[i] = packed_half_result(t, c, o, a, b, &flags);
      words[i] |= packed_half_result(t, c, o, a >> 16, b >> 16, &flags) << 16;
    } else {
      words[i] = float_result(t, c, &o, &flags);
    }
  }
  machine_fault_kind kind = fault_of(c->float_control, flags);
  if (kind != MACHINE_FAULT_NONE) return kind;
  c->fflags |= flags;
  c->f[op->rd] = words[0];
  c->f[op->rd + 32] = words[1];
  return MACHINE_FAULT_NONE;
}

/* A function of a single. Its own operations may raise flags that its result does not: e^infinity
 * overflows on the way. So only inexact and underflow are taken from the host; function_flags gives
 * the others. Flags that the host had before go to fflags, as usual. */
static uint32_t function_result(context *c, isa_op op, uint32_t bits, uint32_t *flags)
{
  c->fflags |= float_host_flags();
  float_clear_host_flags();
  uint32_t result = function_single(op, bits);
  *flags |= float_host_flags() & (FLAG_INEXACT | FLAG_UNDERFLOW);
  *flags |= function_flags(bits, result);
  float_clear_host_flags();
  return result;
}

static uint32_t function_of_half(tile *t, context *c, isa_op op, uint32_t half, uint32_t *flags)
{
  operands o = {.id = OP_FCVT_H_S, .mode = ROUND_NEAREST_EVEN};
  uint32_t own = 0; /* of this half: whether it overflows */
  o.a = function_result(c, op, widen(float_box(half), &own), &own);
  uint32_t result = float_result(t, c, &o, &own) & 0xffff;
  *flags |= own;
  return result;
}

static uint32_t function_of_word(tile *t, context *c, isa_op op, uint32_t word, uint32_t *flags)
{
  if (!function_is_of_halves(op)) return function_result(c, op, word, flags);
  uint32_t low = function_of_half(t, c, op, word & 0xffff, flags);
  return low | function_of_half(t, c, op, word >> 16, flags) << 16;
}

static machine_fault_kind operate_function(tile *t, context *c, const operation *op)
{
  isa_op id = (isa_op)op->id;
  uint32_t flags = 0, num_words = isa_is_pair_function(id) ? 2 : 1, words[2];
  for (uint32_t i = 0; i < num_words; i++)
    words[i] = function_of_word(t, c, id, c->f[op->rs1 + 32 * i], &flags);
  machine_fault_kind kind = fault_of(c->float_control, flags);
  if (kind != MACHINE_FAULT_NONE) return kind;
  c->fflags |= flags;
  for (uint32_t i = 0; i < num_words; i++) c->f[op->rd + 32 * i] = words[i];
  return MACHINE_FAULT_NONE;
}

machine_fault_kind float_operate_controlled(tile *t, context *c, const operation *op, uint32_t mode)
{
  if (packed_element(op->id) != ISA_NUM_OPS) return operate_packed(t, c, op);
  if (function_is(op->id)) return operate_function(t, c, op);
  operands o = {.id = op->id,
                .a = takes_integer(op->id) ? c->x[op->rs1] : c->f[op->rs1],
                .b = c->f[op->rs2],
                .c = c->f[(uint32_t)op->imm >> 8 & 31],
                .mode = (rounding_mode)mode};
  uint32_t flags = 0, result;
  if (gives_integer(o.id))
    result = integer_result(&o, &flags);
  else
    result = float_result(t, c, &o, &flags);
  machine_fault_kind kind = fault_of(c->float_control, flags);
  if (kind != MACHINE_FAULT_NONE) return kind;
  c->fflags |= flags;
  if (gives_integer(o.id))
    c->x[op->rd] = result;
  else
    c->f[op->rd] = result;
  return MACHINE_FAULT_NONE;
}
