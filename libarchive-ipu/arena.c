/* Arenas, growing arrays, and the allocation functions that do not fail.
 *
 * An arena is a list of chunks from calloc. The newest is filled from its start. An allocation that
 * does not fit opens a new chunk. An allocation of more than a quarter of a chunk gets a chunk of
 * its own behind the newest, so that the room in the newest is not lost. Chunks double in size up
 * to 1 MiB: small arenas stay small, and large ones have few chunks.
 */
#include "memory_internal.h"
#include <populus/arena.h>

#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CHUNK_BYTES ((size_t)4096)
#define LARGEST_CHUNK_BYTES ((size_t)1 << 20)
#define ARENA_ALIGN ((size_t)16)

void *pop_xmalloc(size_t bytes)
{
  void *memory = malloc(bytes ? bytes : 1);
  return memory ? memory : memory_allocation_failed(NULL, bytes);
}

void *pop_xcalloc(size_t count, size_t bytes)
{
  void *memory = calloc(count ? count : 1, bytes ? bytes : 1);
  size_t total;
  if (memory) return memory;
  if (__builtin_mul_overflow(count, bytes, &total)) memory_exhausted(SIZE_MAX);
  return memset(memory_allocation_failed(NULL, total), 0, total);
}

void *pop_xrealloc(void *old, size_t count, size_t bytes)
{
  size_t total;
  if (__builtin_mul_overflow(count, bytes, &total)) memory_exhausted(SIZE_MAX);
  void *memory = realloc(old, total ? total : 1);
  return memory ? memory : memory_allocation_failed(old, total);
}

char *pop_xstrdup(const char *text)
{
  size_t size = strlen(text) + 1;
  return memcpy(pop_xmalloc(size), text, size);
}

char *pop_xasprintf(const char *format, ...)
{
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (length < 0) memory_exhausted(0);
  size_t size = (size_t)length + 1;
  char *text = pop_xmalloc(size);
  vsnprintf(text, size, format, again);
  va_end(again);
  return text;
}

struct chunk {
  struct chunk *next;
  size_t size, used; /* of `memory` */
  alignas(ARENA_ALIGN) unsigned char memory[];
};

struct pop_arena {
  struct chunk *newest; /* allocations come from here; older and oversized chunks follow */
  size_t next_chunk_bytes;
};

pop_arena *pop_arena_new(void)
{
  pop_arena *arena = pop_xmalloc(sizeof *arena);
  *arena = (pop_arena){.next_chunk_bytes = FIRST_CHUNK_BYTES};
  return arena;
}

void pop_arena_free(pop_arena *arena)
{
  if (!arena) return;
  for (struct chunk *chunk = arena->newest, *next; chunk; chunk = next) {
    next = chunk->next;
    free(chunk);
  }
  free(arena);
}

static struct chunk *chunk_new(size_t size)
{
  size_t total;
  if (__builtin_add_overflow(size, sizeof(struct chunk), &total)) memory_exhausted(SIZE_MAX);
  struct chunk *chunk = pop_xcalloc(1, total);
  chunk->size = size;
  return chunk;
}

void *pop_arena_alloc(pop_arena *arena, size_t bytes)
{
  size_t rounded;
  if (__builtin_add_overflow(bytes, ARENA_ALIGN - 1, &rounded)) memory_exhausted(bytes);
  rounded &= ~(ARENA_ALIGN - 1);

  struct chunk *chunk = arena->newest;
  if (!chunk || rounded > chunk->size - chunk->used) {
    bool oversized = rounded > arena->next_chunk_bytes / 4;
    struct chunk *fresh = chunk_new(oversized ? rounded : arena->next_chunk_bytes);
    if (oversized && chunk) {
      fresh->next = chunk->next;
      chunk->next = fresh;
    } else {
      fresh->next = chunk;
      arena->newest = fresh;
    }
    if (!oversized && arena->next_chunk_bytes < LARGEST_CHUNK_BYTES) arena->next_chunk_bytes *= 2;
    chunk = fresh;
  }
  void *memory = chunk->memory + chunk->used;
  chunk->used += rounded;
  return memory;
}

char *pop_arena_strdup(pop_arena *arena, const char *text)
{
  size_t size = strlen(text) + 1;
  return memcpy(pop_arena_alloc(arena, size), text, size);
}

/* The first pass suffices for short texts, which are the most common. */
char *pop_arena_printf(pop_arena *arena, const char *format, ...)
{
  char room[256];
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(room, sizeof room, format, args);
  va_end(args);
  if (length < 0) memory_exhausted(0);
  size_t size = (size_t)length + 1;
  char *text = pop_arena_alloc(arena, size);
  if (size <= sizeof room)
    memcpy(text, room, size);
  else
    vsnprintf(text, size, format, again);
  va_end(again);
  return text;
}

void *pop_grow(void *items, size_t needed, size_t *capacity, size_t element_bytes)
{
  if (needed <= *capacity) return items;
  size_t grown = *capacity < 8 ? 8 : *capacity + *capacity / 2;
  if (grown < needed) grown = needed;
  items = pop_xrealloc(items, grown, element_bytes);
  if (grown > LARGEST_CHUNK_BYTES / 4 / element_bytes) memory_has_grown(grown * element_bytes);
  *capacity = grown;
  return items;
}

bool pop_bytes_try_reserve(pop_bytes *bytes, size_t more)
{
  size_t needed;
  if (__builtin_add_overflow(bytes->size, more, &needed)) return false;
  if (needed <= bytes->capacity) return true;
  size_t grown = bytes->capacity + bytes->capacity / 2;
  if (grown < needed) grown = needed;
  uint8_t *data = realloc(bytes->data, grown);
  if (!data) return false;
  bytes->data = data;
  bytes->capacity = grown;
  return true;
}

void pop_bytes_append(pop_bytes *bytes, const void *data, size_t size)
{
  if (!size) return;
  if (!pop_bytes_try_reserve(bytes, size)) {
    size_t needed;
    if (__builtin_add_overflow(bytes->size, size, &needed)) memory_exhausted(size);
    bytes->data = memory_allocation_failed(bytes->data, needed);
    bytes->capacity = needed;
  }
  memcpy(bytes->data + bytes->size, data, size);
  bytes->size += size;
}

void pop_bytes_free(pop_bytes *bytes)
{
  free(bytes->data);
  *bytes = (pop_bytes){0};
}
