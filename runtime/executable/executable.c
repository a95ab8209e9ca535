/* Lifetime of executables, and queries. */
#include "executable/executable.h"

#include <errno.h>
#include <limits.h>
#include <populus/cache_folder.h>
#include <populus/executable.h>
#include <populus/out_of_memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *executable_tensor_kind_name(executable_tensor_kind kind)
{
  static const char *const names[EXECUTABLE_TENSOR_KINDS] = {[EXECUTABLE_WRITE] = "write",
                                                             [EXECUTABLE_READ] = "read",
                                                             [EXECUTABLE_PRINT] = "print",
                                                             [EXECUTABLE_COMPARE] = "compare",
                                                             [EXECUTABLE_REPLICA_INDEX] =
                                                                 "replica"};
  return names[kind];
}

const char *executable_event_kind_name(executable_event_kind kind)
{
  static const char *const names[] = {"print", "abort", "exchange", "compare", "branches", "flush"};
  return names[kind];
}

const char *executable_step_tag(executable_step_kind kind)
{
#define STEP_TAG(id, tag) [id] = (tag),
  static const char *const tags[] = {EXECUTABLE_STEPS(STEP_TAG)};
#undef STEP_TAG
  return tags[kind];
}

const char *executable_event_category(const pop_executable *e, uint32_t event)
{
  bool remote = false, stream = false;
  for (size_t i = 0; i < e->events[event].num_windows; i++)
    *(e->windows[e->events[event].first_window + i].remote ? &remote : &stream) = true;
  return remote && stream ? "Mixed" : remote ? "RemoteBuffer" : "Host";
}

size_t *executable_new_shape(pop_executable *executable, size_t rank)
{
  size_t *shape = pop_arena_alloc(executable->arena, (rank + 1) * sizeof *shape);
  shape[0] = executable->num_replicas;
  return shape + 1;
}

pop_executable *executable_new(void)
{
  pop_executable *e = object_new(OBJECT_EXECUTABLE, sizeof *e);
  e->num_replicas = 1;
  e->arena = pop_arena_new();
  return e;
}

pop_executable *executable_retain(pop_executable *executable)
{
  object_hold(&executable->base);
  return executable;
}

static void destroy(pop_executable *e)
{
  if (e->images.free) e->images.free(e->images.context);
  if (e->traced) e->free_traced(e->traced);
  void *const arrays[] = {
      e->file,         e->options,       e->run_options, e->programs,       e->tensors,
      e->runs,         e->events,        e->blocks,      e->streams,        e->remote_buffers,
      e->windows,      e->variables,     e->intervals,   e->vertex_types,   e->vertex_rows,
      e->vertices,     e->compute_sets,  e->works,       e->memory_rows,    e->stack_rows,
      e->tiles,        e->digests,       e->phase_times, e->exchanges,      e->exchange_parts,
      e->steps,        e->step_children, e->functions,   e->control_steps,  e->measures,
      e->acknowledged, e->owned_archive, e->needs,       e->chip_estimates, e->our_estimates,
  };
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) free(arrays[i]);
  pop_arena_free(e->arena);
  object_delete(&e->base);
}

void executable_release(pop_executable *e)
{
  if (e && object_drop(&e->base)) destroy(e);
}

void pop_executable_free(pop_executable *e)
{
  if (object_release(e, OBJECT_EXECUTABLE, __func__)) destroy(e);
}

typedef struct save_request {
  const pop_executable *executable;
  const char *path;
  pop_error *(*open)(const char *path, pop_archive_writer **writer);
} save_request;

static pop_error *save(void *context)
{
  const save_request *request = context;
  const executable_images *images = &request->executable->images;
  pop_archive_writer *writer;
  if (request->executable->cpu)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "cannot save '%s': the executable is for the CPU, which has no tile "
                         "images; compile the graph for an IPU target",
                         request->path);
  POP_TRY(request->open(request->path, &writer));
  pop_error *error = images->save(images->context, request->executable, writer);
  if (!error) return pop_archive_writer_commit(writer);
  pop_archive_writer_abort(writer);
  return error;
}

pop_error *executable_save_entry(const pop_executable *executable, const char *path)
{
  save_request request = {executable, path, pop_cache_entry_open_archive};
  return pop_with_memory("saving the executable", save, &request);
}

pop_error *pop_executable_save(const pop_executable *executable, const char *path)
{
  POP_TRY(object_check(executable, OBJECT_EXECUTABLE, __func__));
  POP_TRY(object_check_argument(path, "the path", __func__));
  save_request request = {executable, path, pop_archive_writer_open};
  return pop_with_memory("saving the executable", save, &request);
}

