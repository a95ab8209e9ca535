/* runtime/machine/copies: a list of copies does the same as memcpy for one after the other. That
 * holds however the copies are merged, for any size (copies of some megabytes are made in another
 * way), and for any number of threads. */
#include "support/expect.h"

#include <machine/copies.h>
#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

enum { MARGIN = 64, BLOCKS = 400 };

static uint32_t next_random(void)
{
  static uint32_t state = 0x2545f491;
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

/* Blocks to copy. Destinations follow one another with some bytes between them. */
typedef struct blocks {
  uint32_t from[BLOCKS], to[BLOCKS], bytes[BLOCKS];
  uint32_t from_bytes, to_bytes; /* of all blocks */
} blocks;

/* Blocks of up to `most` bytes, at multiples of `align`. */
static blocks random_blocks(uint32_t most, uint32_t align)
{
  blocks b = {.from_bytes = BLOCKS * most + 2 * MARGIN};
  for (uint32_t i = 0, at = MARGIN; i < BLOCKS; i++) {
    b.bytes[i] = (next_random() % most / align + 1) * align;
    b.from[i] = next_random() % (b.from_bytes - b.bytes[i]) / align * align;
    b.to[i] = at;
    at += b.bytes[i] + next_random() % 3 * 4 * align;
    b.to_bytes = at + MARGIN;
  }
  return b;
}

static uint8_t *random_bytes(uint32_t bytes)
{
  uint8_t *at = aligned_alloc(MARGIN, (bytes + MARGIN) / MARGIN * MARGIN);
  cr_assert_not_null(at);
  for (uint32_t i = 0; i < bytes; i++) at[i] = (uint8_t)next_random();
  return at;
}

static void expect_copied(const blocks *b, uint32_t num_threads)
{
  uint8_t *from = random_bytes(b->from_bytes), *to = pop_xcalloc(1, b->to_bytes);
  uint8_t *expected = pop_xcalloc(1, b->to_bytes);
  copy_list list = {0};
  for (uint32_t i = 0; i < BLOCKS; i++) {
    memcpy(expected + b->to[i], from + b->from[i], b->bytes[i]);
    copy_list_join(&list, to + b->to[i], from + b->from[i], b->bytes[i]);
  }
  copy_list_finish(&list, NULL);
  thread_pool *pool = num_threads ? thread_pool_new(num_threads) : NULL;
  copy_list_run(&list, pool);
  for (uint32_t i = 0; i < b->to_bytes; i++)
    cr_assert(to[i] == expected[i], "byte %u of %u, %u threads", i, b->to_bytes, num_threads);
  if (pool) thread_pool_free(pool);
  copy_list_free(&list);
  free(from);
  free(to);
  free(expected);
}

static void expect_all_sizes_copied(uint32_t align)
{
  static const uint32_t most[] = {64, 1024, 16 << 10, 40 << 10, 80 << 10}, threads[] = {0, 1, 3};
  for (unsigned i = 0; i < sizeof most / sizeof *most; i++) {
    blocks b = random_blocks(most[i], align);
    for (unsigned t = 0; t < 3; t++) expect_copied(&b, threads[t]);
  }
}

Test(machine_copies, words)
{
  expect_all_sizes_copied(4);
}

Test(machine_copies, bytes)
{
  expect_all_sizes_copied(1);
}

Test(machine_copies, nothing)
{
  copy_list list = {0};
  copy_list_finish(&list, NULL);
  cr_assert_eq(list.num_chunks, 0);
  copy_list_run(&list, NULL);
  copy_list_free(&list);
}

/* Blocks at equal distances are one run, but at most as long as a thread takes at once. */
Test(machine_copies, large_rows_of_blocks_are_shared_by_threads)
{
  enum { ROWS = 1000, ROW = 2048, USED = 1024 };
  uint8_t *from = random_bytes(ROWS * ROW), *to = pop_xcalloc(ROWS, ROW);
  copy_list list = {0};
  for (uint32_t i = 0; i < ROWS; i++) copy_list_join(&list, to + i * ROW, from + i * ROW, USED);
  copy_list_finish(&list, NULL);
  cr_assert(list.num_runs < ROWS / 10, "%zu runs", list.num_runs);
  cr_assert(list.num_chunks >= 8, "%zu chunks", list.num_chunks);
  copy_list_run(&list, NULL);
  for (uint32_t i = 0; i < ROWS; i++) {
    cr_assert_eq(memcmp(to + i * ROW, from + i * ROW, USED), 0);
    cr_assert_eq(to[i * ROW + USED], 0);
  }
  copy_list_free(&list);
  free(from);
  free(to);
}
