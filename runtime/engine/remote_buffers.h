/* Remote buffers: host memory in which programs keep data. */
#ifndef ENGINE_REMOTE_BUFFERS_H
#define ENGINE_REMOTE_BUFFERS_H

#include "executable/executable.h"

typedef struct remote_buffers remote_buffers;

/* The executable must outlive the buffers. */
remote_buffers *remote_buffers_new(const pop_executable *executable);
void remote_buffers_free(remote_buffers *r); /* NULL is fine */

/* Gives all of them new memory, all zero. Errors: MEMORY naming the buffer. */
POP_MUST_CHECK pop_error *remote_buffers_restart(remote_buffers *r);

/* Finds the buffer of this name. If the graph has `num_replicas` of them, *number is that of
 * replica 0; the others follow. Errors: UNKNOWN_HANDLE with the nearest name. `call` is for
 * messages. */
POP_MUST_CHECK pop_error *remote_buffers_find(const remote_buffers *r, const char *call,
                                              const char *handle, size_t *number,
                                              uint32_t *num_replicas);
/* The memory of a row, for the host; `bytes` must be the row's size. Errors: INDEX,
 * INVALID_ARGUMENT. */
POP_MUST_CHECK pop_error *remote_buffers_row(const remote_buffers *r, const char *call,
                                             size_t number, size_t row, size_t bytes,
                                             uint8_t **memory);

/* The memory of a window; the name of a buffer in messages. */
uint8_t *remote_buffers_memory(const remote_buffers *r, const executable_window *window);
const char *remote_buffers_name(const remote_buffers *r, uint32_t buffer);

#endif
