/* Debug information of operations: library functions record their calls, arguments and results
 * in a file, which shows which operation made what.
 *
 * A process has one file. It is a map with one entry, "contexts": the list of records. Each
 * record is a map with at least "id" (see pop_debug_next_id), "parentId" (of the operation that
 * it is part of, or 0), "layer" (which library) and "name" (a path of names). Any thread may
 * call these functions. */
#ifndef POPULUS_DEBUG_STREAM_H
#define POPULUS_DEBUG_STREAM_H

#include <populus/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number for an operation, unique in the process; never 0. */
uint64_t pop_debug_next_id(void);

/* Begins the file, as JSON or CBOR. INVALID_ARGUMENT: one is open already, or there is no such
 * format; SYSTEM: it cannot be created. */
POP_MUST_CHECK pop_error *pop_debug_stream_open(const char *path, pop_profile_format format);
bool pop_debug_stream_is_open(void);
/* Writes a record, a map. Does nothing if no file is open. INVALID_ARGUMENT for the value NONE;
 * SYSTEM: it cannot be written. */
POP_MUST_CHECK pop_error *pop_debug_stream_add(pop_profile_value context);
/* Ends the file. Does nothing if no file is open. SYSTEM: something could not be written. */
POP_MUST_CHECK pop_error *pop_debug_stream_close(void);

#ifdef __cplusplus
}
#endif
#endif
