// Reports of engines, for programs that look into them: Engine::getReport, or a file profile.pop. Over populus/profile.h,
// where the values are described; what the documented interface has of them is in runtime/COMPATIBILITY.md. Numbers
// are cycles and bytes. Everything that comes of a report may outlive it, and the engine.
#ifndef PVA_PVA_HPP
#define PVA_PVA_HPP

// Programs name what these have and do not include them: the documented header does.
#include <cstdlib>
#include <iomanip>
#include <iostream>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <poplar/Engine.hpp>
#include <populus/profile.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace pva
{
namespace detail
{

// A value of a report, which it keeps alive.
class Part
{
  std::shared_ptr<pop_profile> owner;
  pop_profile_value value = {};

public:
  Part() = default;
  explicit Part(pop_profile *report)
      : owner(report, pop_profile_free), value(pop_profile_root(report))
  {
  }

  bool exists() const { return pop_profile_kind_of(value) != POP_PROFILE_NONE; }
  std::size_t size() const { return pop_profile_count(value); }
  // By keys with dots between them; a part that does not exist if there is none.
  Part find(const std::string &path) const
  {
    Part part = *this;
    part.value = pop_profile_find(value, path.c_str());
    return part;
  }
  Part operator[](std::size_t i) const
  {
    Part part = *this;
    part.value = pop_profile_at(value, i);
    return part;
  }
  std::uint64_t number() const { return static_cast<std::uint64_t>(pop_profile_as_int(value)); }
  double real() const { return pop_profile_as_double(value); }
  bool isTrue() const { return pop_profile_as_bool(value); }
  std::string text() const
  {
    const char *text = pop_profile_as_string(value);
    return text ? text : "";
  }
  std::uint64_t number(const std::string &path) const { return find(path).number(); }
  std::string text(const std::string &path) const { return find(path).text(); }
};

} // namespace detail

// ---- what was compiled ----

class PoplarVersion
{
  std::string version;
  unsigned part(int index) const
  {
    std::size_t at = 0;
    for (; index > 0 && at != std::string::npos; --index) at = version.find('.', at + (at > 0));
    if (at == std::string::npos) return 0;
    return static_cast<unsigned>(std::strtoul(version.c_str() + at + (at > 0), nullptr, 10));
  }

public:
  explicit PoplarVersion(const std::string &v) : version(v) {}
  // Of Populus.
  std::string string() const { return version; }
  unsigned major() const { return part(0); }
  unsigned minor() const { return part(1); }
  unsigned point() const { return part(2); }
};

class Target
{
  detail::Part part;

public:
  explicit Target(const detail::Part &p) : part(p) {}
  std::uint64_t numIPUs() const { return part.number("numIPUs"); }
  std::uint64_t numReplicas() const { return part.number("numReplicas"); }
  std::uint64_t ipusPerReplica() const { return numIPUs() / numReplicas(); }
  std::uint64_t tilesPerIpu() const { return part.number("tilesPerIPU"); }
  std::uint64_t numTiles() const { return part.number("numTiles"); }
  std::uint64_t bytesPerTile() const { return part.number("bytesPerTile"); }
  std::uint64_t bytesPerIPU() const { return part.number("bytesPerIPU"); }
  std::uint64_t totalMemory() const { return part.number("totalMemory"); }
  double clockFrequency() const { return part.find("clockFrequency").real(); }
};

class Graph
{
  detail::Part part;

public:
  explicit Graph(const detail::Part &p) : part(p) {}
  std::uint64_t numComputeSets() const { return part.number("numComputeSets"); }
  std::uint64_t numEdges() const { return part.number("numEdges"); }
  std::uint64_t numVars() const { return part.number("numVars"); }
  std::uint64_t numVertices() const { return part.number("numVertices"); }
};

// A program by what the tiles run, in which those that the program was written of are several or none.
class Program
{
public:
  enum class Type {
    Sequence,
    Repeat,
    RepeatWhileTrue,
    RepeatWhileFalse,
    If,
    IfElse,
    Switch,
    Call,
    Block,
    OnTileExecute,
    DoExchange,
    GlobalExchange,
    StreamCopy,
    StreamCopyBegin, // of blocks: the three phases of a StreamCopy; of steps: around it
    StreamCopyMid,
    StreamCopyEnd,
    Sync,
    Abort,
    WriteUndef,
    SetLocalConsensusFromVar,
    SyncAns, // of steps: tiles that have acknowledged syncs wait until the last has happened
    Unknown  // a Block that nobody knows the name of
  };

  Program(Type t, const std::string &n) : kind(t), label(n), number(~std::size_t(0)) {}
  Program(const detail::Part &all, std::size_t i)
      : programs(all), kind(typeOf(all[i].text("type"))), label(all[i].text("name")), number(i)
  {
  }

  Type type() const { return kind; }
  std::string name() const { return label; }
  std::size_t _id() const { return number; }
  std::vector<std::shared_ptr<Program>> children() const
  {
    std::vector<std::shared_ptr<Program>> list;
    detail::Part of = programs.exists() ? programs[number].find("children") : detail::Part();
    for (std::size_t i = 0; i < of.size(); ++i)
      list.push_back(std::make_shared<Program>(programs, static_cast<std::size_t>(of[i].number())));
    return list;
  }

private:
  detail::Part programs;
  Type kind;
  std::string label;
  std::size_t number;

  static Type typeOf(const std::string &tag)
  {
    static const char *const tags[] = {
        "Sequence",   "Repeat",          "RepeatWhileTrue", "RepeatWhileFalse",
        "If",         "IfElse",          "Switch",          "Call",
        "Block",      "OnTileExecute",   "DoExchange",      "GlobalExchange",
        "StreamCopy", "StreamCopyBegin", "StreamCopyMid",   "StreamCopyEnd",
        "Sync",       "Abort",           "WriteUndef",      "SetLocalConsensusFromVar",
        "SyncAns"};
    auto found = std::find(std::begin(tags), std::end(tags), tag);
    return static_cast<Type>(found - std::begin(tags));
  }
  friend class Block;
  friend class ExecutionStep;
};

// Of a tile: with what lies between the things that are there, and without.
class MemoryRegion
{
  std::uint64_t with, without;

public:
  MemoryRegion(std::uint64_t includingGaps, std::uint64_t excludingGaps)
      : with(includingGaps), without(excludingGaps)
  {
  }
  std::uint64_t includingGaps() const { return with; }
  std::uint64_t excludingGaps() const { return without; }
};

// Of a category in a region of a tile: bytes that nothing else uses at any time, and those that others use at other times.
class MemoryCategoryRegion
{
  std::uint64_t alone, shared;

public:
  MemoryCategoryRegion(std::uint64_t notOverlapping, std::uint64_t overlapping)
      : alone(notOverlapping), shared(overlapping)
  {
  }
  std::uint64_t nonOverlapped() const { return alone; }
  std::uint64_t overlapped() const { return shared; }
};

// What is used for one thing on a tile. Bytes that others use at other times count for each of them.
class MemoryCategory
{
  detail::Part part;
  std::size_t tile;

  MemoryCategoryRegion region(const std::string &name) const
  {
    return {part.find(name + ".nonOverlapped")[tile].number(),
            part.find(name + ".overlapped")[tile].number()};
  }

public:
  MemoryCategory(const detail::Part &p, std::size_t t) : part(p), tile(t) {}
  std::uint64_t total() const { return part.find("total")[tile].number(); }
  MemoryCategoryRegion interleaved() const { return region("interleaved"); }
  MemoryCategoryRegion nonInterleaved() const { return region("nonInterleaved"); }
  MemoryCategoryRegion overflowed() const { return region("overflowed"); }
};

class MemoryCategories
{
  detail::Part byCategory;
  std::size_t tile;
  MemoryCategory category(const char *key) const { return {byCategory.find(key), tile}; }

public:
  MemoryCategories(const detail::Part &p, std::size_t t) : byCategory(p), tile(t) {}
  MemoryCategory variable() const { return category("variable"); }
  MemoryCategory constant() const { return category("constant"); }
  MemoryCategory message() const { return category("message"); }
  MemoryCategory hostMessage() const { return category("hostMessage"); }
  MemoryCategory globalMessage() const { return category("globalMessage"); }
  MemoryCategory rearrangement() const { return category("rearrangement"); }
  MemoryCategory outputEdge() const { return category("outputEdge"); }
  MemoryCategory multiple() const { return category("multiple"); }
  MemoryCategory hostExchangePacketHeader() const { return category("hostExchangePacketHeader"); }
  MemoryCategory globalExchangePacketHeader() const
  {
    return category("globalExchangePacketHeader");
  }
  MemoryCategory stack() const { return category("stack"); }
  MemoryCategory vertexInstanceState() const { return category("vertexInstanceState"); }
  MemoryCategory copyDescriptor() const { return category("copyDescriptor"); }
  MemoryCategory vectorListDescriptor() const { return category("vectorListDescriptor"); }
  MemoryCategory vertexFieldData() const { return category("vertexFieldData"); }
  MemoryCategory controlTable() const { return category("controlTable"); }
  MemoryCategory controlCode() const { return category("controlCode"); }
  MemoryCategory controlId() const { return category("controlId"); }
  MemoryCategory vertexCode() const { return category("vertexCode"); }
  MemoryCategory internalExchangeCode() const { return category("internalExchangeCode"); }
  MemoryCategory hostExchangeCode() const { return category("hostExchangeCode"); }
  MemoryCategory globalExchangeCode() const { return category("globalExchangeCode"); }
  MemoryCategory instrumentationResults() const { return category("instrumentationResults"); }
  MemoryCategory sharedCodeStorage() const { return category("sharedCodeStorage"); }
  MemoryCategory sharedDataStorage() const { return category("sharedDataStorage"); }
};

class VertexType
{
  detail::Part names;
  std::size_t number;

public:
  VertexType(const detail::Part &p, std::size_t i) : names(p), number(i) {}
  std::size_t id() const { return number; }
  std::string name() const { return names[number].text(); }
};

// What vertices of one type take on a tile. Code that other types need, too, counts for each of them.
class VertexMemory
{
  VertexType of;
  detail::Part byVertexType;
  std::size_t tile;
  std::uint64_t bytes(const std::string &key) const
  {
    return byVertexType.find(key)[of.id()][tile].number();
  }

public:
  VertexMemory(const VertexType &type, const detail::Part &p, std::size_t t)
      : of(type), byVertexType(p), tile(t)
  {
  }
  VertexType type() const { return of; }
  std::uint64_t codeBytes() const { return bytes("codeBytes"); }
  std::uint64_t copyPtrBytes() const { return bytes("copyPtrBytes"); }
  std::uint64_t descriptorBytes() const { return bytes("descriptorBytes"); }
  std::uint64_t edgePtrBytes() const { return bytes("edgePtrBytes"); }
  std::uint64_t paddingBytes() const { return bytes("paddingBytes"); }
  std::uint64_t vertexDataBytes() const { return bytes("vertexDataBytes"); }
  std::uint64_t totalBytes() const { return bytes("totalBytes"); }
};

class TileMemory
{
  detail::Part part, typeNames;
  std::size_t tile;
  std::uint64_t byTile(const std::string &key) const
  {
    return part.find("byTile." + key)[tile].number();
  }
  MemoryRegion region(const std::string &name) const
  {
    return {byTile(name + "IncludingGaps"), byTile(name)};
  }

public:
  TileMemory(const detail::Part &p, const detail::Part &names, std::size_t t)
      : part(p), typeNames(names), tile(t)
  {
  }
  // One for each type that has vertices on the tile.
  std::vector<VertexMemory> vertices() const
  {
    std::vector<VertexMemory> list;
    detail::Part byType = part.find("byVertexType"), totals = byType.find("totalBytes");
    for (std::size_t i = 0; i < totals.size(); ++i)
      if (totals[i][tile].number() > 0) list.emplace_back(VertexType(typeNames, i), byType, tile);
    return list;
  }
  MemoryCategories category() const { return {part.find("byCategory"), tile}; }
  MemoryRegion total() const { return region("total"); }
  MemoryRegion interleaved() const { return region("interleaved"); }
  MemoryRegion nonInterleaved() const { return region("nonInterleaved"); }
  MemoryRegion overflowed() const { return region("overflowed"); }
};

class Tile
{
  detail::Part graph;
  std::size_t number;

public:
  Tile(const detail::Part &p, std::size_t i) : graph(p), number(i) {}
  std::size_t id() const { return number; }
  TileMemory memory() const
  {
    return {graph.find("memory"), graph.find("vertexTypes.names"), number};
  }
};

class Ipu
{
  std::size_t number;
  std::vector<Tile> all;

public:
  Ipu(std::size_t i, const std::vector<Tile> &tiles) : number(i), all(tiles) {}
  std::size_t id() const { return number; }
  const std::vector<Tile> &tiles() const { return all; }
};

// Of all tiles: what is in their memory under one name.
class Variable
{
  detail::Part table;
  std::size_t number;

public:
  Variable(const detail::Part &p, std::size_t i) : table(p), number(i) {}
  std::size_t _id() const { return number; }
  std::string name() const { return table.find("names")[number].text(); }
  std::uint64_t size() const { return table.find("bytes")[number].number(); }
};

class LivenessMemory
{
  detail::Part table, live;

public:
  LivenessMemory(const detail::Part &variables, const detail::Part &p) : table(variables), live(p)
  {
  }
  std::uint64_t bytes() const { return live.number("bytes"); }
  std::vector<Variable> variables() const
  {
    std::vector<Variable> list;
    detail::Part numbers = live.find("variables");
    for (std::size_t i = 0; i < numbers.size(); ++i)
      list.emplace_back(table, static_cast<std::size_t>(numbers[i].number()));
    return list;
  }
};

// A program that uses memory, and what is live while it runs and is not always.
class LivenessProgramStep
{
  detail::Part programs, liveness;
  std::size_t number;
  detail::Part step() const { return liveness.find("programs")[number]; }

public:
  LivenessProgramStep(const detail::Part &all, const detail::Part &p, std::size_t i)
      : programs(all), liveness(p), number(i)
  {
  }
  std::shared_ptr<Program> program() const
  {
    return std::make_shared<Program>(programs, static_cast<std::size_t>(step().number("program")));
  }
  LivenessMemory notAlwaysLiveMemory() const { return {liveness.find("variables"), step()}; }
};

// The vertices of one type in a compute set.
class VertexInstances
{
  VertexType of;
  std::uint64_t number;

public:
  VertexInstances(const VertexType &type, std::uint64_t n) : of(type), number(n) {}
  VertexType type() const { return of; }
  std::uint64_t count() const { return number; }
};

class ComputeSet
{
  detail::Part graph;
  std::size_t number;

public:
  ComputeSet(const detail::Part &p, std::size_t i) : graph(p), number(i) {}
  std::size_t id() const { return number; }
  std::string name() const { return graph.find("computeSets.names")[number].text(); }
  std::vector<VertexInstances> vertices() const
  {
    std::vector<VertexInstances> list;
    detail::Part types = graph.find("computeSets.vertexTypes")[number];
    detail::Part counts = graph.find("computeSets.vertexCounts")[number];
    detail::Part names = graph.find("vertexTypes.names");
    for (std::size_t i = 0; i < types.size(); ++i)
      list.emplace_back(VertexType(names, static_cast<std::size_t>(types[i].number())),
                        counts[i].number());
    return list;
  }
};

class CompilationReport
{
  detail::Part part;

  // As many as there are at `counted`.
  template <typename Item> std::vector<Item> list(const std::string &counted) const
  {
    std::vector<Item> items;
    for (std::size_t i = 0, count = part.find(counted).size(); i < count; ++i)
      items.emplace_back(part, i);
    return items;
  }

public:
  explicit CompilationReport(const detail::Part &p) : part(p) {}
  Target target() const { return Target(part.find("target")); }
  Graph graph() const { return Graph(part.find("graph")); }
  // Of one replica.
  std::vector<Tile> tiles() const { return list<Tile>("memory.byTile.total"); }
  std::vector<Ipu> ipus() const
  {
    std::vector<Ipu> list;
    std::vector<Tile> all = tiles();
    std::size_t per_ipu = static_cast<std::size_t>(target().tilesPerIpu());
    for (std::size_t i = 0; per_ipu && i < all.size(); i += per_ipu)
      list.emplace_back(i / per_ipu,
                        std::vector<Tile>(all.begin() + static_cast<std::ptrdiff_t>(i),
                                          all.begin() + static_cast<std::ptrdiff_t>(
                                                            std::min(i + per_ipu, all.size()))));
    return list;
  }
  // In the order of the programs' numbers; of all tiles of one replica, as alwaysLiveVariables.
  std::vector<LivenessProgramStep> livenessProgramSteps() const
  {
    std::vector<LivenessProgramStep> steps;
    detail::Part liveness = part.find("memory.liveness");
    for (std::size_t i = 0; i < liveness.find("programs").size(); ++i)
      steps.emplace_back(part.find("programs"), liveness, i);
    return steps;
  }
  std::vector<Variable> alwaysLiveVariables() const
  {
    return LivenessMemory(part.find("memory.liveness.variables"),
                          part.find("memory.liveness.alwaysLive"))
        .variables();
  }
  std::vector<ComputeSet> computeSets() const { return list<ComputeSet>("computeSets.names"); }
  std::vector<std::shared_ptr<Program>> programs() const
  {
    std::vector<std::shared_ptr<Program>> all;
    detail::Part list = part.find("programs");
    for (std::size_t i = 0; i < list.size(); ++i) all.push_back(std::make_shared<Program>(list, i));
    return all;
  }
};

// ---- what was run ----

class Run
{
  detail::Part part;

public:
  explicit Run(const detail::Part &p) : part(p) {}
  // As Engine::run was given it; otherwise the program's.
  std::string name() const { return part.text(part.find("runName").exists() ? "runName" : "name"); }
  std::uint64_t cycles() const { return part.number("cycles"); }
};

// A compute set that a step executed. Its cycles are those of the last time that it was, in any step.
class ComputeSetExecution
{
  detail::Part execution, graph;
  std::size_t number;

  static std::vector<std::uint64_t> numbers(const detail::Part &list)
  {
    std::vector<std::uint64_t> values;
    for (std::size_t i = 0; i < list.size(); ++i) values.push_back(list[i].number());
    return values;
  }

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
    return numbers(execution.find("computeSetCyclesByTile")[number]);
  }
  // What its vertices are said to take. Empty unless there is an IPU Model, or profiler.includeCycleEstimates asks for it.
  std::vector<std::uint64_t> estimatedCyclesByTile() const
  {
    return numbers(graph.find("computeSets.cycleEstimates.cyclesByTile")[number]);
  }
};

