/* Lack of memory: an error of the call that needed it, and not the end of the program.
 *
 * Functions that allocate arenas, arrays, texts and buffers (storage.h) never return without
 * memory. If one fails, it ends the innermost pop_with_memory, which returns an error. Outside of
 * that, or between pop_memory_hold and pop_memory_release, it takes blocks of a reserve instead:
 * three of 1 MiB and some smaller ones. There is also room for each array to grow once more. If
 * neither is enough, the handlers are called and the process ends. */
#ifndef POPULUS_OUT_OF_MEMORY_H
#define POPULUS_OUT_OF_MEMORY_H

#include <populus/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls `body`, and returns what it returns. Returns MEMORY, naming `doing`, if such an allocation
 * fails on this thread before that, or without calling `body` if pop_memory_check fails.
 *
 * After a failed allocation `body` has ended where that was. What `context` owns is as it was
 * there, and its owner frees it. What only local variables of `body` hold is lost. Temporary files
 * that it has opened are removed. `body` may call pop_with_memory again. It may start threads that
 * use its variables, take locks or call functions of the user only between pop_memory_hold and
 * pop_memory_release. */
POP_MUST_CHECK pop_error *pop_with_memory(const char *doing, pop_error *(*body)(void *context),
                                          void *context);

/* On this thread, until the matching release, failed allocations use the reserve instead of ending
 * pop_with_memory. Pairs may be nested. */
void pop_memory_hold(void);
void pop_memory_release(void);

/* The handler of the process. It is called with the number of bytes that could not be allocated,
 * and is not expected to return. If it does, or is NULL, the default follows: temporary files are
 * removed, one line goes to standard error, and the process ends with status 4. */
typedef void (*pop_out_of_memory_handler)(size_t bytes);
void pop_set_out_of_memory_handler(pop_out_of_memory_handler handler);

/* This thread's handler, called before the process's, with the same number. It may return: then the
 * process's is called. NULL: none. */
void pop_set_thread_out_of_memory_handler(void (*handler)(size_t bytes));

/* For the beginning of a call that allocates without pop_with_memory: completes the reserve. MEMORY
 * if that is not possible. Costs one load if it is complete. */
POP_MUST_CHECK pop_error *pop_memory_check(void);

#ifdef __cplusplus
}
#endif
#endif
