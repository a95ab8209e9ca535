// Slices by indices on the device, sorting, loops, and helpers for mappings give the results of
// plain loops on the host.
#include "check.hpp"
#include "fixture.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <popops/AllTrue.hpp>
#include <popops/DynamicSlice.hpp>
#include <popops/ElementWiseUtil.hpp>
#include <popops/Encoding.hpp>
#include <popops/Gather.hpp>
#include <popops/Loop.hpp>
#include <popops/Pad.hpp>
#include <popops/Rearrange.hpp>
#include <popops/Reduce.hpp>
#include <popops/ScaledAdd.hpp>
#include <popops/Scatter.hpp>
#include <popops/Sort.hpp>
#include <popops/TopK.hpp>
#include <poputil/Broadcast.hpp>
#include <poputil/Util.hpp>
#include <poputil/VarStructure.hpp>
#include <typeinfo>

using namespace poplar;
using namespace poplar::program;

namespace
{

std::vector<unsigned> counted(std::size_t count)
{
  std::vector<unsigned> result(count);
  std::iota(result.begin(), result.end(), 0);
  return result;
}
template <typename T> bool same(const std::vector<T> &a, const std::vector<T> &b)
{
  if (a == b) return true;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    std::cerr << a[i] << " for " << b[i] << '\n';
  return false;
}

// One row of a long table whose rows are on several tiles. Each tile contributes its part of the
// row.
void one_row_of_many_parts()
{
  Fixture f(8);
  auto &g = f.graph;
  Tensor t = f.input(UNSIGNED_INT, {40, 100}, counted(4000));
  Tensor row = popops::dynamicSlice(g, t, f.input(UNSIGNED_INT, {1}, std::vector<unsigned>{37}),
                                    {0}, {1}, f.prog);
  std::size_t most = 0;
  for (const auto &tile : g.getTileMapping(row)) {
    std::size_t elements = 0;
    for (const Interval &interval : tile) elements += interval.size();
    most = std::max(most, elements);
  }
  CHECK(most <= 16);
  std::vector<unsigned> expected(100);
  std::iota(expected.begin(), expected.end(), 3700);
  CHECK(same(f.run<unsigned>(row), expected));
  CHECK_THROWS(invalid_tile_mapping, "popops::dynamicSlice: elements of the result are on no tile",
               popops::dynamicSliceWithOutput(g, g.addVariable(UNSIGNED_INT, {1, 100}), t,
                                              f.input(UNSIGNED_INT, {1}, std::vector<unsigned>{4}),
                                              {0}, {1}, f.prog));
  Tensor two = popops::dynamicSlice(g, t, f.input(UNSIGNED_INT, {1}, std::vector<unsigned>{4}), {0},
                                    {2}, f.prog);
  expected.resize(200);
  std::iota(expected.begin(), expected.end(), 400);
  CHECK(same(f.run<unsigned>(two), expected));
}

void one_slice()
{
  Fixture f(5);
  auto &g = f.graph;
  // [6,4]: element (i, j) is 4 i + j.
  Tensor t = f.input(UNSIGNED_INT, {6, 4}, counted(24));
  Tensor at = f.input(UNSIGNED_INT, {2}, std::vector<unsigned>{4, 3});
  Tensor rows = popops::dynamicSlice(g, t, at.slice(0, 1), {0}, {3}, f.prog, "rows");
  CHECK((rows.shape() == std::vector<std::size_t>{3, 4}));
  CHECK(
      same(f.run<unsigned>(rows), {16, 17, 18, 19, 20, 21, 22, 23, 0, 1, 2, 3})); // wraps to row 0
  Tensor block = popops::dynamicSlice(g, t, at, {0, 1}, {2, 2}, f.prog);
  CHECK(same(f.run<unsigned>(block), {19, 16, 23, 20}));
  Tensor columns = g.addVariable(UNSIGNED_INT, {6, 1}, VariableMappingMethod::LINEAR);
  popops::dynamicSliceWithOutput(g, columns, t, at.slice(1, 2), {1}, {1}, f.prog);
  CHECK(same(f.run<unsigned>(columns), {3, 7, 11, 15, 19, 23}));

  // Also from the last offset of all on: 4294967295 is 3 modulo 4.
  Tensor last = f.input(UNSIGNED_INT, {1}, std::vector<unsigned>{~0u});
  Tensor end = popops::dynamicSlice(g, t[0], last, {0}, {3}, f.prog);
  CHECK(same(f.run<unsigned>(end), {3, 0, 1}));
  Tensor copy = poputil::duplicate(g, t[0], f.prog);
  popops::dynamicUpdate(g, copy, t[1].slice(0, 3), last, {0}, {3}, f.prog);
  CHECK(same(f.run<unsigned>(copy), {5, 6, 2, 4}));

  popops::dynamicUpdate(g, t, f.input(UNSIGNED_INT, {2, 2}, std::vector<unsigned>{90, 91, 92, 93}),
                        at, {0, 1}, {2, 2}, f.prog);
  std::vector<unsigned> expected = counted(24);
  expected[19] = 90, expected[16] = 91, expected[23] = 92, expected[20] = 93;
  CHECK(same(f.run<unsigned>(t), expected));

  // All elements that one slice can choose from are on one tile.
  Tensor table = popops::createSliceableTensor(g, HALF, {100, 6, 2}, {0}, {1}, 0, "table");
  for (const auto &tile : g.getTileMapping(table.dimShuffle({1, 2, 0})))
    for (const Interval &interval : tile) CHECK(interval.size() % 100 == 0);

  // Several slices, each mapped like this one.
  Tensor slice = g.addVariable(UNSIGNED_INT, {2, 3});
  for (unsigned e = 0; e < 6; ++e) g.setTileMapping(slice.flatten()[e], (2 * e + 1) % 5);
  Tensor slices = popops::createSliceableTensorFromSlice(g, slice, {1, 0}, {4, 3}, "slices");
  CHECK((slices.shape() == std::vector<std::size_t>{6, 12}));
  for (unsigned r = 0; r < 6; r += 2)
    for (unsigned c = 0; c < 12; c += 3)
      CHECK(g.getTileMapping(slices.slice({r, c}, {r + 2, c + 3})) == g.getTileMapping(slice));
  CHECK(popops::getSliceMapping(g, slices, {0, 1}, {2, 3}) == g.getTileMapping(slice));
  f.prog.add(Copy(f.input(UNSIGNED_INT, {6, 12}, counted(72)), slices));
  Tensor out = popops::createDynamicSliceOutput(g, slices, at, {0, 1}, {2, 3}, "out");
  CHECK(g.getTileMapping(out) == g.getTileMapping(slice));
  popops::dynamicSliceWithOutput(g, out, slices, at, {0, 1}, {2, 3}, f.prog);
  CHECK(same(f.run<unsigned>(out), {51, 52, 53, 63, 64, 65}));
  CHECK_THROWS(tensor_creation_error, "2 offsets for 1",
               popops::createDynamicSliceOutput(g, slices, at, {0}, {2}));
  CHECK_THROWS(tensor_creation_error, "1 sizes",
               popops::createSliceableTensorFromSlice(g, slice, {0, 1}, {2}));

  CHECK_THROWS(index_error, "has 4", popops::dynamicSlice(g, t, at.slice(0, 1), {1}, {5}, f.prog));
  CHECK_THROWS(index_error, "dimension 2",
               popops::dynamicSlice(g, t, at.slice(0, 1), {2}, {1}, f.prog));
  CHECK_THROWS(index_error, "twice", popops::dynamicSlice(g, t, at, {0, 0}, {1, 1}, f.prog));
  CHECK_THROWS(index_error, "dimension 2 of a tensor of rank 2",
               popops::createSliceTensor(g, t, {2}, {1}, 3));
  CHECK_THROWS(type_error, "float",
               popops::dynamicSlice(g, t, f.input(FLOAT, {1}, numbers(1)), {0}, {1}, f.prog));
  CHECK_THROWS(tensor_creation_error, "2 offsets for 1",
               popops::dynamicSlice(g, t, at, {0}, {1}, f.prog));
}

void many_slices()
{
  Fixture f(5);
  auto &g = f.graph;
  Tensor t = f.input(SHORT, {3, 5}, counted(15));
  Tensor at = f.input(UNSIGNED_INT, {4, 1}, std::vector<unsigned>{2, 0, 2, 7});
  Tensor rows = popops::multiSlice(g, t, at, {0}, {1}, f.prog, popops::SlicePlan(), {});
  CHECK((rows.shape() == std::vector<std::size_t>{4, 1, 5}));
  CHECK(same(f.run<short>(rows),
             {10, 11, 12, 13, 14, 0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 0, 0, 0, 0, 0}));
  const unsigned constants[] = {4, 1};
  Tensor columns = popops::multiSlice(g, t, ArrayRef<unsigned>(constants, 2), 1, f.prog);
  CHECK(same(f.run<short>(columns), {4, 9, 14, 1, 6, 11}));
  Tensor gathered =
      popops::gather(g, t, f.input(UNSIGNED_INT, {2, 2}, std::vector<unsigned>{1, 1, 4, 0}), 1,
                     f.prog, popops::GatherParams());
  CHECK((gathered.shape() == std::vector<std::size_t>{3, 2, 2}));
  CHECK(same(f.run<short>(gathered), {1, 1, 4, 0, 6, 6, 9, 5, 11, 11, 14, 10}));

  Tensor sums = f.input(FLOAT, {3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6});
  Tensor s = f.input(FLOAT, {4, 1, 2}, std::vector<float>{1, 1, 2, 2, 3, 3, 4, 4});
  Tensor scale = f.input(FLOAT, {1}, std::vector<float>{10});
  popops::multiUpdateAdd(g, sums, s, at, scale, {0}, {1}, f.prog, {}, {});
  CHECK(close(f.run<float>(sums), {21, 22, 3, 4, 45, 46}));
  popops::multiUpdateMax(g, sums, s, at, {0}, {1}, f.prog, {}, {});
  popops::multiUpdateMul(g, sums, s, at, {0}, {1}, f.prog, {}, {});
  CHECK(close(f.run<float>(sums), {42, 44, 3, 4, 135, 138}));
  popops::multiUpdate(g, sums, s, at, {0}, {1}, f.prog, {}, {});
  CHECK(close(f.run<float>(sums), {2, 2, 3, 4, 3, 3}));
  popops::multiUpdateAdd(g, sums, s, {2, 0, 2, 1}, scale, 0, f.prog);
  CHECK(close(f.run<float>(sums), {22, 22, 43, 44, 43, 43}));
  const std::vector<popops::SlicePlan> plans = popops::embedding::planMultiple(
      {{g, FLOAT, 3, 2, {4}, {}}, {g, FLOAT, 1, 3, 2, {4}, {{"usedForUpdate", "true"}}}});
  CHECK(plans.size() == 2);
  CHECK_THROWS(
      invalid_option, "'usedForUpdat'",
      popops::embedding::planMultiple({{g, FLOAT, 3, 2, {4}, {{"usedForUpdat", "true"}}}}));
  CHECK_THROWS(tensor_creation_error, "to be 4",
               popops::multiUpdate(g, sums, s.slice(0, 2), at, {0}, {1}, f.prog, {}, {}));
  CHECK_THROWS(tensor_creation_error, "multiSlice: offsets of shape {2,2}",
               popops::multiSlice(g, t, at.reshape({2, 2}), {0}, {1}, f.prog, {}, {}));
  CHECK_THROWS(index_error, "popops::gather: dimension 5 of a tensor of rank 2",
               popops::gather(g, t, at, 5, f.prog));
  CHECK_THROWS(type_error, "popops::gather: offsets are of type unsigned int, not short",
               popops::gather(g, t, f.input(SHORT, {1}, std::vector<int>{1}), 0, f.prog));
  CHECK_THROWS(tensor_creation_error, "multiUpdate: offsets of shape {2,2}",
               popops::multiUpdate(g, sums, s, at.reshape({2, 2}), {0}, {1}, f.prog, {}, {}));
  CHECK_THROWS(type_error, "ADD update for elements of type short",
               popops::multiUpdateAdd(g, t, rows, at, f.input(SHORT, {1}, std::vector<int>{1}), {0},
                                      {1}, f.prog, {}, {}));
}

// Columns that are too long for a tile are cut into parts. Slices of the parts are joined, and
// updates find their part.
void long_columns()
{
  Fixture f(5);
  auto &g = f.graph;
  const unsigned rows = 9000;
  std::vector<float> values = numbers(rows * 2);
  values[0] = -0.0f;
  Tensor t = popops::createSliceableTensor(g, FLOAT, {rows, 2}, {0}, {1}, 0, "table");
  std::size_t most = 0;
  for (const auto &tile : g.getTileMapping(t)) {
    std::size_t elements = 0;
    for (const Interval &interval : tile) elements += interval.size();
    most = std::max(most, elements);
  }
  CHECK(most == rows / 2); // each column has two parts, for five tiles
  f.prog.add(Copy(f.input(FLOAT, {rows, 2}, values), t));
  const std::vector<unsigned> numbers_of_rows = {0, 4499, 4500, 8999, 9000, 4500};
  Tensor at = f.input(UNSIGNED_INT, {6, 1}, numbers_of_rows);
  std::vector<float> expected;
  for (unsigned n : numbers_of_rows)
    for (unsigned c = 0; c < 2; ++c) expected.push_back(n < rows ? values[n * 2 + c] : 0);
  Tensor found = popops::multiSlice(g, t, at, {0}, {1}, f.prog, popops::SlicePlan(), {});
  CHECK(same(f.run<float>(found), expected));
  CHECK(std::signbit(f.run<float>(found)[0])); // the bits are copied: -0.0 stays
  // At the border between the parts, and at the end.
  for (unsigned from : {4498u, 8998u}) {
    Tensor part = popops::dynamicSlice(
        g, t, f.input(UNSIGNED_INT, {1}, std::vector<unsigned>{from}), {0}, {4}, f.prog);
    expected.clear();
    for (unsigned i = 0; i < 8; ++i) expected.push_back(values[(from * 2 + i) % values.size()]);
    CHECK(same(f.run<float>(part), expected));
  }
  Tensor s = f.input(FLOAT, {6, 1, 2}, std::vector<float>(12, 2.0f));
  Tensor scale = f.input(FLOAT, {1}, std::vector<float>{10});
  popops::multiUpdateAdd(g, t, s, at, scale, {0}, {1}, f.prog, {}, {});
  popops::dynamicUpdate(g, t, f.input(FLOAT, {3, 2}, std::vector<float>(6, 7.0f)),
                        f.input(UNSIGNED_INT, {1}, std::vector<unsigned>{8998}), {0}, {3}, f.prog);
  for (unsigned n : numbers_of_rows)
    for (unsigned c = 0; c < 2 && n < rows; ++c) values[n * 2 + c] += 20;
  for (unsigned n : {8998u, 8999u, 0u}) values[n * 2] = values[n * 2 + 1] = 7;
  CHECK(same(f.run<float>(t), values));
}

void order()
{
  Fixture f(40);
  auto &g = f.graph;
  std::vector<float> values = numbers(3 * 101);
  Tensor t = f.input(FLOAT, {3, 101}, values);
  std::vector<float> expected = values;
  for (unsigned r = 0; r < 3; ++r) std::sort(&expected[r * 101], &expected[r * 101] + 101);
  CHECK(same(f.run<float>(popops::sort(g, t, 1, f.prog)), expected));
  CHECK(same(f.run<float>(popops::sort(g, t.transpose(), 0, f.prog).transpose()), expected));

  // Equal keys keep their order: the sort is stable.
  std::vector<int> keys = {3, -1, 3, 0, -1, 7, 0};
  Tensor k = f.input(INT, {7}, keys), v = f.input(HALF, {7}, counted(7));
  CHECK(same(f.run<std::uint16_t>(popops::sortKeyValue(g, k, v, 0, f.prog)),
             {0x3c00, 0x4400, 0x4200, 0x4600, 0, 0x4000, 0x4500}));
  popops::sortKeyValueInPlace(g, k, v, 0, f.prog);
  CHECK(same(f.run<int>(k), {-1, -1, 0, 0, 3, 3, 7}));
  popops::sortInPlace(g, t, 1, f.prog);
  CHECK(same(f.run<float>(t), expected));

  Fixture h(40);
  for (unsigned n : {7u, 1000u}) // in one piece, and in several
    for (bool largest : {true, false}) {
      std::vector<float> row = numbers(n);
      Tensor x = h.input(FLOAT, {1, n}, row);
      auto top =
          popops::topKWithPermutation(h.graph, h.prog, x, {5, largest, popops::SortOrder::NONE});
      std::vector<unsigned> places = counted(n);
      std::stable_sort(places.begin(), places.end(), [&](unsigned a, unsigned b) {
        return largest ? row[b] < row[a] : row[a] < row[b];
      });
      places.resize(5);
      CHECK(same(h.run<unsigned>(top.second), places));
      // The same ones from the other end on; equal ones keep their order.
      std::sort(places.begin(), places.end());
      std::stable_sort(places.begin(), places.end(), [&](unsigned a, unsigned b) {
        return largest ? row[a] < row[b] : row[b] < row[a];
      });
      auto other = popops::topKWithPermutation(
          h.graph, h.prog, x,
          {5, largest, largest ? popops::SortOrder::ASCENDING : popops::SortOrder::DESCENDING});
      CHECK(same(h.run<unsigned>(other.second), places));
      std::vector<float> best;
      for (unsigned place : places) best.push_back(row[place]);
      CHECK(same(h.run<float>(other.first), best));
    }
  // All of a row is the row in that order.
  const std::vector<int> all = {3, 1, 3, 2, 3, 1};
  Tensor whole = h.input(INT, {6}, all);
  CHECK(same(h.run<unsigned>(popops::topKWithPermutation(h.graph, h.prog, whole,
                                                         {6, true, popops::SortOrder::ASCENDING})
                                 .second),
             {1, 5, 3, 0, 2, 4}));
  CHECK(same(
      h.run<int>(popops::topK(h.graph, h.prog, whole, {4, true, popops::SortOrder::ASCENDING})),
      {2, 3, 3, 3}));
  CHECK_THROWS(poplar_error, "102 of rows of 101",
               popops::topK(g, f.prog, t, {102, true, popops::SortOrder::NONE}));
  CHECK_THROWS(index_error, "dimension 0 of a tensor of rank 0",
               popops::topK(g, f.prog, t.flatten()[0], {1, true, popops::SortOrder::NONE}));
  CHECK_THROWS(type_error, "short", popops::sort(g, f.input(SHORT, {2}, counted(2)), 0, f.prog));
}

// Rows so long that many tiles sort them in blocks. The last block is shorter.
template <typename T, typename V>
void long_rows(const Type &type, const Type &value_type, unsigned rows, unsigned n, unsigned kinds)
{
  Fixture f(40);
  std::vector<T> keys(rows * n);
  unsigned state = n;
  for (T &key : keys) {
    state = state * 1664525u + 1013904223u;
    key = static_cast<T>(static_cast<int>(state >> 8) % static_cast<int>(kinds));
  }
  std::vector<V> values(rows * n), sorted_values(rows * n);
  std::iota(values.begin(), values.end(), V(1));
  std::vector<T> sorted(rows * n);
  for (unsigned r = 0; r < rows; ++r) {
    std::vector<unsigned> places = counted(n);
    const T *row = &keys[r * n];
    std::stable_sort(places.begin(), places.end(),
                     [&](unsigned a, unsigned b) { return row[a] < row[b]; });
    for (unsigned i = 0; i < n; ++i) {
      sorted[r * n + i] = row[places[i]];
      sorted_values[r * n + i] = values[r * n + places[i]];
    }
  }
  Tensor k = f.input(type, {rows, n}, keys), v = f.input(value_type, {rows, n}, values);
  CHECK(same(f.run<T>(popops::sort(f.graph, k, 1, f.prog)), sorted));
  popops::sortKeyValueInPlace(f.graph, k, v, 1, f.prog);
  CHECK(same(f.run<T>(k), sorted));
  CHECK(same(f.run<V>(v), sorted_values));
  unsigned tiles = 0;
  for (const auto &tile : f.graph.getTileMapping(popops::sort(f.graph, k, 1, f.prog)))
    tiles += !tile.empty();
  CHECK(tiles > rows); // of the 40
}

void long_orders()
{
  long_rows<int, unsigned>(INT, UNSIGNED_INT, 1, 20011, 1000000); // nearly all keys are different
  long_rows<int, std::uint16_t>(INT, UNSIGNED_SHORT, 2, 7777, 5); // nearly all keys are equal
  long_rows<float, float>(FLOAT, FLOAT, 1, 4099, 3000);

  // Zeros of both signs are equal, so they keep their order.
  Fixture f(40);
  std::vector<float> zeros(4000), expected(4000);
  for (unsigned i = 0; i < zeros.size(); ++i) expected[i] = zeros[i] = i % 3 ? 0.0f : -0.0f;
  std::vector<float> found =
      f.run<float>(popops::sort(f.graph, f.input(FLOAT, {4000}, zeros), 0, f.prog));
  CHECK(std::equal(found.begin(), found.end(), expected.begin(),
                   [](float a, float b) { return std::signbit(a) == std::signbit(b); }));
}

// NaN is behind all numbers, and no element is lost.
void orders_with_nan()
{
  Fixture f(40);
  auto &g = f.graph;
  const unsigned n = 20011;
  std::vector<float> keys(n);
  for (unsigned i = 0; i < n; ++i)
    keys[i] = i % 1000 == 17 ? std::nanf("") : float(i * 7919ull % n);
  Tensor k = f.input(FLOAT, {n}, keys), values = f.input(UNSIGNED_INT, {n}, counted(n));
  std::vector<unsigned> order = counted(n);
  std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
    return keys[a] < keys[b] || (std::isnan(keys[b]) && !std::isnan(keys[a]));
  });
  CHECK(f.run<unsigned>(popops::sortKeyValue(g, k, values, 0, f.prog)) == order);
  auto top = popops::topKWithPermutation(g, f.prog, k, {1, true, popops::SortOrder::NONE});
  CHECK(f.run<float>(top.first)[0] == float(n - 1));
  Fixture h;
  const std::vector<float> few = {3, std::nanf(""), 5, 2, std::nanf(""), 1};
  Tensor x = h.input(FLOAT, {6}, few);
  for (unsigned k : {5u, 6u}) {
    auto up =
        popops::topKWithPermutation(h.graph, h.prog, x, {k, true, popops::SortOrder::ASCENDING});
    CHECK(same(h.run<unsigned>(up.second), k == 5 ? std::vector<unsigned>{5, 3, 0, 2, 1}
                                                  : std::vector<unsigned>{5, 3, 0, 2, 1, 4}));
    CHECK(std::isnan(h.run<float>(
        popops::topK(h.graph, h.prog, x, {k, false, popops::SortOrder::DESCENDING}))[4]));
  }
}

