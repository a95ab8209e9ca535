/* POPULUS_DUMP: the compilation as text, after the passes that it names.
 *
 *     POPULUS_DUMP=lower,exchange ./program 2>dump.txt
 *
 * There is one line for each variable, block, step, vertex, message and exchange instruction. What
 * a later pass will add is left out. The text is deterministic, so that two dumps can be compared
 * with diff. */
#ifndef COMPILER_DUMP_H
#define COMPILER_DUMP_H

#include "compiler/compilation.h"
#include <stdio.h>

/* Is the pass in the comma-separated list? NULL is an empty list. */
bool dump_wanted(const char *list, const char *pass);
/* Error INVALID_OPTION if a name in the list is no pass. */
POP_MUST_CHECK pop_error *dump_check(const char *list, const char *const *passes,
                                     size_t num_passes);
/* Writes the contents of the compilation after `pass`. */
void dump_compilation(const compilation *c, const char *pass, FILE *stream);

#endif
