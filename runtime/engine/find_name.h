/* What a host program calls by name: handles of tensors, streams, remote buffers, programs. */
#ifndef ENGINE_FIND_NAME_H
#define ENGINE_FIND_NAME_H

#include <populus/error.h>
#include <stddef.h>

/* The first of `count` names (NULL: none of those that are meant) that is `name`. Errors: INVALID_ARGUMENT if
 * `name` is NULL; `code` with the nearest name, "there is no stream 'x'; did you mean 'y'?", or some that there are. */
POP_MUST_CHECK pop_error *find_name(pop_error_code code, const char *what, const char *name,
                                    const char *const *names, size_t count, size_t *found);

#endif
