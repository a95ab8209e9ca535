// poplin: matrix products and convolutions give the results of plain loops on the host.
#include "check.hpp"
#include "fixture.hpp"

#include <clocale>
#include <poplar/CycleCount.hpp>
#include <poplin/ConvPreplan.hpp>
#include <poplin/ConvUtil.hpp>
#include <poplin/Convolution.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/MeshGrid.hpp>
#include <poplin/codelets.hpp>
#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <popops/Zero.hpp>
#include <poputil/Util.hpp>
#include <typeinfo>

using namespace poplar;
using namespace poplar::program;

namespace
{

std::vector<float> product(const std::vector<float> &a, const std::vector<float> &b, std::size_t m,
                           std::size_t k, std::size_t n)
{
  std::vector<float> c(m * n);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t l = 0; l < k; ++l) c[i * n + j] += a[i * k + l] * b[l * n + j];
  return c;
}

void matrix_products()
{
  struct {
    std::size_t m, k, n;
    unsigned tiles;
  } const cases[] = {{5, 7, 6, 4}, {1, 300, 2, 40}, {30, 20, 25, 64}, {1, 1, 1, 8}, {3, 1, 40, 16}};
  for (const auto &c : cases) {
    Fixture f(c.tiles);
    poplin::addCodelets(f.graph);
    std::vector<float> a = numbers(c.m * c.k), b = numbers(c.k * c.n, 0.5f);
    Tensor x = f.input(FLOAT, {c.m, c.k}, a), y = f.input(FLOAT, {c.k, c.n}, b);
    Tensor z = poplin::matMul(f.graph, x, y, f.prog, "z");
    CHECK((z.shape() == std::vector<std::size_t>{c.m, c.n}));
    CHECK(close(f.run<float>(z), product(a, b, c.m, c.k, c.n)));
    // The same product from transposed operands.
    std::vector<float> at(a.size()), bt(b.size());
    for (std::size_t i = 0; i < a.size(); ++i) at[i % c.k * c.m + i / c.k] = a[i];
    for (std::size_t i = 0; i < b.size(); ++i) bt[i % c.n * c.k + i / c.n] = b[i];
    Tensor xt = f.input(FLOAT, {c.k, c.m}, at), yt = f.input(FLOAT, {c.n, c.k}, bt);
    Tensor zt = poplin::matMul(f.graph, xt.transpose(), yt.transpose(), f.prog, "zt");
    CHECK(f.run<float>(zt) == f.run<float>(z));
  }
  Fixture f(5);
  auto &g = f.graph;
  poplin::addCodelets(g);
  std::vector<float> a = numbers(12), b = numbers(20, 0.5f), c = product(a, b, 3, 4, 5);
  Tensor x = f.input(HALF, {3, 4}, a), y = f.input(HALF, {4, 5}, b);
  Tensor z = poplin::matMul(g, x, y, f.prog);
  CHECK(z.elementType() == HALF);
  CHECK(close(f.run<float>(popops::cast(g, z, FLOAT, f.prog)), c));
  Tensor u = f.input(FLOAT, {3, 4}, a), v = f.input(FLOAT, {4, 5}, b),
         w = f.input(FLOAT, {3, 5}, numbers(15));
  poplin::matMulAcc(g, w, -2, u, v, f.prog);
  std::vector<float> sum = numbers(15);
  for (unsigned i = 0; i < 15; ++i) sum[i] -= 2 * c[i];
  CHECK(close(f.run<float>(w), sum));
  CHECK_THROWS(
      tensor_creation_error,
      "poplin::matMulAcc: the product of {1,4} and {4,5} is added to a tensor of shape {3,5}",
      poplin::matMulAcc(g, w, 1, u.slice(0, 1), v, f.prog));
  CHECK_THROWS(tensor_creation_error,
               "matMulGroupedAcc: the product of {1,3,4} and {1,4,5} is added to a tensor of shape "
               "{2,3,5}",
               poplin::matMulGroupedAcc(g, w.expand({0}).broadcast(2, 0), 1, u.expand({0}),
                                        v.expand({0}), f.prog));
  CHECK_THROWS(tensor_creation_error, "{3,4} and {3,4}", poplin::matMul(g, u, u, f.prog));
  CHECK_THROWS(type_error, "half and float", poplin::matMul(g, x, v, f.prog));
  CHECK(close(f.run<float>(poplin::matMul(g, x, y, f.prog, FLOAT)), c));
  Tensor rounded = poplin::matMul(g, u, v, f.prog, HALF, "rounded");
  CHECK(rounded.elementType() == HALF);
  CHECK(close(f.run<float>(popops::cast(g, rounded, FLOAT, f.prog)), c));
}

