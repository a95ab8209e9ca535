/* What a host program reads, writes and connects by name. In a replicated graph each replica has
 * its own: it has a machine of its own, or all replicas are in one graph (executable.h). */
#include "engine/engine_private.h"
#include "engine/find_name.h"

#include <stdlib.h>
#include <string.h>

/* The place of a replica: its machine, perhaps of another rank, and its number among the streams
 * and remote buffers of one name. */
typedef struct replica_place {
  replica *in;
  uint32_t number;
} replica_place;

/* The rank that has a replica. */
static uint32_t rank_of(const pop_engine *engine, uint32_t replica)
{
  return replica / engine->num_own;
}

static replica_place place_replica(pop_engine *engine, uint32_t number)
{
  if (engine->num_replicas > 1) return (replica_place){&engine->replicas[number], 0};
  return (replica_place){&engine->replicas[0], number};
}

static pop_error *check_replica(const pop_engine *engine, const char *call, const char *handle,
                                uint32_t number, uint32_t in_graph)
{
  uint32_t count = engine->num_replicas * in_graph;
  if (number < count) return NULL;
  return pop_error_new(POP_ERROR_INDEX, "%s: there is no replica %u: '%s' is there for %u", call,
                       number, handle, count);
}

/* ---- streams ---- */

static pop_error *connect_stream(pop_engine *engine, const char *handle, void *begin, void *end)
{
  static const char call[] = "pop_engine_connect_stream";
  size_t stream;
  uint32_t in_graph;
  POP_TRY(streams_find(engine->replicas[0].streams, call, handle, &stream, &in_graph));
  uint32_t count = engine->num_replicas * in_graph;
  for (uint32_t r = 0; r < count; r++) {
    replica_place place = place_replica(engine, r);
    POP_TRY(streams_connect(place.in->streams, call, stream + place.number, begin, end,
                            (stream_share){r, count}));
  }
  return NULL;
}

pop_error *pop_engine_connect_stream(pop_engine *engine, const char *handle, void *begin, void *end)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(engine_enter(engine, "connect a stream"));
  return engine_leave(engine, connect_stream(engine, handle, begin, end));
}

static pop_error *connect_stream_callback(pop_engine *engine, const char *handle,
                                          const pop_stream_callback *callback)
{
  static const char call[] = "pop_engine_connect_stream_callback";
  size_t stream;
  uint32_t in_graph;
  POP_TRY(streams_find(engine->replicas[0].streams, call, handle, &stream, &in_graph));
  callback_turn *turn = NULL;
  for (uint32_t r = 0; r < engine->num_replicas * in_graph; r++) {
    replica_place place = place_replica(engine, r);
    if (!callback || !callback->context) turn = NULL; /* these may be called at the same time */
    POP_TRY(
        streams_connect_callback(place.in->streams, call, stream + place.number, callback, &turn));
  }
  return NULL;
}

pop_error *pop_engine_connect_stream_callback(pop_engine *engine, const char *handle,
                                              const pop_stream_callback *callback)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(engine_enter(engine, "connect a stream"));
  return engine_leave(engine, connect_stream_callback(engine, handle, callback));
}

/* Finds the stream of one replica, which must not be broadcast. */
static pop_error *find_own_stream(pop_engine *engine, const char *call, const char *handle,
                                  uint32_t number, streams **in, size_t *stream)
{
  uint32_t in_graph;
  POP_TRY(streams_find(engine->replicas[0].streams, call, handle, stream, &in_graph));
  POP_TRY(check_replica(engine, call, handle, number, in_graph));
  replica_place place = place_replica(engine, number);
  *in = place.in->streams;
  *stream += place.number;
  return streams_check_own(*in, call, *stream);
}

static pop_error *connect_replica_stream(pop_engine *engine, const char *handle, uint32_t replica,
                                         void *begin, void *end)
{
  static const char call[] = "pop_engine_connect_replica_stream";
  streams *in;
  size_t stream;
  POP_TRY(find_own_stream(engine, call, handle, replica, &in, &stream));
  return streams_connect(in, call, stream, begin, end, (stream_share){0, 1});
}

pop_error *pop_engine_connect_replica_stream(pop_engine *engine, const char *handle,
                                             uint32_t replica, void *begin, void *end)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(engine_enter(engine, "connect a stream"));
  return engine_leave(engine, connect_replica_stream(engine, handle, replica, begin, end));
}

