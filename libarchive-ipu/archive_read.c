/* Reading archives that anyone may have made.
 *
 * All headers are read and checked when the archive is opened. Contents are read on demand. Offsets
 * are 64 bits wide: the images of 64 IPUs fill tens of GiB. Symbol indexes are skipped
 * (elf_getarsym, libelf's reader of them, crashes on broken ones). Names are data: they are
 * compared and shown, never opened.
 *
 * Accepted as by GNU ar: no padding after a last member of odd size. Refused, where GNU ar silently
 * stops: bytes after the last member that are too few for a header.
 */
#include <populus/archive.h>
#include <populus/arena.h>

#include "archive_internal.h"
#include "file_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The content is behind `fd`, or at `memory` when fd is -1. */
struct pop_archive {
  char *name; /* for messages */
  int fd;
  const uint8_t *memory;
  uint64_t start; /* of the archive in the file */
  uint64_t size;
  pop_archive_member *members;
  size_t num_members, capacity;
  char *long_names; /* content of "//" */
  size_t long_names_bytes;
  pop_arena *arena; /* of the members' names */
};

/* `size` bytes at `offset`, which the caller has checked against the archive's size. */
static pop_error *read_at(const pop_archive *archive, uint64_t offset, void *bytes, size_t size)
{
  if (archive->fd < 0) {
    memcpy(bytes, archive->memory + offset, size);
    return NULL;
  }
  size_t got = 0;
  POP_TRY(file_pread(archive->fd, archive->name, bytes, size, archive->start + offset, &got));
  if (got < size)
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "'%s' was cut while it was read: it ends at byte %" PRIu64, archive->name,
                         offset + got);
  return NULL;
}

static pop_error *check_magic(const pop_archive *archive)
{
  uint8_t start[256];
  size_t length = archive->size < sizeof start ? (size_t)archive->size : sizeof start;
  POP_TRY(read_at(archive, 0, start, length));
  if (length >= AR_MAGIC_BYTES && memcmp(start, AR_THIN_MAGIC, AR_MAGIC_BYTES) == 0)
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "'%s' is a thin archive: it only names other files; make it with 'ar rc', "
                         "without T",
                         archive->name);
  if (length >= AR_MAGIC_BYTES && memcmp(start, AR_MAGIC, AR_MAGIC_BYTES) == 0) return NULL;
  if (length && length < AR_MAGIC_BYTES && memcmp(start, AR_MAGIC, length) == 0)
    return pop_error_new(POP_ERROR_FILE_LOAD, "'%s' is a truncated archive: it ends at byte %zu",
                         archive->name, length);
  return pop_error_new(POP_ERROR_FILE_LOAD, "'%s' is %s, not an ar archive", archive->name,
                       pop_file_kind(start, length));
}

static pop_error *bad_header(const pop_archive *archive, uint64_t offset, const char *problem)
{
  return pop_error_new(POP_ERROR_FILE_LOAD,
                       "'%s': member %zu (header at byte %" PRIu64 ") is malformed: %s",
                       archive->name, archive->num_members, offset, problem);
}

/* The decimal number in a field that is padded with spaces; false for anything else. */
static bool parse_decimal(const char *field, size_t width, uint64_t *value)
{
  size_t digits = 0;
  uint64_t sum = 0;
  for (; digits < width && field[digits] >= '0' && field[digits] <= '9'; digits++)
    sum = 10 * sum + (uint64_t)(field[digits] - '0'); /* at most 15 digits: no overflow */
  for (size_t i = digits; i < width; i++)
    if (field[i] != ' ') return false;
  *value = sum;
  return digits > 0;
}

/* Name number "/123": the bytes of the name table from there to "/\n". */
static pop_error *long_name(pop_archive *archive, uint64_t header_offset, uint64_t start,
                            const char **name)
{
  if (!archive->long_names)
    return bad_header(archive, header_offset,
                      "its name is in the table of long names, and there is no table before it");
  if (start >= archive->long_names_bytes)
    return bad_header(archive, header_offset, "its name is past the table of long names");
  const char *text = archive->long_names + start;
  const char *end = memchr(text, '\n', archive->long_names_bytes - start);
  if (!end || end == text || end[-1] != '/')
    return bad_header(archive, header_offset, "its name in the table of long names has no end");
  size_t length = (size_t)(end - 1 - text);
  char *copy = pop_arena_alloc(archive->arena, length + 1); /* whose last byte is 0 */
  memcpy(copy, text, length);
  *name = copy;
  return NULL;
}

static pop_error *member_name(pop_archive *archive, uint64_t header_offset, const char field[16],
                              const char **name)
{
  if (memchr(field, '\0', 16)) return bad_header(archive, header_offset, "NUL in its name");
  uint64_t start;
  if (field[0] == '/') {
    if (!parse_decimal(field + 1, 15, &start))
      return bad_header(archive, header_offset, "its name is '/' and no number");
    return long_name(archive, header_offset, start, name);
  }
  if (memcmp(field, "#1/", 3) == 0)
    return bad_header(archive, header_offset,
                      "it has a long name in BSD's way; make the archive with GNU ar or llvm-ar");
  const char *slash = memchr(field, '/', 16);
  int length = slash ? (int)(slash - field) : 16;
  while (!slash && length && field[length - 1] == ' ') length--;
  *name = pop_arena_printf(archive->arena, "%.*s", length, field);
  return NULL;
}

static pop_error *take_long_names(pop_archive *archive, uint64_t header_offset, uint64_t offset,
                                  uint64_t size)
{
  if (archive->long_names)
    return bad_header(archive, header_offset, "it is a second table of long names");
  archive->long_names = malloc(size + 1);
  if (!archive->long_names)
    return pop_error_new(POP_ERROR_MEMORY, "no memory for the names in '%s'", archive->name);
  archive->long_names_bytes = size;
  POP_TRY(read_at(archive, offset, archive->long_names, size));
  if (memchr(archive->long_names, '\0', size))
    return bad_header(archive, header_offset, "NUL in the table of long names");
  return NULL;
}

