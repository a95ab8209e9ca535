// Operations on elements. Each vertex has what a tile has of the result; its workers take every sixth element. An operand
// of one element is used for all.
#include "operations.hpp"

using namespace poplar;

namespace popops
{

#define RESULT_SAME(T) T
#define RESULT_TRUTH(T) bool

template <expr::UnaryOpType op, typename T> struct UnaryResult;
template <expr::BinaryOpType op, typename T> struct BinaryResult;
#define UNARY_RESULT(name, types, result)                                                          \
  template <typename T> struct UnaryResult<expr::UnaryOpType::name, T> {                           \
    using type = RESULT_##result(T);                                                               \
  };
#define BINARY_RESULT(name, types, result)                                                         \
  template <typename T> struct BinaryResult<expr::BinaryOpType::name, T> {                         \
    using type = RESULT_##result(T);                                                               \
  };
POP_UNARY_OPS(UNARY_RESULT)
POP_BINARY_OPS(BINARY_RESULT)

template <expr::UnaryOpType op, typename T> class Unary : public MultiVertex
{
public:
  Input<Vector<T>> a;
  Output<Vector<typename UnaryResult<op, T>::type>> out;

  bool compute(unsigned worker)
  {
    for (unsigned i = worker; i < out.size(); i += numWorkers())
      out[i] = static_cast<typename UnaryResult<op, T>::type>(apply<op>(Wide<T>(a[i])));
    return true;
  }
};

template <expr::BinaryOpType op, typename T> class Binary : public MultiVertex
{
public:
  Input<Vector<T>> a, b;
  Output<Vector<typename BinaryResult<op, T>::type>> out;

  bool compute(unsigned worker)
  {
    unsigned stepA = a.size() > 1, stepB = b.size() > 1;
    for (unsigned i = worker; i < out.size(); i += numWorkers())
      out[i] = static_cast<typename BinaryResult<op, T>::type>(
          apply<op>(Wide<T>(a[i * stepA]), Wide<T>(b[i * stepB])));
    return true;
  }
};

template <expr::TernaryOpType op, typename T> class Ternary : public MultiVertex
{
public:
  using Third = typename std::conditional<op == expr::TernaryOpType::SELECT, bool, T>::type;
  Input<Vector<T>> a, b;
  Input<Vector<Third>> c;
  Output<Vector<T>> out;

  bool compute(unsigned worker)
  {
    unsigned stepA = a.size() > 1, stepB = b.size() > 1, stepC = c.size() > 1;
    for (unsigned i = worker; i < out.size(); i += numWorkers()) {
      T x = a[i * stepA], y = b[i * stepB];
      Third z = c[i * stepC];
      if constexpr (op == expr::TernaryOpType::SELECT)
        out[i] = z ? x : y;
      else
        out[i] = x < y ? y : x > z ? z : x;
    }
    return true;
  }
};

#define UNARY(name, types, result) INSTANTIATE_##types(Unary, expr::UnaryOpType::name)
#define BINARY(name, types, result) INSTANTIATE_##types(Binary, expr::BinaryOpType::name)
#define TERNARY(name, types, result) INSTANTIATE_##types(Ternary, expr::TernaryOpType::name)
POP_UNARY_OPS(UNARY)
POP_BINARY_OPS(BINARY)
POP_TERNARY_OPS(TERNARY)

template <typename T>
static void addScaled(InOut<Vector<T>> &out, const Input<Vector<T>> &b, float scale,
                      unsigned worker)
{
  for (unsigned i = worker; i < out.size(); i += MultiVertex::numWorkers())
    out[i] = static_cast<T>(float(out[i]) + scale * float(b[i]));
}

// out += scale * b
template <typename T> class ScaledAdd : public MultiVertex
{
public:
  InOut<Vector<T>> out;
  Input<Vector<T>> b;
  float scale;

  bool compute(unsigned worker)
  {
    addScaled(out, b, scale, worker);
    return true;
  }
};
template class ScaledAdd<float>;
template class ScaledAdd<half>;

// The same with a number that the device knows, times one that is known before.
template <typename T, typename S> class ScaledAddBy : public MultiVertex
{
public:
  InOut<Vector<T>> out;
  Input<Vector<T>> b;
  Input<S> by;
  float scale;

  bool compute(unsigned worker)
  {
    addScaled(out, b, scale * float(*by), worker);
    return true;
  }
};
template class ScaledAddBy<float, float>;
template class ScaledAddBy<half, float>;
template class ScaledAddBy<half, half>;

} // namespace popops
