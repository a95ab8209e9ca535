// popops and poputil give the results of plain loops on the host, on a few tiles.
#include "check.hpp"
#include "fixture.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <popfloat/experimental/CastToHalf.hpp>
#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Fill.hpp>
#include <popops/GatherStatistics.hpp>
#include <popops/NaN.hpp>
#include <popops/Reduce.hpp>
#include <popops/ScaledAdd.hpp>
#include <popops/Zero.hpp>
#include <poputil/DebugInfo.hpp>
#include <poputil/Util.hpp>
#include <poputil/VertexTemplates.hpp>
#include <typeinfo>

using namespace poplar;
using namespace poplar::program;
using popops::expr::_1;
using popops::expr::_2;
using popops::expr::_3;
namespace pe = popops::expr;

enum class Way { UP, DOWN };
namespace poputil
{
template <> struct VertexTemplateToString<Way> {
  static std::string to_string(Way way) { return way == Way::UP ? "Way::UP" : "Way::DOWN"; }
};
} // namespace poputil

namespace
{

void unary_operations()
{
  Fixture f;
  const std::vector<float> x = numbers(50), positive = [&] {
    std::vector<float> p = x;
    for (float &v : p) v = std::fabs(v);
    return p;
  }();
  using Host = float (*)(float);
  struct {
    pe::UnaryOpType op;
    Host host;
    bool needsPositive;
  } const ops[] = {
      {pe::UnaryOpType::ABSOLUTE, [](float v) { return std::fabs(v); }, false},
      {pe::UnaryOpType::CBRT, [](float v) { return std::cbrt(v); }, false},
      {pe::UnaryOpType::GELU_ERF,
       [](float v) { return v * (1 + std::erf(v / std::sqrt(2.0f))) / 2; }, false},
      {pe::UnaryOpType::CEIL, [](float v) { return std::ceil(v); }, false},
      {pe::UnaryOpType::COS, [](float v) { return std::cos(v); }, false},
      {pe::UnaryOpType::ERF, [](float v) { return std::erf(v); }, false},
      {pe::UnaryOpType::EXPONENT, [](float v) { return std::exp(v); }, false},
      {pe::UnaryOpType::EXPONENT2, [](float v) { return std::exp2(v); }, false},
      {pe::UnaryOpType::EXPONENT_MINUS_ONE, [](float v) { return std::expm1(v); }, false},
      {pe::UnaryOpType::FLOOR, [](float v) { return std::floor(v); }, false},
      {pe::UnaryOpType::INVERSE, [](float v) { return 1 / v; }, false},
      {pe::UnaryOpType::LOGARITHM, [](float v) { return std::log(v); }, true},
      {pe::UnaryOpType::LOGARITHM_ONE_PLUS, [](float v) { return std::log1p(v); }, true},
      {pe::UnaryOpType::NEARBY_INT, [](float v) { return std::nearbyint(v); }, false},
      {pe::UnaryOpType::NEGATE, [](float v) { return -v; }, false},
      {pe::UnaryOpType::RELU, [](float v) { return v > 0 ? v : 0; }, false},
      {pe::UnaryOpType::ROUND, [](float v) { return std::round(v); }, false},
      {pe::UnaryOpType::RSQRT, [](float v) { return 1 / std::sqrt(v); }, true},
      {pe::UnaryOpType::SIGMOID, [](float v) { return 1 / (1 + std::exp(-v)); }, false},
      {pe::UnaryOpType::SIGNUM, [](float v) { return float((v > 0) - (v < 0)); }, false},
      {pe::UnaryOpType::SIN, [](float v) { return std::sin(v); }, false},
      {pe::UnaryOpType::SQRT, [](float v) { return std::sqrt(v); }, true},
      {pe::UnaryOpType::SQUARE, [](float v) { return v * v; }, false},
      {pe::UnaryOpType::TAN, [](float v) { return std::tan(v); }, false},
      {pe::UnaryOpType::TANH, [](float v) { return std::tanh(v); }, false},
      {pe::UnaryOpType::TRUNC, [](float v) { return std::trunc(v); }, false},
  };
  Tensor t = f.input(FLOAT, {5, 10}, x), p = f.input(FLOAT, {5, 10}, positive);
  std::vector<Tensor> results;
  std::vector<float> expected;
  for (const auto &op : ops) {
    results.push_back(popops::map(f.graph, op.op, op.needsPositive ? p : t, f.prog).flatten());
    for (float v : op.needsPositive ? positive : x) expected.push_back(op.host(v));
  }
  results.push_back(popops::asin(f.graph, popops::sin(f.graph, t, f.prog), f.prog).flatten());
  for (float v : x) expected.push_back(std::asin(std::sin(v)));
  CHECK(close(f.run<float>(concat(results)), expected));
  const std::vector<float> ends = {3e38f, -3e38f, 1e-40f};
  Tensor gelu = popops::geluErf(f.graph, f.input(FLOAT, {3}, ends), f.prog);
  CHECK((f.run<float>(gelu) == std::vector<float>{3e38f, 0, 5e-41f}));
}

void integers_and_truths()
{
  Fixture f(3);
  std::vector<int> a = {7, -8, 9, 1 << 20}, b = {2, 3, -4, 5};
  Tensor x = f.input(INT, {4}, a), y = f.input(INT, {4}, b);
  auto &g = f.graph;
  auto &s = f.prog;
  Tensor all = concat({popops::add(g, x, y, s), popops::sub(g, x, y, s), popops::mul(g, x, y, s),
                       popops::div(g, x, y, s), popops::rem(g, x, y, s), popops::max(g, x, y, s),
                       popops::min(g, x, y, s), popops::bitwiseAnd(g, x, y, s),
                       popops::bitwiseXor(g, x, y, s), popops::shiftLeft(g, x, 3, s),
                       popops::shiftRight(g, x, 28, s), popops::shiftRightSignExtend(g, x, 1, s),
                       popops::abs(g, x, s), popops::countLeadingZeros(g, x, s),
                       popops::popcount(g, x, s), popops::sub(g, 5, x, s)});
  std::vector<int> expected;
  const std::function<int(int, int)> host[] = {
      [](int p, int q) { return p + q; },
      [](int p, int q) { return p - q; },
      [](int p, int q) { return p * q; },
      [](int p, int q) { return p / q; },
      [](int p, int q) { return p % q; },
      [](int p, int q) { return p > q ? p : q; },
      [](int p, int q) { return p < q ? p : q; },
      [](int p, int q) { return p & q; },
      [](int p, int q) { return p ^ q; },
      [](int p, int) { return int(unsigned(p) << 3); },
      [](int p, int) { return int(unsigned(p) >> 28); },
      [](int p, int) { return p >> 1; },
      [](int p, int) { return p < 0 ? -p : p; },
      [](int p, int) { return __builtin_clz(unsigned(p)); },
      [](int p, int) { return __builtin_popcount(unsigned(p)); },
      [](int p, int) { return 5 - p; }};
  for (const auto &op : host)
    for (unsigned i = 0; i < 4; ++i) expected.push_back(op(a[i], b[i]));
  CHECK(f.run<int>(all) == expected);

  Tensor less = popops::lt(g, x, y, s),
         both = popops::logicalAnd(g, less, popops::gt(g, x, -9, s), s);
  Tensor chosen = popops::select(g, x, y, popops::logicalNot(g, less, s), s);
  CHECK(less.elementType() == BOOL);
  CHECK((f.run<unsigned char>(both) == std::vector<unsigned char>{0, 1, 0, 0}));
  CHECK((f.run<int>(chosen) == std::vector<int>{7, 3, 9, 1 << 20}));
  CHECK((f.run<int>(popops::map(g, pe::Clamp(_1, pe::Const(-3), _2), {x, y}, s)) ==
         std::vector<int>{2, -3, -4, 5}));
}

void elements_that_are_no_numbers()
{
  Fixture f(3);
  auto &g = f.graph;
  const float inf = std::numeric_limits<float>::infinity();
  for (const Type &type : {FLOAT, HALF}) {
    Tensor finite = f.input(FLOAT, {2, 3}, std::vector<float>{1, -2, 3, 0, 5, -6}),
           infinite = f.input(FLOAT, {2, 3}, std::vector<float>{1, 2, 3, -inf, 5, 6}),
           none = f.input(FLOAT, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, NAN});
    std::vector<Tensor> has;
    for (const Tensor &t : {finite, infinite, none}) {
      Tensor x = popops::cast(g, t, type, f.prog);
      has.push_back(popops::hasNaN(g, x, f.prog));
      has.push_back(popops::hasNaNOrInf(g, x, f.prog));
      CHECK(has.back().rank() == 0 && has.back().elementType() == BOOL);
    }
    Tensor all = concat({has[0].expand({0}), has[1].expand({0}), has[2].expand({0}),
                         has[3].expand({0}), has[4].expand({0}), has[5].expand({0})});
    CHECK((f.run<unsigned char>(all) == std::vector<unsigned char>{0, 0, 0, 1, 1, 1}));
    // The absolute of -0 is 0, of which the inverse is positive.
    Tensor x = popops::cast(g, f.input(FLOAT, {2}, std::vector<float>{-0.0f, -2}), type, f.prog);
    Tensor inverse = popops::inv(g, popops::abs(g, x, f.prog), f.prog);
    CHECK((f.run<float>(popops::cast(g, inverse, FLOAT, f.prog)) == std::vector<float>{inf, 0.5f}));
  }
}

