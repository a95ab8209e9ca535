#ifndef POPLAR_VARIABLEMAPPINGMETHOD_HPP
#define POPLAR_VARIABLEMAPPINGMETHOD_HPP

namespace poplar
{

// Who maps a new variable to tiles: nobody yet, or spread evenly over all.
enum class VariableMappingMethod { NONE, LINEAR };

} // namespace poplar

#endif
