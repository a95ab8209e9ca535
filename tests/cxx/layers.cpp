// popnn's functions give the results of their definitions, on a few tiles.
#include "check.hpp"
#include "fixture.hpp"
#include <cstdint>
#include <limits>
#include <poplin/Norms.hpp>
#include <popnn/BatchNorm.hpp>
#include <popnn/GroupNorm.hpp>
#include <popnn/InstanceNorm.hpp>
#include <popnn/LayerNorm.hpp>
#include <popnn/LogSoftmax.hpp>
#include <popnn/Loss.hpp>
#include <popnn/NonLinearity.hpp>
#include <popnn/Pooling.hpp>
#include <popnn/codelets.hpp>
#include <popops/Cast.hpp>
#include <poputil/Util.hpp>
#include <sstream>
#include <typeinfo>

using namespace poplar;
using namespace poplar::program;

namespace
{

void softmax_and_losses()
{
  Fixture f(3);
  auto &g = f.graph;
  popnn::addCodelets(g);
  std::vector<float> values = {1, 2, 3, 1000, 1000, 1000};
  Tensor x = f.input(FLOAT, {2, 3}, values);
  Tensor y = popnn::nonLinearity(g, popnn::NonLinearityType::SOFTMAX, x, f.prog);
  float e = 1 + std::exp(-1.f) + std::exp(-2.f), third = 1 / 3.f;
  std::vector<float> soft = {std::exp(-2.f) / e, std::exp(-1.f) / e, 1 / e, third, third, third};
  CHECK(close(f.run<float>(y), soft));
  std::vector<float> logarithms;
  for (float p : soft) logarithms.push_back(std::log(p));
  CHECK(close(f.run<float>(popnn::logSoftmax(g, x, f.prog)), logarithms));
  Tensor logs = poputil::duplicate(g, x, f.prog);
  popnn::logSoftmaxInPlace(g, logs, f.prog);
  CHECK(close(f.run<float>(logs), logarithms));
  auto most = popnn::maxAndArgMax(g, x, f.prog), least = popnn::minAndArgMin(g, x, f.prog);
  CHECK(close(f.run<float>(most.first), {3, 1000}) && close(f.run<float>(least.first), {1, 1000}));
  CHECK((f.run<unsigned>(most.second) == std::vector<unsigned>{2, 0}));
  CHECK((f.run<unsigned>(least.second) == std::vector<unsigned>{0, 0}));
  CHECK((f.run<unsigned>(popnn::argMax(g, x, f.prog)) == std::vector<unsigned>{2, 0}));
  CHECK((f.run<unsigned>(popnn::argMin(g, x, f.prog)) == std::vector<unsigned>{0, 0}));
  CHECK_THROWS(tensor_creation_error, "{3}", popnn::argMax(g, x[0], f.prog));

  Tensor labels = f.input(UNSIGNED_INT, {2}, std::vector<unsigned>{2, 1});
  Tensor loss = g.addVariable(FLOAT, {2}, VariableMappingMethod::LINEAR), deltas = g.clone(y);
  Tensor correct = f.input(UNSIGNED_INT, {1}, std::vector<unsigned>{10});
  f.prog.add(popnn::calcLoss(g, y, labels, loss, deltas, correct, popnn::CROSS_ENTROPY_LOSS));
  CHECK(close(f.run<float>(loss), {-std::log(soft[2]), -std::log(third)}));
  CHECK(close(f.run<float>(deltas), {soft[0], soft[1], soft[2] - 1, third, third - 1, third}));
  CHECK(f.run<unsigned>(correct)[0] == 11);
  f.prog.add(popnn::calcLoss(g, x.slice(0, 1), labels.slice(0, 1), loss.slice(0, 1),
                             deltas.slice(0, 1), popnn::SUM_SQUARED_LOSS));
  CHECK(close(f.run<float>(loss.slice(0, 1)), {(1 + 4 + 4) / 2.f}));
  popnn::nonLinearityInPlace(g, popnn::NonLinearityType::RELU, deltas, f.prog);
  CHECK(close(f.run<float>(deltas), {1, 2, 2, third, 0, third}));
  ComputeSet set = g.addComputeSet("relu");
  Tensor signs = f.input(FLOAT, {4}, std::vector<float>{-1, 2, 0, -3});
  popnn::nonLinearityInPlace(g, popnn::NonLinearityType::RELU, signs, set);
  CHECK_THROWS(poplar_error, "the form with a compute set has SIGMOID, RELU, TANH",
               popnn::nonLinearityInPlace(g, popnn::NonLinearityType::SOFTMAX, signs, set));
  f.prog.add(Execute(set));
  CHECK(close(f.run<float>(signs), {0, 2, 0, 0}));
  CHECK_THROWS(type_error, "labels",
               popnn::calcLoss(g, y, loss, loss, deltas, popnn::SUM_SQUARED_LOSS));

  // Masked rows do not count, and labels may be signed.
  Tensor masked = f.input(INT, {2}, std::vector<int>{2, -1});
  f.prog.add(popnn::calcLoss(g, y, masked, loss, deltas, correct, popnn::CROSS_ENTROPY_LOSS));
  CHECK(close(f.run<float>(loss), {-std::log(soft[2]), 0}));
  CHECK(close(f.run<float>(deltas), {soft[0], soft[1], soft[2] - 1, 0, 0, 0}));
  Tensor counted = f.input(UNSIGNED_INT, {}, std::vector<unsigned>{4});
  f.prog.add(popnn::calcAccuracy(g, y, masked, counted));
  CHECK(f.run<unsigned>(counted.flatten())[0] == 5);
  CHECK_THROWS(tensor_creation_error, "labels {batch}",
               popnn::calcAccuracy(g, y, masked.slice(0, 1), counted));

  // The gradient may take the place of the outputs.
  Tensor own = poputil::duplicate(g, y, f.prog), hits = f.input(INT, {1}, std::vector<int>{0});
  f.prog.add(popnn::calcLoss(g, own, labels, loss, own, hits.reinterpret(UNSIGNED_INT),
                             popnn::CROSS_ENTROPY_LOSS));
  CHECK(close(f.run<float>(own), {soft[0], soft[1], soft[2] - 1, third, third - 1, third}));
  CHECK(f.run<int>(hits)[0] == 1);

  // It may also take the place of some of them, and so may the loss.
  for (int way = 0; way < 3; ++way) {
    Tensor big = f.input(FLOAT, {3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6});
    Tensor apart = g.addVariable(FLOAT, {2, 2}, VariableMappingMethod::LINEAR),
           outs = big.slice(0, 2);
    Tensor gradient = way == 0 ? big.slice(1, 3) : way == 1 ? outs.transpose() : apart;
    f.prog.add(popnn::calcLoss(g, outs, f.input(UNSIGNED_INT, {2}, std::vector<unsigned>{0, 1}),
                               way == 2 ? big[1] : loss, gradient, popnn::SUM_SQUARED_LOSS));
    CHECK(close(f.run<float>(gradient), {0, 2, 3, 3}));
    CHECK(close(f.run<float>(way == 2 ? big[1] : loss), {2, 9}));
  }
  Tensor scales = f.input(FLOAT, {3}, std::vector<float>{1, 2, 3}), one = scales.slice(0, 1);
  CHECK_THROWS(tensor_creation_error, "the scale of deltas has one element, not the shape {3}",
               popnn::calcLoss(g, y, labels, loss, deltas, scales, one, popnn::CROSS_ENTROPY_LOSS));
  CHECK_THROWS(tensor_creation_error, "the scaling of outputs has one element",
               popnn::calcLoss(g, y, labels, loss, deltas, one, scales, popnn::CROSS_ENTROPY_LOSS));
  const Tensor whole = f.input(INT, {2, 3}, std::vector<int>(6, 1));
  CHECK_THROWS(type_error, "popnn::calcLoss: activations: elements of type int, not float",
               popnn::calcLoss(g, whole, labels, loss, deltas, popnn::SUM_SQUARED_LOSS));
  CHECK_THROWS(type_error, "popnn::calcLoss: the loss: elements of type half, not float",
               popnn::calcLoss(g, y, labels, g.clone(HALF, loss), deltas, popnn::SUM_SQUARED_LOSS));
  CHECK_THROWS(type_error, "popnn::calcLoss: the gradient: elements of type int, not float",
               popnn::calcLoss(g, y, labels, loss, whole, popnn::SUM_SQUARED_LOSS));
  CHECK_THROWS(type_error, "popnn::calcAccuracy: activations: elements of type int, not float",
               popnn::calcAccuracy(g, whole, labels, counted));
  CHECK_THROWS(type_error, "popnn::calcAccuracy: what counts correct ones: elements of type int",
               popnn::calcAccuracy(g, y, labels, hits));

  // Halves scaled by a softmax, and gradients scaled for halves.
  float scaling = 1;
  Tensor h = popnn::nonLinearity(g, popnn::NonLinearityType::SOFTMAX_SCALED,
                                 popops::cast(g, x, HALF, f.prog), scaling, f.prog);
  Tensor of_halves = g.clone(HALF, loss), deltas_of_halves = g.clone(h);
  f.prog.add(popnn::calcLoss(
      g, h, labels, of_halves, deltas_of_halves, f.input(FLOAT, {}, std::vector<float>{8}),
      f.input(FLOAT, {}, std::vector<float>{scaling}), correct, popnn::CROSS_ENTROPY_LOSS));
  std::vector<float> losses = f.run<float>(popops::cast(g, of_halves, FLOAT, f.prog)),
                     eightfold = f.run<float>(popops::cast(g, deltas_of_halves, FLOAT, f.prog));
  CHECK(std::abs(losses[0] + std::log(soft[2])) < 2e-3 &&
        std::abs(losses[1] + std::log(third)) < 2e-3);
  CHECK(std::abs(eightfold[1] - 8 * soft[1]) < 1e-2 && std::abs(eightfold[4] + 16 / 3.) < 1e-2);

  Tensor where;
  Tensor largest = popnn::topK(g, x, where, 2, true, f.prog);
  CHECK(close(f.run<float>(largest), {3, 2, 1000, 1000}));
  CHECK(f.run<unsigned>(where)[0] == 2 && f.run<unsigned>(where)[1] == 1);
}

// Each function gives the result of its definition, in single and half precision.
void functions_between_layers()
{
  using popnn::NonLinearityType;
  const struct {
    NonLinearityType type;
    std::function<double(double)> of;
  } functions[] = {
      {NonLinearityType::SIGMOID, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {NonLinearityType::HARD_SIGMOID,
       [](double x) { return std::max(0., std::min(1., 0.2 * x + 0.5)); }},
      {NonLinearityType::RELU, [](double x) { return x > 0 ? x : 0; }},
      {NonLinearityType::TANH, [](double x) { return std::tanh(x); }},
      {NonLinearityType::GELU,
       [](double x) {
         return x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))) / 2;
       }},
      {NonLinearityType::GELU_ERF, [](double x) { return x * (1 + std::erf(x / M_SQRT2)) / 2; }},
      {NonLinearityType::SWISH, [](double x) { return x / (1 + std::exp(-x)); }},
  };
  Fixture f(3);
  auto &g = f.graph;
  popnn::addCodelets(g);
  const std::vector<float> values = {-4, -2.75f, -1, -0.25f, 0, 0.5f, 1.5f, 3};
  Tensor x = f.input(FLOAT, {values.size()}, values);
  Tensor h = popops::cast(g, x, HALF, f.prog);
  for (const auto &function : functions) {
    std::vector<float> found = f.run<float>(popnn::nonLinearity(g, function.type, x, f.prog));
    Tensor halves = popnn::nonLinearity(g, function.type, h, f.prog);
    std::vector<float> of_halves = f.run<float>(popops::cast(g, halves, FLOAT, f.prog));
    for (std::size_t i = 0; i < values.size(); ++i) {
      double expected = function.of(values[i]);
      CHECK(std::abs(found[i] - expected) < 1e-6 && std::abs(of_halves[i] - expected) < 4e-3);
    }
  }
  std::vector<float> scaled =
      f.run<float>(popnn::nonLinearity(g, NonLinearityType::SOFTMAX_SCALED, x, f.prog));
  double sum = 0;
  for (float value : values) sum += std::exp(double(value));
  CHECK(std::abs(scaled[7] - 16384 * std::exp(3.) / sum) < 1e-2);
}

