// Counts of elements between ascending levels. Bin i counts the elements that are not less than
// exactly i of the levels (NaN: bin 0). Each worker counts for bins of its own, so that no two
// workers write one count.
#include <poplar/Vertex.hpp>

using namespace poplar;

namespace popops
{

template <typename T> class Histogram : public MultiVertex
{
public:
  Input<Vector<T>> in;
  Input<Vector<T>> levels;
  Output<Vector<unsigned>> counts; // one more than levels
  bool absolute;

  bool compute(unsigned worker)
  {
    for (unsigned bin = worker; bin < counts.size(); bin += numWorkers()) {
      const bool first = bin == 0, last = bin == levels.size();
      const float from = first ? 0.f : float(levels[bin - 1]), to = last ? 0.f : float(levels[bin]);
      unsigned count = 0;
      for (unsigned i = 0; i < in.size(); ++i) {
        float x = float(in[i]);
        if (absolute) x = __builtin_fabsf(x);
        count += (first || x >= from) && (last || !(x >= to));
      }
      counts[bin] = count;
    }
    return true;
  }
};
template class Histogram<float>;
template class Histogram<half>;

} // namespace popops
