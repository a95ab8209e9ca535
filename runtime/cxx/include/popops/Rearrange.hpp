// Regrouping: copies of a tensor in which groups of elements of another dimension are adjacent.
#ifndef POPOPS_REARRANGE_HPP
#define POPOPS_REARRANGE_HPP

#include <algorithm>
#include <poplar/Program.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/VarStructure.hpp>
#include <vector>

namespace popops
{
namespace rearrange
{
namespace detail
{

inline void checkGrouping(const char *function, const poplar::Tensor &t,
                          const poputil::GroupingInfo &grouping)
{
  if (grouping.first >= t.rank() || grouping.second == 0 || t.dim(grouping.first) % grouping.second)
    throw poputil::poplibs_error(std::string("popops::rearrange::") + function + ": groups of " +
                                 std::to_string(grouping.second) + " of dimension " +
                                 std::to_string(grouping.first) + " of a tensor of shape " +
                                 t.shapeToString());
}

// A variable of the tensor's shape in which the elements of such groups are adjacent, spread
// over the tiles. Groups of `to` are innermost; if `from` is of another dimension, as many of
// them as it says are adjacent.
inline poplar::Tensor addGrouped(poplar::Graph &graph, const poplar::Tensor &t,
                                 const poputil::GroupingInfo &from, const poputil::GroupingInfo &to,
                                 const poplar::DebugContext &debugContext)
{
  std::vector<poputil::GroupingInfo> groups; // from the outer one to the inner
  if (from.first != to.first) groups.push_back(from);
  groups.push_back(to);
  std::vector<std::size_t> shape = t.shape();
  std::size_t together = 1;
  for (const auto &g : groups) shape[g.first] /= g.second;
  for (const auto &g : groups) {
    shape.push_back(g.second);
    together *= g.second;
  }
  poplar::Tensor result = graph.addVariable(t.elementType(), shape, debugContext);
  poputil::mapTensorLinearly(graph, result, 0, static_cast<unsigned>(together));
  // The inner dimensions go back behind those that they are parts of.
  for (auto g = groups.rbegin(); g != groups.rend(); ++g) {
    const unsigned last = static_cast<unsigned>(result.rank() - 1);
    result = result.dimRoll(last, g->first + 1).flatten(g->first, g->first + 2);
  }
  return result;
}

} // namespace detail

// False: no codelets here transpose faster than others.
inline bool canUseFastTranspose(const poplar::Target &, const poplar::Type &, unsigned, unsigned,
                                unsigned)
{
  return false;
}
// The number of elements in 8 bytes for 16-bit and 32-bit types; 1 for other types.
inline unsigned getMinimumRegroupGrainSize(const poplar::Type &type)
{
  if (type == poplar::HALF || type == poplar::UNSIGNED_SHORT || type == poplar::SHORT) return 4;
  if (type == poplar::FLOAT || type == poplar::UNSIGNED_INT || type == poplar::INT) return 2;
  return 1;
}

// A copy of the tensor, regrouped as `to` says. Nothing is added to the compute set. Throws
// poplibs_error if groups do not divide their dimension.
inline poplar::Tensor regroupTensor(poplar::Graph &graph, const poplar::Tensor &t,
                                    poplar::program::Sequence &copies, const poplar::ComputeSet &,
                                    const poputil::GroupingInfo &from,
                                    const poputil::GroupingInfo &to,
                                    const poplar::DebugContext &debugContext = {})
{
  detail::checkGrouping("regroupTensor", t, from);
  detail::checkGrouping("regroupTensor", t, to);
  poplar::Tensor result = detail::addGrouped(graph, t, from, to, debugContext);
  copies.add(poplar::program::Copy(t, result, false, debugContext));
  return result;
}
inline poplar::Tensor regroupTensor(poplar::Graph &graph, const poplar::Tensor &t,
                                    std::vector<poplar::program::Copy> &copies,
                                    const poplar::ComputeSet &, const poputil::GroupingInfo &from,
                                    const poputil::GroupingInfo &to,
                                    const poplar::DebugContext &debugContext = {})
{
  detail::checkGrouping("regroupTensor", t, from);
  detail::checkGrouping("regroupTensor", t, to);
  poplar::Tensor result = detail::addGrouped(graph, t, from, to, debugContext);
  copies.emplace_back(t, result, false, debugContext);
  return result;
}

namespace detail
{

// Is regrouping as `to` says possible, and would it change the tensor's groups?
inline bool isAnother(const std::vector<poputil::GroupingInfo> &has, const poplar::Tensor &t,
                      const poputil::GroupingInfo &to)
{
  if (to.first >= t.rank() || to.second < 2 || t.dim(to.first) % to.second) return false;
  return has.empty() || has[0].first != to.first || has[0].second % to.second != 0;
}
inline poputil::GroupingInfo inner(const std::vector<poputil::GroupingInfo> &has,
                                   const poputil::GroupingInfo &to)
{
  return has.empty() ? poputil::GroupingInfo(to.first, 1) : has[0];
}

} // namespace detail

// The tensor itself if it has these groups already, or cannot have them.
inline poplar::Tensor regroupIfPossible(poplar::Graph &graph, const poplar::Tensor &t,
                                        poplar::program::Sequence &prog,
                                        const poputil::GroupingInfo &to,
                                        const poplar::DebugContext &debugContext = {})
{
  if (t.rank() == 0) return t;
  const auto has = poputil::detectDimGroupings(graph, t);
  if (!detail::isAnother(has, t, to)) return t;
  return regroupTensor(graph, t, prog, poplar::ComputeSet(), detail::inner(has, to), to,
                       debugContext);
}

// The tensor, regrouped like `ref` if that has groups, and other ones than the tensor. So code that
// reads both reads runs of both.
inline poplar::Tensor regroupIfBeneficial(poplar::Graph &graph, const poplar::Tensor &in,
                                          const poplar::Tensor &ref,
                                          poplar::program::Sequence &prog,
                                          const poplar::DebugContext &debugContext = {})
{
  if (in.rank() != ref.rank() || in.rank() == 0) return in;
  const auto wanted = poputil::detectDimGroupings(graph, ref);
  return wanted.empty() ? in : regroupIfPossible(graph, in, prog, wanted[0], debugContext);
}
inline poplar::Tensor regroupIfBeneficial(poplar::Graph &graph, const poplar::Tensor &in,
                                          const poplar::Tensor &ref,
                                          std::vector<poplar::program::Copy> &copies,
                                          poplar::ComputeSet transposeCS,
                                          const poplar::DebugContext &debugContext = {})
{
  if (in.rank() != ref.rank() || in.rank() == 0) return in;
  const auto wanted = poputil::detectDimGroupings(graph, ref);
  const auto has = poputil::detectDimGroupings(graph, in);
  if (wanted.empty() || !detail::isAnother(has, in, wanted[0])) return in;
  return regroupTensor(graph, in, copies, transposeCS, detail::inner(has, wanted[0]), wanted[0],
                       debugContext);
}
// The tensor, regrouped if possible to groups of so many elements of the innermost dimension.
inline poplar::Tensor regroupIfBeneficial(poplar::Graph &graph, const poplar::Tensor &in,
                                          std::size_t preferredGrouping,
                                          poplar::program::Sequence &prog,
                                          const poplar::DebugContext &debugContext = {})
{
  if (in.rank() == 0) return in;
  const poputil::GroupingInfo to(static_cast<unsigned>(in.rank() - 1),
                                 static_cast<unsigned>(preferredGrouping));
  return regroupIfPossible(graph, in, prog, to, debugContext);
}

} // namespace rearrange
} // namespace popops

#endif
