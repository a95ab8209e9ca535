/* Handles and streams by name, and their files. */
#include "transfers.h"

#include "tensor_file.h"

#include <errno.h>
#include <populus/names.h>
#include <stdlib.h>
#include <string.h>

/* ---- what there is ---- */

/* `names` are those that there are. */
static pop_error *unknown_name(const char *what, const char *name, const char *purpose,
                               const char **names, size_t count)
{
  const char *near = pop_nearest_name(name, names, count);
  return pop_error_new(POP_ERROR_UNKNOWN_HANDLE,
                       "the archive has no %s '%s' to %s%s%s%s; --list shows all", what, name,
                       purpose, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* A handle, or a remote buffer with all its rows. */
typedef struct place {
  tensor_use use;
  size_t shape[2]; /* of a remote buffer */
  size_t num_rows; /* 0: a handle */
} place;

static pop_error *take_handles(const pop_executable *executable, const char *name, bool read,
                               const char **names, size_t *num_names, place *found)
{
  for (size_t i = 0; i < pop_executable_num_handles(executable); ++i) {
    pop_handle_info info;
    POP_TRY(pop_executable_handle(executable, i, &info));
    if (info.read != read) continue;
    names[(*num_names)++] = info.name;
    if (strcmp(info.name, name) == 0)
      found->use = (tensor_use){.what = "handle",
                                .name = info.name,
                                .type = info.type,
                                .rank = info.rank,
                                .shape = info.shape,
                                .bytes = info.bytes};
  }
  return NULL;
}

static pop_error *take_remote_buffers(const pop_executable *executable, const char *name,
                                      const char **names, size_t *num_names, place *found)
{
  for (size_t i = 0; i < pop_executable_num_remote_buffers(executable); ++i) {
    pop_remote_buffer_info info;
    POP_TRY(pop_executable_remote_buffer(executable, i, &info));
    names[(*num_names)++] = info.name;
    if (strcmp(info.name, name) != 0 || found->use.name) continue;
    found->shape[0] = found->num_rows = info.repeats;
    found->shape[1] = info.num_elements;
    found->use =
        (tensor_use){.what = "remote buffer",
                     .name = info.name,
                     .type = info.type,
                     .rank = 2,
                     .shape = found->shape,
                     .bytes = info.repeats * info.num_elements * pop_type_bytes(info.type)};
  }
  return NULL;
}

/* A handle before a remote buffer of the same name. */
static pop_error *find_place(const pop_executable *executable, const char *name, bool read,
                             place *found)
{
  size_t count = pop_executable_num_handles(executable), num_names = 0;
  count += pop_executable_num_remote_buffers(executable);
  const char **names = pop_xcalloc(count + 1, sizeof *names);
  *found = (place){0};
  pop_error *error = take_handles(executable, name, read, names, &num_names, found);
  if (!error) error = take_remote_buffers(executable, name, names, &num_names, found);
  if (!error && !found->use.name)
    error = unknown_name("handle", name, read ? "read" : "write", names, num_names);
  free(names);
  return error;
}

/* found->shape is `num_elements`. */
static pop_error *find_stream(const pop_executable *executable, const char *name, bool to_device,
                              tensor_use *found, size_t *num_elements)
{
  size_t count = pop_executable_num_streams(executable), num_names = 0;
  const char **names = pop_xcalloc(count + 1, sizeof *names);
  pop_error *error = NULL;
  *found = (tensor_use){0};
  for (size_t i = 0; i < count && !error && !found->name; ++i) {
    pop_stream_info info;
    error = pop_executable_stream(executable, i, &info);
    if (error || info.to_device != to_device) continue;
    names[num_names++] = info.name;
    if (strcmp(info.name, name) != 0) continue;
    *num_elements = info.num_elements;
    *found = (tensor_use){.what = "stream",
                          .name = info.name,
                          .type = info.type,
                          .rank = 1,
                          .shape = num_elements,
                          .bytes = info.num_elements * pop_type_bytes(info.type),
                          .repeats = true};
  }
  if (!error && !found->name)
    error = unknown_name("stream", name, to_device ? "feed" : "collect", names, num_names);
  free(names);
  return error;
}

/* ---- handles ---- */

/* Replica 0 has the rows of a graph that is not replicated. */
static pop_error *write_rows(pop_engine *engine, const place *to, const uint8_t *bytes)
{
  size_t row_bytes = to->use.bytes / to->num_rows;
  for (size_t row = 0; row < to->num_rows; ++row)
    POP_TRY(pop_engine_copy_to_remote_buffer(engine, to->use.name, row, 0, bytes + row * row_bytes,
                                             row_bytes));
  return NULL;
}

static pop_error *read_rows(pop_engine *engine, const place *from, uint8_t *bytes)
{
  size_t row_bytes = from->use.bytes / from->num_rows;
  for (size_t row = 0; row < from->num_rows; ++row)
    POP_TRY(pop_engine_copy_from_remote_buffer(engine, from->use.name, row, 0,
                                               bytes + row * row_bytes, row_bytes));
  return NULL;
}

static pop_error *write_handle(const pop_executable *executable, pop_engine *engine,
                               const transfer *t)
{
  place to;
  uint8_t *bytes;
  size_t start, size;
  POP_TRY(find_place(executable, t->handle, false, &to));
  POP_TRY(tensor_file_read(t->file, &to.use, &bytes, &start, &size));
  pop_error *error = to.num_rows
                         ? write_rows(engine, &to, bytes + start)
                         : pop_engine_write_tensor(engine, t->handle, bytes + start, to.use.bytes);
  free(bytes);
  return error;
}

static pop_error *read_handle(const pop_executable *executable, pop_engine *engine,
                              const transfer *t)
{
  place from;
  POP_TRY(find_place(executable, t->handle, true, &from));
  uint8_t *data = malloc(from.use.bytes ? from.use.bytes : 1);
  if (!data)
    return pop_error_new(POP_ERROR_MEMORY, "no memory for the %zu bytes of %s '%s'", from.use.bytes,
                         from.use.what, t->handle);
  pop_error *error = from.num_rows
                         ? read_rows(engine, &from, data)
                         : pop_engine_read_tensor(engine, t->handle, data, from.use.bytes);
  if (!error) error = tensor_file_write(t->file, &from.use, data, from.use.bytes);
  free(data);
  return error;
}

/* ---- streams ---- */

static pop_error *connect_in(const pop_executable *executable, pop_engine *engine, transfer *t)
{
  tensor_use use;
  uint8_t *bytes;
  size_t start, size, num_elements;
  POP_TRY(find_stream(executable, t->handle, true, &use, &num_elements));
  POP_TRY(tensor_file_read(t->file, &use, &bytes, &start, &size));
  t->data = (pop_bytes){.data = bytes, .size = size, .capacity = size};
  return pop_engine_connect_stream(engine, t->handle, bytes + start, bytes + size);
}

static int collect(void *context, void *data)
{
  collector *c = context;
  if (!pop_bytes_try_reserve(c->data, c->bytes)) return ENOMEM;
  pop_bytes_append(c->data, data, c->bytes);
  return 0;
}

static pop_error *connect_out(const pop_executable *executable, pop_engine *engine, transfer *t,
                              collector *to)
{
  tensor_use use;
  size_t num_elements;
  POP_TRY(find_stream(executable, t->handle, false, &use, &num_elements));
  *to = (collector){&t->data, use.bytes};
  const pop_stream_callback callback = {.fetch = collect, .context = to};
  return pop_engine_connect_stream_callback(engine, t->handle, &callback);
}

static pop_error *write_out(const pop_executable *executable, const transfer *t)
{
  tensor_use use;
  size_t num_elements;
  POP_TRY(find_stream(executable, t->handle, false, &use, &num_elements));
  return tensor_file_write(t->file, &use, t->data.data, t->data.size);
}

static bool is_given(const transfers *t, const char *name)
{
  for (size_t i = 0; i < t->count; ++i)
    if (strcmp(t->list[i].handle, name) == 0) return true;
  return false;
}

static pop_error *check_streams(const pop_executable *executable, const arguments *a)
{
  for (size_t i = 0; i < pop_executable_num_streams(executable); ++i) {
    pop_stream_info info;
    POP_TRY(pop_executable_stream(executable, i, &info));
    if (info.is_used && !is_given(info.to_device ? &a->ins : &a->outs, info.name))
      return pop_error_new(POP_ERROR_USAGE, "stream '%s' needs a file: --%s %s=FILE", info.name,
                           info.to_device ? "in" : "out", info.name);
  }
  return NULL;
}

pop_error *transfers_connect(const pop_executable *executable, pop_engine *engine,
                             const arguments *a, collector *collectors)
{
  for (size_t i = 0; i < a->ins.count; ++i)
    POP_TRY(connect_in(executable, engine, &a->ins.list[i]));
  for (size_t i = 0; i < a->outs.count; ++i)
    POP_TRY(connect_out(executable, engine, &a->outs.list[i], &collectors[i]));
  return NULL;
}

/* What is misspelt is said before anything has run. */
pop_error *transfers_check(const pop_executable *executable, const arguments *a)
{
  place found;
  for (size_t i = 0; i < a->writes.count; ++i)
    POP_TRY(find_place(executable, a->writes.list[i].handle, false, &found));
  for (size_t i = 0; i < a->reads.count; ++i)
    POP_TRY(find_place(executable, a->reads.list[i].handle, true, &found));
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
