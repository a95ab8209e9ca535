// Collectives by their names before gcl. Each is a function of gcl/Collectives.hpp. Collectives of
// Chunks between the IPUs of one replica (reduceScatter, allGather) are in gcl only.
#ifndef POPOPS_COLLECTIVES_HPP
#define POPOPS_COLLECTIVES_HPP

#include <gcl/Collectives.hpp>
#include <popops/Operation.hpp>

namespace popops
{

enum class CollectiveOperator {
  ADD = POP_COLLECTIVE_ADD,
  MUL = POP_COLLECTIVE_MUL,
  MIN = POP_COLLECTIVE_MIN,
  MAX = POP_COLLECTIVE_MAX,
  LOGICAL_AND = POP_COLLECTIVE_LOGICAL_AND,
  LOGICAL_OR = POP_COLLECTIVE_LOGICAL_OR,
  SQUARE_ADD = POP_COLLECTIVE_SQUARE_ADD,
  LOCAL = POP_COLLECTIVE_LOCAL
};

inline CollectiveOperator operationToCollectiveOperator(const Operation &operation)
{
  switch (operation) {
  case Operation::ADD:
    return CollectiveOperator::ADD;
  case Operation::SQUARE_ADD:
    return CollectiveOperator::SQUARE_ADD;
  case Operation::MUL:
    return CollectiveOperator::MUL;
  case Operation::MIN:
    return CollectiveOperator::MIN;
  case Operation::MAX:
    return CollectiveOperator::MAX;
  case Operation::LOGICAL_AND:
    return CollectiveOperator::LOGICAL_AND;
  case Operation::LOGICAL_OR:
    return CollectiveOperator::LOGICAL_OR;
  case Operation::LOG_ADD:
    break;
  }
  throw poplar::poplar_error("popops::operationToCollectiveOperator: replicas do not combine "
                             "by this operation; ADD, SQUARE_ADD, MUL, MIN, MAX, LOGICAL_AND and "
                             "LOGICAL_OR are there");
}

namespace detail
{

inline gcl::CollectiveOperator asGcl(CollectiveOperator op)
{
  return static_cast<gcl::CollectiveOperator>(op);
}
inline gcl::CollectiveOperator asGcl(Operation op)
{
  return asGcl(operationToCollectiveOperator(op));
}

} // namespace detail

// Op is CollectiveOperator or Operation.
template <typename Op>
inline poplar::Tensor allReduce(poplar::Graph &graph, const poplar::Tensor &toReduce, Op op,
                                poplar::program::Sequence &prog,
                                const poplar::DebugContext &debugContext = {},
                                const poplar::OptionFlags &options = {})
{
  return gcl::allReduceWithinReplica(graph, toReduce, detail::asGcl(op), prog, debugContext,
                                     options);
}

template <typename Op>
inline poplar::Tensor replicatedAllReduce(poplar::Graph &graph, const poplar::Tensor &data, Op op,
                                          poplar::program::Sequence &prog,
                                          const poplar::DebugContext &debugContext = {},
                                          const poplar::OptionFlags &options = {})
{
  return gcl::allReduceCrossReplica(graph, data, detail::asGcl(op), prog, debugContext, options);
}
// The same; the parent graph is not needed.
template <typename Op>
inline poplar::Tensor replicatedAllReduce(poplar::Graph &graph, poplar::Graph & /*parentGraph*/,
                                          const poplar::Tensor &data, Op op,
                                          poplar::program::Sequence &prog,
                                          const poplar::DebugContext &debugContext = {},
                                          const poplar::OptionFlags &options = {})
{
  return replicatedAllReduce(graph, data, op, prog, debugContext, options);
}

template <typename Op>
inline void replicatedAllReduceWithOutput(poplar::Graph &graph, const poplar::Tensor &data,
                                          poplar::Tensor &output, Op op,
                                          poplar::program::Sequence &prog,
                                          const poplar::DebugContext &debugContext = {},
                                          const poplar::OptionFlags &options = {})
{
  gcl::allReduceToDestinationCrossReplica(graph, data, output, detail::asGcl(op), prog,
                                          debugContext, options);
}

template <typename Op>
inline void replicatedAllReduceInPlace(poplar::Graph &graph, poplar::Tensor &data, Op op,
                                       poplar::program::Sequence &prog,
                                       const poplar::DebugContext &debugContext = {},
                                       const poplar::OptionFlags &options = {})
{
  gcl::allReduceInPlaceCrossReplica(graph, data, detail::asGcl(op), prog, debugContext, options);
}

template <typename Op>
inline poplar::Tensor replicatedReduceScatter(poplar::Graph &graph, const poplar::Tensor &toReduce,
                                              Op op, poplar::program::Sequence &prog,
                                              const poplar::DebugContext &debugContext = {},
                                              const poplar::OptionFlags &options = {})
{
  return gcl::reduceScatterCrossReplica(graph, toReduce, detail::asGcl(op), prog, debugContext,
                                        options);
}

inline poplar::Tensor replicatedAllGather(poplar::Graph &graph, const poplar::Tensor &toGather,
                                          poplar::program::Sequence &prog,
                                          const poplar::DebugContext &debugContext = {},
                                          const poplar::OptionFlags &options = {})
{
  return gcl::allGatherCrossReplica(graph, toGather, prog, debugContext, options);
}

inline poplar::Tensor allToAllPersonalizedExchange(poplar::Graph &graph,
                                                   const poplar::Tensor &input,
                                                   poplar::program::Sequence &prog,
                                                   const poplar::DebugContext &debugContext = {},
                                                   const poplar::OptionFlags &options = {})
{
  return gcl::allToAllCrossReplica(graph, input, prog, debugContext, options);
}

} // namespace popops

#endif
