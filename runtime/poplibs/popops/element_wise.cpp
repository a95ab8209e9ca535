// Element-wise operations. Each vertex has a tile's elements of the result; its workers share them
// (vectors.hpp: float2, half4). An operand of one element is used for all.
#include "operations.hpp"
#include "vectors.hpp"

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

// True if the tile has packed instructions for the operation on this type, or if loading and
// storing both words at once pays.
template <typename T> constexpr bool isPacked(expr::UnaryOpType op)
{
  using O = expr::UnaryOpType;
  constexpr O packed[] = {O::EXPONENT, O::EXPONENT2, O::LOGARITHM, O::RELU,
                          O::SIGMOID,  O::SQUARE,    O::TANH};
  for (O one : packed)
    if (op == one) return true;
  return (op == O::RSQRT || op == O::SQRT) && std::is_same<T, float>::value;
}
template <typename T> constexpr bool isPacked(expr::BinaryOpType op)
{
  using O = expr::BinaryOpType;
  return op == O::ADD || op == O::SUBTRACT || op == O::MULTIPLY ||
         (op == O::DIVIDE && std::is_same<T, float>::value);
}

// The operation on 64 bits (vectors.hpp), in expressions that popc has instructions for.
template <expr::UnaryOpType op, typename V> V applyPacked(V x)
{
  using O = expr::UnaryOpType;
  if constexpr (op == O::RELU)
    return __builtin_elementwise_max(x, V{});
  else if constexpr (op == O::SQUARE)
    return x * x;
  else if constexpr (op == O::EXPONENT)
    return __builtin_elementwise_exp(x);
  else if constexpr (op == O::EXPONENT2)
    return __builtin_elementwise_exp2(x);
  else if constexpr (op == O::LOGARITHM)
    return __builtin_elementwise_log(x);
  else if constexpr (op == O::TANH)
    return __builtin_elementwise_tanh(x);
  else if constexpr (op == O::SQRT)
    return __builtin_elementwise_sqrt(x);
  else if constexpr (op == O::RSQRT)
    return 1.0f / __builtin_elementwise_sqrt(x);
  else if constexpr (op == O::SIGMOID && sizeof x[0] == sizeof(float))
    return 1.0f / (1.0f + __builtin_elementwise_exp(-x));
  else if constexpr (op == O::SIGMOID) {
    float4 wide = __builtin_convertvector(x, float4);
    return __builtin_convertvector(1.0f / (1.0f + __builtin_elementwise_exp(-wide)), V);
  }
}

// True if the operation is a function call, next to which the loop's overhead is negligible.
constexpr bool isCall(expr::UnaryOpType op)
{
  using O = expr::UnaryOpType;
  constexpr O calls[] = {
      O::ASIN, O::CBRT, O::COS, O::ERF, O::EXPONENT_MINUS_ONE, O::GELU_ERF, O::LOGARITHM_ONE_PLUS,
      O::SIN,  O::TAN};
  for (O call : calls)
    if (op == call) return true;
  return false;
}
constexpr bool isCall(expr::BinaryOpType op)
{
  using O = expr::BinaryOpType;
  return op == O::ATAN2 || op == O::POWER || op == O::REMAINDER;
}

// True if operands may be swapped. A second loop for a single-element operand would only take
// memory.
constexpr bool commutes(expr::BinaryOpType op)
{
  using O = expr::BinaryOpType;
  constexpr O commuting[] = {O::ADD,          O::BITWISE_AND, O::BITWISE_OR, O::BITWISE_XOR,
                             O::BITWISE_XNOR, O::EQUAL,       O::MULTIPLY,   O::NOT_EQUAL};
  for (O one : commuting)
    if (op == one) return true;
  return false;
}

template <expr::UnaryOpType op, typename T> class Unary : public MultiVertex
{
public:
  using Result = typename UnaryResult<op, T>::type;
  Input<Vector<T>> a;
  Output<Vector<Result>> out;

  bool compute(unsigned worker)
  {
    const Each<T> x(&a[0]);
    Result *to = &out[0];
    const unsigned count = out.size();
    Way single = {[&](unsigned i) { return static_cast<Result>(apply<op>(Wide<T>(x.at(i)))); },
                  [&](unsigned i, Result value) { to[i] = value; }};
    if constexpr (isCall(op)) {
      for (unsigned i = worker; i < count; i += numWorkers()) single.put(i, single.value(i));
    } else {
      Way packed = {[&](unsigned i) {
                      if constexpr (isPacked<T>(op) && Packed<T>::lanes != 0)
                        return applyPacked<op>(x.packedAt(i));
                    },
                    [&](unsigned i, auto value) { packedOf(to)[i] = value; }};
      forElements<T, isPacked<T>(op)>(worker, count, x.address() | addressOf(to), packed, single);
    }
    return true;
  }
};

