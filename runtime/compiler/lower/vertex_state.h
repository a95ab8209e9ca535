/* The bytes of vertex states and of what belongs to them, once it is known where data are. */
#ifndef COMPILER_LOWER_VERTEX_STATE_H
#define COMPILER_LOWER_VERTEX_STATE_H

#include "compiler/compilation.h"

/* Where the data of a field, or of a row, are. */
typedef struct pointer {
  place at;          /* block COMPILER_NONE: there are no data. Of a field with rows: its table */
  uint32_t elements; /* of a field with rows: how many */
  size_t first_row;  /* their pointers, in the list of all */
} pointer;

typedef struct field_writer {
  compilation *c;
  const pointer *all;
  uint32_t content; /* that is written; the last one begun */
  place at;         /* the beginning of the block that it belongs to; empty vectors point there */
} field_writer;

static inline bool is_list_layout(pop_field_layout layout)
{
  return layout == POP_LAYOUT_DELTAN || layout == POP_LAYOUT_DELTANELEMENTS;
}

/* `pointers` by field of the vertex. The state begins `offset` bytes into the content. */
void write_vertex_state(const field_writer *w, const vertex *g, const pointer *pointers,
                        uint32_t offset);
/* The tables and constant vectors of the vertex that are in the writer's block. */
void write_vertex_data(const field_writer *w, const vertex *g, const pointer *pointers);

#endif
