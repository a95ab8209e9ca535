/* The memory part of the profile summary, in the layout of the user guide's sample:
 *
 *   Memory Usage:
 *     Total:
 *       Including Gaps:         67,725,024 B
 *       …
 *     By Tile (Excluding Gaps):
 *       Range (KB) Histogram (Excluding Gaps)               Count (tiles)
 *            3 -  4 ****************************************    824
 *
 * Lines of a category that no tile uses are left out, as in the sample.
 */
#include "profile/memory_summary.h"

#include "profile/grouped.h"
#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

enum {
  KILOBYTE = 1024,
  MAX_HISTOGRAM_ROWS = 128, /* the guide's 815 KB show as rows of 8 KB, 20 KB as rows of 1 KB */
  HISTOGRAM_STARS = 40,
  EMPTY_ROWS_SHOWN = 2 /* after and before a row with tiles */
};

/* A labelled number of bytes; the number's last digit is in column `width` of the line. */
static void print_bytes(FILE *stream, int indent, const char *label, uint64_t bytes, int width)
{
  char number[32];
  int column = indent + (int)strlen(label) + 1;
  fprintf(stream, "%*s%s:%*s B\n", indent, "", label, width > column ? width - column : 1,
          grouped(bytes, number));
}

typedef struct memory_sums {
  uint64_t total, including_gaps, by_region[POP_REGION_COUNT];
  uint64_t not_overlapped[POP_MEMORY_CATEGORY_COUNT], overlapped[POP_MEMORY_CATEGORY_COUNT];
  uint64_t sum_not_overlapped, sum_overlapped;
} memory_sums;

static memory_sums sum_tiles(const pop_tile_memory *tiles, size_t num_tiles)
{
  memory_sums sums = {0};
  for (size_t t = 0; t < num_tiles; ++t) {
    sums.total += tiles[t].total;
    sums.including_gaps += tiles[t].total_including_gaps;
    for (int r = 0; r < POP_REGION_COUNT; ++r) {
      sums.by_region[r] += tiles[t].by_region[r];
      for (int c = 0; c < POP_MEMORY_CATEGORY_COUNT; ++c) {
        sums.not_overlapped[c] += tiles[t].not_overlapped[c][r];
        sums.overlapped[c] += tiles[t].overlapped[c][r];
        sums.sum_not_overlapped += tiles[t].not_overlapped[c][r];
        sums.sum_overlapped += tiles[t].overlapped[c][r];
      }
    }
  }
  return sums;
}

static void print_categories(FILE *stream, const char *title, const uint64_t *by_category,
                             uint64_t total)
{
  fprintf(stream, "        %s\n", title);
  for (int c = 0; c < POP_MEMORY_CATEGORY_COUNT; ++c)
    if (by_category[c])
      print_bytes(stream, 12, pop_memory_category_label((pop_memory_category)c), by_category[c],
                  59);
  print_bytes(stream, 10, "Total", total, 59);
}

void print_memory_totals(FILE *stream, const pop_tile_memory *tiles, size_t num_tiles)
{
  memory_sums sums = sum_tiles(tiles, num_tiles);
  fprintf(stream, "Memory Usage:\n  Total:\n");
  print_bytes(stream, 4, "Including Gaps", sums.including_gaps, 37);
  fprintf(stream, "    Excluding Gaps:\n      By Memory Region:\n");
  print_bytes(stream, 8, "Non-interleaved", sums.by_region[POP_REGION_NON_INTERLEAVED], 37);
  print_bytes(stream, 8, "Interleaved", sums.by_region[POP_REGION_INTERLEAVED], 37);
  print_bytes(stream, 8, "Overflowed", sums.by_region[POP_REGION_OVERFLOWED], 37);
  print_bytes(stream, 6, "Total", sums.total, 37);
  fprintf(stream, "      By Data Type:\n");
  print_categories(stream, "Not Overlapped", sums.not_overlapped, sums.sum_not_overlapped);
  print_categories(stream, "Overlapped", sums.overlapped, sums.sum_overlapped);
  print_bytes(stream, 10, "Total After Overlapping", sums.total - sums.sum_not_overlapped, 59);
}

/* ---- histogram of tiles ---- */

static uint32_t row_kilobytes(uint32_t max_bytes)
{
  uint32_t kilobytes = 1;
  while (max_bytes / KILOBYTE / kilobytes >= MAX_HISTOGRAM_ROWS) kilobytes *= 2;
  return kilobytes;
}

