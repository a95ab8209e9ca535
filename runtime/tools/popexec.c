/* popexec: runs an archive of tile images without the program that made it.
 *
 *   arguments -> executable -> engine: load, connect streams to files, write files to handles, run,
 *   read handles to files
 */
#include "tensor_file.h"

#include <errno.h>
#include <getopt.h>
#include <populus/names.h>
#include <populus/populus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: popexec [options] archive.a\n"
    "Runs an archive of tile images that target.saveArchive or pop_executable_save has written.\n"
    "\n"
    "  -l, --list              say what the archive holds, and run nothing\n"
    "  -w, --write HANDLE=FILE write the file's elements to the handle before the first run\n"
    "  -r, --read HANDLE=FILE  read the handle's elements to the file after the last run\n"
    "      --in STREAM=FILE    feed the stream from the file, again from its start when it is used "
    "up\n"
    "      --out STREAM=FILE   collect what the stream brings, all copies, in the file\n"
    "      --run PROGRAM       run the program with this number or name; several in order\n"
    "                          (default: the only one)\n"
    "      --repeat N          run them N times\n"
    "      --memory            print the memory summary\n"
    "      --cycles            print the device's cycles and instructions\n"
    "  -h, --help              print this\n"
    "      --version           print the version\n"
    "\n"
    "A FILE that ends in .npy holds type and shape, any other the bare elements, row-major.\n"
    "POPLAR_ENGINE_OPTIONS, POPULUS_TILE_ENGINE and POPULUS_TILE_THREADS count here, too.\n"
    "Exit status: 0 done, 1 input at fault, 2 wrong command line, 3 the device program faulted,\n"
    "4 files, memory, limits.\n";

/* HANDLE=FILE or STREAM=FILE */
typedef struct transfer {
  const char *handle, *file;
  pop_bytes data; /* of a stream */
} transfer;

typedef struct transfers {
  transfer *list;
  size_t count, capacity;
} transfers;

typedef struct arguments {
  const char *archive;
  bool list, memory, cycles;
  transfers writes, reads, ins, outs;
  const char **runs;
  size_t num_runs, runs_capacity;
  uint64_t repeat;
} arguments;

/* ---- command line ---- */

enum {
  OPTION_RUN = 256,
  OPTION_IN,
  OPTION_OUT,
  OPTION_REPEAT,
  OPTION_MEMORY,
  OPTION_CYCLES,
  OPTION_VERSION
};

static const struct option long_options[] = {
    {"list", no_argument, NULL, 'l'},
    {"write", required_argument, NULL, 'w'},
    {"read", required_argument, NULL, 'r'},
    {"in", required_argument, NULL, OPTION_IN},
    {"out", required_argument, NULL, OPTION_OUT},
    {"run", required_argument, NULL, OPTION_RUN},
    {"repeat", required_argument, NULL, OPTION_REPEAT},
    {"memory", no_argument, NULL, OPTION_MEMORY},
    {"cycles", no_argument, NULL, OPTION_CYCLES},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static pop_error *usage_error(const char *what, const char *given)
{
  return pop_error_new(POP_ERROR_USAGE, "%s '%s'; popexec --help says what there is", what, given);
}

/* Cuts `text`, an argument of the command line, at the '='. */
static pop_error *add_transfer(char *text, transfers *to)
{
  char *equals = strrchr(text, '=');
  if (!equals || equals == text || !equals[1])
    return usage_error("NAME=FILE is expected instead of", text);
  *equals = '\0';
  pop_push(to->list, to->count, to->capacity, (transfer){.handle = text, .file = equals + 1});
  return NULL;
}

static pop_error *parse_count(const char *text, uint64_t *count)
{
  char *end;
  errno = 0;
  *count = strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || errno)
    return usage_error("--repeat takes a number of times, not", text);
  return NULL;
}

static pop_error *take_option(int option, arguments *a)
{
  switch (option) {
  case 'l':
    a->list = true;
    return NULL;
  case 'w':
    return add_transfer(optarg, &a->writes);
  case 'r':
    return add_transfer(optarg, &a->reads);
  case OPTION_IN:
    return add_transfer(optarg, &a->ins);
  case OPTION_OUT:
    return add_transfer(optarg, &a->outs);
  case OPTION_RUN:
    pop_push(a->runs, a->num_runs, a->runs_capacity, optarg);
    return NULL;
  case OPTION_REPEAT:
    return parse_count(optarg, &a->repeat);
  case OPTION_MEMORY:
    a->memory = true;
    return NULL;
  default: /* OPTION_CYCLES: the table has no other */
    a->cycles = true;
    return NULL;
  }
}

