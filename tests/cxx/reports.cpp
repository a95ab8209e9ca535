// Reports through the documented interface: lightweight profiling, and the contents of report
// files.
#include "check.hpp"

#include <algorithm>
#include <clocale>
#include <fstream>
#include <poplar/DeviceManager.hpp>
#include <poplar/IPUModel.hpp>
#include <populus/populus.h>
#include <pva/pva.hpp>
#include <set>

using namespace poplar;
using namespace poplar::program;

namespace
{

const char *const codelets = R"(
#include <poplar/Vertex.hpp>
struct Busy : poplar::SupervisorVertex {
  bool compute() { for (volatile int i = 0; i < 100; i = i + 1) ; return true; }
};
struct Slower : poplar::SupervisorVertex {
  poplar::InOut<unsigned> rounds;
  bool compute() {
    for (volatile unsigned i = 0; i < *rounds; i = i + 1) ;
    *rounds += 100;
    return true;
  }
};
)";

const unsigned TILES = 128;

struct Fixture {
  Device device;
  Graph graph;

  explicit Fixture(unsigned ipus) : device(make(ipus)), graph(device.getTarget())
  {
    std::stringstream source(codelets);
    graph.addCodelets(source);
  }
  static Device make(unsigned ipus)
  {
    IPUModel model;
    model.numIPUs = ipus;
    model.tilesPerIPU = TILES;
    model.compileIPUCode = true;
    return model.createDevice();
  }
  ComputeSet busy(const std::string &name, unsigned tile)
  {
    ComputeSet set = graph.addComputeSet(name);
    graph.setTileMapping(graph.addVertex(set, "Busy"), tile);
    return set;
  }
  pva::Report run(const Program &program, const OptionFlags &options, int *stream = nullptr)
  {
    Engine engine(graph, program, options);
    if (stream) engine.connectStream("in", stream, stream + 1);
    engine.load(device);
    engine.run();
    return engine.getReport();
  }
};

std::vector<std::string> names(const std::vector<pva::Block> &blocks)
{
  std::vector<std::string> list;
  for (const auto &block : blocks) list.push_back(block.program()->name());
  return list;
}

// Two stages on two IPUs: each is timed on its IPU, and both run at the same time.
void stages_of_a_pipeline()
{
  Fixture f(2);
  auto stage = [&](unsigned ipu, const std::string &name) {
    return Block(Sequence({Block(Execute(f.busy("op1", ipu * TILES)), "op1"),
                           Block(Execute(f.busy("op2", ipu * TILES)), "op2")}),
                 name);
  };
  Sequence both{stage(0, "stage1"), stage(1, "stage2")};
  pva::Report report = f.run(Repeat(3, both), {{"profiler.blocks.filter", "stage.|op2"}});
  auto first = report.execution().blocks(0), second = report.execution().blocks(TILES);
  CHECK(names(first) ==
        (std::vector<std::string>{"stage1", "op2", "stage1", "op2", "stage1", "op2"}));
  CHECK(names(second) ==
        (std::vector<std::string>{"stage2", "op2", "stage2", "op2", "stage2", "op2"}));
  for (std::size_t i = 0; i < first.size() && i < second.size(); ++i) {
    CHECK(first[i].isCommon() && !first[i].isEndUnknown() && first[i].tile() == 0 &&
          second[i].tile() == TILES);
    CHECK(first[i].cyclesFrom() == second[i].cyclesFrom() &&
          first[i].cyclesTo() == second[i].cyclesTo());
    if (i % 2)
      CHECK(first[i].cyclesFrom() > first[i - 1].cyclesFrom() &&
            first[i].cyclesTo() < first[i - 1].cyclesTo());
  }
  CHECK(first[0].program()->type() == pva::Program::Type::Block);
  CHECK(report.execution().blocks(1).empty());
  CHECK(report.compilation().target().numIPUs() == 2 &&
        report.compilation().target().tilesPerIpu() == TILES);
}

