/* Does a source depend on which IPU it is compiled for?
 *
 * It may if a file that was read mentions one of the macros that arguments.c defines differently
 * for each, or a constant that arch/gc_tile_defines.h makes of them; that header itself, which many
 * read and few use, does not count. (A name that is pasted together from two halves goes unnoticed.)
 * The object then holds a section that says so, which build.c looks for.
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

static bool is_constants_header(CXFile file)
{
  CXString name = clang_getFileName(file);
  const char *path = clang_getCString(name);
  size_t length = strlen(path), tail = sizeof constants_header - 1;
  bool is = length >= tail && strcmp(path + length - tail, constants_header) == 0;
  clang_disposeString(name);
  return is;
}

typedef struct search {
  CXTranslationUnit unit;
  bool found;
} search;

static void look_into(CXFile file, CXSourceLocation *stack, unsigned depth, CXClientData data)
{
  (void)stack;
  (void)depth;
  search *s = data;
  if (s->found || is_constants_header(file)) return;
  size_t size;
  const char *text = clang_getFileContents(s->unit, file, &size);
  for (size_t i = 0; text && i < sizeof macros / sizeof *macros; ++i)
    s->found |= memmem(text, size, macros[i], strlen(macros[i])) != NULL;
}

void reflect_architecture(reflection *r, pop_bytes *out)
{
  static const char mark[] = "__asm__(\".pushsection " POPC_ARCHITECTURE_SECTION
                             ",\\\"\\\",@progbits\\n.byte 1\\n.popsection\\n\");\n";
  if (r->target != POPC_TILE) return;
  search s = {r->unit, false};
  clang_getInclusions(r->unit, look_into, &s);
  if (s.found) pop_bytes_append(out, mark, sizeof mark - 1);
}
