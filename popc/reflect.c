/* Which vertex types a source holds, by libclang.
 *
 *   C++: complete classes derived from poplar::Vertex, and explicit instantiations of such class
 *        templates. One that others derive from need not have compute() itself.
 *   C:   structs that COMPUTE was written for; it leaves an annotated typedef.
 *
 * Function bodies are skipped: what is wrong inside them is clang's to say. Mistakes that only we
 * know of are reported as clang would, with the line and a caret.
 */
#include "reflect_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *reflect_string(reflection *r, CXString string)
{
  const char *text = clang_getCString(string);
  const char *copy = pop_arena_strdup(r->arena, text ? text : "");
  clang_disposeString(string);
  return copy;
}

static void print(pop_bytes *out, const char *text)
{
  pop_bytes_append(out, text, strlen(text));
}

/* "    7 |   char *f;" and "      |         ^" */
static void print_line(reflection *r, CXFile file, unsigned line, unsigned column, unsigned offset)
{
  size_t size;
  const char *text = clang_getFileContents(r->unit, file, &size);
  if (!text || offset >= size || column == 0 || column - 1 > offset) return;
  const char *start = text + offset - (column - 1);
  int length = 0;
  while (start + length < text + size && start[length] != '\n' && start[length] != '\r') ++length;
  char *shown = pop_xasprintf("%5u | %.*s\n      | ", line, length, start);
  print(r->diagnostics, shown);
  free(shown);
  for (unsigned i = 1; i < column; ++i) print(r->diagnostics, start[i - 1] == '\t' ? "\t" : " ");
  print(r->diagnostics, "^\n");
}

void reflect_error(reflection *r, CXCursor at, const char *format, ...)
{
  CXSourceLocation location = clang_getCursorLocation(at);
  CXString name;
  unsigned line, column, offset, file_line, file_column;
  clang_getPresumedLocation(location, &name, &line, &column);
  CXFile file;
  clang_getFileLocation(location, &file, &file_line, &file_column, &offset);

  char *place = pop_xasprintf("%s:%u:%u: error: ", clang_getCString(name), line, column);
  clang_disposeString(name);
  print(r->diagnostics, place);
  free(place);
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  print(r->diagnostics, message);
  print(r->diagnostics, "\n");
  if (file) print_line(r, file, line, file_column, offset);
  ++r->num_errors;
}

bool reflect_is_poplar(CXCursor declaration, const char *name)
{
  CXString spelling = clang_getCursorSpelling(declaration);
  bool same = clang_getCString(spelling) && !strcmp(clang_getCString(spelling), name);
  clang_disposeString(spelling);
  if (!same) return false;
  CXCursor parent = clang_getCursorSemanticParent(declaration);
  CXString scope = clang_getCursorSpelling(parent);
  same = clang_getCursorKind(parent) == CXCursor_Namespace &&
         !strcmp(clang_getCString(scope), "poplar");
  clang_disposeString(scope);
  return same;
}

/* libclang shows no members below an explicit instantiation: bases and functions are looked up in
 * its template. */
static CXCursor with_members(CXCursor class_cursor)
{
  CXCursor pattern = clang_getSpecializedCursorTemplate(class_cursor);
  return clang_Cursor_isNull(pattern) ? class_cursor : pattern;
}

typedef struct base_visit {
  void (*visit)(void *context, CXCursor base);
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
  bases->visit(bases->context, clang_Cursor_isNull(definition) ? declaration : definition);
  return CXChildVisit_Continue;
}

void reflect_bases(CXCursor class_cursor, void (*visit)(void *context, CXCursor base),
                   void *context)
{
  base_visit bases = {visit, context};
  clang_visitChildren(with_members(class_cursor), visit_base, &bases);
}

/* Does the class derive from poplar::Vertex? */

static void look_for_vertex(void *context, CXCursor base)
{
  bool *derived = context;
  if (*derived) return;
  *derived = reflect_is_poplar(base, "Vertex");
  reflect_bases(base, look_for_vertex, context);
}

static bool derives_from_vertex(CXCursor class_cursor)
{
  bool derived = false;
  reflect_bases(class_cursor, look_for_vertex, &derived);
  return derived;
}

/* compute(): the class's own or inherited. */

typedef struct compute_search {
  CXCursor found; /* null if there is none */
  CXCursor first_virtual;
} compute_search;

static enum CXChildVisitResult visit_method(CXCursor cursor, CXCursor parent, CXClientData data)
{
  (void)parent;
  compute_search *search = data;
  enum CXCursorKind kind = clang_getCursorKind(cursor);
  if (kind != CXCursor_CXXMethod && kind != CXCursor_Destructor &&
      kind != CXCursor_FunctionTemplate)
    return CXChildVisit_Continue;
  if (clang_CXXMethod_isVirtual(cursor) && clang_Cursor_isNull(search->first_virtual))
    search->first_virtual = cursor;
  CXString name = clang_getCursorSpelling(cursor);
  /* Of several, the one without parameters. */
  if (!strcmp(clang_getCString(name), "compute") &&
      (clang_Cursor_isNull(search->found) || clang_Cursor_getNumArguments(cursor) == 0))
    search->found = cursor;
  clang_disposeString(name);
  return CXChildVisit_Continue;
}

