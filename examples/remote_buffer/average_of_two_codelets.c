/* The average of two samples, element by element. */
#include <populus/vertex.h>

typedef struct {
  INPUT(VECTOR(float)) first;
  INPUT(VECTOR(float)) second;
  OUTPUT(VECTOR(float)) average;
} AverageOfTwo;

COMPUTE(AverageOfTwo)
{
  for (unsigned i = 0; i < vertex->average.size; ++i)
    vertex->average.data[i] = (vertex->first.data[i] + vertex->second.data[i]) / 2;
  return true;
}
