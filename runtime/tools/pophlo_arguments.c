#include "option_given.h"
#include "pophlo.h"

#include <errno.h>
#include <getopt.h>
#include <populus/populus.h>
#include <populus/same_file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: pophlo [options] MODULE\n"
    "       pophlo --check [options] MODULE...\n"
    "\n"
    "Compiles a module of StableHLO or HLO text for tiles, runs it, or evaluates its checks.\n"
    "\n"
    "  -o, --output FILE       write the archive of tile images, which popexec runs\n"
    "      --run               run the module\n"
    "      --in NAME=FILE      with --run: read an argument's elements\n"
    "      --out NAME=FILE     with --run: write a result's elements; results are out0, out1, ...\n"
    "      --check             run each module, and evaluate its check.expect_... operations\n"
    "      --dump DIR          write the module after each pass, and the codelets, as "
    "XLA_FLAGS=--xla_dump_to=DIR\n"
    "      --list              print arguments and results\n"
    "      --json, --pretty    with --list: as JSON, on one line or indented\n"
    "      --codelets          print the C source of the generated codelets\n"
    "      --part N            the module after the Nth line '// -----' (default: 0, the first)\n"
    "      --device DEVICE     ipu (the default), ipumodel or cpu\n"
    "      --target NAME       ipu1, ipu2 (the default) or ipu21\n"
    "      --replicas N        run the module in N replicas; its collectives are between them\n"
    "      --tiles N           how many tiles (default: by the size of tensors and products, or\n"
    "                          all tiles if the module does not fit)\n"
    "      --copy-limit BYTES  operands up to this size are copied whole to tiles (default: "
    "16384);\n"
    "                          larger ones are brought in parts, in more steps\n"
    "      --option KEY=VALUE  set an option of the engine\n"
    "      --cycles            with --run: print the device's cycles\n"
    "      --memory            with --run: print the memory summary\n"
    "      --both-engines      with --check: run by translated code and by the interpreter\n"
    "      --everywhere        with --check: the same, and on the CPU device\n"
    "  -j, --jobs N            with --check: check N modules at once (default: one for each core)\n"
    "  -v, --verbose           with --check: print a line for each module\n"
    "  -q, --quiet             no progress line on the terminal\n"
    "  -h, --help              print this\n"
    "      --version           print the version\n"
    "\n"
    "A FILE that ends in .npy holds type and shape, any other the bare elements, row-major; - is\n"
    "standard input or output, of bare elements. In .npy files bf16 is uint16, f64 and "
    "complex<f32>\n"
    "are uint64, by their bits.\n"
    "Exit status: 0 done, 1 input at fault or a check that does not hold, 2 wrong command line,\n"
    "3 the device program faulted, 4 files, memory, limits.\n";

enum {
  OPTION_RUN = 256,
  OPTION_IN,
  OPTION_OUT,
  OPTION_CHECK,
  OPTION_LIST,
  OPTION_JSON,
  OPTION_PRETTY,
  OPTION_CODELETS,
  OPTION_BOTH_ENGINES,
  OPTION_EVERYWHERE,
  OPTION_DUMP,
  OPTION_PART,
  OPTION_DEVICE,
  OPTION_TARGET,
  OPTION_TILES,
  OPTION_COPY_LIMIT,
  OPTION_REPLICAS,
  OPTION_OPTION,
  OPTION_CYCLES,
  OPTION_MEMORY,
  OPTION_VERSION
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"run", no_argument, NULL, OPTION_RUN},
    {"in", required_argument, NULL, OPTION_IN},
    {"out", required_argument, NULL, OPTION_OUT},
    {"check", no_argument, NULL, OPTION_CHECK},
    {"list", no_argument, NULL, OPTION_LIST},
    {"json", no_argument, NULL, OPTION_JSON},
    {"pretty", no_argument, NULL, OPTION_PRETTY},
    {"codelets", no_argument, NULL, OPTION_CODELETS},
    {"dump", required_argument, NULL, OPTION_DUMP},
    {"part", required_argument, NULL, OPTION_PART},
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"target", required_argument, NULL, OPTION_TARGET},
    {"tiles", required_argument, NULL, OPTION_TILES},
    {"copy-limit", required_argument, NULL, OPTION_COPY_LIMIT},
    {"replicas", required_argument, NULL, OPTION_REPLICAS},
    {"option", required_argument, NULL, OPTION_OPTION},
    {"cycles", no_argument, NULL, OPTION_CYCLES},
    {"memory", no_argument, NULL, OPTION_MEMORY},
    {"both-engines", no_argument, NULL, OPTION_BOTH_ENGINES},
    {"everywhere", no_argument, NULL, OPTION_EVERYWHERE},
    {"jobs", required_argument, NULL, 'j'},
    {"verbose", no_argument, NULL, 'v'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static pop_error *usage_error(const char *what, const char *given)
{
  return pop_error_new(POP_ERROR_USAGE, "%s '%s'; pophlo --help says what there is", what, given);
}

static pop_error *parse_number(const char *option, const char *text, size_t most, size_t *number)
{
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || errno || value > most)
    return pop_error_new(POP_ERROR_USAGE, "%s takes a number up to %zu, not '%s'", option, most,
                         text);
  *number = (size_t)value;
  return NULL;
}

