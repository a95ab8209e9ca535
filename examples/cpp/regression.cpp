// The guide's tutorial 5: learning what class a point is of, by softmax regression as the MNIST example does it, on points that the program makes. One
// step: scores = points x weights, softmax, the loss and what flows back, weights -= rate x (points' x gradient).
#include <iostream>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>
#include <popnn/Loss.hpp>
#include <popnn/NonLinearity.hpp>
#include <popnn/codelets.hpp>
#include <popops/Reduce.hpp>
#include <popops/ScaledAdd.hpp>
#include <popops/Zero.hpp>
#include <popops/codelets.hpp>
#include <vector>

using namespace poplar;
using namespace poplar::program;

static const std::size_t classes = 4, features = 6, batch = 16, batches = 8;

struct Data {
  std::vector<float> points;
  std::vector<unsigned> labels;
};

// A point of class c is large in coordinate c; the rest is noise of a generator that every run starts alike. The last
// coordinate is 1, for a bias.
static Data make()
{
  Data data;
  unsigned state = 1;
  auto noise = [&state] {
    state = state * 1664525 + 1013904223;
    return float(state >> 8) / float(1 << 24);
  };
  for (std::size_t i = 0; i < batch * batches; ++i) {
    data.labels.push_back(unsigned(i * 7 % classes));
    for (std::size_t f = 0; f + 1 < features; ++f)
      data.points.push_back(noise() + (f == data.labels.back() ? 0.75f : 0.0f));
    data.points.push_back(1);
  }
  return data;
}

int main()
{
  IPUModel model;
  model.tilesPerIPU = 16;
  Device device = model.createDevice();
  Graph graph(device);
  popops::addCodelets(graph);
  poplin::addCodelets(graph);
  popnn::addCodelets(graph);

  auto variable = [&](const Type &type, std::vector<std::size_t> shape, const char *name) {
    return graph.addVariable(type, shape, VariableMappingMethod::LINEAR, name);
  };
  Tensor points =
      poplin::createMatMulInputLHS(graph, FLOAT, {batch, features}, {features, classes}, "points");
  Tensor labels = variable(UNSIGNED_INT, {batch}, "labels");
  Tensor weights = variable(FLOAT, {features, classes}, "weights");
  Tensor loss = variable(FLOAT, {batch}, "loss"),
         gradient = variable(FLOAT, {batch, classes}, "gradient");
  Tensor correct = variable(UNSIGNED_INT, {1}, "correct"), total = variable(FLOAT, {}, "total");
  DataStream pointStream = graph.addHostToDeviceFIFO("points", FLOAT, batch * features);
  DataStream labelStream = graph.addHostToDeviceFIFO("labels", UNSIGNED_INT, batch);
  graph.createHostRead("correct", correct);
  graph.createHostRead("total", total);

  Sequence step{Copy(pointStream, points), Copy(labelStream, labels)};
  //> Exercise 1: the scores of all classes and what softmax makes of them, the loss and its gradient, their total.
  Tensor scores = poplin::matMul(graph, points, weights, step, "scores");
  Tensor likely =
      popnn::nonLinearity(graph, popnn::NonLinearityType::SOFTMAX, scores, step, "softmax");
  step.add(popnn::calcLoss(graph, likely, labels, loss, gradient, correct,
                           popnn::CROSS_ENTROPY_LOSS, "loss"));
  popops::reduceWithOutput(graph, loss, total, {0}, {popops::Operation::ADD, true}, step, "total");
  //<
  //> Exercise 2: the change of the weights, and a step against it. The loss of each epoch is below that of the one before.
  Tensor change = poplin::matMul(graph, points.transpose(), gradient, step, "change");
  popops::scaledAddTo(graph, weights, change, -0.05f, step, "learn");
  //<

  Sequence start, epoch;
  popops::zero(graph, weights, start);
  popops::zero(graph, correct, epoch);
  popops::zero(graph, total, epoch);
  epoch.add(Repeat(batches, step));
  Engine engine(graph, {start, epoch});
  engine.load(device);
  Data data = make();
  engine.connectStream("points", data.points.data(), data.points.data() + data.points.size());
  engine.connectStream("labels", data.labels.data(), data.labels.data() + data.labels.size());

  engine.run(0);
  for (unsigned i = 1; i <= 10; ++i) {
    engine.run(1);
    unsigned right;
    float sum;
    engine.readTensor("correct", &right, &right + 1);
    engine.readTensor("total", &sum, &sum + 1);
    std::cout << "epoch " << i << ": " << 100 * right / (batch * batches) << " % right, loss "
              << sum / float(batch * batches) << '\n';
  }
}
