/* A sliced tensor as a table of rows and columns, in parts by its tile mapping. */
#ifndef POPLIBS_HOST_SLICE_TABLE_H
#define POPLIBS_HOST_SLICE_TABLE_H

#include "poplibs/host/spread.h"

/* Rows [begin, end) of the table, and the tiles of their columns. */
typedef struct table_part {
  size_t begin, end;
  spread columns; /* of a row */
} table_part;

enum { TABLE_MOST_PARTS = 64 };

typedef struct table_parts {
  table_part items[TABLE_MOST_PARTS];
  size_t count;
} table_parts;

/* The parts of a table [rows, columns]. There is a single part, whose columns are each brought
 * to one tile, if there would be too many parts (as when each tile has whole rows) or if
 * elements are on no tile. Free with table_parts_free. */
void table_parts_find(pop_graph *graph, pop_tensor table, table_parts *parts);
void table_parts_free(table_parts *parts);

/* How many adjacent columns each tile has; `width`, the number of all columns, if tiles differ. */
size_t table_parts_columns_of_a_tile(const table_parts *parts, size_t width);

/* The part's columns of a table, flattened row by row. */
pop_tensor table_part_columns(const spread_part *part, pop_tensor table);

#endif
