/* Models: modules of StableHLO operations, and how they become graphs.
 *
 *   text --read.c--> module --inline.c--> main without calls --verify.c--> the same, checked
 *        --tuples.c, captures.c--> simpler --lower*.c, fuse.c--> variables, programs, C codelets
 *        --popc--> vertices
 *
 * A module owns its memory as an arena. The operations of a block are a linked list. Values are in
 * SSA form: each is defined once. Places are offsets in the text; messages compute line and column
 * from them (model_error).
 */
#ifndef POPULUS_MODELS_MODULE_H
#define POPULUS_MODELS_MODULE_H

#include <populus/arena.h>
#include <populus/error.h>
#include <populus/names.h>
#include <populus/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- element types ---- */

/* X(enumerator, name in the text, suffix of functions in hlo_*.h, element type of tensors, C type
 * of a codelet's fields, C type of calculation). A type that C on the tile does not have is kept as
 * its bits. */
#define ELEMENT_TYPES(X)                                                                           \
  X(ELEMENT_I1, "i1", "i1", POP_BOOL, "bool", "bool")                                              \
  X(ELEMENT_I8, "i8", "i8", POP_SIGNED_CHAR, "signed char", "int8_t")                              \
  X(ELEMENT_I16, "i16", "i16", POP_SHORT, "short", "int16_t")                                      \
  X(ELEMENT_I32, "i32", "i32", POP_INT, "int", "int")                                              \
  X(ELEMENT_I64, "i64", "i64", POP_LONGLONG, "long long", "long long")                             \
  X(ELEMENT_U8, "ui8", "u8", POP_UNSIGNED_CHAR, "unsigned char", "uint8_t")                        \
  X(ELEMENT_U16, "ui16", "u16", POP_UNSIGNED_SHORT, "unsigned short", "uint16_t")                  \
  X(ELEMENT_U32, "ui32", "u32", POP_UNSIGNED_INT, "unsigned", "unsigned")                          \
  X(ELEMENT_U64, "ui64", "u64", POP_UNSIGNED_LONGLONG, "unsigned long long", "unsigned long long") \
  X(ELEMENT_F16, "f16", "f16", POP_HALF, "half", "float")                                          \
  X(ELEMENT_BF16, "bf16", "bf16", POP_UNSIGNED_SHORT, "unsigned short", "float")                   \
  X(ELEMENT_F32, "f32", "f32", POP_FLOAT, "float", "float")                                        \
  X(ELEMENT_F64, "f64", "f64", POP_UNSIGNED_LONGLONG, "unsigned long long", "double")              \
  X(ELEMENT_C64, "complex<f32>", "c64", POP_UNSIGNED_LONGLONG, "unsigned long long", "hlo_c64")

typedef enum element_type {
#define ELEMENT_ENUMERATOR(id, name, suffix, type, field, value) id,
  ELEMENT_TYPES(ELEMENT_ENUMERATOR)
#undef ELEMENT_ENUMERATOR
      ELEMENT_COUNT /* also: a type that is not supported */
} element_type;

typedef struct element_info {
  const char *name, *suffix;
  pop_type type;
  const char *field, *value;
} element_info;
extern const element_info element_infos[ELEMENT_COUNT];

size_t element_bytes(element_type e);
bool element_is_float(element_type e); /* real floating point */
bool element_is_signed(element_type e);
bool element_is_integer(element_type e); /* without i1 */
unsigned element_bits(element_type e);
/* Conversions between an element's bytes and numbers. Integers are their low 64 bits; of complex
 * numbers only the real part counts. */
double element_to_double(element_type e, const void *bytes);
void element_from_double(element_type e, double value, void *bytes);
int64_t element_to_int(element_type e, const void *bytes);
void element_from_int(element_type e, uint64_t value, void *bytes);
uint16_t bf16_from_double(double value);

/* ---- types ---- */

enum { MODEL_MAX_RANK = 16 };

typedef enum type_kind { TYPE_TENSOR, TYPE_TOKEN, TYPE_TUPLE, TYPE_OTHER } type_kind;

