/* A matrix product while it is added to a graph (matmul.c). The section headings name the files
 * of the functions. */
#ifndef POPLIBS_HOST_MATMUL_PRODUCT_H
#define POPLIBS_HOST_MATMUL_PRODUCT_H

#include "poplibs/host/matmul_plan.h"

#include <populus/poplin.h>

typedef struct product {
  pop_graph *graph;
  product_shape shape;
  product_plan plan;
  pop_type type, partials;
  const char *name;
  pop_tensor operands[2]; /* [groups, m, k], [groups, k, n] */
  bool by_columns[2];     /* the operand is transposed in the vertices' buffers */
} product;

/* One part: what one tile computes of one group. */
typedef struct product_place {
  size_t group, depth, tile;
  size_t row, column; /* indices of the part */
  product_part m, n, k;
} product_place;

/* ---- matmul_product.c: parts ---- */

size_t product_count_places(const product *p);
product_place product_place_at(const product *p, size_t i);
/* The tile of a part. `row` counts through all rows of all groups and parts of k. */
size_t product_tile_at(const product *p, size_t row, size_t column);

/* How many steps the longest part of k takes. */
size_t product_count_steps(const product *p);
/* The part's range of k in a step; empty after the last one. */
product_part product_step_of(const product *p, const product_place *place, size_t step);

pop_tensor product_submatrix(pop_tensor matrix, product_part rows, product_part columns);
/* What a part needs of an operand (0: left, 1: right), as a matrix. */
pop_tensor product_panel(const product *p, const product_place *place, int operand, product_part k);

/* Adds the vertex for `place` of partials [depth, groups, m, n]. It stores its products if
 * `first`, and accumulates otherwise. */
void product_add_vertex(const product *p, pop_compute_set set, const product_place *place,
                        bool first, const pop_tensor operands[2], pop_tensor partials);

/* ---- matmul_operands.c: the layout of operands of products in steps ---- */

/* An operand of the given shape in its best layout. */
pop_tensor operand_create(const product *p, int operand);

/* Copies an operand that would come in too many messages. Sets by_columns. */
void operand_arrange(product *p, int operand, pop_program sequence);

/* ---- matmul_rotation.c: products whose plan rotates ---- */

/* An operand of the given shape in the layout for rotation. */
pop_tensor rotation_create_operand(const product *p, int operand);

/* partials: as above */
void rotation_add(const product *p, pop_tensor partials, pop_program sequence);

#endif
