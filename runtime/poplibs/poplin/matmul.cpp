// A block of a matrix product: rows of the left matrix, columns of the right one, or a part of both along the dimension that
// is summed over. Either is there row by row or column by column, as it comes in longer messages: steps are from one of the
// products' factors to the next, 1 or the number of rows (columns). Elements of type T, sums stored as P.
#include <poplar/Vertex.hpp>

using namespace poplar;

namespace poplin
{

template <typename V, typename T = typename V::ElementType>
static float rowTimesColumn(const V &v, unsigned i)
{
  unsigned row = i / v.columns, column = i - row * v.columns;
  const T *left = &v.left[v.leftStep == 1 ? row * v.length : row];
  const T *right = &v.right[v.rightStep == 1 ? column * v.length : column];
  float sum = 0;
  for (unsigned k = 0; k < v.length; ++k, left += v.leftStep, right += v.rightStep)
    sum += float(*left) * float(*right);
  return sum;
}

template <typename T, typename P> class MatMulBlock : public MultiVertex
{
public:
  using ElementType = T;
  Input<Vector<T>> left, right;
  Output<Vector<P>> out; // row by row
  unsigned length;       // of the rows and columns
  unsigned columns;
  unsigned leftStep, rightStep;

  bool compute(unsigned worker)
  {
    for (unsigned i = worker; i < out.size(); i += numWorkers())
      out[i] = static_cast<P>(rowTimesColumn(*this, i));
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
  using ElementType = T;
  Input<Vector<T>> left, right;
  InOut<Vector<P>> out;
  unsigned length;
  unsigned columns;
  unsigned leftStep, rightStep;

  bool compute(unsigned worker)
  {
    for (unsigned i = worker; i < out.size(); i += numWorkers())
      out[i] = static_cast<P>(float(out[i]) + rowTimesColumn(*this, i));
    return true;
  }
};
template class MatMulMore<float, float>;
template class MatMulMore<half, float>;
template class MatMulMore<half, half>;

} // namespace poplin
