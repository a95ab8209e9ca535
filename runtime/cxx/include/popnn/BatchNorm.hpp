// Batch norm: what is normal is found for each channel, of all of the batch. populus/popnn_norm.h.
#ifndef POPNN_BATCHNORM_HPP
#define POPNN_BATCHNORM_HPP

#include <popnn/Norms.hpp>

namespace popnn
{
namespace bn
{

// The mean and 1 / sqrt(variance + eps) of each set of elements.
inline std::pair<poplar::Tensor, poplar::Tensor> batchNormStatistics(
    poplar::Graph &graph, const poplar::Tensor &acts, float eps, poplar::program::Sequence &prog,
    bool unbiasedVarEstimate, bool /*stableAlgo*/ = false,
    const poplar::Type & /*partialsType*/ = poplar::FLOAT,
    const poplar::DebugContext &debugContext = {}, const poplar::OptionFlags &options = {})
{
  return detail::statistics(graph, detail::normOf(0, options), acts, eps, prog, unbiasedVarEstimate,
                            debugContext);
}

#define POPNN_NORM(function) batchNorm##function
#define POPNN_NORM_GROUPS(acts, statistics) 0
#include <popnn/detail/NormFunctions.inc>
#undef POPNN_NORM
#undef POPNN_NORM_GROUPS

// With statistics and parameters in one: acts * combinedMultiplicand + addend.
inline poplar::Tensor batchNormalise(poplar::Graph &graph, const poplar::Tensor &acts,
                                     const poplar::Tensor &combinedMultiplicand,
                                     const poplar::Tensor &addend, poplar::program::Sequence &prog,
                                     const poplar::DebugContext &debugContext = {},
                                     const poplar::OptionFlags &options = {})
{
  detail::normOf(0, options);
  return detail::scale(graph, acts, combinedMultiplicand, addend, prog, debugContext);
}

} // namespace bn
} // namespace popnn

#endif
