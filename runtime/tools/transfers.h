/* Transfers between files and an engine: handles and streams by name. */
#ifndef TOOLS_TRANSFERS_H
#define TOOLS_TRANSFERS_H

#include "arguments.h"

#include <populus/executable.h>

/* Do all names exist, and does every stream in use have one file in each replica? Errors:
 * UNKNOWN_HANDLE with the nearest name; USAGE. */
POP_MUST_CHECK pop_error *transfers_check(const pop_executable *executable, const arguments *a);
/* Before the engine is loaded: connects streams to their files, and to collectors, which
 * are in `a`. */
POP_MUST_CHECK pop_error *transfers_connect(const pop_executable *executable, pop_engine *engine,
                                            arguments *a);
/* Before the first run: writes files to handles. */
POP_MUST_CHECK pop_error *transfers_write(const pop_executable *executable, pop_engine *engine,
                                          const arguments *a);
/* After the last run: writes handles, and what streams have delivered, to files. */
POP_MUST_CHECK pop_error *transfers_read(const pop_executable *executable, pop_engine *engine,
                                         const arguments *a);

#endif
