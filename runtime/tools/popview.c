/* popview: a report as a page that opens anywhere.
 *
 *   arguments -> populus/report_page.h -> one HTML file; serve.c -> the same from a server;
 *             -> report_diff.c -> the differences of two reports, as text or JSON */
#include "demo.h"
#include "option_given.h"
#include "report_diff.h"
#include "serve.h"
#include "step_line.h"

#include <errno.h>
#include <getopt.h>
#include <populus/arena.h>
#include <populus/populus.h>
#include <populus/report_page.h>
#include <populus/same_file.h>
#include <populus/standard_streams.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "usage: popview [-o report.html] REPORT [OTHER]\n"
    "       popview --serve REPORT [OTHER]\n"
    "       popview --demo [-o report.html]\n"
    "       popview diff [--fail-above PERCENT] [--each] [--json | --pretty] REPORT OTHER\n"
    "Writes a page that shows where the memory and the cycles of a program go. REPORT is the "
    "folder "
    "of\n"
    "autoReport.directory, its profile.pop, a graph or execution profile (.json) or an archive of\n"
    "tile images. The page is one file that contains the report. It opens in any browser and "
    "makes\n"
    "no network requests. With OTHER it compares the two.\n"
    "\n"
    "  -o, --output FILE   where to write the page (default: report.html)\n"
    "      --serve         write no file, but print the address of a local server of the page; it "
    "shows\n"
    "                      the report anew whenever a program has written it again\n"
    "      --demo          write the page of a built-in program, which runs on two IPUs\n"
    "      --no-source     leave out the text of codelets' sources, for pages that are passed on\n"
    "  -q, --quiet         no progress line on the terminal\n"
    "  -h, --help          print this\n"
    "      --version       print the version\n"
    "\n"
    "popview diff prints the differences between two reports:\n"
    "\n"
    "      --fail-above P  exit with 3 if cycles, memory of the fullest tile, memory of all tiles "
    "or\n"
    "                      the peak of live memory have grown by more than P, such as 5%\n"
    "      --each          compare also the cycles of the steps of each name\n"
    "      --json          print JSON, on one line\n"
    "      --pretty        print indented JSON\n"
    "      --format F      text (default) or json, which is as --pretty\n"
    "\n"
    "Exit status: 0 done, 1 input at fault, 2 wrong command line, 3 grown by more than P, 4 files, "
    "memory,\n"
    "limits.\n";

typedef struct arguments {
  bool compares, serves, demonstrates; /* otherwise it writes a page */
  bool quiet, leaves_source_out;
  const char *reports[2], *output;
  size_t num_reports;
  report_diff_options diff;
} arguments;

enum {
  OPTION_VERSION = 256,
  OPTION_SERVE,
  OPTION_DEMO,
  OPTION_NO_SOURCE,
  OPTION_FAIL_ABOVE,
  OPTION_EACH,
  OPTION_FORMAT,
  OPTION_JSON,
  OPTION_PRETTY
};

static const struct option page_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"serve", no_argument, NULL, OPTION_SERVE},
    {"demo", no_argument, NULL, OPTION_DEMO},
    {"no-source", no_argument, NULL, OPTION_NO_SOURCE},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};
static const struct option diff_options[] = {
    {"fail-above", required_argument, NULL, OPTION_FAIL_ABOVE},
    {"each", no_argument, NULL, OPTION_EACH},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"json", no_argument, NULL, OPTION_JSON},
    {"pretty", no_argument, NULL, OPTION_PRETTY},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

/* What a report's folder may have, but for pages. The demonstration's has the source, too. */
static const char *const report_files[] = {"profile.pop",
                                           "archive.a",
                                           "graph.json",
                                           "graph.cbor",
                                           "graph.txt",
                                           "execution.json",
                                           "execution.cbor",
                                           "execution.txt",
                                           "execution_trace.json",
                                           "execution_stacks.folded",
                                           "vars.json",
                                           "debug.json",
                                           "code.json",
                                           "serialized_graph.json",
                                           DEMO_SOURCE};
enum { NUM_REPORT_FILES = sizeof report_files / sizeof *report_files };

/* "5%" or "5". */
static pop_error *parse_percent(const char *text, double *share)
{
  char *end;
  double percent = strtod(text, &end);
  bool is_number = end != text;
  if (*end == '%') end++;
  if (!is_number || *end || !(percent >= 0 && percent <= 1e9))
    return pop_error_new(POP_ERROR_USAGE, "--fail-above takes a percentage, as in 5%%, not '%s'",
                         text);
  *share = percent / 100;
  return NULL;
}

static pop_error *parse_format(const char *text, report_diff_format *format)
{
  *format = strcmp(text, "json") == 0 ? REPORT_DIFF_PRETTY : REPORT_DIFF_TEXT;
  if (*format || strcmp(text, "text") == 0) return NULL;
  return pop_error_new(POP_ERROR_USAGE, "--format takes text or json, not '%s'", text);
}

static pop_error *take_option(arguments *a, int option, const char *given)
{
  switch (option) {
  case 'o':
    a->output = optarg;
    return NULL;
  case 'q':
    a->quiet = true;
    return NULL;
  case OPTION_SERVE:
    a->serves = true;
    return NULL;
  case OPTION_DEMO:
    a->demonstrates = true;
    return NULL;
  case OPTION_NO_SOURCE:
    a->leaves_source_out = true;
    return NULL;
  case OPTION_FAIL_ABOVE:
    return parse_percent(optarg, &a->diff.fail_above);
  case OPTION_EACH:
    a->diff.each_name = true;
    return NULL;
  case OPTION_FORMAT:
    return parse_format(optarg, &a->diff.format);
  case OPTION_JSON:
    a->diff.format = REPORT_DIFF_JSON;
    return NULL;
  case OPTION_PRETTY:
    a->diff.format = REPORT_DIFF_PRETTY;
    return NULL;
  default:
    return pop_error_new(POP_ERROR_USAGE, "%s '%s'; popview --help says what there is",
                         option == ':' ? "an argument is missing behind" : "there is no option",
                         given);
  }
}

