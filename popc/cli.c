/* The program: what is printed where, and the exit status. */
#include "popc_internal.h"

#include <populus/file.h>
#include <populus/standard_streams.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_DONE = 0, STATUS_USAGE = 2 };

/* The third word of the first line is the version of the interface that Populus follows
 * (poplar/version.hpp): build scripts cut it out and compare it. */
static const char version_text[] = "POPLAR version 3.4.0 (Populus " POPULUS_VERSION ")\n"
                                   "clang version 19\n";

/* Child processes die with us (child.c). Temporary outputs have to be removed. */
static void end_by_signal(int number)
{
  pop_output_remove_all_temporaries(); /* NOLINT(bugprone-signal-handler): it is made for this */
  signal(number, SIG_DFL);
  raise(number);
}

static void catch_signals(void)
{
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i)
    if (signal(signals[i], end_by_signal) == SIG_IGN) signal(signals[i], SIG_IGN);
}

/* Messages of errors hold nothing that could harm a terminal. */
static void print_message(const char *text)
{
  fprintf(stderr, "popc: error: %s\n", text);
}

static int fail_with(pop_error *error)
{
  int status = pop_error_exit_status(error);
  if (error) print_message(pop_error_message(error));
  pop_error_free(error);
  return status;
}

static int print_out(const char *text)
{
  fputs(text, stdout);
  return fail_with(pop_standard_output_flush());
}

static int print_and_free(char *text)
{
  int status = print_out(text);
  free(text);
  return status;
}

/* The clang flags that clangd needs for a codelet, one a line. */
static char *clang_flags(const popc_settings *settings)
{
  popc_language language = POPC_CXX;
  const char *named = settings->num_inputs ? settings->inputs[0].language : settings->language;
  if (named)
    popc_language_named(named, &language);
  else if (settings->num_inputs)
    popc_language_of(settings->inputs[0].path, &language);
  popc_variant variant = {"ipu2", "ipu2", POPC_TILE, NULL, 0};
  if (settings->num_variants) variant = settings->variants[0];
  popc_arguments arguments = {0};
  popc_make_arguments(settings, language, &variant, settings->arena, &arguments);
  pop_bytes out = {0};
  for (size_t i = 0; i < arguments.count; ++i) {
    pop_bytes_append(&out, arguments.items[i], strlen(arguments.items[i]));
    pop_bytes_append(&out, "\n", 1);
  }
  pop_bytes_append(&out, "", 1);
  free(arguments.items);
  return (char *)out.data;
}

static int print_completion(const char *shell)
{
  char *text = popc_completion_text(shell);
  if (text) return print_and_free(text);
  print_message("--print-completion is for bash and zsh");
  return STATUS_USAGE;
}

static int answer(const popc_settings *settings)
{
  switch (settings->answer) {
  case POPC_ANSWER_HELP:
    return print_and_free(popc_help_text());
  case POPC_ANSWER_TARGETS:
    return print_and_free(pop_xasprintf("%s\n", popc_target_list));
  case POPC_ANSWER_CLANG_FLAGS:
    return print_and_free(clang_flags(settings));
  case POPC_ANSWER_COMPLETION:
    return print_completion(settings->answer_value);
  default:
    return print_out(version_text);
  }
}