// A constant takes the type of the other operand, if its value fits that type.
void constants_of_expressions()
{
  Fixture f;
  std::vector<int> a{1, -2, 3};
  Tensor i = f.input(INT, {3}, a), x = f.input(FLOAT, {1}, std::vector<float>{1});
  CHECK_THROWS(type_error, "the constant 5000000000 does not fit the elements of type int",
               popops::map(f.graph, _1 + pe::Const(5000000000LL), {i}, f.prog));
  CHECK_THROWS(type_error, "the constant 2.5 is combined with elements of type int",
               popops::mul(f.graph, i, 2.5, f.prog));
  CHECK((f.run<int>(popops::mul(f.graph, i, 2.0f, f.prog)) == std::vector<int>{2, -4, 6}));
  CHECK_THROWS(type_error, "the constant -1e+20 does not fit the elements of type int",
               popops::map(f.graph, pe::Max(_1, pe::Const(-1e20)), {i}, f.prog));
  CHECK_THROWS(type_error, "the constant 3000000000 does not fit the elements of type short",
               popops::map(f.graph, pe::Cast(pe::Const(3000000000u), SHORT), {}, f.prog));
  CHECK_THROWS(poplar_error, "9007199254740993 has more bits than are kept of a constant",
               pe::Const((1LL << 53) + 1));
  CHECK((f.run<int>(popops::map(f.graph, _1 + pe::Const(4294967295u), {i}, f.prog)) ==
         std::vector<int>{0, -3, 2}));
  CHECK(
      close(f.run<float>(popops::map(f.graph, _1 * pe::Const(5000000000LL), {x}, f.prog)), {5e9}));
  CHECK(close(f.run<float>(popops::map(f.graph, _1 + pe::Cast(pe::Const(2.75f), INT), {x}, f.prog)),
              {3}));
  // A cast of a constant has the value that the device would give it.
  const float of[] = {3e9f, -3e9f, 5e9f, -3, 2.75f, NAN, INFINITY, -INFINITY};
  Tensor zero = f.input(INT, {1}, std::vector<int>{0}),
         none = f.input(UNSIGNED_INT, {1}, std::vector<unsigned>{0});
  for (float value : of) {
    Tensor known = f.input(FLOAT, {1}, std::vector<float>{value});
    CHECK(f.run<int>(popops::map(f.graph, _1 + pe::Cast(pe::Const(value), INT), {zero}, f.prog)) ==
          f.run<int>(popops::cast(f.graph, known, INT, f.prog)));
    CHECK(f.run<unsigned>(popops::map(f.graph, _1 + pe::Cast(pe::Const(value), UNSIGNED_INT),
                                      {none}, f.prog)) ==
          f.run<unsigned>(popops::cast(f.graph, known, UNSIGNED_INT, f.prog)));
  }
  CHECK(
      close(f.run<float>(popops::map(
                f.graph, _1 * pe::Cast(pe::Cast(pe::Const(3000000000u), INT), FLOAT), {x}, f.prog)),
            {-1294967296.f}));
  CHECK(close(
      f.run<float>(popops::map(f.graph, _1 * pe::Cast(pe::Const(-1), UNSIGNED_INT), {x}, f.prog)),
      {4294967296.f}));
}

