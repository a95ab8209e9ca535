// The guide's tutorial 1: variables on tiles, a constant, copies, slices, host access, a data stream.
#include <algorithm>
#include <iostream>
#include <numeric>
#include <poplar/DeviceManager.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <vector>

using namespace poplar;
using namespace poplar::program;

int main()
{
  auto devices = DeviceManager::createDeviceManager().getDevices(TargetType::IPU, 1);
  auto free =
      std::find_if(devices.begin(), devices.end(), [](Device &device) { return device.attach(); });
  if (free == devices.end()) {
    std::cerr << "all IPUs are taken\n";
    return 1;
  }
  Device device = std::move(*free);
  Graph graph(device.getTarget());

  //> Exercise 1: v1 and v2, 4 floats each, v3, 4 x 4, and v4, 10 ints; v1 on tile 0, v2 spread over tiles 0 to 3.
  Tensor v1 = graph.addVariable(FLOAT, {4}, "v1");
  Tensor v2 = graph.addVariable(FLOAT, {4}, "v2");
  Tensor v3 = graph.addVariable(FLOAT, {4, 4}, "v3");
  Tensor v4 = graph.addVariable(INT, {10}, VariableMappingMethod::LINEAR, "v4");
  graph.setTileMapping(v1, 0);
  for (unsigned i = 0; i < 4; ++i) graph.setTileMapping(v2[i], i);
  graph.setTileMapping(v3, 0);
  //<

  //> Exercise 2: a constant of 1.0, 1.5, 2.0, 2.5; and the host may write and read v3.
  Tensor c1 = graph.addConstant<float>(FLOAT, {4}, {1.0, 1.5, 2.0, 2.5}, "c1");
  graph.setTileMapping(c1, 0);
  graph.createHostWrite("v3-write", v3);
  graph.createHostRead("v3-read", v3);
  //<

  Sequence program(DebugContext("main"));
  //> Exercise 3: the constant goes to v1, v1 to v2, a slice of v1 into the middle of v3; v1 and v2 are printed.
  program.add(Copy(c1, v1, false, "initialise v1"));
  program.add(PrintTensor("v1-debug", v1));
  program.add(Copy(v1, v2, false, "v1 to v2"));
  program.add(PrintTensor("v2-debug", v2));
  program.add(Copy(v1.slice(0, 3), v3.slice({1, 1}, {2, 4}), false, "slice of v1 to v3"));
  //<

  //> Exercise 4: a stream from the host, from which v4 gets new data twice.
  DataStream in = graph.addHostToDeviceFIFO("v4-input-stream", INT, 10);
  for (const char *title : {"v4-0", "v4-1"}) {
    program.add(Copy(in, v4, false, "next of v4"));
    program.add(PrintTensor(title, v4));
  }
  //<

  Engine engine(graph, program);
  engine.load(device);
  //> Exercise 5: zeros for v3, numbers for the stream.
  std::vector<float> h3(4 * 4, 0);
  engine.writeTensor("v3-write", h3.data(), h3.data() + h3.size());
  std::vector<int> inData(3 * 10); // gone through in a circle
  std::iota(inData.begin(), inData.end(), 0);
  engine.connectStream("v4-input-stream", inData.data(), inData.data() + inData.size());
  //<

  std::cout << "Running program" << std::endl;
  engine.run();
  std::cout << "Program complete\n";
  //> Exercise 6: what v3 holds now.
  engine.readTensor("v3-read", h3.data(), h3.data() + h3.size());
  std::cout << "\nh3 data:\n";
  for (unsigned row = 0; row < 4; ++row)
    std::cout << "  " << h3[4 * row] << ' ' << h3[4 * row + 1] << ' ' << h3[4 * row + 2] << ' '
              << h3[4 * row + 3] << '\n';
  //<
}
