/* The options of popc in one table: parsing, --help and the guess at a misspelling come from it. */
#include "popc_internal.h"

#include <populus/names.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum form {
  ALONE,              /* -v */
  JOINED,             /* -O2: the value follows at once, and may be empty for some */
  SEPARATE,           /* -isystem dir */
  JOINED_OR_SEPARATE, /* -Idir, -I dir */
} form;

typedef enum action {
  PASS,    /* to clang, for both targets */
  OUTPUT,  /* name of the output file */
  VERBOSE, /* show commands */
  HELP,
  VERSION,
  REFUSE /* it would load code into the compiler, or make something other than an object */
} action;

static const struct option {
  const char *spelling;
  form form;
  action action;
  const char *value; /* name of the value in --help; NULL if there is none */
  const char *help;  /* NULL: not shown */
} options[] = {
    {"-o", JOINED_OR_SEPARATE, OUTPUT, "<file>", "Write the .gp file here (default: <input>.gp)"},
    {"-D", JOINED_OR_SEPARATE, PASS, "<macro>[=<value>]", "Define a macro"},
    {"-U", JOINED_OR_SEPARATE, PASS, "<macro>", "Undefine a macro"},
    {"-I", JOINED_OR_SEPARATE, PASS, "<folder>", "Search it for included files"},
    {"-isystem", SEPARATE, PASS, "<folder>", "The same, and do not warn about what is in there"},
    {"-include", SEPARATE, PASS, "<file>", "Include a file before the source"},
    {"-O", JOINED, PASS, "<level>", "Optimise: 0, 1, 2, 3, s (default: 2)"},
    {"-g", JOINED, PASS, "<level>", "Make debug information"},
    {"-std=", JOINED, PASS, "<standard>", "Language standard (default: gnu17, c++17)"},
    {"-W", JOINED, PASS, "<warning>", "Warn about something, as clang does"},
    {"-w", ALONE, PASS, NULL, "No warnings"},
    {"-pedantic", ALONE, PASS, NULL, "Warn about extensions of the language"},
    {"-f", JOINED, PASS, "<feature>", "Switch something in clang on (-fno-: off)"},
    {"-v", ALONE, VERBOSE, NULL, "Show the commands that are run"},
    {"--help", ALONE, HELP, NULL, "Show this text"},
    {"-h", ALONE, HELP, NULL, NULL},
    {"--version", ALONE, VERSION, NULL, "Show the version"},
    /* Longer spellings win over -W and -f. */
    {"-Wa,", JOINED, REFUSE, NULL, NULL},
    {"-Wl,", JOINED, REFUSE, NULL, NULL},
    {"-Wp,", JOINED, REFUSE, NULL, NULL},
    {"-fplugin", JOINED, REFUSE, NULL, NULL},
    {"-fpass-plugin", JOINED, REFUSE, NULL, NULL},
    {"-flto", JOINED, REFUSE, NULL, NULL},
    {"-fsyntax-only", ALONE, REFUSE, NULL, NULL},
    {"-Xclang", SEPARATE, REFUSE, NULL, NULL},
    {"-load", SEPARATE, REFUSE, NULL, NULL},
    {"-mllvm", SEPARATE, REFUSE, NULL, NULL},
    {"-B", JOINED_OR_SEPARATE, REFUSE, NULL, NULL},
};
#define NUM_OPTIONS (sizeof options / sizeof *options)

popc_settings *popc_settings_new(void)
{
  popc_settings *settings = pop_xcalloc(1, sizeof *settings);
  settings->arena = pop_arena_new();
  settings->diagnostics_fd = -1;
  return settings;
}

void popc_settings_free(popc_settings *settings)
{
  if (!settings) return;
  free(settings->inputs);
  free(settings->clang);
  pop_arena_free(settings->arena);
  free(settings);
}

/* The option with the longest spelling that `argument` can be. */
static const struct option *find_option(const char *argument)
{
  const struct option *found = NULL;
  for (size_t i = 0; i < NUM_OPTIONS; ++i) {
    size_t length = strlen(options[i].spelling);
    bool whole = options[i].form == ALONE || options[i].form == SEPARATE;
    bool fits = whole ? !strcmp(argument, options[i].spelling)
                      : !strncmp(argument, options[i].spelling, length);
    if (fits && (!found || length > strlen(found->spelling))) found = &options[i];
  }
  return found;
}

static pop_error *unknown_option(const char *argument)
{
  const char *spellings[NUM_OPTIONS];
  size_t count = 0;
  for (size_t i = 0; i < NUM_OPTIONS; ++i)
    if (options[i].help) spellings[count++] = options[i].spelling;
  bool letter = strlen(argument) <= 2; /* any other letter would be near */
  const char *nearest = letter ? NULL : pop_nearest_name(argument, spellings, count);
  if (nearest)
    return pop_error_new(POP_ERROR_USAGE, "unknown option '%s'; did you mean '%s'?", argument,
                         nearest);
  return pop_error_new(POP_ERROR_USAGE, "unknown option '%s'; popc --help lists all options",
                       argument);
}

