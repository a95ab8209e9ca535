// Options of many slices and updates, and of their plans.
#ifndef POPOPS_DETAIL_SLICEOPTIONS_HPP
#define POPOPS_DETAIL_SLICEOPTIONS_HPP

#include <poplar/detail/Library.hpp>
#include <populus/popops.h>

namespace popops
{
namespace detail
{

// Options that say how to plan are only checked, since there is nothing to plan. Those that
// would change results are obeyed or refused.
inline void checkSliceOptions(const char *function, const poplar::OptionFlags &options)
{
  using poplar::detail::OptionValue;
  poplar::detail::checkOptions(function, options,
                               {{"remapOutOfBoundIndices", OptionValue::TRUTH},
                                {"paddingIndexUsed", OptionValue::TRUTH},
                                {"usedForSlice", OptionValue::TRUTH},
                                {"usedForUpdate", OptionValue::TRUTH},
                                {"operationForUpdate", OptionValue::UPDATE},
                                {"availableMemoryProportion", OptionValue::PROPORTION},
                                {"indicesDistribution", OptionValue::DISTRIBUTION},
                                {"indicesAreSorted", OptionValue::TRUTH},
                                {"validateIndices", OptionValue::TRUTH},
                                {"partialType", OptionValue::HALF_OR_FLOAT}});
  if (poplar::detail::optionOr(options, "validateIndices", "false") == "true" &&
      poplar::detail::optionOr(options, "remapOutOfBoundIndices", "false") != "true")
    throw poplar::invalid_option(std::string(function) +
                                 ": validateIndices is not in Populus: an index that is not there "
                                 "gives zeros, and updates nothing");
}
inline void checkSliceOptions(const char *function, const poplar::Type &type,
                              const poplar::OptionFlags &options)
{
  checkSliceOptions(function, options);
  const std::string partial = poplar::detail::optionOr(options, "partialType", "");
  if (!partial.empty() && partial != type.toString())
    throw poplar::invalid_option(std::string(function) + ": option 'partialType' is '" + partial +
                                 "'; sums are kept as the elements are, " + type.toString());
}

// Does what remapOutOfBoundIndices asks for: invalid indices become 0; with paddingIndexUsed, the
// index after the last row stays.
inline poplar::Tensor remapped(poplar::Graph &graph, const poplar::Tensor &offsets,
                               std::size_t rows, poplar::program::Sequence &prog,
                               const poplar::DebugContext &debugContext,
                               const poplar::OptionFlags &options)
{
  if (poplar::detail::optionOr(options, "remapOutOfBoundIndices", "false") != "true")
    return offsets;
  bool padding = poplar::detail::optionOr(options, "paddingIndexUsed", "false") == "true";
  pop_expr_node nodes[6] = {};
  nodes[0].kind = nodes[2].kind = POP_EXPR_TENSOR;
  nodes[1].kind = nodes[3].kind = POP_EXPR_CONSTANT;
  nodes[3].value = static_cast<double>(rows + padding);
  nodes[4].kind = POP_EXPR_BINARY;
  nodes[4].op = POP_BINARY_LESS_THAN;
  nodes[5].kind = POP_EXPR_TERNARY;
  nodes[5].op = POP_TERNARY_SELECT;
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  const pop_tensor of = poplar::detail::check(offsets.c());
  return call.finish(
      pop_popops_map(graph.c(), nodes, 6, &of, 1, poplar::Tensor().c(), call.program(), call.c()));
}

} // namespace detail
} // namespace popops

#endif