void expressions()
{
  Fixture f;
  std::vector<float> a = numbers(12), b = numbers(4, 0.5f);
  Tensor x = f.input(FLOAT, {3, 4}, a), y = f.input(FLOAT, {4}, b),
         z = f.input(FLOAT, {3, 1}, std::vector<float>{1, 2, 3});
  Tensor r = popops::map(f.graph, (_1 + 2) * _2 - pe::Select(_3, pe::Neg(_1), _1 > 0.5f), {x, y, z},
                         f.prog, "r");
  CHECK((r.shape() == std::vector<std::size_t>{3, 4}));
  std::vector<float> expected;
  for (unsigned i = 0; i < 12; ++i)
    expected.push_back((a[i] + 2) * b[i % 4] - (a[i] > 0.5f ? float(i / 4 + 1) : -a[i]));
  CHECK(close(f.run<float>(r), expected));

  popops::mapInPlace(f.graph, pe::Max(_1, _2) / 4, {x, y}, f.prog);
  for (unsigned i = 0; i < 12; ++i) expected[i] = (a[i] > b[i % 4] ? a[i] : b[i % 4]) / 4;
  CHECK(close(f.run<float>(x), expected));
  CHECK(close(
      f.run<float>(popops::map(f.graph, pe::Cast(pe::Cast(_1, INT), FLOAT) + 0.5, {y}, f.prog)),
      {std::trunc(b[0]) + 0.5f, std::trunc(b[1]) + 0.5f, std::trunc(b[2]) + 0.5f,
       std::trunc(b[3]) + 0.5f}));
  CHECK(
      close(f.run<float>(popops::map(f.graph, pe::Const(2.0f) * pe::Const(3.0f) + _1, {y}, f.prog)),
            {6 + b[0], 6 + b[1], 6 + b[2], 6 + b[3]}));
  Tensor copy = popops::map(f.graph, _1, {y}, f.prog);
  popops::zero(f.graph, y, f.prog);
  CHECK(copy != y && close(f.run<float>(copy), b));

  Tensor scalar = f.input(FLOAT, {}, std::vector<float>{3});
  popops::addInPlace(f.graph, scalar, y.slice(1, 2), f.prog);
  CHECK(close(f.run<float>(scalar), {3}));
  CHECK_THROWS(tensor_creation_error, "{3,4} and {3}",
               popops::add(f.graph, x, y.slice(0, 3), f.prog));
  CHECK_THROWS(type_error, "float and int",
               popops::add(f.graph, x, f.graph.addVariable(INT, {4}), f.prog));
  CHECK_THROWS(type_error, "BITWISE_AND for elements of type float",
               popops::bitwiseAnd(f.graph, x, x, f.prog));
  CHECK_THROWS(tensor_creation_error, "output",
               popops::mapWithOutput(f.graph, _1 + 1, {x}, y, f.prog));
  CHECK_THROWS(invalid_option, "'fast'", popops::add(f.graph, x, x, f.prog, "", {{"fast", "yes"}}));
  Graph bare(f.device);
  Tensor t = bare.addVariable(FLOAT, {1});
  CHECK_THROWS(unknown_vertex_type, "for it: call popops::addCodelets first",
               popops::reduce(bare, t, {0}, popops::Operation::ADD, f.prog));
  CHECK_THROWS(poplar_error, "popops::reduce: operation 99 is none: they are from 0 (ADD) to 7",
               popops::reduce(f.graph, x, {0}, static_cast<popops::Operation>(99), f.prog));
}

