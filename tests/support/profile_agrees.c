/* profile_agrees <archive>: compares the views of memory in an archive's graph profile with each
 * other and with the account of each tile (which memory_agrees compares with the images).
 *
 * For every tile byTile must be the account, and the cells of byCategory those of the account.
 * Vertex types and compute sets must add up to the categories of vertices, and states to the sizes
 * of their symbols. Over all tiles, blocks of liveness must be those of the categories, and the
 * instructions of exchanges the exchange code. For a model without compileIPUCode, all of them are
 * the account without code.
 *
 * Standard output has figures for other tools, over all tiles: including_gaps, used, and `category`
 * with key and bytes not overlapped; then `present` with the key of each category that has any
 * bytes. Differences go to standard error, with exit status 1. */
#include <populus/archive.h>
#include <populus/arena.h>
#include <populus/image.h>
#include <populus/populus.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct checker {
  pop_executable *executable;
  pop_engine *engine;
  pop_archive *archive;
  pop_profile *profile;
  pop_profile_value root;
  uint32_t num_tiles;
  pop_tile_memory *tiles; /* the account of each */
  bool no_code;           /* in the profile */
  int num_differences;
  uint64_t including_gaps, used;
  uint64_t categories[POP_MEMORY_CATEGORY_COUNT], blocks[POP_MEMORY_CATEGORY_COUNT];
} checker;

/* `format` says what is compared. */
__attribute__((format(printf, 4, 5))) static void compare(checker *c, int64_t is, int64_t should_be,
                                                          const char *format, ...)
{
  enum { SHOWN = 10 };
  if (is == should_be || c->num_differences++ >= SHOWN) return;
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  fprintf(stderr, ": %" PRId64 ", not %" PRId64 "\n", is, should_be);
  va_end(arguments);
}

static int64_t int_at(pop_profile_value values, size_t index, const char *what)
{
  pop_profile_value found = pop_profile_at(values, index);
  if (pop_profile_kind_of(found) != POP_PROFILE_INT) {
    fprintf(stderr, "there is no memory.%s[%zu]\n", what, index);
    exit(1);
  }
  return pop_profile_as_int(found);
}

/* The vector memory.<path>: looked up once, read for each tile. */
static pop_profile_value in_memory(const checker *c, const char *path)
{
  return pop_profile_find(pop_profile_get(c->root, "memory"), path);
}

/* The int number `index` of a vector in memory.<path>. */
static int64_t memory_at(const checker *c, const char *path, size_t index)
{
  return int_at(in_memory(c, path), index, path);
}

/* ---- by tile, by category ---- */

/* The tile's memory as the profile shows it: without code if it leaves code out. Code overlaps
 * nothing. */
static pop_tile_memory shown_memory(checker *c, uint32_t tile)
{
  pop_tile_memory m = c->tiles[tile];
  for (int k = 0; c->no_code && k < POP_MEMORY_CATEGORY_COUNT; ++k) {
    if (!pop_memory_category_is_code((pop_memory_category)k)) continue;
    for (int r = 0; r < POP_REGION_COUNT; ++r) {
      uint32_t code = m.not_overlapped[k][r];
      compare(c, m.overlapped[k][r], 0, "tile %u: code in the place of something else", tile);
      m.by_region[r] -= code;
      m.by_region_including_gaps[r] -= code;
      m.total -= code;
      m.total_including_gaps -= code;
      m.most_live -= code;
      m.least_including_gaps -= code;
    }
  }
  return m;
}

/* The bytes of all blocks of a category, as the profile shows them. */
static int64_t shown_blocks(const checker *c, int category)
{
  bool shown = !(c->no_code && pop_memory_category_is_code((pop_memory_category)category));
  return shown ? (int64_t)c->blocks[category] : 0;
}

