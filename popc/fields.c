/* The fields of a vertex type: kind, layouts, element type and place of each, from clang's types.
 *
 * In C++ a field's type says what it is:
 *
 *   T                                 a constant; must be a scalar
 *   Vector<T, …>                      constant data
 *   Input<T>, Output<T>, InOut<T>     an edge of one element
 *   Input<Vector<T, …>>               of many
 *   Input<VectorList<T, …>>           rows in a packed table
 *   Vector<Input<T or Vector>, …>     rows in a table
 *   Input<…> a[4]                     rows in the vertex state
 *
 * In C the annotation says it, which INPUT, OUTPUT, INOUT or STATE of populus/vertex.h leaves. It
 * has kind, layout, alignment, interleaved and, if the field has rows, layout and alignment of
 * their table: "populus:input:SPAN:8:0", "populus:input:ONE_PTR:8:0:SPAN:0".
 */
#include "reflect_internal.h"

#include <math.h>
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
    {NULL, "state", POP_FIELD_CONSTANT},
};
#define NUM_KINDS (sizeof kinds / sizeof *kinds)

/* Indexed by poplar::VectorLayout; named as in C. */
static const struct {
  const char *name;
  pop_field_layout layout;
} layouts[] = {
    {"SPAN", POP_LAYOUT_SPAN},
    {"ONE_PTR", POP_LAYOUT_ONE_PTR},
    {"SHORT_SPAN", POP_LAYOUT_SHORT_SPAN},
    {"SCALED_PTR32", POP_LAYOUT_SCALED_PTR32},
    {"SCALED_PTR64", POP_LAYOUT_SCALED_PTR64},
    {"SCALED_PTR128", POP_LAYOUT_SCALED_PTR128},
    /* C only; C++ has them in VectorListLayout */
    {"SCALAR", POP_LAYOUT_SCALAR},
    {"DELTAN", POP_LAYOUT_DELTAN},
    {"DELTANELEMENTS", POP_LAYOUT_DELTANELEMENTS},
};
enum { NUM_LAYOUTS = sizeof layouts / sizeof *layouts, NUM_VECTOR_LAYOUTS = 6 };

/* Indexed by poplar::VectorListLayout. */
static const pop_field_layout list_layouts[] = {POP_LAYOUT_ONE_PTR, POP_LAYOUT_DELTAN,
                                                POP_LAYOUT_DELTANELEMENTS};
enum { NUM_LIST_LAYOUTS = sizeof list_layouts / sizeof *list_layouts };

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

/* struct quarter of populus/quarter.h. */
static bool is_quarter(CXType type)
{
  CXCursor declaration = clang_getTypeDeclaration(type);
  CXCursor scope = clang_getCursorSemanticParent(declaration);
  if (type.kind != CXType_Record || clang_getCursorKind(scope) != CXCursor_TranslationUnit)
    return false;
  CXString name = clang_getCursorSpelling(declaration);
  bool same = !strcmp(clang_getCString(name), "quarter");
  clang_disposeString(name);
  return same && clang_Type_getSizeOf(type) == 1;
}

