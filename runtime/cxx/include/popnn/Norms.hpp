// What the norms share (populus/popnn_norm.h): options, parameters, and counts of operations.
#ifndef POPNN_NORMS_HPP
#define POPNN_NORMS_HPP

#include <cstdint>
#include <poplar/detail/Library.hpp>
#include <popops/ScaledAdd.hpp>
#include <populus/popnn_norm.h>
#include <utility>

namespace popnn
{
namespace detail
{

// A norm of so many groups of channels; 0: a batch norm.
inline pop_norm normOf(std::size_t groups, const poplar::OptionFlags &options)
{
  using poplar::detail::OptionValue;
  poplar::detail::checkOptions("popnn: norm", options,
                               {{"groupNormStridedChannelGrouping", OptionValue::TRUTH}});
  pop_norm norm = {};
  norm.groups = groups;
  norm.strided =
      poplar::detail::optionOr(options, "groupNormStridedChannelGrouping", "false") == "true";
  return norm;
}

// Sets the type of sums: float, or half for half activations.
inline pop_norm withSums(pop_norm norm, const poplar::Type &partialsType)
{
  if (partialsType != poplar::FLOAT && partialsType != poplar::HALF)
    throw poplar::poplar_error("popnn: norm: partialsType is float or half, not " +
                               partialsType.toString());
  norm.half_sums = partialsType == poplar::HALF;
  return norm;
}
inline pop_norm ofStatistics(pop_norm norm, bool stable, const poplar::Type &partialsType)
{
  norm = withSums(norm, partialsType);
  norm.fast = !stable;
  return norm;
}

// The number of groups: of statistics for each element of the batch.
inline std::size_t groupsOf(const poplar::Tensor &acts, const poplar::Tensor &statistics)
{
  const std::size_t batch = acts.rank() ? acts.dim(0) : 0;
  if (batch == 0 || statistics.numElements() == 0 || statistics.numElements() % batch)
    throw poplar::poplar_error("popnn: norm: " + std::to_string(statistics.numElements()) +
                               " statistics for activations of shape " + acts.shapeToString() +
                               "; as many as groups for each of the batch are needed");
  return statistics.numElements() / batch;
}

inline std::pair<poplar::Tensor, poplar::Tensor> statistics(
    poplar::Graph &graph, pop_norm norm, const poplar::Tensor &acts, float eps,
    poplar::program::Sequence &prog, bool unbiased, const poplar::DebugContext &debugContext)
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_tensor deviation = {};
  poplar::Tensor mean = call.finish(pop_popnn_norm_statistics(
      graph.c(), norm, poplar::detail::check(acts.c()), static_cast<double>(eps), unbiased,
      &deviation, call.program(), call.c()));
  return {mean, poplar::Tensor(deviation)};
}

inline poplar::Tensor whiten(poplar::Graph &graph, pop_norm norm, const poplar::Tensor &acts,
                             const poplar::Tensor &mean, const poplar::Tensor &invStdDev,
                             poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext)
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_popnn_norm_whiten(graph.c(), norm, poplar::detail::check(acts.c()),
                                           mean.c(), invStdDev.c(), call.program(), call.c()));
}

inline poplar::Tensor scale(poplar::Graph &graph, const poplar::Tensor &whitened,
                            const poplar::Tensor &gamma, const poplar::Tensor &beta,
                            poplar::program::Sequence &prog,
                            const poplar::DebugContext &debugContext)
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_popnn_norm_scale(graph.c(), poplar::detail::check(whitened.c()), gamma.c(),
                                          beta.c(), call.program(), call.c()));
}

inline std::pair<poplar::Tensor, poplar::Tensor> parameterGradients(
    poplar::Graph &graph, pop_norm norm, const poplar::Tensor &whitened,
    const poplar::Tensor &gradsIn, poplar::program::Sequence &prog,
    const poplar::DebugContext &debugContext)
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_tensor beta = {};
  poplar::Tensor gamma = call.finish(
      pop_popnn_norm_parameter_gradients(graph.c(), norm, poplar::detail::check(whitened.c()),
                                         gradsIn.c(), &beta, call.program(), call.c()));
  return {gamma, poplar::Tensor(beta)};
}

// The gradient of the activations. If gamma is null, gradsIn is that of the whitened activations.
inline poplar::Tensor gradients(poplar::Graph &graph, pop_norm norm, const poplar::Tensor &whitened,
                                const poplar::Tensor &gradsIn, const poplar::Tensor &invStdDev,
                                pop_tensor gamma, poplar::program::Sequence &prog,
                                const poplar::DebugContext &debugContext)
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_popnn_norm_gradient(graph.c(), norm, poplar::detail::check(whitened.c()),
                                             gradsIn.c(), invStdDev.c(), gamma, call.program(),
                                             call.c()));
}

// parameter += scale * delta, of one shape: a smaller delta would be repeated.
template <typename Scale>
void updateParameter(poplar::Graph &graph, const char *name, const poplar::Tensor &parameter,
                     const poplar::Tensor &delta, const Scale &scale,
                     poplar::program::Sequence &prog, const poplar::DebugContext &debugContext)
{
  if (parameter.shape() != delta.shape())
    throw poplar::tensor_creation_error(std::string("popnn: norm: ") + name + " has the shape " +
                                        parameter.shapeToString() + ", its gradient has " +
                                        delta.shapeToString());
  popops::scaledAddTo(graph, parameter, delta, scale, prog, debugContext);
}

inline poplar::Tensor parameter(poplar::Graph &graph, const poplar::Tensor &acts,
                                const poplar::Type &type, const char *name,
                                const poplar::DebugContext &debugContext)
{
  if (acts.rank() < 2)
    throw poplar::poplar_error("popnn: activations of shape " + acts.shapeToString() +
                               " have no channels");
  return graph.addVariable(type, {acts.dim(1)}, poplar::VariableMappingMethod::LINEAR,
                           {debugContext, name});
}

} // namespace detail

// One element for each channel, spread over the tiles.
inline poplar::Tensor createNormGamma(poplar::Graph &graph, const poplar::Tensor &acts,
                                      const poplar::DebugContext &debugContext = {})
{
  return detail::parameter(graph, acts, acts.elementType(), "gamma", debugContext);
}
inline poplar::Tensor createNormBeta(poplar::Graph &graph, const poplar::Tensor &acts,
                                     const poplar::DebugContext &debugContext = {})
{
  return detail::parameter(graph, acts, acts.elementType(), "beta", debugContext);
}
inline std::pair<poplar::Tensor, poplar::Tensor> createNormParams(
    poplar::Graph &graph, const poplar::Tensor &acts, const poplar::DebugContext &debugContext = {})
{
  return {createNormGamma(graph, acts, debugContext), createNormBeta(graph, acts, debugContext)};
}

// Operations of the steps. Whitening and scaling take 4 for each element of the activations.
// Statistics take 4 more (2 sums, the distance and its square), and 5 for each statistic.
inline std::uint64_t getNormFwdFlops(std::size_t statisticsSize, std::size_t numActsElements,
                                     bool computeStats = true)
{
  return 4 * numActsElements + (computeStats ? 4 * numActsElements + 5 * statisticsSize : 0);
}
inline std::uint64_t getNormBwdFlops(std::size_t statisticsSize, std::size_t numActsElements)
{
  return 8 * numActsElements + 2 * statisticsSize;
}
inline std::uint64_t getNormWuFlops(std::size_t paramsSize, std::size_t numActsElements)
{
  return 3 * numActsElements + 4 * paramsSize;
}

} // namespace popnn

#endif
