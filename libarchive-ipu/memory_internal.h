/* Called by arena.c when there is no memory. */
#ifndef POPULUS_MEMORY_INTERNAL_H
#define POPULUS_MEMORY_INTERNAL_H

#include <stddef.h>

/* malloc, or realloc of `old`, has refused `bytes`. Ends the innermost pop_with_memory, or else
 * takes a block of the reserve. */
void *memory_allocation_failed(void *old, size_t bytes) __attribute__((returns_nonnull));
/* The same if no reserve can help. */
_Noreturn void memory_exhausted(size_t bytes);
/* An array has grown to `bytes` and will probably grow again. */
void memory_has_grown(size_t bytes);
/* The innermost pop_with_memory of this thread, for comparison; NULL if there is none. */
const void *memory_scope(void);

#endif
