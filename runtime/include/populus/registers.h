/* Programs that use the tiles' control registers: the cycle counter, the behaviour of
 * floating-point operations, the state of random number generators. In the documented C++
 * interface: poplar/CycleCount.hpp, poplar/CSRFunctions.hpp, poplar/RandomSeed.hpp.
 *
 * Functions append to `sequence` (CONTROL_PROGRAM if it is not a sequence). Names may be NULL.
 * Errors are the graph's (populus/graph.h). Tiles are those of `graph`, which may be a virtual
 * graph. */
#ifndef POPULUS_REGISTERS_H
#define POPULUS_REGISTERS_H

#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- cycles ---- */

/* The tile's cycle counter after a sync: two elements of POP_UNSIGNED_INT on the tile, the low
 * 32 bits first. INVALID_ARGUMENT for the CPU, which counts no cycles. */
pop_tensor pop_graph_cycle_stamp(pop_graph *graph, pop_program sequence, size_t tile,
                                 pop_sync_type sync, const char *name);
/* The same for several tiles after one sync: a row for each, in this order. INVALID_ARGUMENT if
 * `tiles` is NULL and `count` is not 0. */
pop_tensor pop_graph_cycle_stamps(pop_graph *graph, pop_program sequence, const size_t *tiles,
                                  size_t count, pop_sync_type sync, const char *name);
/* The cycles that the sequence takes on the tile, measured each time it runs. Puts a stamp
 * before the present contents of the sequence and one after them, and returns the difference in
 * the same form. It includes two syncs and the cost of the stamps: an empty sequence takes some
 * hundred cycles. */
pop_tensor pop_graph_cycle_count(pop_graph *graph, pop_program sequence, size_t tile,
                                 pop_sync_type sync, const char *name);

/* ---- floating point ---- */

/* Bits of a set of behaviours. The layout is that of the chip's register. */
typedef enum pop_floating_point_behaviour {
  POP_FP_INVALID = 1 << 0,              /* an invalid operation is a fault */
  POP_FP_DIVISION_BY_ZERO = 1 << 1,     /* a division by zero is a fault */
  POP_FP_OVERFLOW = 1 << 2,             /* a finite result that is too large is a fault */
  POP_FP_STOCHASTIC_ROUNDING = 1 << 19, /* results in half are rounded up or down at random */
  POP_FP_NAN_ON_OVERFLOW =
      1 << 20 /* a half that is too large becomes NaN, and is invalid; off: infinity */
} pop_floating_point_behaviour;
enum {
  POP_FP_EXCEPTIONS = POP_FP_INVALID | POP_FP_DIVISION_BY_ZERO | POP_FP_OVERFLOW,
  POP_FP_ALL = POP_FP_EXCEPTIONS | POP_FP_STOCHASTIC_ROUNDING | POP_FP_NAN_ON_OVERFLOW
};

/* Sets the behaviour of vertices on workers from here on, on all tiles of the graph: those of
 * `set` are on, the others off. Load sets it by the engine's options
 * (debug.floatPointOpException, debug.nanOverflowMode, prng.enableStochasticRounding). No effect
 * on the CPU: the host follows IEEE 754. INVALID_ARGUMENT: unknown bits. */
void pop_graph_set_floating_point_behaviour(pop_graph *graph, pop_program sequence, uint32_t set,
                                            const char *name);
/* Switches `clear` off, then `set` on; other bits are unchanged. Returns the previous behaviour: an
 * element of POP_UNSIGNED_INT for each tile of the graph. INVALID_ARGUMENT: unknown bits. */
pop_tensor pop_graph_modify_floating_point_behaviour(pop_graph *graph, pop_program sequence,
                                                     uint32_t clear, uint32_t set,
                                                     const char *name);
/* Restores such a behaviour: a vector with an element for each tile; otherwise TENSOR. */
void pop_graph_restore_floating_point_behaviour(pop_graph *graph, pop_program sequence,
                                                pop_tensor behaviour, const char *name);
/* Sets stochastic rounding only. */
void pop_graph_set_stochastic_rounding(pop_graph *graph, pop_program sequence, bool enable,
                                       const char *name);

/* ---- random numbers ---- */

/* The state of each worker's random number generator (xoroshiro128aox): POP_UNSIGNED_INT, of
 * shape [tiles, worker contexts, 4]; each tile's part is on the tile. All zero: it has not been
 * seeded, and starts from the numbers of tile and worker. Load seeds by the engine option
 * prng.seed. On the CPU all are zero, and setting has no effect. */
pop_tensor pop_graph_get_hw_seeds(pop_graph *graph, pop_program sequence, const char *name);
/* Sets these states. `seeds` has that type and shape (otherwise TENSOR), and any mapping. */
void pop_graph_set_hw_seeds(pop_graph *graph, pop_program sequence, pop_tensor seeds,
                            const char *name);

#ifdef __cplusplus
}
#endif
#endif
