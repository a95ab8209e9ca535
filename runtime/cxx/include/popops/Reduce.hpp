// Reductions: populus/popops.h.
#ifndef POPOPS_REDUCE_HPP
#define POPOPS_REDUCE_HPP

#include <algorithm>
#include <poplar/detail/Library.hpp>
#include <popops/Cast.hpp>
#include <popops/Operation.hpp>
#include <vector>

namespace popops
{

struct ReduceParams {
  Operation op = Operation::ADD;
  bool update = false;   // combine the result with the contents of the output
  bool useScale = false; // multiply the result by `scale` before that (populus/popops.h)
  poplar::Tensor scale;  // a float

  ReduceParams() = default;
  ReduceParams(Operation operation, bool updateOutput = false) : op(operation), update(updateOutput)
  {
  }
  ReduceParams(Operation operation, bool updateOutput, const poplar::Tensor &by)
      : op(operation), update(updateOutput), useScale(true), scale(by)
  {
  }
  ReduceParams(Operation, float, bool = false) = delete; // a scale is a tensor
};

// One of the reductions of reduceMany.
struct SingleReduceOp {
  poplar::Tensor in;
  std::vector<std::size_t> dims;
  ReduceParams params;
  bool useOutType;
  poplar::Type outType;
  std::string debugName;

  SingleReduceOp(poplar::Tensor operand, std::vector<std::size_t> dimensions, ReduceParams how,
                 poplar::Type type, std::string name = "")
      : in(operand), dims(std::move(dimensions)), params(how), useOutType(true), outType(type),
        debugName(std::move(name))
  {
  }
  SingleReduceOp(poplar::Tensor operand, std::vector<std::size_t> dimensions, ReduceParams how,
                 std::string name = "")
      : in(operand), dims(std::move(dimensions)), params(how), useOutType(false),
        outType(operand.elementType()), debugName(std::move(name))
  {
  }
};

namespace detail
{

inline pop_reduction c(const ReduceParams &params)
{
  pop_reduction how = {};
  how.op = static_cast<pop_reduce_op>(static_cast<int>(params.op));
  how.update = params.update;
  if (params.useScale) how.scale = poplar::detail::check(params.scale.c());
  return how;
}

// These options have no effect: sums are in single precision, in vertices and between tiles, which
// is at least what is asked for.
inline void checkReduceOptions(const poplar::OptionFlags &options)
{
  using poplar::detail::OptionValue;
  poplar::detail::checkOptions("popops::reduce", options,
                               {{"accumType.interTile", OptionValue::HALF_OR_FLOAT},
                                {"accumType.inVertex", OptionValue::HALF_OR_FLOAT}});
}

inline poplar::Tensor reduce(poplar::Graph &graph, const poplar::Tensor &in,
                             const poplar::Tensor &out, const std::vector<std::size_t> &dims,
                             ReduceParams params, poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext,
                             const poplar::OptionFlags &options)
{
  checkReduceOptions(options);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_popops_reduce(graph.c(), poplar::detail::check(in.c()), dims.data(),
                                       dims.size(), c(params), out.c(), call.program(), nullptr,
                                       nullptr, call.c()));
}

inline bool isReal(const poplar::Type &type)
{
  return type == poplar::HALF || type == poplar::FLOAT;
}

// The shape without these dimensions.
inline std::vector<std::size_t> without(const std::vector<std::size_t> &shape,
                                        const std::vector<std::size_t> &dims)
{
  std::vector<std::size_t> rest;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) rest.push_back(shape[d]);
  return rest;
}

// Appends compute sets, which the caller executes in order.
inline poplar::Tensor reduce(poplar::Graph &graph, const poplar::Tensor &in,
                             const poplar::Tensor &out, const std::vector<std::size_t> &dims,
                             ReduceParams params, std::vector<poplar::ComputeSet> &computeSets,
                             const poplar::DebugContext &debugContext,
                             const poplar::OptionFlags &options)
{
  checkReduceOptions(options);
  pop_compute_set sets[POP_REDUCE_MAX_SETS];
  std::size_t count;
  pop_program none = {graph.c(), 0};
  pop_tensor result =
      pop_popops_reduce(graph.c(), poplar::detail::check(in.c()), dims.data(), dims.size(),
                        c(params), out.c(), none, sets, &count, debugContext.c());
  poplar::detail::check(graph.c());
  for (std::size_t i = 0; i < count; ++i) computeSets.push_back(poplar::ComputeSet(sets[i]));
  return poplar::Tensor(result);
}

