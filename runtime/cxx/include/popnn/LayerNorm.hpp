// Layer norm: statistics of each element of the batch. populus/popnn_norm.h.
#ifndef POPNN_LAYERNORM_HPP
#define POPNN_LAYERNORM_HPP

#include <popnn/Norms.hpp>

namespace popnn
{
namespace ln
{

// The mean and 1 / sqrt(variance + eps) of each element of the batch.
inline std::pair<poplar::Tensor, poplar::Tensor> layerNormStatistics(
    poplar::Graph &graph, const poplar::Tensor &acts, float eps, poplar::program::Sequence &prog,
    bool unbiasedVarEstimate, bool stableAlgo = false,
    const poplar::Type &partialsType = poplar::FLOAT, const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {})
{
  return detail::statistics(
      graph, detail::ofStatistics(detail::normOf(1, options), stableAlgo, partialsType), acts, eps,
      prog, unbiasedVarEstimate, debugContext);
}

#define POPNN_NORM(function) layerNorm##function
#define POPNN_NORM_GROUPS(acts, statistics) detail::groupsOf(acts, statistics)
#include <popnn/detail/NormFunctions.inc>
#undef POPNN_NORM
#undef POPNN_NORM_GROUPS

} // namespace ln
} // namespace popnn

#endif
