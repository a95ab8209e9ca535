/* memory_agrees <archive> [per-tile file]: compares the memory report of an archive with its
 * images and the loader.
 *
 * For every tile the size of `.text`, totalIncludingGaps of the report and the bytes that the
 * loader puts into the tile must be equal; the report by category and region must be what the
 * image's symbols say, byte by byte; and the parts of the report must add up. Images of an archive
 * that is out of memory cannot be loaded: there the loader must refuse.
 *
 * The file gets a line for each tile: `.text`, report, loaded. Standard output gets the number of
 * tiles, the number of overfull ones, and the worst ratio of a plan to its bound. */
#include <populus/archive.h>
#include <populus/arena.h>
#include <populus/image.h>
#include <populus/populus.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what an image's symbols say ---- */

/* How many symbols each byte has. */
typedef struct byte_map {
  uint8_t *count;
  uint32_t size;
  size_t capacity;
} byte_map;

static void clear(byte_map *map, uint32_t size)
{
  pop_reserve(map->count, size, map->capacity);
  memset(map->count, 0, size);
  map->size = size;
}

/* The first address after `at` that may be in another region: a region's border or `end`. */
static uint32_t end_of_region(const pop_target *target, uint32_t at, uint32_t end)
{
  const uint32_t borders[] = {target->interleaved_base, pop_target_memory_end(target)};
  for (size_t i = 0; i < sizeof borders / sizeof *borders; ++i)
    if (borders[i] > at && borders[i] < end) end = borders[i];
  return end;
}

static void count_symbols(byte_map *map, const pop_image *image, pop_tile_memory *counted,
                          const pop_target *target)
{
  memset(counted, 0, sizeof *counted);
  clear(map, image->size);
  for (size_t i = 0; i < image->num_symbols; ++i) {
    const pop_image_symbol *s = &image->symbols[i];
    uint8_t *count = map->count + (s->address - image->base);
    for (uint32_t at = 0; at < s->size; ++at) count[at] += count[at] < UINT8_MAX;
  }
  for (size_t i = 0; i < image->num_symbols; ++i) {
    const pop_image_symbol *s = &image->symbols[i];
    for (uint32_t at = s->address, end = s->address + s->size; at < end;) {
      pop_memory_region region = pop_memory_region_of(target, at);
      uint32_t part = end_of_region(target, at, end), alone = 0;
      const uint8_t *count = map->count + (at - image->base);
      for (uint32_t k = 0; k < part - at; ++k) alone += count[k] == 1;
      counted->not_overlapped[s->category][region] += alone;
      counted->overlapped[s->category][region] += part - at - alone;
      at = part;
    }
  }
  for (uint32_t at = image->base, end = image->base + map->size; at < end;) {
    uint32_t part = end_of_region(target, at, end), named = 0;
    const uint8_t *count = map->count + (at - image->base);
    for (uint32_t k = 0; k < part - at; ++k) named += count[k] != 0;
    counted->total += named;
    counted->by_region[pop_memory_region_of(target, at)] += named;
    at = part;
  }
}

/* ---- the comparison ---- */

/* The bytes from the region's start to the end of the last byte in it with a symbol; 0:
 * there is none. */
static uint32_t named_end(const byte_map *map, const pop_target *target, uint32_t base,
                          pop_memory_region region)
{
  const uint32_t starts[POP_REGION_COUNT + 1] = {
      [POP_REGION_NON_INTERLEAVED] = target->memory_base,
      [POP_REGION_INTERLEAVED] = target->interleaved_base,
      [POP_REGION_OVERFLOWED] = pop_target_memory_end(target),
      [POP_REGION_COUNT] = UINT32_MAX};
  uint32_t begin = starts[region], end = base + map->size;
  if (end > starts[region + 1]) end = starts[region + 1];
  while (end > begin && !map->count[end - base - 1]) end--;
  return end > begin ? end - begin : 0;
}

