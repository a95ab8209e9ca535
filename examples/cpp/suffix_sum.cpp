// The guide's tutorial 3: a codelet, four vertices on four tiles. Element i of v2 becomes the sum of the elements of v1
// from i on. The codelet is in this file, too: popc compiles it with __POPC__ defined, when the program runs.
#ifdef __POPC__

#include <poplar/Vertex.hpp>

class SumVertex : public poplar::Vertex
{
public:
  //> Exercise 1: its fields, a vector of floats that comes in and a float that goes out.
  poplar::Input<poplar::Vector<float>> in;
  poplar::Output<float> out;
  //<

  bool compute()
  {
    //> Exercise 2: the output is the sum of the input.
    float sum = 0;
    for (float value : in) sum += value;
    *out = sum;
    //<
    return true;
  }
};

#else

#include <iostream>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>

using namespace poplar;
using namespace poplar::program;

// usage: suffix_sum [CODELETS]     a .gp file, or source; this file if there is none
int main(int argc, char **argv)
{
  IPUModel model;
  Device device = model.createDevice();
  Graph graph(device.getTarget());
  graph.addCodelets(argc > 1 ? argv[1] : __FILE__);

  Tensor v1 = graph.addVariable(FLOAT, {4}, "v1");
  Tensor v2 = graph.addVariable(FLOAT, {4}, "v2");
  Tensor c1 = graph.addConstant<float>(FLOAT, {4}, {1.0, 1.5, 2.0, 2.5}, "c1");
  for (unsigned i = 0; i < 4; ++i) {
    graph.setTileMapping(v1[i], i);
    graph.setTileMapping(v2[i], i);
  }
  graph.setTileMapping(c1, 0);

  Sequence program(DebugContext("main"));
  program.add(Copy(c1, v1, false, "initialise v1"));
  //> Exercise 3: a compute set of four vertices on four tiles, which the program executes.
  ComputeSet computeSet = graph.addComputeSet("computeSet");
  for (unsigned i = 0; i < 4; ++i) {
    VertexRef vertex =
        graph.addVertex(computeSet, "SumVertex", {{"in", v1.slice(i, 4)}, {"out", v2[i]}});
    graph.setTileMapping(vertex, i);
    graph.setPerfEstimate(vertex, 20);
  }
  program.add(Execute(computeSet, "suffix sums"));
  //<
  program.add(PrintTensor("v2", v2));

  Engine engine(graph, program);
  engine.setPrintStream(std::cout);
  engine.load(device);
  engine.run();
}

#endif
