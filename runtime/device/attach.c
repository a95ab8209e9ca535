/* Which process has which IPU. Each IPU has a file, and its owner holds a lock on it.
 *
 * flock belongs to an open file, not to a process. So it also conflicts within a process, and the
 * kernel releases it however the process ends. The file says who holds the lock. A device of
 * several IPUs takes its locks one by one. Nobody may look at them meanwhile: it would see IPUs as
 * taken that are free again at once. The lock on the file "attach" prevents that. It is held for
 * microseconds. A process that does not get it within a second (its holder is stopped) continues
 * without it.
 *
 * Only the user may own the folder and write to it, because in /tmp anybody can make files. */
#include "device/device.h"

#include <errno.h>
#include <fcntl.h>
#include <populus/arena.h>
#include <populus/file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the folder ---- */

static char *folder_path(void)
{
  const char *own = secure_getenv("POPULUS_RUN_DIR"), *runtime = secure_getenv("XDG_RUNTIME_DIR");
  if (own && *own) return pop_xstrdup(own);
  if (runtime && *runtime == '/') return pop_xasprintf("%s/populus", runtime);
  return pop_xasprintf("/tmp/populus-%lu", (unsigned long)getuid());
}

static pop_error *check_folder(int folder, const char *path)
{
  struct stat facts;
  if (fstat(folder, &facts) != 0)
    return pop_error_errno(errno, "cannot look at the folder '%s'", path);
  if (facts.st_uid == getuid() && !(facts.st_mode & (S_IWGRP | S_IWOTH))) return NULL;
  return pop_error_new(
      POP_ERROR_SYSTEM,
      "cannot keep the locks of devices in '%s': %s; set POPULUS_RUN_DIR to a "
      "folder of your own",
      path, facts.st_uid == getuid() ? "others may write to it" : "it belongs to another user");
}

/* Opens the folder. Makes it if it does not exist. */
static pop_error *open_folder(int *folder)
{
  char *path = folder_path();
  pop_error *error = NULL;
  if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST)
    error = pop_error_errno(errno, "cannot make the folder '%s' for the locks of devices", path);
  if (!error) {
    *folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    error = *folder < 0 ? pop_error_errno(errno, "cannot keep the locks of devices in '%s'", path)
                        : check_folder(*folder, path);
    if (error && *folder >= 0) close(*folder);
  }
  free(path);
  return error;
}

static pop_error *open_file(int folder, const char *name, int *file)
{
  *file = openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (*file >= 0) return NULL;
  return pop_error_errno(errno, "cannot open the lock '%s' of a device", name);
}

static pop_error *open_lock(int folder, const pop_device *device, uint32_t i, int *file)
{
  /* Each instance of poprun on a machine has devices of its own. */
  const char *set = secure_getenv("POPULUS_DEVICE_SET");
  unsigned long number = set && *set ? strtoul(set, NULL, 10) : 0;
  char name[DEVICE_MAX_SYSTEM_NAME + 48];
  if (number)
    snprintf(name, sizeof name, "%s.set%lu.ipu%u", device->system, number, device->ipus[i]);
  else
    snprintf(name, sizeof name, "%s.ipu%u", device->system, device->ipus[i]);
  return open_file(folder, name, file);
}

/* ---- one at a time ---- */

static pop_error *enter(int folder, int *guard)
{
  enum { TRIES = 1000, NANOSECONDS = 1000000 };
  POP_TRY(open_file(folder, "attach", guard));
  for (int i = 0; i < TRIES && flock(*guard, LOCK_EX | LOCK_NB) != 0; i++)
    nanosleep(&(struct timespec){.tv_nsec = NANOSECONDS}, NULL);
  return NULL;
}

/* ---- who ---- */

static void write_user(int file)
{
  char text[256], executable[200] = "";
  (void)pop_own_program_path(executable, sizeof executable);
  int size = snprintf(text, sizeof text, "%ld %s\n", (long)getpid(), executable);
  /* Only for a message, so a failure is ignored. */
  if (ftruncate(file, 0) != 0 || pwrite(file, text, (size_t)size, 0) != size) return;
}

static void read_user(int file, device_user *user)
{
  char text[256];
  ssize_t size = pread(file, text, sizeof text - 1, 0);
  text[size > 0 ? size : 0] = '\0';
  char *end;
  user->pid = strtol(text, &end, 10);
  end += *end == ' ';
  snprintf(user->executable, sizeof user->executable, "%.*s", (int)strcspn(end, "\n"), end);
}

static pop_error *taken(const pop_device *device, uint32_t i, int file)
{
  device_user user;
  char who[256] = "another process";
  read_user(file, &user);
  if (user.pid == getpid())
    snprintf(who, sizeof who, "this process");
  else if (user.pid > 0)
    snprintf(who, sizeof who, "process %ld%s%s", user.pid, user.executable[0] ? ", " : "",
             user.executable);
  return pop_error_new(POP_ERROR_SYSTEM,
                       "cannot attach to device %u: its IPU %u of '%s' is taken by %s", device->id,
                       device->ipus[i], device->system, who);
}

/* ---- locks ---- */

static pop_error *lock_all(pop_device *device, int folder, uint32_t *count)
{
  for (; *count < device->target.num_ipus; ++*count) {
    int file;
    POP_TRY(open_lock(folder, device, *count, &file));
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
      pop_error *error = errno == EWOULDBLOCK
                             ? taken(device, *count, file)
                             : pop_error_errno(errno, "cannot lock IPU %u of '%s'",
                                               device->ipus[*count], device->system);
      close(file);
      return error;
    }
    write_user(file);
    device->locks[*count] = file;
  }
  return NULL;
}

static void unlock(pop_device *device, uint32_t count)
{
  while (count > 0) close(device->locks[--count]);
  free(device->locks);
  device->locks = NULL;
}

pop_error *device_lock(pop_device *device)
{
  int folder, guard;
  uint32_t count = 0;
  POP_TRY(open_folder(&folder));
  pop_error *error = enter(folder, &guard);
  if (!error) {
    device->locks = pop_xcalloc(device->target.num_ipus, sizeof *device->locks);
    error = lock_all(device, folder, &count);
    if (error) unlock(device, count);
    close(guard);
  }
  close(folder);
  return error;
}

void device_unlock(pop_device *device)
{
  unlock(device, device->target.num_ipus);
}

static bool is_taken(int folder, const pop_device *device, uint32_t i, device_user *user)
{
  int file;
  pop_error *error = open_lock(folder, device, i, &file);
  if (error) {
    pop_error_free(error);
    return false;
  }
  bool found = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (found) read_user(file, user);
  close(file);
  return found;
}

bool device_find_user(const pop_device *device, device_user *user)
{
  int folder, guard;
  pop_error *error = open_folder(&folder);
  if (error) {
    pop_error_free(error);
    return false;
  }
  bool found = false;
  error = enter(folder, &guard);
  if (!error) {
    for (uint32_t i = 0; i < device->target.num_ipus && !found; i++)
      found = is_taken(folder, device, i, user);
    close(guard);
  }
  pop_error_free(error);
  close(folder);
  return found;
}
