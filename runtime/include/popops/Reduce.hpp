// Reductions: populus/popops.h.
#ifndef POPOPS_REDUCE_HPP
#define POPOPS_REDUCE_HPP

#include <poplar/detail/Library.hpp>
#include <popops/Cast.hpp>
#include <popops/Operation.hpp>

namespace popops
{

struct ReduceParams {
  Operation op;
  bool update; // combine with what the output holds

  ReduceParams(Operation operation, bool updateOutput = false) : op(operation), update(updateOutput)
  {
  }
  template <typename T,
            typename = typename std::enable_if<std::is_same<T, poplar::Tensor>::value>::type>
  ReduceParams(Operation, bool, const T &)
  {
    static_assert(poplar::detail::Never<T>::value,
                  "popops::ReduceParams: a reduction does not scale here: multiply its result "
                  "(popops::mulInPlace)");
  }
};

namespace detail
{

inline pop_reduce_op c(Operation op)
{
  return static_cast<pop_reduce_op>(static_cast<int>(op));
}

inline poplar::Tensor reduce(poplar::Graph &graph, const poplar::Tensor &in,
                             const poplar::Tensor &out, const std::vector<std::size_t> &dims,
                             ReduceParams params, poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext,
                             const poplar::OptionFlags &options)
{
  poplar::detail::refuseOptions("popops::reduce", options);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_popops_reduce(graph.c(), poplar::detail::check(in.c()), dims.data(),
                                       dims.size(), c(params.op), params.update, out.c(),
                                       call.program(), nullptr, nullptr, call.c()));
}

// To compute sets, which the caller executes in order.
inline poplar::Tensor reduce(poplar::Graph &graph, const poplar::Tensor &in,
                             const poplar::Tensor &out, const std::vector<std::size_t> &dims,
                             ReduceParams params, std::vector<poplar::ComputeSet> &computeSets,
                             const poplar::DebugContext &debugContext,
                             const poplar::OptionFlags &options)
{
  poplar::detail::refuseOptions("popops::reduce", options);
  pop_compute_set sets[POP_REDUCE_MAX_SETS];
  std::size_t count;
  pop_program none = {graph.c(), 0};
  pop_tensor result =
      pop_popops_reduce(graph.c(), poplar::detail::check(in.c()), dims.data(), dims.size(),
                        c(params.op), params.update, out.c(), none, sets, &count, debugContext.c());
  poplar::detail::check(graph.c());
  for (std::size_t i = 0; i < count; ++i) computeSets.push_back(poplar::ComputeSet(sets[i]));
  return poplar::Tensor(result);
}

} // namespace detail

// Steps: a program::Sequence or a std::vector<ComputeSet>.
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
// With a result of another type.
inline poplar::Tensor reduce(poplar::Graph &graph, const poplar::Tensor &in,
                             const poplar::Type &outType, const std::vector<std::size_t> &dims,
                             ReduceParams params, poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext = {},
                             const poplar::OptionFlags &options = {})
{
  poplar::Tensor result = reduce(graph, in, dims, params, prog, debugContext, options);
  return outType == in.elementType() ? result : cast(graph, result, outType, prog, debugContext);
}

} // namespace popops

#endif
