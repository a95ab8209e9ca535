// Pooling of planes of a three-dimensional field, and its gradient. populus/popnn_pooling.h defines
// them.
//
// A vertex has a band of each of its planes: all of two dimensions, a part of the third. Windows
// and elements are counted from the begin of the band. So a window may reach beyond either end of
// the band.
#include "../quotient.h"
#include <poplar/Vertex.hpp>
#include <type_traits>

using namespace poplar;

namespace popnn
{

// One of the three axes that the host writes: elements of the input's part, windows of the output's
// part, kernel, stride, and where window 0 begins in the input's part.
struct PoolingAxis {
  int in, out, kernel, stride, first;

  // The elements of window `o`.
  void window(int o, int &begin, int &end) const
  {
    begin = first + o * stride;
    end = begin + kernel;
    if (begin < 0) begin = 0;
    if (end > in) end = in;
  }
  // The windows that element `i` is in.
  void windows(int i, int &begin, int &end) const
  {
    int beyond = i - first; // window o begins at or before i for o <= beyond / stride
    begin = beyond < kernel ? 0 : int(quotient(beyond - kernel, stride)) + 1;
    end = beyond < 0 ? 0 : int(quotient(beyond, stride)) + 1;
    if (end > out) end = out;
  }
};

enum PoolingKind { MAX, AVERAGE, SUM, TIES };

// TIES counts the elements of a window that equal the pooled value, at least 1. The number may be
// too large for a half.
template <typename T, int kind> class Pool : public Vertex
{
public:
  using Result = typename std::conditional<kind == TIES, float, T>::type;
  Input<Vector<T>> in;
  Input<Vector<T>> pooled; // for TIES
  Output<Vector<Result>> out;
  Input<Vector<int>> axes;

  static float ofWindow(const T *plane, const PoolingAxis *axis, int z, int y, int x, float pooled)
  {
    int zBegin, zEnd, yBegin, yEnd, xBegin, xEnd;
    axis[0].window(z, zBegin, zEnd);
    axis[1].window(y, yBegin, yEnd);
    axis[2].window(x, xBegin, xEnd);
    if (zBegin >= zEnd || yBegin >= yEnd || xBegin >= xEnd) return kind == TIES ? 1 : 0;
    float result = kind == MAX ? -__builtin_inff() : 0;
    for (int i = zBegin; i < zEnd; ++i)
      for (int j = yBegin; j < yEnd; ++j) {
        const T *row = plane + (i * axis[1].in + j) * axis[2].in;
        for (int k = xBegin; k < xEnd; ++k) {
          float value = float(row[k]);
          if (kind == MAX)
            result = result < value || value != value ? value : result;
          else
            result += kind != TIES ? value : value == pooled ? 1 : 0;
        }
      }
    if (kind == AVERAGE) result /= float((zEnd - zBegin) * (yEnd - yBegin) * (xEnd - xBegin));
    return kind == TIES && result == 0 ? 1 : result;
  }

  bool compute()
  {
    const PoolingAxis *axis = reinterpret_cast<const PoolingAxis *>(&axes[0]);
    const int size = axis[0].in * axis[1].in * axis[2].in;
    const T *plane = &in[0];
    for (unsigned at = 0; at < out.size(); plane += size)
      for (int z = 0; z < axis[0].out; ++z)
        for (int y = 0; y < axis[1].out; ++y)
          for (int x = 0; x < axis[2].out; ++x, ++at)
            out[at] = Result(ofWindow(plane, axis, z, y, x, kind == TIES ? float(pooled[at]) : 0));
    return true;
  }
};

// isMax: a window's gradient goes to each of its elements that equals the pooled value. Otherwise
// it goes to all of its elements.
template <typename T, bool isMax> class PoolGradient : public Vertex
{
public:
  Input<Vector<T>> in, pooled; // for maxima
  Input<Vector<T>> gradient;
  Output<Vector<T>> out;
  Input<Vector<int>> axes;

  bool compute()
  {
    const PoolingAxis *axis = reinterpret_cast<const PoolingAxis *>(&axes[0]);
    const int size = axis[0].out * axis[1].out * axis[2].out;
    unsigned at = 0;
    for (int plane = 0; at < out.size(); plane += size)
      for (int z = 0; z < axis[0].in; ++z)
        for (int y = 0; y < axis[1].in; ++y)
          for (int x = 0; x < axis[2].in; ++x, ++at) {
            int zBegin, zEnd, yBegin, yEnd, xBegin, xEnd;
            axis[0].windows(z, zBegin, zEnd);
            axis[1].windows(y, yBegin, yEnd);
            axis[2].windows(x, xBegin, xEnd);
            float sum = 0, own = isMax ? float(in[at]) : 0;
            for (int i = zBegin; i < zEnd; ++i)
              for (int j = yBegin; j < yEnd; ++j)
                for (int k = xBegin; k < xEnd; ++k) {
                  int window = plane + (i * axis[1].out + j) * axis[2].out + k;
                  if (!isMax || float(pooled[window]) == own) sum += float(gradient[window]);
                }
            out[at] = T(sum);
          }
    return true;
  }
};

#define INSTANTIATE(T)                                                                             \
  template class Pool<T, MAX>;                                                                     \
  template class Pool<T, AVERAGE>;                                                                 \
  template class Pool<T, SUM>;                                                                     \
  template class Pool<T, TIES>;                                                                    \
  template class PoolGradient<T, false>;                                                           \
  template class PoolGradient<T, true>;
INSTANTIATE(float)
INSTANTIATE(half)

} // namespace popnn
