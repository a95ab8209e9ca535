/* Rows from images and metadata. */
#include "size_report.h"

#include <inttypes.h>
#include <populus/archive.h>
#include <populus/executable.h>
#include <populus/image.h>
#include <populus/names.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const region_names[POP_REGION_COUNT] = {"nonInterleaved", "interleaved",
                                                           "overflowed"};

/* Bytes of one tile. */
typedef struct tile_sizes {
  uint32_t including_gaps, system, total;
  uint32_t by_region[POP_REGION_COUNT];
  uint32_t by_category[POP_MEMORY_CATEGORY_COUNT]; /* that only this one uses */
} tile_sizes;

typedef struct maker {
  size_report *report;
  pop_archive *archive;
  pop_engine *engine; /* NULL: no metadata */
  pop_target target;
  pop_name_table rows; /* kind and name -> row */
  uint8_t *uses;       /* of each byte of a tile: how many symbols, at most 2 */
  uint8_t *categories; /* of each byte with a symbol: of the last one */
  size_t uses_capacity, categories_capacity;
  uint64_t num_images; /* with the current one */
} maker;

/* ---- rows ---- */

static size_row *find_row(maker *m, size_kind kind, const char *name, const char *note)
{
  size_report *r = m->report;
  char *key = pop_xasprintf("%d %s %s", (int)kind, note ? note : "", name);
  uint32_t number = pop_name_table_find(&m->rows, key);
  if (number == POP_NAME_NONE) {
    number = (uint32_t)r->num_rows;
    const char *kept = pop_arena_strdup(r->arena, key);
    pop_name_table_add(&m->rows, kept, number);
    size_row row = {.kind = kind,
                    .name = pop_arena_strdup(r->arena, name),
                    .note = note ? pop_arena_strdup(r->arena, note) : NULL,
                    .order = number};
    pop_push(r->rows, r->num_rows, r->rows_capacity, row);
  }
  free(key);
  return &r->rows[number];
}

/* Several variables or functions of a tile may have the same name: together they are what the tile
 * has of the row. Vertices are counted one by one. */
static void add(maker *m, size_kind kind, const char *name, const char *note, uint64_t bytes)
{
  size_row *row = find_row(m, kind, name, note);
  if (kind == SIZE_VERTEX_TYPE || row->image != m->num_images) row->here = 0;
  row->image = m->num_images;
  row->count += bytes != 0 && row->here == 0;
  row->here += bytes;
  row->bytes += bytes;
  if (row->here > row->most) row->most = row->here;
}

/* ---- what a tile's bytes are used for ---- */

static pop_error *take_metadata(const maker *m, uint32_t tile, tile_sizes *sizes)
{
  pop_tile_memory memory;
  POP_TRY(pop_engine_tile_memory(m->engine, tile, &memory));
  if (memory.total_including_gaps != sizes->including_gaps)
    return pop_error_new(
        POP_ERROR_FILE_LOAD,
        "'%s': the image of tile %" PRIu32 " has %" PRIu32
        " bytes, but the metadata are for %" PRIu32 ": it is damaged, or from another archive",
        m->report->archive, tile, sizes->including_gaps, memory.total_including_gaps);
  sizes->total = memory.total;
  memcpy(sizes->by_region, memory.by_region, sizeof sizes->by_region);
  for (int c = 0; c < POP_MEMORY_CATEGORY_COUNT; ++c)
    for (int r = 0; r < POP_REGION_COUNT; ++r) sizes->by_category[c] += memory.not_overlapped[c][r];
  return NULL;
}

static bool is_inside(const pop_image *image, const pop_image_symbol *symbol)
{
  return symbol->address >= image->base && symbol->address - image->base <= image->size &&
         symbol->size <= image->size - (symbol->address - image->base);
}

