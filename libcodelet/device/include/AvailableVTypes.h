/* <poplar/AvailableVTypes.h>, as older programs spell it. */
#include <poplar/AvailableVTypes.h>
