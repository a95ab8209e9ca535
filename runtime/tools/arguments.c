/* popexec's command line. */
#include "arguments.h"

#include "option_given.h"

#include <errno.h>
#include <getopt.h>
#include <populus/populus.h>
#include <populus/same_file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "\n"
    "  -l, --list              list the contents of the archive, and run nothing\n"
    "      --json, --pretty    with --list: as JSON, on one line or indented\n"
    "  -w, --write HANDLE=FILE write the file's elements to the handle before the first run\n"
    "  -r, --read HANDLE=FILE  read the handle's elements to the file after the last run\n"
    "      --in STREAM=FILE    feed the stream from the file; at its end, from its start again\n"
    "      --out STREAM=FILE   write all copies of the stream to the file\n"
    "      --run PROGRAM       run the program with this number or name; may be given several "
    "times\n"
    "                          (default: the only program)\n"
    "      --repeat N          run these programs N times\n"
    "      --option KEY=VALUE  set an option of the engine, such as debug.maxCyclesPerRun=1000000\n"
    "      --memory            print the memory summary\n"
    "      --profile DIR       write profiles to the folder: the graph profile and, if the "
    "archive\n"
    "                          was compiled with debug.instrument, the execution profile, also "
    "for\n"
    "                          Perfetto, as folded stacks and as a page\n"
    "      --cycles            print the device's cycles and instructions\n"
    "  -q, --quiet             no progress line on the terminal\n"
    "  -h, --help              print this\n"
    "      --version           print the version\n"
    "\n"
    "A HANDLE may also be a remote buffer, with all of its rows. In a replicated graph NAME@2 is\n"
    "the handle or stream of replica 2.\n"
    "A FILE that ends in .npy holds type and shape, any other the bare elements, row-major; - is\n"
    "standard input or output, with bare elements.\n"
    "POPLAR_ENGINE_OPTIONS, POPULUS_TILE_ENGINE and POPULUS_TILE_THREADS have an effect here, "
    "too.\n"
    "Exit status: 0 done, 1 input at fault, 2 wrong command line, 3 the device program faulted,\n"
    "4 files, memory, limits, 130 interrupted by SIGINT: the message says where the run was.\n";

enum {
  OPTION_RUN = 256,
  OPTION_IN,
  OPTION_OUT,
  OPTION_OPTION,
  OPTION_REPEAT,
  OPTION_MEMORY,
  OPTION_CYCLES,
  OPTION_JSON,
  OPTION_PRETTY,
  OPTION_PROFILE,
  OPTION_VERSION
};

static const struct option long_options[] = {
    {"list", no_argument, NULL, 'l'},
    {"write", required_argument, NULL, 'w'},
    {"read", required_argument, NULL, 'r'},
    {"in", required_argument, NULL, OPTION_IN},
    {"out", required_argument, NULL, OPTION_OUT},
    {"run", required_argument, NULL, OPTION_RUN},
    {"option", required_argument, NULL, OPTION_OPTION},
    {"repeat", required_argument, NULL, OPTION_REPEAT},
    {"memory", no_argument, NULL, OPTION_MEMORY},
    {"cycles", no_argument, NULL, OPTION_CYCLES},
    {"json", no_argument, NULL, OPTION_JSON},
    {"pretty", no_argument, NULL, OPTION_PRETTY},
    {"profile", required_argument, NULL, OPTION_PROFILE},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static pop_error *usage_error(const arguments *a, const char *what, const char *given)
{
  return pop_error_new(POP_ERROR_USAGE, "%s '%s'; %s --help says what there is", what, given,
                       a->program);
}

/* Cuts `text`, an argument of the command line, at the '='. */
static pop_error *add_transfer(const arguments *a, char *text, transfers *to)
{
  char *equals = strrchr(text, '=');
  if (!equals || equals == text || !equals[1])
    return usage_error(a, "NAME=FILE is expected instead of", text);
  *equals = '\0';
  pop_push(to->list, to->count, to->capacity, (transfer){.handle = text, .file = equals + 1});
  return NULL;
}

/* An option of the engine: keys have no '='. */
static pop_error *add_option(char *text, arguments *a)
{
  char *equals = strchr(text, '=');
  if (!equals || equals == text) return usage_error(a, "--option takes KEY=VALUE, not", text);
  *equals = '\0';
  pop_push(a->options, a->num_options, a->options_capacity, (pop_option){text, equals + 1});
  return NULL;
}

static pop_error *parse_count(const arguments *a, const char *text, uint64_t *count)
{
  char *end;
  errno = 0;
  *count = strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || errno)
    return usage_error(a, "--repeat takes a number of times, not", text);
  return NULL;
}

