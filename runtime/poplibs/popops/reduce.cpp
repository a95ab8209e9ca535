// Many elements become one: `in` has `length` elements for each of `out`, one row behind the other.
#include "operations.hpp"

using namespace poplar;

namespace popops
{

template <Operation op, typename T> class Reduce : public MultiVertex
{
public:
  Input<Vector<T>> in;
  InOut<Vector<T>> out;
  unsigned length; // at least 1
  bool update;     // combine with what is in `out`

  bool compute(unsigned worker)
  {
    for (unsigned i = worker; i < out.size(); i += numWorkers()) {
      const T *row = &in[i * length];
      Wide<T> sum = row[0];
      if constexpr (op == Operation::SQUARE_ADD) sum = sum * sum;
      for (unsigned k = 1; k < length; ++k) sum = combine<op, Wide<T>>(sum, row[k]);
      constexpr Operation merge = op == Operation::SQUARE_ADD ? Operation::ADD : op;
      if (update) sum = combine<merge, Wide<T>>(sum, out[i]);
      out[i] = static_cast<T>(sum);
    }
    return true;
  }
};

#define REDUCE(name, types) INSTANTIATE_##types(Reduce, Operation::name)
POP_REDUCE_OPS(REDUCE)

} // namespace popops