template <expr::BinaryOpType op, typename T> class Binary : public MultiVertex
{
public:
  using Result = typename BinaryResult<op, T>::type;
  Input<Vector<T>> a, b;
  Output<Vector<Result>> out;

  bool compute(unsigned worker)
  {
    if constexpr (isCall(op))
      withSteps(worker);
    else if (commutes(op) && (a.size() == 1 || b.size() == 1))
      with(Each<T>(a.size() == 1 ? &b[0] : &a[0]), Same<T>(a.size() == 1 ? &a[0] : &b[0]), worker);
    else if (!commutes(op) && a.size() == 1)
      with(Same<T>(&a[0]), Each<T>(&b[0]), worker);
    else if (!commutes(op) && b.size() == 1)
      with(Each<T>(&a[0]), Same<T>(&b[0]), worker);
    else
      with(Each<T>(&a[0]), Each<T>(&b[0]), worker);
    return true;
  }

private:
  template <typename A, typename B> POPOPS_INLINE void with(const A &x, const B &y, unsigned worker)
  {
    Result *to = &out[0];
    Way single = {[&](unsigned i) {
                    return static_cast<Result>(apply<op>(Wide<T>(x.at(i)), Wide<T>(y.at(i))));
                  },
                  [&](unsigned i, Result value) { to[i] = value; }};
    Way packed = {[&](unsigned i) {
                    if constexpr (isPacked<T>(op) && Packed<T>::lanes != 0)
                      return apply<op>(x.packedAt(i), y.packedAt(i));
                  },
                  [&](unsigned i, auto value) { packedOf(to)[i] = value; }};
    forElements<T, isPacked<T>(op)>(worker, out.size(), x.address() | y.address() | addressOf(to),
                                    packed, single);
  }

  POPOPS_INLINE void withSteps(unsigned worker)
  {
    const unsigned stepA = a.size() > 1, stepB = b.size() > 1;
    const T *x = &a[worker * stepA], *y = &b[worker * stepB];
    for (unsigned i = worker; i < out.size(); i += numWorkers()) {
      out[i] = static_cast<Result>(apply<op>(Wide<T>(*x), Wide<T>(*y)));
      x += stepA * numWorkers();
      y += stepB * numWorkers();
    }
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
    const unsigned stepA = a.size() > 1, stepB = b.size() > 1, stepC = c.size() > 1;
    if (stepA & stepB & stepC) {
      forWorker(
          worker, out.size(), [&](unsigned i) { return one(a[i], b[i], c[i]); },
          [&](unsigned i, T value) { out[i] = value; });
      return true;
    }
    const T *x = &a[worker * stepA], *y = &b[worker * stepB];
    const Third *z = &c[worker * stepC];
    for (unsigned i = worker; i < out.size(); i += numWorkers()) {
      out[i] = one(*x, *y, *z);
      x += stepA * numWorkers();
      y += stepB * numWorkers();
      z += stepC * numWorkers();
    }
    return true;
  }

private:
  static POPOPS_INLINE T one(T x, T y, Third z)
  {
    if constexpr (op == expr::TernaryOpType::SELECT) {
      return z ? x : y;
    } else {
      const T raised = x < y ? y : x;
      return raised > z ? z : raised; // the upper bound, if it is below the lower one
    }
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
  T *to = &out[0];
  const Each<T> x(&b[0]);
  Way single = {[&](unsigned i) { return static_cast<T>(float(to[i]) + scale * float(x.at(i))); },
                [&](unsigned i, T value) { to[i] = value; }};
  Way packed = {[&](unsigned i) {
                  if constexpr (std::is_same<T, float>::value)
                    return packedOf(to)[i] + scale * x.packedAt(i);
                },
                [&](unsigned i, auto value) { packedOf(to)[i] = value; }};
  forElements<T, std::is_same<T, float>::value>(worker, out.size(), x.address() | addressOf(to),
                                                packed, single);
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

// The same with a scale that the device knows (`by`), times one that the host knows.
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
