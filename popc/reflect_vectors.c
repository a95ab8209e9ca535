/* Marks the object of a source that includes files which mention vectors of 64 bits
 * (vectors.c). Only libclang knows these files. Headers of popc do not count, as they define
 * the types for everybody. */
#include "reflect_internal.h"

#include <populus/data_dir.h>

#include <string.h>

static bool mentions_vectors(const char *path, const char *text, size_t size)
{
  const char *folder = pop_data_dir();
  size_t length = strlen(folder);
  if (!strncmp(path, folder, length) && !strncmp(path + length, "/device/", 8)) return false;
  return popc_mentions_vectors(text, size);
}

void reflect_vectors(reflection *r, pop_bytes *out)
{
  reflect_mark(r, mentions_vectors, POPC_VECTORS_SECTION, out);
}
