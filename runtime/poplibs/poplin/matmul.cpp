// A block of a matrix product: rows of the left matrix, columns of the right one (each column's elements one behind the
// other), or a part of both along the dimension that is summed over. Elements of type T, sums stored as P.
#include <poplar/Vertex.hpp>

using namespace poplar;

namespace poplin
{

template <typename T>
static float rowTimesColumn(const Input<Vector<T>> &left, const Input<Vector<T>> &right, unsigned i,
                            unsigned columns, unsigned length)
{
  const T *row = &left[i / columns * length], *column = &right[i % columns * length];
  float sum = 0;
  for (unsigned k = 0; k < length; ++k) sum += float(row[k]) * float(column[k]);
  return sum;
}

template <typename T, typename P> class MatMulBlock : public MultiVertex
{
public:
  Input<Vector<T>> left, right;
  Output<Vector<P>> out; // row by row
  unsigned length;       // of the rows and columns
  unsigned columns;

  bool compute(unsigned worker)
  {
    for (unsigned i = worker; i < out.size(); i += numWorkers())
      out[i] = static_cast<P>(rowTimesColumn(left, right, i, columns, length));
    return true;
  }
};
template class MatMulBlock<float, float>;
template class MatMulBlock<half, float>;
template class MatMulBlock<half, half>;

// Added to what is there.
template <typename T, typename P> class MatMulMore : public MultiVertex
{
public:
  Input<Vector<T>> left, right;
  InOut<Vector<P>> out;
  unsigned length;
  unsigned columns;

  bool compute(unsigned worker)
  {
    for (unsigned i = worker; i < out.size(); i += numWorkers())
      out[i] = static_cast<P>(float(out[i]) + rowTimesColumn(left, right, i, columns, length));
    return true;
  }
};
template class MatMulMore<float, float>;
template class MatMulMore<half, float>;
template class MatMulMore<half, half>;

} // namespace poplin