// Each execution is timed, not only the last one.
void executions_that_take_longer_and_longer()
{
  Fixture f(1);
  Tensor rounds = f.graph.addVariable(UNSIGNED_INT, {});
  f.graph.setTileMapping(rounds, 0);
  f.graph.setInitialValue(rounds, 100);
  ComputeSet set = f.graph.addComputeSet("operation");
  VertexRef v = f.graph.addVertex(set, "Slower");
  f.graph.setTileMapping(v, 0);
  f.graph.connect(v["rounds"], rounds);
  auto blocks = f.run(Repeat(5, Execute(set)), {{"profiler.programs.filter", "operation"}})
                    .execution()
                    .blocks(0);
  CHECK(names(blocks) == std::vector<std::string>(5, "operation"));
  for (std::size_t i = 2; i < blocks.size(); ++i) {
    auto cycles = [&](std::size_t j) { return blocks[j].cyclesTo() - blocks[j].cyclesFrom(); };
    CHECK(cycles(i) > cycles(i - 1) && cycles(i) - cycles(i - 1) == cycles(1) - cycles(0));
  }
}

// Tiles 100 and 101 get a stream while tile 0 computes. Only tile 0 is chosen.
void streams_beside_computation()
{
  Fixture f(1);
  Tensor x = f.graph.addVariable(INT, {2});
  f.graph.setTileMapping(x[0], 100);
  f.graph.setTileMapping(x[1], 101);
  DataStream in = f.graph.addHostToDeviceFIFO("in", INT, 1);
  DataStream two = f.graph.addHostToDeviceFIFO("two", INT, 2);
  Sequence program{Repeat(4, Sequence({Copy(in, x[0]), Execute(f.busy("operation", 0))})),
                   Copy(two, x)};
  Engine engine(f.graph, program,
                {{"profiler.programs.filter", "operation"},
                 {"debug.instrumentExternalExchange", "true"},
                 {"profiler.blocks.implicitFlush", "false"}});
  int values[2] = {0, 0};
  engine.connectStream("in", values, values + 1);
  engine.connectStream("two", values, values + 2);
  engine.load(f.device);
  engine.run();
  pva::Report report = engine.getReport();
  CHECK(names(report.execution().blocks(0)) == std::vector<std::string>(4, "operation"));
  auto blocks = report.execution().blocks(100);
  const pva::Program::Type phases[] = {pva::Program::Type::StreamCopyBegin,
                                       pva::Program::Type::StreamCopyMid,
                                       pva::Program::Type::StreamCopyEnd};
  CHECK(blocks.size() == 15);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    CHECK(blocks[i].isStreamCopy() && !blocks[i].isCommon() &&
          blocks[i].program()->type() == phases[i % 3]);
    CHECK(blocks[i].program()->name() == (i < 12 ? "in" : "two"));
  }
  // Tile 101 takes part in the last exchange and does not time it itself. Its block is that of tile
  // 0.
  auto derived = report.execution().blocks(101);
  CHECK(derived.size() == 1 && derived[0].tile() == 101 &&
        derived[0].program()->type() == pva::Program::Type::StreamCopyMid &&
        derived[0].cyclesFrom() == blocks[13].cyclesFrom() &&
        derived[0].cyclesTo() == blocks[13].cyclesTo());
  CHECK(report.execution().blocks(102).empty());
}

