// Matrix products: populus/poplin.h.
#ifndef POPLIN_MATMUL_HPP
#define POPLIN_MATMUL_HPP

#include <poplar/detail/Library.hpp>
#include <popops/ScaledAdd.hpp>
#include <populus/poplin.h>

namespace poplin
{

// [m,k] times [k,n]
inline poplar::Tensor matMul(poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,
                             poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext = {},
                             const poplar::OptionFlags &options = {})
{
  poplar::detail::refuseOptions("poplin::matMul", options);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_poplin_mat_mul(graph.c(), poplar::detail::check(a.c()),
                                        poplar::detail::check(b.c()), call.program(), call.c()));
}
inline void matMulWithOutput(poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,
                             const poplar::Tensor &out, poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext = {},
                             const poplar::OptionFlags &options = {})
{
  prog.add(poplar::program::Copy(matMul(graph, a, b, prog, debugContext, options), out, false,
                                 debugContext));
}
// c += scale * a * b
inline void matMulAcc(poplar::Graph &graph, const poplar::Tensor &c, float scale,
                      const poplar::Tensor &a, const poplar::Tensor &b,
                      poplar::program::Sequence &prog,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {})
{
  popops::scaledAddTo(graph, c, matMul(graph, a, b, prog, debugContext, options), scale, prog,
                      debugContext);
}
// Products of the matrices of two tensors [groups, …].
inline poplar::Tensor matMulGrouped(poplar::Graph &graph, const poplar::Tensor &a,
                                    const poplar::Tensor &b, poplar::program::Sequence &prog,
                                    const poplar::Type &outputType,
                                    const poplar::DebugContext &debugContext = {},
                                    const poplar::OptionFlags &options = {})
{
  if (a.rank() != 3 || b.rank() != 3 || a.dim(0) != b.dim(0) || a.dim(0) == 0 ||
      outputType != a.elementType())
    throw poplar::tensor_creation_error("poplin::matMulGrouped: tensors [groups,m,k] and "
                                        "[groups,k,n] of the output's type are needed");
  std::vector<poplar::Tensor> results;
  for (std::size_t i = 0; i < a.dim(0); ++i)
    results.push_back(matMul(graph, a[i], b[i], prog, debugContext, options).expand({0}));
  return poplar::concat(results);
}

// Operands may lie anywhere: these are spread evenly.
inline poplar::Tensor createMatMulInputLHS(poplar::Graph &graph, const poplar::Type &type,
                                           const std::vector<std::size_t> &aShape,
                                           const std::vector<std::size_t> &,
                                           const poplar::DebugContext &debugContext = {},
                                           const poplar::OptionFlags &options = {})
{
  poplar::detail::refuseOptions("poplin::createMatMulInputLHS", options);
  return graph.addVariable(type, aShape, poplar::VariableMappingMethod::LINEAR, debugContext);
}
inline poplar::Tensor createMatMulInputRHS(poplar::Graph &graph, const poplar::Type &type,
                                           const std::vector<std::size_t> &,
                                           const std::vector<std::size_t> &bShape,
                                           const poplar::DebugContext &debugContext = {},
                                           const poplar::OptionFlags &options = {})
{
  poplar::detail::refuseOptions("poplin::createMatMulInputRHS", options);
  return graph.addVariable(type, bShape, poplar::VariableMappingMethod::LINEAR, debugContext);
}

} // namespace poplin

#endif
