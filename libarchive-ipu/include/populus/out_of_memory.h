/* Lack of memory: an error of the call that needed it, and not the end of the program.
 *
 * Functions that allocate arenas, arrays, texts and buffers (storage.h) do not return without
 * memory. If one fails, it ends the innermost pop_with_memory, which returns an error. Outside of
 * that, a reserve is used (1 MiB at once, 3 MiB in one call), and there is room for each array to
 * grow once more. A larger allocation ends in the handler. */
#ifndef POPULUS_OUT_OF_MEMORY_H
#define POPULUS_OUT_OF_MEMORY_H

#include <populus/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls `body`, and returns what it returns; MEMORY, naming `doing`, if such an allocation
 * fails on this thread before that. Then `body` has ended at that allocation. What `context`
 * owns is as it was there, and its owner frees it. What only local variables of `body` hold is
 * lost. Temporary files that it has opened are removed. `body` may call pop_with_memory again.
 * It may start threads that use its variables, take locks or call functions of the user only
 * between pop_memory_hold and pop_memory_release. */
POP_MUST_CHECK pop_error *pop_with_memory(const char *doing, pop_error *(*body)(void *context),
                                          void *context);

/* On this thread, until the matching release, failed allocations use the reserve. */
void pop_memory_hold(void);
void pop_memory_release(void);

/* The handler of the process. It is called with the number of bytes that could not be allocated,
 * and must not return. NULL: the default, one line on standard error and exit status 4. */
typedef void (*pop_out_of_memory_handler)(size_t bytes);
void pop_set_out_of_memory_handler(pop_out_of_memory_handler handler);

/* Called on this thread, before the process's handler, with the bytes that could not be allocated;
 * may return. NULL: none. */
void pop_set_thread_out_of_memory_handler(void (*handler)(size_t bytes));

/* For the beginning of a call that allocates without pop_with_memory: is the reserve complete?
 * MEMORY if not. Costs one load if it is. */
POP_MUST_CHECK pop_error *pop_memory_check(void);

#ifdef __cplusplus
}
#endif
#endif
