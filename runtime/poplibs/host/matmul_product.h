/* A matrix product that is being added to a graph: matmul.c, matmul_rotation.c. */
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
  bool by_columns[2];     /* as they lie in the vertices' buffers */
} product;

/* What one tile makes of one group. */
typedef struct product_place {
  size_t group, depth, tile;
  size_t row, column; /* which of the parts */
  product_part m, n, k;
} product_place;

size_t product_count_places(const product *p);
product_place product_place_at(const product *p, size_t i);

/* A vertex that makes what is of `place` of partials [depth, groups, m, n], or adds to it if this is not the first one. */
void product_add_vertex(const product *p, pop_compute_set set, const product_place *place,
                        bool first, const pop_tensor operands[2], pop_tensor partials);

/* ---- matmul_rotation.c: products whose plan rotates ---- */

/* An operand that lies as it is needed, of the given shape. */
pop_tensor rotation_create_operand(const product *p, int operand);

/* partials: as above */
void rotation_add(const product *p, pop_tensor partials, pop_program sequence);

#endif
