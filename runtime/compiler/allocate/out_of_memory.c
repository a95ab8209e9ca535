/* The error of a graph that does not fit. It says how many tiles lack memory, and how much. For the
 * five fullest tiles it has what their memory is used for, in the form of the profile's summary,
 * and their largest blocks. There are two other errors: constraints of vertices that no addresses
 * satisfy, and data that want interleaved memory on a machine without any. */
#include "compiler/allocate/allocate.h"
#include "compiler/layout.h"
#include <populus/vertex_table.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUM_FULLEST = 5, NUM_LARGEST = 3 };

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

/* Prints the tile's largest blocks, by name: a variable, the messages of an exchange, … */
static void print_largest(FILE *out, const compilation *c, uint32_t tile)
{
  const tile_layout *layout = &c->tiles[tile];
  const block *largest[NUM_LARGEST];
  int count = 0;
  for (size_t i = 0; i < layout->num_blocks; i++) {
    const block *b = &c->blocks[c->blocks_by_tile[layout->first_block + i]];
    int at = count < NUM_LARGEST ? count++ : NUM_LARGEST;
    for (; at > 0 && b->size > largest[at - 1]->size; at--)
      if (at < NUM_LARGEST) largest[at] = largest[at - 1];
    if (at < NUM_LARGEST) largest[at] = b;
  }
  fprintf(out, "      The Largest:\n");
  for (int i = 0; i < count; i++) {
    const block *b = largest[i];
    char number[16];
    fprintf(out, "        %14s B  '%.80s', %s\n", with_commas(b->size, number), b->name,
            pop_memory_category_label((pop_memory_category)b->category));
  }
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
  print_largest(out, c, tile);
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

/* The first sentence: what is too large, by how much, and what would help. */
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

/* ---- constraints of vertices ---- */

static bool is_broken(const compilation *c, const placement_rule *r)
{
  const pop_constraint *constraint = &r->type->constraints[r->constraint];
  plan_rule rule = {.regions = constraint->regions, .equal = constraint->equal};
  uint64_t addresses[2];
  for (int side = 0; side < 2; side++) {
    rule.begin[side] = r->ranges[side].begin;
    rule.end[side] = r->ranges[side].end;
    addresses[side] = c->blocks[r->ranges[side].block].address;
  }
  return !rule_holds(&c->target, &rule, addresses);
}

/* The first broken rule, or NULL; *count: how many are broken. */
static const placement_rule *find_broken(const compilation *c, size_t *count)
{
  const placement_rule *first = NULL;
  *count = 0;
  for (size_t i = 0; i < c->num_placement_rules; i++) {
    if (!is_broken(c, &c->placement_rules[i])) continue;
    if (!first) first = &c->placement_rules[i];
    ++*count;
  }
  return first;
}

static void print_side(FILE *out, const compilation *c, const placement_rule *r, int side)
{
  const pop_constraint *constraint = &r->type->constraints[r->constraint];
  const block_range *range = &r->ranges[side];
  const block *b = &c->blocks[range->block];
  char bytes[16];
  fprintf(out, "field '%s' (%s B of '%s' at 0x%x)", r->type->fields[constraint->fields[side]].name,
          with_commas(range->end - range->begin, bytes), b->name, b->address + range->begin);
}

static void print_rule(FILE *out, const compilation *c, const placement_rule *r)
{
  char *text = pop_constraint_text(r->type, &r->type->constraints[r->constraint]);
  fprintf(out, "the constraint %s of vertex %s (%s) on tile %u, between ", text, r->type->name,
          r->type->source, r->tile);
  print_side(out, c, r, 0);
  fprintf(out, " and ");
  print_side(out, c, r, 1);
  free(text);
}

/* No addresses would satisfy the rules. */
static pop_error *broken_rule_error(const compilation *c, const placement_rule *first, size_t count)
{
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out)
    return pop_error_new(POP_ERROR_GRAPH_MEMORY, "%zu constraints of vertices cannot be met",
                         count);
  fprintf(out, "constraints of vertices on where their data lie cannot be met, %zu in all. First: ",
          count);
  print_rule(out, c, first);
  fprintf(out,
          ". Memory elements of %s have %u B, in interleaved memory twice as many; smaller "
          "data, or other tiles for some of them, would help",
          c->target.name, c->target.memory_element_bytes);
  fclose(out);
  pop_error *error = pop_error_new(POP_ERROR_GRAPH_MEMORY, "%s", text);
  free(text);
  return error;
}

/* Data that must be in region 1, if there is none. */
static const block *find_without_region(const compilation *c)
{
  if (c->target.interleaved_base < pop_target_memory_end(&c->target)) return NULL;
  for (size_t i = 0; i < c->num_blocks; i++)
    if (c->blocks[i].flags & BLOCK_INTERLEAVED) return &c->blocks[i];
  return NULL;
}

static pop_error *no_interleaved_memory_error(const compilation *c, const block *without_region)
{
  return pop_error_new(POP_ERROR_GRAPH_MEMORY,
                       "the graph does not fit: a field of a vertex wants '%s' on tile %u in "
                       "interleaved memory, and tiles of target '%s' have none: its "
                       "interleaved_base is the end of their memory",
                       without_region->name, without_region->tile, c->target.name);
}

/* If the tile's data would fit without rules, the user must know the rules. */
static void print_rules_at_fault(FILE *out, const compilation *c, uint32_t tile)
{
  uint32_t available = c->target.memory_bytes - c->target.system_bytes;
  if (c->tiles[tile].most_live_bytes > available) return;
  for (size_t i = 0; i < c->num_placement_rules; i++) {
    if (c->placement_rules[i].tile != tile) continue;
    fprintf(out,
            "\nTile # %u would fit if its data could lie anywhere. What keeps them apart: ", tile);
    print_rule(out, c, &c->placement_rules[i]);
    fprintf(out, "\n");
    return;
  }
}

pop_error *out_of_memory_error(const compilation *c)
{
  size_t num_broken;
  const placement_rule *broken = find_broken(c, &num_broken);
  if (broken) return broken_rule_error(c, broken, num_broken);
  const block *without_region = find_without_region(c);
  if (without_region) return no_interleaved_memory_error(c, without_region);
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
  print_rules_at_fault(out, c, worst);
  fclose(out);
  pop_error *error = pop_error_new(POP_ERROR_GRAPH_MEMORY, "%s", text);
  free(text);
  return error;
}
