/* Where the states of each tile's vertices begin (machine_set_states). */
#ifndef ENGINE_VERTEX_STATES_H
#define ENGINE_VERTEX_STATES_H

#include "base/order.h"
#include "executable/executable.h"
#include "machine/machine.h"

typedef struct vertex_states {
  const pop_executable *e;
  keyed *order;  /* works, by tile and address */
  size_t *first; /* by tile, and the end: in `order` */
} vertex_states;

void vertex_states_find(const pop_executable *e, vertex_states *s);
void vertex_states_free(vertex_states *s);
/* Tells the machine the states of a tile that it has loaded. Several threads may do that at once,
 * each for another tile. */
POP_MUST_CHECK pop_error *vertex_states_set(const vertex_states *s, machine *m, uint32_t tile);

#endif
