/* The units on which a chip's instructions work at once: vectors, the matrix unit, counts of the
 * repeat instruction. The chip's own libraries ask for them when they divide work.
 *
 * Tiles here execute RV32IMF and have none of these, so they affect no cost. But a library that
 * computes with them lays out and divides its data as for the chip. For every choice that it makes
 * with these figures it has a vertex. */
#ifndef POPULUS_TARGET_UNITS_H
#define POPULUS_TARGET_UNITS_H

#include <populus/target.h>
#include <populus/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Figures of a chip's units; target_units.c has the source of each. Matrix instructions multiply
 * elements of one type and add the products to sums of another. */
typedef struct pop_target_units {
  uint32_t data_path_bits;         /* of the path to memory: 64, the widest store */
  uint32_t atomic_store_bytes;     /* smaller stores of different workers may disturb each other */
  uint32_t repeat_count_max;       /* of the repeat instruction */
  uint32_t stride_bits;            /* of a stride in an address triple */
  uint32_t memcpy_bytes_per_cycle; /* of one tile */
  uint32_t half_to_half_units;     /* 16-bit elements, 16-bit sums */
  uint32_t half_to_float_units;    /* 16-bit elements, 32-bit sums */
  uint32_t float_to_float_units;   /* 32-bit elements and sums */
  uint32_t quarter_to_half_units;  /* 8-bit elements, 16-bit sums; 0: the chip has none */
  uint32_t pipeline_depth;         /* steps of one unit's dot product */
  uint32_t half_inputs_per_cycle;  /* elements that all units are fed with in a step */
  uint32_t float_inputs_per_cycle; /* the same */
  uint32_t quarter_inputs_per_cycle; /* the same */
  uint32_t weight_bytes_per_cycle;   /* loaded into the units */
  uint32_t shared_bus_tiles;         /* on one bus of the chip's exchange; here each has its own */
} pop_target_units;

/* Of the architecture that `target` is named for; of any other name, ipu2's. A constant: nothing to
 * free. */
const pop_target_units *pop_target_get_units(const pop_target *target);

/* Elements of `type` in a vector instruction: data_path_bits by the element's size, at least 1; 1
 * for booleans. */
uint32_t pop_target_vector_width(const pop_target *target, pop_type type);

#ifdef __cplusplus
}
#endif
#endif
