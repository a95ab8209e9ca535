#ifndef ENGINE_HOST_FUNCTIONS_H
#define ENGINE_HOST_FUNCTIONS_H

#include <populus/host_function.h>

/* The host functions connected to an engine. A function that is connected again takes the place
 * of the former one; the engine frees the others. */
typedef struct host_function host_function;
void host_functions_free(host_function *first); /* NULL is fine */
host_function *host_functions_next(const host_function *f);
/* Drops the state of a call that a run has not completed. */
void host_functions_restart(host_function *first);

#endif