// Gradients equal differences of the functions, which the test before compares with their
// definitions.
void gradients_between_layers()
{
  using popnn::NonLinearityType;
  const struct {
    NonLinearityType type;
    bool of_input; // the gradient takes the function's input, not its output
  } functions[] = {{NonLinearityType::SIGMOID, false},       {NonLinearityType::HARD_SIGMOID, true},
                   {NonLinearityType::RELU, false},          {NonLinearityType::TANH, false},
                   {NonLinearityType::GELU, true},           {NonLinearityType::GELU_ERF, true},
                   {NonLinearityType::SWISH, true},          {NonLinearityType::SOFTMAX, false},
                   {NonLinearityType::SOFTMAX_STABLE, false}};
  const float step = 1 / 256.f;
  Fixture f(3);
  auto &g = f.graph;
  popnn::addCodelets(g);
  const std::vector<float> values = {-3, -1.5f, -0.25f, 0.5f, 1.25f, 4},
                           along = {1, -2, 0.5f, 3, -1, 0.25f};
  Tensor x = f.input(FLOAT, {2, 3}, values), d = f.input(FLOAT, {2, 3}, along);
  Tensor h = popops::cast(g, x, HALF, f.prog), dh = popops::cast(g, d, HALF, f.prog);
  for (const auto &function : functions) {
    std::vector<double> expected(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::vector<float> less = values, more = values;
      less[i] -= step;
      more[i] += step;
      float scaling = 0;
      std::vector<float> below = f.run<float>(popnn::nonLinearity(
                             g, function.type, f.input(FLOAT, {2, 3}, less), scaling, f.prog)),
                         above = f.run<float>(popnn::nonLinearity(
                             g, function.type, f.input(FLOAT, {2, 3}, more), f.prog));
      CHECK(scaling == 1);
      for (std::size_t j = 0; j < values.size(); ++j)
        expected[i] += double(along[j]) * (double(above[j]) - double(below[j])) / (2 * step);
    }
    auto gradient = [&](const Tensor &t, const Tensor &along_t) {
      Tensor act = function.of_input ? t : popnn::nonLinearity(g, function.type, t, f.prog);
      return popnn::nonLinearityInputGradient(g, function.type, act, along_t, f.prog);
    };
    std::vector<float> found = f.run<float>(gradient(x, d));
    std::vector<float> of_halves = f.run<float>(popops::cast(g, gradient(h, dh), FLOAT, f.prog));
    for (std::size_t i = 0; i < values.size(); ++i)
      CHECK(std::abs(found[i] - expected[i]) < 2e-4 && std::abs(of_halves[i] - expected[i]) < 1e-2);
  }
  // Halves whose squares are too large.
  Tensor large = f.input(HALF, {2}, std::vector<float>{-300, 300}),
         ones = f.input(HALF, {2}, std::vector<float>{1, 1}),
         flows = popnn::nonLinearityInputGradient(g, NonLinearityType::GELU, large, ones, f.prog);
  CHECK((f.run<float>(popops::cast(g, flows, FLOAT, f.prog)) == std::vector<float>{0, 1}));
  float scaling = 0;
  Tensor scaled = popnn::scaledSoftmaxStable(g, x, scaling, f.prog);
  CHECK(scaling == SOFTMAX_SCALING);
  popnn::sigmoidInPlace(g, scaled, f.prog);
  CHECK(f.run<float>(scaled)[5] == 1);
  CHECK_THROWS(tensor_creation_error, "the gradient has the shape {3}, the activations have {2,3}",
               popnn::nonLinearityInputGradient(g, NonLinearityType::TANH, x, d[0], f.prog));
}

