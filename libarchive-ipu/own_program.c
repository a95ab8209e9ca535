/* The running program: /proc knows it best. Without /proc, the kernel's answer at the
 * start is used. */
#include <populus/file.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define LINK "/proc/self/exe"

const char *pop_own_program_to_open(void)
{
  const char *started = (const char *)getauxval(AT_EXECFN); /* NOLINT(performance-no-int-to-ptr) */
  return access(LINK, R_OK) == 0 || !started ? LINK : started;
}

bool pop_own_program_path(char *path, size_t size)
{
  char real[PATH_MAX];
  ssize_t length = readlink(LINK, real, sizeof real - 1);
  if (length >= 0) real[length] = '\0';
  if (length < 0 && !realpath(pop_own_program_to_open(), real)) return false;
  if (strlen(real) >= size) return false;
  strcpy(path, real);
  return true;
}
