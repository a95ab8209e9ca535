/* The fields of a vertex type: kind, layout, element type and place of each, from clang's types.
 *
 * In C++ a field's kind is its class, poplar::Input<T>, Output<T>, InOut<T>, with T an element type
 * or poplar::Vector<element, layout, alignment, interleaved>. In C it is the annotation that INPUT,
 * OUTPUT and INOUT of populus/vertex.h leave: "populus:input:SPAN:8:0". A field without either is a
 * constant and must be a scalar.
 */
#include "reflect_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *cxx, *c;
  pop_field_kind kind;
} kinds[] = {
    {"Input", "input", POP_FIELD_INPUT},
    {"Output", "output", POP_FIELD_OUTPUT},
    {"InOut", "inout", POP_FIELD_INOUT},
};
#define NUM_KINDS (sizeof kinds / sizeof *kinds)

/* Indexed by poplar::VectorLayout, named as in C. */
static const struct {
  const char *name;
  pop_field_layout layout;
} layouts[] = {
    {"SPAN", POP_LAYOUT_SPAN},
    {"ONE_PTR", POP_LAYOUT_ONE_PTR},
};
#define NUM_LAYOUTS (sizeof layouts / sizeof *layouts)

static const struct {
  enum CXTypeKind clang;
  pop_type type;
} scalars[] = {
    {CXType_Bool, POP_BOOL},
    {CXType_Char_S, POP_CHAR},
    {CXType_Char_U, POP_CHAR},
    {CXType_SChar, POP_SIGNED_CHAR},
    {CXType_UChar, POP_UNSIGNED_CHAR},
    {CXType_Short, POP_SHORT},
    {CXType_UShort, POP_UNSIGNED_SHORT},
    {CXType_Int, POP_INT},
    {CXType_UInt, POP_UNSIGNED_INT},
    {CXType_LongLong, POP_LONGLONG},
    {CXType_ULongLong, POP_UNSIGNED_LONGLONG},
    {CXType_Float16, POP_HALF},
    {CXType_Float, POP_FLOAT},
};

static bool scalar_type(CXType type, pop_type *scalar)
{
  enum CXTypeKind kind = clang_getCanonicalType(type).kind;
  /* `long` has the tile's size there and the host's size here. */
  bool is_wide = clang_Type_getSizeOf(type) == 8;
  if (kind == CXType_Long) kind = is_wide ? CXType_LongLong : CXType_Int;
  if (kind == CXType_ULong) kind = is_wide ? CXType_ULongLong : CXType_UInt;
  for (size_t i = 0; i < sizeof scalars / sizeof *scalars; ++i) {
    if (scalars[i].clang == kind) {
      *scalar = scalars[i].type;
      return true;
    }
  }
  return false;
}

/* C++: poplar::Vector<T, layout, alignment, interleaved> */
static bool vector_field(CXType type, pop_field *field)
{
  CXCursor declaration = clang_getTypeDeclaration(type);
  long long layout = clang_Cursor_getTemplateArgumentValue(declaration, 1);
  if (layout < 0 || (size_t)layout >= NUM_LAYOUTS) return false;
  field->layout = layouts[layout].layout;
  field->alignment = (uint32_t)clang_Cursor_getTemplateArgumentUnsignedValue(declaration, 2);
  field->interleaved = clang_Cursor_getTemplateArgumentUnsignedValue(declaration, 3) != 0;
  return scalar_type(clang_Type_getTemplateArgumentAsType(type, 0), &field->type);
}

static bool cxx_edge(CXType type, size_t kind, pop_field *field)
{
  field->kind = kinds[kind].kind;
  CXType element = clang_getCanonicalType(clang_Type_getTemplateArgumentAsType(type, 0));
  if (reflect_is_poplar(clang_getTypeDeclaration(element), "Vector"))
    return vector_field(element, field);
  field->layout = POP_LAYOUT_SCALAR;
  return scalar_type(element, &field->type);
}

static enum CXChildVisitResult find_annotation(CXCursor cursor, CXCursor parent, CXClientData data)
{
  (void)parent;
  if (clang_getCursorKind(cursor) != CXCursor_AnnotateAttr) return CXChildVisit_Continue;
  CXString text = clang_getCursorSpelling(cursor);
  bool ours = !strncmp(clang_getCString(text), "populus:", strlen("populus:"));
  if (ours) snprintf(data, 80, "%s", clang_getCString(text));
  clang_disposeString(text);
  return ours ? CXChildVisit_Break : CXChildVisit_Continue;
}

static enum CXVisitorResult take_field_type(CXCursor cursor, CXClientData data)
{
  *(CXType *)data = clang_getCursorType(cursor);
  return CXVisit_Break;
}

