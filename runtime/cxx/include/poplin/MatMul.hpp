// Matrix products: populus/poplin.h.
#ifndef POPLIN_MATMUL_HPP
#define POPLIN_MATMUL_HPP

#include <poplar/detail/Library.hpp>
#include <popops/ScaledAdd.hpp>
#include <populus/poplin.h>

namespace poplin
{

// A plan takes microseconds to make: none is kept.
class PlanningCache
{
public:
  std::size_t size() const { return 0; }
};
namespace matmul
{
class PlanningCache : public poplin::PlanningCache
{
};
} // namespace matmul

namespace detail
{

// availableMemoryProportion and partialsType are pop_mat_mul_options. The others are about arrangements and units that our
// products do not have: every pass is planned alike, and sums are fetched as they are needed.
inline void checkMatMulOptions(const char *function, const poplar::OptionFlags &options)
{
  using poplar::detail::OptionValue;
  poplar::detail::checkOptions(function, options,
                               {{"availableMemoryProportion", OptionValue::PROPORTION},
                                {"partialsType", OptionValue::HALF_OR_FLOAT},
                                {"fullyConnectedPass", OptionValue::PASS},
                                {"use128BitConvUnitLoad", OptionValue::TRUTH},
                                {"enableMultiStageReduce", OptionValue::TRUTH},
                                {"enableFastReduce", OptionValue::TRUTH},
                                {"remapOutputTensor", OptionValue::TRUTH}});
}
inline pop_mat_mul_options matMulOptions(const char *function, const poplar::OptionFlags &options,
                                         const poplar::Type &outputType)
{
  checkMatMulOptions(function, options);
  pop_mat_mul_options c = pop_mat_mul_default_options(outputType.c());
  c.memory_proportion =
      std::stod(poplar::detail::optionOr(options, "availableMemoryProportion", ".6"));
  if (poplar::detail::optionOr(options, "partialsType", "float") == "half") c.partials = POP_HALF;
  return c;
}

} // namespace detail

// [m,k] times [k,n]
inline poplar::Tensor matMul(poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,
                             poplar::program::Sequence &prog, const poplar::Type &outputType,
                             const poplar::DebugContext &debugContext = {},
                             const poplar::OptionFlags &options = {}, PlanningCache * = nullptr)
{
  pop_mat_mul_options c = detail::matMulOptions("poplin::matMul", options, outputType);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_poplin_mat_mul_with(graph.c(), poplar::detail::check(a.c()),
                                             poplar::detail::check(b.c()), &c, call.program(),
                                             call.c()));
}
inline poplar::Tensor matMul(poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,
                             poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext = {},
                             const poplar::OptionFlags &options = {},
                             PlanningCache *cache = nullptr)
{
  return matMul(graph, a, b, prog, a.elementType(), debugContext, options, cache);
}
inline void matMulWithOutput(poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,
                             const poplar::Tensor &out, poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext = {},
                             const poplar::OptionFlags &options = {},
                             PlanningCache *cache = nullptr)
{
  prog.add(poplar::program::Copy(
      matMul(graph, a, b, prog, out.elementType(), debugContext, options, cache), out, false,
      debugContext));
}
// c += scale * a * b
inline void matMulAcc(poplar::Graph &graph, const poplar::Tensor &c, float scale,
                      const poplar::Tensor &a, const poplar::Tensor &b,
                      poplar::program::Sequence &prog,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {}, PlanningCache *cache = nullptr)
{
  poplar::Tensor product = matMul(graph, a, b, prog, c.elementType(), debugContext, options, cache);
  popops::scaledAddTo(graph, c, product, scale, prog, debugContext);
}
inline void matMulAcc(poplar::Graph &graph, const poplar::Tensor &c, const poplar::Tensor &scale,
                      const poplar::Tensor &a, const poplar::Tensor &b,
                      poplar::program::Sequence &prog,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {}, PlanningCache *cache = nullptr)
{
  poplar::Tensor product = matMul(graph, a, b, prog, c.elementType(), debugContext, options, cache);
  popops::scaledAddTo(graph, c, product, scale, prog, debugContext);
}
// Products of the matrices of two tensors [groups, …].
inline poplar::Tensor matMulGrouped(poplar::Graph &graph, const poplar::Tensor &a,
                                    const poplar::Tensor &b, poplar::program::Sequence &prog,
                                    const poplar::Type &outputType,
                                    const poplar::DebugContext &debugContext = {},
                                    const poplar::OptionFlags &options = {},
                                    PlanningCache *cache = nullptr)
{
  if (a.rank() != 3 || b.rank() != 3 || a.dim(0) != b.dim(0) || a.dim(0) == 0)
    throw poplar::tensor_creation_error("poplin::matMulGrouped: tensors [groups,m,k] and "
                                        "[groups,k,n] are needed");
  std::vector<poplar::Tensor> results;
  for (std::size_t i = 0; i < a.dim(0); ++i)
    results.push_back(
        matMul(graph, a[i], b[i], prog, outputType, debugContext, options, cache).expand({0}));
  return poplar::concat(results);
}

