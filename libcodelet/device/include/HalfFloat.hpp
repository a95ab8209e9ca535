/* <poplar/HalfFloat.hpp>, as older programs spell it. */
#include <poplar/HalfFloat.hpp>
