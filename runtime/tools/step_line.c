#include "step_line.h"

#include <stdio.h>

static void say(void *context, char *text, size_t bytes)
{
  step_line *line = context;
  size_t done = atomic_load(&line->done), total = atomic_load(&line->total);
  if (total)
    snprintf(text, bytes, "%s: %zu of %zu", line->what, done, total);
  else
    snprintf(text, bytes, "%s", line->what);
}

void step_line_start(step_line *line, bool quiet, const char *what)
{
  line->what = what;
  atomic_init(&line->done, 0);
  atomic_init(&line->total, 0);
  line->progress = pop_progress_start(quiet, say, line);
}

void step_line_is_at(step_line *line, size_t done, size_t total)
{
  atomic_store(&line->done, done);
  atomic_store(&line->total, total);
}

void step_line_end(step_line *line)
{
  pop_progress_end(line->progress);
}
