/* Questions that only the compiler can answer: the kind and compute() of a class whose bases, or
 * whose compute()'s type, depend on template parameters, and what these bases are. Text like this
 * is appended to the source, which is then read again:
 *
 *     namespace populus_probe {
 *       ...
 *       constexpr int probe_0 = __ask<popops::Fill<float>>();
 *     }
 *
 * libclang evaluates the constants. An answer is
 *
 *     bits 0-1   0: no vertex, else the number of the kind + 1
 *     bits 2-3   0: no compute() that can be called as the kind wants, else its result + 1
 *     bit 4      there is a second kind
 *
 * in the order of pop_vertex_kind and vertex_result.
 *
 * libclang shows no bases of an instantiation. But inside a class the name of a base's template
 * stands for the base (the injected class name, which is inherited). So
 *
 *       using derived_0 = ns::Fill<float>;   using base_of_0 = base_0<ns::Fill<float>>::__type;
 *
 * with a base_0 that takes V::Base, are the class and its base that is written Base<T>. A private
 * base has a name, too, as the source is read with -fno-access-control then.
 */
#include "reflect_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No source has macros of these names; it may well have V, R, value or type. */
static const char questions_begin[] = "\n\n#if __INCLUDE_LEVEL__ == 0\n"
                                      "#pragma clang diagnostic ignored \"-Weverything\"\n"
                                      "# 1 \"populus-probes\" 3\n";
static const char questions[] =
    "namespace populus_probe {\n"
    "template <typename __V> __V &__vertex();\n"
    "template <typename __R> constexpr int __result() {\n"
    "  return __is_same(__R, bool) ? 1 : __is_same(__R, void) ? 2 : 3;\n"
    "}\n"
    "template <typename __V, typename = void> struct __without {\n"
    "  static constexpr int __value = 0;\n"
    "};\n"
    "template <typename __V> struct __without<__V, decltype(void(__vertex<__V>().compute()))> {\n"
    "  static constexpr int __value = __result<decltype(__vertex<__V>().compute())>();\n"
    "};\n"
    "template <typename __V, typename = void> struct __with {\n"
    "  static constexpr int __value = 0;\n"
    "};\n"
    "template <typename __V> struct __with<__V, decltype(void(__vertex<__V>().compute(0u)))> {\n"
    "  static constexpr int __value = __result<decltype(__vertex<__V>().compute(0u))>();\n"
    "};\n"
    "template <typename __V> constexpr int __kinds() {\n"
    "  return __is_base_of(::poplar::SupervisorVertex, __V) + "
    "__is_base_of(::poplar::MultiVertex, __V) + __is_base_of(::poplar::Vertex, __V);\n"
    "}\n"
    "template <typename __V> constexpr int __ask() {\n"
    "  return (__kinds<__V>() > 1) << 4 | (__is_base_of(::poplar::SupervisorVertex, __V) ? 3 | "
    "__without<__V>::__value << 2\n"
    "         : __is_base_of(::poplar::MultiVertex, __V)    ? 2 | __with<__V>::__value << 2\n"
    "         : __is_base_of(::poplar::Vertex, __V)         ? 1 | __without<__V>::__value << 2 : "
    "0);\n"
    "}\n";

static void put(pop_bytes *out, const char *text)
{
  pop_bytes_append(out, text, strlen(text));
}

static void put_base(size_t i, const dependent_base *base, pop_bytes *out)
{
  char *text = pop_xasprintf(
      "template <typename __V, typename = void> struct base_%zu { using __type = void; };\n"
      "template <typename __V> struct base_%zu<__V, decltype(void(static_cast<typename __V::%s *>"
      "(static_cast<__V *>(nullptr))))> { using __type = typename __V::%s; };\n"
      "using derived_%zu = %s;\nusing base_of_%zu = base_%zu<%s>::__type;\n",
      i, i, base->name, base->name, i, base->derived, i, i, base->derived);
  put(out, text);
  free(text);
}

void reflect_write_probes(const reflection *r, pop_bytes *out)
{
  put(out, questions_begin);
  for (size_t i = 0; i < r->num_aliases; ++i) {
    put(out, r->aliases[i].definition);
    put(out, "\n");
  }
  put(out, questions);
  for (size_t i = 0; i < r->num_probes; ++i) {
    char *line = pop_xasprintf("constexpr int probe_%zu = __ask<%s>();\n", i, r->probes[i].name);
    put(out, line);
    free(line);
  }
  for (size_t i = 0; i < r->num_bases; ++i) put_base(i, &r->bases[i], out);
  put(out, "}\n#endif\n");
}

static void read_base(CXCursor cursor, reflection *r, const char *name)
{
  size_t index;
  CXType type = clang_getCanonicalType(clang_getTypedefDeclUnderlyingType(cursor));
  CXCursor declared = clang_getTypeDeclaration(type);
  CXCursor class_cursor =
      type.kind == CXType_Record ? clang_getCursorDefinition(declared) : clang_getNullCursor();
  if (sscanf(name, "derived_%zu", &index) == 1 && index < r->num_bases)
    r->bases[index].derived_class = class_cursor;
  if (sscanf(name, "base_of_%zu", &index) == 1 && index < r->num_bases)
    r->bases[index].base_class = class_cursor;
}

static enum CXChildVisitResult read_probe(CXCursor cursor, CXCursor parent, CXClientData data)
{
  (void)parent;
  reflection *r = data;
  size_t index;
  CXString name = clang_getCursorSpelling(cursor);
  if (clang_getCursorKind(cursor) == CXCursor_TypeAliasDecl)
    read_base(cursor, r, clang_getCString(name));
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
  p->has_compute = answer >> 2 & 3;
  if (p->has_compute) p->result = (vertex_result)((answer >> 2 & 3) - 1);
  p->has_two_kinds = answer >> 4;
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

CXCursor reflect_find_base(const reflection *r, CXCursor derived, CXCursor base)
{
  CXString name = clang_getCursorSpelling(base);
  CXCursor found = clang_getNullCursor();
  for (size_t i = 0; i < r->num_bases && clang_Cursor_isNull(found); ++i) {
    const dependent_base *b = &r->bases[i];
    if (!clang_Cursor_isNull(b->base_class) && !strcmp(b->name, clang_getCString(name)) &&
        clang_equalCursors(b->derived_class, derived) &&
        !clang_equalCursors(b->base_class, derived))
      found = b->base_class;
  }
  clang_disposeString(name);
  return found;
}