static pop_error *parse_pair(const char *option, char *text, char **value)
{
  char *equals = strchr(text, '=');
  if (!equals || equals == text || !equals[1])
    return pop_error_new(POP_ERROR_USAGE, "%s takes NAME=VALUE, not '%s'", option, text);
  *equals = '\0';
  *value = equals + 1;
  return NULL;
}

static pop_error *parse_device(const char *name, pophlo_device *device)
{
  static const char *const names[] = {"ipu", "ipumodel", "cpu"};
  for (int i = 0; i < 3; ++i)
    if (strcmp(name, names[i]) == 0) {
      *device = (pophlo_device)i;
      return NULL;
    }
  return usage_error("--device takes ipu, ipumodel or cpu, not", name);
}

static pop_error *take_option(int option, pophlo_arguments *a)
{
  char *value;
  size_t number;
  switch (option) {
  case 'o':
    a->output = optarg;
    return NULL;
  case 'j':
    return parse_number("--jobs", optarg, 1024, &a->jobs);
  case 'v':
    a->verbose = true;
    return NULL;
  case 'q':
    a->quiet = true;
    return NULL;
  case OPTION_RUN:
    a->run = true;
    return NULL;
  case OPTION_CHECK:
    a->check = true;
    return NULL;
  case OPTION_LIST:
    a->list = true;
    return NULL;
  case OPTION_PRETTY:
    a->pretty = true;
    /* fall through */
  case OPTION_JSON:
    a->json = true;
    return NULL;
  case OPTION_CODELETS:
    a->codelets = true;
    return NULL;
  case OPTION_CYCLES:
    a->cycles = true;
    return NULL;
  case OPTION_MEMORY:
    a->memory = true;
    return NULL;
  case OPTION_PART:
    return parse_number("--part", optarg, SIZE_MAX, &a->part);
  case OPTION_BOTH_ENGINES:
    a->both_engines = true;
    return NULL;
  case OPTION_EVERYWHERE:
    a->everywhere = true;
    return NULL;
  case OPTION_DUMP:
    a->dump = optarg;
    return NULL;
  case OPTION_DEVICE:
    a->device_given = true;
    return parse_device(optarg, &a->device);
  case OPTION_TARGET:
    a->target = optarg;
    return NULL;
  case OPTION_TILES:
    POP_TRY(parse_number("--tiles", optarg, 65536, &number));
    if (!number) return usage_error("--tiles takes at least one tile, not", optarg);
    a->tiles = (uint32_t)number;
    return NULL;
  case OPTION_COPY_LIMIT:
    return parse_number("--copy-limit", optarg, SIZE_MAX, &a->copy_limit);
  case OPTION_REPLICAS:
    POP_TRY(parse_number("--replicas", optarg, 1024, &number));
    if (!number) return usage_error("--replicas takes at least one replica, not", optarg);
    a->replicas = (uint32_t)number;
    return NULL;
  case OPTION_OPTION:
    POP_TRY(parse_pair("--option", optarg, &value));
    pop_push(a->options, a->num_options, a->options_capacity, (pop_option){optarg, value});
    return NULL;
  case OPTION_IN:
    POP_TRY(parse_pair("--in", optarg, &value));
    pop_push(a->ins, a->num_ins, a->ins_capacity, (pophlo_file){optarg, value});
    return NULL;
  default: /* OPTION_OUT: the table has no other */
    POP_TRY(parse_pair("--out", optarg, &value));
    pop_push(a->outs, a->num_outs, a->outs_capacity, (pophlo_file){optarg, value});
    return NULL;
  }
}

/* Each output is a file of its own, and not the module. A result that is an argument, too, is
 * updated. */
static pop_error *check_outputs(const pophlo_arguments *a)
{
  for (size_t i = 0; i <= a->num_outs; ++i) {
    const char *file = i < a->num_outs ? a->outs[i].file : a->output;
    if (!file) continue;
    if (pop_is_same_file(file, a->files[0]))
      return pop_error_new(POP_ERROR_USAGE, "the output '%s' is the module", file);
    for (size_t k = 0; k < i; ++k)
      if (pop_is_same_file(file, a->outs[k].file))
        return pop_error_new(POP_ERROR_USAGE, "two outputs would be the file '%s'", file);
  }
  return NULL;
}

