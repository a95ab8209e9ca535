// gcl as public programs use it: data-parallel training written by hand, gathered queries,
// scattered results, and its other functions. The exit status is 0 if all checks pass.
// tests/e2e/ranks.sh runs it in one process and in several.
#include <algorithm>
#include <cstdio>
#include <gcl/Collectives.hpp>
#include <gcl/TileAllocation.hpp>
#include <numeric>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <popnn/BatchNorm.hpp>
#include <popops/Collectives.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>
#include <string>

using namespace poplar;

static const unsigned REPLICAS = 4, COUNT = 6;

static Tensor add(Graph &graph, const std::string &name)
{
  Tensor t = graph.addVariable(FLOAT, {COUNT}, name);
  poputil::mapTensorLinearly(graph, t, 1, 1);
  graph.createHostWrite(name, t);
  return t;
}

static bool check(Engine &engine, const std::string &name, const std::vector<float> &wanted)
{
  std::vector<float> got(wanted.size());
  engine.readTensor(name, got.data(), got.data() + got.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (got[i] != wanted[i]) {
      std::printf("%s %zu: %g instead of %g\n", name.c_str(), i, static_cast<double>(got[i]),
                  static_cast<double>(wanted[i]));
      return false;
    }
  return true;
}

int main()
{
  IPUModel model;
  model.numIPUs = REPLICAS;
  model.tilesPerIPU = 4;
  Device device = model.createDevice();
  Graph graph(device.getTarget(), replication_factor(REPLICAS));
  // Collectives use their own codelets, although the graph has others of the same name, as with the
  // original libraries.
  std::stringstream codelets(
      "#include <poplar/Vertex.hpp>\n"
      "namespace popops { template <typename T> class Fill : public poplar::MultiVertex { public:\n"
      "  T in; poplar::Output<poplar::Vector<T>> out;\n"
      "  bool compute(unsigned) { out[0] = in; return true; } };\n"
      "template class Fill<unsigned int>; }\n");
  graph.addCodelets(codelets);
  program::Sequence prog;
  Tensor data = add(graph, "data"), own = add(graph, "own");
  const gcl::CommGroup pairs(gcl::CommGroupType::CONSECUTIVE, 2);
  Tensor all = gcl::allGatherCrossReplica(graph, data, prog, "queryToReplicas");
  Tensor sum = gcl::allReduceCrossReplica(graph, data, gcl::CollectiveOperator::ADD, prog);
  Tensor part =
      gcl::reduceScatterCrossReplica(graph, data, gcl::CollectiveOperator::MAX, prog, pairs);
  Tensor first = gcl::broadcastCrossReplica(graph, data, prog);
  Tensor swapped = gcl::allToAllCrossReplica(graph, data.reshape({2, COUNT / 2}), prog, pairs);
  gcl::allReduceInPlaceCrossReplica(graph, std::vector<Tensor>{own}, gcl::CollectiveOperator::MEAN,
                                    prog, pairs, "mean", {{"useReplicatedImplementation", "true"}});
  gcl::Chunks chunks = gcl::reduceScatterWithinReplica(graph, data.reshape({2, COUNT / 2}),
                                                       gcl::CollectiveOperator::ADD, prog);
  Tensor halves = gcl::allGatherWithinReplica(graph, chunks, prog);
  if (!gcl::reduceScatterWithinReplica(graph, data.slice(0, 0).reshape({0, 2}),
                                       gcl::CollectiveOperator::ADD, prog)
           .chunks.empty())
    return 1;
  std::swap(chunks.chunks[0], chunks.chunks[1]); // the index gives the order
  graph.createHostRead("halves", halves);
  graph.createHostRead("chunks", gcl::concatChunks(chunks));
  if (chunks.chunks.size() != 2 || chunks.chunks[1].tensor.numElements() != 2 ||
      halves.shape() != std::vector<std::size_t>{2, COUNT / 2})
    return 1;
  Tensor sumsHere = graph.clone(data, "sumsHere");
  prog.add(program::Copy(data, sumsHere));
  gcl::allReduceInPlaceWithinReplica(graph, sumsHere.reshape({2, COUNT / 2}),
                                     gcl::CollectiveOperator::ADD, prog);
  Tensor turned = gcl::allToAllWithinReplica(graph, data.slice(0, 4).reshape({2, 2}), prog);
  Tensor second = gcl::broadcastWithinReplica(graph, data.reshape({2, COUNT / 2}), prog, 1);
  graph.createHostRead("sumsHere", sumsHere);
  graph.createHostRead("turned", turned);
  graph.createHostRead("second", second);
  Tensor old = graph.clone(data, "old"); // the names before gcl
  popops::replicatedAllReduceWithOutput(graph, data, old, popops::Operation::MAX, prog);
  Tensor oldAll = popops::replicatedAllGather(graph, data, prog);
  auto sumOfPairs = [&](Graph &g, const std::vector<Tensor> &parts, program::Sequence &steps,
                        unsigned replicas, const DebugContext &context, const OptionFlags &) {
    std::vector<Tensor> sums;
    for (const Tensor &t : parts)
      sums.push_back(gcl::allReduceCrossReplica(
          g, t, gcl::CollectiveOperator::ADD, steps,
          gcl::CommGroup(gcl::CommGroupType::CONSECUTIVE, replicas), context));
    return sums;
  };
  auto normal = popnn::bn::distributedBatchNormStatistics(graph, data.reshape({3, COUNT / 3}), 0,
                                                          prog, false, sumOfPairs, 6, true);
  graph.createHostRead("batchMean", normal.first);
  bool thrown = false;
  try {
    auto bad = [](Graph &, const std::vector<Tensor> &, program::Sequence &, unsigned,
                  const DebugContext &, const OptionFlags &) -> std::vector<Tensor> {
      throw std::string("of the callback");
    };
    popnn::bn::distributedBatchNormStatistics(graph, data.reshape({3, COUNT / 3}), 0, prog, false,
                                              bad, 6);
  } catch (const std::string &what) {
    thrown = what == "of the callback";
  }
  if (!thrown) return 1;
  graph.createHostRead("old", old);
  graph.createHostRead("oldAll", oldAll);
  graph.createHostRead("all", all);
  graph.createHostRead("sum", sum);
  graph.createHostRead("part", part);
  graph.createHostRead("first", first);
  graph.createHostRead("swapped", swapped);
  graph.createHostRead("mean", own);
  if (all.shape() != std::vector<std::size_t>{REPLICAS, COUNT} || part.numElements() != COUNT / 2)
    return 1;
  if (gcl::perIPUTiles(graph, 1, 2) != std::vector<unsigned>{1, 2} ||
      gcl::getMinIoTiles(graph) != 4)
    return 1;

  Engine engine(graph, prog);
  engine.load(device);
  std::vector<float> in(REPLICAS * COUNT), sums, parts, firsts, others, means, gathered, largest,
      halfSums, twice, batchMeans, turns, seconds;
  std::iota(in.begin(), in.end(), 1.0f);
  for (unsigned r = 0; r < REPLICAS; ++r) {
    unsigned low = r / 2 * 2, other = r ^ 1;
    gathered.insert(gathered.end(), in.begin(), in.end());
    for (unsigned c = 0; c < 2; ++c) batchMeans.push_back(static_cast<float>(r / 2 * 12 + 6 + c));
    for (unsigned i = 0; i < COUNT; ++i) {
      sums.push_back(in[i] + in[COUNT + i] + in[2 * COUNT + i] + in[3 * COUNT + i]);
      firsts.push_back(in[i]);
      largest.push_back(in[3 * COUNT + i]);
      means.push_back((in[low * COUNT + i] + in[(low + 1) * COUNT + i]) / 2);
      unsigned row = i / (COUNT / 2), column = i % (COUNT / 2), from = low + row;
      others.push_back(in[from * COUNT + r % 2 * (COUNT / 2) + column]);
    }
    for (unsigned i = 0; i < COUNT; ++i) {
      const float *half = &in[r * COUNT + i % (COUNT / 2)];
      twice.push_back(half[0] + half[COUNT / 2]);
      seconds.push_back(half[COUNT / 2]);
      if (i < 4) turns.push_back(in[r * COUNT + i % 2 * 2 + i / 2]);
      if (i < COUNT / 2) halfSums.push_back(twice.back());
    }
    for (unsigned i = 0; i < COUNT / 2; ++i) {
      unsigned element = r % 2 * (COUNT / 2) + i;
      parts.push_back(std::max(in[r * COUNT + element], in[other * COUNT + element]));
    }
  }
  engine.writeTensor("data", in.data(), in.data() + in.size());
  engine.writeTensor("own", in.data(), in.data() + in.size());
  engine.run(0);
  bool good = check(engine, "all", gathered) && check(engine, "sum", sums) &&
              check(engine, "part", parts) && check(engine, "first", firsts) &&
              check(engine, "swapped", others) && check(engine, "mean", means) &&
              check(engine, "halves", twice) && check(engine, "chunks", halfSums) &&
              check(engine, "sumsHere", twice) && check(engine, "turned", turns) &&
              check(engine, "second", seconds) && check(engine, "old", largest) &&
              check(engine, "oldAll", gathered) && check(engine, "batchMean", batchMeans);
  if (good) std::printf("collectives are right\n");
  return good ? 0 : 1;
}
