/* Source lines of device code, from the DWARF that `popc -g` leaves in a .gp's objects: the lines of an executable that has been
 * compiled here (executable/executable.h). */
#ifndef DRIVER_SOURCE_LINES_H
#define DRIVER_SOURCE_LINES_H

#include "compiler/compilation.h"
#include "executable/executable.h"

/* NULL if there is no code on the tile, or debug information is not to be looked at. */
executable_lines *source_lines_open(const compilation *c, uint32_t tile);
bool source_lines_find(executable_lines *lines, uint32_t pc, pop_arena *arena,
                       pop_source_place *place);
void source_lines_close(executable_lines *lines);

#endif
