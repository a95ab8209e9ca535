// The parts of reports about execution.
#ifndef PVA_DETAIL_EXECUTION_HPP
#define PVA_DETAIL_EXECUTION_HPP

#include <pva/detail/Programs.hpp>

namespace pva
{

class Run
{
  detail::Part part;

public:
  explicit Run(const detail::Part &p) : part(p) {}
  // The name that Engine::run was given; otherwise the program's.
  std::string name() const { return part.text(part.find("runName").exists() ? "runName" : "name"); }
  std::uint64_t cycles() const { return part.number("cycles"); }
};

// A compute set that a step executed. Its cycles are those of its last execution, in any step.
class ComputeSetExecution
{
  detail::Part execution, graph;
  std::size_t number;

public:
  ComputeSetExecution(const detail::Part &e, const detail::Part &g, std::size_t i)
      : execution(e), graph(g), number(i)
  {
  }
  std::string name() const { return graph.find("computeSets.names")[number].text(); }
  ComputeSet computeSet() const { return {graph, number}; }
  // Empty unless tiles are measured (debug.computeInstrumentationLevel).
  std::vector<std::uint64_t> cyclesByTile() const
  {
    return execution.find("computeSetCyclesByTile")[number].numbers();
  }
  // The estimated cycles of its vertices. Empty unless there is an IPU Model, or
  // profiler.includeCycleEstimates asks for it.
  std::vector<std::uint64_t> estimatedCyclesByTile() const
  {
    return graph.find("computeSets.cycleEstimates.cyclesByTile")[number].numbers();
  }
};

// A step of the simulation.
class ExecutionStep
{
  detail::Part part, execution, graph;

  // What the step's times are made of: `number` is its key in the step, `kind` in the costs.
  std::vector<std::uint64_t> costs(const char *number, const std::string &kind) const
  {
    if (!part.find(number).exists()) return {};
    detail::Part cost =
        execution.find("simulation.costs." + kind)[static_cast<std::size_t>(part.number(number))];
    if (!cost.exists()) return {};
    detail::Part tiles = cost.find("tiles"); // ranges: first, how many
    std::vector<std::uint64_t> all(graph.find("memory.byTile.total").size());
    std::vector<std::uint64_t> cycles = cost.find("cycles").numbers();
    for (std::size_t r = 0, at = 0; r + 1 < tiles.size(); r += 2)
      for (std::uint64_t i = 0; i < tiles[r + 1].number() && at < cycles.size(); ++i, ++at)
        if (tiles[r].number() + i < all.size()) all[tiles[r].number() + i] = cycles[at];
    return all;
  }

public:
  ExecutionStep(const detail::Part &p, const detail::Part &e, const detail::Part &g)
      : part(p), execution(e), graph(g)
  {
  }
  // One for a step of the type OnTileExecute; otherwise none.
  std::vector<ComputeSetExecution> computeSets() const
  {
    std::vector<ComputeSetExecution> list;
    if (part.find("computeSet").exists())
      list.emplace_back(execution, graph, static_cast<std::size_t>(part.number("computeSet")));
    return list;
  }
  // For a sync that belongs to another step, a program of type Sync without a number. For SyncAns,
  // and for the beginning and end of a stream copy, a program of that type with the step's name.
  std::shared_ptr<Program> program() const
  {
    Program::Type type = Program::typeOf(part.text("type"));
    if (type == Program::Type::StreamCopyBegin || type == Program::Type::StreamCopyEnd ||
        type == Program::Type::SyncAns)
      return std::make_shared<Program>(type, part.text("name"));
    if (!part.find("program").exists()) return std::make_shared<Program>(Program::Type::Sync, "");
    return std::make_shared<Program>(graph, static_cast<std::size_t>(part.number("program")));
  }
  // Cycles of each tile, those of cycles(). For a compute set: as measured last, otherwise as
  // estimated; on an IPU Model, vertices without an estimate take what their code takes. For an
  // exchange: as measured, otherwise as planned or, with the host or other IPUs, as estimated. Empty
  // for other steps, and if nothing is known.
  std::vector<std::uint64_t> cyclesByTile() const
  {
    for (const ComputeSetExecution &set : computeSets()) {
      std::vector<std::uint64_t> measured = set.cyclesByTile();
      if (!measured.empty()) return measured;
      bool isModel = execution.text("profilerMode") == "IPU_MODEL";
      return isModel ? costs("computeSet", "computeSets") : set.estimatedCyclesByTile();
    }
    for (const char *kind : {"exchange", "externalExchange", "hostExchange"})
      if (part.find(kind).exists()) return costs(kind, std::string(kind) + "s");
    return {};
  }
  // 0 for Sync, StreamCopyBegin and StreamCopyEnd.
  std::uint64_t cycles() const { return part.number("cycles"); }
  std::uint64_t cyclesFrom() const { return part.number("cyclesFrom"); }
  std::uint64_t cyclesTo() const { return part.number("cyclesTo"); }
  std::uint64_t activeTiles() const { return part.number("activeTiles"); }
  double tileBalance() const { return part.find("tileBalance").real(); }
  double activeTileBalance() const { return part.find("activeTileBalance").real(); }
  std::uint64_t totalData() const { return part.number("totalData"); }
};

// Lightweight profiling: a block that a tile was in, between two cycles of the device since it
// was loaded.
class Block
{
  detail::Part part;
  std::uint64_t number;
  std::string kind() const { return part.text("type"); }

public:
  Block(const detail::Part &p, std::uint64_t tile) : part(p), number(tile) {}
  std::uint64_t tile() const { return number; }
  std::uint64_t cyclesFrom() const { return part.number("cyclesFrom"); }
  std::uint64_t cyclesTo() const { return part.number("cyclesTo"); }
  // Its end could not be recorded. Then cyclesTo() is the end of the run, or of the enclosing
  // block.
  bool isEndUnknown() const { return part.find("endUnknown").isTrue(); }
  bool isCommon() const { return kind() == "Common"; }
  bool isStreamCopy() const { return kind().compare(0, 10, "StreamCopy") == 0; }
  bool isBlockFlush() const { return kind() == "BlockFlush"; }
  bool isOverflow() const { return kind() == "Overflow"; }
  bool isUnknown() const { return kind() == "Unknown"; }
  // Never null. For a common block, a program of type Block with its name; for a stream copy, one
  // of its phase's type, with the copy's name. Others have their kind as the name, and the type
  // Block or, for Unknown, Unknown.
  std::shared_ptr<Program> program() const
  {
    if (isStreamCopy())
      return std::make_shared<Program>(Program::typeOf(kind()), part.text("name"));
    if (isUnknown()) return std::make_shared<Program>(Program::Type::Unknown, kind());
    return std::make_shared<Program>(Program::Type::Block, isCommon() ? part.text("name") : kind());
  }
};

class ExecutionReport
{
  detail::Part part, compilation;

