#ifndef POPLAR_VARIABLEMAPPINGMETHOD_HPP
#define POPLAR_VARIABLEMAPPINGMETHOD_HPP

namespace poplar
{

// How a new variable is mapped to tiles: not yet, or spread evenly over all.
enum class VariableMappingMethod { NONE, LINEAR };

} // namespace poplar

#endif
