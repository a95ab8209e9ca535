// Compiled once, run by another process: a graph that smooths a signal is compiled and saved, or an executable that was saved
// is loaded, which needs no graph. Three programs: write, work, read.
//
//   saved_executable --save smooth.bin
//   saved_executable --load smooth.bin
#include <fstream>
#include <iostream>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <popops/ElementWise.hpp>
#include <popops/codelets.hpp>
#include <string>
#include <vector>

using namespace poplar;
using namespace poplar::program;

static const std::size_t size = 12;
enum { WRITE, WORK, READ };

static Executable compile(const Target &target)
{
  Graph graph(target);
  popops::addCodelets(graph);
  Tensor signal = graph.addVariable(FLOAT, {size}, VariableMappingMethod::LINEAR, "signal");
  DataStream in = graph.addHostToDeviceFIFO("in", FLOAT, size);
  DataStream out = graph.addDeviceToHostFIFO("out", FLOAT, size);
  // The middle of each three, (a + 2 b + c) / 4; the ends stay.
  using namespace popops::expr;
  Sequence work;
  Tensor middle = signal.slice(1, size - 1);
  popops::mapInPlace(graph, (_2 + 2 * _1 + _3) / 4,
                     {middle, signal.slice(0, size - 2), signal.slice(2, size)}, work, "smooth");
  return compileGraph(graph, {Copy(in, signal), Repeat(3, work), Copy(signal, out)});
}

int main(int argc, char **argv)
{
  std::string mode = argc == 3 ? argv[1] : "";
  if (mode != "--save" && mode != "--load") {
    std::cerr << "usage: saved_executable --save|--load <file>\n";
    return 2;
  }
  try {
    IPUModel model;
    model.tilesPerIPU = 4;
    Device device = model.createDevice();
    if (mode == "--save") {
      std::ofstream file(argv[2], std::ios::binary);
      compile(device.getTarget()).serialize(file);
      std::cout << "saved\n";
      return 0;
    }
    std::ifstream file(argv[2], std::ios::binary);
    Engine engine(Executable::deserialize(file));
    engine.load(device);
    std::vector<float> in(size), out(size);
    in[size / 2] = 64;
    engine.connectStream("in", in.data());
    engine.connectStream("out", out.data());
    for (int program : {WRITE, WORK, READ}) engine.run(program);
    for (float value : out) std::cout << value << ' ';
    std::cout << '\n';
  } catch (const poplar_error &error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}
