/* machine <kernel>...: engines of the software IPU beside the host, in one run.
 *
 * For each kernel the working folder holds, made by machine.sh from kernels/machine.c:
 *   <kernel>.host    native program, host -O2, which prints its checksum
 *   <kernel>.tile    for the software IPU, as many rounds
 *   <kernel>.short, <kernel>.linux   for the interpreter and for qemu-riscv32, SHORT times fewer
 *
 *   dispatch.tile        calls of an empty vertex
 *
 * All are run in rotation, ROUNDS times; numbers are ratios to the host in the same round, their
 * medians, and geometric means of those over all kernels but the half ones (the host's -O2 has no
 * half instructions). Processor time: of machine_run, from the second on, so that compilation is not
 * in it; of whole processes otherwise. */
#include "bare_image.h"

#include <machine/machine.h>
#include <populus/arena.h>
#include <populus/file.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5, SHORT = 40 };

typedef enum rival { INTERPRETER, TRANSLATOR, QEMU, NUM_RIVALS } rival;

static const struct {
  const char *key, *kernel_key;
} keys[NUM_RIVALS] = {[INTERPRETER] = {"interpreter_vs_host_o2", "interpreter"},
                      [TRANSLATOR] = {"translator_vs_host_o2", "translator"},
                      [QEMU] = {"qemu_vs_host_o2", "qemu"}};

static double thread_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static pop_error *load_machine(const char *path, machine_engine engine, machine **m)
{
  pop_target target;
  uint8_t *file, *memory;
  size_t size;
  *m = NULL;
  POP_TRY(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 1;
  POP_TRY(pop_file_read(path, MAX_FILE_BYTES, &file, &size));
  memory = pop_xcalloc(1, target.memory_bytes);
  pop_image_segment segments[MAX_SEGMENTS];
  pop_image image = make_image(&target, file, memory, segments);
  pop_error *error = machine_create(&target, &(machine_options){.engine = engine}, m);
  if (!error) error = machine_load(*m, &image, NULL);
  free(memory);
  free(file);
  return error;
}

static pop_error *time_machine(machine *m, uint32_t *checksum, double *seconds)
{
  double start = thread_seconds();
  POP_TRY(machine_run(m, 0, checksum));
  *seconds = thread_seconds() - start;
  return NULL;
}

/* Runs `command`; what it printed, or its exit status, is the checksum. */
static pop_error *time_process(char *const *command, uint32_t *checksum, double *seconds)
{
  int ends[2];
  if (pipe(ends)) return pop_error_new(POP_ERROR_SYSTEM, "no pipe");
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execvp(command[0], command);
    _exit(127);
  }
  close(ends[1]);
  char text[32] = "";
  ssize_t got = read(ends[0], text, sizeof text - 1);
  close(ends[0]);
  int status;
  struct rusage usage;
  if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status))
    return pop_error_new(POP_ERROR_SYSTEM, "%s did not end well", command[0]);
  *checksum = got > 0 ? (uint32_t)strtoul(text, NULL, 10) : (uint32_t)WEXITSTATUS(status);
  *seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
             (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
  return NULL;
}

