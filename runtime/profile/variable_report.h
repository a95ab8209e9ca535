/* The contents of each tile's memory, as JSON. */
#ifndef PROFILE_VARIABLE_REPORT_H
#define PROFILE_VARIABLE_REPORT_H

#include "executable/executable.h"

/* {"target":…, "tiles":[{"tile":0, "variables":[{"name", "category", "type"?, "address", "bytes"}
 * …]} …]}: everything that has a data symbol in the tile's image, by address. Errors: those of
 * reading images. */
POP_MUST_CHECK pop_error *write_variables(FILE *stream, const pop_executable *executable);

#endif