void casts_and_fills()
{
  Fixture f(2);
  auto &g = f.graph;
  Tensor x = f.input(FLOAT, {4}, std::vector<float>{1.75f, -2.5f, 0, 100});
  CHECK((f.run<int>(popops::cast(g, x, INT, f.prog)) == std::vector<int>{1, -2, 0, 100}));
  CHECK((f.run<unsigned char>(popops::cast(g, x, BOOL, f.prog)) ==
         std::vector<unsigned char>{1, 1, 0, 1}));
  CHECK((f.run<std::uint16_t>(popops::cast(g, x, HALF, f.prog)) ==
         std::vector<std::uint16_t>{0x3f00, 0xc100, 0, 0x5640}));
  Tensor half = popops::cast(g, x, HALF, f.prog);
  popops::mulInPlace(g, half, half, f.prog);
  CHECK(close(f.run<float>(popops::cast(g, half, FLOAT, f.prog)), {3.0625f, 6.25f, 0, 10000}));
  Tensor shorts = g.addVariable(SHORT, {3}, VariableMappingMethod::LINEAR),
         wide = g.clone(LONGLONG, shorts);
  popops::fill(g, shorts, f.prog, -7);
  popops::fill(g, wide, f.prog, 1LL << 40);
  CHECK((f.run<short>(shorts) == std::vector<short>{-7, -7, -7}));
  CHECK((f.run<long long>(wide) == std::vector<long long>(3, 1LL << 40)));
  popops::zero(g, wide, f.prog);
  CHECK((f.run<long long>(wide) == std::vector<long long>(3, 0)));
  CHECK_THROWS(type_error, "long long", popops::cast(g, wide, FLOAT, f.prog));
  popops::scaledAddTo(g, x, x, 0.5f, f.prog);
  CHECK(close(f.run<float>(x), {2.625f, -3.75f, 0, 150}));
  Tensor twin = poputil::duplicate(g, x, f.prog);
  popops::scaledSubtractFrom(g, x, x, 1, f.prog);
  CHECK(close(f.run<float>(twin), {2.625f, -3.75f, 0, 150}));
  Tensor by = f.input(FLOAT, {}, std::vector<float>{-2});
  popops::scaledAddTo(g, twin, twin, by, f.prog, "", {{"optimizeForSpeed", "true"}});
  CHECK(close(f.run<float>(twin), {-2.625f, 3.75f, 0, -150}));
  popops::scaledSubtractFrom(g, twin, twin, by, f.prog);
  CHECK(close(f.run<float>(twin), {-7.875f, 11.25f, 0, -450}));
  Tensor h = popops::cast(g, twin, HALF, f.prog);
  popops::scaledAddTo(g, h, h, popops::cast(g, by, HALF, f.prog), f.prog);
  popops::scaledAddTo(g, h, h, by, f.prog);
  CHECK(close(f.run<float>(popops::cast(g, h, FLOAT, f.prog)), {-7.875f, 11.25f, 0, -450}));
  CHECK_THROWS(tensor_creation_error, "4 elements", popops::scaledAddTo(g, x, x, x, f.prog));
  popops::scaledAddTo(g, x, h, by, f.prog); // what is added is converted to the type of x
  CHECK(close(f.run<float>(x), {15.75f, -22.5f, 0, 900}));
  CHECK_THROWS(invalid_option, "optimizeForSpeed, scaleFloatToHalfTolerance",
               popops::scaledAddTo(g, x, x, 1, f.prog, "", {{"speed", "true"}}));
  CHECK(poputil::templateVertex("popops::Add", FLOAT, true, 3) == "popops::Add<float,true,3>");
  CHECK(poputil::templateVertex("Plain") == "Plain");
  CHECK(poputil::templateVertex("Of", Way::UP, std::string("a::B"), StringRef("C"), "d") ==
        "Of<Way::UP,a::B,C,d>");
}

// The program provides the compute set and executes it.
void casts_and_fills_in_a_set()
{
  Fixture f(3);
  auto &g = f.graph;
  Tensor x = f.input(FLOAT, {6}, std::vector<float>{1.75f, -2.5f, 0, 100, 7, -1}),
         whole = f.input(INT, {6}, std::vector<int>(6, 1)),
         tens = f.input(INT, {6}, std::vector<int>(6, 2)),
         some = f.input(FLOAT, {6}, std::vector<float>(6, 3)),
         mapped = f.input(SHORT, {2, 3}, std::vector<short>(6, 4));
  ComputeSet set = g.addComputeSet("mine");
  popops::cast(g, x, whole, set);
  Tensor halves = popops::cast(g, x, HALF, set, "halves");
  popops::fill(g, tens, 1, set, 10);
  popops::fill(g, some, {{0, 1}, {4, 6}}, 2, set, 0.5f);
  popops::zero(g, mapped, g.getTileMapping(mapped), set);
  CHECK(halves.elementType() == HALF && f.prog.size() == 0);
  CHECK((f.run<int>(whole) == std::vector<int>(6, 1)));
  f.prog.add(Execute(set));
  CHECK((f.run<int>(whole) == std::vector<int>{1, -2, 0, 100, 7, -1}));
  CHECK((f.run<int>(tens) == std::vector<int>(6, 10)));
  CHECK((f.run<float>(some) == std::vector<float>{0.5f, 3, 3, 3, 0.5f, 0.5f}));
  CHECK((f.run<short>(mapped) == std::vector<short>(6, 0)));
  CHECK(close(f.run<float>(popops::cast(g, halves, FLOAT, f.prog)), {1.75f, -2.5f, 0, 100, 7, -1}));
  CHECK_THROWS(invalid_tile_mapping, "no tile 3 to fill on; the graph has 3",
               popops::zero(g, whole, 3, set));
}

// The debug information of a library call is in the names of its variables.
Tensor named(Graph &g, const DebugContext &debugContext)
{
  poputil::PoplibsOpDebugInfo info(debugContext, DI_ARGS(g, debugContext));
  Tensor t = g.addVariable(FLOAT, {1}, {info, "inside"});
  info.addOutputs({{"t", poputil::toProfileValue(t)}});
  info.addOutput(t);
  return t;
}

void debug_info()
{
  Fixture f;
  CHECK(named(f.graph, "outer").getDebugStr().find("outer/inside") != std::string::npos);
  poputil::PoplibsOpDebugInfo outer("outer");
  CHECK(named(f.graph, {outer, "call"}).getDebugStr().find("outer/call/inside") !=
        std::string::npos);
}

