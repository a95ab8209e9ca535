#ifndef COMPILER_LOWER_COPY_H
#define COMPILER_LOWER_COPY_H

#include "compiler/lowering.h"

/* The steps of a copy program. */
POP_MUST_CHECK pop_error *lower_copy_program(lowering *l, const program *copied, step_list *steps);

#endif
