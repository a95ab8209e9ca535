/* Which programs and compute sets of a graph the compiled programs use. */
#ifndef COMPILER_REACH_H
#define COMPILER_REACH_H

#include "compiler/compilation.h"

typedef struct reach {
  uint32_t *program_uses;     /* by graph program: by other programs and as a control program */
  uint32_t *compute_set_uses; /* by graph compute set: by execute programs */
  uint32_t *order;            /* programs in use, in post-order: each after all that it contains */
  size_t num_order;
} reach;

/* Walks from the programs in c->control_programs, before lower replaces them. Fails for a program
 * that contains itself. */
POP_MUST_CHECK pop_error *reach_programs(const compilation *c, reach *out);
void reach_free(reach *r);

#endif
