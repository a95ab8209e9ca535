/* Temporary names for outputs, and their removal when a process dies.
 *
 * `dir/out.gp` is written as `dir/.out.gp.PID-N.tmp` in the same folder, because only there rename
 * is atomic. Three things can go wrong with such names:
 *
 *   - Something is there already, perhaps a symbolic link to a file of another's choice: O_EXCL
 *     refuses it, and the next N is taken.
 *   - The process is interrupted: its temporaries are in a table that a signal handler can walk.
 *     A name is taken out by an atomic exchange, and whoever took it removes the file.
 *   - The process is killed: the next one that writes the same output sweeps. A living writer holds
 *     a lock (flock) on its temporary, which the kernel drops at death, so a temporary that can be
 *     locked is a dead one's. Process ids would not tell: containers share folders, not processes.
 */
#include "file_internal.h"
#include "memory_internal.h"

#include <populus/arena.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_OPEN_TEMPORARIES 256
#define MAX_TRIES 1000
#define SUFFIX ".tmp"
/* How much of the final name is kept, so that the temporary name is not too long for
 * the file system. */
#define KEPT_NAME_LENGTH (NAME_MAX - 40)

static _Atomic(char *) open_temporaries[MAX_OPEN_TEMPORARIES];
/* The owners of the open temporaries, for temporaries_abandon. The opening thread writes
 * them, `scope` last. */
static struct {
  _Atomic(const void *) scope; /* of out_of_memory.c */
  int fd;
} owners[MAX_OPEN_TEMPORARIES];
static atomic_uint next_number;

void pop_output_remove_all_temporaries(void)
{
  int saved_errno = errno;
  for (int i = 0; i < MAX_OPEN_TEMPORARIES; i++) {
    char *name = atomic_exchange(&open_temporaries[i], NULL);
    if (name) unlink(name); /* not freed: this may run in a signal handler */
  }
  errno = saved_errno;
}

/* A place in the table, or -1. */
static int register_name(char *name)
{
  for (int i = 0; i < MAX_OPEN_TEMPORARIES; i++) {
    char *none = NULL;
    if (atomic_compare_exchange_strong(&open_temporaries[i], &none, name)) return i;
  }
  return -1;
}

/* Takes the name back: false if the signal handler has removed the file. */
static bool unregister_name(pop_temporary *temporary)
{
  char *name = temporary->name;
  temporary->name = NULL;
  atomic_store(&owners[temporary->slot].scope, NULL);
  return atomic_compare_exchange_strong(&open_temporaries[temporary->slot], &name, NULL);
}

/* A scope belongs to one thread: no other thread opens or closes in it. */
void temporaries_abandon(const void *scope)
{
  for (int i = 0; i < MAX_OPEN_TEMPORARIES; i++) {
    if (atomic_load(&owners[i].scope) != scope) continue;
    atomic_store(&owners[i].scope, NULL);
    char *name = atomic_exchange(&open_temporaries[i], NULL);
    if (name) unlink(name);
    free(name);
    close(owners[i].fd);
  }
}

void temporaries_change_owner(const void *scope, const void *outer)
{
  for (int i = 0; i < MAX_OPEN_TEMPORARIES; i++) {
    const void *of = scope;
    atomic_compare_exchange_strong(&owners[i].scope, &of, outer);
  }
}

/* Locks a file that was just created; false if a sweeper was faster and has removed it. A file
 * system without locks is no error, as nothing is swept there either. */
static bool lock_new(int fd)
{
  struct stat status;
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  return fstat(fd, &status) == 0 && status.st_nlink > 0;
}

/* Is `name` the file behind `fd`? A file that has the lock keeps its name, but before it was locked
 * its writer may have renamed it, and another writer may have taken the name: process ids of
 * containers are equal. */
static bool has_name(int fd, int dir, const char *name)
{
  struct stat file, named;
  return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) &&
         fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_dev == file.st_dev &&
         named.st_ino == file.st_ino;
}