static void print_row(FILE *stream, uint32_t row, uint32_t kilobytes, size_t tiles, size_t most)
{
  char stars[HISTOGRAM_STARS + 1] = "", number[32], range[32];
  /* One star for any tile at all, all stars for the fullest row. */
  size_t count = tiles == 0  ? 0
                 : most == 1 ? HISTOGRAM_STARS
                             : 1 + (tiles - 1) * (HISTOGRAM_STARS - 1) / (most - 1);
  memset(stars, '*', count);
  stars[count] = '\0';
  snprintf(range, sizeof range, "%u - %3u", row * kilobytes, (row + 1) * kilobytes);
  fprintf(stream, "%14s %-*s %6s\n", range, HISTOGRAM_STARS, stars, grouped(tiles, number));
}

/* An empty row far from any row with tiles is left out. */
static bool row_shown(const size_t *rows, uint32_t num_rows, uint32_t row)
{
  for (uint32_t near = row > EMPTY_ROWS_SHOWN ? row - EMPTY_ROWS_SHOWN : 0;
       near <= row + EMPTY_ROWS_SHOWN && near < num_rows; ++near)
    if (rows[near]) return true;
  return false;
}

static void print_histogram(FILE *stream, const pop_tile_memory *tiles, size_t num_tiles,
                            uint32_t max_bytes)
{
  uint32_t kilobytes = row_kilobytes(max_bytes);
  uint32_t num_rows = max_bytes / KILOBYTE / kilobytes + 1;
  size_t *rows = pop_xcalloc(num_rows, sizeof *rows);
  size_t most = 0;
  uint32_t first = num_rows;
  for (size_t t = 0; t < num_tiles; ++t) {
    uint32_t row = tiles[t].total / KILOBYTE / kilobytes;
    size_t count = ++rows[row];
    most = count > most ? count : most;
    first = row < first ? row : first;
  }
  fprintf(stream, "  By Tile (Excluding Gaps):\n"
                  "    Range (KB) Histogram (Excluding Gaps)               Count (tiles)\n");
  for (uint32_t row = first; row < num_rows; ++row)
    if (row_shown(rows, num_rows, row)) print_row(stream, row, kilobytes, rows[row], most);
  free(rows);
}

static void print_maximum(FILE *stream, const char *label, uint32_t bytes, size_t tile)
{
  char number[32];
  fprintf(stream, "    Maximum (%s Gaps): %s (%.1f K) on tile %zu\n", label, grouped(bytes, number),
          (double)bytes / KILOBYTE, tile);
}

void print_memory_by_tile(FILE *stream, const pop_target *target, const pop_tile_memory *tiles,
                          size_t num_tiles)
{
  size_t fullest = 0, fullest_including_gaps = 0, out_of_memory = 0;
  for (size_t t = 0; t < num_tiles; ++t) {
    if (tiles[t].total > tiles[fullest].total) fullest = t;
    if (tiles[t].total_including_gaps > tiles[fullest_including_gaps].total_including_gaps)
      fullest_including_gaps = t;
    out_of_memory += tiles[t].total_including_gaps > target->memory_bytes ||
                     tiles[t].by_region[POP_REGION_OVERFLOWED] > 0;
  }
  print_histogram(stream, tiles, num_tiles, tiles[fullest].total);
  fputc('\n', stream);
  print_maximum(stream, "Including", tiles[fullest_including_gaps].total_including_gaps,
                fullest_including_gaps);
  print_maximum(stream, "Excluding", tiles[fullest].total, fullest);
  fprintf(stream, "    %zu tile(s) out of memory\n", out_of_memory);
}

static double plan_excess(const pop_target *target, const pop_tile_memory *tile)
{
  if (tile->least_including_gaps <= target->system_bytes) return 0;
  return ((double)tile->total_including_gaps - tile->least_including_gaps) /
         (tile->least_including_gaps - target->system_bytes);
}

void print_memory_plan(FILE *stream, const pop_target *target, const pop_tile_memory *tiles,
                       size_t num_tiles)
{
  size_t worst = 0;
  for (size_t t = 1; t < num_tiles; ++t)
    if (plan_excess(target, &tiles[t]) > plan_excess(target, &tiles[worst])) worst = t;
  char least[32];
  fprintf(stream,
          "    Plan: at most %.1f%% above the bound (on tile %zu no plan takes less than %s)\n",
          100 * plan_excess(target, &tiles[worst]), worst,
          grouped(tiles[worst].least_including_gaps, least));
}
