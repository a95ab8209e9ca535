// The 16-bit floating-point type of codelets and, on the tile, its vectors. Without __IPU__ the
// vectors are not defined: a source that is also compiled for other processors defines its own.
#ifndef POPLAR_HALF_FLOAT_HPP
#define POPLAR_HALF_FLOAT_HPP

// The parts of <type_traits> that codelets use without including it. All of it takes longer to
// read than everything here.
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
