/* What other library functions use of element_wise.c. */
#ifndef POPLIBS_HOST_ELEMENT_WISE_H
#define POPLIBS_HOST_ELEMENT_WISE_H

#include "poplibs/host/spread.h"
#include <populus/popops.h>

/* A tensor, or a constant, which is then in `value` and, as the tile has it, in `bytes`. */
typedef struct operand {
  pop_tensor tensor;
  pop_type type;
  bool is_constant;
  double value;
  uint8_t bytes[4];
} operand;
operand operand_of_tensor(pop_tensor t);
operand operand_of_constant(double value, pop_type type);

/* A vertex of a type with the fields a, b, c (as many as operands) and out on each tile that `out` is on, in a compute
 * set that the sequence executes. */
void element_wise_vertices(pop_graph *graph, const char *call, const char *type,
                           const operand *operands, size_t count, pop_tensor out,
                           pop_program sequence, const char *name);

#endif
