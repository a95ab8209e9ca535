/* Handles and streams by name, and their files. */
#include "transfers.h"

#include "find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- handles ---- */

/* The first of the replicas that are meant. */
static uint32_t first_replica(const found_thing *found)
{
  return found->replica == ALL_REPLICAS ? 0 : found->replica;
}

/* `step`: the distance from one replica's rows to the next one's; 0: all get the same. */
static pop_error *write_rows(pop_engine *engine, const found_thing *to, const uint8_t *bytes,
                             size_t step)
{
  size_t row_bytes = to->use.bytes / to->num_replicas / to->num_rows;
  for (uint32_t r = 0; r < to->num_replicas; ++r)
    for (size_t row = 0; row < to->num_rows; ++row)
      POP_TRY(pop_engine_copy_to_remote_buffer(engine, to->name, row, first_replica(to) + r,
                                               bytes + r * step + row * row_bytes, row_bytes));
  return NULL;
}

static pop_error *read_rows(pop_engine *engine, const found_thing *from, uint8_t *bytes)
{
  size_t row_bytes = from->use.bytes / from->num_replicas / from->num_rows;
  for (uint32_t r = 0; r < from->num_replicas; ++r)
    for (size_t row = 0; row < from->num_rows; ++row, bytes += row_bytes)
      POP_TRY(pop_engine_copy_from_remote_buffer(engine, from->name, row, first_replica(from) + r,
                                                 bytes, row_bytes));
  return NULL;
}

/* `size` is that of all that is meant, or of one replica, whose elements then go to all. */
static pop_error *write_elements(pop_engine *engine, const found_thing *to, const uint8_t *bytes,
                                 size_t size)
{
  if (to->num_rows)
    return write_rows(engine, to, bytes, size == to->use.bytes ? size / to->num_replicas : 0);
  if (to->replica == ALL_REPLICAS) return pop_engine_write_tensor(engine, to->name, bytes, size);
  return pop_engine_write_replica_tensor(engine, to->name, to->replica, bytes, size);
}

static pop_error *read_elements(pop_engine *engine, const found_thing *from, uint8_t *bytes)
{
  if (from->num_rows) return read_rows(engine, from, bytes);
  if (from->replica == ALL_REPLICAS)
    return pop_engine_read_tensor(engine, from->name, bytes, from->use.bytes);
  return pop_engine_read_replica_tensor(engine, from->name, from->replica, bytes, from->use.bytes);
}

static pop_error *write_handle(const pop_executable *executable, pop_engine *engine,
                               const transfer *t)
{
  found_thing to;
  uint8_t *bytes;
  size_t start, size;
  POP_TRY(find_handle(executable, t->handle, false, &to));
  POP_TRY(tensor_file_read(t->file, &to.use, &bytes, &start, &size));
  pop_error *error = write_elements(engine, &to, bytes + start, size - start);
  free(bytes);
  return error;
}

static pop_error *read_handle(const pop_executable *executable, pop_engine *engine,
                              const transfer *t)
{
  found_thing from;
  POP_TRY(find_handle(executable, t->handle, true, &from));
  uint8_t *data = malloc(from.use.bytes ? from.use.bytes : 1);
  if (!data)
    return pop_error_new(POP_ERROR_MEMORY, "no memory for the %zu bytes of %s '%s'", from.use.bytes,
                         from.use.what, t->handle);
  pop_error *error = read_elements(engine, &from, data);
  if (!error) error = tensor_file_write(t->file, &from.use, data, from.use.bytes);
  free(data);
  return error;
}

/* ---- streams ---- */

static pop_error *connect_in(const pop_executable *executable, pop_engine *engine, transfer *t)
{
  found_thing to;
  uint8_t *bytes;
  size_t start, size;
  POP_TRY(find_stream(executable, t->handle, true, &to));
  POP_TRY(tensor_file_read(t->file, &to.use, &bytes, &start, &size));
  t->data = (pop_bytes){.data = bytes, .size = size, .capacity = size};
  if (to.replica == ALL_REPLICAS)
    return pop_engine_connect_stream(engine, to.name, bytes + start, bytes + size);
  return pop_engine_connect_replica_stream(engine, to.name, to.replica, bytes + start,
                                           bytes + size);
}

static int collect(void *context, void *data)
{
  collector *c = context;
  if (!pop_bytes_try_reserve(&c->data, c->bytes)) return ENOMEM;
  pop_bytes_append(&c->data, data, c->bytes);
  return 0;
}

static pop_error *connect_out(const pop_executable *executable, pop_engine *engine, transfer *t)
{
  found_thing from;
  POP_TRY(find_stream(executable, t->handle, false, &from));
  t->num_collectors = from.num_replicas;
  t->collectors = pop_xcalloc(from.num_replicas, sizeof *t->collectors);
  for (uint32_t r = 0; r < from.num_replicas; ++r) {
    collector *to = &t->collectors[r];
    to->bytes = from.use.bytes / from.num_replicas;
    const pop_stream_callback callback = {.fetch = collect, .context = to};
    POP_TRY(pop_engine_connect_replica_stream_callback(engine, from.name, first_replica(&from) + r,
                                                       &callback));
  }
  return NULL;
}

