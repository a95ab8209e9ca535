/* Codelets that put something of every kind into a tile: code, library code, constant tables, variables
 * of the tile and of each worker, vertex states, fields of every size, interleaved data. */
#include <math.h>
#include <populus/vertex.h>

static const float weights[] = {0.5f, 0.25f, 0.125f, 0.0625f, 0.03125f};
static unsigned calls_of_tile;
static _Thread_local unsigned calls_of_worker = 1;

/* out[i] = sqrt(in[i]^2 * weights[i % 5]): the C library and a table. */
typedef struct {
  INPUT(VECTOR(float)) in;
  OUTPUT(VECTOR(float, SPAN, 8, 1)) out;
  OUTPUT(unsigned) calls;
} Root;

COMPUTE(Root)
{
  for (unsigned i = 0; i < vertex->in.size; ++i)
    vertex->out.data[i] = sqrtf(powf(vertex->in.data[i], 2) * weights[i % 5]);
  *vertex->calls = ++calls_of_tile + ++calls_of_worker;
  return true;
}

/* A dot product of halves, in float; and a quotient of 64 bits. */
typedef struct {
  INPUT(VECTOR(half)) a;
  INPUT(VECTOR(half)) b;
  OUTPUT(float) sum;
  INOUT(char) count;
  unsigned long long divisor;
} DotHalf;

COMPUTE(DotHalf)
{
  float sum = 0;
  for (unsigned i = 0; i < vertex->a.size; ++i)
    sum += (float)vertex->a.data[i] * (float)vertex->b.data[i];
  *vertex->sum = sum + (float)(1000000000000ull / vertex->divisor);
  *vertex->count = (char)(*vertex->count + 1);
  return true;
}
