/* Modules of the runtime that are loaded on demand. */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

/* The value of `symbol` in the library at `path`, by dlopen with `flags`. NULL: *why is a sentence,
 * valid until this thread loads something again. The library stays loaded. */
void *library_load(const char *path, int flags, const char *symbol, const char **why);

#endif
