/* The memory part of the profile summary as text. */
#ifndef PROFILE_MEMORY_SUMMARY_H
#define PROFILE_MEMORY_SUMMARY_H

#include <populus/engine.h>

/* "Memory Usage:" with totals by region and by category. */
void print_memory_totals(FILE *stream, const pop_tile_memory *tiles, size_t num_tiles);

/* "By Tile": the histogram, the fullest tiles and how many are out of memory; num_tiles >= 1. */
void print_memory_by_tile(FILE *stream, const pop_target *target, const pop_tile_memory *tiles,
                          size_t num_tiles);

/* How far the plan of the worst tile is above what no plan can do without; num_tiles >= 1. What the
 * system keeps is left out on both sides. */
void print_memory_plan(FILE *stream, const pop_target *target, const pop_tile_memory *tiles,
                       size_t num_tiles);

#endif
