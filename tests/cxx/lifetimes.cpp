// P01: tensors, engines, devices and programs that live longer than their graph, and longer than
// each other.
#include "small_graph.hpp"

#include <memory>
#include <poplar/DeviceManager.hpp>
#include <vector>

using namespace poplar;
using namespace poplar::program;

namespace
{

const char codelets[] = "#include <poplar/Vertex.hpp>\n"
                        "class Double : public poplar::Vertex {\n"
                        "public:\n"
                        "  poplar::InOut<poplar::Vector<int>> x;\n"
                        "  bool compute() { for (auto &e : x) e *= 2; return true; }\n"
                        "};\n";

struct Kept {
  Tensor x, row;
  std::vector<Tensor> rows;
  ComputeSet set;
  VertexRef vertex;
  Sequence steps;
  Device device;
  std::unique_ptr<Engine> engine;
};

Kept keep()
{
  SmallGraph f(codelets);
  Graph &graph = f.graph;
  Kept k;
  k.x = graph.addVariable(INT, {2, 3}, VariableMappingMethod::LINEAR, "x");
  k.row = k.x[1];
  k.rows = {k.x[0], k.x[1]};
  k.set = graph.addComputeSet("set");
  k.vertex = graph.addVertex(k.set, "Double", {{"x", k.x.flatten()}});
  graph.setTileMapping(k.vertex, 0);
  k.steps.add(Execute(k.set));
  k.steps.add(Copy(k.rows[0], k.row));
  graph.createHostRead("x", k.x);
  graph.createHostWrite("in", k.x);
  k.engine.reset(new Engine(graph, k.steps));
  k.device = std::move(f.device);
  return k;
}

// The graph lives as long as a tensor of it is queried or viewed.
void tensors()
{
  Kept k = keep();
  CHECK(k.x.shape() == (std::vector<std::size_t>{2, 3}));
  CHECK(k.row.numElements() == 3 && k.row == k.x[1] && k.x.slice(1, 2).flatten() == k.row);
  CHECK(k.x.transpose().dim(0) == 3 && k.x.containsAliases() == false);
  CHECK(concat(k.rows).getDebugStr() == k.x.flatten().getDebugStr());
  CHECK_THROWS(index_error, "Tensor::slice", k.x.slice(1, 4));
  CHECK(k.x.slice(0, 1).numElements() == 3); // works after the error
  Tensor copy = k.x, moved = std::move(copy);
  k.x = Tensor();
  k.rows.clear();
  CHECK(moved.rank() == 2);
  moved = moved[0];
  CHECK(moved.rank() == 1 && !copy.valid());
}

// A sequence is empty after it was moved, also to a program.
void programs()
{
  Kept k = keep();
  Sequence first({Copy(k.x[0], k.x[1])});
  Program moved = std::move(first);
  CHECK(!moved.isEmpty() && first.size() == 0);
  first.add(moved);
  CHECK(first.size() == 1);
}

// An engine does not need its graph, and keeps its device.
void engines()
{
  Kept k = keep();
  Engine engine = std::move(*k.engine);
  {
    Device device = std::move(k.device);
    engine.load(device);
  }
  k = Kept();
  std::vector<int> in = {1, 2, 3, 4, 5, 6}, out(6);
  engine.writeTensor("in", in.data(), in.data() + in.size());
  engine.run();
  engine.readTensor("x", out.data(), out.data() + out.size());
  CHECK((out == std::vector<int>{2, 4, 6, 2, 4, 6}));
  CHECK_THROWS(poplar_error, "ends before it begins",
               engine.readTensor("x", out.data() + out.size(), out.data()));
}

// Devices outlive their manager.
void devices()
{
  Device device;
  {
    DeviceManager manager;
    device = std::move(manager.getDevices(TargetType::IPU, 1)[0]);
  }
  CHECK(device.attach() && device.isAttached());
  Device part = device.createVirtualDevice(4);
  device = Device();
  CHECK(part.isAttached() && part.getTarget().getNumTiles() == 4);
}

// Objects that do not keep their graph alive are refused by another graph.
void of_another_graph()
{
  Kept k = keep();
  k.x = k.row = Tensor();
  k.rows.clear();
  SmallGraph other(codelets);
  CHECK_THROWS(poplar_error, "another graph", other.graph.addVertex(k.set, "Double"));
  CHECK_THROWS(poplar_error, "another graph", other.graph.setTileMapping(k.vertex, 0));
  CHECK_THROWS(poplar_error, "another graph", Engine(other.graph, k.steps));
}

} // namespace

int main()
{
  tensors();
  programs();
  engines();
  devices();
  of_another_graph();
  return failures != 0;
}
