/* Where clang is: POPC_CLANG, or clang-19 in PATH, or where the build found it.
 *
 * And where clang's own headers (stddef.h, ...) are. By default clang looks for them beside itself,
 * and libclang beside wherever the dynamic linker found libclang. Both get the folder as an
 * argument, so that they see the same headers.
 */
#include "popc_internal.h"

#include <populus/data_dir.h>

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WANTED "clang-19"
#define WANTED_VERSION "19."

static const char *search_path(pop_arena *arena, const char *folders)
{
  while (folders && *folders) {
    size_t length = strcspn(folders, ":");
    const char *path = length ? pop_arena_printf(arena, "%.*s/" WANTED, (int)length, folders)
                              : pop_arena_strdup(arena, "./" WANTED);
    if (access(path, X_OK) == 0) return path;
    folders += length + (folders[length] == ':');
  }
  return NULL;
}

/* The first bytes that `path -dumpversion` prints, or "". */
static void ask_version(const char *path, char version[32])
{
  int ends[2];
  *version = '\0';
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  char *const command[] = {(char *)path, "-dumpversion", NULL};
  pid_t child;
  bool started = posix_spawn(&child, path, &actions, NULL, command, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (started) {
    ssize_t n = read(ends[0], version, 31);
    version[n > 0 ? n : 0] = '\0';
    version[strcspn(version, "\r\n")] = '\0';
    waitpid(child, NULL, 0);
  }
  close(ends[0]);
}

static pop_error *check_named(const char *path)
{
  if (access(path, X_OK) != 0)
    return pop_error_new(POP_ERROR_SYSTEM,
                         "cannot run '%s', which the environment variable POPC_CLANG names: it "
                         "must be a clang of version 19",
                         path);
  char version[32];
  ask_version(path, version);
  if (!strncmp(version, WANTED_VERSION, strlen(WANTED_VERSION))) return NULL;
  return pop_error_new(POP_ERROR_SYSTEM,
                       "'%s', which the environment variable POPC_CLANG names, has version '%s': "
                       "it must be a clang of version 19",
                       path, version);
}

pop_error *popc_find_clang(pop_arena *arena, const char **path)
{
  const char *wanted = secure_getenv("POPC_CLANG");
  if (wanted && *wanted) {
    POP_TRY(check_named(wanted));
    *path = wanted;
    return NULL;
  }
  *path = search_path(arena, secure_getenv("PATH"));
  if (*path) return NULL;
  if (access(POPULUS_CLANG, X_OK) == 0) {
    *path = POPULUS_CLANG;
    return NULL;
  }
  return pop_error_new(POP_ERROR_SYSTEM, "cannot find " WANTED " in PATH nor as " POPULUS_CLANG
                                         ": install it, or name it in POPC_CLANG");
}

static const char *resources_beside(pop_arena *arena, const char *clang)
{
  char place[PATH_MAX];
  if (!clang || !realpath(clang, place)) return NULL;
  *strrchr(place, '/') = '\0';
  const char *folder = pop_arena_printf(arena, "%s/../lib/clang/19", place);
  if (access(pop_arena_printf(arena, "%s/include/stddef.h", folder), R_OK) != 0) return NULL;
  return realpath(folder, place) ? pop_arena_strdup(arena, place) : NULL;
}

/* If `clang` is a wrapper script, the folder is that of the clang that is found otherwise. */
const char *popc_resource_folder(pop_arena *arena, const char *clang)
{
  const char *folder = resources_beside(arena, clang);
  if (!folder) folder = resources_beside(arena, search_path(arena, secure_getenv("PATH")));
  if (!folder) folder = resources_beside(arena, POPULUS_CLANG);
  return folder;
}

static bool is_same_file(const char *a, const char *b)
{
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Only for the clang that popc was built with, which is known to load shared libraries. The dynamic
 * linker ends a name in LD_PRELOAD at blanks and colons. */
const char *popc_fork_library(pop_arena *arena, const char *clang)
{
  const char *library = pop_arena_printf(arena, "%s/popc-fork.so", pop_data_dir());
  bool usable = is_same_file(clang, POPULUS_CLANG) && !strpbrk(library, " :\t\n") &&
                library[0] == '/' && access(library, R_OK) == 0;
  return usable ? library : NULL;
}
