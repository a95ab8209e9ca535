/* Debug information of operations: what library functions say of their calls, arguments and results, as they are called, in a file
 * for those who want to know which operation made what.
 *
 * There is one file for the process. It is a map with one entry, "contexts": the list of what was said, each a map with at least
 * "id" (see pop_debug_next_id), "parentId" (of the operation that it is part of, or 0), "layer" (which library) and "name" (a path
 * of names). Any thread may call these functions. */
#ifndef POPULUS_DEBUG_STREAM_H
#define POPULUS_DEBUG_STREAM_H

#include <populus/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number for an operation, which no other of the process has; never 0. */
uint64_t pop_debug_next_id(void);

/* Begins the file: JSON or CBOR. INVALID_ARGUMENT: one is open already; SYSTEM: it cannot be made. */
POP_MUST_CHECK pop_error *pop_debug_stream_open(const char *path, pop_profile_format format);
bool pop_debug_stream_is_open(void);
/* Writes a map. Nothing is open: nothing happens. SYSTEM: it cannot be written. */
POP_MUST_CHECK pop_error *pop_debug_stream_add(pop_profile_value context);
/* Ends the file. Nothing is open: nothing happens. SYSTEM: something could not be written. */
POP_MUST_CHECK pop_error *pop_debug_stream_close(void);

#ifdef __cplusplus
}
#endif
#endif
