// Matrix products: populus/poplin.h.
#ifndef POPLIN_MATMUL_HPP
#define POPLIN_MATMUL_HPP

#include <poplar/detail/Library.hpp>
#include <popops/ScaledAdd.hpp>
#include <populus/poplin.h>
#include <set>
#include <tuple>

namespace poplin
{

// Plans are not kept, since making one takes milliseconds.
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

// availableMemoryProportion and partialsType are pop_mat_mul_options. The other options concern
// layouts and units that our products do not have: every pass is planned alike, and partial sums
// are fetched as needed.
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
                                {"inputRHSIsPreArranged", OptionValue::TRUTH},
                                {"remapOutputTensor", OptionValue::TRUTH}});
}
inline pop_mat_mul_options matMulOptions(const char *function, const poplar::OptionFlags &options,
                                         const poplar::Type &outputType)
{
  checkMatMulOptions(function, options);
  pop_mat_mul_options c = pop_mat_mul_default_options(outputType.c());
  c.memory_proportion = poplar::detail::optionOr(options, "availableMemoryProportion", .6);
  if (poplar::detail::optionOr(options, "partialsType", "float") == "half") c.partials = POP_HALF;
  return c;
}

} // namespace detail

// The product of [m,k] and [k,n].

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
namespace detail
{

// scaledAddTo would repeat a product that is smaller than `c`. The product itself refuses operands of
// other ranks.
inline void checkSum(const char *function, const poplar::Tensor &c, const poplar::Tensor &a,
                     const poplar::Tensor &b, std::size_t rank)
{
  if (a.rank() != rank || b.rank() != rank) return;
  std::vector<std::size_t> shape = a.shape();
  shape.back() = b.shape().back();
  if (c.shape() != shape)
    throw poplar::tensor_creation_error(std::string(function) + ": the product of " +
                                        a.shapeToString() + " and " + b.shapeToString() +
                                        " is added to a tensor of shape " + c.shapeToString());
}

} // namespace detail

// c += scale * a * b. Throws tensor_creation_error if c has not the product's shape.
inline void matMulAcc(poplar::Graph &graph, const poplar::Tensor &c, float scale,
                      const poplar::Tensor &a, const poplar::Tensor &b,
                      poplar::program::Sequence &prog,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {}, PlanningCache *cache = nullptr)
{
  detail::checkSum("poplin::matMulAcc", c, a, b, 2);
  poplar::Tensor product = matMul(graph, a, b, prog, c.elementType(), debugContext, options, cache);
  popops::scaledAddTo(graph, c, product, scale, prog, debugContext);
}
inline void matMulAcc(poplar::Graph &graph, const poplar::Tensor &c, const poplar::Tensor &scale,
                      const poplar::Tensor &a, const poplar::Tensor &b,
                      poplar::program::Sequence &prog,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {}, PlanningCache *cache = nullptr)
{
  detail::checkSum("poplin::matMulAcc", c, a, b, 2);
  poplar::Tensor product = matMul(graph, a, b, prog, c.elementType(), debugContext, options, cache);
  popops::scaledAddTo(graph, c, product, scale, prog, debugContext);
}
// Products of the matrices of two tensors [groups, …].
inline poplar::Tensor matMulGrouped(poplar::Graph &graph, const poplar::Tensor &a,
                                    const poplar::Tensor &b, poplar::program::Sequence &prog,
                                    const poplar::Type &outputType,
                                    const poplar::DebugContext &debugContext = {},
                                    const poplar::OptionFlags &options = {},
                                    PlanningCache * = nullptr)
{
  pop_mat_mul_options c = detail::matMulOptions("poplin::matMulGrouped", options, outputType);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_poplin_mat_mul_grouped(graph.c(), poplar::detail::check(a.c()),
                                                poplar::detail::check(b.c()), &c, call.program(),
                                                call.c()));
}

