// Collectives between replicas and within replicas: populus/collectives.h, which says the
// algorithm, the order and the cost.
#ifndef GCL_COLLECTIVES_HPP
#define GCL_COLLECTIVES_HPP

#include <algorithm>
#include <ostream>
#include <poplar/detail/EnumText.hpp>
#include <poplar/detail/Library.hpp>
#include <populus/collectives.h>
#include <vector>

namespace gcl
{

enum class CollectiveOperator {
  ADD = POP_COLLECTIVE_ADD,
  MEAN = POP_COLLECTIVE_MEAN,
  MUL = POP_COLLECTIVE_MUL,
  MIN = POP_COLLECTIVE_MIN,
  MAX = POP_COLLECTIVE_MAX,
  LOGICAL_AND = POP_COLLECTIVE_LOGICAL_AND,
  LOGICAL_OR = POP_COLLECTIVE_LOGICAL_OR,
  SQUARE_ADD = POP_COLLECTIVE_SQUARE_ADD,
  LOCAL = POP_COLLECTIVE_LOCAL
};

namespace detail
{
static const char *const operatorNames[] = {
    "ADD", "MEAN", "MUL", "MIN", "MAX", "LOGICAL_AND", "LOGICAL_OR", "SQUARE_ADD", "LOCAL"};
} // namespace detail

inline std::ostream &operator<<(std::ostream &os, const CollectiveOperator &op)
{
  return poplar::detail::putEnum(os, op, detail::operatorNames);
}
inline std::istream &operator>>(std::istream &is, CollectiveOperator &op)
{
  return poplar::detail::getEnum(is, op, detail::operatorNames, "gcl::CollectiveOperator");
}

enum class CommGroupType {
  ALL = POP_COMM_ALL,
  CONSECUTIVE = POP_COMM_CONSECUTIVE,
  ORTHOGONAL = POP_COMM_ORTHOGONAL
};

class CommGroup
{
  CommGroupType groupType = CommGroupType::ALL;
  unsigned groupSize = 0;

public:
  CommGroup() = default;
  CommGroup(CommGroupType type, unsigned size) : groupType(type), groupSize(size) {}
  CommGroupType type() const { return groupType; }
  unsigned replicaGroupSize() const { return groupSize; }
  pop_comm_group c() const { return {static_cast<pop_comm_group_type>(groupType), groupSize}; }
};

namespace detail
{

// Checks options. They have no effect: they choose among the documented library's implementations
// of a collective, and here there is one of each.
inline void checkOptions(const char *function, const poplar::OptionFlags &options)
{
  using poplar::detail::OptionValue;
  poplar::detail::checkOptions(function, options,
                               {{"useReplicatedImplementation", OptionValue::TRUTH},
                                {"maxBytesPerTile", OptionValue::NUMBER},
                                {"syncful.useOptimisedLayout", OptionValue::TRUTH},
                                {"syncful.maxBroadcastSize", OptionValue::NUMBER}});
}

inline poplar::Tensor allReduce(poplar::Graph &graph, const poplar::Tensor &data,
                                const poplar::Tensor &out, CollectiveOperator op,
                                poplar::program::Sequence &prog, const CommGroup &group,
                                const poplar::DebugContext &debugContext,
                                const poplar::OptionFlags &options)
{
  checkOptions("gcl::allReduceCrossReplica", options);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_gcl_all_reduce(graph.c(), poplar::detail::check(data.c()),
                                        static_cast<pop_collective_op>(op), group.c(), out.c(),
                                        call.program(), call.c()));
}

} // namespace detail

// Each collective has a form with a group, and one for all replicas. All-reduce (a new tensor, or
// in place) and all-gather also take several tensors, one after the other.
#define GCL_FORMS(RESULT, NAME, PARAMETERS, ARGUMENTS)                                             \
  inline RESULT NAME(poplar::Graph &graph, PARAMETERS poplar::program::Sequence &prog,             \
                     const poplar::DebugContext &debugContext = {},                                \
                     const poplar::OptionFlags &options = {})                                      \
  {                                                                                                \
    return NAME(graph, ARGUMENTS prog, CommGroup(), debugContext, options);                        \
  }
#define GCL_COMMA ,

// ---- all reduce ----