void loops_and_encodings()
{
  Fixture f(5);
  auto &g = f.graph;
  Tensor sum = f.input(UNSIGNED_INT, {1}, counted(1));
  f.prog.add(popops::countedLoop(g, 3, 10, 2, [&](const Tensor &i) {
    Sequence body;
    popops::addInPlace(g, sum, i, body);
    return body;
  }));
  CHECK(same(f.run<unsigned>(sum), {3 + 5 + 7 + 9}));
  CHECK_THROWS(poplar_error, "an end of 4294967299", popops::countedLoop(g, (1ull << 32) + 3, {}));
  Tensor total = f.input(INT, {1}, counted(1)), i = g.clone(total),
         limit = f.input(INT, {1}, std::vector<int>{-6});
  Sequence body;
  popops::addInPlace(g, total, i, body);
  f.prog.add(popops::countedForLoop(g, i, 4, limit, -3, body));
  CHECK(same(f.run<int>(total), {4 + 1 - 2 - 5}));
  CHECK_THROWS(tensor_creation_error, "a limit of {2}; each has one element",
               popops::countedForLoop(g, 0, f.input(INT, {2}, counted(2)), 1, body));
  // A loop built from parts, which adds 1, 3 and 5.
  Tensor own = f.input(INT, {1}, std::vector<int>{-1}), odd = f.input(INT, {}, counted(1)),
         end = f.input(INT, {}, std::vector<int>{7});
  Sequence condition, addition;
  Tensor more = popops::addForLoopCounterVertex(g, own, end, 2, 3, condition);
  CHECK(g.getTileMapping(more)[3].size() == 1);
  popops::addInPlace(g, odd, own.reshape({}), addition);
  f.prog.add(RepeatWhileTrue(condition, more, addition));
  CHECK(same(f.run<int>(odd), {1 + 3 + 5}));
  CHECK(same(f.run<int>(own), {7}));

  Tensor truths = f.input(BOOL, {2, 3}, std::vector<int>{1, 1, 1, 1, 0, 1});
  Tensor both = concat(popops::allTrue(g, truths, f.prog).expand({0}),
                       popops::allTrue(g, truths[0], f.prog).expand({0}));
  CHECK(same(f.run<unsigned char>(both), {0, 1}));

  Tensor n = g.addVariable(INT, {4}, VariableMappingMethod::LINEAR);
  popops::iota(g, n, -1, f.prog);
  CHECK(same(f.run<int>(n), {-1, 0, 1, 2}));
  Tensor real = g.addVariable(FLOAT, {4}, VariableMappingMethod::LINEAR);
  popops::iota(g, real, -2, f.prog);
  CHECK(same(f.run<float>(real), {-2, -1, 0, 1}));
  Tensor hot = g.addVariable(FLOAT, {3, 4}, VariableMappingMethod::LINEAR);
  popops::encodeOneHot(g, f.input(UNSIGNED_INT, {3}, std::vector<unsigned>{2, 9, 0}), hot, f.prog);
  CHECK(same(f.run<float>(hot), {0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0}));

  Tensor x = f.input(FLOAT, {2, 2}, std::vector<float>{1, 2, 3, 4});
  Tensor padded = popops::pad(g, x, {1, 0}, {0, 2}, 9.0f);
  CHECK(same(f.run<float>(padded), {9, 9, 9, 9, 1, 2, 9, 9, 3, 4, 9, 9}));
  CHECK(same(f.run<float>(popops::pad(g, x, -1, 0, 0)), {3, 4}));
  // Each element of the padding is on the tile of the nearest element.
  Tensor y = g.addVariable(FLOAT, {2, 2});
  for (unsigned i = 0; i < 4; ++i) g.setTileMapping(y.flatten()[i], 3 - i);
  Tensor around = popops::pad(g, y, {1, 0}, {0, 1}, 5.0f, popops::padding::MappingMethod::EDGE);
  const unsigned tiles[] = {3, 2, 2, 3, 2, 2, 1, 0, 0};
  for (unsigned i = 0; i < 9; ++i)
    CHECK(g.getTileMapping(around.flatten().slice(i, i + 1))[tiles[i]].size() == 1);
  CHECK(same(f.run<float>(popops::pad(g, x, 1, -1, 0, 5.0f, popops::padding::MappingMethod::EDGE)),
             {5, 5, 1, 2}));
  CHECK(same(f.run<float>(popops::pad(x, 1, 2, 1, popops::padding::Type::EDGE)),
             {1, 1, 2, 2, 2, 3, 3, 4, 4, 4}));
  CHECK_THROWS(index_error, "rank is 2", popops::pad(g, x, 1, 1, 7, x[0][0]));
  Tensor r = f.input(FLOAT, {4}, std::vector<float>{1, 2, 3, 4});
  CHECK(same(f.run<float>(popops::pad(r, {2}, {3}, popops::padding::Type::REFLECT)),
             {3, 2, 1, 2, 3, 4, 3, 2, 1}));
}

