/* A mark in the object of a source that includes files which mention vectors of 64 bits (vectors.c): only libclang knows which
 * files those are. Files that come with popc do not count, as they define the types for everybody. */
#include "reflect_internal.h"

#include <populus/data_dir.h>

#include <string.h>

static bool is_of_popc(CXFile file)
{
  const char *folder = pop_data_dir();
  size_t length = strlen(folder);
  CXString name = clang_getFileName(file);
  const char *path = clang_getCString(name);
  bool is = !strncmp(path, folder, length) && !strncmp(path + length, "/device/", 8);
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
  if (s->found || is_of_popc(file)) return;
  size_t size;
  const char *text = clang_getFileContents(s->unit, file, &size);
  s->found = text && popc_mentions_vectors(text, size);
}

void reflect_vectors(reflection *r, pop_bytes *out)
{
  static const char mark[] = "__asm__(\".pushsection " POPC_VECTORS_SECTION
                             ",\\\"\\\",@progbits\\n.byte 1\\n.popsection\\n\");\n";
  if (r->target != POPC_TILE) return;
  search s = {r->unit, false};
  clang_getInclusions(r->unit, look_into, &s);
  if (s.found) pop_bytes_append(out, mark, sizeof mark - 1);
}
