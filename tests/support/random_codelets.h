/* The codelets of tests/codelets/random.c in C of the host: the table of their fields, and a
 * function for each that gets the fields' elements as arrays. */
#ifndef POPULUS_TEST_RANDOM_CODELETS_H
#define POPULUS_TEST_RANDOM_CODELETS_H

#include <populus/types.h>
#include <stddef.h>
#include <stdint.h>

typedef enum codelet_access {
  CODELET_INPUT,
  CODELET_OUTPUT,
  CODELET_INOUT,
  CODELET_CONSTANT
} codelet_access;

typedef enum codelet_length {
  LENGTH_SCALAR,
  LENGTH_SHARED, /* all such fields of a vertex have the same length */
} codelet_length;

typedef struct codelet_field {
  const char *name; /* NULL ends the list */
  codelet_access access;
  codelet_length length;
  pop_type type;
} codelet_field;

enum { CODELET_MAX_FIELDS = 12 };

/* fields[i]: elements of field i; sizes[i]: how many. */
typedef void codelet_function(void *const *fields, const size_t *sizes);

typedef struct codelet_model {
  const char *name;
  codelet_function *run;
  codelet_field fields[CODELET_MAX_FIELDS + 1];
} codelet_model;

/* ---- arithmetic: integers modulo their size, floating point rounded after each operation ---- */

#define INTEGER_ARITHMETIC(Name, type)                                                             \
  static inline type mix_##Name(type x, type a, type b, type k)                                    \
  {                                                                                                \
    return (type)((uint64_t)x * 3 + (uint64_t)a - (uint64_t)b * 5 + (uint64_t)k);                  \
  }                                                                                                \
  static inline type reduce_##Name(type sum, type v)                                               \
  {                                                                                                \
    return (type)((uint64_t)sum * 3 + (uint64_t)v);                                                \
  }                                                                                                \
  static inline type fill_##Name(type start, size_t i)                                             \
  {                                                                                                \
    return (type)((uint64_t)start + i * 7);                                                        \
  }

INTEGER_ARITHMETIC(Char, uint8_t)
INTEGER_ARITHMETIC(SignedChar, int8_t)
INTEGER_ARITHMETIC(UnsignedChar, uint8_t)
INTEGER_ARITHMETIC(Short, int16_t)
INTEGER_ARITHMETIC(UnsignedShort, uint16_t)
INTEGER_ARITHMETIC(Int, int32_t)
INTEGER_ARITHMETIC(UnsignedInt, uint32_t)
INTEGER_ARITHMETIC(LongLong, int64_t)
INTEGER_ARITHMETIC(UnsignedLongLong, uint64_t)

static inline uint8_t mix_Bool(uint8_t x, uint8_t a, uint8_t b, uint8_t k)
{
  return x ^ a ^ b ^ k;
}

static inline uint8_t reduce_Bool(uint8_t sum, uint8_t v)
{
  return sum ^ v;
}

static inline uint8_t fill_Bool(uint8_t start, size_t i)
{
  return (uint8_t)((start + i) & 1);
}

static inline float mix_Float(float x, float a, float b, float k)
{
  float x_part = 0.25f * x, a_part = 0.5f * a, b_part = 0.125f * b;
  float sum = x_part + a_part;
  float difference = sum - b_part;
  return difference + k;
}

static inline float reduce_Float(float sum, float v)
{
  float sum_part = 0.5f * sum, v_part = 0.25f * v;
  return sum_part + v_part;
}

static inline float fill_Float(float start, size_t i)
{
  return start + (float)(i % 8);
}

/* The sum or product of two halves, in float and then rounded to half, is the half's: float has
 * more than twice the digits. */
static inline uint16_t half_sum(uint16_t a, uint16_t b)
{
  return pop_half_from_float(pop_half_to_float(a) + pop_half_to_float(b));
}

static inline uint16_t half_scaled(float factor, uint16_t a)
{
  return pop_half_from_float(factor * pop_half_to_float(a));
}

static inline uint16_t mix_Half(uint16_t x, uint16_t a, uint16_t b, uint16_t k)
{
  uint16_t sum = half_sum(half_scaled(0.25f, x), half_scaled(0.5f, a));
  return half_sum(half_sum(sum, half_scaled(-0.125f, b)), k);
}

static inline uint16_t reduce_Half(uint16_t sum, uint16_t v)
{
  return half_sum(half_scaled(0.5f, sum), half_scaled(0.25f, v));
}

static inline uint16_t fill_Half(uint16_t start, size_t i)
{
  return half_sum(start, pop_half_from_float((float)(i % 8)));
}

/* ---- codelets ---- */

/* X(name, type of tensors, type of the host) */
#define CODELET_TYPES(X)                                                                           \
  X(Bool, POP_BOOL, uint8_t)                                                                       \
  X(Char, POP_CHAR, uint8_t)                                                                       \
  X(SignedChar, POP_SIGNED_CHAR, int8_t)                                                           \
  X(UnsignedChar, POP_UNSIGNED_CHAR, uint8_t)                                                      \
  X(Short, POP_SHORT, int16_t)                                                                     \
  X(UnsignedShort, POP_UNSIGNED_SHORT, uint16_t)                                                   \
  X(Int, POP_INT, int32_t)                                                                         \
  X(UnsignedInt, POP_UNSIGNED_INT, uint32_t)                                                       \
  X(LongLong, POP_LONGLONG, int64_t)                                                               \
  X(UnsignedLongLong, POP_UNSIGNED_LONGLONG, uint64_t)                                             \
  X(Half, POP_HALF, uint16_t)                                                                      \
  X(Float, POP_FLOAT, float)

