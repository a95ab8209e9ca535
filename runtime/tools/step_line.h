/* The progress line about steps that take longer than a second: "compiling: 3 of 11". */
#ifndef TOOLS_STEP_LINE_H
#define TOOLS_STEP_LINE_H

#include <populus/progress.h>

#include <stdatomic.h>

typedef struct step_line {
  const char *what;
  atomic_size_t done, total; /* of steps; a total of 0: nobody knows, or there is but one */
  pop_progress *progress;
} step_line;

/* The line is the caller's, and must not move until the end; `what` is a constant. */
void step_line_start(step_line *line, bool quiet, const char *what);
void step_line_is_at(step_line *line, size_t done, size_t total); /* from any thread */
void step_line_end(step_line *line);

#endif
