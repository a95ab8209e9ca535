/* <poplar/VectorTypes.hpp>, as older programs spell it. */
#include <poplar/VectorTypes.hpp>