// Can the result have this other type? Halves and floats are combined in single precision, and
// rounded to either at the end.
inline bool reducesToOther(const poplar::Type &type, const poplar::Type &outType,
                           const ReduceParams &params)
{
  return type != outType && isReal(type) && isReal(outType) && !params.update;
}

template <typename Steps>
poplar::Tensor reduceToOther(poplar::Graph &graph, const poplar::Tensor &in,
                             const poplar::Type &outType, const std::vector<std::size_t> &dims,
                             const ReduceParams &params, Steps &steps,
                             const poplar::DebugContext &debugContext,
                             const poplar::OptionFlags &options)
{
  const poplar::Tensor out = graph.addVariable(outType, without(in.shape(), dims),
                                               poplar::VariableMappingMethod::LINEAR, debugContext);
  return reduce(graph, in, out, dims, params, steps, debugContext, options);
}

} // namespace detail

// Steps is a program::Sequence or a std::vector<ComputeSet>.
template <typename Steps>
poplar::Tensor reduce(poplar::Graph &graph, const poplar::Tensor &in,
                      const std::vector<std::size_t> &dims, ReduceParams params, Steps &steps,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {})
{
  return detail::reduce(graph, in, poplar::Tensor(), dims, params, steps, debugContext, options);
}
template <typename Steps>
void reduceWithOutput(poplar::Graph &graph, const poplar::Tensor &in, const poplar::Tensor &out,
                      const std::vector<std::size_t> &dims, ReduceParams params, Steps &steps,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {})
{
  detail::reduce(graph, in, poplar::Tensor(poplar::detail::check(out.c())), dims, params, steps,
                 debugContext, options);
}
// The same with a result of type `outType`. For integers, halves are combined to floats first, which
// have a larger range.
inline poplar::Tensor reduce(poplar::Graph &graph, const poplar::Tensor &in,
                             const poplar::Type &outType, const std::vector<std::size_t> &dims,
                             ReduceParams params, poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext = {},
                             const poplar::OptionFlags &options = {})
{
  const poplar::Type type = in.elementType(), made = detail::isReal(outType) || type != poplar::HALF
                                                         ? outType
                                                         : poplar::FLOAT;
  const poplar::Tensor result =
      detail::reducesToOther(type, made, params)
          ? detail::reduceToOther(graph, in, made, dims, params, prog, debugContext, options)
          : reduce(graph, in, dims, params, prog, debugContext, options);
  return result.elementType() == outType ? result
                                         : cast(graph, result, outType, prog, debugContext);
}
// The same with compute sets. Throws type_error if the result would need a cast, which they cannot
// hold: for other types than half and float.
inline poplar::Tensor reduce(poplar::Graph &graph, const poplar::Tensor &in,
                             const poplar::Type &outType, const std::vector<std::size_t> &dims,
                             ReduceParams params, std::vector<poplar::ComputeSet> &computeSets,
                             const poplar::DebugContext &debugContext = {},
                             const poplar::OptionFlags &options = {})
{
  const poplar::Type type = in.elementType();
  if (detail::reducesToOther(type, outType, params))
    return detail::reduceToOther(graph, in, outType, dims, params, computeSets, debugContext,
                                 options);
  if (outType != type)
    throw poplar::type_error("popops::reduce: compute sets cannot combine elements of type " +
                             type.toString() + " to " + outType.toString() +
                             "; give a program::Sequence");
  return reduce(graph, in, dims, params, computeSets, debugContext, options);
}

// Makes each reduction separately. `outputs` has a tensor for each, or is empty and gets new ones.
// Throws tensor_creation_error otherwise.
inline void reduceMany(poplar::Graph &graph, const std::vector<SingleReduceOp> &reductions,
                       std::vector<poplar::Tensor> &outputs, poplar::program::Sequence &prog,
                       const poplar::DebugContext &debugContext = {},
                       const poplar::OptionFlags &options = {})
{
  if (!outputs.empty() && outputs.size() != reductions.size())
    throw poplar::tensor_creation_error("popops::reduceMany: " + std::to_string(outputs.size()) +
                                        " outputs for " + std::to_string(reductions.size()) +
                                        " reductions; give as many, or none");
  bool create = outputs.empty();
  for (std::size_t i = 0; i < reductions.size(); ++i) {
    const SingleReduceOp &r = reductions[i];
    poplar::DebugContext name(debugContext, r.debugName);
    if (create)
      outputs.push_back(reduce(graph, r.in, r.outType, r.dims, r.params, prog, name, options));
    else
      reduceWithOutput(graph, r.in, outputs[i], r.dims, r.params, prog, name, options);
  }
}

} // namespace popops

#endif
