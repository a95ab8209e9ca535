/* What an archive holds, as JSON. */
#ifndef TOOLS_LIST_JSON_H
#define TOOLS_LIST_JSON_H

#include <populus/populus.h>

/* To standard output: target, replicas, compiledBy, programs, handles, streams, remoteBuffers. */
POP_MUST_CHECK pop_error *list_json(const pop_executable *executable, bool pretty);

#endif
