/* Loops and branches in control code, while a body is written. */
#ifndef COMPILER_EMIT_FLOW_H
#define COMPILER_EMIT_FLOW_H

#include "compiler/emit/emit.h"

/* A loop or branch whose end has not come yet. Positions are words of the control code. */
typedef struct open_flow {
  uint32_t op;
  size_t before, patches_before; /* to go back to if nothing is left of it */
  size_t body;                   /* where what it holds begins */
  size_t last_jump;    /* of the jumps to its end, each of which says where the one before is */
  bool does_something; /* SWITCH: some case does */
} open_flow;

typedef struct flow {
  emitter *e;
  open_flow *open; /* innermost last */
  size_t num_open, open_capacity;
} flow;

/* The beginning or the end of a LOOP, SWITCH, WHILE, CASE or BLOCK. */
void put_flow(flow *f, uint32_t op);
void flow_free(flow *f);

#endif