typedef struct model_type {
  type_kind kind;
  uint32_t offset;
  /* TYPE_TENSOR */
  element_type element;
  bool dynamic; /* a size is '?' */
  uint32_t rank;
  int64_t *dims;
  /* not NULL: the part of the type that is not supported */
  const char *unsupported;
  /* TYPE_TUPLE */
  const struct model_type **members;
  uint32_t num_members;
  uint32_t num_inside; /* members, and theirs */
} model_type;

/* The number of elements of a tensor. UINT64_MAX if it is unknown, or more than a graph can
 * have. */
uint64_t type_elements(const model_type *t);
bool type_same_shape(const model_type *a, const model_type *b);
bool type_equal(const model_type *a, const model_type *b);
char *type_text(pop_arena *arena, const model_type *t);

/* ---- attributes ---- */

typedef enum attribute_kind {
  ATTRIBUTE_UNIT,
  ATTRIBUTE_BOOL,   /* integer */
  ATTRIBUTE_INT,    /* integer, type if it is given */
  ATTRIBUTE_FLOAT,  /* number */
  ATTRIBUTE_STRING, /* text */
  ATTRIBUTE_SYMBOL, /* text */
  ATTRIBUTE_WORD,   /* text: an enumerator, or something that is not interpreted */
  ATTRIBUTE_TYPE,   /* type */
  ATTRIBUTE_ARRAY,  /* items */
  ATTRIBUTE_DICT,   /* items with names */
  ATTRIBUTE_DENSE   /* type, data: all elements, or one if splat */
} attribute_kind;

typedef struct attribute {
  attribute_kind kind;
  uint32_t offset;
  const char *name; /* in a dictionary */
  int64_t integer;
  double number;
  const char *text;
  const model_type *type;
  struct attribute *items;
  size_t num_items;
  uint8_t *data;
  bool splat;
} attribute;

/* NULL if it is not there. */
const attribute *attribute_find(const attribute *items, size_t count, const char *name);
/* The integers of an array or dense attribute, in the arena. False if it is neither. */
bool attribute_ints(pop_arena *arena, const attribute *a, int64_t **values, size_t *count);

/* ---- operations ---- */

typedef enum op_code {
#define OP(id, name, how) OP_##id,
#include "models/operations.h"
#undef OP
  OP_COUNT /* unknown */
} op_code;

/* How an operation is lowered. */
typedef enum op_how {
  HOW_ELEMENT, /* element by element, by a function of hlo_*.h */
  HOW_INDEX,   /* each element of the result from its index: code of emit_index.c */
  HOW_RANGE,   /* a range of the result at a time: code of lower_range.c */
  HOW_FLOW,    /* control flow: lower_flow.c */
  HOW_OTHER    /* by itself */
} op_how;

typedef struct op_info {
  const char *name; /* without dialect */
  op_how how;
} op_info;
extern const op_info op_infos[OP_COUNT + 1];
op_code op_find(const char *name);

typedef struct value {
  const model_type *type;
  struct operation *op; /* the operation that defines it; NULL for an argument of a block */
  const char *name;     /* in the text, with '%' */
  uint32_t number;      /* in the function; set by function_number_values */
} value;

typedef struct block {
  value **arguments;
  size_t num_arguments;
  struct operation *first, *last; /* the last one is the terminator */
} block;

typedef struct operation {
  struct operation *next;
  op_code code;
  const char *name; /* with dialect */
  uint32_t offset;
  value **operands;
  size_t num_operands;
  value **results;
  size_t num_results;
  attribute *attributes;
  size_t num_attributes;
  block *regions; /* of one block each */
  size_t num_regions;
} operation;

typedef struct function {
  const char *name;
  uint32_t offset;
  bool is_private;
  block body;
  const model_type **results;
  size_t num_results;
  bool inlined;        /* calls have been inlined */
  uint32_t num_values; /* set by function_number_values */
} function;