// The cycles of vertices, by tile and by compute set, and the programs that a step executed.
void vertices_of_tiles_and_compute_sets()
{
  Fixture f(1);
  Tensor rounds = f.graph.addVariable(UNSIGNED_INT, {2});
  f.graph.setTileMapping(rounds, 3);
  f.graph.setInitialValue(rounds, ArrayRef<unsigned>({10, 20}));
  ComputeSet set = f.busy("both", 3);
  for (unsigned i = 0; i < 2; ++i) {
    VertexRef v = f.graph.addVertex(set, "Slower", {{"rounds", rounds[i]}});
    f.graph.setTileMapping(v, 3);
  }
  pva::Report report = f.run(Sequence({Execute(set), Execute(f.busy("one", 5))}),
                             {{"debug.instrumentCompute", "true"}});
  const auto compilation = report.compilation();
  const auto tiles = compilation.tiles();
  CHECK(tiles[4].memory().vertices().empty());
  const auto on_3 = tiles[3].memory().vertices();
  CHECK(on_3.size() == 2 && on_3[0].type().name() != on_3[1].type().name());
  std::uint64_t states = 0;
  for (const auto &v : on_3) {
    CHECK(v.type().name() == "Busy" || v.type().name() == "Slower");
    CHECK(v.totalBytes() == v.codeBytes() + v.copyPtrBytes() + v.descriptorBytes() +
                                v.edgePtrBytes() + v.paddingBytes() + v.vertexDataBytes());
    CHECK(v.codeBytes() > 0);
    states += v.edgePtrBytes();
  }
  CHECK(states == 8); // one pointer for each of the two vertices
  const auto state = tiles[3].memory().category().vertexInstanceState();
  CHECK(state.total() > 0 && state.nonInterleaved().nonOverlapped() == state.total());
  CHECK(state.nonInterleaved().overlapped() == 0 && state.interleaved().nonOverlapped() == 0 &&
        state.overflowed().nonOverlapped() == 0);

  for (const auto &s : compilation.computeSets()) {
    std::size_t busy = 0, slower = 0;
    for (const auto &v : s.vertices()) (v.type().name() == "Busy" ? busy : slower) += v.count();
    if (s.name() == "both") CHECK(busy == 1 && slower == 2);
    if (s.name() == "one") CHECK(busy == 1 && slower == 0);
  }
  std::size_t found = 0;
  for (const auto &step : report.execution().steps())
    for (const auto &s : step.computeSets()) {
      if (s.name() != "both") continue;
      const auto cycles = s.cyclesByTile();
      CHECK(cycles.size() == TILES && cycles[3] > 0 && cycles[3] <= step.cycles() &&
            cycles[5] == 0);
      CHECK(s.estimatedCyclesByTile().size() == TILES);
      CHECK(step.program()->type() == pva::Program::Type::OnTileExecute);
      ++found;
    }
  CHECK(found == 1);
}

// The tile that takes longest takes the cycles of the step: also of vertices without an estimate on
// a model, and in exchanges between IPUs and with the host.
void cycles_of_the_tiles_of_steps()
{
  Fixture f(2);
  Tensor x = f.graph.addVariable(INT, {64}, "x");
  f.graph.setTileMapping(x.slice(0, 32), 1);
  f.graph.setTileMapping(x.slice(32, 64), TILES + 1);
  DataStream in = f.graph.addHostToDeviceFIFO("in", INT, 64);
  Sequence program{Execute(f.busy("operation", 3)), Copy(x.slice(0, 32), x.slice(32, 64)),
                   Copy(in, x)};
  Engine engine(f.graph, program);
  std::vector<int> data(64);
  engine.connectStream("in", data.data(), data.data() + data.size());
  engine.load(f.device);
  engine.run();
  std::set<pva::Program::Type> seen;
  for (const auto &step : engine.getReport().execution().steps()) {
    if (!step.cycles()) continue;
    auto cycles = step.cyclesByTile();
    bool computes = step.program()->type() == pva::Program::Type::OnTileExecute;
    CHECK(cycles.size() == 2 * TILES && cycles[0] == 0 && (cycles[3] > 0) == computes);
    CHECK(*std::max_element(cycles.begin(), cycles.end()) == step.cycles());
    seen.insert(step.program()->type());
  }
  CHECK(seen == (std::set<pva::Program::Type>{pva::Program::Type::OnTileExecute,
                                              pva::Program::Type::GlobalExchange,
                                              pva::Program::Type::StreamCopy}));
}

struct Counts {
  std::size_t common, flushes, overflows, others;
};

Counts count(const std::vector<pva::Block> &blocks)
{
  Counts c = {0, 0, 0, 0};
  for (const auto &block : blocks)
    ++(block.isCommon()       ? c.common
       : block.isBlockFlush() ? c.flushes
       : block.isOverflow()   ? c.overflows
                              : c.others);
  return c;
}

// 1,000 bytes hold 62 blocks and the beginning of another.
void flushes_and_overflows()
{
  Fixture f(1);
  Repeat often(100, Execute(f.busy("operation", 0)));
  OptionFlags options{{"profiler.programs.filter", "operation"},
                      {"profiler.blocks.implicitFlush", "false"}};
  auto lost = f.run(often, options).execution().blocks(0);
  Counts c = count(lost);
  CHECK(c.common == 63 && c.overflows == 1 && c.flushes == 0 && c.others == 0);
  CHECK(lost.back().isOverflow() && lost.back().cyclesFrom() > lost[61].cyclesTo() &&
        lost[62].isEndUnknown() && !lost[61].isEndUnknown() &&
        lost.back().program()->name() == "Overflow");
  options.set("profiler.blocks.implicitFlush", "true");
  c = count(f.run(often, options).execution().blocks(0));
  CHECK(c.common == 100 && c.overflows == 0 && c.flushes >= 1 && c.others == 0);
  options.set({{"profiler.blocks.implicitFlush", "false"}, {"profiler.blocks.bufferSize", "2000"}});
  c = count(f.run(often, options).execution().blocks(0));
  CHECK(c.common == 100 && c.overflows == 0 && c.flushes == 0);
}

