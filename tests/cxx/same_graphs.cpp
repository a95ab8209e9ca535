// The graphs of four examples in C and of tests/support/library_graph.c, built in C++.
// cxx_programs.sh compares the archives.
// usage: same_graphs control_flow|streams|remote_buffer|replicas CODELETS, or same_graphs
// library_graph
#include <algorithm>
#include <iostream>
#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>
#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <popops/ScaledAdd.hpp>
#include <popops/Zero.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>
#include <string>

using namespace poplar;
using namespace poplar::program;

// examples/control_flow: square roots by Newton's method, until they no longer change.
static Program control_flow(Graph &graph)
{
  const std::size_t count = 3;
  auto array = [&](const char *name) { return graph.addVariable(FLOAT, {count}, name); };
  Tensor numbers = array("numbers"), roots = array("roots"), changes = array("changes");
  Tensor more = graph.addVariable(BOOL, {1}, "more");
  Tensor steps = graph.addVariable(UNSIGNED_INT, {1}, "steps");
  for (const Tensor &t : {numbers, roots, changes}) poputil::mapTensorLinearly(graph, t, 1, 1);
  graph.setTileMapping(more, 0);
  graph.setTileMapping(steps, 0);
  graph.createHostWrite("numbers", numbers);
  graph.createHostRead("roots", roots);
  graph.createHostRead("steps", steps);

  ComputeSet newton = graph.addComputeSet("newton");
  for (unsigned i = 0; i < count; ++i) {
    VertexRef v = graph.addVertex(newton, "NewtonStep",
                                  {{"numbers", numbers.slice(i, i + 1)},
                                   {"roots", roots.slice(i, i + 1)},
                                   {"change", changes[i]}});
    graph.setTileMapping(v, i);
  }
  ComputeSet above = graph.addComputeSet("any above");
  VertexRef v = graph.addVertex(above, "AnyAbove");
  graph.connect(v["changes"], changes);
  graph.connect(v["more"], more[0]);
  graph.connect(v["steps"], steps[0]);
  graph.setInitialValue(v["limit"], 1e-6);
  graph.setTileMapping(v, 0);

  Sequence step({Execute(newton, "newton"), Execute(above, "any above")}, "step");
  return Sequence({Copy(numbers, roots, false, "first guess"),
                   RepeatWhileTrue(step, more, Sequence(), "improve")},
                  "main");
}

// examples/streams: a moving average over batches.
static Program streams(Graph &graph)
{
  const unsigned batchSize = 4096, numBatches = 5, numReports = 3;
  Tensor batch = graph.addVariable(FLOAT, {batchSize}, VariableMappingMethod::LINEAR, "batch");
  Tensor average = graph.addVariable(FLOAT, {batchSize}, VariableMappingMethod::LINEAR, "average");
  DataStream in = graph.addHostToDeviceFIFO("batches", FLOAT, batchSize);
  DataStream out = graph.addDeviceToHostFIFO("averages", FLOAT, batchSize);
  ComputeSet update = graph.addComputeSet("update");
  unsigned tiles = graph.getTarget().getNumTiles(), perTile = (batchSize + tiles - 1) / tiles;
  for (unsigned tile = 0, begin = 0; begin < batchSize; ++tile, begin += perTile) {
    unsigned end = std::min(begin + perTile, batchSize);
    VertexRef v = graph.addVertex(update, "MovingAverage",
                                  {{"batch", batch.slice(begin, end)},
                                   {"average", average.slice(begin, end)},
                                   {"weight", 0.5f}});
    graph.setTileMapping(v, tile);
  }
  Sequence step("step");
  step.add(Copy(in, batch, false, "next batch"));
  step.add(Execute(update, "update"));
  Sequence round("round");
  round.add(Repeat(numBatches, step, "batches"));
  round.add(Copy(average, out, false, "report"));
  return Repeat(numReports, round, "main");
}

