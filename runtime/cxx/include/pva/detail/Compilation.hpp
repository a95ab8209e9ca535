// The parts of reports about compilation.
#ifndef PVA_DETAIL_COMPILATION_HPP
#define PVA_DETAIL_COMPILATION_HPP

#include <algorithm>
#include <cstdlib>
#include <pva/detail/MemoryReport.hpp>
#include <pva/detail/Programs.hpp>

namespace pva
{

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
  // The version of Populus.

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
  std::uint64_t ipusPerReplica() const
  {
    std::uint64_t replicas = numReplicas(); // 0 in a damaged report
    return replicas ? numIPUs() / replicas : 0;
  }
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

// A program that uses memory, and what is live while it runs, except what is always live.
class LivenessProgramStep
{
  detail::Part graph, liveness;
  std::size_t number;
  detail::Part step() const { return liveness.find("programs")[number]; }

public:
  LivenessProgramStep(const detail::Part &all, const detail::Part &p, std::size_t i)
      : graph(all), liveness(p), number(i)
  {
  }
  std::shared_ptr<Program> program() const
  {
    return std::make_shared<Program>(graph, static_cast<std::size_t>(step().number("program")));
  }
  LivenessMemory notAlwaysLiveMemory() const { return {liveness.find("variables"), step()}; }
};

class CompilationReport
{
  detail::Part part;

  // As many items as the value `counted` has.
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
  // The tiles of one replica.

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
  // In the order of the programs' numbers. Of all tiles of one replica, as in
  // alwaysLiveVariables.
  std::vector<LivenessProgramStep> livenessProgramSteps() const
  {
    std::vector<LivenessProgramStep> steps;
    detail::Part liveness = part.find("memory.liveness");
    for (std::size_t i = 0; i < liveness.find("programs").size(); ++i)
      steps.emplace_back(part, liveness, i);
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
    for (std::size_t i = 0, count = part.find("programs").size(); i < count; ++i)
      all.push_back(std::make_shared<Program>(part, i));
    return all;
  }
};

} // namespace pva

#endif
