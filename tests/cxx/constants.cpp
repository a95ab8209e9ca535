// The placement of constants: their values are known, so they need not lie where they are mapped.
#include "small_graph.hpp"

#include <algorithm>
#include <cstdint>
#include <pva/pva.hpp>

using namespace poplar;
using namespace poplar::program;

namespace
{

const char *const codelets = R"(
#include <poplar/Vertex.hpp>
struct Sum : poplar::Vertex {
  poplar::Input<poplar::Vector<int>> in;
  poplar::Output<int> out;
  bool compute() {
    int sum = 0;
    for (unsigned i = 0; i < in.size(); ++i) sum += in[i];
    *out = sum;
    return true;
  }
};
)";

unsigned draw(unsigned below)
{
  static std::uint64_t state = 12345;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return unsigned(state >> 33) % below;
}

VertexRef sum(SmallGraph &f, ComputeSet set, const Tensor &in, const Tensor &out, unsigned tile)
{
  VertexRef v = f.graph.addVertex(set, "Sum", {{"in", in}, {"out", out}});
  f.graph.setTileMapping(v, tile);
  f.graph.setTileMapping(out, tile);
  return v;
}

pva::Report reportOf(const SmallGraph &f, const Program &program)
{
  Engine engine(f.graph, program);
  engine.load(f.device);
  engine.run();
  return engine.getReport();
}

bool exchanges(const pva::Report &report)
{
  for (const auto &p : report.compilation().programs())
    if (p->type() == pva::Program::Type::DoExchange) return true;
  return false;
}

// A constant that vertices on one tile read lies on that tile, wherever it is mapped. A constant
// that vertices on two tiles read is sent.
void constants_lie_where_they_are_read()
{
  for (unsigned readers = 1; readers <= 3; ++readers) {
    SmallGraph f(codelets);
    ComputeSet set = f.graph.addComputeSet("sums");
    Tensor numbers = f.graph.addConstant<int>(INT, {3}, {1, 20, 300}, "numbers"),
           out = f.graph.addVariable(INT, {readers}, "out");
    f.graph.setTileMapping(numbers, 3);
    for (unsigned i = 0; i < readers; ++i) sum(f, set, numbers, out[i], i < 2 ? 1 : 2);
    CHECK(result<int>(f, Execute(set), out) == std::vector<int>(readers, 321));
    CHECK(exchanges(reportOf(f, Execute(set))) == (readers == 3));
    CHECK(f.graph.getTileMapping(numbers)[3].size() == 1);
  }
}

// Each constant fits on the tile that reads it, but all together do not. They are sent one after
// the other, when they are read.
void large_ones_come_when_they_are_read()
{
  SmallGraph f(codelets);
  Tensor out = f.graph.addVariable(INT, {8}, "out");
  Sequence prog;
  int expected = 0;
  for (unsigned i = 0; i < 8; ++i) {
    std::vector<int> values(30000);
    for (unsigned k = 0; k < values.size(); ++k) values[k] = int(k % 7 + i);
    Tensor numbers = f.graph.addConstant<int>(INT, {values.size()}, values);
    f.graph.setTileMapping(numbers, 1 + i % 3);
    ComputeSet set = f.graph.addComputeSet("sum");
    sum(f, set, numbers, out[i], 0);
    prog.add(Execute(set));
    if (i == 7)
      for (int v : values) expected += v;
  }
  CHECK(result<int>(f, prog, out)[7] == expected);
  CHECK(reportOf(f, prog).compilation().tiles()[0].memory().total().excludingGaps() < 200000);
}

// Zeros for padding, much larger than a tile's memory: each tile makes its own.
void what_is_all_the_same_takes_no_memory()
{
  SmallGraph f(codelets);
  Tensor zeroes = f.graph.addConstant(INT, {1000000}, 0, "zeroes"),
         out = f.graph.addVariable(INT, {4}, "out"),
         ones = f.graph.addConstant<int>(INT, {2}, {1, 1});
  f.graph.setTileMapping(zeroes, 0);
  f.graph.setTileMapping(ones, 0);
  ComputeSet set = f.graph.addComputeSet("sums");
  for (unsigned i = 0; i < 4; ++i)
    sum(f, set, concat({ones, zeroes.slice(i * 1000, (i + 9) * 1000), ones}), out[i], i);
  CHECK(result<int>(f, Execute(set), out) == std::vector<int>(4, 4));
  for (const auto &tile : reportOf(f, Execute(set)).compilation().tiles())
    CHECK(tile.memory().total().excludingGaps() < 60000);
}

