/* The log.
 *
 * POPLAR_LOG_LEVEL (OFF, ERR, WARN, INFO, DEBUG, TRACE; default OFF) is its level,
 * POPLAR_<part>_LOG_LEVEL that of one part. POPLAR_LOG_DEST (stdout, stderr or a file, to which it
 * is appended; default stderr) is its destination. Lines look like
 *
 *     09:38:52.878 15288 PO:ENGINE   [I] message
 *
 * Each line is one write, so that threads, and processes that share a file, do not mix their lines.
 * A destination that cannot be opened is replaced by standard error, and an invalid level is
 * ignored, each with a warning when the log is first used.
 *
 * Functions that programs know from PopLibs (poputil, popops, …) have a log of their own: `PL`
 * instead of `PO`, POPLIBS_LOG_LEVEL and POPLIBS_LOG_DEST.
 *
 * All folders of the runtime log here, so it is in the lowest of them.
 *
 * Work that takes time is logged as a phase, two lines at level DEBUG with its cost:
 *
 *     Starting phase: exchange
 *     Ending phase: exchange (duration 607 ms; diff RSS: 0.586426 MB)
 *
 * A phase that fails has a start and no end. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

typedef enum log_level { LOG_OFF, LOG_ERR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE } log_level;

bool log_enabled(log_level level);
/* `part` of the toolchain in capitals, up to 8 letters: "ENGINE", "COMPILER". */
void log_write(log_level level, const char *part, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

bool log_poplibs_enabled(log_level level);
/* `part`: the library in capitals, "POPUTIL". */
void log_poplibs(log_level level, const char *part, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

typedef struct log_phase {
  const char *part, *name;
  double start_seconds;      /* of a measured phase, how many it took */
  double start_resident_mib; /* only where it is logged; of a measured phase, how many were added */
} log_phase;

log_phase log_phase_start(const char *part, const char *name);
/* A phase that may turn out not to be worth two lines: begin; measure once, at its end;
 * then log_phase_say. */
log_phase log_phase_begin(const char *part, const char *name);
log_phase log_phase_measure(const log_phase *phase);
void log_phase_say(const log_phase *measured);
double log_phase_end(const log_phase *phase); /* how long it took, in seconds */

#endif
