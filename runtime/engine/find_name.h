/* Names that a host program uses: of host handles, streams, remote buffers, programs. */
#ifndef ENGINE_FIND_NAME_H
#define ENGINE_FIND_NAME_H

#include <populus/error.h>
#include <stddef.h>

/* Finds the first of `count` names that equals `name`; NULL entries are skipped. Errors:
 * INVALID_ARGUMENT if `name` is NULL; otherwise `code`, with the nearest name, "there is no stream
 * 'x'; did you mean 'y'?", or some existing names. */
POP_MUST_CHECK pop_error *find_name(pop_error_code code, const char *what, const char *name,
                                    const char *const *names, size_t count, size_t *found);

#endif
