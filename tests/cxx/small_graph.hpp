// A small device and a graph on it.
#ifndef TESTS_CXX_SMALL_GRAPH_HPP
#define TESTS_CXX_SMALL_GRAPH_HPP

#include "check.hpp"

#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <sstream>

struct SmallGraph {
  poplar::Device device;
  poplar::Graph graph;

  static poplar::Device smallModel()
  {
    poplar::IPUModel model;
    model.tilesPerIPU = 4;
    return model.createDevice();
  }
  explicit SmallGraph(const char *codelets) : device(smallModel()), graph(device)
  {
    std::stringstream text(codelets);
    graph.addCodelets(text);
  }
};

// Runs the program and returns the tensor's elements.
template <typename T>
std::vector<T> result(SmallGraph &f, const poplar::program::Program &program,
                      const poplar::Tensor &tensor)
{
  static int number;
  std::string handle = "result" + std::to_string(number++);
  f.graph.createHostRead(handle, tensor);
  poplar::Engine engine(f.graph, program);
  engine.load(f.device);
  engine.run();
  std::vector<T> data(tensor.numElements());
  engine.readTensor(handle, data.data(), data.data() + data.size());
  return data;
}

#endif
