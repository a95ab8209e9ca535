/* popexec: runs an archive of tile images without the program that made it.
 *
 *   arguments -> executable -> engine: load, write files to handles, run, read handles to files
 *
 * Files are .npy by their name's end, otherwise the elements as they are in tile memory, row-major.
 */
#include "npy.h"

#include <errno.h>
#include <getopt.h>
#include <populus/file.h>
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
    "      --run PROGRAM       run the program with this number or name; several in order\n"
    "                          (default: the only one)\n"
    "      --repeat N          run them N times\n"
    "      --memory            print the memory summary\n"
    "      --cycles            print the device's cycles and instructions\n"
    "  -h, --help              print this\n"
    "      --version           print the version\n"
    "\n"
    "A FILE that ends in .npy holds type and shape, any other the bare elements, row-major.\n"
    "POPLAR_ENGINE_OPTIONS counts here, too. Exit status: 0 done, 1 input at fault, 2 wrong "
    "command\n"
    "line, 3 the device program faulted, 4 files, memory, limits.\n";

/* HANDLE=FILE */
typedef struct transfer {
  const char *handle, *file;
} transfer;

typedef struct arguments {
  const char *archive;
  bool list, memory, cycles;
  transfer *writes, *reads;
  size_t num_writes, writes_capacity, num_reads, reads_capacity;
  const char **runs;
  size_t num_runs, runs_capacity;
  uint64_t repeat;
} arguments;

/* ---- command line ---- */

enum { OPTION_RUN = 256, OPTION_REPEAT, OPTION_MEMORY, OPTION_CYCLES, OPTION_VERSION };

