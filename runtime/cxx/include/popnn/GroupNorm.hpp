// Group norm: statistics of groups of channels of each element of the batch. Those of element e and
// group g have the number e * groups + g. populus/popnn_norm.h.
#ifndef POPNN_GROUPNORM_HPP
#define POPNN_GROUPNORM_HPP

#include <popnn/Norms.hpp>

namespace popnn
{
namespace gn
{

// The mean and 1 / sqrt(variance + eps) of each group of each element.
inline std::pair<poplar::Tensor, poplar::Tensor> groupNormStatistics(
    poplar::Graph &graph, const poplar::Tensor &acts, float eps, poplar::program::Sequence &prog,
    unsigned numGroups, bool unbiasedVarEstimate, bool stableAlgo = false,
    const poplar::Type &partialsType = poplar::FLOAT, const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {})
{
  if (numGroups == 0)
    throw poplar::poplar_error("popnn::gn::groupNormStatistics: 0 groups; at least one is needed");
  return detail::statistics(
      graph, detail::ofStatistics(detail::normOf(numGroups, options), stableAlgo, partialsType),
      acts, eps, prog, unbiasedVarEstimate, debugContext);
}

#define POPNN_NORM(function) groupNorm##function
#define POPNN_NORM_GROUPS(acts, statistics) detail::groupsOf(acts, statistics)
#include <popnn/detail/NormFunctions.inc>
#undef POPNN_NORM
#undef POPNN_NORM_GROUPS

} // namespace gn
} // namespace popnn

#endif
