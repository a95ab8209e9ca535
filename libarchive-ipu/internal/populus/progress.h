/* For programs, not for libraries: a progress line on the terminal. It appears a second after the
 * start and is removed at the end. So nothing is seen of work that takes less. */
#ifndef POPULUS_PROGRESS_H
#define POPULUS_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pop_progress pop_progress;

/* Writes the line's text to `text`, which has `bytes` bytes, as snprintf does; lines longer than
 * the terminal's are cut. Another thread calls it ten times a second. So it may read only atomic
 * variables and must not allocate. */
typedef void pop_progress_say(void *context, char *text, size_t bytes);

/* NULL means that there is no line; the other functions accept it. There is none if it is not
 * wanted (`quiet`), if standard error is no terminal, or if POPLAR_LOG_LEVEL or POPLIBS_LOG_LEVEL
 * of the environment sends messages there (with no …_LOG_DEST). `context` is the caller's, and is
 * needed until the end. */
pop_progress *pop_progress_start(bool quiet, pop_progress_say *say, void *context);
/* Removes the line; it comes back by itself. Call it before writing to the terminal, and
 * write whole lines. */
void pop_progress_hide(pop_progress *progress);
void pop_progress_end(pop_progress *progress);

#ifdef __cplusplus
}
#endif
#endif