inline void matMulGroupedWithOutput(poplar::Graph &graph, const poplar::Tensor &a,
                                    const poplar::Tensor &b, const poplar::Tensor &out,
                                    poplar::program::Sequence &prog,
                                    const poplar::DebugContext &debugContext = {},
                                    const poplar::OptionFlags &options = {},
                                    PlanningCache *cache = nullptr)
{
  prog.add(poplar::program::Copy(
      matMulGrouped(graph, a, b, prog, out.elementType(), debugContext, options, cache), out, false,
      debugContext));
}
// c += scale * a * b
inline void matMulGroupedAcc(poplar::Graph &graph, const poplar::Tensor &c, float scale,
                             const poplar::Tensor &a, const poplar::Tensor &b,
                             poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext = {},
                             const poplar::OptionFlags &options = {},
                             PlanningCache *cache = nullptr)
{
  detail::checkSum("poplin::matMulGroupedAcc", c, a, b, 3);
  poplar::Tensor product =
      matMulGrouped(graph, a, b, prog, c.elementType(), debugContext, options, cache);
  popops::scaledAddTo(graph, c, product, scale, prog, debugContext);
}
inline void matMulGroupedAcc(poplar::Graph &graph, const poplar::Tensor &c,
                             const poplar::Tensor &scale, const poplar::Tensor &a,
                             const poplar::Tensor &b, poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext = {},
                             const poplar::OptionFlags &options = {},
                             PlanningCache *cache = nullptr)
{
  detail::checkSum("poplin::matMulGroupedAcc", c, a, b, 3);
  poplar::Tensor product =
      matMulGrouped(graph, a, b, prog, c.elementType(), debugContext, options, cache);
  popops::scaledAddTo(graph, c, product, scale, prog, debugContext);
}
// Transposes the matrices of a tensor [groups, …].
inline poplar::Tensor transposeGroupedMatrix(const poplar::Tensor &t)
{
  return t.dimShuffle({0, 2, 1});
}

namespace detail
{

// The sizes of a product of [groups,m,k] and [groups,k,n]; with `rank` 2, of one group without that
// dimension. Throws tensor_creation_error for other shapes.
inline pop_mat_mul_sizes matMulSizes(const char *function, const std::vector<std::size_t> &aShape,
                                     const std::vector<std::size_t> &bShape, std::size_t rank)
{
  if (aShape.size() != rank || bShape.size() != rank || aShape[rank - 1] != bShape[rank - 2] ||
      (rank == 3 && aShape[0] != bShape[0]))
    throw poplar::tensor_creation_error(
        std::string(function) + (rank == 2 ? ": shapes [m,k] and [k,n] are needed"
                                           : ": shapes [groups,m,k] and [groups,k,n] are needed"));
  return {rank == 3 ? aShape[0] : 1, aShape[rank - 2], aShape[rank - 1], bShape[rank - 1]};
}
// A variable of such a product, which make(sizes, options, name) makes.
template <typename Make>
poplar::Tensor createForMatMul(const char *function, poplar::Graph &graph,
                               const poplar::Type &outputType,
                               const std::vector<std::size_t> &aShape,
                               const std::vector<std::size_t> &bShape, std::size_t rank,
                               const poplar::DebugContext &debugContext,
                               const poplar::OptionFlags &options, Make make)
{
  pop_mat_mul_options c = matMulOptions(function, options, outputType);
  std::string name = debugContext.getPathName();
  pop_tensor t = make(matMulSizes(function, aShape, bShape, rank), &c, name.c_str());
  poplar::detail::check(graph.c());
  return rank == 2 ? poplar::Tensor(t)[0] : poplar::Tensor(t);
}
// An operand that is mapped as such a product fetches it.
inline poplar::Tensor createMatMulInput(const char *function, poplar::Graph &graph,
                                        const poplar::Type &inputType,
                                        const poplar::Type &outputType, pop_mat_mul_side side,
                                        const std::vector<std::size_t> &aShape,
                                        const std::vector<std::size_t> &bShape, std::size_t rank,
                                        const poplar::DebugContext &debugContext,
                                        const poplar::OptionFlags &options)
{
  return createForMatMul(
      function, graph, outputType, aShape, bShape, rank, debugContext, options,
      [&](const pop_mat_mul_sizes &sizes, const pop_mat_mul_options *c, const char *name) {
        return pop_poplin_create_mat_mul_input(graph.c(), inputType.c(), side, sizes, c, name);
      });
}
// A variable for such a product, each part on the tile that makes it.
inline poplar::Tensor createMatMulOutput(const char *function, poplar::Graph &graph,
                                         const poplar::Type &inputType,
                                         const poplar::Type &outputType,
                                         const std::vector<std::size_t> &aShape,
                                         const std::vector<std::size_t> &bShape, std::size_t rank,
                                         const poplar::DebugContext &debugContext,
                                         const poplar::OptionFlags &options)
{
  return createForMatMul(
      function, graph, outputType, aShape, bShape, rank, debugContext, options,
      [&](const pop_mat_mul_sizes &sizes, const pop_mat_mul_options *c, const char *name) {
        return pop_poplin_create_mat_mul_output(graph.c(), inputType.c(), sizes, c, name);
      });
}
// Copies a right operand to a variable that is mapped as the product fetches it.
inline poplar::Tensor arrangeMatMulInputRHS(
    const char *function, poplar::Graph &graph, const std::vector<std::size_t> &aShape,
    const poplar::Tensor &b, poplar::program::Sequence &prog, const poplar::Type &outputType,
    std::size_t rank, const poplar::DebugContext &debugContext, const poplar::OptionFlags &options)
{
  poplar::Tensor t =
      createMatMulInput(function, graph, b.elementType(), outputType, POP_MAT_MUL_RIGHT, aShape,
                        b.shape(), rank, debugContext, options);
  prog.add(poplar::program::Copy(b, t, false, debugContext));
  return t;
}

} // namespace detail

