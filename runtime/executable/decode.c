/* Reads metadata from CBOR. The bytes are not trusted: every number is compared with what it
 * counts, numbers or points into, before it is used. Lists grow only as their entries are read.
 *
 * The checks here protect the engine. Stacks outside the tile's writable memory are ignored by the
 * machine when it loads the image.
 */
#include "executable/decode.h"

#include <populus/gp.h>
#include <string.h>

pop_error *decode_u32s(metadata_reader *r, const uint32_t *most, uint32_t *values, size_t count)
{
  for (size_t i = 0; i < count; ++i) POP_TRY(metadata_read_u32(r, most[i], &values[i]));
  return NULL;
}

pop_error *decode_greatest_number(const metadata_reader *r, size_t count, const char *of,
                                  uint32_t *greatest)
{
  if (!count) return metadata_error(r, "there is no %s that it could name", of);
  *greatest = count > UINT32_MAX ? UINT32_MAX - 1 : (uint32_t)count - 1;
  return NULL;
}

pop_error *decode_name(metadata_reader *r, const char **name)
{
  POP_TRY(metadata_read_key(r, 1, "name"));
  return metadata_read_text(r, name);
}

pop_error *decode_address(const decoder *d, uint32_t offset, uint64_t bytes, uint32_t *address)
{
  const pop_target *target = &d->e->target;
  uint64_t limit = d->e->out_of_memory ? UINT32_MAX - target->memory_base : target->memory_bytes;
  *address = target->memory_base + offset;
  if (bytes <= limit && offset <= limit - bytes) return NULL;
  return metadata_error(&d->r, "%llu bytes at offset 0x%x are not in tile memory",
                        (unsigned long long)bytes, offset);
}

/* ---- head ---- */

static pop_error *check_format(decoder *d, size_t num_keys)
{
  uint64_t format = 0;
  size_t found_keys = 0;
  POP_TRY(metadata_read_map(&d->r, &found_keys));
  POP_TRY(metadata_read_key(&d->r, 0, "format"));
  POP_TRY(metadata_read_uint(&d->r, UINT64_MAX, &format));
  POP_TRY(metadata_read_key(&d->r, 0, "version"));
  POP_TRY(metadata_read_text(&d->r, &d->e->version));
  d->r.keys[0] = NULL;
  if (format == EXECUTABLE_FORMAT && found_keys == num_keys) return NULL;
  if (format == EXECUTABLE_FORMAT)
    return metadata_error(&d->r, "%zu keys where %zu are expected", found_keys, num_keys);
  return pop_error_new(POP_ERROR_FILE_LOAD,
                       "it has format %llu, written by Populus %s; this is Populus %s, which reads "
                       "format %d: compile the program again with this version, or run it with "
                       "that one",
                       (unsigned long long)format, d->e->version, POPULUS_VERSION,
                       EXECUTABLE_FORMAT);
}

static pop_error *read_target_name(metadata_reader *r, pop_target *target)
{
  const char *name = "";
  POP_TRY(metadata_read_key(r, 1, "name"));
  POP_TRY(metadata_read_text(r, &name));
  if (strlen(name) >= sizeof target->name)
    return metadata_error(r, "'%s' has more than %zu bytes", name, sizeof target->name - 1);
  strcpy(target->name, name);
  return NULL;
}

static pop_error *read_costs(metadata_reader *r, pop_target *target)
{
#define COST_NAME(id, name) name,
  static const char *const names[] = {POP_COST_CLASSES(COST_NAME)};
#undef COST_NAME
  POP_TRY(metadata_read_key(r, 1, "cost"));
  POP_TRY(metadata_read_map_of(r, POP_COST_CLASS_COUNT));
  for (size_t i = 0; i < POP_COST_CLASS_COUNT; ++i) {
    uint32_t cost = 0;
    POP_TRY(metadata_read_key(r, 1, names[i]));
    POP_TRY(metadata_read_u32(r, POP_TARGET_MAX_COST, &cost));
    target->cost[i] = (uint16_t)cost;
  }
  return NULL;
}

