/* Which tiles have which rows and columns of a table. The tile mapping is visited row by row. A
 * part begins at each row whose columns are on other tiles than those of the row before. */
#include "poplibs/host/slice_table.h"
#include "graph/view.h"

#include <stdlib.h>
#include <string.h>

static const size_t NO_TILE = SIZE_MAX, SEVERAL_TILES = SIZE_MAX - 1;

/* The state of the visit. */
typedef struct ownership {
  size_t *tiles; /* of each column, in the rows since begins[count - 1] */
  size_t *row;   /* of each column, in the current row */
  size_t columns, num_rows, at;
  size_t *shared;                  /* of each column, in all rows; or SEVERAL_TILES */
  size_t begins[TABLE_MOST_PARTS]; /* first rows of parts */
  size_t count;
  bool too_many;
} ownership;

static void end_row(ownership *o)
{
  bool differs = o->count == 0;
  for (size_t c = 0; c < o->columns; c++) {
    differs |= o->row[c] != o->tiles[c];
    if (o->num_rows == 0) o->shared[c] = o->row[c];
    if (o->shared[c] != o->row[c] || o->row[c] == NO_TILE) o->shared[c] = SEVERAL_TILES;
  }
  if (differs) {
    memcpy(o->tiles, o->row, o->columns * sizeof *o->tiles);
    if (o->count < TABLE_MOST_PARTS)
      o->begins[o->count++] = o->num_rows;
    else
      o->too_many = true;
  }
  o->num_rows++;
}

static void note_owner(void *context, size_t tile, size_t begin, size_t end)
{
  ownership *o = context;
  for (size_t i = begin; i < end; i++) {
    o->row[o->at] = tile;
    o->too_many |= tile == NO_TILE;
    if (++o->at < o->columns) continue;
    o->at = 0;
    end_row(o);
  }
}

/* The spread of a row. Columns on several tiles are distributed evenly over all tiles. */
static spread spread_columns(pop_graph *graph, const size_t *tiles, size_t columns)
{
  size_t available = pop_graph_num_tiles(graph), shared = 0, next = 0;
  for (size_t c = 0; c < columns; c++) shared += tiles[c] == SEVERAL_TILES;
  spread s = {0};
  for (size_t c = 0; c < columns; c++) {
    size_t tile = tiles[c] == SEVERAL_TILES ? next++ * available / shared : tiles[c];
    spread_add(&s, tile, c, c + 1);
  }
  spread_finish(&s);
  return s;
}

static void visit_owners(pop_graph *graph, pop_tensor rows, ownership *o)
{
  o->at = o->num_rows = o->count = 0;
  pop_graph_visit_tile_mapping(graph, pop_tensor_flatten(rows), note_owner, o);
}

void table_parts_find(pop_graph *graph, pop_tensor table, table_parts *parts)
{
  size_t columns = pop_tensor_dim(table, 1), rows = pop_tensor_dim(table, 0);
  size_t *tiles = pop_xcalloc(3 * columns + 1, sizeof *tiles);
  ownership o = {
      .tiles = tiles, .row = tiles + columns, .shared = tiles + 2 * columns, .columns = columns};
  visit_owners(graph, table, &o);
  bool whole = o.too_many || o.count < 2;
  parts->count = whole ? 1 : o.count;
  for (size_t p = 0; p < parts->count; p++) {
    table_part *part = &parts->items[p];
    *part =
        (table_part){whole ? 0 : o.begins[p], p + 1 < parts->count ? o.begins[p + 1] : rows, {0}};
    ownership first = o; /* all rows of a part have the same owners */
    if (!whole)
      visit_owners(graph, pop_tensor_slice(table, part->begin, part->begin + 1, 0), &first);
    part->columns = spread_columns(graph, whole ? o.shared : first.tiles, columns);
  }
  free(tiles);
}

void table_parts_free(table_parts *parts)
{
  for (size_t p = 0; p < parts->count; p++) spread_free(&parts->items[p].columns);
}

size_t table_parts_columns_of_a_tile(const table_parts *parts, size_t width)
{
  const spread *s = &parts->items[0].columns;
  if (s->count == 0 || width % s->count != 0) return width;
  size_t each = width / s->count;
  for (size_t p = 0; p < s->count; p++) {
    const spread_part *x = &s->parts[p];
    if (x->count != 1 || x->num_elements != each || x->intervals[0].begin % each != 0) return width;
  }
  return each;
}

pop_tensor table_part_columns(const spread_part *part, pop_tensor table)
{
  pop_tensor *pieces = pop_xcalloc(part->count, sizeof *pieces);
  for (size_t i = 0; i < part->count; i++)
    pieces[i] = pop_tensor_slice(table, part->intervals[i].begin, part->intervals[i].end, 1);
  pop_tensor result = pop_tensor_flatten(pop_concat(pieces, part->count, 1));
  free(pieces);
  return result;
}
