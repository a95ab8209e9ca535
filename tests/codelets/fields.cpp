// One vertex for each layout of each form of field; fields.c holds the same in C. The graph gives
// the sizes that a layout does not have.
#include <poplar/Vertex.hpp>

using namespace poplar;

// out[i] = 2 * in[i] + i
template <VectorLayout L> class Double
{
public:
  Input<Vector<int, L>> in;
  Output<Vector<int, L>> out;
  unsigned size;

  bool compute()
  {
    for (unsigned i = 0; i < size; ++i) out[i] = 2 * in[i] + static_cast<int>(i);
    return true;
  }
};

#define DOUBLE(Name, layout)                                                                       \
  class Name : public Vertex, public Double<VectorLayout::layout>                                  \
  {                                                                                                \
  };
DOUBLE(DoubleSpan, SPAN)
DOUBLE(DoubleOnePtr, ONE_PTR)
DOUBLE(DoubleShortSpan, SHORT_SPAN)
DOUBLE(DoubleScaledPtr32, SCALED_PTR32)
DOUBLE(DoubleScaledPtr64, SCALED_PTR64)
DOUBLE(DoubleScaledPtr128, SCALED_PTR128)
DOUBLE(DoubleCompactPtr, COMPACT_PTR)

// out[r] = sum of row r; each row gets 1 more in its last element.
template <typename Rows> class SumRows
{
public:
  Rows rows;
  Output<Vector<int>> out;
  Input<Vector<unsigned>> sizes;

  bool compute()
  {
    for (unsigned r = 0; r < sizes.size(); ++r) {
      out[r] = 0;
      for (unsigned i = 0; i < sizes[r]; ++i) out[r] += static_cast<int>(rows[r][i]);
      if (sizes[r]) rows[r][sizes[r] - 1] += 1;
    }
    return true;
  }
};

template <typename T, VectorLayout Row, VectorLayout Table>
using Table = Vector<InOut<Vector<T, Row>>, Table>;

#define SUM_ROWS(Name, ...)                                                                        \
  class Name : public Vertex, public SumRows<__VA_ARGS__>                                          \
  {                                                                                                \
  };
SUM_ROWS(SpanOfSpan, Table<int, VectorLayout::SPAN, VectorLayout::SPAN>)
SUM_ROWS(OnePtrOfOnePtr, Table<int, VectorLayout::ONE_PTR, VectorLayout::ONE_PTR>)
SUM_ROWS(SpanOfShortSpan, Table<short, VectorLayout::SHORT_SPAN, VectorLayout::SPAN>)
SUM_ROWS(ShortSpanOfOnePtr, Table<int, VectorLayout::ONE_PTR, VectorLayout::SHORT_SPAN>)
SUM_ROWS(ScaledOfScaled, Table<int, VectorLayout::SCALED_PTR64, VectorLayout::SCALED_PTR32>)
SUM_ROWS(ListOfChar, InOut<VectorList<signed char>>)
SUM_ROWS(ListOfShort, InOut<VectorList<short, VectorListLayout::COMPACT_DELTAN, 4>>)
SUM_ROWS(ListOfInt, InOut<VectorList<int, VectorListLayout::DELTANELEMENTS>>)
SUM_ROWS(ListOfLongLong, InOut<VectorList<long long>>)
SUM_ROWS(ListOfPointers, InOut<VectorList<int, VectorListLayout::ONE_PTR>>)
SUM_ROWS(ListOfAligned, InOut<VectorList<short, VectorListLayout::ONE_PTR, 8>>)
SUM_ROWS(DeltanOfInt, InOut<VectorList<int, VectorListLayout::DELTAN, 8>>)
SUM_ROWS(DeltanOfChar, InOut<VectorList<signed char, VectorListLayout::DELTAN>>)

// Sizes and iterators of what has them: out = {rows, elements, sum}
class WalkSpans : public Vertex
{
public:
  Vector<Input<Vector<short, VectorLayout::SHORT_SPAN>>, VectorLayout::SHORT_SPAN> spans;
  Input<VectorList<int, VectorListLayout::DELTAN>> list;
  Output<Vector<int>> out;

  bool compute()
  {
    out[0] = static_cast<int>(spans.size() + list.size());
    out[1] = out[2] = 0;
    for (const auto &row : spans) {
      out[1] += static_cast<int>(row.size());
      for (short x : row) out[2] += x;
    }
    for (const auto &row : list) {
      out[1] += static_cast<int>(row.size());
      for (int x : row) out[2] += x;
    }
    return true;
  }
};

// Data of the vertex: sum of the table; each run adds 1 to its first element.
class SumTable : public Vertex
{
public:
  char before;
  Vector<float> table;
  Vector<short, VectorLayout::SCALED_PTR32> more;
  Output<float> out;

  bool compute()
  {
    float sum = before;
    for (float x : table) sum += x;
    *out = sum + more[0] + more[1];
    table[0] += 1;
    return true;
  }
};

// Rows in the vertex itself, and of one element each.
class Arrays : public Vertex
{
public:
  Input<int> a[3];
  Vector<Input<int>, VectorLayout::ONE_PTR> b;
  Output<int> sum;

  bool compute()
  {
    *sum = *a[0] + *a[1] * 10 + *a[2] * 100 + b[0] * 1000 + b[1] * 10000;
    return true;
  }
};

// The address of the data, as a number.
class Where : public Vertex
{
public:
  InOut<Vector<int, VectorLayout::ONE_PTR, 64>> aligned;
  InOut<Vector<int, VectorLayout::ONE_PTR, 8, true>> interleaved;

  bool compute()
  {
    aligned[0] = static_cast<int>(reinterpret_cast<std::uintptr_t>(&aligned[0]));
    interleaved[0] = static_cast<int>(reinterpret_cast<std::uintptr_t>(&interleaved[0]));
    return true;
  }
};

struct First {
  Input<int> a;
  char b;
};
struct Second {
  Input<Vector<int>> c;
  char d;
};

// Fields of several bases, static members, a field of one byte in the padding of a base.
class Heir : public Vertex, public First, public Second
{
public:
  static const int ten = 10;
  static constexpr bool flag = true;
  char e;
  Output<int> out;

  bool compute()
  {
    *out = *a + b * ten + c[1] * 100 + d * 1000 + e * 10000;
    return true;
  }
};

class [[poplar::constraint("elem(*a) != elem(*out)", "region(*a) == region(*out)")]] Constrained
    : public Vertex
{
public:
  Input<Vector<int>> a;
  Output<Vector<int>> out;

  bool compute()
  {
    out[0] = a[0];
    return true;
  }
};

class NoFields : public Vertex
{
public:
  bool compute() { return true; }
};
