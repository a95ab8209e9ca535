/* Marks: a section of the object that says what one of the files of its source mentions. */
#include "reflect_internal.h"

#include <string.h>

typedef struct search {
  CXTranslationUnit unit;
  reflect_mentions mentions;
  bool found;
} search;

static void search_file(CXFile file, CXSourceLocation *stack, unsigned depth, CXClientData data)
{
  (void)stack;
  (void)depth;
  search *s = data;
  if (s->found) return;
  size_t size;
  const char *text = clang_getFileContents(s->unit, file, &size);
  CXString name = clang_getFileName(file);
  s->found = text && s->mentions(clang_getCString(name), text, size);
  clang_disposeString(name);
}

void reflect_mark(reflection *r, reflect_mentions mentions, const char *section, pop_bytes *out)
{
  static const char before[] = "__asm__(\".pushsection ";
  static const char behind[] = ",\\\"\\\",@progbits\\n.byte 1\\n.popsection\\n\");\n";
  if (r->target != POPC_TILE) return;
  search s = {r->unit, mentions, false};
  clang_getInclusions(r->unit, search_file, &s);
  if (!s.found) return;
  pop_bytes_append(out, before, sizeof before - 1);
  pop_bytes_append(out, section, strlen(section));
  pop_bytes_append(out, behind, sizeof behind - 1);
}