// tests/unit/poplibs/pooling.c checks the values. This test checks the C++ names.
void pooling()
{
  using namespace popnn::pooling;
  Fixture f(3);
  auto &g = f.graph;
  popnn::addCodelets(g);
  Tensor x = f.input(FLOAT, {1, 1, 2, 4}, std::vector<float>{1, 2, 3, 4, 5, 6, 6, 8});
  Tensor flows = f.input(FLOAT, {1, 1, 1, 2}, std::vector<float>{1, 12});
  auto params = [](popnn::PoolingType type) {
    return PoolParams(type, {2, 4}, {2, 3}, {2, 2}, {0, 1}, {0, 0}, 1, 1, FLOAT);
  };
  // Windows of columns -1 to 1 and 1 to 3.
  PoolParams max = params(popnn::PoolingType::MAX), sum = params(popnn::PoolingType::SUM),
             average = params(popnn::PoolingType::AVG);
  CHECK((max.getOutputFieldShape() == std::vector<std::size_t>{1, 2}) &&
        max.getNumFieldDims() == 2);
  CHECK(getFwdFlops(sum) == 10 && getFwdFlops(average) == 12 && getBwdFlops(max) == 10);
  CHECK(getFwdPerfectCycleCount(g, sum) * 2 == getBwdPerfectCycleCount(g, sum));
  std::ostringstream text;
  text << max;
  CHECK(text.str().find("max of 1 x 1: 2 elements, windows of 2") == 0);

  Tensor largest = pool(g, max, x, f.prog);
  CHECK(close(f.run<float>(largest), {6, 8}));
  CHECK(close(f.run<float>(pool(g, sum, x, f.prog)), {14, 29}));
  CHECK(close(f.run<float>(pool(g, average, x, f.prog, {}, {{"optimizeForSpeed", "true"}})),
              {14 / 4.f, 29 / 6.f}));
  CHECK(close(f.run<float>(poolInputGradient(g, max, x, largest, flows, true, f.prog)),
              {0, 0, 0, 0, 0, 1, 0, 12}));
  CHECK(close(f.run<float>(poolInputGradient(g, sum, 1, flows, f.prog)),
              {1, 13, 12, 12, 1, 13, 12, 12}));
  CHECK(close(f.run<float>(poolInputGradient(g, average, 1, flows, f.prog)),
              {.25f, 2.25f, 2, 2, .25f, 2.25f, 2, 2}));
  CHECK_THROWS(poplar_error, "maximum", poolInputGradient(g, max, 1, flows, f.prog));
  CHECK_THROWS(poplar_error, "batch of 1", pool(g, max, x.broadcast(2, 0), f.prog));
  CHECK_THROWS(invalid_option, "optimizeForSpeed",
               pool(g, max, x, f.prog, {}, {{"optimiseForSpeed", "true"}}));
  max.kernelShape = {3, 3};
  CHECK_THROWS(poplar_error, "dimension 0", max.getOutputFieldShape());
}

