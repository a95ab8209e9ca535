/* Metadata back from CBOR. The bytes are a stranger's: every number is compared with what it counts,
 * numbers or points into, before it is used, and lists grow only as they are read.
 *
 * What is checked here keeps the engine from harm. Stacks that are not in writable memory of the tile
 * are as good as none: the machine sees to that when it loads the image.
 */
#include "executable/decode.h"

#include <populus/remote_buffer.h>

#include <string.h>

enum { MAX_RANK = 16, MAX_STREAM_DEPTH = 1024 };

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
    POP_TRY(metadata_read_u32(r, UINT8_MAX, &cost));
    target->cost[i] = (uint8_t)cost;
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
  enum { MAX_IPUS = 64 }; /* of a device, as pop_target_validate has it */
  uint32_t *count = &d->e->num_replicas;
  POP_TRY(metadata_read_u32(&d->r, MAX_IPUS, count));
  if (*count == 0 || *count * d->e->target.num_ipus > MAX_IPUS)
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

/* An array of texts, into a list that grows as they are read. */
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

static pop_error *read_programs(decoder *d)
{
  pop_executable *e = d->e;
  return read_texts(&d->r, &e->programs, &e->num_programs, &e->programs_capacity);
}

static pop_error *read_vertex_types(decoder *d)
{
  pop_executable *e = d->e;
  return read_texts(&d->r, &e->vertex_types, &e->num_vertex_types, &e->vertex_types_capacity);
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
    if (numbers / 2 != MACHINE_NUM_STACKS)
      return metadata_error(&d->r, "%zu stacks, but a tile has %d", numbers / 2,
                            MACHINE_NUM_STACKS);
    for (size_t j = 0; j < MACHINE_NUM_STACKS; ++j) {
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

/* ---- tensors, variables ---- */

pop_error *decode_name(metadata_reader *r, const char **name)
{
  POP_TRY(metadata_read_key(r, 1, "name"));
  return metadata_read_text(r, name);
}

static pop_error *read_type(metadata_reader *r, pop_type *type)
{
  const char *name = "";
  POP_TRY(metadata_read_key(r, 1, "type"));
  POP_TRY(metadata_read_text(r, &name));
  return pop_type_from_name(name, type) ? NULL : metadata_error(r, "there is no type '%s'", name);
}

static pop_error *read_kind(metadata_reader *r, executable_tensor_kind *kind)
{
  const char *name = "";
  POP_TRY(metadata_read_key(r, 1, "kind"));
  POP_TRY(metadata_read_text(r, &name));
  for (int k = 0; k < EXECUTABLE_TENSOR_KINDS; ++k) {
    *kind = (executable_tensor_kind)k;
    if (strcmp(executable_tensor_kind_name(*kind), name) == 0) return NULL;
  }
  return metadata_error(r, "there is no kind '%s'", name);
}

/* The number of elements is a product that must not wrap, nor must their bytes. */
static pop_error *read_shape(decoder *d, const size_t **out, uint32_t *rank, uint64_t *num_elements)
{
  metadata_reader *r = &d->r;
  size_t count = 0;
  uint64_t most = INT64_MAX / 8 / d->e->num_replicas, product = 1;
  POP_TRY(metadata_read_key(r, 1, "shape"));
  POP_TRY(metadata_read_array(r, 1, &count));
  if (count > MAX_RANK)
    return metadata_error(r, "rank %zu, but tensors have at most %d", count, MAX_RANK);
  size_t *shape = executable_new_shape(d->e, count);
  for (size_t i = 0; i < count; ++i) {
    uint64_t size = 0;
    POP_TRY(metadata_read_uint(r, product ? most / product : most, &size));
    shape[i] = (size_t)size;
    product *= size;
  }
  *out = shape;
  *rank = (uint32_t)count;
  *num_elements = product;
  return NULL;
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

static pop_error *read_runs(decoder *d, executable_tensor *tensor)
{
  pop_executable *e = d->e;
  const uint32_t most[] = {d->num_tiles - 1, UINT32_MAX, UINT32_MAX};
  uint64_t bytes = tensor->num_elements * pop_type_bytes(tensor->type), found = 0;
  size_t count = 0;
  POP_TRY(metadata_read_key(&d->r, 1, "runs"));
  POP_TRY(metadata_read_array(&d->r, 3, &count));
  tensor->first_run = e->num_runs;
  tensor->num_runs = count / 3;
  for (size_t i = 0; i < tensor->num_runs; ++i) {
    uint32_t run[3], address = 0;
    POP_TRY(decode_u32s(&d->r, most, run, 3));
    POP_TRY(decode_address(d, run[1], run[2], &address));
    found += run[2];
    pop_push(e->runs, e->num_runs, e->runs_capacity, (executable_run){run[0], address, run[2]});
  }
  if (found == bytes) return NULL;
  return metadata_error(&d->r, "%llu bytes, but its elements have %llu", (unsigned long long)found,
                        (unsigned long long)bytes);
}

/* Those in one graph. */
static pop_error *read_num_replicas(decoder *d, uint32_t *count)
{
  POP_TRY(metadata_read_key(&d->r, 1, "replicas"));
  POP_TRY(metadata_read_u32(&d->r, UINT32_MAX, count));
  if (*count == 1 || (*count > 1 && d->e->num_replicas == 1)) return NULL;
  return metadata_error(&d->r, "%u replicas, in a graph of which %u are loaded", *count,
                        d->e->num_replicas);
}

static pop_error *read_replicas_of_tensor(decoder *d, executable_tensor *tensor)
{
  POP_TRY(read_num_replicas(d, &tensor->num_replicas));
  if (tensor->num_replicas == 1 || (tensor->rank > 0 && tensor->shape[0] == tensor->num_replicas))
    return NULL;
  return metadata_error(&d->r, "%u replicas, but that is not the first dimension",
                        tensor->num_replicas);
}

static pop_error *read_tensors(decoder *d)
{
  size_t count = 0;
  POP_TRY(metadata_read_array(&d->r, 1, &count));
  for (size_t i = 0; i < count; ++i) {
    executable_tensor tensor = {0};
    d->r.entry = i;
    POP_TRY(metadata_read_map_of(&d->r, 6));
    POP_TRY(decode_name(&d->r, &tensor.name));
    POP_TRY(read_kind(&d->r, &tensor.kind));
    POP_TRY(read_type(&d->r, &tensor.type));
    POP_TRY(read_shape(d, &tensor.shape, &tensor.rank, &tensor.num_elements));
    POP_TRY(read_replicas_of_tensor(d, &tensor));
    POP_TRY(read_runs(d, &tensor));
    d->r.keys[1] = NULL;
    pop_push(d->e->tensors, d->e->num_tensors, d->e->tensors_capacity, tensor);
  }
  return NULL;
}

static pop_error *read_blocks(decoder *d)
{
  pop_executable *e = d->e;
  return read_texts(&d->r, &e->blocks, &e->num_blocks, &e->blocks_capacity);
}

/* Where a stream or remote buffer stands in the row of those of all replicas. */
typedef struct replica_place {
  uint32_t replica, num_replicas;
  const char *name;
  uint64_t bytes; /* equal in all */
} replica_place;

/* `last` is the one before, or of 0 replicas. */
static pop_error *read_replica_place(decoder *d, const replica_place *last, replica_place *place)
{
  POP_TRY(metadata_read_key(&d->r, 1, "replica"));
  POP_TRY(metadata_read_u32(&d->r, UINT32_MAX, &place->replica));
  POP_TRY(read_num_replicas(d, &place->num_replicas));
  bool ends = last->replica + 1 >= last->num_replicas, follows = place->replica > 0;
  bool good = place->replica < place->num_replicas && ends == !follows;
  if (good && follows)
    good = place->replica == last->replica + 1 && place->num_replicas == last->num_replicas &&
           place->bytes == last->bytes && strcmp(place->name, last->name) == 0;
  if (good) return NULL;
  return metadata_error(&d->r, "replica %u of %u of '%s' does not follow the one before it",
                        place->replica, place->num_replicas, place->name);
}

static pop_error *check_last_place(const decoder *d, const replica_place *last)
{
  if (last->replica + 1 >= last->num_replicas) return NULL;
  return metadata_error(&d->r, "'%s' has replica %u of %u, and no more", last->name, last->replica,
                        last->num_replicas);
}

static pop_error *read_streams(decoder *d)
{
  size_t count = 0;
  replica_place last = {0};
  POP_TRY(metadata_read_array(&d->r, 1, &count));
  for (size_t i = 0; i < count; ++i) {
    executable_stream stream = {0};
    d->r.entry = i;
    POP_TRY(metadata_read_map_of(&d->r, 9));
    POP_TRY(decode_name(&d->r, &stream.name));
    POP_TRY(read_type(&d->r, &stream.type));
    POP_TRY(metadata_read_key(&d->r, 1, "elements"));
    POP_TRY(
        metadata_read_uint(&d->r, SIZE_MAX / pop_type_bytes(stream.type), &stream.num_elements));
    if (!stream.num_elements) return metadata_error(&d->r, "a stream of no elements");
    POP_TRY(metadata_read_key(&d->r, 1, "to_device"));
    POP_TRY(metadata_read_bool(&d->r, &stream.to_device));
    POP_TRY(metadata_read_key(&d->r, 1, "used"));
    POP_TRY(metadata_read_bool(&d->r, &stream.is_used));
    POP_TRY(metadata_read_key(&d->r, 1, "broadcast"));
    POP_TRY(metadata_read_bool(&d->r, &stream.broadcast));
    POP_TRY(metadata_read_key(&d->r, 1, "depth"));
    POP_TRY(metadata_read_u32(&d->r, MAX_STREAM_DEPTH, &stream.depth));
    if (!stream.depth) return metadata_error(&d->r, "a depth of 0");
    replica_place place = {.name = stream.name,
                           .bytes = stream.num_elements * pop_type_bytes(stream.type)};
    POP_TRY(read_replica_place(d, &last, &place));
    stream.replica = place.replica;
    stream.num_replicas = place.num_replicas;
    last = place;
    d->r.keys[1] = NULL;
    pop_push(d->e->streams, d->e->num_streams, d->e->streams_capacity, stream);
  }
  return check_last_place(d, &last);
}

static pop_error *read_remote_buffer(metadata_reader *r, executable_remote_buffer *buffer)
{
  POP_TRY(metadata_read_map_of(r, 7));
  POP_TRY(decode_name(r, &buffer->name));
  POP_TRY(read_type(r, &buffer->type));
  uint64_t size = pop_type_bytes(buffer->type);
  POP_TRY(metadata_read_key(r, 1, "elements"));
  POP_TRY(metadata_read_uint(r, POP_REMOTE_BUFFER_MAX_ROW_BYTES / size, &buffer->num_elements));
  if (!buffer->num_elements) return metadata_error(r, "rows of no elements");
  POP_TRY(metadata_read_key(r, 1, "repeats"));
  POP_TRY(metadata_read_uint(r, POP_REMOTE_BUFFER_MAX_BYTES / (buffer->num_elements * size),
                             &buffer->repeats));
  if (!buffer->repeats) return metadata_error(r, "a remote buffer of no rows");
  POP_TRY(metadata_read_key(r, 1, "used"));
  return metadata_read_bool(r, &buffer->is_used);
}

static pop_error *read_remote_buffers(decoder *d)
{
  size_t count = 0;
  replica_place last = {0};
  POP_TRY(metadata_read_array(&d->r, 1, &count));
  for (size_t i = 0; i < count; ++i) {
    executable_remote_buffer buffer = {0};
    d->r.entry = i;
    POP_TRY(read_remote_buffer(&d->r, &buffer));
    replica_place place = {.name = buffer.name,
                           .bytes =
                               buffer.repeats * buffer.num_elements * pop_type_bytes(buffer.type)};
    POP_TRY(read_replica_place(d, &last, &place));
    buffer.replica = place.replica;
    buffer.num_replicas = place.num_replicas;
    last = place;
    d->r.keys[1] = NULL;
    pop_push(d->e->remote_buffers, d->e->num_remote_buffers, d->e->remote_buffers_capacity, buffer);
  }
  return check_last_place(d, &last);
}

/* Bytes of the buffer, or of a copy of the stream, that the window is of. */
static pop_error *bytes_of_object(const decoder *d, const executable_window *w, uint64_t *bytes)
{
  if (w->object >= (w->remote ? d->e->num_remote_buffers : d->e->num_streams))
    return metadata_error(&d->r, "there is no %s %u", w->remote ? "remote buffer" : "stream",
                          w->object);
  if (w->remote) {
    const executable_remote_buffer *b = &d->e->remote_buffers[w->object];
    *bytes = b->num_elements * pop_type_bytes(b->type) * b->repeats;
  } else {
    const executable_stream *s = &d->e->streams[w->object];
    *bytes = s->num_elements * pop_type_bytes(s->type);
  }
  return NULL;
}

static pop_error *read_window(decoder *d, executable_window *w)
{
  uint64_t remote = 0, whole = 0;
  POP_TRY(metadata_read_uint(&d->r, 1, &remote));
  w->remote = remote == 1;
  POP_TRY(metadata_read_u32(&d->r, UINT32_MAX, &w->object));
  POP_TRY(bytes_of_object(d, w, &whole));
  POP_TRY(metadata_read_uint(&d->r, whole - 1, &w->begin));
  POP_TRY(metadata_read_uint(&d->r, whole - w->begin, &w->bytes));
  if (!w->bytes) return metadata_error(&d->r, "a window of no bytes");
  return metadata_read_uint(&d->r, (whole - w->begin) / w->bytes, &w->records);
}

static pop_error *read_windows(decoder *d)
{
  size_t count = 0;
  POP_TRY(metadata_read_array(&d->r, 5, &count));
  for (size_t i = 0; i < count / 5; ++i) {
    executable_window window = {0};
    d->r.entry = i;
    POP_TRY(read_window(d, &window));
    pop_push(d->e->windows, d->e->num_windows, d->e->windows_capacity, window);
  }
  return NULL;
}

static pop_error *read_event_kind(metadata_reader *r, executable_event_kind *kind)
{
  const char *name = "";
  POP_TRY(metadata_read_key(r, 1, "kind"));
  POP_TRY(metadata_read_text(r, &name));
  for (int k = 0; k < EXECUTABLE_EVENT_KINDS; ++k) {
    *kind = (executable_event_kind)k;
    if (strcmp(executable_event_kind_name(*kind), name) == 0) return NULL;
  }
  return metadata_error(r, "there is no kind '%s'", name);
}

/* *windows: of the table that events before have. */
static pop_error *read_event(decoder *d, size_t *windows, executable_event *event)
{
  metadata_reader *r = &d->r;
  uint32_t tile = 0;
  POP_TRY(metadata_read_map_of(r, 7));
  POP_TRY(read_event_kind(r, &event->kind));
  POP_TRY(decode_name(r, &event->name));
  POP_TRY(metadata_read_key(r, 1, "message"));
  POP_TRY(metadata_read_text(r, &event->message));
  POP_TRY(metadata_read_key(r, 1, "tensor"));
  POP_TRY(metadata_read_u32(r, UINT32_MAX, &event->tensor));
  bool prints = event->kind == EXECUTABLE_EVENT_PRINT;
  bool has_tensor = prints || event->kind == EXECUTABLE_EVENT_ASSUME_EQUAL;
  executable_tensor_kind wanted = prints ? EXECUTABLE_PRINT : EXECUTABLE_COMPARE;
  if (has_tensor &&
      (event->tensor >= d->e->num_tensors || d->e->tensors[event->tensor].kind != wanted))
    return metadata_error(r, "tensor %u is none that is %s", event->tensor,
                          prints ? "printed" : "compared");
  POP_TRY(metadata_read_key(r, 1, "tile"));
  POP_TRY(metadata_read_u32(r, d->num_tiles, &tile));
  event->tile = tile ? tile - 1 : EXECUTABLE_NONE;
  uint64_t num_windows = 0;
  POP_TRY(metadata_read_key(r, 1, "windows"));
  POP_TRY(metadata_read_uint(r, d->e->num_windows - *windows, &num_windows));
  event->first_window = *windows;
  event->num_windows = (size_t)num_windows;
  *windows += event->num_windows;
  return decode_parts(d, &event->first_part, &event->num_parts);
}

static pop_error *read_events(decoder *d)
{
  size_t count = 0, windows = 0;
  POP_TRY(metadata_read_array(&d->r, 1, &count));
  for (size_t i = 0; i < count; ++i) {
    executable_event event = {0};
    d->r.entry = i;
    POP_TRY(read_event(d, &windows, &event));
    d->r.keys[1] = NULL;
    pop_push(d->e->events, d->e->num_events, d->e->events_capacity, event);
  }
  return NULL;
}

/* *end: of the interval before, then of this one. */
static pop_error *read_interval(decoder *d, const executable_variable *v, uint64_t num_elements,
                                uint64_t *end)
{
  executable_interval interval;
  uint64_t gap = 0, count = 0;
  uint32_t offset = 0;
  POP_TRY(metadata_read_uint(&d->r, num_elements - *end, &gap));
  POP_TRY(metadata_read_uint(&d->r, num_elements - *end - gap, &count));
  POP_TRY(metadata_read_u32(&d->r, d->num_tiles - 1, &interval.tile));
  POP_TRY(metadata_read_u32(&d->r, UINT32_MAX, &offset));
  POP_TRY(decode_address(d, offset, count * pop_type_bytes(v->type), &interval.address));
  interval.begin = *end + gap;
  *end = interval.end = interval.begin + count;
  pop_push(d->e->intervals, d->e->num_intervals, d->e->intervals_capacity, interval);
  return NULL;
}

static pop_error *read_intervals(decoder *d, executable_variable *v, uint64_t num_elements)
{
  size_t count = 0;
  POP_TRY(metadata_read_key(&d->r, 1, "intervals"));
  POP_TRY(metadata_read_array(&d->r, 4, &count));
  v->first_interval = d->e->num_intervals;
  v->num_intervals = count / 4;
  uint64_t end = 0;
  for (size_t i = 0; i < v->num_intervals; ++i) POP_TRY(read_interval(d, v, num_elements, &end));
  return NULL;
}

static pop_error *read_variables(decoder *d)
{
  size_t count = 0;
  POP_TRY(metadata_read_array(&d->r, 1, &count));
  for (size_t i = 0; i < count; ++i) {
    executable_variable v = {0};
    uint64_t num_elements = 0;
    d->r.entry = i;
    POP_TRY(metadata_read_map_of(&d->r, 5));
    POP_TRY(decode_name(&d->r, &v.name));
    POP_TRY(read_type(&d->r, &v.type));
    POP_TRY(read_shape(d, &v.shape, &v.rank, &num_elements));
    POP_TRY(metadata_read_key(&d->r, 1, "constant"));
    POP_TRY(metadata_read_bool(&d->r, &v.constant));
    POP_TRY(read_intervals(d, &v, num_elements));
    d->r.keys[1] = NULL;
    pop_push(d->e->variables, d->e->num_variables, d->e->variables_capacity, v);
  }
  return NULL;
}

/* ---- vertices ---- */

static pop_error *read_vertex_row(decoder *d)
{
  pop_executable *e = d->e;
  uint32_t most[] = {0, UINT32_MAX, EXECUTABLE_ON_ALL_WORKERS, UINT32_MAX}, vertex[4];
  size_t count = 0;
  POP_TRY(metadata_read_array(&d->r, 5, &count));
  if (count) POP_TRY(decode_greatest_number(&d->r, e->num_vertex_types, "vertex type", &most[0]));
  if (count / 5 > UINT32_MAX) return metadata_error(&d->r, "too many vertices");
  executable_row row = {e->num_vertices, (uint32_t)(count / 5)};
  for (size_t i = 0; i < row.count; ++i) {
    uint64_t cycles = 0;
    POP_TRY(decode_u32s(&d->r, most, vertex, 4));
    POP_TRY(metadata_read_uint(&d->r, UINT64_MAX, &cycles));
    uint32_t number = vertex[3] ? vertex[3] - 1 : EXECUTABLE_NONE;
    pop_push(e->vertices, e->num_vertices, e->vertices_capacity,
             (executable_vertex){vertex[0], vertex[1], vertex[2], number, cycles});
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
