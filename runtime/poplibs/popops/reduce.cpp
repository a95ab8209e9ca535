// Reductions. `in` is a matrix with a row of `length` elements for each element of `out`, stored
// row by row or column by column, whichever takes fewer messages.
#include "operations.hpp"
#include "vectors.hpp"

using namespace poplar;

namespace popops
{

template <Operation op, typename W, typename T>
W reduceRow(const T *element, unsigned length, unsigned step)
{
  W sum = *element;
  if constexpr (op == Operation::SQUARE_ADD) sum = sum * sum;
#pragma clang loop unroll_count(4)
  for (unsigned i = 1; i < length; ++i) sum = combine<op, W>(sum, *(element += step));
  return sum;
}

template <Operation op, typename T> class Reduce : public MultiVertex
{
public:
  Input<Vector<T>> in;
  InOut<Vector<T>> out;
  unsigned length; // at least 1
  bool columns;    // stored column by column
  bool update;     // combine with what is in `out`

  bool compute(unsigned worker)
  {
    unsigned outs = out.size(), toNext = columns ? 1 : length, step = columns ? outs : 1;
    for (unsigned i = worker; i < outs; i += numWorkers()) {
      Wide<T> sum = reduceRow<op, Wide<T>, T>(&in[i * toNext], length, step);
      constexpr Operation merge = op == Operation::SQUARE_ADD ? Operation::ADD : op;
      if (update) sum = combine<merge, Wide<T>>(sum, out[i]);
      out[i] = static_cast<T>(sum);
    }
    return true;
  }
};

// From halves to floats, or back.
template <Operation op, typename T, typename R> class ReduceTo : public MultiVertex
{
public:
  Input<Vector<T>> in;
  InOut<Vector<R>> out;
  unsigned length; // at least 1
  bool columns;
  bool update;

  bool compute(unsigned worker)
  {
    unsigned outs = out.size(), toNext = columns ? 1 : length, step = columns ? outs : 1;
    for (unsigned i = worker; i < outs; i += numWorkers()) {
      float sum = reduceRow<op, float, T>(&in[i * toNext], length, step);
      constexpr Operation merge = op == Operation::SQUARE_ADD ? Operation::ADD : op;
      if (update) sum = combine<merge, float>(sum, float(out[i]));
      out[i] = static_cast<R>(sum);
    }
    return true;
  }
};

// Sums are multiplied by `scale` before they are stored, or added to `out`. Sums of LOG_ADD are
// logarithms, and so is `scale` then.
template <Operation op, typename T> class ScaledReduce : public MultiVertex
{
public:
  Input<Vector<T>> in;
  Input<float> scale;
  InOut<Vector<T>> out;
  unsigned length; // at least 1
  bool columns;
  bool update;

  static constexpr bool logarithms = op == Operation::LOG_ADD;

  bool compute(unsigned worker)
  {
    unsigned outs = out.size(), toNext = columns ? 1 : length, step = columns ? outs : 1;
    for (unsigned i = worker; i < outs; i += numWorkers()) {
      float sum = reduceRow<op, float, T>(&in[i * toNext], length, step);
      sum = logarithms ? sum + *scale : sum * *scale;
      if (update) sum = combine<logarithms ? op : Operation::ADD, float>(float(out[i]), sum);
      out[i] = static_cast<T>(sum);
    }
    return true;
  }
};
template <Operation op, typename T, typename R> class ScaledReduceTo : public MultiVertex
{
public:
  Input<Vector<T>> in;
  Input<float> scale;
  InOut<Vector<R>> out;
  unsigned length; // at least 1
  bool columns;
  bool update;

  static constexpr bool logarithms = op == Operation::LOG_ADD;

  bool compute(unsigned worker)
  {
    unsigned outs = out.size(), toNext = columns ? 1 : length, step = columns ? outs : 1;
    for (unsigned i = worker; i < outs; i += numWorkers()) {
      float sum = reduceRow<op, float, T>(&in[i * toNext], length, step);
      sum = logarithms ? sum + *scale : sum * *scale;
      if (update) sum = combine<logarithms ? op : Operation::ADD, float>(float(out[i]), sum);
      out[i] = static_cast<R>(sum);
    }
    return true;
  }
};

INSTANTIATE_REAL(ScaledReduce, Operation::ADD)
INSTANTIATE_REAL(ScaledReduce, Operation::SQUARE_ADD)
INSTANTIATE_REAL(ScaledReduce, Operation::LOG_ADD)

#define REDUCE(name, types) INSTANTIATE_##types(Reduce, Operation::name)
POP_REDUCE_OPS(REDUCE)

#define TO_OTHER(vertex, op)                                                                       \
  template class vertex<Operation::op, half, float>;                                               \
  template class vertex<Operation::op, float, half>;
TO_OTHER(ReduceTo, ADD)
TO_OTHER(ReduceTo, SQUARE_ADD)
TO_OTHER(ReduceTo, MUL)
TO_OTHER(ReduceTo, MIN)
TO_OTHER(ReduceTo, MAX)
TO_OTHER(ReduceTo, LOG_ADD)
TO_OTHER(ScaledReduceTo, ADD)
TO_OTHER(ScaledReduceTo, SQUARE_ADD)
TO_OTHER(ScaledReduceTo, LOG_ADD)

} // namespace popops
