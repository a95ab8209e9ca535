/* Of tests/support/rank_program.c. */
#include <populus/vertex.h>

/* Rounds, differently in each replica. */
typedef struct {
  INOUT(VECTOR(float)) x;
  INPUT(VECTOR(float)) y;
  INPUT(unsigned) index;
} Mix;

COMPUTE(Mix)
{
  for (unsigned i = 0; i < vertex->x.size; i++)
    vertex->x.data[i] = vertex->x.data[i] * 1.1f + vertex->y.data[i] / (3 + *vertex->index);
  return true;
}

/* Stores where it may not in the replica before `wild`; 0: in none. */
typedef struct {
  INOUT(unsigned) left;
  OUTPUT(bool) more;
  INPUT(unsigned) wild;
  INPUT(unsigned) index;
} Count;

COMPUTE(Count)
{
  *vertex->more = --*vertex->left > 0;
  if (*vertex->wild == *vertex->index + 1) *(volatile unsigned *)8 = 1;
  return true;
}
