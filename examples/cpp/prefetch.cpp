// Data that the host has ready before the device asks: a callback that is told to prefetch. The device adds up batches; the
// callback counts how it was called.
#include <iostream>
#include <memory>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/StreamCallback.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Zero.hpp>
#include <popops/codelets.hpp>

using namespace poplar;
using namespace poplar::program;

static const unsigned batchSize = 8, batches = 5;

// Batch n is batchSize times n.
class Batches : public StreamCallback
{
  int next = 1;

public:
  struct Calls {
    unsigned prefetches = 0, fetches = 0, completions = 0;
  };
  explicit Batches(Calls &counted) : calls(counted) {}

  // Ahead of time: the same as fetch, but it may say that there is nothing yet.
  Result prefetch(void *to) override
  {
    if (next > static_cast<int>(batches)) return Result::NotAvailable;
    ++calls.prefetches;
    write(to);
    return Result::Success;
  }
  // The device waits.
  void fetch(void *to) override
  {
    ++calls.fetches;
    write(to);
  }
  // The device has it.
  void complete() override { ++calls.completions; }

private:
  Calls &calls;
  void write(void *to)
  {
    int *elements = static_cast<int *>(to);
    std::fill(elements, elements + batchSize, next);
    ++next;
  }
};

int main()
{
  IPUModel model;
  model.tilesPerIPU = 4;
  Device device = model.createDevice();
  Graph graph(device);
  popops::addCodelets(graph);
  Tensor batch = graph.addVariable(INT, {batchSize}, VariableMappingMethod::LINEAR, "batch");
  Tensor sum = graph.clone(batch, "sum");
  DataStream in = graph.addHostToDeviceFIFO(
      "batches", INT, batchSize, ReplicatedStreamMode::REPLICATE, {{"bufferingDepth", "2"}});
  graph.createHostRead("sum", sum);

  Sequence program, round{Copy(in, batch)};
  popops::zero(graph, sum, program);
  popops::addInPlace(graph, sum, batch, round);
  program.add(Repeat(batches, round));

  Engine engine(graph, program, {{"exchange.enablePrefetch", "true"}});
  engine.load(device);
  Batches::Calls calls;
  engine.connectStreamToCallback("batches", std::unique_ptr<Batches>(new Batches(calls)));
  engine.run();

  int sums[batchSize];
  engine.readTensor("sum", sums, sums + batchSize);
  std::cout << "sums: " << sums[0] << " … " << sums[batchSize - 1] << '\n'
            << calls.prefetches << " batches were ready, " << calls.fetches << " were waited for, "
            << calls.completions << " were taken\n";
}
