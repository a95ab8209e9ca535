// popops, poplin, popnn and poputil against plain loops of the host, on a few tiles.
#include "check.hpp"
#include "fixture.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <popfloat/experimental/CastToHalf.hpp>
#include <poplar/CycleCount.hpp>
#include <poplin/Convolution.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>
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
#include <popops/ElementWise.hpp>
#include <popops/Fill.hpp>
#include <popops/GatherStatistics.hpp>
#include <popops/Reduce.hpp>
#include <popops/ScaledAdd.hpp>
#include <popops/Zero.hpp>
#include <poputil/DebugInfo.hpp>
#include <poputil/Util.hpp>
#include <poputil/VertexTemplates.hpp>
#include <sstream>
#include <typeinfo>

using namespace poplar;
using namespace poplar::program;
using popops::expr::_1;
using popops::expr::_2;
using popops::expr::_3;
namespace pe = popops::expr;

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
  CHECK(close(f.run<float>(concat(results)), expected));
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
  CHECK_THROWS(unknown_vertex_type, "popops::addCodelets", popops::neg(bare, t, f.prog));
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
  CHECK_THROWS(type_error, "half are added to some of type float",
               popops::scaledAddTo(g, x, h, by, f.prog));
  CHECK_THROWS(invalid_option, "optimizeForSpeed, scaleFloatToHalfTolerance",
               popops::scaledAddTo(g, x, x, 1, f.prog, "", {{"speed", "true"}}));
  CHECK(poputil::templateVertex("popops::Add", FLOAT, true, 3) == "popops::Add<float,true,3>");
}

// What a library function says of its call is a name for what it makes.
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

// Over the first dimension and over the last, from elements on all tiles or on one, to a result on all or on one: blocks
// are cut, taken by rows or by columns, and put on tiles in several ways.
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
    // The same from operands that lie the other way round.
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
  CHECK_THROWS(tensor_creation_error, "{3,4} and {3,4}", poplin::matMul(g, u, u, f.prog));
  CHECK_THROWS(type_error, "half and float", poplin::matMul(g, x, v, f.prog));
  CHECK(close(f.run<float>(poplin::matMul(g, x, y, f.prog, FLOAT)), c));
  Tensor rounded = poplin::matMul(g, u, v, f.prog, HALF, "rounded");
  CHECK(rounded.elementType() == HALF);
  CHECK(close(f.run<float>(popops::cast(g, rounded, FLOAT, f.prog)), c));
}

// What the product takes.
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
  unsigned long long some = cycles_of_product(f, x, y, "0.004", z);
  CHECK(close(z, c));
  unsigned long long most = cycles_of_product(f, x, y, "0", z);
  CHECK(close(z, c));
  CHECK(few < some && some < most);

  // 1 + EPSILON / 2 is half way between two halves: sums of parts of k show what they were stored as.
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

// Of one dimension, by the words of ConvParams.
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
  }
  // A convolution is linear in both operands, so each with its gradient gives what the result gives with its own.
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
  ConvParams back(FLOAT, FLOAT, 2, {3, 4}, {3, 2}, 3, 2, 2);
  back.inputTransform.dilation = {2, 1};
  back.inputTransform.paddingLower = {1, 1};
  back.inputTransform.paddingUpper = {2, 1};
  Tensor dx = poplin::convolution(g, dy, w, back, true, f.prog);
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
  CHECK_THROWS(poplar_error, "the kernel is not larger", ConvParams(FLOAT, 1, {2}, {3}, 1, 1, 1));
  CHECK_THROWS(tensor_creation_error, "the input has another shape",
               poplin::convolution(g, x[0].expand({0}), w, p, false, f.prog));
  CHECK_THROWS(invalid_option, "'pas'",
               poplin::convolution(g, x, w, p, false, f.prog, "", {{"pas", "NONE"}}));
  p.outputTransform.truncationLower = {1, 0};
  CHECK_THROWS(poplar_error, "calculateWeightDeltas: gradients are there for",
               poplin::calculateWeightDeltas(g, dy, x, p, f.prog));
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

