/* A moving average over batches. */
#include <populus/vertex.h>

typedef struct {
  INPUT(VECTOR(float)) batch;
  INOUT(VECTOR(float)) average;
  float weight; /* of the batch */
} MovingAverage;

COMPUTE(MovingAverage)
{
  for (unsigned i = 0; i < vertex->average.size; ++i)
    vertex->average.data[i] += vertex->weight * (vertex->batch.data[i] - vertex->average.data[i]);
  return true;
}
