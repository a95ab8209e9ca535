/* The name of a C++ vertex type, with canonical template arguments.
 *
 * libclang spells the type of an explicit instantiation as its author wrote the arguments
 * (`Op::ADD`, where the namespace was open). The name that a host program uses must not depend on
 * that: `popops::expr::Op::ADD`. So it is put together from the arguments' values; an enumerator is
 * looked up in the type of the template's parameter.
 */
#include "reflect_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parameter_search {
  unsigned wanted, seen;
  CXType type; /* of kind Invalid: not found */
} parameter_search;

static enum CXChildVisitResult visit_parameter(CXCursor cursor, CXCursor parent, CXClientData data)
{
  (void)parent;
  parameter_search *search = data;
  enum CXCursorKind kind = clang_getCursorKind(cursor);
  if (kind != CXCursor_NonTypeTemplateParameter && kind != CXCursor_TemplateTypeParameter &&
      kind != CXCursor_TemplateTemplateParameter)
    return CXChildVisit_Continue;
  if (search->seen++ != search->wanted) return CXChildVisit_Continue;
  search->type = clang_getCanonicalType(clang_getCursorType(cursor));
  return CXChildVisit_Break;
}

/* A partial specialization has parameters of its own: the arguments are the primary template's. */
static CXCursor primary_template(CXCursor cursor)
{
  CXCursor primary = cursor, next = clang_getSpecializedCursorTemplate(cursor);
  for (; !clang_Cursor_isNull(next); next = clang_getSpecializedCursorTemplate(next))
    primary = next;
  return primary;
}

/* The type of the parameter that the argument is for; `T` of <typename T, T value> is an argument. */
static CXType parameter_type(reflection *r, CXCursor cursor, unsigned index)
{
  parameter_search search = {.wanted = index, .type = {.kind = CXType_Invalid}};
  clang_visitChildren(primary_template(cursor), visit_parameter, &search);
  if (search.type.kind != CXType_Unexposed) return search.type;
  unsigned depth, of_type;
  const char *spelling = reflect_string(r, clang_getTypeSpelling(search.type));
  if (sscanf(spelling, "type-parameter-%u-%u", &depth, &of_type) != 2 || of_type >= index)
    return search.type;
  return clang_getCanonicalType(clang_Cursor_getTemplateArgumentType(cursor, of_type));
}

static bool is_unsigned(CXType type)
{
  return type.kind == CXType_UChar || type.kind == CXType_UShort || type.kind == CXType_UInt ||
         type.kind == CXType_ULong || type.kind == CXType_ULongLong;
}

typedef struct enumerator_search {
  long long value;
  CXCursor found;
} enumerator_search;

static enum CXChildVisitResult visit_enumerator(CXCursor cursor, CXCursor parent, CXClientData data)
{
  (void)parent;
  enumerator_search *search = data;
  if (clang_getCursorKind(cursor) != CXCursor_EnumConstantDecl ||
      clang_getEnumConstantDeclValue(cursor) != search->value)
    return CXChildVisit_Continue;
  search->found = cursor;
  return CXChildVisit_Break;
}

static const char *enumerator(reflection *r, CXType type, long long value)
{
  CXCursor declaration = clang_getTypeDeclaration(type);
  const char *enumeration = reflect_string(r, clang_getTypeSpelling(type));
  enumerator_search search = {value, clang_getNullCursor()};
  clang_visitChildren(declaration, visit_enumerator, &search);
  if (clang_Cursor_isNull(search.found))
    return pop_arena_printf(r->arena, "(%s)%lld", enumeration, value);
  return pop_arena_printf(r->arena, "%s::%s", enumeration,
                          reflect_string(r, clang_getCursorSpelling(search.found)));
}

static const char *integral_argument(reflection *r, CXCursor cursor, unsigned index)
{
  CXType type = parameter_type(r, cursor, index);
  long long value = clang_Cursor_getTemplateArgumentValue(cursor, index);
  if (type.kind == CXType_Enum) return enumerator(r, type, value);
  if (type.kind == CXType_Bool) return value ? "true" : "false";
  if (is_unsigned(type))
    return pop_arena_printf(r->arena, "%llu",
                            clang_Cursor_getTemplateArgumentUnsignedValue(cursor, index));
  return pop_arena_printf(r->arena, "%lld", value);
}

/* NULL for an argument that is neither a type nor a number. */
static const char *argument(reflection *r, CXCursor cursor, unsigned index)
{
  switch (clang_Cursor_getTemplateArgumentKind(cursor, index)) {
  case CXTemplateArgumentKind_Type: {
    CXType type = clang_Cursor_getTemplateArgumentType(cursor, index);
    return reflect_string(r, clang_getTypeSpelling(clang_getCanonicalType(type)));
  }
  case CXTemplateArgumentKind_Integral:
    return integral_argument(r, cursor, index);
  default:
    return NULL;
  }
}

/* Things in unnamed namespaces are reached without naming these. */
static void remove_unnamed_namespaces(char *name)
{
  static const char unnamed[] = "(anonymous namespace)::";
  for (char *p; (p = strstr(name, unnamed));)
    memmove(p, p + sizeof unnamed - 1, strlen(p + sizeof unnamed - 1) + 1);
}

char *reflect_class_name(reflection *r, CXCursor cursor)
{
  CXType type = clang_getCanonicalType(clang_getCursorType(cursor));
  char *spelling = (char *)reflect_string(r, clang_getTypeSpelling(type));
  remove_unnamed_namespaces(spelling);
  int count = clang_Cursor_getNumTemplateArguments(cursor);
  if (count <= 0) return spelling;
  char *name = pop_arena_printf(r->arena, "%.*s<", (int)strcspn(spelling, "<"), spelling);
  for (int i = 0; i < count; ++i) {
    const char *text = argument(r, cursor, (unsigned)i);
    if (!text) return spelling;
    name = pop_arena_printf(r->arena, "%s%s%s", name, i ? ", " : "", text);
  }
  return pop_arena_printf(r->arena, "%s>", name);
}
