/* interpreter <name> <program.elf> <start.elf> <rival> [argument...]: instruction rates of one program.
 *
 * Runs a static executable five times on one tile of the software IPU up to its first ecall, and in
 * rotation with the rival (`<rival> [argument...] <program.elf>`, a Linux emulator that carries out
 * that ecall, exit). Checks that both have the same result, and prints one object for run.sh. Times
 * are processor time: here of machine_run alone (the interpreter alone, one thread); for the rival
 * of the whole process, less the time with <start.elf>, which is the same program with no rounds.
 * interpreter.sh makes the programs. */
#include "bare_image.h"

#include <machine/machine.h>
#include <populus/arena.h>
#include <populus/file.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5 };

typedef struct result {
  uint32_t value; /* a0 at the ecall; the rival's exit status has its lowest byte */
  uint64_t instructions;
  double seconds;
} result;

static double processor_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int complain(pop_error *error)
{
  fprintf(stderr, "interpreter: %s\n", pop_error_message(error));
  pop_error_free(error);
  return 1;
}

static pop_error *run_here(const uint8_t *file, result *r)
{
  pop_target target;
  POP_TRY(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 1;
  machine *m;
  POP_TRY(machine_create(&target, NULL, &m));
  uint8_t *memory = pop_xcalloc(1, target.memory_bytes);
  pop_image_segment segments[MAX_SEGMENTS];
  pop_image image = make_image(&target, file, memory, segments);
  pop_error *error = machine_load(m, &image, NULL);
  free(memory);
  if (!error) {
    uint32_t event;
    double start = processor_seconds();
    error = machine_run(m, 0, &event);
    r->seconds = processor_seconds() - start;
    if (machine_get_fault(m)->kind == MACHINE_FAULT_TRAP) {
      pop_error_free(error);
      error = NULL;
      r->value = machine_get_fault(m)->address;
      r->instructions = machine_get_counters(m).instructions;
    }
  }
  machine_free(m);
  return error;
}

/* `command`: NULL-terminated arguments. */
static pop_error *run_rival(char **command, result *r)
{
  pid_t child = fork();
  if (child == 0) {
    execvp(command[0], command);
    _exit(127);
  }
  int status;
  struct rusage usage;
  if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status))
    return pop_error_new(POP_ERROR_SYSTEM, "%s did not end well", command[0]);
  r->value = (uint32_t)WEXITSTATUS(status);
  r->seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
  return NULL;
}

static int compare_seconds(const void *a, const void *b)
{
  double x = ((const result *)a)->seconds, y = ((const result *)b)->seconds;
  return (x > y) - (x < y);
}

static double median_seconds(result results[ROUNDS])
{
  qsort(results, ROUNDS, sizeof *results, compare_seconds);
  return results[ROUNDS / 2].seconds;
}

/* `program`: where the command has the program's name. */
static pop_error *measure(const char *name, const uint8_t *file, char **command, char **program,
                          char *start_program)
{
  result here[ROUNDS] = {{0}}, rival[ROUNDS] = {{0}}, start[ROUNDS] = {{0}};
  char *whole_program = *program;
  for (int i = 0; i < ROUNDS; i++) {
    *program = start_program;
    POP_TRY(run_rival(command, &start[i]));
    *program = whole_program;
    POP_TRY(run_rival(command, &rival[i]));
    POP_TRY(run_here(file, &here[i]));
    if ((here[i].value & 255) != rival[i].value)
      return pop_error_new(POP_ERROR_INTERNAL, "%s: the result is %u here, %u with %s", name,
                           here[i].value & 255, rival[i].value, command[0]);
  }
  double mips = (double)here[0].instructions / 1e6 / median_seconds(here);
  double rival_seconds = median_seconds(rival) - median_seconds(start);
  double rival_mips = (double)here[0].instructions / 1e6 / rival_seconds;
  printf("{\"name\": \"interpreter_mips_%s\", \"value\": %.0f, \"unit\": \"MIPS\", \"rival\": "
         "\"%s\", \"rival_value\": %.0f, \"ratio\": %.2f}\n",
         name, mips, command[0], rival_mips, mips / rival_mips);
  return NULL;
}

/* The arguments behind the programs' names, and the program, last, at *count. */
static char **make_command(int argc, char **argv, int *count)
{
  char **command = pop_xcalloc((size_t)argc, sizeof *command);
  *count = 0;
  for (int i = 4; i < argc; i++) command[(*count)++] = argv[i];
  command[*count] = argv[2];
  return command;
}

int main(int argc, char **argv)
{
  if (argc < 5) {
    fprintf(stderr, "usage: interpreter <name> <program.elf> <start.elf> <rival> [argument...]\n");
    return 2;
  }
  uint8_t *bytes;
  size_t size;
  pop_error *error = pop_file_read(argv[2], MAX_FILE_BYTES, &bytes, &size);
  if (error) return complain(error);
  int count;
  char **command = make_command(argc, argv, &count);
  error = measure(argv[1], bytes, command, &command[count], argv[3]);
  free(command);
  free(bytes);
  return error ? complain(error) : 0;
}