// Reductions over the first dimension and over the last, with elements on all tiles or on one, and
// the result on all tiles or on one. Blocks are cut by rows or by columns, and mapped in several
// ways.
void reductions_of_many_shapes()
{
  struct {
    std::size_t rows, columns;
    unsigned tiles;
  } const cases[] = {{300, 7, 12}, {7, 300, 12},  {1, 500, 9}, {500, 1, 9},    {64, 64, 3},
                     {40, 90, 64}, {1000, 3, 40}, {2, 2, 30},  {33, 2000, 10}, {200, 31, 31}};
  for (const auto &c : cases)
    for (int how = 0; how < 8; ++how) {
      bool inner = how & 1;
      Fixture f(c.tiles);
      std::vector<int> values(c.rows * c.columns), sums(inner ? c.rows : c.columns, 5);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = int(i * 7919 % 1009) - 400;
        sums[inner ? i / c.columns : i % c.columns] += values[i];
      }
      Tensor x = f.input(INT, {c.rows, c.columns}, values);
      Tensor out = f.input(INT, {sums.size()}, std::vector<int>(sums.size(), 5));
      if (how & 2) f.graph.setTileMapping(x, c.tiles - 1);
      if (how & 4) f.graph.setTileMapping(out, 1);
      popops::reduceWithOutput(f.graph, x, out, {std::size_t(inner)},
                               popops::ReduceParams(popops::Operation::ADD, true), f.prog);
      CHECK(f.run<int>(out) == sums);
    }
}

// Sums that overflow a half, and sums that lose their last bits in halves, on one tile and on many.
void operations_with_output()
{
  using namespace popops::expr;
  Fixture f(3);
  Tensor a = f.input(FLOAT, {3}, std::vector<float>{-4, 9, 1}),
         b = f.input(FLOAT, {3}, std::vector<float>{2, 3, 5}),
         one = f.input(FLOAT, {3}, std::vector<float>(3)),
         two = f.input(FLOAT, {3}, std::vector<float>(3)),
         three = f.input(FLOAT, {3}, std::vector<float>(3));
  popops::mapWithOutput(f.graph, UnaryOpType::ABSOLUTE, a, one, f.prog);
  popops::mapWithOutput(f.graph, BinaryOpType::SUBTRACT, a, b, two, f.prog, "two");
  popops::mapWithOutput(f.graph, TernaryOpType::CLAMP, a, b, one, three, f.prog);
  CHECK((f.run<float>(one) == std::vector<float>{4, 9, 1}));
  CHECK((f.run<float>(two) == std::vector<float>{-6, 6, -4}));
  CHECK((f.run<float>(three) == std::vector<float>{2, 9, 1}));
  // The upper bound counts where it is below the lower one, for values on either side of them.
  Tensor values = f.input(INT, {2, 3}, std::vector<int>{-5, 0, 5, 10, -10, 2});
  Tensor low = f.input(INT, {3}, std::vector<int>{3, -1, 3}),
         high = f.input(INT, {}, std::vector<int>{1});
  CHECK((f.run<int>(popops::clamp(f.graph, values, low, high, f.prog)) ==
         std::vector<int>{1, 0, 1, 1, -1, 1}));
  Tensor halves = popops::clamp(f.graph, popops::cast(f.graph, values, HALF, f.prog),
                                popops::cast(f.graph, low, HALF, f.prog),
                                popops::cast(f.graph, high, HALF, f.prog), f.prog);
  CHECK((f.run<float>(popops::cast(f.graph, halves, FLOAT, f.prog)) ==
         std::vector<float>{1, 0, 1, 1, -1, 1}));
}

void reductions_of_halves_to_floats()
{
  using popops::Operation;
  const std::size_t n = 60000;
  for (unsigned tiles : {1u, 7u}) {
    Fixture f(tiles);
    auto &g = f.graph;
    Tensor x = g.addVariable(HALF, {n}, VariableMappingMethod::LINEAR);
    popops::fill(g, x, f.prog, 3.0f);
    Tensor by = f.input(FLOAT, {}, std::vector<float>{1.0f / 4096});
    Tensor sum = popops::reduce(g, x, FLOAT, {0}, Operation::ADD, f.prog);
    Tensor squares = popops::reduce(g, x, FLOAT, {0}, {Operation::SQUARE_ADD, false, by}, f.prog);
    Tensor most = f.input(FLOAT, {}, std::vector<float>{9});
    popops::reduceWithOutput(g, x, most, {0}, {Operation::MAX, true}, f.prog);
    Tensor scaled = popops::reduce(g, x, {0}, {Operation::ADD, false, by}, f.prog);
    std::vector<ComputeSet> sets;
    Tensor of_sets = popops::reduce(g, x, FLOAT, {0}, {Operation::ADD, false, by}, sets, "sum");
    Tensor half_of_sets = popops::reduce(g, x, HALF, {0}, Operation::MAX, sets);
    CHECK_THROWS(type_error, "of type half to int",
                 popops::reduce(g, x, INT, {0}, Operation::ADD, sets));
    for (const ComputeSet &set : sets) f.prog.add(Execute(set));
    Tensor back = g.addVariable(HALF, {2}, VariableMappingMethod::LINEAR);
    popops::reduceWithOutput(g, f.input(FLOAT, {2, 2}, std::vector<float>{1e5f, -1e5f, 7, 0.5f}),
                             back, {1}, Operation::ADD, f.prog);
    Tensor whole = popops::reduce(g, x, INT, {0}, Operation::ADD, f.prog); // too large for a half
    CHECK((f.run<int>(whole) == std::vector<int>{180000}));
    CHECK(close(f.run<float>(sum), {180000}));
    CHECK(close(f.run<float>(squares), {131.8359375f}));
    CHECK(close(f.run<float>(of_sets), {43.9453125f}));
    CHECK((f.run<float>(popops::cast(g, half_of_sets, FLOAT, f.prog)) == std::vector<float>{3}));
    CHECK((f.run<float>(most) == std::vector<float>{9}));
    CHECK(close(f.run<float>(popops::cast(g, scaled, FLOAT, f.prog)), {43.9375f}));
    CHECK((f.run<float>(popops::cast(g, back, FLOAT, f.prog)) == std::vector<float>{0, 7.5f}));
    CHECK_THROWS(tensor_creation_error, "of type int",
                 popops::reduceWithOutput(g, x, f.input(INT, {}, std::vector<int>{0}), {0},
                                          Operation::ADD, f.prog));
  }
}