// Operands that share elements with what is written, on one tile, where a vertex reads them while
// it writes.
void shared_elements()
{
  Fixture f(1);
  auto &g = f.graph;
  auto numbered = [&](std::size_t n) {
    std::vector<float> values(n);
    std::iota(values.begin(), values.end(), 0.f);
    return f.input(FLOAT, {n}, values);
  };
  Tensor a = numbered(48), whole = numbered(48);
  popops::scaledAddTo(g, a.slice(1, 48), a.slice(0, 47), 1, f.prog);
  popops::scaledAddTo(g, whole, whole, 1, f.prog);
  std::vector<float> sums = {0}, doubled = {0};
  for (unsigned i = 1; i < 48; ++i) {
    sums.push_back(float(2 * i - 1));
    doubled.push_back(float(2 * i));
  }
  CHECK(same(f.run<float>(a), sums));
  CHECK(same(f.run<float>(whole), doubled));

  Tensor matrix = numbered(144).reshape({12, 12});
  popops::reduceWithOutput(g, matrix, matrix[11], {1}, {popops::Operation::ADD}, f.prog);
  std::vector<float> rows;
  for (unsigned i = 0; i < 12; ++i) rows.push_back(float(12 * 12 * i + 66));
  CHECK(same(f.run<float>(matrix[11]), rows));
  std::vector<ComputeSet> sets;
  CHECK_THROWS(tensor_creation_error, "shares elements",
               popops::reduceWithOutput(g, matrix, matrix[0], {1}, {popops::Operation::ADD}, sets));
  popops::reduceWithOutput(g, whole, whole, {}, {popops::Operation::SQUARE_ADD}, sets);
  for (const ComputeSet &set : sets) f.prog.add(Execute(set));
  CHECK(f.run<float>(whole)[5] == 100);

  Tensor offset = f.input(UNSIGNED_INT, {1}, std::vector<unsigned>{2}), t = numbered(8),
         turned = numbered(8), u = numbered(4).reshape({4, 1});
  popops::dynamicUpdate(g, t, t.slice(0, 6), offset, {0}, {6}, f.prog);
  CHECK(same(f.run<float>(t), {0, 1, 0, 1, 2, 3, 4, 5}));
  popops::dynamicUpdate(g, turned, turned, offset, {0}, {8}, f.prog);
  CHECK(same(f.run<float>(turned), {6, 7, 0, 1, 2, 3, 4, 5}));
  Tensor offsets = f.input(UNSIGNED_INT, {2, 1}, std::vector<unsigned>{2, 3}),
         scale = f.input(FLOAT, {}, std::vector<float>{1});
  popops::multiUpdateAdd(g, u, u.slice(1, 3).expand({1}), offsets, scale, {0}, {1}, f.prog, {}, {});
  CHECK(same(f.run<float>(u), {0, 1, 3, 5}));
  Tensor v = numbered(8), w = numbered(4);
  popops::dynamicSliceWithOutput(g, v.slice(3, 7), v, offset, {0}, {4}, f.prog);
  CHECK(same(f.run<float>(v), {0, 1, 2, 2, 3, 4, 5, 7}));
  popops::dynamicSliceWithOutput(g, w, w, offset, {0}, {4}, f.prog);
  CHECK(same(f.run<float>(w), {2, 3, 0, 1}));
}
// The same for operations on elements, on one tile and on several.
void shared_operands()
{
  for (unsigned tiles : {1, 3}) {
    Fixture f(tiles);
    auto &g = f.graph;
    auto numbered = [&] { return f.input(FLOAT, {7}, std::vector<float>{1, 2, 3, 4, 5, 6, 7}); };
    Tensor a = numbered(), b = numbered(), c = numbered(), d = numbered(), e = numbered();
    popops::subInPlace(g, a, a[2], f.prog);
    CHECK(same(f.run<float>(a), {-2, -1, 0, 1, 2, 3, 4}));
    popops::mulInPlace(g, b, b.reverse(0), f.prog);
    CHECK(same(f.run<float>(b), {7, 12, 15, 16, 15, 12, 7}));
    popops::negWithOutput(g, c.slice(0, 6), c.slice(1, 7), f.prog);
    CHECK(same(f.run<float>(c), {1, -1, -2, -3, -4, -5, -6}));
    popops::castWithOutput(g, d.slice(1, 7), d.slice(0, 6).reinterpret(INT), f.prog);
    CHECK(same(f.run<int>(d.slice(0, 6).reinterpret(INT)), {2, 3, 4, 5, 6, 7}));
    popops::selectInPlace(g, e, e.slice(0, 1).broadcast(7, 0), popops::gt(g, e, 4.f, f.prog),
                          f.prog);
    CHECK(same(f.run<float>(e), {1, 1, 1, 1, 5, 6, 7}));
  }
}

