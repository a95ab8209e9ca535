/* libarchive-ipu/arena.c: arenas, growing arrays, byte buffers. */
#include "support/expect.h"

#include <populus/arena.h>
#include <populus/out_of_memory.h>

#include <stdint.h>

/* Every allocation is zeroed, aligned, and separate from all others, for all sizes. */
Test(arena, allocations_do_not_overlap)
{
  enum { COUNT = 2000 };
  static unsigned char *blocks[COUNT];
  static size_t sizes[COUNT];
  pop_arena *arena = pop_arena_new();
  for (int i = 0; i < COUNT; i++) {
    sizes[i] = (size_t)i * 7919 % (i % 100 == 99 ? 300000 : 500);
    blocks[i] = pop_arena_alloc(arena, sizes[i]);
    cr_assert_eq((uintptr_t)blocks[i] % 16, 0);
    for (size_t b = 0; b < sizes[i]; b++) cr_assert_eq(blocks[i][b], 0);
    memset(blocks[i], i & 0xff, sizes[i]);
  }
  for (int i = 0; i < COUNT; i++)
    for (size_t b = 0; b < sizes[i]; b++) cr_assert_eq(blocks[i][b], i & 0xff);
  pop_arena_free(arena);
  pop_arena_free(NULL);
}

Test(arena, strings)
{
  pop_arena *arena = pop_arena_new();
  cr_assert_str_eq(pop_arena_strdup(arena, "tile"), "tile");
  cr_assert_str_eq(pop_arena_printf(arena, "%s %d", "tile", 42), "tile 42");
  const char *padded = pop_arena_printf(arena, "%5000d", 42); /* longer than a chunk */
  cr_assert_eq(strlen(padded), 5000);
  cr_assert_str_eq(padded + 4997, " 42");
  pop_arena_free(arena);
}

Test(arena, push_keeps_all_elements_in_order)
{
  uint32_t *items = NULL;
  size_t count = 0, capacity = 0;
  for (uint32_t i = 0; i < 10000; i++) pop_push(items, count, capacity, i * 3);
  cr_assert_eq(count, 10000);
  for (uint32_t i = 0; i < 10000; i++) cr_assert_eq(items[i], i * 3);
  free(items);
}

Test(arena, bytes_append)
{
  pop_bytes bytes = {0};
  for (int i = 0; i < 1000; i++) pop_bytes_append(&bytes, "abc", (size_t)i % 4);
  cr_assert_eq(bytes.size, 250 * (0 + 1 + 2 + 3));
  cr_assert_arr_eq(bytes.data, "aababcaab", 9);
  cr_assert_not(pop_bytes_try_reserve(&bytes, SIZE_MAX));
  cr_assert_eq(bytes.size, 1500, "a failed reservation changes nothing");
  pop_bytes_free(&bytes);
}

static void leave_with_42(size_t bytes)
{
  (void)bytes;
  _exit(42);
}

Test(arena, D04_out_of_memory_is_exit_status_4, .exit_code = 4)
{
  pop_xrealloc(NULL, SIZE_MAX, 16);
}

Test(arena, D04_out_of_memory_handler, .exit_code = 42)
{
  pop_set_out_of_memory_handler(leave_with_42);
  pop_xrealloc(NULL, SIZE_MAX, 16);
}