// Operands may have any mapping; these variables are mapped as the product fetches them.
inline poplar::Tensor createMatMulInputLHS(poplar::Graph &graph, const poplar::Type &inputType,
                                           const poplar::Type &outputType,
                                           const std::vector<std::size_t> &aShape,
                                           const std::vector<std::size_t> &bShape,
                                           const poplar::DebugContext &debugContext = {},
                                           const poplar::OptionFlags &options = {},
                                           PlanningCache * = nullptr)
{
  return detail::createMatMulInput("poplin::createMatMulInputLHS", graph, inputType, outputType,
                                   POP_MAT_MUL_LEFT, aShape, bShape, 2, debugContext, options);
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
                                           const poplar::Type &outputType,
                                           const std::vector<std::size_t> &aShape,
                                           const std::vector<std::size_t> &bShape,
                                           const poplar::DebugContext &debugContext = {},
                                           const poplar::OptionFlags &options = {},
                                           PlanningCache * = nullptr)
{
  return detail::createMatMulInput("poplin::createMatMulInputRHS", graph, inputType, outputType,
                                   POP_MAT_MUL_RIGHT, aShape, bShape, 2, debugContext, options);
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
    PlanningCache * = nullptr)
{
  return detail::createMatMulInput("poplin::createMatMulGroupedInputLHS", graph, inputType,
                                   outputType, POP_MAT_MUL_LEFT, aShape, bShape, 3, debugContext,
                                   options);
}
inline poplar::Tensor createMatMulGroupedInputRHS(
    poplar::Graph &graph, const poplar::Type &inputType, const poplar::Type &outputType,
    const std::vector<std::size_t> &aShape, const std::vector<std::size_t> &bShape,
    const poplar::DebugContext &debugContext = {}, const poplar::OptionFlags &options = {},
    PlanningCache * = nullptr)
{
  return detail::createMatMulInput("poplin::createMatMulGroupedInputRHS", graph, inputType,
                                   outputType, POP_MAT_MUL_RIGHT, aShape, bShape, 3, debugContext,
                                   options);
}

