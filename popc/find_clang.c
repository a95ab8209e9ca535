/* Where clang is: POPC_CLANG, or clang-19 in PATH, or where the build found it. */
#include "popc_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WANTED "clang-19"

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

pop_error *popc_find_clang(pop_arena *arena, const char **path)
{
  const char *wanted = getenv("POPC_CLANG");
  if (wanted && *wanted) {
    if (access(wanted, X_OK) != 0)
      return pop_error_new(POP_ERROR_SYSTEM,
                           "cannot run '%s', which the environment variable POPC_CLANG names: it "
                           "must be a clang of version 19",
                           wanted);
    *path = wanted;
    return NULL;
  }
  *path = search_path(arena, getenv("PATH"));
  if (*path) return NULL;
  if (access(POPULUS_CLANG, X_OK) == 0) {
    *path = POPULUS_CLANG;
    return NULL;
  }
  return pop_error_new(POP_ERROR_SYSTEM, "cannot find " WANTED " in PATH nor as " POPULUS_CLANG
                                         ": install it, or name it in POPC_CLANG");
}
