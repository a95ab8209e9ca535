#ifndef POPLAR_TENSORCLONEMETHOD_HPP
#define POPLAR_TENSORCLONEMETHOD_HPP

namespace poplar
{

// The order of a clone's elements in memory (populus/tensor.h: pop_clone_method).
enum class TensorCloneMethod {
  PRESERVE_ORDER_AND_ALIASES,
  CREATE_NEW_ORDER,
  PRESERVE_ORDER_UNLESS_ALIASES,
  GATHER_AND_PRESERVE_TILE_ORDER_AND_ALIASES
};

// The variables of Graph::cloneN: one for each clone, or one for each contiguous region of a tile,
// with that region of all clones.
enum class TensorCloneDuplicationMethod {
  DUPLICATE_BY_OUTER_DIMENSION,
  DUPLICATE_BY_TILE_CONTIGUOUS_REGION
};

} // namespace poplar

#endif
