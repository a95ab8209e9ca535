// Gradients of functions between layers, as expressions: _1 is what the function has made (GELU, GELU_ERF, SWISH and
// HARD_SIGMOID: what it was given), _2 the gradient of that.
#ifndef POPNN_DETAIL_NONLINEARITYGRADIENT_HPP
#define POPNN_DETAIL_NONLINEARITYGRADIENT_HPP

#include <popnn/NonLinearityDef.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>

namespace popnn
{
namespace detail
{

using popops::expr::Any;

// What the gradient is multiplied by. With t = tanh(c x (1 + k x^2)): (1 + t) / 2 + x (1 - t^2) c (1 + 3 k x^2) / 2
inline Any gelu_gradient()
{
  using namespace popops::expr;
  auto c = Const(0.7978845608f), k = Const(0.044715f), one = Const(1.f), half = Const(0.5f);
  auto square = Square(_1);
  auto t = Tanh(Mul(Mul(_1, c), Add(one, Mul(k, square))));
  auto inner = Mul(Mul(_1, c), Add(one, Mul(Const(3 * 0.044715f), square)));
  return Mul(half, Add(Add(one, t), Mul(inner, Sub(one, Square(t)))));
}

// P(x) + x p(x) of the normal distribution
inline Any gelu_erf_gradient()
{
  using namespace popops::expr;
  auto probability = Mul(Const(0.5f), Add(Const(1.f), Erf(Mul(_1, Const(0.7071067812f)))));
  auto density = Mul(Const(0.3989422804f), Exp(Mul(Const(-0.5f), Square(_1))));
  return Add(probability, Mul(_1, density));
}

// s + x s (1 - s)
inline Any swish_gradient()
{
  using namespace popops::expr;
  auto s = Sigmoid(_1);
  return Mul(s, Add(Const(1.f), Mul(_1, Sub(Const(1.f), s))));
}

inline Any gradient_of(NonLinearityType type)
{
  using namespace popops::expr;
  switch (type) {
  case NonLinearityType::SIGMOID:
    return Mul(_2, Mul(_1, Sub(Const(1.f), _1)));
  case NonLinearityType::TANH:
    return Mul(_2, Sub(Const(1.f), Square(_1)));
  case NonLinearityType::HARD_SIGMOID:
    return Select(Mul(_2, Const(0.2f)), Const(0.f), Lte(Abs(_1), Const(2.5f)));
  case NonLinearityType::GELU:
    return Mul(_2, gelu_gradient());
  case NonLinearityType::GELU_ERF:
    return Mul(_2, gelu_erf_gradient());
  case NonLinearityType::SWISH:
    return Mul(_2, swish_gradient());
  default: // RELU; softmax is none of single elements
    return Select(_2, Const(0.f), Gt(_1, Const(0.f)));
  }
}

// y (g - the sum of y g over the last dimension)
inline poplar::Tensor softmax_gradient(poplar::Graph &graph, const poplar::Tensor &made,
                                       const poplar::Tensor &gradient,
                                       poplar::program::Sequence &prog,
                                       const poplar::DebugContext &debugContext)
{
  using namespace popops::expr;
  if (made.rank() == 0)
    throw poplar::tensor_creation_error("popnn::nonLinearityInputGradient: a softmax is of the "
                                        "last dimension; this tensor has none");
  unsigned last = static_cast<unsigned>(made.rank() - 1);
  poplar::Tensor products = popops::mul(graph, made, gradient, prog, debugContext);
  poplar::Tensor sums = popops::reduce(graph, products, poplar::FLOAT, {last},
                                       {popops::Operation::ADD}, prog, debugContext);
  sums = popops::cast(graph, sums, made.elementType(), prog, debugContext)
             .expand({last})
             .broadcast(static_cast<unsigned>(made.dim(last)), last);
  return popops::map(graph, Mul(_1, Sub(_2, _3)), {made, gradient, sums}, prog, debugContext);
}

} // namespace detail
} // namespace popnn

#endif
