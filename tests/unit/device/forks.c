/* Another thread forks in the middle of a call about locks. Its child then shares open files, and
 * what was locked for a moment must not stay locked. */
#include "support/expect.h"

#include <fcntl.h>
#include <populus/populus.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_CHILDREN = 64 };
static pid_t children[MAX_CHILDREN];
static size_t num_children;
static bool forks;

/* The library's calls come here. */
int flock(int file, int operation)
{
  int result = (int)syscall(SYS_flock, file, operation);
  if (!forks || result != 0 || !(operation & LOCK_EX)) return result;
  cr_assert_lt(num_children, MAX_CHILDREN);
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
  }
  children[num_children++] = child;
  return result;
}

static void in_fresh_folder(void)
{
  enter_fresh_folder();
  cr_assert_eq(mkdir("run", 0700), 0);
  cr_assert_eq(setenv("POPULUS_RUN_DIR", "run", 1), 0);
}

static void expect_free(const char *path)
{
  int file = open(path, O_RDWR | O_CLOEXEC);
  cr_assert_geq(file, 0);
  cr_assert_eq(flock(file, LOCK_EX | LOCK_NB), 0, "%s is locked", path);
  close(file);
}

Test(forks, a_child_keeps_no_lock_of_a_look_or_a_refused_call, .init = in_fresh_folder)
{
  pop_device_manager *manager;
  pop_device *first, *both, *second;
  pop_device_attribute list[32];
  expect_ok(pop_device_manager_create(&manager));
  expect_ok(pop_device_manager_get_device(manager, 0, &first));
  expect_ok(pop_device_manager_get_device(manager, 1, &second));
  expect_ok(pop_device_manager_get_device(manager, 64, &both)); /* IPUs 0 and 1 */
  forks = true;
  (void)pop_device_get_attributes(first, list, 32);
  forks = false;
  cr_assert_gt(num_children, 0);
  expect_free("run/attach");
  expect_ok(pop_device_attach(second));
  forks = true;
  expect_error(pop_device_attach(both), POP_ERROR_SYSTEM, "its IPU 1 of 'ipu2'", "a part is taken");
  forks = false;
  expect_free("run/attach");
  expect_ok(pop_device_attach(first));
  for (size_t i = 0; i < num_children; i++) {
    kill(children[i], SIGKILL);
    waitpid(children[i], NULL, 0);
  }
  pop_device_manager_free(manager);
}
