/* Programs about the tiles' control registers: what cycle it is, how workers compute with floating-point
 * numbers, what their random numbers come from. In the documented C++ interface: poplar/CycleCount.hpp,
 * poplar/CSRFunctions.hpp, poplar/RandomSeed.hpp.
 *
 * What is said of a sequence here is appended to it. Errors are the graph's (populus/graph.h). Tiles are those
 * of `graph`, which may be a virtual graph. */
#ifndef POPULUS_REGISTERS_H
#define POPULUS_REGISTERS_H

#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- cycles ---- */

/* The tile's cycle counter when all tiles of the sync have come here: two elements of POP_UNSIGNED_INT on the
 * tile, the low 32 bits first. INVALID_ARGUMENT for the CPU, which counts no cycles. */
pop_tensor pop_graph_cycle_stamp(pop_graph *graph, pop_program sequence, size_t tile,
                                 pop_sync_type sync, const char *name);
/* The same of several tiles, behind one sync: a row for each, in this order. INVALID_ARGUMENT if `tiles` is NULL and `count` is not 0. */
pop_tensor pop_graph_cycle_stamps(pop_graph *graph, pop_program sequence, const size_t *tiles,
                                  size_t count, pop_sync_type sync, const char *name);
/* What the sequence as it is now takes on the tile, measured each time it runs: from one such stamp in front of it
 * to one behind it, into a tensor of the same kind. Two syncs and what the stamps take are part of it: an
 * empty sequence takes some hundred cycles. */
pop_tensor pop_graph_cycle_count(pop_graph *graph, pop_program sequence, size_t tile,
                                 pop_sync_type sync, const char *name);

/* ---- floating point ---- */

/* Bits of a word that is a set of them; the words of populus' tiles are laid out as the chip's. */
typedef enum pop_floating_point_behaviour {
  POP_FP_INVALID = 1 << 0,              /* an invalid operation is a fault */
  POP_FP_DIVISION_BY_ZERO = 1 << 1,     /* so is a division by zero, */
  POP_FP_OVERFLOW = 1 << 2,             /* and a finite result that is too large */
  POP_FP_STOCHASTIC_ROUNDING = 1 << 19, /* results in half are rounded up or down at random */
  POP_FP_NAN_ON_OVERFLOW =
      1 << 20 /* a half that is too large is NaN, and invalid; otherwise infinity */
} pop_floating_point_behaviour;
enum {
  POP_FP_EXCEPTIONS = POP_FP_INVALID | POP_FP_DIVISION_BY_ZERO | POP_FP_OVERFLOW,
  POP_FP_ALL = POP_FP_EXCEPTIONS | POP_FP_STOCHASTIC_ROUNDING | POP_FP_NAN_ON_OVERFLOW
};

/* How vertices on workers compute from here on, on all tiles of the graph: with `set`, of which the others are
 * off. Loading starts with what the engine's options say (debug.floatPointOpException, debug.nanOverflowMode,
 * prng.enableStochasticRounding). On the CPU it has no effect: the host computes as IEEE 754 says.
 * INVALID_ARGUMENT: bits that are none. */
void pop_graph_set_floating_point_behaviour(pop_graph *graph, pop_program sequence, uint32_t set,
                                            const char *name);
/* Switches `clear` off, then `set` on, and leaves the rest. Answers what was before: an element of
 * POP_UNSIGNED_INT for each tile of the graph. */
pop_tensor pop_graph_modify_floating_point_behaviour(pop_graph *graph, pop_program sequence,
                                                     uint32_t clear, uint32_t set,
                                                     const char *name);
/* Back to what such a tensor has: an element for each tile. */
void pop_graph_restore_floating_point_behaviour(pop_graph *graph, pop_program sequence,
                                                pop_tensor behaviour, const char *name);
/* Stochastic rounding alone. */
void pop_graph_set_stochastic_rounding(pop_graph *graph, pop_program sequence, bool enable,
                                       const char *name);

/* ---- random numbers ---- */

/* The state of each worker's random number generator (xoroshiro128aox): POP_UNSIGNED_INT, of shape [tiles, worker
 * contexts, 4], each tile's on the tile. All zero: it has not been seeded, and starts from the numbers of tile and
 * worker. Loading seeds by the engine's option prng.seed. On the CPU all are zero, and setting has no effect. */
pop_tensor pop_graph_get_hw_seeds(pop_graph *graph, pop_program sequence, const char *name);
/* `seeds` has that type and shape, wherever it is. */
void pop_graph_set_hw_seeds(pop_graph *graph, pop_program sequence, pop_tensor seeds,
                            const char *name);

#ifdef __cplusplus
}
#endif
#endif
