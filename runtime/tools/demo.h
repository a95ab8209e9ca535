/* popview --demo: the report of a program that is built into popview, and is compiled and
 * run on request. */
#ifndef TOOLS_DEMO_H
#define TOOLS_DEMO_H

#include <populus/error.h>

#define DEMO_SOURCE "demo.c" /* the codelets, in the report's folder */

/* Two IPUs of 64 tiles that pass batches on: streams, exchanges within and between IPUs, loops,
 * branches, functions, uneven work, timed blocks. Writes its codelets' source and its report into
 * `folder`, which is made if it does not exist. Errors: those of compiling and running. */
POP_MUST_CHECK pop_error *demo_write_report(const char *folder);

#endif
