// Random numbers: populus/poprand.h.
#ifndef POPRAND_RANDOMGEN_HPP
#define POPRAND_RANDOMGEN_HPP

#include <poplar/detail/Library.hpp>
#include <populus/poprand.h>

namespace poprand
{
namespace detail
{

inline pop_random_source source(const poplar::Tensor *seed, std::uint32_t modifier)
{
  return {seed ? poplar::detail::check(seed->c()) : poplar::Tensor().c(), modifier};
}
inline poplar::Tensor draw(poplar::Graph &graph, const poplar::Tensor *seed,
                           std::uint32_t seedModifier, const poplar::Tensor &reference,
                           const poplar::Type &type, pop_distribution distribution,
                           poplar::program::Sequence &prog,
                           const poplar::DebugContext &debugContext)
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_poprand_draw(graph.c(), source(seed, seedModifier),
                                      poplar::detail::check(reference.c()), type.c(), distribution,
                                      call.program(), call.c()));
}

} // namespace detail

// `seed`: two elements of UNSIGNED_INT, or null for the workers' own generators. Results lie as `reference` does.

inline poplar::Tensor uniform(poplar::Graph &graph, const poplar::Tensor *seed,
                              std::uint32_t seedModifier, const poplar::Tensor &reference,
                              const poplar::Type &outType, double minVal, double maxVal,
                              poplar::program::Sequence &prog,
                              const poplar::DebugContext &debugContext = {})
{
  return detail::draw(graph, seed, seedModifier, reference, outType,
                      {POP_UNIFORM, minVal, maxVal, 0}, prog, debugContext);
}
inline poplar::Tensor bernoulli(poplar::Graph &graph, const poplar::Tensor *seed,
                                std::uint32_t seedModifier, const poplar::Tensor &reference,
                                const poplar::Type &outType, double prob,
                                poplar::program::Sequence &prog,
                                const poplar::DebugContext &debugContext = {})
{
  return detail::draw(graph, seed, seedModifier, reference, outType, {POP_BERNOULLI, prob, 0, 0},
                      prog, debugContext);
}
inline poplar::Tensor normal(poplar::Graph &graph, const poplar::Tensor *seed,
                             std::uint32_t seedModifier, const poplar::Tensor &reference,
                             const poplar::Type &outType, double mean, double stdDev,
                             poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext = {})
{
  return detail::draw(graph, seed, seedModifier, reference, outType, {POP_NORMAL, mean, stdDev, 0},
                      prog, debugContext);
}
// No more than alpha standard deviations from the mean.
inline poplar::Tensor truncatedNormal(poplar::Graph &graph, const poplar::Tensor *seed,
                                      std::uint32_t seedModifier, const poplar::Tensor &reference,
                                      const poplar::Type &outType, double mean, double stdDev,
                                      double alpha, poplar::program::Sequence &prog,
                                      const poplar::DebugContext &debugContext = {})
{
  return detail::draw(graph, seed, seedModifier, reference, outType,
                      {POP_TRUNCATED_NORMAL, mean, stdDev, alpha}, prog, debugContext);
}
// Keeps elements with a probability, times `scale`. The result lies as `input` does.
inline poplar::Tensor dropout(poplar::Graph &graph, const poplar::Tensor *seed,
                              std::uint32_t seedModifier, const poplar::Tensor &input,
                              const poplar::Tensor & /*reference*/, double keepProbability,
                              double scale, poplar::program::Sequence &prog,
                              const poplar::DebugContext &debugContext = {})
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_poprand_dropout(graph.c(), detail::source(seed, seedModifier),
                                         poplar::detail::check(input.c()), keepProbability, scale,
                                         call.program(), call.c()));
}
// Of the workers' generators.
inline void setSeed(poplar::Graph &graph, const poplar::Tensor &masterSeed,
                    std::uint32_t seedModifier, poplar::program::Sequence &prog,
                    const poplar::DebugContext &debugContext = {})
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_poprand_set_seed(graph.c(), detail::source(&masterSeed, seedModifier), call.program(),
                       call.c());
  call.finish();
}

} // namespace poprand

#endif
