// float2, half4, … for tile and host.
#ifndef POPLAR_VECTOR_TYPES_HPP
#define POPLAR_VECTOR_TYPES_HPP

#include <populus/vector_types.h>

#endif
