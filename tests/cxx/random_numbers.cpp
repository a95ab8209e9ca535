// poprand: the numbers of the published test vectors, the same on any number of tiles, and
// properties of the distributions.
#include "check.hpp"
#include "fixture.hpp"

#include <algorithm>
#include <poprand/RandomGen.hpp>
#include <poprand/codelets.hpp>
#include <typeinfo>

using namespace poplar;
using namespace poplar::program;

namespace
{

struct Random : Fixture {
  Tensor seed;

  explicit Random(unsigned tiles) : Fixture(tiles)
  {
    poprand::addCodelets(graph);
    seed = input(UNSIGNED_INT, {2}, std::vector<unsigned>{0xa4093822, 0x299f31d0});
  }
  Tensor reference(std::size_t n)
  {
    Tensor t = graph.addVariable(FLOAT, {n});
    poputil::mapTensorLinearly(graph, t);
    return t;
  }
};

struct Moments {
  double mean, deviation, least, most;
};
Moments moments(const std::vector<float> &x)
{
  double sum = 0, squares = 0;
  for (float v : x) sum += v, squares += double(v) * v;
  double mean = sum / double(x.size());
  return {mean, std::sqrt(squares / double(x.size()) - mean * mean),
          *std::min_element(x.begin(), x.end()), *std::max_element(x.begin(), x.end())};
}
bool near(double a, double b, double tolerance)
{
  return std::fabs(a - b) <= tolerance || (std::cerr << a << " for " << b << '\n', false);
}

// The authors of Philox4x32-10 publish 6627e8d5 e169c58d bc57ac4c 9b00dbd8 for key and counter
// zero. An element uses the last word first.
void the_generator()
{
  Random f(3);
  Tensor zeros = f.input(UNSIGNED_INT, {2}, std::vector<unsigned>{0, 0});
  Tensor x = poprand::uniform(f.graph, &zeros, 0, f.reference(4), INT, -2147483648.0, 2147483647.0,
                              f.prog);
  CHECK(static_cast<unsigned>(f.run<int>(x)[0]) == 0x9b00dbd8u - 0x80000000u);
}

void seeds()
{
  std::vector<float> all[3];
  for (unsigned tiles : {1u, 5u, 7u}) {
    Random f(tiles);
    Tensor a = poprand::normal(f.graph, &f.seed, 1, f.reference(100), FLOAT, 0, 1, f.prog);
    Tensor b = poprand::normal(f.graph, &f.seed, 2, f.reference(100), FLOAT, 0, 1, f.prog);
    auto x = f.run<float>(a);
    CHECK(x != f.run<float>(b)); // another seed modifier
    all[tiles / 3] = x;
  }
  CHECK(all[0] == all[1] && all[1] == all[2]);

  // The workers' own generators continue from run to run. A seed sets their state.
  Random f(5);
  poprand::setSeed(f.graph, f.seed, 7, f.prog);
  Tensor first = poprand::uniform(f.graph, nullptr, 0, f.reference(50), FLOAT, 0, 1, f.prog);
  Tensor second = poprand::uniform(f.graph, nullptr, 0, f.reference(50), FLOAT, 0, 1, f.prog);
  poprand::setSeed(f.graph, f.seed, 7, f.prog);
  Tensor again = poprand::uniform(f.graph, nullptr, 0, f.reference(50), FLOAT, 0, 1, f.prog);
  poprand::setSeed(f.graph, f.seed, 8, f.prog);
  Tensor other = poprand::uniform(f.graph, nullptr, 0, f.reference(50), FLOAT, 0, 1, f.prog);
  auto x = f.run<float>(first);
  CHECK(x != f.run<float>(second));
  CHECK(x == f.run<float>(again));
  CHECK(x != f.run<float>(other));
}

void distributions()
{
  const std::size_t n = 4000;
  for (bool seeded : {true, false}) {
    Random f(11);
    auto &g = f.graph;
    Tensor *seed = seeded ? &f.seed : nullptr, t = f.reference(n);
    Moments m = moments(f.run<float>(poprand::uniform(g, seed, 0, t, FLOAT, -1, 3, f.prog)));
    CHECK(near(m.mean, 1, 0.1) && near(m.deviation, 4 / std::sqrt(12.0), 0.05));
    CHECK(m.least >= -1 && m.least < -0.98 && m.most < 3 && m.most > 2.98);
    Tensor halves = poprand::uniform(g, seed, 9, f.reference(30000), HALF, 0, 1, f.prog);
    CHECK(moments(f.run<float>(popops::cast(g, halves, FLOAT, f.prog))).most < 1);
    m = moments(f.run<float>(poprand::normal(g, seed, 1, t, FLOAT, 5, 2, f.prog)));
    CHECK(near(m.mean, 5, 0.15) && near(m.deviation, 2, 0.1) && m.most > 10);
    m = moments(f.run<float>(poprand::truncatedNormal(g, seed, 2, t, FLOAT, 5, 2, 1, f.prog)));
    CHECK(near(m.mean, 5, 0.1) && near(m.deviation, 2 * 0.53956, 0.05)); // of N(0,1) within [-1,1]
    CHECK(m.least >= 3 && m.most <= 7);
    std::vector<int> dice = f.run<int>(poprand::uniform(g, seed, 3, t, INT, 1, 6, f.prog));
    for (int face = 1; face <= 6; ++face)
      CHECK(near(double(std::count(dice.begin(), dice.end(), face)), n / 6.0, 100));
    CHECK(*std::min_element(dice.begin(), dice.end()) == 1);
    CHECK(*std::max_element(dice.begin(), dice.end()) == 6);
    std::vector<int> coins = f.run<int>(poprand::bernoulli(g, seed, 4, t, INT, 0.25, f.prog));
    CHECK(near(double(std::count(coins.begin(), coins.end(), 1)), n / 4.0, 120));
    CHECK(std::count(coins.begin(), coins.end(), 0) + std::count(coins.begin(), coins.end(), 1) ==
          long(n));
    Tensor ones = f.input(FLOAT, {n}, std::vector<float>(n, 3));
    std::vector<float> kept =
        f.run<float>(poprand::dropout(g, seed, 5, ones, ones, 0.8, 1.25, f.prog));
    CHECK(near(double(std::count(kept.begin(), kept.end(), 3.75f)), 0.8 * n, 120));
    CHECK(std::count(kept.begin(), kept.end(), 0.0f) +
              std::count(kept.begin(), kept.end(), 3.75f) ==
          long(n));
    // The same elements are kept wherever the result is mapped: like the reference, or like the
    // input.
    Tensor elsewhere = g.addVariable(HALF, {n});
    g.setTileMapping(elsewhere, 1);
    Tensor moved = poprand::dropout(g, seed, 5, ones, elsewhere, 0.8, 1.25, f.prog),
           stayed = poprand::dropout(g, seed, 5, ones, elsewhere, 0.8, 1.25, false, f.prog);
    CHECK(moved.elementType() == FLOAT && g.getTileMapping(moved) == g.getTileMapping(elsewhere));
    CHECK(g.getTileMapping(stayed) == g.getTileMapping(ones));
    if (seed) CHECK(f.run<float>(moved) == kept && f.run<float>(stayed) == kept);
    m = moments(f.run<float>(poprand::logUniform(g, seed, 6, t, FLOAT, 1, 8, f.prog)));
    CHECK(near(m.mean, 7 / std::log(8.0), 0.15) && m.least >= 1 && m.least < 1.01);
    CHECK(m.most <= 8 && m.most > 7.9);
    std::vector<int> logs = f.run<int>(poprand::logUniform(g, seed, 7, t, INT, 1, 7, f.prog, 2));
    for (int i : {1, 3, 7})
      CHECK(near(double(std::count(logs.begin(), logs.end(), i)),
                 double(n) * std::log((i + 1.0) / i) / std::log(8.0), 100));
    CHECK(*std::min_element(logs.begin(), logs.end()) == 1);
    CHECK(*std::max_element(logs.begin(), logs.end()) == 7);
    // Bounds that are no floats.
    logs = f.run<int>(poprand::logUniform(g, seed, 7, t, INT, 16777217, 16777219, f.prog));
    CHECK(*std::min_element(logs.begin(), logs.end()) >= 16777217);
    logs = f.run<int>(poprand::logUniform(g, seed, 7, t, INT, 2147483646, 2147483647, f.prog));
    CHECK(*std::min_element(logs.begin(), logs.end()) >= 2147483646);
    // Some of 200 rows are kept, each as a whole.
    Tensor rows = f.input(FLOAT, {200, 20}, std::vector<float>(n, 3));
    std::vector<float> left = f.run<float>(
        poprand::shapedDropout(g, seed, 8, rows, f.reference(200).expand({1}), 0.75, 2, f.prog));
    for (std::size_t i = 0; i < n; ++i)
      CHECK(left[i] == left[i / 20 * 20] && (left[i] == 0 || left[i] == 6));
    CHECK(near(double(std::count(left.begin(), left.end(), 6.0f)), 0.75 * n, 600));
    // Also 0 instead of infinity.
    Tensor large = f.input(FLOAT, {50}, std::vector<float>(50, INFINITY));
    for (float x : f.run<float>(poprand::shapedDropout(g, seed, 8, large, large, 0.5, 2, f.prog)))
      CHECK(x == 0 || x == INFINITY);
  }
}

void wrong_use()
{
  Random f(2);
  Tensor t = f.reference(4);
  CHECK_THROWS(poplar_error, "lower bound",
               poprand::uniform(f.graph, nullptr, 0, t, FLOAT, 1, 1, f.prog));
  CHECK_THROWS(poplar_error, "a finite float",
               poprand::uniform(f.graph, nullptr, 0, t, FLOAT, -3e38, 3e38, f.prog));
  CHECK_THROWS(poputil::poplibs_error, "the lower bound must be at least 1",
               poprand::logUniform(f.graph, nullptr, 0, t, FLOAT, 0.5, 2, f.prog));
  CHECK_THROWS(poputil::poplibs_error, "2147483647 for an int",
               poprand::logUniform(f.graph, nullptr, 0, t, INT, 1, 1e12, f.prog));
  CHECK_THROWS(poputil::poplibs_error, "too large for type half",
               poprand::logUniform(f.graph, nullptr, 0, t, HALF, 1, 1e6, f.prog));
  CHECK_THROWS(type_error, "numbers of type unsigned int; there are float, half and int",
               poprand::logUniform(f.graph, nullptr, 0, t, UNSIGNED_INT, 1, 10, f.prog));
  CHECK_THROWS(poplar_error, "the bounds must be finite",
               poprand::uniform(f.graph, nullptr, 0, t, HALF, -1e6, 0, f.prog));
  CHECK_THROWS(poplar_error, "the bounds must be finite",
               poprand::uniform(f.graph, nullptr, 0, t, HALF, 0, 1e6, f.prog));
  for (double mean : {double(NAN), double(INFINITY), 1e39})
    CHECK_THROWS(poplar_error, "mean and the standard deviation must be finite",
                 poprand::normal(f.graph, nullptr, 0, t, FLOAT, mean, 1, f.prog));
  CHECK_THROWS(poplar_error, "mean and the standard deviation must be finite",
               poprand::normal(f.graph, nullptr, 0, t, FLOAT, 0, INFINITY, f.prog));
  CHECK_THROWS(poplar_error, "mean and the standard deviation must be finite",
               poprand::truncatedNormal(f.graph, nullptr, 0, t, HALF, 1e5, 1, 1, f.prog));
  CHECK_THROWS(poplar_error, "no int between",
               poprand::uniform(f.graph, nullptr, 0, t, INT, 1.2, 1.8, f.prog));
  CHECK_THROWS(poplar_error, "from 0 to 1",
               poprand::bernoulli(f.graph, nullptr, 0, t, FLOAT, 1.5, f.prog));
  CHECK_THROWS(type_error, "NORMAL distribution for elements of type int",
               poprand::normal(f.graph, nullptr, 0, t, INT, 0, 1, f.prog));
  CHECK_THROWS(tensor_creation_error, "two elements of type unsigned int, not 4 of type float",
               poprand::normal(f.graph, &t, 0, t, FLOAT, 0, 1, f.prog));
  for (const Tensor &other :
       {f.reference(3), f.reference(6).reshape({3, 2}), f.reference(4).reshape({4, 1, 1})})
    CHECK_THROWS(poputil::poplibs_error,
                 "the reference has the shape " + other.shapeToString() +
                     ", which does not broadcast to that of the input, {2,2}",
                 poprand::shapedDropout(f.graph, nullptr, 0, f.reference(4).reshape({2, 2}), other,
                                        0.5, 1, f.prog));
  CHECK_THROWS(poputil::poplibs_error, "the input has the shape {4}, the reference has {2}",
               poprand::dropout(f.graph, nullptr, 0, t, t.slice(0, 2), 0.5, 2, f.prog));
  Fixture bare(2);
  CHECK_THROWS(unknown_vertex_type, "for it: call poprand::addCodelets first",
               poprand::normal(bare.graph, nullptr, 0, t, FLOAT, 0, 1, bare.prog));
}

} // namespace

int main()
{
  the_generator();
  seeds();
  distributions();
  wrong_use();
  return failures != 0;
}
