// poputil: variables that are mapped like other tensors.
#include "check.hpp"
#include "fixture.hpp"

#include <algorithm>
#include <poputil/Util.hpp>

using namespace poplar;
using namespace poplar::program;

namespace
{

std::vector<std::size_t> tiles_of(const Graph &graph, const Tensor &t)
{
  std::vector<std::size_t> tiles(t.numElements(), 999);
  auto mapping = graph.getTileMapping(t);
  for (std::size_t tile = 0; tile < mapping.size(); ++tile)
    for (const Interval &interval : mapping[tile])
      for (std::size_t i = interval.begin(); i < interval.end(); ++i) tiles[i] = tile;
  return tiles;
}

// Each element is on a tile of its column, and several tiles are used.
void operands_lie_with_what_they_are_combined_with()
{
  Fixture f(8);
  Tensor full = f.input(FLOAT, {16, 10}, numbers(160));
  for (unsigned dim = 0; dim < 2; ++dim) {
    Tensor bias = poputil::createBroadcastOperand(f.graph, full, HALF, dim);
    CHECK(bias.shape() == std::vector<std::size_t>{full.dim(dim)} && bias.elementType() == HALF);
    auto own = tiles_of(f.graph, bias);
    for (std::size_t i = 0; i < own.size(); ++i) {
      auto column = tiles_of(f.graph, full.slice(i, i + 1, dim));
      CHECK(std::count(column.begin(), column.end(), own[i]) > 0);
    }
    std::sort(own.begin(), own.end());
    CHECK(std::unique(own.begin(), own.end()) - own.begin() >= 5);
  }
  auto usual = tiles_of(f.graph, poputil::createBroadcastOperand(f.graph, full, FLOAT, 1));
  auto dithered =
      tiles_of(f.graph, poputil::createBroadcastOperand(f.graph, full, FLOAT, 1, true, "b"));
  CHECK(usual != dithered && *std::max_element(dithered.begin(), dithered.end()) < 8);
  Tensor empty = f.graph.addVariable(FLOAT, {3, 0});
  CHECK(tiles_of(f.graph, poputil::createBroadcastOperand(f.graph, empty, FLOAT, 0))[2] < 8);
  CHECK_THROWS(tensor_creation_error, "no dimension 2 of shape",
               poputil::createBroadcastOperand(f.graph, full, FLOAT, 2));
}

// Although its target says that it has one tile.
void tiles_of_the_cpu()
{
  Graph graph(Device::createCPUDevice().getTarget());
  Tensor t = graph.addVariable(FLOAT, {2, 2}), other = graph.clone(t);
  graph.setTileMapping(t, 7);
  graph.setTileMapping(t[1], 5);
  CHECK((tiles_of(graph, t) == std::vector<std::size_t>{7, 7, 5, 5}));
  bool complete = true;
  graph.getTileMapping(concat(t, other), &complete);
  CHECK(!complete);
}

Device two_ipus()
{
  IPUModel model;
  model.numIPUs = 2;
  model.tilesPerIPU = 4;
  return model.createDevice();
}

void copies_to_another_ipu()
{
  Fixture f(two_ipus());
  Tensor t = f.graph.addVariable(FLOAT, {6}), from, to;
  f.graph.setInitialValue(t, numbers(6));
  for (unsigned i = 0; i < 6; ++i) f.graph.setTileMapping(t[i], i % 4);
  Tensor twice = concat(t, t.reverse(0)).reshape({2, 6});
  Tensor there = poputil::createIpuCopy(f.graph, twice, 1, from, to, "copy",
                                        TensorCloneMethod::PRESERVE_ORDER_AND_ALIASES);
  CHECK(there.shape() == twice.shape() && from.numElements() == 6 && to.numElements() == 6);
  auto here = tiles_of(f.graph, twice), moved = tiles_of(f.graph, there);
  for (std::size_t i = 0; i < here.size(); ++i) CHECK(moved[i] == here[i] + 4);
  f.prog.add(Copy(from, to));
  std::vector<float> wanted = numbers(6), both = f.run<float>(there);
  for (std::size_t i = 0; i < 6; ++i) CHECK(both[i] == wanted[i] && both[11 - i] == wanted[i]);
  Tensor plain = poputil::createIpuCopy(f.graph, t, 1, from, to);
  CHECK(from == t && to == plain);
}

void clones_in_another_graph()
{
  Fixture f(two_ipus());
  Graph second = f.graph.createVirtualGraph(4, 8);
  Tensor t = f.graph.addVariable(INT, {5});
  for (unsigned i = 0; i < 5; ++i) f.graph.setTileMapping(t[i], (i * 3) % 4);
  Tensor clone = poputil::cloneToGraph(f.graph, second, t, "clone");
  auto here = tiles_of(f.graph, t), there = tiles_of(f.graph, clone);
  for (std::size_t i = 0; i < 5; ++i) CHECK(there[i] == here[i] + 4);
  f.graph.setTileMapping(t[0], 7);
  CHECK_THROWS(invalid_tile_mapping, "on tile 7; the other graph has 4 tiles",
               poputil::cloneToGraph(f.graph, second, t));
}

void which_tiles()
{
  Fixture f(two_ipus());
  Tensor t = f.graph.addVariable(SHORT, {2, 4}), other = f.graph.addVariable(SHORT, {2, 4});
  poputil::mapTensorLinearlyWithOffset(f.graph, t);
  const auto mapping = f.graph.getTileMapping(t);
  CHECK(mapping == poputil::calcLinearTileMapping(f.device.getTarget(), {2, 4}, SHORT));
  CHECK(mapping == poputil::calcLinearTileMapping(f.device.getTarget(), {2, 4}, 0, 2));
  for (unsigned tile : {0u, 3u, 7u})
    for (bool up : {true, false}) {
      const auto from = poputil::calcLinearTileMapping(f.device.getTarget(), {8}, 1, 1, 3, up);
      const unsigned place = poputil::transformTileIndex(tile, 8, 3, up);
      CHECK(from[tile].size() == 1 && from[tile][0] == Interval(place, place + 1));
      CHECK(poputil::invTransformTileIndex(place, 8, 3, up) == tile);
    }
  for (unsigned i = 0; i < 8; ++i)
    f.graph.setTileMapping(other.flatten()[i], i % 4 + i % 2 * 4 - i % 2);
  CHECK(!poputil::dimIsSplitOverTiles(f.graph, other, 0));
  CHECK(poputil::dimIsSplitOverTiles(f.graph, other, 1));
  CHECK(poputil::dimIsSplitOverIPUs(f.graph, other, 1));
  CHECK(!poputil::dimIsSplitOverIPUs(f.graph, other, 0));
  CHECK(poputil::dimIsSplitOverTiles(f.graph, t, 0) && !poputil::dimIsSplitOverIPUs(f.graph, t, 0));
  CHECK_THROWS(invalid_tile_mapping, "no IPU 2; the graph has 2",
               poputil::cloneToIpu(f.graph, t, 2));
}

void dimensions_in_factors()
{
  Fixture f(4);
  std::vector<int> values(24);
  for (int i = 0; i < 24; ++i) values[unsigned(i)] = i;
  Tensor t = f.input(INT, {2, 4, 3}, values);
  Tensor factored = poputil::factorDims(t, {2, 3}, 1);
  CHECK_THROWS(tensor_creation_error, "dimension 1 of 4 elements is no multiple of 3",
               poputil::factorDims(t, {3}, 1));
  factored = poputil::factorDims(t, {2, 3}, 1);
  CHECK((factored.shape() == std::vector<std::size_t>{2, 2, 1, 2, 3}));
  const std::vector<int> got = f.run<int>(factored);
  for (unsigned i = 0; i < 24; ++i) {
    const unsigned a = i / 12, n = i / 6 % 2, p = i / 3 % 2, q = i % 3;
    CHECK(got[i] == values[(a * 4 + n * 2 + p) * 3 + q]);
  }
  CHECK(poputil::unfactorDims(factored, 2, 1) == t);
  CHECK(poputil::castToDeviceHalfValue(f.device.getTarget(), 0.1) == 0.0999755859375);
  CHECK(poputil::castToDeviceHalfValue(f.device.getTarget(), 1 + 1.0 / 2048 + 1.0 / (1 << 30)) ==
        1 + 1.0 / 1024);
  std::vector<poputil::Regions> regions{{{4, 6}, {0, 4}}, {}, {{1, 2}}};
  CHECK((poputil::flattenIntervals(regions) == poputil::Regions{{4, 6}, {0, 4}, {1, 2}}));
  poputil::mergeAdjacentRegions(regions);
  CHECK((regions == std::vector<poputil::Regions>{{{0, 6}}, {}, {{1, 2}}}));
}

} // namespace

int main()
{
  which_tiles();
  dimensions_in_factors();
  operands_lie_with_what_they_are_combined_with();
  tiles_of_the_cpu();
  copies_to_another_ipu();
  clones_in_another_graph();
  return failures != 0;
}