/* Removes `name` if it is a regular file that nobody has locked. */
static void sweep_one(int dir, const char *name)
{
  int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0 && has_name(fd, dir, name)) unlinkat(dir, name, 0);
  close(fd);
}

/* Is `name` = prefix + digits + '-' + digits + ".tmp"? */
static bool is_temporary_name(const char *name, const char *prefix)
{
  size_t length = strlen(prefix);
  if (strncmp(name, prefix, length) != 0) return false;
  name += length;
  size_t pid = strspn(name, "0123456789");
  if (!pid || name[pid] != '-') return false;
  name += pid + 1;
  size_t number = strspn(name, "0123456789");
  return number && strcmp(name + number, SUFFIX) == 0;
}

static void sweep(const char *dir_name, const char *prefix)
{
  DIR *dir = opendir(dir_name);
  if (!dir) return; /* a folder that cannot be listed can still be written to */
  int fd = dirfd(dir);
  for (struct dirent *entry; fd >= 0 && (entry = readdir(dir));)
    if (is_temporary_name(entry->d_name, prefix)) sweep_one(fd, entry->d_name);
  closedir(dir);
}

/* "dir/" of "dir/name" (empty if there is none), and ".name." */
static void split(const char *path, char **dir, char **prefix)
{
  const char *slash = strrchr(path, '/');
  const char *base = slash ? slash + 1 : path;
  *dir = pop_xasprintf("%.*s", (int)(base - path), path);
  *prefix = pop_xasprintf(".%.*s.", KEPT_NAME_LENGTH, base);
}

static pop_error *create_error(int errnum, const char *path, const char *dir)
{
  if (errnum == ENOENT || errnum == ENOTDIR)
    return pop_error_new(
        POP_ERROR_SYSTEM, "cannot write '%s': %s '%s'", path,
        errnum == ENOENT ? "there is no folder" : "not a folder:", *dir ? dir : ".");
  return pop_error_errno(errnum, "cannot write '%s'", path);
}

static pop_error *create(const char *path, const char *dir, const char *prefix,
                         pop_temporary *temporary)
{
  for (int tries = 0; tries < MAX_TRIES; tries++) {
    char *name = pop_xasprintf("%s%s%ld-%u" SUFFIX, dir, prefix, (long)getpid(),
                               atomic_fetch_add(&next_number, 1));
    int slot = register_name(name);
    if (slot < 0) {
      free(name);
      return pop_error_new(POP_ERROR_SYSTEM, "cannot write '%s': %d outputs are open already", path,
                           MAX_OPEN_TEMPORARIES);
    }
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    int errnum = errno;
    *temporary = (pop_temporary){.fd = fd, .slot = slot, .name = name};
    if (fd >= 0 && lock_new(fd)) {
      owners[slot].fd = fd;
      atomic_store(&owners[slot].scope, memory_scope());
      return NULL;
    }
    if (unregister_name(temporary)) free(name);
    if (fd >= 0) {
      close(fd);
      continue;
    }
    if (errnum != EEXIST && errnum != EINTR) return create_error(errnum, path, dir);
  }
  return create_error(EEXIST, path, dir);
}

pop_error *temporary_create(const char *path, pop_temporary *temporary)
{
  char *dir, *prefix;
  split(path, &dir, &prefix);
  sweep(*dir ? dir : ".", prefix);
  pop_error *error = create(path, dir, prefix, temporary);
  free(dir);
  free(prefix);
  return error;
}

pop_error *temporary_rename(pop_temporary *temporary, const char *path)
{
  char *name = temporary->name;
  if (rename(name, path) != 0) {
    int errnum = errno;
    temporary_remove(temporary);
    return pop_error_errno(errnum, "cannot write '%s'", path);
  }
  if (unregister_name(temporary)) free(name);
  return NULL;
}

void temporary_remove(pop_temporary *temporary)
{
  char *name = temporary->name;
  if (!name || !unregister_name(temporary)) return;
  unlink(name);
  free(name);
}