static pop_error *read_source(decoder *d)
{
  enum { NUMBERS = sizeof d->e->source / sizeof *d->e->source };
  size_t count = 0;
  POP_TRY(metadata_read_array(&d->r, 1, &count));
  if (count != NUMBERS)
    return metadata_error(&d->r, "%zu numbers instead of %d", count, (int)NUMBERS);
  for (size_t i = 0; i < count; ++i)
    POP_TRY(metadata_read_uint(&d->r, UINT64_MAX, &d->e->source[i]));
  return NULL;
}

static pop_error *read_target(decoder *d)
{
  metadata_reader *r = &d->r;
  pop_target *target = &d->e->target;
  uint32_t type = 0;
  POP_TRY(metadata_read_map_of(r, METADATA_NUM_TARGET_KEYS));
  POP_TRY(read_target_name(r, target));
  POP_TRY(metadata_read_key(r, 1, "type"));
  POP_TRY(metadata_read_u32(r, POP_TARGET_CPU, &type));
  target->type = (pop_target_type)type;
#define READ_FIELD(field)                                                                          \
  POP_TRY(metadata_read_key(r, 1, #field));                                                        \
  POP_TRY(metadata_read_u32(r, UINT32_MAX, &target->field));
  METADATA_TARGET_NUMBERS(READ_FIELD)
#undef READ_FIELD
  POP_TRY(metadata_read_key(r, 1, "clock_hz"));
  POP_TRY(metadata_read_double(r, &target->clock_hz));
  POP_TRY(read_costs(r, target));
  pop_error *error = pop_target_validate(target);
  if (!error) d->num_tiles = pop_target_num_tiles(target);
  r->keys[1] = NULL;
  if (!error) return NULL;
  pop_error *located = metadata_error(r, "%s", pop_error_message(error));
  pop_error_free(error);
  return located;
}

static pop_error *read_replicas(decoder *d)
{
  uint32_t *count = &d->e->num_replicas;
  POP_TRY(metadata_read_u32(&d->r, POP_TARGET_MAX_IPUS, count));
  if (*count == 0 || *count * d->e->target.num_ipus > POP_TARGET_MAX_IPUS)
    return metadata_error(&d->r, "%u replicas of %u IPUs", *count, d->e->target.num_ipus);
  return NULL;
}

static pop_error *read_options(decoder *d)
{
  size_t count = 0;
  POP_TRY(metadata_read_map(&d->r, &count));
  for (size_t i = 0; i < count; ++i) {
    executable_option option;
    d->r.entry = i;
    POP_TRY(metadata_read_text(&d->r, &option.key));
    POP_TRY(metadata_read_text(&d->r, &option.value));
    pop_push(d->e->options, d->e->num_options, d->e->options_capacity, option);
  }
  return NULL;
}

static pop_error *read_out_of_memory(decoder *d)
{
  return metadata_read_text_or_null(&d->r, &d->e->out_of_memory);
}

/* Reads an array of texts into a growing list. */
static pop_error *read_texts(metadata_reader *r, const char ***list, size_t *count,
                             size_t *capacity)
{
  size_t num_texts = 0;
  POP_TRY(metadata_read_array(r, 1, &num_texts));
  for (size_t i = 0; i < num_texts; ++i) {
    const char *text = "";
    r->entry = i;
    POP_TRY(metadata_read_text(r, &text));
    pop_push(*list, *count, *capacity, text);
  }
  return NULL;
}

/* A later popc may make code that the tiles of this Populus cannot execute. */
static pop_error *read_needs(decoder *d)
{
  pop_executable *e = d->e;
  POP_TRY(read_texts(&d->r, &e->needs, &e->num_needs, &e->needs_capacity));
  for (size_t i = 0; i < e->num_needs; ++i)
    if (!pop_gp_is_known_need(e->needs[i], strlen(e->needs[i])))
      return pop_error_new(POP_ERROR_FILE_LOAD,
                           "its code, made by Populus %s, needs '%s' of tiles, and tiles here have "
                           "'" POP_GP_NEEDS_PACKED "', '" POP_GP_NEEDS_FUNCTIONS
                           "' and '" POP_GP_NEEDS_REPEATS
                           "' at most: compile the program with this "
                           "version, %s, or run it with that one",
                           e->version, e->needs[i], POPULUS_VERSION);
  return NULL;
}

static pop_error *read_programs(decoder *d)
{
  pop_executable *e = d->e;
  return read_texts(&d->r, &e->programs, &e->num_programs, &e->programs_capacity);
}

static pop_error *read_blocks(decoder *d)
{
  pop_executable *e = d->e;
  return read_texts(&d->r, &e->blocks, &e->num_blocks, &e->blocks_capacity);
}

static pop_error *read_vertex_types(decoder *d)
{
  pop_executable *e = d->e;
  return read_texts(&d->r, &e->vertex_types, &e->num_vertex_types, &e->vertex_types_capacity);
}

static pop_error *read_types_in_order(decoder *d, uint32_t **types, size_t *num_types,
                                      size_t *capacity)
{
  size_t count = 0;
  uint32_t most = 0, type = 0;
  POP_TRY(metadata_read_array(&d->r, 1, &count));
  if (count) POP_TRY(decode_greatest_number(&d->r, d->e->num_vertex_types, "vertex type", &most));
  for (size_t i = 0; i < count; ++i) {
    uint32_t before = type;
    d->r.entry = i;
    POP_TRY(metadata_read_u32(&d->r, most, &type));
    if (i && type <= before)
      return metadata_error(&d->r, "vertex type %u does not come behind %u", type, before);
    pop_push(*types, *num_types, *capacity, type);
  }
  return NULL;
}

static pop_error *read_chip_estimates(decoder *d)
{
  pop_executable *e = d->e;
  return read_types_in_order(d, &e->chip_estimates, &e->num_chip_estimates,
                             &e->chip_estimates_capacity);
}

static pop_error *read_our_estimates(decoder *d)
{
  pop_executable *e = d->e;
  return read_types_in_order(d, &e->our_estimates, &e->num_our_estimates,
                             &e->our_estimates_capacity);
}

/* ---- tiles ---- */

static pop_error *category_of_name(const metadata_reader *r, const char *name, uint32_t *category)
{
  for (uint32_t c = 0; c < POP_MEMORY_CATEGORY_COUNT; ++c)
    if (strcmp(pop_memory_category_key((pop_memory_category)c), name) == 0) {
      *category = c;
      return NULL;
    }
  return metadata_error(r, "there is no memory category '%s'", name);
}

static pop_error *read_categories(decoder *d)
{
  size_t count = 0;
  POP_TRY(metadata_read_array(&d->r, 1, &count));
  if (count != POP_MEMORY_CATEGORY_COUNT)
    return metadata_error(&d->r, "%zu memory categories, but there are %d", count,
                          POP_MEMORY_CATEGORY_COUNT);
  for (size_t i = 0; i < count; ++i) {
    const char *name = "";
    d->r.entry = i;
    POP_TRY(metadata_read_text(&d->r, &name));
    POP_TRY(category_of_name(&d->r, name, &d->categories[i]));
  }
  return NULL;
}

static pop_error *read_memory_row(decoder *d, pop_tile_memory *m)
{
  static const uint32_t any[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  static const uint32_t most[] = {POP_MEMORY_CATEGORY_COUNT - 1, POP_REGION_COUNT - 1, UINT32_MAX,
                                  UINT32_MAX};
  size_t count = 0;
  POP_TRY(metadata_read_array(&d->r, 1, &count));
  if (count < METADATA_MEMORY_HEAD || (count - METADATA_MEMORY_HEAD) % METADATA_MEMORY_CELL)
    return metadata_error(&d->r, "%zu numbers, not %d and %d for each cell", count,
                          METADATA_MEMORY_HEAD, METADATA_MEMORY_CELL);
  POP_TRY(metadata_read_u32(&d->r, UINT32_MAX, &m->total));
  POP_TRY(metadata_read_u32(&d->r, UINT32_MAX, &m->total_including_gaps));
  POP_TRY(metadata_read_u32(&d->r, UINT32_MAX, &m->most_live));
  POP_TRY(metadata_read_u32(&d->r, UINT32_MAX, &m->least_including_gaps));
  POP_TRY(decode_u32s(&d->r, any, m->by_region, POP_REGION_COUNT));
  POP_TRY(decode_u32s(&d->r, any, m->by_region_including_gaps, POP_REGION_COUNT));
  for (size_t i = METADATA_MEMORY_HEAD; i < count; i += METADATA_MEMORY_CELL) {
    uint32_t cell[METADATA_MEMORY_CELL];
    POP_TRY(decode_u32s(&d->r, most, cell, METADATA_MEMORY_CELL));
    uint32_t category = d->categories[cell[0]], region = cell[1];
    m->not_overlapped[category][region] = cell[2];
    m->overlapped[category][region] = cell[3];
  }
  return NULL;
}

static pop_error *read_memory(decoder *d)
{
  size_t count = 0;
  POP_TRY(metadata_read_array(&d->r, 1, &count));
  for (size_t i = 0; i < count; ++i) {
    pop_tile_memory row = {0};
    d->r.entry = i;
    POP_TRY(read_memory_row(d, &row));
    pop_push(d->e->memory_rows, d->e->num_memory_rows, d->e->memory_rows_capacity, row);
  }
  return NULL;
}

static pop_error *read_stacks(decoder *d)
{
  size_t count = 0, numbers = 0;
  POP_TRY(metadata_read_array(&d->r, 1, &count));
  for (size_t i = 0; i < count; ++i) {
    executable_stacks row;
    d->r.entry = i;
    POP_TRY(metadata_read_array(&d->r, 2, &numbers));
    if (numbers / 2 != NUM_TILE_STACKS)
      return metadata_error(&d->r, "%zu stacks, but a tile has %d", numbers / 2, NUM_TILE_STACKS);
    for (size_t j = 0; j < NUM_TILE_STACKS; ++j) {
      POP_TRY(metadata_read_u32(&d->r, UINT32_MAX, &row.of[j].start));
      POP_TRY(metadata_read_u32(&d->r, UINT32_MAX, &row.of[j].size));
    }
    pop_push(d->e->stack_rows, d->e->num_stack_rows, d->e->stack_rows_capacity, row);
  }
  return NULL;
}

static pop_error *read_tiles(decoder *d)
{
  size_t count = 0;
  uint32_t most[3] = {0}, run[3], tile = 0;
  POP_TRY(metadata_read_array(&d->r, 3, &count));
  POP_TRY(decode_greatest_number(&d->r, d->e->num_memory_rows, "row of memory", &most[1]));
  POP_TRY(decode_greatest_number(&d->r, d->e->num_stack_rows, "row of stacks", &most[2]));
  d->e->tiles = pop_xcalloc(d->num_tiles, sizeof *d->e->tiles);
  for (size_t i = 0; i < count / 3; ++i) {
    d->r.entry = i;
    most[0] = d->num_tiles - tile;
    POP_TRY(decode_u32s(&d->r, most, run, 3));
    for (uint32_t end = tile + run[0]; tile < end; ++tile)
      d->e->tiles[tile] = (executable_tile){run[1], run[2]};
  }
  if (tile == d->num_tiles) return NULL;
  return metadata_error(&d->r, "it is about %u tiles, but the target has %u", tile, d->num_tiles);
}

static pop_error *read_digests(decoder *d)
{
  const uint8_t *bytes = NULL;
  size_t size = 0;
  POP_TRY(metadata_read_bytes(&d->r, &bytes, &size));
  if (size != (size_t)d->num_tiles * METADATA_DIGEST_BYTES)
    return metadata_error(&d->r, "%zu bytes, but %u tiles need %zu", size, d->num_tiles,
                          (size_t)d->num_tiles * METADATA_DIGEST_BYTES);
  d->e->digests = pop_xcalloc(d->num_tiles, sizeof *d->e->digests);
  for (size_t i = 0; i < size; ++i)
    d->e->digests[i / METADATA_DIGEST_BYTES] |= (uint64_t)bytes[i]
                                                << 8 * (i % METADATA_DIGEST_BYTES);
  return NULL;
}

/* ---- vertices ---- */

static pop_error *read_vertex_row(decoder *d)
{
  pop_executable *e = d->e;
  uint32_t most[] = {0, UINT32_MAX, EXECUTABLE_ON_ALL_WORKERS, UINT32_MAX}, vertex[4];
  size_t count = 0;
  POP_TRY(metadata_read_array(&d->r, 6, &count));
  if (count) POP_TRY(decode_greatest_number(&d->r, e->num_vertex_types, "vertex type", &most[0]));
  if (count / 6 > UINT32_MAX) return metadata_error(&d->r, "too many vertices");
  executable_row row = {e->num_vertices, (uint32_t)(count / 6)};
  for (size_t i = 0; i < row.count; ++i) {
    uint64_t cycles = 0, flops = 0;
    POP_TRY(decode_u32s(&d->r, most, vertex, 4));
    POP_TRY(metadata_read_uint(&d->r, UINT64_MAX, &cycles));
    POP_TRY(metadata_read_uint(&d->r, UINT64_MAX, &flops));
    uint32_t number = vertex[3] ? vertex[3] - 1 : EXECUTABLE_NONE;
    pop_push(e->vertices, e->num_vertices, e->vertices_capacity,
             (executable_vertex){vertex[0], vertex[1], vertex[2], number, cycles, flops});
  }
  pop_push(e->vertex_rows, e->num_vertex_rows, e->vertex_rows_capacity, row);
  return NULL;
}

static pop_error *read_vertex_rows(decoder *d)
{
  size_t count = 0;
  POP_TRY(metadata_read_array(&d->r, 1, &count));
  for (size_t i = 0; i < count; ++i) {
    d->r.entry = i;
    POP_TRY(read_vertex_row(d));
  }
  return NULL;
}

static pop_error *read_works(decoder *d, executable_compute_set *set)
{
  pop_executable *e = d->e;
  uint32_t most[] = {d->num_tiles - 1, UINT32_MAX, UINT32_MAX, 0}, work[4];
  size_t count = 0;
  POP_TRY(metadata_read_key(&d->r, 1, "works"));
  POP_TRY(metadata_read_array(&d->r, 4, &count));
  if (count) POP_TRY(decode_greatest_number(&d->r, e->num_vertex_rows, "vertex row", &most[3]));
  set->first_work = e->num_works;
  set->num_works = count / 4;
  for (size_t i = 0; i < set->num_works; ++i) {
    POP_TRY(decode_u32s(&d->r, most, work, 4));
    if (i && work[0] <= e->works[e->num_works - 1].tile)
      return metadata_error(&d->r, "tile %u is out of order", work[0]);
    pop_push(e->works, e->num_works, e->works_capacity,
             (executable_work){work[0], work[1], work[2], work[3]});
  }
  return NULL;
}

static pop_error *read_compute_sets(decoder *d)
{
  size_t count = 0;
  POP_TRY(metadata_read_array(&d->r, 1, &count));
  for (size_t i = 0; i < count; ++i) {
    executable_compute_set set = {0};
    d->r.entry = i;
    POP_TRY(metadata_read_map_of(&d->r, 2));
    POP_TRY(decode_name(&d->r, &set.name));
    POP_TRY(read_works(d, &set));
    d->r.keys[1] = NULL;
    pop_push(d->e->compute_sets, d->e->num_compute_sets, d->e->compute_sets_capacity, set);
  }
  return NULL;
}

/* ---- all ---- */

pop_error *executable_decode(const uint8_t *cbor, size_t size, pop_executable *executable)
{
  static const struct {
    const char *key;
    pop_error *(*read)(decoder *d);
  } keys[] = {
#define METADATA_READ(key, what) {#key, read_##key},
      METADATA_KEYS(METADATA_READ)
#undef METADATA_READ
  };
  size_t count = sizeof keys / sizeof *keys;
  decoder d = {.r = {.bytes = cbor, .size = size, .arena = executable->arena, .entry = SIZE_MAX},
               .e = executable};
  POP_TRY(check_format(&d, 2 + count));
  for (size_t i = 0; i < count; ++i) {
    POP_TRY(metadata_read_key(&d.r, 0, keys[i].key));
    POP_TRY(keys[i].read(&d));
  }
  if (d.r.at == size) return NULL;
  return pop_error_new(POP_ERROR_FILE_LOAD, "%zu bytes behind the metadata", size - d.r.at);
}