// The memory of a copy of 32 ints from tile 0 to tile 1 and of a vertex on tile 3.
void check_memory(const pva::CompilationReport &compiled, ProfileValue graph)
{
  auto ipus = compiled.ipus();
  CHECK(ipus.size() == 1 && ipus[0].tiles().size() == TILES && ipus[0].tiles()[3].id() == 3);
  for (const auto &tile : ipus[0].tiles()) {
    auto by = tile.memory().category();
    ProfileValue is = graph["memory"]["byCategory"];
    CHECK(by.variable().total() == (tile.id() < 2 ? 128u : 0u));
    CHECK(by.vertexCode().total() == is["vertexCode"]["total"][tile.id()].asUint() &&
          (by.vertexCode().total() > 0) == (tile.id() == 3));
    CHECK(by.controlCode().total() == is["controlCode"]["total"][tile.id()].asUint());
    CHECK(by.stack().total() == is["stack"]["total"][tile.id()].asUint() && by.stack().total() > 0);
  }
  std::uint64_t always = 0, most = 0;
  for (const auto &variable : compiled.alwaysLiveVariables()) {
    CHECK(variable.size() > 0 && !variable.name().empty());
    always += variable.size();
  }
  CHECK(always == graph["memory"]["liveness"]["alwaysLive"]["bytes"].asUint());
  auto steps = compiled.livenessProgramSteps();
  CHECK(steps.size() == graph["memory"]["liveness"]["programs"].size());
  bool exchanges = false, executes = false;
  for (const auto &step : steps) {
    std::uint64_t bytes = 0;
    for (const auto &variable : step.notAlwaysLiveMemory().variables()) bytes += variable.size();
    CHECK(bytes == step.notAlwaysLiveMemory().bytes());
    most = std::max(most, bytes);
    exchanges |= step.program()->type() == pva::Program::Type::DoExchange;
    executes |= step.program()->type() == pva::Program::Type::OnTileExecute;
  }
  CHECK(exchanges && executes);
  CHECK(always + most == graph["memory"]["liveness"]["maxBytes"].asUint());
}

// Collects the programs of some types and what they use.
struct Visitor : pva::ProgramVisitor {
  std::set<std::string> computeSets, moved, used;
  std::uint64_t bytesMoved = 0;
  unsigned blocks = 0;

  void visitBlock(const pva::BlockProgram &program) override
  {
    blocks += program.children().size() == 1 && program.vars().empty();
  }
  void visitOnTileExecute(const pva::OnTileExecuteProgram &program) override
  {
    computeSets.insert(program.computeset().name());
    for (const auto &variable : program.vars()) used.insert(variable.name());
  }
  void visitDoExchange(const pva::DoExchangeProgram &program) override
  {
    for (const auto &variable : program.vars()) {
      moved.insert(variable.name());
      bytesMoved += variable.bytes();
    }
  }
};

