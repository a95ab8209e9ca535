// Broadcasts shapes to each other, as in numpy.
#ifndef POPUTIL_BROADCAST_HPP
#define POPUTIL_BROADCAST_HPP

#include <poplar/Tensor.hpp>

namespace poputil
{

// Adds dimensions of size 1 in front of the tensor that has fewer dimensions.
inline void expandToMatchRanks(poplar::Tensor &a, poplar::Tensor &b)
{
  if (a.rank() < b.rank()) a = a.expand(std::vector<std::size_t>(b.rank() - a.rank(), 0));
  if (b.rank() < a.rank()) b = b.expand(std::vector<std::size_t>(a.rank() - b.rank(), 0));
}
// Repeats dimensions that have size 1 or are missing. Throws tensor_creation_error for others that
// differ.
inline void broadcastToMatch(poplar::Tensor &a, const std::vector<std::size_t> &shape)
{
  if (a.rank() > shape.size())
    throw poplar::tensor_creation_error("poputil::broadcastToMatch: a tensor of shape " +
                                        a.shapeToString() + " has too many dimensions for rank " +
                                        std::to_string(shape.size()));
  a = a.expand(std::vector<std::size_t>(shape.size() - a.rank(), 0));
  for (unsigned d = 0; d < shape.size(); ++d) {
    if (a.dim(d) == shape[d]) continue;
    if (a.dim(d) != 1)
      throw poplar::tensor_creation_error("poputil::broadcastToMatch: dimension " +
                                          std::to_string(d) + " of shape " + a.shapeToString() +
                                          " cannot be repeated to " + std::to_string(shape[d]));
    a = a.broadcast(static_cast<unsigned>(shape[d]), d);
  }
}
inline bool canBroadcastToMatch(const poplar::Tensor &a, const poplar::Tensor &b)
{
  poplar::Tensor x = a, y = b;
  expandToMatchRanks(x, y);
  for (unsigned d = 0; d < x.rank(); ++d)
    if (x.dim(d) != y.dim(d) && x.dim(d) != 1 && y.dim(d) != 1) return false;
  return true;
}
inline void broadcastToMatch(poplar::Tensor &a, poplar::Tensor &b)
{
  expandToMatchRanks(a, b);
  std::vector<std::size_t> shape = a.shape();
  for (unsigned d = 0; d < shape.size(); ++d)
    if (shape[d] == 1) shape[d] = b.dim(d);
  broadcastToMatch(a, shape);
  broadcastToMatch(b, shape);
}
inline void broadcastToMatch(poplar::Tensor &a, poplar::Tensor &b, poplar::Tensor &c)
{
  broadcastToMatch(a, b);
  broadcastToMatch(a, c);
  broadcastToMatch(b, c);
}

} // namespace poputil

#endif