/* Precedence: the command line, NO_COLOR, CLICOLOR_FORCE, CLICOLOR, the terminal. */
static bool wants_colour(const popc_settings *settings)
{
  const char *no_colour = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE");
  const char *wanted = getenv("CLICOLOR"), *terminal = getenv("TERM");
  if (settings->colour_choice != POPC_COLOUR_AUTO)
    return settings->colour_choice == POPC_COLOUR_ALWAYS;
  if (no_colour && *no_colour) return false;
  if (force && *force && strcmp(force, "0") != 0) return true;
  if (wanted && !strcmp(wanted, "0")) return false;
  return isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

static void choose_output(popc_settings *settings)
{
  static const char *const extensions[] = {
      [POPC_GP] = "gp",          [POPC_ASSEMBLY] = "s", [POPC_IR] = "ll",     [POPC_BITCODE] = "bc",
      [POPC_VERTEX_LIST] = NULL, [POPC_NOTHING] = NULL, [POPC_PROGRAM] = "o",
  };
  if (settings->product == POPC_IR && settings->compile_only) settings->product = POPC_BITCODE;
  if (settings->output || !settings->num_inputs) return;
  const char *input = settings->inputs[0].path, *extension = extensions[settings->product];
  if (settings->product == POPC_PROGRAM && !settings->compile_only) {
    settings->output = popc_default_output(settings, NULL);
    return;
  }
  if (!strcmp(input, "-") || !extension) {
    settings->output = "-";
    return;
  }
  settings->output = popc_default_output(settings, extension);
}

/* Binary output goes to files and pipes only. */
static pop_error *check_terminal(const popc_settings *settings)
{
  bool bytes = settings->product == POPC_GP || settings->product == POPC_BITCODE;
  if (!bytes || !settings->output || strcmp(settings->output, "-") != 0) return NULL;
  if (settings->dependencies && !settings->dependency_file)
    return pop_error_new(POP_ERROR_USAGE, "-MD needs -MF where the output is standard output");
  if (!isatty(STDOUT_FILENO)) return NULL;
  return pop_error_new(POP_ERROR_USAGE, "the output is no text: name a file with -o");
}

static int finish(const popc_settings *settings, pop_error *error)
{
  if (!error) return STATUS_DONE;
  int status = pop_error_exit_status(error);
  bool usage = pop_error_get_code(error) == POP_ERROR_USAGE;
  if (!settings->diagnostics_said) print_message(pop_error_message(error));
  if (usage) fputs("usage: popc [options] <input>... -o <output>\n", stderr);
  pop_error_free(error);
  return status;
}

/* The progress line: which input is being compiled. */
static void say_input(void *context, char *text, size_t bytes)
{
  popc_settings *settings = context;
  size_t begun = atomic_load(&settings->num_begun);
  const char *path = settings->inputs[begun ? begun - 1 : 0].path;
  if (settings->num_inputs > 1)
    snprintf(text, bytes, "compiling %zu of %zu: %s", begun, settings->num_inputs, path);
  else
    snprintf(text, bytes, "compiling %s", path);
}

static pop_error *run(popc_settings *settings)
{
  choose_output(settings);
  POP_TRY(check_terminal(settings));
  bool prints = settings->product != POPC_GP ||
                (settings->output && popc_is_standard_output(settings->output));
  bool quiet = settings->quiet || settings->verbose || prints || !settings->num_inputs;
  settings->line = pop_progress_start(quiet, say_input, settings);
  pop_error *error = popc_run(settings, NULL, NULL);
  pop_progress_end(settings->line);
  settings->line = NULL;
  return error;
}

static pop_error *read_command_line(popc_settings *settings, int argc, char **argv)
{
  const char **arguments;
  size_t count, given = (size_t)argc - (argc > 0);
  pop_error *error = popc_expand_arguments(settings->arena, given, (const char *const *)argv + 1,
                                           &arguments, &count);
  /* What could be read may ask for help. */
  pop_error *second = popc_parse_options(settings, count, arguments, true);
  if (error) pop_error_free(second);
  return error ? error : second;
}

int popc_main(int argc, char **argv)
{
  int unusable = fail_with(pop_standard_streams_open());
  if (unusable) return unusable;
  catch_signals();
  popc_settings *settings = popc_settings_new();
  settings->diagnostics_fd = STDERR_FILENO;
  pop_error *error = read_command_line(settings, argc, argv);
  settings->colour = wants_colour(settings);
  int status;
  if (settings->answer) {
    pop_error_free(error); /* who asks gets the answer */
    status = answer(settings);
  } else {
    if (!error) error = run(settings);
    status = finish(settings, error);
  }
  popc_settings_free(settings);
  return status;
}
