// Gradients of non-linearities, as expressions. _1 is the function's output (for GELU, GELU_ERF,
// SWISH and HARD_SIGMOID its input), _2 the gradient of the output.
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

// The factor of the gradient. With t = tanh(c x (1 + k x^2)): (1 + t) / 2 + x (1 - t^2) c (1 + 3
// k x^2) / 2. Beyond 10 it is 0 or 1; there, squares of halves may be too large, and infinity times
// 1 - t^2, which is 0, would be NaN.
inline Any gelu_gradient()
{
  namespace pe = popops::expr;
  auto x = pe::Clamp(pe::_1, pe::Const(-10.f), pe::Const(10.f));
  auto c = pe::Const(0.7978845608f), k = pe::Const(0.044715f), one = pe::Const(1.f),
       half = pe::Const(0.5f);
  auto square = pe::Square(x);
  auto t = pe::Tanh(pe::Mul(pe::Mul(x, c), pe::Add(one, pe::Mul(k, square))));
  auto inner = pe::Mul(pe::Mul(x, c), pe::Add(one, pe::Mul(pe::Const(3 * 0.044715f), square)));
  return pe::Mul(half, pe::Add(pe::Add(one, t), pe::Mul(inner, pe::Sub(one, pe::Square(t)))));
}

// P(x) + x p(x), with probability P and density p of the normal distribution
inline Any gelu_erf_gradient()
{
  namespace pe = popops::expr;
  auto probability = pe::Mul(
      pe::Const(0.5f), pe::Add(pe::Const(1.f), pe::Erf(pe::Mul(pe::_1, pe::Const(0.7071067812f)))));
  auto density =
      pe::Mul(pe::Const(0.3989422804f), pe::Exp(pe::Mul(pe::Const(-0.5f), pe::Square(pe::_1))));
  return pe::Add(probability, pe::Mul(pe::_1, density));
}

// s + x s (1 - s)
inline Any swish_gradient()
{
  namespace pe = popops::expr;
  auto s = pe::Sigmoid(pe::_1);
  return pe::Mul(s, pe::Add(pe::Const(1.f), pe::Mul(pe::_1, pe::Sub(pe::Const(1.f), s))));
}

inline Any gradient_of(NonLinearityType type)
{
  namespace pe = popops::expr;
  switch (type) {
  case NonLinearityType::SIGMOID:
    return pe::Mul(pe::_2, pe::Mul(pe::_1, pe::Sub(pe::Const(1.f), pe::_1)));
  case NonLinearityType::TANH:
    return pe::Mul(pe::_2, pe::Sub(pe::Const(1.f), pe::Square(pe::_1)));
  case NonLinearityType::HARD_SIGMOID:
    return pe::Select(pe::Mul(pe::_2, pe::Const(0.2f)), pe::Const(0.f),
                      pe::Lte(pe::Abs(pe::_1), pe::Const(2.5f)));
  case NonLinearityType::GELU:
    return pe::Mul(pe::_2, gelu_gradient());
  case NonLinearityType::GELU_ERF:
    return pe::Mul(pe::_2, gelu_erf_gradient());
  case NonLinearityType::SWISH:
    return pe::Mul(pe::_2, swish_gradient());
  default: // RELU; softmax is none of single elements
    return pe::Select(pe::_2, pe::Const(0.f), pe::Gt(pe::_1, pe::Const(0.f)));
  }
}

// y (g - the sum of y g over the last dimension)
inline poplar::Tensor softmax_gradient(poplar::Graph &graph, const poplar::Tensor &made,
                                       const poplar::Tensor &gradient,
                                       poplar::program::Sequence &prog,
                                       const poplar::DebugContext &debugContext)
{
  namespace pe = popops::expr;
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
  return popops::map(graph, pe::Mul(pe::_1, pe::Sub(pe::_2, pe::_3)), {made, gradient, sums}, prog,
                     debugContext);
}

} // namespace detail
} // namespace popnn

#endif