/* Symbols of code name parts of it, such as blocks of programs: code overlaps nothing else. */
static bool is_of_code(const pop_image *image, const pop_image_symbol *symbol)
{
  return image->symbols_have_categories
             ? pop_memory_category_is_code((pop_memory_category)symbol->category)
             : symbol->kind != POP_SYMBOL_OBJECT;
}

static void count_uses(maker *m, const pop_image *image)
{
  pop_reserve(m->uses, image->size, m->uses_capacity);
  memset(m->uses, 0, image->size);
  pop_reserve(m->categories, image->size, m->categories_capacity);
  for (size_t i = 0; i < image->num_symbols; ++i) {
    const pop_image_symbol *s = &image->symbols[i];
    if (!is_inside(image, s)) continue;
    bool is_code = is_of_code(image, s);
    for (uint32_t at = s->address - image->base, end = at + s->size; at < end; ++at) {
      if (m->uses[at] == 0 || (m->uses[at] == 1 && !is_code)) m->uses[at]++;
      m->categories[at] = s->category;
    }
  }
}

/* Code has constants and padding without symbols. They get the category of the code before them. */
static void add_unnamed_code(maker *m, const pop_image *image)
{
  for (size_t i = 0; i < image->num_segments; ++i) {
    const pop_image_segment *s = &image->segments[i];
    int category = POP_MEMORY_VERTEX_CODE;
    for (uint32_t at = s->start - image->base, end = at + s->size; s->executable && at < end; ++at)
      if (m->uses[at]) {
        if (image->symbols_have_categories) category = m->categories[at];
      } else {
        m->uses[at] = 1;
        m->categories[at] = (uint8_t)category;
      }
  }
}

static void take_symbols(maker *m, const pop_image *image, tile_sizes *sizes)
{
  count_uses(m, image);
  add_unnamed_code(m, image);
  for (uint32_t at = 0; at < image->size; ++at)
    if (m->uses[at]) {
      sizes->total++;
      if (m->uses[at] == 1) sizes->by_category[m->categories[at]]++;
      sizes->by_region[pop_memory_region_of(&m->target, image->base + at)]++;
    }
}

/* Bytes that are no gap and belong to no single category are shared by several at
 * different times. */
static void add_sizes(maker *m, const tile_sizes *s)
{
  uint32_t alone = 0;
  for (int c = 0; c < POP_MEMORY_CATEGORY_COUNT; ++c) alone += s->by_category[c];
  add(m, SIZE_TOTAL, "including gaps", NULL, s->including_gaps);
  add(m, SIZE_TOTAL, "used", NULL, s->total);
  add(m, SIZE_TOTAL, "system", NULL, s->system);
  add(m, SIZE_TOTAL, "gaps", NULL, s->including_gaps - s->total - s->system);
  for (int r = 0; r < POP_REGION_COUNT; ++r)
    if (s->by_region[r]) add(m, SIZE_REGION, region_names[r], NULL, s->by_region[r]);
  for (int c = 0; c < POP_MEMORY_CATEGORY_COUNT; ++c)
    if (s->by_category[c])
      add(m, SIZE_CATEGORY, pop_memory_category_key((pop_memory_category)c), NULL,
          s->by_category[c]);
  if (s->total > alone) add(m, SIZE_CATEGORY, "shared by several", NULL, s->total - alone);
}

/* ---- symbols ---- */

/* "vertex.<compute set>.<type>.<number>" -> the type; NULL for another symbol. A variable may have
 * such a name, too. */
static char *vertex_type(const pop_image_symbol *symbol, bool has_categories)
{
  static const char prefix[] = "vertex.";
  const char *name = symbol->name, *end = strrchr(name, '.');
  if (symbol->kind != POP_SYMBOL_OBJECT ||
      (has_categories && symbol->category != POP_MEMORY_VERTEX_INSTANCE_STATE))
    return NULL;
  if (strncmp(name, prefix, sizeof prefix - 1) != 0 || !end || end == name + sizeof prefix - 2)
    return NULL;
  const char *start = end;
  while (start[-1] != '.') --start;
  return pop_xasprintf("%.*s", (int)(end - start), start);
}

