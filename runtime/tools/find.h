/* Things of an archive by name, as --list shows them; NAME@2 is the thing in replica 2 alone. */
#ifndef TOOLS_FIND_H
#define TOOLS_FIND_H

#include "tensor_file.h"

#include <populus/executable.h>

#define ALL_REPLICAS UINT32_MAX

/* A handle, a remote buffer with all its rows, or a stream with one copy. In a replicated graph it
 * is that of all replicas, which are then the first dimension, or that of one. It must not be
 * copied: `use` points into it. */
typedef struct found_thing {
  tensor_use use;
  const char *name;      /* without the replica */
  size_t shape[3];       /* of a remote buffer or stream */
  size_t num_rows;       /* of a remote buffer, in a replica; 0: it is none */
  uint32_t replica;      /* that is meant; or ALL_REPLICAS */
  uint32_t num_replicas; /* that are meant: 1 if it is not replicated, or broadcast */
} found_thing;

/* A handle is preferred to a remote buffer of the same name. Errors: UNKNOWN_HANDLE with the
 * nearest name, or with the existing replicas. */
POP_MUST_CHECK pop_error *find_handle(const pop_executable *executable, const char *text, bool read,
                                      found_thing *found);
POP_MUST_CHECK pop_error *find_stream(const pop_executable *executable, const char *text,
                                      bool to_device, found_thing *found);

#endif
