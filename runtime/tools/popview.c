/* popview: a report as a page that opens anywhere.
 *
 *   arguments -> page.c -> one HTML file */
#include "page.h"

#include <getopt.h>
#include <populus/populus.h>
#include <populus/standard_streams.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: popview [options] REPORT [-o report.html]\n"
    "Writes a page that shows a report: where the memory and the cycles go. REPORT is the folder "
    "of\n"
    "autoReport.directory, its profile.pop, a graph profile (.json) or an archive of tile images. "
    "The\n"
    "page is one file that holds the report, opens in any browser and requests nothing.\n"
    "\n"
    "  -o, --output FILE  where to write the page (default: report.html)\n"
    "  -h, --help         print this\n"
    "      --version      print the version\n"
    "\n"
    "Exit status: 0 done, 1 input at fault, 2 wrong command line, 4 files, memory, limits.\n";

typedef struct arguments {
  const char *report, *output;
} arguments;

enum { OPTION_VERSION = 256 };

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

/* *done: help or version has been printed. */
static pop_error *parse(int argc, char **argv, arguments *a, bool *done)
{
  int option;
  opterr = 0;
  while ((option = getopt_long(argc, argv, ":ho:", long_options, NULL)) != -1) {
    if (option == 'h' || option == OPTION_VERSION) {
      fputs(option == 'h' ? usage : "popview, Populus version " POPULUS_VERSION "\n", stdout);
      *done = true;
      return NULL;
    }
    if (option != 'o')
      return pop_error_new(POP_ERROR_USAGE, "%s '%s'; popview --help says what there is",
                           option == ':' ? "an argument is missing behind" : "there is no option",
                           argv[optind - 1]);
    a->output = optarg;
  }
  if (argc - optind != 1)
    return pop_error_new(POP_ERROR_USAGE, "popview takes one report, not %d\n%s", argc - optind,
                         usage);
  a->report = argv[optind];
  return NULL;
}

int main(int argc, char **argv)
{
  arguments a = {.output = "report.html"};
  bool done = false;
  pop_error *error = pop_standard_streams_open();
  if (!error) error = parse(argc, argv, &a, &done);
  if (!error && !done) error = page_write(&a.report, 1, a.output);
  if (!error) error = pop_standard_output_flush();
  int status = pop_error_exit_status(error);
  if (error) fprintf(stderr, "popview: %s\n", pop_error_message(error));
  pop_error_free(error);
  return status;
}
