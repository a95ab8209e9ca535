/* Does a source depend on which IPU it is compiled for?
 *
 * It may if a file that was read mentions one of the macros that arguments.c defines differently
 * for each. (A name that is pasted together from two halves goes unnoticed.) The object then holds
 * a section that says so, which build.c looks for.
 */
#include "reflect_internal.h"

#include <string.h>

static const char *const macros[] = {"__IPU_ARCH_VERSION__", "__IPU_REPEAT_COUNT_SIZE__"};

typedef struct search {
  CXTranslationUnit unit;
  bool found;
} search;

static void look_into(CXFile file, CXSourceLocation *stack, unsigned depth, CXClientData data)
{
  (void)stack;
  (void)depth;
  search *s = data;
  if (s->found) return;
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
