/* Which vertex types a source holds, by libclang.
 *
 *   C++: complete classes derived from poplar::Vertex, MultiVertex or SupervisorVertex, and
 *        explicit instantiations of such class templates, also as public members of other classes.
 *        A class that is only a base of others need not have compute() itself.
 *   C:   structs for which COMPUTE, MULTI_COMPUTE or SUPERVISOR_COMPUTE was written; the macro
 *        leaves an annotated typedef.
 *
 * If that depends on template parameters, the source is read a second time with questions to the
 * compiler appended (probe.c).
 *
 * Function bodies are skipped: clang reports what is wrong inside them. Mistakes that only popc
 * knows are reported in clang's form, with the line and a caret.
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

void reflect_error(reflection *r, CXCursor at, const char *format, ...)
{
  CXSourceLocation location = clang_getCursorLocation(at);
  CXString name;
  popc_place place = {0};
  unsigned offset, column;
  clang_getPresumedLocation(location, &name, &place.line, &place.column);
  CXFile file;
  clang_getFileLocation(location, &file, NULL, &column, &offset);
  place.path = reflect_string(r, name);
  size_t size = 0;
  const char *text = file ? clang_getFileContents(r->unit, file, &size) : NULL;
  if (text && offset < size && column == place.column && column - 1 <= offset) {
    place.text = text + offset - (column - 1);
    place.text_size = size - offset + (column - 1);
  }
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  popc_print_diagnostic(r->diagnostics, r->colour, POPC_ERROR, &place, message);
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
  CXCursor around = clang_getCursorSemanticParent(parent);
  same = clang_getCursorKind(parent) == CXCursor_Namespace &&
         !strcmp(clang_getCString(scope), "poplar") &&
         clang_getCursorKind(around) != CXCursor_Namespace;
  clang_disposeString(scope);
  return same;
}

/* "codelets.cpp:12", without folders: the same source gives the same bytes everywhere. */
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

/* Another vertex has the name, as V<3> and V<3u> of <auto n>, or the symbol, as `a::b` and
 * `a__b`. */
static void refuse_same_name(reflection *r, CXCursor record, const popc_vertex *vertex,
                             const popc_vertex *other)
{
  const pop_vertex_type *type = &vertex->type;
  if (!strcmp(type->name, other->type.name))
    reflect_error(r, record, "vertex '%s' has the name of another one (%s)", type->name,
                  other->type.source);
  else
    reflect_error(r, record,
                  "the name of vertex '%s' makes the symbol '%s', as that of vertex '%s' (%s) "
                  "does: rename one",
                  type->name, type->symbol, other->type.name, other->type.source);
}

static bool is_same_class(const popc_vertex *a, const popc_vertex *b)
{
  return !strcmp(a->type.name, b->type.name) &&
         (!a->cxx_name || !b->cxx_name || !strcmp(a->cxx_name, b->cxx_name));
}

/* Has it a name, and every class that it is in? */
static bool has_name(CXCursor record)
{
  CXCursor at = record;
  for (; clang_getCursorKind(at) == CXCursor_ClassDecl ||
         clang_getCursorKind(at) == CXCursor_StructDecl;
       at = clang_getCursorSemanticParent(at))
    if (clang_Cursor_isAnonymous(at)) return false;
  return true;
}

