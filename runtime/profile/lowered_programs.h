/* The programs as the tiles run them, for debug.loweredProgsFile. */
#ifndef PROFILE_LOWERED_PROGRAMS_H
#define PROFILE_LOWERED_PROGRAMS_H

#include "executable/executable.h"
#include <stdio.h>

/* Writes each control program, then each function, as text. Each step is a line, indented by its
 * depth: "OnTileExecute 'mulCS'". Names are escaped. */
POP_MUST_CHECK pop_error *write_lowered_programs(FILE *stream, const pop_executable *executable);

#endif
