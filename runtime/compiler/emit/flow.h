/* Loops and branches in control code, while their bodies are written. */
#ifndef COMPILER_EMIT_FLOW_H
#define COMPILER_EMIT_FLOW_H

#include "compiler/emit/emit.h"

/* A loop or branch whose end has not been reached. Positions are words of the control code. */
typedef struct open_flow {
  uint32_t op;
  size_t before, patches_before; /* to return to if the loop or branch turns out empty */
  size_t body;                   /* where its body begins */
  size_t last_jump;    /* last of the jumps to its end; each holds the position of the one before */
  bool does_something; /* SWITCH: some case is not empty */
} open_flow;

typedef struct flow {
  emitter *e;
  open_flow *open; /* innermost last */
  size_t num_open, open_capacity;
} flow;

/* Emits the begin or the end of a LOOP, SWITCH, WHILE, CASE or BLOCK. */
void put_flow(flow *f, uint32_t op);
void flow_free(flow *f);

#endif
