/* The code of vertices, as JSON: what runs when cycles are spent. populus/profile.h describes the
 * format. */
#ifndef PROFILE_CODE_REPORT_H
#define PROFILE_CODE_REPORT_H

#include "executable/executable.h"
#include <stdio.h>

POP_MUST_CHECK pop_error *write_code(FILE *stream, const pop_executable *executable,
                                     bool with_source);

#endif
