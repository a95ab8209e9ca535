/* Source lines of device code, from the DWARF that `popc -g` leaves in a .gp's objects. */
#ifndef DRIVER_SOURCE_LINE_H
#define DRIVER_SOURCE_LINE_H

#include "compiler/compilation.h"

/* Puts "file:line" of the code at `pc` on `tile` into `text`, or "" if there is no debug
 * information for it. */
void find_source_line(const compilation *c, uint32_t tile, uint32_t pc, char *text, size_t size);

#endif
