/* The programs as the tiles run them: debug.loweredProgsFile. */
#ifndef PROFILE_LOWERED_PROGRAMS_H
#define PROFILE_LOWERED_PROGRAMS_H

#include "executable/executable.h"
#include <stdio.h>

/* Text: each control program, then each function, with what it consists of, a line each and indented by how
 * deep it is: "OnTileExecute 'mulCS'". Names are escaped. */
POP_MUST_CHECK pop_error *write_lowered_programs(FILE *stream, const pop_executable *executable);

#endif