/* Reads the header at *offset and moves *offset behind the member. */
static pop_error *read_member(pop_archive *archive, uint64_t *offset)
{
  ar_header header;
  uint64_t start = *offset, size, content = start + sizeof header;
  if (archive->size - start < sizeof header)
    return bad_header(archive, start, "the file ends inside the header");
  POP_TRY(read_at(archive, start, &header, sizeof header));
  if (memcmp(header.end, AR_HEADER_END, sizeof header.end) != 0)
    return bad_header(archive, start, "the header does not end as a header must");
  if (!parse_decimal(header.size, sizeof header.size, &size))
    return bad_header(archive, start, "its size is not a decimal number");
  if (size > archive->size - content)
    return bad_header(archive, start, "the file is truncated: the member ends past its end");
  *offset = content + size + size % 2;
  if (*offset > archive->size) *offset = archive->size; /* no padding behind the last one */

  if (memcmp(header.name, "// ", 3) == 0) return take_long_names(archive, start, content, size);
  if (memcmp(header.name, "/ ", 2) == 0 || memcmp(header.name, "/SYM64/", 7) == 0) return NULL;
  pop_archive_member member = {.offset = content, .size = size};
  POP_TRY(member_name(archive, start, header.name, &member.name));
  pop_push(archive->members, archive->num_members, archive->capacity, member);
  return NULL;
}

static pop_error *read_members(pop_archive *archive)
{
  POP_TRY(check_magic(archive));
  uint64_t offset = AR_MAGIC_BYTES;
  while (offset < archive->size) POP_TRY(read_member(archive, &offset));
  return NULL;
}

/* The content is as in struct pop_archive; takes `fd`. */
static pop_error *open_archive(int fd, const void *memory, uint64_t start, uint64_t size,
                               const char *name, pop_archive **archive)
{
  pop_archive *opened = pop_xcalloc(1, sizeof *opened);
  *opened = (pop_archive){.name = pop_xstrdup(name),
                          .fd = fd,
                          .memory = memory,
                          .start = start,
                          .size = size,
                          .arena = pop_arena_new()};
  pop_error *error = read_members(opened);
  if (error) {
    pop_archive_close(opened);
    return error;
  }
  *archive = opened;
  return NULL;
}

pop_error *pop_archive_open(const char *path, pop_archive **archive)
{
  int fd = -1;
  uint64_t size = 0;
  POP_TRY(file_open_regular(path, &fd, &size));
  return open_archive(fd, NULL, 0, size, path, archive);
}

pop_error *pop_archive_open_part(const char *path, uint64_t offset, uint64_t size, const char *name,
                                 pop_archive **archive)
{
  int fd = -1;
  uint64_t file_size = 0;
  POP_TRY(file_open_regular(path, &fd, &file_size));
  if (offset <= file_size && size <= file_size - offset)
    return open_archive(fd, NULL, offset, size, name, archive);
  close(fd);
  return pop_error_new(POP_ERROR_FILE_LOAD,
                       "'%s' has %" PRIu64 " bytes: there are no %" PRIu64 " from byte %" PRIu64,
                       path, file_size, size, offset);
}

pop_error *pop_archive_open_memory(const void *bytes, size_t size, const char *name,
                                   pop_archive **archive)
{
  return open_archive(-1, bytes, 0, size, name, archive);
}

void pop_archive_close(pop_archive *archive)
{
  if (!archive) return;
  if (archive->fd >= 0) close(archive->fd);
  pop_arena_free(archive->arena);
  free(archive->long_names);
  free(archive->members);
  free(archive->name);
  free(archive);
}

size_t pop_archive_num_members(const pop_archive *archive)
{
  return archive->num_members;
}

const pop_archive_member *pop_archive_get_member(const pop_archive *archive, size_t index)
{
  return &archive->members[index];
}

const char *pop_archive_name(const pop_archive *archive)
{
  return archive->name;
}

static pop_error *check_index(const pop_archive *archive, size_t index)
{
  if (index < archive->num_members) return NULL;
  return pop_error_new(POP_ERROR_INDEX, "'%s' has %zu members: there is no member %zu",
                       archive->name, archive->num_members, index);
}

pop_error *pop_archive_read_part(const pop_archive *archive, size_t index, uint64_t offset,
                                 void *bytes, size_t size)
{
  POP_TRY(check_index(archive, index));
  const pop_archive_member *member = &archive->members[index];
  if (offset > member->size || size > member->size - offset)
    return pop_error_new(POP_ERROR_INDEX,
                         "'%s' in '%s' has %" PRIu64 " bytes: there are no %zu from byte %" PRIu64,
                         member->name, archive->name, member->size, size, offset);
  return read_at(archive, member->offset + offset, bytes, size);
}

pop_error *pop_archive_read_member(const pop_archive *archive, size_t index, uint8_t **bytes,
                                   size_t *size)
{
  POP_TRY(check_index(archive, index));
  const pop_archive_member *member = &archive->members[index];
  uint8_t *content = malloc(member->size ? member->size : 1);
  if (!content)
    return pop_error_new(POP_ERROR_MEMORY, "no memory for the %" PRIu64 " bytes of '%s' in '%s'",
                         member->size, member->name, archive->name);
  pop_error *error = read_at(archive, member->offset, content, member->size);
  if (error) {
    free(content);
    return error;
  }
  *bytes = content;
  *size = member->size;
  return NULL;
}
