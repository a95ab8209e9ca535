/* The log: POPLAR_LOG_LEVEL (OFF, ERR, WARN, INFO, DEBUG, TRACE; default OFF) says how much,
 * POPLAR_LOG_DEST (stdout, stderr or a file that is appended to; default stderr) where. Lines look
 * like `09:38:52.878 15288 PO:ENGINE   [I] message`; each is one write, so that processes that share
 * a file do not mix their lines. A destination that cannot be opened is replaced by standard error,
 * with a warning. */
#ifndef ENGINE_LOG_H
#define ENGINE_LOG_H

#include <stdbool.h>

typedef enum log_level { LOG_OFF, LOG_ERR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE } log_level;

bool log_enabled(log_level level);
/* `part` of the toolchain in capitals, up to 8 letters: "ENGINE", "COMPILER". */
void log_write(log_level level, const char *part, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
