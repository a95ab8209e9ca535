/* What POPULUS_DUMP asks for: the compilation as text, after the passes that it names.
 *
 *     POPULUS_DUMP=lower,exchange ./program 2>dump.txt
 *
 * One line for each variable, block, step, vertex, message and exchange instruction; what a later pass will
 * add is left out. The text is the same for the same graph, so that two dumps can be compared with diff. */
#ifndef COMPILER_DUMP_H
#define COMPILER_DUMP_H

#include "compiler/compilation.h"
#include <stdio.h>

/* Whether the pass is in the list of names with commas between them; NULL: an empty list. */
bool dump_wanted(const char *list, const char *pass);
/* Error INVALID_OPTION if the list has a name that is none of the passes'. */
POP_MUST_CHECK pop_error *dump_check(const char *list, const char *const *passes,
                                     size_t num_passes);
/* Writes what there is of the compilation after `pass`. */
void dump_compilation(const compilation *c, const char *pass, FILE *stream);

#endif
