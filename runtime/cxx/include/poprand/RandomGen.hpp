// Random numbers: populus/poprand.h.
#ifndef POPRAND_RANDOMGEN_HPP
#define POPRAND_RANDOMGEN_HPP

#include <cmath>
#include <poplar/detail/Library.hpp>
#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/codelets.hpp>
#include <populus/poprand.h>
#include <poputil/exceptions.hpp>
#include <string>

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

// `seed` has two elements of UNSIGNED_INT, or is null for the workers' own generators. Results are
// new variables of the shape and mapping of `reference`.

inline poplar::Tensor uniform(poplar::Graph &graph, const poplar::Tensor *seed,
                              std::uint32_t seedModifier, const poplar::Tensor &reference,
                              const poplar::Type &outType, double minVal, double maxVal,
                              poplar::program::Sequence &prog,
                              const poplar::DebugContext &debugContext = {})
{
  return detail::draw(graph, seed, seedModifier, reference, outType,
                      {POP_UNIFORM, minVal, maxVal, 0}, prog, debugContext);
}
// Numbers whose logarithms are uniform, whatever the base, of FLOAT, HALF or INT. Throws type_error
// for other types, and poplibs_error unless 1 <= minVal < maxVal, which the type has, and, for INT,
// there is an integer from minVal to maxVal. They are calculated as floats, so of large ints not all
// are drawn.
inline poplar::Tensor logUniform(poplar::Graph &graph, const poplar::Tensor *seed,
                                 std::uint32_t seedModifier, const poplar::Tensor &reference,
                                 const poplar::Type &outType, double minVal, double maxVal,
                                 poplar::program::Sequence &prog,
                                 double /*base*/ = 2.718281828459045,
                                 const poplar::DebugContext &debugContext = {})
{
  namespace pe = popops::expr;
  const bool whole = outType == poplar::INT;
  if (!whole && outType != poplar::FLOAT && outType != poplar::HALF)
    throw poplar::type_error("poprand::logUniform: numbers of type " + outType.toString() +
                             "; there are float, half and int");
  const double least = whole ? std::ceil(minVal) : minVal,
               most = whole ? std::floor(maxVal) : maxVal;
  if (!(minVal >= 1) || !(maxVal > minVal) || least > most)
    throw poputil::poplibs_error(
        "poprand::logUniform: from " + std::to_string(minVal) + " to " + std::to_string(maxVal) +
        " of type " + outType.toString() +
        ": the lower bound must be at least 1, the upper one larger, and a "
        "value between them");
  if (whole && most > INT32_MAX)
    throw poputil::poplibs_error("poprand::logUniform: an upper bound of " +
                                 std::to_string(maxVal) + "; it is at most " +
                                 std::to_string(INT32_MAX) + " for an int");
  const double largest = graph.getTarget().getTypeLimitsMaxAs<double>(outType);
  if (!(most <= largest))
    throw poputil::poplibs_error("poprand::logUniform: an upper bound of " +
                                 std::to_string(maxVal) + ", which is too large for type " +
                                 outType.toString());
  popops::addCodelets(graph);
  // For INT the upper bound is most + 1, because the cast truncates.
  poplar::Tensor logs =
      uniform(graph, seed, seedModifier, reference, poplar::FLOAT, std::log(least),
              std::log(whole ? most + 1 : most), prog, debugContext);
  float lowest = static_cast<float>(least), highest = static_cast<float>(most);
  // The float next to an int may be beyond the bound, and no int.
  if (whole && highest > most) highest = std::nextafter(highest, 0.0f);
  popops::mapInPlace(graph,
                     pe::Min(pe::Max(pe::Exp(pe::_1), pe::Const(lowest)), pe::Const(highest)),
                     {logs}, prog, debugContext);
  if (outType == poplar::FLOAT) return logs;
  poplar::Tensor result = popops::cast(graph, logs, outType, prog, debugContext);
  if (whole && (lowest < least || highest < least))
    popops::maxInPlace(graph, result, static_cast<int>(least), prog, debugContext);
  return result;
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
// Keeps each element with a probability, multiplied by `scale`; the others become 0. `reference`
// must have the shape of `input`. The result is mapped like `reference`, or, with `outputClonesRef`
// false, like `input`.
inline poplar::Tensor dropout(poplar::Graph &graph, const poplar::Tensor *seed,
                              std::uint32_t seedModifier, const poplar::Tensor &input,
                              const poplar::Tensor &reference, double keepProbability, double scale,
                              bool outputClonesRef, poplar::program::Sequence &prog,
                              const poplar::DebugContext &debugContext = {})
{
  if (input.shape() != reference.shape())
    throw poputil::poplibs_error("poprand::dropout: the input has the shape " +
                                 input.shapeToString() + ", the reference has " +
                                 reference.shapeToString());
  poplar::Tensor in = input;
  if (outputClonesRef && graph.getTileMapping(input) != graph.getTileMapping(reference)) {
    in = graph.clone(input.elementType(), reference, debugContext);
    prog.add(poplar::program::Copy(input, in, false, debugContext));
  }
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_poprand_dropout(graph.c(), detail::source(seed, seedModifier),
                                         poplar::detail::check(in.c()), keepProbability, scale,
                                         call.program(), call.c()));
}
inline poplar::Tensor dropout(poplar::Graph &graph, const poplar::Tensor *seed,
                              std::uint32_t seedModifier, const poplar::Tensor &input,
                              const poplar::Tensor &reference, double keepProbability, double scale,
                              poplar::program::Sequence &prog,
                              const poplar::DebugContext &debugContext = {})
{
  return dropout(graph, seed, seedModifier, input, reference, keepProbability, scale, true, prog,
                 debugContext);
}
// The same by rows, columns, …: numbers are drawn in the shape of `reference`, which must
// broadcast to that of `input`; throws poplibs_error otherwise.
inline poplar::Tensor shapedDropout(poplar::Graph &graph, const poplar::Tensor *seed,
                                    std::uint32_t seedModifier, const poplar::Tensor &input,
                                    const poplar::Tensor &reference, double keepProbability,
                                    double scale, poplar::program::Sequence &prog,
                                    const poplar::DebugContext &debugContext = {})
{
  namespace pe = popops::expr;
  const std::vector<std::size_t> own = reference.shape(), all = input.shape();
  bool fits = own.size() <= all.size();
  for (std::size_t d = 0; fits && d < own.size(); ++d)
    fits = own[d] == 1 || own[d] == all[all.size() - own.size() + d];
  if (!fits)
    throw poputil::poplibs_error(
        "poprand::shapedDropout: the reference has the shape " + reference.shapeToString() +
        ", which does not broadcast to that of the input, " + input.shapeToString());
  popops::addCodelets(graph);
  poplar::Tensor kept = bernoulli(graph, seed, seedModifier, reference, input.elementType(),
                                  keepProbability, prog, debugContext);
  return popops::map(graph,
                     pe::Select(pe::Mul(pe::_1, pe::Const(static_cast<float>(scale))),
                                pe::Const(0.0f), pe::NotEqual(pe::_2, pe::Const(0.0f))),
                     {input, kept}, prog, debugContext);
}
// Seeds the workers' generators, each differently.
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