/* From offset `at` on, the text was generated from offset `original`. */
typedef struct module_place {
  uint32_t at, original;
} module_place;

typedef struct module {
  pop_arena *arena;
  const char *file; /* for messages */
  const char *text;
  size_t size;
  /* If the text was generated from another (hlo_text.h): that text, and where each part comes from,
   * sorted by `at`. */
  const char *source;
  size_t source_size;
  module_place *places;
  size_t num_places;
  const char *name;
  int64_t replicas; /* that the module will run in (replicas.c) */
  unsigned nesting; /* regions and calls around what is being inlined (inline.c) */
  attribute *attributes;
  size_t num_attributes;
  function *functions;
  size_t num_functions, functions_capacity;
  pop_name_table function_names;
} module;

/* A POP_ERROR_FILE_LOAD that begins with file, line and column. */
POP_NEVER_NULL pop_error *model_error(const module *m, uint32_t offset, const char *format, ...)
    POP_PRINTF(3, 4);
/* "file:line:column" */
char *model_place(const module *m, uint32_t offset);

function *module_find(module *m, const char *name);
const attribute *op_attribute(const operation *op, const char *name);
/* The attribute's integers, or `count` times `fallback` if there is no such attribute. NULL if it
 * does not have `count` of them. */
const int64_t *op_ints(const module *m, const operation *op, const char *name, size_t count,
                       int64_t fallback);
/* All integers of the attribute; none if there is no such attribute. */
const int64_t *op_int_list(const module *m, const operation *op, const char *name, size_t *count);
/* The dictionary of settings of a custom_call, or NULL. */
const attribute *custom_config(const operation *op);
int64_t op_int(const operation *op, const char *name, int64_t fallback);
bool op_flag(const operation *op, const char *name, bool fallback);
/* The attribute's enumerator, or "". */
const char *op_word(const operation *op, const char *name);
/* The same for an entry of a structured attribute, such as dimension_numbers. */
const int64_t *dict_int_list(const module *m, const attribute *dict, const char *name,
                             size_t *count);
bool ints_have(const int64_t *list, size_t count, int64_t value);
int64_t dict_int(const attribute *dict, const char *name, int64_t fallback);
void function_number_values(function *f);
/* Values and operations that passes add. They are in the module's arena. */
value *value_new(module *m, const model_type *type, operation *op, const char *name);
/* A StableHLO operation with one operand, one result and no attributes. It has the place of `by` in
 * the text. */
operation *operation_new(module *m, op_code code, const operation *by, value *operand,
                         const model_type *result);

/* ---- the stages ---- */

/* read.c: reads the module in [begin, end) of `text`, which must outlive the module. Free it with
 * module_free. */
POP_MUST_CHECK pop_error *module_read(const char *file, const char *text, size_t begin, size_t end,
                                      module **result);
void module_free(module *m);
/* Reads the only function of `text`, which is generated, not the user's. */
POP_MUST_CHECK pop_error *module_read_function(module *m, const char *text, function *f);
/* inline.c: inlines all calls and composites of `f`. */
POP_MUST_CHECK pop_error *module_inline(module *m, function *f);
/* verify.c: checks shapes, types and attributes of everything in `f`. Reports everything that is
 * not supported in one error. */
POP_MUST_CHECK pop_error *module_verify(module *m, function *f);
/* The same for one operation. If *supported is false, module_verify will report it. */
POP_MUST_CHECK pop_error *module_verify_op(module *m, const operation *op, bool *supported);
/* tuples.c: replaces tuples by their members, in an inlined and verified `f`. An argument %t
 * becomes %t..0, %t..1, … */
void module_flatten(module *m, function *f);
/* promote.c: converts operands of reducers to the reducers' types, in a verified `f`. */
void module_promote(module *m, function *f);
/* captures.c: makes values that regions of scalars use from outside operands. After
 * module_promote. */
void module_capture(module *m, function *f);
/* batches.c: puts the batches of gathers in the operand's order, in a verified `f`. */
void module_order_batches(module *m, function *f);

#endif
