/* Does a source depend on which IPU it is compiled for?
 *
 * It may, if a file that was read mentions one of the macros that arguments.c defines
 * differently for each IPU, or one of the constants that arch/gc_tile_defines.h derives from
 * them. That header itself does not count: many sources include it and few use it. A name that
 * is pasted together from two halves goes unnoticed. The object then holds a section, the mark,
 * for which build.c looks.
 */
#include "reflect_internal.h"

#include <string.h>

static const char constants_header[] = "arch/gc_tile_defines.h";
static const char *const macros[] = {
    "__IPU_ARCH_VERSION__",
    "__IPU_REPEAT_COUNT_SIZE__",
    "TMEM_REGION0_BASE_ADDR",
    "TMEM_REGION0_SIZE",
    "TMEM_REGION1_SIZE",
    "TMEM_BASE_ADDR",
    "CSR_W_REPEAT_COUNT__VALUE__MASK",
};

static bool mentions_macro(const char *path, const char *text, size_t size)
{
  size_t length = strlen(path), tail = sizeof constants_header - 1;
  if (length >= tail && strcmp(path + length - tail, constants_header) == 0) return false;
  for (size_t i = 0; i < sizeof macros / sizeof *macros; ++i)
    if (memmem(text, size, macros[i], strlen(macros[i]))) return true;
  return false;
}

void reflect_architecture(reflection *r, pop_bytes *out)
{
  reflect_mark(r, mentions_macro, POPC_ARCHITECTURE_SECTION, out);
}