static void check_by_tile(checker *c)
{
  static const struct {
    const char *path;
    size_t field; /* of pop_tile_memory, uint32_t */
  } rows[] = {
      {"byTile.total", offsetof(pop_tile_memory, total)},
      {"byTile.totalIncludingGaps", offsetof(pop_tile_memory, total_including_gaps)},
      {"byTile.nonInterleaved", offsetof(pop_tile_memory, by_region[POP_REGION_NON_INTERLEAVED])},
      {"byTile.interleaved", offsetof(pop_tile_memory, by_region[POP_REGION_INTERLEAVED])},
      {"byTile.overflowed", offsetof(pop_tile_memory, by_region[POP_REGION_OVERFLOWED])},
      {"byTile.nonInterleavedIncludingGaps",
       offsetof(pop_tile_memory, by_region_including_gaps[POP_REGION_NON_INTERLEAVED])},
      {"byTile.interleavedIncludingGaps",
       offsetof(pop_tile_memory, by_region_including_gaps[POP_REGION_INTERLEAVED])},
      {"byTile.overflowedIncludingGaps",
       offsetof(pop_tile_memory, by_region_including_gaps[POP_REGION_OVERFLOWED])},
      {"byTile.mostLive", offsetof(pop_tile_memory, most_live)},
      {"byTile.leastIncludingGaps", offsetof(pop_tile_memory, least_including_gaps)},
  };
  pop_tile_memory *shown = pop_xcalloc(c->num_tiles, sizeof *shown);
  for (uint32_t tile = 0; tile < c->num_tiles; ++tile) shown[tile] = shown_memory(c, tile);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    pop_profile_value values = in_memory(c, rows[i].path);
    for (uint32_t tile = 0; tile < c->num_tiles; ++tile) {
      uint32_t bytes;
      memcpy(&bytes, (const char *)&shown[tile] + rows[i].field, sizeof bytes);
      compare(c, int_at(values, tile, rows[i].path), bytes, "tile %u: %s", tile, rows[i].path);
    }
  }
  pop_profile_value low = in_memory(c, "byTile.nonInterleaved"),
                    high = in_memory(c, "byTile.interleaved"),
                    over = in_memory(c, "byTile.overflowed");
  for (uint32_t tile = 0; tile < c->num_tiles; ++tile) {
    compare(c,
            int_at(low, tile, "byTile") + int_at(high, tile, "byTile") +
                int_at(over, tile, "byTile"),
            shown[tile].total, "tile %u: regions", tile);
    c->including_gaps += c->tiles[tile].total_including_gaps;
    c->used += c->tiles[tile].total;
  }
  free(shown);
}

static void check_category(checker *c, int category)
{
  static const char *const regions[] = {"nonInterleaved", "interleaved", "overflowed"};
  const char *key = pop_memory_category_key((pop_memory_category)category);
  char path[128];
  bool shown = !(c->no_code && pop_memory_category_is_code((pop_memory_category)category));
  int64_t *totals = pop_xcalloc(c->num_tiles, sizeof *totals);
  for (int r = 0; r < POP_REGION_COUNT; ++r)
    for (int shared = 0; shared < 2; ++shared) {
      snprintf(path, sizeof path, "byCategory.%s.%s.%s", key, regions[r],
               shared ? "overlapped" : "nonOverlapped");
      pop_profile_value values = in_memory(c, path);
      for (uint32_t tile = 0; tile < c->num_tiles; ++tile) {
        const pop_tile_memory *m = &c->tiles[tile];
        int64_t bytes = shared ? m->overlapped[category][r] : m->not_overlapped[category][r];
        compare(c, int_at(values, tile, path), shown ? bytes : 0, "tile %u: %s", tile, path);
        totals[tile] += bytes;
        if (!shared) c->categories[category] += (uint64_t)bytes;
      }
    }
  snprintf(path, sizeof path, "byCategory.%s.total", key);
  pop_profile_value values = in_memory(c, path);
  for (uint32_t tile = 0; tile < c->num_tiles; ++tile) {
    compare(c, int_at(values, tile, path), shown ? totals[tile] : 0, "tile %u: %s", tile, path);
    c->blocks[category] += (uint64_t)totals[tile];
  }
  free(totals);
}

/* ---- vertices ---- */

static const char *const parts[] = {"vertexDataBytes", "edgePtrBytes", "copyPtrBytes",
                                    "paddingBytes", "descriptorBytes"};
enum { NUM_PARTS = sizeof parts / sizeof *parts };

/* memory.<name>: what is at [row][tile] of each of its keys. */
typedef struct vertex_view {
  const char *name;
  size_t num_rows;
  pop_profile_value parts[NUM_PARTS], total, code;
} vertex_view;

static size_t count_at(const checker *c, const char *path)
{
  return pop_profile_count(pop_profile_find(c->root, path));
}

static vertex_view find_view(const checker *c, const char *name, const char *rows)
{
  pop_profile_value map = in_memory(c, name);
  vertex_view view = {.name = name,
                      .num_rows = count_at(c, rows),
                      .total = pop_profile_get(map, "totalBytes"),
                      .code = pop_profile_get(map, "codeBytes")};
  for (int p = 0; p < NUM_PARTS; ++p) view.parts[p] = pop_profile_get(map, parts[p]);
  return view;
}

static int64_t view_at(const vertex_view *view, pop_profile_value values, size_t row, uint32_t tile)
{
  return int_at(pop_profile_at(values, row), tile, view->name);
}