// Operands may lie anywhere: these are spread evenly.
inline poplar::Tensor createMatMulInputLHS(poplar::Graph &graph, const poplar::Type &inputType,
                                           const poplar::Type &,
                                           const std::vector<std::size_t> &aShape,
                                           const std::vector<std::size_t> &,
                                           const poplar::DebugContext &debugContext = {},
                                           const poplar::OptionFlags &options = {},
                                           PlanningCache * = nullptr)
{
  detail::checkMatMulOptions("poplin::createMatMulInputLHS", options);
  return graph.addVariable(inputType, aShape, poplar::VariableMappingMethod::LINEAR, debugContext);
}
inline poplar::Tensor createMatMulInputLHS(poplar::Graph &graph, const poplar::Type &type,
                                           const std::vector<std::size_t> &aShape,
                                           const std::vector<std::size_t> &bShape,
                                           const poplar::DebugContext &debugContext = {},
                                           const poplar::OptionFlags &options = {},
                                           PlanningCache *cache = nullptr)
{
  return createMatMulInputLHS(graph, type, type, aShape, bShape, debugContext, options, cache);
}
inline poplar::Tensor createMatMulInputRHS(poplar::Graph &graph, const poplar::Type &inputType,
                                           const poplar::Type &, const std::vector<std::size_t> &,
                                           const std::vector<std::size_t> &bShape,
                                           const poplar::DebugContext &debugContext = {},
                                           const poplar::OptionFlags &options = {},
                                           PlanningCache * = nullptr)
{
  detail::checkMatMulOptions("poplin::createMatMulInputRHS", options);
  return graph.addVariable(inputType, bShape, poplar::VariableMappingMethod::LINEAR, debugContext);
}
inline poplar::Tensor createMatMulInputRHS(poplar::Graph &graph, const poplar::Type &type,
                                           const std::vector<std::size_t> &aShape,
                                           const std::vector<std::size_t> &bShape,
                                           const poplar::DebugContext &debugContext = {},
                                           const poplar::OptionFlags &options = {},
                                           PlanningCache *cache = nullptr)
{
  return createMatMulInputRHS(graph, type, type, aShape, bShape, debugContext, options, cache);
}
inline poplar::Tensor createMatMulGroupedInputLHS(
    poplar::Graph &graph, const poplar::Type &inputType, const poplar::Type &outputType,
    const std::vector<std::size_t> &aShape, const std::vector<std::size_t> &bShape,
    const poplar::DebugContext &debugContext = {}, const poplar::OptionFlags &options = {},
    PlanningCache *cache = nullptr)
{
  return createMatMulInputLHS(graph, inputType, outputType, aShape, bShape, debugContext, options,
                              cache);
}
inline poplar::Tensor createMatMulGroupedInputRHS(
    poplar::Graph &graph, const poplar::Type &inputType, const poplar::Type &outputType,
    const std::vector<std::size_t> &aShape, const std::vector<std::size_t> &bShape,
    const poplar::DebugContext &debugContext = {}, const poplar::OptionFlags &options = {},
    PlanningCache *cache = nullptr)
{
  return createMatMulInputRHS(graph, inputType, outputType, aShape, bShape, debugContext, options,
                              cache);
}

} // namespace poplin

#endif
