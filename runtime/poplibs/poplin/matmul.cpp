// A block of a matrix product: rows of the left matrix, columns of the right one (each column's elements one behind the
// other), or a part of both along the dimension that is summed over.
#include <poplar/Vertex.hpp>

using namespace poplar;

namespace poplin
{

template <typename T> class MatMulBlock : public MultiVertex
{
public:
  Input<Vector<T>> left, right;
  Output<Vector<float>> out; // row by row
  unsigned length;           // of the rows and columns
  unsigned columns;

  bool compute(unsigned worker)
  {
    for (unsigned i = worker; i < out.size(); i += numWorkers()) {
      const T *row = &left[i / columns * length], *column = &right[i % columns * length];
      float sum = 0;
      for (unsigned k = 0; k < length; ++k) sum += float(row[k]) * float(column[k]);
      out[i] = sum;
    }
    return true;
  }
};
template class MatMulBlock<float>;
template class MatMulBlock<half>;

} // namespace poplin
