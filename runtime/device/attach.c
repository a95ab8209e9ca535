/* Which process has which IPU. A system has a file, in which each IPU has a byte that its owner
 * locks, and a record that says who that is. A device of 1,024 IPUs so has one open file.
 *
 * The locks (F_OFD_SETLK) belong to an open file, not to a process. So they also conflict within a
 * process, and the kernel releases them however the process ends. Locks are taken one by one, and
 * then the records are written. Nobody may look at them meanwhile: it would see IPUs as taken that
 * are free again at once, or read who had them before. The lock on the file "attach" prevents that.
 * It is held for microseconds. A process that does not get it within a second (its holder is
 * stopped) continues without it.
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

/* The file of the device's system. */
static pop_error *open_locks(int folder, const pop_device *device, int *file)
{
  /* Each instance of poprun on a machine has devices of its own. */
  const char *set = secure_getenv("POPULUS_DEVICE_SET");
  unsigned long number = set && *set ? strtoul(set, NULL, 10) : 0;
  char name[DEVICE_MAX_SYSTEM_NAME + 48];
  if (number)
    snprintf(name, sizeof name, "%s.set%lu.ipus", device->system, number);
  else
    snprintf(name, sizeof name, "%s.ipus", device->system);
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

/* A child that another thread forks meanwhile has the file, too: closing it is not enough. */
static void leave(int guard)
{
  flock(guard, LOCK_UN);
  close(guard);
}

/* ---- who ---- */

enum { RECORD_BYTES = 256 };

static void write_user(int file, uint32_t ipu)
{
  char record[RECORD_BYTES] = "", executable[200] = "";
  (void)pop_own_program_path(executable, sizeof executable);
  snprintf(record, sizeof record, "%ld %s\n", (long)getpid(), executable);
  /* Only for a message, so a failure is ignored. */
  if (pwrite(file, record, sizeof record, (off_t)ipu * RECORD_BYTES) != RECORD_BYTES) return;
}

static void read_user(int file, uint32_t ipu, device_user *user)
{
  char text[RECORD_BYTES];
  ssize_t size = pread(file, text, sizeof text - 1, (off_t)ipu * RECORD_BYTES);
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
  read_user(file, device->ipus[i], &user);
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

/* F_OFD_SETLK: takes the lock of an IPU, if nobody has it. F_OFD_GETLK: *lock tells whether it could
 * be taken. */
static int call_lock(int file, int command, uint32_t ipu, struct flock *lock)
{
  *lock = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = ipu, .l_len = 1};
  return fcntl(file, command, lock);
}

static pop_error *lock_all(const pop_device *device, int file)
{
  for (uint32_t i = 0; i < device->target.num_ipus; i++) {
    struct flock lock;
    if (call_lock(file, F_OFD_SETLK, device->ipus[i], &lock) == 0) continue;
    return errno == EAGAIN || errno == EACCES ? taken(device, i, file)
                                              : pop_error_errno(errno, "cannot lock IPU %u of '%s'",
                                                                device->ipus[i], device->system);
  }
  for (uint32_t i = 0; i < device->target.num_ipus; i++) write_user(file, device->ipus[i]);
  return NULL;
}

static pop_error *open_and_lock(pop_device *device, int folder)
{
  static const struct flock nothing = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
  POP_TRY(open_locks(folder, device, &device->locks));
  pop_error *error = lock_all(device, device->locks);
  if (error) {
    fcntl(device->locks, F_OFD_SETLK, &nothing); /* as in `leave` */
    close(device->locks);
  }
  return error;
}

pop_error *device_lock(pop_device *device)
{
  int folder, guard;
  POP_TRY(open_folder(&folder));
  pop_error *error = enter(folder, &guard);
  if (!error) {
    error = open_and_lock(device, folder);
    leave(guard);
  }
  close(folder);
  return error;
}

void device_unlock(pop_device *device)
{
  close(device->locks);
}

static bool is_taken(const pop_device *device, uint32_t i, int file, device_user *user)
{
  struct flock lock;
  if (call_lock(file, F_OFD_GETLK, device->ipus[i], &lock) != 0 || lock.l_type == F_UNLCK)
    return false;
  read_user(file, device->ipus[i], user);
  return true;
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
  int file;
  error = enter(folder, &guard);
  if (!error) {
    error = open_locks(folder, device, &file);
    for (uint32_t i = 0; !error && i < device->target.num_ipus && !found; i++)
      found = is_taken(device, i, file, user);
    if (!error) close(file);
    leave(guard);
  }
  pop_error_free(error);
  close(folder);
  return found;
}
