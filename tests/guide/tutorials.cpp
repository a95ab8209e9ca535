// The programs of document 001's tutorials, in its order: tutorials <number> [step or arguments]. What its listings add one
// after the other is in the order of the document; a step runs them up to there.
#include <poplar/DeviceManager.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>
#include <popops/ElementWise.hpp>
#include <popops/codelets.hpp>

#include <iostream>
#include <string>
#include <vector>

using namespace poplar;
using namespace poplar::program;

// ---- tutorial 1 ----

static Device getModel()
{
  // Create the IPU Model device
  IPUModel ipuModel;
  Device device = ipuModel.createDevice();
  return device;
}

static Device getHardware()
{
  DeviceManager manager = DeviceManager::createDeviceManager();
  Device device;
  bool success = false;
  for (auto &hwDevice : manager.getDevices(poplar::TargetType::IPU, 1)) {
    device = std::move(hwDevice);
    std::cerr << "Trying to attach to IPU " << device.getId() << std::endl;
    if ((success = device.attach())) {
      std::cerr << "Attached to IPU " << device.getId() << std::endl;
      break;
    }
  }
  if (!success) throw poplar_error("Error attaching to device");
  return device;
}

static void tutorial1(unsigned step, bool hardware)
{
  Device device = hardware ? getHardware() : getModel();
  Target target = device.getTarget();
  Graph graph(target);
  Tensor v1 = graph.addVariable(FLOAT, {4}, "v1");
  Tensor v2 = graph.addVariable(FLOAT, {4}, "v2");
  Tensor v3 = graph.addVariable(FLOAT, {4, 4}, "v3");
  Tensor v4 = graph.addVariable(INT, {10}, "v4");
  graph.setTileMapping(v1, 0);
  for (unsigned i = 0; i < 4; ++i) graph.setTileMapping(v2[i], i);
  graph.setTileMapping(v3, 0);
  graph.setTileMapping(v4, 1);
  program::Sequence prog;
  if (step >= 2) {
    Tensor c1 = graph.addConstant<float>(FLOAT, {4}, {1.0, 1.5, 2.0, 2.5});
    graph.setTileMapping(c1, 0);
    prog.add(program::Copy(c1, v1));
  }
  prog.add(program::PrintTensor("v1-debug", v1));
  if (step >= 3) {
    prog.add(program::Copy(v1, v2));
    prog.add(program::PrintTensor("v2-debug", v2));
  }
  if (step >= 4) {
    graph.createHostWrite("v3-write", v3);
    graph.createHostRead("v3-read", v3);
  }
  if (step >= 5) {
    Tensor v1slice = v1.slice(0, 3);
    Tensor v3slice = v3.slice({1, 1}, {2, 4});
    prog.add(program::Copy(v1slice, v3slice));
  }
  if (step >= 6) {
    DataStream inStream = graph.addHostToDeviceFIFO("v4-input-stream", INT, 10);
    prog.add(program::Copy(inStream, v4));
    prog.add(program::PrintTensor("v4-0", v4));
    prog.add(program::Copy(inStream, v4));
    prog.add(program::PrintTensor("v4-1", v4));
  }
  Engine engine(graph, prog);
  engine.load(device);
  std::vector<float> h3(4 * 4, 0);
  if (step >= 4) engine.writeTensor("v3-write", h3.data());
  std::vector<int> inData(10 * 3);
  for (unsigned i = 0; i < 10 * 3; ++i) inData[i] = static_cast<int>(i);
  if (step >= 6) engine.connectStream("v4-input-stream", &inData[0], &inData[0] + 10 * 3);
  std::cout << "Running program\n";
  engine.run(0);
  std::cout << "Program complete\n";
  if (step < 4) return;
  engine.readTensor("v3-read", h3.data());
  std::cout << "\nh3 data:\n";
  for (unsigned i = 0; i < 4; ++i) {
    std::cout << "  ";
    for (unsigned j = 0; j < 4; ++j) {
      std::cout << h3[i * 4 + j] << " ";
    }
    std::cout << "\n";
  }
}

// ---- tutorial 2 ----

