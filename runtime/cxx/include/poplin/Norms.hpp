// The parts of norms, for programs with layers of their own. Statistics are of channels.
// populus/popnn_norm.h.
#ifndef POPLIN_NORMS_HPP
#define POPLIN_NORMS_HPP

#include <popnn/detail/DistributedNorm.hpp>
#include <popops/ElementWise.hpp>
#include <tuple>

namespace poplin
{
namespace detail
{

inline pop_norm byChannel(const poplar::Type &partialsType)
{
  return popnn::detail::withSums(pop_norm{}, partialsType);
}

} // namespace detail

// One element for each channel, spread over the tiles. The type is that of the activations, or
// `type`.
inline poplar::Tensor createNormGamma(poplar::Graph &graph, const poplar::Tensor &acts,
                                      const poplar::Type &type,
                                      const poplar::DebugContext &debugContext = {})
{
  return popnn::detail::parameter(graph, acts, type, "gamma", debugContext);
}
inline poplar::Tensor createNormGamma(poplar::Graph &graph, const poplar::Tensor &acts,
                                      const poplar::DebugContext &debugContext = {})
{
  return createNormGamma(graph, acts, acts.elementType(), debugContext);
}
inline poplar::Tensor createNormBeta(poplar::Graph &graph, const poplar::Tensor &acts,
                                     const poplar::Type &type,
                                     const poplar::DebugContext &debugContext = {})
{
  return popnn::detail::parameter(graph, acts, type, "beta", debugContext);
}
inline poplar::Tensor createNormBeta(poplar::Graph &graph, const poplar::Tensor &acts,
                                     const poplar::DebugContext &debugContext = {})
{
  return createNormBeta(graph, acts, acts.elementType(), debugContext);
}
inline std::pair<poplar::Tensor, poplar::Tensor> createNormParams(
    poplar::Graph &graph, const poplar::Tensor &acts, const poplar::DebugContext &debugContext = {})
{
  return {createNormGamma(graph, acts, debugContext), createNormBeta(graph, acts, debugContext)};
}

// The mean and 1 / sqrt(variance + eps) of each channel.
inline std::pair<poplar::Tensor, poplar::Tensor> normStatistics(
    poplar::Graph &graph, const poplar::Tensor &acts, float eps, poplar::program::Sequence &prog,
    bool unbiasedVarEstimate, bool stableAlgo = false,
    const poplar::Type &partialsType = poplar::FLOAT, const poplar::DebugContext &debugContext = {})
{
  return popnn::detail::statistics(
      graph, popnn::detail::ofStatistics(pop_norm{}, stableAlgo, partialsType), acts, eps, prog,
      unbiasedVarEstimate, debugContext);
}
// Statistics of a batch of `normSize` elements, which is spread over consecutive replicas: each has
// as many as `acts`.
inline std::pair<poplar::Tensor, poplar::Tensor> distributedNormStatistics(
    poplar::Graph &replicatedGraph, const poplar::Tensor &acts, float eps,
    poplar::program::Sequence &prog, bool unbiasedVarEstimate,
    DistributedNormReduceCallback allReduceCallback, unsigned normSize, bool stableAlgo = false,
    const poplar::Type &partialsType = poplar::FLOAT, const poplar::DebugContext &debugContext = {})
{
  popnn::detail::DistributedNorm all(replicatedGraph, acts, normSize, allReduceCallback,
                                     debugContext);
  pop_norm norm = popnn::detail::ofStatistics(pop_norm{}, stableAlgo, partialsType);
  return all.finish(popnn::detail::statistics(replicatedGraph, all.over(norm), acts, eps, prog,
                                              unbiasedVarEstimate, debugContext));
}

// (acts - mean) * iStdDev
inline poplar::Tensor normWhiten(poplar::Graph &graph, const poplar::Tensor &acts,
                                 const poplar::Tensor &mean, const poplar::Tensor &iStdDev,
                                 poplar::program::Sequence &prog,
                                 const poplar::DebugContext &debugContext = {})
{
  return popnn::detail::whiten(graph, pop_norm{}, acts, mean, iStdDev, prog, debugContext);
}
// actsWhitened * gamma + beta
inline poplar::Tensor normalise(poplar::Graph &graph, const poplar::Tensor &actsWhitened,
                                const poplar::Tensor &gamma, const poplar::Tensor &beta,
                                poplar::program::Sequence &prog,
                                const poplar::DebugContext &debugContext = {})
{
  return popnn::detail::scale(graph, actsWhitened, gamma, beta, prog, debugContext);
}

// The gradients of gamma and of beta.
inline std::pair<poplar::Tensor, poplar::Tensor> normParamGradients(
    poplar::Graph &graph, const poplar::Tensor &actsWhitened, const poplar::Tensor &gradsIn,
    poplar::program::Sequence &prog, const poplar::Type &partialsType = poplar::FLOAT,
    const poplar::DebugContext &debugContext = {})
{
  return popnn::detail::parameterGradients(graph, detail::byChannel(partialsType), actsWhitened,
                                           gradsIn, prog, debugContext);
}
// The gradient of the whitened activations, from that of normalise's result: gradsIn * gamma.
inline poplar::Tensor normGradients(poplar::Graph &graph, const poplar::Tensor &gradsIn,
                                    const poplar::Tensor &gamma, poplar::program::Sequence &prog,
                                    const poplar::DebugContext &debugContext = {})
{
  if (gradsIn.rank() < 2 || gamma.numElements() != gradsIn.dim(1))
    throw poplar::poplar_error("poplin::normGradients: gamma has " +
                               std::to_string(gamma.numElements()) +
                               " elements for gradients of shape " + gradsIn.shapeToString() +
                               "; one for each channel, which is dimension 1, is needed");
  std::vector<std::size_t> shape(gradsIn.rank() - 1, 1);
  shape[0] = gamma.numElements();
  return popops::mul(graph, gradsIn, gamma.reshape(shape), prog, debugContext);
}
// The gradient of the activations, through whitening and statistics.
inline poplar::Tensor normStatisticsGradients(
    poplar::Graph &graph, const poplar::Tensor &actsWhitened, const poplar::Tensor &gradsIn,
    const poplar::Tensor &invStdDev, poplar::program::Sequence &prog,
    const poplar::Type &partialsType = poplar::FLOAT, const poplar::DebugContext &debugContext = {})
{
  return popnn::detail::gradients(graph, detail::byChannel(partialsType), actsWhitened, gradsIn,
                                  invStdDev, pop_tensor{}, prog, debugContext);
}
inline poplar::Tensor distributedNormStatisticsGradients(
    poplar::Graph &replicatedGraph, const poplar::Tensor &actsWhitened,
    const poplar::Tensor &gradsIn, const poplar::Tensor &invStdDev, poplar::program::Sequence &prog,
    DistributedNormReduceCallback reduceCallback, unsigned normSize,
    const poplar::Type &partialsType = poplar::FLOAT, const poplar::DebugContext &debugContext = {})
{
  popnn::detail::DistributedNorm all(replicatedGraph, actsWhitened, normSize, reduceCallback,
                                     debugContext);
  return all.finish(
      popnn::detail::gradients(replicatedGraph, all.over(detail::byChannel(partialsType)),
                               actsWhitened, gradsIn, invStdDev, pop_tensor{}, prog, debugContext));
}

} // namespace poplin

#endif
