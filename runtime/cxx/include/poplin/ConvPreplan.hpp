// Plans of convolutions and products in advance: only options are checked.
#ifndef POPLIN_CONVPREPLAN_HPP
#define POPLIN_CONVPREPLAN_HPP

#include <poplin/Convolution.hpp>

namespace poplin
{

inline void preplan(const std::set<ConvPlanParams> &convs,
                    const std::set<MatMulPlanParams> &matmuls, PlanningCache &cache)
{
  preplanConvolutions(convs, cache);
  for (const MatMulPlanParams &each : matmuls)
    detail::checkMatMulOptions("poplin::preplan", *std::get<2>(each));
}

} // namespace poplin

#endif
