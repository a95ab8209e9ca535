// The guide's tutorial 6: a matrix times a vector, a vertex for each row. The codelet is text in the program.
#include <iostream>
#include <numeric>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poputil/TileMapping.hpp>
#include <sstream>
#include <vector>

using namespace poplar;
using namespace poplar::program;

static const char codelets[] = R"(
  #include <poplar/Vertex.hpp>
  struct RowTimesVector : poplar::Vertex {
    poplar::Input<poplar::Vector<float>> row, x;
    poplar::Output<float> y;
    bool compute()
    {
      //> Exercise 1: the dot product of the row and x.
      float sum = 0;
      for (unsigned i = 0; i < row.size(); ++i) sum += row[i] * x[i];
      *y = sum;
      //<
      return true;
    }
  };
)";

int main()
{
  const unsigned rows = 30, columns = 20;
  IPUModel model;
  model.tilesPerIPU = 8;
  Device device = model.createDevice();
  Graph graph(device);
  std::stringstream text(codelets);
  graph.addCodelets(text, "-O3");

  Tensor matrix =
      graph.addVariable(FLOAT, {rows, columns}, VariableMappingMethod::LINEAR, "matrix");
  Tensor x = graph.addVariable(FLOAT, {columns}, VariableMappingMethod::LINEAR, "x");
  Tensor y = graph.addVariable(FLOAT, {rows}, VariableMappingMethod::LINEAR, "y");
  ComputeSet multiply = graph.addComputeSet("multiply");
  //> Exercise 2: a vertex for each row, on the tile on which the row and its element of y lie, too.
  for (unsigned i = 0; i < rows; ++i) {
    unsigned tile = i * graph.getTarget().getNumTiles() / rows;
    VertexRef v =
        graph.addVertex(multiply, "RowTimesVector", {{"row", matrix[i]}, {"x", x}, {"y", y[i]}});
    graph.setTileMapping(v, tile);
    graph.setTileMapping(matrix[i], tile);
    graph.setTileMapping(y[i], tile);
  }
  //<
  graph.createHostWrite("matrix", matrix);
  graph.createHostWrite("x", x);
  graph.createHostRead("y", y);

  std::vector<float> hostMatrix(rows * columns), hostX(columns), hostY(rows);
  std::iota(hostMatrix.begin(), hostMatrix.end(), 0.0f);
  std::iota(hostX.begin(), hostX.end(), -10.0f);
  Engine engine(graph, Execute(multiply));
  engine.load(device);
  engine.writeTensor("matrix", hostMatrix.data(), hostMatrix.data() + hostMatrix.size());
  engine.writeTensor("x", hostX.data(), hostX.data() + hostX.size());
  engine.run();
  engine.readTensor("y", hostY.data(), hostY.data() + hostY.size());

  for (unsigned i = 0; i < rows; ++i) {
    float expected = std::inner_product(hostX.begin(), hostX.end(), &hostMatrix[i * columns], 0.0f);
    if (hostY[i] != expected) {
      std::cerr << "row " << i << ": " << hostY[i] << " instead of " << expected << '\n';
      return 1;
    }
  }
  std::cout << rows << " rows are right; the last is " << hostY.back() << '\n';
}
