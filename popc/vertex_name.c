/* The name of a C++ vertex type, with canonical template arguments.
 *
 * libclang spells the type of an explicit instantiation as its author wrote the arguments
 * (`Op::ADD`, where the namespace was open). The name that a host program uses must not depend on
 * that: `popops::expr::Op::ADD`. So the name is built from the values of the arguments. An
 * enumerator is looked up in the type of the template's parameter.
 *
 * A character appears as 'a' in the name for people. Generated C++ gets its number, which is valid
 * for every character type.
 *
 * libclang does not tell the type of `auto` parameters, nor what is in a pack, nor which function,
 * object or template an argument is. What the author wrote tells both. As it need not mean anything
 * elsewhere, generated C++ names such a class by an alias beside the instantiation.
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

static bool is_type_or_template(enum CXTemplateArgumentKind kind)
{
  return kind == CXTemplateArgumentKind_Type || kind == CXTemplateArgumentKind_Template;
}

typedef struct written_search {
  unsigned wanted, seen;
  CXType type; /* of kind Invalid: not found */
} written_search;

static enum CXChildVisitResult visit_written(CXCursor cursor, CXCursor parent, CXClientData data)
{
  (void)parent;
  written_search *search = data;
  if (!clang_isExpression(clang_getCursorKind(cursor)) || search->seen++ != search->wanted)
    return CXChildVisit_Continue;
  CXType type = clang_getCanonicalType(clang_getCursorType(cursor));
  search->type = clang_getUnqualifiedType(type);
  return CXChildVisit_Break;
}

/* The type of the expression that the author wrote for this argument. */
static CXType written_type(CXCursor cursor, unsigned index)
{
  written_search search = {.type = {.kind = CXType_Invalid}};
  for (unsigned i = 0; i < index; ++i) {
    enum CXTemplateArgumentKind kind = clang_Cursor_getTemplateArgumentKind(cursor, i);
    if (kind == CXTemplateArgumentKind_Pack) return search.type;
    search.wanted += !is_type_or_template(kind);
  }
  clang_visitChildren(cursor, visit_written, &search);
  return search.type;
}

/* The type of the parameter for this argument. `T` of <typename T, T value> is itself
 * an argument. */
static CXType declared_type(reflection *r, CXCursor cursor, unsigned index)
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