typedef struct checker {
  pop_executable *executable;
  const pop_target *target;
  pop_engine *engine;
  pop_archive *archive;
  FILE *per_tile;
  byte_map map;
  uint32_t tile;
  int num_differences;
  double worst_plan; /* times its bound */
  uint32_t worst_tile;
  uint32_t num_overfull;
} checker;

__attribute__((format(printf, 2, 3))) static void differ(checker *c, const char *format, ...)
{
  enum { SHOWN = 10 };
  if (c->num_differences++ >= SHOWN) return;
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "tile %u: ", c->tile);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

/* Vertex states have padding between them, and code has constants without names. So symbols do not
 * cover all of these. */
static bool has_symbols_for_all(int category)
{
  return category != POP_MEMORY_VERTEX_CODE && category != POP_MEMORY_SHARED_CODE_STORAGE &&
         category != POP_MEMORY_SHARED_DATA_STORAGE && category != POP_MEMORY_VERTEX_INSTANCE_STATE;
}

/* Returns how many bytes have no symbols. */
static uint64_t compare_categories(checker *c, const pop_tile_memory *report,
                                   const pop_tile_memory *counted)
{
  uint64_t unnamed = 0;
  for (int k = 0; k < POP_MEMORY_CATEGORY_COUNT; ++k)
    for (int r = 0; r < POP_REGION_COUNT; ++r) {
      uint32_t says = report->not_overlapped[k][r], is = counted->not_overlapped[k][r];
      const char *key = pop_memory_category_key((pop_memory_category)k);
      if (has_symbols_for_all(k) ? says != is : says < is)
        differ(c, "%s in region %d: %u bytes not overlapped in the report, %u in symbols", key, r,
               says, is);
      unnamed += says - is;
      if (report->overlapped[k][r] != counted->overlapped[k][r])
        differ(c, "%s in region %d: %u bytes overlapped in the report, %u in symbols", key, r,
               report->overlapped[k][r], counted->overlapped[k][r]);
    }
  if (report->total != counted->total + unnamed)
    differ(c, "%u bytes in the report, %u in symbols, %llu without", report->total, counted->total,
           (unsigned long long)unnamed);
  return unnamed;
}

/* The image ends where its last region does. */
static void compare_gaps(checker *c, const pop_tile_memory *report, const pop_image *image,
                         uint64_t unnamed)
{
  uint32_t end = image->base + image->size;
  bool last = true;
  for (int r = POP_REGION_COUNT - 1; r >= 0; --r) {
    uint32_t says = report->by_region_including_gaps[r],
             named = named_end(&c->map, c->target, image->base, (pop_memory_region)r);
    if (says < named || says > named + unnamed)
      differ(c, "region %d ends after %u bytes, its last symbol after %u", r, says, named);
    if (!says || !last) continue;
    last = false;
    if (end - says != c->target->memory_base && end - says != c->target->interleaved_base &&
        end - says != pop_target_memory_end(c->target))
      differ(c, "region %d ends after %u bytes, the image at 0x%x", r, says, end);
  }
}

static void compare_sums(checker *c, const pop_tile_memory *report)
{
  uint64_t regions = 0, alone = 0, shared = 0;
  for (int r = 0; r < POP_REGION_COUNT; ++r) {
    regions += report->by_region[r];
    if (report->by_region_including_gaps[r] < report->by_region[r])
      differ(c, "region %d has fewer bytes with gaps than without", r);
    for (int k = 0; k < POP_MEMORY_CATEGORY_COUNT; ++k) {
      alone += report->not_overlapped[k][r];
      shared += report->overlapped[k][r];
    }
  }
  if (regions != report->total)
    differ(c, "regions sum up to %llu, total %u", (unsigned long long)regions, report->total);
  /* Bytes that are shared have two users at least. */
  if (alone > report->total || 2 * (report->total - alone) > shared)
    differ(c, "%llu bytes alone and %llu shared are not %u", (unsigned long long)alone,
           (unsigned long long)shared, report->total);
  if (report->most_live > report->total ||
      report->most_live + c->target->system_bytes > report->least_including_gaps ||
      report->least_including_gaps > report->total_including_gaps)
    differ(c, "live %u of %u, bound %u, plan %u", report->most_live, report->total,
           report->least_including_gaps, report->total_including_gaps);
}