// tests/unit/poplibs/norm.c checks the values. This test checks the C++ names.
void norms()
{
  Fixture f(3);
  auto &g = f.graph;
  // Groups of two elements at a distance of 1 from their mean: by channel, or by element of the
  // batch.
  std::vector<float> values = {1, 10, 3, 12};
  Tensor x = f.input(FLOAT, {2, 2}, values), flows = f.input(FLOAT, {2, 2}, numbers(4));
  auto params = popnn::createNormParams(g, x);
  CHECK(params.first.numElements() == 2 && params.second.numElements() == 2);
  Tensor gamma = params.first, beta = params.second;
  f.prog.add(Copy(f.input(FLOAT, {2}, std::vector<float>{2, 3}), gamma));
  f.prog.add(Copy(f.input(FLOAT, {2}, std::vector<float>{1, 0}), beta));

  auto of_batch = popnn::bn::batchNormStatistics(g, x, 0, f.prog, false);
  CHECK(close(f.run<float>(of_batch.first), {2, 11}) &&
        close(f.run<float>(of_batch.second), {1, 1}));
  auto normal =
      popnn::bn::batchNormalise(g, x, gamma, beta, of_batch.first, of_batch.second, f.prog);
  CHECK(close(f.run<float>(normal.second), {-1, -1, 1, 1}));
  CHECK(close(f.run<float>(normal.first), {-1, -3, 3, 3}));
  CHECK(close(f.run<float>(popnn::bn::batchNormalise(g, x, gamma, beta, f.prog)), {3, 30, 7, 36}));
  std::vector<float> d = numbers(4);
  auto both =
      popnn::bn::batchNormParamGradients(g, x, flows, of_batch.first, of_batch.second, f.prog);
  CHECK(close(f.run<float>(both.first), {d[2] - d[0], d[3] - d[1]}));
  CHECK(close(f.run<float>(both.second), {d[2] + d[0], d[3] + d[1]}));
  // With groups of two elements the gradient of the input is zero.
  CHECK(close(f.run<float>(popnn::bn::batchNormGradients(g, x, flows, of_batch.first,
                                                         of_batch.second, gamma, f.prog)),
              {0, 0, 0, 0}));
  popnn::bn::batchNormParamUpdate(g, both.first, both.second, -.5f, gamma, beta, f.prog);
  CHECK(close(f.run<float>(gamma), {2 - (d[2] - d[0]) / 2, 3 - (d[3] - d[1]) / 2}));
  CHECK_THROWS(tensor_creation_error, "beta has the shape {2}, its gradient has {1}",
               popnn::bn::batchNormParamUpdate(g, both.first, both.second.slice(0, 1), 1.f, gamma,
                                               beta, f.prog));
  CHECK_THROWS(invalid_option, "groupNorm",
               popnn::bn::batchNormStatistics(g, x, 0, f.prog, false, false, FLOAT, {},
                                              {{"stable", "true"}}));

  CHECK_THROWS(poplar_error, "0 groups", popnn::gn::groupNormStatistics(g, x, 0, f.prog, 0, false));
  CHECK_THROWS(type_error, "sums of half",
               popnn::bn::batchNormStatistics(g, x, 0, f.prog, false, true, HALF));
  CHECK_THROWS(poplar_error, "float or half, not int",
               popnn::bn::batchNormParamGradients(g, x, flows, f.prog, INT));

  // Each step separately, by its name in poplin.
  auto of_poplin = poplin::normStatistics(g, x, 0, f.prog, false, true);
  CHECK(close(f.run<float>(of_poplin.first), {2, 11}));
  Tensor white = poplin::normWhiten(g, x, of_poplin.first, of_poplin.second, f.prog);
  Tensor two = f.input(FLOAT, {2}, std::vector<float>{2, 3}),
         one = f.input(FLOAT, {2}, std::vector<float>{1, 0});
  CHECK(close(f.run<float>(poplin::normalise(g, white, two, one, f.prog)), {-1, -3, 3, 3}));
  auto of_both = poplin::normParamGradients(g, white, flows, f.prog);
  CHECK(close(f.run<float>(of_both.first), {d[2] - d[0], d[3] - d[1]}));
  Tensor flowed = poplin::normGradients(g, flows, two, f.prog);
  CHECK(close(f.run<float>(flowed), {2 * d[0], 3 * d[1], 2 * d[2], 3 * d[3]}));
  // Both steps together equal popnn's single function. With three elements the gradient is not
  // zero.
  Tensor x3 = f.input(FLOAT, {3, 2, 1}, std::vector<float>{1, 10, 3, 12, 4, 20}),
         flows3 = f.input(FLOAT, {3, 2, 1}, numbers(6));
  auto of3 = poplin::normStatistics(g, x3, 0.1f, f.prog, false);
  Tensor white3 = poplin::normWhiten(g, x3, of3.first, of3.second, f.prog);
  Tensor in_steps = poplin::normStatisticsGradients(
      g, white3, poplin::normGradients(g, flows3, two, f.prog), of3.second, f.prog);
  Tensor at_once = popnn::bn::batchNormGradients(g, white3, flows3, of3.second, two, f.prog);
  CHECK(close(f.run<float>(in_steps), f.run<float>(at_once)));
  CHECK_THROWS(poplar_error, "gamma has 3",
               poplin::normGradients(g, flows, f.input(FLOAT, {3}, numbers(3)), f.prog));
  CHECK(poplin::createNormBeta(g, x, HALF).elementType() == HALF);

  auto of_layer = popnn::ln::layerNormStatistics(g, x, 0, f.prog, true);
  CHECK(close(f.run<float>(of_layer.first), {5.5f, 7.5f}));
  CHECK(close(f.run<float>(of_layer.second), {1 / std::sqrt(40.5f), 1 / std::sqrt(40.5f)}));
  Tensor wide = x.reshape({1, 4});
  OptionFlags strided{{"groupNormStridedChannelGrouping", "true"}};
  auto of_group =
      popnn::gn::groupNormStatistics(g, wide, 0, f.prog, 2, false, false, FLOAT, {}, strided);
  CHECK(close(f.run<float>(of_group.first), {2, 11}));
  Tensor whitened =
      popnn::gn::groupNormWhiten(g, wide, of_group.first, of_group.second, f.prog, {}, strided);
  CHECK(close(f.run<float>(whitened), {-1, -1, 1, 1}));
  Tensor long_gamma = popnn::createNormGamma(g, wide);
  CHECK(f.run<float>(popnn::gn::groupNormGradients(g, whitened, flows.reshape({1, 4}),
                                                   of_group.second, long_gamma, f.prog, FLOAT, {},
                                                   strided))
            .size() == 4);
  auto of_instance =
      popnn::in::instanceNormStatistics(g, x.reshape({1, 2, 2}), 0, f.prog, false, true);
  CHECK(close(f.run<float>(of_instance.first), {5.5f, 7.5f}));
  CHECK_THROWS(
      poplar_error, "3 statistics",
      popnn::ln::layerNormWhiten(g, x, f.input(FLOAT, {3}, numbers(3)), of_layer.second, f.prog));
  CHECK(popnn::getNormFwdFlops(2, 100) > popnn::getNormFwdFlops(2, 100, false));
}