void mappings()
{
  Fixture f(4);
  auto &g = f.graph;
  Tensor t = g.addVariable(FLOAT, {10});
  poputil::mapTensorLinearlyWithOffset(g, t, 1, 1, 2);
  Graph::TileToTensorMapping expected = {{{6, 9}}, {{9, 10}}, {{0, 3}}, {{3, 6}}};
  CHECK(g.getTileMapping(t) == expected);
  poputil::mapTensorLinearlyWithOffset(g, t, 1, 4, 1, false);
  expected = {{{8, 10}}, {{4, 8}}, {{0, 4}}, {}};
  std::swap(expected[0], expected[0]);
  CHECK(g.getTileMapping(t) == expected);
  poputil::mapTensorLinearly(g, t);
  CHECK(poputil::calcLinearTileMapping(g, t) == g.getTileMapping(t));
  CHECK(poputil::getTileImbalance(g, t) == 0);
  g.setTileMapping(t, 3);
  CHECK(poputil::getTileImbalance(g, t) == 7);
  CHECK_THROWS(invalid_tile_mapping, "tile 4", poputil::mapTensorLinearlyWithOffset(g, t, 4));

  using R = std::vector<Interval>;
  CHECK((poputil::splitRegions(R{{0, 5}, {8, 11}}, 2, 3) ==
         std::vector<R>{R{{0, 4}}, R{{4, 5}, {8, 11}}}));
  CHECK((poputil::splitRegions(R{{0, 10}}, 1, 1, 0, 4, 3) ==
         std::vector<R>{R{{0, 3}, {3, 4}}, R{{4, 7}, {7, 8}}, R{{8, 10}}}));
  CHECK((poputil::splitRegions(std::vector<R>{R{{0, 3}}, R{{5, 6}, {9, 11}}}, 1, 2) ==
         std::vector<std::vector<R>>{{R{{0, 3}}}, {R{{5, 6}, {9, 11}}}}));
  CHECK(poputil::splitRegionsBetweenWorkers(g.getTarget(), R{{0, 100}}, 1).size() == 6);
  CHECK_THROWS(poputil::poplibs_error, "dimension 1 has no element",
               poputil::unflattenIndex(std::vector<std::size_t>{2, 0}, 1));
  CHECK_THROWS(poputil::poplibs_error, "1 coordinates for rank 2",
               poputil::flattenIndex<unsigned>({2, 3}, {1}));
  CHECK((poputil::unflattenIndex(std::vector<std::size_t>{2, 3, 4}, 23) ==
         std::vector<std::size_t>{1, 2, 3}));
  CHECK(poputil::flattenIndex(std::vector<std::size_t>{2, 3, 4}, {1, 2, 3}) == 23);

  Tensor m = g.addVariable(FLOAT, {8, 6});
  poputil::mapTensorLinearly(g, m);
  CHECK(poputil::detectInnermostGrouping(g, m) == 6);
  CHECK(poputil::detectInnermostGrouping(g, m.transpose()) == 1);
  CHECK(poputil::detectInnermostGrouping(g, m.slice(0, 0, 1)) == 1);
  CHECK(poputil::detectDimGroupings(g, m.slice(0, 0, 0).transpose()).size() == 1);
  CHECK((poputil::detectDimGroupings(g, m) == std::vector<poputil::GroupingInfo>{{1, 6}, {0, 2}}));
  // Parts of 3, 3, 2 rows and 4, 2 columns, each in one region.
  Tensor parts = poputil::createPartitionableTensor(g, FLOAT, {8, 6, 1}, {3, 2, 1}, "parts");
  CHECK((parts.shape() == std::vector<std::size_t>{8, 6, 1}) && parts.containsAliases() == false);
  std::vector<std::size_t> sizes, numbers;
  poputil::iterateTensorPartitions(parts, {3, 2, 1},
                                   [&](const std::vector<std::size_t> &i, const Tensor &part) {
                                     CHECK(part.isContiguous());
                                     sizes.push_back(part.numElements());
                                     numbers.push_back(10 * i[0] + i[1]);
                                   });
  CHECK((sizes == std::vector<std::size_t>{9, 9, 9, 9, 6, 6}));
  CHECK((numbers == std::vector<std::size_t>{0, 1, 10, 11, 20, 21}));
  CHECK(poputil::createPartitionableTensor(g, INT, {}, {}).rank() == 0);
  CHECK(poputil::createPartitionableTensor(g, INT, {3, 0}, {2, 2}).numElements() == 0);
  std::size_t empty = 0;
  poputil::iterateTensorPartitions(m.flatten().slice(0, 5), {4},
                                   [&](const std::vector<std::size_t> &, const Tensor &part) {
                                     empty += part.numElements() == 0;
                                   });
  CHECK(empty == 1); // 2, 2, 1 and none
  CHECK_THROWS(poputil::poplibs_error, "2 dimensions",
               poputil::createPartitionableTensor(g, INT, {3, 2}, {3}));

  Tensor row = g.addVariable(FLOAT, {6}), column = g.addVariable(FLOAT, {8, 1});
  poputil::broadcastToMatch(row, column);
  CHECK(row.shape() == m.shape() && column.shape() == m.shape());
  CHECK(!poputil::canBroadcastToMatch(m, m.slice(0, 3)));
  Tensor out = popops::createOutputForElementWiseOp(g, {row, m}, INT);
  CHECK(out.elementType() == INT && g.getTileMapping(out) == g.getTileMapping(m));
}

