// Variables for the results of element-wise operations.
#ifndef POPOPS_ELEMENTWISEUTIL_HPP
#define POPOPS_ELEMENTWISEUTIL_HPP

#include <poplar/Graph.hpp>

namespace popops
{

// A variable for the result of an operation on tensors of one shape. It is mapped like the first of
// them that can be written in parallel; if there is none, it is spread over the tiles.
inline poplar::Tensor createOutputForElementWiseOp(poplar::Graph &graph,
                                                   const std::vector<poplar::Tensor> &inputs,
                                                   const poplar::Type &outputType,
                                                   const poplar::DebugContext &debugContext = {})
{
  if (inputs.empty())
    throw poplar::tensor_creation_error(
        "popops::createOutputForElementWiseOp: at least one input is needed");
  for (const poplar::Tensor &input : inputs)
    if (input.shape() != inputs[0].shape())
      throw poplar::tensor_creation_error(
          "popops::createOutputForElementWiseOp: the inputs have shapes " +
          inputs[0].shapeToString() + " and " + input.shapeToString() + "; one is needed");
  for (const poplar::Tensor &input : inputs)
    if (input.isParallelWriteable()) return graph.clone(outputType, input, debugContext);
  return graph.addVariable(outputType, inputs[0].shape(), poplar::VariableMappingMethod::LINEAR,
                           debugContext);
}

} // namespace popops

#endif