inline poplar::Tensor createMatMulOutput(poplar::Graph &graph, const poplar::Type &inputType,
                                         const poplar::Type &outputType,
                                         const std::vector<std::size_t> &aShape,
                                         const std::vector<std::size_t> &bShape,
                                         const poplar::DebugContext &debugContext = {},
                                         const poplar::OptionFlags &options = {},
                                         PlanningCache * = nullptr)
{
  return detail::createMatMulOutput("poplin::createMatMulOutput", graph, inputType, outputType,
                                    aShape, bShape, 2, debugContext, options);
}
inline poplar::Tensor createMatMulOutput(poplar::Graph &graph, const poplar::Type &type,
                                         const std::vector<std::size_t> &aShape,
                                         const std::vector<std::size_t> &bShape,
                                         const poplar::DebugContext &debugContext = {},
                                         const poplar::OptionFlags &options = {},
                                         PlanningCache *cache = nullptr)
{
  return createMatMulOutput(graph, type, type, aShape, bShape, debugContext, options, cache);
}
inline poplar::Tensor createMatMulGroupedOutput(poplar::Graph &graph, const poplar::Type &inputType,
                                                const poplar::Type &outputType,
                                                const std::vector<std::size_t> &aShape,
                                                const std::vector<std::size_t> &bShape,
                                                const poplar::DebugContext &debugContext = {},
                                                const poplar::OptionFlags &options = {},
                                                PlanningCache * = nullptr)
{
  return detail::createMatMulOutput("poplin::createMatMulGroupedOutput", graph, inputType,
                                    outputType, aShape, bShape, 3, debugContext, options);
}

inline poplar::Tensor preArrangeMatMulInputRHS(
    poplar::Graph &graph, const std::vector<std::size_t> &aShape, const poplar::Tensor &b,
    poplar::program::Sequence &prog, const poplar::Type &outputType,
    const poplar::DebugContext &debugContext = {}, const poplar::OptionFlags &options = {},
    PlanningCache * = nullptr)
{
  return detail::arrangeMatMulInputRHS("poplin::preArrangeMatMulInputRHS", graph, aShape, b, prog,
                                       outputType, 2, debugContext, options);
}
inline poplar::Tensor preArrangeMatMulInputRHS(
    poplar::Graph &graph, const std::vector<std::size_t> &aShape, const poplar::Tensor &b,
    poplar::program::Sequence &prog, const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {}, PlanningCache *cache = nullptr)
{
  return preArrangeMatMulInputRHS(graph, aShape, b, prog, b.elementType(), debugContext, options,
                                  cache);
}
inline poplar::Tensor preArrangeMatMulGroupedInputRHS(
    poplar::Graph &graph, const std::vector<std::size_t> &aShape, const poplar::Tensor &b,
    poplar::program::Sequence &prog, const poplar::Type &outputType,
    const poplar::DebugContext &debugContext = {}, const poplar::OptionFlags &options = {},
    PlanningCache * = nullptr)
{
  return detail::arrangeMatMulInputRHS("poplin::preArrangeMatMulGroupedInputRHS", graph, aShape, b,
                                       prog, outputType, 3, debugContext, options);
}

inline void matmulValidateOptions(const poplar::OptionFlags &options)
{
  detail::checkMatMulOptions("poplin::matmulValidateOptions", options);
}

// ---- plans in advance: options are checked, and plans are made when they are needed ----

struct MatMulParams {
  poplar::Type inputType, outputType;
  std::vector<std::size_t> aShape, bShape;

  friend bool operator<(const MatMulParams &a, const MatMulParams &b)
  {
    return std::tie(a.inputType, a.outputType, a.aShape, a.bShape) <
           std::tie(b.inputType, b.outputType, b.aShape, b.bShape);
  }
};
using MatMulPlanParams =
    std::tuple<const poplar::Target *, const MatMulParams, const poplar::OptionFlags *>;
inline void preplanMatMuls(const std::set<MatMulPlanParams> &matmuls, matmul::PlanningCache &)
{
  for (const MatMulPlanParams &each : matmuls)
    detail::checkMatMulOptions("poplin::preplanMatMuls", *std::get<2>(each));
}

} // namespace poplin

#endif