// Numbers of elements that are too large for a half.
void many_halves()
{
  Fixture f(20);
  auto &g = f.graph;
  popnn::addCodelets(g);
  const float n = 70000;
  Tensor x = f.input(HALF, {70000}, std::vector<float>(70000));
  Tensor soft = popnn::softmax(g, x, f.prog), logarithms = popnn::logSoftmax(g, x, f.prog);
  Tensor ends = concat(soft.slice(0, 1), logarithms.slice(0, 1));
  std::vector<float> found = f.run<float>(popops::cast(g, ends, FLOAT, f.prog));
  CHECK(std::fabs(found[0] * n - 1) < 0.01f);
  CHECK(std::fabs(found[1] + std::log(n)) < 0.01f);

  using popnn::pooling::PoolParams;
  Tensor field = x.slice(0, 67600).reshape({1, 1, 260, 260});
  Tensor pooled = f.input(HALF, {1, 1, 1, 1}, std::vector<float>{0}),
         gradient = f.input(HALF, {1, 1, 1, 1}, std::vector<float>{60000});
  for (popnn::PoolingType type : {popnn::PoolingType::AVG, popnn::PoolingType::MAX}) {
    PoolParams params(type, {260, 260}, {260, 260}, {1, 1}, {0, 0}, {0, 0}, 1, 1, HALF);
    Tensor shares =
        popnn::pooling::poolInputGradient(g, params, field, pooled, gradient, true, f.prog);
    float share = f.run<float>(popops::cast(g, shares[0][0][0][0], FLOAT, f.prog))[0];
    CHECK(std::fabs(share - 60000 / 67600.f) < 0.001f);
  }
}

} // namespace

int main()
{
  softmax_and_losses();
  functions_between_layers();
  gradients_between_layers();
  pooling();
  norms();
  many_halves();
  return failures != 0;
}