/* Would the page be the report, or a file in its folder that is not a page? */
static bool is_of_report(const char *output, const char *report)
{
  bool is = pop_is_same_file(output, report);
  for (size_t i = 0; i < NUM_REPORT_FILES && !is; i++) {
    char *path = pop_xasprintf("%s/%s", report, report_files[i]);
    is = pop_is_same_file(output, path);
    free(path);
  }
  return is;
}

static pop_error *check(const arguments *a)
{
  if (a->serves && (a->demonstrates || a->output))
    return pop_error_new(POP_ERROR_USAGE, "--serve writes no file, and not the demonstration's");
  if (a->demonstrates)
    return a->num_reports == 0 ? NULL : pop_error_new(POP_ERROR_USAGE, "--demo takes no report");
  if (a->compares && a->num_reports != 2)
    return pop_error_new(POP_ERROR_USAGE, "popview diff takes two reports, not %zu\n%s",
                         a->num_reports, usage);
  if (a->num_reports == 0)
    return pop_error_new(POP_ERROR_USAGE, "popview takes one report, or two, not none\n%s", usage);
  if (a->diff.each_name && a->diff.fail_above < 0)
    return pop_error_new(POP_ERROR_USAGE, "--each says what --fail-above counts, which is missing");
  for (size_t i = 0; i < a->num_reports && a->output; i++)
    if (is_of_report(a->output, a->reports[i]))
      return pop_error_new(POP_ERROR_USAGE,
                           "the page '%s' would be the report, or a file of it: -o names another",
                           a->output);
  return NULL;
}

/* *done: help or version has been printed. */
static pop_error *parse(int argc, char **argv, arguments *a, bool *done)
{
  char letter[3];
  int option;
  opterr = 0;
  if (argc > 1 && strcmp(argv[1], "diff") == 0) {
    a->compares = true;
    argc--;
    argv++;
  }
  const char *letters = a->compares ? ":h" : ":qho:";
  while ((option = getopt_long(argc, argv, letters, a->compares ? diff_options : page_options,
                               NULL)) != -1) {
    if (option == 'h' || option == OPTION_VERSION) {
      fputs(option == 'h' ? usage : "popview, Populus version " POPULUS_VERSION "\n", stdout);
      *done = true;
      return NULL;
    }
    POP_TRY(take_option(a, option, option_given(option, argv, letters, letter)));
  }
  for (; optind < argc; optind++) {
    if (a->num_reports == 2)
      return pop_error_new(POP_ERROR_USAGE, "popview takes one report, or two, not more\n%s",
                           usage);
    a->reports[a->num_reports++] = argv[optind];
  }
  return check(a);
}

/* Removes the demonstration's report when the page has been written. */
static void remove_report(const char *folder)
{
  for (size_t i = 0; i < NUM_REPORT_FILES; i++) {
    char *path = pop_xasprintf("%s/%s", folder, report_files[i]);
    (void)!unlink(path);
    free(path);
  }
  (void)!rmdir(folder);
}

static pop_error *write_demonstration(unsigned left_out, const char *output)
{
  const char *base = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe) there is one thread */
  char *folder = pop_xasprintf("%s/populus-demo-XXXXXX", base && *base ? base : "/tmp");
  pop_error *error = NULL;
  if (!mkdtemp(folder)) {
    error = pop_error_errno(errno, "cannot make the folder '%s'", folder);
    free(folder);
    return error;
  }
  /* The page has the last two names of it. */
  char *parent = pop_xasprintf("%s/popview", folder), *report = pop_xasprintf("%s/demo", parent);
  if (mkdir(parent, 0700) != 0)
    error = pop_error_errno(errno, "cannot make the folder '%s'", parent);
  if (!error) error = demo_write_report(report);
  if (!error) error = pop_report_write_page((const char *const *)&report, 1, left_out, output);
  remove_report(report);
  (void)!rmdir(parent);
  (void)!rmdir(folder);
  free(report);
  free(parent);
  free(folder);
  return error;
}

static pop_error *run_action(const arguments *a, bool *grown)
{
  const char *output = a->output ? a->output : "report.html";
  if (a->compares) return report_diff(a->reports[0], a->reports[1], &a->diff, stdout, grown);
  unsigned left_out = a->leaves_source_out ? POP_REPORT_WITHOUT_SOURCE : 0;
  if (a->serves) return serve_reports(a->reports, a->num_reports, left_out);
  if (a->demonstrates) return write_demonstration(left_out, output);
  return pop_report_write_page(a->reports, a->num_reports, left_out, output);
}

static pop_error *run_with_progress(const arguments *a, bool *grown)
{
  step_line line;
  step_line_start(&line, a->quiet || a->serves || a->compares, "writing the page");
  pop_error *error = run_action(a, grown);
  step_line_end(&line);
  return error;
}

int main(int argc, char **argv)
{
  enum { HAS_GROWN = 3 };
  arguments a = {.diff = {.fail_above = -1}};
  bool done = false, grown = false;
  pop_error *error = pop_standard_streams_open();
  if (!error) error = parse(argc, argv, &a, &done);
  if (!error && !done) error = run_with_progress(&a, &grown);
  if (!error) error = pop_standard_output_flush();
  int status = pop_error_exit_status(error);
  if (error) fprintf(stderr, "popview: %s\n", pop_error_message(error));
  pop_error_free(error);
  return status == 0 && grown ? HAS_GROWN : status;
}
