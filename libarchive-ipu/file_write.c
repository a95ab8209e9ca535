/* Files out: complete under the final name, or not there at all.
 *
 *   bytes -> buffer -> temporary file in the same folder -> fsync -> rename
 *
 * An existing final file that is not regular (/dev/null, a pipe) is written through: there is
 * nothing to replace. So are /dev/stdout and its like, even when a shell has bound them to a
 * regular file: replacing that file would lose what else is written to the descriptor. A symbolic
 * link to a file is followed, and the file that is replaced keeps its mode. Entries of caches
 * replace whatever has the name.
 *
 * Exceeding a file size limit (RLIMIT_FSIZE) is an error, as a full disk is: SIGXFSZ is held back
 * around everything that may raise it, however the host program handles signals.
 */
#include "file_internal.h"

#include <populus/arena.h>
#include <populus/cache_folder.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)64 * 1024)
#define BLOCK_BYTES ((size_t)4096) /* of a file: holes are made of such */
/* Smaller holes cost more than they save, as each splits a write in two. (1,472 images of 37 KiB,
 * 54 MB: 80 ms with holes of 4 KiB and more, 42 ms with these.) */
#define HOLE_BYTES ((size_t)16 * 1024)

/* With write_through, `temporary.fd` is the target itself, and there is no temporary name. */
struct pop_output {
  char *path;  /* as the caller gave it, for messages */
  char *final; /* where it goes: `path` with links followed */
  pop_temporary temporary;
  bool write_through;
  bool ends_in_hole; /* the last operation was a skip: the file's size is not right yet */
  uint64_t position;
  size_t buffered;
  uint8_t buffer[BUFFER_BYTES];
};

typedef struct held_signal {
  sigset_t before;
  bool was_pending;
} held_signal;

static void hold_back_sigxfsz(held_signal *held)
{
  sigset_t set, pending;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  sigpending(&pending);
  held->was_pending = sigismember(&pending, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &set, &held->before);
}

/* Swallows the SIGXFSZ that came meanwhile. */
static void release_sigxfsz(const held_signal *held)
{
  int saved_errno = errno;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  const struct timespec now = {0};
  if (!held->was_pending)
    while (sigtimedwait(&set, NULL, &now) < 0 && errno == EINTR) {
    }
  pthread_sigmask(SIG_SETMASK, &held->before, NULL);
  errno = saved_errno;
}

/* The descriptor that `path` is a name of: "/dev/stdout" -> 1, "/dev/fd/7" -> 7; -1 if none. */
static int descriptor_of(const char *path)
{
  static const char *const prefixes[] = {"/dev/fd/", "/proc/self/fd/"};
  if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
  if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    size_t length = strlen(prefixes[i]);
    if (strncmp(path, prefixes[i], length) != 0) continue;
    char *end;
    errno = 0;
    long fd = strtol(path + length, &end, 10);
    if (path[length] >= '0' && path[length] <= '9' && !*end && !errno && fd <= INT_MAX)
      return (int)fd;
  }
  return -1;
}

static pop_error *open_through(pop_output *output, int fd)
{
  if (fd < 0) return pop_error_errno(errno, "cannot write '%s'", output->path);
  output->temporary = (pop_temporary){.fd = fd, .slot = -1};
  output->write_through = true;
  return NULL;
}

/* Follows links, refuses what may not be written, makes the temporary file. */
static pop_error *open_replacing(pop_output *output, const struct stat *existing)
{
  char *real = existing ? realpath(output->path, NULL) : strdup(output->path);
  if (!real) return pop_error_errno(errno, "cannot write '%s'", output->path);
  output->final = real;
  if (existing && faccessat(AT_FDCWD, real, W_OK, AT_EACCESS) != 0)
    return pop_error_errno(errno, "cannot write '%s'", output->path);
  POP_TRY(temporary_create(real, &output->temporary));
  if (existing && fchmod(output->temporary.fd, existing->st_mode & 0777) != 0)
    return pop_error_errno(errno, "cannot give '%s' the mode of the file it replaces",
                           output->path);
  return NULL;
}

