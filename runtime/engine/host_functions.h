#ifndef ENGINE_HOST_FUNCTIONS_H
#define ENGINE_HOST_FUNCTIONS_H

#include <populus/host_function.h>

/* Those that have been connected to an engine, which frees them when no stream calls them any more. */
typedef struct host_function host_function;
void host_functions_free(host_function *first); /* NULL is fine */
/* What a run has left of a call is forgotten. */
void host_functions_restart(host_function *first);

#endif