static const pophlo_file *standard_one(const pophlo_file *files, size_t count, size_t *number)
{
  const pophlo_file *one = NULL;
  *number = 0;
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(files[i].file, "-") != 0) continue;
    one = &files[i];
    ++*number;
  }
  return one;
}

/* Standard input can be read once, and standard output can get one thing. */
static pop_error *check_standard_streams(const pophlo_arguments *a)
{
  size_t inputs, outputs;
  const pophlo_file *in = standard_one(a->ins, a->num_ins, &inputs);
  const pophlo_file *out = standard_one(a->outs, a->num_outs, &outputs);
  if (inputs > 1)
    return pop_error_new(POP_ERROR_USAGE,
                         "standard input is for '%s': nothing else can be read there", in->name);
  if (outputs > 1 || (outputs && (a->list || a->codelets || a->cycles || a->memory)))
    return pop_error_new(POP_ERROR_USAGE,
                         "standard output is for '%s': nothing else can be printed there",
                         out->name);
  return NULL;
}

/* Checks combinations of options. */
static pop_error *check_combination(const pophlo_arguments *a)
{
  if (!a->num_files) return pop_error_new(POP_ERROR_USAGE, "no module is given\n%s", help);
  bool one = a->run || a->output || a->list || a->codelets || a->dump;
  if (a->check &&
      (a->run || a->output || a->list || a->codelets || a->num_ins || a->num_outs || a->part))
    return pop_error_new(
        POP_ERROR_USAGE,
        "--check goes with --device, --target, --tiles, --copy-limit, --replicas, "
        "--option, --jobs, --both-engines, --everywhere, --dump, --verbose and --quiet only");
  if (!a->check && !one)
    return pop_error_new(POP_ERROR_USAGE,
                         "nothing is asked for: -o, --run, --check, --list, --dump or --codelets");
  if (!a->check && a->num_files > 1)
    return usage_error("one module only, and not also", a->files[1]);
  if (!a->check && (a->jobs || a->verbose || a->both_engines || a->everywhere))
    return pop_error_new(POP_ERROR_USAGE,
                         "--jobs, --verbose, --both-engines and --everywhere go with --check");
  if (a->json && !a->list)
    return pop_error_new(POP_ERROR_USAGE, "--json and --pretty are about --list");
  if ((a->both_engines || a->everywhere) && a->device == DEVICE_CPU)
    return pop_error_new(POP_ERROR_USAGE, "a CPU has no engines: %s is for IPUs",
                         a->both_engines ? "--both-engines" : "--everywhere, which adds the CPU,");
  if (a->everywhere && a->replicas > 1)
    return pop_error_new(POP_ERROR_USAGE, "a CPU has no replicas: --everywhere is for one");
  if (!a->run && (a->num_ins || a->num_outs || a->cycles || a->memory))
    return pop_error_new(POP_ERROR_USAGE, "--in, --out, --cycles and --memory go with --run");
  if (a->device == DEVICE_CPU && (a->tiles || a->target || a->output || a->replicas > 1))
    return pop_error_new(
        POP_ERROR_USAGE,
        "a CPU has no tiles: --tiles, --target, --replicas and --output are for IPUs");
  POP_TRY(check_standard_streams(a));
  return check_outputs(a);
}

pop_error *pophlo_parse(int argc, char **argv, pophlo_arguments *a, bool *done)
{
  static const char letters[] = ":o:j:vqh";
  char letter[3];
  int option;
  opterr = 0;
  while ((option = getopt_long(argc, argv, letters, long_options, NULL)) != -1) {
    if (option == 'h' || option == OPTION_VERSION) {
      if (option == 'h')
        fputs(help, stdout);
      else
        printf("pophlo, Populus version %s\n", POPULUS_VERSION);
      *done = true;
      return NULL;
    }
    if (option == '?' || option == ':')
      return usage_error(option == ':' ? "an argument is missing behind" : "there is no option",
                         option_given(option, argv, letters, letter));
    POP_TRY(take_option(option, a));
  }
  for (int i = optind; i < argc; ++i) pop_push(a->files, a->num_files, a->files_capacity, argv[i]);
  POP_TRY(pophlo_parse_environment(a));
  return check_combination(a);
}

void pophlo_arguments_free(pophlo_arguments *a)
{
  free(a->files);
  free(a->ins);
  free(a->outs);
  free(a->options);
  free(a->environment);
}
