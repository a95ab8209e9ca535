/* Ownership of the results of readers and writers of images, archives and codelets. What is read
 * lives in an arena and is freed with it. What is written is a growing buffer.
 *
 * None of these functions fails. If there is no memory they do not return: see out_of_memory.h. */
#ifndef POPULUS_STORAGE_H
#define POPULUS_STORAGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pop_arena pop_arena;
pop_arena *pop_arena_new(void);
void pop_arena_free(pop_arena *arena); /* with all that lives in it; NULL is fine */

/* A buffer of bytes; {0} is an empty one. Who declares it frees it. */
typedef struct pop_bytes {
  uint8_t *data;
  size_t size, capacity;
} pop_bytes;
/* The bytes are copied; `data` may be NULL if `size` is 0. */
void pop_bytes_append(pop_bytes *bytes, const void *data, size_t size);
void pop_bytes_free(pop_bytes *bytes); /* leaves an empty buffer */

#ifdef __cplusplus
}
#endif
#endif
