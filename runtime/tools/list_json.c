/* popexec --list as JSON. */
#include "list_json.h"

#include "values.h"

static void put_shape(values *v, const size_t *shape, size_t rank)
{
  values_begin_list(v, "shape");
  for (size_t d = 0; d < rank; ++d) values_put_count(v, NULL, shape[d]);
  values_end(v);
}

/* Opens an item with the properties that all have. Items that go both ways have no
 * direction: NULL. */
static void begin_item(values *v, const char *name, const char *direction, pop_type type,
                       const size_t *shape, size_t rank, uint32_t num_replicas)
{
  values_begin_map(v, NULL);
  values_put_text(v, "name", name);
  if (direction) values_put_text(v, "direction", direction);
  values_put_text(v, "type", pop_type_name(type));
  put_shape(v, shape, rank);
  values_put_count(v, "replicas", num_replicas);
}

static pop_error *put_handles(values *v, const pop_executable *executable)
{
  values_begin_list(v, "handles");
  for (size_t i = 0; i < pop_executable_num_handles(executable); ++i) {
    pop_handle_info info;
    POP_TRY(pop_executable_handle(executable, i, &info));
    begin_item(v, info.name, info.read ? "read" : "write", info.type, info.shape, info.rank,
               info.num_replicas);
    values_put_count(v, "bytes", info.bytes);
    values_end(v);
  }
  values_end(v);
  return NULL;
}

static pop_error *put_streams(values *v, const pop_executable *executable)
{
  values_begin_list(v, "streams");
  for (size_t i = 0; i < pop_executable_num_streams(executable); ++i) {
    pop_stream_info info;
    POP_TRY(pop_executable_stream(executable, i, &info));
    begin_item(v, info.name, info.to_device ? "in" : "out", info.type, &info.num_elements, 1,
               info.num_replicas);
    values_put_bool(v, "broadcast", info.broadcast);
    values_put_count(v, "bytesOfCopy", info.num_elements * pop_type_bytes(info.type));
    values_end(v);
  }
  values_end(v);
  return NULL;
}

static pop_error *put_remote_buffers(values *v, const pop_executable *executable)
{
  values_begin_list(v, "remoteBuffers");
  for (size_t i = 0; i < pop_executable_num_remote_buffers(executable); ++i) {
    pop_remote_buffer_info info;
    POP_TRY(pop_executable_remote_buffer(executable, i, &info));
    const size_t shape[] = {info.repeats, info.num_elements};
    begin_item(v, info.name, NULL, info.type, shape, 2, info.num_replicas);
    values_put_count(v, "bytesOfRow", info.num_elements * pop_type_bytes(info.type));
    values_end(v);
  }
  values_end(v);
  return NULL;
}

static void put_target(values *v, const pop_target *target)
{
  values_begin_map(v, "target");
  values_put_text(v, "name", target->name);
  values_put_count(v, "ipus", target->num_ipus);
  values_put_count(v, "tiles", pop_target_num_tiles(target));
  values_end(v);
}

static pop_error *put_all(values *v, const pop_executable *executable)
{
  values_begin_map(v, NULL);
  put_target(v, pop_executable_target(executable));
  values_put_count(v, "replicas", pop_executable_num_replicas(executable));
  values_put_text(v, "compiledBy", pop_executable_version(executable));
  values_begin_list(v, "programs");
  for (size_t i = 0; i < pop_executable_num_programs(executable); ++i)
    values_put_text(v, NULL, pop_executable_program_name(executable, i));
  values_end(v);
  POP_TRY(put_handles(v, executable));
  POP_TRY(put_streams(v, executable));
  POP_TRY(put_remote_buffers(v, executable));
  values_end(v);
  return NULL;
}

pop_error *list_json(const pop_executable *executable, bool pretty)
{
  values v = {0};
  pop_error *error = put_all(&v, executable);
  if (!error) return values_print(&v, pretty);
  pop_bytes_free(&v);
  return error;
}
