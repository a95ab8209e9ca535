/* <poplar/TileConstants.hpp>, as older programs spell it. */
#include <poplar/TileConstants.hpp>