// Reductions of no elements give the neutral element, or leave the tensor that they update as it
// is.
void reductions_of_nothing()
{
  using popops::Operation;
  Fixture f(3);
  auto &g = f.graph;
  const std::vector<float> floats = {0, 0, 1, std::numeric_limits<float>::infinity(),
                                     -std::numeric_limits<float>::infinity()};
  const std::vector<int> integers = {0, 0, 1, std::numeric_limits<int>::max(),
                                     std::numeric_limits<int>::min()};
  const std::vector<unsigned> naturals = {0, 0, 1, ~0u, 0};
  const Operation ops[] = {Operation::ADD, Operation::SQUARE_ADD, Operation::MUL, Operation::MIN,
                           Operation::MAX};
  auto of_nothing = [&](const Type &type, Operation op) {
    return popops::reduce(g, g.addVariable(type, {2, 0, 3}), {1}, op, f.prog);
  };
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(of_nothing(FLOAT, ops[i]).shape() == (std::vector<std::size_t>{2, 3}));
    CHECK(f.run<float>(of_nothing(FLOAT, ops[i])) == std::vector<float>(6, floats[i]));
    Tensor halves = popops::cast(g, of_nothing(HALF, ops[i]), FLOAT, f.prog);
    CHECK(f.run<float>(halves) == std::vector<float>(6, floats[i]));
    CHECK(f.run<int>(of_nothing(INT, ops[i])) == std::vector<int>(6, integers[i]));
    CHECK(f.run<unsigned>(of_nothing(UNSIGNED_INT, ops[i])) ==
          std::vector<unsigned>(6, naturals[i]));
  }
  Tensor all = popops::cast(g, of_nothing(BOOL, Operation::LOGICAL_AND), INT, f.prog),
         any = popops::cast(g, of_nothing(BOOL, Operation::LOGICAL_OR), INT, f.prog);
  CHECK(f.run<int>(all) == std::vector<int>(6, 1) && f.run<int>(any) == std::vector<int>(6, 0));

  Tensor kept = f.input(FLOAT, {2}, std::vector<float>{3, 4});
  popops::reduceWithOutput(g, g.addVariable(FLOAT, {2, 0}), kept, {1},
                           popops::ReduceParams(Operation::ADD, true), f.prog);
  CHECK((f.run<float>(kept) == std::vector<float>{3, 4}));
  std::vector<ComputeSet> sets;
  Tensor of_sets = popops::reduce(g, g.addVariable(INT, {0, 2}), {0}, Operation::MUL, sets);
  for (const ComputeSet &set : sets) f.prog.add(Execute(set));
  CHECK((f.run<int>(of_sets) == std::vector<int>{1, 1}));
}

// log(exp(a) + exp(b) + ...), of numbers whose powers overflow a float.
void log_additions()
{
  using popops::Operation;
  const float inf = std::numeric_limits<float>::infinity();
  const std::size_t rows = 3, length = 500; // cut into blocks, which LOG_ADD combines again
  Fixture f(16);
  auto &g = f.graph;
  std::vector<float> values = numbers(rows * length), expected(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::size_t i = 0; i < length; ++i) {
      float &v = values[r * length + i];
      v += 1000.0f * static_cast<float>(r) - 1000;
      sum += std::exp(double(v) - (1000.0 * static_cast<double>(r) - 1000));
    }
    expected[r] = static_cast<float>(std::log(sum) + 1000.0 * static_cast<double>(r) - 1000);
  }
  Tensor x = f.input(FLOAT, {rows, length}, values);
  CHECK(close(f.run<float>(popops::reduce(g, x, {1}, Operation::LOG_ADD, f.prog)), expected));

  Tensor edges = f.input(FLOAT, {4, 2}, std::vector<float>{-inf, -inf, -inf, 3, inf, 0, 2, 2});
  auto of_edges = f.run<float>(popops::reduce(g, edges, {1}, Operation::LOG_ADD, f.prog));
  CHECK(of_edges[0] == -inf && of_edges[1] == 3 && of_edges[2] == inf);
  CHECK(close({of_edges[3]}, {2 + std::log(2.0f)}));
  Tensor none = popops::reduce(g, g.addVariable(FLOAT, {1, 0}), {1}, Operation::LOG_ADD, f.prog);
  CHECK(f.run<float>(none) == std::vector<float>{-inf});

  // The values that are updated, and the scales, are logarithms too.
  Tensor scale = f.input(FLOAT, {1}, std::vector<float>{std::log(0.5f)});
  for (const Type &type : {FLOAT, HALF}) {
    Tensor in = f.input(FLOAT, {1, 2}, std::vector<float>{std::log(3.0f), std::log(5.0f)});
    Tensor out = f.input(FLOAT, {1}, std::vector<float>{std::log(2.0f)});
    Tensor as = popops::cast(g, in, type, f.prog), to = popops::cast(g, out, type, f.prog);
    popops::reduceWithOutput(g, as, to, {1}, {Operation::LOG_ADD, true}, f.prog);
    popops::reduceWithOutput(g, as, to, {1}, {Operation::LOG_ADD, true, scale}, f.prog);
    float sum = f.run<float>(popops::cast(g, to, FLOAT, f.prog))[0];
    CHECK(std::fabs(sum - std::log(14.0f)) < (type == HALF ? 4e-3f : 1e-5f));
  }
  CHECK_THROWS(type_error, "LOG_ADD",
               popops::reduce(g, f.input(INT, {2}, std::vector<int>{1, 2}), {0}, Operation::LOG_ADD,
                              f.prog));
}