pop_error *engine_check_own_stream(pop_engine *engine, const char *call, const char *handle,
                                   uint32_t replica)
{
  streams *in;
  size_t stream;
  return find_own_stream(engine, call, handle, replica, &in, &stream);
}

pop_error *engine_connect_callback(pop_engine *engine, const char *handle, uint32_t replica,
                                   const pop_stream_callback *callback, const void *user)
{
  static const char call[] = "pop_engine_connect_replica_stream_callback";
  streams *in;
  size_t stream;
  POP_TRY(find_own_stream(engine, call, handle, replica, &in, &stream));
  callback_turn *turn = NULL;
  POP_TRY(streams_connect_callback(in, call, stream, callback, &turn));
  streams_set_user(in, stream, user);
  return NULL;
}

pop_error *pop_engine_connect_replica_stream_callback(pop_engine *engine, const char *handle,
                                                      uint32_t replica,
                                                      const pop_stream_callback *callback)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(engine_enter(engine, "connect a stream"));
  return engine_leave(engine, engine_connect_callback(engine, handle, replica, callback, NULL));
}

/* ---- tensors ---- */

void engine_name_handles(pop_engine *engine)
{
  const pop_executable *e = engine->executable;
  for (size_t i = 0; i < e->num_tensors; i++) {
    const executable_tensor *t = &e->tensors[i];
    if (t->kind != EXECUTABLE_READ && t->kind != EXECUTABLE_WRITE) continue;
    pop_name_table *names = &engine->handles[t->kind == EXECUTABLE_READ];
    if (pop_name_table_find(names, t->name) == POP_NAME_NONE)
      pop_name_table_add(names, t->name, (uint32_t)i);
  }
}

static pop_error *find_handle(const pop_engine *engine, const char *handle, bool read,
                              const executable_tensor **found)
{
  const pop_executable *e = engine->executable;
  executable_tensor_kind kind = read ? EXECUTABLE_READ : EXECUTABLE_WRITE;
  uint32_t known = handle ? pop_name_table_find(&engine->handles[read], handle) : POP_NAME_NONE;
  if (known != POP_NAME_NONE) {
    *found = &e->tensors[known];
    return NULL;
  }
  const char **names = pop_xcalloc(e->num_tensors + 1, sizeof *names);
  for (size_t i = 0; i < e->num_tensors; ++i)
    names[i] = e->tensors[i].kind == kind ? e->tensors[i].name : NULL;
  size_t number = 0;
  pop_error *error =
      find_name(POP_ERROR_UNKNOWN_HANDLE, read ? "host read handle" : "host write handle", handle,
                names, e->num_tensors, &number);
  free(names);
  *found = error ? NULL : &e->tensors[number];
  return error;
}

static size_t bytes_of_replica(const executable_tensor *tensor)
{
  return executable_tensor_bytes(tensor) / tensor->num_replicas;
}

static pop_error *wrong_size(const executable_tensor *tensor, size_t bytes, const char *replicas)
{
  size_t wanted = bytes_of_replica(tensor);
  return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                       "host %s handle '%s' has %zu bytes (%zu elements of type %s)%s, not %zu",
                       tensor->kind == EXECUTABLE_READ ? "read" : "write", tensor->name, wanted,
                       wanted / pop_type_bytes(tensor->type), pop_type_name(tensor->type), replicas,
                       bytes);
}

/* The size must be that of all replicas, or for a write that of one. */
static pop_error *check_size(const pop_engine *engine, const executable_tensor *tensor,
                             size_t bytes)
{
  bool read = tensor->kind == EXECUTABLE_READ;
  uint32_t num_replicas = engine->num_replicas * tensor->num_replicas;
  size_t one = bytes_of_replica(tensor);
  bool for_all = bytes == one * num_replicas, for_each = !read && bytes == one;
  if (for_all || for_each) return NULL;
  char replicas[64] = "";
  if (num_replicas > 1)
    snprintf(replicas, sizeof replicas, " in each of %u replicas%s", num_replicas,
             read ? "" : "; give them once or for all");
  return wrong_size(tensor, bytes, replicas);
}

static pop_error *read_tensor(pop_engine *engine, const char *handle, void *data, size_t bytes)
{
  const executable_tensor *tensor;
  POP_TRY(engine_check_loaded(engine, "read a tensor"));
  POP_TRY(find_handle(engine, handle, true, &tensor));
  POP_TRY(check_size(engine, tensor, bytes));
  return engine_read_all_replicas(engine, NULL, tensor, data);
}

