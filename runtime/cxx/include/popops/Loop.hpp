// Loops that count on the device.
#ifndef POPOPS_LOOP_HPP
#define POPOPS_LOOP_HPP

#include <cstdint>
#include <functional>
#include <popops/ElementWise.hpp>
#include <popops/Fill.hpp>

namespace popops
{

using CountedLoopBodyType = std::function<poplar::program::Program(const poplar::Tensor &)>;

// Runs the body for begin, begin + step, … below `end`. `body` is called once, now, with a tensor
// [1] of unsigned int that holds the number in each iteration, and returns the body's program.
// Throws poplar_error for an end that is no unsigned int.
inline poplar::program::Sequence countedLoop(poplar::Graph &graph, std::size_t begin,
                                             std::size_t end, std::size_t step,
                                             const CountedLoopBodyType &body,
                                             const poplar::DebugContext &debugContext = {})
{
  if (step == 0 || begin > end)
    throw poplar::poplar_error(
        "popops::countedLoop: from " + std::to_string(begin) + " to " + std::to_string(end) +
        " in steps of " + std::to_string(step) +
        "; a step of at least 1, and an end that is not before the beginning, "
        "are needed");
  if (end > UINT32_MAX)
    throw poplar::poplar_error("popops::countedLoop: an end of " + std::to_string(end) +
                               "; the numbers are unsigned int, up to " +
                               std::to_string(UINT32_MAX));
  const std::size_t iterations = (end - begin) / step + ((end - begin) % step != 0);
  poplar::Tensor count = graph.addVariable(poplar::UNSIGNED_INT, {1}, debugContext);
  graph.setTileMapping(count, 0);
  poplar::program::Sequence loop, steps;
  fill(graph, count, loop, static_cast<unsigned>(begin), debugContext);
  steps.add(body(count));
  addInPlace(graph, count, static_cast<unsigned>(step), steps, debugContext);
  loop.add(poplar::program::Repeat(static_cast<unsigned>(iterations), steps, debugContext));
  return loop;
}
inline poplar::program::Sequence countedLoop(poplar::Graph &graph, std::size_t count,
                                             const CountedLoopBodyType &body,
                                             const poplar::DebugContext &debugContext = {})
{
  return countedLoop(graph, 0, count, 1, body, debugContext);
}

// Adds countStep to `count`, and returns whether it differs from `countLimit` then: the condition
// of a RepeatWhileTrue. Both have one element. The result is a BOOL on `tile`.
inline poplar::Tensor addForLoopCounterVertex(poplar::Graph &graph, const poplar::Tensor &count,
                                              const poplar::Tensor &countLimit, int countStep,
                                              unsigned tile, poplar::program::Sequence &prog,
                                              const poplar::DebugContext &debugContext = {})
{
  poplar::Tensor goesOn = graph.addVariable(poplar::BOOL, {}, debugContext);
  graph.setTileMapping(goesOn, tile);
  addInPlace(graph, count, countStep, prog, debugContext);
  neqWithOutput(graph, count.reshape({}), countLimit.reshape({}), goesOn, prog, debugContext);
  return goesOn;
}

// Runs `body` for initialCount, initialCount + countStep, …, until `countLimit` is reached or
// passed. `count` holds the number. Both tensors have one element of int or unsigned int; throws
// tensor_creation_error for other shapes.
inline poplar::program::Sequence countedForLoop(poplar::Graph &graph, const poplar::Tensor &count,
                                                int initialCount, const poplar::Tensor &countLimit,
                                                int countStep, const poplar::program::Program &body,
                                                const poplar::DebugContext &debugContext = {})
{
  if (countStep == 0) throw poplar::poplar_error("popops::countedForLoop: a step of 0 never ends");
  if (count.numElements() != 1 || countLimit.numElements() != 1)
    throw poplar::tensor_creation_error("popops::countedForLoop: a count of shape " +
                                        count.shapeToString() + " and a limit of " +
                                        countLimit.shapeToString() + "; each has one element");
  poplar::program::Sequence loop, condition, steps;
  fill(graph, count, loop, initialCount, debugContext);
  poplar::Tensor limit = countLimit.reshape(count.shape());
  poplar::Tensor more = countStep > 0 ? lt(graph, count, limit, condition, debugContext)
                                      : gt(graph, count, limit, condition, debugContext);
  steps.add(body);
  addInPlace(graph, count, countStep, steps, debugContext);
  loop.add(poplar::program::RepeatWhileTrue(condition, more.flatten()[0], steps, debugContext));
  return loop;
}
inline poplar::program::Sequence countedForLoop(poplar::Graph &graph, int initialCount,
                                                const poplar::Tensor &countLimit, int countStep,
                                                const poplar::program::Program &body,
                                                const poplar::DebugContext &debugContext = {})
{
  poplar::Tensor count = graph.clone(countLimit, debugContext);
  return countedForLoop(graph, count, initialCount, countLimit, countStep, body, debugContext);
}

} // namespace popops

#endif
