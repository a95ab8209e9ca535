#ifndef POPOPS_SORTORDER_HPP
#define POPOPS_SORTORDER_HPP

#include <ostream>

namespace popops
{

enum class SortOrder { NONE, ASCENDING, DESCENDING };

inline std::ostream &operator<<(std::ostream &os, const SortOrder &order)
{
  return os << (order == SortOrder::NONE        ? "NONE"
                : order == SortOrder::ASCENDING ? "ASCENDING"
                                                : "DESCENDING");
}

} // namespace popops

#endif