// A step of the simulation.
class ExecutionStep
{
  detail::Part part, programs, execution, graph;

public:
  ExecutionStep(const detail::Part &p, const detail::Part &e, const detail::Part &g)
      : part(p), programs(g.find("programs")), execution(e), graph(g)
  {
  }
  // One of a step of the type OnTileExecute; otherwise none.
  std::vector<ComputeSetExecution> computeSets() const
  {
    std::vector<ComputeSetExecution> list;
    if (part.find("computeSet").exists())
      list.emplace_back(execution, graph, static_cast<std::size_t>(part.number("computeSet")));
    return list;
  }
  // Of a sync that belongs to another step: one of the type Sync, with no number; of the beginning and the end of a
  // stream copy one of their type, with its name.
  std::shared_ptr<Program> program() const
  {
    Program::Type type = Program::typeOf(part.text("type"));
    if (type == Program::Type::StreamCopyBegin || type == Program::Type::StreamCopyEnd ||
        type == Program::Type::SyncAns)
      return std::make_shared<Program>(type, part.text("name"));
    if (!part.find("program").exists()) return std::make_shared<Program>(Program::Type::Sync, "");
    return std::make_shared<Program>(programs, static_cast<std::size_t>(part.number("program")));
  }
  // 0 for syncs, and where a stream copy begins and ends.
  std::uint64_t cycles() const { return part.number("cycles"); }
  std::uint64_t cyclesFrom() const { return part.number("cyclesFrom"); }
  std::uint64_t cyclesTo() const { return part.number("cyclesTo"); }
  std::uint64_t activeTiles() const { return part.number("activeTiles"); }
  double tileBalance() const { return part.find("tileBalance").real(); }
  double activeTileBalance() const { return part.find("activeTileBalance").real(); }
  std::uint64_t totalData() const { return part.number("totalData"); }
};

