/* Memory by tile in the summary:
 *
 *   By Tile (Excluding Gaps):
 *     Range (KB) Histogram (Excluding Gaps)               Count (tiles)
 *          3 -  4 ****************************************    824
 */
#include "profile/graph_summary.h"
#include "profile/grouped.h"

#include <inttypes.h>
#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

enum {
  KILOBYTE = 1024,
  MAX_HISTOGRAM_ROWS = 128, /* the guide's 815 KB give rows of 8 KB, 20 KB give rows of 1 KB */
  HISTOGRAM_STARS = 40,
  EMPTY_ROWS_SHOWN = 2, /* before and after a row with tiles */
  FULLEST_SHOWN = 5
};

/* memory.byTile */
typedef struct tile_memory {
  const summary_style *style;
  pop_profile_value total, including_gaps, overflowed, least;
  size_t num_tiles;
  uint64_t bytes_per_tile, system_bytes;
} tile_memory;

static uint64_t value_of_tile(pop_profile_value by_tile, size_t tile)
{
  return (uint64_t)pop_profile_as_int(pop_profile_at(by_tile, tile));
}

/* ---- histogram ---- */

static uint64_t row_kilobytes(uint64_t max_bytes)
{
  uint64_t kilobytes = 1;
  while (max_bytes / KILOBYTE / kilobytes >= MAX_HISTOGRAM_ROWS) kilobytes *= 2;
  return kilobytes;
}

static void print_row(FILE *stream, uint64_t row, uint64_t kilobytes, size_t tiles, size_t most)
{
  char stars[HISTOGRAM_STARS + 1] = "", number[32], range[48];
  /* At least one star if there is a tile; all stars for the row with most tiles. */
  size_t count = tiles == 0  ? 0
                 : most == 1 ? HISTOGRAM_STARS
                             : 1 + (tiles - 1) * (HISTOGRAM_STARS - 1) / (most - 1);
  memset(stars, '*', count);
  stars[count] = '\0';
  snprintf(range, sizeof range, "%" PRIu64 " - %3" PRIu64, row * kilobytes, (row + 1) * kilobytes);
  fprintf(stream, "%14s %-*s %6s\n", range, HISTOGRAM_STARS, stars, grouped(tiles, number));
}

/* Is the row near one with tiles? Other empty rows are left out. */
static bool row_shown(const size_t *rows, uint64_t num_rows, uint64_t row)
{
  for (uint64_t near = row > EMPTY_ROWS_SHOWN ? row - EMPTY_ROWS_SHOWN : 0;
       near <= row + EMPTY_ROWS_SHOWN && near < num_rows; ++near)
    if (rows[near]) return true;
  return false;
}

static void print_histogram(const tile_memory *m, uint64_t max_bytes)
{
  uint64_t kilobytes = row_kilobytes(max_bytes);
  uint64_t num_rows = max_bytes / KILOBYTE / kilobytes + 1, first = num_rows;
  size_t *rows = pop_xcalloc(num_rows, sizeof *rows), most = 0;
  for (size_t t = 0; t < m->num_tiles; ++t) {
    uint64_t row = value_of_tile(m->total, t) / KILOBYTE / kilobytes;
    size_t count = ++rows[row];
    most = count > most ? count : most;
    first = row < first ? row : first;
  }
  summary_heading(m->style, 2, "By Tile (Excluding Gaps):", false);
  fprintf(m->style->stream,
          "    Range (KB) Histogram (Excluding Gaps)               Count (tiles)\n");
  for (uint64_t row = first; row < num_rows; ++row)
    if (row_shown(rows, num_rows, row))
      print_row(m->style->stream, row, kilobytes, rows[row], most);
  free(rows);
}

/* ---- below it ---- */

static void print_maximum(const tile_memory *m, const char *label, uint64_t bytes, size_t tile)
{
  char number[32];
  fprintf(m->style->stream, "    Maximum (%s Gaps): %s (%.1f K) on tile %zu\n", label,
          grouped(bytes, number), (double)bytes / KILOBYTE, tile);
}

/* How far a tile's plan is above its lower bound, relative to the bound without the system's
 * bytes. */
