/* The progress line about runs that take longer than a second: the number of the run, its
 * cycles, the time. */
#ifndef TOOLS_RUN_LINE_H
#define TOOLS_RUN_LINE_H

#include <populus/engine.h>

typedef struct run_line run_line;

/* NULL, which the other functions accept, if there is no line (populus/progress.h). What the engine
 * prints meanwhile appears above it. */
run_line *run_line_start(pop_engine *loaded, uint64_t num_runs, bool quiet);
void run_line_next(run_line *line); /* the next of the runs begins */
void run_line_end(run_line *line);

#endif