// Of lightweight profiling: something that a tile was in, from a cycle to another, of the device since it was loaded.
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
  // It ended when its end could not be noted any more; cyclesTo() is then the end of the run, or of what it was in.
  bool isEndUnknown() const { return part.find("endUnknown").isTrue(); }
  bool isCommon() const { return kind() == "Common"; }
  bool isStreamCopy() const { return kind().compare(0, 10, "StreamCopy") == 0; }
  bool isBlockFlush() const { return kind() == "BlockFlush"; }
  bool isOverflow() const { return kind() == "Overflow"; }
  bool isUnknown() const { return kind() == "Unknown"; }
  // Never null: of a common block one of the type Block with its name, of a stream copy one of its phase; others
  // are called what they are.
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
  // By their beginnings. Of a tile that times none: the exchanges of stream copies that it took part in, as the first tile
  // of the same IPU that timed them has it: all of them begin and end together.
  std::vector<Block> blocks(std::uint64_t tile) const
  {
    std::vector<Block> own, others;
    std::uint64_t perIpu = compilation.number("target.tilesPerIPU");
    detail::Part tiles = part.find("lightweightProfile.tiles");
    for (std::size_t t = 0; t < tiles.size(); ++t) {
      std::uint64_t timing = tiles[t].number("tile");
      if (timing != tile && timing / perIpu != tile / perIpu) continue;
      detail::Part list = tiles[t].find("blocks");
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (timing == tile)
          own.emplace_back(list[i], tile);
        else if (takesPart(list[i].find("tiles"), tile))
          others.emplace_back(list[i], tile);
      }
    }
    if (!own.empty()) return own;
    // Of those that begin together the longest one is kept.
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

// ---- reports ----

class Report
{
  detail::Part part;

public:
  // Takes it over.
  explicit Report(pop_profile *report) : part(report) {}
  PoplarVersion poplarVersion() const { return PoplarVersion(part.text("version")); }
  CompilationReport compilation() const { return CompilationReport(part.find("graph")); }
  // profiling_disabled if the report was made without.
  ExecutionReport execution() const
  {
    if (!part.find("execution").exists())
      throw poplar::profiling_disabled(
          "the report knows of no runs: it was written when the graph was compiled, or "
          "without autoReport.outputExecutionProfile");
    return {part.find("execution"), part.find("graph")};
  }
};

// A file profile.pop of the engine option autoReport.directory. file_load_error if it is none.
inline Report openReport(const std::string &path)
{
  pop_profile *report;
  poplar::detail::check(pop_report_read(path.c_str(), &report));
  return Report(report);
}

} // namespace pva

inline pva::Report poplar::Engine::getReport(bool reportExecution) const
{
  pop_profile *report;
  detail::check(pop_engine_report(state->engine, reportExecution, &report));
  return pva::Report(report);
}

#endif