static const struct option long_options[] = {
    {"list", no_argument, NULL, 'l'},
    {"write", required_argument, NULL, 'w'},
    {"read", required_argument, NULL, 'r'},
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
static pop_error *parse_transfer(char *text, transfer *parsed)
{
  char *equals = strrchr(text, '=');
  if (!equals || equals == text || !equals[1])
    return usage_error("HANDLE=FILE is expected instead of", text);
  *equals = '\0';
  *parsed = (transfer){text, equals + 1};
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
  transfer parsed;
  switch (option) {
  case 'l':
    a->list = true;
    return NULL;
  case 'w':
    POP_TRY(parse_transfer(optarg, &parsed));
    pop_push(a->writes, a->num_writes, a->writes_capacity, parsed);
    return NULL;
  case 'r':
    POP_TRY(parse_transfer(optarg, &parsed));
    pop_push(a->reads, a->num_reads, a->reads_capacity, parsed);
    return NULL;
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

static void free_arguments(arguments *a)
{
  free(a->writes);
  free(a->reads);
  free(a->runs);
}

/* ---- what there is ---- */

/* "float[300,40]" */
static char *type_and_shape(const pop_handle_info *info)
{
  char *text = pop_xstrdup(pop_type_name(info->type));
  for (uint32_t i = 0; i < info->rank; ++i) {
    char *longer = pop_xasprintf("%s%c%zu%s", text, i ? ',' : '[', info->shape[i],
                                 i + 1 == info->rank ? "]" : "");
    free(text);
    text = longer;
  }
  return text;
}

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
    char *type = type_and_shape(&info);
    printf("%s %s: %s, %zu bytes\n", info.read ? "read" : "write", info.name, type, info.bytes);
    free(type);
  }
  return NULL;
}

static pop_error *find_handle(const pop_executable *executable, const char *name, bool read,
                              pop_handle_info *found)
{
  size_t count = pop_executable_num_handles(executable), num_names = 0;
  const char **names = pop_xcalloc(count + 1, sizeof *names);
  pop_error *error = NULL;
  for (size_t i = 0; i < count && !error; ++i) {
    error = pop_executable_handle(executable, i, found);
    if (error || found->read != read) continue;
    if (strcmp(found->name, name) == 0) {
      free(names);
      return NULL;
    }
    names[num_names++] = found->name;
  }
  const char *near = pop_nearest_name(name, names, num_names);
  free(names);
  if (error) return error;
  return pop_error_new(POP_ERROR_UNKNOWN_HANDLE,
                       "the archive has no handle '%s' to %s%s%s%s; --list shows all", name,
                       read ? "read" : "write", near ? "; did you mean '" : "", near ? near : "",
                       near ? "'?" : "");
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

/* ---- files ---- */

static bool is_npy(const char *file)
{
  size_t length = strlen(file);
  return length > 4 && strcmp(file + length - 4, ".npy") == 0;
}

static bool has_shape(const npy_header *header, const pop_handle_info *info)
{
  if (header->rank != info->rank) return false;
  for (size_t i = 0; i < header->rank; ++i)
    if (header->shape[i] != info->shape[i]) return false;
  return true;
}

static char *npy_shape(const npy_header *header)
{
  char *text = pop_xstrdup("");
  for (size_t i = 0; i < header->rank; ++i) {
    char *longer = pop_xasprintf("%s%s%zu", text, i ? "," : "", header->shape[i]);
    free(text);
    text = longer;
  }
  return text;
}

static pop_error *check_npy(const npy_header *header, size_t size, const pop_handle_info *info)
{
  if (header->fortran_order)
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "its elements are in Fortran order: save numpy.ascontiguousarray of it");
  if (!npy_is_type(header->descr, info->type) || !has_shape(header, info)) {
    char *shape = npy_shape(header), *wanted = type_and_shape(info);
    pop_error *error =
        pop_error_new(POP_ERROR_FILE_LOAD,
                      "it has elements '%s' and shape [%s], but handle '%s' is "
                      "%s, which is '%s'",
                      header->descr, shape, info->name, wanted, npy_descr(info->type));
    free(shape);
    free(wanted);
    return error;
  }
  if (size - header->data != info->bytes)
    return pop_error_new(POP_ERROR_FILE_LOAD, "it holds %zu bytes of elements, not %zu",
                         size - header->data, info->bytes);
  return NULL;
}

/* Where the elements begin in the file that `bytes` hold. */
static pop_error *find_elements(const char *file, const uint8_t *bytes, size_t size,
                                const pop_handle_info *info, size_t *start)
{
  *start = 0;
  if (is_npy(file)) {
    npy_header header;
    POP_TRY(npy_read_header(bytes, size, &header));
    POP_TRY(check_npy(&header, size, info));
    *start = header.data;
  } else if (size != info->bytes) {
    char *wanted = type_and_shape(info);
    pop_error *error =
        pop_error_new(POP_ERROR_FILE_LOAD, "it has %zu bytes, but handle '%s' is %s: %zu bytes",
                      size, info->name, wanted, info->bytes);
    free(wanted);
    return error;
  }
  return NULL;
}

static pop_error *write_handle(const pop_executable *executable, pop_engine *engine,
                               const transfer *t)
{
  pop_handle_info info;
  uint8_t *bytes;
  size_t size, start;
  POP_TRY(find_handle(executable, t->handle, false, &info));
  POP_TRY(pop_file_read(t->file, SIZE_MAX, &bytes, &size));
  pop_error *error = find_elements(t->file, bytes, size, &info, &start);
  if (error)
    error = pop_error_prefix(error, "'%s'", t->file);
  else
    error = pop_engine_write_tensor(engine, t->handle, bytes + start, info.bytes);
  free(bytes);
  return error;
}

static pop_error *write_file(const transfer *t, const pop_handle_info *info, const uint8_t *data)
{
  pop_output *output;
  pop_bytes header = {0};
  if (is_npy(t->file)) npy_put_header(info->type, info->shape, info->rank, &header);
  pop_error *error = pop_output_open(t->file, &output);
  if (!error) {
    error = pop_output_write(output, header.data, header.size);
    if (!error) error = pop_output_write(output, data, info->bytes);
    if (error)
      pop_output_abort(output);
    else
      error = pop_output_commit(output);
  }
  pop_bytes_free(&header);
  return error;
}

static pop_error *read_handle(const pop_executable *executable, pop_engine *engine,
                              const transfer *t)
{
  pop_handle_info info;
  POP_TRY(find_handle(executable, t->handle, true, &info));
  uint8_t *data = malloc(info.bytes ? info.bytes : 1);
  if (!data)
    return pop_error_new(POP_ERROR_MEMORY, "no memory for the %zu bytes of handle '%s'", info.bytes,
                         t->handle);
  pop_error *error = pop_engine_read_tensor(engine, t->handle, data, info.bytes);
  if (!error) error = write_file(t, &info, data);
  free(data);
  return error;
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
  pop_handle_info info;
  for (size_t i = 0; i < a->num_writes; ++i)
    POP_TRY(find_handle(executable, a->writes[i].handle, false, &info));
  for (size_t i = 0; i < a->num_reads; ++i)
    POP_TRY(find_handle(executable, a->reads[i].handle, true, &info));
  return NULL;
}

static pop_error *run_programs(const pop_executable *executable, pop_engine *engine,
                               const arguments *a)
{
  size_t *programs = pop_xcalloc(a->num_runs + 1, sizeof *programs), count = 0;
  pop_error *error = choose_programs(executable, a, programs, &count);
  if (!error) error = check_handles(executable, a);
  if (!error) error = pop_engine_load(engine);
  for (size_t i = 0; i < a->num_writes && !error; ++i)
    error = write_handle(executable, engine, &a->writes[i]);
  for (uint64_t n = 0; n < a->repeat && !error; ++n)
    for (size_t i = 0; i < count && !error; ++i) error = pop_engine_run(engine, programs[i]);
  for (size_t i = 0; i < a->num_reads && !error; ++i)
    error = read_handle(executable, engine, &a->reads[i]);
  free(programs);
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
