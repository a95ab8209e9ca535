/* Saving an archive while something fails: the process is killed before or after any system call,
 * or at any moment, or any call fails. Then the final name has the old archive, none, or the
 * complete new one. The next save removes what a killed process left.
 *
 * The calls that change files are defined here, in place of the C library's. They count, and at a
 * chosen call they kill the process or fail. */
#include "save_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

TestSuite(save_faults, .init = enter_fresh_folder);

/* ---- calls ---- */

typedef enum fault { NO_FAULT, KILL_BEFORE, KILL_AFTER, FAIL, WRITE_HALF } fault;

static fault planned;
static atomic_int calls_left, calls_made;
static int planned_errno;

/* True for the chosen call. */
static bool is_due(void)
{
  if (planned == NO_FAULT) return false;
  atomic_fetch_add(&calls_made, 1);
  return atomic_fetch_sub(&calls_left, 1) == 1;
}

static bool fails(bool due)
{
  if (due && planned == KILL_BEFORE) raise(SIGKILL);
  if (due && planned == FAIL) errno = planned_errno;
  return due && planned == FAIL;
}

static long after(bool due, long result)
{
  if (due && planned == KILL_AFTER) raise(SIGKILL);
  return result;
}

/* `open` of files that are created. Opens for reading are not counted. */
int open(const char *path, int flags, ...)
{
  va_list args;
  va_start(args, flags);
  int mode = flags & O_CREAT ? va_arg(args, int) : 0;
  va_end(args);
  bool due = flags & O_CREAT && is_due();
  return fails(due) ? -1 : (int)after(due, syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
  bool due = is_due();
  if (due && planned == WRITE_HALF && size > 1) size /= 2;
  return fails(due) ? -1 : after(due, syscall(SYS_pwrite64, fd, bytes, size, offset));
}

int ftruncate(int fd, off_t size)
{
  bool due = is_due();
  return fails(due) ? -1 : (int)after(due, syscall(SYS_ftruncate, fd, size));
}

int fchmod(int fd, mode_t mode)
{
  bool due = is_due();
  return fails(due) ? -1 : (int)after(due, syscall(SYS_fchmod, fd, mode));
}

int fsync(int fd)
{
  bool due = is_due();
  return fails(due) ? -1 : (int)after(due, syscall(SYS_fsync, fd));
}

int rename(const char *from, const char *to)
{
  bool due = is_due();
  return fails(due) ? -1 : (int)after(due, syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

static void plan(fault what, int call, int error)
{
  planned = what;
  planned_errno = error;
  atomic_store(&calls_left, call);
  atomic_store(&calls_made, 0);
}

/* ---- contents of the folder ---- */

enum { TILES = 20 };
static const char old_content[] = "the old archive";

static uint8_t *whole; /* the new archive */
static size_t whole_size;

static void put_old(void)
{
  FILE *file = fopen("archive.a", "wb");
  cr_assert_not_null(file);
  cr_assert_eq(fputs(old_content, file) < 0, false);
  fclose(file);
}

/* The number of temporary files. No other files but the archive may exist. */
static int count_temporaries(void)
{
  int count = 0;
  DIR *dir = opendir(".");
  cr_assert_not_null(dir);
  for (struct dirent *entry; (entry = readdir(dir));) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (strcmp(entry->d_name, "archive.a") == 0) continue;
    cr_assert_eq(strncmp(entry->d_name, ".archive.a.", 11), 0, "%s", entry->d_name);
    count++;
  }
  closedir(dir);
  return count;
}

/* Returns true if the archive is the new one. */
static bool check_archive(bool had_old, const char *what, int call)
{
  uint8_t *bytes = NULL;
  size_t size = 0;
  if (access("archive.a", F_OK) != 0) {
    cr_assert_not(had_old, "%s %d: the old archive is gone", what, call);
    return false;
  }
  expect_ok(pop_file_read("archive.a", SIZE_MAX, &bytes, &size));
  bool new = size == whole_size &&memcmp(bytes, whole, size) == 0;
  bool old = had_old && size == sizeof old_content - 1 && memcmp(bytes, old_content, size) == 0;
  cr_assert(new || old, "%s %d: %zu bytes of neither the old nor the new archive", what, call,
            size);
  free(bytes);
  return new;
}

static pop_engine *prepare(const char *num_threads)
{
  pop_engine *engine = new_engine(TILES, num_threads);
  expect_ok(pop_engine_save_archive(engine, "archive.a"));
  expect_ok(pop_file_read("archive.a", SIZE_MAX, &whole, &whole_size));
  unlink("archive.a");
  return engine;
}

static void finish(pop_engine *engine)
{
  plan(NO_FAULT, 0, 0);
  expect_ok(pop_engine_save_archive(engine, "archive.a"));
  cr_assert(check_archive(true, "at last", 0));
  cr_assert_eq(count_temporaries(), 0, "the next save removes what dead ones left");
  pop_engine_free(engine);
  free(whole);
}

/* ---- kill ---- */

/* Saves in another process. Returns true if that was killed. */
static bool save_and_die(const pop_engine *engine, fault how, int call)
{
  pid_t child = fork();
  cr_assert_geq(child, 0);
  if (child == 0) {
    plan(how, call, 0);
    _exit(pop_engine_save_archive(engine, "archive.a") ? 1 : 0);
  }
  int status;
  cr_assert_eq(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status)) cr_assert_eq(WTERMSIG(status), SIGKILL);
  if (WIFEXITED(status)) cr_assert_eq(WEXITSTATUS(status), 0);
  return WIFSIGNALED(status);
}

static void kill_around_each_call(const char *num_threads, bool had_old)
{
  pop_engine *engine = prepare(num_threads);
  int killed = 0, renamed = 0;
  for (int call = 1, alive = 0; !alive; call++)
    for (fault how = KILL_BEFORE; how <= KILL_AFTER; how++) {
      unlink("archive.a");
      if (had_old) put_old();
      alive = !save_and_die(engine, how, call);
      renamed += check_archive(had_old, "killed at call", call);
      cr_assert_leq(count_temporaries(), 1, "killed at call %d", call);
      killed += !alive;
    }
  cr_assert_geq(killed, 2 * 5, "only %d calls", killed / 2);
  cr_assert_geq(renamed, 3, "killed after the rename, and the two that were not killed");
  finish(engine);
}

Test(save_faults, D07_killed_around_each_call_with_an_old_archive)
{
  kill_around_each_call("1", true);
}

Test(save_faults, D07_killed_around_each_call_without_an_old_archive)
{
  kill_around_each_call("1", false);
}

Test(save_faults, D07_killed_around_each_call_of_several_threads)
{
  kill_around_each_call("4", true);
}

static double now_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

Test(save_faults, D07_killed_at_any_moment)
{
  pop_engine *engine = prepare("3");
  unsigned seed = (unsigned)time(NULL);
  double start = now_seconds();
  cr_assert_not(save_and_die(engine, NO_FAULT, 0));
  double duration = now_seconds() - start;
  put_old();
  for (int round = 0; round < 30; round++) {
    pid_t child = fork();
    if (child == 0) _exit(pop_engine_save_archive(engine, "archive.a") ? 1 : 0);
    double seconds = duration * (rand_r(&seed) % 1000) / 1000;
    nanosleep(&(struct timespec){(time_t)seconds, (long)((seconds - (long)seconds) * 1e9)}, NULL);
    kill(child, SIGKILL);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    check_archive(true, "round", round);
    cr_assert_leq(count_temporaries(), 1, "round %d", round);
  }
  finish(engine);
}

/* ---- failing calls ---- */

static void fail_each_call(const char *num_threads, int error, bool had_old)
{
  pop_engine *engine = prepare(num_threads);
  int call = 1;
  for (bool failed = true; failed; call++) {
    unlink("archive.a");
    if (had_old) put_old();
    plan(FAIL, call, error);
    pop_error *got = pop_engine_save_archive(engine, "archive.a");
    failed = atomic_load(&calls_left) <= 0;
    plan(NO_FAULT, 0, 0);
    cr_assert_eq(got != NULL, failed, "call %d", call);
    if (failed) expect_error(got, POP_ERROR_SYSTEM, "archive.a'", strerror(error));
    cr_assert_eq(check_archive(had_old, "failed at call", call), !failed);
    cr_assert_eq(count_temporaries(), 0, "failed at call %d", call);
  }
  cr_assert_geq(call, 5, "only %d calls", call);
  finish(engine);
}

Test(save_faults, D01_disk_full_at_each_call)
{
  fail_each_call("1", ENOSPC, true);
}

Test(save_faults, D01_disk_full_at_each_call_without_an_old_archive)
{
  fail_each_call("1", ENOSPC, false);
}

Test(save_faults, D01_disk_full_at_each_call_of_several_threads)
{
  fail_each_call("4", ENOSPC, true);
}

Test(save_faults, D01_device_fails_at_each_call)
{
  fail_each_call("2", EIO, true);
}

Test(save_faults, D01_folder_that_may_not_be_written)
{
  fail_each_call("2", EROFS, true);
}

Test(save_faults, D02_a_write_that_takes_half_is_continued)
{
  pop_engine *engine = prepare("2");
  for (int call = 1; call <= 4; call++) {
    plan(WRITE_HALF, call, 0);
    expect_ok(pop_engine_save_archive(engine, "archive.a"));
    cr_assert(check_archive(false, "half at call", call));
  }
  finish(engine);
}
