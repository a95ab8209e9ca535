/* Vertex types: what the graph compiler must know of a codelet. Found by popc with libclang, kept
 * in the `.populus.vertices` section of each object in a `.gp`, read back by populus/gp.h. */
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
  POP_VERTEX_WORKER,     /* bool compute(): one worker */
  POP_VERTEX_MULTI,      /* bool compute(unsigned worker): all workers */
  POP_VERTEX_SUPERVISOR  /* bool compute() on the supervisor */
} pop_vertex_kind;

typedef enum pop_field_kind {
  POP_FIELD_INPUT,
  POP_FIELD_OUTPUT,
  POP_FIELD_INOUT,
  POP_FIELD_CONSTANT /* plain scalar member: set by the graph, costs no edge */
} pop_field_kind;

/* How the data of a field is reached from the vertex state. */
typedef enum pop_field_layout {
  POP_LAYOUT_SCALAR,  /* constant: the value itself; edge: a pointer to one element */
  POP_LAYOUT_SPAN,    /* pointer, then unsigned number of elements */
  POP_LAYOUT_ONE_PTR  /* pointer only */
} pop_field_layout;

typedef struct pop_field {
  const char *name;
  pop_field_kind kind;
  pop_field_layout layout;
  pop_type type;      /* of an element */
  uint32_t offset;    /* bytes from the start of the tile's vertex state */
  uint32_t size;      /* bytes that the field takes there: pointers, counts or the value */
  uint32_t alignment; /* that the data must have, in bytes: at least pop_type_align(type) */
  bool interleaved;   /* the data must be in region 1 */
} pop_field;

typedef struct pop_vertex_type {
  const char *name;   /* canonical: "popops::ScaledAdd<float,true>" */
  const char *symbol; /* of the tile entry: "__runCodelet_popops__ScaledAdd___float___true" */
  pop_vertex_kind kind;
  uint32_t state_size, state_alignment; /* bytes on the tile; size 0 if there are no fields */
  const pop_field *fields;
  size_t num_fields;
  const char *source; /* "codelets.cpp:12": where the vertex is defined, for messages */
} pop_vertex_type;

/* NULL if there is no such field. */
const pop_field *pop_vertex_type_find_field(const pop_vertex_type *type, const char *name);

#ifdef __cplusplus
}
#endif
#endif