void reductions()
{
  Fixture f(40);
  auto &g = f.graph;
  const std::size_t A = 3, B = 50, C = 8;
  std::vector<float> values = numbers(A * B * C);
  Tensor x = f.input(FLOAT, {A, B, C}, values);
  auto host = [&](bool a, bool b, bool c, float first,
                  const std::function<float(float, float)> &op) {
    std::vector<float> result((a ? 1 : A) * (b ? 1 : B) * (c ? 1 : C), first);
    for (std::size_t i = 0; i < A; ++i)
      for (std::size_t j = 0; j < B; ++j)
        for (std::size_t k = 0; k < C; ++k) {
          std::size_t at = ((a ? 0 : i) * (b ? 1 : B) + (b ? 0 : j)) * (c ? 1 : C) + (c ? 0 : k);
          result[at] = op(result[at], values[(i * B + j) * C + k]);
        }
    return result;
  };
  auto add = [](float s, float v) { return s + v; };
  CHECK(close(f.run<float>(popops::reduce(g, x, {1}, popops::Operation::ADD, f.prog)),
              host(false, true, false, 0, add)));
  CHECK(close(f.run<float>(popops::reduce(g, x, {0, 2}, popops::Operation::ADD, f.prog)),
              host(true, false, true, 0, add)));
  CHECK(close(f.run<float>(popops::reduce(g, x, {0, 1, 2}, popops::Operation::ADD, f.prog)),
              host(true, true, true, 0, add)));
  CHECK(close(f.run<float>(popops::reduce(g, x, {2, 1}, popops::Operation::SQUARE_ADD, f.prog)),
              host(false, true, true, 0, [](float s, float v) { return s + v * v; })));
  CHECK(close(f.run<float>(popops::reduce(g, x, {1}, popops::Operation::MAX, f.prog)),
              host(false, true, false, -1e9f, [](float s, float v) { return s > v ? s : v; })));
  CHECK(close(f.run<float>(popops::reduce(g, x, {}, popops::Operation::MIN, f.prog)), values));
  Tensor one = f.input(FLOAT, {1, 1}, std::vector<float>{0}),
         narrow = f.input(FLOAT, {A, 1, C}, std::vector<float>(A * C));
  popops::reduceWithOutput(g, x, one, {0, 1, 2}, popops::Operation::ADD, f.prog);
  CHECK(close(f.run<float>(one), host(true, true, true, 0, add)));
  popops::reduceWithOutput(g, x, narrow, {1}, popops::Operation::ADD, f.prog);
  CHECK(close(f.run<float>(narrow), host(false, true, false, 0, add)));
  CHECK_THROWS(
      tensor_creation_error, "of another shape",
      popops::reduceWithOutput(g, x, narrow.transpose(), {1}, popops::Operation::ADD, f.prog));

  Tensor out = f.input(FLOAT, {A}, std::vector<float>{100, 200, 300});
  std::vector<ComputeSet> sets;
  popops::reduceWithOutput(g, x, out, {1, 2}, popops::ReduceParams(popops::Operation::ADD, true),
                           sets);
  CHECK(sets.size() == 2);
  for (const ComputeSet &set : sets) f.prog.add(Execute(set));
  auto sums = host(false, true, true, 0, add);
  CHECK(close(f.run<float>(out), {100 + sums[0], 200 + sums[1], 300 + sums[2]}));

  Tensor scale = f.input(FLOAT, {1}, std::vector<float>{-0.5f});
  popops::reduceWithOutput(g, x, out, {1, 2}, {popops::Operation::ADD, true, scale}, f.prog);
  CHECK(close(f.run<float>(out), {100 + sums[0] / 2, 200 + sums[1] / 2, 300 + sums[2] / 2}));
  std::vector<Tensor> many;
  popops::reduceMany(g,
                     {{x, {0, 1}, {popops::Operation::SQUARE_ADD, false, scale}},
                      {x, {1, 2}, popops::Operation::ADD, HALF, "half"}},
                     many, f.prog);
  std::vector<float> squares =
      host(true, true, false, 0, [](float s, float v) { return s + v * v; });
  for (float &v : squares) v *= -0.5f;
  CHECK(many.size() == 2 && many[1].elementType() == HALF);
  CHECK(close(f.run<float>(many[0]), squares));
  popops::reduceMany(g, {{x, {1, 2}, popops::Operation::ADD}}, many = {out}, f.prog);
  CHECK(close(f.run<float>(out), sums));
  CHECK_THROWS(
      tensor_creation_error, "1 outputs for 2",
      popops::reduceMany(g, {{x, {0}, popops::Operation::ADD}, {x, {0}, popops::Operation::ADD}},
                         many, f.prog));
  CHECK_THROWS(type_error, "MAX with a scale",
               popops::reduce(g, x, {1}, {popops::Operation::MAX, false, scale}, f.prog));
  CHECK_THROWS(tensor_creation_error, "float of one element",
               popops::reduce(g, x, {1}, {popops::Operation::ADD, false, x}, f.prog));

  Tensor flags = f.input(BOOL, {2, 2}, std::vector<int>{1, 0, 1, 1});
  CHECK((f.run<unsigned char>(popops::reduce(g, flags, {1}, popops::Operation::LOGICAL_AND,
                                             f.prog)) == std::vector<unsigned char>{0, 1}));
  CHECK_THROWS(index_error, "dimension 3",
               popops::reduce(g, x, {3}, popops::Operation::ADD, f.prog));
  CHECK_THROWS(index_error, "twice", popops::reduce(g, x, {1, 1}, popops::Operation::ADD, f.prog));
  CHECK_THROWS(type_error, "ADD", popops::reduce(g, flags, {1}, popops::Operation::ADD, f.prog));
}

