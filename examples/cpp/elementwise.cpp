// The guide's tutorial 2: library functions add their steps to a program. Additions of variables that lie on
// different tiles, a transposed view, an expression, a matrix product and a sum.
#include <iostream>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <popops/codelets.hpp>

using namespace poplar;
using namespace poplar::program;
using popops::expr::_1;
using popops::expr::_2;

int main()
{
  IPUModel model;
  Device device = model.createDevice();
  Graph graph(device.getTarget());
  popops::addCodelets(graph);
  poplin::addCodelets(graph);

  Tensor v1 = graph.addVariable(FLOAT, {2, 2}, "v1");
  Tensor v2 = graph.addVariable(FLOAT, {2, 2}, "v2");
  for (unsigned i = 0; i < 2; ++i)
    for (unsigned j = 0; j < 2; ++j) {
      graph.setTileMapping(v1[i][j], i * 2 + j);
      graph.setTileMapping(v2[i][j], j * 2 + i);
    }
  graph.setInitialValue<float>(v1, {1, 1.5, 2, 2.5});
  graph.setInitialValue<float>(v2, {4, 3, 2, 1});

  Sequence program;
  //> Exercise 1: the sum of v1 and v2, printed; then that of v1 and v2 transposed.
  Tensor v3 = popops::add(graph, v1, v2, program, "Add");
  program.add(PrintTensor("v1 + v2", v3));
  Tensor v4 = popops::add(graph, v1, v2.transpose(), program, "Add");
  program.add(PrintTensor("v1 + transpose of v2", v4));
  //<
  //> Exercise 2: v1 * v1 - 2 * v2 in one operation.
  Tensor v5 = popops::map(graph, _1 * _1 - 2 * _2, {v1, v2}, program, "Map");
  program.add(PrintTensor("v1 * v1 - 2 * v2", v5));
  //<
  //> Exercise 3: the matrix product of v1 and v2, and the sum of all its elements.
  Tensor v6 = poplin::matMul(graph, v1, v2, program, "MatMul");
  program.add(PrintTensor("v1 x v2", v6));
  Tensor sum = popops::reduce(graph, v6, {0, 1}, popops::Operation::ADD, program, "Sum");
  program.add(PrintTensor("its sum", sum));
  //<

  Engine engine(graph, program);
  engine.setPrintStream(std::cout);
  engine.load(device);
  engine.run();
}
