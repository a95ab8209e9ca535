/* Copies from and to remote buffers. */
#ifndef COMPILER_LOWER_REMOTE_H
#define COMPILER_LOWER_REMOTE_H

#include "compiler/lower/host_exchange.h"

void lower_remote_buffers(compilation *c); /* those of the graph; called before any copy */
/* Adds the steps of a copy: an exchange that brings the row numbers to the tiles that need them,
 * then host exchanges. There is more than one if an IPU would move more than one may move. */
POP_MUST_CHECK pop_error *lower_remote_copy(lowering *l, const program *copied, step_list *steps);

#endif