// examples/remote_buffer: the device computes the indices of the samples that are fetched and
// stored.
static Program remote_buffer(Graph &graph)
{
  const unsigned sample = 1000, numSamples = 4096, numVertices = 20, numSteps = 3;
  RemoteBuffer store = graph.addRemoteBuffer("samples", FLOAT, sample, numSamples);
  Tensor samples = graph.addVariable(FLOAT, {2, sample}, VariableMappingMethod::LINEAR, "samples");
  Tensor average = graph.addVariable(FLOAT, {sample}, VariableMappingMethod::LINEAR, "average");
  Tensor wanted = graph.addVariable(UNSIGNED_INT, {2}, "wanted");
  graph.setTileMapping(wanted, 0);
  DataStream in = graph.addHostToDeviceFIFO("numbers", UNSIGNED_INT, 2);
  ComputeSet set = graph.addComputeSet("average");
  for (unsigned i = 0; i < numVertices; ++i) {
    Interval part(i * sample / numVertices, (i + 1) * sample / numVertices);
    Tensor both = samples.slice(part, 1);
    VertexRef v = graph.addVertex(
        set, "AverageOfTwo",
        {{"first", both[0]}, {"second", both[1]}, {"average", average.slice(part)}});
    graph.setTileMapping(v, i);
  }
  return Repeat(
      numSteps,
      Sequence({Copy(in, wanted, false, "which"), Copy(store, samples, wanted, "fetch"),
                Execute(set, "average"), Copy(average, store, wanted.slice(1, 2), "store")},
               "step"),
      "main");
}

// examples/replicas: each replica has a quarter of the data, and the sums go around the ring.
static Program replicas(Graph &graph)
{
  const unsigned perReplica = 1000;
  Tensor data = graph.addVariable(FLOAT, {perReplica}, "data");
  Tensor total = graph.addVariable(FLOAT, {1}, "total");
  Tensor passed = graph.addVariable(FLOAT, {1}, "passed");
  poputil::mapTensorLinearly(graph, data, 1, 1);
  graph.setTileMapping(total, 0);
  graph.setTileMapping(passed, 0);
  DataStream in = graph.addHostToDeviceFIFO("data", FLOAT, perReplica);
  ComputeSet sum = graph.addComputeSet("sum");
  graph.setTileMapping(graph.addVertex(sum, "PartSum", {{"in", data}, {"out", total[0]}}), 0);
  ComputeSet add = graph.addComputeSet("add");
  graph.setTileMapping(
      graph.addVertex(add, "AddOther", {{"total", total[0]}, {"other", passed[0]}}), 0);
  CrossReplicaCopy ring(passed, passed, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}, "ring");
  Sequence main("main");
  main.add(Copy(in, data, false, "a quarter of the data"));
  main.add(Execute(sum, "sum"));
  main.add(Copy(total, passed, false, "own sum first"));
  main.add(Repeat(3, Sequence({ring, Execute(add, "add")}, "round"), "rounds"));
  main.add(AssumeEqualAcrossReplicas(total, "the sum of all"));
  graph.createHostRead("total", total);
  return main;
}

static Program library_graph(Graph &graph)
{
  popops::addCodelets(graph);
  poplin::addCodelets(graph);
  auto matrix = [&](std::size_t rows, std::size_t columns, const char *name) {
    Tensor t = graph.addVariable(FLOAT, {rows, columns}, VariableMappingMethod::LINEAR, name);
    graph.createHostWrite(name, t);
    return t;
  };
  Tensor x = matrix(40, 30, "x"), y = matrix(30, 50, "y");
  Sequence main("main");
  Tensor square = popops::square(graph, x, main, "square");
  popops::addInPlace(graph, x, square, main, "add");
  Tensor product = poplin::matMul(graph, x, y, main, "product");
  Tensor sums = popops::reduce(graph, product, {1}, popops::Operation::ADD, main, "row sums");
  Tensor whole = popops::cast(graph, sums, INT, main, "whole");
  popops::scaledAddTo(graph, sums, sums, 0.5f, main, "half more");
  popops::zero(graph, product, main, "zero");
  graph.createHostRead("sums", sums);
  graph.createHostRead("whole", whole);
  return main;
}

int main(int argc, char **argv)
{
  const std::string name = argc > 1 ? argv[1] : "";
  Program (*build)(Graph &) = name == "control_flow"    ? control_flow
                              : name == "streams"       ? streams
                              : name == "remote_buffer" ? remote_buffer
                              : name == "replicas"      ? replicas
                              : name == "library_graph" ? library_graph
                                                        : nullptr;
  if (!build || argc != (build == library_graph ? 2 : 3)) {
    std::cerr << "usage: same_graphs control_flow|streams|remote_buffer|replicas CODELETS\n"
                 "       same_graphs library_graph\n";
    return 2;
  }
  unsigned numReplicas = build == replicas ? 4 : 1;
  IPUModel model;
  model.numIPUs = numReplicas;
  Target target = build == library_graph ? Target::createIPUTarget(1, 16, "ipu2")
                                         : model.createDevice().getTarget();
  Graph graph(target, replication_factor(numReplicas));
  if (argc == 3) graph.addCodelets(argv[2]);
  OptionFlags options;
  if (build == streams) options.set("exchange.enablePrefetch", "true");
  if (build == replicas) options.set("debug.runtimeVerify", "true");
  Engine engine(graph, build(graph), options);
}
