/* The line on the terminal about runs that take longer than a second: which of them, its cycles, the time. */
#ifndef TOOLS_RUN_LINE_H
#define TOOLS_RUN_LINE_H

#include <populus/engine.h>

typedef struct run_line run_line;

/* NULL, which the others take, where there is no line (populus/progress.h). What the engine prints while there is one
 * appears above it. */
run_line *run_line_start(pop_engine *loaded, uint64_t num_runs, bool quiet);
void run_line_next(run_line *line); /* the next of the runs begins */
void run_line_end(run_line *line);

#endif
