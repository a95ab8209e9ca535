/* Where memory ends: an error of the call that needed it, and not the end of the program.
 *
 * Functions that allocate arenas, arrays, texts and buffers (storage.h) do not return without memory: one that fails ends the
 * innermost pop_with_memory, which returns an error. Outside of that, blocks that were set aside serve (1 MiB at once, 3 MiB in
 * one call), and room for each array to grow once more; what asks for more than these ends in the handler. */
#ifndef POPULUS_OUT_OF_MEMORY_H
#define POPULUS_OUT_OF_MEMORY_H

#include <populus/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls `body`, and returns what it returns; MEMORY, naming what was being done, if such an allocation fails on this
 * thread before that. Then `body` has ended at that allocation: what `context` owns is as it was there, and its owner frees
 * it; what only its local variables knew is lost; temporary files that it has opened are gone. `body` may call pop_with_memory
 * again. It must not start threads that use its variables, take locks or call functions of the user, but between pop_memory_hold
 * and pop_memory_release. */
POP_MUST_CHECK pop_error *pop_with_memory(const char *doing, pop_error *(*body)(void *context),
                                          void *context);

/* On this thread, until the matching release: what cannot be allocated comes from blocks that were set aside. */
void pop_memory_hold(void);
void pop_memory_release(void);

/* The handler of the process: called with the bytes that could not be had; must not return. NULL: the default, one line on
 * standard error and exit status 4. */
typedef void (*pop_out_of_memory_handler)(size_t bytes);
void pop_set_out_of_memory_handler(pop_out_of_memory_handler handler);

/* Called on this thread, before the process's handler, with the bytes that could not be had; may return. NULL: none. */
void pop_set_thread_out_of_memory_handler(void (*handler)(size_t bytes));

/* At the begin of a call that allocates without pop_with_memory: are the blocks there that were set aside? MEMORY if not.
 * Costs a load, when they are. */
POP_MUST_CHECK pop_error *pop_memory_check(void);

#ifdef __cplusplus
}
#endif
#endif
