/* Finding our own data files. The order is documented in populus/data_dir.h. */
#include <populus/data_dir.h>
#include <populus/file.h>

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_once_t found = PTHREAD_ONCE_INIT;
static char data_dir[PATH_MAX];

/* Takes folder of `file` + `relative` if it has the device headers. A path that is too long
 * does not count. */
static bool take_beside(const char *file, const char *relative)
{
  char path[PATH_MAX], probe[PATH_MAX], real[PATH_MAX];
  const char *slash = strrchr(file, '/');
  if (!slash) return false;
  int n = snprintf(path, sizeof path, "%.*s/%s", (int)(slash - file), file, relative);
  if (n < 0 || (size_t)n >= sizeof path) return false;
  n = snprintf(probe, sizeof probe, "%s/device/include", path);
  if (n < 0 || (size_t)n >= sizeof probe) return false;
  if (access(probe, R_OK | X_OK) != 0 || !realpath(path, real)) return false;
  strcpy(data_dir, real);
  return true;
}

static void find(void)
{
  const char *wanted = secure_getenv("POPULUS_DATA_DIR");
  if (wanted && *wanted && strlen(wanted) < sizeof data_dir) {
    strcpy(data_dir, wanted);
    return;
  }

  char program[PATH_MAX];
  if (pop_own_program_path(program, sizeof program) && take_beside(program, "../lib/populus"))
    return;

  /* In a static library this finds the program a second time, which is harmless. */
  Dl_info library;
  if (dladdr(&data_dir, &library) && library.dli_fname) {
    if (take_beside(library.dli_fname, "populus")) return;
    if (take_beside(library.dli_fname, "../populus")) return;
  }

  if (take_beside(POPULUS_DATA_DIR_BUILD "/", "")) return;
  strcpy(data_dir, POPULUS_DATA_DIR_INSTALL);
}

const char *pop_data_dir(void)
{
  pthread_once(&found, find);
  return data_dir;
}
