/* Comparisons, as in StableHLO's reference implementation. expect_eq: equal values; any NaN equals
 * any other. expect_almost_eq: floating-point numbers of the same sign that differ by at most
 * .0001. expect_close: at most max_ulp_difference (3) representable numbers apart. */
#include "models/check_output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double almost = 1e-4;

/* Neighbouring floating-point numbers have neighbouring integers. */
static int64_t order(element_type e, const uint8_t *bytes)
{
  uint64_t bits = 0;
  memcpy(&bits, bytes, element_bytes(e));
  uint64_t sign = UINT64_C(1) << (8 * element_bytes(e) - 1);
  return bits & sign ? -(int64_t)(bits & ~sign) : (int64_t)bits;
}

static bool almost_equal(double a, double b)
{
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  if (a == b) return true;
  return isfinite(a) && isfinite(b) && signbit(a) == signbit(b) && fabs(a - b) <= almost;
}

static uint64_t distance(element_type e, const uint8_t *a, const uint8_t *b)
{
  double x = element_to_double(e, a), y = element_to_double(e, b);
  if (isnan(x) || isnan(y)) return isnan(x) && isnan(y) ? 0 : UINT64_MAX;
  if (isinf(x) || isinf(y)) return x == y ? 0 : UINT64_MAX;
  int64_t p = order(e, a), q = order(e, b);
  return p > q ? (uint64_t)p - (uint64_t)q : (uint64_t)q - (uint64_t)p;
}

static bool real_holds(const operation *op, element_type e, const uint8_t *a, const uint8_t *b)
{
  double x = element_to_double(e, a), y = element_to_double(e, b);
  uint64_t ulps;
  switch (op->code) {
  case OP_EXPECT_ALMOST_EQ:
  case OP_EXPECT_ALMOST_EQ_CONST:
    return almost_equal(x, y);
  case OP_EXPECT_CLOSE:
    ulps = distance(e, a, b);
    return ulps >= (uint64_t)op_int(op, "min_ulp_difference", 0) &&
           ulps <= (uint64_t)op_int(op, "max_ulp_difference", 3);
  default:
    return x == y || (isnan(x) && isnan(y));
  }
}

static bool holds(const operation *op, element_type e, const uint8_t *a, const uint8_t *b)
{
  if (e == ELEMENT_C64)
    return real_holds(op, ELEMENT_F32, a, b) && real_holds(op, ELEMENT_F32, a + 4, b + 4);
  if (element_is_float(e)) return real_holds(op, e, a, b);
  return memcmp(a, b, element_bytes(e)) == 0;
}

static void print_element(element_type e, const uint8_t *bytes, char *text, size_t size)
{
  if (e == ELEMENT_C64)
    snprintf(text, size, "(%.9g, %.9g)", element_to_double(ELEMENT_F32, bytes),
             element_to_double(ELEMENT_F32, bytes + 4));
  else if (element_is_float(e))
    snprintf(text, size, "%.*g", e == ELEMENT_F64 ? 17 : 9, element_to_double(e, bytes));
  else if (e == ELEMENT_U64)
    snprintf(text, size, "%" PRIu64, (uint64_t)element_to_int(e, bytes));
  else
    snprintf(text, size, "%" PRId64, element_to_int(e, bytes));
}

/* "[1, 2]" */
static void print_index(const model_type *type, uint64_t at, char *text, size_t size)
{
  uint64_t index[MODEL_MAX_RANK];
  for (uint32_t d = type->rank; d-- > 0; at /= (uint64_t)type->dims[d])
    index[d] = at % (uint64_t)type->dims[d];
  size_t used = (size_t)snprintf(text, size, "[");
  for (uint32_t d = 0; d < type->rank && used < size; ++d)
    used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64, d ? ", " : "", index[d]);
  if (used < size) snprintf(text + used, size - used, "]");
}

static pop_error *compare(const module *m, const lowered_check *c, const uint8_t *actual,
                          const uint8_t *expected, bool splat)
{
  element_type e = c->type->element;
  size_t bytes = element_bytes(e);
  uint64_t count = type_elements(c->type);
  for (uint64_t i = 0; i < count; ++i) {
    const uint8_t *a = actual + i * bytes, *b = expected + (splat ? 0 : i * bytes);
    if (holds(c->op, e, a, b)) continue;
    char is[80], should[80], index[400];
    print_element(e, a, is, sizeof is);
    print_element(e, b, should, sizeof should);
    print_index(c->type, i, index, sizeof index);
    const operation *by = c->op->operands[0]->op;
    char *place = model_place(m, c->op->offset);
    pop_error *error = pop_error_new(
        POP_ERROR_RUNTIME, "%s: %s does not hold: %s (%s) has %s at %s, not %s", place,
        op_infos[c->op->code].name, c->op->operands[0]->name ? c->op->operands[0]->name : "a value",
        by ? by->name : "an argument", is, index, should);
    free(place);
    return error;
  }
  return NULL;
}

pop_error *check_output(const module *m, const lowered_check *c, pop_engine *engine)
{
  size_t bytes = type_elements(c->type) * element_bytes(c->type->element);
  size_t all = bytes * (size_t)m->replicas;
  uint8_t *actual = pop_xmalloc(all + 1), *expected = NULL;
  pop_error *error = pop_engine_read_tensor(engine, c->actual, actual, all);
  if (!error && !c->literal) {
    expected = pop_xmalloc(all + 1);
    error = pop_engine_read_tensor(engine, c->expected, expected, all);
  }
  for (int64_t r = 0; r < m->replicas && !error; ++r) {
    const uint8_t *should = c->literal ? c->literal->data : expected + (size_t)r * bytes;
    error = compare(m, c, actual + (size_t)r * bytes, should, c->literal && c->literal->splat);
    if (error && m->replicas > 1) error = pop_error_prefix(error, "replica %" PRId64, r);
  }
  free(actual);
  free(expected);
  return error;
}