static bool scalar_type(CXType type, pop_type *scalar)
{
  type = clang_getCanonicalType(type);
  if (is_quarter(type)) {
    *scalar = POP_QUARTER;
    return true;
  }
  if (type.kind == CXType_Enum)
    type = clang_getCanonicalType(clang_getEnumDeclIntegerType(clang_getTypeDeclaration(type)));
  enum CXTypeKind kind = type.kind;
  /* `long` has the size of the compilation's target, not of popc's host. */
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

static CXType template_argument(CXType type, unsigned index)
{
  return clang_getCanonicalType(clang_Type_getTemplateArgumentAsType(type, index));
}

/* Arguments 1 to 3 of poplar::Vector and VectorList. */
typedef struct vector_arguments {
  long long layout;
  uint32_t alignment;
  bool interleaved;
} vector_arguments;

static vector_arguments get_vector_arguments(CXType type)
{
  CXCursor declaration = clang_getTypeDeclaration(type);
  return (vector_arguments){
      .layout = clang_Cursor_getTemplateArgumentValue(declaration, 1),
      .alignment = (uint32_t)clang_Cursor_getTemplateArgumentUnsignedValue(declaration, 2),
      .interleaved = clang_Cursor_getTemplateArgumentUnsignedValue(declaration, 3) != 0,
  };
}

/* poplar::Vector<T, layout, alignment, interleaved> of scalars */
static bool vector_field(CXType type, pop_field *field)
{
  vector_arguments arguments = get_vector_arguments(type);
  if (arguments.layout < 0 || arguments.layout >= NUM_VECTOR_LAYOUTS) return false;
  field->layout = layouts[arguments.layout].layout;
  field->alignment = arguments.alignment;
  field->interleaved = arguments.interleaved;
  return scalar_type(template_argument(type, 0), &field->type);
}

/* poplar::VectorList<T, layout, alignment, interleaved> */
static bool list_field(CXType type, pop_field *field)
{
  vector_arguments arguments = get_vector_arguments(type);
  if (arguments.layout < 0 || arguments.layout >= NUM_LIST_LAYOUTS) return false;
  field->layout = field->row_layout = list_layouts[arguments.layout];
  field->has_rows = true;
  field->alignment = arguments.alignment;
  field->interleaved = arguments.interleaved;
  return scalar_type(template_argument(type, 0), &field->type);
}

static bool is_poplar_class(CXType type, const char *name)
{
  return reflect_is_poplar(clang_getTypeDeclaration(type), name);
}

/* poplar::Input, Output, InOut. */
static bool cxx_edge(CXType type, pop_field *field)
{
  size_t kind = 0;
  while (kind < NUM_KINDS && !(kinds[kind].cxx && is_poplar_class(type, kinds[kind].cxx))) ++kind;
  if (kind == NUM_KINDS) return false;
  field->kind = kinds[kind].kind;
  CXType element = template_argument(type, 0);
  if (is_poplar_class(element, "Vector")) return vector_field(element, field);
  if (is_poplar_class(element, "VectorList")) return list_field(element, field);
  field->layout = POP_LAYOUT_SCALAR;
  return scalar_type(element, &field->type);
}

static bool cxx_edge_without_rows(CXType type, pop_field *field)
{
  return cxx_edge(type, field) && !field->has_rows;
}

/* Makes the field a table whose rows are what the field has been so far. */
static void add_table(pop_field *field, pop_field_layout layout, uint32_t alignment)
{
  field->has_rows = true;
  field->row_layout = field->layout;
  field->layout = layout;
  field->table_alignment = alignment;
}

/* poplar::Vector: of edges, or constant data. */
static bool cxx_vector(CXType type, pop_field *field)
{
  CXType element = template_argument(type, 0);
  if (scalar_type(element, &field->type)) return vector_field(type, field);
  vector_arguments arguments = get_vector_arguments(type);
  if (arguments.layout < 0 || arguments.layout >= NUM_VECTOR_LAYOUTS) return false;
  if (!cxx_edge_without_rows(element, field)) return false;
  add_table(field, layouts[arguments.layout].layout, arguments.alignment);
  return true;
}

static bool cxx_array(CXType type, pop_field *field)
{
  long long count = clang_getArraySize(type);
  CXType element = clang_getCanonicalType(clang_getArrayElementType(type));
  if (count <= 0 || count > UINT16_MAX || !cxx_edge_without_rows(element, field)) return false;
  add_table(field, POP_LAYOUT_ARRAY, 0);
  field->num_rows = (uint32_t)count;
  return true;
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

static bool is_list(const pop_field *field)
{
  return field->layout == POP_LAYOUT_DELTAN || field->layout == POP_LAYOUT_DELTANELEMENTS;
}

static bool find_layout(const char *name, pop_field_layout *layout)
{
  for (size_t i = 0; i < NUM_LAYOUTS; ++i) {
    if (strcmp(layouts[i].name, name) != 0) continue;
    *layout = layouts[i].layout;
    return true;
  }
  return false;
}

static CXType first_member(CXType type)
{
  clang_Type_visitFields(clang_getCanonicalType(type), take_field_type, &type);
  return clang_getCanonicalType(type);
}

/* What a C field of this layout points to: see POPULUS_LAYOUT_… of populus/vertex.h. */
static CXType target_of(CXType type, pop_field_layout layout)
{
  type = clang_getCanonicalType(type);
  if (layout == POP_LAYOUT_SPAN)
    type = first_member(type);
  else if (layout != POP_LAYOUT_SCALAR && layout != POP_LAYOUT_ONE_PTR)
    type = clang_getCanonicalType(clang_getArrayElementType(first_member(type)));
  return clang_getPointeeType(type);
}

/* A number as C has it: 16, 16u, 0x10; from C23 on, true is a word of the language. */
static bool take_number(const char *text, uint32_t *number)
{
  char *end;
  unsigned long value = strtoul(text, &end, 0);
  if (!strcmp(text, "true") || !strcmp(text, "false")) {
    *number = *text == 't';
    return true;
  }
  *number = (uint32_t)value;
  return *text >= '0' && *text <= '9' && !end[strspn(end, "uUlL")] && value <= UINT32_MAX;
}

static bool c_edge(CXType type, const char *annotation, pop_field *field)
{
  char kind[16], layout[16], table[16], numbers[3][16] = {"", "", "0"};
  uint32_t interleaved, table_alignment;
  int count =
      sscanf(annotation, "populus:%15[a-z]:%15[A-Z_0-9]:%15[^:]:%15[^:]:%15[A-Z_0-9]:%15[^:]", kind,
             layout, numbers[0], numbers[1], table, numbers[2]);
  if ((count != 4 && count != 6) || !find_layout(layout, &field->layout) ||
      !take_number(numbers[0], &field->alignment) || !take_number(numbers[1], &interleaved) ||
      !take_number(numbers[2], &table_alignment))
    return false;
  bool known = false;
  for (size_t i = 0; i < NUM_KINDS; ++i) {
    if (strcmp(kinds[i].c, kind) != 0) continue;
    field->kind = kinds[i].kind;
    known = true;
  }
  field->interleaved = interleaved != 0;
  if (type.kind == CXType_ConstantArray && count == 4) {
    long long rows = clang_getArraySize(type);
    if (rows <= 0 || rows > UINT16_MAX) return false;
    type = clang_getCanonicalType(clang_getArrayElementType(type));
    type = target_of(type, field->layout);
    add_table(field, POP_LAYOUT_ARRAY, 0);
    field->num_rows = (uint32_t)rows;
  } else if (count == 4) {
    type = target_of(type, field->layout);
  } else {
    pop_field_layout of_table;
    if (!find_layout(table, &of_table)) return false;
    add_table(field, of_table, table_alignment);
    type = target_of(type, field->layout);
    if (!is_list(field)) type = target_of(type, field->row_layout);
  }
  /* Data of the vertex itself are a vector. A single value needs no pointer. */
  if (field->kind == POP_FIELD_CONSTANT && (field->has_rows || field->layout == POP_LAYOUT_SCALAR))
    return false;
  return known && scalar_type(type, &field->type);
}

/* Fills in all but name and place. False if a vertex can't have such a field. */
static bool classify(CXCursor cursor, pop_field *field)
{
  CXType type = clang_getCanonicalType(clang_getCursorType(cursor));
  char annotation[80] = "";
  clang_visitChildren(cursor, find_annotation, annotation);
  if (*annotation) return c_edge(type, annotation, field);

  field->kind = POP_FIELD_CONSTANT;
  if (type.kind == CXType_ConstantArray) return cxx_array(type, field);
  if (is_poplar_class(type, "Vector")) return cxx_vector(type, field);
  if (cxx_edge(type, field)) return true;

  *field = (pop_field){.name = field->name, .kind = POP_FIELD_CONSTANT};
  return !clang_Cursor_isBitField(cursor) && scalar_type(type, &field->type);
}

typedef struct field_list {
  reflection *r;
  const char *vertex;
  const char *cxx_name; /* of the vertex; NULL in C */
  pop_field *fields;
  size_t count, capacity;
  CXCursor record;      /* the current class */
  uint32_t base;        /* of the current class in the vertex state */
  uint32_t end;         /* of its fields so far, relative to `base` */
  bool inherited;       /* the current class is a base class */
  bool hidden;          /* … whose members generated code cannot name */
  bool base_is_unnamed; /* one of the current class's */
  const char *checks;
  bool has_unchecked; /* an inherited field that generated code cannot name */
  bool is_unusual;    /* a base may lie elsewhere than take_base computes */
  CXCursor *bases;    /* seen so far */
  size_t num_bases, bases_capacity;
} field_list;

/* popc computes where a base class lies. A static assertion makes the compiler confirm it. */
static void check_offset(field_list *list, CXCursor cursor, const pop_field *field)
{
  bool is_public = clang_getCXXAccessSpecifier(cursor) == CX_CXXPublic;
  list->has_unchecked |= list->inherited && (list->hidden || !is_public);
  if (!list->inherited || list->hidden || !is_public) return;
  list->checks = pop_arena_printf(
      list->r->arena, "%sstatic_assert(__builtin_offsetof(%s, %s) == %u, \"popc is wrong\");\n",
      list->checks, list->cxx_name, field->name, field->offset);
}

static uint32_t check_power_of_two(field_list *list, CXCursor cursor, const char *name,
                                   uint32_t alignment, uint32_t least)
{
  if (alignment & (alignment - 1))
    reflect_error(list->r, cursor, "field '%s.%s' has alignment %u, which is not a power of two",
                  list->vertex, name, alignment);
  return alignment > least ? alignment : least;
}

/* The alignment is the largest that the type, the author and the layouts ask for. */
static void raise_alignments(field_list *list, CXCursor cursor, pop_field *field)
{
  pop_field_layout to_data = field->has_rows ? field->row_layout : field->layout;
  uint32_t least = pop_type_align(field->type), table_least = field->has_rows ? 4 : 0;
  if (!is_list(field) && pop_layout_forms[to_data].target_align > least)
    least = pop_layout_forms[to_data].target_align;
  if (field->has_rows && pop_layout_forms[field->layout].target_align > table_least)
    table_least = pop_layout_forms[field->layout].target_align;
  field->alignment = check_power_of_two(list, cursor, field->name, field->alignment, least);
  field->table_alignment =
      check_power_of_two(list, cursor, field->name, field->table_alignment, table_least);
}

static const pop_layout_form *forms_of(popc_target target)
{
  return target == POPC_HOST ? pop_host_layout_forms : pop_layout_forms;
}

static void take(field_list *list, pop_field field)
{
  pop_push(list->fields, list->count, list->capacity, field);
  if (field.offset + field.size - list->base > list->end)
    list->end = field.offset + field.size - list->base;
}

/* Classes that stand for quarters have one more pointer at their end, to the quarters' format and
 * scale: struct Metadata of poplar/FieldTypes.hpp. For the graph it is an edge. Whoever connects
 * the quarters connects it, too. */
static bool has_metadata(CXType type, const pop_field *field)
{
  if (field->type != POP_QUARTER) return false;
  if (type.kind == CXType_ConstantArray)
    type = clang_getCanonicalType(clang_getArrayElementType(type));
  bool is_edge = false;
  for (size_t i = 0; i < NUM_KINDS; ++i)
    is_edge |= kinds[i].cxx && is_poplar_class(type, kinds[i].cxx);
  return is_edge || is_poplar_class(type, "Vector");
}

static void take_metadata(field_list *list, CXCursor cursor, const pop_field *field, uint32_t size)
{
  const pop_layout_form *form = forms_of(list->r->target) + POP_LAYOUT_SCALAR;
  pop_field metadata = {
      .name = pop_arena_printf(list->r->arena, "%s" POP_METADATA_SUFFIX, field->name),
      .kind = POP_FIELD_INPUT,
      .layout = POP_LAYOUT_SCALAR,
      .type = POP_UNSIGNED_CHAR,
      .alignment = pop_type_align(POP_UNSIGNED_CHAR),
      .offset = (field->offset + field->size + form->align - 1) / form->align * form->align,
      .size = form->bytes};
  if (metadata.offset + metadata.size != field->offset + size)
    reflect_error(list->r, cursor, "field '%s.%s' takes %u bytes, of which popc knows %u",
                  list->vertex, field->name, size, metadata.offset + metadata.size - field->offset);
  take(list, metadata);
}

/* Takes the classes of a field off a type, as far as they hold elements. */
static CXType element_of(CXType type, bool *has_classes)
{
  static const char *const classes[] = {"Input", "Output", "InOut", "Vector", "VectorList"};
  enum { NUM_CLASSES = sizeof classes / sizeof *classes };
  *has_classes = false;
  for (;;) {
    size_t i = 0;
    while (i < NUM_CLASSES && !is_poplar_class(type, classes[i])) ++i;
    if (i == NUM_CLASSES) return type;
    *has_classes = true;
    type = template_argument(type, 0);
  }
}

/* What to write instead of an unsupported field. */
static const char *advice(CXCursor cursor)
{
  char annotation[80] = "";
  clang_visitChildren(cursor, find_annotation, annotation);
  if (!strncmp(annotation, "populus:state:", strlen("populus:state:")))
    return ": STATE is for a VECTOR, and a value of its own is written without it";
  if (*annotation || clang_Cursor_isBitField(cursor)) return "";
  CXType type = clang_getCanonicalType(clang_getCursorType(cursor));
  bool is_row = type.kind == CXType_ConstantArray, has_classes;
  if (is_row) type = clang_getCanonicalType(clang_getArrayElementType(type));
  pop_type scalar;
  type = element_of(type, &has_classes);
  if (has_classes && scalar_type(type, &scalar))
    return ": most is a Vector<Input<Vector<T>>>, or an Input<VectorList<T>>";
  if (type.kind == CXType_Vector || type.kind == CXType_ExtVector)
    return ": elements are scalars, whose address can be read as that of a vector";
  if (has_classes || type.kind == CXType_Double || type.kind == CXType_LongDouble)
    return ": there are bool, half, float and the integers, and quarter in an Input or Output";
  return is_row ? ": constants in a row are a Vector"
                : ": a field is a number, a Vector, an Input, an Output or an InOut";
}

typedef struct field_search {
  CXCursor like, found; /* fields */
} field_search;

static enum CXChildVisitResult find_field(CXCursor cursor, CXCursor parent, CXClientData data)
{
  (void)parent;
  field_search *search = data;
  if (clang_getCursorKind(cursor) != CXCursor_FieldDecl) return CXChildVisit_Continue;
  CXString name = clang_getCursorSpelling(cursor);
  CXString wanted = clang_getCursorSpelling(search->like);
  bool same = !strcmp(clang_getCString(name), clang_getCString(wanted));
  clang_disposeString(name);
  clang_disposeString(wanted);
  if (same) search->found = cursor;
  return same ? CXChildVisit_Break : CXChildVisit_Continue;
}

/* An initialiser ends where its field ends. What is part of the field's type, as in
 * decltype(0), does not. */
static enum CXChildVisitResult find_initialiser(CXCursor cursor, CXCursor parent, CXClientData data)
{
  CXSourceLocation end = clang_getRangeEnd(clang_getCursorExtent(cursor));
  if (clang_isExpression(clang_getCursorKind(cursor)) &&
      clang_equalLocations(end, clang_getRangeEnd(clang_getCursorExtent(parent))))
    *(CXCursor *)data = cursor;
  return CXChildVisit_Continue;
}

/* Null: the field has none. libclang shows it in the template that `record` was made from. */
static CXCursor initialiser_of(CXCursor record, CXCursor field)
{
  field_search search = {field, field};
  clang_visitChildren(reflect_with_members(record), find_field, &search);
  CXCursor initialiser = clang_getNullCursor();
  clang_visitChildren(search.found, find_initialiser, &initialiser);
  return initialiser;
}

static enum CXChildVisitResult and_is_zero(CXCursor cursor, CXCursor parent, CXClientData data);

static enum CXChildVisitResult see_first(CXCursor cursor, CXCursor parent, CXClientData data)
{
  (void)parent;
  *(enum CXCursorKind *)data = clang_getCursorKind(cursor);
  return CXChildVisit_Break;
}

/* T(x) and {x}, whose value is not known where T is a template's parameter. */
static bool is_made_of_values(CXCursor expression)
{
  enum CXCursorKind first = CXCursor_NoDeclFound;
  clang_visitChildren(expression, see_first, &first);
  enum CXCursorKind kind = clang_getCursorKind(expression);
  return kind == CXCursor_InitListExpr || (kind == CXCursor_CallExpr && first == CXCursor_TypeRef);
}

/* Are all its bits 0, as far as the compiler knows? */
static bool is_zero(CXCursor expression)
{
  CXEvalResult value = clang_Cursor_Evaluate(expression);
  if (!value) {
    bool zero = is_made_of_values(expression);
    if (zero) clang_visitChildren(expression, and_is_zero, &zero);
    return zero;
  }
  CXEvalResultKind kind = clang_EvalResult_getKind(value);
  double number = kind == CXEval_Float ? clang_EvalResult_getAsDouble(value) : 0;
  bool zero = kind == CXEval_Int ? !clang_EvalResult_getAsLongLong(value)
                                 : kind == CXEval_Float && number == 0 && !signbit(number);
  clang_EvalResult_dispose(value);
  return zero;
}

static enum CXChildVisitResult and_is_zero(CXCursor cursor, CXCursor parent, CXClientData data)
{
  (void)parent;
  *(bool *)data &= !clang_isExpression(clang_getCursorKind(cursor)) || is_zero(cursor);
  return CXChildVisit_Continue;
}

/* Nothing constructs a vertex. A number is 0 until the graph gives its value; no other can be
 * promised. */
static void check_initialiser(field_list *list, CXCursor cursor, const pop_field *field)
{
  if (!list->cxx_name || field->kind != POP_FIELD_CONSTANT) return;
  CXCursor initialiser = initialiser_of(list->record, cursor);
  if (clang_Cursor_isNull(initialiser) || is_zero(initialiser)) return;
  reflect_error(list->r, cursor,
                "field '%s.%s' has an initializer, but vertices are not constructed: the graph "
                "gives the value (setInitialValue), or it is 0; what is the same for all vertices "
                "is static constexpr",
                list->vertex, field->name);
}

static enum CXVisitorResult take_field(CXCursor cursor, CXClientData data)
{
  field_list *list = data;
  reflection *r = list->r;
  pop_field field = {.name = reflect_string(r, clang_getCursorSpelling(cursor))};
  if (strchr(field.name, '(')) field.name = "(unnamed)"; /* libclang says where it is */
  if (!classify(cursor, &field)) {
    CXType type = clang_getCursorType(cursor);
    const char *spelling = reflect_string(r, clang_getTypeSpelling(type));
    reflect_error(r, cursor, "field '%s.%s' has unsupported field type '%s'%s", list->vertex,
                  field.name, clang_Cursor_isBitField(cursor) ? "bit-field" : spelling,
                  advice(cursor));
    return CXVisit_Continue;
  }
  for (size_t i = 0; i < list->count; ++i)
    if (!strcmp(list->fields[i].name, field.name))
      reflect_error(r, cursor, "field '%s.%s' hides a field of a base class", list->vertex,
                    field.name);
  check_initialiser(list, cursor, &field);
  raise_alignments(list, cursor, &field);
  field.offset = list->base + (uint32_t)(clang_Cursor_getOffsetOfField(cursor) / 8);
  uint32_t size = (uint32_t)clang_Type_getSizeOf(clang_getCursorType(cursor));
  bool metadata = has_metadata(clang_getCanonicalType(clang_getCursorType(cursor)), &field);
  if (metadata && (field.layout == POP_LAYOUT_ARRAY || field.kind == POP_FIELD_CONSTANT)) {
    reflect_error(r, cursor, "field '%s.%s' is %s", list->vertex, field.name,
                  field.kind == POP_FIELD_CONSTANT
                      ? "data of the vertex itself, which cannot be quarters: their format and "
                        "scale are a tensor's; make it an Input"
                      : "an array of fields of quarters, which have one format and scale: it must "
                        "be a Vector of fields");
    return CXVisit_Continue;
  }
  field.size = metadata ? forms_of(r->target)[field.layout].bytes : size;
  take(list, field);
  check_offset(list, cursor, &field);
  if (metadata) take_metadata(list, cursor, &field, size);
  return CXVisit_Continue;
}

static void take_record(field_list *list, CXCursor record);

/* Two bases of one empty class must not have one address, so the second is moved. Under
 * #pragma pack, bases are not aligned. */
static void note_unusual(field_list *list, CXCursor base, uint32_t align)
{
  for (size_t i = 0; i < list->num_bases; ++i)
    list->is_unusual |= clang_equalCursors(list->bases[i], base);
  list->is_unusual |= align > clang_Type_getAlignOf(clang_getCursorType(list->record));
  pop_push(list->bases, list->num_bases, list->bases_capacity, base);
}

/* Places a base class as the C++ ABI does: after the bases before it, in what is left of
 * their last word. A base without fields takes no room. (libclang 19 does not tell. Nothing
 * here is virtual.) */
static void take_base(void *context, CXCursor base, bool is_public)
{
  field_list *list = context;
  if (reflect_is_dependent(base)) base = reflect_find_base(list->r, list->record, base);
  if (clang_Cursor_isNull(base)) {
    list->base_is_unnamed = true;
    return;
  }
  CXType type = clang_getCursorType(base);
  uint32_t align = (uint32_t)clang_Type_getAlignOf(type), base_before = list->base;
  uint32_t end_before = list->end, offset = (end_before + align - 1) / align * align;
  note_unusual(list, base, align);
  size_t count_before = list->count;
  CXCursor derived = list->record;
  bool inherited_before = list->inherited, hidden_before = list->hidden;
  list->base += offset;
  list->end = 0;
  list->inherited = true;
  list->hidden |= !is_public;
  take_record(list, base);
  list->inherited = inherited_before;
  list->hidden = hidden_before;
  list->record = derived;
  uint32_t end = clang_isPODType(type) ? (uint32_t)clang_Type_getSizeOf(type) : list->end;
  list->base = base_before;
  list->end = list->count > count_before ? offset + end : end_before;
}

static enum CXVisitorResult take_first_field(CXCursor cursor, CXClientData data)
{
  *(CXCursor *)data = cursor;
  return CXVisit_Break;
}

/* A base class without a name here (std::conditional_t<…>) has fields if there is room for them
 * behind those of the other bases, which end at `end`. */
static void check_unnamed_base(const field_list *list, CXCursor record, uint32_t end)
{
  CXCursor first = clang_getNullCursor();
  CXType type = clang_getCursorType(record);
  clang_Type_visitFields(type, take_first_field, &first);
  bool has_own = !clang_Cursor_isNull(first);
  CXType next = has_own ? clang_getCursorType(first) : type;
  uint32_t align = (uint32_t)clang_Type_getAlignOf(next);
  uint32_t place =
      (uint32_t)(has_own ? clang_Cursor_getOffsetOfField(first) / 8 : clang_Type_getSizeOf(type));
  if (!has_own && end == 0) end = 1; /* an empty class takes a byte */
  if (place > (end + align - 1) / align * align)
    reflect_error(list->r, record,
                  "vertex '%s' has fields of a base class that popc cannot name: derive from a "
                  "class or template with a name of its own, as in 'Base<T>'",
                  list->vertex);
}

static void take_record(field_list *list, CXCursor record)
{
  bool was_unnamed = list->base_is_unnamed;
  list->base_is_unnamed = false;
  list->record = record;
  reflect_bases(record, take_base, list);
  if (list->base_is_unnamed) check_unnamed_base(list, record, list->end);
  list->base_is_unnamed = was_unnamed;
  clang_Type_visitFields(clang_getCursorType(record), take_field, list);
}

static int compare_offsets(const void *a, const void *b)
{
  const pop_field *x = a, *y = b;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

void reflect_fields(reflection *r, CXCursor record, popc_vertex *vertex)
{
  pop_vertex_type *type = &vertex->type;
  field_list list = {.r = r, .vertex = type->name, .cxx_name = vertex->cxx_name, .checks = ""};
  unsigned errors_before = r->num_errors;
  take_record(&list, record);
  type->num_fields = list.count;
  pop_field *fields = pop_arena_alloc(r->arena, list.count * sizeof *fields);
  if (list.count) memcpy(fields, list.fields, list.count * sizeof *fields);
  free(list.fields);
  qsort(fields, list.count, sizeof *fields, compare_offsets);
  for (size_t i = 1; i < list.count && r->num_errors == errors_before; ++i)
    if (fields[i].offset < fields[i - 1].offset + fields[i - 1].size)
      reflect_error(r, record, "fields '%s' and '%s' of vertex '%s' share memory",
                    fields[i - 1].name, fields[i].name, type->name);
  type->fields = fields;
  CXType state = clang_getCursorType(record);
  type->state_size = list.count ? (uint32_t)clang_Type_getSizeOf(state) : 0;
  type->state_alignment = (uint32_t)clang_Type_getAlignOf(state);
  if (list.has_unchecked && list.is_unusual)
    reflect_error(r, record,
                  "vertex '%s' inherits fields that are not public from bases whose places popc "
                  "does not know: it has an empty base class twice, or is under #pragma pack",
                  type->name);
  free(list.bases);
  if (*list.checks) vertex->checks = list.checks;
  if (r->num_errors == errors_before) reflect_constraints(r, record, type);
}
