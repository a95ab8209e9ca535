#include "run_line.h"

#include <populus/arena.h>
#include <populus/progress.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct run_line {
  pop_engine *engine;
  uint64_t num_runs;
  atomic_uint_fast64_t run; /* the current one, from 1 */
  time_t begin;
  pop_progress *progress;
  FILE *prints; /* what the engine prints */
};

static time_t now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec;
}

static void say(void *context, char *text, size_t bytes)
{
  run_line *line = context;
  unsigned long long cycles = pop_engine_cycles_passed(line->engine), run = atomic_load(&line->run);
  long long seconds = (long long)(now() - line->begin);
  if (line->num_runs == 1)
    snprintf(text, bytes, "running: %llu cycles, %lld s", cycles, seconds);
  else
    snprintf(text, bytes, "run %llu of %llu: %llu cycles, %lld s", run,
             (unsigned long long)line->num_runs, cycles, seconds);
}

static ssize_t print_above(void *context, const char *bytes, size_t count)
{
  run_line *line = context;
  pop_progress_hide(line->progress);
  return write(STDERR_FILENO, bytes, count);
}

run_line *run_line_start(pop_engine *loaded, uint64_t num_runs, bool quiet)
{
  run_line *line = pop_xcalloc(1, sizeof *line);
  line->engine = loaded;
  line->num_runs = num_runs;
  line->begin = now();
  line->progress = pop_progress_start(quiet, say, line);
  if (!line->progress) {
    free(line);
    return NULL;
  }
  line->prints = fopencookie(line, "w", (cookie_io_functions_t){.write = print_above});
  if (line->prints) {
    setvbuf(line->prints, NULL, _IOLBF, BUFSIZ);
    pop_engine_set_print_stream(loaded, line->prints);
  }
  return line;
}

void run_line_next(run_line *line)
{
  if (line) atomic_fetch_add(&line->run, 1);
}

void run_line_end(run_line *line)
{
  if (!line) return;
  pop_engine_set_print_stream(line->engine, stderr);
  if (line->prints) fclose(line->prints);
  pop_progress_end(line->progress);
  free(line);
}
