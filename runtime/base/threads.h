/* Threads of the library's own, beside those of the program. */
#ifndef BASE_THREADS_H
#define BASE_THREADS_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread that gets no signals of the process, which are for the program's own threads, but
 * those of its own mistakes (SIGSEGV, …). False if it cannot be started. */
bool thread_start(pthread_t *thread, void *(*run)(void *), void *context);

/* The number of forks between the first process that called this and this one. A child of fork has
 * only the thread that called fork. So an owner of threads compares this number, and does without
 * them or starts new ones. */
unsigned threads_generation(void);

#endif
