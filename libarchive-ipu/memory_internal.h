/* What arena.c does when there is no memory. */
#ifndef POPULUS_MEMORY_INTERNAL_H
#define POPULUS_MEMORY_INTERNAL_H

#include <stddef.h>

/* malloc, or realloc of `old`, has refused `bytes`: ends the innermost pop_with_memory, or else answers from the reserve. */
void *memory_lacking(void *old, size_t bytes) __attribute__((returns_nonnull));
/* The same where no reserve could help. */
_Noreturn void memory_exhausted(size_t bytes);
/* An array has grown to so many bytes: it will again. */
void memory_has_grown(size_t bytes);
/* The innermost pop_with_memory of this thread, for comparison; NULL if there is none. */
const void *memory_scope(void);

#endif
