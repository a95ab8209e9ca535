/* popexec: runs an archive of tile images without the program that made it.
 *
 *   arguments -> executable -> engine: load, connect streams to files, write files to handles, run,
 *   read handles to files
 *
 * `popc --link` makes a copy of it with an archive inside (populus/embed.h), which runs that.
 */
#include "list_json.h"
#include "profile_options.h"
#include "run_line.h"
#include "tensor_file.h"
#include "transfers.h"

#include <populus/data_dir.h>
#include <populus/embed.h>
#include <populus/file.h>
#include <populus/names.h>
#include <populus/out_of_memory.h>
#include <populus/profile.h>
#include <populus/standard_streams.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* volatile: in the file it is changed when an archive is linked in. */
__attribute__((section(POP_EMBED_RECORD_SECTION),
               used)) static const volatile pop_embed_record record = {.magic = POP_EMBED_MAGIC};

/* ---- what there is ---- */

/* ", in each of 4 replicas"; for one it is nothing. The caller frees. */
static char *say_replicas(uint32_t count, const char *how)
{
  return count > 1 ? pop_xasprintf(", %s %u replicas", how, count) : pop_xstrdup("");
}

static void put_name(const char *what, const char *name)
{
  printf("%s ", what);
  pop_write_name(name, stdout);
  fputs(": ", stdout);
}

static pop_error *list_handles(const pop_executable *executable)
{
  for (size_t i = 0; i < pop_executable_num_handles(executable); ++i) {
    pop_handle_info info;
    POP_TRY(pop_executable_handle(executable, i, &info));
    char *type = tensor_type_and_shape(info.type, info.shape, info.rank);
    char *replicas = say_replicas(info.num_replicas, "of");
    put_name(info.read ? "read" : "write", info.name);
    printf("%s%s, %zu bytes\n", type, replicas, info.bytes);
    free(replicas);
    free(type);
  }
  return NULL;
}

static pop_error *list_streams(const pop_executable *executable)
{
  for (size_t i = 0; i < pop_executable_num_streams(executable); ++i) {
    pop_stream_info info;
    POP_TRY(pop_executable_stream(executable, i, &info));
    char *type = tensor_type_and_shape(info.type, &info.num_elements, 1);
    char *replicas = say_replicas(info.num_replicas, info.broadcast   ? "the same for"
                                                     : info.to_device ? "for each of"
                                                                      : "from each of");
    put_name(info.to_device ? "stream in" : "stream out", info.name);
    printf("%s%s, %zu bytes a copy\n", type, replicas,
           info.num_elements * pop_type_bytes(info.type));
    free(replicas);
    free(type);
  }
  return NULL;
}

static pop_error *list_remote_buffers(const pop_executable *executable)
{
  for (size_t i = 0; i < pop_executable_num_remote_buffers(executable); ++i) {
    pop_remote_buffer_info info;
    POP_TRY(pop_executable_remote_buffer(executable, i, &info));
    const size_t shape[] = {info.repeats, info.num_elements};
    char *type = tensor_type_and_shape(info.type, shape, 2);
    char *replicas = say_replicas(info.num_replicas, "in each of");
    put_name("remote buffer", info.name);
    printf("%s%s, %zu bytes a row\n", type, replicas,
           info.num_elements * pop_type_bytes(info.type));
    free(replicas);
    free(type);
  }
  return NULL;
}

static pop_error *list(const pop_executable *executable)
{
  const pop_target *target = pop_executable_target(executable);
  uint32_t num_replicas = pop_executable_num_replicas(executable);
  printf("target %s: %u IPU%s, %u tiles\n", target->name, target->num_ipus,
         target->num_ipus == 1 ? "" : "s", pop_target_num_tiles(target));
  if (num_replicas > 1) printf("replicas: %u, each on such a target\n", num_replicas);
  printf("compiled by Populus %s\n", pop_executable_version(executable));
  for (size_t i = 0; i < pop_executable_num_programs(executable); ++i) {
    printf("program %zu: ", i);
    pop_write_name(pop_executable_program_name(executable, i), stdout);
    putchar('\n');
  }
  POP_TRY(list_handles(executable));
  POP_TRY(list_streams(executable));
  return list_remote_buffers(executable);
}

static pop_error *find_program(const pop_executable *executable, const char *name, size_t *found)
{
  char *end;
  size_t count = pop_executable_num_programs(executable), matches = 0;
  unsigned long long number = strtoull(name, &end, 10);
  for (size_t i = 0; i < count; ++i)
    if (strcmp(pop_executable_program_name(executable, i), name) == 0) {
      *found = i;
      ++matches;
    }
  if (matches == 1) return NULL;
  if (matches > 1)
    return pop_error_new(POP_ERROR_CONTROL_PROGRAM,
                         "%zu programs have the name '%s': say the number", matches, name);
  *found = (size_t)number;
  if (*name >= '0' && *name <= '9' && !*end && number < count) return NULL;
  return pop_error_new(POP_ERROR_CONTROL_PROGRAM,
                       "there is no program '%s': the archive has %zu; --list shows them", name,
                       count);
}

/* ---- running ---- */

enum { EXIT_INTERRUPTED = 130 };

static pop_error *choose_programs(const pop_executable *executable, const arguments *a,
                                  size_t *programs, size_t *count)
{
  if (!a->num_runs && pop_executable_num_programs(executable) > 1)
    return pop_error_new(POP_ERROR_USAGE,
                         "the archive has %zu programs: --run says which; --list shows them",
                         pop_executable_num_programs(executable));
  *count = a->num_runs ? a->num_runs : 1;
  for (size_t i = 0; i < a->num_runs; ++i)
    POP_TRY(find_program(executable, a->runs[i], &programs[i]));
  return NULL;
}

