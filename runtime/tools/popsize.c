/* popsize: shows what tile memory is used for, in an archive of tile images.
 *
 *   arguments -> a report for each archive (size_report.c) -> text, CSV or JSON (size_print.c)
 */
#include "engine_environment.h"
#include "option_given.h"
#include "size_report.h"
#include "step_line.h"

#include <errno.h>

#include <getopt.h>
#include <populus/out_of_memory.h>
#include <populus/populus.h>
#include <populus/standard_streams.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: popsize [options] archive.a\n"
    "       popsize [options] --diff old.a new.a\n"
    "Shows what the memory of the tiles is used for: regions, categories, vertex types, code, "
    "variables,\n"
    "gaps, tiles. The archive may have lost its metadata: the images are enough.\n"
    "\n"
    "      --tile N     describe this tile only, and list its memory by address\n"
    "      --diff       show what has changed from one archive to another\n"
    "      --sort KEY   size (default), name or count\n"
    "      --top N      show N rows of each kind (default: 10; 0: all)\n"
    "      --csv        print all rows as CSV\n"
    "      --json       print all rows as JSON, on one line\n"
    "      --pretty     print them as indented JSON\n"
    "  -q, --quiet      no progress line on the terminal\n"
    "  -h, --help       print this\n"
    "      --version    print the version\n"
    "\n"
    "Columns: bytes of all tiles; number of tiles (or vertices) that have some; most bytes of a "
    "tile.\n"
    "Exit status: 0 done, 1 input at fault, 2 wrong command line, 4 files, memory, limits.\n";

typedef struct arguments {
  uint32_t tile;
  bool diff, quiet;
  size_style style;
  const char *archives[2];
} arguments;

enum {
  OPTION_TILE = 256,
  OPTION_DIFF,
  OPTION_SORT,
  OPTION_TOP,
  OPTION_CSV,
  OPTION_JSON,
  OPTION_PRETTY,
  OPTION_VERSION
};

static const struct option long_options[] = {
    {"tile", required_argument, NULL, OPTION_TILE},
    {"diff", no_argument, NULL, OPTION_DIFF},
    {"sort", required_argument, NULL, OPTION_SORT},
    {"top", required_argument, NULL, OPTION_TOP},
    {"csv", no_argument, NULL, OPTION_CSV},
    {"json", no_argument, NULL, OPTION_JSON},
    {"pretty", no_argument, NULL, OPTION_PRETTY},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static pop_error *usage_error(const char *what, const char *given)
{
  return pop_error_new(POP_ERROR_USAGE, "%s '%s'; popsize --help says what there is", what, given);
}

static pop_error *parse_number(const char *option, const char *text, uint32_t *number)
{
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || errno || value >= UINT32_MAX)
    return pop_error_new(POP_ERROR_USAGE, "%s takes a number, not '%s'", option, text);
  *number = (uint32_t)value;
  return NULL;
}

static pop_error *parse_sort(const char *text, size_sort *by)
{
  static const char *const names[] = {
      [SIZE_BY_BYTES] = "size", [SIZE_BY_NAME] = "name", [SIZE_BY_COUNT] = "count"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (strcmp(text, names[i]) == 0) {
      *by = (size_sort)i;
      return NULL;
    }
  return usage_error("--sort takes size, name or count, not", text);
}

static pop_error *take_format(size_format format, arguments *a)
{
  if (a->style.format != SIZE_TEXT && a->style.format != format)
    return pop_error_new(POP_ERROR_USAGE, "--csv and --json cannot be had in one call");
  a->style.format = format;
  return NULL;
}

static pop_error *take_option(int option, arguments *a)
{
  uint32_t number = 0;
  switch (option) {
  case OPTION_TILE:
    return parse_number("--tile", optarg, &a->tile);
  case OPTION_DIFF:
    a->diff = true;
    return NULL;
  case OPTION_SORT:
    return parse_sort(optarg, &a->style.sort);
  case OPTION_TOP:
    POP_TRY(parse_number("--top", optarg, &number));
    a->style.most_rows = number;
    return NULL;
  case 'q':
    a->quiet = true;
    return NULL;
  case OPTION_CSV:
    return take_format(SIZE_CSV, a);
  default: /* OPTION_JSON or OPTION_PRETTY: the table has no other */
    if (option == OPTION_PRETTY) a->style.pretty = true;
    return take_format(SIZE_JSON, a);
  }
}

static pop_error *take_archives(int argc, char **argv, arguments *a)
{
  int given = argc - optind, wanted = a->diff ? 2 : 1;
  if (given != wanted)
    return pop_error_new(POP_ERROR_USAGE, "%s takes %s, not %d\n%s", a->diff ? "--diff" : "popsize",
                         a->diff ? "two archives" : "one archive", given, usage);
  for (int i = 0; i < given; ++i) a->archives[i] = argv[optind + i];
  return NULL;
}

/* *done: help or version has been printed. */
static pop_error *parse(int argc, char **argv, arguments *a, bool *done)
{
  static const char letters[] = ":qh";
  char letter[3];
  int option;
  opterr = 0;
  while ((option = getopt_long(argc, argv, letters, long_options, NULL)) != -1) {
    if (option == 'h' || option == OPTION_VERSION) {
      fputs(option == 'h' ? usage : "popsize, Populus version " POPULUS_VERSION "\n", stdout);
      *done = true;
      return NULL;
    }
    if (option == '?' || option == ':')
      return usage_error(option == ':' ? "an argument is missing behind" : "there is no option",
                         option_given(option, argv, letters, letter));
    POP_TRY(take_option(option, a));
  }
  return take_archives(argc, argv, a);
}

static pop_error *run(void *context)
{
  const arguments *a = context;
  size_report reports[2] = {{0}, {0}};
  pop_error *error = NULL;
  step_line line;
  step_line_start(&line, a->quiet, "reading tiles");
  for (int i = 0; i < 2 && a->archives[i] && !error; ++i)
    error = size_report_make(a->archives[i], a->tile, &line, &reports[i]);
  step_line_end(&line);
  if (!error && a->diff)
    error = size_print_difference(&reports[0], &reports[1], &a->style);
  else if (!error)
    error = size_print(&reports[0], &a->style);
  for (int i = 0; i < 2; ++i) size_report_free(&reports[i]);
  return error;
}

int main(int argc, char **argv)
{
  arguments a = {.tile = SIZE_ALL_TILES, .style.most_rows = 10};
  bool done = false;
  pop_error *error = pop_standard_streams_open();
  if (!error) error = parse(argc, argv, &a, &done);
  ignore_engine_options();
  if (!error && !done) error = pop_with_memory("reading archives", run, &a);
  if (!error) error = pop_standard_output_flush();
  int status = pop_error_exit_status(error);
  if (error) fprintf(stderr, "popsize: %s\n", pop_error_message(error));
  pop_error_free(error);
  return status;
}
