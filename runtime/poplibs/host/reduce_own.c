/* Blocks of what lies on one tile: reduce_own.h. */
#include "poplibs/host/reduce_own.h"
#include "graph/graph.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A part of a row that is on one tile. */
typedef struct segment {
  size_t tile, begin, end;
} segment;

typedef struct segments {
  segment *all;
  size_t count, capacity;
} segments;

typedef struct finder {
  size_t length;          /* of a row */
  size_t at;              /* elements that have been seen */
  size_t first_row;       /* since which all rows are like `last` */
  segments last, current; /* of the previous row, and of this one so far */
  reduce_blocks *found;
  bool fails;
} finder;

static bool are_equal(const segments *a, const segments *b)
{
  return a->count == b->count && memcmp(a->all, b->all, a->count * sizeof *a->all) == 0;
}

/* Adds the blocks of the rows from first_row up to end_row, which are alike. */
static void add_blocks(finder *f, size_t end_row)
{
  for (size_t i = 0; i < f->last.count; i++) {
    const segment *s = &f->last.all[i];
    const reduce_block block = {s->tile, i, f->first_row, end_row, s->begin, s->end};
    pop_push(f->found->blocks, f->found->count, f->found->capacity, block);
  }
}

static void end_row(finder *f, size_t row)
{
  if (row == 0 || !are_equal(&f->last, &f->current)) {
    add_blocks(f, row);
    f->fails = row > 0 && f->last.count != f->current.count;
    f->first_row = row;
    segments before = f->last;
    f->last = f->current;
    f->current = before;
  }
  f->current.count = 0;
}

static void take_run(void *context, size_t tile, size_t begin, size_t end)
{
  enum { LEAST_ELEMENTS = 4 };
  finder *f = context;
  f->fails = f->fails || begin != f->at || tile == SIZE_MAX;
  while (f->at < end && !f->fails) {
    size_t row = f->at / f->length, start = row * f->length, row_end = start + f->length;
    size_t upto = end < row_end ? end : row_end;
    const segment s = {tile, f->at - start, upto - start};
    pop_push(f->current.all, f->current.count, f->current.capacity, s);
    f->at = upto;
    if (f->current.count * LEAST_ELEMENTS > f->length)
      f->fails = true;
    else if (upto == row_end)
      end_row(f, row);
  }
}

/* Of the CPU's tiles, programs may use more than its target says. */
static size_t most_of_a_tile(const reduce_blocks *b)
{
  size_t num_tiles = 0, most = 0;
  for (size_t i = 0; i < b->count; i++)
    if (b->blocks[i].tile >= num_tiles) num_tiles = b->blocks[i].tile + 1;
  size_t *elements = pop_xcalloc(num_tiles, sizeof *elements);
  for (size_t i = 0; i < b->count; i++) {
    const reduce_block *x = &b->blocks[i];
    elements[x->tile] += (x->end_row - x->row) * (x->end - x->begin);
    if (elements[x->tile] > most) most = elements[x->tile];
  }
  free(elements);
  return most;
}

reduce_blocks reduce_find_own(pop_graph *graph, pop_tensor matrix, size_t *most)
{
  reduce_blocks found = {0};
  size_t rows = pop_tensor_dim(matrix, 0);
  finder f = {.length = pop_tensor_dim(matrix, 1), .found = &found};
  pop_graph_visit_tile_mapping(graph, pop_tensor_flatten(matrix), take_run, &f);
  if (!f.fails && f.at == rows * f.length && !pop_graph_error(graph)) {
    add_blocks(&f, rows);
    found.pieces = f.last.count;
  }
  free(f.last.all);
  free(f.current.all);
  if (found.pieces == 0) {
    free(found.blocks);
    return (reduce_blocks){0};
  }
  *most = most_of_a_tile(&found);
  return found;
}