static void search_compute(void *context, CXCursor class_cursor)
{
  compute_search *search = context;
  compute_search here = {clang_getNullCursor(), search->first_virtual};
  clang_visitChildren(with_members(class_cursor), visit_method, &here);
  search->first_virtual = here.first_virtual;
  if (clang_Cursor_isNull(search->found)) search->found = here.found;
  reflect_bases(class_cursor, search_compute, search);
}

static void check_compute(reflection *r, CXCursor compute, popc_vertex *vertex)
{
  const char *name = vertex->type.name;
  CXType result = clang_getCanonicalType(clang_getCursorResultType(compute));
  vertex->returns_void = result.kind == CXType_Void;
  if (clang_getCursorKind(compute) == CXCursor_FunctionTemplate)
    reflect_error(r, compute, "compute() of vertex '%s' is a template", name);
  else if (clang_CXXMethod_isStatic(compute))
    reflect_error(r, compute, "compute() of vertex '%s' is static", name);
  else if (clang_getCXXAccessSpecifier(compute) != CX_CXXPublic)
    reflect_error(r, compute, "compute() of vertex '%s' is not public", name);
  else if (clang_Cursor_getNumArguments(compute) != 0)
    reflect_error(r, compute, "compute() of vertex '%s' has parameters: it must have none", name);
  else if (result.kind != CXType_Bool && result.kind != CXType_Void)
    reflect_error(r, compute, "compute() of vertex '%s' returns '%s': it must return bool", name,
                  reflect_string(r, clang_getTypeSpelling(clang_getCursorResultType(compute))));
}

/* "codelets.cpp:12": without folders, so that the same source gives the same bytes everywhere. */
static const char *source_place(reflection *r, CXCursor cursor)
{
  CXString name;
  unsigned line;
  clang_getPresumedLocation(clang_getCursorLocation(cursor), &name, &line, NULL);
  const char *path = clang_getCString(name), *slash = strrchr(path, '/');
  const char *place = pop_arena_printf(r->arena, "%s:%u", slash ? slash + 1 : path, line);
  clang_disposeString(name);
  return place;
}

static const char *take_from_heap(reflection *r, char *text)
{
  const char *copy = pop_arena_strdup(r->arena, text);
  free(text);
  return copy;
}

static void add_vertex(reflection *r, CXCursor record, const char *spelling, bool cxx)
{
  popc_vertex vertex = {.cxx_name = cxx ? spelling : NULL};
  vertex.type.name = take_from_heap(r, popc_vertex_name(spelling));
  vertex.type.symbol = take_from_heap(r, popc_vertex_symbol(vertex.type.name));
  vertex.type.kind = POP_VERTEX_WORKER;
  for (size_t i = 0; i < r->num_vertices; ++i)
    if (!strcmp(r->vertices[i].type.name, vertex.type.name)) return; /* seen: declared again */
  vertex.type.source = source_place(r, record);
  pop_push(r->vertices, r->num_vertices, r->capacity, vertex);
  pop_push(r->cursors, r->num_cursors, r->cursors_capacity, record);
}

static void take_class(reflection *r, CXCursor cursor)
{
  if (!clang_isCursorDefinition(cursor) || !derives_from_vertex(cursor)) return;
  add_vertex(r, cursor, reflect_class_name(r, cursor), true);
}

static enum CXChildVisitResult is_vertex_annotation(CXCursor cursor, CXCursor parent,
                                                    CXClientData data)
{
  (void)parent;
  if (clang_getCursorKind(cursor) != CXCursor_AnnotateAttr) return CXChildVisit_Continue;
  CXString text = clang_getCursorSpelling(cursor);
  *(bool *)data = !strcmp(clang_getCString(text), "populus:worker");
  clang_disposeString(text);
  return CXChildVisit_Break;
}

/* typedef MyVertex populus_vertex_MyVertex __attribute__((annotate("populus:worker"))) */
static void take_typedef(reflection *r, CXCursor cursor)
{
  static const char prefix[] = "populus_vertex_";
  bool is_vertex = false;
  clang_visitChildren(cursor, is_vertex_annotation, &is_vertex);
  const char *name = reflect_string(r, clang_getCursorSpelling(cursor));
  if (!is_vertex || strncmp(name, prefix, sizeof prefix - 1) != 0) return;
  CXType type = clang_getCanonicalType(clang_getTypedefDeclUnderlyingType(cursor));
  if (type.kind != CXType_Record) {
    reflect_error(r, cursor, "vertex '%s' is of type '%s': it must be a struct",
                  name + sizeof prefix - 1, reflect_string(r, clang_getTypeSpelling(type)));
    return;
  }
  add_vertex(r, clang_getTypeDeclaration(type), name + sizeof prefix - 1, false);
}