// The cycles of the product.
unsigned long long cycles_of_product(Fixture &f, const Tensor &x, const Tensor &y,
                                     const char *proportion, std::vector<float> &result)
{
  Sequence prog;
  Tensor z =
      poplin::matMul(f.graph, x, y, prog, "product", {{"availableMemoryProportion", proportion}});
  Tensor cycles = cycleCount(f.graph, prog, 0, SyncType::INTERNAL);
  f.prog.add(prog);
  result = f.run<float>(z);
  std::vector<unsigned> halves = f.run<unsigned>(cycles);
  return halves[0] + (static_cast<unsigned long long>(halves[1]) << 32);
}

void options_of_products()
{
  Fixture f(2);
  auto &g = f.graph;
  poplin::addCodelets(g);
  std::vector<float> a = numbers(6 * 70), b = numbers(70 * 4, 0.5f), c = product(a, b, 6, 70, 4), z;
  Tensor x = f.input(FLOAT, {6, 70}, a), y = f.input(FLOAT, {70, 4}, b);
  unsigned long long few = cycles_of_product(f, x, y, "0.6", z);
  CHECK(close(z, c));
  unsigned long long some = cycles_of_product(f, x, y, "0.002", z);
  CHECK(close(z, c));
  unsigned long long most = cycles_of_product(f, x, y, "0", z);
  CHECK(close(z, c));
  CHECK(few < some && some < most);

  // 1 + EPSILON / 2 is half way between two halves, so the sum of partial sums shows in which type
  // they were stored.
  const float EPSILON = 1 / 1024.f;
  std::vector<float> ones(64, 1.f), tiny(64, 0.f);
  tiny[0] = 1;
  tiny[32] = EPSILON / 2;
  tiny[33] = EPSILON / 4;
  Tensor u = f.input(HALF, {1, 64}, ones), v = f.input(HALF, {64, 1}, tiny);
  auto sum = [&](const char *partials) {
    return f.run<float>(
        poplin::matMul(g, u, v, f.prog, FLOAT, "sum",
                       {{"partialsType", partials}, {"availableMemoryProportion", "0"}}))[0];
  };
  CHECK(sum("float") == 1 + EPSILON / 2 + EPSILON / 4);
  CHECK(sum("half") == 1 + EPSILON || sum("half") == 1);
  poplin::matmul::PlanningCache cache;
  const OptionFlags hints = {{"fullyConnectedPass", "INFERENCE_FWD"},
                             {"use128BitConvUnitLoad", "true"},
                             {"enableFastReduce", "true"},
                             {"remapOutputTensor", "false"}};
  CHECK(close(f.run<float>(poplin::matMul(g, x, y, f.prog, FLOAT, "hints", hints, &cache)), c));
  CHECK_THROWS(invalid_option, "poplin::matMul: there is no option 'partialType'; it has avail",
               poplin::matMul(g, x, y, f.prog, "", {{"partialType", "half"}}));
  CHECK_THROWS(invalid_option, "'partialsType' is 'int'; it must be half|float",
               poplin::matMul(g, x, y, f.prog, "", {{"partialsType", "int"}}));
  CHECK_THROWS(invalid_option, "'1.5'; it must be a number from 0 to 1",
               poplin::matMul(g, x, y, f.prog, "", {{"availableMemoryProportion", "1.5"}}));
  CHECK_THROWS(invalid_option, "'0.5x'",
               poplin::matMul(g, x, y, f.prog, "", {{"availableMemoryProportion", "0.5x"}}));
  CHECK_THROWS(invalid_option, "'half|float'",
               poplin::matMul(g, x, y, f.prog, "", {{"partialsType", "half|float"}}));
  CHECK_THROWS(type_error, "int", poplin::matMul(g, x, y, f.prog, INT));
  CHECK_THROWS(
      invalid_option, "accumType.interTile, accumType.inVertex",
      popops::reduce(g, x, {0}, popops::Operation::ADD, f.prog, "", {{"accumType", "half"}}));
  std::vector<float> grouped = numbers(2 * 3 * 4), more = numbers(2 * 4 * 5), both;
  for (std::size_t i = 0; i < 2; ++i) {
    auto one = product({&grouped[i * 12], &grouped[i * 12] + 12},
                       {&more[i * 20], &more[i * 20] + 20}, 3, 4, 5);
    both.insert(both.end(), one.begin(), one.end());
  }
  Tensor p = poplin::createMatMulGroupedInputLHS(g, FLOAT, FLOAT, {2, 3, 4}, {2, 4, 5}),
         q = poplin::createMatMulGroupedInputRHS(g, FLOAT, FLOAT, {2, 3, 4}, {2, 4, 5});
  f.prog.add(Copy(f.input(FLOAT, {2, 3, 4}, grouped), p));
  f.prog.add(Copy(f.input(FLOAT, {2, 4, 5}, more), q));
  CHECK(close(f.run<float>(poplin::matMulGrouped(g, p, q, f.prog, FLOAT)), both));
  CHECK_THROWS(tensor_creation_error, "{2,3,4} and {3,4}; {groups,m,k} and {groups,k,n}",
               poplin::matMulGrouped(g, p, p[0], f.prog, FLOAT));
  CHECK_THROWS(tensor_creation_error, "createMatMulInputLHS: shapes [m,k] and [k,n]",
               poplin::createMatMulInputLHS(g, FLOAT, {3, 4}, {3, 4}));
  CHECK_THROWS(tensor_creation_error, "shapes [groups,m,k]",
               poplin::createMatMulGroupedInputRHS(g, FLOAT, FLOAT, {2, 3, 4}, {3, 4, 5}));
}

