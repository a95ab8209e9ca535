// The guide's tutorial 4: what a graph takes, before anything runs, and where the cycles go. Two products of matrices: of one
// that lies on all tiles, and of one that somebody has put on a single tile.
#include <iostream>
#include <poplar/CycleCount.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

using namespace poplar;
using namespace poplar::program;

int main(int argc, char **argv)
{
  const bool onOneTile = argc > 1 && std::string(argv[1]) == "--one-tile";
  IPUModel model;
  model.tilesPerIPU = 64;
  Device device = model.createDevice();
  Graph graph(device);
  popops::addCodelets(graph);
  poplin::addCodelets(graph);
  Sequence program;

  //> Exercise 1: the product of an 80 x 60 and a 60 x 40 matrix, which the library lays out; see what it takes. Then put both
  //> on tile 0, and compare.
  Tensor a = poplin::createMatMulInputLHS(graph, FLOAT, {80, 60}, {60, 40}, "a");
  Tensor b = poplin::createMatMulInputRHS(graph, FLOAT, {80, 60}, {60, 40}, "b");
  if (onOneTile) graph.setTileMapping(concat(a.flatten(), b.flatten()), 0);
  poplin::matMul(graph, a, b, program, "product");
  //<
  Tensor cycles = cycleCount(graph, program, 0, SyncType::INTERNAL, "count");
  graph.createHostRead("cycles", cycles);

  Engine engine(graph, program, {{"debug.instrument", "true"}});
  engine.load(device);
  engine.run();

  const ProfileValue profile = engine.getGraphProfile();
  std::size_t largest = 0;
  for (const ProfileValue &tile : profile["memory"]["byTile"]["total"].asVector())
    largest = std::max(largest, static_cast<std::size_t>(tile.asInt()));
  unsigned counted[2];
  engine.readTensor("cycles", counted, counted + 2);
  std::cout << (onOneTile ? "On one tile\n" : "On all tiles\n") << "Largest tile: " << largest
            << " bytes\nCycles: " << counted[0] << "\n\n";
  engine.printProfileSummary(std::cout, {{"showExecutionSteps", "true"}});
}
