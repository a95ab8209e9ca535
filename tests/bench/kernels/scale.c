/* Small vertices for the scale topic, so that the toolchain's work around them is measured. */
#include <populus/vertex.h>

typedef struct {
  INPUT(VECTOR(float)) in;
  OUTPUT(VECTOR(float)) out;
} Scale;

COMPUTE(Scale)
{
  for (unsigned i = 0; i < vertex->in.size; ++i) vertex->out.data[i] = 2 * vertex->in.data[i];
  return true;
}

typedef struct {
  INPUT(VECTOR(float)) a;
  INPUT(VECTOR(float)) b;
  OUTPUT(VECTOR(float)) out;
} Add;

COMPUTE(Add)
{
  for (unsigned i = 0; i < vertex->a.size; ++i)
    vertex->out.data[i] = vertex->a.data[i] + vertex->b.data[i];
  return true;
}
