// Sums with two scales, and conversions between variances and deviations: for each type, with
// numbers and with tensors as scales.
#include "small_graph.hpp"

#include <cmath>
#include <poplar/IPUModel.hpp>
#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Fill.hpp>
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
  // Scales of integers have no fractions.
  Sums f;
  Tensor a = f.values(INT, {10, 20}), b = f.values(INT, {1, 2}), half = f.number(FLOAT, 0.5f);
  popops::scaledAddTo(f.graph, a, 3.0f, b, -2.0f, f.program);
  CHECK((result<int>(f, f.program, a) == std::vector<int>{28, 56}));
  CHECK_THROWS(type_error, "0.5", popops::scaledAddTo(f.graph, a, 0.5f, b, 2.0f, f.program));
  CHECK_THROWS(type_error, "int and float",
               popops::scaledAddTo(f.graph, a, half, b, half, f.program));
}

// A scale that is too small for a half is still applied, and the sum is rounded once.
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

// Conversions in the type of the input, in place or to another tensor, with a number as either
// operand.
void deviations_as_operations()
{
  Sums f;
  const std::vector<float> v = {4, 0.25f, 15};
  Tensor a = f.values(FLOAT, v), b = f.values(FLOAT, v), half = f.values(HALF, v),
         out = f.values(HALF, {0, 0, 0}), out2 = f.values(FLOAT, {0, 0, 0}),
         epsilons = f.values(FLOAT, {0, 0.75f, 1});
  Tensor c = popops::varianceToInvStdDev(f.graph, a, epsilons, f.program, "c"),
         d = popops::varianceToInvStdDev(f.graph, half, 1.0f, f.program, "d"),
         e = popops::invStdDevToVariance(f.graph, 0.5f, epsilons, f.program);
  popops::varianceToInvStdDevInPlace(f.graph, a, 0.0f, f.program);
  popops::varianceToInvStdDevInPlace(f.graph, b, epsilons, f.program);
  popops::varianceToInvStdDevWithOutput(f.graph, epsilons, 0.25f, out, f.program);
  popops::invStdDevToVarianceWithOutput(f.graph, a, 0.0f, out2, f.program);
  CHECK(c.elementType() == FLOAT && d.elementType() == HALF && e.elementType() == FLOAT);
  const std::vector<float> got =
      f.floats(concat({c, popops::cast(f.graph, d, FLOAT, f.program), e, a, b,
                       popops::cast(f.graph, out, FLOAT, f.program), out2}));
  const float right[] = {0.5f, 1, 0.25f, 0.4472f, 0.8944f, 0.25f,   4, 3.25f, 3, 0.5f, 2, 0.2582f,
                         0.5f, 1, 0.25f, 2,       1,       0.8944f, 4, 0.25f, 15};
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK(std::fabs(got[i] - right[i]) <= 2e-3f * right[i]);
}

// Several expressions of the same tensors all use the values from before.
void many_expressions()
{
  namespace pe = popops::expr;
  using pe::operator""_half;
  Sums f;
  Tensor a = f.values(FLOAT, x), b = f.values(FLOAT, y), sum = f.values(FLOAT, x),
         greater = f.graph.addVariable(BOOL, {x.size()}, VariableMappingMethod::LINEAR);
  const std::vector<Tensor> made =
      popops::map(f.graph, {pe::Add(pe::_1, pe::_2), pe::Mul(pe::_1, pe::_2)}, {a, b}, f.program);
  popops::mapWithOutput(f.graph, {pe::Any(pe::_1 + pe::_2), pe::Any(pe::_1 > pe::_2)}, {a, b},
                        std::vector<Tensor>{sum, greater}, f.program);
  popops::mapInPlace(f.graph, std::vector<pe::Any>{pe::_2, pe::_1}, {a, b}, f.program);
  Tensor seven = f.values(FLOAT, x), first = f.values(FLOAT, x); // repeated to the outputs' shape
  popops::mapWithOutput(f.graph, {pe::Any(pe::Const(7.0f)), pe::Any(pe::_1)}, {b[0]},
                        std::vector<Tensor>{seven, first}, f.program);
  CHECK(pe::deepEquals(pe::Add(pe::_1, pe::Const(2)), pe::_1 + pe::Const(2)));
  CHECK(pe::Any(pe::Abs(pe::_1)).deepEquals(pe::Abs(pe::_1)));
  CHECK(!pe::deepEquals(pe::Add(pe::_1, pe::Const(2)), pe::Add(pe::_1, pe::Const(2.0f))));
  CHECK(pe::deepEquals(1.5_half, pe::ConstHalf(1.5f)) &&
        !pe::deepEquals(1.5_half, pe::Const(1.5f)));
  CHECK(!pe::deepEquals(pe::Sub(pe::_1, pe::_2), pe::Sub(pe::_2, pe::_1)));
  CHECK_THROWS(poplar_error, "no tensor", popops::mapInPlace(f.graph, pe::_1, {}, f.program));
  CHECK_THROWS(tensor_creation_error, "is null",
               popops::addWithOutput(f.graph, a, b, Tensor(), f.program));
  CHECK_THROWS(poplar_error, "2 expressions and 1 tensors",
               popops::mapInPlace(f.graph, std::vector<pe::Any>{pe::_1, pe::_1}, {a}, f.program));
  Tensor doubled = f.values(FLOAT, y);
  popops::mulWithOutput(f.graph, 2, b, doubled, f.program);
  popops::subWithOutput(f.graph, doubled, 1.0f, doubled, f.program);
  CHECK(made.size() == 2 && f.floats(concat({made[0], sum})) == f.floats(concat({sum, made[0]})));
  CHECK(f.floats(sum) == expected(1, 1));
  CHECK(f.floats(seven) == std::vector<float>(5, 7) && f.floats(first) == std::vector<float>(5, 1));
  CHECK(f.floats(a) == y && f.floats(b) == x);
  CHECK((f.floats(doubled) == std::vector<float>{1, -5, 0, 199, -1}));
  CHECK((f.floats(made[1]) == std::vector<float>{3, -8, -4, 200, 0}));
  CHECK(
      (result<unsigned char>(f, f.program, greater) == std::vector<unsigned char>{0, 0, 1, 1, 0}));
}

// A tile of a target of one's own may have more elements than workers count in 16 bits.
void many_elements()
{
  IPUModel model;
  model.tilesPerIPU = 1;
  model.memoryBytesPerTile = 1 << 24;
  Device device = model.createDevice();
  Graph graph(device);
  popops::addCodelets(graph);
  const std::size_t count = 1700000;
  Tensor t = graph.addVariable(FLOAT, {count}, VariableMappingMethod::LINEAR);
  graph.createHostRead("t", t);
  Sequence program;
  popops::fill(graph, t, program, 2.5f);
  Engine engine(graph, program);
  engine.load(device);
  engine.run();
  std::vector<float> data(count);
  engine.readTensor("t", data.data(), data.data() + count);
  CHECK(data == std::vector<float>(count, 2.5f));
}

} // namespace

int main()
{
  two_scales();
  halves_are_rounded_once();
  deviations();
  deviations_as_operations();
  many_expressions();
  many_elements();
  return failures != 0;
}