static void add_symbol(maker *m, const pop_image_symbol *symbol, bool has_categories)
{
  const char *category =
      has_categories ? pop_memory_category_key((pop_memory_category)symbol->category) : NULL;
  char *type = vertex_type(symbol, has_categories);
  size_kind kind = type                                ? SIZE_VERTEX_TYPE
                   : symbol->kind == POP_SYMBOL_OBJECT ? SIZE_VARIABLE
                                                       : SIZE_CODE;
  if (symbol->size) add(m, kind, type ? type : symbol->name, type ? NULL : category, symbol->size);
  free(type);
}

/* ---- one tile by address ---- */

static int compare_places(const void *left, const void *right)
{
  const pop_image_symbol *a = *(const pop_image_symbol *const *)left;
  const pop_image_symbol *b = *(const pop_image_symbol *const *)right;
  if (a->address != b->address) return a->address < b->address ? -1 : 1;
  if (a->size != b->size) return a->size > b->size ? -1 : 1;
  return strcmp(a->name, b->name);
}

static void add_place(maker *m, const char *name, const char *note, uint32_t address,
                      uint32_t bytes)
{
  size_report *r = m->report;
  size_row row = {.kind = SIZE_PLACE,
                  .name = pop_arena_strdup(r->arena, name),
                  .note = note ? pop_arena_strdup(r->arena, note) : NULL,
                  .bytes = bytes,
                  .count = bytes,
                  .most = bytes,
                  .order = address};
  pop_push(r->rows, r->num_rows, r->rows_capacity, row);
}

static void add_places(maker *m, const pop_image *image)
{
  const pop_image_symbol **sorted = pop_xcalloc(image->num_symbols + 1, sizeof *sorted);
  size_t count = 0;
  for (size_t i = 0; i < image->num_symbols; ++i)
    if (image->symbols[i].size && is_inside(image, &image->symbols[i]))
      sorted[count++] = &image->symbols[i];
  qsort(sorted, count, sizeof *sorted, compare_places);
  uint32_t at = image->base;
  for (size_t i = 0; i < count; ++i) {
    const pop_image_symbol *s = sorted[i];
    if (s->address > at)
      add_place(m, at == image->base ? "(system)" : "(no symbol)", NULL, at, s->address - at);
    const char *category = image->symbols_have_categories
                               ? pop_memory_category_key((pop_memory_category)s->category)
                               : NULL;
    char *note = s->type ? pop_xasprintf("%s %s", category ? category : "", s->type) : NULL;
    add_place(m, s->name, note ? note : category, s->address, s->size);
    free(note);
    if (s->address + s->size > at) at = s->address + s->size;
  }
  if (at < image->base + image->size)
    add_place(m, "(no symbol)", NULL, at, image->base + image->size - at);
  free(sorted);
}

/* ---- an image ---- */

static void add_tile(maker *m, const pop_image *image)
{
  char name[16];
  snprintf(name, sizeof name, "%" PRIu32, image->tile);
  size_row *row = find_row(m, SIZE_TILE, name, NULL);
  row->bytes = row->most = image->size;
  row->count = image->num_symbols;
  row->order = image->tile;
  m->report->num_tiles++;
}

static pop_error *take_image(maker *m, const pop_image *image, bool with_places)
{
  tile_sizes sizes = {.including_gaps = image->size};
  m->num_images++;
  sizes.system = image->size < m->target.system_bytes ? image->size : m->target.system_bytes;
  if (m->engine)
    POP_TRY(take_metadata(m, image->tile, &sizes));
  else
    take_symbols(m, image, &sizes);
  if (sizes.total > image->size - sizes.system)
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "'%s': symbols of tile %" PRIu32 " are in the system's memory",
                         m->report->archive, image->tile);
  add_sizes(m, &sizes);
  add_tile(m, image);
  for (size_t i = 0; i < image->num_symbols; ++i)
    add_symbol(m, &image->symbols[i], image->symbols_have_categories);
  m->report->has_symbols |= image->num_symbols > 0;
  if (with_places) add_places(m, image);
  return NULL;
}

