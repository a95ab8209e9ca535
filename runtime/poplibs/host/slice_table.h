/* A tensor that is sliced, as a table of rows and columns: of which parts, as it lies on the tiles. */
#ifndef POPLIBS_HOST_SLICE_TABLE_H
#define POPLIBS_HOST_SLICE_TABLE_H

#include "poplibs/host/spread.h"

/* Rows [begin, end) of the table, and whose their columns are. */
typedef struct table_part {
  size_t begin, end;
  spread columns; /* of a row */
} table_part;

enum { TABLE_MOST_PARTS = 64 };

typedef struct table_parts {
  table_part items[TABLE_MOST_PARTS];
  size_t count;
} table_parts;

/* The parts of a table [rows, columns]. If there would be many, as where rows lie one behind the other, or elements are on no
 * tile: one, of columns that are brought to a tile each. Free with table_parts_free. */
void table_parts_find(pop_graph *graph, pop_tensor table, table_parts *parts);
void table_parts_free(table_parts *parts);

/* Columns next to each other, as many on each tile; all `width` of them if tiles have others. */
size_t table_parts_columns_of_a_tile(const table_parts *parts, size_t width);

/* Those columns of a table, row by row. */
pop_tensor table_part_columns(const spread_part *part, pop_tensor table);

#endif
