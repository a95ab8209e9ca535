/* The machine's engines against each other, for fuzz targets. */
#ifndef POPULUS_FUZZ_ENGINES_H
#define POPULUS_FUZZ_ENGINES_H

#include <machine/machine.h>

/* Runs the image of a single tile interpreted and translated. Aborts if the outcome (fault, cycles,
 * instructions, memory) differs. */
void expect_engines_agree(const pop_image *image, const tile_stack *stacks, uint64_t max_cycles);

#endif