static pop_error *open_target(pop_output *output)
{
  const char *path = output->path;
  if (!*path) return pop_error_new(POP_ERROR_SYSTEM, "cannot write '': the file name is empty");
  int descriptor = descriptor_of(path);
  if (descriptor >= 0) return open_through(output, fcntl(descriptor, F_DUPFD_CLOEXEC, 3));

  struct stat existing;
  if (stat(path, &existing) != 0)
    return path[strlen(path) - 1] == '/'
               ? pop_error_new(POP_ERROR_SYSTEM, "cannot write '%s': that is a folder's name", path)
               : open_replacing(output, NULL);
  if (S_ISREG(existing.st_mode)) return open_replacing(output, &existing);
  if (S_ISDIR(existing.st_mode))
    return pop_error_new(POP_ERROR_SYSTEM, "cannot write '%s': it is a folder", path);
  return open_through(output, open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY));
}

/* Whatever has the name is replaced when the entry is complete. */
static pop_error *open_entry(pop_output *output)
{
  return open_replacing(output, NULL);
}

static pop_error *open_own_entry(pop_output *output)
{
  POP_TRY(open_entry(output));
  return fchmod(output->temporary.fd, S_IRUSR | S_IWUSR) == 0
             ? NULL
             : pop_error_errno(errno, "cannot write '%s' for its user alone", output->path);
}

static pop_error *open_by(pop_error *(*open)(pop_output *output), const char *path,
                          pop_output **output)
{
  pop_output *opened = pop_xmalloc(sizeof *opened);
  memset(opened, 0, offsetof(pop_output, buffer));
  opened->path = pop_xstrdup(path);
  opened->temporary.fd = -1;
  pop_error *error = open(opened);
  if (error) {
    pop_output_abort(opened);
    return error;
  }
  *output = opened;
  return NULL;
}

pop_error *pop_output_open(const char *path, pop_output **output)
{
  return open_by(open_target, path, output);
}

pop_error *pop_cache_entry_open(const char *path, pop_output **output)
{
  return open_by(open_entry, path, output);
}

pop_error *pop_cache_entry_open_own(const char *path, pop_output **output)
{
  return open_by(open_own_entry, path, output);
}

