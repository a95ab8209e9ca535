/* The memory of a range of tiles in the summary:
 *
 *   Memory Usage:
 *     Total:
 *       Including Gaps:         67,725,024 B
 *       Excluding Gaps:
 *         By Memory Region: …
 *         By Data Type: …
 *         Vertex Data (106,509B): …
 *
 * Categories that no tile uses are left out, as in the sample. */
#include "executable/profile.h"
#include "profile/graph_summary.h"
#include "profile/grouped.h"

#include <populus/arena.h>
#include <populus/memory.h>
#include <stdlib.h>
#include <string.h>

enum { REGION_COLUMN = 38, CATEGORY_COLUMN = 59, PART_COLUMN = 47, TYPE_WIDTH = 15 };

/* The sum of a range of tiles. */
static uint64_t sum(pop_profile_value by_tile, tile_range tiles)
{
  uint64_t total = 0;
  for (size_t t = tiles.first; t < tiles.end; ++t)
    total += (uint64_t)pop_profile_as_int(pop_profile_at(by_tile, t));
  return total;
}

static uint64_t sum_of(pop_profile_value map, const char *path, tile_range tiles)
{
  return sum(pop_profile_find(map, path), tiles);
}

/* ---- categories ---- */

/* The bytes of each category, over all regions. Returns their sum. */
static uint64_t sum_categories(pop_profile_value memory, const char *key, tile_range tiles,
                               uint64_t *by_category)
{
  static const char *const regions[] = {"nonInterleaved", "interleaved", "overflowed"};
  uint64_t total = 0;
  for (int c = 0; c < POP_MEMORY_CATEGORY_COUNT; ++c) {
    pop_profile_value category = pop_profile_get(pop_profile_get(memory, "byCategory"),
                                                 pop_memory_category_key((pop_memory_category)c));
    by_category[c] = 0;
    for (size_t r = 0; r < sizeof regions / sizeof *regions; ++r)
      by_category[c] += sum(pop_profile_get(pop_profile_get(category, regions[r]), key), tiles);
    total += by_category[c];
  }
  return total;
}

static void print_categories(const summary_style *style, const char *title,
                             const uint64_t *by_category, uint64_t total)
{
  fprintf(style->stream, "        %s\n", title);
  for (int c = 0; c < POP_MEMORY_CATEGORY_COUNT; ++c)
    if (by_category[c])
      summary_bytes(style, 12, pop_memory_category_label((pop_memory_category)c), by_category[c],
                    CATEGORY_COLUMN);
  summary_bytes(style, 10, "Total", total, CATEGORY_COLUMN);
}

static void print_data_types(const summary_style *style, pop_profile_value memory, tile_range tiles,
                             uint64_t used)
{
  uint64_t by_category[POP_MEMORY_CATEGORY_COUNT];
  fprintf(style->stream, "      By Data Type:\n");
  uint64_t alone = sum_categories(memory, "nonOverlapped", tiles, by_category);
  print_categories(style, "Not Overlapped", by_category, alone);
  uint64_t shared = sum_categories(memory, "overlapped", tiles, by_category);
  print_categories(style, "Overlapped", by_category, shared);
  summary_bytes(style, 10, "Total After Overlapping", used - alone, CATEGORY_COLUMN);
}

/* ---- vertices ---- */

static const struct {
  const char *key, *label;
} parts[] = {
#define PART_ROW(id, key, label) {key, label},
    PROFILE_VERTEX_PARTS(PART_ROW)
#undef PART_ROW
};
enum { NUM_PARTS = sizeof parts / sizeof *parts };

static int compare_rows(const void *a, const void *b)
{
  const summary_row *left = a, *right = b;
  if (left->number != right->number) return left->number < right->number ? 1 : -1;
  return strcmp(left->name, right->name);
}

static void print_vertex_data(const summary_style *style, pop_profile_value profile,
                              tile_range tiles)
{
  pop_profile_value names = pop_profile_find(profile, "vertexTypes.names");
  pop_profile_value by_type = pop_profile_find(profile, "memory.byVertexType");
  size_t num_types = pop_profile_count(names);
  summary_row *types = pop_xcalloc(num_types + 1, sizeof *types);
  uint64_t by_part[NUM_PARTS] = {0}, total = 0;
  char number[32];
  for (size_t t = 0; t < num_types; ++t) {
    const char *name = pop_profile_as_string(pop_profile_at(names, t));
    types[t].name = name ? name : "?";
    for (int p = 0; p < NUM_PARTS; ++p) {
      uint64_t bytes = sum(pop_profile_at(pop_profile_get(by_type, parts[p].key), t), tiles);
      types[t].number += bytes;
      by_part[p] += bytes;
      total += bytes;
    }
  }
  fprintf(style->stream, "      Vertex Data (%sB):\n        By Category:\n",
          grouped(total, number));
  for (int p = 0; p < NUM_PARTS; ++p)
    summary_bytes(style, 10, parts[p].label, by_part[p], PART_COLUMN);
  fprintf(style->stream, "        By Type:\n");
  qsort(types, num_types, sizeof *types, compare_rows);
  summary_rows(style, 10, types, num_types, TYPE_WIDTH, " B");
  free(types);
}

void summary_memory_usage(const summary_style *style, pop_profile_value profile, tile_range tiles,
                          bool total_line)
{
  pop_profile_value memory = pop_profile_get(profile, "memory");
  uint64_t used = sum_of(memory, "byTile.total", tiles);
  fprintf(style->stream, "Memory Usage:\n%s", total_line ? "  Total:\n" : "");
  summary_bytes(style, 4, "Including Gaps", sum_of(memory, "byTile.totalIncludingGaps", tiles),
                REGION_COLUMN);
  fprintf(style->stream, "    Excluding Gaps:\n      By Memory Region:\n");
  summary_bytes(style, 8, "Non-interleaved", sum_of(memory, "byTile.nonInterleaved", tiles),
                REGION_COLUMN);
  summary_bytes(style, 8, "Interleaved", sum_of(memory, "byTile.interleaved", tiles),
                REGION_COLUMN);
  summary_bytes(style, 8, "Overflowed", sum_of(memory, "byTile.overflowed", tiles), REGION_COLUMN);
  summary_bytes(style, 6, "Total", used, REGION_COLUMN);
  print_data_types(style, memory, tiles, used);
  print_vertex_data(style, profile, tiles);
}
