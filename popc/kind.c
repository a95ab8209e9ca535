/* Is a class a vertex, of which kind, and what is its compute()?
 *
 * The kind is the class among poplar::Vertex, MultiVertex and SupervisorVertex from which it
 * derives, directly or not. libclang shows the bases and functions of an instantiation's template
 * only, not those of the instantiation. They are the same unless they depend on the template's
 * parameters, as in
 *
 *     template <typename T> class Fill : public SupervisorVertexIf<hasAssembly<T>()> ...
 *
 * Then the answer stays open, and the compiler is asked (probe.c). The compiler is also asked if
 * only the fields of a base depend on the parameters.
 */
#include "reflect_internal.h"

#include <populus/data_dir.h>

#include <string.h>

static const char *const base_names[] = {[POP_VERTEX_WORKER] = "Vertex",
                                         [POP_VERTEX_MULTI] = "MultiVertex",
                                         [POP_VERTEX_SUPERVISOR] = "SupervisorVertex"};
enum { NUM_KINDS = sizeof base_names / sizeof *base_names };

static enum CXChildVisitResult visit_member(CXCursor cursor, CXCursor parent, CXClientData data)
{
  (void)parent;
  enum CXCursorKind kind = clang_getCursorKind(cursor);
  *(bool *)data = kind == CXCursor_CXXBaseSpecifier || kind == CXCursor_CXXMethod ||
                  kind == CXCursor_FieldDecl || kind == CXCursor_FunctionTemplate;
  return *(bool *)data ? CXChildVisit_Break : CXChildVisit_Continue;
}

CXCursor reflect_with_members(CXCursor class_cursor)
{
  CXCursor pattern = clang_getSpecializedCursorTemplate(class_cursor);
  bool has_own = clang_Cursor_isNull(pattern);
  if (!has_own) clang_visitChildren(class_cursor, visit_member, &has_own);
  return has_own ? class_cursor : pattern;
}

typedef struct base_visit {
  base_visitor visit;
  void *context;
} base_visit;

static enum CXChildVisitResult visit_base(CXCursor cursor, CXCursor parent, CXClientData data)
{
  (void)parent;
  if (clang_getCursorKind(cursor) != CXCursor_CXXBaseSpecifier) return CXChildVisit_Continue;
  const base_visit *bases = data;
  CXType type = clang_getCanonicalType(clang_getCursorType(cursor));
  CXCursor declaration = clang_getTypeDeclaration(type);
  CXCursor definition = clang_getCursorDefinition(declaration);
  bases->visit(bases->context, clang_Cursor_isNull(definition) ? declaration : definition,
               clang_getCXXAccessSpecifier(cursor) == CX_CXXPublic);
  return CXChildVisit_Continue;
}

/* The classes whose bases are being visited, the innermost first. The program has one thread. */
typedef struct base_path {
  CXCursor members;
  const struct base_path *outer;
} base_path;
static const base_path *innermost;

/* A template may derive from itself, as Chain<N> from Chain<N - 1>. Where N is not known, that has
 * no end. */
void reflect_bases(CXCursor class_cursor, base_visitor visit, void *context)
{
  base_visit bases = {visit, context};
  base_path here = {reflect_with_members(class_cursor), innermost};
  for (const base_path *p = innermost; p; p = p->outer)
    if (clang_equalCursors(p->members, here.members)) return;
  innermost = &here;
  clang_visitChildren(here.members, visit_base, &bases);
  innermost = here.outer;
}

bool reflect_is_in_library(CXCursor cursor)
{
  CXSourceLocation location = clang_getCursorLocation(cursor);
  if (!clang_Location_isInSystemHeader(location)) return false;
  CXFile file;
  clang_getFileLocation(location, &file, NULL, NULL, NULL);
  CXString name = clang_getFileName(file);
  const char *path = clang_getCString(name), *folder = pop_data_dir();
  size_t length = strlen(folder);
  bool ours = !path || (!strncmp(path, folder, length) && !strncmp(path + length, "/device/", 8));
  clang_disposeString(name);
  return ours;
}

bool reflect_is_dependent(CXCursor base)
{
  enum CXCursorKind kind = clang_getCursorKind(base);
  return kind != CXCursor_ClassDecl && kind != CXCursor_StructDecl;
}

static void find_kind_of_base(void *context, CXCursor base, bool is_public)
{
  (void)is_public;
  vertex_class *class = context;
  for (int kind = 0; kind < NUM_KINDS; ++kind) {
    if (!reflect_is_poplar(base, base_names[kind])) continue;
    if (!class->is_vertex) class->kind = (pop_vertex_kind)kind;
    class->has_two_kinds |= class->kind != (pop_vertex_kind)kind;
    class->is_vertex = true;
    return;
  }
  /* No class of the C++ library derives from one of ours. */
  if (reflect_is_in_library(base)) return;
  if (reflect_is_dependent(base)) class->open = true;
  reflect_bases(base, find_kind_of_base, class);
}

typedef struct base_notes {
  reflection *r;
  const char *derived;
} base_notes;

static void note_base(void *context, CXCursor base, bool is_public)
{
  (void)is_public;
  const base_notes *notes = context;
  reflection *r = notes->r;
  if (reflect_is_in_library(base)) return;
  if (!reflect_is_dependent(base)) {
    reflect_note_bases(r, base, reflect_cxx_name(r, base));
  } else if (clang_getCursorKind(base) == CXCursor_ClassTemplate) {
    dependent_base b = {.derived = notes->derived,
                        .name = reflect_string(r, clang_getCursorSpelling(base)),
                        .derived_class = clang_getNullCursor(),
                        .base_class = clang_getNullCursor()};
    const char *path = pop_arena_printf(r->arena, "base_%zu<%s>::__type", r->num_bases, b.derived);
    pop_push(r->bases, r->num_bases, r->bases_capacity, b);
    reflect_note_bases(r, base, path);
  }
}