pop_error *pop_engine_read_tensor(pop_engine *engine, const char *handle, void *data, size_t bytes)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(object_check_list(data, bytes, "bytes", __func__));
  POP_TRY(engine_enter(engine, "read a tensor"));
  return engine_leave(engine, read_tensor(engine, handle, data, bytes));
}

/* Writes one replica's elements to all replicas in the graph. */
static pop_error *write_repeated(pop_engine *engine, const executable_tensor *tensor,
                                 const void *data, size_t bytes)
{
  uint8_t *all = malloc(bytes * tensor->num_replicas + 1);
  if (!all)
    return pop_error_new(POP_ERROR_MEMORY, "no memory for tensor '%s' (%zu bytes in %u replicas)",
                         tensor->name, bytes, tensor->num_replicas);
  for (uint32_t r = 0; r < tensor->num_replicas; r++) memcpy(all + r * bytes, data, bytes);
  pop_error *error = engine_write_host_tensor(engine, 0, tensor, all);
  free(all);
  return error;
}

static pop_error *write_tensor(pop_engine *engine, const char *handle, const void *data,
                               size_t bytes)
{
  const executable_tensor *tensor;
  POP_TRY(engine_check_loaded(engine, "write a tensor"));
  POP_TRY(find_handle(engine, handle, false, &tensor));
  POP_TRY(check_size(engine, tensor, bytes));
  size_t loaded = executable_tensor_bytes(tensor), step = bytes == loaded ? 0 : loaded;
  if (bytes < loaded) return write_repeated(engine, tensor, data, bytes);
  for (uint32_t r = engine->first; r < engine->first + engine->num_own; r++)
    POP_TRY(engine_write_host_tensor(engine, r, tensor, (const uint8_t *)data + r * step));
  return NULL;
}

pop_error *pop_engine_write_tensor(pop_engine *engine, const char *handle, const void *data,
                                   size_t bytes)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(object_check_list(data, bytes, "bytes", __func__));
  POP_TRY(engine_enter(engine, "write a tensor"));
  return engine_leave(engine, write_tensor(engine, handle, data, bytes));
}

/* Reads or writes one replica's elements, of a graph that has all replicas. */
static pop_error *access_part(pop_engine *engine, const executable_tensor *tensor, uint32_t number,
                              void *to, const void *from)
{
  size_t one = bytes_of_replica(tensor);
  uint8_t *all = malloc(executable_tensor_bytes(tensor) + 1);
  if (!all)
    return pop_error_new(POP_ERROR_MEMORY, "no memory for tensor '%s' (%zu bytes in %u replicas)",
                         tensor->name, one, tensor->num_replicas);
  pop_error *error = engine_read_host_tensor(engine, 0, tensor, all);
  if (!error && to) memcpy(to, all + number * one, one);
  if (!error && from) {
    memcpy(all + number * one, from, one);
    error = engine_write_host_tensor(engine, 0, tensor, all);
  }
  free(all);
  return error;
}

static pop_error *find_part(pop_engine *engine, const char *call, const char *handle, bool read,
                            uint32_t replica, size_t bytes, const executable_tensor **tensor)
{
  POP_TRY(find_handle(engine, handle, read, tensor));
  POP_TRY(check_replica(engine, call, handle, replica, (*tensor)->num_replicas));
  return bytes == bytes_of_replica(*tensor) ? NULL : wrong_size(*tensor, bytes, " in one replica");
}

static pop_error *read_replica_tensor(pop_engine *engine, const char *handle, uint32_t replica,
                                      void *data, size_t bytes)
{
  static const char call[] = "pop_engine_read_replica_tensor";
  const executable_tensor *tensor;
  POP_TRY(engine_check_loaded(engine, "read a tensor"));
  POP_TRY(find_part(engine, call, handle, true, replica, bytes, &tensor));
  if (tensor->num_replicas > 1) return access_part(engine, tensor, replica, data, NULL);
  pop_error *error =
      replicas_has(engine, replica) ? engine_read_host_tensor(engine, replica, tensor, data) : NULL;
  if (!engine->ranks) return error;
  return ranks_broadcast(engine->ranks, "reading a tensor of one replica", error,
                         rank_of(engine, replica), data, bytes);
}