static void pass(popc_settings *settings, const char *argument)
{
  pop_push(settings->clang, settings->num_clang, settings->clang_capacity, argument);
}

static pop_error *take_output(popc_settings *settings, const char *value)
{
  if (settings->output)
    return pop_error_new(POP_ERROR_USAGE, "two output files: '%s' and '%s'", settings->output,
                         value);
  settings->output = value;
  return NULL;
}

/* `value` is NULL for options without one. */
static pop_error *perform(popc_settings *settings, const struct option *option,
                          const char *argument, const char *value)
{
  bool separate = value && value != argument + strlen(option->spelling);
  switch (option->action) {
  case PASS:
    pass(settings, argument);
    if (separate) pass(settings, value);
    return NULL;
  case OUTPUT:
    return take_output(settings, value);
  case VERBOSE:
    settings->verbose = true;
    return NULL;
  case HELP:
    settings->help = true;
    return NULL;
  case VERSION:
    settings->version = true;
    return NULL;
  case REFUSE:
    break;
  }
  return pop_error_new(POP_ERROR_USAGE, "option '%s' is not for codelets: popc does not hand it on",
                       argument);
}

/* Takes the option at arguments[*index], and its value. */
static pop_error *take_option(popc_settings *settings, size_t count, const char *const *arguments,
                              size_t *index)
{
  const char *argument = arguments[*index];
  const struct option *option = find_option(argument);
  if (!option) return unknown_option(argument);
  const char *joined = argument + strlen(option->spelling), *value = NULL;
  if (option->form == JOINED || (option->form == JOINED_OR_SEPARATE && *joined)) {
    value = joined;
  } else if (option->form != ALONE && option->action != REFUSE) {
    if (*index + 1 >= count)
      return pop_error_new(POP_ERROR_USAGE, "option '%s' needs a value: %s %s", argument, argument,
                           option->value);
    value = arguments[++*index];
    if (!*value)
      return pop_error_new(POP_ERROR_USAGE, "option '%s' has an empty value: %s %s", argument,
                           argument, option->value);
  }
  return perform(settings, option, argument, value);
}

/* Takes the argument at arguments[*index], and the one behind it if that is its value. */
static pop_error *take_argument(popc_settings *settings, size_t count, const char *const *arguments,
                                size_t *index, bool may_be_option, bool inputs_allowed)
{
  const char *argument = arguments[*index];
  if (may_be_option && argument[0] == '-' && argument[1])
    return take_option(settings, count, arguments, index);
  if (!inputs_allowed)
    return pop_error_new(POP_ERROR_USAGE, "'%s' is not an option of popc", argument);
  if (!*argument) return pop_error_new(POP_ERROR_USAGE, "an input has an empty name");
  pop_push(settings->inputs, settings->num_inputs, settings->inputs_capacity, argument);
  return NULL;
}

/* Goes on behind a mistake, which is the result then: --help may follow it. */
pop_error *popc_parse_options(popc_settings *settings, size_t count, const char *const *arguments,
                              bool inputs_allowed)
{
  pop_error *first = NULL;
  bool may_be_option = true;
  for (size_t i = 0; i < count; ++i) {
    if (may_be_option && !strcmp(arguments[i], "--")) {
      may_be_option = false;
      continue;
    }
    pop_error *error = take_argument(settings, count, arguments, &i, may_be_option, inputs_allowed);
    if (first)
      pop_error_free(error);
    else
      first = error;
  }
  return first;
}

static void put(pop_bytes *out, const char *text)
{
  pop_bytes_append(out, text, strlen(text));
}

char *popc_help_text(void)
{
  pop_bytes out = {0};
  put(&out, "usage: popc [options] <input>... -o <output>\n\n"
            "Compiles codelets (.c, .cpp, .cc, .cxx) for tiles and for the host, and merges .gp "
            "files.\n\noptions:\n");
  for (size_t i = 0; i < NUM_OPTIONS; ++i) {
    if (!options[i].help) continue;
    char *spelling =
        pop_xasprintf("%s%s%s", options[i].spelling, options[i].form == SEPARATE ? " " : "",
                      options[i].value ? options[i].value : "");
    char *line = pop_xasprintf("  %-22s %s\n", spelling, options[i].help);
    put(&out, line);
    free(line);
    free(spelling);
  }
  put(&out,
      "\nexit status: 0 done; 1 an input is at fault; 2 wrong command line; 4 the environment "
      "is\n(no clang, no space, a limit was reached); 70 popc is.\n");
  pop_bytes_append(&out, "", 1);
  return (char *)out.data;
}