/* `spelling`: the name of the class or struct in generated code. */
static void add_vertex(reflection *r, CXCursor record, const char *spelling, bool cxx,
                       const vertex_class *class)
{
  popc_vertex vertex = {.cxx_name = cxx ? spelling : NULL,
                        .returns_void = class->result == RETURNS_VOID};
  const char *name = cxx ? reflect_vertex_name(r, record) : spelling;
  const char *for_symbol = cxx ? reflect_class_name(r, record) : spelling;
  const char *plain = take_from_heap(r, popc_vertex_name(for_symbol));
  const class_alias *alias = cxx ? reflect_alias(r, record) : NULL;
  if (alias) vertex.alias = alias->definition;
  vertex.type.name = take_from_heap(r, popc_vertex_name(name));
  vertex.type.symbol = take_from_heap(r, pop_vertex_symbol(plain));
  CXCursor pattern = clang_getSpecializedCursorTemplate(record);
  vertex.jumps = r->target == POPC_HOST && !clang_Cursor_isNull(pattern);
  vertex.type.kind = class->kind;
  for (size_t i = 0; i < r->num_vertices; ++i) {
    const popc_vertex *other = &r->vertices[i];
    if (is_same_class(other, &vertex)) return; /* seen: declared again */
    if (strcmp(other->type.name, vertex.type.name) != 0 &&
        strcmp(other->type.symbol, vertex.type.symbol) != 0)
      continue;
    refuse_same_name(r, record, &vertex, other);
    return;
  }
  vertex.type.source = source_place(r, record);
  if (cxx && !has_name(record)) {
    reflect_error(r, record, "a vertex must have a name, by which a graph adds it");
    return;
  }
  pop_push(r->vertices, r->num_vertices, r->capacity, vertex);
  pop_push(r->cursors, r->num_cursors, r->cursors_capacity, record);
  pop_push(r->classes, r->num_classes, r->classes_capacity, *class);
}

/* What the compiler said about an open class. */
static void close_class(const probe *answer, CXCursor cursor, vertex_class *class)
{
  class->is_vertex = answer->is_vertex;
  class->kind = answer->kind;
  class->has_two_kinds = answer->has_two_kinds;
  if (!class->is_vertex) return;
  reflect_compute(cursor, class);
  class->has_compute = answer->has_compute;
  if (answer->has_compute) class->result = answer->result;
}

/* "extern template class V<float>;": another source instantiates it. libclang shows the keyword by
 * its place alone. */
static bool is_extern(const reflection *r, CXCursor cursor)
{
  static const char keyword[] = "extern";
  CXFile file;
  unsigned offset;
  size_t size = 0;
  clang_getSpellingLocation(clang_getRangeStart(clang_getCursorExtent(cursor)), &file, NULL, NULL,
                            &offset);
  const char *text = file ? clang_getFileContents(r->unit, file, &size) : NULL;
  return text && offset + sizeof keyword <= size &&
         !memcmp(text + offset, keyword, sizeof keyword - 1);
}

/* Is the class instantiated here? If it was declared as extern before, that is its definition for
 * libclang. */
static bool is_defined_here(const reflection *r, CXCursor cursor)
{
  bool defined = clang_isCursorDefinition(cursor);
  if (clang_Cursor_isNull(clang_getSpecializedCursorTemplate(cursor))) return defined;
  if (is_extern(r, cursor)) return false;
  CXCursor definition = clang_getCursorDefinition(cursor);
  return defined || (!clang_Cursor_isNull(definition) && is_extern(r, definition));
}

static void take_class(reflection *r, CXCursor cursor)
{
  if (!is_defined_here(r, cursor)) return;
  cursor = clang_getCursorDefinition(cursor);
  vertex_class class = reflect_class(cursor);
  if (!class.is_vertex && !class.open) return;
  const char *name = reflect_cxx_name(r, cursor);
  if (class.open) {
    const probe *answer = reflect_find_probe(r, name);
    if (!answer && !r->probed) {
      pop_push(r->probes, r->num_probes, r->probes_capacity, (probe){.name = name});
      reflect_note_bases(r, cursor, name);
    }
    if (!answer || !r->probed) return;
    close_class(answer, cursor, &class);
  }
  if (class.is_vertex) add_vertex(r, cursor, name, true, &class);
}

typedef struct kind_search {
  bool found;
  pop_vertex_kind kind;
} kind_search;

static enum CXChildVisitResult find_kind(CXCursor cursor, CXCursor parent, CXClientData data)
{
  static const char *const annotations[] = {[POP_VERTEX_WORKER] = "populus:worker",
                                            [POP_VERTEX_MULTI] = "populus:multi",
                                            [POP_VERTEX_SUPERVISOR] = "populus:supervisor"};
  (void)parent;
  if (clang_getCursorKind(cursor) != CXCursor_AnnotateAttr) return CXChildVisit_Continue;
  kind_search *search = data;
  CXString text = clang_getCursorSpelling(cursor);
  for (int kind = 0; kind < (int)(sizeof annotations / sizeof *annotations); ++kind)
    if (!strcmp(clang_getCString(text), annotations[kind]))
      *search = (kind_search){true, (pop_vertex_kind)kind};
  clang_disposeString(text);
  return CXChildVisit_Break;
}