void reflect_note_bases(reflection *r, CXCursor class_cursor, const char *name)
{
  base_notes notes = {r, name};
  reflect_bases(class_cursor, note_base, &notes);
}

/* ---- compute() ---- */

typedef struct compute_search {
  int num_parameters; /* the wanted number: it chooses among overloads */
  CXCursor found;
  CXCursor first_virtual;
} compute_search;

static enum CXChildVisitResult visit_method(CXCursor cursor, CXCursor parent, CXClientData data)
{
  (void)parent;
  compute_search *search = data;
  enum CXCursorKind kind = clang_getCursorKind(cursor);
  bool is_base = kind == CXCursor_CXXBaseSpecifier;
  if (kind != CXCursor_CXXMethod && kind != CXCursor_Destructor &&
      kind != CXCursor_FunctionTemplate && !is_base)
    return CXChildVisit_Continue;
  bool is_virtual = is_base ? clang_isVirtualBase(cursor) : clang_CXXMethod_isVirtual(cursor);
  if (is_virtual && clang_Cursor_isNull(search->first_virtual)) search->first_virtual = cursor;
  if (is_base) return CXChildVisit_Continue;
  CXString name = clang_getCursorSpelling(cursor);
  if (!strcmp(clang_getCString(name), "compute") &&
      (clang_Cursor_isNull(search->found) ||
       clang_Cursor_getNumArguments(cursor) == search->num_parameters))
    search->found = cursor;
  clang_disposeString(name);
  return CXChildVisit_Continue;
}

/* The class's own compute(), or else an inherited one. */
static void search_compute(void *context, CXCursor class_cursor, bool is_public)
{
  (void)is_public;
  compute_search *search = context;
  compute_search here = *search;
  here.found = clang_getNullCursor();
  clang_visitChildren(reflect_with_members(class_cursor), visit_method, &here);
  search->first_virtual = here.first_virtual;
  if (clang_Cursor_isNull(search->found)) search->found = here.found;
  reflect_bases(class_cursor, search_compute, search);
}

static vertex_result result_of(CXCursor compute)
{
  switch (clang_getCanonicalType(clang_getCursorResultType(compute)).kind) {
  case CXType_Bool:
    return RETURNS_BOOL;
  case CXType_Void:
    return RETURNS_VOID;
  case CXType_Unexposed:
  case CXType_Auto:
    return RETURNS_OPEN;
  default:
    return RETURNS_OTHER;
  }
}

vertex_class reflect_class(CXCursor class_cursor)
{
  vertex_class class = {.compute = clang_getNullCursor(), .first_virtual = clang_getNullCursor()};
  reflect_bases(class_cursor, find_kind_of_base, &class);
  if (class.is_vertex) reflect_compute(class_cursor, &class);
  return class;
}

void reflect_compute(CXCursor class_cursor, vertex_class *class)
{
  compute_search search = {class->kind == POP_VERTEX_MULTI, clang_getNullCursor(),
                           clang_getNullCursor()};
  search_compute(&search, class_cursor, true);
  class->compute = search.found;
  class->first_virtual = search.first_virtual;
  class->result = RETURNS_BOOL;
  if (clang_Cursor_isNull(search.found)) return;
  class->result = result_of(search.found);
  if (class->result == RETURNS_OPEN) class->open = true;
}

/* ---- what can be wrong with it ---- */

static bool is_integer(CXType type)
{
  enum CXTypeKind kind = clang_getCanonicalType(type).kind;
  return kind >= CXType_UChar && kind <= CXType_Int128 && kind != CXType_Char16;
}

static void check_parameters(reflection *r, const char *name, const vertex_class *class)
{
  int count = clang_Cursor_getNumArguments(class->compute);
  bool numbered =
      count == 1 && is_integer(clang_getCursorType(clang_Cursor_getArgument(class->compute, 0)));
  if (class->kind == POP_VERTEX_MULTI && !numbered)
    reflect_error(r, class->compute,
                  "compute() of MultiVertex '%s' must have one parameter, the worker's number, as "
                  "in 'compute(unsigned workerId)'",
                  name);
  else if (class->kind == POP_VERTEX_WORKER && numbered)
    reflect_error(r, class->compute,
                  "compute() of vertex '%s' has a parameter: it must have none, unless the vertex "
                  "derives from poplar::MultiVertex",
                  name);
  else if (class->kind != POP_VERTEX_MULTI && count != 0)
    reflect_error(r, class->compute, "compute() of vertex '%s' has parameters: it must have none",
                  name);
}

void reflect_check_compute(reflection *r, const char *name, const vertex_class *class)
{
  CXCursor compute = class->compute;
  if (clang_getCursorKind(compute) == CXCursor_FunctionTemplate)
    reflect_error(r, compute, "compute() of vertex '%s' is a template", name);
  else if (clang_CXXMethod_isStatic(compute))
    reflect_error(r, compute, "compute() of vertex '%s' is static", name);
  else if (clang_getCXXAccessSpecifier(compute) != CX_CXXPublic)
    reflect_error(r, compute, "compute() of vertex '%s' is not public", name);
  else if (class->result == RETURNS_OTHER)
    reflect_error(r, compute, "compute() of vertex '%s' returns '%s': it must return bool or void",
                  name,
                  reflect_string(r, clang_getTypeSpelling(clang_getCursorResultType(compute))));
  else
    check_parameters(r, name, class);
}
