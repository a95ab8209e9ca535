#include "base/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

/* If memory is short, the dynamic linker says what it could not do, but not always why. */
void *library_load(const char *path, int flags, const char *symbol, const char **why)
{
  errno = 0;
  void *library = dlopen(path, flags), *found = library ? dlsym(library, symbol) : NULL;
  if (!found) *why = !library && errno == ENOMEM ? "out of memory" : dlerror();
  return found;
}
