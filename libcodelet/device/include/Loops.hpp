/* <poplar/Loops.hpp>, as older programs spell it. */
#include <poplar/Loops.hpp>