/* typedef MyVertex populus_vertex_MyVertex __attribute__((annotate("populus:worker"))) */
static void take_typedef(reflection *r, CXCursor cursor)
{
  static const char prefix[] = "populus_vertex_";
  kind_search search = {false, POP_VERTEX_WORKER};
  clang_visitChildren(cursor, find_kind, &search);
  const char *name = reflect_string(r, clang_getCursorSpelling(cursor));
  if (!search.found || strncmp(name, prefix, sizeof prefix - 1) != 0) return;
  CXType type = clang_getCanonicalType(clang_getTypedefDeclUnderlyingType(cursor));
  if (type.kind != CXType_Record) {
    reflect_error(r, cursor, "vertex '%s' is of type '%s': it must be a struct",
                  name + sizeof prefix - 1, reflect_string(r, clang_getTypeSpelling(type)));
    return;
  }
  if (clang_Type_getSizeOf(type) < 0) {
    reflect_error(r, cursor, "vertex '%s' is a struct that is declared and not defined",
                  name + sizeof prefix - 1);
    return;
  }
  add_vertex(r, clang_getTypeDeclaration(type), name + sizeof prefix - 1, false,
             &(vertex_class){.kind = search.kind});
}

/* Generated code can name a class that is in no other one, or a public member. */
static bool is_nameable(CXCursor class_cursor)
{
  enum CX_CXXAccessSpecifier access = clang_getCXXAccessSpecifier(class_cursor);
  return access == CX_CXXPublic || access == CX_CXXInvalidAccessSpecifier;
}

