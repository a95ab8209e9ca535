// A program for document 003: blocks, streams, loops and branches, and runs with names and without.
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>

#include <iostream>
#include <vector>

using namespace poplar;
using namespace poplar::program;

int main()
{
  IPUModel ipuModel;
  ipuModel.tilesPerIPU = 8;
  Device device = ipuModel.createDevice();
  Graph graph(device.getTarget());
  std::stringstream codelets("#include <poplar/Vertex.hpp>\n"
                             "class Count : public poplar::Vertex {\n"
                             "public:\n"
                             "  poplar::InOut<int> value;\n"
                             "  bool compute() { *value = *value - 1; return true; }\n"
                             "};\n");
  graph.addCodelets(codelets);
  Tensor value = graph.addVariable(INT, {8}, "value");
  ComputeSet forward = graph.addComputeSet("layer/forward"),
             backward = graph.addComputeSet("layer/backward");
  for (unsigned i = 0; i < 8; ++i) {
    graph.setTileMapping(value[i], i);
    for (const ComputeSet &set : {forward, backward})
      graph.setTileMapping(graph.addVertex(set, "Count", {{"value", value[i]}}), i);
  }
  DataStream in = graph.addHostToDeviceFIFO("in", INT, 8),
             out = graph.addDeviceToHostFIFO("out", INT, 8);
  Sequence step;
  step.add(Copy(in, value));
  step.add(Block(Repeat(5, Execute(forward)), "forward"));
  step.add(If(value[0].reshape({}), Block(Execute(backward), "backward"), Sequence()));
  step.add(Copy(value, out));
  Engine engine(graph, step);
  std::vector<int> data(8, 10), result(8);
  engine.connectStream("in", data.data(), data.data() + 8);
  engine.connectStream("out", result.data(), result.data() + 8);
  engine.load(device);
  engine.run(0, "WeightsToHost");
  engine.run(0);
  std::cout << result[7] << "\n";
}
