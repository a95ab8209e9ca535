/* Modules of our own that are loaded when they are needed. */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

/* What `symbol` of the library at `path` is, by dlopen with `flags`; NULL: *why is a sentence, valid until this thread loads something
 * again. The library stays. */
void *library_load(const char *path, int flags, const char *symbol, const char **why);

#endif
