/* Places an object: a unit's code is compiled once, and linked for each place in tile memory with
 * that place's numbers. */
#include "lift.h"
#include "module.h"

#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

const uint32_t object_numbers_mark[MARK_WORDS] = {0x9e4d7a31, 0x62b5c0f8, 0xd817e29b, 0x3fa4068d};

char *object_name(const char *name, uint32_t number)
{
  return pop_xasprintf("%s_%08x", name, number);
}

/* Renames the function in the string table of the symbols, which has the name once. */
static void rename_function(uint8_t *object, size_t size, const char *name, const char *to)
{
  char *from = object_name(name, 0);
  size_t length = strlen(from) + 1;
  uint8_t *at = memmem(object, size, from, length);
  if (at) memcpy(at, to, length);
  free(from);
}

/* Where the numbers are in the object; NULL: there are none, or the mark is there twice. */
static uint8_t *find_numbers(uint8_t *object, size_t size)
{
  uint8_t *at = memmem(object, size, object_numbers_mark, sizeof object_numbers_mark);
  if (!at) return NULL;
  at += sizeof object_numbers_mark;
  size -= (size_t)(at - object);
  return memmem(at, size, object_numbers_mark, sizeof object_numbers_mark) ? NULL : at;
}

static bool write_numbers(uint8_t *object, size_t size, const code_place *place)
{
  const code_window w = place->writable, r = place->readable;
  const uint32_t windows[NUMBER_STARTS] = {w.start, w.bytes, w.bytes >> 1, w.bytes >> 2,
                                           r.start, r.bytes, r.bytes >> 1, r.bytes >> 2};
  uint8_t *at = find_numbers(object, size);
  if (!at) return false;
  memcpy(at, windows, sizeof windows);
  if (place->num_starts)
    memcpy(at + sizeof windows, place->starts, place->num_starts * sizeof *place->starts);
  return true;
}

LLVMMemoryBufferRef object_place(const uint8_t *bytes, size_t size, const char *name,
                                 const char *full_name, const code_place *place)
{
  uint8_t *copy = pop_xmalloc(size);
  memcpy(copy, bytes, size);
  LLVMMemoryBufferRef buffer = NULL;
  rename_function(copy, size, name, full_name);
  if (write_numbers(copy, size, place))
    buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy((const char *)copy, size, full_name);
  free(copy);
  return buffer;
}
