// The guide's tutorial 7: matrix times vector with each row split into segments, so that there is work for all workers
// of all tiles and less of the input vector to send. Two compute sets: dot products of segments, then the sum of each
// row's partial results. How many segments is found by estimating the cycles of every split.
#ifdef __POPC__

#include <poplar/Vertex.hpp>

using namespace poplar;

class DotProductVertex : public Vertex
{
public:
  Input<Vector<float>> a, b;
  Output<float> out;

  bool compute()
  {
    float sum = 0;
    for (unsigned i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    *out = sum;
    return true;
  }
};

class ReduceVertex : public Vertex
{
public:
  Input<Vector<float>> in;
  Output<float> out;

  bool compute()
  {
    float sum = 0;
    for (float value : in) sum += value;
    *out = sum;
    return true;
  }
};

#else

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poputil/TileMapping.hpp>
#include <string>
#include <vector>

using namespace poplar;
using namespace poplar::program;

namespace
{

constexpr unsigned inputGrain = 8;

std::size_t divideUp(std::size_t a, std::size_t b)
{
  return (a + b - 1) / b;
}

// Five cycles to start a vertex; then two multiply-adds, or two additions, a cycle.
std::size_t vertexCycles(std::size_t elements)
{
  return 5 + (elements + 1) / 2;
}

struct Estimate {
  std::size_t compute, exchange, reduceExchange, reduceCompute;
  std::size_t total() const { return compute + exchange + reduceExchange + reduceCompute; }
};

// Of the longest-running tile, and of the tile that receives most, in both phases.
Estimate estimateCycles(const Target &target, std::size_t rows, std::size_t columns,
                        std::size_t split)
{
  std::size_t tiles = target.getNumTiles(), workers = target.getNumWorkerContexts();
  std::size_t wordsPerCycle = target.getExchangeBytesPerCycle() / sizeof(float);
  auto tileCycles = [&](std::size_t vertices, std::size_t each) {
    return divideUp(vertices, workers) * workers * each; // workers are filled in rounds
  };
  std::size_t dots = divideUp(rows * split, tiles), sums = divideUp(rows, tiles);
  std::size_t segment = divideUp(columns, split);
  return {tileCycles(dots, vertexCycles(segment)), divideUp(dots, rows) * segment / wordsPerCycle,
          sums * split / wordsPerCycle, tileCycles(sums, vertexCycles(split))};
}

std::size_t findBestSplit(const Target &target, std::size_t rows, std::size_t columns)
{
  std::size_t best = 1, worst = 0;
  //> Exercise 1: the split with the smallest estimate, and what the worst would take.
  for (std::size_t split = 1; split < columns; ++split) {
    std::size_t cost = estimateCycles(target, rows, columns, split).total();
    if (cost < estimateCycles(target, rows, columns, best).total()) best = split;
    if (cost > worst) worst = cost;
  }
  //<
  Estimate e = estimateCycles(target, rows, columns, best);
  std::cout << "Best split chosen:\ncolsAxisSplit=" << best << ", total cost=" << e.total()
            << " (compute cost=" << e.compute << ", exchange cost=" << e.exchange
            << ", reduce exchange cost=" << e.reduceExchange
            << ", reduce compute cost=" << e.reduceCompute << ")\nWorst cost seen: " << worst
            << '\n';
  return best;
}

// Where the vertex of a row's segment is: spread over all tiles; or each segment over tiles of its own, so that none
// needs two segments of the input vector, if the busiest tile has no more vertices then.
unsigned tileOfSegment(std::size_t tiles, std::size_t rows, std::size_t split, std::size_t segment,
                       std::size_t row)
{
  std::size_t first = segment * tiles / split, own = (segment + 1) * tiles / split - first;
  bool isEven = false;
  //> Exercise 2: when is no tile worse off if each segment has tiles of its own?
  isEven = tiles >= split && divideUp(rows, tiles / split) <= divideUp(rows * split, tiles);
  //<
  return static_cast<unsigned>(isEven ? first + row * own / rows
                                      : (segment * rows + row) * tiles / (split * rows));
}

// A vertex for each segment of each row; the segment and its partial result live with it.
ComputeSet addDotProducts(Graph &graph, const Tensor &matrix, const Tensor &input,
                          const Tensor &partials)
{
  std::size_t rows = matrix.dim(0), columns = matrix.dim(1), split = partials.dim(1);
  std::size_t tiles = graph.getTarget().getNumTiles();
  ComputeSet multiply = graph.addComputeSet("mulCS");
  for (std::size_t segment = 0; segment < split; ++segment) {
    std::size_t begin = segment * columns / split, end = (segment + 1) * columns / split;
    Tensor inputElements = input.slice(begin, end);
    for (std::size_t row = 0; row < rows; ++row) {
      unsigned tile = tileOfSegment(tiles, rows, split, segment, row);
      Tensor elements = matrix[row].slice(begin, end), partial = partials[row][segment];
      VertexRef vertex = graph.addVertex(multiply, "DotProductVertex",
                                         {{"a", elements}, {"b", inputElements}, {"out", partial}});
      graph.setTileMapping(vertex, tile);
      graph.setTileMapping(elements, tile);
      graph.setTileMapping(partial, tile);
      graph.setPerfEstimate(vertex, vertexCycles(end - begin));
    }
  }
  return multiply;
}

// A vertex for each output element.
ComputeSet addReductions(Graph &graph, const Tensor &partials, const Tensor &output)
{
  std::size_t rows = partials.dim(0), tiles = graph.getTarget().getNumTiles();
  ComputeSet reduce = graph.addComputeSet("reduceCS");
  for (std::size_t row = 0; row < rows; ++row) {
    auto tile = static_cast<unsigned>(row * tiles / rows);
    VertexRef vertex =
        graph.addVertex(reduce, "ReduceVertex", {{"in", partials[row]}, {"out", output[row]}});
    graph.setTileMapping(vertex, tile);
    graph.setTileMapping(output[row], tile);
    graph.setPerfEstimate(vertex, vertexCycles(partials.dim(1)));
  }
  return reduce;
}

Program buildMultiply(Graph &graph, const Tensor &matrix, const Tensor &input, const Tensor &output)
{
  std::size_t rows = matrix.dim(0), columns = matrix.dim(1);
  std::size_t split = findBestSplit(graph.getTarget(), rows, columns);
  Tensor partials = graph.addVariable(FLOAT, {rows, split}, "partials");
  // Every tile uses the input vector: no place is better than another. In runs of some elements it takes fewer
  // instructions to send and to receive them.
  poputil::mapTensorLinearly(graph, input, inputGrain, inputGrain);
  ComputeSet multiply = addDotProducts(graph, matrix, input, partials);
  ComputeSet reduce = addReductions(graph, partials, output);
  return Sequence({Execute(multiply, "dot products"), Execute(reduce, "sums")}, "multiply");
}

// 0 if every element is the host's within rounding.
int checkResult(const std::vector<float> &matrix, const std::vector<float> &input,
                const std::vector<float> &output)
{
  for (std::size_t row = 0; row < output.size(); ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < input.size(); ++i)
      sum += double(matrix[row * input.size() + i]) * double(input[i]);
    if (std::fabs(sum - double(output[row])) <= 1e-5 * std::fabs(sum)) continue;
    std::cout << "ERROR: output " << row << ": expected=" << sum << ", actual=" << output[row]
              << '\n';
    return 1;
  }
  std::cout << "Multiplication result OK\n";
  return 0;
}

// A number of at least 1; 0 for other text.
std::size_t sizeOf(const std::string &text)
{
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  return digits && !text.empty() && text.size() < 10 ? std::stoul(text) : 0;
}

} // namespace