  static bool takesPart(const detail::Part &tiles, std::uint64_t tile)
  {
    for (std::size_t i = 0; i < tiles.size(); ++i)
      if (tiles[i].number() == tile) return true;
    return false;
  }

public:
  ExecutionReport(const detail::Part &p, const detail::Part &c) : part(p), compilation(c) {}

  std::string profilerMode() const { return part.text("profilerMode"); }
  std::uint64_t totalCycles() const { return part.number("simulation.cycles"); }
  std::vector<Run> runs() const
  {
    std::vector<Run> list;
    detail::Part all = part.find("runs");
    for (std::size_t i = 0; i < all.size(); ++i) list.emplace_back(all[i]);
    return list;
  }
  std::vector<ExecutionStep> steps() const
  {
    std::vector<ExecutionStep> list;
    detail::Part all = part.find("simulation.steps");
    for (std::size_t i = 0; i < all.size(); ++i) list.emplace_back(all[i], part, compilation);
    return list;
  }
  // The tile's blocks, sorted by their beginnings. A tile that times none has the exchanges of
  // stream copies in which it took part, as timed by tiles of the same IPU that time blocks: all
  // tiles begin and end them together.
  std::vector<Block> blocks(std::uint64_t tile) const
  {
    std::vector<Block> own, others;
    std::uint64_t perIpu = compilation.number("target.tilesPerIPU"); // 0 in a damaged report
    detail::Part tiles = part.find("lightweightProfile.tiles");
    for (std::size_t t = 0; t < tiles.size(); ++t) {
      std::uint64_t timing = tiles[t].number("tile");
      if (timing != tile && (!perIpu || timing / perIpu != tile / perIpu)) continue;
      detail::Part list = tiles[t].find("blocks");
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (timing == tile)
          own.emplace_back(list[i], tile);
        else if (takesPart(list[i].find("tiles"), tile))
          others.emplace_back(list[i], tile);
      }
    }
    if (!own.empty()) return own;
    // Of blocks that overlap, the first is kept; of those that begin together, the longest.
    auto before = [](const Block &a, const Block &b) {
      if (a.cyclesFrom() != b.cyclesFrom()) return a.cyclesFrom() < b.cyclesFrom();
      return a.cyclesTo() > b.cyclesTo();
    };
    std::sort(others.begin(), others.end(), before);
    auto same = [](const Block &a, const Block &b) { return b.cyclesFrom() < a.cyclesTo(); };
    others.erase(std::unique(others.begin(), others.end(), same), others.end());
    return others;
  }
};

} // namespace pva

#endif
