/* Arenas and growing arrays, for our own libraries and tools: users have storage.h. Memory that is
 * freed together is allocated together.
 *
 * None of these functions returns without memory, so code that builds graphs need not check each
 * call. If an allocation fails, it ends the innermost pop_with_memory (out_of_memory.h), which
 * returns an error. Outside of that, a reserve is used (1 MiB at once, 3 MiB in one call), and
 * there is room for each array to grow once more. A larger allocation ends in the out-of-memory
 * handler (default: one line on standard error and exit status 4). Sizes that come from a file or
 * that are as large as tile memory are allocated with malloc by their owners and checked there. */
#ifndef POPULUS_ARENA_H
#define POPULUS_ARENA_H

#include <populus/storage.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void *pop_xmalloc(size_t bytes);
void *pop_xcalloc(size_t count, size_t bytes);
void *pop_xrealloc(void *old, size_t count, size_t bytes); /* count * bytes, overflow checked */
char *pop_xstrdup(const char *text);
char *pop_xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

void *pop_arena_alloc(pop_arena *arena, size_t bytes); /* zeroed, 16-byte aligned */
char *pop_arena_strdup(pop_arena *arena, const char *text);
char *pop_arena_printf(pop_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Growing array: declare `T *items; size_t count, capacity;` and push with
 *   pop_push(items, count, capacity, value);
 * Refer to elements by index: a push may move them. */
#define pop_push(items, count, capacity, ...)                                                      \
  ((items) = pop_grow((items), (count) + 1, &(capacity), sizeof *(items)),                         \
   (items)[(count)++] = (__VA_ARGS__))
#define pop_reserve(items, needed, capacity)                                                       \
  ((items) = pop_grow((items), (needed), &(capacity), sizeof *(items)))
void *pop_grow(void *items, size_t needed, size_t *capacity, size_t element_bytes);

/* Room for `more` bytes behind `size`, for buffers as large as tile memory: false if there is no memory. */
bool pop_bytes_try_reserve(pop_bytes *bytes, size_t more);

#ifdef __cplusplus
}
#endif
#endif