/* The code of an archive decides which replicas copy, so one may have brought more than another. */
static pop_error *check_equal(const transfer *t)
{
  for (uint32_t r = 1; r < t->num_collectors; ++r)
    if (t->collectors[r].data.size != t->collectors[0].data.size)
      return pop_error_new(POP_ERROR_FILE_LOAD,
                           "stream '%s' has brought %zu bytes of replica 0 and %zu of replica %u, "
                           "which do not make copies of all: --out %s@%u=FILE collects one's",
                           t->handle, t->collectors[0].data.size, t->collectors[r].data.size, r,
                           t->handle, r);
  return NULL;
}

/* Writes copy by copy, each replica by replica. */
static pop_error *write_out(const pop_executable *executable, const transfer *t)
{
  found_thing from;
  POP_TRY(find_stream(executable, t->handle, false, &from));
  POP_TRY(check_equal(t));
  const collector *first = &t->collectors[0];
  pop_bytes all = {0};
  if (!pop_bytes_try_reserve(&all, first->data.size * t->num_collectors))
    return pop_error_new(POP_ERROR_MEMORY, "no memory for what stream '%s' has brought", t->handle);
  for (size_t at = 0; at < first->data.size; at += first->bytes)
    for (uint32_t r = 0; r < t->num_collectors; ++r)
      pop_bytes_append(&all, t->collectors[r].data.data + at, first->bytes);
  pop_error *error = tensor_file_write(t->file, &from.use, all.data, all.size);
  pop_bytes_free(&all);
  return error;
}

/* ---- checks before a run ---- */

/* Counts, by replica, the files that the stream has. */
static pop_error *count_files(const pop_executable *executable, const transfers *t,
                              const pop_stream_info *info, uint32_t num_replicas, uint32_t *files)
{
  for (size_t i = 0; i < t->count; ++i) {
    found_thing thing;
    POP_TRY(find_stream(executable, t->list[i].handle, info->to_device, &thing));
    for (uint32_t r = 0; r < num_replicas && strcmp(thing.name, info->name) == 0; ++r) {
      if (thing.replica != ALL_REPLICAS && thing.replica != r) continue;
      if (files[r]++)
        return pop_error_new(POP_ERROR_USAGE, "stream '%s' has a file already; '%s' is one more",
                             info->name, t->list[i].handle);
    }
  }
  return NULL;
}

static pop_error *check_files(const pop_stream_info *info, uint32_t num_replicas,
                              const uint32_t *files)
{
  const char *option = info->to_device ? "in" : "out";
  uint32_t given = 0, missing = 0;
  for (uint32_t r = num_replicas; r-- > 0;) {
    given += files[r];
    if (!files[r]) missing = r;
  }
  if (given == num_replicas || (given == 0 && !info->is_used)) return NULL;
  if (given == 0)
    return pop_error_new(POP_ERROR_USAGE, "stream '%s' needs a file: --%s %s=FILE", info->name,
                         option, info->name);
  return pop_error_new(POP_ERROR_USAGE,
                       "stream '%s' needs a file for replica %u, too: --%s %s@%u=FILE", info->name,
                       missing, option, info->name, missing);
}

static pop_error *check_streams(const pop_executable *executable, const arguments *a)
{
  for (size_t i = 0; i < pop_executable_num_streams(executable); ++i) {
    pop_stream_info info;
    POP_TRY(pop_executable_stream(executable, i, &info));
    uint32_t count = info.broadcast ? 1 : info.num_replicas;
    uint32_t *files = pop_xcalloc(count, sizeof *files);
    pop_error *error =
        count_files(executable, info.to_device ? &a->ins : &a->outs, &info, count, files);
    if (!error) error = check_files(&info, count, files);
    free(files);
    if (error) return error;
  }
  return NULL;
}

pop_error *transfers_connect(const pop_executable *executable, pop_engine *engine, arguments *a)
{
  for (size_t i = 0; i < a->ins.count; ++i)
    POP_TRY(connect_in(executable, engine, &a->ins.list[i]));
  for (size_t i = 0; i < a->outs.count; ++i)
    POP_TRY(connect_out(executable, engine, &a->outs.list[i]));
  return NULL;
}

/* Reports misspelt names before anything has run. */
pop_error *transfers_check(const pop_executable *executable, const arguments *a)
{
  found_thing found;
  for (size_t i = 0; i < a->writes.count; ++i)
    POP_TRY(find_handle(executable, a->writes.list[i].handle, false, &found));
  for (size_t i = 0; i < a->reads.count; ++i)
    POP_TRY(find_handle(executable, a->reads.list[i].handle, true, &found));
  return check_streams(executable, a);
}

pop_error *transfers_write(const pop_executable *executable, pop_engine *engine, const arguments *a)
{
  for (size_t i = 0; i < a->writes.count; ++i)
    POP_TRY(write_handle(executable, engine, &a->writes.list[i]));
  return NULL;
}

pop_error *transfers_read(const pop_executable *executable, pop_engine *engine, const arguments *a)
{
  for (size_t i = 0; i < a->reads.count; ++i)
    POP_TRY(read_handle(executable, engine, &a->reads.list[i]));
  for (size_t i = 0; i < a->outs.count; ++i) POP_TRY(write_out(executable, &a->outs.list[i]));
  return NULL;
}