/* C: the type that the annotated declaration points to; a span's first member is its pointer. */
static bool c_edge(CXType type, const char *annotation, pop_field *field)
{
  char kind[16], layout[16];
  unsigned alignment, interleaved;
  if (sscanf(annotation, "populus:%15[a-z]:%15[A-Z_0-9]:%u:%u", kind, layout, &alignment,
             &interleaved) != 4)
    return false;
  bool known = false;
  for (size_t i = 0; i < NUM_KINDS; ++i) {
    if (strcmp(kinds[i].c, kind) != 0) continue;
    field->kind = kinds[i].kind;
    known = true;
  }
  field->layout = POP_LAYOUT_SCALAR;
  for (size_t i = 0; i < NUM_LAYOUTS; ++i)
    if (!strcmp(layouts[i].name, layout)) field->layout = layouts[i].layout;
  field->alignment = alignment;
  field->interleaved = interleaved != 0;
  if (field->layout == POP_LAYOUT_SPAN)
    clang_Type_visitFields(clang_getCanonicalType(type), take_field_type, &type);
  return known && scalar_type(clang_getPointeeType(clang_getCanonicalType(type)), &field->type);
}

/* Fills in kind, layout, type and alignment. False if a vertex can't have such a field. */
static bool classify(CXCursor cursor, pop_field *field)
{
  CXType type = clang_getCanonicalType(clang_getCursorType(cursor));
  char annotation[80] = "";
  clang_visitChildren(cursor, find_annotation, annotation);
  if (*annotation) return c_edge(type, annotation, field);

  CXCursor declaration = clang_getTypeDeclaration(type);
  for (size_t i = 0; i < NUM_KINDS; ++i)
    if (reflect_is_poplar(declaration, kinds[i].cxx)) return cxx_edge(type, i, field);

  field->kind = POP_FIELD_CONSTANT;
  field->layout = POP_LAYOUT_SCALAR;
  return !clang_Cursor_isBitField(cursor) && scalar_type(type, &field->type);
}

typedef struct field_list {
  reflection *r;
  const char *vertex;
  pop_field *fields;
  size_t count, capacity;
} field_list;

static void check_alignment(field_list *list, CXCursor cursor, pop_field *field)
{
  uint32_t least = pop_type_align(field->type);
  if (field->alignment < least) field->alignment = least;
  if (field->alignment & (field->alignment - 1))
    reflect_error(list->r, cursor, "field '%s.%s' has alignment %u, which is not a power of two",
                  list->vertex, field->name, field->alignment);
}

static enum CXVisitorResult take_field(CXCursor cursor, CXClientData data)
{
  field_list *list = data;
  reflection *r = list->r;
  pop_field field = {.name = reflect_string(r, clang_getCursorSpelling(cursor))};
  if (!classify(cursor, &field)) {
    const char *spelling = reflect_string(r, clang_getTypeSpelling(clang_getCursorType(cursor)));
    reflect_error(r, cursor, "field '%s.%s' has unsupported field type '%s'", list->vertex,
                  field.name, clang_Cursor_isBitField(cursor) ? "bit-field" : spelling);
    return CXVisit_Continue;
  }
  for (size_t i = 0; i < list->count; ++i)
    if (!strcmp(list->fields[i].name, field.name))
      reflect_error(r, cursor, "field '%s.%s' hides a field of a base class", list->vertex,
                    field.name);
  check_alignment(list, cursor, &field);
  field.offset = (uint32_t)(clang_Cursor_getOffsetOfField(cursor) / 8);
  field.size = (uint32_t)clang_Type_getSizeOf(clang_getCursorType(cursor));
  pop_push(list->fields, list->count, list->capacity, field);
  return CXVisit_Continue;
}

static void take_record(field_list *list, CXCursor record);

static void take_base(void *context, CXCursor base)
{
  take_record(context, base);
}

/* A base class with fields lies at offset 0 as long as there is one such base and nothing virtual,
 * which is all that a vertex can have. */
static void take_record(field_list *list, CXCursor record)
{
  reflect_bases(record, take_base, list);
  clang_Type_visitFields(clang_getCursorType(record), take_field, list);
}

static int compare_offsets(const void *a, const void *b)
{
  const pop_field *x = a, *y = b;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

void reflect_fields(reflection *r, CXCursor record, pop_vertex_type *type)
{
  field_list list = {.r = r, .vertex = type->name};
  take_record(&list, record);
  type->num_fields = list.count;
  pop_field *fields = pop_arena_alloc(r->arena, list.count * sizeof *fields);
  if (list.count) memcpy(fields, list.fields, list.count * sizeof *fields);
  free(list.fields);
  qsort(fields, list.count, sizeof *fields, compare_offsets);
  for (size_t i = 1; i < list.count && !r->num_errors; ++i)
    if (fields[i].offset < fields[i - 1].offset + fields[i - 1].size)
      reflect_error(r, record, "vertex '%s' inherits fields from more than one base class",
                    type->name);
  type->fields = fields;
  CXType state = clang_getCursorType(record);
  type->state_size = list.count ? (uint32_t)clang_Type_getSizeOf(state) : 0;
  type->state_alignment = (uint32_t)clang_Type_getAlignOf(state);
}
