// The 16-bit floating point type of codelets and, on the tile, its vectors. A program that is also
// compiled for a processor without them has its own there: so they are not defined for the host.
#ifndef POPLAR_HALF_FLOAT_HPP
#define POPLAR_HALF_FLOAT_HPP

// Codelets ask about types without including <type_traits>, which takes longer to read than all
// that is here: these parts of it are what they use.
#include <__type_traits/conditional.h>
#include <__type_traits/enable_if.h>
#include <__type_traits/integral_constant.h>
#include <__type_traits/is_floating_point.h>
#include <__type_traits/is_integral.h>
#include <__type_traits/is_same.h>

#ifdef __IPU__
#include <arch/gc_tile_defines.h>
#include <populus/vector_types.h>
#endif

typedef _Float16 half;

#if __cplusplus >= 201703L
namespace poplar
{
using std::is_integral_v; // published codelets have it by `using namespace poplar`
}
#endif

#endif
