/* The program: what is printed where, and the exit status. */
#include "popc_internal.h"

#include <populus/file.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_DONE = 0, STATUS_ENVIRONMENT = 4 };

/* The third word of the first line is the version: build scripts cut it out. */
static const char version_text[] = "Populus version " POPULUS_VERSION "\n"
                                   "codelet compiler, with clang version 19\n";

/* Started with standard streams closed, the first files opened would become them. */
static void open_standard_streams(void)
{
  for (int fd = 0; fd <= 2; ++fd)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) abort();
}

/* Children die with us (compile.c); temporary outputs have to be removed. */
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
  signal(SIGXFSZ, SIG_IGN); /* a write then fails, and that is reported */
}

/* Names in messages may hold anything; a terminal gets only what can be read. */
static void print_message(const char *text)
{
  fputs("popc: error: ", stderr);
  for (const unsigned char *p = (const unsigned char *)text; *p; ++p) {
    if ((*p < 0x20 && *p != '\n') || *p == 0x7f)
      fprintf(stderr, "\\x%02x", *p);
    else
      fputc(*p, stderr);
  }
  fputc('\n', stderr);
}

static int print_out(const char *text)
{
  if (fputs(text, stdout) < 0 || fflush(stdout) != 0) {
    print_message("cannot write to standard output");
    return STATUS_ENVIRONMENT;
  }
  return STATUS_DONE;
}

static int print_help(void)
{
  char *text = popc_help_text();
  int status = print_out(text);
  free(text);
  return status;
}

static bool wants_colour(void)
{
  const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
  if (no_colour && *no_colour) return false;
  return isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

/* "folder/codelets.cpp" -> "codelets.gp" in the current folder */
static void choose_output(popc_settings *settings)
{
  if (settings->output || !settings->num_inputs) return;
  const char *slash = strrchr(settings->inputs[0], '/');
  const char *file = slash ? slash + 1 : settings->inputs[0];
  const char *dot = strrchr(file, '.');
  int stem = dot && dot > file ? (int)(dot - file) : (int)strlen(file);
  settings->output = pop_arena_printf(settings->arena, "%.*s.gp", stem, file);
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

int popc_main(int argc, char **argv)
{
  open_standard_streams();
  catch_signals();
  popc_settings *settings = popc_settings_new();
  settings->diagnostics_fd = STDERR_FILENO;
  settings->colour = wants_colour();
  pop_error *error =
      popc_parse_options(settings, (size_t)argc - (argc > 0), (const char *const *)argv + 1, true);
  int status;
  if (settings->help || settings->version) {
    pop_error_free(error); /* who asks gets the answer */
    status = settings->help ? print_help() : print_out(version_text);
  } else {
    choose_output(settings);
    if (!error) error = popc_run(settings, NULL, NULL);
    status = finish(settings, error);
  }
  popc_settings_free(settings);
  return status;
}