/* All parts of all rows on the tile. The rest is code. */
static int64_t sum_view(checker *c, const vertex_view *view, uint32_t tile)
{
  int64_t sum = 0;
  for (size_t row = 0; row < view->num_rows; ++row) {
    int64_t of_row = 0;
    for (int p = 0; p < NUM_PARTS; ++p) of_row += view_at(view, view->parts[p], row, tile);
    compare(c, view_at(view, view->total, row, tile), of_row + view_at(view, view->code, row, tile),
            "tile %u: %s %zu in total", tile, view->name, row);
    sum += of_row;
  }
  return sum;
}

/* The code for all vertex types on the tile is at least that for any one, and at most
 * the tile's code. */
static void check_code(checker *c, const vertex_view *by_type, const vertex_view *by_set,
                       int64_t code, uint32_t tile)
{
  int64_t most = 0, types = 0;
  for (size_t t = 0; t < by_type->num_rows; ++t) {
    int64_t bytes = view_at(by_type, by_type->code, t, tile);
    types += bytes != 0;
    most = bytes > most ? bytes : most;
  }
  if (types == 1)
    compare(c, most, code, "tile %u: code of its only vertex type", tile);
  else if (most > code)
    compare(c, most, code, "tile %u: code of a vertex type", tile);
  if (types == 0) compare(c, code, 0, "tile %u: code without a vertex type", tile);
  for (size_t s = 0; s < by_set->num_rows; ++s)
    if (view_at(by_set, by_set->code, s, tile) > code)
      compare(c, view_at(by_set, by_set->code, s, tile), code, "tile %u: code of compute set %zu",
              tile, s);
}

static void check_vertices(checker *c)
{
  static const char *const of_vertices[] = {
      "byCategory.vertexInstanceState.total", "byCategory.vertexFieldData.total",
      "byCategory.vectorListDescriptor.total", "byCategory.copyDescriptor.total"};
  static const char *const of_code[] = {"byCategory.vertexCode.total",
                                        "byCategory.sharedCodeStorage.total",
                                        "byCategory.sharedDataStorage.total"};
  vertex_view by_type = find_view(c, "byVertexType", "vertexTypes.names"),
              by_set = find_view(c, "byComputeSet", "computeSets.names");
  for (uint32_t tile = 0; tile < c->num_tiles; ++tile) {
    int64_t categories = 0, code = 0;
    for (int i = 0; i < 4; ++i) categories += memory_at(c, of_vertices[i], tile);
    for (int i = 0; i < 3 && !c->no_code; ++i) code += memory_at(c, of_code[i], tile);
    compare(c, sum_view(c, &by_type, tile), categories, "tile %u: vertex types", tile);
    compare(c, sum_view(c, &by_set, tile), categories, "tile %u: compute sets", tile);
    check_code(c, &by_type, &by_set, code, tile);
  }
}

/* Symbols of vertices: vertex.<compute set>.<type>.<number> */
static pop_error *count_states(checker *c, uint32_t tile, uint64_t *bytes)
{
  pop_arena *arena = pop_arena_new();
  pop_image image;
  bool overflowed;
  pop_error *error =
      pop_image_read_member(c->archive, tile, POP_IMAGE_SYMBOLS,
                            pop_executable_target(c->executable), arena, &image, &overflowed);
  for (size_t i = 0; !error && i < image.num_symbols; ++i)
    if (strncmp(image.symbols[i].name, "vertex.", 7) == 0) *bytes += image.symbols[i].size;
  pop_arena_free(arena);
  return error;
}

static void check_states(checker *c, uint64_t symbols)
{
  pop_profile_value counts = pop_profile_find(c->root, "computeSets.vertexCounts");
  pop_profile_value types = pop_profile_find(c->root, "computeSets.vertexTypes");
  pop_profile_value sizes = pop_profile_find(c->root, "vertexTypes.sizes");
  int64_t bytes = 0, vertices = 0;
  for (size_t s = 0; s < pop_profile_count(counts); ++s) {
    pop_profile_value of_set = pop_profile_at(counts, s), types_of_set = pop_profile_at(types, s);
    for (size_t i = 0; i < pop_profile_count(of_set); ++i) {
      int64_t count = pop_profile_as_int(pop_profile_at(of_set, i));
      size_t type = (size_t)pop_profile_as_int(pop_profile_at(types_of_set, i));
      bytes += count * pop_profile_as_int(pop_profile_at(sizes, type));
      vertices += count;
    }
  }
  compare(c, bytes, (int64_t)symbols, "vertex states and their symbols");
  compare(c, pop_profile_as_int(pop_profile_find(c->root, "graph.numVertices")), vertices,
          "graph.numVertices");
}

/* ---- liveness, exchanges ---- */

