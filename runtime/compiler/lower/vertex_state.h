/* Writes vertex states, tables and constant vectors, once the places of the data are known. */
#ifndef COMPILER_LOWER_VERTEX_STATE_H
#define COMPILER_LOWER_VERTEX_STATE_H

#include "compiler/compilation.h"

/* The place of the data of a field, or of a row. */
typedef struct pointer {
  place at;          /* block COMPILER_NONE: no data; of a field with rows: its table */
  uint32_t elements; /* of a field with rows: number of rows */
  size_t first_row;  /* their pointers, in the list of all */
} pointer;

typedef struct field_writer {
  compilation *c;
  const pointer *all;
  uint32_t content; /* the content being written: the last one begun */
  place at;         /* the beginning of its block; pointers of empty vectors point there */
} field_writer;

static inline bool is_list_layout(pop_field_layout layout)
{
  return layout == POP_LAYOUT_DELTAN || layout == POP_LAYOUT_DELTANELEMENTS;
}

/* Writes the state of a vertex, `offset` bytes into the content. `pointers` is indexed by field. */
void write_vertex_state(const field_writer *w, const vertex *g, const pointer *pointers,
                        uint32_t offset);
/* Writes those tables and constant vectors of the vertex that are in the writer's block. */
void write_vertex_data(const field_writer *w, const vertex *g, const pointer *pointers);

#endif