static enum CXChildVisitResult visit_declaration(CXCursor cursor, CXCursor parent,
                                                 CXClientData data)
{
  (void)parent;
  switch (clang_getCursorKind(cursor)) {
  case CXCursor_Namespace:
  case CXCursor_LinkageSpec:
    if (clang_Location_isInSystemHeader(clang_getCursorLocation(cursor)))
      return CXChildVisit_Continue;
    return CXChildVisit_Recurse;
  case CXCursor_ClassDecl:
  case CXCursor_StructDecl:
    if (!clang_Location_isInSystemHeader(clang_getCursorLocation(cursor))) take_class(data, cursor);
    return CXChildVisit_Continue;
  case CXCursor_TypedefDecl:
    take_typedef(data, cursor);
    return CXChildVisit_Continue;
  default:
    return CXChildVisit_Continue;
  }
}

/* Is the vertex at `index` a base class of another one? */

typedef struct base_of {
  CXCursor wanted;
  bool found;
} base_of;

static void compare_base(void *context, CXCursor base)
{
  base_of *search = context;
  if (clang_equalCursors(base, search->wanted)) search->found = true;
  reflect_bases(base, compare_base, context);
}

static bool is_base_of_another(const reflection *r, size_t index)
{
  base_of search = {r->cursors[index], false};
  for (size_t i = 0; i < r->num_cursors && !search.found; ++i)
    if (i != index) reflect_bases(r->cursors[i], compare_base, &search);
  return search.found;
}

/* Fills in the rest of a C++ vertex. False: it is only a base of others. */
static bool complete_class(reflection *r, size_t index)
{
  popc_vertex *vertex = &r->vertices[index];
  compute_search search = {clang_getNullCursor(), clang_getNullCursor()};
  search_compute(&search, r->cursors[index]);
  bool has_compute = !clang_Cursor_isNull(search.found);
  if (!has_compute && is_base_of_another(r, index)) return false;
  if (!clang_Cursor_isNull(search.first_virtual))
    reflect_error(r, search.first_virtual,
                  "vertex '%s' has a virtual function: vertex state can "
                  "hold only fields",
                  vertex->type.name);
  else if (!has_compute)
    reflect_error(r, r->cursors[index], "vertex '%s' has no function compute()", vertex->type.name);
  else
    check_compute(r, search.found, vertex);
  return true;
}

static void complete_vertices(reflection *r)
{
  size_t kept = 0;
  for (size_t i = 0; i < r->num_vertices; ++i) {
    if (r->vertices[i].cxx_name && !complete_class(r, i)) continue;
    reflect_fields(r, r->cursors[i], &r->vertices[i].type);
    r->vertices[kept++] = r->vertices[i];
  }
  r->num_vertices = kept;
}

static bool has_errors(CXTranslationUnit unit)
{
  unsigned count = clang_getNumDiagnostics(unit);
  bool errors = false;
  for (unsigned i = 0; i < count; ++i) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit, i);
    if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) errors = true;
    clang_disposeDiagnostic(diagnostic);
  }
  return errors;
}

static popc_reflection reflect_unit(reflection *r, pop_bytes *out)
{
  if (has_errors(r->unit)) return POPC_NOT_PARSED;
  pop_bytes diagnostics = {0};
  r->diagnostics = &diagnostics;
  clang_visitChildren(clang_getTranslationUnitCursor(r->unit), visit_declaration, r);
  complete_vertices(r);
  if (r->num_errors) {
    pop_bytes_append(out, diagnostics.data, diagnostics.size);
    char *count =
        pop_xasprintf("%u error%s generated.\n", r->num_errors, r->num_errors == 1 ? "" : "s");
    print(out, count);
    free(count);
  } else {
    popc_write_entries(r->vertices, r->num_vertices, out);
  }
  pop_bytes_free(&diagnostics);
  return r->num_errors ? POPC_VERTEX_AT_FAULT : POPC_REFLECTED;
}

popc_reflection popc_reflect(const popc_source *source, popc_target target,
                             const char *const *arguments, size_t count, pop_bytes *out)
{
  CXIndex index = clang_createIndex(0, 0);
  struct CXUnsavedFile file = {source->path, (const char *)source->text, source->size};
  reflection r = {.target = target, .arena = pop_arena_new()};
  enum CXErrorCode code = clang_parseTranslationUnit2(
      index, source->path, arguments, (int)count, &file, 1,
      CXTranslationUnit_SkipFunctionBodies | CXTranslationUnit_KeepGoing, &r.unit);
  popc_reflection result = POPC_NOT_PARSED;
  if (code == CXError_Success) {
    result = reflect_unit(&r, out);
    clang_disposeTranslationUnit(r.unit);
  }
  free(r.vertices);
  free(r.cursors);
  pop_arena_free(r.arena);
  clang_disposeIndex(index);
  return result;
}