#define CODELET_FUNCTIONS(Name, element, host)                                                     \
  static inline void run_Mix##Name(void *const *fields, const size_t *sizes)                       \
  {                                                                                                \
    const host *a = fields[0], *b = fields[1], *k = fields[4];                                     \
    host *x = fields[2], *last = fields[3];                                                        \
    *last = *k;                                                                                    \
    for (size_t i = 0; i < sizes[0]; ++i) *last = x[i] = mix_##Name(x[i], a[i], b[i], *k);         \
  }                                                                                                \
  static inline void run_Reduce##Name(void *const *fields, const size_t *sizes)                    \
  {                                                                                                \
    const host *in = fields[2];                                                                    \
    host sum = *(const host *)fields[1];                                                           \
    for (size_t i = 0; i < sizes[2]; ++i) sum = reduce_##Name(sum, in[i]);                         \
    *(host *)fields[0] = sum;                                                                      \
    *(uint32_t *)fields[3] += (uint32_t)sizes[2];                                                  \
  }                                                                                                \
  static inline void run_Fill##Name(void *const *fields, const size_t *sizes)                      \
  {                                                                                                \
    host *out = fields[1];                                                                         \
    for (size_t i = 0; i < sizes[1]; ++i) out[i] = fill_##Name(*(const host *)fields[0], i);       \
  }
CODELET_TYPES(CODELET_FUNCTIONS)
#undef CODELET_FUNCTIONS

static inline void run_Mixed(void *const *fields, const size_t *sizes)
{
  int64_t *out = fields[2];
  const uint8_t *bytes = fields[4];
  int16_t *s = fields[8];
  int64_t sum = (int64_t)pop_half_to_float(*(uint16_t *)fields[0]) + *(int8_t *)fields[1] +
                *(uint8_t *)fields[3] + *(uint16_t *)fields[5] + (int64_t)*(float *)fields[9] +
                (int64_t)pop_half_to_float(*(uint16_t *)fields[7]) + *(uint8_t *)fields[10] +
                *(uint32_t *)fields[11];
  for (size_t i = 0; i < sizes[4]; ++i)
    out[i] = (int64_t)((uint64_t)sum + *(uint64_t *)fields[6] + bytes[i] + (uint64_t)*s);
  *s = (int16_t)(*s + sum);
}

static const codelet_model codelet_models[] = {
#define CODELET_MODELS(Name, element, host)                                                        \
  {"Mix" #Name,                                                                                    \
   run_Mix##Name,                                                                                  \
   {{"a", CODELET_INPUT, LENGTH_SHARED, element},                                                  \
    {"b", CODELET_INPUT, LENGTH_SHARED, element},                                                  \
    {"x", CODELET_INOUT, LENGTH_SHARED, element},                                                  \
    {"last", CODELET_OUTPUT, LENGTH_SCALAR, element},                                              \
    {"k", CODELET_CONSTANT, LENGTH_SCALAR, element}}},                                             \
      {"Reduce" #Name,                                                                             \
       run_Reduce##Name,                                                                           \
       {{"out", CODELET_OUTPUT, LENGTH_SCALAR, element},                                           \
        {"start", CODELET_INPUT, LENGTH_SCALAR, element},                                          \
        {"in", CODELET_INPUT, LENGTH_SHARED, element},                                             \
        {"count", CODELET_INOUT, LENGTH_SCALAR, POP_UNSIGNED_INT}}},                               \
      {"Fill" #Name,                                                                               \
       run_Fill##Name,                                                                             \
       {{"start", CODELET_CONSTANT, LENGTH_SCALAR, element},                                       \
        {"out", CODELET_OUTPUT, LENGTH_SHARED, element}}},
    CODELET_TYPES(CODELET_MODELS)
#undef CODELET_MODELS
        {"Mixed",
         run_Mixed,
         {{"h", CODELET_INPUT, LENGTH_SCALAR, POP_HALF},
          {"sc", CODELET_CONSTANT, LENGTH_SCALAR, POP_SIGNED_CHAR},
          {"out", CODELET_OUTPUT, LENGTH_SHARED, POP_LONGLONG},
          {"b", CODELET_CONSTANT, LENGTH_SCALAR, POP_BOOL},
          {"bytes", CODELET_INPUT, LENGTH_SHARED, POP_UNSIGNED_CHAR},
          {"us", CODELET_CONSTANT, LENGTH_SCALAR, POP_UNSIGNED_SHORT},
          {"ll", CODELET_CONSTANT, LENGTH_SCALAR, POP_LONGLONG},
          {"hk", CODELET_CONSTANT, LENGTH_SCALAR, POP_HALF},
          {"s", CODELET_INOUT, LENGTH_SCALAR, POP_SHORT},
          {"f", CODELET_CONSTANT, LENGTH_SCALAR, POP_FLOAT},
          {"c", CODELET_CONSTANT, LENGTH_SCALAR, POP_CHAR},
          {"u", CODELET_CONSTANT, LENGTH_SCALAR, POP_UNSIGNED_INT}}},
};

#endif
