/* The script: the steps of all control programs as one flat list, which liveness numbers and emit
 * walks.
 *
 * Steps are a DAG of any depth. The list has every step once, in program order, so that no later
 * pass needs recursion or sees a step twice:
 *
 *   PROGRAM  EXCHANGE  LOOP  SHARED EXECUTE SHARED_END  EXCHANGE  CALL  LOOP_END  PROGRAM_END  …
 *
 * Branches and loops that a control decides:
 *
 *   SWITCH  CASE … CASE_END  CASE … CASE_END  SWITCH_END        the last case is the default
 *   WHILE  condition …  CASE body … CASE_END  WHILE_END         the control is read at the CASE
 *
 *   BLOCK … BLOCK_END     a region that profiles know by a name
 *
 * A step with several uses is placed where it is used first, between SHARED and SHARED_END; each
 * later use is a CALL of it. A Repeat of 0 is left out, a Repeat of 1 is its body. The position in
 * the list is the step number of `block.first_step` and `block.last_step`.
 */
#ifndef COMPILER_SCRIPT_H
#define COMPILER_SCRIPT_H

#include "compiler/compilation.h"

typedef enum script_op_kind {
  SCRIPT_EXECUTE,
  SCRIPT_EXCHANGE,
  SCRIPT_SYNC,
  SCRIPT_WRITE_UNDEF,
  SCRIPT_HOST_EXCHANGE,
  SCRIPT_HOST_EVENT,
  SCRIPT_LOOP,
  SCRIPT_LOOP_END,
  SCRIPT_SWITCH,
  SCRIPT_SWITCH_END,
  SCRIPT_WHILE,
  SCRIPT_WHILE_END,
  SCRIPT_BLOCK,
  SCRIPT_BLOCK_END,
  SCRIPT_CASE,
  SCRIPT_CASE_END,
  SCRIPT_SHARED,
  SCRIPT_SHARED_END,
  SCRIPT_CALL,
  SCRIPT_PROGRAM,
  SCRIPT_PROGRAM_END
} script_op_kind;

/* Loops up to this height have their counter in a register. An innermost loop has height 1. */
enum { SCRIPT_MAX_REGISTER_LOOP_HEIGHT = 11 };

/* Stack that the supervisor needs to call vertices, besides what they need themselves: the saved
 * sp, in a slot of 16 bytes, and what alignment to 16 has skipped. */
enum { SCRIPT_VERTEX_CALL_BYTES = 28 };

typedef struct script_op {
  uint32_t kind;
  uint32_t step;   /* PROGRAM: number of the program */
  uint32_t match;  /* begin: its end op; end: its begin op; CALL: the SHARED op */
  uint32_t height; /* nesting depth of loops, here and in callees: LOOP (itself included), SHARED */
  uint32_t stack_bytes; /* of the supervisor's stack, body included: LOOP, SHARED, PROGRAM */
  uint32_t child;       /* CASE: number of the step's child */
  bool calls; /* SHARED: has calls (of steps or supervisor vertices), so it saves ra on the stack */
} script_op;

typedef struct script {
  script_op *ops;
  size_t num_ops, ops_capacity;
  uint32_t *shared; /* SHARED ops, callee before caller */
  size_t num_shared, shared_capacity;
} script;

/* The step whose accesses happen at this op, or NULL. */
const step *script_accesses(const compilation *c, const script *s, uint32_t op);

void script_build(const compilation *c, script *s);
void script_free(script *s);

/* Bytes of supervisor stack that the deepest control program needs. */
uint32_t script_stack_bytes(const script *s);

#endif
