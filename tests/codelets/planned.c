/* Vertices for graphs whose memory is hard to plan: of all kinds of demands on where data lie. */
#include <populus/vertex.h>

typedef struct {
  INPUT(VECTOR(float)) in;
  OUTPUT(VECTOR(float)) out;
} Halve;
COMPUTE(Halve)
{
  for (unsigned i = 0; i < vertex->out.size; ++i)
    vertex->out.data[i] = 0.5f * vertex->in.data[i % vertex->in.size];
  return true;
}

typedef struct CONSTRAINT("elem(*a) != elem(*b)") {
  INPUT(VECTOR(float, SPAN, 8)) a;
  INPUT(VECTOR(float, SPAN, 16)) b;
  OUTPUT(VECTOR(float)) out;
} AddApart;
COMPUTE(AddApart)
{
  for (unsigned i = 0; i < vertex->out.size; ++i)
    vertex->out.data[i] = vertex->a.data[i % vertex->a.size] + vertex->b.data[i % vertex->b.size];
  return true;
}

typedef struct {
  INPUT(VECTOR(float, SPAN, 8, 1)) in; /* interleaved */
  OUTPUT(VECTOR(float)) out;
} Interleaved;
COMPUTE(Interleaved)
{
  for (unsigned i = 0; i < vertex->out.size; ++i)
    vertex->out.data[i] = vertex->in.data[i % vertex->in.size] + 1;
  return true;
}
