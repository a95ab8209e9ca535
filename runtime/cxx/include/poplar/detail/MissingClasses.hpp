// Classes and functions of the documented interface that Populus does not have. Using one throws
// an exception that says so.
#ifndef POPLAR_DETAIL_MISSINGCLASSES_HPP
#define POPLAR_DETAIL_MISSINGCLASSES_HPP

#include <poplar/detail/Missing.hpp>

namespace poplar
{

POPLAR_MISSING_CLASS(Module, "poplar::Module is not there yet: use compileGraph")
POPLAR_MISSING_FUNCTION(compileModule, "poplar::compileModule is not there yet: use compileGraph")
POPLAR_MISSING_CLASS(FunctionBuffer,
                     "poplar::FunctionBuffer: the code of functions is always in the tiles")
POPLAR_MISSING_CLASS(ResumableStreamCallback,
                     "poplar::ResumableStreamCallback: a run does not stop in a callback")
POPLAR_MISSING_CLASS(StreamCallbackWithMetadata,
                     "poplar::StreamCallbackWithMetadata: quarters of a graph have one format here")
POPLAR_MISSING_CLASS(ErrorLocation, "poplar::ErrorLocation: errors cannot be simulated here")
POPLAR_MISSING_FUNCTION(errorCodeFromString,
                        "poplar::errorCodeFromString: faults have names in messages only")
POPLAR_MISSING_FUNCTION(errorCodeToString,
                        "poplar::errorCodeToString: faults have names in messages only")
POPLAR_MISSING_FUNCTION(
    readJSONFromEnv,
    "poplar::readJSONFromEnv is not there: engines read POPLAR_ENGINE_OPTIONS themselves, and "
    "poplar::readJSON what getenv says")
POPLAR_MISSING_FUNCTION(packageHash, "poplar::packageHash: use versionString")

} // namespace poplar

#endif
