/* <poplar/StackSizeDefs.hpp>, as older programs spell it. */
#include <poplar/StackSizeDefs.hpp>
