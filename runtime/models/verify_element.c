/* Operations element by element: the number and types of operands. */
#include "models/verify.h"

typedef enum element_set {
  SET_INTEGER = 1,
  SET_I1 = 2,
  SET_FLOAT = 4,
  SET_COMPLEX = 8,
  SET_F64 = 16,    /* f64 is not supported, but other floats are */
  SET_SIGNED = 32, /* of integers, only signed ones */
  SET_ALL = 15
} element_set;

/* The types that the first operand may have. */
static const struct {
  op_code code;
  unsigned set;
  size_t operands;
} element_ops[] = {
    {OP_ABS, 13 | SET_SIGNED, 1},
    {OP_CBRT, 12, 1},
    {OP_CEIL, 4, 1},
    {OP_CONVERT, 15, 1},
    {OP_COSINE, 12, 1},
    {OP_COUNT_LEADING_ZEROS, 1, 1},
    {OP_EXPONENTIAL, 12, 1},
    {OP_EXPONENTIAL_MINUS_ONE, 12, 1},
    {OP_FLOOR, 4, 1},
    {OP_IMAG, 12, 1},
    {OP_IS_FINITE, 12, 1},
    {OP_LOG, 12, 1},
    {OP_LOG_PLUS_ONE, 12, 1},
    {OP_LOGISTIC, 12, 1},
    {OP_NEGATE, 13, 1},
    {OP_NOT, 3, 1},
    {OP_POPCNT, 1, 1},
    {OP_REAL, 12, 1},
    {OP_REDUCE_PRECISION, 4, 1},
    {OP_ROUND_NEAREST_AFZ, 4, 1},
    {OP_ROUND_NEAREST_EVEN, 4, 1},
    {OP_RSQRT, 12, 1},
    {OP_SIGN, 13 | SET_SIGNED, 1},
    {OP_SINE, 12, 1},
    {OP_SQRT, 12, 1},
    {OP_TAN, 12, 1},
    {OP_TANH, 12, 1},
    {OP_ACOS, 4, 1},
    {OP_ACOSH, 4, 1},
    {OP_ASIN, 4, 1},
    {OP_ASINH, 4, 1},
    {OP_ATAN, 4, 1},
    {OP_ATANH, 4, 1},
    {OP_BESSEL_I1E, 4 | SET_F64, 1},
    {OP_CONJ, 8, 1},
    {OP_COSH, 4, 1},
    {OP_DIGAMMA, 4, 1},
    {OP_ERF, 4, 1},
    {OP_ERF_INV, 4 | SET_F64, 1},
    {OP_ERFC, 4, 1},
    {OP_IS_INF, 4, 1},
    {OP_IS_NEG_INF, 4, 1},
    {OP_IS_POS_INF, 4, 1},
    {OP_LGAMMA, 4, 1},
    {OP_SINH, 4, 1},
    {OP_SQUARE, 13, 1},
    {OP_ADD, 15, 2},
    {OP_AND, 3, 2},
    {OP_ATAN2, 4, 2},
    {OP_COMPARE, 15, 2},
    {OP_COMPLEX, 4 | SET_F64, 2},
    {OP_DIVIDE, 13, 2},
    {OP_MAXIMUM, 15, 2},
    {OP_MINIMUM, 15, 2},
    {OP_MULTIPLY, 15, 2},
    {OP_NEXT_AFTER, 4, 2},
    {OP_OR, 3, 2},
    {OP_POLYGAMMA, 4 | SET_F64, 2},
    {OP_POWER, 13, 2},
    {OP_REMAINDER, 5, 2},
    {OP_SHIFT_LEFT, 1, 2},
    {OP_SHIFT_RIGHT_ARITHMETIC, 1, 2},
    {OP_SHIFT_RIGHT_LOGICAL, 1, 2},
    {OP_SUBTRACT, 13, 2},
    {OP_XOR, 3, 2},
    {OP_ZETA, 4 | SET_F64, 2},
    {OP_CLAMP, 15, 3},
    {OP_SELECT, 15, 3},
};

static element_set set_of(element_type e)
{
  if (e == ELEMENT_I1) return SET_I1;
  if (e == ELEMENT_C64) return SET_COMPLEX;
  return element_is_float(e) ? SET_FLOAT : SET_INTEGER;
}