void programs_are_visited()
{
  Fixture f(1);
  Tensor x = f.graph.addVariable(INT, {64}, "x");
  f.graph.setTileMapping(x.slice(0, 32), 0);
  f.graph.setTileMapping(x.slice(32, 64), 1);
  Tensor rounds = f.graph.addConstant(UNSIGNED_INT, {1}, 5u),
         count = f.graph.addVariable(UNSIGNED_INT, {}, "count");
  f.graph.setTileMapping(rounds, 3);
  f.graph.setTileMapping(count, 3);
  ComputeSet set = f.graph.addComputeSet("operation");
  VertexRef v = f.graph.addVertex(set, "Slower", {{"rounds", count}});
  f.graph.setTileMapping(v, 3);
  Sequence program{Copy(rounds.reshape({}), count),
                   Block(Sequence({Copy(x.slice(0, 32), x.slice(32, 64)), Execute(set)}), "part"),
                   Repeat(2, Execute(set))};
  pva::Report report = f.run(program, {{"debug.instrumentCompute", "true"},
                                       {"debug.computeInstrumentationLevel", "tile"}});

  Visitor visitor;
  for (const auto &p : report.compilation().programs()) p->accept(visitor);
  CHECK(visitor.blocks == 1 && visitor.computeSets.count("operation") == 1);
  CHECK(visitor.moved == std::set<std::string>{"x"} && visitor.bytesMoved == 256);
  CHECK(visitor.used.count("count") == 1 && visitor.used.count("x") == 0);
  unsigned exchanges = 0, executes = 0;
  for (const auto &step : report.execution().steps()) {
    auto cycles = step.cyclesByTile();
    if (step.program()->type() == pva::Program::Type::DoExchange) {
      CHECK(cycles.size() == TILES && cycles[0] > 0 && cycles[1] > 0 && cycles[3] == 0);
      ++exchanges;
    } else if (step.program()->type() == pva::Program::Type::OnTileExecute) {
      CHECK(cycles.size() == TILES && cycles[3] > 0 && cycles[0] == 0);
      ++executes;
    } else {
      CHECK(cycles.empty());
    }
  }
  CHECK(exchanges == 1 && executes >= 3);
}

void files_of_reports()
{
  Fixture f(1);
  Tensor x = f.graph.addVariable(INT, {64});
  f.graph.setTileMapping(x.slice(0, 32), 0);
  f.graph.setTileMapping(x.slice(32, 64), 1);
  ComputeSet set = f.busy("operation", 3);
  Sequence program{Block(Sequence({Copy(x.slice(0, 32), x.slice(32, 64)), Execute(set)}), "part"),
                   Repeat(2, Execute(set))};
  Engine engine(f.graph, program,
                {{"autoReport.all", "true"},
                 {"autoReport.outputArchive", "false"},
                 {"autoReport.directory", "reports"},
                 {"debug.instrument", "true"}});

  // The options of the compilation also apply to the engine, and no file is written twice.
  CHECK(!std::ifstream("reports/archive.a") && std::ifstream("reports/graph.json"));
  pva::Report compiled = pva::openReport("reports/profile.pop");
  CHECK(compiled.compilation().graph().numComputeSets() == 1 &&
        compiled.compilation().graph().numVertices() == 1);
  CHECK(compiled.compilation().target().numTiles() == TILES &&
        compiled.compilation().tiles().size() == TILES);
  CHECK(compiled.poplarVersion().string() == POPULUS_VERSION &&
        compiled.poplarVersion().minor() == 1);
  CHECK_THROWS(profiling_disabled, "knows of no runs", compiled.execution());
  CHECK_THROWS(profiling_disabled, "knows of no runs", engine.getReport(false).execution());

  engine.load(f.device);
  engine.run();
  pva::Report report = pva::openReport("reports/profile.pop");
  ProfileValue graph = engine.getGraphProfile(), execution = engine.getExecutionProfile();
  auto tiles = report.compilation().tiles();
  for (const auto &tile : tiles) {
    auto total = tile.memory().total();
    CHECK(total.includingGaps() ==
          graph["memory"]["byTile"]["totalIncludingGaps"][tile.id()].asUint());
    CHECK(total.excludingGaps() == graph["memory"]["byTile"]["total"][tile.id()].asUint() &&
          total.excludingGaps() > 0);
  }
  check_memory(report.compilation(), graph);
  CHECK(report.compilation().computeSets().size() == 1 &&
        report.compilation().computeSets()[0].name() == "operation");
  auto programs = report.compilation().programs();
  CHECK(programs.size() == graph["programs"].size());
  bool found = false;
  for (const auto &p : programs) {
    CHECK(programs[p->_id()]->name() == p->name());
    if (p->type() != pva::Program::Type::Block) continue;
    auto children = p->children();
    CHECK(p->name() == "part" && children.size() == 1 &&
          children[0]->type() == pva::Program::Type::Sequence);
    children = children[0]->children();
    found = children.size() == 2 && children[0]->type() == pva::Program::Type::DoExchange &&
            children[1]->type() == pva::Program::Type::Call;
  }
  CHECK(found);

  auto run = report.execution();
  CHECK(run.profilerMode() == "COMPUTE_SETS" && run.runs().size() == 1);
  CHECK(run.totalCycles() == execution["simulation"]["cycles"].asUint());
  auto steps = run.steps();
  CHECK(steps.size() == execution["simulation"]["steps"].size());
  unsigned executed = 0;
  for (const auto &step : steps) {
    auto type = step.program()->type();
    executed += type == pva::Program::Type::OnTileExecute;
    if (type == pva::Program::Type::DoExchange)
      CHECK(step.totalData() == 128 && step.activeTiles() == 2);
    if (type == pva::Program::Type::OnTileExecute)
      CHECK(step.cyclesTo() - step.cyclesFrom() == step.cycles() && step.activeTiles() == 1);
  }
  CHECK(executed == 3);

  CHECK_THROWS(file_load_error, "nowhere.pop", pva::openReport("nowhere.pop"));
  CHECK_THROWS(file_load_error, "no profile", pva::openReport("reports/execution.txt"));
  std::ofstream("graph.pop") << "";
  CHECK_THROWS(file_load_error, "graph.pop", pva::openReport("graph.pop"));
  {
    std::ofstream other("graph.pop");
    serializeToCBOR(other, graph);
  }
  CHECK_THROWS(file_load_error, "is no report", pva::openReport("graph.pop"));

  Engine other = std::move(engine);
  CHECK(other.getReport().execution().runs().size() == 1);
  CHECK_THROWS(poplar_error, "moved from", engine.getReport());
}