void histograms()
{
  Fixture f(4);
  auto &g = f.graph;
  Tensor x = f.input(FLOAT, {2, 4}, std::vector<float>{-3, -1, 0, .5f, 1, 2, 7, 7}),
         levels = f.input(FLOAT, {2}, std::vector<float>{0, 2});
  Tensor counts = popops::histogram(g, x, levels, false, f.prog, "counts");
  CHECK((f.run<unsigned>(counts) == std::vector<unsigned>{2, 3, 3}));
  popops::histogram(g, x, counts, true, levels, true, f.prog);
  CHECK((f.run<unsigned>(counts) == std::vector<unsigned>{2, 7, 7}));
  CHECK(close(f.run<float>(popops::histogram(g, x, levels, true, f.prog, "",
                                             {{"useFloatArithmetic", "true"}})),
              {0, 4, 4}));
  Tensor signs = f.input(INT, {3}, std::vector<int>(3)), four = g.addVariable(UNSIGNED_INT, {4});
  CHECK_THROWS(tensor_creation_error, "popops::histogram: the output is of type int and shape {3}",
               popops::histogram(g, x, signs, true, levels, false, f.prog));
  CHECK_THROWS(tensor_creation_error, "popops::histogram: the output is of type unsigned int",
               popops::histogram(g, x, four, true, levels, false, f.prog));
  CHECK_THROWS(invalid_option, "both true",
               popops::histogram(g, x, levels, true, f.prog, "",
                                 {{"useFloatArithmetic", "true"},
                                  {"useFloatArithmeticWithUnsignedIntOutput", "true"}}));
}

void halves_of_the_host()
{
  using namespace popfloat::experimental;
  CHECK(singleToHalf(1) == 0x3c00 && singleToHalf(-2.5f) == 0xc100 &&
        halfToSingle(0xc100) == -2.5f);
  CHECK(singleToHalf(1e6f) == 0x7bff && singleToHalf(-1e6f) == 0xfbff);
  CHECK(std::isnan(halfToSingle(singleToHalf(1e6f, true))) && singleToHalf(65504, true) == 0x7bff);
}

// Division gives what the tile's instructions give. The host's instructions would end the process.
void quotients_of_integers(Device &&device)
{
  Fixture f(std::move(device));
  auto &g = f.graph;
  const int least = std::numeric_limits<int>::min();
  Tensor a = f.input(INT, {4}, std::vector<int>{-7, least, least, 7}),
         b = f.input(INT, {4}, std::vector<int>{0, -1, 0, -2});
  CHECK((f.run<int>(popops::div(g, a, b, f.prog)) == std::vector<int>{-1, least, -1, -3}));
  CHECK((f.run<int>(popops::rem(g, a, b, f.prog)) == std::vector<int>{-7, 0, least, 1}));
  Tensor c = f.input(UNSIGNED_INT, {2}, std::vector<unsigned>{7, 1u << 31}),
         d = f.input(UNSIGNED_INT, {2}, std::vector<unsigned>{0, ~0u});
  CHECK((f.run<unsigned>(popops::div(g, c, d, f.prog)) == std::vector<unsigned>{~0u, 0}));
  CHECK((f.run<unsigned>(popops::rem(g, c, d, f.prog)) == std::vector<unsigned>{7, 1u << 31}));
}

// Tiles have instructions for these; the CPU device computes the same.
void casts_beyond_the_range(Device &&device)
{
  Fixture f(std::move(device));
  auto &g = f.graph;
  Tensor x = f.input(FLOAT, {7},
                     std::vector<float>{-1.5f, 300, 3e9f, 1e20f, -1e20f, INFINITY, NAN}),
         h = f.input(HALF, {3}, std::vector<float>{-3, INFINITY, 65504});
  const int most = INT32_MAX, least = INT32_MIN;
  CHECK((f.run<int>(popops::cast(g, x, INT, f.prog)) ==
         std::vector<int>{-1, 300, most, most, least, most, most}));
  CHECK((f.run<unsigned>(popops::cast(g, x, UNSIGNED_INT, f.prog)) ==
         std::vector<unsigned>{0, 300, 3000000000, ~0u, 0, ~0u, ~0u}));
  CHECK((f.run<short>(popops::cast(g, x, SHORT, f.prog)) ==
         std::vector<short>{-1, 300, -1, -1, 0, -1, -1}));
  CHECK((f.run<unsigned char>(popops::cast(g, x, UNSIGNED_CHAR, f.prog)) ==
         std::vector<unsigned char>{0, 44, 3000000000u & 255, 255, 0, 255, 255}));
  CHECK((f.run<unsigned>(popops::cast(g, h, UNSIGNED_INT, f.prog)) ==
         std::vector<unsigned>{0, ~0u, 65504}));
}

} // namespace

int main()
{
  unary_operations();
  integers_and_truths();
  elements_that_are_no_numbers();
  expressions();
  constants_of_expressions();
  casts_and_fills();
  casts_and_fills_in_a_set();
  debug_info();
  reductions();
  reductions_of_nothing();
  operations_with_output();
  reductions_of_halves_to_floats();
  log_additions();
  reductions_of_many_shapes();
  histograms();
  halves_of_the_host();
  quotients_of_integers(Fixture::modelOf(2));
  quotients_of_integers(Device::createCPUDevice());
  casts_beyond_the_range(Fixture::modelOf(2));
  casts_beyond_the_range(Device::createCPUDevice());
  return failures != 0;
}
