/* For programs, not for libraries: what every tool does with its standard streams. */
#ifndef POPULUS_STANDARD_STREAMS_H
#define POPULUS_STANDARD_STREAMS_H

#include <populus/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Call it first in main. If a standard stream was closed at the start, the first file that is
 * opened would take its place and receive what is printed. So closed streams are bound to
 * /dev/null: input is empty, messages are lost, and standard output refuses writes, so that nobody
 * takes output for delivered. Also makes a write that exceeds a file size limit fail, instead of
 * ending the program (SIGXFSZ). If the program was started with SIGCHLD ignored, ends that: nobody
 * would know how its children ended. SYSTEM: there is no /dev/null, or no descriptor left. */
POP_MUST_CHECK pop_error *pop_standard_streams_open(void);

/* Call it last in main: SYSTEM if anything that was printed to standard output did not arrive. */
POP_MUST_CHECK pop_error *pop_standard_output_flush(void);

#ifdef __cplusplus
}
#endif
#endif