// Products written or added to an existing tensor, and operands that are arranged only once.
void products_with_output()
{
  Fixture f(16);
  auto &g = f.graph;
  poplin::addCodelets(g);
  std::vector<float> a = numbers(2 * 8 * 4), b = numbers(2 * 4 * 6, 0.5f), c;
  for (std::size_t i = 0; i < 2; ++i) {
    auto one = product({&a[i * 32], &a[i * 32] + 32}, {&b[i * 24], &b[i * 24] + 24}, 8, 4, 6);
    c.insert(c.end(), one.begin(), one.end());
  }
  Tensor x = f.input(FLOAT, {2, 8, 4}, a), y = f.input(FLOAT, {2, 4, 6}, b);
  Tensor out = poplin::createMatMulGroupedOutput(g, FLOAT, FLOAT, {2, 8, 4}, {2, 4, 6});
  CHECK((out.shape() == std::vector<std::size_t>{2, 8, 6}));
  poplin::matMulGroupedWithOutput(g, x, y, out, f.prog);
  CHECK(close(f.run<float>(out), c));
  Tensor z = poplin::matMulGrouped(g, x, y, f.prog, FLOAT);
  CHECK(g.getTileMapping(out) == g.getTileMapping(z));

  std::vector<float> sum = numbers(c.size());
  Tensor w = f.input(FLOAT, {2, 8, 6}, sum), scale = f.input(FLOAT, {}, std::vector<float>{.5f});
  poplin::matMulGroupedAcc(g, w, -2, x, y, f.prog);
  poplin::matMulGroupedAcc(g, w, scale, x, y, f.prog);
  for (std::size_t i = 0; i < c.size(); ++i) sum[i] -= 1.5f * c[i];
  CHECK(close(f.run<float>(w), sum));

  Tensor one = poplin::createMatMulOutput(g, FLOAT, {8, 4}, {4, 6});
  Tensor arranged = poplin::preArrangeMatMulInputRHS(g, {8, 4}, y[1], f.prog, FLOAT);
  poplin::matMulWithOutput(g, x[1], arranged, one, f.prog, "", {{"inputRHSIsPreArranged", "true"}});
  CHECK(close(f.run<float>(one), {c.begin() + 48, c.end()}));
  Tensor both = poplin::preArrangeMatMulGroupedInputRHS(g, {2, 8, 4}, y, f.prog, FLOAT);
  CHECK(f.run<float>(both) == b);
  CHECK((g.getTileMapping(both) == g.getTileMapping(poplin::createMatMulGroupedInputRHS(
                                       g, FLOAT, FLOAT, {2, 8, 4}, {2, 4, 6}))));
  CHECK((poplin::transposeGroupedMatrix(x).shape() == std::vector<std::size_t>{2, 4, 8}));
  CHECK_THROWS(tensor_creation_error, "createMatMulOutput: shapes [m,k] and [k,n] are needed",
               poplin::createMatMulOutput(g, FLOAT, {3, 4}, {3, 4}));
  CHECK_THROWS(type_error, "poplin::createMatMulOutput: operands of type int",
               poplin::createMatMulOutput(g, INT, FLOAT, {3, 4}, {4, 3}));
  CHECK_THROWS(invalid_option, "'half|float'",
               poplin::matmulValidateOptions({{"partialsType", "half|float"}}));
}

