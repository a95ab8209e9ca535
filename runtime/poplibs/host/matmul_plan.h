/* How a matrix product is shared out among tiles. */
#ifndef POPLIBS_HOST_MATMUL_PLAN_H
#define POPLIBS_HOST_MATMUL_PLAN_H

#include <populus/target.h>
#include <populus/types.h>
#include <stdbool.h>
#include <stddef.h>

static inline size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* `groups` products of [m, k] and [k, n]. */
typedef struct product_shape {
  size_t groups, m, k, n;
  size_t
      run; /* elements along k that lie together in an operand; 1: nothing is known. Longer steps are multiples */
  size_t element_bytes, partial_bytes;
  size_t num_tiles;
  size_t bytes; /* of operands and partials that a tile may have at a time */
  bool may_rotate;
  const pop_target *target;
} product_shape;

/* The result of each group is cut into rows x columns parts, k into `depth` parts: one of each for a tile. A tile goes through
 * its part of k in steps of `length`, the last of which may be shorter. In a product that rotates (matmul_rotation.c) there are as
 * many columns as rows, an even number, and as many steps, all of the same length: k is made longer by zeros. */
typedef struct product_plan {
  size_t rows, columns, depth;
  size_t length;
  bool rotates;
  size_t pieces;                      /* in which a panel moves on, if it rotates */
  unsigned block_rows, block_columns; /* whose sums are in registers: of the vertices' type */
  double cycles;                      /* as estimated */
  size_t tile_bytes;                  /* beside operands and result where they lie, as estimated */
} product_plan;

product_plan product_find_plan(const product_shape *p);

/* How m, n, k or what else is cut: parts begin at multiples of the grain, and differ by one of it at most, the last by what is left. */
typedef struct product_cut {
  size_t size, parts, grain;
} product_cut;
/* Parts of single elements; of whole words of elements if there are enough of them: what is exchanged in halves of words is
 * moved once more on both tiles. */
product_cut product_cut_of(const product_shape *p, size_t size, size_t parts);
size_t product_largest_part(product_cut cut);

/* Part `i`: [begin, end) */
typedef struct product_part {
  size_t begin, end;
} product_part;
product_part product_part_of(product_cut cut, size_t i);
/* Which part has element `at`. */
size_t product_part_with(product_cut cut, size_t at);

#endif