static void tutorial2()
{
  Device device = getModel();
  Graph graph(device.getTarget());
  popops::addCodelets(graph);
  Tensor v1 = graph.addVariable(FLOAT, {2, 2}, "v1");
  Tensor v2 = graph.addVariable(FLOAT, {2, 2}, "v2");
  for (unsigned i = 0; i < 2; ++i) {
    graph.setTileMapping(v1[i], i);
    graph.setTileMapping(v2[i], i);
  }
  Sequence prog;
  Tensor c1 = graph.addConstant<float>(FLOAT, {4}, {4, 3, 2, 1});
  Tensor c2 = graph.addConstant<float>(FLOAT, {4}, {1, 1.5, 2, 2.5});
  graph.setTileMapping(c1, 0);
  graph.setTileMapping(c2, 0);
  prog.add(Copy(c1, v1.flatten()));
  prog.add(Copy(c2, v2.flatten()));
  // Extend program with elementwise add (this will add to the sequence)
  Tensor v3 = popops::add(graph, v1, v2, prog, "Add");
  prog.add(PrintTensor("v3", v3));
  Tensor v4 = popops::add(graph, v3, v2, prog, "Add");
  prog.add(PrintTensor("v4", v4));
  // Example element wise addition using a transposed view of the data
  Tensor v5 = popops::add(graph, v1, v2.transpose(), prog, "Add");
  prog.add(PrintTensor("v5", v5));
  Engine engine(graph, prog);
  engine.load(device);
  engine.run(0);
}

// ---- tutorial 3 ----

static void tutorial3(const std::string &codelets)
{
  Device device = getModel();
  Graph graph(device.getTarget());
  // Add codelets to the graph
  graph.addCodelets(codelets);
  Tensor v1 = graph.addVariable(FLOAT, {4}, "v1"), v2 = graph.addVariable(FLOAT, {4}, "v2");
  for (unsigned i = 0; i < 4; ++i) {
    graph.setTileMapping(v1[i], i);
    graph.setTileMapping(v2[i], i);
  }
  Sequence prog;
  Tensor c1 = graph.addConstant<float>(FLOAT, {4}, {1.0, 1.5, 2.0, 2.5});
  graph.setTileMapping(c1, 0);
  prog.add(Copy(c1, v1));
  ComputeSet computeSet = graph.addComputeSet("computeSet");
  for (unsigned i = 0; i < 4; ++i) {
    VertexRef vtx = graph.addVertex(computeSet, "SumVertex");
    graph.connect(vtx["in"], v1.slice(i, 4));
    graph.connect(vtx["out"], v2[i]);
    graph.setTileMapping(vtx, i);
    graph.setCycleEstimate(vtx, 20);
  }
  // Add step to execute the compute set
  prog.add(Execute(computeSet));
  prog.add(PrintTensor("v2", v2));
  Engine engine(graph, prog);
  engine.load(device);
  engine.run(0);
}

// ---- tutorial 4 ----

static void spread(Graph &graph, const Tensor &t)
{
  Tensor flat = t.flatten();
  std::size_t n = graph.getTarget().getNumTiles(), count = flat.numElements();
  for (std::size_t i = 0; i < n; ++i)
    graph.setTileMapping(flat.slice(count * i / n, count * (i + 1) / n), static_cast<unsigned>(i));
}

// `compile`: as the section on profiling options prints it.
static void tutorial4(bool compile)
{
  // Create the IPU Model device
  IPUModel ipuModel("ipu1");
  if (compile) ipuModel.compileIPUCode = true;
  Device device = ipuModel.createDevice();
  Graph graph(device.getTarget());
  popops::addCodelets(graph);
  poplin::addCodelets(graph);
  Tensor m1 = graph.addVariable(FLOAT, {90, 60}, "m1"),
         m2 = graph.addVariable(FLOAT, {60, 30}, "m2"),
         m3 = graph.addVariable(FLOAT, {30, 20}, "m3");
  for (const Tensor &m : {m1, m2, m3}) {
    spread(graph, m);
    graph.setInitialValue(m, 1.0f);
  }
  Sequence prog;
  Tensor m4 = poplin::matMul(graph, m1, m2, prog, "m4");
  Tensor m5 = poplin::matMul(graph, m4, m3, prog, "m5");
  graph.createHostRead("m5", m5);
  Engine engine(graph, prog);
  engine.load(device);
  engine.run(0);
  std::vector<float> result(90 * 20);
  engine.readTensor("m5", result.data());
  for (float x : result)
    if (x != 60 * 30) throw poplar_error("(m1 * m2) * m3 is wrong");
  // As the guide says, the profiles as values, and their summary.
  ProfileValue graphProfile = engine.getGraphProfile();
  ProfileValue executionProfile = engine.getExecutionProfile();
  poplar::printProfileSummary(std::cout, graphProfile, executionProfile,
                              {{"showExecutionSteps", "true"}, {"showVarStorage", "true"}});
}

