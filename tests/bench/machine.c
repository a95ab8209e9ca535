/* machine <kernel>...: engines of the software IPU beside the host, in one run.
 *
 * For each kernel machine.sh makes these files in the working folder from kernels/machine.c:
 *   <kernel>.host        native program, host -O2, which prints its checksum
 *   <kernel>.tile        for the software IPU, as many rounds
 *   <kernel>.gp          a vertex for the CPU device, as many rounds
 *   <kernel>.host_short, <kernel>.short, <kernel>.linux   SHORT times fewer rounds: the host, the
 *                        software IPU, qemu-riscv32 (whose checksum is what fits an exit status)
 *   <kernel>.linux_start the same without rounds: the start of qemu-riscv32 is not counted
 *
 *   dispatch.tile        calls of an empty vertex
 *
 * The host and all entries of the table `rivals` run in rotation, ROUNDS times. Numbers are ratios
 * to the host in the same round, their medians, and the geometric means of those over all kernels
 * but the half ones (the host's -O2 has no half instructions). Times are processor time: of
 * machine_run from the second run on, so that compilation is not included; of pop_engine_run
 * likewise; of whole processes otherwise. Everything runs on one thread. */
#include "bare_image.h"

#include <machine/machine.h>
#include <populus/arena.h>
#include <populus/file.h>
#include <populus/populus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5, SHORT = 40 };

typedef struct kernel kernel;

/* One line for each: key of its geometric mean; how its lines for single kernels begin; the file that
 * it runs; rounds: SHORT times fewer or not; bits of the checksum that come back; how it runs. */
typedef struct rival {
  const char *key, *name, *suffix;
  bool is_short;
  uint32_t sum_mask;
  pop_error *(*run)(kernel *k, int rival, uint32_t *checksum, double *seconds);
} rival;

static pop_error *run_interpreter(kernel *k, int rival, uint32_t *checksum, double *seconds);
static pop_error *run_translator(kernel *k, int rival, uint32_t *checksum, double *seconds);
static pop_error *run_cpu_device(kernel *k, int rival, uint32_t *checksum, double *seconds);
static pop_error *run_qemu(kernel *k, int rival, uint32_t *checksum, double *seconds);

static const rival rivals[] = {
    {"interpreter_vs_host_o2", "interpreter", "short", true, UINT32_MAX, run_interpreter},
    {"translator_vs_host_o2", "translator", "tile", false, UINT32_MAX, run_translator},
    {"cpu_device_vs_host_o2", "cpu_device", "gp", false, UINT32_MAX, run_cpu_device},
    {"qemu_vs_host_o2", "qemu", "linux", true, 255, run_qemu},
};

enum { NUM_RIVALS = sizeof rivals / sizeof rivals[0] };

struct kernel {
  const char *name;
  uint32_t sums[2];              /* the host's checksum; [1] of the short run */
  machine *machines[NUM_RIVALS]; /* loaded in the first run */
  pop_engine *cpu_device;        /* the same */
  double ratios[NUM_RIVALS][ROUNDS];
};

