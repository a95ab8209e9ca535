/* For programs, not for libraries: what every tool does with its standard streams. */
#ifndef POPULUS_STANDARD_STREAMS_H
#define POPULUS_STANDARD_STREAMS_H

#include <populus/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* First thing in main. The first file opened takes the place of a standard stream that was closed at the start, and what is
 * printed would go into it. So those are bound to /dev/null: input is empty, messages are lost, and standard output refuses
 * what is written, so that nobody takes output for delivered. Also, from here on a limit of file sizes (SIGXFSZ) makes a
 * write fail instead of ending the program. SYSTEM: there is no /dev/null, or no descriptor left. */
POP_MUST_CHECK pop_error *pop_standard_streams_open(void);

/* Last thing in main: SYSTEM if anything that was printed to standard output did not arrive there. */
POP_MUST_CHECK pop_error *pop_standard_output_flush(void);

#ifdef __cplusplus
}
#endif
#endif