// The operations of tests/unit/poplibs/windows.c by their public names, and the guide's example of
// a gather.
void windows_and_groups()
{
  Fixture f(5);
  auto &g = f.graph;
  Tensor t = f.input(FLOAT, {3, 3}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  Tensor at = f.input(UNSIGNED_INT, {2, 2}, std::vector<unsigned>{1, 1, 2, 1});
  CHECK(
      close(f.run<float>(popops::gather(g, t, at, 1, {}, {1, 1}, {0, 1}, {0, 1}, f.prog)), {5, 8}));
  Tensor rows = f.input(INT, {2}, std::vector<int>{2, 0});
  Tensor found = popops::gather(g, t, rows, 1, {0}, {1, 3}, {0}, {0}, f.prog);
  CHECK((found.shape() == std::vector<std::size_t>{3, 2}));
  CHECK(close(f.run<float>(found), {7, 1, 8, 2, 9, 3}));
  Tensor into = popops::createGatherInput(g, FLOAT, {3, 3}, {1, 3}, {0});
  f.prog.add(Copy(t, into));
  popops::scatter(g, into, rows, f.input(FLOAT, {2, 3}, std::vector<float>{1, 1, 1, 2, 2, 2}), 1,
                  {1}, {0}, {0}, f.prog);
  CHECK(close(f.run<float>(into), {2, 2, 2, 4, 5, 6, 1, 1, 1}));
  // 10 times the old value minus the update. The order is kept, and a repeated row is updated
  // twice.
  popops::UpdateComputationFunc computation = [](Graph &graph, Tensor &is, Tensor &by,
                                                 Sequence &prog) {
    Tensor ten = popops::mul(graph, is, 10.0f, prog);
    return popops::sub(graph, ten, by, prog);
  };
  popops::scatter(g, t, f.input(INT, {3, 1}, std::vector<int>{0, 5, 0}),
                  f.input(FLOAT, {2, 3}, std::vector<float>{1, 0, 3, 2, 0, 4}).transpose(), 1, {1},
                  {1}, {1}, computation, f.prog);
  CHECK(close(f.run<float>(t.slice(0, 2)), {87, 2, 3, 376, 5, 6}));
  popops::scatter(g, t, g.addVariable(INT, {0, 1}), g.addVariable(FLOAT, {3, 0}), 1, {0}, {1}, {1},
                  computation, f.prog); // no windows
  CHECK(close(f.run<float>(t.slice(0, 2)), {87, 2, 3, 376, 5, 6}));
  CHECK_THROWS(index_error, "popops::gather: the length of vectors",
               popops::gather(g, t, at, 1, {}, {1, 1}, {0, 1}, {0}, f.prog));

  // Two groups of three rows, with options that change the meaning of indices.
  Tensor groups = popops::createGroupedSliceableTensor(g, FLOAT, 2, {3, 2}, {0}, {1}, {}, {});
  f.prog.add(Copy(f.input(FLOAT, {2, 3, 2}, numbers(12)), groups));
  Tensor of = f.input(UNSIGNED_INT, {2, 2, 1}, std::vector<unsigned>{2, 7, 1, 3});
  std::vector<float> n = numbers(12);
  CHECK(close(f.run<float>(popops::groupedMultiSlice(g, groups, of, {0}, {1}, f.prog, {}, {})),
              {n[4], n[5], 0, 0, n[8], n[9], 0, 0}));
  OptionFlags remap{{"remapOutOfBoundIndices", "true"}};
  CHECK(close(f.run<float>(popops::groupedMultiSlice(g, groups, of, {0}, {1}, f.prog, {}, remap)),
              {n[4], n[5], n[0], n[1], n[8], n[9], n[6], n[7]}));
  remap.set("paddingIndexUsed", "true");
  CHECK(close(f.run<float>(popops::groupedMultiSlice(g, groups, of, {0}, {1}, f.prog, {}, remap)),
              {n[4], n[5], n[0], n[1], n[8], n[9], 0, 0}));
  Tensor s = popops::createGroupedSliceTensor(g, FLOAT, 2, {3, 2}, {0}, {1}, 2, {}, {});
  CHECK((s.shape() == std::vector<std::size_t>{2, 2, 1, 2}));
  f.prog.add(Copy(f.input(FLOAT, {8}, std::vector<float>(8, 1)), s.flatten()));
  popops::groupedMultiUpdateAdd(g, groups, s, of, f.input(FLOAT, {1}, std::vector<float>{2}), {0},
                                {1}, f.prog, {}, {});
  n[4] += 2, n[5] += 2, n[8] += 2, n[9] += 2;
  CHECK(close(f.run<float>(groups), n));
  CHECK_THROWS(invalid_option, "validateIndices",
               popops::groupedMultiSlice(g, groups, of, {0}, {1}, f.prog, {},
                                         {{"validateIndices", "true"}}));
  CHECK_THROWS(invalid_option, "kept as the elements are, float",
               popops::embedding::plan(g, FLOAT, 3, 2, {2}, {{"partialType", "half"}}));
  CHECK_THROWS(invalid_option, "no option 'plan'",
               popops::multiSlice(g, t, of[0], {0}, {1}, f.prog, {}, {{"plan", "true"}}));
}

void regrouping()
{
  Fixture f(5);
  auto &g = f.graph;
  Tensor m = f.input(FLOAT, {4, 6}, numbers(24)), turned = m.transpose();
  Sequence copies;
  Tensor by_columns =
      popops::rearrange::regroupTensor(g, m, copies, g.addComputeSet("cs"), {1, 6}, {0, 4});
  f.prog.add(copies);
  CHECK((poputil::detectDimGroupings(g, by_columns)[0] == poputil::GroupingInfo{0, 4}));
  CHECK(close(f.run<float>(by_columns), numbers(24)));
  CHECK(popops::rearrange::regroupIfPossible(g, by_columns, f.prog, {0, 2}) == by_columns);
  CHECK(popops::rearrange::regroupIfPossible(g, m, f.prog, {0, 3}) == m); // not possible: unchanged
  Tensor as_turned =
      popops::rearrange::regroupIfBeneficial(g, m.reshape({4, 6}), by_columns, f.prog);
  CHECK((poputil::detectInnermostGrouping(g, as_turned.transpose()) == 4));
  CHECK(close(f.run<float>(as_turned), numbers(24)));
  Tensor rows = popops::rearrange::regroupIfBeneficial(g, turned, 4, f.prog);
  CHECK(poputil::detectInnermostGrouping(g, rows) == 4 &&
        f.run<float>(rows) == f.run<float>(turned));
  CHECK_THROWS(
      poputil::poplibs_error, "groups of 5",
      popops::rearrange::regroupTensor(g, m, copies, g.addComputeSet("cs"), {1, 6}, {0, 5}));

  Tensor a = f.input(INT, {3}, std::vector<int>{1, 2, 3});
  popops::selectInPlace(g, a, f.input(INT, {3}, std::vector<int>{7, 8, 9}),
                        f.input(BOOL, {3}, std::vector<char>{1, 0, 1}), f.prog);
  CHECK(same(f.run<int>(a), {1, 8, 3}));
}

} // namespace

int main()
{
  windows_and_groups();
  regrouping();
  one_slice();
  one_row_of_many_parts();
  many_slices();
  long_columns();
  order();
  long_orders();
  orders_with_nan();
  loops_and_encodings();
  shared_elements();
  shared_operands();
  mappings();
  return failures != 0;
}
