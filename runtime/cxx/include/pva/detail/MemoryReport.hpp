// The contents of the tiles' memory.
#ifndef PVA_DETAIL_MEMORYREPORT_HPP
#define PVA_DETAIL_MEMORYREPORT_HPP

#include <pva/detail/Part.hpp>
#include <vector>

namespace pva
{

// Bytes in a region of a tile's memory, with the gaps between its contents and without.
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

// Bytes of a category in a region of a tile: those that only this category uses, and those that
// other categories use at other times.
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

// Memory of one category on a tile. Bytes that others use at other times count for each of them.
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

// Memory of vertices of one type on a tile. Code that is shared with other types counts for each
// of them.
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

// What is in the memory of all tiles under one name.
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

} // namespace pva

#endif
