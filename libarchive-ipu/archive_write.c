/* Writing archives: to a file that appears when it is complete, or to memory.
 *
 * No symbol index is written: nobody links tile images, and the index has 32-bit offsets, which are
 * too small for 64 IPUs. Dates, owners and groups are 0 and the mode is 644, as `ar D` writes them:
 * the same members give the same bytes.
 */
#include <populus/archive.h>
#include <populus/arena.h>
#include <populus/cache_folder.h>

#include "archive_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAME_LENGTH (sizeof((ar_header *)0)->name - 1) /* the "/" behind it */
#define SPARSE_BYTES 32768                                 /* smaller members are not worth holes */
#define MAX_MEMBER_BYTES UINT64_C(9999999999)              /* ten decimal digits */

/* One of the two is in use. */
struct pop_archive_writer {
  pop_output *output;
  pop_bytes memory;
};

static pop_error *put(pop_archive_writer *writer, const void *bytes, size_t size)
{
  if (writer->output) return pop_output_write(writer->output, bytes, size);
  if (!pop_bytes_try_reserve(&writer->memory, size))
    return pop_error_new(POP_ERROR_MEMORY, "no memory for an archive of %zu bytes and more",
                         writer->memory.size);
  pop_bytes_append(&writer->memory, bytes, size);
  return NULL;
}

/* To memory if `open` is NULL. */
static pop_error *writer_open(pop_error *(*open)(const char *path, pop_output **output),
                              const char *path, pop_archive_writer **writer)
{
  pop_archive_writer *opened = pop_xcalloc(1, sizeof *opened);
  pop_error *error = open ? open(path, &opened->output) : NULL;
  if (!error) error = put(opened, AR_MAGIC, AR_MAGIC_BYTES);
  if (error) {
    pop_archive_writer_abort(opened);
    return error;
  }
  *writer = opened;
  return NULL;
}

pop_error *pop_archive_writer_open(const char *path, pop_archive_writer **writer)
{
  return writer_open(path ? pop_output_open : NULL, path, writer);
}

pop_error *pop_cache_entry_open_archive(const char *path, pop_archive_writer **writer)
{
  return writer_open(pop_cache_entry_open, path, writer);
}

static pop_error *check_name(const char *name)
{
  size_t length = strlen(name);
  if (length < 1 || length > MAX_NAME_LENGTH)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "archive member '%s': the name has %zu characters, 1 to %zu are possible",
                         name, length, MAX_NAME_LENGTH);
  for (const char *c = name; *c; c++)
    if (*c < ' ' || *c > '~' || *c == '/')
      return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                           "archive member '%s': only printable ASCII characters without '/' are "
                           "possible in the name",
                           name);
  if (strcmp(name, "#1") == 0) /* "#1/" starts a long name in BSD's way */
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "archive member '%s': this name has another meaning in archives", name);
  return NULL;
}

/* The header of a member of at most MAX_MEMBER_BYTES. */
static void make_header(const char *name, uint64_t size, ar_header *header)
{
  char decimal[24];
  memset(header, ' ', sizeof *header);
  memcpy(header->name, name, strlen(name));
  header->name[strlen(name)] = '/';
  header->date[0] = header->owner[0] = header->group[0] = '0';
  memcpy(header->mode, "644", 3);
  memcpy(header->size, decimal, (size_t)snprintf(decimal, sizeof decimal, "%" PRIu64, size));
  memcpy(header->end, AR_HEADER_END, sizeof header->end);
}

static pop_error *check_size(const char *name, uint64_t size)
{
  if (size <= MAX_MEMBER_BYTES) return NULL;
  return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                       "archive member '%s': %" PRIu64 " bytes, but at most %" PRIu64
                       " are possible",
                       name, size, MAX_MEMBER_BYTES);
}

pop_error *pop_archive_writer_add(pop_archive_writer *writer, const char *name, const void *bytes,
                                  size_t size)
{
  ar_header header;
  POP_TRY(check_name(name));
  POP_TRY(check_size(name, size));
  make_header(name, size, &header);
  POP_TRY(put(writer, &header, sizeof header));
  POP_TRY(writer->output && size >= SPARSE_BYTES
              ? pop_output_write_sparse(writer->output, bytes, size)
              : put(writer, bytes, size));
  return size % 2 ? put(writer, "\n", 1) : NULL;
}

pop_error *pop_archive_begin_member(pop_bytes *members, size_t *start)
{
  static const ar_header room;
  *start = members->size;
  if (!pop_bytes_try_reserve(members, sizeof room))
    return pop_error_new(POP_ERROR_MEMORY, "no memory for a member of an archive");
  pop_bytes_append(members, &room, sizeof room);
  return NULL;
}

pop_error *pop_archive_end_member(pop_bytes *members, size_t start, const char *name)
{
  size_t size = members->size - start - sizeof(ar_header);
  ar_header header;
  POP_TRY(check_name(name));
  POP_TRY(check_size(name, size));
  make_header(name, size, &header);
  memcpy(members->data + start, &header, sizeof header);
  if (size % 2) pop_bytes_append(members, "\n", 1);
  return NULL;
}

pop_error *pop_archive_writer_add_members(pop_archive_writer *writer, const pop_bytes *members)
{
  return writer->output ? pop_output_write_sparse(writer->output, members->data, members->size)
                        : put(writer, members->data, members->size);
}

pop_error *pop_archive_writer_commit(pop_archive_writer *writer)
{
  pop_error *error = writer->output ? pop_output_commit(writer->output) : NULL;
  writer->output = NULL;
  pop_archive_writer_abort(writer);
  return error;
}

void pop_archive_writer_take(pop_archive_writer *writer, uint8_t **bytes, size_t *size)
{
  *bytes = writer->memory.data;
  *size = writer->memory.size;
  writer->memory = (pop_bytes){0};
  pop_archive_writer_abort(writer);
}

void pop_archive_writer_abort(pop_archive_writer *writer)
{
  if (!writer) return;
  pop_output_abort(writer->output);
  pop_bytes_free(&writer->memory);
  free(writer);
}