inline poplar::Tensor allReduceCrossReplica(poplar::Graph &graph, const poplar::Tensor &data,
                                            CollectiveOperator op, poplar::program::Sequence &prog,
                                            const CommGroup &group,
                                            const poplar::DebugContext &debugContext = {},
                                            const poplar::OptionFlags &options = {})
{
  return detail::allReduce(graph, data, poplar::Tensor(), op, prog, group, debugContext, options);
}
GCL_FORMS(poplar::Tensor, allReduceCrossReplica,
          const poplar::Tensor &data GCL_COMMA CollectiveOperator op GCL_COMMA,
          data GCL_COMMA op GCL_COMMA)

inline void allReduceToDestinationCrossReplica(
    poplar::Graph &graph, const poplar::Tensor &data, const poplar::Tensor &destination,
    CollectiveOperator op, poplar::program::Sequence &prog, const CommGroup &group,
    const poplar::DebugContext &debugContext = {}, const poplar::OptionFlags &options = {})
{
  detail::allReduce(graph, data, poplar::Tensor(poplar::detail::check(destination.c())), op, prog,
                    group, debugContext, options);
}
GCL_FORMS(void, allReduceToDestinationCrossReplica,
          const poplar::Tensor &data GCL_COMMA const poplar::Tensor &destination GCL_COMMA
              CollectiveOperator op GCL_COMMA,
          data GCL_COMMA destination GCL_COMMA op GCL_COMMA)

inline void allReduceInPlaceCrossReplica(poplar::Graph &graph, const poplar::Tensor &data,
                                         CollectiveOperator op, poplar::program::Sequence &prog,
                                         const CommGroup &group,
                                         const poplar::DebugContext &debugContext = {},
                                         const poplar::OptionFlags &options = {})
{
  allReduceToDestinationCrossReplica(graph, data, data, op, prog, group, debugContext, options);
}
GCL_FORMS(void, allReduceInPlaceCrossReplica,
          const poplar::Tensor &data GCL_COMMA CollectiveOperator op GCL_COMMA,
          data GCL_COMMA op GCL_COMMA)

inline std::vector<poplar::Tensor> allReduceCrossReplica(
    poplar::Graph &graph, const std::vector<poplar::Tensor> &datas, CollectiveOperator op,
    poplar::program::Sequence &prog, const CommGroup &group,
    const poplar::DebugContext &debugContext = {}, const poplar::OptionFlags &options = {})
{
  std::vector<poplar::Tensor> results;
  for (const poplar::Tensor &data : datas)
    results.push_back(allReduceCrossReplica(graph, data, op, prog, group, debugContext, options));
  return results;
}
GCL_FORMS(std::vector<poplar::Tensor>, allReduceCrossReplica,
          const std::vector<poplar::Tensor> &datas GCL_COMMA CollectiveOperator op GCL_COMMA,
          datas GCL_COMMA op GCL_COMMA)

inline void allReduceInPlaceCrossReplica(poplar::Graph &graph,
                                         const std::vector<poplar::Tensor> &datas,
                                         CollectiveOperator op, poplar::program::Sequence &prog,
                                         const CommGroup &group,
                                         const poplar::DebugContext &debugContext = {},
                                         const poplar::OptionFlags &options = {})
{
  for (const poplar::Tensor &data : datas)
    allReduceInPlaceCrossReplica(graph, data, op, prog, group, debugContext, options);
}
GCL_FORMS(void, allReduceInPlaceCrossReplica,
          const std::vector<poplar::Tensor> &datas GCL_COMMA CollectiveOperator op GCL_COMMA,
          datas GCL_COMMA op GCL_COMMA)

// ---- reduce scatter, all gather, all to all, broadcast ----

inline poplar::Tensor reduceScatterCrossReplica(poplar::Graph &graph, const poplar::Tensor &data,
                                                CollectiveOperator op,
                                                poplar::program::Sequence &prog,
                                                const CommGroup &group,
                                                const poplar::DebugContext &debugContext = {},
                                                const poplar::OptionFlags &options = {})
{
  detail::checkOptions("gcl::reduceScatterCrossReplica", options);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_gcl_reduce_scatter(graph.c(), poplar::detail::check(data.c()),
                                            static_cast<pop_collective_op>(op), group.c(),
                                            call.program(), call.c()));
}
GCL_FORMS(poplar::Tensor, reduceScatterCrossReplica,
          const poplar::Tensor &data GCL_COMMA CollectiveOperator op GCL_COMMA,
          data GCL_COMMA op GCL_COMMA)

