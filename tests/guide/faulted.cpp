// A program for the page's tests: its run ends in a fault. In the third round a vertex of tile 5 stores where it may not.
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>

#include <iostream>
#include <vector>

using namespace poplar;
using namespace poplar::program;

int main(int argc, char **argv)
{
  constexpr unsigned tiles = 8, rounds = 5;
  if (argc != 2) return 2;
  IPUModel ipuModel;
  ipuModel.tilesPerIPU = tiles;
  Device device = ipuModel.createDevice();
  Graph graph(device.getTarget());
  graph.addCodelets(argv[1]);
  Tensor values = graph.addVariable(INT, {tiles}, "values");
  ComputeSet step = graph.addComputeSet("layer/step"), scale = graph.addComputeSet("layer/scale");
  for (unsigned i = 0; i < tiles; ++i) {
    graph.setTileMapping(values[i], i);
    VertexRef first = graph.addVertex(step, "Step", {{"value", values[i]}}),
              second = graph.addVertex(scale, "Scale", {{"value", values[i]}});
    graph.setInitialValue(first["last"], i == 5 ? 3 : 100);
    graph.setTileMapping(first, i);
    graph.setTileMapping(second, i);
  }
  Copy turn(concat(values.slice(1, tiles), values.slice(0, 1)), values, false, "layer/turn");
  Sequence round{Execute(step), Execute(scale), turn};
  Engine engine(graph, Sequence{Execute(scale), Repeat(rounds, round)});
  engine.load(device);
  try {
    engine.run(0, "training");
  } catch (const std::exception &error) {
    std::cout << error.what() << "\n";
    return 0;
  }
  return 1;
}
