/* Reads metadata from CBOR: tensors and variables, and what is exchanged between tiles and host. */
#include "executable/decode.h"

#include <populus/remote_buffer.h>

#include <string.h>

enum { MAX_RANK = 16, MAX_STREAM_DEPTH = 1024 };

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

/* The number of elements is a product. Neither it nor the number of bytes may overflow. */
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
    pop_push(e->runs, e->num_runs, e->runs_capacity, (memory_range){run[0], address, run[2]});
  }
  if (found == bytes) return NULL;
  return metadata_error(&d->r, "%llu bytes, but its elements have %llu", (unsigned long long)found,
                        (unsigned long long)bytes);
}

/* The number of replicas in one graph. */
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

pop_error *read_tensors(decoder *d)
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

/* The place of a stream or remote buffer among those of all replicas. */
typedef struct replica_place {
  uint32_t replica, num_replicas;
  const char *name;
  uint64_t bytes; /* the same in all replicas */
} replica_place;

/* `last`: the place before this one, or one of 0 replicas. */
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

/* A copy of the stream in all replicas together is in the host's memory. */
static pop_error *check_bytes(const decoder *d, const replica_place *place)
{
  uint64_t replicas = (uint64_t)place->num_replicas * d->e->num_replicas;
  if (place->bytes <= INT64_MAX / replicas) return NULL;
  return metadata_error(&d->r, "copies of %llu bytes in each of %llu replicas",
                        (unsigned long long)place->bytes, (unsigned long long)replicas);
}

pop_error *read_streams(decoder *d)
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
    POP_TRY(metadata_read_key(&d->r, 1, "to_device"));
    POP_TRY(metadata_read_bool(&d->r, &stream.to_device));
    POP_TRY(metadata_read_key(&d->r, 1, "used"));
    POP_TRY(metadata_read_bool(&d->r, &stream.is_used));
    if (stream.is_used && !stream.num_elements)
      return metadata_error(&d->r, "copies of a stream of no elements");
    POP_TRY(metadata_read_key(&d->r, 1, "broadcast"));
    POP_TRY(metadata_read_bool(&d->r, &stream.broadcast));
    POP_TRY(metadata_read_key(&d->r, 1, "depth"));
    POP_TRY(metadata_read_u32(&d->r, MAX_STREAM_DEPTH, &stream.depth));
    if (!stream.depth) return metadata_error(&d->r, "a depth of 0");
    replica_place place = {.name = stream.name,
                           .bytes = stream.num_elements * pop_type_bytes(stream.type)};
    POP_TRY(read_replica_place(d, &last, &place));
    POP_TRY(check_bytes(d, &place));
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

pop_error *read_remote_buffers(decoder *d)
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

/* The size of the window's remote buffer, or of a copy of its stream. */
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
  if (!whole)
    return metadata_error(&d->r, "a window of stream %u, which has no elements", w->object);
  POP_TRY(metadata_read_uint(&d->r, whole - 1, &w->begin));
  POP_TRY(metadata_read_uint(&d->r, whole - w->begin, &w->bytes));
  if (!w->bytes) return metadata_error(&d->r, "a window of no bytes");
  POP_TRY(metadata_read_uint(&d->r, (whole - w->begin) / w->bytes, &w->records));
  return w->records ? NULL : metadata_error(&d->r, "a window of no records");
}

pop_error *read_windows(decoder *d)
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

/* *windows: the number of windows used by earlier events. */
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

pop_error *read_events(decoder *d)
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

/* *end: the end of the interval before; then of this one. */
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

pop_error *read_variables(decoder *d)
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
