// Batch norms of a batch that is spread over replicas; a callback adds the sums of all replicas.
// populus/popnn_norm.h.
#ifndef POPNN_DETAIL_DISTRIBUTEDNORM_HPP
#define POPNN_DETAIL_DISTRIBUTEDNORM_HPP

#include <exception>
#include <functional>
#include <popnn/Norms.hpp>

namespace poplin
{

// Returns, for each of the tensors, the sum over `groupSize` consecutive replicas.
using DistributedNormReduceCallback = std::function<std::vector<poplar::Tensor>(
    poplar::Graph &replicatedGraph, const std::vector<poplar::Tensor> &inputsToReduce,
    poplar::program::Sequence &prog, unsigned groupSize, const poplar::DebugContext &debugContext,
    const poplar::OptionFlags &options)>;

} // namespace poplin

namespace popnn
{
namespace detail
{

class DistributedNorm
{
  poplar::Graph &graph;
  const poplin::DistributedNormReduceCallback &reduce;
  const poplar::DebugContext &debugContext;
  unsigned replicas = 1;
  std::exception_ptr thrown; // what the callback threw, which must not go through C

  void add(pop_tensor *sums, std::size_t count, pop_program sequence)
  {
    std::vector<poplar::Tensor> parts;
    for (std::size_t i = 0; i < count; ++i) parts.emplace_back(sums[i]);
    poplar::program::Sequence steps;
    std::vector<poplar::Tensor> all = reduce(graph, parts, steps, replicas, debugContext, {});
    if (all.size() != count)
      throw poplar::poplar_error("popnn: norm: the callback answered " +
                                 std::to_string(all.size()) + " tensors, not " +
                                 std::to_string(count));
    for (std::size_t i = 0; i < count; ++i) sums[i] = poplar::detail::check(all[i].c());
    poplar::detail::ProgramBuilder builder(sequence.graph);
    pop_sequence_add(sequence, builder.build(steps.getNode()));
  }
  static void addOf(void *context, pop_tensor *sums, std::size_t count, pop_program sequence)
  {
    auto *self = static_cast<DistributedNorm *>(context);
    try {
      if (!self->thrown) self->add(sums, count, sequence);
    } catch (...) {
      self->thrown = std::current_exception();
    }
  }

public:
  // For a batch of normBatchSize elements in all replicas that share it. Throws poplar_error unless
  // that is a multiple of the elements of one replica.
  DistributedNorm(poplar::Graph &g, const poplar::Tensor &acts, unsigned normBatchSize,
                  const poplin::DistributedNormReduceCallback &callback,
                  const poplar::DebugContext &context)
      : graph(g), reduce(callback), debugContext(context)
  {
    const std::size_t batch = acts.rank() ? acts.dim(0) : 0;
    if (batch == 0 || normBatchSize == 0 || normBatchSize % batch)
      throw poplar::poplar_error("popnn: norm: " + std::to_string(batch) +
                                 " elements of the batch in a replica; normBatchSize is " +
                                 std::to_string(normBatchSize) + ", and is to be a multiple");
    replicas = static_cast<unsigned>(normBatchSize / batch);
    if (replicas > 1 && !callback)
      throw poplar::poplar_error("popnn: norm: the callback that adds over replicas is empty");
  }
  DistributedNorm(const DistributedNorm &) = delete;
  DistributedNorm &operator=(const DistributedNorm &) = delete;

  pop_norm over(pop_norm norm)
  {
    norm.replicas = replicas;
    norm.add = addOf;
    norm.context = this;
    return norm;
  }
  template <typename Result> Result finish(const Result &result) const
  {
    if (thrown) std::rethrow_exception(thrown);
    return result;
  }
};

} // namespace detail
} // namespace popnn

#endif
