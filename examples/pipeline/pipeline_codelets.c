/* A stage of the pipeline: each element is scaled and shifted. */
#include <populus/vertex.h>

typedef struct {
  INPUT(VECTOR(float)) in;
  OUTPUT(VECTOR(float)) out;
  float scale, shift;
} Stage;

COMPUTE(Stage)
{
  for (unsigned i = 0; i < vertex->in.size; ++i)
    vertex->out.data[i] = vertex->in.data[i] * vertex->scale + vertex->shift;
  return true;
}