/* *done: help or version has been printed. */
static pop_error *parse(int argc, char **argv, arguments *a, bool *done)
{
  int option;
  opterr = 0;
  while ((option = getopt_long(argc, argv, ":lw:r:h", long_options, NULL)) != -1) {
    if (option == 'h' || option == OPTION_VERSION) {
      fputs(option == 'h' ? usage : "popexec, Populus version " POPULUS_VERSION "\n", stdout);
      *done = true;
      return NULL;
    }
    if (option == '?' || option == ':')
      return usage_error(option == ':' ? "an argument is missing behind" : "there is no option",
                         argv[optind - 1]);
    POP_TRY(take_option(option, a));
  }
  if (optind == argc) return pop_error_new(POP_ERROR_USAGE, "no archive is given\n%s", usage);
  if (optind + 1 < argc) return usage_error("one archive only, and not also", argv[optind + 1]);
  a->archive = argv[optind];
  return NULL;
}

static void free_transfers(transfers *t)
{
  for (size_t i = 0; i < t->count; ++i) pop_bytes_free(&t->list[i].data);
  free(t->list);
}

static void free_arguments(arguments *a)
{
  free_transfers(&a->writes);
  free_transfers(&a->reads);
  free_transfers(&a->ins);
  free_transfers(&a->outs);
  free(a->runs);
}

/* ---- what there is ---- */

static pop_error *list(const pop_executable *executable)
{
  const pop_target *target = pop_executable_target(executable);
  printf("target %s: %u IPU%s, %u tiles\ncompiled by Populus %s\n", target->name, target->num_ipus,
         target->num_ipus == 1 ? "" : "s", pop_target_num_tiles(target),
         pop_executable_version(executable));
  for (size_t i = 0; i < pop_executable_num_programs(executable); ++i)
    printf("program %zu: %s\n", i, pop_executable_program_name(executable, i));
  for (size_t i = 0; i < pop_executable_num_handles(executable); ++i) {
    pop_handle_info info;
    POP_TRY(pop_executable_handle(executable, i, &info));
    char *type = tensor_type_and_shape(info.type, info.shape, info.rank);
    printf("%s %s: %s, %zu bytes\n", info.read ? "read" : "write", info.name, type, info.bytes);
    free(type);
  }
  for (size_t i = 0; i < pop_executable_num_streams(executable); ++i) {
    pop_stream_info info;
    POP_TRY(pop_executable_stream(executable, i, &info));
    char *type = tensor_type_and_shape(info.type, &info.num_elements, 1);
    printf("stream %s %s: %s, %zu bytes a copy\n", info.to_device ? "in" : "out", info.name, type,
           info.num_elements * pop_type_bytes(info.type));
    free(type);
  }
  return NULL;
}