static void check_liveness(checker *c)
{
  pop_profile_value variables = pop_profile_find(c->root, "memory.liveness.variables");
  pop_profile_value keys = pop_profile_get(variables, "categories");
  pop_profile_value bytes = pop_profile_get(variables, "bytes");
  uint64_t sums[POP_MEMORY_CATEGORY_COUNT] = {0};
  for (size_t i = 0; i < pop_profile_count(keys); ++i)
    for (int k = 0; k < POP_MEMORY_CATEGORY_COUNT; ++k)
      if (strcmp(pop_profile_as_string(pop_profile_at(keys, i)),
                 pop_memory_category_key((pop_memory_category)k)) == 0)
        sums[k] += (uint64_t)pop_profile_as_int(pop_profile_at(bytes, i));
  for (int k = 0; k < POP_MEMORY_CATEGORY_COUNT; ++k)
    compare(c, (int64_t)sums[k], shown_blocks(c, k), "liveness of %s",
            pop_memory_category_key((pop_memory_category)k));
  int64_t most = pop_profile_as_int(pop_profile_find(c->root, "memory.liveness.maxBytes"));
  int64_t limit = 0;
  for (uint32_t t = 0; t < c->num_tiles; ++t) limit += memory_at(c, "byTile.mostLive", t);
  if (c->num_tiles == 1 || most > limit) compare(c, most, limit, "most live at once");
}

static void check_exchanges(checker *c)
{
  pop_profile_value programs = pop_profile_get(c->root, "programs");
  size_t count = count_at(c, "exchanges.names");
  int64_t *bytes = pop_xcalloc(count + 1, sizeof *bytes), sum = 0;
  for (size_t i = 0; i < pop_profile_count(programs); ++i) {
    pop_profile_value program = pop_profile_at(programs, i);
    if (strcmp(pop_profile_as_string(pop_profile_get(program, "type")), "DoExchange") != 0)
      continue;
    size_t exchange = (size_t)pop_profile_as_int(pop_profile_get(program, "exchange"));
    bytes[exchange] = pop_profile_as_int(pop_profile_find(program, "memoryByInstruction.total"));
  }
  for (size_t i = 0; i < count; ++i) sum += bytes[i];
  compare(c, sum, shown_blocks(c, POP_MEMORY_INTERNAL_EXCHANGE_CODE), "exchange instructions");
  free(bytes);
}

static pop_error *check(checker *c, const char *path)
{
  uint64_t states = 0;
  POP_TRY(pop_executable_load(path, &c->executable));
  POP_TRY(pop_engine_create_from_executable(c->executable, NULL, 0, &c->engine));
  POP_TRY(pop_archive_open(path, &c->archive));
  POP_TRY(pop_engine_graph_profile(c->engine, &c->profile));
  c->root = pop_profile_root(c->profile);
  c->num_tiles = pop_target_num_tiles(pop_executable_target(c->executable));
  c->no_code = pop_executable_target(c->executable)->memory_without_code;
  c->tiles = pop_xcalloc(c->num_tiles, sizeof *c->tiles);
  for (uint32_t tile = 0; tile < c->num_tiles; ++tile) {
    POP_TRY(pop_engine_tile_memory(c->engine, tile, &c->tiles[tile]));
    POP_TRY(count_states(c, tile, &states));
  }
  check_by_tile(c);
  for (int k = 0; k < POP_MEMORY_CATEGORY_COUNT; ++k) check_category(c, k);
  check_vertices(c);
  check_states(c, states);
  check_liveness(c);
  check_exchanges(c);
  return NULL;
}

int main(int argc, char **argv)
{
  checker c = {0};
  if (argc != 2) {
    fprintf(stderr, "usage: profile_agrees ARCHIVE\n");
    return 2;
  }
  pop_error *error = check(&c, argv[1]);
  int status = pop_error_exit_status(error);
  if (error) fprintf(stderr, "profile_agrees: %s\n", pop_error_message(error));
  if (status == 0 && c.num_differences) status = 1;
  printf("including_gaps %" PRIu64 "\nused %" PRIu64 "\n", c.including_gaps, c.used);
  for (int k = 0; k < POP_MEMORY_CATEGORY_COUNT; ++k)
    printf("category %s %" PRIu64 "\n", pop_memory_category_key((pop_memory_category)k),
           c.categories[k]);
  for (int k = 0; k < POP_MEMORY_CATEGORY_COUNT; ++k)
    if (c.blocks[k]) printf("present %s\n", pop_memory_category_key((pop_memory_category)k));
  pop_error_free(error);
  pop_profile_free(c.profile);
  pop_archive_close(c.archive);
  pop_engine_free(c.engine);
  pop_executable_free(c.executable);
  free(c.tiles);
  return status;
}
