/* The host's side of data streams: what they are connected to, and their copies. */
#ifndef ENGINE_STREAMS_H
#define ENGINE_STREAMS_H

#include "executable/executable.h"
#include "machine/machine.h"
#include <populus/engine.h>

typedef struct streams streams;

/* The executable must outlive the streams. */
streams *streams_new(const pop_executable *executable);
void streams_free(streams *s); /* NULL is fine */

POP_MUST_CHECK pop_error *streams_connect(streams *s, const char *handle, void *begin, void *end);
POP_MUST_CHECK pop_error *streams_connect_callback(streams *s, const char *handle,
                                                   const pop_stream_callback *callback);
/* Are all streams connected that programs use? Errors: STREAM naming the first that is not. */
POP_MUST_CHECK pop_error *streams_check(const streams *s);
/* Seconds that a callback's fetch may take before the copy is an error; 0: any number. */
void streams_limit_callbacks(streams *s, double seconds);
/* Buffers start at their beginning again, what was prefetched is given up. */
void streams_restart(streams *s);

/* The memory for a window of a host exchange, in which the tiles of a machine wait: what the host has for
 * the device is in it. Errors: RUNTIME. */
POP_MUST_CHECK pop_error *streams_begin(streams *s, const executable_window *window,
                                        uint8_t **memory);
/* The exchange is done: callbacks hear of it. With `prefetch`, the next copies' data may be asked for. Of
 * the copies that have begun the oldest ends first. */
POP_MUST_CHECK pop_error *streams_end(streams *s, const executable_window *window, uint8_t *memory,
                                      bool prefetch);

#endif
