/* The error of a graph that does not fit: how many tiles of how many, by how much, and the five
 * fullest tiles with what their memory is used for, in the form of the profile's summary. */
#include "compiler/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUM_FULLEST = 5 };

/* "1,234,567" */
static const char *with_commas(uint32_t number, char out[16])
{
  char digits[16];
  int length = snprintf(digits, sizeof digits, "%u", number), written = 0;
  for (int i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0) out[written++] = ',';
    out[written++] = digits[i];
  }
  out[written] = '\0';
  return out;
}

static void print_row(FILE *out, int indent, const char *label, uint32_t bytes)
{
  char number[16];
  fprintf(out, "%*s%-*s %12s B\n", indent, "", 46 - indent, label, with_commas(bytes, number));
}

static void print_tile(FILE *out, const compilation *c, uint32_t tile)
{
  static const char *const regions[POP_REGION_COUNT] = {
      "Non-interleaved:", "Interleaved:", "Overflowed:"};
  pop_tile_memory memory;
  account_tile(c, tile, &memory);
  fprintf(out, "\nTile # %u memory usage:\n", tile);
  print_row(out, 4, "Including Gaps:", memory.total_including_gaps);
  fprintf(out, "    Excluding Gaps:\n      By Memory Region:\n");
  for (int r = 0; r < POP_REGION_COUNT; r++) print_row(out, 8, regions[r], memory.by_region[r]);
  fprintf(out, "      By Data Type (those that use any):\n");
  for (int category = 0; category < POP_MEMORY_CATEGORY_COUNT; category++) {
    uint32_t bytes = 0;
    for (int r = 0; r < POP_REGION_COUNT; r++)
      bytes += memory.not_overlapped[category][r] + memory.overlapped[category][r];
    char label[64];
    snprintf(label, sizeof label, "%s:", pop_memory_category_label((pop_memory_category)category));
    if (bytes) print_row(out, 8, label, bytes);
  }
}

static bool is_fuller(const compilation *c, uint32_t a, uint32_t b)
{
  if (c->tiles[a].end != c->tiles[b].end) return c->tiles[a].end > c->tiles[b].end;
  return a < b;
}

/* The fullest tiles, fullest first. */
static int find_fullest(const compilation *c, uint32_t fullest[NUM_FULLEST])
{
  int count = 0;
  uint32_t num_tiles = pop_target_num_tiles(&c->target);
  for (uint32_t tile = 0; tile < num_tiles; tile++) {
    int at = count < NUM_FULLEST ? count++ : NUM_FULLEST;
    for (; at > 0 && is_fuller(c, tile, fullest[at - 1]); at--)
      if (at < NUM_FULLEST) fullest[at] = fullest[at - 1];
    if (at < NUM_FULLEST) fullest[at] = tile;
  }
  return count;
}

/* The first sentence: what was asked, what is wrong, what would help. */
static void print_summary(FILE *out, const compilation *c, uint32_t num_short, uint32_t worst)
{
  const pop_target *target = &c->target;
  char lacking[16], memory[16], region[16];
  with_commas(c->tiles[worst].shortage, lacking);
  with_commas(target->memory_bytes, memory);
  with_commas(target->interleaved_base - target->memory_base, region);
  fprintf(out,
          "the graph does not fit: %u of %u tiles out of memory, tile %u by %s B (a tile of %s has "
          "%s B, code in the first %s B). More tiles, or a mapping that spreads the data more "
          "evenly, would help; with the engine option debug.allowOutOfMemory images and reports "
          "are made all the same. The fullest tiles:\n",
          num_short, pop_target_num_tiles(target), worst, lacking, target->name, memory, region);
}

pop_error *out_of_memory_error(const compilation *c)
{
  uint32_t num_tiles = pop_target_num_tiles(&c->target), num_short = 0, worst = 0;
  for (uint32_t tile = 0; tile < num_tiles; tile++) {
    num_short += c->tiles[tile].shortage > 0;
    if (c->tiles[tile].shortage > c->tiles[worst].shortage) worst = tile;
  }
  if (num_short == 0) return NULL;
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out)
    return pop_error_new(POP_ERROR_GRAPH_MEMORY, "the graph does not fit: %u tiles out of memory",
                         num_short);
  print_summary(out, c, num_short, worst);
  uint32_t fullest[NUM_FULLEST];
  int count = find_fullest(c, fullest);
  for (int i = 0; i < count; i++) print_tile(out, c, fullest[i]);
  fclose(out);
  pop_error *error = pop_error_new(POP_ERROR_GRAPH_MEMORY, "%s", text);
  free(text);
  return error;
}
