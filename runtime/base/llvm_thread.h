/* Runs LLVM in this process in such a way that it cannot end the process.
 *
 * LLVM does not return when it has no memory or meets a fatal error: it ends the process. It cannot
 * be left by longjmp or an exception either, as it is not made for that: locks would stay taken,
 * and what its stack holds would be lost. So LLVM runs in threads of its own, and such a thread can
 * be given up. It then never continues, its caller gets an error, and LLVM is not entered again.
 * LLVM's memory is lost to the process; code that it has made stays.
 *
 *   caller --llvm_thread_call--> thread --body--> module --> LLVM --no memory-->
 *   llvm/fatal_handlers.c --llvm_thread_give_up--> caller
 *
 * Two cases are not covered. LLVM's constructors run while the dynamic linker holds its lock: a
 * thread that stopped there would block the next dlopen and exit(). So llvm_thread_has_room is
 * asked before LLVM is loaded. And without memory for thread-local variables of libraries, the
 * dynamic linker itself ends the process. */
#ifndef BASE_LLVM_THREAD_H
#define BASE_LLVM_THREAD_H

#include <stdbool.h>

/* Each user has a thread of its own, as the translator's may be busy for long. */
typedef enum llvm_user { LLVM_TRANSLATOR, LLVM_HOST_LINKER, NUM_LLVM_USERS } llvm_user;

/* Calls `body` in the user's thread and waits for it. A user makes one call at a time. False: the
 * call has not returned and never will, and nobody touches `context` any more; or LLVM was given up
 * before, or there is no thread. See llvm_thread_error. */
bool llvm_thread_call(llvm_user user, void (*body)(void *context), void *context);

/* Asked before LLVM is loaded: is there enough address space and memory for its libraries
 * and their constructors? */
bool llvm_thread_has_room(void);

/* As a part of a sentence, why the last call was not made or not finished. NULL: all calls were. */
const char *llvm_thread_error(void);

/* Called where this thread cannot continue; allocates nothing. Returns only in threads that
 * are not LLVM's. */
void llvm_thread_give_up(const char *why);

/* Is this one of LLVM's threads? */
bool llvm_thread_is_this(void);

#endif
