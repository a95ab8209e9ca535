/* What only the compiler knows: the kind and compute() of a class whose bases, or compute()'s type,
 * depend on template parameters. Text like this is appended to the source, which is then read again:
 *
 *     namespace populus_probe {
 *       ...
 *       constexpr int probe_0 = ask<popops::Fill<float>>();
 *     }
 *
 * and libclang evaluates the constants. An answer is
 *
 *     bits 0-1   0: no vertex, else the number of the kind + 1
 *     bits 2-3   0: no compute() that can be called as the kind wants, else its result + 1
 *
 * in the order of pop_vertex_kind and vertex_result.
 */
#include "reflect_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char questions[] =
    "\n\n#if __INCLUDE_LEVEL__ == 0\n"
    "#pragma clang diagnostic ignored \"-Weverything\"\n"
    "# 1 \"populus-probes\" 3\n"
    "namespace populus_probe {\n"
    "template <typename V> V &vertex();\n"
    "template <typename R> constexpr int result() {\n"
    "  return __is_same(R, bool) ? 1 : __is_same(R, void) ? 2 : 3;\n"
    "}\n"
    "template <typename V, typename = void> struct without {\n"
    "  static constexpr int value = 0;\n"
    "};\n"
    "template <typename V> struct without<V, decltype(void(vertex<V>().compute()))> {\n"
    "  static constexpr int value = result<decltype(vertex<V>().compute())>();\n"
    "};\n"
    "template <typename V, typename = void> struct with {\n"
    "  static constexpr int value = 0;\n"
    "};\n"
    "template <typename V> struct with<V, decltype(void(vertex<V>().compute(0u)))> {\n"
    "  static constexpr int value = result<decltype(vertex<V>().compute(0u))>();\n"
    "};\n"
    "template <typename V> constexpr int ask() {\n"
    "  return __is_base_of(::poplar::SupervisorVertex, V) ? 3 | without<V>::value << 2\n"
    "         : __is_base_of(::poplar::MultiVertex, V)    ? 2 | with<V>::value << 2\n"
    "         : __is_base_of(::poplar::Vertex, V)         ? 1 | without<V>::value << 2 : 0;\n"
    "}\n";

static void put(pop_bytes *out, const char *text)
{
  pop_bytes_append(out, text, strlen(text));
}

void reflect_write_probes(const reflection *r, pop_bytes *out)
{
  put(out, questions);
  for (size_t i = 0; i < r->num_probes; ++i) {
    char *line = pop_xasprintf("constexpr int probe_%zu = ask<%s>();\n", i, r->probes[i].name);
    put(out, line);
    free(line);
  }
  put(out, "}\n#endif\n");
}

static enum CXChildVisitResult read_probe(CXCursor cursor, CXCursor parent, CXClientData data)
{
  (void)parent;
  reflection *r = data;
  size_t index;
  CXString name = clang_getCursorSpelling(cursor);
  bool ours = clang_getCursorKind(cursor) == CXCursor_VarDecl &&
              sscanf(clang_getCString(name), "probe_%zu", &index) == 1 && index < r->num_probes;
  clang_disposeString(name);
  if (!ours) return CXChildVisit_Continue;
  CXEvalResult value = clang_Cursor_Evaluate(cursor);
  if (!value) return CXChildVisit_Continue;
  unsigned answer = (unsigned)clang_EvalResult_getAsInt(value);
  clang_EvalResult_dispose(value);
  probe *p = &r->probes[index];
  p->is_vertex = answer & 3;
  if (p->is_vertex) p->kind = (pop_vertex_kind)((answer & 3) - 1);
  p->has_compute = answer >> 2;
  if (p->has_compute) p->result = (vertex_result)((answer >> 2) - 1);
  return CXChildVisit_Continue;
}

static enum CXChildVisitResult find_probes(CXCursor cursor, CXCursor parent, CXClientData data)
{
  (void)parent;
  if (clang_getCursorKind(cursor) != CXCursor_Namespace) return CXChildVisit_Continue;
  CXString name = clang_getCursorSpelling(cursor);
  if (!strcmp(clang_getCString(name), "populus_probe"))
    clang_visitChildren(cursor, read_probe, data);
  clang_disposeString(name);
  return CXChildVisit_Continue;
}

void reflect_read_probes(reflection *r)
{
  clang_visitChildren(clang_getTranslationUnitCursor(r->unit), find_probes, r);
  r->probed = true;
}

const probe *reflect_find_probe(const reflection *r, const char *name)
{
  for (size_t i = 0; i < r->num_probes; ++i)
    if (!strcmp(r->probes[i].name, name)) return &r->probes[i];
  return NULL;
}