/* Writes at the current end (write-through), or at `offset` of the temporary file. */
static pop_error *put(pop_output *output, const uint8_t *bytes, size_t size, uint64_t offset)
{
  while (size) {
    int fd = output->temporary.fd;
    ssize_t n =
        output->write_through ? write(fd, bytes, size) : pwrite(fd, bytes, size, (off_t)offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return pop_error_errno(errno, "cannot write '%s'", output->path);
    bytes += n;
    size -= (size_t)n;
    offset += (uint64_t)n;
  }
  return NULL;
}

static pop_error *write_all(pop_output *output, const uint8_t *bytes, size_t size, uint64_t offset)
{
  held_signal held;
  hold_back_sigxfsz(&held);
  pop_error *error = put(output, bytes, size, offset);
  release_sigxfsz(&held);
  return error;
}

static pop_error *flush(pop_output *output)
{
  size_t size = output->buffered;
  output->buffered = 0;
  return size ? write_all(output, output->buffer, size, output->position - size) : NULL;
}

pop_error *pop_output_write(pop_output *output, const void *bytes, size_t size)
{
  if (!size) return NULL;
  if (size > BUFFER_BYTES - output->buffered) POP_TRY(flush(output));
  output->ends_in_hole = false;
  output->position += size;
  if (size >= BUFFER_BYTES) return write_all(output, bytes, size, output->position - size);
  memcpy(output->buffer + output->buffered, bytes, size);
  output->buffered += size;
  return NULL;
}

pop_error *pop_output_skip(pop_output *output, uint64_t size)
{
  static const uint8_t zeros[BLOCK_BYTES];
  if (output->write_through || size <= sizeof zeros) {
    for (size_t part; size; size -= part) {
      part = size < sizeof zeros ? (size_t)size : sizeof zeros;
      POP_TRY(pop_output_write(output, zeros, part));
    }
    return NULL;
  }
  POP_TRY(flush(output));
  if (size > INT64_MAX - output->position)
    return pop_error_errno(EFBIG, "cannot write '%s'", output->path);
  output->position += size;
  output->ends_in_hole = true;
  return NULL;
}

/* Compares the bytes with themselves one byte further on: if equal, every byte equals the first. */
static bool is_zero(const uint8_t *bytes, size_t size)
{
  return bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

/* The start and size of the first hole; without one, the end. `position` is that of `bytes`
 * in the file. The rest of a block that was begun earlier, and the part of a block at the
 * end, are no hole. */
static size_t find_hole(const uint8_t *bytes, size_t size, uint64_t position, size_t *hole_bytes)
{
  size_t at = (size_t)(-position % BLOCK_BYTES), zeros = 0;
  for (; at + BLOCK_BYTES <= size; at += BLOCK_BYTES)
    if (is_zero(bytes + at, BLOCK_BYTES))
      zeros += BLOCK_BYTES;
    else if (zeros >= HOLE_BYTES)
      break;
    else
      zeros = 0;
  *hole_bytes = zeros >= HOLE_BYTES ? zeros : 0;
  return *hole_bytes ? at - zeros : size;
}

static pop_error *put_with_holes(pop_output *output, const uint8_t *bytes, size_t size)
{
  while (size) {
    size_t hole_bytes, length = find_hole(bytes, size, output->position, &hole_bytes);
    POP_TRY(put(output, bytes, length, output->position));
    output->ends_in_hole = hole_bytes;
    output->position += length + hole_bytes;
    bytes += length + hole_bytes;
    size -= length + hole_bytes;
  }
  return NULL;
}

pop_error *pop_output_write_sparse(pop_output *output, const void *bytes, size_t size)
{
  if (output->write_through) return pop_output_write(output, bytes, size);
  POP_TRY(flush(output));
  held_signal held;
  hold_back_sigxfsz(&held);
  pop_error *error = put_with_holes(output, bytes, size);
  release_sigxfsz(&held);
  return error;
}

uint64_t pop_output_position(const pop_output *output)
{
  return output->position;
}

/* Everything that has to succeed before the file may have its final name. */
static pop_error *complete(pop_output *output)
{
  POP_TRY(flush(output));
  int fd = output->temporary.fd;
  int failed = 0;
  if (output->ends_in_hole) {
    held_signal held;
    hold_back_sigxfsz(&held);
    failed = ftruncate(fd, (off_t)output->position);
    release_sigxfsz(&held);
  }
  if (!failed && !output->write_through) failed = fsync(fd);
  if (failed) return pop_error_errno(errno, "cannot write '%s'", output->path);
  return NULL;
}

pop_error *file_make_executable(pop_output *output)
{
  struct stat status;
  int fd = output->temporary.fd;
  if (fstat(fd, &status) == 0) {
    if (!S_ISREG(status.st_mode)) return NULL;
    mode_t mode = status.st_mode & 0777;
    if (fchmod(fd, mode | (mode & 0444) >> 2) == 0) return NULL;
  }
  return pop_error_errno(errno, "cannot make '%s' executable", output->path);
}

/* The temporary is renamed before it is closed: until then its lock keeps sweepers away. After
 * fsync, closing cannot report any further error. */
pop_error *pop_output_commit(pop_output *output)
{
  pop_error *error = complete(output);
  if (!error && !output->write_through) error = temporary_rename(&output->temporary, output->final);
  int fd = output->temporary.fd;
  output->temporary.fd = -1;
  if (close(fd) != 0 && !error && output->write_through && errno != EINTR)
    error = pop_error_errno(errno, "cannot write '%s'", output->path);
  pop_output_abort(output); /* removes what is left of it, nothing after the rename */
  return error;
}

void pop_output_abort(pop_output *output)
{
  if (!output) return;
  if (!output->write_through) temporary_remove(&output->temporary);
  if (output->temporary.fd >= 0) close(output->temporary.fd);
  free(output->path);
  free(output->final);
  free(output);
}
