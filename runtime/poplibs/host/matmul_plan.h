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
  size_t run; /* adjacent elements along k in an operand (longer steps: multiples); 1: unknown */
  size_t element_bytes, partial_bytes;
  size_t num_tiles;
  size_t bytes; /* limit for operands and partials on a tile at a time */
  bool may_rotate;
  const pop_target *target;
} product_shape;

/* How a product is cut. The result of each group is cut into rows x columns parts, and k into
 * `depth` parts. Each tile gets one of each. It goes through its part of k in steps of `length`;
 * the last step may be shorter.
 *
 * In a product that rotates (matmul_rotation.c), `columns` equals `rows`, which is even. There
 * are as many steps as rows, all of the same length; k is padded with zeros. */
typedef struct product_plan {
  size_t rows, columns, depth;
  size_t length;
  bool rotates;
  size_t pieces;                      /* in which a panel is passed on, if it rotates */
  unsigned block_rows, block_columns; /* the vertex type's block of sums in registers */
  double cycles;                      /* estimate */
  size_t tile_bytes;                  /* estimate, without the original operands and the result */
} product_plan;

product_plan product_find_plan(const product_shape *p);

/* How a dimension (m, n, k) is cut. Parts begin at multiples of the grain. Their sizes differ by
 * one grain at most; the last part also gets the remainder. */
typedef struct product_cut {
  size_t size, parts, grain;
} product_cut;
/* The grain is a whole word of elements if there are enough elements, otherwise one element. An
 * exchange of half words would be copied once more on both tiles. */
product_cut product_cut_of(const product_shape *p, size_t size, size_t parts);
size_t product_largest_part(product_cut cut);

/* Part `i`: [begin, end). */
typedef struct product_part {
  size_t begin, end;
} product_part;
product_part product_part_of(product_cut cut, size_t i);
/* Which part has element `at`. */
size_t product_part_with(product_cut cut, size_t at);

#endif
