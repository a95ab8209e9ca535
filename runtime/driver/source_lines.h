/* Source lines of device code, from the DWARF that `popc -g` leaves in the objects of a .gp: for
 * executables compiled in this process (executable/executable.h). */
#ifndef DRIVER_SOURCE_LINES_H
#define DRIVER_SOURCE_LINES_H

#include "compiler/compilation.h"
#include "executable/executable.h"

/* NULL if the tile has no code, or debug information is not to be used. */
executable_lines *source_lines_open(const compilation *c, uint32_t tile);
bool source_lines_find(executable_lines *lines, uint32_t pc, pop_arena *arena,
                       pop_source_place *place);
void source_lines_close(executable_lines *lines);

#endif