// ---- tutorial 7: the two phases ----

static Program buildMultiplyProgram(Graph &graph, const Tensor &matrix, const Tensor &in,
                                    const Tensor &out, unsigned colAxisSplit)
{
  std::size_t numRows = matrix.dim(0), numCols = matrix.dim(1);
  // Create a tensor to hold the intermediate calculated partial sums
  auto partials = graph.addTensor("float", {numRows, colAxisSplit}, "partials");
  // Create a compute set to hold the vertices to perform the
  // partial sum calculations.
  ComputeSet mulCS = graph.addComputeSet("mulCS");
  // Create a vertex for each segment, for each row.
  for (unsigned i = 0; i < colAxisSplit; ++i) {
    std::size_t begin = numCols * i / colAxisSplit, end = numCols * (i + 1) / colAxisSplit;
    for (unsigned row = 0; row < numRows; ++row) {
      auto v = graph.addVertex(mulCS, "DotProductVertex",
                               {{"a", matrix[row].slice(begin, end)},
                                {"b", in.slice(begin, end)},
                                {"out", partials[row][i]}});
      graph.setTileMapping(partials[row][i], i);
      graph.setTileMapping(matrix[row].slice(begin, end), i);
      graph.setTileMapping(v, i);
    }
  }
  // Create a compute set to calculate the reduction.
  auto reduceCS = graph.createComputeSet("reduceCS");
  // For each output element create a vertex.
  for (unsigned row = 0; row < numRows; ++row) {
    auto v = graph.addVertex(reduceCS, "ReduceVertex", {{"in", partials[row]}, {"out", out[row]}});
    graph.setTileMapping(out[row], row);
    graph.setTileMapping(v, row);
  }
  return Sequence(Execute(mulCS), Execute(reduceCS));
}

static void tutorial7(const std::string &codelets)
{
  Device device = getModel();
  Graph graph(device.getTarget());
  graph.addCodelets(codelets);
  std::size_t numRows = 40, numCols = 50;
  Tensor matrix = graph.addVariable(FLOAT, {numRows, numCols}, "matrix");
  Tensor inputVector = graph.addVariable(FLOAT, {numCols}, "inputVector");
  Tensor outputVector = graph.addVariable(FLOAT, {numRows}, "outputVector");
  graph.setTileMapping(inputVector, 0);
  graph.setInitialValue(matrix, 2.0f);
  graph.setInitialValue(inputVector, 0.5f);
  graph.createHostRead("out", outputVector);
  Program prog = buildMultiplyProgram(graph, matrix, inputVector, outputVector, 5);
  Engine engine(graph, prog);
  engine.load(device);
  engine.run(0);
  std::vector<float> result(numRows);
  engine.readTensor("out", result.data());
  for (float x : result)
    if (x != 50) throw poplar_error("the product is wrong");
  std::cout << "Multiplication result OK\n";
}

int main(int argc, char **argv)
{
  std::string which = argc > 1 ? argv[1] : "", argument = argc > 2 ? argv[2] : "";
  try {
    if (which == "1")
      tutorial1(static_cast<unsigned>(std::stoul(argument)), argc > 3);
    else if (which == "2")
      tutorial2();
    else if (which == "3")
      tutorial3(argument);
    else if (which == "4")
      tutorial4(argument == "compileIPUCode");
    else if (which == "7")
      tutorial7(argument);
    else
      return 2;
  } catch (const std::exception &e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
