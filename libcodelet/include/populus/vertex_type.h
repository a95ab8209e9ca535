/* Vertex types: what the graph compiler must know of a codelet. popc finds them with libclang.
 * They are kept in the `.populus.vertices` section of each object in a `.gp`, and populus/gp.h
 * reads them back. */
#ifndef POPULUS_VERTEX_TYPE_H
#define POPULUS_VERTEX_TYPE_H

#include <populus/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pop_vertex_kind {
  POP_VERTEX_WORKER,    /* bool compute(): one worker */
  POP_VERTEX_MULTI,     /* bool compute(unsigned worker): all workers */
  POP_VERTEX_SUPERVISOR /* bool compute() on the supervisor */
} pop_vertex_kind;

typedef enum pop_field_kind {
  POP_FIELD_INPUT,
  POP_FIELD_OUTPUT,
  POP_FIELD_INOUT,
  POP_FIELD_CONSTANT /* plain member, scalar or vector: set by the graph, costs no edge */
} pop_field_kind;

/* How the data of a field are reached from the vertex state. "Base" is the base of tile memory.
 * Bits are counted from the lowest; a bit field holds a byte address unless it says otherwise.
 * Lists are DELTAN and DELTANELEMENTS.
 *
 *   layout          bytes  what they hold
 *   SCALAR                 constant: the value itself; edge: a pointer to one element
 *   SPAN              8    pointer, then unsigned number of elements
 *   ONE_PTR           4    pointer only
 *   SHORT_SPAN        4    20 bits pointer, 12 bits number of elements
 *   SCALED_PTR32      2    (address - base) / 4; PTR64: / 8; PTR128: / 16
 *   DELTAN            6    20 bits base, 12 bits number of rows; SCALED_PTR32 to the table:
 *                            per row 18 bits address - base, 14 bits number of elements
 *   DELTANELEMENTS    8    24 bits base, 8 bits number of rows (low); 24 bits table, 8 bits number
 *                            of rows (high). Table, with n = 21 - log2(bytes of an element): per
 *                            row n bits (address - base) / bytes of an element, the other bits
 *                            number of elements
 *   ARRAY                  num_rows rows in the state itself, one behind the other
 *
 * Sizes and bits of SHORT_SPAN, the SCALED_PTRs, DELTAN and DELTANELEMENTS are those that public
 * assembly codelets unpack (graphcore/poplibs), except that every SCALED_PTR counts from the base,
 * and that lists count from the base and not from their lowest row. */
typedef enum pop_field_layout {
  POP_LAYOUT_SCALAR,
  POP_LAYOUT_SPAN,
  POP_LAYOUT_ONE_PTR,
  POP_LAYOUT_SHORT_SPAN,
  POP_LAYOUT_SCALED_PTR32,
  POP_LAYOUT_SCALED_PTR64,
  POP_LAYOUT_SCALED_PTR128,
  POP_LAYOUT_DELTAN,
  POP_LAYOUT_DELTANELEMENTS,
  POP_LAYOUT_ARRAY,
  POP_LAYOUT_COUNT
} pop_field_layout;

/* What the table above says, for programs. */
typedef struct pop_layout_form {
  const char *name;      /* "short_span" */
  uint32_t bytes, align; /* in the state or in a table of rows; of ARRAY 0 */
  uint32_t target_align; /* least alignment of what it points to: the data, the table of rows */
  uint32_t max_count;    /* elements (of lists: rows) that it can count */
} pop_layout_form;
extern const pop_layout_form pop_layout_forms[POP_LAYOUT_COUNT];
/* The same for the host, where pointers have 8 bytes and do not fit into fewer. Lists and
 * SHORT_SPAN are as SPAN (pointer, unsigned, 4 bytes free), every scaled pointer is a plain one,
 * rows of lists are spans. */
extern const pop_layout_form pop_host_layout_forms[POP_LAYOUT_COUNT];

/* A field has one dimension or two. With one, its layout leads to the data. With two, its layout
 * leads to a table of rows (ARRAY is that table), and row_layout says how an entry of the table
 * leads to the data of the row. In lists (DELTAN, DELTANELEMENTS) both layouts are the list's. */
typedef struct pop_field {
  const char *name;
  pop_field_kind kind;
  pop_field_layout layout;
  pop_type type;      /* of an element */
  uint32_t offset;    /* bytes from the start of the tile's vertex state */
  uint32_t size;      /* bytes that the field takes there: pointers, counts or the value */
  uint32_t alignment; /* that the data must have, in bytes: at least pop_type_align(type) */
  bool interleaved;   /* the data must be in region 1 */
  bool has_rows;      /* two dimensions; then also: */
  pop_field_layout row_layout;
  uint32_t table_alignment; /* that the table of rows must have */
  uint32_t num_rows;        /* of ARRAY; of others the graph says */
} pop_field;

/* The value of quarters depends on a format and a scale, their metadata: an unsigned char
 * (pop_quarter_to_float). A C++ field of quarters holds a pointer to it after its own. That
 * pointer is a SCALAR input, named by the field's name and this suffix. It is connected
 * together with the field. */
#define POP_METADATA_SUFFIX ".metadata"

/* Bytes of an entry in the table of rows. */
uint32_t pop_field_row_bytes(const pop_field *field);
uint32_t pop_field_host_row_bytes(const pop_field *field);
/* Largest number of elements that one edge of the field (a row, if it has rows) may have. */
uint32_t pop_field_max_elements(const pop_field *field);
/* Bits of a DELTANELEMENTS table's entry that hold the offset of the row. */
static inline uint32_t pop_deltanelements_offset_bits(pop_type type)
{
  return pop_type_bytes(type) == 1   ? 21
         : pop_type_bytes(type) == 2 ? 20
         : pop_type_bytes(type) == 4 ? 19
                                     : 18;
}

/* [[poplar::constraint("elem(*a) != elem(*b)")]]: the data of two fields lie in different memory
 * elements; "region" for regions; "==" for the same. */
typedef struct pop_constraint {
  bool regions; /* otherwise memory elements */
  bool equal;
  uint32_t fields[2]; /* in the vertex type */
  uint32_t depths[2]; /* stars: 1, or 2 for what the rows of a field with rows point at */
} pop_constraint;

/* What every entry symbol begins with: the public scheme. */
#define POP_VERTEX_SYMBOL_PREFIX "__runCodelet_"

/* What debug information calls the source of entries, which popc makes. */
#define POP_VERTEX_ENTRIES_SOURCE "populus-entries"

/* The entry symbol of a vertex type: "popops::Foo<float,true>" gives
 * "__runCodelet_popops__Foo___float_true". The caller frees it. */
char *pop_vertex_symbol(const char *name);

typedef struct pop_vertex_type {
  const char *name;   /* canonical: "popops::ScaledAdd<float,true>" */
  const char *symbol; /* of the tile entry: "__runCodelet_popops__ScaledAdd___float_true" */
  pop_vertex_kind kind;
  uint32_t state_size, state_alignment; /* bytes on the tile; size 0 if there are no fields */
  const pop_field *fields;
  size_t num_fields;
  const char *source; /* "codelets.cpp:12": where the vertex is defined, for messages */
  const pop_constraint *constraints;
  size_t num_constraints;
} pop_vertex_type;

/* NULL if there is no such field. */
const pop_field *pop_vertex_type_find_field(const pop_vertex_type *type, const char *name);

#ifdef __cplusplus
}
#endif
#endif