/* Is it a type that a value can have? */
static bool is_known(CXType type)
{
  return type.kind == CXType_Enum || (type.kind >= CXType_Bool && type.kind <= CXType_Int128);
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

/* Names leave out unnamed namespaces, whose members are visible without them. */
static void remove_unnamed_namespaces(char *name)
{
  static const char unnamed[] = "(anonymous namespace)::";
  for (char *p; (p = strstr(name, unnamed));)
    memmove(p, p + sizeof unnamed - 1, strlen(p + sizeof unnamed - 1) + 1);
}

static bool is_unnamed(const char *type)
{
  return strstr(type, "(unnamed ") || strstr(type, "(anonymous ") || strstr(type, "(lambda ");
}

static const char *enumerator(reflection *r, CXType type, long long value)
{
  CXCursor declaration = clang_getTypeDeclaration(type);
  char *enumeration = (char *)reflect_string(r, clang_getTypeSpelling(type));
  remove_unnamed_namespaces(enumeration);
  if (is_unnamed(enumeration)) return NULL;
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

typedef enum purpose { FOR_PEOPLE, FOR_SYMBOLS, FOR_CXX } purpose;

/* NULL if nobody knows the value's type, or how to write its name. */
static const char *integral_argument(reflection *r, CXCursor cursor, unsigned index,
                                     purpose purpose)
{
  CXType type = declared_type(r, cursor, index);
  bool is_declared = is_known(type);
  if (!is_declared) type = written_type(cursor, index);
  if (!is_known(type)) return NULL;
  long long value = clang_Cursor_getTemplateArgumentValue(cursor, index);
  if (type.kind == CXType_Enum) return enumerator(r, type, value);
  if (type.kind == CXType_Bool) return value ? "true" : "false";
  const char *text = purpose == FOR_PEOPLE ? character(r, type, value) : NULL;
  if (text) return text;
  const char *before = "";
  if (!is_declared && (purpose == FOR_CXX || (purpose == FOR_SYMBOLS && type.kind != CXType_Int)))
    before = pop_arena_printf(r->arena, "(%s)", reflect_string(r, clang_getTypeSpelling(type)));
  if (is_unsigned(type))
    return pop_arena_printf(r->arena, "%s%llu", before,
                            clang_Cursor_getTemplateArgumentUnsignedValue(cursor, index));
  return pop_arena_printf(r->arena, "%s%lld", before, value);
}

/* NULL for a type without a name. */
static const char *type_argument(reflection *r, CXType type)
{
  char *text = (char *)reflect_string(r, clang_getTypeSpelling(clang_getCanonicalType(type)));
  remove_unnamed_namespaces(text);
  return is_unnamed(text) ? NULL : text;
}

/* NULL for an argument that is neither a type nor a number. */
static const char *argument(reflection *r, CXCursor cursor, unsigned index, purpose purpose)
{
  switch (clang_Cursor_getTemplateArgumentKind(cursor, index)) {
  case CXTemplateArgumentKind_Type:
    return type_argument(r, clang_Cursor_getTemplateArgumentType(cursor, index));
  case CXTemplateArgumentKind_Integral:
    return integral_argument(r, cursor, index, purpose);
  default:
    return NULL;
  }
}

/* `as_written`: some argument is as its author wrote it. */
static char *class_name(reflection *r, CXCursor cursor, purpose purpose, bool *as_written)
{
  CXType type = clang_getCanonicalType(clang_getCursorType(cursor));
  char *spelling = (char *)reflect_string(r, clang_getTypeSpelling(type));
  remove_unnamed_namespaces(spelling);
  *as_written = false;
  int count = clang_Cursor_getNumTemplateArguments(cursor);
  if (count <= 0) return spelling;
  char *name = pop_arena_printf(r->arena, "%.*s<", (int)strcspn(spelling, "<"), spelling);
  for (int i = 0; i < count; ++i) {
    const char *text = argument(r, cursor, (unsigned)i, purpose);
    *as_written = !text;
    if (!text) return spelling;
    name = pop_arena_printf(r->arena, "%s%s%s", name, i ? ", " : "", text);
  }
  return pop_arena_printf(r->arena, "%s>", name);
}

char *reflect_class_name(reflection *r, CXCursor cursor)
{
  bool as_written;
  return class_name(r, cursor, FOR_SYMBOLS, &as_written);
}

char *reflect_vertex_name(reflection *r, CXCursor cursor)
{
  bool as_written;
  return class_name(r, cursor, FOR_PEOPLE, &as_written);
}

/* ---- aliases ---- */

/* The namespaces around the place where the class was instantiated: as text that opens them, and as
 * what stands before the names of their members. The result is how many there are. */
static unsigned open_namespaces(reflection *r, CXCursor cursor, const char **open,
                                const char **scope)
{
  CXCursor parent = clang_getCursorLexicalParent(cursor);
  enum CXCursorKind kind = clang_getCursorKind(parent);
  if (kind == CXCursor_TranslationUnit || clang_isInvalid(kind)) {
    *open = *scope = "";
    return 0;
  }
  unsigned count = open_namespaces(r, parent, open, scope);
  if (kind != CXCursor_Namespace) return count;
  bool unnamed = clang_Cursor_isAnonymous(parent);
  const char *name = unnamed ? "" : reflect_string(r, clang_getCursorSpelling(parent));
  *open = pop_arena_printf(r->arena, "%s%snamespace %s { ", *open,
                           clang_Cursor_isInlineNamespace(parent) ? "inline " : "", name);
  if (!unnamed) *scope = pop_arena_printf(r->arena, "%s%s::", *scope, name);
  return count + 1;
}

static const class_alias *find_alias(const reflection *r, const char *meaning)
{
  for (size_t i = 0; i < r->num_aliases; ++i)
    if (!strcmp(r->aliases[i].meaning, meaning)) return &r->aliases[i];
  return NULL;
}

const class_alias *reflect_alias(reflection *r, CXCursor cursor)
{
  bool as_written;
  const char *open, *scope, *name = class_name(r, cursor, FOR_CXX, &as_written);
  if (!as_written) return NULL;
  unsigned count = open_namespaces(r, cursor, &open, &scope);
  const char *meaning = pop_arena_printf(r->arena, "%s = %s;", open, name);
  const class_alias *known = find_alias(r, meaning);
  if (known) return known;
  class_alias alias = {.meaning = meaning};
  alias.name = pop_arena_printf(r->arena, "%spopulus_class_%zu", scope, r->num_aliases);
  alias.definition =
      pop_arena_printf(r->arena, "%susing populus_class_%zu = %s;", open, r->num_aliases, name);
  for (; count; --count) alias.definition = pop_arena_printf(r->arena, "%s }", alias.definition);
  pop_push(r->aliases, r->num_aliases, r->aliases_capacity, alias);
  return &r->aliases[r->num_aliases - 1];
}

const char *reflect_cxx_name(reflection *r, CXCursor cursor)
{
  bool as_written;
  const class_alias *alias = reflect_alias(r, cursor);
  return alias ? alias->name : class_name(r, cursor, FOR_CXX, &as_written);
}