static double plan_excess(const tile_memory *m, size_t tile)
{
  uint64_t least = value_of_tile(m->least, tile);
  if (least <= m->system_bytes) return 0;
  return ((double)value_of_tile(m->including_gaps, tile) - (double)least) /
         (double)(least - m->system_bytes);
}

static void print_worst_plan(const tile_memory *m)
{
  size_t worst = 0;
  char least[32];
  for (size_t t = 1; t < m->num_tiles; ++t)
    if (plan_excess(m, t) > plan_excess(m, worst)) worst = t;
  fprintf(
      m->style->stream,
      "Memory plan: at most %.1f%% above the bound (on tile %zu no plan takes less than %s)\n\n",
      100 * plan_excess(m, worst), worst, grouped(value_of_tile(m->least, worst), least));
}

static size_t fullest_of(const tile_memory *m, pop_profile_value by_tile, const bool *left_out)
{
  size_t fullest = m->num_tiles;
  for (size_t t = 0; t < m->num_tiles; ++t)
    if (!(left_out && left_out[t]) &&
        (fullest == m->num_tiles || value_of_tile(by_tile, t) > value_of_tile(by_tile, fullest)))
      fullest = t;
  return fullest;
}

static void print_fullest(const tile_memory *m, pop_profile_value profile)
{
  bool *shown = pop_xcalloc(m->num_tiles, sizeof *shown);
  for (size_t i = 0; i < FULLEST_SHOWN && i < m->num_tiles; ++i) {
    size_t tile = fullest_of(m, m->total, shown);
    char *title = pop_xasprintf("Tile # %zu memory usage:", tile);
    shown[tile] = true;
    fputc('\n', m->style->stream);
    summary_heading(m->style, 0, title, true);
    summary_memory_usage(m->style, profile, (tile_range){tile, tile + 1}, false);
    free(title);
  }
  free(shown);
}

static tile_memory memory_by_tile(const summary_style *style, pop_profile_value profile)
{
  pop_profile_value by_tile = pop_profile_find(profile, "memory.byTile");
  tile_memory m = {.style = style,
                   .total = pop_profile_get(by_tile, "total"),
                   .including_gaps = pop_profile_get(by_tile, "totalIncludingGaps"),
                   .overflowed = pop_profile_get(by_tile, "overflowed"),
                   .least = pop_profile_get(by_tile, "leastIncludingGaps"),
                   .bytes_per_tile = (uint64_t)pop_profile_as_int(
                       pop_profile_find(profile, "target.bytesPerTile")),
                   .system_bytes = (uint64_t)pop_profile_as_int(
                       pop_profile_find(profile, "target.systemBytesPerTile"))};
  m.num_tiles = pop_profile_count(m.total);
  return m;
}

void summary_by_tile(const summary_style *style, pop_profile_value profile)
{
  tile_memory m = memory_by_tile(style, profile);
  if (m.num_tiles == 0) return;
  size_t fullest = fullest_of(&m, m.total, NULL), out_of_memory = 0;
  size_t longest = fullest_of(&m, m.including_gaps, NULL);
  for (size_t t = 0; t < m.num_tiles; ++t)
    out_of_memory +=
        value_of_tile(m.including_gaps, t) > m.bytes_per_tile || value_of_tile(m.overflowed, t) > 0;
  print_histogram(&m, value_of_tile(m.total, fullest));
  fputc('\n', style->stream);
  print_maximum(&m, "Including", value_of_tile(m.including_gaps, longest), longest);
  print_maximum(&m, "Excluding", value_of_tile(m.total, fullest), fullest);
  char *line = pop_xasprintf("%zu tile(s) out of memory", out_of_memory);
  if (out_of_memory)
    summary_heading(style, 4, line, true);
  else
    fprintf(style->stream, "    %s\n", line);
  free(line);
  if (out_of_memory) print_fullest(&m, profile);
  fputc('\n', style->stream);
}

void summary_plan(const summary_style *style, pop_profile_value profile)
{
  tile_memory m = memory_by_tile(style, profile);
  if (m.num_tiles) print_worst_plan(&m);
}
