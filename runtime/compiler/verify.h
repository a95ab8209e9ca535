/* Invariants after each pass, whatever the graph: verify.c. */
#ifndef COMPILER_VERIFY_H
#define COMPILER_VERIFY_H

#include "compiler/compilation.h"

/* Passes in their order (compile.c). */
typedef enum compile_pass {
  COMPILE_CHECK,
  COMPILE_PLACE,
  COMPILE_LOWER,
  COMPILE_EXCHANGE,
  COMPILE_LIVENESS,
  COMPILE_LIVE_SECTIONS,
  COMPILE_STACK,
  COMPILE_EMIT,
  COMPILE_ALLOCATE,
  COMPILE_ACCOUNT,
  NUM_COMPILE_PASSES
} compile_pass;

/* Checks all invariants after the pass `last`. Error INTERNAL: names the blocks, steps and tiles
 * that break one. */
POP_MUST_CHECK pop_error *verify_compilation(const compilation *c, compile_pass last);

#endif
