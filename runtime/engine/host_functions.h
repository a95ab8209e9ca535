#ifndef ENGINE_HOST_FUNCTIONS_H
#define ENGINE_HOST_FUNCTIONS_H

#include <populus/host_function.h>

/* The host functions connected to an engine. The engine frees them once no stream calls them any
 * more. */
typedef struct host_function host_function;
void host_functions_free(host_function *first); /* NULL is fine */
/* Drops the state of a call that a run has not completed. */
void host_functions_restart(host_function *first);

#endif
