/* Codelets of the random tests of the engine (tests/unit/engine/random.c has the same in host C):
 * for each element type one that reads, changes and writes, one that reduces and one that fills, with
 * fields of every kind, layout and alignment; and one whose fields have a type each.
 *
 * What they compute stays finite for floating-point types, however often it is fed back. */
#include <populus/vertex.h>

/* wide: an unsigned type to calculate in, so that nothing overflows. */
#define MIX_INTEGER(type, wide, x, a, b, k)                                                        \
  (type)((wide)(x) * 3 + (wide)(a) - (wide)(b) * 5 + (wide)(k))
#define REDUCE_INTEGER(type, wide, sum, v) (type)((wide)(sum) * 3 + (wide)(v))
#define FILL_INTEGER(type, wide, start, i) (type)((wide)(start) + (wide)(i) * 7)

#define MIX_BOOL(type, wide, x, a, b, k) (((x) ^ (a) ^ (b) ^ (k)) & 1)
#define REDUCE_BOOL(type, wide, sum, v) ((sum) ^ (v))
#define FILL_BOOL(type, wide, start, i) (((start) + (i)) & 1)

#define MIX_FLOAT(type, wide, x, a, b, k)                                                          \
  ((type)0.25 * (x) + (type)0.5 * (a) - (type)0.125 * (b) + (k))
#define REDUCE_FLOAT(type, wide, sum, v) ((type)0.5 * (sum) + (type)0.25 * (v))
#define FILL_FLOAT(type, wide, start, i) ((start) + (type)((i) % 8))

#define CODELETS(Name, type, wide, KIND)                                                           \
  typedef struct {                                                                                 \
    INPUT(VECTOR(type, SPAN, 16)) a;                                                               \
    INPUT(VECTOR(type, ONE_PTR)) b;                                                                \
    INOUT(VECTOR(type)) x;                                                                         \
    OUTPUT(type) last;                                                                             \
    type k;                                                                                        \
  } Mix##Name;                                                                                     \
  COMPUTE(Mix##Name)                                                                               \
  {                                                                                                \
    *vertex->last = vertex->k;                                                                     \
    for (unsigned i = 0; i < vertex->a.size; ++i) {                                                \
      vertex->x.data[i] =                                                                          \
          MIX_##KIND(type, wide, vertex->x.data[i], vertex->a.data[i], vertex->b[i], vertex->k);   \
      *vertex->last = vertex->x.data[i];                                                           \
    }                                                                                              \
    return true;                                                                                   \
  }                                                                                                \
  typedef struct {                                                                                 \
    OUTPUT(type) out;                                                                              \
    INPUT(type) start;                                                                             \
    INPUT(VECTOR(type)) in;                                                                        \
    INOUT(unsigned) count;                                                                         \
  } Reduce##Name;                                                                                  \
  COMPUTE(Reduce##Name)                                                                            \
  {                                                                                                \
    type sum = *vertex->start;                                                                     \
    for (unsigned i = 0; i < vertex->in.size; ++i)                                                 \
      sum = REDUCE_##KIND(type, wide, sum, vertex->in.data[i]);                                    \
    *vertex->out = sum;                                                                            \
    *vertex->count += vertex->in.size;                                                             \
    return true;                                                                                   \
  }                                                                                                \
  typedef struct {                                                                                 \
    type start;                                                                                    \
    OUTPUT(VECTOR(type, SPAN, 0, 1)) out;                                                          \
  } Fill##Name;                                                                                    \
  COMPUTE(Fill##Name)                                                                              \
  {                                                                                                \
    for (unsigned i = 0; i < vertex->out.size; ++i)                                                \
      vertex->out.data[i] = FILL_##KIND(type, wide, vertex->start, i);                             \
    return true;                                                                                   \
  }

CODELETS(Bool, bool, bool, BOOL)
CODELETS(Char, char, unsigned, INTEGER)
CODELETS(SignedChar, signed char, unsigned, INTEGER)
CODELETS(UnsignedChar, unsigned char, unsigned, INTEGER)
CODELETS(Short, short, unsigned, INTEGER)
CODELETS(UnsignedShort, unsigned short, unsigned, INTEGER)
CODELETS(Int, int, unsigned, INTEGER)
CODELETS(UnsignedInt, unsigned, unsigned, INTEGER)
CODELETS(LongLong, long long, unsigned long long, INTEGER)
CODELETS(UnsignedLongLong, unsigned long long, unsigned long long, INTEGER)
CODELETS(Half, half, half, FLOAT)
CODELETS(Float, float, float, FLOAT)

/* Fields of all sizes in an order that needs padding; the sum of all that is read. */
typedef struct {
  INPUT(half) h;
  signed char sc;
  OUTPUT(VECTOR(long long, ONE_PTR)) out;
  bool b;
  INPUT(VECTOR(unsigned char)) bytes;
  unsigned short us;
  long long ll;
  half hk;
  INOUT(short) s;
  float f;
  char c;
  unsigned u;
} Mixed;

COMPUTE(Mixed)
{
  long long sum = (long long)*vertex->h + vertex->sc + vertex->b + vertex->us +
                  (long long)vertex->f + (long long)vertex->hk + (unsigned char)vertex->c +
                  vertex->u;
  for (unsigned i = 0; i < vertex->bytes.size; ++i)
    vertex->out[i] = (long long)((unsigned long long)sum + (unsigned long long)vertex->ll +
                                 vertex->bytes.data[i] + (unsigned long long)*vertex->s);
  *vertex->s = (short)(*vertex->s + sum);
  return true;
}