static int compare_doubles(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct kernel {
  const char *name;
  machine *machines[2]; /* INTERPRETER, TRANSLATOR */
  double ratios[NUM_RIVALS][ROUNDS];
} kernel;

static pop_error *differ(const char *name, const char *who, uint32_t a, uint32_t b)
{
  return pop_error_new(POP_ERROR_INTERNAL, "%s: the checksum is %u, with %s %u", name, a, who, b);
}

static pop_error *run_round(kernel *k, int round)
{
  char host_path[64], linux_path[64];
  snprintf(host_path, sizeof host_path, "./%s.host", k->name);
  snprintf(linux_path, sizeof linux_path, "./%s.linux", k->name);
  char *host[] = {host_path, NULL}, cpu[] = "rv32,Zfh=true,zba=true,zbb=true";
  char *qemu[] = {(char[]){"qemu-riscv32"}, (char[]){"-cpu"}, cpu, linux_path, NULL};
  uint32_t host_sum, sum, short_sum;
  double host_seconds, seconds;
  POP_TRY(time_process(host, &host_sum, &host_seconds));
  POP_TRY(time_machine(k->machines[TRANSLATOR], &sum, &seconds));
  if (sum != host_sum) return differ(k->name, "the translator", host_sum, sum);
  k->ratios[TRANSLATOR][round] = seconds / host_seconds;
  POP_TRY(time_machine(k->machines[INTERPRETER], &short_sum, &seconds));
  k->ratios[INTERPRETER][round] = SHORT * seconds / host_seconds;
  POP_TRY(time_process(qemu, &sum, &seconds));
  if (sum != (short_sum & 255)) return differ(k->name, "qemu", short_sum & 255, sum);
  k->ratios[QEMU][round] = SHORT * seconds / host_seconds;
  return NULL;
}

static pop_error *measure_kernel(kernel *k)
{
  char path[64];
  uint32_t sum;
  double seconds;
  snprintf(path, sizeof path, "%s.tile", k->name);
  POP_TRY(load_machine(path, MACHINE_TRANSLATOR, &k->machines[TRANSLATOR]));
  POP_TRY(time_machine(k->machines[TRANSLATOR], &sum, &seconds));
  snprintf(path, sizeof path, "%s.short", k->name);
  POP_TRY(load_machine(path, MACHINE_INTERPRETER, &k->machines[INTERPRETER]));
  for (int round = 0; round < ROUNDS; round++) POP_TRY(run_round(k, round));
  return NULL;
}

static double median(double ratios[ROUNDS])
{
  qsort(ratios, ROUNDS, sizeof *ratios, compare_doubles);
  return ratios[ROUNDS / 2];
}

static void print_number(const char *name, const char *suffix, double value)
{
  printf("{\"name\": \"%s%s\", \"value\": %.3f, \"unit\": \"x host -O2\"}\n", name, suffix, value);
}

/* An empty vertex, called by translated code: nanoseconds. dispatch.tile calls it CALLS times. */
static pop_error *measure_dispatch(double *nanoseconds)
{
  enum { CALLS = 4096 * 1000 };
  machine *m;
  uint32_t sum;
  double seconds = 0, best = INFINITY;
  pop_error *error = load_machine("dispatch.tile", MACHINE_TRANSLATOR, &m);
  for (int round = 0; round <= ROUNDS && !error; round++) {
    error = time_machine(m, &sum, &seconds);
    if (round > 0 && seconds < best) best = seconds;
  }
  machine_free(m);
  *nanoseconds = best / CALLS * 1e9;
  return error;
}

static int complain(const char *name, pop_error *error)
{
  fprintf(stderr, "machine: %s: %s\n", name, pop_error_message(error));
  pop_error_free(error);
  return 1;
}

int main(int argc, char **argv)
{
  double logs[NUM_RIVALS] = {0}, worst = 0;
  int counted = 0;
  for (int i = 1; i < argc; i++) {
    kernel k = {.name = argv[i]};
    pop_error *error = measure_kernel(&k);
    for (int e = 0; e < 2; e++) machine_free(k.machines[e]);
    if (error) return complain(k.name, error);
    bool is_half = !strncmp(k.name, "half", 4);
    counted += !is_half;
    for (int r = 0; r < NUM_RIVALS; r++) {
      double value = median(k.ratios[r]);
      char name[64];
      snprintf(name, sizeof name, "%s_%s", keys[r].kernel_key, k.name);
      print_number(name, "_vs_host_o2", value);
      if (is_half) continue;
      logs[r] += log(value);
      if (r == TRANSLATOR && value > worst) worst = value;
    }
  }
  for (int r = 0; r < NUM_RIVALS && counted; r++)
    print_number(keys[r].key, "", exp(logs[r] / counted));
  print_number("translator_worst_vs_host_o2", "", worst);
  double nanoseconds;
  pop_error *error = measure_dispatch(&nanoseconds);
  if (error) return complain("dispatch", error);
  printf("{\"name\": \"dispatch_ns\", \"value\": %.1f, \"unit\": \"ns\"}\n", nanoseconds);
  return 0;
}