void grids()
{
  Fixture f(4);
  auto &g = f.graph;
  Tensor x = poplin::linspace(g, FLOAT, -1, 2, 7), y = poplin::linspace(g, FLOAT, 5, 0, 3);
  CHECK((f.run<float>(x) == std::vector<float>{-1, -.5, 0, .5, 1, 1.5, 2}));
  CHECK((f.run<float>(poplin::linspace(g, FLOAT, 3, 4, 1)) == std::vector<float>{3}));
  std::vector<Tensor> grid = poplin::meshgrid2d(g, x, y);
  CHECK(grid.size() == 2);
  std::vector<float> columns = f.run<float>(grid[0]), rows = f.run<float>(grid[1]);
  for (std::size_t i = 0; i < 21; ++i) {
    CHECK(columns[i] == -1 + .5f * static_cast<float>(i % 7));
    CHECK(rows[i] == 5 - 2.5f * static_cast<float>(i - i % 7) / 7);
  }
  CHECK((f.run<float>(poplin::linspace(g, FLOAT, -3e38f, 3e38f, 3)) ==
         std::vector<float>{-3e38f, 0, 3e38f}));
  CHECK_THROWS(poplar_error, "poplin::linspace: values of type int",
               poplin::linspace(g, INT, 0, 1, 2));
  CHECK_THROWS(poplar_error, "poplin::meshgrid2d: tensors of shapes {3,7}",
               poplin::meshgrid2d(g, grid[0], y));
  CHECK_THROWS(poplar_error, "poplin::meshgrid2d: elements of type float and half",
               poplin::meshgrid2d(g, x, poplin::linspace(g, HALF, 0, 1, 3)));
}

// The input transform in one dimension, as ConvParams documents it.
std::vector<float> transformed(std::vector<float> x, const poplin::ConvParams::InputTransform &t)
{
  x = {x.begin() + t.truncationLower[0], x.end() - t.truncationUpper[0]};
  std::vector<float> result(t.paddingLower[0]);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i) result.resize(result.size() + t.dilation[0] - 1);
    result.push_back(x[i]);
  }
  result.resize(result.size() + t.paddingUpper[0]);
  if (t.flip[0]) result = {result.rbegin(), result.rend()};
  return result;
}
std::vector<float> convolved(const poplin::ConvParams &p, const std::vector<float> &in,
                             const std::vector<float> &weights)
{
  const std::size_t f = p.inputFieldShape[0], k = p.kernelShape[0],
                    each = p.inputChannelsPerConvGroup;
  const poplin::ConvParams::OutputTransform &o = p.outputTransform;
  std::vector<float> result;
  for (std::size_t b = 0; b < p.batchSize; ++b)
    for (std::size_t c = 0; c < p.getNumOutputChans(); ++c) {
      std::vector<float> sums(p.getUntransformedOutputSize(0));
      for (std::size_t i = 0; i < each; ++i) {
        std::size_t channel = c / p.outputChannelsPerConvGroup * each + i;
        auto x = &in[(b * p.getNumInputChans() + channel) * f], w = &weights[(c * each + i) * k];
        std::vector<float> xs = transformed({x, x + f}, p.inputTransform),
                           ws = transformed({w, w + k}, p.kernelTransform);
        for (std::size_t at = 0; at < sums.size(); ++at)
          for (std::size_t j = 0; j < ws.size(); ++j) sums[at] += xs[at + j] * ws[j];
      }
      result.resize(result.size() + o.paddingLower[0]);
      for (std::size_t at = o.truncationLower[0]; at + o.truncationUpper[0] < sums.size();
           at += o.stride[0])
        result.push_back(sums[at]);
      result.resize(result.size() + o.paddingUpper[0]);
    }
  return result;
}

