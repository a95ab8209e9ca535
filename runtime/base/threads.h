/* Threads of the library's own, beside those of the program. */
#ifndef BASE_THREADS_H
#define BASE_THREADS_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread that gets none of the process's signals: they are for the program's own threads. Those of its own mistakes
 * (SIGSEGV, …) it gets. False if there can be none. */
bool thread_start(pthread_t *thread, void *(*run)(void *), void *context);

/* How many forks lie between the process that called this first and this one. A child has only the thread that called fork:
 * who has started others compares, and does without them or starts new ones. */
unsigned threads_generation(void);

#endif
