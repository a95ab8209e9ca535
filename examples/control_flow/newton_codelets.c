/* Square roots by Newton's method, a step at a time. */
#include <populus/vertex.h>

/* Better roots of the same numbers; the largest relative change. */
typedef struct {
  INPUT(VECTOR(float)) numbers;
  INOUT(VECTOR(float)) roots;
  OUTPUT(float) change;
} NewtonStep;

COMPUTE(NewtonStep)
{
  float largest = 0;
  for (unsigned i = 0; i < vertex->roots.size; ++i) {
    float before = vertex->roots.data[i];
    float after = (before + vertex->numbers.data[i] / before) / 2;
    float change = (before > after ? before - after : after - before) / after;
    vertex->roots.data[i] = after;
    if (change > largest) largest = change;
  }
  *vertex->change = largest;
  return true;
}

/* Does any tile's change exceed the limit? */
typedef struct {
  INPUT(VECTOR(float)) changes;
  OUTPUT(bool) more;
  INOUT(unsigned) steps;
  float limit;
} AnyAbove;

COMPUTE(AnyAbove)
{
  *vertex->more = false;
  for (unsigned i = 0; i < vertex->changes.size; ++i)
    if (vertex->changes.data[i] > vertex->limit) *vertex->more = true;
  ++*vertex->steps;
  return true;
}