// A report whose parts have nothing in them.
void damaged_reports()
{
  using Map = ProfileValue::Map;
  using Vector = ProfileValue::Vector;
  {
    std::ofstream file("damaged.pop");
    Map profile{{"tiles", Vector{Map{{"tile", 1}, {"blocks", Vector{Map()}}}, Map()}}};
    serializeToCBOR(file, Map{{"format", "Populus report"},
                              {"version", ""},
                              {"graph", Map()},
                              {"execution", Map{{"lightweightProfile", profile},
                                                {"simulation", Map{{"steps", Vector{Map()}}}}}}});
  }
  pva::Report report = pva::openReport("damaged.pop");
  const auto compilation = report.compilation();
  CHECK(compilation.target().ipusPerReplica() == 0 && compilation.ipus().empty() &&
        compilation.programs().empty() && report.poplarVersion().minor() == 0);
  const auto execution = report.execution();
  CHECK(execution.blocks(0).empty() && execution.blocks(1).size() == 1 &&
        execution.steps().size() == 1 && execution.steps()[0].cyclesByTile().empty());
}

// An out-of-memory error names its report, and a summary of the report can be printed.
void reports_of_a_graph_that_does_not_fit()
{
  Graph graph(Target::createIPUTarget(1, 2, "ipu2"));
  Tensor large = graph.addVariable(INT, {1000000}, "large");
  graph.setTileMapping(large, 1);
  const OptionFlags options = {{"autoReport.outputGraphProfile", "true"},
                               {"autoReport.directory", "pop_graph_free"}};
  std::string path;
  try {
    compileGraph(graph, {WriteUndef(large)}, options);
  } catch (const graph_memory_allocation_error &e) {
    path = e.profilePath;
  }
  CHECK(path == "pop_graph_free/profile.pop");
  std::ostringstream summary, both;
  printGraphSummary(summary, path, {{"showVarStorage", "true"}});
  printProfileSummary(both, path, {{"showVarStorage", "true"}});
  CHECK(summary.str().find("out of memory") != std::string::npos && both.str() == summary.str());
  CHECK_THROWS(index_error, "no 'execution'", printExecutionSummary(both, path));
  CHECK_THROWS(file_load_error, "nowhere.pop", printGraphSummary(both, std::string("nowhere.pop")));
  try {
    compileGraph(graph, {WriteUndef(large)});
    CHECK(false);
  } catch (const graph_memory_allocation_error &e) {
    CHECK(e.profilePath.empty());
  }
}

} // namespace

int main()
{
  std::setlocale(LC_ALL, "");
  vertices_of_tiles_and_compute_sets();
  stages_of_a_pipeline();
  executions_that_take_longer_and_longer();
  streams_beside_computation();
  flushes_and_overflows();
  programs_are_visited();
  cycles_of_the_tiles_of_steps();
  files_of_reports();
  damaged_reports();
  reports_of_a_graph_that_does_not_fit();
  return failures != 0;
}
