// Batch norm: statistics of each channel, over all of the batch. populus/popnn_norm.h.
#ifndef POPNN_BATCHNORM_HPP
#define POPNN_BATCHNORM_HPP

#include <popnn/detail/DistributedNorm.hpp>

namespace popnn
{
namespace bn
{

// The mean and 1 / sqrt(variance + eps) of each channel.
inline std::pair<poplar::Tensor, poplar::Tensor> batchNormStatistics(
    poplar::Graph &graph, const poplar::Tensor &acts, float eps, poplar::program::Sequence &prog,
    bool unbiasedVarEstimate, bool stableAlgo = false,
    const poplar::Type &partialsType = poplar::FLOAT, const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {})
{
  return detail::statistics(
      graph, detail::ofStatistics(detail::normOf(0, options), stableAlgo, partialsType), acts, eps,
      prog, unbiasedVarEstimate, debugContext);
}

#define POPNN_NORM(function) batchNorm##function
#define POPNN_NORM_GROUPS(acts, statistics) 0
#include <popnn/detail/NormFunctions.inc>
#undef POPNN_NORM
#undef POPNN_NORM_GROUPS

// Normalises with statistics and parameters combined: acts * combinedMultiplicand + addend.
inline poplar::Tensor batchNormalise(poplar::Graph &graph, const poplar::Tensor &acts,
                                     const poplar::Tensor &combinedMultiplicand,
                                     const poplar::Tensor &addend, poplar::program::Sequence &prog,
                                     const poplar::DebugContext &debugContext = {},
                                     const poplar::OptionFlags &options = {})
{
  detail::normOf(0, options);
  return detail::scale(graph, acts, combinedMultiplicand, addend, prog, debugContext);
}

// ---- a batch of normBatchSize elements, spread over replicas: each has as many as `acts` ----

inline std::pair<poplar::Tensor, poplar::Tensor> distributedBatchNormStatistics(
    poplar::Graph &replicatedGraph, const poplar::Tensor acts, float eps,
    poplar::program::Sequence &prog, bool unbiasedVarEstimate,
    poplin::DistributedNormReduceCallback reduceCallback, unsigned normBatchSize,
    bool stableAlgo = false, const poplar::Type &partialsType = poplar::FLOAT,
    const poplar::DebugContext &debugContext = {}, const poplar::OptionFlags &options = {})
{
  detail::DistributedNorm all(replicatedGraph, acts, normBatchSize, reduceCallback, debugContext);
  pop_norm norm = detail::ofStatistics(detail::normOf(0, options), stableAlgo, partialsType);
  return all.finish(detail::statistics(replicatedGraph, all.over(norm), acts, eps, prog,
                                       unbiasedVarEstimate, debugContext));
}
inline poplar::Tensor distributedBatchNormGradients(
    poplar::Graph &replicatedGraph, const poplar::Tensor &actsWhitened,
    const poplar::Tensor &gradsIn, const poplar::Tensor &invStdDev, const poplar::Tensor &gamma,
    poplar::program::Sequence &prog, poplin::DistributedNormReduceCallback reduceCallback,
    unsigned normBatchSize, const poplar::Type &partialsType = poplar::FLOAT,
    const poplar::DebugContext &debugContext = {}, const poplar::OptionFlags &options = {})
{
  detail::DistributedNorm all(replicatedGraph, actsWhitened, normBatchSize, reduceCallback,
                              debugContext);
  pop_norm norm = detail::withSums(detail::normOf(0, options), partialsType);
  return all.finish(detail::gradients(replicatedGraph, all.over(norm), actsWhitened, gradsIn,
                                      invStdDev, poplar::detail::check(gamma.c()), prog,
                                      debugContext));
}
inline poplar::Tensor distributedBatchNormGradients(
    poplar::Graph &replicatedGraph, const poplar::Tensor &acts, const poplar::Tensor &gradsIn,
    const poplar::Tensor &mean, const poplar::Tensor &invStdDev, const poplar::Tensor &gamma,
    poplar::program::Sequence &prog, poplin::DistributedNormReduceCallback reduceCallback,
    unsigned normBatchSize, const poplar::Type &partialsType = poplar::FLOAT,
    const poplar::DebugContext &debugContext = {}, const poplar::OptionFlags &options = {})
{
  return distributedBatchNormGradients(
      replicatedGraph,
      batchNormWhiten(replicatedGraph, acts, mean, invStdDev, prog, debugContext, options), gradsIn,
      invStdDev, gamma, prog, reduceCallback, normBatchSize, partialsType, debugContext, options);
}

} // namespace bn
} // namespace popnn

#endif
