/* Files in: by pread, whole, into memory that we own.
 *
 * Files that are not regular are refused: a device may never end, and a FIFO without a writer would
 * block. A file is opened without waiting and checked afterwards, so that it cannot be replaced
 * between check and open. The size that the system states is only a first guess. A file that grows
 * or shrinks meanwhile, or one of /proc that states 0, is read up to its end.
 */
#include "file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An error of the system while reading: the file's fault, unless the process itself is
 * at a limit. */
static pop_error *read_error(int errnum, const char *path)
{
  if (errnum == EMFILE || errnum == ENFILE || errnum == ENOMEM)
    return pop_error_errno(errnum, "cannot read '%s'", path);
  char reason[256];
  return pop_error_new(POP_ERROR_FILE_LOAD, "cannot read '%s': %s", path,
                       strerror_r(errnum, reason, sizeof reason));
}

static const char *type_of_file(mode_t mode)
{
  switch (mode & S_IFMT) {
  case S_IFDIR:
    return "a folder";
  case S_IFIFO:
    return "a pipe";
  case S_IFCHR:
    return "a character device";
  case S_IFBLK:
    return "a block device";
  case S_IFSOCK:
    return "a socket";
  default:
    return "something else";
  }
}

pop_error *file_open_regular(const char *path, int *fd, uint64_t *size)
{
  int opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (opened < 0) return read_error(errno, path);
  struct stat status;
  pop_error *error = NULL;
  if (fstat(opened, &status) != 0)
    error = read_error(errno, path);
  else if (!S_ISREG(status.st_mode))
    error = pop_error_new(POP_ERROR_FILE_LOAD, "cannot read '%s': it is %s, not a regular file",
                          path, type_of_file(status.st_mode));
  if (error) {
    close(opened);
    return error;
  }
  *fd = opened;
  *size = (uint64_t)status.st_size;
  return NULL;
}

pop_error *file_pread(int fd, const char *path, void *bytes, size_t size, uint64_t offset,
                      size_t *got)
{
  size_t done = 0;
  while (done < size) {
    ssize_t n = pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return read_error(errno, path);
    if (n == 0) break;
    done += (size_t)n;
  }
  *got = done;
  return NULL;
}

static pop_error *too_large(const char *path, size_t max_bytes)
{
  return pop_error_new(POP_ERROR_FILE_LOAD, "cannot read '%s': it is larger than %zu bytes", path,
                       max_bytes);
}

/* Reads to the end of the file. Each read asks for one byte more than is expected: this shows
 * whether the file has grown, and leaves room for the NUL. */
static pop_error *read_all(int fd, const char *path, uint64_t stated_size, size_t max_bytes,
                           uint8_t **bytes, size_t *size)
{
  if (stated_size > max_bytes) return too_large(path, max_bytes);
  uint8_t *memory = NULL;
  size_t used = 0, capacity = (size_t)stated_size + 1;
  for (;;) {
    uint8_t *grown = realloc(memory, capacity);
    if (!grown) {
      free(memory);
      return pop_error_new(POP_ERROR_MEMORY, "no memory for the %zu bytes of '%s'", capacity, path);
    }
    memory = grown;
    size_t got = 0;
    pop_error *error = file_pread(fd, path, memory + used, capacity - used, used, &got);
    used += got;
    if (!error && used > max_bytes) error = too_large(path, max_bytes);
    if (error) {
      free(memory);
      return error;
    }
    if (used < capacity) break;
    capacity += capacity / 2 + 4096;
  }
  memory[used] = 0;
  *bytes = memory;
  *size = used;
  return NULL;
}

/* Refuses a file whose content anybody but this user could have written. */
static pop_error *check_own(int fd, const char *path)
{
  struct stat status;
  if (fstat(fd, &status) != 0) return read_error(errno, path);
  if (status.st_uid != geteuid())
    return pop_error_new(POP_ERROR_FILE_LOAD, "'%s' is not used: it belongs to user %ld", path,
                         (long)status.st_uid);
  if (status.st_mode & (S_IWGRP | S_IWOTH))
    return pop_error_new(POP_ERROR_FILE_LOAD, "'%s' is not used: others may write it (mode %03o)",
                         path, (unsigned)status.st_mode & 0777);
  return NULL;
}

static pop_error *read_regular(const char *path, bool own, size_t max_bytes, uint8_t **bytes,
                               size_t *size)
{
  int fd = -1;
  uint64_t stated_size = 0;
  if (max_bytes > SIZE_MAX / 4) max_bytes = SIZE_MAX / 4; /* so that sums below cannot wrap */
  POP_TRY(file_open_regular(path, &fd, &stated_size));
  pop_error *error = own ? check_own(fd, path) : NULL;
  if (!error) error = read_all(fd, path, stated_size, max_bytes, bytes, size);
  close(fd);
  return error;
}

pop_error *pop_file_read(const char *path, size_t max_bytes, uint8_t **bytes, size_t *size)
{
  return read_regular(path, false, max_bytes, bytes, size);
}

pop_error *pop_file_read_own(const char *path, size_t max_bytes, uint8_t **bytes, size_t *size)
{
  return read_regular(path, true, max_bytes, bytes, size);
}