float dot(const std::vector<float> &a, const std::vector<float> &b)
{
  float sum = 0;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) sum += a[i] * b[i];
  return a.size() == b.size() ? sum : NAN;
}

// Each element of the input is convolved with each element of the kernel. The results that are not
// zero show which elements belong together.
void elements_of_convolutions(const poplin::ConvParams &whole)
{
  poplin::ConvParams p = whole;
  p.batchSize = p.inputChannelsPerConvGroup = p.outputChannelsPerConvGroup = p.numConvGroups = 1;
  const unsigned field = unsigned(p.inputFieldShape[0]), kernel = unsigned(p.kernelShape[0]),
                 size = unsigned(p.getOutputSize(0));
  using Range = std::pair<unsigned, unsigned>;
  const auto widen = [](Range &r, unsigned i) {
    r = r.second ? Range{std::min(r.first, i), std::max(r.second, i + 1)} : Range{i, i + 1};
  };
  std::vector<Range> of_output(size), of_kernel(kernel), of_input(field);
  std::vector<unsigned> found(size * kernel, ~0u), found_k(size * field, ~0u);
  for (unsigned i = 0; i < field; ++i)
    for (unsigned k = 0; k < kernel; ++k) {
      std::vector<float> x(field), w(kernel);
      x[i] = w[k] = 1;
      std::vector<float> y = convolved(p, x, w);
      for (unsigned o = 0; o < size; ++o)
        if (y[o] != 0) {
          found[o * kernel + k] = i;
          found_k[o * field + i] = k;
          widen(of_output[o], i);
          widen(of_kernel[k], o);
          widen(of_input[i], o);
        }
    }
  for (unsigned o = 0; o < size; ++o) {
    for (unsigned k = 0; k < kernel; ++k)
      CHECK(poplin::getInputIndex(0, o, k, p) == found[o * kernel + k]);
    for (unsigned i = 0; i < field; ++i)
      CHECK(poplin::getKernelIndex(0, o, i, p) == found_k[o * field + i]);
    CHECK(poplin::getInputRange(0, o, p) == of_output[o]);
  }
  for (unsigned k = 0; k < kernel; ++k)
    CHECK(poplin::getOutputRangeForKernelIndex(0, {0, size}, k, p) == of_kernel[k]);
  for (unsigned i = 0; i < field; ++i) {
    CHECK(poplin::getOutputRangeForInputIndex(0, {0, size}, i, p) == of_input[i]);
    Range kernels = poplin::getKernelRange(0, {0, size}, i, p);
    CHECK((kernels == Range{0, 0}) == (of_input[i] == Range{0, 0}));
  }
}
// The inner product of each operand and its gradient equals that of the result and its gradient,
// with all transforms at once.
void gradients_of_convolutions(const poplin::ConvParams &p)
{
  const std::size_t f = p.inputFieldShape[0], k = p.kernelShape[0], out = p.getOutputSize(0),
                    g = p.numConvGroups, ci = p.inputChannelsPerConvGroup,
                    co = p.outputChannelsPerConvGroup, batch = p.batchSize;
  std::vector<float> x = numbers(batch * g * ci * f), w = numbers(g * co * ci * k, 0.5f),
                     dy = numbers(batch * g * co * out, 0.125f);
  const float whole = dot(convolved(p, x, w), dy);
  std::vector<float> turned(w.size());
  for (std::size_t i = 0; i < w.size(); ++i) {
    std::size_t at = i % k, c = i / k % ci, o = i / k / ci % co, group = i / k / ci / co;
    turned[((group * ci + c) * co + o) * k + k - 1 - at] = w[i];
  }
  poplin::ConvParams back = poplin::getGradientParams(p);
  CHECK(back.getOutputSize(0) == f && back.getNumOutputChans() == g * ci);
  CHECK(std::fabs(dot(convolved(back, dy, turned), x) - whole) < 1e-4f * std::fabs(whole));
  // [channels, groups, batch, field] and [groups, channels, batch, field]
  std::vector<float> rolled(x.size()), kernels(dy.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::size_t at = i % f, c = i / f % ci, group = i / f / ci % g, b = i / f / ci / g;
    rolled[((c * g + group) * batch + b) * f + at] = x[i];
  }
  for (std::size_t i = 0; i < dy.size(); ++i) {
    std::size_t at = i % out, c = i / out % (g * co), b = i / out / (g * co);
    kernels[(c * batch + b) * out + at] = dy[i];
  }
  poplin::ConvParams update = poplin::getWeightUpdateParams(p);
  CHECK(update.getOutputSize(0) == k);
  std::vector<float> dw = convolved(update, rolled, kernels), ordered(w.size());
  for (std::size_t i = 0; i < w.size(); ++i) {
    std::size_t at = i % k, c = i / k % ci, o = i / k / ci;
    ordered[i] = dw[(c * g * co + o) * k + at];
  }
  CHECK(std::fabs(dot(ordered, w) - whole) < 1e-4f * std::fabs(whole));
}

