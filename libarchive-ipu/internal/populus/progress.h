/* For programs, not for libraries: a line on the terminal that says how far something is. It is there from a second after
 * the start to the end, where it is taken away; so nothing is seen of what is done sooner. */
#ifndef POPULUS_PROGRESS_H
#define POPULUS_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pop_progress pop_progress;

/* Writes what the line says to `text`, which has `bytes` bytes, as snprintf does; longer lines than the terminal's are
 * cut. Called by another thread, ten times a second: what it reads is atomic, and it allocates nothing. */
typedef void pop_progress_say(void *context, char *text, size_t bytes);

/* NULL, which the others take: there is no line, because it is not wanted (`quiet`), standard error is no terminal, or the
 * environment's POPLAR_LOG_LEVEL or POPLIBS_LOG_LEVEL has messages written there (with no …_LOG_DEST). `context` is the
 * caller's, and is needed until the end. */
pop_progress *pop_progress_start(bool quiet, pop_progress_say *say, void *context);
/* Takes the line away: whoever writes to the terminal calls it first, with whole lines. It comes back by itself. */
void pop_progress_hide(pop_progress *progress);
void pop_progress_end(pop_progress *progress);

#ifdef __cplusplus
}
#endif
#endif
