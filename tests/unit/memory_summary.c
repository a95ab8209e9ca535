/* The memory summary's layout against the samples of the documents: numbers that the documents show
 * come back as the lines that they show. */
#include "profile/memory_summary.h"

#include <criterion/criterion.h>
#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

static char *summary(const pop_tile_memory *tiles, size_t count, const pop_target *target)
{
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  print_memory_totals(stream, tiles, count);
  print_memory_by_tile(stream, target, tiles, count);
  fclose(stream);
  return text;
}

static void expect_line(const char *text, const char *line)
{
  cr_assert_not_null(strstr(text, line), "no line '%s' in:\n%s", line, text);
}

Test(memory_summary, histogram_of_the_guides_sample)
{
  static const struct {
    size_t tiles;
    uint32_t kilobytes;
  } rows[] = {{824, 3}, {168, 7}, {44, 8}, {126, 9}, {30, 10},
              {16, 11}, {2, 14},  {2, 15}, {3, 16},  {1, 19}};
  pop_target target;
  cr_assert_null(pop_target_create("ipu1", 1, &target));
  pop_tile_memory *tiles = pop_xcalloc(1216, sizeof *tiles);
  size_t tile = 1216;
  for (size_t r = 0; r < sizeof rows / sizeof *rows; ++r)
    for (size_t i = 0; i < rows[r].tiles; ++i) {
      --tile;
      tiles[tile].total = rows[r].kilobytes * 1024 + 500;
      tiles[tile].total_including_gaps = tiles[tile].total;
    }
  tiles[0].total = 20294;
  tiles[0].total_including_gaps = 131608;
  tiles[0].not_overlapped[POP_MEMORY_CONTROL_CODE][POP_REGION_NON_INTERLEAVED] = 467696;
  char *text = summary(tiles, 1216, &target);
  expect_line(text, "\n  By Tile (Excluding Gaps):\n"
                    "    Range (KB) Histogram (Excluding Gaps)               Count (tiles)\n");
  expect_line(text, " 3 -   4 ****************************************    824\n");
  expect_line(text, " 7 -   8 ********                                    168\n");
  expect_line(text, " 8 -   9 ***                                          44\n");
  expect_line(text, " 9 -  10 ******                                      126\n");
  expect_line(text, "10 -  11 **                                           30\n");
  expect_line(text, "12 -  13                                               0\n");
  expect_line(text, "19 -  20 *                                             1\n");
  expect_line(text, "    Maximum (Including Gaps): 131,608 (128.5 K) on tile 0\n"
                    "    Maximum (Excluding Gaps): 20,294 (19.8 K) on tile 0\n"
                    "    0 tile(s) out of memory\n");
  expect_line(text, "            Control Code:                           467,696 B\n");
  cr_assert_null(strstr(text, "Vertex Code"));
  free(text);
  free(tiles);
}

Test(memory_summary, rows_grow_and_long_gaps_are_left_out)
{
  pop_target target;
  cr_assert_null(pop_target_create("ipu1", 1, &target));
  pop_tile_memory tiles[3] = {{.total = 5000, .total_including_gaps = 5000},
                              {.total = 510 * 1024, .total_including_gaps = 510 * 1024},
                              {.total = 834339, .total_including_gaps = 834416}};
  tiles[2].by_region[POP_REGION_OVERFLOWED] = 580387;
  char *text = summary(tiles, 3, &target);
  expect_line(text, "  0 -   8 *");
  expect_line(text, "504 - 512 *");
  expect_line(text, "808 - 816 *");
  cr_assert_null(strstr(text, "400 - 408"));
  expect_line(text, "Maximum (Including Gaps): 834,416 (814.9 K) on tile 2\n");
  expect_line(text, "    2 tile(s) out of memory\n");
  free(text);
}
