/* The types in which large products and convolutions are calculated.
 *
 *     result        operands   calculated in
 *     f32, f16      f16        f16, by poplin, with sums in single precision
 *     other floats  any        f32, by poplin: f16 and bf16 are exact there; the sum is rounded last
 *     i8, i16, i32  any        i32, in blocks (lower_product_blocks.c): the low bits of sums and
 *                              products depend on the low bits only
 *     u8, u16, u32  any        u32
 *     others        any        the result's type
 *
 * Operands are converted to the result's type first, as in small products (emit_compute.c).
 * Integers narrower than a word are widened because tiles exchange words. */
#include "models/range.h"

element_type product_element(const operation *op)
{
  element_type e = op->results[0]->type->element;
  bool halves = op->operands[0]->type->element == ELEMENT_F16 &&
                op->operands[1]->type->element == ELEMENT_F16;
  switch (e) {
  case ELEMENT_F16:
  case ELEMENT_F32:
    return halves ? ELEMENT_F16 : ELEMENT_F32;
  case ELEMENT_BF16:
    return ELEMENT_F32;
  case ELEMENT_I8:
  case ELEMENT_I16:
    return ELEMENT_I32;
  case ELEMENT_U8:
  case ELEMENT_U16:
    return ELEMENT_U32;
  default:
    return e;
  }
}

bool product_is_poplins(const operation *op)
{
  element_type e = product_element(op);
  return e == ELEMENT_F32 || e == ELEMENT_F16;
}

/* A new variable with the elements of `t`, converted from `from` to `via` and then to `to`. */
static pop_tensor converted(lowering *l, const operation *op, pop_tensor t, element_type from,
                            element_type via, element_type to)
{
  pop_arena *arena = l->m->arena;
  const char *x = pop_arena_printf(arena, "hlo_load_%s(in0[i])", element_infos[from].suffix);
  x = emit_converted(arena, via, to, emit_converted(arena, from, via, x));
  return range_map(
      l, op, t, from, to,
      pop_arena_printf(arena, "out0[i] = hlo_store_%s(%s);", element_infos[to].suffix, x));
}

bool product_takes_operand(const operation *op, size_t operand)
{
  element_type e = op->operands[operand]->type->element, in = product_element(op);
  element_type result = op->results[0]->type->element;
  /* A float is first rounded to the result's type, so an operand may need conversion even if it has
   * the type of calculation. */
  return e == in && (result == in || result == ELEMENT_F32 || element_is_integer(result));
}

pop_tensor product_operand(lowering *l, const operation *op, size_t operand)
{
  const value *v = op->operands[operand];
  pop_tensor t = lowering_tensor(l, v);
  if (l->error || product_takes_operand(op, operand)) return t;
  return converted(l, op, t, v->type->element, op->results[0]->type->element, product_element(op));
}

pop_type product_output(const operation *op)
{
  bool half = product_element(op) == ELEMENT_F16 && op->results[0]->type->element == ELEMENT_F16;
  return half ? POP_HALF : POP_FLOAT;
}

pop_tensor product_result(lowering *l, const operation *op, pop_tensor t, element_type e)
{
  element_type result = op->results[0]->type->element;
  return e == result ? t : converted(l, op, t, e, e, result);
}