// A vertex that reads a large part of the constant on its tile reads it in place, like any other
// constant.
void what_a_vertex_reads_in_place_is_there()
{
  SmallGraph f(codelets);
  Tensor sevens = f.graph.addConstant(INT, {5000}, 7, "sevens"),
         out = f.graph.addVariable(INT, {2});
  f.graph.setTileMapping(sevens, 2);
  ComputeSet set = f.graph.addComputeSet("sums");
  sum(f, set, sevens.slice(3, 4003), out[0], 2);
  sum(f, set, sevens.slice(1000, 5000), out[1], 2);
  CHECK(result<int>(f, Execute(set), out) == std::vector<int>(2, 28000));
  const auto report = reportOf(f, Execute(set));
  CHECK(!exchanges(report));
  CHECK(report.compilation().tiles()[2].memory().total().excludingGaps() > 20000);
}

// Only a part of the constant is mapped. A vertex that no program uses may be connected to the
// rest.
void what_is_not_mapped_is_nowhere()
{
  SmallGraph f(codelets);
  Tensor ones = f.graph.addConstant(INT, {4000}, 1, "ones"), out = f.graph.addVariable(INT, {2});
  f.graph.setTileMapping(ones.slice(0, 1000), 0);
  f.graph.setTileMapping(out, 0);
  ComputeSet set = f.graph.addComputeSet("sums"), unused = f.graph.addComputeSet("unused");
  sum(f, set, ones.slice(0, 900), out[0], 0);
  sum(f, unused, ones.slice(2000, 3000), out[1], 0);
  CHECK(result<int>(f, Execute(set), out)[0] == 900);
}

// Copies of any pieces, of any element size, with any mapping. The host also reads the constant
// itself.
template <typename T> void copies(const Type &type, T value)
{
  for (unsigned round = 0; round < 12; ++round) {
    SmallGraph f(codelets);
    const unsigned size = 1 + draw(3000), pieces = 1 + draw(6);
    Tensor same = f.graph.addConstant(type, {size}, value, "same"),
           all = f.graph.addVariable(type, {size}, "all");
    for (unsigned at = 0, next; at < size; at = next) {
      next = std::min(size, at + 1 + draw(900));
      f.graph.setTileMapping(same.slice(at, next), draw(4));
      f.graph.setTileMapping(all.slice(at, next), draw(4));
    }
    std::vector<T> expected(size, T(1));
    f.graph.setInitialValue(all, ArrayRef<T>(expected));
    Sequence prog;
    for (unsigned i = 0; i < pieces; ++i) {
      const unsigned count = 1 + draw(size), from = draw(size - count + 1),
                     to = draw(size - count + 1), step = 1 + draw(3);
      Tensor source = same.slice(from, from + count).subSample(step, 0);
      prog.add(Copy(source, all.slice(to, to + source.numElements())));
      std::fill_n(expected.begin() + to, source.numElements(), value);
    }
    CHECK(result<T>(f, prog, all) == expected);
    CHECK(result<T>(f, prog, same) == std::vector<T>(size, value));
  }
}

} // namespace

int main()
{
  constants_lie_where_they_are_read();
  large_ones_come_when_they_are_read();
  what_is_all_the_same_takes_no_memory();
  what_a_vertex_reads_in_place_is_there();
  what_is_not_mapped_is_nowhere();
  copies<unsigned char>(UNSIGNED_CHAR, 200);
  copies<short>(SHORT, -1234);
  copies<int>(INT, 0x12345678);
  copies<float>(FLOAT, -0.1f);
  copies<long long>(LONGLONG, 0x123456789abcdef0);
  return failures != 0;
}