void convolutions()
{
  using poplin::ConvParams;
  const ConvParams cases[] = {{FLOAT, 2, {9}, {3}, 2, 3, 1},
                              {FLOAT,
                               FLOAT,
                               1,
                               {8},
                               {4},
                               2,
                               2,
                               2,
                               {{1}, {2}, {2}, {3}, {1}, {true}},
                               {{1}, {0}, {2}, {1}, {0}, {true}},
                               {{1}, {2}, {2}, {1}, {2}}},
                              {FLOAT,
                               FLOAT,
                               2,
                               {7},
                               {3},
                               1,
                               2,
                               2,
                               {{0}, {0}, {1}, {0}, {4}, {true}},
                               {{0}, {1}, {1}, {0}, {2}, {false}},
                               {{0}, {1}, {3}, {0}, {0}}}};
  for (const ConvParams &p : cases) {
    elements_of_convolutions(p);
    gradients_of_convolutions(p);
    Fixture f(5);
    poplin::addCodelets(f.graph);
    std::vector<float> a = numbers(p.batchSize * p.getNumInputChans() * p.inputFieldShape[0]),
                       b = numbers(p.getNumOutputChans() * p.inputChannelsPerConvGroup *
                                       p.kernelShape[0],
                                   0.5f);
    Tensor in = poplin::createInput(f.graph, p, "in"),
           weights = poplin::createWeights(f.graph, p, "weights");
    f.prog.add(Copy(f.input(FLOAT, in.shape(), a), in));
    f.prog.add(Copy(f.input(FLOAT, weights.shape(), b), weights));
    Tensor out = poplin::convolution(f.graph, in, weights, p, false, f.prog, "convolution");
    CHECK((out.shape() ==
           std::vector<std::size_t>{p.batchSize, p.getNumOutputChans(), p.getOutputSize(0)}));
    CHECK(close(f.run<float>(out), convolved(p, a, b)));
    // With all elements 1, an element of the result is the number of its products.
    std::vector<float> ones(a.size(), 1), weightOnes(b.size(), 1);
    double products = 0;
    for (float count : convolved(p, ones, weightOnes)) products += double(count);
    CHECK(double(poplin::getFwdFlops(p)) == 2 * products);
    // Each tile makes two products of floats at once.
    const double cycles = products / (2 * f.graph.getTarget().getNumTiles());
    CHECK(std::abs(poplin::getFwdPerfectCycleCount(f.graph, p) - cycles) < 1e-9 * cycles);
    CHECK(poplin::getWuPerfectCycleCount(f.graph, p) ==
          poplin::getBwdPerfectCycleCount(f.graph, p));
  }
  // Plans are made in advance.
  const OptionFlags wrong{{"pas", "NONE"}}, right{{"pass", "NONE_FWD"}}, none;
  poplin::PlanningCache cache;
  const Target target = Target::createIPUTarget(1, "ipu2");
  const poplin::MatMulParams product{FLOAT, FLOAT, {2, 3}, {3, 4}};
  poplin::preplan({poplin::ConvPlanParams(&target, cases[0], &none)},
                  {poplin::MatMulPlanParams(&target, product, &none)}, cache);
  CHECK_THROWS(invalid_option, "'pas'",
               poplin::preplan({poplin::ConvPlanParams(&target, cases[0], &wrong)}, {}, cache));
  CHECK_THROWS(invalid_option, "'NONE_FWD'", poplin::convolutionValidateOptions(right));
  // A convolution is linear in both operands. So the inner product of each operand and its gradient
  // equals that of the result and its gradient.
  ConvParams p(FLOAT, FLOAT, 2, {6, 5}, {3, 2}, 2, 3, 2);
  p.inputTransform.paddingLower = {1, 0};
  p.outputTransform.stride = {2, 1};
  Fixture f(5);
  auto &g = f.graph;
  poplin::addCodelets(g);
  Tensor x = f.input(FLOAT, {2, 4, 6, 5}, numbers(240)),
         w = f.input(FLOAT, {2, 3, 2, 3, 2}, numbers(72));
  Tensor y = poplin::convolution(g, x, w, p, false, f.prog);
  Tensor dy = f.input(FLOAT, y.shape(), numbers(y.numElements(), 0.5f));
  float whole = dot(f.run<float>(y), f.run<float>(dy));
  Tensor dw = poplin::calculateWeightDeltas(g, dy, x, p, f.prog);
  CHECK(dw.shape() == w.shape());
  CHECK(std::fabs(dot(f.run<float>(dw), f.run<float>(w)) - whole) < 1e-3f * std::fabs(whole));
  Tensor dx = poplin::convolution(g, dy, w, poplin::getGradientParams(p), true, f.prog);
  CHECK(dx.shape() == x.shape());
  CHECK(std::fabs(dot(f.run<float>(dx), f.run<float>(x)) - whole) < 1e-3f * std::fabs(whole));
  Tensor biases = poplin::createBiases(g, y), before = poputil::duplicate(g, y, f.prog);
  f.prog.add(Copy(f.input(FLOAT, {6}, numbers(6)), biases));
  poplin::addBias(g, y, biases, f.prog);
  std::vector<float> sums = f.run<float>(before);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += numbers(6)[i / 12 % 6];
  CHECK(close(f.run<float>(y), sums));
  poplin::convolutionWeightUpdate(g, dy, w, x, p, -0.5f, f.prog);
  std::vector<float> updated = numbers(72), gradient = f.run<float>(dw);
  for (std::size_t i = 0; i < 72; ++i) updated[i] -= gradient[i] / 2;
  CHECK(close(f.run<float>(w), updated));
  Tensor scale = f.input(FLOAT, {}, std::vector<float>{0.25f});
  poplin::convolutionWeightUpdate(g, dy, w, x, p, scale, f.prog);
  for (std::size_t i = 0; i < 72; ++i) updated[i] += gradient[i] / 4;
  CHECK(close(f.run<float>(w), updated));
  Tensor more = poplin::createBiases(g, y, p, "more", {{"partialsType", "half"}});
  popops::zero(g, more, f.prog);
  poplin::convolutionBiasUpdate(g, dy, more, scale, {}, f.prog);
  poplin::convolutionBiasUpdate(g, dy, more, 0.75f, {}, f.prog);
  const Tensor one = more.slice(0, 1), turnedBiases = f.input(FLOAT, {4, 1}, numbers(4));
  CHECK_THROWS(tensor_creation_error, "poplin::addBias: biases of shape {1} for",
               poplin::addBias(g, y, one, f.prog));
  CHECK_THROWS(tensor_creation_error, "poplin::addBias: biases of shape {4,1} for",
               poplin::addBias(g, y, turnedBiases, f.prog));
  CHECK_THROWS(
      tensor_creation_error, "poplin::convolutionBiasUpdate: biases of shape {2,6} for",
      poplin::convolutionBiasUpdate(g, dy, more.expand({0}).broadcast(2, 0), 1.f, {}, f.prog));
  CHECK_THROWS(tensor_creation_error, "convolutionWeightUpdate: the weights has another shape",
               poplin::convolutionWeightUpdate(g, dy, w.expand({0}), x, p, 1.f, f.prog));
  std::vector<float> ofBias(6), deltas = f.run<float>(dy);
  for (std::size_t i = 0; i < deltas.size(); ++i) ofBias[i / 12 % 6] += deltas[i];
  CHECK(close(f.run<float>(more), ofBias));
  Tensor turned = g.addVariable(FLOAT, {2, 2, 3, 3, 2}, VariableMappingMethod::LINEAR);
  poplin::weightsTransposeChansFlipXY(g, w, turned, f.prog, "turned", {{"pass", "TRAINING_BWD"}});
  const std::vector<float> flipped = f.run<float>(turned);
  for (std::size_t i = 0; i < 72; ++i) {
    const std::size_t group = i / 36, o = i / 12 % 3, in = i / 6 % 2, kernel = i % 6;
    CHECK(flipped[((group * 2 + in) * 3 + o) * 6 + 5 - kernel] == updated[i]);
  }
  // Without a field it is a product of matrices.
  ConvParams plain(FLOAT, 2, {}, {}, 3, 2, 1);
  Tensor u = f.input(FLOAT, {2, 3}, numbers(6)), v = f.input(FLOAT, {2, 2}, numbers(4, 0.5f));
  Tensor dv = poplin::calculateWeightDeltas(g, v, u, plain, f.prog);
  CHECK((dv.shape() == std::vector<std::size_t>{1, 2, 3}));
  const std::vector<float> vt = {numbers(4, 0.5f)[0], numbers(4, 0.5f)[2], numbers(4, 0.5f)[1],
                                 numbers(4, 0.5f)[3]};
  CHECK(close(f.run<float>(dv), ::product(vt, numbers(6), 2, 2, 3)));
  // Of a kernel or an input that is cut off completely, zeros of the padding remain.
  for (bool ofInput : {false, true}) {
    ConvParams none(FLOAT, 2, {5}, {2}, 3, 4, 1);
    ConvParams::InputTransform &cut = ofInput ? none.inputTransform : none.kernelTransform;
    cut.truncationLower = {ofInput ? 4u : 1u};
    cut.truncationUpper = {ofInput ? 2u : 1u};
    cut.paddingUpper = {ofInput ? 6u : 2u};
    none.validate();
    Tensor zeros =
        poplin::convolution(g, f.input(FLOAT, {2, 3, 5}, numbers(30)),
                            f.input(FLOAT, {1, 4, 3, 2}, numbers(24)), none, false, f.prog);
    CHECK((zeros.shape() == std::vector<std::size_t>{2, 4, 4}));
    CHECK(f.run<float>(zeros) == std::vector<float>(32));
  }
  CHECK_THROWS(poplar_error, "the kernel is not larger", ConvParams(FLOAT, 1, {2}, {3}, 1, 1, 1));
  CHECK_THROWS(tensor_creation_error, "the input has another shape",
               poplin::convolution(g, x[0].expand({0}), w, p, false, f.prog));
  CHECK_THROWS(invalid_option, "'pas'",
               poplin::convolution(g, x, w, p, false, f.prog, "", {{"pas", "NONE"}}));
  p.outputTransform.truncationLower = {1, 0};
  CHECK_THROWS(poplar_error, "calculateWeightDeltas: gradients are there for",
               poplin::calculateWeightDeltas(g, dy, x, p, f.prog));
}
} // namespace

int main()
{
  std::setlocale(LC_ALL, "");
  matrix_products();
  options_of_products();
  products_with_output();
  grids();
  convolutions();
  return failures != 0;
}