pop_error *pop_engine_read_replica_tensor(pop_engine *engine, const char *handle, uint32_t replica,
                                          void *data, size_t bytes)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(object_check_list(data, bytes, "bytes", __func__));
  POP_TRY(engine_enter(engine, "read a tensor"));
  return engine_leave(engine, read_replica_tensor(engine, handle, replica, data, bytes));
}

static pop_error *write_replica_tensor(pop_engine *engine, const char *handle, uint32_t replica,
                                       const void *data, size_t bytes)
{
  static const char call[] = "pop_engine_write_replica_tensor";
  const executable_tensor *tensor;
  POP_TRY(engine_check_loaded(engine, "write a tensor"));
  POP_TRY(find_part(engine, call, handle, false, replica, bytes, &tensor));
  if (tensor->num_replicas > 1) return access_part(engine, tensor, replica, NULL, data);
  if (!replicas_has(engine, replica)) return NULL;
  return engine_write_host_tensor(engine, replica, tensor, data);
}

pop_error *pop_engine_write_replica_tensor(pop_engine *engine, const char *handle, uint32_t replica,
                                           const void *data, size_t bytes)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(object_check_list(data, bytes, "bytes", __func__));
  POP_TRY(engine_enter(engine, "write a tensor"));
  return engine_leave(engine, write_replica_tensor(engine, handle, replica, data, bytes));
}

/* ---- remote buffers ---- */

/* Finds a row. For a replica of another rank it is the row of this rank's first replica: all are
 * alike. */
static pop_error *find_row(pop_engine *engine, const char *call, const char *handle, size_t row,
                           uint32_t number, size_t bytes, uint8_t **memory)
{
  size_t buffer;
  uint32_t in_graph;
  POP_TRY(remote_buffers_find(engine->replicas[engine->first].remote_buffers, call, handle, &buffer,
                              &in_graph));
  POP_TRY(check_replica(engine, call, handle, number, in_graph));
  bool is_own = engine->num_replicas == 1 || replicas_has(engine, number);
  replica_place place = place_replica(engine, is_own ? number : engine->first);
  return remote_buffers_row(place.in->remote_buffers, call, buffer + place.number, row, bytes,
                            memory);
}

static pop_error *copy_to_remote_buffer(pop_engine *engine, const char *handle, size_t row,
                                        uint32_t replica, const void *data, size_t bytes)
{
  static const char call[] = "pop_engine_copy_to_remote_buffer";
  uint8_t *memory;
  POP_TRY(engine_check_loaded(engine, "write a remote buffer"));
  POP_TRY(find_row(engine, call, handle, row, replica, bytes, &memory));
  if (engine->num_replicas == 1 || replicas_has(engine, replica)) memcpy(memory, data, bytes);
  return NULL;
}

pop_error *pop_engine_copy_to_remote_buffer(pop_engine *engine, const char *handle, size_t row,
                                            uint32_t replica, const void *data, size_t bytes)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(object_check_list(data, bytes, "bytes", __func__));
  POP_TRY(engine_enter(engine, "write a remote buffer"));
  return engine_leave(engine, copy_to_remote_buffer(engine, handle, row, replica, data, bytes));
}

static pop_error *copy_from_remote_buffer(pop_engine *engine, const char *handle, size_t row,
                                          uint32_t replica, void *data, size_t bytes)
{
  static const char call[] = "pop_engine_copy_from_remote_buffer";
  uint8_t *memory;
  POP_TRY(engine_check_loaded(engine, "read a remote buffer"));
  POP_TRY(find_row(engine, call, handle, row, replica, bytes, &memory));
  if (engine->num_replicas == 1 || replicas_has(engine, replica)) memcpy(data, memory, bytes);
  if (!engine->ranks) return NULL;
  return ranks_broadcast(engine->ranks, "reading a remote buffer", NULL, rank_of(engine, replica),
                         data, bytes);
}

pop_error *pop_engine_copy_from_remote_buffer(pop_engine *engine, const char *handle, size_t row,
                                              uint32_t replica, void *data, size_t bytes)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(object_check_list(data, bytes, "bytes", __func__));
  POP_TRY(engine_enter(engine, "read a remote buffer"));
  return engine_leave(engine, copy_from_remote_buffer(engine, handle, row, replica, data, bytes));
}
