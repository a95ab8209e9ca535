#include <populus/vertex.h>

/* The dot product of a segment of a row with the same segment of the input vector. */
typedef struct {
  INPUT(VECTOR(float)) a;
  INPUT(VECTOR(float)) b;
  OUTPUT(float) out;
} DotProductVertex;

COMPUTE(DotProductVertex)
{
  const float *a = vertex->a.data, *b = vertex->b.data;
  unsigned size = vertex->a.size, i = 0;
  float even = 0, odd = 0;
  for (; i + 1 < size; i += 2) {
    even += a[i] * b[i];
    odd += a[i + 1] * b[i + 1];
  }
  if (i < size) even += a[i] * b[i];
  *vertex->out = even + odd;
  return true;
}

/* The sum of the partial results of one row. */
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
