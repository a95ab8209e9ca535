/* translation <kernel>...: the cost of translating tile code.
 *
 *   translate_1472_vs_1     <kernel>.small on 1,472 tiles and on one, with MACHINE_TRANSLATOR.
 *                           Processor time of the first run less that of the second, which
 *                           translates nothing any more, and less the same difference of the
 *                           interpreter; sums over all kernels. Each time is the least of all
 *                           rounds. The kernels run for microseconds only, as differences of long
 *                           runs would hide the result
 *   first_run_<length>_<n>  a program's first run from load to the end of the process, MACHINE_AUTO
 *                           to MACHINE_INTERPRETER: on one core, where the translator competes with
 *                           the interpreter (processor time), and on two (wall time)
 *
 * Each measurement is a process of its own, because native code belongs to the process. Other work
 * on the host makes times longer, never shorter: so the least counts. */
#include "bare_image.h"

#include <machine/machine.h>
#include <populus/arena.h>
#include <populus/file.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TILES_ROUNDS = 9, FIRST_RUN_ROUNDS = 5, TILES = 1472 };

static double seconds_of(clockid_t clock)
{
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void check(pop_error *error, const char *what)
{
  if (!error) return;
  fprintf(stderr, "translation: %s: %s\n", what, pop_error_message(error));
  exit(1);
}

static machine *load(const char *path, uint32_t num_tiles, machine_engine engine)
{
  pop_target target;
  uint8_t *file;
  size_t size;
  machine *m;
  pop_image_segment segments[MAX_SEGMENTS];
  check(pop_target_create("ipu2", 1, &target), "target");
  target.tiles_per_ipu = num_tiles;
  check(pop_file_read(path, MAX_FILE_BYTES, &file, &size), path);
  uint8_t *memory = pop_xcalloc(1, target.memory_bytes);
  pop_image image = make_image(&target, file, memory, segments);
  check(machine_create(&target, &(machine_options){.engine = engine, .num_threads = 1}, &m), path);
  for (image.tile = 0; image.tile < num_tiles; image.tile++)
    check(machine_load(m, &image, NULL), path);
  free(memory);
  free(file);
  return m;
}

static double run(machine *m)
{
  uint32_t event;
  double start = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  check(machine_run(m, 0, &event), "run");
  return seconds_of(CLOCK_PROCESS_CPUTIME_ID) - start;
}

/* ---- in processes ---- */

typedef struct job {
  const char *path;
  uint32_t num_tiles;
  machine_engine engine;
  bool one_core;
} job;

/* What its processes measure. */
enum {
  ELAPSED,
  INTERPRETED_FIRST,
  INTERPRETED_AGAIN,
  TRANSLATED_FIRST,
  TRANSLATED_AGAIN,
  NUM_TIMES
};

static void run_twice(const job *j, machine_engine engine, double times[2])
{
  machine *m = load(j->path, j->num_tiles, engine);
  times[0] = run(m);
  times[1] = run(m);
  machine_free(m);
}

/* The interpreter also pays once, for pages that are touched and code that is decoded. What the
 * process pays once, for its first machine, is not counted. */
static void translate(const job *j, int end)
{
  double times[NUM_TIMES] = {0};
  for (int i = 0; i < 2; i++) run_twice(j, MACHINE_INTERPRETER, &times[INTERPRETED_FIRST]);
  run_twice(j, j->engine, &times[TRANSLATED_FIRST]);
  if (write(end, times, sizeof times) != sizeof times) exit(1);
}

static void run_first(const job *j, int end)
{
  (void)end;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  if (j->one_core) sched_setaffinity(0, sizeof one, &one);
  machine *m = load(j->path, j->num_tiles, j->engine);
  run(m);
  machine_free(m);
}

/* Returns what the job wrote, and the times of its process. */
static void measure(void (*work)(const job *, int), const job *j, double times[NUM_TIMES])
{
  int ends[2], status;
  struct rusage usage;
  double start = seconds_of(CLOCK_MONOTONIC);
  if (pipe(ends)) exit(1);
  pid_t child = fork();
  if (child == 0) {
    work(j, ends[1]);
    exit(0);
  }
  close(ends[1]);
  bool wrote = read(ends[0], times, NUM_TIMES * sizeof *times) == NUM_TIMES * sizeof *times;
  close(ends[0]);
  if (child < 0 || wait4(child, &status, 0, &usage) != child || status) {
    fprintf(stderr, "translation: %s does not end well\n", j->path);
    exit(1);
  }
  if (wrote) return;
  double elapsed = seconds_of(CLOCK_MONOTONIC) - start;
  double spent = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
  times[ELAPSED] = j->one_core ? spent : elapsed;
}

/* The least of both in rotation. */
static void compare(void (*work)(const job *, int), const job jobs[2], int rounds,
                    double least[2][NUM_TIMES])
{
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i < 2; i++) {
      double times[NUM_TIMES] = {0};
      measure(work, &jobs[i], times);
      for (int t = 0; t < NUM_TIMES; t++)
        if (round == 0 || times[t] < least[i][t]) least[i][t] = times[t];
    }
}

static void print(const char *name, double value, const char *unit)
{
  printf("{\"name\": \"%s\", \"value\": %.3f, \"unit\": \"%s\"}\n", name, value, unit);
  fflush(stdout);
}

static double translation_cost(const double times[NUM_TIMES])
{
  return times[TRANSLATED_FIRST] - times[TRANSLATED_AGAIN] -
         (times[INTERPRETED_FIRST] - times[INTERPRETED_AGAIN]);
}

static void compare_tiles(char **kernels, int count)
{
  double totals[2] = {0, 0};
  for (int i = 0; i < count; i++) {
    char *path = pop_xasprintf("%s.small", kernels[i]);
    const job jobs[] = {{path, 1, MACHINE_TRANSLATOR, false},
                        {path, TILES, MACHINE_TRANSLATOR, false}};
    double least[2][NUM_TIMES];
    compare(translate, jobs, TILES_ROUNDS, least);
    for (int j = 0; j < 2; j++) totals[j] += translation_cost(least[j]);
    free(path);
  }
  print("translate_1472_vs_1", totals[1] / totals[0], "x one tile");
  print("translate_kernel_ms", totals[0] * 1e3 / count, "ms");
}

static void compare_first_runs(void)
{
  static const struct {
    const char *name, *path;
  } lengths[] = {{"50M", "crc.short"}, {"200M", "crc.middle"}, {"2G", "crc.tile"}};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    for (int cores = 1; cores <= 2; cores++) {
      const job jobs[] = {{lengths[i].path, 1, MACHINE_INTERPRETER, cores == 1},
                          {lengths[i].path, 1, MACHINE_AUTO, cores == 1}};
      double least[2][NUM_TIMES];
      compare(run_first, jobs, FIRST_RUN_ROUNDS, least);
      char name[64];
      snprintf(name, sizeof name, "first_run_%s_%s", lengths[i].name,
               cores == 1 ? "one_core" : "two_cores");
      print(name, least[1][ELAPSED] / least[0][ELAPSED], "x interpreter");
    }
}

int main(int argc, char **argv)
{
  compare_tiles(argv + 1, argc - 1);
  compare_first_runs();
  return 0;
}