// What the instructions of the tile give; the host's would end the process.
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
  CHECK_THROWS(type_error, "labels",
               popnn::calcLoss(g, y, loss, loss, deltas, popnn::SUM_SQUARED_LOSS));

  // Rows that are masked count for nothing, and labels may be signed.
  Tensor masked = f.input(INT, {2}, std::vector<int>{2, -1});
  f.prog.add(popnn::calcLoss(g, y, masked, loss, deltas, correct, popnn::CROSS_ENTROPY_LOSS));
  CHECK(close(f.run<float>(loss), {-std::log(soft[2]), 0}));
  CHECK(close(f.run<float>(deltas), {soft[0], soft[1], soft[2] - 1, 0, 0, 0}));
  Tensor counted = f.input(UNSIGNED_INT, {}, std::vector<unsigned>{4});
  f.prog.add(popnn::calcAccuracy(g, y, masked, counted));
  CHECK(f.run<unsigned>(counted.flatten())[0] == 5);
  CHECK_THROWS(tensor_creation_error, "labels {batch}",
               popnn::calcAccuracy(g, y, masked.slice(0, 1), counted));

  // Halves that a softmax has scaled up, gradients that are scaled up for halves.
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

// What each function is by its definition, of singles and of halves.
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

// Against differences of the functions themselves, which the test before has against their definitions.
void gradients_between_layers()
{
  using popnn::NonLinearityType;
  const struct {
    NonLinearityType type;
    bool of_input; // the gradient takes what the function was given
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
  float scaling = 0;
  Tensor scaled = popnn::scaledSoftmaxStable(g, x, scaling, f.prog);
  CHECK(scaling == SOFTMAX_SCALING);
  popnn::sigmoidInPlace(g, scaled, f.prog);
  CHECK(f.run<float>(scaled)[5] == 1);
  CHECK_THROWS(tensor_creation_error, "the gradient has the shape {3}, the activations have {2,3}",
               popnn::nonLinearityInputGradient(g, NonLinearityType::TANH, x, d[0], f.prog));
}

// The values are tests/unit/poplibs/pooling.c's; here: what the names are given to.
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

// The values are tests/unit/poplibs/norm.c's; here: what the names are given to.
void norms()
{
  Fixture f(3);
  auto &g = f.graph;
  // Sets of two elements a distance of 1 from their mean: of channels, or of elements of the batch.
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
  // Nothing that such a set's elements get back changes their result.
  CHECK(close(f.run<float>(popnn::bn::batchNormGradients(g, x, flows, of_batch.first,
                                                         of_batch.second, gamma, f.prog)),
              {0, 0, 0, 0}));
  popnn::bn::batchNormParamUpdate(g, both.first, both.second, -.5f, gamma, beta, f.prog);
  CHECK(close(f.run<float>(gamma), {2 - (d[2] - d[0]) / 2, 3 - (d[3] - d[1]) / 2}));
  CHECK_THROWS(invalid_option, "groupNorm",
               popnn::bn::batchNormStatistics(g, x, 0, f.prog, false, false, FLOAT, {},
                                              {{"stable", "true"}}));

  CHECK_THROWS(type_error, "sums of half",
               popnn::bn::batchNormStatistics(g, x, 0, f.prog, false, true, HALF));
  CHECK_THROWS(poplar_error, "float or half, not int",
               popnn::bn::batchNormParamGradients(g, x, flows, f.prog, INT));

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

} // namespace

int main()
{
  unary_operations();
  integers_and_truths();
  expressions();
  casts_and_fills();
  debug_info();
  reductions();
  reductions_of_many_shapes();
  matrix_products();
  options_of_products();
  convolutions();
  histograms();
  halves_of_the_host();
  softmax_and_losses();
  quotients_of_integers(Fixture::modelOf(2));
  quotients_of_integers(Device::createCPUDevice());
  functions_between_layers();
  gradients_between_layers();
  pooling();
  norms();
  return failures != 0;
}
