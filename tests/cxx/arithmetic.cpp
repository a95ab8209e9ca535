// Sums with two scales, and what is between variances and deviations: of each type, with numbers and with tensors as scales.
#include "small_graph.hpp"

#include <cmath>
#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/ScaledAdd.hpp>
#include <popops/codelets.hpp>

using namespace poplar;
using namespace poplar::program;
using popops::ScaledAddSpecialisation;

namespace
{

struct Sums : SmallGraph {
  Sequence program;
  Sums() : SmallGraph("#include <poplar/Vertex.hpp>\n") { popops::addCodelets(graph); }

  Tensor values(const Type &type, const std::vector<float> &numbers)
  {
    Tensor t = graph.addVariable(type, {numbers.size()});
    for (std::size_t i = 0; i < numbers.size(); ++i)
      graph.setTileMapping(t[i], static_cast<unsigned>(i % 4));
    graph.setInitialValue(t, numbers);
    return t;
  }
  Tensor number(const Type &type, float value)
  {
    Tensor t = graph.addConstant(type, {}, value);
    graph.setTileMapping(t, 1);
    return t;
  }
  std::vector<float> floats(const Tensor &t)
  {
    return result<float>(*this, program,
                         t.elementType() == FLOAT ? t : popops::cast(graph, t, FLOAT, program));
  }
};

const std::vector<float> x = {1, -2, 0.5f, 100, 0}, y = {3, 4, -8, 2, 7};

std::vector<float> expected(float a, float b)
{
  std::vector<float> all(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) all[i] = a * x[i] + b * y[i];
  return all;
}

void two_scales()
{
  for (const Type &type : {FLOAT, HALF}) {
    Sums f;
    Tensor a = f.values(type, x), b = f.values(type, x), c = f.values(type, x),
           d = f.values(type, x), e = f.values(type, x), with = f.values(type, y);
    popops::scaledAddTo(f.graph, a, 2.0f, with, -0.5f, f.program);
    popops::scaledAddTo(f.graph, b, f.number(FLOAT, 2), with, f.number(type, -0.5f), f.program);
    popops::scaledAddTo(f.graph, c, 0.25f, with, 2.0f, f.program,
                        ScaledAddSpecialisation::X_MINUS_AX_PLUS_BY);
    popops::scaledSubtractFrom(f.graph, d, 2.0f, with, 4.0f, f.program);
    popops::scaledSubtractFrom(f.graph, e, f.number(type, 2), with, f.number(type, 4), f.program);
    const std::vector<float> all = f.floats(concat({a, b, c, d, e}));
    std::vector<float> right;
    for (const auto &part : {expected(2, -0.5f), expected(2, -0.5f), expected(0.75f, 2),
                             expected(2, -4), expected(2, -4)})
      right.insert(right.end(), part.begin(), part.end());
    CHECK(all == right);
  }
}

// A scale that no half holds counts all the same, and the sum is rounded once.
void halves_are_rounded_once()
{
  Sums f;
  Tensor a = f.values(HALF, {1.0f / 1024, 1}), with = f.values(HALF, {20000, 3});
  popops::scaledAddTo(f.graph, a, 1.0f, with, 3e-9f, f.program);
  const std::vector<float> got = f.floats(a);
  CHECK(std::fabs(got[0] - (1.0f / 1024 + 6e-5f)) < 1e-6f && got[1] == 1);
  Tensor integers = f.graph.addVariable(INT, {3});
  f.graph.setTileMapping(integers, 2);
  f.graph.setInitialValue(integers, std::vector<int>{1, -2, 3});
  popops::scaledAddTo(f.graph, integers, 3.0f, integers, -1.0f, f.program);
  CHECK((result<int>(f, f.program, integers) == std::vector<int>{2, -4, 6}));
  CHECK_THROWS(poplar_error, "a scale has one element, not 2",
               popops::scaledAddTo(f.graph, a, with, with, with, f.program));
}

void deviations()
{
  Sums f;
  Tensor variances = f.values(FLOAT, {4, 0.25f, 15});
  Tensor halves = popops::varianceToInvStdDev(f.graph, variances, 0.0f, f.program);
  Tensor more =
      popops::varianceToInvStdDev(f.graph, variances, f.number(FLOAT, 1), f.program, FLOAT);
  Tensor back = popops::invStdDevToVariance(f.graph, halves, 0.0f, f.program);
  Tensor less = popops::invStdDevToVariance(f.graph, more, f.number(FLOAT, 1), f.program);
  CHECK(halves.elementType() == HALF && back.elementType() == FLOAT);
  const std::vector<float> got =
      f.floats(concat({popops::cast(f.graph, halves, FLOAT, f.program), more, back, less}));
  const float right[] = {0.5f, 2, 0.2582f, 0.4472f, 0.8944f, 0.25f, 4, 0.25f, 15, 4, 0.25f, 15};
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK(std::fabs(got[i] - right[i]) <= 2e-3f * right[i]);
}

} // namespace

int main()
{
  two_scales();
  halves_are_rounded_once();
  deviations();
  return failures != 0;
}
