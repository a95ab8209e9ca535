/* May a text depend on the IPU? It does if it mentions one of the macros that arguments.c defines
 * differently for each IPU, or one of the constants that arch/gc_tile_defines.h derives from them. A
 * name that is pasted together from two halves goes unnoticed. */
#include "popc_internal.h"

#include <string.h>

static const char *const macros[] = {
    "__IPU_ARCH_VERSION__",
    "__IPU_REPEAT_COUNT_SIZE__",
    "TMEM_REGION0_BASE_ADDR",
    "TMEM_REGION0_SIZE",
    "TMEM_REGION1_SIZE",
    "TMEM_BASE_ADDR",
    "CSR_W_REPEAT_COUNT__VALUE__MASK",
};

bool popc_mentions_architecture(const void *text, size_t size)
{
  for (size_t i = 0; i < sizeof macros / sizeof *macros; ++i)
    if (memmem(text, size, macros[i], strlen(macros[i]))) return true;
  return false;
}
