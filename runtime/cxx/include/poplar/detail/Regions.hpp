// Where a tensor's elements are, for functions of Graph: on which tiles, in what order in
// memory, in which variables.
#ifndef POPLAR_DETAIL_REGIONS_HPP
#define POPLAR_DETAIL_REGIONS_HPP

#include <ostream>
#include <poplar/Tensor.hpp>

namespace poplar
{
namespace detail
{

using Regions = std::vector<std::vector<Interval>>;

// Adds intervals of the flattened tensor to a list for each tile of the graph. False if some
// element is on none of these tiles. Lists are added for tiles of the CPU: programs may use more than
// its target says.
inline bool tileMapping(pop_graph *graph, const Tensor &tensor, Regions &mapping)
{
  struct Collected {
    Regions &mapping;
    bool complete;
  } all = {mapping, true};
  pop_graph_visit_tile_mapping(
      graph, check(tensor.c()),
      [](void *context, std::size_t tile, std::size_t begin, std::size_t end) {
        Collected &c = *static_cast<Collected *>(context);
        if (tile == SIZE_MAX) {
          c.complete = false;
          return;
        }
        if (tile >= c.mapping.size()) c.mapping.resize(tile + 1);
        auto &list = c.mapping[tile];
        if (!list.empty() && list.back().end() == begin)
          list.back() = Interval(list.back().begin(), end);
        else
          list.push_back(Interval(begin, end));
      },
      &all);
  return all.complete;
}

inline void addList(Regions &lists, const pop_interval *intervals, std::size_t count)
{
  lists.emplace_back();
  for (std::size_t i = 0; i < count; ++i)
    lists.back().push_back(Interval(intervals[i].begin, intervals[i].end));
}

// Lists of intervals of the flattened tensor in the order of memory. The intervals of a list are
// contiguous there.
inline Regions sortedRegions(const Tensor &tensor, CArray<pop_interval> &regions,
                             bool removeAliasedIntervals)
{
  Regions lists;
  pop_tensor_visit_sorted_contiguous_regions(
      check(tensor.c()), regions.data(), regions.size(), removeAliasedIntervals,
      [](void *context, const pop_interval *intervals, std::size_t count) {
        addList(*static_cast<Regions *>(context), intervals, count);
      },
      &lists);
  return lists;
}

// `aliases` gets, for each interval, list by list, the begin of the first interval with the same
// elements.
inline Regions sortedRegionsWithAliases(const Tensor &tensor, CArray<pop_interval> &regions,
                                        std::vector<std::size_t> &aliases)
{
  struct Lists {
    Regions intervals;
    std::vector<std::size_t> &originals;
  } lists = {{}, aliases};
  aliases.clear();
  pop_tensor_visit_sorted_regions_with_aliases(
      check(tensor.c()), regions.data(), regions.size(),
      [](void *context, const pop_interval *intervals, const std::size_t *originals,
         std::size_t count) {
        Lists &all = *static_cast<Lists *>(context);
        addList(all.intervals, intervals, count);
        all.originals.insert(all.originals.end(), originals, originals + count);
      },
      &lists);
  return lists.intervals;
}

// Takes in each dimension the shortest prefix of which the whole is a repetition.
inline Tensor unbroadcast(const Tensor &tensor)
{
  Tensor result(check(tensor.c()));
  for (unsigned d = 0; d < tensor.rank(); ++d) {
    std::size_t size = result.dim(d);
    for (std::size_t part = 1; part < size; ++part) {
      if (size % part) continue;
      Tensor first = result.slice(0, part, d);
      if (first.broadcast(static_cast<unsigned>(size / part), d) != result) continue;
      result = first;
      break;
    }
  }
  return result;
}

// Writes JSON: a list with type, shape and pieces [variable, begin, end] of each tensor.
// Numbers are those of JSON, whatever the stream's locale and base.
inline void serializeTensors(std::ostream &os, ArrayRef<Tensor> tensors)
{
  auto number = [](std::size_t n) { return std::to_string(n); };
  const char *between = "[";
  for (const Tensor &tensor : tensors) {
    os << between << "{\"type\":\"" << tensor.elementType() << "\",\"shape\":[";
    for (unsigned d = 0; d < tensor.rank(); ++d) os << (d ? "," : "") << number(tensor.dim(d));
    os << "],\"pieces\":[";
    bool isFirst = true;
    for (const VariableInterval &piece : tensor.getVarRegions()) {
      os << (isFirst ? "[" : ",[") << number(piece.var) << ',' << number(piece.interval.begin())
         << ',' << number(piece.interval.end()) << ']';
      isFirst = false;
    }
    os << "]}";
    between = ",";
  }
  os << (tensors.empty() ? "[]" : "]");
}

} // namespace detail
} // namespace poplar

#endif