inline poplar::Tensor allGatherCrossReplica(poplar::Graph &graph, const poplar::Tensor &data,
                                            poplar::program::Sequence &prog, const CommGroup &group,
                                            const poplar::DebugContext &debugContext = {},
                                            const poplar::OptionFlags &options = {})
{
  detail::checkOptions("gcl::allGatherCrossReplica", options);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_gcl_all_gather(graph.c(), poplar::detail::check(data.c()), group.c(),
                                        call.program(), call.c()));
}
GCL_FORMS(poplar::Tensor, allGatherCrossReplica, const poplar::Tensor &data GCL_COMMA,
          data GCL_COMMA)

inline std::vector<poplar::Tensor> allGatherCrossReplica(
    poplar::Graph &graph, const std::vector<poplar::Tensor> &datas, poplar::program::Sequence &prog,
    const CommGroup &group, const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {})
{
  std::vector<poplar::Tensor> results;
  for (const poplar::Tensor &data : datas)
    results.push_back(allGatherCrossReplica(graph, data, prog, group, debugContext, options));
  return results;
}
GCL_FORMS(std::vector<poplar::Tensor>, allGatherCrossReplica,
          const std::vector<poplar::Tensor> &datas GCL_COMMA, datas GCL_COMMA)

inline poplar::Tensor allToAllCrossReplica(poplar::Graph &graph, const poplar::Tensor &data,
                                           poplar::program::Sequence &prog, const CommGroup &group,
                                           const poplar::DebugContext &debugContext = {},
                                           const poplar::OptionFlags &options = {})
{
  detail::checkOptions("gcl::allToAllCrossReplica", options);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_gcl_all_to_all(graph.c(), poplar::detail::check(data.c()), group.c(),
                                        call.program(), call.c()));
}
GCL_FORMS(poplar::Tensor, allToAllCrossReplica, const poplar::Tensor &data GCL_COMMA,
          data GCL_COMMA)

inline poplar::Tensor broadcastCrossReplica(poplar::Graph &graph, const poplar::Tensor &data,
                                            poplar::program::Sequence &prog, const CommGroup &group,
                                            unsigned rootReplica = 0,
                                            const poplar::DebugContext &debugContext = {},
                                            const poplar::OptionFlags &options = {})
{
  detail::checkOptions("gcl::broadcastCrossReplica", options);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_gcl_broadcast(graph.c(), poplar::detail::check(data.c()), group.c(),
                                       rootReplica, call.program(), call.c()));
}
inline poplar::Tensor broadcastCrossReplica(poplar::Graph &graph, const poplar::Tensor &data,
                                            poplar::program::Sequence &prog,
                                            const poplar::DebugContext &debugContext = {},
                                            const poplar::OptionFlags &options = {})
{
  return broadcastCrossReplica(graph, data, prog, CommGroup(), 0, debugContext, options);
}

#undef GCL_COMMA
#undef GCL_FORMS

// ---- within each replica ----

namespace detail
{

inline poplar::Tensor allReduceWithin(poplar::Graph &graph, const poplar::Tensor &data,
                                      const poplar::Tensor &out, CollectiveOperator op,
                                      poplar::program::Sequence &prog,
                                      const poplar::DebugContext &debugContext,
                                      const poplar::OptionFlags &options)
{
  checkOptions("gcl::allReduceWithinReplica", options);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_gcl_all_reduce_within(graph.c(), poplar::detail::check(data.c()),
                                               static_cast<pop_collective_op>(op), out.c(),
                                               call.program(), call.c()));
}

} // namespace detail

inline poplar::Tensor allReduceWithinReplica(poplar::Graph &graph, const poplar::Tensor &data,
                                             CollectiveOperator op, poplar::program::Sequence &prog,
                                             const poplar::DebugContext &debugContext = {},
                                             const poplar::OptionFlags &options = {})
{
  return detail::allReduceWithin(graph, data, poplar::Tensor(), op, prog, debugContext, options);
}

inline void allReduceToDestinationWithinReplica(poplar::Graph &graph, const poplar::Tensor &data,
                                                const poplar::Tensor &destination,
                                                CollectiveOperator op,
                                                poplar::program::Sequence &prog,
                                                const poplar::DebugContext &debugContext = {},
                                                const poplar::OptionFlags &options = {})
{
  detail::allReduceWithin(graph, data, poplar::Tensor(poplar::detail::check(destination.c())), op,
                          prog, debugContext, options);
}

