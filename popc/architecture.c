/* Does a source depend on which IPU it is compiled for? It may, if a file that was read mentions it
 * (ipu_macros.c). arch/gc_tile_defines.h itself does not count: many sources include it and few use
 * it. The object then holds a section, the mark, for which build.c looks.
 */
#include "reflect_internal.h"

#include <string.h>

static const char constants_header[] = "arch/gc_tile_defines.h";
static bool mentions_macro(const char *path, const char *text, size_t size)
{
  size_t length = strlen(path), tail = sizeof constants_header - 1;
  if (length >= tail && strcmp(path + length - tail, constants_header) == 0) return false;
  return popc_mentions_architecture(text, size);
}

void reflect_architecture(reflection *r, pop_bytes *out)
{
  reflect_mark(r, mentions_macro, POPC_ARCHITECTURE_SECTION, out);
}