static pop_error *copy_file(const char *path, FILE *stream)
{
  FILE *file = fopen(path, "rb");
  if (!file) return pop_error_errno(errno, "pop_executable_write: cannot read '%s'", path);
  enum { CHUNK = 1 << 16 };
  char *chunk = pop_xmalloc(CHUNK);
  pop_error *error = NULL;
  while (!error && !feof(file)) {
    size_t count = fread(chunk, 1, CHUNK, file);
    if (ferror(file))
      error = pop_error_errno(EIO, "pop_executable_write: cannot read '%s'", path);
    else if (fwrite(chunk, 1, count, stream) != count)
      error = pop_error_errno(errno, "pop_executable_write: cannot write to the stream");
  }
  if (!error && fflush(stream) != 0)
    error = pop_error_errno(errno, "pop_executable_write: cannot write to the stream");
  free(chunk);
  fclose(file);
  return error;
}

pop_error *pop_executable_write(const pop_executable *executable, FILE *stream)
{
  POP_TRY(object_check(executable, OBJECT_EXECUTABLE, __func__));
  POP_TRY(object_check_argument(stream, "the stream", __func__));
  const char *folder = secure_getenv("TMPDIR");
  char path[PATH_MAX];
  int length =
      snprintf(path, sizeof path, "%s/populus-XXXXXX", folder && *folder ? folder : "/tmp");
  if (length < 0 || (size_t)length >= sizeof path)
    return pop_error_errno(ENAMETOOLONG, "pop_executable_write: the path in TMPDIR");
  int fd = mkstemp(path);
  if (fd < 0) return pop_error_errno(errno, "pop_executable_write: cannot make '%s'", path);
  close(fd);
  pop_error *error = pop_executable_save(executable, path);
  if (!error) error = copy_file(path, stream);
  unlink(path);
  return error;
}

/* ---- vertices ---- */

static const executable_work *find_work(const pop_executable *e, const executable_compute_set *set,
                                        uint32_t tile)
{
  size_t low = 0, high = set->num_works;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (e->works[set->first_work + middle].tile < tile)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == set->num_works) return NULL;
  const executable_work *work = &e->works[set->first_work + low];
  return work->tile == tile ? work : NULL;
}

/* A worker may run a supervisor's vertex: the supervisor's vertex may have started it. */
static bool can_run(const executable_vertex *vertex, uint32_t context)
{
  return vertex->worker == context || vertex->worker == EXECUTABLE_ON_SUPERVISOR ||
         (vertex->worker == EXECUTABLE_ON_ALL_WORKERS && context != TILE_SUPERVISOR);
}

static const executable_vertex *find_in_work(const pop_executable *e, const executable_work *work,
                                             uint32_t context, uint32_t vertex_state)
{
  const executable_row *row = &e->vertex_rows[work->row];
  uint32_t offset = vertex_state - work->state_address;
  for (size_t i = 0; i < row->count; ++i) {
    const executable_vertex *vertex = &e->vertices[row->first + i];
    if (vertex->state_offset == offset && can_run(vertex, context)) return vertex;
  }
  return NULL;
}

bool executable_find_vertex(const pop_executable *e, uint32_t tile, uint32_t context,
                            uint32_t vertex_state, executable_found_vertex *found)
{
  for (size_t s = 0; s < e->num_compute_sets; ++s) {
    const executable_compute_set *set = &e->compute_sets[s];
    const executable_work *work = find_work(e, set, tile);
    const executable_vertex *v = work ? find_in_work(e, work, context, vertex_state) : NULL;
    if (!v) continue;
    *found = (executable_found_vertex){
        .type = e->vertex_types[v->type],
        .compute_set = set->name,
        .set = (uint32_t)s,
        .number = v->number == EXECUTABLE_NONE ? EXECUTABLE_NONE : work->first_number + v->number,
    };
    return true;
  }
  return false;
}

size_t executable_num_measurable(const pop_executable *e, measure_kind kind)
{
  const size_t counts[MEASURE_KINDS] = {
      [MEASURE_COMPUTE_SET] = e->num_compute_sets,
      [MEASURE_VERTICES] = e->num_works,
      [MEASURE_EXCHANGE] = e->num_exchanges,
      [MEASURE_HOST_EXCHANGE] = e->num_events,
      [MEASURE_BRANCHES] = 1,
      [MEASURE_BLOCKS] = 1,
  };
  return counts[kind];
}

uint32_t executable_num_calls(const pop_executable *e, const executable_work *work)
{
  const executable_row *row = &e->vertex_rows[work->row];
  uint32_t calls = 0;
  for (size_t i = 0; i < row->count; ++i)
    calls += e->vertices[row->first + i].worker == EXECUTABLE_ON_ALL_WORKERS
                 ? e->target.num_worker_contexts
                 : 1;
  return calls;
}

/* ---- queries ---- */

const pop_target *pop_executable_target(const pop_executable *executable)
{
  if (!object_there(executable, OBJECT_EXECUTABLE, __func__)) return NULL;
  return &executable->target;
}

const char *pop_executable_version(const pop_executable *executable)
{
  if (!object_there(executable, OBJECT_EXECUTABLE, __func__)) return NULL;
  return executable->version;
}

