/* Packed arithmetic: PACKED of instructions.h on one word, a single or two halves. Rounds to
 * nearest even; NaN results are the canonical ones. The host must be set as float.h says. */
#ifndef ISA_PACKED_H
#define ISA_PACKED_H

#include "isa/float_fast.h"
#include "isa/instructions.h"

/* The operation on each element: FADD_S, FADD_H … */
static inline isa_op packed_element(isa_op id)
{
  switch (id) {
#define PACKED_CASE(id, mnemonic, mask, match, format, cost, element)                              \
  case OP_##id:                                                                                    \
    return OP_##element;
    PACKED(PACKED_CASE)
#undef PACKED_CASE
  default:
    return ISA_NUM_OPS;
  }
}

static inline bool packed_is_halves(isa_op id)
{
  return id >= OP_F16V4_ADD && id <= OP_F16V4_MAX;
}

static inline uint32_t packed_single(isa_op element, uint32_t a, uint32_t b, uint32_t *flags)
{
  float x = single_from_bits(a), y = single_from_bits(b);
  uint32_t bits;
  switch (element) {
  case OP_FMIN_S:
    return fast_minimum(flags, a, b);
  case OP_FMAX_S:
    return fast_maximum(flags, a, b);
  case OP_FADD_S:
    bits = single_to_bits(x + y);
    break;
  case OP_FSUB_S:
    bits = single_to_bits(x - y);
    break;
  default: /* OP_FMUL_S */
    bits = single_to_bits(x * y);
  }
  return single_is_nan(bits) ? float_single.nan : bits;
}

static inline uint32_t packed_half(isa_op element, uint32_t a, uint32_t b, uint32_t *flags)
{
  float x = half_to_single(a), y = half_to_single(b);
  switch (element) {
  case OP_FMIN_H:
    return float_minimum(&float_half, a, b, flags);
  case OP_FMAX_H:
    return float_maximum(&float_half, a, b, flags);
  case OP_FADD_H:
    return half_from_single(x + y, flags);
  case OP_FSUB_H:
    return half_from_single(x - y, flags);
  default: /* OP_FMUL_H */
    return half_from_single(x * y, flags);
  }
}

/* Flags are ORed into `flags`, except those that the host's sticky flags hold. */
static inline uint32_t packed_word(isa_op id, uint32_t a, uint32_t b, uint32_t *flags)
{
  isa_op element = packed_element(id);
  if (!packed_is_halves(id)) return packed_single(element, a, b, flags);
  return packed_half(element, a & 0xffff, b & 0xffff, flags) |
         packed_half(element, a >> 16, b >> 16, flags) << 16;
}

#endif
