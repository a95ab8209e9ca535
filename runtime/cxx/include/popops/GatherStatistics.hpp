// Histograms: populus/popops.h.
#ifndef POPOPS_GATHERSTATISTICS_HPP
#define POPOPS_GATHERSTATISTICS_HPP

#include <popops/Cast.hpp>
#include <populus/popops.h>

namespace popops
{

namespace detail
{

// Returns whether the result has type float. useFloatArithmeticWithUnsignedIntOutput has no effect:
// counts are made with integers.
inline bool checkHistogramOptions(const poplar::OptionFlags &options)
{
  using poplar::detail::OptionValue;
  poplar::detail::checkOptions("popops::histogram", options,
                               {{"useFloatArithmetic", OptionValue::TRUTH},
                                {"useFloatArithmeticWithUnsignedIntOutput", OptionValue::TRUTH}});
  const bool asFloat = poplar::detail::optionOr(options, "useFloatArithmetic", "false") == "true";
  if (asFloat && poplar::detail::optionOr(options, "useFloatArithmeticWithUnsignedIntOutput",
                                          "false") == "true")
    throw poplar::invalid_option("popops::histogram: useFloatArithmetic and "
                                 "useFloatArithmeticWithUnsignedIntOutput are both true");
  return asFloat;
}

} // namespace detail

// Counts the elements between levels, which ascend. There is one count more than levels: elements
// below the first level, …, elements from the last level on. They are UNSIGNED_INT, or float with
// useFloatArithmetic.
inline poplar::Tensor histogram(poplar::Graph &graph, const poplar::Tensor &input,
                                const poplar::Tensor &levels, bool absoluteOfInput,
                                poplar::program::Sequence &prog,
                                const poplar::DebugContext &debugContext = {},
                                const poplar::OptionFlags &options = {})
{
  const bool asFloat = detail::checkHistogramOptions(options);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  poplar::Tensor counts = call.finish(pop_popops_histogram(
      graph.c(), poplar::detail::check(input.c()), poplar::detail::check(levels.c()),
      absoluteOfInput, pop_tensor{}, false, call.program(), call.c()));
  return asFloat ? popops::cast(graph, counts, poplar::FLOAT, prog, debugContext) : counts;
}
// The same to a tensor of UNSIGNED_INT. With updateOutput, the counts are added to its contents.
inline void histogram(poplar::Graph &graph, const poplar::Tensor &input, poplar::Tensor &output,
                      bool updateOutput, const poplar::Tensor &levels, bool absoluteOfInput,
                      poplar::program::Sequence &prog,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {})
{
  if (detail::checkHistogramOptions(options))
    throw poplar::invalid_option(
        "popops::histogram: useFloatArithmetic is for results that are new");
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  call.finish(pop_popops_histogram(
      graph.c(), poplar::detail::check(input.c()), poplar::detail::check(levels.c()),
      absoluteOfInput, poplar::detail::check(output.c()), updateOutput, call.program(), call.c()));
}

} // namespace popops

#endif