static enum CXChildVisitResult visit_declaration(CXCursor cursor, CXCursor parent,
                                                 CXClientData data)
{
  (void)parent;
  switch (clang_getCursorKind(cursor)) {
  case CXCursor_Namespace:
  case CXCursor_LinkageSpec:
    return reflect_is_in_library(cursor) ? CXChildVisit_Continue : CXChildVisit_Recurse;
  case CXCursor_ClassDecl:
  case CXCursor_StructDecl:
    if (reflect_is_in_library(cursor) || !is_nameable(cursor)) return CXChildVisit_Continue;
    take_class(data, cursor);
    return CXChildVisit_Recurse;
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

static void compare_base(void *context, CXCursor base, bool is_public)
{
  (void)is_public;
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

/* Reports what is wrong with a C++ vertex. False: the class is only a base of others, or nothing else
 * can be said about it. */
static bool check_class(reflection *r, size_t index)
{
  const vertex_class *class = &r->classes[index];
  const char *name = r->vertices[index].type.name;
  bool is_seen = !clang_Cursor_isNull(class->compute);
  if (!is_seen && !class->has_compute && is_base_of_another(r, index)) return false;
  if (class->has_two_kinds) {
    reflect_error(r, r->cursors[index],
                  "vertex '%s' derives from two of poplar::Vertex, MultiVertex and "
                  "SupervisorVertex: one of them says who runs it",
                  name);
    return false;
  }
  if (!clang_Cursor_isNull(class->first_virtual))
    reflect_error(r, class->first_virtual,
                  "vertex '%s' has a virtual %s: vertex state can hold only fields", name,
                  clang_getCursorKind(class->first_virtual) == CXCursor_CXXBaseSpecifier
                      ? "base class"
                      : "function");
  else if (is_seen)
    reflect_check_compute(r, name, class);
  else if (!class->has_compute)
    reflect_error(r, r->cursors[index], "vertex '%s' has no function compute()", name);
  return true;
}

static void complete_vertices(reflection *r)
{
  size_t kept = 0;
  for (size_t i = 0; i < r->num_vertices; ++i) {
    if (r->vertices[i].cxx_name && !check_class(r, i)) continue;
    reflect_fields(r, r->cursors[i], &r->vertices[i]);
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

static void finish(reflection *r, pop_bytes *out)
{
  complete_vertices(r);
  if (!r->num_errors) {
    popc_write_entries(r->vertices, r->num_vertices, out);
    reflect_architecture(r, out);
    reflect_vectors(r, out);
    return;
  }
  pop_bytes_append(out, r->diagnostics->data, r->diagnostics->size);
  char *count =
      pop_xasprintf("%u error%s generated.\n", r->num_errors, r->num_errors == 1 ? "" : "s");
  print(out, count);
  free(count);
}

static bool parse(reflection *r, CXIndex index, const char *path, const pop_bytes *text,
                  const char *const *arguments, size_t count)
{
  struct CXUnsavedFile file = {path, (const char *)text->data, text->size};
  if (r->unit) clang_disposeTranslationUnit(r->unit);
  r->unit = NULL;
  /* Functions without bodies look unused. That must not become an error by -Werror. */
  const char **silent = pop_xcalloc(count + 2, sizeof *silent);
  memcpy(silent, arguments, count * sizeof *silent);
  silent[count++] = "-w";
  if (r->num_probes) silent[count++] = "-fno-access-control"; /* see probe.c */
  enum CXErrorCode code = clang_parseTranslationUnit2(
      index, path, silent, (int)count, &file, 1,
      CXTranslationUnit_SkipFunctionBodies | CXTranslationUnit_KeepGoing, &r->unit);
  free(silent);
  return code == CXError_Success && !has_errors(r->unit);
}

static void look(reflection *r)
{
  r->num_vertices = r->num_cursors = r->num_classes = r->num_errors = 0;
  r->diagnostics->size = 0;
  clang_visitChildren(clang_getTranslationUnitCursor(r->unit), visit_declaration, r);
}

static popc_reflection reflect_text(reflection *r, CXIndex index, const popc_source *source,
                                    const char *const *arguments, size_t count, pop_bytes *text)
{
  pop_bytes_append(text, source->text, source->size);
  if (!parse(r, index, source->path, text, arguments, count)) return POPC_NOT_PARSED;
  look(r);
  if (r->num_probes) {
    reflect_write_probes(r, text);
    if (!parse(r, index, source->path, text, arguments, count)) return POPC_NOT_PARSED;
    reflect_read_probes(r);
    look(r);
  }
  return POPC_REFLECTED;
}

/* Shown only if clang does not report the same errors. */
static void tell_errors(CXTranslationUnit unit, pop_bytes *out)
{
  unsigned count = unit ? clang_getNumDiagnostics(unit) : 0;
  for (unsigned i = 0; i < count; ++i) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit, i);
    if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
      CXString text = clang_formatDiagnostic(diagnostic, clang_defaultDiagnosticDisplayOptions());
      print(out, clang_getCString(text));
      print(out, "\n");
      clang_disposeString(text);
    }
    clang_disposeDiagnostic(diagnostic);
  }
}

static bool wants_colour(const char *const *arguments, size_t count)
{
  bool wanted = false;
  for (size_t i = 0; i < count; ++i) {
    if (!strcmp(arguments[i], "-fcolor-diagnostics")) wanted = true;
    if (!strcmp(arguments[i], "-fno-color-diagnostics")) wanted = false;
  }
  return wanted;
}

popc_reflection popc_reflect(const popc_source *source, popc_target target,
                             const char *const *arguments, size_t count, pop_bytes *out)
{
  CXIndex index = clang_createIndex(0, 0);
  pop_bytes diagnostics = {0}, text = {0};
  reflection r = {.target = target, .arena = pop_arena_new(), .diagnostics = &diagnostics};
  r.colour = wants_colour(arguments, count);
  popc_reflection result = reflect_text(&r, index, source, arguments, count, &text);
  if (result == POPC_REFLECTED) {
    finish(&r, out);
    if (r.num_errors) result = POPC_VERTEX_AT_FAULT;
  } else {
    tell_errors(r.unit, out);
  }
  pop_bytes_free(&diagnostics);
  pop_bytes_free(&text);
  free(r.vertices);
  free(r.cursors);
  free(r.classes);
  free(r.probes);
  free(r.bases);
  free(r.aliases);
  pop_arena_free(r.arena);
  /* The syntax tree is not freed: the process ends soon, and freeing takes longer. */
  return result;
}