/* Processor time. */
static double seconds_of(clockid_t clock)
{
  struct timespec now;
  clock_gettime(clock, &now);
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
  double start = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  POP_TRY(machine_run(m, 0, checksum));
  *seconds = seconds_of(CLOCK_THREAD_CPUTIME_ID) - start;
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

/* The rivals */

static char *path_of(const kernel *k, const char *suffix)
{
  return pop_xasprintf("./%s.%s", k->name, suffix);
}

static pop_error *run_host(const kernel *k, const char *suffix, uint32_t *sum, double *seconds)
{
  char *path = path_of(k, suffix);
  pop_error *error = time_process((char *[]){path, NULL}, sum, seconds);
  free(path);
  return error;
}

/* The first run loads the program and, if the engine compiles, compiles it: it is not timed. */
static pop_error *run_machine(kernel *k, int r, machine_engine engine, uint32_t *sum,
                              double *seconds)
{
  if (!k->machines[r]) {
    char *path = path_of(k, rivals[r].suffix);
    pop_error *error = load_machine(path, engine, &k->machines[r]);
    free(path);
    if (error) return error;
    POP_TRY(time_machine(k->machines[r], sum, seconds));
  }
  return time_machine(k->machines[r], sum, seconds);
}

static pop_error *run_interpreter(kernel *k, int r, uint32_t *sum, double *seconds)
{
  return run_machine(k, r, MACHINE_INTERPRETER, sum, seconds);
}

static pop_error *run_translator(kernel *k, int r, uint32_t *sum, double *seconds)
{
  return run_machine(k, r, MACHINE_TRANSLATOR, sum, seconds);
}

/* One vertex with one output. */
static pop_error *load_cpu_device(const char *codelets, pop_engine **engine)
{
  pop_device *device = pop_device_create_cpu();
  pop_graph *graph = pop_graph_create(pop_device_target(device));
  pop_device_free(device);
  pop_graph_add_codelets(graph, codelets, NULL);
  pop_tensor sum = pop_graph_add_variable(graph, POP_UNSIGNED_INT, (const size_t[]){1}, 1, "sum");
  pop_graph_set_tile_mapping(graph, sum, 0);
  pop_graph_create_host_read(graph, "sum", sum);
  pop_compute_set set = pop_graph_add_compute_set(graph, "kernel");
  pop_vertex vertex = pop_graph_add_vertex(graph, set, "Kernel");
  pop_graph_set_vertex_tile(graph, vertex, 0);
  pop_graph_connect(graph, vertex, "sum", sum);
  pop_program program = pop_program_execute(graph, set, "kernel");
  pop_error *error = pop_engine_create(graph, &program, 1, NULL, 0, engine);
  pop_graph_free(graph);
  return error ? error : pop_engine_load(*engine);
}

/* The process's time is taken, as the engine may use any of its threads. */
static pop_error *run_cpu_device(kernel *k, int r, uint32_t *sum, double *seconds)
{
  if (!k->cpu_device) {
    char *path = path_of(k, rivals[r].suffix);
    pop_error *error = load_cpu_device(path, &k->cpu_device);
    free(path);
    if (error) return error;
    POP_TRY(pop_engine_run(k->cpu_device, 0));
  }
  double start = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  POP_TRY(pop_engine_run(k->cpu_device, 0));
  *seconds = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - start;
  return pop_engine_read_tensor(k->cpu_device, "sum", sum, sizeof *sum);
}

static pop_error *run_qemu(kernel *k, int r, uint32_t *sum, double *seconds)
{
  char program[] = "qemu-riscv32", option[] = "-cpu", cpu[] = "rv32,Zfh=true,zba=true,zbb=true";
  char *path = path_of(k, rivals[r].suffix), *start_path = path_of(k, "linux_start");
  uint32_t no_sum;
  double start = 0;
  pop_error *error =
      time_process((char *[]){program, option, cpu, start_path, NULL}, &no_sum, &start);
  if (!error) error = time_process((char *[]){program, option, cpu, path, NULL}, sum, seconds);
  *seconds -= start;
  free(path);
  free(start_path);
  return error;
}

static pop_error *run_rival(kernel *k, int r, int round, double host_seconds)
{
  const rival *it = &rivals[r];
  uint32_t sum, expected = k->sums[it->is_short] & it->sum_mask;
  double seconds;
  POP_TRY(it->run(k, r, &sum, &seconds));
  if (sum != expected)
    return pop_error_new(POP_ERROR_INTERNAL, "%s: the checksum is %u, with the %s %u", k->name,
                         expected, it->name, sum);
  k->ratios[r][round] = (it->is_short ? SHORT : 1) * seconds / host_seconds;
  return NULL;
}

static pop_error *measure_kernel(kernel *k)
{
  double seconds;
  POP_TRY(run_host(k, "host_short", &k->sums[1], &seconds));
  for (int round = 0; round < ROUNDS; round++) {
    POP_TRY(run_host(k, "host", &k->sums[0], &seconds));
    for (int r = 0; r < NUM_RIVALS; r++) POP_TRY(run_rival(k, r, round, seconds));
  }
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

/* Sums over kernels. */
typedef struct summary {
  double logs[NUM_RIVALS], worst[NUM_RIVALS];
  int count;
} summary;

static void print_kernel(kernel *k, summary *all)
{
  bool is_half = !strncmp(k->name, "half", 4);
  all->count += !is_half;
  for (int r = 0; r < NUM_RIVALS; r++) {
    double value = median(k->ratios[r]);
    char name[64];
    snprintf(name, sizeof name, "%s_%s", rivals[r].name, k->name);
    print_number(name, "_vs_host_o2", value);
    if (is_half) continue;
    all->logs[r] += log(value);
    all->worst[r] = fmax(all->worst[r], value);
  }
}

static void print_summary(const summary *all)
{
  for (int r = 0; r < NUM_RIVALS && all->count; r++)
    print_number(rivals[r].key, "", exp(all->logs[r] / all->count));
  for (int r = 0; r < NUM_RIVALS; r++)
    if (rivals[r].run == run_translator)
      print_number("translator_worst_vs_host_o2", "", all->worst[r]);
}

int main(int argc, char **argv)
{
  summary all = {0};
  for (int i = 1; i < argc; i++) {
    kernel k = {.name = argv[i]};
    pop_error *error = measure_kernel(&k);
    for (int r = 0; r < NUM_RIVALS; r++) machine_free(k.machines[r]);
    pop_engine_free(k.cpu_device);
    if (error) return complain(k.name, error);
    print_kernel(&k, &all);
  }
  print_summary(&all);
  double nanoseconds;
  pop_error *error = measure_dispatch(&nanoseconds);
  if (error) return complain("dispatch", error);
  printf("{\"name\": \"dispatch_ns\", \"value\": %.1f, \"unit\": \"ns\"}\n", nanoseconds);
  return 0;
}
