/* <poplar/Vertex.hpp>, as older programs spell it. */
#include <poplar/Vertex.hpp>