/* The result's element type, which may differ from the operand's. */
static element_type result_element(const operation *op)
{
  element_type e = type_of(op, 0)->element;
  switch (op->code) {
  case OP_COMPARE:
  case OP_IS_FINITE:
  case OP_IS_INF:
  case OP_IS_POS_INF:
  case OP_IS_NEG_INF:
    return ELEMENT_I1;
  case OP_ABS:
  case OP_REAL:
  case OP_IMAG:
    return e == ELEMENT_C64 ? ELEMENT_F32 : e;
  case OP_COMPLEX:
    return ELEMENT_C64;
  case OP_CONVERT:
    return op->results[0]->type->element;
  case OP_SELECT:
  case OP_CLAMP:
    return type_of(op, 1)->element;
  default:
    return e;
  }
}

/* Complex numbers are not ordered. Each other kind of numbers has a comparison of its own. */
static pop_error *verify_comparison(verifier *v, const operation *op, const char *direction)
{
  element_type e = type_of(op, 0)->element;
  const char *type = op_word(op, "compare_type");
  if (strcmp(type, "NOTYPE") == 0) type = "";
  bool by_float = strcmp(type, "FLOAT") == 0 || strcmp(type, "TOTALORDER") == 0;
  bool is_float = element_is_float(e) || e == ELEMENT_C64;
  WANT(e != ELEMENT_C64 || strcmp(direction, "EQ") == 0 || strcmp(direction, "NE") == 0,
       "%s: complex numbers are compared by EQ and NE, not %s", op->name, direction);
  bool known = by_float || strcmp(type, "SIGNED") == 0 || strcmp(type, "UNSIGNED") == 0;
  WANT(!*type || (known && by_float == is_float), "%s: %s is no comparison of %s", op->name, type,
       element_infos[e].name);
  return NULL;
}

static pop_error *verify_element_words(verifier *v, const operation *op)
{
  static const char *const directions[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  if (op->code == OP_COMPARE) {
    const char *direction = op_word(op, "comparison_direction");
    bool known = false;
    for (size_t i = 0; i < 6; ++i) known = known || strcmp(direction, directions[i]) == 0;
    WANT(known, "%s: the direction is EQ, NE, LT, LE, GT or GE, not '%s'", op->name, direction);
    POP_TRY(verify_comparison(v, op, direction));
  }
  if (op->code == OP_REDUCE_PRECISION) {
    int64_t e = op_int(op, "exponent_bits", 0), m = op_int(op, "mantissa_bits", -1);
    WANT(e >= 1 && e <= 64 && m >= 0 && m <= 64,
         "%s: exponent_bits is at least 1, mantissa_bits at least 0", op->name);
  }
  return NULL;
}

pop_error *verify_element(verifier *v, const operation *op)
{
  size_t n = 0;
  while (n < sizeof element_ops / sizeof *element_ops && element_ops[n].code != op->code) n++;
  if (n == sizeof element_ops / sizeof *element_ops) FAIL("%s is not known", op->name);
  POP_TRY(want_counts(v, op, element_ops[n].operands, 1, 0));
  POP_TRY(want_tensors(v, op));
  const model_type *result = op->results[0]->type;
  size_t checked = op->code == OP_SELECT || op->code == OP_CLAMP ? 1 : 0;
  element_type e = type_of(op, checked)->element;
  if (!(set_of(e) & element_ops[n].set) || (e == ELEMENT_F64 && (element_ops[n].set & SET_F64)) ||
      (op->code == OP_COMPLEX && e != ELEMENT_F32)) {
    char *what = pop_xasprintf("%s of %s", op->name, element_infos[e].name);
    name_unsupported(v, op->offset, what);
    free(what);
    return NULL;
  }
  bool of_sign = element_ops[n].set & SET_SIGNED;
  WANT(!of_sign || set_of(e) != SET_INTEGER || element_is_signed(e),
       "%s: the operand is of %s, which has no sign", op->name, element_infos[e].name);
  for (size_t i = 0; i < op->num_operands; ++i) {
    const model_type *t = type_of(op, i);
    /* select's predicate and clamp's bounds may be scalars, whatever the shape of the others. */
    bool scalar =
        t->rank == 0 && ((op->code == OP_SELECT && i == 0) || (op->code == OP_CLAMP && i != 1));
    WANT(scalar || type_same_shape(t, result), "%s: operand %zu is %s, the result %s", op->name, i,
         type_text(v->m->arena, t), type_text(v->m->arena, result));
    bool predicate = op->code == OP_SELECT && i == 0;
    WANT(!predicate || t->element == ELEMENT_I1, "%s: the predicate is of i1, not %s", op->name,
         element_infos[t->element].name);
    WANT(predicate || t->element == e, "%s: operand %zu is of %s, another of %s", op->name, i,
         element_infos[t->element].name, element_infos[e].name);
  }
  WANT(result->element == result_element(op), "the result of %s is of %s, not %s", op->name,
       element_infos[result_element(op)].name, element_infos[result->element].name);
  return verify_element_words(v, op);
}
