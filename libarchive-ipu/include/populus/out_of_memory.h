/* Where memory ends: an error of the call that needed it, and not the end of the program. See arena.h: the functions there do
 * not return without memory. */
#ifndef POPULUS_OUT_OF_MEMORY_H
#define POPULUS_OUT_OF_MEMORY_H

#include <populus/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls `body`, and returns what it returns; MEMORY, naming what was being done, if an allocation of arena.h fails on this
 * thread before that. Then `body` has ended at that allocation: what `context` owns is as it was there, and its owner frees
 * it; what only its local variables knew is lost; temporary files that it has opened are gone. `body` may call pop_with_memory
 * again. It must not start threads that use its variables, take locks or call functions of the user, but between pop_memory_hold
 * and pop_memory_release. */
POP_MUST_CHECK pop_error *pop_with_memory(const char *doing, pop_error *(*body)(void *context),
                                          void *context);

/* On this thread, until the matching release: what cannot be allocated comes from blocks that were set aside. */
void pop_memory_hold(void);
void pop_memory_release(void);

/* Called on this thread, before the process's handler (arena.h), with the bytes that could not be had; may return. NULL: none. */
void pop_set_thread_out_of_memory_handler(void (*handler)(size_t bytes));

/* At the begin of a call that allocates without pop_with_memory: are the blocks there that were set aside? MEMORY if not.
 * Costs a load, when they are. */
POP_MUST_CHECK pop_error *pop_memory_check(void);

#ifdef __cplusplus
}
#endif
#endif
