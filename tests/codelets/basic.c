/* Codelets in C that tests and examples share: reductions, in-place work, constants, and one vertex
 * for each element type. basic.cpp holds the same in C++. */
#include <populus/vertex.h>

typedef struct {
  INPUT(VECTOR(float)) in;
  OUTPUT(float) out;
} SumVertex;

COMPUTE(SumVertex)
{
  float sum = 0;
  for (unsigned i = 0; i < vertex->in.size; ++i) sum += vertex->in.data[i];
  *vertex->out = sum;
  return true;
}

typedef struct {
  INPUT(VECTOR(float)) a;
  INPUT(VECTOR(float)) b;
  OUTPUT(float) out;
} DotProductVertex;

COMPUTE(DotProductVertex)
{
  float sum = 0;
  for (unsigned i = 0; i < vertex->a.size; ++i) sum += vertex->a.data[i] * vertex->b.data[i];
  *vertex->out = sum;
  return true;
}

typedef struct {
  INPUT(VECTOR(float)) in;
  OUTPUT(float) out;
} ReduceVertex;

COMPUTE(ReduceVertex)
{
  float sum = 0;
  for (unsigned i = 0; i < vertex->in.size; ++i) sum += vertex->in.data[i];
  *vertex->out = sum;
  return true;
}

typedef struct {
  INOUT(VECTOR(int)) x;
} AddOne;

COMPUTE(AddOne)
{
  for (unsigned i = 0; i < vertex->x.size; ++i) ++vertex->x.data[i];
  return true;
}

typedef struct {
  INPUT(VECTOR(half)) in;
  OUTPUT(VECTOR(half)) out;
  float k;
} Scale;

COMPUTE(Scale)
{
  for (unsigned i = 0; i < vertex->in.size; ++i)
    vertex->out.data[i] = (half)((float)vertex->in.data[i] * vertex->k);
  return true;
}

/* out[i] = a + in[i] + k, with every kind of field of one type. */
#define ADD_ALL(Name, type)                                                                        \
  typedef struct {                                                                                 \
    INPUT(type) a;                                                                                 \
    INPUT(VECTOR(type)) in;                                                                        \
    OUTPUT(VECTOR(type, ONE_PTR)) out;                                                             \
    type k;                                                                                        \
  } Name;                                                                                          \
  COMPUTE(Name)                                                                                    \
  {                                                                                                \
    for (unsigned i = 0; i < vertex->in.size; ++i)                                                 \
      vertex->out[i] = (type)(*vertex->a + vertex->in.data[i] + vertex->k);                        \
    return true;                                                                                   \
  }

ADD_ALL(AddBool, bool)
ADD_ALL(AddChar, char)
ADD_ALL(AddSignedChar, signed char)
ADD_ALL(AddUnsignedChar, unsigned char)
ADD_ALL(AddShort, short)
ADD_ALL(AddUnsignedShort, unsigned short)
ADD_ALL(AddInt, int)
ADD_ALL(AddUnsigned, unsigned)
ADD_ALL(AddLongLong, long long)
ADD_ALL(AddUnsignedLongLong, unsigned long long)
ADD_ALL(AddHalf, half)
ADD_ALL(AddFloat, float)
