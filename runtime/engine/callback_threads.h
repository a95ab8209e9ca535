/* Threads on which callbacks of streams run, if options ask for them (streamCallbacks.…). */
#ifndef ENGINE_CALLBACK_THREADS_H
#define ENGINE_CALLBACK_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct callback_threads callback_threads;

/* `count` threads, at least 1, started at the first use. `with_caller`: the caller of
 * callback_threads_run takes part. */
callback_threads *callback_threads_new(uint32_t count, bool with_caller);
void callback_threads_free(callback_threads *t); /* NULL is fine */

/* Runs items 0 to num_items - 1, which are independent of each other. Returns when all are done. */
void callback_threads_run(callback_threads *t, void (*run)(void *context, size_t item),
                          void *context, size_t num_items);

#endif
