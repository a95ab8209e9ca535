/* The name of a C++ vertex type, with canonical template arguments.
 *
 * libclang spells the type of an explicit instantiation as its author wrote the arguments
 * (`Op::ADD`, where the namespace was open). The name that a host program uses must not depend on
 * that: `popops::expr::Op::ADD`. So the name is built from the values of the arguments. An
 * enumerator is looked up in the type of the template's parameter.
 *
 * A character appears as 'a' in the name for people. Generated C++ gets its number, which is valid
 * for every character type.
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

/* Arguments belong to the primary template; a partial specialization has parameters of its own. */
static CXCursor primary_template(CXCursor cursor)
{
  CXCursor primary = cursor, next = clang_getSpecializedCursorTemplate(cursor);
  for (; !clang_Cursor_isNull(next); next = clang_getSpecializedCursorTemplate(next))
    primary = next;
  return primary;
}

/* The type of the parameter for this argument. `T` of <typename T, T value> is itself
 * an argument. */
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
  const char *name = reflect_string(r, clang_getCursorSpelling(search.found));
  if (clang_EnumDecl_isScoped(declaration))
    return pop_arena_printf(r->arena, "%s::%s", enumeration, name);
  /* Enumerators of a plain enum are in the scope around it. */
  const char *last = strrchr(enumeration, ':');
  int scope = last ? (int)(last + 1 - enumeration) : 0;
  return pop_arena_printf(r->arena, "%.*s%s", scope, enumeration, name);
}

/* The escape of a character; NULL if it has none of its own. */
static const char *escape_of(long long value)
{
  static const char *const escapes[] = {
      ['\a'] = "\\a", ['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n",  ['\v'] = "\\v",
      ['\f'] = "\\f", ['\r'] = "\\r", ['\''] = "\\'", ['\\'] = "\\\\",
  };
  bool small = value >= 0 && value < (long long)(sizeof escapes / sizeof *escapes);
  return small ? escapes[value] : NULL;
}

/* The character as clang prints it; NULL if the type is no character type. */
static const char *character(reflection *r, CXType type, long long value)
{
  static const struct {
    enum CXTypeKind kind;
    const char *prefix;
  } kinds[] = {{CXType_Char_S, ""}, {CXType_Char_U, ""},  {CXType_SChar, ""},  {CXType_UChar, ""},
               {CXType_WChar, "L"}, {CXType_Char16, "u"}, {CXType_Char32, "U"}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    if (kinds[i].kind != type.kind) continue;
    const char *prefix = kinds[i].prefix, *escape = escape_of(value);
    if (escape) return pop_arena_printf(r->arena, "%s'%s'", prefix, escape);
    unsigned long long code = (unsigned long long)value & (*prefix ? 0xffffffff : 0xff);
    if (code >= 0x20 && code < 0x7f)
      return pop_arena_printf(r->arena, "%s'%c'", prefix, (char)code);
    const char *escapes = code < 0x100 ? "x" : code < 0x10000 ? "u" : "U";
    int digits = code < 0x100 ? 2 : code < 0x10000 ? 4 : 8;
    return pop_arena_printf(r->arena, "%s'\\%s%0*llx'", prefix, escapes, digits, code);
  }
  return NULL;
}

static const char *integral_argument(reflection *r, CXCursor cursor, unsigned index,
                                     bool for_people)
{
  CXType type = parameter_type(r, cursor, index);
  long long value = clang_Cursor_getTemplateArgumentValue(cursor, index);
  if (type.kind == CXType_Enum) return enumerator(r, type, value);
  if (type.kind == CXType_Bool) return value ? "true" : "false";
  const char *text = for_people ? character(r, type, value) : NULL;
  if (text) return text;
  if (is_unsigned(type))
    return pop_arena_printf(r->arena, "%llu",
                            clang_Cursor_getTemplateArgumentUnsignedValue(cursor, index));
  return pop_arena_printf(r->arena, "%lld", value);
}

/* NULL for an argument that is neither a type nor a number. */
static const char *argument(reflection *r, CXCursor cursor, unsigned index, bool for_people)
{
  switch (clang_Cursor_getTemplateArgumentKind(cursor, index)) {
  case CXTemplateArgumentKind_Type: {
    CXType type = clang_Cursor_getTemplateArgumentType(cursor, index);
    return reflect_string(r, clang_getTypeSpelling(clang_getCanonicalType(type)));
  }
  case CXTemplateArgumentKind_Integral:
    return integral_argument(r, cursor, index, for_people);
  default:
    return NULL;
  }
}

/* Names leave out unnamed namespaces, whose members are visible without them. */
static void remove_unnamed_namespaces(char *name)
{
  static const char unnamed[] = "(anonymous namespace)::";
  for (char *p; (p = strstr(name, unnamed));)
    memmove(p, p + sizeof unnamed - 1, strlen(p + sizeof unnamed - 1) + 1);
}

static char *class_name(reflection *r, CXCursor cursor, bool for_people)
{
  CXType type = clang_getCanonicalType(clang_getCursorType(cursor));
  char *spelling = (char *)reflect_string(r, clang_getTypeSpelling(type));
  remove_unnamed_namespaces(spelling);
  int count = clang_Cursor_getNumTemplateArguments(cursor);
  if (count <= 0) return spelling;
  char *name = pop_arena_printf(r->arena, "%.*s<", (int)strcspn(spelling, "<"), spelling);
  for (int i = 0; i < count; ++i) {
    const char *text = argument(r, cursor, (unsigned)i, for_people);
    if (!text) return spelling;
    name = pop_arena_printf(r->arena, "%s%s%s", name, i ? ", " : "", text);
  }
  return pop_arena_printf(r->arena, "%s>", name);
}

char *reflect_class_name(reflection *r, CXCursor cursor)
{
  return class_name(r, cursor, false);
}

char *reflect_vertex_name(reflection *r, CXCursor cursor)
{
  return class_name(r, cursor, true);
}
