/* Remote buffers: memory of the host's for programs to keep data in. */
#ifndef ENGINE_REMOTE_BUFFERS_H
#define ENGINE_REMOTE_BUFFERS_H

#include "executable/executable.h"

typedef struct remote_buffers remote_buffers;

/* The executable must outlive the buffers. */
remote_buffers *remote_buffers_new(const pop_executable *executable);
void remote_buffers_free(remote_buffers *r); /* NULL is fine */

/* New memory for all of them, all zero. Errors: MEMORY naming the buffer. */
POP_MUST_CHECK pop_error *remote_buffers_restart(remote_buffers *r);

/* The number of the buffer of this name; of `num_replicas` in one graph it is replica 0's, the others' come
 * next. Errors: UNKNOWN_HANDLE with the nearest name. `call` is for messages. */
POP_MUST_CHECK pop_error *remote_buffers_find(const remote_buffers *r, const char *call,
                                              const char *handle, size_t *number,
                                              uint32_t *num_replicas);
/* A row, for the host; `bytes` must be the row's. Errors: INDEX, INVALID_ARGUMENT. */
POP_MUST_CHECK pop_error *remote_buffers_row(const remote_buffers *r, const char *call,
                                             size_t number, size_t row, size_t bytes,
                                             uint8_t **memory);

/* What a window is of; and what the buffer is called in messages. */
uint8_t *remote_buffers_memory(const remote_buffers *r, const executable_window *window);
const char *remote_buffers_name(const remote_buffers *r, uint32_t buffer);

#endif
