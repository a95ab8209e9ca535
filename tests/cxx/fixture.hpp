// A graph on a few tiles, the contents of its tensors after its program, and numbers for inputs.
#ifndef TESTS_CXX_FIXTURE_HPP
#define TESTS_CXX_FIXTURE_HPP

#include <cmath>
#include <iostream>
#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>
#include <string>
#include <utility>
#include <vector>

struct Fixture {
  poplar::Device device;
  poplar::Graph graph;
  poplar::program::Sequence prog;
  std::vector<std::pair<std::string, poplar::Tensor>> outputs;

  explicit Fixture(unsigned tiles = 7) : Fixture(modelOf(tiles)) {}
  explicit Fixture(poplar::Device &&on) : device(std::move(on)), graph(device)
  {
    popops::addCodelets(graph);
  }
  static poplar::Device modelOf(unsigned tiles)
  {
    poplar::IPUModel model;
    model.tilesPerIPU = tiles;
    return model.createDevice();
  }
  template <typename T>
  poplar::Tensor input(const poplar::Type &type, std::vector<std::size_t> shape,
                       const std::vector<T> &values)
  {
    poplar::Tensor t = graph.addVariable(type, shape);
    poputil::mapTensorLinearly(graph, t);
    graph.setInitialValue(t, values);
    return t;
  }
  // The elements of a tensor after the program.
  template <typename T> std::vector<T> run(const poplar::Tensor &t)
  {
    std::string name = "t" + std::to_string(outputs.size());
    outputs.emplace_back(name, t);
    graph.createHostRead(name, t);
    poplar::Engine engine(graph, prog);
    engine.load(device);
    engine.run();
    std::vector<T> data(t.numElements());
    engine.readTensor(name, data.data(), data.data() + data.size());
    return data;
  }
};

inline bool close(const std::vector<float> &a, const std::vector<float> &b)
{
  bool good = a.size() == b.size();
  for (std::size_t i = 0; i < a.size() && good; ++i)
    good = std::fabs(a[i] - b[i]) <= 1e-5f * (1 + std::fabs(b[i]));
  if (!good)
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
      std::cerr << a[i] << " for " << b[i] << '\n';
  return good;
}

inline std::vector<float> numbers(std::size_t count, float scale = 0.25f)
{
  std::vector<float> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = (float(i * 7 % 23) - 9.5f) * scale;
  return result;
}

#endif