// usage: matvec_split ROWS COLUMNS [TARGET [CODELETS]]     ipu1, ipu2 …; a .gp file, or source
int main(int argc, char **argv)
{
  const std::size_t rows = argc > 2 ? sizeOf(argv[1]) : 0, columns = argc > 2 ? sizeOf(argv[2]) : 0;
  if (!rows || !columns || argc > 5) {
    std::cerr << "usage: " << argv[0] << " ROWS COLUMNS [TARGET [CODELETS]]\n";
    return 2;
  }
  IPUModel model(argc > 3 ? argv[3] : "ipu2");
  Device device = model.createDevice();
  std::cout << "Multiplying matrix of size " << rows << 'x' << columns << " by vector of size "
            << columns << '\n';
  Graph graph(device);
  graph.addCodelets(argc > 4 ? argv[4] : __FILE__);

  Tensor matrix = graph.addVariable(FLOAT, {rows, columns}, "matrix");
  Tensor input = graph.addVariable(FLOAT, {columns}, "inputVector");
  Tensor output = graph.addVariable(FLOAT, {rows}, "outputVector");
  graph.createHostWrite("matrix", matrix);
  graph.createHostWrite("inputVector", input);
  graph.createHostRead("outputVector", output);
  Engine engine(graph, buildMultiply(graph, matrix, input, output));
  engine.load(device);

  std::vector<float> hostMatrix(rows * columns), hostInput(columns), hostOutput(rows);
  for (std::size_t i = 0; i < hostInput.size(); ++i) hostInput[i] = float(i % 89 + 1);
  for (std::size_t i = 0; i < hostMatrix.size(); ++i) hostMatrix[i] = float(i % 101) / 8;
  engine.writeTensor("matrix", hostMatrix.data(), hostMatrix.data() + hostMatrix.size());
  engine.writeTensor("inputVector", hostInput.data(), hostInput.data() + hostInput.size());
  engine.run();
  engine.readTensor("outputVector", hostOutput.data(), hostOutput.data() + hostOutput.size());
  return checkResult(hostMatrix, hostInput, hostOutput);
}

#endif