size_t pop_executable_num_programs(const pop_executable *executable)
{
  if (!object_there(executable, OBJECT_EXECUTABLE, __func__)) return 0;
  return executable->num_programs;
}

const char *pop_executable_program_name(const pop_executable *executable, size_t program)
{
  if (!object_there(executable, OBJECT_EXECUTABLE, __func__)) return NULL;
  return program < executable->num_programs ? executable->programs[program] : NULL;
}

uint32_t pop_executable_num_replicas(const pop_executable *executable)
{
  if (!object_there(executable, OBJECT_EXECUTABLE, __func__)) return 0;
  return executable->num_replicas;
}

static bool is_handle(const executable_tensor *tensor)
{
  return tensor->kind == EXECUTABLE_WRITE || tensor->kind == EXECUTABLE_READ;
}

size_t pop_executable_num_handles(const pop_executable *executable)
{
  if (!object_there(executable, OBJECT_EXECUTABLE, __func__)) return 0;
  size_t count = 0;
  for (size_t i = 0; i < executable->num_tensors; ++i) count += is_handle(&executable->tensors[i]);
  return count;
}

pop_error *pop_executable_handle(const pop_executable *executable, size_t handle,
                                 pop_handle_info *info)
{
  POP_TRY(object_check(executable, OBJECT_EXECUTABLE, __func__));
  POP_TRY(object_check_argument(info, "the information", __func__));
  size_t next = 0;
  for (size_t i = 0; i < executable->num_tensors; ++i) {
    const executable_tensor *tensor = &executable->tensors[i];
    if (!is_handle(tensor) || next++ != handle) continue;
    *info = (pop_handle_info){.name = tensor->name,
                              .read = tensor->kind == EXECUTABLE_READ,
                              .type = tensor->type,
                              .rank = tensor->rank,
                              .shape = tensor->shape,
                              .bytes = executable_tensor_bytes(tensor),
                              .num_replicas = tensor->num_replicas * executable->num_replicas};
    if (executable->num_replicas > 1) {
      info->rank++;
      info->shape--; /* executable_new_shape */
      info->bytes *= executable->num_replicas;
    }
    return NULL;
  }
  return pop_error_new(POP_ERROR_INDEX, "there is no host handle %zu: the executable has %zu",
                       handle, next);
}

/* In queries streams and remote buffers count once, as replica 0's: those of other replicas follow
 * it. */

size_t pop_executable_num_streams(const pop_executable *executable)
{
  if (!object_there(executable, OBJECT_EXECUTABLE, __func__)) return 0;
  size_t count = 0;
  for (size_t i = 0; i < executable->num_streams; i++) count += !executable->streams[i].replica;
  return count;
}

pop_error *pop_executable_stream(const pop_executable *executable, size_t stream,
                                 pop_stream_info *info)
{
  POP_TRY(object_check(executable, OBJECT_EXECUTABLE, __func__));
  POP_TRY(object_check_argument(info, "the information", __func__));
  size_t next = 0;
  for (size_t i = 0; i < executable->num_streams; i++) {
    const executable_stream *s = &executable->streams[i];
    if (s->replica || next++ != stream) continue;
    *info = (pop_stream_info){.name = s->name,
                              .to_device = s->to_device,
                              .type = s->type,
                              .num_elements = (size_t)s->num_elements,
                              .is_used = s->is_used,
                              .broadcast = s->broadcast,
                              .num_replicas = s->num_replicas * executable->num_replicas};
    return NULL;
  }
  return pop_error_new(POP_ERROR_INDEX, "there is no stream %zu: the executable has %zu", stream,
                       next);
}

size_t pop_executable_num_remote_buffers(const pop_executable *executable)
{
  if (!object_there(executable, OBJECT_EXECUTABLE, __func__)) return 0;
  size_t count = 0;
  for (size_t i = 0; i < executable->num_remote_buffers; i++)
    count += !executable->remote_buffers[i].replica;
  return count;
}

pop_error *pop_executable_remote_buffer(const pop_executable *executable, size_t buffer,
                                        pop_remote_buffer_info *info)
{
  POP_TRY(object_check(executable, OBJECT_EXECUTABLE, __func__));
  POP_TRY(object_check_argument(info, "the information", __func__));
  size_t next = 0;
  for (size_t i = 0; i < executable->num_remote_buffers; i++) {
    const executable_remote_buffer *b = &executable->remote_buffers[i];
    if (b->replica || next++ != buffer) continue;
    *info = (pop_remote_buffer_info){.name = b->name,
                                     .type = b->type,
                                     .num_elements = (size_t)b->num_elements,
                                     .repeats = (size_t)b->repeats,
                                     .is_used = b->is_used,
                                     .num_replicas = b->num_replicas * executable->num_replicas};
    return NULL;
  }
  return pop_error_new(POP_ERROR_INDEX, "there is no remote buffer %zu: the executable has %zu",
                       buffer, next);
}