/* `names` are those that there are. */
static pop_error *unknown_name(const char *what, const char *name, const char *purpose,
                               const char **names, size_t count)
{
  const char *near = pop_nearest_name(name, names, count);
  return pop_error_new(POP_ERROR_UNKNOWN_HANDLE,
                       "the archive has no %s '%s' to %s%s%s%s; --list shows all", what, name,
                       purpose, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static pop_error *find_handle(const pop_executable *executable, const char *name, bool read,
                              tensor_use *found)
{
  size_t count = pop_executable_num_handles(executable), num_names = 0;
  const char **names = pop_xcalloc(count + 1, sizeof *names);
  pop_error *error = NULL;
  *found = (tensor_use){0};
  for (size_t i = 0; i < count && !error && !found->name; ++i) {
    pop_handle_info info;
    error = pop_executable_handle(executable, i, &info);
    if (error || info.read != read) continue;
    names[num_names++] = info.name;
    if (strcmp(info.name, name) == 0)
      *found = (tensor_use){.what = "handle",
                            .name = info.name,
                            .type = info.type,
                            .rank = info.rank,
                            .shape = info.shape,
                            .bytes = info.bytes};
  }
  if (!error && !found->name)
    error = unknown_name("handle", name, read ? "read" : "write", names, num_names);
  free(names);
  return error;
}

/* found->shape is `num_elements`. */
static pop_error *find_stream(const pop_executable *executable, const char *name, bool to_device,
                              tensor_use *found, size_t *num_elements)
{
  size_t count = pop_executable_num_streams(executable), num_names = 0;
  const char **names = pop_xcalloc(count + 1, sizeof *names);
  pop_error *error = NULL;
  *found = (tensor_use){0};
  for (size_t i = 0; i < count && !error && !found->name; ++i) {
    pop_stream_info info;
    error = pop_executable_stream(executable, i, &info);
    if (error || info.to_device != to_device) continue;
    names[num_names++] = info.name;
    if (strcmp(info.name, name) != 0) continue;
    *num_elements = info.num_elements;
    *found = (tensor_use){.what = "stream",
                          .name = info.name,
                          .type = info.type,
                          .rank = 1,
                          .shape = num_elements,
                          .bytes = info.num_elements * pop_type_bytes(info.type),
                          .repeats = true};
  }
  if (!error && !found->name)
    error = unknown_name("stream", name, to_device ? "feed" : "collect", names, num_names);
  free(names);
  return error;
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

/* ---- handles ---- */

static pop_error *write_handle(const pop_executable *executable, pop_engine *engine,
                               const transfer *t)
{
  tensor_use use;
  uint8_t *bytes;
  size_t start, size;
  POP_TRY(find_handle(executable, t->handle, false, &use));
  POP_TRY(tensor_file_read(t->file, &use, &bytes, &start, &size));
  pop_error *error = pop_engine_write_tensor(engine, t->handle, bytes + start, use.bytes);
  free(bytes);
  return error;
}

static pop_error *read_handle(const pop_executable *executable, pop_engine *engine,
                              const transfer *t)
{
  tensor_use use;
  POP_TRY(find_handle(executable, t->handle, true, &use));
  uint8_t *data = malloc(use.bytes ? use.bytes : 1);
  if (!data)
    return pop_error_new(POP_ERROR_MEMORY, "no memory for the %zu bytes of handle '%s'", use.bytes,
                         t->handle);
  pop_error *error = pop_engine_read_tensor(engine, t->handle, data, use.bytes);
  if (!error) error = tensor_file_write(t->file, &use, data, use.bytes);
  free(data);
  return error;
}

/* ---- streams ---- */

static pop_error *connect_in(const pop_executable *executable, pop_engine *engine, transfer *t)
{
  tensor_use use;
  uint8_t *bytes;
  size_t start, size, num_elements;
  POP_TRY(find_stream(executable, t->handle, true, &use, &num_elements));
  POP_TRY(tensor_file_read(t->file, &use, &bytes, &start, &size));
  t->data = (pop_bytes){.data = bytes, .size = size, .capacity = size};
  return pop_engine_connect_stream(engine, t->handle, bytes + start, bytes + size);
}

/* One copy of an output stream. */
typedef struct collector {
  pop_bytes *data;
  size_t bytes;
} collector;

static int collect(void *context, void *data)
{
  collector *c = context;
  if (!pop_bytes_try_reserve(c->data, c->bytes)) return ENOMEM;
  pop_bytes_append(c->data, data, c->bytes);
  return 0;
}

static pop_error *connect_out(const pop_executable *executable, pop_engine *engine, transfer *t,
                              collector *to)
{
  tensor_use use;
  size_t num_elements;
  POP_TRY(find_stream(executable, t->handle, false, &use, &num_elements));
  *to = (collector){&t->data, use.bytes};
  const pop_stream_callback callback = {.fetch = collect, .context = to};
  return pop_engine_connect_stream_callback(engine, t->handle, &callback);
}

static pop_error *write_out(const pop_executable *executable, const transfer *t)
{
  tensor_use use;
  size_t num_elements;
  POP_TRY(find_stream(executable, t->handle, false, &use, &num_elements));
  return tensor_file_write(t->file, &use, t->data.data, t->data.size);
}

static bool is_given(const transfers *t, const char *name)
{
  for (size_t i = 0; i < t->count; ++i)
    if (strcmp(t->list[i].handle, name) == 0) return true;
  return false;
}

static pop_error *check_streams(const pop_executable *executable, const arguments *a)
{
  for (size_t i = 0; i < pop_executable_num_streams(executable); ++i) {
    pop_stream_info info;
    POP_TRY(pop_executable_stream(executable, i, &info));
    if (info.is_used && !is_given(info.to_device ? &a->ins : &a->outs, info.name))
      return pop_error_new(POP_ERROR_USAGE, "stream '%s' needs a file: --%s %s=FILE", info.name,
                           info.to_device ? "in" : "out", info.name);
  }
  return NULL;
}

static pop_error *connect_streams(const pop_executable *executable, pop_engine *engine,
                                  const arguments *a, collector *collectors)
{
  for (size_t i = 0; i < a->ins.count; ++i)
    POP_TRY(connect_in(executable, engine, &a->ins.list[i]));
  for (size_t i = 0; i < a->outs.count; ++i)
    POP_TRY(connect_out(executable, engine, &a->outs.list[i], &collectors[i]));
  return NULL;
}

/* ---- running ---- */

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

/* What is misspelt is said before anything has run. */
static pop_error *check_handles(const pop_executable *executable, const arguments *a)
{
  tensor_use use;
  for (size_t i = 0; i < a->writes.count; ++i)
    POP_TRY(find_handle(executable, a->writes.list[i].handle, false, &use));
  for (size_t i = 0; i < a->reads.count; ++i)
    POP_TRY(find_handle(executable, a->reads.list[i].handle, true, &use));
  return check_streams(executable, a);
}

static pop_error *run_between_files(const pop_executable *executable, pop_engine *engine,
                                    const arguments *a, const size_t *programs, size_t count)
{
  POP_TRY(pop_engine_load(engine));
  for (size_t i = 0; i < a->writes.count; ++i)
    POP_TRY(write_handle(executable, engine, &a->writes.list[i]));
  for (uint64_t n = 0; n < a->repeat; ++n)
    for (size_t i = 0; i < count; ++i) POP_TRY(pop_engine_run(engine, programs[i]));
  for (size_t i = 0; i < a->reads.count; ++i)
    POP_TRY(read_handle(executable, engine, &a->reads.list[i]));
  for (size_t i = 0; i < a->outs.count; ++i) POP_TRY(write_out(executable, &a->outs.list[i]));
  return NULL;
}

static pop_error *run_programs(const pop_executable *executable, pop_engine *engine,
                               const arguments *a)
{
  size_t *programs = pop_xcalloc(a->num_runs + 1, sizeof *programs), count = 0;
  collector *collectors = pop_xcalloc(a->outs.count + 1, sizeof *collectors);
  pop_error *error = choose_programs(executable, a, programs, &count);
  if (!error) error = check_handles(executable, a);
  if (!error) error = connect_streams(executable, engine, a, collectors);
  if (!error) error = run_between_files(executable, engine, a, programs, count);
  free(programs);
  free(collectors);
  return error;
}

static pop_error *run(pop_executable *executable, const arguments *a)
{
  pop_engine *engine;
  POP_TRY(pop_engine_create_from_executable(executable, NULL, 0, &engine));
  pop_error *error = a->memory ? pop_engine_print_memory(engine, stdout) : NULL;
  if (!error) error = run_programs(executable, engine, a);
  if (!error && a->cycles)
    printf("cycles: %llu\ninstructions: %llu\n", (unsigned long long)pop_engine_cycles(engine),
           (unsigned long long)pop_engine_instructions(engine));
  pop_engine_free(engine);
  return error;
}

static pop_error *flush_output(void)
{
  if (fflush(stdout) == 0 && !ferror(stdout)) return NULL;
  return pop_error_errno(errno, "cannot write to standard output");
}

static pop_error *execute(const arguments *a)
{
  pop_executable *executable;
  POP_TRY(pop_executable_load(a->archive, &executable));
  pop_error *error = a->list ? list(executable) : run(executable, a);
  pop_executable_free(executable);
  return error;
}

int main(int argc, char **argv)
{
  arguments a = {.repeat = 1};
  bool done = false;
  pop_error *error = parse(argc, argv, &a, &done);
  if (!error && !done) error = execute(&a);
  if (!error) error = flush_output();
  int status = pop_error_exit_status(error);
  if (error) fprintf(stderr, "popexec: %s\n", pop_error_message(error));
  pop_error_free(error);
  free_arguments(&a);
  return status;
}