inline void allReduceInPlaceWithinReplica(poplar::Graph &graph, const poplar::Tensor &data,
                                          CollectiveOperator op, poplar::program::Sequence &prog,
                                          const poplar::DebugContext &debugContext = {},
                                          const poplar::OptionFlags &options = {})
{
  allReduceToDestinationWithinReplica(graph, data, data, op, prog, debugContext, options);
}

// All-to-all of data [parts, parts, ...]: part j's piece for part i becomes part i's piece of
// part j.
inline poplar::Tensor allToAllWithinReplica(poplar::Graph &graph, const poplar::Tensor &data,
                                            poplar::program::Sequence &prog,
                                            const poplar::DebugContext &debugContext = {},
                                            const poplar::OptionFlags &options = {})
{
  detail::checkOptions("gcl::allToAllWithinReplica", options);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_gcl_all_to_all_within(graph.c(), poplar::detail::check(data.c()),
                                               call.program(), call.c()));
}

// Broadcast of data [parts, ...]: all parts get the one with the number `rootPart`.
inline poplar::Tensor broadcastWithinReplica(poplar::Graph &graph, const poplar::Tensor &data,
                                             poplar::program::Sequence &prog, unsigned rootPart = 0,
                                             const poplar::DebugContext &debugContext = {},
                                             const poplar::OptionFlags &options = {})
{
  detail::checkOptions("gcl::broadcastWithinReplica", options);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_gcl_broadcast_within(graph.c(), poplar::detail::check(data.c()), rootPart,
                                              call.program(), call.c()));
}

// A chunk of a tensor that is cut into chunks, one for each part (IPU).
struct Chunk {
  poplar::Tensor tensor;
  unsigned index = 0;  // of the chunk in its ring
  unsigned offset = 0; // of chunks with the same index
  Chunk() = default;
  Chunk(poplar::Tensor t, unsigned i, unsigned o) : tensor(std::move(t)), index(i), offset(o) {}
};

struct Chunks {
  poplar::Tensor originalInput;
  std::vector<Chunk> chunks;
  Chunks() = default;
  explicit Chunks(unsigned size) : chunks(size) {}
};

// Concatenates the chunks, in the order of offsets and then of indices.
inline poplar::Tensor concatChunks(Chunks chunks)
{
  std::sort(chunks.chunks.begin(), chunks.chunks.end(), [](const Chunk &a, const Chunk &b) {
    return a.offset != b.offset ? a.offset < b.offset : a.index < b.index;
  });
  std::vector<poplar::Tensor> tensors;
  for (const Chunk &chunk : chunks.chunks) tensors.push_back(chunk.tensor);
  return poplar::concat(tensors);
}

// Reduce-scatter of data [parts, ...]. Returns a chunk for each part, on that part's tiles.
inline Chunks reduceScatterWithinReplica(poplar::Graph &graph, const poplar::Tensor &data,
                                         CollectiveOperator op, poplar::program::Sequence &prog,
                                         const poplar::DebugContext &debugContext = {},
                                         const poplar::OptionFlags &options = {})
{
  detail::checkOptions("gcl::reduceScatterWithinReplica", options);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  poplar::Tensor all = call.finish(
      pop_gcl_reduce_scatter_within(graph.c(), poplar::detail::check(data.c()),
                                    static_cast<pop_collective_op>(op), call.program(), call.c()));
  std::size_t count = all.numElements(), parts = data.dim(0),
              each = parts ? (count + parts - 1) / parts : 0;
  Chunks chunks(static_cast<unsigned>(parts));
  chunks.originalInput = data;
  for (std::size_t i = 0; i < parts; ++i)
    chunks.chunks[i] = Chunk(all.slice(std::min(count, i * each), std::min(count, (i + 1) * each)),
                             static_cast<unsigned>(i), 0);
  return chunks;
}

// All-gather: [parts, elements]. Each part has all chunks, on its tiles.
inline poplar::Tensor allGatherWithinReplica(poplar::Graph &graph, const Chunks &chunks,
                                             poplar::program::Sequence &prog,
                                             const poplar::DebugContext &debugContext = {},
                                             const poplar::OptionFlags &options = {})
{
  detail::checkOptions("gcl::allGatherWithinReplica", options);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_gcl_all_gather_within(graph.c(),
                                               poplar::detail::check(concatChunks(chunks).c()),
                                               chunks.chunks.size(), call.program(), call.c()));
}

} // namespace gcl

#endif
