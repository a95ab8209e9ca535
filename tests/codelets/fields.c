/* One vertex for each layout of each form of field; fields.cpp holds the same in C++. The graph
 * gives the sizes that a layout does not have. */
#include <populus/vertex.h>

/* out[i] = 2 * in[i] + i */
#define DOUBLE(Name, layout, IN, OUT)                                                              \
  typedef struct {                                                                                 \
    INPUT(VECTOR(int, layout)) in;                                                                 \
    OUTPUT(VECTOR(int, layout)) out;                                                               \
    unsigned size;                                                                                 \
  } Name;                                                                                          \
  COMPUTE(Name)                                                                                    \
  {                                                                                                \
    for (unsigned i = 0; i < vertex->size; ++i) OUT[i] = 2 * IN[i] + (int)i;                       \
    return true;                                                                                   \
  }
DOUBLE(DoubleSpan, SPAN, vertex->in.data, vertex->out.data)
DOUBLE(DoubleOnePtr, ONE_PTR, vertex->in, vertex->out)
DOUBLE(DoubleShortSpan, SHORT_SPAN, DATA(vertex->in), DATA(vertex->out))
DOUBLE(DoubleScaledPtr32, SCALED_PTR32, DATA(vertex->in), DATA(vertex->out))
DOUBLE(DoubleScaledPtr64, SCALED_PTR64, DATA(vertex->in), DATA(vertex->out))
DOUBLE(DoubleScaledPtr128, SCALED_PTR128, DATA(vertex->in), DATA(vertex->out))
DOUBLE(DoubleCompactPtr, COMPACT_PTR, vertex->in, vertex->out)

/* out[r] = sum of row r; each row gets 1 more in its last element. */
#define SUM_ROWS(Name, ROW_AT, ...)                                                                \
  typedef struct {                                                                                 \
    INOUT(__VA_ARGS__) rows;                                                                       \
    OUTPUT(VECTOR(int)) out;                                                                       \
    INPUT(VECTOR(unsigned)) sizes;                                                                 \
  } Name;                                                                                          \
  COMPUTE(Name)                                                                                    \
  {                                                                                                \
    for (unsigned r = 0; r < vertex->sizes.size; ++r) {                                            \
      unsigned size = vertex->sizes.data[r];                                                       \
      vertex->out.data[r] = 0;                                                                     \
      for (unsigned i = 0; i < size; ++i) vertex->out.data[r] += (int)ROW_AT(vertex->rows, r)[i];  \
      if (size) ++ROW_AT(vertex->rows, r)[size - 1];                                               \
    }                                                                                              \
    return true;                                                                                   \
  }
#define PLAIN(rows, r) rows.data[r].data
#define POINTERS(rows, r) rows[r]
#define SHORT_ROWS(rows, r) DATA(rows.data[r])
#define SHORT_TABLE(rows, r) DATA(rows)[r]
#define SCALED(rows, r) DATA(DATA(rows)[r])
SUM_ROWS(SpanOfSpan, PLAIN, VECTOR_OF(VECTOR(int)))
SUM_ROWS(OnePtrOfOnePtr, POINTERS, VECTOR_OF(VECTOR(int, ONE_PTR), ONE_PTR))
SUM_ROWS(SpanOfShortSpan, SHORT_ROWS, VECTOR_OF(VECTOR(short, SHORT_SPAN), SPAN))
SUM_ROWS(ShortSpanOfOnePtr, SHORT_TABLE, VECTOR_OF(VECTOR(int, ONE_PTR), SHORT_SPAN))
SUM_ROWS(ScaledOfScaled, SCALED, VECTOR_OF(VECTOR(int, SCALED_PTR64), SCALED_PTR32))
SUM_ROWS(ListOfChar, ROW, VECTOR_LIST(signed char))
SUM_ROWS(ListOfShort, ROW, VECTOR_LIST(short, COMPACT_DELTAN, 4))
SUM_ROWS(ListOfInt, ROW, VECTOR_LIST(int, DELTANELEMENTS))
SUM_ROWS(ListOfLongLong, ROW, VECTOR_LIST(long long))
SUM_ROWS(ListOfPointers, POINTERS, VECTOR_LIST(int, ONE_PTR))
SUM_ROWS(ListOfAligned, POINTERS, VECTOR_LIST(short, ONE_PTR, 8))
SUM_ROWS(DeltanOfInt, ROW, VECTOR_LIST(int, DELTAN, 8))
SUM_ROWS(DeltanOfChar, ROW, VECTOR_LIST(signed char, DELTAN))

/* Sizes of what has them: out = {rows, elements, sum} */
typedef struct {
  INPUT(VECTOR_OF(VECTOR(short, SHORT_SPAN), SHORT_SPAN)) spans;
  INPUT(VECTOR_LIST(int, DELTAN)) list;
  OUTPUT(VECTOR(int)) out;
} WalkSpans;

COMPUTE(WalkSpans)
{
  int *out = vertex->out.data;
  out[0] = (int)(vertex->spans.size + ROWS(vertex->list));
  out[1] = out[2] = 0;
  for (unsigned r = 0; r < vertex->spans.size; ++r) {
    out[1] += DATA(vertex->spans)[r].size;
    for (unsigned i = 0; i < DATA(vertex->spans)[r].size; ++i)
      out[2] += DATA(DATA(vertex->spans)[r])[i];
  }
  for (unsigned r = 0; r < ROWS(vertex->list); ++r) {
    out[1] += (int)ROW_SIZE(vertex->list, r);
    for (unsigned i = 0; i < ROW_SIZE(vertex->list, r); ++i) out[2] += ROW(vertex->list, r)[i];
  }
  return true;
}

/* Data of the vertex: sum of the table; each run adds 1 to its first element. */
typedef struct {
  char before;
  STATE(VECTOR(float)) table;
  STATE(VECTOR(short, SCALED_PTR32)) more;
  OUTPUT(float) out;
} SumTable;

COMPUTE(SumTable)
{
  float sum = vertex->before;
  for (unsigned i = 0; i < vertex->table.size; ++i) sum += vertex->table.data[i];
  *vertex->out = sum + DATA(vertex->more)[0] + DATA(vertex->more)[1];
  vertex->table.data[0] += 1;
  return true;
}

/* Rows in the vertex itself, and of one element each. */
typedef struct {
  INPUT(int) a[3];
  INPUT(VECTOR_OF(int, ONE_PTR)) b;
  OUTPUT(int) sum;
} Arrays;

COMPUTE(Arrays)
{
  *vertex->sum = *vertex->a[0] + *vertex->a[1] * 10 + *vertex->a[2] * 100 + *vertex->b[0] * 1000 +
                 *vertex->b[1] * 10000;
  return true;
}

/* The address of the data, as a number. */
typedef struct {
  INOUT(VECTOR(int, ONE_PTR, 64)) aligned;
  INOUT(VECTOR(int, ONE_PTR, 8, 1)) interleaved;
} Where;

COMPUTE(Where)
{
  vertex->aligned[0] = (int)(uintptr_t)vertex->aligned;
  vertex->interleaved[0] = (int)(uintptr_t)vertex->interleaved;
  return true;
}

typedef struct CONSTRAINT("elem(*a) != elem(*out)") CONSTRAINT("region(*a) == region(*out)") {
  INPUT(VECTOR(int)) a;
  OUTPUT(VECTOR(int)) out;
} Constrained;

COMPUTE(Constrained)
{
  vertex->out.data[0] = vertex->a.data[0];
  return true;
}
