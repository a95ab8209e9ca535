/* Sums over a part of the data, and over what came from other replicas. */
#include <populus/vertex.h>

typedef struct {
  INPUT(VECTOR(float)) in;
  OUTPUT(float) out;
} PartSum;

COMPUTE(PartSum)
{
  float sum = 0;
  for (unsigned i = 0; i < vertex->in.size; ++i) sum += vertex->in.data[i];
  *vertex->out = sum;
  return true;
}

typedef struct {
  INOUT(float) total;
  INPUT(float) other;
} AddOther;

COMPUTE(AddOther)
{
  *vertex->total += *vertex->other;
  return true;
}
