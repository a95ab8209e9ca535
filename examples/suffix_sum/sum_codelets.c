#include <populus/vertex.h>

/* The sum of a vector, to one element. */
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
