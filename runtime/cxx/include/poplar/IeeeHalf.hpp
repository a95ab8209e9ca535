#ifndef POPLAR_IEEEHALF_HPP
#define POPLAR_IEEEHALF_HPP

#include <poplar/HalfFloat.hpp>

#endif