static pop_error *read_image(maker *m, size_t member, uint32_t tile, bool with_places)
{
  pop_arena *arena = pop_arena_new();
  pop_image image;
  bool overflowed;
  pop_error *error = pop_image_read_member(m->archive, member, POP_IMAGE_SYMBOLS, &m->target, arena,
                                           &image, &overflowed);
  if (!error) {
    image.tile = tile;
    error = take_image(m, &image, with_places);
  }
  pop_arena_free(arena);
  return error;
}

/* ---- the archive ---- */

/* Without metadata: the target whose tile memory begins where the image's does. */
static pop_error *guess_target(maker *m, size_t member)
{
  pop_error *error = NULL;
  for (const char *const *name = pop_target_names(); *name; ++name) {
    pop_arena *arena = pop_arena_new();
    pop_image image;
    bool overflowed;
    pop_error_free(error);
    error = pop_target_create(*name, 1, &m->target);
    if (!error)
      error = pop_image_read_member(m->archive, member, 0, &m->target, arena, &image, &overflowed);
    pop_arena_free(arena);
    if (!error) return NULL;
  }
  return error;
}

/* Opens the metadata if they can be used. A lack of the system's resources is an error, as it says
 * nothing about them, and so is a mistake in the environment. */
static pop_error *open_metadata(maker *m, const char *path)
{
  pop_executable *executable;
  pop_error *error = pop_executable_load(path, &executable);
  if (!error) {
    m->target = *pop_executable_target(executable);
    error = pop_engine_create_from_executable(executable, NULL, 0, &m->engine);
    pop_executable_free(executable);
  }
  m->report->has_metadata = m->engine != NULL;
  pop_error_code code = error ? pop_error_get_code(error) : POP_ERROR_FILE_LOAD;
  if (code == POP_ERROR_SYSTEM || code == POP_ERROR_MEMORY || code == POP_ERROR_INVALID_OPTION)
    return error;
  pop_error_free(error);
  return NULL;
}

static pop_error *read_images(maker *m, uint32_t wanted, step_line *line)
{
  bool found = false;
  for (size_t i = 0; i < pop_archive_num_members(m->archive); ++i) {
    uint32_t tile;
    step_line_is_at(line, i, pop_archive_num_members(m->archive));
    if (!pop_archive_tile_number(pop_archive_get_member(m->archive, i)->name, &tile)) continue;
    if (!found && !m->engine) POP_TRY(guess_target(m, i));
    found = true;
    if (wanted != SIZE_ALL_TILES && tile != wanted) continue;
    POP_TRY(read_image(m, i, tile, wanted != SIZE_ALL_TILES));
  }
  if (m->report->num_tiles) return NULL;
  if (found)
    return pop_error_new(POP_ERROR_INDEX, "'%s' has no tile %" PRIu32, m->report->archive, wanted);
  return pop_error_new(POP_ERROR_FILE_LOAD,
                       "'%s' has no tile images: their names are tile-00000.elf …",
                       m->report->archive);
}

pop_error *size_report_make(const char *archive, uint32_t tile, step_line *line,
                            size_report *report)
{
  *report = (size_report){.archive = archive, .arena = pop_arena_new()};
  maker m = {.report = report};
  POP_TRY(pop_archive_open(archive, &m.archive));
  pop_error *error = open_metadata(&m, archive);
  if (!error) error = read_images(&m, tile, line);
  report->target = pop_arena_strdup(report->arena, m.target.name);
  pop_name_table_free(&m.rows);
  free(m.uses);
  free(m.categories);
  pop_engine_free(m.engine);
  pop_archive_close(m.archive);
  return error;
}

void size_report_free(size_report *report)
{
  pop_arena_free(report->arena);
  free(report->rows);
}