static void rate_plan(checker *c, const pop_tile_memory *report)
{
  uint32_t system = c->target->system_bytes;
  if (report->least_including_gaps == system) return;
  double plan = (double)(report->total_including_gaps - system) /
                (double)(report->least_including_gaps - system);
  if (plan <= c->worst_plan) return;
  c->worst_plan = plan;
  c->worst_tile = c->tile;
}

static pop_error *check_tile(checker *c, pop_arena *arena, bool loaded)
{
  pop_tile_memory report, counted;
  pop_image image;
  bool overflowed;
  POP_TRY(pop_engine_tile_memory(c->engine, c->tile, &report));
  POP_TRY(pop_image_read_member(c->archive, c->tile, POP_IMAGE_SYMBOLS, c->target, arena, &image,
                                &overflowed));
  if (!image.symbols_have_categories) differ(c, "its symbols have no categories");
  count_symbols(&c->map, &image, &counted, c->target);
  compare_gaps(c, &report, &image, compare_categories(c, &report, &counted));
  compare_sums(c, &report);
  rate_plan(c, &report);
  uint32_t loaded_bytes = pop_engine_loaded_bytes(c->engine, c->tile);
  if (image.size != report.total_including_gaps || (loaded && image.size != loaded_bytes))
    differ(c, "`.text` has %u bytes, the report says %u, %u are loaded", image.size,
           report.total_including_gaps, loaded_bytes);
  if (overflowed != (report.by_region[POP_REGION_OVERFLOWED] > 0))
    differ(c, "image and report disagree about being too full");
  c->num_overfull += overflowed;
  if (c->per_tile)
    fprintf(c->per_tile, "%u %u %u\n", image.size, report.total_including_gaps, loaded_bytes);
  return NULL;
}

static pop_error *check_tiles(checker *c)
{
  pop_error *refused = pop_engine_load(c->engine), *error = NULL;
  for (c->tile = 0; c->tile < pop_target_num_tiles(c->target) && !error; ++c->tile) {
    pop_arena *arena = pop_arena_new();
    error = check_tile(c, arena, !refused);
    pop_arena_free(arena);
  }
  if (!error && (refused != NULL) != (c->num_overfull > 0))
    error = refused ? refused : pop_error_new(POP_ERROR_INTERNAL, "what is too full was loaded");
  if (error != refused) pop_error_free(refused);
  return error;
}

static pop_error *check(checker *c, const char *path)
{
  POP_TRY(pop_executable_load(path, &c->executable));
  c->target = pop_executable_target(c->executable);
  POP_TRY(pop_engine_create_from_executable(c->executable, NULL, 0, &c->engine));
  POP_TRY(pop_archive_open(path, &c->archive));
  return check_tiles(c);
}

int main(int argc, char **argv)
{
  checker c = {.worst_plan = 1};
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: memory_agrees ARCHIVE [PER-TILE-FILE]\n");
    return 2;
  }
  if (argc == 3 && !(c.per_tile = fopen(argv[2], "w"))) {
    perror(argv[2]);
    return 4;
  }
  pop_error *error = check(&c, argv[1]);
  int status = pop_error_exit_status(error);
  if (error) fprintf(stderr, "memory_agrees: %s\n", pop_error_message(error));
  if (status == 0 && c.num_differences) status = 1;
  printf("tiles %u\noverfull %u\nworst_plan %.4f on tile %u\n", c.tile, c.num_overfull,
         c.worst_plan, c.worst_tile);
  pop_error_free(error);
  if (c.per_tile) fclose(c.per_tile);
  pop_archive_close(c.archive);
  pop_engine_free(c.engine);
  pop_executable_free(c.executable);
  free(c.map.count);
  return status;
}
