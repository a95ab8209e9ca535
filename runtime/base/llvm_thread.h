/* LLVM in this process, so that it cannot end it.
 *
 * LLVM does not return where it has no memory, or something that it takes for fatal: it ends the process. Nor can it be left
 * there by longjmp or an exception, as it is not made for that: locks would stay taken, and what its stack holds be forgotten.
 * So it runs in threads of ours, and such a thread can be given up: it never goes on, whoever waits for it is told so, and
 * LLVM is not entered again. What it has in memory is lost to the process; code that it has made stays.
 *
 *   caller --llvm_thread_call--> thread --body--> module --> LLVM --no memory--> llvm/ends.c --llvm_thread_give_up--> caller
 *
 * Not covered is loading LLVM: its constructors run while the dynamic linker holds its lock, so a thread that stopped there would
 * have everybody else stop at the next dlopen, or in exit(). llvm_thread_has_room is asked first. Nor are thread-local
 * variables of libraries: without memory for them the dynamic linker itself ends the process. */
#ifndef BASE_LLVM_THREAD_H
#define BASE_LLVM_THREAD_H

#include <stdbool.h>

/* Each has a thread of its own: the translator's rests for long. */
typedef enum llvm_user { LLVM_TRANSLATOR, LLVM_HOST_LINKER, NUM_LLVM_USERS } llvm_user;

/* Calls `body` in the user's thread and waits for it; one call of a user at a time. False: it has not returned and never will, and
 * nobody touches `context` any more; or there is no LLVM any more, or no thread. See llvm_thread_error. */
bool llvm_thread_call(llvm_user user, void (*body)(void *context), void *context);

/* Before LLVM is loaded: are there the addresses and the memory that its libraries and their constructors take? */
bool llvm_thread_has_room(void);

/* As a part of a sentence: why the last call was not made, or not finished. NULL: they all were. */
const char *llvm_thread_error(void);

/* Called where this thread cannot go on; allocates nothing. Returns only in threads that are not LLVM's. */
void llvm_thread_give_up(const char *why);

/* Is this one of LLVM's threads? */
bool llvm_thread_is_this(void);

#endif
