/* Vertices that want their data in different memory elements or regions, and say where they are. */
#include <populus/vertex.h>
#include <stdint.h>

#define ADDRESS(pointer) ((unsigned)(uintptr_t)(pointer))

/* where: first byte of a, of b and of where itself; the sum is 1 for each pair of equal elements. */
#define SAY_WHERE                                                                                  \
  {                                                                                                \
    unsigned equal = 0;                                                                            \
    for (unsigned i = 0; i < vertex->a.size; ++i) equal += vertex->a.data[i] == vertex->b.data[i]; \
    vertex->where.data[0] = ADDRESS(vertex->a.data);                                               \
    vertex->where.data[1] = ADDRESS(vertex->b.data);                                               \
    vertex->where.data[2] = ADDRESS(vertex->where.data);                                           \
    vertex->where.data[3] = equal;                                                                 \
    return true;                                                                                   \
  }

typedef struct CONSTRAINT("elem(*a) != elem(*b)") CONSTRAINT("elem(*b) != elem(*where)") {
  INPUT(VECTOR(unsigned)) a;
  INPUT(VECTOR(unsigned)) b;
  OUTPUT(VECTOR(unsigned)) where;
} Elements;
COMPUTE(Elements)
SAY_WHERE

typedef struct CONSTRAINT("region(*a) != region(*b)") {
  INPUT(VECTOR(unsigned)) a;
  INPUT(VECTOR(unsigned)) b;
  OUTPUT(VECTOR(unsigned)) where;
} Regions;
COMPUTE(Regions)
SAY_WHERE

typedef struct {
  INPUT(VECTOR(unsigned)) a;
  INPUT(VECTOR(unsigned)) b;
  OUTPUT(VECTOR(unsigned)) where;
} Anywhere;
COMPUTE(Anywhere)
SAY_WHERE

/* where: the data of each row, then the table of rows, then b. */
typedef struct CONSTRAINT("elem(**rows) != elem(*b)") CONSTRAINT("elem(*rows) != elem(*b)") {
  INPUT(VECTOR_OF(unsigned, ONE_PTR, 4, 0, SPAN)) rows;
  INPUT(VECTOR(unsigned)) b;
  OUTPUT(VECTOR(unsigned)) where;
} Rows;
COMPUTE(Rows)
{
  for (unsigned i = 0; i < vertex->rows.size; ++i)
    vertex->where.data[i] = ADDRESS(vertex->rows.data[i]);
  vertex->where.data[vertex->rows.size] = ADDRESS(vertex->rows.data);
  vertex->where.data[vertex->rows.size + 1] = ADDRESS(vertex->b.data);
  return true;
}