static pop_error *take_option(int option, arguments *a)
{
  switch (option) {
  case 'l':
    a->list = true;
    return NULL;
  case 'w':
    return add_transfer(a, optarg, &a->writes);
  case 'r':
    return add_transfer(a, optarg, &a->reads);
  case OPTION_IN:
    return add_transfer(a, optarg, &a->ins);
  case OPTION_OUT:
    return add_transfer(a, optarg, &a->outs);
  case OPTION_RUN:
    pop_push(a->runs, a->num_runs, a->runs_capacity, optarg);
    return NULL;
  case OPTION_REPEAT:
    return parse_count(a, optarg, &a->repeat);
  case OPTION_OPTION:
    return add_option(optarg, a);
  case OPTION_PROFILE:
    a->profile = optarg;
    return NULL;
  case OPTION_MEMORY:
    a->memory = true;
    return NULL;
  case 'q':
    a->quiet = true;
    return NULL;
  case OPTION_PRETTY:
    a->pretty = true;
    /* fall through */
  case OPTION_JSON:
    a->json = true;
    return NULL;
  default: /* OPTION_CYCLES: the table has no other */
    a->cycles = true;
    return NULL;
  }
}

static void print_help(const arguments *a)
{
  printf("usage: %s [options]%s\n%s\n%s", a->program, a->linked ? "" : " archive.a",
         a->linked ? "Runs the archive of tile images that popc --link has put into this program."
                   : "Runs an archive of tile images that target.saveArchive or "
                     "pop_executable_save has written.",
         help);
}

static pop_error *take_archive(int argc, char **argv, arguments *a)
{
  int given = argc - optind;
  if (a->linked)
    return given ? usage_error(a, "the archive is in the program, there can be no", argv[optind])
                 : NULL;
  if (!given)
    return pop_error_new(POP_ERROR_USAGE, "no archive is given\nusage: %s [options] archive.a",
                         a->program);
  if (given > 1) return usage_error(a, "one archive only, and not also", argv[optind + 1]);
  a->archive = argv[optind];
  return NULL;
}

/* How many of them are "-"; *one is one of these. */
static size_t count_standard(const transfers *t, const transfer **one)
{
  size_t count = 0;
  for (size_t i = 0; i < t->count; ++i) {
    if (strcmp(t->list[i].file, "-") != 0) continue;
    *one = &t->list[i];
    ++count;
  }
  return count;
}

/* Standard input can be read once, and standard output can get one thing. */
static pop_error *check_standard_streams(const arguments *a)
{
  const transfer *in = NULL, *out = NULL;
  size_t inputs = count_standard(&a->writes, &in) + count_standard(&a->ins, &in);
  size_t outputs = count_standard(&a->reads, &out) + count_standard(&a->outs, &out);
  if (inputs > 1)
    return pop_error_new(POP_ERROR_USAGE,
                         "standard input is for '%s': nothing else can be read there", in->handle);
  if (outputs > 1 || (outputs && (a->memory || a->cycles)))
    return pop_error_new(POP_ERROR_USAGE,
                         "standard output is for '%s': nothing else can be printed there",
                         out->handle);
  return NULL;
}

static const transfer *output_at(const arguments *a, size_t i)
{
  return i < a->reads.count ? &a->reads.list[i] : &a->outs.list[i - a->reads.count];
}

/* Each output is a file of its own, and not the archive. One that is an input, too, is updated. */
static pop_error *check_outputs(const arguments *a)
{
  size_t count = a->reads.count + a->outs.count;
  for (size_t i = 0; i < count; ++i) {
    const transfer *one = output_at(a, i);
    if (a->archive && pop_is_same_file(one->file, a->archive))
      return pop_error_new(POP_ERROR_USAGE, "the file for '%s', '%s', is the archive", one->handle,
                           one->file);
    for (size_t j = 0; j < i; ++j)
      if (pop_is_same_file(one->file, output_at(a, j)->file))
        return pop_error_new(POP_ERROR_USAGE, "'%s' and '%s' would be the same file, '%s'",
                             output_at(a, j)->handle, one->handle, one->file);
  }
  return NULL;
}

pop_error *arguments_parse(int argc, char **argv, arguments *a, bool *done)
{
  static const char letters[] = ":lw:r:qh";
  char letter[3];
  int option;
  opterr = 0;
  while ((option = getopt_long(argc, argv, letters, long_options, NULL)) != -1) {
    if (option == 'h' || option == OPTION_VERSION) {
      if (option == 'h')
        print_help(a);
      else
        printf("%s, Populus version %s\n", a->program, POPULUS_VERSION);
      *done = true;
      return NULL;
    }
    if (option == '?' || option == ':')
      return usage_error(a, option == ':' ? "an argument is missing behind" : "there is no option",
                         option_given(option, argv, letters, letter));
    POP_TRY(take_option(option, a));
  }
  if (a->json && !a->list)
    return pop_error_new(POP_ERROR_USAGE, "--json and --pretty are about --list");
  POP_TRY(take_archive(argc, argv, a));
  POP_TRY(check_outputs(a));
  return check_standard_streams(a);
}

static void free_transfers(transfers *t)
{
  for (size_t i = 0; i < t->count; ++i) {
    transfer *one = &t->list[i];
    pop_bytes_free(&one->data);
    for (uint32_t r = 0; r < one->num_collectors; ++r) pop_bytes_free(&one->collectors[r].data);
    free(one->collectors);
  }
  free(t->list);
}

void arguments_free(arguments *a)
{
  free_transfers(&a->writes);
  free_transfers(&a->reads);
  free_transfers(&a->ins);
  free_transfers(&a->outs);
  free(a->options);
  free(a->runs);
}