/* SIGINT ends the run, which then says where it was. A second one ends the process. */
static pop_engine *running;
static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
  interrupted = 1;
  signal(number, SIG_DFL);
  pop_engine_stop(running); /* made for it; NOLINT(bugprone-signal-handler,cert-sig30-c) */
}

static pop_error *run_program(pop_engine *engine, size_t program)
{
  pop_error *error = interrupted ? NULL : pop_engine_run(engine, program);
  if (interrupted && !error)
    error = pop_error_new(POP_ERROR_RUNTIME, "interrupted between two runs");
  return error;
}

static pop_error *run_between_files(const pop_executable *executable, pop_engine *engine,
                                    const arguments *a, const size_t *programs, size_t count)
{
  POP_TRY(pop_engine_load(engine));
  POP_TRY(transfers_write(executable, engine, a));
  run_line *line = run_line_start(engine, a->repeat * count, a->quiet);
  pop_error *error = NULL;
  running = engine;
  signal(SIGINT, interrupt);
  for (uint64_t n = 0; n < a->repeat && !error; ++n)
    for (size_t i = 0; i < count && !error; ++i) {
      run_line_next(line);
      error = run_program(engine, programs[i]);
    }
  signal(SIGINT, SIG_DFL);
  run_line_end(line);
  return error ? error : transfers_read(executable, engine, a);
}

static pop_error *run_programs(const pop_executable *executable, pop_engine *engine, arguments *a)
{
  size_t *programs = pop_xcalloc(a->num_runs + 1, sizeof *programs), count = 0;
  pop_error *error = choose_programs(executable, a, programs, &count);
  if (!error) error = transfers_check(executable, a);
  if (!error) error = transfers_connect(executable, engine, a);
  if (!error) error = run_between_files(executable, engine, a, programs, count);
  free(programs);
  return error;
}

static pop_error *say_what_is_measured(const pop_engine *engine, const arguments *a)
{
  pop_profile *profile;
  POP_TRY(pop_engine_execution_profile(engine, &profile));
  const char *mode =
      pop_profile_as_string(pop_profile_get(pop_profile_root(profile), "profilerMode"));
  if (strcmp(mode, "NONE") == 0)
    fprintf(
        stderr,
        "%s: the archive does not measure its runs: compile it with the option debug.instrument "
        "for an execution profile\n",
        a->program);
  pop_profile_free(profile);
  return NULL;
}

/* Also of runs that ended in an error, which the caller gets. */
static pop_error *write_profile(pop_engine *engine, const arguments *a, pop_error *error)
{
  if (!a->profile) return error;
  pop_error *further = pop_engine_write_execution_reports(engine);
  if (!error) return further;
  pop_error_free(further);
  return error;
}

static pop_error *run(pop_executable *executable, arguments *a)
{
  pop_engine *engine;
  pop_option *options;
  size_t num_options;
  POP_TRY(profile_options(a, &options, &num_options));
  pop_error *refused = pop_engine_create_from_executable(executable, options, num_options, &engine);
  free(options);
  POP_TRY(refused);
  pop_error *error = a->memory ? pop_engine_print_memory(engine, stdout) : NULL;
  if (!error) error = write_profile(engine, a, run_programs(executable, engine, a));
  if (!error && a->profile) error = say_what_is_measured(engine, a);
  if (!error && a->cycles)
    printf("cycles: %llu\ninstructions: %llu\n", (unsigned long long)pop_engine_cycles(engine),
           (unsigned long long)pop_engine_instructions(engine));
  pop_engine_free(engine);
  return error;
}

/* The data folder of the Populus that linked the archive into this program, unless the
 * environment names another. */
static void set_data_dir(void)
{
  char folder[POP_EMBED_DATA_DIR_BYTES];
  for (size_t i = 0; i < sizeof record.data_dir; ++i) folder[i] = record.data_dir[i];
  folder[sizeof record.data_dir] = '\0';
  if (access(folder, R_OK | X_OK) == 0) setenv("POPULUS_DATA_DIR", folder, false);
}

static pop_error *load_linked(const arguments *a, pop_executable **executable)
{
  bool found;
  uint64_t offset, size;
  const char *self = pop_own_program_to_open();
  set_data_dir();
  POP_TRY(pop_embed_find(self, &found, &offset, &size));
  if (found) return pop_executable_load_part(self, offset, size, a->program, executable);
  return pop_error_new(
      POP_ERROR_FILE_LOAD,
      "the archive that popc --link has put into this program is not there any more: GNU "
      "strip leaves it, others need --keep-section=" POP_EMBED_ARCHIVE_SECTION);
}

static pop_error *execute(void *context)
{
  arguments *a = context;
  pop_executable *executable;
  POP_TRY(a->linked ? load_linked(a, &executable) : pop_executable_load(a->archive, &executable));
  pop_error *error = a->json   ? list_json(executable, a->pretty)
                     : a->list ? list(executable)
                               : run(executable, a);
  pop_executable_free(executable);
  return error;
}

int main(int argc, char **argv)
{
  const char *called = argc ? argv[0] : "popexec", *slash = strrchr(called, '/');
  arguments a = {.program = slash ? slash + 1 : called, .linked = record.has_archive, .repeat = 1};
  bool done = false;
  pop_error *error = pop_standard_streams_open();
  if (!error) error = arguments_parse(argc, argv, &a, &done);
  if (!error && !done) error = pop_with_memory("running an archive", execute, &a);
  if (!error) error = pop_standard_output_flush();
  int status = interrupted ? EXIT_INTERRUPTED : pop_error_exit_status(error);
  if (error) fprintf(stderr, "%s: %s\n", a.program, pop_error_message(error));
  pop_error_free(error);
  arguments_free(&a);
  return status;
}
